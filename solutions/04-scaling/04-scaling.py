# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 04 · Why √d_k
#
# You have divided scores by √d_k for two lessons and taken it on trust. Here you find out what
# happens without it, why it is the square root, and why d_k itself is too much. You measure all of
# it, and a few lines of algebra explain what you measure.
#
# | | |
# |---|---|
# | **You will be able to** | derive the variance of q·k and say what it assumes; write softmax's Jacobian and show when it vanishes; measure with entropy how many keys share a reader's attention; say what each of no scale, 1/√d_k and 1/d_k does to weights and to learning |
# | **Minutes** | about 80 |
# | **You need** | lessons 01 to 03: softmax, slope and gradient, Q Kᵀ; NumPy arrays |
# | **Runs on** | CPU, in seconds; needs no network |
# | **Points** | 5, in four exercises |
#
# The picture stays a library's reference desk: a **query** is what a reader asks, a **key** is what
# a book's spine promises, a **value** is what its pages say. Think of a query as a form with d_k
# lines, and of a key as the same form, filled in by the book. A wider form has more lines to agree
# or disagree on. The lesson's sentence is ***the desk hears one book only***. It says what goes
# wrong.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import numpy as np

from attnlab import begin, check, figures


def softmax(scores: np.ndarray) -> np.ndarray:
    """Softmax over keys, the last axis, as in lesson 03: (…, M) scores become weights."""
    powers = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)


begin("04-scaling")

# %% [markdown]
# **Where you are.** The block of lesson 02. This lesson is about the lit box.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("scale")

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Recall
#
# Two questions on earlier lessons. Opening a choice is choosing it.
#
# **1.** You multiply all scores of a reader by 8 before softmax. Which temperature of lesson 01 does
# the same?
#
# <details><summary>A. 8</summary>
#
# Not this one: scores are *divided* by the temperature, so 8 makes them smaller and the weights more
# even.
#
# </details>
# <details><summary>B. 1/8</summary>
#
# Yes. Dividing by 1/8 is multiplying by 8. The reader is colder: the best book takes a larger share.
#
# </details>
# <details><summary>C. None: softmax takes the factor away again</summary>
#
# Not this one: softmax takes away what is *added* to all scores. A factor changes the differences
# between scores, and with them the weights.
#
# </details>
#
# **2.** Q is (5, 64) and K is (7, 64). How many products are added up in one entry of Q Kᵀ?
#
# <details><summary>A. 5</summary>
#
# Not this one: 5 is the number of readers. It counts the rows of Q Kᵀ.
#
# </details>
# <details><summary>B. 35</summary>
#
# Not this one: 5 · 7 = 35 is how many scores there are.
#
# </details>
# <details><summary>C. 64</summary>
#
# Yes. A score is a sum of d_k products, one for each line of the form. Today is about how large such
# a sum becomes.
#
# </details>

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Predict
#
# A reader stands before 20 books. Queries and keys are 64 numbers wide, each drawn at random from a
# bell curve with mean 0 and standard deviation 1. So no book was written for this reader. Scores go
# into softmax **as they are**, with nothing divided. For a typical reader, how large is the largest
# of the 20 weights?
#
# <details><summary>A. About 0.05</summary>
#
# Not this one: 0.05 = 1/20 is an even share. It would mean that all scores are nearly equal. A sum
# of 64 products is not that well behaved.
#
# </details>
# <details><summary>B. About 0.2</summary>
#
# Not this one, but you will see this number: it is what comes out once scores are divided by √64.
#
# </details>
# <details><summary>C. Above 0.9</summary>
#
# Yes. For half of the readers one book out of 20 takes more than 0.9 of the attention, although
# nothing was learned and the numbers are noise. You will measure it.
#
# </details>
#
# Now divide by d_k = 64 instead. For a typical reader, how large is the largest weight?
#
# <details><summary>A. About 0.06</summary>
#
# Yes. That is hardly more than the even share of 0.05: all books get the same, whatever was asked.
# Too much of a cure.
#
# </details>
# <details><summary>B. About 0.2</summary>
#
# Not this one: 0.2 belongs to √64. The two divisors differ by a factor of 8, which is a lot inside
# an exponential.
#
# </details>
# <details><summary>C. Above 0.9, as before</summary>
#
# Not this one: dividing makes the differences between scores smaller, so the best book's share has
# to fall.
#
# </details>

# %% [markdown]
# ## By hand
#
# **One reader, three divisors.** In lesson 02 *cat* scored three books 1, 2 and 6, with d_k = 3. You
# divided by √3. Here are the weights for the same scores undivided, divided by √3, and divided by 3.
# Redo a row on paper: powers of e, their sum, shares.
#
# | divisor | into softmax | powers of e | sum | weights |
# |---|---|---|---|---|
# | none | 1, 2, 6 | 2.718, 7.389, 403.429 | 413.536 | 0.007, 0.018, **0.976** |
# | √3 | 0.577, 1.155, 3.464 | 1.781, 3.173, 31.948 | 36.902 | 0.048, 0.086, **0.866** |
# | 3 | 0.333, 0.667, 2 | 1.396, 1.948, 7.389 | 10.732 | 0.130, 0.181, **0.688** |
#
# The order of the books never changes. What changes is how much the best one takes. At d_k = 3 the
# three rows still resemble each other; the lesson is about what becomes of them as d_k grows.
#
# **How far does a score spread?** Suppose that every line of a form is a yes (+1) or a no (−1),
# tossed with a fair coin, for the reader and for the book. Where they agree the product is +1, where
# they do not it is −1, and both are equally likely. A score is the sum of d_k such products. All
# cases fit on paper:
#
# | d_k | scores of all equally likely cases | mean | mean of the squares |
# |---|---|---|---|
# | 1 | −1, 1 | 0 | (1 + 1) / 2 = **1** |
# | 2 | −2, 0, 0, 2 | 0 | (4 + 0 + 0 + 4) / 4 = **2** |
# | 3 | −3, −1, −1, −1, 1, 1, 1, 3 | 0 | (9 + 6 · 1 + 9) / 8 = **3** |
#
# Fill in d_k = 4 yourself. It has 16 cases. Then compare.

# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
from itertools import product

print("weights:")
for divisor in (1, np.sqrt(3), 3):
    print(f"  divided by {divisor:5.3f}:", softmax(np.array([1.0, 2.0, 6.0]) / divisor).round(3))

print("mean of the squared scores:")
for d_k in (1, 2, 3, 4, 5):
    scores = [sum(products) for products in product((-1, 1), repeat=d_k)]
    print(f"  d_k = {d_k}: {len(scores):2} cases,", sum(s**2 for s in scores) / len(scores))

# %% [markdown]
# The mean of the squares is d_k, each time, and its root is √d_k. You have found the lesson's law by
# counting; *How far scores spread* derives it.

# %% [markdown]
# ## Shape ledger
#
# A size of () is a single number.
#
# | symbol | what it is | in code | axes | size in this lesson |
# |---|---|---|---|---|
# | N, M | number of readers, of books | | | 6 and 6 in the sentence, 50 and 20 on a shelf, `n_pairs` of both in `score_std` |
# | d_k | width of queries and keys | `d_k` | | 2 to 1024 |
# | Q | queries | `Q` | (…, N, d_k) | |
# | K | keys | `K` | (…, M, d_k) | |
# | S = Q Kᵀ | raw scores | `raw` | (…, N, M) | |
# | c | the factor on the scores | `factor` | () | 1, 1/√d_k or 1/d_k |
# | p | one reader's row of weights, softmax(c s) | `p` | (M,) | (20,) on a shelf |
# | J | softmax's Jacobian at p | `softmax_jacobian(p)` | (M, M) | (20, 20) on a shelf |
# | H | entropy of a row, in nats | `entropy(p)` | (), or (…, N) for all rows | between 0 and log M |
#
# N and M have nothing to do with the scale: a score is a sum over d_k lines, however many readers and
# books there are.

# %% [markdown]
# ## See it
#
# Six words, and each is a reader and a book. Their queries and keys are random numbers from a fixed
# seed, each with mean 0 and standard deviation 1, as wide as the title of the panel says. The scores
# are not divided by anything. Look along a row, from the left panel to the right one: how many books
# does a reader hear?

# %% nbgrader={"grade": false, "grade_id": "see-sharpening", "locked": true, "schema_version": 3, "solution": false, "task": false}
tokens = ["the", "desk", "hears", "one", "book", "only"]
rng = np.random.default_rng(1)

unscaled = {}
for d_k in (4, 64, 1024):
    Q, K = rng.standard_normal((6, d_k)), rng.standard_normal((6, d_k))
    unscaled[f"d_k = {d_k}"] = softmax(Q @ K.T)
figures.scaling.weights_in_panels(unscaled, tokens)

# %% [markdown]
# At d_k = 4 every reader hears several books. At 64 no reader gives the best book less than 0.71. At 1024
# all six give one book 1.00, to two decimals. (This seed, 1, is chosen. With seeds 0 to 5 the least sharp
# row gives its best book 0.51 to 0.83 at 64, and 0.64 to 1.00 at 1024.) The numbers in the queries and keys
# are of the same kind in all three panels. There are only more of them.
#
# Find out why, in three steps: how large scores become, what that does to slopes, and how to undo it.

# %% [markdown]
# ## How far scores spread
#
# Three words first. The **variance** of a random number is the mean of its squared distance from its
# own mean. Its square root is the **standard deviation**, which says how far the number typically
# lies from its mean, in the number's own units. Two random numbers are **independent** if knowing
# the one tells you nothing about the other; then the mean of their product is the product of their
# means.
#
# Suppose that all entries of q and k are independent, each with mean 0 and variance 1. Take one line
# of the form first. The mean of q_i k_i is 0 · 0 = 0, and so a score, a sum of such products, has
# mean 0 too. Its variance is then the mean of its square. Multiply the square out:
#
# $$(q \cdot k)^2 = \Big(\sum_{i=1}^{d_k} q_i k_i\Big)^2
# = \sum_{i} q_i^2\, k_i^2 \;+\; \sum_{i \ne j} q_i k_i\, q_j k_j$$
#
# In words: each line's product with itself, plus all products of two different lines. Now take
# means.
#
# - A product of two different lines has four independent factors with mean 0, so its mean is 0. The
#   second sum drops out.
# - The mean of q_i² k_i² is the mean of q_i² times the mean of k_i². Each of them is a variance, 1.
#   So every term of the first sum counts 1, and there are d_k of them.
#
# $$\operatorname{Var}(q \cdot k) = d_k, \qquad \text{standard deviation} = \sqrt{d_k}$$
#
# In words: the *variance* grows with the width, so scores typically grow with its *square root*.
# Lines that agree and lines that disagree cancel each other in part; were all lines of the ±1 form to
# agree, the score would be d_k. Vaswani et al. (2017, section 3.2.1, footnote 4) state this law, with
# the same assumptions.
#
# Now the same without algebra. The cell draws shelves of 20 books and 50 readers each, at three
# widths. Look at where the dashed lines, ±√d_k, cut each histogram.


# %% nbgrader={"grade": false, "grade_id": "see-spreads", "locked": true, "schema_version": 3, "solution": false, "task": false}
def draw_shelves(d_k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Q (20, 50, d_k) and K (20, 20, d_k): 20 shelves with 50 readers and 20 books each."""
    return rng.standard_normal((20, 50, d_k)), rng.standard_normal((20, 20, d_k))


rng = np.random.default_rng(4)
raw_scores = {}
for d_k in (4, 64, 1024):
    Q, K = draw_shelves(d_k, rng)
    raw_scores[d_k] = Q @ K.swapaxes(-1, -2)
figures.scaling.spreads(raw_scores)

# %% [markdown]
# Each histogram is four times as wide as the one above it, as √64 is four times √4. About seven scores in
# ten lie between the dashed lines. Those beyond, on the right, win most softmaxes. So what do readers meet
# at d_k = 64?

# %% nbgrader={"grade": false, "grade_id": "measure-64", "locked": true, "schema_version": 3, "solution": false, "task": false}
raw = raw_scores[64]
ordered = np.sort(raw, axis=-1)  # each reader's scores, the best last
best, second = ordered[..., -1], ordered[..., -2]
print(f"standard deviation of all scores:    {raw.std():.1f}")
print(f"share of scores beyond ±8:           {(abs(raw) > 8).mean():.2f}")
print(f"a typical reader's best score:       {np.median(best):.1f}")
print(f"its lead over the second best:       {np.median(best - second):.1f}")
for divisor in (1, 8, 64):
    largest = np.median(softmax(raw / divisor).max(axis=-1))
    print(f"a typical reader's largest weight:   {largest:.2f} with scores divided by {divisor}")

# %% [markdown]
# The standard deviation is 8, so ±8 is no limit: nearly a third of the scores lie beyond it. What softmax
# sees of a typical reader's best book is its lead over the second best, 2.6, by chance alone, and e to
# that is about 13: thirteen times the weight of the next. ("Typical" stands for the median from here on:
# half of the readers are above it, half below.) The largest weights answer your predictions: C without a
# divisor, A with 64.

# %% [markdown]
# ### Exercise: `score_std`
#
# difficulty ●○○ · 5–8 min · 1 point
#
# Measure the law yourself. Q and K are both (n_pairs, d_k), and row n of Q is scored against row n of K
# alone. Return the **population standard deviation** of these n_pairs raw scores, as a float: the root of
# the mean squared distance from their mean. (A sample's divides the sum of the squares by n_pairs − 1, not
# by n_pairs.) If the shapes of Q and K differ, raise `ValueError`.
#
# Do not go by way of Q Kᵀ. At 4,000 pairs it holds 16 million scores, and you want 4,000 of them.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-score-std", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Multiply the two tables entry by entry and add up what belongs to one pair. Then ask how far these sums
# lie from their mean.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Both tables are (n_pairs, d_k). The scores are (n_pairs,): the sum runs over the last axis. Their
# standard deviation is one number. Take care: NumPy multiplies a (5, 8) by a (1, 8) or a (5, 1) without an
# error, by broadcasting.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. Compare the two shapes; if they differ, raise `ValueError`.
# 2. Contract row by row: in einsum both inputs have the letters of rows and lines, and only the rows
#    stay.
# 3. An array has a method for its standard deviation. Make a Python float of what it returns.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "score_std", "locked": false, "schema_version": 3, "solution": true, "task": false}
def score_std(Q: np.ndarray, K: np.ndarray) -> float:
    """Population standard deviation of raw scores, where each query meets one key.

    Args:
        Q: (n_pairs, d_k), queries.
        K: (n_pairs, d_k), keys; query n meets key n alone.
    Returns:
        The standard deviation of the n_pairs scores.
    Raises:
        ValueError: the shapes of Q and K differ.
    """
    ### BEGIN SOLUTION
    if Q.shape != K.shape:
        raise ValueError(f"Q is {Q.shape} and K is {K.shape}: shapes must agree")
    return float(np.einsum("nk,nk->n", Q, K).std())
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "score_std-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(score_std)

# %% [markdown]
# Your measurement next to the law. The cell draws 20,000 queries and as many keys from the bell curve with
# mean 0 and variance 1, and chance typically shifts the result by less than 1 %.

# %% nbgrader={"grade": false, "grade_id": "use-score-std", "locked": true, "schema_version": 3, "solution": false, "task": false}
rng = np.random.default_rng(4)
for d_k in (2, 8, 64, 512):
    Q, K = rng.standard_normal((2, 20_000, d_k))
    print(f"d_k = {d_k:3}: measured {score_std(Q, K):5.2f}, √d_k = {d_k**0.5:5.2f}")

# %% [markdown]
# ### What was assumed
#
# Mean 0, variance 1, independence. That the numbers come from a bell curve was *not* assumed. The
# cell breaks one assumption at a time, at d_k = 64, and your `score_std` measures what comes of it. Before
# you run it: which rows will still say 8?

# %% nbgrader={"grade": false, "grade_id": "measure-assumptions", "locked": true, "schema_version": 3, "solution": false, "task": false}
rng = np.random.default_rng(4)
shape = (20_000, 64)
normal, other = rng.standard_normal(shape), rng.standard_normal(shape)
evenly, other_evenly = rng.uniform(-(3**0.5), 3**0.5, (2, *shape))  # variance 1
pairs = {
    "bell curve": (normal, other),
    "evenly spread, variance 1": (evenly, other_evenly),
    "variance 4": (2 * normal, 2 * other),
    "mean 1": (normal + 1, other + 1),
    "key = query": (normal, normal),
}
for name, (queries, keys) in pairs.items():
    mean = round(float((queries * keys).sum(axis=-1).mean())) + 0
    std = score_std(queries, keys)
    print(f"{name:26} mean {mean:2}, standard deviation {std:2.0f}")

# %% [markdown]
# Evenly spread numbers say 8 as well: the derivation uses means and variances, not the shape of the curve.
# With variance 4 for queries and keys each product has variance 16, and a score's standard deviation is
# 4 · 8 = 32. With mean 1 the lines tend to agree: the mean score is 64, and the spread grows as well. And
# where a key *equals* its query nothing cancels: the mean score is d_k, not 0.
#
# So the law describes attention *before* training, if W_q and W_k are drawn so that entries of q and k
# have a variance near 1. Nothing holds training to it. Queries and keys may learn to agree, and then
# scores grow like d_k; Yang et al. (2022, definition 4.1 and its footnote) divide by d_k for this reason,
# in a scheme that adapts the rest of the model as well.

# %% [markdown]
# ## Softmax's Jacobian
#
# What do widely spread scores do to learning? A model learns through slopes, and every slope of a score
# goes through softmax's own.
#
# Softmax takes M scores and returns M weights, so it has M · M slopes: how much does weight i change
# when score j is nudged? Written as a table, row i for the weight and column j for the score, they
# are softmax's **Jacobian** J. Three steps find it, and they need no more than shares.
#
# Nudge score j by a small h. Its power $e^{s_j}$ is multiplied by $e^h$, which is about 1 + h.
#
# 1. *The sum* of all powers grows by h times the power of j. Power j is the share p_j of the sum, so
#    the sum is multiplied by 1 + p_j h.
# 2. *Another weight*, i ≠ j, has kept its power and is divided by a larger sum: it becomes
#    p_i / (1 + p_j h), about p_i (1 − p_j h). Its slope is −p_i p_j.
# 3. *Weight j itself* becomes p_j (1 + h) / (1 + p_j h), about p_j (1 + h − p_j h). Its slope is
#    p_j − p_j².
#
# ("About" leaves out terms with h², which vanish against h as h goes to 0.) Both cases in one
# formula, with p a column and pᵀ a row:
#
# $$J_{ij} = \frac{\partial p_i}{\partial s_j} = p_i\,(\mathbb{1}[i = j] - p_j), \qquad
# J = \operatorname{diag}(p) - p\,p^{\top}$$
#
# In words: put the weights on the diagonal of an otherwise empty table, and subtract the table of
# all products p_i p_j. A book gains from its own score and loses from everybody else's. Each column
# adds up to 0, as the weights add up to 1 before and after the nudge.
#
# **By hand.** For the weights (½, ¼, ¼), the products p_i p_j are ¼, ⅛ and ¹⁄₁₆:
#
# $$J = \begin{pmatrix} \tfrac12 & 0 & 0 \\ 0 & \tfrac14 & 0 \\ 0 & 0 & \tfrac14 \end{pmatrix}
# - \begin{pmatrix} \tfrac14 & \tfrac18 & \tfrac18 \\ \tfrac18 & \tfrac1{16} & \tfrac1{16} \\
# \tfrac18 & \tfrac1{16} & \tfrac1{16} \end{pmatrix}
# = \begin{pmatrix} 0.25 & -0.125 & -0.125 \\ -0.125 & 0.1875 & -0.0625 \\
# -0.125 & -0.0625 & 0.1875 \end{pmatrix}$$
#
# In words: diagonal minus products. Does nudging agree? These weights come from the scores
# (log 2, 0, 0). The cell nudges each score up and down by 0.0001 and divides the change of the
# weights by 0.0002. Such a slope is called a **finite difference**.


# %% nbgrader={"grade": false, "grade_id": "see-finite-differences", "locked": true, "schema_version": 3, "solution": false, "task": false}
def slopes_by_nudging(scores: np.ndarray, nudge: float = 1e-4) -> np.ndarray:
    """Finite differences of softmax: (M,) scores to (M, M), weights in rows, scores in columns."""
    columns = []
    for j in range(len(scores)):
        step = np.zeros(len(scores))
        step[j] = nudge
        columns.append((softmax(scores + step) - softmax(scores - step)) / (2 * nudge))
    return np.stack(columns, axis=-1)


print(slopes_by_nudging(np.array([np.log(2), 0.0, 0.0])).round(4))

# %% [markdown]
# It is the table from your pencil.

# %% [markdown]
# ### Exercise: `softmax_jacobian`
#
# difficulty ●●○ · 8–10 min · 2 points
#
# Write the Jacobian for one row of weights p, (M,). The scores are not an input: the weights alone
# decide it. Leave p as it is.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-softmax-jacobian", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Two tables, one minus the other. The first holds the weights on its diagonal and 0 elsewhere. The
# second is the multiplication table of p with itself.
#
# <details><summary>Hint 2: the shapes</summary>
#
# p is (M,), and both tables are (M, M). Take care: NumPy subtracts a (M,) from a (M, M) without an
# error, by broadcasting, and p @ p is a single number.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. NumPy has a function that turns a list of numbers into a table with this diagonal.
# 2. For the table of all products: NumPy calls it the *outer* product. Or use einsum with two
#    different letters, both of which stay. Or let a column (M, 1) meet a row (1, M).
# 3. Subtract the second from the first.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "softmax_jacobian", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax_jacobian(p: np.ndarray) -> np.ndarray:
    """Slopes of softmax at one row of weights.

    Args:
        p: (M,), weights that add up to 1.
    Returns:
        (M, M), entry (i, j) is the slope of weight i when score j is nudged.
    """
    ### BEGIN SOLUTION
    return np.diag(p) - np.einsum("i,j->ij", p, p)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "softmax_jacobian-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(softmax_jacobian)

# %% [markdown]
# ### The Jacobian dies
#
# Let one weight be 1 and the others 0. This is called **one-hot**. Then p_i p_j is 1 in a single
# place, on the diagonal, where diag(p) has its 1 as well. The difference is 0 everywhere. Before the
# row is quite one-hot, the Jacobian is already small: no entry is larger than p (1 − p), with p the
# largest weight.
#
# To give the size of a table one number, square all entries, add up, take the root: its **norm**.
# Now take one reader before the six books of our sentence, at d_k = 64, and look at the Jacobian with
# each of the three factors. In the figure, look for colour. White is a slope of 0.

# %% nbgrader={"grade": false, "grade_id": "see-jacobians", "locked": true, "schema_version": 3, "solution": false, "task": false}
rng = np.random.default_rng(1)
q, K = rng.standard_normal(64), rng.standard_normal((6, 64))

panels = {}
for way, factor in {"÷ d_k": 1 / 64, "÷ √d_k": 1 / 8, "no scale": 1.0}.items():
    p = softmax(factor * (K @ q))
    panels[way] = (p, softmax_jacobian(p))
figures.scaling.jacobians(panels, tokens)

# %% [markdown]
# On the left all books have nearly the same weight, and each answers to its own score. In the middle
# *hears* leads with 0.40, and its slope of 0.24 is close to the steepest there is: p (1 − p) is largest at
# p = ½, where it is ¼. On the right *hears* has 0.99 and no slope is larger than 0.01: this reader is all
# but deaf to nudges. About four in ten such readers are, at this width.
#
# How fast does the Jacobian die? Here are exactly one-hot weights, and then the scores of lesson 02,
# multiplied by larger and larger factors.

# %% nbgrader={"grade": false, "grade_id": "measure-dying", "locked": true, "schema_version": 3, "solution": false, "task": false}
one_hot = np.array([0.0, 0.0, 1.0, 0.0])
print("norm at one-hot weights:", np.linalg.norm(softmax_jacobian(one_hot)))

raw = np.array([1.0, 2.0, 6.0])  # lesson 02's scores
for factor in (0.1, 0.5, 1, 2, 4):
    p = softmax(factor * raw)
    norm = np.linalg.norm(softmax_jacobian(p))
    print(f"scores times {factor:3}: largest weight {p.max():.4f}, norm {norm:.1e}")

# %% [markdown]
# The best score leads by 4. Multiplied by c it leads by 4c, and the runner-up keeps a share of about
# e to the −4c. The slopes shrink in step with that: going from factor 1 to 2 leaves a fifty-seventh of
# them, about e to the −4, and from 2 to 4 about a three-thousandth, e to the −8. **The Jacobian dies exponentially in the
# lead**, and without a scale the typical lead grows as √d_k.

# %% [markdown]
# ## Entropy: how many keys share
#
# The largest weight looks at one book. **Entropy** looks at all of them:
#
# $$H(p) = -\sum_{m=1}^{M} p_m \log p_m$$
#
# In words: multiply each weight by its own logarithm, add up, turn the sign round. Logarithms of
# numbers below 1 are negative, so H is never negative. With the natural logarithm its unit is the
# **nat**.
#
# Two ends are worth knowing by heart. If all M books share alike, each term is −(1/M) log(1/M), and
# there are M of them: H = log M, the largest value there is. If one book has everything, H = 0. In
# between, e to the H reads as *how many books share*: for three books with a third
# each, e to the log 3 is 3.
#
# One thing to watch. The logarithm of 0 is −∞, and 0 · (−∞) is not a number in NumPy. But a weight
# of 0 should count nothing, and the limit says so: p log p goes to 0 as p does.

# %% nbgrader={"grade": false, "grade_id": "see-p-log-p", "locked": true, "schema_version": 3, "solution": false, "task": false}
for share in (0.1, 0.01, 0.001, 0.0001):
    print(f"p = {share:6}: p log p = {share * np.log(share):.4f}")
with np.errstate(all="ignore"):  # NumPy would also print a warning
    print("p = 0:      p log p =", np.float64(0) * np.log(np.float64(0)))

# %% [markdown]
# ### Exercise: `entropy`
#
# difficulty ●●○ · 8–10 min · 1 point
#
# Write the entropy of weights along any axis, in nats. A weight of exactly 0 counts 0, and never
# gives NaN. Leave p as it is.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-entropy", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Give the logarithm something harmless wherever a weight is 0. The factor p in front is 0 there, so
# that the harmless number does not matter.
#
# <details><summary>Hint 2: the shapes</summary>
#
# For p of (2, 5, 4) and `axis=1` the entropy is (2, 4): the axis you sum over is gone. For the last
# axis, the default, it is (2, 5).
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. With `np.where` (lesson 03), make a new array that is p where p is positive, and 1 elsewhere.
# 2. Take its natural logarithm, multiply by p entry by entry.
# 3. Sum along `axis` and change the sign.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "entropy", "locked": false, "schema_version": 3, "solution": true, "task": false}
def entropy(p: np.ndarray, axis: int = -1) -> np.ndarray:
    """How widely weights are shared, in nats.

    Args:
        p: (…), weights that add up to 1 along the axis; some may be 0.
        axis: the axis of the keys.
    Returns:
        The shape of p without that axis; 0 for one-hot weights, log M for M equal ones.
    """
    ### BEGIN SOLUTION
    harmless = np.where(p > 0, p, 1.0)
    return -(p * np.log(harmless)).sum(axis=axis)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "entropy-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(entropy)

# %% [markdown]
# The three rows that you did by hand, and the two ends:

# %% nbgrader={"grade": false, "grade_id": "use-entropy", "locked": true, "schema_version": 3, "solution": false, "task": false}
rows = {
    "all alike": np.ones(3) / 3,
    "divided by 3": softmax(np.array([1.0, 2.0, 6.0]) / 3),
    "divided by √3": softmax(np.array([1.0, 2.0, 6.0]) / 3**0.5),
    "not divided": softmax(np.array([1.0, 2.0, 6.0])),
    "one-hot": np.array([0.0, 0.0, 1.0]),
}
for name, p in rows.items():
    nats = float(entropy(p)) + 0.0  # makes 0.0 of -0.0
    print(f"{name:14} entropy {nats:.3f}, {np.exp(nats):.2f} books share")

# %% [markdown]
# log 3 = 1.099 is the top, as promised. Undivided, hardly more than one book is left.

# %% [markdown]
# ## The factor that keeps variance 1
#
# Multiply every score by c. A score's distance from its mean is multiplied by c, and its square by
# c². So the variance becomes c² d_k, and we want it to be 1, whatever d_k is:
#
# $$c^2\, d_k = 1 \quad\Longrightarrow\quad c = \frac{1}{\sqrt{d_k}}$$
#
# In words: variance is a square, so it takes a square root to undo it. With c = 1 the standard
# deviation is √d_k; with c = 1/d_k it is √d_k / d_k = 1/√d_k, which goes to 0 as the form gets
# wider. In the words of lesson 01, attention runs at a temperature of √d_k.
#
# Why variance 1, and not 2 or ½? There is nothing sacred about it: the readers of *Does it learn?* would find
# their books from each of the three. What counts is that every book starts with some weight, and that this
# is *the same for every width*. Whatever sharpness is useful can be learned from there, by making queries
# or keys longer.
#
# ### Exercise: `best_scale`
#
# difficulty ●○○ · 5 min · 1 point
#
# Return that factor for queries Q, (…, N, d_k), and keys K, (…, M, d_k), as a float. It follows from
# the *shapes*, under the assumption of unit variance: do not measure the numbers. If queries and
# keys differ in width, raise `ValueError`. A good message names both shapes; the check looks at the
# kind of error alone.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-best-scale", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# One number matters: how many products are added up in a score.
#
# <details><summary>Hint 2: the shapes</summary>
#
# For Q of (2, 5, 6) and K of (2, 7, 6) the number is 6, the last size of both. Not 5, not 7, not 2.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. Compare the last sizes of the two shapes; if they differ, raise `ValueError`.
# 2. Return one over the square root of the width. A power of one half is a square root.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "best_scale", "locked": false, "schema_version": 3, "solution": true, "task": false}
def best_scale(Q: np.ndarray, K: np.ndarray) -> float:
    """The factor that gives scores variance 1, if entries of Q and K have mean 0 and variance 1.

    Args:
        Q: (…, N, d_k), queries.
        K: (…, M, d_k), keys.
    Returns:
        The factor, a function of d_k alone.
    Raises:
        ValueError: queries and keys differ in width.
    """
    ### BEGIN SOLUTION
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"Q is {Q.shape} and K is {K.shape}: widths must agree")
    return Q.shape[-1] ** -0.5
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "best_scale-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(best_scale)

# %% [markdown]
# ## One figure
#
# All your parts together. For each width from 2 to 1024 there are 20 shelves with 20 books and 50
# readers each. Their scores go into softmax in three ways: as they are, times your `best_scale`, and
# divided by d_k. Measured are the standard deviation of all scores and, for each of the 1,000
# readers, the entropy, the largest weight and the norm of the Jacobian. Of these three the figure
# shows the **median**.


# %% nbgrader={"grade": false, "grade_id": "define-measures", "locked": true, "schema_version": 3, "solution": false, "task": false}
WIDTHS = [2**power for power in range(1, 11)]


def measure(
    d_k: int, rng: np.random.Generator
) -> dict[str, tuple[float, np.ndarray, np.ndarray, np.ndarray]]:
    """For each way to scale: std of the scores; entropy, largest weight, norm of J, (1000,) each."""
    Q, K = draw_shelves(d_k, rng)
    raw = Q @ K.swapaxes(-1, -2)
    measured = {}
    for way, factor in {"no scale": 1.0, "÷ √d_k": best_scale(Q, K), "÷ d_k": 1 / d_k}.items():
        weights = softmax(factor * raw).reshape(-1, 20)  # one row for each of 1,000 readers
        norms = np.array([np.linalg.norm(softmax_jacobian(p)) for p in weights])
        std = float((factor * raw).std())
        measured[way] = (std, entropy(weights), weights.max(axis=-1), norms)
    return measured


# %% [markdown]
# Grey lines are what equal weights give, and in the first panel the wanted 1. The vertical axes of
# the first and the last panel are logarithmic. Look for the one line that is level in all four.

# %% nbgrader={"grade": false, "grade_id": "see-four-measures", "locked": true, "schema_version": 3, "solution": false, "task": false}
rng = np.random.default_rng(4)
lines: dict[str, list] = {"no scale": [], "÷ √d_k": [], "÷ d_k": []}
for d_k in WIDTHS:
    for way, numbers in measure(d_k, rng).items():
        lines[way].append([np.median(part) for part in numbers])
figures.scaling.four_measures(WIDTHS, lines, books=20)

# %% [markdown]
# - **No scale.** Scores spread as √d_k. The typical entropy falls from 2.5 nats to nearly 0, the largest
#   weight rises from 0.21 to 1, and the norm of the Jacobian falls by four powers of ten. (It rises a
#   little first. It is largest, ½, where two books share everything.)
# - **÷ d_k.** The spread goes to 0, entropy to log 20, the largest weight to 1/20: all books get the
#   same. The Jacobian stays alive, at the 0.22 = √19 / 20 of equal weights. Something else is wrong
#   here, and the next two sections find it.
# - **÷ √d_k.** The spread is 1 at every width. From d_k = 8 on the other three are level, too: entropy
#   2.6 nats, as if e to the 2.6, about 13 of the 20 books, shared alike; largest weight 0.2; norm
#   0.28. At d_k = 2 and 4 scores have the same spread but not quite the same shape.
#
# Now move along these lines yourself. *Width d_k* says how many lines of the forms count. Drag it from 2
# to 1024, or reach it with Tab and use the arrow keys. Above are the scores, with dashed lines one
# standard deviation from 0; below are the 20 weights of one reader, the eleventh. Then stay at 1024 and
# move *reader* to 8.

# %% nbgrader={"grade": false, "grade_id": "touch-saturation", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.live.Saturation(d_k=64, reader=11)

# %% [markdown]
# Without a scale the hill of scores got wider and lower, and twenty bars became one: at 1024 the eleventh
# reader's Jacobian has a norm of 5 · 10⁻¹², and a typical one some 10⁻⁵. Divided by √d_k the hill
# stayed as it was, and no book took more than 0.3 of this reader's attention. Reader 8 is one of a lucky few: two books are nearly
# tied, each with a weight of about a half, and the norm is 0.48, at 1024 and without a scale.

# %% [markdown]
# ### Does it learn?
#
# A learner moves by slopes, and softmax's Jacobian is one factor of them. Sixty readers stand before one
# shelf of 20 books, at d_k = 64. Each of them has to find one book, drawn at random, and as in lesson 01
# the query moves downhill.
#
# Downhill of which error? A model is told how good its *answer* is. So let page m hold a 1 in place m
# and 0 elsewhere: the values are one-hot, V is the unit matrix, and the answer z = p V shows the weights.
# The error e is the squared distance between z and the wanted page v_w. Its slope in the query is a
# product of three parts:
#
# $$\frac{\partial e}{\partial q} = c\, K^{\top} J\, g, \qquad
# g = \frac{\partial e}{\partial p} = 2\, V (z - v_w)$$
#
# In words: g, (M,), says how the error changes with each weight; the Jacobian, which is its own transpose,
# turns it into slopes of the scores; the keys and the factor turn those into slopes of the query.
#
# The factor counts twice: once here, and once more when the moved query makes new scores. So a step moves
# what softmax is given for key k in proportion to c² k·k, and k·k is about d_k. That makes about 1 for
# c = 1/√d_k, at every width; at d_k = 64 it makes about 64 for no scale and 1/64 for 1/d_k. So these two get
# a **mended** step, divided by 64 and multiplied by 64. Then the three ways differ in one thing alone, the
# weights that readers start with.


# %% nbgrader={"grade": false, "grade_id": "define-learning", "locked": true, "schema_version": 3, "solution": false, "task": false}
def draw_desk(d_k: int = 64, seed: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Q (60, d_k), K (20, d_k), and which of the 20 books each reader has to find, (60,)."""
    rng = np.random.default_rng(seed)
    Q, K = rng.standard_normal((60, d_k)), rng.standard_normal((20, d_k))
    return Q, K, rng.integers(20, size=60)


def learn(
    Q: np.ndarray,
    K: np.ndarray,
    wanted: np.ndarray,
    factor: float,
    step: float,
    error: str = "squared",
    steps: int = 300,
) -> tuple[np.ndarray, np.ndarray]:
    """Weight of the wanted book and norm of J, at the start and after each step: (steps + 1, 60)."""
    V = np.eye(20)  # one-hot pages
    target = V[wanted]  # (60, 20), the page that each reader has to find
    history, norms = [], []
    for _ in range(steps + 1):
        weights = softmax(factor * (Q @ K.T))
        J = np.stack([softmax_jacobian(p) for p in weights])  # (60, 20, 20)
        a = (weights * target).sum(axis=-1)  # the weight of the wanted book
        history.append(a)
        norms.append(np.linalg.norm(J, axis=(1, 2)))
        g = 2 * (weights @ V - target) @ V.T if error == "squared" else -target / a[:, None]
        Q = Q - step * factor * (np.einsum("nij,nj->ni", J, g) @ K)
    return np.array(history), np.array(norms)


# %% [markdown]
# *Found* is the share of readers who give their book more than 0.9 in the end. All else is the typical
# reader's, and so are the lines of the figure, on a logarithmic axis. Two more rows exchange one thing in
# the second: which book is wanted, or the error, for −log a, with a the weight of the wanted book.
#
# Commit to a guess before you run it. In which of the first four rows do all readers find their book?
# **A.** In all four. **B.** In all but the first, whose step is not mended. **C.** In the third and fourth.

# %% nbgrader={"grade": false, "grade_id": "measure-learning", "locked": true, "schema_version": 3, "solution": false, "task": false}
Q, K, wanted = draw_desk()
learned = {
    "no scale": learn(Q, K, wanted, 1.0, step=3),
    "no scale, step ÷ 64": learn(Q, K, wanted, 1.0, step=3 / 64),
    "÷ √d_k": learn(Q, K, wanted, 1 / 8, step=3),
    "÷ d_k, step × 64": learn(Q, K, wanted, 1 / 64, step=3 * 64),
}
runner_up = np.argsort(Q @ K.T)[:, -2]  # the book that each reader likes second best at the start
exchanged = {
    "second row, 2nd-best book": learn(Q, K, runner_up, 1.0, step=3 / 64),
    "second row, −log a": learn(Q, K, wanted, 1.0, step=3 / 64, error="-log"),
}
print("                           weight of the wanted book          norm of J")
print("step                         0       1      10     300      0       1     300   found")
for way, (history, norms) in (learned | exchanged).items():
    line = "".join(f"{np.median(history[step]):8.2g}" for step in (0, 1, 10, 300))
    line += "".join(f"{np.median(norms[step]):8.2g}" for step in (0, 1, 300))
    print(f"{way:25}{line}{(history[-1] > 0.9).mean():7.0%}")
figures.scaling.learning({way: history for way, (history, _) in learned.items()})

# %% [markdown]
# The answer is C.
#
# - **No scale.** The Jacobian is not dead at the start: its typical norm is 0.20 (0.07 to 0.31 with seeds 5
#   to 9). One step, 64 times too large, brings it down to 0.001. In the end the typical reader
#   is stuck on a wrong book, and the wanted one has lost nearly all of the little weight that it had. 13 %
#   find theirs.
# - **No scale, step ÷ 64.** The Jacobian lives: its norm is 0.29 after the first step. And still only 22 %
#   find their book in 300 steps. (Seeds 5 to 9: 27 to 38 %, and 12 to 20 % in the first row.) Of other steps
#   the best finds 40 %, and 33 to 55 % with seeds 5 to 34.
# - **÷ √d_k** and **÷ d_k, step × 64.** The typical wanted book starts with a few hundredths, and all
#   readers find theirs.
#
# (The last norm does not say who has found the book: 0.02 is nearly one-hot on the right one, 10⁻¹¹ one-hot
# on a wrong one, and the 0.37 are readers who share their weight among several wrong ones.)
#
# So the step that is too large does harm, and it is not the main thing. What holds the second row back?
# *One column* of the Jacobian. The column of the wanted book is a (1_w − p), with 1_w its one-hot row, and it
# is as small as a is. So the slope of that book's own score, entry w of J g, is a (g_w − p·g), at most 4a
# with this error. Here are the second row's readers, by the weight that their book starts with:

# %% nbgrader={"grade": false, "grade_id": "measure-learning-starts", "locked": true, "schema_version": 3, "solution": false, "task": false}
history, _ = learn(Q, K, wanted, 1.0, step=3 / 64)
for low, high in ((0, 1e-6), (1e-6, 1e-3), (1e-3, 1)):
    these = (history[0] >= low) & (history[0] < high)
    print(
        f"a from {low:5g} to {high:5g}: {(history[-1, these] > 0.9).sum():2} of {these.sum():2} find it"
    )

# %% [markdown]
# The fifth row of the table is the test: same shelf, same readers, same Jacobians at the start, but each
# reader wants the book that had the second-largest weight. 95 % find it (seeds 5 to 9: 88 to 97 %).
#
# Between the second row and the third the scale changed the start alone. It could stand elsewhere: with
# queries an eighth as long, the second row becomes the third. But with 1/√d_k in the formula one step serves
# all three widths below. With 1/d_k and the same step for all three, learning gets slower as the
# form gets wider:

# %% nbgrader={"grade": false, "grade_id": "measure-learning-widths", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("median weight of the wanted book after 30 steps")
for d_k in (16, 64, 1024):
    root, _ = learn(*draw_desk(d_k), d_k**-0.5, step=3, steps=30)
    flat, _ = learn(*draw_desk(d_k), 1 / d_k, step=3 * 64, steps=30)
    print(f"d_k = {d_k:4}:  ÷ √d_k {np.median(root[-1]):.2f}", end="")
    print(f"   ÷ d_k, step × 64 {np.median(flat[-1]):.2f}")

# %% [markdown]
# Times 1/√d_k, the same step works at all three widths. The step that suited 1/d_k at d_k = 64 has
# hardly begun at 1024.
#
# There is another way out: the last row of the table. It has no scale and the same start, its error is
# −log a, and all sixty find their book. Here is why, for one reader who has put 0.998 on the wrong book:

# %% nbgrader={"grade": false, "grade_id": "two-errors", "locked": true, "schema_version": 3, "solution": false, "task": false}
p = np.array([0.001, 0.998, 0.001])
target = np.array([1.0, 0.0, 0.0])
for error, g in {"squared": 2 * (p - target), "-log a": -target / p}.items():
    print(f"{error:8} g {g.round(3) + 0.0},  slopes of the scores, J g: {softmax_jacobian(p) @ g}")

# %% [markdown]
# The slope of −log a is −1/a for the wanted book and 0 for the others, so J g is −1/a times that book's
# column, and **1/a cancels exactly its a**: J g is p − 1_w, about 1 in size where the reader is most wrong.
# The squared error's g has no entry above 2. It cancels nothing, and no entry of J g reaches 0.01.
#
# So a book with next to no weight gets next to no slope, unless the error's own makes up for its a, as −log
# of *that same softmax* does. Such a pair stands at the end of a language model (lesson 06). Attention's
# softmax sits in the middle: its g comes from the values and the layers after it, and no 1/a is built into
# that. There it helps to start with some weight on every book.

# %% [markdown]
# ## Break it on purpose
#
# Two mistakes that run without an error. The first divides by the variance instead of by its root.


# %% nbgrader={"grade": false, "grade_id": "break-over-flatten", "locked": true, "schema_version": 3, "solution": false, "task": false}
def one_over_width(Q: np.ndarray, K: np.ndarray) -> float:
    if Q.shape[-1] == K.shape[-1]:
        return 1 / K.shape[-1]
    raise ValueError(f"widths of {Q.shape} and {K.shape} differ")


check(one_over_width, name="best_scale")

# %% [markdown]
# The symptom: take two readers at the same shelf. Which share of their attention do they place
# differently? (Add up the differences of their weights, without signs, and halve the sum: 0 for equal
# rows, 1 for readers who have no book in common.)

# %% nbgrader={"grade": false, "grade_id": "break-over-flatten-measured", "locked": true, "schema_version": 3, "solution": false, "task": false}
rng = np.random.default_rng(4)
for d_k in (4, 64, 1024):
    Q, K = draw_shelves(d_k, rng)
    raw = Q @ K.swapaxes(-1, -2)
    line = f"d_k = {d_k:4}:"
    for way, factor in {"no scale": 1.0, "÷ √d_k": d_k**-0.5, "÷ d_k": 1 / d_k}.items():
        weights = softmax(factor * raw)
        differ = abs(weights[:, :25] - weights[:, 25:]).sum(axis=-1) / 2  # reader n and n + 25
        line += f"   {way} {differ.mean():.2f}"
    print(line)

# %% [markdown]
# Divided by d_k = 1024, two readers differ in 2 % of their attention. Whatever they ask, the desk
# answers with almost the plain mean of all pages: **the query hardly matters**. Divided by √d_k they
# differ in about half, at each of the three widths. Without a scale they differ in 93 % and more from
# d_k = 64 on.
#
# The second mistake is in the Jacobian, and it is one of NumPy's favourites: a list is subtracted from a
# table, and broadcasting makes it fit.


# %% nbgrader={"grade": false, "grade_id": "break-broadcast", "locked": true, "schema_version": 3, "solution": false, "task": false}
def row_not_table(p: np.ndarray) -> np.ndarray:
    diagonal = np.diag(p)
    return diagonal - p


check(row_not_table, name="softmax_jacobian")

# %% nbgrader={"grade": false, "grade_id": "break-broadcast-symptom", "locked": true, "schema_version": 3, "solution": false, "task": false}
p = np.array([0.5, 0.25, 0.25])
print("columns of the right one add up to", slopes_by_nudging(np.log(p)).sum(axis=0).round(4) + 0.0)
print("columns of this one add up to     ", row_not_table(p).sum(axis=0))

# %% [markdown]
# The symptom: columns that do not add up to 0. By this table, raising a score takes the same from
# every other book, whether it had much to lose or nothing, and attention leaks away. The shape is
# right and nothing crashed; one look at the sums would have found it.

# %% [markdown]
# ## Cost
#
# **Count.** On the scores, the scale costs N · M multiplications, one part in d_k of Q Kᵀ; on the
# queries, (c · Q) Kᵀ, it costs N · d_k and gives the same. And the Jacobian? You wrote down M² slopes for
# one reader, N · M² for all of them: 134,217,728 numbers at N = M = 512, 1 GiB in float64. PyTorch
# does not (lesson 05). What learning needs is J g, with the g of *Does it learn?*:
#
# $$J g = p \odot g - p\,(p \cdot g) = p \odot (g - p \cdot g)$$
#
# In words (⊙ multiplies entry by entry): subtract the weighted average of g from every entry, and
# multiply by the weights. That takes 2 M multiplications in place of M² for the table and M² more
# for its product with g.
#
# **Measure.** Times are your machine's; look at the ratios.

# %% nbgrader={"grade": false, "grade_id": "cost-measure", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from collections.abc import Callable
from time import perf_counter


def microseconds(function: Callable[[], object]) -> float:
    """Shortest of many runs within a tenth of a second."""
    taken: list[float] = []
    begun = perf_counter()
    while len(taken) < 5 or perf_counter() - begun < 0.1:
        start = perf_counter()
        function()
        taken.append(1e6 * (perf_counter() - start))
    return min(taken)


rng = np.random.default_rng(4)
print("   M    table, then product   without the table   ratio")
for m in (64, 256, 1024):
    p, g = softmax(rng.standard_normal(m)), rng.standard_normal(m)
    table = microseconds(lambda: softmax_jacobian(p) @ g)
    direct = microseconds(lambda: p * (g - p @ g))
    print(f"{m:4} {table:18.1f} µs {direct:16.1f} µs {table / direct:7.0f}")

# %% nbgrader={"grade": false, "grade_id": "cost-same-result", "locked": true, "schema_version": 3, "solution": false, "task": false}
p, g = softmax(rng.standard_normal(1024)), rng.standard_normal(1024)
print("same J g:", np.allclose(softmax_jacobian(p) @ g, p * (g - p @ g), rtol=0, atol=1e-12))

# %% [markdown]
# The ratio that you counted is M. The clock's is another: each call of NumPy has a fixed price, which counts
# most where M is small, and a large table has to be written and read again, which no count of
# multiplications sees.

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Check yourself
#
# **1.** Why √d_k and not d_k?
#
# <details><summary>A. Because d_k would be slower to divide by</summary>
#
# Not this one: it is one number either way, and dividing by it costs the same.
#
# </details>
# <details><summary>B. Because the variance of a score is d_k, so its standard deviation is √d_k</summary>
#
# Yes. Products of different lines cancel in part, so typical scores grow as the square root of the
# number of lines. Dividing by that keeps them the same size.
#
# </details>
# <details><summary>C. Because a score is at most √d_k</summary>
#
# Not this one: nothing bounds it there. About one score in three lies beyond ±√d_k, and a reader's
# best of 20 is nearly twice as large.
#
# </details>
#
# **2.** Every entry of Q and K has mean 0 and variance 9 instead of 1, independently. What is the
# standard deviation of a raw score at d_k = 16?
#
# <details><summary>A. 4</summary>
#
# Not this one: √16 = 4 is right for variance 1.
#
# </details>
# <details><summary>B. 12</summary>
#
# Not this one: that would be right if only the queries had variance 9. Here a key's entry is three
# times as large as well.
#
# </details>
# <details><summary>C. 36</summary>
#
# Yes. Each product has variance 9 · 9 = 81, 16 of them have 1296, and its root is 36.
#
# </details>
#
# **3.** Weights are one-hot. What is softmax's Jacobian?
#
# <details><summary>A. All 0</summary>
#
# Yes. diag(p) and p pᵀ are then the same table. A slope g that comes back to the weights, however large,
# is multiplied by 0.
#
# </details>
# <details><summary>B. The unit matrix</summary>
#
# Not this one: then each weight would follow its own score. But a weight of 1 cannot grow, and the slope
# of one of 0 is 0.
#
# </details>
# <details><summary>C. 1 in one place on the diagonal, 0 elsewhere</summary>
#
# Not this one: that is diag(p). The product p pᵀ has its 1 in the same place and takes it away.
#
# </details>
#
# **4.** A reader's row of weights over 20 books has an entropy of log 5 nats. What do you know?
#
# <details><summary>A. Exactly five books have a weight, 0.2 each</summary>
#
# Not this one: that row has this entropy, but so have others, with one large weight and many small
# ones.
#
# </details>
# <details><summary>B. It is shared as widely as by five books alike</summary>
#
# Yes. e to the entropy is 5. It is a summary: many rows have the same one.
#
# </details>
# <details><summary>C. The largest weight is 1/5</summary>
#
# Not this one: it is at least 1/5, and larger unless the five share alike.
#
# </details>
#
# **5.** Dividing by d_k leaves softmax's Jacobian alive. What is wrong with it, then?
#
# <details><summary>A. The weights add up to less than 1</summary>
#
# Not this one: softmax makes them add up to 1, whatever it is given.
#
# </details>
# <details><summary>B. Wide scores become nearly equal, so who asks hardly matters</summary>
#
# Yes. Their standard deviation is 1/√d_k and goes to 0, and weights go to 1/M each. And with the same step,
# learning gets slower from width 16 to 64 to 1024.
#
# </details>
# <details><summary>C. The order of the books changes</summary>
#
# Not this one: a positive factor never changes which score is larger.
#
# </details>

# %% [markdown]
# ## Take away
#
# 1. A score is a sum of d_k products. With independent entries of mean 0 and variance 1, its variance
#    is d_k and its standard deviation √d_k. ([How far scores spread](#How-far-scores-spread))
# 2. Softmax's Jacobian is diag(p) − p pᵀ. It is 0 at one-hot weights, and a book of weight a has the column
#    a (1_w − p), which is as small as a. A squared error hardly moves a book without weight. −log of the
#    weight itself does: its 1/a cancels the a.
#    ([Softmax's Jacobian](#Softmax's-Jacobian), [Does it learn?](#Does-it-learn?))
# 3. Entropy says how many keys share: 0 for one, log M for all alike.
#    ([Entropy](#Entropy:-how-many-keys-share))
# 4. Without a scale, wide attention is nearly one-hot before it has learned anything; with 1/d_k it is
#    nearly flat; with 1/√d_k all four measures stay level as it gets wider. ([One figure](#One-figure))
# 5. The factor follows from the width alone and keeps the start the same at every width. Training may
#    move away from it. ([The factor that keeps variance 1](#The-factor-that-keeps-variance-1))
#
# **Words of this lesson**: [scale](../glossary.md#scale),
# [softmax](../glossary.md#softmax), [temperature](../glossary.md#temperature),
# [gradient](../glossary.md#gradient); new: variance, standard deviation, independent
# ([here](#How-far-scores-spread)), Jacobian, finite difference ([here](#Softmax's-Jacobian)), one-hot,
# norm ([here](#The-Jacobian-dies)), entropy, nat ([here](#Entropy:-how-many-keys-share)).
#
# **To take into lesson 05.** You worked out softmax's slopes with a pencil, and the slope of the query
# as a product of three tables. A model has many such steps, one after another. Who multiplies all
# these tables, and does anybody ever write them down?

# %% [markdown]
# ### Sources
#
# - A. Vaswani et al. (2017), *Attention Is All You Need*, section 3.2.1 and footnote 4: variance d_k,
#   and softmax with small gradients. [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# - S. J. D. Prince (2023), *Understanding Deep Learning*, section 12.3: scaled dot products.
#   [udlbook.github.io](https://udlbook.github.io/udlbook/)
# - C. E. Shannon (1948), *A Mathematical Theory of Communication*, section 6: entropy, and why it is
#   this sum. [doi:10.1002/j.1538-7305.1948.tb01338.x](https://doi.org/10.1002/j.1538-7305.1948.tb01338.x)
# - X. Glorot and Y. Bengio (2010), *Understanding the difficulty of training deep feedforward neural
#   networks*, section 4.2: keeping variances the same from layer to layer at the start.
#   [PMLR 9:249–256](https://proceedings.mlr.press/v9/glorot10a.html)
# - G. Yang et al. (2022), *Tensor Programs V*, definition 4.1 and footnote 8: a factor of 1/d, as queries
#   and keys correlate in training. [arXiv:2203.03466](https://arxiv.org/abs/2203.03466)

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
