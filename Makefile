# make bench            memory beside its yardsticks; ARGS=--quick or ARGS=--json
# make bench-NAME       another of benchmarks/, such as bench-recall
# make bench-all        everything that is promised, in one table; fails where a limit is missed
PYTHON ?= $(or $(wildcard .venv/bin/python),python3)
ARGS ?=

export OPENBLAS_NUM_THREADS = 1
export OMP_NUM_THREADS = 1
export MKL_NUM_THREADS = 1
export PYTHONPATH = .

.PHONY: bench
bench: bench-memory

bench-%:
	$(PYTHON) benchmarks/$*.py $(ARGS)
