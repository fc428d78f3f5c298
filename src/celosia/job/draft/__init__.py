"""First job files for data that a user has."""
