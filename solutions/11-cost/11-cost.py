# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 11 · The N² wall, and the ways around it
#
# Every token asks every token, so N tokens make N² scores. You count that price, measure it, and get around it in
# two ways that keep the result: tiles, and a cache. (Lesson 12 has ways that change it.)
#
# | | |
# |---|---|
# | **You will be able to** | count and measure attention's flops and bytes; write attention that never holds the N × M matrix; decode with a key–value cache, and size it |
# | **Minutes** | about 75 |
# | **You need** | lessons 05 to 07: batched attention, causal masks, heads |
# | **Runs on** | CPU; needs no network |
# | **You may stop** | before *Break it on purpose* |
# | **Points** | 10, in four exercises |
#
# Today the library grows. The running sentence opens *Anna Karenina*, about 350,000 words long:
# ***Happy families are all alike***. Could a model attend to all of it?

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlab import begin, check, figures, quiz  # is it missing? open it by: attnlab lab

torch.set_num_threads(1)  # one core for PyTorch, so that its times can be compared
begin("11-cost")

# %% [markdown]
# Where are the scores, and what is left of them?

# %% nbgrader={"grade": false, "grade_id": "opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.opening()

# %% [markdown]
# **Where you are.** The lit parts work on N × M numbers: the wall.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("table")

# %% [markdown]
# ## Recall

# %% nbgrader={"grade": false, "grade_id": "quiz-recall", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("recall")

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Predict
#
# Commit to a guess. You measure both further down.

# %% nbgrader={"grade": false, "grade_id": "quiz-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("predict")

# %% [markdown]
# ## By hand
#
# A reader asks three books with scores 0, 1 and 2 and values 10, 20 and 30. But the third book arrives
# late. For the first two you note three numbers: the largest score **m**; **s**, the sum of the powers
# $e^{\text{score} - m}$; and **o**, the sum of power times value, *not yet divided by s*.
#
# | | m | s | o |
# |---|---|---|---|
# | books 1, 2 | 1 | e⁻¹ + 1 = 1.368 | 0.368 · 10 + 1 · 20 = 23.68 |
# | book 3 | 2 | 1 | 30 |
# | **together** | 2 | 1.368 · **0.368** + 1 = 1.503 | 23.68 · **0.368** + 30 = 38.71 |
#
# The largest score was 1 and is now 2. So you multiply both old sums by $e^{1 - 2}$ = 0.368 before you add the
# new ones. At the end, o/s = 25.75. Redo it on paper:

# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
weights = torch.tensor([0.0, 1, 2]).softmax(dim=0)
print(f"{weights @ torch.tensor([10.0, 20, 30]):.2f}")

# %% [markdown]
# ## Shape ledger
#
# | symbol | what it is | axes |
# |---|---|---|
# | q, k, v | queries, keys, values | (…, N, $d_k$), (…, M, $d_k$), (…, M, $d_v$) |
# | b | block_size, the edge of a tile | a number |
# | m, s | running maximum and sum of a query | (…) |
# | o | running output, not divided by s | (…, $d_v$) |
# | k_all, v_all | what a cache holds | as k, v |
#
# Attention itself is given, as in lessons 07 to 10:


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
# Move N. The charts' axes are logarithmic, so N² is a line of slope 2. From which N on do the products that grow as N²
# outweigh the projections? When do the scores no longer fit into a laptop? The button measures on your machine.

# %% nbgrader={"grade": false, "grade_id": "see-cost", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.live.Cost(n=4096, d=512, heads=8, dtype="float32")

# %% [markdown]
# ## Count before you measure
#
# Take one head, where q, k and v are (n, d) each. A [**flop**](../glossary.md#flop) is one multiplication or addition.
#
# - **Q Kᵀ**: n² dot products. Each has d multiplications and (by custom) d additions: 2n²d flops.
# - **Weights times V**: 2n²d again. The softmax in between, a few flops a score, is left out.
# - **Scores**: n² numbers, times the bytes of a number: 4 in float32, 2 in half precision.
# - **Input and output** (*io*): q, k, v and the output, once each: 4 · n · d numbers.

# %% [markdown]
# ### Exercise: `attention_cost`
#
# difficulty ●○○ · 2–3 min · 1 point
#
# Return the three counts as whole numbers.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-attention_cost", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# All three counts stand in the list above.
#
# <details><summary>Hint 2: the shapes</summary>
#
# (n, d) times (d, n), then (n, n) times (n, d). A product of (a, b) and (b, c) takes 2abc flops.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "attention_cost", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_cost(n: int, d: int, bytes_per_element: int = 2) -> tuple[int, int, int]:
    """Count what attention of one head costs, without projections and softmax.

    Args:
        n: tokens.
        d: width of queries, keys and values.
        bytes_per_element: bytes of a number; 2 in half precision.
    Returns:
        flops: of both matrix products.
        score_bytes: bytes of all scores.
        io_bytes: bytes of q, k, v and the output, once each.
    """
    ### BEGIN SOLUTION
    flops = 4 * n * n * d
    return flops, n * n * bytes_per_element, 4 * n * d * bytes_per_element
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "attention_cost-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(attention_cost)

# %% [markdown]
# `FlopCounterMode` lets PyTorch count the flops of its matrix products. Then count three lengths, with 128
# numbers a head in half precision: a page, a long article, and *Anna Karenina*.

# %% nbgrader={"grade": false, "grade_id": "use-attention_cost", "locked": true, "schema_version": 3, "solution": false, "task": false}
from torch.utils.flop_counter import FlopCounterMode


def flops_of(function, *args):
    """Flops of the matrix products in one call, as PyTorch counts them."""
    with FlopCounterMode(display=False) as counter:
        function(*args)
    return counter.get_total_flops()


q, k, v = (torch.randn(300, 16) for _ in range(3))
print("PyTorch counts the same:", flops_of(attend, q, k, v) == attention_cost(300, 16)[0])
for n in (500, 10_000, 350_000):
    flops, score_bytes, io_bytes = attention_cost(n, 128)
    print(
        f"N = {n:7,}: {flops / 1e12:8.4f} trillion flops, "
        f"scores {score_bytes / 1e9:8.4f} GB, io {io_bytes / 1e9:.4f} GB"
    )

# %% [markdown]
# For the novel, *one head of one layer* has 245 GB of scores. All that goes in and comes out is a third of a
# gigabyte. The scores are not the result: that is the hope of this lesson.
#
# **Now measure** pure Python (lesson 02), NumPy (03), PyTorch (*naive*, 05) and the fused
# `F.scaled_dot_product_attention` (*sdpa*). The plots show the most bytes that are allocated at once, and time. A line
# says whether its longer half grows as N or as N², where that can be told.

# %% nbgrader={"grade": false, "grade_id": "measure-wall", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from attnlab.bench import measure, plot
from attnlab.bench.ways import ways

known = ways(causal=False, device="cpu", tiled=None)
chosen = {name: known[name] for name in ("python", "numpy", "naive", "sdpa")}
rows = measure(chosen, [128, 256, 512, 1024, 2048, 4096], d=16, seconds=5.0)
plot(rows, focus="sdpa")

# %% [markdown]
# On the left, NumPy and naive PyTorch have slope 2. Two lines have slope 1: Python's loops, which hold one row of
# scores at a time (they stop too early to say so), and the fused call. (Lesson 13 says when it falls back to N².)
# On the right (on a quiet machine), every line climbs by a power of about 2 or more: a faster language moves the line
# down, and does not make it flatter.
# The fused call is as fast as any. How does it get by without the scores?
#
# ## Softmax in parts
#
# A softmax seems to need its whole row. By hand, m, s and o of each part were enough. To merge two parts,
# measure both against the larger maximum, then add:
#
# $$m = \max(m_1, m_2), \qquad s = e^{m_1 - m} s_1 + e^{m_2 - m} s_2, \qquad o = e^{m_1 - m} o_1 + e^{m_2 - m} o_2$$
#
# For m and s this is [*online softmax*](../glossary.md#online-softmax) (Milakov and Gimelshein 2018, section 3.1). A part
# without any key (all are masked, say) is (−∞, 0, 0). Two empty parts make an empty part, and −∞ − (−∞) is NaN: beware.

# %% [markdown]
# ### Exercise: `merge_softmax`
#
# difficulty ●●○ · 4–6 min · 2 points
#
# Merge two parts, with any leading axes, in float32 or float64. Maxima may be thousands apart. Gradients have to
# flow from each result to every input that it depends on: detach nothing.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-merge_softmax", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Each part has a factor, never above 1, for its sum and its output. `torch.maximum` gives the common maximum.
# Where that is −∞, subtract 0 instead (`torch.where` chooses): e to the −∞ is then 0, as it should be. Return
# the maximum as it is.
#
# <details><summary>Hint 2: the shapes</summary>
#
# m, s and the factors are (…); o is (…, $d_v$). So a factor needs one more axis to meet o: `[..., None]`.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "merge_softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def merge_softmax(
    m1: Tensor, s1: Tensor, o1: Tensor, m2: Tensor, s2: Tensor, o2: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Put two parts of the same rows together; an empty part is (−∞, 0, 0).

    Args:
        m1, m2: (…), the largest score of each part.
        s1, s2: (…), sums of e^(score − m).
        o1, o2: (…, d_v), sums of e^(score − m) · value, not divided by s.
    Returns:
        m (…), s (…) and o (…, d_v) of both parts together.
    """
    ### BEGIN SOLUTION
    m = torch.maximum(m1, m2)
    shift = torch.where(m == -math.inf, 0.0, m)
    first, second = (m1 - shift).exp(), (m2 - shift).exp()
    s = first * s1 + second * s2
    return m, s, first[..., None] * o1 + second[..., None] * o2
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "merge_softmax-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(merge_softmax)

# %% [markdown]
# ## Attention in tiles
#
# Cut the N × M scores into [**tiles**](../glossary.md#tile) of b × b. Take b queries and the first b keys.
# Compute their tile, note m, s and o, and *forget the tile*. Take the next b keys, and merge. After the last
# keys, divide o by s.
#
# Nothing is approximated, and you hold one tile and a few numbers a query. This is FlashAttention's idea
# (Dao et al. 2022, section 3.1). There it saves time, too: the scores stay in the GPU's small fast memory.
#
# Step through it. Which tiles are skipped? When does the factor differ from 1?

# %% nbgrader={"grade": false, "grade_id": "see-tiles", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.live.Tiles(causal=True, step=5)

# %% [markdown]
# **The causal mask, tile by tile.** The whole mask has N × M entries, so never build it. In a tile that begins
# at query i and key j, entry (r, c) belongs to query i + r and key j + c: compare *those*. If a tile's first
# key comes after its last query, skip the tile. With many tiles this saves almost half of the work.

# %% [markdown]
# ### Exercise: `tiled_attention`
#
# difficulty ●●● · 10–15 min · 4 points
#
# The check turns gradients off and counts the numbers in all tensors that you keep at one time, inputs aside. For
# each leading index they have to stay below 4 (b² + b ($d_k$ + $d_v$) + N $d_v$), where b is block_size. At the
# check's sizes, b × M numbers are already too many, so cut queries *and* keys, and masks too. block_size need
# not divide N or M and may be larger. A block_size below 1 is a `ValueError`. Gradients have to flow, so change
# nothing in place that autograd needs.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-tiled_attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Write two loops: outside over tiles of queries, inside over tiles of keys. Inside, merge the tile's (m, s, o)
# with what you have. Outside, divide.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Slices end by themselves at N: `q[..., i : i + block_size, :]` is (…, up to b, $d_k$). A tile's scores are (…,
# b, b), its m and s (…, b), its o (…, b, $d_v$). Its mask is (b, b), made of two `torch.arange`s that begin at i
# and at j.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. For each i: slice the queries, and begin with an empty part. `torch.zeros_like(…[..., 0])` makes a 0 for each
#    query; o may begin as that, `[..., None]`.
# 2. For each j: if it is causal and j lies beyond the tile's last query, end the inner loop. Divide the slices' scores by $\sqrt{d_k}$;
#    if causal, fill in −∞ where the key comes after the query. Merge the tile's m, s and o with what you have.
# 3. After the inner loop append o/s to a list. At the end join it along axis −2.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "tiled_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def tiled_attention(
    q: Tensor, k: Tensor, v: Tensor, block_size: int, causal: bool = False
) -> Tensor:
    """Compute attention tile by tile, never holding the scores as a whole.

    Float32 or float64; scores may be in the thousands.

    Args:
        q: (…, N, d_k).
        k: (…, M, d_k).
        v: (…, M, d_v).
        block_size: queries and keys in a tile; may be larger than N and M.
        causal: query i sees keys 0 … i alone, as in SDPA.
    Returns:
        (…, N, d_v).
    Raises:
        ValueError: block_size is below 1.
        ValueError or RuntimeError: shapes do not fit.
    """
    ### BEGIN SOLUTION
    if block_size < 1:
        raise ValueError(f"block_size is {block_size}: a tile has at least one query")
    done = []
    for i in range(0, q.shape[-2], block_size):
        asking = q[..., i : i + block_size, :]
        nothing = torch.zeros_like(asking[..., 0])
        so_far = nothing - math.inf, nothing, nothing[..., None]
        for j in range(0, k.shape[-2], block_size):
            if causal and j >= i + asking.shape[-2]:
                break
            scores = asking @ k[..., j : j + block_size, :].mT / q.shape[-1] ** 0.5
            if causal:
                queries = torch.arange(i, i + scores.shape[-2], device=q.device)
                keys = torch.arange(j, j + scores.shape[-1], device=q.device)
                scores = scores.masked_fill(keys > queries[:, None], -math.inf)
            m = scores.amax(dim=-1)
            powers = (scores - m[..., None]).exp()
            part = m, powers.sum(dim=-1), powers @ v[..., j : j + block_size, :]
            so_far = merge_softmax(*so_far, *part)
        _, s, o = so_far
        done.append(o / s[..., None])
    return torch.cat(done, dim=-2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "tiled_attention-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(tiled_attention)

# %% [markdown]
# Does it equal PyTorch's call? How many bytes does it hold? How much work do causal tiles save?

# %% nbgrader={"grade": false, "grade_id": "use-tiled_attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab.bench.held import held_by

torch.manual_seed(11)
q, k, v = (torch.randn(2, 4, 100, 16, dtype=torch.float64) for _ in range(3))
expected = F.scaled_dot_product_attention(q, k, v, is_causal=True)
print("equals SDPA:", torch.allclose(tiled_attention(q, k, v, 24, True), expected, 0, 1e-12))


def bytes_a_token(way, n):
    """The most that a call holds at one time, besides its inputs, for each of n tokens."""
    inputs = torch.randn(3, n, 16)
    return held_by(lambda: way(*inputs)) / n


def in_tiles(q, k, v):
    """Yours, in tiles of 16."""
    return tiled_attention(q, k, v, 16)


print("     N   bytes held a token: at once   in tiles")
for n in (256, 512, 1024):
    print(f"{n:6} {bytes_a_token(attend, n):29,.0f} {bytes_a_token(in_tiles, n):10,.0f}")
q, k, v = torch.randn(3, 2048, 16)
full, half = (flops_of(tiled_attention, q, k, v, 64, causal) for causal in (False, True))
print(f"flops, causal: {half / full:.1%} of all tiles")

# %% [markdown]
# All at once, in float32 and without a mask, a token costs about 8 bytes for each other token: N² (12 bytes with a causal mask). In tiles it costs no more in a longer
# text, so twice the tokens take twice the memory. Ours takes 145 to 132 bytes a token, because it collects its rows in
# a list and then joins them. Written into an output that is there from the start, they take 94 to 72. That is one half
# of your first prediction; the time comes under *Cost*.
#
# In training, autograd keeps each tile's powers for the way back: N² again. FlashAttention keeps q, k, v, the
# output and one number a row, L = m + $\log s$ (Dao 2023, section 3.1), and computes each tile's weights once
# more, $e^{\text{score} - L}$. More flops, less memory.


# %% [markdown]
# ## Keep what does not change: a cache
#
# A decoder writes one word at a time. Without a cache, each step makes the keys and values of *all* words
# again, though they never change: word 3 does not see word 9, and keeps its place. A [**key–value
# cache**](../glossary.md#key-value-cache) keeps them. Each step projects one token, appends its key and value,
# and lets *one* query ask all keys. One new token of one text needs no mask: everything
# in the cache lies in the past. With padding in the cache, or several new tokens, you need one. The model reads
# the prompt first, all at once: the [**prefill**](../glossary.md#prefill).

# %% [markdown]
# ### Exercise: `KVCache`
#
# difficulty ●●○ · 5–7 min · 3 points
#
# Write the cache, and the step that decodes with it. `append` joins any number of tokens to those it has, along
# axis −2, with any leading axes. `decode_step` equals the last row of full causal attention, at scores in the thousands too. Another batch or
# width is an error; `torch.cat`'s own will do. The check makes many caches, so keep what belongs to one in
# `self`.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-KVCache", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Begin with None for keys and values. The first `append` keeps what it is given; later ones join old and new
# (`torch.cat`), *keep* the result, and return it. The step appends first and attends then, as a token sees
# itself.
#
# <details><summary>Hint 2: the shapes</summary>
#
# (…, M, $d_k$) and (…, L, $d_k$) make (…, M + L, $d_k$). In the step the query is (B, 1, $d_k$), the keys are (B, M, $d_k$), the output is (B, 1, $d_v$).
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "KVCache", "locked": false, "schema_version": 3, "solution": true, "task": false}
class KVCache:
    """The keys and values of all tokens so far, in their dtype; empty when it is made."""

    def __init__(self) -> None:
        ### BEGIN SOLUTION
        self.k: Tensor | None = None
        self.v: Tensor | None = None
        ### END SOLUTION

    def append(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add the keys and values of L more tokens.

        Args:
            k: (…, L, d_k).
            v: (…, L, d_v).
        Returns:
            k_all (…, M, d_k) and v_all (…, M, d_v), of all M tokens so far.
        Raises:
            ValueError or RuntimeError: another batch or width than before.
        """
        ### BEGIN SOLUTION
        if self.k is not None and self.v is not None:
            k, v = torch.cat([self.k, k], dim=-2), torch.cat([self.v, v], dim=-2)
        self.k, self.v = k, v
        return k, v
        ### END SOLUTION


def decode_step(x_t: Tensor, cache: KVCache, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> Tensor:
    """Let the newest token attend to all before it and to itself.

    Args:
        x_t: (B, 1, d), the newest token.
        cache: of the tokens before it; it grows by this one.
        Wq, Wk: (d, d_k).
        Wv: (d, d_v).
    Returns:
        (B, 1, d_v).
    """
    ### BEGIN SOLUTION
    keys, values = cache.append(x_t @ Wk, x_t @ Wv)
    return attend(x_t @ Wq, keys, values)[0]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "KVCache-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(KVCache)

# %% [markdown]
# Read five tokens, decode four, and compare with full attention. Then count one step's flops.

# %% nbgrader={"grade": false, "grade_id": "use-KVCache", "locked": true, "schema_version": 3, "solution": false, "task": false}
torch.manual_seed(5)
x = torch.randn(2, 9, 6, dtype=torch.float64)
Wq, Wk, Wv = (torch.randn(6, width, dtype=torch.float64) for width in (4, 4, 3))


def in_full(x):
    """Causal attention of all tokens, made anew."""
    return F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv, is_causal=True)


cache = KVCache()
cache.append(x[:, :5] @ Wk, x[:, :5] @ Wv)  # the prefill
steps = torch.cat([decode_step(x[:, t : t + 1], cache, Wq, Wk, Wv) for t in range(5, 9)], dim=1)
print("equals full causal attention:", torch.allclose(steps, in_full(x)[:, 5:], 0, 1e-12))

long = torch.randn(1, 1000, 6, dtype=torch.float64)
cache = KVCache()
cache.append(long[:, :-1] @ Wk, long[:, :-1] @ Wv)
step = flops_of(decode_step, long[:, -1:], cache, Wq, Wk, Wv)
print(f"flops of step 1000: kept {step:,}, anew {flops_of(in_full, long):,}")

try:
    cache.append(torch.zeros(2, 1, 4), torch.zeros(2, 1, 3))
except (ValueError, RuntimeError) as error:
    print(f"another batch: {type(error).__name__}")

# %% [markdown]
# (Prediction 2: A.) The price is memory. The bytes of a token are
#
# $$2 \times \text{layers} \times \text{key heads} \times \text{width of a head} \times \text{bytes of a number}$$
#
# **LLaMA**'s 7B model, and Llama 2's, which has the same layout, has 32 layers and 32 heads of 128 (Touvron et al. 2023a, table 2). In half precision that is
# 2 · 32 · 32 · 128 · 2 bytes: half a mebibyte for every token, and 2 GiB for 4,096 of them. Lesson 12 lets heads
# share.

# %% [markdown]
# ## Break it on purpose
#
# **What is wrong?** This function also merges two tiles:


# %% nbgrader={"grade": false, "grade_id": "break-rescale", "locked": true, "schema_version": 3, "solution": false, "task": false}
def forgetful(m1, s1, o1, m2, s2, o2):
    m, _, o = merge_softmax(m1, s1, o1, m2, s2, o2)
    return m, s1 + s2, o


check(forgetful, name="merge_softmax")

# %% [markdown]
# Look at the symptom with the three books of *By hand*, and then with a third book whose score equals the second's:

# %% nbgrader={"grade": false, "grade_id": "break-symptom", "locked": true, "schema_version": 3, "solution": false, "task": false}
two = [torch.tensor(number) for number in (1.0, 1.368)] + [torch.tensor([23.68])]
late = [torch.tensor(number) for number in (2.0, 1.0)] + [torch.tensor([30.0])]
low = [torch.tensor(number) for number in (1.0, 1.0)] + [torch.tensor([30.0])]
for name, third in (("score 2", late), ("score 1", low)):
    for function in (merge_softmax, forgetful):
        _, s, o = function(*two, *third)
        print(f"third book has {name}, {function.__name__:13}: {(o / s).item():.2f}")

# %% [markdown]
# Where two tiles differ in their largest score, the sums of one of them need a factor. This function **forgets the
# factor** for s. Where the maxima are equal, the factor is 1 and the mistake does not show. So test with scores that
# rise and
# fall from tile to tile.
#
# ## Cost
#
# **Count** one head of width d, M = N:
#
# | way | flops | extra memory |
# |---|---|---|
# | all at once | 4N²d | N² |
# | tiles of b | 4N²d, about half if causal and b small beside N | N · d + b² |
# | a step with a cache | 4Nd | 2Nd, kept |
#
# **Measure** your tiles beside naive attention:

# %% nbgrader={"grade": false, "grade_id": "measure-ways", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
rows = measure(
    {
        "naive": known["naive"],
        "tiles of 64": lambda q, k, v: tiled_attention(q, k, v, 64),
    },
    [256, 512, 1024, 2048, 4096],
    d=16,
    seconds=6.0,
)
plot(rows, focus="tiles of 64")

# %% [markdown]
# On the left, naive alone has slope 2. On the right, both lines have slope about 2 or more. Without a causal mask
# tiles save no flops (prediction 1: B). Naive's time jumps on the way, perhaps elsewhere than in the plot above. You
# find out why next.
#
# ### How wide should a tile be?
#
# Tiles of 64 take longer than naive attention here. Is that the price of tiles? Guess where the curve is lowest. The
# line *naive, tables reused* is naive attention once more, into two tables that are there already.

# %% nbgrader={"grade": false, "grade_id": "see-width", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from timeit import repeat

q, k, v = torch.randn(3, 4096, 16)
tables = torch.empty(2, 4096, 4096)


def into_tables():
    """Naive attention that asks for no new table."""
    scores, weights = tables
    torch.mm(q, k.mT, out=scores)
    torch.softmax(scores.div_(16**0.5), dim=-1, out=weights)
    return weights @ v


def seconds(way):
    """The shortest of three runs."""
    return min(repeat(way, number=1, repeat=3))


by_width = {2**p: seconds(lambda: tiled_attention(q, k, v, 2**p)) for p in range(5, 13)}
others = {"naive": lambda: attend(q, k, v), "naive, tables reused": into_tables}
others["sdpa"] = lambda: F.scaled_dot_product_attention(*torch.stack([q, k, v])[:, None, None])
figures.cost.widths(by_width, {name: seconds(way) for name, way in others.items()}, tokens=4096)

# %% [markdown]
# Tiles of 32 lose: there are 128 · 128 of them, and for each Python makes a dozen calls. From 128 or 256 on **your own
# tiles beat naive attention** at this length, three to four times on our machine, with the same flops. One tile of 4,096
# is slow again.
#
# Why? Naive attention makes three tables of 64 MiB, and the machine has to hand out that memory anew each time. Naive
# attention that reuses its tables comes near your best tiles. So the new memory was slow, and not the arithmetic. A tile's
# memory is small, and the next tile uses it again. With wider heads there is more arithmetic, and less to gain.

# %% [markdown]
# ## Check yourself

# %% nbgrader={"grade": false, "grade_id": "quiz-check-yourself", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("check yourself")

# %% [markdown]
# ## Take away
#
# 1. Attention computes 4N²d flops and forms N² scores; what goes in and out is 4Nd ([count](#Count-before-you-measure)).
# 2. (m, s, o) sum up any part of a softmax, and two parts merge exactly ([parts](#Softmax-in-parts)).
# 3. In tiles, exact attention holds memory that grows as N; backward computes again what it did not keep ([tiles](#Attention-in-tiles)).
# 4. A causal decoder may keep keys and values: a step takes 4Nd flops, and the whole text anew 4N²d ([cache](#Keep-what-does-not-change:-a-cache)).
# 5. A cache costs a key and a value for each token, in each layer and each head of keys and values ([cache](#Keep-what-does-not-change:-a-cache)).
#
# ### Sources
#
# - Dao et al. 2022, [FlashAttention](https://arxiv.org/abs/2205.14135); Dao 2023, [FlashAttention-2](https://arxiv.org/abs/2307.08691)
# - Milakov and Gimelshein 2018, [Online normalizer](https://arxiv.org/abs/1805.02867)
# - Touvron et al. 2023a, [LLaMA](https://arxiv.org/abs/2302.13971)
#
# **To carry over.** The fused call is still faster than your best tiles, about twice with heads of 16. What can a
# [**kernel**](../glossary.md#kernel) do that a loop in Python cannot?

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
