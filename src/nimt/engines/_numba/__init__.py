"""The only room that knows what numba is like inside; with NIMT_PLAIN_NUMBA=1 nothing of that is used.

`chosen` gives compiled code its decorators and the instructions that numba does not write by itself: those of `caching`
and `vectors`, or those of `plain`.
"""
