"""Uses a client that openapi-python-client generated: values a home, a batch and a job, and reads
words that the client does not know.

  use_client.py FOLDER BASE_URL MISSPELT_URL KEY

FOLDER holds the package `domesday_client`. At MISSPELT_URL the same server answers, with its error
code `address_not_found` and its reason `local_typical` misspelt.
"""

import datetime
import sys
import time

folder, base_url, misspelt_url, key = sys.argv[1:]
sys.path.insert(0, folder)

from domesday_client import AuthenticatedClient  # noqa: E402
from domesday_client.api.batches import batch_value  # noqa: E402
from domesday_client.api.jobs import get_job_results, submit_job  # noqa: E402
from domesday_client.api.single import value  # noqa: E402
from domesday_client.models import (  # noqa: E402
    BatchRequest,
    BatchResult,
    ErrorBody,
    ExistingJobMode,
    ExistingJobRequest,
    ExistingRequest,
    ExistingRow,
    JobDocument,
    JobResults,
    Occupancy,
    OccupancyStatus,
    Options,
    Property,
    PropertyType,
    Size,
    Subtype,
    Tenure,
    ValuedResult,
)
from domesday_client.types import UNSET  # noqa: E402


def home(building):
    return {
        "property_": Property(
            valuation_date=datetime.date(2026, 10, 15),
            postcode="QA1 1AF",
            building_number_or_name=building,
            street="Badger Yard Gardens",
            type_=PropertyType.S,
            subtype=Subtype.HOUSE_SEMI_DETACHED,
            title_tenure=Tenure.FREEHOLD,
        ),
        "occupancy": Occupancy(status=OccupancyStatus.OWNER_OCCUPIED),
        "size": Size(floor_area_m2=104.5, bedrooms=3, living_rooms=2),
    }


def rows():
    return [
        ExistingRow(**home("15"), request_reference="inherits"),
        ExistingRow(**home("15"), options=Options(include_comparables=False)),
        ExistingRow(**home("15"), options=None),
    ]


def check_rows(results):
    first, second, third = results
    assert all(isinstance(result, ValuedResult) for result in results), results
    assert first.request_reference == "inherits"
    assert [len(first.comparables), second.comparables, len(third.comparables)] == [2, UNSET, 2]
    assert first.comparables[0].property_type == "S"


client = AuthenticatedClient(base_url=base_url, token=key)
valued = value.sync(client=client, body=ExistingRequest(**home("15")))
assert isinstance(valued, ValuedResult), valued
assert valued.valuation.estimated_value_gbp > valued.valuation.range_.lower_value_gbp > 0
assert valued.property_.uprn == "999082968959" and valued.comparables is UNSET

options = Options(include_comparables=True, comparables_limit=2)
batch = batch_value.sync(client=client, body=BatchRequest(requests=rows(), options=options))
assert isinstance(batch, BatchResult) and batch.summary.valued == 3, batch
check_rows(batch.results)

body = ExistingJobRequest(mode=ExistingJobMode.STANDARD, requests=rows(), options=options)
job = submit_job.sync(client=client, body=body)
assert isinstance(job, JobDocument) and job.request_count == 3, job
for _ in range(100):
    results = get_job_results.sync(job.job_id, client=client)
    if isinstance(results, JobResults):
        break
    assert isinstance(results, JobDocument), results
    time.sleep(0.1)
assert results.status == "completed", results
check_rows(results.result.results)

stranger = AuthenticatedClient(base_url=misspelt_url, token=key)
refused = value.sync(client=stranger, body=ExistingRequest(**home("999")))
assert isinstance(refused, ErrorBody), refused
assert (refused.error.code, refused.error.field) == ("misspelt", "/property")
assert refused.error.retryable is False and refused.errors[0].code == "misspelt"
valued = value.sync(client=stranger, body=ExistingRequest(**home("15")))
assert valued.input_resolution.derived_inputs[0].reason == "misspelt", valued
print("a home, a batch, a job and unknown words")
