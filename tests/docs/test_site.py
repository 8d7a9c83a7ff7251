"""The site is built without a warning. The gallery is left out and blocks are not run: other tests run them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx_gallery")
ROOT = Path(__file__).parents[2]


@pytest.mark.study
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    environment = os.environ | {"MULTIKERNEL_GALLERY": "0", "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-D", "run_blocks=0"]
    done = subprocess.run(
        [*command, str(ROOT / "docs"), str(tmp_path / "site")], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "methods" / "l1.html").is_file()
