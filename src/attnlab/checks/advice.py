"""What to say of the mistakes that need no formula: slug or situation → (reason, remedy).

Lessons of lists, of arrays and of tensors share these texts, and those of `mistakes` and `crashes`.
Each is told in its lesson's words: see `spoken`.
"""

from __future__ import annotations

import re

_CHOICE = re.compile("«([^«»]*)»")


def spoken(text: str, stage: str) -> str:
    """A text in the words of a stage: of «lists|arrays|tensors» one is said.

    Where there are two, as in «lists and arrays|tensors», the first is for both.
    """

    def chosen(found: re.Match[str]) -> str:
        words = found[1].split("|")
        return words[{"pure": 0, "numpy": len(words) - 2, "torch": -1}[stage]]

    return _CHOICE.sub(chosen, text)


GENERAL = {
    "wrong-type": (
        "Its type is not the one that the signature promises. Its values were not looked at yet.",
        "Print `type(...)` of what you return and compare it with the signature's last part.",
    ),
    "nothing-returned": (
        "It gave None: it ended without a `return`, or None is what it returned.",
        "Let its last line return the result, and follow the path that it takes for these inputs.",
    ),
    "results-missing": (
        "Several results are asked for. They are returned together, as a tuple.",
        "End with one `return` that names them all, separated by commas, in the signature's order.",
    ),
    "wrong-error": (
        "It refuses, which is right, but with another error than the one asked for.",
        "Use `raise` with the error that the docstring names.",
    ),
    "stumbled": (
        "This case is to be refused, and when Python stopped at that line, with an error of its "
        "own, no `raise` or `assert` had refused it.",
        "Let a test for this case, and a `raise` of the error that the docstring names, come "
        "before that line. If they are that line, mend what stops there.",
    ),
    "wrong-shape": (
        "A size or an axis is not where the signature puts it.",
        "Write the shape after each line as a comment, from the shape ledger, and find the first "
        "line that departs from it.",
    ),
    "wrong-dtype": (
        "The values may be right, but they are stored as another kind of number than the signature "
        "promises: a mask is bool, and a result keeps the dtype of what it was made from.",
        "Let a mask come from a comparison«|, or use `.bool()`», before any `~`: of whole numbers "
        "`~` makes −1 and −2, which both count as True. Elsewhere look for "
        "«an array|a tensor» made with a dtype of its own, for `//`, and for "
        "«`.astype(…)`|`.float()`».",
    ),
    "wrong-device": (
        "A tensor is made on the CPU unless told otherwise, wherever the inputs are, and stays "
        "where it was made: one that is kept for later calls stays on the first call's device.",
        "Give `torch.ones`, `torch.arange` and the like a `device=`: the one that is asked for, or "
        "an input's own, `x.device`. Keep none of one device for another.",
    ),
    "non-finite": (
        "inf − inf, 0 · inf and 0 / 0 all give NaN, and NaN spreads to everything it touches.",
        "Print each intermediate result for this input and find the first that is not finite.",
    ),
    "mutated-input": (
        "«A list|An array|A tensor» is handed over and not copied: `x[i] = …`, `x += …` and "
        "«`x.sort()`|`x.mul_(…)`» on a parameter change the caller's own data.",
        "Build a new «list|array|tensor», or copy the input first.",
    ),
    "nondeterministic": (
        "It depends on something besides its inputs: random numbers, or state kept between "
        "calls«||, or what a parameter was before its numbers were loaded».",
        "Look for a random call, a global variable, or a default argument such as `cache=[]`.",
    ),
    "remembers-a-call": (
        "Called once, it is right. Called again with other inputs, it is not: it has kept "
        "something of the first call.",
        "Look for what is made once and used again: «|an attribute set in `forward`, »a global "
        "variable, a default argument such as `cache={}`.",
    ),
    "not-exactly-0": (
        "What has to be 0 is only near it: something small was added, or is the least that a "
        "weight can be, or what stands for -inf is not low enough for e to it to be 0.",
        "Hide with -inf itself, as e to the -inf is 0, and add nothing to what comes of it.",
    ),
    "only-in-training": (
        "The module is right in training mode, in which it begins, and not after `.eval()`.",
        "Look for `self.training`, for dropout, and for an `eval` or `train` of your own; and "
        "keep nothing of one call for the next in either mode.",
    ),
    "shared-by-modules": (
        "Alone it is right, and not where another module of its class was made after it: they "
        "share something that each should have of its own.",
        "Keep all that is its own as `self.n_heads = n_heads`; look for a global variable, and for "
        "an attribute of the class in place of the instance.",
    ),
    "shared-result": (
        "Both calls write into the same «list|array|tensor», so whoever keeps the first result "
        "finds the second in it.",
        "Make a new «list|array|tensor» in every call; look for one that is made outside of the "
        "function, or for a default argument such as `out=[]`.",
    ),
    "endless-recursion": (
        "Your function calls itself, and nothing stops it.",
        "Look for a call to itself under its own name, perhaps meant for another function.",
    ),
    "no-gradient": (
        "Somewhere the chain from inputs to output is cut: `.detach()`, `.item()`, `.numpy()`, "
        "`torch.tensor(...)` or `torch.no_grad()` make numbers that autograd cannot follow.",
        "Print `.requires_grad` of each intermediate result and find the first that is False.",
    ),
    "changed-in-place": (
        "The numbers came back, and the gradients could not: autograd needs a tensor as it "
        "was, and it was changed in place.",
        "Look for `x /= …`, `x += …`, `x[…] = …` and methods that end in `_`, as `x.mul_(…)` does, "
        "and make a new tensor instead.",
    ),
    "wrong-structure": (
        "The check loads weights into your module, an `nn.Module`, whose parameters have to be "
        "those that the exercise asks for, by name, shape and number. A plain tensor is none, and "
        "nor is one that is made in `forward`.",
        "Print `{name: p.shape for name, p in module.named_parameters()}` and compare it with the "
        "exercise's text, letter by letter. A layer `self.W = nn.Linear(n, m)` makes `W.weight`, "
        "(m, n), and `W.bias` unless `bias=False`.",
    ),
    "banned-call": (
        "The exercise is to write what that call does. It is what your answer is checked against.",
        "Write scores, scale, mask, softmax and the weighted sum yourself, with `@` and "
        "`torch.softmax`; where a lesson gives you `attend`, use that.",
    ),
    "refused": (
        "Your own `raise` refused inputs that have an answer.",
        "Look at the condition above that line, and print both sides of it for these inputs.",
    ),
    "helper-refused": (
        "`{0}` refused what it was given: what reached it is wrong, or its condition is.",
        "Print what `{0}` is called with for these inputs, and compare it with what it asks for.",
    ),
    "no-way-back": (
        "The numbers came back. PyTorch was then asked for the gradients, and that stopped.",
        "Build the answer from tensors alone, each made from the ones before it, none changed. "
        "Leave `requires_grad` of parameters as it is, and `.backward()` to the one who calls.",
    ),
    "raised": (
        "Python could not go on from there.",
        "Call it with these inputs in a new cell, and print the type and the «length|shape|shape» "
        "of each name in the line that raised.",
    ),
    "not-raised": (
        "What cannot work should be refused: whoever called would believe what comes back instead.",
        "Test for this case in the first lines of «the function|the function or of `__init__`», "
        "and `raise` there.",
    ),
}
