"""The comparisons of the page, in its order: which program, with what, and where its output contains ratios."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """A comparison.

    Parameters
    ----------
    name, title, about : its name and title, and what it shows
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
        """The arguments of the program."""
        words = (self.quick_ones if quick else self.full).split()
        return [*words, self.data, str(data)] if self.data else words

    def ratios(self, output: str) -> dict[str, float]:
        """The ratios in the output, by label: with the size in the last heading ``n = ...``."""
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
        title="EasyMKL, compared with MKLpy",
        about=(
            "Both compute the same answer on homogeneous polynomials, and the evaluation of kernels is included. "
            "The columns are time, peak memory, and the limit, which is one product of matrices and one pass for "
            "each power."
        ),
        program="easymkl.py",
        full="--sizes 569 2000 5000",
        quick_ones="--rounds 1 --sizes 569",
        packages=(*_OURS, "MKLpy"),
        pattern=r"^\s*multikernel, (?P<label>\w+).*?time (?P<ratio>[\d.]+)",
    ),
    Section(
        name="l1",
        title="403 kernels, compared with a loop around SVC",
        about=(
            "L1-MKL is solved to a certified gap; a plain loop of support vector machines and new weights takes "
            "63 steps and certifies nothing."
        ),
        program="svm_mkl.py",
        full="cancer",
        quick_ones="cancer",
        packages=(*_OURS, "scikit-learn"),
        pattern=r"^(?P<label>no ratios)(?P<ratio>\d)",
    ),
    Section(
        name="svm",
        title="Support vector machines, compared with libsvm",
        about=(
            "Both solve the problem on one matrix to the same certified gap, for single values of C without a "
            "warm start and for a path of fifteen."
        ),
        program="svm.py",
        full="--rounds 3 --only digits breast diabetes german splice",
        quick_ones="--rounds 1 --only breast",
        packages=(*_OURS, "scikit-learn"),
        pattern=r"^(?P<label>.*?(?:C =\s*[\d.]+|path of \d+)).*?libsvm / ours\s+(?P<ratio>[\d.]+)",
    ),
    Section(
        name="ridge_alpha",
        title="Ridges and widths, compared with GridSearchCV",
        about=(
            "Kernel ridge regression with nine widths, ten ridges and five folds; and a path of thirty ridges on "
            "one kernel."
        ),
        program="ridge_alpha.py",
        full="",
        quick_ones="--rounds 1",
        packages=(*_OURS, "scikit-learn"),
        pattern=r"^(?P<label>(?:\d+ widths|path).*?)\s\s+.*?(?P<ratio>[\d.]+)$",
    ),
    Section(
        name="ridge_cv",
        title="Weights with the smallest held-out error, compared with himalaya",
        about=(
            "Multiple-kernel ridge regression on the same stack and folds: the time, and the held-out error of "
            "the weights of each package."
        ),
        program="ridge_cv.py",
        full="--sizes 500x10 500x50",
        quick_ones="--rounds 1 --sizes 500x10",
        packages=(*_OURS, "himalaya", "torch"),
        pattern=r"^\s*(?P<label>himalaya, .*?)\s\s+.*?\(\s*(?P<ratio>[\d.]+) x ours\)",
    ),
    Section(
        name="rls2",
        title="Two-layer least squares, compared with a transcription in NumPy",
        about=(
            "A path of thirty ridges, including the evaluation of kernels. Ours is solved to a certified gap; the "
            "transcription uses the printed stopping rule, and the last columns say how far its values are above "
            "the optimum."
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
        title="On an accelerator, compared with himalaya on the same device",
        about=(
            "Multiple-kernel ridge regression on tensors, including the evaluation of kernels; himalaya is given "
            "the matrices. If there is no accelerator, the comparison is skipped and the page says so."
        ),
        program="arrays.py",
        full="",
        quick_ones="--rounds 1",
        packages=(*_OURS, "himalaya", "torch"),
        pattern=r"^\s*(?P<label>himalaya, there)\s+[\d.]+ s\s+\(\s*(?P<ratio>[\d.]+) x ours\)",
    ),
    Section(
        name="groups",
        title="Groups of features of single cells, compared with scMKL",
        about=(
            "There are 4000 cells and 50 groups of 200 genes, with a Gaussian for each group: processor time and "
            "the area under the curve of test cells. scMKL uses 254 random features for each group, and so does "
            "the second row; the first has exact kernels. Our ridge was chosen with test scores in view and "
            "scMKL's alpha was not chosen, so the times can be compared and the areas cannot. scMKL is left out "
            "where it is not installed."
        ),
        program="groups.py",
        full="",
        quick_ones="--rounds 1 --cells 1000",
        packages=(*_OURS, "scikit-learn"),
        pattern=r"^\s*scMKL beside (?P<label>.*?)\s+(?P<ratio>[\d.]+) times",
    ),
    Section(
        name="tables",
        title="Tables without tuning, compared with xrfm, CatBoost, boosting and a tuned Gaussian",
        about=(
            "The automatic estimator and its peers on the same two folds of at most 600 rows: scores, and "
            "processor seconds. [The whole comparison](tables.md) has 26 sets and five folds. Peers that are not "
            "installed are left out."
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
        title="Thirty Gaussians from 1,000 to 5,000 samples, compared with a loop around SVC and with MKLpy",
        about=(
            "Noisy classes, including the evaluation of kernels. L1 and Lp are solved to a relative gap of 1e-3, "
            "which the loop proves after each machine; it is stopped after eight times our time. The growth of "
            "our time is given below each method."
        ),
        program="peers.py",
        full="",
        quick_ones="--samples 500",
        packages=(*_OURS, "scikit-learn", "MKLpy", "torch"),
        pattern=r"^(?P<label>\w+\s+n =\s*\d+).*ratio\s+(?P<ratio>[\d.]+)$",
    ),
    Section(
        name="passes",
        title="Passes over kernels, compared with the limits of the machine",
        about=(
            "A pass over stored matrices reads them once: the bytes per second are compared with those of a plain "
            "sum over them, and with a copy of memory. Gaussians that are computed on the fly take one "
            "exponential for each entry, and are compared with NumPy's exponential."
        ),
        program="passes.py",
        full="",
        quick_ones="--samples 1000 --rounds 2",
        packages=_OURS,
        pattern=r"^(?P<label>[a-z ,]+float\d\d).*of the limit\s+(?P<ratio>[\d.]+)$",
    ),
)
