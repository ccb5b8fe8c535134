"""What a lesson asks by the way: questions with a few choices, in its `quizzes.md`.

    # recall

    ## Scores are divided by √d_k. Which number is d_k?

    - [ ] How many keys there are

      Not this one: that is M.

    - [x] The width of a query

      Yes. …

`quiz("recall")` shows the questions below that title. Without answers beside its choices, a
question keeps what was chosen, and the lesson answers it later, by its letter. A paragraph is one
line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from attnlab import lessons
from attnlab.work.progress import CHOSE, Record

LETTERS = "ABCDE"
PREDICTS = "predict"  # a title that begins so: a guess, for which nobody can know better yet
LATER = (4, 2)  # lessons after the one where it was missed, a question is asked again
AGAIN = 2  # of them at most in one lesson

_TITLE, _QUESTION = (re.compile(rf"^{marks} +(.*)$", re.MULTILINE) for marks in ("#", "##"))
_CHOICE = re.compile(r"^- \[([ x])\] +(.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Question:
    """One question, in Markdown.

    Attributes:
        lesson: slug of the lesson that it stands in.
        name: 'recall/2', its title and its number.
        choices: the first is A.
        answers: what is said to each choice; none where the lesson answers later.
        right: index of the right choice.
    """

    lesson: str
    name: str
    asked: str
    choices: tuple[str, ...]
    answers: tuple[str, ...]
    right: int

    def named(self, lesson: str) -> str:
        """Its name among what a lesson asks: one of another lesson has that lesson's before it."""
        return self.name if lesson == self.lesson else f"{self.lesson}/{self.name}"

    @property
    def predicts(self) -> bool:
        return self.name.startswith(PREDICTS)


@cache
def of(slug: str) -> dict[str, tuple[Question, ...]]:
    """A lesson's questions by their title, in their order; {} if it has none."""
    path = Path(lessons.__file__).parent / lessons.name_of(slug) / "quizzes.md"
    return read(path, slug) if path.is_file() else {}


def read(path: Path, slug: str) -> dict[str, tuple[Question, ...]]:
    """The questions in a file.

    Raises:
        ValueError: something has another form; it says which question, and what is wrong.
    """
    _, *parts = _TITLE.split(path.read_text(encoding="utf-8"))
    found: dict[str, tuple[Question, ...]] = {}
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        _, *asked = _QUESTION.split(text)
        if not asked or title in found:
            raise ValueError(f"{path}: # {title} has no question, or stands there twice")
        found[title] = tuple(
            _question(slug, f"{title}/{number}", *pair, path)
            for number, pair in enumerate(zip(asked[::2], asked[1::2], strict=True), start=1)
        )
    return found


def _question(slug: str, name: str, asked: str, text: str, path: Path) -> Question:
    before, *parts = _CHOICE.split(text)
    marks, choices = parts[::3], tuple(parts[1::3])
    answers = tuple(filter(None, (" ".join(each.split()) for each in parts[2::3])))
    wrong = ""
    if before.strip():
        wrong = "has words between the question, which is one line, and its first choice"
    elif not 2 <= len(choices) <= len(LETTERS) or len(set(choices)) < len(choices):
        wrong = f"needs 2 to {len(LETTERS)} choices, all different"
    elif marks.count("x") != 1:
        wrong = f"has {marks.count('x')} choices that are right, [x], and needs one"
    elif len(answers) not in (0, len(choices)):
        wrong = f"answers {len(answers)} of its {len(choices)} choices: answer all of them, or none"
    if wrong:
        raise ValueError(f"{path}: {name} {wrong}")
    return Question(slug, name, asked, choices, answers, marks.index("x"))


# What was chosen --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a learner chose first, where a question was asked.

    Attributes:
        lesson: slug of the lesson that asked.
        choice: its index, None if the question had other choices then.
    """

    lesson: str
    question: Question
    choice: int | None

    @property
    def is_right(self) -> bool:
        return self.choice == self.question.right


def chosen(records: Iterable[Record]) -> list[Chosen]:
    """The first choice for each question in each lesson that asked it, in the order of time."""
    known = {
        f"{slug}/{each.name}": each
        for slug in lessons.slugs()
        for questions in of(slug).values()
        for each in questions
    }
    found: dict[tuple[str, str], Chosen] = {}
    for record in records:
        of_here = known.get(f"{record.lesson}/{record.exercise}")
        question = of_here or known.get(record.exercise)  # one of another lesson, asked again
        if record.status != CHOSE or question is None:
            continue
        choices, home = question.choices, (record.lesson, record.exercise)
        at = choices.index(record.choice) if record.choice in choices else None
        if home not in found or found[home].choice is None:
            found[home] = Chosen(record.lesson, question, at)
    return list(found.values())


def counted(slug: str, records: Iterable[Record]) -> tuple[int, int]:
    """How many questions a lesson got right answers to, and to how many any; guesses left out."""
    asked = [each for each in chosen(records) if each.lesson == slug and not each.question.predicts]
    return sum(each.is_right for each in asked), len(asked)


def missed(records: Iterable[Record]) -> list[Question]:
    """Questions whose last answer was wrong, the oldest first; a guess cannot be missed."""
    last = {each.question: each for each in chosen(records) if not each.question.predicts}
    return [question for question, each in last.items() if not each.is_right]


def due(slug: str, records: Iterable[Record]) -> tuple[Question, ...]:
    """What a lesson asks again: what was missed four lessons and two lessons before it."""
    number = lessons.lesson(slug).number
    wrong = [
        each.question
        for each in chosen(records)
        if each.lesson == each.question.lesson and not each.question.predicts and not each.is_right
    ]
    back = [lessons.slugs()[at] for at in (number - 1 - later for later in LATER) if at >= 0]
    return tuple(each for home in back for each in wrong if each.lesson == home)[:AGAIN]
