# The course's commands. `make` alone lists them.

PYTHON ?= python3
ARGS ?=
LESSON ?=
FILES ?=
FAST ?=
LESSONS ?=
SOLUTIONS ?=
STUDENTS ?= 30
SEED ?= 1
SEEDS ?= 1
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CODE := src autograder bundle deploy docs tests benchmarks jupyter nbgrader_config.py $(wildcard solutions/*/*.py)

.DEFAULT_GOAL := help
.PHONY: help known lab update check-mine hand-in test release outputs sync readme model prove deploy-test site bench collect grade feedback report return formgrader bundle gradescope demo-class

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Made once, and again when the packages it should hold change.
$(READY): pyproject.toml constraints.txt docs/package-lock.json
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; this is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.12 ...")'
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet -c constraints.txt -e ".[course,site,tests]"
	@$(BIN)/python -m docs.npm
	@touch $@

# Stops at a LESSON that there is none of.
known: $(READY)
	@$(BIN)/python -c 'import sys; from attnlab.lessons import absent, slugs; lesson = sys.argv[1]; sys.exit(lesson not in ("", *slugs()) and absent(lesson))' "$(LESSON)"

lab: $(READY) ## open your copies of the lessons, in work/, in JupyterLab; ARGS="--no-browser --port 8899" goes to it
	@$(BIN)/python -m attnlab lab $(ARGS)

update: $(READY) ## bring work/ up to date with notebooks/, around what you wrote; `make lab` does it too
	@$(BIN)/python -m attnlab update

check-mine: $(READY) ## run every lesson in work/ as it is and write one page with all cards; LESSON=06-causal-mask: that one
	@$(BIN)/python -m attnlab check-mine $(LESSON)

hand-in: $(READY) ## make what you hand in of LESSON=06-causal-mask, work/hand-in/06-causal-mask.zip, looked through first
	@test -n "$(LESSON)" || { echo "Which lesson? For one: make hand-in LESSON=06-causal-mask" >&2; exit 2; }
	@$(BIN)/python -m attnlab hand-in $(LESSON)

# Workers have a core each: with threads for all cores they would wait for each other.
test prove deploy-test outputs: export OMP_NUM_THREADS = 1
# Hundreds of processes would each compile the course anew where a machine keeps no bytecode.
test prove deploy-test: export PYTHONDONTWRITEBYTECODE =

# Three workers on two cores: one of them mostly waits for browsers, kernels and servers.
test: known ## check style and types, run all tests and notebooks; LESSON=06-causal-mask: its own; FAST=1: the quick ones; ARGS goes to pytest
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(CODE)
	$(BIN)/python -m tests.offline $(BIN)/python -m pytest -n 3 --durations=10 $(if $(FAST),tests -m "not slow and not prove and not deploy") $(if $(LESSON),-k "$(LESSON)") $(ARGS)

# A file that is as it was keeps its time, by which `collect` tells since when a lesson is out.
release: $(READY) ## make notebooks/ again from solutions/
	rm -rf build/release
	$(BIN)/nbgrader generate_assignment --log-level=WARN --assignment='[0-9]*' --CourseDirectory.release_directory=build/release
	cp solutions/glossary.md build/release/
	@if [ -d notebooks ]; then cd build/release && find . -type f -exec sh -c \
		'cmp -s "$$1" "../../notebooks/$$1" && touch -r "../../notebooks/$$1" "$$1"' _ {} \; ; fi
	@if [ -d notebooks ] && ! diff -rq notebooks build/release >/dev/null; then \
		old=build/notebooks-$$(date +%Y%m%d-%H%M%S); mv notebooks $$old && \
		echo "notebooks/ changed. What was there before is in $$old"; \
	else rm -rf notebooks; fi
	mv build/release notebooks

collect: $(READY) ## bring an LMS's download of LESSON=06-causal-mask to where it is graded; FILES="canvas.zip late.ipynb"
	@test -n "$(LESSON)" && test -n "$(FILES)" || { echo 'Of what? For one: make collect LESSON=06-causal-mask FILES="submissions.zip"' >&2; exit 2; }
	$(BIN)/python -m autograder collect $(LESSON) $(FILES) $(ARGS)

grade: $(READY) ## grade who handed in LESSON=06-causal-mask; ARGS="--jobs 4" goes to the grader
	@test -n "$(LESSON)" || { echo "Which lesson? For one: make grade LESSON=06-causal-mask" >&2; exit 2; }
	$(BIN)/python -m autograder grade $(LESSON) $(ARGS)

feedback: $(READY) ## write the gradebook's scores and comments into the pages of LESSON=06-causal-mask
	@test -n "$(LESSON)" || { echo "Which lesson? For one: make feedback LESSON=06-causal-mask" >&2; exit 2; }
	$(BIN)/python -m autograder feedback $(LESSON) $(ARGS)

return: $(READY) ## scores and pages of LESSON=06-causal-mask back to an LMS: ARGS="--canvas grades.csv", "--moodle FILE" or "--csv"
	@test -n "$(LESSON)" || { echo "Which lesson? For one: make return LESSON=06-causal-mask ARGS=--csv" >&2; exit 2; }
	$(BIN)/python -m autograder return $(LESSON) $(ARGS)

report: $(READY) ## write a page and a table about who was graded in LESSON=06-causal-mask; ARGS=--names: the teacher's
	@test -n "$(LESSON)" || { echo "Which lesson? For one: make report LESSON=06-causal-mask" >&2; exit 2; }
	@$(BIN)/python -m autograder report $(LESSON) $(ARGS)

# A container's only user is often root, for whom JupyterLab does not start unless told.
formgrader: $(READY) ## open the whole repository in JupyterLab, with nbgrader's Formgrader; ARGS as for lab
	$(BIN)/jupyter lab --allow-root $(ARGS)

sync: $(READY) ## bring each lesson's .py and .ipynb into step, the newer one wins
	$(BIN)/jupytext --quiet --sync solutions/*/*.py

outputs: known sync ## run the solutions, store their outputs and record their figures; LESSON=06-causal-mask: its own
	ATTNLAB_RECORDINGS=$(CURDIR)/docs/recordings $(BIN)/jupyter nbconvert --to notebook --execute --inplace \
		--ExecutePreprocessor.record_timing=False --ExecutePreprocessor.coalesce_streams=True \
		--ExecutePreprocessor.timeout=120 solutions/$(or $(LESSON),*)/*.ipynb
	$(BIN)/python -m attnlab.figures.live.stored solutions/$(or $(LESSON),*)/*.ipynb
	$(BIN)/jupytext --quiet --sync solutions/$(or $(LESSON),*)/*.ipynb

readme: $(READY) ## write the lessons' rows, points and totals and where the course is published into README.md and lessons' first cells
	$(BIN)/python -m tests.readme

model: $(READY) ## train the small model again, within five minutes; SEEDS=5: five, and write what they can do
	$(BIN)/python -m attnlab.small --seeds $(SEEDS)

prove: known ## the long proofs: claims, trainings, all mutants, all answers on 200 seeds; LESSON=06-causal-mask: its own; ARGS="--seeds 20"
	$(BIN)/python -m pytest -n 2 -m prove tests solutions $(if $(LESSON),-k "$(LESSON)")
	$(BIN)/python -m tests.prove $(if $(LESSON),--lesson $(LESSON)) $(ARGS)

deploy-test: $(READY) ## containers, a hub, clean installs: needs root, Debian and registries; writes deploy/tried/; ARGS goes to pytest
	$(BIN)/python -m pytest -m deploy tests/deploy --timeout 1800 $(ARGS)

site: $(READY) ## write the web site, build/site/html/index.html
	@$(BIN)/python -m docs.site

bench: $(READY) ## run the benchmarks, each side by side with something to compare with
	$(BIN)/python -m benchmarks.import_time
	$(BIN)/python -m benchmarks.checking
	$(BIN)/python -m benchmarks.grading $(ARGS)
	$(BIN)/python -m benchmarks.term
	$(BIN)/python -m benchmarks.figures
	$(BIN)/python -m benchmarks.browser

bundle: $(READY) ## write dist/attnlab-course-<version>.zip, to be handed out; LESSONS="01 02": these alone; SOLUTIONS=1: for people who learn alone
	$(BIN)/python -m bundle $(if $(LESSONS),--lessons $(LESSONS)) $(if $(SOLUTIONS),--solutions)

gradescope: $(READY) ## write dist/gradescope-<lesson>.zip, an autograder to upload there; LESSON=06-causal-mask
	@test -n "$(LESSON)" || { echo "Which lesson? For one: make gradescope LESSON=06-causal-mask" >&2; exit 2; }
	@$(BIN)/python -m deploy.gradescope $(LESSON)

demo-class: $(READY) ## fill class/submitted/ with a synthetic class; STUDENTS=30 LESSON=06-causal-mask SEED=1
	$(BIN)/python -m tests.demo_class --students $(STUDENTS) --seed $(SEED) $(if $(LESSON),--lesson $(LESSON)) $(ARGS)
