"""Several methods on one table, measured in the same way."""
