"""Answers to lesson 12, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import torch
import torch.nn.functional as F

from . import Lesson

lesson = Lesson("12-shortcuts")
wrong, right = lesson.wrong, lesson.right


# sliding_window_mask -------------------------------------------------------------------------


def checked(window):
    if window < 1:
        raise ValueError(f"window = {window}")


def distances(n):
    i = torch.arange(n)
    return i.unsqueeze(1) - i.unsqueeze(0)


@right("sliding_window_mask")
def by_distance(n, window):
    checked(window)
    back = distances(n)
    return (back >= 0) & (back < window)


lesson.edits(
    by_distance,
    "itself-not-seen | strictly_before | >= 0 -> > 0",
)


@right("sliding_window_mask")
def by_triangles(n, window):
    checked(window)
    return torch.ones(n, n).tril().bool() & torch.ones(n, n).triu(-window + 1).bool()


lesson.edits(
    by_triangles,
    "window-off-by-one | one_more | bool() & torch.ones(n, n).triu(-window + 1) -> triu(-window)",
)


@right("sliding_window_mask")
def in_loops(n, window):
    checked(window)
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        mask[i, max(0, i - window + 1) : i + 1] = True
    return mask


@right("sliding_window_mask")
def from_lists(n, window):
    checked(window)
    return torch.tensor([[0 <= i - j < window for j in range(n)] for i in range(n)])


@wrong("sliding_window_mask", "window-ignored")
def causal(n, window):
    checked(window)
    return torch.ones(n, n, dtype=torch.bool).tril()


@wrong("sliding_window_mask", "wrong-dtype")
def zeros_and_ones(n, window):
    return by_distance(n, window).float()


# linear_attention ----------------------------------------------------------------------------


def phi(x):
    return F.elu(x) + 1


def shares(pairs):
    return pairs / pairs.sum(-1, keepdim=True)


@right("linear_attention")
def parallel(q, k, v):
    return shares((phi(q) @ phi(k).transpose(-2, -1)).tril()) @ v


lesson.edits(
    parallel,
    "features-missing | plain_products | phi(q) @ phi(k).transpose(-2, -1) -> q @ k.mT",
)


@right("linear_attention")
def recurrent(q, k, v):
    q, k = phi(q), phi(k)
    state = torch.zeros(*q.shape[:-2], q.shape[-1], v.shape[-1], dtype=q.dtype)
    total = torch.zeros(*q.shape[:-2], q.shape[-1], dtype=q.dtype)
    outs = []
    for i in range(q.shape[-2]):
        state = state + k[..., i, :, None] * v[..., i, None, :]
        total = total + k[..., i, :]
        up = torch.einsum("...k,...kv->...v", q[..., i, :], state)
        outs.append(up / (q[..., i, :] * total).sum(-1, keepdim=True))
    return torch.stack(outs, dim=-2)


@right("linear_attention")
def running_sums(q, k, v):
    q, k = phi(q), phi(k)
    state = torch.einsum("...nk,...nv->...nkv", k, v).cumsum(-3)
    up = torch.einsum("...nk,...nkv->...nv", q, state)
    return up / torch.einsum("...nk,...nk->...n", q, k.cumsum(-2)).unsqueeze(-1)


@right("linear_attention")
def ones_beside_the_values(q, k, v):
    """The sum of the weights is one more column of the values."""
    q, k = (torch.where(x > 0, x + 1, x.clamp(max=0).exp()) for x in (q, k))
    mask = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool).tril()
    pairs = (q @ k.mT).masked_fill(~mask, 0.0)
    both = pairs @ torch.cat([v, torch.ones_like(v[..., :1])], -1)
    return both[..., :-1] / both[..., -1:]


@wrong("linear_attention", "raised")
def in_place_state(q, k, v):
    q, k = torch.nn.functional.elu(q) + 1.0, torch.nn.functional.elu(k) + 1.0
    state = q.new_zeros((*q.shape[:-2], q.shape[-1], v.shape[-1]))
    total = q.new_zeros((*q.shape[:-2], q.shape[-1], 1))
    out = torch.empty_like(v)
    for i in range(q.shape[-2]):
        state += k[..., i : i + 1, :].mT @ v[..., i : i + 1, :]
        total += k[..., i : i + 1, :].mT
        asked = q[..., i : i + 1, :]
        out[..., i : i + 1, :] = (asked @ state) / (asked @ total)
    return out


@wrong("linear_attention", "softmax-attention")
def with_softmax(q, k, v):
    mask = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool).tril()
    return (q @ k.mT).masked_fill(~mask, -torch.inf).softmax(-1) @ v


@wrong("linear_attention", "softmax-attention")
def softmax_of_the_triangle(q, k, v):
    return (phi(q) @ phi(k).mT).tril().softmax(-1) @ v


@wrong("linear_attention", "epsilon-added")
def a_billionth(q, k, v):
    pairs = (phi(q) @ phi(k).mT).tril()
    return pairs @ v / (pairs.sum(-1, keepdim=True) + 1e-9)


@wrong("linear_attention", "epsilon-added")
def clamped(q, k, v):
    S = torch.cumsum(phi(k)[..., None] * v[..., None, :], -3)
    z = phi(k).cumsum(-2)
    out = (phi(q)[..., None, :] @ S).squeeze(-2)
    return out / (phi(q) * z).sum(-1, keepdim=True).clamp(min=1e-3)


@wrong("linear_attention", "mutated-input")
def elu_in_place(q, k, v):
    q, k = F.elu_(q) + 1, F.elu_(k) + 1
    return shares((q @ k.mT).tril()) @ v


@wrong("linear_attention", "no-gradient")
@torch.no_grad()
def with_no_slopes(q, k, v):
    return shares((phi(q) @ phi(k).mT).tril()) @ v


@wrong("linear_attention", "no-gradient")
def sum_detached(q, k, v):
    pairs = (phi(q) @ phi(k).mT).tril()
    return pairs @ v / pairs.sum(-1, keepdim=True).detach()


@wrong("linear_attention", "divided-without-query")
def by_the_keys_alone(q, k, v):
    state = (phi(k)[..., None] * v[..., None, :]).cumsum(-3)
    up = (phi(q)[..., None, :] @ state).squeeze(-2)
    return up / phi(k).cumsum(-2).mean(-1, keepdim=True)


@wrong("linear_attention", "running-sum-along-another-axis")
def keys_summed_over_the_batch(q, k, v):
    state = (phi(k)[..., None] * v[..., None, :]).cumsum(-3)
    up = (phi(q)[..., None, :] @ state).squeeze(-2)
    return up / (phi(q) * phi(k).cumsum(0)).sum(-1, keepdim=True)


@wrong("linear_attention", "summed-over-another-axis")
def columns_add_up(q, k, v):
    pairs = (phi(q) @ phi(k).mT).tril()
    return pairs / pairs.sum(-2, keepdim=True) @ v


@wrong("linear_attention", "raised")
def by_a_view(q, k, v):
    leading = q.shape[:-2]
    q, k, v = (part.view(-1, *part.shape[-2:]) for part in (q, k, v))
    return (shares((phi(q) @ phi(k).mT).tril()) @ v).view(*leading, -1, v.shape[-1])


# grouped_query_attention ---------------------------------------------------------------------


def fitting(q, k, v):
    if k.shape[1] != v.shape[1]:
        raise ValueError(f"{k.shape} and {v.shape}: as many groups of keys as of values")
    if q.shape[1] % k.shape[1]:
        raise ValueError(f"{q.shape[1]} heads cannot share {k.shape[1]} groups")
    return q.shape[1] // k.shape[1]


def softmax_of(scores, causal):
    if causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    return scores.softmax(-1)


@right("grouped_query_attention")
def copies(q, k, v, causal=False):
    times = fitting(q, k, v)
    k, v = k.repeat_interleave(times, 1), v.repeat_interleave(times, 1)
    return softmax_of(q @ k.mT / q.shape[-1] ** 0.5, causal) @ v


lesson.edits(
    copies,
    "no-scale | no_root |  / q.shape[-1] ** 0.5 -> ",
)


@right("grouped_query_attention")
def by_einsum(q, k, v, causal=False):
    b, h, n, d = q.shape
    q = q.reshape(b, k.shape[1], fitting(q, k, v), n, d) / d**0.5
    weights = softmax_of(torch.einsum("bgsnd,bgmd->bgsnm", q, k), causal)
    return torch.einsum("bgsnm,bgmv->bgsnv", weights, v).reshape(b, h, n, v.shape[-1])


@right("grouped_query_attention")
def by_an_index(q, k, v, causal=False):
    which = torch.arange(q.shape[1]) // fitting(q, k, v)
    scores = q @ k[:, which].mT * q.shape[-1] ** -0.5
    if causal:
        seen = torch.arange(q.shape[-2])[:, None] >= torch.arange(k.shape[-2])
        weights = torch.where(seen, (scores - scores.amax(-1, keepdim=True)), -torch.inf).softmax(
            -1
        )
    else:
        weights = scores.softmax(-1)
    return weights @ v[:, which]


@right("grouped_query_attention")
def in_the_rows(q, k, v, causal=False):
    """The queries of a group stand below each other, as if they were one head's."""
    b, h, n, d = q.shape
    times, groups = fitting(q, k, v), k.shape[1]
    scores = q.reshape(b, groups, times * n, d) @ k.mT / d**0.5
    if causal:
        later = torch.ones(n, k.shape[2], dtype=torch.bool).triu(1).repeat(times, 1)
        scores = scores.masked_fill(later, -torch.inf)
    return (scores.softmax(-1) @ v).reshape(b, h, n, -1)


@wrong("grouped_query_attention", "groups-in-turn")
def repeats(q, k, v, causal=False):
    times = fitting(q, k, v)
    k, v = k.repeat(1, times, 1, 1), v.repeat(1, times, 1, 1)
    return softmax_of(q @ k.mT / q.shape[-1] ** 0.5, causal) @ v


@wrong("grouped_query_attention", "groups-averaged")
def mean_of_groups(q, k, v, causal=False):
    fitting(q, k, v)
    k, v = k.mean(1, keepdim=True), v.mean(1, keepdim=True)
    return softmax_of(q @ k.mT / q.shape[-1] ** 0.5, causal) @ v


@wrong("grouped_query_attention", "groups-apart")
def five_axes(q, k, v, causal=False):
    q = q.unflatten(1, (k.shape[1], fitting(q, k, v)))
    return softmax_of(q @ k[:, :, None].mT / q.shape[-1] ** 0.5, causal) @ v[:, :, None]


@wrong("grouped_query_attention", "heads-reordered")
def groups_last(q, k, v, causal=False):
    q = q.unflatten(1, (k.shape[1], fitting(q, k, v)))
    out = softmax_of(q @ k[:, :, None].mT / q.shape[-1] ** 0.5, causal) @ v[:, :, None]
    return out.transpose(1, 2).flatten(1, 2)


@wrong("grouped_query_attention", "mask-bottom-right")
def triangle_at_the_end(q, k, v, causal=False):
    times = fitting(q, k, v)
    k, v = k.repeat_interleave(times, 1), v.repeat_interleave(times, 1)
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        n, m = scores.shape[-2:]
        scores = scores.masked_fill(torch.ones(n, m).tril(m - n) == 0, -torch.inf)
    return scores.softmax(-1) @ v


@wrong("grouped_query_attention", "not-raised")
def drops_the_rest(q, k, v, causal=False):
    """Heads that no group is left for read the last one."""
    times = max(1, q.shape[1] // k.shape[1])
    which = (torch.arange(q.shape[1]) // times).clamp(max=min(k.shape[1], v.shape[1]) - 1)
    return softmax_of(q @ k[:, which].mT / q.shape[-1] ** 0.5, causal) @ v[:, which]


@wrong("grouped_query_attention", "raised")
def asserts(q, k, v, causal=False):
    assert q.shape[1] % k.shape[1] == 0
    assert k.shape[1] == v.shape[1]
    return copies(q, k, v, causal)
