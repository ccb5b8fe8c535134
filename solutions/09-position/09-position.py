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
# the two apart: shuffle the words, and the same rows come out, shuffled. Here you see that on a
# sentence that you break yourself. Then you build three usual ways to tell a model where each word
# stands, and measure how far each of them carries on a text longer than any in training.
#
# | | |
# |---|---|
# | **You will be able to** | test whether a function notices order; write sinusoidal, learned and rotary positions; say what a dot product of two encodings knows of distance, and what it does not; say what happens past the length seen in training |
# | **Minutes** | about 80 |
# | **You need** | lessons 05 to 08: tensors, modules, the causal mask, `attend`; what sine and cosine of an angle are |
# | **Runs on** | CPU, under a minute; needs no network |
# | **Points** | 7, in four exercises |
#
# The picture is the library's reference desk: a **query** is what a reader asks, a **key** is what a
# book's spine promises, a **value** is what its pages say. The running sentence is ***the dog bites
# the man***.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab import begin, check, figures

torch.set_printoptions(precision=3, sci_mode=False)
begin("09-position")

# %% [markdown]
# **Where you are.** The block of lesson 02. Lit is where order can come in: added to X, or by turning Q and K.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("X", "Q", "K")

# %% [markdown]
# The block of lessons 05 and 06 is given from here on. You may use it or not.


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
#
# Two questions on earlier lessons. Opening a choice is choosing it.

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
# **1.** Self-attention without a mask reads five tokens. You exchange tokens 1 and 2 and run it again.
# What happens to the five output rows? (Lesson 03.)
#
# <details><summary>A. All five change</summary>
#
# Not this one: each row is an average over the same five books, and an average does not mind the order
# of its terms.
#
# </details>
# <details><summary>B. Rows 1 and 2 are exchanged, and nothing else happens</summary>
#
# Yes. That is *permutation equivariance*.
#
# </details>
# <details><summary>C. Nothing at all</summary>
#
# Not this one: row n belongs to query n. When a query moves, its row moves along.
#
# </details>
#
# **2.** Two arrows of length 1 stand at an angle φ to each other. What is their dot product?
# (Lesson 01.)
#
# <details><summary>A. cos φ</summary>
#
# Yes: 1 if they point the same way, 0 at a right angle, −1 if they are opposed. Turn *both* by the same
# angle, and φ stays.
#
# </details>
# <details><summary>B. φ</summary>
#
# Not this one: at φ = 0 the product is at its largest, 1, and not 0.
#
# </details>
# <details><summary>C. It depends on where both point</summary>
#
# Not this one: only the angle between them counts. That is what rotary positions are made of.
#
# </details>

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Predict
#
# Commit to a guess. You run both experiments below.
#
# **1.** Attention without a mask reads *the dog bites the man*, and then *the man bites the dog*.
# How far apart are the two output rows of *bites*?
#
# <details><summary>A. Far: dog and man have exchanged their roles</summary>
#
# Not this one: that is what they mean to you. The desk gets the same five slips, in another order.
#
# </details>
# <details><summary>B. Not at all, up to rounding</summary>
#
# Yes. The row is an average of the same five values with the same five weights.
#
# </details>
# <details><summary>C. A little</summary>
#
# Not this one: there is nothing in the sum that a place could change.
#
# </details>
#
# **2.** A model learns to look three words back, on texts of 16 words. Then it reads 32. Which way to
# tell it positions still works at words 17 to 32?
#
# <details><summary>A. A table with a learned row for each place</summary>
#
# Not this one: rows 17 to 32 were never used in training, so they are as random as on the first day.
#
# </details>
# <details><summary>B. A fixed formula that is added to the words</summary>
#
# Not quite: the formula has an answer for every place, and the model has never met those answers. You
# will measure how much survives.
#
# </details>
# <details><summary>C. Turning queries and keys, so that scores see distance alone</summary>
#
# Yes, here. Three back is three back, wherever you stand. How far that carries you measure, too.
#
# </details>

# %% [markdown]
# ## By hand
#
# Take queries and keys of d = 2 numbers, so that each is an arrow on paper. The rule: **an arrow at
# position p is turned by p · 30°**, counter-clockwise. A pair (a, b), turned by an angle φ, becomes
#
# $$(a \cos\varphi - b \sin\varphi,\;\; a \sin\varphi + b \cos\varphi)$$
#
# The query is q = (2, 0) and the key k = (1, 0). You need cos 30° = 0.866 and sin 30° = 0.5.
#
# | query at | turned by | becomes | key at | turned by | becomes | distance | dot product |
# |---|---|---|---|---|---|---|---|
# | 3 | 90° | (0, 2) | 1 | 30° | (0.866, 0.5) | 2 | 0 · 0.866 + 2 · 0.5 = **1** |
# | 5 | 150° | (−1.732, 1) | 3 | 90° | (0, 1) | 2 | −1.732 · 0 + 1 · 1 = **1** |
# | 3 | 90° | (0, 2) | 0 | 0° | (1, 0) | 3 | 0 · 1 + 2 · 0 = **0** |
#
# Redo the second row on paper. Same distance, same score, wherever the two stand. Before turning, the
# score was 2 · 1 = 2; now it is 2 · cos(distance · 30°). At distance 3 that is 0. At 10 it is 1, as at 2:
# one pair cannot tell these two apart, so there will be more pairs.


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
# | symbol | what it is | axes | size in this lesson |
# |---|---|---|---|
# | x | tokens, one a row | (…, N, d) | (5, 8), (64, 16, 32) |
# | perm | a new order: row i is the old row perm[i] | (N,) | (5,) |
# | E | sinusoidal encoding, a row for each position | (N, d) | (64, 32) |
# | table | learned positions | (max_len, d) | (32, 32) |
# | positions | where each token stands | (N,) | (5,), (16,) |
# | angles | one for each position and *pair* of columns | (N, d/2) | (5, 4) |
# | q, k, v | queries, keys, values | (…, N, d) | (64, 16, 32) |
# | weights | attention | (…, N, N) | (64, 16, 16) |

# %% [markdown]
# ## See it: two arrows
#
# Rotary positions, the last of the three ways, as a picture. Pair 0 is your table: 30° a step. A second
# pair beside it turns by 3° a step. Dashed is where an arrow pointed before it was turned. Move the
# query (q, thick) or the key (k, thin) by slider or arrow keys; then move *both*. Which numbers stay?

# %% nbgrader={"grade": false, "grade_id": "see-arrows", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.live.RotaryArrows([2, 0, 1, 1], [1, 0, 0.5, 1], query_at=3, key_at=1, degrees=[30, 3])

# %% [markdown]
# Moving both turns all four arrows, and the score stays at 2.54. Moving one changes it: pair 0 quickly,
# pair 1 hardly. Twelve steps bring the fast pair round to where it began; the slow one has turned by 36°.

# %% [markdown]
# ## Does it notice the order?
#
# Imagine that readers hand in slips, one a word, and the desk drops them into a box. What a slip says
# is kept. Where it lay in the pile is not. Give each word a fixed random vector, and let attention
# read the sentence; queries, keys and values are made by three random matrices, as in lesson 05.


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
# Now break it. The next cell is yours: change the order of the five words as you like, and run it and
# the one below it again.

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
figures.position.two_orders(orders, tables)

# %% [markdown]
# Compare the row of *bites* left and right: it gives *dog* the same weight, and *man* too. The columns
# have moved. (That is **B** of the first prediction.) To attention both sentences are one bag of words.
# More layers like it, and layers that work row by row, cannot know who bit whom either.
#
# The word for it is **equivariant**: shuffling first and computing then gives the same as computing
# first and shuffling then.
#
# $$f(P\,x) = P\,f(x)$$
#
# P puts the rows into a new order. (*In*variant is something
# else: f(P x) = f(x), the output does not move at all. A mean over all rows is invariant.)
#
# To shuffle in code, index the axis of the rows with the new order. In a batch that is not the first
# axis, so say *the last but one*; `...` stands for all axes before it, as in lesson 03.

# %% nbgrader={"grade": false, "grade_id": "see-indexing", "locked": true, "schema_version": 3, "solution": false, "task": false}
perm = torch.tensor([2, 0, 1])
rows = torch.tensor([[0, 0], [10, 10], [20, 20]])
print("rows in a new order:", rows[..., perm, :].tolist())
print("in each sentence of a batch:", torch.stack([rows, -rows])[..., perm, :].tolist())
forth, back = 0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1
print("exactly equal:", forth == back, " close:", math.isclose(forth, back, abs_tol=1e-6))

# %% [markdown]
# The last line is a warning: a sum in another order may be rounded otherwise, so don't compare with `==`.
# `torch.allclose(a, b, rtol=0, atol=1e-6)` is a Python bool, True if no two numbers differ by more than
# `atol`. (`rtol` would allow a share of the number's size as well.)

# %% [markdown]
# ### Exercise: `is_equivariant`
#
# difficulty ●○○ · 5–7 min · 1 point
#
# Say whether a function follows the order `perm` of the rows of x. `fn` takes one tensor (…, N, d) and
# returns one tensor whose rows stand on axis −2, too. Numbers that differ by at most 1e-6 count as
# equal. Return a Python bool, and leave x as it is.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-is_equivariant", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Take the formula literally. It has two sides; compute both, and compare.
#
# <details><summary>Hint 2: the shapes</summary>
#
# `perm` is (N,), and both sides are shuffled along axis −2: on the left x, (…, N, d), on the right
# what `fn` returns, (…, N, anything).
#
# <details><summary>Hint 3: an outline</summary>
#
# - Index x with `perm`, and call `fn` on that.
# - Call `fn` on x itself, and index the *result* with `perm`.
# - Compare the two with `torch.allclose`, an absolute tolerance of 1e-6 and no relative one.
#
# </details>
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
# Ask it about functions that you know. Which of the four notice the order?

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
# So the causal mask breaks the symmetry. After one such layer, a row still knows a bag, that of the words
# up to its own. Two layers (each added to what it reads, normalised first) can learn to name the word before: 0.74 to
# 0.88 right on five seeds after 500 steps, and 0.27 without the mask, which is the best there is then. Language models with a causal mask and no positions are still competitive with others
# (Haviv et al. 2022). An encoder has no mask, and has to be told. You build two ways: **add** something to
# the tokens, or **turn** the queries and keys.

# %% [markdown]
# ## Sinusoidal: a clock with many hands
#
# The first Transformer stamps each slip with a clock. The clock has d/2 hands. From one position to the
# next, hand i turns by its own angle, from 1 radian (57°) for the first hand to almost nothing for the
# last. A hand is stored as two numbers, sine and cosine of its angle:
#
# $$E_{p,\,2i} = \sin(p\,\omega_i), \qquad E_{p,\,2i+1} = \cos(p\,\omega_i), \qquad
# \omega_i = 10000^{-2i/d}, \qquad i = 0 \dots d/2 - 1$$
#
# In words: at position p, hand i stands at the angle p times its speed; even columns hold the sine, odd
# columns the cosine. The speeds fall by the same *factor* from hand to hand (Vaswani et al. 2017,
# section 3.5). The stamp is **added** to the token's embedding.
#
# For d = 4 there are two speeds, 10000⁰ = 1 and 10000^(−1/2) = 0.01:
#
# | position | sin(p) | cos(p) | sin(0.01 p) | cos(0.01 p) |
# |---|---|---|---|---|
# | 0 | 0 | 1 | 0 | 1 |
# | 1 | 0.841 | 0.540 | 0.010 | 1.000 |
# | 2 | 0.909 | −0.416 | 0.020 | 1.000 |
#
# Two tools that you need. A column (n, 1) times a row (m,) gives all products, (n, m). And there are two
# ways to let two tensors take turns, column by column:

# %% nbgrader={"grade": false, "grade_id": "see-interleaving", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("all products:\n", torch.arange(3)[:, None] * torch.tensor([1.0, 0.5]))
left, right = torch.tensor([[1, 3], [5, 7]]), torch.tensor([[2, 4], [6, 8]])
table = torch.zeros(2, 4)
table[:, 0::2] = left  # from column 0 in steps of two
table[:, 1::2] = right
print("assigned:\n", table)
print("stacked: \n", torch.stack([left, right], dim=-1).flatten(start_dim=-2))

# %% [markdown]
# `stack` puts the two along a new last axis, (2, 2, 2), and `flatten` runs the last two axes together.

# %% [markdown]
# ### Exercise: `sinusoidal_encoding`
#
# difficulty ●●○ · 8–12 min · 2 points
#
# Write the (n, d) table of encodings: sine in even columns, cosine in odd ones, base 10000, position 0
# in the first row. The dtype is PyTorch's default, float32 unless someone has changed it. An odd d
# leaves a hand without its cosine, so raise `ValueError`. (The check compares at 1e-4:
# a float32 angle of 200 is only known to about 1e-5.)

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-sinusoidal_encoding", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# First all angles: a row for each position, a column for each *hand*. Then their sines and cosines, and
# last let the two take turns.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Speeds (d/2,), positions as a column (n, 1), angles (n, d/2). Sines and cosines have the shape of the
# angles; together they are (n, d).
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. Refuse an odd d.
# 2. `torch.arange` from 0 to d in steps of two gives 2i already. Divide by d, and raise 10000 to minus
#    that.
# 3. Multiply the column of positions with the row of speeds.
# 4. Stack sine and cosine along a new last axis and flatten the last two; or fill a table of zeros
#    with slices in steps of two.
#
# </details>
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
# Look at 64 positions in 32 columns. Follow one column from top to bottom: how many rows until it
# repeats?

# %% nbgrader={"grade": false, "grade_id": "see-clock", "locked": true, "schema_version": 3, "solution": false, "task": false}
E = sinusoidal_encoding(64, 32)
figures.position.clock(E, [0, 8, 16])

# %% [markdown]
# The first hand goes round in 2π = 6.3 positions and tells neighbours apart; the right quarter of the
# picture hardly moves in 64. The slowest hand would need some 35,000 positions for one turn. Fast hands
# say *exactly where, but in which round?*, slow ones *roughly where*.
#
# Is the order told? Ask your own function.

# %% nbgrader={"grade": false, "grade_id": "stamped", "locked": true, "schema_version": 3, "solution": false, "task": false}
stamp = sinusoidal_encoding(5, d).double()
print("equivariant with stamps:", is_equivariant(lambda x: read(x + stamp)[0], x, new_order))
one, other = embed(sentence) + stamp, embed("the man bites the dog") + stamp
apart = (read(one)[0][2] - read(other)[0][2]).norm() / read(one)[0][2].norm()
print(f"the two rows of bites now differ by {100 * apart:.0f} % of their length")

# %% [markdown]
# ### What a dot product of two encodings knows
#
# Attention compares by dot products, so what does the dot product of two stamps say? A hand
# contributes sin·sin + cos·cos, which is the cosine of the angle between its two readings:
#
# $$E_p \cdot E_q = \sum_i \cos\big((p - q)\,\omega_i\big)$$
#
# In words: p and q have gone, and only their *distance* is left. Two properties follow that you can see
# in the figure: each diagonal has one colour, and the curve is the same to both sides.

# %% nbgrader={"grade": false, "grade_id": "see-dots", "locked": true, "schema_version": 3, "solution": false, "task": false}
E = sinusoidal_encoding(64, 32)
dots = E @ E.mT / (E.shape[1] / 2)
figures.position.dot_products(dots, 32)

# %% [markdown]
# Near positions are alike, far ones less so, and it falls in waves, not steadily. And note what is
# missing: 5 to the left and 5 to the right give the *same* number. Their product goes by
# **how far** and not by **which way**: compared as they are, the word before and the word after are the same. And
# as it falls in waves, one number fits several distances.
#
# The way out is in the matrices. All hands turn on by k positions when each is turned by k times its
# own speed, *wherever it stands now*. Turning is a matrix, the same for every p. So there is a W_q that
# asks *as if it stood three places back*. Whether training finds it, you measure below.

# %% [markdown]
# ## Learned: a row for each place
#
# The second way asks for no formula. Buy a stamp for each place, scribbled at random, and let training
# engrave it: a table of max_len rows, and token n gets row n added. BERT and GPT-2 do it so, with 512
# and 1,024 rows. A table is a **parameter**: numbers that a module owns and an optimizer moves. Two ways
# to own one:
#
# - `nn.Parameter(tensor)`, set as an attribute of the module: a tensor that turns up in `parameters()`.
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
# A text of N tokens needs the first N rows of the table, whatever the batch looks like.
#
# <details><summary>Hint 2: the shapes</summary>
#
# N is x's last axis but one. The first N rows are (N, d), and adding lines axes up from the right, so
# (…, N, d) plus (N, d) needs no further care.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. In the constructor: one `nn.Parameter` with random numbers of the right shape, or an `nn.Embedding`.
# 2. In `forward`: find N. If it is more than the table has rows, raise.
# 3. Take the rows 0 to N − 1 and add them. With an embedding, look up `torch.arange` of N.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "LearnedPositions", "locked": false, "schema_version": 3, "solution": true, "task": false}
class LearnedPositions(nn.Module):
    """Adds a learned row to each token, by its place.

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
# Adding a stamp mixes *what* and *where* in one vector, and the score has to take them apart again. The
# third way adds nothing. It does what you did by hand: cut a query into pairs of neighbours, take each
# pair for an arrow, and turn pair i of the token at position p by p ω_i. The keys likewise; values are
# left alone. The speeds are those of the clock (Su et al. 2021, section 3.2):
#
# $$(a, b) \;\mapsto\; (a \cos\varphi - b \sin\varphi,\;\; a \sin\varphi + b \cos\varphi), \qquad
# \varphi = p \cdot \text{base}^{-2i/d}$$
#
# In words: a = x[2i] and b = x[2i + 1] become the arrow (a, b), turned counter-clockwise by the angle φ.
# Lengths stay. In a score, only the *difference* of two angles is left, and it is
# (p − q) ω_i: rotary positions are told absolutely and felt relatively. And unlike the dot product of
# two stamps, a score may differ between left and right, as q and k themselves decide.
#
# **positions** is an argument, and with reason. A text does not always begin at 0: a model that writes
# word by word computes one new query at position 57, and keys from before are kept. Positions may be
# repeated, out of order, or lie between whole numbers (some models are stretched to longer texts in
# this way: Chen et al. 2023).

# %% [markdown]
# ### Exercise: `rotary`
#
# difficulty ●●● · 12–15 min · 3 points
#
# Turn x (…, N, d) by positions (N,), whole or float. Pairs are **neighbours**: columns 0 and 1, 2 and
# 3, … The result has x's shape and dtype, and the angles are computed in x's dtype: a float32 angle of
# 400 would cost a float64 result nine of its digits. An odd d raises `ValueError`.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-rotary", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# You know the angles from the clock: positions times speeds. What is new is to take every second column
# as a, the others as b, and to put both results back in turns.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Speeds (d/2,), angles (N, d/2), and their cosines and sines as well. a and b are (…, N, d/2): slices
# in steps of two along the last axis. So leading axes come along by themselves. Stacked and flattened
# the two results are (…, N, d).
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. Refuse an odd d.
# 2. Speeds: as in the encoding, with `base`, and `torch.arange` told `dtype=x.dtype`.
# 3. Angles: positions turned into x's dtype, as a column, times the speeds.
# 4. Take a and b; compute both new ones from the *old* a and b.
# 5. Let the two take turns, as you did with sine and cosine.
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
        x's shape and dtype: (a, b) becomes (a cos − b sin, a sin + b cos).
    Raises:
        ValueError: d is odd.
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
# Four claims, each on your own function: lengths stay; moving everything by 100 changes
# no score; the order is told; and left and right differ. The last line shows that it is the same
# clock as before: let the arrow (0, 1) of every pair turn *backwards*, and the sinusoidal encoding
# comes out.

# %% nbgrader={"grade": false, "grade_id": "use-rotary", "locked": true, "schema_version": 3, "solution": false, "task": false}
q, k, places = x @ W_q, x @ W_k, torch.arange(5)


def scores_at(shift: int) -> Tensor:
    """Scores (5, 5) with all positions moved by the same number."""
    return rotary(q, places + shift) @ rotary(k, places + shift).mT


def read_in_order(x: Tensor) -> Tensor:
    """The sentence again, with turned queries and keys."""
    return attend(rotary(x @ W_q, places), rotary(x @ W_k, places), x @ W_v)[0]


print("lengths stay:            ", torch.allclose(rotary(q, places).norm(dim=-1), q.norm(dim=-1)))
print("moved by 100, same scores:", torch.allclose(scores_at(0), scores_at(100)))
print("equivariant:             ", is_equivariant(read_in_order, x, new_order))
both = rotary(q[:1].expand(5, d), places) @ rotary(k[1:2].expand(5, d), places).mT
print(f"the, asking dog: two to the left {both[2, 0]:.3f}, two to the right {both[2, 4]:.3f}")
up = torch.tensor([0.0, 1.0]).repeat(16).expand(64, 32)
print("the sinusoidal clock:    ", torch.allclose(rotary(up, -torch.arange(64)), E, atol=1e-4))

# %% [markdown]
# ## Past the end of training
#
# Now the second prediction. The task needs nothing but position: *say the word that stood three places
# back*. Texts are random, eight different words, so that no word helps to guess another. Four models
# are told order in four ways: none, learned, sinusoidal, rotary. Each has one attention
# layer of one head and d = 32, and trains on texts of **16** words; then each reads **32**.
#
# `F.cross_entropy` is −log of the probability that the model gives the right word, averaged;
# `torch.optim.Adam` takes the slopes and moves each parameter a little (lesson 06). The
# learned table has 32 rows, so that nothing is refused.


# %% nbgrader={"grade": false, "grade_id": "models", "locked": true, "schema_version": 3, "solution": false, "task": false}
from functools import cache


class LooksBack(nn.Module):
    """One attention layer over random words; `kind` says how order is told."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.embed, self.answer = nn.Embedding(8, 32), nn.Linear(32, 8)
        self.W_q, self.W_k, self.W_v = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32)
        self.add = (
            LearnedPositions(32, 32) if kind == "learned" else nn.Identity()
        )  # changes nothing

    def forward(self, words: Tensor) -> Tensor:
        """(B, N) words to scores (B, N, 8)."""
        x, n = self.add(self.embed(words)), words.shape[1]
        if self.kind == "sinusoidal":
            x = x + sinusoidal_encoding(n, 32)
        q, k = self.W_q(x), self.W_k(x)
        if self.kind == "rotary":
            q, k = rotary(q, torch.arange(n)), rotary(k, torch.arange(n))
        return self.answer(attend(q, k, self.W_v(x))[0])


BACK = 3
SEEN = 16
torch.set_num_threads(1)  # for matrices as small as these, threads wait longer than they work


def train(model: LooksBack) -> LooksBack:
    """The model after 400 steps on fresh texts."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for _ in range(400):
        words = torch.randint(8, (64, SEEN))
        scores = model(words)[:, BACK:]
        loss = F.cross_entropy(scores.flatten(0, 1), words[:, :-BACK].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


@cache
def trained(kind: str, seed: int = 0) -> LooksBack:
    """Asked for again, it is the same one."""
    torch.manual_seed(seed)
    return train(LooksBack(kind))


def share_right(model: LooksBack, n: int) -> Tensor:
    """Share of right answers at each position; NaN where there is no third word back."""
    words = torch.randint(8, (32_000 // n, n), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        best = model(words).argmax(dim=-1)
    return torch.cat(
        [torch.full((BACK,), torch.nan), (best[:, BACK:] == words[:, :-BACK]).double().mean(0)]
    )


# %% nbgrader={"grade": false, "grade_id": "see-beyond", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
kinds = ("none", "learned", "sinusoidal", "rotary")
curves = {kind: share_right(trained(kind), 2 * SEEN) for kind in kinds}
figures.position.beyond(curves, SEEN, 1 / 8)

# %% [markdown]
# Left of the grey field, all three ways are right, or nearly. (On texts of 16 words they are right in 1.00; what
# is missing here is the later words' doing, which stand in the same text.) Without positions the best that a model can
# do is to name the word that it sees most often, and that is right in 0.22 of all cases. In the grey
# field (it is **C** of the second prediction):
#
# - **learned** falls to guessing from one position to the next: its rows 16 to 31 are what they were on
#   the first day.
# - **sinusoidal** falls at once, too, though every place has a stamp. There is a W_q that is right at
#   every place, and training found one that is right for the 16 stamps it saw.
# - **rotary** goes on into the grey field as if nothing had happened.
#
# Is it the new *places*? It is: train with texts of 16 words that begin anywhere from place 0 to 16, and
# the grey field gives 0.88 to 1.00 for learned, 0.93 to 1.00 for sinusoidal (ten seeds). You see seed 0,
# trained from place 0. Twenty seeds gave 0.13 to 0.16 and 0.17 to 0.37, and for rotary 0.99 to 1.00; left
# of the grey field the worst means were 0.98, 0.93 and 0.85.
#
# Is rotary free of any limit, then?

# %% nbgrader={"grade": false, "grade_id": "see-further", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
for times in (1, 2, 4, 8, 16, 32):
    share = share_right(trained("rotary"), times * SEEN).nanmean().item()
    print(f"rotary, {times * SEEN:3} words, {times:2} × the length trained: {share:.2f} right")

# %% [markdown]
# No. Distances past 15 were never trained either, and nothing keeps their scores low. Most of these far
# words get next to nothing, and a few get much: at 512 words the heaviest of them takes 0.18 of the weight
# in an average row, and the third word back keeps 0.04. Block every word that is more than 15 places
# away, and the same model is right in 1.00 of all cases; so it was on each of six seeds. Language models
# with rotary positions decay past their training length, too (Press et al. 2022, section 2.2).
# What you measured: **on this task** rotary reaches twice the length (0.93 to 1.00 over all 32 words, on twenty seeds), and
# learned not one word more.

# %% [markdown]
# ## Break it on purpose
#
# **Halves for neighbours.** Some public code, as that of LLaMA in Transformers, pairs column i not with its
# neighbour but with column i + d/2. This function does:


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
# Most of the numbers differ. Yet lengths stay, and scores depend on distance alone, as the next cell
# measures. By itself this is a good rotary, and neither *property* finds a fault. The damage is done
# where the two meet: weights trained with one and run with the other, or queries turned by one and keys
# by the other.

# %% nbgrader={"grade": false, "grade_id": "break-halves-symptom", "locked": true, "schema_version": 3, "solution": false, "task": false}
for name, turn_q, turn_k in (
    ("neighbours, both", rotary, rotary),
    ("halves, both", rotary_in_halves, rotary_in_halves),
    ("one of each", rotary, rotary_in_halves),
):
    here, there = (turn_q(q, places + s) @ turn_k(k, places + s).mT for s in (0, 7))
    print(f"{name:17} moved by 7, same scores: {torch.allclose(here, there)}")

# %% [markdown]
# **A new word that begins at 0.** A model that writes keeps its old keys and computes one new query at
# a time. Somebody turns that single query by `torch.arange(1)`:

# %% nbgrader={"grade": false, "grade_id": "break-position-zero", "locked": true, "schema_version": 3, "solution": false, "task": false}
kept = rotary(k, places)  # keys of all five words, turned when they came
for name, place in (("position 4", torch.tensor([4])), ("arange(1)", torch.arange(1))):
    weights = (rotary(q[4:], place) @ kept.mT / d**0.5).softmax(dim=-1)
    print(f"{name:11} weights of man:", [round(w, 3) for w in weights[0].tolist()])

# %% [markdown]
# No error, a row that adds up to 1, and other weights: *man* reads as if it were the first word. In
# training, where whole sentences are turned at once, nothing shows; the model is only bad at writing.
# The test that finds it compares word by word with all at once.

# %% [markdown]
# ## Cost
#
# **Count**, for a text of N tokens:
#
# | | parameters | multiplications | longest text |
# |---|---|---|---|
# | sinusoidal, added once | 0 | 0 (N · d additions) | any; what is learned may not carry |
# | learned, added once | max_len · d | 0 (N · d additions) | max_len |
# | rotary, in every layer | 0 | 4 for a pair: 2 N · d for queries, as many for keys | any; decayed here |
#
# Against the 2 N² d of attention itself, rotary's 4 N d is a share of 2/N.
# **Measure** it: stamps are made beforehand, rotary's table of cosines and sines anew each time, as in your
# function.

# %% nbgrader={"grade": false, "grade_id": "measure", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from time import perf_counter


def milliseconds(function, *arguments) -> float:
    """The fastest of ten calls."""
    taken = []
    for _ in range(10):
        start = perf_counter()
        function(*arguments)
        taken.append(1000 * (perf_counter() - start))
    return min(taken)


print("   N   add a stamp   turn q and k   attention   (ms)")
for n in (64, 256, 1024):
    queries, everywhere = torch.randn(2, 4, n, 64), torch.arange(n)
    stamps = sinusoidal_encoding(n, 64)
    print(
        f"{n:4} {milliseconds(torch.add, queries, stamps):13.3f} "
        f"{2 * milliseconds(rotary, queries, everywhere):14.3f} "
        f"{milliseconds(attend, queries, queries, queries):11.3f}"
    )

# %% [markdown]
# Four times the N is four times the turning and sixteen times the multiplications of attention: where
# turning takes longer at first, N² leaves it behind.

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Check yourself
#
# **1. Why do stamps that are added not tell *before* from *after* by their own dot product?**
#
# <details><summary>A. Because cosine is the same for an angle and its opposite</summary>
#
# Yes. The product is a sum of cosines of (p − q) ω_i, and cos(−φ) = cos φ. A learned matrix can turn
# one of the two first.
#
# </details>
# <details><summary>B. Because far positions have similar stamps</summary>
#
# Not this one: far stamps are less alike than near ones, on the whole. The question is about left and
# right.
#
# </details>
# <details><summary>C. Because the encoding is not trained</summary>
#
# Not this one: a formula may know the direction or not. This one does not, trained or untrained.
#
# </details>
#
# **2. You add 100 to all positions of a rotary model. What changes?**
#
# <details><summary>A. Queries and keys, and no score</summary>
#
# Yes. Each arrow turns further, and the angles between them stay.
#
# </details>
# <details><summary>B. Every score</summary>
#
# Not this one: a score depends on the difference of two positions, and 100 − 100 = 0.
#
# </details>
# <details><summary>C. Nothing at all</summary>
#
# Not this one: the turned queries and keys are other numbers. It matters when a cache holds some that
# were turned before.
#
# </details>
#
# **3. A model like the learned one above was trained on 512 words; its table has 1,024 rows. What happens
# at word 600?**
#
# <details><summary>A. ValueError</summary>
#
# Not this one: the table has a row 600. That is why nobody notices at once.
#
# </details>
# <details><summary>B. A random row is added, and the answer is about as good as a guess</summary>
#
# Yes. No slope has ever reached that row. You saw it in the grey field.
#
# </details>
# <details><summary>C. It works: neighbouring rows are alike</summary>
#
# Not this one: nothing in a table makes neighbours alike. Each row gets slopes of its own, and row 600
# got none.
#
# </details>
#
# **4. Why are values not turned?**
#
# <details><summary>A. It would cost too much</summary>
#
# Not this one: it would cost as much as turning the keys.
#
# </details>
# <details><summary>B. Turning makes *scores* depend on distance; a value is what is handed over, and would come out turned by its own place</summary>
#
# Yes. The scores are all that distance has to change. (On texts of 16 words turned values do no harm: the
# model above is right in 1.00 of all cases, too.)
#
# </details>
# <details><summary>C. Values have no pairs</summary>
#
# Not this one: any vector of even width can be cut into pairs.
#
# </details>

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
# 5. Past the training length, learned and sinusoidal failed at once here, rotary later. *Any length is
#    allowed* is not *any length works* ([measured](#Past-the-end-of-training)).
#
# **Words of this lesson**: [permutation equivariance](../glossary.md#permutation-equivariance),
# [positional encoding](../glossary.md#positional-encoding),
# [rotary positions](../glossary.md#rotary-positions), [parameter](../glossary.md#parameter),
# [embedding](../glossary.md#embedding), [causal mask](../glossary.md#causal-mask).
#
# **To carry over.** One layer learned a task that was made for it. What would a whole model learn, if you
# let it train every matrix from the first to the last, and how would you see what it has learned? That
# is lesson 10.

# %% [markdown]
# ### Sources
#
# - Sinusoidal encodings, and learned ones for comparison: Vaswani et al. 2017, *Attention Is All You
#   Need*, section 3.5. [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# - Rotary positions: Su et al. 2021, *RoFormer: Enhanced Transformer with Rotary Position Embedding*,
#   section 3. [arXiv:2104.09864](https://arxiv.org/abs/2104.09864)
# - Learned positions: Devlin et al. 2018, *BERT*.
#   [arXiv:1810.04805](https://arxiv.org/abs/1810.04805)
# - Sinusoidal dot products are blind to direction: Yan et al. 2019, *TENER*.
#   [arXiv:1911.04474](https://arxiv.org/abs/1911.04474)
# - A causal mask without positions: Haviv et al. 2022, *Transformer Language Models without
#   Positional Encodings Still Learn Positional Information*.
#   [arXiv:2203.16634](https://arxiv.org/abs/2203.16634)
# - Past the training length, and a penalty that grows with distance (ALiBi) instead: Press et al. 2022,
#   *Train Short, Test Long*, section 2.2. [arXiv:2108.12409](https://arxiv.org/abs/2108.12409)
# - Positions between whole numbers: Chen et al. 2023, *Extending Context Window of Large Language Models
#   via Positional Interpolation*. [arXiv:2306.15595](https://arxiv.org/abs/2306.15595)

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
