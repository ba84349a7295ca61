"""Real rows: a reference for f*, which rows to keep, with which labels, and rows whose label is doubtful."""
