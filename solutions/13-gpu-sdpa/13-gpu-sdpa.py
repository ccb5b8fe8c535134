# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 13 · The call you use in production
#
# You have written attention with lists, arrays, tensors and tiles. In production you write it in one line, and
# let PyTorch choose the program that runs. This lesson is about that line: which program ran, why another one refused, whether
# its error is fair, how fast it is, and how fast it could be at best. At the end you read the loop at the heart of a kernel for a GPU.
#
# | | |
# |---|---|
# | **You will be able to** | call PyTorch's attention and say which kernel ran and why others did not; judge an error in half precision by a rule; time a call and measure its memory so that the numbers hold; count operations and bytes, and tell from them what limits a kernel |
# | **Minutes** | about 80 |
# | **You need** | lessons 05 to 07 and 11: batched attention, masks, heads, tiles, decoding |
# | **Runs on** | CPU, in full; needs no network. With an NVIDIA GPU and a PyTorch built for CUDA (its [install page](https://pytorch.org/get-started/locally/) gives the command) the cells take the GPU |
# | **Points** | 8, in six exercises |
#
# The picture is a library's reference desk, once more: **queries** are what readers ask, **keys** what spines promise, **values**
# what pages say. By now the desk has staff. You hand in a slip, and one of four clerks does the work; each has rules about slips that they
# take. The running sentence is the slip: ***the cat sat on the mat***, N = 6.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import os
import statistics
import time
import warnings

os.environ["KINETO_LOG_LEVEL"] = "6"  # PyTorch's profiler keeps its notes to itself
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from attnlab import begin, check, figures

device = "cuda" if torch.cuda.is_available() else "cpu"
usual = torch.float16 if device == "cuda" else torch.float32  # what such a device computes in
begin("13-gpu-sdpa")

# %% [markdown]
# **Where you are.** The block of lesson 02. Lit is what one call of `F.scaled_dot_product_attention` does.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("scores", "scale", "mask", "softmax", "mix")

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Recall
#
# Two questions on earlier lessons. Opening a choice is choosing it.
#
# **1.** In the `attn_mask` of `F.scaled_dot_product_attention`, what does True mean?
#
# <details><summary>A. Blocked</summary>
#
# Not this one: that is how `nn.MultiheadAttention` reads its masks (lesson 06).
#
# </details>
# <details><summary>B. Attend</summary>
#
# Yes. And `is_causal=True` needs no mask at all.
#
# </details>
#
# **2.** Attention in tiles (lesson 11) gives the same numbers as attention at once. What does it save?
#
# <details><summary>A. Operations: about half of them</summary>
#
# Not this one: each query still meets each key.
#
# </details>
# <details><summary>B. Memory: the N × M scores are never there at once</summary>
#
# Yes. Only a tile of them is, with a running maximum and a running sum.
#
# </details>
# <details><summary>C. Precision</summary>
#
# Not this one: what it loses or gains there is rounding.
#
# </details>

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Predict
#
# Commit to a guess. Further down you find out.
#
# **1.** Two sizes of work in float16 on an A100 or an H100, two of NVIDIA's GPUs. *Prefill*, reading a prompt: 1,024 queries meet 1,024 keys. *Decode*, writing one more word: one query meets 1,024 keys. Decode
# has a thousandth of the operations. At what share of its peak speed can the GPU do it?
#
# <details><summary>A. The same share: a thousandth of the work takes a thousandth of the time</summary>
#
# Not this one: the keys and values have to come from memory for one query as for a thousand.
#
# </details>
# <details><summary>B. Below 1 %</summary>
#
# Yes. It waits for memory nearly all the time. *By hand* and *See it* give the share.
#
# </details>
# <details><summary>C. A higher share, as there is less to do</summary>
#
# Not this one: fewer operations for each byte that is fetched leave the arithmetic idle.
#
# </details>
#
# **2.** Naive attention and a fused kernel, both in bfloat16, differ by 0.005 somewhere. How do you find out which of the two is
# further off?
#
# <details><summary>A. By comparing the two with each other, entry by entry</summary>
#
# Not this one: each may be wrong, and their difference does not say which is.
#
# </details>
# <details><summary>B. By comparing both with float64</summary>
#
# Yes. Against an answer that is exact for the purpose, each has an error of its own.
#
# </details>

# %% [markdown]
# ## By hand
#
# Count, for one head with d = 100 in float16, 2 bytes a number. A product of a query with a key counts as d multiplications and d
# additions, and mixing in a value as as many: **4·d operations** for each pair.
#
# | | queries | keys | operations | bytes of q, k, v and out | operations for each byte |
# |---|---|---|---|---|---|
# | **prefill** | 1,000 | 1,000 | 4 · 1,000 · 1,000 · 100 = 4 · 10⁸ | 4 · 1,000 · 100 · 2 = 8 · 10⁵ | 500 |
# | **decode** | 1 | 1,000 | 4 · 1 · 1,000 · 100 = 4 · 10⁵ | about 2 · 1,000 · 100 · 2 = 4 · 10⁵ | 1 |
#
# Now a made-up machine: 10¹² operations a second, 10¹⁰ bytes a second. Prefill computes for 0.4 ms and moves for
# 0.08 ms: computing decides. Decode computes for 0.0004 ms and moves for 0.04 ms: **moving decides**, and the
# arithmetic is in use for one part in a hundred. Redo both rows for d = 50. Which of the last column's two numbers changes?

# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
for name, queries, keys in (("prefill", 1000, 1000), ("decode", 1, 1000)):
    for d in (100, 50):
        operations = 4 * queries * keys * d
        moved = 2 * (2 * queries * d + 2 * keys * d)
        print(f"{name:8} d = {d:3}: {operations / moved:6.1f} operations for each byte")

# %% [markdown]
# Neither: d cancels. In 2 bytes a number, N queries and M keys come to N·M / (N + M). With many keys that is about N: the number of
# queries that share each key.
#
# ## Shape ledger
#
# | symbol | what it is | axes or unit | size in this lesson |
# |---|---|---|---|
# | x | tokens | (B, N, d) | (2, 6, 16) at first |
# | Wq, Wk, Wv | projections | (d, d_k), (d, d_k), (d, d_v) | drawn by the check |
# | q, k, v | with an axis for heads | (B, H, N, d), d of *one head* | (1, 4, 512, 64) and longer |
# | out | output | as q | |
# | FLOP | one multiplication or addition | 1 | 4·B·H·N²·d |
# | FLOP/s, TFLOP/s | speed; 10¹² of them a second | 1/s | |
# | bandwidth | bytes between memory and processor | bytes/s | |
#
# Attention as you know it is given once more. Here it is the *naive* way, which the others are measured by.


# %% nbgrader={"grade": false, "grade_id": "attend", "locked": true, "schema_version": 3, "solution": false, "task": false}
def attend(q, k, v, mask=None):
    """Attention as you built it in lessons 05 and 06.

    Args:
        q: (…, N, d_k).
        k: (…, M, d_k).
        v: (…, M, d_v).
        mask: (…, N, M) bool, True = attend; None lets all attend.
    Returns:
        out (…, N, d_v) and weights (…, N, M); both 0 in a row that has nothing to attend to.
    """
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
        weights = weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return weights @ v, weights


# %% [markdown]
# ## See it
#
# The **roofline** (Williams, Waterman and Patterson 2009) draws what you did by hand: to the right, operations for each byte; upwards, the speed
# that a device can reach at best. On the left memory decides and the line rises; on the right arithmetic decides and it is flat. The bend is where
# both take equally long. The two GPUs' figures are their maker's.
#
# Three works of a layer: *a*, attention in a prefill; *b*, attention as a **batch** of readers decodes, each with a cache of their own; *c*, the four
# projections of these readers, W_q, W_k, W_v and W_o. The slider sets the batch. Guess first: which of the three moves?


# %% nbgrader={"grade": false, "grade_id": "see-roofline", "locked": true, "schema_version": 3, "solution": false, "task": false}
def works(batch, keys=1024, d=4096):
    """Operations and bytes in float16."""
    weights, rows = 4 * d * d, 8 * batch * d  # of four projections; rows go in and come out
    return {
        "prefill, 1,024 tokens": (4 * keys * keys * d, 2 * 4 * keys * d),
        "decode, attention": (4 * batch * keys * d, 2 * batch * 2 * (1 + keys) * d),
        "decode, projections": (2 * batch * weights, 2 * (weights + rows)),
    }


figures.live.Roofline(works, figures.gpu_sdpa.published()["peaks"])

# %% [markdown]
# At 512, prefill, both GPUs are on the flat part. (That is without a mask. Causal it is 256, just left of the H100's bend. A prefill of 128 tokens, at 64, waits for memory.)
# At 1, decoding for one reader, the faster GPU is ahead by its bandwidth alone. At best they reach 1/153 and 1/295 of their peaks there, 0.7 % and 0.3 %: your first
# prediction was right if it was B.
#
# With the batch *c* alone moves: its weights are fetched once for all readers, and from a batch of 256 computing limits it on the A100. *b* stays: each reader brings keys of their own.
#
# ## One call
#
# `F.scaled_dot_product_attention(q, k, v, is_causal=...)` scales by 1/√d_k, hides the future if asked, and mixes. In one respect it is particular:
# its **fused** programs, which do several operations in one kernel, take **four axes, (B, H, N, d)**. Three work as well, another way. First write the call.

# %% [markdown]
# ### Exercise: `sdpa_attention`
#
# difficulty ●○○ · 3–5 min · 1 point
#
# Self-attention with one head, as in lesson 06, by PyTorch's own call, which is asked for here. It is compared in float64 at 1e-6,
# gradients included.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-sdpa_attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Three projections, one call. The call divides by √d_k itself: do not do it twice.
#
# <details><summary>Hint 2: the shapes</summary>
#
# x @ Wq is (B, N, d_k). With an axis of size 1 for the one head it is (B, 1, N, d_k), and so is the output; take that axis away again.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. Project, and index each result with `[:, None]`.
# 2. Call, with `is_causal`.
# 3. Return head 0: index with `[:, 0]`.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "sdpa_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sdpa_attention(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor, causal: bool = False) -> Tensor:
    """Self-attention with one head, by PyTorch's own call.

    Args:
        x: (B, N, d).
        Wq, Wk: (d, d_k).
        Wv: (d, d_v).
        causal: whether each token attends to itself and the past alone.
    Returns:
        (B, N, d_v).
    """
    ### BEGIN SOLUTION
    q, k, v = (x[:, None] @ W for W in (Wq, Wk, Wv))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)[:, 0]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "sdpa_attention-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(sdpa_attention)

# %% [markdown]
# **Which kernel ran?** A **kernel** is a program that a device runs for one operation. PyTorch's **profiler** writes down each operator that
# runs. Look for names with *attention* in them, the same numbers with three axes and with four.


# %% nbgrader={"grade": false, "grade_id": "which-ran", "locked": true, "schema_version": 3, "solution": false, "task": false}
def which_ran(*args, **kwargs):
    """The operator that did PyTorch's attention: '…_math', '…_flash_attention' and the like."""
    with torch.autograd.profiler.profile(use_kineto=False) as watched:
        F.scaled_dot_product_attention(*args, **kwargs)
    names = [event.key for event in watched.key_averages()]
    return next(name for name in names if "::_scaled_dot_product" in name)


torch.manual_seed(0)
x = torch.randn(2, 6, 16)  # the cat sat on the mat, twice
with torch.no_grad():
    print("three axes:", which_ran(x, x, x))
    print("four axes: ", which_ran(x[:, None], x[:, None], x[:, None]))

# %% [markdown]
# On a CPU, where this cell runs: with three axes the *math* path, which makes all scores at once, as `attend` does. With four the *flash* kernel, tiles. PyTorch gave no warning. On a long text this is
# the difference between a table of N² numbers and a few tiles, for one missing axis.
#
# ## Who refuses, and why
#
# Four **backends** are the clerks of this desk. `SDPBackend` names them (and OVERRIDEABLE, for other makers' devices).
#
# | backend | what it is | here, on a CPU |
# |---|---|---|
# | `MATH` | scores, softmax and mix, one after the other; takes three axes, and v of another width, too | yes |
# | `FLASH_ATTENTION` | FlashAttention-2 on a GPU, unless another is activated; tiles on a CPU, too | yes |
# | `EFFICIENT_ATTENTION` | tiles, from the library xFormers; takes float32 and masks, which flash on a GPU does not | GPU only |
# | `CUDNN_ATTENTION` | NVIDIA's own library | GPU only |
#
# Left alone, PyTorch goes through a list in an order that depends on version and device, and takes the first that accepts the inputs. `with sdpa_kernel(backend):` allows only that one, and on leaving gives
# back what was allowed before. If it does not take the inputs, the call raises `RuntimeError`, and the *reasons* come as **warnings**, several lines each, with paths
# of PyTorch's source in them. This function makes them readable. `warnings.catch_warnings(record=True)` collects warnings in a list, where they would have gone to the
# page.


# %% nbgrader={"grade": false, "grade_id": "why-not", "locked": true, "schema_version": 3, "solution": false, "task": false}
def why_not(backend, *args, **kwargs):
    """'ran', or in one line why a backend did not."""
    with warnings.catch_warnings(record=True) as said, sdpa_kernel(backend):
        warnings.simplefilter("always")
        try:
            F.scaled_dot_product_attention(*args, **kwargs)
        except RuntimeError as error:
            reasons = [str(each.message).partition(" (Triggered")[0] for each in said]
            lines = [line.strip() for line in reasons if not line.endswith("because:")]
            return " ".join(lines or [str(error).partition("\n")[0]])
    return "ran"


def slip(*shape, dtype=torch.float32):
    """q, k and v of one shape."""
    return [torch.randn(3, *shape, device=device)[at].to(dtype) for at in range(3)]


flash = SDPBackend.FLASH_ATTENTION
q, k, v = slip(2, 4, 6, 8)
print("as it should be:     ", why_not(flash, q, k, v))
print("three axes:          ", why_not(flash, q[0], k[0], v[0]))
print("whole numbers:       ", why_not(flash, q.int(), k.int(), v.int()))
print("narrower values:     ", why_not(flash, q, k, v[..., :5]))
print("dropout:             ", why_not(flash, q, k, v, dropout_p=0.1))
print("transposed in memory:", why_not(flash, q.mT.contiguous().mT, k, v))
for backend in (SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION):
    print(f"{backend.name}:", why_not(backend, q, k, v))

# %% [markdown]
# Each is one sentence of a clerk's rules. (In the last two rows there is no such kernel for a CPU, and PyTorch says it less plainly. With a GPU
# you see other lines: by PyTorch's source, `sdp_utils.cpp`, flash takes dropout there, and wants float16 or bfloat16.)
#
# For comparing backends you need a function that asks for exactly one, and says *None* where it refuses, without a mess on the page. Three traps are in its way:
#
# - PyTorch's switches are **global**. Whoever turns one off and forgets it has changed every later call in this process, other threads' too.
# - A **fallback** is worse than a refusal: you would measure another kernel under this one's name.
# - Shapes that do not fit are a mistake of the caller. They deserve `ValueError`, not None. Kernels may take them nevertheless: the math path stretches a batch of 1. The CPU's flash kernel
#   ignores the keys that are left over where there are fewer values, and where there are fewer keys it reads on past the end of k.

# %% [markdown]
# ### Exercise: `run_backend`
#
# difficulty ●●○ · 8–10 min · 2 points
#
# q, k and v are (B, H, N, d), (B, H, M, d), (B, H, M, d). Run the call on the backend alone. Return None where that backend does not
# take these inputs. Raise `ValueError` where shapes do not fit: q, k and v differ in B or H, q and k in width, or k and v in length. The switches are afterwards as they
# were, and nothing goes to stderr.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-run_backend", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Everything you need is in `why_not`: the context that allows one backend, the one that catches warnings, the exception. `sdpa_kernel`
# gives the switches back by itself, also when something raises.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Compare before you call: the first two axes of all three, `shape[:2]`; the last axis of q and k; the last but one of k and v.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. If one of the three comparisons fails, raise `ValueError` with the shapes.
# 2. Open both contexts; inside, `warnings.filterwarnings("ignore")`.
# 3. Return the call's result; `except RuntimeError`, return None.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "run_backend", "locked": false, "schema_version": 3, "solution": true, "task": false}
def run_backend(
    q: Tensor, k: Tensor, v: Tensor, backend: SDPBackend, causal: bool = False
) -> Tensor | None:
    """PyTorch's attention by one backend and no other.

    Args:
        q: (B, H, N, d).
        k, v: (B, H, M, d).
        backend: the only one that may run.
        causal: whether query i attends to keys 0 to i alone.
    Returns:
        (B, H, N, d), or None where this backend does not take these inputs.
    Raises:
        ValueError: shapes that do not fit.
    """
    ### BEGIN SOLUTION
    import warnings

    from torch.nn.attention import sdpa_kernel

    same = q.shape[:2] == k.shape[:2] and k.shape[:2] == v.shape[:2]
    if not same or q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError(f"q is {q.shape}, k is {k.shape} and v is {v.shape}")
    with sdpa_kernel(backend), warnings.catch_warnings():
        warnings.filterwarnings("ignore")
        try:
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        except RuntimeError:
            return None
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "run_backend-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(run_backend)

# %% [markdown]
# ### Odd slips
#
# What production hands to the desk, and what comes back. d = 7 and N = 101 fit no tile; a row may have nothing to attend to; a text may be so long that the math path's table fits nowhere.

# %% nbgrader={"grade": false, "grade_id": "odd-slips", "locked": true, "schema_version": 3, "solution": false, "task": false}
BACKENDS = [SDPBackend.MATH, flash, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION]
odd = {"d = 7": slip(1, 2, 6, 7), "N = 101": slip(1, 2, 101, 8), "one token": slip(1, 2, 1, 8)}
for name, (q, k, v) in odd.items():
    expected = attend(q, k, v)[0]
    for backend in BACKENDS[:2]:
        out = run_backend(q, k, v, backend)
        right = "refused" if out is None else torch.allclose(out, expected, rtol=0, atol=1e-5)
        print(f"{name:12} {backend.name:18} equals naive attention: {right}")

q, k, v = slip(1, 2, 6, 8)
nothing = torch.ones(6, 6, dtype=torch.bool, device=device)
nothing[2] = False  # True = attend: token 2 may attend to none
out = F.scaled_dot_product_attention(q, k, v, attn_mask=nothing)
print("a row with nothing to attend to:", out[0, 0, 2].abs().max().item())

endless = torch.zeros(1, 1, 1, 1, device=device).expand(1, 1, 2**24, 1)
print("16 million tokens, math:", why_not(SDPBackend.MATH, endless, endless, endless)[-75:])

# %% [markdown]
# Sizes that fit no tile are the kernel's business, not yours: it cuts or masks the last tile. (By PyTorch's source some GPU kernels want d to be a multiple of 8, and PyTorch pads it for flash.) A row with
# nothing left gives 0, as this course has it: so does this call in PyTorch 2.13. And the table of scores for 16 million tokens would take 10¹⁵ bytes.
#
# ## What error is fair
#
# On a GPU attention is computed in shorter types than float64. By PyTorch's `finfo`:

# %% nbgrader={"grade": false, "grade_id": "dtypes", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("             bytes   step after 1      largest")
for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
    info = torch.finfo(dtype)
    print(f"{dtype!s:15} {info.bits // 8:2} {info.eps:14.1e} {info.max:12.1e}")

# %% [markdown]
# float16 has three digits and ends at 65,504, which a score can exceed. bfloat16 has the range of float32 and two digits. So outputs are off; by how much depends on the inputs; and *equal at 1e-6* is no test any
# more. What is? FlashAttention's own tests ask for this (repository flash-attention, `tests/test_flash_attn.py`):
#
# > the largest error of the kernel is at most **twice** the largest error of naive attention *in the same precision*, both measured against a reference in higher precision.
#
# (That is for outputs. Their reference is computed in float32 and rounded; ours is float64 and stays so. It is B of your second prediction.) So the yardstick adapts itself to dtype, N and inputs. It is only as good as naive: where naive overflows, no kernel is fair. Two details matter. Errors are taken in **float64**: with the exact answer rounded to float16 first,
# a kernel that rounds once at the end seems exact nearly everywhere, and one that misses by a hair is charged a whole step. And NaN must not pass: `not (error > limit)` lets it by, as `>` is False with NaN.

# %% [markdown]
# ### Exercise: `is_fair`
#
# difficulty ●○○ · 3–5 min · 1 point
#
# Apply the rule. No small number is added to the limit: where naive is exact, out has to be. The result is Python's own True or False.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-is_fair", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Two numbers, compared: the largest error of out, and factor times the largest error of naive. Ask the question so that NaN answers no.
#
# <details><summary>Hint 2: the shapes</summary>
#
# All three have the same shape, any. `.double()` makes float64 of each, `.abs().max()` is a tensor with one number.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. exact in float64.
# 2. For out and for naive: in float64, minus exact, absolute, largest.
# 3. `<=`, and `bool(…)` around it.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "is_fair", "locked": false, "schema_version": 3, "solution": true, "task": false}
def is_fair(out: Tensor, naive: Tensor, exact: Tensor, factor: float = 2.0) -> bool:
    """FlashAttention's rule for an error in low precision.

    Args:
        out: what is judged, any shape.
        naive: naive attention in the same precision, same shape.
        exact: attention in float64, same shape.
        factor: how many times naive's largest error is allowed.
    Returns:
        Whether the largest absolute error of out is at most that; False if either is NaN.
    """
    ### BEGIN SOLUTION
    error, limit = ((part.double() - exact.double()).abs().max() for part in (out, naive))
    return bool(error <= factor * limit)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "is_fair-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(is_fair)

# %% [markdown]
# Every backend that runs here, in every precision that it takes. *Exact* starts from the inputs as they are after rounding: the rounding of inputs is nobody's fault. Digits depend on your processor.

# %% nbgrader={"grade": false, "grade_id": "use-is_fair", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
torch.manual_seed(1)
for dtype in (torch.float32, torch.bfloat16, torch.float16):
    q, k, v = slip(1, 4, 512, 64, dtype=dtype)
    exact = attend(q.double(), k.double(), v.double())[0]
    naive = attend(q, k, v)[0]
    off = (naive.double() - exact).abs().max().item()
    print(f"{dtype!s:15} naive is off by {off:.1e}")
    for backend in BACKENDS:
        out = run_backend(q, k, v, backend)
        if out is not None:
            share = (out.double() - exact).abs().max().item() / off
            print(f"    {backend.name:20} {share:5.2f} of that, fair: {is_fair(out, naive, exact)}")

# %% [markdown]
# In half precision both paths are nearer to the exact answer here than naive attention. Naive attention rounds scores and weights to the short type each time it writes them down. The math path turns its inputs into float32,
# computes, and rounds once, at the end; by `torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True)` it stays in the short type, and is about as far off as naive. The flash kernel keeps scores and sums in float32. On a GPU, in float16, FlashAttention-2 was off by 1.9e-4 where standard attention was by 3.2e-4 (root mean square,
# inputs with outliers; Shah et al., July 2024, table 3). In 8 bits FlashAttention-3 spreads outliers over several numbers, for an error 2.6 times smaller than a plain 8-bit kernel's; without that step it is as large (same table).
#
# ## Timing done right
#
# A call to a GPU returns before the work is done. Python hands it over and goes on; the GPU works through its queue. Where does the clock have to stop?

# %% nbgrader={"grade": false, "grade_id": "see-clock", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.gpu_sdpa.what_a_clock_sees()

# %% [markdown]
# On the left you measure the handing over, which does not know N. The work grows, that time stands still, and the speed that you work out grows. `torch.cuda.synchronize()` waits until the GPU's queue is empty. Without a GPU
# it raises, so ask once, and keep the answer as a function: in the next cell, `wait` waits for the GPU if there is one, and does nothing on a CPU. Four rules, and what each is against:
#
# 1. **Warm up**, three calls or more: the first ones load kernels, ask for memory, choose algorithms.
# 2. **Synchronise** before the clock is read, each time. If you skip it before a call, you also time what was left in the queue. If you skip it after the call, see above.
# 3. **Take the median** of several: one call that was interrupted ruins a mean. The smallest is the machine undisturbed, which it seldom is.
# 4. **Say how far they spread.** Two medians closer than their spread are a tie.
#
# (`statistics.quantiles` gives the three numbers that cut a sorted list into quarters.) On a CPU there is one more rule: threads wait for each other on a busy machine, so compute in **one thread**, `torch.set_num_threads(1)`. Here is what the rules are against, on your machine:

# %% nbgrader={"grade": false, "grade_id": "see-first", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
threads = torch.get_num_threads()
torch.set_num_threads(1)
wait = torch.cuda.synchronize if device == "cuda" else lambda: None
q, k, v = slip(1, 4, 257, 64)  # a size that nothing here has seen yet
spans = []
for _ in range(12):
    wait()
    start = time.perf_counter()
    F.scaled_dot_product_attention(q, k, v)
    wait()
    spans.append(1000 * (time.perf_counter() - start))
print("milliseconds, call by call:", *(f"{span:.2f}" for span in spans))
low, middle, high = statistics.quantiles(spans[3:])
print(f"median of the last nine {middle:.2f}, mean of all", end=" ")
print(f"{statistics.mean(spans):.2f}, middle half between {low:.2f} and {high:.2f}")
torch.set_num_threads(threads)

# %% [markdown]
# ### Exercise: `benchmark`
#
# difficulty ●●○ · 6–10 min · 2 points
#
# Time `fn(*args)`: at least three calls to warm up, then the median of five to fifty timed ones. You are handed the clock and the wait: `clock()` reads the time, and `wait()` returns when all work is done. Both come after `*args`, so a caller has to name
# them: `benchmark(fn, q, k, wait=torch.cuda.synchronize)`. Read the clock just before and just after each timed call, never while you warm up, and wait before you read it, each time. The result is a float in the clock's unit, whatever that is.
#
# As the clock is an argument, the check hands in one of its own. That one goes on only while work is done, so no busy machine can fail you. It may start anywhere, count in whole numbers, or stand still: a loop that waits until it moves may never end.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-benchmark", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# The loop of the cell above, with a warm-up before it and one number after it. Each call gets a time of its own: a single span around the loop could only give a mean.
#
# <details><summary>Hint 2: the clock</summary>
#
# Use the `clock` and the `wait` that you are given. Wait, read, call, wait, read. `statistics.median` takes the mean of the middle two where there is an even number of times; `torch.median` takes the lower one.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. Three times: `fn(*args)`.
# 2. Twenty times: `wait()`, read the clock, `fn(*args)`, `wait()`, read it again, append the difference.
# 3. Return `statistics.median` of the list, as a float: of whole numbers it may be an int.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "benchmark", "locked": false, "schema_version": 3, "solution": true, "task": false}
def benchmark(fn, *args, clock=time.perf_counter, wait=lambda: None) -> float:
    """The median time of a call, warmed up and waited for.

    Args:
        fn: what is timed.
        args: what it is called with.
        clock: returns the time, a float or an int, in a unit of its own; it may stand still.
        wait: returns when all work is done. On a GPU, `torch.cuda.synchronize`.
    Returns:
        In the clock's unit: the median of five to fifty timed calls, after three or more that are
        not timed. Of an even number of times, the mean of the middle two.
    """
    ### BEGIN SOLUTION
    import statistics

    for _warm_up in range(3):
        fn(*args)
    times = []
    for _timed in range(20):
        wait()
        began = clock()
        fn(*args)
        wait()
        times.append(clock() - began)
    return float(statistics.median(times))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "benchmark-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(benchmark)

# %% [markdown]
# PyTorch has a tool for it, `torch.utils.benchmark.Timer`: it warms up, synchronises, uses one thread and picks the number of calls; `blocked_autorange` calls for about 0.2 seconds, and its result has `median` and `iqr`, the width of the middle half. Use it from here on in your own work;
# now it checks yours.

# %% nbgrader={"grade": false, "grade_id": "use-benchmark", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from torch.utils.benchmark import Timer

torch.set_num_threads(1)
q, k, v = slip(1, 4, 512, 64, dtype=usual)
names = {"run": run_backend, "q": q, "k": k, "v": v}
for backend in BACKENDS[:2]:
    own = benchmark(run_backend, q, k, v, backend, wait=wait)
    measured = Timer("run(q, k, v, backend)", globals=names | {"backend": backend})
    theirs = measured.blocked_autorange()
    print(
        f"{backend.name:16} yours {1000 * own:6.2f} ms, Timer {1000 * theirs.median:6.2f} ms",
        end="",
    )
    print(f" ± {500 * theirs.iqr:.2f}")
torch.set_num_threads(threads)

# %% [markdown]
# ### Memory done right
#
# On a GPU, PyTorch counts for you. `torch.cuda.max_memory_allocated()` is the highest mark so far, *since the last reset*, inputs included. So: reset, note what is held already, call, subtract. For a CPU
# PyTorch has no such counter; `held_by` watches the tensors that operators hand out, and gives the most bytes alive at once. One head, d = 64, in float32 on a CPU:


# %% nbgrader={"grade": false, "grade_id": "memory", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab.bench.held import held_by


def peak_bytes(run):
    """The most memory that a call held at once, besides what was there before."""
    if device == "cpu":
        return held_by(run)
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    run()
    return torch.cuda.max_memory_allocated() - before


print("     N       math      flash   MiB")
for n in (512, 1024, 2048):
    q, k, v = slip(1, 1, n, 64, dtype=usual)
    held = [peak_bytes(lambda: run_backend(q, k, v, each)) / 2**20 for each in BACKENDS[:2]]
    print(f"{n:6} {held[0]:10.1f} {held[1]:10.2f}")

# %% [markdown]
# Twice the tokens: four times the memory for math, twice for flash, whose part is the output and one number for each query. What an operator makes and frees inside itself `held_by` does not see: a few tiles for each thread, about half a MiB, as many at
# 1,024 tokens as at 4,096. It is lesson 11's result, at a place where you pay for it.
#
# ## Cost
#
# **Count.** Speeds are compared in operations a second, so everyone has to count alike. For attention, forward: **4·B·H·N²·d**, two products with a multiplication and an addition each, d the width of *one head*; **exactly half if causal**,
# whatever the kernel really does; nothing for softmax (Dao 2023, section 4.1). A kernel that skips blocked tiles then shows nearly its full speed, and one that computes them and throws them away shows half.

# %% [markdown]
# ### Exercise: `achieved_tflops`
#
# difficulty ●○○ · 2–4 min · 1 point
#
# From a time, the speed in TFLOP/s, 10¹² operations a second.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-achieved_tflops", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Operations over seconds, over 10¹².
#
# <details><summary>Hint 2: the sizes</summary>
#
# N is squared, d is not. Nothing else.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. Count, in full.
# 2. Halve it if causal.
# 3. Divide.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "achieved_tflops", "locked": false, "schema_version": 3, "solution": true, "task": false}
def achieved_tflops(seconds: float, b: int, h: int, n: int, d: int, causal: bool = False) -> float:
    """Speed of attention, forward, in TFLOP/s.

    Args:
        seconds: that it took.
        b, h, n, d: batch, heads, tokens, width of one head.
        causal: whether exactly half of the operations count.
    Returns:
        10¹² operations a second.
    """
    ### BEGIN SOLUTION
    flops = 4 * b * h * n**2 * d
    return flops / (2 if causal else 1) / seconds / 1e12
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "achieved_tflops-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(achieved_tflops)

# %% [markdown]
# Hold it against a published table. PyTorch's own benchmarks list time *and* TFLOP/s of three kernels on an NVIDIA H100 (pytorch/benchmark, pull request 2296, 12 June 2024). The course has not measured these: they are theirs. Your count should turn their milliseconds into their
# TFLOP/s.

# %% nbgrader={"grade": false, "grade_id": "use-achieved_tflops", "locked": true, "schema_version": 3, "solution": false, "task": false}
theirs = figures.gpu_sdpa.published()["speeds"]
b, h, d = theirs["batch"], theirs["heads"], theirs["d"]
print(f"{theirs['device']}, B = {b}, H = {h}, d = {d}")
print("     N        ms   their TFLOP/s   yours")
for row in theirs["rows"][:5]:
    own = achieved_tflops(row["milliseconds"] / 1000, b, h, row["n"], d)
    print(f"{row['n']:6} {row['milliseconds']:9.2f} {row['tflops']:12.1f} {own:10.1f}")
figures.gpu_sdpa.speeds()

# %% [markdown]
# The columns agree, so they count as you do, and not as causal. In the figure 16 times the tokens take 215 to 242 times as long, near the 256 of N², so speed changes little, by 6 to 19 %. The dashed line is the peak of the SXM model; they do not say which model they had. Two generations of kernels, each
# as a share of the peak, as their papers' abstracts give it:

# %% nbgrader={"grade": false, "grade_id": "shares", "locked": true, "schema_version": 3, "solution": false, "task": false}
for row in figures.gpu_sdpa.published()["shares"]:
    print(f"{row['kernel']:17} {row['device']:5} {row['share']:32} {row['source']}")

# %% [markdown]
# If you have a GPU and a PyTorch for it, this command measures it, and keeps the result in attnlab's folder, with device, driver, versions, date and command. The figure above then shows both:
#
# ```
# python -m attnlab.bench --device cuda --d 64 128 --causal both --record
# ```
#
# ### The roofline
#
# How fast *could* it be? Two things take time: computing and moving. A processor does both at once, so the longer one decides.

# %% [markdown]
# ### Exercise: `roofline_seconds`
#
# difficulty ●○○ · 2–4 min · 1 point
#
# The least time in which a device can do this many operations and move this many bytes.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-roofline_seconds", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# *By hand* did it twice: a time for computing, a time for moving.
#
# <details><summary>Hint 2: the units</summary>
#
# Operations over operations a second are seconds; bytes over bytes a second, too.
#
# <details><summary>Hint 3: an outline</summary>
#
# Both times, and the longer of the two.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "roofline_seconds", "locked": false, "schema_version": 3, "solution": true, "task": false}
def roofline_seconds(
    flops: float, bytes_moved: float, peak_flops: float, bandwidth: float
) -> float:
    """The least time that a kernel can take.

    Args:
        flops: operations.
        bytes_moved: between memory and processor.
        peak_flops: operations a second, at best.
        bandwidth: bytes a second, at best.
    Returns:
        Seconds.
    """
    ### BEGIN SOLUTION
    return max(flops / peak_flops, bytes_moved / bandwidth)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "roofline_seconds-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(roofline_seconds)

# %% [markdown]
# **Measure.** A maker's peak is one thing, your device's another. The next cell measures it by a large matrix product and a large copy, on one core if it is a CPU's. Then it times prefill and decode, and says what share of the
# roofline each reaches, and what share of the peak. Numbers are your machine's.

# %% nbgrader={"grade": false, "grade_id": "measure", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from attnlab.bench.machine import name_of, peak

best = peak(device, str(usual).removeprefix("torch."))
print(name_of(device))
print(f"peak {best.flops / 1e12:.3g} TFLOP/s, {best.bandwidth / 1e9:.3g} GB/s, measured now\n")
print("                       ms   at best  of roofline  of peak   limited by")
torch.set_num_threads(1)
h, d = 8, 64
for name, queries, keys in (("prefill", 1024, 1024), ("decode", 1, 16384)):
    q = torch.randn(1, h, queries, d, device=device, dtype=usual)
    k, v = torch.randn(2, 1, h, keys, d, device=device, dtype=usual)
    flops, moved = 4 * h * queries * keys * d, 2 * h * d * (queries + keys) * q.element_size()
    least = roofline_seconds(flops, moved, best.flops, best.bandwidth)
    limit = "computing" if flops / best.flops > moved / best.bandwidth else "moving"
    for backend in BACKENDS:
        if run_backend(q, k, v, backend) is not None:
            took = benchmark(run_backend, q, k, v, backend, wait=wait)
            print(f"{name:8} {backend.name:11.11} {1000 * took:8.2f}", end="")
            reached = flops / took / best.flops
            print(f" {1000 * least:8.2f} {least / took:11.0%} {reached:9.1%}   {limit}")
torch.set_num_threads(threads)

# %% [markdown]
# *Limited by* is what the roofline says of the work, before any kernel runs: prefill of 1,024 tokens by computing, decode by moving. (A short prefill waits for memory too, as in *See it*.) It has a consequence: to decode faster, *move fewer bytes*. Few key heads (grouped queries,
# lesson 11) make the cache smaller, and so do 8 bits a number.
#
# ## Break it on purpose
#
# **Switches that stay.** Somebody allows one backend by its switch, and forgets the others. (The cell turns all on again in the end.)


# %% nbgrader={"grade": false, "grade_id": "break-switch", "locked": true, "schema_version": 3, "solution": false, "task": false}
on = torch.backends.cuda
SWITCHES = {
    SDPBackend.MATH: on.enable_math_sdp,
    SDPBackend.FLASH_ATTENTION: on.enable_flash_sdp,
    SDPBackend.EFFICIENT_ATTENTION: on.enable_mem_efficient_sdp,
    SDPBackend.CUDNN_ATTENTION: on.enable_cudnn_sdp,
}


def leaves_them(q, k, v, backend, causal=False):
    for each, turn in SWITCHES.items():
        turn(each == backend)
    return run_backend(q, k, v, backend, causal)


q, k, v = slip(1, 2, 6, 8)
with torch.no_grad():
    print("before:", which_ran(q, k, v))
    leaves_them(q, k, v, SDPBackend.MATH)
    print("after: ", which_ran(q, k, v))
for turn in SWITCHES.values():
    turn(True)
check(leaves_them, name="run_backend")

# %% [markdown]
# The symptom: the same numbers but for rounding, and all scores at once, in a cell that never touched a switch.
#
# **NaN passes.** A kernel whose scores overflow gives NaN, and the rule is turned round:


# %% nbgrader={"grade": false, "grade_id": "break-nan", "locked": true, "schema_version": 3, "solution": false, "task": false}
def not_unfair(out, naive, exact, factor=2.0):
    error = (out.double() - exact.double()).abs().max()
    limit = (naive.double() - exact.double()).abs().max()
    return not bool(error > factor * limit)


broken = torch.full((3,), torch.nan)
print("NaN is fair:", not_unfair(broken, torch.tensor([1.0, 2, 3]), torch.tensor([1.0, 2, 3])))
check(not_unfair, name="is_fair")

# %% [markdown]
# ## The last level: a kernel
#
# What does such a kernel look like? attnlab has one in **Triton**, a language inside Python whose functions are compiled for a GPU: `kernel.py`, in the folder of `figures.gpu_sdpa.__file__`. Many copies of a function run at once, each a **program** with a tile
# of queries of its own. `_load` fetches a tile, by Triton's `tl.load`; `_product` multiplies two, by `tl.dot`; after the loop `tl.store` writes the tile of the output. It goes forward only: no gradients. `tl.constexpr` marks what is fixed when it is compiled; strides say how far apart neighbours are in memory. Here is its heart. Read it beside your `tiled_attention`.

# %% nbgrader={"grade": false, "grade_id": "see-kernel", "locked": true, "schema_version": 3, "solution": false, "task": false}
print(figures.gpu_sdpa.kernel_heart())

# %% [markdown]
# You know these steps. `top`, `total` and `out` are the running maximum, sum and values of `merge_softmax`; `shrink` is the factor by which the old ones are corrected when a larger score turns up. `scale` is log₂e / √d_k: 2 to the power of a score times that is e to the power of the score over √d_k, and NVIDIA's GPUs have an instruction for powers of two (`ex2`). `EDGE` says that the tiles are at the diagonal or at the end, where a mask is needed; all others skip it. `_product` adds up in float32,
# whatever the inputs are. No line writes scores or weights to memory.
#
# Is it right? This course has checked it in Triton's interpreter, which runs it on a CPU. The numbers were recorded then:

# %% nbgrader={"grade": false, "grade_id": "kernel-checked", "locked": true, "schema_version": 3, "solution": false, "task": false}
print(figures.gpu_sdpa.kernel_checked())

# %% [markdown]
# It is fair in each row. In bfloat16 it is about as far off as naive, and that is the interpreter: Triton 3.7.1's cuts digits off where it makes bfloat16. The same steps in PyTorch, which rounds, are off by 0.39 to 0.57 of naive's error (0.30 to 0.76 with four seeds).
#
# **It has not been timed.** It has not run on a GPU for this lesson yet. With a GPU and Triton, the command above times it beside every backend, and records it.

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Check yourself
#
# **1.** A model calls PyTorch's attention with q, k and v of shape (B, N, d). It is right, and needs memory as N². Why?
#
# <details><summary>A. Attention needs N² numbers, always</summary>
#
# Not this one: in tiles it does not.
#
# </details>
# <details><summary>B. An axis for heads is missing, so the math path runs</summary>
#
# Yes. The fused kernels take four axes.
#
# </details>
# <details><summary>C. Causal was forgotten</summary>
#
# Not this one: with `is_causal=True` the math path still makes all scores, and a mask besides.
#
# </details>
#
# **2.** A colleague's kernel takes 5 µs at N = 1,000 and 5 µs at N = 8,000. What do you ask first?
#
# <details><summary>A. Whether the GPU was synchronised before the clock was read</summary>
#
# Yes. 64 times the work in the same time looks like the time of handing it over.
#
# </details>
# <details><summary>B. How large the spread is</summary>
#
# Not this one: it explains differences of percents.
#
# </details>
# <details><summary>C. Which dtype it was</summary>
#
# Not this one: no dtype makes N² constant.
#
# </details>
#
# **3.** You double the batch in decoding, each reader with a cache of their own. Attention alone: what happens to its operations for each byte?
#
# <details><summary>A. They double</summary>
#
# Not this one: that holds for matrices that all readers share. Here there are twice as many keys to fetch.
#
# </details>
# <details><summary>B. Nothing</summary>
#
# Yes. Twice the operations on twice the bytes. Queries that *share* keys would help (grouped queries), or fewer bytes a number.
#
# </details>
#
# **4.** Why does the fairness rule compare with naive attention at all?
#
# <details><summary>A. Because nobody knows the exact answer</summary>
#
# Not this one: float64 is exact enough.
#
# </details>
# <details><summary>B. Because how large an error *may* be depends on dtype, N and inputs, and naive attention has the same ones</summary>
#
# Yes. A fixed tolerance is too strict for some inputs and blind for others.
#
# </details>

# %% [markdown]
# ## Take away
#
# 1. One call, four axes. Ask which kernel ran ([one call](#One-call)).
# 2. Each backend has rules; where PyTorch gives the reasons for a refusal, they are warnings. Switches are global, `sdpa_kernel` gives them back ([who refuses](#Who-refuses,-and-why)).
# 3. Fair is an error of at most twice naive attention's in the same precision, against float64 ([what error is fair](#What-error-is-fair)).
# 4. Warm up, synchronise, median, spread ([timing](#Timing-done-right)). Reset, note what is held, call, subtract ([memory](#Memory-done-right)).
# 5. A long prefill is limited by computing, decode by moving: the roofline says so before you measure ([the roofline](#The-roofline)).
#
# **The whole way.** Lesson 01 began with a dictionary: a key, a value, an exact match. It was softened, so that it could learn (01, 02); written with einsum (03); scaled, so that scores keep their size whatever the width (04); given gradients (05) and a past (06);
# several readers (07), another's shelf (08), a sense of order (09); something to learn from (10); and a price (11). What ran on this page is still that dictionary: a question, meeting all keys at once, that takes home a weighted average of values. You can now write it in lists
# with every index visible, and read it at the heart of a kernel.
#
# **Words of this lesson**: [backend](../glossary.md#backend), [kernel](../glossary.md#kernel), [profiler](../glossary.md#profiler), [FLOP](../glossary.md#flop), [bandwidth](../glossary.md#bandwidth), [roofline](../glossary.md#roofline),
# [prefill](../glossary.md#prefill), [synchronise](../glossary.md#synchronise).
#
# ### Sources
#
# - FlashAttention-2, how speeds are counted: T. Dao (2023), *FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning*. [arXiv:2307.08691](https://arxiv.org/abs/2307.08691)
# - FlashAttention-3: J. Shah et al. (2024), *FlashAttention-3: Fast and Accurate Attention with Asynchrony and Low-precision*. [arXiv:2407.08608](https://arxiv.org/abs/2407.08608)
# - The rule for errors: Dao-AILab, [flash-attention](https://github.com/Dao-AILab/flash-attention), `tests/test_flash_attn.py`.
# - Speeds on an H100: [pytorch/benchmark, pull request 2296](https://github.com/pytorch/benchmark/pull/2296), 12 June 2024.
# - Roofline: S. Williams, A. Waterman, D. Patterson (2009), *Roofline: An Insightful Visual Performance Model for Multicore Architectures*, Communications of the ACM 52(4).
# - PyTorch's manual: [scaled_dot_product_attention](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html), [sdpa_kernel](https://docs.pytorch.org/docs/stable/generated/torch.nn.attention.sdpa_kernel.html),
#   [benchmark](https://docs.pytorch.org/docs/stable/benchmark_utils.html).
#
# **To carry over**, out of this course. Every reader asks every book, and in a long text many of the weights are close to 0. Which of them would you have skipped, and how would you have known before you computed them?

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
