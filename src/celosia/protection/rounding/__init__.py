"""Controlled rounding: every cell becomes a multiple of a base, and they still add up."""
