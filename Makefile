# One command each, on a new clone: what it needs is set up in .venv first, and a second run starts at once.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
# two stamps: nimt runs, and nimt can be tested
READY := .venv/.ready
DEV_READY := .venv/.ready-dev
# neighbours in one process: what one test compiles, the next one has; three, since browsers and processes are waited for
PYTEST := $(BIN)/pytest -n 3 --dist worksteal
SEED ?= $(shell date +%s)

unexport PYTHONDONTWRITEBYTECODE  # the tests start hundreds of processes

.PHONY: help demo test exhaustive test-fast unit coverage style lint docs soak bench bench-compare release-check versions clean

help:            ## this list
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/: .*##/ -/'

# --no-compile: Python compiles what it imports, and most modules of most packages are never imported
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile

$(READY): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit("nimt needs Python 3.11 or newer, found " + sys.version.split()[0] + ": set PYTHON=/path/to/python3.11") if sys.version_info < (3, 11) else None'
	@echo "setting up .venv (once, about half a minute)"
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv
	@$(INSTALL) -r requirements.lock
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $(READY)

$(DEV_READY): $(READY) requirements-dev.lock
	@echo "adding what the tests need to .venv (once, about a minute)"
	@$(INSTALL) -r requirements-dev.lock
	@touch $(DEV_READY)

demo: $(READY)   ## every experiment of the paper: figures, summary.json and report.html, in out/
	@$(BIN)/python -m nimt.paper --out out
	@echo "The program is $(BIN)/nimt. Try: $(BIN)/nimt teach gmm --from gmm:start --learning-rate 0.01 --tol 1e-4"

# types are checked beside the tests, on the core that they leave idle, and what was found is printed after them
test: style      ## style, types, all tests but the exhaustive ones
	@mkdir -p out
	@$(BIN)/mypy >out/types.txt 2>&1 & types=$$!; \
	echo '$(PYTEST) -m "not exhaustive"'; $(PYTEST) -m "not exhaustive"; tests=$$?; \
	wait $$types; types=$$?; echo "$(BIN)/mypy"; cat out/types.txt; exit $$((tests || types))

exhaustive: $(DEV_READY)   ## the tests that take minutes each
	$(PYTEST) -m exhaustive

test-fast: $(DEV_READY)   ## the tests without the slow ones
	$(PYTEST) -m "not slow and not exhaustive"

unit: $(DEV_READY)   ## the quick tests only, for every change
	$(PYTEST) -m "not slow and not long and not exhaustive"

coverage: $(DEV_READY)   ## the tests without the slow ones, and the lines that none of them runs
	@rm -f .coverage*  # of processes that a test killed
	$(PYTEST) -m "not slow and not exhaustive" --cov --cov-report=term:skip-covered --cov-report=html:out/coverage

style: $(DEV_READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint: style      ## style and types
	$(BIN)/mypy

docs: $(DEV_READY)   ## these pages as a site, with a gallery and a reference: out/site/index.html
	$(BIN)/python -m sphinx -n -W --keep-going -q docs out/site

soak: $(DEV_READY)   ## 5,000 random lessons before the oracle, 10,000 forged files, 500 forged runs; SEED=... for others
	cd tests && ../$(BIN)/python -m oracle 5000 $(SEED)
	$(BIN)/python tests/forging.py 10000 $(SEED) 2>/dev/null
	$(BIN)/python tests/forging_runs.py 500 $(SEED) 2>/dev/null

bench: $(DEV_READY)  ## the benchmark table, and out/bench/bench.json
	@$(BIN)/python -m benchmarks

bench-compare: $(DEV_READY)  ## what changed between two runs: OLD=a.json NEW=b.json
	@$(if $(and $(OLD),$(NEW)),,$(error usage: make bench-compare OLD=a.json NEW=b.json))
	@$(BIN)/python -m benchmarks compare "$(OLD)" "$(NEW)"

release-check: $(DEV_READY)   ## build the wheel and the source, and check them as a package index would
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/validate-pyproject pyproject.toml
	$(BIN)/repo-review .

versions: $(DEV_READY)   ## the quick tests with the lowest and the newest versions, on every Python there is
	$(BIN)/nox

clean:           ## remove everything that was made
	rm -rf .venv .nox out build dist .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
