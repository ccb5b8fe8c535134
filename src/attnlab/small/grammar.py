"""The grammar that the small model learns: a few kinds of sentences, one after another.

    the dogs near the old… run .      a verb agrees with its subject, over what stands between
    ( red [ blue ] green ) .          what is opened is closed, in the right order
    yesterday the horse did not cross the river because it was too deep , a deep river .
    we went past the river and the hill to the bank , which was muddy .
    owl salt moss ; owl salt moss .   a run of words, and the same once or twice more

Each choice is made at the word that shows it, so what may follow is decided by the words so far.
`Writer.costs` is therefore what the text costs the best reader that there can be, word by word.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

START = "<s>"
SINGULAR = (
    "dog cat bird child horse boy girl farmer teacher fox king owl wolf queen sailor cow"
).split()
PLURAL = (
    "dogs cats birds children horses boys girls farmers teachers foxes kings owls wolves queens "
    "sailors cows"
).split()
RUNS = "runs sleeps sings waits jumps hides laughs swims falls works dances".split()
RUN = "run sleep sing wait jump hide laugh swim fall work dance".split()
SEES, SEE = "sees likes follows knows".split(), "see like follow know".split()
BESIDE = "near behind beside".split()
ADVERBS = "today again quickly here now".split()
OPENING, CLOSING = "( [ {".split(), ") ] }".split()
COLOURS = "red blue green black white yellow brown grey".split()
ANIMALS = "horse dog fox wolf cow cat".split()
PLACES = "river road street valley lake bridge".split()
TOO = {  # why an animal did not cross a place, why a place did not stop an animal
    "cross": {"animal": "tired slow".split(), "place": "wide deep".split()},
    "stop": {"animal": "strong quick".split(), "place": "narrow shallow".split()},
}
BY_WATER, BY_MONEY = "river stream lake ferry".split(), "money gold coins clerk".split()
PAST = "tree house church hill garden market".split()
WET, RICH = "muddy steep grassy".split(), "rich closed safe".split()
BANKS = ((BY_WATER, WET), (BY_MONEY, RICH))
CONTENT = [*SINGULAR, *PLURAL, *COLOURS, *PAST, *"bread salt moss glass maps tides rust".split()]

_OTHERS = (
    f"{START} . , ; the that yesterday did not because it was too a we walked went came past and "
    "to bank which cross stop"
).split()
words: tuple[str, ...] = tuple(
    dict.fromkeys(
        [
            *_OTHERS,
            *OPENING,
            *CLOSING,
            *CONTENT,
            *RUNS,
            *RUN,
            *SEES,
            *SEE,
            *BESIDE,
            *ADVERBS,
            *PLACES,
            *(word for two in TOO.values() for some in two.values() for word in some),
            *(word for some in BANKS for part in some for word in part),
        ]
    )
)
NUMBER = {word: index for index, word in enumerate(words)}

KINDS = {"agreement": 0.4, "brackets": 0.2, "it": 0.12, "bank": 0.1, "run": 0.18}
MOST_CLAUSES, DEEPEST, LONGEST_RUN = 3, 3, 8


def as_labels(tokens: Sequence[str]) -> list[str]:
    """Words as labels: the one that begins a text goes by its name."""
    return ["start" if token == START else token for token in tokens]


class Writer:
    """Writes a text, and keeps what each word costs who knows the grammar.

    Attributes:
        text: the words so far.
        costs: −log of each word's probability after those before it, in nats.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.text: list[str] = []
        self.costs: list[float] = []

    def say(self, *those: str) -> None:
        """Words that cannot be others."""
        self.text += those
        self.costs += [0.0] * len(those)

    def pick(self, among: Sequence[str], share: float = 1.0) -> str:
        """One of these words, each with the same probability; `share` is that of all of them."""
        word = among[int(self.rng.random() * len(among))]
        self.text.append(word)
        self.costs.append(math.log(len(among) / share))
        return word

    def sentence(self, kind: str = "") -> None:
        """One sentence, of a kind that is drawn unless it is given."""
        drawn = kind or self.rng.choices([*KINDS], [*KINDS.values()])[0]
        share = 1.0 if kind else KINDS[drawn]
        {
            "agreement": self._agreement,
            "brackets": self._brackets,
            "it": self._it,
            "bank": self._bank,
            "run": self._run,
        }[drawn](share)
        self.say_end()

    def say_end(self) -> None:
        if self.text[-1] != ".":
            self.say(".")

    def _agreement(self, share: float) -> None:
        self.pick(["the"], share)
        many = self.pick([*SINGULAR, *PLURAL]) in PLURAL
        for clause in range(MOST_CLAUSES + 1):
            more = 0.0 if clause == MOST_CLAUSES else 0.55
            if self.rng.random() >= more:
                break
            self.clause(more)
        self.pick(RUN if many else RUNS, 1 - more)
        if self.rng.random() < 0.4:
            self.pick(ADVERBS, 0.4)
            self.say(".")
        else:
            self.pick(["."], 0.6)

    def clause(self, share: float = 1.0, that: bool | None = None) -> None:
        """What stands between a subject and its verb: near the cats; that the boy sees."""
        if self.rng.random() < 0.4 if that is None else that:
            self.pick(["that"], 0.4 * share)
            self.say("the")
            among = PLURAL if self.pick([*SINGULAR, *PLURAL]) in PLURAL else SINGULAR
            self.pick(SEE if among is PLURAL else SEES)
        else:
            self.pick(BESIDE, 0.6 * share)
            self.say("the")
            self.pick([*SINGULAR, *PLURAL])

    def _brackets(self, share: float) -> None:
        stack = [self.pick(OPENING, share)]
        while stack:
            opened = self.text[-1] in OPENING
            open_, word = (0.25, 0.75) if opened else (0.18, 0.45)
            if len(stack) == DEEPEST:
                open_, word = 0.0, open_ + word
            drawn = self.rng.random()
            if drawn < open_:
                stack.append(self.pick(OPENING, open_))
            elif drawn < open_ + word:
                self.pick(COLOURS, word)
            else:
                self.pick([CLOSING[OPENING.index(stack.pop())]], 1 - open_ - word)

    def _it(self, share: float) -> None:
        self.pick(["yesterday"], share)
        self.say("the")
        first = self.pick([*ANIMALS, *PLACES])
        verb, others = ("cross", PLACES) if first in ANIMALS else ("stop", ANIMALS)
        self.say("did", "not", verb, "the")
        second = self.pick(others)
        self.say("because", "it", "was", "too")
        animal, place = (first, second) if verb == "cross" else (second, first)
        why = self.pick(TOO[verb]["animal"] + TOO[verb]["place"])
        self.say(",", "a", why, animal if why in TOO[verb]["animal"] else place)

    def _bank(self, share: float) -> None:
        self.pick(["we"], share)
        self.pick("walked went came".split())
        self.say("past", "the")
        near = self.pick(BY_WATER + BY_MONEY)
        for more in (0.5, 0.5, 0.5, 0.0):
            if self.rng.random() >= more:
                self.pick(["to"], 1 - more)
                break
            self.pick(["and"], more)
            self.say("the")
            self.pick(PAST)
        self.say("the", "bank", ",", "which", "was")
        self.pick(WET if near in BY_WATER else RICH)

    def _run(self, share: float) -> None:
        run = [self.pick(CONTENT, share)]
        while len(run) < LONGEST_RUN:
            # One word more, or the end: by ';', or by the first word again.
            drawn = self.rng.random()
            if len(run) > 1 and drawn < 0.2:
                break
            left = [word for word in CONTENT if word not in run]
            run.append(self.pick(left, 1.0 if len(run) == 1 else 0.8))
        ends = 1.0 if len(run) == LONGEST_RUN else 0.2
        between = [";"] if self.rng.random() < 0.5 else []
        again = [*between, *run]
        self.pick(again[:1], ends / 2)
        self.say(*again[1:])
        if self.rng.random() < 0.5:
            self.pick(["."], 0.5)
        else:
            self.pick(again[:1], 0.5)
            self.say(*again[1:])


def written(rng: random.Random, length: int, start: bool = True) -> tuple[list[int], list[float]]:
    """A text of so many words, cut where it is full: their numbers, and what each costs.

    Args:
        start: whether it begins with <s>.
    """
    writer = Writer(rng)
    if start:
        writer.say(START)
    while len(writer.text) < length:
        writer.sentence()
    return [NUMBER[word] for word in writer.text[:length]], writer.costs[:length]
