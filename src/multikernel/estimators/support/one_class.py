"""One-class MKL: kernel weights learned together with a region that holds most samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import OutlierMixin

from multikernel._arrays import returned
from multikernel._parameters import Count, Part, Verbosity
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.estimators.approximated import ApproximationName, Rank
from multikernel.estimators.base import KernelEstimator
from multikernel.estimators.binding import Training, bind_training
from multikernel.estimators.fit import fit_model
from multikernel.estimators.method import Method
from multikernel.estimators.protocol import Fitted
from multikernel.estimators.support.l1 import of_sum_one
from multikernel.estimators.support.method import REGRESSOR_BINDING, SupportMKL
from multikernel.machines import OneClassMachine
from multikernel.optimizers import CuttingPlane, LevelMethod, ReducedGradient


def _machine(model: OneClassMKL) -> OneClassMachine:
    return OneClassMachine(nu=model.nu, tol=model.tol)


def _publish(model: OneClassMKL, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
    model.offset_ = -model.intercept_


_PROBLEM = SupportMKL(
    of_sum_one,
    _machine,
    {"reduced_gradient": ReducedGradient, "cutting_plane": CuttingPlane, "level": LevelMethod},
)


@dataclass(eq=False, repr=False, kw_only=True)
class OneClassMKL(OutlierMixin, KernelEstimator):  # type: ignore[misc]
    """Kernel weights of sum one and a one-class support vector machine, learned together.

    Solves min over d >= 0, sum d = 1 of max over a of -1/2 a'K(d) a, 0 <= a <= 1 / (nu n), sum a = 1: among all mixes
    the one whose samples are farthest from the origin of feature space. It prefers kernels with large values; normalise
    kernels of different size. ``duality_gap_`` is relative to the value, or to 1e-5 of half the mean self-value of the
    kernel where the value is smaller: near an optimum of 0 the samples surround the origin, and rounding of the kernel
    is what is left of the value.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        By default polynomials of degrees 1 to 3 and nine widths of the Gaussian, on all features, normalised.
    nu : float in (0, 1], default 0.1
        At most this part of the training samples is outside the region, at least this part are support vectors.
    solver : {"auto", "reduced_gradient", "cutting_plane", "level"}, default "auto"
        As in L1MKLClassifier.
    tol : float, default 1e-4
        Relative duality gap at which to stop.
    max_iter : int, default 1000
        Newton steps of "auto", support vector machines of the other solvers, at most.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap, and
        one that says which candidates were not compared for a parameter that is "auto". The current step is completed
        first.
    verbose : int, default 0
        1 prints a forecast, and then the gap and the time left twice a second; 2 after every step.
    approximation : None, "nystroem", "fourier" or "auto", default None
        Whether each kernel is approximated by few features, so that no matrix of all samples is formed: by its values
        against landmarks, or by random features of Gaussian, Laplacian, Matern and polynomial kernels. "auto" takes
        landmarks, with a warning, where exact kernels would need more than four fifths of the free memory. The
        certificate is that of the problem with approximate kernels.
    rank : int >= 1 or float in (0, 1), default 256
        The number of features of each kernel; or the largest relative error of a kernel matrix, for which the number is
        doubled until the estimated error is small enough.

    Attributes
    ----------
    offset_ : float, decision_function = score_samples - offset_
    Others : as those of L1MKLClassifier.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import OneClassMKL, kernels
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> model = OneClassMKL(kernels.rbf_grid([0.1, 1.0])).fit(X)
    >>> model.predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """

    kernels: Any = field(default=None, kw_only=False)
    nu: Part = 0.1
    solver: Literal["auto", "reduced_gradient", "cutting_plane", "level"] = "auto"
    tol: Part = 1e-4
    max_iter: Count = 1000
    verbose: Verbosity = 0
    approximation: ApproximationName = None
    rank: Rank = 256

    _method: ClassVar[Method] = Method(
        learn=_PROBLEM.learn, cost=_PROBLEM.cost, binding=REGRESSOR_BINDING, publish=_publish
    )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the kernel weights and the region; y is ignored.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p), or n strings; or kernel matrices (a KernelBank, an array
            (m, n, n), a list or dict of matrices; one matrix (n, n) with ``kernels="precomputed"``); or a dict or list
            of views, each of them one of these
        y : not used
        sample_weight : array (n,) >= 0, how much each sample counts: at most ``nu`` of the whole weight is outside
        """
        return fit_model(self, X, None, sample_weight)

    def _bind(self, X: Any, y: Any, sample_weight: Any = None, sketch: bool = False) -> Training:
        return bind_training(self, X, None, sample_weight, sketch)

    def score_samples(self, X: Any) -> Array:
        """Scores of samples, shape (len(X),); larger is more usual; X as in ``decision_function``."""
        return returned(self._values(X)[:, 0] + self.offset_, X)

    def decision_function(self, X: Any) -> Array:
        """Positive inside the region, negative outside, shape (len(X),).

        Parameters
        ----------
        X : samples like those of ``fit``; with ``kernels="precomputed"`` matrices (m, len(X), n_train)
        """
        return returned(self._values(X)[:, 0], X)

    def predict(self, X: Any) -> Array:
        """+1 inside the region, -1 outside, for X as in ``decision_function``."""
        return returned(np.where(self._values(X)[:, 0] >= 0, 1, -1), X)
