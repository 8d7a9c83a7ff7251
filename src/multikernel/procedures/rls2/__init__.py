"""Regularised least squares with two layers (RLS2; Dinuzzo): weights on the simplex, learned with ridge regression.

    min_{d >= 0, 1'd = 1}  J(d) = alpha/2 tr Y'(R(d) + alpha I)^{-1} Y,      R(d) = sum_k d_k R_k,  R_k = s_k K_k

J is convex, J(d) = min_C 1/2 |Y - R C|^2 + alpha/2 tr C'R C. With C = (R + alpha I)^{-1} Y and the scores
v_k = tr C'R_k C

    dJ/dd_k = -alpha/2 v_k,        min J >= alpha/2 (tr C'Y)^2 / (alpha |C|^2 + max_k v_k)  for any C.

    solve.py     kernels of any kind: where to begin, and the paper's algorithm
    newton.py    Newton steps to a certified gap
    point.py     the ridge at given weights, and its gap
    lasso.py     one rank-one kernel for each feature: the Lasso with a squared norm
    weights.py   the factors s_k, and what is returned
"""

from multikernel.procedures.rls2.lasso import LinearWeights, linear_rls2
from multikernel.procedures.rls2.solve import rls2
from multikernel.procedures.rls2.weights import ScaledWeights, scaling_factors

__all__ = ["LinearWeights", "ScaledWeights", "linear_rls2", "rls2", "scaling_factors"]
