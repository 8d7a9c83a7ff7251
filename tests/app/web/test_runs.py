"""Runs: what they find, how they end, and that they stay."""

from __future__ import annotations

import errno
import html
import io
import json
import os
import re
import runpy
import signal
import subprocess
import time
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from app_server import TWO_FOLDS, Person, people, said, saved, serving

import multikernel
from multikernel import PredictionWarning
from multikernel.app.jobs.predict import predictions
from multikernel.app.tables.table import read_table
from multikernel.app.web import worker
from multikernel.app.web.exports import repeated
from multikernel.app.web.settings import Settings
from multikernel.app.web.store import Store
from multikernel.app.web.worker import shortage_sentence

_OWN = ["age", "city", "joined", "score"]


@pytest.fixture(scope="module")
def data(person: Person) -> str:
    """The address of a data set."""
    return person.upload(("people.csv", people())).url.path


@pytest.fixture(scope="module")
def automatic(person: Person, data: str) -> str:
    """The address of a run of the automatic estimator, at its end."""
    page = person.learned(person.submit(f"{data}/learn", target="bought", how="automatic", **TWO_FOLDS))
    assert "How good is it?" in page.text, said(page)
    return page.url.path


def test_the_data_page_tells_types_gaps_and_what_is_suspicious(person: Person) -> None:
    rows = [f"{k},{k % 7},const,{2 * (k % 5) + 1},2024-01-{k % 27 + 1:02},{k % 5}" for k in range(60)]
    page = person.upload(("t.csv", "\n".join(["patient_id,a,b,leak,day,target", *rows])))
    text = said(page)
    for sentence in ("Identifier:", "Constant:", "Date:", "Column leak alone predicts target almost exactly"):
        assert sentence in text
    assert re.search(r'value="regression"', page.text)
    assert "5 rows" not in text
    other = person.get(page.url, params={"target": "a"})
    assert re.search(r"<option selected>a</option>", other.text)
    assert "has one value only" in said(person.get(page.url, params={"target": "b"}))


def _by_hand(n: int) -> str:
    """A table whose columns all look like something else."""
    rows = (
        f"{k % 4},{('aa bb', 'cc')[k % 3 > 0]},0{k % 5 + 1}/0{k % 7 + 1}/2020,{(k, 'low')[k % 2]},{k % 4 in (0, 2)}"
        for k in range(n)
    )
    return "\n".join(["code,note,day,size,y", *rows])


@pytest.mark.study
def test_every_type_can_be_chosen_by_hand_and_goes_along(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = person.upload(("t.csv", _by_hand(40)))
    kinds = {"code": "category", "note": "text", "day": "date", "size": "number"}
    assert all(f"<option>{kind}</option>" in page.text for kind in kinds.values())
    fields = {"target": "y"} | {f"use-{k}": "on" for k in range(4)}
    refused = person.submit(f"{page.url.path}/learn", **fields, **{"kind-1": "date"})
    assert refused.status_code == 400
    assert "No cell of &#39;note&#39; can be read as a date" in said(refused)
    fields |= {f"kind-{k}": kind for k, kind in enumerate(kinds.values())}
    kept = person.submit(f"{page.url.path}/choose", **fields)
    assert re.findall(r"<option selected>(\w+)</option>", kept.text)[1:] == list(kinds.values())
    assert "20 of 40 cells cannot be read as a number" in said(kept)
    form = {"method": "AverageMKLClassifier", "kernels-0": "types", "p-C": "1"}
    result = person.learned(person.submit(f"{page.url.path}/method", **form))
    assert "100.0%" in said(result), said(result)
    for name in ("run.py", "run.toml", "table.csv", "predictions.csv", "model.mk"):
        (tmp_path / name).write_bytes(person.get(f"{result.url.path}/files/{name}").content)
    by_command = predictions(tmp_path / "model.mk", read_table(tmp_path / "table.csv"), proba=False)
    assert by_command.labels == [str(k % 4 in (0, 2)) for k in range(40)]
    recipe = tomllib.loads((tmp_path / "run.toml").read_text())
    assert recipe["columns"] == kinds
    assert recipe["parameters"] == {"C": 1}
    assert {"note: characters", "day: days"} <= set(re.findall(r"[\w: ]+", result.text.replace("</td>", ";")))
    monkeypatch.chdir(tmp_path)
    runpy.run_path("run.py")
    told = pd.read_csv("run-output/predictions.csv")["prediction"]
    assert told.tolist() == [k % 4 in (0, 2) for k in range(40)]
    answers = saved(person.submit(f"{result.url.path}/predict", files=[("files", ("n.csv", _by_hand(8)))]))
    assert pd.read_csv(io.StringIO(answers))["prediction"].tolist() == [k % 4 in (0, 2) for k in range(8)]


def test_the_result_page_is_small_and_says_what_to_see(person: Person, automatic: str) -> None:
    page = person.get(automatic)
    assert len(page.content) < 300_000
    for words in ("one tuned Gaussian kernel", "Which mistakes?", "classes separated", "be trusted", "What is proved?"):
        assert words in page.text
    assert page.text.count("<svg") >= 6
    assert 'style="' not in page.text
    report = person.get(f"{automatic}/files/report.html")
    assert "http" not in re.sub(r"http-equiv|xmlns", "", report.text)


def test_exported_code_and_command_give_the_same_numbers(
    person: Person,
    automatic: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("run.py", "run.toml", "table.csv", "model.mk", "predictions.csv"):
        (tmp_path / name).write_bytes(person.get(f"{automatic}/files/{name}").content)
    shown = [float(score) for score in re.findall(r"this run, fold \d: ([\d.]+)%", person.get(automatic).text)]
    model, table = multikernel.load(tmp_path / "model.mk"), pd.read_csv(tmp_path / "table.csv")
    own = model.predict(table[_OWN])
    first = pd.read_csv(tmp_path / "predictions.csv")
    assert own.tolist() == first["prediction"].tolist()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.chdir(tmp_path)
    runpy.run_path("run.py")
    scores = [float(score) for score in re.findall(r"0\.\d+|1\.0+", capsys.readouterr().out.splitlines()[0])]
    assert len(scores) == 2
    assert np.allclose(100 * np.array(scores), shown, atol=0.051)
    again = pd.read_csv(tmp_path / "run-output" / "predictions.csv")
    assert again["prediction"].tolist() == own.tolist()
    for name, content in before.items():  # what was taken home is as it was
        assert (tmp_path / name).read_bytes() == content
    with pytest.raises(SystemExit, match="run-output holds the output of an earlier run"):
        runpy.run_path("run.py")
    found = repeated(tmp_path / "run.toml", tmp_path / "table.csv", tmp_path / "again.mk", lambda line: None)
    assert np.allclose(found["scores"]["own"], scores, atol=1e-6)
    twin = multikernel.load(tmp_path / "again.mk")
    assert np.array_equal(twin.predict_proba(table[_OWN]), model.predict_proba(table[_OWN]))


@pytest.mark.study
def test_a_method_with_kernels_and_a_path_exports_the_same_numbers(
    person: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = person.upload(("few.csv", people(30))).url.path
    person.submit(f"{data}/choose", target="bought")
    form = person.get(f"{data}/method", params={"method": "AverageMKLClassifier"})
    assert 'name="p-C"' in form.text
    wrong = person.submit(f"{data}/method", method="AverageMKLClassifier", **{"p-C": "-1"})
    assert wrong.status_code == 400
    assert "C must be" in said(wrong)
    assert re.search(r'name="k0-polynomials-degrees" value="1, 2, 3"', form.text)
    wrong_kernel = {"kernels-0": "degrees", "k0-degrees-max_degree": "x"}
    refused = person.submit(f"{data}/method", method="AverageMKLClassifier", **wrong_kernel)
    assert refused.status_code == 400
    assert "max_degree must be" in said(refused)
    fields = {"method": "AverageMKLClassifier", "path": "C", "kernels-0": ["types", "polynomials"]}
    fields |= {"k0-polynomials-degrees": "2", "k0-gaussians-gammas": "not ticked"}
    page = person.learned(person.submit(f"{data}/method", **fields))
    assert "How closely to follow the rows?" in page.text, said(page)
    for name in ("run.py", "run.toml", "table.csv", "model.mk"):
        (tmp_path / name).write_bytes(person.get(f"{page.url.path}/files/{name}").content)
    model = multikernel.load(tmp_path / "model.mk")
    assert [name.partition(",")[0] for name in model.kernel_names_ if "Poly" in name] == ["Polynomial(degree=2"]
    repeated(tmp_path / "run.toml", tmp_path / "table.csv", tmp_path / "again.mk", lambda line: None)
    assert np.array_equal(multikernel.load(tmp_path / "again.mk").dual_coef_, model.dual_coef_)
    monkeypatch.chdir(tmp_path)
    runpy.run_path("run.py")
    twin = multikernel.load(tmp_path / "run-output" / "model.mk")
    assert np.array_equal(twin.weights_, model.weights_)
    assert np.array_equal(twin.dual_coef_, model.dual_coef_)
    sample = person.get(f"{page.url.path}/sample", params={"row": 3})
    assert "What each part of the model contributes" in sample.text


def test_runs_are_compared_side_by_side(person: Person, automatic: str) -> None:
    page = person.get("/runs/compare", params={"run": [automatic.rpartition("/")[2]] * 2})
    assert page.text.count("people: bought, automatic") >= 4
    assert "Side by side" in page.text


def test_runs_side_by_side_tell_by_which_kernels_and_which_value_they_differ(tmp_path: Path) -> None:
    own = {"data": "d", "target": "y", "method": "AverageMKLClassifier", "columns": {"a": "number"}, "parameters": {}}
    runs = (
        (
            {"kernels": {"": ["linear", "polynomials"]}, "kernel_parameters": {"": {"polynomials": {"degrees": [2]}}}},
            10.0,
        ),
        ({"kernels": {"": ["types"]}, "parameters": {"C": 3.0}}, None),
        ({}, None),
    )
    store = Store(Settings(tmp_path))
    names = []
    for recipe, chosen in runs:
        run = store.add_run("gone", "a run", own | recipe)
        result = {
            "measure": "accuracy",
            "task": "classification",
            "n": 9,
            "seconds": 1.0,
            "scores": {"own": [0.5, 0.7]},
        }
        (run.folder / "result.json").write_text(json.dumps(result | {"chosen": {"C": chosen} if chosen else {}}))
        store.set_run(run.id, status="done", summary={"measure": "accuracy", "score": 0.6, "deviation": 0.1})
        names.append(run.id)
    methods = store.add_run("gone", "a comparison", own | {"method": "comparison"})
    scores = {"less_is_better": False, "comparison": [{"method": "some", "scores": [0.5, 0.9], "seconds": 1.0}]}
    known = {"measure": "accuracy", "task": "classification", "n": 9, "seconds": 1.0}
    (methods.folder / "result.json").write_text(json.dumps(known | scores))
    store.set_run(methods.id, status="done", summary={"measure": "accuracy", "score": 0.7, "deviation": 0.1})
    with serving(tmp_path) as address, Person(address) as person:
        text = said(person.get("/runs/compare", params={"run": names}))
        many = said(person.get("/runs/compare", params={"run": [*names, *names[:2], methods.id, names[0]]}))
    kernels = "Linear Polynomials, degrees = [2] By the type of each column those of the method"
    parameters = "C = 10.000, chosen along a path otherwise defaults C = 3.0 defaults"
    assert f"kernels {kernels} parameters {parameters} time" in text
    assert "at most" not in text
    assert "C = 3.0 defaults time" in many  # the last is a comparison of methods
    assert "At most 6 runs are shown side by side: the first 6 of the 7 that were ticked." in many


def test_new_rows_and_typed_samples_are_predicted(person: Person, automatic: str, tmp_path: Path) -> None:
    new = people(7, seed=1)
    answer = person.submit(f"{automatic}/predict", files=[("files", ("new.csv", new))])
    lines = saved(answer).splitlines()
    assert lines[0] == "prediction,probability no,probability yes"
    assert len(lines) == 8
    assert "accuracy on the 7 rows whose bought the file has" in said(answer)
    with_cells = person.submit(f"{automatic}/predict", files=[("files", ("new.csv", new))], columns="all")
    assert saved(with_cells).splitlines()[0] == "age,city,joined,score,bought,prediction,probability no,probability yes"
    lacking = person.submit(f"{automatic}/predict", files=[("files", ("new.csv", "age,city\n3,Rome\n"))])
    assert lacking.status_code == 400
    assert "lacks 'joined', 'score'" in said(lacking).replace("&#39;", "'")
    page = person.submit(
        f"{automatic}/predict-one", **{"cell-0": "30", "cell-1": "Rome", "cell-2": "", "cell-3": "0.5"}
    )
    assert page.status_code == 200
    assert "What each column does" in page.text
    assert person.get(f"{automatic}/sample", params={"row": "61"}).status_code == 400


def test_cells_that_cannot_be_read_are_refused_where_they_stand(person: Person, automatic: str) -> None:
    cells = {"cell-0": "old", "cell-1": "Rome", "cell-2": "yesterday", "cell-3": "50,5"}
    page = person.submit(f"{automatic}/predict-one", **cells)
    assert page.status_code == 400
    text = said(page).replace("&#39;", "'")
    for cell, kind in (("old", "number"), ("yesterday", "date"), ("50,5", "number")):
        assert f"{cell!r} is not a {kind}, and the model learned {kind}s from this column" in text
        assert f'value="{cell}"' in page.text
    assert "What each column does" not in text
    new = people(7, seed=1).splitlines()
    new[3] = "abc," + new[3].partition(",")[2]
    answer = person.submit(f"{automatic}/predict", files=[("files", ("new.csv", "\n".join(new)))])
    assert answer.status_code == 400
    assert "new: row 4, column 'age': 'abc' is not a number" in said(answer).replace("&#39;", "'")


def test_words_that_training_counted_as_missing_stay_missing(person: Person, tmp_path: Path) -> None:
    lines = people().splitlines()
    lines[2] = "unknown," + lines[2].partition(",")[2]
    data = person.upload(("words.csv", "\n".join(lines))).url.path
    run = person.learned(person.submit(f"{data}/learn", target="bought", how="automatic", **TWO_FOLDS)).url.path
    new = "\n".join(lines[:4])
    answer = person.submit(f"{run}/predict", files=[("files", ("new.csv", new))])
    assert len(saved(answer).splitlines()) == 4
    (tmp_path / "model.mk").write_bytes(person.get(f"{run}/files/model.mk").content)
    (tmp_path / "new.csv").write_text(new)
    by_command = predictions(tmp_path / "model.mk", read_table(tmp_path / "new.csv"), proba=False)
    assert by_command.labels == pd.read_csv(io.StringIO(saved(answer)))["prediction"].tolist()
    (tmp_path / "new.csv").write_text(new.replace("unknown", "abc"))
    with pytest.raises(ValueError, match=r"row 3, column 'age': 'abc' is not a number"):
        predictions(tmp_path / "model.mk", read_table(tmp_path / "new.csv"), proba=False)


def test_a_run_stops_at_once_and_the_queue_goes_on(person: Person, address: str) -> None:
    rng = np.random.default_rng(0)
    rows = [",".join(map(str, row)) for row in rng.normal(size=(1500, 8)).round(4)]
    data = person.upload(("slow.csv", "\n".join(["a,b,c,d,e,f,g,y", *rows]))).url.path
    first = person.submit(f"{data}/learn", target="y", how="automatic").url.path
    second = person.submit(f"{data}/learn", target="y", how="automatic").url.path
    assert "Waiting: 1 before it" in said(person.get(second))
    assert "was stopped" in said(person.learned(person.submit(f"{second}/stop")))
    assert "was stopped" in said(person.submit(f"{first}/stop"))  # the page that follows, without a script
    listed = person.get("/runs", params={"q": "slow stopped"})
    assert listed.text.count('<span class="status stopped">') == 2
    assert "No run has" in said(person.get("/runs", params={"q": "nothing of that name"}))


def test_killed_and_impossible_runs_say_their_last_words(tmp_path: Path) -> None:
    with serving(tmp_path, run_memory=120 << 20) as address, Person(address) as person:
        data = person.upload(("people.csv", people())).url.path
        page = person.learned(person.submit(f"{data}/learn", target="bought"))
        assert "did not come to an end" in page.text
        assert "The memory was not enough" in said(page) or "last words" in said(page)
    with serving(tmp_path, ready=True) as address, Person(address) as person:
        one = person.upload(("one.csv", "a,b\n1,x\n2,y\n3,x\n")).url.path
        for address, form in (("learn", {"target": "b"}), ("method", {"method": "AverageMKLClassifier"})):
            told = person.submit(f"{one}/{address}", **form)
            assert told.status_code == 400  # before anything is learned
            assert "the class &#39;y&#39; has one row only" in said(told)
        assert "3 rows are too few" in said(person.submit(f"{one}/learn", target="a"))
        page = person.submit(f"{data}/learn", target="bought")
        for _ in range(3000):
            working = _children(os.getpid())
            if working and "Fold" in person.get(page.url).text:
                break
            time.sleep(0.02)
        for child in working:
            os.kill(child, signal.SIGINT)  # of Ctrl-C on a terminal, which means the server
        time.sleep(0.3)
        assert "Fold" in person.get(page.url).text
        for child in working:
            os.kill(child, signal.SIGKILL)
        assert "was killed by signal 9, as the system does where memory is short: learn" in said(person.learned(page))
        again = person.submit(f"{page.url.path}/again")
        assert "data-events" in again.text
        person.submit(f"{again.url.path}/stop")


def test_what_a_computer_lacked_for_a_run_is_one_sentence_each(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MemoryError) as large:
        np.empty(1 << 58)
    assert shortage_sentence(large.value, 1600).startswith("The memory was not enough, of which a run may take 1600 MB")
    own = shortage_sentence(
        MemoryError("a fit of 9 kernels takes 8 GB, and 1 GB are available: take fewer kernels"), 1600
    )
    assert own.endswith("take fewer kernels, or start the server with more --memory than 1600 MB.")
    assert "disk (No space left on device)" in shortage_sentence(OSError(errno.ENOSPC, "No space left on device"), 1600)
    unloaded = OSError(
        "Could not find/load shared object file 'libllvmlite.so'"
    )  # as llvmlite says without room for it
    monkeypatch.setattr(worker, "available_memory", lambda: 1e8)
    assert "The memory was not enough" in shortage_sentence(unloaded, 1600)
    monkeypatch.setattr(worker, "available_memory", lambda: 1e10)
    assert "cannot be loaded (Could not find" in shortage_sentence(unloaded, 1600)


def _children(parent: int) -> list[int]:
    found = subprocess.run(["pgrep", "-P", str(parent), "-f", "app.web.worker"], capture_output=True, text=True)
    return [int(line) for line in found.stdout.split()]


def test_runs_are_renamed_compared_deleted_and_survive_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as address, Person(address) as person:
        data = person.upload(("people.csv", people())).url.path
        stopped = person.submit(f"{data}/learn", target="bought").url.path
        person.submit(f"{stopped}/stop")
        done = person.learned(person.get(stopped)).url.path
        person.submit(f"{done}/rename", name="my <b>first</b>")
        assert "1 of the ticked runs" in said(person.get("/runs/compare", params={"run": done.rpartition("/")[2]}))
        page = person.get("/runs")
        assert "my &lt;b&gt;first&lt;/b&gt;" in page.text
        goes_on = person.submit(f"{data}/learn", target="bought").url.path
        while "Waiting" in said(person.get(goes_on)):
            time.sleep(0.02)
    store = Store(Settings(tmp_path))
    store.set_run(store.add_run("gone", "cut off", store.runs()[0].recipe).id, status="running")
    with serving(tmp_path) as address, Person(address) as person:
        assert "my &lt;b&gt;first" in person.get(done).text
        assert "The server was ended before this run was" in said(person.get(goes_on))
        assert "The server was ended before this run was" in said(person.get(f"/runs/{_id_of(person, 'cut off')}"))
        assert person.submit(f"{done}/delete").status_code == 200
        assert person.get(done).status_code == 404
        assert not (tmp_path / done.lstrip("/")).exists()


def _id_of(person: Person, name: str) -> str:
    found = re.search(rf'href="/runs/(\w+)">{name}<', person.get("/runs").text)
    assert found is not None
    return found[1]


def _with_commas(n: int, mark: str) -> str:
    """Numbers with decimal commas, a category, and a target that is twice the number."""
    rng = np.random.default_rng(0)
    values = rng.uniform(1.0, 9.5, n).round(3)
    rows = [f"{v:.3f};{rng.choice(list('ab'))};{2 * v:.3f}".replace(".", mark) for v in values]
    return "\n".join(["x;c;y", *rows])


def test_new_rows_are_read_as_those_of_training(person: Person, tmp_path: Path) -> None:
    data = person.upload(("t.csv", _with_commas(40, ","))).url.path
    form = {"method": "MultipleKernelRidgeCV", "kernels-0": "linear", "p-alpha": "1e-6"}
    person.submit(
        f"{data}/choose", target="y", **TWO_FOLDS, **{f"{w}-{k}": "number" for k in (0, 2) for w in ("use", "kind")}
    )
    page = person.learned(person.submit(f"{data}/method", **form))
    assert "How good is it?" in page.text, said(page)
    run = page.url.path
    for new in ("x;c\n1,500;a\n2,500;b", "x,c\n1.500,a\n2.500,b", 'x,c\n"1,500",a\n"2,500",b', "x;c\n1.5;a\n2.5;b"):
        page = person.submit(f"{run}/predict", files=[("files", ("new.csv", new))])
        found = pd.read_csv(io.StringIO(saved(page)))["prediction"]
        assert found.tolist() == pytest.approx([3.0, 5.0], abs=0.05), new
    typed = said(person.submit(f"{run}/predict-one", **{"cell-0": "1,5", "cell-1": "a"}))
    assert re.search(r" y (2\.9\d*|3(\.0\d*)?) ", typed), typed
    far = person.submit(f"{run}/predict", files=[("files", ("new.csv", "x;c\n99999;a\n2,5;b"))])
    assert "1 cell of 'x', such as 99999 in row 2 (in training 1" in said(far).replace("&#39;", "'")
    (tmp_path / "model.mk").write_bytes(person.get(f"{run}/files/model.mk").content)
    (tmp_path / "new.csv").write_text('x,c\n"1,500",a\n"99999",b')
    with pytest.warns(PredictionWarning, match="1 cell of 'x', such as 99999 in row 3"):
        found = predictions(tmp_path / "model.mk", read_table(tmp_path / "new.csv"), proba=False).labels
    assert found[0] == pytest.approx(3.0, abs=0.05)


def test_a_category_that_training_did_not_have_is_named(person: Person, automatic: str) -> None:
    new = "\n".join([people(3, seed=1).splitlines()[0], "30,Turin,2020-01-01,0.1,yes"])
    page = person.submit(f"{automatic}/predict", files=[("files", ("new.csv", new))])
    assert "has categories, 'Turin' for one, that the training sample does not have" in said(page).replace("&#39;", "'")


def test_dates_beyond_training_and_empty_rows_are_named(person: Person, automatic: str) -> None:
    new = "\n".join([people(3, seed=1).splitlines()[0], ",,,,", "30,Rome,2950-01-02,0.1,yes"])
    page = said(person.submit(f"{automatic}/predict", files=[("files", ("new.csv", new))]))
    assert re.search(r"such as 2950-01-02 in row 3 \(in training 201\d-\d\d-\d\d to 202\d-\d\d-\d\d\)", page), page
    assert "1 row is empty in all columns that the model learned from, such as row 2" in page


def test_a_run_learns_the_target_that_its_page_has_shown(person: Person, data: str) -> None:
    person.submit(f"{data}/choose", target="bought")
    first = person.get(f"{data}/method")
    choice = html.unescape(re.findall(r'name="choice" value="([^"]*)"', first.text)[0])
    person.submit(f"{data}/choose", target="age")  # in another window
    form = {"method": "AverageMKLClassifier", "kernels-0": "types", "p-C": "1"}
    run = person.submit(f"{data}/method", choice=choice, **form)
    assert "people: bought, AverageMKLClassifier" in said(run)
    person.submit(f"{run.url.path}/stop")
    other = person.submit(f"{data}/method/form", choice=choice, method="EasyMKLClassifier")
    assert "To predict bought" in said(other)
    kept = person.submit(f"{data}/choose", target="bought", shown="bought", task="classification")
    assert '<option value="classification" selected>' in kept.text


def test_a_form_that_is_refused_keeps_what_was_typed(person: Person, data: str) -> None:
    person.submit(f"{data}/choose", target="bought")
    form = {"method": "L1MKLClassifier", "kernels-0": "anova", "k0-anova-max_degree": "2", "p-C": "-3", "p-tol": "0.01"}
    page = person.submit(f"{data}/method", **form)
    assert page.status_code == 400
    assert "C must be" in said(page) or "C has to be" in said(page), said(page)
    for value in ('name="p-C" value="-3"', 'name="p-tol" value="0.01"', 'name="k0-anova-max_degree" value="2"'):
        assert value in page.text
    assert re.search(r'value="anova" checked', page.text)
    assert not re.search(r'value="types" checked', page.text)


def test_a_form_of_a_damaged_choice_is_refused(person: Person, data: str) -> None:
    for choice in (
        "[]",
        "{",
        '{"target": 5}',
        '{"used": 3}',
        '{"used": {"age": "on"}}',
        '{"kinds": {"age": []}}',
        '{"kinds": {"nothing": "number"}}',
        '{"task": "rank", "missing": 1}',
    ):
        page = person.submit(f"{data}/method", method="L1MKLClassifier", choice=choice)
        assert page.status_code == 400
        assert "The form of this page is damaged" in said(page), choice


def test_a_method_for_too_few_rows_keeps_what_was_typed(person: Person) -> None:
    data = person.upload(("few.csv", "a,y\n1,u\n2,u\n3,u\n4,v\n")).url.path
    person.submit(f"{data}/choose", target="y")
    page = person.submit(f"{data}/method", **{"method": "L1MKLClassifier", "p-C": "7"})
    assert page.status_code == 400
    assert "has one row only" in said(page)
    assert 'name="p-C" value="7"' in page.text


def test_measures_mistakes_and_charts_of_a_run(person: Person, automatic: str) -> None:
    page = person.get(automatic)
    text = said(page)
    for words in ("balanced accuracy", "mean F1", "area under the ROC curve", "log loss", "Each class"):
        assert words in text
    answers = pd.read_csv(io.StringIO(person.get(f"{automatic}/files/table.csv").text))
    rows = re.findall(r'sample\?row=(\d+)">\d+</a></td><td>(\w+)</td><td>(\w+)</td>', page.text)
    for row, truth, predicted in rows:
        assert answers["bought"][int(row) - 1] == truth != predicted
    for name in re.findall(r'href="([^"]*)" download>SVG', page.text):
        chart = person.get(name)
        assert chart.headers["content-type"] == "image/svg+xml"
        assert ElementTree.fromstring(chart.text).tag.endswith("svg")
        assert "var(--c0)" in chart.text
    assert person.get(f"{automatic}/charts/nothing.svg").status_code == 404


def test_many_columns_are_screened_and_twins_used_once(person: Person) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 45)).round(4)
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(45)])
    frame["twin"] = frame["f3"]
    frame["y"] = (10 * frame["f7"]).round(3)
    page = person.upload(("wide.csv", frame.to_csv(index=False)))
    assert "The same cells as f3: it adds nothing" in said(page)
    person.submit(f"{page.url.path}/choose", target="y", **TWO_FOLDS)
    form = {"method": "MultipleKernelRidgeCV", "kernels-0": "linear", "p-alpha": "1"}
    run = said(person.learned(person.submit(f"{page.url.path}/method", **form)))
    assert "The answer depends most on f7" in run
    assert "Of 45 columns, these 40 were tried" in run
    assert "mean absolute error" in run
    assert "Which rows are predicted worst?" in run


def test_a_value_beside_its_path_is_refused(person: Person, data: str) -> None:
    person.submit(f"{data}/choose", target="bought")
    form = {"method": "L1MKLClassifier", "kernels-0": "types", "p-C": "3", "path": "C"}
    page = person.submit(f"{data}/method", **form)
    assert page.status_code == 400
    assert "C is given as 3, and is to be chosen along a path as well" in said(page)
    assert 'name="p-C" value="3"' in page.text


def test_formulas_are_text_and_classes_are_compared_as_numbers(person: Person) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=60).round(3)
    lines = ["=x,n,y", *(f"{v},{'=1+1' if k % 2 else 'a'},{int(v > 0)}" for k, v in enumerate(values))]
    data = person.upload(("t.csv", "\n".join(lines))).url.path
    person.submit(f"{data}/choose", target="y", **TWO_FOLDS)
    run = person.learned(person.submit(f"{data}/method", method="AverageMKLClassifier", **{"p-C": "10"})).url.path
    new = "=x,n,y\n-1.5,=1+1,0.0\n1.5,a,1.0"
    page = person.submit(f"{run}/predict", files=[("files", ("new.csv", new))], columns="all")
    lines = saved(page).splitlines()
    assert lines[0].startswith("'=x,n,y,prediction")
    assert lines[1].startswith("-1.5,'=1+1,0.0,0")
    assert "accuracy on the 2 rows whose y the file has 100.0%" in said(page)
