"""Ranges of products of hierarchies by splitting (ADMM), with a bound."""
