# Every target sets itself up: it needs Python 3.11 or newer, make and the package index.
# With another Python: make test PYTHON=python3.13 VENV=.venv-3.13
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/.ready-docs
PYTEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal
# Marks of tests that need more than this process, or more time (pyproject.toml), and folders of nothing else.
OUTSIDE := process or dask or browser or packaging or pages or suite or long
FOLDERS := distributed documentation examples experiments faults packaging
SECONDS := 120
# Sources of the compiled loops: after a change they are built again.
NATIVE := tools/backend.py $(wildcard src/eigenscape/_native/*.c src/eigenscape/_native/*.h) src/eigenscape/_native/CMakeLists.txt
# Many tests start processes, which load the bytecode of the first.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check test test-all test-random accel accel-oldest fuzz fuzz-files faults minimums memory reproduce bench bench-quick docs lint lint-js format walks budgets docstrings mutants wheel sanitize analyze clean

demo: $(READY)
	$(BIN)/python examples/demo.py

# Short tests of every room in one process, about three minutes: run it before each commit.
check: $(READY)
	$(PYTEST) -m "not ($(OUTSIDE))" $(FOLDERS:%=--ignore=tests/%) $(ARGS)

# Every test once. With other options: make test ARGS="--shuffle 1"
test: $(READY)
	$(PYTEST) $(ARGS)

# The product of all parameters, random examples, other versions, damaged files: hours.
test-all: $(READY)
	EIGENSCAPE_PRODUCT=1 $(PYTEST) $(ARGS)
	$(MAKE) fuzz fuzz-files accel accel-oldest minimums memory faults

# Random tests of the product and random examples for a limited time; prints its seed. Again: SEED=...
test-random: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/random_part.py --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

# scikit-learn's own tests with its classes computed by eigenscape.
accel: $(READY)
	$(BIN)/python tests/accel/sklearn_suite.py

# The same with the oldest supported versions, in a fresh environment.
accel-oldest:
	$(PYTHON) -m venv --clear build/accel-oldest
	build/accel-oldest/bin/python -m pip install --quiet --disable-pip-version-check \
		--requirement tests/packaging/oldest.txt --editable . pytest
	build/accel-oldest/bin/python tests/accel/sklearn_suite.py

# The property tests with random seeds; a failure prints how to reproduce it.
fuzz: $(READY)
	HYPOTHESIS_PROFILE=random $(PYTEST) -m hypothesis tests

# Readers fuzzed for a minute each, guided by the lines they reach; atheris is installed here only.
fuzz-files: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check atheris
	cd tests && for kind in csv tsv edges distances parquet arrow npy npz; do \
		$(CURDIR)/$(BIN)/python -m fuzz.coverage_guided $$kind 60 || exit 1; done

# Damaged files, odd data, kills and failing writes in large numbers; writes docs/faults.md. Then eigenproblems
# of graphs of all kinds.
faults: $(READY)
	cd tests && $(CURDIR)/$(BIN)/python -m faults.run_all
	$(BIN)/python tests/solvers/sweep.py --cases 2000 --points 500 300000

# The declared minimum versions in fresh environments: of the core alone, and of everything.
minimums: $(READY)
	EIGENSCAPE_OLDEST=1 $(BIN)/python -m pytest tests/packaging
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

# The documentation site, in build/docs: examples run, warnings are errors, links and names are checked.
docs: $(DOCS_READY)
	$(BIN)/python docs/build.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Types in the scripts of the explorer's page, from their comments; needs npm. The tests check them without it.
lint-js:
	npx --yes --package typescript@5.9 tsc --project tests/app/page/jsconfig.json

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The lists of executed functions in ARCHITECTURE.md.
walks: $(READY)
	$(BIN)/python tests/walks.py --write

# Size of the package compared with tests/budgets.toml, which follows figures that fell.
budgets: $(READY)
	$(BIN)/python tests/budgets.py

# Shared entries of tests/docstrings.toml in the docstrings of the package.
docstrings: $(READY)
	$(BIN)/python tests/docstrings.py

# Faults seeded into the code one at a time: which of them the tests find. Takes hours; writes docs/mutants.md.
mutants: $(READY)
	$(BIN)/python tests/mutants/run.py --write

# A source distribution and a wheel for every CPython from 3.11 on, in dist; the wheel is tested without a compiler.
wheel: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	$(BIN)/python -m build --outdir dist
	$(BIN)/python tests/native/wheel.py dist

# The compiled loops with address and undefined-behaviour sanitizers: their tests, and a fit of every estimator.
sanitize: $(READY)
	cd tests && $(CURDIR)/$(BIN)/python -m native.sanitize

# The compiled loops read by gcc's static analyser, with all warnings as errors.
analyze: $(READY)
	cd tests && $(CURDIR)/$(BIN)/python -m native.analyze

$(READY): pyproject.toml $(NATIVE)
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'eigenscape needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable ".[all]" --group dev
	$(BIN)/python -m compileall -q src # as pip does for a package that is not editable
	touch $(READY)

$(DOCS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	touch $(DOCS_READY)

clean:
	rm -rf docs/auto_examples docs/reference/api docs/reference/backreferences docs/figures
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis demo.png
