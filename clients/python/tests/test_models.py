"""The generated models, and the types of the client."""

import subprocess
import sys
import typing
from pathlib import Path

import pytest
from pydantic import RootModel, ValidationError
from support import home

from domesday_client import Result, UnknownResult, models
from domesday_client.cells import field_kind
from domesday_client.results import read_answer, read_result

FOLDER = Path(__file__).resolve().parents[1]
MODELS = FOLDER / "src/domesday_client/models.py"
PAST = {
    "code": "c",
    "message": "m",
    "retryable": False,
}


def test_the_models_are_those_of_the_description(tmp_path: Path) -> None:
    generated = tmp_path / "models.py"
    command = [sys.executable, str(FOLDER / "generate"), str(generated)]
    subprocess.run(command, check=True, timeout=120)
    assert generated.read_text() == MODELS.read_text(), "models.py is stale. Run `generate`."
    assert max(map(len, generated.read_text().splitlines())) <= 100


@pytest.mark.parametrize("program", [["mypy"], ["ruff", "check"], ["ruff", "format", "--check"]])
def test_the_types_are_strict_and_the_code_is_clean(program: list[str]) -> None:
    tool = Path(sys.executable).with_name(program[0])
    command = [str(tool), *program[1:]]
    run = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr


def test_a_request_refuses_an_unknown_member_and_an_answer_keeps_it() -> None:
    models.ExistingRequest.model_validate(home())
    with pytest.raises(ValidationError):
        models.ExistingRequest.model_validate(home(floor_aera=1))
    limits = {"synchronous_batch_rows": 1, "asynchronous_job_rows": 2, "new_rows": 3}
    assert models.Limits.model_validate(limits).model_dump() == limits


@pytest.mark.parametrize("member", ["code", "basis", "status", "frequency", "metric"])
def test_a_word_of_an_answer_is_not_of_a_closed_list(member: str) -> None:
    for model in (models.JobDocument, models.Series, models.SeriesObservation, models.Referral):
        field = model.model_fields.get(member)
        if field is not None:
            assert field.annotation is str


def test_a_text_or_null_of_an_answer_is_a_plain_text() -> None:
    stated = {"identity_source": "request", "postcode": "QA1 1AF", "uprn": "100023336956"}
    found = models.ResultProperty.model_validate(stated)
    assert found.uprn == "100023336956" and f"{found.uprn}" == "100023336956"
    assert models.ResultProperty.model_validate({**stated, "uprn": None}).uprn is None
    for kind in vars(models).values():
        if isinstance(kind, type) and issubclass(kind, RootModel) and kind is not RootModel:
            assert field_kind(kind.model_fields["root"].annotation) is None, kind


def test_a_result_of_another_shape_is_not_lost() -> None:
    for value in ({"status": "valued", "new": 1}, {"status": "x"}, {"status": 7}, [1], "text", 7):
        result = read_result(value)
        assert isinstance(result, UnknownResult)
        expected = value if isinstance(value, dict) else {"value": value}
        assert expected.items() <= result.model_dump(warnings=False).items()
    statuses = {"valued", "referred", "rejected", "valuation_failed"}
    known = [kind.model_fields["status"].annotation for kind in typing.get_args(Result)]
    assert {typing.get_args(word)[0] for word in known if typing.get_args(word)} == statuses


def test_an_answer_of_another_shape_keeps_its_members() -> None:
    release = read_answer(models.ReleaseMetadata, {"release_id": "r", "limits": "none"})
    assert vars(release) == {"release_id": "r", "limits": "none"}
    assert not hasattr(release, "endpoints")
