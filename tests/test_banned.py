"""PyTorch's own attention is refused while it is to be written, and nobody else is accused.

Each program is tried twice: by the notebook's `check` and by the grader. It begins with PRELUDE;
`right` is a right answer under another name.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attnlab.calling import banned
from attnlab.notebook import check
from autograder.run.grade import Grader
from autograder.sandbox.limits import Limits
from tests.test_grade import TORCH, by_name, grader_of, notebook

pytestmark = pytest.mark.slow

PRELUDE = """
import math, functools, threading, types
import torch
import torch.nn.functional as F
from torch import nn


def right(x, Wq, Wk, Wv):
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    future = torch.triu(torch.ones(x.shape[1], x.shape[1]), diagonal=1).bool()
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = F.softmax(scores.masked_fill(future, -torch.inf), dim=-1)
    return weights @ v, weights
"""


def returns(call: str) -> str:
    """An answer whose output is what a call makes of q, k and v."""
    return (
        "def attention(x, Wq, Wk, Wv):\n    q, k, v = x @ Wq, x @ Wk, x @ Wv\n"
        f"    return {call}, right(x, Wq, Wk, Wv)[1]"
    )


MULTI_HEAD = "mha(q, q, q, need_weights=True)[0]"
SLY = {
    "plainly": returns("F.scaled_dot_product_attention(q, k, v, is_causal=True)"),
    "imported by name": "from torch.nn.functional import scaled_dot_product_attention as mix\n"
    + returns("mix(q, k, v, is_causal=True)"),
    "partial": "mix = functools.partial(F.scaled_dot_product_attention, is_causal=True)\n"
    + returns("mix(q, k, v)"),
    "default argument": "def mix(q, k, v, f=F.scaled_dot_product_attention): return f(q, k, v)\n"
    + returns("mix(q, k, v)"),
    "name in halves": returns("getattr(F, 'scaled_dot_' + 'product_attention')(q, k, v)"),
    "by the dictionary": returns("vars(F)['noitnetta_tcudorp_tod_delacs'[::-1]](q, k, v)"),
    "C++ module": returns("torch._C._nn.scaled_dot_product_attention(q, k, v)"),
    "operator": returns("torch.ops.aten.scaled_dot_product_attention(q, k, v)"),
    "overload": returns("torch.ops.aten.scaled_dot_product_attention.default(q, k, v)"),
    "math kernel": returns("torch._scaled_dot_product_attention_math(q, k, v)[0]"),
    "CPU kernel": returns(
        "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu("
        "q[None], k[None], v[None], 0.0, True)[0][0]"
    ),
    "flexible, below its face": "from torch._higher_order_ops import flex_attention as flexible\n"
    "from torch.nn.attention.flex_attention import create_block_mask, noop_mask\n"
    "def mix(q, k, v):\n"
    "    mask = create_block_mask(noop_mask, None, None, q.shape[1], k.shape[1], 'cpu')\n"
    "    plain, four = lambda score, *at: score, (part[:, None] for part in (q, k, v))\n"
    "    return flexible(*four, plain, mask.as_tuple(), 0.5, {})[0][:, 0]\n"
    + returns("mix(q, k, v)"),
    "flexible, by its parts": "import sys, torch.nn.attention.flex_attention as face\n"
    "parts = sys.modules['torch._higher_order_ops.flex_attention']\n"
    "def mix(q, k, v):\n"
    "    plain, four = lambda score, *at: score, (part[:, None] for part in (q, k, v))\n"
    "    mask = (face.noop_mask,)\n"
    "    return getattr(parts, 'math_' + 'attention')(*four, plain, mask, 0.5, {})[0][:, 0]\n"
    + returns("mix(q, k, v)"),
    "ONNX's operator": "import torch.onnx.ops\n"
    + returns(
        "torch.ops.onnx.Attention.opset23(q[:, None], k[:, None], v[:, None], None, None, None, "
        "softcap=30.0)[0][:, 0]"
    ),
    "in a thread": returns(
        "[out := [], t := threading.Thread(target=lambda: out.append("
        "F.scaled_dot_product_attention(q, k, v))), t.start(), t.join()] and out[0]"
    ),
    "modes off": "from torch.utils._python_dispatch import _disable_current_modes\n"
    "def mix(*args):\n    with _disable_current_modes(), torch._C.DisableTorchFunction():\n"
    "        return F.scaled_dot_product_attention(*args)\n" + returns("mix(q, k, v)"),
    "and catches the refusal": "def mix(q, k, v):\n    try:\n"
    "        return F.scaled_dot_product_attention(q, k, v)\n    except Exception:\n"
    "        return right(x, Wq, Wk, Wv)[0]\n"
    "def attention(x_, *W):\n    global x, Wq, Wk, Wv\n    x, Wq, Wk, Wv = x_, *W\n"
    "    return mix(x @ Wq, x @ Wk, x @ Wv), right(x, *W)[1]",
    "module": "mha = nn.MultiheadAttention(3, 1, batch_first=True, dtype=torch.float64)\n"
    + returns(f"[globals().update(mha=nn.MultiheadAttention(q.shape[-1], 1)), {MULTI_HEAD}][1]"),
    "module, its forward": "forward = nn.MultiheadAttention.forward\n"
    + returns("forward(nn.MultiheadAttention(q.shape[-1], 1), q, q, q)[0]"),
    "module, its fast path": returns(
        "nn.MultiheadAttention(q.shape[-1], 1, batch_first=True).eval()(q, q, q)[0]"
    ),
    "function": "from torch.nn.functional import multi_head_attention_forward as mix\n"
    + returns(
        "mix(q, q, q, (d := q.shape[-1]), 1, torch.eye(d).repeat(3, 1), None, None, None, False,"
        " 0.0, torch.eye(d), None)[0]"
    ),
    "in vmap": returns("torch.vmap(F.scaled_dot_product_attention)(q[None], k[None], v[None])[0]"),
    "math kernel, in vmap": returns(
        "torch.vmap(lambda q: torch._scaled_dot_product_attention_math(q, q, q)[0])(q[None])[0]"
    ),
    "quantizable module": returns(
        "torch.ao.nn.quantizable.MultiheadAttention(q.shape[-1], 1)(q, q, q)[0]"
    ),
    "ONNX operator": returns(
        "__import__('torch.onnx.ops', fromlist=['x']).attention(q[:, None], k[:, None], v[:, None])"
    ),
    "encoder layer": returns("nn.TransformerEncoderLayer(q.shape[-1], 1, 4).eval()(q)"),
    "decoder layer": returns("nn.TransformerDecoderLayer(q.shape[-1], 1, 4)(q, q)"),
    "flex attention": returns(
        "__import__('torch.nn.attention.flex_attention', fromlist=['x'])"
        ".flex_attention(q[:, None], k[:, None], v[:, None])[:, 0]"
    ),
    "flex attention, loaded before": "import torch.nn.attention.flex_attention as flex\n"
    + returns("flex.flex_attention(q[:, None], k[:, None], v[:, None])[:, 0]"),
}
HONEST = {
    "a method of one's own": "class Mine:\n"
    "    def scaled_dot_product_attention(self, *args): return right(*args)\n"
    "def attention(x, Wq, Wk, Wv): return Mine().scaled_dot_product_attention(x, Wq, Wk, Wv)",
    "an object of one's own": "class Mine:\n"
    "    def scaled_dot_product_attention(self, *args): return right(*args)\n"
    "core = Mine()\nattention = core.scaled_dot_product_attention",
    "a function of one's own": "def scaled_dot_product_attention(*args): return right(*args)\n"
    "def attention(x, Wq, Wk, Wv): return scaled_dot_product_attention(x, Wq, Wk, Wv)",
    "a dictionary's key": "KINDS = {'scaled_dot_product_attention': right}\n"
    "def attention(*args): return KINDS['scaled_dot_product_attention'](*args)",
    "a label": "label = 'Transformer'\n"
    "def attention(*args):\n    print(label, 'MultiheadAttention', 'flex_attention')\n"
    "    return right(*args)",
    "an operator of one's own": "operator = torch.library.custom_op\n"
    "@operator('mine::attention_scores', mutates_args=())\n"
    "def attention_scores(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor: return q @ k.mT\n"
    "attention_scores.register_autograd(\n"
    "    lambda ctx, g: (g @ ctx.k, g.mT @ ctx.q),\n"
    "    setup_context=lambda ctx, inputs, output: ctx.__dict__.update(q=inputs[0], k=inputs[1]))\n"
    "def attention(x, Wq, Wk, Wv):\n    q, k, v = x @ Wq, x @ Wk, x @ Wv\n"
    "    future = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()\n"
    "    scores = attention_scores(q, k) / math.sqrt(q.shape[-1])\n"
    "    weights = scores.masked_fill(future, -torch.inf).softmax(-1)\n"
    "    return weights @ v, weights",
    "a mask of PyTorch's transformer": "def attention(x, Wq, Wk, Wv):\n"
    "    mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)\n"
    "    q, k, v = x @ Wq, x @ Wk, x @ Wv\n"
    "    weights = (q @ k.mT / math.sqrt(q.shape[-1]) + mask).softmax(-1)\n"
    "    return weights @ v, weights",
    "a comparison beside it": "attention = right\n"
    "x, W = torch.randn(2, 5, 4), torch.randn(4, 4)\n"
    "want = F.scaled_dot_product_attention(x @ W, x @ W, x @ W, is_causal=True)\n"
    "print((attention(x, W, W, W)[0] - want).abs().max())\n"
    "mha = nn.MultiheadAttention(4, 1)(x, x, x)",
    "a compiled function": "@torch.compile(backend='eager')\n"
    "def scores(q, k): return q @ k.mT / math.sqrt(q.shape[-1])\n"
    "def attention(x, Wq, Wk, Wv):\n    q, k, v = x @ Wq, x @ Wk, x @ Wv\n"
    "    future = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()\n"
    "    weights = scores(q, k).masked_fill(future, -torch.inf).softmax(-1)\n"
    "    return weights @ v, weights",
    "an import of what is refused": "def attention(*args):\n"
    "    import torch.nn.attention.bias, torch.nn.attention.flex_attention\n"
    "    return right(*args)",
    "a kernel of something else": "kernel = torch.library.get_kernel('aten::exp', 'CPU')\n"
    "keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)\n"
    "print(kernel.call_boxed(keys, torch.ones(2)))\nattention = right",
    "an import that it does not use": "from torch.nn.functional import *\n"
    "from torch.nn import MultiheadAttention\nattention = right",
}


def checked(program: str) -> tuple[str, float]:
    """Status and score that the notebook's check gives."""
    names: dict[str, object] = {"__name__": "program"}
    exec(PRELUDE + program, names)
    verdict = check(names["attention"], name="attention", lesson=TORCH).verdict
    return verdict.status, verdict.score


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with grader_of(TORCH, limits=Limits()) as grader:
        yield grader


def graded(grader: Grader, program: str) -> tuple[str, float]:
    """Status and score that the grader gives; the other exercises lose nothing."""
    results = by_name(grader.grade(notebook({"attention": PRELUDE + program}, slug=TORCH), "s"))
    assert {result.status for name, result in results.items() if name != "attention"} == {"PASS"}
    return results["attention"].status, results["attention"].score


def some(programs: dict[str, str], every: int = 4) -> list[Any]:
    """The grader refuses by the same code as the notebook: few here, all by `make prove`."""
    return [
        how if at % every == 0 else pytest.param(how, marks=pytest.mark.prove)
        for at, how in enumerate(programs)
    ]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("how", SLY)
def test_pytorchs_own_attention_is_refused(how: str) -> None:
    assert checked(SLY[how]) == ("POLICY", 0.0)


@pytest.mark.parametrize("how", some(SLY))
def test_pytorchs_own_attention_is_refused_by_the_grader(grader: Grader, how: str) -> None:
    assert graded(grader, SLY[how]) == ("POLICY", 0.0)


@pytest.mark.parametrize("how", HONEST)
def test_an_honest_program_keeps_its_points(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.notebook.SECONDS", 60.0)  # compiling takes long on a busy machine
    assert checked(HONEST[how]) == ("PASS", 5.0)


@pytest.mark.parametrize("how", some(HONEST))
def test_an_honest_program_keeps_its_points_in_the_grader(grader: Grader, how: str) -> None:
    assert graded(grader, HONEST[how]) == ("PASS", 5.0)


BACK = {
    "plainly": "torch._softmax_backward_data(g, w, -1, w.dtype)",
    "into a tensor of one's own": "torch._softmax_backward_data(g, w, -1, w.dtype,"
    " grad_input=torch.empty_like(w))",
    "operator": "torch.ops.aten._softmax_backward_data.default(g, w, -1, w.dtype)",
    "masked": "torch.ops.aten._masked_softmax_backward(g, w, w < 0, -1)",
    "of log-softmax": "torch._log_softmax_backward_data(g, w.log(), -1, w.dtype)",
    "autograd": "torch.autograd.grad((s := w.log().requires_grad_()).softmax(-1), s, g)[0]",
    "autograd, log-softmax": "torch.autograd.grad("
    "(s := w.log().requires_grad_()).log_softmax(-1).exp(), s, g)[0]",
    "vjp": "torch.func.vjp(lambda s: s.softmax(-1), w.log())[1](g)[0]",
    "vmap": "torch.vmap(lambda g, w: torch._softmax_backward_data(g, w, -1, w.dtype))"
    "(g[None], w[None])[0]",
}


@pytest.fixture(scope="module")
def grader_of_05() -> Iterator[Grader]:
    with grader_of("05-pytorch", limits=Limits()) as grader:
        yield grader


def back(how: str) -> str:
    return f"import torch\ndef softmax_backward(w, g): return {BACK[how]}"


@pytest.mark.parametrize("how", BACK)
def test_softmaxs_own_way_back_is_refused(how: str) -> None:
    exec(back(how), names := {"__name__": "program"})
    verdict = check(names["softmax_backward"], name="softmax_backward", lesson="05-pytorch").verdict
    assert (verdict.status, verdict.score) == ("POLICY", 0.0)
    assert verdict.diagnosis is not None
    assert verdict.diagnosis.slug == "banned-backward"


@pytest.mark.parametrize("how", some(BACK))
def test_softmaxs_own_way_back_is_refused_by_the_grader(grader_of_05: Grader, how: str) -> None:
    data = notebook({"softmax_backward": back(how)}, slug="05-pytorch")
    results = by_name(grader_of_05.grade(data, "s"))
    assert {name: result.status for name, result in results.items()} == {
        "scaled_dot_product_attention": "PASS",  # whose slopes go that way
        "softmax_backward": "POLICY",
        "SelfAttention": "PASS",
    }


def test_the_refusal_says_what_to_write_instead() -> None:
    exec(PRELUDE + SLY["plainly"], names := {"__name__": "program"})
    card = check(names["attention"], name="attention", lesson=TORCH)
    assert "scaled_dot_product_attention" in card.verdict.message
    assert "the weighted sum" in str(card)


def test_a_name_in_the_answers_cell_is_flagged_and_costs_nothing(grader: Grader) -> None:
    data = notebook({"attention": PRELUDE + HONEST["a comparison beside it"]}, slug=TORCH)
    result = grader.grade(data, "s").result
    assert result.score == result.max_score
    assert result.flags == ("attention: its cell names scaled_dot_product_attention",)


def test_all_is_given_back_after_a_call_however_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attnlab.notebook.SECONDS", 0.5)

    def works() -> bool:
        q = torch.ones(2, 3, 4)
        out = F.scaled_dot_product_attention(q, q, q)
        return bool((out == 1).all()) and nn.MultiheadAttention(4, 1)(q, q, q)[0].shape == q.shape

    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    def endless(*args: object) -> None:
        while True:
            pass

    forward = nn.MultiheadAttention.forward.__code__
    for answer in (interrupted, lambda *args: F.scaled_dot_product_attention(*args[:3]), endless):
        check(answer, name="attention", lesson=TORCH)
        assert works()
        assert nn.MultiheadAttention.forward.__code__ is forward


def test_every_kernel_and_function_on_the_list_exists() -> None:
    names = {name.partition(".")[0] for kernels in banned.KERNELS.values() for name in kernels}
    assert all(hasattr(torch.ops.aten, name) for name in names)
    assert len(banned.functions()) == len(banned.FUNCTIONS)


def test_refusing_does_not_load_the_compiler() -> None:
    """Which would add more than a second to the first check of a notebook."""
    code = (
        "import sys, torch; from attnlab.calling.banned import refusing\n"
        "with refusing(): torch.ones(2) @ torch.ones(2)\n"
        "assert 'torch._dynamo' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_module_inside_ones_own_is_told_as_what_it_is() -> None:
    class Borrowed(nn.Module):
        def __init__(self, d: int, n_heads: int, bias: bool = True) -> None:
            super().__init__()
            self.W_q, self.W_k = nn.Linear(d, d, bias), nn.Linear(d, d, bias)
            self.W_v, self.W_o = nn.Linear(d, d, bias), nn.Linear(d, d, bias)
            self.inner = nn.MultiheadAttention(d, n_heads, bias=bias, batch_first=True)

        def forward(self, x: torch.Tensor, causal: bool = False) -> object:
            return self.inner(self.W_q(x), self.W_k(x), self.W_v(x), average_attn_weights=False)

    verdict = check(Borrowed, name="MultiHeadAttention", lesson="07-multi-head").verdict
    assert (verdict.status, verdict.score) == ("POLICY", 0.0)
    assert "MultiheadAttention" in verdict.message
