"""The server for one user: other sites, other programs and clients that do not behave get nothing, and soon."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from pddlego.errors import UsageError
from pddlego.util.private_server import MOST_OPEN, MOST_WAITING, PrivateServer, WebPage
from tests.scale import PATIENCE, scaled
from tests.serving import connected, get, send, serving


def answer(path: str, query: Mapping[str, str]) -> WebPage:
    if path == "bug":
        raise ValueError("here")
    return WebPage("x" * 20_000_000) if path == "large" else WebPage(f"{path!r} {dict(query)}")


@pytest.fixture(scope="module")
def server() -> Iterator[PrivateServer]:
    with serving(answer) as started:
        yield started


def until_idle(server: PrivateServer) -> None:
    end = time.monotonic() + PATIENCE
    while server.connections:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_page_that_it_served_is_answered(server: PrivateServer) -> None:
    host = urlsplit(server.address).netloc
    assert get(f"{server.address}a%2Fb/?x=%3C&y") == (200, "'a/b/' {'x': '<', 'y': ''}")
    assert get(server.address, Origin=f"http://{host}", Sec_Fetch_Site="same-origin")[0] == 200
    assert get(server.address, Host=host.replace("127.0.0.1", "localhost"))[0] == 200
    assert get(server.address, Sec_Fetch_Site="none")[0] == 200, "typed, or opened from a terminal"


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},  # DNS rebinding: its name leads to 127.0.0.1
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Host": "127.0.0.1.evil.example:PORT"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:PORT"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://localhost:PORT"},  # another origin for a browser
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
    ],
)
def test_other_sites_are_refused(server: PrivateServer, headers: dict[str, str]) -> None:
    port = str(urlsplit(server.address).port)
    status, text = get(server.address, **{name: value.replace("PORT", port) for name, value in headers.items()})
    assert (status, text) == (403, "Open the address that pddlego view prints.\n")


@pytest.mark.parametrize("path", ["", "/", "/?index", "//", "/x/", "/TOKEN1/", "/TOKE/", "/token/", "/%00/", "/\xe9/"])
def test_without_the_token_nothing_is_answered(server: PrivateServer, path: str) -> None:
    place = urlsplit(server.address)
    token = place.path.strip("/")
    assert len(token) == 32
    path = path.replace("TOKEN", token).replace("TOKE", token[:-1]).replace("token", token.swapcase())
    data = f"GET {path} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode("latin-1")
    assert b" 403 " in send(server, data)[:20]


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"POST TARGET HTTP/1.1\r\nHost: HOST\r\nContent-Length: 3\r\n\r\nabc", b"405"),
        (b"DELETE TARGET HTTP/1.1\r\nHost: HOST\r\n\r\n", b"405"),
        (b"OPTIONS TARGET HTTP/1.1\r\nHost: HOST\r\n\r\n", b"405"),
        (b"GET TARGET HTTP/1.1\r\n\r\n", b"403"),
        (b"\r\n\r\n", b"405"),
        (b"\x00\xff" * 50 + b"\r\n\r\n", b"405"),
        (b"GET TARGET?" + b"&".join([b"a=1"] * 500) + b" HTTP/1.1\r\nHost: HOST\r\n\r\n", b"200"),
        (b"GET TARGETbug HTTP/1.1\r\nHost: HOST\r\n\r\n", b"500"),
        (b"GET TARGET" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: HOST\r\n\r\n", b""),
        (b"GET TARGET HTTP/1.1\r\n" + b"a: b\r\n" * 50_000 + b"\r\n", b""),
        (b"GET TARGET HTTP/1.1\r\nHost: HO", b""),
        (b"", b""),
    ],
)
def test_what_is_not_a_request_is_refused(server: PrivateServer, data: bytes, status: bytes) -> None:
    place = urlsplit(server.address)
    received = send(server, data.replace(b"TARGET", place.path.encode()).replace(b"HOST", place.netloc.encode()))
    assert received[9:12] == status
    assert b"Traceback" not in received
    assert get(server.address)[0] == 200, "it goes on"


def test_every_answer_forbids_what_a_page_does_not_need(server: PrivateServer) -> None:
    place = urlsplit(server.address)
    head = send(server, f"GET {place.path} HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode()).decode()
    policy = re.search(r"Content-Security-Policy: (.*)\r", head)
    assert policy
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
    for line in ("X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer", "Cache-Control: no-store"):
        assert f"{line}\r\n" in head
    assert "access-control" not in head.lower()


def test_many_requests_leave_nothing_open(server: PrivateServer) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda number: get(f"{server.address}{number}"), range(scaled(200, in_ci=1_000))))
    assert {status for status, _ in answers} == {200}
    until_idle(server)


def stuck(server: PrivateServer, clients: ExitStack) -> list[socket.socket]:
    """A client that never reads its answer, and one that never ends its request."""
    place, result = urlsplit(server.address), []
    for data in (f"GET {place.path}large HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n", "GET "):
        client = clients.enter_context(connected(server))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
        client.sendall(data.encode())
        result.append(client)
    return result


def test_clients_that_never_read_or_never_write_do_not_hold_up_others() -> None:
    with serving(answer, seconds=PATIENCE) as server, ExitStack() as clients:
        stuck(server, clients)
        assert get(server.address)[0] == 200


def test_clients_that_never_read_or_never_write_are_dropped() -> None:
    with serving(answer, seconds=0.3) as server, ExitStack() as clients:
        _, writer = stuck(server, clients)
        assert writer.recv(1) == b"", "it is closed"
        until_idle(server)


def idle(server: PrivateServer, number: int, clients: ExitStack) -> list[socket.socket]:
    """A number of clients that have connected, and send nothing."""
    made = [clients.enter_context(connected(server)) for _ in range(number)]
    end = time.monotonic() + PATIENCE
    while server.connections < number:
        assert time.monotonic() < end
        time.sleep(0.01)
    return made


def test_a_request_waits_while_as_many_are_served_as_possible() -> None:
    with serving(answer, seconds=PATIENCE) as server, ExitStack() as clients, ThreadPoolExecutor(100) as pool:
        made = idle(server, MOST_OPEN, clients)
        waiting = [pool.submit(get, server.address) for _ in range(100)]
        while server.connections < MOST_OPEN + 100:
            time.sleep(0.01)
        assert not any(answered.done() for answered in waiting)
        made[0].close()
        assert {answered.result(PATIENCE)[0] for answered in waiting} == {200}


def test_too_many_connections_are_closed() -> None:
    with serving(answer, seconds=PATIENCE) as server:
        with ExitStack() as clients:
            idle(server, MOST_OPEN + MOST_WAITING, clients)
            assert send(server, b"GET / HTTP/1.1\r\n\r\n") == b""
        until_idle(server)
        assert get(server.address)[0] == 200


def test_it_listens_on_the_loopback_address_only(server: PrivateServer) -> None:
    assert urlsplit(server.address).hostname == "127.0.0.1"
    with (
        pytest.raises(OSError, match=r"refused|assign|time"),
        socket.create_connection(("127.0.0.2", urlsplit(server.address).port or 0)),
    ):
        pass


def test_a_port_in_use_is_an_error_of_the_user(server: PrivateServer) -> None:
    with pytest.raises(UsageError, match="cannot be used"):
        PrivateServer(urlsplit(server.address).port or 0, answer)


def test_each_server_has_its_own_token() -> None:
    with serving(answer) as one, serving(answer) as other:
        assert urlsplit(one.address).path != urlsplit(other.address).path
