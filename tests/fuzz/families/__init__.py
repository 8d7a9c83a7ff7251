"""Every estimator that certifies a problem: how its cases are drawn, and the problem that a model claims to solve.

A claim is a problem, the published weights, coefficients and intercept, and the published value. The judge tells
whether the published gap holds for it.
"""

from __future__ import annotations

from fuzz.claims import Family
from fuzz.families import held_out, not_convex, products, ridge, rules, sample_dependent, support
from fuzz.families.several import joint, several

_ROOMS = (support, ridge, rules, not_convex, products, held_out, sample_dependent)

FAMILIES: dict[str, Family] = {name: family for room in _ROOMS for name, family in room.FAMILIES.items()}
SEVERAL = ("L1MKLClassifier", "LpMKLClassifier", "SMKLClassifier", "EasyMKLClassifier", "RLS2Classifier")
FAMILIES |= {f"{name}, several classes": several(FAMILIES[name]) for name in SEVERAL}
JOINT = ("L1MKLClassifier", "LpMKLClassifier")
FAMILIES |= {f"{name}, classes at once": joint(FAMILIES[name]) for name in JOINT}
