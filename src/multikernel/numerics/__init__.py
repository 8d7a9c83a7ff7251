"""Algorithms of numerical analysis, each written once, which know no kernel: arrays in, arrays out.

cholesky              the factorisation of positive definite matrices of any size, and the systems solved by it
conjugate_gradients   systems solved by products with their matrix, also beside one that is near it
definite              whether a symmetric matrix is positive semi-definite, beyond rounding
lapack                LAPACK's and BLAS's routines without Python's lock
lbfgs                 limited-memory quasi-Newton steps, with or without bounds
limited_memory        a limited-memory BFGS matrix, for steps in any convex set
levenberg_marquardt   damped Gauss-Newton steps
interior_point        predictor and corrector steps along the central path, and the barrier of a box
line_search           lengths of steps
trust_region          the lowest point of a quadratic function in a ball, also by conjugate gradients
"""
