"""The search over patterns, which hide or show every cell: suppression, and what other methods start from."""
