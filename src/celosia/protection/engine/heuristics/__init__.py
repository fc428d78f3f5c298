"""Primal heuristics: safe patterns from fractional points, and better ones from safe ones."""
