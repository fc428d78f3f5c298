"""Microdata or ready cells in, Table out. The only package that sees microdata."""
