"""The page of comparisons says what their programs print, and ratios that fall are noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

import page
from sections import SECTIONS

PRINTED = {
    "easymkl": (
        "  multikernel, svc   76.8 ms  5 MB above import  357 MB in all   MKLpy / ours: time 59.5 (59.5 to 59.5)",
        {"svc": 59.5},
    ),
    "svm": (
        "breast cancer   n =  569  gap 1e-02  C =   0.1   0.86 ms  libsvm / ours   2.90  (128 steps, gap 3e-06)\n"
        "breast cancer   n =  569  gap 1e-02  path of 15   12.00 ms  libsvm / ours   2.68",
        {"breast cancer n = 569 gap 1e-02 C = 0.1": 2.90, "breast cancer n = 569 gap 1e-02 path of 15": 2.68},
    ),
    "ridge_alpha": (
        "9 widths x 10 alphas, 5 folds     9.237     2.646     1.837     0.539      5.0      4.9\n"
        "path of 30 alphas                0.589     0.183     0.170     0.044      3.5      4.1",
        {"9 widths x 10 alphas, 5 folds": 4.9, "path of 30 alphas": 4.1},
    ),
    "ridge_cv": (
        "  himalaya, gradient      4.817 s (   8.7 x ours)  held-out error 0.08525",
        {"himalaya, gradient": 8.7},
    ),
    "arrays": ("  himalaya, there     8.163 s   (  10.2 x ours)", {"himalaya, there": 10.2}),
    "groups": (
        "  scMKL beside RLS2, random features     10.1 times the processor time",
        {"RLS2, random features": 10.1},
    ),
    "rls2": ("Sonar       125  793    0.639   0.549   1.59    2.5      9.42   14.7      3e-05", {"Sonar": 2.5}),
}


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)
def test_programs_are_there_and_ratios_are_read(section):
    assert (Path(page.__file__).parent / section.program).is_file()
    printed, ratios = PRINTED.get(section.name, ("", {}))
    assert section.ratios(printed) == ratios


def test_the_page_tells_what_ran_and_what_did_not():
    ran = page.Run("their words", 3.0, True, "2030-01-02", "a processor, 2 cores", {"numpy": "2.0", "xrfm": "1"})
    text = page.page({"svm": ran})
    assert "```text\ntheir words\n```" in text
    assert "2030-01-02; small sizes, one round, on a machine in use; a processor, 2 cores; numpy 2.0." in text
    assert text.count("Not run.") == len(SECTIONS) - 1


def test_a_ratio_that_fell_is_named():
    ran = {"rls2": page.Run(PRINTED["rls2"][0], 1.0, False, "", "")}
    assert page.fallen(ran, {"rls2": {"Sonar": 2.6}}) == []
    (sentence,) = page.fallen(ran, {"rls2": {"Sonar": 5.0}})
    assert "2.50 times as fast as the peer, it was 5.00" in sentence


def test_a_program_that_failed_is_named():
    ran = {"svm": page.Run("ended with status 1: no memory", 1.0, False, "", "")}
    (sentence,) = page.fallen(ran, {})
    assert "the program failed" in sentence
