"""Lesson 10's last exercise: tokens written one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from attnlab.calling.observe import Made, made
from attnlab.calling.training import KINDS, frequencies
from attnlab.checks.exercise import (
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
from attnlab.checks.inputs import sizes
from attnlab.lessons.training import LESSON
from attnlab.lessons.training.drawn import Generator, Tensor, seed, tokens

COPIES = 1500  # draws for each prompt: few enough for a loop in Python
SPREAD = (1.5, 0.8, 0.0, -0.7, -1.6)  # logits of the kinds, apart enough for temperatures to tell
IDS = Slot("ids", "tensor", "B N+n_new")
DRAWN = Slot("frequencies", "tensor", "P V")
PARAMETERS = Slot("the model's parameters", "tensor", "K·V")
MODEL_AFTER = Way(
    "training.model_after", (PARAMETERS,), lambda model, *args: model.table.detach().flatten()
)


def _model(
    rng: Generator,
    single: bool = False,
    never: bool = False,
    counts: bool = False,
    scale: float = 1.0,
    width: int = 1,
) -> Made:
    """A model whose next token depends on the whole past.

    Args:
        single: float32.
        never: one kind of token has a logit of -inf.
        counts: the last row of logits depends on how many tokens there are, too.
        scale: of the logits.
        width: tokens of each kind.
    """
    spread = np.where(never & (np.arange(KINDS) == 3), -np.inf, SPREAD)
    table = np.tile(rng.permuted(np.tile(spread, (11, 1)), axis=1), width)
    table += rng.uniform(-0.05, 0.05, table.shape)
    numbers = torch.from_numpy(scale * table).to([torch.double, torch.float][single])
    return made("training.whole_past", numbers, counts)


def _seeded(rng: Generator) -> Made:
    return made("training.torch_generator", seed(rng))


def _prompt(rng: Generator, b: int, n: int) -> Tensor:
    return tokens(rng, KINDS, b, n)


def _drawn(
    rng: Generator,
    group: str,
    temperature: float | None,
    *,
    prompts: int = 2,
    copies: int = COPIES,
    n_new: int = 1,
    note: str,
    **how: Any,
) -> Case:
    """Thousands of draws, compared with their probabilities as far as chance lets one tell."""
    generator = _seeded(rng) if temperature else None
    prompt = _prompt(rng, prompts, int(rng.integers(2, 4)))
    args = (_model(rng, **how), prompt, n_new, temperature, generator, copies)
    return Case(
        group,
        args,
        note=f"{note}, and {copies:,} copies of each prompt are in a batch",
        draws=copies,
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
    args = (_model(rng, scale=1e-4), _prompt(rng, b, n), n_new + 2, 0.0, _seeded(rng))
    yield Case("greedy", args, note="temperature is 0 and the logits are close together")
    n_long = int(rng.integers(2_100, 2_600))
    note = f"temperature is 0 and the prompt has {n_long:,} tokens"
    yield Case("whole", (_model(rng), _prompt(rng, b, n_long), n_new + 2, 0.0), note=note)
    args = (_model(rng, counts=True), _prompt(rng, b, n), n_new + 2, 0.0)
    note = "temperature is 0 and tokens count for those before them too, as without a causal mask"
    yield Case("whole", args, note=note)
    for new in (0, 1):
        args = (_model(rng), _prompt(rng, b, n), new)
        yield Case("few", (*args, 0.0), note=f"temperature is 0 and n_new {new}")
    many = int(rng.integers(17, 25))
    args = (_model(rng), _prompt(rng, b, n), many, 0.0)
    yield Case("few", args, note=f"temperature is 0 and n_new {many}")
    yield Case("few", (_model(rng), _prompt(rng, b, n), 0, 1.0), note="n_new is 0")
    args = (_model(rng), _prompt(rng, b, n), n_new, 1.0)
    yield Case(UNCHANGED, args, note="the model is looked at afterwards", way=MODEL_AFTER)
    args = (_model(rng, single=True), _prompt(rng, b, n), n_new, 0.0)
    yield Case("few", args, note="temperature is 0 and the model is float32")
    yield _drawn(rng, "draws", 1.0, never=True, note="one token has a logit of -inf")
    prompts = int(rng.integers(9, 14))
    yield _drawn(rng, "draws", 1.0, prompts=prompts, copies=90, note=f"there are {prompts} prompts")
    note = "temperature and generator are left out, and one token is likely"
    yield _drawn(rng, "temperature", None, note=note, scale=4)
    width = int(rng.integers(60, 75))
    note = f"there are {KINDS * width} tokens, in {KINDS} kinds"
    yield _drawn(rng, "tail", 1.0, prompts=1, note=note, width=width, single=True)
    low = float(rng.uniform(0.31, 0.33))  # half of it, or twice, would be far off
    yield _drawn(rng, "temperature", low, note=f"temperature is {low:.2f}")
    for near, between, far in (("close together", 1.1e-4, 1.9e-4), ("far apart", 50.0, 100.0)):
        heat = float(rng.uniform(between, far))
        note = f"temperature is {heat:.3g} and the logits are {near}"
        yield _drawn(rng, "temperature", heat, note=note, scale=heat * (1 if heat < 1 else 4))
    yield _drawn(rng, "temperature", 1e-4, note="temperature is 0.0001", single=True)
    warm = float(rng.uniform(0.56, 0.6))
    note = f"temperature is {warm:.2f} and two tokens are drawn"
    yield _drawn(rng, "later", warm, n_new=2, note=note)
    for temperature in (-float(rng.uniform(0.5, 2)), -1e-3):
        for new in (0, n_new):
            args = (_model(rng), _prompt(rng, b, n), new, temperature)
            note = f"temperature is {temperature:.3g} and n_new {new}"
            yield Case("refuses", args, raises="ValueError", note=note)
    for temperature, new in ((0.0, n_new), (1.0, n_new), (1.0, 0)):
        args = (_model(rng), _prompt(rng, b, 0), new, temperature)
        note = f"the prompt is empty, temperature {temperature:g} and n_new {new}"
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
                return first.unflatten(-1, (-1, KINDS)).sum(-2)
            after = [chances(F.pad(ids, (0, 1), value=token), left - 1) for token in range(KINDS)]
            return torch.cat([first[:, [token]] * after[token] for token in range(KINDS)], dim=1)

        return chances(prompt, n_new).double()

    return answer


def _likeliest(logits: Tensor) -> Tensor:
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits)


def _sure(logits: Tensor, temperature: float) -> Tensor:
    return _likeliest(logits)


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


def _padded(
    model: Any, prompt: Tensor, n_new: int, temperature: float | None = None, *_: Any
) -> Tensor:
    """The model gets places for all tokens to come."""
    total = prompt.shape[1] + n_new

    def asked(ids: Tensor) -> Tensor:
        n = ids.shape[1]
        return torch.as_tensor(model(F.pad(ids, (0, total - n)))[:, :n])

    return torch.as_tensor(_generating()(asked, prompt, n_new, temperature, *_))


def _cropped(most: int) -> Mistake:
    return Mistake(
        "context-cropped",
        _generating(seen=lambda ids: ids[:, -most:]),
        "Of a long text the model was given the last tokens alone.",
        "Give it everything so far, (B, N), however long. A model that has places for no more may "
        "look at the end alone by itself.",
    )


def _bounded(least: float, most: float) -> Mistake:
    return Mistake(
        "temperature-bounded",
        _generating(shares=lambda logits, t: _shares(logits, min(max(t, least), most))),
        "At a temperature near 0, or far above 1, the draws are those of a milder one: it is kept "
        "within a bound, something is added to it, or it is used in another way there.",
        "Divide the logits by the temperature as it is, wherever it is above 0.",
    )


def _greedy_below(least: float) -> Mistake:
    return Mistake(
        "cold-is-greedy",
        _generating(shares=lambda logits, t: (_sure if t < least else _shares)(logits, t)),
        "At a low temperature the likeliest token was taken each time, though others come as well.",
        "Take argmax at temperature 0 itself, and draw at all above.",
    )


def _cut(shares: Callable[[Tensor], Tensor]) -> Mistake:
    """Of probabilities from the largest on, those are kept of which `shares` is above 0."""

    def kept(logits: Tensor, temperature: float) -> Tensor:
        sure, ids = _shares(logits, temperature).sort(descending=True)
        chances = torch.zeros_like(logits).scatter(-1, ids, sure * (shares(sure) > 0))
        return chances / chances.sum(-1, keepdim=True)

    return Mistake(
        "tail-cut",
        _generating(shares=kept),
        "Tokens of small probability are never drawn: only some of the likeliest are, as by top-k "
        "or top-p, or small numbers were rounded to 0.",
        "Draw from all probabilities, just as softmax gives them.",
    )


def _first(k: int) -> Callable[[Tensor], Tensor]:
    return lambda sure: k - torch.arange(sure.shape[-1]).expand(sure.shape)


def _until(p: float) -> Callable[[Tensor], Tensor]:
    return lambda sure: p - (sure.cumsum(-1) - sure)


def _drawn_with(rng: Generator, *generators: Made | None) -> tuple[Case, Case]:
    args = (_model(rng), _prompt(rng, 8, 3), 8, 1.0)
    note = "64 tokens are drawn"
    one, other = (Case("draws", (*args, generator), note=note) for generator in generators)
    return one, other


def _same_seed(rng: Generator) -> tuple[Case, Case]:
    once = _seeded(rng)
    return _drawn_with(rng, once, once)


def _moved_on(rng: Generator) -> tuple[Case, Case]:
    once = _seeded(rng)
    one, other = _drawn_with(rng, once, once)
    way = Way("training.second_of_two", (IDS,), _generating())
    return one, replace(other, note="64 tokens are drawn for the second time", way=way)


def _without(rng: Generator) -> tuple[Case, Case]:
    return _drawn_with(rng, None, None)


def _differ(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return bool((one[0] != other[0]).any())


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
        Group("whole", "gives the model all tokens so far, thousands too, and no others", 0.1875),
        Group(
            "few",
            "writes one token, none or many, and with a float32 model",
            0.1875,
            needs=(UNCHANGED,),
        ),
        Group("draws", "draws by softmax, as near as chance allows", 0.4375),
        Group("tail", "draws from hundreds of tokens, unlikely ones too", 0.125, needs=("draws",)),
        Group(
            "temperature",
            "divides the logits by the temperature as it is, 1 if none is given",
            0.375,
            needs=("draws",),
        ),
        Group(
            "later",
            "draws each token given those before it",
            0.0625,
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
        *map(_cropped, (2, 4, 8, 10, 16, 32, 50, 64, 100, 128, 200, 256, 500, 512)),
        *map(_cropped, (1000, 1024, 2000, 2048)),
        Mistake(
            "future-padded",
            _padded,
            "The model was given more than there is so far: places for the tokens to come, filled "
            "with something else. Without a causal mask it looks at them.",
            "Give it the tokens so far alone: `ids[:, :i]`, where `ids` is filled step by step.",
        ),
        Mistake(
            "first-row",
            _generating(row=lambda logits: logits[:, 0]),
            "These are the model's guesses for what follows the *first* token.",
            "Give the model all tokens so far, and take the last row of its logits: `[:, -1]`.",
        ),
        Mistake(
            "likeliest-last",
            _generating(at_zero=lambda logits: logits.argmin(-1)),
            "At temperature 0 the token with the lowest logit was taken.",
            "The likeliest token has the largest logit, sign and all: `argmax` finds it.",
        ),
        Mistake(
            "drawn-at-zero",
            _drawing(at_zero=lambda logits: logits.softmax(-1)),
            "At temperature 0 the tokens were drawn, by softmax of the logits as they are. There "
            "the likeliest one is asked for, each time.",
            "At temperature 0 take argmax of the logits, and draw nothing.",
        ),
        Mistake(
            "divided-by-zero",
            _generating(at_zero=lambda logits: (logits / 0.0).softmax(-1).argmax(-1)),
            "At temperature 0 each new token is 0. Divided by 0, logits are infinite; softmax "
            "makes NaN of them, and argmax finds the first NaN. Zeros that no token was written "
            "over look the same.",
            "Let the tokens at temperature 0 be argmax of the logits as they are.",
        ),
        Mistake(
            "infinite-at-zero",
            _generating(at_zero=lambda logits: (logits > 0).long().argmax(-1)),
            "At temperature 0 the first token with a positive logit was taken. Divided by 0 these "
            "are all inf, and argmax takes the first of equals.",
            "Let the tokens at temperature 0 be argmax of the logits as they are.",
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
        *(_bounded(*each) for each in ((1e-3, 2.0), (0.1, 2.0), (1e-3, 1e9), (0.1, 1e9))),
        *(
            _bounded(*each)
            for each in ((0.0, 1.0), (0.0, 2.0), (0.0, 10.0), (0.5, 1e9), (1.0, 1e9))
        ),
        *map(_greedy_below, (0.01, 1.0)),
        *map(_cut, (*map(_first, (3, 50, 100, 200)), *map(_until, (0.8, 0.9, 0.95)))),
        _cut(lambda sure: sure - 0.0005),
        Mistake(
            "always-greedy",
            _generating(shares=_sure),
            "Of one new token, at a temperature above 0, it was the likeliest that was taken.",
            "Draw every token by the probabilities, the first and the last too: "
            "`torch.multinomial`.",
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
            0.125,
            "generator-ignored",
            "A generator with the same seed was passed twice, and other tokens were drawn.",
            "Pass it on to every draw: `torch.multinomial(…, generator=generator)`.",
        ),
        Relation(
            "the next call with the same generator gives other tokens",
            _moved_on,
            _differ,
            0.0625,
            "seed-of-its-own",
            "Two calls with one generator gave the same 64 tokens: it had not moved on, or was set "
            "back.",
            "Draw with the very generator that is passed, not with a copy, set no seed inside the "
            "function, and keep nothing of an earlier call.",
        ),
        Relation(
            "without a generator each call gives other tokens",
            _without,
            _differ,
            0.0625,
            "seed-of-its-own",
            "Two calls without a generator gave the same 64 tokens.",
            "Pass `generator=None` on: PyTorch then draws with its own. Set no seed inside the "
            "function, make no generator there, and keep nothing of an earlier call.",
        ),
    ),
)
