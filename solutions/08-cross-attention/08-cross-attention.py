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
# So far the words of one sentence asked each other. In this lesson one sequence asks and another one answers, and the two
# need not be equally long or even of the same kind.
# A translation asks its original, a caption asks its image, an answer asks its documents. That is
# [**cross-attention**](../glossary.md#cross-attention), and it takes one change to what you have.
#
# | | |
# |---|---|
# | **You will be able to** | write cross-attention; hide the padding of what is read, and say what comes out where nothing is left; tell the three attentions of an encoder–decoder apart at a glance; build a whole decoder layer that equals PyTorch's |
# | **Minutes** | about 90 |
# | **You need** | lessons 05 to 07: batched attention, padding masks, heads |
# | **Runs on** | CPU; needs no network |
# | **You may stop** | before *A decoder layer from these parts* |
# | **Points** | 7, in two exercises |
#
# Today the readers stand at the desk of *another* library. The running sentence is *I read a book yesterday*. It
# translates ***ich habe gestern ein Buch gelesen***, and its five words ask those six.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab import begin, check, figures, quiz  # is it missing? open it by: attnlab lab

torch.set_printoptions(precision=3, sci_mode=False)
begin("08-cross-attention")

# %% nbgrader={"grade": false, "grade_id": "opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.opening()

# %% [markdown]
# **Where you are.** This is the block of lesson 02. What is new is lit: keys and values come from another sequence.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("context")

# %% [markdown]
# ## Recall

# %% nbgrader={"grade": false, "grade_id": "quiz-recall", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("recall")

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Predict
#
# Commit to a guess. You run both further down.

# %% nbgrader={"grade": false, "grade_id": "quiz-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("predict")

# %% [markdown]
# ## By hand
#
# Two readers, *read* and *book*, ask a shelf of three: *Buch*, *gelesen* and a dummy that fills up the shelf. With
# $d_k$ = 4 their products q·k are
#
# | q·k | Buch | gelesen | dummy |
# |---|---|---|---|
# | **read** | 0 | 2 | 6 |
# | **book** | 4 | 0 | 6 |
#
# **Scale** by $\sqrt{d_k}$ = 2. **Hide** the dummy with −∞. It is a *column*: nobody may read this padding. Take
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
# There are two rows of weights, one for each reader, and three columns, one for each word on the shelf. There are as many
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
# The sequence that asks is **x**. The one that is read is the [**context**](../glossary.md#context) (PyTorch says *memory*). Everything that belongs
# to x has N rows, and everything that belongs to the context has M.
#
# | symbol | what it is | axes |
# |---|---|---|
# | x, in formulas X | tokens that ask | (B, N, d) |
# | context, in formulas C | tokens that are read | (B, M, d_context) |
# | context_mask | which of them are real, **True = attend** | (B, M) |
# | $W_q$ | makes queries, of x | (d, $d_k$) |
# | $W_k$ | makes keys, of the context | (d_context, $d_k$) |
# | $W_v$ | makes values, of the context | (d_context, $d_v$) |
# | weights | one row per reader, one column per book | (B, N, M); (B, H, N, M) with heads |
# | out | an answer for each reader | (B, N, $d_v$); (B, N, d) in the module |
#
# Attention is given again, with lesson 07's two functions for heads.


# %% nbgrader={"grade": false, "grade_id": "attend", "locked": true, "schema_version": 3, "solution": false, "task": false}
def attend(q, k, v, mask=None):
    """Attention as you built it in lessons 05 and 06, for q (…, N, d_k), k (…, M, d_k), v (…, M, d_v).

    The mask is (…, N, M), True = attend. It gives out (…, N, d_v) and weights (…, N, M), both 0 in
    a row that has nothing to attend to.
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
# 10) and a room (one of 10). x is a list of four authors, and the answer to each is the room on their card. No room can
# be learned by heart: every list of questions comes with a new, shuffled catalogue.
#
# Two things make it harder. Catalogues have four to six cards, so there is padding. And ten pairs are new in the test:
# in training, author a is *never* in room a; in the test, about half of the cards put them there.
#
# The attention is PyTorch's own for now. `nn.Embedding` is a table with a learned row for each author. `to_scores` turns
# an answer into ten scores, one for each room. `learn` trains for 150 steps. The loss is cross-entropy (lesson 06). A
# guess that knows nothing of the question costs $\log 10$ = 2.30.

# %% nbgrader={"grade": false, "grade_id": "desk", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab.lessons.cross_attention.desk import AUTHORS, ROOMS, Ready, in_words, learn, questions


class Desk(nn.Module):
    """Looks authors up in a catalogue, by a module of cross-attention."""

    def __init__(self, cross: nn.Module) -> None:
        super().__init__()
        self.embed = nn.Embedding(AUTHORS, 16)
        self.cross = cross
        self.to_scores = nn.Linear(16, ROOMS)

    def forward(self, asked: Tensor, cards: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        out, weights = self.cross(self.embed(asked), cards, real)
        return self.to_scores(out), weights


# %% [markdown]
# The next cell trains it and shows one catalogue of the test: who is asked for, and which card is read. Choose
# a row, and then the other head. Which card do you expect each author to read? Does its place matter?

# %% nbgrader={"grade": false, "grade_id": "see-desk", "locked": true, "schema_version": 3, "solution": false, "task": false}
torch.manual_seed(0)
desk = Desk(Ready())
learn(desk)
asked, cards, real, rooms = questions(1000, torch.Generator().manual_seed(99), new_pairs=True)
with torch.no_grad():
    weights = desk(asked, cards, real)[1]
shown = int((real.sum(-1) == 5).nonzero()[0])  # the first catalogue with one dummy
figures.live.WhoListens(weights[shown], *in_words(asked[shown], cards[shown], real[shown]))

# %% [markdown]
# The map is a rectangle, four rows and six columns. It has no triangle: the catalogue is there before the first question.
# Each author finds the one card with the same name, whatever its place, and the hatched dummy gets nothing. Both heads do
# the same, and one head alone learns the task as well.
#
# An [**alignment**](../glossary.md#alignment) says which word of an original belongs to which word of its translation. In 2014, three years
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
# the three matrices. That is 216 ways. Where all sizes differ, 8 of them run, and only the right one gives (N, $d_v$). Where
# N = M and all widths are equal, all 216 run, and no shape protects you.
#
# **Padding.** A batch of originals has different lengths, so short ones are filled up. `context_mask`, (B, M), says
# which tokens are real, **True = attend**. It hides columns. x may have padding too. It asks and gets an answer, but no
# other row depends on that answer, and the loss leaves it out. So x needs no mask here.
#
# **Nothing left.** If a context is all padding, weights and out are 0 for each of its readers, as in lessons 05 and
# 06. No gradient is NaN either: −∞ is *filled in* before softmax and 0 after it.

# %% [markdown]
# ### Exercise: `cross_attention`
#
# difficulty ●●○ · 8–12 min · 3 points
#
# Write cross-attention as a function. It is compared with `F.scaled_dot_product_attention` in
# float64 at 1e-6 and in float32 at 1e-4, at scores in the thousands too, gradients included. Widths that do not fit raise an error: PyTorch's own
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
# Queries (B, N, $d_k$), keys (B, M, $d_k$), values (B, M, $d_v$), scores (B, N, M). The mask is (B, M) and has to
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
# Now give your function a sentence that you can read. Each word is one-hot, so x is 5 wide and the context 6. The matrices
# are set by hand and say what a word is *about*, in four columns: who, doing, thing, time. An article is about a
# thing. Its entry for *doing* is below 0, so it avoids verbs. Queries are 8 times as large, so that the
# best match gets most of the weight.

# %% nbgrader={"grade": false, "grade_id": "see-words", "locked": true, "schema_version": 3, "solution": false, "task": false}
english = ["I", "read", "a", "book", "yesterday"]
german = ["ich", "habe", "gestern", "ein", "Buch", "gelesen"]
about_english = torch.tensor(  # who, doing, thing, time
    [[1.0, 0, 0, 0], [0, 1, 0, 0], [0, -0.7, 0.7, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
)
about_german = torch.tensor(
    [[1.0, 0, 0, 0], [0, 0.7, 0, 0], [0, 0, 0, 1], [0, -0.7, 0.7, 0], [0, 0, 1, 0], [0, 1, 0, 0]]
)
W_q, W_k = 8 * about_english, about_german
W_v = torch.tensor(  # what the pages say: a person, a deed, a thing
    [[1.0, 0, 0], [0, 0.5, 0], [0, 0, 0], [0, 0, 0.5], [0, 0, 1], [0, 1, 0]]
)

# %% [markdown]
# The five English words ask three shelves at once, B = 3: the whole German sentence; a short one, *ich habe
# gelesen*, filled up with three dummies; and one that got lost and is all dummies.

# %% nbgrader={"grade": false, "grade_id": "use-cross_attention", "locked": true, "schema_version": 3, "solution": false, "task": false}
x = torch.eye(5).expand(3, -1, -1)  # the same readers three times
full, dummy = torch.eye(6), torch.full((1, 6), 0.5)
context = torch.stack([full, torch.cat([full[[0, 1, 5]], dummy.repeat(3, 1)]), dummy.repeat(6, 1)])
context_mask = torch.arange(6) < torch.tensor([[6], [3], [0]])  # True = attend

out, weights = cross_attention(x, context, W_q, W_k, W_v, context_mask)
print("out", tuple(out.shape), " weights", tuple(weights.shape))
print("row sums, one row per shelf:")
print(weights.sum(-1))
short = ["ich", "habe", "gelesen", *["dummy"] * 3]
blocked = ~context_mask[1].expand(5, -1)  # True = blocked
figures.cross_attention.maps(
    {
        "the whole sentence": (weights[0], english, german, None),
        "a short one, and dummies": (weights[1], english, short, blocked),
    },
    "A query without a match still gives all its weight to what is open",
)

# %% [markdown]
# In the first panel *yesterday*, the last English word, reads the third German one, *gestern*. *read* reads two words at
# once, *gelesen* at the end and *habe* in second place: this German past tense is made of two words that stand far apart.
# In the second panel the hatched columns hold exactly 0, and three words share what is left. *book* and *yesterday* find
# nothing that suits them, and read all three alike: softmax has no way to say *nothing suits*, unless a key stands for that. *a* finds no article and
# takes *ich*, 0.83, since a score of 0 beats two that are below 0. On the lost shelf everything is hidden, and even the
# row sums are 0.
#
# **Your first prediction.** Shuffle the German words and compare.

# %% nbgrader={"grade": false, "grade_id": "use-shuffle", "locked": true, "schema_version": 3, "solution": false, "task": false}
order = [4, 0, 5, 3, 1, 2]
plain, plain_weights = cross_attention(x[:1], context[:1], W_q, W_k, W_v)
shuffled, shuffled_weights = cross_attention(x[:1], context[:1, order], W_q, W_k, W_v)
print("the same output:            ", torch.allclose(shuffled, plain))
print("the same columns, elsewhere:", torch.allclose(shuffled_weights, plain_weights[:, :, order]))

# %% [markdown]
# (Prediction 1: A.) To cross-attention a context is a *bag* of words. It does not matter where a word stands. It does matter how large its share of the bag is. Repeating one word changes the output; repeating the whole context does not. Lesson 09 changes the words'
# vectors, so that they say where they stand.
#
# ## As a module, with heads
#
# In a model, cross-attention has heads and linears, as lesson 07's module has. One thing is new: there are two widths.
# Queries are made from x, which is d wide. Keys and values are made from the context, which may be d_context wide. Both
# modules are given.


# %% nbgrader={"grade": false, "grade_id": "modules", "locked": true, "schema_version": 3, "solution": false, "task": false}
class MultiHeadAttention(nn.Module):
    """Lesson 07's: `forward` gives (B, N, d) and weights (B, H, N, N)."""

    def __init__(self, d: int, n_heads: int) -> None:
        super().__init__()
        if n_heads < 1 or d % n_heads:
            raise ValueError(f"d = {d} does not divide by {n_heads} heads")
        self.n_heads = n_heads
        self.W_q, self.W_k = nn.Linear(d, d), nn.Linear(d, d)
        self.W_v, self.W_o = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x: Tensor, causal: bool = False) -> tuple[Tensor, Tensor]:
        q, k, v = (split_heads(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        out, weights = attend(q, k, v, past if causal else None)
        return self.W_o(merge_heads(out)), weights


class CrossAttention(nn.Module):
    """x (B, N, d) reads a context (B, M, d_context): gives (B, N, d) and weights (B, H, N, M)."""

    def __init__(self, d: int, d_context: int, n_heads: int) -> None:
        super().__init__()
        if n_heads < 1 or d % n_heads:
            raise ValueError(f"d = {d} does not divide by {n_heads} heads")
        self.n_heads = n_heads
        self.W_q, self.W_k = nn.Linear(d, d), nn.Linear(d_context, d)
        self.W_v, self.W_o = nn.Linear(d_context, d), nn.Linear(d, d)

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
# `nn.MultiheadAttention` calls the widths of the context `kdim` and `vdim`. `as_pytorchs` makes one and copies our numbers
# into it. Its padding mask says **True = blocked**, so it gets `~context_mask`. The cell calls it twice: with
# `need_weights=True`, the default, and without.

# %% nbgrader={"grade": false, "grade_id": "use-module", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab.lessons.cross_attention.desk import as_pytorchs

ours = CrossAttention(10, 6, n_heads=2)
theirs = as_pytorchs(ours)
wide = x.repeat(1, 1, 2)  # 10 wide
out, _ = ours(wide, context, context_mask)
print("lost, ours is W_o's bias:", torch.allclose(out[2], ours.W_o.bias.expand(5, -1)))
for need_weights in (True, False):
    their_out, _ = theirs(wide, context, context, ~context_mask, need_weights)
    for b, what in enumerate(("full", "short", "lost")):
        same = torch.allclose(out[b], their_out[b], atol=1e-6)
        print(f"need_weights={need_weights!s:5}  {what:5}  the same output: {same!s:5}", end="  ")
        print(f"NaN: {bool(their_out[b].isnan().any())}")

# %% [markdown]
# Two sentences agree. The third depends, in PyTorch 2.13, on whether the call asks for weights. With
# `need_weights=True` the module takes the softmax itself, over scores that are all −∞, fills in no 0, and gives NaN. With
# `need_weights=False` it hands cross-attention to `F.scaled_dot_product_attention`, which gives 0, and $W_o$'s bias comes out,
# as it does from ours. (Prediction 2: C.)
#
# If the call asks for weights, one empty context in a batch makes the loss NaN. One step later the four linears, which
# all sentences share, are NaN too.
#
# **At the desk.** The next cell puts the given module in the place of PyTorch's and trains two desks. For the second one
# every card is marked as padding. What will its loss stay near?


# %% nbgrader={"grade": false, "grade_id": "use-desk", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
class Deaf(CrossAttention):
    """Its context is all padding."""

    def forward(self, x, context, context_mask=None):
        return super().forward(x, context, context_mask & False)


for name, kind in (("with", CrossAttention), ("without", Deaf)):
    torch.manual_seed(0)
    desk = Desk(kind(16, AUTHORS + ROOMS, n_heads=2))
    losses, right = learn(desk), desk(asked, cards, real)[0].argmax(-1) == rooms
    whole, unseen = right.float().mean(), right[asked == rooms].float().mean()
    print(f"{name:7} the context: loss {losses[-1]:.2f}; right {whole:.1%}, new pairs {unseen:.1%}")

# %% [markdown]
# With the context the desk is right on catalogues that it has never seen, even for pairs that are new to it. Without it,
# the loss stays around $\log 10$. This desk cannot even tell who was asked for: x has a say in the *weights* alone, and those
# are 0. What comes out is $W_o$'s bias, the same scores for everyone. Its likeliest room is right one time in ten.
#
# The first desk *learned* to match the name in a question with the name on a card. Leave the embedding, $W_q$ and $W_k$
# as they began, and train the rest: with two heads it gets a third of the answers right, even after 600 steps.
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
# You have seen the third map. The next cell draws the other two before it, with queries and keys made as above. For the encoder it
# calls your function with the German words as x *and* as context. Which map has hatched cells, and where?

# %% nbgrader={"grade": false, "grade_id": "see-three", "locked": true, "schema_version": 3, "solution": false, "task": false}
out, encoder = cross_attention(context[:1], context[:1], 8 * about_german, about_german, W_v)
by_self = F.scaled_dot_product_attention(8 * about_german, about_german, W_v)
print("context = x is self-attention:", torch.allclose(out[0], by_self))
future = torch.ones(5, 5).triu(1).bool()  # True = blocked
_, decoder = attend(8 * about_english, about_english, about_english, ~future)
figures.cross_attention.maps(
    {
        "encoder, self": (encoder[0], german, german, None),
        "decoder, self": (decoder, english, english, future),
        "cross": (weights[0], english, german, None),
    },
    "The decoder may not look ahead, yet reads the German to its end",
)

# %% [markdown]
# The first two maps are squares. The encoder's has no hatched cell: *habe* finds *gelesen*, four words later. The decoder's has a
# hatched triangle: *a* cannot find *book*, which is not written yet. Cross-attention has no triangle. In the row of *a* the
# decoder looks for the next word, *book*, and it may read *Buch* already. That is no leak: the German sentence is the
# question, not the answer.
#
# ## Break it on purpose
#
# **What is wrong?** This is one of the 215 wrong ways.


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
    result, _ = function(asks, shelf, *square)
    one_book, _ = function(asks[:, :1], shelf[:, :1], *square)
    same = torch.allclose(one_book, shelf[:, :1] @ square[2], atol=1e-5)
    print(f"{function.__name__:15} {tuple(result.shape)}, one book: its value: {same}")

# %% [markdown]
# There is no error, and the shape is right. The values come **from the wrong side**: the weights are right, but they mix x. A test that needs no reference finds the mistake: **with a single book on the
# shelf, every reader takes home that book's value.** That finds 180 of the 215 wrong ways. In the other
# 35 only queries or keys are wrong, and the test says nothing about these: with one book the weight is 1, whatever the score
# is. A model with *this* mistake mixes its own words. The context sets their shares, and none of its own values gets
# through.
#
# **A mask.** Someone hands over a mask of another kind. Run the cell and say what the symptom is before you read on.


# %% nbgrader={"grade": false, "grade_id": "break-mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
def reads_dummies(x, context, W_q, W_k, W_v, context_mask=None):
    padding = None if context_mask is None else ~context_mask  # True = blocked
    return cross_attention(x, context, W_q, W_k, W_v, padding)


print("short, I:", reads_dummies(x, context, W_q, W_k, W_v, context_mask)[1][1, 0])
check(reads_dummies, name="cross_attention")

# %% [markdown]
# All of the weight is on the three dummies. The symptom here is an output that does not depend on the real words at
# all. (Behind an encoder, dummies have read the real words, and it shows less.) And a full sentence, which has no
# dummy, gets 0. The mask is inverted: `nn.MultiheadAttention` wants True = blocked,
# and this function wants True = attend.
#
# ## A decoder layer from these parts
#
# A Transformer's decoder is a stack of layers, all built alike. Each layer has three parts, in this order: *causal
# self-attention* (what have I written?), *cross-attention* (what does the original say?), and a [**feed-forward network**](../glossary.md#feed-forward-network), an
# MLP that works on each token alone, with one hidden layer and a ReLU. Two things stand around each part:
#
# - A [**residual connection**](../glossary.md#residual-connection): what a part finds is *added* to x.
# - [**Layer norm**](../glossary.md#layer-norm), `nn.LayerNorm(d)`: it shifts and scales the numbers of each token to
#   mean 0 and a variance close to 1 (less if they are tiny). Then learned numbers multiply and shift them.
#
# What for? The next cell sends six tokens through eight self-attentions in a row, from three
# starts. It prints how widely numbers spread, how far *apart* tokens are (0: all alike), and the gradient. Which
# columns does the sum change, and from which starts?

# %% nbgrader={"grade": false, "grade_id": "see-residual", "locked": true, "schema_version": 3, "solution": false, "task": false}
norm = nn.LayerNorm(32)
ways = {
    "part(x)": lambda part, x: part(x)[0],
    "part(norm(x))": lambda part, x: part(norm(x))[0],
    "x + part(x)": lambda part, x: x + part(x)[0],
    "x + part(norm(x))": lambda part, x: x + part(norm(x))[0],  # pre-norm
    "norm(x + part(x))": lambda part, x: norm(x + part(x)[0]),  # post-norm
}
starts = {
    "nn.Linear's": lambda matrix: matrix,
    "Xavier": nn.init.xavier_uniform_,
    "orthogonal": nn.init.orthogonal_,
}
for start, fill in starts.items():
    torch.manual_seed(0)
    parts = [MultiHeadAttention(32, n_heads=4) for _ in range(8)]
    for numbers in nn.ModuleList(parts).parameters():
        if numbers.dim() == 2:
            fill(numbers)
    first = torch.randn(1, 6, 32, requires_grad=True)
    for name, step in ways.items():
        y = first
        for part in parts:
            y = step(part, y)
        apart = (y - y.mean(dim=1, keepdim=True)).norm() / y.norm()
        [slope] = torch.autograd.grad(y[0, 0, 0], first)
        print(
            f"{start:11}  {name:17}  spread {y.std():5.2f}   apart {apart:.3f}   gradient {slope.norm():.0e}"
        )

# %% [markdown]
# Without sum and norm, the start decides how much gradient comes back: from `nn.Linear`'s, almost none. With the sum
# it comes back from each of these starts. Each attention hands on an average of all tokens and loses the token's own
# row. After eight averages all six tokens are alike, from each of these starts. **With the sum, tokens stay apart over
# these eight layers.** Over 24 from Xavier's start only pre-norm keeps them apart.
# Train eight layers to say each token's own word, one of eight, by 200 steps of Adam at 0.003. With norms and
# without sums the loss is 1.6 or more from all three starts (guessing: 2.08). With sums and norms it is 0.02 or
# less. (So much for averages: an attention that starts by
# looking at itself hands the row on without a sum.)
#
# With the sum the numbers grow, too. A norm after the sum (**post-norm**) holds the spread at 1. A norm before the part
# (**pre-norm**) lets it grow, but slowly: no part reads numbers that have grown.
#
# The first Transformer had post-norm (Vaswani et al. 2017, section 3.1). GPT-2 has pre-norm (Radford et al. 2019, section
# 2.3), and so has yours. GPT-like models have no cross-attention, and no original to read.

# %% [markdown]
# ### Exercise: `DecoderLayer`
#
# difficulty ●●● · 15–20 min · 4 points
#
# Write a layer with pre-norm, `x + part(norm(x))`, from parts that you have. Its submodules have exactly these names:
#
# | name | what it is |
# |---|---|
# | `self_attention` | the given `MultiHeadAttention`, d wide, called with `causal=True` |
# | `cross_attention` | the given `CrossAttention(d, d_context, n_heads)`; here the context is d wide too |
# | `hidden`, `out` | linears from d to d_hidden, and back |
# | `norm_1`, `norm_2`, `norm_3` | `nn.LayerNorm`, one for each part, in the order of the parts |
#
# The context is read as it comes: no norm of this layer touches it. The layer returns (B, N, d), and no weights. It is
# compared with `nn.TransformerDecoderLayer(d, n_heads, d_hidden, dropout=0, batch_first=True, norm_first=True)`, called with
# the same weights and a causal `tgt_mask`, in float64 at 1e-6 and float32 at 1e-4, gradients included. If n_heads does not divide d, the given
# modules raise `ValueError`.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-DecoderLayer", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Write the pre-norm line three times, and put another part and its norm into each. Each sum is called x again, and the
# next part reads it. Both attentions return two things, and you need the first.
#
# <details><summary>Hint 2: the shapes</summary>
#
# x is (B, N, d) after each of the three lines. Only cross-attention sees the context, (B, M, d), and its mask, (B, M). The
# width is d_hidden only inside the last part.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. In the constructor: two attentions, two linears, three norms.
# 2. Normalise x, let it attend to itself, add.
# 3. Normalise the new x, let it read the context with the mask, add.
# 4. Normalise the new x, then widen, ReLU, narrow, add.
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
# Before you run your layer: if you exchange the last word, which rows of the output change? The third original is lost:
# what does the layer make of it?

# %% nbgrader={"grade": false, "grade_id": "use-decoder", "locked": true, "schema_version": 3, "solution": false, "task": false}
torch.manual_seed(3)
layer = DecoderLayer(8, n_heads=2, d_hidden=20)
written, original = torch.randn(3, 5, 8), torch.randn(3, 7, 8)
kept = torch.arange(7) < torch.tensor([[7], [4], [0]])  # True = attend; the third is lost
found = layer(written, original, kept)
other_end = torch.cat([written[:, :4], torch.randn(3, 1, 8)], dim=1)
changed = (layer(other_end, original, kept) - found).abs().amax(dim=(0, 2)) > 1e-5
print("another last word changes rows", changed.nonzero().flatten().tolist())
print("the lost original makes a NaN:", bool(found.isnan().any()))

# %% [markdown]
# The last word changes its own row alone. The lost original adds $W_o$'s bias and no NaN, as in PyTorch's layer, which calls
# its attentions with `need_weights=False`.

# %% [markdown]
# ## Check yourself

# %% nbgrader={"grade": false, "grade_id": "quiz-check-yourself", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("check yourself")

# %% [markdown]
# ## Take away
#
# 1. Queries come from x, keys and values from the context. Weights are (N, M), and there is an answer for each reader
#    ([who asks](#Who-asks-and-who-answers)).
# 2. Self-attention is the case context = x ([side by side](#Three-attentions,-side-by-side)).
# 3. The context's padding is hidden in columns: (B, 1, M), and (B, 1, 1, M) with heads. Where nothing is left, weights
#    are 0 and $W_o$'s bias comes out; `nn.MultiheadAttention` gives NaN there, in PyTorch 2.13, if it returns weights
#    ([lost](#Against-PyTorch's,-and-a-lost-sentence)).
# 4. An encoder–decoder has three attentions: self, causal self, cross. A decoder layer is the last two, a feed-forward
#    network, residuals and norms. Without residuals, eight self-attentions made all tokens alike, from three starts
#    ([its parts](#A-decoder-layer-from-these-parts)).
# 5. Trained to look things up, cross-attention is a dictionary whose keys are learned, and it works for pairs never seen
#    together ([look up](#See-it:-a-desk-that-learns-to-look-things-up)).
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
# - PyTorch's manual:
#   [MultiheadAttention](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html),
#   [TransformerDecoderLayer](https://docs.pytorch.org/docs/stable/generated/torch.nn.TransformerDecoderLayer.html).
#
# **To carry over.** You shuffled the German words, and no output changed. *Man bites dog* has the words of *dog bites
# man*. What would you add to a word's vector, so that it says where the word stands, without a new kind of attention?

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
