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
# A model that writes is trained on sentences that are already written. If a word can look ahead, the model can copy
# the answer instead of predicting it, and has nothing to copy when it has to write. One triangle of −∞ prevents that.
#
# | | |
# |---|---|
# | **You will be able to** | write causal attention that equals PyTorch's, and a test that tells whether a function looks ahead; hide padding and the future with one mask; recognise six failures by their symptoms |
# | **Minutes** | about 90, and 5 more for the optional part |
# | **You need** | lessons 03 to 05: masks, $\sqrt{d_k}$, batched tensors and `F.scaled_dot_product_attention` |
# | **Runs on** | CPU; needs no network |
# | **You may stop** | before *Padding* |
# | **Points** | 11, in five exercises |
#
# `F.scaled_dot_product_attention` is called **SDPA** from here on. Beside every mask you read what True means in it,
# *attend* or *blocked*, as there are two conventions.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math
from collections.abc import Callable

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from attnlab import begin, check, figures, quiz  # is it missing? open it by: attnlab lab

torch.set_printoptions(precision=3, sci_mode=False)
begin("06-causal-mask")

# %% nbgrader={"grade": false, "grade_id": "opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.opening()

# %% [markdown]
# **Where you are.** The block of lesson 02. The lit part is new: the mask.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("mask")

# %% [markdown]
# ## Recall
#
# Two questions on earlier lessons. Pick an answer, then open it.

# %% nbgrader={"grade": false, "grade_id": "quiz-recall", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("recall")

# %% [markdown]
# ## Predict
#
# Today the books arrive at the desk *one at a time*, in the order of the words. With each book comes
# one reader, who can open only the books that are there. The sentence is *the cat sat on the mat yesterday afternoon*.

# %% nbgrader={"grade": false, "grade_id": "quiz-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("predict")

# %% [markdown]
# ## By hand: four rungs
#
# Take the first four words, *the cat sat on*. Their pages hold (10, 0), (0, 10), (5, 5) and (0, 0). Reader n may
# open books 1 to n.
#
# **1. A loop.** Each reader takes the mean of the books that are there. *The* has one: (10, 0). *Cat* has two:
# (5, 5). *Sat* has three: (5, 5) again. *On* has four: (3.75, 3.75).
#
# **2. One matrix.** A mean is a weighted sum, so one product, matrix times pages, replaces the loop. The rows of the
# matrix are (1, 0, 0, 0), (½, ½, 0, 0), (⅓, ⅓, ⅓, 0) and (¼, ¼, ¼, ¼). This is a **lower triangle**: the
# diagonal and everything below it.
#
# **3. Softmax of 0 and −∞.** Weights that can be learned come from scores. Give each book that is there a score
# of 0, and each of the others −∞. e⁰ is 1 and e to the −∞ is 0, so the powers of *cat* are 1, 1, 0, 0 and its weights
# ½, ½, 0, 0: the same matrix. So −∞ does not call a book bad. It says that the book *is not there yet*.
#
# **4. Queries and keys.** Keep the −∞, and let queries and keys set the other scores. Say that q·k/$\sqrt{d_k}$ is
#
# | scaled, future hidden | the | cat | sat | on |
# |---|---|---|---|---|
# | **the** | 1 | −∞ | −∞ | −∞ |
# | **cat** | 0 | 1 | −∞ | −∞ |
# | **sat** | 1 | 2 | 0 | −∞ |
# | **on** | 1 | 0 | 1 | 2 |
#
# Softmax each row, with e¹ = 2.718 and e² = 7.389:
#
# | weights | the | cat | sat | on | powers add up to |
# |---|---|---|---|---|---|
# | **the** | 1 | 0 | 0 | 0 | 2.718 |
# | **cat** | 0.269 | 0.731 | 0 | 0 | 3.718 |
# | **sat** | 0.245 | 0.665 | 0.090 | 0 | 11.107 |
# | **on** | 0.197 | 0.072 | 0.197 | 0.534 | 13.826 |
#
# Compute the output of *sat* on paper: its weights times the pages. The code below climbs the four rungs and ends with
# that output. `tril` keeps the lower triangle of a matrix and sets the rest to 0.

# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
four = ["the", "cat", "sat", "on"]
pages = torch.tensor([[10.0, 0], [0, 10], [5, 5], [0, 0]], dtype=torch.float64)
loop = torch.stack([pages[: n + 1].mean(dim=0) for n in range(4)])  # rung 1

triangle = torch.ones(4, 4, dtype=torch.float64).tril()
averages = triangle / triangle.sum(dim=-1, keepdim=True)  # rung 2
print("one matrix does what the loop does:", torch.allclose(averages @ pages, loop))

open_or_not = torch.zeros_like(triangle).masked_fill(triangle == 0, -math.inf)  # True = blocked
print("softmax of 0 and -inf does it too: ", torch.allclose(open_or_not.softmax(-1), averages))

scaled = torch.tensor([[1.0, 2, 0, 1], [0, 1, 2, 0], [1, 2, 0, 2], [1, 0, 1, 2]]).double()
shares = (scaled + open_or_not).softmax(dim=-1)  # rung 4: s + 0 is s, and s - inf is -inf
print(f"weights:\n{shares}")
print("output of sat:", (shares @ pages)[2])

# %% [markdown]
# ## See it
#
# The rungs in one picture. In which row does the fourth differ most from the second?

# %% nbgrader={"grade": false, "grade_id": "see-ladder", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.causal_mask.ladder(averages, open_or_not, shares, four)

# %% [markdown]
# *Sat* differs most: *cat* gets 0.67 instead of ⅓.
#
# ## Why a decoder must not see the future
#
# A **decoder** is a model that writes: it predicts the next word, appends it, and goes on. In training it computes all
# rows at once, and each row n answers one question: *which word comes after word n?* But that word is in the input, too,
# and a row that may read it can copy it.
#
# Two kinds of text show this. Each has twelve words, and asks eleven questions. In `dice` every word is a roll of a die,
# and the past does not help. In `sheep` it does: only *one* or *two* is a free choice.

# %% nbgrader={"grade": false, "grade_id": "see-texts", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab.lessons.causal_mask import texts

draw = torch.Generator().manual_seed(3)  # PyTorch's rng
dice, sheep = texts.dice(draw), texts.sheep(draw)  # 64 texts each, (64, 12), of numbers from 0 to 5
print("dice: ", *(dice[0] + 1).tolist())
print("sheep:", texts.in_words(sheep[0]))

# %% [markdown]
# The model is one attention, and a matrix that makes six scores of each output. `read` is any attention;
# `texts.masked` makes one from a mask. `texts.train_on_both` runs lesson 05's loop on dice and on sheep, for 200 steps
# of 64 new texts each. New calls:
#
# - `F.one_hot(text, 6)` makes a vector for each word: a 2 becomes (0, 0, 1, 0, 0, 0).
# - **Cross-entropy** is $-\log$ of the share that the model gave to the word that came: 0 at best, and $\log 6$ = 1.79 for a
#   guess among six. `F.cross_entropy` takes *scores* and the right words, and returns the mean. `flatten(0, 1)` makes
#   one axis of the first two.
# - **Adam**, `torch.optim.Adam`, is the loop's optimizer. It divides each parameter's step by how large that
#   parameter's slopes have been.


# %% nbgrader={"grade": false, "grade_id": "small-model", "locked": true, "schema_version": 3, "solution": false, "task": false}
def predict_next(text: Tensor, parameters: list, read: Callable) -> Tensor:
    """Scores of the six words that may follow each word: (B, N) to (B, N, 6)."""
    places = torch.eye(12)[: text.shape[1]].expand(len(text), -1, -1)  # the same for each text
    x = torch.cat([F.one_hot(text, 6).float(), places], dim=-1)  # (B, N, 18)
    Wq, Wk, Wv, W_word = parameters
    return read(x, Wq, Wk, Wv)[0] @ W_word


def loss_on(text: Tensor, parameters: list, read: Callable) -> Tensor:
    guesses = predict_next(text, parameters, read)[:, :-1]  # nothing follows the last word
    return F.cross_entropy(guesses.flatten(0, 1), text[:, 1:].flatten())


everything = torch.ones(12, 12).bool()  # True = attend: no mask
readers: dict[str, Callable] = {
    "causal": texts.masked(everything.tril()),
    "no mask": texts.masked(everything),
    "sees only itself": texts.masked(torch.eye(12).bool()),
}
trained = texts.train_on_both(loss_on, readers)

# %% [markdown]
# The **honest best** is the lowest loss that a model can expect without looking ahead. Which curves will fall below it? By the curves alone, which model would you ship?

# %% nbgrader={"grade": false, "grade_id": "see-losses", "locked": true, "schema_version": 3, "solution": false, "task": false}
best = {"dice": math.log(6), "sheep": 2 * math.log(2) / 11}
figures.causal_mask.losses(trained, best)

# %% [markdown]
# Without a mask both losses fall to 0: this model "predicts" even dice. On texts that a model has never seen, a loss that is
# **too good to be true** is the symptom of a leak. With the **causal mask** the loss on dice stays at 1.79, the best that an honest model can do.
# On sheep it falls to 0.13: two of the eleven questions are free choices, at $\log 2$ each, and 2 $\log 2$ / 11 = 0.126. A
# word that reads *itself alone* has to guess between *runs* and *run* too: five guesses, and 5 $\log 2$ / 11 = 0.315.
#
# Now let the models write. Each gets two words, appends the word with the highest score (`argmax` gives its place),
# and asks again.

# %% nbgrader={"grade": false, "grade_id": "write", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
for name, read in readers.items():
    parameters, _ = trained["sheep"][name]
    for start in ([0, 2], [1, 2]):
        print(f"{name:13}", texts.written(predict_next, start, parameters, read))

# %% [markdown]
# The model with the best loss writes nonsense: it learned to read what is not there when it writes. You would ship
# *causal*: its sheep agree with their number. *Itself alone* cannot tell one sheep from two. (With this seed: without
# a mask, three of seeds 1 to 20 wrote well.)
#
# Not every model needs this mask. An **encoder** (BERT) reads a whole text and has none. An **encoder–decoder** (T5)
# reads one text and writes another, and only the reading of its own words is causal (lesson 08).
#
# ## The lower triangle
#
# Your fourth rung as a formula: to hide a score, add −∞ to it:
#
# $$
# A = \operatorname{softmax}\!\left(\frac{Q K^{\top}}{\sqrt{d_k}} + C\right), \qquad
# C_{nm} = \begin{cases} 0 & m \le n \\ -\infty & m > n \end{cases}
# $$
#
# Why *before* softmax? Because a blocked key then adds 0 to the sum of its row as well: it gets nothing, and takes
# nothing from the others.
#
# Code keeps the triangle as a bool tensor, in one of two conventions:
#
# | True means | the causal mask is True | what reads it this way |
# |---|---|---|
# | **blocked** | *above* the diagonal | `masked_fill` with −∞; `nn.MultiheadAttention`, PyTorch's module with projections and heads |
# | **attend** | *on and below* the diagonal | SDPA's `attn_mask` |
#
# `~` turns one into the other. `torch.triu` keeps the upper triangle, from the diagonal that its second argument names. Calls that make a tensor take a
# `device`, and `x.device` says which one x is on.

# %% [markdown]
# ### Exercise: `causal_mask`
#
# difficulty ●○○ · 3–5 min · 1 point
#
# Return the causal mask of n tokens as an (n, n) bool tensor, **True = blocked**. Each row is a reader, and what is to
# the right of the diagonal is its future. Make the tensor on `device`; None is PyTorch's default.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-causal_mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Begin with a full square that says *blocked* everywhere, and keep only the part that is the future.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Ones (n, n), on the device; their upper triangle (n, n), without the diagonal; the same as bool.
#
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
# ## Attention that does not look ahead
#
# It is lesson 05's block and one more line, your fourth rung.

# %% [markdown]
# ### Exercise: `attention`
#
# difficulty ●●○ · 10–15 min · 5 points
#
# Write causal self-attention for a batch. Return the output and the weights. Both are compared with
# `F.scaled_dot_product_attention(q, k, v, is_causal=True)`, to 1e-6 in float64, gradients included.
#
# You need `@`, `F.softmax`, your `causal_mask` and tensor methods. Calls that do the whole job are banned, as in lesson
# 05. Widths that do not fit have to raise an error; PyTorch's own `RuntimeError` will do.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Write attention without a mask first. Then find the one place where you can replace blocked scores so that softmax
# gives them exactly 0. Your `causal_mask` says which; make it on x's device.
#
# <details><summary>Hint 2: the shapes</summary>
#
# q and k are (B, N, $d_k$), and `k.mT` exchanges k's last two axes. Scores and weights are (B, N, N). The mask, (N, N),
# lines up with the last two axes and serves every sentence. $\sqrt{d_k}$ comes from the last axis of q, not of x.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> tuple[Tensor, Tensor]:
    """Causal self-attention: each token reads itself and the tokens before it.

    Args:
        x: (B, N, d), tokens, float32 or float64; scores may be in the thousands.
        Wq: (d, d_k), makes queries; same dtype as x, like the other two.
        Wk: (d, d_k), makes keys.
        Wv: (d, d_v), makes values.
    Returns:
        out: (B, N, d_v).
        weights: (B, N, N), each row adds up to 1 and is exactly 0 above the diagonal.
    Raises:
        RuntimeError: widths do not fit. PyTorch raises it by itself, and names both shapes.
    """
    ### BEGIN SOLUTION
    q, k, v = x @ Wq, x @ Wk, x @ Wv  # (B, N, d_k), (B, N, d_k), (B, N, d_v)
    scores = (q @ k.mT) / q.shape[-1] ** 0.5  # (B, N, N)
    future = causal_mask(x.shape[1], device=x.device)  # (N, N), True = blocked
    weights = F.softmax(scores.masked_fill(future, -torch.inf), dim=-1)
    return weights @ v, weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "attention-check", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
check(attention)

# %% [markdown]
# Now it reads as a trained head does. `inside` gives what one head of the small model gets (lesson 01): a row for
# each word, and three matrices. Is the upper triangle of your weights *exactly* 0?

# %% nbgrader={"grade": false, "grade_id": "use-attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab.lessons.causal_mask.learned import inside, reader_by, verb_after

its_own = "<s> the king behind the dogs that the boys see".split()
out, weights = attention(*inside(its_own))
print("largest entry above the diagonal:", weights[0].triu(1).max().item())
print("every row adds up to 1:", torch.allclose(weights.sum(-1), torch.ones(1, 10).double()))

# %% [markdown]
# It is 0.0, not 0.0000001.
#
# What would *behind* read without the mask? And which word do *dogs* and *see* read most, after
# which a verb could come?

# %% nbgrader={"grade": false, "grade_id": "see-causal-weights", "locked": true, "schema_version": 3, "solution": false, "task": false}
scores, effect = verb_after(its_own)
free = torch.from_numpy(scores).softmax(-1)
listens = figures.live.WhoListens(
    weights[0], its_own, blocked=causal_mask(10), before=free, reader=reader_by(attention)
)
listens.row = 3  # behind
listens

# %% [markdown]
# *Behind* would put 0.79 on *that*, which is not there yet. With the mask, *behind*
# puts 0.95 on itself, on the **diagonal**, which a causal mask never closes: no row is empty. *See* puts 0.99 on *king*,
# past *dogs* and *boys*, and *dogs* 0.90. Then type a sentence of your own, in words that the model knows.
#
# Now your prediction, with a random vector for each word: replace *sat*, and count the output rows that change. `clone` copies a tensor, and
# `torch.randn_like` makes normal numbers of its shape and dtype. With `rtol=0`, numbers are close if they differ by
# `atol` at most, however large they are.


# %% nbgrader={"grade": false, "grade_id": "count-changes", "locked": true, "schema_version": 3, "solution": false, "task": false}
rng = torch.Generator().manual_seed(13)
sentence = "the cat sat on the mat yesterday afternoon".split()
x = torch.randn(1, 8, 16, generator=rng, dtype=torch.float64)
x[:, 4] = x[:, 0]  # the, both times
widths = (12, 12, 3)  # d_k, d_k, d_v
Wq, Wk, Wv = (torch.randn(16, width, generator=rng, dtype=x.dtype) / 4 for width in widths)


def changed_rows(old: Tensor, new: Tensor) -> list[str]:
    pairs = zip(sentence, old[0], new[0], strict=True)
    return [word for word, a, b in pairs if not torch.allclose(a, b, rtol=0, atol=1e-9)]


new = x.clone()
new[:, 2] = torch.randn_like(new[:, 2])
old_out, new_out = (attention(each, Wq, Wk, Wv)[0] for each in (x, new))
print("causal: ", changed_rows(old_out, new_out))
old_out, new_out = (F.scaled_dot_product_attention(each, each, each) for each in (x, new))
print("no mask:", len(changed_rows(old_out, new_out)), "rows")

# %% [markdown]
# Six rows change (prediction: B); without a mask all eight do. This is a test that needs no reference: **change the future,
# and nothing in the past may change.**
#
# ## A test of your own
#
# Changing one word finds a missing mask. Some bugs are smaller: one row reads one later row, in one sentence of the
# batch, in one number, by a millionth. Write a test that finds these, too.

# %% [markdown]
# ### Exercise: `looks_ahead`
#
# difficulty ●●○ · 8–12 min · 2 points
#
# `fn` takes tokens (B, N, d) and returns one tensor (B, N, e). Return True, a Python bool, if any row of its result
# depends on a *later* row of the same sentence, and False if none does. Exchange later rows for fresh normal numbers:
# a leak moves an earlier row by 1e-6 or more, rounding by less than 1e-12. `fn` takes only tensors of x's shape and
# dtype, so you cannot cut the future off. Its slopes may be 0, as where it rounds, so they do not tell. Leave x as it
# is.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-looks_ahead", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Cut the sentence in two and exchange everything after the cut. Then no row before it should change. Which
# leaks does a cut in the middle miss?
#
# <details><summary>Hint 2: the shapes</summary>
#
# If you cut after n rows, the rows that you exchange, x[:, n:], are (B, N − n, d). The rows that you compare are
# (B, n, e).
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "looks_ahead", "locked": false, "schema_version": 3, "solution": true, "task": false}
def looks_ahead(fn: Callable[[Tensor], Tensor], x: Tensor) -> bool:
    """Whether any row of what a function returns depends on a later row of its sentence.

    Args:
        fn: (B, N, d) to (B, N, e); takes tensors of x's shape and dtype alone.
        x: (B, N, d), float64 tokens to begin with.
    Returns:
        True if fn looks ahead.
    """
    ### BEGIN SOLUTION
    out = fn(x)
    for n in range(1, x.shape[1]):
        other = x.clone()
        other[:, n:] = torch.randn_like(other[:, n:])
        if (fn(other) - out)[:, :n].abs().max() > 1e-9:
            return True
    return False
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "looks_ahead-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(looks_ahead)

# %% [markdown]
# ## Padding
#
# Sentences in a batch have different lengths, but a tensor is a rectangle. So the short ones are filled up at
# the end with a meaningless token, **padding**: dummies on the shelf, which nobody should open.
#
# | length | 1 | 2 | 3 | 4 | 5 | 6 |
# |---|---|---|---|---|---|---|
# | 6 | the | cat | sat | on | the | mat |
# | 3 | the | cat | sat | · | · | · |
# | 1 | afternoon | · | · | · | · | · |
#
# The **padding mask** of a batch has one row a *sentence* and one column a position, (B, max_len). Ours says
# **True = real token**; for the keys of SDPA that is True = attend.

# %% [markdown]
# ### Exercise: `padding_mask`
#
# difficulty ●○○ · 3–5 min · 1 point
#
# From the lengths of B sentences, an integer tensor (B,), make the (B, max_len) bool mask, **True =
# real token**. Positions count from 0, so a sentence of length 3 is real at 0, 1 and 2. A length
# of 0 gives a row of False.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-padding_mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Ask of each position in each sentence: does it come before the sentence's end? One comparison of tensors answers
# for all of them.
#
# <details><summary>Hint 2: the shapes</summary>
#
# The positions are (max_len,), the lengths (B,). Make the lengths a column, (B, 1). Then the comparison broadcasts
# to (B, max_len).
#
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

# %% [markdown]
# ## Causal and padding in one
#
# A decoder has two rules: no future, no padding. SDPA takes one mask, **True = attend**. A key may be read if it is
# real *and* not in the future. With positions counted from 0, as in code:
#
# $$\text{attend}_{b\,1\,n\,m} = (m \le n) \;\wedge\; (m < \text{length}_b)$$
#
# The padding belongs to the *keys*, the columns. The axis of size 1 stands where scores have their heads,
# (B, H, N, N): one mask serves all heads. (With padding at the end, the triangle alone already keeps real words from
# dummies; with padding in front it does not.)

# %% [markdown]
# ### Exercise: `decoder_mask`
#
# difficulty ●●○ · 8–10 min · 2 points
#
# Combine `causal_mask` and `padding_mask` into a (B, 1, n, n) bool tensor, **True = attend**, ready
# for SDPA's `attn_mask`. Watch the conventions: one of your two functions says True = blocked, the other True =
# real. A sentence that is all padding gives False everywhere.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-decoder_mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Put both masks into the same convention first, True = attend. A key is open if both say so.
#
# <details><summary>Hint 2: the shapes</summary>
#
# The causal mask, (n, n), is the same for all sentences. The padding mask is (B, n), and its last
# axis is the keys. It has to become (B, 1, 1, n): one axis of size 1 for the heads, one for the queries.
#
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
# A sentence of length 0
# would leave rows with nothing to read. SDPA and this course give them 0. Softmax alone gives NaN (lesson 05), and so
# does `nn.MultiheadAttention` (PyTorch 2.13, `need_weights=True`).
#
# ## Two traps
#
# ### True means opposite things
#
# You hand one mask, True above the diagonal, to PyTorch's module (its projections are random) and to SDPA (with unit
# vectors as values, so that its output *is* the weights). You mean: block where it is True. Where is the weight, and which
# row has none?


# %% nbgrader={"grade": false, "grade_id": "trap-true", "locked": true, "schema_version": 3, "solution": false, "task": false}
torch.manual_seed(6)
module = nn.MultiheadAttention(16, 1, batch_first=True, dtype=torch.float64)
t = x[:, :4]  # the cat sat on
unit = torch.eye(4, dtype=torch.float64)[None]
upper = torch.ones(4, 4).triu(1).bool()  # meant as: True = blocked

by_module = module(t, t, t, attn_mask=upper)[1].detach()
by_sdpa = F.scaled_dot_product_attention(t, t, unit, attn_mask=upper)
figures.causal_mask.one_mask(upper, by_module[0], by_sdpa[0], four)

# %% [markdown]
# The triangles are opposite. To SDPA the mask said: read the future and nothing else, not even yourself. *On* has no
# future here, so SDPA gives it a row of 0. Put the convention in the name
# (`attend`, `blocked`).
#
# ### is_causal aligns top-left
#
# SDPA makes the triangle itself if you say `is_causal=True`. A decoder that writes keeps the keys and values of
# all words so far (a **cache**, lesson 11), and only the newest words ask. Suppose the last two of four words ask:
# N = 2, M = 4. *Sat* may read three words, *on* all four.

# %% nbgrader={"grade": false, "grade_id": "trap-is_causal", "locked": true, "schema_version": 3, "solution": false, "task": false}
newest = t[:, -2:]  # sat, on
end_to_end = torch.ones(2, 4).tril(4 - 2).bool()  # True = attend; begins at the bottom right
due = F.scaled_dot_product_attention(t, t, unit, is_causal=True)[:, -2:]  # all four words ask
for how, found in {
    "is_causal=True": F.scaled_dot_product_attention(newest, t, unit, is_causal=True),
    "bottom-right mask": F.scaled_dot_product_attention(newest, t, unit, attn_mask=end_to_end),
}.items():
    print(f"{how}; right: {torch.allclose(found, due)}\n{found[0]}")

# %% [markdown]
# `is_causal=True` begins its triangle at the top-left corner: *sat* reads *the* alone, and *on* two words of four.
# Neither reads *itself*. Nothing leaks, so no test for the future would notice; the model forgets instead. When
# N ≠ M, write the mask out.
#
# ## Break it on purpose
#
# Here are six functions, `read_a` to `read_f`. Each is `attention` with one thing wrong, and takes padding as well:
# `real`, (B, N), True = real token. Which is which?
#
# | name | what is wrong |
# |---|---|
# | `axis` | softmax runs over the wrong axis |
# | `scale` | $\sqrt{d_k}$ is missing |
# | `late` | the mask comes after softmax |
# | `shape` | the padding mask is passed as it is, (B, N) |
# | `diagonal` | the triangle begins one place too late |
# | `filled` | blocked scores become −1e9 instead of −∞ |

# %% nbgrader={"grade": false, "grade_id": "six-failures", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab.lessons.causal_mask.failures import SIX, symptoms, told

read_a, read_b, read_c, read_d, read_e, read_f = SIX

# %% [markdown]
# Begin with your own test. The next cell is yours: change its letter, and run both cells again, for all six.

# %%
letter = "a"

# %% nbgrader={"grade": false, "grade_id": "asked-failures", "locked": true, "schema_version": 3, "solution": false, "task": false}
asked = dict(zip("abcdef", SIX, strict=True))[letter]
print(letter, "looks ahead:", looks_ahead(lambda tokens: asked(tokens, Wq, Wk, Wv)[0], x))

# %% [markdown]
# Three of them look ahead. `symptoms` lets the six, and a right one, read your eight words, and then four
# sentences of four words with padding in front.

# %% nbgrader={"grade": false, "grade_id": "symptoms", "locked": true, "schema_version": 3, "solution": false, "task": false}
print(symptoms(x, (Wq, Wk, Wv)))

# %% [markdown]
# Write a name beside each letter. The locked cell says how many are right and, once there are six, which are not.

# %%
guess = {"a": "", "b": "", "c": "", "d": "", "e": "", "f": ""}

# %% nbgrader={"grade": false, "grade_id": "told-failures", "locked": true, "schema_version": 3, "solution": false, "task": false}
print(told(guess))

# %% [markdown]
# ### Softmax over the wrong axis
#
# `read_e` takes softmax over the queries, `dim=-2`: *columns* add up to 1 and rows do not. All weights above the diagonal
# are 0. But it leaks: how much of a book an early reader gets depends on who comes later.

# %% nbgrader={"grade": false, "grade_id": "break-axis", "locked": true, "schema_version": 3, "solution": false, "task": false}
check(read_e, name="attention")

# %% [markdown]
# ### No √d_k
#
# In `read_c` rows add up to 1 and nothing leaks, so the tests so far find nothing. The symptom is sharpness, and on
# average it grows with $d_k$. A comparison with the right numbers finds it.

# %% nbgrader={"grade": false, "grade_id": "break-scale", "locked": true, "schema_version": 3, "solution": false, "task": false}
check(read_c, name="attention")

# %% [markdown]
# ### Mask after softmax
#
# In `read_b` all rows but the last add up to *less than 1*: blocked keys had taken their share. And it leaks,
# because that share depends on the future.
#
# Divide each row by its sum, and you get the same fractions as with −∞ before softmax. So on paper a late mask is wrong only **without renormalising**. In floats, if a blocked score leads
# by 104 (float32) or 746 (float64), the open keys get 0, and 0 / 0 is NaN.

# %% [markdown]
# ### A mask of the wrong shape
#
# (N, N) broadcasts: it serves every sentence. (B, N) has one row a *sentence*, so for scores (B, N, N) it needs another
# axis: (B, 1, N). `read_f` passes it as it is: B meets the axis of the queries. If B and N differ and neither is 1,
# you get an error, and that is luck. **With B = N it runs**: query n of *every* sentence gets the padding of
# *sentence n*. So test with sizes that differ. (`nn.MultiheadAttention` takes a (B, N) mask as it is,
# `key_padding_mask`, True = blocked.)
#
# ### A diagonal off by one
#
# `read_d` has `triu(2)` instead of `triu(1)`, True = blocked: each word sees one word ahead. With `triu(0)` no
# word may read itself, and the first row is empty.
#
# ### −1e9 instead of −∞
#
# Much code writes −1e9, as `read_a` does. In most rows that does the same: e to the −1e9 is 0 in every format. But
# float16 ends at 65,504, so `masked_fill` refuses −1e9 there with an error. And a row that is *all* blocked reads
# everything, without a warning: evenly if you *fill in* −1e9, and as if there were no mask if you *add* it in float64.
#
# ### Would training have told you?
#
# Train your `attention` on dice and sheep, and four of the six. Then measure the loss on other texts, each cut off
# before the word to guess. Which will end below the honest best? Which will write well?

# %% nbgrader={"grade": false, "grade_id": "train-failures", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
readers = {"yours": attention, "wrong axis": read_e, "late mask": read_b}
readers |= {"off by one": read_d, "no √d_k": read_c}
trained = texts.train_on_both(loss_on, readers)
apart: dict = {"dice": {}, "sheep": {}}
for name, read in readers.items():
    for text, fresh in (("dice", dice), ("sheep", sheep)):
        parameters, history = trained[text][name]
        apart[text][name] = history[-1], texts.loss_when_cut(predict_next, fresh, parameters, read)
    losses, wrote = apart["sheep"][name], texts.written(predict_next, [1, 2], parameters, read)
    print(f"{name:10} sheep {losses[0]:.2f}, cut off {losses[1]:.2f}, writes {wrote}")
figures.causal_mask.given_away(apart["dice"], best["dice"], "dice")

# %% [markdown]
# On dice three give themselves away: no honest loss ends clearly below 1.79. Off by one is as bad as no mask at all,
# because the next word is the answer. On sheep a model
# need not use its leak: with 13 of seeds 1 to 20, the two losses of the late mask differed by less than 0.05. And wrong
# axis and late mask wrote good sheep with 19 of these seeds, so good writing proves nothing. **Where the past does not
# help, compare the loss in training with the loss on texts that are cut off.** Your `looks_ahead` finds the leak either
# way.
#
# *No $\sqrt{d_k}$* leaks nothing, but at this learning rate, 0.02, most of its models get stuck: with 13 of the 20 seeds the loss
# on sheep never fell below 0.15. Yours did, with every one.
#
# ## Optional: two more things to try
#
# ### Paint a mask
#
# Here is the learned head again, in a window of three words: the model's next verb is wrong. Press *causal*, and it is right.
# Now click a cell or drag over several: the weights follow, and so does the verb. Is the outlined
# cell the only one that flips it? Then block a whole row, and press *causal and padding*: which cells had *causal* left open?

# %% nbgrader={"grade": false, "grade_id": "touch-mask-painter", "locked": true, "schema_version": 3, "solution": false, "task": false}
painter = figures.live.MaskPainter(scores, its_own, preset="window", effect=effect)
painter.title = "Layer 2, head 3: paint its mask"
painter.row = 9  # see
painter

# %% [markdown]
# Yes, *king* in the row of *see*: without it the verb becomes *run*, and without any other it stays. A
# *window* of three flips it too. The row that you blocked shows zeros, not NaN. *Causal and padding* closed three
# more cells, all in the rows of the two dummies.
#
# ### What 1e-6 can promise
#
# In how many of 100 draws is right float32 code off by more than 1e-6, with N = d = 64 and tokens of standard
# deviation *std*?


# %% nbgrader={"grade": false, "grade_id": "precision", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from attnlab.lessons.causal_mask.precision import misses, sdpa

for std in (0.5, 1.0, 3.0):
    print(f"std {std}: yours {misses(attention, std):3} of 100, SDPA {misses(sdpa, std):3} of 100")

# %% [markdown]
# At std 1 float32 misses now and then, at std 3 always, and so does SDPA: the format is too coarse. So this
# course grades in **float64 at 1e-6**, with one more case in float32 at 1e-4.

# %% [markdown]
# ## Check yourself

# %% nbgrader={"grade": false, "grade_id": "quiz-check-yourself", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("check yourself")

# %% [markdown]
# ## Take away
#
# 1. A decoder is trained on all positions at once, with the answers in its input. The causal mask
#    hides them. If a model uses a leak, its loss can fall below what an honest model can reach
#    ([why](#Why-a-decoder-must-not-see-the-future)). Whether it uses it or not, your `looks_ahead` finds it
#    ([a test](#A-test-of-your-own)).
# 2. −∞ says that a book is not there yet: before softmax it gives a weight of exactly 0 and leaves the
#    ratios of the others alone. After softmax a mask is wrong unless you renormalise, and in floats that
#    can give NaN ([four rungs](#By-hand:-four-rungs), [too late](#Mask-after-softmax)).
# 3. Padding is blocked as a key, in the columns: (B, 1, 1, N)
#    ([padding](#Padding), [both](#Causal-and-padding-in-one)).
# 4. True = attend in SDPA and True = blocked in `nn.MultiheadAttention`; `is_causal` aligns top-left
#    ([two traps](#Two-traps)).
# 5. Wrong axis: columns add up to 1. No $\sqrt{d_k}$: too sharp. Late mask: rows below 1. Wrong shape: an error,
#    or silence when sizes are equal. Off by one: too good to be true. −1e9: an empty row reads everything
#    ([break it](#Break-it-on-purpose)).
#
# ### Sources
#
# - The causal mask, and the three attentions of an encoder–decoder:
#   [Vaswani et al. 2017](https://arxiv.org/abs/1706.03762), section 3.2.3
# - The four rungs: A. Karpathy 2023, [*Let's build GPT*](https://youtu.be/kCc8FmEb1nY), a video, versions 1 to 4
# - An encoder without a causal mask: [Devlin et al. 2018](https://arxiv.org/abs/1810.04805), section 3
# - PyTorch's documentation:
#   [scaled_dot_product_attention](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html),
#   [MultiheadAttention](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html)
#
# **To carry over.** One softmax gives each reader one way to share out its attention. *Cat* may want
# to know who sat *and* where. How would you give it two questions at once, without a second model?

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
