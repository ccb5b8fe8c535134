"""Why did it stop? What Python, NumPy and PyTorch say of a mistake, in the lessons' words.

Of «lists|arrays|tensors» the words of the lesson are said: see `advice.spoken`.

The first line of the table that fits is said. It fits if its pattern is found in what was raised,
`TypeError: 'float' object is not iterable`, and its `line` in the line of code that raised it. In
`line`, too, {0} is the pattern's first group.
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
_DTYPES = (
    "Numbers of two dtypes meet: two precisions, float32 and float64, or whole numbers and floats."
)
_FUNCTION = r"(?:builtin_function_or_method|function|method)"
_ONE_OF_A_TENSORS = (
    r"(?:m?[TH]|shape|dtype|device|ndim|dim|size|view|reshape|transpose|swapaxes|permute|unsqueeze"
    r"|matmul|sum|mean|softmax|masked_fill)"
)

_SETTINGS = r"(ReLU|ELU|GELU|SiLU|Tanh|Sigmoid|Softmax|CrossEntropyLoss)"

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
        "`{0}` is given a value in this function, so in all of it `{0}` is that variable, and a "
        "function of that name from outside is out of reach.",
        "Give the variable another name, as in `largest = max(scores)`; a `def {0}` inside this "
        "function has to stand above that line.",
        line=r"(?<![\w.]){0}\(",
    ),
    Crash(
        r"UnboundLocalError: .*variable '(\w+)'",
        "`{0}` has no value yet where that line reads it. It gets one further down, or in a branch "
        "or loop that did not run; `{0} += …` needs one to begin with.",
        "Give `{0}` a value before that line; where an `if` or a loop gives it, before that.",
    ),
    Crash(
        r"^NameError: name '(?!self')(\w+)'",
        "Nothing here has defined `{0}`. Each notebook starts empty: what you wrote in an earlier "
        "lesson is not here«||, and what `__init__` was given is not there in `forward`».",
        "Run the cell that defines `{0}`, or look for a slip of the pen«||; in a module keep it, "
        "`self.{0} = {0}`, and write `self.{0}`».",
    ),
    Crash(
        rf"Boolean value of Tensor|(?:'|not |got ){_SETTINGS}\b",
        "What stands in the brackets of a class such as `nn.ReLU` are its settings. A layer comes "
        "of it, and nothing is computed yet.",
        "Use the function, as in `torch.relu(x)` and `F.cross_entropy(logits, targets)`; or make "
        "the layer in `__init__`, `self.relu = nn.ReLU()`, and call that.",
        line=rf"\bnn\.{_SETTINGS}\((?!\s*(?:dim|inplace|-?\d|\)))",
    ),
    Crash(
        r"NameError: name 'self'|(?:forward|append)\(\) takes \d+ positional arguments? but",
        "A method gets the module itself as its first argument, and then what it is called with. "
        "Its `def` does not name all of that.",
        "Write `self` first, then what the signature says: `def forward(self, x):`.",
    ),
    Crash(
        rf"'(?!Linear|NoneType|Tensor|Parameter)([A-Z]\w*)' object has no attribute "
        rf"'{_ONE_OF_A_TENSORS}'",
        "That is the `{0}` itself, and not a tensor. In a method whose `def` begins without `self` "
        "the first argument is the module.",
        "Begin the arguments of each method with `self`. What a layer computes with is its "
        "`.weight`, and what it computes comes of calling it.",
    ),
    Crash(
        r"'Embedding' object is not subscriptable",
        "A layer is not indexed, it is called; the numbers in it are its `.weight`.",
        "Write `self.table(torch.arange(n))`, or `self.table.weight[:n]`.",
    ),
    Crash(
        r"TypeError: '(Tensor|Parameter|numpy\.ndarray)' object is not callable",
        "A {0} stands before the `(…)`, and that is no function. A matrix is not called, it is "
        "multiplied by«|; only a layer, such as `nn.Linear`, is called».",
        "Write `x @ W_q` for a matrix«|, `self.W_q(x)` for a layer», `x[i]` for an entry, and `.T` "
        "without brackets. A variable that has a function's name needs another.",
    ),
    Crash(
        r"TypeError: '(?!NoneType)([\w.]+)' object is not callable",
        "What stands before the `(…)` is of type {0}, which is no function.",
        "Write `[…]` to index, as in «`row[-1]`|`x.shape[-1]`|`x.shape[-1]`», and `*` to multiply; "
        "where a variable has the name of a function, such as `sum`, give it another.",
    ),
    Crash(
        rf"TypeError: '{_FUNCTION}' object is not subscriptable",
        "A function is called with round brackets, and square ones stand there.",
        "Write `f(x)` for `f[x]`.",
    ),
    Crash(
        rf"'{_FUNCTION}' (object|and)|(and|type|unary .:) '{_FUNCTION}'|\bnot {_FUNCTION}\b"
        rf"|got \([^)]*\b{_FUNCTION}\b|of type {_FUNCTION}\b",
        "A function itself stands there, where what it gives is needed: it was not called.",
        "Call it with its arguments, as in `causal_mask(n)` for `causal_mask`.",
    ),
    Crash(
        r"cannot assign (?:module|parameter)s? before Module",
        "nn.Module keeps its parts in a list that its own `__init__` makes, and that has not run.",
        "Make `super().__init__()` the first line of your `__init__`.",
    ),
    Crash(
        r"cannot assign '.*' as (child module|parameter|buffer) '(\w+)'",
        "`self.{1}` stands for a {0} of the module, and what is not one cannot be put there.",
        "Give what is computed a name of its own, without `self`, as in `q = self.W_q(x)`; a first "
        "value is put into `nn.Parameter(…)`.",
    ),
    Crash(
        r"'([\w.]+)' object has no attribute 'detach'",
        "`nn.Parameter` takes one tensor, the parameter's first value, and this is of type {0}.",
        "Make the tensor first: `nn.Parameter(torch.randn(d, d_k))`.",
        line=r"\bParameter\(",
    ),
    Crash(
        rf"'Linear' object (?!has no)|'Linear' object has no attribute '{_ONE_OF_A_TENSORS}'"
        r"|(operand|supported).*'Linear'|\bnot Linear\b|got \([^)]*\bLinear\b",
        "A layer stands there as if it were a matrix. It is called, and multiplies by its own.",
        "Write `self.W_q(x)`. Where you need the matrix, it is `self.W_q.weight`.",
    ),
    Crash(
        r"missing the required \"forward\"",
        "PyTorch looked for a method `forward` and found none: in the class of what is called, or, "
        "with `super().forward` and the like, in the class named there.",
        "Look at the name and the indentation of `forward`. A ModuleList has none: its layers are "
        "called one by one.",
    ),
    Crash(
        r"(?:unexpected keyword argument |TypeError: )'(dim|keepdim|axis|keepdims)'",
        "That function knows no `{0}`. «Python's own know none, NumPy's|NumPy's|NumPy's» say "
        "`axis` and `keepdims`«|, PyTorch's `dim` and `keepdim`», and only where they go along "
        "an axis.",
        "Write the name that the function has, or leave it out where it works number by number. A "
        "function of yours has the names that its `def` gives.",
    ),
    Crash(
        r"\(\) missing \d required positional arguments?: \"dim",
        "That function has to be told which axis, or which two, and here it is not, or not all.",
        "Say it: `torch.softmax(x, dim=-1)`, `x.unsqueeze(-1)`, `x.transpose(-1, -2)`.",
    ),
    Crash(
        r"__init__\(\) takes 1 positional argument",
        "The `__init__` of the class that yours is built on takes no sizes: that of `nn.Module` "
        "takes nothing.",
        "Write `super().__init__()`, and give the sizes to the layers that you make.",
        line=r"super\(.*\)\.__init__\(",
    ),
    Crash(
        r"transpose\(\) (?:received|takes)",
        "PyTorch's `transpose` exchanges two axes, and those two are all that it takes.",
        "Write `x.transpose(1, 2)`, or `x.permute(0, 2, 1, 3)` for a whole new order.",
        line=r"\.transpose\([^,()]+,[^,()]+,",
    ),
    Crash(
        # None stands where a tensor belongs: said below
        r"TypeError: (?:[\w.]*<locals>\.)?([\w.]+)\(\) (?:missing \d|takes .*positional"
        r"|got an unexpected|got multiple|received an invalid (?!.* got \([^)]*\bNoneType))",
        "`{0}` cannot take the arguments that it gets there: one is missing or too many, or has "
        "another name or another type.",
        "Print the type of each, and compare with what `{0}` takes. For a library's function "
        "`help` tells; for yours its `def` does, and an exercise's signature stays as it is given.",
    ),
    # None
    Crash(
        r"'NoneType'|\bnot NoneType|got \([^)]*\bNoneType|but got NoneType",
        "Something in that line is None. A name may have been set to None; so is an optional "
        "argument that was not given, what a function without a `return` gives, and what a method "
        "gives that changes a list in place, as `append` does.",
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
        r"^KeyError",
        "A dict was asked for a key that it does not hold.",
        "Print the key and the dict's keys; between keys that are lists, compare with `==`.",
    ),
    Crash(
        r"can't multiply sequence by non-int|'torch\.return_types",
        "In PyTorch `x.max(dim)`, `x.min(dim)` and their like give two things, values and places.",
        "Write `x.max(dim, keepdim=True).values`, or `x.amax(dim, keepdim=True)`.",
        line=r"\.(max|min|median|sort|topk)\([^)]",
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
        r"can only concatenate (list|str|tuple)",
        "`+` joins a {0} to a {0}, and here one side is none.",
        "Add numbers one by one; a list grows by `append`; a value goes into a text by "
        '`f"no key {{key}}"`.',
    ),
    Crash(
        r"list indices must be integers or slices, not tuple",
        "`A[i, j]` is for arrays. A list of lists is indexed twice.",
        "Write `A[i][j]`.",
    ),
    Crash(
        r"list indices must be integers or slices, not ([\w.]+)",
        "A place in a list is a whole number, and this is a {0}. A loop over a list gives its "
        "items, not their places.",
        "Loop over `range(len(rows))` for places, or use the item itself.",
    ),
    Crash(
        r"list assignment index out of range",
        "A list has no place to write to before it is that long.",
        "Use `append`, or begin with `[0.0] * n`, where n is above every index.",
    ),
    Crash(
        r"list index out of range",
        "`Z[i][j] = …` first looks up the row `Z[i]`. A list of that line, `Z` or one on the "
        "right, is too short for its index, or still empty.",
        "If `Z` has no rows yet, append a row at a time, or begin with "
        "`[[0.0] * m for _ in range(n)]`. Else print the `len` of each list beside its index.",
        line=r"^\w+\[[^=]*\]\[[^=]*\]\s*[-+*/]?=[^=]",
    ),
    Crash(
        r"IndexError: (list|tuple) index out of range",
        "A place beyond the end of a {0}: it is shorter than the index goes, or empty.",
        "Print its `len` and the index. A loop takes its range from the `len` of what it counts "
        "through; rows and columns are easily exchanged«|. Sizes of axes are counted from the "
        "end, `x.shape[-1]`».",
    ),
    Crash(
        r"must be real number, not list",
        "A function of `math` takes one number, and this is a list of them.",
        "Call it for each number: `[math.exp(x) for x in row]`.",
    ),
    Crash(
        r"'list' object has no attribute '(\w+)'",
        "A plain list stands there, and lists have no `.{0}`. `.shape`, `.T` or `.max()` belong to "
        "arrays, `.get` or `.keys()` to dicts.",
        "Use `len(A)` for rows, `len(A[0])` for columns, `max(row)`, `sum(row)`, and loops"
        "«|; `np.array(A)` makes an array|; `torch.tensor(A)` makes a tensor». "
        "Or look for a slip of the pen.",
    ),
    Crash(
        r"'int' object is not iterable",
        "A loop goes over things, and this is one whole number.",
        "Count up to it: `for i in range(n)`.",
        line=r"\bfor\b",
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
        r"\bgot float|'(numpy\.)?float\d*' object cannot be interpreted as an integer"
        r"|must be (tuple of ints|int), (not float|but found element of type float)"
        r"|single integer, got '[\d.]+'|slice indices must be integers",
        "A size, a place or an axis has to be a whole number, and this is none: `/` gives a float "
        "even where it divides evenly.",
        "Print it. Sizes are divided with `//`.",
    ),
    Crash(
        r"must be tuple of Tensors, not Tensor|only integer scalar arrays",
        "What is to be joined goes in together, as one list or tuple.",
        "Write «`np.concatenate([a, b], axis=-1)`|`torch.cat([a, b], dim=-1)`», and `stack` the "
        "same way.",
        line=r"(cat|stack|concatenate)\(\s*[^\s(\[]",
    ),
    Crash(
        r"only integer (scalar|tensors)|must be (tuple of ints|int), (not|but found element)"
        r"|tuple of ints,but got|single integer, got|object cannot be interpreted as an integer",
        "A size, a place or an axis is one whole number, and something else stands there: several "
        "at once, perhaps.",
        "Print it, and take one number from it: «`len(rows)`|`len(x)`, or `int(x.max())`|"
        "`x.shape[-1]`, or `int(x.max())`»«|. Where each row has a length of its own, compare: "
        "`np.arange(m) < lengths[:, None]`|. Where each row has a length of its own, compare: "
        "`torch.arange(m) < lengths[:, None]`».",
    ),
    Crash(
        r"Cannot interpret '(.*)' as a data type",
        "`{0}` stands where the dtype goes. Sizes go in together, as one tuple, and entries as one "
        "list.",
        "Write `np.zeros((n, d))`, `rng.standard_normal((n, d))`, `np.array([a, b])`.",
    ),
    Crash(
        r"exceptions must derive from BaseException",
        "Only an error can be raised, and something else stands after `raise`: a text, perhaps.",
        'Name the error, and put the text into its brackets: `raise ValueError("…")`.',
    ),
    Crash(
        r"unpack",
        "There are more, or fewer, values than names on the left. With `n, d = x.shape` the number "
        "of axes decides: see the signature's shapes, where `…` stands for any number of them.",
        "Give each axis a name. Where there may be leading ones, take the sizes you need from the "
        "end: `n, d = x.shape[-2:]`.",
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
        "e to a power of 710 or more is larger than any float.",
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
        "Python's own `max`, `min` and `sorted` compare things as wholes. Here a whole «array|array"
        "|tensor» is compared, and that gives a True or False for each entry.",
        "Use the library's: «`x.max(axis=-1)`, or `np.maximum(x, floor)`|`x.amax(-1)`, or "
        "`x.clamp(min=floor)` and `torch.maximum` entry by entry».",
        line=r"^(?!.*\b(if|while|and|or|not|in)\b).*(?<![\w.])(max|min|sorted)\(",
    ),
    Crash(
        r"truth value of an array|Boolean value of Tensor",
        "`0 <= x < n` is a chain of comparisons, which Python joins by `and`. Without brackets "
        "`x >= 0 & x < n` is one too, as `&` comes before `>=`.",
        "Put each comparison into brackets of its own: `(x >= 0) & (x < n)`.",
        line=r"^(?!.*\b(?:if|while|and|or|not)\b).*[<>]=?[^<>=()]*[<>]",
    ),
    Crash(
        r"truth value of an array|Boolean value of Tensor",
        "`if`, `and`, `or`, `not` and `in` want one True or False, as do Python's `max` and `min`, "
        "and a comparison of «arrays|tensors» gives one for each entry«: `mask == None` does, too|"
        "».",
        "Write `mask is None` to ask whether it was given, `.any()` or `.all()` to ask of its "
        "entries; between «arrays|tensors» `&`, `|` and `~`.",
    ),
    Crash(
        r"only 0-dimensional arrays|only (one element|length-1)|cannot be converted to Scalar"
        r"|array of size 1 to a Python scalar",
        "The functions of `math` and `float(…)`«|, and `.item()`,» take one number, and there are "
        "several.",
        "For all of them use the library's function of the same name, as «`np.exp`|`torch.exp`» "
        "for `math.exp`; for one, pick it by its index.",
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
        "In PyTorch `x.max(dim)`, `x.min(dim)` and their like give two things, values and places.",
        "Write `x.max(dim, keepdim=True).values`, or `x.amax(dim, keepdim=True)`.",
    ),
    Crash(
        r"unsupported operand type\(s\) for \^|bitwise_xor",
        "`^` compares bits. It is no power.",
        "A power is `**`: `n**2`.",
    ),
    Crash(
        r"'numpy\.ndarray' object has no attribute '(\w+)'",
        "`.{0}` is no method of NumPy's arrays: it may be a slip of the pen«|, or a name of "
        "PyTorch's tensors».",
        "Look for NumPy's name: `np.where` «to choose entries by a mask|for masked_fill», "
        "`[:, None]` «for a new axis|for unsqueeze», `.swapaxes(-1, -2)` «to transpose the last "
        "two|for mT».",
    ),
    Crash(
        r"'(?:Tensor|Parameter)' object has no attribute '(\w+)'",
        "`.{0}` is no method of PyTorch's tensors: it may be a slip of the pen, or a name of "
        "NumPy's arrays.",
        "Look for PyTorch's name: `.masked_fill(mask, value)` to fill by a mask, `.to(dtype)` for "
        "astype, `.clone()` for copy.",
    ),
    Crash(
        r"must be Tensor, not tuple",
        "A tuple stands there. A function that returns several things, such as outputs and "
        "weights, gives them together, as one tuple.",
        "Take it apart first, `out, weights = attend(q, k, v)`, and hand on the one you mean.",
    ),
    Crash(
        r"argument '\w+' \(position \d\) must be Tensor, not (\S+)|in argument 0, but got (\S+)",
        "PyTorch's functions take tensors, and this is a {0}{1}.",
        "For one number use `math` or `**`; for places make a tensor of them, `torch.arange(n)`; "
        "keep all else in tensors from the start.",
    ),
    # shapes
    Crash(
        r"einsum|einstein|remapped shapes",
        "Letters and factors do not go together. Each factor has a group of letters, one for each "
        "of its axes, with `...` for leading ones; a letter has one size, wherever it stands; and "
        "what stands after the arrow stands before it, too.",
        "Count the groups between the commas and the factors, then the letters of each and its "
        "axes, and look for each letter after the arrow among those before it.",
    ),
    Crash(
        r"(could not be broadcast together|must match the size of tensor b|core dimension"
        r"|mat1 and mat2 shapes|dimensions of batch2)",
        "Shapes do not fit. `.T` turns round *all* axes: the batch with them, where there is one, "
        "and nothing where there is but one axis. And a matrix whose rows are as many as the "
        "other's columns needs no transpose.",
        "Print both shapes. Leave `.T` out where they fit without; for a batch write "
        "«`.swapaxes(-1, -2)`|`.mT`»; to make a column of one axis write `x[:, None]`.",
        line=r"\.T\b|\.transpose\(\)|\.t\(\)",
    ),
    Crash(
        r"(could not be broadcast together|must match the size of tensor b)",
        "Shapes do not fit. A maximum or a sum along an axis loses that axis, so (…, N, M) meets "
        "(…, N).",
        "Keep the axis as one of size 1: `«keepdims|keepdim»=True`.",
        line=rf"(?:[-+*/]=?\s*[\w.]*{_REDUCED}|{_REDUCED}[^()]*\)\s*[-+*/])(?!.*keepdim)",
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
        r"|core dimension|dimensions of batch2|size mismatch, got|inconsistent tensor size",
        "A matrix product needs the columns of the first to be as many as the rows of the second, "
        "and here they are not: the factors may be in the wrong order, or one lacks its transpose.",
        "Write both shapes beside that line. For scores it is `«Q @ K.swapaxes(-1, -2)|q @ k.mT»`, "
        "(N, d) times (d, M).",
    ),
    Crash(
        r"target dtype to be Long|not implemented for 'Long'",
        "`F.cross_entropy` takes logits first, which are floats, and then the right classes, which "
        "are whole numbers.",
        "Write `F.cross_entropy(logits, targets)`, and `targets.long()` where they are floats.",
        line=r"cross_entropy\(",
    ),
    Crash(
        r"Expected target size|Expected input batch_size",
        "`F.cross_entropy` wants logits (T, C) and targets (T,), and their sizes do not fit.",
        "Flatten all axes of the logits but the last, `flatten(0, -2)`, and all of the targets.",
    ),
    Crash(
        r"probability tensor contains|invalid multinomial distribution",
        "What it draws from is no distribution: there is inf or NaN in it, or it adds up to 0. "
        "Logits divided by a temperature of 0 are infinite, and so is e to a large number.",
        "Print what is drawn from, and what it was made of, back to the first number that is not "
        "finite. At temperature 0 nothing needs to be drawn.",
    ),
    Crash(
        r"non-broadcastable output|doesn't match the broadcast shape",
        "`+=` and the like write into what stands on their left, which has too few entries for "
        "the result, and may be an input.",
        "Write `x = x + y`, which makes a new one.",
    ),
    Crash(
        r"(could not be broadcast|could not broadcast|must match the (size of tensor b|existing))",
        "Shapes are compared from the last axis backwards, and two sizes there differ and are not "
        "1.",
        f"{_SHAPES} `[:, None]` makes a new axis of size 1.",
    ),
    Crash(
        r"does not have enough dimensions|mT is only supported|at least 2 dimensions",
        "A matrix is needed there, and what stands there has fewer than two axes.",
        f"{_SHAPES} A square of ones has two sizes, «`(n, n)`|`torch.ones(n, n)`».",
    ),
    Crash(
        r"must be a (3D tensor|matrix)",
        "`torch.bmm` takes three axes, no more and no fewer, and `torch.mm` two.",
        "Write `a @ b`, which takes any number of leading axes, and none.",
    ),
    Crash(
        r"AxisError|Dimension out of range|axes don't match|desired ordering of dimensions",
        "The axes named there are not those that there are: inputs may have more or fewer axes "
        "than you expect.",
        "Print the shape. -1 is the last axis, -2 the one before it, however many there are: "
        "`.swapaxes(-1, -2)` exchanges those two.",
    ),
    Crash(
        r"index out of range in self",
        "An embedding was asked for a row that it does not have: ids go from 0 to its number of "
        "rows, less one.",
        "Print `ids.max()` and the embedding's `weight.shape`.",
    ),
    Crash(
        r"indices' to have one of|used as indices must be",
        "Places are whole numbers, and floats stand there.",
        "Make them whole from the start, `torch.arange(n)`, or turn them: `ids.long()`.",
    ),
    Crash(
        r"too many indices|is out of bounds for (axis|dimension)",
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
        r"must have a last dimension with stride 1",
        "Two numbers that become a complex one have to be neighbours in memory, and after a "
        "transpose they are not.",
        "Lay them out anew first, by `.contiguous()`.",
    ),
    Crash(
        r"same number of dimensions|Sizes of tensors must match",
        "What is joined has to agree in every axis but the one it is joined along.",
        _SHAPES,
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
        r"same dtype|expected scalar type|dtypes must be the same",
        _DTYPES,
        "Make new tensors in the dtype of an input: `dtype=x.dtype`, or `x.new_zeros(…)`«||. "
        "Layers in a plain list stay in float32, as nobody finds them there: use "
        "`nn.ModuleList`».",
    ),
    Crash(
        r"cannot be converted to type \S+ without overflow",
        "The tensor's dtype cannot hold that number: float16 ends at 65504, and whole numbers have "
        "no inf.",
        'In float16 fill with `float("-inf")`; turn whole numbers into floats first.',
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
        "PyTorch has no GPU here: nothing can be put on one, and there is none to wait for.",
        "Ask first: `if torch.cuda.is_available():`. What is made where an input is, "
        "`device=x.device`, needs no question.",
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
        r"does not require grad and does not have a grad_fn",
        "There is nothing to go back along: what the loss came from was cut off by `.detach()`, "
        "`.data`, `.item()` or a `torch.no_grad()`, or no parameter had a part in it.",
        "Print `.requires_grad` of each step from the parameters to the loss, and find the first "
        "that is False.",
    ),
    Crash(
        r"implicitly created only for scalar",
        "`backward()` starts from one number, and this has several.",
        "Take their mean or their sum first: `loss.mean().backward()`.",
    ),
    Crash(
        r"backward through the graph a second time",
        "The steps back were gone already, and what they need is kept for one time only.",
        "Compute the loss anew before each `backward()`, and call that once.",
    ),
    Crash(
        r"is not a Module subclass",
        "`nn.Sequential` and `nn.ModuleList` hold modules, and a plain function stands there.",
        "Write the module, `nn.ReLU()` for `F.relu`, or call the function in `forward`.",
    ),
    Crash(
        r"StatisticsError",
        "There is nothing to take the median or mean of.",
        "Print the list: a loop that fills it may not have run.",
    ),
    Crash(
        r"leaf Variable|modified by an inplace operation|view of a leaf",
        "It writes into a tensor that autograd needs as it was.",
        "Look for `x /= …`, `x += …`, `x[…] = …` and `x.mul_(…)`, and make a new tensor instead. A "
        "parameter's first values are set by `nn.init`, or in a `with torch.no_grad():`.",
    ),
    Crash(
        r"'(\S+)' (?:object )?has no attribute '(\w+)'",
        "`{0}` has nothing called `{1}`.",
        "Look for a slip of the pen, for what it is called there (ln is `log`, for one), or, in a "
        "class of yours, for the line that gives it.",
    ),
)


_RAISING = re.compile(r"(?:^|[:;]\s*)(?:(assert)\b|raise\b[\s(]*([\w.]*))")


def is_meant(raised: Raised) -> bool:
    """Whether it came out of a `raise` or an `assert` of the learner's own.

    What their line stumbled over itself did not: a condition before it, or a name misspelt in it.
    """
    found = _RAISING.search(raised.line)
    if not found or "exceptions must derive from BaseException" in raised.message:
        return False
    names = {name.rpartition(".")[2] for name in raised.names}
    asserts, what = found.groups()
    if asserts:
        return "AssertionError" in names
    last = what.rpartition(".")[2]
    if last[:1].isupper():
        return last in names
    return not (last and "NameError" in names and f"'{last}'" in raised.message)


def explain(raised: Raised) -> tuple[str, str] | None:
    """Reason and remedy of what a learner's code raised by accident; None if none is known."""
    said = f"{raised.name.rpartition('.')[2]}: {raised.message}"
    for crash in CRASHES:
        found = re.search(crash.pattern, said)
        groups = [group or "" for group in found.groups()] if found else []
        line = crash.line.replace("{0}", groups[0]) if groups else crash.line
        if found and re.search(line, raised.line):
            return crash.reason.format(*groups), crash.remedy.format(*groups)
    return None
