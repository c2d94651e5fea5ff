"""The HTML report in a real browser: nothing is loaded, no error is logged, its table, steps and keys work."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import pddlego
from pddlego.episode.events import Outcome
from pddlego.evaluation import table
from pddlego.report import build_report
from pddlego.report.build import Report
from pddlego.report.formats import html
from pddlego.runs.cells import Cell
from pddlego.runs.summary import Summary
from tests.report.pages import index_in
from tests.scale import PATIENCE


def evaluated(run: Path, games: list[str], seeds: str) -> Report:
    pddlego.evaluate(games, run, modes="edit,random", seeds=seeds).wait(PATIENCE)
    return build_report([run])


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a small evaluation."""
    folder = tmp_path_factory.mktemp("report")
    report = evaluated(folder / "run", ["coin", "cooking-easy"], "0-2")
    text = html(report, most_pages=8)
    (folder / "report.html").write_text(text, encoding="utf-8")
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


def test_the_file_needs_nothing_else(tmp_path: Path) -> None:
    report, pages = evaluated(tmp_path / "run", ["coin"], "0-1"), list[tuple[int, int]]()
    text = html(report, lambda done, total: pages.append((done, total)), most_pages=2)
    assert pages == [(1, 2), (2, 2)]
    assert "http" not in text.replace("https://www.w3.org", "")
    assert text.count('id="data-') == 2, "at most as many pages as asked for"
    assert len(index_in(text)["rows"]) == 4, "every episode is in the table"


def test_a_name_of_a_model_steers_no_terminal() -> None:
    cell = Cell("coin", "act", "a\x1b[31mb", 1)
    summary = Summary(cell, 1, Outcome.WON)
    report = Report(("runs",), (summary,), tuple(table.rows([summary])))
    assert "\x1b" not in html(report, most_pages=0)


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
    assert page.locator("section.plot svg").count() == 3, "the success is beside its table"
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


@pytest.fixture
def page(browser: Any, page_file: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The report at the width of a phone, or at another that the test asks for."""
    page = browser.new_page(viewport={"width": getattr(request, "param", 390), "height": 800})
    page.set_default_timeout(PATIENCE * 1_000)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(page_file.as_uri())
    yield page
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    page.close()


def rows(page: Any) -> list[list[str]]:
    """The table of episodes as text."""
    cells = "rows => rows.map((row) => [...row.cells].map((cell) => cell.textContent))"
    return cast("list[list[str]]", page.locator("#rows tr:not(.group)").evaluate_all(cells))


@pytest.mark.browser
def test_a_row_can_be_read_on_a_phone_without_scrolling(page: Any) -> None:
    row = page.locator("#rows tr[tabindex]").first
    boxes = [cell.bounding_box() for cell in row.locator("td:visible").all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)
    assert row.bounding_box()["height"] >= 44
    assert page.locator(".wide:has(#list)").evaluate("wide => wide.scrollWidth <= wide.clientWidth")
    name = row.locator("td:not(.name):visible").first.evaluate("cell => getComputedStyle(cell, '::before').content")
    assert "seed" in name, "a number has the name of its column"


@pytest.mark.browser
def test_the_table_is_sorted_and_filtered(page: Any) -> None:
    assert len(rows(page)) == 12
    headings = page.locator("#rows .group").all_inner_texts()
    assert [heading.partition(" (")[0] for heading in headings] == ["won", "lost, no model"], (
        "modes without a model are last"
    )
    page.get_by_role("button", name="step").first.click()
    steps = [int(row[4].split("/")[0]) for row in rows(page)]
    assert steps == sorted(steps)
    page.locator("#head button", has_text="step").click()
    assert [int(row[4].split("/")[0]) for row in rows(page)] == sorted(steps, reverse=True)
    page.locator("#filter").fill("game=coin seed:1")
    assert {(row[1], row[3]) for row in rows(page)} == {("coin", "1")}
    assert page.locator("#count").inner_text() == "2 of 12 episodes"
    page.locator("#filter").fill("nothing like it")
    assert page.locator("#rows tr").count() == 0


@pytest.mark.browser
def test_a_link_of_a_figure_leads_to_its_episode_and_back(page: Any) -> None:
    links = page.locator("section.plot svg a")
    targets = [links.nth(number).get_attribute("xlink:href") for number in range(links.count())]
    assert len({*targets} - {None}) == 8
    page.goto(page.url + next(target for target in targets if target))
    page.wait_for_selector("#sides .lines")
    assert not page.locator("#report").is_visible()
    page.locator("#back").click()
    page.wait_for_selector("#report", state="visible")


@pytest.mark.browser
def test_an_episode_is_stepped_through_with_keys(page: Any) -> None:
    page.keyboard.press("/")
    page.keyboard.type("coin edit seed=0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#sides .lines")
    assert page.locator("#step").inner_text().startswith("step 19 of 19"), "a finished episode opens at its end"
    page.keyboard.press("Home")
    page.wait_for_function("document.querySelector('#step').textContent.startsWith('step 0 of 19')")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("document.querySelector('#step').textContent.startsWith('step 2 of')")
    assert "at=2" in page.url
    names = page.locator("#tabs button").all_inner_texts()
    assert names[:5] == ["overview", "map", "reading", "problem", "ladder"]
    assert names[-4:] == ["request", "answer", "events", "why"], "those of the terminal, in its order"
    page.keyboard.press(str(names.index("request") + 1))
    page.keyboard.press("Home")
    page.wait_for_function("document.querySelector('.stack h2').textContent == 'request'")
    assert "system" in page.locator("#sides").inner_text()
    page.keyboard.press("End")
    page.keyboard.press("4")
    page.wait_for_function("document.querySelector('.stack h2').textContent == 'problem'")
    assert "(at " in page.locator("#sides").inner_text()
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("/")
    page.keyboard.type("take coin")
    page.keyboard.press("Enter")
    page.wait_for_selector(".hit")
    page.keyboard.press("x")
    page.keyboard.press("r")
    page.keyboard.press("Escape")
    page.wait_for_function("!document.querySelector('#report').hidden")


@pytest.mark.browser
def test_a_lost_episode_opens_on_why_and_fingers_can_press_every_button(page: Any) -> None:
    page.locator("#rows tr[tabindex]", has_text="random").filter(has_text="step limit").first.click()
    page.wait_for_selector("#sides .lines")
    assert page.locator("#tabs [aria-selected=true]").inner_text() == "why"
    texts = page.locator(".pane").all_inner_texts()
    assert ["step limit" in texts[0], "answer after step" in texts[1], "truth" in texts[2]] == [True] * 3
    for button in page.locator("#episode button:visible").all():
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 44, button.inner_text()
    before = page.url
    page.locator("#failure").click()
    page.wait_for_function("before => location.href != before", arg=before)
    page.locator("#tabs button", has_text="overview").click()
    page.wait_for_function("document.querySelector('.stacks .pane h2').textContent == 'game'")
    size = page.locator(".pane .lines").last.evaluate("lines => parseFloat(getComputedStyle(lines).fontSize)")
    assert size >= 11, "the panes can be read on a phone"


@pytest.mark.browser
@pytest.mark.parametrize(("page", "columns"), [(1400, 3), (900, 2), (390, 1)], indirect=["page"])
def test_the_panes_of_the_overview_flow(page: Any, columns: int) -> None:
    page.locator("#filter").fill("coin edit seed=0")
    page.locator("#rows tr[tabindex]").first.click()
    page.wait_for_selector(".stacks.three")
    page.keyboard.press("End")
    page.wait_for_selector("#sides .room.here")
    lefts = page.locator(".stack").evaluate_all("all => all.map(one => Math.round(one.getBoundingClientRect().left))")
    assert len(set(lefts)) == columns
    wide = "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent)"
    assert page.locator("#sides *:not(svg *)").evaluate_all(wide) == [], "nothing is scrolled sideways"


@pytest.mark.browser
def test_a_wrapped_line_goes_on_below_its_first_word(page: Any) -> None:
    page.locator("#filter").fill("coin edit seed=0")
    page.locator("#rows tr[tabindex]").first.click()
    page.wait_for_selector("#sides .lines")
    line = page.locator(".lines div", has_text="You are in").first
    assert line.evaluate("line => line.getClientRects()[0].height > 2 * parseFloat(getComputedStyle(line).lineHeight)")
    hang = line.evaluate("line => line.style.getPropertyValue('--hang')")
    assert hang == f"{len(re.split(r'[^ 0-9]', line.text_content())[0])}ch"


@pytest.mark.browser
def test_the_time_line_shows_and_chooses_steps(page: Any) -> None:
    page.locator("#filter").fill("coin edit seed=0")
    page.locator("#rows tr[tabindex]").first.click()
    page.wait_for_selector("#line .mark")
    marks = page.locator("#line .mark")
    assert marks.count() == int(page.locator("#range").get_attribute("max")) + 1
    assert page.locator("#line").get_attribute("aria-label").startswith(f"time line of {marks.count()} steps")
    assert any("accepted answer" in text for text in page.locator("#legend .key").all_inner_texts())
    marks.nth(2).click()
    page.wait_for_function("document.querySelector('#step').textContent.startsWith('step 2 of')")
    assert "now" in marks.nth(2).get_attribute("class")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelectorAll('#line .mark')[3].classList.contains('now')")


@pytest.mark.browser
def test_a_tap_on_a_room_shows_its_facts(page: Any) -> None:
    page.locator("#filter").fill("coin edit seed=0")
    page.locator("#rows tr[tabindex]").first.click()
    page.locator("#sides .room.here rect").click()
    page.wait_for_function("document.querySelector('.facts').textContent.includes('since step')")


@pytest.mark.browser
@pytest.mark.parametrize("page", [1400], indirect=True)
def test_two_episodes_of_one_seed_are_side_by_side(page: Any) -> None:
    page.locator("#filter").fill("coin random seed=0")
    page.locator("#rows tr[tabindex]").first.click()
    page.wait_for_selector("#sides .lines")
    page.locator("#tabs button", has_text="events").click()
    page.wait_for_function("document.querySelectorAll('.pane').length == 2")
    assert page.locator(".pane h2").all_inner_texts() == ["map", "events"], "the map beside another"
    options = page.locator("#with option").all_inner_texts()
    assert len(options) == 2
    page.locator("#with").select_option(label=options[1])
    page.wait_for_function("document.querySelectorAll('.side').length == 2")
    page.locator("#different").click()
    assert (
        page.locator("#different").inner_text().removeprefix("first difference: ") in page.locator("#step").inner_text()
    )
    page.locator("#range").fill(page.locator("#range").get_attribute("max"))
    page.wait_for_function("document.querySelector('#step').textContent.includes(' of ')")
    left, right = page.locator(".side h1").all_inner_texts()
    assert left != right
