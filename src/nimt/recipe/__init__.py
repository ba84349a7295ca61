"""A lesson as text: one table of fields, for options, TOML files, the studio's messages, and copied code."""
