"""Importing the package stays cheap: what takes long is imported where it is used."""

import subprocess
import sys

import pytest


def loaded_by(code, before=""):
    """The packages that ``code`` loads in a new process, beside those that ``before`` has loaded."""
    report = f"{before}\nimport sys\nloaded = set(sys.modules)\n{code}\nprint(*(set(sys.modules) - loaded))"
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True, check=True)
    return {module.split(".")[0] for module in done.stdout.split()}


def test_import_alone_loads_no_dependency():
    loaded = loaded_by("import multikernel")
    assert "multikernel" in loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "numba"}


def test_names_load_no_more_than_scikit_learn_does():
    names = "from multikernel import EasyMKLClassifier, BankSearchCV, datasets, diagnostics"
    more = loaded_by(names, before="import sklearn.model_selection, sklearn.svm")
    assert "multikernel" in more
    assert not more & {"numba", "llvmlite", "pandas", "matplotlib", "typer", "rich", "jinja2", "torch", "cvxpy"}


def test_every_public_name_exists():
    import multikernel

    for name in multikernel.__all__:
        assert getattr(multikernel, name) is not None
    assert set(multikernel.__all__) <= set(dir(multikernel))
    assert multikernel.__version__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = multikernel.nothing


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_first_word_of_the_command_line_waits_for_no_library(option):
    code = f"""
import contextlib, io
sys.argv = ["multikernel", {option!r}]
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    from multikernel.app.cli.main import main
    main()
"""
    loaded = loaded_by(code, before="import sys")
    assert "typer" in loaded
    assert not loaded & {"scipy", "sklearn", "numba", "pandas", "joblib"}


@pytest.mark.parametrize("words", [["predict", "none.mk", "none.csv"], ["fit", "none.csv", "--target", "y"]])
def test_a_file_that_is_not_there_is_said_before_any_library_is_loaded(words):
    code = f"""
import contextlib, io
sys.argv = ["multikernel", *{words!r}]
said = io.StringIO()
with contextlib.suppress(SystemExit), contextlib.redirect_stderr(said):
    from multikernel.app.cli.main import main
    main()
assert said.getvalue() == "error: {words[1]}: No such file or directory\\n", said.getvalue()
"""
    assert not loaded_by(code, before="import sys") & {"scipy", "sklearn", "numba", "pandas", "joblib"}


def test_a_table_is_read_without_scikit_learn():
    """The application reads every file in a process of its own, which a person waits for."""
    loaded = loaded_by("import multikernel.app.web.reader, multikernel.app.tables.table")
    assert "numpy" in loaded
    assert not loaded & {"scipy", "sklearn", "numba", "pandas", "joblib"}
