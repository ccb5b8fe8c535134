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
# | **You will be able to** | say what a causal mask means, and write causal attention that equals PyTorch's; hide padding and the future with one mask; recognise six failures by their symptom; say which way round a mask is before you pass it on |
# | **Minutes** | about 80 |
# | **You need** | lessons 03 to 05: masks, √d_k, batched tensors and `F.scaled_dot_product_attention` |
# | **Runs on** | CPU; needs no network |
# | **Points** | 9, in four exercises |
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
# At the library's reference desk a query is what a reader asks, a key is what a book's spine
# promises, a value is what its pages say. Today the books are *delivered one at a time*, in the order
# of the words, and each reader arrives together with one book. Nobody can open a book that has not
# been delivered yet. The running sentence has eight words: *the cat sat on the mat yesterday
# afternoon*.

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# **1.** Every word reads itself and the words before it. You replace the last word, *afternoon*, by
# *morning*. How many of the eight output rows change?
#
# <details><summary>A. All eight</summary>
#
# Not this one: that is what happens when every word may read every word. Here seven readers left
# before the last book arrived.
#
# </details>
# <details><summary>B. One</summary>
#
# Yes. Only the last row reads the last word, as its own.
#
# </details>
# <details><summary>C. None</summary>
#
# Not this one: a word may read itself, so the last row changes.
#
# </details>
#
# **2.** Now you replace *sat*, the third word, instead. How many rows change?
#
# <details><summary>A. Three</summary>
#
# Not this one: *the* and *cat* came before *sat* and cannot have read it.
#
# </details>
# <details><summary>B. Six</summary>
#
# Yes. Rows 3 to 8: *sat* itself and the five words after it. Further down you count both with your own
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
# The model is small: attention over words and their places, and a matrix that makes six scores. What you need
# of the calls in it:
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


def predict_next(text: Tensor, parameters: list, attend: Tensor) -> Tensor:
    """Scores of the six words that may follow each word: (B, N) to (B, N, 6)."""
    n = text.shape[1]
    places = torch.eye(LONG)[:n].expand(len(text), -1, -1)  # the same for each text
    x = torch.cat([F.one_hot(text, 6).float(), places], dim=-1)  # (B, N, 18)
    W_ask, W_spine, W_page, W_word = parameters
    asks, spines, pages = x @ W_ask, x @ W_spine, x @ W_page
    read = F.scaled_dot_product_attention(asks, spines, pages, attn_mask=attend[:n, :n])
    return read @ W_word


def train(draw: Callable, attend: Tensor, seed: int = 1) -> tuple[list, list[float]]:
    """Parameters after 200 steps on fresh texts, and the loss at each step."""
    rng = torch.Generator().manual_seed(seed)
    sizes = [(18, 64), (18, 64), (18, 64), (64, 6)]
    parameters = [torch.randn(*size, generator=rng) / size[0] ** 0.5 for size in sizes]
    optimizer = torch.optim.Adam([each.requires_grad_() for each in parameters], lr=0.02)
    history = []
    for _ in range(200):
        text = draw(rng)
        guesses = predict_next(text, parameters, attend)[:, :-1]  # nothing follows the last word
        loss = F.cross_entropy(guesses.flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    return parameters, history


everything = torch.ones(LONG, LONG).bool()  # True = attend: no mask
past = everything.tril()  # True = attend: causal
itself = torch.eye(LONG).bool()  # True = attend: each word reads itself alone
masks = {"no mask": everything, "causal": past, "itself alone": itself}
trained = {
    (draw.__name__, name): train(draw, mask)
    for draw in (dice, sheep)
    for name, mask in masks.items()
}

# %% [markdown]
# Which curves will lie below the line of the honest best? And which model would you ship, going by the
# curves?

# %% nbgrader={"grade": false, "grade_id": "see-losses", "locked": true, "schema_version": 3, "solution": false, "task": false}
best = {"dice": (math.log(6), "honest best: ln 6"), "sheep": (2 * math.log(2) / 11, "honest best")}
figures.causal_mask.losses(
    {text: ({name: trained[text, name][1] for name in masks}, *best[text]) for text in best}
)

# %% [markdown]
# Without a mask both losses fall to 0: this model "predicts" even dice. A loss **too good to be true** is the
# symptom of a leak. With the causal mask dice stay at 1.79, all there is to learn. Sheep fall far below
# that, to 0.13: two of the eleven questions are free choices between two words, which cost ln 2 each, and
# 2 ln 2 / 11 = 0.126. It takes the past: a word that reads *itself alone* has to guess between *runs* and *run*
# too, five guesses in all, and 5 ln 2 / 11 = 0.315.
#
# Let the models write. They get two words: take the word with the highest
# score (`argmax` gives its place), append it, ask again. And take fresh texts, cut them off behind each word, and
# count how often the word with the highest score is the one that follows.


# %% nbgrader={"grade": false, "grade_id": "write", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
def write(parameters: list, attend: Tensor, start: list[int], more: int = 10) -> str:
    text = torch.tensor([start])
    for _ in range(more):
        newest = predict_next(text, parameters, attend)[:, -1].argmax(dim=-1, keepdim=True)
        text = torch.cat([text, newest], dim=1)
    return " ".join(WORDS[word] for word in text[0].tolist())


def right_when_cut(parameters: list, attend: Tensor, text: Tensor) -> float:
    """How often the next word has the highest score, with the text cut off before it."""
    scores = [predict_next(text[:, :n], parameters, attend)[:, -1] for n in range(1, LONG)]
    return (torch.stack(scores, dim=1).argmax(dim=-1) == text[:, 1:]).float().mean().item()


fresh = sheep(torch.Generator().manual_seed(2))
for name, mask in masks.items():
    parameters, history = trained["sheep", name]
    share = right_when_cut(parameters, mask, fresh)
    print(f"{name}: loss in training {history[-1]:.2f}; cut off, {share:.0%} right")
    for start in ([0, 2], [1, 2]):
        print("   ", write(parameters, mask, start))

# %% [markdown]
# The model with the best loss writes nonsense: it learned to read what is not there when it counts. *Causal* you
# would ship: its sheep agree with their number. *Itself alone* cannot tell one sheep from two. (The seed is
# chosen: without a mask, three of seeds 1 to 20 wrote well. Cut off, the twenty were right in 58 to 83 %, and
# causal ones in 91 %.)
#
# ### Three models, three masks
#
# Whether the future is hidden depends on what the model is for:
#
# | model | mask, padding apart |
# |---|---|
# | **encoder**, reads a whole text (BERT) | none |
# | **decoder**, writes (GPT) | causal |
# | **encoder–decoder**, reads one text, writes another (the first Transformer) | encoder: none; decoder: causal; **cross**, the decoder's queries on the encoder's keys: none |
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
# In words: add 0 to the scores of what may be read and −∞ to the others, then take softmax over the keys.
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
# <details><summary>Hint 3: an outline</summary>
#
# - Make a square of ones on the device.
# - Cut out the triangle that begins one above the main diagonal.
# - Turn numbers into True and False with the tensor's `bool` method.
#
# </details>
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
# scores can be replaced so that softmax gives them exactly 0. Your `causal_mask` says where.
#
# <details><summary>Hint 2: the shapes</summary>
#
# x (B, N, d) times Wq (d, d_k) is q (B, N, d_k). To score every query with every key, k's last two
# axes change places: `.mT`, or `.transpose(-2, -1)`. The scores are (B, N, N), and so are the weights.
# The mask is (N, N): it lines up with the last two axes and serves every sentence. √d_k comes from the
# last axis of q, not of x.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. Project x with each of the three matrices.
# 2. Multiply the queries with the transposed keys; divide by the square root of their width.
# 3. Make the mask for N tokens, on x's device. Where it is True, fill in −∞: `masked_fill` returns a
#    new tensor.
# 4. Softmax over the last axis.
# 5. Multiply with the values. Return the product and the weights, in this order.
#
# </details>
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
vector = {word: normal(d) for word in ["morning", "ran", *dict.fromkeys(sentence)]}
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
# 0.0, not 0.0000001. Here is the whole sentence. The vectors are random, so who listens to whom says nothing
# about words. Go through the rows by pointer, or by arrow keys. Which row's entropy did you know beforehand? Then
# compare row 1 with row 5: both are *the*.

# %% nbgrader={"grade": false, "grade_id": "see-causal-weights", "locked": true, "schema_version": 3, "solution": false, "task": false}
out, weights = attention(embed(sentence), Wq, Wk, Wv)
blocked = causal_mask(8)  # True = blocked
figures.live.WhoListens(weights[0], sentence, blocked=blocked)

# %% [markdown]
# Row 1 has one book, so its entropy is 0, whatever the vectors are; row n has n books, which allow at most
# log n. Both *the* ask the same question and get different answers: the first has one book to read, the second
# has five. Without the mask their rows are the same. So a causal mask tells attention something about order,
# which lesson 09 is about.
#
# Now your two predictions. Replace a word and count the output rows that change, with your causal attention
# and without a mask.


# %% nbgrader={"grade": false, "grade_id": "count-changes", "locked": true, "schema_version": 3, "solution": false, "task": false}
def without_mask(x: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv)


def changed_rows(old: Tensor, new: Tensor) -> list[str]:
    return [sentence[n] for n in range(8) if not torch.allclose(old[0, n], new[0, n])]


for position, word in ((7, "morning"), (2, "ran")):
    x, other = embed(sentence), embed([*sentence[:position], word, *sentence[position + 1 :]])
    print(f"{sentence[position]} -> {word}")
    print("  causal: ", changed_rows(attention(x, Wq, Wk, Wv)[0], attention(other, Wq, Wk, Wv)[0]))
    print("  no mask:", len(changed_rows(without_mask(x), without_mask(other))), "rows")

# %% [markdown]
# One row and six rows, B and B; without a mask all eight. This is a test worth remembering, as it needs
# no reference: **change the future, and nothing in the past may change.**
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
# <details><summary>Hint 3: an outline</summary>
#
# - Count the positions with `torch.arange`, on the device of the lengths.
# - Give the lengths a second axis of size 1.
# - Compare the two: a position is real if it is smaller than the length of its sentence.
#
# </details>
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
# In words, with positions counted from 0 as in code: in sentence b, query n may read key m if m does not come
# later and lies within the sentence. The padding belongs to the *keys*, the columns. (A dummy's own row is
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
# <details><summary>Hint 3: an outline</summary>
#
# - Take your causal mask and turn it round with `~`.
# - Take your padding mask and insert two axes of size 1 in its middle, by indexing with `None`.
# - Combine the two with `&`, which broadcasts.
#
# </details>
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
print("nn.MultiheadAttention, True = blocked")
print(by_module[0])
print("SDPA, True = attend")
print(by_sdpa[0])

# %% [markdown]
# Hatched in the figure is what ought to be blocked. Where does the colour lie?

# %% nbgrader={"grade": false, "grade_id": "see-trap-true", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.causal_mask.weights_in_panels(
    {"nn.MultiheadAttention": by_module[0], "SDPA, the same mask": by_sdpa[0]}, four, four, upper
)

# %% [markdown]
# Same mask, same inputs, opposite triangles. To SDPA the mask said: read the future and nothing else, not even
# yourself. No error, no warning, and row sums of 1 everywhere but in the last row, which has no future. A third
# spelling is right for neither: the 0s and 1s of a mask as *floats*. Float masks are added, so that a 1 is worth
# one point of score and blocks nothing. A float mask of 0 and −∞ hides the same from both. For bool masks, put
# the convention in the name (`attend`, `blocked`) or in a comment beside it.
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
# Six failures, each with a symptom. First a function that prints symptoms. Say what each will be before you run
# it.


# %% nbgrader={"grade": false, "grade_id": "symptoms", "locked": true, "schema_version": 3, "solution": false, "task": false}
def symptoms(weights: Tensor) -> None:
    """Print what gives a mistake away: (1, N, N) causal weights."""
    a = weights[0]
    print("row sums:      ", a.sum(-1).numpy().round(2))
    print("column sums:   ", a.sum(-2).numpy().round(2))
    print("future, summed:", round(a.triu(1).sum().item(), 3))
    print("largest weight after row 1:", round(a[1:].max().item(), 3))


x = embed(six)
symptoms(attention(x, Wq, Wk, Wv)[1])

# %% [markdown]
# These are the healthy ones: rows add up to 1, columns to anything, nothing in the future.
#
# ### Softmax over the wrong axis


# %% nbgrader={"grade": false, "grade_id": "break-axis", "locked": true, "schema_version": 3, "solution": false, "task": false}
def over_queries(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> tuple[Tensor, Tensor]:
    asks, spines, pages = (x @ matrix for matrix in (Wq, Wk, Wv))
    similarity = asks @ spines.mT / math.sqrt(Wq.shape[1])
    shares = similarity.masked_fill(causal_mask(x.shape[1]), -math.inf).softmax(
        dim=-2
    )  # True = blocked
    return shares @ pages, shares


symptoms(over_queries(x, Wq, Wk, Wv)[1])
check(over_queries, name="attention")

# %% [markdown]
# The symptom: *columns* add up to 1 and rows do not. The future is empty here, so a look at the triangle alone
# would have passed it. But it leaks all the same: how much of a book an early reader gets depends on who comes
# later.
#
# ### No √d_k


# %% nbgrader={"grade": false, "grade_id": "break-scale", "locked": true, "schema_version": 3, "solution": false, "task": false}
def no_scale(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> tuple[Tensor, Tensor]:
    asks, spines, pages = (x @ matrix for matrix in (Wq, Wk, Wv))
    hidden = (asks @ spines.mT).masked_fill(causal_mask(x.shape[1]), -math.inf)  # True = blocked
    shares = hidden.softmax(dim=-1)
    return shares @ pages, shares


symptoms(no_scale(x, Wq, Wk, Wv)[1])
check(no_scale, name="attention")

# %% [markdown]
# Rows add up to 1 and nothing leaks: tests that need no reference find nothing. The one symptom
# above is sharpness, and on average it grows with d_k. Lesson 04 measured what that does to learning. A
# comparison with right numbers finds it.
#
# ### Mask after softmax


# %% nbgrader={"grade": false, "grade_id": "break-late", "locked": true, "schema_version": 3, "solution": false, "task": false}
def mask_too_late(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> tuple[Tensor, Tensor]:
    asks, spines, pages = (x @ matrix for matrix in (Wq, Wk, Wv))
    shares = (asks @ spines.mT / math.sqrt(Wq.shape[1])).softmax(dim=-1)
    shares = shares.masked_fill(causal_mask(x.shape[1]), 0.0)  # True = blocked
    return shares @ pages, shares


symptoms(mask_too_late(x, Wq, Wk, Wv)[1])
check(mask_too_late, name="attention")

# %% [markdown]
# The triangle is empty, and rows add up to *less than 1*, all but the last: the blocked keys had already taken
# their share. And it leaks: that share depends on the future.
#
# Divide each row by its sum afterwards, and what remains is e^s over the sum of e^s of the *open* keys: the
# same fraction as with −∞ before softmax. So it is wrong **without renormalising**; with it, it is
# mathematically the same.


# %% nbgrader={"grade": false, "grade_id": "late-but-renormalised", "locked": true, "schema_version": 3, "solution": false, "task": false}
def renormalised(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> tuple[Tensor, Tensor]:
    late = mask_too_late(x, Wq, Wk, Wv)[1]
    shares = late / late.sum(dim=-1, keepdim=True)
    return shares @ (x @ Wv), shares


ours, theirs = attention(x, Wq, Wk, Wv)[1], renormalised(x, Wq, Wk, Wv)[1]
print("same weights:", torch.allclose(ours, theirs))

open_then_blocked = F.softmax(torch.tensor([0.0, 800.0], dtype=torch.float64), dim=-1)
print("a blocked score 800 above the open one leaves", open_then_blocked[0].item(), "to divide by")
check(renormalised, name="attention")

# %% [markdown]
# The check accepts it with all points, as none of its inputs has a blocked score more than 745 above the open
# ones. Look at the last line above the card: there the open shares round to 0 before you can renormalise, and 0/0
# is NaN.
#
# ### A mask of the wrong shape
#
# Masks broadcast against the scores from the right. (N, N) serves every sentence. A padding mask is (B, N), one
# row a *sentence*, and has to be told where its axes go: (B, 1, N) for scores (B, N, N). Pass it as it is, and B
# meets the axis of the queries. Here with True = attend, for SDPA:

# %% nbgrader={"grade": false, "grade_id": "break-shape", "locked": true, "schema_version": 3, "solution": false, "task": false}
lengths_of_four = [4, 2, 3, 1]
real = padding_mask(torch.tensor(lengths_of_four), 4)  # True = real
x4 = normal(4, 4, 6) / 2  # B = 4, N = 4, d = 6
unit4 = torch.eye(4, dtype=torch.float64).expand(4, 4, 4)
try:
    F.scaled_dot_product_attention(x4[:2], x4[:2], x4[:2], attn_mask=real[:2])
except RuntimeError as error:
    print("B = 2, N = 4:", error)

silent = F.scaled_dot_product_attention(x4, x4, unit4, attn_mask=real)
right = F.scaled_dot_product_attention(x4, x4, unit4, attn_mask=real[:, None, :])
print("B = 4, N = 4: no error, shape", tuple(silent.shape))
for b in range(4):
    leaked = [round(weights[b][:, ~real[b]].sum().item(), 2) for weights in (silent, right)]
    print(f"length {lengths_of_four[b]}: on padding {leaked[0]:.2f}, should be {leaked[1]:.2f}")

# %% [markdown]
# With two sentences or more and B ≠ N you get an error, and that is luck. **With B = N it runs**: query n of
# *every* sentence gets the padding of *sentence n*. This is why tests use sizes that all differ. One axis
# further left a mask of (B, N, N) meets the *heads*; so `decoder_mask` has its axis of 1. A (B, N) mask fits
# as it is in the `key_padding_mask` of `nn.MultiheadAttention`, and in it True = blocked.
#
# ### A diagonal off by one
#
# `tril(1)` where `tril()` was meant, True = attend: each word sees one word ahead. How bad can it be? Train the
# small model with it.

# %% nbgrader={"grade": false, "grade_id": "break-off-by-one", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
one_too_far = everything.tril(1)  # True = attend: itself, the past and the next word
for draw in (dice, sheep):
    parameters, history = train(draw, one_too_far)
    print(f"{draw.__name__}: loss in training {history[-1]:.2f}")
print("writes:", write(parameters, one_too_far, [1, 2]))


def sees_the_next(n: int, device: torch.device | str | None = None) -> Tensor:
    return torch.ones(n, n, device=device).triu(2).bool()  # True = blocked


check(sees_the_next, name="causal_mask")

# %% [markdown]
# As bad as no mask at all: the one word too many is the answer. One off to the other
# side, `triu(0)` for True = blocked, no word may read itself, and the first row is empty.
#
# ### −1e9 instead of −∞
#
# Much code writes −1e9, "a very low score". In most rows that is as good: e to the −1e9 is 0 in every
# format. Here are two places where it is not.

# %% nbgrader={"grade": false, "grade_id": "break-large-number", "locked": true, "schema_version": 3, "solution": false, "task": false}
half = torch.zeros(1, 3, dtype=torch.float16)
try:
    half.masked_fill(torch.ones(1, 3).bool(), -1e9)  # masked_fill: True = blocked
except RuntimeError as error:
    print("float16:", error)

row = torch.tensor([[1.0, 2.0, 3.0]])
nothing_open = torch.ones(1, 3).bool()  # True = blocked
print("filled in:          ", row.masked_fill(nothing_open, -1e9).softmax(dim=-1))
print("added, in float32:  ", (row + -1e9 * nothing_open).softmax(dim=-1))
print("added, in float64:  ", (row.double() + -1e9 * nothing_open).softmax(dim=-1))

# %% [markdown]
# float16 ends at 65,504, and `masked_fill` refuses −1e9 there with an error. And a row that is
# *all* blocked reads everything: three equal scores are shared out evenly, and nobody is told. Added to small
# float32 scores, −1e9 swallows them, as float32 numbers of that size are 64 apart; added in float64 it changes
# nothing, as if there were no mask.
#
# ## Precision: what 1e-6 can promise
#
# Why are you checked in float64, when models run in float32 or less? Near 16, float32 numbers are 1.9 · 10⁻⁶
# apart, and an error of δ in a score is a *relative* error of about δ in its power of e. Count in how many of
# 100 draws correct code is off by more than 1e-6, for tokens with N = d = 64 and standard deviation *std*.


# %% nbgrader={"grade": false, "grade_id": "precision", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
def causal_sdpa(x: Tensor, Wq: Tensor, Wk: Tensor, Wv: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(x @ Wq, x @ Wk, x @ Wv, is_causal=True)


apart = 0.0
for std in (0.5, 1.0, 3.0):
    misses = [0, 0]
    for seed in range(100):
        seeded = torch.Generator().manual_seed(seed)
        arrays = [std * torch.randn(1, 64, 64, generator=seeded)]
        arrays += [torch.randn(64, 64, generator=seeded) / 8 for _ in range(3)]
        exactly = [array.double() for array in arrays]
        exact = causal_sdpa(*exactly)
        for which, result in enumerate((attention(*arrays)[0], causal_sdpa(*arrays))):
            misses[which] += (result - exact).abs().max().item() > 1e-6
        apart = max(apart, (attention(*exactly)[0] - exact).abs().max().item())
    print(
        f"std {std}: float32 off by more than 1e-6: yours {misses[0]:3}, SDPA {misses[1]:3} of 100"
    )
print(f"yours in float64: at most {apart:.0e} from SDPA in float64")

# %% [markdown]
# At std 1 float32 misses now and then; such a check would fail right answers by chance. At std 3 it always fails,
# and SDPA fails with you: the fault is in the format. So this course grades in **float64 at 1e-6**, with one more
# case in float32 at 1e-4.
#
# ## Attention in the wild
#
# These you will meet in public code. We ran the check of `attention` on each, and lesson 05's where it is named.
#
# | idiom | what it is for | our checks |
# |---|---|---|
# | `softmax(s, dim=-1, dtype=torch.float32).to(q.dtype)` | sums of a half-precision softmax in float32 | **refuse**: our inputs are float64, and 7 of their 16 digits are left |
# | `masked_fill(blocked, torch.finfo(s.dtype).min)` or `-1e9`, then weights of blocked keys set to 0 | a very low number: no NaN in an empty row, and the 0 mends its even shares | accept; without the second step lesson 05 **refuses** it, for its empty rows |
# | `s + mask`, floats of 0 and −∞ | one rule for masks and for other things to add, such as distances | accept; lesson 05 **refuses** it, for its empty rows |
# | `W_qkv(x).split(...)`, one `nn.Linear` for Q, K and V | one large product instead of three | accept in a function; the module is **refused**: we load `W_q`, `W_k` and `W_v` by name |
# | `register_buffer("mask", torch.ones(L, L).tril())` | a mask made once, which moves with the module and is no parameter; `mask[:n, :n]` is used | accept, up to length L |
# | `dropout(weights)` | in training, sets random weights to 0, so that no single key is relied on | **refuse**: two calls disagree, and rows no longer add up to 1 |
#
# Refused is not wrong: dropout and a fused layer are good practice where they belong.
#
# ## Cost
#
# **Count.** The mask blocks N(N − 1)/2 of N² cells, nearly half. Your function computes them all the same, and
# throws them away. So does SDPA on a CPU with a tensor as `attn_mask`. `is_causal=True` is a promise
# about shape, which lets it skip blocks above the diagonal without looking.
#
# **Measure.** Three ways to the same numbers, the fastest of five calls, with one thread.

# %% nbgrader={"grade": false, "grade_id": "cost-measure", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from timeit import repeat


def milliseconds(function: Callable[[], object]) -> float:
    return 1000 * min(repeat(function, number=1, repeat=5))


threads = torch.get_num_threads()
torch.set_num_threads(1)
print("   N   attention   SDPA, attn_mask   SDPA, is_causal   (ms)")
for n in (512, 1024, 2048):
    arrays = [torch.randn(1, n, 64), *(torch.randn(64, 64) / 8 for _ in range(3))]
    q, k, v = ((arrays[0] @ matrix)[:, None] for matrix in arrays[1:])  # (1, 1, N, 64)
    attend = ~causal_mask(n)  # True = attend
    print(
        f"{n:4} {milliseconds(lambda: attention(*arrays)):10.2f} "
        f"{milliseconds(lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=attend)):16.2f} "
        f"{milliseconds(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)):17.2f}"
    )
torch.set_num_threads(threads)

# %% [markdown]
# At the largest N, `is_causal` should be well ahead of `attn_mask`: it skips blocks, and has no mask to read.
# Your `attention` writes all N × N scores to memory besides. Lesson 11 goes through it in *blocks*, and leaves
# whole blocks of the future out.

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
# **2. You find weights whose rows add up to 0.2, 0.5, 0.8, 1. What happened?**
#
# <details><summary>A. Softmax ran over the queries</summary>
#
# Not this one: then the columns would add up to 1, and the last row to 1 or more.
#
# </details>
# <details><summary>B. √d_k is missing</summary>
#
# Not this one: a wrong scale changes how sharp a row is, and never its sum.
#
# </details>
# <details><summary>C. The mask came after softmax</summary>
#
# Yes. Early rows have most of their keys blocked, and those had taken their share before. The last row
# has nothing blocked and is whole.
#
# </details>
#
# **3. `blocked = torch.ones(5, 5).triu(1).bool()`. How do you pass it to SDPA?**
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
# **4. Four words are in the cache and the newest two ask, `is_causal=True`. What is wrong?**
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
#    ([why](#Why-a-decoder-must-not-see-the-future)).
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
# **Words of this lesson**: [mask](../glossary.md#mask), [causal mask](../glossary.md#causal-mask),
# [padding](../glossary.md#padding), [cross-entropy](../glossary.md#cross-entropy),
# [Adam](../glossary.md#adam), [decoder](../glossary.md#decoder), [encoder](../glossary.md#encoder) and
# [cross-attention](../glossary.md#cross-attention).
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
# - What a causal mask alone tells a model about order: Haviv et al. 2022, *Transformer Language
#   Models without Positional Encodings Still Learn Positional Information*.
#   [arXiv:2203.16634](https://arxiv.org/abs/2203.16634)
# - PyTorch's documentation: `attn_mask` and `is_causal` of
#   [scaled_dot_product_attention](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html),
#   `attn_mask` and `key_padding_mask` of
#   [MultiheadAttention](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html).
# - Rounding: Goldberg 1991, *What Every Computer Scientist Should Know About Floating-Point
#   Arithmetic*. [doi:10.1145/103162.103163](https://doi.org/10.1145/103162.103163)
#
# **To carry over.** One softmax gives each reader one way to share out its attention. *Cat* may want
# to know who sat *and* where, at the same time. How would you give it two questions, without a second
# model?

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
