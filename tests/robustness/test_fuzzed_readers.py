"""Files, words and forms that somebody altered: what comes of them is a value, or a sentence of the error told.

Each reader begins with things that it takes, of which bytes are changed, cut, doubled and swapped. A few hundred run
with the other tests; ``make study`` runs many, others in every run. What was found once is an example of its reader.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import zipfile
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, seed, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from multikernel import RLS2Regressor, datasets, kernels, load, save
from multikernel.app.cli.config import config_of
from multikernel.app.cli.kernel_words import parse
from multikernel.app.cli.program import app
from multikernel.app.cli.words import assigned
from multikernel.app.tables.table import read_table
from multikernel.app.toml import settings_in, toml
from multikernel.app.web.exports import check_recipe
from multikernel.app.web.forms import methods, parameters
from multikernel.app.web.learning.recipe import Recipe
from multikernel.app.web.run_file import recipe_of

FEW, MANY = 12, int(os.environ.get("MULTIKERNEL_FUZZ_CASES", "3000"))
SEED = int(os.environ.get("MULTIKERNEL_FUZZ_SEED", random.randrange(10**6)))
SENTENCE = 10  # characters of the shortest


def runs(check: Callable[..., None], number: int, chosen: int | None) -> None:
    quiet = settings(
        max_examples=number,
        derandomize=chosen is None,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )(check)
    (quiet if chosen is None else seed(chosen)(quiet))()


def tells(read: Callable[[], object]) -> None:
    """Call a reader; an error that is not a sentence about a value or a file goes on."""
    try:
        read()
    except (ValueError, OSError, KeyError) as error:
        if len(str(error)) < SENTENCE:
            raise AssertionError(f"{type(error).__name__} says {error!s}") from error


@st.composite
def altered(draw: st.DrawFn, whole: bytes) -> bytes:
    """Some bytes of a file changed, cut out, doubled, or swapped for those that mean something."""
    content = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(content) - 1, 0)))
        length = draw(st.integers(0, 6))
        some = draw(
            st.sampled_from(
                [b"", b"\x00", b"\xff\xfe", b",", b'"', b"\n", b"\r", b"nan", b"1e999", b"-", b"{", b"\xe9"]
            )
        )
        other = draw(st.one_of(st.just(some), st.binary(max_size=4)))
        content[place : place + length] = other
    return bytes(content)


def array_file(**arrays: object) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


TABLE = b"age,name,score,day\n31,ann,1.5,2024-01-02\n,bob,2.5,2024-01-03\n7,'c',\"3,5\",\n" * 3
LINES = b"".join(json.dumps({"text": word, "target": k % 2}).encode() + b"\n" for k, word in enumerate("abcdef"))
SPARSE = array_file(
    data=np.ones(4),
    indices=np.array([0, 1, 0, 1]),
    indptr=np.array([0, 1, 2, 3, 4]),
    shape=np.array([4, 2]),
    target=np.arange(4) % 2,
)
NUMBERS = b"age,sex,_split,target\n31,f,train,1.5\n,m,train,2.5\n7,'f',test,3\n4,m,test,-1e3\n"
FILES = {"t.csv.gz": NUMBERS, "t.jsonl.gz": LINES, "t.npz": SPARSE}
WORDS = [
    "hpk:10",
    "rbf:0.1,1",
    "linear",
    "poly:1,2,3",
    "per-feature:rbf:1",
    "laplacian:0.5",
    "rbf",
    "hpk:-1",
    "rbf:nan",
]


def tables(folder: Path) -> Callable[..., None]:
    @given(altered(TABLE))
    @example(b"")
    @example(b"\xff\xfe")
    @example(b"a,a\n1,2\n")
    @example(b'"')
    def check(content: bytes) -> None:
        file = folder / "t.csv"
        file.write_bytes(content)
        tells(lambda: read_table(file))

    return check


def data_files(folder: Path) -> Callable[..., None]:
    def write(name: str, content: bytes) -> None:
        (folder / name).write_bytes(gzip.compress(content, mtime=0) if name.endswith(".gz") else content)

    for name, content in FILES.items():
        write(name, content)
        assert len(datasets.load("t", folder).y) >= 3
        (folder / name).unlink()

    @given(st.sampled_from(sorted(FILES)).flatmap(lambda name: st.tuples(st.just(name), altered(FILES[name]))))
    def check(drawn: tuple[str, bytes]) -> None:
        name, content = drawn
        write(name, content)
        try:
            tells(lambda: datasets.load("t", folder))
        finally:
            (folder / name).unlink()

    return check


def manifests(folder: Path) -> Callable[..., None]:
    whole = b"name,file,task,n,d,sha256\nt,t.csv.gz,regression,4,2,\nu,u.csv.gz,classification,2,1,00\n"
    (folder / "manifest.csv").write_bytes(whole)
    (folder / "t.csv.gz").write_bytes(gzip.compress(NUMBERS, mtime=0))
    assert len(datasets.load("t", folder).y) == 3

    @given(altered(whole))
    def check(content: bytes) -> None:
        (folder / "manifest.csv").write_bytes(content)
        tells(lambda: datasets.available(folder))
        tells(lambda: datasets.load("t", folder))

    return check


def kernel_words(folder: Path) -> Callable[..., None]:
    near = st.sampled_from(WORDS).flatmap(lambda word: altered(word.encode())).map(lambda b: b.decode(errors="replace"))

    @given(st.lists(st.one_of(st.text(max_size=12), near), max_size=3))
    def check(words: list[str]) -> None:
        tells(lambda: parse(words))
        tells(lambda: assigned(words))

    return check


def forms(folder: Path) -> Callable[..., None]:
    every = [method for task in ("classification", "regression") for method in methods(task).values()]  # type: ignore[arg-type]
    values = st.one_of(
        st.text(max_size=10), st.sampled_from(["auto", "", "1e999", "nan", "-0", "[1,", "(" * 50, "0x10", "None"])
    )

    @given(st.sampled_from(every), st.data())
    def check(method: object, data: st.DataObject) -> None:
        given = {field.name: data.draw(values) for field in method.fields}  # type: ignore[attr-defined]
        tells(lambda: parameters(method, given))  # type: ignore[arg-type]

    return check


def run_settings(folder: Path) -> Callable[..., None]:
    recipe = Recipe("p", "y", "regression", {"a": "number", "b c": "text"}, method="AverageMKLRegressor")
    whole = toml(recipe.to_json()).encode()

    @given(altered(whole))
    @example(b"\xef\xbb\xbf" + whole)
    @example(b"x = " + b"[" * 10**4)
    @example(b"x = " + b"{a=" * 10**4)
    @example(b".".join([b"a"] * 20_000) + b" = 1")
    @example(b".".join([b'"a b"'] * 20_000) + b" = 1")
    @example(b'x = "' + b"x" * 500_000 + b'"')
    @example(b"x = " + b"9" * 5000)
    @example(whole.replace(b"AverageMKLRegressor", b"automatic") + b"\n[parameters]\nalpha = 1.0")
    def check(content: bytes) -> None:
        tells(lambda: check_recipe(recipe_of(settings_in(io.BytesIO(content)))))

    return check


def options_of_a_run(folder: Path) -> Callable[..., None]:
    """The command line says what is wrong on stderr, and no traceback; a table that is not there ends what is right."""
    file = folder / "run.toml"
    run = {"data": str(folder / "none.csv"), "target": "y", "seed": 0, "kernels": ["rbf:1"], "set": {"tol": 1e-3}}
    whole = config_of("fit", run).encode()

    @given(altered(whole))
    @example(b"\xef\xbb\xbf" + whole)
    @example(b"x = " + b"{a=" * 10**4)
    @example(b".".join([b"a"] * 20_000) + b" = 1")
    @example(whole + b"#" * 2**20)
    @example(whole.replace(b"kernels = [", b"kernels = [1, "))
    @example(whole.replace(b'["rbf:1"]', b"3"))
    def check(content: bytes) -> None:
        file.write_bytes(content)
        done = CliRunner().invoke(app, ["fit", "--config", str(file)])
        assert isinstance(done.exception, SystemExit), content
        assert len(done.stderr) > SENTENCE
        assert os.listdir(folder) == ["run.toml"]

    return check


def sealed(parts: dict[str, bytes], whole: dict[str, bytes]) -> dict[str, bytes]:
    """Members of a model's file with the digests that belong to them, as one who forges it would write them."""
    header = parts["header.json"]
    for name, part in parts.items():
        header = header.replace(digest(whole[name]), digest(part))
    return parts | {"header.json": header, "header.digest": digest(header)}


def digest(part: bytes) -> bytes:
    return blake2b(part, digest_size=16).hexdigest().encode()


def model_files(folder: Path) -> Callable[..., None]:
    path = folder / "m.mk"
    X = np.random.default_rng(0).normal(size=(12, 2))
    model = RLS2Regressor(kernels.rbf_grid([0.1, 1.0]), alpha=1.0).fit(X, X[:, 0])
    save(model, path, {"note": ["text", 1]})
    with zipfile.ZipFile(path) as file:
        whole = {name: file.read(name) for name in file.namelist()}
    member = st.sampled_from(sorted(whole)).flatmap(lambda name: st.tuples(st.just(name), altered(whole[name])))
    other = st.sampled_from([b"[" * 10**5, b'{"model":' * 10**5, b"null", b"[]", b"\xff\xfe", bytes(10**7)])

    @given(st.one_of(member, st.tuples(st.just("header.json"), other)), st.booleans())
    def check(drawn: tuple[str, bytes], forged: bool) -> None:
        parts = whole | dict([drawn])
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, part in (sealed(parts, whole) if forged else parts).items():
                file.writestr(name, part)
        told = f"{path}"
        try:
            again = load(path)
        except ValueError as error:
            again, told = None, str(error)
        assert str(path) in told
        assert "\n" not in told
        if again is not None and not forged:  # one that was forged with its digests is a model, of whatever kind
            np.testing.assert_array_equal(again.predict(X), model.predict(X))

    return check


READERS = [tables, data_files, manifests, kernel_words, forms, run_settings, options_of_a_run, model_files]


@pytest.mark.parametrize("reader", READERS)
def test_a_few_alterations(tmp_path: Path, reader: Callable[[Path], Callable[..., None]]) -> None:
    runs(reader(tmp_path), FEW, None)


@pytest.mark.study
@pytest.mark.parametrize("reader", READERS)
def test_many_alterations(tmp_path: Path, reader: Callable[[Path], Callable[..., None]]) -> None:
    print(f"seed {SEED}, {MANY} examples")
    runs(reader(tmp_path), MANY, SEED)
