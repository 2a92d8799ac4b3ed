"""Jobs of the blocking client."""

from collections.abc import Iterator

from . import jobs
from .job_results import read_results
from .models import JobDocument
from .polling import WaitOptions
from .results import Result
from .sync_driver import SyncDriver
from .transport import Session


class Jobs:
    """Jobs: rows that the service values in the background."""

    def __init__(self, driver: SyncDriver, session: Session) -> None:
        self._driver = driver
        self._session = session

    def submit(self, body: object, *, label: str) -> JobDocument:
        """Submits a job and returns its document.

        `body` has the rows as `requests`, and may have `mode` and `options`. `label` names the run,
        in 1 to 35 characters of A-Z a-z 0-9 . _ : -. A program that crashed after a submission
        calls this again with the same arguments, and gets the job that it submitted. Another label
        makes a new job, which is charged anew.

        Raises ValueError for an unsound label, and ConflictError if the key's time is over.
        """
        return self._driver.run(jobs.submit(self._session, body, label))

    def get(self, job_id: object) -> JobDocument:
        """Returns the document of a job."""
        return self._driver.run(jobs.get(self._session, job_id))

    def wait(
        self,
        job_id: object,
        *,
        timeout_seconds: float = 3600.0,
        poll_seconds: float | None = None,
    ) -> JobDocument:
        """Waits until a job is completed and returns its document.

        The first wait between two requests is five seconds, or `poll_seconds`. Each further one is
        half as long again, up to a minute.

        Raises JobFailedError if it failed, and JobTimeoutError at the timeout. The job goes on at
        the service.
        """
        options = WaitOptions(timeout_seconds, poll_seconds)
        return self._driver.run(jobs.wait(self._session, job_id, options))

    def results(
        self,
        job_id: object,
        *,
        timeout_seconds: float = 3600.0,
        poll_seconds: float | None = None,
    ) -> Iterator[Result]:
        """Yields the results of a job in the order of its rows, as they arrive.

        It waits as `wait` does until the job ends. After a lost connection it asks again and goes
        on where it was.

        Raises JobFailedError, JobTimeoutError, and ConnectionError if the connection stays lost.
        """
        options = WaitOptions(timeout_seconds, poll_seconds)
        return self._driver.iterate(read_results(self._session, job_id, options))
