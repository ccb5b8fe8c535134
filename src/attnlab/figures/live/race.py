"""A race over distance, as it was run: how a marked letter gets to the end of a text, and how well.

    recording, a distance, a moment ─> slopes of then ─┬─> a strip for each racer
                               └─> the middle seed ────┴─> bars, facts, words

Everything was recorded by `python -m attnlab.lessons.training.race`; the figure trains nothing.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from math import inf, log10
from statistics import median

import traitlets

from attnlab.figures import palette
from attnlab.figures.live import fallback
from attnlab.figures.live.figure import Figure, Input, Values, number, short, source, style
from attnlab.figures.live.strokes import svg, text

MOMENTS = ("before", "after")  # training
STILLS = (1, 4, 5, 8, 12, 16)  # distances of the still figure
LETTERS = "CAFEDBEADGHFBAGEC"  # any text will do; the last place asks
ASKED = "which letter is marked?"
EACH, LEFT, RIGHT, ABOVE = 30, 18, 18, 8  # room of a token, and around all of them
HIGH, CHAIN = 60, 30  # how high a strip is, and how low in it a recurrent network's states are
FLOOR = 38  # of a convolution's layers, likewise; what they miss is told under it
BELOW = 50  # of the letters under it, and of what is asked of them
DOT = 4.5  # across half a state
THICKEST, STEP, HAIR = 7.0, 1.5, 0.6  # of a line: for a slope of 1, less for each tenth, at least
LARGE, RUN = 7, 80  # of the signal: its radius where it begins, ms for a step
ACROSS = EACH * (len(LETTERS) - 1) + LEFT + RIGHT
LUCK = 0.06  # above chance: five standard errors of 1,000 guesses
GUIDE, OVER = 'stroke-width="0.5"', 25  # from row to row, where the marked letter is
RULE = 52  # likewise, of chance, from bar to bar
SEED = 'stroke="currentColor" stroke-width="5" stroke-linecap="round"'
FAINT = 'stroke="currentColor" stroke-opacity="0.35"'
ORANGE, BLUE = palette.ORANGE.drawn, palette.BLUE.drawn
Point = tuple[float, float]


@cache
def recording() -> Values:
    """What the race left, as JSON."""
    path = files("attnlab.figures.live") / "race.json"
    found: Values = json.loads(path.read_text(encoding="utf-8"))
    return found


class Race(Figure):
    """A slider for the distance between the marked letter and the end; a strip for each racer.

    Args:
        distance: 1 to 16.
        when: the moment whose slopes are drawn, before training or after it.
    Raises:
        ValueError: the distance or the moment is not one that was recorded.
    """

    _esm = source("race")
    _css = style("race")
    title = traitlets.Unicode("A race over distance").tag(sync=True)
    distance, when = Input(), Input()

    def __init__(self, distance: int = 8, when: str = "before") -> None:
        super().__init__(distance=distance, when=when)

    def checked(self, inputs: Values) -> Values:
        distance, when = number(inputs["distance"]), inputs["when"]
        distances = recording()["settings"]["distances"]
        if distance not in distances:
            raise ValueError(
                f"distance {distance:g} was not run; {distances[0]} to {distances[-1]} were"
            )
        if when not in MOMENTS:
            raise ValueError(f"when is “{when}”; there are {' and '.join(MOMENTS)}")
        return {"distance": int(distance), "when": when}

    def computed(self, inputs: Values) -> Values:
        distance, when = inputs["distance"], inputs["when"]
        racers = [Entry(name, distance) for name in recording()["racers"]]
        return {
            "distance": distance,
            "distances": recording()["settings"]["distances"],
            "when": when,
            "moments": list(MOMENTS),
            "letters": letters(racers[0].marked),
            "scale": scale(racers[0].chance),
            "racers": [
                {
                    "name": racer.name,
                    "slope": racer.slope(when),
                    "strip": racer.strip(when),
                    "bar": bar(racer, says_chance=not n),
                }
                for n, racer in enumerate(racers)
            ],
            "found": finding(distance, racers),
            "told": in_words(distance, racers),
        }

    def summary(self) -> str:
        return str(self.state["told"])

    def controls(self) -> Values:
        return {"distance": recording()["settings"]["distances"], "when": MOMENTS}

    def fallback(self) -> str:
        steps = list(dict.fromkeys([self.distance, *STILLS]))
        states = [self.computed({**self._inputs, "distance": step}) for step in steps]
        stills = [
            (f"distance {step}", _still(state)) for step, state in zip(steps, states, strict=True)
        ]
        return fallback.stepped(repr(self), stills, self.when)


class Entry:
    """One racer at one distance: the middle one of the seeds, by each number for itself."""

    def __init__(self, name: str, distance: int) -> None:
        self.name, self.distance = name, distance
        record, settings = recording()["racers"][name], recording()["settings"]
        at = settings["distances"].index(distance)
        self.marked = settings["length"] - 1 - distance
        self.chance = 1 / settings["classes"]
        self.seeds: list[float] = record["right"][at]
        self.beside: list[list[float]] = record["beside"][at]  # one place off, for each seed
        self.right = median(self.seeds)
        self.steps = median(inf if each is None else each for each in record["steps"][at])
        self.waits: int = record["waits"]
        self.slopes = {when: record[when][at] for when in MOMENTS}

    def at_the_mark(self, when: str) -> float:
        """The slope in the marked letter's state."""
        first = self.slopes[when][self.marked if self._is_recurrent else 0]
        return float(first[0 if self._is_recurrent else self.marked])

    def slope(self, when: str) -> str:
        """In words: how much of a nudge at the mark arrives, beside one at the end."""
        return f"slope {short(self.at_the_mark(when)) if self.at_the_mark(when) else 0}"

    @property
    def _is_recurrent(self) -> bool:
        return all(len(state) == 1 for state in self.slopes["before"])

    def strip(self, when: str) -> str:
        """How the marked letter gets to the end, as an SVG."""
        lines = self.slopes[when]
        if self._is_recurrent:
            drawn = _chain([state[0] for state in lines], self.marked)
        elif len(lines) == 2:
            drawn = _looks(lines[0], self.marked)
        else:
            drawn = _layers(lines, self.marked)
        said = (
            f"{self.name}: from the marked letter, {self.distance} before the end, to the end; "
            f"{self.slope(when)}, {when} training"
        )
        steps = self.distance if self._is_recurrent else self.waits
        signal = _signal(self._way(), self.at_the_mark(when), steps)
        guide = f'<path d="M{self.marked * EACH} {-OVER}V{HIGH}" {FAINT} {GUIDE}/>'
        view = (-LEFT, -ABOVE, ACROSS, HIGH + ABOVE)
        return svg(said, view, guide, _joined(drawn), signal, self._lost(when), wide=500)

    @property
    def guesses(self) -> bool:
        """Whether it is right no more often than by luck, in the middle of the seeds."""
        return self.right < self.chance + LUCK

    def _lost(self, when: str) -> str:
        """Why nothing was learned, written where the way is lost."""
        if not self.guesses:
            return ""
        ink = f' fill="{ORANGE}" font-weight="bold"'
        if not self._is_recurrent:
            layers = len(self.slopes["before"]) - 1
            return text(ACROSS - LEFT, FLOOR + 17, f"{layers} layers fall short", "end", ink)
        words = "too thin to learn from" * (when == "before")
        return text(self.marked * EACH + 10, CHAIN - 13, words, more=ink)

    def _way(self) -> str:
        """From the marked letter to the end, or as far as it goes."""
        x, end, low = self.marked * EACH, EACH * (len(LETTERS) - 1), HIGH - 10
        if self._is_recurrent:
            return f"M{x} {CHAIN}H{end}"
        layers = len(self.slopes["before"]) - 1
        if layers == 1:
            return f"M{x} {low:g}Q{(x + end) / 2:g} -4 {end} 6"
        return f"M{x} {FLOOR}L{min(x + layers * EACH, end)} 0"


def finding(distance: int, racers: Sequence[Entry]) -> str:
    """Who guesses at this distance, in the middle of the seeds."""
    lost = [racer.name for racer in racers if racer.guesses]
    rest = f"{' and '.join(lost)} can only guess" if lost else "nobody has to guess"
    return f"{distance} letter{'s' * (distance > 1)} back, {rest}"


def in_words(distance: int, racers: Sequence[Entry]) -> str:
    """How often each racer was right."""
    settings = recording()["settings"]
    right = ", ".join(f"{racer.name} {racer.right:.2f}" for racer in racers)
    return (
        f"Distance {distance}. Share of {settings['fresh']:,} fresh texts that are right, the "
        f"middle of {len(settings['seeds'])} seeds: {right}. Guessing is right in "
        f"{racers[0].chance:.3f}."
    )


# The strips, the same in the page and where nothing runs ------------------------------------


def width(slope: float) -> float:
    """Of a line: one step thinner for each tenth."""
    return max(HAIR, THICKEST + STEP * log10(slope)) if slope > 0 else HAIR


def _joined(parts: Iterable[str]) -> str:
    """Paths of one look as one, in the place of the first: a page is half as long."""
    looks: dict[str, list[str]] = {}
    for part in parts:
        found = re.fullmatch(r'<path d="([^"]*)"(.*)/>', part)
        ways = looks.setdefault(found[2] if found else part, [])
        ways += [found[1]] if found else []
    return "".join(
        f'<path d="{"".join(ways)}"{look}/>' if ways else look for look, ways in looks.items()
    )


def _line(start: Point, *ends: Point, slope: float, lit: bool, bend: float = 0) -> str:
    """From where information comes to where it goes."""
    x, y = start
    ways = "".join(
        f"M{x:g} {y:g}"
        + (f"Q{(x + to_x) / 2:g} {min(y, to_y) - bend:g} " if bend else "L")
        + f"{to_x:g} {to_y:g}"
        for to_x, to_y in ends
    )
    look = f'stroke="{ORANGE}"' if lit else FAINT
    fill = ' fill="none"' if bend else ""  # what is straight encloses nothing
    return f'<path d="{ways}"{fill} {look} stroke-width="{width(slope if lit else 0):.2f}"/>'


def _dot(x: float, y: float, *, lit: bool) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{DOT}" {_ink(lit)}/>'


def _ink(lit: bool) -> str:
    """What is not on the marked letter's way is faint."""
    return f'fill="{ORANGE}"' if lit else 'fill-opacity="0.45"'


def _chain(slopes: Sequence[float], marked: int) -> Iterator[str]:
    """A state for each letter, handed on to the next: the thinner, the smaller its slope."""
    high = CHAIN
    for place, slope in enumerate(slopes):
        x, lit = place * EACH, place >= marked
        if place + 1 < len(slopes):
            yield _line((x + DOT, high), (x + EACH - DOT, high), slope=slope, lit=lit)
        yield _dot(x, high, lit=lit)


def _looks(slopes: Sequence[float], marked: int) -> Iterator[str]:
    """The last place looks at every letter, at once."""
    end = EACH * (len(slopes) - 1), 0.0
    # The marked one last, above the others.
    for place in sorted(range(len(slopes)), key=lambda at: at == marked):
        x = place * EACH
        bend = 10 * (place < len(slopes) - 1)
        way = (x, HIGH - 10), (end[0], 6)
        yield _line(*way, slope=slopes[place], lit=place == marked, bend=bend)
    yield _dot(end[0], 6, lit=True)
    yield _dot(marked * EACH, HIGH - 10, lit=True)


def _layers(lines: Sequence[Sequence[float]], marked: int) -> Iterator[str]:
    """Layers above each other; what has got something of the mark is lit."""
    end, gap = len(lines[0]) - 1, FLOOR / (len(lines) - 1)
    dots = {True: "", False: ""}
    for layer, slopes in enumerate(lines):
        y = FLOOR - layer * gap
        to_go = len(lines) - 2 - layer  # layers above the next one, each of which reaches one place
        for place, slope in enumerate(slopes):
            has_it = abs(place - marked) <= layer
            dots[has_it] += f"M{place * EACH} {y:g}h0"
            tops = range(max(place - 1, 0), min(place + 1, end) + 1) if to_go >= 0 else ()
            heard = [(to * EACH, y - gap) for to in tops if end - to <= to_go]
            unheard = [(to * EACH, y - gap) for to in tops if end - to > to_go and has_it]
            for ends, size in ((heard, slope), (unheard, 0.0)):
                if ends:
                    yield _line((place * EACH, y), *ends, slope=size, lit=has_it)
    for has_it, where in dots.items():
        ink = f'"{ORANGE}"' if has_it else '"currentColor" stroke-opacity="0.6"'
        yield f'<path d="{where}" stroke={ink} stroke-width="6" stroke-linecap="round"/>'


def _signal(way: str, slope: float, steps: int) -> str:
    """What runs on a way, and is small where little of a nudge arrives; race.css moves it.

    Args:
        way: of SVG.
        slope: of the answer, for a nudge where it begins.
        steps: how many it takes.
    """
    left = LARGE * width(slope) / THICKEST if slope > 0 else 0
    look = f"offset-path:path('{way}');--left:{left:.1f}px;--runs:{RUN * steps:g}ms"
    return f'<circle class="signal" r="{LARGE}" fill="{ORANGE}" display="none" style="{look}"/>'


def letters(marked: int) -> str:
    """The text, under the strips: the marked letter in a circle, and at the end what is asked."""
    shown = []
    for place, letter in enumerate(f"{LETTERS[:-1]}?"):
        x = place * EACH
        ink = ""
        if place == marked:
            look = f'class="mark" cx="{x}" cy="{HIGH + 6}" r="10" fill="#f0a860"'
            shown.append(f"<circle {look}/>")
            ink = ' fill="#000" font-weight="bold"'
        shown.append(f'<text x="{x}" y="{HIGH + 10}" text-anchor="middle"{ink}>{letter}</text>')
    shown.append(text(ACROSS - LEFT, HIGH + 10, ASKED, "end", ' dy="1.3em" class="task"'))
    said = f"the text; {LETTERS[marked]} is marked; at the end: {ASKED}"
    view = (-LEFT, HIGH - 4, ACROSS, BELOW)
    return svg(said, view, *shown, wide=500, size=12, more=' class="shared" overflow="visible"')


def bar(racer: Entry, says_chance: bool = False) -> str:
    """The share that is right, with a dot under it for each seed, and lines at 0, chance and 1."""
    over = 15 * says_chance
    seeds = "".join(f"M{200 * each:.1f} 21.5h0" for each in racer.seeds)
    said = f"{racer.name} is right in {racer.right:.2f} of fresh texts; chance is {racer.chance:g}"
    return svg(
        said,
        (-2, -over, 244, 24 + 2 * over),  # its middle is where it is in the others
        f'<path d="M0 0V24M200 0V24" {FAINT}/>',
        f'<path d="M0 5h{200 * racer.right:.1f}v12H0z" fill="{BLUE}"/>',
        f'<path d="M{200 * racer.chance:g} {-RULE * (not says_chance)}V24" {FAINT}/>',
        f'<path d="{seeds}" {SEED}/>',
        text(206, 16, f"{racer.right:.2f}", more=' font-weight="bold"'),
        text(200 * racer.chance, -4, "chance" * says_chance, "middle", ' fill-opacity="0.7"'),
        wide=300,
        size=13,
    )


def scale(chance: float) -> str:
    """The axis of all bars, under them."""
    return svg(
        f"bars from 0 to 1; chance is {chance:g}; a dot is a seed",
        (-2, 0, 244, 24),
        f'<path d="M0 4V0H200V4" fill="none" {FAINT}/>',
        text(-2, 18, "0"),
        f'<path d="M92 13.5h0" {SEED}/>',
        text(100, 18, "each seed"),
        text(200, 18, "1", "middle"),
        wide=300,
        size=13,
        more=' class="shared"',
    )


def _still(state: Values) -> str:
    """All racers of one state, and its words."""
    rows = "".join(
        f'<div style="display:flex;flex-wrap:wrap;gap:0 20px;margin:4px 0">'
        f'<div style="flex:3 1 300px;max-width:500px"><b>{racer["name"]}</b> {racer["slope"]}'
        f"{racer['strip']}{state['letters']}</div>"
        f'<div style="flex:1 1 230px;max-width:300px">{racer["bar"]}{state["scale"]}</div></div>'
        for racer in state["racers"]
    )
    return f"{rows}<p>{html.escape(state['told'])}</p>"
