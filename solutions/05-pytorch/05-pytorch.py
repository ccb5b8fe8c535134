# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05 · Batched, with gradients
#
# You have written attention with lists and with arrays. To learn, it needs slopes, and so far you got
# those by nudging or on paper. Here you write it a third time, on PyTorch's tensors. You get two things for
# it: a whole batch of sentences in one call, and every slope without a pencil.
#
# | | |
# |---|---|
# | **You will be able to** | write attention for tensors with any leading axes and both kinds of mask; say what autograd computes, check it in two ways, and write its step past softmax; make it a module with three `nn.Linear`; show how attention differs from a layer of an MLP |
# | **Minutes** | about 90 |
# | **You need** | lessons 01 to 04: softmax, masks, slopes, softmax's Jacobian; NumPy's axes and broadcasting; what a Python class is |
# | **Runs on** | CPU, in seconds; needs no network |
# | **You may stop** | before *A few steps downhill* |
# | **Points** | 8, in three exercises |
#
# The lesson's sentence is ***two readers want one book***. A batch needs a second one, and that is *one clerk
# finds the book*: two queues at two desks, served at the same time.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import torch
import torch.nn.functional as F
from torch import nn

from attnlab import begin, check, figures, quiz  # is it missing? open it by: attnlab lab

begin("05-pytorch")

# %% nbgrader={"grade": false, "grade_id": "opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.opening()

# %% [markdown]
# **Where you are.** The block of lesson 02. Here you take slopes through the two lit boxes.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("softmax", "mix")

# %% [markdown]
# ## Recall

# %% nbgrader={"grade": false, "grade_id": "quiz-recall", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("recall")

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Predict
#
# Commit to a guess. You run both experiments below.

# %% nbgrader={"grade": false, "grade_id": "quiz-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("predict")

# %% [markdown]
# ## By hand
#
# The reader *want* looks at three books, the film's A, B and C. Their scaled scores are 0, 0 and $\log 2$ =
# 0.693. Each page holds a single number: 8, 4 and 2, so $d_v$ = 1.
#
# **The answer.** e to the scores is 1, 1 and 2, which add up to 4. The weights are 0.25, 0.25, 0.5, and
# z = 0.25 · 8 + 0.25 · 4 + 0.5 · 2 = **4**.
#
# **Slopes of the values.** Nudge $v_m$ by h, and z moves by $a_m$ h. So the slopes are the weights
# themselves.
#
# **Slopes of the scores.** A score moves all the weights. By the Jacobian of lesson 04, ∂$a_j$/∂$s_m$ is
# $a_m$ (1 − $a_m$) for j = m and −$a_j$ $a_m$ for the others. Multiply each by its value and add up:
#
# $$\frac{\partial z}{\partial s_m} = \sum_j v_j \frac{\partial a_j}{\partial s_m}
# = a_m v_m - a_m \sum_j a_j v_j = a_m \, (v_m - z)$$
#
# | book | score | weight a | value v | slope of v: a | slope of s: a (v − z) |
# |---|---|---|---|---|---|
# | *two* | 0 | 0.25 | 8 | 0.25 | 0.25 · (8 − 4) = **1** |
# | *readers* | 0 | 0.25 | 4 | 0.25 | 0.25 · (4 − 4) = **0** |
# | *want* | 0.693 | 0.5 | 2 | 0.5 | 0.5 · (2 − 4) = **−1** |
#
# The slopes of the scores add up to 0, because raising all scores together changes nothing.
#
# A **tensor** is PyTorch's array. `requires_grad=True` tells PyTorch to keep track of
# slopes for it. `backward()` computes them, and leaves them in the tensor's `.grad`.

# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
scores = torch.log(torch.tensor([1.0, 1.0, 2.0], dtype=torch.float64)).requires_grad_()
values = torch.tensor([8.0, 4.0, 2.0], dtype=torch.float64, requires_grad=True)

weights = scores.softmax(dim=-1)
answer = weights @ values
answer.backward()
assert values.grad is not None  # backward() has filled in the slopes
assert scores.grad is not None

print("weights         ", [round(weight, 4) for weight in weights.tolist()])
print("answer          ", round(answer.item(), 4))
print("slopes of values", [round(slope, 4) for slope in values.grad.tolist()])
# Adding 0.0 turns a -0.0 into 0.0.
print("slopes of scores", [round(slope, 4) + 0.0 for slope in scores.grad.tolist()])

# %% [markdown]
# ## Shape ledger
#
# The letter b is new. It counts the sentences of a **batch**: problems of equal shape, stacked along a leading
# axis. PyTorch writes arguments with small letters, and so does your code from here on. The … stands for any
# leading axes; in the layer that you write it is b.
#
# | symbol | what it is | axes | size in this lesson |
# |---|---|---|---|
# | x | a batch of tokens (the lesson's own: X) | `b n d` | (2, 5, 6) |
# | $W_q$, $W_k$ | matrices that make queries, keys | `d k` | (6, 4) |
# | $W_v$ | matrix that makes values | `d v` | (6, 3) |
# | q | queries | `… n k` | (2, 5, 4) |
# | k | keys | `… m k` | (2, 5, 4) |
# | v | values | `… m v` | (2, 5, 3) |
# | scores | q kᵀ/$\sqrt{d_k}$ | `… n m` | (2, 5, 5) |
# | attn_mask | bool, True = attend; or float, added to the scores | broadcastable to `… n m` | (5, 5) |
# | weights | softmax over m | `… n m` | (2, 5, 5) |
# | out | weights times v | `… n v` | (2, 5, 3) |

# %% [markdown]
# ## From arrays to tensors
#
# This changes:
#
# | NumPy, lesson 03 | PyTorch | take care |
# |---|---|---|
# | `np.array([1.0, 2.0])` | `torch.tensor([1.0, 2.0])` | float32 unless you say `dtype=torch.float64` |
# | `axis=-1, keepdims=True` | `dim=-1, keepdim=True` | |
# | `K.swapaxes(-1, -2)` | `k.mT` | m for *matrix*: it swaps the last two axes. `.T` would reverse all of them, and PyTorch warns against it |
# | `np.where(mask, s, -np.inf)` | `s.masked_fill(~mask, -torch.inf)` | fills where **True**, so a mask that means *attend* needs the `~`, which reads *not* |
# | your `softmax` | `torch.softmax(s, dim=-1)` or `s.softmax(dim=-1)` | subtracts the maximum for you |
#
# A method whose name ends in an underscore, as `masked_fill_`, changes its tensor in place. Do not do
# that to an input. And a tensor has a **device**, the CPU or a GPU; two that meet must have the same.
#
# ### `@` batches over leading axes
#
# `@` multiplies the last two axes as matrices, and goes through all axes before them in step. Say each shape
# before you run the cell.

# %% nbgrader={"grade": false, "grade_id": "see-batched-product", "locked": true, "schema_version": 3, "solution": false, "task": false}
torch.manual_seed(0)
q, k = torch.randn(2, 5, 4), torch.randn(2, 7, 4)
print("one leading axis:       ", (q @ k.mT).shape)
print("two leading axes:       ", (torch.ones(2, 3, 5, 4) @ torch.ones(2, 3, 4, 7)).shape)
print("a size of 1 is repeated:", (torch.ones(2, 3, 5, 4) @ torch.ones(2, 1, 4, 7)).shape)
print("one matrix for all:     ", (torch.ones(2, 5, 6) @ torch.ones(6, 4)).shape)

one_by_one = torch.stack([q[b] @ k[b].mT for b in range(2)])
print("the same as a loop over the batch:", torch.allclose(q @ k.mT, one_by_one))

# %% [markdown]
# So write the line for one sentence with `.mT`, and leading axes come along.
#
# ### Autograd: nobody writes the tables down
#
# Who multiplies all the Jacobians of lesson 04? **Autograd** does, PyTorch's machinery for slopes. While your
# code runs, every float result that depends on a tensor with `requires_grad` remembers the operation it came from,
# its `grad_fn`. `backward()` walks this record from the end to the beginning, and multiplies slopes as it goes:
# the **chain rule**.
#
# It never writes a Jacobian down. For each entry of a result it keeps one number, the slope of the final answer in
# that entry. To get past softmax, it turns the slopes of a row of weights into slopes of the scores: M numbers go
# in and M come out, and the Jacobian's M² entries never exist. You will write that step yourself.
#
# Where a tensor is used several times, the slopes of all its uses are added up. In self-attention x goes
# into queries, keys and values, and its slope is the sum of what comes back from the three.
#
# Here is the record of your pencil example:

# %% nbgrader={"grade": false, "grade_id": "see-record", "locked": true, "schema_version": 3, "solution": false, "task": false}
node = answer.grad_fn
while node is not None:
    print(type(node).__name__)
    # Follow the first input back, as far as it goes.
    node = node.next_functions[0][0] if node.next_functions else None

# %% [markdown]
# `AccumulateGrad` puts the slopes into `scores.grad`.
#
# You can cut the record. What comes from `x.detach()`, `x.item()`, `x.tolist()`, or from anything under
# `torch.no_grad()`, remembers nothing, and PyTorch does not warn you. That is fine for printing. *Break it on
# purpose* shows what it does in the middle of a model.
#
# ## See it: how far a gradient reaches
#
# Here are the two sentences. The words' vectors and the three matrices are random, from a fixed seed, and
# float64, because we compare to 1e-6 and beyond; lesson 06 measures why float32 cannot promise that. Until the
# exercise, the cells use PyTorch's own attention, `F.scaled_dot_product_attention`.

# %% nbgrader={"grade": false, "grade_id": "see-sentences", "locked": true, "schema_version": 3, "solution": false, "task": false}
torch.manual_seed(1)
d, d_k, d_v = 6, 4, 3
sentences = [
    ["two", "readers", "want", "one", "book"],
    ["one", "clerk", "finds", "the", "book"],
]
vocabulary = sorted({word for sentence in sentences for word in sentence})
vector = {word: torch.randn(d, dtype=torch.float64) for word in vocabulary}
X = torch.stack([torch.stack([vector[word] for word in sentence]) for sentence in sentences])

W_q, W_k, W_v = (0.6 * torch.randn(d, width, dtype=torch.float64) for width in (d_k, d_k, d_v))
q, k, v = ((X @ W).requires_grad_() for W in (W_q, W_k, W_v))
print("X", tuple(X.shape), " q", tuple(q.shape), " k", tuple(k.shape), " v", tuple(v.shape))

# %% [markdown]
# Choose a number of the output, by a click or by arrow keys. The figure calls `backward()` on it, and shows
# the slopes that arrive in q, k and v of both sentences: blue below 0, orange above, and grey where the slope
# is exactly 0. It begins with entry 0 of *want* in the 1st sentence. Before you choose another entry of *want*,
# and then one of the 2nd sentence, say which cells will be coloured.

# %% nbgrader={"grade": false, "grade_id": "see-reach", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.live.Slopes(F.scaled_dot_product_attention, q, k, v, sentences, entry=(0, 2, 0))

# %% [markdown]
# At *want* in the 1st sentence the slopes reach one query, that of *want* (prediction 1: A), all
# five keys and all five values. Of the values they reach only entry 0, because each entry is averaged by
# itself. These five slopes are the weights of *want*. The 2nd sentence is all 0: nothing crosses from one sentence
# of a batch to another.
#
# So slopes of one reader reach every book of its sentence that has a weight above 0, and no other sentence.

# %% [markdown]
# ## The same five lines, batched
#
# This is equation 1 of Vaswani et al. (2017):
#
# $$\text{out} = \operatorname{softmax}\!\left(\frac{q\,k^{\top}}{\sqrt{d_k}}\right) v$$
#
# The mask is new. PyTorch's built-in takes two kinds in one argument, `attn_mask`, and so does your function:
#
# - **bool, True = attend.** As in lesson 03. A key with False has no part in its row.
# - **float, added to the scaled scores.** −∞ hides the key. Of other numbers only the differences count: if a key
#   gets $\log 3$ more than the others, its share triples beside theirs. (As long as rounding does not swallow the
#   scores: in float32 a mask of −10⁹ for all makes all weights equal.) `mask.dtype` says which kind you have.
#
# In this cell, one reader with four equal scores gets four masks. The built-in returns no weights, so the
# cell uses a trick that you will meet again: if the values are the identity matrix, weights times values *is*
# the weights.

# %% nbgrader={"grade": false, "grade_id": "see-two-masks", "locked": true, "schema_version": 3, "solution": false, "task": false}
level = torch.zeros(1, 4, dtype=torch.float64)
hide_last = torch.tensor([[True, True, True, False]])  # True = attend
hide_last_float = torch.tensor([[0.0, 0.0, 0.0, -torch.inf]], dtype=torch.float64)
louder_first = torch.tensor([[3.0, 1.0, 1.0, 1.0]], dtype=torch.float64).log()

unit = torch.eye(4, dtype=torch.float64)  # values that let the weights through
for name, mask in {
    "bool, hide the last": hide_last,
    "float, hide the last": hide_last_float,
    "float, first three times": louder_first,
    "the same, all 5 lower": louder_first - 5,
}.items():
    shown = F.scaled_dot_product_attention(level, unit, unit, attn_mask=mask)
    print(f"{name:25}", [round(w, 3) for w in shown[0].tolist()])

# %% [markdown]
# ### Rows with no key left
#
# A reader who may open no book goes home with nothing: weights 0, output 0. Softmax alone does not know this.
#
# Where all scores of a row are −∞, it gives NaN. Putting 0 there afterwards mends the answer, but not the slopes: on
# the way back autograd multiplies by softmax's own result, and 0 · NaN is NaN.
#
# So give the empty row harmless scores *before* softmax, say 0, and set its weights to 0 *after* it. The check looks at
# the slopes as well. To find the empty rows, `x.all(dim=-1, keepdim=True)` says of each row whether all of it is True.

# %% [markdown]
# ### Exercise: `scaled_dot_product_attention`
#
# difficulty ●●○ · 15–20 min · 3 points
#
# Write attention for tensors: from q, k and v to the output and the weights, for any leading axes.
# `attn_mask` is None, a bool mask (True = attend) or a float mask, which is added to the *scaled*
# scores. A query with no key left gets weights and output of exactly 0, and sends no NaN back. The result has
# the dtype of the inputs, gradients flow to q, k and v, and no input is changed.
#
# If shapes cannot work, raise `ValueError` and name both. (PyTorch's own `RuntimeError` is accepted too.)
#
# Calls that do all of it at once are banned here and in the layer below: `F.scaled_dot_product_attention`,
# `nn.MultiheadAttention` with its function and the layers built on it, `torch._scaled…` and all of
# `torch.nn.attention`. An exercise that uses one of them scores 0. Everything else in PyTorch is yours to
# use, `torch.softmax` included.

# %% [markdown] nbgrader={"grade": false, "grade_id": "attention-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Four steps: score, mask, share, average. Only the second has cases: nothing, hide, or add. After it,
# both kinds of mask look the same, because a hidden key has a score of −∞ either way. So ask the *scores*
# which rows are empty, and not the mask.
#
# <details><summary>Hint 2: the shapes</summary>
#
# (…, N, $d_k$) times the transpose of (…, M, $d_k$) gives (…, N, M). Masks broadcast to that. "Is every key of
# this row hidden?" is one bool a row, (…, N, 1). Weights times (…, M, $d_v$) gives (…, N, $d_v$).
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. Compare the widths of q and k, and how many keys and values there are. On a mismatch raise
#    `ValueError` with both shapes in its text.
# 2. Multiply queries with transposed keys and divide by the square root of $d_k$.
# 3. Without a mask, take softmax over the last axis and go on with 5. If the mask's dtype is
#    `torch.bool`, fill with minus infinity where it is *not* True. If it is float, add it.
# 4. Find the rows that are minus infinity all along. Fill them with 0, take softmax over the last
#    axis, and fill the same rows with 0 again.
# 5. Average the values, and return the average first, the weights second.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "scaled_dot_product_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scaled_dot_product_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, attn_mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Average values by softmax over keys of scaled dot products, in the thousands too.

    Args:
        q: (…, N, d_k), queries.
        k: (…, M, d_k), keys.
        v: (…, M, d_v), values.
        attn_mask: broadcastable to (…, N, M). Bool: True = attend. Float: added to the scaled
            scores. None hides nothing.
    Returns:
        out: (…, N, d_v).
        weights: (…, N, M); each row adds up to 1, or is exactly 0 where no key is left.
    Raises:
        ValueError: the widths of q and k differ, or there are not as many values as keys; names
            both shapes. (PyTorch's own RuntimeError is accepted too.)
    Source: Vaswani et al. 2017, eq. 1.
    """
    ### BEGIN SOLUTION
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"q is {tuple(q.shape)} and k is {tuple(k.shape)}: widths must agree")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"k is {tuple(k.shape)} and v is {tuple(v.shape)}: a value for each key")
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if attn_mask is None:
        weights = torch.softmax(scores, dim=-1)
    else:
        if attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(~attn_mask, -torch.inf)
        else:
            scores = scores + attn_mask
        empty = (scores == -torch.inf).all(dim=-1, keepdim=True)
        weights = torch.softmax(scores.masked_fill(empty, 0.0), dim=-1)
        weights = weights.masked_fill(empty, 0.0)
    return weights @ v, weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "scaled_dot_product_attention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(scaled_dot_product_attention)

# %% [markdown]
# ### Yours against the built-in
#
# For the weights, values are the identity again.

# %% nbgrader={"grade": false, "grade_id": "use-attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
mask = torch.ones(5, 5, dtype=torch.bool)  # True = attend
mask[2] = False  # want may attend to nothing
as_float = torch.zeros(5, 5, dtype=torch.float64).masked_fill(~mask, -torch.inf)
identity = torch.eye(5, dtype=torch.float64).expand(2, 5, 5)
masks: dict[str, torch.Tensor | None] = {"no": None, "bool": mask, "float": as_float}
for name, attn_mask in masks.items():
    out, weights = scaled_dot_product_attention(q, k, v, attn_mask)
    out_apart = out - F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask)
    weights_apart = weights - F.scaled_dot_product_attention(q, k, identity, attn_mask=attn_mask)
    worst = max(out_apart.abs().max().item(), weights_apart.abs().max().item())
    print(f"{name:5} mask: largest difference below 1e-12: {worst < 1e-12}")

# %% [markdown]
# ### The slopes: two ways to be sure
#
# **Against the built-in.** Both functions run on the same q, k and v. Autograd needs to know which sum
# of output numbers you care about. So give each output number a random factor, the same for both, and
# compare the slopes. (`torch.autograd.grad` returns them, where `backward` leaves them in `.grad`.)

# %% nbgrader={"grade": false, "grade_id": "compare-slopes", "locked": true, "schema_version": 3, "solution": false, "task": false}
pull = torch.randn(2, 5, d_v, dtype=torch.float64)  # how much each output number counts
for name, attn_mask in masks.items():
    out, _ = scaled_dot_product_attention(q, k, v, attn_mask)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask)
    slopes = torch.autograd.grad(out, (q, k, v), pull)
    expected_slopes = torch.autograd.grad(expected, (q, k, v), pull)
    agree = [
        torch.allclose(yours, theirs, rtol=0, atol=1e-12)
        for yours, theirs in zip(slopes, expected_slopes, strict=True)
    ]
    print(f"{name:5} mask: slopes of q, k, v agree: {agree}")

# %% [markdown]
# **Without any formula.** `torch.autograd.gradcheck` nudges every single input number by a millionth,
# up and down, measures how each output number changes, and compares with autograd. Such small nudges drown in float32's rounding, so its inputs are float64.

# %% nbgrader={"grade": false, "grade_id": "gradcheck", "locked": true, "schema_version": 3, "solution": false, "task": false}
for name, inputs in {"no mask": (q, k, v), "float mask": (q, k, v, as_float)}.items():
    passed = torch.autograd.gradcheck(scaled_dot_product_attention, inputs, raise_exception=False)
    print(f"gradcheck, {name}: {passed}")

# %% [markdown]
# Called like this, `gradcheck` calls your function twice for each number: fine for a test, hopeless for
# training. Autograd gets all the slopes in one walk back, whose cost is a small multiple of one call.
#
# ### Softmax's own way back
#
# One step of that walk is worth writing yourself. It gets a row's weights a, and what came back to
# them: g, the slope of the loss in each weight. (**Loss** is the usual word for the error, the one number that
# training makes smaller.) The code calls g `upstream`. The step passes on the slope of the loss in each score.
#
# A score moves *all* the weights of its row, and each of them moves the loss. So the slope of score m is the
# sum over j of ∂$a_j$/∂$s_m$ times $g_j$. With the Jacobian, for the whole row:
#
# $$\frac{\partial\,\text{loss}}{\partial s} = \left(\operatorname{diag}(a) - a\,a^{\top}\right) g$$
#
# The scores are not in it. The way back needs softmax's result alone, so autograd keeps that. You do not need the
# matrix either. Multiply each of the two terms by g on paper before you write a line.

# %% [markdown]
# ### Exercise: `softmax_backward`
#
# difficulty ●●○ · 5–8 min · 2 points
#
# Given `weights` and `upstream`, both (…, M), return the slopes of what went into softmax, (…, M). (The scores
# were divided by $\sqrt{d_k}$ before that, so it plays no part here.) A row of zeros, a reader with no key left, gets
# slopes of 0. If the widths differ, there has to be an error; PyTorch's own will do.
#
# You may not use `torch._softmax_backward_data`, the call that does this, or its relatives. Autograd through
# `torch.softmax` ends in that call too, so the check refuses it as well.

# %% [markdown] nbgrader={"grade": false, "grade_id": "softmax_backward-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# diag(a) g stretches each slope by its own weight. In the other term begin at the right: aᵀg is a single number
# for each row. In *By hand* you met both, with v in place of g.
#
# <details><summary>Hint 2: the shapes</summary>
#
# `weights` and `upstream` are (…, M). A number for each row has to be (…, 1), to line up with them.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "softmax_backward", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax_backward(weights: torch.Tensor, upstream: torch.Tensor) -> torch.Tensor:
    """From slopes of softmax's result to slopes of what went into it.

    Args:
        weights: (…, M), what softmax gave; each row adds up to 1, or is 0.
        upstream: (…, M), the slope of the loss in each weight.
    Returns:
        (…, M), dtype of weights, the slope of the loss in each score; 0 where their row is 0.
    Raises:
        RuntimeError: the widths differ. PyTorch raises it by itself.
    """
    ### BEGIN SOLUTION
    return weights * (upstream - (weights * upstream).sum(dim=-1, keepdim=True))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "softmax_backward-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(softmax_backward)

# %% [markdown]
# The rest of the way back is products: two matrix products forward, four back, and your line between them.
#
# ## Attention as a module
#
# Your function gets q, k and v from outside, and has no parameters. To learn, a layer has to own the three matrices.
# PyTorch's building block for that is **`nn.Module`**. If an attribute of it is an `nn.Linear`, the linear's
# parameters are in `module.parameters()` for the **optimizer**, which moves them in training, and in
# `module.state_dict()` for a file. (A plain tensor is not found there, nor a Python list of linears.)
#
# `nn.Linear(d, d_k)` is a projection with parameters of its own, random at first. It stores its matrix
# as **(out, in)**, the transpose of ours, and computes $y = x\,W^{\top} + b$, with a bias b unless you say `bias=False`.

# %% [markdown]
# ### Exercise: `SelfAttention`
#
# difficulty ●●○ · 8–12 min · 3 points
#
# Write the module. Its constructor makes three linears called exactly `W_q`, `W_k` and `W_v`, from d
# to $d_k$, $d_k$ and $d_v$, all with a bias or all without. `forward` makes queries, keys and values from
# the same x and gives them to your function, without a mask. It returns the output and the weights.
#
# The check loads weights by these names, as any saved model does.

# %% [markdown] nbgrader={"grade": false, "grade_id": "module-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# The constructor only makes things, `forward` only uses them. All learning happens in the three
# linears; the function in the middle has nothing to learn. In `forward`, *call* each linear with x. Its weight
# alone would leave out the bias.
#
# <details><summary>Hint 2: the shapes</summary>
#
# x is (B, N, d). Two linears give (B, N, $d_k$), the third (B, N, $d_v$). The function gives the output
# (B, N, $d_v$) and the weights (B, N, N).
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "SelfAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class SelfAttention(nn.Module):
    """Self-attention that owns its three projections.

    Float32 or float64; scores may be in the thousands; gradients reach x and all parameters.

    Args:
        d: width of a token.
        d_k: width of queries and keys.
        d_v: width of values.
        bias: whether each projection adds a bias.
    """

    def __init__(self, d: int, d_k: int, d_v: int, bias: bool = False) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.W_q = nn.Linear(d, d_k, bias=bias)
        self.W_k = nn.Linear(d, d_k, bias=bias)
        self.W_v = nn.Linear(d, d_v, bias=bias)
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Let each token attend to all tokens of its own sentence.

        Args:
            x: (B, N, d).
        Returns:
            out: (B, N, d_v).
            weights: (B, N, N); each row adds up to 1.
        Raises:
            RuntimeError: x is not d wide (from `nn.Linear`).
        """
        ### BEGIN SOLUTION
        return scaled_dot_product_attention(self.W_q(x), self.W_k(x), self.W_v(x))
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "SelfAttention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(SelfAttention)

# %% [markdown]
# ### Your module, with the lesson's matrices
#
# A **state dict** maps names to tensors. Load the three matrices from above into your module, each
# transposed, and it has to give the numbers of your function. (`.double()` makes a module's parameters
# float64; `model(x)` runs `forward`.)


# %% nbgrader={"grade": false, "grade_id": "use-module", "locked": true, "schema_version": 3, "solution": false, "task": false}
def with_the_lessons_matrices() -> SelfAttention:
    """Your module in float64, with W_q, W_k and W_v from above."""
    module = SelfAttention(d, d_k, d_v).double()
    module.load_state_dict({"W_q.weight": W_q.mT, "W_k.weight": W_k.mT, "W_v.weight": W_v.mT})
    return module


model = with_the_lessons_matrices()
out, A = model(X)
expected, _ = scaled_dot_product_attention(X @ W_q, X @ W_k, X @ W_v)
print("out", tuple(out.shape), " weights", tuple(A.shape))
print("the same as the function:", torch.allclose(out, expected, rtol=0, atol=1e-12))
print("parameters:", sum(p.numel() for p in model.parameters()))
print("with biases:", sum(p.numel() for p in SelfAttention(d, d_k, d_v, bias=True).parameters()))

# %% [markdown]
# 66 and, with biases, 77: your `count_attention` of lesson 03 gives the same for d = 6, $d_k$ = 4 and $d_v$ = 3.
#
# ### A few steps downhill
#
# In lesson 01 a desk learned one query of two numbers, by nudging. Here is the same loop for the 48
# numbers of $W_q$ and $W_k$. Suppose that *want*, in the first sentence, should attend to *book*. The error is
# lesson 04's: pages are one-hot, so that the answer is the row of weights, and the error is its squared
# distance from the page of *book*. The optimizer `torch.optim.SGD` holds the parameters, and its `step`
# moves each by `lr` times its slope, downhill.

# %% nbgrader={"grade": false, "grade_id": "learn-to-attend", "locked": true, "schema_version": 3, "solution": false, "task": false}
learner = with_the_lessons_matrices()
optimizer = torch.optim.SGD(learner.parameters(), lr=0.3)
wanted = torch.tensor([0.0, 0, 0, 0, 1], dtype=torch.float64)  # the page of book
print("want attends to: ", *sentences[0])

for step in range(31):
    _, now = learner(X)
    loss = ((now[0, 2] - wanted) ** 2).sum()  # sentence 0, reader want
    if step % 10 == 0:
        print(f"step {step:2}", [round(share, 3) for share in now[0, 2].tolist()])
    optimizer.zero_grad()  # forget the slopes of the last step
    loss.backward()
    optimizer.step()

print("W_v has slopes:", learner.W_v.weight.grad is not None)

# %% [markdown]
# $W_v$ got no slopes at all: the pages were given, and
# its values had no part in the answer. `zero_grad` is needed because `backward` *adds* to what is in
# `.grad`.

# %% [markdown]
# ## The same for every sentence, or new for each
#
# An **MLP** is a linear layer, a ReLU, which sets what is below 0 to 0, and another linear layer. This one reads
# across the tokens (as in Tolstikhin et al. 2021), so its layers have 5 × 5 matrices. Which matrix mixes the tokens
# of a sentence? Autograd tells you for the layer and for the whole MLP: nudge what goes in, and the slopes of what
# comes out are the matrix (here for entry 0 of each token). In attention it is the weights.
#
# The cell asks for the matrices of 1,000 random sentences, of the same sentences with each number nudged by a
# millionth, and of our two. How many different ones do you expect?

# %% nbgrader={"grade": false, "grade_id": "see-fixed-or-rebuilt", "locked": true, "schema_version": 3, "solution": false, "task": false}
torch.manual_seed(2)
mlp = nn.Sequential(nn.Linear(5, 5, bias=False), nn.ReLU(), nn.Linear(5, 5, bias=False)).double()
module = with_the_lessons_matrices()


def mixing(texts: torch.Tensor) -> dict[str, torch.Tensor]:
    """What mixes the tokens of each text: (B, 5, 6) to (B, 5, 5), by the name of what mixes."""
    entries, slopes = texts[:, :, 0], torch.autograd.functional.jacobian  # entry 0 of each token
    # Nothing crosses from text to text, so the slopes of a sum over texts are each text's own.
    layer = slopes(lambda tokens: mlp[0](tokens).sum(dim=0), entries).transpose(0, 1)
    whole = slopes(lambda tokens: mlp(tokens).sum(dim=0), entries).transpose(0, 1)
    return {"first layer": layer, "whole MLP": whole, "attention": module(texts)[1].detach()}


random_texts = torch.randn(1000, 5, 6, dtype=torch.float64)
nudged, ours = mixing(random_texts + 1e-6), mixing(X)
print("             different   same when nudged   change between our two")
for name, found in mixing(random_texts).items():
    different = len(found.round(decimals=12).unique(dim=0))
    same = (found - nudged[name]).abs().amax(dim=(1, 2)) < 1e-12
    change = (ours[name][0] - ours[name][1]).norm() / ours[name][0].norm()
    print(f"{name:12}{different:10,}{int(same.sum()):19,}{change:25.2f}")

# %% [markdown]
# The first layer has one matrix, fixed before any sentence was read. Attention made a new one for each here, nudged
# or not. (Prediction 2: B. With scores in the thousands it is nearly one-hot, and a nudge often leaves it as it was.)
#
# The whole MLP lies between the two. Its ReLUs switch hidden units on and off, which chooses among rows and columns of
# the same two matrices: 2⁵ = 32 ways at most. (With 20 hidden units the 1,000 sentences get some 650.) Between our
# two sentences its matrix changes even *more* than attention's (at other entries by 0.6 to 2.2 times its size). But a
# nudge that switches no unit leaves it as it was.
#
# In the layer, what each unit takes from each *place* is a parameter: 25 numbers, for sentences of five words only.
# In attention the whole table is a result. Training sets two matrices, $W_q$ and $W_k$, that say how to work it out
# for every sentence and length.

# %% [markdown]
# ## Break it on purpose
#
# This function runs without an error. Read it, and say what the check will find before you run it.


# %% nbgrader={"grade": false, "grade_id": "break-detach", "locked": true, "schema_version": 3, "solution": false, "task": false}
def without_a_past(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, attn_mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    out, weights = scaled_dot_product_attention(q, k, v, attn_mask)
    return out.detach(), weights.detach()


check(without_a_past, name="scaled_dot_product_attention")

# %% [markdown]
# Every number is right, and nothing can be learned through it: **the record is cut**. Called on such a result,
# `backward()` at least raises an error. A cut that leaves another way open is worse. Here only the weights are
# detached:

# %% nbgrader={"grade": false, "grade_id": "break-detach-symptom", "locked": true, "schema_version": 3, "solution": false, "task": false}
half = SelfAttention(d, d_k, d_v).double()
_, weights = half(X)
(weights.detach() @ half.W_v(X)).sum().backward()
for name, parameter in half.named_parameters():
    print(f"{name}: ", "no slopes" if parameter.grad is None else "slopes")

# %% [markdown]
# No error, and the loss can go down all the same, since $W_v$ learns. $W_q$ and $W_k$ never move: no slope tells this module
# *whom* to listen to. The symptom is a parameter whose `.grad` stays None. Look at every parameter's `.grad` after the
# first `backward()` of a new model.


# %% [markdown]
# ## Cost
#
# A batch of B sentences takes B times the multiplications of one. But there is a new item on the bill. To walk
# back, autograd keeps what the slopes will need: q, k and v for their products, and softmax's result. `kept`
# calls a function and counts these numbers.

# %% nbgrader={"grade": false, "grade_id": "count-kept", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from attnlab.lessons.pytorch.watch import kept

batch, width = 2, 16
print("   N      yours   built-in   2 B N d_k + B N d_v + B N²")
for n in (32, 64, 128, 256, 512):
    parts = [torch.randn(batch, 1, n, width, requires_grad=True) for _ in range(3)]
    formula = 3 * batch * n * width + batch * n * n
    by_hand = kept(scaled_dot_product_attention, *parts)
    fused = kept(F.scaled_dot_product_attention, *parts)
    print(f"{n:4} {by_hand:10,} {fused:10,} {formula:10,}")

# %% [markdown]
# Your function keeps the (N, N) weights of each sentence, so the last term takes over: at the end of the table, twice the
# tokens are nearly four times the numbers. (If yours fills rows even without a mask, it keeps another copy of the
# weights.)
#
# With four axes and values as wide as keys, the built-in runs a **fused** program, which goes through the keys block by block.
# (That is what the 1 in the cell is for. With your module's three axes it keeps as much as yours;
# [lesson 13](../13-gpu-sdpa/13-gpu-sdpa.ipynb) says why.) It
# keeps q, k, v, the output and one number a row, from which it works out the weights again on the way back: twice the
# tokens, twice the numbers. Lesson 11 builds this idea.

# %% [markdown]
# ## Check yourself

# %% nbgrader={"grade": false, "grade_id": "quiz-check-yourself", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("check yourself")

# %% [markdown]
# ## Take away
#
# 1. `@` walks leading axes in step, so the lines for one sentence serve a batch, and nothing crosses
#    from one sentence to another. ([From arrays to tensors](#From-arrays-to-tensors))
# 2. Autograd records operations and multiplies their slopes from the end to the beginning, adds up
#    where a tensor is used twice, and never writes softmax's Jacobian. `.detach()` cuts the record in silence.
#    ([Autograd](#Autograd:-nobody-writes-the-tables-down), [softmax](#Softmax's-own-way-back))
# 3. A bool mask hides (True = attend), a float mask is added to the scaled scores; a row with no key
#    left is 0, and needs care in its slopes as well. ([Rows with no key left](#Rows-with-no-key-left))
# 4. Yours agrees with PyTorch's built-in in values and in slopes. It keeps the weights for the way back; the
#    built-in's fused programs never hold them all. ([The slopes](#The-slopes:-two-ways-to-be-sure),
#    [Cost](#Cost))
# 5. Your module owns three linears and nothing else. The table that mixes tokens is a result in
#    attention, and a parameter in a linear layer across tokens.
#    ([The same for every sentence, or new for each](#The-same-for-every-sentence,-or-new-for-each))
#
# **To take into lesson 06.** Today every reader could open every book, those to the
# right as well. A model that writes text one word at a time must not look at words that are not there
# yet. With `attn_mask`, True = attend: which cells of a 5 × 5 mask would you set to False?

# %% [markdown]
# ### Sources
#
# - A. Vaswani et al. (2017), *Attention Is All You Need*, section 3.2.1, equation 1.
#   [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# - A. G. Baydin et al. (2018), *Automatic Differentiation in Machine Learning: a Survey*, section 3.2:
#   why one walk back costs a small multiple of one call.
#   [arXiv:1502.05767](https://arxiv.org/abs/1502.05767)
# - T. Dao et al. (2022), *FlashAttention*, section 3: block by block, with the weights worked out again
#   on the way back. [arXiv:2205.14135](https://arxiv.org/abs/2205.14135)
# - I. Tolstikhin et al. (2021), *MLP-Mixer: An all-MLP Architecture for Vision*: MLPs across tokens.
#   [arXiv:2105.01601](https://arxiv.org/abs/2105.01601)
# - Rows with no key left, why they were NaN and became 0:
#   [pytorch/pytorch#133882](https://github.com/pytorch/pytorch/pull/133882).

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
