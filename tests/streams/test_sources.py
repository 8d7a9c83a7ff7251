"""Sources yield all rows once, in order, with their types and places, and again."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from multikernel import AverageMKLClassifier, AverageMKLRegressor, streams
from multikernel.streams import Chunk, survey
from multikernel.streams.source import bytes_of
from multikernel.streams.survey import joined


def frame(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "k": rng.integers(0, 9, n),
            "word": pd.Categorical(rng.choice(["x", "y", "z"], n)),
            "_id": np.arange(n),
            "s": rng.integers(1, 4, n).astype(float),
            "y": rng.normal(size=n),
        }
    )


@pytest.fixture
def files(tmp_path):
    whole = frame()
    whole[:1700].to_parquet(tmp_path / "0.parquet", row_group_size=300)
    whole[1700:].to_parquet(tmp_path / "1.parquet", row_group_size=1000)
    whole[:1700].to_csv(tmp_path / "0.csv", index=False)
    whole[1700:].to_csv(tmp_path / "1.csv.gz", index=False)
    return tmp_path, whole


def together(source, start=0):
    chunks = list(source.chunks(start))
    assert [chunk.first for chunk in chunks] == (start + np.cumsum([0, *map(len, chunks[:-1])])).tolist()
    return joined(chunks)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("start", [0, 1, 450, 1699, 1700, 2999])
def test_files_in_chunks(files, kind, start, monkeypatch):
    folder, whole = files
    monkeypatch.setattr("multikernel.streams.source._MOST_ROWS", 257)
    source = getattr(streams, kind)(folder, target="y", weight="s")
    for _ in range(2):
        read = together(source, start)
        assert list(read.X.columns) == ["a", "k", "word"]
        assert np.allclose(read.X["a"], whole["a"][start:])
        assert (read.X["word"].astype(str).to_numpy() == whole["word"][start:].astype(str)).all()
        assert np.allclose(read.y, whole["y"][start:])
        assert np.allclose(read.weight, whole["s"][start:])
    if kind == "parquet":
        assert source.rows == 3000
        assert isinstance(read.X["word"].dtype, pd.CategoricalDtype)


def test_what_was_read_of_a_file_is_not_kept(tmp_path):
    pa = pytest.importorskip("pyarrow")
    whole = pd.DataFrame(np.random.default_rng(0).normal(size=(400_000, 4)), columns=list("abcy"))
    whole.to_parquet(tmp_path / "t.parquet", row_group_size=20_000)
    before, size = pa.total_allocated_bytes(), (tmp_path / "t.parquet").stat().st_size
    source = streams.parquet(tmp_path / "t.parquet", target="y", memory="100MB")
    held = [pa.total_allocated_bytes() - before for _ in source.chunks(0)]
    assert len(held) > 10
    assert max(held) < 0.3 * size


def test_arrays_and_mapped_files(tmp_path, monkeypatch):
    monkeypatch.setattr("multikernel.streams.source._MOST_ROWS", 64)
    X, y = np.random.default_rng(0).normal(size=(300, 4)), np.arange(300.0)
    np.save(tmp_path / "X.npy", X)
    for given in (X, tmp_path / "X.npy", sparse.csr_array(X)):
        chunks = list(streams.arrays(given, y).chunks(70))
        read = np.vstack([chunk.X.toarray() if sparse.issparse(chunk.X) else chunk.X for chunk in chunks])
        assert np.array_equal(read, X[70:])
        assert np.array_equal(np.concatenate([chunk.y for chunk in chunks]), y[70:])
    assert sum(len(chunk) for chunk in streams.arrays(sparse.bsr_array(X)).chunks()) == 300
    with pytest.raises(ValueError, match="X has 300, y has 3"):
        streams.arrays(X, y[:3])


def test_a_checkpoint_knows_arrays_by_all_their_rows():
    X, y = np.random.default_rng(0).normal(size=(300, 4)), np.arange(300.0)
    known = streams.arrays(X, y).identity
    assert streams.arrays(X.copy(), y.copy()).identity == known
    y[200] += 1.0
    assert streams.arrays(X, y).identity != known
    pieces = streams.pieces(lambda: [(X, y)]).identity
    assert streams.pieces(lambda: [(X, y), (X, y)]).identity == pieces  # which are told apart by the first, and a name
    assert streams.pieces(lambda: [(X, y + 1.0)]).identity != pieces


def test_a_missing_target_tells_file_and_row(files):
    folder, whole = files
    whole.loc[2100, "y"] = np.nan
    whole[1700:].to_parquet(folder / "1.parquet")
    whole[1700:].to_csv(folder / "1.csv.gz", index=False)
    with pytest.raises(ValueError, match=r"1\.parquet, row 400: the target is missing"):
        list(streams.parquet(folder, target="y").chunks())
    with pytest.raises(ValueError, match=r"1\.csv\.gz, row 402: the target is missing"):
        list(streams.csv(folder, target="y").chunks())


def test_files_that_are_wrong(files):
    folder, whole = files
    with pytest.raises(ValueError, match="has no column 'z'"):
        streams.parquet(folder, target="z").columns  # noqa: B018
    with pytest.raises(FileNotFoundError, match=r"none\.parquet"):
        streams.parquet(folder / "none.parquet", target="y")
    (folder / "2.parquet").write_bytes(b"no")
    with pytest.raises(ValueError, match=r"2\.parquet is no Parquet file"):
        list(streams.parquet(folder, target="y").chunks())
    whole.assign(a="word").to_parquet(folder / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet: column 'a' is of type .*string, and in"):
        list(streams.parquet(folder, target="y").chunks())
    lines = (folder / "0.csv").read_text().splitlines()
    lines[1500] = "oops" + lines[1500][lines[1500].index(",") :]
    big = folder / "big.csv"
    big.write_text("\n".join([*lines[:1], *(lines[1:1499] * 8), lines[1500]]))
    with pytest.raises(ValueError, match=r"big\.csv, row 11986, column 'a': 'oops' is not a number"):
        list(streams.csv(big, target="y").chunks())
    other = folder / "other.csv"
    other.write_text("b,y\n1,2\n")
    with pytest.raises(ValueError, match=r"other\.csv lacks the column 'a', which .*0\.csv has"):
        list(streams.csv([folder / "0.csv", other], target="y").chunks())


def test_delimiters_of_csv(tmp_path):
    (tmp_path / "a.csv").write_text("u;v;y\n1,5;word;2\n2,5;other;3\n")
    source = streams.csv(tmp_path / "a.csv", target="y", decimal=",")
    (chunk,) = source.chunks()
    assert chunk.X["u"].tolist() == [1.5, 2.5]
    assert chunk.X["v"].tolist() == ["word", "other"]
    assert source.identity != streams.csv(tmp_path / "a.csv", target="y").identity


def test_a_survey_does_not_depend_on_the_chunks():
    X, y = np.random.default_rng(0).normal(size=(1000, 2)), np.arange(1000) % 3
    found = []
    for size in (7, 100, 1000):
        source = streams.pieces(lambda size=size: ((X[i : i + size], y[i : i + size]) for i in range(0, 1000, size)))
        found.append(survey(source, 50, seed=3))
    assert all(np.array_equal(each.sample.X, found[0].sample.X) for each in found)
    assert all(each.rows == 1000 and each.classes.tolist() == [0, 1, 2] for each in found)
    assert len({tuple(row) for row in found[0].sample.X}) == 50
    assert abs(found[0].sample.X.mean()) < 0.4


def test_frames_of_polars_keep_their_columns(monkeypatch):
    pl = pytest.importorskip("polars")
    monkeypatch.setattr("multikernel.streams.source._MOST_ROWS", 64)
    given = frame(200)[["a", "k", "y"]]
    source = streams.arrays(pl.from_pandas(given[["a", "k"]]), given["y"])
    read = together(source, 70)
    assert read.X.columns == ["a", "k"]
    np.testing.assert_array_equal(read.X["k"], given["k"][70:])
    few = survey(source, 30, seed=1).sample
    np.testing.assert_array_equal(np.sort(few.X["a"]), np.sort(given["a"][np.isin(given["y"], few.y)]))
    np.testing.assert_array_equal(Chunk(few.X, None).part(few.y > 0.0).X["a"], few.X["a"].to_numpy()[few.y > 0.0])
    model = AverageMKLRegressor("linear", alpha=0.1).fit(given[["a", "k"]], given["y"])
    with pytest.raises(ValueError, match="feature names"):
        next(streams.predict(model, streams.arrays(pl.from_pandas(given[["k", "a"]]))))


def test_memory_in_words():
    assert bytes_of("2 GB") == 2e9
    assert bytes_of("512MiB") == 2.0**29
    assert bytes_of(3e9) == 3e9
    for wrong in ("much", "3 pounds", 5, "-1GB", "nan"):
        with pytest.raises(ValueError, match="memory must be"):
            bytes_of(wrong)


def test_where_a_cell_is_missing():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", None]})
    assert Chunk(X, None, file="f.csv", row=10).first_absent() == "f.csv, row 11, column 'b'"
    assert Chunk(np.array([[0.0, np.inf]]), None).first_absent() == "row 0, column 1"
    assert Chunk(np.zeros((2, 2)), None).first_absent() is None
    strings = pd.DataFrame({"a": [1.0, 2.0], "b": pd.array(["x", None], dtype="string")})  # whose gaps are pandas.NA
    assert Chunk(strings, None).first_absent() == "row 1, column 'b'"
    with pytest.raises(ValueError, match="row 1: the target is missing or infinite"):
        list(streams.arrays(strings[["a"]], strings["b"]).chunks())


@pytest.mark.parametrize("kind", [float, object])
def test_a_target_of_several_columns_is_missing_in_its_row(kind):
    for bad in (np.nan, np.inf):
        y = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, bad]], dtype=kind)
        with pytest.raises(ValueError, match=r"^row 12: the target is missing or infinite"):
            Chunk(np.zeros((3, 1)), y, row=10).check_target()


@pytest.mark.parametrize("numbers", [None, [10, 12, 15, 16]])
def test_rows_of_a_part_are_called_as_they_are_in_the_source(numbers):
    chunk = Chunk(np.zeros((4, 1)), None, row=10, numbers=numbers)
    names = [chunk.place(i) for i in range(4)]
    for kept in (slice(1, 3), np.array([3, 1]), np.array([False, True, False, True])):
        part = chunk.part(kept)
        assert [part.place(i) for i in range(2)] == np.array(names)[kept].tolist()
    assert chunk.after(2).place(1) == names[3]


def test_what_is_no_source_of_rows_is_refused_in_a_sentence(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = AverageMKLRegressor(alpha=0.1).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="X must have rows and columns, got 5 of type int"):
        streams.arrays(X=5)
    with pytest.raises(ValueError, match="y must have an entry for each row of X, got 5 of type int"):
        streams.arrays(X, 5)
    (tmp_path / "X.npy").write_bytes(b"no")
    with pytest.raises(ValueError, match=r"X is the file .*X\.npy, which is no \.npy file"):
        streams.arrays(tmp_path / "X.npy")
    for given in (X, None, "table.csv"):
        with pytest.raises(TypeError, match=r"take the rows as a source, got a .*: give streams"):
            streams.write_predictions(model, given, tmp_path / "out.csv")
        with pytest.raises(TypeError, match=r"take the rows as a source, got a .*: give streams"):
            streams.predict(model, given)
    with pytest.raises(TypeError, match="AverageMKLRegressor has no predict_proba"):
        streams.write_predictions(model, streams.arrays(X), tmp_path / "out.csv", method="predict_proba")
    with pytest.raises(ValueError, match=r"method must be one of 'predict'.* got 'guess'"):
        streams.predict(model, streams.arrays(X), method="guess")
    with pytest.raises(ValueError, match="start must be an integer >= 0, got -1"):
        next(streams.arrays(X).chunks(-1))
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_source_without_rows_has_no_predictions(tmp_path, name):
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = AverageMKLRegressor(alpha=0.1).fit(X, X[:, 0])
    (tmp_path / "none.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match="the source has no row to predict"):
        streams.write_predictions(model, streams.csv(tmp_path / "none.csv"), tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == ["none.csv"]


@pytest.mark.parametrize("label", ["=1+1", "@cmd", "-1.5", "plain"])
def test_labels_that_a_spreadsheet_would_run_are_written_as_text(tmp_path, label):
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = AverageMKLClassifier().fit(X, np.where(X[:, 0] > 0, label, "other"))
    streams.write_predictions(model, streams.arrays(X), tmp_path / "out.csv")
    written = set(pd.read_csv(tmp_path / "out.csv", dtype=str)["prediction"])
    assert written == {"other", f"'{label}" if label[0] in "=@" else label}


def test_a_corrupt_page_of_parquet_is_named_with_its_row_group(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    frame()[["a", "k", "y"]].to_parquet(path, row_group_size=1000)
    place = parquet.ParquetFile(path).metadata.row_group(1).column(1)
    content = bytearray(path.read_bytes())
    first = place.dictionary_page_offset or place.data_page_offset
    content[first : first + 30] = b"\xff" * 30
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"t\.parquet: row group 1, column 'k' cannot be read \(.*\); write the file again"
    ):
        list(streams.parquet(path, target="y").chunks())


NAMES = {
    "features that name the target": ({"features": ["a", "y"]}, "the column 'y' was named twice"),
    "features twice": ({"features": ["a", "a"]}, "the column 'a' was named twice"),
    "the target as weight": ({"weight": "y"}, "the column 'y' was named twice"),
    "targets twice": ({"target": ["y", "y"]}, "the column 'y' was named twice"),
    "no features": ({"features": []}, "features is an empty list: name a column, or leave features out"),
    "no target": ({"target": []}, "target is an empty list"),
}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("case", NAMES)
def test_columns_that_are_named_wrongly_are_refused(files, kind, case):
    options, message = NAMES[case]
    with pytest.raises(ValueError, match=message):
        list(getattr(streams, kind)(files[0] / ("0." + kind), **{"target": "y", **options}).chunks())
    one = next(getattr(streams, kind)(files[0] / ("0." + kind), target="y", features="word").chunks())
    assert list(one.X.columns) == ["word"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_that_are_no_names_or_no_weights_are_refused(files, kind):
    file = files[0] / ("0." + kind)
    with pytest.raises(TypeError, match="target must be the name of a column or a list of names, got 3"):
        getattr(streams, kind)(file, target=3)
    with pytest.raises(ValueError, match=r"0\.\w+: the column 'word' holds no weights \(could not convert"):
        list(getattr(streams, kind)(file, target="y", weight="word").chunks())


@pytest.mark.parametrize("every", [0, -1, 2.5, "x", None])
def test_a_state_is_written_after_a_number_of_rows(every):
    for make in (lambda: streams.arrays(np.ones((3, 1)), every=every), lambda: streams.pieces(list, every=every)):
        with pytest.raises(ValueError, match="Source: every must be an integer >= 1"):
            make()


PIECES = {
    "one": (np.ones((3, 2)), r"piece 0 must be \(X, y\) or \(X, y, weight\), .* got a ndarray"),
    "one in a tuple": ((np.ones((3, 2)),), "got a tuple of 1"),
    "four": ([1, 2, 3, 4], "got a list of 4"),
    "none": (None, "got a NoneType"),
    "few targets": ((np.ones((3, 2)), np.ones(2)), r"piece 0: X has 3 rows, and y has the shape \(2,\)"),
    "few weights": ((np.ones((3, 2)), np.ones(3), [1.0]), r"piece 0: X has 3 rows, and weight has the shape \(1,\)"),
    "a number as target": ((np.ones((3, 2)), 1.0), r"y has the shape \(\)"),
    "a vector": ((np.ones(3), np.ones(3)), "X must be an array or data frame with rows and columns"),
    "a chunk": (Chunk(np.ones((3, 2)), np.ones(4)), r"X has 3 rows, and y has the shape \(4,\)"),
}


@pytest.mark.parametrize(("piece", "message"), PIECES.values(), ids=PIECES)
def test_pieces_that_are_no_rows_are_refused(piece, message):
    with pytest.raises(ValueError, match=message):
        AverageMKLRegressor(approximation="nystroem", rank=2).fit(streams.pieces(lambda: [piece]))


@pytest.mark.parametrize(
    ("other", "form"),
    [
        ((np.ones((3, 1)), np.ones(3)), "X of width 1 and one target"),
        ((np.ones((3, 2)), None), "X of width 2 and no target"),
        ((np.ones((3, 2)), np.ones((3, 2))), "X of width 2 and a matrix of 2 targets"),
    ],
)
def test_pieces_that_differ_are_refused(other, form):
    source = streams.pieces(lambda: [(np.ones((3, 2)), np.ones(3)), other])
    with pytest.raises(ValueError, match=f"piece 1 has {form}, and the pieces before have X of width 2 and one target"):
        AverageMKLRegressor(approximation="nystroem", rank=2).fit(source)


@pytest.mark.parametrize("weighted", [0, 1])
def test_a_piece_without_weights_counts_once_beside_one_with_weights(weighted):
    X = np.arange(8.0)[:, None]
    parts = [(X[:4], X[:4, 0]), (X[4:], X[4:, 0])]
    parts[weighted] = (*parts[weighted], np.full(4, 5.0))
    sample = survey(streams.pieces(lambda: parts), 8).sample
    assert sample.weight.tolist() == [5.0 if (value >= 4.0) == weighted else 1.0 for value in sample.y]


def test_a_function_that_yields_nothing_is_refused():
    with pytest.raises(ValueError, match=r"streams\.pieces: the function yields nothing"):
        AverageMKLRegressor(approximation="nystroem", rank=2).fit(streams.pieces(list))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decimal": "x"}, r"streams\.csv: decimal must be '\.' or ',', got 'x'"),
        ({"delimiter": ";;"}, r"streams\.csv: delimiter must be one character or None, got ';;'"),
        ({"delimiter": 3}, r"streams\.csv: delimiter must be one character or None, got 3"),
    ],
)
def test_marks_of_csv_that_are_none(tmp_path, options, message):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match=message):
        streams.csv(tmp_path / "a.csv", "y", **options)
    with pytest.raises(ValueError, match="survey: count must be an integer >= 1, got 0"):
        survey(streams.csv(tmp_path / "a.csv", "y"), 0)


def test_an_infinite_target_is_not_called_missing_only():
    X = np.ones((3, 1))
    with pytest.raises(
        ValueError, match=r"row 1.*: the target is missing or infinite; correct it, or leave the row out"
    ):
        list(streams.arrays(X, np.array([0.0, np.inf, 1.0])).chunks())


def test_a_sample_is_the_same_where_the_number_of_rows_is_known_before():
    X = np.arange(5000.0)[:, None]
    known = streams.survey(streams.arrays(X, X[:, 0]), 300, seed=4)
    whole = streams.survey(streams.pieces(lambda: [(X[:700], X[:700, 0]), (X[700:], X[700:, 0])]), 300, seed=4)
    np.testing.assert_array_equal(known.sample.X, whole.sample.X)
    np.testing.assert_array_equal(known.numbers, np.sort(known.numbers))
    assert (known.rows, whole.rows, len(known.sample)) == (5000, 5000, 300)
