"""The solver HiGHS."""
