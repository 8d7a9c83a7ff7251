"""A fit from files keeps within the memory that it is given, whatever the number of rows."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

PROGRAM = """
import resource, sys
import multikernel as mk
from multikernel import kernels, streams
kind, path, rank = sys.argv[1], sys.argv[2], int(sys.argv[3])
def mapped(path, target, memory):
    return streams.arrays(path, path + ".y.npy", memory=memory)
def yielded(path, target, memory):
    rows = np.load(path, mmap_mode="r")
    def parts():
        for start in range(0, len(rows), 5000):
            part = np.array(rows[start : start + 5000])
            yield part[:, :-1], part[:, -1]
    return streams.pieces(parts, memory=memory)
make = {"parquet": streams.parquet, "csv": streams.csv, "npy": mapped, "pieces": yielded}
family = kernels.rbf_grid([0.3, 1.0, 3.0, 10.0])
models = {"rls2": mk.RLS2Regressor(family, alpha=1e-4, approximation="nystroem", rank=rank)}
models["cv"] = mk.MultipleKernelRidgeCV(family, approximation="nystroem", rank=rank, max_iter=3)
models["average"] = mk.AverageMKLRegressor(family, alpha=1e-2, approximation="nystroem", rank=rank)
models["classes"] = mk.RLS2Classifier(family, alpha=1e-4, approximation="nystroem", rank=rank)
models["polynomial"] = mk.PolynomialMKLRegressor(family, degree=1, alpha=1e-2, approximation="nystroem", rank=rank)
import warnings; warnings.simplefilter("ignore")
import pandas, pyarrow.parquet
import numpy as np
X = np.random.default_rng(0).normal(size=(300, 30))
models[sys.argv[4]].fit(streams.arrays(X, np.sign(X[:, 0])))  # loads what is compiled
def peak(): return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
source = make[kind](path, target="y", memory=float(sys.argv[5]))
model = models[sys.argv[4]].fit(source)
rows = streams.write_predictions(model, source, path + ".said.csv")
print(rows, peak() - before)
"""


def peak_of(folder, kind, model, rank, n, budget):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 30)), columns=[f"x{j}" for j in range(30)])
    frame["y"] = np.sin(frame["x0"]) if model != "classes" else np.where(frame["x0"] > 0.0, 1, -1)
    path = str(folder / f"a.{kind}")
    match kind:
        case "parquet":
            frame.to_parquet(path, row_group_size=n // 2)
        case "csv":
            frame.to_csv(path, index=False)
        case "npy":
            np.save(path, frame.iloc[:, :30].to_numpy())
            np.save(path + ".y.npy", frame["y"].to_numpy())
        case "pieces":
            with open(path, "wb") as file:
                np.save(file, frame.to_numpy(float))
    words = [sys.executable, "-c", PROGRAM, kind, path, str(rank), model, str(budget)]
    rows, peak = map(float, subprocess.run(words, check=True, capture_output=True, text=True).stdout.split())
    assert rows == n
    return peak


@pytest.mark.study  # with fewer rows, the features of all of them would be less than the budget
@pytest.mark.parametrize("kind", ["parquet", "csv", "npy", "pieces"])
@pytest.mark.parametrize("model", ["rls2", "cv", "average", "classes", "polynomial"])
def test_peak_memory_of_every_way(tmp_path, kind, model):
    assert peak_of(tmp_path, kind, model, 150, 100_000, 250e6) <= 1.1 * 250e6
