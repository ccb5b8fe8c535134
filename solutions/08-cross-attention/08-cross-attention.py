# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08 · Asking someone else's shelf
#
# So far readers and books came from the same sentence: every word asked, and every word was a book. In this lesson one
# sequence asks and another one answers, and they need not be equally long or even of the same kind.
# A translation asks its original, a caption asks its image, an answer asks its documents. That is
# **cross-attention**, and it takes one change to what you have.
#
# | | |
# |---|---|
# | **You will be able to** | write cross-attention; hide the padding of what is read, and say what comes out where nothing is left; tell the three attentions of an encoder–decoder apart at a glance; build a whole decoder layer that equals PyTorch's |
# | **Minutes** | about 90 |
# | **You need** | lessons 05 to 07: batched attention, padding masks, heads |
# | **Runs on** | CPU; needs no network |
# | **Points** | 7, in two exercises |
#
# Today the readers stand at the desk of *another* library. The running sentence is *I read a book yesterday*. Its five
# words ask the six German words that it translates: ***ich habe gestern ein Buch gelesen***.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab import begin, check, figures

torch.set_printoptions(precision=3, sci_mode=False)
begin("08-cross-attention")

# %% [markdown]
# **Where you are.** The block of lesson 02. What changes is lit: these two arrows bring another sequence, and not X.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("X to W_k", "X to W_v")

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Recall
#
# Opening a choice is choosing it.
#
# **1.** A batch has 3 sentences of up to 6 tokens, and 2 heads. Which shape must a padding mask have
# to meet the scores (3, 2, 6, 6), if it hides *keys*?
#
# <details><summary>A. (3, 6)</summary>
#
# Not this one: axes are lined up from the right, so 3 would meet the axis of queries, which is 6. That is an error
# here. Where the sizes are equal, it is a silent mistake (lesson 06).
#
# </details>
# <details><summary>B. (3, 1, 1, 6)</summary>
#
# Yes. The axes of size 1 are for heads and queries: all of them have the same keys hidden.
#
# </details>
# <details><summary>C. (3, 1, 6, 1)</summary>
#
# Not this one: it hides whole rows, and rows are queries.
#
# </details>
#
# **2.** Multi-head attention has d = 8 and two heads. What are the scores of a head divided by?
#
# <details><summary>A. √8</summary>
#
# Not this one: 8 is the width before the split. A head's queries and keys are d/H wide.
#
# </details>
# <details><summary>B. √2</summary>
#
# Not this one: 2 is the number of heads. A score is a sum of as many products as a head is *wide*.
#
# </details>
# <details><summary>C. √4 = 2</summary>
#
# Yes. Each head's queries and keys are 8/2 = 4 wide.
#
# </details>

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Predict
#
# Commit to a guess. You run both further down.
#
# **1.** The German words are shuffled: *Buch ich gelesen ein habe gestern*. Nobody tells the model. What
# happens to the five output rows?
#
# <details><summary>A. Nothing at all</summary>
#
# Yes. The columns of the weights are shuffled, and a sum does not depend on the order of what is added.
#
# </details>
# <details><summary>B. They are shuffled in the same way</summary>
#
# Not this one: that is true of self-attention, where the shuffled words also *ask*. Here those who ask stay where
# they are.
#
# </details>
# <details><summary>C. All five become something else</summary>
#
# Not this one: each reader still finds the same six books.
#
# </details>
#
# **2.** A German sentence got lost: its context is all padding. A module with heads ends in a linear layer W_o, with a
# bias. What should it give?
#
# <details><summary>A. NaN</summary>
#
# Not this one, though softmax of nothing but −∞ gives NaN, and PyTorch's module can give it too.
#
# </details>
# <details><summary>B. Zeros</summary>
#
# Not this one: the heads bring back 0, but that still goes through W_o.
#
# </details>
# <details><summary>C. W_o's bias</summary>
#
# Yes. Weights of 0, so 0 from each head, and W_o turns 0 into its bias.
#
# </details>

# %% [markdown]
# ## By hand
#
# Two readers, *read* and *book*, ask a shelf of three: *Buch*, *gelesen* and a dummy that fills up the shelf. With
# d_k = 4 their products q·k are
#
# | q·k | Buch | gelesen | dummy |
# |---|---|---|---|
# | **read** | 0 | 2 | 6 |
# | **book** | 4 | 0 | 6 |
#
# **Scale** by √d_k = 2. **Hide** the dummy with −∞. It is a *column*: nobody may read the context's padding. Take
# the **softmax** of each row; you need e⁰ = 1, e¹ = 2.718 and e² = 7.389.
#
# | weights | Buch | gelesen | dummy |
# |---|---|---|---|
# | **read** | 0.269 | 0.731 | 0 |
# | **book** | 0.881 | 0.119 | 0 |
#
# **Mix** the values of the *shelf*, (10, 0) for *Buch*, (0, 10) for *gelesen*, (99, 99) for the dummy: *read*
# takes home (2.69, 7.31), *book* (8.81, 1.19). Redo one row on paper.
#
# The weights are two rows of three columns, a row for each reader and a column for each book. And there are as many
# results as *readers*.

# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
scaled = torch.tensor([[0, 1, -math.inf], [2, 0, -math.inf]], dtype=torch.float64)
pages = torch.tensor([[10.0, 0], [0, 10], [99, 99]], dtype=torch.float64)
shares = scaled.softmax(dim=-1)
print(shares)
print(shares @ pages)

# %% [markdown]
# ## Shape ledger
#
# The sequence that asks is **x**. The one that is read is the **context** (PyTorch says *memory*). Everything that belongs
# to x has N rows, and everything that belongs to the context has M.
#
# | symbol | what it is | axes | size in *Three shelves* |
# |---|---|---|---|
# | x | tokens that ask | (B, N, d) | (3, 5, 5) |
# | context | tokens that are read | (B, M, d_context) | (3, 6, 6) |
# | context_mask | which of them are real, **True = attend** | (B, M) | (3, 6) |
# | W_q | makes queries, of x | (d, d_k) | (5, 4) |
# | W_k | makes keys, of the context | (d_context, d_k) | (6, 4) |
# | W_v | makes values, of the context | (d_context, d_v) | (6, 3) |
# | weights | one row a reader, one column a book | (B, N, M); (B, H, N, M) with heads | (3, 5, 6) |
# | out | an answer for each reader | (B, N, d_v); (B, N, d) in the module | (3, 5, 3) |
#
# Attention is given again, with lesson 07's two functions for heads. You may use them or not.


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


# %% nbgrader={"grade": false, "grade_id": "heads", "locked": true, "schema_version": 3, "solution": false, "task": false}
def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """(B, N, d) to (B, H, N, d/H)."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """(B, H, N, d/H) to (B, N, d)."""
    return x.transpose(1, 2).flatten(2)


# %% [markdown]
# ## See it: a desk that learns to look things up
#
# Lesson 01 began with a dictionary. Here the context is one: a catalogue of index cards. Each card has an author (one of
# 10) and a shelf (one of 10). x is a list of four authors, and the answer to each is the shelf on their card. No shelf can
# be learned by heart: every list of questions comes with a new, shuffled catalogue.
#
# Two things make it harder. Catalogues have four to six cards, so there is padding. And each author has one
# shelf that occurs in the test and *never* in training.
#
# The attention is PyTorch's own for now. `nn.Embedding` is a table with a learned row for each author. `read` turns an
# answer into ten scores, one for each shelf, and the loss is cross-entropy (lesson 06): ln 10 = 2.30 for someone who guesses.

# %% nbgrader={"grade": false, "grade_id": "desk", "locked": true, "schema_version": 3, "solution": false, "task": false}
from collections.abc import Callable
from functools import cache

AUTHORS = 10
SHELVES = 10
CARDS = 6
Questions = tuple[Tensor, Tensor, Tensor, Tensor]


def questions(size: int, rng: torch.Generator, forbidden: bool) -> Questions:
    """Authors asked for (B, 4), catalogues (B, 6, 20), which cards are real, right shelves (B, 4).

    Author a never stands on shelf a, unless forbidden is True: then about half the authors do.
    """
    authors = torch.rand(size, AUTHORS, generator=rng).argsort(-1)[:, :CARDS]
    shelves = (authors + torch.randint(1, SHELVES, authors.shape, generator=rng)) % SHELVES
    if forbidden:
        moved = torch.rand(shelves.shape, generator=rng) < 0.5
        shelves = torch.where(moved, authors, shelves)
    real = torch.arange(CARDS) < torch.randint(4, CARDS + 1, (size, 1), generator=rng)
    cards = torch.cat([F.one_hot(authors, AUTHORS), F.one_hot(shelves, SHELVES)], -1).float()
    asked = torch.rand(size, 4, generator=rng).argsort(-1)  # the first four cards, shuffled
    return authors.gather(1, asked), cards, real, shelves.gather(1, asked)


class Ready(nn.Module):
    """PyTorch's own cross-attention with two heads, called with x, context and mask."""

    def __init__(self) -> None:
        super().__init__()
        width = AUTHORS + SHELVES
        self.inner = nn.MultiheadAttention(16, 2, kdim=width, vdim=width, batch_first=True)

    def forward(self, x, context, real):
        return self.inner(x, context, context, ~real, average_attn_weights=False)


class Desk(nn.Module):
    """Looks authors up in a catalogue, by a module of cross-attention."""

    def __init__(self, cross: nn.Module) -> None:
        super().__init__()
        self.embed = nn.Embedding(AUTHORS, 16)
        self.cross = cross
        self.read = nn.Linear(16, SHELVES)

    def forward(self, asked: Tensor, cards: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        out, weights = self.cross(self.embed(asked), cards, real)
        return self.read(out), weights


@cache
def train(
    make: Callable[[], nn.Module], with_context: bool = True, seed: int = 0
) -> tuple[Desk, list[float]]:
    """A desk after 150 steps, and its loss at each of them. It is trained once, and kept."""
    torch.manual_seed(seed)
    rng, desk, losses = torch.Generator().manual_seed(seed), Desk(make()), []
    optimizer = torch.optim.Adam(desk.parameters(), lr=0.01)
    for _ in range(150):
        asked, cards, real, answers = questions(64, rng, forbidden=False)
        scores = desk(asked, cards, real & with_context)[0]
        loss = F.cross_entropy(scores.flatten(0, 1), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return desk, losses


new = questions(1000, torch.Generator().manual_seed(99), forbidden=True)  # for the test

# %% [markdown]
# The next cell trains it and shows one catalogue of the test: who asks, and which card is read. Choose
# a row, and then the other head. Which card do you expect to be bright for each author? Does its place matter?

# %% nbgrader={"grade": false, "grade_id": "see-desk", "locked": true, "schema_version": 3, "solution": false, "task": false}
names = "Austen Borges Chekhov Dante Eliot Frisch Goethe Hesse Ibsen Joyce".split()
asked, cards, real, _ = new
desk = train(Ready)[0]
with torch.no_grad():
    weights = desk(asked, cards, real)[1]
shown = int((real.sum(-1) == 5).nonzero()[0])  # the first catalogue with one dummy
readers = [names[a] for a in asked[shown].tolist()]
spines = [
    f"{names[card[:AUTHORS].argmax()]} {int(card[AUTHORS:].argmax())}" if ok else "dummy"
    for card, ok in zip(cards[shown], real[shown].tolist(), strict=True)
]
dummies = (~real[shown]).expand(4, -1)  # True = blocked
figures.live.WhoListens(weights[shown], readers, spines, dummies)

# %% [markdown]
# The map is a rectangle, four rows and six columns. It has no triangle: the catalogue is there before the first question.
# Each author finds the one card with the same name, whatever its place, and the hatched dummy gets nothing. Both heads do
# the same, and one head alone learns the task as well.
#
# Which word of an original belongs to which word of its translation is called an **alignment**. In 2014, three years
# before the Transformer, Bahdanau, Cho and Bengio let a translator learn it: each word of the translation looks
# back at all words of the original, with weights from a softmax.
#
# ## Who asks and who answers
#
# $$Q = X\,W_q, \qquad K = C\,W_k, \qquad V = C\,W_v, \qquad
# \text{out} = \operatorname{softmax}\!\left(\frac{Q K^{\top}}{\sqrt{d_k}}\right) V$$
#
# (Vaswani et al. 2017, section 3.2.3.) Keys *and* values come from the context C: they are the spines and the pages of the
# same books.
#
# The shapes check much of it for you. Queries, keys and values could each be made from x or from the context, by any of
# the three matrices. That is 216 ways. Where all sizes differ, 8 of them run, and only the right one gives (N, d_v). Where
# N = M and all widths are equal, all 216 run, and no shape protects you. You try that under *Break it on purpose*.
#
# **Padding.** A batch of originals has different lengths, so short ones are filled up. `context_mask`, (B, M), says
# which tokens are real, **True = attend**. It hides columns. x may have padding too. It asks and gets an answer, but no
# other row depends on that answer, and the loss leaves it out. So x needs no mask here.
#
# **Nothing left.** If a context is all padding, weights and out are 0 for each of its readers, as in lessons 05 and
# 06. The slopes have no NaN either: −∞ is *filled in* before softmax and 0 after it.

# %% [markdown]
# ### Exercise: `cross_attention`
#
# difficulty ●●○ · 8–12 min · 3 points
#
# Write cross-attention as a function. It takes x, the context, the three matrices and perhaps a
# context_mask, and returns the output and the weights. It is compared with `F.scaled_dot_product_attention` in
# float64 at 1e-6, gradients included. Widths that do not fit raise an error: PyTorch's own
# `RuntimeError` will do, or a `ValueError` of yours. No input is changed.
#
# PyTorch's own attention functions and modules are banned in both exercises. The given `attend` is not.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-cross_attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Three products make queries, keys and values. Which sequence is each of them made from? Then `attend` needs the mask in
# a shape that it can use.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Queries (B, N, d_k), keys (B, M, d_k), values (B, M, d_v), scores (B, N, M). The mask is (B, M) and has to
# become (B, 1, M), so that each of the N rows of a sentence hides the same columns.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "cross_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cross_attention(
    x: Tensor,
    context: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    context_mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Let each token of x attend to all tokens of another sequence.

    Args:
        x: (B, N, d), the tokens that ask.
        context: (B, M, d_context), the tokens that are read.
        W_q: (d, d_k), makes queries.
        W_k: (d_context, d_k), makes keys.
        W_v: (d_context, d_v), makes values.
        context_mask: (B, M) bool, True = attend; None lets all be read.
    Returns:
        out: (B, N, d_v).
        weights: (B, N, M); each row adds up to 1, or is 0 where a context is all padding.
    Raises:
        ValueError or RuntimeError: widths do not fit.
    """
    ### BEGIN SOLUTION
    mask = None if context_mask is None else context_mask[:, None, :]
    return attend(x @ W_q, context @ W_k, context @ W_v, mask)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "cross_attention-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(cross_attention)

# %% [markdown]
# ### Three shelves
#
# Now give your function words that you can read. Each word is one-hot, so x is 5 wide and the context 6. The matrices are
# set by hand and say what a word is *about*, in four columns: who, doing, thing, time. An article is about a
# thing, and it keeps away from what is done: it has a number below 0 there.

# %% nbgrader={"grade": false, "grade_id": "see-words", "locked": true, "schema_version": 3, "solution": false, "task": false}
english = ["I", "read", "a", "book", "yesterday"]
german = ["ich", "habe", "gestern", "ein", "Buch", "gelesen"]
x1 = torch.eye(5, dtype=torch.float64)[None]  # (1, 5, 5)
context1 = torch.eye(6, dtype=torch.float64)[None]  # (1, 6, 6)

about_english = [[1.0, 0, 0, 0], [0, 1, 0, 0], [0, -0.7, 0.7, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
about_german = [
    [1.0, 0, 0, 0],
    [0, 0.7, 0, 0],
    [0, 0, 0, 1],
    [0, -0.7, 0.7, 0],
    [0, 0, 1, 0],
    [0, 1, 0, 0],
]
W_q = 8 * torch.tensor(about_english, dtype=torch.float64)  # who, doing, thing, time
W_k = torch.tensor(about_german, dtype=torch.float64)
W_v = torch.tensor(  # what the pages say: a person, a deed, a thing
    [[1.0, 0, 0], [0, 0.5, 0], [0, 0, 0], [0, 0, 0.5], [0, 0, 1], [0, 1, 0]], dtype=torch.float64
)

# %% [markdown]
# The five English words ask three shelves at once, B = 3: the whole German sentence; a short one, *ich habe
# gelesen*, filled up with three dummies; and one that got lost and is all dummies. A dummy is 0.5 everywhere, and that
# must not matter.

# %% nbgrader={"grade": false, "grade_id": "use-cross_attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
full = torch.eye(6, dtype=torch.float64)
dummy = torch.full((1, 6), 0.5, dtype=torch.float64)
context = torch.stack([full, torch.cat([full[[0, 1, 5]], dummy.repeat(3, 1)]), dummy.repeat(6, 1)])
lengths = torch.tensor([6, 3, 0])
context_mask = torch.arange(6) < lengths[:, None]  # True = attend
x = x1.expand(3, -1, -1)  # the same readers three times

out, weights = cross_attention(x, context, W_q, W_k, W_v, context_mask)
print("out", tuple(out.shape), " weights", tuple(weights.shape))
print("row sums, one row a sentence:")
print(weights.sum(-1))

q, k, v = x @ W_q, context @ W_k, context @ W_v
expected = F.scaled_dot_product_attention(q, k, v, attn_mask=context_mask[:, None, :])
print("equals PyTorch's:", torch.allclose(out, expected, rtol=0, atol=1e-12))

short = ["ich", "habe", "gelesen", *["dummy"] * 3]
blocked = ~context_mask[:, None, :].expand(-1, 5, -1)  # True = blocked
figures.cross_attention.maps(
    {
        "full": (weights[0], english, german, blocked[0]),
        "short": (weights[1], english, short, blocked[1]),
        "lost": (weights[2], english, ["dummy"] * 6, blocked[2]),
    }
)

# %% [markdown]
# In the first panel *yesterday*, the last English word, reads the third German one, *gestern*. *read* reads two books at
# once, *gelesen* at the end and *habe* in second place: this German past tense is made of two words that stand far apart.
# In the second panel the hatched columns hold exactly 0, and three books share what is left. *book* and *yesterday* find
# nothing that suits them, and read all three alike: softmax has no way to say *nothing suits*. In the third panel
# everything is hidden, and even the row sums are 0.
#
# **Your first prediction.** Shuffle the German words and compare.

# %% nbgrader={"grade": false, "grade_id": "use-shuffle", "locked": true, "schema_version": 3, "solution": false, "task": false}
order = torch.tensor([4, 0, 5, 3, 1, 2])
shuffled, shuffled_weights = cross_attention(x1, context1[:, order], W_q, W_k, W_v)
plain, plain_weights = cross_attention(x1, context1, W_q, W_k, W_v)
print("the same output:              ", torch.allclose(shuffled, plain))
print(
    "the same columns, elsewhere:  ", torch.allclose(shuffled_weights, plain_weights[:, :, order])
)

# %% [markdown]
# Prediction 1 is A. To cross-attention a context is a *bag* of words: how often a word stands there counts, and its
# place does not. Lesson 09 changes the words' vectors, so that they say where they stand.
#
# ### Self-attention, a special case
#
# What if the context is x itself? Then readers and books come from the same sentence again:

# %% nbgrader={"grade": false, "grade_id": "use-self", "locked": true, "schema_version": 3, "solution": false, "task": false}
torch.manual_seed(8)
tokens = torch.randn(2, 4, 6, dtype=torch.float64)
to_q, to_k, to_v = (torch.randn(6, width, dtype=torch.float64) for width in (5, 5, 3))
by_cross, _ = cross_attention(tokens, tokens, to_q, to_k, to_v)
by_self = F.scaled_dot_product_attention(tokens @ to_q, tokens @ to_k, tokens @ to_v)
print("context = x is self-attention:", torch.allclose(by_cross, by_self))

# %% [markdown]
# ## As a module, with heads
#
# In a model, cross-attention has heads and linears, as lesson 07's module has. One thing is new: there are two widths.
# Queries are made from x, which is d wide. Keys and values are made from the context, which may be d_context wide: an
# image's patches, or a larger model's states. Both modules are given.


# %% nbgrader={"grade": false, "grade_id": "modules", "locked": true, "schema_version": 3, "solution": false, "task": false}
class MultiHeadAttention(nn.Module):
    """Lesson 07's: `forward` gives (B, N, d) and weights (B, H, N, N)."""

    def __init__(self, d: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        if n_heads < 1 or d % n_heads:
            raise ValueError(f"d = {d} does not divide by {n_heads} heads")
        self.n_heads = n_heads
        self.W_q, self.W_k = nn.Linear(d, d, bias=bias), nn.Linear(d, d, bias=bias)
        self.W_v, self.W_o = nn.Linear(d, d, bias=bias), nn.Linear(d, d, bias=bias)

    def forward(self, x: Tensor, causal: bool = False) -> tuple[Tensor, Tensor]:
        q, k, v = (split_heads(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        out, weights = attend(q, k, v, past if causal else None)
        return self.W_o(merge_heads(out)), weights


class CrossAttention(nn.Module):
    """x (B, N, d) reads a context (B, M, d_context): gives (B, N, d) and weights (B, H, N, M)."""

    def __init__(self, d: int, d_context: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        if n_heads < 1 or d % n_heads:
            raise ValueError(f"d = {d} does not divide by {n_heads} heads")
        self.n_heads = n_heads
        self.W_q, self.W_k = nn.Linear(d, d, bias=bias), nn.Linear(d_context, d, bias=bias)
        self.W_v, self.W_o = nn.Linear(d_context, d, bias=bias), nn.Linear(d, d, bias=bias)

    def forward(
        self, x: Tensor, context: Tensor, context_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        q = split_heads(self.W_q(x), self.n_heads)
        k, v = (split_heads(W(context), self.n_heads) for W in (self.W_k, self.W_v))
        mask = None if context_mask is None else context_mask[:, None, None]  # (B, 1, 1, M)
        out, weights = attend(q, k, v, mask)
        return self.W_o(merge_heads(out)), weights


# %% [markdown]
# ### Against PyTorch's, and a lost sentence
#
# `nn.MultiheadAttention` calls the widths of the context `kdim` and `vdim`. If they are not d, it keeps three matrices
# under names of their own, and three biases in one row. The cell copies ours over. PyTorch's padding mask says **True =
# blocked**, so it gets `~context_mask`. The cell calls it twice: with `need_weights=True`, the default, and without.

# %% nbgrader={"grade": false, "grade_id": "use-module", "locked": true, "schema_version": 3, "solution": false, "task": false}
ours = CrossAttention(10, 6, n_heads=2).double()
theirs = nn.MultiheadAttention(10, 2, kdim=6, vdim=6, batch_first=True).double()
own = ours.state_dict()
theirs.load_state_dict(
    {
        "q_proj_weight": own["W_q.weight"],
        "k_proj_weight": own["W_k.weight"],
        "v_proj_weight": own["W_v.weight"],
        "in_proj_bias": torch.cat([own["W_q.bias"], own["W_k.bias"], own["W_v.bias"]]),
        "out_proj.weight": own["W_o.weight"],
        "out_proj.bias": own["W_o.bias"],
    }
)
out, _ = ours(x.repeat(1, 1, 2), context, context_mask)  # x is 10 wide
given = {"key": context, "value": context, "key_padding_mask": ~context_mask}
for need_weights in (True, False):
    their_out, _ = theirs(x.repeat(1, 1, 2), **given, need_weights=need_weights)
    for b, what in enumerate(("full", "short", "lost")):
        same = torch.allclose(out[b], their_out[b], rtol=0, atol=1e-12)
        print(f"need_weights={need_weights!s:5}  {what:5}  the same output: {same}", end="  ")
        print(their_out[b, 0, :2].detach().numpy().round(3) if what == "lost" else "")
print("lost, ours is W_o's bias:", torch.allclose(out[2], ours.W_o.bias.expand(5, -1)))

# %% [markdown]
# Two sentences agree to 1e-12. For the third, PyTorch 2.13 does what the call asks for. With `need_weights=True` the
# module takes softmax of nothing but −∞ itself, fills in no 0, and gives NaN. With `need_weights=False` it hands
# cross-attention to `F.scaled_dot_product_attention`, which gives 0, and W_o's bias comes out, as it does from ours.
# Prediction 2 is C.
#
# A NaN goes back through all that the lost sentence went through. Where weights are asked for, one empty context in a
# batch makes the loss NaN, and one step later these four linears, which all sentences share.
#
# **At the desk.** The next cell puts the given module in the place of PyTorch's and trains twice. The second time every
# card is marked as padding. What will its loss stay near?


# %% nbgrader={"grade": false, "grade_id": "see-training", "locked": true, "schema_version": 3, "solution": false, "task": false}
def own_module() -> nn.Module:
    return CrossAttention(16, AUTHORS + SHELVES, n_heads=2)


figures.training.losses(
    {f"{name} the context": train(own_module, name == "with")[1] for name in ("with", "without")},
    math.log(10),
    "guessing: ln 10",
)

# %% nbgrader={"grade": false, "grade_id": "use-desk", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
asked, cards, real, answers = new
never_trained = answers == asked  # author a on shelf a
for name, with_context in (("with", True), ("without", False)):
    with torch.no_grad():
        scores = train(own_module, with_context)[0](asked, cards, real & with_context)[0]
    right = scores.argmax(-1) == answers
    print(f"{name:7} the context: {right[~never_trained].float().mean():5.1%} right", end="; ")
    print(f"pairs never trained: {right[never_trained].float().mean():5.1%}")

# %% [markdown]
# With the context the desk is right on catalogues that it has never seen, also where author and shelf had never
# come together before. Without it, the loss stays around ln 10. The desk cannot even tell who was asked for: x speaks in
# the *weights* alone, and those are 0. What comes out is W_o's bias, the same shelf for everyone, which is right
# one time in ten.
#
# W_q and W_k learned to bring a name in a question and a name on a card together: give the desk back the W_k that it
# began with, and four or five answers in ten are wrong.
#
# ## Three attentions, side by side
#
# An **encoder** reads the German sentence, a **decoder** writes the English one (lesson 06). They use three attentions,
# which differ in who asks, who answers and what is hidden:
#
# | attention | queries from | keys and values from | mask |
# |---|---|---|---|
# | encoder, self | German | German | padding |
# | decoder, self | English so far | English so far | causal (and padding) |
# | cross | English so far | German, as the encoder left it | padding of the German |
#
# Before you run the cell: which of the three maps are squares, and which one has hatched cells?

# %% nbgrader={"grade": false, "grade_id": "see-three", "locked": true, "schema_version": 3, "solution": false, "task": false}
asks_german = 8 * W_k  # German words ask as they are asked, so that alike finds alike
keys_english = W_q / 8
_, encoder = cross_attention(context1, context1, asks_german, W_k, W_v)
future = torch.ones(5, 5).triu(1).bool()  # True = blocked
_, decoder = attend(x1 @ W_q, x1 @ keys_english, x1, ~future)
_, cross = cross_attention(x1, context1, W_q, W_k, W_v)
figures.cross_attention.maps(
    {
        "encoder, self": (encoder[0], german, german, None),
        "decoder, self": (decoder[0], english, english, future),
        "cross": (cross[0], english, german, None),
    }
)

# %% [markdown]
# On the left is a square without a mask: *habe* finds *gelesen*, four words later. In the middle is a square whose upper
# triangle is hatched: *a* cannot find *book*, which is not written yet. On the right is a rectangle without a mask. While
# *read* is being written, *Buch* is already on the shelf. That is no leak: the German sentence is the question, not the
# answer.
#
# ## A decoder layer from these parts
#
# A Transformer's decoder is a stack of layers, all built alike. Each layer has three parts, in this order: *causal
# self-attention* (what have I written?), *cross-attention* (what does the original say?), and a **feed-forward network**, an
# MLP that works on each token alone, with one hidden layer and a ReLU. Two things stand around each part:
#
# - A **residual connection**: what a part finds is *added* to x. In that sum a part may say nothing without anything
#   getting lost, and gradients have a direct way back.
# - **Layer norm**, `nn.LayerNorm(d)`: the numbers of each token are shifted and scaled to mean 0 and variance 1,
#   then multiplied and shifted by learned numbers. So a part reads numbers of the same size, however large x has grown.
#
# There are two places for the norm. With any part and its norm, one of these lines is run:
#
# ```python
# x = x + part(norm(x))  # pre-norm: before the part
# x = norm(x + part(x))  # post-norm: after the sum
# ```
#
# The first Transformer had post-norm (Vaswani et al. 2017, section 3.1). GPT-2 has pre-norm (Radford et al. 2019, section
# 2.3), and so has yours. GPT-like models leave out the cross-attention, as they have no
# original to read. Latent diffusion, which draws from a text, has it: the image's parts ask, the words answer (Rombach et
# al. 2022, section 3.3).

# %% [markdown]
# ### Exercise: `DecoderLayer`
#
# difficulty ●●● · 15–20 min · 4 points
#
# Write a layer with pre-norm, from parts that you have. Its submodules have exactly these names:
#
# | name | what it is |
# |---|---|
# | `self_attention` | the given `MultiHeadAttention`, d wide, called with `causal=True` |
# | `cross_attention` | the given `CrossAttention`, for x and a context that are both d wide |
# | `hidden`, `out` | linears from d to d_hidden, and back |
# | `norm_1`, `norm_2`, `norm_3` | `nn.LayerNorm`, one for each part, in the order of the parts |
#
# The context is read as it comes: no norm of this layer touches it. The layer returns (B, N, d), and no weights. It is
# compared with `nn.TransformerDecoderLayer(d, n_heads, d_hidden, dropout=0, batch_first=True, norm_first=True)`, called with
# the same weights and a causal `tgt_mask`, in float64 at 1e-6, gradients included. If n_heads does not divide d, the given
# modules raise `ValueError`.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-DecoderLayer", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Write the pre-norm line three times, and put another part and its norm into each. Each sum is called x again, and the
# next part reads it. Both attentions return two things, and you need the first.
#
# <details><summary>Hint 2: the shapes</summary>
#
# x is (B, N, d) after each of the three lines. Only cross-attention sees the context, (B, M, d), and its mask, (B, M). Only
# inside the last part the width is d_hidden.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. In the constructor: two attentions, two linears, three norms.
# 2. Normalise x, let it attend to itself, add.
# 3. Normalise x anew, let it read the context with the mask, add.
# 4. Normalise x anew, then widen, ReLU, narrow, add.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "DecoderLayer", "locked": false, "schema_version": 3, "solution": true, "task": false}
class DecoderLayer(nn.Module):
    """One layer of a Transformer's decoder, with pre-norm.

    Args:
        d: width of x, of the context and of the output.
        n_heads: heads of each attention; it divides d.
        d_hidden: width of the hidden layer.
    Raises:
        ValueError: n_heads does not divide d.
    """

    def __init__(self, d: int, n_heads: int, d_hidden: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.self_attention = MultiHeadAttention(d, n_heads)
        self.cross_attention = CrossAttention(d, d, n_heads)
        self.hidden = nn.Linear(d, d_hidden)
        self.out = nn.Linear(d_hidden, d)
        self.norm_1 = nn.LayerNorm(d)
        self.norm_2 = nn.LayerNorm(d)
        self.norm_3 = nn.LayerNorm(d)
        ### END SOLUTION

    def forward(self, x: Tensor, context: Tensor, context_mask: Tensor | None = None) -> Tensor:
        """Let each token read what was written before it, then the context, then work alone.

        Args:
            x: (B, N, d).
            context: (B, M, d).
            context_mask: (B, M) bool, True = attend; None lets all be read.
        Returns:
            (B, N, d).
        """
        ### BEGIN SOLUTION
        x = x + self.self_attention(self.norm_1(x), causal=True)[0]
        x = x + self.cross_attention(self.norm_2(x), context, context_mask)[0]
        return x + self.out(F.relu(self.hidden(self.norm_3(x))))
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "DecoderLayer-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(DecoderLayer)

# %% [markdown]
# Before you run your layer: which rows change if the last word is another one? Do the dummies of
# the context matter? The third original is lost: what does the layer make of it?

# %% nbgrader={"grade": false, "grade_id": "use-decoder", "locked": true, "schema_version": 3, "solution": false, "task": false}
torch.manual_seed(3)
layer = DecoderLayer(8, n_heads=2, d_hidden=20)
written, original = torch.randn(3, 5, 8), torch.randn(3, 7, 8)
kept = torch.arange(7) < torch.tensor([[7], [4], [0]])  # True = attend; the third is lost
found = layer(written, original, kept)
other_end = torch.cat([written[:, :4], torch.randn(3, 1, 8)], dim=1)
changed = (layer(other_end, original, kept) - found).abs().amax(dim=(0, 2)) > 1e-5
print("another last word changes rows", changed.nonzero().flatten().tolist())
other_dummies = original.masked_fill(~kept[..., None], 9.0)
print("other dummies change nothing:", torch.allclose(layer(written, other_dummies, kept), found))
print("the lost original makes a NaN:", bool(found.isnan().any()))

# %% [markdown]
# The last word changes its own row alone. The lost original adds W_o's bias and no NaN, as in PyTorch's layer, which calls
# its attentions with `need_weights=False`.
#
# ## Break it on purpose
#
# **Values from the wrong side.** The weights are right, but they mix x:


# %% nbgrader={"grade": false, "grade_id": "break-values", "locked": true, "schema_version": 3, "solution": false, "task": false}
def hears_itself(x, context, W_q, W_k, W_v, context_mask=None):
    weights = cross_attention(x, context, W_q, W_k, W_v, context_mask)[1]
    return weights @ (x @ W_v), weights


check(hears_itself, name="cross_attention")

# %% [markdown]
# The card says that PyTorch refused: widths differ. Now choose sizes that hide the mistake: x and context are equally
# long and equally wide.

# %% nbgrader={"grade": false, "grade_id": "break-values-symptom", "locked": true, "schema_version": 3, "solution": false, "task": false}
rng = torch.Generator().manual_seed(1)
asks, shelf = (torch.randn(1, 4, 6, generator=rng) for _ in range(2))
square = [torch.randn(6, 6, generator=rng) for _ in range(3)]
for function in (hears_itself, cross_attention):
    result, weights = function(asks, shelf, *square)
    one_book = function(asks[:, :1], shelf[:, :1], *square)[0]
    print(f"{function.__name__:15}", tuple(result.shape), "rows add up to 1:", end=" ")
    print(torch.allclose(weights.sum(-1), torch.ones(1, 4)), end=", ")
    print("one book: its value:", torch.allclose(one_book, shelf[:, :1] @ square[2], atol=1e-5))

# %% [markdown]
# There is no error, the shape is right, and rows add up to 1. A test that needs no reference finds the mistake: **with a
# single book on the shelf, every reader takes home that book's value.** The weight is 1 then, whatever the scores are. A
# model with this mistake mixes its own words: the context says how much of each, and none of its values gets through.
#
# **A mask.** Someone hands over a mask of another kind. Run the cell and say what the symptom is before you read on.


# %% nbgrader={"grade": false, "grade_id": "break-mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
def reads_dummies(x, context, W_q, W_k, W_v, context_mask=None):
    padding = None if context_mask is None else ~context_mask  # True = blocked
    return cross_attention(x, context, W_q, W_k, W_v, padding)


print("short, I:", reads_dummies(x, context, W_q, W_k, W_v, context_mask)[1][1, 0])
check(reads_dummies, name="cross_attention")

# %% [markdown]
# All of the weight is on the three dummies. The symptom is an output that does not depend on the real words at
# all. And full sentences, which have no dummy, get 0. The mask is inverted: `nn.MultiheadAttention` wants True = blocked,
# and this function wants True = attend.
#
# ## Cost
#
# For one head, N readers and M books:
#
# | step | multiplications |
# |---|---|
# | queries | N · d · d_k |
# | keys and values | M · d_context · (d_k + d_v) |
# | scores and mix | N · M · (d_k + d_v) |
#
# No length is squared: scores and mix grow with N · M, the projections with N and with M. And a decoder that writes
# N words one at a time can keep the keys and values of the context. How much does this save?

# %% nbgrader={"grade": false, "grade_id": "count", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("   N     M   keys made anew   kept   ratio")
for n, m in ((5, 6), (20, 1000), (1000, 1000)):
    shelf_once = 2 * m * 64 * 64  # keys and values, all widths 64
    rest = n * 64 * 64 + 2 * n * m * 64
    anew, once = n * shelf_once + rest, shelf_once + rest
    print(f"{n:4} {m:5} {anew / 1e6:13.1f} M {once / 1e6:6.1f} M {anew / once:6.1f}")

# %% [markdown]
# Lesson 11 keeps keys and values of the decoder's own words as well.

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Check yourself
#
# **1.** Why are keys and values made from the same sequence?
#
# <details><summary>A. Because W_k and W_v have the same shape</summary>
#
# Not this one: they need not, d_v may differ from d_k.
#
# </details>
# <details><summary>B. Because a weight says how much of book m to take home, and book m's pages are its value</summary>
#
# Yes. Column m of the weights belongs to key m, and is multiplied with value m.
#
# </details>
# <details><summary>C. They are not: values come from x</summary>
#
# Not this one: then readers would take home their own words.
#
# </details>
#
# **2.** A decoder writes word 3. What may its *cross*-attention read?
#
# <details><summary>A. The first three words of the original</summary>
#
# Not this one: that is the rule of the causal mask, which is about the decoder's own words.
#
# </details>
# <details><summary>B. The whole original except its padding</summary>
#
# Yes. The whole original is there from the beginning. Only what is being written has a future.
#
# </details>
# <details><summary>C. The whole original and the words written so far</summary>
#
# Not this one: the decoder's self-attention reads what is written so far.
#
# </details>
#
# **3.** One context of a batch is all padding, and `nn.MultiheadAttention` returns weights. The loss is cross-entropy.
# What does one step of training do?
#
# <details><summary>A. Nothing: the example is skipped</summary>
#
# Not this one: nobody skips it. Its rows become NaN, and they go into the loss with all the others.
#
# </details>
# <details><summary>B. Only the example's own output is lost</summary>
#
# Not this one: the loss is a mean over the batch, and a mean with a NaN in it is NaN.
#
# </details>
# <details><summary>C. All parameters that the lost example touches become NaN</summary>
#
# Yes. NaN comes back through everything that the example went through. One step with such slopes ruins every number
# there: in the linears from the attention on, and in its own words' rows of an embedding.
#
# </details>

# %% [markdown]
# ## Take away
#
# 1. Queries come from x, keys and values from the context. Weights are (N, M), and there is an answer for each reader
#    ([who asks](#Who-asks-and-who-answers)).
# 2. Self-attention is the case context = x ([special case](#Self-attention,-a-special-case)).
# 3. The context's padding is hidden in columns: (B, 1, M), and (B, 1, 1, M) with heads. Where nothing is left, weights
#    are 0 and W_o's bias comes out; `nn.MultiheadAttention` gives NaN there, in PyTorch 2.13, if it returns weights
#    ([lost](#Against-PyTorch's,-and-a-lost-sentence)).
# 4. An encoder–decoder has three attentions: self, causal self, cross
#    ([side by side](#Three-attentions,-side-by-side)). A decoder layer is the last two, a feed-forward network, residuals
#    and norms ([its parts](#A-decoder-layer-from-these-parts)).
# 5. Trained to look things up, cross-attention is a dictionary whose keys are learned, and it works for pairs never seen
#    together ([look up](#See-it:-a-desk-that-learns-to-look-things-up)).
#
# **In the glossary**: [cross-attention](../glossary.md#cross-attention), [alignment](../glossary.md#alignment),
# [layer norm](../glossary.md#layer-norm), [residual connection](../glossary.md#residual-connection).
#
# ### Sources
#
# - Attention as alignment, in a translator: D. Bahdanau, K. Cho, Y. Bengio (2014), *Neural Machine Translation by
#   Jointly Learning to Align and Translate*, section 3. [arXiv:1409.0473](https://arxiv.org/abs/1409.0473)
# - The three attentions, the decoder layer: A. Vaswani et al. (2017), *Attention Is All You Need*, sections 3.1 and
#   3.2.3. [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# - Norms before the parts: A. Radford et al. (2019), *Language Models are Unsupervised Multitask Learners*, section 2.3.
#   [openai.com](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf)
# - Layer norm: J. L. Ba, J. R. Kiros, G. E. Hinton (2016), *Layer Normalization*.
#   [arXiv:1607.06450](https://arxiv.org/abs/1607.06450)
# - Images that ask words: R. Rombach et al. (2022), *High-Resolution Image Synthesis with Latent Diffusion Models*,
#   section 3.3. [arXiv:2112.10752](https://arxiv.org/abs/2112.10752)
# - PyTorch's manual:
#   [MultiheadAttention](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html),
#   [TransformerDecoderLayer](https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerDecoderLayer.html).
#
# **To carry over.** You shuffled the German words, and no output changed. *Man bites dog* has the words of *dog bites
# man*. What would you add to a word's vector to tell its place, without a new kind of attention?

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
