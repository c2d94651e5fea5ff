"""Mirrors models/limiter.py together with the ledger: what is spent, and that it is never more than allowed."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pddlego.errors import BudgetSpentError, JournalError
from pddlego.evaluation.table import spent_elsewhere
from pddlego.models import Message, Request
from pddlego.models.limiter import OUTPUT_ESTIMATE, Ledger, LedgerEntry, Price, SharedLimiter, Spending, read_ledger
from pddlego.pddl import Domain, Problem
from tests.methods.textgames.situations import situation_with
from tests.scale import PATIENCE

DOMAIN = Domain("d")
REQUEST = Request("edit", (Message("user", "x" * 300),), situation_with("", "", DOMAIN, Problem("p", "d")))
PRICE = Price(1_000_000.0, 2_000_000.0, 500_000.0)  # 1 for a token in, 2 for one out, half for a cached one


def send(limiter: SharedLimiter, used: tuple[int, int, int] | None = (100, 10, 0)) -> bool:
    """Whether the request got through."""
    try:
        with limiter.admit_request("m", REQUEST) as permit:
            if used is None:
                permit.refused(0.0)
            else:
                permit.used(*used)
    except BudgetSpentError:
        return False
    return True


@given(st.integers(0, 30), st.integers(1, 16))
def test_never_one_call_too_many(limit: int, workers: int) -> None:
    limiter = SharedLimiter(workers, Spending(calls=limit))
    with ThreadPoolExecutor(workers) as pool:
        through = sum(pool.map(lambda _: send(limiter), range(40)))
    assert through == limit
    assert limiter.spent.calls == limit
    assert limiter.load().exhausted == (limit < 40)


def test_tokens_and_money_are_reserved_before_and_put_right_after() -> None:
    limiter = SharedLimiter(1, Spending(), prices={"m": PRICE})
    with limiter.admit_request("m", REQUEST) as permit:
        assert limiter.spent == Spending(1, 100 + OUTPUT_ESTIMATE, 100 + 2 * OUTPUT_ESTIMATE)
        permit.used(120, 10, 20)
    assert limiter.spent == Spending(1, 130, 100 + 10 + 20)


@pytest.mark.parametrize(
    ("limits", "budget", "reason"),
    [
        (Spending(cost=0.01), "$0.0100", "Spent or reserved: $0.0041; the next request needs up to $0.0081."),
        (
            Spending(tokens=2500),
            "2,500 tokens",
            "Spent or reserved: 1,100 tokens; the next request needs up to 2,100 tokens.",
        ),
        (Spending(calls=1), "1 request", "Spent or reserved: 1 request."),
    ],
)
def test_a_spent_budget_names_what_the_next_request_needs(limits: Spending, budget: str, reason: str) -> None:
    limiter = SharedLimiter(1, limits, prices={"m": Price(1.0, 4.0)})
    assert send(limiter, (100, 1_000, 0))
    with pytest.raises(BudgetSpentError) as caught, limiter.admit_request("m", REQUEST):
        pass
    assert caught.value.sentence.startswith(f"The budget of {budget} allows no further request: {reason}")


@pytest.mark.parametrize("limits", [Spending(tokens=OUTPUT_ESTIMATE + 350), Spending(cost=2 * OUTPUT_ESTIMATE + 350)])
def test_a_budget_that_a_request_might_exceed_stops_it(limits: Spending) -> None:
    limiter = SharedLimiter(1, limits, prices={"m": PRICE})
    sent = 0
    while send(limiter):
        sent += 1
    assert 0 < sent < 5
    assert limiter.load().exhausted
    spent = limiter.spent
    assert (spent.tokens or 0) <= (limits.tokens or float("inf"))
    assert (spent.cost or 0) <= (limits.cost or float("inf"))


def test_no_more_than_the_jobs_are_in_flight() -> None:
    limiter = SharedLimiter(3)
    flying, most, lock = 0, 0, threading.Lock()
    together = threading.Barrier(3)

    def one(_: int) -> None:
        nonlocal flying, most
        with limiter.admit_request("m", REQUEST):
            with lock:
                flying += 1
                most = max(most, flying)
            together.wait(PATIENCE)
            with lock:
                flying -= 1

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(one, range(30)))
    assert most == 3


def test_a_pause_holds_for_everybody_and_may_grow_meanwhile() -> None:
    now = [0.0]
    limiter = SharedLimiter(2, clock=lambda: now[0])
    limiter.hold(5.0)
    limiter.hold(1.0)
    sent = threading.Event()

    def work() -> None:
        send(limiter)
        sent.set()

    waiting = threading.Thread(target=work, daemon=True)
    waiting.start()
    assert not sent.wait(0.05), "nobody sends while the endpoint asks to wait"
    now[0] = 2.0
    limiter.hold(6.0)
    assert not sent.wait(0.05), "the longest pause counts, one that came during the wait too"
    now[0] = 8.0
    limiter.hold(0.0)
    assert sent.wait(PATIENCE)


def test_the_ledger_knows_what_a_killed_process_had_sent(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    limiter = SharedLimiter(4, Spending(calls=5), Ledger(path), {"m": PRICE})
    assert send(limiter, (100, 10, 0))
    limiter.admit_request("m", REQUEST).__enter__()  # sent, and then the process is killed
    with path.open("ab") as file:
        file.write(b'{"settled": 2, "tok')
    again = Ledger(path)
    assert again.spent == Spending(2, 110 + 100 + OUTPUT_ESTIMATE, 120 + 100 + 2 * OUTPUT_ESTIMATE)
    limiter = SharedLimiter(4, Spending(calls=5), again)
    assert sum(send(limiter) for _ in range(10)) == 3


def test_a_damaged_ledger_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text("nonsense\n")
    with pytest.raises(JournalError, match="is damaged"):
        Ledger(path)


@pytest.mark.parametrize("waiting", ["place", "pause", "budget", "retry"])
def test_nobody_waits_on_when_all_is_broken_off(waiting: str) -> None:
    limiter = SharedLimiter(1 if waiting == "place" else 2, Spending(tokens=OUTPUT_ESTIMATE + 101))
    ended: list[type[BaseException]] = []

    def wait() -> None:
        try:
            limiter.sleep(600) if waiting == "retry" else send(limiter)
        except KeyboardInterrupt as error:
            ended.append(type(error))

    with limiter.admit_request("m", REQUEST) as permit:
        if waiting == "pause":
            limiter.hold(600)
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join(0.3)
        assert thread.is_alive()
        limiter.break_off()
        assert not permit.wanted
        thread.join(PATIENCE)
    assert ended == [KeyboardInterrupt]


@pytest.mark.parametrize("lost", [0, 2])
def test_a_ledger_whose_lines_are_missing_is_refused(tmp_path: Path, lost: int) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    for _ in range(3):
        ledger.settled(ledger.sent("m", 10, 1.0), 5, 0.5)
    ledger.close()
    lines = (tmp_path / "ledger.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "ledger.jsonl").write_text("".join(lines[:lost] + lines[lost + 1 :]))
    with pytest.raises(JournalError, match="is damaged"):
        Ledger(tmp_path / "ledger.jsonl")


def test_cached_tokens_that_are_counted_apart_make_no_negative_cost() -> None:
    price = Price(10.0, 20.0, 1.0)
    assert price.cost(100, 0, 40) == pytest.approx((60 * 10 + 40 * 1) / 1e6)
    assert price.cost(100, 0, 400) == pytest.approx((100 * 10 + 400 * 1) / 1e6), "all of the prompt is fresh"


def test_more_cached_than_sent_writes_a_ledger_that_can_be_read(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    limiter = SharedLimiter(1, Spending(cost=10_000.0), ledger, {"m": PRICE})
    assert send(limiter, (100, 10, 5_000))
    ledger.close()
    again = Ledger(tmp_path / "ledger.jsonl")
    assert again.warnings == ()
    assert (again.spent.cost or 0) > 0


@pytest.mark.parametrize("odd", ['"tokens": -3, "cost": -0.19', '"tokens": 5, "cost": NaN', '"tokens": "many"', ""])
def test_an_odd_line_costs_a_warning_and_not_the_run(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "ledger.jsonl"
    sent, settled = '{"sent": 1, "model": "m", "tokens": 100, "cost": 2.0}', '{"settled": 1' + f", {odd}" * bool(odd)
    path.write_text(f"{sent}\n{settled}}}\n")
    ledger = Ledger(path)
    assert ledger.spent == Spending(1, 100, 2.0), "what was reserved counts as spent"
    assert "line 2" in ledger.warnings[0]


@pytest.mark.parametrize("line", ["\0" * 40, '{"settled": 1, "tok', "[]", "7"])
def test_a_line_that_cannot_be_read_costs_a_warning(tmp_path: Path, line: str) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text('{"sent": 1, "model": "m", "tokens": 100, "cost": 2.0}\n' + line + "\n")
    ledger = Ledger(path)
    assert ledger.spent == Spending(1, 100, 2.0)
    assert "line 2" in ledger.warnings[0]
    assert ledger.sent("m", 1, 0.1, "") == 2


def test_a_request_that_cannot_be_read_counts_as_the_most_that_another_took(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    line = '{"sent": 1, "model": "m", "tokens": 100, "cost": 2.0}'
    lines = [line.replace("1", str(number), 1) for number in (1, 2, 3)]
    path.write_text("\n".join([lines[0], "\0\0\0", lines[2]]) + "\n")
    assert Ledger(path).spent == Spending(3, 300, 6.0)


def test_part_of_an_answer_is_no_answer_and_takes_at_least_what_was_reserved(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    ledger = Ledger(path)
    limiter = SharedLimiter(1, ledger=ledger)
    for tokens_out in (10, 50_000):
        with limiter.admit_request("m", REQUEST) as permit:
            permit.used(100, tokens_out, 0, whole=False)
    ledger.close()
    assert [item.answered for item in read_ledger(path)[0].values()] == [False, False]
    assert limiter.spent.tokens == 100 + OUTPUT_ESTIMATE + 100 + 50_000


def test_who_is_out_of_time_sends_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    limiter = SharedLimiter(1, ledger=ledger)
    with pytest.raises(ConnectionError), limiter.admit_request("m", replace(REQUEST, wanted=lambda: False)):
        pass
    assert ledger.spent.calls == 0
    assert limiter.load().in_flight == 0


def test_what_was_spent_on_cells_without_an_outcome_is_said() -> None:
    assert "0.08" in spent_elsewhere((), [LedgerEntry("m", 10, 0.05), LedgerEntry("m", 10, 0.03)])
    assert spent_elsewhere((), ()) == ""


def test_the_reserve_follows_the_model_s_answers() -> None:
    limiter = SharedLimiter(1)
    assert send(limiter, (100, 9_000, 0))
    with limiter.admit_request("m", REQUEST):
        assert limiter.spent.tokens == 9_100 + 100 + 9_000
    with limiter.admit_request("other", REQUEST):
        pass
    bounded = SharedLimiter(1, max_answer=300)
    with bounded.admit_request("m", REQUEST):
        assert bounded.spent.tokens == 100 + 300


def test_requests_sent_before_there_was_a_price_get_their_cost_once(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    ledger = Ledger(path)
    for model, tokens, answered in (("m", 3e6, True), ("m", 2e6, False), ("m", 0, False), ("other", 1e6, True)):
        ledger.settled(ledger.sent(model, tokens, 0.0, model), tokens, 0.0, answered)
    for _ in range(2):
        ledger.price({"m": Price(1.0, 4.0), "other": Price(0.0, 0.0)}, {"m": 1.5e-6})
    assert [entry.cost for entry in read_ledger(path)[0].values()] == [4.5, 8.0, 0.0, 0.0]
    assert ledger.spent.cost == 12.5
    assert len(path.read_text().splitlines()) == 8 + 2
