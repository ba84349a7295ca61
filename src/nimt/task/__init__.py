"""A lesson as a value: everything that decides it, checked once."""
