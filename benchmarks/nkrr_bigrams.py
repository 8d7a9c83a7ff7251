"""Time for learning a quadratic kernel over bigrams, beside Cortes, Mohri and Rostamizadeh (2009), section 4.2.

    python benchmarks/nkrr_bigrams.py --data-dir DIR [--threads 1]

900 kitchen reviews of Blitzer et al., about 3600 bigram counts and a constant, sparse, each with a rank-one kernel;
degree 2, weights within a ball around 1, ratings not centred. Published: 25 seconds for an iteration, under 30
iterations for norm 2 and under 5 for norm 1, both to a small step. Here: seconds for an iteration, iterations to that
end (|theta' - theta| < 1e-3) and to a certificate (a duality gap for norm 2, stationarity for norm 1), peak memory.
"""

from __future__ import annotations

import argparse
import resource
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from threadpoolctl import threadpool_limits

import multikernel as mk
from multikernel import kernels
from multikernel.combinations import HadamardPower
from multikernel.domains import NormBall
from multikernel.machines import RidgeMachine
from multikernel.optimizers.published_gradient import PublishedGradient
from multikernel.problem import Problem
from multikernel.procedures.polynomial import HiddenConvexProblem, hidden_convex, polynomial_mkl

SAMPLES, BIGRAMS = 900, 3600
PUBLISHED = 25.0  # seconds for an iteration


def bigrams(data_dir: str | None) -> tuple[Any, Any]:
    """Counts of the bigrams that most reviews have, with a constant column, and the ratings."""
    data = mk.datasets.load("sentiment_kitchen", data_dir)
    rows = np.random.default_rng(0).permutation(len(data.y))[:SAMPLES]
    counts = CountVectorizer(ngram_range=(2, 2)).fit_transform(data.X[rows]).tocsc()
    frequent = np.sort(np.argsort(-counts.getnnz(axis=0), kind="stable")[: BIGRAMS - 1])
    X = sparse.hstack([counts[:, frequent], np.ones((SAMPLES, 1))]).tocsr().astype(float)
    y = data.y[rows]
    return sparse.csr_array(X), (y == np.unique(y)[-1]) * 2.0 - 1.0 if y.dtype.kind not in "iuf" else y.astype(float)


def published(problem: Problem) -> str:
    """The printed algorithm to its printed end."""
    start = perf_counter()
    known = HiddenConvexProblem.of(problem) if hidden_convex(problem) else problem
    found = PublishedGradient(tol=1e-300, max_iter=100, change=1e-3).minimise(known)
    seconds = (perf_counter() - start) / found.n_iter
    return (
        f"{found.n_iter:4d} iterations of {seconds:.3f} s ({PUBLISHED / seconds:.0f} times as fast as published), "
        f"certificate {found.certificate:.1e}"
    )


def certified(problem: Problem, tol: float) -> str:
    """The package's own solver to a certificate."""
    start = perf_counter()
    weights, _ = polynomial_mkl(problem, tol=tol)
    seconds = perf_counter() - start
    name, reached = ("gap", weights.gap) if weights.gap is not None else ("stationarity", weights.stationarity)
    return f"{weights.n_iter:4d} iterations, {seconds:6.2f} s to a {name} of {reached:.1e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=None)
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args()
    try:
        X, y = bigrams(options.data_dir)
    except (ValueError, FileNotFoundError) as reason:
        print(f"skipped: {reason}")
        return
    bank = mk.bind(kernels.linear_features(), X)
    print(
        f"{X.shape[0]} reviews, {X.shape[1]} kernels, {100.0 * X.nnz / np.prod(X.shape):.1f} % of the counts not zero"
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with threadpool_limits(options.threads, user_api="blas"):
        for norm, alpha, radius in ((2, 1e3, 30.0), (2, 10.0, 10.0), (1, 1e3, 30.0), (1, 10.0, 10.0)):
            domain = NormBall(norm, radius, 1.0)
            problem = Problem(bank, HadamardPower(2), RidgeMachine(alpha, fit_intercept=False), domain, y)
            print(f"norm {norm}, alpha {alpha:g}, radius {radius:g}", flush=True)
            print(f"    as published: {published(problem)}", flush=True)
            for tol in (1e-4, 1e-8) if hidden_convex(problem) else (1e-4, 1e-6):
                print(f"    tol {tol:g}: {certified(problem, tol)}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak memory {peak / 2**10:.0f} MB, of which {before / 2**10:.0f} MB before the first problem")


if __name__ == "__main__":
    main()
