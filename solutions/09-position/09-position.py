# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09 · Order has to be told
#
# *The dog bites the man* is no news; *the man bites the dog* is. Attention without a mask cannot tell
# the two apart: shuffle the words, and the same rows come out, shuffled. You will see that on a sentence
# that you break yourself. Then you build three ways to tell a model where each word stands, get two more, and
# measure what happens to each on texts that are longer than any in training.
#
# | | |
# |---|---|
# | **You will be able to** | test whether a function notices order; write sinusoidal, learned and rotary positions; say what a dot product of two encodings knows about distance; say what happens past the length of training, and mend it |
# | **Minutes** | about 90 |
# | **You need** | lessons 05 to 08: tensors, modules, the causal mask, `attend`; what sine and cosine of an angle are |
# | **Runs on** | CPU, under a minute; needs no network |
# | **You may stop** | before *Past the end of training* |
# | **Points** | 7, in four exercises |

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math

import torch
from torch import Tensor, nn

from attnlab import begin, check, figures, quiz  # is it missing? open it by: attnlab lab

torch.set_printoptions(precision=3, sci_mode=False)
begin("09-position")

# %% nbgrader={"grade": false, "grade_id": "opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.opening()

# %% [markdown]
# **Where you are.** Order can come in at the lit parts: you add it to X, you turn Q and K, or you add it to the scores.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("X", "Q", "K", "scores")

# %% [markdown]
# The block of lessons 05 and 06 is given. You may use it or not.


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
# Take queries and keys of d = 2 numbers, so that each is an arrow on paper. The rule: **you turn an arrow at
# position p by p · 30°**, counter-clockwise. If you turn a pair (a, b) by an angle φ, it becomes
#
# $$(a \cos\varphi - b \sin\varphi,\;\; a \sin\varphi + b \cos\varphi)$$
#
# The query is q = (2, 0) and the key is k = (1, 0). You need cos 30° = 0.866 and sin 30° = 0.5.
#
# | query at | becomes | key at | becomes | distance | dot product |
# |---|---|---|---|---|---|
# | 3 | (0, 2) | 1 | (0.866, 0.5) | 2 | 0 · 0.866 + 2 · 0.5 = **1** |
# | 5 | (−1.732, 1) | 3 | (0, 1) | 2 | −1.732 · 0 + 1 · 1 = **1** |
# | 3 | (0, 2) | 0 | (1, 0) | 3 | 0 · 1 + 2 · 0 = **0** |
#
# Compute the second row on paper. The same distance gives the same score, wherever the two stand. The score is
# 2 · cos(distance · 30°). At distance 10 it is 1, as at 2. One pair cannot tell these two distances apart, so there
# will be more pairs.


# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
def turned(arrow: tuple, degrees: float) -> tuple:
    """An arrow of two numbers, turned counter-clockwise."""
    a, b = arrow
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return a * c - b * s, a * s + b * c


for asked, promised in ((3, 1), (5, 3), (3, 0)):
    (q1, q2), (k1, k2) = turned((2, 0), 30 * asked), turned((1, 0), 30 * promised)
    print(f"query at {asked}, key at {promised}: {round(q1 * k1 + q2 * k2, 3) + 0:.3f}")

# %% [markdown]
# ## Shape ledger
#
# | symbol | what it is | axes |
# |---|---|---|
# | x; q, k, v | tokens; queries, keys, values | (…, N, d) |
# | perm | a new order: row i is the old row perm[i] | (N,) |
# | E | sinusoidal encoding, a row for each position | (N, d) |
# | positions | where each token stands | (N,) |
# | angles | one for each position and *pair* of columns | (N, d/2) |

# %% [markdown]
# ## See it: two arrows
#
# These are [**rotary positions**](../glossary.md#rotary-positions), the last way that you build. Pair 0 is the one from your table, with 30° a step. Pair 1
# turns by 3° a step. Both were moved on by 3; grey arrows show where they pointed before. Move the
# query (q, orange) or the key (k, blue) by slider or arrow keys; then move *both*. Which numbers stay the same?

# %% nbgrader={"grade": false, "grade_id": "see-arrows", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.live.RotaryArrows([2, 0, 2, 0], [1, 0, 0.5, 1], moved=3, degrees=[30, 3])

# %% [markdown]
# If you move both, all four arrows turn, and the score stays at 2.20. If you move one, pair 0 changes its part of the
# score quickly, pair 1 slowly. After twelve steps the fast pair is back where it began; the slow one has turned by 36°.

# %% [markdown]
# ## Does it notice the order?
#
# Readers hand in slips, one for each word, and the desk drops them into a box. It knows what a slip says,
# but not where it lay in the pile. Give each word a random vector, and let attention
# read the sentence with three random matrices.


# %% nbgrader={"grade": false, "grade_id": "read-sentence", "locked": true, "schema_version": 3, "solution": false, "task": false}
draw = torch.Generator().manual_seed(9)
d = 8
vector = {word: torch.randn(d, generator=draw).double() for word in ("the", "dog", "bites", "man")}
W_q, W_k, W_v = (torch.randn(d, d, generator=draw).double() / d**0.5 for _ in range(3))


def read(x: Tensor) -> tuple[Tensor, Tensor]:
    """Plain self-attention: out and weights of tokens (…, N, d)."""
    return attend(x @ W_q, x @ W_k, x @ W_v)


def embed(sentence: str) -> Tensor:
    """(N, d): a row for each word."""
    return torch.stack([vector[word] for word in sentence.split()])


sentence = "the dog bites the man"

# %% [markdown]
# Now break it. The next cell is yours: change the order of the five words. Then run it and the cell below it again.

# %%
broken = "the man bites the dog"

# %% nbgrader={"grade": false, "grade_id": "see-broken", "locked": true, "schema_version": 3, "solution": false, "task": false}
orders = {"before": sentence.split(), "after": broken.split()}
outputs, tables = {}, {}
for when, words in orders.items():
    out, tables[when] = read(embed(" ".join(words)))
    outputs[when] = dict(zip(words, out, strict=True))
for word in vector:
    apart = (outputs["before"][word] - outputs["after"][word]).abs().max().item()
    print(f"{word:5} output row the same up to 1e-12: {apart < 1e-12}")
figures.numpy.two_orders(tables["before"], orders["before"], tables["after"], orders["after"])

# %% [markdown]
# Compare the row of *bites* left and right: it gives *dog* the same weight, and *man* too. Only the columns
# have moved. (Prediction 1: B.) To attention, both sentences are the same bag of words.
# More layers like it, and layers that work row by row, cannot know who bit whom either.
#
# Such a function is [**equivariant**](../glossary.md#permutation-equivariance): it makes no difference whether you
# shuffle first and then compute, or compute first and then shuffle. P puts the rows into a new order:
#
# $$f(P\,x) = P\,f(x)$$
#
# (A mean over all rows is *in*variant: f(P x) = f(x).)
#
# To shuffle in code, index the axis of the rows with the new order. In a batch, that is the last axis but one;
# `...` stands for all axes before it, as in lesson 03.

# %% nbgrader={"grade": false, "grade_id": "see-indexing", "locked": true, "schema_version": 3, "solution": false, "task": false}
perm = torch.tensor([2, 0, 1])
rows = torch.tensor([[0, 0], [10, 10], [20, 20]])
print("rows in a new order:", rows[..., perm, :].tolist())
print("in each sentence of a batch:", torch.stack([rows, -rows])[..., perm, :].tolist())
forth, back = 0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1
print("exactly equal:", forth == back, " close:", math.isclose(forth, back, abs_tol=1e-6))

# %% [markdown]
# The last line warns you: a sum in another order may be rounded differently, so do not compare with `==`.
# `torch.allclose(a, b, rtol=0, atol=1e-6)` is True if no two numbers differ by more than
# `atol`.

# %% [markdown]
# ### Exercise: `is_equivariant`
#
# difficulty ●○○ · 5–7 min · 1 point
#
# Say whether shuffling the rows of x by `perm` shuffles what a function returns in the same way. `fn` takes one tensor
# (…, N, d) and returns one tensor whose rows are on axis −2, too. Numbers that differ by at most 1e-6 count as
# equal. Return a Python bool, and leave x as it is.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-is_equivariant", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# The formula has two sides. Compute both, and compare.
#
# <details><summary>Hint 2: the shapes</summary>
#
# `perm` is (N,), and you shuffle along axis −2: on the left x, (…, N, d), on the right what `fn` returns,
# (…, N, anything).
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "is_equivariant", "locked": false, "schema_version": 3, "solution": true, "task": false}
def is_equivariant(fn, x: Tensor, perm: Tensor) -> bool:
    """Whether a function follows one order of the rows: fn(P x) = P fn(x).

    Args:
        fn: takes a tensor (…, N, d), returns one (…, N, any).
        x: (…, N, d), rows on axis −2.
        perm: (N,) integers; row i of the shuffled tensor is row perm[i].
    Returns:
        True if no two numbers differ by more than 1e-6.
    """
    ### BEGIN SOLUTION
    shuffled_before = fn(x[..., perm, :])
    shuffled_after = fn(x)[..., perm, :]
    return torch.allclose(shuffled_before, shuffled_after, rtol=0, atol=1e-6)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "is_equivariant-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(is_equivariant)

# %% [markdown]
# Try it on functions that you know. Which of the four notice the order?

# %% nbgrader={"grade": false, "grade_id": "use-is_equivariant", "locked": true, "schema_version": 3, "solution": false, "task": false}
lower = torch.ones(5, 5, dtype=torch.bool).tril()  # True = attend: the causal mask of lesson 06
x = embed(sentence)
new_order = torch.tensor([4, 2, 0, 1, 3])
for name, function in {
    "plain attention": lambda x: read(x)[0],
    "causal attention": lambda x: attend(x @ W_q, x @ W_k, x @ W_v, lower)[0],
    "each row times a matrix": lambda x: (x @ W_v).relu(),
    "a running sum": lambda x: x.cumsum(-2),
}.items():
    print(f"{name:24} equivariant: {is_equivariant(function, x, new_order)}")

# %% [markdown]
# So the causal mask breaks the symmetry. After one such layer, a row still knows only a bag: the words up to
# its own. Two layers, with lesson 08's sums and pre-norms, can learn to name the word before: they were right in 0.74
# to 0.88 of all cases on five seeds, after 500 steps. Without the mask they reach 0.27, and no model can do better
# then. Language models with a causal mask and no positions are still competitive (Haviv et al. 2022). But an
# encoder has no mask. There are three places where order can come in: you can **add**
# something to the tokens, **turn** the queries and keys, or **add** a number to each score.

# %% [markdown]
# ## Sinusoidal: a clock with many hands
#
# The first Transformer stamps each slip with a clock of d/2 hands. From one position to the
# next, hand i turns by its own angle, from 1 radian (57°) for the first hand to almost nothing for the
# last. The stamp stores a hand as two numbers, sine and cosine of its angle. Such a stamp is a [**positional encoding**](../glossary.md#positional-encoding):
#
# $$E_{p,\,2i} = \sin(p\,\omega_i), \qquad E_{p,\,2i+1} = \cos(p\,\omega_i), \qquad
# \omega_i = 10000^{-2i/d}, \qquad i = 0 \dots d/2 - 1$$
#
# At position p, hand i stands at p times its speed ω_i. The speeds fall by the same *factor* from hand to hand
# (Vaswani et al. 2017, section 3.5). You **add** the stamp to the token's [embedding](../glossary.md#embedding).
#
# For d = 4 there are two speeds, 10000⁰ = 1 and 10000^(−1/2) = 0.01:
#
# | position | sin(p) | cos(p) | sin(0.01 p) | cos(0.01 p) |
# |---|---|---|---|---|
# | 0 | 0 | 1 | 0 | 1 |
# | 1 | 0.841 | 0.540 | 0.010 | 1.000 |
#
# You need two tools. A column (n, 1) times a row (m,) gives all products, (n, m). And there are two ways to join two
# tensors so that their columns alternate:

# %% nbgrader={"grade": false, "grade_id": "see-interleaving", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("all products:\n", torch.arange(3)[:, None] * torch.tensor([1.0, 0.5]))
left, right = torch.tensor([[1, 3], [5, 7]]), torch.tensor([[2, 4], [6, 8]])
table = torch.zeros(2, 4)
table[:, 0::2] = left  # from column 0 in steps of two
table[:, 1::2] = right
print("assigned:\n", table)
print("stacked: \n", torch.stack([left, right], dim=-1).flatten(start_dim=-2))

# %% [markdown]
# `stack` puts the two side by side along a new last axis, (2, 2, 2), and `flatten` makes one axis of the last two.

# %% [markdown]
# ### Exercise: `sinusoidal_encoding`
#
# difficulty ●●○ · 8–12 min · 2 points
#
# Write the (n, d) table of encodings: sine in even columns, cosine in odd ones, base 10000, position 0
# in the first row. The dtype is PyTorch's default, float32 unless someone has changed it. With an odd d
# one hand has no cosine, so raise `ValueError`. (The check compares at 1e-4:
# float32 knows an angle of 200 only to about 1e-5.)

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-sinusoidal_encoding", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# First make all angles: a row for each position, a column for each *hand*. `torch.arange` from 0 to d in steps
# of two gives 2i. Then take sines and cosines, and let their columns alternate.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Speeds (d/2,), positions as a column (n, 1), angles (n, d/2). Sines and cosines have the shape of the
# angles; together they are (n, d).
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "sinusoidal_encoding", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sinusoidal_encoding(n: int, d: int) -> Tensor:
    """Fixed encodings of positions 0 … n − 1.

    Args:
        n: number of positions.
        d: width of a token, even.
    Returns:
        (n, d), default dtype: sin(p · 10000^(−2i/d)) in column 2i, its cosine in column 2i + 1.
    Raises:
        ValueError: d is odd.
    Source: Vaswani et al. 2017, section 3.5.
    """
    ### BEGIN SOLUTION
    if d % 2:
        raise ValueError(f"d is {d}, and has to be even: each hand needs two columns")
    speeds = 10000.0 ** (-torch.arange(0, d, 2) / d)  # (d/2,)
    angles = torch.arange(n)[:, None] * speeds  # (n, d/2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(start_dim=-2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "sinusoidal_encoding-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(sinusoidal_encoding)

# %% [markdown]
# Here are 64 positions in 32 columns; of each pair of columns you see the sine. Follow one column down: how many rows
# until it repeats?

# %% nbgrader={"grade": false, "grade_id": "see-clock", "locked": true, "schema_version": 3, "solution": false, "task": false}
E = sinusoidal_encoding(64, 32)
figures.position.clock(E, [0, 8, 16])

# %% [markdown]
# The first hand goes round in 2π = 6.3 positions; the slowest would need about 35,000. A fast hand says exactly
# where you are in its round, but not in which round. A slow one says roughly where you are.
#
# ### What a dot product of two encodings knows
#
# Attention compares by dot products. What does the dot product of two stamps say? A hand
# contributes sin·sin + cos·cos, which is the cosine of the angle between its two readings:
#
# $$E_p \cdot E_q = \sum_i \cos\big((p - q)\,\omega_i\big)$$
#
# Only the *distance* between p and q is left. In the figure, each diagonal has one colour, and the curve is the same
# on both sides.

# %% nbgrader={"grade": false, "grade_id": "see-dots", "locked": true, "schema_version": 3, "solution": false, "task": false}
E = sinusoidal_encoding(64, 32)
dots = E @ E.mT / (E.shape[1] / 2)
figures.position.dot_products(dots, 32)

# %% [markdown]
# With many hands, as here, near positions are alike and far ones less so, but the product falls in waves. It depends on
# **how far** and not on **which way**: the word before and the word after get the same product. And because it falls in
# waves, one number fits several distances.
#
# The matrices can help. To move the clock on by k positions, turn each hand by k times its
# own speed, *wherever it stands now*. Such a turn is a matrix, the same for every p. So there is a $W_q$ that
# asks *as if it stood three places back*. You will measure whether training finds it.

# %% [markdown]
# ## Learned: a row for each place
#
# This way needs no formula. A table has max_len random rows; you add row n to token n, and training
# changes the rows. BERT has 512 rows, GPT-2 has 1,024. The table is a [**parameter**](../glossary.md#parameter):
# numbers that a module owns and an optimizer moves. There are two ways to own one:
#
# - `nn.Parameter(tensor)`, set as an attribute of the module: a tensor that `parameters()` lists.
# - `nn.Embedding(rows, d)`: a module that holds such a table in `.weight` and looks up rows by number.

# %% nbgrader={"grade": false, "grade_id": "see-parameter", "locked": true, "schema_version": 3, "solution": false, "task": false}
owner = nn.Module()
owner.shelf = nn.Parameter(torch.zeros(3, 2))
owner.note = torch.zeros(3, 2)  # a plain tensor: parameters() leaves it out
print("parameters:", [name for name, _ in owner.named_parameters()])
print("rows 2 and 0 of an embedding:", nn.Embedding(3, 2)(torch.tensor([2, 0])).shape)

# %% [markdown]
# ### Exercise: `LearnedPositions`
#
# difficulty ●○○ · 5–7 min · 1 point
#
# Write the module. It owns exactly one parameter, (max_len, d), under any name. `forward` adds row n to
# token n, for x with any leading axes. A text longer than the table has no row for its last words: raise
# `ValueError`.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-LearnedPositions", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# A text of N tokens needs the first N rows of the table, whatever the batch looks like. (With an embedding,
# look up `torch.arange` of N.)
#
# <details><summary>Hint 2: the shapes</summary>
#
# N is x's last axis but one. The first N rows are (N, d), and you can add them to (…, N, d) as they are: axes
# line up from the right.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "LearnedPositions", "locked": false, "schema_version": 3, "solution": true, "task": false}
class LearnedPositions(nn.Module):
    """Adds a learned row to each token, by its place, in x's dtype; gradients reach both.

    Args:
        max_len: rows of the table, the longest text there can be.
        d: width of a token.
    """

    def __init__(self, max_len: int, d: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.rows = nn.Parameter(torch.randn(max_len, d))
        ### END SOLUTION

    def forward(self, x: Tensor) -> Tensor:
        """Tell each token its place.

        Args:
            x: (…, N, d), N at most max_len.
        Returns:
            (…, N, d).
        Raises:
            ValueError: N is more than max_len.
        """
        ### BEGIN SOLUTION
        length = x.shape[-2]
        if length > len(self.rows):
            raise ValueError(f"x has {length} tokens, and the table {len(self.rows)} rows")
        return x + self.rows[:length]
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "LearnedPositions-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(LearnedPositions)

# %% [markdown]
# ## Rotary: turn the question, turn the key
#
# A stamp that you add mixes *what* and *where* in one vector. Rotary adds nothing. It does what you did by
# hand: cut a query into pairs of neighbours, read each pair (x[2i], x[2i + 1]) as an arrow (a, b), and turn it
# counter-clockwise. Do the same with the keys, and leave the values alone. The speeds are those of the clock (Su et al.
# 2021, section 3.2):
#
# $$(a, b) \;\mapsto\; (a \cos\varphi - b \sin\varphi,\;\; a \sin\varphi + b \cos\varphi), \qquad
# \varphi = p \cdot \text{base}^{-2i/d}$$
#
# Lengths stay the same. In a score only the *difference* of two angles is left, (p − q) ω_i. And unlike the dot product
# of two stamps, a score may differ between left and right: q and k themselves decide that.
#
# Why is **positions** an argument? A text does not always begin at 0: a model that writes
# word by word computes one new query, say at position 57. Positions may also
# repeat, be out of order, or lie between whole numbers (Chen et al. 2023 stretch models to longer texts that way).

# %% [markdown]
# ### Exercise: `rotary`
#
# difficulty ●●● · 12–15 min · 3 points
#
# Turn x (…, N, d) by positions (N,), whole or float. Pairs are **neighbours**: columns 0 and 1, 2 and
# 3, … The result has x's shape and dtype, and the angles are computed in x's dtype, here float32 or
# float64: a float32 angle of 400 would cost a float64 result nine of its digits. (In half precision, compute them in
# float32, or a shift of 100 changes the scores.) An odd d raises `ValueError`.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-rotary", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# You know the angles from the clock: positions times speeds. What is new: take every second column
# as a, the others as b, and let the columns of both results alternate.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Speeds are (d/2,), angles and their cosines and sines (N, d/2). a and b are (…, N, d/2): slices
# in steps of two along the last axis. Stacked and flattened, the two results are (…, N, d).
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. Refuse an odd d.
# 2. Speeds: as in the encoding, with `base`, and with `dtype=x.dtype` for `torch.arange`.
# 3. Angles: positions in x's dtype, as a column, times the speeds.
# 4. Compute both new columns from the *old* a and b, and let them alternate.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "rotary", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rotary(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Turn each pair of neighbouring columns by an angle that grows with the position.

    Args:
        x: (…, N, d), queries or keys, d even.
        positions: (N,), whole or float.
        base: the speeds are base^(−2i/d).
    Returns:
        x's shape and dtype: (a, b) becomes (a cos − b sin, a sin + b cos). Gradients reach x.
    Raises:
        ValueError: d is odd.
        RuntimeError: there is not one position for each token; PyTorch raises it by itself.
    Source: Su et al. 2021, section 3.2.
    """
    ### BEGIN SOLUTION
    width = x.shape[-1]
    if width % 2:
        raise ValueError(f"x is {tuple(x.shape)}, and its width has to be even")
    speeds = base ** (-torch.arange(0, width, 2, dtype=x.dtype) / width)  # (d/2,)
    angles = positions.to(x.dtype)[:, None] * speeds  # (N, d/2)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(start_dim=-2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "rotary-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(rotary)

# %% [markdown]
# ## Past the end of training
#
# Now test your second prediction. The task needs nothing but position: *say the word that stood three places
# back*. Texts are random, made of eight words, so that no word helps to guess another. Each model has one attention
# layer of one head and d = 32, and trains on texts of **16** words (`train`: 400 steps of Adam, lesson 06). Then it
# reads **32**, and `share_right` says at which places it is right. The learned table has 32 rows, so it accepts them. You need `window` later.
#
# One model gets no positions, and three get those that you wrote. Two get a **bias**, a number that is added to each
# score and depends on the distance alone:
#
# - **T5** learns a number for each distance. Distances above 8 share the number of 8, one for each side. (The
#   published one learns 32, in ranges that widen up to 128: Raffel et al. 2020, section 2.1.)
# - **ALiBi** learns nothing: it takes half a point off for each step (Press et al. 2022, section 3; there each head
#   has a factor of its own, the largest of eight is ½).


# %% nbgrader={"grade": false, "grade_id": "models", "locked": true, "schema_version": 3, "solution": false, "task": false}
from functools import cache

from attnlab.lessons.position.back import SEEN, share_right, train


class LooksBack(nn.Module):
    """One attention layer over random words; `kind` says how order is told."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.embed, self.answer = nn.Embedding(8, 32), nn.Linear(32, 8)
        self.W_q, self.W_k, self.W_v = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32)
        self.add = LearnedPositions(32, 32) if kind == "learned" else nn.Identity()  # adds nothing
        self.bias = nn.Parameter(torch.zeros(17)) if kind == "T5" else None  # for −8 … 8

    def forward(self, words: Tensor, window: int = 10**6) -> Tensor:
        """(B, N) words to scores (B, N, 8); words as far away as window are blocked."""
        x, places = self.add(self.embed(words)), torch.arange(words.shape[1])
        if self.kind == "sinusoidal":
            x = x + sinusoidal_encoding(len(places), 32)
        q, k = self.W_q(x), self.W_k(x)
        if self.kind == "rotary":
            q, k = rotary(q, places), rotary(k, places)
        apart = places[:, None] - places  # (N, N)
        near = apart.abs() < window  # True = attend
        if self.kind not in ("T5", "ALiBi"):
            return self.answer(attend(q, k, self.W_v(x), near)[0])
        bias = -apart.abs() / 2 if self.bias is None else self.bias[apart.clamp(-8, 8) + 8]
        scores = (q @ k.mT / 32**0.5 + bias).masked_fill(~near, -torch.inf)
        return self.answer(scores.softmax(dim=-1) @ self.W_v(x))


torch.set_num_threads(1)  # for matrices as small as these, threads wait longer than they work


@cache
def trained(kind: str, seed: int = 0) -> LooksBack:
    """Asked for again, it is the same one."""
    torch.manual_seed(seed)
    return train(LooksBack(kind))


# %% nbgrader={"grade": false, "grade_id": "see-beyond", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
kinds = ("none", "learned", "sinusoidal", "rotary", "T5", "ALiBi")
curves = {kind: share_right(trained(kind), 2 * SEEN) for kind in kinds}
figures.position.beyond(curves, SEEN, 1 / 8)

# %% [markdown]
# Left of the grey field, all but *none* and ALiBi are right, or nearly. (On texts of 16 words they are right in 1.00 of
# all cases: the later words disturb them.) Without positions the best that a model can do is to name the word that it
# sees most often beside its own, and that is right in 0.22 of all cases. In the grey field (prediction 2: C):
#
# - **learned** falls to guessing from one position to the next: its rows 16 to 31 still hold their random start.
# - **sinusoidal** falls at once, too, though every place has a stamp. There is a $W_q$ that is right at
#   every place, but training found one that is right for the 16 stamps it saw.
# - **rotary** goes on into the grey field as if nothing had happened.
# - **T5** does not fall there either: in texts of 32 words it is right in 0.95 of all cases, at any place.
# - **ALiBi** says *near* and not *three back*: near words get the most. It gets 0.21 at every length.
#
# Are the new *places* the cause? They are. Train with texts of 16 words that begin anywhere from place 0 to 16: in the
# grey field learned reaches 0.88 to 1.00, and sinusoidal 0.93 to 1.00 (ten seeds). Trained from place 0, learned
# reached 0.13 to 0.16 on twenty seeds, sinusoidal 0.17 to 0.37, rotary 0.99 to 1.00. (You see seed 0.)
#
# Do rotary and T5 have no limit here, then?

# %% nbgrader={"grade": false, "grade_id": "see-further", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
for times in (1, 2, 4, 8, 16, 32):
    rotated, biased = (
        share_right(trained(kind), times * SEEN).nanmean() for kind in ("rotary", "T5")
    )
    print(
        f"{times * SEEN:3} words, {times:2} × the length trained: rotary {rotated:.2f}, T5 {biased:.2f}"
    )

# %% [markdown]
# Each has one, for a reason of its own. At these speeds most of rotary's hands are slow. Past 15 steps they point where
# training never saw them, and nothing keeps those scores low. Most far words get next to nothing, but a few get much:
# at 512 words
# the heaviest of them takes 0.18 of the weight in an average row, and the third word back keeps 0.04.
#
# In T5 all far words share a number that was trained, and it is low. But there are many of them, and together they
# outweigh one. If so, louder scores mend T5, and not rotary. Double them, and train nothing:

# %% nbgrader={"grade": false, "grade_id": "mend-louder", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
for kind, part in (("T5", "bias"), ("rotary", "W_q")):
    louder, numbers = LooksBack(kind), trained(kind).state_dict()
    louder.load_state_dict({name: (1 + name.startswith(part)) * numbers[name] for name in numbers})
    print(f"{kind}, 512 words, {part} doubled: {share_right(louder, 512).nanmean():.2f} right")

# %% [markdown]
# T5 is right again in 1.00 of all cases, and rotary is not.
#
# If the far distances are rotary's cause, you can mend it without training it again: give it a **window**, and block
# every word outside. How wide may it be, and how narrow? Guess before you run it.

# %% nbgrader={"grade": false, "grade_id": "mend-window", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
for window in (512, 128, 64, 32, 16, 8, 4, 3):
    share = share_right(trained("rotary"), 512, window).nanmean().item()
    print(f"rotary, 512 words, reads those less than {window:3} away: {share:.2f} right")

# %% [markdown]
# A window as long as the training, 16 words, was right in 1.00 of all cases on each of nine seeds; without one, the same
# models were right in 0.13 to 0.76. Twice that was too wide for one of the nine (0.70). Less than 4 hides the answer. The
# window mends far *distances*, not new *places*: in the grey field, a window of 16 left learned at 0.14 to 0.19 and
# sinusoidal at 0.19 to 0.41.

# %% [markdown]
# ## Break it on purpose
#
# **What is different?** Some public code, such as LLaMA's in Transformers, turns the columns like this:


# %% nbgrader={"grade": false, "grade_id": "break-halves", "locked": true, "schema_version": 3, "solution": false, "task": false}
def rotary_in_halves(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    if x.shape[-1] % 2:
        raise ValueError("the width has to be even")
    turns = torch.arange(x.shape[-1] // 2, dtype=x.dtype) * (-2 / x.shape[-1])
    turns = torch.cat([positions.to(x.dtype)[:, None] * base**turns] * 2, dim=-1)
    first, second = x.chunk(2, dim=-1)
    return x * turns.cos() + torch.cat([-second, first], dim=-1) * turns.sin()


check(rotary_in_halves, name="rotary")

# %% [markdown]
# It pairs **halves instead of neighbours**: column i goes with column i + d/2. Most numbers differ. Yet lengths stay
# the same, and scores depend on distance alone, as the next cell
# measures. By itself this is a good rotary, and neither *property* finds a fault. The damage is done
# where the two meet: weights trained with one and run with the other, or queries turned by one and keys
# by the other.

# %% nbgrader={"grade": false, "grade_id": "break-halves-symptom", "locked": true, "schema_version": 3, "solution": false, "task": false}
q, k, places = x @ W_q, x @ W_k, torch.arange(5)
for name, turn_q, turn_k in (
    ("neighbours, both", rotary, rotary),
    ("halves, both", rotary_in_halves, rotary_in_halves),
    ("one of each", rotary, rotary_in_halves),
):
    here, there = (turn_q(q, places + s) @ turn_k(k, places + s).mT for s in (0, 7))
    print(f"{name:17} moved by 7, same scores: {torch.allclose(here, there)}")

# %% [markdown]
# ## Cost
#
# **Count**, for a text of N tokens:
#
# | | parameters | multiplications | longest text |
# |---|---|---|---|
# | sinusoidal, added once | 0 | 0 (N · d additions) | any, but see above |
# | learned, added once | max_len · d | 0 (N · d additions) | max_len |
# | rotary, in every layer | 0 | 4 for a pair: 2 N · d for queries, as many for keys | any, but see above |
# | T5's bias | for each head, one for each distance that it tells apart | 0 (N² additions for each head) | any, but see above |

# %% [markdown]
# ## Check yourself

# %% nbgrader={"grade": false, "grade_id": "quiz-check-yourself", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("check yourself")

# %% [markdown]
# ## Take away
#
# 1. Attention without positions or a mask is equivariant: it sees a bag of words. A causal mask breaks
#    that, and two causal layers can learn order from it ([does it notice](#Does-it-notice-the-order?)).
# 2. Sinusoidal encodings are a clock with d/2 hands. The dot product of two of them depends on distance
#    alone, and is blind to direction
#    ([what it knows](#What-a-dot-product-of-two-encodings-knows)).
# 3. A learned table knows the places it was trained on, and not one more
#    ([learned](#Learned:-a-row-for-each-place)).
# 4. Rotary turns queries and keys by their own positions, and scores feel the difference
#    ([rotary](#Rotary:-turn-the-question,-turn-the-key)).
# 5. Past the training length, learned and sinusoidal failed at once here, rotary and a learned bias on the scores later.
#    *Any length is allowed* is not *any length works*. With base 10000, a window as long as the training mended rotary, and a doubled
#    bias the other ([measured](#Past-the-end-of-training)).
#
# **To carry over.** One layer learned a task that was made for it. What would a whole model learn, and how
# would you see it? That is lesson 10.

# %% [markdown]
# ### Sources
#
# - Sinusoidal: [Vaswani et al. 2017](https://arxiv.org/abs/1706.03762); blind to direction: [Yan et al. 2019](https://arxiv.org/abs/1911.04474)
# - Learned: [Devlin et al. 2018](https://arxiv.org/abs/1810.04805)
# - Rotary: [Su et al. 2021](https://arxiv.org/abs/2104.09864); stretched: [Chen et al. 2023](https://arxiv.org/abs/2306.15595)
# - A causal mask without positions: [Haviv et al. 2022](https://arxiv.org/abs/2203.16634)
# - A bias on the scores: T5, [Raffel et al. 2020](https://arxiv.org/abs/1910.10683); ALiBi, and past the training length: [Press et al. 2022](https://arxiv.org/abs/2108.12409)

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
