# make bench            memory beside its yardsticks; ARGS=--quick or ARGS=--json
# make bench-NAME       another of benchmarks/, such as bench-recall
# make bench-all        everything that is promised, in one table; fails where a limit is missed
# make docs             the documentation as a site, in site/; a broken link or a page that nothing leads to fails
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

.PHONY: docs
docs:
	rm -rf site
	$(PYTHON) -m sphinx --builder html --fresh-env --fail-on-warning --keep-going --quiet --doctree-dir site/.doctrees docs site
	rm -rf site/.doctrees site/.buildinfo
	@echo "open site/index.html"
