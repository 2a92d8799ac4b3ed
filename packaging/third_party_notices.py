#!/usr/bin/env python3
"""Prints the licences of the crates that a bill of materials names, and of the vendored files.

  packaging/third_party_notices.py BOM.json

Each text is printed once. Those of crates come from their own files, where `cargo fetch` put them.
Those of vendored files lie beside them.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

NAMES = re.compile(r"^(licen[cs]e|copying|notice|copyright|unlicense)", re.IGNORECASE)
LARGEST = 1 << 20


def folders():
    """Returns the folder of each crate that cargo knows, by name and version."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    metadata = subprocess.run(command, check=True, capture_output=True).stdout
    packages = json.loads(metadata)["packages"]
    return {(p["name"], p["version"]): pathlib.Path(p["manifest_path"]).parent for p in packages}


def licence(component):
    """Returns the licences that a component states."""
    stated = component.get("licenses", [])
    names = [entry.get("expression") or entry["license"].get("id") or entry["license"]["name"] for entry in stated]
    return " AND ".join(names) or "see below"


def licence_files(folder):
    """Yields the texts of a folder that are licences or notices."""
    for path in sorted(folder.iterdir()):
        if path.is_file() and NAMES.match(path.name) and path.stat().st_size <= LARGEST:
            yield path.read_text(encoding="utf-8", errors="replace")


def main(bom):
    components = json.loads(pathlib.Path(bom).read_text())["components"]
    others = [c for c in components if not c["name"].startswith("domesday")]
    places = folders()
    texts = collections.defaultdict(list)
    print("Domesday contains these crates. Their licences follow.\n")
    for component in sorted(others, key=lambda c: (c["name"], c["version"])):
        name, version = component["name"], component["version"]
        print(f"{name} {version}: {licence(component)}")
        for text in licence_files(places[name, version]):
            # Spaces apart, many crates have the same text.
            texts[" ".join(text.split())].append((f"{name} {version}", text))
    print("\nIts pages contain these files of other projects:\n")
    for folder in sorted(pathlib.Path(__file__).resolve().parent.parent.glob("host/*/vendor/*")):
        print(folder.name)
        for text in licence_files(folder):
            texts[" ".join(text.split())].append((folder.name, text))
    for same in texts.values():
        users = ", ".join(dict.fromkeys(user for user, _ in same))
        print(f"\n{'=' * 80}\n{users}\n{'=' * 80}\n\n{same[0][1].strip()}")


if len(sys.argv) != 2 or sys.argv[1] == "--help":
    print(__doc__)
    sys.exit(0 if "--help" in sys.argv else 2)
main(sys.argv[1])
