"""Simulated annealing of joint patterns: generators of what is shown are exchanged for groups of what is hidden."""
