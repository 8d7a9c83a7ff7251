"""How the documentation is built: ``make docs``."""

from __future__ import annotations

import os
import re
import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions")]
os.environ["PYTHONWARNINGS"] = "default"

project = "multikernel"
author = "The multikernel developers"
copyright = author
try:
    release = metadata.version("multikernel")
except metadata.PackageNotFoundError:
    release = "checkout"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "native_math",
    "plain_docstrings",
    "run_blocks",
]
html_math_renderer = "mathml"
exclude_patterns = ["_extra/reproduced/cells.jsonl", "_extra/reproduced/headline.md", "_build", "figures"]
templates_path = ["_templates"]
nitpicky = True
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autodoc_typehints = "none"
autosummary_generate = True
autosummary_ignore_module_all = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
viewcode_line_numbers = True

EXAMPLES = HERE.parent / "examples"


def not_at_hand() -> list[str]:
    """Examples that read a data set (``# needs NAME``) which is not there."""
    from multikernel.datasets import available

    at_hand = {entry.name for entry in available()}
    needed = {
        path.name: re.findall(r"^# needs (\S+)", path.read_text(), re.MULTILINE) for path in EXAMPLES.glob("*.py")
    }
    return [name for name, names in needed.items() if not at_hand.issuperset(names)]


# The gallery runs every example; MULTIKERNEL_GALLERY=0 leaves it out, for a quick look at the rest.
if os.environ.get("MULTIKERNEL_GALLERY", "1") != "0":
    extensions.append("sphinx_gallery.gen_gallery")
    sphinx_gallery_conf = {
        "examples_dirs": str(EXAMPLES),
        "gallery_dirs": "examples",
        "filename_pattern": "/plot_",
        "ignore_pattern": "|".join([r"__init__\.py", *map(re.escape, not_at_hand())]),
        "within_subsection_order": "FileNameSortKey",
        "download_all_examples": False,
        "show_memory": False,
        "show_signature": False,
        "min_reported_time": 1e9,
        "write_computation_times": False,
        "abort_on_example_error": True,
        "image_srcset": ["2x"],
    }
else:
    exclude_patterns.append("examples/plot_*")  # what an earlier build left
    (HERE / "examples").mkdir(exist_ok=True)
    (HERE / "examples" / "index.rst").write_text("Examples\n========\n\nThis build leaves them out.\n")

html_theme = "pydata_sphinx_theme"
html_title = "multikernel"
html_static_path = ["_static"]
html_extra_path = ["_extra"]  # pages that `make reproduced` writes
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
html_sidebars = {"index": [], "tutorial": [], "which": [], "faq": [], "changelog": []}
