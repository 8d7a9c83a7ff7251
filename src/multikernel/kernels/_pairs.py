"""Compiled kernels of pairs of sequences and of trees: one sample against several; no lock is held.

All samples are in one array; sample j is from starts[j] to starts[j + 1].
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def subsequences(codes, starts, i, first, length, decay, out):  # type: ignore[no-untyped-def]
    """The sum over common subsequences of one length, each weighted by decay to the power of the lengths it spans.

    Entry (l, b) of the tables is the sum over common subsequences of length l of x[:a] and z[:b], each weighted by
    decay to the power of the lengths from its first character to the ends of both prefixes.
    """
    x = codes[starts[i] : starts[i + 1]]
    longest = 0
    for j in range(first, first + len(out)):
        longest = max(longest, starts[j + 1] - starts[j])
    before, after = np.zeros((length, longest + 1)), np.zeros((length, longest + 1))
    before[0], after[0] = 1.0, 1.0
    square = decay * decay
    for column in range(len(out)):
        z = codes[starts[first + column] : starts[first + column + 1]]
        before[1:, : len(z) + 1] = 0.0
        after[1:, : len(z) + 1] = 0.0
        total = 0.0
        for a in range(len(x)):
            for b in range(len(z)):
                if x[a] == z[b]:
                    total += square * before[length - 1, b]
            for level in range(1, length):
                ending = 0.0
                for b in range(len(z)):
                    ending *= decay
                    if x[a] == z[b]:
                        ending += square * before[level - 1, b]
                    after[level, b + 1] = decay * before[level, b + 1] + ending
            before, after = after, before
        out[column] = total


@njit(nogil=True, cache=True)
def mismatches(codes, starts, i, first, length, shared, out):  # type: ignore[no-untyped-def]
    """The sum over pairs of substrings of one length of shared[the number of positions in which they differ].

    The number of differing positions is updated along each diagonal. Substrings with a code below 0 do not count.
    """
    x = codes[starts[i] : starts[i + 1]]
    for column in range(len(out)):
        z = codes[starts[first + column] : starts[first + column + 1]]
        total = 0.0
        for offset in range(length - len(x), len(z) - length + 1):
            a, b = max(0, -offset), max(0, offset)
            differ, unknown = 0, 0
            for t in range(min(len(x) - a, len(z) - b)):
                differ += x[a + t] != z[b + t]
                unknown += (x[a + t] < 0) | (z[b + t] < 0)
                if t >= length:
                    s = t - length
                    differ -= x[a + s] != z[b + s]
                    unknown -= (x[a + s] < 0) | (z[b + s] < 0)
                if t >= length - 1 and unknown == 0 and differ < len(shared):
                    total += shared[differ]
        out[column] = total


@njit(nogil=True, cache=True)
def rational(codes, kinds, starts, i, first, moves, outer_of_letter, sum_of_letter, final, out):  # type: ignore[no-untyped-def]
    """The sum over pairs of equal substrings of the square of the weight that an automaton gives them.

    Along each diagonal V is the sum of v v' over the equal substrings that end at the current position, where v are
    their forward weights. With the next equal character, whose moves are M, V becomes M'V M plus ``outer_of_letter``,
    the v v' of the substring of this character only. ``sum_of_letter`` is what such a substring adds to the total; most
    pairs of substrings are so short that they need no V.
    """
    x, of_x = codes[starts[i] : starts[i + 1]], kinds[starts[i] : starts[i + 1]]
    states = len(final)
    V, W = np.empty((states, states)), np.empty((states, states))
    for column in range(len(out)):
        z = codes[starts[first + column] : starts[first + column + 1]]
        total = 0.0
        for offset in range(1 - len(x), len(z)):
            a, b = max(0, -offset), max(0, offset)
            run = 0
            for t in range(min(len(x) - a, len(z) - b)):
                if x[a + t] != z[b + t]:
                    run = 0
                    continue
                run += 1
                kind = of_x[a + t]
                if run == 1:
                    total += sum_of_letter[kind]
                    continue
                if run == 2:
                    for r in range(states):
                        for s in range(states):
                            V[r, s] = outer_of_letter[of_x[a + t - 1], r, s]
                M = moves[kind]
                for r in range(states):
                    for s in range(states):
                        value = 0.0
                        for u in range(states):
                            value += M[u, r] * V[u, s]
                        W[r, s] = value
                for r in range(states):
                    for s in range(states):
                        value = outer_of_letter[kind, r, s]
                        for u in range(states):
                            value += W[r, u] * M[u, s]
                        V[r, s] = value
                        total += final[r] * final[s] * value
        out[column] = total


@njit(nogil=True, cache=True)
def trees(rules, firsts, children, order, starts, i, first, decay, cut, out):  # type: ignore[no-untyped-def]
    """The number of common fragments of ordered trees, by pairs of nodes at which the fragments begin.

    The inner children of a node, those that have children themselves, are children[firsts[node]] to
    children[firsts[node + 1]], and come before the node; ``cut`` is 1 where a fragment may end at such a child, else 0.
    ``order`` sorts the nodes of each tree by their rules, so that only pairs with the same rule are visited.
    """
    x_start, x_end = starts[i], starts[i + 1]
    longest = 0
    for j in range(first, first + len(out)):
        longest = max(longest, starts[j + 1] - starts[j])
    table = np.empty((x_end - x_start, longest))
    for column in range(len(out)):
        z_start, z_end = starts[first + column], starts[first + column + 1]
        total = 0.0
        for a in range(x_start, x_end):
            rule = rules[a]
            s, t = z_start, z_end  # the first node of this rule by bisection
            while s < t:
                middle = (s + t) // 2
                if rules[order[middle]] < rule:
                    s = middle + 1
                else:
                    t = middle
            while s < z_end and rules[order[s]] == rule:
                b = order[s]
                value = decay
                for c in range(firsts[a + 1] - firsts[a]):
                    p, q = children[firsts[a] + c], children[firsts[b] + c]
                    value *= cut + (table[p - x_start, q - z_start] if rules[p] == rules[q] else 0.0)
                table[a - x_start, b - z_start] = value
                total += value
                s += 1
        out[column] = total
