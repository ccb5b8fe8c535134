"""Lessons of stage `pure` where Python runs in a browser: Pyodide's core, and no package beside it.

A Worker calls the functions here, with texts, and gets JSON. It fetches, from the folder that
`python -m docs.browser` writes:

    course.zip                     this package and what of the course it needs
    01-soft-lookup/lesson.json     cells, figures and declared exercises of a lesson
    01-soft-lookup/softmax.json    an exercise's cases, and what each mistake makes of them

and does, after `loadPyodide()`:

    pyodide.unpackArchive(zip, "zip", {extractDir: "/course"})     zip: an ArrayBuffer
    pyodide.runPython("import sys; sys.path.insert(0, '/course')")
    const engine = pyodide.pyimport("attnlab.browser.engine")
    const timer = clock()     of docs/_static/run/clock.mjs
    pyodide.setInterruptBuffer(timer)
    engine.keep_time(timer.alarm)

    engine.begin(text)              text of lesson.json. Everything anew: names, checks, choices.
                                    {"lesson": slug, "exercises": [name, …],
                                     "files": {name: "01-soft-lookup/softmax.json", …}}
    engine.needs(source)            names of exercises whose cases a run of this cell may ask for,
                                    and that were not given yet: ["softmax"]. Give them, then run.
    engine.give(text)               text of an exercise's file. {"exercise": name}
    engine.run(cell, source)        runs a cell in the namespace that all share. cell: the cell's
                                    id in the notebook, or any other text for a cell of one's own.
                                    {"outputs": [output, …], "seconds": 0.01, "ok": true}
    engine.choose(quiz, question, choice)
                                    a choice in a quiz, counted from 0: {"values": {…}}, as below

Nothing that a learner's code does comes out as an exception. An output has a "kind":

    stream   "text", what was printed, merged and cut at PRINT_LIMIT characters; "name": "stdout"
    text     "text", a cell's last value, as `repr` has it
    html     "html" and "text": a check's card, a summary, or what a value's `_repr_html_` says.
             "ours": true where the course made it, and no code of a learner's.
             "card": {"exercise", "status", "score", "points"} beside a check's
    figure   "figure": "live.Race"; "cell": id of the cell whose stored figure it is, so that the
             page shows that one, as recorded; "" where there is none. "note": '' or a sentence, to
             be said with it: its inputs are others than those it was drawn for
    quiz     "quiz": "recall"; "values": {"title", "state", "problem"} for the model that
             `quiz.mjs` draws; its message {"choose": [question, choice]} goes to engine.choose
    error    "title": "NameError: name 'KEYS' is not defined"; "text": all of it to be read;
             "html": the same, with the line marked; "line": its number in this cell, 0 where it is
             in none; "cell": id of a cell that has to be run first, else ''; "why" and "try": a
             sentence each, or ''. "slug": 'no-colon' and the like for a cell that is not Python,
             'magic', 'not-run', 'no-numpy', 'no-module', 'no-files', 'no-input', 'out-of-memory',
             'endless-recursion', 'too-much-output', 'still-running', 'not-written', or ''

Begin at `engine`, then `shown`, which makes outputs of what a cell leaves.

An error ends its cell; the page goes on to the next one only where "ok" is true. A cell that needs
an exercise which is not written yet says so ('not-written') and is "ok", as in JupyterLab.

A check that takes too long is ended in here, with the card that says so, after 8 seconds of the
learner's code, and a cell after 15; names stay. That takes a clock: see `keep_time`. What gives no
way then, a loop inside one call of C, is the page's to end, with the Worker.
"""
