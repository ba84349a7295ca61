"""The shortest lesson: a list of visits that takes few steps to a tolerance."""
