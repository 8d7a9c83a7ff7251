"""Numbers that determine how long a fit takes, with the benchmarks that measured them.

This file has the numbers that depend on the processor, the BLAS or the memory: sizes from which one method is faster
than another, tiles that fit into a cache, seconds of one operation; and the counts of steps with which forecasts
multiply these. Other values change answers only within their tolerance, except that the automatic estimators choose the
number of samples by forecasts. Constants on which the correctness of an algorithm depends are defined with the
algorithm.

    python benchmarks/tuning.py NAME [--values 500,1000,2000]     times the fits that a number decides on, at its value
                                                                  and others; without a name it lists those it can try
    python benchmarks/forecast.py                                 measures seconds and memory beside their forecasts

The first command sets the number before any other module reads it.
"""

# -- linear algebra: benchmarks/tuning.py, benchmarks/cholesky.py ------------------------------------------------------

# rows of a block that LAPACK factors: a quarter of the number at which OpenBLAS ends the process on two threads
CHOLESKY_ROWS = 4000
# numbers in the largest linear system of a machine: 480 MB, 7745 unknowns (10954 in single precision)
SYSTEM_VALUES = 60_000_000

# -- which way is faster: benchmarks/tuning.py -------------------------------------------------------------------------

# samples up to which all take part from the beginning: to begin RLS2 with a part of them is as fast for 1,000 to 3,000
# samples, and twice as fast for 5,000
ALL_SAMPLES = 1000

# support vector machines with kernel weights
INTERIOR_SAMPLES = 8000  # beyond, a factorisation costs more than the machines that an optimizer solves
INTERIOR_FEATURES = 4e9  # n q^2: beyond, forming systems of q features costs more than machines, which make passes
# rounds of machines may take this many times the forecast of the interior point method, before that method is used
ROUNDS_TRIED = 1.5
# products of kernels that rounds of machines may hold, one for each kernel and sample: 512 MB
ROUNDS_PRODUCTS = 1 << 26
WORKING_ALL = 1000  # kernels up to which all take part in the interior point method from the beginning
WORKING_FIRST = 200  # kernels of a larger bank that take part first

# ridge regression
RLS2_FEATURES_FROM = 500  # samples: up to so many, a factorisation of the matrix costs little
RLS2_HALF_FROM = 8000  # samples: matrices are factored in single precision, in half the memory
BASIS_OPERATIONS = 2e10  # n q^2, beyond which an orthogonal factorisation takes more than some seconds
HESSIAN_WEIGHTS = 1000  # up to which second derivatives are a matrix
HESSIAN_WEIGHTS_CUBIC = 100  # the same from degree 3 on, where every entry is a pass over pairs of samples
NEWTON_WEIGHTS = 50  # up to which second derivatives cost less than the steps that they save

# cross-validated weights and scales: also benchmarks/ridge_cv.py and benchmarks/scales.py
FOLD_COORDINATES = 1500  # up to which matrices of them cost little
FOLD_SUMS = 20  # the most folds with separate sums
JACOBIAN_COLUMNS = 2.0  # in products with one matrix, in multiples of the samples: more cost more than they save
SCALES_ONE_THREAD = 2000  # samples up to which BLAS has one thread: the passes have theirs, and would wait for BLAS's

# hierarchical kernel learning: also benchmarks/hkl.py
# multiplications for the tables of children: a hull that would take more is far from complete in any case
HKL_CHILDREN = 1e11

# -- seconds of one operation, on one thread: benchmarks/forecast.py ---------------------------------------------------

PASS_ENTRY = 3.0e-10  # each stored entry in a pass over the symmetric halves, counted over whole matrices
KERNEL_VALUE = 3.0e-9  # each kernel value that is evaluated from samples
BLAS_OPERATION = 1.0 / 30e9  # of the linear algebra library, a multiplication and an addition counting as two
STORED_BYTE = 1.0e-9  # each byte that is stored for the first time
KERNEL_CALL = 2e-5  # each kernel, for any number of samples
MACHINE_PAIR = 6e-9  # each pair of samples in a machine that starts from the last one
MACHINE_FRESH = 2.0  # times as long takes a machine that starts from nothing, to a small gap
NUMPY_VALUE = 2e-9  # each product of a kernel in NumPy's arithmetic
MIXTURE_PROBLEM = 8e-3  # the smallest problem of the mixtures of machines
SMALLEST_STEP = 1e-3  # the smallest step of any procedure; and checks, certificates, and what is published

# -- how many steps there will be; benchmarks/forecast.py measures what they forecast ----------------------------------

INTERIOR_STEPS = 17  # of the interior point method
ROUNDS_FIRST = 4.0  # rounds of machines
ROUNDS_PER_ROOT = 2.0  # further rounds for each root of the number of kernels
ROUNDS_SMOOTH = 10.0  # how much fewer where weights follow the scores smoothly
ROUNDS_USUAL_GAP = 1e-3  # the gap of these counts
ROUNDS_PER_DIGIT = 0.12  # for each digit beyond it a further part of the rounds
RLS2_WORKING = 30  # kernels that take part in the steps of RLS2
RLS2_WORKING_PART = 0.6  # the same as a part of many kernels
RLS2_WORKING_PART_LATE = 0.25  # the same after steps on a part of the samples
RLS2_FEWER_STEPS = 2.0  # times fewer after those
RLS2_COPIED = 12  # kernels that it stores in double precision where not all are stored, if that fits
MARGIN_FACTORISATIONS = 3.0  # of the support of a margin, which follows the data, as ones of all samples

# -- memory at the peak: tests/estimators/test_forecast_memory.py measures it ------------------------------------------

# in units of the kernel matrix of all samples
SUPPORT_MATRICES = 4.6
SUPPORT_MATRICES_MANY = 1.4  # of more samples than the interior point method takes: 1.2 at 9000, 1.0 at 20,000
RLS2_MATRICES_HALF = 2.2  # where factors are in single precision: 1.9 at 9000, 1.5 at 20,000
RIDGE_CV_MATRICES = 5.6
# of RLS2, and of one kernel with learned scales inside it, for which 3.2, 2.9 and 2.7 were measured with 2000, 4000 and
# 8000 samples; each further kernel adds two: the peaks of two and four kernels were 4.9 and 8.8
RIDGE_MATRICES = 3.6
# in units of the array of features, where these are few
FEATURE_COPIES = 3.6
ROUNDS_COPIES = 1.6  # of a support vector machine with so many of them that it makes passes

# -- kernels and banks: benchmarks/passes.py times whole passes --------------------------------------------------------

# bytes that are kept since a next step or candidate asks for them again: an orthonormal basis, the factors of all
# folds, the matrices of test samples, and stacks, over which a pass is faster than new exponentials
KEPT_BYTES = 256 << 20
LARGE_VALUES = 1 << 24  # in memory at a time, of new samples or on a device, and of features that are copied: 128 MB
BUFFER_VALUES = 1 << 22  # of matrices, features, products or targets that are in memory at a time: 32 MB
PIECE_VALUES = 1 << 21  # that a thread reads, copies, evaluates or multiplies at a time: 16 MB, half a millisecond
# of a tile that each thread fills, 2 MB: filling it takes as long as waking the threads; and of the residuals of
# targets, or of their derivatives, at a time, in each of some eight arrays: with 4 MB a fit of 1,200 samples and 1,000
# targets took 9 MB more, and as long
TILE_VALUES = 1 << 18
THREADS_TILE = 1 << 15  # of a tile that stays in a thread's cache: 256 kB
STRETCH = 4096  # entries of packed matrices worked on at a time: they stay in the cache while several are multiplied
ROW_TILE = 512  # entries of rows, or pairs, that compiled loops work on at a time: in the first-level cache
PRODUCT_ROWS = 512  # of a matrix, or monomials, at a time: a product or a copy worth BLAS and a thread
# rows of a tile, at least: fewer spend their time on reading the columns, or on a call (functions of scikit-learn took
# 0.17 ms for one sample and for 64, and 0.3 to 0.9 ms for 256); a tile of as many columns, and its transpose, fit into
# the cache
TILE_ROWS = 64

# kernels/categories.py
ONE_HOT_DENSE = 256  # columns up to which an array of zeros and ones is as good as a sparse matrix

# kernels/strings.py
COUNTS_DENSE = 0.05  # share of counts that are not zero, above which a dense product is faster than a sparse one

# statistics/summing.py
SUMS_STRIPS = 16  # of the sums of products of features: what is computed above their diagonal is lost

# banks/base.py
SUPPORT_SHARE = 0.7  # of the samples in a form or a product, up to which leaving out the others saves time

# banks/bind.py
# bytes of a stack that is made in a few milliseconds in any way; passes over a larger one are made in single precision
# by support vector machines: of 40 MB a fit then took .85 of the time
STACK_TINY = 32 << 20

# banks/kinds.py
DIFFERENCES_FEATURES = 8  # Gaussians on more columns share a matrix of distances, which is one matrix product

# banks/factor_gram.py
FEATURES_FEW = 20  # samples for each feature from which steps on features cost less than rows of K
ROWS_SMALL = 1000  # samples; the rows of a smaller matrix cost less than steps on features
ROWS_LARGE = 10_000  # samples; the rows of a larger matrix take more memory than features, if these are fewer by half

# banks/profiles.py
POWER_FAST = 8  # a higher power takes as long as an exponential

# banks/packed.py
PACKED_DENSE = 0.3  # share of the rows in a quadratic form above which reading all rows is faster than skipping some
PACKED_FORMS = 2  # columns of A up to which one form for each is faster than the inner product with A A'
# columns, and numbers in them, from which a product by BLAS is faster, the unpacking counted
PACKED_UNPACKED = 48
PACKED_VALUES = 25_000
PACKED_KEPT = 8  # times the bytes of a sum: a stack of so many, or more, keeps the sum of all its matrices

# banks/threads.py
ORDER_SMALL = 800  # the largest order of matrices whose products are faster with one thread: problems have threads
