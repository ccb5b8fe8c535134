"""Answers to lesson 14, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import math

import torch
import torch.nn.functional as F

from . import Lesson

lesson = Lesson("14-real-model")
wrong, right = lesson.wrong, lesson.right


def last_of(n, m):
    """True = may attend: query n of N is token M − N + n."""
    return torch.arange(m) <= torch.arange(n)[:, None] + (m - n)


def block(q, k, v, scale, open_, bias=None):
    """Attention of heads, with a bool mask, True = attend, or a float one."""
    s = q @ k.mT * scale
    if bias is not None:
        s = s + bias
    if open_ is not None:
        s = s.masked_fill(~open_, -torch.inf)
    empty = (s == -torch.inf).all(-1, keepdim=True)
    a = s.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)
    return (a @ v).transpose(1, 2), a


def masks(module, mask, n, m):
    if mask is None:
        return (last_of(n, m) if module.is_causal else None), None
    return (mask, None) if mask.dtype == torch.bool else (None, mask)


def groups_of(query, key, value):
    h, g = query.shape[1], key.shape[1]
    if h % g != 0:
        raise ValueError(f"{g} does not divide {h}")
    return key.repeat_interleave(h // g, 1), value.repeat_interleave(h // g, 1)


# attention_forward ---------------------------------------------------------------------------


@right("attention_forward")
def step_by_step(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kwargs):
    key, value = groups_of(query, key, value)
    scale = 1 / math.sqrt(query.shape[-1]) if scaling is None else scaling
    open_, bias = masks(module, attention_mask, query.shape[2], key.shape[2])
    return block(query, key, value, scale, open_, bias)


@right("attention_forward")
def expanded_groups(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kw):
    (b, h, n, d), (_, g, m, _) = query.shape, key.shape
    if h % g:
        raise ValueError(f"{h} heads, {g} groups")
    key = key[:, :, None].expand(b, g, h // g, m, d).reshape(b, h, m, d)
    value = value[:, :, None].expand(b, g, h // g, m, d).reshape(b, h, m, d)
    s = torch.matmul(query, key.transpose(2, 3))
    s = s / d**0.5 if scaling is None else s * scaling
    if attention_mask is None and module.is_causal:
        s = s + torch.full((n, m), -torch.inf, dtype=s.dtype).triu(m - n + 1)
    elif attention_mask is not None and attention_mask.dtype == torch.bool:
        s = torch.where(attention_mask, s, -torch.inf)
    elif attention_mask is not None:
        s = s + attention_mask
    nothing = torch.isneginf(s).all(-1, keepdim=True)
    a = F.softmax(torch.where(nothing, torch.zeros_like(s), s), dim=-1)
    a = torch.where(nothing, torch.zeros_like(a), a)
    return torch.matmul(a, value).transpose(1, 2).contiguous(), a


@right("attention_forward")
def queries_regrouped(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kw):
    """Keys stay as they are; the heads of a group stand side by side."""
    (_, h, n, d), (_, g, m, _) = query.shape, key.shape
    if g > h or h % g:
        raise ValueError("G has to divide H")
    s = torch.einsum("bgrnd,bgmd->bgrnm", query.unflatten(1, (g, h // g)), key)
    s = s.flatten(1, 2) * (d**-0.5 if scaling is None else scaling)
    open_, bias = masks(module, attention_mask, n, m)
    if bias is not None:
        s = s + bias
    if open_ is not None:
        s = s.masked_fill(open_.logical_not(), float("-inf"))
    empty = s.amax(-1, keepdim=True) == -torch.inf
    a = s.masked_fill(empty, 0).softmax(-1) * ~empty
    out = torch.einsum("bgrnm,bgmd->bngrd", a.unflatten(1, (g, h // g)), value)
    return out.flatten(2, 3), a


@right("attention_forward")
def head_by_head(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kwargs):
    b, h, n, d = query.shape
    g, m = key.shape[1:3]
    if h % g:
        raise ValueError
    open_, bias = masks(module, attention_mask, n, m)
    outs, weights = [], []
    for head in range(h):
        s = query[:, head] @ key[:, head // (h // g)].mT
        s = s * (d**-0.5 if scaling is None else scaling)
        if bias is not None:
            s = s + bias.expand(b, h, n, m)[:, head]
        if open_ is not None:
            s = s.masked_fill(~open_.expand(b, h, n, m)[:, head], -torch.inf)
        some = (s > -torch.inf).any(-1, keepdim=True)
        a = torch.where(some, torch.where(some, s, 0.0).softmax(-1), 0.0)
        weights.append(a)
        outs.append(a @ value[:, head // (h // g)])
    return torch.stack(outs, 2), torch.stack(weights, 1)


@wrong("attention_forward", "groups-in-turn")
def whole_copies(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kwargs):
    h, g = query.shape[1], key.shape[1]
    if h % g:
        raise ValueError
    key, value = key.repeat(1, h // g, 1, 1), torch.cat([value] * (h // g), 1)
    return step_by_step(module, query, key, value, attention_mask, scaling)


@wrong("attention_forward", "causal-top-left")
def tril_as_ever(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kwargs):
    if attention_mask is None and module.is_causal:
        attention_mask = torch.tril(torch.ones(query.shape[2], key.shape[2])) == 1
    return step_by_step(module, query, key, value, attention_mask, scaling)


@wrong("attention_forward", "causal-missing")
def mask_or_nothing(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kw):
    key, value = groups_of(query, key, value)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    is_bool = attention_mask is not None and attention_mask.dtype == torch.bool
    open_, bias = (attention_mask, None) if is_bool else (None, attention_mask)
    return block(query, key, value, scale, open_, bias)


@wrong("attention_forward", "causal-beside-a-mask")
def both_at_once(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kwargs):
    key, value = groups_of(query, key, value)
    n, m = query.shape[2], key.shape[2]
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    open_ = last_of(n, m) if module.is_causal else None
    if attention_mask is not None and attention_mask.dtype == torch.bool:
        open_, attention_mask = (attention_mask if open_ is None else open_ & attention_mask), None
    return block(query, key, value, scale, open_, attention_mask)


@wrong("attention_forward", "always-causal")
def gpt_is_causal(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kwargs):
    if attention_mask is None:
        attention_mask = last_of(query.shape[2], key.shape[2])
    return step_by_step(module, query, key, value, attention_mask, scaling)


@wrong("attention_forward", "out-not-transposed")
def heads_first(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kwargs):
    out, weights = step_by_step(module, query, key, value, attention_mask, scaling)
    return out.transpose(1, 2), weights


@wrong("attention_forward", "scaling-of-0")
def scaling_or_root(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kw):
    scaling = scaling or 1 / query.shape[-1] ** 0.5
    return step_by_step(module, query, key, value, attention_mask, scaling)


@wrong("attention_forward", "scaling-ignored")
def root_always(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kwargs):
    return step_by_step(module, query, key, value, attention_mask)


@wrong("attention_forward", "empty-row-is-nan")
def plain_softmax(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kwargs):
    key, value = groups_of(query, key, value)
    s = query @ key.mT * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    open_, bias = masks(module, attention_mask, query.shape[2], key.shape[2])
    if bias is not None:
        s = s + bias
    if open_ is not None:
        s = s.masked_fill(~open_, -torch.inf)
    a = s.softmax(-1)
    return (a @ value).transpose(1, 2), a


@wrong("attention_forward", "empty-slope-is-nan")
def nan_hidden_at_last(module, query, key, value, attention_mask, scaling=None, **kwargs):
    key, value = groups_of(query, key, value)
    s = query @ key.mT * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    open_, bias = masks(module, attention_mask, query.shape[2], key.shape[2])
    if open_ is not None:
        bias = torch.zeros(open_.shape, dtype=s.dtype).masked_fill(~open_, -torch.inf)
    if bias is not None:
        s = s + bias
    a = s.softmax(-1).nan_to_num()
    return (a @ value).transpose(1, 2), a


@wrong("attention_forward", "mask-missing")
def sees_all(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kwargs):
    key, value = groups_of(query, key, value)
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    return block(query, key, value, scale, None)


@wrong("attention_forward", "scaling-divides")
def divides(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kwargs):
    key, value = groups_of(query, key, value)
    open_, bias = masks(module, attention_mask, query.shape[2], key.shape[2])
    by = query.shape[-1] ** -0.5 if scaling is None else scaling
    return block(query / by, key, value, 1.0, open_, bias)


@wrong("attention_forward", "empty-slope-is-nan")
def nan_to_0(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kwargs):
    key, value = groups_of(query, key, value)
    s = query @ key.mT * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    open_, bias = masks(module, attention_mask, *s.shape[-2:])
    s = s if open_ is None else s.masked_fill(~open_, -torch.inf)
    a = (s if bias is None else s + bias).softmax(-1).nan_to_num()
    return (a @ value).transpose(1, 2), a


@wrong("attention_forward", "computed-in-float32")
def softmax_in_float32(
    module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kwargs
):
    key, value = groups_of(query, key, value)
    s = query @ key.mT * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    open_, bias = masks(module, attention_mask, *s.shape[-2:])
    s = s if open_ is None else s.masked_fill(~open_, -torch.inf)
    s = s if bias is None else s + bias
    empty = s.isneginf().all(-1, keepdim=True)
    a = s.masked_fill(empty, 0.0).softmax(-1, dtype=torch.float32).to(s.dtype)
    a = a.masked_fill(empty, 0.0)
    return (a @ value).transpose(1, 2), a


# induction_score -----------------------------------------------------------------------------


@right("induction_score")
def two_loops(weights, ids):
    found = []
    for b in range(ids.shape[0]):
        for n in range(ids.shape[1]):
            for m in range(n - 1, -1, -1):
                if ids[b, m] == ids[b, n]:
                    found.append(weights[b, :, n, m + 1])
                    break
    if not found:
        return torch.zeros(weights.shape[1], dtype=weights.dtype)
    return torch.stack(found).mean(0)


@right("induction_score")
def by_a_table(weights, ids):
    n = ids.shape[1]
    same = (ids[:, :, None] == ids[:, None, :]).tril(-1)  # (B, N, N), of earlier ones
    latest = torch.where(same, torch.arange(n), -1).amax(-1)  # -1 where there is none
    has = latest >= 0
    after = (latest + 1).clamp(max=n - 1)[:, None, :, None].expand(-1, weights.shape[1], -1, -1)
    each = weights.gather(-1, after)[..., 0] * has[:, None]
    return each.sum((0, 2)) / max(int(has.sum()), 1)


@right("induction_score")
def running_sum(weights, ids):
    total, count = torch.zeros_like(weights[0, :, 0, 0]), 0
    for sentence, maps in zip(ids.tolist(), weights, strict=True):
        for n, token in enumerate(sentence):
            before = [m for m in range(n) if sentence[m] == token]
            if before:
                total = total + maps[:, n, max(before) + 1]
                count += 1
    return total / count if count else total


@right("induction_score")
def a_flag_for_each_weight(weights, ids):
    flags = torch.zeros(ids.shape[0], 1, ids.shape[1], ids.shape[1], dtype=weights.dtype)
    for b, sentence in enumerate(ids.tolist()):
        for n in range(1, len(sentence)):
            if sentence[n] in sentence[:n]:
                back = sentence[:n][::-1].index(sentence[n])
                flags[b, 0, n, n - back] = 1.0
    count = flags.sum()
    return (weights * flags).sum((0, 2, 3)) / (count if count > 0 else 1.0)


@wrong("induction_score", "first-not-latest")
def index_finds_the_first(weights, ids):
    found = []
    for b, sentence in enumerate(ids.tolist()):
        for n, token in enumerate(sentence):
            m = sentence.index(token)
            if m < n:
                found.append(weights[b, :, n, m + 1])
    return torch.stack(found).mean(0) if found else weights.new_zeros(weights.shape[1])


@wrong("induction_score", "on-the-same-token")
def at_the_match(weights, ids):
    same = (ids[:, :, None] == ids[:, None, :]).tril(-1)
    latest = torch.where(same, torch.arange(ids.shape[1]), -1).amax(-1)
    found = [weights[b, :, n, latest[b, n]] for b, n in (latest >= 0).nonzero().tolist()]
    return torch.stack(found).mean(0) if found else weights.new_zeros(weights.shape[1])


@wrong("induction_score", "mean-of-means")
def sentence_by_sentence(weights, ids):
    return torch.stack([two_loops(weights[[b]], ids[[b]]) for b in range(len(ids))]).mean(0)


@wrong("induction_score", "nan-where-none")
def divided_by_none(weights, ids):
    n = ids.shape[1]
    same = (ids[:, :, None] == ids[:, None, :]).tril(-1)
    latest = torch.where(same, torch.arange(n), -1).amax(-1)
    has = latest >= 0
    after = (latest + 1).clamp(max=n - 1)[:, None, :, None].expand(-1, weights.shape[1], -1, -1)
    return (weights.gather(-1, after)[..., 0] * has[:, None]).sum((0, 2)) / has.sum()


@wrong("induction_score", "divided-by-all-tokens")
def mean_of_everything(weights, ids):
    total = weights.new_zeros(weights.shape[1])
    for b, sentence in enumerate(ids.tolist()):
        for n, token in enumerate(sentence):
            before = [m for m in range(n) if sentence[m] == token]
            total = total + (weights[b, :, n, before[-1] + 1] if before else 0.0)
    return total / ids.numel()


@wrong("induction_score", "divided-by-all-tokens")
def by_the_length(weights, ids):
    B, H, N, _ = weights.shape
    total = torch.zeros(H, dtype=weights.dtype)
    for b in range(B):
        seen = {}
        for n in range(N):
            token = int(ids[b, n])
            if token in seen:
                total = total + weights[b, :, n, seen[token] + 1]
            seen[token] = n
    return total / N


@wrong("induction_score", "last-token-left-out")
def to_the_last_but_one(weights, ids):
    B, H, N, _ = weights.shape
    found = []
    for b in range(B):
        seen = {}
        for n in range(N - 1):
            token = int(ids[b, n])
            if token in seen:
                found.append(weights[b, :, n, seen[token] + 1])
            seen[token] = n
    return torch.stack(found).mean(0) if found else torch.zeros(H, dtype=weights.dtype)


@wrong("induction_score", "sentences-joined")
def one_dictionary(weights, ids):
    found, seen = [], {}
    for b, sentence in enumerate(ids.tolist()):
        for n, token in enumerate(sentence):
            if token in seen and seen[token] + 1 < len(sentence):
                found.append(weights[b, :, n, seen[token] + 1])
            seen[token] = n
    return torch.stack(found).mean(0) if found else weights.new_zeros(weights.shape[1])


@wrong("induction_score", "before-not-after")
def before_if_there_is_one(weights, ids):
    looked = [
        weights[b, :, n, m[-1] - 1]
        for b, sentence in enumerate(ids.tolist())
        for n, token in enumerate(sentence)
        if (m := [at for at in range(n) if sentence[at] == token]) and m[-1] > 0
    ]
    return torch.stack(looked).mean(0) if looked else weights.new_zeros(weights.shape[1])


# without_heads -------------------------------------------------------------------------------


@right("without_heads")
def a_copy(out, heads):
    out = out.clone()
    for head in heads:
        out[:, :, head, :] = 0
    return out


@right("without_heads")
def a_factor(out, heads):
    keep = torch.ones(out.shape[2], 1, dtype=out.dtype)
    keep[heads] = 0.0
    return out * keep


lesson.edits(
    a_factor,
    "wrong-dtype | times_float64 | out.dtype -> torch.float64",
    "others-removed | keeps_them | ones -> zeros;  0.0 ->  1.0",
    "whole-range | from_the_least_to_the_greatest | [heads] -> [min(heads) : max(heads) + 1]",
)


@right("without_heads")
def stacked(out, heads):
    parts = [torch.zeros_like(part) if h in heads else part for h, part in enumerate(out.unbind(2))]
    return torch.stack(parts, dim=2)


@right("without_heads")
def filled(out, heads):
    return out.index_fill(2, torch.tensor(heads, dtype=torch.long), 0)


@wrong("without_heads", "wrong-axis")
def heads_before_tokens(out, heads):
    keep = torch.ones(out.shape[1], 1, 1, dtype=out.dtype)
    keep[[head for head in heads if head < out.shape[1]]] = 0.0
    return out * keep


@wrong("without_heads", "mutated-input")
def in_place(out, heads):
    with torch.no_grad():
        out[:, :, heads] = 0.0
    return out.clone()


@wrong("without_heads", "heads-cut-out")
def shorter(out, heads):
    return out[:, :, [h for h in range(out.shape[2]) if h not in heads]]


@wrong("without_heads", "counted-from-1")
def one_less(out, heads):
    out = out.clone()
    for head in heads:
        out[:, :, head - 1] = 0
    return out


@wrong("without_heads", "whole-range")
def a_slice(out, heads):
    out = out.clone()
    if heads:
        out[:, :, min(heads) : max(heads) + 1] = 0.0
    return out
