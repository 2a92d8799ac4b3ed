"""The command `domesday-client`."""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from .client import Client
from .conformance.checks import Probe
from .conformance.report import Line, run
from .retry_policy import RetryLimits
from .untyped import members_of

_DESCRIPTION = "Work with the Domesday HTTP interfaces."
_CONFORMANCE = """Check that a service and a plan behave as an integration needs.

The checks read only, unless --spend allows units. Each prints a line: passed, failed or not tested,
and why. The exit code is 0 if checks passed and none failed, 1 if one failed or none passed, and 2
for unsound arguments."""

#: A home of the demo.
DEMO_HOME: dict[str, Any] = {
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
    "size": {"floor_area_m2": 104.5, "bedrooms": 3},
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    parser = argparse.ArgumentParser("domesday-client", description=_DESCRIPTION)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    conformance = commands.add_parser(
        "conformance",
        help="check that a service and a plan behave as an integration needs",
        description=_CONFORMANCE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    conformance.add_argument(
        "--url",
        default=os.environ.get("DOMESDAY_URL"),
        help="address of the service (default: DOMESDAY_URL)",
    )
    conformance.add_argument("--key", help="API key (default: DOMESDAY_KEY)")
    conformance.add_argument(
        "--spend",
        type=int,
        default=0,
        metavar="N",
        help="most valuation units that the checks may cost (default: 0; 5 cover all)",
    )
    conformance.add_argument(
        "--home",
        type=Path,
        metavar="FILE",
        help="JSON request of a home to value (default: a home of the demo)",
    )
    conformance.add_argument("--json", action="store_true", help="print the report as JSON")
    known = parser.parse_args(arguments)
    try:
        return _conformance(known)
    except (OSError, ValueError) as error:
        print(f"domesday-client: {error}", file=sys.stderr)
        return 2


def _conformance(known: argparse.Namespace) -> int:
    """Runs the checks and returns the exit code.

    Raises OSError or ValueError for unsound arguments.
    """
    # The key is not a default of the argument, which the help would show.
    key = known.key or os.environ.get("DOMESDAY_KEY", "")
    if not known.url:
        raise ValueError("no address. Pass --url or set DOMESDAY_URL.")
    if known.spend < 0:
        raise ValueError(f"--spend {known.spend} is less than 0")
    home = DEMO_HOME
    if known.home:
        home = members_of(json.loads(known.home.read_text(encoding="utf-8")))
        if "postcode" not in members_of(home.get("property")):
            raise ValueError(f"{known.home} is not the request of a home with its property")
    limits = RetryLimits(max_attempts=3, max_wait_seconds=30)
    run_name = f"conformance-{time.time_ns()}"
    with ExitStack() as stack:
        client = stack.enter_context(Client(known.url, key, retries=limits))
        stranger = stack.enter_context(Client(known.url, run_name, retries=limits))
        probe = Probe(client, stranger, home, known.home is None, run_name)
        report = run(probe, known.spend, _ignore if known.json else _show)
    if known.json:
        print(json.dumps({"url": known.url, **report.document()}, indent=2))
    else:
        counts = [f"{report.count(word)} {word}" for word in ("passed", "failed", "not tested")]
        print(", ".join(counts))
    return 0 if report.passed else 1


def _show(line: Line) -> None:
    print(line.text(), flush=True)


def _ignore(line: Line) -> None:
    """Takes a line of a report that is printed as JSON at the end."""


if __name__ == "__main__":
    sys.exit(main())
