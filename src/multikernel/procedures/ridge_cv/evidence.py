"""The evidence of a Gaussian process, as a number that falls as the evidence grows, and its derivatives.

Let targets less their means, z_t, have Gaussian densities of covariance tau_t S, S = K(v) + I. The largest density over
the tau_t, to the power of -2 / (n t) and without a constant, is

    L(v) = (prod_t J_t / n)^(1 / t) (det S)^(1 / n),        J_t = z_t'a_t,   a_t = S^{-1} z_t,

in squared units of the targets, as an error is. With H = S^{-1}

    dL / dv_k = L <K_k, H / n - (1 / t) sum_t a_t a_t' / J_t>

takes one pass with one matrix. The quadratic model has the average of the second derivatives and of their expectation,

    C = (L / 2 t) sum_t (U_t'U_t / J_t - U_t'q_t q_t'U_t / J_t^2),    U_t = R^{-1} (K_1 a_t, .., K_m a_t)

for S = R R' and q_t = R^{-1} z_t: it is positive semi-definite, since q_t'q_t = J_t. Where each of many targets has
separate weights, R, det S and <K_k, H> of one v serve all of them.

Restricted likelihood (REML). Where the targets have a mean F b that is to be estimated, F of shape (n, p) with the
orthonormal basis B, the density is that of what no b changes: of the n - p contrasts Q'y, Q'B = 0, whose covariance is
tau_t (Q'K Q + I). With P = Q Q' = I - B B' these are the same formulas for P K P, z_t = P y_t and n - p in place of n,

    det(P K P + I) = det(Q'K Q + I),    P (P K P + I)^{-1} P = Q (Q'K Q + I)^{-1} Q' = H,    P a_t = a_t,

and P K_k a_t replaces K_k a_t above. With a column of ones alone this is not the density above of targets less their
mean: that one uses the covariance of y for P y, whose covariance is smaller in the direction of ones, and counts n
samples. Both give the same weights where the kernels are centred, and the noise variances differ by the factor
n / (n - 1).

H. D. Patterson and R. Thompson (1971), Recovery of inter-block information when block sizes are unequal, Biometrika 58;
A. R. Gilmour, R. Thompson and B. R. Cullis (1995), Average information REML, Biometrics 51; C. E. Rasmussen and
C. K. I. Williams (2006), Gaussian processes for machine learning, section 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
from scipy.linalg import solve_triangular

from multikernel._linalg import product
from multikernel._typing import Array
from multikernel.banks import KernelBank
from multikernel.banks.threads import slices
from multikernel.numerics.cholesky import factorise, invert, solved
from multikernel.procedures.ridge_cv.criterion import Criterion, Point, SharedWeights, TargetModels
from multikernel.procedures.ridge_cv.fixed import project, varied
from multikernel.procedures.ridge_cv.model import QuadraticModel, Tall, Wide
from multikernel.tuning import TILE_VALUES


@dataclass(frozen=True, eq=False)
class Explained:
    """The factor R, the coefficients a_t and the energies J_t of a kernel matrix, and the value L."""

    factor: Array
    coef: Array
    energies: Array
    value: float


@dataclass(frozen=True, eq=False)
class Evidence(Criterion):
    """L(v) for the kernels of a bank, and targets Y of shape (n, t) less their means, without the constant ones.

    ``samples`` is the number of samples, also where Y and the kernels are in few coordinates, less the number of
    columns of ``basis``, B, where the likelihood is restricted. ``errors`` of targets are L of each alone; of constant
    targets they are 0, where these are kept.
    """

    samples: int
    basis: Array | None = None

    @classmethod
    def of(
        cls, bank: KernelBank, Y: Array, fit_intercept: bool = True, basis: Array | None = None, keep: bool = False
    ) -> Evidence:
        """The evidence, for kernels of few features in few coordinates: outside them the covariance is that of noise.

        Parameters
        ----------
        bank : square KernelBank of n samples
        Y : array (n, t); where there is a basis, the residuals of ordinary least squares on it
        fit_intercept : whether targets are taken less their means, where there is no basis
        basis : array (n, p) with orthonormal columns, for the restricted likelihood
        keep : whether constant targets are kept, as zeros
        """
        Z = Y - Y.mean(axis=0) if fit_intercept and basis is None else Y
        varying = varied(Z, Y)
        Z = Z * varying if keep else Z[:, varying]
        samples = len(Y)
        columns = Z
        if basis is not None:
            samples -= basis.shape[1]
            columns = np.column_stack([Z, basis])
        rotation = bank.rotation(columns) if Z.shape[1] else None
        if rotation is None:
            return cls(bank, Z, samples, basis)
        if basis is not None:
            basis = rotation.coordinates(basis)
        return cls(bank.rotated(rotation), rotation.coordinates(Z), samples, basis)

    @property
    def count(self) -> float:
        return float(self.samples)

    def factor(self, v: Array) -> Array | None:
        """R, the lower triangle of an array in Fortran order; None where S is singular in floating point."""
        factor = np.array(self.bank.combine(v).dense().T, dtype=np.float64, order="F")
        if self.basis is not None:
            project(factor.T, self.basis)
        factor.T.flat[:: len(factor) + 1] += 1.0
        if factorise(factor):
            return factor
        return None

    def coef(self, factor: Array, Y: Array) -> Array:
        """The coefficients a_t of targets, as columns."""
        A = solved(factor, Y)
        if self.basis is not None:
            A -= product(self.basis, product(self.basis.T, A))
        return A

    def at(self, v: Array) -> Point | None:
        factor = self.factor(v)
        if factor is None:
            return None
        A = self.coef(factor, self.Y)
        energies = (self.Y * A).sum(axis=0)
        value = self._value(energies, _log_determinant(factor))
        if not np.isfinite(value):
            return None
        return Point(v, Explained(factor, A, energies, value))

    def shared(self, v: Array) -> SharedWeights | None:
        factor = self.factor(v)
        if factor is None:
            return None
        return SharedFactor(v, self, factor)

    def of_targets(self, index: Array | list[int]) -> Evidence:
        """Some of the targets."""
        return replace(self, Y=np.asfortranarray(self.Y[:, index]))

    def constants(self) -> Array:
        return np.asarray((self.Y**2).sum(axis=0) / self.count)

    def constant(self) -> float:
        return self._value((self.Y**2).sum(axis=0), 0.0)

    def _value(self, energies: Array, log_determinant: float) -> float:
        if not len(energies):
            return 0.0
        return float(np.exp(np.log(energies / self.count).mean() + log_determinant / self.count))

    def gradient(self, point: Point) -> Array:
        """dL / dv: shape (m,)."""
        explained = cast(Explained, point.evaluation)
        M = self.inverse(explained.factor)
        M /= self.count
        A = explained.coef / np.sqrt(explained.energies)
        M -= product(A, A.T) / A.shape[1]
        return explained.value * self.bank.inner(M)

    def inverse(self, factor: Array) -> Array:
        """H: shape (n, n)."""
        H = factor.copy(order="F")
        if not invert(H):
            raise np.linalg.LinAlgError("the factor of the kernel matrix with its ridge is singular")
        if self.basis is not None:
            project(H.T, self.basis)
        return H.T

    def images(self, A: Array) -> Array:
        """P K_k A for every k: shape (m, n, t) for A of shape (n, t)."""
        applied = self.bank.apply(A)
        if self.basis is None:
            return applied
        return applied - np.einsum("ip,kpt->kit", self.basis, np.einsum("ip,kit->kpt", self.basis, applied))

    def model(self, point: Point) -> QuadraticModel:
        explained = cast(Explained, point.evaluation)
        (n, t) = self.Y.shape
        m = len(self.bank)
        applied = self.images(explained.coef)
        roots = (self._root(explained, applied[:, :, k].T, k) for k in range(t))
        slope = self.gradient(point) / 2.0
        if n * t < m:
            return Wide(point.v, slope, np.vstack(list(roots)))
        curvature = np.zeros((m, m))
        for G in roots:
            curvature += product(G.T, G)
        return Tall(point.v, slope, curvature)

    def _root(self, explained: Explained, images: Array, k: int) -> Array:
        """The root G of the summand G'G of the curvature that belongs to target k: shape (n, m)."""
        t = len(explained.energies)
        energy = explained.energies[k]
        U = solve_triangular(explained.factor, np.column_stack([images, self.Y[:, k]]), lower=True, check_finite=False)
        q = U[:, -1] / np.sqrt(energy)
        return np.asarray((U[:, :-1] - np.outer(q, q @ U[:, :-1])) * np.sqrt(explained.value / (2.0 * t * energy)))


@dataclass(frozen=True, eq=False)
class SharedFactor(SharedWeights):
    """Weights whose factor serves all targets."""

    error: Evidence
    factor: Array

    def errors(self, index: Array) -> Array:
        Z = self.error.Y[:, index]
        energies = (Z * self.error.coef(self.factor, Z)).sum(axis=0)
        return np.asarray(self._scale * energies)

    def models(self, index: Array) -> TargetModels:
        m = len(self.v)
        models = TargetModels(np.empty((len(index), m)), np.empty((len(index), m, m)))
        for tile in slices(len(index), max(1, TILE_VALUES // (m * len(self.error.Y)))):
            Z = self.error.Y[:, index[tile]]
            A = self.error.coef(self.factor, Z)
            energies = (Z * A).sum(axis=0)
            divisors = np.where(energies > 0.0, energies, 1.0)  # constant targets have zeros for everything else
            images = self.error.images(A)
            (n, t) = Z.shape
            right = np.column_stack([images.transpose(1, 2, 0).reshape(n, t * m), Z])
            U = solve_triangular(self.factor, right, lower=True, check_finite=False)
            q = (U[:, t * m :] / np.sqrt(divisors)).T
            U = U[:, : t * m].reshape(n, t, m).transpose(1, 0, 2)
            along = np.einsum("tn,tnk->tk", q, U)
            half = 0.5 * self._scale
            models.slopes[tile] = half * (energies[:, None] * self._traces - np.einsum("it,kit->tk", A, images))
            models.curvatures[tile] = np.matmul(U.transpose(0, 2, 1), U) - along[:, :, None] * along[:, None, :]
            models.curvatures[tile] *= half
        return models

    @cached_property
    def _scale(self) -> float:
        """(det S)^(1/n) / n."""
        return float(np.exp(_log_determinant(self.factor) / self.error.count)) / self.error.count

    @cached_property
    def _traces(self) -> Array:
        """<K_k, H> / n."""
        return self.error.bank.inner(self.error.inverse(self.factor)) / self.error.count


def _log_determinant(factor: Array) -> float:
    return 2.0 * float(np.log(np.diagonal(factor)).sum())
