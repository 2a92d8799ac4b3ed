"""Checks that value homes, and so cost units."""

from ..idempotency import idempotency_key
from ..jobs import job_path
from ..models import BatchResult, JobDocument, ReferredResult, ReleaseMetadata, ValuedResult
from ..results import UnknownResult, read_result
from .checks import Check, Finding, NotTested, Probe, error_code, require, require_success

_VALUE = "/v3/simple-value"
_BATCH = "/v3/simple-batch-value"
_JOBS = "/v3/valuation-jobs"
_ABSENT_BUILDING = "no such building 4711"


def value(probe: Probe) -> str:
    """Checks the result of one home."""
    response = probe.post(_VALUE, probe.home)
    if response.status == 422 and probe.demo_home:
        raise NotTested(
            f"the service does not know the demo's home ({error_code(response)}). "
            "Name one with --home FILE."
        )
    result = read_result(require_success(response, "single values"))
    if isinstance(result, UnknownResult):
        raise Finding(f"the result contradicts the description, with the status {result.status!r}")
    if isinstance(result, ReferredResult):
        return f"referred: {result.referral.code}"
    if not isinstance(result, ValuedResult):
        raise Finding(f"the status of a single result is {result.status}")
    probe.read(ValuedResult, result.model_dump(by_alias=True))
    interval, estimate = result.valuation.range, result.valuation.estimated_value_gbp
    if interval is not None:
        ordered = interval.lower_value_gbp <= estimate <= interval.upper_value_gbp
        require(ordered, "the estimate is outside its range")
    return f"valued at {estimate} GBP by release {result.release_id}"


def unknown_field(probe: Probe) -> str:
    """Checks that a request with an unknown field is refused."""
    response = probe.post(_VALUE, {**probe.home, "no_such_field": 1})
    if response.status == 403:
        raise NotTested(f"the key has no access to single values: {error_code(response)}")
    require(response.status == 422, f"an unknown field: HTTP {response.status}, not 422")
    return f"an unknown field is refused with 422 {error_code(response)}"


def replay(probe: Probe) -> str:
    """Checks that a submission which is repeated gives the same job."""
    release: ReleaseMetadata | None = probe.facts.get("release")
    if release is None or _JOBS not in release.endpoints:
        raise NotTested("the release metadata does not list the job routes")
    body = {"mode": "simple", "requests": [probe.home]}
    key = idempotency_key(body, probe.run)
    submissions = [probe.post(_JOBS, {**body, "idempotency_key": key}) for _ in range(2)]
    documents = [require_success(response, "jobs", 202) for response in submissions]
    first, second = (probe.read(JobDocument, document) for document in documents)
    require(first.job_id == second.job_id, "a repeated submission made a second job")
    other = {**body, "requests": [{**probe.home, "request_reference": "another"}]}
    conflict = probe.post(_JOBS, {**other, "idempotency_key": key})
    require(conflict.status == 409, f"another body: HTTP {conflict.status}, not 409")
    read = probe.get(job_path(first.job_id))
    require(read.status == 200, f"the job's document: HTTP {read.status}, not 200")
    return f"a repeated submission gives job {first.job_id}, and another body is 409"


def batch(probe: Probe) -> str:
    """Checks the order and the statuses of a batch, one row of which has no address."""
    absent = {**probe.home["property"], "building_number_or_name": _ABSENT_BUILDING}
    absent.pop("uprn", None)
    rows = [
        {**probe.home, "property": absent, "request_reference": "first"},
        {**probe.home, "request_reference": "second"},
    ]
    answer = probe.read(
        BatchResult, require_success(probe.post(_BATCH, {"requests": rows}), "batches")
    )
    references = [result.request_reference for result in answer.results]
    require(references == ["first", "second"], f"the order of results is {references}")
    require(answer.summary.requested == 2, "the summary does not count two rows")
    status = answer.results[0].status
    require(status == "rejected", f"a home without an address is {status}, not rejected")
    return f"results keep their order, with the status {answer.status}"


CHECKS = (
    Check("value", value, units=1),
    Check("unknown_field", unknown_field, units=1),
    Check("idempotent_replay", replay, units=1),
    Check("batch", batch, units=2),
)
