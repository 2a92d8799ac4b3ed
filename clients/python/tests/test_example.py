"""The example that needs no library: it loses no result that was charged."""

import csv
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from service import Service, answer_json, refusal
from support import CLIENTS

EXAMPLE = CLIENTS.parent / "examples" / "python"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of the example, whose waits take no time."""
    spec = importlib.util.spec_from_file_location("value_homes", EXAMPLE / "value_homes.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module.time, "sleep", lambda _seconds: None)
    monkeypatch.setenv("DOMESDAY_KEY", "a key")
    return module


def run(example: ModuleType, service: Service, folder: Path) -> list[dict[str, str]]:
    """Values the homes of the example, and returns the lines of its file."""
    values = folder / "values.csv"
    example.main([str(EXAMPLE / "homes.csv"), str(values), service.url])
    with values.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def homes() -> int:
    """Returns the number of homes of the example."""
    with (EXAMPLE / "homes.csv").open(newline="", encoding="utf-8") as file:
        return sum(1 for _ in csv.DictReader(file))


VALUED = {"status": "valued", "valuation": {"estimated_value_gbp": 250_000}}
REFERRED = {"status": "referred", "referral": {"code": "outside_coverage", "message": "no"}}
FAILED = {"status": "valuation_failed", "errors": [{"code": "internal", "retryable": True}]}


def test_a_referred_home_has_its_code(example: ModuleType, tmp_path: Path) -> None:
    results = [REFERRED, *[VALUED] * (homes() - 1)]
    with Service([answer_json(200, {"results": results})]) as service:
        lines = run(example, service, tmp_path)
    assert [line["reason"] for line in lines] == ["outside_coverage", *[""] * (homes() - 1)]


def test_a_refused_repetition_keeps_the_results_that_were_charged(
    example: ModuleType, tmp_path: Path
) -> None:
    first = answer_json(200, {"results": [FAILED, *[VALUED] * (homes() - 1)]})
    with Service([first, refusal(429, "monthly_valuation_quota_exceeded", False)]) as service:
        lines = run(example, service, tmp_path)
    assert [line["status"] for line in lines[:2]] == ["valuation_failed", "valued"]
    assert len(lines) == homes()


def test_retry_after_is_a_number_or_a_date(example: ModuleType) -> None:
    assert example.seconds("7") == 7
    assert example.seconds("Thu, 15 Oct 2026 12:00:03 GMT") < 0
    assert example.seconds("soon") == 0
