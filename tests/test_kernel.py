"""Lesson 13's kernel without a GPU: numbers in Triton's interpreter, compiling, refusals.

`attnlab.bench` times the package's kernel, and the lesson shows it with one line left blank.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from attnlab import figures
from tests import in_triton

pytestmark = [
    pytest.mark.lessons(in_triton.SLUG),
    pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed"),
]

START = """
import json, torch
from attnlab.lessons.gpu_sdpa import kernel
"""
FAIRNESS = """
def naive(q, k, v, causal):
    scores = q @ k.mT * q.shape[-1] ** -0.5
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf)
    return scores.softmax(dim=-1) @ v

def errors(dtype, causal, n, m, d, laid, spread):
    made = torch.Generator().manual_seed(n + m + d)
    def tensor(tokens):
        if laid == "heads last":
            return torch.randn(1, tokens, 3, d, generator=made).transpose(1, 2)
        if laid == "every other":
            return torch.randn(2, 1, 2 * tokens, 2 * d, generator=made)[:, :, ::2, ::2]
        return torch.randn(1, 2, tokens, d, generator=made)
    q, k, v = (tensor(tokens).mul(spread).to(getattr(torch, dtype)) for tokens in (n, m, m))
    exact = naive(q.double(), k.double(), v.double(), causal)
    out = kernel.attention(q, k, v, causal=causal)
    assert out.shape == q.shape and out.dtype == q.dtype
    return [float((each - exact).abs().max()) for each in (out, naive(q, k, v, causal))]

print(json.dumps([errors(*case) for case in CASES]))
"""
REFUSALS = """
def said(*args, **kwargs):
    try:
        kernel.attention(*args, **kwargs)
    except ValueError as error:
        return str(error)
    return "nothing was refused"

q = torch.ones(2, 3, 5, 8)
wide, none, other = torch.ones(1, 1, 2, 300), torch.ones(1, 1, 0, 8), q.to("meta")
print(json.dumps([
    said(q, q, q),
    said(q[0], q[0], q[0]),
    said(q, q, q[..., :4]),
    said(q, q[:, :1], q[:, :1]),
    said(wide, wide, wide),
    said(none, none, none),
    said(q.double(), q.double(), q.double()),
    said(q, q.half(), q),
    said(q, other, other),
]))
"""
GRADIENTS = """
q = torch.ones(1, 1, 5, 8, requires_grad=True)
try:
    kernel.attention(q, q, q)
except ValueError as error:
    refused = str(error)
with torch.no_grad():
    print(json.dumps([refused, kernel.attention(q, q, q).tolist()]))
"""
# As Triton would do at the first call on a GPU, up to what the GPU would load. PyTorch's tensors
# begin at multiples of 16 bytes, which Triton asks them and here is told.
COMPILED = """
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

kernel_ = kernel.forward
tile = kernel.TILES[2]
fixed = {"D": 64, "WIDTH": 64, "CAUSAL": True, "DOT": tl.float16, **tile.kwargs}
types, constants, known = {}, {}, {}
for at, name in enumerate(kernel_.arg_names):
    if name in fixed:
        types[name], constants[at,] = "constexpr", fixed[name]
    elif name.endswith("_start"):
        types[name], known[at,] = "*fp16", [["tt.divisibility", 16]]
    else:
        types[name] = "fp32" if name == "scale" else "i32"
found = []
for capability in CAPABILITIES:
    made = triton.compile(
        ASTSource(kernel_, types, constants, known),
        target=GPUTarget("cuda", capability, 32),
        options={"num_warps": tile.num_warps, "num_stages": tile.num_stages},
    )
    made_of = [word in made.asm["ptx"] for word in ("wgmma", "mma", "cp.async")]
    found.append([made.metadata.shared < 100 * 1024, *made_of])
print(json.dumps(found))
"""


def answer(code: str, interpret: bool) -> Any:
    """What a process prints, as JSON."""
    return json.loads(in_triton.run(START + code, interpret))


# N and M that are and are not whole tiles (32 queries, 16 keys), one of them alone, d to be padded.
CASES = [
    (dtype, causal, *sizes, spread)
    for dtype in ("float16", "bfloat16", "float32")
    for causal in (False, True)
    for sizes, spread in [
        ((1, 1, 16, "plain"), 1.0),
        ((64, 64, 16, "heads last"), 1.0),
        ((71, 71, 24, "plain"), 1.0),
        ((37, 50, 3, "every other"), 1.0),
        ((50, 33, 32, "plain"), 4.0),
    ]
]


@cache
def found() -> list[list[float]]:
    """The kernel's largest error and naive attention's, in each case."""
    code = f"CASES = {CASES!r}\n{FAIRNESS}"
    return [list(each) for each in answer(code, interpret=True)]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: "-".join(map(str, case)))
def test_its_error_is_at_most_twice_that_of_naive_attention(case: Any) -> None:
    error, naive = found()[CASES.index(case)]
    assert error <= 2 * naive


@pytest.mark.slow
def test_what_it_cannot_take_is_refused_in_a_sentence() -> None:
    said = answer(REFUSALS, interpret=False)
    for sentence, wanted in zip(
        said,
        [
            "the kernel runs on a GPU. To read along on a CPU, set TRITON_INTERPRET=1",
            "four axes each; these are (3, 5, 8), (3, 5, 8), (3, 5, 8)",
            "with the same B, H and d; these are (2, 3, 5, 8), (2, 3, 5, 8), (2, 3, 5, 4)",
            "with the same B, H and d; these are (2, 3, 5, 8), (2, 1, 5, 8), (2, 1, 5, 8)",
            "d is 300, and the kernel takes at most 256",
            "an axis is empty: (1, 1, 0, 8)",
            "these are torch.float64, torch.float64 and torch.float64; the kernel takes float16",
            "torch.float32, torch.float16 and torch.float32",
            "are on cpu, meta and meta, not on one",
        ],
        strict=True,
    ):
        assert wanted.removeprefix("these are ") in sentence


@pytest.mark.slow
def test_gradients_are_not_lost_in_silence() -> None:
    refused, out = answer(GRADIENTS, interpret=True)
    assert "call it under torch.no_grad()" in refused
    assert out == [[[[1.0] * 8] * 5]]


@pytest.mark.slow
def test_it_compiles_for_gpus_tensor_cores_and_copies_ahead_without_one() -> None:
    found = answer(f"CAPABILITIES = 80, 90, 100\n{COMPILED}", interpret=False)
    assert found == [[True, newer, True, True] for newer in (False, True, False)]


def test_the_lesson_shows_the_kernel_that_is_timed() -> None:
    text = Path(figures.gpu_sdpa.__file__ or "").with_name("kernel.py").read_text(encoding="utf-8")
    assert in_triton.kernel(in_triton.line()) in text


@pytest.mark.slow
def test_the_lessons_cells_are_right_with_the_line_and_say_what_is_missing_without() -> None:
    missing = "Not written yet: the line that makes `shrink`."
    told = [in_triton.compared(line) for line in ("", in_triton.line())]
    assert [each.count("fair: True") for each in told] == [1, 4]
    assert [missing in each for each in told] == [True, False]


@pytest.mark.slow
def test_the_lesson_goes_on_where_triton_is_missing() -> None:
    told = in_triton.compared(first="import sys; sys.modules['triton'] = None")
    assert "Triton is not installed here" in told
    assert "fair" not in told
