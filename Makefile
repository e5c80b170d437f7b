# Every target sets itself up: it needs Python 3.11 or newer, make and the package index.
# With another Python: make test PYTHON=python3.13 VENV=.venv-3.13
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test accel accel-oldest fuzz faults minimums memory reproduce bench bench-quick lint format clean

demo: $(READY)
	$(BIN)/python examples/demo.py

test: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

# scikit-learn's own tests with its classes computed by eigenscape: all sizes, then as installed by default.
accel: $(READY)
	$(BIN)/python tests/accel/sklearn_suite.py --few-points 0
	$(BIN)/python tests/accel/sklearn_suite.py

# The same with the oldest supported versions, in a fresh environment.
accel-oldest:
	$(PYTHON) -m venv --clear build/accel-oldest
	build/accel-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
		--requirement tests/packaging/oldest.txt --editable . pytest
	build/accel-oldest/bin/python tests/accel/sklearn_suite.py --few-points 0
	build/accel-oldest/bin/python tests/accel/sklearn_suite.py

# The property tests with random seeds; a failure prints how to reproduce it.
fuzz: $(READY)
	HYPOTHESIS_PROFILE=random OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m hypothesis tests

# Damaged files, odd data, kills and failing writes in large numbers; writes docs/faults.md.
faults: $(READY)
	cd tests && $(CURDIR)/$(BIN)/python -m faults.run_all

# The declared minimum versions in a fresh environment.
minimums:
	$(PYTHON) tests/packaging/minimums.py

# The estimates of memory beside measured peaks, one process after the other.
memory: $(READY)
	EIGENSCAPE_MEMORY=1 $(BIN)/python -m pytest tests/app/cli/test_memory_estimates.py

reproduce: $(READY)
	$(BIN)/python -m experiments --all --quick

# Libraries to compare with are installed here only; those that cannot be installed are left out.
bench: $(READY)
	$(BIN)/python -m benchmarks.install
	$(BIN)/python -m benchmarks run

bench-quick: $(READY)
	$(BIN)/python -m benchmarks run --quick --out build/benchmarks

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(READY): pyproject.toml
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'eigenscape needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group dev
	touch $(READY)

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis demo.png
