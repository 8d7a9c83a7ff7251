"""Short forms of names for narrow places, which stay different where the names are different.

Width is counted in Latin letters; a Chinese sign or an emoji has a width of two. Code points that make up one visible
sign, such as a letter with its accents or an emoji made of several, are not separated.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

_JOINER = "\u200d"  # between the parts of one emoji


def room(words: str) -> int:
    """The width of words, in Latin letters."""
    return sum(map(_size, _signs(words)))


def shortened(words: str, width: int) -> str:
    """Words cut to a width: names that begin alike often differ at their ends, so the middle is replaced by "…".

    Parameters
    ----------
    words : in full
    width : of the result, at most
    """
    signs = _signs(words)
    if sum(map(_size, signs)) <= width:
        return words
    end = (width - 1) // 2
    ending = _leading_signs(signs[::-1], end)[::-1]
    return f"{''.join(_leading_signs(signs, width - 1 - end))}…{''.join(ending)}"


def apart(names: Sequence[str], width: int) -> list[str]:
    """Names cut to a width so that different names stay different.

    Each name is first cut in its middle. Where different names become the same short form, they are cut again, around
    the signs in which they differ; where this does not distinguish them either, they are numbered.

    Parameters
    ----------
    names : in full
    width : of each result, at most
    """
    labels = [shortened(name, width) for name in names]
    for short_form in {label for label in labels if labels.count(label) > 1}:
        originals = sorted({name for name, label in zip(names, labels, strict=True) if label == short_form})
        if len(originals) < 2:
            continue
        signs_of_names = [_signs(name) for name in originals]
        start = _common_length(signs_of_names)
        end = _common_length([characters[::-1] for characters in signs_of_names])
        cut_names = [
            _excerpt(characters, start, max(len(characters) - end, start + 1), width) for characters in signs_of_names
        ]
        if len(set(cut_names)) < len(originals):
            cut_names = [f"{shortened(name, width - 4)} ({k})" for k, name in enumerate(originals, 1)]
        by_name = dict(zip(originals, cut_names, strict=True))
        labels = [by_name.get(name, label) for name, label in zip(names, labels, strict=True)]
    return labels


def _signs(words: str) -> list[str]:
    """The visible signs of a text: each is one code point, or several that are shown as one."""
    signs: list[str] = []
    for letter in words:
        tone = "\U0001f3fb" <= letter <= "\U0001f3ff"  # a skin colour, which changes the emoji before it
        continues = letter == _JOINER or unicodedata.category(letter) in ("Mn", "Me") or tone
        if signs and (continues or signs[-1].endswith(_JOINER)):
            signs[-1] += letter
        else:
            signs.append(letter)
    return signs


def _size(sign: str) -> int:
    if unicodedata.east_asian_width(sign[0]) in "WF":
        return 2
    return 1


def _leading_signs(signs: Iterable[str], width: int) -> list[str]:
    """The first signs, as many as fit into a width."""
    prefix = []
    remaining_width = width
    for sign in signs:
        remaining_width -= _size(sign)
        if remaining_width < 0:
            break
        prefix.append(sign)
    return prefix


def _common_length(names: Sequence[Sequence[str]]) -> int:
    """The number of signs with which all names begin."""
    return next((k for k, signs in enumerate(zip(*names, strict=False)) if len(set(signs)) > 1), min(map(len, names)))


def _excerpt(signs: Sequence[str], start: int, stop: int, width: int) -> str:
    """The signs from ``start`` to ``stop``, with as many before and after them as fit."""
    width = width * len(signs) // max(sum(map(_size, signs)), 1)
    spare_width = width - 2 - (stop - start)
    first = max(start - max(spare_width // 2, 0), 0)
    last = min(first + width - 2, len(signs))
    first = max(min(first, last - (width - 2)), 0)
    prefix = "…" if first else ""
    suffix = "…" if last < len(signs) else ""
    return prefix + "".join(signs[first:last]) + suffix
