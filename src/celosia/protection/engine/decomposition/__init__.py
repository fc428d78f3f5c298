"""A table in parts: the sub-tables without hierarchies of which it consists."""
