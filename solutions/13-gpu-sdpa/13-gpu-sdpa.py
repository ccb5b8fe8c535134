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
# You have written attention with lists, arrays, tensors and tiles. In production it is one line, and PyTorch chooses
# the program that runs. Which one ran, and why did another one refuse?
#
# | | |
# |---|---|
# | **You will be able to** | call PyTorch's attention and say which kernel ran and why others did not; judge an error in half precision; time a call and measure its memory; tell from a count what limits a kernel |
# | **Minutes** | about 90, and 25 more for the optional part |
# | **You need** | batched attention (05), masks (06), heads (07), tiles and the cache (11) |
# | **Runs on** | CPU, in full; needs no network. With an NVIDIA GPU the same cells measure the GPU |
# | **You may stop** | before *Optional: a kernel of your own* |
# | **Points** | 8, in six exercises |
#
# The desk of our library has staff now. You hand in a slip, and one of four clerks, each with rules of their own, does
# the work. The running sentence is the slip: ***the cat sat on the mat***, N = 6.

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

from attnlab import begin, check, figures, quiz  # is it missing? open it by: attnlab lab

device = "cuda" if torch.cuda.is_available() else "cpu"
os.environ["TRITON_INTERPRET"] = str(int(device == "cpu"))  # Triton, at the end, asks
usual = torch.float16 if device == "cuda" else torch.float32  # what such a device computes in
batch = 64 if device == "cuda" else 1  # with less to do, a GPU is as slow as the calls to it
begin("13-gpu-sdpa")

# %% [markdown]
# What does it cost to hold all scores?

# %% nbgrader={"grade": false, "grade_id": "opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.opening()

# %% [markdown]
# **If you have an NVIDIA GPU**, PyTorch has to be a build for CUDA. On Linux `pip install torch` brings one; on
# Windows it brings the CPU's. To change builds, run `nvidia-smi` first: it names the newest CUDA that your driver knows.
# Take a build for that CUDA or an older one from PyTorch's own index. The [install page](https://pytorch.org/get-started/locally/) lists them. The last part of the address names the build (`cu130` is CUDA 13.0). In a cell of your own:
#
# ```
# %pip uninstall --yes torch
# %pip install torch==2.13.0 --index-url https://download.pytorch.org/whl/cu130
# ```
#
# Then restart the kernel. It worked if the next cell names a version of CUDA and your GPU.

# %% nbgrader={"grade": false, "grade_id": "installed", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
print("PyTorch", torch.__version__, "for CUDA", torch.version.cuda)
print("runs on", torch.cuda.get_device_name() if device == "cuda" else "the CPU")

# %% [markdown]
# ## Recall

# %% nbgrader={"grade": false, "grade_id": "quiz-recall", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("recall")

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Predict
#
# Commit to a guess. *See it* comes back to it.

# %% nbgrader={"grade": false, "grade_id": "quiz-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("predict")

# %% [markdown]
# ## By hand
#
# Count for one head with d = 100 in float16, which has 2 bytes a number. The product of a query with a key takes d
# multiplications and d additions, and mixing in a value takes as many. That is **4·d operations** for each pair.
#
# | | queries | keys | operations | bytes of q, k, v and out | operations for each byte |
# |---|---|---|---|---|---|
# | **prefill** | 1,000 | 1,000 | 4 · 1,000 · 1,000 · 100 = 4 · 10⁸ | 4 · 1,000 · 100 · 2 = 8 · 10⁵ | 500 |
# | **decode** | 1 | 1,000 | 4 · 1 · 1,000 · 100 = 4 · 10⁵ | about 2 · 1,000 · 100 · 2 = 4 · 10⁵ | 1 |
#
# Take a made-up machine with 10¹² operations and 10¹⁰ bytes a second. Prefill computes for 0.4 ms and moves for
# 0.08 ms: computing decides. Decode computes for 0.0004 ms and moves for 0.04 ms: **moving decides**, and the
# arithmetic is in use for a hundredth of the time. Do both rows again for d = 50. Which of the last column's two
# numbers changes?

# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
for name, queries, keys in (("prefill", 1000, 1000), ("decode", 1, 1000)):
    for d in (100, 50):
        operations = 4 * queries * keys * d
        moved = 2 * (2 * queries * d + 2 * keys * d)
        print(f"{name:8} d = {d:3}: {operations / moved:6.1f} operations for each byte")

# %% [markdown]
# Neither, as d cancels. In 2 bytes a number, N queries and M keys come to N·M / (N + M). With many keys that is about
# N: the number of queries that share each key.
#
# The next cell gives you attention from lessons 05 and 06. Here it is the *naive* way, against which the others are
# measured. From here on q, k and v are (B, H, N, d), with d the width of *one head*.


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
# The **roofline** (Williams, Waterman and Patterson 2009) draws what you did by hand. Its horizontal axis is operations
# for each byte; its vertical one is a device's best speed. On the left, memory's
# [**bandwidth**](../glossary.md#bandwidth) decides, and the line rises. On the right, arithmetic decides, and the line
# is flat. At the bend both take equally long. The numbers for the two GPUs come from
# their maker.
#
# You see three pieces of work in a layer: attention when a **batch** of readers decodes, each with a cache of their
# own; the four projections of these readers, $W_q$, $W_k$, $W_v$ and $W_o$; attention in a prefill. The slider sets
# the batch. Guess first: which of the three moves?


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
# The prefill has 512 operations for each byte: both GPUs are on the flat part. One of 128 tokens has 64, and waits for
# memory. Decoding for one reader has 1: both GPUs wait, and reach 1/153 and 1/295 of their peaks at best, 0.7 % and 0.3
# %. (Prediction: B.)
#
# With the batch only the projections move: all readers share their weights, which are fetched once. From a batch of 256 on,
# computing limits them on the A100. Attention stays, because each reader brings their own keys.
#
# ## One call
#
# `F.scaled_dot_product_attention(q, k, v, is_causal=...)` scales by $1/\sqrt{d_k}$, hides the future if you ask for it, and
# mixes. It stands for several programs. The **fused** ones do all of this in one go, a tile at a time, and they take
# **four axes, (B, H, N, d)**. First write the call.

# %% [markdown]
# ### Exercise: `sdpa_attention`
#
# difficulty ●○○ · 3–5 min · 1 point
#
# Write self-attention with one head, as in lesson 06, by PyTorch's own call. The check compares it in float64 at 1e-6,
# gradients included.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-sdpa_attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Three projections, one call. The call divides by $\sqrt{d_k}$ itself: do not do it twice.
#
# <details><summary>Hint 2: the shapes</summary>
#
# x @ Wq is (B, N, $d_k$). With an axis of size 1 for the one head it is (B, 1, N, $d_k$), and so is the output; take that
# axis away again.
#
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
        (B, N, d_v), dtype of x: float64, float32 or float16.
    """
    ### BEGIN SOLUTION
    q, k, v = (x[:, None] @ W for W in (Wq, Wk, Wv))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal)[:, 0]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "sdpa_attention-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(sdpa_attention)

# %% [markdown]
# **Which kernel ran?** A **kernel** is a program that a device runs for one operation. PyTorch's **profiler** writes
# down each operator that runs. Look for names with *attention* in them.


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
    print("narrow v:  ", which_ran(x[:, None], x[:, None], x[:, None, :, :5]))

# %% [markdown]
# On a CPU, where this cell runs, three axes give you the *math* path: it makes all scores at once, as `attend` does. So
# do values of another width. Four axes and one width give you the *flash* kernel, which works in tiles. It has no
# weights to return: there is no moment at which they all exist. PyTorch gave no warning.
#
# ## Who refuses, and why
#
# Each **backend** is a clerk with rules of its own. `SDPBackend` names four (and OVERRIDEABLE, for other makers' devices).
# What they take on a GPU stands in PyTorch's source, `sdp_utils.cpp`.
#
# | backend | what it is | takes on an NVIDIA GPU | here, on a CPU |
# |---|---|---|---|
# | `MATH` | scores, softmax and mix, one after the other | all floats | all floats |
# | `FLASH_ATTENTION` | FlashAttention-2 on a GPU, other tiles on a CPU | float16 and bfloat16; one width for q, k and v, up to 256; no mask, but `is_causal` if N = M; an A100 or newer | four axes, one width, no dropout |
# | `EFFICIENT_ATTENTION` | tiles, from the library xFormers | float32, masks and another width for v, too; widths that are multiples of 4 in float32, else of 8; older GPUs | nothing |
# | `CUDNN_ATTENTION` | NVIDIA's own library | float16 and bfloat16; masks and another width for v, too; widths that are multiples of 8 | nothing |
#
# **Which one is chosen?** PyTorch goes through a list and takes the first backend that accepts the device, the shapes, the
# dtype and the mask. The list is flash, efficient, math. On an H100 or a B200 with a cuDNN newer than 9.15, cuDNN
# comes first; elsewhere it comes after math. Math takes all floats, so cuDNN never runs there unless you ask.
# The list changes with
# PyTorch's versions (this is 2.13's), so do not learn it by heart: ask `which_ran`.
#
# `with sdpa_kernel(backend):` allows only that backend. After its block, all is as before. If the
# backend does not take the inputs, the call raises `RuntimeError`, and the *reasons* come as **warnings**, several lines
# each, with paths of PyTorch's source in them. `why_not` makes them readable: `warnings.catch_warnings(record=True)`
# collects warnings in a list, so that they do not go to the page.


# %% nbgrader={"grade": false, "grade_id": "why-not", "locked": true, "schema_version": 3, "solution": false, "task": false}
def why_not(backend, *args, **kwargs):
    """'ran', or in one line why a backend did not."""
    with warnings.catch_warnings(record=True) as said, sdpa_kernel(backend):
        warnings.simplefilter("always")
        try:
            F.scaled_dot_product_attention(*args, **kwargs)
        except RuntimeError as error:
            reasons = [str(each.message).partition(" (Triggered")[0] for each in said]
            others = ("because:", "disabled.")  # headings, and backends that were not asked
            lines = [line.strip() for line in reasons if not line.endswith(others)]
            return " ".join(lines or [str(error).partition("\n")[0]])
    return "ran"


warnings.filterwarnings("ignore", "(?s).*Triggered internally")  # from here on, who asks is told


def slip(*shape, dtype=torch.float32):
    """q, k and v of one shape."""
    return [torch.randn(3, *shape, device=device)[at].to(dtype) for at in range(3)]


flash = SDPBackend.FLASH_ATTENTION
q, k, v = slip(2, 4, 6, 8, dtype=usual)
print("as it should be:     ", why_not(flash, q, k, v))
print("three axes:          ", why_not(flash, q[0], k[0], v[0]))
print("whole numbers:       ", why_not(flash, q.int(), k.int(), v.int()))
print("narrower values:     ", why_not(flash, q, k, v[..., :5]))
print("dropout:             ", why_not(flash, q, k, v, dropout_p=0.1))
print("transposed in memory:", why_not(flash, q.mT.contiguous().mT, k, v))
for backend in (SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION):
    print(f"{backend.name}:", why_not(backend, q, k, v))

# %% [markdown]
# Each line is a rule of a clerk. (On a CPU the last two mean: no such kernel for it.)
#
# To compare backends you need a function that asks for exactly one, and says *None* where it refuses. Two traps are
# in its way:
#
# - PyTorch's switches are **global**. If you turn one off and forget it, you have changed every later call in this
#   process, in other threads too.
# - A **fallback** is worse than a refusal: you would measure another kernel under this one's name.

# %% [markdown]
# ### Exercise: `run_backend`
#
# difficulty ●●○ · 4–6 min · 2 points
#
# q, k and v are (B, H, N, d), (B, H, M, d), (B, H, M, d). Run the call on the given backend and on no other. Return None
# where that backend has no kernel for these inputs. Afterwards the switches are as they were. You need not look at shapes.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-run_backend", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Everything you need is in `why_not`: the context that allows one backend, and the exception. `sdpa_kernel` gives the
# switches back by itself, also when something raises.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Hand q, k and v over as they are, and return what the call returns, (B, H, N, d).
#
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
    """
    ### BEGIN SOLUTION
    with sdpa_kernel([backend]):
        try:
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        except RuntimeError:
            return None
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "run_backend-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(run_backend)

# %% [markdown]
# ## What error is fair
#
# A GPU computes attention in shorter types than float64. float16 has three digits and ends at 65,504, which a score can exceed. bfloat16 has the range of float32 and two
# digits. So outputs are off, and by how much depends on the inputs. *Equal at 1e-6* is no test any more. What is
# fair? FlashAttention's own tests ask for this (repository flash-attention, `tests/test_flash_attn.py`):
#
# > the largest error of the kernel is at most **twice** the largest error of naive attention *in the same precision*,
# > both measured against a reference in higher precision.
#
# This yardstick adapts to dtype, N and inputs. But where an unmasked score of naive attention overflows to +∞, its row is NaN, and no kernel is fair. Take errors in **float64**. If you round the exact answer to float16 first, a kernel
# that rounds once at the end seems exact nearly everywhere, and one that misses by a hair is charged a whole step. And
# NaN must not pass: `not (error > limit)` lets it by, as `>` is False with NaN.

# %% [markdown]
# ### Exercise: `is_fair`
#
# difficulty ●○○ · 3–5 min · 1 point
#
# Apply the rule. Add no small number to the limit: where naive is exact, out has to be exact, too. Return Python's own
# True or False.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-is_fair", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Compare two numbers: the largest error of out, and factor times the largest error of naive. Ask the question so that
# NaN answers no.
#
# <details><summary>Hint 2: the shapes</summary>
#
# All three have the same shape, whatever it is. `.double()` makes float64 of each, and `.abs().max()` is a tensor with
# one number. `bool(…)` makes Python's own of a tensor.
#
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
# Now judge every backend that runs here, in every precision it takes. *Exact* starts from the inputs as they are
# after rounding: no kernel is to blame for that.

# %% nbgrader={"grade": false, "grade_id": "use-is_fair", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
BACKENDS = [SDPBackend.MATH, flash, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION]
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
# In half precision both paths are nearer to the exact answer here than naive attention. Naive attention rounds scores
# and weights to the short type each time it writes them down. The math path turns its inputs into float32, computes,
# and rounds once, at the end. The flash kernel keeps scores and sums in float32.
#
# ## Timing done right
#
# A call to a GPU returns before the work is done. Python hands the work over and goes on; the GPU works through its
# queue. Where does the clock have to stop?

# %% nbgrader={"grade": false, "grade_id": "see-clock", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.gpu_sdpa.what_a_clock_sees()

# %% [markdown]
# In the first you measure the handing over, which does not know N. The work grows, that time stands still, and the speed
# that you work out grows. `torch.cuda.synchronize()` waits until the GPU's queue is empty. Without a GPU it raises, so
# in the next cell `wait` waits for the GPU if there is one, and does nothing on a CPU. Four rules, and what each prevents:
#
# 1. **Warm up**, three calls or more: the first ones load kernels, ask for memory and choose algorithms.
# 2. **Synchronise** before the clock is read, each time. If you skip it before a call, you also time what was left in
#    the queue. If you skip it after the call, see above.
# 3. **Take the median** of several: one call that was interrupted ruins a mean.
# 4. **Say how far they spread.** Two medians closer than their spread are a tie.
#
# On a CPU there is one more rule: threads wait for each other on a busy machine, so compute in **one thread**. The next cell shows, on your machine, what the rules prevent. (`statistics.quantiles` cuts a list into quarters.)

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
# Time `fn(*args)`: make at least three calls to warm up, then return the median of five to fifty timed ones. `clock()`
# reads the time, and `wait()` returns when all work is done. They come after `*args`, so a caller has to name them:
# `benchmark(fn, q, k, wait=torch.cuda.synchronize)`. Read the clock just before and just after each timed call, never
# while you warm up, and wait before you read it, each time. The result is a float in the clock's unit.
#
# The check hands in a clock of its own, so no busy machine can fail you. It may start anywhere, count in whole numbers,
# or stand still: a loop that waits until it moves may never end.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-benchmark", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Take the loop of the cell above, with a warm-up before it and one number after it. Each call gets a time of its own:
# from a single span around the loop you could only get a mean.
#
# <details><summary>Hint 2: the clock</summary>
#
# Wait, read, call, wait, read. `statistics.median` takes the mean of the middle two where there is an even number of
# times; `torch.median` takes the lower one.
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
# PyTorch's own `torch.utils.benchmark.Timer` does all of this and picks the number of calls.
# `iqr` is the width of the middle half. Now it checks your function. (On a GPU it waits once, after many calls.
# Python's work between them then hides, and your time is longer by it.)

# %% nbgrader={"grade": false, "grade_id": "use-benchmark", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from torch.utils.benchmark import Timer

torch.set_num_threads(1)
q, k, v = slip(batch, 4, 512, 64, dtype=usual)
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
# On a GPU, PyTorch counts for you. `torch.cuda.max_memory_allocated()` is the highest mark *since the last reset*,
# inputs included. So: reset, note what is held already, call, subtract. For a CPU PyTorch has no such counter;
# `held_by` watches the tensors that operators hand out, and gives the most bytes alive at once.
#
# **Before and after**: three axes, so the math path, and four, so flash. One head, d = 64:


# %% nbgrader={"grade": false, "grade_id": "memory", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from functools import partial

from attnlab.bench.held import held_by


def peak_bytes(run):
    """The most memory that a call held at once, besides what was there before."""
    if device == "cpu":
        return held_by(run)
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    run()
    return torch.cuda.max_memory_allocated() - before


torch.set_num_threads(1)
for n in (512, 1024, 2048):
    q, k, v = slip(batch, 1, n, 64, dtype=usual)
    before = partial(F.scaled_dot_product_attention, q[:, 0], k[:, 0], v[:, 0])
    for name, call in (("before", before), ("after", partial(run_backend, q, k, v, flash))):
        held, took = peak_bytes(call) / 2**20, 1000 * benchmark(call, wait=wait)
        print(f"N = {n:5}, {name:6} {held:6.2f} MiB {took:7.2f} ms")
torch.set_num_threads(threads)

# %% [markdown]
# At 2,048 tokens in float32, one missing axis costs 64 times the memory. For twice the tokens, math holds four times the memory and flash twice: the output and one number for each query.
# (On a GPU, 64 heads are measured. One alone would leave it idle: flash would share its keys out among the processors,
# and hold an output of each share. `held_by` does not see what an operator makes and frees inside itself: a few tiles
# for each thread, about half a MiB,
# as many at 1,024 tokens as at 4,096.)
#
# ## Cost
#
# To compare speeds in operations a second, everyone has to count alike. For the forward pass of attention
# people count **4·B·H·N²·d**, as you did by hand, with d the width of *one head*; **exactly half if causal**, whatever the kernel
# really does; nothing for softmax (Dao 2023, section 4.1).

# %% [markdown]
# ### Exercise: `achieved_tflops`
#
# difficulty ●○○ · 2–4 min · 1 point
#
# From a time, work out the speed in TFLOP/s, 10¹² operations a second.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-achieved_tflops", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Operations over seconds, over 10¹².
#
# <details><summary>Hint 2: the sizes</summary>
#
# N is squared, d is not. Halve the count if causal. Nothing else.
#
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
# Your count, on two H100s, and how to repeat it (16 heads in float16, not causal):

# %% nbgrader={"grade": false, "grade_id": "ours", "locked": true, "schema_version": 3, "solution": false, "task": false}
for measured in figures.gpu_sdpa.recorded():
    for part in ("device", "driver", "versions", "date", "command"):
        print(f"{part:10}", measured[part])
    for run in (each for each in measured["runs"] if each["d"] == 128 and not each["causal"]):
        for n in (1024, 4096, 16384):
            timed = [row for row in run["rows"] if row["n"] == n and row["seconds"]]
            speeds = [achieved_tflops(row["seconds"], 1, run["heads"], n, 128) for row in timed]
            ways = [row["name"] for row in timed]
            print(f"{n:6} tokens, TFLOP/s:", *map("{} {:.0f}".format, ways, speeds), sep="  ")
figures.gpu_sdpa.speeds()

# %% [markdown]
# `sdpa` is PyTorch's call, free to choose: it takes cuDNN here, and from 4,096 tokens on comes to 537 to 641 TFLOP/s.
# FlashAttention-2 alone reaches 314 to 354. `naive` writes down all scores and
# stays below 115. At 1,024 tokens 16 heads leave much of the GPU idle.
#
# These are two H100s of one kind, a day apart, with the same versions and command. On the later day most take 1 to 19 %
# longer. So compare within one run: a tenth more or less says nothing about your program.
#
# On your own GPU the same command adds a run.
#
# ### The roofline
#
# How fast *could* it be? Two things take time: computing and moving. A processor does both at once, so the longer one
# decides.

# %% [markdown]
# ### Exercise: `roofline_seconds`
#
# difficulty ●○○ · 2–4 min · 1 point
#
# Return the least time in which a device can do this many operations and move this many bytes.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-roofline_seconds", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# *By hand* did it twice: a time for computing, a time for moving.
#
# </details>


# %% nbgrader={"grade": false, "grade_id": "roofline_seconds", "locked": false, "schema_version": 3, "solution": true, "task": false}
def roofline_seconds(
    flops: float, bytes_moved: float, peak_flops: float, bandwidth: float
) -> float:
    """The least time that a kernel can take.

    Args:
        flops: operations; may be a whole number, and may be 0; so may bytes_moved.
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
# **Measure.** The next cell measures the peak of *your* device by a large matrix product and a large copy, on one core
# of a CPU. Then it times prefill and decode: what share of the roofline does each reach, and what share of the peak?

# %% nbgrader={"grade": false, "grade_id": "measure", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from attnlab.bench.machine import name_of, peak

best = peak(device, str(usual).removeprefix("torch."))
print(f"{name_of(device)}: {best.flops / 1e12:.3g} TFLOP/s, {best.bandwidth / 1e9:.3g} GB/s, now\n")
print("                       ms   at best  of roofline  of peak   limited by")
torch.set_num_threads(1)
h, d = 8 * batch, 64
for name, queries, keys in (("prefill", 1024, 1024), ("decode", 1, 16384)):
    q = torch.randn(batch, 8, queries, d, device=device, dtype=usual)
    k, v = torch.randn(2, batch, 8, keys, d, device=device, dtype=usual)
    flops, moved = 4 * h * queries * keys * d, 2 * h * d * (queries + keys) * q.element_size()
    least = roofline_seconds(flops, moved, best.flops, best.bandwidth)
    limit = "computing" if flops / best.flops > moved / best.bandwidth else "moving"
    for backend in BACKENDS:
        if run_backend(q, k, v, backend) is not None:
            with sdpa_kernel(backend):  # asked for once, so that asking is not timed
                took = benchmark(F.scaled_dot_product_attention, q, k, v, wait=wait)
            print(f"{name:8} {backend.name:11.11} {1000 * took:8.2f}", end="")
            reached = flops / took / best.flops
            print(f" {1000 * least:8.2f} {least / took:11.0%} {reached:9.1%}   {limit}")
torch.set_num_threads(threads)

# %% [markdown]
# *Limited by* is what the roofline says before any kernel runs: computing limits a prefill of 1,024 tokens,
# moving limits decode. So, to decode faster, *move fewer bytes*. Few key heads (grouped queries, lesson 12) make the
# cache smaller, and so do 8 bits a number.
#
# ## Break it on purpose
#
# Somebody rewrote `run_backend` without `sdpa_kernel`. It returns the right numbers. Then a cell further down,
# which asks for nothing special, needs many times its memory. Guess why, before you read what the check says.

# %% nbgrader={"grade": false, "grade_id": "break-switch", "locked": true, "schema_version": 3, "solution": false, "task": false}
on = torch.backends.cuda
SWITCHES = {
    SDPBackend.MATH: on.enable_math_sdp,
    SDPBackend.FLASH_ATTENTION: on.enable_flash_sdp,
    SDPBackend.EFFICIENT_ATTENTION: on.enable_mem_efficient_sdp,
    SDPBackend.CUDNN_ATTENTION: on.enable_cudnn_sdp,
}


def rewritten(q, k, v, backend, causal=False):
    for each, turn in SWITCHES.items():
        turn(each == backend)
    return run_backend(q, k, v, backend, causal)


q, k, v = slip(1, 2, 6, 8)
run_backend(q, k, v, SDPBackend.MATH)  # stops here if it is not written, switches untouched
with torch.no_grad():
    print("before:", which_ran(q, k, v))
    out = rewritten(q, k, v, SDPBackend.MATH)
    print("right numbers:", torch.allclose(out, attend(q, k, v)[0], atol=1e-5))
    print("after: ", which_ran(q, k, v))
for turn in SWITCHES.values():
    turn(True)
check(rewritten, name="run_backend")

# %% [markdown]
# **Switches that stay.** The function allows one backend by its switch, and forgets the others. The symptom stands far
# from its cause: a call that never touched a switch makes all scores at once. Its numbers are the same except for
# rounding. (The
# cell turned all of them on again.)

# %% [markdown]
# ## Optional: a kernel of your own
#
# How does one write such a kernel? **Triton** is a language inside Python whose functions are compiled for a GPU. Its
# **interpreter** runs them on a CPU, slowly and with the same steps. PyTorch's builds for CUDA bring Triton. On Linux you
# also get it by `%pip install triton`.

# %% nbgrader={"grade": false, "grade_id": "triton", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from importlib.util import find_spec
from math import e, log2
from types import SimpleNamespace

has_triton = find_spec("triton") is not None
if has_triton:
    import triton
    import triton.language as tl
else:  # then you can read the kernel, and not run it
    triton, tl = SimpleNamespace(jit=lambda function: function), SimpleNamespace(constexpr=int)
print("Triton is here." if has_triton else "Triton is not installed here: read on, nothing runs.")

# %% [markdown]
# You write what **one program** does, as a function with `@triton.jit`. Many copies of it run at once. They form a
# **grid**, here (tiles of queries, B·H), and each program owns one tile of queries of one head:
#
# - `tl.program_id(0)` and `tl.program_id(1)` say which program this is. There is no loop over heads or queries.
# - `tl.arange(0, QUERIES)` is a row of numbers. Sizes of tiles are powers of 2 and known when the kernel is
#   compiled: `tl.constexpr` marks such numbers.
# - `tl.load(places, mask=…, other=0.0)` fetches a tile from memory. *Places* are addresses: the tensor's start plus a
#   number for each entry. Where the mask is False, nothing is read, and you get 0.
# - `tl.dot(a, b, c)` is a @ b + c, for tiles, summed in float32: what a GPU's tensor cores do.
# - `tl.store(places, tile, mask=…)` writes a tile. It stands once, at the end: no score and no weight goes to memory.
#
# Between load and store is lesson 11's `merge_softmax`: `top`, `total` and `out` are the running maximum, sum and values. `scale` is
# log₂e / √d, so that 2 to the power of a score is what e to the power of score/√d was: GPUs have an instruction for
# powers of 2.
#
# ### Your line
#
# difficulty ●●○ · 3–5 min · no points
#
# One line is missing. It makes `shrink`, (QUERIES,), the factor that corrects `total` and `out`: they were summed with
# the old maximum. For now it is 1, as if no maximum changed. Write your line into the cell, run
# it, and then the cells below it.
#
# <details><summary>Hint: the idea</summary>
#
# A weight was 2 to the power of (score − old maximum). It should have been 2 to the power of (score − new maximum).
# Which factor turns one into the other? For the first tile the old maximum is −∞, and the factor is 0.
#
# <details><summary>The line</summary>
#
# ```
#             shrink = tl.exp2(top - new_top)
# ```
#
# </details>
# </details>


# %%
@triton.jit
def forward(
    q_start, k_start, v_start, out_start, n, m, scale,
    D: tl.constexpr, WIDTH: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
    CAUSAL: tl.constexpr, DOT: tl.constexpr,
):  # fmt: skip
    """Attention of one tile of queries of one head, which is one program's work."""
    # Which work is mine? The grid is (tiles of queries, B * H).
    head = tl.program_id(1).to(tl.int64)  # all B * H * N * d numbers may be more than 2 ** 31
    first = tl.program_id(0) * QUERIES
    queries = first + tl.arange(0, QUERIES)  # (QUERIES,), their places in the sentence
    columns = tl.arange(0, WIDTH)
    inside = columns[None, :] < D

    # Load my queries, once. A number's place is the start, plus D for each row before its own.
    mine = (head * n + queries[:, None]) * D + columns[None, :]
    q = tl.load(q_start + mine, mask=(queries[:, None] < n) & inside, other=0.0).to(DOT)

    # What lesson 11's merge_softmax carries from tile to tile, in float32.
    top = tl.full([QUERIES], float("-inf"), tl.float32)
    total = tl.zeros([QUERIES], tl.float32)
    out = tl.zeros([QUERIES, WIDTH], tl.float32)

    # Tiles of keys that all my queries see whole come first. Those at the edge need a mask: they
    # are on the diagonal, or reach past the last key. Causal tiles past the diagonal are left out.
    whole = (tl.minimum(first + 1, m) if CAUSAL else m) // KEYS * KEYS
    last = tl.minimum(first + QUERIES, m) if CAUSAL else m
    for EDGE in tl.static_range(2):
        for start in range(whole if EDGE else 0, last if EDGE else whole, KEYS):
            keys = start + tl.arange(0, KEYS)
            there = (keys[:, None] < m) & inside
            theirs = (head * m + keys[:, None]) * D + columns[None, :]
            k = tl.load(k_start + theirs, mask=there, other=0.0).to(DOT)
            v = tl.load(v_start + theirs, mask=there, other=0.0)

            # Scores, (QUERIES, KEYS): a product of two tiles, summed in float32.
            scores = tl.dot(q, k.T, input_precision="ieee") * scale
            if EDGE:
                seen = keys[None, :] < m
                if CAUSAL:
                    seen = seen & (keys[None, :] <= queries[:, None])
                scores = tl.where(seen, scores, float("-inf"))

            new_top = tl.maximum(top, tl.max(scores, axis=1))
            weights = tl.exp2(scores - new_top[:, None])
            shrink = tl.full([QUERIES], 1.0, tl.float32)  # your line, instead of this one
            total = total * shrink + tl.sum(weights, axis=1)
            mixed = weights.to(v.dtype).to(DOT)
            out = tl.dot(mixed, v.to(DOT), out * shrink[:, None], input_precision="ieee")
            top = new_top

    # Store my rows of the output: the only line that writes to memory.
    rows = (out / total[:, None]).to(out_start.dtype.element_ty)
    tl.store(out_start + mine, rows, mask=(queries[:, None] < n) & inside)


# %% [markdown]
# `launch` starts the grid: it calls `forward[grid]` with tensors, of which Triton makes addresses. Rows have to
# lie one behind the other, which `.contiguous()` sees to. `DOT` is the type that is multiplied. (In the interpreter that
# is float32: in Triton 3.7.1 it multiplies bfloat16 as if it were whole numbers, and makes bfloat16 by cutting digits
# off.)


# %% nbgrader={"grade": false, "grade_id": "launch", "locked": true, "schema_version": 3, "solution": false, "task": false}
def launch(q, k, v, causal=False, tile=(32, 16)):
    """Attention by the kernel above.

    Args:
        q: (B, H, N, d).
        k, v: (B, H, M, d).
        tile: queries and keys in a tile, powers of 2, at least 16.
    Returns:
        (B, H, N, d).
    """
    b, h, n, d = q.shape
    out = torch.empty_like(q, memory_format=torch.contiguous_format)
    grid = triton.cdiv(n, tile[0]), b * h
    forward[grid](
        *(q.contiguous(), k.contiguous(), v.contiguous(), out),
        *(n, k.shape[-2], log2(e) / d**0.5),
        D=d,
        WIDTH=max(16, triton.next_power_of_2(d)),
        QUERIES=tile[0],
        KEYS=tile[1],
        CAUSAL=causal,
        DOT=tl.float32 if device == "cpu" else getattr(tl, str(q.dtype).removeprefix("torch.")),
    )
    return out


# %% [markdown]
# Is it right? With one tile of keys nothing has to be corrected. With several tiles your line decides. The last row's
# sizes fit no tile.

# %% nbgrader={"grade": false, "grade_id": "compare-kernel", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
torch.manual_seed(3)
rows = ((16, 16, False), (16, 80, False), (64, 64, True), (37, 50, True)) if has_triton else ()
right = []
for n, m, causal in rows:
    q, (k, v) = torch.randn(1, 2, n, 24, device=device), torch.randn(2, 1, 2, m, 24, device=device)
    seen = torch.ones(n, m, dtype=torch.bool, device=device).tril() if causal else None
    exact = attend(q.double(), k.double(), v.double(), seen)[0]
    own, naive = launch(q, k, v, causal), attend(q, k, v, seen)[0]
    off = (own - exact).abs().max().item()
    right.append(is_fair(own, naive, exact))
    print(f"N = {n}, M = {m}, {causal=}: off by {off:.1e}, fair: {right[-1]}")
if not all(right):
    print("Not written yet: the line that makes `shrink`.")

# %% [markdown]
# Then time it beside every backend. This takes a GPU. The command above
# (`attnlab.bench`) times the same kernel as `triton`, with the fastest of five sizes of tiles. On the two H100s, with d = 128, it
# came to 316 to 471 TFLOP/s from 4,096 tokens on: as much as FlashAttention-2 there or more, and 58 to 85 % of cuDNN.

# %% nbgrader={"grade": false, "grade_id": "time-kernel", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
if device == "cuda" and right and all(right):
    q, k, v = slip(4, 16, 4096, 64, dtype=usual)
    own = benchmark(launch, q, k, v, True, (64, 64), wait=wait)
    print(f"{'yours':20} {achieved_tflops(own, 4, 16, 4096, 64, True):6.0f} TFLOP/s")
    for backend in BACKENDS:
        if run_backend(q, k, v, backend, True) is not None:
            took = benchmark(run_backend, q, k, v, backend, True, wait=wait)
            print(f"{backend.name:20} {achieved_tflops(took, 4, 16, 4096, 64, True):6.0f} TFLOP/s")
else:
    print("This takes a GPU, and a kernel that is right.")

# %% [markdown]
# ## Check yourself

# %% nbgrader={"grade": false, "grade_id": "quiz-check-yourself", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("check yourself")

# %% [markdown]
# ## Take away
#
# 1. One call, four axes. Ask which kernel ran ([one call](#One-call)).
# 2. Each backend has rules; where PyTorch gives the reasons for a refusal, they are warnings. Switches are global, and `sdpa_kernel` gives them back ([who refuses](#Who-refuses,-and-why)).
# 3. An error is fair if it is at most twice the error of naive attention in the same precision, both measured against float64 ([what error is fair](#What-error-is-fair)).
# 4. Warm up, synchronise, median, spread ([timing](#Timing-done-right)). Reset, note what is held, call, subtract ([memory](#Memory-done-right)).
# 5. Computing limits a long prefill, moving limits decode: the roofline says so before you measure ([the roofline](#The-roofline)).
#
# ### Sources
#
# - FlashAttention-2, how speeds are counted: T. Dao (2023), [arXiv:2307.08691](https://arxiv.org/abs/2307.08691)
# - The rule for errors: [flash-attention](https://github.com/Dao-AILab/flash-attention), `tests/test_flash_attn.py`.
# - What each backend takes: [pytorch](https://github.com/pytorch/pytorch), `aten/src/ATen/native/transformers/cuda/sdp_utils.cpp`.
# - Speeds on an H100: [pytorch/benchmark, pull request 2296](https://github.com/pytorch/benchmark/pull/2296).
# - Roofline: S. Williams, A. Waterman, D. Patterson (2009), Communications of the ACM 52(4).
# - PyTorch's manual: [scaled_dot_product_attention](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html), [sdpa_kernel](https://docs.pytorch.org/docs/stable/generated/torch.nn.attention.sdpa_kernel.html).
#
# **To carry over.** A published language model calls attention through one function with a fixed signature. What would
# yours have to accept to stand in its place: which mask, how many key heads, how many keys for one query?

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
