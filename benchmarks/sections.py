"""The comparisons of the page, in its order: which program, with what, and where its output tells ratios."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """A comparison.

    Parameters
    ----------
    name, title, about : how it is called, and what it shows
    program : file of this directory
    full, quick_ones : arguments at full size, and for a quick look
    packages : whose versions matter
    pattern : of a line of the output, with the groups ``label`` and ``ratio``, the peer's time by ours
    data : the option that names a directory of data sets, where one is needed
    """

    name: str
    title: str
    about: str
    program: str
    full: str
    quick_ones: str
    packages: tuple[str, ...]
    pattern: str
    data: str | None = None

    def possible(self, data: str | None) -> bool:
        """Whether the data that it needs are there."""
        return self.data is None or data is not None

    def arguments(self, quick: bool, data: str | None) -> list[str]:
        """What stands on the command line after the program."""
        words = (self.quick_ones if quick else self.full).split()
        return [*words, self.data, str(data)] if self.data else words

    def ratios(self, output: str) -> dict[str, float]:
        """The ratios that the output tells, by label: with the size that the last heading ``n = ...`` tells."""
        found, size = dict[str, float](), ""
        for line in output.splitlines():
            if match := re.search(self.pattern, line):
                found[re.sub(r"\s+", " ", f"{size} {match['label']}").strip()] = float(match["ratio"])
            elif heading := re.match(r"n = \d+(?:, \d+ kernels)?", line):
                size = heading[0]
        return found


_OURS = ("multikernel", "numpy", "scipy", "numba")

SECTIONS = (
    Section(
        name="easymkl",
        title="EasyMKL, beside MKLpy",
        about=(
            "Homogeneous polynomials, kernels included, the same answer: time, peak memory, and the limit, "
            "which is one product of matrices and one pass for each power."
        ),
        program="easymkl.py",
        full="--sizes 569 2000 5000",
        quick_ones="--rounds 1 --sizes 569",
        packages=(*_OURS, "MKLpy"),
        pattern=r"^\s*multikernel, (?P<label>\w+).*?time (?P<ratio>[\d.]+)",
    ),
    Section(
        name="l1",
        title="403 kernels, beside a loop around SVC",
        about=(
            "L1-MKL to a certified gap; a plain loop of support vector machines and new weights takes 63 "
            "steps and certifies nothing."
        ),
        program="svm_mkl.py",
        full="cancer",
        quick_ones="cancer",
        packages=(*_OURS, "scikit-learn"),
        pattern=r"^(?P<label>no ratios)(?P<ratio>\d)",
    ),
    Section(
        name="svm",
        title="Support vector machines, beside libsvm",
        about="One matrix, to the same certified gap; single values of C from nothing, and a path of fifteen.",
        program="svm.py",
        full="--rounds 3 --only digits breast diabetes german splice",
        quick_ones="--rounds 1 --only breast",
        packages=(*_OURS, "scikit-learn"),
        pattern=r"^(?P<label>.*?(?:C =\s*[\d.]+|path of \d+)).*?libsvm / ours\s+(?P<ratio>[\d.]+)",
    ),
    Section(
        name="ridge_alpha",
        title="Ridges and widths, beside GridSearchCV",
        about=(
            "Nine widths, ten ridges, five folds of kernel ridge regression; and a path of thirty ridges on one kernel."
        ),
        program="ridge_alpha.py",
        full="",
        quick_ones="--rounds 1",
        packages=(*_OURS, "scikit-learn"),
        pattern=r"^(?P<label>(?:\d+ widths|path).*?)\s\s+.*?(?P<ratio>[\d.]+)$",
    ),
    Section(
        name="ridge_cv",
        title="Weights of least held-out error, beside himalaya",
        about=(
            "Multiple-kernel ridge regression on the same stack and folds: time, and the held-out error of "
            "everybody's weights."
        ),
        program="ridge_cv.py",
        full="--sizes 500x10 500x50",
        quick_ones="--rounds 1 --sizes 500x10",
        packages=(*_OURS, "himalaya", "torch"),
        pattern=r"^\s*(?P<label>himalaya, .*?)\s\s+.*?\(\s*(?P<ratio>[\d.]+) x ours\)",
    ),
    Section(
        name="rls2",
        title="Two-layer least squares, beside a transcription in NumPy",
        about=(
            "A path of thirty ridges, kernels included; ours to a certified gap, the transcription with the "
            "printed stopping rule, whose values are above the optimum by what the last columns say."
        ),
        program="rls2_path.py",
        full="Housing Sonar",
        quick_ones="--rounds 1 Sonar",
        packages=_OURS,
        pattern=r"^(?P<label>[A-Z]\w+)\s+\d+\s+\d+\s+[\d.]+\s+[\d.]+\s+[\d.]+\s+(?P<ratio>[\d.]+)",
        data="--data-dir",
    ),
    Section(
        name="arrays",
        title="On an accelerator, beside himalaya on the same device",
        about=(
            "Multiple-kernel ridge regression on tensors, kernels included; himalaya gets the matrices. Skipped, and "
            "said so, where there is no accelerator."
        ),
        program="arrays.py",
        full="",
        quick_ones="--rounds 1",
        packages=(*_OURS, "himalaya", "torch"),
        pattern=r"^\s*(?P<label>himalaya, there)\s+[\d.]+ s\s+\(\s*(?P<ratio>[\d.]+) x ours\)",
    ),
    Section(
        name="groups",
        title="Groups of features of single cells, beside scMKL",
        about=(
            "4000 cells, 50 groups of 200 genes, a Gaussian for each: processor time "
            "and the area under the curve of test cells. scMKL makes 254 random features of a group, and so does the "
            "second row; the first has exact kernels. Our ridge was chosen with test scores in view and scMKL's "
            "alpha was not chosen, so the times are a comparison and the areas are none. scMKL is left out where it is "
            "absent."
        ),
        program="groups.py",
        full="",
        quick_ones="--rounds 1 --cells 1000",
        packages=(*_OURS, "scikit-learn"),
        pattern=r"^\s*scMKL beside (?P<label>.*?)\s+(?P<ratio>[\d.]+) times",
    ),
    Section(
        name="tables",
        title="Tables without tuning, beside xrfm, CatBoost, boosting and a tuned Gaussian",
        about=(
            "The automatic estimator and its peers on the same two folds of at most 600 rows: scores, and processor "
            "seconds. [The whole comparison](tables.md) has 26 sets and five folds. Peers that are absent are left out."
        ),
        program="tables.py",
        full="--folds 2 --limit 600 --sets australian german_raw housing_boston pendigits "
        "--methods MultiKernel xrfm CatBoost boosting tuned",
        quick_ones="--folds 2 --limit 200 --sets australian --methods MultiKernel boosting",
        packages=(*_OURS, "scikit-learn", "xrfm", "catboost"),
        pattern=r"^(?P<label>no ratios)(?P<ratio>\d)",
        data="--data",
    ),
    Section(
        name="peers",
        title="Thirty Gaussians from 1,000 to 5,000 samples, beside a loop around SVC, and MKLpy",
        about=(
            "Classes with noise, kernels included. L1 and Lp to a relative gap of 1e-3, which the loop proves after "
            "each machine; it is stopped after eight times our time. How our time grows stands below each method."
        ),
        program="peers.py",
        full="",
        quick_ones="--samples 500",
        packages=(*_OURS, "scikit-learn", "MKLpy", "torch"),
        pattern=r"^(?P<label>\w+\s+n =\s*\d+).*ratio\s+(?P<ratio>[\d.]+)$",
    ),
    Section(
        name="passes",
        title="Passes over kernels, beside the limits of the machine",
        about=(
            "A pass over stored matrices reads them once: bytes a second beside what a plain sum over them reads, and "
            "beside a copy of memory. Gaussians that are made on the fly take an exponential each: beside NumPy's."
        ),
        program="passes.py",
        full="",
        quick_ones="--samples 1000 --rounds 2",
        packages=_OURS,
        pattern=r"^(?P<label>[a-z ,]+float\d\d).*of the limit\s+(?P<ratio>[\d.]+)$",
    ),
)
