"""Pages in a real browser break no rule of axe-core: contrast, names, landmarks, headings, and keys that scroll.

`axe-playwright-python` carries axe-core 4.12 in a wheel of 160 kB that needs nothing but playwright, and is maintained;
`axe-core-python` and `axe-selenium-python` carry versions of 2022 and 2018, and the latter needs selenium.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import pddlego
from tests.cli.command import run
from tests.cli.test_plan_page import FLEET, TRIP
from tests.cli.test_view import viewing
from tests.report.test_html import browser
from tests.scale import PATIENCE

__all__ = ["browser"]  # a fixture

pytestmark = [pytest.mark.browser, pytest.mark.axe]

SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])

NOISE = "reader+noise:0.3"
EPISODES = [
    pytest.param("coin", "edit", "reader", 12, id="won"),
    pytest.param("coin", "gen", NOISE, 4, id="lost"),
    pytest.param("ferry", "program", "reader", 0, id="program", marks=pytest.mark.method("programs")),
    pytest.param("logistics", "graphplan", "reader", 0, id="graphplan", marks=pytest.mark.method("graphplan")),
    pytest.param("text-blocks", "build", "reader", 0, id="build", marks=pytest.mark.method("builders")),
    pytest.param("blocksworld", "tos", "reader", 0, id="search", marks=pytest.mark.method("thought_of_search")),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a folder of runs, one of which has won and lost episodes."""
    place = tmp_path_factory.mktemp("pages")
    pddlego.evaluate(
        "coin", place / "runs" / "noisy", modes="edit,gen,random", models=NOISE, seeds="3-4", retries=0
    ).wait(PATIENCE)
    return place


@contextmanager
def opened(browser: Any, address: str, scheme: str, width: int = 1400) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.set_default_timeout(PATIENCE * 1_000)
    page.goto(address)
    yield page
    page.close()


def broken(page: Any) -> list[str]:
    """What breaks a rule, with the rule."""
    from axe_playwright_python.sync_playwright import Axe

    rules = Axe().run(page).response["violations"]
    return [f"{rule['id']}: {node['html']} {node['failureSummary']}" for rule in rules for node in rule["nodes"]]


@SCHEMES
@pytest.mark.parametrize(("game", "mode", "model", "seed"), EPISODES)
def test_each_tab_of_an_episode(
    browser: Any, tmp_path: Path, scheme: str, game: str, mode: str, model: str, seed: int
) -> None:
    options: dict[str, Any] = {"retries": 0} if model == NOISE else {}
    pddlego.evaluate(game, tmp_path / "run", modes=mode, models=model, seeds=str(seed), **options).wait(PATIENCE)
    assert run("show", "run", "-o", "page.html", cwd=tmp_path, PDDLEGO_RUNS=str(tmp_path)).returncode == 0
    with opened(browser, (tmp_path / "page.html").as_uri(), scheme) as page:
        page.wait_for_selector("#sides .lines")
        text = page.locator(".side").inner_text()
        assert ("cause: unusable answer" in text) if model == NOISE else re.search("won|solved|built", text)
        steps = page.evaluate("view.episodes[0].steps.length")
        assert page.locator("#range").is_visible() == page.locator("#line").is_visible() == (steps > 1)
        tabs = page.locator("#tabs button").all()
        for tab in tabs:
            tab.click()
            page.wait_for_selector("#tabs [aria-selected=true]")
            assert broken(page) == [], tab.inner_text()
        page.locator("#search").fill("the")
        page.locator("#search").press("Enter")
        page.wait_for_selector(".hit")
        assert broken(page) == [], "what was searched for is marked"
        page.evaluate("const no = $('noscript'); no.outerHTML = no.textContent; location.hash = ''")
        page.wait_for_selector("#report .pane")
        assert broken(page) == [], "what is shown without scripts, with which axe-core cannot run"


@SCHEMES
@pytest.mark.parametrize("width", [390, 1400])
def test_the_lists_of_view(browser: Any, folder: Path, scheme: str, width: int) -> None:
    with viewing(folder) as (_, address), opened(browser, address, scheme, width) as page:
        page.wait_for_selector("#rows tr[tabindex]")
        assert broken(page) == []
        page.locator("#rows tr[tabindex]").first.click()
        page.wait_for_selector("#rows .group")
        assert broken(page) == []


@SCHEMES
@pytest.mark.parametrize("width", [390, 1400])
def test_a_report(browser: Any, folder: Path, scheme: str, width: int) -> None:
    assert run("report", "runs/noisy", "-o", "report.html", cwd=folder).returncode == 0
    with opened(browser, (folder / "report.html").as_uri(), scheme, width) as page:
        page.wait_for_selector("section.plot svg")
        assert broken(page) == []


@SCHEMES
@pytest.mark.parametrize("width", [390, 1400])
def test_the_page_of_a_plan(browser: Any, tmp_path: Path, scheme: str, width: int) -> None:
    """It has a relation, curves of numbers and, at the end, a step that is not possible."""
    plan = "(drive red bonn cologne)\n(drive red cologne bonn)\n(drive red bonn essen)"
    for name, text in {"d.pddl": FLEET, "p.pddl": TRIP, "a.plan": plan}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert run("simulate", "d.pddl", "p.pddl", "a.plan", "-o", "page.html", cwd=tmp_path).returncode == 1
    with opened(browser, (tmp_path / "page.html").as_uri(), scheme, width) as page:
        page.wait_for_selector("#sides .drawing svg")
        assert page.locator("#step").inner_text() == "step 3 of 3: not possible"
        assert page.locator("#line .not-possible.now").count() == 1
        for tab in page.locator("#tabs button").all():
            tab.click()
            assert broken(page) == [], tab.inner_text()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.locator("#tabs button", has_text="timeline").click()
        page.locator(".curve path").first.dispatch_event("click", {"bubbles": True})
        assert "red: 5 after step 0, 3 after step 1" in page.locator(".facts").all_inner_texts()[-1]
