"""Checks for customers: a service and a plan behave as an integration needs.

The contract asks customers to catch changes of its interfaces by tests of schema, status and
invariants. These are such tests. They read only, unless the caller allows units to be spent.
"""

from .checks import Check, Finding, NotTested, Outcome, require
from .report import Report, run

__all__ = ["Check", "Finding", "NotTested", "Outcome", "Report", "require", "run"]
