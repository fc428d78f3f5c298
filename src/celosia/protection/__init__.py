"""Finding what to publish: risk in, pattern out.

The map of the room, from the door down; imports point down only (`pyproject.toml`)::

    trade_off, why      the curve between few and narrow ranges; why a cell is not shown
    protect             the verb: the method's wishes applied, the clock started, respondents or not
    methods             which methods there are
    resume              a run goes on from what another has found
    respondents         requirements that respondents' attacks reveal, as lazy as cuts
    mixed               hidden cells, ranges, rounded and moved values in one optimisation
    combined            ranges with a fixed cost each
    suppression         cells are shown or hidden
    intervals           ranges: their problem, searches, `publish` (on decimals), `admm` (for large product tables)
    rounding            multiples of a base that add up
    perturbation        values within a published reach that add up
    random_rounding     values rounded at random
    adjustment          one plausible table close to the true one
    engine              branch and cut: problem, master, cuts, subproblems, heuristics, incumbent, oracle;
                        `modes` is the same search over any variables that a method offers
    run, fallback       clock, gap, solver, seed of a run; its best audited result so far
    infeasibility       which cells stand in the way
    state               what a search has found as a file, with fingerprints of its problem
    result, distances   what comes out
    method, named_cells what a method states about itself, and how its wishes name cells

Every method has the same three files: `method.py` says what users may ask, `formulation.py` has the variables and
constraints with the paper's equation numbers (suppression's is `engine/problem.py`), `solve.py` runs it; numbers that
divide effort are in `parameters.py`.
"""
