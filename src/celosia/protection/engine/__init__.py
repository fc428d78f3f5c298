"""The search for the cheapest safe pattern: master, subproblems, cuts and heuristics."""
