"""Valid inequalities: what every safe pattern satisfies, and how those that a point violates are found."""
