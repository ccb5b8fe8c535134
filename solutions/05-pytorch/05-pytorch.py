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
# You have written attention with lists and with arrays. Both can answer; to learn, they need slopes that
# you nudge for, number by number, or work out on paper. Here you write it a third time, on PyTorch's
# tensors. You get two things for it: a whole batch of sentences in one call, and every slope without a pencil. At
# the end it is a module that fits into any network, and it agrees with PyTorch's own attention.
#
# | | |
# |---|---|
# | **You will be able to** | write attention for tensors with any leading axes, with bool and with float masks; say what autograd computes, check it in two ways, and write the step that takes it past softmax; turn the function into a module with three `nn.Linear`; show how attention differs from a layer of an MLP |
# | **Minutes** | about 90 |
# | **You need** | lessons 01 to 04: softmax, masks, slopes, softmax's Jacobian; NumPy's axes and broadcasting; what a Python class is |
# | **Runs on** | CPU, in seconds; needs no network |
# | **Points** | 8, in three exercises |
#
# The picture stays a library's reference desk: a **query** is what a reader asks, a **key** is what a
# book's spine promises, a **value** is what its pages say. The lesson's sentence is ***two readers
# want one book***, and since a batch needs a second one, *one clerk finds the book* is its neighbour:
# two queues at two desks, served at the same time.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import warnings

import torch
import torch.nn.functional as F
from torch import nn

from attnlab import begin, check, figures

begin("05-pytorch")

# %% [markdown]
# **Where you are.** The block of lesson 02. Lit are the two boxes through which you take slopes with a pencil here.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("softmax", "mix")

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Recall
#
# Two questions on earlier lessons. Opening a choice is choosing it.
#
# **1.** A reader's weights are 0.25, 0.25 and 0.5. By how much does the third weight change for a
# small change h of its own score?
#
# <details><summary>A. 0.5 h</summary>
#
# Not this one: that would be the weight's own size. The other scores stay, but the sum that everything
# is divided by grows as well, and takes some of it back.
#
# </details>
# <details><summary>B. 0.25 h</summary>
#
# Yes. It is an entry on the diagonal of softmax's Jacobian (lesson 04): p (1 − p) = 0.5 · 0.5. You need
# it again in a minute.
#
# </details>
# <details><summary>C. −0.125 h</summary>
#
# Not this one: −0.5 · 0.25 h is how each of the *other* two weights changes. A weight grows with its
# own score.
#
# </details>
#
# **2.** In lesson 03 your function took Q (2, 5, 4), K (2, 7, 4) and V (2, 7, 3). Which shapes do the
# weights and the output have?
#
# <details><summary>A. (2, 5, 7) and (2, 5, 3)</summary>
#
# Yes. The 2 in front is a leading axis: two problems side by side, each with 5 readers and 7 books.
#
# </details>
# <details><summary>B. (5, 7) and (5, 3)</summary>
#
# Not this one: that would mean that the two problems had been added up. A leading axis stays.
#
# </details>
# <details><summary>C. (2, 7, 7) and (2, 7, 3)</summary>
#
# Not this one: there is a row for each *query*, and there are 5 of them.
#
# </details>

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Predict
#
# Commit to a guess. You run both experiments below.
#
# **1.** Attention reads a batch of two sentences without a mask. You look at one output number of
# *want* in the first sentence and ask which **queries** can change it. Which are they?
#
# <details><summary>A. The query of <em>want</em> alone</summary>
#
# Yes. An output row is made from its own reader's query, and from all keys and all values of its own
# sentence.
#
# </details>
# <details><summary>B. All five queries of the first sentence</summary>
#
# Not this one: the other readers ask for themselves. Their *keys* and *values* count, as every token is
# a book too.
#
# </details>
# <details><summary>C. All ten queries of the batch</summary>
#
# Not this one: no query, key or value of one sentence enters the other. If one could change the other,
# an answer would depend on who else is in the batch.
#
# </details>
#
# **2.** A linear layer that reads across the tokens of a sentence, and attention, each read two sentences.
# Nothing is trained in between. Which matrix mixes the tokens?
#
# <details><summary>A. In both: one matrix, the same for both sentences</summary>
#
# Not this one: attention's *parameter* matrices are the same for both. The (N, N) table that mixes the
# tokens is computed from two of them, W_q and W_k, and the sentence.
#
# </details>
# <details><summary>B. In the linear layer the same one, in attention a new one for each sentence</summary>
#
# Yes. The layer's matrix is a parameter. Attention's is an intermediate result.
#
# </details>
# <details><summary>C. In both: a new matrix for each sentence</summary>
#
# Not this one: a layer's matrix changes when it is trained, and not when it is used.
#
# </details>

# %% [markdown]
# ## By hand
#
# In lesson 01 you found a slope by nudging a number. In lesson 04 you derived softmax's Jacobian. Put
# them together and you can find all slopes of a reader's answer with a pencil.
#
# The reader *want* looks at three books. Their scaled scores are 0, 0 and log 2 = 0.693. Each page
# holds a single number: 8, 4 and 2, so d_v = 1.
#
# **The answer.** e to the scores is 1, 1 and 2, which add up to 4. The weights are 0.25, 0.25, 0.5, and
# z = 0.25 · 8 + 0.25 · 4 + 0.5 · 2 = **4**.
#
# **Slopes of the values.** Nudge v_m by h, and z moves by a_m h. So the slopes are the weights
# themselves.
#
# **Slopes of the scores.** A score moves all the weights. By the Jacobian, ∂a_j/∂s_m is a_m (1 − a_m)
# for j = m and −a_j a_m for the others. Multiply each by its value and add up:
#
# $$\frac{\partial z}{\partial s_m} = \sum_j v_j \frac{\partial a_j}{\partial s_m}
# = a_m v_m - a_m \sum_j a_j v_j = a_m \, (v_m - z)$$
#
# In words: turn up a book that says more than the present answer, and the answer rises; turn up a book
# that says less, and it falls. The slope is the book's weight times how far its page is from the answer.
#
# | book | score | weight a | value v | slope of v: a | slope of s: a (v − z) |
# |---|---|---|---|---|---|
# | *two* | 0 | 0.25 | 8 | 0.25 | 0.25 · (8 − 4) = **1** |
# | *readers* | 0 | 0.25 | 4 | 0.25 | 0.25 · (4 − 4) = **0** |
# | *want* | 0.693 | 0.5 | 2 | 0.5 | 0.5 · (2 − 4) = **−1** |
#
# The slopes of the scores add up to 0. They have to: raising all scores together changes nothing.
#
# Now let PyTorch do it. A **tensor** is PyTorch's array. With `requires_grad=True` it asks that its
# slopes be kept. `backward()` computes them, and leaves them in `.grad` of the tensors that you made so;
# results such as `weights` pass theirs on.

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
# These are your numbers, and you wrote no slope down. Where PyTorch got them, you see in a minute.
#
# ## Shape ledger
#
# Axes have the letters of lesson 03, and one more: b counts the sentences of a **batch**, problems of
# equal shape that are stacked along a leading axis. PyTorch writes arguments with small letters, and
# so does your code from here on; the lesson's batch keeps its X. In the function, … stands for any leading axes; in the module it is b.
#
# | symbol | what it is | axes | size in this lesson |
# |---|---|---|---|
# | x | a batch of tokens | `b n d` | (2, 5, 6) |
# | W_q, W_k | matrices that make queries, keys | `d k` | (6, 4) |
# | W_v | matrix that makes values | `d v` | (6, 3) |
# | q | queries | `… n k` | (2, 5, 4) |
# | k | keys | `… m k` | (2, 5, 4) |
# | v | values | `… m v` | (2, 5, 3) |
# | scores | q kᵀ/√d_k | `… n m` | (2, 5, 5) |
# | attn_mask | bool, True = attend; or float, added to the scores | broadcastable to `… n m` | (5, 5) |
# | weights | softmax over m | `… n m` | (2, 5, 5) |
# | out | weights times v | `… n v` | (2, 5, 3) |
#
# In the module each of the three matrices sits in an `nn.Linear`, which stores its transpose: (4, 6),
# (4, 6) and (3, 6).

# %% [markdown]
# ## From arrays to tensors
#
# Most of what you know carries over. What changes:
#
# | NumPy, lesson 03 | PyTorch | mind |
# |---|---|---|
# | `np.array([1.0, 2.0])` | `torch.tensor([1.0, 2.0])` | float32 unless you say `dtype=torch.float64` |
# | `axis=-1, keepdims=True` | `dim=-1, keepdim=True` | |
# | `K.swapaxes(-1, -2)` | `k.mT` | m for *matrix*: it swaps the last two axes. `.T` would reverse all of them, and PyTorch warns against it |
# | `np.where(mask, s, -np.inf)` | `s.masked_fill(~mask, -torch.inf)` | fills where **True**, so a mask that means *attend* needs the `~`, which reads *not* |
# | your `softmax` | `torch.softmax(s, dim=-1)` or `s.softmax(dim=-1)` | subtracts the maximum for you |
# | `np.einsum` | `torch.einsum` | the same strings |
#
# A method whose name ends in an underscore, as `masked_fill_`, changes its tensor in place. Never do
# that to an input: it is somebody else's.
#
# ### `@` batches over leading axes
#
# `@` multiplies the last two axes as matrices and walks all axes before them in step. Before you run
# the cell, say each shape.

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
# Nothing new has to be learned for a batch: write the line for one sentence with `.mT`, and leading
# axes come along. (Each sentence of a batch has to have the same length. Shorter ones are filled up,
# and a mask hides the filling; that is lesson 06.)
#
# ### Autograd: nobody writes the tables down
#
# Lesson 04 ended with a question: who multiplies all those Jacobians? **Autograd** does, PyTorch's
# machinery for slopes. While your code runs, every float result that depends on a tensor
# with `requires_grad` remembers the operation it came from, its `grad_fn`. `backward()` walks this record
# from the end to the beginning, and multiplies slopes as it goes: the **chain rule**.
#
# Does it ever write a Jacobian down? No. For each result it keeps one number an entry: the slope of
# the final answer with respect to that entry. To get past softmax, it turns the slopes of a row of
# weights into slopes of the scores: M numbers go in and M come out, and the Jacobian's M² entries never
# exist. That step you will write yourself.
#
# Where a tensor is used several times, the slopes of all its uses are added up. In self-attention x goes
# into queries, keys and values, and its slope is the sum of what comes back from the three.
#
# Follow the record of your pencil example back:

# %% nbgrader={"grade": false, "grade_id": "see-record", "locked": true, "schema_version": 3, "solution": false, "task": false}
node = answer.grad_fn
while node is not None:
    print(type(node).__name__)
    # Follow the first input back, as far as it goes.
    node = node.next_functions[0][0] if node.next_functions else None

# %% [markdown]
# The answer came from a dot product, that from a softmax, and `AccumulateGrad` is the end of the line,
# where the slopes are put into `scores.grad`.
#
# The record can be cut. `x.detach()`, `x.item()`, `x.tolist()` and anything under `torch.no_grad()` give
# numbers without a past, and say nothing. `x.numpy()` and `torch.tensor(x)` would cut it as well. See what
# PyTorch says to each.

# %% nbgrader={"grade": false, "grade_id": "see-cuts", "locked": true, "schema_version": 3, "solution": false, "task": false}
past = torch.ones(2, requires_grad=True) * 2
print("x.detach():     needs a gradient:", past.detach().requires_grad)
try:
    past.numpy()
except RuntimeError as error:
    print("x.numpy():     ", error)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    copied = torch.tensor(past)
print("torch.tensor(x): needs a gradient:", copied.requires_grad, f"and {len(said)} warning")

# %% [markdown]
# For printing, a number without a past is what you want. In the middle of a model it stops the learning of
# all that reaches the loss by this way alone, and `detach` does so in silence. Under *Break it on purpose* you see it happen.
#
# ## See it: how far a gradient reaches
#
# Time for the two sentences. Each word has a vector of d = 6 numbers, and three matrices make queries,
# keys and values, all random, from a fixed seed. The numbers are float64, as our comparisons go to
# 1e-6 and beyond; why float32 cannot promise that, lesson 06 measures.
#
# The cells from here to the exercise use PyTorch's own attention, `F.scaled_dot_product_attention`, which you will
# match soon. The checks do not accept it inside an exercise; to look at, and to compare with, it is
# what we want.

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
# the slopes that arrive in q, k and v, for both sentences, with one colour scale: blue below 0, red
# above. A bare 0 is exactly 0. It begins with entry 0 of *want* in sentence 0. Before you choose another entry of *want*,
# and then one of sentence 1, say which cells will be coloured.

# %% nbgrader={"grade": false, "grade_id": "see-reach", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.live.Slopes(F.scaled_dot_product_attention, q, k, v, sentences, entry=(0, 2, 0))

# %% [markdown]
# At *want* in sentence 0 the slopes reach one query, that of *want* (answer A of your first prediction), all five
# keys and all five values. Of the
# values only entry 0 is reached, as each entry is averaged by itself, and its five slopes are the
# weights of *want*. Sentence 1 is all 0: nothing crosses from one sentence of a batch to another.
#
# So when one reader learns, every book of its sentence learns with it: what its spine promises, and
# what its pages say.

# %% [markdown]
# ## The same five lines, batched
#
# Here is the block of lesson 03 again. It is the same formula, equation 1 of Vaswani et al. (2017):
#
# $$\text{out} = \operatorname{softmax}\!\left(\frac{q\,k^{\top}}{\sqrt{d_k}}\right) v$$
#
# Three of the five lines make q, k and v; the module will do that. The other two are your function: one
# for the weights, one for the average.
#
# What is new is the mask. PyTorch's built-in takes two kinds in one argument, `attn_mask`, and so does
# your function:
#
# - **bool, True = attend.** As in lesson 03. A key with False has no part in its row.
# - **float, added to the scaled scores.** 0 leaves a score as it is, −∞ hides the key; other numbers
#   below 0 make it softer, those above 0 louder. `mask.dtype` says which kind you have.
#
# A float mask can say everything that a bool one can, and more. In this cell, one reader with four
# equal scores is told in three ways.

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
}.items():
    shown = F.scaled_dot_product_attention(level, unit, unit, attn_mask=mask)
    print(f"{name:25}", [round(w, 3) for w in shown[0].tolist()])

# %% [markdown]
# The built-in returns no weights. The cell made them visible with a trick that you will meet again:
# with the identity matrix for values, weights times values *is* the weights. (Its query is all 0, so
# that all scores are 0.)
#
# ### Rows with no key left
#
# A reader who may open no book goes home with nothing: weights 0, output 0. Softmax alone does not
# know this. What does the built-in do?

# %% nbgrader={"grade": false, "grade_id": "see-empty-row", "locked": true, "schema_version": 3, "solution": false, "task": false}
nothing = torch.full((3,), -torch.inf, dtype=torch.float64)
print("softmax of three -inf:", torch.softmax(nothing, dim=-1).tolist())

mask = torch.ones(5, 5, dtype=torch.bool)  # True = attend
mask[2] = False  # want may attend to nothing
as_float = torch.zeros(5, 5, dtype=torch.float64).masked_fill(~mask, -torch.inf)
with torch.no_grad():
    for name, kind in {"bool": mask, "float": as_float}.items():
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=kind)
        print(f"built-in, {name:5} mask, want:", out[0, 2].tolist())

# %% [markdown]
# `F.scaled_dot_product_attention` of PyTorch 2.13, which this course is tested with, gives exactly 0 for
# both kinds of mask. That was decided in 2024; before, it gave NaN (the discussion is among the sources).
#
# Is it enough to put 0 where NaN was? For the answer, yes. For the slopes, no:

# %% nbgrader={"grade": false, "grade_id": "see-empty-row-slope", "locked": true, "schema_version": 3, "solution": false, "task": false}
shift = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
hide = torch.tensor([[0.0, 0.0], [-torch.inf, -torch.inf]], dtype=torch.float64)
mended = torch.softmax(shift + hide, dim=-1).masked_fill(hide == -torch.inf, 0.0)
(mended @ torch.tensor([1.0, 2.0], dtype=torch.float64)).sum().backward()
print("weights:", mended.tolist())
print("slopes: ", shift.grad)

# %% [markdown]
# The second row's weights are a clean 0 and its slopes are NaN. On the way back autograd multiplies by
# softmax's own result for that row, which was NaN, and 0 · NaN is NaN. Through q and k, one such row
# turns all of W_q and W_k into NaN at the next training step. The way out is to give the empty row
# harmless scores *before* softmax, say 0, and to set its weights to 0 *after* it. (With a bool mask
# and `masked_fill` before softmax, that fill has slope 0 and stops the NaN by itself.) For such rows
# the check looks at the answer alone; a cell further down looks at your slopes.
#
# How do you find the empty rows? `x.all(dim=-1)` says of each row whether all of it is True. With
# `keepdim=True` the axis stays, with size 1, so that the answer lines up with the table again.

# %% nbgrader={"grade": false, "grade_id": "see-all", "locked": true, "schema_version": 3, "solution": false, "task": false}
table = torch.tensor([[0.5, -torch.inf], [-torch.inf, -torch.inf]])
empty = (table == -torch.inf).all(dim=-1, keepdim=True)
print("empty:", tuple(empty.shape), empty.tolist())
print("filled:", table.masked_fill(empty, 0.0).tolist())

# %% [markdown]
# ### Exercise: `scaled_dot_product_attention`
#
# difficulty ●●○ · 15–20 min · 3 points
#
# Write attention for tensors: from q, k and v to the output and the weights, for any leading axes.
# `attn_mask` is None, a bool mask (True = attend) or a float mask, which is added to the *scaled*
# scores. A query with no key left gets weights and output of exactly 0. The result has the dtype of
# the inputs, gradients flow to q, k and v, and no input is changed.
#
# If shapes cannot work, raise `ValueError` and name both. (With leading axes, the message that `@`
# itself gives is a `RuntimeError` about a "batch2", which helps few. It is accepted too.)
#
# Banned here and in the module are the calls that do all of it at once:
# `F.scaled_dot_product_attention`, `nn.MultiheadAttention` with its function and the layers built on it,
# `torch._scaled…` and all of `torch.nn.attention`. With one of them an exercise scores 0. Everything else in PyTorch is yours to
# use, `torch.softmax` included.

# %% [markdown] nbgrader={"grade": false, "grade_id": "attention-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Four steps: score, mask, share, average. Only the second has cases: nothing, hide, or add. After it,
# both kinds of mask look the same, as a hidden key has a score of −∞ either way. So you can ask the
# *scores* which rows are empty, and need not ask the mask.
#
# <details><summary>Hint 2: the shapes</summary>
#
# (…, N, d_k) times the matrix transpose of (…, M, d_k) gives (…, N, M). Masks broadcast to that. "Is
# every key of this row hidden?" is one bool a row: reduce over the last axis with `keepdim=True`,
# (…, N, 1), so that it lines up with the scores. Weights (…, N, M) times (…, M, d_v) gives
# (…, N, d_v).
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. Compare the widths of q and k, and how many keys and values there are. On a mismatch raise
#    `ValueError` with both shapes in its text.
# 2. Multiply queries with transposed keys and divide by the square root of d_k.
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
    """Average values by softmax over keys of scaled dot products.

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
# First the example of lesson 02, q = (1, 2, 0) and d_k = 3, with weights 0.048, 0.086, 0.866. Then the
# two sentences, for each kind of mask, against PyTorch: the output directly, the weights with the
# identity for values.

# %% nbgrader={"grade": false, "grade_id": "use-attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
q2 = torch.tensor([[1.0, 2, 0]], dtype=torch.float64)
k2 = torch.tensor([[1.0, 0, 1], [0, 1, 0], [2, 2, 1]], dtype=torch.float64)
print("lesson 02:", [round(w, 3) for w in scaled_dot_product_attention(q2, k2, k2)[1][0].tolist()])

sides = torch.randn(5, 5, dtype=torch.float64)
identity = torch.eye(5, dtype=torch.float64).expand(2, 5, 5)
masks: dict[str, torch.Tensor | None] = {"no": None, "bool": mask, "float": sides}
for name, attn_mask in masks.items():
    out, weights = scaled_dot_product_attention(q, k, v, attn_mask)
    out_apart = out - F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask)
    weights_apart = weights - F.scaled_dot_product_attention(q, k, identity, attn_mask=attn_mask)
    worst = max(out_apart.abs().max().item(), weights_apart.abs().max().item())
    print(f"{name:5} mask: largest difference below 1e-12: {worst < 1e-12}")

# %% [markdown]
# Yours and the built-in agree to 1e-12. And shapes that cannot work are named:

# %% nbgrader={"grade": false, "grade_id": "see-refusal", "locked": true, "schema_version": 3, "solution": false, "task": false}
for function in (scaled_dot_product_attention, F.scaled_dot_product_attention):
    try:
        function(torch.ones(2, 5, 4), torch.ones(2, 7, 3), torch.ones(2, 7, 3))
    except (ValueError, RuntimeError) as error:
        print(f"{type(error).__name__}: {error}")

# %% [markdown]
# ### The slopes: two ways to be sure
#
# **Against the built-in.** Both functions run on the same q, k and v. Autograd needs to know which sum
# of output numbers you care about, so give each output number a random factor, the same for both, and
# compare the slopes. (`torch.autograd.grad` hands them back, where `backward` leaves them in `.grad`.)

# %% nbgrader={"grade": false, "grade_id": "compare-slopes", "locked": true, "schema_version": 3, "solution": false, "task": false}
pull = torch.randn(2, 5, d_v, dtype=torch.float64)  # how much each output number counts
masks = {"no": None, "bool": mask, "float": as_float}
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
# In the last two lines *want* has no key left. If False stands there for q and k, your slopes are NaN;
# *Rows with no key left* has the remedy.
#
# **Against no formula at all.** `torch.autograd.gradcheck` does what you did by nudging in lesson 04: it nudges
# every single input number by a millionth, up and down, measures how each output number changes, and
# compares with autograd. It trusts nobody's derivative. Nudges that small drown in float32's rounding,
# so its inputs have to be float64.

# %% nbgrader={"grade": false, "grade_id": "gradcheck", "locked": true, "schema_version": 3, "solution": false, "task": false}
for name, inputs in {"no mask": (q, k, v), "float mask": (q, k, v, as_float)}.items():
    passed = torch.autograd.gradcheck(scaled_dot_product_attention, inputs, raise_exception=False)
    print(f"gradcheck, {name}: {passed}")
print("numbers nudged:", q.numel() + k.numel() + v.numel())

# %% [markdown]
# `gradcheck` calls your function twice for each number it nudges: fine for a test, hopeless for
# training. Autograd gets all the slopes in one walk back, whose cost is a small multiple of one call.
#
# ### Softmax's own way back
#
# One step of that walk is worth writing yourself. It is given a row's weights a, and what came back to
# them: g, the slope of the loss in each weight, which the code calls `upstream`. It hands on the slope of
# the loss in each score.
#
# A score moves *all* the weights of its row, and each of them moves the loss. So the slope of score m is the
# sum over j of ∂a_j/∂s_m times g_j. With the Jacobian of lesson 04, for the whole row:
#
# $$\frac{\partial\,\text{loss}}{\partial s} = \left(\operatorname{diag}(a) - a\,a^{\top}\right) g$$
#
# The scores are not in it. Softmax's result is all that its way back needs, and so it is what autograd keeps. The
# matrix is not needed either: for 10,000 keys it would have 100 million entries for each reader. Multiply
# each of the two terms by g on paper before you write a line.

# %% [markdown]
# ### Exercise: `softmax_backward`
#
# difficulty ●●○ · 5–8 min · 2 points
#
# Given `weights` and `upstream`, both (…, M), return the slopes of what went into softmax, (…, M). (The scores
# were divided by √d_k before that, so it plays no part here.) A row of zeros, a reader with no key left, gets
# slopes of 0. If the widths differ, there has to be an error; PyTorch's own will do.
#
# The call that does this, `torch._softmax_backward_data`, is banned, and so are its relatives. Autograd ends there
# too, on its way back through `torch.softmax`, so it is refused with them.

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
        (…, M), the slope of the loss in each score; 0 where the row of weights is 0.
    Raises:
        RuntimeError: the widths differ. PyTorch raises it by itself.
    """
    ### BEGIN SOLUTION
    return weights * (upstream - (weights * upstream).sum(dim=-1, keepdim=True))
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "softmax_backward-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(softmax_backward)

# %% [markdown]
# The rest of the way back is products. The output is weights times values, so `pull` reaches the weights through
# the values; the scores are q kᵀ/√d_k, so their slopes reach q through k, and k through q. Compare with autograd:

# %% nbgrader={"grade": false, "grade_id": "use-softmax_backward", "locked": true, "schema_version": 3, "solution": false, "task": false}
out, weights = scaled_dot_product_attention(q, k, v)
slopes_of_scores = softmax_backward(weights, pull @ v.mT)  # (2, 5, 5)
yours_by_name = {
    "q": slopes_of_scores @ k / d_k**0.5,
    "k": slopes_of_scores.mT @ q / d_k**0.5,
    "v": weights.mT @ pull,
}
slopes = torch.autograd.grad(out, (q, k, v), pull)
for (name, own), theirs in zip(yours_by_name.items(), slopes, strict=True):
    print(f"{name}: agrees with autograd: {torch.allclose(own, theirs, rtol=0, atol=1e-12)}")

# %% [markdown]
# That is all of attention's way back: two matrix products forward, four back, and your line between them.
#
# ### What the built-in runs on this machine
#
# One name, `F.scaled_dot_product_attention`, stands for several programs. PyTorch looks at the device,
# the shapes, the dtype and the mask, and **dispatches** to one of them. `operators_of` calls a function and lists its
# **operators**, the smallest steps that PyTorch hands to a device. Yours may differ from those named below.

# %% nbgrader={"grade": false, "grade_id": "see-operators", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from attnlab.lessons.pytorch.watch import kept, operators_of

headed = [part.unsqueeze(1) for part in (q, k, q)]  # (2, 1, 5, 4), with an axis for heads
wide = torch.randn(2, 1, 5, 3, dtype=torch.float64)  # values of another width
built_in = F.scaled_dot_product_attention

print("PyTorch", torch.__version__)
print("yours:          ", operators_of(scaled_dot_product_attention, q, k, v))
print("3 axes:         ", operators_of(built_in, q, k, v))
print("4 axes:         ", operators_of(built_in, *headed))
print("4, d_v not d_k: ", operators_of(built_in, *headed[:2], wide))

# %% [markdown]
# In PyTorch 2.13 on a CPU, with three axes, the built-in does what yours does, step by step: its **math**
# path. With four axes (the extra one is for heads, lesson 07) and d_v = d_k, one operator is left, a **fused**
# program: all steps in one go, a block of keys at a time, and never the whole table of weights. Values of another
# width send it back to the math path.
#
# So the fused program has no weights to return: there is no moment at which they all exist. Yours has
# them, and pays for it in memory; *Cost* counts how much. Lesson 11 builds the fused idea.

# %% [markdown]
# ## Attention as a module
#
# Your function has no parameters: it is handed q, k and v. To learn, a layer has to own the three
# matrices. PyTorch's building block for that is **`nn.Module`**: a class that finds those of its
# attributes that are modules. If an attribute is an `nn.Linear`, its parameters turn up in
# `module.parameters()` for the optimizer and in `module.state_dict()` for a file. (A plain tensor, or a Python
# list of linears, it does not find.)
#
# `nn.Linear(d, d_k)` is a projection with parameters of its own, random at first. It stores its matrix
# as **(out, in)**, the transpose of ours, and computes
#
# $$y = x\,W^{\top} + b$$
#
# Leading axes come along.

# %% nbgrader={"grade": false, "grade_id": "see-linear", "locked": true, "schema_version": 3, "solution": false, "task": false}
torch.manual_seed(1)
linear = nn.Linear(6, 4, bias=False, dtype=torch.float64)
print("weight:", tuple(linear.weight.shape), " output:", tuple(linear(X).shape))
print("x times its transpose:", torch.allclose(linear(X), X @ linear.weight.mT))
print("a bias unless you say no:", nn.Linear(6, 4).bias is not None)

# %% [markdown]
# ### Exercise: `SelfAttention`
#
# difficulty ●●○ · 8–12 min · 3 points
#
# Write the module. Its constructor makes three linears called exactly `W_q`, `W_k` and `W_v`, from d
# to d_k, d_k and d_v, all with a bias or all without. `forward` makes queries, keys and values from
# the same x and hands them to your function: self-attention, no mask. It returns the output and the
# weights.
#
# The names matter, since the check loads weights by them, as any saved model does.

# %% [markdown] nbgrader={"grade": false, "grade_id": "module-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# The constructor only makes things, `forward` only uses them. All learning happens in the three
# linears; the function in the middle has nothing to learn.
#
# <details><summary>Hint 2: the shapes</summary>
#
# x is (B, N, d). Two linears give (B, N, d_k), the third (B, N, d_v). The function gives the output
# (B, N, d_v) and the weights (B, N, N).
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. In the constructor, set three attributes of `self`, each an `nn.Linear` with its width in, its
#    width out, and `bias` passed on *by name*. (The call of `super().__init__()` is there already;
#    without it setting the first linear raises an error.)
# 2. In `forward`, *call* each linear with x. Using its weight alone would leave out the bias.
# 3. Hand the three results to your function in the order query, key, value, and return both things
#    that it returns.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "SelfAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class SelfAttention(nn.Module):
    """Self-attention that owns its three projections.

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
# 66 and, with biases, 77: the numbers that your `count_attention` of lesson 03 gives for d = 6, d_k = 4
# and d_v = 3. The batch has two sentences and the parameters do not know.
#
# The slopes of the parameters are what training will use. Compare them with autograd through the
# built-in as well, fed by the same three linears. (`retain_graph` keeps a record that is walked more
# than once.)

# %% nbgrader={"grade": false, "grade_id": "compare-parameter-slopes", "locked": true, "schema_version": 3, "solution": false, "task": false}
model = with_the_lessons_matrices()
expected = F.scaled_dot_product_attention(model.W_q(X), model.W_k(X), model.W_v(X))
for name, parameter in model.named_parameters():
    [yours] = torch.autograd.grad(model(X)[0], parameter, pull)
    [theirs] = torch.autograd.grad(expected, parameter, pull, retain_graph=True)
    same = torch.allclose(yours, theirs, rtol=0, atol=1e-12)
    print(f"{name}  slopes {tuple(yours.shape)}  agree: {same}")

# %% [markdown]
# ### A few steps downhill
#
# In lesson 01 a desk learned one query of two numbers, by nudging. Here is the same loop for the 48
# numbers of W_q and W_k. Suppose that *want*, in the first sentence, should attend to *book*. The error is
# lesson 04's: pages are one-hot, so that the answer is the row of weights, and its squared distance from
# the page of *book* counts. The **optimizer**
# `torch.optim.SGD` holds the parameters, and its `step` moves each by `lr` times its slope, downhill.

# %% nbgrader={"grade": false, "grade_id": "learn-to-attend", "locked": true, "schema_version": 3, "solution": false, "task": false}
learner = with_the_lessons_matrices()
optimizer = torch.optim.SGD(learner.parameters(), lr=0.3)
wanted = torch.tensor([0.0, 0, 0, 0, 1], dtype=torch.float64)  # the page of book

for step in range(31):
    _, now = learner(X)
    loss = ((now[0, 2] - wanted) ** 2).sum()  # sentence 0, reader want
    if step % 10 == 0:
        row = "  ".join(
            f"{word} {share:.3f}"
            for word, share in zip(sentences[0], now[0, 2].tolist(), strict=True)
        )
        print(f"step {step:2}  want attends to: {row}")
    optimizer.zero_grad()  # forget the slopes of the last step
    loss.backward()
    optimizer.step()

print("W_v has slopes:", learner.W_v.weight.grad is not None)

# %% [markdown]
# Thirty steps move the attention of *want* to *book*. W_v got no slopes at all: the pages were given, and
# its values had no part in the answer. `zero_grad` is needed because `backward` *adds* to what is in
# `.grad`. Lesson 10 trains whole models in this way.

# %% [markdown]
# ## The same for every sentence, or new for each
#
# Lesson 03 said it: a layer of an **MLP** (a linear layer, a ReLU, which sets what is below 0 to 0, another
# linear layer) mixes by a fixed matrix, attention by one that it makes anew. Now see both. This MLP reads
# across the tokens, so that its first layer multiplies them by a 5 × 5 matrix. (Tolstikhin et al. 2021 build
# a vision model of MLPs across tokens, in turn with MLPs inside each token.) For each sentence the cell asks autograd for that matrix, as slopes of
# the layer's results with respect to the tokens, and takes attention's weights from your module. Compare left
# with right, above and below. All four panels have one colour scale. The cell also prints how far the slopes
# of the *whole* MLP differ between the two sentences, for entry 0 of the tokens.

# %% nbgrader={"grade": false, "grade_id": "see-fixed-or-rebuilt", "locked": true, "schema_version": 3, "solution": false, "task": false}
torch.manual_seed(2)
mlp = nn.Sequential(nn.Linear(5, 5, bias=False), nn.ReLU(), nn.Linear(5, 5, bias=False)).double()
mixed = mlp(X.mT).mT  # tokens become the last axis, and go back
out, A = with_the_lessons_matrices()(X)
print("tokens", tuple(X.shape), "-> MLP", tuple(mixed.shape), " attention", tuple(out.shape))

first_layer, whole = (
    torch.stack([torch.autograd.functional.jacobian(part, sentence[:, 0]) for sentence in X])
    for part in (mlp[0], mlp)
)
print("slopes of the whole MLP differ by up to", round((whole[0] - whole[1]).abs().max().item(), 2))
figures.pytorch.fixed_or_rebuilt(sentences, first_layer, A.detach())

# %% [markdown]
# Above, one matrix, twice: it was fixed before either sentence was seen. Below, each sentence got its
# own (answer B of your second prediction). *One* and *book* are in both sentences, and their rows differ, as
# they stand among other words.
#
# In the layer, how much each unit takes from each *place* is a parameter: 25 numbers, for sentences of five
# words only. The whole MLP's slopes do differ from sentence to sentence: its ReLUs switch hidden units on and
# off. That chooses among rows and columns of the same two matrices. In attention the whole table is a result.
# What training sets are two matrices, W_q and W_k, that say how to work it out, for every sentence and length.

# %% [markdown]
# ## Break it on purpose
#
# **The record, cut.** Someone wants to print the result on the way out, and detaches it. Numbers are
# all right. What does the check say?


# %% nbgrader={"grade": false, "grade_id": "break-detach", "locked": true, "schema_version": 3, "solution": false, "task": false}
def without_a_past(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, attn_mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    out, weights = scaled_dot_product_attention(q, k, v, attn_mask)
    return out.detach(), weights.detach()


check(without_a_past, name="scaled_dot_product_attention")

# %% [markdown]
# Every number is right, and nothing can be learned through it. Called on such a result, `backward()`
# at least raises an error. Worse is a cut that leaves another way open. Here only the weights are
# detached:

# %% nbgrader={"grade": false, "grade_id": "break-detach-symptom", "locked": true, "schema_version": 3, "solution": false, "task": false}
half = SelfAttention(d, d_k, d_v).double()
_, weights = half(X)
(weights.detach() @ half.W_v(X)).sum().backward()
for name, parameter in half.named_parameters():
    print(f"{name}: ", "no slopes" if parameter.grad is None else "slopes")

# %% [markdown]
# No error, and the loss will go down, since W_v learns. W_q and W_k never move: no slope tells this module
# *whom* to listen to. The symptom is a parameter whose `.grad` stays None, so
# after the first `backward()` of a new model, look at all of them.
#
# **A mask, scaled too.** Adding the float mask before dividing by √d_k looks like a matter of taste:


# %% nbgrader={"grade": false, "grade_id": "break-mask-scaled", "locked": true, "schema_version": 3, "solution": false, "task": false}
def mask_is_scaled_too(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, attn_mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    if attn_mask is not None and attn_mask.dtype.is_floating_point:
        attn_mask = attn_mask / q.shape[-1] ** 0.5
    return scaled_dot_product_attention(q, k, v, attn_mask)


check(mask_is_scaled_too, name="scaled_dot_product_attention")

# %% nbgrader={"grade": false, "grade_id": "break-mask-scaled-symptom", "locked": true, "schema_version": 3, "solution": false, "task": false}
gentle = torch.tensor([[3.0, 1.0, 1.0, 1.0]], dtype=torch.float64).log()
wide_query = torch.zeros(1, 64, dtype=torch.float64)
wide_keys = torch.zeros(4, 64, dtype=torch.float64)
for name, hint in {"0 and -inf": hide_last_float, "first three times": gentle}.items():
    for function in (scaled_dot_product_attention, mask_is_scaled_too):
        shown = function(wide_query, wide_keys, wide_keys, hint)[1]
        print(f"{name:18}{function.__name__:30}", [round(w, 3) for w in shown[0].tolist()])

# %% [markdown]
# A mask of 0 and −∞ does not notice, since both stay what they are when divided. So every test with
# such a mask passes. With other numbers, the mask loses strength with the width: at d_k = 64 a
# book that should get three times the share of another gets 1.15 times it. No shape and no row sum
# shows this; comparing with the built-in does.

# %% [markdown]
# ## Cost
#
# **Count.** A batch of B sentences takes B times the multiplications of one, as lesson 02 counted them:
# batching saves calls, and no arithmetic. But there is a new item on the bill. To walk back, autograd
# keeps what the slopes will need: q, k and v for their products, and softmax's result. `kept` calls a
# function and counts the numbers that autograd keeps of it.

# %% nbgrader={"grade": false, "grade_id": "count-kept", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
batch, width = 2, 16
print("   N      yours   built-in   2 B N d_k + B N d_v + B N²")
for n in (32, 64, 128, 256, 512):
    parts = [torch.randn(batch, 1, n, width, requires_grad=True) for _ in range(3)]
    formula = 3 * batch * n * width + batch * n * n
    by_hand, fused = kept(scaled_dot_product_attention, *parts), kept(built_in, *parts)
    print(f"{n:4} {by_hand:10,} {fused:10,} {formula:10,}")

# %% [markdown]
# Your function keeps the (N, N) weights of each sentence, so the last term takes over: twice the tokens,
# nearly four times the numbers. (If yours fills rows after softmax without a mask, too, it keeps that copy
# of the weights as well, and the count nearly doubles for long sentences; a softmax written out by hand keeps
# more copies.) The fused program keeps q, k, v, the output and one
# number a row, from which it works out the weights again on the way back: twice the tokens, twice the
# numbers. It trades multiplications for memory.
#
# **Measure.** Two ratios. First a loop over the sentences of a batch against one batched call; then
# your function against the built-in for longer sentences. Milliseconds are your machine's; look at how
# the ratios change.

# %% nbgrader={"grade": false, "grade_id": "measure", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from collections.abc import Callable
from time import perf_counter


def milliseconds(function: Callable, *args: torch.Tensor) -> float:
    """Fastest of several runs, without gradients."""
    taken: list[float] = []
    begun = perf_counter()
    with torch.no_grad():
        while len(taken) < 3 or perf_counter() - begun < 0.1:
            start = perf_counter()
            function(*args)
            taken.append(1000 * (perf_counter() - start))
    return min(taken)


def one_at_a_time(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> list:
    return [scaled_dot_product_attention(*one) for one in zip(q, k, v, strict=True)]


threads = torch.get_num_threads()
torch.set_num_threads(1)  # threads that wait for a busy core would spoil the clock
rows = ["sentences of 16 tokens      loop ms   batched ms   ratio"]
for batch in (1, 8, 64):
    parts = [torch.randn(batch, 16, 8) for _ in range(3)]
    loop = milliseconds(one_at_a_time, *parts)
    batched = milliseconds(scaled_dot_product_attention, *parts)
    rows.append(f"B = {batch:4} {loop:26.3f} {batched:12.3f} {loop / batched:7.1f}")

rows.append("batches of 2 · 4            yours ms  built-in ms   ratio")
for n in (64, 256, 1024):
    parts = [torch.randn(2, 4, n, 32) for _ in range(3)]
    unfused = milliseconds(scaled_dot_product_attention, *parts)
    fused_ms = milliseconds(built_in, *parts)
    rows.append(f"N = {n:4} {unfused:26.3f} {fused_ms:12.3f} {unfused / fused_ms:7.1f}")
torch.set_num_threads(threads)
print("\n".join(rows))

# %% [markdown]
# For short sentences the loop loses the more, the larger the batch: it pays for each call anew. (For long
# ones the lead goes: with 256 tokens a sentence and B = 64 the loop took 0.3 to 1.4 times as long on our
# machine, by the run and the width.) The built-in's lead grows with the length. Lesson 11 goes into that.

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Check yourself
#
# **1.** `attn_mask` is all zeros, (N, M). What does each reader attend to?
#
# <details><summary>A. All keys</summary>
#
# Not this one: that holds for float zeros alone, as adding 0 changes no score. Zeros of dtype bool
# are False.
#
# </details>
# <details><summary>B. Nothing</summary>
#
# Not this one: that holds for bool zeros alone, as False = blocked. Zeros of dtype float change
# nothing.
#
# </details>
# <details><summary>C. It depends on the dtype: float zeros hide nothing, bool zeros hide everything</summary>
#
# Yes. The two kinds mean opposite things by 0, and `attn_mask.dtype` alone tells them apart.
#
# </details>
#
# **2.** In your module, someone writes `weights.detach() @ v`. Which parameters still learn?
#
# <details><summary>A. None: backward() raises an error</summary>
#
# Not this one: there still is a way from the output to v, so `backward()` has something to do and does
# not complain.
#
# </details>
# <details><summary>B. W_v alone</summary>
#
# Yes. The way to W_q and W_k went through the weights, and it is cut.
#
# </details>
# <details><summary>C. W_q and W_k alone</summary>
#
# Not this one: it is the other way round. The detached side is the one that stops learning.
#
# </details>
#
# **3.** Why does `F.scaled_dot_product_attention` return no weights?
#
# <details><summary>A. They can be worked out from the output</summary>
#
# Not this one: an average does not tell which shares it was made with. With more keys than d_v + 1,
# many weights give the same output.
#
# </details>
# <details><summary>B. Its fused programs never hold all of them at once</summary>
#
# Yes. They go through the keys block by block and keep running sums, so that there is no N × N table to
# return.
#
# </details>
# <details><summary>C. They have no gradient</summary>
#
# Not this one: they have, and yours shows it. Slopes reach q and k through the weights only.
#
# </details>

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
# 4. PyTorch's built-in is one name for several programs; the fused ones never hold the weights. Yours
#    agrees with it in values and in slopes. ([Which runs](#What-the-built-in-runs-on-this-machine),
#    [the slopes](#The-slopes:-two-ways-to-be-sure))
# 5. Your module owns three linears and nothing else. The table that mixes tokens is a result in
#    attention, and a parameter in a linear layer across tokens.
#    ([The same for every sentence, or new for each](#The-same-for-every-sentence,-or-new-for-each))
#
# **Words of this lesson**: [batch](../glossary.md#batch), [gradient](../glossary.md#gradient),
# [mask](../glossary.md#mask), [projection](../glossary.md#projection),
# new: tensor ([here](#By-hand)), autograd, chain rule
# ([here](#From-arrays-to-tensors)), dispatch, operator, fused
# ([here](#What-the-built-in-runs-on-this-machine)), module, state dict
# ([here](#Attention-as-a-module)), MLP ([here](#The-same-for-every-sentence,-or-new-for-each)).
#
# **To take into lesson 06.** Every reader of today's sentences could open every book, those to the
# right as well. A model that writes text one word at a time must not look at words that are not there
# yet. With `attn_mask`, True = attend: which cells of a 5 × 5 mask would you set to False?

# %% [markdown]
# ### Sources
#
# - A. Vaswani et al. (2017), *Attention Is All You Need*, section 3.2.1, equation 1.
#   [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# - A. Paszke et al. (2019), *PyTorch: An Imperative Style, High-Performance Deep Learning Library*:
#   how the record of operations comes about. [arXiv:1912.01703](https://arxiv.org/abs/1912.01703)
# - A. G. Baydin et al. (2018), *Automatic Differentiation in Machine Learning: a Survey*, section 3.2:
#   why one walk back costs a small multiple of one call.
#   [arXiv:1502.05767](https://arxiv.org/abs/1502.05767)
# - T. Dao et al. (2022), *FlashAttention*, section 3: block by block, with the weights worked out again
#   on the way back. [arXiv:2205.14135](https://arxiv.org/abs/2205.14135)
# - I. Tolstikhin et al. (2021), *MLP-Mixer: An all-MLP Architecture for Vision*: MLPs across tokens.
#   [arXiv:2105.01601](https://arxiv.org/abs/2105.01601)
# - PyTorch's manual:
#   [scaled_dot_product_attention](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html)
#   and
#   [gradcheck](https://docs.pytorch.org/docs/stable/generated/torch.autograd.gradcheck.gradcheck.html).
# - Rows with no key left, why they were NaN and became 0:
#   [pytorch/pytorch#133882](https://github.com/pytorch/pytorch/pull/133882).

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
