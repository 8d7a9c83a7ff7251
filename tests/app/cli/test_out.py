"""What ``--out`` may replace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from csv_tables import Invoke, write_table

from multikernel import EasyMKLClassifier
from multikernel.persistence import save

_FIT = ("fit", "train.csv", "--target", "target", "--lam", "0.1")


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """A pipe with a name: no ordinary file, and safe to lose."""
    path = tmp_path / "device"
    os.mkfifo(path)
    return path


def test_a_device_is_never_replaced(invoke: Invoke, device: Path) -> None:
    write_table(Path("train.csv"), "number", 30)
    Path("link").symlink_to(device)
    for name in ("device", "link"):
        refused = invoke(*_FIT, "--out", name, "--force")
        assert refused.exit_code == 1
        assert refused.stderr == f"error: cannot write {name}: it is a device, and no file; give the name of a file\n"
    with pytest.raises(OSError, match="it is a device"):
        save(EasyMKLClassifier(), device)
    assert device.is_fifo()
    assert Path("link").is_symlink()


def test_a_file_is_replaced_by_force_only_and_keeps_its_mode(invoke: Invoke) -> None:
    write_table(Path("train.csv"), "number", 30)
    Path("kept.mk").write_text("old")
    Path("kept.mk").chmod(0o640)
    Path("link.mk").symlink_to("kept.mk")
    refused = invoke(*_FIT, "--out", "kept.mk")
    assert refused.exit_code == 1
    assert "kept.mk: it exists; give another name to --out, or --force to replace it" in refused.stderr
    assert Path("kept.mk").read_text() == "old"
    assert invoke(*_FIT, "--out", "link.mk", "--force").exit_code == 0
    assert Path("link.mk").is_symlink()
    assert Path("kept.mk").read_bytes().startswith(b"PK")
    assert Path("kept.mk").stat().st_mode & 0o777 == 0o640


def test_a_new_model_may_be_read_by_whom_other_new_files_may(invoke: Invoke) -> None:
    write_table(Path("train.csv"), "number", 30)
    assert invoke(*_FIT).exit_code == 0
    assert Path("model.mk").stat().st_mode == Path("train.csv").stat().st_mode


def test_the_files_that_are_read_are_never_written(invoke: Invoke) -> None:
    write_table(Path("train.csv"), "number", 30)
    before = Path("train.csv").read_bytes()
    Path("same.csv").hardlink_to("train.csv")
    assert invoke(*_FIT).exit_code == 0
    for words in (
        (*_FIT, "--out", "train.csv"),
        (*_FIT, "--out", "same.csv"),
        ("predict", "model.mk", "train.csv", "--out", "./train.csv"),
        ("predict", "model.mk", "train.csv", "--out", "model.mk"),
    ):
        refused = invoke(*words, "--force")
        assert refused.exit_code == 1
        assert "it is the file to be read; give another name to --out" in refused.stderr
    assert Path("train.csv").read_bytes() == before


def test_a_link_that_leads_nowhere_is_refused_in_a_sentence(invoke: Invoke) -> None:
    write_table(Path("train.csv"), "number", 30)
    Path("loop").symlink_to("loop")
    Path("dangling").symlink_to(Path("nowhere") / "model.mk")
    for name, said in (
        ("loop", "cannot write loop: it is a link that leads back to itself; give the name of a file"),
        ("dangling", "cannot write dangling: it is a link to "),
        ("-", "cannot write '-': it is no name of a file; give one"),
    ):
        refused = invoke(*_FIT, "--out", name)
        assert (refused.exit_code, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)
        assert refused.stderr.startswith(f"error: {said}")
    assert not Path("-").exists()
    with pytest.raises(OSError, match="a link that leads back to itself"):
        save(EasyMKLClassifier(), Path("loop"))
