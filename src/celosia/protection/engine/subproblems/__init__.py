"""The attackers' subproblems on the cells that a point of the master hides: flows, linear programs, witnesses."""
