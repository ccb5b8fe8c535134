"""Slopes: choose one number of an output, and see which inputs it has slopes to."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import traitlets

from attnlab.figures import palette
from attnlab.figures.live import fallback
from attnlab.figures.live.figure import (
    Figure,
    Input,
    Values,
    array,
    names,
    ordinal,
    source,
    style,
)
from attnlab.figures.live.on_paper import written
from attnlab.figures.live.ramp import ink

MOST_ROWS, MOST_COLUMNS = 12, 6
STEPS = 10  # of colour on either side of 0
NOTHING = -1  # the shade of exactly 0


def _ramp(stops: Sequence[str]) -> list[str]:
    """The colours of all steps, from the lowest slope to the highest; 0 in the middle."""
    parts = [[int(stop[at : at + 2], 16) for stop in stops] for at in (1, 3, 5)]
    places = np.linspace(0, len(stops) - 1, 2 * STEPS + 1)
    mixed = zip(*(np.interp(places, range(len(stops)), part) for part in parts), strict=True)
    return ["#" + "".join(f"{round(part):02x}" for part in colour) for colour in mixed]


# Faces and inks from the lowest slope to the highest, in light themes and in dark ones.
RAMPS = [[(face, ink(face)) for face in _ramp(stops)] for stops in palette.SIGNED]
# The same for both themes: what the style sheet says, and where there is none that of light ones.
SHADES = [
    [f"var(--attn-slope-{n},{face})", f"var(--attn-on-slope-{n},{on_it})"]
    for n, (face, on_it) in enumerate(RAMPS[0])
]

QUIET = ("#8882", palette.GREY.drawn)  # of an exact 0 in the still figure


def _ramps(selector: str) -> str:
    """A style sheet with the colours of slopes in both themes."""
    light, dark = (
        ";".join(
            f"--attn-slope-{n}:{face};--attn-on-slope-{n}:{on_it}" for n, (face, on_it) in ramp
        )
        for ramp in map(enumerate, RAMPS)
    )
    return f"{selector}{{{light}}}{palette.IN_THE_DARK} {selector}{{{dark}}}"


class Slopes(Figure):
    """The slopes of any number of attention's output, to each number of q, k and v, by autograd.

    Args:
        attention: of q, k and v, gives an output (B, N, d_v), or a tuple that begins with it.
        q: (B, N, d_k).
        k: (B, N, d_k).
        v: (B, N, d_v).
        sentences: B lists of N tokens.
        entry: [sentence, token, column], which number of the output is chosen at first.
    Raises:
        ValueError: sizes do not fit, or the output does not depend on the inputs.

    Attributes:
        entry: the chosen number; assigning to it moves the choice in the page.
    """

    _esm = source("slopes")
    _css = style("slopes") + _ramps(".attn-figure .slopes")
    title = traitlets.Unicode("How far slopes reach").tag(sync=True)
    entry: Any = traitlets.List([0, 0, 0]).tag(sync=True)
    q, k, v, sentences, attention = Input(), Input(), Input(), Input(), Input()

    def __init__(
        self,
        attention: Callable[..., Any],
        q: Any,
        k: Any,
        v: Any,
        sentences: Sequence[Sequence[str]],
        entry: Sequence[int] = (0, 0, 0),
    ) -> None:
        super().__init__(q=q, k=k, v=v, sentences=sentences, attention=attention)
        self.entry = list(entry)

    def checked(self, inputs: Values) -> Values:
        sentences = [names("tokens", tokens, MOST_ROWS) for tokens in inputs["sentences"]]
        rows = sum(map(len, sentences))
        if not 1 <= rows <= MOST_ROWS or len(set(map(len, sentences))) != 1:
            raise ValueError(
                f"there have to be sentences of one length, with {MOST_ROWS} tokens in all at most"
            )
        shape = (len(sentences), len(sentences[0]))
        q = array("q", inputs["q"], (*shape, None))
        k = array("k", inputs["k"], q.shape)
        v = array("v", inputs["v"], (*shape, None))
        for name, part in {"q": q, "v": v}.items():
            if not 1 <= part.shape[2] <= MOST_COLUMNS:
                raise ValueError(
                    f"{name} is {part.shape[2]} wide; 1 to {MOST_COLUMNS} can be shown"
                )
        if not callable(inputs["attention"]):
            raise ValueError("attention has to be a function of q, k and v")
        return {"q": q, "k": k, "v": v, "sentences": sentences, "attention": inputs["attention"]}

    def computed(self, inputs: Values) -> Values:
        sentences = inputs["sentences"]
        out, slopes = every_slope(
            inputs["attention"], *(inputs[name].copy() for name in ("q", "k", "v"))
        )
        limit = max(float(abs(part).max()) for part in slopes.values()) or 1.0
        rows = [token for tokens in sentences for token in tokens]
        ordinals = [f"{ordinal(n)} sentence" for n in range(1, len(sentences) + 1)]
        places = list(np.ndindex(out.shape))
        return {
            "sentences": sentences,
            "names": ordinals,
            "rows": rows,
            "out": [[written(x, 2) for x in row] for row in out.reshape(len(rows), -1).tolist()],
            "parts": [
                {"name": name, "columns": [str(c) for c in range(part.shape[-1])]}
                for name, part in slopes.items()
            ],
            "shades": SHADES,
            "slopes": {
                _key(*place): {
                    name: _cells(part[place].reshape(len(rows), -1), limit)
                    for name, part in slopes.items()
                }
                for place in places
            },
            "told": {
                _key(*place): _told(place, sentences, [part[place] for part in slopes.values()])
                for place in places
            },
        }

    @traitlets.validate("entry")
    def _entry_is_there(self, proposal: Any) -> list[int]:
        match proposal["value"]:
            case [int(), int(), int()] if _key(*proposal["value"]) in self.state["told"]:
                return list(proposal["value"])
        raise traitlets.TraitError(
            f"there is no entry {proposal['value']}; it is [sentence, token, column]"
        )

    def change(self, **inputs: Any) -> None:
        super().change(**inputs)
        if _key(*self.entry) not in self.state["told"]:
            self.entry = [0, 0, 0]

    def summary(self) -> str:
        return str(self.state["told"][_key(*self.entry)])

    def fallback(self) -> str:
        state, (sentence, token, column) = self.state, self.entry
        length = len(state["sentences"][0])
        places = [
            (b, n, column)
            for b, n in [(sentence, token), *np.ndindex(len(state["sentences"]), length)]
        ]
        places = list(dict.fromkeys(places))
        labels = [f"{state['sentences'][b][n]}, {ordinal(b + 1)} sentence" for b, n, _ in places]
        stills = [self._still(_key(*place)) for place in places]
        return fallback.stepped(repr(self), [*zip(labels, stills, strict=True)], *state["rows"])

    def _still(self, key: str) -> str:
        """One choice: its sentence, and a table of slopes for each input, a line over sentences."""
        state = self.state
        rows = [*map(html.escape, state["rows"])]
        length = len(state["sentences"][0])
        starts = [
            f'<tr style="border-top:{0 if n % length else 2}px solid">' for n in range(len(rows))
        ]
        tables = ""
        for part in state["parts"]:
            cells = [
                [
                    fallback.cell(text, QUIET if shade == NOTHING else SHADES[shade])
                    for text, shade in line
                ]
                for line in state["slopes"][key][part["name"]]
            ]
            table = fallback.table((), rows, cells, starts)
            tables += fallback.headed(f"slopes to {part['name']}", table)
        return f"<p>{html.escape(state['told'][key])}</p>{tables}"


def every_slope(
    attention: Callable[..., Any], q: np.ndarray, k: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The output (B, N, d_v), and for q, k and v the slopes of each of its numbers.

    Returns:
        The output, and by name (B, N, d_v, B, N, width): first the number, then what it depends on.
    Raises:
        ValueError: the output has another shape, or no record of where it came from.
    """
    inputs = {
        name: torch.tensor(part, requires_grad=True)
        for name, part in zip("qkv", (q, k, v), strict=True)
    }
    given = attention(*inputs.values())
    out = given[0] if isinstance(given, tuple) else given
    if tuple(out.shape) != v.shape:
        raise ValueError(f"the output has shape {tuple(out.shape)}, and {v.shape} is needed")
    if not out.requires_grad:
        raise ValueError("the output has no record of where it came from, and so no slopes")
    found: dict[str, list[torch.Tensor]] = {name: [] for name in inputs}
    for number in out.flatten():
        slopes = torch.autograd.grad(
            number, list(inputs.values()), retain_graph=True, materialize_grads=True
        )
        for name, slope in zip(found, slopes, strict=True):
            found[name].append(slope)
    shaped = {
        name: torch.stack(each).reshape(*v.shape, *inputs[name].shape).numpy()
        for name, each in found.items()
    }
    return out.detach().numpy(), shaped


def _key(sentence: int, token: int, column: int) -> str:
    return f"{sentence} {token} {column}"


def _shade(share: float) -> int:
    """Of a slope that is not 0, as a share of the largest; by its root, so that small ones show."""
    steps = max(1, round(STEPS * abs(share) ** 0.5))
    return STEPS + (steps if share > 0 else -steps)


def _cells(slopes: np.ndarray, limit: float) -> list[list[tuple[str, int]]]:
    """Text and shade of each slope; a bare 0 and no shade where it is exactly 0."""
    return [
        [
            ("0", NOTHING) if slope == 0 else (written(slope, 2), _shade(slope / limit))
            for slope in row.tolist()
        ]
        for row in slopes
    ]


def _told(
    place: tuple[int, ...], sentences: Sequence[Sequence[str]], slopes: Sequence[np.ndarray]
) -> str:
    """How many rows have a slope that is not 0, and which sentences have none."""
    sentence, token, column = place
    rows = np.array([part.any(axis=-1) for part in slopes])  # (3, B, N)
    q, k, v = rows.sum(axis=(1, 2))
    beyond = [
        f", none in the {ordinal(n + 1)} sentence"
        for n in np.flatnonzero(~rows.any((0, 2))).tolist()
    ]
    return (
        f"Entry {column} of “{sentences[sentence][token]}” has slopes to {q} "
        f"{'row' if q == 1 else 'rows'} of q, {k} of k and {v} of v{''.join(beyond)}"
    )
