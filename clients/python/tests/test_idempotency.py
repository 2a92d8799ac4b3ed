"""Idempotency keys, by the vectors that all clients share."""

import datetime
import re
from decimal import Decimal
from typing import Any

import pytest
from service import LOST, Service, answer_json, refusal
from support import Harness, InstantClock, home, shared_file

from domesday_client import ConnectionError, RetryLimits, ServiceError, idempotency_key
from domesday_client.models import ExistingRow

VECTORS: list[dict[str, Any]] = shared_file("idempotency-vectors.json")
JOB = answer_json(202, {"job_id": "j", "status": "queued"})


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_a_shared_vector_gives_its_key(vector: dict[str, Any]) -> None:
    key = idempotency_key(vector["body"], vector["label"])
    assert key == vector["key"]
    assert re.fullmatch(r"[A-Za-z0-9._:-]{1,100}", key)


def test_there_are_vectors() -> None:
    assert len(VECTORS) >= 12


def test_models_dates_and_decimals_give_the_key_of_their_json() -> None:
    body = {"requests": [home()]}
    typed = home()
    typed["property"]["valuation_date"] = datetime.date(2026, 10, 15)
    typed["size"]["floor_area_m2"] = Decimal("104.5")
    key = idempotency_key(body, "a")
    assert idempotency_key({"requests": (typed,)}, "a") == key
    assert idempotency_key({"requests": [ExistingRow.model_validate(home())]}, "a") == key


@pytest.mark.parametrize("label", ["", "x" * 36, "a b", "é", "a/b", "a\n"])
def test_an_unsound_label_is_refused_before_anything_is_sent(harness: Harness, label: str) -> None:
    with Service([]) as service:
        with pytest.raises(ValueError, match="label"):
            client = harness.client(service.url)
            harness.get(client.jobs.submit({"requests": [home()]}, label=label))
        assert service.requests == []


def test_a_submission_is_repeated_with_the_same_key_after_a_lost_connection(
    harness: Harness,
) -> None:
    body = {"mode": "standard", "requests": [home()]}
    with Service([LOST, refusal(503, "overloaded", True), JOB]) as service:
        client = harness.client(service.url, clock=InstantClock())
        assert harness.get(client.jobs.submit(body, label="run")).job_id == "j"
        sent = [request.body for request in service.requests]
    assert sent == [{**body, "idempotency_key": idempotency_key(body, "run")}] * 3


def test_a_submission_without_an_answer_may_be_charged(harness: Harness) -> None:
    with Service([LOST, LOST]) as service, pytest.raises(ConnectionError) as caught:
        limits = RetryLimits(max_attempts=2)
        client = harness.client(service.url, clock=InstantClock(), retries=limits)
        harness.get(client.jobs.submit({"requests": [home()]}, label="run"))
    assert (caught.value.may_be_charged, caught.value.attempts) == (True, 2)


def test_a_refusal_after_a_lost_connection_may_be_charged_too(harness: Harness) -> None:
    for answers, charged in (([LOST], True), ([], False)):
        with Service([*answers, refusal(500, "internal", False)]) as service:
            client = harness.client(service.url, clock=InstantClock())
            with pytest.raises(ServiceError) as caught:
                harness.get(client.jobs.submit({"requests": [home()]}, label="run"))
        assert caught.value.may_be_charged is charged
