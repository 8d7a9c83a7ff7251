"""Every number that depends on the machine, beside the benchmark that measured it.

A number stands here where another processor, another BLAS or another amount of memory would make another value better:
sizes from which one way is faster than another, tiles that fit into a cache, seconds of one operation. None of them
changes an answer by more than rounding. What an algorithm needs to be right stands beside the algorithm.
"""
