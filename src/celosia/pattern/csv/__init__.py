"""Releases as CSV files."""
