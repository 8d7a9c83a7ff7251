"""The base class of the estimators: parameters, a ``Method`` that says how they learn, and what a fitted model does.

The fit itself is in ``fit.py``, and what differs between estimators in the ``Method`` of each (``method.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from multikernel._folds import Resampling
from multikernel._memory import check_memory
from multikernel._parameters import Positive, check_parameters
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.certificate import Certificate, Kind
from multikernel.estimators import fit as fitting
from multikernel.estimators.binding import Training, between, is_given, is_precomputed, kernels_against, new_banks
from multikernel.estimators.checks import check_predicted
from multikernel.estimators.forecast import Forecast, forecast_of
from multikernel.estimators.learned_kernel import LearnedKernel
from multikernel.estimators.method import Method
from multikernel.estimators.predictor import Predictor
from multikernel.estimators.protocol import Fitted, Learner
from multikernel.estimators.publish import publish
from multikernel.estimators.samples import samples_of
from multikernel.persistence.checkpoint import UNKEPT, Checkpoint


@dataclass(eq=False, repr=False, kw_only=True)
class KernelEstimator(LearnedKernel, BaseEstimator):  # type: ignore[misc]
    """An estimator that learns weights of kernels and a predictor on their combination."""

    time_budget: Positive | None = None
    _method: ClassVar[Method]
    # The parameters on which the bank depends: models that differ in one of them cannot share a bank.
    # A random state draws the landmarks of approximate kernels.
    _bank_parameters: ClassVar[tuple[str, ...]] = ("kernels", "approximation", "rank", "random_state")

    # What a fit remembers of its training samples. Without annotations, which would make these names parameters.
    _strings = ()  # the columns that held strings
    _times = ()  # the columns that held dates or durations
    _objects = False  # whether samples were objects
    _home = None  # an empty array of the samples' library, on their device; None for NumPy
    _samples_bound = None  # the training samples while they are needed; None where the user passed kernel matrices
    _bound_kernels = None  # the family as it was bound
    _rows = None  # the rows of the user's bank that were the training sample, where this was a part of a bank

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        tags.input_tags.allow_nan = self._method.binding.missing_cells
        return tags

    def check_parameters(self) -> None:
        """Refuse parameters that have no meaning, before anything is computed.

        The annotations of the fields say what they may be; ``Method.check`` says what they may be together.

        Raises
        ------
        ValueError : with a sentence that names the parameter and its value
        """
        check_parameters(self)
        self._method.check(self)

    # -- fitting, for paths and searches -------------------------------------------------------------------------------

    def bind(self, X: Any, y: Any = None) -> tuple[KernelBank, Array]:
        """The training bank and the checked target; of shape (n,) and zero for an estimator that takes no target.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, p), or n strings; or kernel matrices (a KernelBank, an array
            (m, n, n), a list or dict of matrices; one matrix (n, n) with ``kernels="precomputed"``); or a dict or list
            of views, each of them one of these
        y : the target, as ``fit`` takes it
        """
        training: Training = self._bind(X, y)
        return training.bank, training.target

    def fit_bank(
        self,
        bank: KernelBank,
        target: Array,
        earlier: Sequence[Fitted] = (),
        sample_weight: Array | None = None,
        learn: Learner | None = None,
        exact: bool = True,
        checkpoint: Checkpoint = UNKEPT,
        resampling: Resampling | None = None,
    ) -> list[Fitted]:
        """Fit on a bank that is bound already, for paths and searches.

        Parameters
        ----------
        bank : square KernelBank of n samples
        target : array (n,) or (n, t), as ``bind`` returns it
        earlier : what a fit to these samples with other parameters returned, to start from
        sample_weight : array (n,) >= 0
        learn : how a model solves one task; by default what the method says
        exact : whether the solutions are certified for kernels in double precision, where they are stored in single
        checkpoint : where problems that are solved are kept
        resampling : how samples are held out; by default as the parameter ``cv`` says, without groups

        Returns
        -------
        list of Fitted, one for each problem
        """
        return fitting.fit_on_bank(self, bank, target, earlier, sample_weight, learn, exact, checkpoint, resampling)

    def resampling(self, groups: Any, target: Array) -> Resampling:
        """How samples are held out, for parameters that are "auto", for probabilities and for methods that need folds.

        Parameters
        ----------
        groups : array (n,), the group of each sample, or None
        target : array (n,) or (n, t)

        Raises
        ------
        ValueError : for groups that are not n values, and where the groups or ``cv`` allow no folds
        """
        return fitting.resampling(self, groups, target)

    def publish(self, bank: KernelBank, fitted: Sequence[Fitted], single: bool) -> None:
        """Set the fitted attributes from solutions on a bank; ``single`` says that they are those of one problem."""
        publish(self, bank, fitted, single)

    def forecast(self, X: Any, y: Any = None) -> Forecast:
        """How long a fit to these samples will take on this machine, and how much memory; nothing is fitted.

        Times are within a factor of two or so while nothing else runs. The time is None where it is not known
        beforehand, as for searches over products of kernels.

        Parameters
        ----------
        X, y : as ``fit`` takes them

        Returns
        -------
        Forecast, which prints as one sentence and has ``seconds`` and ``bytes``

        Raises
        ------
        ValueError : for what ``fit`` refuses, and for a source of ``multikernel.streams``, which is read in chunks
        """
        return forecast_of(self, X, y)

    # -- the certificate -----------------------------------------------------------------------------------------------

    @property
    def duality_gap_(self) -> float:
        """The value of ``certificate_`` where that is a duality gap."""
        return self._certified("duality gap", "duality_gap_")

    @property
    def stationarity_(self) -> float:
        """The value of ``certificate_`` where that is a stationarity: no bound of the optimum is known."""
        return self._certified("stationarity", "stationarity_")

    def _certified(self, kind: Kind, name: str) -> float:
        certificate: Certificate | None = vars(self).get("certificate_")
        if certificate is None or certificate.kind != kind:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return certificate.value

    # -- a fitted model ------------------------------------------------------------------------------------------------

    def against(self, bank: KernelBank, X: Any) -> KernelBank:
        """New samples against those of a training bank, before anything is learned on it.

        Parameters
        ----------
        bank : as ``bind`` returned it
        X : samples like those that were bound
        """
        return bank.cross(samples_of(self, X))

    def banks(self, X: Any, width: int = 1) -> Iterator[KernelBank]:
        """New samples against the training samples that the predictor uses.

        Parameters
        ----------
        X : samples like those of ``fit``; a bank of new samples against all training samples, which is one part; with
            ``kernels="precomputed"`` matrices (m, len(X), n_train)
        width : int, how many values for each sample the caller holds beside a row of kernel values

        Yields
        ------
        KernelBank of some of the samples, in order, as large as memory allows
        """
        return new_banks(self, X, width)

    def _values(self, X: Any) -> Array:
        """f(x) of every problem or target: shape (len(X), problems)."""
        check_is_fitted(self)
        predictor: Predictor = self.predictor_
        with np.errstate(over="ignore", invalid="ignore"):  # the check below names a sample that overflows
            values = predictor.at(lambda: self.banks(X))
        return check_predicted(values, type(self).__name__)

    def share(self, reference: KernelBank, support: Array) -> None:
        """Use a reference to the training samples that all models of one bank share, and these rows of it."""
        predictor: Any = self.predictor_
        self.predictor_: Any = predictor.on(reference, support)

    @property
    def reads_kernels_few_times(self) -> bool:
        """Whether a fit reads every kernel a few times only, so that copying a part of a bank costs more."""
        return self._method.reads_kernels_few_times

    @property
    def kernels_can_be_left_out(self) -> bool:
        """Whether a fit to a part of the bound kernels is possible; not where every kernel is bound once per region."""
        return self._method.binding.against is kernels_against

    def kernel_keys(self) -> Sequence[Any]:
        """Identifiers of the kernels of ``weights_``, comparable and sortable between fits; here their positions."""
        return range(self.weights_.shape[-1])

    def problem_names(self) -> list[str]:
        """A name for each problem with separate weights: the class, the pair of classes, or the target."""
        return [f"target {p}" for p in range(len(np.atleast_2d(self.weights_)))]

    def _is_given(self, X: Any) -> bool:
        """Whether X is not samples but kernel matrices or a bank, which already have columns for the other samples."""
        return is_given(self, X) and not isinstance(self._bound_kernels, tuple)

    def kernel_matrix(self, X: Any, Z: Any = None) -> Array:
        """The learned kernel between samples: shape (len(X), len(Z)).

        It is the combination of the kernels by the learned weights; where problems have separate weights, the mean of
        their combinations.

        Parameters
        ----------
        X : samples like those of ``fit``, of one source or several; or, in place of samples, a bank of them, or with
            ``kernels="precomputed"`` matrices (m, len(X), len(Z)); their columns are then Z. A view that is a kernel
            matrix has its values between X and Z, or both are parts of ``views`` with the same matrix.
        Z : samples like X; X itself by default

        Raises
        ------
        ValueError : for a kernel that is centred by the training sample, which has no values between two new samples,
            and for Z beside a bank or matrices
        MemoryError : where the matrix is larger than the memory
        """
        check_is_fitted(self)
        if is_given(self, X):
            return self._method.gram(self, between(self, X, Z))
        rows = against = samples_of(self, X)
        if Z is not None:
            against = samples_of(self, Z)
        n, c = rows.shape[0], against.shape[0]
        check_memory(float(n) * c, f"the learned kernel of {n} and {c} samples", "take fewer of them at a time")
        K = self._method.gram(self, self._method.binding.against(self, against).cross(rows))
        if Z is None:
            return 0.5 * (K + K.T)
        return K

    def contributions(self, X: Any) -> Array:
        """What each kernel adds to each decision value or prediction.

        With a weighted sum of kernels kernel k adds w_k sum_i coef_i k_k(x_i, x); the sum over the kernels and
        ``intercept_`` is the value. Where kernels are multiplied, the value of a product is shared equally among its
        factors: that is the integral of the derivative in each weight, as all of them grow from zero together.

        Parameters
        ----------
        X : samples like those of ``fit``; with ``kernels="precomputed"`` matrices (m, len(X), n_train)

        Returns
        -------
        array (len(X), m) for one problem, (len(X), m, problems) for several classes or targets: of every binary problem
        before votes are counted

        Raises
        ------
        ValueError : where kernels are combined in another way, as in a product of Gaussians
        MemoryError : where the contributions are more than the memory holds
        """
        check_is_fitted(self)
        problems, m = np.size(self.intercept_), self.weights_.shape[-1]
        predictor: Predictor = self.predictor_
        blocks, count = [], 0
        with np.errstate(over="ignore", invalid="ignore"):
            for bank in self.banks(X, problems * m):
                count += bank.shape[0]
                check_memory(
                    float(count) * problems * m,
                    f"the contributions of {m} kernels to {count} samples",
                    "take fewer samples",
                )
                blocks.append(predictor.contributions(bank))
        contributions = check_predicted(np.concatenate(blocks), type(self).__name__)
        if self.dual_coef_.ndim == 1:
            return contributions[:, :, 0]
        return contributions
