"""The solver SCIP, where it is installed."""
