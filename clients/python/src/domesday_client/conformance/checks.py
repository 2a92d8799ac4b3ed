"""A check, its outcome, and the requests that checks send."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from ..client import Client
from ..error_body import parse_error_body
from ..errors import EXHAUSTED_ALLOWANCE
from ..json_body import encode
from ..operation import LostConnection, Operation, Request, Response, Send, sleep
from ..retry_after import retry_after
from ..retry_policy import may_retry
from ..transport import Session, refusal_of
from ..untyped import items_of

Outcome = Literal["passed", "failed", "not tested"]
M = TypeVar("M", bound=BaseModel)

_ATTEMPTS = 3
# The longest wait before a request that the service put off, in seconds.
_MAX_WAIT_SECONDS = 20.0


class NotTested(Exception):
    """A check that cannot be made with this key, plan or service. The text says why."""


class Finding(Exception):
    """A behaviour that the contract does not allow. The text says which."""


@dataclass
class Probe:
    """The service under test, and the facts that earlier checks found."""

    client: Client
    #: A client with a key that the service cannot know.
    stranger: Client
    #: A request of one home, and the same home at a building that does not exist.
    home: dict[str, Any]
    #: True if the home is that of the demo, which only a demo knows.
    demo_home: bool
    #: A text that no earlier run used, in characters of a label.
    run: str
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    #: True once a query had no response.
    unreachable: bool = False
    #: The end of a wait that is too long for a check, in seconds since 1970, and its reason.
    put_off: tuple[float, str] = (0.0, "")
    #: Members of answers that this client does not know.
    unknown_members: set[str] = field(default_factory=set[str])

    def get(
        self,
        path: str,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        client: Client | None = None,
    ) -> Response:
        """Sends a query and returns its response, whatever its status.

        Raises NotTested for a limit (429).
        """
        parameters = tuple((query or {}).items())
        return self._send(Request("GET", path, parameters, headers=headers or {}), client)

    def post(self, path: str, body: object) -> Response:
        """Sends a JSON body once and returns the response, whatever its status.

        Raises NotTested for a limit (429).
        """
        headers = {"content-type": "application/json"}
        return self._send(Request("POST", path, body=encode(body), headers=headers), None)

    def _send(self, request: Request, client: Client | None) -> Response:
        chosen = client or self.client
        attempts = 1 if self.unreachable else _ATTEMPTS
        # A probe needs responses that the methods of the client turn into errors.
        session, driver = chosen._session, chosen._driver  # pyright: ignore[reportPrivateUsage]
        until, reason = self.put_off
        if session.clock.now() < until:
            raise NotTested(reason)
        operation = _observe(session, request, attempts)
        try:
            response = driver.run(operation)
        except LostConnection as error:
            # The checks that follow do not wait again for a service that does not answer.
            self.unreachable = request.method == "GET"
            raise Finding("no complete response") from error
        if response.status == 429:
            self._note_limit(response, session.clock.now())
        return response

    def _note_limit(self, response: Response, now: float) -> NoReturn:
        """Raises NotTested for a response 429, and notes a wait that is too long for a check."""
        code = error_code(response)
        if code == EXHAUSTED_ALLOWANCE:
            raise NotTested("the month's allowance is used up")
        seconds = retry_after(response.headers, now)
        if seconds is None:
            raise NotTested(f"HTTP 429 {code} without Retry-After")
        reason = f"HTTP 429 {code}, and Retry-After is {seconds:.0f} seconds"
        if seconds > _MAX_WAIT_SECONDS:
            self.put_off = (now + seconds, reason)
        raise NotTested(reason)

    def read(self, model: type[M], value: Any) -> M:
        """Returns an answer as its model, and notes the members that the model does not have.

        Raises Finding for an answer that contradicts the description.
        """
        try:
            answer = model.model_validate(value)
        except ValidationError as error:
            places = ["/".join(map(str, item["loc"])) for item in error.errors()[:3]]
            raise Finding(
                f"the answer contradicts the description of {model.__name__} at {', '.join(places)}"
            ) from error
        self._note_unknown(answer)
        return answer

    def _note_unknown(self, model: BaseModel) -> None:
        name = type(model).__name__
        if name == "SeriesSelection":
            # The description leaves its members open, since each dataset has its own selectors.
            return
        self.unknown_members.update(f"{name}.{member}" for member in model.model_extra or {})
        for member in type(model).model_fields:
            content = getattr(model, member)
            for value in [content, *items_of(content)]:
                if isinstance(value, BaseModel):
                    self._note_unknown(value)


def _observe(session: Session, request: Request, attempts: int) -> Operation[Response]:
    """Sends a request until the service does not put it off, and returns any response.

    A request that is put off for longer than _MAX_WAIT_SECONDS is not sent again.
    Raises LostConnection if no complete response arrives. A POST is not sent again after a loss.
    """
    for attempt in range(1, attempts + 1):
        seconds = 1.0
        try:
            response: Response = yield Send(request, False)
        except LostConnection:
            if request.method != "GET" or attempt == attempts:
                raise
        else:
            refusal = refusal_of(response, session.clock.now())
            seconds = refusal.response.retry_after or seconds
            ends = attempt == attempts or seconds > _MAX_WAIT_SECONDS
            if ends or not may_retry(refusal, False):
                return response
        yield from sleep(seconds)
    raise AssertionError("unreachable")


@dataclass(frozen=True)
class Check:
    """A check. Its function returns the detail of a success, or raises."""

    name: str
    run: Callable[[Probe], str]
    #: Most valuation units that it can cost.
    units: int = 0


def require(condition: object, text: str) -> None:
    """Raises Finding with this text unless the condition is true."""
    if not condition:
        raise Finding(text)


def json_of(response: Response) -> Any:
    """Returns the JSON of a response.

    Raises Finding if it has none.
    """
    try:
        return json.loads(response.body)
    except ValueError as error:
        raise Finding(f"HTTP {response.status}: the body is not JSON") from error


def require_success(response: Response, subject: str, expected: int = 200) -> Any:
    """Returns the JSON of a response of the expected status.

    Raises NotTested if the plan has no access, and Finding for another status.
    """
    status = response.status
    if status == 403:
        raise NotTested(f"the key has no access to {subject}: {error_code(response)}")
    require(
        status == expected,
        f"{subject}: HTTP {status} {error_code(response)}, not {expected}",
    )
    return json_of(response)


def error_code(response: Response) -> str:
    """Returns the code of an error body in any of its forms, or an empty text."""
    first = parse_error_body(response.body).first
    return first.code if first else ""
