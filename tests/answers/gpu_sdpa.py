"""Answers to lesson 13, with PyTorch."""

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

lesson = Lesson("13-gpu-sdpa")
wrong, right = lesson.wrong, lesson.right


# sdpa_attention ------------------------------------------------------------------------------


@right("sdpa_attention")
def one_line(x, Wq, Wk, Wv, causal=False):
    return F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv, is_causal=causal)


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
def keys_back_to_the_width_of_x(x, Wq, Wk, Wv, causal=False):
    scale = Wq.shape[1] ** -0.5
    return F.scaled_dot_product_attention(
        x @ (Wq @ Wk.T), value=x @ Wv, key=x, is_causal=causal, scale=scale
    )


def called(x, Wq, Wk, Wv, **how):
    return F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv, **how)


@wrong("sdpa_attention", "mask-missing")
def forgets_causal(x, Wq, Wk, Wv, causal=False):
    return called(x, Wq, Wk, Wv)


@wrong("sdpa_attention", "causal-uncalled-for")
def a_decoder(x, Wq, Wk, Wv, causal=False):
    return called(x, Wq, Wk, Wv, is_causal=True)


@wrong("sdpa_attention", "wrong-shape")
def sequence_first_and_back(x, Wq, Wk, Wv, causal=False):
    q, k, v = ((x @ W)[:, None] for W in (Wq, Wk, Wv))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


# run_backend ---------------------------------------------------------------------------------


@right("run_backend")
def context_and_except(q, k, v, backend, causal=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        except RuntimeError:
            return None


@right("run_backend")
def a_list_of_one(q, k, v, backend, causal=False):
    out = None
    with sdpa_kernel([backend]), contextlib.suppress(RuntimeError):
        out = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return out


@right("run_backend")
def switches_by_hand(q, k, v, backend, causal=False):
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
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(RuntimeError):
        with sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


def careful(call):
    """Right but for the call itself."""

    def run_backend(q, k, v, backend, causal=False):
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
wrong("run_backend", "falls-back", "or math")(
    careful(lambda q, k, v, backend, causal: under([backend, SDPBackend.MATH], q, k, v, causal))
)


@wrong("run_backend", "falls-back")
def any_other_then(q, k, v, backend, causal=False):
    try:
        return under(backend, q, k, v, causal)
    except RuntimeError:
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


@wrong("run_backend", "switches-left")
def one_switch_turned_on(q, k, v, backend, causal=False):
    on = torch.backends.cuda
    on.enable_flash_sdp(backend == SDPBackend.FLASH_ATTENTION)
    on.enable_mem_efficient_sdp(backend == SDPBackend.EFFICIENT_ATTENTION)
    on.enable_math_sdp(backend == SDPBackend.MATH)
    on.enable_cudnn_sdp(backend == SDPBackend.CUDNN_ATTENTION)
    with contextlib.suppress(RuntimeError):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal)


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


@wrong("is_fair", "relative-error")
def relative_errors(out, naive, exact, factor=2.0):
    a, b = off(out, exact) / exact.abs(), off(naive, exact) / exact.abs()
    return rule(a.max(), b.max(), factor)


@wrong("is_fair", "raised")
def four_axes_unpacked(out, naive, exact, factor=2.0):
    b, h, n, d = out.shape
    a, b = (off(part, exact).reshape(b * h, n * d).max() for part in (out, naive))
    return rule(a, b, factor)


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


wrong("achieved_tflops", "half-missing", "2 for 4")(
    counted(flops=lambda b, h, n, d: 2 * b * h * n * n * d)
)
wrong("achieved_tflops", "not-tera", "divided by 1000")(
    counted(end=lambda f, s: f / (s / 1000) / 1e12)
)
wrong("achieved_tflops", "triangle-counted", "without its diagonal")(
    counted(half=lambda n, c: (n - 1) / (2 * n) if c else 1)
)


# roofline_seconds ----------------------------------------------------------------------------


@wrong("roofline_seconds", "times-combined")
def one_after_the_other(flops, bytes_moved, peak_flops, bandwidth):
    return flops / peak_flops + bytes_moved / bandwidth


@right("roofline_seconds")
def longer(flops, bytes_moved, peak_flops, bandwidth):
    return max(flops / peak_flops, bytes_moved / bandwidth)


lesson.edits(
    longer,
    "one-time-alone | arithmetic_alone | max(flops / peak_flops, bytes_moved / bandwidth) -> "
    "flops / peak_flops",
)


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


def median(times):
    return float(statistics.median(times))


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


@wrong("benchmark", "not-synchronised")
def waits_at_the_end(fn, *args, clock=perf_counter, wait=nothing):
    times = timed(fn, args, clock, nothing)
    wait()
    return median(times)


@wrong("benchmark", "raised")
def until_some_time_has_passed(fn, *args, clock=perf_counter, wait=nothing):
    start, times = clock(), []
    while clock() - start < 0.2 or not times:
        times += timed(fn, args, clock, wait, number=5)
    return median(times)


@wrong("benchmark", "wrong-type")
def says_all_times(fn, *args, clock=perf_counter, wait=nothing):
    return timed(fn, args, clock, wait)


@wrong("benchmark", "default-clock")
def in_nanoseconds_by_default(fn, *args, clock=time.perf_counter_ns, wait=nothing):
    return median(timed(fn, args, clock, wait))


@wrong("benchmark", "arguments-not-passed")
def calls_it_bare(fn, *args, clock=perf_counter, wait=nothing):
    return median(timed(fn, (), clock, wait))


@wrong("benchmark", "result-of-fn")
def the_last_result(fn, *args, clock=perf_counter, wait=nothing):
    timed(fn, args, clock, wait)
    return fn(*args)


@wrong("benchmark", "clock-not-used")
def its_own_clock(fn, *args, clock=perf_counter, wait=nothing):
    return median(timed(fn, args, perf_counter, wait))


@wrong("benchmark", "clock-not-used")
def its_own_microseconds(fn, *args, clock=perf_counter, wait=nothing):
    """Two calls of it differ by far more than is let pass, on any machine."""
    return 1e6 * median(timed(fn, args, perf_counter, wait))


@wrong("benchmark", "mean-not-median")
def their_mean(fn, *args, clock=perf_counter, wait=nothing):
    return float(np.mean(timed(fn, args, clock, wait)))


@wrong("benchmark", "mean-not-median")
def without_the_slowest(fn, *args, clock=perf_counter, wait=nothing):
    return float(np.mean(sorted(timed(fn, args, clock, wait))[:-2]))


@wrong("benchmark", "total-time")
def all_together(fn, *args, clock=perf_counter, wait=nothing):
    return float(sum(timed(fn, args, clock, wait)))


@wrong("benchmark", "middle-not-median")
def sorted_by_nobody(fn, *args, clock=perf_counter, wait=nothing):
    return float(timed(fn, args, clock, wait, number=21)[10])


@wrong("benchmark", "middle-not-median")
def the_lower_of_two(fn, *args, clock=perf_counter, wait=nothing):
    return torch.tensor(timed(fn, args, clock, wait), dtype=torch.float64).median().item()


@wrong("benchmark", "one-call")
def the_fastest(fn, *args, clock=perf_counter, wait=nothing):
    return float(min(timed(fn, args, clock, wait)))


@wrong("benchmark", "another-unit")
def in_milliseconds(fn, *args, clock=perf_counter, wait=nothing):
    return median(timed(fn, args, clock, wait)) * 1000


@wrong("benchmark", "not-a-difference")
def the_wrong_way_round(fn, *args, clock=perf_counter, wait=nothing):
    return -median(timed(fn, args, clock, wait))


@wrong("benchmark", "not-a-difference")
def the_second_reading(fn, *args, clock=perf_counter, wait=nothing):
    timed(fn, args, nothing, wait, number=0)
    readings = []
    for _ in range(9):
        wait()
        clock()
        fn(*args)
        wait()
        readings.append(clock())
    return median(readings)


@wrong("benchmark", "no-warm-up")
def cold(fn, *args, clock=perf_counter, wait=nothing):
    return median(timed(fn, args, clock, wait, warm=0))


@wrong("benchmark", "no-warm-up")
def the_first_three_dropped(fn, *args, clock=perf_counter, wait=nothing):
    return median(timed(fn, args, clock, wait, warm=0)[3:])


@wrong("benchmark", "too-few-or-too-many")
def three_calls(fn, *args, clock=perf_counter, wait=nothing):
    return median(timed(fn, args, clock, wait, number=3))


@wrong("benchmark", "too-few-or-too-many")
def a_thousand(fn, *args, clock=perf_counter, wait=nothing):
    return median(timed(fn, args, clock, wait, number=1000))


@wrong("benchmark", "wait-after-start")
def waits_too_late(fn, *args, clock=perf_counter, wait=nothing):
    for _ in range(3):
        fn(*args)
        wait()
    times = []
    for _ in range(10):
        start = clock()
        wait()
        fn(*args)
        wait()
        times.append(clock() - start)
    return median(times)
