"""Checks a dashboard with Grafana's own models, without Grafana.

    check_dashboard.py DASHBOARD.json

The models are those that Grafana publishes for Python, made from its schemas. They read the
dashboard with its panels, options and queries, and leave out what they do not know. So a misspelt
setting is one that is lost on the way.
"""

import json
import sys
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

# Settings of an annotation that the data source reads, so no schema of Grafana has them.
OF_DATA_SOURCE = {"step", "textFormat", "titleFormat"}


def differences(left, right, place: str = ""):
    """Yields the place of each value of `left` that `right` lacks or has otherwise."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key, value in left.items():
            if key in right:
                yield from differences(value, right[key], f"{place}/{key}")
            elif not (place.startswith("/annotations/") and key in OF_DATA_SOURCE):
                yield f"{place}/{key} is unknown to Grafana"
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for at, (one, other) in enumerate(zip(left, right)):
            yield from differences(one, other, f"{place}/{at}")
    elif left != right:
        yield f"{place} is {left!r}, and Grafana reads {right!r}"


def main(path: str) -> None:
    register_default_plugins()
    dashboard = json.loads(Path(path).read_text())
    read = json.dumps(Dashboard.from_json(dashboard), cls=JSONEncoder)
    faults = list(differences(dashboard, json.loads(read)))
    if faults:
        sys.exit("\n".join(faults))
    print(f"dashboard: {len(dashboard['panels'])} panels are read")


if __name__ == "__main__":
    main(*sys.argv[1:])
