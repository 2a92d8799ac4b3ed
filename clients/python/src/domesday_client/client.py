"""The blocking client. The rules of its calls are in the operations that it runs."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, overload

import httpx2

from . import queries
from .batches import MAX_ROWS
from .clock import Clock
from .errors import BatchError
from .job_calls import Jobs
from .models import Coverage, ReleaseMetadata
from .results import Result
from .retry_policy import RetryLimits
from .series_calls import Markets, Rates
from .settings import ATTEMPT_TIMEOUT_SECONDS, check_settings
from .sync_driver import SyncDriver
from .tables import Table, table_run
from .transport import Session
from .valuations import Mode, value_one
from .value_many import BatchOptions, RowResult, value_rows


class Client:
    """A client of the valuation service (v3), and of market statistics and rates (v1).

    Several threads may share a client. Its waits follow the service's limits for all of them.
    """

    #: Jobs: rows that the service values in the background.
    jobs: Jobs
    #: Market statistics by local authority.
    markets: Markets
    #: Sterling rates and financing references.
    rates: Rates

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        retries: RetryLimits | None = None,
        attempt_timeout: float = ATTEMPT_TIMEOUT_SECONDS,
        cache_folder: str | os.PathLike[str] | None = None,
        clock: Clock | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        """Makes a client of the service at `base_url`. It connects with the first call.

        `attempt_timeout` is the longest duration of one request in seconds. `cache_folder` keeps
        the answers of market statistics and rates with their entity tags. `clock` and `transport`
        replace the machine's.

        Raises ValueError for an unsound address, key or timeout.
        """
        known = check_settings(base_url, api_key, retries, attempt_timeout, cache_folder, clock)
        http = httpx2.Client(**known.http, transport=transport)
        driver = SyncDriver(http, known.session.clock, known.attempt_timeout)
        self._open(driver, known.session, known.base_url, None, None)

    def _open(
        self,
        driver: SyncDriver,
        session: Session,
        base_url: str,
        markets: str | None,
        rates: str | None,
    ) -> None:
        self._driver = driver
        self._session = session
        self._base_url = base_url
        self.jobs = Jobs(driver, session)
        self.markets = Markets(driver, session, markets)
        self.rates = Rates(driver, session, rates)

    def __repr__(self) -> str:
        return f"Client({self._base_url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections, also those of clients that `pinned` returned."""
        self._driver.http.close()

    def pinned(self, *, markets: str | None = None, rates: str | None = None) -> "Client":
        """Returns a client on these releases of the families. It shares the connections.

        Valuations have no such pin in the contract: each result names its release, and a job stays
        on the one of its submission.
        """
        client = object.__new__(type(self))
        client._open(
            self._driver,
            self._session,
            self._base_url,
            markets or self.markets.release_id,
            rates or self.rates.release_id,
        )
        return client

    def value(
        self, request: object, *, mode: Mode = "standard", repeat_after_loss: bool = False
    ) -> Result:
        """Values one home, given as a model of the request or as a dict.

        A home outside the automated market is no error: its result is `referred`.
        `repeat_after_loss` sends the request again after a lost connection, which may value and
        charge it twice.

        Raises ApiError for a refusal, and ConnectionError without a complete response. Reconcile
        after the latter, because the service may have charged the valuation.
        """
        return self._driver.run(value_one(self._session, request, mode, repeat_after_loss))

    @overload
    def value_many(
        self,
        table: Sequence[Mapping[str, Any]],
        *,
        mode: Mode = "standard",
        options: object = None,
        keep: Collection[str] = (),
        prefix: str = "result_",
        documents: bool = False,
        rows_per_request: int = MAX_ROWS,
        repeat_after_loss: bool = False,
    ) -> list[dict[str, Any]]: ...

    @overload
    def value_many(
        self,
        table: Table,
        *,
        mode: Mode = "standard",
        options: object = None,
        keep: Collection[str] = (),
        prefix: str = "result_",
        documents: bool = False,
        rows_per_request: int = MAX_ROWS,
        repeat_after_loss: bool = False,
    ) -> Table: ...

    def value_many(
        self,
        table: Any,
        *,
        mode: Mode = "standard",
        options: object = None,
        keep: Collection[str] = (),
        prefix: str = "result_",
        documents: bool = False,
        rows_per_request: int = MAX_ROWS,
        repeat_after_loss: bool = False,
    ) -> Any:
        """Values the homes of a table, and returns the table with the result's columns added.

        A table is a polars or pandas frame, an Arrow table or a list of dicts. `keep` names columns
        of the caller that are not sent. A cell takes the type of its field: a building's number may
        be a number, and bedrooms may be a text. A row that is rejected or failed keeps its place,
        with its status and its first error. `documents` adds each whole result as JSON.

        The client sends at most 2,500 rows and 9,500,000 bytes at once, one request after the
        other.

        Raises BatchError with the first row without a result, and with the rows before it in
        `completed`. Raises ValueError for a column that is neither a field nor kept, and CellError
        for a cell that is no value of its field, both before anything is sent. Warns with
        RejectionWarning if every row was rejected.
        """
        chosen = BatchOptions(mode, options, rows_per_request, repeat_after_loss)
        run = table_run(table, chosen, keep, prefix, documents)
        try:
            for row in self._driver.iterate(run.operation(self._session)):
                run.add(row)
        except BatchError as error:
            error.completed = run.finish()
            raise
        run.warn()
        return run.finish()

    def iter_values(
        self,
        rows: Iterable[Any],
        *,
        mode: Mode = "standard",
        options: object = None,
        rows_per_request: int = MAX_ROWS,
        repeat_after_loss: bool = False,
    ) -> Iterator[RowResult]:
        """Values any number of requests, and yields each with its result in the order of the rows.

        It reads no more rows than the next request needs.

        Raises BatchError with the first row without a result. Results that were yielded stay good.
        """
        chosen = BatchOptions(mode, options, rows_per_request, repeat_after_loss)
        return self._driver.iterate(value_rows(self._session, rows, chosen))

    def release(self) -> ReleaseMetadata:
        """Returns the active release: its dates, its limits and the routes that the key may use."""
        return self._driver.run(queries.release(self._session))

    def coverage(self, postcode: str, uprn: str | None = None) -> Coverage:
        """Returns if a postcode, and a UPRN, are in the active release. It values nothing."""
        return self._driver.run(queries.coverage(self._session, postcode, uprn))
