"""How the page about a class looks: its histogram, and its style, for projectors, both themes and
paper.

Okabe and Ito's colours, as in the lessons' figures; every text has a contrast of 7:1 or more with
its background.
"""

from __future__ import annotations

import html
import io
import math
import re
from collections.abc import Sequence
from typing import Any

from autograder.pages import feedback

# Matplotlib's colours, each exchanged for one of the style's, which follow the theme.
_COLOURS = {"#111111": "text", "#0072b2": "passed"}


def histogram(scores: Sequence[float], most: float, alt: str) -> str:
    """How many reached which score, of most points."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    text, bar = _COLOURS
    bins = max(1, math.ceil(most) if most <= 15 else 10)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "attnlab", "font.size": 15}):
        figure = Figure(figsize=(12, 4), layout="constrained")
        axes: Any = figure.add_subplot()
        counts, _, bars = axes.hist(scores, bins, range=(0, most or 1), rwidth=0.9, color=bar)
        axes.bar_label(bars, [f"{count:g}" if count else "" for count in counts], color=text)
        axes.set(xlim=(0, most or 1), yticks=[], xlabel="points")
        axes.xaxis.label.set_color(text)
        axes.tick_params(colors=text)
        axes.spines[:].set_visible(False)
        held = io.StringIO()
        figure.savefig(held, format="svg", transparent=True, metadata={"Date": None})
    drawn = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", held.getvalue(), flags=re.DOTALL)
    for colour, name in _COLOURS.items():
        drawn = drawn.replace(colour, f"var(--{name})")
    return f'<svg role="img" aria-label="{html.escape(alt)}"{drawn.partition("<svg")[2]}'


STYLE = (
    feedback.STYLE
    + """
:root { --passed: #0072b2; --failed: #d55e00; --half: #56b4e9; }
@media (prefers-color-scheme: dark) {
  :root { --passed: #56a9e0; --failed: #e8791f; --half: #9ed0f5; } }
body { padding: 1.5rem 1.5rem 4rem; max-width: 80rem; font-size: 1.2rem; }
h1 { font-size: 2.4rem; margin: 1rem 0 .5rem; }
h2 { font-size: 1.9rem; margin-top: 3.5rem; padding-top: 1rem; border-top: 3px solid var(--rule); }
h3 { font-size: 1.5rem; margin: 2.5rem 0 .75rem; }
.shown, .named { margin: 0; padding: .5rem .9rem; background: var(--block); font-weight: 600; }
.shown { border-left: 8px solid var(--passed); } .named { border-left: 8px solid var(--failed); }
.lead { font-size: 1.35rem; }
.quiet, figcaption, dt { color: var(--quiet); font-size: 1.05rem; }
.who { font-size: 1rem; background: var(--block); padding: .4rem .7rem; }
.numbers { display: flex; flex-wrap: wrap; gap: .5rem 2.5rem; margin: 1rem 0; }
dd { margin: 0; font-size: 1.6rem; font-weight: 600; line-height: 1.2; }
figure { margin: 1.25rem 0; } svg { display: block; width: 100%; height: auto; max-height: 11cm; }
.bar { display: flex; min-width: 13rem; height: 1.5em; }
thead i { display: inline-block; width: 1em; height: 1em; vertical-align: -.1em; }
.passed { background: var(--passed); } .failed { background: var(--failed); }
.partly { background: repeating-linear-gradient(45deg, var(--half) 0 5px, var(--page) 5px 10px);
  border: 2px solid var(--passed); }
.missing { background: var(--page); border: 2px solid var(--rule); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 1.05rem; line-height: 1.4; }
table { border-collapse: collapse; margin: 1rem 0; width: 100%; font-size: 1.1rem; }
th, td { padding: .4rem .7rem; border-bottom: 1px solid var(--rule); text-align: left;
  vertical-align: top; overflow-wrap: normal; }
th[scope=row] { font-weight: 400; overflow-wrap: anywhere; }
th code { white-space: nowrap; } td { font-variant-numeric: tabular-nums; }
@media print {
  body { max-width: none; padding: 0; font-size: 10.5pt; print-color-adjust: exact; }
  h1 { font-size: 20pt; } h2 { font-size: 15pt; margin-top: 1.5rem; } h3 { font-size: 12.5pt; }
  dd, .lead { font-size: 11.5pt; } pre, table, .who, .quiet, figcaption, dt { font-size: 9pt; }
  figure, tr, li { break-inside: avoid; }
  .bar { min-width: 3cm; }
}
"""
)
