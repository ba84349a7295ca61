"""A lesson under way: taken step by step or run to the end, and kept on disk."""
