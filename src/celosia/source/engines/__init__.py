"""Records that stay where they are: an engine sums and ranks, and gives away some numbers per cell."""
