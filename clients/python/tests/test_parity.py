"""The blocking and the async client have the same methods, with the same arguments."""

import inspect
from typing import Any

import pytest

from domesday_client import AsyncClient, Client
from domesday_client.async_jobs import AsyncJobs
from domesday_client.async_series import AsyncMarkets, AsyncRates
from domesday_client.job_calls import Jobs
from domesday_client.series_calls import Markets, Rates

PAIRS: list[tuple[Any, Any]] = [
    (Client, AsyncClient),
    (Jobs, AsyncJobs),
    (Markets, AsyncMarkets),
    (Rates, AsyncRates),
]
# Arguments whose types differ, because one of the two awaits them.
OWN_TYPES = {"driver", "rows", "transport"}


def methods(kind: type) -> dict[str, list[tuple[str, object, object]]]:
    """Returns the public methods of a class with their arguments."""
    found = {}
    for name, member in inspect.getmembers(kind, inspect.isfunction):
        if not name.startswith("_") or name == "__init__":
            found[name] = [
                (item.name, item.default, None if item.name in OWN_TYPES else item.annotation)
                for item in inspect.signature(member).parameters.values()
            ]
    return found


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].__name__)
def test_both_clients_have_the_same_methods_and_arguments(pair: tuple[Any, Any]) -> None:
    blocking, other = (methods(kind) for kind in pair)
    assert blocking == other
    assert len(blocking) >= 4


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].__name__)
def test_each_method_says_what_it_does(pair: tuple[Any, Any]) -> None:
    for kind in pair:
        for name in methods(kind):
            assert inspect.getdoc(getattr(kind, name)), f"{kind.__name__}.{name}"
