"""Checks examples/compose/compose.yaml by the Compose specification, without Docker or a network.

    check_compose.py FILE

`compose-spec` must read the file, and the file must have each service and volume that a service
names. Variables have their defaults, and those without one the value "secret".
"""

import re
import sys
from pathlib import Path

from compose_spec import PyCompose

VARIABLE = re.compile(r"\$\{\w+(?::-(?P<default>[^}]*)|:\?[^}]*)?\}")
# Mistakes that a reader overlooks: a text of the file, and what stands there instead.
MISTAKES = [
    ("depends_on:", "depends_om:"),
    ("stop_grace_period:", "stop_grace_periode:"),
    ("condition: service_healthy", "condition: healthy"),
    ("retries:", "retry:"),
    ("interval: 2s", "interval: 2 sec"),
    ("restart: unless-stopped", "restart: unless-stoped"),
    ("      database:\n        condition", "      databases:\n        condition"),
    ("- data:/var", "- date:/var"),
]


def fill(text: str) -> str:
    """Replaces variables as Compose does before it reads a file."""
    return VARIABLE.sub(lambda variable: variable["default"] or "secret", text)


def read(text: str) -> dict:
    """Returns the parts of a file, or raises ValueError."""
    project = PyCompose.from_yaml(fill(text))
    project.validate()
    parts = project.to_dict()
    for name, service in parts["services"].items():
        sources = [volume.split(":")[0] for volume in service.get("volumes", [])]
        # Any other source is a path.
        volumes = {source for source in sources if "/" not in source}
        missing = set(service.get("depends_on", [])) - set(parts["services"])
        missing |= volumes - set(parts.get("volumes", {}))
        if missing:
            raise ValueError(f"{name} names {missing}, which the file does not have")
    return parts


def main(file: Path) -> None:
    text = file.read_text()
    services = read(text)["services"]
    print(f"compose: {len(services)} services match the specification")
    # A reader that takes anything would prove nothing.
    for right, wrong in MISTAKES:
        if right not in text:
            raise AssertionError(f"the file has no {right!r}")
        try:
            read(text.replace(right, wrong))
        except ValueError:
            continue
        raise AssertionError(f"{wrong!r} in place of {right!r} is accepted")
    print(f"compose: {len(MISTAKES)} mistakes are refused")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
