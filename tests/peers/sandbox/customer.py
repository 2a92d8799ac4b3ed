import os
from domesday_client import Client, LimitError, RetryLimits, ServiceError, errors

url, key = os.environ["DOMESDAY_URL"], os.environ["DOMESDAY_KEY"]
home = {
    "property": {
        "valuation_date": "2026-10-15", "postcode": "QA1 1AF", "building_number_or_name": "15",
        "street": "Badger Yard Gardens", "type": "S", "subtype": "house_semi_detached",
        "title_tenure": "freehold",
    },
    "occupancy": {"status": "owner_occupied"},
    "size": {"floor_area_m2": 104.5, "bedrooms": 3},
}

def client(fault):
    return Client(f"{url}/sandbox/{fault}", key, retries=RetryLimits(max_attempts=3))

for fault in ["rate_limited", "overloaded", "internal", "capacity_occupied;form=date"]:
    assert client(f"{fault};times=2;run=python").value(home).status == "valued", fault
for fault, kind in [("monthly_valuation_quota_exceeded", LimitError), ("overloaded", ServiceError)]:
    try:
        client(fault).value(home)
        raise AssertionError(fault)
    except kind as error:
        assert error.code == fault, error
for fault, charged in [("lost_before", True), ("lost_after", True)]:
    try:
        client(f"{fault};times=1;run=python").value(home)
        raise AssertionError(fault)
    except errors.ConnectionError as error:
        assert error.may_be_charged is charged, fault
jobs = client("job_admission_paused;times=1;run=python").jobs
job = jobs.submit({"mode": "simple", "requests": [home]}, label="sandbox")
assert jobs.wait(job.job_id, poll_seconds=0.1).status == "completed"
jobs = client("job_failed").jobs
job = jobs.submit({"mode": "simple", "requests": [home]}, label="failing")
try:
    jobs.wait(job.job_id, poll_seconds=0.1)
    raise AssertionError("a failed job is no error")
except errors.JobFailedError as error:
    print("failed:", error)

