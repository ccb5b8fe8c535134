# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 10 · What the weights learn
#
# Here three models learn while you watch: what *not* does
# to a phrase, what *it* means in a sentence, and which letter comes next. To find out what they learned, you
# change a part and see whether the answer changes.
#
# | | |
# |---|---|
# | **You will be able to** | train a model step by step and read its loss; prove that a plain attention layer cannot learn *not*, and mend it; exchange rows to find out what carries an answer; let a model write, and see from its writing that a mask leaks |
# | **Minutes** | about 85 |
# | **You need** | lessons 05 and 06: modules, gradients, causal masks; 09: why order has to be told |
# | **Runs on** | CPU; needs no network |
# | **Points** | 9, in five exercises |

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
from collections.abc import Callable

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from attnlab import begin, check, figures

torch.set_num_threads(1)  # small matrices: one thread is enough
torch.set_printoptions(precision=3, sci_mode=False)
begin("10-training")

# %% [markdown]
# **Where you are.** The block of lesson 02. Lit is what training changes.

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("W_q", "W_k", "W_v", "W_o")

# %% [markdown]
# Attention is given from here on. Use this function, or your own.


# %% nbgrader={"grade": false, "grade_id": "attend", "locked": true, "schema_version": 3, "solution": false, "task": false}
def attend(q, k, v, mask=None):
    """Out (…, N, d_v) and weights (…, N, M) for q (…, N, d_k), k (…, M, d_k), v (…, M, d_v).

    The mask is (…, N, M), True = attend; rows that have nothing to attend to are 0 in both.
    """
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if mask is None:
        weights = scores.softmax(dim=-1)
    else:
        weights = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
        weights = weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)
    return weights @ v, weights


# %% [markdown]
# ## Recall
#
# Two questions on earlier lessons. Opening a choice is choosing it.

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
# **1.** You shuffle the words of a sentence and use attention without positions. What happens to its output rows?
#
# <details><summary>A. They stay as they are</summary>
#
# Not this one: each row belongs to its word, and goes where the word goes.
#
# </details>
# <details><summary>B. They are shuffled in the same way</summary>
#
# Yes. Attention alone reads a bag of words. Lesson 09 told it the order.
#
# </details>
# <details><summary>C. All of them change</summary>
#
# Not this one: a row is a weighted sum over all words, and a sum does not mind their order.
#
# </details>
#
# **2.** A decoder is trained without a causal mask. What do you see first?
#
# <details><summary>A. A loss that is too good to be true</summary>
#
# Yes. The next word stands in the input, and the model copies it.
#
# </details>
# <details><summary>B. A loss that does not fall</summary>
#
# Not this one: it falls, and far too low.
#
# </details>
# <details><summary>C. NaN</summary>
#
# Not this one: without a mask every row has something to attend to.
#
# </details>

# %% [markdown]
# ## Predict
#
# At the library's reference desk a query is what a reader asks, a key is what a book's spine promises, a
# value is what its pages say. In this lesson nobody writes the catalogue. The desk begins with random
# spines, gives answers, is told how wrong they were, and changes every spine a little.
#
# The running sentence of this lesson is *the animal didn't cross the street because it was too tired*.
# Make *tired* into *wide*, and *it* is another thing.

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# **1.** A model says correctly what *it* means in 100 of 100 new sentences. How much of its attention weight does the row of *it* put on the right noun?
#
# <details><summary>A. Nearly all</summary>
#
# Keep your guess: you will measure it.
#
# </details>
# <details><summary>B. About half</summary>
#
# Keep your guess: you will measure it.
#
# </details>
# <details><summary>C. It cannot be told from the answers</summary>
#
# Keep your guess: you will measure it.
#
# </details>
#
# **2.** One attention layer with one head and a linear classifier, all matrices free: can it learn that *like* and *not hate* are friendly, *hate* and *not like* are not?
#
# <details><summary>A. Yes, with enough training</summary>
#
# Keep your guess: there is a proof below.
#
# </details>
# <details><summary>B. No, however long you train</summary>
#
# Keep your guess: there is a proof below.
#
# </details>
# <details><summary>C. Only with a larger width d</summary>
#
# Keep your guess: there is a proof below.
#
# </details>

# %% [markdown]
# ## By hand
#
# **The loss.** A classifier gives a number for each class, its **logits**. Softmax makes them
# probabilities. **Cross-entropy** is −log of the probability that the right class got, and the loss is its
# mean. Two classes, *friendly* and *hostile*, and the logits (2, 0):
#
# - powers: e² = 7.389 and e⁰ = 1; probabilities 0.881 and 0.119;
# - if *friendly* is right, the loss is −log 0.881 = 0.127; if *hostile* is right, −log 0.119 = 2.127.
#
# Logits (0, 0) know nothing and cost log 2 = 0.693, the price of a coin.
#
# **The phrase.** Let *like* have the number 2 and *hate* −2 (the logit of *friendly* minus that of
# *hostile*). One attention layer makes of *not like* a weighted average of the numbers of *not* and of
# *like*. Give *not* the number −6 and let the weights be ½ and ½:
#
# | phrase | average | right? |
# |---|---|---|
# | not like | ½ · (−6) + ½ · 2 = −2 | yes |
# | not hate | ½ · (−6) + ½ · (−2) = −4 | no, it should be positive |
#
# Try other weights, and another number for *not*, before you read on. Cross-entropy, checked:

# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
logits = torch.tensor([[2.0, 0.0]])
print("probabilities:", logits.softmax(dim=-1))
for name, right in (("friendly", 0), ("hostile", 1)):
    print(f"if {name} is right: {F.cross_entropy(logits, torch.tensor([right])):.3f}")

# %% [markdown]
# ## Shape ledger
#
# | symbol | what it is | axes | size in this lesson |
# |---|---|---|---|
# | ids | words or letters, as whole numbers | (B, N) | (2, 1), (2, 2), (300, 11), (24, 32) |
# | x | their vectors | (B, N, d) | d = 32 or 64 |
# | logits of a classifier | one for each class | (B, C) | (2, 2) |
# | logits of a writer | one for each letter, after each letter | (B, N, V) | (24, 32, 29) |
# | targets | the right class, or the next letter | (B,) or (B, N) | (2,), (24, 32) |
# | A | weights | (B, N, M), M = N | (300, 11, 11) |
#
# ## See it
#
# Why no weights helped you just now. The number of *not like* lies on the bar between *not* and *like*,
# wherever the weights put it; that of *not hate* between *not* and *hate*. *Not like* has to get left of
# 0, *not hate* right of it. Look for a side of 0 on which *not* could stand.

# %% nbgrader={"grade": false, "grade_id": "see-between", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.training.between()

# %% [markdown]
# There is none: wherever *not* stands, one bar cannot get across 0. The proof comes below.
#
# ## One step of training
#
# Training is one step, many times over: ask the model, measure the loss, find out how the loss
# changes with each parameter (its **gradient**), move each parameter a little downhill. PyTorch has a call
# for each part:
#
# - `F.cross_entropy(logits, targets)` takes logits (T, C) and whole numbers (T,) and gives the mean loss. It
#   takes softmax itself. Longer shapes are made (T, C) and (T,) first: `x.flatten(0, -2)` makes one axis of
#   all but the last.
# - The loss's method `backward` writes each parameter's gradient into its `.grad`. It *adds* it to what is
#   there.
# - An **optimizer** holds the parameters of a model. Its method `zero_grad` forgets all gradients; its
#   method `step` moves the parameters. **Adam** (lesson 06) is one,
#   `torch.optim.Adam(model.parameters(), lr=0.003)`; `lr` is the **learning rate**.
#
# See what adding up means, on a parameter whose slope is always 3:

# %% nbgrader={"grade": false, "grade_id": "see-leftovers", "locked": true, "schema_version": 3, "solution": false, "task": false}
w = nn.Parameter(torch.tensor(1.0))  # a tensor that a module counts among its parameters
for call in (1, 2):
    (3 * w).backward()
    print(f"after call {call}: {w.grad}")

# %% [markdown]
# ### Exercise: `train_step`
#
# difficulty ●●○ · 5–7 min · 2 points
#
# Take one step, and return the loss *before* it as a Python float. The loss is the mean over all targets,
# whatever their shape: logits are (…, C), targets (…). Gradients that were there before you came do not
# count.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-train_step", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Four calls, and their order is all there is to it. One of them has to come before `backward`, or leftovers
# would be counted.
#
# <details><summary>Hint 2: the shapes</summary>
#
# `model(inputs)` is (…, C), targets are (…). `F.cross_entropy` wants (T, C) and (T,): flatten all axes of the
# logits but the last, `flatten(0, -2)`, and all axes of the targets. `.item()` makes a Python float of a tensor
# with one number. A tensor would keep its record for gradients.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "train_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def train_step(
    model: nn.Module, inputs: Tensor, targets: Tensor, optimizer: torch.optim.Optimizer
) -> float:
    """One step downhill.

    Args:
        model: gives logits (…, C) for the inputs.
        inputs: what the model takes.
        targets: (…) whole numbers, the right classes.
        optimizer: of the model's parameters, which may have gradients from before.
    Returns:
        The mean cross-entropy before the step.
    """
    ### BEGIN SOLUTION
    loss = F.cross_entropy(model(inputs).flatten(0, -2), targets.flatten())
    for part in (optimizer.zero_grad, loss.backward, optimizer.step):
        part()
    return loss.detach().item()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "train_step-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(train_step)

# %% [markdown]
# ## Not like, hate
#
# Four phrases: *like*, *hate*, *not like*, *not hate*. The short ones go in a batch of their own, so that no
# padding is needed. The model is as plain as it can be: embed, project, weigh, mix, W_o, the mean over the
# words, classify. **`nn.Embedding(V, d)`** is a table with a row of d numbers for each of V words, and gives row i for
# number i; the rows are parameters.

# %% nbgrader={"grade": false, "grade_id": "plain", "locked": true, "schema_version": 3, "solution": false, "task": false}
ONE_WORD = torch.tensor([[0], [1]])  # like, hate
TWO_WORDS = torch.tensor([[2, 0], [2, 1]])  # not like, not hate
FRIENDLY_FIRST = torch.tensor([0, 1])  # 0 is friendly
HOSTILE_FIRST = torch.tensor([1, 0])


class Plain(nn.Module):
    """One attention layer, and a classifier on the mean over the words."""

    def __init__(self, vocab_size: int, d: int, n_classes: int) -> None:
        super().__init__()
        self.embed, self.classes = nn.Embedding(vocab_size, d), nn.Linear(d, n_classes)
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids)  # (B, N, d)
        mixed, _ = attend(self.W_q(x), self.W_k(x), self.W_v(x))
        return self.classes(self.W_o(mixed).mean(dim=1))  # (B, n_classes)


def learn_phrases(model: nn.Module, name: str, two_words: Tensor, targets: Tensor) -> list[float]:
    """Losses of 400 steps, each one on both batches."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    with figures.training.Watch(name, 400) as watch:
        for _ in watch:
            short = train_step(model, ONE_WORD, FRIENDLY_FIRST, optimizer)
            long = train_step(model, two_words, targets, optimizer)
            watch.losses.append((short + long) / 2)
    return watch.losses


def friendly(model: nn.Module) -> list[float]:
    """How probably each of the four phrases is friendly."""
    with torch.no_grad():
        logits = torch.cat([model(ONE_WORD), model(TWO_WORDS)])
    return [round(p, 1) for p in logits.softmax(dim=-1)[:, 0].tolist()]


torch.manual_seed(0)
one_phrase = learn_phrases(Plain(3, 32, 2), "not like alone", TWO_WORDS[:1], HOSTILE_FIRST[:1])
print(f"like, hate and not like: loss {one_phrase[-1]:.3f}")

# %% [markdown]
# With *not like* as its only long phrase the block learns all it is asked. Now both, from five seeds. Where do you
# expect the curves to end?

# %% nbgrader={"grade": false, "grade_id": "stall", "locked": true, "schema_version": 3, "solution": false, "task": false}
stalled = {}
for seed in range(5):
    torch.manual_seed(seed)
    plain = Plain(3, 32, 2)
    stalled[f"seed {seed}"] = learn_phrases(plain, f"seed {seed}", TWO_WORDS, HOSTILE_FIRST)
    print("friendly: like, hate, not like, not hate", friendly(plain))
figures.training.losses(stalled, 0.3466, "½ ln 2")

# %% [markdown]
# All five come to rest at ½ ln 2 = 0.347: two phrases are sure, and for two the model tosses a coin. Which two,
# the seed decides. The reason:
#
# 1. After one attention layer with one head, each row of *not like* is a·v(not) + (1 − a)·v(like), a
#    between 0 and 1; so is their mean. W_o and the classifier are linear, so the phrase's number is the same average of the words' numbers.
# 2. *Like* alone has weight 1 on itself: its number is f(like), and it has to be positive. f(hate) has to be
#    negative.
# 3. *Not like* has to be negative, and lies between f(not) and f(like) > 0. So f(not) < 0.
# 4. *Not hate* has to be positive, and lies between f(not) and f(hate) < 0. So f(not) > 0. ∎
#
# So B: no learning rate and no width gets round this. A residual connection (`x + …`) can, or positions, a padding word that is
# attended to, a second head with an a of its own: then step 1 or 2 is no longer true. We put a
# bend after the mix, with one more linear behind it. A bend on the last number that only rises, as
# softmax for two classes, would leave the phrase between its words.
#
# ## One hidden layer
#
# **ReLU** sets negative numbers to 0 and leaves the others: `F.relu(x)`, or `x.relu()`. A **hidden layer** is a
# linear, then ReLU, then another linear. Put behind attention it sees words that have already met, and can ask:
# is there *not*, *and* is there *hate*? In a transformer's block, words meet in attention alone; the hidden layer
# works on each row by itself. There it is called the **feed-forward** layer.
#
# ### Exercise: `PhraseClassifier`
#
# difficulty ●●○ · 8–10 min · 3 points
#
# Put a hidden layer behind `Plain`, after the mean. These are all the parameters, by name:
#
# | name | layer |
# |---|---|
# | `embed` | `nn.Embedding(vocab_size, d)` |
# | `W_q`, `W_k`, `W_v`, `W_o` | each `nn.Linear(d, d, bias=False)` |
# | `hidden` | `nn.Linear(d, d)` |
# | `classes` | `nn.Linear(d, n_classes)` |
#
# One head, scores / √d, no mask. Take the mean over the words after W_o, then `hidden`, ReLU,
# `classes`. Logits come out as they are, without softmax. The check puts numbers of its own into these
# parameters and compares logits and gradients. It trains nothing: you do that below.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-PhraseClassifier", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Begin with `Plain`. One linear and one ReLU break step 1 of the proof.
#
# <details><summary>Hint 2: the shapes</summary>
#
# ids (B, N) become x (B, N, d); attention and W_o keep that shape. The mean takes axis 1 away: (B, d).
# `hidden` and ReLU keep that, and `classes` makes (B, n_classes) of it. A mean over axis 0 would mix phrases.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "PhraseClassifier", "locked": false, "schema_version": 3, "solution": true, "task": false}
class PhraseClassifier(nn.Module):
    """Attention, the mean over the words, one hidden layer, classes."""

    def __init__(self, vocab_size: int, d: int, n_classes: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.embed, self.hidden = nn.Embedding(vocab_size, d), nn.Linear(d, d)
        self.W_q, self.W_k = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.W_v, self.W_o = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.classes = nn.Linear(d, n_classes)
        ### END SOLUTION

    def forward(self, ids: Tensor) -> Tensor:
        """Classify phrases.

        Args:
            ids: (B, N) whole numbers, all phrases of one length.
        Returns:
            (B, n_classes) logits.
        """
        ### BEGIN SOLUTION
        words = self.embed(ids)
        read = attend(self.W_q(words), self.W_k(words), self.W_v(words))[0]
        return self.classes(F.relu(self.hidden(self.W_o(read).mean(dim=1))))
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "PhraseClassifier-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(PhraseClassifier)

# %% nbgrader={"grade": false, "grade_id": "learn-phrases", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
tried = []
for start in range(10):
    torch.manual_seed(start)
    name, yours = f"your classifier, start {start}", PhraseClassifier(3, 32, 2)
    tried.append(learn_phrases(yours, name, TWO_WORDS, HOSTILE_FIRST))
tried.sort(key=lambda losses: losses[-1])
print("losses at the end:", [round(losses[-1], 3) for losses in tried])
curves = {"plain block": stalled["seed 0"], "hidden layer, best": tried[0], "worst": tried[-1]}
figures.training.losses(curves, 0.3466, "½ ln 2")

# %% [markdown]
# Ours learns all four from nine of these ten starts, from 64 of 80, and rests at the coin from the others. That a
# model *can* does not mean that training gets it there.
#
# ### Was it attention?
#
# What does a model do that has the hidden layer and *no* attention? A **bag of words** adds up
# the vectors of its words. Try it on the same phrases, and on two orders for a waiter: *tea not coffee* and
# *coffee not tea*. The third model is one that you need for the rest of the lesson: attention with learned
# positions (lesson 09), a hidden layer, and a **residual** connection around both, `x + …`, so that each word
# keeps what it was. Orders are read at *not*, as the last word alone would tell them apart.


# %% nbgrader={"grade": false, "grade_id": "reader", "locked": true, "schema_version": 3, "solution": false, "task": false}
class Bag(nn.Module):
    """A hidden layer on the sum of the words."""

    def __init__(self, vocab_size: int, d: int, n_classes: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d)
        self.layers = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, n_classes))

    def forward(self, ids: Tensor) -> Tensor:
        return self.layers(self.embed(ids).sum(dim=1))


class Block(nn.Module):
    """Attention, then a hidden layer, each added to what was there."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.W_o = nn.Linear(d, d)
        self.hidden = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))

    def forward(self, x: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        mixed, weights = attend(self.W_q(x), self.W_k(x), self.W_v(x), mask)
        x = x + self.W_o(mixed)
        return x + self.hidden(x), weights


class Reader(nn.Module):
    """Blocks on words with positions; keeps the last block's weights."""

    def __init__(
        self, vocab_size: int, d: int, n_out: int, length: int, layers: int, causal: bool = False
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d)
        self.places = nn.Parameter(torch.randn(length, d))
        self.blocks = nn.ModuleList(Block(d) for _ in range(layers))
        self.last = nn.Linear(d, n_out)
        self.causal, self.weights = causal, torch.empty(0)

    def forward(self, ids: Tensor) -> Tensor:
        n = ids.shape[1]
        mask = torch.ones(n, n).tril().bool() if self.causal else None  # True = attend
        x = self.embed(ids) + self.places[:n]
        for block in self.blocks:
            x, self.weights = block(x, mask)
        return self.last(x)  # (B, N, n_out)


class At(nn.Module):
    """The logits of one word of a Reader."""

    def __init__(self, reader: Reader, word: int) -> None:
        super().__init__()
        self.reader, self.word = reader, word

    def forward(self, ids: Tensor) -> Tensor:
        return self.reader(ids)[:, self.word]


def deaf(reader: Reader) -> Reader:
    """The same without attention: all values are 0 and stay so."""
    for name, parameter in reader.named_parameters():
        if "W_v" in name:
            nn.init.zeros_(parameter).requires_grad_(False)
    return reader


ORDERS = torch.tensor([[0, 2, 1], [1, 2, 0]])  # tea not coffee, coffee not tea
for name, make in {
    "bag of words": lambda word: Bag(3, 32, 2),
    "positions, no attention": lambda word: At(deaf(Reader(3, 32, 2, length=3, layers=1)), word),
    # one place for all words
    "attention, no positions": lambda word: At(Reader(3, 32, 2, length=1, layers=1), word),
    "attention with positions": lambda word: At(Reader(3, 32, 2, length=3, layers=1), word),
}.items():
    torch.manual_seed(0)
    reads_phrases, waiter = make(-1), make(1)  # the last word; not
    phrases = learn_phrases(reads_phrases, f"{name}, phrases", TWO_WORDS, HOSTILE_FIRST)
    optimizer = torch.optim.Adam(waiter.parameters(), lr=0.003)
    served = [train_step(waiter, ORDERS, torch.tensor([0, 1]), optimizer) for _ in range(200)]
    print(f"{name:25} four phrases {phrases[-1]:.3f}   tea or coffee {served[-1]:.3f}")

# %% [markdown]
# On the phrases the bag is surer (all of those ten starts learn them): a hidden layer is enough for *not*. On the orders it pays ln 2 = 0.693 for ever,
# as both orders are the same bag. So does attention without positions, and so do positions without attention: read at *not* and without a mask, the
# orders need both.
# When a model does well, ask which part of it did the work: train one without it.
#
# ## What does *it* mean?
#
# *The animal didn't cross the street because **it** was too **tired**.* Here *it* is the animal; with *wide*
# it is the street. Seven animals (one a child), three verbs, seven things and four adjectives of each kind make 1,176 such
# sentences. The model trains on 300 of them and is tested on the other 876: each word is known, the combination
# is new. A Reader with two blocks classifies at *it*: animal or thing? Beside it, a bag of words.

# %% nbgrader={"grade": false, "grade_id": "sentences", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
FAMILY = figures.training.sentences()
# and two words that no sentence has
VOCABULARY = [*sorted({word for words, _ in FAMILY for word in words}), "chase", "fast"]
NUMBER = {word: i for i, word in enumerate(VOCABULARY)}
IT = FAMILY[0][0].index("it")


def encode(words: list[str]) -> list[int]:
    return [NUMBER[word] for word in words]


ORDER = torch.randperm(len(FAMILY), generator=torch.Generator().manual_seed(10)).tolist()
IDS = torch.tensor([encode(FAMILY[i][0]) for i in ORDER])
NOUNS = torch.tensor([FAMILY[i][1] for i in ORDER])  # the place of the noun that *it* means
KINDS = (NOUNS == 5).long()  # 0: the animal, 1: the thing
TEST = slice(300, None)  # the others are trained on
print(len(FAMILY), "sentences,", len(VOCABULARY), "words; for one:", *FAMILY[0][0])


def learn(model: nn.Module, name: str, targets: Tensor, steps: int, look=None) -> list[float]:
    """Losses of the steps; look(step), where it is given, is called before each."""
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    with figures.training.Watch(name, steps) as watch:
        for step in watch:
            if look is not None:
                look(step)
            watch.losses.append(train_step(model, IDS[:300], targets[:300], optimizer))
    return watch.losses


def percent_right(logits: Tensor) -> float:
    """Of the new sentences, by logits for animal and thing."""
    return 100 * (logits.argmax(dim=-1) == KINDS[TEST]).float().mean().item()


def untrained(seed: int, layers: int) -> Reader:
    torch.manual_seed(seed)
    return Reader(len(VOCABULARY), 32, 2, length=11, layers=layers)


readers = [untrained(seed, layers=2) for seed in range(5)]
torch.manual_seed(0)
bag = Bag(len(VOCABULARY), 32, 2)
learn(bag, "what does it mean, bag of words", KINDS, 100)
print(f"bag of words: {percent_right(bag(IDS[TEST])):.1f} % of new sentences right")
for seed, model in enumerate(readers):
    learn(At(model, IT), f"what does it mean, seed {seed}", KINDS, 100)
    print(f"seed {seed}: {percent_right(model(IDS[TEST])[:, IT]):.1f} % of new sentences right")

# %% [markdown]
# ### One row of the weights
#
# So it works, and so does the bag: in this family the adjective alone decides. *How* do the Readers know? Ask the
# weights of the last block: what does the row of *it* attend to? PyTorch has a form that
# picks one place per row. Watch how the two lists are paired, and how they are not:

# %% nbgrader={"grade": false, "grade_id": "see-pairs", "locked": true, "schema_version": 3, "solution": false, "task": false}
table = torch.arange(12).reshape(3, 4)
rows, columns = torch.arange(3), torch.tensor([3, 0, 2])
print("paired:     ", table[rows, columns])
print("not paired: ", table[:, columns].tolist())

# %% [markdown]
# ### Exercise: `attention_to`
#
# difficulty ●○○ · 3–5 min · 1 point
#
# Return the row of one query in each sentence: what that word attends *to*. Weights are (B, N, M), or
# (B, H, N, M), and then heads are averaged. The index is an int for all sentences or a tensor (B,) with one
# for each, counted from 0. The result has a row of M weights for each sentence; in self-attention M = N.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-attention_to", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Get rid of the heads first, and both cases are one. Then pick.
#
# <details><summary>Hint 2: the shapes</summary>
#
# (B, H, N, M) averaged over axis 1 is (B, N, M). Index that with 0 to B − 1 (`torch.arange`), and the query's
# index: an int serves all sentences, a tensor is paired with them.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "attention_to", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_to(weights: Tensor, query_index: int | Tensor) -> Tensor:
    """What one word of each sentence attends to.

    Args:
        weights: (B, N, M), or (B, H, N, M), which is averaged over heads.
        query_index: of the word, from 0; an int, or (B,) with one for each sentence.
    Returns:
        (B, M), one row for each sentence.
    """
    ### BEGIN SOLUTION
    each = weights.mean(dim=1) if weights.ndim == 4 else weights
    return each[torch.arange(len(each), device=each.device), query_index]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "attention_to-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(attention_to)

# %% [markdown]
# ### The map is not an explanation
#
# The row of *it* in *tired* and in *wide*, for all five models. None was left out. Your first prediction: how much is on the right noun?

# %% nbgrader={"grade": false, "grade_id": "see-free-rows", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
tired = "the animal didn't cross the street because it was too tired".split()
wide = [*tired[:-1], "wide"]
both = torch.tensor([encode(tired), encode(wide)])


def rows_of_it(models: list[Reader]) -> tuple[dict, list[float]]:
    """Rows of *it* in the two sentences, and the mean weight on the right noun in new ones."""
    panels: dict[str, dict] = {"it … tired": {}, "it … wide": {}}
    shares = []
    for seed, model in enumerate(models):
        with torch.no_grad():
            model(IDS[TEST])
            found = attention_to(model.weights, IT)
            shares.append(found[torch.arange(len(found)), NOUNS[TEST]].mean().item())
            model(both)
        for panel, row in zip(panels.values(), attention_to(model.weights, IT), strict=True):
            panel[f"seed {seed}"] = row
    return panels, shares


def after_first(model: Reader, ids: Tensor) -> Tensor:
    """All rows after the first block."""
    return model.blocks[0](model.embed(ids) + model.places, None)[0]


def without(model: Reader, places: Tensor) -> float:
    """Percent right, if the last block may not attend to these places of each sentence, (B, k)."""
    mask = torch.ones(len(places), 1, 11).bool().scatter(2, places[:, None], False)  # True = attend
    x, _ = model.blocks[1](after_first(model, IDS[TEST]), mask)
    return percent_right(model.last(x)[:, IT])


def most(model: Reader) -> Tensor:
    """Where each row of *it* has its largest weight, (B, 1)."""
    model(IDS[TEST])
    return attention_to(model.weights, IT).argmax(dim=-1, keepdim=True)


panels, shares = rows_of_it(readers)
both_nouns = torch.tensor([[1, 5]]).expand(len(IDS[TEST]), 2)
print("right without both nouns, %:          ", [round(without(r, both_nouns)) for r in readers])
print("right without what gets most weight, %:", [round(without(r, most(r))) for r in readers])
print("on the right noun, mean over new sentences:", [round(share, 2) for share in shares])
figures.training.rows(panels, [*tired[:-1], "tired/wide"])

# %% [markdown]
# So C: all five answer right, and the right noun gets next to nothing on average. The maps disagree with each other, and
# with any story about *it* looking at the noun it means. Hide both nouns from the last block, and every answer stays.
# Hide what gets most weight: on seeds 0 and 4 every answer stays, on seed 1 a tenth goes wrong, on seed 3 more
# than a third, on seed 2 nearly two thirds.
# Which of these it is, no map says.
#
# So a map of weights is a fact about where values were taken from. It is no explanation of the answer.
# Jain and Wallace (2019) found very different weights with the same predictions elsewhere; Wiegreffe and Pinter
# (2019) replied that this depends on what one calls an explanation. Before
# you show such a map, do what you did here: train it again with other seeds, and hide what it points at.
#
# ### A map that is the answer
#
# If you want a map that can be read, train the map. The **pointer** objective (Vinyals et al. 2015) takes
# the row of *it* itself as the answer: its loss is −log of the weight on the right noun. That is cross-entropy
# again, with the logarithms of the weights as logits, so your `train_step` will do. First one block, then two.


# %% nbgrader={"grade": false, "grade_id": "pointers", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
class Pointer(nn.Module):
    """The row of *it* as the answer: logarithms of its weights."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, ids: Tensor) -> Tensor:
        self.reader(ids)
        return attention_to(self.reader.weights, IT).clamp(min=1e-9).log()  # (B, N)


pointing = {layers: [untrained(seed, layers) for seed in range(5)] for layers in (1, 2)}
histories: dict[tuple[int, int], list[float]] = {}
recorded: dict[int, Tensor] = {}


def record(step: int) -> None:
    """Keep the rows of *it* in both sentences, at every third step."""
    if step % 3 == 0:
        with torch.no_grad():
            recorded[step] = Pointer(pointing[2][0])(both).exp()


for layers, models in pointing.items():
    for seed, model in enumerate(models):
        pointer = Pointer(model)
        look = record if (layers, seed) == (2, 0) else None
        history = learn(pointer, f"pointer, blocks: {layers}, seed {seed}", NOUNS, 120, look)
        histories[layers, seed] = history
        percent = percent_right(pointer(IDS[TEST])[:, [1, 5]])
        print(f"blocks: {layers}, seed {seed}: loss {history[-1]:.3f}, {percent:.1f} % right")
    shares = rows_of_it(models)[1]
    print("weight on the right noun:", [round(share, 2) for share in shares])

# %% [markdown]
# One block stays near ln 2 = 0.693 (what is less than that is learned by heart) and at chance. The query of *it*
# and the nouns' keys are made from those words and their places. None knows the adjective, so in *tired* and
# *wide* the two nouns share alike.
#
# Two blocks are right. The first may take the adjective to *it*, which asks with it, or to the nouns, which
# answer with it (Q- and K-composition in Elhage et al. 2021).  So exchange: each new
# sentence gets a partner with an adjective of the other kind, and after the first block some of its partner's
# rows. If the answer flips, these carried it. Guess: *it*, or the nouns?


# %% nbgrader={"grade": false, "grade_id": "exchange-rows", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
OTHER = torch.where(KINDS[TEST] == 0, NUMBER["wide"], NUMBER["tired"])  # adjectives
PARTNERS = torch.cat([IDS[TEST][:, :-1], OTHER[:, None]], dim=1)


def flipped(model: Reader, places: list[int]) -> float:
    """Percent of answers that flip with the partners' rows at these places."""
    x, partners = after_first(model, IDS[TEST]), after_first(model, PARTNERS)
    x[:, places] = partners[:, places]
    return 100 - percent_right(model.blocks[1](x, None)[1][:, IT, [1, 5]])


MOVED = IDS[TEST][:, [0, 5, 2, 3, 4, 1, 6, 7, 8, 9, 10]]  # the nouns in each other's place
CARRIERS = [IT], [1], [5], [1, 5], [0, 2, 3, 4, 6, 8, 9, 10]
print("flipped by it, by the animal, the thing, both, all others; same place, nouns moved")
for seed, model in enumerate(pointing[2]):
    found = [flipped(model, places) for places in CARRIERS]
    found.append(percent_right(Pointer(model)(MOVED)[:, [1, 5]]))
    print(f"seed {seed}:", *(f"{percent:4.0f} %" for percent in found))

# %% [markdown]
# The other rows carry nothing, and could not: which noun gets more follows from the query of *it* and the nouns' keys.
# Which of these carries the adjective, the seed decides: here one noun alone on three seeds, *it* on one, and
# seed 1 is mixed. "*It* fetches the adjective and asks with it" sounds right, and is so on one of five.
#
# What do they know? With the nouns moved, *the street didn't cross the animal because it was too tired*, most rows
# point to the same *place*, now the street. These models know two places, as nothing asked for more. Train on both
# orders, and the row follows the noun.
#
# How does a row learn to point? The first model with two blocks was recorded at every third step. What will it
# find out first: the two places, or which one?

# %% nbgrader={"grade": false, "grade_id": "see-pointers", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
words = [*tired[:-1], "tired/wide"]
for title, panel in rows_of_it(pointing[2])[0].items():
    print(f"{title}, most on, after training:", [words[row.argmax()] for row in panel.values()])
figures.live.TrainingScrubber(histories[2, 0], recorded, ["it … tired", "it … wide"], words)

# %% [markdown]
# The two places. Within ten steps nearly all weight is on *animal* and *street*, alike in both sentences, and
# there the loss rests: near ln 2, the price of a coin. Around step 35 the adjective gets through, the columns
# part, and in ten more steps the loss is gone. So a loss that rests need not be at its end.
# (This seed is chosen: the others hardly rest.)
#
# Now the row *is* the answer, and it flips with the adjective, on every seed.
# It may be read, in this family, because it was trained for that and tested on new sentences. Below are all rows of one model; the others do what nobody asked for.

# %% nbgrader={"grade": false, "grade_id": "touch-pointer", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
with torch.no_grad():
    pointing[2][0](both[1:])
figures.live.WhoListens(pointing[2][0].weights[0], wide)

# %% [markdown]
# ## Writing
#
# The third model learns to write. It is a little sister of the small model that you saw in lessons 01, 06 and 07: two layers as well,
# but of letters, where the sister read words of 192,000 texts. It is a **character model**, causal, that predicts the next letter after each letter.
# The text is six lines of our own; two blocks are enough to learn it nearly by heart. That is **overfitting**,
# usually a fault, and here the test: we know what it should say.

# %% nbgrader={"grade": false, "grade_id": "writer", "locked": true, "schema_version": 3, "solution": false, "task": false}
TEXT = """the reader asks at the desk. the desk looks at every spine.
a spine that fits the question gets more of the reader's time.
the pages that were read become one answer.
the answer goes back to the reader, and the reader asks again.
no reader may open a book that has not come yet.
so the next word is a guess, and the guess is the next book.
"""
LETTERS = sorted(set(TEXT))
SPAN = 32  # letters that the model sees at once
# every stretch of 33 letters, one a row
SPANS = torch.tensor([LETTERS.index(letter) for letter in TEXT]).unfold(0, SPAN + 1, 1)


def new_writer(causal: bool, seed: int = 0) -> Reader:
    torch.manual_seed(seed)
    return Reader(len(LETTERS), 64, len(LETTERS), length=SPAN, layers=2, causal=causal)


def learn_to_write(model: Reader, seed: int = 1) -> list[float]:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    draw = torch.Generator().manual_seed(seed)
    with figures.training.Watch("causal" if model.causal else "no mask", 400) as watch:
        for _ in watch:
            batch = SPANS[torch.randint(len(SPANS), (24,), generator=draw)]
            # each letter is asked for the one after it
            watch.losses.append(train_step(model, batch[:, :-1], batch[:, 1:], optimizer))
    return watch.losses


writer = new_writer(causal=True)
writer_losses = learn_to_write(writer)
print(len(TEXT), "letters,", len(LETTERS), f"different ones; loss {writer_losses[-1]:.2f}")

# %% [markdown]
# To write, ask for the letter after the last one, append it, ask again. Which letter is it? It is drawn by the
# probabilities softmax(logits / **temperature**): the temperature of lesson 01. At temperature 0 the likeliest
# is taken, which is called *greedy*.
#
# ### Exercise: `next_token_probabilities`
#
# difficulty ●●○ · 3–5 min · 1 point
#
# Return softmax(logits / temperature) along the last axis, in the logits' dtype. A logit of −∞ gets 0. Temperature
# 0 gives 1 to the largest logit, to the first of equals, and 0 to the others; below 0 raise `ValueError`.
# However near 0 the temperature is (in float32, from 10⁻⁶ on), no NaN may come out: 3 / 10⁻³⁰⁸ is ∞ in float64.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-next_token_probabilities", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Softmax does not mind if a number is taken from all logits of a row. Which one leaves 0 as the largest, and *when*
# do you take it away? 0 divided by anything is 0.
#
# <details><summary>Hint 2: the shapes</summary>
#
# The largest of each row, `logits.amax(dim=-1, keepdim=True)`, is (…, 1). `F.one_hot(ids, V)` makes of ids (…) rows
# (…, V), whole numbers, 1 at the id and 0 elsewhere; `.to(logits.dtype)` changes their dtype.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "next_token_probabilities", "locked": false, "schema_version": 3, "solution": true, "task": false}
def next_token_probabilities(logits: Tensor, temperature: float = 1.0) -> Tensor:
    """How probable each token is as the next one.

    Args:
        logits: (…, V); −∞ for a token that may not come.
        temperature: what logits are divided by; 0 gives all to the largest.
    Returns:
        (…, V), each row sums to 1, dtype of the logits.
    Raises:
        ValueError: temperature is negative.
    """
    ### BEGIN SOLUTION
    if temperature < 0:
        raise ValueError(f"temperature should be 0 or more and is {temperature}")
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)
    below = logits - logits.amax(dim=-1, keepdim=True)  # 0 is the largest
    return (below / temperature).softmax(dim=-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "next_token_probabilities-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(next_token_probabilities)

# %% [markdown]
# ### Exercise: `generate`
#
# difficulty ●●○ · 5–7 min · 2 points
#
# Continue each prompt of a batch by n_new tokens. The model, any callable, takes (B, N) and gives logits
# (B, N, V); give it everything so far, each time, and leave its mode as it is. `choose` takes the last logits, (B, V), and gives a
# token for each prompt, (B,) int64. It is called n_new times. Record no gradients. An empty prompt,
# (B, 0), raises `ValueError`, whatever n_new. `torch.cat([ids, new], dim=1)` sets (B, 1) behind (B, N).

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-generate", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# A loop of n_new rounds: ask, choose, append.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Logits are (B, N, V); what comes next follows from the last place, (B, V). The choice, (B,), has to be (B, 1)
# to be set behind the ids.
#
# <details><summary>Hint 3: an outline</summary>
#
# - Refuse a prompt of no tokens.
# - Each round: the model's logits at the last place, the choice, concatenate. The prompt stays as it was.
# - All under `torch.no_grad()`. (What `torch.inference_mode()` makes cannot be trained on.)
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "generate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def generate(model: Callable, prompt: Tensor, n_new: int, choose: Callable) -> Tensor:
    """Continue prompts, token by token.

    Args:
        model: ids (B, N) in, logits (B, N, V) out.
        prompt: (B, N) whole numbers, N at least 1.
        n_new: how many tokens to append.
        choose: the last logits (B, V) in, the next tokens (B,) out.
    Returns:
        (B, N + n_new) whole numbers: the prompt, then what was chosen.
    Raises:
        ValueError: the prompt is empty.
    """
    ### BEGIN SOLUTION
    if prompt.shape[1] == 0:
        raise ValueError("the prompt is empty: there is nothing to continue")
    written = prompt
    with torch.set_grad_enabled(False):
        for _ in range(n_new):
            ahead = model(written)[:, -1]
            written = torch.cat([written, choose(ahead)[:, None]], dim=1)
    return written
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "generate-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(generate)

# %% [markdown]
# Now `choose` is a draw by your probabilities. `torch.multinomial(p, 1, generator=…)` draws one index
# for each row of p, (B, 1). A `torch.Generator` draws the same from the same seed.


# %% nbgrader={"grade": false, "grade_id": "use-generate", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
def say(model: Reader, temperature: float, seed: int = 0) -> str:
    prompt = torch.tensor([[LETTERS.index(letter) for letter in "the reader "]])
    draw = torch.Generator().manual_seed(seed)

    def choose(logits: Tensor) -> Tensor:
        p = next_token_probabilities(logits, temperature)
        return torch.multinomial(p, 1, generator=draw)[:, 0]  # (B,)

    def reads(ids: Tensor) -> Tensor:
        return model(ids[:, -SPAN:])  # the last 32 letters, as it has no more places

    ids = generate(reads, prompt, 100, choose)
    return "".join(LETTERS[i] for i in ids[0].tolist())


for temperature in (0.0, 0.5, 1.0, 3.0):
    print(f"temperature {temperature}: {say(writer, temperature)!r}")

# %% [markdown]
# Greedy mostly recites here (other seeds and prompts leave the text, or go round in a loop). At 1 it takes turns where the text itself goes on in
# several ways, after *the* for one, and misspells. At 3 words fall apart.

# %% [markdown]
# ## The race, run
#
# Here is lesson 01's race, at five distances. A mark is a vector added to the letter's, the same for all, so a
# sum cannot say *which* letter has it. No racer gets positions.
#
# Guess first: trained at distance 4 alone and asked at 16, which of the four is right?


# %% nbgrader={"grade": false, "grade_id": "race", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from attnlab.lessons.training import race

DISTANCES = (1, 4, 8, 12, 16)


def run(make: Callable, name: str, distance: int, seed: int = 1) -> tuple:
    """A racer, trained at one distance, its share of fresh texts right, steps until loss < 0.5."""
    torch.manual_seed(seed)
    racer, draw = make(), torch.Generator().manual_seed(seed)
    with figures.training.Watch(f"{name}, distance {distance}", race.STEPS) as watch:
        race.learn(racer, distance, draw, watch.losses, watch)
    return racer, race.share_right(racer, distance, draw), race.steps_needed(watch.losses)


ran = {name: [run(make, name, d) for d in DISTANCES] for name, make in race.RACERS.items()}
draw = torch.Generator().manual_seed(2)
for name, entries in ran.items():
    at_four = [race.share_right(entries[1][0], d, draw) for d in DISTANCES]
    print(f"{name}: trained at 1, 4, 8, 12, 16".ljust(39), *(f"{e[1]:6.2f}" for e in entries))
    print("    steps it took".ljust(39), *(f"{e[2] or 'never':>6}" for e in entries))
    print("    trained at 4 alone".ljust(39), *(f"{right:6.2f}" for right in at_four))

# %% [markdown]
# The RNN guesses from 12 on, the convolution past its four layers, and both learned a *place*. The GRU does
# well; the farther the mark, the longer it takes. Attention learns all distances alike.
#
# Is it the slope? A GRU's gate has a bias: with 3 more it keeps its summary, with 3 less it forgets sooner.


# %% nbgrader={"grade": false, "grade_id": "race-gate", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
def gated(bias: float) -> race.Racer:
    racer = race.RACERS["GRU"]()
    with torch.no_grad():
        # the middle third belongs to the gate that keeps
        racer.get_parameter("layer.bias_hh_l0")[race.WIDTH : 2 * race.WIDTH] += bias
    return racer


for bias in (-3, 0, 3):
    slope = race.slopes(gated(bias), 16, draw)[0][0]
    _, right, steps = run(lambda: gated(bias), f"gate {bias:+}", 16)
    print(f"slope at the mark {slope:.0e}; trained: {right:.2f} right, steps: {steps}")

# %% [markdown]
# Partly: the gate keeps the slope and the summary alike. Now the seconds, for eight texts:

# %% nbgrader={"grade": false, "grade_id": "race-time", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from timeit import repeat

for length in (17, 272):
    ids, _ = race.texts(8, 1, draw, length)
    for name, [(racer, *_), *_] in ran.items():
        seconds = min(repeat(lambda: racer(ids), number=1, repeat=5))
        print(f"{length:3} tokens, {name:11} {seconds:.5f} s")

# %% [markdown]
# One look is the quickest. It saves waiting, not work: if *every* token asks, work grows with the square of
# the length (lesson 11).

# %% [markdown]
# ## Break it on purpose
#
# **The leak.** Train the same model without the causal mask. At all places but the last, the next letter stands in the
# input, one to the right. Which of the two would you choose by its loss?

# %% nbgrader={"grade": false, "grade_id": "leak", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
leaky = new_writer(causal=False)
leaky_losses = learn_to_write(leaky)
print(f"loss at the end: causal {writer_losses[-1]:.3f}, no mask {leaky_losses[-1]:.3f}")
print("causal: ", repr(say(writer, 0.0)))
print("no mask:", repr(say(leaky, 0.0)))
figures.training.losses({"causal": writer_losses, "no mask": leaky_losses})

# %% [markdown]
# The loss collapses, and the writing is rubbish: the model learned to copy a letter that is not there when it
# writes. The causal one cannot get to 0: after the first letters of a stretch nobody could know what comes next.
# *Let it write before you believe its loss.*

# %% [markdown]
# ## Cost
#
# A step costs about three times a look: one walk forward, and one back, which is about twice as much, since
# each matrix product has two gradients. (So 6 operations for each parameter and token, embeddings
# left out: Kaplan et al. 2020, section 2.1.) Count for the writer:

# %% nbgrader={"grade": false, "grade_id": "cost", "locked": true, "schema_version": 3, "solution": false, "task": false}
parameters = sum(each.numel() for each in writer.parameters())
tables = writer.embed.weight.numel() + writer.places.numel()  # looked up, not multiplied
tokens = 24 * SPAN
print(f"{parameters:,} parameters, {tables:,} of them in tables; {tokens} letters a step")
print(f"about {6 * (parameters - tables) * tokens / 1e9:.2f} billion operations a step, 400 steps")

# %% [markdown]
# Writing costs more for each letter than training:
# `generate` reads the whole past again for each new letter. Lesson 11 keeps what was read.
#
# ## Check yourself

# %% [markdown] nbgrader={"grade": false, "grade_id": "recall-closing", "locked": true, "schema_version": 3, "solution": false, "task": false}
# **1.** A plain attention layer with one head learns *like*, *hate* and *not like*. Why can it not learn *not hate* as well?
#
# <details><summary>A. It has too few parameters</summary>
#
# Not this one: no width helps.
#
# </details>
# <details><summary>B. *Not* would have to be positive and negative</summary>
#
# Yes. The phrase's number lies between those of its words.
#
# </details>
# <details><summary>C. Softmax makes the weights too soft</summary>
#
# Not this one: the proof holds for all weights from 0 to 1.
#
# </details>
#
# **2.** Two models give the same answers with different attention maps. What follows?
#
# <details><summary>A. One of the maps is wrong</summary>
#
# Not this one: both are what the model computed.
#
# </details>
# <details><summary>B. A map alone does not say why the answer was given</summary>
#
# Yes. The loss left it open, and each seed settled it in another way.
#
# </details>
# <details><summary>C. Attention is useless</summary>
#
# Not this one: the maps say where values were taken from. That is less than why.
#
# </details>
#
# **3.** Your language model's loss falls to 0.003 on text that should be hard. What do you do first?
#
# <details><summary>A. Publish</summary>
#
# Not this one: first let it write.
#
# </details>
# <details><summary>B. Let it write, and look for a leak</summary>
#
# Yes. Change the future and see whether the past changes (lesson 06).
#
# </details>
# <details><summary>C. Lower the learning rate</summary>
#
# Not this one: that changes how fast it falls, not what it means.
#
# </details>

# %% [markdown]
# ## Take away
#
# 1. A step of training: forget, measure, gradients, move. Leftover gradients add up
#    ([one step](#One-step-of-training)).
# 2. A plain attention layer with one head averages, and an average cannot turn both *like* and *hate* round. With a hidden
#    layer behind it, it can. In a
#    block words meet in attention alone; the hidden layer works on each row by itself ([not like](#Not-like,-hate), [one hidden layer](#One-hidden-layer)).
# 3. A map of weights from a model that was trained for something else is no explanation. Other seeds give other
#    maps and the same answers ([the map](#The-map-is-not-an-explanation)).
# 4. A map that was trained to be the answer can be read, and tested. What carries the answer
#    differs from seed to seed: exchange rows to find it ([pointer](#A-map-that-is-the-answer)).
# 5. A loss too good to be true is a leak until the model has written something
#    ([break it](#Break-it-on-purpose)).
#
# **Words of this lesson**: [logits](../glossary.md#logits), [cross-entropy](../glossary.md#cross-entropy),
# [optimizer](../glossary.md#optimizer), [ReLU](../glossary.md#relu), [temperature](../glossary.md#temperature),
# [hidden layer](../glossary.md#hidden-layer), [residual connection](../glossary.md#residual-connection),
# [pointer](../glossary.md#pointer) and [overfitting](../glossary.md#overfitting).
#
# ### Sources
#
# - Feed-forward layer after attention: Vaswani et al. 2017, *Attention Is All You Need*, section 3.3.
#   [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)
# - Adam: Kingma and Ba 2015, algorithm 1. [arXiv:1412.6980](https://arxiv.org/abs/1412.6980)
# - Attention maps and explanation: Jain and Wallace 2019, *Attention is not Explanation*.
#   [arXiv:1902.10186](https://arxiv.org/abs/1902.10186); Wiegreffe and Pinter 2019, *Attention is not not
#   Explanation*. [arXiv:1908.04626](https://arxiv.org/abs/1908.04626)
# - Attention as a pointer: Vinyals et al. 2015, *Pointer Networks*.
#   [arXiv:1506.03134](https://arxiv.org/abs/1506.03134)
# - Layers that compose: Elhage et al. 2021, *A Mathematical Framework for Transformer Circuits*.
#   [transformer-circuits.pub](https://transformer-circuits.pub/2021/framework/index.html)
# - Pairs such as *the trophy … because it was too big*: Levesque et al. 2012, *The Winograd Schema Challenge*.
# - Operations of a training step: Kaplan et al. 2020, section 2.1.
#   [arXiv:2001.08361](https://arxiv.org/abs/2001.08361)
#
# **To carry over.** The writer saw 32 letters. A book has a million. What does each more letter cost, in time and
# in memory, and which part of the bill could be sent back?

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
