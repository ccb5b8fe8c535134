"""Each figure to touch as the tests show it, and a walk through the states of its controls."""

from __future__ import annotations

from typing import NamedTuple

# For each figure, code that makes it.
SOURCES = {
    "MaskPainter": """scores = [[1, 2, 0, 1], [0, 1, 2, 0], [1, 2, 0, 2], [1, 0, 1, 2]]
figure = figures.live.MaskPainter(scores, ["the", "cat", "sat", "on"], preset="causal")""",
    "Roofline": """devices = figures.gpu_sdpa.published()["peaks"]

def works(batch):
    return {
        "prefill, 1,024 tokens": (4 * 1024 * 1024, 8 * 1024),
        "decode, attention": (4 * batch * 1024, 4 * batch * 1025),
        "decode, projections": (8 * batch * 4096, 2 * (4 * 4096 + 8 * batch)),
    }

figure = figures.live.Roofline(works, devices)""",
    "RotaryArrows": """figure = figures.live.RotaryArrows(
    [2, 0, 1, 1], [1, 0, 0.5, 1], query_at=3, key_at=1, degrees=[30, 3]
)""",
    "Race": "figure = figures.live.Race(12)",
    "Saturation": "figure = figures.live.Saturation(16)",
    "Quiz": """from attnlab import quizzes

asked = quizzes.of("02-pure-python")["recall"]
figure = figures.live.Quiz("02-pure-python", "recall", asked)""",
    "Cost": "figure = figures.live.Cost(4096, 512, 8, 'float32')",
    "Film": """from attnlab.figures.live.film import Frame
from attnlab.figures.live.parts import arc, word

frames = [
    Frame([word("name", 60 + 90 * n, 150, "dog"), arc("looks", 300, 60 + 90 * n, 120, 0.9)],
          f"dog at {n}")
    for n in range(4)
]
figure = figures.live.Film("One word goes", frames, 170)""",
    "Heads": """weights = [
    [[1, 0, 0], [0.9, 0.1, 0], [0.2, 0.6, 0.2]],
    [[1, 0, 0], [0.2, 0.8, 0], [0.1, 0.3, 0.6]],
]
figure = figures.live.Heads(weights, ["the", "cat", "sat"])""",
    "ByHand": """figure = figures.live.ByHand(
    ["the", "cat", "sat"],
    X=[[1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 0, 1]],
    W_q=[[0, 0, 1], [0, 1, 0], [1, 1, 0], [-1, 1, -1]],
    W_k=[[0, -1, 0], [1, 1, 0], [-1, 0, 0], [1, 1, 1]],
    W_v=[[-1, 0], [1, 1], [-1, 1], [2, 0]],
)""",
    "Slopes": """import torch

sentences = [["two", "readers", "want", "one", "book"], ["one", "clerk", "finds", "the", "book"]]
rng = torch.Generator().manual_seed(0)
q, k, v = (torch.randn(2, 5, width, generator=rng) for width in (4, 4, 3))
attention = torch.nn.functional.scaled_dot_product_attention
figure = figures.live.Slopes(attention, q, k, v, sentences, entry=(0, 2, 0))""",
    "SoftLookup": """figure = figures.live.SoftLookup(
    [1, 2],
    [[2, -1], [2, 1], [-1, 2], [-2, -1]],
    [[1, 4], [10, 8], [35, 0], [2, 0]],
    ["rivers", "marshes", "seas", "deserts"],
    axes=["fresh water", "salt water"],
    entries=["salt", "mud"],
)""",
    "Tiles": "figure = figures.live.Tiles(block=4)",
    "TrainingScrubber": """recorded = {
    0: [[0.3, 0.3, 0.4], [0.3, 0.3, 0.4]],
    2: [[0.1, 0.5, 0.4], [0.1, 0.5, 0.4]],
    5: [[0, 1, 0], [0, 0, 1]],
}
figure = figures.live.TrainingScrubber(
    [1.2, 0.9, 0.7, 0.69, 0.6, 0.01], recorded, ["it … tired", "it … wide"], ["the", "cat", "road"]
)""",
    "WhoListens": """weights = [[1, 0, 0], [0.4, 0.6, 0], [0.06, 0.602, 0.338]]
blocked = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
figure = figures.live.WhoListens(weights, ["the", "cat", "sat"], blocked=blocked)""",
}


# What the largest figures are made of, and those whose stills are the largest.
SIZES = """import numpy as np

rng, words = np.random.default_rng(0), [f"token {n}" for n in range(32)]
"""
LARGEST = {
    "ByHand": ["ByHand(words[:6], *rng.uniform(-99, 99, (4, 6, 6)).round(3))"],
    "Heads": [
        "Heads(rng.dirichlet(np.ones(32), (4, 32)), words)",
        "Heads(rng.dirichlet(np.ones(10), (12, 32)), words, words[:10])",
        "Heads(rng.dirichlet(np.ones(18), (12, 18)), words[:18])",
    ],
    "MaskPainter": [
        "MaskPainter(rng.normal(size=(12, 12)), words[:12])",
        "MaskPainter(rng.normal(size=(32, 32)), words)",
    ],
    "Tiles": [f"Tiles(*rng.normal(size=(3, 10, 8)), block={block})" for block in (10, 1)],
    "TrainingScrubber": [
        "TrainingScrubber(np.arange(5000), dict(enumerate(rng.dirichlet(np.ones(32), (200, 5)))),"
        " list('abcde'), words)"
    ],
    "WhoListens": ["WhoListens(rng.dirichlet(np.ones(32), 32), words)"],
}


class Walk(NamedTuple):
    """A figure, and statements that take it through the states of its main controls."""

    states: list[str]
    source: str


_ITS_OWN = """import numpy as np
from attnlab import small

words = "<s> the king behind the dogs that the boys see runs".split()
"""
WALKS = {
    "ByHand": Walk(
        [f"figure.stage = {stage}" for stage in range(1, 8)]
        + [f"figure.cell = ['{name}', 1, None]" for name in ("X", "Q", "S", "scaled", "A", "Z")]
        + ["figure.cell = ['A', 1, 1]", "figure.causal = True", "figure.stage = 6"]
        + ["figure.edit('X', 2, 2, '-9.25')", "figure.stage = 2", "figure.cell = ['Z', 1, None]"],
        SOURCES["ByHand"],
    ),
    "Cost": Walk(
        [f"figure.n = {64 * 2**power}" for power in range(13)]
        + ["figure.dtype = 'float64'", "figure.heads = 32", "figure.d = 4096"]
        + ["figure.change(d=64, heads=1)", "figure.measure()", "figure.heads = 2"],
        SOURCES["Cost"],
    ),
    "Film": Walk(
        [f"figure.at = {at}" for at in (0, 1.5, 3)],
        SOURCES["Film"],
    ),
    "Heads": Walk(
        [f"figure.row = {row}" for row in range(10)]
        + [f"figure.off = {head}" for head in (0, 1, 2, 3, None)],
        """from attnlab import small
from attnlab.small import measure

sentence = "<s> the king behind the dogs that the boys see".split()
without = measure.removal(small.load(), 1, sentence)
figure = figures.live.Heads(small.weights(sentence)[1], sentence, without=without)""",
    ),
    "MaskPainter": Walk(
        [
            f"figure.change(preset={preset!r}); figure.row = {row}"
            for preset in ("none", "causal", "padding", "causal and padding", "window")
            for row in (0, 3, 7)
        ]
        + ["figure.mask = np.zeros((10, 10), bool)", "figure.mask = np.eye(10, dtype=bool)"],
        """import numpy as np

from attnlab.lessons.causal_mask.learned import verb_after

sentence = "<s> the king behind the dogs that the boys see".split()
scores, effect = verb_after(sentence)
figure = figures.live.MaskPainter(scores, sentence, preset="causal", effect=effect)""",
    ),
    "Quiz": Walk(["figure.choose(0, 1)", "figure.choose(1, 2)"], SOURCES["Quiz"]),
    "Race": Walk(
        [
            f"figure.change(distance={distance}, when={when!r})"
            for when in ("before", "after")
            for distance in range(1, 17)
        ],
        SOURCES["Race"],
    ),
    "Roofline": Walk([f"figure.batch = {2**power}" for power in range(11)], SOURCES["Roofline"]),
    "RotaryArrows": Walk(
        [
            f"figure.{name} = {place}"
            for name in ("query_at", "key_at", "moved")
            for place in range(13)
        ],
        SOURCES["RotaryArrows"],
    ),
    "Saturation": Walk(
        [f"figure.d_k = {d_k}" for d_k in (2, 3, 8, 16, 64, 192, 1024)]
        + [f"figure.reader = {reader}" for reader in (1, 10, 50)],
        "figure = figures.live.Saturation(256, reader=11)",
    ),
    "Slopes": Walk(
        [f"figure.entry = [{b}, {n}, {c}]" for b in (0, 1) for n in range(5) for c in range(3)],
        SOURCES["Slopes"],
    ),
    "SoftLookup": Walk(
        [
            f"figure.change(query={query}, temperature={temperature})"
            for temperature in (0.05, 1, 100)
            for query in ([1, 3], [0, 3], [3, 0], [-3, -3], [0, 0], [-1.2, 2.4], [2.4, 1.2])
        ],
        """figure = figures.live.SoftLookup(
    [1, 2],
    [[2, -1], [2, 1], [-1, 2], [-2, -1]],
    [[1, 4, 12], [10, 8, 16], [35, 0, 10], [2, 0, 30]],
    ["rivers", "marshes", "seas", "deserts"],
    axes=["fresh water", "salt water"],
    entries=["salt (g/l)", "mud (g/l)", "warmth (°C)"],
)""",
    ),
    "Tiles": Walk(
        [f"figure.step = {step}" for step in range(1, 11)]
        + [f"figure.block = {block}" for block in range(1, 9)]
        + ["figure.change(block=3, causal=False)", *(f"figure.step = {n}" for n in range(1, 10))],
        "figure = figures.live.Tiles(causal=True)",
    ),
    "TrainingScrubber": Walk(
        [f"figure.step = {step}" for step in range(0, 120, 3)],
        """import numpy as np

words = "the animal did n't cross the street because it was tired/wide".split()
rng = np.random.default_rng(0)
recorded = {step: rng.dirichlet(np.full(11, 0.3), size=2) for step in range(0, 120, 3)}
losses = 0.7 * np.exp(-np.arange(120) / 40)
figure = figures.live.TrainingScrubber(losses, recorded, ["it … tired", "it … wide"], words)""",
    ),
    "WhoListens": Walk(
        [f"figure.change(shown={head}); figure.row = {row}" for head in (0, 7) for row in range(11)]
        + ["figure.view = 'arcs'", "figure.read('the dogs')"]
        + ["figure.read('the dogs that the boy sees run today . the teacher near the horse')"]
        + ["figure._receive(figure, {'read': 'the quark sings'}, [])", "figure.row = 3"],
        f"""{_ITS_OWN}
see = {{"blocked": np.triu(np.ones((11, 11)), 1), "shown": 5, "reader": small.weights}}
figure = figures.live.WhoListens(small.weights(words), words, **see)""",
    ),
}
