"""Lesson 10's last exercises: probabilities of the next token, and tokens one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from attnlab.calling.observe import ByName, by_name
from attnlab.calling.training import written
from attnlab.checks.edits import Way, edits
from attnlab.checks.exercise import (
    FLOAT32_TOLERANCE,
    Case,
    Claim,
    Exercise,
    Formula,
    Procedure,
    Slot,
    promises,
)
from attnlab.checks.inputs import Generator, far_rows, holes, near_rows, normal, sizes, tied_rows

Tensor = torch.Tensor


# next_token_probabilities -------------------------------------------------------------------------


def _likeliest(logits: Tensor) -> Tensor:
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)


def _below(logits: Tensor) -> Tensor:
    """The same with 0 as the largest of each row."""
    return logits - logits.amax(-1, keepdim=True)


def _softmax(logits: Tensor, temperature: float) -> Tensor:
    return (_below(logits) / temperature).softmax(-1)


def _largest(logits: Tensor) -> Tensor:
    """1 at each that is as large as the largest."""
    return (_below(logits) == 0).to(logits.dtype)


def _probabilities(logits: Tensor, temperature: float = 1.0) -> Tensor:
    if temperature < 0:
        raise ValueError
    z, t = logits, temperature
    if not t:
        return _likeliest(z)
    return _softmax(z, t)


def _shown(logits: Tensor) -> Tensor:
    return logits.masked_fill(logits == -torch.inf, 0.0)


LEAST = (0.5, 0.1, 0.01)  # what a temperature of a thousandth tells from it


def _hidden(rng: Generator, logits: Tensor) -> Tensor:
    """Some of them −∞, never all of a row."""
    return logits.masked_fill(torch.from_numpy(~holes(rng, *logits.shape)), -torch.inf)


def _temperature_cases(rng: Generator) -> Iterator[Case]:
    b, n, v = sizes(rng, 3, 3)

    def close(temperature: float) -> Tensor:
        """Logits as far apart as the temperature."""
        return temperature * normal(rng, b, v)

    mild = float(rng.uniform(0.2, 0.4)), float(rng.uniform(2.5, 4.0)), float(rng.uniform(40, 60))
    for temperature in (1.0, 2, *mild):
        note = f"temperature is {temperature:.3g}"
        yield Case("values", (close(temperature), temperature), note=note)
    note = f"some logits are -inf, and temperature is {mild[0]:.3g}"
    args = _hidden(rng, normal(rng, b, n, v)), mild[0]
    yield Case("values", args, note=note, exact_zeros=True)

    note = f"some logits are -inf, and temperature is {(hot := float(rng.uniform(3e3, 9e3))):.5g}"
    yield Case("values", (_hidden(rng, normal(rng, b, v)), hot), note=note, exact_zeros=True)
    low = _hidden(rng, normal(rng, b, n, v) - float(rng.uniform(2e4, 9e4)))
    note = "logits are in the ten thousands below 0, and some are -inf"
    yield Case("cold", (low, 1.0), note=note, exact_zeros=True)

    for rows in (far_rows(rng, v), near_rows(rng, v)):
        for temperature in (1.0, mild[0]):
            note = f"logits are in the thousands, and temperature is {temperature:.3g}"
            yield Case("cold", (torch.from_numpy(rows), temperature), note=note)
    for power in (-2, -3):
        temperature = float(rng.uniform(1, 2)) * 10.0**power
        note = f"temperature is {temperature:.3g}, and logits are as near to each other"
        yield Case("cold", (close(temperature), temperature), note=note)
    for logits, temperature in ((close(1e-3), 1e-3), (torch.from_numpy(far_rows(rng, v)), 1.0)):
        note = f"float32, at {temperature:g}"
        how: dict[str, Any] = {"note": note, "tolerance": FLOAT32_TOLERANCE}
        yield Case("cold", (logits.float(), temperature), **how)

    ties = torch.from_numpy(tied_rows(rng, v))
    for zero, logits, more in (
        (0.0, normal(rng, b, n, v), ""),
        (0, normal(rng, v), ", as an int"),
        (0.0, _hidden(rng, normal(rng, b, v)), ", and some logits are -inf"),
        (-0.0, normal(rng, b, v).float(), ", from below, and logits are float32"),
        (0, ties, ", and some are equally large"),
        (0.0, ties.flip(-1), ", and some are equally large, the other way round"),
    ):
        yield Case("zero", (logits, zero), note=f"temperature is 0{more}", exact_zeros=True)
    for temperature in (-float(rng.uniform(0.5, 2)), -1e-9):
        note = f"temperature is {temperature:.3g}"
        yield Case("zero", (normal(rng, b, v), temperature), raises="ValueError", note=note)


NEXT_TOKEN_PROBABILITIES = Exercise(
    name="next_token_probabilities",
    signature="(logits, temperature=1.0) -> (…, V)",
    axes=("… V", "?"),
    read="Writing",
    returns=(Slot("probabilities", "tensor", "… V"),),
    claims=promises(
        "equals softmax(logits / temperature), along the last axis",
        0.25,
        Claim(
            "cold",
            "stays right from temperature 1e-3 on, at logits in the thousands and in float32",
            0.25,
            also=("precision",),
        ),
        Claim(
            "zero",
            "gives 1 to the first largest at temperature 0, and raises ValueError below",
            0.25,
        ),
        unchanged=0.25,
    ),
    oracle=_probabilities,
    cases=_temperature_cases,
    mistakes=edits(
        _probabilities,
        {
            "temperature-ignored": "_softmax(z, t) -> z.softmax(-1)",
            "computed-in-float32": "_softmax(z, t) -> _softmax(z.float(), t).to(z.dtype)",
            "temperature-multiplied": "_softmax(z, t) -> (z * t).softmax(-1)",
            "temperature-after-softmax": "_softmax(z, t) -> z.softmax(-1) / t",
            "divided-twice": "_softmax(z, t) -> _softmax(_below(z) / t, t)",
            "unstable-softmax": "_softmax(z, t) -> F.normalize((z / t).exp(), 1, -1, 0)",
            "temperature-bounded": (
                *(f"(z, t) -> (z, max(t, {least}))" for least in LEAST),
                *(f"(z, t) -> (z, min(t, {most}))" for most in (1.0, 2.0, 5.0, 10.0)),
            ),
            "cold-is-greedy": tuple(f"not t -> t < {least}" for least in (1.0, *LEAST)),
            "drawn-at-zero": "_likeliest(z) -> z.softmax(-1)",
            "divided-by-zero": (
                "_likeliest(z) -> (z / 0.0).softmax(-1)",
                "_likeliest(z) -> (_below(z) / 0.0).softmax(-1)",
            ),
            "not-the-first-of-equals": (
                "_likeliest(z) -> _largest(z)",
                "_likeliest(z) -> F.normalize(_largest(z), 1, -1)",
                "_likeliest(z) -> _likeliest(z.flip(-1)).flip(-1)",
            ),
            "token-not-probabilities": "_likeliest(z) -> z.argmax(-1)",
            "infinite-as-small": tuple(
                f"= logits -> = logits.nan_to_num(neginf={low})" for low in (-1e3, -1e4)
            ),
            "infinite-as-0": "= logits -> = _shown(logits)",
            "wrong-axis": (
                *(f"_softmax(z, t) -> (z / t).softmax({axis})" for axis in (0, 1, -2)),
                "_softmax(z, t) -> (z / t).exp() / (z / t).exp().sum()",
            ),
            "log-softmax": "_softmax(z, t) -> (z / t).log_softmax(-1)",
            "not-normalised": (
                "_softmax(z, t) -> (z / t).exp()",
                "_softmax(z, t) -> _below(z / t).exp()",
            ),
        },
    ),
)


# generate -----------------------------------------------------------------------------------------


def _asked(generate: Formula) -> Formula:
    """What a case finds of a way to write; it may come with tokens in place of `choose`."""

    def found(model: Any, prompt: Tensor, n_new: int, choose: Any, *watched: str) -> Any:
        if isinstance(choose, Tensor):
            return written(generate, model, prompt, n_new, choose, *watched)
        return generate(model, prompt, n_new, choose)

    return found


def _written(model: Any, prompt: Tensor, n_new: int, choose: Any) -> Any:
    with torch.no_grad():
        ids, start = prompt, prompt.shape[1]
        if start == 0:
            raise ValueError
        for _ in range(n_new):
            logits = model(ids)[:, -1]
            ids = torch.cat([ids, choose(logits)[:, None]], dim=1)
        return ids


RIGHT = _asked(_written)


def _padded(model: Any, prompt: Tensor, n_new: int, choose: Any) -> Any:
    """The model gets places for all tokens to come."""
    total = prompt.shape[1] + n_new

    def asked(ids: Tensor) -> Any:
        return model(F.pad(ids, (0, total - ids.shape[1])))[:, : ids.shape[1]]

    return _written(asked, prompt, n_new, choose)


def _switching(back: Callable[[bool], bool] | None, guarded: bool) -> Formula:
    """In evaluation; then back, by what it was.

    Args:
        guarded: whether functions, which have no mode, are left alone.
    """

    def generate(model: Any, *args: Any) -> Any:
        if guarded and not isinstance(model, torch.nn.Module):
            return _written(model, *args)
        was = model.training
        model.eval()
        ids = _written(model, *args)
        if back:
            model.train(back(was))
        return ids

    return generate


CROPPED = (*(2**power for power in range(1, 12)), 10, 50, 100, 200, 500, 1000, 2000)
WRITTEN: dict[str, Way | tuple[Way, ...]] = {
    "last-token-alone": (
        "model(ids) -> model(ids[:, -1:])",
        "model(ids) -> model(ids[:, -1:] if ids.shape[1] > start else ids)",
    ),
    "stale-past": "model(ids) -> model(ids[:, :start])",
    "context-cropped": (
        *(f"model(ids) -> model(ids[:, -{most}:])" for most in CROPPED),
        "model(ids) -> model(ids[:, -start:])",
        "model(ids) -> model(ids[:, start * (ids.shape[1] > start) :])",
    ),
    "future-padded": _padded,
    "wrong-row": ("[:, -1] -> [:, 0]", "[:, -1] -> [:, -2:][:, 0]"),
    "choice-ignored": (
        "choose(logits) -> logits.argmax(-1)",
        "choose(logits) -> [choose(logits), logits.argmax(-1)][1]",
    ),
    "probabilities-for-logits": "choose(logits) -> choose(logits.softmax(-1))",
    "one-choice-for-all": "choose(logits) -> choose(logits[:1]).expand(len(logits))",
    "chosen-too-often": (
        "return ids -> return [ids, choose(model(ids)[:, -1])][0]",
        "choose(logits) -> torch.cat([choose(row) for row in logits[:, None]])",
    ),
    "prompt-dropped": "return ids -> return ids[:, start:]",
    "out-of-order": (
        "return ids -> return ids.roll(-start, 1)",
        "return ids -> return torch.cat([ids[:, :start], ids[:, start:].flip(1)], 1)",
    ),
    "miscounted": tuple(f"range(n_new) -> range(n_new {by})" for by in ("- 1", "+ 1", "- start")),
    "gradients-recorded": "no_grad -> enable_grad",
    "made-in-inference-mode": "no_grad -> inference_mode",
    "mode-changed": tuple(
        _switching(back, guarded)
        for back in (None, lambda was: True, lambda was: was)
        for guarded in (False, True)
    ),
}

GIVEN = Slot("logits that choose was given", "tensor", "n_new B V")


def _way(*returns: Slot) -> Procedure:
    names = ("model", "prompt", "n_new", "tokens that choose gives", "watched")
    return Procedure("training.written", returns, RIGHT, names)


WAYS = {
    "": _way(Slot("ids", "tensor", "B N+n_new"), GIVEN),
    "training": _way(Slot("that training can go on with the result", "bool"), GIVEN),
    "modes": _way(Slot("whether the model and its part are in training", "tensor", "2"), GIVEN),
}
KINDS = 5  # of tokens


def _generate_cases(rng: Generator) -> Iterator[Case]:
    b, n, n_new = sizes(rng, 3, 3)

    def model(*how: Any, name: str = "whole_past") -> ByName:
        """One whose next token depends on all tokens so far."""
        return by_name(f"training.{name}", normal(rng, 11, KINDS), *how)

    def case(
        group: str,
        model: ByName,
        note: str,
        rows: int = b,
        long: int = n,
        new: int = n_new,
        drawn: bool = True,
        tokens: Tensor | None = None,
        watched: str = "",
        **how: Any,
    ) -> Case:
        """By tokens that are drawn, or by those of the largest logits."""
        prompt = torch.from_numpy(rng.integers(0, KINDS, (rows, long)))
        if not drawn:
            chosen = by_name("training.likeliest")
            return Case(group, (model, prompt, new, chosen), note=note, **how)
        if tokens is None:
            tokens = torch.from_numpy(rng.integers(0, KINDS, (rows, new + 2)))
        args = (model, prompt, new, tokens, *([watched] if watched else []))
        return Case(group, args, note=note, procedure=WAYS[watched], **how)

    for drawn in (True, False):
        yield case("values", model(), "", drawn=drawn)
        note = f"n_new is {(many := int(rng.integers(17, 25)))}"
        yield case("values", model(), note, new=many, drawn=drawn)
        yield case("values", model(), "the prompt is longer", long=n + 7, drawn=drawn)
    kinds = rng.permutation(KINDS).repeat(2)  # whatever might end a text, and more after it
    each = torch.from_numpy(np.append(kinds, kinds[:2])[None])
    yield case("values", model(), "B is 1", rows=1, new=2 * KINDS, tokens=each)
    yield case("values", model(), "the prompt is one token", long=1)
    for new in (0, 1):
        yield case("values", model(), f"n_new is {new}", new=new)
    yield case("values", model(), "the prompt is a view that is not contiguous", laid="views")
    single = by_name("training.whole_past", normal(rng, 11, KINDS).float())
    yield case("values", single, "the model is float32", tolerance=FLOAT32_TOLERANCE)
    long = int(rng.integers(2_100, 2_600))
    for drawn in (True, False):
        yield case("whole", model(), f"the prompt has {long:,} tokens", long=long, drawn=drawn)
        note = "tokens count for those before them too, as without a causal mask"
        yield case("whole", model(True), note, drawn=drawn)
    for new in (0, 1, n_new):
        note = f"n_new is {new}, and logits are others where gradients are recorded"
        yield case("records", model(name="recorded"), note, new=new, watched="training")
    note = "the model is a function, and no module"
    yield case("mode", model(name="function"), note, drawn=False)
    for training in (True, False):
        for inside in (True, False):
            note = f"{training} and {inside} is `training` of the model and of a part of it"
            made_so = model(training, inside, name="in_modes")
            yield case("mode", made_so, note, watched="modes", about=("whole",))
    for new in (0, n_new):
        note = f"the prompt is empty, and n_new is {new}"
        yield case("refuses", model(), note, long=0, new=new, raises="ValueError", drawn=False)


GENERATE = Exercise(
    name="generate",
    signature="(model, prompt, n_new, choose) -> LongTensor (B, N + n_new)",
    axes=(),
    read="Writing",
    returns=(Slot("ids", "tensor", "B N+n_new"),),
    claims=promises(
        "appends n_new tokens, each that `choose` gives for the model's last logits",
        0.75,
        Claim("whole", "gives the model all tokens so far, thousands too, and no others", 0.25),
        Claim("records", "records no gradients, and hinders nobody who does later", 0.25),
        Claim("mode", "takes any function as a model, and leaves a module's mode alone", 0.25),
        Claim("refuses", "raises ValueError for an empty prompt, whatever n_new", 0.25),
        unchanged=0.25,
    ),
    oracle=RIGHT,
    cases=_generate_cases,
    mistakes={slug: tuple(map(_asked, ways)) for slug, ways in edits(_written, WRITTEN).items()},
)
