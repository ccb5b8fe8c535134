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
# You have divided scores by $\sqrt{d_k}$ for two lessons. Here you find out what happens without it, why it is
# the square root, and why $d_k$ itself is too much.
#
# | | |
# |---|---|
# | **You will be able to** | derive the variance of q·k and say what it assumes; write softmax's Jacobian and show when it vanishes; measure with entropy how many keys share a reader's attention; say what no scale, $1/\sqrt{d_k}$ and $1/d_k$ each do to weights and to learning |
# | **Minutes** | about 90 |
# | **You need** | lessons 01 to 03: softmax, slope and gradient, Q Kᵀ; NumPy arrays |
# | **Runs on** | CPU, in seconds; needs no network |
# | **You may stop** | before *Does it learn?* |
# | **Points** | 7, in five exercises |
#
# At our reference desk, think of a query as a form with $d_k$ lines. A key is the same form, filled in by
# the book. A wider form has more lines to agree or disagree on. The lesson's sentence is ***the desk
# hears one book only***, and it says what goes wrong.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import numpy as np

from attnlab import begin, check, figures, quiz  # is it missing? open it by: attnlab lab


def softmax(scores: np.ndarray) -> np.ndarray:
    """Softmax over keys, the last axis, as in lesson 03: (…, M) scores become weights."""
    powers = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)


begin("04-scaling")

# %% [markdown]
# A query scores six books. Each product is +1 or −1, as a coin falls, and a score is the sum of d of them. (Of 1,001
# such draws you see the one that is nearest to all of them, in spread and in the largest share.)

# %% nbgrader={"grade": false, "grade_id": "opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.opening()

# %% [markdown]
# **Where you are.** The block of lesson 02. This lesson is about the lit box.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("scale")

# %% [markdown]
# ## Recall

# %% nbgrader={"grade": false, "grade_id": "quiz-recall", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("recall")

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Predict

# %% nbgrader={"grade": false, "grade_id": "quiz-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("predict")

# %% [markdown]
# ## By hand
#
# **How far does a score spread?** Suppose that every line of a form is a yes (+1) or a no (−1), tossed
# with a fair coin, for the reader and for the book. Where the two agree, the product is +1, and where they do
# not, it is −1. A score is the sum of $d_k$ such products. You can write all cases on paper:
#
# | $d_k$ | scores of all equally likely cases | mean | mean of the squares |
# |---|---|---|---|
# | 1 | −1, 1 | 0 | (1 + 1) / 2 = **1** |
# | 2 | −2, 0, 0, 2 | 0 | (4 + 0 + 0 + 4) / 4 = **2** |
# | 3 | −3, −1, −1, −1, 1, 1, 1, 3 | 0 | (9 + 6 · 1 + 9) / 8 = **3** |
#
# Fill in $d_k$ = 4 yourself, with its 16 cases.
#
# **What does a divisor do?** In lesson 02 *cat* scored three books 1, 2 and 6. You divided by √3 and
# got the weights 0.048, 0.086 and 0.866. Now compute the weights for the same scores without a divisor, and
# divided by 3. The powers of e that you need are 2.718, 7.389 and 403.429, then 1.396, 1.948 and 7.389.
#
# The cell does both tasks:

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
# The mean of the squares is $d_k$, each time, and its root is $\sqrt{d_k}$: you have found the lesson's law.

# %% [markdown]
# ## How far scores spread
#
# You need three words. The **variance** of a random number is the mean of its squared distance from its
# own mean. Its root is the **standard deviation**, which says how far the number typically lies from its
# mean. Two random numbers are **independent** if knowing one tells you nothing about the
# other; then the mean of their product is the product of their means.
#
# Suppose that all entries of q and k are independent, each with mean 0 and variance 1. The mean of
# $q_i$ $k_i$ is 0 · 0 = 0, so a score, which is a sum of such products, has mean 0 too. Its variance is then
# the mean of its square. Multiply the square out:
#
# $$(q \cdot k)^2 = \Big(\sum_{i=1}^{d_k} q_i k_i\Big)^2
# = \sum_{i} q_i^2\, k_i^2 \;+\; \sum_{i \ne j} q_i k_i\, q_j k_j$$
#
# Now take means.
#
# - In the second sum, each product has four independent factors with mean 0, so its mean is 0.
# - In the first sum, the mean of q_i² k_i² is the mean of q_i² times the mean of k_i². Each of these
#   means is a variance, 1. There are $d_k$ such terms.
#
# $$\operatorname{Var}(q \cdot k) = d_k, \qquad \text{standard deviation} = \sqrt{d_k}$$
#
# Lines that agree and lines that disagree partly cancel each other, so scores grow only with the *square
# root* of the width. Vaswani et al. (2017, section 3.2.1, footnote 4) state this law.
#
# The cell draws 20 shelves of 20 books, each with 50 readers, at three widths. The dark bars lie within ±$\sqrt{d_k}$.


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
# On the left each histogram is four times as wide as the one above it, as √64 is four times √4. About seven scores in
# ten are dark. What does that mean for the readers at $d_k$ = 64?

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
# Nearly a third of the scores lie beyond ±8. ("Typical" means the median from here on.)
# The typical reader's best book leads the second best by 2.6, by chance alone. So it gets about thirteen times the
# weight, e to the 2.6. (Prediction: C.)

# %% [markdown]
# ### Exercise: `score_std`
#
# difficulty ●○○ · 5–8 min · 1 point
#
# Measure the law yourself. Q and K are both (n_pairs, $d_k$), and you score row n of Q against row n of K
# only. Return the **population standard deviation** of these n_pairs raw scores, as a float: the root of
# the mean squared distance from their mean. If the shapes of Q and K differ, raise `ValueError`.
#
# Do not compute Q Kᵀ. At 4,000 pairs it holds 16 million scores in memory, and you want 4,000 of them.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-score-std", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Multiply the two tables entry by entry and add up what belongs to one pair. Einsum does both. An array
# has a method for its standard deviation.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Both tables are (n_pairs, $d_k$) and the scores are (n_pairs,). Compare the shapes yourself: NumPy
# multiplies a (5, 8) by a (1, 8) or a (5, 1) without an error, by broadcasting.
#
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
# Compare your measurement with the law, for 20,000 queries and keys. Chance typically changes the
# result by less than 1 %.

# %% nbgrader={"grade": false, "grade_id": "use-score-std", "locked": true, "schema_version": 3, "solution": false, "task": false}
rng = np.random.default_rng(4)
for d_k in (2, 8, 64, 512):
    Q, K = rng.standard_normal((2, 20_000, d_k))
    print(f"d_k = {d_k:3}: measured {score_std(Q, K):5.2f}, √d_k = {d_k**0.5:5.2f}")

# %% [markdown]
# ### What was assumed
#
# You assumed mean 0, variance 1 and independence, but *not* a bell curve. The cell breaks one
# assumption at a time, at $d_k$ = 64. Before you run it: which rows will still say 8?

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
# With variance 4 each product has variance 16, so the standard deviation is 4 · 8 = 32. With mean 1 the
# lines tend to agree, and so the mean score is 64. It is 64 again where a key *equals* its query, because
# nothing cancels.
#
# So the law describes attention *before* training, if entries of q and k start with a variance near 1. PyTorch's
# `nn.Linear` makes smaller ones, of variance ⅓ if tokens have 1. Without a **scale**, a typical reader's largest
# weight is then 0.50 at $d_k$ = 64, and above 0.9 at 1024. Queries and keys may learn to agree, and then scores grow
# like $d_k$. For this reason Yang et al. (2022, definition 4.1 and its footnote) divide by $d_k$, in a scheme that
# adapts the rest of the model as well.

# %% [markdown]
# ## Softmax's Jacobian
#
# A model learns through slopes, and the slope of every score goes through softmax. Softmax takes M
# scores and returns M weights, so it has M · M slopes: how much does weight i change when you nudge score
# j? The table of these slopes, with weights in rows and scores in columns, is softmax's **Jacobian** J.
# You find it in three steps.
#
# Nudge score j by a small h. Its power $e^{s_j}$ is multiplied by $e^h$, which is about 1 + h.
#
# 1. *The sum* of all powers: power j is the share $p_j$ of it, so the sum is multiplied by 1 + $p_j$ h.
# 2. *Another weight*, i ≠ j, has kept its power but is divided by a larger sum. It becomes
#    $p_i$ / (1 + $p_j$ h), about $p_i$ (1 − $p_j$ h). Its slope is −$p_i$ $p_j$.
# 3. *Weight j itself* becomes $p_j$ (1 + h) / (1 + $p_j$ h), about $p_j$ (1 + h − $p_j$ h). Its slope is
#    $p_j$ − p_j².
#
# ("About" leaves out terms with h².) One formula covers both cases, with p as a column and pᵀ as a row:
#
# $$J_{ij} = \frac{\partial p_i}{\partial s_j} = p_i\,(\mathbb{1}[i = j] - p_j), \qquad
# J = \operatorname{diag}(p) - p\,p^{\top}$$
#
# A book gains weight by its own score and loses weight by every other book's. Each column adds up to 0,
# because the weights add up to 1 before and after the nudge.
#
# **By hand.** For the weights (½, ¼, ¼), the products $p_i$ $p_j$ are ¼, ⅛ and ¹⁄₁₆:
#
# $$J = \begin{pmatrix} \tfrac12 & 0 & 0 \\ 0 & \tfrac14 & 0 \\ 0 & 0 & \tfrac14 \end{pmatrix}
# - \begin{pmatrix} \tfrac14 & \tfrac18 & \tfrac18 \\ \tfrac18 & \tfrac1{16} & \tfrac1{16} \\
# \tfrac18 & \tfrac1{16} & \tfrac1{16} \end{pmatrix}
# = \begin{pmatrix} 0.25 & -0.125 & -0.125 \\ -0.125 & 0.1875 & -0.0625 \\
# -0.125 & -0.0625 & 0.1875 \end{pmatrix}$$
#
# These weights come from the scores ($\log 2$, 0, 0). The cell checks the table: it nudges each score up
# and down by 0.0001 and divides the change of the weights by 0.0002. Such a slope is called a **finite
# difference**.


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
# ### Exercise: `softmax_jacobian`
#
# difficulty ●●○ · 8–10 min · 2 points
#
# Write the Jacobian for one row of weights p, (M,). You do not need the scores: the weights alone
# decide it. Leave p as it is.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-softmax-jacobian", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Subtract one table from another. The first holds the weights on its diagonal and 0 elsewhere. The
# second is the multiplication table of p with itself, which NumPy calls the *outer* product.
#
# <details><summary>Hint 2: the shapes</summary>
#
# p is (M,), and both tables are (M, M). Take care: NumPy subtracts a (M,) from a (M, M) without an
# error, by broadcasting, and p @ p is a single number.
#
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
# Let one weight be 1 and the others 0: the row is **one-hot**. Then p pᵀ has a single 1, on the
# diagonal, where diag(p) has its 1 as well, and the difference is 0 everywhere. The Jacobian is already
# small when the row is nearly one-hot: no entry is larger than p (1 − p), with p the largest weight.
#
# Here is one reader of six books at $d_k$ = 64, with each of the three factors. The bars are its weights.
# Look for colour below them: grey is a slope of 0.

# %% nbgrader={"grade": false, "grade_id": "see-jacobians", "locked": true, "schema_version": 3, "solution": false, "task": false}
rng = np.random.default_rng(1)
q, K = rng.standard_normal(64), rng.standard_normal((6, 64))

panels = {}
for way, factor in {"÷ d_k": 1 / 64, "÷ √d_k": 1 / 8, "no scale": 1.0}.items():
    p = softmax(factor * (K @ q))
    panels[way] = (p, softmax_jacobian(p))
figures.scaling.jacobians(panels, ["the", "desk", "hears", "one", "book", "only"])

# %% [markdown]
# On the left all books have nearly the same weight. In the middle *hears* leads with 0.40, and its slope
# of 0.24 is close to the steepest possible one, ¼. On the right *hears* has 0.99 and no slope is larger than
# 0.01: this reader hardly notices a nudge. At this width, that is true of about four in ten such readers.

# %% [markdown]
# ## Entropy: how many keys share
#
# The largest weight tells you about one book. **Entropy** tells you about all of them:
#
# $$H(p) = -\sum_{m=1}^{M} p_m \log p_m$$
#
# With the natural logarithm its unit is the **nat**.
#
# If all M books have equal shares, H = $\log M$, the largest possible value. If one book has everything, H = 0.
# In between, e to the H says *how many books share*: for three books with a third each, e to the $\log 3$
# is 3.
#
# There is one trap. The logarithm of 0 is −∞, and NumPy's 0 · (−∞) is NaN. But a weight of 0 should
# count as 0, because $p \log p$ goes to 0 when p does.

# %% [markdown]
# ### Exercise: `entropy`
#
# difficulty ●●○ · 8–10 min · 1 point
#
# Write the entropy of weights along any axis, in nats. A weight of exactly 0 counts as 0, and never
# gives NaN. Leave p as it is.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-entropy", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Give the logarithm something harmless wherever a weight is 0; `np.where` (lesson 03) makes such an
# array. The factor p in front is 0 there, so the harmless number does not matter.
#
# <details><summary>Hint 2: the shapes</summary>
#
# For p of (2, 5, 4) and `axis=1` the entropy is (2, 4): the axis that you sum over is gone. For the last
# axis, the default, it is (2, 5).
#
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
# ## The factor that keeps variance 1
#
# Multiply every score by c. Its variance is then c² $d_k$, and you want this to be 1, whatever $d_k$ is:
#
# $$c^2\, d_k = 1 \quad\Longrightarrow\quad c = \frac{1}{\sqrt{d_k}}$$
#
# With c = $1/d_k$ the standard deviation is $\sqrt{d_k}$ / $d_k$ = $1/\sqrt{d_k}$, which goes to 0 as the form gets wider.
#
# Variance 1 is nothing special: the readers of *Does it learn?* would also find their books with a variance of 2 or
# ½. What counts is that every book starts with some weight, and that this is *the same for every
# width*.
#
# ### Exercise: `best_scale`
#
# difficulty ●○○ · 5 min · 1 point
#
# Return that factor for queries Q, (…, N, $d_k$), and keys K, (…, M, $d_k$), as a float. It follows from
# the *shapes*, under the assumption of unit variance: do not measure the numbers. If queries and
# keys differ in width, raise `ValueError`.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-best-scale", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# One number matters: how many products are added up in a score.
#
# <details><summary>Hint 2: the shapes</summary>
#
# For Q of (2, 5, 6) and K of (2, 7, 6) the number is 6, the last size of both. Not 5, not 7, not 2.
#
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
# Now put your parts together, with 1,000 readers for each width. Their scores go into softmax as they
# are, times your `best_scale`, and divided by $d_k$. You measure the standard deviation of all scores and each reader's
# entropy, largest weight and **norm** of the Jacobian: the root of the sum of its squared entries. The figure shows
# the medians.

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
# Colours and strokes are the same in all four panels. Look for the one line that is level in each.

# %% nbgrader={"grade": false, "grade_id": "see-four-measures", "locked": true, "schema_version": 3, "solution": false, "task": false}
rng = np.random.default_rng(4)
lines: dict[str, list] = {"no scale": [], "÷ √d_k": [], "÷ d_k": []}
for d_k in WIDTHS:
    for way, numbers in measure(d_k, rng).items():
        lines[way].append([np.median(part) for part in numbers])
figures.scaling.four_measures(WIDTHS, lines, books=20)

# %% [markdown]
# - **No scale.** The scores spread as $\sqrt{d_k}$. The typical entropy falls from 2.5 nats to nearly 0, the
#   largest weight rises from 0.21 to 1, and the norm of the Jacobian falls by four powers of ten.
# - **÷ $d_k$.** The spread goes to 0, the entropy to $\log 20$, the largest weight to 1/20: all books get the
#   same. The Jacobian stays alive, at the 0.22 = √19 / 20 of equal weights.
# - **÷ $\sqrt{d_k}$.** The spread is 1 at every width. From $d_k$ = 8 on the other three are level, too: entropy
#   2.6 nats, as if about 13 of the 20 books had equal shares; largest weight 0.2; norm 0.28.
#
# Now move along these lines yourself: drag *width $d_k$* from 2 to 1024, or use Tab and the arrow keys.
# On the left are the scores. Divided, they keep their places, and only the ruler under them is another;
# but softmax reads the ruler. On the right are the 20 weights of one reader, whose Jacobian stands under
# *Numbers*. Then move *reader* to 8.

# %% nbgrader={"grade": false, "grade_id": "touch-saturation", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.live.Saturation(d_k=256, reader=11)

# %% [markdown]
# Without a scale the hill got wider, the first book's lead grew, and twenty bars became one: at 1024 the eleventh
# reader's Jacobian has a norm of 5 · 10⁻¹², and a typical one some 10⁻⁵. Divided by $\sqrt{d_k}$ the scores
# keep a spread of 1. Without a scale, reader 8 is one of a lucky few: two books
# are nearly tied, and the norm is 0.48.

# %% [markdown]
# ### Does it learn?
# Sixty readers stand before one shelf of 20 books, at $d_k$ = 64. Each has to find one book, drawn at
# random. As in lesson 01, the query moves by a fixed number times its slope, downhill: **plain descent**. A
# model is told how good its *answer* is. So let page m hold a 1 in place m
# and 0 elsewhere: V is the unit matrix, and the answer z = p V shows the weights. The error e is the
# squared distance between z and the wanted page $v_w$. Its slope in the query is a product of three parts:
#
# $$\frac{\partial e}{\partial q} = c\, K^{\top} J\, g, \qquad
# g = \frac{\partial e}{\partial p} = 2\, V (z - v_w)$$
#
# Here g, (M,), says how the error changes with each weight. The Jacobian turns g into slopes of the
# scores, and the keys and the factor turn those into slopes of the query.

# %% [markdown]
# ### Exercise: `slope_in_query`
#
# difficulty ●●○ · 3–5 min · 2 points
#
# Write this slope, (d_k,), for one reader, from K, J, g and the factor c. The readers below learn by your line.
# If sizes do not fit, raise `ValueError`. Leave what you are given as it is.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-slope-in-query", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# It is the product above. A product of matrices, `@`, raises `ValueError` by itself where sizes do not fit.
#
# <details><summary>Hint 2: the shapes</summary>
#
# J g is (M,), one slope for each score. Kᵀ is (d_k, M), and makes (d_k,) of it.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "slope_in_query", "locked": false, "schema_version": 3, "solution": true, "task": false}
def slope_in_query(K: np.ndarray, J: np.ndarray, g: np.ndarray, factor: float) -> np.ndarray:
    """Slope of the error in one query.

    Args:
        K: (M, d_k), keys.
        J: (M, M), softmax's Jacobian at the weights.
        g: (M,), slopes of the error in each weight.
        factor: what scores were multiplied by.
    Returns:
        (d_k,), the slope of the error in each entry of the query.
    Raises:
        ValueError: the sizes do not fit.
    """
    ### BEGIN SOLUTION
    return factor * K.T @ J @ g
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "slope_in_query-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(slope_in_query)

# %% [markdown]
# The factor counts twice: here, and again when the moved query makes new scores. So a step of plain descent moves the
# score in proportion to c² $d_k$. That is 1 for $1/\sqrt{d_k}$, but at $d_k$ = 64 it is 64 for no scale and 1/64 for
# $1/d_k$. These two get a **mended** step: divided by 64 for no scale, multiplied by 64 for $1/d_k$. Then the three
# factors differ in one thing alone, the weights that readers start with.


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
        slope = np.stack([slope_in_query(K, J[n], g[n], factor) for n in range(len(Q))])
        Q = Q - step * slope
    return np.array(history), np.array(norms)


# %% [markdown]
# *Found* is the share of readers who give their book more than 0.9 in the end. The other numbers are
# medians.
#
# Choose before you run it. In which rows do all readers find their book?
# **A.** In all four. **B.** In all but the first, whose step is not mended. **C.** In the third and fourth.

# %% nbgrader={"grade": false, "grade_id": "measure-learning", "locked": true, "schema_version": 3, "solution": false, "task": false}
Q, K, wanted = draw_desk()
learned = {
    "no scale": learn(Q, K, wanted, 1.0, step=3),
    "no scale, step ÷ 64": learn(Q, K, wanted, 1.0, step=3 / 64),
    "÷ √d_k": learn(Q, K, wanted, 1 / 8, step=3),
    "÷ d_k, step × 64": learn(Q, K, wanted, 1 / 64, step=3 * 64),
}
print("                      weight of the wanted book          norm of J")
print("step                    0       1      10     300      0       1     300   found")
for way, (history, norms) in learned.items():
    line = "".join(f"{np.median(history[step]):8.2g}" for step in (0, 1, 10, 300))
    line += "".join(f"{np.median(norms[step]):8.2g}" for step in (0, 1, 300))
    print(f"{way:20}{line}{(history[-1] > 0.9).mean():7.0%}")
figures.scaling.learning({way: history for way, (history, _) in learned.items()})

# %% [markdown]
# The answer is C.
#
# - **No scale.** The Jacobian is not dead at the start: its typical norm is 0.20 (0.07 to 0.31 with seeds 5
#   to 9). One step, 64 times too large, brings it down to 0.001. In the end 13 % find their book.
# - **No scale, step ÷ 64.** The Jacobian lives: its norm is 0.29 after the first step. And still only 22 %
#   find their book in 300 steps. (Seeds 5 to 9: 27 to 38 %, and 12 to 20 % in the first row.) With the best of the
#   other step sizes, 40 % find their book in 300 steps (33 to 55 % with seeds 5 to 34).
# - **÷ $\sqrt{d_k}$** and **÷ $d_k$, step × 64.** The typical wanted book starts with a few hundredths, and all
#   readers find theirs.
#
# So too large a step does harm, but it is not the main thing. What holds the second row back is *one column* of the
# Jacobian. The column of the wanted book is a (1_w − p), where a is that book's weight and 1_w its one-hot row. This
# column is as small as a, so that book's own score has a slope of at most 4a with this error.
#
# Here is a reader of three books. The first has 0.001, and the other two share the rest, so the Jacobian is alive.
# The second line changes the book that is wanted. The third changes the error, which is then $-\log a$.

# %% nbgrader={"grade": false, "grade_id": "two-errors", "locked": true, "schema_version": 3, "solution": false, "task": false}
p = np.array([0.001, 0.5, 0.499])
J = softmax_jacobian(p)
print(f"norm of J: {np.linalg.norm(J):.2f}; slopes of the scores, J g:")
for error, book in (("squared", 0), ("squared", 1), ("-log a", 0)):
    target = np.eye(3)[book]
    g = 2 * (p - target) if error == "squared" else -target / p
    print(f"  wants book {book}, {error:7}: {(J @ g).round(3) + 0.0}")

last, _ = learn(Q, K, wanted, 1.0, step=3 / 64, error="-log")
print(f"second row of the table, -log a: found {(last[-1] > 0.9).mean():.0%}")

# %% [markdown]
# The Jacobian is the same. The reader who wants book 1 has a slope of −0.5, the one who wants book 0 has −0.003. The
# sixty readers of the table's second row say the same. If each wants the book that it likes second best, 95 % find it
# (seeds 5 to 9: 88 to 97 %).
#
# With $-\log a$ all sixty find theirs. The slope of $-\log a$ is −1/a for the wanted book and 0 for the others, so
# J g is −1/a times that book's column, and **1/a cancels exactly its a**. The squared error's g cancels nothing.
#
# You find such a pair, $-\log$ after softmax, at the end of a language model (lesson 06). Attention's
# softmax sits in the middle: its g comes from the values and the layers after it, and nothing there promises a 1/a. So it
# helps to start with some weight on every book.
#
# If $1/d_k$ learns with a mended step, why not take it? Under plain descent, $1/\sqrt{d_k}$ is equally fast at each
# width from 64 on, and $1/d_k$ gets slower as the desk gets wider. **Adam** (lesson 06) is another rule for the step:
# it divides each slope by that slope's usual size. Under Adam it is the other way round: $1/d_k$ is about equally
# fast, and $1/\sqrt{d_k}$ gets faster. So the rule for the step decides which factor lets one step serve every width.
# The root keeps the *start*.

# %% [markdown]
# ## Break it on purpose
#
# The next mistake runs without an error, and all weights add up to 1. What does it do to a desk that is 1024 wide? Find
# its line in *One figure* and say it before you run the check.


# %% nbgrader={"grade": false, "grade_id": "break-over-flatten", "locked": true, "schema_version": 3, "solution": false, "task": false}
def one_over_width(Q: np.ndarray, K: np.ndarray) -> float:
    if Q.shape[-1] == K.shape[-1]:
        return 1 / K.shape[-1]
    raise ValueError(f"widths of {Q.shape} and {K.shape} differ")


check(one_over_width, name="best_scale")

# %% [markdown]
# Divided by $d_k$ = 1024, two readers differ in 2 % of their attention. Whatever they ask, they get almost
# the plain mean of all pages: **the query hardly matters**. Divided by $\sqrt{d_k}$ they differ in about half.

# %% [markdown]
# ## Check yourself

# %% nbgrader={"grade": false, "grade_id": "quiz-check-yourself", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("check yourself")

# %% [markdown]
# ## Take away
#
# 1. A score is a sum of $d_k$ products. With independent entries of mean 0 and variance 1, its variance
#    is $d_k$ and its standard deviation $\sqrt{d_k}$. ([How far scores spread](#How-far-scores-spread))
# 2. Softmax's Jacobian is diag(p) − p pᵀ. It is 0 at one-hot weights, and a book of weight a has the column
#    a (1_w − p), which is as small as a. In plain descent a squared error hardly moves a book without weight. $-\log$
#    of the weight itself does: its 1/a cancels the a, as long as a is not rounded to 0. (So libraries take softmax
#    and $-\log$ in one step.)
#    ([Softmax's Jacobian](#Softmax's-Jacobian), [Does it learn?](#Does-it-learn?))
# 3. Entropy says how many keys share: 0 for one, $\log M$ for all alike.
#    ([Entropy](#Entropy:-how-many-keys-share))
# 4. If entries are independent, with mean 0 and variance 1: without a scale, wide attention is nearly one-hot before
# it has learned anything; with
#    $1/d_k$ it is nearly flat; with $1/\sqrt{d_k}$ all four measures stay level as it gets wider. ([One figure](#One-figure))
# 5. The factor follows from the width alone and keeps the start the same at every width. Training may
#    move away from it. ([The factor that keeps variance 1](#The-factor-that-keeps-variance-1))
#
# **To take into lesson 05.** You worked out softmax's slopes with a pencil, and the slope of the query
# as a product of three tables. A model has many such steps, one after another. Who multiplies all
# these tables, and does anybody ever write them down?

# %% [markdown]
# ### Sources
#
# - A. Vaswani et al. (2017), *Attention Is All You Need*, section 3.2.1 and footnote 4.
#   [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# - C. E. Shannon (1948), *A Mathematical Theory of Communication*, section 6: entropy.
#   [doi:10.1002/j.1538-7305.1948.tb01338.x](https://doi.org/10.1002/j.1538-7305.1948.tb01338.x)
# - G. Yang et al. (2022), *Tensor Programs V*, definition 4.1 and footnote 8: a factor of 1/d.
#   [arXiv:2203.03466](https://arxiv.org/abs/2203.03466)

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
