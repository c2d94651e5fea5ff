"""A list of 3,000 rows in a real browser: it has all of them, and a part of them as elements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pddlego.display.page import render_index
from tests.report.test_html import browser
from tests.scale import PATIENCE

__all__ = ["browser"]  # a fixture

ROWS, MOST = 3_000, 1_000


def page_file(folder: Path) -> Path:
    rows = [
        {"key": f"k{number}", "group": "won" if number < 1_500 else "lost", "cells": [str(number)], "styles": [""]}
        for number in range(ROWS)
    ]
    columns = [{"name": "seed", "right": True}]
    index = {"noun": "episodes", "columns": columns, "rows": rows, "episodes": {}, "start": []}
    (folder / "page.html").write_text(render_index("page.html.j2", index, title="many"), encoding="utf-8")
    return folder / "page.html"


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1400])
def test_a_long_list_is_scrolled_down_and_up(browser: Any, tmp_path: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.set_default_timeout(PATIENCE * 1_000)
    page.goto(page_file(tmp_path).as_uri())
    rows = page.locator("#rows tr[tabindex]")
    assert page.locator("#count").inner_text() == f"{ROWS} of {ROWS} episodes"
    until = "([key, at]) => (scrollTo(0, at), document.querySelector(`[data-key=${key}]`) !== null)"
    page.wait_for_function(until, arg=[f"k{ROWS - 1}", 10_000_000])
    assert rows.count() <= MOST
    assert page.locator("#more").is_hidden()
    assert page.locator("#rows [data-key=k0]").count() == 0
    height = page.locator("#rows").bounding_box()["height"]
    above = page.locator("#above").bounding_box()["height"]
    assert abs(above / height - (ROWS - rows.count()) / rows.count()) < 0.1, "the empty space is that of the rows"
    page.wait_for_function(until, arg=["k0", 0])
    assert rows.count() <= MOST
    assert page.locator("#above").bounding_box()["height"] == 0
    assert rows.first.inner_text() == "0"
    assert page.locator("#rows .group").inner_text() == "won (1500)", "the next group is not among the elements"
    page.locator("#filter").fill("299")
    page.wait_for_function("document.querySelectorAll('#rows tr[tabindex]').length === 13")
    page.close()
