"""What respondents know of each other, and how close they may come."""
