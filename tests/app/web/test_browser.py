"""A person with a real browser: from a file to a model and back into Python."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from app_server import KEY, files_with_gaps, people, serving

import multikernel
from multikernel.app.web.settings import Settings
from multikernel.app.web.store import Store
from multikernel.html import provenance, templates

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")

_CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
pytestmark = pytest.mark.skipif(_CHROMIUM is None, reason="there is no chromium on this machine")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The system's browser."""
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_CHROMIUM, args=_FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any, address: str) -> Iterator[Any]:
    """A page that may not ask any other host, and whose scripts may not fail."""
    context = chromium.new_context(base_url=address, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(60_000)
    found, faults = context.new_page(), []
    found.on("request", lambda request: request.url.startswith((address, "data:")) or faults.append(request.url))
    found.on("pageerror", lambda error: faults.append(str(error)))
    found.on("console", lambda message: message.type == "error" and faults.append(message.text))
    found.goto(f"/?token={KEY}")
    assert found.url == f"{address}/"
    yield found
    context.close()
    assert not faults


# Contrast is nine tenths of what axe takes, and the same wherever the same rules of style hold: for elements whose own
# names, and those of all around them, are those of another one, it is measured once.
_ONE_OF_EACH = """() => {
    const seen = new Set();
    const place = each => each ? place(each.parentElement) + each.tagName + each.className + each.style.cssText : "";
    for (const each of document.body.querySelectorAll("*")) {
        const holdsText = [...each.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
        each.toggleAttribute("data-contrast", holdsText && !seen.has(place(each)));
        if (holdsText) seen.add(place(each));
    }
}"""


def faults_of(page: Any) -> list[str]:
    """What axe finds serious on a page, and its contrast in both modes."""
    page.evaluate(_ONE_OF_EACH)
    runs = [(None, {"rules": {"color-contrast": {"enabled": False}}}, "light")]
    runs += [("[data-contrast]", {"runOnly": ["color-contrast"]}, scheme) for scheme in ("dark", "light")]
    found = []
    for context, rules, scheme in runs:
        page.emulate_media(color_scheme=scheme)
        options = {**rules, "resultTypes": ["violations"]}
        for fault in axe.Axe().run(page, context, options).response["violations"]:
            if fault["impact"] in ("serious", "critical"):
                found.append(f"{page.url} {scheme}: {fault['id']}: {fault['nodes'][0]['html'][:200]}")
    return found


def test_from_a_dropped_file_to_a_model_in_python(page: Any, tmp_path: Path) -> None:
    page.goto("/")
    faults = faults_of(page)
    page.evaluate(
        """table => {
            const data = new DataTransfer();
            data.items.add(new File([table], "shop.csv", {type: "text/csv"}));
            document.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
        }""",
        people(40),
    )
    page.wait_for_url("**/data/*")
    page.get_by_text("How is it measured?").click()
    page.get_by_label("Parts (folds)").fill("2")
    faults += faults_of(page)
    assert page.locator("#target").input_value() == "bought"
    page.get_by_label("What joined holds").select_option("category")
    page.get_by_role("button", name="Learn", exact=True).click()  # the third click after the file and "Open"
    page.wait_for_url("**/runs/*")
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("This run was stopped").wait_for()
    faults += faults_of(page)
    page.get_by_role("button", name="Start it again").click()
    page.get_by_role("heading", name="How good is it?").wait_for()
    faults += faults_of(page)

    mark = page.locator("svg .mark[data-tip]").first
    mark.locator("rect").first.hover()
    assert page.locator(".tip").inner_text() == mark.get_attribute("data-tip")
    page.locator("svg [tabindex]").first.focus()
    assert "mean" in page.locator(".tip").inner_text()

    for name in ("model.mk", "table.csv", "predictions.csv"):
        with page.expect_download() as download:
            page.get_by_role("link", name=name, exact=True).click()
        download.value.save_as(tmp_path / name)
    page.locator("#new").set_input_files({"name": "n.csv", "mimeType": "text/csv", "buffer": people(9, 1).encode()})
    page.get_by_role("button", name="Predict").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Save all as CSV").click()
    download.value.save_as(tmp_path / "new.csv")
    assert len(pd.read_csv(tmp_path / "new.csv")) == 9
    faults += faults_of(page)
    page.go_back()

    shown = pd.read_csv(tmp_path / "predictions.csv")["prediction"].tolist()
    own = pd.read_csv(tmp_path / "table.csv")[["age", "city", "joined", "score"]]
    assert multikernel.load(tmp_path / "model.mk").predict(own).tolist() == shown

    page.get_by_role("link", name="Type one sample").click()
    page.get_by_label("age").fill("30")
    page.get_by_role("button", name="Predict").click()
    page.get_by_role("heading", name="What each column does").wait_for()
    faults += faults_of(page)
    page.goto("/runs")
    faults += faults_of(page)
    assert not faults


@pytest.mark.study
def test_a_result_is_looked_into_and_kept_in_order_with_the_keyboard(page: Any) -> None:
    page.goto("/")
    page.set_input_files("#files", {"name": "p.csv", "mimeType": "text/csv", "buffer": people(40).encode()})
    page.wait_for_url("**/data/*")
    page.get_by_label("Find").fill("number")
    page.get_by_role("button", name="Untick all shown").press("Enter")
    page.get_by_text("2 shown, 0 of them ticked").wait_for()
    page.get_by_label("Find").fill("")
    page.get_by_role("button", name="Tick all shown", exact=True).press("Enter")
    page.get_by_text("5 shown, 4 of them ticked").wait_for()
    names = page.locator("#columns tbody .name")
    page.get_by_role("button", name="Column").press("Enter")
    page.get_by_role("button", name="Column").press("Enter")
    assert names.all_inner_texts() == ["score", "joined", "city", "bought", "age"]
    faults = faults_of(page)
    page.get_by_role("button", name="Column").press("Enter")
    assert names.all_inner_texts() == ["age", "city", "joined", "score", "bought"]
    page.get_by_role("button", name="Choose a method").click()
    page.wait_for_url("**/method")
    page.locator("#method").select_option("AverageMKLClassifier")
    page.get_by_role("button", name="Show its form").click()
    page.wait_for_url("**/method/form")
    page.get_by_role("button", name="Learn", exact=True).click()
    page.get_by_role("heading", name="How good is it?").wait_for()
    run = page.url
    page.locator("a.mark").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/rows?*")
    faults += faults_of(page)
    page.get_by_role("link", name="What columns do").click()
    page.get_by_role("checkbox", name="age").uncheck()
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_url("**/columns?*")
    assert page.locator("svg.chart").count() == 3
    with page.expect_download() as download:
        page.get_by_role("link", name="PNG").first.click()
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
    faults += faults_of(page)
    page.get_by_role("link", name="Kernels as pictures").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="PNG").click()
    assert download.value.suggested_filename == "kernels.png"
    faults += faults_of(page)
    page.get_by_role("link", name="Map of samples").click()
    faults += faults_of(page)
    assert page.locator("a.mark[tabindex='0']").count() == 1
    page.locator("a.mark[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    tip = page.locator(".tip").inner_text()
    assert tip == page.locator("a.mark").nth(1).get_attribute("data-tip")
    page.keyboard.press("Enter")
    row = tip.partition(":")[0].removeprefix("row ")
    page.wait_for_url(f"**/sample?row={row}")
    page.set_viewport_size({"width": 390, "height": 844})
    for path in ("/rows", "/columns", "/map", "/kernels"):
        page.goto(run + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto("/runs")
    page.get_by_label(re.compile("^Tick ")).first.check()
    page.get_by_role("button", name="Delete the ticked runs").press("Enter")
    page.wait_for_url("**/runs/delete?*")
    faults += faults_of(page)
    page.get_by_role("button", name="Delete it").press("Enter")
    page.get_by_text("1 run was deleted").wait_for()
    assert not page.locator(f"a[href$='{run[-16:]}']").count()
    assert not faults


def test_the_other_pages_have_no_serious_faults_and_fit_a_phone(page: Any) -> None:
    page.goto("/runs?q=nothing")
    faults = faults_of(page)
    page.goto("/")
    page.get_by_role("button", name=re.compile("^iris")).click()
    page.wait_for_url("**/data/*")
    page.get_by_label("Use petal width (cm)").uncheck()
    page.locator("#target").select_option("sepal length (cm)")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_text("A long tail to one side").wait_for()
    assert not page.get_by_label("Use petal width (cm)").is_checked()
    page.locator("#target").select_option("target")
    page.get_by_role("button", name="Show", exact=True).click()
    page.get_by_text("Classes: how many rows").wait_for()
    data = page.url
    page.get_by_role("button", name="Choose a method").click()
    page.wait_for_url("**/method")
    faults += faults_of(page)
    page.locator("#method").select_option("EasyMKLClassifier")
    page.get_by_role("button", name="Show its form").click()
    page.wait_for_url("**/method/form")
    assert page.locator("#p-lam").input_value() == "auto"
    page.goto("/runs/compare")
    faults += faults_of(page)
    page.goto(data)
    page.route("**/events", lambda route: None)  # which would lead on to the result
    page.get_by_role("button", name="Learn", exact=True).click()
    page.wait_for_url("**/runs/*")
    faults += faults_of(page)
    page.get_by_role("button", name="Stop").click()
    page.set_viewport_size({"width": 390, "height": 844})
    for path in ("/", "/runs", "/runs/compare"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert not faults


@pytest.mark.study
def test_long_lists_comparisons_and_refusals_have_no_serious_faults(chromium: Any, tmp_path: Path) -> None:
    store = Store(Settings(tmp_path))
    recipe = {"data": "d", "target": "y", "method": "AverageMKLRegressor", "columns": {"a": "number"}, "parameters": {}}
    result = {"measure": "R²", "task": "regression", "n": 9, "seconds": 1.0, "scores": {"own": [0.5, 0.7]}}
    found = {"measure": "R²", "score": 0.6, "deviation": 0.1}
    for k in range(40):
        run = store.add_run("gone", f"run {k}", recipe)
        (run.folder / "result.json").write_text(json.dumps(result))
        store.set_run(run.id, status=("done", "failed", "stopped")[k % 3], summary=found, words="It has no memory.")
    runs = [run.id for run in store.runs()]
    with serving(tmp_path, upload_limit=1000) as address, chromium.new_context(base_url=address) as context:
        page = context.new_page()
        page.goto(f"/?token={KEY}")
        faults = []
        compared = "/runs/compare?" + "&".join(f"run={run}" for run in runs[:9])
        for path in ("/runs", compared, f"/runs/{runs[1]}", "/nothing"):
            page.goto(path)
            faults += faults_of(page)
        page.goto(f"/runs/{runs[1]}")
        page.evaluate("document.querySelectorAll('[name=token]').forEach(field => { field.value = 'no'; })")
        page.get_by_role("button", name="Delete it").click()
        page.get_by_role("heading", name="Not allowed").wait_for()
        faults += faults_of(page)
        page.goto("/")
        page.set_input_files("#files", {"name": "a.csv", "mimeType": "text/csv", "buffer": people().encode()})
        page.get_by_role("heading", name="Too large").wait_for()
        faults += faults_of(page)
    assert not faults


@pytest.mark.study
def test_samples_that_lack_a_source_are_kept_by_a_choice_on_the_page(page: Any) -> None:
    page.goto("/")
    files = [{"name": name, "mimeType": "text/csv", "buffer": text.encode()} for name, text in files_with_gaps()]
    page.locator("#files").set_input_files(files)
    page.get_by_text("34 of 42 samples are in all 2 files").wait_for()
    faults = faults_of(page)
    page.locator("#target").select_option("clinic: ill")
    page.get_by_label("only the 34 samples").press("ArrowDown")
    assert page.get_by_label("keep samples that lack a view").is_checked()
    page.get_by_role("button", name="Show these samples").click()
    page.get_by_text("2 rows without a value are not learned from").wait_for()
    assert page.get_by_label("keep samples that lack a view").is_checked()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Choose a method").click()
    page.wait_for_url("**/method")
    page.locator("#method").select_option("AverageMKLClassifier")
    page.get_by_role("button", name="Show its form").click()
    page.wait_for_url("**/method/form")
    page.get_by_role("button", name="Learn", exact=True).click()
    page.get_by_role("heading", name="Who lacks a view?").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    faults += faults_of(page)
    lab = files[1] | {"name": "new.csv"}
    page.locator("#new").set_input_files([lab])
    page.get_by_role("button", name="Predict", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Save all as CSV").click()
    told = pd.read_csv(download.value.path())
    assert set(told["lacks"]) == {"clinic"}
    assert not faults


def test_without_a_script_a_file_can_be_loaded_and_learned_from(chromium: Any, tmp_path: Path) -> None:
    with serving(tmp_path) as address:
        context = chromium.new_context(base_url=address, java_script_enabled=False)
        page = context.new_page()
        page.goto(f"/?token={KEY}")
        page.locator("#files").set_input_files({"name": "a.csv", "mimeType": "text/csv", "buffer": people(30).encode()})
        page.get_by_role("button", name="Load").click()
        page.get_by_role("button", name="Learn", exact=True).click()
        assert page.get_by_role("link", name="Look again").is_visible()
        page.get_by_role("button", name="Stop").click()
        context.close()


@pytest.mark.study
def test_long_names_stay_on_a_phone_and_pages_print_on_white(page: Any) -> None:
    first, *rest = people(30).splitlines()
    head = first.replace("bought", f"结果_{'w' * 60}").replace("city", "مستوى_" * 12)
    page.goto("/")
    table = "\n".join([head, *(row.replace("yes", "x" * 70) for row in rest)])
    page.set_input_files("#files", {"name": f"{'n' * 90}.csv", "mimeType": "text/csv", "buffer": table.encode()})
    page.wait_for_url("**/data/*")
    page.set_viewport_size({"width": 390, "height": 844})
    address = page.url
    for path in (address, f"{address}/method", "/"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
    page.goto(address)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.emulate_media(media="screen", color_scheme="light")


def test_pages_of_published_results_print_on_white_from_a_dark_screen(chromium: Any) -> None:
    base = templates("multikernel.reproduce.pages").get_template("base.html.j2")
    colours = "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    with chromium.new_context(color_scheme="dark") as context:
        page = context.new_page()
        page.set_content(base.render(**provenance(), facts={}))
        screen, light = page.evaluate(colours)
        page.emulate_media(media="print", color_scheme="dark")
        paper, dark = page.evaluate(colours)
    assert paper == "rgb(255, 255, 255)"
    assert screen != paper
    assert light != dark


@pytest.mark.study
def test_a_second_click_does_not_send_a_form_again(page: Any) -> None:
    sent: list[Any] = []
    page.goto("/")
    page.route("**/data/known", lambda route: sent.append(route))  # a server that takes its time
    button = page.get_by_role("button", name=re.compile("^diabetes"))
    button.evaluate("button => { setTimeout(() => button.click()); setTimeout(() => button.click(), 500); }")
    page.wait_for_timeout(1500)
    assert len(sent) == 1
    sent[0].abort()


@pytest.mark.study
def test_the_back_button_shows_forms_and_their_answers_again_as_they_were(page: Any) -> None:
    page.goto("/")
    page.set_input_files("#files", {"name": "p.csv", "mimeType": "text/csv", "buffer": people().encode()})
    page.wait_for_url("**/data/*")
    page.get_by_role("button", name="Choose a method").click()
    page.wait_for_url("**/method")
    page.locator("#method").select_option("AverageMKLClassifier")
    page.get_by_role("button", name="Show its form").click()
    page.wait_for_url("**/method/form")
    page.locator("#p-rank").fill("-7")
    page.locator("#k0-linear").check()
    page.get_by_role("link", name="Runs", exact=True).click()
    page.wait_for_url("**/runs")
    page.go_back()  # to a page that answered a form; an error where the browser would ask whether to send it again
    assert page.url.endswith("/method/form")
    assert page.locator("#p-rank").input_value() == "-7"
    assert page.locator("#k0-linear").is_checked()


@pytest.mark.study
def test_arrow_keys_on_a_list_change_nothing_else(page: Any) -> None:
    page.goto("/")
    page.locator("input[type=file]").first.set_input_files(
        {"name": "p.csv", "mimeType": "text/csv", "buffer": people().encode()}
    )
    page.wait_for_url("**/data/*")
    address = page.url
    page.get_by_label("Use city").uncheck()
    page.locator("#target").focus()
    page.keyboard.press("ArrowUp")
    assert page.locator("#target").input_value() == "score"
    assert page.url == address
    assert page.evaluate("document.activeElement.id") == "target"
    assert not page.get_by_label("Use city").is_checked()
    page.keyboard.press("ArrowDown")
    page.get_by_role("button", name="Choose a method").click()
    page.wait_for_url("**/method")
    page.locator("#p-C").fill("7")
    page.locator("#method").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator("#p-C").input_value() == "7"
    assert page.evaluate("document.activeElement.id") == "method"
    chosen = page.locator("#method").input_value()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # on "Show its form"
    page.wait_for_url("**/method/form")
    assert page.locator("#method").input_value() == chosen
    assert faults_of(page) == []


@pytest.mark.study
def test_a_run_page_says_that_the_server_does_not_answer_and_goes_on_when_it_is_back(
    chromium: Any, tmp_path: Path
) -> None:
    with chromium.new_context() as context:
        page = context.new_page()
        with serving(tmp_path) as address:
            port = int(address.rpartition(":")[2])
            page.goto(f"{address}/?token={KEY}")
            page.set_input_files("#files", {"name": "a.csv", "mimeType": "text/csv", "buffer": people().encode()})
            page.wait_for_url("**/data/*")
            page.click("button[value=automatic]")
            page.wait_for_url("**/runs/*")
        page.get_by_text("The server does not answer").wait_for()
        with serving(tmp_path, port):
            page.get_by_text("The server was ended before this run was").wait_for()


@pytest.mark.study
def test_a_run_page_says_that_nothing_was_heard_of_the_server(page: Any) -> None:
    page.goto("/")
    page.set_input_files("#files", {"name": "a.csv", "mimeType": "text/csv", "buffer": people().encode()})
    page.wait_for_url("**/data/*")
    page.clock.install()
    page.route("**/events", lambda route: None)  # a server that hangs
    page.click("button[value=automatic]")
    page.wait_for_url("**/runs/*")
    page.clock.fast_forward(29_000)
    assert not page.get_by_text("The server does not answer").count()
    page.clock.fast_forward(2_000)
    page.get_by_text("The server does not answer").wait_for()
    page.get_by_role("button", name="Stop").click()


@pytest.mark.study
def test_how_a_run_is_measured_is_said_by_the_keyboard_alone(page: Any) -> None:
    first, *rest = people(40).splitlines()
    table = "\n".join([f"{first},who", *(f"{row},p{k // 2}" for k, row in enumerate(rest))])
    page.goto("/")
    page.set_input_files("#files", {"name": "a.csv", "mimeType": "text/csv", "buffer": table.encode()})
    page.wait_for_url("**/data/*")
    page.locator("#target").select_option("bought")
    page.get_by_role("button", name="Show", exact=True).click()
    summary = page.get_by_text("How is it measured?")
    assert not page.locator("#m-folds").is_visible()
    summary.focus()
    page.keyboard.press("Enter")
    page.get_by_label("some of all rows").focus()
    page.keyboard.press("ArrowDown")
    assert page.get_by_label("whole groups").is_checked()
    page.get_by_label("Column that names the group").focus()
    page.keyboard.type("who")
    page.locator("#m-folds").focus()
    page.keyboard.type("4")
    page.get_by_label("Mistakes in a rare class").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")  # shows what was chosen, and changes nothing else
    page.get_by_text("the 20 groups of who were drawn into 4 parts").wait_for()
    assert page.get_by_label("Mistakes in a rare class").is_checked()
    page.get_by_label("Column that orders the rows").select_option("joined")
    assert page.get_by_label("the later rows").is_checked()  # a column picks its way
    page.get_by_label("whole groups").check()
    faults = faults_of(page)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Choose a method").click()
    page.wait_for_url("**/method")
    assert page.locator("#p-class_weight").input_value() == "balanced"
    page.locator("#method").select_option("AverageMKLClassifier")
    page.get_by_role("button", name="Show its form").click()
    page.wait_for_url("**/method/form")
    page.locator("#path").select_option("")
    page.locator("#k0-types").uncheck()
    page.locator("#k0-linear").check()
    page.locator("#p-probability").select_option("platt")
    page.get_by_role("button", name="Learn", exact=True).click()
    page.get_by_role("heading", name="Where to draw the line?").wait_for()
    page.get_by_label("yes from a probability of").fill("0.05")
    page.keyboard.press("Enter")
    page.wait_for_url("**threshold=0.05*")
    assert page.get_by_label("Mistakes at 0.05").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    faults += faults_of(page)
    assert not faults
