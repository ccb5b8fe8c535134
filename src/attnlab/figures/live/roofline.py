"""Roofline: how fast work can be done at best, and what of it the batch moves to the right."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import atan2, degrees, log2
from typing import Any, NamedTuple

import traitlets

from attnlab.figures import palette
from attnlab.figures.live.cost_chart import CLEAR, Axis, Chart
from attnlab.figures.live.dials import Dial, Dialled
from attnlab.figures.live.figure import Input, Values, number, style, whole
from attnlab.figures.live.strokes import svg, text

BATCHES = [2**power for power in range(11)]  # stops of the slider
TERA = 1e12
CAPTION = "operations for each byte, share of the peak at best, and what limits it"
ALONG = (0.1, 1e4)  # operations for each byte that are drawn
UNDER_ROOFS, OVER_ROOFS = 5, 9  # how many times farther the axis goes than the roofs
LEFT, WIDE, HIGH, RIGHT = 66, 370, 256, 74  # room for numbers, of the plot, room for names
TICKS = {1.0: "1", 10.0: "10", 100.0: "100", 1000.0: "1,000"}
MOVING, COMPUTING = "limited by moving", ("limited by", "computing")
ALONG_AT = 0.47  # of the way up to the bend, the middle of what limits there
OVER, UNDER = 26, 48  # room over the plot and under it
LINE, LETTER = 23, 13  # of words, where they are largest: from line to line, and a letter
LARGEST, BETWEEN = 25.1, 157  # their size there, and y of a name between others
CLOSE = 1.03  # times as far along, and works are in one place
MOST = 3  # works
NEAR = 60  # px under the peak, where no room is to say how far that is
BLUE, ORANGE, GREY = (each.drawn for each in (palette.BLUE, palette.ORANGE, palette.GREY))
LOOKS = (BLUE, ORANGE)
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
            "pictures": [_chart(works, in_order(inputs["works"], BATCHES[0]), devices)],
            "folded": "The same in a table",
            "caption": CAPTION,
            "heads": ["", "for each byte", *(device.name for device in devices)],
            "table": [
                [
                    name,
                    _short(intensity),
                    *(
                        f"{_share(device, intensity)}, {_limit(device, intensity)}"
                        for device in devices
                    ),
                ]
                for name, intensity in works.items()
            ],
            "found": _found(batch, works, devices),
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
    if not 1 <= len(given) <= MOST:
        raise ValueError(f"there are {len(given)} works; 1 to {MOST} can be drawn")
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
    """The same, in their order along the axis for one text: their lanes stay for any batch."""
    found, alone = counted(works, batch), counted(works, BATCHES[0])
    return {name: found[name] for name in sorted(found, key=lambda name: alone.get(name, 0))}


def _short(intensity: float) -> str:
    """Operations for each byte: two digits below 10, three below 100, and all above."""
    if intensity >= 100:
        return f"{intensity:,.0f}"
    return f"{intensity:.2g}" if intensity < 10 else f"{intensity:.3g}"


def _device(given: Mapping[str, Any]) -> Device:
    return Device(str(given["device"]), number(given["flops"]), number(given["bandwidth"]))


def _share(device: Device, intensity: float) -> str:
    """Of the peak, at best."""
    share = 100 * device.speed(intensity) / device.flops
    return f"{share:.1f} %" if share < 10 else f"{share:.0f} %"


def _limit(device: Device, intensity: float) -> str:
    return "computing" if intensity * device.bandwidth >= device.flops else "moving"


def _found(batch: int, works: Mapping[str, float], devices: Sequence[Device]) -> str:
    """What the fastest device reaches in the works that move the most for each operation."""
    device, (first, *others) = _from_the_top(devices)[0][0], _places(dict([*works.items()][:2]))
    name, at = first
    stem = name.partition(", ")[0]
    if not others and sum(each.startswith(f"{stem}, ") for each in works) == 2:
        name = stem  # it is said of both
    does = "reach" if " and " in name else "reaches"
    said = f"{name.replace(', ', ' ')} {does} {_share(device, at)}"
    said += f" of the {_called(device, devices)}'s peak"
    said += "".join(f", {_after(first[0], each)} {_share(device, at)}" for each, at in others)
    return f"At batch {batch:,}, {said} at best".replace(" %", "\u00a0%")


def _told(batch: int, works: Mapping[str, float], devices: Sequence[Device]) -> str:
    """Each work's place, and where the roofs bend."""
    places = "; ".join(f"{name}: {_short(intensity)}" for name, intensity in works.items())
    bends = " and ".join(f"{d.flops / d.bandwidth:.0f} ({d.name})" for d in devices)
    return f"Batch {batch:,}. Operations for each byte: {places}. The roofs bend at {bends}."


def _chart(
    works: Mapping[str, float], alone: Mapping[str, float], devices: Sequence[Device]
) -> str:
    """The roofs, and the works on them: each with its name, and its way from a batch of one.

    Args:
        works: operations for each byte.
        alone: the same for a batch of one.
        devices: one or two.
    """
    low = min(device.tera(ALONG[0]) for device in devices) / UNDER_ROOFS
    high = max(device.tera(ALONG[1]) for device in devices) * OVER_ROOFS
    axes = Chart(Axis(*ALONG, 0, WIDE), Axis(low, high, HIGH, 0))
    said = ", ".join(f"{name} at {_short(intensity)}" for name, intensity in works.items())
    roofs = [
        axes.line(device.tera, _corners(device, *ALONG), f'stroke="{colour}" stroke-width="2.5"')
        for device, colour in zip(devices, LOOKS, strict=False)
    ]
    return svg(
        f"speed at best over operations for each byte; {said}",
        (-LEFT, -OVER, LEFT + WIDE + RIGHT, OVER + HIGH + UNDER),
        _frame(axes, min(device.flops for device in devices)),
        *roofs,
        *(_way(axes, alone[name], each, devices) for name, each in works.items() if name in alone),
        _short_of(axes, next(iter(works.values())), *_from_the_top(devices)[0]),
        _named(axes, works, devices),
        *(
            axes.ring(intensity, device.tera(intensity), colour)
            for device, colour in zip(devices, LOOKS, strict=False)
            for intensity in works.values()
        ),
        *_names(axes, devices),
        _along(axes, _from_the_top(devices)[0][0]),
        wide=480,
        size=15,
    )


def _corners(device: Device, low: float, high: float) -> list[float]:
    """Between which a roof is straight: both ends, and its bend where that is between them."""
    bend = device.flops / device.bandwidth
    return [low, *([bend] if low < bend < high else []), high]


def _after(above: str, name: str) -> str:
    """A name as it goes on after one that begins alike."""
    return name.removeprefix(above.partition(", ")[0] + ", ")


def _places(works: Mapping[str, float]) -> list[tuple[str, float]]:
    """Works and their places; those in one place have one name."""
    places: list[tuple[str, float]] = []
    for name, each in works.items():
        above, at = places[-1] if places else ("", 0.0)
        if at / CLOSE < each < at * CLOSE:
            places[-1] = f"{above} and {_after(above, name)}", at
        else:
            places.append((name, each))
    return places


def _frame(axes: Chart, lowest: float) -> str:
    """Both axes, and what limits on either side, under the lowest roof and over all."""
    ticks = "".join(f"M{axes.across.at(x):.1f} {HIGH}v4" for x in TICKS)
    ticks += "".join(f"M0 {axes.up.at(y):.1f}h-4" for y in TICKS)
    grey = f' fill="{GREY}"'
    return "".join(
        [
            f'<path fill="none" stroke="currentColor" d="M0 0V{HIGH}H{WIDE}{ticks}"/>',
            *(
                _shifted(axes.across.at(x), HIGH + 4, 1, "middle", label, grey)
                for x, label in TICKS.items()
            ),
            *(_shifted(-7, axes.up.at(y), 0.35, "end", label, grey) for y, label in TICKS.items()),
            _shifted(
                WIDE, HIGH + 4, 2.15, "end", "operations per byte (log)", ' font-weight="bold"'
            ),
            _shifted(-LEFT, -10, 0, "start", "TFLOP/s (log)", ' font-weight="bold"'),
            *(
                _shifted(WIDE, axes.up.at(lowest / TERA) + 2, down, "end", words, grey)
                for down, words in zip((0.9, 2.05), COMPUTING, strict=True)
            ),
        ]
    )


def _names(axes: Chart, devices: Sequence[Device]) -> list[str]:
    """Devices where their roofs end."""
    named, above = [], -1e9
    for device, colour in _from_the_top(devices):
        above = max(axes.up.at(device.flops / TERA), above + LINE + 5)
        name = _called(device, devices)
        more = f' fill="{colour}" font-weight="bold"'
        named.append(_shifted(WIDE + 6, above, 0.35, "start", name, more))
    return named


def _along(axes: Chart, highest: Device) -> str:
    """What limits where the roofs rise, along them."""
    bend = highest.flops / highest.bandwidth
    (x, y), (to_x, to_y) = (
        (axes.across.at(each), axes.up.at(highest.tera(each))) for each in (ALONG[0], bend)
    )
    turned = degrees(atan2(to_y - y, to_x - x))
    x, y = x + ALONG_AT * (to_x - x), y + ALONG_AT * (to_y - y)
    place = f"translate({x:.1f} {y:.1f}) rotate({turned:.1f})"
    words = _shifted(0, -13, 0, "middle", MOVING, f' fill="{GREY}"{CLEAR}')
    return f'<g transform="{place}">{words}</g>'


def _called(device: Device, devices: Sequence[Device]) -> str:
    """A device by two words, without one that all of them begin with."""
    makers = {each.name.split()[0] for each in devices}
    begin = 1 if len(makers) == 1 < len(devices) else 0
    return " ".join(device.name.split()[begin:2]).rstrip(",")


def _from_the_top(devices: Sequence[Device]) -> list[tuple[Device, str]]:
    """Devices and their colours, from the highest roof down."""
    return sorted(zip(devices, LOOKS, strict=False), key=lambda each: -each[0].flops)


def _way(axes: Chart, alone: float, now: float, devices: Sequence[Device]) -> str:
    """How far the batch has moved a work along the roofs."""
    look = 'stroke="currentColor" stroke-width="9" stroke-opacity="0.18" stroke-linecap="round"'
    ends = sorted((alone, now))
    return "".join(axes.line(device.tera, _corners(device, *ends), look) for device in devices)


def _short_of(axes: Chart, first: float, device: Device, colour: str) -> str:
    """How far a work stays below the peak, where a chart of powers makes a hundredth look near."""
    x, low, high = (
        axes.across.at(first),
        *(axes.up.at(y / TERA) for y in (device.speed(first), device.flops)),
    )
    if low - high < NEAR:
        return ""
    look = f'fill="none" stroke="{colour}" stroke-width="1.5" stroke-dasharray="2 4"'
    times = f"×{device.flops / device.speed(first):,.0f}"
    more = f' fill="{colour}" font-weight="bold"'
    line = f'<path {look} d="M{x - 9:.1f} {high:.1f}h18m-9 0V{low:.1f}"/>'
    return line + _shifted(x - 8, (low + high) / 2, 0.35, "end", times, more)


def _named(axes: Chart, works: Mapping[str, float], devices: Sequence[Device]) -> str:
    """Each place by name, and its shares of the peaks: in a chart of powers, 1 % looks like half.

    The last is named over the roofs, others beside their rings, where the roofs are above the
    words; the first at the foot, if another is so near that both would meet.
    """
    drawn, places, end = "", _places(works), WIDE + RIGHT
    for n, (name, each) in enumerate(places):
        shares = [f"{_called(d, devices)} {_share(d, each)}" for d, _ in _from_the_top(devices)]
        words = [*name.replace(" and ", "\nand ").splitlines(), ", ".join(shares)]
        long = LETTER * max(map(len, words))
        x, speeds = axes.across.at(each), [device.tera(each) for device in devices]
        left, anchor = min(x + 14, end - long), "start"
        start = ALONG[0] * (ALONG[1] / ALONG[0]) ** (left / WIDE)
        y = axes.up.at(min(*speeds, *(device.tera(start) for device in devices))) + 1
        down = 0.5 if n == 0 else (BETWEEN - y) / LARGEST
        if n == len(places) - 1 > 0:
            left, anchor = min(max(x, 8 + long / 2), end - long / 2), "middle"
            y, down = axes.up.at(max(speeds)) - 9, 0.45 - 1.15 * len(words)
        elif n == 0 and len(places) == MOST:
            foot = f"M{x:.1f} {y:.1f}V{HIGH - 30:.1f}"
            drawn += f'<path stroke="currentColor" stroke-dasharray="2 3" d="{foot}"/>'
            y, down = HIGH - 5.0, -1.15
        for line, said in enumerate(words):
            bold = ' font-weight="bold"' * (line < len(words) - 1)
            drawn += _shifted(left, y, down + 1.15 * line, anchor, said, bold + CLEAR)
    return drawn


def _shifted(x: float, y: float, down: float, anchor: str, words: str, more: str) -> str:
    """Words at a place, and down from it by so many of their heights."""
    return text(x, y, words, anchor, f' dy="{down}em"{more}')
