"""Stored answers with their entity tags."""

import json
from pathlib import Path
from typing import Any

import pytest
from service import Answer, ReceivedRequest, Service, answer_json, response
from support import Harness, InstantClock

from domesday_client import ApiError

KEY = "secret-key-4711"


def tagged(request: ReceivedRequest) -> Answer:
    """Answers a catalogue, or 304 if the client has it."""
    if request.headers.get("if-none-match") == 'W/"t1"':
        return response(304, "", {"ETag": 'W/"t1"'})
    body = {"release_id": "r", "family": "rates", "datasets": [], "request_id": "x"}
    return answer_json(200, body, {"ETag": 'W/"t1"'})


def read(harness: Harness, service: Service, folder: Path, key: str = KEY) -> Any:
    """Reads the catalogue with a new client."""
    client = harness.client(service.url, key, cache_folder=folder, clock=InstantClock())
    return harness.get(client.rates.datasets())


def tags(service: Service) -> list[str | None]:
    """Returns the tag that each request named."""
    return [request.headers.get("if-none-match") for request in service.requests]


def test_a_second_client_sends_the_tag_and_reuses_the_body(
    harness: Harness, tmp_path: Path
) -> None:
    with Service([tagged, tagged]) as service:
        first = read(harness, service, tmp_path / "new/folder")
        second = read(harness, service, tmp_path / "new/folder")
        assert first == second and first.release_id == "r"
        assert tags(service) == [None, 'W/"t1"']


def test_another_key_address_or_query_has_another_entry(harness: Harness, tmp_path: Path) -> None:
    with Service([tagged] * 4) as service, Service([tagged]) as other:
        read(harness, service, tmp_path)
        read(harness, service, tmp_path, "another-key")
        read(harness, other, tmp_path)
        client = harness.client(service.url, KEY, cache_folder=tmp_path)
        harness.get(client.pinned(rates="r2").rates.datasets())
        assert tags(service) == [None, None, None]
        assert tags(other) == [None]


def test_no_file_holds_the_key_or_is_readable_by_others(harness: Harness, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    with Service([tagged]) as service:
        read(harness, service, folder)
    files = list(folder.iterdir())
    assert len(files) == 1
    for file in files:
        assert KEY not in file.read_text() and KEY not in file.name
        assert file.stat().st_mode & 0o077 == 0
    assert folder.stat().st_mode & 0o077 == 0


def damage(entry: dict[str, Any], member: str) -> str:
    """Returns an entry with one member altered."""
    altered = {"body": "e30=", "etag": 'W/"t2"', "digest": "0"}
    return json.dumps({**entry, member: altered[member]})


@pytest.mark.parametrize("kind", ["body", "etag", "digest", "short", "empty", "list", "folder"])
def test_a_damaged_entry_is_ignored_and_replaced(
    harness: Harness, tmp_path: Path, kind: str
) -> None:
    with Service([tagged] * 3) as service:
        read(harness, service, tmp_path)
        (file,) = tmp_path.iterdir()
        text = file.read_text()
        if kind == "folder":
            file.unlink()
            file.mkdir()
        else:
            texts = {"short": text[:-9], "empty": "", "list": "[1]"}
            file.write_text(texts[kind] if kind in texts else damage(json.loads(text), kind))
        assert read(harness, service, tmp_path).release_id == "r"
        assert read(harness, service, tmp_path).release_id == "r"
        # A file that cannot be replaced costs the stored body alone.
        assert tags(service) == [None, None, None if kind == "folder" else 'W/"t1"']
        assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_an_unchanged_answer_without_a_stored_body_is_an_error(harness: Harness) -> None:
    with Service([response(304, "")]) as service, pytest.raises(ApiError) as caught:
        harness.get(harness.client(service.url, clock=InstantClock()).rates.datasets())
    assert caught.value.status == 304


def test_answers_without_a_tag_and_valuations_are_not_stored(
    harness: Harness, tmp_path: Path
) -> None:
    answers = [answer_json(200, {"release_id": "r"}), answer_json(200, {"status": "valued"})]
    with Service([*answers]) as service:
        client = harness.client(service.url, cache_folder=tmp_path)
        harness.get(client.release())
        harness.get(client.value({}))
    assert list(tmp_path.iterdir()) == []
