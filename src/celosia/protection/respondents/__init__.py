"""Protection against respondents: requirements as lazy as cuts."""
