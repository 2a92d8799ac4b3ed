#!/usr/bin/env python3
"""Values a CSV of homes with the client for Python and polars.

  DOMESDAY_KEY=KEY value_frame.py HOMES.csv VALUES.csv [BASE_URL]

HOMES.csv has the columns of homes.csv beside this file. VALUES.csv has them too, with the columns
of the result. Install the client and polars first: pip install "./clients/python[polars]".
"""

import os
import sys

import polars
from domesday_client import BatchError, Client

DEFAULT_URL = "http://127.0.0.1:8080"


def main(arguments):
    """Values the homes, and writes those that have results even if a request failed."""
    if len(arguments) not in (2, 3):
        sys.exit(__doc__.strip())
    key = os.environ.get("DOMESDAY_KEY")
    if not key:
        sys.exit("value_frame: set DOMESDAY_KEY to an API key")
    homes = polars.read_csv(arguments[0]).rename({"reference": "request_reference"})
    with Client(arguments[2] if len(arguments) == 3 else DEFAULT_URL, key) as client:
        try:
            values = client.value_many(homes, mode="simple")
        except BatchError as error:
            error.completed.write_csv(arguments[1])
            sys.exit(f"value_frame: {error}")
    values.write_csv(arguments[1])
    print(values.select("request_reference", "result_status").rows())


if __name__ == "__main__":
    main(sys.argv[1:])
