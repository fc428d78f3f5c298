"""Attackers who know that values are whole numbers."""
