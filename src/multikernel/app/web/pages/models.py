"""Uploaded models: their upload, their page, predictions for new rows, renaming, deletion."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response

from multikernel.app.web.pages.data import files_of
from multikernel.app.web.private import private_file
from multikernel.app.web.reading import answer_of_process, load_uploads
from multikernel.app.web.site import Site, name_of, one_line_name
from multikernel.app.web.store import StoredModel
from multikernel.app.web.views import ViewsOfModel, in_each_file

_COMMAND = [sys.executable, "-m", "multikernel.app.web.opener"]
_INSTEAD = "save the model again"
_LARGEST = 2 << 20  # bytes of the description of a model
_START = b"PK\x03\x04"  # the first bytes of a zip file, the format of saved models
_ROWS = 100  # predictions on a page; the file has all


def load(site: Site, request: Request, form: FormData) -> Response:
    """Add an uploaded model."""
    uploads = files_of(form)
    if len(uploads) != 1:
        raise ValueError("Choose one file: a model that this application or `multikernel fit` has saved, a .mk file.")
    return add_model(site, uploads[0])


def add_model(site: Site, file: UploadFile) -> Response:
    """Add the model of a file, and go on to its page.

    Parameters
    ----------
    site : as for every page
    file : the uploaded file

    Raises
    ------
    ValueError : where the file is no model
    """
    name = one_line_name(Path((file.filename or "").replace("\\", "/")).name.removesuffix(".mk")) or "model"
    start = file.file.read(len(_START))
    file.file.seek(0)
    if start != _START:
        raise ValueError(
            f"{name}.mk is no saved model; give one that this application or `multikernel fit` has saved, as it was "
            "saved."
        )
    folder = site.store.new_model_folder()
    try:
        path = folder / "model.mk"
        private_file(path)
        with path.open("wb") as stored:
            shutil.copyfileobj(file.file, stored)
        detail = answer_of_process(_COMMAND, _order(site, path, f"{name}.mk"), site.settings, _INSTEAD)
        if len(json.dumps(detail)) > _LARGEST:
            raise ValueError(f"{name}.mk says more of its columns than a page can show; use it with the command line.")
        site.store.add_model(folder, name, detail)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return site.go(f"/models/{folder.name}")


def _order(site: Site, path: Path, name: str) -> dict[str, Any]:
    settings = site.settings
    return {
        "model": str(path),
        "name": name,
        "memory": settings.run_memory,
        "file_size": 4 * settings.unpacked_limit,
    }


def look(site: Site, request: Request) -> Response:
    """The page of a model, with the form for new rows."""
    return site.page(request, "model.html", model=site.model(request))


def predict(site: Site, request: Request, form: FormData) -> Response:
    """The page of the predictions for an uploaded file."""
    model = site.model(request)
    uploads = files_of(form)
    if not uploads:
        raise ValueError("No file was chosen. Choose one with the columns that the model learned from.")
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)
        table = load_uploads(uploads, "", folder, site.settings, _views(model), _written(model))
        out = folder / "predictions.csv"
        order = _order(site, model.file, model.name) | {
            "table": str(folder / "table.csv"),
            "rows": table.name,
            "columns": "columns" in form,
            "out": str(out),
            "shown": _ROWS,
        }
        answers = answer_of_process(_COMMAND, order, site.settings, _INSTEAD)
        text = out.read_bytes()
    return site.page(
        request,
        "predictions.html",
        crumbs=[("/", "Data"), (f"/models/{model.id}", model.name)],
        target=model.detail["target"],
        name=table.name,
        note=table.note,
        answers=answers,
        names=answers["names"],
        count=answers["count"],
        rows=answers["rows"],
        link="data:text/csv;charset=utf-8;base64," + b64encode(text).decode(),
    )


def _views(model: StoredModel) -> ViewsOfModel | None:
    views = model.detail["views"]
    if len(views) > 1:
        return ViewsOfModel(views, model.detail["key"])
    return None


def _written(model: StoredModel) -> dict[str, Sequence[str]]:
    written = model.detail["written"]
    return in_each_file(written, dict.fromkeys(model.detail["views"], written))


def rename(site: Site, request: Request, form: FormData) -> Response:
    """Rename the model."""
    model = site.model(request)
    site.store.rename_model(model.id, name_of(form, "A model"))
    return site.go(f"/models/{model.id}")


def delete(site: Site, request: Request, form: FormData) -> Response:
    """Delete the model and its file."""
    site.store.delete_model(site.model(request).id)
    return site.go("/")
