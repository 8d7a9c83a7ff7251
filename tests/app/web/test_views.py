"""Several files as views, of several formats: learned from, exported, and predicted by the command line."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pandas as pd
from app_server import Person, people, said

from multikernel.app.jobs.predict import predictions
from multikernel.app.tables.table import read_table


def test_files_of_two_formats_are_views_of_one_model(person: Person, tmp_path: Path) -> None:
    table = pd.read_csv(io.StringIO(people(30)))
    table.insert(0, "nr", [f"p{k}" for k in range(len(table))])
    table["joined"] = pd.to_datetime(table["joined"])
    excel, parquet = io.BytesIO(), io.BytesIO()
    table[["nr", "age", "city"]].to_excel(excel, index=False)
    table[["nr", "joined", "score", "bought"]].iloc[::-1].to_parquet(parquet)
    page = person.upload(("lab.xlsx", excel.getvalue()), ("form.parquet", parquet.getvalue()))
    text = said(page)
    assert "30 rows, 6 columns, 2 views" in text
    assert "matched by &#39;nr&#39;: 30 rows are in all 2 files" in text
    assert "Date: learned from as the day" in text
    result = person.learned(person.submit(f"{page.url.path}/learn", target="form: bought"))
    assert "How good is it?" in result.text, said(result)
    for name in ("run.py", "table.csv", "model.mk", "predictions.csv"):
        (tmp_path / name).write_bytes(person.get(f"{result.url.path}/files/{name}").content)
    told = pd.read_csv(tmp_path / "predictions.csv")["prediction"].tolist()
    assert predictions(tmp_path / "model.mk", read_table(tmp_path / "table.csv"), proba=False).labels == told
    subprocess.run([sys.executable, "run.py"], cwd=tmp_path, check=True, capture_output=True)
    assert pd.read_csv(tmp_path / "predictions.csv")["prediction"].tolist() == told


def test_how_a_file_is_written_does_not_matter(person: Person) -> None:
    plain = person.upload(("a.csv", "a,b,y\n1.5,x,0\n,z,1\n1234.5,x,1\n"))
    for content in ("a;b;y\n1,5;x;0\nNA;z;1\n1234,5;x;1\n", "\ufeffa\tb\ty\n1.5\tx\t0\n?\tz\t1\n1,234.5\tx\t1\n"):
        other = person.upload(("a.csv", content))
        rows = [page.text.partition("The first rows")[2].partition("</table>")[0] for page in (plain, other)]
        assert rows[0] == rows[1]
