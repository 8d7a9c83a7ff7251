# Every target builds what it needs: only Python 3.11+ and make have to be there.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test quick coverage study lint format types contract check oldest newest release-check bench reproduced docs clean

demo: $(VENV)/.ready
	$(BIN)/multikernel demo --force

# A process for each core, and one thread of linear algebra in each: more would wait for each other.
test: export OPENBLAS_NUM_THREADS := 1
# The processes that tests start read byte code that others have written, also where the environment asks for none.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/.ready
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal

# What a change can break, in a minute: tests of the packages that differ from SINCE, or of PACKAGES="banks kernels".
SINCE ?= origin/main
quick: export OPENBLAS_NUM_THREADS := 1
quick: export PYTHONDONTWRITEBYTECODE :=
quick: $(VENV)/.ready
	$(BIN)/python tests/quick.py $(PACKAGES) --since $(SINCE)

# Which lines and branches of the package the tests go through, in all processes that they start.
coverage: export OPENBLAS_NUM_THREADS := 1
coverage: $(VENV)/.ready
	$(BIN)/python -m coverage run -m pytest --numprocesses auto --maxprocesses 4 --dist worksteal
	$(BIN)/python -m coverage combine
	$(BIN)/python -m coverage report --skip-covered

study: $(VENV)/.ready
	$(BIN)/python -m pytest -m study

lint: $(VENV)/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

format: $(VENV)/.ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

types: $(VENV)/.ready
	$(BIN)/mypy

contract: $(VENV)/.ready
	$(BIN)/lint-imports

check: lint types contract test

# The core of the tests with the oldest dependencies that are allowed, or the newest, in an environment of its own.
oldest newest:
	$(PYTHON) .ci/release.py --only $@

# The checklist of a release, line by line.
release-check:
	$(PYTHON) .ci/release.py

# Everything beside its peers in one run, under half an hour; the page is docs/results/benchmarks.md.
bench: $(VENV)/.bench
	$(BIN)/python benchmarks/page.py

# The five papers' numbers beside published ones, going on from the cells that are kept with the pages; hours from nothing.
# versions.txt names the versions that measured these cells, which still count, and ALSO="VERSION ..." further ones;
# WHOLE=1 runs what is cut as well, in days.
KEPT := docs/_extra/reproduced
reproduced: $(VENV)/.ready
	test -e $(KEPT)/cells.jsonl || test ! -e $(KEPT)/cells.jsonl.gz || gunzip --keep $(KEPT)/cells.jsonl.gz
	$(BIN)/multikernel reproduce all --out $(KEPT) --jobs 2 $(if $(WHOLE),--whole) $(foreach version,$(shell cat $(KEPT)/versions.txt) $(ALSO),--also $(version))
	$(BIN)/python -m multikernel.reproduce.archive $(KEPT)/cells.jsonl

# The site, with every block and every example run; a warning is an error. docs/_build/index.html is its first page.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going docs docs/_build

clean:
	rm -rf $(VENV) docs/_build docs/api/generated docs/examples build dist .mypy_cache .ruff_cache .pytest_cache .coverage* .hypothesis .import_linter_cache

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[app]' --group dev
	touch $@

$(VENV)/.docs: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

$(VENV)/.bench: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python -m pip install --quiet --target $(VENV)/peers --group peers
	touch $@
