"""Results for the terminal."""
