"""`python -m nimt.paper` does what `nimt reproduce` does."""

from __future__ import annotations

import typer

from nimt.cli.reproduce import reproduce

if __name__ == "__main__":
    typer.run(reproduce)
