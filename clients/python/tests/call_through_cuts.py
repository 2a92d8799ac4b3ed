"""Makes calls on connections that something cuts, and prints the outcome of each.

  call_through_cuts.py blocking|async SEED STOP

The environment names the service. The calls end once the file STOP exists. A submission without an
answer is made again, as by a program that crashed. Each line of the output is a JSON object. The
program for TypeScript prints the same (clients/typescript/tests/call_through_cuts.ts).
"""

import json
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from support import Harness, demo_server, home

from domesday_client import AsyncClient, BatchError, Client, ConnectionError, RetryLimits

WORKERS = 4
MAX_CALLS = 20_000
MAX_SUBMISSIONS = 50
LIMITS = RetryLimits(max_attempts=3, first_backoff_seconds=0.01, max_backoff_seconds=0.02)


def describe_loss(error: BaseException | None) -> dict[str, Any]:
    """Returns what a lost call tells. Any other error ends the program."""
    if not isinstance(error, ConnectionError):
        raise AssertionError("a lost connection has another error") from error
    return {"outcome": "lost", "may_be_charged": error.may_be_charged}


def rows_of(call: str, count: int) -> list[dict[str, Any]]:
    """Returns homes whose references name the call."""
    return [home(request_reference=f"{call}/{row}") for row in range(count)]


def value(harness: Harness, client: Any, call: str) -> dict[str, Any]:
    """Values one home."""
    try:
        result = harness.get(client.value(rows_of(call, 1)[0]))
    except ConnectionError as error:
        return describe_loss(error)
    return {"outcome": "answered", "results": [result.request_reference]}


def batch(harness: Harness, client: Any, call: str, count: int) -> dict[str, Any]:
    """Values some homes in one request."""
    try:
        rows = list(harness.items(client.iter_values(rows_of(call, count))))
    except BatchError as error:
        return describe_loss(error.__cause__)
    return {"outcome": "answered", "results": [row.document["request_reference"] for row in rows]}


def job(harness: Harness, client: Any, call: str, count: int) -> dict[str, Any]:
    """Submits a job until its document arrives, and reads its results."""
    body = {"requests": rows_of(call, count)}
    for _ in range(MAX_SUBMISSIONS):
        try:
            job_id = str(harness.get(client.jobs.submit(body, label=call)).job_id)
            break
        except ConnectionError as error:
            describe_loss(error)
    else:
        raise AssertionError(f"{call} was lost {MAX_SUBMISSIONS} times")
    facts = {"outcome": "answered", "job_id": job_id}
    try:
        results = list(harness.items(client.jobs.results(job_id, poll_seconds=0.02)))
    except ConnectionError as error:
        return {**facts, "results_lost": describe_loss(error)}
    return {**facts, "results": [result.request_reference for result in results]}


def work(harness: Harness, client: Any, worker: int, seed: int, stop: Path) -> None:
    """Makes calls until the file exists."""
    chances = random.Random(f"{seed}/{worker}")
    for number in range(MAX_CALLS):
        if stop.exists():
            return
        call = f"w{worker}-{number}"
        kind = chances.choice(["value", "value", "batch", "job", "job"])
        count = 1 if kind == "value" else chances.randint(1, 5)
        if kind == "value":
            facts = value(harness, client, call)
        elif kind == "batch":
            facts = batch(harness, client, call, count)
        else:
            facts = job(harness, client, call, count)
        line = json.dumps({"call": call, "kind": kind, "rows": count, **facts})
        sys.stdout.write(f"{line}\n")


def main(name: str, seed: int, stop: Path) -> None:
    """Runs the workers, which share a client."""
    service = demo_server()
    assert service is not None, "DOMESDAY_URL and DOMESDAY_KEY name no server"
    kind = Client if name == "blocking" else AsyncClient
    with start_blocking_portal() as portal, ThreadPoolExecutor(WORKERS) as pool:
        harness = Harness(kind, portal)
        client = harness.client(*service, retries=LIMITS, attempt_timeout=10)
        runs = [pool.submit(work, harness, client, worker, seed, stop) for worker in range(WORKERS)]
        for run in runs:
            run.result()
        harness.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
