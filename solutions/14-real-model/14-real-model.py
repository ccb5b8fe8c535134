# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 14 · Your function in a language model
#
# Until now a check told you whether your attention was right. Today a language model does, by writing with it. Hugging Face's library
# *transformers* runs most published models, and lets you register an attention function of your own. Then you look inside:
# you remove a head, and see what the model can no longer say.
#
# | | |
# |---|---|
# | **You will be able to** | give a model of the library *transformers* your own attention, masks and cache included; name the trap in which it gets no mask; score heads by where they look, remove them, and say which of the two tells what a head does |
# | **Minutes** | about 90, and 10 more for the optional part |
# | **You need** | 05 for masks, 06 for causal ones and padding, 07 for heads, 11 for the cache, 12 for grouped heads |
# | **Runs on** | CPU, under a minute; needs no network, and asks for it only if you name a published model |
# | **You may stop** | before *Look inside* |
# | **Points** | 7, in three exercises |
#
# The running sentence is *the king behind the dogs that the boy sees* …, and a verb is still to come.

# %% nbgrader={"grade": false, "grade_id": "setup", "locked": true, "schema_version": 3, "solution": false, "task": false}
import logging
import random
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlab import begin, check, figures, quiz  # is it missing? open it by: attnlab lab

begin("14-real-model")

# %% [markdown]
# What if the last layer's heads gave all words the same weight? A slice of a mix is as wide as its word's weight, on average over
# these heads.

# %% nbgrader={"grade": false, "grade_id": "opening", "locked": true, "schema_version": 3, "solution": false, "task": false}
figures.opening()

# %% [markdown]
# ## It writes
#
# The model is the course's own small one of lessons 01 and 07: two layers of four heads, 148 words, trained on sentences that a grammar
# wrote. Its file has GPT-2's layout, so the library takes it for a GPT-2. `from_pretrained` loads it from the folder of the course,
# and `generate` writes with it: it reads the text, takes the likeliest next word, appends it, and goes on up to the full stop.

# %% nbgrader={"grade": false, "grade_id": "load", "locked": true, "schema_version": 3, "solution": false, "task": false}
print("Loading the library takes some seconds …", flush=True)
import transformers
from transformers import AttentionInterface, AttentionMaskInterface, AutoModelForCausalLM
from transformers.masking_utils import sdpa_mask

from attnlab import small

transformers.logging.set_verbosity_error()  # its advice would stand between your lines
transformers.logging.disable_progress_bar()
logging.getLogger("huggingface_hub").setLevel(logging.CRITICAL)


def opened(folder: Any, attention: str = "sdpa") -> Any:
    """A model from a folder or by its published name, which attends by the function of that name."""
    return AutoModelForCausalLM.from_pretrained(
        folder, attn_implementation=attention, dtype=torch.float32
    )


def written(model: Any, text: str) -> str:
    """What the model writes behind a text of the small model's words, up to the full stop."""
    ids = small.numbered(["<s>", *text.split()])
    end = small.words.index(".")
    longer = model.generate(
        ids,
        attention_mask=ids.new_ones(ids.shape),
        max_new_tokens=20,
        do_sample=False,
        eos_token_id=end,
    )
    return " ".join(small.words[each] for each in longer[0, ids.shape[1] :])


PROMPTS = [
    "the king behind the dogs that the boy sees",
    "the dogs near the boy",
    "( red [ blue ]",
    "we walked past the river to the bank , which was",
]
theirs = opened(small.HERE)  # "sdpa": PyTorch's own attention
for prompt in PROMPTS:
    print(f"{prompt} … {written(theirs, prompt)}")

# %% [markdown]
# *The king … waits*, *the dogs … fall*: other nouns stand between, and some would ask for the verb's other form.

# %% [markdown]
# ## Recall

# %% nbgrader={"grade": false, "grade_id": "quiz-recall", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("recall")

# %% [markdown] nbgrader={"grade": false, "grade_id": "predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
# ## Predict

# %% nbgrader={"grade": false, "grade_id": "quiz-predict", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("predict")

# %% [markdown]
# ## What the library hands over
#
# In each layer the library makes queries, keys and values, and then calls *the attention function of the name that you chose*. What does it
# give? Register a spy: it prints what it gets in the first layer and lets PyTorch's own [backend](../glossary.md#backend) do the work. Two lines register it: one for the function, one for a *mask function*, which makes the masks.
#
# `batch` puts texts of different lengths side by side, filled up **on the left**, so that all end at the same place, where the next word comes.
# Each word keeps the position that it would have alone.


# %% nbgrader={"grade": false, "grade_id": "spy", "locked": true, "schema_version": 3, "solution": false, "task": false}
def batch(*texts: str) -> dict[str, Tensor]:
    """Texts side by side, filled up on the left: words, which are real (1), positions, (B, N)."""
    rows = [small.numbered(["<s>", *text.split()])[0] for text in texts]
    room = [(max(map(len, rows)) - len(row), 0) for row in rows]
    ids = torch.stack([F.pad(row, left) for row, left in zip(rows, room, strict=True)])
    real = torch.stack(
        [F.pad(row.new_ones(len(row)), left) for row, left in zip(rows, room, strict=True)]
    )
    positions = (real.cumsum(dim=-1) - 1).clamp(min=0)
    return {"input_ids": ids, "attention_mask": real, "position_ids": positions}


def spy(module: Any, query: Tensor, key: Tensor, *given: Any, **others: Any) -> Any:
    """Says what it is given in the first layer, and lets PyTorch's backend do the work."""
    if module.layer_idx == 0:
        mask = None if given[1] is None else (given[1].dtype, *given[1].shape)
        print(f"query {tuple(query.shape)}  key, value {tuple(key.shape)}  mask {mask}")
        print(f"   module.is_causal {module.is_causal}, scaling {others['scaling']}, {[*others]}")
    return AttentionInterface()["sdpa"](module, query, key, *given, **others)


AttentionInterface.register("spy", spy)
AttentionMaskInterface.register("spy", sdpa_mask)
spied = opened(small.HERE, "spy")
with torch.no_grad():
    print("one sentence")
    first = spied(**batch("the dogs that"))
    print("one word more, with the cache")
    spied(small.numbered(["the"]), past_key_values=first.past_key_values)
    print("a batch of two")
    spied(**batch("the dogs that", "the dogs"))


# %% [markdown]
# | argument | what comes | what it means |
# |---|---|---|
# | `module` | the layer's module | ask it `module.is_causal` |
# | `query` | (B, H, N, d) | cut into heads already; d is the width of *one head*, 16 here |
# | `key`, `value` | (B, G, M, d) | M counts the cache as well; G is H here, and less in models with grouped heads |
# | `attention_mask` | None, or something that broadcasts to (B, H, N, M) | bool: True = **attend**; float: **added** to the scores |
# | `scaling` | a number, or None | what scores are multiplied by; None means 1/√d |
# | the rest | dropout, the cache, positions … | nothing that GPT-2 or a Llama needs |
#
# The library skips the mask when it can. You get None for a sentence alone (N = M), and for one new word after a cache
# (N = 1), with the usual cache and no sliding window. Then `module.is_causal` says what is meant. In the batch padding
# has to be hidden, so the library makes a mask, (B, 1, N, M) bool. It holds *everything*, the future too. So **if a
# mask comes, obey it alone; ask the module only when it is None**.
#
# ## By hand: the last N of M
#
# Without a mask function you get None for every N and M. Take N = 2 queries and M = 5 keys: which keys are open? The queries are the *last* two tokens of five, numbers 3 and 4
# if you count from 0:
#
# | | key 0 | key 1 | key 2 | key 3 | key 4 |
# |---|---|---|---|---|---|
# | query 0, which is token 3 | open | open | open | open | blocked |
# | query 1, which is token 4 | open | open | open | open | open |
#
# This is aligned **bottom-right**: the corner of the triangle is at the last query and the last key. In lesson 06, where N = M, you could not see the difference. PyTorch's
# `is_causal=True` aligns top-left: query 0 sees key 0 alone. With a cache that is wrong.
#
# Your rule should also hold for M < N: a query before all keys gets 0.
#
# [**Grouped heads**](../glossary.md#grouped-query-attention) (lesson 12): H = 6 heads may share G = 2 groups of keys and values. Heads 0, 1, 2 read group 0, heads 3, 4, 5 read group 1. G has to divide H.

# %% [markdown]
# ### A function with eight arguments
#
# ### Exercise: `attention_forward`
#
# difficulty ●●● · 20–25 min · 4 points
#
# Write the function that the library will call, by the table above. `out` goes back as **(B, N, H, d)**, tokens first, because the library joins the heads right
# after; the weights stay (B, H, N, M). If G does not divide H, raise `ValueError`. A row may have no key left, by a
# mask of any kind or because M < N. It gives 0, and no NaN comes back in the slopes. `scaling` is taken as it is, 0 too. PyTorch's fused functions are off limits.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-attention_forward", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# It is the block of lesson 06, with three questions before it. Do heads share keys? Then give each head its own copy. Which scale? And
# what is blocked: the mask's False, the mask's −∞, or the future? In each case blocked scores become −∞. After that one line finds the rows
# where nothing is left.
#
# <details><summary>Hint 2: the shapes</summary>
#
# (B, G, M, d) becomes (B, H, M, d) by `repeat_interleave(…, dim=1)`. Scores are (B, H, N, M), and every mask that comes broadcasts to that. The causal one is
# (N, M): `triu` of a table of ones, and its `diagonal` depends on M − N. Which diagonal blocks nothing for N = 1?
#
# A row of −∞ gives NaN in softmax, and hiding the NaN afterwards leaves it in the slopes. Put some number in such a row first, then softmax, then 0.
#
# <details><summary>Hint 3: an outline</summary>
#
# 1. Sizes from the shapes; refuse if `H % G`.
# 2. Repeat the groups of keys and of values.
# 3. Scores, times the scaling. Compare with `is None`: 0 is a number.
# 4. No mask: if the module is causal, fill in the future. A bool mask: fill in where it is False. A float mask: add it.
# 5. Rows that are −∞ all along: fill in 0, softmax, fill in 0 again.
# 6. Weights times values, axes 1 and 2 exchanged; and the weights.
#
# </details>
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "attention_forward", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_forward(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **kwargs: Any,
) -> tuple[Tensor, Tensor]:
    """Attention as the library calls it.

    Args:
        module: says whether it is_causal.
        query: (B, H, N, d).
        key, value: (B, G, M, d); head h reads group h // (H / G).
        attention_mask: broadcasts to (B, H, N, M). bool, True = attend; or float, added. None:
            causal, aligned bottom-right, if module.is_causal, else open.
        scaling: of the scores; None is 1/√d.
        dropout: 0 here, as nothing is trained. kwargs: ignored.
    Returns:
        out (B, N, H, d) and weights (B, H, N, M), dtype of query, at scores in the thousands too;
            both 0 in a row that has no key left.
    Raises:
        ValueError: G does not divide H. (Other widths that do not fit: PyTorch's own error.)
    """
    ### BEGIN SOLUTION
    (_, heads, n, d), (_, groups, m, _) = query.shape, key.shape
    if heads % groups:
        raise ValueError(f"{groups} groups of keys cannot be shared by {heads} heads")
    keys, values = (part.repeat_interleave(heads // groups, dim=1) for part in (key, value))
    scores = query @ keys.mT * (d**-0.5 if scaling is None else scaling)
    if attention_mask is None:
        if module.is_causal:
            future = torch.ones(n, m, dtype=torch.bool, device=query.device).triu(m - n + 1)
            scores = scores.masked_fill(future, -torch.inf)
    elif attention_mask.dtype == torch.bool:
        scores = scores.masked_fill(~attention_mask, -torch.inf)
    else:
        scores = scores + attention_mask
    nothing = (scores == -torch.inf).all(dim=-1, keepdim=True)
    weights = scores.masked_fill(nothing, 0.0).softmax(dim=-1).masked_fill(nothing, 0.0)
    return (weights @ values).transpose(1, 2), weights
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "attention_forward-check", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
check(attention_forward)

# %% [markdown]
# ## The model writes with it
#
# Register your function as *yours*, with the library's own mask function beside it, and let both models read the same texts. `counted` stands in between to count calls. You compare the [**logits**](../glossary.md#logits), the scores of all 148 words, at every real token. How far are yours from PyTorch's? And wherever PyTorch's best word
# leads by 0.001 or more, is yours the same one?

# %% nbgrader={"grade": false, "grade_id": "yours", "locked": true, "schema_version": 3, "solution": false, "task": false}
calls = 0


def counted(*given: Any, **others: Any) -> Any:
    """Your function, counted."""
    global calls
    calls += 1
    return attention_forward(*given, **others)


AttentionInterface.register("yours", counted)
AttentionMaskInterface.register("yours", sdpa_mask)
mine = opened(small.HERE, "yours")


def apart(one: Tensor, other: Tensor, real: Tensor) -> str:
    """How far logits (B, N, V) are from others at the real tokens, and whether the best agree."""
    one, other = one[real.bool()], other[real.bool()]
    best = other.topk(2).values
    clear = best[:, 0] - best[:, 1] >= 1e-3
    same = (one.argmax(dim=-1) == other.argmax(dim=-1))[clear]
    near = (one - other).abs().max() < 1e-4
    return f"within 1e-4: {near}; same word: {same.sum()} of {len(same)}"


LONG, SHORT = "the king behind the dogs that the boy sees", "the dogs"
with torch.no_grad():
    for name, given in (("alone", batch(LONG)), ("padded batch", batch(LONG, SHORT))):
        real = given["attention_mask"]
        print(f"{name:15}{apart(mine(**given).logits, theirs(**given).logits, real)}")


# %% nbgrader={"grade": false, "grade_id": "writes", "locked": true, "schema_version": 3, "solution": false, "task": false}
calls = 0
for prompt in PROMPTS:
    print(f"{prompt} … {written(mine, prompt)}")
print(f"attention_forward was called {calls} times.")
print(
    "The same as PyTorch's:", all(written(mine, text) == written(theirs, text) for text in PROMPTS)
)

# %% [markdown]
# The first lines again. Each word went through your function, once in each of two layers. After the prompt you get one query at a time.
#
# Now a text of your own: change it. `small.words` has the words.

# %%
figures.opening(attention_forward, "the queen that the dogs see")

# %% [markdown]
# ## Break it on purpose
#
# ### One line fewer
#
# Forget the second line: register the function, and no mask function of the same name.

# %% nbgrader={"grade": false, "grade_id": "break-mask", "locked": true, "schema_version": 3, "solution": false, "task": false}
AttentionInterface.register("nothing else", counted)
careless = opened(small.HERE, "nothing else")
with torch.no_grad():
    for name, given in (("alone", batch(LONG)), ("padded batch", batch(LONG, SHORT))):
        real = given["attention_mask"]
        print(f"{name:15}{apart(careless(**given).logits, theirs(**given).logits, real)}")


# %% [markdown]
# No error, no warning. Alone, each sentence is right in this model: your function would have got None anyway, and then it asks the module. In the batch the short sentence reads its own padding, seven times `<s>`, and
# wants to go on with other words. (Prediction 1: B.) The library makes a mask only for names that have a mask function,
# padding or not (`transformers` 5.23, `masking_utils.py`). A test with one sentence does not show this, nor does one
# reading of a batch with padding on the right. **Test a backend on a batch that is filled up on the left.**
#
# The padding's own rows may see nothing, and nobody reads what comes out there. Give 0 all the same: NaN there is a *value* of the next layer, and 0 · NaN is NaN.
#
# ## Optional: a published model
#
# The same function works in GPT-2 and in models of Llama's kind, without a change. (Some others hand over more, such as a softcap or sinks: compare there with `"eager"`.) Name one here and run both cells: a name on the Hugging Face Hub such as `"gpt2"`, which
# downloads half a gigabyte, or a folder in which you have one. Leave it empty and the small model is used.

# %%
PUBLISHED = ""

# %% nbgrader={"grade": false, "grade_id": "published", "locked": true, "schema_version": 3, "solution": false, "task": false}
import contextlib

from transformers import AutoTokenizer


def a_text(name: str) -> tuple[Tensor, Any]:
    """A text as numbers (1, N), and what makes words of numbers; without a tokenizer, numbers."""
    with contextlib.suppress(ValueError):  # a folder with weights alone
        tokenizer = AutoTokenizer.from_pretrained(name)
        text = "When Mary and John went to the store, John gave a drink to"
        ids = tokenizer(text, return_tensors="pt").input_ids
        if ids.numel():
            return ids, tokenizer.decode
    return torch.arange(1, 10)[None], Tensor.tolist


models = mine, theirs
ids, told = batch(LONG)["input_ids"], lambda ids: " ".join(small.words[each] for each in ids)
if PUBLISHED:
    print(f"Loading {PUBLISHED}; without a network this gives up within a minute …", flush=True)
    try:
        found, models = a_text(PUBLISHED), (opened(PUBLISHED, "yours"), opened(PUBLISHED))
        ids, told = found
    except (OSError, ValueError) as error:
        print("No luck, so the small model it is:", str(error).splitlines()[0])
sizes, real = models[0].config, ids.new_ones(ids.shape)
groups = getattr(sizes, "num_key_value_heads", sizes.num_attention_heads)
print(f"{type(models[0]).__name__}: {sizes.num_attention_heads} heads, {groups} groups a layer")
with torch.no_grad():
    one, other = (model(ids, attention_mask=real).logits for model in models)
    print(apart(one, other, real))
    for name, model in zip(("yours", "PyTorch's"), models, strict=True):
        longer = model.generate(ids, attention_mask=real, max_new_tokens=8, do_sample=False)
        print(f"{name:11}", told(longer[0]))


# %% [markdown]
# A model with larger numbers can be further apart than 1e-4, as float32 keeps seven digits of each. Then look at the words.
#
# ## Look inside
#
# Your function returns its weights, and the library passes them on. PyTorch's has none. Guess first: which word follows the second *owl*?

# %% nbgrader={"grade": false, "grade_id": "weights", "locked": true, "schema_version": 3, "solution": false, "task": false}
run = "fox king owl wolf queen ; fox king owl".split()
ids = small.numbered(["<s>", *run])
with torch.no_grad():
    seen = mine(ids, output_attentions=True).attentions
    print("PyTorch's backend:", theirs(ids, output_attentions=True).attentions)
print("yours:", len(seen), "layers of weights, each", tuple(seen[0].shape))
figures.real_model.copying(seen[1][0], ["<s>", *run], layer=2)

# %% [markdown]
# The second layer reads a run of words that comes again. Look at the second *owl*: after the first came *wolf*. In all four heads
# the largest share of that row lies on *wolf*. A head that looks at what came *after* the same word before is called an
# **induction head** (lesson 07; Olsson et al. 2022).
#
# ### A number for a head
#
# ### Exercise: `induction_score`
#
# difficulty ●●○ · 8–12 min · 2 points
#
# Take every token that stood earlier in its own sentence. Find the *latest* earlier place, m, and take the weight on the token after it, m + 1. The
# score of a head is the mean over all such tokens, of all sentences together. If *the the* occurs, the token after the first *the* is the second one itself; it counts. Where no token comes again, the
# scores are 0.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-induction_score", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Two loops, over sentences and over places n. Look back from n for the same token. If there is one, keep the weight of *all heads* at once. At the end take one mean.
#
# <details><summary>Hint 2: the shapes</summary>
#
# `weights[b, :, n, m + 1]` is (H,): one number for each head. A list of those, stacked, is (places, H). What is the mean of an empty list to be, in shape and dtype?
#
# </details>
# </details>


# %% nbgrader={"grade": false, "grade_id": "induction_score", "locked": false, "schema_version": 3, "solution": true, "task": false}
def induction_score(weights: Tensor, ids: Tensor) -> Tensor:
    """How much each head looks at what came after the same token before.

    Args:
        weights: (B, H, N, N), rows are queries.
        ids: (B, N), the tokens.
    Returns:
        (H,), dtype of weights: the mean weight on the token after the latest earlier occurrence, over all tokens that
        have one in their sentence; 0 where there are none.
    """
    ### BEGIN SOLUTION
    looked = []
    for b, sentence in enumerate(ids.tolist()):
        latest: dict[int, int] = {}
        for n, token in enumerate(sentence):
            if token in latest:
                looked.append(weights[b, :, n, latest[token] + 1])
            latest[token] = n
    return torch.stack(looked).mean(dim=0) if looked else weights.new_zeros(weights.shape[1])
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "induction_score-check", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
check(induction_score)

# %% [markdown]
# Now 50 runs of words, each written twice, in three lengths.

# %% nbgrader={"grade": false, "grade_id": "scores", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab.small import grammar, measure


def twice(length: int) -> Tensor:
    """50 runs of so many words, each of which comes again at once, (50, 1 + 2 length)."""
    rng = random.Random(length)
    some = [rng.sample(grammar.CONTENT, length) for _ in range(50)]
    return torch.cat([small.numbered(["<s>", *words, *words]) for words in some])


def scores_of(model: Any, ids: Tensor) -> list[list[float]]:
    """The induction score of each head, layer by layer."""
    with torch.no_grad():
        seen = model(ids, output_attentions=True).attentions
    return [induction_score(weights, ids).tolist() for weights in seen]


for length in (4, 8, 16):
    for layer, row in enumerate(scores_of(mine, twice(length)), start=1):
        shown = "  ".join(f"head {h + 1} {each:.2f}" for h, each in enumerate(row))
        print(f"runs of {length:2}, layer {layer}: {shown}")

# %% [markdown]
# All four heads of the second layer do it, at every length, and no head of the first. A head of the first layer reads words and places, and nothing of a word's neighbours. The second layer can do more: the first has written into its rows. Heads 2 and 4 look nearly alike. Are they equally important? Take heads away.
#
# ### One head fewer
#
# ### Exercise: `without_heads`
#
# difficulty ●○○ · 3–5 min · 1 point
#
# `out` is what your function returns, (B, N, H, d). Set the heads in the list to 0, and leave `out` itself as it was. The list may be empty. Slopes pass through the other heads.

# %% [markdown] nbgrader={"grade": false, "grade_id": "hints-without_heads", "locked": true, "schema_version": 3, "solution": false, "task": false}
# <details><summary>Hint 1: the idea</summary>
#
# Copy first. A list is an index: it picks several entries of an axis at once, none if it is empty.
#
# </details>


# %% nbgrader={"grade": false, "grade_id": "without_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def without_heads(out: Tensor, heads: list[int]) -> Tensor:
    """Heads removed.

    Args:
        out: (B, N, H, d), what the heads give.
        heads: those to remove, 0 … H − 1.
    Returns:
        The same with these heads 0; a new tensor, of the same dtype, with slopes.
    """
    ### BEGIN SOLUTION
    left = out.clone()
    left[:, :, heads] = 0.0
    return left
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "without_heads-check", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
check(without_heads)

# %% [markdown]
# ## What each head is for
#
# `pruned` is a third backend: your attention, then your `without_heads`. There are two ways to take a head away. **By 0** is the plain one. But a model may count on a head's
# usual output as if it were a constant, and 0 takes that away too. So do it also **by its mean**: the head then gives
# its average, the same for every word.
#
# Each line of the table is one head removed, by 0 and by its mean. There are lesson 07's five tasks, 200 questions each. Guessing gives 0.5, 0.33, 0.5, 0.5 and nearly 0. Before you run the table, write down which head you expect to cost the most on *repeats*.

# %% nbgrader={"grade": false, "grade_id": "pruned", "locked": true, "schema_version": 3, "solution": false, "task": false}
gone: list[tuple[int, int]] = []  # the heads that are removed: layer and head, from 0
instead: dict[int, Tensor] = {}  # by layer, what stands in their place, (H, d); nothing means 0
heard: dict[int, Tensor] = {}  # by layer, what its heads gave last, (B, N, H, d)


def pruned(module: Any, *given: Any, **others: Any) -> Any:
    """Your attention, without the heads that are gone."""
    out, weights = attention_forward(module, *given, **others)
    heard[module.layer_idx] = out
    heads = [head for layer, head in gone if layer == module.layer_idx]
    mean = instead.get(module.layer_idx, torch.zeros(1)).expand_as(out)
    instead_of_them = mean - without_heads(mean, heads)  # 0 in all other heads
    return without_heads(out, heads) + instead_of_them, weights


def remove(*heads: tuple[int, int], by: dict[int, Tensor] | None = None) -> None:
    """These heads are removed from now on, and no others: by 0, or by their means."""
    gone[:] = heads
    instead.clear()
    instead.update(by or {})


AttentionInterface.register("pruned", pruned)
AttentionMaskInterface.register("pruned", sdpa_mask)
cut = opened(small.HERE, "pruned")


def usual(rng: random.Random) -> dict[int, Tensor]:
    """What each head gives on average, by layer, over 64 texts of 64 words."""
    remove()
    with torch.no_grad():
        cut(torch.tensor([grammar.written(rng, 64)[0] for _ in range(64)]))
    return {layer: out.mean(dim=(0, 1)) for layer, out in heard.items()}


def shares(questions: dict[str, Any]) -> list[float]:
    """How many questions of each task the model answers rightly, as it is now."""

    def asked(ids: Tensor, _: Any) -> Tensor:
        logits: Tensor = cut(ids).logits
        return logits

    return [measure.right_share(asked, some) for some in questions.values()]


# %% nbgrader={"grade": false, "grade_id": "table", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
def line(name: str, *heads: tuple[int, int]) -> None:
    """Prints the shares of right answers without these heads, by 0 and by their means."""
    remove(*heads)
    by_0 = shares(questions)
    remove(*heads, by=means)
    both = zip(by_0, shares(questions), strict=True)
    print(f"{name:17}" + "".join(f"{zero:8.2f} {mean:.2f}" for zero, mean in both))


rng = random.Random(14)
questions = {task: measure.questions(task, rng, 200) for task in measure.TASKS}
means = usual(rng)
print(f"{'removed':17}" + "".join(f"{task:>13}" for task in questions))
line("none")
for each in measure.heads_of(small.load()):
    line(measure.named(each), each)


# %% [markdown]
# Where a number falls, the task depends on that head. Check these four claims against the table.
#
# - **The subject across a clause.** Without head 3 of layer 2 agreement drops from 1.00 to about 0.6. By its mean it drops as far.
# - **The bracket** is two heads' work. Removed by 0 or by its mean, that same head costs about a third, and head 2 of
#   layer 1 a fifth to a third.
# - ***Bank*** depends on head 1 of layer 1: replace it by 0, and the model guesses. *It* depends on no single head.
# - **Runs that come again.** Four heads look at the right word. Head 4 takes most of the answers with it, even in runs
#   of three words. (Prediction 2: B.) Head 2, which looks nearly as hard, costs less than a quarter.
#
# These questions mix short runs and long ones. Take them apart, with each head of layer 2 removed in turn. The share is of all words of the second copy but its first:


# %% nbgrader={"grade": false, "grade_id": "lengths", "locked": true, "schema_version": 3, "solution": false, "task": false} tags=["nbval-ignore-output"]
def continued(ids: Tensor) -> Tensor:
    """How often `cut` says a word of the second copy before it reads it, by place, from word 2 on."""
    start = ids.shape[1] // 2 + 1  # where the second copy begins
    with torch.no_grad():
        best = cut(ids).logits[:, start:-1].argmax(dim=-1)
    return (best == ids[:, start + 1 :]).float().mean(dim=0)


FEWER: Any = {"all": []} | {f"no head {h + 1}": [(1, h)] for h in range(4)}
by_place = {}
print(" " * 15, "runs of 4, 8, 16")
for name, heads in FEWER.items():
    remove(*heads)
    right = [continued(twice(length)) for length in (4, 8, 16)]
    print(f"{name:15}", *(f"{each.mean():5.2f}" for each in right))
    by_place[name] = right[-1]
figures.real_model.reading_on(by_place, first=2, focus="no head 2")

# %% [markdown]
# Follow the first row. The model is mostly right up to word 8, and from word 9 on it says a full stop. Take head 2 away, and it reads on. The share of right answers rises from about 0.5 to about 0.9. (Prediction 3: C.)
# No other head comes near that. On runs of 4 head 2 *helps*, and on runs of 8 nothing changes without it. All the while
# it looks at the right word. Without head 4 most answers are lost at each of these lengths.
#
# So a look is not a cause, and what a head does depends on where you ask.
#
# ## Your transcript

# %% nbgrader={"grade": false, "grade_id": "transcript", "locked": true, "schema_version": 3, "solution": false, "task": false}
subject = small.head("subject")
for name, heads in (("all heads", []), (f"without {measure.named(subject)}", [subject])):
    remove(*heads)
    print(f"Written by attention_forward, {name}:")
    for prompt in PROMPTS[:3]:
        print(f"    {prompt} … {written(cut, prompt)}")
remove()

# %% [markdown]
# With one head of eight gone, *the dogs … sleeps*, and a round bracket closes as a curly one. Take any other head of
# that layer away instead, and all three end rightly.

# %% [markdown]
# ## Check yourself

# %% nbgrader={"grade": false, "grade_id": "quiz-check-yourself", "locked": true, "schema_version": 3, "solution": false, "task": false}
quiz("check yourself")

# %% [markdown]
# ## Take away
#
# 1. A backend is a function of queries, keys, values and a mask, registered under a name: with yours the model's logits are within 1e-4 of PyTorch's, alone, in a padded batch and with a cache ([it writes](#The-model-writes-with-it)).
# 2. Register a mask function of the same name too: without it the library makes no mask, one sentence alone stays right in this model, and padding on the left is read in a batch ([no mask](#One-line-fewer)).
# 3. Where more keys come than queries, the queries are the last tokens: a causal mask is aligned bottom-right ([by hand](#By-hand:-the-last-N-of-M)).
# 4. A row without a key gives 0, as NaN in it reaches real rows a layer later ([no mask](#One-line-fewer)).
# 5. Weights show where a head looks; what it is for shows in its removal: of two heads that look nearly alike one carries most answers, and on long runs the model is better without the other ([each head](#What-each-head-is-for)).
#
# ### Sources
#
# - The library: Wolf et al. 2020, *Transformers: State-of-the-Art Natural Language Processing*. [arXiv:1910.03771](https://arxiv.org/abs/1910.03771); its page on
#   [attention functions](https://huggingface.co/docs/transformers/attention_interface).
# - The layout: Radford et al. 2019, *Language Models are Unsupervised Multitask Learners*, section 2.3.
# - Grouped heads: Ainslie et al. 2023, *GQA*. [arXiv:2305.13245](https://arxiv.org/abs/2305.13245)
# - Induction heads: Olsson et al. 2022, *In-context Learning and Induction Heads*. [arXiv:2209.11895](https://arxiv.org/abs/2209.11895)
# - Removing heads by 0: Michel et al. 2019, *Are Sixteen Heads Really Better than One?* [arXiv:1905.10650](https://arxiv.org/abs/1905.10650); by their mean: Wang et al. 2022, *Interpretability in
#   the Wild*. [arXiv:2211.00593](https://arxiv.org/abs/2211.00593)
#
# **To carry over.** Name a published model above. Which of its heads is an induction head, and
# what can it no longer do without it?

# %% nbgrader={"grade": false, "grade_id": "summary", "locked": true, "schema_version": 3, "solution": false, "task": false}
from attnlab import summary

summary()
