"""The rules of jobs: rows that the service values in the background."""

from typing import Any
from urllib.parse import quote

from .errors import JobFailedError
from .idempotency import idempotency_key
from .json_body import encode, to_json_value
from .models import JobDocument
from .operation import Operation, Request
from .polling import Polling, WaitOptions
from .results import read_answer
from .transport import QUERY, SUBMISSION, Session, call
from .untyped import members_of
from .valuations import post

_JOBS = "/v3/valuation-jobs"


def job_path(job_id: object) -> str:
    """Returns the path of a job."""
    return f"{_JOBS}/{quote(str(job_id), safe='')}"


def submit(session: Session, body: object, label: str) -> Operation[JobDocument]:
    """Submits a job with the idempotency key of its body and label, and returns its document.

    Raises ValueError for an unsound label.
    """
    content = to_json_value(body)
    key = idempotency_key(content, label)
    request = post(_JOBS, encode({**content, "idempotency_key": key}))
    return read_answer(JobDocument, (yield from call(session, request, SUBMISSION)))


def get(session: Session, job_id: object) -> Operation[JobDocument]:
    """Returns the document of a job."""
    return read_answer(JobDocument, (yield from _read(session, job_id)))


def _read(session: Session, job_id: object) -> Operation[Any]:
    return (yield from call(session, Request("GET", job_path(job_id)), QUERY))


def wait(session: Session, job_id: object, options: WaitOptions) -> Operation[JobDocument]:
    """Waits until a job is completed and returns its document.

    Raises JobFailedError if it failed, and JobTimeoutError at the timeout.
    """
    polling = Polling(session.clock, options)
    while True:
        answer = yield from _read(session, job_id)
        status = job_status(answer)
        if status == "completed":
            return read_answer(JobDocument, answer)
        if status == "failed":
            raise job_failure(job_id, members_of(answer).get("error"))
        yield from polling.pause(str(job_id), status)


def job_status(answer: Any) -> str:
    """Returns the status of a job's document."""
    return str(members_of(answer).get("status", ""))


def job_failure(job_id: object, error: Any) -> JobFailedError:
    """Returns the error of a failed job from its document's `error`."""
    members = members_of(error)
    return JobFailedError(
        str(job_id),
        str(members.get("code", "")),
        str(members.get("message", "")),
        members.get("retryable") is True,
    )
