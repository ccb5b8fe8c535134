"""What lesson 13 says, and what would refute it.

What is marked `gpu` runs where there is one alone, by `pytest tests/test_claims.py -k 13-gpu`. All
of it passed on an NVIDIA H100 80GB HBM3 with PyTorch 2.11.0 and cuDNN 9.19 on 27 November 2026.
Other sentences on GPUs rest on what others published, on what was recorded, or on a made GPU, whose
call returns before its work is done.
"""

from __future__ import annotations

import ast
import json
import threading
import warnings
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from math import e, log2
from statistics import mean, median, quantiles
from time import perf_counter
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.profiler import profile
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity
from torch.profiler import profile as kineto
from torch.utils.flop_counter import FlopCounterMode

from attnlab import figures
from attnlab.bench.held import held_by
from attnlab.bench.machine import peak
from attnlab.one_run import one_thread
from tests import in_triton
from tests.claims import Lesson, taught

lesson = Lesson("13-gpu-sdpa")
here = taught("13-gpu-sdpa")

MATH, FLASH = SDPBackend.MATH, SDPBackend.FLASH_ATTENTION
HALVES = (torch.float16, torch.bfloat16)
on = torch.backends.cuda


def drawn(seed: int, *shape: int, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    made = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=made).to(dtype) for _ in range(3)]


def off(out: Tensor, exact: Tensor) -> float:
    return float((out.double() - exact.double()).abs().max())


def exactly(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    out: Tensor = here.attend(q.double(), k.double(), v.double())[0]
    return out


def only(backend: SDPBackend, q: Tensor, k: Tensor, v: Tensor, **how: object) -> Tensor:
    """PyTorch's call by one backend, whatever it thinks of the inputs' shapes."""
    with warnings.catch_warnings(), sdpa_kernel(backend):
        warnings.simplefilter("ignore")
        return F.scaled_dot_product_attention(q, k, v, **how)  # type: ignore[arg-type]


# One call -------------------------------------------------------------------------------------


@lesson.says(
    "One call, four axes.",
    "Ask which kernel ran.",
    "PyTorch gave no warning.",
    "So do values of another width.",
    "It has no weights to return: there is no moment at which they all exist.",
    "PyTorch goes through a list and takes the first backend that accepts the device, the shapes, "
    "the dtype and the mask.",
)
def three_axes_hold_a_table_and_four_do_not(seed: int) -> None:
    n, d = 1024, 16
    q, k, v = drawn(seed, 1, 1, n, d)
    table = 4 * n * n
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        three = held_by(lambda: F.scaled_dot_product_attention(q[0], k[0], v[0]))
        assert here.which_ran(q[0], k[0], v[0]).endswith("_math")
        four = held_by(lambda: F.scaled_dot_product_attention(q, k, v))
        assert "flash" in here.which_ran(q, k, v)
    assert three > table > 4 * (four + held_inside(n, d)), (three, four)
    narrower = v[..., :5]  # flash accepts what is above, and not this
    assert here.why_not(FLASH, q, k, narrower) != "ran"
    assert here.which_ran(q, k, narrower).endswith("_math")


@lesson.says(
    "The list is flash, efficient, math.",
    "elsewhere it comes after math. Math takes all floats, so cuDNN never runs there unless you "
    "ask.",
    "The list changes with PyTorch's versions (this is 2.13's), so do not learn it by heart: ask `which_ran`.",
)
def the_list_of_this_version_is_as_told() -> None:
    """On a CPU; what puts cuDNN first is read in PyTorch's source."""
    assert torch.__version__.startswith("2.13.")
    order = [SDPBackend(number).name for number in torch._C._get_sdp_priority_order()]
    assert order == [
        "FLASH_ATTENTION",
        "EFFICIENT_ATTENTION",
        "MATH",
        "CUDNN_ATTENTION",
        "OVERRIDEABLE",
    ]
    q, k, v = drawn(0, 2, 3, 6, 8)
    table = torch.ones(6, 6).tril().bool()
    for inputs in ((q, k, v), (q[0], k[0], v[0]), (q, k, v[..., :5]), (q.mT.contiguous().mT, k, v)):
        for how in ({}, {"attn_mask": table}, {"is_causal": True}, {"dropout_p": 0.1}):
            assert only(MATH, *inputs, **how).shape[-2] == 6


@lesson.says(
    "Each backend has rules; where PyTorch gives the reasons for a refusal, they are warnings.",
    "If the backend does not take the inputs, the call raises `RuntimeError`, and the *reasons* come "
    "as **warnings**",
)
def a_warning_names_what_has_to_change(seed: int) -> None:
    """The error says nothing of it, and with that one thing changed the backend runs."""
    q, k, v = drawn(seed, 2, 3, 6, 8)
    far = q.mT.contiguous().mT
    for word, refused, dropout, mended in (
        ("dimensional", (q[0], k[0], v[0]), 0.0, (q, k, v)),
        ("stride 1", (far, k, v), 0.0, (far.contiguous(), k, v)),
        ("dropout", (q, k, v), 0.1, (q, k, v)),
        ("dtype", (q.int(), k.int(), v.int()), 0.0, (q, k, v)),
    ):
        with warnings.catch_warnings(record=True) as said, sdpa_kernel(FLASH):
            warnings.simplefilter("always")
            with pytest.raises(RuntimeError) as raised:
                F.scaled_dot_product_attention(*refused, dropout_p=dropout)
        assert word not in str(raised.value)
        assert any(word in str(each.message) for each in said)
        assert here.why_not(FLASH, *mended) == "ran"


@lesson.says(
    "Switches are global, and `sdpa_kernel` gives them back.",
    "If you turn one off and forget it, you have changed every later call in this process, in other "
    "threads too.",
    "`sdpa_kernel` gives the switches back by itself, also when something raises.",
)
def a_switch_reaches_other_threads_and_comes_back() -> None:
    q, k, v = drawn(0, 1, 2, 6, 8)

    def elsewhere() -> str:
        found: list[str] = []
        other = threading.Thread(target=lambda: found.append(here.which_ran(q, k, v)))
        other.start()
        other.join()
        return found[0]

    assert "flash" in elsewhere()
    try:
        on.enable_flash_sdp(False)
        assert elsewhere().endswith("_math")
        with pytest.raises(RuntimeError), sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
            F.scaled_dot_product_attention(q, k, v)
        assert not on.flash_sdp_enabled()  # off, as it was before, and not on
        assert on.math_sdp_enabled()
    finally:
        on.enable_flash_sdp(True)


# What error is fair ---------------------------------------------------------------------------


@lesson.says(
    "An error is fair if it is at most twice the error of naive attention in the same precision, both measured against float64.",
    "This yardstick adapts to dtype, N and inputs.",
    "But where an unmasked score of naive attention overflows to +∞, its row is NaN, and no kernel is fair.",
    "A fixed tolerance is too strict for some inputs and blind for others.",
)
def the_rule_tells_right_from_wrong_where_a_tolerance_does_not(seed: int) -> None:
    """The wrong kernel scales by 1/d; a tolerance of 0.01 does for inputs as they are drawn."""
    for dtype in HALVES:
        passed = []
        for size in (2.0**-8, 1.0, 2.0**8):
            q, k, v = drawn(seed, 1, 2, 256, 64, dtype=dtype)
            v = v * size
            exact, naive = exactly(q, k, v), here.attend(q, k, v)[0]
            right, wrong = only(FLASH, q, k, v), only(FLASH, q, k, v, scale=1 / 64)
            assert here.is_fair(right, naive, exact)
            assert not here.is_fair(wrong, naive, exact)
            passed.append([off(out, exact) <= 0.01 for out in (right, wrong)])
        assert passed == [[True, True], [True, False], [False, False]], passed
    q, k, v = drawn(seed, 1, 2, 256, 64, dtype=torch.float16)
    right, naive = only(FLASH, 120 * q, 120 * k, v), here.attend(120 * q, 120 * k, v)[0]
    exact = exactly(120 * q, 120 * k, v)
    assert naive.isnan().any()
    assert off(right, exact) < 0.1
    assert not here.is_fair(right, naive, exact)
    # A score that overflows to −∞ has a weight of 0, as it should, and the rule can be applied.
    far = torch.full((1, 1, 4, 64), 40.0, dtype=torch.float16)
    low = torch.cat([-far[:, :, :2], 0 * far[:, :, :3]], dim=2)
    assert (far @ low.mT == -torch.inf).any()
    v = drawn(seed, 1, 1, 5, 64, dtype=torch.float16)[2]
    exact, naive = exactly(far, low, v), here.attend(far, low, v)[0]
    assert here.is_fair(only(FLASH, far, low, v), naive, exact)
    assert not here.is_fair(only(FLASH, far, low, v.flip(2)), naive, exact)


@lesson.says(
    "If you round the exact answer to float16 first, a kernel that rounds once at the end seems exact nearly everywhere, and one that misses by a hair is charged a whole step."
)
def errors_vanish_or_grow_in_the_short_type(seed: int) -> None:
    for dtype in HALVES:
        q, k, v = drawn(seed, 1, 4, 256, 64, dtype=dtype)
        exact = exactly(q, k, v)
        math, flash = (only(way, q, k, v) for way in (MATH, FLASH))
        assert (math - exact.to(dtype) == 0).double().mean() > 0.98
        assert (math.double() - exact == 0).double().mean() < 0.02
        charged = (flash - exact.to(dtype)).abs().double()
        missed = charged > 0
        assert 0.1 < missed.double().mean() < 0.9
        assert charged[missed].mean() > 1.2 * (flash.double() - exact).abs()[missed].mean()


@lesson.says(
    "In half precision both paths are nearer to the exact answer here than naive attention.",
    "The math path turns its inputs into float32, computes, and rounds once, at the end.",
)
def math_loses_its_lead_in_the_short_type(seed: int) -> None:
    for dtype in HALVES:
        q, k, v = drawn(seed, 1, 4, 512, 64, dtype=dtype)
        exact, naive = exactly(q, k, v), here.attend(q, k, v)[0]
        measure = off(naive, exact)
        once = off(exact.to(dtype), exact)
        assert off(only(MATH, q, k, v), exact) < 1.05 * once < 0.7 * measure
        assert off(only(FLASH, q, k, v), exact) < 0.7 * measure
        before = on.fp16_bf16_reduction_math_sdp_allowed()
        try:
            on.allow_fp16_bf16_reduction_math_sdp(True)
            short = off(only(MATH, q, k, v), exact)
        finally:
            on.allow_fp16_bf16_reduction_math_sdp(before)
        assert 0.75 < short / measure < 1.5, short / measure


@lesson.says(
    "Naive attention rounds scores and weights to the short type each time it writes them down.",
    "The flash kernel keeps scores and sums in float32.",
    "float16 has three digits and ends at 65,504, which a score can exceed.",
)
def scores_beyond_float16_break_naive_and_not_flash(seed: int) -> None:
    """Were flash's scores in float16, or its sum of 4,000 equal weights, it would be far off."""
    q = torch.full((1, 1, 4, 64), 40.0, dtype=torch.float16)
    v = drawn(seed, 1, 1, 4, 64, dtype=torch.float16)[2]
    assert here.attend(q, q, v)[0].isnan().all()
    assert off(only(FLASH, q, q, v), exactly(q, q, v)) < 1e-2
    many, ones = torch.zeros(1, 1, 4000, 8).half(), torch.ones(1, 1, 4000, 8).half()
    ones[:, :, :1000] = 0  # the mean is 0.75, and sums that end at 2,048 would give another
    assert off(only(FLASH, many, many, ones), torch.tensor(0.75)) < 1e-3


# Time and memory ------------------------------------------------------------------------------


class MadeGpu:
    """A clock and a GPU: `call(seconds)` returns after 5 µs, `wait` when the work is done."""

    def __init__(self, queued: float = 0.0) -> None:
        self.now, self.done = 0.0, queued

    def clock(self) -> float:
        return self.now

    def call(self, seconds: float) -> None:
        self.now += 5e-6
        self.done = max(self.done, self.now) + seconds

    def wait(self) -> None:
        self.now = max(self.now, self.done)

    def time_of(self, fn: Callable[..., None], *args: object) -> float:
        took: float = here.benchmark(fn, *args, clock=self.clock, wait=self.wait)
        return took


@lesson.says(
    "Warm up, synchronise, median, spread.",
    "The work grows, that time stands still, and the speed that you work out grows.",
    "Yes. 64 times the work in the same time looks like the time of handing it over.",
)
def each_rule_of_timing_is_against_something(seed: int) -> None:
    waited, handed_over = [], []
    for n in (1000, 8000):
        gpu, hurried = MadeGpu(), MadeGpu()
        waited.append(gpu.time_of(gpu.call, 1e-9 * n * n))
        handed_over.append(here.benchmark(hurried.call, 1e-9 * n * n, clock=hurried.clock))
    assert waited[1] / waited[0] == pytest.approx(64, rel=0.01)
    assert handed_over[1] == pytest.approx(handed_over[0], rel=1e-9)
    made = torch.Generator().manual_seed(seed)
    usual = (0.01 * (1 + 0.1 * torch.randn(3000, generator=made))).tolist()
    found = []
    for beginning in (5.0, 0.001):  # slow at first or fast, and slow once in between
        gpu, spans = MadeGpu(), iter([*3 * [beginning], *usual[:4], 3.0, *usual[4:]])
        found.append(gpu.time_of(lambda gpu=gpu, spans=spans: gpu.call(next(spans))))
    assert found == pytest.approx([found[0], 0.01], rel=0.1)
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    disturbed = [3.0, *usual[:19]]
    assert mean(disturbed) > 10 * median(disturbed)
    apart, spread = [], []
    for start in range(0, 3000, 40):  # the same thing, timed twice
        first, second = usual[start : start + 20], usual[start + 20 : start + 40]
        low, _, high = quantiles(first)
        apart.append(abs(median(first) - median(second)))
        spread.append(high - low)
    assert mean(gap > 0 for gap in apart) == 1
    assert mean(gap < wide for gap, wide in zip(apart, spread, strict=True)) > 0.95


@lesson.says(
    "If you skip it before a call, you also time what was left in the queue.",
    "If you skip it after the call, see above.",
)
def both_waits_are_needed() -> None:
    def span(*, before: bool, after: bool) -> float:
        gpu = MadeGpu(queued=7.0)
        if before:
            gpu.wait()
        start = gpu.clock()
        gpu.call(2.0)
        if after:
            gpu.wait()
        return gpu.clock() - start

    assert span(before=True, after=True) == pytest.approx(2, rel=1e-4)
    assert span(before=False, after=True) == pytest.approx(9, rel=1e-4)
    assert span(before=True, after=False) < 1e-5


@lesson.says(
    "`statistics.median` takes the mean of the middle two where there is an even number of times; "
    "`torch.median` takes the lower one.",
    "Return `statistics.median` of the list, as a float: of whole numbers it may be an int.",
    "The result is a float in the clock's unit.",
)
def a_median_may_be_lower_or_an_int() -> None:
    for times in ([8, 1, 3, 100], [2.5, 1.0, 9.0, 4.0, 3.5, 60.0]):
        low, high = sorted(times)[len(times) // 2 - 1 : len(times) // 2 + 1]
        assert median(times) == (low + high) / 2 > low
        assert torch.tensor(times).median().item() == low
    assert type(median([3, 1, 2])) is int
    for unit in (1, 1000):
        gpu = MadeGpu()

        def ticks(gpu: MadeGpu = gpu, unit: int = unit) -> int:
            return round(10**6 * unit * gpu.now)

        found = here.benchmark(gpu.call, 0.02, clock=ticks, wait=gpu.wait)
        assert type(found) is float
        assert found == pytest.approx(20_005 * unit)
    assert here.benchmark(lambda: None, clock=lambda: 10**15) == 0.0  # it stands still


@lesson.says("Reset, note what is held, call, subtract.")
def each_step_of_measuring_memory_is_needed() -> None:
    """On a made GPU, which holds 70 bytes, once held 900, and whose call holds 40 for a while."""

    def measured(*, resets: bool = True, notes: bool = True) -> int:
        state = SimpleNamespace(now=70, most=900)

        def call() -> None:
            state.most = max(state.most, state.now + 40)

        def reset() -> None:
            state.most = state.now if resets else state.most

        with (
            patch.object(here, "device", "cuda", create=True),
            patch("torch.cuda.memory_allocated", lambda: state.now if notes else 0),
            patch("torch.cuda.reset_peak_memory_stats", reset),
            patch("torch.cuda.max_memory_allocated", lambda: state.most),
        ):
            return int(here.peak_bytes(call))

    assert measured() == 40
    assert measured(resets=False) != 40 != measured(notes=False)


@cache
def held_inside(n: int, d: int) -> int:
    """Bytes that the CPU's flash kernel makes and frees again inside one call, on one thread."""
    q, k, v = drawn(0, 1, 1, n, d)
    with one_thread(), profile(use_kineto=False, profile_memory=True) as watched:
        F.scaled_dot_product_attention(q, k, v)
    [kernel] = [each for each in watched.function_events if "flash_attention" in each.name]
    return -int(kernel.self_cpu_memory_usage)


@lesson.says(
    "At 2,048 tokens in float32, one missing axis costs 64 times the memory.",
    "For twice the tokens, math holds four times the memory and flash twice: the output and one "
    "number for each query.",
    "`held_by` does not see what an operator makes and frees inside itself: a few tiles for each "
    "thread, about half a MiB, as many at 1,024 tokens as at 4,096.)",
)
def memory_grows_as_it_is_counted() -> None:
    def held(backend: SDPBackend, n: int) -> int:
        return held_by(partial(only, backend, *drawn(0, 1, 1, n, 64)))

    for n in (512, 1024):
        assert held(FLASH, n) == 4 * (n * 64 + n)
        assert held(MATH, n) > 4 * n * n
        assert 3.8 < held(MATH, 2 * n) / held(MATH, n) < 4.2
    q, k, v = drawn(0, 1, 1, 2048, 64)
    three = held_by(partial(F.scaled_dot_product_attention, q[:, 0], k[:, 0], v[:, 0]))
    assert three / held_by(partial(F.scaled_dot_product_attention, q, k, v)) == 64
    assert held_inside(1024, 64) == held_inside(4096, 64)
    assert 0.3 < held_inside(1024, 64) / 2**20 < 0.9


# Cost -----------------------------------------------------------------------------------------


def work(b: int, h: int, g: int, n: int, m: int, d: int = 64) -> tuple[float, float]:
    """Operations that PyTorch counts, and bytes of q, k, v and the output in float16."""
    q, k = (
        torch.empty(b, *shape, d, dtype=torch.half, device="meta") for shape in ((h, n), (g, m))
    )
    with FlopCounterMode(display=False) as counted:
        out, _ = here.attend(q, *2 * [k.repeat_interleave(h // g, dim=1)])
    return counted.get_total_flops(), float(q.nbytes + 2 * k.nbytes + out.nbytes)


@lesson.says(
    "In 2 bytes a number, N queries and M keys come to N·M / (N + M).",
    "Yes. Twice the operations on twice the bytes. Queries that *share* keys would help (grouped "
    "queries), or fewer bytes a number.",
)
def operations_for_each_byte_are_as_counted() -> None:
    for n, m in ((1, 1000), (128, 128), (300, 700)):
        for d in (50, 100):
            flops, moved = work(1, 1, 1, n, m, d)
            assert flops / moved == pytest.approx(n * m / (n + m), rel=1e-6)
    alone = work(1, 8, 8, 1, 1000)
    assert work(2, 8, 8, 1, 1000) == (2 * alone[0], 2 * alone[1])
    grouped = work(1, 8, 2, 1, 1000)
    assert grouped[0] == alone[0]
    assert 3.9 < alone[1] / grouped[1] < 4


@lesson.says(
    "With the batch only the projections move: all readers share their weights, which are fetched "
    "once. From a batch of 256 on, computing limits them on the A100. Attention stays, because "
    "each reader brings their own keys.",
)
def a_batch_moves_what_its_readers_share() -> None:
    d = 4096
    matrices = torch.empty(4, d, d, dtype=torch.half, device="meta")
    bends = [p["flops"] / p["bandwidth"] for p in figures.gpu_sdpa.published()["peaks"]]
    for batch in (1, 2, 128, 256, 1024):
        shown = {name: flops / moved for name, (flops, moved) in here.works(batch).items()}
        rows = torch.empty(batch, d, dtype=torch.half, device="meta")
        with FlopCounterMode(display=False) as counted:
            results = [rows @ matrix for matrix in matrices]
        moved = matrices.nbytes + 4 * rows.nbytes + sum(result.nbytes for result in results)
        assert shown["decode, projections"] == counted.get_total_flops() / moved
        assert (shown["decode, projections"] > bends[0]) == (batch >= 256)
        for name, n in (("prefill, 1,024 tokens", 1024), ("decode, attention", 1)):
            flops, bytes_moved = work(batch, 32, 32, n, 1024, d // 32)
            assert shown[name] == flops / bytes_moved


@lesson.says(
    "Computing limits a long prefill, moving limits decode: the roofline says so before you measure.",
    "Decoding for one reader has 1: both GPUs wait, and reach 1/153 and 1/295 of their peaks at "
    "best, 0.7 % and 0.3 %.",
    "One of 128 tokens has 64, and waits for memory.",
    "So, to decode faster, *move fewer bytes*.",
)
def fewer_bytes_speed_up_decoding_and_fewer_operations_do_not() -> None:
    for gpu, part in zip(figures.gpu_sdpa.published()["peaks"], (153, 295), strict=True):
        rates = gpu["flops"], gpu["bandwidth"]

        def gains(n: int, m: int, rates: tuple[float, float] = rates) -> tuple[float, float]:
            flops, moved = work(1, 8, 8, n, m)
            least = here.roofline_seconds(flops, moved, *rates)
            fewer = here.roofline_seconds(flops / 2, moved, *rates)
            return least / fewer, least / here.roofline_seconds(flops, moved / 2, *rates)

        assert gains(1, 1024) == gains(1, 16384) == (1, 2)
        assert gains(128, 128)[0] == 1  # short: half of the operations help nothing
        assert gains(1024, 1024)[0] > 1 == gains(1024, 1024)[1]
        flops, moved = work(1, 8, 8, 1, 16384)
        share = flops / gpu["flops"] / here.roofline_seconds(flops, moved, *rates)
        assert 1 / share == pytest.approx(part, rel=0.005)


# The kernel -----------------------------------------------------------------------------------


def needs_triton() -> None:
    if find_spec("triton") is None:
        pytest.skip("Triton is not installed")


@lesson.says(
    "For the first tile the old maximum is −∞, and the factor is 0.",
    "With one tile of keys nothing has to be corrected. With several tiles your line decides.",
    long=True,
)
def the_line_matters_from_the_second_tile_on() -> None:
    """Of the lesson's four rows the first has one tile, and is right without the line too."""
    needs_triton()
    told = [in_triton.compared(line).splitlines() for line in ("", in_triton.line())]
    fair = [[row.endswith("True") for row in rows if "fair" in row] for rows in told]
    assert fair == [[True, False, False, False], [True] * 4]
    assert torch.exp2(torch.tensor(-torch.inf) - 3) == 0


@lesson.says(
    "`scale` is log₂e / √d, so that 2 to the power of a score is what e to the power of score/√d was"
)
def powers_of_two_are_powers_of_e(seed: int) -> None:
    scores = drawn(seed, 40, 50, dtype=torch.float64)[0]
    for d in (24, 64):
        assert off(torch.exp2(scores * log2(e) / d**0.5), torch.exp(scores / d**0.5)) < 1e-12


BFLOAT16 = """
import json, torch, triton
import triton.language as tl

@triton.jit
def both(x_start, short_start, product_start, DOT: tl.constexpr):
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    short = tl.load(x_start + at).to(tl.bfloat16)
    tl.store(short_start + at, short)
    tl.store(product_start + at, tl.dot(short.to(DOT), short.to(DOT)).to(tl.float32))

torch.manual_seed(SEED)
x, off = torch.randn(16, 16), []
short, product = torch.empty(16, 16, dtype=torch.bfloat16), torch.empty(16, 16)
for DOT in (tl.float32, tl.bfloat16):
    both[(1,)](x, short, product, DOT=DOT)
    off.append(float((product - x @ x).abs().max()))
cut = (x.view(torch.int32) & -(2**16)).view(torch.float32)
print(json.dumps([triton.__version__, *off, torch.equal(short.float(), cut)]))
"""


@lesson.says(
    "(In the interpreter that is float32: in Triton 3.7.1 it multiplies bfloat16 as if it were whole "
    "numbers, and makes bfloat16 by cutting digits off.)",
    long=True,
)
def the_interpreter_has_no_bfloat16_of_its_own(seed: int) -> None:
    needs_triton()
    told = json.loads(in_triton.run(BFLOAT16.replace("SEED", str(seed))))
    version, in_float32, in_bfloat16, is_cut = told
    assert version == "3.7.1"
    assert in_float32 < 0.3
    assert in_bfloat16 > 1e6
    assert is_cut


@lesson.says("It stands once, at the end: no score and no weight goes to memory.")
def the_kernel_stores_the_output_alone() -> None:
    stores = [
        each
        for each in ast.walk(ast.parse(in_triton.kernel()))
        if isinstance(each, ast.Call) and ast.unparse(each.func) in ("tl.store", "tl.atomic_add")
    ]
    [store] = stores
    assert [ast.unparse(part) for part in store.args] == ["out_start + mine", "rows"]


RECORDS = {each["date"]: each for each in figures.gpu_sdpa.recorded() if "H100" in each["device"]}


def measured(way: str, day: str, d: int = 128) -> dict[int, float]:
    """TFLOP/s by length on the H100 of a day, 16 heads and not causal."""
    [run] = [each for each in RECORDS[day]["runs"] if each["d"] == d and not each["causal"]]
    assert run["heads"] == 16
    rows = {row["n"]: row["seconds"] for row in run["rows"] if row["name"] == way}
    return {n: here.achieved_tflops(took, 1, 16, n, d) for n, took in rows.items() if took}


def between(low: int, high: int, *runs: dict[int, float]) -> bool:
    """Whether those from 4,096 tokens on reach from one whole number to another."""
    long = [speed for speeds in runs for n, speed in speeds.items() if n >= 4096]
    return (round(min(long)), round(max(long))) == (low, high)


FIRST, SECOND = "2026-11-26", "2026-11-27"
LONG = (4096, 8192, 16384)


@lesson.says(
    "`sdpa` is PyTorch's call, free to choose: it takes cuDNN here, and from 4,096 tokens on "
    "comes to 537 to 641 TFLOP/s. FlashAttention-2 alone reaches 314 to 354. `naive` writes down "
    "all scores and stays below 115.",
    "On the two H100s, with d = 128, it came to 316 to 471 TFLOP/s from 4,096 tokens on: as much as "
    "FlashAttention-2 there or more, and 58 to 85 % of cuDNN.",
)
def what_was_recorded_is_as_told() -> None:
    sdpa, flash, cudnn, naive, triton = (
        [measured(way, day) for day in (FIRST, SECOND)]
        for way in ("sdpa", "flash", "cudnn", "naive", "triton")
    )
    assert between(537, 641, *sdpa)
    assert between(314, 354, *flash)
    assert between(316, 471, *triton)
    assert max(max(run.values()) for run in naive) < 115
    shares = [own[n] / best[n] for own, best in zip(triton, cudnn, strict=True) for n in LONG]
    assert (round(min(shares), 2), round(max(shares), 2)) == (0.58, 0.85)
    assert all(own[n] > theirs[n] for own, theirs in zip(triton, flash, strict=True) for n in LONG)
    for run, best in zip(sdpa, cudnn, strict=True):
        assert all(run[n] == pytest.approx(best[n], rel=0.12) for n in LONG)


@lesson.says(
    "These are two H100s of one kind, a day apart, with the same versions and command. On the later day most take 1 to 19 % longer.",
)
def two_cards_of_one_kind_differ_and_their_order_does_not() -> None:
    for part in ("device", "driver", "versions", "command"):
        assert RECORDS[FIRST][part] == RECORDS[SECOND][part]
    first, second = (
        [measured(way, day) for way in ("naive", "efficient", "flash", "triton", "cudnn")]
        for day in (FIRST, SECOND)
    )
    longer = [one[n] / other[n] for one, other in zip(first, second, strict=True) for n in LONG]
    assert (round(min(longer), 2), round(max(longer), 2)) == (1.01, 1.19)
    for n in LONG:
        for ways in (first, second):
            speeds = [way[n] for way in ways]
            assert sorted(speeds) == speeds


# On a GPU -------------------------------------------------------------------------------------

EFFICIENT, CUDNN = SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION
BACKENDS = (MATH, FLASH, EFFICIENT, CUDNN)
sdpa: Any = F.scaled_dot_product_attention


def on_gpu(*shape: int, dtype: torch.dtype = torch.float16, seed: int = 0) -> list[Tensor]:
    return [each.cuda() for each in drawn(seed, *shape, dtype=dtype)]


def takes(backend: SDPBackend, *qkv: Tensor, **how: object) -> bool:
    return bool(here.why_not(backend, *qkv, **how) == "ran")


@lesson.says(
    "| `MATH` | scores, softmax and mix, one after the other | all floats |",
    "| float16 and bfloat16; one width for q, k and v, up to 256; no mask, but `is_causal` if N = M; an A100 or newer |",
    "| float32, masks and another width for v, too; widths that are multiples of 4 in float32, else of 8; older GPUs |",
    "| float16 and bfloat16; masks and another width for v, too; widths that are multiples of 8 |",
    gpu=True,
)
def each_backend_takes_what_the_table_says() -> None:
    """Not tried: older GPUs."""
    mask = torch.ones(64, 64, dtype=torch.bool, device="cuda").tril()
    for dtype in (torch.float64, torch.float32, *HALVES):
        half, short = dtype in HALVES, dtype != torch.float64
        q, k, v = on_gpu(2, 4, 64, 64, dtype=dtype)
        narrow, odd = v[..., :32].contiguous(), v[..., :5].contiguous()
        for inputs, how, flash, efficient, cudnn in (
            ((q, k, v), {}, half, short, half),
            ((q, k, v), {"is_causal": True}, half, short, half),
            ((q[:, :, :10], k, v), {"is_causal": True}, False, short, half),
            ((q, k, v), {"attn_mask": mask}, False, short, half),
            ((q, k, narrow), {}, False, short, half),
            ((q, k, odd), {}, False, False, False),
        ):
            told = [takes(backend, *inputs, **how) for backend in BACKENDS]
            assert told == [True, flash, efficient, cudnn], (dtype, how, told)
        for d in (4, 5, 8, 20, 100, 128, 256, 264):
            told = [takes(each, *on_gpu(2, 4, 64, d, dtype=dtype)) for each in BACKENDS[1:]]
            efficient = short and d % (8 if half else 4) == 0
            assert told == [half and d <= 256, efficient, half and d % 8 == 0 and d <= 256], (
                dtype,
                d,
            )


@lesson.says(
    "The list is flash, efficient, math. On an H100 or a B200 with a cuDNN newer than 9.15, cuDNN "
    "comes first;",
    gpu=True,
)
def the_first_of_the_list_that_takes_them_runs() -> None:
    newer = torch.backends.cudnn.version() > 91500 and torch.cuda.get_device_capability()[0] in (
        9,
        10,
    )
    mask = torch.ones(64, 64, dtype=torch.bool, device="cuda").tril()
    for inputs, how, expected in (
        (on_gpu(2, 4, 64, 64), {}, "cudnn" if newer else "flash"),
        (on_gpu(2, 4, 64, 20), {}, "flash"),
        (on_gpu(2, 4, 64, 64), {"attn_mask": mask}, "cudnn" if newer else "efficient"),
        (on_gpu(2, 4, 64, 264), {}, "efficient"),
        (on_gpu(2, 4, 64, 64, dtype=torch.float32), {}, "efficient"),
        (on_gpu(2, 4, 64, 64, dtype=torch.float64), {}, "math"),
    ):
        assert expected in here.which_ran(*inputs, **how), (
            expected,
            here.which_ran(*inputs, **how),
        )
    with sdpa_kernel([MATH, EFFICIENT, FLASH]):
        assert "flash" in here.which_ran(*on_gpu(2, 4, 64, 64))


@lesson.says(
    "In half precision both paths are nearer to the exact answer here than naive attention.",
    gpu=True,
)
def every_backend_is_nearer_than_naive_in_half_precision(seed: int) -> None:
    for dtype in HALVES:
        q, k, v = on_gpu(1, 4, 512, 64, dtype=dtype, seed=seed)
        exact, naive = exactly(q, k, v), here.attend(q, k, v)[0]
        for backend in BACKENDS:
            assert off(only(backend, q, k, v), exact) < off(naive, exact), (dtype, backend)


def spans(run: Callable[[], object], hurried: bool = False) -> float:
    """The median of twenty calls in seconds; `hurried` stops the clock when the call returns."""
    times = []
    for _ in range(23):
        torch.cuda.synchronize()
        start = perf_counter()
        run()
        if not hurried:
            torch.cuda.synchronize()
        times.append(perf_counter() - start)
    return median(times[3:])


@lesson.says(
    "A call to a GPU returns before the work is done.",
    "In the first you measure the handing over, which does not know N.",
    "The work grows, that time stands still, and the speed that you work out grows.",
    "**Warm up**, three calls or more: the first ones load kernels, ask for memory and choose algorithms.",
    gpu=True,
)
def a_clock_without_waiting_sees_the_handing_over() -> None:
    short, long = on_gpu(1, 8, 1024, 64), on_gpu(1, 8, 16384, 64)
    q, k, v = on_gpu(1, 4, 1280, 72)
    first, again = (spans_of_one(lambda: only(FLASH, q, k, v)) for _ in range(2))
    assert first > 1.5 * again, (first, again)
    with sdpa_kernel(FLASH):
        handed = [spans(partial(sdpa, *x), True) for x in (short, long)]
        whole = [spans(partial(sdpa, *x)) for x in (short, long)]
    assert whole[1] > 10 * whole[0], whole
    assert handed[1] < 3 * handed[0], handed
    assert handed[1] < whole[1] / 10, (handed, whole)


def spans_of_one(run: Callable[[], object]) -> float:
    torch.cuda.synchronize()
    start = perf_counter()
    run()
    torch.cuda.synchronize()
    return perf_counter() - start


@lesson.says(
    "For twice the tokens, math holds four times the memory and flash twice: the output and one "
    "number for each query.",
    "(On a GPU, 64 heads are measured. One alone would leave it idle: flash would share its keys "
    "out among the processors, and hold an output of each share.",
    gpu=True,
)
def flash_holds_shares_where_heads_are_few() -> None:
    def held(backend: SDPBackend, heads: int, n: int) -> int:
        q, k, v = on_gpu(heads, 1, n, 64)
        with patch.object(here, "device", "cuda", create=True):
            only(backend, q, k, v)  # what is made once and stays
            return int(here.peak_bytes(lambda: only(backend, q, k, v)))

    for n in (512, 1024):
        assert held(FLASH, 64, n) == pytest.approx(64 * n * (2 * 64 + 4), rel=0.05)
        assert held(FLASH, 64, 2 * n) / held(FLASH, 64, n) == pytest.approx(2, rel=0.05)
        assert held(MATH, 64, 2 * n) / held(MATH, 64, n) == pytest.approx(4, rel=0.1)
    assert held(FLASH, 1, 2048) > 4 * 2048 * (2 * 64 + 4)
    assert held(FLASH, 1, 2048) / held(FLASH, 1, 1024) > 3
    q, k, v = on_gpu(1, 1, 2048, 64)
    for heads, word in ((1, True), (64, False)):
        many = [each.expand(heads, -1, -1, -1).contiguous() for each in (q, k, v)]
        with kineto(activities=[ProfilerActivity.CUDA]) as watched:
            only(FLASH, *many)
            torch.cuda.synchronize()
        names = [event.key for event in watched.key_averages()]
        assert any("splitkv" in name for name in names) == word, names


@lesson.says(
    "Decode has a thousandth of the operations. What share of its peak speed can the GPU reach there?",
    "computing limits a prefill of 1,024 tokens, moving limits decode.",
    gpu=True,
)
def decoding_waits_for_memory() -> None:
    """A decode of twice the queries takes as long, a prefill of twice the queries twice as long."""
    best = peak("cuda", "float16")
    k, v = (torch.randn(64, 8, 8192, 64, device="cuda", dtype=torch.float16) for _ in range(2))
    took = {}
    for queries in (1, 2, 1024, 2048):
        q = torch.randn(64, 8, queries, 64, device="cuda", dtype=torch.float16)
        with sdpa_kernel(FLASH):
            took[queries] = spans(partial(sdpa, q, k, v))
        reached = 4 * 64 * 8 * queries * 8192 * 64 / took[queries] / best.flops
        assert reached < 0.01 if queries == 1 else True, reached
    assert took[2] < 1.3 * took[1], took
    assert took[2048] > 1.7 * took[1024], took


@lesson.says("At 1,024 tokens 16 heads leave much of the GPU idle.", gpu=True)
def more_heads_at_once_are_faster_where_texts_are_short() -> None:
    speeds = []
    for heads in (16, 1024):
        q, k, v = (torch.randn(1, heads, 1024, 128, device="cuda").half() for _ in range(3))
        took = spans(partial(sdpa, q, k, v))
        speeds.append(here.achieved_tflops(took, 1, heads, 1024, 128))
    assert speeds[1] > 1.8 * speeds[0], speeds


@lesson.says("Is it right? With one tile of keys nothing has to be corrected.", gpu=True)
def both_kernels_are_fair_on_a_gpu(seed: int) -> None:
    """The package's in every dtype, and the lesson's with the line that is missing."""
    from attnlab.lessons.gpu_sdpa import kernel

    for dtype in (torch.float32, *HALVES):
        for n, m, d, causal in (
            (300, 300, 64, False),
            (333, 444, 40, True),
            (77, 1000, 128, False),
        ):
            q = on_gpu(2, 3, n, d, dtype=dtype, seed=seed)[0]
            k, v = on_gpu(2, 3, m, d, dtype=dtype, seed=seed + 1)[:2]
            seen = torch.ones(n, m, dtype=torch.bool, device="cuda").tril() if causal else None
            exact = here.attend(q.double(), k.double(), v.double(), seen)[0]
            naive = here.attend(q, k, v, seen)[0]
            assert here.is_fair(kernel.attention(q, k, v, causal=causal), naive, exact), (dtype, n)
    told = [in_triton.compared(line, on_gpu=True) for line in ("", in_triton.line())]
    assert [text.count("fair: True") for text in told] == [1, 4], told
