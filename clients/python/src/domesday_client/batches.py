"""Splits rows into requests that the contract accepts."""

from collections.abc import Sequence
from dataclasses import dataclass, field

#: Most rows of a request.
MAX_ROWS = 2500
#: Most bytes of a request's body.
MAX_BYTES = 9_500_000


@dataclass(frozen=True)
class EncodedRow:
    """A row of the caller with its JSON."""

    row: object
    json: bytes


@dataclass
class Batcher:
    """Collects rows into batches. A caller may lower `max_rows` while rows are being split."""

    #: Bytes of the request without rows.
    overhead: int
    max_rows: int = MAX_ROWS
    max_bytes: int = MAX_BYTES
    _rows: list[EncodedRow] = field(default_factory=list[EncodedRow])
    _bytes: int = 0

    def add(self, row: EncodedRow) -> list[EncodedRow] | None:
        """Adds a row, and returns the batch before it if the row does not fit into that.

        A row that is too large alone is a batch alone, for the service to refuse.
        """
        full = len(self._rows) >= self.max_rows
        # A comma stands before every row but the first.
        size = self.overhead + self._bytes + len(self._rows) + len(row.json)
        if self._rows and (full or size > self.max_bytes):
            batch = self.take()
            self._append(row)
            return batch
        self._append(row)
        return None

    def take(self) -> list[EncodedRow]:
        """Returns the rows that are left, and forgets them."""
        batch, self._rows, self._bytes = self._rows, [], 0
        return batch

    def _append(self, row: EncodedRow) -> None:
        self._rows.append(row)
        self._bytes += len(row.json)


def request_body(rows: Sequence[EncodedRow], options: bytes | None) -> bytes:
    """Returns the JSON of a request of these rows and shared options."""
    shared = b"" if options is None else b'"options":' + options + b","
    return b"{" + shared + b'"requests":[' + b",".join(row.json for row in rows) + b"]}"
