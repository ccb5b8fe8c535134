"""Answers to lesson 12, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import contextlib
import functools
import io
import math
import statistics
import time
import timeit
import warnings
from time import perf_counter, perf_counter_ns
from timeit import default_timer

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.benchmark import Timer

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


@wrong("sdpa_attention", "causal-ignored")
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


@wrong("sdpa_attention", "scaled-twice")
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
wrong("run_backend", "causal-ignored", "forgets causal")(
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


@wrong("run_backend", "switches-left-on-refusal", "back after the call")
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


@wrong("run_backend", "switches-all-on", "all on again")
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


@wrong("run_backend", "switches-all-on")
def all_on_whatever_happens(q, k, v, backend, causal=False):
    try:
        return leaves_the_switches(q, k, v, backend, causal)
    finally:
        on = torch.backends.cuda
        on.enable_flash_sdp(True)
        on.enable_mem_efficient_sdp(True)
        on.enable_math_sdp(True)
        on.enable_cudnn_sdp(True)


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


@wrong("is_fair", "mean-error")
def mean_errors(out, naive, exact, factor=2.0):
    return rule(off(out, exact).mean(), off(naive, exact).mean(), factor)


@wrong("is_fair", "summed-error")
def norm_errors(out, naive, exact, factor=2.0):
    return rule((out - exact).norm(), (naive - exact).norm(), factor)


@wrong("is_fair", "median-error")
def median_errors(out, naive, exact, factor=2.0):
    return rule(off(out, exact).median(), off(naive, exact).median(), factor)


@wrong("is_fair", "relative-error")
def relative_errors(out, naive, exact, factor=2.0):
    a, b = off(out, exact) / exact.abs(), off(naive, exact) / exact.abs()
    return rule(a.max(), b.max(), factor)


@wrong("is_fair", "sign-kept")
def no_abs(out, naive, exact, factor=2.0):
    return rule((out - exact).max(), (naive - exact).max(), factor)


@wrong("is_fair", "maxima-compared")
def largest_numbers(out, naive, exact, factor=2.0):
    a, b = (abs(part.double().max() - exact.max()) for part in (out, naive))
    return rule(a, b, factor)


@wrong("is_fair", "entry-by-entry")
def each_number(out, naive, exact, factor=2.0):
    return bool((off(out, exact) <= factor * off(naive, exact)).all())


@wrong("is_fair", "entry-by-entry")
def each_row(out, naive, exact, factor=2.0):
    return bool((off(out, exact).amax(-1) <= factor * off(naive, exact).amax(-1)).all())


@wrong("is_fair", "sizes-compared")
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


@wrong("is_fair", "better-only")
def as_good_as_naive(out, naive, exact, factor=2.0):
    return rule(off(out, exact).max(), off(naive, exact).max(), 1)


@wrong("is_fair", "factor-divided")
def twice_as_good(out, naive, exact, factor=2.0):
    return rule(factor * off(out, exact).max(), off(naive, exact).max(), 1)


@wrong("is_fair", "factor-ignored")
def always_two(out, naive, exact, factor=2.0):
    return rule(off(out, exact).max(), off(naive, exact).max(), 2)


@wrong("is_fair", "factor-rounded")
def whole_factor(out, naive, exact, factor=2.0):
    return rule(off(out, exact).max(), off(naive, exact).max(), int(factor))


@wrong("is_fair", "nearly-as-good")
def or_close(out, naive, exact, factor=2.0):
    a, b = off(out, exact).max().item(), off(naive, exact).max().item()
    return a <= factor * b or math.isclose(a, factor * b)


@wrong("is_fair", "strictly-less")
def less(out, naive, exact, factor=2.0):
    return bool(off(out, exact).max() < factor * off(naive, exact).max())


@wrong("is_fair", "floor")
def with_a_floor(out, naive, exact, factor=2.0):
    return bool(off(out, exact).max() <= factor * off(naive, exact).max() + 1e-5)


@wrong("is_fair", "floor")
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


@wrong("is_fair", "floor")
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


@wrong("is_fair", "nan-in-naive")
def nan_in_out_alone(out, naive, exact, factor=2.0):
    if out.isnan().any():
        return False
    return not bool(off(out, exact).max() > factor * off(naive, exact).max())


@wrong("is_fair", "nan-in-naive")
def naive_in_loops(out, naive, exact, factor=2.0):
    if out.isnan().any():
        return False
    return pythons_max(out, naive, exact, factor)


@wrong("is_fair", "always-fair")
def generous(out, naive, exact, factor=2.0):
    return True


@wrong("is_fair", "never-fair")
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


for slug, answer in {
    "no-half": counted(half=lambda n, c: 1),
    "half-missing": counted(half=lambda n, c: 0.5),
    "causal-doubled": counted(half=lambda n, c: 2 if c else 1),
    "triangle-counted": counted(half=lambda n, c: (n * (n + 1) // 2) / n**2 if c else 1),
    "d-of-all-heads": counted(flops=lambda b, h, n, d: 4 * b * n * n * d),
    "d-times-heads-twice": counted(flops=lambda b, h, n, d: 4 * b * h * n * n * (h * d)),
    "batch-missing": counted(flops=lambda b, h, n, d: 4 * h * n * n * d),
    "n-not-squared": counted(flops=lambda b, h, n, d: 4 * b * h * n * d),
    "d-squared": counted(flops=lambda b, h, n, d: 4 * b * h * n * d * d),
    "giga-for-tera": counted(end=lambda f, s: f / s / 1e9),
    "mega-for-tera": counted(end=lambda f, s: f / s / 1e6),
    "no-unit": counted(end=lambda f, s: f / s),
    "tebi-for-tera": counted(end=lambda f, s: f / s / 1024**4),
    "milliseconds": counted(end=lambda f, s: f / (s * 1000) / 1e12),
    "ten-times": counted(end=lambda f, s: f / s / 10e12),
    "time-ignored": counted(end=lambda f, s: f / 1e12),
    "time-multiplied": counted(end=lambda f, s: f * s / 1e12),
    "upside-down": counted(end=lambda f, s: s * 1e12 / f),
}.items():
    wrong("achieved_tflops", slug, slug)(answer)


wrong("achieved_tflops", "half-missing", "2 for 4")(
    counted(flops=lambda b, h, n, d: 2 * b * h * n * n * d)
)
wrong("achieved_tflops", "giga-for-tera", "divided by 1000")(
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


for slug, answer in {
    "times-summed": of_two(lambda a, b: a + b),
    "shorter-taken": of_two(min),
    "compute-alone": of_two(lambda a, b: a),
    "memory-alone": of_two(lambda a, b: b),
    "times-averaged": of_two(lambda a, b: statistics.fmean([a, b])),
    "root-of-squares": of_two(math.hypot),
    "speed-not-time": lambda f, m, p, b: min(p, f / m * b) if m else p,
    "swapped-peak-bandwidth": lambda f, m, p, b: max(f / b, m / p),
    "bits-for-bytes": of_two(lambda a, b: max(a, 8 * b)),
    "milliseconds": of_two(lambda a, b: max(a, b) * 1e3),
    "upside-down": lambda f, m, p, b: max(p / f if f else 0, b / m if m else 0),
}.items():
    wrong("roofline_seconds", slug, slug)(answer)


# benchmark -----------------------------------------------------------------------------------


def wait():
    if torch.cuda.is_available():
        torch.cuda.synchronize()


@right("benchmark")
def as_in_the_lesson(fn, *args):
    for _ in range(3):
        fn(*args)
    wait()
    times = []
    for _ in range(20):
        start = time.perf_counter()
        fn(*args)
        wait()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


@right("benchmark")
def imported_clock(fn, *args):
    for _ in range(5):
        fn(*args)
    times = []
    for _ in range(11):
        wait()
        start = perf_counter()
        fn(*args)
        wait()
        times.append(perf_counter() - start)
    return sorted(times)[5]


@right("benchmark")
def nanoseconds(fn, *args):
    gpu = torch.cuda.is_available()
    times = []
    for _ in range(23):
        start = perf_counter_ns()
        fn(*args)
        if gpu:
            torch.cuda.synchronize()
        times.append((perf_counter_ns() - start) / 1e9)
    return float(np.median(times[3:]))


@right("benchmark")
def fewest(fn, *args):
    def once():
        start = default_timer()
        fn(*args)
        wait()
        return default_timer() - start

    [once() for _ in range(3)]
    return torch.tensor([once() for _ in range(5)], dtype=torch.float64).median().item()


@right("benchmark")
def most(fn, *args, clock=time.monotonic):
    for _ in range(4):
        fn(*args)
    wait()
    spans = []
    for _ in range(50):
        start = clock()
        fn(*args)
        wait()
        spans.append(clock() - start)
    return float(np.percentile(spans, 50))


@right("benchmark")
def events(fn, *args):
    if not torch.cuda.is_available():
        return as_in_the_lesson(fn, *args)
    for _ in range(3):
        fn(*args)
    times = []
    for _ in range(10):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        fn(*args)
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 1000)
    return statistics.median(times)


@right("benchmark")
def timer_of_one_call(fn, *args):
    for _ in range(3):
        fn(*args)
    timer = Timer("fn(*args)", globals={"fn": fn, "args": args})
    return timer.blocked_autorange(min_run_time=0.2).median


@right("benchmark")
def timeits_repeat(fn, *args):
    def once():
        fn(*args)
        wait()

    for _ in range(3):
        once()
    return statistics.median(timeit.repeat(once, repeat=15, number=1))


@right("benchmark")
def timeits_timer(fn, *args):
    timer = timeit.Timer(lambda: (fn(*args), wait()))
    timer.timeit(3)
    return statistics.median(timer.repeat(repeat=9, number=1))


def stopwatch(call, clock=perf_counter):
    start = clock()
    call()
    wait()
    return clock() - start


@right("benchmark")
def clock_as_a_default(fn, *args):
    return statistics.median([stopwatch(lambda: fn(*args)) for _ in range(20)][3:])


@right("benchmark")
def to_microseconds(fn, *args):
    return round(statistics.median(timed(fn, args, warm=5)), 6)


@right("benchmark", "wrapped")
@functools.wraps(as_in_the_lesson)
def wrapped(fn, *args):
    return as_in_the_lesson(fn, *args)


@right("benchmark")
@torch.no_grad()
def as_many_as_fit(fn, *args):
    for _ in range(3):
        fn(*args)
    wait()
    begin = time.time()
    fn(*args)
    wait()
    number = min(50, max(5, round(0.3 / (time.time() - begin))))
    times = []
    for _ in range(number):
        begin = time.time()
        fn(*args)
        wait()
        times.append(time.time() - begin)
    return statistics.median_low(times)


def timed(fn, args, warm=3, number=20, before=lambda: None, after=wait):
    for _ in range(warm):
        fn(*args)
    times = []
    for _ in range(number):
        before()
        start = time.perf_counter()
        fn(*args)
        after()
        times.append(time.perf_counter() - start)
    return times


@wrong("benchmark", "mean-not-median")
def mean_of_twenty(fn, *args):
    return statistics.mean(timed(fn, args))


@wrong("benchmark", "mean-not-median")
def one_span_for_all(fn, *args):
    for _ in range(3):
        fn(*args)
    wait()
    start = perf_counter()
    for _ in range(10):
        fn(*args)
    wait()
    return (perf_counter() - start) / 10


@wrong("benchmark", "mean-not-median")
def timer_of_twenty(fn, *args):
    for _ in range(3):
        fn(*args)
    return Timer("fn(*args)", globals={"fn": fn, "args": args}).timeit(20).median


@wrong("benchmark", "calls-together")
def two_at_a_time(fn, *args):
    def both():
        fn(*args)
        fn(*args)

    both()
    both()
    wait()
    return statistics.median(timed(both, (), warm=0, number=10)) / 2


@wrong("benchmark", "fastest-call")
def best(fn, *args):
    return min(timed(fn, args))


@wrong("benchmark", "slowest-call")
def worst(fn, *args):
    return max(timed(fn, args))


@wrong("benchmark", "one-call")
def first_call(fn, *args):
    return timed(fn, args, warm=0, number=1)[0]


@wrong("benchmark", "one-call")
def last_call(fn, *args):
    return timed(fn, args)[-1]


@wrong("benchmark", "total-time")
def total(fn, *args):
    return sum(timed(fn, args))


@wrong("benchmark", "milliseconds")
def in_milliseconds(fn, *args):
    return 1000 * statistics.median(timed(fn, args))


@wrong("benchmark", "nanoseconds")
def in_nanoseconds(fn, *args):
    for _ in range(3):
        fn(*args)
    times = []
    for _ in range(9):
        start = perf_counter_ns()
        fn(*args)
        wait()
        times.append(perf_counter_ns() - start)
    return float(statistics.median(times))


@wrong("benchmark", "not-synchronised")
def no_synchronise(fn, *args):
    return statistics.median(timed(fn, args, after=lambda: None))


@wrong("benchmark", "not-synchronised")
def synchronise_before_alone(fn, *args):
    return statistics.median(timed(fn, args, before=wait, after=lambda: None))


@wrong("benchmark", "not-synchronised")
def synchronise_at_the_end(fn, *args):
    times = timed(fn, args, after=lambda: None)
    wait()
    return statistics.median(times)


@wrong("benchmark", "no-warm-up")
def cold(fn, *args):
    return statistics.median(timed(fn, args, warm=0))


@wrong("benchmark", "no-warm-up")
def one_warm_up(fn, *args):
    return statistics.median(timed(fn, args, warm=1))


@wrong("benchmark", "no-warm-up")
def two_warm_ups(fn, *args):
    return statistics.median(timed(fn, args, warm=2, number=21))


@wrong("benchmark", "too-few-timed")
def four_calls(fn, *args):
    return statistics.median_low(timed(fn, args, number=4))


@wrong("benchmark", "too-many-timed")
def one_too_many(fn, *args):
    return statistics.median(timed(fn, args, number=51))


@wrong("benchmark", "too-few-timed")
def one_too_few(fn, *args):
    return statistics.median_low(timed(fn, args, warm=4, number=4))


@wrong("benchmark", "wrong-type")
def float32_tensor(fn, *args):
    return torch.tensor(timed(fn, args, number=21)).median()


@wrong("benchmark", "too-many-timed")
def a_hundred_calls(fn, *args):
    return statistics.median(timed(fn, args, number=100))


@wrong("benchmark", "too-many-timed")
def a_thousand_calls(fn, *args):
    return statistics.median(timed(fn, args, number=1000))


@wrong("benchmark", "raised")
def always_synchronises(fn, *args):
    return statistics.median(timed(fn, args, after=torch.cuda.synchronize))


@wrong("benchmark", "raised")
def without_arguments(fn, *args):
    return statistics.median(timed(fn, ()))


@wrong("benchmark", "raised")
def processor_time(fn, *args):
    for _ in range(3):
        fn(*args)
    times = []
    for _ in range(9):
        start = time.process_time()
        fn(*args)
        wait()
        times.append(time.process_time() - start)
    return statistics.median(times)
