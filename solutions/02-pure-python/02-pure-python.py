# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 02 · Every index visible
#
# Here you write self-attention with nothing but lists and loops.
#
# | | |
# |---|---|
# | **You will be able to** | say where queries, keys and values come from and why there are three; compute self-attention on paper; write it from nested lists; set two matrices so that words attend to what you want |
# | **Minutes** | about 90 |
# | **You need** | lesson 01 (dot product, softmax, weighted average), Python lists and loops |
# | **Runs on** | CPU, without a network |
# | **You may stop** | before *Break it on purpose* |
# | **Points** | 10, in six exercises |
#
# The lesson's sentence is *the cat sat*.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
from math import exp, sqrt

from attnlab import begin, check, figures, quiz  # is it missing? open it by: attnlab lab

Matrix = list[list[float]]  # a list of rows, and each row a list of numbers
begin("02-pure-python")

# %% [markdown]
# Orange is *cat*, which asks. *By hand* asks you for the same numbers.

# %% nbgrader={"grade": false, "grade_id": "opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.opening()

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
# *Cat* stands at the desk and asks. Its query is q = (1, 2, 0), three numbers wide: **$d_k$ = 3**.
# Three books stand on the shelf, one for each word of the sentence. *Cat* itself is one of them.
#
# | book | key | score q · key | ÷ √3 | e to that | weight |
# |---|---|---|---|---|---|
# | the | (1, 0, 1) | 1·1 + 2·0 + 0·1 = **1** | 0.577 | 1.781 | **0.048** |
# | cat | (0, 1, 0) | 1·0 + 2·1 + 0·0 = **2** | 1.155 | 3.173 | **0.086** |
# | sat | (2, 2, 1) | 1·2 + 2·2 + 0·1 = **6** | 3.464 | 31.948 | **0.866** |
# | | | | | sum 36.902 | sum 1 |
#
# Redo the table on paper. One column is new: you divide each score by $\sqrt{d_k}$, the root of the width of a query. A
# score is a sum of $d_k$ products, and sums of more products spread further, as a rule. The division undoes that.
# Lesson 04 measures why it is the root.
#
# *Cat* listens to *sat* with 87 % of its attention, and to itself with 9 %. A word need not prefer itself.

# %% [markdown]
# ## Where q, k, v come from
#
# In lesson 01 somebody handed you a query, keys and values. In a sentence there is only the
# sentence. Each word, or **token**, comes as one row of d numbers, its **embedding** x. From that
# one row the token has to fill three roles:
#
# | role | at the desk | made from x by |
# |---|---|---|
# | **query** q | what the token asks as a reader | q = x $W_q$ |
# | **key** k | what its spine promises to other readers | k = x $W_k$ |
# | **value** v | what its pages say to whoever opens them | v = x $W_v$ |
#
# Entry j of q is the sum of the token's d numbers, each times its own factor from column j of the matrix $W_q$.
# This is a **projection**, and there are three projections of the same token. The matrices are *learned*: training
# adjusts their entries (lesson 10), and the same three serve every token of every sentence. If one and the same
# sentence fills all three roles, this is **self-attention**.
#
# The entries below were chosen, not learned, so that you can follow them on paper. Here x holds only zeros and
# ones, so x W is the sum of those rows of W where x has a 1. For *cat*, x = (0, 1, 1, 0), so its query is the
# second row of $W_q$ plus the third: (0, 1, 0) + (1, 1, 0) = (1, 2, 0), as above.

# %% nbgrader={"grade": false, "grade_id": "see-sentence", "locked": true, "schema_version": 3, "solution": false, "task": false}
TOKENS = ["the", "cat", "sat"]

# Tokens are rows: three tokens, d = 4 numbers each.
X: Matrix = [
    [1, 0, 0, 1],  # the
    [0, 1, 1, 0],  # cat
    [0, 1, 0, 1],  # sat
]
# d = 4 rows; d_k = 3 columns for queries and keys, d_v = 2 for values.
W_q: Matrix = [[0, 0, 1], [0, 1, 0], [1, 1, 0], [-1, 1, -1]]
W_k: Matrix = [[0, -1, 0], [1, 1, 0], [-1, 0, 0], [1, 1, 1]]
W_v: Matrix = [[-1, 0], [1, 1], [-1, 1], [2, 0]]

# %% [markdown]
# ### One matrix for two roles
#
# What do you lose if two roles share a matrix? With $W_k$ = $W_v$ a token passes on exactly what it is found by. With
# $W_q$ = $W_v$ its pages repeat its question. What the third pair loses shows in the scores.
#
# **Queries and keys, $W_q$ = $W_k$.** Every token's query then equals its key, $k_i$ for token i. Scores are
# symmetric: $k_i$ · $k_j$ = $k_j$ · $k_i$. And ($k_i$ − $k_j$) · ($k_i$ − $k_j$) is a sum of squares, never negative.
# So $k_i$ · $k_i$ and $k_j$ · $k_j$ are together at least 2 $k_i$ · $k_j$, and **a token is drawn to itself**: on
# average over all tokens, a score for oneself is at least as large as one for another. It need not hold for *every*
# token: a list of small numbers can score one of large numbers higher than itself.
#
# The figure shows the scores of our sentence, left with $W_q$ and $W_k$, right with $W_k$ in both roles.
# Compare the framed pair first, then every number with its mirror image across the diagonal: is it equal?

# %% nbgrader={"grade": false, "grade_id": "see-one-matrix", "locked": true, "schema_version": 3, "solution": false, "task": false}
queries = [[-1, 1, 0], [1, 2, 0], [-1, 2, -1]]  # X W_q, one row a token
spines = [[1, 0, 1], [0, 1, 0], [2, 2, 1]]  # X W_k
figures.pure_python.one_matrix_for_two(TOKENS, queries, spines)

# %% [markdown]
# On the left *the* turns away from itself, and *cat* scores *sat* with 6 while *sat* scores *cat* with 2. On the right every number equals its mirror image. (Prediction: B.)
# The diagonal is 2, 1, 9 (mean 4), and the other scores are 0, 2 and 3, each twice (mean 1.67).
# Still, *the* (2 for itself, 3 for *sat*) and *cat* (1 and 2) prefer *sat*, whose numbers are large.

# %% [markdown]
# ## Rows times columns
#
# For all tokens at once, a projection is a **matrix product**. Entry [i][j] of A B pairs row i of A with column j
# of B: multiply entry by entry, add up.
#
# $$
# (AB)_{ij} = \sum_{c} A_{ic} B_{cj}
# $$
#
# So A must have as many columns as B has rows. (A and B are any two matrices here; further down A stands for
# *weights*.) For *cat*'s query, the first entry is its row of X with the first column of $W_q$: 0·0 + 1·0 + 1·1 +
# 0·(−1) = 1.
#
# Rows of Q have to meet rows of K, so K is transposed first. In the **transpose** Kᵀ, what stood at [i][j] stands at
# [j][i].

# %% [markdown]
# ## The formula, factor by factor
#
# Stack all queries as rows of one matrix Q, all keys as rows of K, all values as rows of V. Then
# you serve all readers at once (Vaswani et al. 2017, eq. 1):
#
# $$
# Z = A V, \qquad A = \operatorname{softmax}\!\left(\frac{Q K^{\top}}{\sqrt{d_k}}\right), \qquad
# Q = X W_q, \quad K = X W_k, \quad V = X W_v
# $$
#
# | factor | what it does | shape |
# |---|---|---|
# | X $W_q$, X $W_k$, X $W_v$ | gives every token its question, its promise and its pages | (N, $d_k$), (M, $d_k$), (M, $d_v$) |
# | Q Kᵀ | one score for each reader and book | (N, M) |
# | ÷ $\sqrt{d_k}$ | keeps scores from spreading with the width | (N, M) |
# | softmax | makes each row shares that add up to 1 | (N, M) |
# | A V | each reader's average of the pages | (N, $d_v$) |
#
# Here it is as a picture, the shape that you will see a thousand times. You meet it again in each lesson, with that
# lesson's part lit. (The mask comes in lessons 03 and 06; $W_o$, one more matrix, in lesson 07.)

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block()

# %% [markdown]
# Here is every index. s is a score, a is a weight, z is an entry of the output:
#
# $$
# s_{ij} = \sum_{c} q_{ic}\, k_{jc}, \qquad
# a_{ij} = \frac{e^{\,s_{ij}/\sqrt{d_k}}}{\sum_{m} e^{\,s_{im}/\sqrt{d_k}}}, \qquad
# z_{ie} = \sum_{j} a_{ij}\, v_{je}
# $$
#
# i is the reader, j the book, and m runs over all books. So softmax goes **over keys, along a row**. In z the
# books are added up, so j is gone: one row for each reader remains.

# %% [markdown]
# ### Shape ledger
#
# | symbol | what it is | axes | size in this lesson |
# |---|---|---|---|
# | N, M | number of queries, of keys | | 3, 3: the same tokens |
# | d | width of a token | | 4 |
# | $d_k$, $d_v$ | width of queries and keys, of values | | 3, 2 |
# | X | tokens | (N, d) | 3 × 4 |
# | $W_q$, $W_k$ | projections to queries, to keys | (d, $d_k$) | 4 × 3 |
# | $W_v$ | projection to values | (d, $d_v$) | 4 × 2 |
# | Q | queries | (N, $d_k$) | 3 × 3 |
# | K | keys | (M, $d_k$) | 3 × 3 |
# | V | values | (M, $d_v$) | 3 × 2 |
# | S = Q Kᵀ | scores | (N, M) | 3 × 3 |
# | A | weights | (N, M) | 3 × 3 |
# | Z | output | (N, $d_v$) | 3 × 2 |
#
# N, M and $d_k$ are all 3 here, so a forgotten transpose still fits and √N looks like $\sqrt{d_k}$. The checks also use
# sizes that all differ.

# %% [markdown]
# ## Seven steps
#
# This is the whole block for *the cat sat*. **Step 1** is X, as in the cell above. **Step 2** makes Q, K and V.
# **Step 3** scores: row of Q by row of K. **Step 4** divides by √3. **Step 5**, the mask, is missing here:
# every reader may open every book (lessons 03 and 06 add it). **Step 6** takes softmax along each row. **Step 7**
# is Z = A V.
#
# | reader | q | k | v | scores for *the*, *cat*, *sat* | weights | output z |
# |---|---|---|---|---|---|---|
# | the | (−1, 1, 0) | (1, 0, 1) | (1, 0) | −1, 1, 0 | 0.168, 0.533, 0.299 | (1.065, 1.365) |
# | cat | (1, 2, 0) | (0, 1, 0) | (0, 2) | 1, 2, 6 | 0.048, 0.086, 0.866 | (2.645, 1.038) |
# | sat | (−1, 2, −1) | (2, 2, 1) | (3, 1) | −2, 2, 1 | 0.060, 0.602, 0.338 | (1.074, 1.542) |
#
# Check one number of each column.
#
# Every step has one row for each token, and only two bring rows together: Q Kᵀ *compares* them,
# A V *mixes* them. *Cat* gives *sat* 0.87 of its attention, so its output lies close to *sat*'s value (3, 1).
# A model brings Z back to width d ($W_o$, lesson 07) and *adds* it to X: each word stays, and what it heard comes on top.

# %% [markdown]
# Now touch the same steps. Choose *cat* at the left edge of a table: below you see its query against every key, and
# all that becomes of it. *Play* walks the steps, *n* goes on to the next, *p* goes back. Choose a cell, and you see
# the sum behind it. You may change the cells of X, $W_q$, $W_k$ and $W_v$: Enter, a number, Enter. A dot marks every
# cell that your last edit changed.
#
# First go to step 6 and to the weight that *cat* gives to *sat*: find your 31.948 and 36.902 in its
# sum. Then guess: you raise the third number of *sat* in X from 0 to 1. Which rows of the output
# change? Do it, and look at step 7. Last, switch on the causal mask (lesson 06), which keeps every token from
# attending to later ones, and set that number back to 0. Which rows change now?

# %% nbgrader={"grade": false, "grade_id": "touch-seven-steps", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.live.ByHand(TOKENS, X, W_q, W_k, W_v)

# %% [markdown]
# In Q, K and V only the row of *sat* changed, yet without a mask every row of Z did: each token
# attends to *sat*, so *sat*'s key and value reach them all. Under the mask only *sat*'s own row
# changed. *The* and *cat* come before it; their scores for it are −∞, their weights exactly 0.

# %% [markdown]
# ## Three tools
#
# A matrix is a list of rows here, with entries `A[i][c]`; the stubs below call such a list `Matrix`.
# There is one trap. Look at what happens to the other rows when you set one entry:

# %% nbgrader={"grade": false, "grade_id": "see-shared-rows", "locked": true, "schema_version": 3, "solution": false, "task": false}
repeated = [[0] * 3] * 2
repeated[0][1] = 7
print("[[0] * 3] * 2              ", repeated)

separate = [[0] * 3 for _ in range(2)]
separate[0][1] = 7
print("[[0] * 3 for _ in range(2)]", separate)

# %% [markdown]
# `* 2` repeats the *same* row, so a write to one lands in both. Make a new list for every row.

# %% [markdown]
# ### Exercise: `matmul`
#
# difficulty ●○○ · 5–8 min · 1 point
#
# Write the matrix product for nested lists. Return a new list of lists; leave A and B as they
# were. If A does not have as many columns as B has rows, raise a `ValueError`. A good message names
# both shapes.

# %% [markdown] nbgrader={"grade": false, "grade_id": "matmul-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Every entry of the result is a small job of its own: one row of A, one column of B, one sum.
#
# <details><summary>Hint 2: the shapes</summary>
#
# A is (N, d), B is (d, M), the result is (N, M). Of the three loops, two say *which* entry and the innermost
# adds up d products. A column of B is the j-th entry of each of its rows.
#
# <details><summary>Hint 3: an outline</summary>
#
# First compare the length of a row of A with the number of rows of B. Then, for each row of A,
# start an empty row for the result. For each column of B start a sum at 0.0, walk along the row and
# down the column together, add each product to the sum, and append the finished sum.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "matmul", "locked": false, "schema_version": 3, "solution": true, "task": false}
def matmul(A: Matrix, B: Matrix) -> Matrix:
    """Product of two matrices: rows of A times columns of B.

    Args:
        A: (N, d), N lists of d numbers.
        B: (d, M), d lists of M numbers.
    Returns:
        (N, M), new lists; entry [i][j] is the sum over c of A[i][c] * B[c][j].
    Raises:
        ValueError: A's columns and B's rows differ in number; the message names both shapes.
    """
    ### BEGIN SOLUTION
    inner, width = len(B), len(B[0])
    if len(A[0]) != inner:
        raise ValueError(f"A is {len(A)} × {len(A[0])} and B is {inner} × {width}: they do not fit")
    product = []
    for i in range(len(A)):
        row = []
        for j in range(width):
            entry = 0.0
            for c in range(inner):
                entry += A[i][c] * B[c][j]
            row.append(entry)
        product.append(row)
    return product
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "matmul-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(matmul)

# %% [markdown]
# ### Exercise: `transpose`
#
# difficulty ●○○ · 5 min · 1 point
#
# `matmul`'s companion: what stood at [i][j] stands at [j][i], in new lists. Raise a `ValueError` for rows of different lengths.

# %% [markdown] nbgrader={"grade": false, "grade_id": "transpose-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# The first row of the result is the first column of A. (`zip` gives tuples, and stops at the shortest row without an error.)
#
# <details><summary>Hint 2: the shapes</summary>
#
# (N, M) becomes (M, N).
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "transpose", "locked": false, "schema_version": 3, "solution": true, "task": false}
def transpose(A: Matrix) -> Matrix:
    """Rows become columns.

    Args:
        A: (N, M), N lists of M numbers.
    Returns:
        (M, N), new lists; entry [j][i] is A[i][j].
    Raises:
        ValueError: the rows of A differ in length.
    """
    ### BEGIN SOLUTION
    width = len(A[0])
    if any(len(row) != width for row in A):
        raise ValueError(f"the rows have different lengths: {[len(row) for row in A]}")
    return [[row[j] for row in A] for j in range(width)]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "transpose-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(transpose)

# %% [markdown]
# ## Scores become weights, row by row
#
# Each reader has one unit of attention to share among the books, so softmax runs along each row of S.
#
# You wrote softmax in lesson 01. Paste it into the cell as a helper (with `import math`), or write it again for each
# row. Subtract each row's own largest score. If you subtract another row's 10,000, scores near 0 all become
# `exp(-10000)`, which is 0.0, and you divide 0 by 0.

# %% [markdown]
# ### Exercise: `softmax_rows`
#
# difficulty ●○○ · 5 min · 1 point
#
# Take softmax of every row. It has to be right near ±10,000, and gives exactly 0 to a score of −inf.
# (In every row that you get, some score is finite.)

# %% [markdown] nbgrader={"grade": false, "grade_id": "softmax_rows-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# A matrix of weights is a list of softmaxes, one for each row. −inf needs no case of its own: `exp(float("-inf"))` is 0.0.
#
# <details><summary>Hint 2: the shapes</summary>
#
# (N, M) in, (N, M) out. For one row: M exponentials, one sum, M quotients.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "softmax_rows", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax_rows(S: Matrix) -> Matrix:
    """Softmax of each row.

    Args:
        S: (N, M) scores, one row a query; -inf is allowed beside finite scores.
    Returns:
        (N, M) weights, new lists; each row adds up to 1, and a score of -inf gets exactly 0.
    """
    ### BEGIN SOLUTION
    weights = []
    for row in S:
        highest = max(row)
        exponentials = [exp(score - highest) for score in row]
        total = sum(exponentials)
        weights.append([part / total for part in exponentials])
    return weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "softmax_rows-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(softmax_rows)

# %% [markdown]
# ## The block, put together
#
# The rest is the formula, read from the inside out.

# %% [markdown]
# ### Exercise: `attention_weights`
#
# difficulty ●●○ · 5–8 min · 2 points
#
# Write steps 3, 4 and 6: from queries and keys to weights, A = softmax(Q Kᵀ / $\sqrt{d_k}$). There may be more or fewer keys than queries. If queries and keys differ in width,
# raise a `ValueError`.

# %% [markdown] nbgrader={"grade": false, "grade_id": "attention_weights-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# You have a function for each symbol except the division. Call them from the inside of the formula
# outwards. One of your tools notices different widths already.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Q is (N, $d_k$). K is (M, $d_k$) and has to become ($d_k$, M) before the product. Scores, scaled scores
# and weights are all (N, M). $d_k$ is the width of one query, neither N nor M.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "attention_weights", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_weights(Q: Matrix, K: Matrix) -> Matrix:
    """Softmax over keys of scaled dot products.

    Args:
        Q: (N, d_k), one query a row.
        K: (M, d_k), one key a row.
    Returns:
        A, (N, M); row i holds the weights that query i gives to the M keys, and adds up to 1, at
            scores in the thousands as well.
    Raises:
        ValueError: queries and keys differ in width.
    Source: Vaswani et al. 2017, eq. 1.
    """
    ### BEGIN SOLUTION
    scores = matmul(Q, transpose(K))
    root = sqrt(len(Q[0]))
    return softmax_rows([[score / root for score in row] for row in scores])
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "attention_weights-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(attention_weights)

# %% [markdown]
# Does it return your table from *By hand*, 0.048, 0.086, 0.866? One query against three keys:

# %% nbgrader={"grade": false, "grade_id": "see-by-hand-again", "locked": true, "schema_version": 3, "solution": false, "task": false}
cat_alone = attention_weights([[1, 2, 0]], [[1, 0, 1], [0, 1, 0], [2, 2, 1]])
print([f"{weight:.3f}" for weight in cat_alone[0]])

# %% [markdown]
# ### Exercise: `self_attention`
#
# difficulty ●●○ · 5–10 min · 3 points
#
# Write all seven steps: from tokens and three matrices to the output Z and the weights A, in this order.
# Matrices that do not fit raise a `ValueError`: X not as wide as a matrix has rows, or $W_q$ and $W_k$
# of different widths.

# %% [markdown] nbgrader={"grade": false, "grade_id": "self_attention-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# You project the same tokens three times. Two of the results decide the weights; the third is
# what gets averaged.
#
# <details><summary>Hint 2: the shapes</summary>
#
# X is (N, d). Q and K are (N, $d_k$), V is (N, $d_v$), A is (N, N), Z is (N, $d_v$).
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "self_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def self_attention(X: Matrix, W_q: Matrix, W_k: Matrix, W_v: Matrix) -> tuple[Matrix, Matrix]:
    """Every token asks all tokens, itself included. No mask. Scores may be in the thousands.

    Args:
        X: (N, d), one token a row.
        W_q: (d, d_k), makes queries.
        W_k: (d, d_k), makes keys.
        W_v: (d, d_v), makes values.
    Returns:
        Z, (N, d_v): row i is the average of all values by row i of A.
        A, (N, N): row i holds the weights of token i, and adds up to 1.
    Raises:
        ValueError: X and a matrix do not fit, or W_q and W_k differ in width.
    Source: Vaswani et al. 2017, eq. 1.
    """
    ### BEGIN SOLUTION
    Q, K, V = matmul(X, W_q), matmul(X, W_k), matmul(X, W_v)
    A = attention_weights(Q, K)
    return matmul(A, V), A
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "self_attention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(self_attention)

# %% [markdown]
# Now run your block on *the cat sat*, and compare what it prints with the table of *Seven steps*.

# %% nbgrader={"grade": false, "grade_id": "see-your-numbers", "locked": true, "schema_version": 3, "solution": false, "task": false}
Z, A = self_attention(X, W_q, W_k, W_v)
print("        weights on                output")
print("        the    cat    sat         Z")
for token, weights, output in zip(TOKENS, A, Z, strict=True):
    print(f"{token:4}", *(f"{number:6.3f}" for number in weights), end="    ")
    print(*(f"{number:6.3f}" for number in output))

# %% [markdown]
# No output can leave the space between the values: a
# weighted average lies between the smallest and the largest of what it averages.

# %% [markdown]
# ## A word that its neighbour decides
#
# The numbers of *the cat sat* mean nothing. These mean something. *Bank* has two meanings, and another word says
# which one it is: *the river bank*, *the money bank*. A token has d = 4 entries here:
#
# | token | article | water | money | two meanings |
# |---|---|---|---|---|
# | the | 1 | 0 | 0 | 0 |
# | river | 0 | 1 | 0 | 0 |
# | money | 0 | 0 | 1 | 0 |
# | bank | 0 | 1 | 1 | 1 |
#
# Each matrix has a row for each of these entries, and two columns, *water* and *money*:
#
# | an entry for | $W_q$: it asks for | $W_k$: it promises | $W_v$: it passes on |
# |---|---|---|---|
# | article | (0, 0) nothing | (0, 0) nothing | (0, 0) nothing |
# | water | (0, 0) nothing | (1, 0) water | (1, 0) water |
# | money | (0, 0) nothing | (0, 1) money | (0, 1) money |
# | two meanings | (4, 4) both, loudly | (−1, −1) neither | (0, 0) nothing |
#
# So *bank* asks for water and for money, q = (4, 4), and nobody else asks for anything. *Bank* is about both,
# but a word in doubt settles nobody's doubts: its key is (1, 0) + (0, 1) + (−1, −1) = (0, 0). Its pages say
# (1, 1), half water and half money.
#
# On paper: which weights does *bank* give in *the river bank*? Its scores are 0, 4, 0.

# %% nbgrader={"grade": false, "grade_id": "see-bank", "locked": true, "schema_version": 3, "solution": false, "task": false}
X_OF: dict[str, list[float]] = {
    "the": [1, 0, 0, 0],
    "river": [0, 1, 0, 0],
    "money": [0, 0, 1, 0],
    "bank": [0, 1, 1, 1],
}
ASKS: Matrix = [[0, 0], [0, 0], [0, 0], [4, 4]]
PROMISES: Matrix = [[0, 0], [1, 0], [0, 1], [-1, -1]]
PASSES_ON: Matrix = [[0, 0], [1, 0], [0, 1], [0, 0]]


def bank_in(phrase: str, asks: Matrix, promises: Matrix) -> None:
    """What bank attends to, what its own value says, and what comes out."""
    tokens = [X_OF[word] for word in phrase.split()]
    Z, A = self_attention(tokens, asks, promises, PASSES_ON)
    V = matmul(tokens, PASSES_ON)
    weights, z = ([round(number, 2) for number in row[-1]] for row in (A, Z))
    print(f"{phrase:14}  weights {weights}  V {V[-1]}  Z {z}")


for phrase in ("the river bank", "the money bank"):
    bank_in(phrase, ASKS, PROMISES)

# %% [markdown]
# The same token, the same matrices, the same V = (1, 1). But beside *river*, *bank* puts 0.89 of its
# weight on *river*, and its Z is 0.95 water; beside *money*, its Z is 0.95 money. **Each word is rewritten
# in its context**: that is what attention is for.
#
# *River* asks for nothing. Its scores are all 0, so it listens to all three alike, and its own
# Z is a third money. Weights that add up to 1 cannot say *nobody*.

# %% [markdown]
# ### Exercise: `point_to_adjective`
#
# difficulty ●●○ · 5–10 min · 2 points
#
# Now you set the matrices. An article is (1, 0, 0, 0), a noun (0, 1, 0, 0), an adjective (0, 0, 1, 0), a verb
# (0, 0, 0, 1).
#
# Choose $W_q$ and $W_k$, both 4 × 2, so that **every noun puts at least 0.9 of its weight on the adjective**,
# in any sentence of up to eight words with exactly one adjective, wherever it stands. What other words
# attend to does not matter. Weights are those of `attention_weights`, so scores are divided by √2.
#
# The check looks at what your matrices do in the hardest sentences, never at an
# entry.

# %% [markdown] nbgrader={"grade": false, "grade_id": "point_to_adjective-hints", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# *Bank* found its neighbour by a row of $W_q$ that asks for what a row of $W_k$ promises. Who asks here,
# and who has to be found? Begin with zeros: all words score 0 then, and share equally.
#
# <details><summary>Hint 2: the shapes</summary>
#
# x W picks a row of W: counted from 0, row 1 for a noun, row 2 for an adjective. So a noun's score for an
# adjective is row 1 of $W_q$ times row 2 of $W_k$, entry by entry, added up, and divided by √2.
#
# How large? At worst seven other words stand beside the adjective. Each has e to the 0, which is 1. For a share of
# 0.9 the adjective needs nine times their sum, 63, and e to the 4.2 is more than that.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "point_to_adjective", "locked": false, "schema_version": 3, "solution": true, "task": false}
def point_to_adjective() -> tuple[Matrix, Matrix]:
    """Matrices that make nouns attend to the adjective.

    Returns:
        W_q, (4, 2): row 0 is what an article asks, row 1 a noun, row 2 an adjective, row 3 a verb.
        W_k, (4, 2): what each of them promises, in the same order.
    """
    ### BEGIN SOLUTION
    silent, loud = [0.0, 0.0], [3.0, 0.0]
    asks = [silent, loud, silent, silent]
    promises = [silent, silent, loud, silent]
    return asks, promises
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "point_to_adjective-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(point_to_adjective)

# %% [markdown]
# Here are your matrices in one sentence. Read the rows of *clerk* and *maps*.

# %% nbgrader={"grade": false, "grade_id": "use-point-to-adjective", "locked": true, "schema_version": 3, "solution": false, "task": false}
words, kinds = "the clerk finds old maps".split(), [0, 1, 3, 2, 1]
one_hot: Matrix = [[float(place == kind) for place in range(4)] for kind in kinds]
to_query, to_key = point_to_adjective()
print("        ", *(f"{word:>6}" for word in words))
for word, row in zip(
    words, attention_weights(matmul(one_hot, to_query), matmul(one_hot, to_key)), strict=True
):
    print(f"{word:8}", *(f"{weight:6.2f}" for weight in row))

# %% [markdown]
# ## Break it on purpose
#
# Two mistakes that run without an error. For each one, read the function, and say what goes wrong before you
# run the cell.


# %% nbgrader={"grade": false, "grade_id": "break-axis", "locked": true, "schema_version": 3, "solution": false, "task": false}
def shares_by_column(S: Matrix) -> Matrix:
    return transpose(softmax_rows(transpose(S)))


check(shares_by_column, name="softmax_rows")

# %% [markdown]
# On our sentence, the symptom is in one column. Which?

# %% nbgrader={"grade": false, "grade_id": "break-axis-symptom", "locked": true, "schema_version": 3, "solution": false, "task": false}
step_4 = [[-0.577, 0.577, 0.000], [0.577, 1.155, 3.464], [-1.155, 1.155, 0.577]]
for token, row in zip(TOKENS, shares_by_column(step_4), strict=True):
    print(f"{token:4}", *(f"{weight:.3f}" for weight in row), f"  row sum {sum(row):.3f}")

# %% [markdown]
# **Softmax ran over the wrong axis.** Shapes are right, all numbers lie between 0 and 1, and the total is 3, as
# it should be. But *cat* hands out 1.98 units of attention and *the* 0.46. After every softmax, add up a **row**.


# %% nbgrader={"grade": false, "grade_id": "break-one-matrix", "locked": true, "schema_version": 3, "solution": false, "task": false}
def same_matrix_twice(X: Matrix, W_q: Matrix, W_k: Matrix, W_v: Matrix) -> tuple[Matrix, Matrix]:
    return self_attention(X, W_q, W_q, W_v)


check(same_matrix_twice, name="self_attention")

# %% [markdown]
# **One matrix fills two roles.** No row sum gives this one away. Guess first: what does *bank* attend to if its
# question, (4, 4), is also its promise?

# %% nbgrader={"grade": false, "grade_id": "break-one-matrix-symptom", "locked": true, "schema_version": 3, "solution": false, "task": false}
for phrase in ("the river bank", "the money bank"):
    bank_in(phrase, ASKS, ASKS)

# %% [markdown]
# To itself. Its key is now its query and scores 32; *river* and *money* promise nothing. Beside either of
# them Z is V: *bank* stays in doubt, and its neighbour is not heard.
#
# This holds for this matrix, and not for every shared one. With the rows (0, 0), (10, 0), (0, 10) and (−9, −9) *bank*
# becomes (1, 1) and *river* (10, 0), and *bank* gives *river* more than 0.99 of its weight. But then *river* has to
# score *bank* with the same 10. It looks elsewhere only because it scores itself 100. Training can live with that.
# Reformer (Kitaev et al. 2020, section 2) shares the matrix on purpose. There a token may not attend to itself where
# it has anything else, and the authors found no loss.

# %% [markdown]
# ## Cost
#
# **Count.** Each product of an (N, d) and a (d, M) matrix takes N · d · M multiplications. For the
# block:
#
# | product | multiplications | grows with N as |
# |---|---|---|
# | X $W_q$ and X $W_k$ | 2 · N · d · $d_k$ | N |
# | X $W_v$ | N · d · $d_v$ | N |
# | Q Kᵀ | N · N · $d_k$ | N² |
# | A V | N · N · $d_v$ | N² |
#
# With d = 16, $d_k$ = 4 and $d_v$ = 6 the pairs overtake at N = 22.4.
#
# **Measure.** The milliseconds are your machine's; look at how they grow when N doubles.

# %% nbgrader={"grade": false, "grade_id": "cost-measure", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
import random
from time import perf_counter

rng = random.Random(2)
before = 0.0
for n in (16, 32, 64, 128):
    shapes = (n, 16), (16, 4), (16, 4), (16, 6)
    matrices = [[[rng.gauss(0, 1) for _ in range(m)] for _ in range(k)] for k, m in shapes]
    runs = []
    for _ in range(3):
        begun = perf_counter()
        self_attention(*matrices)
        runs.append(1000 * (perf_counter() - begun))
    taken = min(runs)
    ratio = f"{taken / before:.1f} times the line above" if before else ""
    print(f"N = {n:3} {taken:8.2f} ms  {ratio}")
    before = taken

# %% [markdown]
# By the count, twice the tokens take two to four times the multiplications, nearer to four as the pairs take over.
# Time follows roughly. On a busy machine any line can take two or three times as long, so run the cell again. Lesson
# 03 gives the same multiplications to NumPy, without the loops in Python.

# %% [markdown]
# ## Check yourself

# %% nbgrader={"grade": false, "grade_id": "quiz-check-yourself", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("check yourself")

# %% [markdown]
# ## Take away
#
# 1. Each token plays three roles, through three learned projections of the same row: [where q, k, v
#    come from](#Where-q,-k,-v-come-from).
# 2. With one matrix for queries and keys, scores are symmetric and tokens are drawn to themselves,
#    though not every one of them: [one matrix for two roles](#One-matrix-for-two-roles).
# 3. Z = softmax(Q Kᵀ / $\sqrt{d_k}$) V: compare, tame, share out, average. Softmax runs over keys, so each
#    **row** of A adds up to 1: [the formula](#The-formula,-factor-by-factor).
# 4. The same token comes out different beside another neighbour, by the same matrices: [a word that its
#    neighbour decides](#A-word-that-its-neighbour-decides).
# 5. The projections grow with N; scores, weights and their use grow with N²: [cost](#Cost).
#
# **To take into lesson 03:** your `matmul` has three loops, i, j and c. Two of them remain as axes
# of the result and one is summed away. For each matrix product in the seven steps, X W,
# Q Kᵀ and A V: which axis is summed away, tokens, d or $d_k$?

# %% [markdown]
# ### Sources
#
# - A. Vaswani et al. (2017), *Attention Is All You Need*, section 3.2.1: equation 1, and footnote 4
#   on the spread of dot products. [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# - N. Kitaev, Ł. Kaiser and A. Levskaya (2020), *Reformer: The Efficient Transformer*, section 2:
#   one matrix for queries and keys. [arXiv:2001.04451](https://arxiv.org/abs/2001.04451)

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
