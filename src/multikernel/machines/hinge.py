"""The support vector machine with hinge loss.

    J(K) = max_a sum a - 1/2 a'Y K Y a,    0 <= a <= C,    y'a = 0

whose primal is min 1/2 |f|^2 + C sum max(0, 1 - y (f + b)). The quadratic problem is solved by libsvm through
scikit-learn; the certificate is ours: primal minus dual value at the returned point, relative to the primal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel.banks import Gram
from multikernel.kernels.base import Array
from multikernel.machines.base import DualSolution, Machine, check_signs

_VIOLATIONS = (1e-3, 1e-5, 1e-7, 1e-9)  # of a sample's optimality condition: what libsvm stops at; the gap adds them up


@dataclass(frozen=True)
class HingeMachine(Machine):
    """C-SVM with intercept.

    Parameters
    ----------
    C : float > 0, weight of the hinge losses
    tol : float, the relative duality gap to reach
    """

    C: float = 1.0
    tol: float = 1e-3

    def __post_init__(self) -> None:
        if not (self.C > 0 and np.isfinite(self.C)):
            raise ValueError(f"C must be a finite number > 0, got {self.C}")

    def solve(self, gram: Gram, target: Array, warm: Array | None = None) -> DualSolution:
        """Solve for labels -1, +1; libsvm starts cold, so ``warm`` is not used."""
        from sklearn.svm import SVC

        check_signs(target)
        y = np.asarray(target, dtype=float)
        K, steps = gram.dense(), 0
        for violation in _VIOLATIONS:
            svc = SVC(C=self.C, kernel="precomputed", tol=violation, cache_size=500).fit(K, y)
            coef = np.zeros(len(y))
            coef[svc.support_] = svc.dual_coef_[0]
            steps += int(svc.n_iter_[0])
            found = self._solution(gram, y, coef, float(svc.intercept_[0]), steps)
            if found.converged:
                break
        return found

    def _solution(self, gram: Gram, y: Array, coef: Array, intercept: float, n_iter: int) -> DualSolution:
        f = gram.multiply(coef)
        norm = float(coef @ f)
        dual = float(np.abs(coef).sum()) - 0.5 * norm
        primal = 0.5 * norm + self.C * float(np.maximum(0.0, 1.0 - y * (f + intercept)).sum())
        gap = max(primal - dual, 0.0) / max(abs(primal), np.finfo(float).tiny)
        return DualSolution(
            coef=coef,
            intercept=intercept,
            value=dual,
            factor=np.sqrt(0.5) * coef,
            gap=gap,
            converged=gap <= self.tol,
            n_iter=n_iter,
            warm=np.abs(coef),
            history=(gap,),
        )
