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
# A model that writes is trained on sentences that are already written. If a word can look ahead, the model
# learns to read the answer off, and has nothing to read when it has to write. One triangle of −∞ prevents that.
#
# | | |
# |---|---|
# | **You will be able to** | say what a causal mask means, and write causal attention that equals PyTorch's; write a test that catches any function that looks ahead; hide padding and the future with one mask; recognise six failures by their symptom |
# | **Minutes** | about 90 |
# | **You need** | lessons 03 to 05: masks, √d_k, batched tensors and `F.scaled_dot_product_attention` |
# | **Runs on** | CPU; needs no network |
# | **Points** | 11, in five exercises |
#
# `F.scaled_dot_product_attention` is called **SDPA** from here on. Masks come in two conventions, so beside
# every mask in this lesson stands what True means in it: *attend* or *blocked*.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math
from collections.abc import Callable

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from attnlab import begin, check, figures

torch.set_printoptions(precision=3, sci_mode=False)
begin("06-causal-mask")

# %% [markdown]
# **Where you are.** The block of lesson 02. Lit is what is new: the mask.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("mask")

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
# Yes. √64 = 8. Scores that large push most of the weight onto one key, so they are divided by √d_k.
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
# Yes. In SDPA's `attn_mask` True = attend. Keep this in mind: another part of PyTorch reads the
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
# At the library's reference desk today the books are *delivered one at a time*, in the order
# of the words, and each reader arrives together with one book. Nobody can open a book that has not
# been delivered yet. The running sentence has eight words: *the cat sat on the mat yesterday
# afternoon*.

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# Every word reads itself and the words before it. You replace *sat*, the third word, by *ran*. How many of the eight
# output rows change?
#
# <details><summary>A. Three</summary>
#
# Not this one: *the* and *cat* came before *sat* and cannot have read it.
#
# </details>
# <details><summary>B. Six</summary>
#
# Yes. Rows 3 to 8: *sat* itself and the five words after it. Further down you count them with your own
# code.
#
# </details>
# <details><summary>C. All eight</summary>
#
# Not this one: rows 1 and 2 cannot have read the third word.
#
# </details>

# %% [markdown]
# ## By hand: four rungs
#
# Take the first four words, *the cat sat on*. Their pages hold two numbers each: (10, 0), (0, 10), (5, 5)
# and (0, 0). Reader n may open books 1 to n.
#
# **1. A loop.** A reader who knows no better takes the mean of what is there. *The* has one book: (10, 0).
# *Cat* has two: (5, 5). *Sat* has three: (5, 5) again. *On* has four: (3.75, 3.75).
#
# **2. One matrix.** A mean is a weighted sum: row n has 1/n for its first n books, and 0 for the others. One
# product, matrix times pages, replaces the loop. The rows of *the cat sat on* are (1, 0, 0, 0), (½, ½, 0, 0),
# (⅓, ⅓, ⅓, 0) and (¼, ¼, ¼, ¼): a **lower triangle**, the diagonal and what is below it.
#
# **3. Softmax of 0 and −∞.** Where shall weights come from, if they are to be learned? From scores. Give every
# book that is there a score of 0, and every other one −∞. e⁰ is 1 and e to the −∞ is 0, so the powers of *cat*
# are 1, 1, 0, 0, and its shares ½, ½, 0, 0: the same matrix. So −∞ does not call a book bad. It says that
# the book *is not there yet*.
#
# **4. Queries and keys.** Keep the −∞, and let queries and keys set the other scores. Say that q·k/√d_k is
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
# The outputs are (10, 0), (2.69, 7.31), (2.90, 7.10) and (2.95, 1.71). Redo the row of *sat* on paper. Then
# climb in code. `tril` keeps the lower triangle of a matrix and sets the rest to 0.

# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
four = ["the", "cat", "sat", "on"]
pages = torch.tensor([[10.0, 0], [0, 10], [5, 5], [0, 0]], dtype=torch.float64)
loop = torch.stack([pages[: n + 1].mean(dim=0) for n in range(4)])  # rung 1

triangle = torch.ones(4, 4, dtype=torch.float64).tril()
averages = triangle / triangle.sum(dim=-1, keepdim=True)  # rung 2
print("one matrix does what the loop does:", torch.allclose(averages @ pages, loop))

open_or_not = torch.zeros(4, 4, dtype=torch.float64).masked_fill(
    triangle == 0, -math.inf
)  # True = blocked
print("and softmax of 0 and -inf is it:   ", torch.allclose(open_or_not.softmax(dim=-1), averages))

scaled = torch.tensor([[1.0, 2, 0, 1], [0, 1, 2, 0], [1, 2, 0, 2], [1, 0, 1, 2]]).double()
shares = (scaled + open_or_not).softmax(dim=-1)  # rung 4: s + 0 is s, and s - inf is -inf
print(shares)
print(shares @ pages)

# %% [markdown]
# ## Shape ledger
#
# N queries meet M keys; in self-attention both are the tokens of one sentence. B counts sentences.
#
# | symbol | what it is | axes | size in this lesson |
# |---|---|---|---|
# | x | tokens, one a row | (B, N, d) | (1, 6, 16), (1, 8, 16) |
# | W_q, W_k | make queries, keys: `Wq`, `Wk` | (d, d_k) | (16, 12) |
# | W_v | makes values: `Wv` | (d, d_v) | (16, 3) |
# | q, k; v | queries, keys; values | (B, N, d_k); (B, N, d_v) | (1, 6, 12); (1, 6, 3) |
# | blocked | causal mask, True = blocked | (N, N) | (8, 8) |
# | real | padding mask, True = real token | (B, M), M = N | (4, 4) |
# | attend | both in one, True = attend | (B, 1, N, N) | (3, 1, 6, 6) |
# | A, out | weights, outputs | (B, N, N), (B, N, d_v) | (1, 6, 6), (1, 6, 3) |

# %% [markdown]
# ## See it
#
# The four rungs. Hatched cells are not there yet. Which panels have the same weights, and in
# which row does the fourth differ from them most?

# %% nbgrader={"grade": false, "grade_id": "see-ladder", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.causal_mask.ladder(averages, open_or_not, shares, four)

# %% [markdown]
# The first three have the same weights: by a loop, as shares, as scores. In the fourth the row of *sat* is
# farthest off: *cat* gets 0.67, where the mean gives it 0.33.
#
# ## Why a decoder must not see the future
#
# A **decoder** is a model that writes: from the words so far it predicts the next one, appends it, and goes
# on. Attention computes all rows at once, so in training each row n is asked at the same time: *which word
# comes after word n?* A sentence of twelve words is eleven questions. The answers stand in the input, one
# row further down. Whoever may look there can read them off.
#
# Two texts show it. The first is **dice**: `dice` makes 64 texts of twelve rolls, each independent of the others.
# Nobody can predict them. The second has a past that helps, and six words as well: *one sheep runs and two sheep
# run and …* Whether *sheep* is followed by *runs* or *run* depends on the word before it. Only *one* or *two* is
# a free choice.
#
# The model is small: attention over words and their places, and a matrix that makes six scores. `read` is any
# attention, like the one that you write below; `masked` makes one of a mask. What you need of the calls in it:
#
# - `F.one_hot(text, 6)` makes (0, 0, 1, 0, 0, 0) of a 2, a vector for each word.
# - **Cross-entropy** is −log of the share that the model gave to the word that came, so 0 at best and
#   ln 6 = 1.79 for a guess among six. `F.cross_entropy` takes *scores*, (questions, 6), and the right words,
#   (questions,), does the softmax itself and takes the mean. `flatten(0, 1)` makes one axis of the first
#   two: (64, 11, 6) becomes (704, 6).
# - **Adam**, `torch.optim.Adam`, is an optimizer like lesson 05's `SGD`. It divides each parameter's step by
#   how large that parameter's slopes have been. `torch.Generator` is PyTorch's `rng`.


# %% nbgrader={"grade": false, "grade_id": "small-model", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab.lessons.causal_mask.texts import LONG, WORDS, dice, sheep  # LONG = 12 words


def masked(attend: Tensor) -> Callable:
    """Attention that reads where a mask says so, True = attend."""

    def read(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> tuple[Tensor, None]:
        mask = attend[: x.shape[1], : x.shape[1]]
        return F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv, attn_mask=mask), None

    return read


def predict_next(text: Tensor, parameters: list, read: Callable) -> Tensor:
    """Scores of the six words that may follow each word: (B, N) to (B, N, 6)."""
    places = torch.eye(LONG)[: text.shape[1]].expand(len(text), -1, -1)  # the same for each text
    x = torch.cat([F.one_hot(text, 6).float(), places], dim=-1)  # (B, N, 18)
    W_ask, W_spine, W_page, W_word = parameters
    return read(x, W_ask, W_spine, W_page)[0] @ W_word


def train(
    draw: Callable, read: Callable, seed: int = 1, steps: int = 200
) -> tuple[list, list[float]]:
    """Parameters after some steps on fresh texts, and the loss at each step."""
    rng = torch.Generator().manual_seed(seed)
    sizes = [(18, 64), (18, 64), (18, 64), (64, 6)]
    parameters = [torch.randn(*size, generator=rng) / size[0] ** 0.5 for size in sizes]
    optimizer = torch.optim.Adam([each.requires_grad_() for each in parameters], lr=0.02)
    history = []
    for _ in range(steps):
        text = draw(rng)
        guesses = predict_next(text, parameters, read)[:, :-1]  # nothing follows the last word
        loss = F.cross_entropy(guesses.flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return parameters, history


everything = torch.ones(LONG, LONG).bool()  # True = attend: no mask
readers = {
    "causal": masked(everything.tril()),
    "no mask": masked(everything),
    "itself alone": masked(torch.eye(LONG).bool()),
}
best = {"dice": (math.log(6), "honest best: ln 6"), "sheep": (2 * math.log(2) / 11, "honest best")}


def train_both(readers: dict[str, Callable]) -> dict[str, dict]:
    """By text and name of a reader, what `train` returns."""
    return {
        draw.__name__: {name: train(draw, read) for name, read in readers.items()}
        for draw in (dice, sheep)
    }


trained = train_both(readers)

# %% [markdown]
# Which curves will lie below the line of the honest best? And which model would you ship, going by the
# curves?

# %% nbgrader={"grade": false, "grade_id": "see-losses", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.causal_mask.losses(trained, best)

# %% [markdown]
# Without a mask both losses fall to 0: this model "predicts" even dice. A loss **too good to be true** is the
# symptom of a leak. With the causal mask dice stay at 1.79, all there is to learn. Sheep fall far below
# that, to 0.13: two of the eleven questions are free choices between two words, which cost ln 2 each, and
# 2 ln 2 / 11 = 0.126. It takes the past: a word that reads *itself alone* has to guess between *runs* and *run*
# too, five guesses in all, and 5 ln 2 / 11 = 0.315.
#
# Let the models write. They get two words: take the word with the highest
# score (`argmax` gives its place), append it, ask again. And cut fresh texts off behind each word: how large is the
# loss now, and how often does the word with the highest score follow?


# %% nbgrader={"grade": false, "grade_id": "write", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
def write(parameters: list, read: Callable, start: list[int], more: int = 10) -> str:
    text = torch.tensor([start])
    for _ in range(more):
        newest = predict_next(text, parameters, read)[:, -1].argmax(dim=-1, keepdim=True)
        text = torch.cat([text, newest], dim=1)
    return " ".join(WORDS[word] for word in text[0].tolist())


def when_cut(parameters: list, read: Callable, text: Tensor) -> tuple[float, float]:
    """The loss, and how often the next word has the highest score, with the text cut off before it."""
    asked = [predict_next(text[:, :n], parameters, read)[:, -1] for n in range(1, LONG)]
    scores, follows = torch.stack(asked, dim=1), text[:, 1:]  # (B, 11, 6), (B, 11)
    loss = F.cross_entropy(scores.flatten(0, 1), follows.flatten()).item()
    return loss, (scores.argmax(dim=-1) == follows).float().mean().item()


fresh = {draw.__name__: draw(torch.Generator().manual_seed(2)) for draw in (dice, sheep)}
for name, read in readers.items():
    parameters, history = trained["sheep"][name]
    loss, share = when_cut(parameters, read, fresh["sheep"])
    print(f"{name}: loss in training {history[-1]:.2f}; cut off {loss:.2f}, {share:.0%} right")
    for start in ([0, 2], [1, 2]):
        print("   ", write(parameters, read, start))

# %% [markdown]
# The model with the best loss writes nonsense: it learned to read what is not there when it counts. *Causal* you
# would ship: its sheep agree with their number. *Itself alone* cannot tell one sheep from two. (The seed is
# chosen: without a mask, three of seeds 1 to 20 wrote well. Cut off, the twenty were right in 58 to 83 %, and
# causal ones in 91 %.)
#
# ### Three models, three masks
#
# | model | mask, padding apart |
# |---|---|
# | **encoder**, reads a whole text (BERT) | none |
# | **decoder**, writes (GPT) | causal |
# | **encoder–decoder**, reads one text, writes another (the first Transformer, T5) | encoder: none; decoder: causal; **cross**, the decoder's queries on the encoder's keys: none |
#
# Look for the two rectangles in the third panel that the first two do not have.

# %% nbgrader={"grade": false, "grade_id": "see-three-models", "locked": true, "schema_version": 3, "solution": false, "task": false}
source, target = ["the", "cat", "sat", "down"], ["die", "Katze", "setzte", "sich", "hin"]
figures.causal_mask.three_models(source, target)

# %% [markdown]
# Bottom left, *cross*: each German word may read the whole English sentence, which is finished before the
# writing begins. No English word reads a German one.
#
# ## The lower triangle
#
# Your fourth rung, as a formula. Hiding is adding:
#
# $$
# A = \operatorname{softmax}\!\left(\frac{Q K^{\top}}{\sqrt{d_k}} + C\right), \qquad
# C_{nm} = \begin{cases} 0 & m \le n \\ -\infty & m > n \end{cases}
# $$
#
# Why *before* softmax? The power of a blocked key is then 0 in the row's sum as well: it gets nothing,
# and takes nothing from the others.
#
# ### A mask of True and False
#
# Code keeps the triangle as a bool tensor, and there are two ways to say it:
#
# | convention | True means | causal mask | who reads it so |
# |---|---|---|---|
# | **blocked** | may not be read | True *above* the diagonal | `masked_fill` with −∞; `nn.MultiheadAttention`, PyTorch's module with projections and heads |
# | **attend** | may be read | True *on and below* the diagonal | SDPA's `attn_mask` |
#
# One is `~` of the other. Your `causal_mask` uses the first, True = blocked. `torch.triu` is `tril`'s
# counterpart: it keeps the entries on and above a diagonal. Its second argument says which diagonal to begin
# with. Guess what −1 does before you run it.

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
# the tensor is to live; None is PyTorch's default. One token has nothing to block.

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
# Everything is at hand: lesson 05's block with one more line, your fourth rung.

# %% [markdown]
# ### Exercise: `attention`
#
# difficulty ●●○ · 10–15 min · 5 points
#
# Write causal self-attention for a batch. Return the output and the weights. Both are compared with
# `F.scaled_dot_product_attention(q, k, v, is_causal=True)`, to 1e-6 in float64, gradients included.
#
# You need `@`, `F.softmax`, `torch.triu` (inside your `causal_mask`) and tensor methods. Calls that do the
# whole job are banned, as in lesson 05, and using one forfeits the points. How you write it is otherwise up
# to you, as numbers are compared and not code. Widths that do not fit have to raise an error; PyTorch's own
# `RuntimeError` will do.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Write attention without a mask first and look at the weights. Then find the one place where blocked
# scores can be replaced so that softmax gives them exactly 0. Your `causal_mask` says where; make it on x's device.
#
# <details><summary>Hint 2: the shapes</summary>
#
# x (B, N, d) times Wq (d, d_k) is q (B, N, d_k). To score every query with every key, k's last two
# axes change places: `.mT`, or `.transpose(-2, -1)`. The scores are (B, N, N), and so are the weights.
# The mask is (N, N): it lines up with the last two axes and serves every sentence. √d_k comes from the
# last axis of q, not of x.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> tuple[Tensor, Tensor]:
    """Causal self-attention: each token reads itself and the tokens before it.

    Args:
        x: (B, N, d), float tokens.
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
# Now the first six words, each with a fixed random vector, so that both *the* have the same one. Is the upper
# triangle of your own weights *exactly* 0?

# %% nbgrader={"grade": false, "grade_id": "use-attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
rng = torch.Generator().manual_seed(13)


def normal(*size: int) -> Tensor:
    """Standard normal float64 numbers."""
    return torch.randn(*size, generator=rng, dtype=torch.float64)


d, d_k, d_v = 16, 12, 3
sentence = "the cat sat on the mat yesterday afternoon".split()
vector = {word: normal(d) for word in ["ran", *dict.fromkeys(sentence)]}
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
# 0.0, not 0.0000001. Rows 1 and 5 are both *the* and ask the same question, with different
# answers: the first has one book to read, the second five. Without the mask their rows are the same. So a causal
# mask tells attention something about order, which lesson 09 is about.
#
# These vectors are random and say nothing about words. Here is attention that was learned: the
# small model of lesson 01, causal like yours, on a sentence of its own. A verb may follow *dogs*, and may follow
# *see*. Where do the two look? And what stands on the diagonal?

# %% nbgrader={"grade": false, "grade_id": "see-causal-weights", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import small

its_own = "<s> the king behind the dogs that the boys see runs".split()
layer, head = small.head("subject")  # counted from 0
its_blocked = causal_mask(len(its_own))  # True = blocked
figures.live.WhoListens(
    small.weights(its_own), its_own, blocked=its_blocked, shown=4 * layer + head
)

# %% [markdown]
# *See* puts 0.99 on *king*, past *dogs* and *boys*; *dogs*, where the verb could come as well, 0.90. The
# **diagonal** is a word that reads itself. The causal mask never closes it, so it leaves no row empty, and a row that
# finds nothing else to read still has its 1 to give away: *that* keeps 0.90. Both layers have the same triangle,
# in every head.
#
# Now your prediction. Replace *sat* and count the output rows that change, with your causal attention
# and without a mask.


# %% nbgrader={"grade": false, "grade_id": "count-changes", "locked": true, "schema_version": 3, "solution": false, "task": false}
def without_mask(x: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv)


def changed_rows(old: Tensor, new: Tensor) -> list[str]:
    return [sentence[n] for n in range(8) if not torch.allclose(old[0, n], new[0, n])]


x, other = embed(sentence), embed(["ran" if word == "sat" else word for word in sentence])
print("causal: ", changed_rows(attention(x, Wq, Wk, Wv)[0], attention(other, Wq, Wk, Wv)[0]))
print("no mask:", len(changed_rows(without_mask(x), without_mask(other))), "rows")

# %% [markdown]
# Six rows, answer B; without a mask all eight. This is a test worth remembering, as it needs
# no reference: **change the future, and nothing in the past may change.**
#
# ## A test of your own
#
# Just now you changed one word and looked. That catches a mask that is missing. A bug leaves less behind: one row
# that reads one later row, in one sentence of the batch, in one number, by a millionth. Make the test so thorough
# that it catches that too. It need not know what is inside.

# %% [markdown]
# ### Exercise: `looks_ahead`
#
# difficulty ●●○ · 8–12 min · 2 points
#
# `fn` takes tokens (B, N, d) and returns one tensor (B, N, e). Return True, a Python bool, if any row of its result
# depends on a *later* row of the same sentence, and False if none does. A row may read itself and earlier ones. A
# sentence of one word has no future.
#
# You can rely on this: the same tokens give the same result. Where `fn` leaks, an earlier row moves by 1e-6 or more
# when later ones are exchanged for fresh normal numbers. Where it does not, rounding moves it by less than 1e-12.
#
# That is all. `fn` takes tensors of x's shape and dtype alone, so you cannot cut the future off, and it may have no
# slopes to ask for. Leave x as it is.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-looks_ahead", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Cut the sentence in two and exchange all that comes after the cut. Then no row before it has a reason to move. Which
# leaks does a cut in the middle miss?
#
# <details><summary>Hint 2: the shapes</summary>
#
# Behind a cut after n rows x[:, n:] is (B, N − n, d), in every sentence. `x.clone()` is a copy to write into, and
# `torch.randn_like` makes normal numbers of a tensor's shape and dtype. What you compare is (B, n, e).
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

# %% nbgrader={"grade": false, "grade_id": "use-looks_ahead", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("causal: ", looks_ahead(lambda x: attention(x, Wq, Wk, Wv)[0], x))
print("no mask:", looks_ahead(without_mask, x))

# %% [markdown]
# *Break it on purpose* begins with this test.
#
# ## Padding
#
# Sentences in a batch have different lengths, and a tensor is a rectangle. The short ones are filled up at
# the end with a meaningless token, **padding**: dummies on the shelf, which nobody is to open.
#
# | sentence | length | 1 | 2 | 3 | 4 | 5 | 6 |
# |---|---|---|---|---|---|---|---|
# | 1 | 6 | the | cat | sat | on | the | mat |
# | 2 | 3 | the | cat | sat | · | · | · |
# | 3 | 1 | afternoon | · | · | · | · | · |
#
# The **padding mask** of a batch has one row a *sentence* and one column a position, (B, max_len). Ours says
# **True = real token**; for the keys of SDPA that is True = attend.

# %% [markdown]
# ### Exercise: `padding_mask`
#
# difficulty ●○○ · 3–5 min · 1 point
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
# A decoder trained on a batch has two rules: no future, no padding. SDPA takes one mask, **True = attend**, and
# a key may be read if it is real *and* not in the future:
#
# $$\text{attend}_{b\,1\,n\,m} = (m \le n) \;\wedge\; (m < \text{length}_b)$$
#
# (Positions are counted from 0, as in code.) The padding belongs to the *keys*, the columns. (A dummy's own row is
# computed as well. Nobody reads its output, and the loss leaves it out.) The axis of size 1 stands where
# scores have their heads, (B, H, N, N): one mask for all heads.
#
# (With padding at the end, the triangle alone already keeps real words from dummies; with padding in front it
# does not.)

# %% [markdown]
# ### Exercise: `decoder_mask`
#
# difficulty ●●○ · 8–10 min · 2 points
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
# Look at how many columns are open, and at the rows of the dummies.

# %% nbgrader={"grade": false, "grade_id": "see-decoder_mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
lengths = torch.tensor([6, 3, 1])
attend = decoder_mask(lengths, 6)  # True = attend
titles = ["length 6", "length 3", "length 1"]
figures.causal_mask.masks(
    {title: attend[b, 0] for b, title in enumerate(titles)}, [str(n) for n in range(1, 7)]
)

# %% [markdown]
# The first panel is the plain lower triangle. In the other two all columns from the first dummy on are
# closed, for every row. A sentence of length 0 would leave rows with nothing to read. They get 0 from SDPA and
# from this course, and NaN from softmax alone (lesson 05). `nn.MultiheadAttention` of PyTorch 2.13 gives NaN where
# it returns weights, its default, and on its *fast path*, which `eval()` without gradients can take; else not.
#
# ## Two traps
#
# ### True means opposite things
#
# One mask, handed to SDPA and to PyTorch's module. To make them comparable, the module gets projections that change
# nothing, and SDPA gets unit vectors for values, so that its output *is* the weights. The mask is True above
# the diagonal.


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

# %% [markdown]
# Hatched in the figure is what ought to be blocked. Where does the colour lie?

# %% nbgrader={"grade": false, "grade_id": "see-trap-true", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.causal_mask.weights_in_panels(
    {"nn.MultiheadAttention": by_module[0], "SDPA, the same mask": by_sdpa[0]}, four, four, upper
)

# %% [markdown]
# Same mask, same inputs, opposite triangles. To SDPA the mask said: read the future and nothing else, not even
# yourself. No error, no warning, and row sums of 1 everywhere but in the last row, which has no future. Put the
# convention in the name (`attend`, `blocked`) or in a comment beside it.
#
# ### Paint a mask
#
# Click a cell or drag over several; the weights follow, and below them the mask stands in both conventions. Block
# a row throughout. Then press *causal and padding*, with six real tokens, and find the cells that *causal* had
# left open.

# %% nbgrader={"grade": false, "grade_id": "touch-mask-painter", "locked": true, "schema_version": 3, "solution": false, "task": false}
scores_of_eight = (embed(sentence) @ Wq @ (embed(sentence) @ Wk).mT)[0] / math.sqrt(d_k)
painter = figures.live.MaskPainter(scores_of_eight, sentence, preset="causal")
painter

# %% [markdown]
# The row that you blocked shows zeros, not NaN. *Causal and padding* closed three more cells, all of them in
# the rows of the two dummies.
#
# ### is_causal aligns top-left
#
# SDPA makes the triangle itself if you say `is_causal=True`. A decoder that writes keeps the keys and values of
# all words so far (a **cache**, lesson 11) and asks only for the newest. Say that four words are there and the
# last two ask: N = 2, M = 4. *Sat* may read three words, *on* all four. `is_causal=True` sees a 2 × 4 rectangle
# and begins its triangle at the top-left corner.

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
# *Sat* reads *the* alone, and *on* reads two words of four. Neither reads *itself*. Nothing leaks, so no test for
# the future would notice; the model forgets instead. When N ≠ M, write the mask out, or take
# `causal_lower_right(2, 4)` from `torch.nn.attention.bias`. (The newest word alone has no future: pass no mask.)
#
# ## Break it on purpose
#
# Six functions, `read_a` to `read_f`. Each is `attention` with one thing wrong, and takes padding as well: `real`,
# (B, N), True = real token. In another order, they
#
# - take softmax over the wrong axis,
# - leave out √d_k,
# - mask after softmax,
# - pass the padding mask as it is, (B, N),
# - begin the triangle one place too late,
# - fill in −1e9 instead of −∞.
#
# `symptoms` examines one. Which line will give which failure away? Guess before you run it.


# %% nbgrader={"grade": false, "grade_id": "symptoms", "locked": true, "schema_version": 3, "solution": false, "task": false}
from contextlib import suppress

from attnlab.lessons.causal_mask.failures import SIX, right, side_by_side

read_a, read_b, read_c, read_d, read_e, read_f = SIX
W = (Wq, Wk, Wv)


def runs(read: Callable, *inputs: Tensor) -> str:
    with suppress(RuntimeError):
        read(*inputs)
        return "runs"
    return "error"


def symptoms(read: Callable) -> dict:
    """What gives a mistake away."""
    x = embed(six)
    weights = read(x, *W)[1]
    x4 = embed(four).expand(4, -1, -1)
    real = padding_mask(torch.tensor([1, 3, 2, 4]), 4).flip(-1)  # True = real; padding in front
    to_padding = real[:, :, None] & ~real[:, None, :]  # a real query, a key that is none
    return {
        "row sums, farthest from 1": (weights.sum(-1) - 1).abs().max(),
        "column sums, farthest from 1": (weights.sum(-2) - 1).abs().max(),
        "entropy of a row, mean": torch.special.entr(weights).sum(-1).mean(),
        "weight above the diagonal": weights.triu(1).sum(),
        "looks ahead, says your test": str(looks_ahead(lambda x: read(x, *W)[0], x)),
        "4 sentences of 4: on padding": read(x4, *W, real)[1][to_padding].sum(),
        "2 sentences of 4": runs(read, x4[:2], *W, real[:2]),
        "float16": runs(read, *(each.half() for each in (x, *W))),
        "a row that is all blocked, sum": read(x4[:1], *W, real[:1])[1][0, 0].sum(),
    }


print(side_by_side({read.__name__: symptoms(read) for read in (right, *SIX)}))

# %% [markdown]
# Write a name beside each letter. Then see whether you agree:

# %% [markdown] nbgrader={"grade": false, "grade_id": "guess-failures", "locked": true, "schema_version": 3, "solution": false, "task": false}
# **1.** Three of them look ahead. Which is which?
#
# <details><summary>A. b masks after softmax, d begins its triangle too late, e has the wrong axis</summary>
#
# Yes. b's rows have lost weight, d has weight above the diagonal, e's *columns* add up to 1.
#
# </details>
# <details><summary>B. b has the wrong axis, d begins its triangle too late, e masks after softmax</summary>
#
# Not this one: d is right, but it is e whose *columns* add up to 1, all of them.
#
# </details>
# <details><summary>C. b begins its triangle too late, d masks after softmax, e has the wrong axis</summary>
#
# Not this one: e is right, but of the three only d has weight above the diagonal.
#
# </details>
#
# **2.** And the others?
#
# <details><summary>A. a leaves out √d_k, c fills in −1e9, f passes its mask as (B, N)</summary>
#
# Not this one: f is right, but c's entropy is lower, so its rows are sharper, and a has no float16.
#
# </details>
# <details><summary>B. a passes its mask as (B, N), c leaves out √d_k, f fills in −1e9</summary>
#
# Not this one: c is right, but it is f that stops where B ≠ N.
#
# </details>
# <details><summary>C. a fills in −1e9, c leaves out √d_k, f passes its mask as (B, N)</summary>
#
# Yes. float16 has no number as large as a's, c's rows are sharper, and f stops where B ≠ N (and B > 1).
#
# </details>

# %% [markdown]
# ### Softmax over the wrong axis
#
# The softmax of `read_e` has `dim=-2`, the queries: *columns* add up to 1 and rows do not. The triangle is empty, so a
# look at it alone would have passed it. But it leaks all the same: how much of a book an early reader gets depends on
# who comes later.

# %% nbgrader={"grade": false, "grade_id": "break-axis", "locked": true, "schema_version": 3, "solution": false, "task": false}
check(read_e, name="attention")

# %% [markdown]
# ### No √d_k
#
# In `read_c` rows add up to 1 and nothing leaks: tests that need no reference find nothing. The one symptom above is
# sharpness, and on average it grows with d_k. A comparison with right numbers finds it.

# %% nbgrader={"grade": false, "grade_id": "break-scale", "locked": true, "schema_version": 3, "solution": false, "task": false}
check(read_c, name="attention")

# %% [markdown]
# ### Mask after softmax
#
# In `read_b` rows add up to *less than 1*, all but the last: the blocked keys had already taken their share. And it
# leaks: that share depends on the future.

# %% nbgrader={"grade": false, "grade_id": "break-late", "locked": true, "schema_version": 3, "solution": false, "task": false}
check(read_b, name="attention")

# %% [markdown]
# Divide each row by its sum afterwards, and what remains is e^s over the sum of e^s of the *open* keys: the
# same fraction as with −∞ before softmax. So a late mask is wrong **without renormalising**; with it, it is
# mathematically the same.

# %% nbgrader={"grade": false, "grade_id": "late-but-renormalised", "locked": true, "schema_version": 3, "solution": false, "task": false}
late, due = read_b(embed(six), *W)[1], attention(embed(six), *W)[1]
print("same weights:", torch.allclose(late / late.sum(dim=-1, keepdim=True), due))

# %% [markdown]
# ### A mask of the wrong shape
#
# Masks broadcast against the scores from the right. (N, N) serves every sentence. A padding mask is (B, N), one
# row a *sentence*, and has to be told where its axes go: (B, 1, N) for scores (B, N, N). `read_f` passes it as it is,
# and B meets the axis of the queries. With two sentences or more and B ≠ N you get an error, and that is luck. **With
# B = N it runs**: query n of *every* sentence gets the padding of *sentence n*. This is why tests use sizes that all
# differ. One axis further left a mask of (B, N, N) meets the *heads*; so `decoder_mask` has its axis of 1. A (B, N)
# mask fits as it is in the `key_padding_mask` of `nn.MultiheadAttention`, and in it True = blocked.
#
# ### A diagonal off by one
#
# `read_d` has `triu(2)` where `triu(1)` was meant, True = blocked: each word sees one word ahead. One off to the
# other side, `triu(0)`, no word may read itself, and the first row is empty.

# %% nbgrader={"grade": false, "grade_id": "break-off-by-one", "locked": true, "schema_version": 3, "solution": false, "task": false}
check(read_d, name="attention")

# %% [markdown]
# ### −1e9 instead of −∞
#
# Much code writes −1e9, "a very low score", as `read_a` does. In most rows that is as good: e to the −1e9 is 0 in
# every format. But float16 ends at 65,504, and `masked_fill` refuses −1e9 there with an error. And a row that is *all*
# blocked reads everything: equal scores are shared out evenly, and nobody is told.
#
# ### Would training have told you?
#
# Let your own `attention` learn dice and sheep, and four of the six beside it. (Without padding `read_a` and `read_f`
# are right.) Then cut the texts off, and let all five write. Which curves will end below the honest best, does one end
# above it, and who will write well?

# %% nbgrader={"grade": false, "grade_id": "train-failures", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
readers = {
    "yours": attention,
    "wrong axis": read_e,
    "late mask": read_b,
    "off by one": read_d,
    "no √d_k": read_c,
}
trained = train_both(readers)
for name, read in readers.items():
    for text, found in trained.items():
        parameters, history = found[name]
        loss, share = when_cut(parameters, read, fresh[text])
        print(f"{name:10} {text:5}: loss {history[-1]:.2f}; cut off {loss:5.2f}, {share:.0%} right")
    print("           writes", write(parameters, read, [1, 2]))
figures.causal_mask.losses(trained, best)

# %% [markdown]
# Dice give three away: nothing honest ends below 1.79. Off by one is as bad as no mask at all: the one word too many
# is the answer. Cut off, wrong axis and late mask do far worse than a guess on dice. Yet both wrote good sheep on 19 of
# seeds 1 to 20. Wrong axis leaked there too, ending below 0.1 on eleven, but away from the two free choices its cut-off
# loss stayed under 0.05 on 19: it looks ahead at the choices, where whatever it writes is right. So good writing
# proves nothing. **Compare the loss in training with the loss on texts that are cut off.**
#
# *No √d_k* leaks nothing and gets stuck above the line: on 13 of those seeds it never fell below 0.15, which yours
# passed within 40 steps on each. After 20 steps one key had 0.99 of the weight in 34 to 84 % of its rows (the first apart), and in none
# of yours; softmax has hardly a slope there (lesson 04). With 400 steps, a quarter as large, 15 of the 20 got there.
#
# ## Precision: what 1e-6 can promise
#
# Why are you checked in float64, when models run in float32 or less? Count in how many of 100 draws correct
# code is off by more than 1e-6, with N = d = 64 and tokens of standard deviation *std*.


# %% nbgrader={"grade": false, "grade_id": "precision", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
def causal_sdpa(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv, is_causal=True)


for std in (0.5, 1.0, 3.0):
    misses = [0, 0]
    for seed in range(100):
        seeded = torch.Generator().manual_seed(seed)
        x, matrices = (torch.randn(n, 64, 64, generator=seeded) for n in (1, 3))
        arrays = [std * x, *(matrices / 8)]
        exact = causal_sdpa(*(array.double() for array in arrays))
        for which, result in enumerate((attention(*arrays)[0], causal_sdpa(*arrays))):
            misses[which] += (result - exact).abs().max().item() > 1e-6
    print(f"std {std}: off by more than 1e-6: yours {misses[0]:3}, SDPA {misses[1]:3} of 100")

# %% [markdown]
# At std 1 float32 misses now and then, at std 3 always, and SDPA with you: the fault is in the format. So this
# course grades in **float64 at 1e-6**, with one more case in float32 at 1e-4.
#
# ## Cost
#
# The mask blocks N(N − 1)/2 of N² cells, nearly half. Your function computes them all the same, and
# throws them away. So does SDPA on a CPU with a tensor as `attn_mask`. `is_causal=True` is a promise
# about shape, which lets it skip blocks above the diagonal without looking.

# %% [markdown]
# ## Check yourself

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# **1. Why is a decoder masked in training, when it cannot see the future in use anyway?**
#
# <details><summary>A. To save computation</summary>
#
# Not this one: the plain way computes all scores and throws nearly half of them away. Saving is a
# side effect of clever programs.
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
# **2. `blocked = torch.ones(5, 5).triu(1).bool()`. How do you pass it to SDPA?**
#
# <details><summary>A. attn_mask=blocked</summary>
#
# Not this one: SDPA reads True = attend. Each token would read the future alone, and the last one
# nothing.
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
# **3. Four words are in the cache and the newest two ask, `is_causal=True`. What is wrong?**
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
#    hides them, and a loss below what an honest model can reach gives a leak away
#    ([why](#Why-a-decoder-must-not-see-the-future)). Your `looks_ahead` finds one without a
#    reference ([a test](#A-test-of-your-own)).
# 2. −∞ says that a book is not there yet: before softmax it gives a weight of exactly 0 and leaves the
#    ratios of the others alone. After softmax a mask is wrong, unless you renormalise
#    ([four rungs](#By-hand:-four-rungs), [too late](#Mask-after-softmax)).
# 3. Padding is blocked as a key, in the columns: (B, 1, 1, N)
#    ([padding](#Padding), [both](#Causal-and-padding-in-one)).
# 4. True = attend in SDPA and True = blocked in `nn.MultiheadAttention`; `is_causal` aligns top-left
#    ([two traps](#Two-traps)).
# 5. Wrong axis: columns add up to 1. No √d_k: too sharp. Late mask: rows below 1. Wrong shape: an error,
#    or silence when sizes are equal. Off by one: too good to be true. −1e9: an empty row reads everything
#    ([break it](#Break-it-on-purpose)).
#
# ### Sources
#
# - The causal mask as −∞ before softmax, and the three attentions of an encoder–decoder: Vaswani et
#   al. 2017, *Attention Is All You Need*, section 3.2.3.
#   [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# - The four rungs, from a loop over the past to queries and keys: A. Karpathy 2023, *Let's build GPT: from
#   scratch, in code, spelled out*, a video, versions 1 to 4.
#   [youtu.be/kCc8FmEb1nY](https://youtu.be/kCc8FmEb1nY)
# - An encoder without a causal mask: Devlin et al. 2018, *BERT*, section 3.
#   [arXiv:1810.04805](https://arxiv.org/abs/1810.04805)
# - PyTorch's documentation: `attn_mask` and `is_causal` of
#   [scaled_dot_product_attention](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html),
#   `attn_mask` and `key_padding_mask` of
#   [MultiheadAttention](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html).
#
# **To carry over.** One softmax gives each reader one way to share out its attention. *Cat* may want
# to know who sat *and* where, at the same time. How would you give it two questions, without a second
# model?

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
