"""Checks that read only."""

from typing import Any

from ..models import Coverage, ReleaseMetadata, SeriesAreas, SeriesCatalogue, SeriesEnvelope
from ..operation import Response
from ..rate_limit import has_limit
from ..untyped import members_of
from .checks import Check, NotTested, Probe, error_code, json_of, require, require_success

_RELEASE = "/v3/releases/current"
_UNKNOWN_JOB = "/v3/valuation-jobs/00000000-0000-4000-8000-000000000000"


def authentication(probe: Probe) -> str:
    """Checks that an unknown key is refused."""
    response = probe.get(_RELEASE, client=probe.stranger)
    require(response.status == 401, f"an unknown key: HTTP {response.status}, not 401")
    probe.facts["refusal"] = response
    return "the service refuses an unknown key with 401"


def error_shape(probe: Probe) -> str:
    """Checks the body of an error of v3."""
    response: Response | None = probe.facts.get("refusal")
    if response is None:
        raise NotTested("no error was seen")
    require(error_code(response), "the body of an error has no code")
    require(response.request_id, "an error has no X-Service-Request-Id")
    return f"an error has the code {error_code(response)} and a request id"


def metadata(probe: Probe) -> str:
    """Checks the metadata of the active release."""
    body = require_success(probe.get(_RELEASE), "the release metadata")
    release = probe.read(ReleaseMetadata, body)
    window = release.valuation_date
    require(window.from_ <= window.to, "the window of valuation dates ends before it begins")
    rows = release.limits.synchronous_batch_rows
    require(0 <= rows <= 2500, f"limits.synchronous_batch_rows is {rows}, not 0 to 2,500")
    probe.facts["release"] = release
    return f"release {release.release_id}, valuation dates {window.from_} to {window.to}"


def endpoints(probe: Probe) -> str:
    """Checks the routes that the key may use."""
    release: ReleaseMetadata | None = probe.facts.get("release")
    if release is None:
        raise NotTested("the release metadata could not be read")
    require(_RELEASE in release.endpoints, f"the endpoints do not list {_RELEASE}")
    return f"the key may use {len(release.endpoints)} routes"


def coverage(probe: Probe) -> str:
    """Checks the coverage of the home's postcode."""
    postcode = probe.home["property"]["postcode"]
    body = require_success(probe.get("/v3/coverage", {"postcode": postcode}), "the coverage check")
    found = probe.read(Coverage, body).postcode.represented
    return f"{postcode} is {'' if found else 'not '}in the release"


def unknown_job(probe: Probe) -> str:
    """Checks that an unknown job is an error."""
    response = probe.get(_UNKNOWN_JOB)
    if response.status == 403:
        raise NotTested(f"the key has no access to jobs: {error_code(response)}")
    status = response.status
    require(400 <= status < 500, f"an unknown job: HTTP {status}, not 4xx")
    require(error_code(response), "the error of an unknown job has no code")
    return f"an unknown job is HTTP {status} {error_code(response)}"


def rates_series(probe: Probe) -> str:
    """Checks a series of rates."""
    return _series(probe, "rates", {})


def markets_series(probe: Probe) -> str:
    """Checks a series of market statistics."""
    areas = require_success(probe.get("/v1/markets/areas"), "market statistics")
    codes = [area.code for area in probe.read(SeriesAreas, areas).areas]
    require(codes, "the release has no areas")
    require(codes == sorted(codes), "the areas are not ordered by code")
    return _series(probe, "markets", {"area": codes[0]})


def _series(probe: Probe, family: str, known: dict[str, str]) -> str:
    body = require_success(probe.get(f"/v1/{family}/datasets"), family)
    catalogue = probe.read(SeriesCatalogue, body)
    require(catalogue.datasets, "the catalogue is empty")
    for dataset in catalogue.datasets:
        options = dataset.selector_options.items()
        choices = {name: str(values[0]) for name, values in options if values}
        values = {**choices, **known, "dataset": dataset.dataset}
        if not set(dataset.required) <= set(values) or dataset.requires_metric_selection:
            continue
        query = {name: values[name] for name in dict.fromkeys(["dataset", *dataset.required])}
        page = require_success(probe.get(f"/v1/{family}/series", query), f"the series of {family}")
        envelope = probe.read(SeriesEnvelope, page)
        count = sum(len(series.observations or []) for series in envelope.series)
        if count == 0:
            continue
        require(
            envelope.release_id == catalogue.release_id,
            f"the series is of release {envelope.release_id}, not {catalogue.release_id}",
        )
        probe.facts.setdefault("series", (f"/v1/{family}/series", query, envelope))
        return f"{dataset.dataset} of release {envelope.release_id}: {count} observation(s)"
    raise NotTested("no dataset of the catalogue has an observation")


def _require_series(probe: Probe) -> tuple[str, dict[str, str], SeriesEnvelope]:
    if "series" not in probe.facts:
        raise NotTested("no series could be read")
    found: tuple[str, dict[str, str], SeriesEnvelope] = probe.facts["series"]
    return found


def entity_tag(probe: Probe) -> str:
    """Checks that an unchanged answer is 304 without a body."""
    path, query, _ = _require_series(probe)
    tag = probe.get(path, query).headers.get("etag")
    require(tag, "the series has no ETag")
    unchanged = probe.get(path, query, {"if-none-match": str(tag)})
    require(unchanged.status == 304, f"If-None-Match: HTTP {unchanged.status}, not 304")
    require(not unchanged.body, "a response 304 has a body")
    other = probe.get(path, query, {"if-none-match": 'W/"another"'})
    require(other.status == 200, f"another entity tag: HTTP {other.status}, not 200")
    return "an unchanged answer is 304 without a body"


def pinned_release(probe: Probe) -> str:
    """Checks that a named release answers, and that an unknown one is no fallback."""
    path, query, envelope = _require_series(probe)
    pinned = {**query, "release_id": envelope.release_id}
    body = require_success(probe.get(path, pinned), "the pinned release")
    require(body.get("release_id") == envelope.release_id, "a pinned query is of another release")
    unknown = probe.get(path, {**query, "release_id": "no-such-release"})
    require(400 <= unknown.status < 500, f"an unknown release: HTTP {unknown.status}, not 4xx")
    return "a named release answers, and an unknown one is an error"


def pages(probe: Probe) -> str:
    """Checks that a cursor alone continues a selection on its release."""
    path, query, envelope = _require_series(probe)
    starts = [item.availability.from_ for item in envelope.series if item.availability.from_]
    if not starts:
        raise NotTested("the series has no first period")
    selection = {**query, "from": min(starts), "page_size": "2"}
    first = require_success(probe.get(path, selection), "a page")
    cursor = first.get("next_cursor")
    if not cursor:
        raise NotTested("the selection has one page")
    second = require_success(probe.get(path, {"cursor": cursor}), "the next page")
    for page in (first, second):
        count = len(_observations(page))
        require(count <= 2, f"a page of at most 2 has {count} observations")
        require(page.get("release_id") == envelope.release_id, "a page is of another release")
    require(_observations(first) != _observations(second), "the second page repeats the first")
    return "a cursor alone continues the selection"


def _observations(page: Any) -> list[Any]:
    return [
        (series.get("series_id"), observation.get("period"))
        for series in page.get("series", [])
        for observation in series.get("observations", [])
    ]


def parameter_errors(probe: Probe) -> str:
    """Checks the errors of an unknown parameter and of an unsound date."""
    path, query, _ = _require_series(probe)
    unknown = probe.get(path, {**query, "no_such_parameter": "1"})
    require(unknown.status == 400, f"an unknown parameter: HTTP {unknown.status}, not 400")
    unsound = probe.get(path, {**query, "from": "yesterday"})
    require(unsound.status == 422, f"an unsound date: HTTP {unsound.status}, not 422")
    for response in (unknown, unsound):
        body = members_of(json_of(response))
        members = members_of(body.get("error"))
        require(body.get("request_id"), "an error of v1 has no request_id")
        missing = [name for name in ("code", "message", "field") if not members.get(name)]
        require(not missing, f"an error of v1 has no {', '.join(missing)}")
    return "an unknown parameter is 400 and an unsound date 422, each with its field"


def rate_limit(probe: Probe) -> str:
    """Checks the header RateLimit."""
    text = probe.get(_RELEASE).headers.get("ratelimit")
    if text is None:
        raise NotTested("the response has no header RateLimit")
    require(has_limit(text), f"the header RateLimit cannot be read: {text}")
    return f"the header RateLimit can be read: {text}"


def unknown_members(probe: Probe) -> str:
    """Lists the members of all answers that this version does not know, which it keeps."""
    if not probe.facts:
        raise NotTested("no answer could be read")
    names = sorted(probe.unknown_members)
    return f"kept: {', '.join(names)}" if names else "every member is in the description"


CHECKS = (
    Check("authentication", authentication),
    Check("error_shape", error_shape),
    Check("metadata", metadata),
    Check("endpoints", endpoints),
    Check("coverage", coverage),
    Check("unknown_job", unknown_job),
    Check("rates_series", rates_series),
    Check("markets_series", markets_series),
    Check("entity_tag", entity_tag),
    Check("pinned_release", pinned_release),
    Check("pages", pages),
    Check("parameter_errors", parameter_errors),
    Check("rate_limit", rate_limit),
)
#: The check that looks back on the answers of all others.
LAST = Check("unknown_members", unknown_members)
