"""Market statistics and rates of the async client."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

from . import queries
from .async_driver import AsyncDriver
from .frames import FrameKind
from .models import SeriesAreas, SeriesCatalogue, SeriesRelease
from .series import Family, Selection, flatten, read_pages, select, table_of
from .transport import Session

if TYPE_CHECKING:
    import polars


class AsyncFamilyCalls:
    """Queries of a family. A pinned one names its release in each query."""

    family: ClassVar[Family]

    def __init__(self, driver: AsyncDriver, session: Session, release_id: str | None) -> None:
        self._driver = driver
        self._session = session
        #: The pinned release.
        self.release_id = release_id

    def _select(
        self,
        dataset: str,
        from_: object,
        to: object,
        metrics: Sequence[str] | str | None,
        page_size: int | None,
        selectors: dict[str, object],
    ) -> Selection:
        return select(
            self.family, self.release_id, dataset, from_, to, metrics, page_size, selectors
        )

    @overload
    async def series(
        self,
        dataset: str,
        *,
        from_: object = None,
        to: object = None,
        metrics: Sequence[str] | str | None = None,
        page_size: int | None = None,
        frame: Literal["list"] = "list",
        **selectors: object,
    ) -> list[dict[str, Any]]: ...

    @overload
    async def series(
        self,
        dataset: str,
        *,
        from_: object = None,
        to: object = None,
        metrics: Sequence[str] | str | None = None,
        page_size: int | None = None,
        frame: Literal["polars"],
        **selectors: object,
    ) -> "polars.DataFrame": ...

    @overload
    async def series(
        self,
        dataset: str,
        *,
        from_: object = None,
        to: object = None,
        metrics: Sequence[str] | str | None = None,
        page_size: int | None = None,
        frame: Literal["pandas", "arrow"],
        **selectors: object,
    ) -> Any: ...

    async def series(
        self,
        dataset: str,
        *,
        from_: object = None,
        to: object = None,
        metrics: Sequence[str] | str | None = None,
        page_size: int | None = None,
        frame: FrameKind = "list",
        **selectors: object,
    ) -> Any:
        """Returns the observations of a selection over all pages, a row for each.

        `frame` is `list` (dicts), `polars`, `pandas` or `arrow`. `selectors` are those of the
        catalogue, such as `area` or `tenor_months`. Each row has the release, the series with its
        basis, and the observation with its status. Values are as published: nothing is filled.

        A series without observations has no row. `pages` has it, with its availability and the
        notice of the answer.
        """
        chosen = self._select(dataset, from_, to, metrics, page_size, selectors)
        pages = [page async for page in self._driver.iterate(read_pages(self._session, chosen))]
        return table_of(pages, frame)

    async def rows(
        self,
        dataset: str,
        *,
        from_: object = None,
        to: object = None,
        metrics: Sequence[str] | str | None = None,
        page_size: int | None = None,
        **selectors: object,
    ) -> AsyncIterator[dict[str, Any]]:
        """Yields the rows of `series` one by one, and reads a page when its first row is needed."""
        chosen = self._select(dataset, from_, to, metrics, page_size, selectors)
        async with aclosing(self._driver.iterate(read_pages(self._session, chosen))) as pages:
            async for page in pages:
                for row in flatten(page):
                    yield row

    def pages(
        self,
        dataset: str,
        *,
        from_: object = None,
        to: object = None,
        metrics: Sequence[str] | str | None = None,
        page_size: int | None = None,
        **selectors: object,
    ) -> AsyncIterator[dict[str, Any]]:
        """Yields the pages of a selection as plain JSON. The cursor keeps selection and release."""
        chosen = self._select(dataset, from_, to, metrics, page_size, selectors)
        return self._driver.iterate(read_pages(self._session, chosen))

    async def coverage(
        self,
        dataset: str,
        *,
        metrics: Sequence[str] | str | None = None,
        **selectors: object,
    ) -> dict[str, Any]:
        """Returns the series of a selection with their availability, without observations."""
        chosen = self._select(dataset, None, None, metrics, None, selectors)
        answer: dict[str, Any] = await self._driver.run(
            queries.series_coverage(self._session, chosen)
        )
        return answer

    async def datasets(self) -> SeriesCatalogue:
        """Returns the datasets that this key may use."""
        return await self._driver.run(queries.datasets(self._session, self.family, self.release_id))

    async def current_release(self) -> SeriesRelease:
        """Returns the current release of the family, whatever this session is pinned to."""
        return await self._driver.run(queries.current_release(self._session, self.family))

    async def pin(self, release_id: str | None = None) -> Self:
        """Returns a session on one release: the given one, else the one that is current now."""
        chosen = release_id or (await self.current_release()).release_id
        return type(self)(self._driver, self._session, chosen)


class AsyncRates(AsyncFamilyCalls):
    """Sterling rates and financing references."""

    family = "rates"


class AsyncMarkets(AsyncFamilyCalls):
    """Market statistics by local authority."""

    family = "markets"

    async def areas(self) -> SeriesAreas:
        """Returns the local authorities of the release."""
        return await self._driver.run(queries.areas(self._session, self.release_id))
