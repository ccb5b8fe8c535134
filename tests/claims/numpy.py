"""What lesson 03 says, and what would refute it."""

from __future__ import annotations

import math
import re
from itertools import product

import numpy as np
import torch
import torch.nn.functional as F

from tests.claims import Lesson, taught

lesson = Lesson("03-numpy")
here = taught("03-numpy")

N, M, D, D_K, D_V = 5, 7, 6, 4, 3


class Desk:
    """Projections for the lesson's functions; biases 0, 1, 2 are of queries, keys, values."""

    def __init__(self, seed: int, d: int = D) -> None:
        self.rng = np.random.default_rng(seed)
        self.W = [self.rng.normal(size=(d, width)) for width in (D_K, D_K, D_V)]
        self.b = [self.rng.normal(size=width) for width in (D_K, D_K, D_V)]

    def attend(
        self,
        X: np.ndarray,
        mask: np.ndarray | None = None,
        biased: tuple[int, ...] = (),
        asking: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Attention over X; `asking` takes its place in queries and keys."""
        inputs = [X if asking is None else asking] * 2 + [X]
        q, k, v = (
            here.project(x, W, b if i in biased else None)
            for i, (x, W, b) in enumerate(zip(inputs, self.W, self.b, strict=True))
        )
        out, weights = here.scaled_dot_product_attention(q, k, v, mask)
        return out, weights

    def tokens(self, n: int = N) -> np.ndarray:
        return self.rng.normal(size=(n, len(self.W[0])))


def multiplications(string: str, *shapes: tuple[int, ...]) -> int:
    """NumPy's own count for one einsum, which has as many additions."""
    _, told = np.einsum_path(string, *map(np.ones, shapes))
    return round(float(re.findall(r"Naive FLOP count: +(\S+)", told)[0]) / 2)


@lesson.says("A letter is an axis; a letter that is missing after the arrow is summed over.")
def a_missing_letter_is_a_loop_that_adds_up(seed: int) -> None:
    """Against loops over all letters, for every choice of letters that stay."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, 3, 4)), rng.normal(size=(3, 5))
    sizes = {"b": 2, "i": 3, "j": 4, "k": 5}
    for stay in ("bijk", "bjk", "kb", "i", ""):
        wanted = np.zeros([sizes[letter] for letter in stay])
        for places in product(*map(range, sizes.values())):
            at = dict(zip(sizes, places, strict=True))
            entry = a[at["b"], at["i"], at["j"]] * b[at["i"], at["k"]]
            wanted[tuple(at[letter] for letter in stay)] += entry
        assert np.allclose(np.einsum(f"bij,ik->{stay}", a, b), wanted, rtol=0, atol=1e-12)


@lesson.says(
    "Attention is five contractions, with a division and a softmax after the fourth; `...` carries any leading axes.",
    "These are five arrows, and each needs one contraction. The fourth also divides and takes softmax.",
)
def five_einsums_a_division_and_a_softmax_are_pytorchs_attention(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for leading in ((), (2,), (2, 3)):
        X = rng.normal(size=(*leading, N, D))
        W = [rng.normal(size=(D, width)) for width in (D_K, D_K, D_V)]
        q, k, v = (np.einsum("...nd,dk->...nk", X, each) for each in W)
        raw = np.einsum("...nk,...mk->...nm", q, k)
        z = np.einsum("...nm,...mv->...nv", here.softmax(raw / D_K**0.5), v)
        tensors = [torch.from_numpy(each) for each in (q, k, v)]
        wanted = F.scaled_dot_product_attention(tensors[0], tensors[1], tensors[2]).numpy()
        assert np.allclose(z, wanted, rtol=0, atol=1e-12)
        assert not np.allclose(np.einsum("...nm,...mv->...nv", raw, v), wanted, rtol=0, atol=1e-2)


@lesson.says(
    "Subtract the maximum before exp; hide with −∞ before softmax; a row with no key left is 0."
)
def each_of_the_three_is_missed_where_it_is_left_out(seed: int) -> None:
    desk = Desk(seed)
    scores = desk.rng.normal(0, 4000, size=(N, M))
    with np.errstate(all="ignore"):
        bare = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    assert np.isnan(bare).any()
    assert np.allclose(here.softmax(scores).sum(axis=-1), 1)

    X = desk.tokens()
    mask = np.ones((N, N), dtype=bool)  # True = attend
    mask[:, 1] = mask[3] = False
    out, weights = desk.attend(X, mask)
    kept = [n for n in range(N) if n != 3]
    assert np.allclose(weights[kept].sum(axis=-1), 1)
    assert (weights[3] == 0).all()
    assert (out[3] == 0).all()
    q, k, v = (here.project(X, W) for W in desk.W)
    _, late = here.mask_too_late(q, k, v, mask)
    assert (late[kept].sum(axis=-1) < 0.9999).any()


@lesson.says(
    "The block's number of parameters does not depend on N, and the number of weights, N², does not depend on d; without a mask, shuffling goes straight through.",
    "A mask stays where it is while the words move, so it can tell their order.",
    "No parameter of this block has an axis n:",
    "Nothing in the block looks at a row's position: *maps* asks the same question of the same five books, and only the order of the shelf has changed.",
)
def one_desk_serves_every_length_and_order(seed: int) -> None:
    """What notices: a desk that adds the row's number to each token, and a mask of places."""
    desk = Desk(seed)
    for n in (2, 9, 33):
        X = desk.tokens(n)
        out, weights = desk.attend(X)
        wide = Desk(seed, d=40)
        assert weights.shape == wide.attend(wide.tokens(n))[1].shape == (n, n)
        order = desk.rng.permutation(n)
        assert np.allclose(desk.attend(X[order])[0], out[order], rtol=0, atol=1e-12)
    placed = np.arange(n)[:, None]
    told = desk.attend(X + placed)[0]
    assert abs(desk.attend(X[order] + placed)[0] - told[order]).max() > 1e-3
    past = np.tri(n, dtype=bool)  # True = attend
    masked = desk.attend(X, past)[0][order]
    assert abs(desk.attend(X[order], past)[0] - masked).max() > 1e-3
    assert np.allclose(desk.attend(X[order], past[order][:, order])[0], masked, rtol=0, atol=1e-12)
    for n in (2, 9, 33):
        counted = sum(W.size for W in desk.W), desk.attend(desk.tokens(n))[1].size
        assert counted == here.count_attention(n, D, D_K, D_V)


@lesson.says(
    "Attention is one big matrix of blocks a_nm W_vᵀ, rebuilt for every input; so it is not linear in X, unless all scores are equal, or all values.",
    "This is also why the whole map is not linear: the matrix depends on X.",
)
def what_is_not_linear_is_linear_once_its_weights_are_held(seed: int) -> None:
    desk = Desk(seed)
    for n in (1, 2):
        X, other = desk.tokens(n), desk.tokens(n)
        sums = desk.attend(X)[0] + desk.attend(other)[0]
        assert np.allclose(desk.attend(X + other)[0], sums, rtol=0, atol=1e-12) == (n == 1)
    for silent in range(3):  # all scores are 0, or all values
        mute = Desk(seed)
        mute.W[silent] = 0 * mute.W[silent]
        sums = mute.attend(X)[0] + mute.attend(other)[0]
        assert np.allclose(mute.attend(X + other)[0], sums, rtol=0, atol=1e-12)
    X, other = desk.tokens(), desk.tokens()
    out, weights = desk.attend(X)
    big = here.routing_matrix(weights, desk.W[2])
    assert np.allclose(big @ X.ravel(), out.ravel(), rtol=0, atol=1e-12)
    assert abs(here.routing_matrix(desk.attend(other)[1], desk.W[2]) - big).max() > 0.01

    free = desk.attend(X + other)[0] - desk.attend(X)[0] - desk.attend(other)[0]
    held = [desk.attend(x, asking=X)[0] for x in (X + other, X, other)]
    assert abs(free).max() > 0.01
    assert np.allclose(held[0], held[1] + held[2], rtol=0, atol=1e-12)


@lesson.says(
    "The scores are symmetric, and no token's score with itself is negative",
    "(Another token's score can still be larger.)",
    "Two matrices let a token ask for something other than what it offers.",
)
def one_matrix_for_two_roles_makes_scores_symmetric(seed: int) -> None:
    desk = Desk(seed)
    X = desk.tokens(40)
    q, k = (here.project(X, W) for W in desk.W[:2])
    shared, apart = q @ q.T, q @ k.T
    own = np.diag(shared)
    assert np.allclose(shared, shared.T)
    assert (own >= 0).all()
    assert (shared.max(axis=-1) > own).any()
    assert (np.diag(apart) < 0).any()
    assert not np.allclose(apart, apart.T)


@lesson.says(
    "But b_k, the keys' bias, does nothing at all.",
    "(In a block that turns keys by their places, lesson 09, it does something.)",
    "b_q changes the score of every key, and without a mask b_v is added to every output, because the weights add up to 1.",
)
def only_the_bias_of_keys_does_nothing(seed: int) -> None:
    desk = Desk(seed)
    X = desk.tokens()
    out, weights = desk.attend(X)
    for biased in ((), (0,), (2,), (0, 2)):  # with other biases, and without
        plain, keyed = desk.attend(X, biased=biased), desk.attend(X, biased=(*biased, 1))
        assert np.allclose(plain[0], keyed[0], rtol=0, atol=1e-12)
    assert np.allclose(desk.attend(X, biased=(2,))[0], out + desk.b[2], rtol=0, atol=1e-12)
    assert abs(desk.attend(X, biased=(0,))[1] - weights).max() > 1e-3
    emptied = np.ones((N, N), dtype=bool)
    emptied[0] = False
    assert (desk.attend(X, emptied, biased=(2,))[0][0] == 0).all()  # hence "without a mask"
    q, *keys = (here.project(X, desk.W[i], b) for i, b in ((0, None), (1, None), (1, desk.b[1])))
    by_place = np.exp(1j * np.arange(N))[:, None]  # pairs of numbers, as one that is complex
    q, *keys = ((each[:, ::2] + 1j * each[:, 1::2]) * by_place for each in (q, *keys))
    turned = [here.softmax((q @ each.conj().T).real / D_K**0.5) for each in keys]
    assert abs(turned[0] - turned[1]).max() > 1e-3


@lesson.says(
    "In the rows of *clerk*, *finds*, *old* and *maps* the weight that went to *old* is shared out among the other keys, in proportion to what they had, so each of these rows still adds up to 1."
)
def what_a_mask_takes_is_shared_out_in_proportion(seed: int) -> None:
    desk = Desk(seed)
    X = desk.tokens()
    mask = np.arange(N) != 2  # True = attend
    free, hidden = desk.attend(X)[1], desk.attend(X, mask)[1]
    assert np.allclose(hidden, free * mask / (1 - free[:, 2:3]), rtol=0, atol=1e-12)


@lesson.says(
    "The work for the values is linear in N, because each token is projected alone. The pairs cost N².",
    "A contraction multiplies once for every combination of its letters:",
)
def numpy_counts_twice_the_work_for_values_and_four_times_for_pairs() -> None:
    for n in (5, 50):
        assert multiplications("md,dv->mv", (n, D), (D, D_V)) == n * D * D_V
        assert multiplications("nk,mk->nm", (n, D_K), (n, D_K)) == n * n * D_K
        assert multiplications("nm,mv->nv", (n, n), (n, D_V)) == n * n * D_V


@lesson.says(
    "(Divide each row that is not all 0 by its sum, and the result is right again",
)
def late_masks_renormalised_fail_where_a_blocked_key_leads_by_far() -> None:
    open_keys = np.array([False, True, True])
    for dtype, fine, lost, gone in ((np.float64, 700, 740, 746), (np.float32, 85, 100, 104)):
        for lead in (fine, lost, gone):
            precise = lead * np.finfo(dtype).eps  # as a score of that size is
            scores = np.array([lead, 0.0, -0.3], dtype=dtype)
            early = here.softmax(np.where(open_keys, scores, dtype(-math.inf)))
            assert np.allclose(early[1:], here.softmax(scores[1:]), rtol=0, atol=precise)
            shares = here.softmax(scores) * open_keys
            assert shares.dtype == dtype
            assert (shares.sum() == 0) == (lead == gone)
            if lead < gone:
                late = shares / shares.sum()
                is_fine = np.allclose(late, early, rtol=0, atol=precise)
                assert is_fine == (lead == fine)


@lesson.says(
    "Not this one: one row of `nan` makes every row `nan` in the next layer, because all of them listen to it.",
    "`F.scaled_dot_product_attention` of PyTorch 2.13 and this course give 0.",
)
def nan_spreads_and_pytorchs_function_gives_none(seed: int) -> None:
    desk = Desk(seed)
    X = desk.tokens()
    X[2] = math.nan
    assert np.isnan(desk.attend(X)[0]).all()
    ours, weights = desk.attend(desk.tokens(), np.arange(N)[:, None] != 2)  # True = attend
    assert (ours[2] == 0).all()
    assert (weights[2] == 0).all()
    torch.manual_seed(seed)
    for dtype, leading in product((torch.float64, torch.float32), ((), (2, 3))):
        q, k, v = torch.randn(3, *leading, N, D_K, dtype=dtype)
        mask = torch.arange(N)[:, None] != 2  # True = attend
        by_value = torch.zeros(N, 1, dtype=dtype).masked_fill(~mask, -math.inf)
        for given in (mask, by_value):
            out = F.scaled_dot_product_attention(q, k, v, given.expand(N, N))
            assert (out[..., 2, :] == 0).all()
            assert out.isfinite().all()
