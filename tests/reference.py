"""Slow, obviously right: what the package computes, written as the formula says and as nothing else.

Kernels are functions of two samples, kernel matrices are double loops over them, stacks of kernels are arrays
(m, r, c), and optima come from a conic solver with bounds that are recomputed here.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import cvxpy as cp
import numpy as np

Array = Any
Function = Callable[[Array, Array], float]  # k(x, z)


# -- kernels of two samples --------------------------------------------------------------------------------------------


def linear() -> Function:
    return lambda x, z: sum(a * b for a, b in zip(x, z, strict=True))


def polynomial(degree: int, coef0: float = 1.0, gamma: float = 1.0) -> Function:
    return lambda x, z: (gamma * linear()(x, z) + coef0) ** degree


def homogeneous(degree: int) -> Function:
    return polynomial(degree, coef0=0.0)


def rbf(gamma: float) -> Function:
    return lambda x, z: np.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, z, strict=True)))


def laplacian(gamma: float) -> Function:
    return lambda x, z: np.exp(-gamma * sum(abs(a - b) for a, b in zip(x, z, strict=True)))


def difference(degree: int) -> Function:
    """The sum of the absolute differences to a power: a distance."""
    return lambda x, z: sum(abs(a - b) ** degree for a, b in zip(x, z, strict=True))


def of_distance(f: Callable[[float], float]) -> Function:
    """f of the Euclidean distance."""
    return lambda x, z: f(np.sqrt(sum((a - b) ** 2 for a, b in zip(x, z, strict=True))))


def stretched(k: Function, factors: Sequence[float]) -> Function:
    """k of samples whose features are multiplied by factors."""
    return lambda x, z: k(np.multiply(x, factors), np.multiply(z, factors))


def mapped(k: Function, A: Sequence[Sequence[float]]) -> Function:
    """k of samples A x."""
    return lambda x, z: k(np.asarray(A) @ np.asarray(x), np.asarray(A) @ np.asarray(z))


def product_of_differences(i: int, j: int) -> Function:
    """Of two features."""
    return lambda x, z: (x[i] - z[i]) * (x[j] - z[j])


def hamming() -> Function:
    return lambda x, z: sum(a == b for a, b in zip(x, z, strict=True)) / len(x)


def tanimoto() -> Function:
    def k(x: Array, z: Array) -> float:
        dot = linear()
        union = dot(x, x) + dot(z, z) - dot(x, z)
        return dot(x, z) / union if union > 0 else 0.0

    return k


def tanimoto_of_bytes() -> Function:
    """Of two rows of bytes, eight bits in each."""

    def bits(x: Array) -> Array:
        return np.unpackbits(x.astype(np.uint8)).astype(float)

    return lambda x, z: tanimoto()(bits(x), bits(z))


def spectrum(length: int) -> Function:
    """Of two strings: the sum over substrings of the product of how often they occur."""

    def count(text: str) -> Counter[str]:
        return Counter(text[i : i + length] for i in range(len(text) - length + 1))

    return lambda x, z: float(sum(n * count(z)[u] for u, n in count(x).items()))


def gapped(length: int, decay: float) -> Function:
    """Of two strings: all pairs of places at which both read the same word, each with decay to what it spans."""

    def weights(text: str) -> Counter[str]:
        found: Counter[str] = Counter()
        for places in combinations(range(len(text)), length):
            found["".join(text[i] for i in places)] += decay ** (places[-1] - places[0] + 1)
        return found

    return lambda x, z: float(sum(w * weights(z)[u] for u, w in weights(x).items()))


def mismatches(length: int, most: int, alphabet: str) -> Function:
    """Of two strings: the sum over all words of how many substrings of each are near the word."""

    def near(text: str, word: tuple[str, ...]) -> int:
        parts = (text[i : i + length] for i in range(len(text) - length + 1))
        return sum(sum(a != b for a, b in zip(u, word, strict=True)) <= most for u in parts if set(u) <= set(alphabet))

    return lambda x, z: float(sum(near(x, u) * near(z, u) for u in product(alphabet, repeat=length)))


def rational(moves: Sequence[Any], initial: Sequence[float], final: Sequence[float]) -> Function:
    """Of two strings: the sum over pairs of equal substrings of the square of what the automaton's paths weigh."""

    def weight(word: str) -> float:
        at = np.array(initial, dtype=float)
        for character in word:
            after = np.zeros(len(at))
            for start, letter, end, factor in moves:
                if letter in ("", character):
                    after[end] += at[start] * factor
            at = after
        return float(at @ final)

    def substrings(text: str) -> list[str]:
        return [text[i:j] for i in range(len(text)) for j in range(i + 1, len(text) + 1)]

    return lambda x, z: float(sum(weight(u) ** 2 for u in substrings(x) for v in substrings(z) if u == v))


def subtrees(decay: float, partial: bool) -> Function:
    """Of two trees in brackets: all parts of each are listed, and those of equal form are counted."""

    def read(text: str) -> Any:
        tokens = text.replace("(", " ( ").replace(")", " ) ").split()

        def node() -> Any:
            if tokens.pop(0) != "(":
                raise ValueError(text)
            label, children = tokens.pop(0), []
            while tokens[0] != ")":
                children.append(node() if tokens[0] == "(" else tokens.pop(0))
            tokens.pop(0)
            return (label, *children)

        return node() if tokens[:1] == ["("] else None

    def parts(tree: Any) -> list[tuple[Any, int]]:
        """The parts that begin at the root of a tree, with their numbers of rules."""
        ways: list[list[tuple[Any, int]]] = [
            [((child[0], "cut"), 0)] * partial + parts(child) if isinstance(child, tuple) else [(child, 0)]
            for child in tree[1:]
        ]
        return [((tree[0], *(p for p, _ in way)), 1 + sum(n for _, n in way)) for way in product(*ways)]

    def everything(tree: Any) -> list[tuple[Any, int]]:
        if not isinstance(tree, tuple):
            return []
        return parts(tree) + [found for child in tree[1:] for found in everything(child)]

    def k(x: str, z: str) -> float:
        return sum(decay**n for p, n in everything(read(x)) for q, _ in everything(read(z)) if p == q)

    return k


def items(separator: str, jaccard: bool = False) -> Function:
    """Of two lists of items: how many are in both, or that over how many are in either."""

    def members(text: str) -> set[str]:
        return {item.strip() for item in text.split(separator)} - {""}

    def k(x: str, z: str) -> float:
        a, b = members(x), members(z)
        return len(a & b) / max(len(a | b), 1) if jaccard else float(len(a & b))

    return k


def vector_sets(k: Function) -> Function:
    """Of two sets of vectors: the mean of the kernel over all pairs."""

    def vectors(text: str) -> list[Array]:
        return [np.array(line.split(), dtype=float) for line in text.split(";") if line.strip()]

    def mean(x: str, z: str) -> float:
        values = [k(a, b) for a in vectors(x) for b in vectors(z)]
        return sum(values) / max(len(values), 1)

    return mean


def tfidf(texts: Sequence[str], lengths: tuple[int, int]) -> Function:
    """Of two texts: the cosine of their weights of n-grams of words, (1 + log count) (1 + log((1 + n) / (1 + n_u)))."""

    def count(text: str) -> Counter[str]:
        words = text.lower().split()
        return Counter(
            " ".join(words[i : i + q]) for q in range(lengths[0], lengths[1] + 1) for i in range(len(words) - q + 1)
        )

    occurs = Counter(u for text in texts for u in count(text))

    def weights(text: str) -> dict[str, float]:
        rarity = {u: 1.0 + np.log((1 + len(texts)) / (1 + occurs[u])) for u in occurs}
        found = {u: (1.0 + np.log(c)) * rarity[u] for u, c in count(text).items() if u in occurs}
        size = np.sqrt(sum(w * w for w in found.values()))
        return {u: w / size for u, w in found.items()}

    return lambda x, z: float(sum(w * weights(z).get(u, 0.0) for u, w in weights(x).items()))


def monomials(variables: Array, numbers: Array) -> Function:
    """The sum of products of features, each as often as it was drawn; a variable beyond the last feature is 1."""

    def k(x: Array, z: Array) -> float:
        own = [[j for j in row if j < len(x)] for row in variables]
        return sum(n * np.prod(x[js]) * np.prod(z[js]) for n, js in zip(numbers, own, strict=True))

    return k


def plus(*parts: Function) -> Function:
    return lambda x, z: sum(k(x, z) for k in parts)


def times(*parts: Function) -> Function:
    return lambda x, z: np.prod([k(x, z) for k in parts])


def to_the(k: Function, degree: int) -> Function:
    return lambda x, z: k(x, z) ** degree


def scaled(k: Function, factor: float) -> Function:
    return lambda x, z: factor * k(x, z)


def on(k: Function, columns: Sequence[int]) -> Function:
    return lambda x, z: k([x[c] for c in columns], [z[c] for c in columns])


def cosine(k: Function) -> Function:
    def normalised(x: Array, z: Array) -> float:
        size = np.sqrt(k(x, x) * k(z, z))
        return k(x, z) / size if size > 0 else 0.0

    return normalised


# -- kernels of two samples, given the training sample -----------------------------------------------------------------


@dataclass(frozen=True)
class Truth:
    """A stack of kernels on samples X, with Z the training sample."""

    matrices: Callable[[Array, Array], Array]  # (m, len(X), len(Z))
    self_values: Callable[[Array, Array], Array]  # (m, len(X))


def gram(k: Function, X: Array, Z: Array) -> Array:
    """K(X, Z) by two loops."""
    K = np.empty((len(X), len(Z)))
    for i, x in enumerate(X):
        for j, z in enumerate(Z):
            K[i, j] = k(x, z)
    return K


def stack(*kernels: Function) -> Truth:
    """Kernels that do not depend on the training sample."""
    return Truth(
        lambda X, Z: np.array([gram(k, X, Z) for k in kernels]),
        lambda X, Z: np.array([[k(x, x) for x in X] for k in kernels]),
    )


def by_similarities(k: Function, psd: str) -> Truth:
    """The kernel of features made of similarities to the training samples."""

    def inverse(Z: Array) -> Array:
        """M with k(x, z) = s_x' M s_z."""
        if psd == "square":
            return np.eye(len(Z)) / len(Z)
        values, vectors = np.linalg.eigh(gram(k, Z, Z))
        values[np.abs(values) < 1e-9] = np.inf
        return (
            vectors
            @ np.diag(1.0 / (np.abs(values) if psd == "flip" else np.where(values > 0, values, np.inf)))
            @ vectors.T
        )

    def matrices(X: Array, Z: Array) -> Array:
        return (gram(k, X, Z) @ inverse(Z) @ gram(k, Z, Z).T)[None]

    def self_values(X: Array, Z: Array) -> Array:
        S = gram(k, X, Z)
        return np.einsum("ij,jk,ik->i", S, inverse(Z), S)[None]

    return Truth(matrices, self_values)


def both(*truths: Truth) -> Truth:
    """Stacks one after the other."""
    return Truth(
        lambda X, Z: np.concatenate([t.matrices(X, Z) for t in truths]),
        lambda X, Z: np.concatenate([t.self_values(X, Z) for t in truths]),
    )


def reordered(truth: Truth, order: Sequence[int]) -> Truth:
    """Kernel k is number order[k] of the truth's."""
    index = list(order)
    return Truth(lambda X, Z: truth.matrices(X, Z)[index], lambda X, Z: truth.self_values(X, Z)[index])


def multiplied(truth: Truth, factors: Sequence[float]) -> Truth:
    s = np.asarray(factors)
    return Truth(
        lambda X, Z: s[:, None, None] * truth.matrices(X, Z), lambda X, Z: s[:, None] * truth.self_values(X, Z)
    )


def weighed(truth: Truth, weight: Callable[[Array], Array]) -> Truth:
    """w(x) w(z) k(x, z)."""
    return Truth(
        lambda X, Z: weight(X)[:, None] * truth.matrices(X, Z) * weight(Z),
        lambda X, Z: weight(X) ** 2 * truth.self_values(X, Z),
    )


def centred(truth: Truth) -> Truth:
    """<phi(x) - c, phi(z) - c> with c the mean of phi over Z, multiplied out."""

    def matrices(X: Array, Z: Array) -> Array:
        K, T = truth.matrices(X, Z), truth.matrices(Z, Z)
        return K - K.mean(axis=2, keepdims=True) - T.mean(axis=1)[:, None, :] + T.mean(axis=(1, 2), keepdims=True)

    def self_values(X: Array, Z: Array) -> Array:
        K, T = truth.matrices(X, Z), truth.matrices(Z, Z)
        return truth.self_values(X, Z) - 2.0 * K.mean(axis=2) + T.mean(axis=(1, 2))[:, None]

    return Truth(matrices, self_values)


def normalised(truth: Truth) -> Truth:
    """k(x, z) / sqrt(k(x, x) k(z, z)), and 0 where a self-value is 0."""

    def matrices(X: Array, Z: Array) -> Array:
        K, left, right = truth.matrices(X, Z), truth.self_values(X, Z), truth.self_values(Z, Z)
        size = np.sqrt(np.maximum(left[:, :, None] * right[:, None, :], 0.0))
        return np.divide(K, size, out=np.zeros_like(K), where=size > 0)

    return Truth(matrices, lambda X, Z: (truth.self_values(X, Z) > 0).astype(float))


# -- what a bank computes, on a stack (m, r, c) ------------------------------------------------------------------------


def combine(K: Array, weights: Array) -> Array:
    total = np.zeros(K.shape[1:])
    for w, matrix in zip(weights, K, strict=True):
        total = total + w * matrix
    return total


def apply(K: Array, C: Array) -> Array:
    return np.array([matrix @ C for matrix in K])


def quad(K: Array, A: Array) -> Array:
    A = A[:, None] if A.ndim == 1 else A
    return np.array([np.trace(A.T @ matrix @ A) for matrix in K])


def inner(K: Array, M: Array) -> Array:
    return np.array([np.sum(matrix * M) for matrix in K])


def pairs(K: Array) -> Array:
    return np.array([[np.sum(a * b) for b in K] for a in K])


def diagonal(K: Array) -> Array:
    return np.array([np.diag(matrix) for matrix in K])


def traces(K: Array) -> Array:
    return np.array([np.trace(matrix) for matrix in K])


# -- optima ------------------------------------------------------------------------------------------------------------


def conic(problem: cp.Problem, asked: Sequence[float] = (1e-13, 1e-10, 1e-8)) -> float:
    """Solve by Clarabel as far as it gets; where it breaks down on the way, as far as it gets with less asked.

    The value is NaN where it breaks down always, as it does where an optimum is zero. It is not believed that what was
    asked was reached: bounds are recomputed from the point.
    """
    for tol in asked:
        with warnings.catch_warnings(), suppress(cp.SolverError):
            warnings.simplefilter("ignore")
            return float(
                problem.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol, max_iter=200)
            )
    return float("nan")


def root(K: Array) -> Array:
    """F with F'F = K, from the eigenvalues that are not rounding."""
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-13 * max(values.max(), np.finfo(float).tiny)
    return np.sqrt(values[kept])[:, None] * vectors[:, kept].T


def hull_value(K: Array, y: Array, lam: float, g: Array) -> float:
    """(1 - lam) g'Y K Y g + lam |g|^2."""
    return float((1.0 - lam) * (y * g) @ K @ (y * g) + lam * g @ g)


def hull_bound(K: Array, y: Array, lam: float, g: Array) -> float:
    """A lower bound of the smallest hull value, from any g: the plane that touches the value at g lies below it."""
    gradient = 2.0 * ((1.0 - lam) * y * (K @ (y * g)) + lam * g)
    return float(gradient[y > 0].min() + gradient[y < 0].min()) - hull_value(K, y, lam, g)


@dataclass(frozen=True)
class Hulls:
    """A feasible g, its value, and a lower bound of the optimum."""

    g: Array
    value: float
    bound: float


def hulls(K: Array, y: Array, lam: float) -> Hulls:
    """min_g (1 - lam) g'Y K Y g + lam |g|^2 over a probability vector on each class, by Clarabel.

    The matrix is scaled to size one, the solution is made feasible and polished on its support, and both bounds are
    recomputed: nothing that the solver says of its accuracy is believed.
    """
    n = len(y)
    scale = max((1.0 - lam) * float(np.abs(K).max()), lam, np.finfo(float).tiny)
    F = np.vstack([root((1.0 - lam) * K / scale) * y, np.sqrt(lam / scale) * np.eye(n)])
    g = cp.Variable(n, nonneg=True)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(F @ g)), [cp.sum(g[y > 0]) == 1, cp.sum(g[y < 0]) == 1])
    conic(problem)
    points = [feasible(np.asarray(g.value), y)]
    points += [polished(K, y, lam, points[0], share) for share in (1e-3, 1e-5, 1e-7)]
    best = min(points, key=lambda point: hull_value(K, y, lam, point) - hull_bound(K, y, lam, point))
    value = max(hull_value(K, y, lam, best), 0.0)
    return Hulls(best, value, min(max(hull_bound(K, y, lam, best), 0.0), value))


def feasible(g: Array, y: Array) -> Array:
    """Not negative, and of sum one in each class."""
    g = np.maximum(g, 0.0)
    return np.where(y > 0, g / g[y > 0].sum(), g / g[y < 0].sum())


def polished(K: Array, y: Array, lam: float, g: Array, share: float) -> Array:
    """The optimum where only the samples with more than this share take part, if it is feasible; else g itself."""
    S = np.flatnonzero(g > share * g.max())
    if len(np.unique(y[S])) < 2:
        return g
    H = 2.0 * ((1.0 - lam) * np.outer(y[S], y[S]) * K[np.ix_(S, S)] + lam * np.eye(len(S)))
    sums = np.array([(y[S] > 0).astype(float), (y[S] < 0).astype(float)])
    system = np.block([[H, sums.T], [sums, np.zeros((2, 2))]])
    solution = np.linalg.lstsq(system, np.concatenate([np.zeros(len(S)), np.ones(2)]), rcond=None)[0][: len(S)]
    whole = np.zeros(len(y))
    whole[S] = solution
    return feasible(whole, y) if (solution >= 0).all() else g


def easymkl_weights(K: Array, y: Array, lam: float) -> Array:
    """The squared distances of the two hull points in the feature space of each kernel, with sum 1."""
    coef = y * hulls(K.sum(axis=0), y, lam).g
    d = np.maximum(quad(K, coef), 0.0)
    return d / d.sum()


def svm_value(K: Array, y: Array, C: float) -> float:
    """max_a sum a - 1/2 a'Y K Y a over 0 <= a <= C, y'a = 0, by Clarabel."""
    F = root(K) * y
    a = cp.Variable(len(y))
    problem = cp.Problem(cp.Maximize(cp.sum(a) - 0.5 * cp.sum_squares(F @ a)), [a >= 0, a <= C, y @ a == 0])
    return conic(problem)


def centred_matrix(K: Array) -> Array:
    """J K J."""
    J = np.eye(len(K)) - 1.0 / len(K)
    return J @ K @ J


def centred_alignment(K: Array, y: Array) -> float:
    """<JKJ, yy'> / (|JKJ| |Jy|^2)."""
    Kc, yc = centred_matrix(K), y - y.mean()
    return float(yc @ Kc @ yc / (np.linalg.norm(Kc) * (yc @ yc)))


def best_alignment(K: Array, y: Array) -> float:
    """The largest centred alignment of a non-negative mix: max v'a / |yc|^2 over v'M v <= 1, v >= 0, by Clarabel."""
    centre = np.array([centred_matrix(matrix) for matrix in K])
    sizes = np.array([np.linalg.norm(matrix) for matrix in centre])
    sizes[sizes <= 1e-12 * np.abs(K).max(axis=(1, 2)) * K.shape[1]] = np.inf  # a constant kernel has no centred part
    flat = (centre / sizes[:, None, None]).reshape(len(K), -1).T
    R = np.linalg.qr(flat)[1]
    yc = y - y.mean()
    v = cp.Variable(len(K), nonneg=True)
    problem = cp.Problem(cp.Maximize((quad(centre, yc) / sizes / (yc @ yc)) @ v), [cp.norm(R @ v) <= 1])
    return conic(problem)
