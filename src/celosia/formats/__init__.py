"""File formats of this and other programs."""
