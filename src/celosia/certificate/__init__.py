"""Proof in exact arithmetic: certificates that a release is safe, and their verification without a solver."""
