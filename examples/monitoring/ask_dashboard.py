#!/usr/bin/env python3
"""Asks Prometheus each query of the dashboard, as Grafana does, and prints what has no data.

    examples/monitoring/ask_dashboard.py [PROMETHEUS_URL]     by default http://127.0.0.1:9090

A query without data is printed with its panel. Some have none on a healthy service, such as those
of refusals, so only a query that Prometheus refuses ends the script with 1. Needs the standard
library only.
"""

import json
import pathlib
import re
import sys
import urllib.error
import urllib.parse
import urllib.request

DASHBOARD = pathlib.Path(__file__).with_name("dashboard.json")
# Grafana's own variables, and those of the dashboard with all of their values.
VARIABLES = {"__rate_interval": "5m", "__interval": "1m", "__range": "1h", "job": ".+", "instance": ".+"}


def find_queries(panels):
    """Yields the title of each panel with a query of it."""
    for panel in panels:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]
        yield from find_queries(panel.get("panels", []))


def ask(prometheus, query):
    """Returns the number of series that a query finds now, without those whose value is NaN."""
    query = re.sub(r"\$\{?(\w+)\}?", lambda found: VARIABLES[found[1]], query)
    address = f"{prometheus}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    with urllib.request.urlopen(address, timeout=30) as answer:
        found = json.load(answer)["data"]["result"]
    return sum(series["value"][1] != "NaN" for series in found)


def main():
    if "--help" in sys.argv[1:]:
        return print(__doc__.strip())
    prometheus = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:9090"
    dashboard = json.loads(DASHBOARD.read_text())
    queries = list(find_queries(dashboard["panels"]))
    queries += [(each["name"], each["expr"]) for each in dashboard["annotations"]["list"] if "expr" in each]
    empty, refused = 0, 0
    for title, query in queries:
        try:
            if not ask(prometheus, query):
                empty += 1
                print(f"no data  {title}: {query}")
        except urllib.error.HTTPError as error:
            refused += 1
            print(f"refused  {title}: {query}: {json.load(error)['error']}")
    print(f"{len(queries)} queries: {len(queries) - empty - refused} have data, {empty} have none, {refused} are refused")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
