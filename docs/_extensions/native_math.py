"""Formulas as MathML, which browsers draw themselves: no script, no font, and nothing asked of another host."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from xml.etree.ElementTree import Element, tostring

from docutils import nodes
from latex2mathml.converter import convert_to_element
from sphinx.application import Sphinx

SPELLED = {  # what the converter does not know, in words that it knows
    r"\begin{gathered}": r"\begin{array}{c}",
    r"\end{gathered}": r"\end{array}",
    r"\arg": r"\operatorname{arg}",
}
UNDER = {"min", "max", "sum", "∑", "∏", "⋂", "⋃"}  # whose indices stand below them in a displayed formula

OPENING = {")": "(", "]": "[", "}": "{", "‖": "‖", "∥": "∥", "|": "|"}  # of a closing sign


def mathml(tex: str, display: str) -> str:
    """A formula as MathML; ValueError where a command of TeX is left in it."""
    for known, spelled in SPELLED.items():
        tex = tex.replace(known, spelled)
    if "\\\\" in tex and r"\begin" not in tex:
        tex = rf"\begin{{array}}{{c}}{tex}\end{{array}}"
    root = convert_to_element(tex, display=display)
    for element in root.iter():
        element.text = unescape(element.text or "")
        if display == "block" and element.tag == "mtable":
            element.set("displaystyle", "true")
    for element in list(root.iter()):
        _lower(element)
        _gather(element)
    text = tostring(root, encoding="unicode")
    left = re.findall(r"\\[A-Za-z]+", text)
    if left:
        raise ValueError(f"no MathML for {', '.join(left)} in {tex!r}")
    return text


def _lower(element: Element) -> None:
    """Indices of sums and of minima go below them, where there is room."""
    if element.tag in ("msub", "msubsup") and element[0].tag == "mo" and (element[0].text or "") in UNDER:
        element.tag = {"msub": "munder", "msubsup": "munderover"}[element.tag]
        element[0].set("movablelimits", "true")


def _gather(row: Element) -> None:
    """A power of a bracket is that of all that the bracket holds: so both of its signs grow with what is between."""
    for power in list(row):
        closing = power[0] if power.tag in ("msup", "msub", "msubsup") else None
        if closing is None or closing.tag != "mo" or (closing.text or "") not in OPENING:
            continue
        before = list(row)[: list(row).index(power)]
        starts = [k for k, each in enumerate(before) if each.tag == "mo" and each.text == OPENING[closing.text or ""]]
        if starts:
            held = Element("mrow")
            for each in before[starts[-1] :]:
                row.remove(each)
                held.append(each)
            power.remove(closing)
            held.append(closing)
            power.insert(0, held)


def inline(writer: Any, node: nodes.math) -> None:
    """A formula in a line."""
    writer.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """A formula on lines of its own."""
    writer.body.append(f'<div class="formula">{mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Make it the way to write formulas."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
