"""The least held-out error of targets near weights whose inverse is known, each target at weights of its own.

At weights v0 everything about a fold is known from H = (K(v0) + I)^-1 (residuals.py): with the samples T that it trains
on, and x = 0 on the others V,

    (K_TT(v0) + I)^-1 x_T = (H x)_T - H_TV (H_VV)^-1 (H x)_V.                                                       (1)

For other weights the coefficients a(v) = (K_TT(v) + I)^-1 z_T of a target are sought in a subspace, by Galerkin's
method: with an orthonormal basis B of it

    (I + sum_k v_k B'K_k B) c = B'z,      a(v) near B c,      r_V(v) near z_V - sum_k v_k (K_k B)_V c,

so that the error L, its derivatives and its least point take matrices as small as the basis, whatever v is. The basis
begins with a(v0) and its derivatives, (K_TT(v0) + I)^-1 K_k a(v0): the small model has the value and the gradient of L
at v0, so that a target which is stationary there has ended. At its least point v it leaves, on T,

    rho = z - (K(v) + I) B c,      sigma = K_TV(v) r_V - (K(v) + I) B d,      d = c of the right side K_TV r_V.

The second system is the adjoint: a and (K_TT + I)^-1 K_TV r_V give the gradient of L, and by both residuals the errors
of the small model are of second order. By (1) both are solved for roughly and join the basis. A target has ended where,
by this richer model, v is stationary, rho is half of what it was, and the held-out residuals are nearly as they were in
the model before, which led there. Of 400 to 3,000 samples, three spaces and survey points a decade apart, 97 to 100 in
a hundred targets ended so; in sixty random fits of kernels of other kinds and units, folds, noise and ``tol`` from 1e-6
to 1e-3, half of the targets, all of them within ``tol`` by inverses of their own. The rounds of each_target.py lead the
rest.

F folds and m kernels take some F (5 + 8 m + m^2) products of a matrix and a vector for a target that ends after one
step. This is a reduced basis method, as of differential equations with parameters: A. Quarteroni, A. Manzoni and F.
Negri (2016), Reduced Basis Methods for Partial Differential Equations, chapters 3 and 11.
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

# Of TILE_VALUES, the numbers of the bases at a time. With 2, 4, 8 and 16 of them a target of 1,200 samples took 32,
# 25, 23 and 22 ms, one of 3,000 samples 240, 190, 155 and 125 ms. Of 3,000 samples and 1,000 targets 4 and 8 of them
# took 87 and 112 MB, and 302 and 265 s.
_BASES = 4
_WORTHWHILE = 4  # 2 n^2 operations of each product beside n^3 of an inverse: 2 gained a tenth of 400 samples, and 50 MB
_RICHER = 4  # times that a basis is made richer at most: with 2, 3 and 4 of them 88, 118, 131 of 150 hard targets ended
_FURTHEST = 10.0  # times a weight of v0, to which targets are followed: points of the first survey are a decade apart


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Weights near v0, whose inverse is known, for targets that are held out.

    The kernels K_k are those of a bank, or one alone, the sum of all with the weights ``along`` (m,).
    """

    bank: KernelBank
    held_out: HeldOut
    inverse: Inverse
    v0: Array
    along: Array | None = None

    @property
    def worthwhile(self) -> bool:
        """Whether a target's own weights cost less here than by an inverse of their matrix."""
        if foreign(self.inverse.H) or self.held_out.one is not None or self.held_out.basis is not None:
            return False
        products = self.held_out.folds.count * (5 + len(self.bank) * (8 + len(self.v0)))
        return bool(self.v0.any()) and _WORTHWHILE * products <= len(self.inverse.H)

    def ends(self, index: Array, tol: float) -> Ends:
        """Where targets end near v0; those that do not are left out."""
        m = len(self.v0)
        values = self.inside.size * (1 + m) * (3 + len(self.bank))
        ends = []
        for part in slices(len(index), max(1, _BASES * TILE_VALUES // values)):
            with np.errstate(all="ignore"):  # a target whose numbers are not finite has not ended
                ends.append(self._ends(index[part], tol))
            if time_is_up():
                break
        return Ends.joined(ends, m)

    def _ends(self, index: Array, tol: float) -> Ends:
        space = _Subspace.of(self, self.held_out.of_targets(index))
        v = np.tile(self.v0, (len(index), 1))
        near = space.model.at(v)
        ended = near.stationarities(v) <= tol  # value and gradient of the small model are those of L here
        ends = [Ends(index[ended], v[ended], near.errors[ended], near.slopes[ended], near.curvatures[ended])]
        for _ in range(_RICHER):
            if ended.all():
                break
            index = index[~ended]
            v = v[~ended]
            space = space.of_targets(~ended)
            check_interrupted()
            v = space.model.least(v, tol)
            before = space.left(v)
            space = space.richer(v, before)
            left = space.left(v)
            near = space.model.at(v)
            digits = near.errors > ROUNDING * space.model.squares / space.model.count  # a difference of such squares
            ended = digits & (near.stationarities(v) <= INNER * tol) & left.known(before, tol) & self._reached(v)
            ends.append(Ends(index[ended], v[ended], near.errors[ended], near.slopes[ended], near.curvatures[ended]))
        return Ends.joined(ends, len(self.v0))

    def _reached(self, v: Array) -> Array:
        """Whether no weight is so much larger than in v0 that its kernel's part of the inverse tells nothing."""
        return np.asarray(((v <= _FURTHEST * self.v0) | (self.v0 == 0.0)).all(axis=1))

    def coef(self, index: Array, v: Array) -> Array:
        """(K(v_t) + I)^-1 times each target without its mean, (n, t), by conjugate gradients that H preconditions."""
        Y = self.held_out.of_targets(index).Y
        if self.held_out.fit_intercept:
            Y = Y - Y.mean(axis=0)
        found = np.empty(Y.shape)
        for some in slices(len(index), max(1, TILE_VALUES // (2 * len(Y)))):  # some seven such blocks are held
            found[:, some] = self._solved(Y[:, some], v[some])
        return found

    def _solved(self, Y: Array, v: Array) -> Array:
        H = self.inverse.H
        enough = SINGULAR * np.linalg.norm(Y, axis=0)

        def shifted(X: Array) -> Array:
            return X + np.einsum("tk,knt->nt", v, self._kernels_times(X))

        def near(R: Array) -> Array:
            return times(H, R)

        X = near(Y)
        steps = preconditioned_steps(shifted, near, Y - shifted(X))
        for step in islice(steps, MOST_STEPS):
            X += step.change
            if (np.linalg.norm(step.left, axis=0) <= enough).all():
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
        """(K_TT(v0) + I)^-1 x on the samples of each fold, 0 on the others; so are the x."""
        H = self.inverse.H
        if isinstance(H, InverseByFolds):
            return H.trained(X)
        found = unlocked_product(H, X.reshape(-1, X.shape[-1]).T).T.reshape(X.shape)
        tests = self.held_out.folds.tests()
        for each, V, factor in zip(found, tests, self.inverse.blocks.factors, strict=True):
            each -= unlocked_product(solved(factor, each[:, V].T).T, rows_of(H, V))
        return np.asarray(found * self.inside)


@dataclass(frozen=True, eq=False)
class _Subspace:
    """Bases of the folds of some targets: Z (F, t, n) are targets, B (F, t, q, n) has zeros outside the training sets,
    KB (m, F, t, q, n) are its products with the kernels."""

    place: Neighbourhood
    Z: Array
    B: Array
    KB: Array

    @classmethod
    def of(cls, place: Neighbourhood, held_out: HeldOut) -> _Subspace:
        """Of the coefficients at v0 and their derivatives."""
        means = held_out.training_means
        Z = (held_out.Y.T - means[:, :, None]).astype(float)
        F, t, n = Z.shape
        m = len(place.v0)
        empty = cls(place, Z, np.empty((F, t, 0, n)), np.empty((m, F, t, 0, n)))
        first = empty.joined(place.trained(Z * place.inside)[:, :, None])
        images = first.KB[:, :, :, 0].transpose(1, 2, 0, 3) * place.inside[:, :, None]
        derivatives = place.trained(images.reshape(F, t * m, n)).reshape(F, t, m, n)
        return first.joined(derivatives)

    @cached_property
    def model(self) -> _SmallModel:
        F, t, q, _ = self.B.shape
        m = len(self.KB)
        squares, products, right = np.zeros(t), np.empty((F, t, q * m, q * m)), np.empty((F, t, q * m))
        for f, V in enumerate(self.place.held_out.folds.tests()):
            images = self.KB[:, f][..., V].transpose(1, 2, 0, 3).reshape(t, q * m, len(V))
            z = self.Z[f][:, V]
            squares += (z**2).sum(axis=1)
            np.matmul(images, images.transpose(0, 2, 1), out=products[f])
            right[f] = np.matmul(images, z[:, :, None])[:, :, 0]
        inside = np.matmul(self.B, self.KB.swapaxes(-1, -2)).transpose(1, 2, 0, 3, 4)
        targets = np.matmul(self.B, self.Z[..., None])[..., 0]
        return _SmallModel(inside, targets, products, right, squares, self.place.held_out.count)

    def of_targets(self, kept: Array) -> _Subspace:
        return replace(self, Z=self.Z[:, kept], B=self.B[:, kept], KB=self.KB[:, :, kept])

    def left(self, v: Array) -> _Left:
        """What the equations leave of the targets at weights v (t, m), and held-out residuals."""
        values, coef = self._at(v, self.model.solve(v, self.model.targets))
        rest = self.Z - values
        return _Left((rest - coef) * self.place.inside, rest * (1.0 - self.place.inside))

    def richer(self, v: Array, left: _Left) -> _Subspace:
        """With rough solutions of what the equations of the targets and their adjoints leave at weights v."""
        place = self.place
        adjoint = np.einsum("tk,kftn->ftn", v, place.applied(left.residuals)) * place.inside
        values, coef = self._at(v, self.model.solve(v, np.matmul(self.B, adjoint[..., None])[..., 0]))
        sigma = (adjoint - values - coef) * place.inside
        F, t, n = sigma.shape
        new = place.trained(np.stack([left.rho, sigma], axis=2).reshape(F, 2 * t, n))
        return self.joined(new.reshape(F, t, 2, n))

    def _at(self, v: Array, c: Array) -> tuple[Array, Array]:
        """K(v) B c and B c: each (F, t, n)."""
        weights = v.T[:, None, :, None] * c
        values = np.matmul(weights[..., None, :], self.KB)[..., 0, :].sum(axis=0)
        return values, np.matmul(c[..., None, :], self.B)[..., 0, :]

    def joined(self, new: Array) -> _Subspace:
        """With more vectors (F, t, r, n), made orthonormal; one that depends on the others becomes 0."""
        B = self.B
        for j in range(new.shape[2]):
            w = new[:, :, j]
            before = np.linalg.norm(w, axis=-1)
            for _ in range(2):  # once leaves what rounding made of a nearly dependent vector
                w = w - np.matmul(np.matmul(B, w[..., None]).swapaxes(-1, -2), B)[..., 0, :]
            size = np.linalg.norm(w, axis=-1)
            scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 1e-12 * before)
            B = np.concatenate([B, (scale[..., None] * w)[:, :, None]], axis=2)
        fresh = np.ascontiguousarray(B[:, :, self.B.shape[2] :])
        images = self.place.applied(fresh.reshape(len(B), -1, B.shape[-1])).reshape(-1, *fresh.shape)
        return replace(self, B=B, KB=np.concatenate([self.KB, images], axis=3))


@dataclass(frozen=True, eq=False)
class _Left:
    """What a subspace leaves: rho on the training samples, residuals on the others, each (F, t, n)."""

    rho: Array
    residuals: Array

    def known(self, before: _Left, tol: float) -> Array:
        """Whether a richer subspace, this one, confirms a smaller one: shape (t,).

        The equations are solved twice as well at least, and held-out residuals have changed by little: stationarity and
        error are squares of these.
        """
        rho, size = _norms(self.rho), _norms(self.residuals)
        better = (2.0 * rho <= _norms(before.rho)) | (rho <= SINGULAR * size)
        change = _norms(self.residuals - before.residuals)
        return np.asarray(better & (change**2 <= INNER * tol * size**2))


def _norms(X: Array) -> Array:
    """Of all folds of each target, (F, t, n): shape (t,)."""
    return np.sqrt(np.einsum("ftn,ftn->t", X, X))


@dataclass(frozen=True, eq=False)
class _SmallPoint:
    """Errors (t,), slopes (t, m) and curvatures (t, m, m) at weights of each target."""

    errors: Array
    slopes: Array
    curvatures: Array

    def stationarities(self, v: Array) -> Array:
        """What a step may gain, relative to the errors: as each_target.py measures it."""
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

    def least(self, v: Array, tol: float) -> Array:
        """A least point of each target, near v: shape (t, m)."""
        v = v.copy()
        near = self.at(v)
        errors, slopes, curvatures = near.errors, near.slopes, near.curvatures
        damping, growth = np.full(len(v), FIRST_DAMPING), np.full(len(v), 2.0)
        scale = np.einsum("tkk->tk", curvatures).copy()
        for _ in range(MOST_STEPS):
            steps, decreases = near.steps(v, damping[:, None] * scale)
            predicted = decreases[:, 0]
            if (predicted <= INNER**2 * tol * errors).all():
                break
            trial = np.maximum(v + steps, 0.0)
            there = self.at(trial)
            ratio = np.full(len(v), -1.0)
            np.divide(errors - there.errors, predicted, out=ratio, where=predicted > 0.0)
            accepted = ratio > ACCEPTED
            damping, growth = changed_damping(damping, growth, ratio)
            v[accepted] = trial[accepted]
            errors[accepted] = there.errors[accepted]
            slopes[accepted] = there.slopes[accepted]
            curvatures[accepted] = there.curvatures[accepted]
            np.maximum(scale, np.einsum("tkk->tk", curvatures), out=scale)
        return v
