"""Sides of split cells: what the sides of one relation cost together, and the tree that chooses them."""
