"""Microdata in, sums and largest contributions of every cell out, compiled."""
