"""Runs the checks and reports their outcomes."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import DomesdayError
from . import reading, spending
from .checks import Check, Finding, NotTested, Outcome, Probe


@dataclass(frozen=True)
class Line:
    """The outcome of a check."""

    name: str
    outcome: Outcome
    #: The reason, or the fact that was found.
    detail: str

    def text(self) -> str:
        """Returns the line as it is printed."""
        return f"{self.outcome:<10}  {self.name:<17}  {self.detail}"


@dataclass(frozen=True)
class Report:
    """The outcomes of all checks."""

    lines: list[Line]

    def count(self, outcome: Outcome) -> int:
        """Returns the number of checks with this outcome."""
        return sum(line.outcome == outcome for line in self.lines)

    @property
    def passed(self) -> bool:
        """True if no check failed and at least one passed."""
        return self.count("failed") == 0 and self.count("passed") > 0

    def document(self) -> dict[str, Any]:
        """Returns the report as plain JSON."""
        return {
            "passed": self.count("passed"),
            "failed": self.count("failed"),
            "not_tested": self.count("not tested"),
            "checks": [asdict(line) for line in self.lines],
        }


def run(probe: Probe, spend: int, show: Callable[[Line], None] = lambda line: None) -> Report:
    """Runs the checks in their order, and shows each as it ends.

    `spend` is the most valuation units that they may cost together.
    """
    lines: list[Line] = []
    for check in (*reading.CHECKS, *spending.CHECKS, reading.LAST):
        if check.units > spend:
            needs = f"needs {check.units} unit{'s' if check.units > 1 else ''}"
            line = Line(check.name, "not tested", f"{needs}, and --spend leaves {spend}")
        else:
            spend -= check.units
            line = _run_check(check, probe)
        lines.append(line)
        show(line)
    return Report(lines)


def _run_check(check: Check, probe: Probe) -> Line:
    try:
        return Line(check.name, "passed", check.run(probe))
    except NotTested as reason:
        return Line(check.name, "not tested", str(reason))
    except (Finding, DomesdayError) as error:
        return Line(check.name, "failed", str(error))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # An answer of another shape than the check reads is the service's failure, not a crash.
        detail = f"the answer has another shape: {type(error).__name__}: {error}"
        return Line(check.name, "failed", detail)
