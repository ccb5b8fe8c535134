"""Answers to lesson 12, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import contextlib
import functools
import io
import math
import statistics
import time
import warnings
from time import perf_counter

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from . import Lesson

lesson = Lesson("12-gpu-sdpa")
wrong, right = lesson.wrong, lesson.right


# sdpa_attention ------------------------------------------------------------------------------


@right("sdpa_attention")
def one_line(x, Wq, Wk, Wv, causal=False):
    return F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv, is_causal=causal)


@right("sdpa_attention")
def with_an_axis_for_heads(x, Wq, Wk, Wv, causal=False):
    q, k, v = ((x @ W)[:, None] for W in (Wq, Wk, Wv))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)[:, 0]


@right("sdpa_attention")
def with_a_mask(x, Wq, Wk, Wv, causal=False):
    n = x.shape[1]
    mask = torch.ones(n, n, dtype=torch.bool).tril() if causal else None
    return torch.nn.functional.scaled_dot_product_attention(
        torch.matmul(x, Wq), torch.matmul(x, Wk), torch.matmul(x, Wv), attn_mask=mask
    )


@right("sdpa_attention")
def einsum_and_its_own_scale(x, Wq, Wk, Wv, causal=False):
    q, k, v = (torch.einsum("bnd,dk->bnk", x, W).unsqueeze(1) for W in (Wq, Wk, Wv))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=1 / math.sqrt(q.size(-1)))
    return out.squeeze(1)


@right("sdpa_attention")
def one_product_for_three(x, Wq, Wk, Wv, causal=False):
    widths = [Wq.shape[1], Wk.shape[1], Wv.shape[1]]
    q, k, v = (x @ torch.cat([Wq, Wk, Wv], dim=1)).split(widths, dim=-1)
    return F.scaled_dot_product_attention(q, k, v, None, 0.0, causal)


def called(x, Wq, Wk, Wv, **how):
    return F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv, **how)


@wrong("sdpa_attention", "mask-missing")
def forgets_causal(x, Wq, Wk, Wv, causal=False):
    return called(x, Wq, Wk, Wv)


@wrong("sdpa_attention", "causal-uncalled-for")
def a_decoder(x, Wq, Wk, Wv, causal=False):
    return called(x, Wq, Wk, Wv, is_causal=True)


@wrong("sdpa_attention", "causal-uncalled-for")
def not_causal(x, Wq, Wk, Wv, causal=False):
    return called(x, Wq, Wk, Wv, is_causal=not causal)


@wrong("sdpa_attention", "causal-uncalled-for")
def a_mask_beside_is_causal(x, Wq, Wk, Wv, causal=False):
    mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    return called(x, Wq, Wk, Wv, attn_mask=mask, is_causal=causal)


@wrong("sdpa_attention", "mask-inverted")
def the_mask_of_lesson_six(x, Wq, Wk, Wv, causal=False):
    n = x.shape[1]
    mask = torch.triu(torch.ones(n, n), diagonal=1).bool() if causal else None
    return called(x, Wq, Wk, Wv, attn_mask=mask)


@wrong("sdpa_attention", "mask-off-by-one")
def not_itself(x, Wq, Wk, Wv, causal=False):
    n = x.shape[1]
    mask = torch.ones(n, n).tril(-1).bool() if causal else None
    return called(x, Wq, Wk, Wv, attn_mask=mask)


@wrong("sdpa_attention", "mask-off-by-one")
def one_ahead(x, Wq, Wk, Wv, causal=False):
    n = x.shape[1]
    mask = torch.ones(n, n).tril(1).bool() if causal else None
    return called(x, Wq, Wk, Wv, attn_mask=mask)


@wrong("sdpa_attention", "mask-transposed")
def the_other_triangle(x, Wq, Wk, Wv, causal=False):
    n = x.shape[1]
    mask = torch.ones(n, n).triu().bool() if causal else None
    return called(x, Wq, Wk, Wv, attn_mask=mask)


@wrong("sdpa_attention", "scale-by-d")
def scales_queries_first(x, Wq, Wk, Wv, causal=False):
    q = x @ Wq / Wq.shape[1] ** 0.5
    return F.scaled_dot_product_attention(q, x @ Wk, x @ Wv, is_causal=causal)


@wrong("sdpa_attention", "no-scale")
def scale_is_one(x, Wq, Wk, Wv, causal=False):
    return called(x, Wq, Wk, Wv, is_causal=causal, scale=1)


@wrong("sdpa_attention", "scale-multiplied")
def scale_as_a_divisor(x, Wq, Wk, Wv, causal=False):
    return called(x, Wq, Wk, Wv, is_causal=causal, scale=math.sqrt(Wk.shape[-1]))


@wrong("sdpa_attention", "scale-by-sqrt-d")
def scale_of_the_model(x, Wq, Wk, Wv, causal=False):
    return called(x, Wq, Wk, Wv, is_causal=causal, scale=x.shape[-1] ** -0.5)


@wrong("sdpa_attention", "swapped-q-k")
def keys_first(x, Wq, Wk, Wv, causal=False):
    return called(x, Wk, Wq, Wv, is_causal=causal)


@wrong("sdpa_attention", "keys-from-w-q")
def wq_twice(x, Wq, Wk, Wv, causal=False):
    return called(x, Wq, Wq, Wv, is_causal=causal)


@wrong("sdpa_attention", "queries-from-w-k")
def wk_twice(x, Wq, Wk, Wv, causal=False):
    return called(x, Wk, Wk, Wv, is_causal=causal)


@wrong("sdpa_attention", "keys-as-values")
def keys_twice(x, Wq, Wk, Wv, causal=False):
    return called(x, Wq, Wk, Wk, is_causal=causal)


@wrong("sdpa_attention", "values-not-projected")
def x_as_values(x, Wq, Wk, Wv, causal=False):
    return F.scaled_dot_product_attention(x @ Wq, x @ Wk, x, is_causal=causal)


@wrong("sdpa_attention", "not-projected")
def x_three_times(x, Wq, Wk, Wv, causal=False):
    return F.scaled_dot_product_attention(x, x, x @ Wv, is_causal=causal)


@wrong("sdpa_attention", "batch-attends")
def sequence_first(x, Wq, Wk, Wv, causal=False):
    q, k, v = ((x @ W).transpose(0, 1) for W in (Wq, Wk, Wv))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


@wrong("sdpa_attention", "wrong-shape")
def sequence_first_and_back(x, Wq, Wk, Wv, causal=False):
    q, k, v = ((x @ W)[:, None] for W in (Wq, Wk, Wv))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


@wrong("sdpa_attention", "no-scaled-call")
def by_hand(x, Wq, Wk, Wv, causal=False):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    s = q @ k.mT / q.shape[-1] ** 0.5
    if causal:
        s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).triu(1), -torch.inf)
    return s.softmax(-1) @ v


@wrong("sdpa_attention", "no-gradient")
def without_matrices(x, Wq, Wk, Wv, causal=False):
    return called(x, Wq.detach(), Wk.detach(), Wv.detach(), is_causal=causal)


@wrong("sdpa_attention", "no-gradient")
def without_x(x, Wq, Wk, Wv, causal=False):
    return called(x.detach(), Wq, Wk, Wv, is_causal=causal)


@wrong("sdpa_attention", "no-gradient")
@torch.no_grad()
def for_inference(x, Wq, Wk, Wv, causal=False):
    return called(x, Wq, Wk, Wv, is_causal=causal)


@wrong("sdpa_attention", "heads-after-tokens")
def head_in_the_third_place(x, Wq, Wk, Wv, causal=False):
    q, k, v = ((x @ W)[:, :, None] for W in (Wq, Wk, Wv))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)[:, :, 0]


@wrong("sdpa_attention", "nondeterministic")
def with_dropout(x, Wq, Wk, Wv, causal=False):
    return called(x, Wq, Wk, Wv, is_causal=causal, dropout_p=0.3)


@wrong("sdpa_attention", "wrong-dtype")
def always_float32(x, Wq, Wk, Wv, causal=False):
    return called(x.float(), Wq.float(), Wk.float(), Wv.float(), is_causal=causal)


@wrong("sdpa_attention", "raised")
def mask_and_causal(x, Wq, Wk, Wv, causal=False):
    mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    return called(x, Wq, Wk, Wv, attn_mask=mask, is_causal=True)


# run_backend ---------------------------------------------------------------------------------


def must_fit(q, k, v):
    if q.shape[:2] != k.shape[:2] or k.shape[:2] != v.shape[:2]:
        raise ValueError(f"batch and heads differ: {q.shape}, {k.shape}, {v.shape}")
    if q.shape[3] != k.shape[3]:
        raise ValueError(f"q is {q.shape} and k is {k.shape}")
    if k.shape[2] != v.shape[2]:
        raise ValueError(f"k is {k.shape} and v is {v.shape}")


@right("run_backend")
def context_and_except(q, k, v, backend, causal=False):
    must_fit(q, k, v)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        except RuntimeError:
            return None


@right("run_backend")
def a_list_of_one(q, k, v, backend, causal=False):
    b, h, _, d = q.shape
    if k.shape[0] != b or k.shape[1] != h or k.shape[3] != d or k.shape[:3] != v.shape[:3]:
        raise ValueError("shapes do not fit")
    out = None
    with sdpa_kernel([backend]), warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        with contextlib.suppress(RuntimeError):
            out = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return out


@right("run_backend")
def switches_by_hand(q, k, v, backend, causal=False):
    must_fit(q, k, v)
    on = torch.backends.cuda
    before = (
        on.flash_sdp_enabled(),
        on.mem_efficient_sdp_enabled(),
        on.math_sdp_enabled(),
        on.cudnn_sdp_enabled(),
    )
    try:
        on.enable_flash_sdp(backend == SDPBackend.FLASH_ATTENTION)
        on.enable_mem_efficient_sdp(backend == SDPBackend.EFFICIENT_ATTENTION)
        on.enable_math_sdp(backend == SDPBackend.MATH)
        on.enable_cudnn_sdp(backend == SDPBackend.CUDNN_ATTENTION)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    except RuntimeError:
        return None
    finally:
        on.enable_flash_sdp(before[0])
        on.enable_mem_efficient_sdp(before[1])
        on.enable_math_sdp(before[2])
        on.enable_cudnn_sdp(before[3])


@right("run_backend")
def stderr_to_nowhere(q, k, v, backend, causal=False):
    must_fit(q, k, v)
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(RuntimeError):
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def no_checks(q, k, v, backend, causal):
    with warnings.catch_warnings(), sdpa_kernel(backend), contextlib.suppress(RuntimeError):
        warnings.simplefilter("ignore")
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def careful(call):
    """Right but for the call itself."""

    def run_backend(q, k, v, backend, causal=False):
        must_fit(q, k, v)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return call(q, k, v, backend, causal)
            except RuntimeError:
                return None

    return run_backend


def under(backend, q, k, v, causal):
    with sdpa_kernel(backend):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


wrong("run_backend", "backend-ignored", "whatever PyTorch takes")(
    careful(
        lambda q, k, v, backend, causal: F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    )
)
wrong("run_backend", "backend-ignored", "always math")(
    careful(lambda q, k, v, backend, causal: under(SDPBackend.MATH, q, k, v, causal))
)
wrong("run_backend", "backend-ignored", "always flash")(
    careful(lambda q, k, v, backend, causal: under(SDPBackend.FLASH_ATTENTION, q, k, v, causal))
)
wrong("run_backend", "falls-back", "or math")(
    careful(lambda q, k, v, backend, causal: under([backend, SDPBackend.MATH], q, k, v, causal))
)
wrong("run_backend", "copied-for-the-kernel", "contiguous")(
    careful(
        lambda q, k, v, backend, causal: under(
            backend, q.contiguous(), k.contiguous(), v.contiguous(), causal
        )
    )
)
wrong("run_backend", "mask-missing", "forgets causal")(
    careful(lambda q, k, v, backend, causal: under(backend, q, k, v, False))
)
wrong("run_backend", "causal-uncalled-for", "a decoder")(
    careful(lambda q, k, v, backend, causal: under(backend, q, k, v, True))
)
wrong("run_backend", "causal-uncalled-for", "not causal")(
    careful(lambda q, k, v, backend, causal: under(backend, q, k, v, not causal))
)
wrong("run_backend", "swapped-k-v", "values first")(
    careful(lambda q, k, v, backend, causal: under(backend, q, v, k, causal))
)


@wrong("run_backend", "falls-back")
def plain_call_at_last(q, k, v, backend, causal=False):
    must_fit(q, k, v)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(RuntimeError), sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        if q.is_floating_point():
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return None


@wrong("run_backend", "falls-back")
def second_try(q, k, v, backend, causal=False):
    must_fit(q, k, v)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        except RuntimeError:
            try:
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
            except RuntimeError:
                return None


def turn_on(backend):
    on = torch.backends.cuda
    on.enable_flash_sdp(backend == SDPBackend.FLASH_ATTENTION)
    on.enable_mem_efficient_sdp(backend == SDPBackend.EFFICIENT_ATTENTION)
    on.enable_math_sdp(backend == SDPBackend.MATH)
    on.enable_cudnn_sdp(backend == SDPBackend.CUDNN_ATTENTION)


@wrong("run_backend", "switches-left", "never back")
@careful
def leaves_the_switches(q, k, v, backend, causal):
    turn_on(backend)
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


@wrong("run_backend", "switches-left")
def turns_first(q, k, v, backend, causal=False):
    turn_on(backend)
    return context_and_except(q, k, v, backend, causal)


@wrong("run_backend", "switches-left", "back after the call")
@careful
def back_after_the_call(q, k, v, backend, causal):
    on = torch.backends.cuda
    before = on.flash_sdp_enabled(), on.mem_efficient_sdp_enabled()
    before += on.math_sdp_enabled(), on.cudnn_sdp_enabled()
    turn_on(backend)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    on.enable_flash_sdp(before[0])
    on.enable_mem_efficient_sdp(before[1])
    on.enable_math_sdp(before[2])
    on.enable_cudnn_sdp(before[3])
    return out


@wrong("run_backend", "switches-left", "all on again")
@careful
def all_on_again(q, k, v, backend, causal):
    turn_on(backend)
    try:
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    finally:
        on = torch.backends.cuda
        on.enable_flash_sdp(True)
        on.enable_mem_efficient_sdp(True)
        on.enable_math_sdp(True)
        on.enable_cudnn_sdp(True)


@wrong("run_backend", "switches-left")
def all_on_whatever_happens(q, k, v, backend, causal=False):
    try:
        return leaves_the_switches(q, k, v, backend, causal)
    finally:
        on = torch.backends.cuda
        on.enable_flash_sdp(True)
        on.enable_mem_efficient_sdp(True)
        on.enable_math_sdp(True)
        on.enable_cudnn_sdp(True)


@wrong("run_backend", "filters-left")
def ignores_for_good(q, k, v, backend, causal=False):
    must_fit(q, k, v)
    warnings.filterwarnings("ignore")
    try:
        return under(backend, q, k, v, causal)
    except RuntimeError:
        return None


@wrong("run_backend", "warnings-shown")
def warns(q, k, v, backend, causal=False):
    must_fit(q, k, v)
    try:
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    except RuntimeError:
        return None


@wrong("run_backend", "not-raised")
def forgets_v(q, k, v, backend, causal=False):
    if q.shape[:2] != k.shape[:2] or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("shapes do not fit")
    return no_checks(q, k, v, backend, causal)


@wrong("run_backend", "not-raised")
def width_of_v(q, k, v, backend, causal=False):
    if q.shape[:2] != k.shape[:2] or k.shape[:3] != v.shape[:3] or q.shape[-1] != v.shape[-1]:
        raise ValueError("shapes do not fit")
    return no_checks(q, k, v, backend, causal)


@wrong("run_backend", "not-raised")
def shapes_by_broadcasting(q, k, v, backend, causal=False):
    try:
        torch.broadcast_shapes(q.shape[:2], k.shape[:2], v.shape[:2])
    except RuntimeError as error:
        raise ValueError(str(error)) from error
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("widths or lengths differ")
    return no_checks(q, k, v, backend, causal)


@wrong("run_backend", "not-raised")
def counts_heads_of_all(q, k, v, backend, causal=False):
    heads = {part.shape[0] * part.shape[1] for part in (q, k, v)}
    if len(heads) > 1 or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("shapes do not fit")
    return no_checks(q, k, v, backend, causal)


@wrong("run_backend", "raised")
def lets_it_raise(q, k, v, backend, causal=False):
    must_fit(q, k, v)
    with sdpa_kernel(backend):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


@wrong("run_backend", "not-raised")
def none_for_anything(q, k, v, backend, causal=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        except RuntimeError:
            return None


@wrong("run_backend", "not-raised")
def looks_at_widths_alone(q, k, v, backend, causal=False):
    if q.shape[-1] != k.shape[-1]:
        raise ValueError("widths")
    return none_for_anything(q, k, v, backend, causal)


# is_fair -------------------------------------------------------------------------------------


@right("is_fair")
def largest_in_double(out, naive, exact, factor=2.0):
    exact = exact.double()
    error = (out.double() - exact).abs().max()
    allowed = factor * (naive.double() - exact).abs().max()
    return bool(error <= allowed)


@right("is_fair")
def items(out, naive, exact, factor=2.0):
    return (out - exact).abs().max().item() <= factor * (naive - exact).abs().max().item()


@right("is_fair")
def norms(out, naive, exact, factor=2.0):
    def off(part):
        return torch.linalg.vector_norm(part.to(torch.float64) - exact, ord=math.inf)

    return (off(out) <= off(naive) * factor).item()


@right("is_fair")
def in_numpy(out, naive, exact, factor=2.0):
    out, naive, exact = (part.numpy().astype(float) for part in (out, naive, exact))
    return bool(np.abs(out - exact).max() <= factor * np.abs(naive - exact).max())


@right("is_fair")
def nan_first(out, naive, exact, factor=2.0):
    if torch.isnan(out).any() or torch.isnan(naive).any():
        return False
    differences = (out.double() - exact.double()).flatten().tolist()
    allowed = (naive.double() - exact.double()).flatten().tolist()
    return max(map(abs, differences)) <= factor * max(map(abs, allowed))


def rule(own, other, factor):
    return bool(own <= factor * other)


def off(part, exact):
    return (part.double() - exact.double()).abs()


@wrong("is_fair", "not-the-largest")
def mean_errors(out, naive, exact, factor=2.0):
    return rule(off(out, exact).mean(), off(naive, exact).mean(), factor)


@wrong("is_fair", "not-the-largest")
def norm_errors(out, naive, exact, factor=2.0):
    return rule((out - exact).norm(), (naive - exact).norm(), factor)


@wrong("is_fair", "not-the-largest")
def median_errors(out, naive, exact, factor=2.0):
    return rule(off(out, exact).median(), off(naive, exact).median(), factor)


@wrong("is_fair", "relative-error")
def relative_errors(out, naive, exact, factor=2.0):
    a, b = off(out, exact) / exact.abs(), off(naive, exact) / exact.abs()
    return rule(a.max(), b.max(), factor)


@wrong("is_fair", "steps-exchanged")
def no_abs(out, naive, exact, factor=2.0):
    return rule((out - exact).max(), (naive - exact).max(), factor)


@wrong("is_fair", "steps-exchanged")
def largest_numbers(out, naive, exact, factor=2.0):
    a, b = (abs(part.double().max() - exact.max()) for part in (out, naive))
    return rule(a, b, factor)


@wrong("is_fair", "entry-by-entry")
def each_number(out, naive, exact, factor=2.0):
    return bool((off(out, exact) <= factor * off(naive, exact)).all())


@wrong("is_fair", "entry-by-entry")
def each_row(out, naive, exact, factor=2.0):
    return bool((off(out, exact).amax(-1) <= factor * off(naive, exact).amax(-1)).all())


@wrong("is_fair", "steps-exchanged")
def abs_first(out, naive, exact, factor=2.0):
    own, other = ((part.double().abs() - exact.abs()).abs().max() for part in (out, naive))
    return rule(own, other, factor)


@wrong("is_fair", "raised")
def four_axes_unpacked(out, naive, exact, factor=2.0):
    b, h, n, d = out.shape
    a, b = (off(part, exact).reshape(b * h, n * d).max() for part in (out, naive))
    return rule(a, b, factor)


@wrong("is_fair", "raised")
def four_axes_named(out, naive, exact, factor=2.0):
    a, b = (off(part, exact).amax((0, 1, 2, 3)) for part in (out, naive))
    return rule(a, b, factor)


@wrong("is_fair", "compared-with-naive")
def from_naive(out, naive, exact, factor=2.0):
    return rule(off(out, naive).max(), off(naive, exact).max(), factor)


@wrong("is_fair", "swapped-out-naive")
def the_other_way_round(out, naive, exact, factor=2.0):
    return rule(off(naive, exact).max(), off(out, exact).max(), factor)


@wrong("is_fair", "factor-not-as-given")
def as_good_as_naive(out, naive, exact, factor=2.0):
    return rule(off(out, exact).max(), off(naive, exact).max(), 1)


@wrong("is_fair", "factor-divided")
def twice_as_good(out, naive, exact, factor=2.0):
    return rule(factor * off(out, exact).max(), off(naive, exact).max(), 1)


@wrong("is_fair", "factor-not-as-given")
def always_two(out, naive, exact, factor=2.0):
    return rule(off(out, exact).max(), off(naive, exact).max(), 2)


@wrong("is_fair", "factor-not-as-given")
def whole_factor(out, naive, exact, factor=2.0):
    return rule(off(out, exact).max(), off(naive, exact).max(), int(factor))


@wrong("is_fair", "nearly-as-good")
def or_close(out, naive, exact, factor=2.0):
    a, b = off(out, exact).max().item(), off(naive, exact).max().item()
    return a <= factor * b or math.isclose(a, factor * b)


@wrong("is_fair", "strictly-less")
def less(out, naive, exact, factor=2.0):
    return bool(off(out, exact).max() < factor * off(naive, exact).max())


@wrong("is_fair", "nearly-as-good")
def with_a_floor(out, naive, exact, factor=2.0):
    return bool(off(out, exact).max() <= factor * off(naive, exact).max() + 1e-5)


@wrong("is_fair", "nearly-as-good")
def with_a_small_floor(out, naive, exact, factor=2.0):
    return bool(off(out, exact).max() <= factor * off(naive, exact).max() + 1e-8)


@wrong("is_fair", "low-precision")
def in_the_precision_of_out(out, naive, exact, factor=2.0):
    exact = exact.to(out.dtype)
    return rule((out - exact).abs().max(), (naive - exact).abs().max(), factor)


@wrong("is_fair", "low-precision")
def in_float32(out, naive, exact, factor=2.0):
    out, naive, exact = out.float(), naive.float(), exact.float()
    return rule((out - exact).abs().max(), (naive - exact).abs().max(), factor)


@wrong("is_fair", "nan-is-fair")
def not_greater(out, naive, exact, factor=2.0):
    return not bool(off(out, exact).max() > factor * off(naive, exact).max())


@wrong("is_fair", "nan-is-fair")
def drops_nan(out, naive, exact, factor=2.0):
    error = off(out, exact)
    return rule(
        error[~error.isnan()].max() if (~error.isnan()).any() else 0.0,
        off(naive, exact).max(),
        factor,
    )


@wrong("is_fair", "nearly-as-good")
def with_a_step_of_float64(out, naive, exact, factor=2.0):
    own, other = off(out, exact).max(), off(naive, exact).max()
    return bool(own <= factor * other + 1e-15)


@wrong("is_fair", "nan-is-fair")
def nanmax(out, naive, exact, factor=2.0):
    own, other = (np.nanmax(off(part, exact).numpy()) for part in (out, naive))
    return bool(own <= factor * other)


@wrong("is_fair", "nan-is-fair")
def all_nan_alone(out, naive, exact, factor=2.0):
    if torch.isnan(out).all():
        return False
    return not bool(off(out, exact).max() > factor * off(naive, exact).max())


@wrong("is_fair", "nan-is-fair")
def pythons_max(out, naive, exact, factor=2.0):
    own, other = (max(off(part, exact).flatten().tolist()) for part in (out, naive))
    return own <= factor * other


@wrong("is_fair", "nan-is-fair")
def nan_in_out_alone(out, naive, exact, factor=2.0):
    if out.isnan().any():
        return False
    return not bool(off(out, exact).max() > factor * off(naive, exact).max())


@wrong("is_fair", "nan-is-fair")
def naive_in_loops(out, naive, exact, factor=2.0):
    if out.isnan().any():
        return False
    return pythons_max(out, naive, exact, factor)


@wrong("is_fair", "always-the-same")
def generous(out, naive, exact, factor=2.0):
    return True


@wrong("is_fair", "always-the-same")
def strict(out, naive, exact, factor=2.0):
    return False


@wrong("is_fair", "negated")
def unfair(out, naive, exact, factor=2.0):
    return not largest_in_double(out, naive, exact, factor)


@wrong("is_fair", "wrong-type")
def a_tensor(out, naive, exact, factor=2.0):
    return off(out, exact).max() <= factor * off(naive, exact).max()


# achieved_tflops -----------------------------------------------------------------------------


@right("achieved_tflops")
def as_written(seconds, b, h, n, d, causal=False):
    flops = 4 * b * h * n**2 * d
    if causal:
        flops /= 2
    return flops / seconds / 1e12


@right("achieved_tflops")
def two_products(seconds, b, h, n, d, causal=False):
    per_head = 2 * n * n * d + 2 * n * d * n
    return b * h * per_head * (0.5 if causal else 1) / (seconds * 10**12)


@right("achieved_tflops")
def pow_and_prod(seconds, b, h, n, d, causal=False):
    return math.prod((4, b, h, d, pow(n, 2))) * 1e-12 / seconds / (1 + causal)


@right("achieved_tflops")
def whole_half(seconds, b, h, n, d, causal=False):
    flops = 4 * b * h * n * n * d
    return float((flops // 2 if causal else flops) / seconds) * 1e-12


def counted(
    flops=lambda b, h, n, d: 4 * b * h * n**2 * d,
    half=lambda n, c: 0.5 if c else 1,
    end=lambda f, s: f / s / 1e12,
):
    return lambda seconds, b, h, n, d, causal=False: end(
        flops(b, h, n, d) * half(n, causal), seconds
    )


for slug, label, answer in (
    ("no-half", "no half", counted(half=lambda n, c: 1)),
    ("half-missing", "half missing", counted(half=lambda n, c: 0.5)),
    ("no-half", "causal doubled", counted(half=lambda n, c: 2 if c else 1)),
    (
        "triangle-counted",
        "triangle counted",
        counted(half=lambda n, c: (n * (n + 1) // 2) / n**2 if c else 1),
    ),
    ("sizes-miscounted", "d of all heads", counted(flops=lambda b, h, n, d: 4 * b * n * n * d)),
    (
        "sizes-miscounted",
        "d times heads twice",
        counted(flops=lambda b, h, n, d: 4 * b * h * n * n * (h * d)),
    ),
    ("sizes-miscounted", "batch missing", counted(flops=lambda b, h, n, d: 4 * h * n * n * d)),
    ("sizes-miscounted", "n not squared", counted(flops=lambda b, h, n, d: 4 * b * h * n * d)),
    ("sizes-miscounted", "d squared", counted(flops=lambda b, h, n, d: 4 * b * h * n * d * d)),
    ("not-tera", "giga for tera", counted(end=lambda f, s: f / s / 1e9)),
    ("not-tera", "mega for tera", counted(end=lambda f, s: f / s / 1e6)),
    ("not-tera", "no unit", counted(end=lambda f, s: f / s)),
    ("not-tera", "tebi for tera", counted(end=lambda f, s: f / s / 1024**4)),
    ("not-tera", "milliseconds", counted(end=lambda f, s: f / (s * 1000) / 1e12)),
    ("not-tera", "ten times", counted(end=lambda f, s: f / s / 10e12)),
    ("not-over-time", "time ignored", counted(end=lambda f, s: f / 1e12)),
    ("not-over-time", "time multiplied", counted(end=lambda f, s: f * s / 1e12)),
    ("upside-down", "upside down", counted(end=lambda f, s: s * 1e12 / f)),
):
    wrong("achieved_tflops", slug, label)(answer)


wrong("achieved_tflops", "half-missing", "2 for 4")(
    counted(flops=lambda b, h, n, d: 2 * b * h * n * n * d)
)
wrong("achieved_tflops", "not-tera", "divided by 1000")(
    counted(end=lambda f, s: f / (s / 1000) / 1e12)
)
wrong("achieved_tflops", "triangle-counted", "without its diagonal")(
    counted(half=lambda n, c: (n - 1) / (2 * n) if c else 1)
)
wrong("achieved_tflops", "half-missing", "half where it is not causal")(
    counted(half=lambda n, c: 1 if c else 0.5)
)


# roofline_seconds ----------------------------------------------------------------------------


@right("roofline_seconds")
def longer(flops, bytes_moved, peak_flops, bandwidth):
    return max(flops / peak_flops, bytes_moved / bandwidth)


@right("roofline_seconds")
def branches(flops, bytes_moved, peak_flops, bandwidth):
    compute, memory = flops / peak_flops, bytes_moved / bandwidth
    if compute > memory:
        return compute
    return memory


@right("roofline_seconds")
def by_the_ridge(flops, bytes_moved, peak_flops, bandwidth):
    if flops * bandwidth >= bytes_moved * peak_flops:
        return flops / peak_flops
    return bytes_moved / bandwidth


@right("roofline_seconds")
def by_speed(flops, bytes_moved, peak_flops, bandwidth):
    if not flops or not bytes_moved:
        return flops / peak_flops + bytes_moved / bandwidth
    return flops / min(peak_flops, flops / bytes_moved * bandwidth)


def of_two(combine):
    return lambda flops, bytes_moved, peak_flops, bandwidth: combine(
        flops / peak_flops, bytes_moved / bandwidth
    )


for slug, label, answer in (
    ("times-combined", "times summed", of_two(lambda a, b: a + b)),
    ("shorter-taken", "shorter taken", of_two(min)),
    ("one-time-alone", "compute alone", of_two(lambda a, b: a)),
    ("one-time-alone", "memory alone", of_two(lambda a, b: b)),
    ("times-combined", "times averaged", of_two(lambda a, b: statistics.fmean([a, b]))),
    ("times-combined", "root of squares", of_two(math.hypot)),
    ("speed-not-time", "speed not time", lambda f, m, p, b: min(p, f / m * b) if m else p),
    ("swapped-peak-bandwidth", "swapped peak bandwidth", lambda f, m, p, b: max(f / b, m / p)),
    ("bits-for-bytes", "bits for bytes", of_two(lambda a, b: max(a, 8 * b))),
    ("milliseconds", "milliseconds", of_two(lambda a, b: max(a, b) * 1e3)),
    ("upside-down", "upside down", lambda f, m, p, b: max(p / f if f else 0, b / m if m else 0)),
):
    wrong("roofline_seconds", slug, label)(answer)


# benchmark -----------------------------------------------------------------------------------


def nothing():
    pass


@right("benchmark")
def as_in_the_lesson(fn, *args, clock=time.perf_counter, wait=lambda: None):
    for _ in range(3):
        fn(*args)
    times = []
    for _ in range(20):
        wait()
        start = clock()
        fn(*args)
        wait()
        times.append(clock() - start)
    return float(statistics.median(times))


@right("benchmark")
def fewest(fn, *args, clock=perf_counter, wait=nothing):
    def once():
        wait()
        start = clock()
        fn(*args)
        wait()
        return float(clock() - start)

    [fn(*args) for _ in range(3)]
    spans = torch.tensor([once() for _ in range(5)], dtype=torch.float64)
    return spans.quantile(0.5).item()


@right("benchmark")
def most(fn, *args, clock=perf_counter, wait=nothing):
    for _ in range(10):
        fn(*args)
        wait()
    spans = []
    while len(spans) < 50:
        start = clock()
        fn(*args)
        wait()
        spans.append(clock() - start)
    return float(np.percentile(spans, 50))


@right("benchmark")
def readings_shared(fn, *args, clock=perf_counter, wait=nothing):
    for _ in range(4):
        fn(*args)
    wait()
    readings = [clock()]
    for _ in range(11):
        fn(*args)
        wait()
        readings.append(clock())
    return float(sorted(np.diff(readings))[5])


@right("benchmark")
def middle_two_by_hand(fn, *args, clock=perf_counter, wait=nothing):
    times = sorted(timed(fn, args, clock, wait, number=10))
    return (times[4] + times[5]) / 2


@right("benchmark")
def waits_twice(fn, *args, clock=perf_counter, wait=nothing):
    times = timed(fn, args, clock, lambda: (wait(), wait()), warm=100, number=9)
    return float(np.median(times))


@right("benchmark", "wrapped")
@functools.wraps(as_in_the_lesson)
def wrapped(*args, **kwargs):
    return as_in_the_lesson(*args, **kwargs)


def timed(fn, args, clock, wait, warm=3, number=20, before=True, after=True):
    for _ in range(warm):
        fn(*args)
    times = []
    for _ in range(number):
        if before:
            wait()
        start = clock()
        fn(*args)
        if after:
            wait()
        times.append(clock() - start)
    return times


def made_of(times, **how):
    """A benchmark that makes something of its times."""

    def benchmark(fn, *args, clock=perf_counter, wait=nothing):
        return times(timed(fn, args, clock, wait, **how))

    return benchmark


def median(times):
    return float(statistics.median(times))


for slug, label, answer in (
    ("mean-not-median", "mean", made_of(lambda times: float(np.mean(times)))),
    ("mean-not-median", "without extremes", made_of(lambda t: float(np.mean(sorted(t)[2:-2])))),
    ("mean-not-median", "without the largest", made_of(lambda t: float(np.mean(sorted(t)[:-1])))),
    ("total-time", "sum", made_of(lambda times: float(sum(times)))),
    ("one-call", "fastest", made_of(min)),
    ("one-call", "slowest", made_of(max)),
    ("one-call", "last", made_of(lambda times: times[-1])),
    ("one-call", "first", made_of(lambda times: times[0])),
    ("middle-not-median", "lower", made_of(statistics.median_low)),
    ("middle-not-median", "upper", made_of(statistics.median_high)),
    (
        "middle-not-median",
        "of torch",
        made_of(lambda times: torch.tensor(times, dtype=torch.float64).median().item()),
    ),
    ("middle-not-median", "unsorted", made_of(lambda times: times[len(times) // 2])),
    ("another-unit", "milliseconds", made_of(lambda times: 1000 * median(times))),
    ("another-unit", "from nanoseconds", made_of(lambda times: median(times) / 1e9)),
    ("not-a-difference", "minus", made_of(lambda times: -median(times))),
    ("wrong-type", "int", made_of(statistics.median, number=21)),
    ("wrong-type", "float32", made_of(lambda times: torch.tensor(times, dtype=torch.float32)[0])),
    ("no-warm-up", "none", made_of(median, warm=0)),
    ("no-warm-up", "two", made_of(median, warm=2)),
    ("no-warm-up", "dropped", made_of(lambda t: median(t[3:]), warm=0, number=23)),
    ("too-few-or-too-many", "four", made_of(median, number=4)),
    ("too-few-or-too-many", "one", made_of(median, number=1)),
    ("too-few-or-too-many", "fifty-one", made_of(median, number=51)),
    ("too-few-or-too-many", "a thousand", made_of(median, number=1000)),
    ("not-synchronised", "no wait", made_of(median, before=False, after=False)),
    ("not-synchronised", "before alone", made_of(median, after=False)),
    ("not-synchronised", "after alone", made_of(median, before=False)),
):
    wrong("benchmark", slug, label)(answer)


@wrong("benchmark", "several-in-one-span")
def one_span_for_all(fn, *args, clock=perf_counter, wait=nothing):
    for _ in range(3):
        fn(*args)
    wait()
    start = clock()
    for _ in range(10):
        fn(*args)
    wait()
    return (clock() - start) / 10


@wrong("benchmark", "several-in-one-span")
def two_at_a_time(fn, *args, clock=perf_counter, wait=nothing):
    def both():
        fn(*args)
        fn(*args)

    return median(timed(both, (), clock, wait, number=10)) / 2


@wrong("benchmark", "not-synchronised")
def waits_at_the_end(fn, *args, clock=perf_counter, wait=nothing):
    times = timed(fn, args, clock, nothing)
    wait()
    return median(times)


@wrong("benchmark", "not-synchronised")
def waits_once_before(fn, *args, clock=perf_counter, wait=nothing):
    fn(*args)
    wait()
    return median(timed(fn, args, clock, nothing))


@wrong("benchmark", "wait-after-start")
def waits_inside(fn, *args, clock=perf_counter, wait=nothing):
    def waits_and_calls():
        wait()
        fn(*args)

    return median(timed(waits_and_calls, (), clock, wait))


@wrong("benchmark", "arguments-not-passed")
def without_arguments(fn, *args, clock=perf_counter, wait=nothing):
    return median(timed(fn, (), clock, wait))


@wrong("benchmark", "arguments-not-passed")
def as_a_tuple(fn, *args, clock=perf_counter, wait=nothing):
    return median(timed(fn, (args,), clock, wait))


@wrong("benchmark", "result-of-fn")
def gives_what_fn_gives(fn, *args, clock=perf_counter, wait=nothing):
    timed(fn, args, clock, wait)
    return fn(*args)


@wrong("benchmark", "clock-not-used")
def own_clock(fn, *args, clock=perf_counter, wait=nothing):
    return median(timed(fn, args, perf_counter, wait))


@wrong("benchmark", "not-a-difference")
def readings_alone(fn, *args, clock=perf_counter, wait=nothing):
    for _ in range(3):
        fn(*args)
    times = []
    for _ in range(9):
        wait()
        fn(*args)
        wait()
        times.append(clock())
    return median(times)


@wrong("benchmark", "default-clock")
def counts_down(fn, *args, clock=lambda: -perf_counter(), wait=nothing):
    return median(timed(fn, args, clock, wait))


@wrong("benchmark", "raised")
def until_some_time_has_passed(fn, *args, clock=perf_counter, wait=nothing):
    start, times = clock(), []
    while clock() - start < 0.2 or not times:
        times += timed(fn, args, clock, wait, number=5)
    return median(times)


@wrong("benchmark", "raised")
def no_clock_to_hand_in(fn, *args):
    return median(timed(fn, args, perf_counter, nothing))
