"""``multikernel datasets`` and ``multikernel methods``: lists of data sets and of methods."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from multikernel.app.cli import options
from multikernel.app.cli.console import one_line_failures, show_json, show_table
from multikernel.app.cli.options import MethodName


def datasets(data_dir: options.DataDir = None, as_json: options.Json = False) -> None:
    """List the data sets that can be loaded by name."""
    with one_line_failures():
        from multikernel.datasets import available

        entries = available(data_dir)
        if as_json:
            keys = [
                {"name": e.name, "task": e.task, "from": e.origin, "rows": e.n, "features": e.d} for e in entries
            ]  # features: null for texts
            show_json("datasets", {"datasets": keys})
            return
        rows = [[e.name, e.task, e.origin, str(e.n), "text" if e.d is None else str(e.d)] for e in entries]
        show_table("Data sets", ["name", "task", "from", "rows", "features"], rows, text=(0, 1, 2))


_WIDTH = 100  # characters in a line of the text about a parameter


def methods(
    method: Annotated[MethodName | None, typer.Argument(help="The method to describe.")] = None,
    as_json: options.Json = False,
) -> None:
    """List the methods of fit, or the parameters of one, which --set takes.

    Without a method: what each of them learns. With one: each parameter of its estimators, what it may be, and its
    default.
    """
    with one_line_failures():
        if method is None:
            _list(as_json)
        else:
            _describe(method.value, as_json)


def _list(as_json: bool) -> None:
    from multikernel.app.jobs.method_names import AUTOMATIC, NAMES
    from multikernel.app.jobs.methods import METHODS, estimators_of, summary

    descriptions: list[dict[str, Any]] = []
    for name in (None, *METHODS):
        estimators = estimators_of(name)
        words = NAMES[name] if name else AUTOMATIC
        descriptions.append(
            {
                "method": name,
                "title": words.title,
                "when": words.when,
                "estimators": [estimator.__name__ for estimator in estimators],
                "about": summary(estimators[0]),
            }
        )
    if as_json:
        show_json("methods", {"methods": descriptions})
        return
    for row in descriptions:
        typer.echo(f"{row['method'] or 'without --method':18}{row['title']}: {', '.join(row['estimators'])}")
        _paragraph(str(row["when"]), " " * 18)


def _describe(name: str, as_json: bool) -> None:
    from multikernel.app.jobs.method_names import NAMES
    from multikernel.app.jobs.methods import estimators_of, parameters_of, summary

    words = NAMES[name]
    descriptions: list[dict[str, Any]] = [
        {
            "estimator": estimator.__name__,
            "about": summary(estimator),
            "parameters": [
                {"name": p.name, "default": p.default, "kind": p.kind, "about": p.about}
                for p in parameters_of(estimator)
            ],
        }
        for estimator in estimators_of(name)
    ]
    if as_json:
        show_json("methods", {"method": name, "title": words.title, "when": words.when, "estimators": descriptions})
        return
    typer.echo(f"{words.title}. {words.when}\n")
    for estimator in descriptions:
        typer.echo(estimator["estimator"])
        _paragraph(estimator["about"], "")
        for parameter in estimator["parameters"]:
            typer.echo(f"\n  {parameter['name']} : {parameter['kind']}")
            _paragraph(parameter["about"], " " * 6)
        typer.echo()


def _paragraph(text: str, margin: str) -> None:
    from textwrap import fill

    typer.echo(fill(text, _WIDTH, initial_indent=margin, subsequent_indent=margin))
