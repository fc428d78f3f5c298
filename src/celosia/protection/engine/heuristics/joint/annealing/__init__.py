"""Simulated annealing of joint patterns: generators of what is shown are left out, and groups are shown again."""
