"""Answers to lesson 10, with PyTorch."""

# A learner's style is not ours, and their mistakes are what this file is for.
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, check-untyped-defs=False

import math

import torch
import torch.nn.functional as F
from torch import nn

from . import Lesson

lesson = Lesson("10-training")
wrong, right = lesson.wrong, lesson.right


# PhraseClassifier ----------------------------------------------------------------------------


@right("PhraseClassifier")
class LastWord(nn.Module):
    """As plain as can be; the other answers change a part of it."""

    def __init__(self, vocab_size, d, n_classes):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d)
        self.W_q = nn.Linear(d, d, bias=False)
        self.W_k = nn.Linear(d, d, bias=False)
        self.W_v = nn.Linear(d, d, bias=False)
        self.W_o = nn.Linear(d, d)
        self.out = nn.Linear(d, n_classes)

    def mix(self, x):
        q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
        return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v

    def hidden(self, x):
        return F.relu(self.W_o(x))

    def pool(self, x):
        return x[:, -1]

    def forward(self, ids):
        return self.out(self.pool(self.hidden(self.mix(self.embed(ids)))))


@right("PhraseClassifier")
class Mean(LastWord):
    def pool(self, x):
        return x.mean(dim=1)


@right("PhraseClassifier")
class Maximum(LastWord):
    def pool(self, x):
        return x.amax(dim=1)


@right("PhraseClassifier")
class WideHidden(LastWord):
    def __init__(self, vocab_size, d, n_classes):
        super().__init__(vocab_size, d, n_classes)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.ReLU(), nn.Linear(4 * d, d))

    def hidden(self, x):
        return self.mlp(self.W_o(x))


@right("PhraseClassifier")
class PooledFirst(WideHidden):
    def forward(self, ids):
        x = self.W_o(self.mix(self.embed(ids)).sum(1))
        return self.out(self.mlp(x))


@right("PhraseClassifier")
class AnEncoderBlock(WideHidden):
    """Two heads, learned positions, residuals, norms, dropout."""

    def __init__(self, vocab_size, d, n_classes):
        super().__init__(vocab_size, d, n_classes)
        self.places = nn.Parameter(torch.randn(64, d) * 0.02)
        self.first, self.second = nn.LayerNorm(d), nn.LayerNorm(d)
        self.drop = nn.Dropout(0.1)

    def mix(self, x):
        q, k, v = (layer(x).unflatten(-1, (2, -1)) for layer in (self.W_q, self.W_k, self.W_v))
        scores = torch.einsum("bnhk,bmhk->bhnm", q, k) / q.shape[-1] ** 0.5
        return torch.einsum("bhnm,bmhv->bnhv", self.drop(scores.softmax(-1)), v).flatten(2)

    def forward(self, ids):
        x = self.embed(ids) + self.places[: ids.shape[1]]
        x = x + self.W_o(self.mix(self.first(x)))
        x = x + self.mlp(self.second(x))
        return self.out(x.mean(1))


@right("PhraseClassifier")
class BagOfWords(nn.Module):
    """No attention: with a hidden layer it can do as much here."""

    def __init__(self, vocab_size, d, n_classes):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocab_size, d, mode="sum")
        self.rest = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, n_classes))

    def forward(self, ids):
        return self.rest(self.bag(ids))


@right("PhraseClassifier")
class LogProbabilities(LastWord):
    """Softmax of log-probabilities is softmax of the logits."""

    def forward(self, ids):
        return super().forward(ids).log_softmax(-1)


@right("PhraseClassifier")
class HeadOfZeros(WideHidden):
    def __init__(self, vocab_size, d, n_classes):
        super().__init__(vocab_size, d, n_classes)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)


@right("PhraseClassifier")
class SmallAtFirst(WideHidden):
    def __init__(self, vocab_size, d, n_classes):
        super().__init__(vocab_size, d, n_classes)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.02)


@right("PhraseClassifier")
class LargeAtFirst(AnEncoderBlock):
    def __init__(self, vocab_size, d, n_classes):
        super().__init__(vocab_size, d, n_classes)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=5)


@right("PhraseClassifier")
class InLoops(LastWord):
    def forward(self, ids):
        rows = []
        for sentence in ids:
            x = self.embed(sentence)
            q, k, v = self.W_q(x), self.W_k(x), self.W_v(x)
            mixed = [torch.softmax(k @ each / len(each) ** 0.5, 0) @ v for each in q]
            rows.append(self.out(sum(torch.relu(self.W_o(each)) for each in mixed)))
        return torch.stack(rows)


@wrong("PhraseClassifier", "no-hidden-layer")
class Plain(LastWord):
    def hidden(self, x):
        return self.W_o(x)


@wrong("PhraseClassifier", "no-hidden-layer")
class PlainMean(Mean):
    def hidden(self, x):
        return self.W_o(x)


@wrong("PhraseClassifier", "no-hidden-layer")
class ReluTooEarly(LastWord):
    """On the words, before they are mixed."""

    def forward(self, ids):
        x = F.relu(self.embed(ids))
        return self.out(self.pool(self.W_o(self.mix(x))))


@wrong("PhraseClassifier", "softmax-at-the-end")
class Probabilities(LastWord):
    def forward(self, ids):
        return F.softmax(super().forward(ids), dim=-1)


@wrong("PhraseClassifier", "relu-at-the-end")
class ReluTwice(LastWord):
    def forward(self, ids):
        return F.relu(super().forward(ids))


@wrong("PhraseClassifier", "relu-at-the-end")
class ReluInEachLayer(WideHidden):
    def forward(self, ids):
        return self.out(self.pool(self.hidden(self.mix(self.embed(ids))))).clamp(min=0)


@wrong("PhraseClassifier", "parameter-out-of-reach")
class MadeAndNotUsed(LastWord):
    def __init__(self, vocab_size, d, n_classes):
        super().__init__(vocab_size, d, n_classes)
        self.norm = nn.LayerNorm(d)


@wrong("PhraseClassifier", "parameter-out-of-reach")
class Detached(LastWord):
    def mix(self, x):
        return super().mix(x).detach()


@wrong("PhraseClassifier", "parameter-out-of-reach")
class NothingLearns(LastWord):
    def forward(self, ids):
        with torch.no_grad():
            return super().forward(ids)


@wrong("PhraseClassifier", "parameter-out-of-reach")
class ForgetsW_o(LastWord):
    def hidden(self, x):
        return F.relu(x)


@wrong("PhraseClassifier", "parameter-out-of-reach")
class Frozen(LastWord):
    def __init__(self, vocab_size, d, n_classes):
        super().__init__(vocab_size, d, n_classes)
        self.embed.weight.requires_grad_(False)


@wrong("PhraseClassifier", "phrases-mixed")
class CentredOverBatch(LastWord):
    def pool(self, x):
        return x[:, -1] - x[:, -1].mean(0)


@wrong("PhraseClassifier", "pooled-over-batch")
class FirstAxis(LastWord):
    def pool(self, x):
        return x.mean(dim=0)


@wrong("PhraseClassifier", "not-pooled")
class EachWord(LastWord):
    def pool(self, x):
        return x


@wrong("PhraseClassifier", "pooled-over-everything")
class OneForAll(LastWord):
    def pool(self, x):
        return x.mean(dim=(0, 1))


@wrong("PhraseClassifier", "class-not-logits")
class Argmax(LastWord):
    def forward(self, ids):
        return super().forward(ids).argmax(-1)


@wrong("PhraseClassifier", "no-classifier")
class Vectors(LastWord):
    def forward(self, ids):
        return self.pool(self.hidden(self.mix(self.embed(ids))))


@wrong("PhraseClassifier", "words-not-classes")
class NextWord(LastWord):
    def __init__(self, vocab_size, d, n_classes):
        super().__init__(vocab_size, d, vocab_size)


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
def classes_on_axis_1(model, inputs, targets, optimizer):
    optimizer.zero_grad()
    logits = model(inputs)
    logits = logits.movedim(-1, 1) if targets.ndim > 1 else logits
    loss = F.cross_entropy(logits, targets)
    loss.backward()
    optimizer.step()
    return loss.detach().numpy().item()


@right("train_step")
def log_probabilities(model, inputs, targets, optimizer):
    optimizer.zero_grad(set_to_none=True)
    logs = model(inputs).log_softmax(dim=-1)
    loss = -logs.gather(-1, targets.unsqueeze(-1)).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


@right("train_step")
def with_a_closure(model, inputs, targets, optimizer):
    def closure():
        optimizer.zero_grad()
        logits = model(inputs)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))
        loss.backward()
        return loss

    return optimizer.step(closure).item()


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


@wrong("train_step", "nothing-learned")
def no_backward(model, inputs, targets, optimizer):
    loss = loss_of(model, inputs, targets)
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


@wrong("train_step", "nothing-learned")
def forgets_too_late(model, inputs, targets, optimizer):
    loss = loss_of(model, inputs, targets)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


@wrong("train_step", "leftovers-counted")
def never_forgets(model, inputs, targets, optimizer):
    loss = loss_of(model, inputs, targets)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong("train_step", "leftovers-counted")
def forgets_at_the_end(model, inputs, targets, optimizer):
    loss = loss_of(model, inputs, targets)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


@wrong("train_step", "sum-not-mean")
def summed(model, inputs, targets, optimizer):
    logits = model(inputs).flatten(0, -2)
    loss = F.cross_entropy(logits, targets.flatten(), reduction="sum")
    stepping(loss, optimizer)
    return loss.item()


@wrong("train_step", "summed-over-tokens")
def tokens_added_up(model, inputs, targets, optimizer):
    logs = model(inputs).log_softmax(-1)
    each = -logs.gather(-1, targets[..., None])[..., 0]
    loss = each.flatten(1).sum(1).mean() if each.ndim > 1 else each.mean()
    stepping(loss, optimizer)
    return loss.item()


@wrong("train_step", "softmax-twice")
def of_probabilities(model, inputs, targets, optimizer):
    shares = model(inputs).softmax(-1).flatten(0, -2)
    loss = F.cross_entropy(shares, targets.flatten())
    stepping(loss, optimizer)
    return loss.item()


@wrong("train_step", "no-softmax")
def nll_of_logits(model, inputs, targets, optimizer):
    loss = F.nll_loss(model(inputs).flatten(0, -2), targets.flatten())
    stepping(loss, optimizer)
    return loss.item()


@wrong("train_step", "no-logarithm")
def nll_of_probabilities(model, inputs, targets, optimizer):
    loss = F.nll_loss(model(inputs).softmax(-1).flatten(0, -2), targets.flatten())
    stepping(loss, optimizer)
    return loss.item()


@wrong("train_step", "squared-error")
def squares(model, inputs, targets, optimizer):
    logits = model(inputs)
    loss = ((logits - F.one_hot(targets, logits.shape[-1])) ** 2).mean()
    stepping(loss, optimizer)
    return loss.item()


@wrong("train_step", "last-token-only")
def end_of_the_sentence(model, inputs, targets, optimizer):
    logits = model(inputs)
    if targets.ndim > 1:
        logits, targets = logits[:, -1], targets[:, -1]
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))
    stepping(loss, optimizer)
    return loss.item()


@wrong("train_step", "uphill")
def climbs(model, inputs, targets, optimizer):
    loss = loss_of(model, inputs, targets)
    optimizer.zero_grad()
    (-loss).backward()
    optimizer.step()
    return loss.item()


@wrong("train_step", "stepped-twice")
def two_steps(model, inputs, targets, optimizer):
    loss = loss_of(model, inputs, targets)
    stepping(loss, optimizer)
    optimizer.step()
    return loss.item()


@wrong("train_step", "perplexity")
def as_perplexity(model, inputs, targets, optimizer):
    loss = loss_of(model, inputs, targets)
    stepping(loss, optimizer)
    return loss.exp().item()


@wrong("train_step", "class-0-ignored")
def padding_is_0(model, inputs, targets, optimizer):
    logits = model(inputs).flatten(0, -2)
    loss = F.cross_entropy(logits, targets.flatten(), ignore_index=0)
    stepping(loss, optimizer)
    return loss.item()


@wrong("train_step", "raised")
def targets_as_a_view(model, inputs, targets, optimizer):
    logits = model(inputs)
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.view(-1))
    stepping(loss, optimizer)
    return loss.item()


@wrong("train_step", "wrong-type", "the loss as a tensor")
def a_tensor(model, inputs, targets, optimizer):
    loss = loss_of(model, inputs, targets)
    stepping(loss, optimizer)
    return loss


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
def by_einsum(weights, query_index):
    heads = weights if weights.ndim == 4 else weights[:, None]
    chosen = F.one_hot(torch.as_tensor(query_index), heads.shape[2]).to(weights.dtype)
    if chosen.ndim == 1:
        chosen = chosen.repeat(len(weights), 1)
    return torch.einsum("bhnm,bn->bm", heads, chosen) / heads.shape[1]


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


@wrong("attention_to", "first-head-only")
def head_0(weights, query_index):
    return at(weights[:, 0] if weights.ndim == 4 else weights, query_index)


@wrong("attention_to", "last-head-only")
def head_minus_1(weights, query_index):
    return at(weights[:, -1] if weights.ndim == 4 else weights, query_index)


@wrong("attention_to", "largest-over-heads")
def loudest_head(weights, query_index):
    return at(weights.max(1).values if weights.ndim == 4 else weights, query_index)


@wrong("attention_to", "heads-not-averaged")
def every_head(weights, query_index):
    if weights.ndim == 3:
        return at(weights, query_index)
    return torch.stack([at(weights[:, h], query_index) for h in range(weights.shape[1])], dim=1)


@wrong("attention_to", "one-index-for-all")
def first_sentence_decides(weights, query_index):
    index = query_index if isinstance(query_index, int) else query_index[0]
    return averaged(weights)[:, index]


@wrong("attention_to", "every-index-for-every-sentence")
def sliced(weights, query_index):
    return averaged(weights)[:, query_index]


@wrong("attention_to", "averaged-over-queries")
def all_rows(weights, query_index):
    return averaged(weights).mean(1)


@wrong("attention_to", "counted-from-1")
def from_one(weights, query_index):
    return at(averaged(weights), query_index - 1)


@wrong("attention_to", "place-not-weights")
def place(weights, query_index):
    return at(averaged(weights), query_index).argmax(-1)


@wrong("attention_to", "no-gradient")
def numbers_alone(weights, query_index):
    return at(averaged(weights.detach()), query_index)


# generate ------------------------------------------------------------------------------------


def refused(prompt, temperature):
    if temperature < 0:
        raise ValueError(f"temperature is {temperature}")
    if prompt.shape[1] == 0:
        raise ValueError("the prompt is empty")


@right("generate")
@torch.no_grad()
def written(model, prompt, n_new, temperature=1.0, generator=None):
    refused(prompt, temperature)
    for _ in range(n_new):
        logits = model(prompt)[:, -1]
        if temperature == 0:
            new = logits.argmax(-1, keepdim=True)
        else:
            new = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)
        prompt = torch.cat([prompt, new], dim=1)
    return prompt


@right("generate")
def filled_in(model, prompt, n_new, temperature=1.0, generator=None):
    refused(prompt, temperature)
    model.eval()
    b, n = prompt.shape
    ids = torch.zeros(b, n + n_new, dtype=torch.long)
    ids[:, :n] = prompt
    with torch.inference_mode():
        for i in range(n, n + n_new):
            logits = model(ids[:, :i])[:, i - 1]
            if temperature == 0:
                ids[:, i] = torch.argmax(logits, dim=-1)
            else:
                p = F.softmax(logits / temperature, dim=-1)
                ids[:, i] = torch.multinomial(p, 1, generator=generator)[:, 0]
    return ids


@right("generate")
def by_gumbel(model, prompt, n_new, temperature=1.0, generator=None):
    refused(prompt, temperature)
    ids = prompt.clone()
    for _ in range(n_new):
        logits = model(ids)[:, -1, :].detach()
        if temperature > 0:
            u = torch.rand(logits.shape, generator=generator, dtype=torch.float64)
            logits = logits / temperature - torch.log(-torch.log(u.clamp(1e-300, 1 - 1e-16)))
        ids = torch.hstack([ids, logits.argmax(-1)[:, None]])
    return ids


@right("generate")
def by_cumulative_sums(model, prompt, n_new, temperature=1.0, generator=None):
    refused(prompt, temperature)
    parts = [prompt]
    for _ in range(n_new):
        logits = model(torch.cat(parts, 1)).detach()[:, -1]
        if temperature == 0:
            parts.append(logits.max(-1, keepdim=True).indices)
        else:
            edges = (logits.double() / temperature).softmax(-1).cumsum(-1)
            u = torch.rand(len(logits), 1, generator=generator, dtype=torch.float64)
            parts.append((u > edges[:, :-1]).sum(-1, keepdim=True))
    return torch.cat(parts, 1)


@right("generate")
def sentence_by_sentence(model, prompt, n_new, temperature=1.0, generator=None):
    refused(prompt, temperature)
    ids = prompt
    for _ in range(n_new):
        with torch.no_grad():
            rows = model(ids)[:, -1]
        if temperature == 0:
            new = [int(row.argmax()) for row in rows]
        else:
            chances = torch.softmax(rows / temperature, 1)
            new = [int(torch.multinomial(p, 1, generator=generator)) for p in chances]
        ids = torch.cat([ids, torch.tensor(new)[:, None]], dim=1)
    return ids


@right("generate")
@torch.inference_mode()
def by_a_race(model, prompt, n_new, temperature=1.0, generator=None):
    """The first of exponential clocks, each as fast as its token is likely."""
    refused(prompt, temperature)
    ids = torch.empty(len(prompt), prompt.shape[1] + n_new, dtype=prompt.dtype)
    ids[:, : prompt.shape[1]] = prompt
    for i in range(prompt.shape[1], ids.shape[1]):
        chances = model(ids[:, :i])[:, -1]
        if temperature >= 1e-8:
            chances = (chances.double() / temperature).softmax(-1)
            chances = chances / torch.empty_like(chances).exponential_(generator=generator)
        torch.argmax(chances, dim=-1, out=ids[:, i])
    return ids


@right("generate")
def in_python(model, prompt, n_new, temperature=1.0, generator=None):
    refused(prompt, temperature)

    def chosen(logits):
        if temperature == 0:
            return logits.index(max(logits))
        largest = max(logits)
        weights = [math.exp((each - largest) / temperature) for each in logits]
        left = torch.rand(1, generator=generator, dtype=torch.float64).item() * sum(weights)
        likely = [token for token, weight in enumerate(weights) if weight > 0]
        for token in likely:
            left -= weights[token]
            if left < 0:
                return token
        return likely[-1]

    texts = prompt.tolist()
    for _ in range(n_new):
        rows = model(torch.tensor(texts))[:, -1].tolist()
        texts = [[*text, chosen(row)] for text, row in zip(texts, rows, strict=True)]
    return torch.tensor(texts)


@right("generate")
@torch.no_grad()
def by_distribution(model, prompt, n_new, temperature=1.0, generator=None):
    refused(prompt, temperature)
    ids = prompt
    for _ in range(n_new):
        logits = model(ids)[:, -1].log_softmax(-1)
        if temperature < 1e-6:
            new = logits.topk(1).indices
        elif generator is None:
            new = torch.distributions.Categorical(logits=logits / temperature).sample()[:, None]
        else:
            new = torch.multinomial(F.softmax(logits / temperature, -1), 1, generator=generator)
        ids = torch.cat((ids, new), -1)
    return ids


def writing(
    seen=lambda ids: ids,
    row=lambda logits: logits[:, -1],
    draw=lambda logits, t, g: torch.multinomial((logits / t).softmax(-1), 1, generator=g),
    greedy=lambda logits: logits.argmax(-1, keepdim=True),
    checked=True,
):
    """A loop with a part exchanged."""

    def generate(model, prompt, n_new, temperature=1.0, generator=None):
        if checked:
            refused(prompt, temperature)
        ids = prompt
        for _ in range(n_new):
            logits = row(model(seen(ids)).detach())
            new = greedy(logits) if temperature == 0 else draw(logits, temperature, generator)
            ids = torch.cat([ids, new], dim=1)
        return ids

    return generate


wrong("generate", "last-token-alone", "seen")(writing(seen=lambda ids: ids[:, -1:]))
wrong("generate", "first-row", "row")(writing(row=lambda logits: logits[:, 0]))
wrong("generate", "likeliest-last", "argmin")(
    writing(greedy=lambda logits: logits.argmin(-1, keepdim=True))
)
wrong("generate", "temperature-ignored", "never used")(
    writing(draw=lambda logits, t, g: torch.multinomial(logits.softmax(-1), 1, generator=g))
)
wrong("generate", "temperature-ignored", "after softmax")(
    writing(draw=lambda logits, t, g: torch.multinomial(logits.softmax(-1) / t, 1, generator=g))
)
wrong("generate", "temperature-multiplied", "times")(
    writing(draw=lambda logits, t, g: torch.multinomial((logits * t).softmax(-1), 1, generator=g))
)
wrong("generate", "always-greedy", "argmax")(
    writing(draw=lambda logits, t, g: logits.argmax(-1, keepdim=True))
)
wrong("generate", "drawn-evenly", "randint")(
    writing(
        draw=lambda logits, t, g: torch.randint(logits.shape[-1], (len(logits), 1), generator=g)
    )
)
wrong("generate", "one-draw-for-all", "first row's")(
    writing(
        draw=lambda logits, t, g: torch.multinomial(
            (logits[0] / t).softmax(-1), 1, generator=g
        ).expand(len(logits), 1)
    )
)
wrong("generate", "raised", "divides by temperature 0, and draws")(
    writing(greedy=lambda logits: torch.multinomial((logits / 0.0).softmax(-1), 1))
)
wrong("generate", "divided-by-zero", "and takes argmax")(
    writing(greedy=lambda logits: (logits / 0.0).softmax(-1).argmax(-1, keepdim=True))
)
wrong("generate", "generator-ignored", "left out")(
    writing(draw=lambda logits, t, g: torch.multinomial((logits / t).softmax(-1), 1))
)
wrong("generate", "not-raised", "a negative temperature as it is")(
    writing(seen=lambda ids: ids, checked=False)
)


def by_softmax(logits, t, g):
    return torch.multinomial((logits / t).softmax(-1), 1, generator=g)


for most in (8, 32, 64, 128, 256, 1024, 2048):
    wrong("generate", "context-cropped", f"to {most}")(
        writing(seen=lambda ids, most=most: ids[:, -most:])
    )

for least in (0.1, 0.01, 0.001):
    wrong("generate", "cold-is-greedy", f"below {least}")(
        writing(
            draw=lambda logits, t, g, least=least: (
                logits.argmax(-1, keepdim=True) if t < least else by_softmax(logits, t, g)
            )
        )
    )
    wrong("generate", "temperature-bounded", f"from below, {least}")(
        writing(draw=lambda logits, t, g, least=least: by_softmax(logits, max(t, least), g))
    )
for bound in (1.0, 2.0, 10.0):
    wrong("generate", "temperature-bounded", f"from above, {bound}")(
        writing(draw=lambda logits, t, g, bound=bound: by_softmax(logits, min(t, bound), g))
    )
wrong("generate", "cold-is-greedy", "below 1")(
    writing(
        draw=lambda logits, t, g: (
            logits.argmax(-1, keepdim=True) if t < 1 else by_softmax(logits, t, g)
        )
    )
)
wrong("generate", "temperature-bounded", "from below, 0.5")(
    writing(draw=lambda logits, t, g: by_softmax(logits, max(t, 0.5), g))
)
wrong("generate", "cold-is-greedy", "rounded")(
    writing(
        draw=lambda logits, t, g: (
            by_softmax(logits, round(t, 3), g) if round(t, 3) else logits.argmax(-1, keepdim=True)
        )
    )
)
wrong("generate", "temperature-bounded", "both ways")(
    writing(draw=lambda logits, t, g: by_softmax(logits, min(max(t, 0.1), 2.0), g))
)
wrong("generate", "temperature-bounded", "1 at least")(
    writing(draw=lambda logits, t, g: by_softmax(logits, max(t, 1.0), g))
)
wrong("generate", "temperature-bounded", "something added")(
    writing(draw=lambda logits, t, g: by_softmax(logits, t + 0.001, g))
)


def by_the_first(k):
    def draw(logits, t, g):
        logits = logits / t
        least = logits.topk(min(k, logits.shape[-1])).values[:, -1:]
        return by_softmax(logits.masked_fill(logits < least, -torch.inf), 1, g)

    return draw


def by_the_nucleus(p):
    def draw(logits, t, g):
        chances, ids = (logits / t).softmax(-1).sort(descending=True)
        chances[chances.cumsum(-1) - chances > p] = 0
        return ids.gather(-1, torch.multinomial(chances, 1, generator=g))

    return draw


for k in (3, 5, 10, 40, 50, 100, 200):
    wrong("generate", "tail-cut", f"top-k {k}")(writing(draw=by_the_first(k)))
for p in (0.8, 0.9, 0.95):
    wrong("generate", "tail-cut", f"top-p {p}")(writing(draw=by_the_nucleus(p)))
for digits in (2, 3):
    wrong("generate", "tail-cut", f"rounded to {digits} digits")(
        writing(
            draw=lambda logits, t, g, digits=digits: torch.multinomial(
                (logits / t).softmax(-1).round(decimals=digits), 1, generator=g
            )
        )
    )


@wrong("generate", "raised", "e to large numbers")
def exponentials(model, prompt, n_new, temperature=1.0, generator=None):
    def draw(logits, t, g):
        grown = torch.exp(logits / t)
        return torch.multinomial(grown / grown.sum(-1, keepdim=True), 1, generator=g)

    return writing(draw=draw)(model, prompt, n_new, temperature, generator)


wrong("generate", "infinite-at-zero", "argmax of infinities")(
    writing(greedy=lambda logits: (logits / 0.0).argmax(-1, keepdim=True))
)


@wrong("generate", "not-raised", "where nothing is to be written")
def refuses_in_the_loop(model, prompt, n_new, temperature=1.0, generator=None):
    def seen(ids):
        refused(ids, temperature)
        return ids

    return writing(seen=seen, checked=False)(model, prompt, n_new, temperature, generator)


@wrong("generate", "future-padded")
def all_places_at_once(model, prompt, n_new, temperature=1.0, generator=None):
    refused(prompt, temperature)
    b, n = prompt.shape
    ids = torch.zeros(b, n + n_new, dtype=torch.long)
    ids[:, :n] = prompt
    for i in range(n, n + n_new):
        logits = model(ids)[:, i - 1].detach()
        if temperature == 0:
            ids[:, i] = logits.argmax(-1)
        else:
            ids[:, i] = by_softmax(logits, temperature, generator)[:, 0]
    return ids


@wrong("generate", "divided-by-zero", "treated apart, and nothing written")
def zeros_left(model, prompt, n_new, temperature=1.0, generator=None):
    refused(prompt, temperature)
    b, n = prompt.shape
    ids = torch.cat([prompt, torch.zeros(b, n_new, dtype=torch.long)], dim=1)
    for i in range(n, n + n_new):
        logits = model(ids[:, :i])[:, -1].detach()
        if temperature == 0:
            logits.argmax(-1)
        else:
            ids[:, i] = by_softmax(logits, temperature, generator)[:, 0]
    return ids


@wrong("generate", "drawn-at-zero", "0 taken for not given")
def zero_is_falsy(model, prompt, n_new, temperature=1.0, generator=None):
    return written(model, prompt, n_new, temperature or 1.0, generator)


@wrong("generate", "wrong-dtype", "int32")
def narrow_ids(model, prompt, n_new, temperature=1.0, generator=None):
    return written(model, prompt, n_new, temperature, generator).int()


@wrong("generate", "wrong-dtype", "floats")
def ids_as_floats(model, prompt, n_new, temperature=1.0, generator=None):
    return written(model, prompt, n_new, temperature, generator).double()


@wrong("generate", "seed-of-its-own", "PyTorch's, which is drawn with")
def seeds_pytorch(model, prompt, n_new, temperature=1.0, generator=None):
    torch.manual_seed(0)
    return written(model, prompt, n_new, temperature)


@wrong("generate", "seed-of-its-own", "PyTorch's, where none is passed")
def seeds_pytorch_too(model, prompt, n_new, temperature=1.0, generator=None):
    torch.manual_seed(42)
    return written(model, prompt, n_new, temperature, generator)


@wrong("generate", "seed-of-its-own", "a new generator, where none is passed")
def its_own_generator(model, prompt, n_new, temperature=1.0, generator=None):
    return written(model, prompt, n_new, temperature, generator or torch.Generator())


@wrong("generate", "seed-of-its-own", "the generator's first")
def begins_again(model, prompt, n_new, temperature=1.0, generator=None):
    if generator is not None:
        torch.manual_seed(generator.initial_seed())
    return written(model, prompt, n_new, temperature)


@wrong("generate", "seed-of-its-own", "a copy of the generator")
def draws_with_a_copy(model, prompt, n_new, temperature=1.0, generator=None):
    copy = generator and torch.Generator().set_state(generator.get_state())
    return written(model, prompt, n_new, temperature, copy)


@wrong("generate", "drawn-at-zero")
def only_heat_is_divided_by(model, prompt, n_new, temperature=1.0, generator=None):
    refused(prompt, temperature)
    ids = prompt
    for _ in range(n_new):
        logits = model(ids)[:, -1].detach()
        if temperature > 0:
            logits = logits / temperature
        ids = torch.cat([ids, torch.multinomial(logits.softmax(-1), 1, generator=generator)], 1)
    return ids


@wrong("generate", "stale-past")
def asked_once(model, prompt, n_new, temperature=1.0, generator=None):
    refused(prompt, temperature)
    logits = model(prompt)[:, -1].detach()
    ids = prompt
    for _ in range(n_new):
        if temperature == 0:
            new = logits.argmax(-1, keepdim=True)
        else:
            new = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)
        ids = torch.cat([ids, new], 1)
    return ids


@wrong("generate", "seed-of-its-own")
def seeds_itself(model, prompt, n_new, temperature=1.0, generator=None):
    return written(model, prompt, n_new, temperature, torch.Generator().manual_seed(0))


@wrong("generate", "prompt-dropped")
def new_ones(model, prompt, n_new, temperature=1.0, generator=None):
    return written(model, prompt, n_new, temperature, generator)[:, prompt.shape[1] :]


@wrong("generate", "prompt-behind")
def turned_round(model, prompt, n_new, temperature=1.0, generator=None):
    new = written(model, prompt, n_new, temperature, generator)[:, prompt.shape[1] :]
    return torch.cat([new, prompt], dim=1)


@wrong("generate", "one-too-few")
def stops_early(model, prompt, n_new, temperature=1.0, generator=None):
    return written(model, prompt, n_new - 1, temperature, generator)


@wrong("generate", "one-too-many")
def goes_on(model, prompt, n_new, temperature=1.0, generator=None):
    return written(model, prompt, n_new + 1, temperature, generator)
