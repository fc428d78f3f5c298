"""The modular pattern: sub-table by sub-table from the top, for comparison."""
