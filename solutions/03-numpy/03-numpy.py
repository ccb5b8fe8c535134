# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 03 · One einsum per arrow
#
# In lesson 02 you wrote attention with every index in sight. Here you write the same block in NumPy, one
# line for each arrow in the diagram. Then you ask what this block can and cannot do, whatever numbers
# are in it.
#
# | | |
# |---|---|
# | **After this lesson you can** | write a contraction by naming its axes; write attention for any leading axes, with a mask; say what depends on the number of tokens and what on the width; show the block as one big matrix that is rebuilt for every input |
# | **Minutes** | about 90 |
# | **You need** | lessons 01 and 02; NumPy arrays, their `shape`, and adding and multiplying them |
# | **Runs on** | CPU, without a network |
# | **You may stop** | before *What holds whatever the numbers are* |
# | **Points** | 9, in five exercises |

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import numpy as np

from attnlab import begin, check, figures, quiz  # is it missing? open it by: attnlab lab

begin("03-numpy")

# %% [markdown]
# Each axis has a letter and a colour. What becomes of one that is left out after the arrow?

# %% nbgrader={"grade": false, "grade_id": "opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.opening()

# %% [markdown]
# **Where you are.** This is the block of lesson 02. Its five products are lit; each becomes one einsum here.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("W_q", "W_k", "W_v", "scores", "mix")

# %% [markdown]
# ## Two questions first

# %% nbgrader={"grade": false, "grade_id": "quiz-recall", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("recall")

# %% [markdown]
# ## Predict
#
# At the reference desk, the running sentence of this lesson is ***the clerk finds old maps***. Each of
# its five words is a reader and a book at once.
#
# One word first: an **activation** is a function that a network applies to each number by itself, to
# bend what would otherwise be a straight line. The usual one is **ReLU**, max(0, x).
#
# Choose now. You run both experiments later.

# %% nbgrader={"grade": false, "grade_id": "quiz-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("predict")

# %% [markdown]
# ## By hand
#
# Take three words, *clerk finds maps*. Suppose their queries, keys and values are these, with
# $d_k$ = 4 and $d_v$ = 2:
#
# | token | query | key | value |
# |---|---|---|---|
# | *clerk* | (1, 1, 0, 0) | (2, 2, 0, 0) | (10, 0) |
# | *finds* | (0, 1, 1, 0) | (2, 0, 0, 4) | (0, 10) |
# | *maps* | (0, 0, 1, 1) | (−2, 2, 2, 0) | (5, 5) |
#
# On paper, for the reader *clerk*:
#
# 1. Scores: the query times each key, entry by entry, added up: 4, 2, 0.
# 2. Divide by $\sqrt{d_k}$ = 2: 2, 1, 0.
# 3. Raise e to each: 7.389, 2.718, 1. They add up to 11.107.
# 4. Divide by that sum. The weights are 0.665, 0.245, 0.090.
# 5. Mix the values: 0.665 · (10, 0) + 0.245 · (0, 10) + 0.090 · (5, 5) = (7.10, 2.90).
#
# Now do *finds* and *maps*. You need no new exponentials: their scores are 4, 2 and 0 again, in
# another order. Keep your numbers: you will compare them with those of your own code.

# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
Q3 = np.array([[1.0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
K3 = np.array([[2.0, 2, 0, 0], [2, 0, 0, 4], [-2, 2, 2, 0]])
V3 = np.array([[10.0, 0], [0, 10], [5, 5]])

print("score of clerk's query with maps' key:", sum(Q3[0] * K3[2]))
print("e to the 2, 1, 0:", np.exp([2, 1, 0]).round(3))

# %% [markdown]
# ## Shape ledger
#
# Each axis has one letter, the same in prose, in code and in error messages. N counts queries and M keys. In
# self-attention both are the tokens of one sentence, so N = M, but they are still two different axes of the weights.
# `…` stands for any number of **leading axes**, or for none. A **batch** of sentences, for example, has one, and each
# sentence is a problem of its own.
#
# | symbol | what it is | axes | size for *the clerk finds old maps* |
# |---|---|---|---|
# | X | tokens, one a row | `n d` | (5, 6) |
# | $W_q$, $W_k$ | make queries, keys | `d k` | (6, 4) |
# | $W_v$ | makes values | `d v` | (6, 3) |
# | $b_q$, $b_k$ | biases | `k` | (4,) |
# | $b_v$ | bias | `v` | (3,) |
# | Q | queries | `… n k` | (5, 4) |
# | K | keys | `… m k` | (5, 4) |
# | V | values | `… m v` | (5, 3) |
# | S | scores, Q Kᵀ, before they are divided by $\sqrt{d_k}$ | `… n m` | (5, 5) |
# | mask | True = attend | broadcastable to `… n m` | (5, 5) |
# | A | weights | `… n m` | (5, 5) |
# | Z | outputs | `… n v` | (5, 3) |

# %% [markdown]
# ## See it: a letter is an axis
#
# A **contraction** multiplies two arrays entry by entry along a shared axis and adds up, so that
# this axis is gone. A dot product is the smallest one. `np.einsum` writes a contraction by naming
# the axes, in three rules:
#
# - each input gets one letter for each of its axes;
# - the same letter in several inputs stands for axes of the same size, and einsum walks along them in step;
# - a letter that is missing after the arrow is summed over; the others stay, in the order given.
#
# So `"nk,mk->nm"` reads: take Q (n, k) and K (m, k), keep n and m, sum over k. That is the table of
# all scores. The cell compares it with the three loops that it stands for.

# %% nbgrader={"grade": false, "grade_id": "see-einsum", "locked": true, "schema_version": 3, "solution": false, "task": false}
S_loops = np.zeros((3, 3))
for n in range(3):
    for m in range(3):
        for k in range(4):
            S_loops[n, m] += Q3[n, k] * K3[m, k]

S3 = np.einsum("nk,mk->nm", Q3, K3)
print(S3)
print("same as three loops:", np.array_equal(S3, S_loops))

# %% [markdown]
# That is the opening film: its sheets are added up along k, into one; n and m are left.
#
# You can also write `Q3 @ K3.T`: `@` sums over the last axis of the left array and the last but one of
# the right, so you have to transpose K first. (Do not use `.T` on a batch: it reverses *all* axes.
# `K.swapaxes(-1, -2)` exchanges the last two.) Einsum needs no transpose, and it shows which axis you sum away.
# The checks compare numbers, so they accept `@` and loops everywhere.
#
# The exercises use three more forms. `...` stands for all leading axes, however many there are:
# they have no letters and are kept. Where *every* letter comes back after the arrow, nothing is summed.
# And `reshape` merges neighbouring axes into one: entry (i, j) of a (3, 2) array lands at place 2 · i + j.

# %% nbgrader={"grade": false, "grade_id": "see-einsum-forms", "locked": true, "schema_version": 3, "solution": false, "task": false}
two_tables = np.arange(12.0).reshape(2, 3, 2)
print("...ij,j->...i  two tables, one string:", np.einsum("...ij,j->...i", two_tables, [1.0, 10.0]))

each_with_each = np.einsum("i,j->ij", [1.0, 2.0, 3.0], [1.0, 10.0])
print("i,j->ij        nothing is summed:     ", each_with_each.tolist())
print("               merged by a reshape:   ", each_with_each.reshape(6))

# %% [markdown]
# ## Softmax that does not overflow
#
# As in lesson 01, you subtract the row's largest score before you take exponentials: no weight changes, and nothing
# overflows. NumPy's usual numbers are Python's (*float64*, about 16 digits); half-sized ones (*float32*) have about
# 7. An overflow shows in another way. Where Python's `math.exp` stops with an error, NumPy goes on with `inf`, and
# ∞/∞ is `nan`, **not a number**; 0/0 is `nan` as well.
#
# Two NumPy words help. `axis` says along which axis `max` or `sum` runs; −1 is the last.
# `keepdims=True` keeps that axis with size 1, so that the result lines up with the array that it came
# from. This lining up is called **broadcasting**: NumPy compares shapes from the right. Where one of two
# sizes is 1 (or the axis is missing), it repeats the entries.

# %% nbgrader={"grade": false, "grade_id": "see-keepdims", "locked": true, "schema_version": 3, "solution": false, "task": false}
table = np.arange(10.0).reshape(2, 5)
print("sum over the last axis:        ", table.sum(axis=-1).shape)
print("the same, and the axis is kept:", table.sum(axis=-1, keepdims=True).shape)

# %% [markdown]
# `(2, 5)` and `(2,)` do not line up: 5 meets 2. `(2, 5)` and `(2, 1)` do: each row meets its own
# number.

# %% [markdown]
# ### Exercise: `softmax`
#
# difficulty ●○○ · 5 min · 1 point
#
# Write softmax for an array of any shape, along any axis. It has to be right for scores near ±10,000, too.
# A score of −∞ gets a weight of exactly 0. You do not need to handle a row in which *every* score is −∞;
# that case comes back further down.

# %% [markdown] nbgrader={"grade": false, "grade_id": "softmax-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Take three steps: move the scores so that the largest along `axis` is 0, take exponentials, divide by their sum.
# Make new arrays; `-=` would change the caller's scores.
#
# <details><summary>Hint 2: the shapes</summary>
#
# For scores (2, 5, 4) and `axis=1`, both the maximum and the sum have shape (2, 1, 4). Without
# `keepdims=True` they would be (2, 4), which does not line up with (2, 5, 4).
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """Shares of the exponentials along one axis, stable for large scores.

    Args:
        scores: (…), any shape, float; may hold -inf, but not everywhere along the axis.
        axis: the axis along which weights add up to 1.
    Returns:
        (…), the shape of scores; exactly 0 where a score is -inf.
    """
    ### BEGIN SOLUTION
    top = scores.max(axis=axis, keepdims=True)
    raised = np.exp(scores - top)
    return raised / raised.sum(axis=axis, keepdims=True)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "softmax-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(softmax)

# %% [markdown]
# Here are the weights of all three words. Compare the last two rows with yours.

# %% nbgrader={"grade": false, "grade_id": "use-softmax", "locked": true, "schema_version": 3, "solution": false, "task": false}
A3 = softmax(S3 / 2)
print(A3.round(3))

# %% [markdown]
# ## One einsum per arrow
#
# Draw the block with arrows: X → Q, X → K, X → V, then (Q, K) → A, the weights, then (A, V) → Z, the
# output. These are five arrows, and each needs one contraction. The fourth also divides and takes softmax.
#
# The first three are **projections**: the same step with three different matrices.
#
# $$Q = \mathbf{1}\,b + X W$$
#
# Here $\mathbf{1}$ is a column of N ones and b a row of $d_k$ numbers, so every token gets the same bias.
# NumPy needs no column of ones: broadcasting repeats b for every row.
#
# With `...` the line that projects one sentence also projects a batch of them.
#
# There is one trap. Einsum repeats a size of 1, as broadcasting does. So an X of width 1 goes through a
# matrix with 6 rows without complaint, and the result means nothing. (`@` refuses.) Compare the two
# sizes yourself in `project`.

# %% [markdown]
# ### Exercise: `project`
#
# difficulty ●○○ · 5 min · 1 point
#
# Write the projection X W, plus the bias if there is one. X may have leading axes. Raise
# `ValueError` when the width of X is not the number of rows of W. A good message names both shapes; the
# check looks only at the kind of error.

# %% [markdown] nbgrader={"grade": false, "grade_id": "project-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# One axis is summed away: the width of the token, which is also the number of rows of the matrix.
# Give it one letter in both places.
#
# <details><summary>Hint 2: the shapes</summary>
#
# (…, N, d) and (d, k) give (…, N, k). The bias (k,) lines up with the last axis as it is.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "project", "locked": false, "schema_version": 3, "solution": true, "task": false}
def project(X: np.ndarray, W: np.ndarray, b: np.ndarray | None = None) -> np.ndarray:
    """Each token times a matrix, plus a bias.

    Args:
        X: (…, N, d), tokens.
        W: (d, k), the matrix.
        b: (k,), added to every token; None adds nothing.
    Returns:
        (…, N, k).
    Raises:
        ValueError: the width of X is not the number of rows of W.
    """
    ### BEGIN SOLUTION
    if X.shape[-1] != W.shape[0]:
        raise ValueError(f"X is {X.shape} and W is {W.shape}: widths must agree")
    projected = np.einsum("...nd,dk->...nk", X, W)
    return projected if b is None else projected + b
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "project-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(project)

# %% [markdown]
# ## The block in five lines
#
# Here is the whole block, one line for each arrow:
#
# | line | einsum, without leading axes | summed away |
# |---|---|---|
# | Q | `nd,dk->nk` | d |
# | K | `md,dk->mk` | d |
# | V | `md,dv->mv` | d |
# | A | `nk,mk->nm`, divide by $\sqrt{d_k}$, softmax over m | k |
# | Z | `nm,mv->nv` | m |
#
# This is one formula, with the names of Vaswani et al. (2017, eq. 1):
#
# $$Z = \operatorname{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V$$
#
# ### The mask: True means attend
#
# Sometimes a reader may not consult a book. A **mask** says which: a table of booleans that can be
# broadcast to (…, N, M). In this lesson, as in PyTorch's `F.scaled_dot_product_attention`, **True =
# attend**, False = blocked. (Elsewhere, even within PyTorch, True can mean *blocked*; lesson 06 meets
# both.)
#
# You block a key *before* softmax. Its score becomes −∞, e to the −∞ is exactly 0, and the remaining keys
# share the whole weight:

# %% nbgrader={"grade": false, "grade_id": "see-minus-infinity", "locked": true, "schema_version": 3, "solution": false, "task": false}
powers = np.exp([2.0, 1.0, -np.inf])
print("powers: ", powers.round(3))
print("weights:", (powers / sum(powers)).round(3))

# %% [markdown]
# If *all* keys of a row are blocked, its maximum is −∞, and −∞ − (−∞) is `nan`. But a reader who may consult
# no book should get nothing: weights 0, output 0.
#
# `np.where(condition, a, b)` builds a new array: a where the condition is True, b elsewhere. It
# broadcasts, and it changes none of its inputs.
#
# ### Exercise: `scaled_dot_product_attention`
#
# difficulty ●●○ · 10–15 min · 4 points
#
# Write the last two lines of the table: from Q, K and V to the output and the weights. Allow any
# leading axes. With a mask (True = attend), blocked keys get a weight of exactly 0 and the others
# share 1. A query with no key left gets weights and output of exactly 0, never `nan`. Use your
# `softmax`. Float32 inputs have to work too; a wider result is accepted.

# %% [markdown] nbgrader={"grade": false, "grade_id": "attention-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Take four steps: make scores, hide some, take softmax, mix values. The mask acts on the scores. For a row with
# nothing left, softmax returns `nan`. So look at the mask again afterwards, and put 0 wherever it says blocked.
#
# <details><summary>Hint 2: the shapes</summary>
#
# (…, N, $d_k$) and (…, M, $d_k$) give scores (…, N, M). The mask broadcasts to the same. Softmax runs
# over the last axis, M. Weights (…, N, M) and values (…, M, $d_v$) give (…, N, $d_v$).
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. Contract queries and keys over their width, with `...` for the leading axes, and divide by the square
#    root of that width.
# 2. If there is a mask: keep a score where it is True, use minus infinity where it is False.
# 3. Take softmax. To silence NumPy's warning for an empty row, wrap this in
#    `np.errstate(invalid="ignore")`, as a `with` block.
# 4. If there is a mask: keep a weight where it is True, use 0 where it is False.
# 5. Contract weights and values over the keys. Return the output first, then the weights.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "scaled_dot_product_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scaled_dot_product_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Mix values by softmax over keys of scaled dot products, in the thousands too.

    Args:
        Q: (…, N, d_k), queries.
        K: (…, M, d_k), keys.
        V: (…, M, d_v), values.
        mask: bool, broadcastable to (…, N, M), True = attend; None blocks nothing.
    Returns:
        out: (…, N, d_v).
        weights: (…, N, M); each row adds up to 1, or is exactly 0 where all its keys are blocked.
    Source: Vaswani et al. 2017, eq. 1.
    """
    ### BEGIN SOLUTION
    scores = np.einsum("...nk,...mk->...nm", Q, K) / Q.shape[-1] ** 0.5
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):  # a row with no key left: -inf minus -inf is NaN
        weights = softmax(scores)
    if mask is not None:
        weights = np.where(mask, weights, 0.0)
    return np.einsum("...nm,...mv->...nv", weights, V), weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "scaled_dot_product_attention-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(scaled_dot_product_attention)

# %% [markdown]
# ### The five lines, run
#
# First you run the example that you did on paper, then the one from lesson 02, whose weights were 0.048,
# 0.086, 0.866.

# %% nbgrader={"grade": false, "grade_id": "use-attention-by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
Z3, A3 = scaled_dot_product_attention(Q3, K3, V3)
print("weights:", A3.round(3), sep="\n")
print("outputs:", Z3.round(2), sep="\n")

q = np.array([[1.0, 2, 0]])
keys = np.array([[1.0, 0, 1], [0, 1, 0], [2, 2, 1]])
print("lesson 02:", scaled_dot_product_attention(q, keys, keys)[1].round(3))

# %% [markdown]
# Now take the running sentence. Its word vectors and the matrices are random numbers from a fixed seed, so do
# not look for meaning in who listens to whom. Look for what is true with any numbers.

# %% nbgrader={"grade": false, "grade_id": "five-lines", "locked": true, "schema_version": 3, "solution": false, "task": false}
rng = np.random.default_rng(3)
d, d_k, d_v = 6, 4, 3
vocabulary = ["the", "clerk", "finds", "old", "maps", "reader", "wants", "new"]
vector = {word: rng.normal(size=d) for word in vocabulary}
W_q, W_k, W_v = (rng.normal(size=(d, width)) / 2 for width in (d_k, d_k, d_v))
b_q, b_k, b_v = (rng.normal(size=width) for width in (d_k, d_k, d_v))

sentence = ["the", "clerk", "finds", "old", "maps"]
X = np.array([vector[word] for word in sentence])


def attend(
    X: np.ndarray,
    b_q: np.ndarray | None = None,
    b_k: np.ndarray | None = None,
    b_v: np.ndarray | None = None,
    mask: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Self-attention over the rows of X, (…, N, d): outputs (…, N, d_v), weights (…, N, N)."""
    Q = project(X, W_q, b_q)
    K = project(X, W_k, b_k)
    V = project(X, W_v, b_v)
    return scaled_dot_product_attention(Q, K, V, mask)


Z, A = attend(X)
print("X", X.shape, "-> Z", Z.shape, "with weights", A.shape)

# %% [markdown]
# Now block some pairs (True = attend). The book of *old* is out on loan, so nobody may attend to it.
# The reader *the* has lost its library card and may attend to nothing. In the figure, look at the
# hatched cells, at the framed row, and at what each row adds up to.

# %% nbgrader={"grade": false, "grade_id": "see-mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
mask = np.ones((5, 5), dtype=bool)  # True = attend
mask[:, sentence.index("old")] = False
mask[sentence.index("the"), :] = False

free, hidden = attend(X)[1], attend(X, mask=mask)[1]
figures.numpy.masked_weights(free, hidden, mask, sentence)

# %% [markdown]
# Every hatched cell is exactly 0.
# In the rows of *clerk*, *finds*, *old* and *maps* the weight that went to *old* is shared out among
# the other keys, in proportion to what they had, so each of these rows still adds up to 1. The row
# of *the* adds up to 0, and so its output is 0:

# %% nbgrader={"grade": false, "grade_id": "see-mask-sums", "locked": true, "schema_version": 3, "solution": false, "task": false}
Z_masked, A_masked = attend(X, mask=mask)
print("row sums:", A_masked.sum(axis=-1).round(6))
print("output of the:", Z_masked[0])

# %% [markdown]
# Go through the rows with the pointer or the arrow keys. Orange is what the mask took, and who has it now. What does
# the figure say about the reader *the*?

# %% nbgrader={"grade": false, "grade_id": "touch-mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
listens = figures.live.WhoListens(A_masked, sentence, blocked=~mask, before=A)
listens.row = 4  # maps
listens

# %% [markdown]
# ### A bias that changes nothing
#
# Two of the three biases make a difference: $b_q$ changes the score of every key, and without a mask $b_v$ is
# added to every output, because the weights add up to 1. But $b_k$, the keys' bias, does nothing
# at all. It adds $q_n$ · $b_k$ to *every* score of query n, and softmax does not notice a constant. (In a block that
# turns keys by their places, lesson 09, it does something.)

# %% nbgrader={"grade": false, "grade_id": "see-key-bias", "locked": true, "schema_version": 3, "solution": false, "task": false}
for name, biases in {"b_q": {"b_q": b_q}, "b_k": {"b_k": b_k}, "b_v": {"b_v": b_v}}.items():
    Z_biased, A_biased = attend(X, **biases)
    weights_move = bool(abs(A_biased - A).max() > 1e-12)
    outputs_move = bool(abs(Z_biased - Z).max() > 1e-12)
    print(f"with {name}: weights change {weights_move}, outputs change {outputs_move}")

# %% [markdown]
# ## What holds whatever the numbers are
#
# ### Rows are shares
#
# Each row of A is non-negative and adds up to 1, unless a mask leaves it nothing. So each output is a
# weighted average of the values: no entry of Z can be larger than the largest value in its column, or smaller than the
# smallest. Try to break this with a batch of 1,000 random sentences, in one call.

# %% nbgrader={"grade": false, "grade_id": "test-rows", "locked": true, "schema_version": 3, "solution": false, "task": false}
many = rng.normal(0, 5, size=(1000, 5, d))
Z_many, A_many = attend(many)
V_many = project(many, W_v)

print("all weights at least 0:    ", bool((A_many >= 0).all()))
print("all rows add up to 1:      ", bool((abs(A_many.sum(axis=-1) - 1) < 1e-12).all()))
inside = (Z_many <= V_many.max(1, keepdims=True) + 1e-9) & (
    Z_many >= V_many.min(1, keepdims=True) - 1e-9
)
print("all outputs between values:", bool(inside.all()))

# %% [markdown]
# ### Shuffling goes through
#
# Without a mask: shuffle the rows of X, and the rows of Z are shuffled in the same way; nothing else changes. This
# is **permutation equivariance**. The weights are shuffled twice, in rows and in columns, because each word is
# reader and book. In the figure, find the framed pair in both panels.

# %% nbgrader={"grade": false, "grade_id": "see-shuffle", "locked": true, "schema_version": 3, "solution": false, "task": false}
order = [3, 4, 1, 0, 2]
shuffled = [sentence[i] for i in order]
figures.numpy.two_orders(attend(X)[1], sentence, attend(X[order])[1], shuffled)

# %% [markdown]
# The pair has kept its weight and changed its place. So have all pairs, and all outputs, in every
# one of the 120 orders that five words have. (Prediction 2: A.)

# %% nbgrader={"grade": false, "grade_id": "test-shuffle", "locked": true, "schema_version": 3, "solution": false, "task": false}
from itertools import permutations

apart = 0.0  # the largest difference seen
for order in map(list, permutations(range(5))):
    Z_shuffled, A_shuffled = attend(X[order])
    apart = max(apart, abs(Z_shuffled - Z[order]).max())
    apart = max(apart, abs(A_shuffled - A[order][:, order]).max())  # rows, then columns
print("all within 1e-12:", bool(apart < 1e-12))

# %% [markdown]
# To attention without positions and without a mask, a sentence is a bag of words (Lee et al. 2019 build networks for
# sets on this property). A mask stays where it is while the words move, so it can tell their order. Without a mask
# something else has to, and in lesson 09 it does.
#
# ### Not linear, even without an activation
#
# A map f is **linear** if f(2X) = 2 f(X), the same for every other factor, and f(X + Y) = f(X) + f(Y). This run has
# no activation and no bias. (Prediction 1: C.)

# %% nbgrader={"grade": false, "grade_id": "test-linear", "locked": true, "schema_version": 3, "solution": false, "task": false}
Z_double, A_double = attend(2 * X)
print("f(X),   row of maps:", Z[4].round(3))
print("2 f(X), row of maps:", (2 * Z[4]).round(3))
print("f(2X),  row of maps:", Z_double[4].round(3))
print("weights of maps, X: ", A[4].round(3))
print("weights of maps, 2X:", A_double[4].round(3))

# %% [markdown]
# Queries and keys have both doubled, so all scores are multiplied by 4 and the weights are sharper. The
# values have doubled too, but they are mixed in other proportions.

# %% [markdown]
# ## What depends on N, and what on d
#
# A **parameter** is a number that training sets: the entries of $W_q$, $W_k$, $W_v$ and of the biases. A
# weight a_nm is not a parameter. It is computed anew for every input.
#
# Look at the letters of each array's axes. No parameter of this block has an axis n: the same
# matrices serve a sentence of 5 words and one of 5,000. The weights have only n and m:
# in self-attention there are N² of them, whether a token is 6 numbers wide or 6,000.
#
# You count work in the same way. A contraction multiplies once for every combination of its letters:
#
# | line | letters | multiplications | when N doubles |
# |---|---|---|---|
# | V = X $W_v$ | m, d, v | N · d · $d_v$ | twice as many |
# | scores | n, m, k | N² · $d_k$ | four times as many |
# | Z = A V | n, m, v | N² · $d_v$ | four times as many |
#
# The work for the values is linear in N, because each token is projected alone. The pairs cost N².
#
# ### Exercise: `count_attention`
#
# difficulty ●○○ · 5 min · 1 point
#
# For self-attention over n tokens, count the parameters of the three projections, with their biases
# if `bias` is True, and the weights in A. Return both as ints.

# %% [markdown] nbgrader={"grade": false, "grade_id": "count-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Look at the shape ledger. The number of entries of an array is the product of its sizes.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Two matrices are (d, $d_k$) and one is (d, $d_v$). A bias is as long as its matrix has columns. A is
# (n, n). For n = 5, d = 6, $d_k$ = 4, $d_v$ = 3 without biases the answer is (66, 25).
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "count_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def count_attention(n: int, d: int, d_k: int, d_v: int, bias: bool = False) -> tuple[int, int]:
    """How many parameters self-attention has, and how many weights it computes.

    Args:
        n: tokens.
        d: width of a token.
        d_k: width of queries and keys.
        d_v: width of values.
        bias: whether each of the three projections adds a bias.
    Returns:
        parameters: entries of W_q, W_k, W_v and, if bias, of b_q, b_k, b_v.
        weights: entries of A.
    """
    ### BEGIN SOLUTION
    columns = 2 * d_k + d_v
    parameters = columns * (d + 1 if bias else d)
    return parameters, n * n
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "count_attention-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(count_attention)

# %% [markdown]
# ## One big matrix, rebuilt for every input
#
# Keep the weights A fixed for a moment. Then Z = A X $W_v$ *is* linear in X, so one big matrix takes all N · d inputs to
# all N · $d_v$ outputs. Write X as one long column, token after token (`X.ravel()`), and Z as well. What is in the matrix?
#
# $$z_n = \sum_m a_{nm}\, W_v^\top x_m$$
#
# Block (n, m) of the matrix is a_nm times $W_v^T$. (The transpose is there because tokens are rows in X $W_v$
# and columns here.) Check a case on paper, with two tokens, d = 3 and $d_v$ = 2. The big matrix is on the right:
#
# $$A = \begin{pmatrix} 0.75 & 0.25 \\ 0.5 & 0.5 \end{pmatrix}, \quad
# W_v = \begin{pmatrix} 4 & 0 \\ 0 & 8 \\ 4 & 4 \end{pmatrix}, \quad
# \left(\begin{array}{ccc|ccc} 3 & 0 & 3 & 1 & 0 & 1 \\ 0 & 6 & 3 & 0 & 2 & 1 \\ \hline
# 2 & 0 & 2 & 2 & 0 & 2 \\ 0 & 4 & 2 & 0 & 4 & 2 \end{array}\right)$$
#
# ### Exercise: `routing_matrix`
#
# difficulty ●●● · 10 min · 2 points
#
# Build that matrix from weights (N, M) and $W_v$ (d, $d_v$), for any N and M, so that
# `routing_matrix(A, W_v) @ X.ravel()` equals `(A @ X @ W_v).ravel()`. X is not an input: the matrix
# has to be right for every X.

# %% [markdown] nbgrader={"grade": false, "grade_id": "routing-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# One factor leads from input entry (m, d) to output entry (n, v): a weight times an entry of
# $W_v$. Which two axes does a row of the big matrix stand for, and which two does a column?
#
# <details><summary>Hint 2: the shapes</summary>
#
# First make an array with four axes, (N, $d_v$, M, d), whose entry is the weight of (n, m) times
# entry (d, v) of $W_v$. Nothing is summed. Then join the first two axes and the last two: the result
# is (N · $d_v$, M · d).
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "routing_matrix", "locked": false, "schema_version": 3, "solution": true, "task": false}
def routing_matrix(weights: np.ndarray, W_v: np.ndarray) -> np.ndarray:
    """Attention with fixed weights, as one matrix that acts on X.ravel().

    Args:
        weights: (N, M), the rows of A.
        W_v: (d, d_v), makes values.
    Returns:
        (N·d_v, M·d); block (n, m) is weights[n, m] times W_v transposed.
    """
    ### BEGIN SOLUTION
    (n, m), (d, d_v) = weights.shape, W_v.shape
    return np.einsum("nm,dv->nvmd", weights, W_v).reshape(n * d_v, m * d)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "routing_matrix-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(routing_matrix)

# %% nbgrader={"grade": false, "grade_id": "use-routing", "locked": true, "schema_version": 3, "solution": false, "task": false}
small = routing_matrix(np.array([[0.75, 0.25], [0.5, 0.5]]), np.array([[4.0, 0], [0, 8], [4, 4]]))
print(small)

big = routing_matrix(A, W_v)
print("big matrix:", big.shape, "times", X.ravel().shape)
print("gives Z:", np.allclose(big @ X.ravel(), Z.ravel(), rtol=0, atol=1e-12))

mix, values = routing_matrix(A, np.eye(d_v)), routing_matrix(np.eye(5), W_v)
print("product of two:", np.allclose(mix @ values, big, rtol=0, atol=1e-12))
for name, matrix in {"mix": mix, "values": values, "product": big}.items():
    print(f"{name:8}{np.count_nonzero(matrix):4} of {matrix.size} entries are not 0")

# %% [markdown]
# The big matrix is a product of two **sparse** ones, in which most entries are 0. One of them multiplies each
# token by $W_v$. The other mixes tokens, feature by feature.
#
# A fully connected layer (of a multi-layer perceptron, **MLP**) that reads the whole sentence has such a big
# matrix too, but there every entry is a parameter, the same for every sentence. A network that computes the weights of
# another one is called a **hypernetwork** (Ha et al. 2016). Attention is one in this sense, because queries and keys
# compute the matrix. This is also why the whole map is not linear: the matrix depends on X.

# %% nbgrader={"grade": false, "grade_id": "see-parameters", "locked": true, "schema_version": 3, "solution": false, "task": false}
parameters = count_attention(5, d, d_k, d_v)[0]
print("parameters of attention:        ", parameters, "for a sentence of any length")
print("parameters of a fixed layer:    ", big.size, "for sentences of 5 tokens only")

# %% [markdown]
# ## Break it on purpose
#
# The next function has a mistake, but it runs without an error. Look at the sums of its rows: which step is in the
# wrong place?


# %% nbgrader={"grade": false, "grade_id": "break-mask-late", "locked": true, "schema_version": 3, "solution": false, "task": false}
def mask_too_late(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, mask: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    shares = softmax(Q @ K.swapaxes(-1, -2) / np.sqrt(K.shape[-1]))
    shares = shares if mask is None else shares * mask
    return shares @ V, shares


_, A_late = mask_too_late(project(X, W_q), project(X, W_k), project(X, W_v), mask)
print("row sums:", A_late.sum(axis=-1).round(3))

# %% nbgrader={"grade": false, "grade_id": "break-mask-symptom", "locked": true, "schema_version": 3, "solution": false, "task": false}
check(mask_too_late, name="scaled_dot_product_attention")

# %% [markdown]
# The mask (True = attend) comes *after* softmax, when the blocked keys have already taken their share. So rows add up
# to less than 1. No shape is wrong and nothing is `nan`. (Divide each row that is not all 0 by its sum, and the
# result is right again, unless a blocked key leads by a hundred or more. The check accepts that as well.)
#
# Add up the rows whenever you write attention. The sums show this mistake, and lesson 02's softmax over the
# wrong axis.

# %% [markdown]
# ## Cost: count, then measure
#
# You have counted N² for pairs. Now measure how the time of the whole block grows when N doubles. The
# milliseconds are your machine's.

# %% nbgrader={"grade": false, "grade_id": "measure-cost", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from time import perf_counter

before = 0.0
for n in (512, 1024, 2048, 4096):
    tokens = rng.normal(size=(n, d))
    runs = []
    for _run in range(3):
        begun = perf_counter()
        attend(tokens)
        runs.append(1000 * (perf_counter() - begun))
    ratio = f"{min(runs) / before:.1f} times the line above" if before else ""
    print(f"N = {n:4} {min(runs):8.2f} ms  {ratio}")
    before = min(runs)

# %% [markdown]
# Each line has four times the pairs of the one above, so on a quiet machine the ratios are near 4. The first can be
# well above that, and on a busy machine any of them can. Lesson 11 is about this growth.

# %% [markdown]
# ## Check yourself

# %% nbgrader={"grade": false, "grade_id": "quiz-check-yourself", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("check yourself")

# %% [markdown]
# ## Take away
#
# - A letter is an axis; a letter that is missing after the arrow is summed over
#   ([a letter is an axis](#See-it:-a-letter-is-an-axis)).
# - Attention is five contractions, with a division and a softmax after the fourth; `...` carries any
#   leading axes ([the block](#The-block-in-five-lines)).
# - Subtract the maximum before exp; hide with −∞ before softmax; a row with no key left is 0
#   ([softmax](#Softmax-that-does-not-overflow), [mask](#The-mask:-True-means-attend)).
# - The block's number of parameters does not depend on N, and the number of weights, N², does not depend on d
#   ([counts](#What-depends-on-N,-and-what-on-d)); without a mask, shuffling goes straight through
#   ([equivariance](#Shuffling-goes-through)).
# - Attention is one big matrix of blocks a_nm $W_v^T$, rebuilt for every input; so it is not linear in X,
#   unless all scores are equal, or all values ([the big matrix](#One-big-matrix,-rebuilt-for-every-input)).
#
# **To carry over.** You have divided by $\sqrt{d_k}$ for two lessons. Why the square root, and not $d_k$
# itself, or nothing? Lesson 04 measures it.
#
# ### Sources
#
# - Vaswani et al. 2017, *Attention is all you need*, section 3.2.1,
#   [arXiv:1706.03762](https://arxiv.org/abs/1706.03762).
# - Attention as one large structured matrix, and as a hypernetwork: Prince 2023, *Understanding
#   Deep Learning*, section 12.2, [udlbook.github.io](https://udlbook.github.io/udlbook/).
# - Ha, Dai and Le 2016, *HyperNetworks*, [arXiv:1609.09106](https://arxiv.org/abs/1609.09106).
# - Lee et al. 2019, *Set Transformer*, [arXiv:1810.00825](https://arxiv.org/abs/1810.00825).
# - Softmax in floating point: Blanchard, D. J. Higham and N. J. Higham 2021, *Accurately computing
#   the log-sum-exp and softmax functions*,
#   [doi:10.1093/imanum/draa038](https://doi.org/10.1093/imanum/draa038).
# - NumPy's manual,
#   [numpy.einsum](https://numpy.org/doc/stable/reference/generated/numpy.einsum.html).

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
