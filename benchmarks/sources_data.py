"""Public sets of several sources of the same samples, as the files that ``sources.py`` reads.

    python benchmarks/sources_data.py FOLDER [--raw DIR] [--only SET ...]

A set becomes FOLDER/SET_SOURCE.csv.gz, a file for each source, whose first column ``row`` names the sample, and
FOLDER/SET_target.csv.gz. Files are downloaded from the public repositories below, each at one commit, or taken from
--raw, where they lie under their own names. R's files are read by the package ``rdata``, Matlab's by scipy. Nothing is
scaled; what is left out is said with the set.

rosmap       351 people, mRNA, methylation, miRNA (200 columns each, chosen by its authors), Alzheimer's disease or not:
             Wang et al. (2021), MOGONET, github.com/txWang/MOGONET; its two parts are put together
breast       150 tumours, mRNA, miRNA, protein, three subtypes: The Cancer Genome Atlas, in R's package mixOmics
             (breast.TCGA; its 70 test samples have no proteins and are left out)
drugs        58 cell lines of the NCI, ABC transporters and effects of compounds, eight tissues: Szakacs et al. (2004),
             in mixOmics (multidrug; with missing cells; the tissue of two lines only is left out)
news3        169 stories by three newspapers, counts of words in each, six topics: Greene and Cunningham (2009)
bbc          685 stories, counts of words in four segments, five topics: Greene and Cunningham, BBC
webkb        203 web pages, words, links in, links out, four kinds: Craven et al. (1998), WebKB, Cornell
prokaryotic  551 species, words of texts, composition of proteins, genes, four groups: Brbic et al. (2016)
msrc         210 images, six sets of features, seven objects: Winn and Jojic (2005), MSRC v1
leaves       1,600 leaves, shape, margin, texture, a hundred species: Mallah et al. (2013)
liver        64 rats after paracetamol, genes, treatment (dose and time), seven values of the blood; the target
             is a number, the logarithm of the liver's enzyme ALT: Bushel et al. (2007), in mixOmics (liver.toxicity;
             the two other enzymes of the liver, which rise with it, are left out)
solubility   1,128 molecules, how often each run of one to three characters of their SMILES occurs, six descriptors; the
             target is a number, the logarithm of the solubility in water: Delaney (2004), as in MoleculeNet
"""

from __future__ import annotations

import argparse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.io import loadmat
from sklearn.feature_extraction.text import CountVectorizer

MOGONET = "txWang/MOGONET/32d9066b7fe289b3f7cdb496a5668834079c274c"
MIXOMICS = "cran/mixOmics/afb4ed352bd4e2e2ce8c072793e7de9943cda67f"
MOLECULES = "jenna-fromer/qPO/d0386e99b12c5f5e64ebc07eed426f4648cc983a"
COLLECTION = "YilinZhang107/Multi-view-Datasets/2ebc3a40834f321e52db5007c05ab76e8365c2c0"
ADDRESS = "https://raw.githubusercontent.com"

Sources = dict[str, pd.DataFrame]


@dataclass(frozen=True)
class Raw:
    """Files as they were published.

    Parameters
    ----------
    folder : where they are kept, under their paths in their repositories
    """

    folder: Path

    def path(self, repository: str, name: str) -> Path:
        """A file, downloaded where it is not there yet."""
        kept = self.folder / name
        if not kept.is_file():
            kept.parent.mkdir(parents=True, exist_ok=True)
            urllib.request.urlretrieve(f"{ADDRESS}/{repository}/{name}", kept)
        return kept

    def matlab(self, name: str) -> dict[str, Any]:
        return loadmat(self.path(COLLECTION, f"{name}.mat"))

    def r(self, name: str) -> Any:
        import rdata

        return rdata.read_rda(self.path(MIXOMICS, f"data/{name}.rda"))[name]


def rosmap(raw: Raw) -> tuple[Sources, Any]:
    def both(name: str) -> pd.DataFrame:
        parts = [raw.path(MOGONET, f"ROSMAP/{name}_{part}.csv") for part in ("tr", "te")]
        return pd.concat([pd.read_csv(part, header=None) for part in parts], ignore_index=True)

    sources = {name: both(str(k + 1)) for k, name in enumerate(("mrna", "methylation", "mirna"))}
    return sources, both("labels")[0].astype(int)


def breast(raw: Raw) -> tuple[Sources, Any]:
    found = raw.r("breast.TCGA")["data.train"]
    return {name: _frame(found[name]) for name in ("mrna", "mirna", "protein")}, np.asarray(found["subtype"])


def drugs(raw: Raw) -> tuple[Sources, Any]:
    found = raw.r("multidrug")
    tissue = pd.Series(np.asarray(found["cell.line"]["Class"]).astype(str))
    common = (tissue.map(tissue.value_counts()) > 2).to_numpy()
    sources = {"transporters": _frame(found["ABC.trans"]), "compounds": _frame(found["compound"])}
    return {name: source[common] for name, source in sources.items()}, tissue[common]


def news3(raw: Raw) -> tuple[Sources, Any]:
    found = raw.matlab("3sources")
    names = {"bbc": "X1", "guardian": "X2", "reuters": "X3"}
    return {name: pd.DataFrame(found[key]) for name, key in names.items()}, found["truth"]


def bbc(raw: Raw) -> tuple[Sources, Any]:
    found = raw.matlab("BBC4view_685")
    parts = [pd.DataFrame(part.toarray().T.astype(int)) for part in found["data"].ravel()]
    return {f"segment{k + 1}": part for k, part in enumerate(parts)}, found["truelabel"].ravel()[0]


def webkb(raw: Raw) -> tuple[Sources, Any]:
    found = raw.matlab("webkb")
    parts = [pd.DataFrame(part) for part in found["X"].ravel()]
    return dict(zip(("words", "in", "out"), parts, strict=True)), found["Y"]


def prokaryotic(raw: Raw) -> tuple[Sources, Any]:
    found = raw.matlab("prokaryotic")
    names = {"texts": "text", "proteins": "proteome_comp", "genes": "gene_repert"}
    return {name: pd.DataFrame(found[key]) for name, key in names.items()}, found["truth"]


def msrc(raw: Raw) -> tuple[Sources, Any]:
    found = raw.matlab("MSRCV1_6views")
    return {f"features{k}": pd.DataFrame(found[f"x{k}"]) for k in range(1, 7)}, found["gt"]


def leaves(raw: Raw) -> tuple[Sources, Any]:
    found = raw.matlab("100Leaves")
    parts = [pd.DataFrame(part) for part in found["X"].ravel()]
    return dict(zip(("shape", "margin", "texture"), parts, strict=True)), found["Y"]


def liver(raw: Raw) -> tuple[Sources, Any]:
    found = raw.r("liver.toxicity")
    treatment = found["treatment"][["Dose.Group", "Time.Group"]].astype(float)
    blood = found["clinic"].drop(columns=["ALT.IU.L.", "SDH.IU.L.", "AST.IU.L."])
    sources = {"genes": found["gene"], "treatment": treatment, "blood": blood}
    return {name: _frame(source) for name, source in sources.items()}, np.log(found["clinic"]["ALT.IU.L."])


def solubility(raw: Raw) -> tuple[Sources, Any]:
    found = pd.read_csv(raw.path(MOLECULES, "data/delaney-processed.csv"))
    counts = CountVectorizer(analyzer="char", ngram_range=(1, 3), lowercase=False, min_df=2)
    runs = _frame(counts.fit_transform(found["smiles"]).toarray())
    first = found.columns.get_loc("Minimum Degree")  # after the name and a published model's prediction
    return {"runs": runs, "descriptors": _frame(found.iloc[:, first : first + 6])}, found.iloc[:, first + 6]


SETS: dict[str, Callable[[Raw], tuple[Sources, Any]]] = {
    each.__name__: each
    for each in (rosmap, breast, drugs, news3, bbc, webkb, prokaryotic, msrc, leaves, liver, solubility)
}


def _frame(values: Any) -> pd.DataFrame:
    return pd.DataFrame(np.asarray(values))


def files(name: str, raw: Raw) -> Iterator[tuple[str, pd.DataFrame]]:
    """The names of the files of a set and what they hold."""
    sources, target = SETS[name](raw)
    for source, values in sources.items():
        yield source, values.reset_index(drop=True).set_axis([f"x{j}" for j in range(values.shape[1])], axis=1)
    yield "target", pd.DataFrame({"target": np.ravel(target)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--raw", type=Path, help="files as published; FOLDER/raw by default")
    parser.add_argument("--only", nargs="+", choices=list(SETS), default=list(SETS))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    raw = Raw(options.raw or options.folder / "raw")
    for name in options.only:
        for part, values in files(name, raw):
            values.to_csv(options.folder / f"{name}_{part}.csv.gz", index_label="row")
            print(f"{name}_{part}.csv.gz: {values.shape[0]} rows, {values.shape[1]} columns")


if __name__ == "__main__":
    main()
