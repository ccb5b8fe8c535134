# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01 · A dictionary you can differentiate
#
# Attention lets each word of a text look at every other word, and take from each what it needs.
# It is the block inside the Transformer: inside GPT and Claude, whose words look back, and BERT, whose words look both
# ways. By lesson 10 you will have trained a small relative of theirs, and in lesson 14 a function that you wrote runs
# inside a real one. Here you learn how a word looks: by a dictionary lookup, made soft.
#
# **You will be able to**
#
# - say what attention is for, and what each word gets out of it;
# - write an exact-match lookup as a sum, and show why small changes of a query teach nothing there;
# - turn scores into shares with softmax, without an overflow at ±10,000;
# - write a soft lookup, and steer it with a temperature from the best match to the plain mean.
#
# | | |
# |---|---|
# | **Minutes** | about 90 |
# | **You need** | Python lists, loops and functions; school algebra |
# | **Runs on** | any CPU, in seconds; no GPU, no network |
# | **You may stop** | before *Temperature* |
# | **Points** | 6, in three exercises |
#
# Run the cells from top to bottom with Shift+Enter. Three cells are yours to write. Each has hints above it and a
# check below it, which you may run as often as you like. A check also tries sizes of 1 and long inputs. It calls your
# function twice, and looks whether the inputs are as they were.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import math

from attnlab import begin, check, figures, quiz  # is it missing? open it by: attnlab lab

begin("01-soft-lookup")

# %% [markdown]
# Three books know how salty the water is in their landscape, in grams a litre. A question moves from one to the next.
# Where does a small step change its answer?

# %% nbgrader={"grade": false, "grade_id": "opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.opening()

# %% [markdown]
# ## What attention is for
#
# What a word means depends on others as well, and they may be far away:
#
# > *the bank we passed on our long walk was muddy*
#
# Which kind of bank is this? *Muddy*, eight words on, says that it lies by a river.
#
# How far can a network reach? Here is a race. A text has 17 **tokens**, pieces of text, here letters. One is
# marked, and the question mark at the end asks which one. A guess is right one time in eight. Five networks were
# trained for this, anew for each distance, in 600 steps.
#
# Slide from 1 to 16. Which bars fall to chance, and where? Orange lines show what is handed on. The thicker one is,
# the larger its **slope**: how much a nudge there changes the answer's error. Where the slope is 0, training has
# nothing to go by.

# %% nbgrader={"grade": false, "grade_id": "touch-race", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.live.Race(12)

# %% [markdown]
# - A **recurrent network** (RNN) plays the game of telephone: each step hands on a summary, which the next one writes
#   anew. As PyTorch starts it, it loses on average more than half of the slope at each hand-over, and from 11 on it
#   guesses. A **GRU** can keep its summary, and learned every distance, from each of three starts.
# - A **convolution** sees one neighbour on either side. Such a round is called a **layer**. Four layers reach four
#   tokens, and from 5 on they guess.
# - **Attention** lets the end look once at all tokens, and decides by what it finds how much to take from each. It
#   learned all distances alike: the shortest path between any two words is one look (Vaswani et al. 2017, section 4).
#   And a look does not wait, while RNN and GRU take 17 steps, each of which needs the one before.
#
# Training sets a network's numbers, its **parameters**. **One set of them serves a text of any length**, in all racers
# but the last. And **attention can connect by content, not by place**: trained at 4 alone, it is right at 3 and 5 as
# well, and in texts of 257 tokens. The RNN and the convolution fail: they learned a place. The last racer is told
# places, and may learn one.
#
# What comes out has as many words as went in: **each word, rewritten in its context**.
#
# ## One look that was learned
#
# A small language model was made for this course, much like GPT-2. It read 192,000 short texts of 64 words, and
# learned to guess each next word. Nobody told it what a subject is. It has eight **heads**, each a look with numbers of
# its own. This is one. *Sees* stands beside *boy*, and gives *boy* 0.01. *Dogs*, four words back, gets 0.83. Choose a
# word, or another head. Each number in the table is the share of the look that goes to a word.

# %% nbgrader={"grade": false, "grade_id": "see-one-head", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.soft_lookup.one_head()

# %% [markdown]
# The look matters. At *sees* this head hands on a blend of what it read. Exchange it for the blend from *the dog that
# the boy sees*, and leave the rest as it is. The model now expects verbs like *runs* where it expected verbs like
# *run*. That was tried on 400 sentences, and the number of the verb turned in every one. With any of the other seven
# heads it turned in none. In lesson 07 you do it yourself. A map alone does not say what a head is for.
#
# One look is a question to a dictionary. You know the kind: a record of fields, and one exact key for
# each.

# %% nbgrader={"grade": false, "grade_id": "see-record", "locked": true, "schema_version": 3, "solution": false, "task": false}
record = {
    "name": "Ada Lovelace",
    "address": "12 St James's Square, London",
    "date of birth": "10 December 1815",
}
print(record["date of birth"])

# %% [markdown]
# Attention asks like that, with two differences. Its **keys** are lists of numbers, and it takes from all of the
# fields at once, most from those whose keys fit best. That is a **soft lookup**. There are two reasons for the
# softness, and you will run both. A question that no key was made for still gets an answer, a blend. And a
# question that changes a little changes its answer a little, so that a model can feel its way to a better one.

# %% [markdown]
# ## Recall

# %% nbgrader={"grade": false, "grade_id": "quiz-recall", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("recall")

# %% [markdown]
# ## The reference desk
#
# A reader walks up to a library's reference desk and asks:
#
# > *What is the water like where the river meets the sea?*
#
# The desk has a shelf of four books. Each has a spine, which promises what it is about, and a
# page, which says something. Three words come back in every lesson:
#
# - the **query** is what the reader asks;
# - a **key** is what a book's spine promises;
# - a **value** is what its pages say.
#
# No spine promises "where the river meets the sea", so a dictionary would send this reader away with
# a `KeyError`. A good librarian opens several books, reads longest in the one that fits best, and
# gives the reader a blend. So does this desk.
#
# To compare a question with a spine we write both as lists of numbers, called **vectors**. Ours have
# two entries: how much it is about *fresh water*, and how much about *salt water*. A negative entry
# means "the opposite of that". A page gives three numbers on the water of its landscape.
#
# | book | its key: fresh, salt | its value: salt (g/l), mud (g/l), warmth (°C) |
# |---|---|---|
# | rivers | (2, −1) | (1, 4, 12) |
# | marshes | (2, 1) | (10, 8, 16) |
# | seas | (−1, 2) | (35, 0, 10) |
# | deserts | (−2, −1) | (2, 0, 30) |
#
# The question is about salt water with some fresh water in it: its query is (1, 2). All these numbers are
# invented, and small, so that you can redo each step on paper. (`list[float]` after a colon is a type hint. It
# tells you what to expect.)

# %% nbgrader={"grade": false, "grade_id": "the-shelf", "locked": true, "schema_version": 3, "solution": false, "task": false}
BOOKS = ["rivers", "marshes", "seas", "deserts"]
KEYS: list[list[float]] = [[2, -1], [2, 1], [-1, 2], [-2, -1]]
PAGES: list[list[float]] = [[1, 4, 12], [10, 8, 16], [35, 0, 10], [2, 0, 30]]
QUERY: list[float] = [1, 2]

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Predict

# %% nbgrader={"grade": false, "grade_id": "quiz-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("predict")

# %% [markdown]
# ## By hand
#
# Take a pencil. These four steps are all that this lesson is about.
#
# **Step 1: a score for each book.** Multiply the query and the key entry by entry, and add up. This
# is their **dot product**, and here it is the book's **score**.
#
# **Step 2: make the scores positive.** Raise e = 2.718… to the power of each score.
#
# **Step 3: turn them into shares.** Divide each by their sum. A book's share is its **weight**.
#
# | book | dot product with (1, 2) | score | e to the score | weight: divided by 75.7020 |
# |---|---|---|---|---|
# | rivers | 1 · 2 + 2 · (−1) | 0 | 1.0000 | 0.0132 |
# | marshes | 1 · 2 + 2 · 1 | 4 | 54.5982 | 0.7212 |
# | seas | 1 · (−1) + 2 · 2 | 3 | 20.0855 | 0.2653 |
# | deserts | 1 · (−2) + 2 · (−1) | −4 | 0.0183 | 0.0002 |
# | *sum* | | | 75.7020 | 0.9999 (rounded) |
#
# **Step 4: blend the pages.** Multiply each page by its book's weight and add up. For the salt:
#
# 0.0132 · 1 + 0.7212 · 10 + 0.2653 · 35 + 0.0002 · 2 ≈ 16.5 grams a litre.
#
# (Prediction: C.) No page says 16.5. Do the mud and the warmth in the same way, and let Python check your pencil.

# %% nbgrader={"grade": false, "grade_id": "by-hand", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("powers of e", [round(math.exp(score), 4) for score in (0, 4, 3, -4)])
print("salt  ", round(0.0132 * 1 + 0.7212 * 10 + 0.2653 * 35 + 0.0002 * 2, 1))
print("mud   ", round(0.0132 * 4 + 0.7212 * 8 + 0.2653 * 0 + 0.0002 * 0, 1))
print("warmth", round(0.0132 * 12 + 0.7212 * 16 + 0.2653 * 10 + 0.0002 * 30, 1))

# %% [markdown]
# ## Shape ledger
#
# Every lesson keeps a ledger of its symbols. A size of (4, 2) stands for 4 lists of 2 numbers, (4,) for one list of 4. M is how many books there are,
# $d_k$ how wide a key is, $d_v$ how wide a value is.
#
# | symbol | what it is | in code | axes | size here |
# |---|---|---|---|---|
# | q | the query | `query` | ($d_k$,) | (2,) |
# | K | the keys, one a row | `keys` | (M, $d_k$) | (4, 2) |
# | V | the values, one a row | `values` | (M, $d_v$) | (4, 3) |
# | s | the scores | `scores` | (M,) | (4,) |
# | τ ("tau") | the temperature, which scores are divided by; 1 so far | `temperature` | a number | |
# | a | the weights, which add up to 1 | `weights` | (M,) | (4,) |
# | z | the answer | `output` | ($d_v$,) | (3,) |
#
# The answer is as wide as a value, $d_v$, and has nothing of the keys in it: a key decides *how much* of
# its value is read, and never what is said.

# %% [markdown]
# ## See it
#
# Each spine is an arrow, and so is the question, which turns. The smaller the angle between the two, the more of the
# book's page pours into the answer. It ends at our question, (1, 2).

# %% nbgrader={"grade": false, "grade_id": "see-the-shelf", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.soft_lookup.shelf()

# %% [markdown]
# The shares fall off in the order of the angles: *marshes* is 37° away from our question, *seas* 53°,
# *rivers* 90°, *deserts* 143°. *Deserts* points away from the question and its score is negative, yet
# its weight is 0.0002 and not 0. Every book on the shelf has a say; two of them whisper.

# %% [markdown]
# ## A dictionary, written as a sum
#
# Now build it. Here is the dictionary's lookup, written in a way that you may not have seen:
#
# $$z = \sum_{m=1}^{M} \mathbb{1}[k_m = q] \; v_m$$
#
# Go through all M books; multiply each value by 1 if its key equals the query and by 0 if not; add up. The 0/1
# factor $\mathbb{1}[\ldots]$ is called an **indicator**. Where one key matches, the sum is that key's value, as in
# a dictionary. Where several match, the sum adds their values.
#
# The loop no longer asks *which* book; it asks *how much* of each. In your calculation the weights were the
# shares 0.0132, 0.7212, 0.2653, 0.0002.

# %% [markdown]
# ### Exercise: `hard_lookup`
#
# difficulty ●○○ · 5–10 min · 1 point
#
# Write the sum. A key may be anything that Python can compare with `==`: a word, a number, a list.
# A value is a list of $d_v$ numbers, and so is the answer. If no key equals the query, as on an empty
# shelf, raise `KeyError`. Leave the inputs as they are.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-hard-lookup", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# There are two loops. One finds each book's weight, 0 or 1. The other computes a sum for each of the $d_v$ entries
# of a value.
#
# <details><summary>Hint 2: the shapes</summary>
#
# M weights and M values of $d_v$ entries give $d_v$ numbers. There may be no values at all, so ask about matches
# first.
#
# <details><summary>Hint 3: an outline</summary>
#
# - Make a list with a 1 for every key that equals the query and a 0 for every other.
# - If there is no 1 in it, raise `KeyError` with the query.
# - For each position j in a value: go through weights and values side by side, multiply the weight
#   with the value's entry j, add up.
# - Return the list of these sums.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "hard_lookup", "locked": false, "schema_version": 3, "solution": true, "task": false}
def hard_lookup(query: object, keys: list, values: list[list[float]]) -> list[float]:
    """Look a key up by equality, as a sum with 0/1 weights.

    Args:
        query: what is asked for; anything that can be compared with ==.
        keys: M of them.
        values: (M, d_v), the value of each key.
    Returns:
        (d_v,), the sum of the values whose key equals the query.
    Raises:
        KeyError: no key equals the query.
    """
    ### BEGIN SOLUTION
    weights = [float(key == query) for key in keys]
    if not any(weights):
        raise KeyError(query)
    width = len(values[0])
    return [
        sum(weight * value[j] for weight, value in zip(weights, values, strict=True))
        for j in range(width)
    ]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "hard_lookup-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(hard_lookup)

# %% [markdown]
# Your lookup finds a book by its title, or by its whole key, and nothing in between:

# %% nbgrader={"grade": false, "grade_id": "use-hard-lookup", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("seas:       ", hard_lookup("seas", BOOKS, PAGES))
print("key (-1, 2):", hard_lookup([-1, 2], KEYS, PAGES))
try:
    hard_lookup(QUERY, KEYS, PAGES)
except KeyError as error:
    print("key (1, 2):  KeyError", error)

# %% [markdown]
# ## Why 0 and 1 cannot learn
#
# A model can learn by nudging. It changes one of its numbers a little, sees whether the answer got
# better, and goes on in the direction that helped. For that it needs a **slope**: the change
# of the answer divided by the change of the number, when that change is tiny. A query has a slope for each of its
# entries; together they are the **gradient**. An answer that
# has a slope everywhere is called **differentiable**. (Guessing needs no slope: draw queries at random
# and keep the best. This course follows slopes.)
#
# Think of the film at the top: a question turned from *rivers* past *marshes* to *seas*. With the closest key, the answer
# is a staircase, flat on every step and without a slope at its two edges. With exact match it is worse: the answer is
# there at three points, and everywhere else it is a `KeyError`. A query that is almost right looks the same as one that
# is altogether wrong. The indicator has **no useful gradient**. A model that nudges its query a little sees no change,
# and stays where it is. The soft answer has a slope everywhere.
#
# Ask the desk yourself. Drag the black query, or reach it with Tab and move it by arrow keys, slowly
# from *marshes* to *seas*. Open *Weights and slopes*. Watch the two columns of numbers, and the orange arrow: it points
# to where the soft answer gets saltier fastest. Then slide τ, which every score is divided by, down to 0.05 and
# do it again.

# %% nbgrader={"grade": false, "grade_id": "touch-soft-lookup", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.live.SoftLookup(
    QUERY,
    KEYS,
    PAGES,
    BOOKS,
    axes=["fresh water", "salt water"],
    entries=["salt (g/l)", "mud (g/l)", "warmth (°C)"],
)

# %% [markdown]
# On the way, the hard answer stayed 10 and then jumped to 35, with both slopes 0 on either side. From
# key to key the soft answer went from 9.1 to 34.6 without a jump, and the orange arrow was there at
# every step. At τ = 0.05 the soft column shows nearly what the hard one shows, and its slopes are nearly
# 0 as well, except in a narrow strip between the two books: a slope that exists can be too small to use.

# %% [markdown]
# ## Similarity by dot product
#
# The indicator asks "equal, or not?". A soft lookup asks "how similar?", and your step 1 answered with the dot
# product:
#
# $$s_m = q \cdot k_m = \sum_{i=1}^{d_k} q_i \, k_{m,i}$$
#
# Geometry says what this score measures:
#
# $$q \cdot k = |q| \; |k| \; \cos(\text{angle between } q \text{ and } k)$$
#
# The two lengths are multiplied with the cosine of the angle between them. The cosine is 1 where two arrows have the same direction, 0 at a right angle, −1 where they are opposed.
#
# All keys on our shelf have the same length, √(2² + 1²) = √5, so the angle alone decides who scores best, and no key
# scores better for a query than the key that equals it. Where lengths differ, length works as loudness, for and
# against. A key of (6, 3) has the direction of *marshes* and three times its length. It scores 12 with our query; the
# query itself scores 5. And beyond a right angle the cosine is negative, and a longer key scores lower.

# %% [markdown]
# ## Softmax: scores become shares
#
# Scores can be anything, negative too. Weights for an average have to be shares: none below 0, and
# 1 in sum. Numbers like that are called a **distribution**. And a higher score should get a larger
# share. **Softmax** does all three:
#
# $$a_m = \frac{e^{s_m}}{\sum_{j=1}^{M} e^{s_j}}$$
#
# A power of e is positive whatever the score, so no weight is negative. Dividing by the sum makes the weights add
# up to 1. And the order stays: a key that scores 1 more than another gets 2.718 times its weight, wherever on the
# scale the two are.
#
# Why e, and not 2, or squares? The base is a matter of units: 2 to the s is e to the 0.693 s, so powers
# of 2 are softmax with all scores multiplied by 0.693. e has the simplest slope: that of e to the s is
# e to the s. Squares are another matter. They make −4 as good as 4, so the book that fits worst gets as much
# as the one that fits best:

# %% nbgrader={"grade": false, "grade_id": "see-why-e", "locked": true, "schema_version": 3, "solution": false, "task": false}
scores_by_hand = [0, 4, 3, -4]
for name, numbers in {
    "powers of e": [math.exp(score) for score in scores_by_hand],
    "powers of 2": [2**score for score in scores_by_hand],
    "e to 0.693 s": [math.exp(math.log(2) * score) for score in scores_by_hand],
    "squares": [score**2 for score in scores_by_hand],
}.items():
    print(f"{name:12}", [round(number / sum(numbers), 4) for number in numbers])

# %% [markdown]
# ### Why subtracting the maximum is safe
#
# The formula has a flaw on a computer. Python's floats end near 1.8 · 10³⁰⁸, and powers of e get there soon. They
# also run out at the other end, where they become 0.

# %% nbgrader={"grade": false, "grade_id": "see-overflow", "locked": true, "schema_version": 3, "solution": false, "task": false}
for score in (4, 709, 710, -745, -746):
    try:
        print(f"e to the {score:4} = {math.exp(score):.3g}")
    except OverflowError as error:
        print(f"e to the {score:4}   OverflowError: {error}")

# %% [markdown]
# At 710 Python gives up. At −746 it returns 0, and if all scores are as low as that, the sum is 0 and
# the division fails. The way round is to subtract the same number c from every score:
#
# $$\frac{e^{s_m - c}}{\sum_j e^{s_j - c}} = \frac{e^{-c} \, e^{s_m}}{e^{-c} \sum_j e^{s_j}} = \frac{e^{s_m}}{\sum_j e^{s_j}}$$
#
# The factor cancels. The weights depend on the *differences* between scores and on nothing else. So
# choose c = the largest score. Then the largest exponent is 0 and its power is 1. Nothing overflows,
# and the sum is at least 1, so nothing is divided by 0: such a softmax is **stable**.
#
# One score has a meaning of its own: −∞, which Python writes `-math.inf`. It says *this book may not
# be opened at all*, and its weight has to be exactly 0. From lesson 03 on we hide keys with it. If
# every book is forbidden, that is an error here.

# %% [markdown]
# ### Exercise: `softmax`
#
# difficulty ●●○ · 10–15 min · 2 points
#
# Write softmax for a list of M scores. It has to be right near ±10,000 too, so subtract the maximum.
# A score of −∞ gets a weight of exactly 0. Raise `ValueError` if there are no scores, or if all of
# them are −∞.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-softmax", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Find the best score first. What counts is how far each score lies below it.
#
# <details><summary>Hint 2: the shapes</summary>
#
# M scores become M powers, one number that is their sum, and M weights. `math.exp(-math.inf)` is 0.0, so −∞ needs
# no case of its own, unless the best score is −∞ too: −∞ − (−∞) is not a number.
#
# <details><summary>Hint 3: an outline</summary>
#
# - If the list is empty, raise `ValueError` and say why.
# - Take the maximum of the scores. If it is −∞, raise `ValueError` and say why.
# - For each score, raise e to what is left after taking the maximum away.
# - Add these powers up, once, and divide each of them by the sum.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "softmax", "locked": false, "schema_version": 3, "solution": true, "task": false}
def softmax(scores: list[float]) -> list[float]:
    """Turn scores into shares that add up to 1.

    Args:
        scores: (M,), each finite or -inf.
    Returns:
        (M,) weights; exactly 0 where the score is -inf.
    Raises:
        ValueError: there are no scores, or all are -inf.
    """
    ### BEGIN SOLUTION
    if not scores:
        raise ValueError("softmax needs at least one score")
    largest = max(scores)
    if largest == -math.inf:
        raise ValueError("all scores are -inf, so there is nothing to share")
    powers = [math.exp(score - largest) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "softmax-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(softmax)

# %% [markdown]
# ## The soft lookup
#
# All parts are there. Put softmax where the indicator was:
#
# $$z = \sum_{m=1}^{M} a_m \, v_m \qquad a = \operatorname{softmax}\!\left(\frac{q \cdot k_1}{\tau}, \ldots, \frac{q \cdot k_M}{\tau}\right)$$
#
# τ is the **temperature**, a number above 0. Unless you say otherwise it is 1, which changes nothing.

# %% [markdown]
# ### Exercise: `soft_lookup`
#
# difficulty ●●○ · 10–15 min · 3 points
#
# Write the formula. Use your own `softmax`, so finish that one first: scores may be in the thousands. Return two things, in this
# order: the answer ($d_v$ numbers) and the weights (M numbers). Raise `ValueError` for
# what cannot work: a temperature of 0 or less (below 0 the worst fit would win); a key that is not as wide as the
# query; a value that is not as wide as the others; not as many values as keys. A good message names both sizes;
# the check looks at the kind of error alone.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-soft-lookup", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# It is your pencil calculation: score, share, blend. The blend is the last part of your
# `hard_lookup`, with other weights.
#
# <details><summary>Hint 2: the shapes</summary>
#
# ($d_k$,) with (M, $d_k$) gives M scores and M weights. (M,) with (M, $d_v$) gives $d_v$ numbers.
# `zip` stops at the shorter list without an error, so compare lengths before, or use
# `zip(…, strict=True)`, which raises `ValueError`.
#
# <details><summary>Hint 3: an outline</summary>
#
# - Check the temperature. Check that there are as many values as keys, that every key is as wide as
#   the query, and that every value is as wide as the first.
# - For each key: add up the products of its entries with the query's, and divide by the temperature.
# - Hand the list of scores to `softmax`.
# - For each position j in a value: add up weight times entry j over all values.
# - Return the two lists, the answer first.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "soft_lookup", "locked": false, "schema_version": 3, "solution": true, "task": false}
def soft_lookup(
    query: list[float],
    keys: list[list[float]],
    values: list[list[float]],
    temperature: float = 1.0,
) -> tuple[list[float], list[float]]:
    """Answer a query with the average of all values, weighted by how well their keys fit.

    Args:
        query: (d_k,).
        keys: (M, d_k).
        values: (M, d_v).
        temperature: what scores are divided by, above 0.
    Returns:
        output: (d_v,), the weighted average.
        weights: (M,), which add up to 1.
    Raises:
        ValueError: the temperature is 0 or less, or the sizes do not fit each other.
    """
    ### BEGIN SOLUTION
    if temperature <= 0:
        raise ValueError(f"the temperature has to be above 0 and is {temperature}")
    if len(keys) != len(values):
        raise ValueError(f"there are {len(keys)} keys and {len(values)} values")
    for m, (key, value) in enumerate(zip(keys, values, strict=True)):
        if len(key) != len(query):
            raise ValueError(f"key {m} has {len(key)} entries, the query {len(query)}")
        if len(value) != len(values[0]):
            raise ValueError(f"value {m} has {len(value)} entries, value 0 {len(values[0])}")
    scores = [sum(q * k for q, k in zip(query, key, strict=True)) / temperature for key in keys]
    weights = softmax(scores)
    output = [
        sum(weight * value[j] for weight, value in zip(weights, values, strict=True))
        for j in range(len(values[0]))
    ]
    return output, weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "soft_lookup-check", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
check(soft_lookup)

# %% [markdown]
# Now the desk can answer its reader:

# %% nbgrader={"grade": false, "grade_id": "use-soft-lookup", "locked": true, "schema_version": 3, "solution": false, "task": false}
answer, weights = soft_lookup(QUERY, KEYS, PAGES)
print("salt, mud, warmth:", [round(number, 2) for number in answer])
print("weights:          ", [round(weight, 4) for weight in weights])

# %% [markdown]
# 16.51 grams of salt a litre: your pencil's number. The answer is a **weighted average**. Rounding aside, it is never
# saltier than the saltiest page or fresher than the freshest.
#
# ### Temperature
#
# A small τ makes the differences between scores large, so that the best book takes nearly everything. A large τ
# makes them small, so that all books get nearly the same. The figure asks our question at 137 temperatures.

# %% nbgrader={"grade": false, "grade_id": "see-temperature", "locked": true, "schema_version": 3, "solution": false, "task": false}
temperatures = [10 ** (step / 32) for step in range(-40, 97)]
looked_up = [soft_lookup(QUERY, KEYS, PAGES, temperature) for temperature in temperatures]
figures.soft_lookup.temperature(
    temperatures,
    [weights for _, weights in looked_up],
    [output for output, _ in looked_up],
    PAGES,
    BOOKS,
)

# %% [markdown]
# At the cold end *marshes* has nearly all the weight, and the answer is its page: 10 g/l. At the hot
# end each book has about a quarter, and the answer is close to the plain mean of the pages, 12 g/l.
# Between the two it does not go straight from 10 to 12. It rises to nearly 18 first, as
# *seas*, with its 35, gains weight sooner than *rivers* and *deserts* do.
#
# So the cold end chooses the best score. Is that the exact match? On this shelf it is, for a query that equals a key, because the keys
# are all different and of one length. Ask with the key of *seas* itself, and measure:

# %% nbgrader={"grade": false, "grade_id": "measure-limits", "locked": true, "schema_version": 3, "solution": false, "task": false}
exact = hard_lookup(KEYS[2], KEYS, PAGES)
mean = [sum(column) / len(PAGES) for column in zip(*PAGES, strict=True)]
print("temperature   largest difference from exact match   from the plain mean")
for temperature in (0.1, 0.3, 1, 3, 10, 100, 1000):
    output = soft_lookup(KEYS[2], KEYS, PAGES, temperature)[0]
    from_exact = max(abs(x - y) for x, y in zip(output, exact, strict=True))
    from_mean = max(abs(x - y) for x, y in zip(output, mean, strict=True))
    print(f"{temperature:11}   {from_exact:34.3f}   {from_mean:19.3f}")

# %% [markdown]
# Down the table the first distance grows from 0.000 and the second shrinks towards 0. **The best score
# alone is the cold limit of the soft lookup, and the plain mean is its hot limit.**
#
# ### What the slope is good for
#
# The desk says 16.51 g/l. Suppose that someone measured the water and found 25. Can the desk learn a
# better query? Its error is the squared difference from 25. The cell nudges each entry of the query, measures the
# slope of the error, and takes a small step downhill. The closest-key lookup gets the same chance.

# %% nbgrader={"grade": false, "grade_id": "learn-a-query", "locked": true, "schema_version": 3, "solution": false, "task": false}
MEASURED = 25
NUDGE = 0.0001
STEP = 0.001


def soft_salt(query: list[float]) -> float:
    return soft_lookup(query, KEYS, PAGES)[0][0]


def closest_salt(query: list[float]) -> float:
    x, y = query
    best = max(range(4), key=lambda m: x * KEYS[m][0] + y * KEYS[m][1])
    return PAGES[best][0]


for name, salt in (("soft", soft_salt), ("closest key", closest_salt)):
    x, y = QUERY
    path = [salt([x, y])]
    for _ in range(6):
        error_here = (salt([x, y]) - MEASURED) ** 2
        slope_x = ((salt([x + NUDGE, y]) - MEASURED) ** 2 - error_here) / NUDGE
        slope_y = ((salt([x, y + NUDGE]) - MEASURED) ** 2 - error_here) / NUDGE
        x, y = x - STEP * slope_x, y - STEP * slope_y
        path.append(salt([x, y]))
    print(f"{name:11} salt {[round(s, 1) for s in path]}, query ({x:.2f}, {y:.2f})")

# %% [markdown]
# In six steps the soft desk moved its query from (1, 2) to about (0.57, 2.15), towards *seas*, and
# answers 25.0. The closest-key desk stands where it stood: both its slopes are 0. Training a model by
# slopes is this loop with more numbers. From lesson 05 on PyTorch computes all the slopes at once.

# %% [markdown]
# ## Break it on purpose
#
# Two mistakes that are easily made. The first crashes; the second runs, which is worse. Read each
# function and say what is wrong with it before you run the cell.


# %% nbgrader={"grade": false, "grade_id": "break-overflow", "locked": true, "schema_version": 3, "solution": false, "task": false}
def softmax_without_shift(scores: list[float]) -> list[float]:
    raised = list(map(math.exp, scores))
    return [number / sum(raised) for number in raised]


check(softmax_without_shift, name="softmax")

# %% [markdown]
# The formula is right: open *What was tried* on the card, and its first line holds. Large scores
# make `math.exp` overflow, very negative ones make the sum 0. Plain Python raises an
# `OverflowError` or a `ZeroDivisionError`; NumPy and PyTorch give NaN, "not a number", which then spreads.


# %% nbgrader={"grade": false, "grade_id": "break-temperature", "locked": true, "schema_version": 3, "solution": false, "task": false}
def hot_and_cold_swapped(
    query: list[float],
    keys: list[list[float]],
    values: list[list[float]],
    temperature: float = 1.0,
) -> tuple[list[float], list[float]]:
    return soft_lookup([temperature * entry for entry in query], keys, values)


check(hot_and_cold_swapped, name="soft_lookup")

# %% [markdown]
# Here scores are *multiplied* by the temperature. Nothing crashes, the weights add up to 1, and at
# τ = 1 the answer is right to the last digit. The symptom shows only when you turn the knob: a
# colder desk gets vaguer. Shapes and sums would not have shown it; comparing numbers did.

# %% [markdown]
# ## Cost
#
# Count first. A dictionary finds a key in about the same time however many there are. The soft lookup
# reads the whole shelf: M · $d_k$ products for the scores, M divisions by τ, M powers and M divisions for softmax,
# and M · $d_v$ products for the answer. Every part has a factor M, so twice the books should take about twice the
# time.
#
# Then measure, and look at the ratios.

# %% nbgrader={"grade": false, "grade_id": "measure-cost", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
import random
import timeit


def milliseconds(line: str) -> float:
    """How long a line of code takes: the shortest of five runs."""
    return 1000 * min(timeit.repeat(line, number=1, globals=globals()))


rng = random.Random(1)
before = 0.0
for m in (500, 1000, 2000, 4000):
    keys = [[rng.gauss(0, 1) for _ in range(2)] for _ in range(m)]
    values = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(m)]
    table = {tuple(key): value for key, value in zip(keys, values, strict=True)}
    soft = milliseconds("soft_lookup(keys[0], keys, values)")
    hard = milliseconds("table[tuple(keys[0])]")
    ratio = f"{soft / before:.1f} times the line above" if before else ""
    print(f"M = {m:4}: dict {hard:.4f} ms, soft lookup {soft:6.2f} ms  {ratio}")
    before = soft

# %% [markdown]
# The ratios lie near 2, as counted, and the dictionary's time stays the same. If yours lie near 4, your
# softmax looks for the largest score, or adds up the powers, anew for each score: do it once, before the loop.
#
# In a text each of N words is a reader, and each is a book as well. That makes N · N comparisons, and lesson 11 is
# about that number.

# %% [markdown]
# ## Recall, once more

# %% nbgrader={"grade": false, "grade_id": "quiz-check-yourself", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("check yourself")

# %% [markdown]
# ## Take away
#
# 1. Attention rewrites each word in its context, by one look at all words. A look is a lookup: the sum
#    of all values, each times its key's weight. A dictionary's weights are 0 and 1.
#    ([A dictionary, written as a sum](#A-dictionary,-written-as-a-sum))
# 2. A 0/1 weight has no useful gradient: its slope is 0 wherever it has one. A soft weight has a slope
#    everywhere, though floats may be too coarse to show it, and answers a question that no key was made
#    for with a blend.
#    ([Why 0 and 1 cannot learn](#Why-0-and-1-cannot-learn))
# 3. The dot product scores how well a key fits a query: it grows as their directions agree, and their
#    lengths multiply it. ([Similarity by dot product](#Similarity-by-dot-product))
# 4. Softmax turns scores into a distribution. It depends on differences alone, so that subtracting
#    the maximum is safe. ([Softmax: scores become shares](#Softmax:-scores-become-shares))
# 5. The answer is a weighted average of all values. Temperature steers it: towards 0 the best score
#    alone (equal ones share), towards ∞ the plain mean. ([The soft lookup](#The-soft-lookup))
#
# The [glossary](../glossary.md) gathers the words of all lessons.
#
# **Sources**
#
# - Attention as a weighted sum of values, with weights from a query and keys: Vaswani et al. 2017,
#   *Attention Is All You Need*, section 3.2; path lengths of recurrent networks, convolutions and
#   attention: section 4, table 1. <https://arxiv.org/abs/1706.03762>
# - A soft alignment, through which a gradient passes: Bahdanau, Cho and Bengio 2014,
#   *Neural Machine Translation by Jointly Learning to Align and Translate*, section 3.1.
#   <https://arxiv.org/abs/1409.0473>
# - Temperature in a softmax: Hinton, Vinyals and Dean 2015, *Distilling the Knowledge in a Neural
#   Network*, section 2. <https://arxiv.org/abs/1503.02531>
#
# **To carry over.** Today we wrote every query, key and value ourselves. In a sentence there are
# words and nothing else. Where could a word's query, its key and its value come from, and why would
# it need all three?

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
