"""What lesson 10's exercises are used with: small models, optimizers, and ways to ask a training.

The models' numbers come with a case, so that nothing here knows what the right answer is.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch._dynamo  # the first optimizer does, for seconds: no time limit may cut that off
import torch.nn.functional as F
from torch import Tensor, nn

# models ----------------------------------------------------------------------------------------


class Lookup(nn.Module):
    """Logits of each token from a table: of ids (…) those are (…, C)."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.table = nn.Parameter(table)

    def forward(self, ids: Tensor) -> Tensor:
        return F.embedding(ids, self.table)  # contiguous, however the ids lie


class WholePast(nn.Module):
    """Logits that depend on all tokens so far and on where each of them stands.

    Args:
        counts: whether they also depend on how many tokens there are in all, behind them as well.
    """

    def __init__(self, table: Tensor, counts: bool) -> None:
        super().__init__()
        self.table = nn.Parameter(table)
        self.counts = counts

    def forward(self, ids: Tensor) -> Tensor:
        n = ids.shape[1]
        weighed = ids * torch.arange(1, n + 1)
        return self.table[(weighed.cumsum(dim=1) + self.counts * n) % len(self.table)]


def lookup(table: Tensor) -> Lookup:
    """A model whose logits are rows of a (V, C) table."""
    return Lookup(table)


def whole_past(table: Tensor, counts: bool = False) -> WholePast:
    """A model of ids (B, N) with logits (B, N, V); which row of a (K, V) table follows from all."""
    return WholePast(table, counts)


def linear(weight: Tensor, bias: Tensor) -> nn.Linear:
    """nn.Linear with these parameters, (C, K) and (C,)."""
    layer = nn.Linear(weight.shape[1], weight.shape[0], dtype=weight.dtype)
    layer.weight, layer.bias = nn.Parameter(weight), nn.Parameter(bias)
    return layer


# optimizers ------------------------------------------------------------------------------------

# They are made before their model is at hand, and get its parameters in `steps`.


def _placeholder() -> list[Tensor]:
    return [torch.zeros(1, requires_grad=True)]


def sgd(lr: float) -> torch.optim.Optimizer:
    """Plain gradient descent."""
    return torch.optim.SGD(_placeholder(), lr=lr)


def momentum(lr: float) -> torch.optim.Optimizer:
    """Gradient descent that remembers earlier steps."""
    return torch.optim.SGD(_placeholder(), lr=lr, momentum=0.9)


def adam(lr: float) -> torch.optim.Optimizer:
    """Adam."""
    return torch.optim.Adam(_placeholder(), lr=lr)


def prepare(model: nn.Module, optimizer: torch.optim.Optimizer, leftovers: bool) -> None:
    """Hand an optimizer the model's parameters, with or without gradients from before."""
    optimizer.param_groups[0]["params"] = list(model.parameters())
    for parameter in model.parameters() if leftovers else ():
        parameter.grad = torch.linspace(-2, 3, parameter.numel()).to(parameter).view_as(parameter)


def steps(
    train_step: Callable[..., Any],
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    optimizer: torch.optim.Optimizer,
    times: int = 1,
    leftovers: bool = False,
) -> tuple[Any, Tensor]:
    """What the last of some steps returned, and all parameters after it, in one row."""
    prepare(model, optimizer, leftovers)
    for _ in range(times):
        loss = train_step(model, inputs, targets, optimizer)
    if type(loss).__module__ == "numpy" and isinstance(loss, float):  # numpy.float64 is one
        loss = float(loss)
    return loss, torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


# draws -----------------------------------------------------------------------------------------


KINDS = 5  # of tokens: token t is of kind t % KINDS


def frequencies(
    generate: Callable[..., Any],
    model: nn.Module,
    prompt: Tensor,
    n_new: int,
    temperature: float | None,
    generator: torch.Generator | None,
    copies: int,
) -> Tensor:
    """How often n_new tokens of certain kinds were drawn, for each prompt: (P, KINDS ** n_new).

    Args:
        temperature, generator: None leaves them out.
        copies: of each prompt, all in one batch.
    """
    given = {"temperature": temperature, "generator": generator}
    how = {name: thing for name, thing in given.items() if thing is not None}
    drawn = generate(model, prompt.repeat_interleave(copies, dim=0), n_new, **how)
    number = torch.zeros(len(drawn), dtype=torch.long)
    for step in range(prompt.shape[1], drawn.shape[1]):
        number = number * KINDS + drawn[:, step] % KINDS
    counts = [torch.bincount(part, minlength=KINDS**n_new) for part in number.split(copies)]
    return torch.stack(counts).double() / copies


def second_of_two(generate: Callable[..., Any], *args: Any) -> Any:
    """What the second call gives with the very same model and generator."""
    generate(*args)
    return generate(*args)


def model_after(generate: Callable[..., Any], model: nn.Module, *args: Any) -> Tensor:
    """The model's parameters when the call is over, in one row."""
    generate(model, *args)
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def torch_generator(seed: int) -> torch.Generator:
    """PyTorch's random generator."""
    return torch.Generator().manual_seed(seed)


# a classifier that is free in its form -----------------------------------------------------------

LR, ENOUGH = 0.003, 0.1  # of Adam; the loss that ends a training
STARTS, STEPS, STRETCH, IN_ALL = 10, 500, 50, 1500
STALLED = 0.99  # what is left of the loss after a stretch that was in vain


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """For matrices this small others only get into each other's way, on a busy machine for long."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextlib.contextmanager
def _seeded(seed: int) -> Iterator[None]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def _made(module_class: Callable[..., Any], sizes: tuple[int, ...], seed: int) -> nn.Module:
    with _seeded(seed):
        model = module_class(*sizes)
    if not isinstance(model, nn.Module):
        kind = type(model).__name__
        raise TypeError(f"the class makes a {kind}, which is not an nn.Module")
    return model


@_one_thread()
def logits(
    module_class: Callable[..., Any],
    ids: Tensor,
    vocab_size: int,
    d: int,
    n_classes: int,
    seed: int,
    double: bool = False,
) -> Any:
    """The logits of a fresh model."""
    model = _made(module_class, (vocab_size, d, n_classes), seed).eval()
    return (model.double() if double else model)(ids)


@_one_thread()
def count(
    module_class: Callable[..., Any],
    ids: Tensor,
    vocab_size: int,
    d: int,
    n_classes: int,
    what: str,
    seed: int,
) -> int:
    """How often something is found that should not be: a key of COUNTS."""
    model = _made(module_class, (vocab_size, d, n_classes), seed).double()
    with _seeded(seed):
        return COUNTS[what](model, ids.clone())


def not_apart(model: nn.Module, ids: Tensor) -> int:
    """Phrases whose logits are others where they are asked for alone."""
    model.eval()
    alone = torch.cat([model(row[None].clone()) for row in ids])
    far = (model(ids.clone()) - alone).abs()
    return int((far > 1e-9 * (1 + alone.abs())).any(dim=1).sum())


def out_of_reach(model: nn.Module, ids: Tensor) -> int:
    """Parameters that no gradient comes to."""
    total = model(ids).sum()
    if total.requires_grad:
        total.backward()
    return sum(parameter.grad is None for parameter in model.parameters())


def shares(model: nn.Module, ids: Tensor) -> int:
    """Rows of logits that softmax has seen: none below 0, and they add up to 1."""
    rows = model.eval()(ids)
    return int((((rows.sum(1) - 1).abs() < 1e-6) & (rows >= 0).all(1)).sum())


def never_below(model: nn.Module, ids: Tensor) -> int:
    """Phrases, if no logit is ever below 0 and some are 0, whatever the parameters; else 0."""
    model.eval()
    seen = []
    with torch.no_grad():
        for _ in range(20):
            for parameter in model.parameters():
                parameter.normal_(std=0.3)
            seen.append(model(ids.clone()))
    rows = torch.cat(seen)
    return len(ids) if bool((rows >= 0).all() and (rows == 0).any()) else 0


def averages(model: nn.Module, ids: Tensor) -> int:
    """Phrases of two words whose logits lie between their words', if all of them do, else 0.

    The parameters are random, as they may be 0 at the start, or so large that softmax is all or
    nothing.
    """
    model.eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3)
        asked = ids, ids[:, :1], ids[:, 1:]
        both, one, other = (model(words.clone()) for words in asked)
    along = other - one
    share = ((both - one) * along).sum(1, keepdim=True) / (along**2).sum(1, keepdim=True)
    beside = (both - one - share.clamp(0, 1) * along).abs().amax(1)
    return len(ids) if bool((beside < 1e-6 * (1 + both.abs().amax(1))).all()) else 0


COUNTS = {
    "not apart": not_apart,
    "out of reach": out_of_reach,
    "shares": shares,
    "never below": never_below,
    "averages": averages,
}


class _Nowhere(io.TextIOBase):
    """Takes what a model prints at each of some thousand steps."""

    def write(self, text: str) -> int:
        return len(text)


def _losses(model: nn.Module, ids: Tensor, words: Tensor, turned: Tensor) -> Iterator[float]:
    """The loss before each step of a training, until it is long enough or leads nowhere."""
    optimizer = torch.optim.Adam(model.parameters(), lr=LR, fused=True)
    earlier = float("inf")
    for step in range(STEPS):
        loss = F.cross_entropy(model(ids.clone()), turned)
        loss = (loss + F.cross_entropy(model(ids[:, 1:].clone()), words)) / 2
        now = loss.item()
        yield now
        if step % STRETCH == 0:
            if step > STRETCH and now > STALLED * earlier:
                return
            earlier = now
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@_one_thread()
def learned(
    module_class: Callable[..., Any],
    ids: Tensor,
    vocab_size: int,
    d: int,
    n_classes: int,
    seed: int,
    first: int,
) -> float:
    """The smallest loss on four phrases that training comes to, from the first good start of ten.

    A start ends after 500 steps, or when 50 of them have brought less than one part in a hundred;
    all of them after 1,500.

    Args:
        ids: (2, 2), two phrases of two words; their second words are phrases too.
        first: class of the first word alone; the other word, and the first phrase, are of the
            other class.
    """
    words, turned = torch.tensor([first, 1 - first]), torch.tensor([1 - first, first])
    best, taken = float("inf"), 0
    with contextlib.redirect_stdout(_Nowhere()):
        for each in range(seed, seed + STARTS):
            with _seeded(each):
                model = _made(module_class, (vocab_size, d, n_classes), each)
                for loss in _losses(model.train(), ids, words, turned):
                    best, taken = min(best, loss), taken + 1
                    if best < ENOUGH or taken > IN_ALL:
                        return best
    return best
