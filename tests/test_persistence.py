"""Models on disk."""

import json
import zipfile
from dataclasses import dataclass, field
from importlib import import_module

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, minmax_scale

import multikernel as mk
from multikernel import kernels
from multikernel.persistence import names, read

X, Y = load_breast_cancer(return_X_y=True)
X, Y = minmax_scale(X)[::3], Y[::3]
FAMILIES = {
    "powers": kernels.homogeneous_polynomials(4),
    "features": kernels.linear_features(),
    "stack": kernels.rbf_grid([0.1, 1.0]) + kernels.per_feature(kernels.Polynomial(2)),
    "wrapped": [kernels.RBF(0.5).centered(), 2.0 * kernels.Linear().normalized(), kernels.Laplacian(0.1).centered()],
    "monomials": kernels.random_monomials(3, 500, random_state=0),
    "subsets": kernels.rbf_subsets(2, [0.1]),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_round_trip_of_every_kind_of_bank(name, tmp_path):
    model = mk.EasyMKLClassifier(FAMILIES[name], lam=0.3).fit(X, Y)
    mk.save(model, tmp_path / "model.mk")
    again = mk.load(tmp_path / "model.mk")
    assert again.get_params()["kernels"] == FAMILIES[name]
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-14)
    np.testing.assert_array_equal(again.weights_, model.weights_)


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(MinMaxScaler(), mk.EasyMKLClassifier(multiclass="ovo", learner="svc")),
        mk.BankSearchCV(mk.EasyMKLClassifier(), {"lam": [0.1, 0.5]}, cv=3),
        mk.AlignmentMKLClassifier(),
    ],
    ids=["pipeline", "search", "alignment"],
)
def test_pipelines_searches_and_text_labels(model, tmp_path):
    data, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    mk.save(model.fit(data, names), tmp_path / "m.mk")
    again = mk.load(tmp_path / "m.mk")
    np.testing.assert_array_equal(again.predict(data), model.predict(data))


@pytest.mark.filterwarnings("ignore:.*kernels of very different size")
def test_sparse_samples_and_regressors(tmp_path):
    thin = sparse.csr_array(np.where(X > 0.3, X, 0.0))
    model = mk.EasyMKLClassifier(kernels.linear_features()).fit(thin, Y)
    mk.save(model, tmp_path / "a.mk")
    np.testing.assert_array_equal(mk.load(tmp_path / "a.mk").decision_function(thin), model.decision_function(thin))
    data, y = load_diabetes(return_X_y=True)
    ridge = mk.AverageMKLRegressor().fit(data, y)
    mk.save(ridge, tmp_path / "b.mk", metadata={"target": "progression"})
    again, metadata = read(tmp_path / "b.mk")
    assert metadata == {"target": "progression"}
    np.testing.assert_array_equal(again.predict(data), ridge.predict(data))


def test_no_pickle_inside(tmp_path):
    mk.save(mk.EasyMKLClassifier().fit(X, Y), tmp_path / "m.mk")
    with zipfile.ZipFile(tmp_path / "m.mk") as archive:
        assert json.loads(archive.read("header.json"))["format"] == "multikernel model"
        for name in archive.namelist():
            if name.endswith(".npy"):
                np.lib.format.read_array(archive.open(name), allow_pickle=False)


def test_what_cannot_be_saved_leaves_nothing_behind(tmp_path):
    model = make_pipeline(FunctionTransformer(lambda x: x), mk.EasyMKLClassifier()).fit(X, Y)
    with pytest.raises(TypeError, match=r"cannot save model.steps\[0\].*func: of functions only"):
        mk.save(model, tmp_path / "m.mk")
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_no_models(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("hello")
    with pytest.raises(ValueError, match=r"notes\.txt is not a model saved by multikernel"):
        mk.load(text)
    with pytest.raises(FileNotFoundError):
        mk.load(tmp_path / "missing.mk")
    whole = tmp_path / "model.mk"
    mk.save(mk.EasyMKLClassifier().fit(X, Y), whole)
    content = whole.read_bytes()
    for cut in (content[: len(content) // 2], content[:100] + bytes(200) + content[300:]):
        (tmp_path / "damaged.mk").write_bytes(cut)
        with pytest.raises(ValueError, match=r"damaged\.mk is not a model saved by multikernel, or is damaged"):
            mk.load(tmp_path / "damaged.mk")
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("header.json", json.dumps({"format": "something"}))
    with pytest.raises(ValueError, match="not a model saved by multikernel"):
        mk.load(other)


@pytest.mark.parametrize(
    "name", ["os:system", "multikernel.persistence:save", "sklearn.utils:Bunch", "multikernel.nowhere:X"]
)
def test_foreign_classes_are_refused(name, tmp_path):
    header = {"format": "multikernel model", "version": 1, "metadata": {}, "model": {"estimator": name, "state": {}}}
    with zipfile.ZipFile(tmp_path / "evil.mk", "w") as archive:
        archive.writestr("header.json", json.dumps(header))
    with pytest.raises(ValueError, match="cannot be loaded"):
        mk.load(tmp_path / "evil.mk")


@dataclass(repr=False)
class Cauchy(kernels.Kernel):
    """A kernel of a user: 1 / (1 + gamma |x - z|^2)."""

    gamma: float = 1.0

    def __call__(self, X, Z=None):
        Z = X if Z is None else Z
        return 1.0 / (1.0 + self.gamma * ((X[:, None] - Z[None]) ** 2).sum(axis=2))

    def diagonal(self, X):
        return np.ones(len(X))


def test_a_kernel_from_outside_is_saved_once_it_is_registered(tmp_path, monkeypatch):
    monkeypatch.setattr(names, "_REGISTERED", {})
    model = mk.AverageMKLClassifier([Cauchy(0.5), kernels.RBF(1.0)]).fit(X, Y)
    with pytest.raises(TypeError, match=r"a Cauchy has no form.*multikernel\.register"):
        mk.save(model, tmp_path / "m.mk")
    assert mk.register(Cauchy) is Cauchy
    mk.save(model, tmp_path / "m.mk")
    np.testing.assert_array_equal(mk.load(tmp_path / "m.mk").predict(X), model.predict(X))
    monkeypatch.setattr(names, "_REGISTERED", {})
    with pytest.raises(ValueError, match=r"holds a Cauchy defined outside multikernel: call multikernel\.register"):
        mk.load(tmp_path / "m.mk")
    with pytest.raises(TypeError, match="register takes a dataclass"):
        mk.register(int)
    mk.register(Cauchy)
    with pytest.raises(ValueError, match=rf"a class named Cauchy of {Cauchy.__module__} is registered already"):
        mk.register(dataclass(type("Cauchy", (), {"__module__": "elsewhere"})))


@dataclass(repr=False)
class Counted(kernels.RBF):
    calls: int = field(default=0, init=False)


def test_a_field_that_is_no_argument_is_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(names, "_REGISTERED", {})
    mk.register(Counted)
    kernel = Counted(0.5)
    kernel.calls = 3
    mk.save(kernel, tmp_path / "k.mk")
    again = mk.load(tmp_path / "k.mk")
    assert (again, again.calls) == (kernel, 3)


def test_estimators_are_saved_by_their_public_names(tmp_path):
    for cls in (mk.L1MKLClassifier, mk.HKLClassifier, mk.RLS2Classifier, mk.BestKernelClassifier):
        mk.save(cls(), tmp_path / "m.mk")
        with zipfile.ZipFile(tmp_path / "m.mk") as archive:
            assert json.loads(archive.read("header.json"))["model"]["estimator"] == f"multikernel:{cls.__name__}"
        assert type(mk.load(tmp_path / "m.mk")) is cls


def test_classes_are_found_while_another_thread_imports_parts_of_the_package(monkeypatch):
    """Importing a part sets a name in the package, while somebody looks through its names."""
    room = import_module("multikernel.kernels")

    class Importing:
        @property
        def __class__(self):
            monkeypatch.setattr(room, "_another_part", None, raising=False)
            return Importing

    monkeypatch.setattr(room, "_importing", Importing(), raising=False)
    assert names._in_room.__wrapped__("multikernel.kernels")["RBF"] is kernels.RBF
