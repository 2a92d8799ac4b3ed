#!/usr/bin/env python3
"""Values a CSV of homes in batches, with the standard library alone.

  DOMESDAY_KEY=KEY value_homes.py HOMES.csv VALUES.csv [BASE_URL]

HOMES.csv has the columns of homes.csv beside this file. VALUES.csv gets one line a home: its
reference, status, estimate and range, or why there is none. Rows that failed for a passing reason
are sent again. Each batch is written as soon as it is valued, so nothing that was charged is lost.
"""

import csv
import email.utils
import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

ROWS = 500          # A batch may hold 2,500 rows; smaller ones show progress.
TRIES = 4
TIMEOUT_SECONDS = 60


def request(home):
    """Builds the request of one home; a blank cell is left out."""
    fields = ("valuation_date", "postcode", "building_number_or_name", "street", "type", "subtype",
              "title_tenure")
    size = {}
    if home["floor_area_m2"]:
        size["floor_area_m2"] = float(home["floor_area_m2"])
    if home["bedrooms"]:
        size["bedrooms"] = int(home["bedrooms"])
    return {
        "request_reference": home["reference"],
        "property": {field: home[field] for field in fields},
        "occupancy": {"status": home["occupancy"]},
        "size": size,
    }


class Refused(Exception):
    """The service refused a request, or did not answer it."""


def seconds(retry_after):
    """Reads Retry-After: a number of seconds or a date. Other text counts as no time."""
    try:
        return float(retry_after)
    except ValueError:
        date = email.utils.parsedate_tz(retry_after)
        return email.utils.mktime_tz(date) - time.time() if date else 0.0


def post(url, key, body):
    """Sends a body. Retries where the service says that it may pass, no sooner than it says."""
    data = json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    for attempt in range(1, TRIES + 1):
        call = urllib.request.Request(url, data, headers)
        try:
            with urllib.request.urlopen(call, timeout=TIMEOUT_SECONDS) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            try:
                retryable = json.loads(text)["error"]["retryable"]
            except (ValueError, KeyError, TypeError):
                retryable = False
            if not retryable or attempt == TRIES:
                raise Refused(f"{url} answered {error.code}: {text}") from error
            time.sleep(max(seconds(error.headers.get("Retry-After") or "0"), 2 ** attempt))
        except (OSError, http.client.HTTPException) as error:
            # The service may have valued and charged the rows. Look at the units before a repeat.
            raise Refused(f"{url} did not answer, and the rows may be charged: {error}") from error
    raise AssertionError("unreachable")


def retryable(result):
    """Returns whether the host, and not the row, is the reason that there is no value."""
    return any(error.get("retryable") for error in result.get("errors", []))


def value(url, key, homes):
    """Values homes, and those again that failed for a passing reason.

    A refusal of these keeps the results of the others.
    """
    results = {}
    waiting = list(range(len(homes)))
    for attempt in range(1, TRIES + 1):
        rows = [request(homes[index]) for index in waiting]
        try:
            answered = post(url, key, {"requests": rows})["results"]
        except Refused as refused:
            if not results:
                raise
            print(f"value_homes: {len(waiting)} homes are left without a value: {refused}",
                  file=sys.stderr)
            break
        results.update(zip(waiting, answered))
        waiting = [index for index in waiting if retryable(results[index])]
        if not waiting:
            break
        if attempt < TRIES:
            time.sleep(2 ** attempt)
    return [results[index] for index in range(len(homes))]


def line(home, result):
    """Returns the line of one result."""
    valuation = result.get("valuation") or {}
    interval = valuation.get("range") or {}
    reasons = [error["code"] for error in result.get("errors", [])]
    if result.get("referral"):
        reasons.append(result["referral"]["code"])
    return {
        "reference": home["reference"],
        "status": result["status"],
        "estimate_gbp": valuation.get("estimated_value_gbp", ""),
        "lower_gbp": interval.get("lower_value_gbp", ""),
        "upper_gbp": interval.get("upper_value_gbp", ""),
        "reason": " ".join(reasons),
    }


def main(arguments):
    if arguments == ["--help"]:
        print(__doc__.strip())
        return
    if len(arguments) not in (2, 3):
        sys.exit(__doc__.strip())
    key = os.environ.get("DOMESDAY_KEY")
    if not key:
        sys.exit("value_homes: set DOMESDAY_KEY to an API key")
    base = arguments[2] if len(arguments) == 3 else "http://127.0.0.1:8080"
    with open(arguments[0], newline="", encoding="utf-8") as source:
        homes = list(csv.DictReader(source))
    with open(arguments[1], "w", newline="", encoding="utf-8") as target:
        names = ["reference", "status", "estimate_gbp", "lower_gbp", "upper_gbp", "reason"]
        writer = csv.DictWriter(target, names)
        writer.writeheader()
        for first in range(0, len(homes), ROWS):
            chunk = homes[first:first + ROWS]
            try:
                results = value(f"{base}/v3/simple-batch-value", key, chunk)
            except Refused as refused:
                sys.exit(f"value_homes: after {first} of {len(homes)} homes, {refused}")
            writer.writerows(map(line, chunk, results))
            target.flush()
            print(f"{first + len(chunk)} of {len(homes)} homes", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
