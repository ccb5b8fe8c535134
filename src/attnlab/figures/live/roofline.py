"""Roofline: how fast work can be done at best, and what of it the batch moves to the right."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from math import log2
from typing import Any, NamedTuple

import traitlets

from attnlab.figures.live.cost_chart import (
    BLUE,
    BOTTOM,
    GREY,
    HEIGHT,
    LEFT,
    LINE,
    ORANGE,
    RIGHT,
    TOP,
    WIDTH,
    Chart,
    chart,
    drawing,
)
from attnlab.figures.live.dials import Dial, Dialled
from attnlab.figures.live.figure import Input, Values, number, style, whole
from attnlab.figures.live.strokes import text
from attnlab.figures.palette import GROUND

BATCHES = [2**power for power in range(11)]  # stops of the slider
TERA = 1e12
CAPTION = "operations for each byte, share of the peak at best, and what limits it"
ALONG = (0.1, 1e4)  # operations for each byte that are drawn
SPEEDS = (0.1, 1e4)  # TFLOP/s that are drawn
TICKS = {1.0: "1", 100.0: "100", 1e4: "10,000"}
LETTERS = "abc"
END = WIDTH - RIGHT + 8  # right of the axis
LANE, DISC = 52, 14  # under the axis, one for each work: how high, and the radius of its letter
MARGIN = 84  # right of the axis: what is named there
LOOKS = (BLUE, ORANGE)
MOVING, COMPUTING = ("limited", "by moving"), ("limited", "by computing")
Works = Callable[[int], Mapping[str, tuple[float, float]]]


class Device(NamedTuple):
    """What a device can do at best, each second."""

    name: str
    flops: float
    bandwidth: float

    def speed(self, intensity: float) -> float:
        """Operations a second at so many operations for each byte."""
        return min(self.flops, intensity * self.bandwidth)

    def tera(self, intensity: float) -> float:
        """The same in TFLOP/s."""
        return self.speed(intensity) / TERA


class Roofline(Dialled):
    """Speed at best over operations for each byte, with the places of several works for a batch.

    Args:
        batch: how many texts at once, 1 to 1024.
        works: a function of the batch that counts: for each name, operations and bytes.
        devices: one or two, as dicts with 'device', 'flops' and 'bandwidth', each second.
    Raises:
        ValueError: the batch is out of bounds, or what is counted is not above 0.
    """

    kind, _css = "roofline", style("roofline")
    title = traitlets.Unicode("The roofline").tag(sync=True)
    batch, works, devices = Input(), Input(), Input()
    stills = ("batch", (1, 16, 128, 1024), "batch = {:,}")

    def __init__(self, works: Works, devices: Sequence[Mapping[str, Any]], batch: int = 1) -> None:
        super().__init__(batch=batch, works=works, devices=devices)

    def checked(self, inputs: Values) -> Values:
        batch = whole("the batch", inputs["batch"], BATCHES[0], BATCHES[-1])
        given = [each if isinstance(each, Device) else _device(each) for each in inputs["devices"]]
        if not 1 <= len(given) <= len(LOOKS):
            raise ValueError(f"there are {len(given)} devices; 1 to {len(LOOKS)} can be drawn")
        counted(inputs["works"], batch)
        return {"batch": batch, "works": inputs["works"], "devices": given}

    def dials(self, inputs: Values) -> list[Dial]:
        batch = inputs["batch"]
        words = [*map(str, BATCHES)]
        return [Dial("batch", "batch", BATCHES, round(log2(batch)), words, f"{batch:,}")]

    def shown(self, inputs: Values) -> Values:
        batch, devices = inputs["batch"], inputs["devices"]
        works = in_order(inputs["works"], batch)
        return {
            "pictures": [_chart(works, devices)],
            "caption": CAPTION,
            "heads": ["", "for each byte", *(device.name for device in devices)],
            "table": [
                [
                    f"{letter}: {name}",
                    _short(intensity),
                    *(
                        f"{_share(device, intensity)}, {_limit(device, intensity)}"
                        for device in devices
                    ),
                ]
                for letter, (name, intensity) in _lettered(works)
            ],
            "told": _told(batch, works, devices),
        }


def counted(works: Any, batch: int) -> dict[str, float]:
    """Operations for each byte, by name.

    Raises:
        ValueError: works is no function of a batch, or what it counts is not above 0.
    """
    if not callable(works):
        raise ValueError("works has to be a function: of a batch, operations and bytes by name")
    given = works(batch)
    if not 1 <= len(given) <= len(LETTERS):
        raise ValueError(f"there are {len(given)} works; 1 to {len(LETTERS)} can be drawn")
    found = {}
    for name, (operations, moved) in given.items():
        if not (operations > 0 and moved > 0):
            raise ValueError(
                f"“{name}” has {operations:g} operations and {moved:g} bytes; both have to be "
                "above 0"
            )
        found[name] = operations / moved
        if not ALONG[0] <= found[name] <= ALONG[1]:
            raise ValueError(
                f"“{name}” has {found[name]:g} operations for each byte; {ALONG[0]:g} to "
                f"{ALONG[1]:g} can be drawn"
            )
    return found


def in_order(works: Any, batch: int) -> dict[str, float]:
    """The same, in their order along the axis for one text: letters stay for any batch."""
    found, alone = counted(works, batch), counted(works, BATCHES[0])
    return {name: found[name] for name in sorted(found, key=lambda name: alone.get(name, 0))}


def _short(intensity: float) -> str:
    """Operations for each byte: two digits below 10, three below 100, and all above."""
    if intensity >= 100:
        return f"{intensity:,.0f}"
    return f"{intensity:.2g}" if intensity < 10 else f"{intensity:.3g}"


def _device(given: Mapping[str, Any]) -> Device:
    return Device(str(given["device"]), number(given["flops"]), number(given["bandwidth"]))


def _lettered(works: Mapping[str, float]) -> list[tuple[str, tuple[str, float]]]:
    return list(zip(LETTERS, works.items(), strict=False))


def _share(device: Device, intensity: float) -> str:
    """Of the peak, at best."""
    share = 100 * device.speed(intensity) / device.flops
    return f"{share:.1f} %" if share < 10 else f"{share:.0f} %"


def _limit(device: Device, intensity: float) -> str:
    return "computing" if intensity * device.bandwidth >= device.flops else "moving"


def _told(batch: int, works: Mapping[str, float], devices: Sequence[Device]) -> str:
    """Each work's place, and where the roofs bend."""
    places = "; ".join(f"{name}: {_short(intensity)}" for name, intensity in works.items())
    bends = " and ".join(f"{d.flops / d.bandwidth:.0f} ({d.name})" for d in devices)
    return f"Batch {batch:,}. Operations for each byte: {places}. The roofs bend at {bends}."


def _chart(works: Mapping[str, float], devices: Sequence[Device]) -> str:
    """The roofs, and under them a lane for each work: where it is on the axis."""
    axes = chart(ALONG, SPEEDS)
    places = [10 ** (step / 20) * ALONG[0] for step in range(101)]
    roofs = [
        axes.line(device.tera, places, f'stroke="{colour}" stroke-width="3"')
        for device, colour in zip(devices, LOOKS, strict=False)
    ]
    said = ", ".join(f"{name} at {_short(intensity)}" for name, intensity in works.items())
    in_lanes = list(enumerate(reversed(_lettered(works))))  # so no line passes a name further left
    return drawing(
        f"speed at best over operations for each byte; {said}",
        *(_up(axes, lane, each, devices) for lane, (_, (_, each)) in in_lanes),
        axes.frame("TFLOP/s at best", TICKS, TICKS, ""),
        _stacked(WIDTH + MARGIN, HEIGHT - BOTTOM - 34, "end", "operations", "per byte"),
        *roofs,
        *(
            axes.ring(intensity, device.tera(intensity), colour)
            for device, colour in zip(devices, LOOKS, strict=False)
            for intensity in works.values()
        ),
        *_names(axes, devices),
        f'<g fill="{GREY}">{_stacked(LEFT + 8, TOP + 45, "start", *MOVING)}'
        f"{_stacked(WIDTH + 30, TOP + 5, 'end', *COMPUTING)}</g>",
        *(_lettered_disc(axes, lane, *each) for lane, each in in_lanes),
        wide=WIDTH + MARGIN,
        high=HEIGHT - BOTTOM + 32 + LANE * len(works),
    )


def _names(axes: Chart, devices: Sequence[Device]) -> list[str]:
    """Devices where their roofs end, by two words, without one that all of them begin with."""
    makers = {device.name.split()[0] for device in devices}
    begin = 1 if len(makers) == 1 < len(devices) else 0
    by_height = sorted(zip(devices, LOOKS, strict=False), key=lambda each: -each[0].flops)
    named, above = [], -1.0 * LINE
    for device, colour in by_height:
        above = max(axes.up.at(device.flops / TERA) + 5, above + LINE)
        name = " ".join(device.name.split()[begin:2]).rstrip(",")
        named.append(text(END, above, name, "start", f' fill="{colour}" font-weight="bold"'))
    return named


def _height(lane: int) -> float:
    """Of the letter in this lane."""
    return HEIGHT - BOTTOM + 32 + LANE * (lane + 0.5)


def _up(axes: Chart, lane: int, intensity: float, devices: Sequence[Device]) -> str:
    """A line from a work's letter to the roofs."""
    x, top = axes.across.at(intensity), max(device.tera(intensity) for device in devices)
    return (
        f'<path stroke="currentColor" stroke-dasharray="2 3" '
        f'd="M{x:.1f} {_height(lane)}V{axes.up.at(top):.1f}"/>'
    )


def _lettered_disc(axes: Chart, lane: int, letter: str, work: tuple[str, float]) -> str:
    """A work's letter under the axis, with its name beside it."""
    name, intensity = work
    x, y, words = axes.across.at(intensity), _height(lane), name.split(", ")
    return (
        f'<circle cx="{x:.1f}" cy="{y}" r="{DISC}"/>'
        + text(x, y + 5, letter, "middle", f' fill="{GROUND}" font-weight="bold"')
        + _stacked(x + DISC + 6, y, "start", *words)
    )


def _stacked(x: float, y: float, anchor: str, *words: str) -> str:
    """Words under each other around y, as far apart as the size of the words asks for."""
    first = 0.35 - 1.15 * (len(words) - 1) / 2
    spans = "".join(
        f'<tspan x="{x:.4g}" dy="{1.15 if n else first:.3g}em">{html.escape(each)}</tspan>'
        for n, each in enumerate(words)
    )
    return f'<text y="{y:.4g}" text-anchor="{anchor}">{spans}</text>'
