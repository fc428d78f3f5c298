"""One small door to LP, MIP and QP solvers: arrays in, arrays out. No idea of tables."""
