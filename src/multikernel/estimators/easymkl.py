"""EasyMKL as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np

from multikernel._parameters import Count, Part
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.cost import BankCost
from multikernel.certificate import Certificate
from multikernel.estimators.approximated import ApproximationName, Rank
from multikernel.estimators.classifier import HOMOGENEOUS_POLYNOMIALS, BinaryClassifier, classification_machine
from multikernel.estimators.fit import fit_model
from multikernel.estimators.method import Method
from multikernel.estimators.parameters import PositiveOrAuto, WithinOneOrAuto
from multikernel.estimators.protocol import Fitted, Learned, Task
from multikernel.estimators.schedule import one_matrix
from multikernel.estimators.search import Samples, Search, lam_candidates, loss_weights
from multikernel.estimators.targets import binary_tasks
from multikernel.machines import MarginMachine
from multikernel.observer import Event, Observer
from multikernel.procedures import easymkl, max_min
from multikernel.procedures.forecast import Cost, hinge, margin
from multikernel.procedures.forecast import easymkl as easymkl_cost


def _learn(
    model: EasyMKLClassifier, bank: KernelBank, task: Task, earlier: Fitted | None, observe: Observer
) -> Learned:
    """The weights by the margin problem, then the classifier on the weighted kernel."""
    machine = MarginMachine(model.lam, model.tol, model.max_iter)
    hulls = None
    if earlier:
        hulls = earlier.weights.variables
    if model.method == "max_min":
        weights = max_min(bank, task.target, machine, hulls, observe)
    else:
        weights = easymkl(bank, task.target, machine, hulls)
        observe(Event(weights.n_iter, cast(Certificate, weights.certificate)))
    if model.norm == 2:
        weights = replace(weights, values=weights.values / np.linalg.norm(weights.values))
    start = earlier.solution.warm if earlier else weights.variables
    return weights, classification_machine(model).solve(bank.combine(weights.values), task.target, start)


def _cost(model: EasyMKLClassifier, bank: BankCost, task: Task) -> Cost:
    if model.method == "max_min":
        return one_matrix(model, bank, task)
    return easymkl_cost(bank) + (margin if model.learner == "margin" else hinge)(bank)


def _names(model: EasyMKLClassifier) -> tuple[str, ...]:
    if model.learner == "margin":
        return ("lam",)
    return ("lam", "C")


def _candidates(model: EasyMKLClassifier, name: str, samples: Samples) -> Array:
    """The candidates of lam refer to the sum of the kernels, whose size is the sum of their sizes."""
    if name == "lam":
        return lam_candidates(len(samples.bank) * samples.size)
    return loss_weights(samples.size)


def _publish(model: EasyMKLClassifier, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
    hulls = np.zeros((len(fitted), bank.shape[1]))
    for vector, f in zip(hulls, fitted, strict=True):
        vector[f.rows] = f.weights.variables
    model.hull_vector_ = hulls[0] if single else hulls


@dataclass(eq=False, repr=False, kw_only=True)
class EasyMKLClassifier(BinaryClassifier):
    """Kernel weights from the margin between the hulls of two classes, then a classifier on the weighted kernel.

    Solves min over g of (1 - lam) g'Y (sum_s K_s) Y g + lam |g|^2, g a probability vector on each class; the weight of
    kernel s is d_s = g'Y K_s Y g, scaled to sum 1. ``objective_`` is the value of this problem, or of ``method``'s.

    Parameters
    ----------
    kernels : kernel, its name, list or dict of kernels, KernelFamily or "precomputed"
        The family of the paper by default: normalised homogeneous polynomials of degrees 0..10.
    lam : float in [0, 1] or "auto", default "auto"
        0 is the hard margin, 1 the distance of the class means. The sum of the kernels enters, so its meaning follows
        the number of kernels. "auto" takes the value of least held-out error, published as ``lam_``.
    method : {"sum", "max_min"}, default "sum"
        "sum" solves the problem above. "max_min" finds the kernel of largest margin among those whose weights d have
        2-norm 1: max over d of min over g of (1 - lam) g'Y K(d) Y g + lam |g|^2. The papers start from this problem,
        and "sum" only bounds it. It takes about as long as five problems of "sum".
    norm : {1, 2}, default 1
        The norm in which the weights are scaled to 1. With 2, as printed in the papers, a mix of m normalised kernels
        has self-values up to sqrt(m), which changes what lam or C means to the classifier.
    learner : {"margin", "svc"}, default "margin"
        The classifier on the learned kernel: the same margin problem again (KOMD, with the same lam), or a support
        vector machine with hinge loss.
    C : float > 0 or "auto", default 1.0
        The loss weight of ``learner="svc"``; chosen after lam.
    multiclass : {"ovr", "ovo"}, default "ovr"
        One problem for each class or for each pair; all problems share one bank, and each learns separate weights.
    probability : {None, "platt", "isotonic"}, default None
        How decision values become the probabilities of ``predict_proba``: by a sigmoid of the decision value (Platt),
        or by any function of it that does not decrease, which needs many samples. They are calibrated on held-out
        fifths of the training samples, by models that start from the one on all samples and stop at a gap of 5e-2.
    tol : float, default 1e-6
        Relative duality gap at which the margin problem stops (at ``lam=0`` relative to 1e-5 of the samples' spread in
        feature space, where the squared margin is smaller than that).
    max_iter : int, default 1_000_000
        Pairwise steps at most; with ``method="max_min"`` in each of at most 300 margin problems.
    n_jobs : int or None, default None
        Threads over the binary problems.
    checkpoint : str, path or None, default None
        A directory where solved binary problems are saved: after a fit was killed, the same fit resumes from them.
    time_budget : float > 0 or None, default None
        Seconds after which a fit returns the best solution so far, with a ConvergenceWarning that states the gap. The
        current step is completed first.
    verbose : int, default 0
        1 prints a forecast, and then the certificate and the time left twice a second; 2 after every step.
    approximation : None, "nystroem", "fourier" or "auto", default None
        Whether each kernel is approximated by few features, so that no matrix of all samples is formed: by its values
        against landmarks, or by random features of Gaussian, Laplacian, Matern and polynomial kernels. "auto" takes
        landmarks, with a warning, where exact kernels would need more than four fifths of the free memory. The
        certificate is that of the problem with approximate kernels.
    rank : int >= 1 or float in (0, 1), default 256
        The number of features of each kernel; or the largest relative error of a kernel matrix, for which the number is
        doubled until the estimated error is small enough.
    cv : int, splitter, iterable of (train, test) pairs, or None, default None
        Folds where a parameter is "auto", and those that probabilities are calibrated on: a number of folds with their
        share of each class, three and five by default, or your own folds. With groups in ``fit`` they hold out whole
        groups.

    Attributes
    ----------
    lam_ : float, as given or chosen
    weights_ : array (m,), or (problems, m) with more than two classes
    kernel_names_ : array (m,)
    dual_coef_ : array (n,) or (problems, n); f(x) = sum_i dual_coef_i k(x_i, x) + intercept_
    intercept_ : float or array (problems,)
    hull_vector_ : array (n,) or (problems, n), the solution g of the problem above, a probability vector on each class;
        zero where a sample takes no part in a problem ("ovo")
    classes_ : array
    objective_ : float or array (problems,)
    objective_bound_ : float or array (problems,), a lower bound of the optimum; an upper bound with
        ``method="max_min"``, where the optimum is a maximum
    duality_gap_ : float, the largest relative gap over the problems, of ``objective_`` and of the classifier on the
        learned kernel
    certificate_ : Certificate, its ``kind`` and its ``value``; ``duality_gap_`` or ``stationarity_`` is that value
    converged_ : bool, whether ``duality_gap_`` is at most ``tol``
    n_iter_ : int
    history_ : list, the gaps along the way of each problem

    Notes
    -----
    The problem has no weights of samples: its solution is itself a distribution over the samples of each class.
    The degree-0 kernel of a polynomial family always gets weight 0: g'Y 11' Y g = (1 - 1)^2.

    References
    ----------
    Aiolli and Donini (2015), EasyMKL: a scalable multiple kernel learning algorithm, Neurocomputing 169.
    Donini and Aiolli (2017), Learning deep kernels in the space of dot product polynomials, Machine Learning 106.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> from multikernel import EasyMKLClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(MinMaxScaler(), EasyMKLClassifier(lam=0.1)).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), bool(model[-1].duality_gap_ < 1e-6)
    (True, True)
    """

    kernels: Any = field(default=None, kw_only=False)
    lam: WithinOneOrAuto = "auto"
    method: Literal["sum", "max_min"] = "sum"
    norm: Literal[1, 2] = 1
    learner: Literal["margin", "svc"] = "margin"
    C: PositiveOrAuto = 1.0
    tol: Part = 1e-06
    max_iter: Count = 1000000
    approximation: ApproximationName = None
    rank: Rank = 256

    _method: ClassVar[Method] = Method(
        learn=_learn,
        cost=_cost,
        binding=HOMOGENEOUS_POLYNOMIALS,
        tasks=binary_tasks,
        search=Search(names=_names, candidates=_candidates),
        publish=_publish,
        reads_kernels_few_times=True,
    )

    def fit(self, X: Any, y: Any = None, *, groups: Any = None) -> Self:  # type: ignore[override]
        """Learn the kernel and the classifier.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p), or n strings; or kernel matrices (a KernelBank, an array
            (m, n, n), a list or dict of matrices; one matrix (n, n) with ``kernels="precomputed"``); or a dict or list
            of views, each of them one of these; or a source of ``multikernel.streams``, which holds the target
        y : labels of shape (n,)
        groups : array (n,), the group of each sample: folds of the fit hold out whole groups
        """
        return fit_model(self, X, y, groups=groups)
