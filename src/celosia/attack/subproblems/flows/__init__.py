"""Attackers' questions as maximum flows: the graph, the search, and who is asked in which order."""
