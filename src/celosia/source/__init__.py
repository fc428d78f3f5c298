"""Microdata or ready cells in, Table out. The only room that sees microdata."""
