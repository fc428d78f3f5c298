"""Moves of few cells: witnesses of product tables without linear programs."""
