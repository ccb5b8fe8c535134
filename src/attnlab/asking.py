"""A quiz that is being answered: what its page shows before a choice, and after it.

Here is what a widget and a page without one share; `figures.live.quiz` is the widget.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

import mistune

from attnlab import lessons
from attnlab.quizzes import LETTERS, Question
from attnlab.work import progress

HELD = "Kept. The lesson comes back to it."
CHANGED = (
    "A question has other choices than when you answered it: choose again. What you chose then "
    "stays among your progress."
)
UNSAVED = (
    "Your choice could not be written, so the course home will not know of it. In a terminal, "
    "`attnlab doctor` says what mends it."
)
OTHERS = "The other answers"
KEPT = "What is chosen is kept where the cell is run."  # said where no kernel may be
_ROWS = "list-style:none;margin:6px 0;padding:0;max-width:75ch"
_ROW = (
    "display:flex;justify-content:space-between;gap:12px;margin:4px 0;padding:4px 12px;border:2px"
)
Chosen = list[int | None]  # for each question the index of a choice

_markdown = mistune.create_markdown(escape=True)


class Asking:
    """Questions of one heading, as a lesson asks them.

    Args:
        lesson: slug of the lesson that asks.
        heading: of the questions, 'recall'.
        questions: one or more.
        kept: what was chosen before, by its index; None where a question had other choices then.

    Attributes:
        start: what is chosen at the beginning.
        problem: what has to be said, then and after a choice; '' for nothing.
    """

    def __init__(
        self,
        lesson: str,
        heading: str,
        questions: Sequence[Question],
        kept: Mapping[Question, int | None],
    ) -> None:
        self._lesson, self._questions = lesson, tuple(questions)
        self.title = heading.capitalize()
        self.start: Chosen = [kept.get(each) for each in self._questions]
        self.problem = CHANGED if any(kept.get(each, 0) is None for each in questions) else ""

    def choose(self, chosen: Chosen, question: int, choice: int) -> Chosen:
        """What is chosen after one more choice, which is kept among the learner's progress.

        Raises:
            ValueError: another was chosen before, or there is no such question or choice.
        """
        if not 0 <= question < len(self._questions):
            raise ValueError(f"there is no question {question}; there are {len(self._questions)}")
        if choice is not None and chosen[question] == choice:
            return chosen  # a second press
        if chosen[question] is not None:
            raise ValueError("you have chosen already, and your first choice stays")
        asked = self._questions[question]
        after = self.checked([*chosen[:question], choice, *chosen[question + 1 :]])
        told = (self._lesson, asked.named(self._lesson), progress.CHOSE)
        score = float(choice == asked.right)
        kept = progress.note(*told, score, 1.0, choice=asked.choices[choice])
        self.problem = "" if kept else UNSAVED
        return after

    def checked(self, chosen: Chosen) -> Chosen:
        """One choice, or None, for each question."""
        for asked, choice in zip(self._questions, chosen, strict=True):
            if choice is not None and choice not in range(len(asked.choices)):
                last = LETTERS[len(asked.choices) - 1]
                raise ValueError(f"there is no choice {choice}; the choices are A to {last}")
        return chosen

    def state(self, chosen: Chosen) -> dict[str, Any]:
        """What the page draws."""
        numbered = enumerate(zip(self._questions, chosen, strict=True), start=1)
        return {"questions": [self._shown(number, *each) for number, each in numbered]}

    def _shown(self, number: int, asked: Question, choice: int | None) -> dict[str, Any]:
        """A question as the page gets it: without any answer as long as nothing was chosen."""
        told, others, right = [], [], None
        if choice is not None and asked.answers:
            right = asked.right
            first = dict.fromkeys((choice, right, *range(len(asked.answers))))
            said = [f"{LETTERS[at]}. {asked.answers[at]}" for at in first]
            mine = 1 if choice == right else 2
            told, others = said[:mine], said[mine:]
        elif choice is not None:
            told = [HELD]
        return {
            "from": self._from(asked),
            "asked": self._numbered(number, asked),
            "choices": [*map(_inline, asked.choices)],
            "marks": [_mark(at, choice, right) for at in range(len(asked.choices))],
            "chosen": choice,
            "right": right,
            "told": [*map(_inline, told)],
            "others": [*map(_inline, others)],
            "said": " ".join(map(_plain, told)),
            "room": _room(asked),
        }

    def _numbered(self, number: int, asked: Question) -> str:
        """The question, with its number where there are several."""
        of_several = f"<strong>{number}.</strong> " if len(self._questions) > 1 else ""
        return f"{of_several}{_inline(asked.asked)}"

    def _from(self, asked: Question) -> str:
        """What is said before a question that comes back."""
        if asked.lesson == self._lesson:
            return ""
        return f"Missed in lesson {lessons.lesson(asked.lesson).number:02}, so here it is again."

    def summary(self) -> str:
        told = []
        for number, asked in enumerate(self._questions, start=1):
            choices = " ".join(
                f"{letter}. {_plain(choice)}"
                for letter, choice in zip(LETTERS, asked.choices, strict=False)
            )
            told.append(f"{number}. {_plain(asked.asked)} {choices}")
        return " ".join(told)

    def still(self, chosen: Chosen, opens: bool = True) -> str:
        """The questions as HTML without scripts.

        Args:
            opens: whether a choice that was not made can be opened: on a page where none is kept.
        """
        asked = "".join(
            f"<p>{shown['asked']}</p>"
            f"{_openable(each) if opens and shown['chosen'] is None else _still(shown)}"
            for each, shown in zip(self._questions, self.state(chosen)["questions"], strict=True)
        )
        label = html.escape(f"Quiz: {self.title}", quote=True)
        return (
            f'<figure aria-label="{label}" style="margin:0">{asked}'
            f"<figcaption>{KEPT}</figcaption></figure>"
        )


def _mark(at: int, chosen: int | None, right: int | None) -> str:
    """What stands beside a choice."""
    sign = "✓" if at == right else "✗" if right is not None and at == chosen else ""
    return " ".join(filter(None, (sign, "your choice" if at == chosen else "")))


def _openable(asked: Question) -> str:
    """A question's choices without scripts: opening one is choosing it."""
    heads = [
        f"{letter}. {_inline(choice)}"
        for letter, choice in zip(LETTERS, asked.choices, strict=False)
    ]
    if not asked.answers:
        return "".join(f"<p>{head}</p>" for head in heads)
    return "".join(
        f"<details><summary>{head}</summary><p>{_inline(answer)}</p></details>"
        for head, answer in zip(heads, asked.answers, strict=True)
    )


def _still(shown: Mapping[str, Any]) -> str:
    """A question's choices, which was made, and what is told then."""
    rows = []
    for letter, choice, mark in zip(LETTERS, shown["choices"], shown["marks"], strict=False):
        line = "solid" if mark else "dotted"
        rows.append(f'<li style="{_ROW} {line}"><span>{letter}. {choice}</span><b>{mark}</b></li>')
    told = "".join(f"<p>{answer}</p>" for answer in shown["told"])
    others = "".join(f"<p>{answer}</p>" for answer in shown["others"])
    folded = others and f"<details><summary>{OTHERS}</summary>{others}</details>"
    listed = f'<ul style="{_ROWS}">{"".join(rows)}</ul>'
    return f'<div style="margin-bottom:16px">{listed}{told}{folded}</div>'


def _room(asked: Question) -> list[str]:
    """Paragraphs as long as the longest that may be told, with nothing in them: room is kept."""
    if not asked.answers:
        return [_blank(HELD)]
    right = asked.answers[asked.right]
    longest = max((each for each in asked.answers if each != right), key=len)
    more = [OTHERS] * (len(asked.answers) > 2)
    return [*(_blank(f"A. {each}, and a word") for each in (longest, right)), *map(_blank, more)]


def _blank(text: str) -> str:
    return re.sub(r"\S", "n", _plain(text))


def _inline(text: str) -> str:
    """A paragraph of Markdown as HTML, without its <p>; d_k gets its k below."""
    made = str(_markdown(text)).strip().removeprefix("<p>").removesuffix("</p>")
    return re.sub(
        r"(<code>.*?</code>)|\b([A-Za-z])_([A-Za-z])\b",
        lambda found: found[1] or f"{found[2]}<sub>{found[3]}</sub>",
        made,
    )


def _plain(text: str) -> str:
    """Markdown as it is read out."""
    return html.unescape(re.sub("<[^>]+>", "", str(_markdown(text)))).strip()
