"""Benchmarks: measured beside what they are compared with, in one run. Never tests."""
