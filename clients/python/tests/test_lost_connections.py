"""Connections that a server really cuts or holds, at each place of a response."""

import time

import pytest
from service import Answer, Service, head
from support import Harness, InstantClock, home

from domesday_client import ConnectionError

BODY = b'{"release_id":"r"}'
HEAD = head(200, len(BODY))
CHUNKED = head(200, None, {"Transfer-Encoding": "chunked"})
COMPLETE = Answer((HEAD + BODY,))
CUTS = {
    "before the head": b"",
    "within the head": HEAD[:20],
    "before the body": HEAD,
    "within the body": HEAD + BODY[:5],
    "within a chunk": CHUNKED + b"5\r\n" + BODY[:5] + b"\r\n",
    "within compressed data": head(200, 60, {"Content-Encoding": "gzip"}) + b"\x1f\x8b\x08" * 10,
}


@pytest.mark.parametrize("place", CUTS)
def test_a_query_is_repeated_after_a_cut(harness: Harness, place: str) -> None:
    cut = Answer((CUTS[place],))
    with Service([cut, cut, COMPLETE]) as service:
        client = harness.client(service.url, clock=InstantClock())
        assert harness.get(client.release()).release_id == "r"
        assert len(service.requests) == 3


@pytest.mark.parametrize("place", CUTS)
def test_a_value_is_sent_once_and_may_be_charged_after_a_cut(harness: Harness, place: str) -> None:
    with Service([Answer((CUTS[place],)), COMPLETE]) as service:
        client = harness.client(service.url, clock=InstantClock())
        with pytest.raises(ConnectionError) as caught:
            harness.get(client.value(home()))
        assert (caught.value.may_be_charged, len(service.requests)) == (True, 1)


def dribble(content: bytes) -> Answer:
    """Returns an answer whose bytes come one by one, with 50 ms between them."""
    return Answer(tuple(bytes([byte]) for byte in content), wait=0.05)


@pytest.mark.parametrize(
    "answer",
    [
        Answer((HEAD + BODY,), wait=9),
        dribble(HEAD + BODY),
        Answer((HEAD, *(bytes([byte]) for byte in BODY)), wait=0.05),
    ],
    ids=["silence", "a slow head", "a slow body"],
)
def test_an_attempt_ends_at_its_timeout(harness: Harness, answer: Answer) -> None:
    with Service([answer]) as service:
        client = harness.client(service.url, clock=InstantClock(), attempt_timeout=0.6)
        started = time.monotonic()
        with pytest.raises(ConnectionError) as caught:
            harness.get(client.value(home()))
        assert 0.5 < time.monotonic() - started < 5
        assert caught.value.may_be_charged
        assert service.left_early.wait(5)


def test_results_whose_body_is_cut_are_asked_for_again(harness: Harness) -> None:
    document = b'{"status":"completed","result":{"results":[{"status":"valued"}]}}'
    start = head(200, len(document))
    answers = [Answer((start + document[:30],)), Answer((start + document,))]
    with Service([*answers]) as service:
        client = harness.client(service.url, clock=InstantClock())
        results = list(harness.items(client.jobs.results("j")))
        assert [result.status for result in results] == ["valued"]
        assert len(service.requests) == 2


def test_an_address_without_a_server_is_an_error_that_charges_nothing(harness: Harness) -> None:
    with Service([]) as service:
        refusing = service.url
    for url in (refusing, "http://domesday.invalid"):
        clock = InstantClock()
        with pytest.raises(ConnectionError, match="nothing was sent") as caught:
            harness.get(harness.client(url, clock=clock).value(home()))
        assert (caught.value.attempts, caught.value.may_be_charged) == (5, False)
        assert len(clock.waits) == 4
