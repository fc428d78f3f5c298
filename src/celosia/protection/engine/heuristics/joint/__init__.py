"""Patterns from one joint move: a program in kernel coordinates that moves every sensitive cell at once."""
