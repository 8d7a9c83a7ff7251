"""Minima of the held-out errors of targets near weights whose inverse is known, at separate weights of each target.

At weights v0 the systems of a fold are solved by H = (K(v0) + I)^-1 (residuals.py): with its training samples T, and
x = 0 on its held-out samples V,

    (K_TT(v0) + I)^-1 x_T = (H x)_T - H_TV (H_VV)^-1 (H x)_V.                                                       (1)

For other weights the coefficients a(v) = (K_TT(v) + I)^-1 z_T of a target are approximated in a subspace, by Galerkin's
method: with an orthonormal basis B of this subspace

    (I + sum_k v_k B'K_k B) c = B'z,      a(v) near B c,      r_V(v) near z_V - sum_k v_k (K_k B)_V c,

so that the error L, its derivatives and its minimum need only matrices as small as the basis, whatever v is. The basis
begins with a(v0) and its derivatives, (K_TT(v0) + I)^-1 K_k a(v0): the small model has the value and the gradient of L
at v0, so that a target which is stationary there has ended. At the minimum v of the small model the residuals on T are

    rho = z - (K(v) + I) B c,      sigma = K_TV(v) r_V - (K(v) + I) B d,      d = c of the right side K_TV r_V.

The second system is the adjoint: a and (K_TT + I)^-1 K_TV r_V give the gradient of L, and the errors of the small model
are of second order in both residuals. Approximate solutions for both residuals, by (1) with v0 in place of v, are added
to the basis. A target has ended where, in this larger model, v is stationary, rho is half of what it was, and the
held-out residuals are nearly those of the smaller model, whose minimum v is. Of 400 to 3,000 samples, three spaces and
survey points a decade apart, 97 to 100 in a hundred targets ended this way; in sixty random fits of kernels of other
kinds and units, folds, noise and ``tol`` from 1e-6 to 1e-3, half of the targets did, and inverses at their weights
confirmed all of these within ``tol``. The other targets take part in the rounds of each_target.py.

F folds and m kernels take some F (5 + 8 m + m^2) products of a matrix and a vector for a target that ends after one
step. This is a reduced basis method, as used for differential equations with parameters: A. Quarteroni, A. Manzoni and
F. Negri (2016), Reduced Basis Methods for Partial Differential Equations, chapters 3 and 11.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np

from multikernel._arrays import foreign
from multikernel._floats import ROUNDING, SINGULAR
from multikernel._typing import Array
from multikernel._workers import check_interrupted, time_is_up
from multikernel.banks import KernelBank
from multikernel.banks.threads import slices
from multikernel.certificate import INNER
from multikernel.numerics.cholesky import solved
from multikernel.numerics.conjugate_gradients import MOST_STEPS, preconditioned_steps
from multikernel.numerics.levenberg_marquardt import ACCEPTED, FIRST_DAMPING, changed_damping
from multikernel.procedures.ridge_cv.criterion import Ends
from multikernel.procedures.ridge_cv.inverse_by_folds import InverseByFolds
from multikernel.procedures.ridge_cv.model import MEASURED
from multikernel.procedures.ridge_cv.residuals import HeldOut, Inverse, rows_of, times, unlocked_product
from multikernel.tuning import TILE_VALUES

# Bases of so many times TILE_VALUES numbers are computed at a time. With 2, 4, 8 and 16 a target of 1,200 samples took
# 32, 25, 23 and 22 ms, one of 3,000 samples 240, 190, 155 and 125 ms. For 3,000 samples and 1,000 targets, 4 and 8 took
# 87 and 112 MB, and 302 and 265 s.
_BASES = 4
_WORTHWHILE = 4  # 2 n^2 operations of each product beside n^3 of an inverse: 2 gained a tenth of 400 samples, and 50 MB
_RICHER = 4  # times that a basis is extended at most: with 2, 3 and 4 of them 88, 118, 131 of 150 hard targets ended
_FURTHEST = 10.0  # largest ratio of a weight to that in v0: points of the first survey are a decade apart


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Weights near v0, whose inverse is known, for targets that are held out.

    The kernels K_k are those of a bank, or with ``along`` (m,) the single kernel that is their sum with these weights.
    """

    bank: KernelBank
    held_out: HeldOut
    inverse: Inverse
    v0: Array
    along: Array | None = None

    @property
    def worthwhile(self) -> bool:
        """Whether a minimum for one target costs less here than an inverse at its weights."""
        if foreign(self.inverse.H) or self.held_out.one is not None or self.held_out.basis is not None:
            return False
        products = self.held_out.folds.count * (5 + len(self.bank) * (8 + len(self.v0)))
        return bool(self.v0.any()) and _WORTHWHILE * products <= len(self.inverse.H)

    def ends(self, index: Array, tol: float) -> Ends:
        """The ends of those targets that end near v0."""
        m = len(self.v0)
        values = self.inside.size * (1 + m) * (3 + len(self.bank))
        ends = []
        for tile in slices(len(index), max(1, _BASES * TILE_VALUES // values)):
            with np.errstate(all="ignore"):  # a target whose numbers are not finite has not ended
                ends.append(self._ends(index[tile], tol))
            if time_is_up():
                break
        return Ends.joined(ends, m)

    def _ends(self, index: Array, tol: float) -> Ends:
        space = _Subspace.of(self, self.held_out.of_targets(index))
        v = np.tile(self.v0, (len(index), 1))
        point = space.model.at(v)
        ended = point.stationarities(v) <= tol  # at v0 the small model has the value and the gradient of L
        ends = [Ends(index[ended], v[ended], point.errors[ended], point.slopes[ended], point.curvatures[ended])]
        for _ in range(_RICHER):
            if ended.all():
                break
            index = index[~ended]
            v = v[~ended]
            space = space.of_targets(~ended)
            check_interrupted()
            v = space.model.minimum(v, tol)
            residuals_before = space.residuals(v)
            space = space.richer(v, residuals_before)
            residuals = space.residuals(v)
            point = space.model.at(v)
            digits = point.errors > ROUNDING * space.model.squares / space.model.count  # a difference of such squares
            ended = (
                digits
                & (point.stationarities(v) <= INNER * tol)
                & residuals.confirms(residuals_before, tol)
                & self._within_reach(v)
            )
            ends.append(Ends(index[ended], v[ended], point.errors[ended], point.slopes[ended], point.curvatures[ended]))
        return Ends.joined(ends, len(self.v0))

    def _within_reach(self, v: Array) -> Array:
        """Whether no weight is so much larger than in v0 that the inverse at v0 is of no use for its kernel."""
        return np.asarray(((v <= _FURTHEST * self.v0) | (self.v0 == 0.0)).all(axis=1))

    def coef(self, index: Array, v: Array) -> Array:
        """(K(v_t) + I)^-1 times each target without its mean, (n, t), by conjugate gradients that H preconditions."""
        Y = self.held_out.of_targets(index).Y
        if self.held_out.fit_intercept:
            Y = Y - Y.mean(axis=0)
        solution = np.empty(Y.shape)
        for tile in slices(len(index), max(1, TILE_VALUES // (2 * len(Y)))):  # about seven such blocks are in memory
            solution[:, tile] = self._solved(Y[:, tile], v[tile])
        return solution

    def _solved(self, Y: Array, v: Array) -> Array:
        H = self.inverse.H
        enough = SINGULAR * np.linalg.norm(Y, axis=0)

        def shifted(X: Array) -> Array:
            return X + np.einsum("tk,knt->nt", v, self._kernels_times(X))

        def approximately_solved(R: Array) -> Array:
            return times(H, R)

        X = approximately_solved(Y)
        steps = preconditioned_steps(shifted, approximately_solved, Y - shifted(X))
        for step in islice(steps, MOST_STEPS):
            X += step.change
            if (np.linalg.norm(step.residual, axis=0) <= enough).all():
                break
        return X

    def _kernels_times(self, X: Array) -> Array:
        images = self.bank.apply(X)
        if self.along is None:
            return images
        return np.tensordot(self.along, images, 1)[None]

    # -- vectors with a row for each fold and target, (F, c, n) --------------------------------------------------------

    @cached_property
    def inside(self) -> Array:
        """Whether a fold trains on a sample, as 1 and 0: shape (F, 1, n)."""
        folds = self.held_out.folds
        return (np.arange(folds.count)[:, None] != folds.labels)[:, None].astype(float)

    def applied(self, X: Array) -> Array:
        """K_k x for every k: shape (m, F, c, n)."""
        images = self._kernels_times(X.reshape(-1, X.shape[-1]).T)
        return np.ascontiguousarray(images.transpose(0, 2, 1)).reshape(-1, *X.shape)

    def trained(self, X: Array) -> Array:
        """(K_TT(v0) + I)^-1 x on the training samples of each fold, 0 on the others, where the x are 0 too."""
        H = self.inverse.H
        if isinstance(H, InverseByFolds):
            return H.trained(X)
        images = unlocked_product(H, X.reshape(-1, X.shape[-1]).T).T.reshape(X.shape)
        tests = self.held_out.folds.tests()
        for rows, V, factor in zip(images, tests, self.inverse.blocks.factors, strict=True):
            rows -= unlocked_product(solved(factor, rows[:, V].T).T, rows_of(H, V))
        return np.asarray(images * self.inside)


@dataclass(frozen=True, eq=False)
class _Subspace:
    """Bases of the folds of some targets: Z (F, t, n) are targets, B (F, t, q, n) has zeros outside the training sets,
    KB (m, F, t, q, n) are its products with the kernels."""

    neighbourhood: Neighbourhood
    Z: Array
    B: Array
    KB: Array

    @classmethod
    def of(cls, neighbourhood: Neighbourhood, held_out: HeldOut) -> _Subspace:
        """The subspace of the coefficients at v0 and their derivatives."""
        means = held_out.training_means
        Z = (held_out.Y.T - means[:, :, None]).astype(float)
        F, t, n = Z.shape
        m = len(neighbourhood.v0)
        empty = cls(neighbourhood, Z, np.empty((F, t, 0, n)), np.empty((m, F, t, 0, n)))
        first = empty.joined(neighbourhood.trained(Z * neighbourhood.inside)[:, :, None])
        images = first.KB[:, :, :, 0].transpose(1, 2, 0, 3) * neighbourhood.inside[:, :, None]
        derivatives = neighbourhood.trained(images.reshape(F, t * m, n)).reshape(F, t, m, n)
        return first.joined(derivatives)

    @cached_property
    def model(self) -> _SmallModel:
        F, t, q, _ = self.B.shape
        m = len(self.KB)
        squares, products, right = np.zeros(t), np.empty((F, t, q * m, q * m)), np.empty((F, t, q * m))
        for f, V in enumerate(self.neighbourhood.held_out.folds.tests()):
            images = self.KB[:, f][..., V].transpose(1, 2, 0, 3).reshape(t, q * m, len(V))
            z = self.Z[f][:, V]
            squares += (z**2).sum(axis=1)
            np.matmul(images, images.transpose(0, 2, 1), out=products[f])
            right[f] = np.matmul(images, z[:, :, None])[:, :, 0]
        inside = np.matmul(self.B, self.KB.swapaxes(-1, -2)).transpose(1, 2, 0, 3, 4)
        targets = np.matmul(self.B, self.Z[..., None])[..., 0]
        return _SmallModel(inside, targets, products, right, squares, self.neighbourhood.held_out.count)

    def of_targets(self, mask: Array) -> _Subspace:
        return replace(self, Z=self.Z[:, mask], B=self.B[:, mask], KB=self.KB[:, :, mask])

    def residuals(self, v: Array) -> _Residuals:
        """The residuals of the equations at weights v (t, m), and the held-out residuals."""
        values, coef = self._at(v, self.model.solve(v, self.model.targets))
        differences = self.Z - values
        return _Residuals(
            (differences - coef) * self.neighbourhood.inside, differences * (1.0 - self.neighbourhood.inside)
        )

    def richer(self, v: Array, residuals: _Residuals) -> _Subspace:
        """The subspace with approximate corrections for the residuals of the equations and their adjoints at v."""
        neighbourhood = self.neighbourhood
        adjoint = np.einsum("tk,kftn->ftn", v, neighbourhood.applied(residuals.held_out)) * neighbourhood.inside
        values, coef = self._at(v, self.model.solve(v, np.matmul(self.B, adjoint[..., None])[..., 0]))
        sigma = (adjoint - values - coef) * neighbourhood.inside
        F, t, n = sigma.shape
        vectors = neighbourhood.trained(np.stack([residuals.rho, sigma], axis=2).reshape(F, 2 * t, n))
        return self.joined(vectors.reshape(F, t, 2, n))

    def _at(self, v: Array, c: Array) -> tuple[Array, Array]:
        """K(v) B c and B c: each (F, t, n)."""
        weights = v.T[:, None, :, None] * c
        values = np.matmul(weights[..., None, :], self.KB)[..., 0, :].sum(axis=0)
        return values, np.matmul(c[..., None, :], self.B)[..., 0, :]

    def joined(self, vectors: Array) -> _Subspace:
        """The subspace with more vectors (F, t, r, n), made orthonormal; a dependent vector becomes 0."""
        B = self.B
        for j in range(vectors.shape[2]):
            w = vectors[:, :, j]
            before = np.linalg.norm(w, axis=-1)
            for _ in range(2):  # a second time, because of rounding in nearly dependent vectors
                w = w - np.matmul(np.matmul(B, w[..., None]).swapaxes(-1, -2), B)[..., 0, :]
            size = np.linalg.norm(w, axis=-1)
            scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 1e-12 * before)
            B = np.concatenate([B, (scale[..., None] * w)[:, :, None]], axis=2)
        new_columns = np.ascontiguousarray(B[:, :, self.B.shape[2] :])
        images = self.neighbourhood.applied(new_columns.reshape(len(B), -1, B.shape[-1])).reshape(
            -1, *new_columns.shape
        )
        return replace(self, B=B, KB=np.concatenate([self.KB, images], axis=3))


@dataclass(frozen=True, eq=False)
class _Residuals:
    """The residuals of a subspace: rho on the training samples, and held-out residuals, each (F, t, n)."""

    rho: Array
    held_out: Array

    def confirms(self, previous: _Residuals, tol: float) -> Array:
        """Whether these residuals, of a larger subspace, confirm the ``previous`` ones, of a smaller: shape (t,).

        They do where rho is at most half as large, and held-out residuals have changed by little: stationarity and
        error are squares of held-out residuals.
        """
        rho, size = _norms(self.rho), _norms(self.held_out)
        better = (2.0 * rho <= _norms(previous.rho)) | (rho <= SINGULAR * size)
        change = _norms(self.held_out - previous.held_out)
        return np.asarray(better & (change**2 <= INNER * tol * size**2))


def _norms(X: Array) -> Array:
    """The norm of each target's vectors of all folds, (F, t, n): shape (t,)."""
    return np.sqrt(np.einsum("ftn,ftn->t", X, X))


@dataclass(frozen=True, eq=False)
class _SmallPoint:
    """Errors (t,), slopes (t, m) and curvatures (t, m, m) at weights of each target."""

    errors: Array
    slopes: Array
    curvatures: Array

    def stationarities(self, v: Array) -> Array:
        """The predicted decrease of a step relative to the errors, as each_target.py measures it."""
        damping = MEASURED * np.einsum("tkk->tk", self.curvatures)
        return np.asarray(self.steps(v, damping)[1][:, 0] / self.errors)

    def steps(self, v: Array, damping: Array) -> tuple[Array, Array]:
        from multikernel.procedures.ridge_cv._steps import damped_steps  # compiled: imported where it is used

        steps, decreases = np.empty(v.shape), np.empty((len(v), 2))
        damped_steps(v, self.slopes, self.curvatures, damping, steps, decreases)
        return steps, decreases


@dataclass(frozen=True, eq=False)
class _SmallModel:
    """The errors of t targets in their subspaces.

    Parameters
    ----------
    inside : array (F, t, m, q, q), B'K_k B
    targets : array (F, t, q), B'z
    products : array (F, t, q m, q m), products of the images (K_k B)_V with each other, k running first
    right : array (F, t, q m), their products with z_V
    squares : array (t,), |z_V|^2 over all folds
    count : how many samples there are
    """

    inside: Array
    targets: Array
    products: Array
    right: Array
    squares: Array
    count: float

    def system(self, v: Array) -> Array:
        """I + sum_k v_k B'K_k B."""
        return np.eye(self.inside.shape[-1]) + np.einsum("tk,ftkij->ftij", v, self.inside)

    def solve(self, v: Array, right: Array) -> Array:
        return np.asarray(np.linalg.solve(self.system(v), right[..., None])[..., 0])

    def at(self, v: Array) -> _SmallPoint:
        """The errors with their derivatives: r = z_V - D u with u = c (x) v and D the images."""
        F, t, m, q, _ = self.inside.shape
        M = self.system(v)
        c = np.linalg.solve(M, self.targets[..., None])[..., 0]
        moved = np.matmul(self.inside, c[:, :, None, :, None])[..., 0]  # B'K_k B c: (F, t, m, q)
        dc = -np.linalg.solve(M, moved.swapaxes(-1, -2))  # (F, t, q, m)
        u = (c[..., None] * v[:, None]).reshape(F, t, q * m)
        du = np.einsum("ftq,kl->ftqkl", c, np.eye(m)) + np.einsum("tk,ftql->ftqkl", v, dc)
        du = du.reshape(F, t, q * m, m)
        image = np.matmul(self.products, u[..., None])[..., 0]
        errors = self.squares + (u * (image - 2.0 * self.right)).sum(axis=(0, 2))
        slopes = np.matmul(du.swapaxes(-1, -2), (image - self.right)[..., None])[..., 0].sum(axis=0)
        curvatures = np.matmul(du.swapaxes(-1, -2), np.matmul(self.products, du)).sum(axis=0)
        return _SmallPoint(errors / self.count, slopes / self.count, curvatures / self.count)

    def minimum(self, v: Array, tol: float) -> Array:
        """A minimum of each target's error, by steps from v: shape (t, m)."""
        v = v.copy()
        point = self.at(v)
        errors, slopes, curvatures = point.errors, point.slopes, point.curvatures
        damping, growth = np.full(len(v), FIRST_DAMPING), np.full(len(v), 2.0)
        scale = np.einsum("tkk->tk", curvatures).copy()
        for _ in range(MOST_STEPS):
            steps, decreases = point.steps(v, damping[:, None] * scale)
            predicted = decreases[:, 0]
            if (predicted <= INNER**2 * tol * errors).all():
                break
            trial = np.maximum(v + steps, 0.0)
            trial_point = self.at(trial)
            ratio = np.full(len(v), -1.0)
            np.divide(errors - trial_point.errors, predicted, out=ratio, where=predicted > 0.0)
            accepted = ratio > ACCEPTED
            damping, growth = changed_damping(damping, growth, ratio)
            v[accepted] = trial[accepted]
            errors[accepted] = trial_point.errors[accepted]
            slopes[accepted] = trial_point.slopes[accepted]
            curvatures[accepted] = trial_point.curvatures[accepted]
            np.maximum(scale, np.einsum("tkk->tk", curvatures), out=scale)
        return v
