"""An independent judge of lessons: plain loops written from the paper, which share no code with the package.

`generator` draws a lesson as plain numbers (`problem`). `giving` alone knows nimt: it gives that lesson on an engine
and reads the record as plain numbers. `lesson` takes every step again and compares: `kernels`, `losses`, `schedules`,
`teachers`, `family`, `synthesis` and `records` say what must come out, `box` in a box. `tampering` alters records, and
every alteration must be noticed.

What is drawn from the seed: the oracle splits the seed into the three streams (pool, selection, labels) and draws
random, weighted, soft and alternative choices itself, by the same calls of NumPy's generator (`integers`, `random`,
`choice`, `gumbel`). It does not repeat the draws of a `PlannedTeacher`: it checks that every epoch shows each point as
often as its plan allows, in packs of the right size, on one axis also that each pack is spread as it should be. In a
box it does not repeat the search: what is shown must be at least as wrong as the worst point of the grid.

Where two scores are equal to rounding either point may be shown, and the oracle goes on with the one that was. Of
scores that are equal at the start, where nothing is rounded yet, the first point must be shown. A mixture of outputs
must be as good as the best one, and the oracle goes on with the one recorded. Of the learning rate "auto" it checks
that of single examples, and takes that of packs as it is. Learners are kernel learners and linear ones; the measures
"rkhs" and "parameters" are judged by other tests.
"""
