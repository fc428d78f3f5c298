"""Interval publication: cells are shown, or a range of each is published."""
