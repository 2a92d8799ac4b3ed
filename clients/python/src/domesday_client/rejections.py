"""What to tell a caller whose rows were all rejected."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .columns import RESULT_COLUMNS, Place, result_cells


class RejectionWarning(UserWarning):
    """Warns that the service rejected every row of a table, with the commonest reason."""


def find_rejection(
    documents: Sequence[Mapping[str, Any]], places: Mapping[str, Place]
) -> str | None:
    """Returns the commonest reason, with its column, if all results are rejections."""
    results = [dict(zip(RESULT_COLUMNS, result_cells(one), strict=True)) for one in documents]
    if not results or any(result["status"] != "rejected" for result in results):
        return None
    reasons = Counter((str(one["error_code"]), str(one["error_field"])) for one in results)
    (code, pointer), count = reasons.most_common(1)[0]
    message = next(
        one["error_message"]
        for one in results
        if (str(one["error_code"]), str(one["error_field"])) == (code, pointer)
    )
    columns = {place.pointer: f"column {name!r}" for name, place in places.items()}
    return (
        f"all {len(results)} row(s) were rejected, {count} of them with {code} in "
        f"{columns.get(pointer, pointer)}: {message}"
    )
