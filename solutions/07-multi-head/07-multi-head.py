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
# Lesson 06 ended with a question. *Cat* wants to know who sat and where, at the same time, and one
# softmax gives it one way to share out its attention. In this lesson each word sends several
# readers to the desk. A [**head**](../glossary.md#head) is one reader: it asks its own question, opens its own books and brings back
# a few numbers.
#
# | | |
# |---|---|
# | **You will be able to** | cut a tensor into heads and put it together again without mixing it up; write multi-head attention that equals `nn.MultiheadAttention`; unpack that module's weights; say what a head costs, what $W_o$ does, and what a linear layer cannot read from one average |
# | **Minutes** | about 85 |
# | **You need** | lessons 05 and 06: batched tensors, `nn.Module`, `nn.Linear`, masks |
# | **Runs on** | CPU; ten small trainings take some seconds; needs no network |
# | **You may stop** | before *Break it on purpose* |
# | **Points** | 6, in three exercises |

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import copy
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attnlab import begin, check, figures, quiz  # is it missing? open it by: attnlab lab

torch.set_printoptions(precision=3, sci_mode=False)
begin("07-multi-head")

# %% nbgrader={"grade": false, "grade_id": "opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.opening()

# %% [markdown]
# **Where you are.** The block of lesson 02. The new parts are lit: heads, and $W_o$.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("heads", "W_o")

# %% [markdown]
# ## Recall

# %% nbgrader={"grade": false, "grade_id": "quiz-recall", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("recall")

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Predict
#
# Commit to a guess. Both are measured below.

# %% nbgrader={"grade": false, "grade_id": "quiz-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("predict")

# %% [markdown]
# ## By hand
#
# Take three tokens, *cat sat mat*, and d = 8. *Sat* asks: who sat, and where? Here are its query and the three keys.
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
# **One head.** All 8 numbers meet. The scores are 4, 0, 4, and divided by √8 they are 1.414, 0, 1.414. The weights are
# 0.446, 0.108, 0.446, and the output is
#
# (0.446, 0.108, 0.446, 0 | 0.446, 0.108, 0.446, 0).
#
# Who sat? *Cat* or *mat*. Where? *Cat* or *mat*. The average has kept both words, but it no longer shows which word answers which question, because each word says the same in both halves.
#
# **Two heads.** Each takes its own four numbers, and divides by √4 = 2.
#
# | | scores | ÷ 2 | weights | output |
# |---|---|---|---|---|
# | head 1 | 4, 0, 0 | 2, 0, 0 | 0.787, 0.107, 0.107 | (0.787, 0.107, 0.107, 0) |
# | head 2 | 0, 0, 4 | 0, 0, 2 | 0.107, 0.107, 0.787 | (0.107, 0.107, 0.787, 0) |
#
# Side by side they are 8 numbers again: the cat in the first half, the mat in the second.
#
# Redo both rows on paper, with e² = 7.389.

# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
query = torch.tensor([2.0, 0, 0, 0, 0, 2, 0, 0])
keys = torch.zeros(3, 8)
keys[0, 0] = keys[2, 5] = 2.0  # cat promises a who, mat a where
pages = torch.eye(3, 4).repeat(1, 2)  # each word, in both halves

for part in (slice(0, 8), slice(0, 4), slice(4, 8)):  # one head, head 1, head 2
    shares = (query[part] @ keys[:, part].mT / len(query[part]) ** 0.5).softmax(dim=-1)
    print("weights", shares.numpy().round(3), " output", (shares @ pages[:, part]).numpy().round(3))

# %% [markdown]
# ## Shape ledger
#
# H counts heads. The width of a head is d/H, so H has to divide d. In this lesson $d_k$ = $d_v$ = d/H.
#
# | symbol | what it is | axes | size in this lesson |
# |---|---|---|---|
# | x | tokens, one a row | (B, N, d) | (1, 6, 12) |
# | $W_q$, $W_k$, $W_v$ | make queries, keys, values of all heads | (d, d) | (12, 12) |
# | q, k, v | after the cut | (B, H, N, d/H) | (1, 3, 6, 4) |
# | weights | one table for each head | (B, H, N, N) | (1, 3, 6, 6) |
# | heads | what the readers bring back | (B, H, N, d/H) | (1, 3, 6, 4) |
# | joined, out | side by side; mixed | (B, N, d) | (1, 6, 12) |
# | $W_o$ | mixes the heads | (d, d) | (12, 12) |
#
# ## See it: two questions, one softmax
#
# Here are the visitors of the prediction. Eight stand in a queue. Each has a **subject** (art, maps, law or tea) and a
# card with a **number** from 1 to 4. Every subject occurs twice, so each visitor has a **twin**: the other
# one with its subject. Each has to say
#
# 1. the number of the visitor in *front*, and
# 2. the number of its *twin*.
#
# The cell draws queues at random. Look at what it prints; you need not follow its indexing. A token is
# 16 numbers: subject, number and place, each one-hot. Nothing is masked.

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
# (The first visitor has nobody in front; that question is not asked.)
#
# The model is attention and a linear layer that turns each output into two guesses. One variant has
# a [**hidden layer**](../glossary.md#hidden-layer) there: a linear, a ReLU and another linear. For now attention is
# `nn.MultiheadAttention(d, n_heads)`, the module that you will match. It takes queries, keys and values, here all
# x. It returns the output and, with `average_attn_weights=False`, one table of weights for each head.
# `unflatten(-1, (2, 4))` cuts the last axis, 8 numbers, into 2 × 4, and `flatten(0, 1)` joins the first two axes.


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


KINDS = {"one head": (1, 0), "one head + hidden layer": (1, 64), "two heads": (2, 0)}
models = {name: [trained(*kind, seed) for seed in range(3)] for name, kind in KINDS.items()}
right = {name: dict(enumerate(map(share_right, own))) for name, own in models.items()}
figures.multi_head.two_answers(right)

# %% [markdown]
# Guessing gets one in four. Nobody picked the seeds. One head with a
# linear layer answers one question almost always; the seed decides which. It answers the other some 40 % of the time.
# Say one number for both questions, and you get nearly as much: 36 %, the share of visitors whose two answers agree.
# Two heads of half the width answer both. (Prediction 1: B.) But so does one head with a hidden layer behind it.
#
# Why? See what the models of seed 0 say to the queue above, from the second visitor on, and where they look.

# %% nbgrader={"grade": false, "grade_id": "see-patterns", "locked": true, "schema_version": 3, "solution": false, "task": false}
with torch.no_grad():
    said, maps = zip(*(own[0](x) for own in models.values()), strict=True)
for name, guesses in zip(models, said, strict=True):
    print(f"{name:24}", (guesses[0, 1:].argmax(dim=-1) + 1).tolist())
drawn = {name: own for name, own in zip(models, maps, strict=True) if "hidden" not in name}
figures.multi_head.patterns(drawn, names)

# %% [markdown]
# The single head looks at both visitors, but brings back one average: for *law 4*, something of a 1 and
# something of a 3. And a card does not say whether it is the front's or the twin's. (If it did, as a who-word and a where-word do, one head and a linear layer would read both.)
#
# A linear layer adds up what the cards say, each times its weight. The heavier card wins, and it wins for both
# questions. So the first model follows one visitor for both questions. Where the answers differ, it says the same
# number for both about nine times out of ten.
#
# A hidden layer can listen to the softer card as well. In its map, not drawn here, the twin has two to four times the
# weight of the one in front (with other seeds it is the other way round), and that tells who said what. Exchange these
# two weights in every row, and most of its answers change places. So the hidden layer has a puzzle to
# solve: a layer of 16 numbers (408 parameters) mostly solves it, and one of 4 does not. A linear layer with 136
# parameters reads two heads.
#
# With two heads each question has a softmax of its own, and most of a row goes to one place.
#
# ## Heads that learned a language
#
# Here is the course's small language model: two layers of four heads, trained to guess the next word. The sentence is
# *the king behind the dogs that the boys see* … If a verb comes next, is it *runs* or *run*? The model guesses it from the
# row of the last word, *see*. This is its second layer. Which heads of that row look at *king*? Press a head's name
# to switch it off: which one flips the verb?

# %% nbgrader={"grade": false, "grade_id": "see-learned", "locked": true, "schema_version": 3, "solution": false, "task": false}
import random

from attnlab import small
from attnlab.small import measure

model = small.load()
sentence = "<s> the king behind the dogs that the boys see".split()
without = measure.removal(model, 1, sentence)  # layers are counted from 0
learned = figures.live.Heads(small.weights(sentence)[1], sentence, without=without)
learned.row = len(sentence) - 1  # *see*
learned.title = "Layer 2, its heads side by side"
learned

# %% nbgrader={"grade": false, "grade_id": "quiz-predict-removed", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("predict removed")

# %% [markdown]
# Five tasks, 200 questions each: a verb that agrees with its subject; a bracket that closes the last one still open;
# *it* … *too wide, a wide*, and then the noun that *it* means; a *bank* that is muddy after a river and rich after
# money; a run of words that comes again. An answer is right if all right words together are likelier than all wrong
# ones.

# %% nbgrader={"grade": false, "grade_id": "remove-heads", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
rng = random.Random(7)
questions = {task: measure.questions(task, rng, 200) for task in measure.TASKS}


print(f"{'removed':16}" + "".join(f"{task:>11}" for task in questions))
for heads in [(), *((each,) for each in measure.heads_of(model))]:
    change = measure.without(heads)
    shares = [measure.right_share(model, some, change) for some in questions.values()]
    name = measure.named(heads[0]) if heads else "none"
    print(f"{name:16}" + "".join(f"{share:11.2f}" for share in shares))

# %% [markdown]
# 0.5 is guessing in *agreement*, *it* and *bank*, 0.33 in *brackets*. Without the head that looks at *king* about
# four verbs in ten are wrong, and a third of the brackets. (Prediction: C.)
#
# Which verbs? The next cell asks for one after *the king near the dogs* and the like, two nouns in either number, 200
# of each kind. What does the model go by if its head is off?

# %% nbgrader={"grade": false, "grade_id": "see-attraction", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from attnlab.lessons.multi_head import attraction

beginnings = attraction.two_nouns(random.Random(8), 200)
singular = {}
for heads in [(), (small.head("subject"),), ((1, 1),)]:  # layer and head, counted from 0
    change = measure.without(heads)
    name = f"without {measure.named(heads[0])}" if heads else "with all heads"
    singular[name] = {
        nouns: measure.right_share(model, some, change) for nouns, some in beginnings.items()
    }
figures.multi_head.attraction(singular)

# %% [markdown]
# With all heads the subject decides, the first noun. Without the subject's head the *nearest* noun does, so the wrong
# verbs are mostly those whose nearest noun has another number. Where the sentence stands alone, the verb is singular
# after *dog* and mostly plural after *dogs*, whatever the first noun is. (After a sentence about *it* only about half
# are plural.) Linguists call this an **attraction error**, and people make it, too: *the key to the cabinets were
# missing* (Bock & Miller 1991). In longer sentences the verb then agrees with its subject by chance alone, and mostly
# with the nearest noun. (After one clause with *that*, and nothing else, it is nearly always plural.)
#
# *Bank* depends on one head of the first layer. *It* depends on no single head. Runs that come again depend on
# several: two in the first layer, and above all one in the second. That one is an **induction head**: it looks at
# the word *after* an earlier copy of this one, and so finds what comes next (Olsson et al. 2022). It can, because each layer makes its queries, keys and values from rows that the layer before has rewritten. One head of the first layer gives a third of its look to the word before, and so writes into each row what stood before it.
#
# Does the induction head find its word without that first head? And removing a head spoils
# whatever reads it, so exchange something instead. Replace what the subject's head gives in the last row, and only there, by what it gives in the sentence with *kings*.

# %% nbgrader={"grade": false, "grade_id": "exchange-row", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
first, second = small.head("previous"), small.head("repeat")  # layer and head, counted from 0
found = measure.looks(model, rng)[second][1]
alone = measure.looks(model, rng, measure.without([first]))[second][1]
print(f"weight of {measure.named(second)} on the word after: {found:.2f}", end=", ")
print(f"with {measure.named(first)} removed {alone:.2f}")

pairs = [measure.agreement(rng) for _ in range(200)]  # a sentence, and one of the other number
for each in measure.heads_of(model):
    flipped = measure.flipped(model, each, pairs)
    print(f"{measure.named(each)}, last row exchanged: the verb's number flips in {flipped:.0%}")

# %% [markdown]
# Without the head that wrote, the induction head loses most of its look. Exchange one row of the subject's head, and
# the verb takes the other sentence's number, every time. A row of any other head never does that, in sentences that
# stand alone as these do. That is what *this head carries the subject's number* means. A map alone could not say so.
#
# In large models many heads can go with little loss (Michel et al. 2019; Voita et al. 2019).
#
# ## The block is given
#
# You have written attention four times. From here on it is given. In its `mask`, True = attend, as in SDPA.


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
# If H stands *before* N, `attend` runs H attentions side by side and never mixes two.
#
# ## Cut the width, not the sentence
#
# x $W_q$ is (B, N, d). Head 1 owns the first d/H numbers of *every token*, head 2 the next d/H, and
# so on. You need (B, H, N, d/H). Here is a toy: two tokens of width 6, for H = 3. The first digit is
# the token, the second is the place in it.

# %% nbgrader={"grade": false, "grade_id": "see-cut", "locked": true, "schema_version": 3, "solution": false, "task": false}
toy = torch.tensor([[[11, 12, 13, 14, 15, 16], [21, 22, 23, 24, 25, 26]]])  # (1, 2, 6)
cut = toy.reshape(1, 2, 3, 2)  # the last axis, in 3 pieces of 2
print("cut", tuple(cut.shape), cut.tolist())
moved = cut.transpose(1, 2)  # axes 1 and 2 change places
print("moved", tuple(moved.shape), moved.tolist())
print("contiguous:", cut.is_contiguous(), "before,", moved.is_contiguous(), "after")

# %% [markdown]
# **`reshape`** keeps the numbers in their reading order, and only changes where rows end. `view` does the
# same, but refuses where it would have to copy. **`transpose(i, j)`** swaps two axes. A tensor whose numbers
# lie in memory in the order in which they are read is called [**contiguous**](../glossary.md#contiguous). `moved` is not, and
# `view` refuses to join its axes.
#
# In the second line each head has its slice of both tokens: head 1 has 11, 12 and 21, 22.
#
# Elsewhere you may meet einops' `rearrange(x, "b n (h d) -> b h n d", h=H)` for both steps. This course writes
# them out, so that you see the axes move.
#
# ### Exercise: `split_heads`
#
# difficulty ●○○ · 4–6 min · 1 point
#
# Cut (B, N, d) into heads, (B, H, N, d/H). If n_heads does not divide d, raise `ValueError`,
# best with both numbers in it.

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
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut the width of every token into heads, in x's dtype; gradients reach x.

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
# again, head 1, head 2, … in one row for each token. The paper calls this [*concatenation*](../glossary.md#concatenation).
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
# (B, H, N, d/H), moved back: (B, N, H, d/H), joined: (B, N, d). After the move `view`
# refuses, unless N or H is 1. Before it `view` does not, and gives the wrong numbers. `reshape` copies where it has to.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "merge_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def merge_heads(x: Tensor) -> Tensor:
    """Put the heads of every token side by side, in x's dtype; gradients reach x.

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

# %% [markdown]
# ## Heads in a module
#
# Now put it together: [**multi-head attention**](../glossary.md#multi-head-attention) (Vaswani et al. 2017, section 3.2.2).
#
# $$\text{out} = [\,\text{head}_1, \dots, \text{head}_H\,]\, W_o, \qquad
# \text{head}_h = \operatorname{softmax}\!\left(\frac{Q_h K_h^{\top}}{\sqrt{d/H}}\right) V_h$$
#
# **What is $W_o$ for?** Side by side, the numbers of head 1 stay in the first d/H places. $W_o$ lets each
# reader's findings reach all of the d numbers.
#
# **One product for all heads.** The paper writes a small matrix for each head, d × d/H. Side by
# side they are one d × d matrix: x $W_q$, then the cut. A head's width is d/H, so `attend` divides by √(d/H).
#
# ### Exercise: `MultiHeadAttention`
#
# difficulty ●●● · 12–18 min · 4 points
#
# Write the module. Its constructor makes four linears from d to d, called exactly `W_q`, `W_k`,
# `W_v` and `W_o`, all with a bias or all without, and raises `ValueError` if the heads cannot share
# d. `forward(x, causal=False)` returns the output (B, N, d) and the weights of each head, (B, H, N,
# N), not their mean. Both have gradients. With `causal=True` no token looks ahead.
#
# You may use `attend` or write your own. PyTorch's attention is banned, `nn.MultiheadAttention` included.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-MultiHeadAttention", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# The constructor remembers how many heads there are, because no parameter shows it. `forward` is five
# lines: project, cut, attend, merge, mix.
#
# <details><summary>Hint 2: the shapes</summary>
#
# After each linear (B, N, d); after the cut (B, H, N, d/H). `attend` gives (B, H, N, d/H) and (B, H, N, N). Merged:
# (B, N, d). The mask is (N, N), bool, and serves all sentences and all heads.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. In the constructor: raise if n_heads does not divide d. Keep `n_heads`. Make the four linears and pass `bias` on.
# 2. In `forward`: call three of the linears with x and cut each result.
# 3. If causal, make a lower triangle of True, N × N, on x's device: `torch.ones(…, dtype=torch.bool)` and `.tril()`.
# 4. Attend, merge the heads, and call the fourth linear. Return that and the weights.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "MultiHeadAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadAttention(nn.Module):
    """Self-attention with several heads that share the width.

    Args:
        d: width of a token, float32 or float64; scores may be in the thousands.
        n_heads: H.
        bias: whether the four projections add a bias.
    Raises:
        ValueError: d does not divide by n_heads. (An x that is not d wide: PyTorch's own error.)
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
# PyTorch's module packs its parameters in another way.
# `in_proj_weight` is (3d, d): `W_q.weight`, `W_k.weight` and `W_v.weight` *below each other*, each stored as (out, in) like
# any linear's. So a single product makes queries, keys and values. Within each of the three, head h, counted from 0, owns
# rows h · d/H to (h + 1) · d/H − 1. `in_proj_bias` is packed in the same order.
#
# `chunk(3)` cuts the first axis into three. The cell copies the numbers into your module and compares, with a
# mask and without. For a bool mask in their module, True = **blocked**.


# %% nbgrader={"grade": false, "grade_id": "use-module", "locked": true, "schema_version": 3, "solution": false, "task": false}
def unpacked(theirs: nn.MultiheadAttention) -> dict[str, Tensor]:
    """The parameters of PyTorch's module, under the names of yours."""
    state = {"W_o.weight": theirs.out_proj.weight, "W_o.bias": theirs.out_proj.bias}
    for kind, packed in (("weight", theirs.in_proj_weight), ("bias", theirs.in_proj_bias)):
        state |= {
            f"W_{name}.{kind}": each for name, each in zip("qkv", packed.chunk(3), strict=True)
        }
    return state


d, n_heads = 12, 3
torch.manual_seed(7)
theirs = nn.MultiheadAttention(d, n_heads, batch_first=True, dtype=torch.float64)
nn.init.normal_(theirs.in_proj_bias)  # it begins at 0, where nobody would miss it
sentence = "the cat sat on the mat".split()
vector = {word: torch.randn(d, dtype=torch.float64) for word in dict.fromkeys(sentence)}
tokens = torch.stack([vector[word] for word in sentence])[None]  # (1, 6, 12)

yours = MultiHeadAttention(d, n_heads).double()
yours.load_state_dict(unpacked(theirs))
blocked = torch.ones(6, 6).triu(1).bool()  # True = blocked
for causal in (False, True):
    found = yours(tokens, causal=causal)
    mask = blocked if causal else None
    expected = theirs(tokens, tokens, tokens, attn_mask=mask, average_attn_weights=False)
    for name, one, other in zip(("out", "weights"), found, expected, strict=True):
        print(
            f"causal={causal!s:5}  the same {name}:", torch.allclose(one, other, rtol=0, atol=1e-6)
        )

# %% [markdown]
# ### What each head brings
#
# You can also give each head its own rows of $W_o$ and add up the results:
#
# $$[\,\text{head}_1, \dots, \text{head}_H\,]\, W_o = \sum_h \text{head}_h\, W_o^{(h)}
# = \sum_h A_h V_h W_o^{(h)}$$
#
# ($W_o$'s bias comes once.) So you can send one of the readers home: set its part of $W_o$ to 0 and see which answers are lost.
# An `nn.Linear` stores the transpose, so head h meets *columns* of `W_o.weight`, which PyTorch's module calls
# `out_proj.weight`.

# %% nbgrader={"grade": false, "grade_id": "use-ablation", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("                 in front    twin")
for away in ((), (0,), (1,)):
    muted = copy.deepcopy(models["two heads"][0])
    for head in away:
        muted.attention.out_proj.weight.data[:, head * 8 : (head + 1) * 8] = 0.0
    name = f"without head {away[0] + 1}" if away else "both heads"
    print(f"{name:17}", "       ".join(f"{share:.2f}" for share in share_right(muted)))

# %% [markdown]
# Each head serves one question, and the other question loses nothing without it. The model never computes with the mean of the two
# maps: each head mixes values of its own.
#
# ## Break it on purpose
#
# ### A shorter cut
#
# (B, N, d) has as many numbers as (B, H, N, d/H). Why not reshape at once?


# %% nbgrader={"grade": false, "grade_id": "break-reshape", "locked": true, "schema_version": 3, "solution": false, "task": false}
def reshaped_at_once(x: Tensor, n_heads: int) -> Tensor:
    sentences, words, width = x.shape
    if width % n_heads != 0:
        raise ValueError(f"{width} and {n_heads}")
    return x.reshape(sentences, n_heads, words, width // n_heads)


check(reshaped_at_once, name="split_heads")

# %% [markdown]
# The shape is right, and PyTorch does not complain. What has happened to the numbers? The figure shows the six tokens, 12 numbers each. The colour says which head
# gets the number.

# %% nbgrader={"grade": false, "grade_id": "see-layout", "locked": true, "schema_version": 3, "solution": false, "task": false}
cuts = {"reshape, then transpose": split_heads, "reshape at once": reshaped_at_once}
figures.multi_head.owners(cuts, sentence, d, n_heads)

# %% [markdown]
# On the left a head owns columns: four numbers of every word. On the right it owns rows: head 1 has
# *the* and *cat* whole, and takes their pieces for six tokens. No word attends to a word of another head.
#
# Shapes and row sums do not show it. Two tests of earlier lessons may. With a causal mask,
# change the last word and see which output rows move. Without one, swap *cat* and *mat*: their rows
# should swap, and nothing else should change (lesson 03). The cell tries the wrong cut with
# your `merge_heads`, and with a merge that leaves out its transpose as well. Which test finds which?


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
other_end = tokens[:, [0, 1, 2, 3, 4, 1]]  # another last word
order = [0, 5, 2, 3, 4, 1]  # cat and mat change places
for name, (divide, unite) in {
    "right": (split_heads, merge_heads),
    "cut at once": (reshaped_at_once, merge_heads),
    "cut and joined at once": (reshaped_at_once, joined_at_once),
}.items():
    before, after = (
        with_layout(divide, unite, text, causal=True)[0] for text in (tokens, other_end)
    )
    moved_rows = [sentence[n] for n in range(6) if not torch.allclose(before[n], after[n])]
    swapped = with_layout(divide, unite, tokens[:, order])
    follows = torch.allclose(swapped, with_layout(divide, unite, tokens)[:, order])
    print(f"{name:23} rows that change: {', '.join(moved_rows):13} swap follows: {follows}")

# %% [markdown]
# Where the cut is right, a new last word changes its own row alone. With the wrong cut, *on* and
# *the* change too, because they got pieces that were taken from *mat*. The future leaks, although the mask
# is right and the weights above the diagonal are exactly 0: the rows are not the words any more.
#
# The third line is the nastiest. Two mistakes undo each other's leak, so that the test of lesson 06
# passes. The swap finds them. (Swap far apart: *the* and *cat*, of one head, would pass.)
#
# ## Cost
#
# Heads share the width, so the matrix products stay the same size: a head's scores take N² · d/H multiplications, and there are H
# heads. Softmax takes a power of e of each of the H · N² scores.
#
# | | one head | H heads |
# |---|---|---|
# | parameters (with biases) | 4d² + 4d | 4d² + 4d |
# | multiplications in the four linears | 4 N d² | 4 N d² |
# | in scores and averages | 2 N² d | H · 2 N² d/H = 2 N² d |
# | powers of e, and weights kept | N² | H · N² |
#
# Parameters and multiplications stay. (Prediction 2: C.) Powers and weights grow, and weights are memory. There are
# six products, four linears and two in `attend`, for one head as for 64: the heads are an axis of one batched
# product, and not a loop.

# %% [markdown]
# ## Check yourself

# %% nbgrader={"grade": false, "grade_id": "quiz-check-yourself", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("check yourself")

# %% [markdown]
# ## Take away
#
# 1. One softmax gives one pattern, and one average. Where values do not say which question they answer, a
#    linear layer cannot tell from it who said what; a hidden layer may. Heads give a token several averages, from the same width
#    ([two questions](#See-it:-two-questions,-one-softmax)).
# 2. Cut the last axis, then move the head axis before the tokens; on the way back, the same in reverse. A
#    reshape alone gives the right shape and the wrong numbers ([the cut](#Cut-the-width,-not-the-sentence),
#    [the bug](#A-shorter-cut)).
# 3. Divide a head's scores by √(d/H): its queries and keys are d/H wide
#    ([the module](#Heads-in-a-module)).
# 4. The output is a sum: each head's weights, values and part of $W_o$. The mean of the weights is in no
#    formula ([what each head brings](#What-each-head-brings)).
# 5. Parameters, and multiplications in matrix products, do not depend on H. There are H · N² weights, and
#    softmax takes as many powers of e ([cost](#Cost)).
#
# ### Sources
#
# - Multi-head attention, and why averaging in one head is in the way: Vaswani et al. 2017, *Attention Is
#   All You Need*, section 3.2.2. [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# - Heads that can be taken away: Michel et al. 2019, *Are Sixteen Heads Really Better than One?*
#   [arXiv:1905.10650](https://arxiv.org/abs/1905.10650); Voita et al. 2019, *Analyzing Multi-Head
#   Self-Attention*. [arXiv:1905.09418](https://arxiv.org/abs/1905.09418)
# - The output as a sum over heads: Elhage et al. 2021, *A Mathematical Framework for Transformer
#   Circuits*. [transformer-circuits.pub](https://transformer-circuits.pub/2021/framework/index.html)
# - Attraction errors: K. Bock & C. A. Miller 1991, *Broken agreement*, Cognitive Psychology 23.
# - Induction heads: Olsson et al. 2022, *In-context Learning and Induction Heads*.
#   [arXiv:2209.11895](https://arxiv.org/abs/2209.11895)
# - [PyTorch's manual](https://docs.pytorch.org/docs/stable/generated/torch.nn.MultiheadAttention.html).
#
# **To carry over.** In this lesson queries, keys and values came from the same x. A translator reads one sentence and writes another. Which of $W_q$, $W_k$
# and $W_v$ would you feed with which sentence, and what would N × N become?

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
