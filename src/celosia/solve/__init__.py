"""One interface to LP, MIP and QP solvers: arrays in, arrays out. It knows nothing of tables."""
