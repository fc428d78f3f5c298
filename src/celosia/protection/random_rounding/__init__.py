"""Random rounding: cells go up or down to a base at random."""
