"""What never reached a server costs nothing; and encrypted connections to servers of this machine."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pddlego.errors import ModelError
from pddlego.evaluation.cluster import ActorLimiter, Permits
from pddlego.models import Message, Request
from pddlego.models.limiter import CellLimiter, Ledger, Load, Price, RequestLimiter, SharedLimiter, read_ledger
from pddlego.models.openai import OpenAIModel
from tests.model_server import ModelServer, Reply, answer, fault
from tests.scale import PATIENCE

REQUEST = Request("edit", (Message("user", "What?"),), seconds=PATIENCE)
PRICES = {"m": Price(10.0, 10.0)}


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for this machine that is signed by itself, with its key in the same file."""
    if shutil.which("openssl") is None:
        pytest.skip("the program openssl, which makes a certificate, is not installed")
    path = tmp_path / "own.pem"
    names = "subjectAltName=IP:127.0.0.1,DNS:localhost"
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", names]
    subprocess.run(
        ["openssl", "req", *options, "-keyout", str(path), "-out", str(tmp_path / "only.pem")],
        check=True,
        capture_output=True,
    )
    path.write_text(path.read_text() + (tmp_path / "only.pem").read_text())
    return path


@pytest.fixture
def tls_server(certificate: Path) -> Iterator[ModelServer]:
    server = ModelServer()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    inner = server._server
    inner.socket = context.wrap_socket(inner.socket, server_side=True, do_handshake_on_connect=False)
    with server:
        yield server


def encrypted(server: ModelServer, host: str = "127.0.0.1") -> str:
    return server.url.replace("http://127.0.0.1", f"https://{host}")


Limited = tuple[RequestLimiter, Callable[[], Load]]


def shared(path: Path) -> Limited:
    limiter = SharedLimiter(1, ledger=Ledger(path), prices=PRICES)
    return CellLimiter(limiter, "cell"), limiter.load


def actor(path: Path) -> Limited:
    """The limiter of a Ray worker, whose actor is called in this process."""
    permits = Permits(lambda: SharedLimiter(1, ledger=Ledger(path), prices=PRICES))

    def call(name: str, *arguments: Any) -> Any:
        return getattr(permits, name)(*arguments)

    return ActorLimiter(call, "cell/1"), permits.load


LIMITERS = pytest.mark.parametrize("make", [shared, actor])


def closed() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


def costs(path: Path, load: Callable[[], Load]) -> tuple[float, float]:
    """Tokens and cost of the requests, which the ledger has, too."""
    entries = read_ledger(path)[0].values()
    spent = load().spent
    assert entries
    assert (spent.tokens, spent.cost) == (sum(item.tokens for item in entries), sum(item.cost for item in entries))
    assert load().in_flight == 0
    return spent.tokens or 0, spent.cost or 0


@LIMITERS
@pytest.mark.parametrize("place", ["closed", "unknown host", "bad port", "no TLS", "unknown certificate", "proxy"])
def test_what_never_reached_a_server_costs_nothing(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, make: Any, place: str
) -> None:
    if place == "unknown certificate":
        url = encrypted(request.getfixturevalue("tls_server"))
    elif place == "no TLS":
        url = encrypted(request.getfixturevalue("model_server"))
    elif place == "proxy":
        monkeypatch.setenv("http_proxy", closed().removesuffix("/v1"))
        url = "http://nowhere.invalid/v1"
    else:
        url = {"closed": closed(), "unknown host": "http://nowhere.invalid/v1", "bad port": "http://127.0.0.1:1/v1"}[
            place
        ]
    limiter, load = make(tmp_path / "ledger")
    model = OpenAIModel("m", "key", url, attempts=2, sleep=lambda _: None, limiter=limiter)
    with pytest.raises(ModelError) as caught:
        model.complete(REQUEST)
    assert caught.value.next_step
    assert costs(tmp_path / "ledger", load) == (0, 0)


@pytest.mark.slow
@LIMITERS
def test_a_connection_that_is_given_up_before_it_is_made_costs_nothing(tmp_path: Path, make: Any) -> None:
    """The other side accepts the connection, and never answers the handshake."""
    limiter, load = make(tmp_path / "ledger")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/v1"
        with pytest.raises(KeyboardInterrupt):
            OpenAIModel("m", "key", url, limiter=limiter).complete(replace(REQUEST, wanted=iter_wanted(3)))
    assert costs(tmp_path / "ledger", load) == (0, 0)


def iter_wanted(times: int) -> Callable[[], bool]:
    """A function that says so many times that an answer is wanted."""
    left = iter([True] * times)
    return lambda: next(left, False)


@LIMITERS
@pytest.mark.parametrize(
    "reply", [Reply(drop=True), Reply(reset=True), replace(answer("{}"), cut=20)], ids=["closed", "reset", "cut"]
)
def test_what_may_have_reached_a_server_is_paid_for(
    tmp_path: Path, model_server: ModelServer, make: Any, reply: Reply
) -> None:
    limiter, load = make(tmp_path / "ledger")
    model_server.replies = [reply]
    with pytest.raises(ModelError):
        OpenAIModel("m", "key", model_server.url, attempts=1, limiter=limiter).complete(REQUEST)
    assert min(costs(tmp_path / "ledger", load)) > 0


@LIMITERS
def test_a_request_that_is_given_up_after_it_was_sent_is_paid_for(
    tmp_path: Path, model_server: ModelServer, make: Any
) -> None:
    """Also on a connection that was open already."""
    limiter, load = make(tmp_path / "ledger")
    model = OpenAIModel("m", "key", model_server.url, limiter=limiter)
    model_server.replies = [fault(400, "Your credit balance is too low"), Reply(hold=threading.Event())]
    with pytest.raises(ModelError):
        model.complete(REQUEST)
    assert costs(tmp_path / "ledger", load) == (0, 0)
    with pytest.raises(KeyboardInterrupt):
        model.complete(replace(REQUEST, wanted=lambda: len(model_server.requests) < 2))
    assert min(costs(tmp_path / "ledger", load)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_a_server_of_this_machine_is_trusted_by_its_certificate(
    tls_server: ModelServer, certificate: Path, monkeypatch: pytest.MonkeyPatch, host: str, name: str
) -> None:
    """And no proxy is asked to reach it."""
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    model = OpenAIModel("m", "key", encrypted(tls_server, host), attempts=3, sleep=lambda _: None)
    with pytest.raises(ModelError) as caught:
        model.complete(REQUEST)
    assert "CERTIFICATE_VERIFY_FAILED" in caught.value.reason
    assert "SSL_CERT_FILE" in caught.value.next_step
    assert "SSL_CERT_DIR" in caught.value.next_step
    assert "tries" not in caught.value.what, "it would fail in the same way again"
    place = certificate.parent / "only.pem"
    if name == "SSL_CERT_DIR":
        hashed = subprocess.run(
            ["openssl", "x509", "-hash", "-noout", "-in", str(place)], check=True, capture_output=True, text=True
        ).stdout.strip()
        folder = certificate.parent / "certificates"
        folder.mkdir()
        shutil.copy(place, folder / f"{hashed}.0")
        place = folder
    monkeypatch.setenv(name, str(place))
    assert OpenAIModel("m", "key", encrypted(tls_server, host)).complete(REQUEST).text == "ok"


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_file_of_certificates_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_server: ModelServer, content: str | None
) -> None:
    path = tmp_path / "own.pem"
    if content is not None:
        path.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", os.fspath(path))
    with pytest.raises(ModelError) as caught:
        OpenAIModel("m", "key", "https://127.0.0.1:1/v1").complete(REQUEST)
    assert "SSL_CERT_FILE" in caught.value.reason
    assert "SSL_CERT_FILE" in caught.value.next_step
    assert OpenAIModel("m", "key", model_server.url).complete(REQUEST).text == "ok", "it is not needed without TLS"
