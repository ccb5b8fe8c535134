"""A quiz: one choice for each question, and then the answer. What was chosen first is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attnlab.asking import Asking
from attnlab.figures.live.figure import Figure, Input, Values, source, style
from attnlab.quizzes import Question


class Quiz(Figure):
    """Questions with a few choices. A choice is final: only then the page gets the answer.

    Args:
        lesson: slug of the lesson that asks.
        heading: of the questions, 'recall'.
        questions: one or more.
        kept: what was chosen before, by its index; None where a question had other choices then.
    """

    _esm = source("quiz")
    _css = style("quiz")
    chosen = Input()

    def __init__(
        self,
        lesson: str,
        heading: str,
        questions: Sequence[Question],
        kept: Mapping[Question, int | None] | None = None,
    ) -> None:
        self._asking = Asking(lesson, heading, questions, kept or {})
        self.title = self._asking.title
        super().__init__(chosen=self._asking.start)
        self.problem = self._asking.problem

    def choose(self, question: int, choice: int) -> None:
        """Choose, once, and keep it among the learner's progress.

        Raises:
            ValueError: another was chosen before, or there is no such question or choice.
        """
        self.change(chosen=self._asking.choose(self.chosen, question, choice))
        self.problem = self._asking.problem

    def checked(self, inputs: Values) -> Values:
        """One choice, or None, for each question."""
        return {**inputs, "chosen": self._asking.checked(inputs["chosen"])}

    def computed(self, inputs: Values) -> Values:
        return self._asking.state(inputs["chosen"])

    def _do(self, message: Values) -> None:
        self.choose(*message["choose"])

    def summary(self) -> str:
        return self._asking.summary()

    def controls(self) -> None:
        return None  # the page gets no answer before a choice

    def fallback(self) -> str:
        return self._asking.still(self.chosen)
