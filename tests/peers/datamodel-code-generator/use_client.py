"""Uses the models that datamodel-code-generator made: values a home, a batch and a job, and reads
words that the models do not know. Requests go through Python's own HTTP client.

  use_client.py FOLDER BASE_URL MISSPELT_URL KEY

FOLDER holds the module `domesday_models`. At MISSPELT_URL the same server answers, with its error
code `address_not_found` and its reason `local_typical` misspelt.
"""

import datetime
import sys
import time
import urllib.error
import urllib.request

folder, base_url, misspelt_url, key = sys.argv[1:]
sys.path.insert(0, folder)

import domesday_models as models  # noqa: E402


def ask(path, answers, body=None, server=base_url):
    """Sends a request, and returns the status and the answer read as the model of its status."""
    data = body.model_dump_json(exclude_none=True).encode() if body else None
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = urllib.request.Request(server + path, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            status, text = response.status, response.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
    return status, answers[status].model_validate_json(text)


def home(building):
    return {
        "property": models.Property(
            valuation_date=datetime.date(2026, 10, 15),
            postcode="QA1 1AF",
            building_number_or_name=building,
            street="Badger Yard Gardens",
            type=models.PropertyType.S,
            subtype=models.Subtype.house_semi_detached,
            title_tenure=models.Tenure.freehold,
        ),
        "occupancy": models.Occupancy(status=models.OccupancyStatus.owner_occupied),
        "size": models.Size(floor_area_m2=104.5, bedrooms=3, living_rooms=2),
    }


def rows():
    return [
        models.ExistingRow(**home("15"), request_reference="inherits"),
        models.ExistingRow(**home("15"), options=models.Options(include_comparables=False)),
    ]


def check_rows(results):
    first, second = (result.root for result in results)
    assert isinstance(first, models.ValuedResult) and isinstance(second, models.ValuedResult)
    assert first.request_reference == "inherits"
    assert [len(first.comparables), second.comparables] == [2, None]
    assert first.comparables[0].property_type.root == "S"


VALUE = {200: models.ValuationResult, 422: models.ErrorBody}
_, valued = ask("/v3/value", VALUE, models.ExistingRequest(**home("15")))
valued = valued.root
assert isinstance(valued, models.ValuedResult), valued
assert valued.valuation.estimated_value_gbp > valued.valuation.range.lower_value_gbp > 0
assert valued.property.uprn.root == "999082968959" and valued.comparables is None

options = models.Options(include_comparables=True, comparables_limit=2)
batch = models.BatchRequest(requests=rows(), options=options)
_, batch = ask("/v3/batch-value", {200: models.BatchResult}, batch)
assert batch.summary.valued == 2, batch
check_rows(batch.results)

mode = models.ExistingJobMode.standard
body = models.ExistingJobRequest(mode=mode, requests=rows(), options=options)
_, job = ask("/v3/valuation-jobs", {202: models.JobDocument}, models.JobRequest(body))
assert job.request_count == 2, job
for _ in range(100):
    answers = {200: models.JobResults, 202: models.JobDocument}
    status, results = ask(job.results_url, answers)
    if status == 200:
        break
    time.sleep(0.1)
assert results.status.root == "completed", results
check_rows(results.result.results)

body = models.ExistingRequest(**home("999"))
status, refused = ask("/v3/value", VALUE, body, misspelt_url)
assert (status, refused.error.code.root, refused.error.field) == (422, "misspelt", "/property")
assert refused.error.retryable is False and refused.errors[0].code.root == "misspelt"
body = models.ExistingRequest(**home("15"))
_, valued = ask("/v3/value", VALUE, body, misspelt_url)
assert valued.root.input_resolution.derived_inputs[0].reason.root == "misspelt", valued
print("a home, a batch, a job and unknown words")
