"""Answers to lesson 10, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import torch
import torch.nn.functional as F
from torch import nn

from . import Lesson

lesson = Lesson("10-training")
wrong, right = lesson.wrong, lesson.right


# PhraseClassifier ----------------------------------------------------------------------------


@right("PhraseClassifier")
class Plainly(nn.Module):
    """As plain as can be; the other answers change a part of it."""

    def __init__(self, vocab_size, d, n_classes):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d)
        self.W_q = nn.Linear(d, d, bias=False)
        self.W_k = nn.Linear(d, d, bias=False)
        self.W_v = nn.Linear(d, d, bias=False)
        self.W_o = nn.Linear(d, d, bias=False)
        self.hidden = nn.Linear(d, d)
        self.classes = nn.Linear(d, n_classes)

    def weigh(self, x):
        q, k = self.W_q(x), self.W_k(x)
        return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)

    def read(self, x):
        return self.W_o(self.weigh(x) @ self.W_v(x))

    def pool(self, x):
        return x.mean(dim=1)

    def bend(self, x):
        return F.relu(self.hidden(x))

    def forward(self, ids):
        return self.classes(self.bend(self.pool(self.read(self.embed(ids)))))


@right("PhraseClassifier")
class HiddenThenMean(Plainly):
    """`hidden` may come before the mean; ReLU may not."""

    def pool(self, x):
        return self.hidden(x).mean(1)

    def bend(self, x):
        return x.relu()


@right("PhraseClassifier")
class PhraseByPhrase(Plainly):
    def forward(self, ids):
        rows = [super(PhraseByPhrase, self).forward(phrase[None])[0] for phrase in ids]
        return torch.stack(rows)


@right("PhraseClassifier")
class QueriesScaled(Plainly):
    def weigh(self, x):
        scores = self.W_q(x) / x.shape[-1] ** 0.5 @ self.W_k(x).mT
        powers = (scores - scores.amax(-1, keepdim=True)).exp()
        return powers / powers.sum(-1, keepdim=True)


@right("PhraseClassifier")
class ByOneHot(Plainly):
    def forward(self, ids):
        x = F.one_hot(ids, self.embed.num_embeddings).to(self.embed.weight) @ self.embed.weight
        return self.classes(self.bend(self.pool(self.read(x))))


@wrong("PhraseClassifier", "no-hidden-layer")
class HiddenNotUsed(Plainly):
    def bend(self, x):
        return x


@wrong("PhraseClassifier", "no-relu")
class NeverBends(Plainly):
    def bend(self, x):
        return self.hidden(x)


@wrong("PhraseClassifier", "wrong-structure", "a layer more")
class MadeAndNotUsed(Plainly):
    def __init__(self, vocab_size, d, n_classes):
        super().__init__(vocab_size, d, n_classes)
        self.norm = nn.LayerNorm(d)


# train_step ----------------------------------------------------------------------------------


@right("train_step")
def flattened(model, inputs, targets, optimizer):
    logits = model(inputs)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@right("train_step")
def forgets_first(model, inputs, targets, optimizer):
    model.train()
    model.zero_grad(set_to_none=False)
    logits = model(inputs).flatten(0, -2)
    loss = nn.CrossEntropyLoss()(logits, targets.flatten())
    loss.backward()
    optimizer.step()
    return float(loss.detach())


@right("train_step")
def log_probabilities(model, inputs, targets, optimizer):
    optimizer.zero_grad(set_to_none=True)
    logs = model(inputs).log_softmax(dim=-1)
    loss = -logs.gather(-1, targets.unsqueeze(-1)).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


@right("train_step")
def logits_by_logsumexp(model, inputs, targets, optimizer):
    logits = model(inputs)
    right_ones = torch.take_along_dim(logits, targets[..., None], -1)[..., 0]
    loss = (logits.logsumexp(-1) - right_ones).mean()
    parameters = list(model.parameters())
    for p, g in zip(parameters, torch.autograd.grad(loss, parameters), strict=True):
        p.grad = g
    optimizer.step()
    return loss.item()


def loss_of(model, inputs, targets):
    logits = model(inputs)
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


def stepping(loss, optimizer):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


@wrong("train_step", "loss-after-step")
def told_afterwards(model, inputs, targets, optimizer):
    stepping(loss_of(model, inputs, targets), optimizer)
    return loss_of(model, inputs, targets).item()


@wrong("train_step", "nothing-learned")
def no_step(model, inputs, targets, optimizer):
    optimizer.zero_grad()
    loss = loss_of(model, inputs, targets)
    loss.backward()
    return loss.item()


@wrong("train_step", "raised")
def targets_as_a_view(model, inputs, targets, optimizer):
    logits = model(inputs)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.view(-1))
    stepping(loss, optimizer)
    return loss.item()


# attention_to --------------------------------------------------------------------------------


@right("attention_to")
def by_index(weights, query_index):
    if weights.ndim == 4:
        weights = weights.mean(dim=1)
    return weights[torch.arange(len(weights)), query_index]


@right("attention_to")
def row_by_row(weights, query_index):
    weights = weights if weights.dim() == 3 else weights.mean(1)
    index = [query_index] * len(weights) if isinstance(query_index, int) else query_index.tolist()
    return torch.stack([w[i] for w, i in zip(weights, index, strict=True)])


@right("attention_to")
def gathered(weights, query_index):
    if weights.ndim == 4:
        weights = weights.sum(1) / weights.shape[1]
    b, _, m = weights.shape
    index = torch.as_tensor(query_index).expand(b)
    return weights.gather(1, index.view(b, 1, 1).expand(b, 1, m)).squeeze(1)


@right("attention_to")
def row_first_then_heads(weights, query_index):
    if isinstance(query_index, int):
        row = weights[..., query_index, :]
    else:
        shape = [-1] + [1] * (weights.ndim - 1)
        row = torch.take_along_dim(weights, query_index.reshape(shape), dim=-2).squeeze(-2)
    return row if row.ndim == 2 else row.mean(-2)


def averaged(weights):
    return weights.mean(1) if weights.ndim == 4 else weights


def at(weights, query_index):
    return weights[torch.arange(len(weights)), query_index]


@wrong("attention_to", "column-not-row")
def a_column(weights, query_index):
    return at(averaged(weights).mT, query_index)


@wrong("attention_to", "heads-summed")
def head_sum(weights, query_index):
    return at(weights.sum(1) if weights.ndim == 4 else weights, query_index)


@wrong("attention_to", "one-head-only")
def head_0(weights, query_index):
    return at(weights[:, 0] if weights.ndim == 4 else weights, query_index)


# patched -------------------------------------------------------------------------------------


def fits(blocks, x, donor, places):
    if not blocks:
        raise ValueError("there are no blocks")
    if x.shape != donor.shape:
        raise ValueError(f"x is {tuple(x.shape)} and the donor {tuple(donor.shape)}")
    if any(not 0 <= place < x.shape[1] for place in places):
        raise ValueError(f"places are 0 to {x.shape[1] - 1}, and were {places}")


@right("patched")
def by_a_copy(blocks, x, donor, places):
    fits(blocks, x, donor, places)
    after = blocks[0](x).clone()
    after[:, places] = blocks[0](donor)[:, places]
    for block in blocks[1:]:
        after = block(after)
    return after


@right("patched")
def by_where(blocks, x, donor, places):
    fits(blocks, x, donor, places)
    first, *rest = blocks
    chosen = torch.zeros(x.shape[1], 1, dtype=torch.bool)
    chosen[places] = True
    x = torch.where(chosen, first(donor), first(x))
    for block in rest:
        x = block(x)
    return x


@right("patched")
def weighed(blocks, x, donor, places):
    """A mask of 0s and 1s, and every size asked for by itself."""
    if len(blocks) < 1:
        raise ValueError("no block")
    if list(x.shape) != list(donor.shape):
        raise ValueError("shapes differ")
    keep = x.new_ones(x.shape[1])
    for place in places:
        if place < 0 or place > len(keep) - 1:
            raise ValueError("no such place")
        keep[place] = 0
    kept = keep[:, None]
    x = kept * blocks[0](x) + (1 - kept) * blocks[0](donor)
    with torch.no_grad():
        for block in blocks[1:]:
            x = block(x)
    return x


@right("patched")
def by_recursion_over_blocks(blocks, x, donor, places):
    fits(blocks, x, donor, places)

    def rest(blocks, x):
        return rest(blocks[1:], blocks[0](x)) if blocks else x

    rows = blocks[0](x).unbind(1)
    other = blocks[0](donor).unbind(1)
    rows = [other[n] if n in set(places) else row for n, row in enumerate(rows)]
    return rest(blocks[1:], torch.stack(rows, 1))


@wrong("patched", "exchanged-too-early")
def into_the_words(blocks, x, donor, places):
    fits(blocks, x, donor, places)
    x = x.clone()
    x[:, places] = donor[:, places]
    for block in blocks:
        x = block(x)
    return x


@wrong("patched", "donor-not-run")
def with_words_of_the_donor(blocks, x, donor, places):
    fits(blocks, x, donor, places)
    x = blocks[0](x).clone()
    for n in places:
        x[:, n] = donor[:, n]
    for block in blocks[1:]:
        x = block(x)
    return x


@wrong("patched", "mutated-input", "writes into what the first block gave")
def no_copy(blocks, x, donor, places):
    fits(blocks, x, donor, places)
    x, donor = blocks[0](x), blocks[0](donor)
    x[:, places] = donor[:, places]
    for block in blocks[1:]:
        x = block(x)
    return x


@wrong("patched", "mutated-input", "takes blocks off the list")
def popped(blocks, x, donor, places):
    fits(blocks, x, donor, places)
    first = blocks.pop(0)
    x, donor = first(x).clone(), first(donor)
    x[:, places] = donor[:, places]
    for block in blocks:
        x = block(x)
    return x


def lenient(checked):
    """Refuses less than is asked for."""

    def patched(blocks, x, donor, places):
        checked(blocks, x, donor, places)
        after = blocks[0](x).clone()
        after[:, places] = blocks[0](donor)[:, places]
        for block in blocks[1:]:
            after = block(after)
        return after

    return patched


def no_negative_check(blocks, x, donor, places):
    fits(blocks, x, donor, [place for place in places if place >= 0])


def first_place_alone(blocks, x, donor, places):
    fits(blocks, x, donor, places[:1])


def no_shapes(blocks, x, donor, places):
    fits(blocks, x, x, places)


wrong("patched", "not-raised", "negative places")(lenient(no_negative_check))
wrong("patched", "not-raised", "places after the first")(lenient(first_place_alone))
wrong("patched", "not-raised", "a donor of another shape")(lenient(no_shapes))


@wrong("patched", "raised", "refuses that nothing is exchanged")
def not_none(blocks, x, donor, places):
    fits(blocks, x, donor, places)
    if not places:
        raise ValueError("places is empty")
    return by_a_copy(blocks, x, donor, places)


# next_token_probabilities --------------------------------------------------------------------


def refused(temperature):
    if temperature < 0:
        raise ValueError(f"temperature is {temperature}")


@right("next_token_probabilities")
def as_the_formula(logits, temperature=1.0):
    refused(temperature)
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    return F.softmax(logits / temperature, dim=-1)


@right("next_token_probabilities")
def by_powers(logits, temperature=1.0):
    refused(temperature)
    top = logits.max(dim=-1, keepdim=True)
    if temperature == 0:
        return torch.zeros_like(logits).scatter_(-1, top.indices, 1.0)
    powers = ((logits - top.values) / temperature).exp()
    return powers / powers.sum(-1, keepdim=True)


@right("next_token_probabilities")
def a_row_at_a_time(logits, temperature=1.0):
    refused(temperature)
    rows = []
    for row in logits.reshape(-1, logits.shape[-1]):
        if temperature == 0:
            rows.append(torch.eye(len(row), dtype=row.dtype)[row.argmax()])
        else:
            rows.append(torch.softmax((row - row.max()) / temperature, 0))
    return torch.stack(rows).reshape(logits.shape)


@right("next_token_probabilities")
def by_logsumexp(logits, temperature=1.0):
    refused(temperature)
    if temperature == 0:
        return torch.eye(logits.shape[-1], dtype=logits.dtype)[logits.argmax(-1)]
    scaled = (logits - logits.amax(-1, keepdim=True)) / temperature
    return (scaled - scaled.logsumexp(-1, keepdim=True)).exp()


@right("next_token_probabilities")
def by_the_place(logits, temperature=1.0):
    refused(temperature)
    best = logits.argmax(-1, keepdim=True)
    if temperature == 0:
        return (torch.arange(logits.shape[-1]) == best).to(logits.dtype)
    return (logits - logits.gather(-1, best)).div(temperature).softmax(-1)


def likeliest(logits):
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)


def below(logits):
    return logits - logits.amax(-1, keepdim=True)


def weighing(
    above=lambda logits, t: (below(logits) / t).softmax(-1), at_zero=likeliest, checked=True
):
    """With a part exchanged."""

    def next_token_probabilities(logits, temperature=1.0):
        if checked:
            refused(temperature)
        return at_zero(logits) if temperature == 0 else above(logits, temperature)

    return next_token_probabilities


for least in (0.5, 0.1, 0.01):
    wrong("next_token_probabilities", "temperature-bounded", f"from below, {least}")(
        weighing(lambda logits, t, least=least: (below(logits) / max(t, least)).softmax(-1))
    )
for least in (1.0, 0.1, 0.01):
    wrong("next_token_probabilities", "cold-is-greedy", f"below {least}")(
        weighing(
            lambda logits, t, least=least: (
                likeliest(logits) if t < least else (below(logits) / t).softmax(-1)
            )
        )
    )


@right("next_token_probabilities")
def greedy_where_there_is_no_number(logits, temperature=1.0):
    refused(temperature)
    if temperature == 0:
        return likeliest(logits)
    p = (logits / temperature).softmax(-1)
    return torch.where(p.isnan(), likeliest(logits), p)


wrong("next_token_probabilities", "not-raised", "a negative temperature")(weighing(checked=False))


# generate ------------------------------------------------------------------------------------


def not_empty(prompt):
    if prompt.shape[1] == 0:
        raise ValueError("the prompt is empty")


@right("generate")
@torch.no_grad()
def written(model, prompt, n_new, choose):
    not_empty(prompt)
    for _ in range(n_new):
        prompt = torch.cat([prompt, choose(model(prompt)[:, -1])[:, None]], dim=1)
    return prompt


@right("generate")
def in_a_list(model, prompt, n_new, choose):
    not_empty(prompt)
    columns = list(prompt.unbind(1))
    while len(columns) < prompt.shape[1] + n_new:
        with torch.no_grad():
            logits = model(torch.stack(columns, 1))[:, -1, :]
        columns.append(choose(logits))
    return torch.stack(columns, 1)


@right("generate")
def by_recursion(model, prompt, n_new, choose):
    not_empty(prompt)
    if n_new == 0:
        return prompt.clone()
    with torch.no_grad():
        new = choose(model(prompt)[:, -1]).unsqueeze(1)
    return by_recursion(model, torch.hstack([prompt, new]), n_new - 1, choose)


@right("generate")
def with_a_switch(model, prompt, n_new, choose):
    not_empty(prompt)
    was = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    try:
        for _ in range(n_new):
            new = choose(model(prompt).select(1, prompt.shape[1] - 1))
            prompt = torch.column_stack((prompt, new))
    finally:
        torch.set_grad_enabled(was)
    return prompt


def writing(
    seen=lambda ids, start: ids,
    row=lambda logits: logits[:, -1],
    chosen=lambda choose, logits: choose(logits),
    number=lambda n_new, start: n_new,
    given=lambda ids, start: ids,
    quiet=torch.no_grad,
):
    """A loop with a part exchanged."""

    def generate(model, prompt, n_new, choose):
        not_empty(prompt)
        ids, start = prompt, prompt.shape[1]
        with quiet():
            for _ in range(number(n_new, start)):
                logits = row(model(seen(ids, start)))
                ids = torch.cat([ids, chosen(choose, logits)[:, None]], dim=1)
        return given(ids, start)

    return generate


for most in (8, 32, 64, 128, 256, 1024, 2048):
    wrong("generate", "context-cropped", f"to {most}")(
        writing(seen=lambda ids, start, most=most: ids[:, -most:])
    )


@wrong("generate", "last-token-alone", "the newest one, after the prompt")
@torch.no_grad()
def feeds_what_it_wrote(model, prompt, n_new, choose):
    not_empty(prompt)
    ids = current = prompt
    for _ in range(n_new):
        current = choose(model(current)[:, -1])[:, None]
        ids = torch.cat([ids, current], dim=1)
    return ids


@wrong("generate", "wrong-shape", "stops at token 0")
@torch.no_grad()
def ends_its_text(model, prompt, n_new, choose):
    not_empty(prompt)
    ids = prompt
    for _ in range(n_new):
        new = choose(model(ids)[:, -1])
        ids = torch.cat([ids, new[:, None]], dim=1)
        if (new == 0).all():
            break
    return ids


@wrong("next_token_probabilities", "infinite-as-small")
def minus_ten_thousand(logits, temperature=1.0):
    logits = logits.masked_fill(logits == -torch.inf, -1e4)
    if temperature < 0:
        raise ValueError(temperature)
    if temperature == 0:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    return ((logits - logits.amax(-1, keepdim=True)) / temperature).softmax(-1)


@wrong("generate", "future-padded")
@torch.no_grad()
def all_places_at_once(model, prompt, n_new, choose):
    not_empty(prompt)
    b, n = prompt.shape
    ids = torch.zeros(b, n + n_new, dtype=torch.long)
    ids[:, :n] = prompt
    for i in range(n, n + n_new):
        ids[:, i] = choose(model(ids)[:, i - 1])
    return ids


@wrong("generate", "not-raised", "an empty prompt where nothing is to be written")
@torch.no_grad()
def refuses_in_the_loop(model, prompt, n_new, choose):
    for _ in range(n_new):
        not_empty(prompt)
        prompt = torch.cat([prompt, choose(model(prompt)[:, -1])[:, None]], dim=1)
    return prompt
