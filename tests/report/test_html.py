"""The HTML report in a real browser: nothing is loaded or complained of, plots and links are there, phones read it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pddlego
from pddlego.episode.events import Outcome
from pddlego.evaluation.table import rows
from pddlego.report import build_report
from pddlego.report.build import Report
from pddlego.report.html import html
from pddlego.report.optima import find_optima
from pddlego.runs.cells import Cell
from pddlego.runs.summary import Summary


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a small evaluation."""
    folder = tmp_path_factory.mktemp("report")
    pddlego.evaluate(["coin", "cooking-easy"], folder / "run", modes="edit,random", seeds="0-2")
    report = build_report([folder / "run"])
    optima = find_optima(report, [folder / "run"])
    (folder / "report.html").write_text(html(report, [folder / "run"], 8, optima), encoding="utf-8")
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


def test_the_file_needs_nothing_else(page_file: Path) -> None:
    text = page_file.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "http" not in text.replace("https://www.w3.org", "")
    assert text.count('class="page"') == 8, "at most as many pages as asked for"
    assert text.index("random none seed 1: step limit") >= 0


def test_a_name_of_a_model_steers_no_terminal() -> None:
    cell = Cell("coin", "act", "a\x1b[31mb", 1)
    summary = Summary(cell, 1, Outcome.WON)
    report = Report(("runs",), (summary,), tuple(rows([summary])), (), (), (), (), ())
    assert "\x1b" not in html(report, [], 0)


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280, 1400])
def test_it_opens_without_a_complaint_and_fits(browser: Any, page_file: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    page.goto(page_file.as_uri())
    assert complaints == []
    assert page.locator("section.plot svg").count() == 4
    for plot in page.locator("section.plot").all():
        box = plot.bounding_box()
        assert box is not None
        assert box["width"] <= width
        assert box["height"] > 100
        letters = plot.locator("svg text").first.bounding_box()
        assert letters is not None
        assert letters["height"] >= 10, "large enough to read, on a phone too"
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out at the side"
    if width == 1400:
        for table in page.locator("div.wide").all():
            assert table.evaluate("each => each.scrollWidth <= each.clientWidth"), "no column outside of the page"
    for text in page.locator("section.plot svg text").all():
        inside = text.evaluate(
            "each => { const [own, all] = [each, each.ownerSVGElement].map(one => one.getBoundingClientRect());"
            " return own.left >= all.left - 1 && own.right <= all.right + 1 }"
        )
        assert inside, "no caption is cut off"
    page.close()


@pytest.mark.browser
def test_links_lead_to_episodes_and_back(browser: Any, page_file: Path) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(page_file.as_uri())
    links = page.locator("main .list a")
    assert links.count() == 8
    for number in range(links.count()):
        target = links.nth(number).get_attribute("href")
        assert page.locator(target.replace("#", "[id='") + "']").count() == 1
    links.first.click()
    shown = page.locator("section.page:visible")
    assert shown.count() == 1
    assert not page.locator("main").is_visible()
    assert shown.locator(".observed").count() > 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    shown.get_by_text("the report").click()
    assert page.locator("main").is_visible()
    page.close()
