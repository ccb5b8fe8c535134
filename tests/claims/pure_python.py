"""What lesson 02 says, and what would refute it."""

from __future__ import annotations

import math
import random

import numpy as np
import torch
import torch.nn.functional as F

from tests.claims import Lesson, taught

lesson = Lesson("02-pure-python")
here = taught("02-pure-python")

N, D, D_K, D_V = 5, 6, 4, 3
Matrix = list[list[float]]


def draw(rng: random.Random, rows: int, columns: int, size: float = 1.0) -> Matrix:
    return [[rng.gauss(0, size) for _ in range(columns)] for _ in range(rows)]


def desk(seed: int) -> tuple[Matrix, list[Matrix]]:
    """Tokens, and the three matrices."""
    rng = random.Random(seed)
    return draw(rng, N, D), [draw(rng, D, width, 0.4) for width in (D_K, D_K, D_V)]


def moved(before: Matrix, after: Matrix) -> list[int]:
    """The rows that differ."""
    return [n for n in range(len(before)) if not np.allclose(before[n], after[n], atol=1e-9)]


@lesson.says(
    "Each token plays three roles, through three learned projections of the same row: where q, k, v come from.",
    "Every step has one row for each token, and only two bring rows together: Q Kᵀ *compares* them, A V *mixes* them.",
)
def each_matrix_moves_what_its_role_moves(seed: int) -> None:
    X, W = desk(seed)
    nudged = [row.copy() for row in X]
    nudged[2][0] += 1.0
    for each in W:
        assert moved(here.matmul(X, each), here.matmul(nudged, each)) == [2]
    Z, A = here.self_attention(X, *W)
    assert moved(Z, here.self_attention(nudged, *W)[0]) == list(range(N))
    for role in range(3):
        other = [
            each if place != role else draw(random.Random(1), D, len(each[0]))
            for place, each in enumerate(W)
        ]
        Z_other, A_other = here.self_attention(X, *other)
        assert (moved(A, A_other) == []) == (role == 2)
        assert moved(Z, Z_other) == list(range(N))


@lesson.says(
    "With one matrix for queries and keys, scores are symmetric and tokens are drawn to themselves, though not every one of them: one matrix for two roles.",
    "on average over all tokens, a score for oneself is at least as large as one for another. It need not hold for *every* token: a list of small numbers can score one of large numbers higher than itself.",
    "Yes. A dot product does not care which list comes first. So with one list a word cannot score another without being scored the same in return.",
)
def sharing_a_matrix_ties_each_pair_and_favours_oneself_on_average(seed: int) -> None:
    """Tokens that nearly agree are the strongest counter-example to the average; two matrices break it."""
    rng = random.Random(seed)
    broken, unlike = 0, 0
    for _trial in range(50):
        W_q, W_k = draw(rng, D, D_K), draw(rng, D, D_K)
        centre = draw(rng, 1, D, 3.0)[0]
        spread = rng.choice([0.01, 1.0, 10.0])
        X = [[c + rng.gauss(0, spread) for c in centre] for _ in range(N)]
        shared = here.matmul(here.matmul(X, W_k), here.transpose(here.matmul(X, W_k)))
        assert np.allclose(shared, here.transpose(shared))
        own = [shared[n][n] for n in range(N)]
        assert sum(own) / N >= (sum(map(sum, shared)) - sum(own)) / (N * (N - 1)) - 1e-9
        broken += any(max(shared[n]) > own[n] + 1e-9 for n in range(N))
        apart = here.matmul(here.matmul(X, W_q), here.transpose(here.matmul(X, W_k)))
        unlike += sum(apart[n][n] for n in range(N)) / N < sum(map(sum, apart)) / N**2
    assert broken > 0
    assert unlike > 0


@lesson.says(
    "Z = softmax(Q Kᵀ / √d_k) V: compare, tame, share out, average.",
    "Softmax runs over keys, so each **row** of A adds up to 1: the formula.",
)
def the_block_is_pytorchs_and_its_rows_add_up(seed: int) -> None:
    X, W = desk(seed)
    Z, A = here.self_attention(X, *W)
    x, W_q, W_k, W_v = (torch.tensor(each, dtype=torch.float64) for each in (X, *W))
    wanted = F.scaled_dot_product_attention(x @ W_q, x @ W_k, x @ W_v)
    assert np.allclose(Z, wanted.numpy(), rtol=0, atol=1e-12)
    assert np.allclose(np.sum(A, axis=1), 1)
    assert not np.allclose(np.sum(A, axis=0), 1, atol=0.01)


@lesson.says(
    "The same token comes out different beside another neighbour, by the same matrices: a word that its neighbour decides.",
    "*River* asks for nothing. Its scores are all 0, so it listens to all three alike, and its own Z is a third money. Weights that add up to 1 cannot say *nobody*.",
)
def bank_is_decided_by_its_neighbour_and_its_question_does_it() -> None:
    def rows(phrase: str, asks: Matrix) -> dict[str, list[float]]:
        words = phrase.split()
        Z, _ = here.self_attention(
            [here.X_OF[word] for word in words], asks, here.PROMISES, here.PASSES_ON
        )
        return dict(zip(words, Z, strict=True))

    river, money = rows("the river bank", here.ASKS), rows("the money bank", here.ASKS)
    assert river["bank"][0] > 0.9 > 0.1 > river["bank"][1]
    assert money["bank"][1] > 0.9 > 0.1 > money["bank"][0]
    assert np.allclose(river["river"], [2 / 3, 1 / 3])

    silent: Matrix = [[0.0, 0.0] for _ in here.ASKS]
    deaf = rows("the river bank", silent), rows("the money bank", silent)
    assert abs(deaf[0]["bank"][0] - deaf[1]["bank"][0] - 1 / 3) < 1e-9
    swapped = rows("the bank money", here.ASKS)  # it goes by the word, and not by the place
    assert np.allclose(swapped["bank"], money["bank"])


@lesson.says(
    "This holds for this matrix, and not for every shared one. With the rows (0, 0), (10, 0), (0, 10) and (−9, −9) *bank* becomes (1, 1) and *river* (10, 0), and *bank* gives *river* more than 0.99 of its weight. But then *river* has to score *bank* with the same 10. It looks elsewhere only because it scores itself 100."
)
def another_shared_matrix_lets_bank_pick_its_neighbour() -> None:
    shared = [[0, 0], [10, 0], [0, 10], [-9, -9]]
    for neighbour in ("river", "money"):
        X = [here.X_OF[word] for word in ("the", neighbour, "bank")]
        keys = here.matmul(X, shared)
        _, A = here.self_attention(X, shared, shared, here.PASSES_ON)
        assert keys[2] == [1, 1]
        assert A[2][1] > 0.99
        scores = here.matmul(keys, here.transpose(keys))
        assert scores[1][2] == scores[2][1] == 10
        assert scores[1][1] == 100
        assert A[1][1] > 0.99
        without = here.softmax_rows([[scores[1][m] for m in (0, 2)]])[0]
        assert without[1] > 0.99
        _, own = here.self_attention(X, here.ASKS, here.ASKS, here.PASSES_ON)
        assert own[2][2] > 0.99


@lesson.says(
    "The projections grow with N; scores, weights and their use grow with N²: cost.",
    "With d = 16, d_k = 4 and d_v = 6 the pairs overtake at N = 22.4.",
)
def multiplications_are_counted_where_they_happen() -> None:
    """The lesson's own loops, on numbers that count how often they are multiplied."""

    class Counting(float):
        """A number that counts its products; sums and products of it count on."""

        times = 0

        def __mul__(self, other: float) -> Counting:
            Counting.times += 1
            return Counting(float(self) * float(other))

        def __add__(self, other: float) -> Counting:
            return Counting(float(self) + float(other))

        __rmul__, __radd__ = __mul__, __add__

    def counted(n: int) -> int:
        Counting.times = 0
        X = [[Counting(0.1)] * 16 for _ in range(n)]
        here.self_attention(X, *([[0.1] * width for _ in range(16)] for width in (4, 4, 6)))
        return Counting.times

    def by_hand(n: int) -> int:
        return n * 16 * (4 + 4 + 6) + n * n * (4 + 6)

    assert [counted(n) for n in (5, 10, 40)] == [by_hand(n) for n in (5, 10, 40)]
    projections, pairs = 16 * (4 + 4 + 6), 4 + 6
    assert projections / pairs == 22.4


@lesson.says(
    "Subtract each row's own largest score. If you subtract another row's 10,000, scores near 0 all become `exp(-10000)`, which is 0.0, and you divide 0 by 0."
)
def a_maximum_of_all_rows_empties_a_row(seed: int) -> None:
    rng = random.Random(seed)
    S = [[10_000 + rng.gauss(0, 1) for _ in range(N)], [rng.gauss(0, 1) for _ in range(N)]]
    assert np.allclose(np.sum(here.softmax_rows(S), axis=1), 1)
    highest = max(map(max, S))
    assert sum(math.exp(score - highest) for score in S[1]) == 0.0


@lesson.says(
    "No output can leave the space between the values: a weighted average lies between the smallest and the largest of what it averages.",
    "In Q, K and V only the row of *sat* changed, yet without a mask every row of Z did: each token attends to *sat*, so *sat*'s key and value reach them all. Under the mask only *sat*'s own row changed.",
)
def outputs_stay_between_values_and_the_last_word_reaches_all(seed: int) -> None:
    X, W = desk(seed)
    V = here.matmul(X, W[2])
    Z, _ = here.self_attention(X, *W)
    assert all(
        min(c) <= z <= max(c) for row in Z for z, c in zip(row, zip(*V, strict=True), strict=True)
    )

    matrices = here.W_q, here.W_k, here.W_v
    edited = [*here.X[:2], [0, 1, 1, 1]]
    assert moved(*(here.self_attention(x, *matrices)[0] for x in (here.X, edited))) == [0, 1, 2]
    q, k, v = (
        torch.tensor([here.matmul(x, W) for x in (here.X, edited)]).double() for W in matrices
    )
    before, after = F.scaled_dot_product_attention(q, k, v, is_causal=True).tolist()
    assert moved(before, after) == [2]
