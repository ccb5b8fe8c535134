"""What to say of the mistakes that need no formula: slug → (reason, what to try)."""

GENERAL = {
    "wrong-type": (
        "The values may be right, but they come in another container than the signature promises.",
        "Print `type(...)` of what you return and compare it with the signature's last part.",
    ),
    "wrong-shape": (
        "A size or an axis is not where the signature puts it.",
        "Write the shape after each line as a comment, from the shape ledger, and find the first "
        "line that departs from it.",
    ),
    "wrong-dtype": (
        "Somewhere the numbers were rounded or turned into whole ones.",
        "Look for an array made with its own dtype, such as `np.zeros(..., int)` or `// `.",
    ),
    "non-finite": (
        "inf − inf, 0 · inf and 0 / 0 all give NaN, and NaN spreads to everything it touches.",
        "Print each intermediate result for this input and find the first that is not finite.",
    ),
    "mutated-input": (
        "A list or array is passed by reference: `x[i] = …`, `x += …` and `.sort()` on a "
        "parameter change the caller's own data.",
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
    "raised": (
        "Python stopped inside your function before it could return.",
        "Call it by hand, as shown above; the traceback then marks the line.",
    ),
    "not-raised": (
        "A question that has no answer should be refused: a number returned here would be "
        "believed by whoever called.",
        "Test for this case in the first lines of the function and `raise` there.",
    ),
}
