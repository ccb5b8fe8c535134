# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 07 · Several readers at the desk
#
# Lesson 06 ended with a question. *Cat* wants to know who sat and where, at the same time; one
# softmax gives it one way to share out its attention. In this lesson each word sends several
# readers to the desk. Each asks its own question, opens its own books, and brings back a few
# numbers. The matrix products do not grow, as the readers share the width that one reader had.
# Softmax's work does.
#
# | | |
# |---|---|
# | **You will be able to** | cut a tensor into heads and put it together again without mixing it up; write multi-head attention that equals `nn.MultiheadAttention`; unpack that module's weights; say what a head costs, what W_o does, and what a linear layer cannot read from one average |
# | **Minutes** | about 80 |
# | **You need** | lessons 05 and 06: batched tensors, `nn.Module`, `nn.Linear`, masks |
# | **Runs on** | CPU; ten small trainings take some seconds; needs no network |
# | **Points** | 6, in three exercises |
#
# The picture stays a library's reference desk: a **query** is what a reader asks, a **key** is what
# a book's spine promises, a **value** is what its pages say. New today: a **head** is one reader
# with a question, a way to read spines and a way to read pages of its own. The sentence is *the cat
# sat on the mat*.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import copy
from collections.abc import Callable
from time import perf_counter

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab import begin, check, figures

torch.set_printoptions(precision=3, sci_mode=False)
begin("07-multi-head")

# %% [markdown]
# **Where you are.** The block of lesson 02. Lit is what is new, W_o. All between W_q, W_k, W_v and W_o now runs once for each head.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("W_o")

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Recall
#
# Two questions on earlier lessons. Opening a choice is choosing it.
#
# **1.** q is (2, 3, 5, 4) and k is (2, 3, 5, 4). What is the shape of `q @ k.mT`, and how many dot
# products is each of its numbers the result of?
#
# <details><summary>A. (2, 3, 5, 5); each number is one dot product of width 4</summary>
#
# Yes. `@` walks the leading axes 2 and 3 in step (lesson 05): six tables of 5 × 5, side by side.
# You will use the second of these axes for heads.
#
# </details>
# <details><summary>B. (2, 5, 5); each number is a sum of three dot products</summary>
#
# Not this one: a leading axis stays. Nothing is summed but the width, 4.
#
# </details>
# <details><summary>C. (2, 3, 4, 4); each number is one dot product of width 5</summary>
#
# Not this one: that would be `q.mT @ k`, which meets numbers of all tokens.
#
# </details>
#
# **2.** Scores are divided by √d_k. Which number is d_k?
#
# <details><summary>A. How many keys there are</summary>
#
# Not this one: a score is a sum over the entries of one query and one key, however many keys there
# are.
#
# </details>
# <details><summary>B. The width of the vectors whose dot product is a score</summary>
#
# Yes. The variance of a sum of d_k products grows like d_k (lesson 04). Remember the words: the
# vectors *whose dot product is a score*. Today they get shorter.
#
# </details>
# <details><summary>C. The width of a token</summary>
#
# Not this one: it was so where d_k happened to be d. What counts is what stands on both sides of
# the dot product.
#
# </details>

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Predict
#
# Commit to a guess. Both are measured below.
#
# **1.** Eight visitors stand in a queue. Each holds a card with a number, and each has to say two
# things: the number of the visitor in front, and the number of a certain other visitor, its twin. A
# model is trained on this: one attention layer, and a linear one that reads the answers from what it
# brings. Once it has one head of width 16, once two heads of width 8. How many of the answers are
# right in the end?
#
# <details><summary>A. Both get nearly all of them: the parameters are as many</summary>
#
# Not this one: as many parameters, and another result. A head four times as wide does not get both
# either.
#
# </details>
# <details><summary>B. One head gets about one of the two questions right; two heads get both</summary>
#
# Yes. One head sends a single average for two questions, and what reads it is linear. Further down
# you see what it does instead.
#
# </details>
# <details><summary>C. One head gets both; two heads are too narrow</summary>
#
# Not this one: 8 numbers are plenty for a question such as *who is in front of me?*
#
# </details>
#
# **2.** A layer of width d = 64 is cut into 8 heads instead of 1. What happens to its parameters,
# and to the multiplications in its matrix products?
#
# <details><summary>A. Both grow by a factor of 8</summary>
#
# Not this one: that would be 8 heads of width 64 each. Heads share the width: 8 numbers each.
#
# </details>
# <details><summary>B. The parameters stay, the multiplications grow by a factor of 8</summary>
#
# Not this one: there are 8 times as many scores, and each is a sum of 8 times fewer products.
#
# </details>
# <details><summary>C. Both stay the same</summary>
#
# Yes. What grows is the number of *weights*, 8 tables of N × N instead of one, and softmax's work
# with it.
#
# </details>

# %% [markdown]
# ## By hand
#
# Three tokens, *cat sat mat*, and d = 8. *Sat* asks: who sat, and where? Here are its query and the
# three keys. The line | marks where they will be cut into two heads of width 4.
#
# | | numbers 1–4 | numbers 5–8 |
# |---|---|---|
# | query of *sat* | 2, 0, 0, 0 | 0, 2, 0, 0 |
# | key of *cat* | 2, 0, 0, 0 | 0, 0, 0, 0 |
# | key of *sat* | 0, 0, 0, 0 | 0, 0, 0, 0 |
# | key of *mat* | 0, 0, 0, 0 | 0, 2, 0, 0 |
#
# *Cat* promises a who in its first half, *mat* promises a where in its second half. The values say
# which word it is, and say it in both halves: *cat* is (1, 0, 0, 0 | 1, 0, 0, 0), *sat* (0, 1, 0, 0
# | 0, 1, 0, 0) and *mat* (0, 0, 1, 0 | 0, 0, 1, 0).
#
# **One head.** All 8 numbers meet. The scores are 4, 0, 4. Divided by √8 = 2.828 they are 1.414, 0,
# 1.414. Their powers of e are 4.113, 1, 4.113, and the weights 0.446, 0.108, 0.446. The output is
#
# (0.446, 0.108, 0.446, 0 | 0.446, 0.108, 0.446, 0).
#
# Who sat? *Cat* or *mat*. Where? *Cat* or *mat*. The average has kept both words, and lost which
# was the answer to which question, as each word says the same in both halves.
#
# **Two heads.** Each takes its own four numbers, and divides by √4 = 2.
#
# | | scores | ÷ 2 | powers of e | weights | output |
# |---|---|---|---|---|---|
# | head 1 | 4, 0, 0 | 2, 0, 0 | 7.389, 1, 1 | 0.787, 0.107, 0.107 | (0.787, 0.107, 0.107, 0) |
# | head 2 | 0, 0, 4 | 0, 0, 2 | 1, 1, 7.389 | 0.107, 0.107, 0.787 | (0.107, 0.107, 0.787, 0) |
#
# Side by side they are 8 numbers again: *cat* in the first half, *mat* in the second. Who: the cat.
# Where: the mat.
#
# Redo both rows on paper. Mind the divisor: 2, not 2.828, because a score of a head is a sum of
# four products.

# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
query = torch.tensor([2.0, 0, 0, 0, 0, 2, 0, 0])
keys = torch.zeros(3, 8)
keys[0, 0] = keys[2, 5] = 2.0  # cat promises a who, mat a where
pages = torch.eye(3, 4).repeat(1, 2)  # each word, in both halves

for name, part in {"all 8": slice(0, 8), "head 1": slice(0, 4), "head 2": slice(4, 8)}.items():
    asked = query[part]
    shares = (asked @ keys[:, part].mT / len(asked) ** 0.5).softmax(dim=-1)
    found = shares @ pages[:, part]
    print(f"{name:7} weights", shares.numpy().round(3), " output", found.numpy().round(3))

# %% [markdown]
# ## Shape ledger
#
# H counts heads. The width of a head is d/H, so d has to divide by H. In this lesson d_k = d_v =
# d/H.
#
# | symbol | what it is | axes | size in this lesson |
# |---|---|---|---|
# | x | tokens, one a row | (B, N, d) | (1, 6, 12) |
# | W_q, W_k, W_v | make queries, keys, values, for all heads at once | (d, d) | (12, 12) |
# | x W_q, x W_k, x W_v | before the cut | (B, N, d) | (1, 6, 12) |
# | q, k, v | after the cut | (B, H, N, d/H) | (1, 3, 6, 4) |
# | weights | one table for each head | (B, H, N, N) | (1, 3, 6, 6) |
# | heads | what the readers bring back | (B, H, N, d/H) | (1, 3, 6, 4) |
# | joined | the heads side by side | (B, N, d) | (1, 6, 12) |
# | W_o | mixes the heads | (d, d) | (12, 12) |
# | out | | (B, N, d) | (1, 6, 12) |
#
# ## See it: two questions, one softmax
#
# Here are the visitors of the prediction. Eight stand in a queue, places 1 to 8. Each has a
# **subject** (art, maps, law or tea) and a card with a **number** from 1 to 4. Every subject occurs
# twice in a queue, so that each visitor has a **twin**: the other one with its subject. Each has to
# say
#
# 1. the number of the visitor in *front*, and
# 2. the number of its *twin*.
#
# The cell below draws queues at random; what it prints matters, its indexing does not. A token is
# 16 numbers: subject, number and place, each **one-hot**, which means a 1 in its own place and 0
# elsewhere. So d = 16, and nothing is hidden: everyone may look at everyone.

# %% nbgrader={"grade": false, "grade_id": "see-queue", "locked": true, "schema_version": 3, "solution": false, "task": false}
SUBJECTS = ["art", "maps", "law", "tea"]


def queues(count: int, rng: torch.Generator) -> tuple[Tensor, Tensor, list[str]]:
    """Random queues.

    Returns:
        x: (count, 8, 16), subject, number and place of each visitor.
        answers: (count, 8, 2), the number in front and the twin's, counted from 0.
        names: the visitors of the first queue, such as 'art 3'.
    """
    subject = torch.rand(count, 8, generator=rng).argsort(dim=1) % 4  # each occurs twice
    number = torch.randint(4, (count, 8), generator=rng)
    same = subject[:, :, None] == subject[:, None, :]
    twin = (same & ~torch.eye(8, dtype=torch.bool)).int().argmax(dim=-1)  # where it stands
    answers = torch.stack([number.roll(1, dims=1), number.gather(1, twin)], dim=-1)
    places = torch.eye(8).expand(count, 8, 8)
    x = torch.cat([F.one_hot(subject, 4), F.one_hot(number, 4), places], dim=-1)
    names = [f"{SUBJECTS[s]} {n + 1}" for s, n in zip(subject[0], number[0], strict=True)]
    return x.double(), answers, names


x, answers, names = queues(1, torch.Generator().manual_seed(182))  # picked: no two answers agree
print(f"{'place':8}{'visitor':10}{'in front':10}twin")
for place, (name, said) in enumerate(zip(names, (answers[0] + 1).tolist(), strict=True), start=1):
    print(f"{place:<8}{name:10}{said[0] if place > 1 else '-':<10}{said[1]}")

# %% [markdown]
# Read one row aloud. (The first visitor has nobody in front; that question is not asked.)
#
# The model is attention and a linear layer that turns each output into two guesses. One variant has
# a **hidden layer** in that place: a linear, a ReLU and another linear, the MLP of lesson 05. For
# now attention comes ready-made: `nn.MultiheadAttention(d, n_heads)`, the module that you will match.
# You met it in lesson 06; there it had one head. It is called with queries, keys and values, here all
# x. It returns the output and, with `average_attn_weights=False`, one table of weights for each head.
#
# Training is the loop of lesson 05. The error is **cross-entropy**: −log of the probability that
# the guess gives the right number, averaged. **Adam** is an optimizer that gives every parameter a
# step size of its own. Two calls below only regroup axes: `unflatten(-1, (2, 4))` cuts the last one,
# 8 numbers, into 2 × 4, and `flatten(0, 1)` joins the first two.


# %% nbgrader={"grade": false, "grade_id": "see-training", "locked": true, "schema_version": 3, "solution": false, "task": false}
class TwoAnswers(nn.Module):
    """One attention layer, and what makes two guesses at four numbers from its output."""

    def __init__(self, n_heads: int, hidden: int = 0) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(16, n_heads, batch_first=True)
        self.guess: nn.Module = nn.Linear(16, 2 * 4)
        if hidden:
            self.guess = nn.Sequential(nn.Linear(16, hidden), nn.ReLU(), nn.Linear(hidden, 2 * 4))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        out, weights = self.attention(x, x, x, average_attn_weights=False)
        return self.guess(out).unflatten(-1, (2, 4)), weights  # (B, 8, 2, 4), (B, H, 8, 8)


def train(model: nn.Module, seed: int) -> None:
    """400 steps on fresh queues."""
    rng = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(400):
        x, answers, _ = queues(64, rng)
        guesses, _ = model(x)
        front, twin = guesses[:, 1:, 0], guesses[:, :, 1]
        loss = F.cross_entropy(front.flatten(0, 1), answers[:, 1:, 0].flatten())
        loss = loss + F.cross_entropy(twin.flatten(0, 1), answers[:, :, 1].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def trained(n_heads: int, hidden: int = 0, seed: int = 0) -> TwoAnswers:
    torch.manual_seed(seed)
    model = TwoAnswers(n_heads, hidden).double()
    train(model, seed)
    return model


def share_right(model: nn.Module) -> tuple[float, float]:
    """How many of the answers are right in 1,000 queues never trained on: front, twin. Not the first's."""
    x, answers, _ = queues(1000, torch.Generator().manual_seed(99))
    with torch.no_grad():
        right = model(x)[0].argmax(dim=-1) == answers
    front, twin = right[:, 1:].float().mean(dim=(0, 1)).tolist()
    return front, twin


KINDS = {"one head": (1, 0), "one head, hidden layer": (1, 64), "two heads": (2, 0)}
models = {name: [trained(*kind, seed) for seed in range(3)] for name, kind in KINDS.items()}
right = {name: dict(enumerate(map(share_right, own))) for name, own in models.items()}
figures.multi_head.two_answers(right)

# %% [markdown]
# The grey line is guessing, one in four. Nobody picked the seeds; all pictures below are of seed 0. One
# head with a linear layer answers one question almost always and the other some 40 % of the time, hardly
# more than one number said for both would be right (36 %: these visitors' two answers agree). The seed
# says which. Two heads of half the width answer both. (Prediction 1: B.) But so does one head with a
# hidden layer behind it.
#
# Why? See what the models say to the queue above, from the second visitor on, and where they look.
# A solid frame is around the visitor in front, a dashed one around the twin.

# %% nbgrader={"grade": false, "grade_id": "see-patterns", "locked": true, "schema_version": 3, "solution": false, "task": false}
with torch.no_grad():
    said, maps = zip(*(own[0](x) for own in models.values()), strict=True)
for name, guesses in zip(models, said, strict=True):
    print(f"{name:24}", (guesses[0, 1:].argmax(dim=-1) + 1).tolist())
one, hidden, two = (weights[0] for weights in maps)
panels = {"one head": one[0], "one head, hidden layer": hidden[0]}
figures.multi_head.patterns(panels | {"head 1 of 2": two[0], "head 2 of 2": two[1]}, names)

# %% [markdown]
# Each single head looks at both visitors. It found the right books, but brings back one average:
# to *law 4* something of a 1 and something of a 3. And a card does not say whether it is the front's or the
# twin's. (If it did, as a who-word and a where-word do, one head and a linear layer would read both.)
#
# A linear layer adds up what the cards say. One of two cards is the louder, and louder whatever you ask:
# what speaks for a 3 with all of the weight speaks for it with a part. So the first model follows one
# visitor for both questions. Where the answers differ, it says one number twice about nine times out of
# ten. (Numbers that draw more weight speak the softer for it, so the heavier card need not be the louder.)
#
# A hidden layer can listen to the softer card as well. In the second map the twin has two to four times the
# weight of the one in front (with other seeds it is the other way round), and that tells who said what. Exchange these two weights in every row,
# and most of its answers change places. The price is a puzzle for whatever stands behind the head: a hidden
# layer of 16 numbers, 408 parameters, mostly solves it, one of 4 does not. A linear layer of 136 reads two heads.
#
# With two heads each question has a softmax of its own, and most of a row goes to one place.
#
# Now the model with four heads, for all but the first visitor. It opens on *tea 2*, who stands behind
# *law 3* and has the twin *tea 4*. Choose others, and compare a row in all four maps. Which heads look
# in front, which ones at the twin? Then look at the last map, the mean.

# %% nbgrader={"grade": false, "grade_id": "see-heads", "locked": true, "schema_version": 3, "solution": false, "task": false}
four = trained(4)(x)[1][0].detach()
figures.live.Heads(four[:, 1:], names[1:], names)

# %% [markdown]
# Heads 1 and 2 look in front and head 3 at the twin, mostly; head 4 leans to the twin. (Another
# seed shares them out in another way.) The mean looks at both, like the one head. That is how four
# heads look to whoever plots only what `nn.MultiheadAttention` returns by default. The model never
# computes with this mean: each head mixes values of its own.
#
# ## Heads that learned a language
#
# Those visitors were made for two heads. Here is a small language model of the course's own: two layers of
# four heads, made like GPT-2, trained for a few minutes to guess the next word of sentences that a
# grammar of 148 words wrote. `<s>` begins a text. The sentence is *the king behind the dogs that the boy sees* …, If a verb
# comes next, is it *runs* or *run*? It is guessed from the row of the last word, *sees*. The figure shows the second
# layer. Which heads of that row look at *king*?

# %% nbgrader={"grade": false, "grade_id": "see-learned", "locked": true, "schema_version": 3, "solution": false, "task": false}
import random

from attnlab import small
from attnlab.small import measure

model = small.load()
sentence = "<s> the king behind the dogs that the boy sees".split()
learned = figures.live.Heads(small.weights(sentence)[1], sentence)
learned.row = len(sentence) - 1  # *sees*
learned

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict-removed", "locked": true, "schema_version": 3, "solution": false, "task": false}
# One head puts nearly all of that row on *king*. Take this head away: its output is 0, before W_o mixes the heads. Which
# sentences will the model get wrong?
#
# <details><summary>A. All: it has only eight heads</summary>
#
# Not this one. Look at *bank* and *it* in the table below.
#
# </details>
# <details><summary>B. Verbs, and nothing else: the map says so</summary>
#
# Half of it. Verbs it gets wrong. But so it does with brackets, which this map does not show.
#
# </details>
# <details><summary>C. Verbs, and perhaps others: a map of one sentence cannot say</summary>
#
# Yes. A map shows where a head looks in this sentence. What hangs on it, only its removal shows.
#
# </details>

# %% [markdown]
# There are five tasks, 200 questions each: a verb that agrees with its subject; a bracket that closes the last one still open;
# *it* … *too wide, a wide*, and then the noun that is meant; a *bank* that is muddy after a river and rich after
# money; a run of words that comes again. An answer counts as right if all right words together are likelier than all
# wrong ones. Each line is one head removed.

# %% nbgrader={"grade": false, "grade_id": "remove-heads", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
rng = random.Random(7)
questions = {task: measure.questions(task, rng, 200) for task in measure.TASKS}


def with_removed(*heads: tuple[int, int]) -> str:
    """The share of right answers in each task without these heads."""
    change = measure.without(heads)
    shares = [measure.right_share(model, some, change) for some in questions.values()]
    return "".join(f"{share:11.2f}" for share in shares)


print(f"{'removed':16}" + "".join(f"{task:>11}" for task in questions))
print(f"{'none':16}{with_removed()}")
for each in measure.heads_of(model):
    print(f"{measure.named(each):16}{with_removed(each)}")

# %% [markdown]
# 0.5 is guessing in *agreement*, *it* and *bank*, 0.33 in *brackets*. Without the head that looks at *king* verbs
# are guessed wherever something stands between them and their subject, and a third of the brackets are wrong. (Prediction: C.)
# *Bank* hangs on one head of the first layer. *It* hangs on no head alone, and its own row does not tell which noun
# it means: what decides, *wide* or *tired*, is not written yet. Runs that come again hang on several: two in the
# first layer, and in the second most of all an **induction head**, which looks at the word *after* an earlier one like this,
# and so finds what comes next (Olsson et al. 2022). It can, because each layer makes queries, keys and values
# anew, from rows that the layer before has rewritten: one head of the first layer gives a third of its look to the word
# before, and so writes into each row what stood before it.
#
# Three more tries. Does the induction head find its word without that first one? Is a bracket two heads' work? And removing a head spoils whatever reads it, so exchange
# something instead: give the subject's head, in the last row alone, what it gives where the subject has the other
# number, *kings*, and leave the rest of the model as it is.

# %% nbgrader={"grade": false, "grade_id": "exchange-row", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
first, second = small.head("previous"), small.head("repeat")  # layer and head, counted from 0
found = measure.looks(model, rng)[second][1]
alone = measure.looks(model, rng, measure.without([first]))[second][1]
print(f"weight of {measure.named(second)} on the word after: {found:.2f}", end=", ")
print(f"with {measure.named(first)} removed {alone:.2f}")

both_of = (0, 1), (1, 2)
print(f"both of {' and '.join(map(measure.named, both_of))} removed: brackets", end=" ")
print(f"{measure.right_share(model, questions['brackets'], measure.without(both_of)):.2f}")

pairs = [measure.agreement(rng) for _ in range(200)]  # a sentence, and one of the other number
for each in measure.heads_of(model):
    flipped = measure.flipped(model, each, pairs)
    print(f"{measure.named(each)}, last row exchanged: the verb's number flips in {flipped:.0%}")

# %% [markdown]
# Without the head that wrote, the induction head loses most of its look. Without both heads brackets are guessed. And with one row of one head the verb's number goes over to the other
# sentence, every time; with a row of any other head, never, in sentences that stand alone as these do. That is what *this head carries the subject's
# number* means. A map alone could not say so.
#
# In large models some heads attend to the previous word or to the next one, and some find the direct
# objects of verbs (Clark et al. 2019, on BERT). Many can be removed with little loss (Michel et al.
# 2019; Voita et al. 2019).
#
# ## The block is given
#
# You have written attention four times. From here on it is given. Read it once: `mask`
# says True = attend, as in SDPA.


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
# Leading axes may be anything: that is all that heads need. If H stands *before* N, `attend` runs H
# attentions side by side and never mixes two.
#
# ## Cut the width, not the sentence
#
# x W_q is (B, N, d). Head 1 owns the first d/H numbers of *every token*, head 2 the next d/H, and
# so on. Wanted is (B, H, N, d/H). Watch a toy: two tokens of width 6, for H = 3. The first digit is
# the token, the second the place in it.

# %% nbgrader={"grade": false, "grade_id": "see-cut", "locked": true, "schema_version": 3, "solution": false, "task": false}
toy = torch.tensor([[[11, 12, 13, 14, 15, 16], [21, 22, 23, 24, 25, 26]]])  # (1, 2, 6)
cut = toy.reshape(1, 2, 3, 2)  # the last axis, in 3 pieces of 2
print("cut", tuple(cut.shape), cut.tolist())
moved = cut.transpose(1, 2)  # axes 1 and 2 change places
print("moved", tuple(moved.shape), moved.tolist())
print("contiguous:", cut.is_contiguous(), "before,", moved.is_contiguous(), "after")

# %% [markdown]
# Two calls:
#
# - **`reshape`** keeps the numbers in their reading order, and only says anew where rows end. `view` does the
#   same, but refuses where it would have to copy. (`unflatten` and `flatten`, which you saw above, do
#   it to one axis and to several.)
# - **`transpose(i, j)`** lets two axes change places. The numbers stay where they are in memory; they
#   are walked in another order. A tensor whose numbers lie in memory in the order in which they are
#   read is called **contiguous**. After the transpose this one is not, and `view` refuses to join its axes.
#
# In the second line each head has its slice of both tokens: head 1 has 11, 12 and 21, 22.
#
# ### Exercise: `split_heads`
#
# difficulty ●○○ · 4–6 min · 1 point
#
# Cut (B, N, d) into heads, (B, H, N, d/H). If d does not divide by n_heads, raise `ValueError`,
# best with both numbers in it. PyTorch's `reshape` would raise a `RuntimeError` that does not say whose
# fault it is; the check asks for yours.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-split_heads", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# The toy above did it, with numbers written into the code. Take them from `x.shape` and `n_heads`.
#
# <details><summary>Hint 2: the shapes</summary>
#
# (B, N, d), cut: (B, N, H, d/H), moved: (B, H, N, d/H). The cut comes first, and the sizes are
# integers: `//`.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. If the remainder of d by n_heads, `%`, is not 0, raise.
# 2. Reshape to four axes. Keep B and N as they are.
# 3. Let axes 1 and 2 change places, and return.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut the width of every token into heads.

    Args:
        x: (B, N, d).
        n_heads: H.
    Returns:
        (B, H, N, d/H): head h holds numbers h · d/H and on of every token.
    Raises:
        ValueError: d does not divide by n_heads.
    """
    ### BEGIN SOLUTION
    batch, n, d = x.shape
    if d % n_heads:
        raise ValueError(f"d = {d} does not divide by {n_heads} heads")
    return x.reshape(batch, n, n_heads, d // n_heads).transpose(1, 2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "split_heads-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(split_heads)

# %% [markdown]
# ### And back again
#
# `attend` gives (B, H, N, d/H). Before the heads can be mixed, they have to stand side by side
# again, token by token: head 1, head 2, … in one row. This is *concatenation* in the paper's
# formula. It is the cut, backwards.
#
# ### Exercise: `merge_heads`
#
# difficulty ●○○ · 3–4 min · 1 point
#
# Put (B, H, N, d/H) together to (B, N, d), so that `merge_heads(split_heads(x, H))` is x.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-merge_heads", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Undo the two steps in the opposite order: the last one first.
#
# <details><summary>Hint 2: the shapes</summary>
#
# (B, H, N, d/H), moved back: (B, N, H, d/H), joined: (B, N, d).
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. Let axes 1 and 2 change places.
# 2. Reshape to three axes. `view` would refuse what comes from `attend`: its numbers lie in memory head by
#    head, and have to be copied.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "merge_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def merge_heads(x: Tensor) -> Tensor:
    """Put the heads of every token side by side.

    Args:
        x: (B, H, N, d/H).
    Returns:
        (B, N, d): head 1's numbers, then head 2's, and so on.
    """
    ### BEGIN SOLUTION
    batch, n_heads, n, width = x.shape
    return x.transpose(1, 2).reshape(batch, n, n_heads * width)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "merge_heads-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(merge_heads)

# %% nbgrader={"grade": false, "grade_id": "use-heads", "locked": true, "schema_version": 3, "solution": false, "task": false}
both_ways = merge_heads(split_heads(toy, 3))
print("there and back:", torch.equal(both_ways, toy))
for n_heads in (1, 2, 3, 6):
    print(f"{n_heads} heads:", tuple(split_heads(toy, n_heads).shape))
try:
    split_heads(toy, 4)
except ValueError as error:
    print("4 heads:", error)

# %% [markdown]
# ## Heads in a module
#
# All that is left is to put it together (Vaswani et al. 2017, section 3.2.2):
#
# $$\text{out} = [\,\text{head}_1, \dots, \text{head}_H\,]\, W_o, \qquad
# \text{head}_h = \operatorname{softmax}\!\left(\frac{Q_h K_h^{\top}}{\sqrt{d/H}}\right) V_h$$
#
# In words: project the tokens three times; cut each result into H heads; let each head attend on
# its own, scaled by the root of *its* width; put the heads side by side; multiply with W_o.
#
# **What is W_o for?** Side by side, the numbers of head 1 stay in the first d/H places. W_o lets each
# reader's findings reach all of the d numbers: it is the clerk who writes one report from all of the
# notes. (A linear layer right behind could do it too. In a Transformer the report is added to the token
# first, lesson 10.)
#
# **One product for all heads.** The paper writes a small matrix for each head, d × d/H. Side by
# side, H of them are one d × d matrix, and one product makes the queries of all heads: x W_q, then
# the cut.
#
# ### Exercise: `MultiHeadAttention`
#
# difficulty ●●● · 12–18 min · 4 points
#
# Write the module. Its constructor makes four linears from d to d, called exactly `W_q`, `W_k`,
# `W_v` and `W_o`, all with a bias or all without, and raises `ValueError` if the heads cannot share
# d. `forward(x, causal=False)` returns the output (B, N, d) and the weights of each head, (B, H, N,
# N), not their mean. With `causal=True` no token looks ahead, as in lesson 06.
#
# You may use `attend`; mind that its mask says True = attend. Or write your own. PyTorch's
# ready-made attention, `nn.MultiheadAttention` included, is refused here, and forfeits the points.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-MultiHeadAttention", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# The constructor remembers how many heads there are, as parameters do not tell. `forward` is five
# lines: project, cut, attend, merge, mix.
#
# <details><summary>Hint 2: the shapes</summary>
#
# x (B, N, d); after each linear (B, N, d); after the cut (B, H, N, d/H). `attend` gives (B, H, N,
# d/H) and (B, H, N, N). Merged: (B, N, d). The mask is (N, N), bool, and serves all sentences and
# all heads.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. In the constructor: raise if d does not divide. Keep `n_heads` in an attribute. Make the four linears and
#    pass `bias` on by name.
# 2. In `forward`: call three of the linears with x and cut each result.
# 3. If causal, make a lower triangle of True, N × N, on x's device: `torch.ones(…, dtype=torch.bool)` and
#    `.tril()`. Else the mask is None.
# 4. Attend. Merge the heads, and call the fourth linear with the result.
# 5. Return that and the weights.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "MultiHeadAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadAttention(nn.Module):
    """Self-attention with several heads that share the width.

    Args:
        d: width of a token.
        n_heads: H.
        bias: whether the four projections add a bias.
    Raises:
        ValueError: d does not divide by n_heads.
    """

    def __init__(self, d: int, n_heads: int, bias: bool = True) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        if d % n_heads:
            raise ValueError(f"d = {d} does not divide by {n_heads} heads")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d, d, bias=bias)
        self.W_k = nn.Linear(d, d, bias=bias)
        self.W_v = nn.Linear(d, d, bias=bias)
        self.W_o = nn.Linear(d, d, bias=bias)
        ### END SOLUTION

    def forward(self, x: Tensor, causal: bool = False) -> tuple[Tensor, Tensor]:
        """Let each token attend to the tokens of its sentence, with every head.

        Args:
            x: (B, N, d).
            causal: whether the future is hidden.
        Returns:
            out: (B, N, d).
            weights: (B, H, N, N), each head's own; each row adds up to 1.
        Source: Vaswani et al. 2017, section 3.2.2.
        """
        ### BEGIN SOLUTION
        q, k, v = (split_heads(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))
        mask = None
        if causal:  # True = attend
            mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        heads, weights = attend(q, k, v, mask)
        return self.W_o(merge_heads(heads)), weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "MultiHeadAttention-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(MultiHeadAttention)

# %% [markdown]
# ### Yours against `nn.MultiheadAttention`
#
# PyTorch's module does the same with its parameters packed differently. Their shapes:

# %% nbgrader={"grade": false, "grade_id": "see-packed", "locked": true, "schema_version": 3, "solution": false, "task": false}
d, n_heads = 12, 3
torch.manual_seed(7)
theirs = nn.MultiheadAttention(d, n_heads, batch_first=True, dtype=torch.float64)
for parameter in (theirs.in_proj_bias, theirs.out_proj.bias):
    nn.init.normal_(parameter)  # they begin at 0, where nobody would miss them
for name, parameter in theirs.named_parameters():
    print(f"{name:16}", tuple(parameter.shape))

# %% [markdown]
# `in_proj_weight` is (3d, d): W_q, W_k and W_v *below each other*, each stored as (out, in) like
# any linear's. So a single product makes queries, keys and values. `in_proj_bias` is packed in the
# same order.
#
# | rows of `in_proj_weight` | are |
# |---|---|
# | 0 … d − 1 | `W_q.weight` |
# | d … 2d − 1 | `W_k.weight` |
# | 2d … 3d − 1 | `W_v.weight` |
#
# Within each of the three, head h, counted from 0, owns rows h · d/H to (h + 1) · d/H − 1.
#
# `chunk(3)` cuts the first axis into three. Copy the numbers into your module and compare, with a
# mask and without. In theirs a bool mask says True = **blocked**.


# %% nbgrader={"grade": false, "grade_id": "use-module", "locked": true, "schema_version": 3, "solution": false, "task": false}
def unpacked(theirs: nn.MultiheadAttention) -> dict[str, Tensor]:
    """The parameters of PyTorch's module, under the names of yours."""
    state = {"W_o.weight": theirs.out_proj.weight, "W_o.bias": theirs.out_proj.bias}
    for name, weight, bias in zip(
        ("W_q", "W_k", "W_v"),
        theirs.in_proj_weight.chunk(3),
        theirs.in_proj_bias.chunk(3),
        strict=True,
    ):
        state |= {f"{name}.weight": weight, f"{name}.bias": bias}
    return state


sentence = "the cat sat on the mat".split()
vector = {word: torch.randn(d, dtype=torch.float64) for word in dict.fromkeys(sentence)}
tokens = torch.stack([vector[word] for word in sentence])[None]  # (1, 6, 12)

yours = MultiHeadAttention(d, n_heads).double()
yours.load_state_dict(unpacked(theirs))
blocked = torch.ones(6, 6).triu(1).bool()  # True = blocked
for causal in (False, True):
    out, weights = yours(tokens, causal=causal)
    their_out, their_weights = theirs(
        tokens, tokens, tokens, attn_mask=blocked if causal else None, average_attn_weights=False
    )
    worst = max((out - their_out).abs().max().item(), (weights - their_weights).abs().max().item())
    print(f"causal={causal!s:5}  out {tuple(out.shape)}  weights {tuple(weights.shape)}", end="  ")
    print("largest difference below 1e-6:", worst < 1e-6)

# %% [markdown]
# Now the trained heads can move into your module.


# %% nbgrader={"grade": false, "grade_id": "use-trained", "locked": true, "schema_version": 3, "solution": false, "task": false}
class Answering(nn.Module):
    """Your attention, with the guesses of a trained model."""

    def __init__(self, model: TwoAnswers) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(16, model.attention.num_heads).double()
        self.attention.load_state_dict(unpacked(model.attention))
        self.guess = model.guess

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        out, weights = self.attention(x)
        return self.guess(out).unflatten(-1, (2, 4)), weights


with_two = Answering(models["two heads"][0])
print("right in front and at the twin:", [round(share, 3) for share in share_right(with_two)])

# %% [markdown]
# ### What each head brings
#
# Multiplying the joined heads with W_o is the same as giving each head its own rows of W_o and
# adding up the results:
#
# $$[\,\text{head}_1, \dots, \text{head}_H\,]\, W_o = \sum_h \text{head}_h\, W_o^{(h)}
# = \sum_h A_h V_h W_o^{(h)}$$
#
# In words: the report is the sum of what the readers contribute (plus W_o's bias, once), each with its own weights A_h, its
# own values and its own part of W_o. So you can send one of them home: set its part to 0 and see
# which answers are lost. (An `nn.Linear` stores the transpose, so head h meets *columns* of
# `W_o.weight`.)

# %% nbgrader={"grade": false, "grade_id": "use-ablation", "locked": true, "schema_version": 3, "solution": false, "task": false}
with_two = Answering(models["two heads"][0])
print("                 in front    twin")
print("both heads       ", "       ".join(f"{share:.2f}" for share in share_right(with_two)))
for head in range(2):
    muted = copy.deepcopy(with_two)
    with torch.no_grad():
        muted.attention.W_o.weight[:, head * 8 : (head + 1) * 8] = 0.0
    print(f"without head {head + 1}   ", "       ".join(f"{s:.2f}" for s in share_right(muted)))

# %% [markdown]
# Each head has one question, and the other question does not miss it. A map shows where a head looks;
# taking it away shows what it is good for.
#
# ## Break it on purpose
#
# ### Reshape without transpose
#
# (B, N, d) has as many numbers as (B, H, N, d/H). So why not reshape at once, and leave out the
# transpose?


# %% nbgrader={"grade": false, "grade_id": "break-reshape", "locked": true, "schema_version": 3, "solution": false, "task": false}
def reshaped_at_once(x: Tensor, n_heads: int) -> Tensor:
    sentences, words, width = x.shape
    if width % n_heads != 0:
        raise ValueError(f"{width} and {n_heads}")
    return x.reshape(sentences, n_heads, words, width // n_heads)


check(reshaped_at_once, name="split_heads")

# %% [markdown]
# The shape is right. PyTorch does not complain, a loss will go down. What has happened to the
# numbers? The figure shows the six tokens, 12 numbers each. The digit and the colour say which head
# gets the number.

# %% nbgrader={"grade": false, "grade_id": "see-layout", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.multi_head.owners(
    {
        "reshape, then transpose": split_heads,
        "reshape at once": reshaped_at_once,
    },
    sentence,
    d,
    n_heads,
)

# %% [markdown]
# On the left a head owns columns: four numbers of every word. On the right it owns rows: head 1 has
# *the* and *cat* whole, and takes their pieces for six tokens. Its "attention" runs among pieces of
# two words. No word attends to a word of another head.
#
# What is the symptom? No shape, no row sum. Use two tests of earlier lessons. With a causal mask,
# change the last word and see which output rows move. Without one, swap *cat* and *mat*: their rows
# should swap, and nothing else (permutation equivariance, lesson 03). The wrong cut is tried with
# your `merge_heads`, and with a merge that leaves out its transpose as well.


# %% nbgrader={"grade": false, "grade_id": "break-reshape-symptom", "locked": true, "schema_version": 3, "solution": false, "task": false}
def with_layout(cut: Callable, join: Callable, x: Tensor, causal: bool = False) -> Tensor:
    """The output of your module, its heads cut and joined in other ways."""
    q, k, v = (cut(W(x), n_heads) for W in (yours.W_q, yours.W_k, yours.W_v))
    triangle = torch.ones(6, 6, dtype=torch.bool).tril()  # True = attend
    found, _ = attend(q, k, v, triangle if causal else None)
    return yours.W_o(join(found))


def joined_at_once(found: Tensor) -> Tensor:
    return found.reshape(tokens.shape)


yours = MultiHeadAttention(d, n_heads).double()
yours.load_state_dict(unpacked(theirs))
other = tokens.clone()
other[0, 5] = vector["cat"]  # another last word
order = [0, 5, 2, 3, 4, 1]  # cat and mat change places
for name, (divide, unite) in {
    "right": (split_heads, merge_heads),
    "cut at once": (reshaped_at_once, merge_heads),
    "cut and joined at once": (reshaped_at_once, joined_at_once),
}.items():
    before, after = (with_layout(divide, unite, text, causal=True)[0] for text in (tokens, other))
    moved_rows = [sentence[n] for n in range(6) if not torch.allclose(before[n], after[n])]
    swapped = with_layout(divide, unite, tokens[:, order])
    follows = torch.allclose(swapped, with_layout(divide, unite, tokens)[:, order])
    print(f"{name:23} rows that change: {', '.join(moved_rows):13} swap follows: {follows}")

# %% [markdown]
# Where the cut is right, a new last word changes its own row alone. With the wrong cut, *on* and
# *the* change too: they got pieces that were taken from *mat*. The future leaks, although the mask
# is right and the weights above the diagonal are exactly 0: the rows are not the words any more.
#
# The third line is the nastiest. Two mistakes undo each other's leak, so that the test of lesson 06
# passes. The other test does not: without a mask, swapping two words should swap two rows and do
# nothing else. (Swap far apart: *the* and *cat*, of one head, would pass.)
#
# ### The scale of the whole width
#
# A likely first version divides by √d, as the tokens are d wide. `attend` says √(d/H) by asking `q`
# for its width *after* the cut. What does the other one cost?


# %% nbgrader={"grade": false, "grade_id": "break-scale", "locked": true, "schema_version": 3, "solution": false, "task": false}
class WholeWidth(MultiHeadAttention):
    def __init__(self, d: int, n_heads: int, bias: bool = True) -> None:
        super().__init__(d, n_heads, bias)
        self.parts = n_heads

    def forward(self, x: Tensor, causal: bool = False) -> tuple[Tensor, Tensor]:
        q, k, v = (split_heads(W(x), self.parts) for W in (self.W_q, self.W_k, self.W_v))
        triangle = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()  # True = attend
        shrunk = q / self.parts**0.5  # attend divides by √(d/H); together that is √d
        found, weights = attend(shrunk, k, v, triangle if causal else None)
        return self.W_o(merge_heads(found)), weights


check(WholeWidth, name="MultiHeadAttention")

# %% nbgrader={"grade": false, "grade_id": "break-scale-symptom", "locked": true, "schema_version": 3, "solution": false, "task": false}
torch.manual_seed(1)
for n_heads_now in (1, 4, 16):
    w = 64 // n_heads_now
    q, k = torch.randn(2, 200, n_heads_now, 16, w, dtype=torch.float64)
    raw = q @ k.mT
    for name, scale in (("√(d/H)", w), ("√d", 64)):
        scores = raw / scale**0.5
        largest = scores.softmax(dim=-1).amax(dim=-1).mean()
        print(f"H = {n_heads_now:2}, by {name:7} spread {scores.std():.2f}, largest {largest:.2f}")

# %% [markdown]
# With √(d/H) the spread of the scores is 1, however many heads there are. With √d it sinks like
# 1/√H. With 16 heads the largest weight of a row is then 0.09 on average instead of 0.23, and 0.06
# would be one in 16, all alike. Training can undo it by larger matrices; but weights that were
# trained elsewhere, and copied in, give other results.
#
# ## Cost
#
# **Count.** Heads share the width, so the matrix products stay as large: a head's scores take
# N² · d/H multiplications, and there are H heads. Softmax takes a power of e of each of the H · N²
# scores.
#
# | | one head | H heads |
# |---|---|---|
# | parameters (with biases) | 4d² + 4d | 4d² + 4d |
# | multiplications in the four linears | 4 N d² | 4 N d² |
# | in scores and averages | 2 N² d | H · 2 N² d/H = 2 N² d |
# | powers of e, and weights kept | N² | H · N² |
#
# Count it in your module. `FlopCounterMode` counts the floating-point operations of matrix products,
# two for each multiplication (with its addition); softmax is 0 to it. `Products` counts how many
# calls of a matrix product there were, and how many powers of e.

# %% nbgrader={"grade": false, "grade_id": "count", "locked": true, "schema_version": 3, "solution": false, "task": false}
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode


class Products(TorchDispatchMode):
    """Counts the matrix products, and the powers of e, while it is switched on."""

    calls = powers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.__name__.partition(".")[0]
        self.calls += name in ("mm", "addmm", "bmm", "baddbmm")
        self.powers += args[0].numel() if name in ("_softmax", "exp") else 0
        return func(*args, **(kwargs or {}))


batch_of_two = torch.randn(2, 50, 64)
print(" H   parameters   multiplications   products   powers of e   weights")
for n_heads_now in (1, 2, 8, 64):
    module = MultiHeadAttention(64, n_heads_now)
    with torch.no_grad(), FlopCounterMode(display=False) as counted:
        module(batch_of_two)
    with torch.no_grad(), Products() as products:
        _, weights = module(batch_of_two)
    parameters = sum(parameter.numel() for parameter in module.parameters())
    print(f"{n_heads_now:2} {parameters:12,} {counted.get_total_flops() // 2:17,}", end="")
    print(f"{products.calls:11} {products.powers:13,} {weights.numel():9,}")

# %% [markdown]
# Parameters and multiplications stay. (Prediction 2: C.) Powers and weights grow. The products are
# six, four linears and two in `attend`, for one head as for 64: the heads are an axis of one batched
# product, and not a loop. (A loop over heads is right as well; its count grows with H.)
#
# **Measure.** Milliseconds are your machine's; look at how they grow.


# %% nbgrader={"grade": false, "grade_id": "measure", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
def milliseconds(function: Callable[[], object]) -> float:
    """The fastest of many calls."""
    taken: list[float] = []
    begun = perf_counter()
    while len(taken) < 5 or perf_counter() - begun < 0.2:
        start = perf_counter()
        function()
        taken.append(perf_counter() - start)
    return 1000 * min(taken)


threads = torch.get_num_threads()
torch.set_num_threads(1)  # threads that wait for a busy core would spoil the clock
print("N = 64, d = 64   two products   softmax, ms")
with torch.no_grad():
    for n_heads_now in (1, 4, 16):
        q, k, v = torch.randn(3, 2, n_heads_now, 64, 64 // n_heads_now)
        scores = q @ k.mT
        both = milliseconds(lambda: (q @ k.mT, scores @ v))
        softmax = milliseconds(lambda: scores.softmax(dim=-1))
        print(f"H = {n_heads_now:2} {both:22.3f} {softmax:9.3f}")
torch.set_num_threads(threads)

# %% [markdown]
# On the machine that made this page, softmax's time grows with its work. The products' time grows too,
# although their multiplications do not: narrow ones take longer for each. And heads cost memory,
# H · N² weights. Lesson 11 computes attention without ever holding them.

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Check yourself
#
# **1. d = 512 and H = 8. What are the scores of a head divided by?**
#
# <details><summary>A. √512</summary>
#
# Not this one: that is the root of the whole width. A head's queries have 64 numbers.
#
# </details>
# <details><summary>B. 8, which is √64</summary>
#
# Yes. d/H = 64, and √64 = 8.
#
# </details>
# <details><summary>C. √8</summary>
#
# Not this one: 8 is how many heads there are. What counts is the width of the vectors that meet.
#
# </details>
#
# **2. Someone reshapes (B, N, d) straight to (B, H, N, d/H). What goes wrong?**
#
# <details><summary>A. PyTorch raises an error</summary>
#
# Not this one: the number of entries is the same, so it runs.
#
# </details>
# <details><summary>B. A head gets a few tokens that stand together instead of a slice of every token</summary>
#
# Yes. Reshape keeps the reading order. Only a transpose brings the head axis in front of the
# tokens.
#
# </details>
# <details><summary>C. The rows of the weights no longer add up to 1</summary>
#
# Not this one: softmax runs over whatever it is given, and every row sum is 1. So row sums do not
# give this mistake away.
#
# </details>
#
# **3. Why did one head with a linear layer behind it not answer both questions of the queue?**
#
# <details><summary>A. It had too few parameters</summary>
#
# Not this one: it had as many as the model with two heads.
#
# </details>
# <details><summary>B. It brings back one average, in which a linear layer hears the same card louder for both questions</summary>
#
# Yes. A hidden layer can take the two apart; two heads do not mix them.
#
# </details>
# <details><summary>C. Softmax cannot give two keys the same weight</summary>
#
# Not this one: it can, and did in *By hand*, where *cat* and *mat* got 0.446 each.
#
# </details>
#
# **4. You plot what `nn.MultiheadAttention` returns as weights, with nothing else said. What do you
# see?**
#
# <details><summary>A. The mean over all heads, with which the module computes nothing</summary>
#
# Yes. Ask for `average_attn_weights=False` to see each head.
#
# </details>
# <details><summary>B. The first head</summary>
#
# Not this one: by default they are averaged over heads.
#
# </details>
# <details><summary>C. The weights that the values are averaged with</summary>
#
# Not this one: each head averages its own values by its own weights.
#
# </details>
#
# **5. `in_proj_weight` of a module with d = 12 is (36, 12). Where is what makes the keys of the
# second of three heads (h = 1)?**
#
# <details><summary>A. Rows 16 to 19</summary>
#
# Yes. W_k begins at row 12, and each head has 4 rows of it: 12 + 4 = 16, up to 19.
#
# </details>
# <details><summary>B. Rows 4 to 7</summary>
#
# Not this one: those make the *queries* of that head. W_k begins d rows further down.
#
# </details>
# <details><summary>C. Columns 4 to 7</summary>
#
# Not this one: a linear stores (out, in), so what it makes is counted in rows.
#
# </details>

# %% [markdown]
# ## Take away
#
# 1. One softmax gives one pattern, and one average. Where values do not say which question they answer, a
#    linear layer cannot tell from it who said what; a hidden layer may. Heads give a token several averages, from the same width
#    ([two questions](#See-it:-two-questions,-one-softmax)).
# 2. Cut the last axis, then move the head axis before the tokens; on the way back, the same in reverse. A
#    reshape alone gives the right shape and the wrong numbers ([the cut](#Cut-the-width,-not-the-sentence),
#    [the bug](#Reshape-without-transpose)).
# 3. Scores of a head are divided by √(d/H), the width of what meets
#    ([the scale](#The-scale-of-the-whole-width)).
# 4. The output is a sum: each head's weights, values and part of W_o. The mean of the weights is in no
#    formula ([what each head brings](#What-each-head-brings)).
# 5. Parameters, and multiplications in matrix products, do not depend on H. The weights are H · N², and
#    softmax takes as many powers ([cost](#Cost)).
#
# **Words of this lesson**: [head](../glossary.md#head),
# [multi-head attention](../glossary.md#multi-head-attention),
# [concatenation](../glossary.md#concatenation), [contiguous](../glossary.md#contiguous),
# [cross-entropy](../glossary.md#cross-entropy), [Adam](../glossary.md#adam),
# [hidden layer](../glossary.md#hidden-layer), [leading axes](../glossary.md#leading-axes),
# [one-hot](../glossary.md#one-hot).
#
# ### Sources
#
# - Multi-head attention, and why averaging in one head is in the way: Vaswani et al. 2017, *Attention Is
#   All You Need*, section 3.2.2. [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# - What heads of a trained model attend to: Clark et al. 2019, *What Does BERT Look At?*, sections 3 and 4.
#   [arXiv:1906.04341](https://arxiv.org/abs/1906.04341)
# - Heads that can be taken away: Michel et al. 2019, *Are Sixteen Heads Really Better than One?*
#   [arXiv:1905.10650](https://arxiv.org/abs/1905.10650); Voita et al. 2019, *Analyzing Multi-Head
#   Self-Attention*. [arXiv:1905.09418](https://arxiv.org/abs/1905.09418)
# - The output as a sum over heads: Elhage et al. 2021, *A Mathematical Framework for Transformer
#   Circuits*. [transformer-circuits.pub](https://transformer-circuits.pub/2021/framework/index.html)
# - Induction heads: Olsson et al. 2022, *In-context Learning and Induction Heads*.
#   [arXiv:2209.11895](https://arxiv.org/abs/2209.11895)
# - PyTorch's documentation of
#   [MultiheadAttention](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html).
#
# **To carry over.** All readers of today asked about books on their own shelf: queries, keys and
# values came from the same x. A translator reads one sentence and writes another. Which of W_q, W_k
# and W_v would you feed with which sentence, and what would N × N become?

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
