"""How far a cell can move: flows, linear and integer programs, each answer with a witness."""
