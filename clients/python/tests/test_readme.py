"""Types the examples of README.md against the demo, and compares what they print."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

FOLDER = Path(__file__).resolve().parents[1]
CHECKOUT = FOLDER.parents[1]
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(<!-- not typed[^\n]*-->\n\n)?^```(\w+)[^\n]*\n(.*?)^```$", re.M | re.S)
# Files that examples write, with the number of their lines.
WRITTEN = {"values.csv": 4, "prices.csv": 13}


class Example(NamedTuple):
    """A block of code with the output that the page shows after it."""

    language: str
    code: str
    output: str | None


def examples() -> list[Example]:
    """Returns the examples of the page in their order, without those that are not typed."""
    blocks = [found.groups() for found in BLOCK.finditer(PAGE)]
    found = []
    for (skipped, language, code), following in zip(blocks, [*blocks[1:], None], strict=True):
        output = following[2] if following and following[1] == "text" else None
        if language != "text" and not skipped:
            found.append(Example(language, code, output))
    return found


EXAMPLES = examples()
SETUP, *PYTHON = [example for example in EXAMPLES if example.language == "python"]
SHELL = [example for example in EXAMPLES if example.language == "sh"]


def check(output: str, shown: str | None) -> None:
    """Compares an output with a page. `…` stands for text of a line, and alone for lines."""
    assert shown is not None
    lines = [".*" if line == "…" else line_pattern(line) for line in shown.splitlines()]
    pattern = "\n".join(lines).replace("\n.*\n", "\n(?:.*\n)*")
    assert re.fullmatch(pattern, output.rstrip("\n")), f"{output}\n{shown}"


def line_pattern(line: str) -> str:
    """Returns a pattern of a line."""
    return ".+".join(re.escape(part) for part in line.split("…"))


def environment() -> dict[str, str]:
    """Returns the environment of an example, where the package is found as if installed."""
    return {**os.environ, "PYTHONPATH": str(FOLDER / "src"), "PYTHONWARNINGS": "error"}


@pytest.mark.live
@pytest.mark.parametrize("example", PYTHON, ids=lambda example: example.code.split("\n")[0])
def test_an_example_prints_what_the_page_shows(example: Example, tmp_path: Path) -> None:
    # The page is read in the folder of a checkout, and its examples write files there.
    (tmp_path / "examples").symlink_to(CHECKOUT / "examples")
    program = tmp_path / "example.py"
    # A connection that stays open would be a warning, and a warning is an error here.
    program.write_text(f"{SETUP.code}\n{example.code}\nclient.close()\n")
    command = [sys.executable, str(program)]
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env=environment(), cwd=tmp_path
    )
    assert run.returncode == 0, run.stderr
    check(run.stdout, example.output)
    for name, lines in WRITTEN.items():
        if f'"{name}"' in example.code:
            assert len((tmp_path / name).read_text().splitlines()) == lines


@pytest.mark.live
@pytest.mark.parametrize("example", SHELL, ids=lambda example: example.code.split("\n")[0])
def test_a_command_prints_what_the_page_shows(example: Example) -> None:
    words = shlex.split(os.path.expandvars(example.code))
    assert words[0] == "domesday-client"
    command = [sys.executable, "-m", "domesday_client.cli", *words[1:]]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment())
    assert run.returncode == 0, run.stdout + run.stderr
    check(run.stdout, example.output)


@pytest.mark.live
def test_the_example_with_a_frame_values_a_file_of_homes(tmp_path: Path) -> None:
    folder = CHECKOUT / "examples/python"
    values = tmp_path / "values.csv"
    files = [folder / "value_frame.py", folder / "homes.csv", values]
    command = [sys.executable, *map(str, files), os.environ["DOMESDAY_URL"]]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment())
    assert run.returncode == 0, run.stderr
    expected = [("house", "valued"), ("without-area", "rejected"), ("unknown", "rejected")]
    assert run.stdout.strip() == str(expected)
    assert len(values.read_text().splitlines()) == 4


def test_the_examples_are_strictly_typed(tmp_path: Path) -> None:
    for position, example in enumerate(PYTHON):
        code = f"{SETUP.code}\n{example.code}"
        (tmp_path / f"example_{position}.py").write_text(code)
    tool = Path(sys.executable).with_name("mypy")
    command = [tool, "--strict", "--config-file", FOLDER / "pyproject.toml", *tmp_path.iterdir()]
    run = subprocess.run(
        [str(part) for part in command], cwd=FOLDER, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_each_use_of_the_client_has_an_example() -> None:
    assert len(PYTHON) >= 7 and len(SHELL) >= 1
    text = "".join(example.code for example in EXAMPLES)
    calls = ("value(", "value_many(", "submit(", "results(", "series(", "AsyncClient")
    files = ("read_csv(", "csv.DictReader(", "values.csv", "prices.csv")
    for name in (*calls, *files, "comparables", "own_sale", "markets.rows("):
        assert name in text


def test_no_page_installs_the_client_by_its_name_alone() -> None:
    # Nothing is published under it, so a registry may have a package of somebody else there.
    clients = FOLDER.parent
    pages = [*clients.glob("*.md"), *clients.glob("*/README.md"), *FOLDER.glob("src/**/*.py")]
    assert len(pages) > 20
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"(install|add|npx)\b[^\n]*[ '\"]domesday-client\b(?!-)", text), page
        assert not re.search(r"domesday-client`? on (npm|PyPI)", text), page
