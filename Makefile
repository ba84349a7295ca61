# One command each, on a new clone: everything is set up in .venv first, and a second run starts at once.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test test-fast lint bench figures clean help

help:            ## this list
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/: .*##/ -/'

$(READY): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit("nimt needs Python 3.11 or newer, found " + sys.version.split()[0] + ": set PYTHON=/path/to/python3.11") if sys.version_info < (3, 11) else None'
	@echo "setting up .venv (once, about a minute)"
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

demo: $(READY)   ## every experiment of the paper: figures, summary.json and report.html, in out/
	@$(BIN)/python -m nimt.paper --out out

test: $(READY)   ## lint, type check, all tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2

test-fast: $(READY)   ## the everyday tests
	$(BIN)/pytest -n 2 -m "not slow"

bench: $(READY)  ## the benchmark table
	@$(BIN)/python -m benchmarks

clean:           ## remove everything that was made
	rm -rf .venv out build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
