"""Names that fit where there is little room, and still differ where the names do.

Room is counted in Latin letters; a Chinese sign or a picture takes that of two. Signs that belong together, such as a
letter with its accents or a picture made of several, are not torn apart.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

_JOINER = "\u200d"  # between the parts of one picture


def room(words: str) -> int:
    """The room that words take, in Latin letters."""
    return sum(map(_size, _signs(words)))


def shortened(words: str, most: int) -> str:
    """Words that fit: what begins alike often differs at its end, so the middle is left out.

    Parameters
    ----------
    words : in full
    most : the room for them
    """
    signs = _signs(words)
    if sum(map(_size, signs)) <= most:
        return words
    end = (most - 1) // 2
    last = _first(signs[::-1], end)[::-1]
    return f"{''.join(_first(signs, most - 1 - end))}…{''.join(last)}"


def apart(names: Sequence[str], most: int) -> list[str]:
    """Names that fit, and that differ where the names do: cut where those differ that would be cut to the same.

    Parameters
    ----------
    names : in full
    most : the room for each
    """
    found = [shortened(name, most) for name in names]
    for short in {each for each in found if found.count(each) > 1}:
        own = sorted({name for name, each in zip(names, found, strict=True) if each == short})
        if len(own) < 2:
            continue
        signs = [_signs(name) for name in own]
        start = _alike(signs)
        end = _alike([each[::-1] for each in signs])
        cut = [_around(each, start, max(len(each) - end, start + 1), most) for each in signs]
        if len(set(cut)) < len(own):
            cut = [f"{shortened(name, most - 4)} ({k})" for k, name in enumerate(own, 1)]
        by_name = dict(zip(own, cut, strict=True))
        found = [by_name.get(name, each) for name, each in zip(names, found, strict=True)]
    return found


def _signs(words: str) -> list[str]:
    """What is read as one sign each."""
    found: list[str] = []
    for letter in words:
        tone = "\U0001f3fb" <= letter <= "\U0001f3ff"  # the colour of a skin
        joined = letter == _JOINER or unicodedata.category(letter) in ("Mn", "Me") or tone
        if found and (joined or found[-1].endswith(_JOINER)):
            found[-1] += letter
        else:
            found.append(letter)
    return found


def _size(sign: str) -> int:
    if unicodedata.east_asian_width(sign[0]) in "WF":
        return 2
    return 1


def _first(signs: Iterable[str], most: int) -> list[str]:
    """The first of these signs, as many as fit."""
    found = []
    left = most
    for sign in signs:
        left -= _size(sign)
        if left < 0:
            break
        found.append(sign)
    return found


def _alike(names: Sequence[Sequence[str]]) -> int:
    """The number of signs with which all names begin."""
    return next((k for k, signs in enumerate(zip(*names, strict=False)) if len(set(signs)) > 1), min(map(len, names)))


def _around(signs: Sequence[str], start: int, stop: int, most: int) -> str:
    """A name cut to what is from ``start`` to ``stop``, with as much before and behind as fits."""
    most = most * len(signs) // max(sum(map(_size, signs)), 1)
    free = most - 2 - (stop - start)
    first = max(start - max(free // 2, 0), 0)
    last = min(first + most - 2, len(signs))
    first = max(min(first, last - (most - 2)), 0)
    before = "…" if first else ""
    behind = "…" if last < len(signs) else ""
    return before + "".join(signs[first:last]) + behind
