"""Mixed releases: hidden cells, ranges, rounded and moved values in one optimisation."""
