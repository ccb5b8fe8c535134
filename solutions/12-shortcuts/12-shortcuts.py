# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 12 · Shortcuts, and what each gives up
#
# Lesson 11 got around the N² wall and changed no number. Three shortcuts change something and cost less: you look less far, you weigh the keys in another way, or heads share keys and values.
#
# | | |
# |---|---|
# | **You will be able to** | write a sliding window, linear attention and grouped queries; say what each saves in work and memory; name a task on which it fails, and one on which it does not |
# | **Minutes** | about 60 |
# | **You need** | lesson 07 (heads) and lesson 11 (flops, the cache) |
# | **Runs on** | CPU; needs no network; the small trainings take about a minute in all |
# | **You may stop** | before *Break it on purpose* |
# | **Points** | 5, in three exercises |
#
# The running sentence: ***Find me the book about whales***.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
from collections.abc import Callable

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from attnlab import begin, check, figures, quiz  # is it missing? open it by: attnlab lab
from attnlab.lessons.shortcuts import tasks

torch.set_num_threads(1)  # one core for PyTorch, so that its times can be compared
begin("12-shortcuts")

# %% [markdown]
# Three shortcuts keep less than full attention. Guess what two of them lose.

# %% nbgrader={"grade": false, "grade_id": "opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.opening()

# %% [markdown]
# **Where you are.** The lit parts are what a shortcut changes.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("mask", "softmax", "K", "V")

# %% [markdown]
# ## Recall

# %% nbgrader={"grade": false, "grade_id": "quiz-recall", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("recall")

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Predict
#
# You train all of these further down.

# %% nbgrader={"grade": false, "grade_id": "quiz-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("predict")

# %% [markdown]
# ## Shape ledger
#
# | symbol | what it is | axes |
# |---|---|---|
# | q | queries | (B, H, N, d), or (…, N, $d_k$) |
# | k, v | keys, values | (B, G, M, d) and (B, G, M, $d_v$), or (…, M, $d_k$) and (…, M, $d_v$) |
# | G | groups: heads of keys and values | a number that divides H |
# | w | window | a number |
# | S, z | what linear attention keeps | (…, $d_k$, $d_v$), (…, $d_k$) |
#
# Attention is given:


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
# ## A test that can be lost
#
# A shortcut looks free where nobody asks for what it leaves out. So you need texts that ask for it:
#
# - **A mark.** This is the race of lessons 01 and 10: one letter is marked, and the last token asks which.
#   `mark(4)` and `mark(16)` say how far back it stands, in texts of 17 tokens.
# - **Books.** Each token is a book, with a title on its spine and a letter inside. The last token asks for
#   a title: what letter is in that book? `books(32)` has 32 books in a text.
# - **Four questions.** Eight books have four facts each on the spine (title, author, colour, year). The last token
#   asks four questions at once, one by each kind of fact.
#
# There are eight letters, so a guess is right one time in eight. The reader is one attention layer: four heads, each 8
# numbers wide, and no positions. So 4 back and 16 back are the same to it, unless a window tells them apart. Only the
# last token answers, and it may see all: no mask is needed.

# %% nbgrader={"grade": false, "grade_id": "reader", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
MARKS = tasks.mark(4), tasks.mark(16)
BOOKS = tasks.books(2), tasks.books(8), tasks.books(32)
TASKS = (*MARKS, *BOOKS, tasks.books(8, facts=4, choices=16))
right: dict[str, list[float]] = {}  # for each way, the share of right answers on each task


class Reader(nn.Module):
    """One attention layer with four heads, whose last token answers."""

    def __init__(
        self, task: tasks.Task, way: Callable, groups: int = 4, d_k: int = 8, d_v: int = 8
    ) -> None:
        super().__init__()
        self.embed, self.way = task.embed(), way
        self.heads_of = (4, groups, groups)
        self.W_q = nn.Linear(tasks.WIDTH, 4 * d_k, bias=False)
        self.W_k = nn.Linear(tasks.WIDTH, groups * d_k, bias=False)
        self.W_v = nn.Linear(tasks.WIDTH, groups * d_v, bias=False)
        self.letters = nn.Linear(4 * d_v, tasks.LETTERS * task.answers)

    def heads(self, texts: Tensor) -> list[Tensor]:
        """Queries (B, 4, N, d_k), keys (B, groups, N, d_k), values (B, groups, N, d_v)."""
        x, made = self.embed(texts), zip((self.W_q, self.W_k, self.W_v), self.heads_of, strict=True)
        return [W(x).unflatten(-1, (heads, -1)).transpose(1, 2) for W, heads in made]

    def forward(self, texts: Tensor) -> Tensor:
        last = self.way(*self.heads(texts))[:, :, -1].flatten(1)  # (B, 4 * d_v)
        return self.letters(last).unflatten(-1, (-1, tasks.LETTERS))


def run(name: str, way: Callable, chosen=TASKS, seed: int = 1, **sizes: int) -> None:
    """Train a reader for each task, and say how often it is right on fresh texts."""
    right[name], trained[name] = [], []
    for task in chosen:
        torch.manual_seed(seed)
        reader = Reader(task, way, **sizes)
        trained[name].append(reader)
        right[name].append(tasks.learn(reader, task, seed))
        print(f"{name}, {task.name}: {right[name][-1]:.2f}")


trained: dict[str, list[Reader]] = {}


def full(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return attend(q, k, v)[0]


run("full", full)

# %% [markdown]
# Full attention learns all six. So any failure below is the shortcut's.
#
# ## Look less far: a sliding window
#
# Tiles save memory, not work. To save work, leave pairs out. A [**sliding
# window**](../glossary.md#sliding-window) lets token i see itself and the w − 1 tokens before it: 0 ≤ i − j <
# w. That is N · w pairs at most. A cache needs only w keys and values.

# %% [markdown]
# ### Exercise: `sliding_window_mask`
#
# difficulty ●○○ · 2–3 min · 1 point
#
# Return the mask, (n, n) bool, **True = attend**. A window larger than n is a causal mask; below 1 it is a `ValueError`.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-sliding_window_mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Build a table of i − j, then ask two questions of each entry. Join the answers with `&`.
#
# <details><summary>Hint 2: the shapes</summary>
#
# A column (n, 1) minus a row (n,) is (n, n).
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "sliding_window_mask", "locked": false, "schema_version": 3, "solution": true, "task": false}
def sliding_window_mask(n: int, window: int) -> Tensor:
    """Let each token see itself and the window − 1 tokens before it.

    Args:
        n: tokens.
        window: how many tokens each sees at most, at least 1.
    Returns:
        (n, n) bool, True = attend.
    Raises:
        ValueError: window is below 1.
    """
    ### BEGIN SOLUTION
    if window < 1:
        raise ValueError(f"window is {window}: each token sees at least itself")
    place = torch.arange(n)
    distance = place[:, None] - place
    return (distance >= 0) & (distance < window)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "sliding_window_mask-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(sliding_window_mask)

# %% [markdown]
# With a window of 2, *whales* no longer sees *Find* in one look. Layers hand things on, w − 1 tokens each; Mistral
# 7B counts on that (Jiang et al. 2023, section 2). **Longformer** (Beltagy et al. 2020, section 3.1) adds a few *global*
# tokens that see all and are seen by all: two layers are enough, but everything far passes through that bottleneck.
#
# Now the test, with a window of 8:


# %% nbgrader={"grade": false, "grade_id": "test-window", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
def windowed(window: int) -> Callable:
    """Attention in which nobody looks further back than the window."""

    def way(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return attend(q, k, v, sliding_window_mask(q.shape[-2], window))[0]

    return way


run("window of 8", windowed(8))
for books in (8, 32):
    print(f"{books} books, 7 in reach, the others guessed: {7 / books + (1 - 7 / books) / 8:.2f}")
run("window of 33", windowed(33), BOOKS[2:])

# %% [markdown]
# With a near mark or two books you lose nothing. At 16 tokens back the window guesses. (Prediction 1: A.) Of 32 books
# it can see seven. It finds nine in ten of those by now, and all after twice the steps. It guesses the rest, as the
# count says. Open the window to 33, and the same layer finds them all: it was the reach.
#
# A mask alone saves nothing: `attend` computes every score and throws most away. **FlexAttention** takes the
# *rule* as a function and finds the empty tiles. Through `torch.compile` it makes a
# [**kernel**](../glossary.md#kernel) that skips them (Dong et al. 2024).
#
# ## Change the softmax: linear attention
#
# Softmax's weights are $e^{q \cdot k}$ over their sum (leave $\sqrt{d_k}$ out for now). [Linear
# attention](../glossary.md#linear-attention) replaces $e^{q \cdot k}$ by a product of *features*, φ(q)·φ(k), with φ(x)
# = elu(x) + 1: x + 1 above 0 and eˣ below, so never negative (Katharopoulos et al. 2020, section 3.2). Then
#
# $$\text{out}_i = \frac{\sum_{j \le i} \big(\varphi(q_i) \cdot \varphi(k_j)\big)\, v_j}{\sum_{j \le i} \varphi(q_i) \cdot \varphi(k_j)}
# = \frac{\varphi(q_i)\, S_i}{\varphi(q_i) \cdot z_i}, \qquad S_i = \sum_{j \le i} \varphi(k_j)\, v_j^{\top}, \qquad z_i = \sum_{j \le i} \varphi(k_j)$$
#
# φ($q_i$) stands in every term, so you can take it out of the sum. What is left, S ($d_k$ × $d_v$) and z ($d_k$), are
# *running sums*: token i adds its own part and reads. No score is ever formed, and the work is N · $d_k$ · $d_v$.

# %% [markdown]
# ### Exercise: `linear_attention`
#
# difficulty ●●○ · 3–5 min · 2 points
#
# Write it causal, with any leading axes and M = N. Leave $\sqrt{d_k}$ out, and add no small number to the denominator.
# You may use a loop, running sums or the left form of the formula, in float32 or float64. You will train through it, so
# gradients have to reach q, k and v.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-linear_attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Make features of queries and keys, by `F.elu(…) + 1`. Then form all products, set the future to 0, and divide
# by the sum. Or take running sums with `cumsum`.
#
# <details><summary>Hint 2: the shapes</summary>
#
# All products are (…, N, N). For running sums, each token's φ(k) vᵀ is (…, N, $d_k$, $d_v$), from (…, N, $d_k$, 1)
# times (…, N, 1, $d_v$): add up along axis −3, for z along −2. The numerator is (…, N, 1, $d_k$) times S;
# `squeeze(-2)` takes its axis of size 1 away.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "linear_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def linear_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Average the values so far by products of features, elu + 1, in place of a softmax.

    Args:
        q: (…, N, d_k).
        k: (…, N, d_k).
        v: (…, N, d_v).
    Returns:
        (…, N, d_v); row i is made of tokens 0 … i.
    """
    ### BEGIN SOLUTION
    q, k = F.elu(q) + 1, F.elu(k) + 1
    states = (k[..., :, None] * v[..., None, :]).cumsum(dim=-3)
    totals = k.cumsum(dim=-2)
    return (q[..., None, :] @ states).squeeze(-2) / (q * totals).sum(dim=-1, keepdim=True)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "linear_attention-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(linear_attention)

# %% [markdown]
# **Parallel and recurrent.** The right form is a recurrent network: a
# state of fixed size, handed from token to token. Then comes the price. Let a query *equal* one of 50 random keys:
# how much of its weight can it put there?

# %% nbgrader={"grade": false, "grade_id": "use-linear_attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
torch.manual_seed(3)
q, k, v = (torch.randn(50, width, dtype=torch.float64) for width in (16, 16, 8))
fq, fk = (torch.where(x > 0, x + 1, x.exp()) for x in (q, k))  # the features
products = (fq @ fk.mT).tril()
at_once = products / products.sum(dim=-1, keepdim=True) @ v

S, z = torch.zeros(16, 8, dtype=torch.float64), torch.zeros(16, dtype=torch.float64)
by_steps = []
for i in range(50):
    S, z = S + fk[i].outer(v[i]), z + fk[i]
    by_steps.append(fq[i] @ S / (fq[i] @ z))
print("parallel = recurrent:", torch.allclose(at_once, torch.stack(by_steps), 0, 1e-12))
print("yours is the same:   ", torch.allclose(linear_attention(q, k, v), at_once, 0, 1e-12))

softmax = (k @ k.mT / 16**0.5).softmax(dim=-1).diagonal().mean()
linear = ((fk @ fk.mT) / (fk @ fk.mT).sum(dim=-1, keepdim=True)).diagonal().mean()
print(
    f"weight on the key that is asked for: softmax {softmax:.2f}, linear {linear:.2f}, all alike {1 / 50}"
)

# %% [markdown]
# Softmax gives the wanted book 0.44, about twenty times its even share. Linear attention gives it 0.03, one and a
# half times that share. All it keeps of a text is S and z, 16 · 9 numbers: cheap, and blurred.
#
# Learned keys may help. So test it:

# %% nbgrader={"grade": false, "grade_id": "test-linear", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
run("linear", linear_attention)
shown = {name: right[name][2:5] for name in ("full", "linear", "window of 8")}
figures.shortcuts.found([2, 8, 32], shown, chance=1 / tasks.LETTERS, focus="linear")

# %% [markdown]
# Linear attention finds the mark among 17 tokens as well as softmax does. It finds less as the shelf grows: about 0.9
# of 8 books, about 0.4 of 32. The window
# finds less by what it does not see. (Prediction 2: B.) Linear attention is blurred, not blind: with 2,000 steps it finds
# about 0.8 of 32 books. Softmax needed 600 for all.
#
# **Is it distance?** A running sum minds no order: 16 back is as easy as 4. But a mark that is further back has more
# letters beside it:

# %% nbgrader={"grade": false, "grade_id": "test-far", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
FAR = tuple(tasks.mark(back) for back in (16, 64, 256, 1024))
run("linear, trained 64 back", linear_attention, FAR[1:2])


def doubled(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return linear_attention(2 * q, 2 * k, v)


asked = {"full": (trained["full"][1], full), "linear": (trained["linear"][1], linear_attention)}
asked["linear, trained 64 back"] = trained["linear, trained 64 back"][0], linear_attention
asked["linear, doubled q and k"] = trained["linear"][1], doubled
print("right, asked for a mark 16, 64, 256 and 1,024 back:")
for name, (reader, way) in asked.items():
    reader.way = way
    found = (tasks.share_right(reader, task, torch.Generator(), 200) for task in FAR)
    print(f"{name:23}", *(f"{share:6.2f}" for share in found))

# %% [markdown]
# Trained 16 back, softmax finds a mark 1,024 back. Linear attention loses it sooner. It is right at 64. At 1,024 it
# is right in 0.1 to 0.5 of all cases: the seed decides. Trained 64 back, it is right at 256, and at 1,024 the seed
# decides again. Every other letter has a little weight, and a thousand of them outweigh one mark. The last line
# checks that. It doubles queries and keys, so that weights differ more, and trains nothing: the mark is found at
# 1,024.
#
# Language models made of gated convolutions fall behind attention, and 82 % of that gap is in recalling what stood
# earlier in the text (Arora et al. 2023, abstract). How much a model recalls goes with the size of
# its state (Arora et al. 2024, abstract).
#
# **Performer** (Choromanski et al. 2021, section 2.3) replaces $e^{q \cdot k}$ by products of random features. They are
# right on average; the softmax, a ratio of them, is not.

# %% [markdown]
# ## Share keys and values: grouped queries
#
# A cache of keys and values takes, for each token, in bytes
#
# $$2 \times \text{layers} \times \text{key heads} \times \text{width of a head} \times \text{bytes of a number}$$
#
# You can keep all heads of queries, and save heads of keys and values. In [**grouped-query
# attention**](../glossary.md#grouped-query-attention) (Ainslie et al. 2023, section 2.2), H heads of queries share G
# of keys and values, in order: with H = 6 and G = 2, heads 0, 1, 2 read group 0, and heads 3, 4, 5 read group 1. G =
# H is lesson 07's attention; G = 1 is *multi-query* (Shazeer 2019).

# %% [markdown]
# ### Exercise: `grouped_query_attention`
#
# difficulty ●●○ · 6–10 min · 2 points
#
# It equals `F.scaled_dot_product_attention(…, enable_gqa=True)`, which is not allowed here; `attend` is. With
# `causal`, query i sees keys 0 … i. Raise `ValueError` if G does not divide H, or if k and v differ in G.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-grouped_query_attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Give each head of queries its own keys and values, by copying groups or by an index of H numbers. Or give q an axis
# for the heads of a group, and let keys and values broadcast along it.
#
# <details><summary>Hint 2: the shapes</summary>
#
# After copying, k is (B, H, M, d). With an axis more, q is (B, G, H/G, N, d) and k is (B, G, 1, M, d). The mask is (N,
# M) for all.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "grouped_query_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def grouped_query_attention(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Tensor:
    """Attention in which each group of query heads shares one head of keys and values.

    Args:
        q: (B, H, N, d), float32 or float64; scores may be in the thousands.
        k: (B, G, M, d).
        v: (B, G, M, d_v). Gradients reach q, k and v.
        causal: query i sees keys 0 … i alone, as in SDPA.
    Returns:
        (B, H, N, d_v); head h reads group h // (H/G).
    Raises:
        ValueError: G does not divide H, or k and v differ in G.
    """
    ### BEGIN SOLUTION
    heads, groups = q.shape[1], k.shape[1]
    if heads % groups or v.shape[1] != groups:
        raise ValueError(f"{heads} heads, {groups} groups of keys, {v.shape[1]} of values")
    k, v = (each.repeat_interleave(heads // groups, dim=1) for each in (k, v))
    seen = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril() if causal else None
    return attend(q, k, v, seen)[0]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "grouped_query_attention-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(grouped_query_attention)

# %% [markdown]
# What it saves: **Llama 2**'s 7B model has 32 layers and 32 heads of 128 (Touvron et al. 2023a, table 2). Its 70B
# model has 80 layers and 64 heads, but only 8 of *keys and values* (2023b, appendix A.2.1).

# %% nbgrader={"grade": false, "grade_id": "groups", "locked": true, "schema_version": 3, "solution": false, "task": false}
q, k, v = torch.randn(2, 8, 10, 4), torch.randn(2, 2, 10, 4), torch.randn(2, 2, 10, 5)
theirs = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
yours = grouped_query_attention(q, k, v, causal=True)
print("8 heads, 2 groups, equals SDPA:", torch.allclose(yours, theirs, atol=1e-6))

for name, layers, key_heads in (("7B", 32, 32), ("70B", 80, 8), ("70B, not grouped", 80, 64)):
    a_token = 2 * layers * key_heads * 128 * 2  # bytes, in half precision
    print(
        f"Llama 2 {name:16}: {a_token / 2**10:6,.0f} KiB a token, {4096 * a_token / 2**30:5.2f} GiB for 4096"
    )

# %% [markdown]
# The 7B model keeps half a mebibyte for every token. The 70B model keeps *less*: groups save a factor of 8. What do
# they give up? Test two groups and one, then one with keys four times as wide, then values.

# %% nbgrader={"grade": false, "grade_id": "test-groups", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
run("2 groups", grouped_query_attention, groups=2)
run("1 group", grouped_query_attention, groups=1)
run("1 group, wide keys", grouped_query_attention, TASKS[5:], groups=1, d_k=32)
run("1 group, wide values", grouped_query_attention, TASKS[5:], groups=1, d_v=32)

# %% [markdown]
# With keys of 8 numbers, one group finds *one* thing as well as four. (Prediction 3: B.) It loses where four facts are
# asked for at once: one key of 8 numbers has to answer them all. One group gets 0.66 there, and two get 0.94. (Trained
# three times as long, one group gets to 0.8.) With keys four times as wide it is nearly right again, 0.98; with values as
# wide it is not, 0.65. Mostly you give up room in *keys*, and see it only in a task that needs the room. In published
# models of 11
# billion parameters, 8 groups came close to all heads (Ainslie et al. 2023, figure 3).
#
# ## Break it on purpose
#
# A friend loads your reader with two groups. The weights are yours, the shapes fit, nothing is raised:


# %% nbgrader={"grade": false, "grade_id": "break-layout", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
def of_a_friend(q: Tensor, k: Tensor, v: Tensor, causal: bool = False) -> Tensor:
    times = q.shape[1] // k.shape[1]
    return full(q, torch.cat([k] * times, dim=1), torch.cat([v] * times, dim=1))


for task, reader in zip(TASKS, trained["2 groups"], strict=False):
    shares = []
    for reader.way in (grouped_query_attention, of_a_friend):
        shares.append(tasks.share_right(reader, task, torch.Generator().manual_seed(9)))
    print(f"{task.name:13}: yours {shares[0]:.2f}, your friend's {shares[1]:.2f}")

# %% [markdown]
# Write down which group each of the four
# heads reads, then ask the card:

# %% nbgrader={"grade": false, "grade_id": "break-card", "locked": true, "schema_version": 3, "solution": false, "task": false}
check(of_a_friend, name="grouped_query_attention")

# %% [markdown]
# The groups stand one behind the other, twice, so the heads take turns: they read 0, 1, 0, 1, and were trained for 0, 0, 1,
# 1. Heads 0 and 3 still read what they learned. That is enough to be mostly right where one thing is asked for. So
# accuracy alone does not show this mistake: compare the numbers.
#
# ## Cost
#
# For one layer of the reader: the numbers that each way keeps after N = 4,096 tokens, the flops of its next token, and
# what it got right:

# %% nbgrader={"grade": false, "grade_id": "cost", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
N, H, D = 4096, 4, 8  # tokens, heads, width of a head
kept = {"full": 2 * H * D * N, "window of 8": 2 * H * D * 8, "linear": H * (D * D + D)}
kept |= {"2 groups": 2 * 2 * D * N, "1 group": 2 * 1 * D * N}
flops = {"full": 4 * H * D * N, "window of 8": 4 * H * D * 8, "linear": 4 * H * (D * D + D)}
flops |= {"2 groups": flops["full"], "1 group": flops["full"]}
print(f"{'':12}{'numbers kept':>14}{'flops':>9}", *(f"{task.name:>13}" for task in TASKS))
for name in filter(right.get, kept):  # those that you ran
    print(f"{name:12}{kept[name]:14,}{flops[name]:9,}", *(f"{each:13.2f}" for each in right[name]))

# %% [markdown]
# | way | same output | reach | cache | flops of the next token | what it gave up here |
# |---|---|---|---|---|---|
# | full | yes | all | grows with N | grow with N | nothing |
# | window of w | no | w tokens | w tokens | fixed | all that stands further back |
# | linear | no | all, in a blur | fixed | fixed | finding one of many |
# | G groups | no | all | G/H, grows with N | grow with N, as full | many questions at once, in narrow keys |
#

# %% [markdown]
# ## Check yourself

# %% nbgrader={"grade": false, "grade_id": "quiz-check-yourself", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("check yourself")

# %% [markdown]
# ## Take away
#
# 1. One layer with a window finds what is in its reach, and guesses the rest ([window](#Look-less-far:-a-sliding-window)).
# 2. Linear attention keeps a state of fixed size, and blurs; how much depends on the features. With elu + 1, every
#    key has some weight: it finds one book worse the more there are, and lost a mark among many more tokens than in
#    training ([linear](#Change-the-softmax:-linear-attention)).
# 3. A mask alone saves nothing: work is saved by a kernel that skips what the mask leaves out ([FlexAttention](#Look-less-far:-a-sliding-window)).
# 4. Grouped queries make the cache H/G times smaller, and lose where one narrow key has to answer many questions ([groups](#Share-keys-and-values:-grouped-queries)).
# 5. Test a shortcut on a task that needs what it leaves out ([test](#A-test-that-can-be-lost)).
#
# ### Sources
#
# - Beltagy et al. 2020, [Longformer](https://arxiv.org/abs/2004.05150); Jiang et al. 2023, [Mistral 7B](https://arxiv.org/abs/2310.06825)
# - Dong et al. 2024, [Flex Attention](https://arxiv.org/abs/2412.05496)
# - Katharopoulos et al. 2020, [Transformers are RNNs](https://arxiv.org/abs/2006.16236)
# - Choromanski et al. 2021, [Performers](https://arxiv.org/abs/2009.14794)
# - Arora et al. 2023, [Zoology](https://arxiv.org/abs/2312.04927); 2024, [Based](https://arxiv.org/abs/2402.18668)
# - Shazeer 2019, [One write-head](https://arxiv.org/abs/1911.02150); Ainslie et al. 2023, [GQA](https://arxiv.org/abs/2305.13245)
# - Touvron et al. 2023a, [LLaMA](https://arxiv.org/abs/2302.13971); 2023b, [Llama 2](https://arxiv.org/abs/2307.09288)
#
# **To carry over.** A mask saved nothing in your code. What has a kernel to know before it may skip a tile?

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
