"""Clients of a proxy, and what became of each of their requests."""

import copy
import http.client
import json
import ssl
import threading
import time
from dataclasses import dataclass, field

# A home of the demo, whose country is made up.
HOUSE = {
    "property": {
        "valuation_date": "2026-10-15",
        "postcode": "QA1 1AF",
        "building_number_or_name": "15",
        "street": "Badger Yard Gardens",
        "type": "S",
        "subtype": "house_semi_detached",
        "title_tenure": "freehold",
    },
    "occupancy": {"status": "owner_occupied"},
    "size": {"floor_area_m2": 104, "bedrooms": 3, "living_rooms": 2, "storeys": 2},
}
VALUE, BATCH = "/v3/simple-value", "/v3/simple-batch-value"
BATCH_ROWS = 50
# Above the proxy's own time limits.
TIMEOUT = 60


def house(reference: str) -> dict:
    return copy.deepcopy(HOUSE) | {"request_reference": reference}


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Client:
    """A connection to the proxy, made again after a fault. It repeats nothing by itself."""

    def __init__(self, port: int, key: str, certificate: str):
        self.port, self.key = port, key
        self.context = ssl.create_default_context(cafile=certificate)
        self.connection: http.client.HTTPSConnection | None = None

    def ask(self, method: str, path: str, body: bytes | None = None) -> Answer:
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(
                "127.0.0.1", self.port, timeout=TIMEOUT, context=self.context
            )
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        try:
            try:
                self.connection.request(method, path, body, headers)
            except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
                # A refusal may arrive before the whole body was sent.
                if body is None or len(body) < 1_000_000:
                    raise
                answer = http.client.HTTPResponse(self.connection.sock, method=method)
                answer.begin()
                return Answer(answer.status, answer.headers, answer.read())
            answer = self.connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        except Exception:
            self.close()
            raise

    def post(self, path: str, document: dict) -> Answer:
        return self.ask("POST", path, json.dumps(document).encode())

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


@dataclass
class Outcome:
    """Counts of a load, and each request that failed: when it began, its rows and the fault."""

    requests: int = 0
    units: int = 0
    failed: list[tuple[float, int, str]] = field(default_factory=list)


class Load:
    """Clients that send values and batches until somebody ends them."""

    def __init__(self, name: str, make_client, workers: int):
        self.outcome = Outcome()
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.threads = [
            threading.Thread(target=self.run, args=(f"{name}-{worker}", make_client(), worker))
            for worker in range(workers)
        ]
        for thread in self.threads:
            thread.start()

    def run(self, name: str, client: Client, worker: int) -> None:
        number = 0
        while not self.ended.is_set():
            number += 1
            rows = BATCH_ROWS if worker % 3 == 0 else 1
            homes = [house(f"{name}-{number}-{row}") for row in range(rows)]
            began = time.monotonic()
            try:
                if rows > 1:
                    answer = client.post(BATCH, {"requests": homes})
                else:
                    answer = client.post(VALUE, homes[0])
                fault = None if answer.status == 200 else f"{answer.status}"
                if fault is None and answer.body.count(b'"status":"valued"') < rows:
                    fault = f"200 without values: {answer.body[:200]!r}"
            except (OSError, http.client.HTTPException) as error:
                fault = f"closed: {type(error).__name__}: {error}"
            with self.lock:
                self.outcome.requests += 1
                if fault is None:
                    self.outcome.units += rows
                else:
                    self.outcome.failed.append((began, rows, fault))
        client.close()

    def answered(self) -> int:
        return self.outcome.requests - len(self.outcome.failed)

    def end(self) -> Outcome:
        self.ended.set()
        for thread in self.threads:
            thread.join(2 * TIMEOUT)
            if thread.is_alive():
                raise AssertionError("a client did not end")
        return self.outcome
