"""Why did it stop? What Python, NumPy and PyTorch say of a mistake, in the words of `crashes.md`.

The first line of the table that fits is said. It fits if its pattern is found in what was raised,
`TypeError: 'float' object is not iterable`, and its `line` in the line of code that raised it. In
`line`, too, {0} is the pattern's first group.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from attnlab.calling.call import Raised
from attnlab.checks.words import CHECKS, Words, read


@dataclass(frozen=True, slots=True)
class Crash:
    """One kind of crash.

    Attributes:
        slug: of its section in `crashes.md`.
        pattern: of the exception; its groups stand in the words as {0}, {1}.
        line: pattern of the line that raised, where that matters.
    """

    slug: str
    pattern: str
    line: str = ""


_REDUCED = r"\b(max|min|sum|mean|amax|logsumexp|all)\("
_FUNCTION = r"(?:builtin_function_or_method|function|method)"
_ONE_OF_A_TENSORS = (
    r"(?:m?[TH]|shape|dtype|device|ndim|dim|size|view|reshape|transpose|swapaxes|permute|unsqueeze"
    r"|matmul|sum|mean|softmax|masked_fill)"
)

_SETTINGS = r"(ReLU|ELU|GELU|SiLU|Tanh|Sigmoid|Softmax|CrossEntropyLoss)"

CRASHES = (
    # memory
    Crash("all-pairs", r"Unable to allocate .* shape \((\d+), \1\)"),
    Crash("too-many-items", r"^MemoryError: $|into an index-sized"),
    Crash(
        "out-of-sight",
        r"nobody sees (?:what is held|it$)|not made by PyTorch's operators|data is not allocated",
    ),
    # what a notebook has, and an answer has not
    Crash(
        "nobody-types",
        r"EOFError: (?:input\(\)|EOF when reading)|StdinNotImplemented|raw_input was",
    ),
    Crash("no-such-magic", r"[Mm]agic (?:function )?`(%+\w+)` not found"),
    # names and calls
    Crash("no-such-package", r"ModuleNotFoundError: No module named '([\w.]+)'"),
    Crash("shadowed-name", r"UnboundLocalError: .*variable '(\w+)'", line=r"(?<![\w.]){0}\("),
    Crash("no-value-yet", r"UnboundLocalError: .*variable '(\w+)'"),
    Crash("undefined-name", r"^NameError: name '(?!self')(\w+)'"),
    Crash(
        "layer-settings-called",
        rf"Boolean value of Tensor|(?:'|not |got ){_SETTINGS}\b",
        line=rf"\bnn\.{_SETTINGS}\((?!\s*(?:dim|inplace|-?\d|\)))",
    ),
    Crash(
        "no-self",
        r"NameError: name 'self'|(?:forward|append)\(\) takes \d+ positional arguments? but",
    ),
    Crash(
        "module-for-tensor",
        rf"'(?!Linear|NoneType|Tensor|Parameter)([A-Z]\w*)' object has no attribute "
        rf"'{_ONE_OF_A_TENSORS}'",
    ),
    Crash("layer-indexed", r"'Embedding' object is not subscriptable"),
    Crash(
        "matrix-called", r"TypeError: '(Tensor|Parameter|numpy\.ndarray)' object is not callable"
    ),
    Crash("value-called", r"TypeError: '(?!NoneType)([\w.]+)' object is not callable"),
    Crash(
        "function-as-module",
        rf"'{_FUNCTION}' object has no attribute "
        r"'(\w*parameters|forward|train|training|eval|modules|children|state_dict|zero_grad)'",
    ),
    Crash("function-indexed", rf"TypeError: '{_FUNCTION}' object is not subscriptable"),
    Crash(
        "function-not-called",
        rf"'{_FUNCTION}' (object|and)|(and|type|unary .:) '{_FUNCTION}'|\bnot {_FUNCTION}\b"
        rf"|got \([^)]*\b{_FUNCTION}\b|of type {_FUNCTION}\b",
    ),
    Crash("no-super-init", r"cannot assign (?:module|parameter)s? before Module"),
    Crash("not-a-module-part", r"cannot assign '.*' as (child module|parameter|buffer) '(\w+)'"),
    Crash(
        "parameter-of-no-tensor",
        r"'([\w.]+)' object has no attribute 'detach'",
        line=r"\bParameter\(",
    ),
    Crash(
        "layer-as-matrix",
        rf"'Linear' object (?!has no)|'Linear' object has no attribute '{_ONE_OF_A_TENSORS}'"
        r"|(operand|supported).*'Linear'|\bnot Linear\b|got \([^)]*\bLinear\b",
    ),
    Crash("no-forward", r"missing the required \"forward\""),
    Crash(
        "no-such-keyword",
        r"(?:unexpected keyword argument |TypeError: )'(dim|keepdim|axis|keepdims)'",
        line=r"\S",  # in the learner's code, not by the one who calls
    ),
    Crash("axis-not-given", r"\(\) missing \d required positional arguments?: \"dim"),
    Crash(
        "sizes-for-super-init",
        r"__init__\(\) takes 1 positional argument",
        line=r"super\(.*\)\.__init__\(",
    ),
    Crash(
        "transpose-of-more",
        r"transpose\(\) (?:received|takes)",
        line=r"\.transpose\([^,()]+,[^,()]+,",
    ),
    Crash(
        # None stands where a tensor belongs: said below
        "other-arguments",
        r"TypeError: (?:[\w.]*<locals>\.)?([\w.]+)\(\) (?:missing \d|takes .*positional"
        r"|got an unexpected|got multiple|received an invalid (?!.* got \([^)]*\bNoneType))",
    ),
    # None
    Crash("none-there", r"'NoneType'|\bnot NoneType|got \([^)]*\bNoneType|but got NoneType"),
    # several results as one
    Crash(
        "tuple-for-tensor",
        r"must be Tensor, not tuple|'(?:Tensor|Parameter)' and 'tuple'"
        r"|'tuple' and '(?:Tensor|Parameter)'|concatenate tuple \(not \"(?:Tensor|Parameter)"
        rf"|'tuple' object has no attribute '{_ONE_OF_A_TENSORS}'",
    ),
    # lists
    Crash("unhashable-key", r"unhashable type: '(list|numpy\.ndarray)'"),
    Crash("no-such-key", r"^KeyError"),
    Crash(
        "values-and-places",
        r"can't multiply sequence by non-int|'torch\.return_types",
        line=r"\.(max|min|median|sort|topk)\([^)]",
    ),
    Crash(
        "list-times-float", r"can't multiply sequence by non-int of type '(float|numpy\.float64)'"
    ),
    Crash("list-times-list", r"can't multiply sequence by non-int of type 'list'"),
    Crash("list-matmul", r"unsupported operand type\(s\) for @.*'list'"),
    Crash(
        "list-arithmetic",
        r"(unsupported operand type\(s\) for|bad operand type for|not supported between).*'list'",
    ),
    Crash("joined-to-no-list", r"can only concatenate (list|str|tuple)"),
    Crash("list-indexed-by-pair", r"list indices must be integers or slices, not tuple"),
    Crash("list-index-not-whole", r"list indices must be integers or slices, not ([\w.]+)"),
    Crash("list-assignment-beyond-end", r"list assignment index out of range"),
    Crash(
        "row-beyond-end", r"list index out of range", line=r"^\w+\[[^=]*\]\[[^=]*\]\s*[-+*/]?=[^=]"
    ),
    Crash("index-beyond-end", r"IndexError: (list|tuple) index out of range"),
    Crash("math-of-a-list", r"must be real number, not list"),
    Crash("list-has-no-such-method", r"'list' object has no attribute '(\w+)'"),
    Crash("loop-over-a-number", r"'int' object is not iterable", line=r"\bfor\b"),
    Crash(
        "number-for-a-list",
        r"'(float|int|numpy\.float64)' object is not (iterable|subscriptable)"
        r"|object of type '(?:float|int|numpy\.float64)' has no len|0-d tensor",
    ),
    Crash("item-assignment", r"'(tuple|numpy\.\w+)' object does not support item assignment"),
    Crash("maximum-of-nothing", r"ValueError: m(ax|in)\(\)"),
    Crash(
        "size-not-whole",
        r"\bgot float|'(numpy\.)?float\d*' object cannot be interpreted as an integer"
        r"|must be (tuple of ints|int), (not float|but found element of type float)"
        r"|single integer, got '[\d.]+'|slice indices must be integers",
    ),
    Crash(
        "joined-without-list",
        r"must be tuple of Tensors, not Tensor|only integer scalar arrays",
        line=r"(cat|stack|concatenate)\(\s*[^\s(\[]",
    ),
    Crash(
        "size-of-several",
        r"only integer (scalar|tensors)|must be (tuple of ints|int), (not|but found element)"
        r"|tuple of ints,but got|single integer, got|object cannot be interpreted as an integer",
    ),
    Crash("dtype-for-size", r"Cannot interpret '(.*)' as a data type"),
    Crash("raise-of-no-error", r"exceptions must derive from BaseException"),
    Crash("unpacked-shape", r"unpack", line=r"\.shape|\.size\("),
    Crash("unpacked-values", r"unpack"),
    # overflow
    Crash("overflow", r"OverflowError"),
    Crash("division-by-0", r"ZeroDivisionError"),
    # arrays and tensors: one number where many are, and the other way round
    Crash(
        "python-max-of-array",
        r"truth value of an array|Boolean value of Tensor",
        line=r"^(?!.*\b(if|while|and|or|not|in)\b).*(?<![\w.])(max|min|sorted)\(",
    ),
    Crash(
        "chained-comparison",
        r"truth value of an array|Boolean value of Tensor",
        line=r"^(?!.*\b(?:if|while|and|or|not)\b).*[<>]=?[^<>=()]*[<>]",
    ),
    Crash("truth-of-an-array", r"truth value of an array|Boolean value of Tensor"),
    Crash(
        "one-number-wanted",
        r"only 0-dimensional arrays|only (one element|length-1)|cannot be converted to Scalar"
        r"|array of size 1 to a Python scalar",
    ),
    Crash("inverted-numbers", r"invert.*(not supported|only implemented)"),
    Crash(
        "bool-minus", r"(Subtraction|Negation|numpy boolean (subtract|negative)), the `-` operator"
    ),
    Crash("mask-not-bool", r"only supports boolean masks"),
    Crash("return-types", r"'torch\.return_types"),
    Crash("power-by-caret", r"unsupported operand type\(s\) for \^|bitwise_xor"),
    Crash("no-method-of-arrays", r"'numpy\.ndarray' object has no attribute '(\w+)'"),
    Crash("no-method-of-tensors", r"'(?:Tensor|Parameter)' object has no attribute '(\w+)'"),
    Crash(
        "not-a-tensor",
        r"argument '\w+' \(position \d\) must be Tensor, not (\S+)|in argument 0, but got (\S+)",
    ),
    # shapes
    # of batches that do not fit, `@` says the same
    Crash("einsum-letters", r"einsum|einstein|remapped shapes", line=r"einsum"),
    Crash(
        "turned-by-T",
        r"(could not be broadcast together|must match the size of tensor b|core dimension"
        r"|mat1 and mat2 shapes|dimensions of batch2)",
        line=r"\.T\b|\.transpose\(\)|\.t\(\)",
    ),
    Crash(
        "axis-lost",
        r"(could not be broadcast together|must match the size of tensor b)",
        line=rf"(?:[-+*/]=?\s*[\w.]*{_REDUCED}|{_REDUCED}[^()]*\)\s*[-+*/])(?!.*keepdim)",
    ),
    Crash("heads-not-joined", r"mat1 and mat2 shapes cannot be multiplied", line=r"\bW_o\("),
    Crash(
        "cut-before-projected",
        r"mat1 and mat2 shapes cannot be multiplied",
        line=r"\bW_[qkv]\([^)]*(?:head|split)",
    ),
    Crash(
        "inner-sizes-differ",
        r"mat1 and mat2 shapes cannot be multiplied \((\S+) and (\S+)\)"
        r"|core dimension|dimensions of batch2|size mismatch, got|inconsistent tensor size",
    ),
    Crash(
        "logits-and-targets-swapped",
        r"target dtype to be Long|not implemented for 'Long'",
        line=r"cross_entropy\(",
    ),
    Crash("logits-not-flat", r"Expected target size|Expected input batch_size"),
    Crash("no-distribution", r"probability tensor contains|invalid multinomial distribution"),
    Crash("written-into-smaller", r"non-broadcastable output|doesn't match the broadcast shape"),
    Crash(
        "sizes-differ",
        r"(could not be broadcast|could not broadcast|must match the (size of tensor b|existing))",
    ),
    Crash(
        "too-few-axes",
        r"does not have enough dimensions|mT is only supported|at least 2 dimensions",
    ),
    Crash("t-of-a-batch", r"t\(\) expects a tensor with <= 2"),
    Crash("fn-of-other-shape", r"ValueError: fn takes .*, as x is"),
    Crash("bmm-axes", r"must be a (3D tensor|matrix)"),
    Crash(
        "no-such-axis",
        r"AxisError|Dimension out of range|axes don't match|desired ordering of dimensions",
    ),
    Crash("id-beyond-table", r"index out of range in self"),
    Crash("index-of-floats", r"indices' to have one of|used as indices must be"),
    Crash("beyond-the-axes", r"too many indices|is out of bounds for (axis|dimension)"),
    Crash("mask-of-other-shape", r"shape of the mask|boolean index did not match"),
    Crash(
        "reshape-of-other-size",
        r"cannot reshape|is invalid for input of size|view size is not compatible",
    ),
    Crash("not-neighbours", r"must have a last dimension with stride 1"),
    Crash("joined-of-other-size", r"same number of dimensions|Sizes of tensors must match"),
    Crash(
        "ragged-rows", r"inhomogeneous|array element with a sequence|expected sequence of length"
    ),
    # numbers of the wrong kind
    Crash("whole-numbers-written-into", r"Cannot cast ufunc|can't be cast to the desired output"),
    Crash("floats-wanted", r"not implemented for '(Long|Int|Bool)'|could not infer output dtype"),
    Crash("dtypes-differ", r"same dtype|expected scalar type|dtypes must be the same"),
    Crash("beyond-the-dtype", r"cannot be converted to type \S+ without overflow"),
    Crash("devices-differ", r"not on the expected device|same device"),
    Crash("read-only", r"read-only"),
    # PyTorch's own attention, its compiler, and clocks
    Crash("no-backend", r"No viable backend|No available kernel"),
    Crash("no-gpu", r"compiled with CUDA enabled"),
    Crash("not-compiled", r"^(?:InductorError|BackendCompilerFailed)|TORCHDYNAMO_VERBOSE"),
    Crash("clock-stands-still", r"calls, waits and readings of the clock, and no end"),
    # gradients
    Crash("numpy-of-a-gradient", r"Can't call numpy\(\)|Can't call numpy"),
    Crash("nothing-to-go-back-along", r"does not require grad and does not have a grad_fn"),
    Crash("back-from-several", r"implicitly created only for scalar"),
    Crash("back-twice", r"backward through the graph a second time"),
    Crash("function-for-module", r"is not a Module subclass"),
    Crash("median-of-nothing", r"StatisticsError"),
    Crash("changed-in-place", r"leaf Variable|modified by an inplace operation|view of a leaf"),
    Crash("no-such-attribute", r"'(\S+)' (?:object )?has no attribute '(\w+)'"),
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


def explain(raised: Raised) -> Words | None:
    """Reason and remedy of what a learner's code raised by accident; None if none is known."""
    said = f"{raised.name.rpartition('.')[2]}: {raised.message}"
    for crash in CRASHES:
        found = re.search(crash.pattern, said)
        groups = [group or "" for group in found.groups()] if found else []
        line = crash.line.replace("{0}", groups[0]) if groups else crash.line
        if found and re.search(line, raised.line):
            return read(CHECKS / "crashes.md")[crash.slug].about(*groups)
    return None
