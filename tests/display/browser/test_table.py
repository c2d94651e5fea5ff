"""The table of the browser at the edges of the screen."""

from __future__ import annotations

import asyncio
import re

import pytest
from textual.app import App, ComposeResult

from pddlego.display.browser.table import Rows
from tests.scale import scaled


class _TableApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Rows()


@pytest.mark.parametrize("left", [0, 3, 11, 13])
def test_a_number_at_an_edge_of_the_screen_is_whole_or_hidden(left: int) -> None:
    """A part of 4021 would be another number. Names may be cut."""

    async def draw() -> None:
        cells = [("abcdefgh", "", False), ("4021", "", True), ("name", "", False), ("77", "", True)]
        for width in range(4, 30, scaled(3, in_ci=1)):
            async with _TableApp().run_test(size=(width, 6)) as pilot:
                table = pilot.app.query_one(Rows)
                table.show(["first", "n", "third", "m"], [8, 6, 40, 5], ["key"], lambda key: cells)
                await pilot.pause()
                table.scroll_to(left, 0, animate=False, force=True)
                await pilot.pause()
                text = table.render_line(1).text
                assert set(re.findall("[0-9]+", text)) <= {"4021", "77"}, (width, left, text)
                if width >= 28 and left == 0:
                    assert "4021" in text

    asyncio.run(draw())
