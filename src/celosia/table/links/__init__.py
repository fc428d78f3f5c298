"""Several tables that share cells, as one."""
