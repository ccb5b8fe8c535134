# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 06 · No looking ahead
#
# A model that writes is trained on sentences that are already written. If a word can look at the
# next one, the model learns to copy it, and has nothing to copy when it has to write. One triangle
# of −∞ prevents that. It is small, and it is where attention code most often goes wrong without an
# error, so this lesson breaks it in every usual way.
#
# | | |
# |---|---|
# | **You will be able to** | write causal attention that equals PyTorch's; hide padding and the future with one mask; recognise four classic failures by their symptom; say which way round a mask is before you pass it on |
# | **Minutes** | about 75 |
# | **You need** | lessons 03 to 05: masks, √d_k, batched tensors and `F.scaled_dot_product_attention` |
# | **Runs on** | CPU; needs no network |
# | **Points** | 9, in four exercises |
#
# `F.scaled_dot_product_attention` is called **SDPA** from here on. Masks come in two conventions, so
# beside every mask in this lesson stands what True means in it: *attend* or *blocked*.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from attnlab import begin, check, figures

torch.set_printoptions(precision=3, sci_mode=False)
begin("06-causal-mask")

# %% [markdown]
# ## Recall
#
# Two questions on earlier lessons. Opening a choice is choosing it.

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
# **1.** The entries of q and k are independent, with mean 0 and variance 1, and d_k = 64. What is the
# standard deviation of q·k?
#
# <details><summary>A. 64</summary>
#
# Not this one: 64 is its *variance*, a sum of 64 variances of 1. The standard deviation is the root.
#
# </details>
# <details><summary>B. 8</summary>
#
# Yes. √64 = 8. Scores that large push nearly all weight onto one key, so they are divided by √d_k.
#
# </details>
# <details><summary>C. 1</summary>
#
# Not this one: that is what it becomes *after* the division by √d_k.
#
# </details>
#
# **2.** You pass a bool `attn_mask` to SDPA. Its first row is (True, True, False). What may the first
# query do?
#
# <details><summary>A. Read keys 1 and 2, and not key 3</summary>
#
# Yes. In SDPA's `attn_mask` True = attend. Keep this in mind: another function in PyTorch reads the
# same row the other way round.
#
# </details>
# <details><summary>B. Read key 3 alone</summary>
#
# Not this one: that reading, True = blocked, belongs to `nn.MultiheadAttention`. SDPA's True =
# attend.
#
# </details>
# <details><summary>C. Read all keys, key 3 with less weight</summary>
#
# Not this one: a bool mask allows or forbids. A *float* mask, which is added to the scores, can make a
# key weaker.
#
# </details>

# %% [markdown]
# ## Predict
#
# At the library's reference desk a query is what a reader asks, a key is what a book's spine
# promises, a value is what its pages say. Today the books are *delivered one at a time*, in the order
# of the words, and each reader arrives together with one book. Nobody can open a book that has not
# been delivered yet. The running sentence has eight words: *the cat sat on the mat yesterday
# afternoon*.

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# **1.** Every word reads itself and the words before it. You replace the last word, *afternoon*, by
# *morning*. How many of the eight output rows change?
#
# <details><summary>A. All eight</summary>
#
# Not this one: that is what happens when every word may read every word. Here seven readers left
# before the last book arrived.
#
# </details>
# <details><summary>B. One</summary>
#
# Yes. Only the last row reads the last word, as its own.
#
# </details>
# <details><summary>C. None</summary>
#
# Not this one: a word may read itself, so the last row changes.
#
# </details>
#
# **2.** Now you replace *sat*, the third word, instead. How many rows change?
#
# <details><summary>A. Three</summary>
#
# Not this one: *the* and *cat* came before *sat* and cannot have read it.
#
# </details>
# <details><summary>B. Six</summary>
#
# Yes. Rows 3 to 8: *sat* itself and the five words after it. Further down you count both with your own
# code.
#
# </details>
# <details><summary>C. All eight</summary>
#
# Not this one: rows 1 and 2 cannot have read the third word.
#
# </details>

# %% [markdown]
# ## By hand
#
# Take the first four words, *the cat sat on*, with d_k = 4. Suppose that their queries and keys have
# these scores. A row is a reader, a column a book.
#
# | q·k | the | cat | sat | on |
# |---|---|---|---|---|
# | **the** | 2 | 4 | 0 | 2 |
# | **cat** | 0 | 2 | 4 | 0 |
# | **sat** | 2 | 4 | 0 | 4 |
# | **on** | 2 | 0 | 2 | 4 |
#
# **Step 1: scale.** Divide by √d_k = 2.
#
# **Step 2: hide.** Reader n may open books 1 to n. Write −∞ in every cell to the right of the
# diagonal.
#
# | scaled, future hidden | the | cat | sat | on |
# |---|---|---|---|---|
# | **the** | 1 | −∞ | −∞ | −∞ |
# | **cat** | 0 | 1 | −∞ | −∞ |
# | **sat** | 1 | 2 | 0 | −∞ |
# | **on** | 1 | 0 | 1 | 2 |
#
# **Step 3: softmax of each row.** The powers that you need are e⁰ = 1, e¹ = 2.718, e² = 7.389, and
# e to the −∞, which is 0.
#
# | weights | the | cat | sat | on | powers add up to |
# |---|---|---|---|---|---|
# | **the** | 1 | 0 | 0 | 0 | 2.718 |
# | **cat** | 0.269 | 0.731 | 0 | 0 | 3.718 |
# | **sat** | 0.245 | 0.665 | 0.090 | 0 | 11.107 |
# | **on** | 0.197 | 0.072 | 0.197 | 0.534 | 13.826 |
#
# **Step 4: mix.** With the values (10, 0), (0, 10), (5, 5) and (0, 0) the outputs are (10, 0),
# (2.69, 7.31), (2.90, 7.10) and (2.95, 1.71).
#
# Redo the row of *sat* on paper. Then compare the row of *the* with what it would be without step 2:
# its best scaled score is 2, for *cat*, which would get 0.534 of its attention. *Cat* had not been
# delivered.

# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
hidden = torch.tensor(
    [
        [1, -math.inf, -math.inf, -math.inf],
        [0, 1, -math.inf, -math.inf],
        [1, 2, 0, -math.inf],
        [1, 0, 1, 2],
    ],
    dtype=torch.float64,
)
pages = torch.tensor([[10.0, 0], [0, 10], [5, 5], [0, 0]], dtype=torch.float64)
shares = F.softmax(hidden, dim=-1)
print(shares)
print(shares @ pages)

# %% [markdown]
# ## Shape ledger
#
# N is the number of queries and M the number of keys. In self-attention both are the tokens of one
# sentence. B counts sentences, H heads; lesson 07 is about heads, here H is an axis to leave room for.
#
# | symbol | what it is | axes | size in this lesson |
# |---|---|---|---|
# | x | tokens, one a row | (B, N, d) | (1, 6, 16), (1, 8, 16) |
# | W_q, W_k | make queries, keys: `Wq`, `Wk` | (d, d_k) | (16, 12) |
# | W_v | makes values: `Wv` | (d, d_v) | (16, 3) |
# | q, k | queries, keys | (B, N, d_k) | (1, 6, 12) |
# | v | values | (B, N, d_v) | (1, 6, 3) |
# | S | scaled scores | (B, N, N) | (1, 6, 6) |
# | blocked | causal mask, True = blocked | (N, N) | (6, 6) |
# | real | padding mask, True = real token | (B, M), M = N | (3, 6) |
# | attend | both in one, True = attend | (B, 1, N, N) | (3, 1, 6, 6) |
# | A, out | weights, outputs | (B, N, N), (B, N, d_v) | (1, 6, 6), (1, 6, 3) |

# %% [markdown]
# ## See it
#
# The three steps of your table, in colour. Look at the row of *the* in all three panels, and follow
# what becomes of its largest score.

# %% nbgrader={"grade": false, "grade_id": "see-by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
four = ["the", "cat", "sat", "on"]
scaled = [[1, 2, 0, 1], [0, 1, 2, 0], [1, 2, 0, 2], [1, 0, 1, 2]]
figures.causal_mask.hide_then_share(scaled, four)

# %% [markdown]
# In the first panel *the* scores *cat* highest, with 2. In the second that cell is hatched and holds
# −∞. In the third it is 0, and the share that it would have had went to what is left: *the* itself.
# The last row had nothing to hide, and its weights are those of plain attention.

# %% [markdown]
# ## Why a decoder must not see the future
#
# A **decoder** is a model that writes: from the words so far it predicts the next one, appends it,
# and goes on. Training it word by word would waste a sentence. Attention computes all rows at once,
# so each row n is asked at the same time: *which word comes after word n?* One sentence of eight
# words is seven training questions. The answers stand in the input, one row further down. Whoever may
# look there need not learn anything.
#
# Here is the experiment. The text is made of dice rolls, six faces, each roll independent of the
# others. Nobody can predict a die: the best anyone can do is to give each face 1/6, which costs a
# loss of ln 6 = 1.79. A small attention model learns to predict the next roll, once without a mask and
# once causal. SDPA's `is_causal=True` blocks the future by itself; you will write that soon.


# %% nbgrader={"grade": false, "grade_id": "dice-model", "locked": true, "schema_version": 3, "solution": false, "task": false}
def predict_next(rolls: Tensor, parameters: list, is_causal: bool) -> Tensor:
    """Scores of the six faces for the roll after each roll: (B, N) rolls to (B, N, 6)."""
    faces = F.one_hot(rolls, 6).float()
    places = torch.eye(12)[: rolls.shape[1]].expand(len(rolls), -1, -1)  # where each roll stands
    x = torch.cat([faces, places], dim=-1)  # (B, N, 18)
    W_ask, W_spine, W_page, W_face = parameters
    read = F.scaled_dot_product_attention(x @ W_ask, x @ W_spine, x @ W_page, is_causal=is_causal)
    return read @ W_face


def train(is_causal: bool) -> tuple[list, list[float]]:
    """Parameters after 60 steps on fresh rolls, and the loss at each step."""
    rng = torch.Generator().manual_seed(6)
    sizes = [(18, 16), (18, 16), (18, 16), (16, 6)]
    parameters = [torch.randn(*size, generator=rng) / size[0] ** 0.5 for size in sizes]
    optimizer = torch.optim.Adam([each.requires_grad_() for each in parameters], lr=0.03)
    history = []
    for _ in range(60):
        rolls = torch.randint(6, (64, 12), generator=rng)
        guesses = predict_next(rolls, parameters, is_causal)[:, :-1]
        loss = F.cross_entropy(guesses.flatten(0, 1), rolls[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return parameters, history


no_mask, no_mask_losses = train(is_causal=False)
causal, causal_losses = train(is_causal=True)

# %% [markdown]
# Which of the two curves do you expect below the line of the honest best? Which one would you have
# shipped, going by the curve?

# %% nbgrader={"grade": false, "grade_id": "see-dice", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.causal_mask.losses(
    {"no mask": no_mask_losses, "causal": causal_losses}, math.log(6), "honest best: ln 6"
)

# %% [markdown]
# Without a mask the loss falls to 0: the model "predicts" dice. With the mask it stays at 1.79, which
# is all there is to learn. A loss *too good to be true* is the symptom of a leak. Now let both do what
# they were trained for: they get the rolls so far, and the next one does not exist yet.

# %% nbgrader={"grade": false, "grade_id": "dice-in-use", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
rolls = torch.randint(6, (500, 12), generator=torch.Generator().manual_seed(7))
for name, parameters, is_causal in (("no mask", no_mask, False), ("causal", causal, True)):
    with torch.no_grad():
        each = [
            F.cross_entropy(predict_next(rolls[:, :n], parameters, is_causal)[:, -1], rolls[:, n])
            for n in range(1, 12)
        ]
    print(f"{name:8} loss on the next roll {torch.stack(each).mean():.2f}  (ln 6 = 1.79)")

# %% [markdown]
# The model without a mask is far worse than no model at all: it is sure of itself and wrong. It
# learned to copy a neighbour that is not there when it counts. The causal one gives each face about
# 1/6, in use as in training.
#
# ### Three models, three masks
#
# Not every model writes. Whether the future is hidden depends on what the model is for:
#
# | model | attention in it | mask |
# |---|---|---|
# | **encoder**, reads a whole text (BERT) | self | none: every word reads every word |
# | **decoder**, writes (GPT) | self | causal |
# | **encoder–decoder**, reads one text and writes another (the first Transformer) | encoder self; decoder self; **cross**: the decoder's queries, the encoder's keys and values | none; causal; none |
#
# The figure draws the three for a translation from English to German. Look for the two rectangles
# in the third panel that the first two panels do not have.

# %% nbgrader={"grade": false, "grade_id": "see-three-models", "locked": true, "schema_version": 3, "solution": false, "task": false}
source, target = ["the", "cat", "sat", "down"], ["die", "Katze", "setzte", "sich", "hin"]
figures.causal_mask.three_models(source, target)

# %% [markdown]
# Bottom left, *cross*: each German word may read the whole English sentence, which is finished
# before the writing begins; N = 5 queries meet M = 4 keys. Top right: no English word reads a German
# one. The third panel packs three attentions in one picture; in the model each of them has a softmax
# of its own, and lesson 08 builds the cross attention.

# %% [markdown]
# ## The lower triangle
#
# In a formula, hiding is adding:
#
# $$
# A = \operatorname{softmax}\!\left(\frac{Q K^{\top}}{\sqrt{d_k}} + C\right), \qquad
# C_{nm} = \begin{cases} 0 & m \le n \\ -\infty & m > n \end{cases}
# $$
#
# In words: add 0 to the scores of what may be read and −∞ to the others, then take softmax over the
# keys. What is left of the weights is a **lower triangle**: the diagonal and what is below it.
#
# Why −∞, and why *before* softmax? Softmax divides each power of e by the sum of the row's powers.
# e to the −∞ is exactly 0, above and below the fraction line: the blocked key gets nothing, and it
# takes nothing from the others. A row of weights still adds up to 1. Compare three ways to block the
# last of three keys:

# %% nbgrader={"grade": false, "grade_id": "why-infinity", "locked": true, "schema_version": 3, "solution": false, "task": false}
row = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
for blocked_score in (0.0, -10.0, -math.inf):
    hidden_row = torch.cat([row[:2], torch.tensor([blocked_score], dtype=torch.float64)])
    print(f"{blocked_score:6}", F.softmax(hidden_row, dim=-1).tolist())

# %% [markdown]
# A score of 0 blocks nothing, because e⁰ = 1. At −10 a trace is left. −∞ gives 0.0 and no rounding is
# involved.
#
# ### A mask of True and False
#
# Code keeps the triangle as a bool tensor, and there are two ways to say it:
#
# | convention | True means | causal mask | who reads it so |
# |---|---|---|---|
# | **blocked** | may not be read | True *above* the diagonal | `nn.MultiheadAttention`, `masked_fill` with −∞ |
# | **attend** | may be read | True *on and below* the diagonal | SDPA's `attn_mask` |
#
# One is `~` of the other. Your `causal_mask` uses the first, True = blocked. The tool for triangles is
# `torch.triu`, upper triangle, which keeps the entries on and above a diagonal and sets the others to
# 0. Its second argument says which diagonal to begin with. Guess what −1 does before you run it.

# %% nbgrader={"grade": false, "grade_id": "see-triu", "locked": true, "schema_version": 3, "solution": false, "task": false}
table = torch.arange(1, 17).reshape(4, 4)
for first in (0, 1, -1):
    print(f"diagonal={first}\n{torch.triu(table, first)}")

# %% [markdown]
# ### Exercise: `causal_mask`
#
# difficulty ●○○ · 3–5 min · 1 point
#
# Return the causal mask of n tokens as an (n, n) bool tensor, **True = blocked**. Row n is the reader:
# everything to the right of the diagonal is the future. A token may read itself. `device` says where
# the tensor is to live; None is PyTorch's default. One token has nothing to block, and n = 0 gives an
# empty mask.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-causal_mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Begin with a full square that says *blocked* everywhere, and keep only the part that is the future.
#
# <details><summary>Hint 2: the shapes</summary>
#
# (n, n) ones, with the device; their upper triangle, (n, n); the same as bool, (n, n). The diagonal
# itself is not the future.
#
# <details><summary>Hint 3: an outline</summary>
#
# - Make a square of ones on the device.
# - Cut out the triangle that begins one above the main diagonal.
# - Turn numbers into True and False with the tensor's `bool` method.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "causal_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def causal_mask(n: int, device: torch.device | str | None = None) -> Tensor:
    """Which keys lie in the future of each query.

    Args:
        n: number of tokens.
        device: where the mask is made; None is PyTorch's default.
    Returns:
        (n, n) bool, True = blocked: True above the diagonal, False on and below it.
    """
    ### BEGIN SOLUTION
    return torch.triu(torch.ones(n, n, device=device), diagonal=1).bool()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "causal_mask-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(causal_mask)

# %% [markdown]
# Read one row of it aloud, with the convention: "*sat* is blocked from *on*, and from nothing else."

# %% nbgrader={"grade": false, "grade_id": "use-causal_mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("True = blocked")
for word, marks in zip(four, causal_mask(4).tolist(), strict=True):
    print(f"{word:4}", marks)

# %% [markdown]
# ## Attention that does not look ahead
#
# Everything is at hand now. Three projections, scores, scale, mask, softmax, mix: lesson 05's block
# with one more line.
#
# $$
# \text{out} = A\,V, \qquad A = \operatorname{softmax}\!\left(\frac{Q K^{\top}}{\sqrt{d_k}} + C\right),
# \qquad Q = X W_q,\; K = X W_k,\; V = X W_v
# $$
#
# In words: project the tokens three times; score every query with every key and divide by √d_k; put
# −∞ where the key comes later; take softmax over the keys; average the values with these weights.
# (Vaswani et al. 2017, sections 3.2.1 and 3.2.3.)

# %% [markdown]
# ### Exercise: `attention`
#
# difficulty ●●● · 15–20 min · 5 points
#
# Write causal self-attention for a batch. Return the output and the weights. Both are compared with
# `F.scaled_dot_product_attention(q, k, v, is_causal=True)`, to 1e-6 in float64, gradients included.
#
# *What you may use.* You need `@`, `F.softmax`, `torch.triu` (inside your `causal_mask`) and tensor
# methods. Calls that do the whole job are banned, and using one forfeits the points: SDPA itself,
# `nn.MultiheadAttention`, `F.multi_head_attention_forward`, `torch._scaled…`, `torch.nn.attention.…`
# and `torch.ops.aten.…attention…`. How you write it is otherwise up to you, as numbers are compared
# and not code: row by row in a loop, with −∞ added or filled in, with einsum or `@`, even
# masked after softmax and renormalised (as far as that goes: see *Mask after softmax*).
#
# *Input that cannot work.* The check asks for an error when widths do not fit, and PyTorch's own
# `RuntimeError` will do. The docstring asks for more: a `ValueError` that names both shapes, one for
# an x without a batch axis, a `TypeError` for integers. That is good manners and not graded.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Write attention without a mask first and look at the weights. Then find the one place where blocked
# scores can be replaced so that softmax gives them exactly 0. Your `causal_mask` says where.
#
# <details><summary>Hint 2: the shapes</summary>
#
# x (B, N, d) times Wq (d, d_k) is q (B, N, d_k). To score every query with every key, k's last two
# axes change places: `.mT`, or `.transpose(-2, -1)`. The scores are (B, N, N), and so are the weights.
# The mask is (N, N): it lines up with the last two axes and serves every sentence. √d_k comes from the
# last axis of q, not of x.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. Compare x's last axis with the first axis of each matrix, and raise if they differ.
# 2. Project x with each of the three matrices.
# 3. Multiply the queries with the transposed keys; divide by the square root of their width.
# 4. Make the mask for N tokens, on x's device. Where it is True, fill in −∞: `masked_fill` returns a
#    new tensor.
# 5. Softmax over the last axis.
# 6. Multiply with the values. Return the product and the weights, in this order.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> tuple[Tensor, Tensor]:
    """Causal self-attention: each token reads itself and the tokens before it.

    Args:
        x: (B, N, d), float tokens. N may be 1, and 0 gives empty results.
        Wq: (d, d_k), makes queries; same dtype as x, like the other two.
        Wk: (d, d_k), makes keys.
        Wv: (d, d_v), makes values.
    Returns:
        out: (B, N, d_v).
        weights: (B, N, N), each row adds up to 1 and is exactly 0 above the diagonal.
    Raises:
        ValueError: x has no batch axis, or widths do not fit; the message names both shapes.
        TypeError: x does not hold floats, or a matrix has another dtype than x.
    """
    ### BEGIN SOLUTION
    if x.ndim != 3:
        raise ValueError(f"x should be (B, N, d) and has shape {tuple(x.shape)}")
    if not x.is_floating_point():
        raise TypeError(f"x should hold floating-point numbers and holds {x.dtype}")
    for name, matrix in {"Wq": Wq, "Wk": Wk, "Wv": Wv}.items():
        if matrix.ndim != 2 or matrix.shape[0] != x.shape[-1]:
            raise ValueError(
                f"x has shape {tuple(x.shape)} and {name} {tuple(matrix.shape)}: "
                f"{name} should have {x.shape[-1]} rows"
            )
        if matrix.dtype != x.dtype:
            raise TypeError(f"x holds {x.dtype} and {name} holds {matrix.dtype}")
    if Wq.shape != Wk.shape:
        raise ValueError(
            f"Wq has shape {tuple(Wq.shape)} and Wk {tuple(Wk.shape)}: "
            "queries and keys should be equally wide"
        )
    q, k, v = x @ Wq, x @ Wk, x @ Wv  # (B, N, d_k), (B, N, d_k), (B, N, d_v)
    scores = (q @ k.mT) / q.shape[-1] ** 0.5  # (B, N, N)
    future = causal_mask(x.shape[1], device=x.device)  # (N, N), True = blocked
    weights = F.softmax(scores.masked_fill(future, -torch.inf), dim=-1)
    return weights @ v, weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "attention-check", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(attention)

# %% [markdown]
# Now the first six words, *the cat sat on the mat*. Each word has a fixed random vector, so both *the*
# have the same one. Two claims to check on your own weights: the upper triangle is *exactly* 0, and
# every row adds up to 1.

# %% nbgrader={"grade": false, "grade_id": "use-attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
rng = torch.Generator().manual_seed(13)


def normal(*size: int) -> Tensor:
    """Standard normal float64 numbers."""
    return torch.randn(*size, generator=rng, dtype=torch.float64)


d, d_k, d_v = 16, 12, 3
sentence = "the cat sat on the mat yesterday afternoon".split()
vector = {word: normal(d) for word in ["morning", "ran", *dict.fromkeys(sentence)]}
Wq, Wk, Wv = normal(d, d_k) / 4, normal(d, d_k) / 4, normal(d, d_v) / 4


def embed(words: list[str]) -> Tensor:
    """(1, N, d): one sentence, one row a word."""
    return torch.stack([vector[word] for word in words])[None]


six = sentence[:6]
out, weights = attention(embed(six), Wq, Wk, Wv)
print(weights[0])
print("largest entry above the diagonal:", weights[0].triu(1).max().item())
print("every row adds up to 1:", torch.allclose(weights.sum(-1), torch.ones(1, 6).double()))

# %% [markdown]
# 0.0, not 0.0000001: it is a comparison with `==`. The first row is (1, 0, 0, 0, 0, 0) whatever the
# numbers are, since the first reader has one book.
#
# The whole sentence in one figure. Blocked cells are hatched. Go through the rows by pointer, or by
# arrow keys, from the first to the last: how does the entropy change? Then compare row 1 with row 5:
# both are *the*.

# %% nbgrader={"grade": false, "grade_id": "see-causal-weights", "locked": true, "schema_version": 3, "solution": false, "task": false}
out, weights = attention(embed(sentence), Wq, Wk, Wv)
blocked = causal_mask(8)  # True = blocked
figures.live.WhoListens(weights[0], sentence, blocked=blocked)

# %% [markdown]
# All colour lies in the lower triangle. The entropy goes from 0, one book, to 1.97 nats in the last
# row, which may read all eight: n books allow at most log n. Both *the* ask the same question, as
# they have the same vector, and get different answers: the first has one book to read, the second has
# five. Without a mask the two rows would be equal. So a causal mask gives attention a trace of order,
# which lesson 09 is about.
#
# Time for your two predictions. Replace a word and count the output rows that change, once with your
# causal attention and once without a mask.


# %% nbgrader={"grade": false, "grade_id": "count-changes", "locked": true, "schema_version": 3, "solution": false, "task": false}
def without_mask(x: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv)


def changed_rows(old: Tensor, new: Tensor) -> list[str]:
    return [sentence[n] for n in range(8) if not torch.allclose(old[0, n], new[0, n])]


for position, word in ((7, "morning"), (2, "ran")):
    x, other = embed(sentence), embed([*sentence[:position], word, *sentence[position + 1 :]])
    print(f"{sentence[position]} -> {word}")
    print("  causal: ", changed_rows(attention(x, Wq, Wk, Wv)[0], attention(other, Wq, Wk, Wv)[0]))
    print("  no mask:", len(changed_rows(without_mask(x), without_mask(other))), "rows")

# %% [markdown]
# One row and six rows, as predicted; without a mask all eight. This is a test worth remembering, as
# it needs no reference: **change the future, and nothing in the past may change.** It stands on the
# card of `attention` as a line of its own.
#
# And input that does not fit. With the messages of the docstring (with PyTorch's own, or with
# none at all for a missing batch axis, if you left it at that):

# %% nbgrader={"grade": false, "grade_id": "bad-input", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
x = embed(six)
for what, arguments in {
    "5 rows for d = 16": (x, Wq[:5], Wk, Wv),
    "no batch axis": (x[0], Wq, Wk, Wv),
    "integers": (x.long(), Wq.long(), Wk.long(), Wv.long()),
    "one token": (x[:, :1], Wq, Wk, Wv),
    "no token": (x[:, :0], Wq, Wk, Wv),
}.items():
    try:
        shapes = [tuple(part.shape) for part in attention(*arguments)]
        print(f"{what}: no error, shapes {shapes}")
    except NotImplementedError:
        raise
    except Exception as error:
        print(f"{what}: {type(error).__name__}: {error}")

# %% [markdown]
# ## Padding
#
# Sentences in a batch have different lengths, and a tensor is a rectangle. The short ones are filled
# up at the end with a meaningless token: **padding**. At the desk these are dummies on the shelf,
# boxes without pages. No reader should open one.
#
# | sentence | length | 1 | 2 | 3 | 4 | 5 | 6 |
# |---|---|---|---|---|---|---|---|
# | 1 | 6 | the | cat | sat | on | the | mat |
# | 2 | 3 | the | cat | sat | · | · | · |
# | 3 | 1 | afternoon | · | · | · | · | · |
#
# The **padding mask** of a batch has one row a *sentence* and one column a position, (B, max_len). It
# says which positions hold a real token. Ours says **True = real token**; as the keys of SDPA are
# concerned, that is True = attend.

# %% [markdown]
# ### Exercise: `padding_mask`
#
# difficulty ●○○ · 5–8 min · 1 point
#
# From the lengths of B sentences, an integer tensor (B,), make the (B, max_len) bool mask, **True =
# real token**. Positions are counted from 0, so a sentence of length 3 is real at 0, 1 and 2. A length
# of 0 gives a row of False: a sentence that is all padding.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-padding_mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Ask the same question of each position in each sentence: does it come before the sentence's end?
# A comparison of tensors answers all of them at once.
#
# <details><summary>Hint 2: the shapes</summary>
#
# The positions are (max_len,), the lengths (B,). For every pair to meet, the lengths have to become a
# column, (B, 1). Then the comparison broadcasts to (B, max_len).
#
# <details><summary>Hint 3: an outline</summary>
#
# - Count the positions with `torch.arange`, on the device of the lengths.
# - Give the lengths a second axis of size 1.
# - Compare the two: a position is real if it is smaller than the length of its sentence.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "padding_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def padding_mask(lengths: Tensor, max_len: int) -> Tensor:
    """Which positions of each sentence hold a real token; padding stands at the end.

    Args:
        lengths: (B,) integers from 0 to max_len.
        max_len: positions in a row of the batch.
    Returns:
        (B, max_len) bool, True = real token.
    """
    ### BEGIN SOLUTION
    positions = torch.arange(max_len, device=lengths.device)
    return positions < lengths[:, None]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "padding_mask-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(padding_mask)

# %% nbgrader={"grade": false, "grade_id": "use-padding_mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
lengths = torch.tensor([6, 3, 1])
print("True = real token")
print(padding_mask(lengths, 6))

# %% [markdown]
# ## Causal and padding in one
#
# A decoder trained on a batch has two rules: no future, no padding. Attention takes one mask, so the
# two become one. SDPA reads **True = attend**, and a key may be read if it is real *and* not in the
# future:
#
# $$\text{attend}_{b\,1\,n\,m} = (m \le n) \;\wedge\; (m < \text{length}_b)$$
#
# In words, with positions counted from 0 as in code: in sentence b, query n may read key m if m does
# not come later and lies within the sentence. The padding belongs to the *keys*, the columns: what is forbidden is to read a dummy. (A
# dummy's own row is computed as well. Nobody reads its output, and the loss leaves it out.)
#
# Look closely and you see that, with padding at the end, the triangle alone already keeps real words
# from dummies: they all come later. What the padding mask changes here is the dummies' own rows. It
# decides where padding stands on the left, as in batches that generate, and where there is no triangle,
# as in encoders and cross-attention. Code that states both rules is right wherever the padding stands.
#
# The axis of size 1 stands where scores have their heads, (B, H, N, N): one mask for all heads.

# %% [markdown]
# ### Exercise: `decoder_mask`
#
# difficulty ●●○ · 8–12 min · 2 points
#
# Combine `causal_mask` and `padding_mask` into a (B, 1, n, n) bool tensor, **True = attend**, ready
# for SDPA's `attn_mask`. Mind that one of your two functions says True = blocked and the other True =
# real. A sentence that is all padding gives False everywhere.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-decoder_mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Say both masks in the same convention first, True = attend. Then a key is open if the one *and* the
# other says so.
#
# <details><summary>Hint 2: the shapes</summary>
#
# The causal mask is (n, n) and the same for all sentences. The padding mask is (B, n), and its last
# axis is the keys. To become (B, 1, n, n) together, the padding mask has to be (B, 1, 1, n): one axis
# of 1 for heads and one for queries.
#
# <details><summary>Hint 3: an outline</summary>
#
# - Take your causal mask and turn it round with `~`.
# - Take your padding mask and insert two axes of size 1 in its middle, by indexing with `None`.
# - Combine the two with `&`, which broadcasts.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "decoder_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def decoder_mask(lengths: Tensor, n: int) -> Tensor:
    """The causal and the padding mask in one, as SDPA's attn_mask takes it.

    Args:
        lengths: (B,) integers from 0 to n.
        n: positions in a row of the batch.
    Returns:
        (B, 1, n, n) bool, True = attend: the key is real and does not come after the query.
    """
    ### BEGIN SOLUTION
    not_future = ~causal_mask(n, device=lengths.device)
    real = padding_mask(lengths, n)
    return not_future & real[:, None, None, :]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "decoder_mask-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(decoder_mask)

# %% [markdown]
# The masks of the three sentences. Look at how many columns are open, and at the rows of the dummies.

# %% nbgrader={"grade": false, "grade_id": "see-decoder_mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
attend = decoder_mask(lengths, 6)  # True = attend
titles = ["length 6", "length 3", "length 1"]
figures.causal_mask.masks(
    {title: attend[b, 0] for b, title in enumerate(titles)}, [str(n) for n in range(1, 7)]
)

# %% [markdown]
# The first panel is the plain lower triangle. In the other two all columns from the first dummy on
# are closed, for every row. The dummies' rows are not empty: they may read the real words before
# them.
#
# ### A row with nothing to read
#
# A row of a mask can be False throughout, for instance in a sentence of length 0 that fills up a
# batch. What should come out? This course says: weights and output of exactly 0. There is nothing to
# read, so nothing is said. Softmax by itself gives something else:

# %% nbgrader={"grade": false, "grade_id": "empty-row", "locked": true, "schema_version": 3, "solution": false, "task": false}
q, k, v = normal(2, 1, 4, 5), normal(2, 1, 4, 5), normal(2, 1, 4, 2)
attend = decoder_mask(torch.tensor([3, 0]), 4)  # True = attend; sentence 2 has nothing to read

print("softmax of three -inf:", F.softmax(torch.full((3,), -math.inf), dim=-1))
print("SDPA, sentence 2:")
print(F.scaled_dot_product_attention(q, k, v, attn_mask=attend)[1, 0])

# %% [markdown]
# All powers of the row are 0, and 0/0 is NaN, *not a number*. (A softmax that subtracts the maximum
# meets −∞ − (−∞) even before that.) SDPA gives 0. NaN does not stay where it is.
# Even a weight of 0 does not stop it, as 0 · NaN is NaN: after one more layer it has reached the
# whole sentence, after one training step the whole model. In code of your own, one more line mends
# it: after softmax, set the blocked weights to 0. In all other rows they are 0 already, so that
# nothing else changes. The gradients are sound as well, if the −∞ was *filled in*. Where it was
# *added*, NaN comes back through the addition:

# %% nbgrader={"grade": false, "grade_id": "empty-row-mended", "locked": true, "schema_version": 3, "solution": false, "task": false}
attend = decoder_mask(torch.tensor([3, 0]), 4)  # True = attend
for how in ("filled in", "added"):
    asked = q.clone().requires_grad_()
    similarity = asked @ k.transpose(-2, -1) / math.sqrt(5)
    if how == "filled in":
        masked = similarity.masked_fill(~attend, -math.inf)  # masked_fill: True = blocked
    else:
        masked = similarity + torch.zeros(attend.shape).masked_fill(~attend, -math.inf)
    read = F.softmax(masked, dim=-1).masked_fill(~attend, 0.0)
    gradient = torch.autograd.grad((read @ v).sum(), asked)[0]
    same = torch.allclose(read @ v, F.scaled_dot_product_attention(q, k, v, attn_mask=attend))
    print(f"{how:9}  equals SDPA: {same}, gradient finite: {gradient.isfinite().all().item()}")

# %% [markdown]
# `nn.MultiheadAttention`, PyTorch's module with projections and heads, has no single answer. It
# depends on what you ask of it. Here query 2 is blocked from everything (its mask says True =
# blocked).

# %% nbgrader={"grade": false, "grade_id": "empty-row-mha", "locked": true, "schema_version": 3, "solution": false, "task": false}
mha = nn.MultiheadAttention(4, num_heads=2, batch_first=True)
tokens = torch.rand(1, 3, 4, generator=rng)
nothing_for_2 = torch.tensor([[0, 1, 1], [1, 1, 1], [0, 0, 0]]).bool()  # True = blocked
for need_weights in (True, False):
    for training in (True, False):
        mha.train(training)
        with torch.set_grad_enabled(training):
            got = mha(tokens, tokens, tokens, attn_mask=nothing_for_2, need_weights=need_weights)
        mode = "training" if training else "eval, no_grad"
        has_nan = got[0][0, 1].isnan().any().item()
        print(f"need_weights={need_weights!s:5} {mode:13} row 2 is", "NaN" if has_nan else "finite")

# %% [markdown]
# In PyTorch 2.13 the row is NaN in three of these four calls. Only the one that hands the work on to
# SDPA (`need_weights=False` in training) is spared. The same model can therefore train without a
# trace of NaN and produce it in use. (With one head instead of two, the last line is finite as well:
# PyTorch's fast path for use without gradients needs an even number of heads.) Avoid empty rows where
# `nn.MultiheadAttention` reads the mask.

# %% [markdown]
# ## Two traps
#
# ### True means opposite things
#
# One mask, handed to PyTorch's two functions. To make them comparable, the module gets projections
# that change nothing. To see SDPA's weights, it gets unit vectors for values: then output row n *is*
# row n of the weights. The mask is True above the diagonal.


# %% nbgrader={"grade": false, "grade_id": "trap-true", "locked": true, "schema_version": 3, "solution": false, "task": false}
def plain_module(width: int) -> nn.MultiheadAttention:
    """One head whose projections change nothing, so that it computes what SDPA does."""
    module = nn.MultiheadAttention(width, 1, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.eye(width).repeat(3, 1))
        module.out_proj.weight.copy_(torch.eye(width))
    return module


t = embed(four)  # (1, 4, 16)
unit = torch.eye(4, dtype=torch.float64)[None]
upper = torch.ones(4, 4).triu(1).bool()  # meant as: True = blocked

by_module = plain_module(d)(t, t, t, attn_mask=upper)[1].detach()
by_sdpa = F.scaled_dot_product_attention(t, t, unit, attn_mask=upper)
print("nn.MultiheadAttention, True = blocked")
print(by_module[0])
print("SDPA, True = attend")
print(by_sdpa[0])

# %% [markdown]
# Hatched in the figure is what ought to be blocked. Where does the colour lie?

# %% nbgrader={"grade": false, "grade_id": "see-trap-true", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.causal_mask.weights_in_panels(
    {"nn.MultiheadAttention": by_module[0], "SDPA, the same mask": by_sdpa[0]}, four, four, upper
)

# %% [markdown]
# Same mask, same numbers, opposite triangles. To SDPA the mask said: read the future and nothing else,
# not even yourself. The last row has no future and is 0 throughout. No error, no warning, and row
# sums of 1 everywhere else.
#
# The other way round it is louder: a mask that is True *on and below* the diagonal is right for SDPA
# and blocks the whole last row for the module, which answers with NaN. And a third spelling is right
# for neither: the 0s and 1s of a mask as *floats*. Float masks are added to the scores, in both
# functions, so that a 1 is worth one point of score and blocks nothing.

# %% nbgrader={"grade": false, "grade_id": "trap-float", "locked": true, "schema_version": 3, "solution": false, "task": false}
lower = ~upper  # True = attend
last_row = plain_module(d)(t, t, t, attn_mask=lower)[1][0, 3].detach()
print("module, True on and below the diagonal, row of on:", last_row)
first_row = F.scaled_dot_product_attention(t, t, unit, attn_mask=lower.double())[0, 0]
print(
    "SDPA, the same as floats: does the first row read the future?", bool(first_row[1:].sum() > 0)
)

added = torch.zeros(4, 4, dtype=torch.float64).masked_fill(upper, -math.inf)
right = F.scaled_dot_product_attention(t, t, unit, attn_mask=added)
print("0 and -inf, added, mean the same to both:", end=" ")
print(torch.allclose(right, plain_module(d)(t, t, t, attn_mask=added)[1]))

# %% [markdown]
# A float mask of 0 and −∞ is the one spelling on which both agree. For bool masks, put the convention
# in the name (`attend`, `blocked`) or in a comment beside it.
#
# ### Paint a mask
#
# Now make masks of your own. The figure starts with the causal one, on the eight words. Click a cell,
# drag over several, or use the keys that the figure names; the weights follow, and below them the mask
# stands in both conventions. Three things to try. Block a row throughout. Press *causal and padding*,
# with six real tokens, and find the cells that *causal* had left open. Press *window* and make it as
# narrow as it goes.

# %% nbgrader={"grade": false, "grade_id": "touch-mask-painter", "locked": true, "schema_version": 3, "solution": false, "task": false}
scores_of_eight = (embed(sentence) @ Wq @ (embed(sentence) @ Wk).mT)[0] / math.sqrt(d_k)
painter = figures.live.MaskPainter(scores_of_eight, sentence, preset="causal")
painter

# %% [markdown]
# A cell that is True in one table is False in the other, always. The row that you blocked shows zeros,
# not NaN. *Causal and padding* closed three more cells, all of them in the rows of the two dummies.
# *Window* lets a word read itself and some words before it; at width 1 that is itself alone, with a
# weight of 1 whatever the scores are.
#
# The painted mask can be read in Python: `painter.mask` says True = attend, and `painter.blocked` says
# True = blocked. Give each function the one that it expects, and both return the figure's weights.
# Paint something else and run the cell again. (After a row without any open cell, the module's answer
# is NaN, and the second line says False.)

# %% nbgrader={"grade": false, "grade_id": "use-mask-painter", "locked": true, "schema_version": 3, "solution": false, "task": false}
q8, k8 = embed(sentence) @ Wq, embed(sentence) @ Wk
attend = torch.tensor(painter.mask)  # True = attend
unit8 = torch.eye(8, dtype=torch.float64)[None]
from_sdpa = F.scaled_dot_product_attention(q8, k8, unit8, attn_mask=attend)[0]
from_module = plain_module(d_k)(q8, k8, k8, attn_mask=torch.tensor(painter.blocked))[1][0].detach()
for name, theirs in {
    "SDPA, painter.mask": from_sdpa,
    "module, painter.blocked": from_module,
}.items():
    same = torch.allclose(theirs, torch.tensor(painter.weights))
    print(f"{name:24} gives the figure's weights: {same}")

# %% [markdown]
# ### is_causal aligns top-left
#
# With N queries and M keys, where does the diagonal begin? When N = M nobody asks. But a decoder that
# writes keeps the keys and values of all words so far (a **cache**, lesson 11) and asks only for the
# newest. Say that four words are there and the last two ask: N = 2, M = 4. *Sat* may read three
# words, *on* all four. `is_causal=True` sees a 2 × 4 rectangle and begins at its top-left corner.

# %% nbgrader={"grade": false, "grade_id": "trap-is_causal", "locked": true, "schema_version": 3, "solution": false, "task": false}
newest = t[:, -2:]  # sat, on
top_left = F.scaled_dot_product_attention(newest, t, unit, is_causal=True)
end_to_end = torch.ones(2, 4).tril(4 - 2).bool()  # True = attend; begins at the bottom right
bottom_right = F.scaled_dot_product_attention(newest, t, unit, attn_mask=end_to_end)
whole = F.scaled_dot_product_attention(t, t, unit, is_causal=True)

print("is_causal=True")
print(top_left[0])
print("bottom-right mask, True = attend")
print(bottom_right[0])
print("the last two rows of all four words at once are")
print("  those of is_causal:   ", torch.allclose(whole[:, -2:], top_left))
print("  those of bottom-right:", torch.allclose(whole[:, -2:], bottom_right))

# %% [markdown]
# In the figure, hatched is the one cell that is the future for these two queries.

# %% nbgrader={"grade": false, "grade_id": "see-trap-is_causal", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.causal_mask.weights_in_panels(
    {"is_causal=True: top left": top_left[0], "needed: bottom right": bottom_right[0]},
    four[-2:],
    four,
    ~end_to_end,
)

# %% [markdown]
# With `is_causal=True` *sat* reads *the* alone, and *on* reads two words of four. Neither reads
# *itself*. Nothing leaks, so no test for the future would notice; the model forgets instead. When
# N ≠ M, write the mask out. (PyTorch has it ready-made: `causal_lower_right(2, 4)` in
# `torch.nn.attention.bias`. With a single query, N = 1, nothing is in its future: pass no mask.)

# %% [markdown]
# ## Break it on purpose
#
# Four classic failures. Each runs, each has a symptom. First a function that prints symptoms, so that
# you can use it on code of your own. Read each failure and say what its symptom will be before you run
# it.


# %% nbgrader={"grade": false, "grade_id": "symptoms", "locked": true, "schema_version": 3, "solution": false, "task": false}
def symptoms(weights: Tensor) -> None:
    """Print what gives a mistake away: (1, N, N) causal weights."""
    a = weights[0]
    print("row sums:      ", a.sum(-1).numpy().round(2))
    print("column sums:   ", a.sum(-2).numpy().round(2))
    print("future, summed:", round(a.triu(1).sum().item(), 3))
    print("largest weight after row 1:", round(a[1:].max().item(), 3))


x = embed(six)
symptoms(attention(x, Wq, Wk, Wv)[1])

# %% [markdown]
# These are the healthy ones: rows add up to 1, columns to anything, nothing in the future.
#
# ### Softmax over the wrong axis


# %% nbgrader={"grade": false, "grade_id": "break-axis", "locked": true, "schema_version": 3, "solution": false, "task": false}
def over_queries(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> tuple[Tensor, Tensor]:
    asks, spines, pages = (x @ matrix for matrix in (Wq, Wk, Wv))
    similarity = asks @ spines.mT / math.sqrt(Wq.shape[1])
    shares = similarity.masked_fill(causal_mask(x.shape[1]), -math.inf).softmax(dim=-2)
    return shares @ pages, shares


symptoms(over_queries(x, Wq, Wk, Wv)[1])
check(over_queries, name="attention")

# %% [markdown]
# The symptom: *columns* add up to 1 and rows do not. Each book shares itself out among its readers;
# the last book has one reader, who gets all of it. The future is empty here, so a look at the triangle
# alone would have passed it. But it leaks all the same: how much of a book an early reader gets
# depends on who comes later.
#
# ### No √d_k


# %% nbgrader={"grade": false, "grade_id": "break-scale", "locked": true, "schema_version": 3, "solution": false, "task": false}
def no_scale(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> tuple[Tensor, Tensor]:
    asks, spines, pages = (x @ matrix for matrix in (Wq, Wk, Wv))
    hidden = (asks @ spines.mT).masked_fill(causal_mask(x.shape[1]), -math.inf)
    shares = hidden.softmax(dim=-1)
    return shares @ pages, shares


symptoms(no_scale(x, Wq, Wk, Wv)[1])
check(no_scale, name="attention")

# %% [markdown]
# Rows add up to 1 and nothing leaks: every invariant holds. The one symptom is sharpness. The largest
# weight is nearer to 1 than it should be, and the wider d_k, the worse. Lesson 04 measured what that
# does to learning. Only a comparison of numbers finds it.
#
# ### Mask after softmax


# %% nbgrader={"grade": false, "grade_id": "break-late", "locked": true, "schema_version": 3, "solution": false, "task": false}
def mask_too_late(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> tuple[Tensor, Tensor]:
    asks, spines, pages = (x @ matrix for matrix in (Wq, Wk, Wv))
    shares = (asks @ spines.mT / math.sqrt(Wq.shape[1])).softmax(dim=-1)
    shares = shares.masked_fill(causal_mask(x.shape[1]), 0.0)
    return shares @ pages, shares


symptoms(mask_too_late(x, Wq, Wk, Wv)[1])
check(mask_too_late, name="attention")

# %% [markdown]
# The triangle is empty, and rows add up to *less than 1*, the first ones most of all: the blocked keys
# had already taken their share. And it leaks: that share depends on the future, so the future scales
# the output.
#
# Is the order then a law? No. Divide each row by its sum afterwards, and what remains of the row is
# e^s over the sum of e^s of the *open* keys: the same fraction as with −∞ before softmax. Masking
# after softmax is wrong **without renormalising**; with it, it is mathematically the same. On a
# computer there is one difference, shown in the last line above the card.


# %% nbgrader={"grade": false, "grade_id": "late-but-renormalised", "locked": true, "schema_version": 3, "solution": false, "task": false}
def renormalised(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> tuple[Tensor, Tensor]:
    late = mask_too_late(x, Wq, Wk, Wv)[1]
    shares = late / late.sum(dim=-1, keepdim=True)
    return shares @ (x @ Wv), shares


ours, theirs = attention(x, Wq, Wk, Wv), renormalised(x, Wq, Wk, Wv)
print("same weights:", torch.allclose(ours[1], theirs[1]))
print("same outputs:", torch.allclose(ours[0], theirs[0]))

open_then_blocked = F.softmax(torch.tensor([0.0, 800.0], dtype=torch.float64), dim=-1)
print("a blocked score 800 above the open one leaves", open_then_blocked[0].item(), "to divide by")
check(renormalised, name="attention")

# %% [markdown]
# The check accepts it with all points. Still, if a blocked score is far above the open ones, their
# shares round to 0 before you can renormalise, and 0/0 is NaN. −∞ before softmax has no such limit.
#
# The first three failures in one picture, at the same colours. Hatched cells must be 0.

# %% nbgrader={"grade": false, "grade_id": "see-failures", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.causal_mask.weights_in_panels(
    {
        "right": attention(x, Wq, Wk, Wv)[1][0],
        "softmax over queries": over_queries(x, Wq, Wk, Wv)[1][0],
        "no √d_k": no_scale(x, Wq, Wk, Wv)[1][0],
        "mask after softmax": mask_too_late(x, Wq, Wk, Wv)[1][0],
    },
    six,
    six,
    causal_mask(6),
    columns=2,
)

# %% [markdown]
# All four triangles are clean, so the triangle proves nothing. What differs lies below the diagonal:
# a last row that takes too much (top right), extremes (bottom left), a first cell of 0.09 where 1.00 should be (bottom right).
#
# ### A mask of the wrong shape
#
# Masks broadcast against the scores from the right. (N, N) serves every sentence. A padding mask is
# (B, N), one row a *sentence*, and has to be told where its axes go: (B, 1, N) for scores (B, N, N).
# Pass it as it is, and B meets the axis of the queries. Here with True = attend, for SDPA:

# %% nbgrader={"grade": false, "grade_id": "break-shape", "locked": true, "schema_version": 3, "solution": false, "task": false}
lengths_of_four = [4, 2, 3, 1]
real = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 0, 0]]).bool()  # True = real
x2 = normal(2, 4, 6)  # B = 2, N = 4, d = 6
try:
    F.scaled_dot_product_attention(x2, x2, x2, attn_mask=real[:2])
except RuntimeError as error:
    print("B = 2, N = 4:", error)

x4 = normal(4, 4, 6) / 2  # B = 4, N = 4, d = 6
unit4 = torch.eye(4, dtype=torch.float64).expand(4, 4, 4)
silent = F.scaled_dot_product_attention(x4, x4, unit4, attn_mask=real)
right = F.scaled_dot_product_attention(x4, x4, unit4, attn_mask=real[:, None, :])
print("B = 4, N = 4: no error, shape", tuple(silent.shape))
for b in range(4):
    leaked = [round(weights[b][:, ~real[b]].sum().item(), 2) for weights in (silent, right)]
    sizes = f"sentence {b + 1}, length {lengths_of_four[b]}"
    print(f"{sizes}: on padding {leaked[0]:.2f}, should be {leaked[1]:.2f}")

# %% [markdown]
# With B ≠ N you get an error, and that is luck. (A single sentence, B = 1, runs and is right, which
# hides the mistake.) **With B = N it runs**: query n of *every* sentence
# gets the padding of *sentence n*. Below is sentence 2, of length 2. Its dummies are hatched. Look at
# the number of open keys in each row on the left, and compare with the lengths 4, 2, 3, 1.

# %% nbgrader={"grade": false, "grade_id": "see-shape", "locked": true, "schema_version": 3, "solution": false, "task": false}
dummies = (~real[1]).expand(4, 4)  # True = blocked: the same two columns in every row
places = ["1", "2", "3", "4"]
figures.causal_mask.weights_in_panels(
    {"(B, N) as it is": silent[1], "(B, 1, N)": right[1]}, places, places, dummies
)

# %% [markdown]
# Row n on the left is open up to the length of sentence n. This is why tests use sizes that all
# differ. The same happens one axis further left: a mask of (B, N, N) meets the *heads* of (B, H, N, N)
# scores, with an error if B ≠ H and without one if B = H. So `decoder_mask` has its axis of 1.


# %% nbgrader={"grade": false, "grade_id": "break-head-axis", "locked": true, "schema_version": 3, "solution": false, "task": false}
def no_head_axis(lengths: Tensor, n: int) -> Tensor:
    return decoder_mask(lengths, n)[:, 0]


check(no_head_axis, name="decoder_mask")

# %% [markdown]
# Where does a (B, N) mask fit as it is? In `key_padding_mask`. That argument belongs to
# `nn.MultiheadAttention`, SDPA has none, and in it True = blocked: padding.

# %% nbgrader={"grade": false, "grade_id": "key_padding_mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
keywords: dict = {"key_padding_mask": ~real}
try:
    F.scaled_dot_product_attention(x4, x4, x4, **keywords)
except TypeError as error:
    print("SDPA:", str(error).splitlines()[0])
by_module = plain_module(6)(x4, x4, x4, key_padding_mask=~real)[1]
print("module, key_padding_mask=~real, equals SDPA with real[:, None, :]:", end=" ")
print(torch.allclose(by_module, right))

# %% [markdown]
# ## Precision: what 1e-6 can promise
#
# Why are you checked in float64, when models run in float32 or less? A float32 keeps 24 binary
# digits: near 1 its neighbours are 1.2 · 10⁻⁷ apart, near 16 already 1.9 · 10⁻⁶. A score of 16 is
# therefore only known to about a millionth, and an error of δ in a score is a *relative* error of
# about δ in its power of e. As long as scores are float32, no way of writing the code undoes that. So
# two correct programs that add up in different orders may differ by more than 1e-6.
#
# Measure it. The cell draws tokens with N = d = 64 and standard deviation *std*, runs your
# `attention` and SDPA in float32, and compares both with float64 on the same inputs. Count how many
# of 100 draws are off by more than 1e-6 somewhere.


# %% nbgrader={"grade": false, "grade_id": "precision", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
def causal_sdpa(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv, is_causal=True)


worst_in_float64 = 0.0
print("              more than 1e-6 off          largest")
print("  std   yours, float32   SDPA, float32      error")
for std in (0.5, 1.0, 2.0, 3.0):
    misses, largest = [0, 0], 0.0
    for seed in range(100):
        draw = torch.Generator().manual_seed(seed)
        arrays = [std * torch.randn(1, 64, 64, generator=draw)]
        arrays += [torch.randn(64, 64, generator=draw) / 8 for _ in range(3)]
        exact_inputs = [array.double() for array in arrays]
        exact = causal_sdpa(*exact_inputs)
        for which, result in enumerate((attention(*arrays)[0], causal_sdpa(*arrays))):
            off = (result - exact).abs().max().item()
            misses[which] += off > 1e-6
            largest = max(largest, off)
        off = (attention(*exact_inputs)[0] - exact).abs().max().item()
        worst_in_float64 = max(worst_in_float64, off)
    print(f"{std:5} {misses[0]:10} of 100 {misses[1]:8} of 100   {largest:.1e}")
print(f"yours in float64, all draws: at most {worst_in_float64:.0e} from SDPA in float64")

# %% [markdown]
# The counts are your machine's, and the pattern is everyone's. At std 0.5 float32 keeps to 1e-6, barely. At
# std 1 it misses now and then, which would be a check that fails right answers by chance. At std 3, where
# scores are nine times as large, it fails always. And SDPA itself fails with you: the fault is in the
# format, not in the code.
#
# So this course grades in **float64 at 1e-6**, where right programs agree to many more digits than
# asked (last line) and a miss is a mistake. One more case runs in float32 at **1e-4**: it makes sure
# that your function keeps the dtype it is given and stays close. Numbers that must be exactly 0 are
# compared with 0, in both.

# %% [markdown]
# ## Cost
#
# **Count.** The mask blocks N(N − 1)/2 of N² cells, nearly half. Your function computes them all
# the same, and throws them away:

# %% nbgrader={"grade": false, "grade_id": "cost-count", "locked": true, "schema_version": 3, "solution": false, "task": false}
for n in (6, 8, 64, 1024):
    used = n * n - int(causal_mask(n).sum())
    print(f"N = {n:4}: {n * n:9,} scores computed, {used:7,} used, {100 * used / n**2:.1f} %")

# %% [markdown]
# | step | multiplications, all cells | those that are used |
# |---|---|---|
# | Q Kᵀ | N² · d_k | N(N + 1)/2 · d_k |
# | A V | N² · d_v | N(N + 1)/2 · d_v |
# | the mask in memory, bool | N² bytes | |
#
# A mask that you pass is data: the function has to compute the score first and read the mask after.
# `is_causal=True` is a *promise about shape*, which lets a kernel skip blocks above the diagonal
# without looking.
#
# **Measure.** Four ways to the same numbers on your machine; the last, row by row with n keys for
# query n, computes only what is used. Times differ from machine to machine, and the first column
# includes the projections; look at the ratios in the last line.


# %% nbgrader={"grade": false, "grade_id": "cost-measure", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from collections.abc import Callable
from time import perf_counter


def milliseconds(function: Callable[[], object]) -> float:
    """The fastest of five calls."""
    taken = []
    for _ in range(5):
        start = perf_counter()
        function()
        taken.append(perf_counter() - start)
    return 1000 * min(taken)


def row_by_row(asks: Tensor, spines: Tensor, pages: Tensor) -> Tensor:
    rows = []
    for n in range(asks.shape[1]):
        seen = slice(0, n + 1)
        similarity = asks[:, n : n + 1] @ spines[:, seen].mT / math.sqrt(asks.shape[-1])
        rows.append(similarity.softmax(-1) @ pages[:, seen])
    return torch.cat(rows, dim=1)


print("   N   attention   SDPA, attn_mask   SDPA, is_causal   row by row   (ms)")
for n in (512, 1024, 2048):
    arrays = [torch.randn(1, n, 64), *(torch.randn(64, 64) / 8 for _ in range(3))]
    asks, spines, pages = (arrays[0] @ matrix for matrix in arrays[1:])
    q, k, v = (part[:, None] for part in (asks, spines, pages))  # (1, 1, N, 64), SDPA's fast layout
    attend = ~causal_mask(n)  # True = attend
    print(
        f"{n:4} {milliseconds(lambda: attention(*arrays)):10.2f} "
        f"{milliseconds(lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=attend)):16.2f} "
        f"{milliseconds(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)):17.2f} "
        f"{milliseconds(lambda: row_by_row(asks, spines, pages)):12.2f}"
    )

# %% [markdown]
# At the largest N, `is_causal` should be well ahead of `attn_mask`: it skips what it need not compute.
# Row by row does half the multiplications too, in N times the calls. At small N the calls decide; at
# large N it may overtake even your `attention`, which writes N × N scores, hidden scores and weights
# to memory. Lesson 11 goes through attention in *blocks*: few calls, little memory, and whole blocks
# of the future left out.

# %% [markdown]
# ## Check yourself

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# **1. Why is a decoder masked in training, when it cannot see the future in use anyway?**
#
# <details><summary>A. To save computation</summary>
#
# Not this one: the plain way computes all scores and throws nearly half of them away. Saving is a
# side effect of clever kernels.
#
# </details>
# <details><summary>B. Because in training the answers stand in the input</summary>
#
# Yes. All positions are trained at once, and the next word is one row further down. Without a mask
# copying it is the best strategy, and a useless one.
#
# </details>
# <details><summary>C. Because NaN would appear without it</summary>
#
# Not this one: attention without a mask never meets an empty row. NaN is a danger *of* masks.
#
# </details>
#
# **2. A row of scores is 5, 1, 3 and the last key is blocked. What is the ratio of the first two
# weights?**
#
# <details><summary>A. e⁴</summary>
#
# Yes. e⁵ / e¹ = e⁴. Blocking a key leaves the ratios of the others as they were.
#
# </details>
# <details><summary>B. 5</summary>
#
# Not this one: softmax turns differences of scores into ratios of weights, and 5 − 1 = 4 becomes e⁴.
#
# </details>
# <details><summary>C. Less than without the mask, as the blocked share is spread evenly</summary>
#
# Not this one: it is spread in proportion. Each weight that is left grows by the same factor.
#
# </details>
#
# **3. You find weights whose rows add up to 0.2, 0.5, 0.8, 1. What happened?**
#
# <details><summary>A. Softmax ran over the queries</summary>
#
# Not this one: then the columns would add up to 1, and the last row to 1 or more.
#
# </details>
# <details><summary>B. √d_k is missing</summary>
#
# Not this one: a wrong scale changes how sharp a row is, and never its sum.
#
# </details>
# <details><summary>C. The mask came after softmax</summary>
#
# Yes. Early rows have most of their keys blocked, and those had taken their share before. The last row
# has nothing blocked and is whole.
#
# </details>
#
# **4. `blocked = torch.ones(5, 5).triu(1).bool()`. How do you pass it to SDPA?**
#
# <details><summary>A. attn_mask=blocked</summary>
#
# Not this one: SDPA reads True = attend. Each token would read the future alone.
#
# </details>
# <details><summary>B. attn_mask=~blocked</summary>
#
# Yes. `~` turns True = blocked into True = attend.
#
# </details>
# <details><summary>C. attn_mask=blocked.float()</summary>
#
# Not this one: a float mask is added. The future would *gain* a point of score.
#
# </details>
#
# **5. Four words are in the cache and the newest two ask, `is_causal=True`. What is wrong?**
#
# <details><summary>A. The two read words that come after them</summary>
#
# Not this one: nothing leaks. The triangle begins too far to the left, so it hides too much.
#
# </details>
# <details><summary>B. They are treated as words 1 and 2, and miss the later words, themselves included</summary>
#
# Yes. The triangle is aligned top-left. It has to be aligned bottom-right, where the newest query sees
# all keys.
#
# </details>
# <details><summary>C. PyTorch raises an error because N ≠ M</summary>
#
# Not this one: it runs, which is why this is a trap.
#
# </details>

# %% [markdown]
# ## Take away
#
# 1. A decoder is trained on all positions at once, with the answers in its input. The causal mask
#    hides them, and a loss too good to be true is what a leak looks like
#    ([why](#Why-a-decoder-must-not-see-the-future)).
# 2. −∞ before softmax gives a weight of exactly 0 and leaves the ratios of the others alone. After
#    softmax it is wrong, unless you renormalise ([the triangle](#The-lower-triangle),
#    [too late](#Mask-after-softmax)).
# 3. Padding is blocked as a key, in the columns: (B, 1, 1, N). A row with nothing to read is 0 in
#    SDPA and NaN in softmax ([padding](#Padding), [both](#Causal-and-padding-in-one)).
# 4. True = attend in SDPA and True = blocked in `nn.MultiheadAttention`; `is_causal` aligns top-left
#    ([two traps](#Two-traps)).
# 5. Wrong axis: columns add up to 1. No √d_k: too sharp. Late mask: rows below 1. Wrong shape: an
#    error, or silence when sizes are equal ([break it](#Break-it-on-purpose)).
#
# **Words of this lesson**: [mask](../glossary.md#mask), [causal mask](../glossary.md#causal-mask),
# [padding](../glossary.md#padding), [softmax](../glossary.md#softmax),
# [scale](../glossary.md#scale), [stable](../glossary.md#stable),
# [decoder](../glossary.md#decoder), [encoder](../glossary.md#encoder) and
# [cross-attention](../glossary.md#cross-attention).
#
# ### Sources
#
# - The causal mask as −∞ before softmax, and the three attentions of an encoder–decoder: Vaswani et
#   al. 2017, *Attention Is All You Need*, section 3.2.3.
#   [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# - An encoder without a causal mask: Devlin et al. 2018, *BERT*, section 3.
#   [arXiv:1810.04805](https://arxiv.org/abs/1810.04805)
# - Encoder, decoder and encoder–decoder in pseudo-code, masks included: Phuong and Hutter 2022,
#   *Formal Algorithms for Transformers*, section 6.
#   [arXiv:2207.09238](https://arxiv.org/abs/2207.09238)
# - What a causal mask alone tells a model about order: Haviv et al. 2022, *Transformer Language
#   Models without Positional Encodings Still Learn Positional Information*.
#   [arXiv:2203.16634](https://arxiv.org/abs/2203.16634)
# - PyTorch's documentation: `attn_mask` and `is_causal` of
#   [scaled_dot_product_attention](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html),
#   `attn_mask` and `key_padding_mask` of
#   [MultiheadAttention](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html).
# - Rounding: Goldberg 1991, *What Every Computer Scientist Should Know About Floating-Point
#   Arithmetic*. [doi:10.1145/103162.103163](https://doi.org/10.1145/103162.103163)
#
# **To carry over.** One softmax gives each reader one way to share out its attention. *Cat* may want
# to know who sat *and* where, at the same time. How would you give it two questions, without a second
# model?
