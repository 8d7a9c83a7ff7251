"""Kernels of strings, sets and trees beside plain Python: the same recursions written out, on the same samples.

    python benchmarks/structured_kernels.py [--samples 200] [--length 60] [--rounds 5]

Processor seconds of the kernel matrix of all samples, reading of the strings included, the least of some rounds after
one that loads what is compiled. Plain Python computes one triangle of the matrix, on a part of the samples where it
would take long; its time is told for all of them. Both have to agree. Sets of items are five times as many: with few of
them all time goes into reading.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from multikernel import kernels
from multikernel.kernels.sequences import shared_words

Pair = Callable[[Any, Any], float]
PAIRS = 120  # pairs of samples that plain Python computes

MOVES, INITIAL, FINAL = [(0, "", 1, 1.0), (1, "", 1, 0.5), (1, "a", 2, 1.0)], (1.0, 0.0, 0.0), (0.0, 1.0, 1.0)


# -- plain Python ------------------------------------------------------------------------------------------------------


def gapped(q: int, decay: float) -> Pair:
    """Lodhi's recursion over prefixes."""

    def k(x: str, z: str) -> float:
        before = [[1.0] * (len(z) + 1) for _ in range(len(x) + 1)]
        for level in range(1, q):
            after = [[0.0] * (len(z) + 1) for _ in range(len(x) + 1)]
            for a in range(level, len(x) + 1):
                ending = 0.0
                for b in range(level, len(z) + 1):
                    ending *= decay
                    if x[a - 1] == z[b - 1]:
                        ending += decay * decay * before[a - 1][b - 1]
                    after[a][b] = decay * after[a - 1][b] + ending
            before = after
        matches = (
            before[a - 1][b - 1] for a in range(q, len(x) + 1) for b in range(q, len(z) + 1) if x[a - 1] == z[b - 1]
        )
        return decay * decay * sum(matches)

    return k


def mismatch(q: int, m: int, letters: int) -> Pair:
    """Substrings counted, then all pairs of different ones compared character by character."""
    shared = [shared_words(q, m, letters, d) for d in range(q + 1)]

    def k(x: str, z: str) -> float:
        one, other = (Counter(text[i : i + q] for i in range(len(text) - q + 1)) for text in (x, z))
        return float(
            sum(
                n * c * shared[sum(a != b for a, b in zip(u, v, strict=True))]
                for u, n in one.items()
                for v, c in other.items()
            )
        )

    return k


def rational(moves: Any, initial: Any, final: Any) -> Pair:
    """Forward weights of each common substring from each pair of places on."""

    def k(x: str, z: str) -> float:
        total = 0.0
        for i in range(len(x)):
            for j in range(len(z)):
                at, length = list(initial), 0
                while i + length < len(x) and j + length < len(z) and x[i + length] == z[j + length]:
                    after = [0.0] * len(at)
                    for start, letter, end, weight in moves:
                        if letter in ("", x[i + length]):
                            after[end] += at[start] * weight
                    at, length = after, length + 1
                    total += sum(a * f for a, f in zip(at, final, strict=True)) ** 2
        return total

    return k


def read(text: str) -> list[tuple[tuple[str, ...], list[int]]]:
    """The nodes of a tree, children first: rule, and the places of the children with children."""
    nodes: list[tuple[tuple[str, ...], list[int]]] = []
    above: list[tuple[list[str], list[int]]] = [([""], [])]
    for token in text.replace("(", " ( ").replace(")", " ) ").split():
        if token == "(":
            above.append(([], []))
        elif token == ")":
            labels, inner = above.pop()
            if len(labels) > 1:
                nodes.append((tuple(labels), inner))
                above[-1][1].append(len(nodes) - 1)
            above[-1][0].append("(" + labels[0] if len(labels) > 1 else labels[0])
        else:
            above[-1][0].append(token)
    return nodes


def subtrees(decay: float, cut: float) -> Pair:
    """Pairs of nodes, those of the children first."""

    def k(x: Any, z: Any) -> float:
        table: dict[tuple[int, int], float] = {}
        for a, (rule, inner) in enumerate(x):
            for b, (other, others) in enumerate(z):
                if rule == other:
                    table[a, b] = decay * math.prod(
                        cut + table.get(pair, 0.0) for pair in zip(inner, others, strict=True)
                    )
        return sum(table.values())

    return k


def items(x: set[str], z: set[str]) -> float:
    """Common items, one by one."""
    return float(sum(item in z for item in x))


def vectors(gamma: float) -> Pair:
    """The Gaussian of all pairs, number by number."""

    def k(x: Any, z: Any) -> float:
        values = [math.exp(-gamma * sum((p - q) ** 2 for p, q in zip(a, b, strict=True))) for a in x for b in z]
        return sum(values) / len(values)

    return k


# -- samples -----------------------------------------------------------------------------------------------------------


def tree(rng: Any, depth: int) -> str:
    label = rng.choice(list("ABCD"))
    if depth == 0:
        return f"({label} {rng.choice(list('xyz'))})"
    return f"({label} {' '.join(tree(rng, depth - 1) for _ in range(rng.integers(2, 4)))})"


def cases(n: int, length: int) -> dict[str, tuple[Any, list[str], Callable[[str], Any], Pair]]:
    """Kernel, samples, how plain Python reads one, and its kernel of two."""
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("acgt"), length)) for _ in range(n)]
    forest = [tree(rng, 4) for _ in range(n)]
    baskets = [",".join(map(str, rng.choice(1000, size=length, replace=False))) for _ in range(n)]
    bags = kernels.written([rng.normal(size=(length // 2, 5)) for _ in range(n)]).tolist()
    return {
        "gapped subsequences": (kernels.GappedSubsequences(3, 0.5), strings, str, gapped(3, 0.5)),
        "mismatches": (kernels.Mismatches(5, 1, alphabet="acgt"), strings, str, mismatch(5, 1, 4)),
        "rational": (kernels.Rational(MOVES, INITIAL, FINAL), strings, str, rational(MOVES, INITIAL, FINAL)),
        "subtrees": (kernels.Subtrees(0.5), forest, read, subtrees(0.5, 0.0)),
        "parts of trees": (kernels.Subtrees(0.5, partial=True), forest, read, subtrees(0.5, 1.0)),
        "sets of items": (kernels.Items(","), baskets, lambda text: set(text.split(",")), items),
        "sets of vectors": (
            kernels.VectorSets(kernels.RBF(0.3)),
            bags,
            lambda text: [[float(cell) for cell in line.split()] for line in text.split(";")],
            vectors(0.3),
        ),
    }


def seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def compared(
    kernel: Any, samples: list[str], reads: Callable[[str], Any], pair: Pair, rounds: int
) -> tuple[float, float]:
    """Seconds of the matrix, compiled and in plain Python; AssertionError where the two do not agree."""
    n = len(samples)
    K = kernel(samples)
    ours = min(seconds(lambda: kernel(samples))[0] for _ in range(rounds))
    few = min(n, (math.isqrt(1 + 8 * PAIRS) - 1) // 2)
    reading, known = seconds(lambda: [reads(text) for text in samples])
    part, values = seconds(lambda: [pair(known[i], known[j]) for i in range(few) for j in range(i + 1)])
    np.testing.assert_allclose(K[np.tril_indices(few)], values, rtol=1e-9)
    return ours, reading + part * n * (n + 1) / (few * (few + 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--length", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print(f"samples of length {given.length}, their number, and milliseconds for the matrix")
    for name, case in cases(given.samples, given.length).items():
        ours, plain = compared(*case, given.rounds)
        print(f"{name:22}{len(case[1]):6}{1e3 * ours:10.2f}{1e3 * plain:12.1f}   {plain / ours:7.0f} times")


if __name__ == "__main__":
    main()
