"""Every number that depends on the machine, beside the benchmark that measured it.

A number stands here where another processor, another BLAS or another amount of memory would make another value better:
sizes from which one way is faster than another, tiles that fit into a cache, seconds of one operation. None of them
changes an answer by more than rounding. What an algorithm needs to be right stands beside the algorithm.
"""

# -- kernels and banks: benchmarks/passes.py times whole passes --------------------------------------------------------

# several files
BUFFER_VALUES = 1 << 22  # of what is made of stored matrices or features in memory at a time: 32 MB
PIECE_VALUES = 1 << 22  # that a thread reads or evaluates at a time
TILE_ROWS = 64  # of a tile at least: fewer spend their time on reading the columns' samples

# kernels/categories.py
ONE_HOT_DENSE = 256  # columns up to which an array of zeros and ones is as good as a sparse matrix

# kernels/strings.py
COUNTS_DENSE = 0.05  # share of counts that are not zero, above which a dense product is faster than a sparse one

# kernels/interactions.py
ANOVA_TILE = 1 << 16  # values of one degree at a time: those of all degrees stay in the cache

# kernels/monomials.py
MONOMIALS_CHUNK = 512  # monomials at a time: 512 n values in memory, and a product worth BLAS
MONOMIALS_BLOCK = 64  # monomials multiplied at a time: their values stay in the cache

# statistics/summing.py
SUMS_STRIPS = 16  # of the sums of products of features: what is computed above their diagonal is lost

# banks/base.py
SUPPORT_SHARE = 0.7  # of the samples in a form or a product, up to which leaving out the others saves time

# banks/array_bank.py
ARRAY_VALUES = 1 << 24  # kernel values on a device at a time: 128 MB

# banks/bind.py
STACK_TINY = 32 << 20  # bytes of a stack that is made in a few milliseconds in any way

# banks/kinds.py
STACK_SMALL = 256 << 20  # bytes of a stored stack up to which a pass over it is faster than new exponentials
DIFFERENCES_FEATURES = 8  # Gaussians on more columns share a matrix of distances, which is one matrix product

# banks/checks.py
SYMMETRY_TILE = 64  # rows compared with columns at a time: both stay in the cache

# banks/columns.py
DIFFERENCES_PIECE = 1 << 20  # differences of columns that a thread forms at a time

# banks/factor.py
FACTOR_COPIED = 1 << 21  # features that are copied at a time: 16 MB

# banks/factor_gram.py
FEATURES_FEW = 20  # samples for each feature from which steps on features cost less than rows of K
ROWS_SMALL = 1000  # samples; the rows of a smaller matrix cost less than steps on features
ROWS_LARGE = 10_000  # samples; the rows of a larger matrix take more memory than features, if these are fewer by half
FEATURES_COPIED = 1 << 24  # values: more features are not copied, 128 MB

# banks/profiles.py
DISTANCES_TILE = 1 << 18  # values of a tile of distances: 2 MB
POWER_FAST = 8  # a higher power takes as long as an exponential

# banks/lazy.py
MATRIX_SMALL = 1 << 22  # values: larger matrices are formed one at a time, not one for each thread

# banks/packed.py
PACKED_PIECE = 1 << 21  # entries that a thread reads at a time: half a millisecond
PACKED_SHORTEST = 1 << 13  # entries of a sum that a thread works on at least, however many matrices are added
PACKED_DENSE = 0.3  # share of the rows in a quadratic form above which reading all rows is faster than skipping some
PACKED_FORMS = 2  # columns of A up to which one form for each is faster than the inner product with A A'
PACKED_KEPT = 8  # times the bytes of a sum: a stack of so many, or more, keeps the sum of all its matrices

# banks/packing.py
UNPACKED_ROWS = 512  # rows of a matrix that a thread unpacks at a time
UNPACKED_LEAST = 16  # the same at least: mirrored they are columns, whose neighbours share two lines of the cache

# banks/powers.py
POWERS_ROWS = 64  # rows of a stored matrix given to a thread at a time

# banks/powers_gram.py
POWERS_TILE = 1 << 20  # values of rows made on demand at a time: 8 MB
POWERS_LEAST = 256  # rows at least: fewer spend their time on reading the columns' samples

# banks/streaming.py
TILES_HELD = 1 << 21  # values in memory where a pass needs the tiles of all matrices together: 16 MB

# banks/subset_rbf.py
SUBSETS_COLUMNS = 0.5  # share of the columns up to which leaving out the others saves time
SUBSETS_GROUP = 1 << 13  # kernels at a time
SUBSETS_SHORTEST = 1 << 9  # pairs that a thread works on at least, however many kernels there are
SUBSETS_STORED = 1 << 23  # kernel values in memory at a time, where tiles are needed: 64 MB

# banks/threads.py
THREADS_VALUES = 1 << 18  # of a matrix: waking threads takes as long as filling a matrix of so many
THREADS_TILE = 1 << 15  # values of a tile that a thread fills at a time: 256 kB
ORDER_SMALL = 800  # the largest order of matrices whose products are faster with one thread

# banks/low_rank/nystroem.py
FEATURES_ROWS = 1024  # rows that are worth a thread
