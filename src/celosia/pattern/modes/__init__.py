"""The ways in which a cell may be published."""
