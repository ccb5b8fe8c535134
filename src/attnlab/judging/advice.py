"""What to say of the mistakes that need no formula: slug or situation → (reason, remedy)."""

GENERAL = {
    "wrong-type": (
        "Its type is not the one that the signature promises. Its values were not looked at yet.",
        "Print `type(...)` of what you return and compare it with the signature's last part.",
    ),
    "nothing-returned": (
        "Your function ended without a `return`, so that it gave None.",
        "Let its last line return the result.",
    ),
    "results-missing": (
        "Several results are asked for, and they are returned together, as a tuple.",
        "End with one `return` that names them all, separated by commas, in the signature's order.",
    ),
    "wrong-error": (
        "It refuses, which is right, but with another error than the one that is asked for.",
        "Use `raise` with the error that the docstring names.",
    ),
    "stumbled": (
        "Nothing in the function looks at whether this can be answered: it went on, and Python "
        "stopped further down with an error of its own.",
        "Test for this case in the first lines of the function and `raise` the error that the "
        "docstring names.",
    ),
    "wrong-shape": (
        "A size or an axis is not where the signature puts it.",
        "Write the shape after each line as a comment, from the shape ledger, and find the first "
        "line that departs from it.",
    ),
    "wrong-dtype": (
        "The values may be right, but they are stored as another kind of number than the signature "
        "promises: a mask is bool, and a result keeps the dtype of what it was made from.",
        "End a mask with `.bool()` or a comparison; elsewhere look for an array or tensor made "
        "with a dtype of its own, for `//`, and for `.float()`.",
    ),
    "wrong-device": (
        "A tensor is made on the CPU unless told otherwise, wherever the inputs are.",
        "Give `torch.ones`, `torch.arange` and the like a `device=`: the one that is asked for, or "
        "an input's own, `x.device`.",
    ),
    "non-finite": (
        "inf − inf, 0 · inf and 0 / 0 all give NaN, and NaN spreads to everything it touches.",
        "Print each intermediate result for this input and find the first that is not finite.",
    ),
    "mutated-input": (
        "A list or array is passed by reference: `x[i] = …`, `x += …`, `.sort()` and "
        "`x.mul_(…)` on a parameter change the caller's own data.",
        "Build a new list or array, or copy the input first.",
    ),
    "nondeterministic": (
        "It depends on something besides its inputs: random numbers, or state kept between calls.",
        "Look for a random call, a global variable, or a default argument such as `cache=[]`.",
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
        "Look for `x /= …`, `x += …`, `x[…] = …` and `x.mul_(…)`, and make a new tensor instead.",
    ),
    "wrong-structure": (
        "The check loads weights into your module by name, so that names and shapes have to be "
        "those of the signature.",
        "Print `list(module.named_parameters())` and compare.",
    ),
    "banned-call": (
        "The exercise is to write what that call does. It is what your answer is checked against.",
        "Write scores, scale, mask, softmax and the weighted sum yourself, with `@` and "
        "`torch.softmax`.",
    ),
    "refused": (
        "Your own `raise` refused inputs that have an answer.",
        "Look at the condition above that line, and print both sides of it for these inputs.",
    ),
    "no-way-back": (
        "The numbers came back. PyTorch then asked for gradients, and that stopped.",
        "Build the answer from tensors alone, each made from the ones before it, none changed.",
    ),
    "raised": (
        "Python could not go on from there.",
        "Call it with these inputs in a new cell, and print the type and the shape of each name "
        "in the line that raised.",
    ),
    "not-raised": (
        "A question that has no answer should be refused: a number returned here would be "
        "believed by whoever called.",
        "Test for this case in the first lines of the function and `raise` there.",
    ),
}
