"""The state of a search: what it has found, kept in a file, so that another run can go on from there."""
