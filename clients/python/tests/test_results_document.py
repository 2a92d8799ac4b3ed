"""The reader of results in parts gives what a reader of the whole document gives."""

import json
import random
from typing import Any

import pytest

from domesday_client.job_results import ResultsDocument
from domesday_client.operation import Response

WORDS = ["results", "result", "item", "error", "status", "", 'é\n"\\', "\U0001f3e0", "a.b"]
SCALARS: list[Any] = [None, True, False, 0, -7, 2**53 + 1, 0.1, -1e-9, 1e300, *WORDS]


def random_value(chance: random.Random, depth: int) -> Any:
    """Returns JSON that has the names of the document at other places."""
    kind = chance.random()
    if depth == 0 or kind < 0.4:
        return chance.choice(SCALARS)
    if kind < 0.7:
        return [random_value(chance, depth - 1) for _ in range(chance.randrange(4))]
    names = chance.sample(WORDS, chance.randrange(4))
    return {name: random_value(chance, depth - 1) for name in names}


@pytest.mark.parametrize("seed", range(200))
def test_a_document_in_random_parts_gives_its_results(seed: int) -> None:
    chance = random.Random(seed)
    results = [random_value(chance, 3) for _ in range(chance.randrange(6))]
    members: list[tuple[str, Any]] = [
        ("status", chance.choice(["completed", "failed", "new"])),
        ("error", random_value(chance, 2)),
        ("result", {"release_id": "r", "results": results, "error": {"status": "x"}}),
        ("extra", random_value(chance, 3)),
    ]
    chance.shuffle(members)
    content = json.dumps(dict(members), ensure_ascii=chance.random() < 0.5).encode()
    document = ResultsDocument(Response(200, {}))
    found, at = [], 0
    while at < len(content):
        assert not document.ended
        size = chance.choice([1, 2, 5, 50, 5_000])
        found += list(document.feed(content[at : at + size]))
        at += size
    assert document.ended
    assert found == results
    assert [type(value) for value in found] == [type(value) for value in results]
    assert (document.status, document.error) == (dict(members)["status"], dict(members)["error"])
