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
# One model learns to write, from noise to sentences. Two small ones come first: they learn what *not* does to a
# phrase, and what *it* means.
#
# | | |
# |---|---|
# | **You will be able to** | train a model; prove that plain attention cannot learn *not*, and mend it; find what carries an answer; let a model write; see overfitting and a leak |
# | **Minutes** | about 90, and 10 more for the optional parts |
# | **You need** | lessons 05 and 06: modules, gradients, masks; 09: positions |
# | **Runs on** | CPU; needs no network |
# | **You may stop** | before *Writing* |
# | **Points** | 11, in six exercises |

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
from collections.abc import Callable

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

from attnlab import begin, check, figures, quiz  # is it missing? open it by: attnlab lab

torch.set_num_threads(1)  # small matrices: one thread is enough
torch.set_printoptions(precision=3, sci_mode=False)
begin("10-training")

# %% [markdown]
# ## From noise to sentences
#
# These are a model's first 300 steps of training: its arcs gather, its loss falls, and its noise becomes words, some of
# them invented.

# %% nbgrader={"grade": false, "grade_id": "opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.opening()

# %% [markdown]
# At the end your own `train_step` trains it, and your own `generate` writes. First come a step of training, a hidden
# layer, and a way to ask a model what it learned.
#
# **Where you are.** Training changes the four lit matrices, the words' vectors (`embed`) and the classifier at the
# end (`classes`).

# %% nbgrader={"grade": false, "grade_id": "block", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.block("W_q", "W_k", "W_v", "W_o")


# %% nbgrader={"grade": false, "grade_id": "attend", "locked": true, "schema_version": 3, "solution": false, "task": false}
def attend(q, k, v):
    """Out (…, N, d_v) and weights (…, N, M) for q (…, N, d_k), k (…, M, d_k), v (…, M, d_v)."""
    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(dim=-1)
    return weights @ v, weights


# %% [markdown]
# ## Recall

# %% nbgrader={"grade": false, "grade_id": "quiz-recall", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("recall")

# %% [markdown]
# ## Predict
#
# The running sentence is *the animal didn't cross the street because it was too tired*. With *wide* in place of *tired*,
# *it* means the street.

# %% nbgrader={"grade": false, "grade_id": "quiz-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("predict")

# %% [markdown]
# ## By hand
#
# A model gives each word of its vocabulary a number, its **logit**. Let a phrase's *number* be the logit of *like*
# minus that of *hate*. Above 0 *like* is likelier than *hate*, below 0 less likely.
#
# Let *like* have the number 2 and *hate* −2. After one attention layer, the number of *not like* is a weighted average of
# those of *not* and *like*. Give *not* the number −6 and let the weights be ½ and ½:
#
# | phrase | average | right? |
# |---|---|---|
# | not like | ½ · (−6) + ½ · 2 = −2 | yes, *hate* |
# | not hate | ½ · (−6) + ½ · (−2) = −4 | no, it should be above 0 |
#
# ## See it
#
# The number of *not like* lies on the bar between *not* and *like*, that of *not hate* on the bar between *not* and *hate*.
# The first has to be left of 0, the second right of it. Look for a place where *not* could stand.

# %% nbgrader={"grade": false, "grade_id": "see-between", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.training.between()


# %% [markdown]
# There is none.
#
# ## One step of training
#
# Training repeats one step, which moves each parameter a little, by its slope. The loss is the [cross-entropy](../glossary.md#cross-entropy) of lesson 06.
# A model that gives the right word ½ has the loss $\log 2$ = 0.693. The writer took 1,000 such steps.
#
# An **optimizer**, such as lesson 06's Adam, holds the parameters. In order:
#
# 1. `optimizer.zero_grad()` clears old gradients, because number 3 adds.
# 2. `F.cross_entropy(logits, targets)` takes logits (T, C) and whole numbers (T,) and gives the mean loss, a tensor. It
#    takes softmax itself. `x.flatten(0, -2)` joins all axes but the last into one.
# 3. `loss.backward()` computes each parameter's gradient and *adds* it to what is in its `.grad`.
# 4. `optimizer.step()` reads `.grad` and moves the parameters.
# 5. `loss.item()` is the loss as a Python float.
#
# ### Exercise: `train_step`
#
# difficulty ●●○ · 5–7 min · 2 points
#
# Take one step, and return the loss *before* it as a Python float. The loss is the mean over all targets,
# whatever their shape and layout (no `view`): logits are (…, C), targets (…), at least one axis. Gradients left over from before must not count.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-train_step", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# The five lines above, in their order.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Flatten all axes of the logits but the last, and all of the targets.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "train_step", "locked": false, "schema_version": 3, "solution": true, "task": false}
def train_step(
    model: nn.Module, inputs: Tensor, targets: Tensor, optimizer: torch.optim.Optimizer
) -> float:
    """One step of training, with any optimizer, in float32 or float64, at logits in the thousands.

    Args:
        model: gives logits (…, C) for the inputs, with at least one axis before C.
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
# Four phrases: *like*, *hate*, *not like*, *not hate*. The vocabulary has three words, and the model answers with the likeliest: embed, project,
# weigh, mix, $W_o$, the mean over the words, classify. The short phrases are a batch of their own, so that no padding is needed.

# %% nbgrader={"grade": false, "grade_id": "plain", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from functools import partial

from attnlab.lessons.training import phrases
from attnlab.lessons.training.phrases import HATE_LIKE, TWO_WORDS, WORDS, answers

learn_phrases = partial(phrases.learn, train_step)  # 400 rounds of Adam


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


torch.manual_seed(0)
four_wide = Plain(len(WORDS), 4, len(WORDS))  # words in, one of these words out
learn_phrases(four_wide, "without not hate", TWO_WORDS[:1], HATE_LIKE[:1])
with torch.no_grad():
    x = four_wide.embed(TWO_WORDS[0])  # not like
    q, k, v = four_wide.W_q(x), four_wide.W_k(x), four_wide.W_v(x)
    mixed, weights = attend(q, k, v)
    joined = four_wide.W_o(mixed)
    steps = {"embed": x, "q": q, "k": k, "v": v, "weigh": weights, "mix": mixed, "W_o": joined}
    steps |= {"mean": joined.mean(dim=0), "classify": four_wide.classes(joined.mean(dim=0))}
for step, rows in steps.items():
    print(f"{step}:\n{rows}")
print(answers(four_wide))

# %% [markdown]
# Look at *weigh*, whose columns are *not* and *like*. Nearly all weight goes to *not*, and *not* says *hate* whatever
# comes after it.
# Now train on both, from five seeds. Where will the curves end?

# %% nbgrader={"grade": false, "grade_id": "stall", "locked": true, "schema_version": 3, "solution": false, "task": false}
stalled, likeliest = {}, {}
for seed in range(5):
    torch.manual_seed(seed)
    plain, name = Plain(3, 32, 3), f"seed {seed}"
    stalled[name] = learn_phrases(plain, name, TWO_WORDS, HATE_LIKE)
    likeliest[name] = answers(plain)
figures.training.stalled(stalled, likeliest)


# %% [markdown]
# All five end near ½ $\log 2$ = 0.347: two phrases are right, and for two the model tosses a coin. Such a pair pulls one number both ways, and its two losses
# together are smallest at 0, where each is $\log 2$. Over four phrases that makes ½ $\log 2$. The proof that none gets all four:
#
# 1. Let f(word) be a word's number. After one attention layer with one head, each row of *not like* is a·v(not) + (1 −
#    a)·v(like), with a between 0 and 1. Their mean is such a mix, too. $W_o$ and the classifier are linear, so the
#    number of *not like* lies between f(not) and f(like).
# 2. *Like* alone has weight 1 on itself: its number is f(like), and it has to be positive. f(hate) has to be
#    negative.
# 3. *Not like* has to be negative, and lies between f(not) and f(like) > 0. So f(not) < 0.
# 4. *Not hate* has to be positive, and lies between f(not) and f(hate) < 0. So f(not) > 0. ∎
#
# So no learning rate and no width helps. A residual connection (`x + …`) does, or positions, or a second head: then step
# 1 or 2 is no longer true.
#
# ## One hidden layer
#
# A **hidden layer** is a linear, then **ReLU** (`F.relu`, which sets negative numbers to 0), then another linear. In a transformer's block, words meet in attention alone; the hidden layer
# works on each row by itself. It is lesson 08's **feed-forward** layer.
#
# ### Exercise: `PhraseClassifier`
#
# difficulty ●●○ · 8–10 min · 3 points
#
# Put a hidden layer behind `Plain`'s mean. The parameters:
#
# | name | layer |
# |---|---|
# | `embed` | `nn.Embedding(vocab_size, d)` |
# | `W_q`, `W_k`, `W_v`, `W_o` | each `nn.Linear(d, d, bias=False)` |
# | `hidden` | `nn.Linear(d, d)` |
# | `classes` | `nn.Linear(d, n_classes)` |
#
# One head, scores / √d, no mask. Take the mean over the words after $W_o$, then `hidden`, ReLU,
# `classes`. Return logits, without softmax.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-PhraseClassifier", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Begin with `Plain`. With one linear and one ReLU, step 1 of the proof is no longer true.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Up to $W_o$ rows are (B, N, d). The mean takes axis 1 away: (B, d). `classes` makes (B, n_classes) of it.
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "PhraseClassifier", "locked": false, "schema_version": 3, "solution": true, "task": false}
class PhraseClassifier(nn.Module):
    """Attention, mean, one hidden layer, classes; float32 or float64; gradients reach them all."""

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
    yours = PhraseClassifier(3, 32, 3)
    losses = learn_phrases(yours, f"your classifier, start {start}", TWO_WORDS, HATE_LIKE)
    tried.append((losses[-1], answers(yours), yours(TWO_WORDS[:1]).softmax(dim=-1)[0].tolist()))
for loss, said, _ in sorted(tried):
    print(f"{loss:.3f}  {said}")
print("not like →", *(f"{word} {p:.3f}" for word, p in zip(WORDS, min(tried)[2], strict=True)))

# %% [markdown]
# *Not like*, and of all words *hate* is the likeliest. With width 32 and this Adam about half of the starts learn all four phrases; the others
# end near ½ $\log 2$. Plain descent at 0.1 learns from all ten. Training does not always find what a model *can* do.
#
# ### Was it attention?
#
# A **bag of words** adds up the vectors of its words, has a hidden layer, and no attention. It learns the four phrases from all ten starts:
# a hidden layer is enough for *not*. But to a bag *tea not coffee* and *coffee not tea* are the same. Attention with positions tells them apart.
#
# ## What does *it* mean?
#
# Of 1,176 sentences such as the running one, the models train on 300 and are tested on the other 876: each word is known, the combination
# is new. A bag of words says animal or thing. A **Reader** answers at *it*: two blocks of attention and a hidden layer,
# with lesson 08's residuals, on words with learned positions. The writer is a Reader, too.

# %% nbgrader={"grade": false, "grade_id": "sentences", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from attnlab.lessons.training.models import Bag, Reader

FAMILY = figures.training.sentences()
# and two words that no sentence has
VOCABULARY = [*sorted({word for words, _ in FAMILY for word in words}), "chase", "fast"]
NUMBER = {word: i for i, word in enumerate(VOCABULARY)}
ORDER = torch.randperm(len(FAMILY), generator=torch.Generator().manual_seed(10)).tolist()
IDS = torch.tensor([[NUMBER[word] for word in FAMILY[i][0]] for i in ORDER])
NOUNS = torch.tensor([FAMILY[i][1] for i in ORDER])  # the place of the noun that *it* means: 1 or 5
KINDS = (NOUNS == 5).long()  # 0: the animal, 1: the thing
IT = 7  # its place
TEST = slice(300, None)  # the others are trained on


def learn(model, name, targets, steps, ids=IDS[:300]) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    with figures.training.Watch(name, steps) as watch:
        for _ in watch:
            watch.losses.append(train_step(model, ids, targets[: len(ids)], optimizer))


@torch.no_grad()
def percent(scores: Tensor, right: Tensor) -> float:
    """Of rows (B, C), how many have their largest number at the right place (B,)."""
    return 100 * (scores.argmax(dim=-1) == right).float().mean().item()


def untrained(seed: int, layers: int) -> Reader:
    torch.manual_seed(seed)
    return Reader(len(VOCABULARY), 32, 2, length=11, layers=layers, at=IT)


readers = {f"seed {seed}": untrained(seed, layers=2) for seed in range(5)}
torch.manual_seed(0)
for name, model in {"bag of words": Bag(len(VOCABULARY), 32, 2), **readers}.items():
    learn(model, f"what does it mean, {name}", KINDS, 100)
    print(f"{name}: {percent(model(IDS[TEST]), KINDS[TEST]):.1f} % of new sentences right")

# %% [markdown]
# ### One row of the weights
#
# All are right, the bag too: in this family the adjective alone decides. *How* do the Readers know? Look at
# the row of *it* in the last block.

# %% [markdown]
# ### Exercise: `attention_to`
#
# difficulty ●○○ · 2–4 min · 1 point
#
# Return what one word of each sentence attends to: row `query_index` of its weights (B, N, M), so (B, M) in all.
# If there is a head axis, (B, H, N, M), average over it first.
# The index is an int for all sentences, or a tensor (B,) with one for each.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-attention_to", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Get rid of the heads first, and both cases are one. Then pick.
#
# <details><summary>Hint 2: the shapes</summary>
#
# (B, H, N, M) averaged over axis 1 is (B, N, M). Two lists as an index are paired: index that with 0 to B − 1
# (`torch.arange`) and the query's index.
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
        (B, M), one row for each sentence, dtype of the weights; gradients reach them.
    """
    ### BEGIN SOLUTION
    each = weights.mean(dim=1) if weights.ndim == 4 else weights
    return each[torch.arange(len(each), device=each.device), query_index]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "attention_to-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(attention_to)


# %% [markdown]
# ### Exchange rows
#
# Does the answer depend on what the map points at? Run the model on a sentence. After its first block, replace some rows by rows from another run, on a *donor*: a sentence with the other answer. If the answer flips, these rows
# carried it. This is **activation patching** (Meng et al. 2022).
#
# ### Exercise: `patched`
#
# difficulty ●●○ · 5–7 min · 2 points
#
# `blocks` is a list of functions, each (B, N, d) → (B, N, d); x and donor are (B, N, d). Run both through the first block. Then replace x's
# rows at `places` by those of the donor, in each sentence, and run the rest of the blocks on that. `places` is a list of ints, in any order, perhaps
# empty. A block may return its input; x, donor and the list stay as they are. Raise `ValueError` for an empty list of blocks, a donor
# of another shape, or a place outside 0 … N − 1.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-patched", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Of the donor you need its rows after the first block.
#
# <details><summary>Hint 2: the shapes</summary>
#
# Rows are axis 1: `after[:, places]` is (B, len(places), d), and can be written into. If a block returns its
# input, `after` *is* x: write into a copy (`clone`).
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "patched", "locked": false, "schema_version": 3, "solution": true, "task": false}
def patched(blocks: list[Callable], x: Tensor, donor: Tensor, places: list[int]) -> Tensor:
    """A run in which some rows after the first block come from another run.

    Args:
        blocks: functions (B, N, d) → (B, N, d), at least one.
        x, donor: (B, N, d), what is run, and what the rows come from.
        places: of those rows, 0 to N − 1.
    Returns:
        (B, N, d), what the last block gives.
    Raises:
        ValueError: no block, a donor of another shape, or a place outside.
    """
    ### BEGIN SOLUTION
    if not blocks or x.shape != donor.shape or not set(places) <= set(range(x.shape[1])):
        raise ValueError(f"{len(blocks)} blocks, {x.shape}, {donor.shape}, places {places}")
    rows, others = blocks[0](x).clone(), blocks[0](donor)
    rows[:, places] = others[:, places]
    for following in blocks[1:]:
        rows = following(rows)
    return rows
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "patched-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(patched)

# %% [markdown]
# ### The map is not an explanation
#
# Each new sentence gets a partner with an adjective of the other kind. The word whose row, taken from the partner,
# flips the most answers decides. On each seed a blue bar shows the mean weight that *it* gives this word in block 2,
# and an orange one how many answers flip.
# (In a Reader, `words` turns ids into rows, `answer` turns the last rows into logits, and each of its `blocks` keeps its latest `weights`.)

# %% nbgrader={"grade": false, "grade_id": "see-free-rows", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
OTHER = torch.where(KINDS[TEST] == 0, NUMBER["wide"], NUMBER["tired"])  # adjectives
PARTNERS = torch.cat([IDS[TEST][:, :-1], OTHER[:, None]], dim=1)


@torch.no_grad()
def exchanged(model: Reader, places: list[int]) -> Tensor:
    """New sentences, with the partners' rows at these places after the first block."""
    return patched(list(model.blocks), model.words(IDS[TEST]), model.words(PARTNERS), places)


@torch.no_grad()
def row_of_it(model: Reader, ids: Tensor, block: int = -1) -> Tensor:
    model(ids)
    return attention_to(model.blocks[block].weights, IT)  # (B, N)


def flips(model: Reader, places: list[int]) -> float:
    """Percent of answers that become the partner's."""
    return percent(model.answer(exchanged(model, places)), 1 - KINDS[TEST])


words = [*FAMILY[0][0][:-1], "adjective"]
shown, needed = {}, {}
for name, model in readers.items():
    first, shown[name] = (row_of_it(model, IDS[TEST], n).mean(dim=0) for n in range(2))
    print(f"{name}: in block 1 “it” gives the adjective {first[-1]:.2f} of its weight")
    needed[name] = [flips(model, [n]) / 100 for n in range(11)]
figures.training.shown_and_needed(shown, needed, words)


# %% [markdown]
# (Prediction: C.) All five answer right, and on average the right noun gets 0.15 at most. In block 1 *it* reads the adjective on every seed: 0.80 to 1.00 of
# its weight. Yet on seeds 2 and 3 nothing flips with *it*, as block 2 reads the adjective's own row. On seed 1 block 2
# gives *it* next to nothing. Yet its row flips 88 % of the answers. A block adds what its attention
# brings to the row that it had, the residual. On seed 1 all goes through the
# residual: give the partner's row of *it* to attention alone, and nothing flips.
#
# A map shows what was read, not what was needed.
#
# ### A map that is the answer
#
# To get a map that you can read, train the map. The **pointer** objective (Vinyals et al. 2015) takes
# the row of *it* as the answer: its loss is $-\log$ of the weight on the right noun. That is cross-entropy
# with the logarithms of the weights as logits. First one block, then two.


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
for layers, models in pointing.items():
    for seed, model in enumerate(models):
        learn(Pointer(model), f"pointer, blocks: {layers}, seed {seed}", NOUNS, 120)
        row = row_of_it(model, IDS[TEST])
        right = row.gather(1, NOUNS[TEST][:, None]).mean()
        print(f"blocks: {layers}, seed {seed}: weight on the right noun {right:.2f}")


# %% [markdown]
# One block stays at chance: the query of *it*
# and the nouns' keys are made from those words and their places. None of them knows the adjective. So the two nouns
# share in the same ratio, with *tired* and with *wide*. Two blocks are right on every seed, and the row flips with the
# adjective. You may read it: it was trained for that, and tested on new sentences.
#
# ### How the adjective gets there
#
# "*It* fetches the adjective and asks with it" sounds right. So does "the nouns fetch it, and answer with it". Guess, then exchange rows on every seed.


# %% nbgrader={"grade": false, "grade_id": "exchange-rows", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
def pointer_flips(model: Reader, places: list[int]) -> float:
    """Percent of rows that point at the other noun with the partners' rows at these places."""
    exchanged(model, places)
    return percent(attention_to(model.weights, IT), 6 - NOUNS[TEST])


CARRIERS = [IT], [1], [5], [1, 5], [0, 2, 3, 4, 6, 8, 9, 10]  # the nouns stand at 1 and 5
print("flipped by it, by the animal, the thing, both nouns, all others")
for seed, model in enumerate(pointing[2]):
    print(f"seed {seed}:", *(f"{pointer_flips(model, places):4.0f} %" for places in CARRIERS))

# %% [markdown]
# Which of these carries the adjective depends on the seed: here one noun alone on three seeds, *it* on one, and
# seed 1 is mixed.
#
# ## Optional: nouns, or places?
#
# Move the nouns: *the street didn't cross the animal because it was too tired*. Then train a new pointer on both orders.

# %% nbgrader={"grade": false, "grade_id": "move-nouns", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
MOVED = IDS[:, [0, 5, 2, 3, 4, 1, 6, 7, 8, 9, 10]]  # the nouns in each other's place
kept = [percent(row_of_it(model, MOVED[TEST]), NOUNS[TEST]) for model in pointing[2]]
print("nouns moved, still to the same place, %:", [round(share) for share in kept])

orders = torch.cat([IDS[:300], MOVED[:300]])
either = torch.cat([NOUNS[:300], 6 - NOUNS[:300]])
both = Pointer(untrained(0, layers=2))
learn(both, "pointer, both orders", either, 300, orders)
for name, ids, at in (("as they were", IDS, NOUNS), ("moved", MOVED, 6 - NOUNS)):
    print(f"trained on both orders, nouns {name}: {percent(both(ids[TEST]), at[TEST]):.0f} % right")

# %% [markdown]
# With the nouns moved, most rows point to the same *place*, now the street. Train on both
# orders, and the row follows the noun. No bag of words can: both orders are the same bag.
#
# ## Optional: How a row learns to point
#
# Train the first pointer again and record it at every third step. What will it find first: the two places, or which one?

# %% nbgrader={"grade": false, "grade_id": "see-pointers", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
recorded: dict[int, Tensor] = {}
learner = untrained(0, layers=2)
pointer, pair = Pointer(learner), IDS[:1].repeat(2, 1)
pair[:, -1] = torch.tensor([NUMBER["tired"], NUMBER["wide"]])
optimizer = torch.optim.Adam(pointer.parameters(), lr=0.003)
history = []
for number in range(120):
    if number % 3 == 0:
        recorded[number] = row_of_it(learner, pair)
    history.append(train_step(pointer, IDS[:300], NOUNS[:300], optimizer))
titles = ["it … tired", "it … wide"]
figures.live.TrainingScrubber(
    history, recorded, titles, [*words[:-1], "tired/wide"], step=39, level=(0.693, "log 2: a coin")
)

# %% [markdown]
# The two places. Within ten steps nearly all weight in block 2 (it has one head) is on the two nouns, alike in both sentences, and
# the loss stays near $\log 2$. Just after step 30 the two rows part, and fifteen steps later the loss is gone.
# (This seed is chosen: the others hardly pause.)

# %% [markdown]
# ## Writing
#
# Now the writer: a Reader with a causal mask, which says after each letter which comes next.
# It reads the pages behind `help("topics")`, which differ from one Python to the next, so your numbers and samples are not quite ours.
# The last tenth is **held out**: the model never trains on it.

# %% nbgrader={"grade": false, "grade_id": "text", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from attnlab.lessons.training.figures import Diary
from attnlab.lessons.training.reading import SPAN, documentation, loss_on  # it reads SPAN letters

TEXT = documentation()
LETTERS = sorted(set(TEXT))
CODE = {letter: i for i, letter in enumerate(LETTERS)}
ALL = torch.tensor([CODE[letter] for letter in TEXT])
READ = ALL[: len(ALL) * 9 // 10]
HELD_OUT = ALL[len(READ) :]
print(f"{len(TEXT):,} letters, {len(LETTERS)} different:\n{TEXT[200_000:200_300]}")


# %% [markdown]
# To write, ask for the next letter, append it, ask again. The letter is drawn by the
# probabilities softmax(logits / **temperature**), as in lesson 01. Temperature 0 takes the likeliest: that is *greedy*.
#
# ### Exercise: `next_token_probabilities`
#
# difficulty ●○○ · 2–4 min · 1 point
#
# Return softmax(logits / temperature) along the last axis, in the logits' dtype. A logit of −∞ gets 0. Temperature
# 0 gives 1 to the first of the largest logits and 0 to the others; below 0 raise `ValueError`. Other temperatures are
# 0.001 or more, and logits may be in the thousands.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-next_token_probabilities", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# PyTorch's softmax is stable by itself. Only temperature 0 needs a line of its own, before you divide.
#
# <details><summary>Hint 2: the shapes</summary>
#
# `logits.argmax(dim=-1)` is (…). `F.one_hot(ids, V)` makes rows (…, V) of ids (…); `.to(logits.dtype)` changes their dtype.
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
        (…, V), each row sums to 1, dtype of the logits; right for logits in the thousands.
    Raises:
        ValueError: temperature is negative.
    """
    ### BEGIN SOLUTION
    if temperature < 0:
        raise ValueError(f"temperature should be 0 or more and is {temperature}")
    if temperature == 0:
        return F.one_hot(logits.argmax(dim=-1), logits.shape[-1]).to(logits.dtype)
    return (logits / temperature).softmax(dim=-1)
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
# token for each prompt, (B,) int64. Call it n_new times. Record no gradients. An empty prompt,
# (B, 0), raises `ValueError`, whatever n_new. `torch.cat([ids, new], dim=1)` appends (B, 1) to (B, N).

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-generate", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# A loop of n_new rounds: ask, choose, append; all under `torch.no_grad()`. (What `torch.inference_mode()` makes cannot be trained on.)
#
# <details><summary>Hint 2: the shapes</summary>
#
# What comes next follows from the logits at the last place, (B, V). Make the choice, (B,), into (B, 1)
# before you append it.
#
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
        (B, N + n_new) whole numbers: the prompt, then what was chosen. Others may train with it.
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
# Now `choose` is a draw by your probabilities. Then a second writer trains on 10,000 letters alone. Guess how its two
# losses will end.
# (`ids.unfold(0, 65, 1)` is all stretches of 65 letters: 64 go in, and each is asked for the one after it.)


# %% nbgrader={"grade": false, "grade_id": "writer", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
def say(model: Reader, temperature: float = 0.5, seed: int = 0, text: str = "The value ") -> str:
    """A hundred and fifty letters after a text; the same seed draws the same."""
    prompt = torch.tensor([[CODE[letter] for letter in text]])
    draw = torch.Generator().manual_seed(seed)

    def choose(logits: Tensor) -> Tensor:
        p = next_token_probabilities(logits, temperature)
        return torch.multinomial(p, 1, generator=draw)[:, 0]  # one index for each row of p

    ids = generate(lambda ids: model(ids[:, -SPAN:]), prompt, 150, choose)  # it has 64 places
    return "".join(LETTERS[i] for i in ids[0].tolist())


def learn_to_write(name, ids, steps, causal=True, seed=0) -> tuple[Reader, Diary]:
    """A model, and what is noted of it on the way: texts, and losses on what it reads and on what is held out."""
    torch.manual_seed(seed)
    model = Reader(len(LETTERS), 96, len(LETTERS), length=SPAN, layers=2, causal=causal)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    stretches = ids.unfold(0, SPAN + 1, 1)
    parts = {"trained on": ids, "held out": HELD_OUT}
    with Diary(name, steps, lambda: say(model), lambda part: loss_on(model, part), parts) as diary:
        for _ in diary:
            batch = stretches[torch.randint(len(stretches), (24,))]
            # each letter is asked for the one after it
            diary.losses.append(train_step(model, batch[:, :-1], batch[:, 1:], optimizer))
    return model, diary


writer, diary = learn_to_write("writer", READ, 1000)
for temperature in (0.0, 0.5, 1.0, 3.0):
    print(f"temperature {temperature}: {say(writer, temperature)!r}")
few = learn_to_write("10,000 letters", READ[:10_000], 400)[1]
figures.training.overfitting([diary, few])

# %% [markdown]
# Its loss is 1.5 for a letter that it trains on and 1.7 for one held out. On 10,000 letters the first loss falls to
# about 1. The second is lowest near step 100, and then it *rises*, from 3 to 3.5 or more. That is **overfitting**: the model
# learns its pages by heart. The training loss alone does not show it. (More than half of the gap is the topic: on
# unread pieces of its own pages the model still gets better, to 1.8.)
#
# At temperature 0, which is greedy, it loops sooner or later: the last 64 letters decide the next.
#
# ## Break it on purpose
#
# **The leak.** Train the same model without the causal mask.

# %% nbgrader={"grade": false, "grade_id": "leak", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
leaky, _ = learn_to_write("no mask", READ, 400, causal=False)
print(f"causal, as many steps, held out: {diary.curves['writer, held out'][400 // 20]:.2f}")
for name, model in {"no mask": leaky, "writer, 1000 steps": writer}.items():
    print(f"{name}: held out, the last place alone {loss_on(model, HELD_OUT, SPAN - 1, 2000):.2f}")

# %% [markdown]
# The loss collapses, on held-out text too, and the writing is rubbish: the model learned to copy a letter that is not
# there when it writes. The last place shows it, as nothing stands to its right: the leaky model's loss there is far above its mean, and the writer's is not.
#
# ## Your page
#
# Your own functions wrote it. Let them go on from a text of yours.

# %% nbgrader={"grade": false, "grade_id": "your-page", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
START = "The function "  # yours, of letters that the pages have
print("Learned by train_step, written by next_token_probabilities and generate:")
for done, page in diary.pages.items():
    print(f"{done:5} steps: {page[:70]!r}")
print(*(say(writer, 0.5, seed, START) for seed in range(3)), sep="\n\n")

# %% [markdown]
# ## Optional: The race, run
#
# Here is lesson 01's race, at five distances. A mark is a vector added to the letter's, the same for all, so a
# sum cannot say *which* letter has it. None of the four models gets positions, so attention cannot learn a place.
#
# Trained at distance 4 alone and asked at 16, which of them is right?

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
# In these 600 steps the RNN guesses from 12 on, and the convolution past its four layers. Trained at one distance, both learned a *place*. The GRU gets
# farther, but the farther the mark, the longer it takes; at 16 some seeds need more steps than these. Attention takes about as many at every distance. Now the seconds, for eight texts:

# %% nbgrader={"grade": false, "grade_id": "race-time", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
from timeit import repeat

for length in (17, 272):
    ids = race.texts(8, 1, draw, length)[0]
    for name, tries in ran.items():
        racer = tries[0][0]
        seconds = min(repeat(lambda: racer(ids), number=1, repeat=5))
        print(f"{length:3} tokens, {name:11} {seconds:.5f} s")

# %% [markdown]
# Attention, which looks once, is the quickest here. It saves waiting, not work: if *every* token asks, work grows with the square of
# the length (lesson 11).

# %% [markdown]
# ## Check yourself

# %% nbgrader={"grade": false, "grade_id": "quiz-check-yourself", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("check yourself")

# %% [markdown]
# ## Take away
#
# 1. A step of training: clear gradients, measure the loss, compute gradients, move. Leftover gradients add up
#    ([one step](#One-step-of-training)).
# 2. A plain attention layer with one head averages, and no average turns *like* into *hate* and *hate* into *like*. With a hidden
#    layer behind it, it can ([not like](#Not-like,-hate), [one hidden layer](#One-hidden-layer)).
# 3. A map of weights from a model that was trained for something else is no explanation. Where two maps agree, different rows
#    may carry the answer, and the residual is in no map ([the map](#The-map-is-not-an-explanation)).
# 4. A map that was trained to be the answer can be read, and tested. What carries the answer
#    differs from seed to seed: exchange rows to find it ([pointer](#A-map-that-is-the-answer), [rows](#How-the-adjective-gets-there)).
# 5. A held-out loss shows what a model can do on other text; to see what it learned by heart, hold out pieces of the same pages. A leak
#    of the next letter makes it better, not worse: look at the last place
#    ([writing](#Writing), [break it](#Break-it-on-purpose)).
#
# ### Sources
#
# - Attention maps and explanation: Jain and Wallace 2019, *Attention is not Explanation*.
#   [arXiv:1902.10186](https://arxiv.org/abs/1902.10186); Wiegreffe and Pinter 2019, *Attention is not not
#   Explanation*. [arXiv:1908.04626](https://arxiv.org/abs/1908.04626)
# - Exchanging activations: Meng et al. 2022, *Locating and Editing Factual Associations in GPT*, section 2.1.
#   [arXiv:2202.05262](https://arxiv.org/abs/2202.05262)
# - Attention as a pointer: Vinyals et al. 2015, *Pointer Networks*.
#   [arXiv:1506.03134](https://arxiv.org/abs/1506.03134)
#
# **To carry over.** After a few letters, a letter costs more in writing than in training: `generate` reads the whole
# past again for each new one.
# What does each additional letter cost, and which part could be saved?

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
