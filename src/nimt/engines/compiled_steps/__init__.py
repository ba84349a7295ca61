"""Every compiled function. They call each other, so that a change in one of these files makes all be compiled again.

Symbols: f values, y target (the true labels), c coefficients, w the kernel's window, q outputs. A *slot* is a place in
the layout of an array; greedy teaching stores a grid tile by tile, so that one step touches few tiles and a tile is
contiguous. Arrays with outputs are flat, the outputs of a slot side by side. `outputs` is a tuple of q numbers: its
length is known to the compiler, so that loops over one output cost nothing.

Where every output is shown examples of its own, the pool is there once per output, and arrays hold one copy after
another; `outputs` then has one number. `copies` is (1,), or (how many, 0): so the compiler knows where there is one.
`by_columns` gains nothing by that and always takes the second. A slot counts through all copies, an index in the record
is that of the pool.

Scores are compared as integers, whose maxima can be vectorised where floating ones may not. The bits of non-negative
numbers order like the numbers. A score that may be negative, -0 or NaN, as that by the user's loss, is stored as the
number whose bits do (`scoring.rank_bits`); NaN is the largest. A slot that may not be shown has the lowest integer,
NO_SCORE. These are the bits of -0, which no score has.

No function uses fastmath: it assumes that there are no NaN and no infinity, so a diverging lesson could go unnoticed,
and the arithmetic of a step must be that of the reference loop. Every function releases Python's lock: lessons in
several threads use several cores.

A function is `compiled` if Python calls it, `part` if only compiled code does, `inlined` if it is shorter than what
compiling it apart takes, and `rule` if it is such a one that Python calls, too. An argument that a lesson does not need
is None: numba then leaves out the branches that ask for it.
"""
