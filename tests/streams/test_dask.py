"""A cluster of two worker processes gives what one process gives, also where a worker is lost."""

import os
import signal

import joblib
import numpy as np
import pytest
from sklearn.base import clone

import multikernel as mk
from multikernel import BankSearchCV, kernels, streams

dask = pytest.importorskip("dask", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
da = pytest.importorskip("dask.array", reason="dask.array is not installed")

pytestmark = pytest.mark.filterwarnings("ignore")  # of the cluster's own libraries
RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 4))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=600)
LABELS = np.array(["low", "middle", "high"])[np.digitize(Y, [-0.4, 0.4])]
WEIGHT = RNG.integers(1, 3, size=600).astype(float)
FAMILY = [kernels.RBF("median"), kernels.RBF(0.3), kernels.Linear()]
RIDGE = {"kernels": FAMILY, "approximation": "nystroem", "rank": 30}


@pytest.fixture(scope="module")
def client():
    """Two workers that this computer alone can reach."""
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "20s", "distributed.scheduler.allowed-failures": 5}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, memory_limit="1GiB"
        ) as cluster,
        distributed.Client(cluster, timeout=60) as connected,
    ):
        yield connected


def same_sums(found, truth):
    """Those of targets about their mean are rounding, and compared with the most that they may be."""
    for one, other in zip(found._state.sums, truth._state.sums, strict=True):
        for name, value in vars(other).items():
            size = np.abs(value).max()
            if name == "target_sums":
                size = np.sqrt(other.count * other.target_squares).max()
            np.testing.assert_allclose(getattr(one, name), value, rtol=1e-10, atol=1e-10 * size)


def same(found, truth):
    same_sums(found, truth)
    np.testing.assert_allclose(found.weights_, truth.weights_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found._values(X[:50]), truth._values(X[:50]), rtol=1e-8, atol=1e-8)


def test_arrays_frames_and_pieces_give_what_one_process_gives(client):
    import dask.dataframe as dd
    import pandas as pd

    rows = streams.arrays(X, Y, WEIGHT)
    model = mk.RLS2Regressor(alpha=1e-3, tol=1e-10, **RIDGE)
    truth = clone(model).fit(rows)
    on_dask = da.from_array(X, chunks=(170, 2)), da.from_array(Y, chunks=200), da.from_array(WEIGHT, chunks=600)
    same(clone(model).fit(*on_dask), truth)
    pieces = [dask.delayed((X[part], Y[part], WEIGHT[part])) for part in (slice(0, 7), slice(7, 400), slice(400, 600))]
    same(clone(model).fit(streams.dask(pieces, client=client)), truth)
    folds = mk.MultipleKernelRidgeCV(tol=1e-6, **RIDGE)
    found, truth = clone(folds).fit(streams.dask(*on_dask)), clone(folds).fit(rows)
    same_sums(found, truth)
    np.testing.assert_allclose(found.cv_loss_, truth.cv_loss_, rtol=1e-8)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=LABELS)
    classifier = mk.RLS2Classifier(alpha=1e-3, **RIDGE)
    found = classifier.fit(streams.dask(dd.from_pandas(frame, npartitions=3), "label"))
    truth = mk.RLS2Classifier(alpha=1e-3, **RIDGE).fit(streams.arrays(frame.drop(columns="label"), LABELS))
    np.testing.assert_allclose(found.weights_, truth.weights_, atol=1e-8)
    told = streams.predict(found, streams.dask(dd.from_pandas(frame.drop(columns="label"), npartitions=4)))
    np.testing.assert_array_equal(np.concatenate(list(told)), truth.predict(frame.drop(columns="label")))


def test_a_worker_that_is_lost_loses_no_result(client, tmp_path):
    once = tmp_path / "killed"

    def piece(first):
        if first == 300 and not once.exists():
            once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return X[first : first + 150], Y[first : first + 150]

    pieces = [dask.delayed(piece)(first) for first in range(0, 600, 150)]
    found = mk.RLS2Regressor(alpha=1e-3, **RIDGE).fit(streams.dask(pieces, client=client))
    assert once.exists()
    same(found, mk.RLS2Regressor(alpha=1e-3, **RIDGE).fit(streams.arrays(X, Y)))


@pytest.mark.study
def test_scales_are_learned_here_and_rows_are_summed_up_there_also_where_a_worker_is_lost(
    client, monkeypatch, tmp_path
):
    from multikernel.estimators.scales import from_source
    from multikernel.estimators.streamed import source

    monkeypatch.setattr(from_source, "_SAMPLED", 300)
    monkeypatch.setattr(source, "FEWEST_SAMPLED", 300)
    once = tmp_path / "killed"

    def piece(first):
        if first == 300 and not once.exists():
            once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        rows = slice(first, first + 150)
        return X[rows], Y[rows], WEIGHT[rows]

    pieces = [dask.delayed(piece)(first) for first in range(0, 600, 150)]
    model = mk.LearnedScalesRegressor(approximation="nystroem", rank=60, penalty=3.0)
    found = clone(model).fit(streams.dask(pieces, client=client))
    assert once.exists()
    truth = clone(model).fit(streams.arrays(X, Y, WEIGHT))
    np.testing.assert_allclose(found.scales_, truth.scales_, rtol=1e-10)
    np.testing.assert_allclose(found.predict(X), truth.predict(X), rtol=1e-4, atol=1e-4)


def test_problems_folds_and_paths_are_tasks(client):
    some = slice(0, 120)
    pairs = mk.EasyMKLClassifier(FAMILY, lam=0.1, multiclass="ovo")
    squares = mk.RLS2Regressor(FAMILY, alpha=0.1)
    search = {"alpha": [0.1, 1.0]}, 3
    truth = pairs.fit(X[some], LABELS[some]).weights_.copy(), BankSearchCV(squares, *search).fit(X[some], Y[some])
    with joblib.parallel_config(backend="dask", client=client):
        np.testing.assert_allclose(pairs.fit(X[some], LABELS[some]).weights_, truth[0], atol=1e-12)
        found = BankSearchCV(squares, *search).fit(X[some], Y[some])
    assert found.best_params_ == truth[1].best_params_
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], truth[1].cv_results_["mean_test_score"])


def test_what_is_wrong_is_said_in_a_sentence(client):
    holes = X.copy()
    holes[410, 2] = np.nan
    with pytest.raises(ValueError, match=r"part 2, row 10, column 2"):
        mk.RLS2Regressor(alpha=1e-3, **RIDGE).fit(da.from_array(holes, chunks=(200, 4)), Y)
    with pytest.raises(TypeError, match="takes a Dask array"):
        streams.dask(X, Y)
    with pytest.raises(ValueError, match="X has 600 rows, and y has 599"):
        streams.dask(da.from_array(X, chunks=(200, 4)), Y[1:])
    with pytest.raises(ValueError, match="does not learn from a source"):
        mk.L1MKLClassifier().fit(da.from_array(X, chunks=(200, 4)), LABELS)


def test_the_command_line_works_on_a_cluster(client, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from multikernel.app.cli.program import app

    monkeypatch.chdir(tmp_path)
    rows = [",".join(map(str, [*x, label])) for x, label in zip(X[:60].round(3), LABELS[:60], strict=True)]
    (tmp_path / "data.csv").write_text("a,b,c,d,label\n" + "\n".join(rows) + "\n")
    words = ["fit", "data.csv", "--target", "label", "--method", "easymkl", "--lam", "0.2", "--kernels", "hpk:3"]
    done = CliRunner().invoke(app, [*words, "--scheduler", client.scheduler.address])
    assert done.exit_code == 0, done.output
    before = mk.load("model.mk").weights_
    assert CliRunner().invoke(app, [*words, "--force"]).exit_code == 0
    np.testing.assert_allclose(before, mk.load("model.mk").weights_, atol=1e-12)
    monkeypatch.setattr("multikernel.app.cli.commands.fit._PATIENCE", 0.3)
    lost = CliRunner().invoke(app, [*words, "--force", "--scheduler", "tcp://127.0.0.1:9"])
    assert lost.exit_code == 1
    assert "no scheduler of Dask answers at 'tcp://127.0.0.1:9'" in lost.output + str(lost.stderr)


def test_a_target_apart_from_its_data_frame_keeps_its_partitions(tmp_path):
    import dask.dataframe as dd
    import pandas as pd

    columns = {name: RNG.normal(size=600) for name in "abcdefgh"}  # most of which nobody needs: parts are read together
    whole = pd.DataFrame(columns).assign(y=Y, weight=WEIGHT)
    for k, part in enumerate(np.array_split(np.arange(600), 6)):
        whole.iloc[part].to_parquet(tmp_path / f"part{k}.parquet")
    rows = dd.read_parquet(tmp_path / "*.parquet")
    source = streams.dask(rows[["a", "b"]], rows["y"], rows["weight"])
    chunks = list(source.chunks())
    assert len(chunks) == 6
    np.testing.assert_array_equal(np.concatenate([chunk.y for chunk in chunks]), Y)
    np.testing.assert_array_equal(np.concatenate([chunk.weight for chunk in chunks]), WEIGHT)
    np.testing.assert_array_equal(np.concatenate([chunk.X["b"] for chunk in chunks]), whole["b"])
    named = streams.dask(rows[["a", "y"]], "y", rows["weight"] + 1.0)
    np.testing.assert_array_equal(np.concatenate([chunk.weight for chunk in named.chunks()]), WEIGHT + 1.0)
    with pytest.raises(ValueError, match="the target must have the 6 partitions of the data frame; it has 2"):
        streams.dask(rows[["a"]], rows["y"].repartition(npartitions=2))
    with pytest.raises(ValueError, match="it is of type ndarray"):
        streams.dask(rows[["a"]], Y)


def test_blocks_of_unknown_sizes_that_are_not_as_many_are_refused() -> None:
    X = da.ones((6, 2), chunks=(2, 2))
    y = da.ones(6, chunks=3)
    with pytest.raises(ValueError, match="X and y have blocks of unknown sizes, 3 and 2"):
        streams.dask(X[X[:, 0] > 0.0], y[y > 0.0])


PARTS = {
    "a longer target": ((X[:100], Y[:150]), r"part 0: X has 100 rows, and y has the shape \(150,\)"),
    "more weights": ((X[:100], Y[:100], WEIGHT[:150]), r"part 0: X has 100 rows, and weight has the shape \(150,\)"),
    "a vector": ((X[:100, 0], Y[:100]), "part 0: X must be an array or data frame with rows and columns"),
    "a list": ([X[:100], Y[:100]], "part 0: X must be an array or data frame with rows and columns"),
}


@pytest.mark.parametrize(("part", "message"), PARTS.values(), ids=PARTS)
def test_parts_whose_rows_do_not_fit_are_refused(part, message) -> None:
    with pytest.raises(ValueError, match=message):
        list(streams.dask([dask.delayed(part)]).chunks())
    with pytest.raises(ValueError, match="on a cluster is kept in no checkpoint"):
        streams.dask([dask.delayed(part)], checkpoint="state")


def test_the_automatic_estimator_learns_on_workers_of_which_one_is_lost(client, tmp_path, monkeypatch):
    import dask.dataframe as dd
    import pandas as pd

    from multikernel.auto import from_source, limits
    from multikernel.estimators.streamed import source

    for module, name, value in (
        *((limits, "MANY", 200), (limits, "LANDMARKS", 40), (limits, "CENTRES", 80)),
        *((limits, "_SIFTING", (150, 40)), (from_source, "_SAMPLED", 300), (from_source, "FEWEST_SAMPLED", 300)),
        (source, "FEWEST_SAMPLED", 300),
    ):
        monkeypatch.setattr(module, name, value)
    whole = pd.DataFrame(X, columns=list("abcd")).assign(word=np.where(Y > 0, "up", "down"), y=Y)
    for k, part in enumerate(np.array_split(np.arange(600), 4)):
        whole.iloc[part].to_parquet(tmp_path / f"part{k}.parquet")
    once = tmp_path / "killed"

    def dying(part):
        if once.exists() and len(part) and part.index[0] == 300:
            once.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return part

    rows = dd.read_parquet(tmp_path / "*.parquet").map_partitions(dying, meta=whole.iloc[:0])
    truth = mk.MultiKernelRegressor(random_state=0).fit(streams.parquet(tmp_path, "y"))
    once.touch()
    found = mk.MultiKernelRegressor(random_state=0).fit(rows.drop(columns="y"), rows["y"])
    assert not once.exists()
    assert found.n_samples_ == 600
    told = np.concatenate(list(streams.predict(found, streams.dask(rows.drop(columns="y")))))
    np.testing.assert_allclose(told, truth.predict(whole.drop(columns="y")), rtol=1e-5, atol=1e-5)
