"""All that touches a disk: files written whole or not at all, sealed, and claimed by one process at a time."""
