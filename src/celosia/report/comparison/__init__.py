"""Several methods on one table, by the same measures."""
