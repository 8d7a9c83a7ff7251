"""The README's example runs as it stands."""

import re
from pathlib import Path


def test_the_ten_lines_run(capsys):
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    code = re.search(r"```python\n(.*?)```", readme, re.DOTALL)[1]
    exec(compile(code, "README.md", "exec"), {})
    score, rest = capsys.readouterr().out.split("\n", 1)
    assert float(score) > 0.9
    assert float(rest.split()[-1]) <= 1e-6  # the duality gap
