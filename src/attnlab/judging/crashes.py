"""Why did it stop? What Python, NumPy and PyTorch say of a mistake, in the lessons' words.

Of «lists|arrays|tensors» the words of the lesson are said: see `advice.spoken`.

The first line of the table that fits is said. It fits if its pattern is found in what was raised,
`TypeError: 'float' object is not iterable`, and its `line` in the line of code that raised it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from attnlab.calling.call import Raised


@dataclass(frozen=True, slots=True)
class Crash:
    """One kind of crash.

    Attributes:
        pattern: of the exception; its groups stand in the texts as {0}, {1}.
        reason: why Python stopped.
        remedy: one thing to try.
        line: pattern of the line that raised, where that matters.
    """

    pattern: str
    reason: str
    remedy: str
    line: str = ""


_REDUCED = r"\b(max|min|sum|mean|amax|logsumexp|all)\("
_SHAPES = "Print the shapes of what stands in that line, and compare them with the shape ledger."
_TOO_DEEP = (
    "It is a single number here, and the line takes it for a list, one level deeper than there is."
)
_DTYPES = "Numbers of two precisions meet, float32 and float64."

CRASHES = (
    # memory
    Crash(
        r"Unable to allocate .* shape \((\d+), \1\)",
        "Each of {0} was put together with each of the {0}, which makes N² numbers. One number for "
        "each pair is enough: the first query with the first key, the second with the second.",
        "Multiply entry by entry and sum over the last axis: `(q * k).sum(-1)`, not `q @ k.T`.",
    ),
    # names and calls
    Crash(
        r"UnboundLocalError: .*variable '(\w+)'",
        "`{0}` has no value yet where that line reads it. It gets one further down, or in a branch "
        "or loop that did not run; `{0} += …` needs one to begin with.",
        "Give `{0}` a value before the `if` or the loop.",
    ),
    Crash(
        r"^NameError: name '(\w+)'",
        "Nothing here has defined `{0}`. Each notebook starts empty: what you wrote in an earlier "
        "lesson is not here.",
        "Run the cell that defines `{0}`, or look for a slip of the pen.",
    ),
    Crash(
        r"TypeError: '(\w+)' object is not callable",
        "The name before the `(…)` stands for a value of type {0}, not for a function: either a "
        "name such as `sum` or `max` was used for a variable, or `[…]` was meant.",
        "Give the variable another name, or write square brackets.",
    ),
    Crash(
        r"TypeError: '(?:builtin_)?function(?:_or_method)?' object is not subscriptable",
        "A function is called with round brackets, and square ones stand there.",
        "Write `f(x)` for `f[x]`.",
    ),
    Crash(
        r"cannot assign (?:module|parameter)s? before Module",
        "nn.Module keeps its parts in a list that its own `__init__` makes, and that has not run.",
        "Make `super().__init__()` the first line of your `__init__`.",
    ),
    Crash(
        r"missing the required \"forward\"",
        "A module is called through its method `forward`, and there is none of that name in it.",
        "Look at the name and the indentation of `forward`.",
    ),
    Crash(
        r"TypeError: (?:\w+\.)*(\w+)\(\) (missing \d|takes .*positional|got an unexpected)",
        "`{0}` was called with other arguments than it is written to take.",
        "Compare the line that defines `{0}` with the one that calls it; the exercise's signature "
        "has to stay as it is given.",
    ),
    # None
    Crash(
        r"'NoneType'",
        "Something in that line is None: an optional argument that was not given, what a function "
        "without a `return` gives, or a method that changes a list in place, as `append` does.",
        "Print each name of that line, and look for the one that is None. Where it is an argument, "
        "ask first: `if mask is not None`.",
    ),
    # lists
    Crash(
        r"unhashable type: '(list|numpy\.ndarray)'",
        "A key that is a {0} cannot be looked up in a dict or a set: it may change, so Python "
        "gives it no hash.",
        "Keep the keys in their list, go through them, and compare with `==`.",
    ),
    Crash(
        r"KeyError",
        "A dict was asked for a key that it does not hold.",
        "Print the key and the dict's keys; between keys that are lists, compare with `==`.",
    ),
    Crash(
        r"can't multiply sequence by non-int of type '(float|numpy\.float64)'",
        "A list times a number repeats the list, so only whole numbers go; it does not multiply "
        "what is in it.",
        "Multiply number by number: `[a * x for x in row]`.",
    ),
    Crash(
        r"can't multiply sequence by non-int of type 'list'",
        "Lists cannot be multiplied with each other.",
        "Multiply them pair by pair: `sum(a * b for a, b in zip(u, v))`.",
    ),
    Crash(
        r"unsupported operand type\(s\) for @.*'list'",
        "`@` multiplies arrays. Lists do not know it.",
        "Sum over products: `sum(a * b for a, b in zip(row, column))`, for each row and column.",
    ),
    Crash(
        r"(unsupported operand type\(s\) for|bad operand type for|not supported between).*'list'",
        "Arithmetic with a list as a whole: Python's lists do none, only the numbers in them do.",
        "Go through the list: `[x - largest for x in scores]`.",
    ),
    Crash(
        r"can only concatenate list",
        "`+` joins two lists, and here one side is no list.",
        "Add number by number, or use `append`.",
    ),
    Crash(
        r"list indices must be integers or slices, not tuple",
        "`A[i, j]` is for arrays. A list of lists is indexed twice.",
        "Write `A[i][j]`.",
    ),
    Crash(
        r"list indices must be integers or slices, not (\w+)",
        "A place in a list is a whole number, and this is a {0}. A loop over a list gives its "
        "items, not their places.",
        "Loop over `range(len(rows))` for places, or use the item itself.",
    ),
    Crash(
        r"list assignment index out of range",
        "A list has no place to write to before it is that long.",
        "Use `append`, or begin with `[0.0] * n`.",
    ),
    Crash(
        r"list index out of range",
        "A list has no rows to write into before it has been given them.",
        "Append a row at a time, or begin with `[[0.0] * m for _ in range(n)]`.",
        line=r"^\w+\[[^=]*\]\s*[-+*/]?=[^=]",
    ),
    Crash(
        r"IndexError: list index out of range",
        "A place beyond a list's end: one of the ranges goes by the size of something else.",
        "Say for each index which list it counts through, and take the range from that list's "
        "`len`. Rows and columns are easily exchanged.",
    ),
    Crash(
        r"must be real number, not list",
        "A function of `math` takes one number, and this is a list of them.",
        "Call it for each number: `[math.exp(x) for x in row]`.",
    ),
    Crash(
        r"'list' object has no attribute",
        "Inputs are plain lists here. `.shape`, `.T` and the like belong to arrays.",
        "Use `len(A)` for rows, `len(A[0])` for columns, and loops.",
    ),
    Crash(
        r"'(float|int|numpy\.float64)' object is not (iterable|subscriptable)"
        r"|object of type '(?:float|int|numpy\.float64)' has no len|0-d tensor",
        _TOO_DEEP,
        "Print it. If a loop gave it, leave out one index or one inner loop.",
    ),
    Crash(
        r"'(tuple|numpy\.\w+)' object does not support item assignment",
        "A {0} cannot be written into.",
        "Build a list, or an array, and write into that.",
    ),
    Crash(
        r"ValueError: m(ax|in)\(\)",
        "There is nothing here to take the largest or smallest of.",
        "Print what stands in the brackets: a filter may leave nothing, or a loop has used it up.",
    ),
    Crash(
        r"\bgot float|'float' object cannot be interpreted as an integer|must be tuple of ints",
        "A size has to be a whole number, and this is a float: `/` gives a float even where it "
        "divides evenly.",
        "Divide sizes with `//`.",
    ),
    Crash(
        r"unpack",
        "There are more, or fewer, values than names on the left. With `n, d = x.shape` the number "
        "of axes decides, and inputs may have leading ones.",
        "Take the sizes you need from the end: `n, d = x.shape[-2:]`.",
        line=r"\.shape|\.size\(",
    ),
    Crash(
        r"unpack",
        "There are more, or fewer, values than names on the left of the `=` or after the `for`.",
        "Print what is unpacked. `zip` is needed to walk through two lists at once.",
    ),
    # overflow
    Crash(
        r"OverflowError",
        "e to a power above 709 is larger than any float.",
        "Subtract the largest score from all of them before `exp`: the weights stay the same.",
    ),
    Crash(
        r"ZeroDivisionError",
        "It divides by 0. A sum of exponentials is 0 where all of them are too small for a float; "
        "a length is 0 where a list is empty.",
        "For a softmax subtract the largest score first: then one exponential is 1. Else print "
        "what it divides by.",
    ),
    # arrays and tensors: one number where many are, and the other way round
    Crash(
        r"truth value of an array|Boolean value of Tensor",
        "`if`, `and`, `or`, `not` and `in` want one True or False, and a comparison of arrays "
        "gives one for each entry. To ask whether a mask was given, compare with None.",
        "Write `if mask is not None`, `.any()` or `.all()`; between arrays `&`, `|` and `~`.",
    ),
    Crash(
        r"only 0-dimensional arrays|only (one element|length-1)|cannot be converted to Scalar"
        r"|array of size 1 to a Python scalar",
        "`math.exp` and `float(…)`«|, and `.item()`,» take one number, and there are several.",
        "For all of them use the library's own function, «`np.exp`|`torch.exp`»; for one, pick it "
        "by its index.",
    ),
    Crash(
        r"invert.*(not supported|only implemented)",
        "`~` turns True and False round, and here it meets numbers: the mask is not bool.",
        "Look at the mask's dtype: compare, as in `mask == 0`«|, or use `.bool()`; a float mask is "
        "added».",
    ),
    Crash(
        r"(Subtraction|Negation|numpy boolean (subtract|negative)), the `-` operator",
        "True and False have no minus: «`-mask` does not turn|`1 - mask` and `-mask` do "
        "not turn» a mask round, and one is not subtracted from another.",
        "Write `~mask` for the mask turned round, and `a & ~b` for what is in a and not in b.",
    ),
    Crash(
        r"only supports boolean masks",
        "`masked_fill` fills where a *bool* mask is True, and this one holds numbers.",
        "Compare first: `mask == 0`, or `mask.bool()`.",
    ),
    Crash(
        r"'torch\.return_types",
        "In PyTorch `x.max(dim)` and `x.min(dim)` give two things, values and places.",
        "Write `x.max(dim, keepdim=True).values`, or `x.amax(dim, keepdim=True)`.",
    ),
    Crash(
        r"'numpy\.ndarray' object has no attribute '(\w+)'",
        "`.{0}` is no method of NumPy's arrays«|; PyTorch's tensors may have one of that name».",
        "Use NumPy's: `np.where` «to choose entries by a mask|for masked_fill», `[:, None]` «for a "
        "new axis|for unsqueeze», `.swapaxes(-1, -2)` «to transpose the last two|for mT».",
    ),
    Crash(
        r"'Tensor' object has no attribute '(\w+)'",
        "`.{0}` is no method of PyTorch's tensors; NumPy's arrays may have one of that name.",
        "Use PyTorch's: `.to(dtype)` for astype, `.clone()` for copy, `.mT` for swapaxes.",
    ),
    Crash(
        r"argument '\w+' \(position \d\) must be Tensor, not (\S+)",
        "PyTorch's functions take tensors, and this is a {0}.",
        "For one number use `math` or `**`; keep all else in tensors from the start.",
    ),
    # shapes
    Crash(
        r"(could not be broadcast together|must match the size of tensor b|core dimension"
        r"|mat1 and mat2 shapes|dimensions of batch2)",
        "Shapes do not fit. `.T` turns round *all* axes: the batch with them, where there is one. "
        "And a matrix whose rows are as many as the other's columns needs no transpose.",
        "Print both shapes. Leave `.T` out where they fit without; for a batch write "
        "«`.swapaxes(-1, -2)`|`.mT`».",
        line=r"\.T\b|\.transpose\(\)|\.t\(\)",
    ),
    Crash(
        r"(could not be broadcast together|must match the size of tensor b)",
        "Shapes do not fit. A maximum or a sum along an axis loses that axis, so (…, N, M) meets "
        "(…, N).",
        "Keep the axis as one of size 1: `«keepdims|keepdim»=True`.",
        line=rf"{_REDUCED}(?!.*keepdim)",
    ),
    Crash(
        r"mat1 and mat2 shapes cannot be multiplied",
        "W_o takes d numbers a token, and something of another width reaches it. Heads that were "
        "not joined yet, or were averaged, have d/H each.",
        "Put all heads side by side first, (B, H, N, d/H) to (B, N, d), as `merge_heads` does.",
        line=r"\bW_o\(",
    ),
    Crash(
        r"mat1 and mat2 shapes cannot be multiplied \((\S+) and (\S+)\)"
        r"|core dimension|dimensions of batch2",
        "A matrix product needs the columns of the first to be as many as the rows of the second, "
        "and here they are not: the factors may be in the wrong order, or one lacks its transpose.",
        "Write both shapes beside that line. For scores it is `«Q @ K.swapaxes(-1, -2)|q @ k.mT»`, "
        "(N, d) times (d, M).",
    ),
    Crash(
        r"Expected target size|Expected input batch_size",
        "`F.cross_entropy` wants logits (T, C) and targets (T,), and their sizes do not fit.",
        "Flatten all axes of the logits but the last, `flatten(0, -2)`, and all of the targets.",
    ),
    Crash(
        r"probability tensor contains|invalid multinomial distribution",
        "What it draws from is no distribution: there is inf or NaN in it, or it adds up to 0. "
        "Logits divided by a temperature of 0 are infinite.",
        "Treat temperature 0 apart, with `argmax`; for all others print what is drawn from.",
    ),
    Crash(
        r"non-broadcastable output|doesn't match the broadcast shape",
        "`+=` and the like write into what stands on their left, which has too few entries for "
        "the result, and may be an input.",
        "Write `x = x + y`, which makes a new one.",
    ),
    Crash(
        r"(could not be broadcast|could not broadcast|must match the size of tensor b)",
        "Shapes are compared from the last axis backwards, and two sizes there differ and are not "
        "1.",
        f"{_SHAPES} `[:, None]` makes a new axis of size 1.",
    ),
    Crash(
        r"does not have enough dimensions|mT is only supported",
        "A matrix is needed there, and what stands there has fewer than two axes.",
        _SHAPES,
    ),
    Crash(
        r"AxisError|Dimension out of range|axes don't match",
        "There is no axis of that number here: inputs may have more or fewer axes than you expect.",
        "Count axes from the end: -1 is the last, -2 the one before it.",
    ),
    Crash(
        r"too many indices|is out of bounds for axis",
        "An index goes by an axis, or a size, that is not there.",
        _SHAPES,
    ),
    Crash(
        r"shape of the mask|boolean index did not match",
        "A bool index has to have the shape of what it picks from.",
        "Use «`np.where`, which broadcasts|`torch.where` or `masked_fill`, which broadcast», or "
        "give the mask that shape.",
    ),
    Crash(
        r"cannot reshape|is invalid for input of size|view size is not compatible",
        "«`reshape` keeps|`reshape` and `view` keep» the number of entries and their order, so "
        "«it can neither drop entries nor transpose|they can neither drop entries nor transpose; "
        "and after a transpose `view` would have to copy, which it never does».",
        "To exchange axes use `.swapaxes`«| or `.mT`; after a transpose use `reshape`, not "
        "`view`».",
    ),
    Crash(
        r"same number of dimensions|Sizes of tensors must match",
        "What is joined has to agree in every axis but the one it is joined along.",
        _SHAPES,
    ),
    Crash(
        r"einsum|einstein",
        "The letters have to name every axis of every factor; `...` stands for leading ones.",
        "Put `...` before the letters of each factor that has leading axes, and after the arrow.",
    ),
    Crash(
        r"inhomogeneous|array element with a sequence|expected sequence of length",
        "Rows of different lengths, or a list where a number belongs, make no array.",
        "Print the lengths of the rows that it is made from.",
    ),
    # numbers of the wrong kind
    Crash(
        r"Cannot cast ufunc|can't be cast to the desired output",
        "An array of whole numbers cannot hold fractions, and `-=` or `/=` writes into it.",
        "Make a new array, `x = x / total`: that also leaves the caller's own as it was.",
    ),
    Crash(
        r"not implemented for '(Long|Int|Bool)'|could not infer output dtype",
        "This takes floats, and whole numbers or bools stand there.",
        "Convert first: `.float()`, or `.to(x.dtype)` to follow an input.",
    ),
    Crash(
        r"same dtype|expected scalar type",
        _DTYPES,
        "Make new tensors in the dtype of an input: `dtype=x.dtype`, or `x.new_zeros(…)`.",
    ),
    Crash(
        r"not on the expected device|same device",
        "Tensors on two devices meet: a new one is made on the CPU unless told.",
        "Give `device=x.device` wherever you make a tensor.",
    ),
    Crash(
        r"read-only",
        "This array is a view that may not be written into, as `np.broadcast_to` makes.",
        "Copy it first, or build a new array.",
    ),
    # PyTorch's own attention, and clocks
    Crash(
        r"No viable backend|No available kernel",
        "The backend that is allowed does not take these inputs, and no other may.",
        "Catch the `RuntimeError` where you ask for one backend alone.",
    ),
    Crash(
        r"compiled with CUDA enabled",
        "There is no GPU here, so there is nothing to wait for.",
        "Ask first: `if torch.cuda.is_available():`.",
    ),
    Crash(
        r"NoClock",
        "Seconds came back, and no clock was read that counts the time that passes and is made for "
        "it: `process_time` leaves out waiting for a GPU, and `datetime` can be set back.",
        "Read `time.perf_counter()` before and after.",
    ),
    Crash(
        r"OtherArguments",
        "What is timed has to be called with the arguments that are given for it.",
        "Call `fn(*args)`.",
    ),
    # gradients
    Crash(
        r"Can't call numpy\(\)|Can't call numpy",
        "NumPy cannot follow gradients, so PyTorch will not hand such a tensor over; `np.…` on a "
        "tensor asks for that too.",
        "Stay in PyTorch: `torch.exp` for `np.exp`, and so on. `.detach()` would cut the gradient.",
    ),
    Crash(
        r"leaf Variable|modified by an inplace operation|view of a leaf",
        "It writes into a tensor that autograd needs as it was.",
        "Look for `x /= …`, `x += …`, `x[…] = …` and `x.mul_(…)`, and make a new tensor instead.",
    ),
    Crash(
        r"'(\S+)' object has no attribute '(\w+)'",
        "A {0} has nothing called `{1}`.",
        "Look for a slip of the pen, or for what it is called in this library.",
    ),
)


def is_meant(raised: Raised) -> bool:
    """Whether it came out of a `raise` or an `assert` of the learner's own."""
    return bool(re.search(r"(^|[:;]\s*)(raise|assert)\b", raised.line))


def explain(raised: Raised) -> tuple[str, str] | None:
    """Reason and remedy of what a learner's code raised by accident; None if none is known."""
    said = f"{raised.name.rpartition('.')[2]}: {raised.message}"
    for crash in CRASHES:
        found = re.search(crash.pattern, said)
        if found and re.search(crash.line, raised.line):
            groups = [group or "" for group in found.groups()]
            return crash.reason.format(*groups), crash.remedy.format(*groups)
    return None
