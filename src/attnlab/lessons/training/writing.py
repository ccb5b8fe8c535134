"""Lesson 10's last exercise: tokens written one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from attnlab.calling.observe import Made, made
from attnlab.calling.training import frequencies
from attnlab.exercise import (
    UNCHANGED,
    Case,
    Exercise,
    Group,
    Mistake,
    Relation,
    Slot,
    Way,
    unchanged,
)
from attnlab.inputs import sizes
from attnlab.lessons.training import LESSON
from attnlab.lessons.training.drawn import Generator, Tensor, seed, tokens

COPIES = 1500  # draws for each prompt: few enough for a loop in Python
SPREAD = (1.5, 0.8, 0.0, -0.7, -1.6)  # logits, apart enough for temperatures to tell
IDS = Slot("ids", "tensor", "B N+n_new")
DRAWN = Slot("frequencies", "tensor", "P V")


def _model(rng: Generator, single: bool = False, never: bool = False) -> Made:
    """A model of five tokens whose next one depends on the whole past."""
    table = rng.permuted(np.tile(SPREAD, (11, 1)), axis=1) + rng.uniform(-0.05, 0.05, (11, 5))
    if never:
        table[:, rng.integers(5)] = -np.inf
    return made(
        "training.whole_past", torch.from_numpy(table).to([torch.double, torch.float][single])
    )


def _seeded(rng: Generator) -> Made:
    return made("training.torch_generator", seed(rng))


def _prompt(rng: Generator, b: int, n: int) -> Tensor:
    return tokens(rng, len(SPREAD), b, n)


def _drawn(
    rng: Generator, group: str, temperature: float | None, *, n_new: int = 1, note: str, **how: bool
) -> Case:
    """Thousands of draws, compared with their probabilities at six standard errors."""
    generator = _seeded(rng) if temperature else None
    prompt = _prompt(rng, 2, int(rng.integers(2, 6)))
    args = (_model(rng, **how), prompt, n_new, temperature, generator, COPIES)
    return Case(
        group,
        args,
        note=f"{note}, and {COPIES:,} copies of each prompt are in a batch",
        tolerance=6 * 0.5 / COPIES**0.5,
        way=Way("training.frequencies", (DRAWN,), _generating()),
    )


def _generate_cases(rng: Generator) -> Iterator[Case]:
    args: tuple[Any, ...]
    b, n, n_new = sizes(rng, 3)
    for note, rows, long in (
        ("temperature is 0", b, n),
        ("temperature is 0 and the prompt is longer", b, n + 7),
        ("temperature is 0 and B is 1", 1, n),
        ("temperature is 0 and the prompt is one token", b, 1),
    ):
        # With a generator: whoever draws with it at temperature 0 is known by the draws.
        args = (_model(rng), _prompt(rng, rows, long), n_new + 2, 0.0, _seeded(rng))
        yield Case("greedy", args, note=note)
    for new in (0, 1):
        args = (_model(rng), _prompt(rng, b, n), new)
        yield Case("few", (*args, 0.0), note=f"temperature is 0 and n_new {new}")
    yield Case("few", (_model(rng), _prompt(rng, b, n), 0, 1.0), note="n_new is 0")
    args = (_model(rng, single=True), _prompt(rng, b, n), n_new, 0.0)
    yield Case("few", args, note="temperature is 0 and the model is float32")
    yield _drawn(rng, "draws", 1.0, never=True, note="one token has a logit of -inf")
    yield _drawn(rng, "temperature", None, note="temperature and generator are left out")
    low, high = float(rng.uniform(0.3, 0.5)), float(rng.uniform(2.5, 4.0))
    for temperature in (low, high):
        yield _drawn(rng, "temperature", temperature, note=f"temperature is {temperature:.2f}")
    yield _drawn(rng, "temperature", 1e-4, note="temperature is 0.0001", single=True)
    yield _drawn(rng, "later", low, n_new=2, note="two tokens are drawn")
    for temperature in (-float(rng.uniform(0.5, 2)), -1e-3):
        args = (_model(rng), _prompt(rng, b, n), n_new, temperature)
        note = f"temperature is {temperature:.3g}"
        yield Case("refuses", args, raises="ValueError", note=note)
    for temperature in (0.0, 1.0):
        args = (_model(rng), _prompt(rng, b, 0), n_new, temperature)
        note = f"the prompt is empty and temperature {temperature:g}"
        yield Case("refuses", args, raises="ValueError", note=note)


def _last_row(logits: Tensor) -> Tensor:
    return logits[:, -1]


def _as_it_is(thing: Any) -> Any:
    return thing


def _shares(logits: Tensor, temperature: float) -> Tensor:
    return (logits / temperature).softmax(-1)


def _generating(
    seen: Callable[[Tensor], Tensor] = _as_it_is,
    row: Callable[[Tensor], Tensor] = _last_row,
    shares: Callable[[Tensor, float], Tensor] = _shares,
    at_zero: Callable[[Tensor], Tensor] = lambda logits: logits.argmax(-1),
    given: Callable[[Tensor, int], Tensor] = lambda ids, start: ids,
    number: Callable[[int], int] = _as_it_is,
    refuses: bool = True,
) -> Callable[..., Any]:
    """A way to write, with exchangeable parts: tokens, or where they are drawn their chances.

    Args:
        seen: what of the tokens so far the model gets.
        row: of its logits, (B, N, V), those that count, (B, V).
        shares: probabilities, of them and the temperature.
        at_zero: the token at temperature 0.
        given: what is returned, of all tokens and the length of the prompt.
        number: of new tokens.
    """

    @torch.no_grad()
    def answer(
        model: Any,
        prompt: Tensor,
        n_new: int,
        temperature: float | None = None,
        generator: Any = None,
        copies: int = 0,
    ) -> Tensor:
        heat = 1.0 if temperature is None else temperature
        if refuses and (heat < 0 or prompt.shape[1] == 0):
            raise ValueError
        if not copies:  # what is drawn has no right number, so that none is compared
            ids = prompt
            for _ in range(number(n_new)):
                ids = torch.cat([ids, at_zero(row(model(seen(ids))))[:, None]], dim=1)
            return given(ids, prompt.shape[1])

        def chances(ids: Tensor, left: int) -> Tensor:
            first = shares(row(model(seen(ids))), heat)
            if left == 1:
                return first
            after = [chances(F.pad(ids, (0, 1), value=token), left - 1) for token in range(5)]
            return torch.cat([first[:, [token]] * after[token] for token in range(5)], dim=1)

        return chances(prompt, n_new).double()

    return answer


def _likeliest(logits: Tensor) -> Tensor:
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits)


def _drawing(
    at_zero: Callable[[Tensor], Tensor] | None = None, together: bool = False
) -> Callable[..., Any]:
    """A way to write that draws, with the generator that it is given: so its draws are known.

    Args:
        at_zero: probabilities at temperature 0, if not 1 for the likeliest.
        together: whether the first prompt's draw goes for all.
    """

    @torch.no_grad()
    def generate(
        model: Any, prompt: Tensor, n_new: int, temperature: float = 1.0, generator: Any = None
    ) -> Tensor:
        if temperature < 0 or prompt.shape[1] == 0:
            raise ValueError
        ids = prompt
        for _ in range(n_new):
            logits = model(ids)[:, -1]
            if temperature:
                chances = (logits / temperature).softmax(-1)
            else:
                chances = at_zero(logits) if at_zero else _likeliest(logits)
            asked = chances[:1] if together and temperature else chances
            new = torch.multinomial(asked, 1, generator=generator)
            ids = torch.cat([ids, new.expand(len(ids), 1)], dim=1)
        return ids

    def answer(*args: Any) -> Tensor:
        copies = len(args) == 6
        return frequencies(generate, *args) if copies else generate(*args)

    return answer


def _stale(
    model: Any, prompt: Tensor, n_new: int, temperature: float | None = None, *_: Any
) -> Tensor:
    """All new tokens by the prompt's logits."""
    start = prompt.shape[1]
    return _generating(seen=lambda ids: ids[:, :start])(model, prompt, n_new, temperature, *_)


def _with_seed(rng: Generator, *seeds: int) -> tuple[Case, Case]:
    args = (_model(rng), _prompt(rng, 8, 3), 8, 1.0)
    one, other = (
        Case("draws", (*args, made("training.torch_generator", each)), note="drawn with a seed")
        for each in seeds
    )
    return one, other


def _same_seed(rng: Generator) -> tuple[Case, Case]:
    once = seed(rng)
    return _with_seed(rng, once, once)


def _two_seeds(rng: Generator) -> tuple[Case, Case]:
    return _with_seed(rng, seed(rng), seed(rng))


GENERATE = Exercise(
    name="generate",
    lesson=LESSON.slug,
    stage=LESSON.stage,
    signature="(model, prompt, n_new, temperature=1.0, generator=None) -> LongTensor (B, N+n_new)",
    axes=("?", "b n", "?", "?", "?"),
    read="Writing",
    returns=(IDS,),
    groups=(
        Group(
            "greedy", "writes the likeliest token after the whole past at temperature 0", 1.0, True
        ),
        Group(
            "few", "writes one token, or none, and with a float32 model", 0.25, needs=(UNCHANGED,)
        ),
        Group("draws", "draws by softmax, within six standard errors", 0.5),
        Group(
            "temperature",
            "divides the logits by the temperature, 1 if none is given",
            0.375,
            needs=("draws",),
        ),
        Group(
            "later",
            "draws each token given those before it",
            0.125,
            needs=("draws", "temperature"),
        ),
        Group("refuses", "raises ValueError for an empty prompt and below temperature 0", 0.25),
        unchanged(0.125),
    ),
    cases=_generate_cases,
    oracle=_generating(),
    mistakes=(
        Mistake(
            "last-token-alone",
            _generating(seen=lambda ids: ids[:, -1:]),
            "The model was given the last token alone. It has no memory between calls, so what "
            "came before is lost.",
            "Give it everything so far, (B, N), each time.",
        ),
        Mistake(
            "stale-past",
            _stale,
            "All new tokens follow from the prompt: the model never saw what was written.",
            "Append each new token before the model is asked again.",
        ),
        Mistake(
            "first-row",
            _generating(row=lambda logits: logits[:, 0]),
            "These are the model's guesses for what follows the *first* token.",
            "What follows all tokens so far is the last row of logits: `[:, -1]`.",
        ),
        Mistake(
            "likeliest-last",
            _generating(at_zero=lambda logits: logits.argmin(-1)),
            "At temperature 0 the least likely token was taken.",
            "Use argmax.",
        ),
        Mistake(
            "drawn-at-zero",
            _drawing(at_zero=lambda logits: logits.softmax(-1)),
            "At temperature 0 the tokens were drawn, by softmax of the logits as they are. There "
            "the likeliest one is asked for, each time.",
            "Ask first whether the temperature is 0, and take argmax then, and draw nothing.",
        ),
        Mistake(
            "divided-by-zero",
            _generating(at_zero=lambda logits: (logits / 0.0).softmax(-1).argmax(-1)),
            "At temperature 0 the logits were divided by 0. Softmax makes NaN of infinities, and "
            "argmax finds the first NaN.",
            "Treat temperature 0 apart: argmax of the logits as they are.",
        ),
        Mistake(
            "one-draw-for-all",
            _drawing(together=True),
            "One token was drawn for all prompts of the batch.",
            "Give `torch.multinomial` all rows, (B, V): it draws once for each of them.",
        ),
        Mistake(
            "prompt-dropped",
            _generating(given=lambda ids, start: ids[:, start:]),
            "The new tokens are right, and the prompt is missing in front of them.",
            "Return everything: prompt, then new tokens.",
        ),
        Mistake(
            "prompt-behind",
            _generating(given=lambda ids, start: torch.cat([ids[:, start:], ids[:, :start]], 1)),
            "The prompt stands behind the new tokens.",
            "Concatenate in the order of time: what is there, then what is new.",
        ),
        Mistake(
            "one-too-few",
            _generating(number=lambda n: n - 1),
            "One new token is missing.",
            "Count how often the loop runs for n_new = 1.",
        ),
        Mistake(
            "one-too-many",
            _generating(number=lambda n: n + 1),
            "There is one new token too many.",
            "Count how often the loop runs for n_new = 1.",
        ),
        Mistake(
            "temperature-ignored",
            _generating(shares=lambda logits, t: logits.softmax(-1)),
            "The draws are the same at each temperature. (Dividing *after* softmax changes nothing "
            "either, as probabilities are normalised again.)",
            "Divide the logits by the temperature, then take softmax.",
        ),
        Mistake(
            "temperature-multiplied",
            _generating(shares=lambda logits, t: (logits * t).softmax(-1)),
            "The logits were multiplied by the temperature, so that heat makes the draws surer.",
            "Divide by it.",
        ),
        Mistake(
            "always-greedy",
            _generating(shares=lambda logits, t: _likeliest(logits)),
            "The likeliest token was taken each time, at a temperature above 0.",
            "Draw by the probabilities: `torch.multinomial`.",
        ),
        Mistake(
            "drawn-evenly",
            _generating(shares=lambda logits, t: torch.full_like(logits, 1 / logits.shape[-1])),
            "Each token was drawn equally often.",
            "Draw by the probabilities, softmax of logits over temperature.",
        ),
    ),
    relations=(
        Relation(
            "the same seed gives the same tokens",
            _same_seed,
            lambda one, other: bool((one[0] == other[0]).all()),
            0.25,
            "generator-ignored",
            "A generator with the same seed was passed twice, and other tokens were drawn.",
            "Pass it on to every draw: `torch.multinomial(…, generator=generator)`.",
        ),
        Relation(
            "another seed gives other tokens",
            _two_seeds,
            lambda one, other: bool((one[0] != other[0]).any()),
            0.125,
            "seed-of-its-own",
            "Two generators with different seeds gave the same 64 tokens.",
            "Draw with the generator that is passed, and set no seed inside the function.",
        ),
    ),
)
