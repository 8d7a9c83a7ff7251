"""Files of models that were damaged, forged or left behind, and the names of classes in them."""

from __future__ import annotations

import inspect
import io
import json
import os
import pkgutil
import subprocess
import sys
import tracemalloc
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import is_dataclass
from hashlib import blake2b
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import multikernel as mk
from multikernel import kernels
from multikernel.persistence import read
from multikernel.persistence.names import class_of, name_of

X, SPECIES = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A model's file."""
    path = tmp_path_factory.mktemp("models") / "model.mk"
    mk.save(make_pipeline(StandardScaler(), mk.L1MKLClassifier(kernels.rbf_grid([0.1, 1.0]))).fit(X, SPECIES), path)
    return path.read_bytes()


def rewritten(content: bytes, change: Callable[[dict[str, Any], dict[str, bytes]], Any], seal: bool = True) -> bytes:
    """A file whose header and members were changed, and which is a valid zip, with the digests that belong to it."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    header = json.loads(parts.pop("header.json"))
    change(header, parts)
    if seal:
        digests = {name.removesuffix(".npy"): digest(part) for name, part in parts.items() if name.endswith(".npy")}
        header["digests"] = digests
        parts["header.digest"] = digest(json.dumps(header).encode()).encode()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps(header))
        for name, part in parts.items():
            file.writestr(name, part)
    return out.getvalue()


def digest(part: bytes) -> str:
    return blake2b(part, digest_size=16).hexdigest()


def npy(text: str, data: bytes = b"") -> bytes:
    """A member in NumPy's format whose header is this text."""
    padded = text.ljust(118) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode() + data


HUGE = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1000000000000), }", bytes(160))
OBJECTS = npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", b"cos\nsystem\n(S'true'\ntR.")
FORGED: dict[str, Callable[[dict[str, Any], dict[str, bytes]], Any]] = {
    "sizes beyond memory": lambda header, parts: parts.update({"a0.npy": HUGE}),
    "pickled objects": lambda header, parts: parts.update({"a0.npy": OBJECTS}),
    "many megabytes of zeros": lambda header, parts: parts.update({"a0.npy": bytes(1 << 26)}),
    "an array that is missing": lambda header, parts: parts.pop("a0.npy"),
    "no format": lambda header, parts: header.pop("format"),
    "no version": lambda header, parts: header.pop("version"),
    "a version that is a word": lambda header, parts: header.update(version="two"),
    "a later version": lambda header, parts: header.update(version=99),
    "no model": lambda header, parts: header.pop("model"),
    "metadata that is a number": lambda header, parts: header.update(metadata=3),
    "a version of multikernel that is nothing": lambda header, parts: header.update(multikernel=None),
    "an empty part": lambda header, parts: header.update(model={}),
    "an unknown part": lambda header, parts: header.update(model={"pickle": "..."}),
    "objects of another shape": lambda header, parts: header.update(model={"objects": [1], "shape": [2, 10**12]}),
    "a type that is none": lambda header, parts: header.update(model={"dtype": "nonsense"}),
    "a key that is a list": lambda header, parts: header.update(model={"dict": [[[1], 2]]}),
    "a field from elsewhere": lambda header, parts: header.update(
        model={"dataclass": "multikernel.kernels:RBF", "state": {"gamma": 1.0, "width": 2.0}}
    ),
    "an index beyond the shape": lambda header, parts: header.update(
        model={"csr": [{"objects": [1.0], "shape": [1]}, [7], [0, 1]], "shape": [1, 2], "matrix": False}
    ),
}


def swapped(header: dict[str, Any], parts: dict[str, bytes]) -> None:
    """The contents of two arrays of the same size."""
    names = sorted(name for name in parts if name.endswith(".npy"))
    one, two = next(pair for pair in combinations(names, 2) if len(parts[pair[0]]) == len(parts[pair[1]]))
    parts[one], parts[two] = parts[two], parts[one]


def retyped(header: dict[str, Any], parts: dict[str, bytes]) -> None:
    parts["a0.npy"] = parts["a0.npy"].replace(b"<f8", b"<i8")


ALTERED: dict[str, Callable[[dict[str, Any], dict[str, bytes]], Any]] = {
    "two arrays": swapped,
    "the type of an array": retyped,
    "a parameter": lambda header, parts: header["model"]["state"].update(verbose=True),
    "the digests of arrays": lambda header, parts: header.update(digests={}),
    "the digest of the header": lambda header, parts: parts.pop("header.digest"),
    "the format": lambda header, parts: header.update(version=2),
}


@pytest.mark.parametrize("change", ALTERED.values(), ids=ALTERED)
def test_what_was_altered_after_it_was_saved_is_refused(
    change: Callable[..., Any], content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "altered.mk"
    path.write_bytes(rewritten(content, change, seal=False))
    with pytest.raises(ValueError, match=r"altered\.mk cannot be loaded: (its header was altered|the digest)"):
        mk.load(path)


@pytest.mark.parametrize("change", [swapped, retyped], ids=["swapped", "retyped"])
def test_an_array_that_is_not_the_one_saved_is_refused(
    change: Callable[..., Any], content: bytes, tmp_path: Path
) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    change({}, parts)
    with zipfile.ZipFile(tmp_path / "altered.mk", "w") as file:
        for name, part in parts.items():
            file.writestr(name, part)
    with pytest.raises(
        ValueError, match=r"altered\.mk cannot be loaded: its array a\d+ was altered after it was saved"
    ):
        mk.load(tmp_path / "altered.mk")


@pytest.mark.parametrize(
    "name",
    [
        "multikernel.__main__:X",
        "multikernel.app:X",
        "sklearn.conftest:X",
        "sklearn.experimental.enable_iterative_imputer:X",
    ],
)
def test_loading_imports_no_module_that_models_are_not_made_of(name: str, content: bytes, tmp_path: Path) -> None:
    path, module = tmp_path / "m.mk", name.partition(":")[0]
    path.write_bytes(rewritten(content, lambda header, parts: header.update(model={"estimator": name, "state": {}})))
    before = sys.modules.pop(module, None)
    try:
        with pytest.raises(ValueError, match=r"is not a class of multikernel or scikit-learn that models are made of"):
            mk.load(path)
        assert module not in sys.modules
    finally:
        sys.modules.update({} if before is None else {module: before})


@pytest.mark.parametrize("part", ["[],", '{"dict":[]},', '{"a":1},', "1.5,"])
def test_a_header_of_many_values_is_refused_before_they_are_made(part: str, content: bytes, tmp_path: Path) -> None:
    def many(header: dict[str, Any], parts: dict[str, bytes]) -> None:
        header["model"] = "MANY"

    forged = rewritten(content, many, seal=False)
    with zipfile.ZipFile(io.BytesIO(forged)) as file:
        text = file.read("header.json").decode().replace('"MANY"', f"[{part * 200_000}0]").encode()
    path = tmp_path / "many.mk"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", text)
        file.writestr("header.digest", digest(text))
    tracemalloc.start()
    try:
        with pytest.raises(
            ValueError, match=r"many\.mk cannot be loaded: it would unpack to more than 200 times its size"
        ):
            mk.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 * len(text) + (1 << 20)


@pytest.mark.parametrize(
    ("packing", "names", "message"),
    [
        (zipfile.ZIP_LZMA, ["header.json"], "it is packed in another way than save packs"),
        (zipfile.ZIP_DEFLATED, ["header.json", "header.json"], "it holds two members of the same name"),
    ],
)
def test_a_zip_that_save_does_not_write_is_refused(
    packing: int, names: list[str], message: str, content: bytes, tmp_path: Path
) -> None:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        header = file.read("header.json")
    with zipfile.ZipFile(tmp_path / "m.mk", "w", packing) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of names that are there already
        for name in names:
            file.writestr(name, header)
    with pytest.raises(ValueError, match=message):
        mk.load(tmp_path / "m.mk")


def test_one_array_in_many_sparse_matrices_is_counted_each_time(tmp_path: Path) -> None:
    def many(header: dict[str, Any], parts: dict[str, bytes]) -> None:
        header["metadata"]["dict"][0][1] = [header["metadata"]["dict"][0][1] for _ in range(1000)]

    path = tmp_path / "m.mk"
    mk.save(mk.RLS2Regressor(), path, {"matrix": sparse.csr_array(np.ones((1, 100_000)))})
    path.write_bytes(rewritten(path.read_bytes(), many))
    with pytest.raises(ValueError, match=r"unpack to more than 200 times its size"):
        mk.load(path)


def test_a_header_of_many_equal_values_is_read_again(tmp_path: Path) -> None:
    mk.save(mk.RLS2Regressor(), tmp_path / "m.mk", {"values": [[0, "", []]] * 20_000})
    assert read(tmp_path / "m.mk")[1] == {"values": [[0, "", []]] * 20_000}


@pytest.mark.parametrize("thing", [{"a": 1}, [1], None, 3, "text", np.ones(2), mk.RLS2Regressor, len])
def test_what_is_no_model_is_not_saved(thing: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"save: model must be an estimator of multikernel or scikit-learn, got "):
        mk.save(thing, tmp_path / "m.mk")
    assert list(tmp_path.iterdir()) == []


WRONG_NAMES = {
    "None": (None, TypeError, "got None of type NoneType"),
    "a number": (3.5, TypeError, "got 3.5 of type float"),
    "a descriptor of an open file": (0, TypeError, "got 0 of type int"),
    "bytes": (b"model.mk", TypeError, "of type bytes"),
    "empty": ("", ValueError, "is an empty string"),
    "with NUL": ("a\0b", ValueError, "holds a character that no file's name may hold"),
    "half of a surrogate pair": ("a\ud800b", ValueError, "holds a character that no file's name may hold"),
    "too long": ("a" * 400, ValueError, "too long for the name of a file"),
    "too long a path": ("a/" * 4000, ValueError, "too long for the name of a file"),
}
NAMING = {
    "save": lambda name: mk.save(mk.RLS2Regressor(), name),
    "load": mk.load,
    "read": read,
    "checkpoints": mk.checkpoints,
    "streams.csv": lambda name: mk.streams.csv([name]),
    "streams.parquet": lambda name: mk.streams.parquet([name]),
    "write_predictions": lambda name: mk.streams.write_predictions(
        mk.AverageMKLRegressor(alpha=0.1).fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0]),
        mk.streams.arrays(np.zeros((2, 1))),
        name,
    ),
}


@pytest.mark.parametrize("what", NAMING)
@pytest.mark.parametrize("wrong", WRONG_NAMES)
def test_a_name_that_no_file_can_have_is_refused(
    wrong: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name, error, sentence = WRONG_NAMES[wrong]
    with pytest.raises(error, match=sentence) as refused:
        NAMING[what](name)
    assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_a_name_as_long_as_the_system_allows_is_taken(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 126 + ".mk")  # 255 bytes
    mk.save(mk.RLS2Regressor(alpha=0.5), path)
    assert mk.load(path).alpha == 0.5
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("metadata", ["text", ["a"], 3, 0, ""])
def test_metadata_are_a_dict(metadata: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"metadata is a dict"):
        mk.save(mk.RLS2Regressor(), tmp_path / "m.mk", metadata=metadata)
    assert list(tmp_path.iterdir()) == []


def test_metadata_come_back_as_they_were(tmp_path: Path) -> None:
    told = {
        "score": np.float32(0.5),
        "n": np.int64(3),
        "pairs": (1, 2),
        7: None,
        "means": np.arange(3.0),
        "x": {"y": []},
    }
    mk.save(mk.RLS2Regressor(), tmp_path / "m.mk", metadata=told)
    again = read(tmp_path / "m.mk")[1]
    np.testing.assert_array_equal(again.pop("means"), told.pop("means"))
    assert again == told
    with pytest.raises(TypeError, match=r"cannot save metadata\['when'\]\[1\]: a object has no form"):
        mk.save(mk.RLS2Regressor(), tmp_path / "m.mk", metadata={"when": [0, object()]})


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.datetime64("2020-01-01", "ns"), "a datetime64 has no form"),  # item() is an int
        (np.timedelta64(5, "ns"), "a timedelta64 has no form"),
        (np.longdouble(1.5), "a longdouble has no form"),  # item() is the same
        (np.array([(1, "a")], dtype=[("a", int), ("b", object)]), "an array of .* holds objects"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_numbers_that_json_does_not_know_are_not_saved(value: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=rf"cannot save metadata\['value'\]: {said}"):
        mk.save(mk.RLS2Regressor(), tmp_path / "m.mk", metadata={"value": value})


def test_what_holds_itself_is_not_saved(tmp_path: Path) -> None:
    endless: list[Any] = []
    endless.append(endless)
    for model, metadata in ((mk.RLS2Regressor(kernels=endless), {}), (mk.RLS2Regressor(), {"a": endless})):
        with pytest.raises(ValueError, match=r"cannot be saved: something in them holds itself"):
            mk.save(model, tmp_path / "m.mk", metadata)
    assert list(tmp_path.iterdir()) == []


def test_a_device_is_no_model(tmp_path: Path) -> None:
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")  # opening it would wait for somebody who writes
        with pytest.raises(OSError, match=r"pipe is a directory or a device"):
            mk.load(tmp_path / "pipe")
    with pytest.raises(OSError, match="is a directory or a device"):
        mk.load(tmp_path)


@pytest.mark.parametrize("change", FORGED.values(), ids=FORGED)
def test_a_forged_file_is_refused_in_a_sentence_that_names_it(
    change: Callable[..., Any], content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "forged.mk"
    path.write_bytes(rewritten(content, change))
    with pytest.raises(ValueError, match=r"forged\.mk .*(cannot be loaded|damaged)") as caught:
        mk.load(path)
    assert "\n" not in str(caught.value)


def test_empty_words_are_counted_though_they_take_no_bytes_in_the_file(content: bytes, tmp_path: Path) -> None:
    words = npy("{'descr': '<U0', 'fortran_order': False, 'shape': (50000000,), }")
    path = tmp_path / "words.mk"
    path.write_bytes(rewritten(content, lambda header, parts: parts.update({"a0.npy": words})))
    with pytest.raises(ValueError, match="would unpack to more than 200 times its size"):
        mk.load(path)


def test_a_header_of_endless_brackets_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "deep.mk", "w") as file:
        file.writestr("header.json", "[" * 100_000)
    with pytest.raises(ValueError, match=r"deep\.mk is not a model saved by multikernel"):
        mk.load(tmp_path / "deep.mk")


def altered(content: bytes, seed: int) -> bytes:
    """A copy with some bytes changed, cut out or doubled."""
    rng = np.random.default_rng(seed)
    data = bytearray(content)
    match seed % 4:
        case 0:
            for place in rng.integers(len(data), size=rng.integers(1, 9)):
                data[place] = rng.integers(256)
        case 1:
            del data[rng.integers(len(data)) :]
        case 2:
            first, last = sorted(rng.integers(len(data), size=2))
            del data[first:last]
        case _:
            first, last = sorted(rng.integers(len(data), size=2))
            data[first:first] = data[first:last]
    return bytes(data)


def check_altered(content: bytes, seeds: range, path: Path) -> None:
    expected, unnamed = None, []
    for seed in seeds:
        path.write_bytes(altered(content, seed))
        try:
            model = mk.load(path)
        except ValueError as error:
            unnamed += [] if str(path) in str(error) else [seed]
            continue
        if expected is None:
            path.write_bytes(content)
            expected = mk.load(path).decision_function(X)
        np.testing.assert_array_equal(model.decision_function(X), expected, err_msg=f"seed {seed}")
    assert unnamed == []


def test_altered_files_are_refused_or_mean_the_same(content: bytes, tmp_path: Path) -> None:
    check_altered(content, range(200), tmp_path / "altered.mk")


@pytest.mark.study
def test_ten_thousand_altered_files(content: bytes, tmp_path: Path) -> None:
    check_altered(content, range(10_000), tmp_path / "altered.mk")


def test_what_packs_very_well_is_read_again(tmp_path: Path) -> None:
    zeros = np.zeros(4_000_000)
    mk.save(mk.RLS2Regressor(), tmp_path / "zeros.mk", {"zeros": zeros, "few": np.arange(3)})
    np.testing.assert_array_equal(read(tmp_path / "zeros.mk")[1]["zeros"], zeros)


def test_a_newer_file_says_which_version_it_needs(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "newer.mk"
    path.write_bytes(rewritten(content, lambda header, parts: header.update(version=99, multikernel="9.1")))
    with pytest.raises(ValueError, match=r"saved by multikernel 9\.1 in a newer format; update"):
        mk.load(path)


def test_other_versions_are_told(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other.mk"
    path.write_bytes(rewritten(content, lambda header, parts: header.update({"scikit-learn": "0.19.1"})))
    with pytest.warns(UserWarning, match=r"holds estimators of scikit-learn 0\.19\.1"):
        mk.load(path)
    path.write_bytes(rewritten(content, lambda header, parts: header.update(multikernel="99.0")))
    with pytest.warns(UserWarning, match=r"saved by multikernel 99\.0, newer than"):
        mk.load(path)


def test_a_file_of_a_version_without_a_parameter_gets_its_default(tmp_path: Path) -> None:
    def without(header: dict[str, Any], parts: dict[str, bytes]) -> None:
        del header["model"]["state"]["max_iter"]

    mk.save(mk.L1MKLClassifier(C=2.0, max_iter=7), tmp_path / "m.mk")
    (tmp_path / "m.mk").write_bytes(rewritten((tmp_path / "m.mk").read_bytes(), without))
    again = mk.load(tmp_path / "m.mk")
    assert (again.C, again.max_iter) == (2.0, mk.L1MKLClassifier().max_iter)


def saved_classes() -> list[type]:
    """Every class of the package that a model may hold."""
    modules = []
    for info in pkgutil.walk_packages(mk.__path__, "multikernel."):
        if info.name.split(".")[1] not in ("app", "reproduce", "testing"):
            modules.append(import_module(info.name))
    return [
        cls
        for module in modules
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if cls.__module__ == module.__name__ and (is_dataclass(cls) or issubclass(cls, BaseEstimator))
    ]


def test_every_class_has_a_name_of_its_own_without_a_private_file() -> None:
    classes = saved_classes()
    names = Counter(map(name_of, classes))
    assert [name for name, count in names.items() if count > 1] == []
    assert all(name.partition(":")[0].count(".") <= 1 for name in names)
    assert [cls for cls in classes if class_of(name_of(cls)) is not cls] == []


def test_what_scikit_learn_wraps_around_a_model_is_saved(tmp_path: Path) -> None:
    table = np.column_stack([X, np.arange(len(X)) % 3])
    columns = ColumnTransformer([("numbers", StandardScaler(), slice(0, 4)), ("kind", OneHotEncoder(), [4])])
    for model in (
        CalibratedClassifierCV(mk.EasyMKLClassifier(), cv=2),
        make_pipeline(columns, mk.AverageMKLClassifier(kernels.rbf_grid([0.1]))),
    ):
        mk.save(model.fit(table, SPECIES), tmp_path / "m.mk", {"target": "species"})
        again, metadata = read(tmp_path / "m.mk")
        np.testing.assert_array_equal(again.predict(table), model.predict(table))
        assert metadata == {"target": "species"}


@pytest.mark.skipif(os.name != "posix", reason="processes are killed by a signal")
def test_what_a_killed_process_left_is_removed_by_the_next_save(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom multikernel.files import replacing\n"
        "with replacing(Path(sys.argv[1])) as file:\n"
        "    file.write_bytes(b'half')\n    os.kill(os.getpid(), signal.SIGKILL)"
    )
    path = tmp_path / "m.mk"
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mk.save(mk.RLS2Regressor(), path)
    assert list(tmp_path.iterdir()) == [path]


FORMER_BANKS = {"EncodedSamples": "EncodedBank", "FeatureView": "ViewBank"}
FORMER_FIELDS = {"name": "view"}


def as_written_before(value: Any) -> Any:
    """The JSON of a model in which banks are written as versions before 2026-12 wrote them."""
    if isinstance(value, list):
        return [as_written_before(part) for part in value]
    if not isinstance(value, dict):
        return value
    if value.get("dataclass") == "multikernel.banks:MappedBank":
        samples = value["state"]["samples"]
        former = FORMER_BANKS[samples["dataclass"].partition(":")[2]]
        known = samples["state"].get("known", {"state": {}})["state"]
        own = {field: part for field, part in samples["state"].items() if field != "known"}
        state = {"bank": value["state"]["bank"], **own, **{FORMER_FIELDS.get(k, k): part for k, part in known.items()}}
        return as_written_before({"dataclass": f"multikernel.banks:{former}", "state": state})
    if value.get("dataclass") == "multikernel.banks:WeightedBank":
        former = "ScaledBank" if "factors" in value["state"] else "WeighedBank"
        value = {**value, "dataclass": f"multikernel.banks:{former}"}
    return {key: as_written_before(part) for key, part in value.items()}


def test_banks_of_earlier_versions_are_the_wrappers_of_this_one(tmp_path: Path) -> None:
    views = {"flower": X[:, :2], "leaf": X[:, 2:]}
    family = {"flower": [kernels.RBF(1.0).standardized(), 2.0 * kernels.Laplacian(1.0)], "leaf": kernels.Linear()}
    model = mk.EasyMKLClassifier(family).fit(views, SPECIES)
    mk.save(model, tmp_path / "now.mk")

    def change(header: dict[str, Any], parts: dict[str, bytes]) -> None:
        before = json.dumps(as_written_before(header["model"]))
        assert all(name in before for name in ("EncodedBank", "ViewBank", "ScaledBank"))
        header["model"] = json.loads(before)

    (tmp_path / "before.mk").write_bytes(rewritten((tmp_path / "now.mk").read_bytes(), change))
    np.testing.assert_array_equal(
        mk.load(tmp_path / "before.mk").decision_function(views), model.decision_function(views)
    )
