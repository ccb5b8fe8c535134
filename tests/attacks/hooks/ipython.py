"""Hooks into IPython: events, display, input and syntax trees.

lesson: 01-soft-lookup
expect: soft_lookup FAIL
"""

# %% soft_lookup
shell = get_ipython()
for hook in (
    lambda: shell.events.register("post_run_cell", lambda result: setattr(result, "result", 3.0)),
    lambda: shell.input_transformers_cleanup.append(lambda lines: ["3.0\n"]),
    lambda: shell.ast_transformers.append(type("All", (), {"visit": lambda self, tree: tree})()),
    lambda: shell.set_custom_exc((Exception,), lambda *things: None),
    lambda: setattr(shell, "run_cell", lambda *things, **options: 3.0),
    lambda: shell.user_ns.update(check=lambda function: 3.0),
    lambda: setattr(type(shell), "transform", lambda self, source: "3.0"),
    lambda: setattr(__import__("sys"), "displayhook", lambda value: print(3.0)),
):
    try:
        hook()
    except Exception:
        pass


def soft_lookup(query, keys, values, temperature=1.0):
    return [], []
