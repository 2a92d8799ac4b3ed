#!/usr/bin/env python3
"""Writes the seeds of the targets that do not read requests, all of them invented.

  fuzz/make_seeds.py DOMESDAY

DOMESDAY is the program, which makes register files of an invented country. Some seeds are parts of
the demo's releases. Each is small: a fuzzer changes short inputs more often.
"""

import gzip
import io
import itertools
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

FUZZ = pathlib.Path(__file__).resolve().parent
RELEASES = FUZZ.parent / "releases"
# Between the parts of an input.
DIVIDER = b"\n--8<--\n"
# A seed has the beginning of a file.
LINES, BYTES = 4, 3000


def put(target, name, *parts):
    folder = FUZZ / "seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    content = DIVIDER.join(part if isinstance(part, bytes) else part.encode() for part in parts)
    (folder / name).write_bytes(content)


def texts(*parts):
    """Returns an input that a target of several texts reads as these.

    The crate arbitrary takes the length of each text but the last from the end of the input. It is
    one byte where no more than 256 are left."""
    encoded = [part.encode() for part in parts]
    packed = b"".join(encoded) + bytes(len(part) for part in reversed(encoded[:-1]))
    assert len(packed) <= 256, packed
    return packed


def archive(members, compression=zipfile.ZIP_DEFLATED):
    """Returns a zip archive whose bytes depend on its members alone."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", compression) as packed:
        for name, text in members.items():
            packed.writestr(zipfile.ZipInfo(name), text, compression)
    return target.getvalue()


def registers(program):
    """Writes the beginning of each file of the invented country, and of its rates."""
    for target, options in (("register_file", []), ("series_file", ["--rates"])):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([program, "demo-data", *options, folder], check=True, capture_output=True)
            for path in sorted(pathlib.Path(folder).rglob("*.csv")):
                if not path.name.startswith("truth"):
                    with path.open("rb") as file:
                        head = b"".join(itertools.islice(file, LINES))
                    put(target, path.name, head[: head.rindex(b"\n", 0, BYTES) + 1])


def packages():
    for kind, folder in (("rates", "synthetic-rates-2026-10"), ("property", "synthetic-2026-09"),
                         ("valuation", "synthetic-hedonic-2027-05")):  # fmt: skip
        release = RELEASES / kind / folder
        signed = [(release / name).read_bytes() for name in ("manifest.json", "manifest.sig")]
        put("package_manifest", f"{kind}.json", *signed)
    rows = (RELEASES / "valuation/synthetic-hedonic-2027-05/fixtures.jsonl").read_text()
    put("fixtures", "row.jsonl", rows.splitlines(keepends=True)[0])
    prediction = {"row": "1", "inputs": [1.5, None, 3.0], "expected": 0.25, "prediction": 0.25}
    put("predictions", "row.jsonl", json.dumps(prediction) + "\n")
    module = b"\0asm\x01\0\0\0"
    put("component", "module.wasm", b"\0asm\x0d\0\x01\0" + bytes([1, len(module)]) + module)


def outcomes():
    """Writes answers as written in the guest's memory from 1024 on."""
    head = "<d B7x 2d d 2I 2I B7x d B7x d"

    def valued(comparables, derived, lists):
        at = (1120, comparables, 1120 + 24 * comparables, derived)
        return struct.pack("<q" + head[1:], 0, 2e5, 1, 1.8e5, 2.2e5, 0.5, *at, 1, 0.1, 1, 0.2) + lists

    put("guest_outcome", "thin", valued(0, 0, b""))
    lists = struct.pack("<Q 2d 2B6x B7x d", 7, 1.9e5, 0.9, 5, 1, 1, 82.0)
    put("guest_outcome", "comparable", valued(1, 1, lists))
    put("guest_outcome", "referred", struct.pack("<B7x 3B", 1, 3, 1, 5))
    put("guest_outcome", "failed", struct.pack("<B7x B", 2, 1))


def workbooks():
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'

    def relation(number, kind, place):
        return f'<Relationship Id="r{number}" Type="{office}/{kind}" Target="{place}"/>'

    def workbook(name, rows):
        text = "".join(f'<row r="{at}">{cells}</row>' for at, cells in enumerate(rows, 1))
        related = relation(1, "worksheet", "worksheets/sheet1.xml") + relation(2, "styles", "styles.xml")
        return {
            "xl/workbook.xml": f'<workbook {main} xmlns:r="{office}"><sheets><sheet name="{name}" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f"<Relationships {package}>{related}</Relationships>",
            "xl/worksheets/sheet1.xml": f"<worksheet {main}><sheetData>{text}</sheetData></worksheet>",
            "xl/worksheets/sheet2.xml": "",
            "xl/styles.xml": f'<styleSheet {main}><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
            "xl/sharedStrings.xml": f"<sst {main}><si><t>GBP</t></si></sst>",
            "_rels/.rels": f'<Relationships {package}>{relation(1, "officeDocument", "xl/workbook.xml")}</Relationships>',
        }

    def word(place, text):
        return f'<c r="{place}" t="str"><v>{text}</v></c>'

    curve = workbook("4. spot curve", [
        word("B1", "UK OIS spot curve"), "", word("A3", "Maturity"),
        word("A4", "years:") + '<c r="B4"><v>0.5</v></c><c r="C4"><v>1</v></c>',
        '<c r="A5" s="1"><v>45931</v></c><c r="B5"><v>3.75</v></c><c r="C5"><v>3.7</v></c>',
    ])  # fmt: skip
    names = ["Time period", "Area code", "Rental price"]
    names += [f"Rental price {beds} bed" for beds in ("one", "two", "three", "four or more")]
    rents = workbook("Table 1", [
        "".join(word(f"{column}1", name) for column, name in zip("ABCDEFG", names)),
        '<c r="A2" s="1"><v>45931</v></c>' + word("B2", "E06990001")
        + "".join(f'<c r="{column}2"><v>1000</v></c>' for column in "CDEF") + word("G2", "[x]"),
    ])  # fmt: skip
    put("series_file", "curve", *curve.values())
    put("series_file", "rents", *rents.values())
    full = {name: text for name, text in curve.items() if text} | {"[Content_Types].xml": "<Types/>"}
    put("zip", "workbook.zip", archive(full))
    put("zip", "stored.zip", archive({"a.csv": "a,b\n1,2\n", "b/": ""}, zipfile.ZIP_STORED))


def answers():
    address = {"header": {"totalresults": 2, "output_srs": "EPSG:27700"}, "results": [
        {"DPA": {"UPRN": "990000000001", "BUILDING_NUMBER": "12", "X_COORDINATE": 437292.43}},
        {"LPI": {"UPRN": 990000000001, "PAO_START_NUMBER": 12, "SAO_TEXT": None}}]}  # fmt: skip
    put("address_response", "page.json", json.dumps(address))

    def layer(kind, size):
        return {"mediaType": f"application/vnd.domesday.{kind}", "digest": f"sha256:{size % 10}" + "0" * 63, "size": size}

    artifact = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": layer("config", 2), "layers": [layer("manifest.v1+json", 900), layer("signature.v1", 200)],
                "annotations": {"domesday.package": "sha256:" + "a" * 64}}  # fmt: skip
    put("registry_response", "artifact.json", json.dumps(artifact))
    put("registry_response", "challenge", 'Bearer realm="https://auth.example/token",service="example"', 'Basic realm="x"')
    put("registry_response", "address", "oci://registry.example:5000/team/models:release-1")


def queries():
    for number, query in enumerate((
        "dataset=bank_rate", "dataset=bank_rate&from=2026-01-01&to=2026-09-30&page_size=5",
        "dataset=ois_curve&node_months=12&from=2026-09-01", "cursor=eyJ0ZW5hbnQiOiJhY21lIn0.AAAA",
    )):  # fmt: skip
        put("series_query", f"query-{number}", query)
    for number, query in enumerate(("postcode=qa1+1af&uprn=999082968959", "postcode=QA1%201AF", "uprn=0&postcode=")):
        put("coverage_query", f"query-{number}", query)


def addresses():
    for name, fields in {
        "house": ("12", "Larkspur Lane", "", ""),
        "flat": ("Flat 2, 11", "St. John's Rd", "Larkspur Lane", "Quarrybridge"),
        "unit": ("FLAT 24", "FERN POINT, 60", "ALDER POND AVENUE", "QUARRYBRIDGE"),
        "range": ("", "12A - 14", "", "Upper Fenwick"),
        "lines": ("1 Keepers Cottages", "The Old Mill, 3 Mill Lane", "Quarrybridge ZZ1 1AA", "Quarrybridge"),
        "letters": ("Tŷ Gwyn", "Ffordd y Môr", "Studio, rear of 7½", "ßtraße"),
    }.items():  # fmt: skip
        put("address_keys", name, texts(*fields))


def options():
    every = {"include_comparables": True, "comparables_limit": 10,
             "include_context_metrics": True, "use_stored_data": False}  # fmt: skip
    for name, pair in {
        "none": ("{}", "{}"),
        "null": ("null", "null"),
        "shared": (json.dumps(every), "{}"),
        "own": ("{}", json.dumps(every)),
        "both": ('{"include_comparables":false}', '{"include_comparables":true,"comparables_limit":0}'),
        "unsound": ('{"comparables_limit":11}', '{"comparables_limit":1.0,"other":1}'),
    }.items():  # fmt: skip
        put("options", name, texts(*pair))


def files_of_operators():
    receipt = {"sequence": 1, "previous": "PREVIOUS", "about": {
        "at": 1790000000000, "tenant": "acme", "release_id": "r", "package": "a" * 64, "snapshot": "b" * 64,
        "engine": "e", "execution_id": "x", "valuation_id": "v", "form": 1}, "key": "k", "sealed": "AAAA"}  # fmt: skip
    lines = [json.dumps(receipt | {"sequence": number}, separators=(",", ":")) for number in (1, 2)]
    head = {"host": "ed25519:" + "c" * 64, "sequence": 1, "digest": "d" * 64, "at": 1, "signature": "e" * 128}
    put("journal", "two-receipts", "\n".join(lines) + "\n", json.dumps(head) + "\n")
    root, metadata = gzip.compress(bytes([1, 0, 1, 4, 1]), mtime=0), gzip.compress(b'{"attribution":"Invented"}', mtime=0)
    header, offset = b"PMTiles\x03", 127
    for size in (len(root), len(metadata), 0, 4):
        header += struct.pack("<2Q", offset, size)
        offset += size
    header += struct.pack("<3Q", 1, 1, 1) + bytes([1, 2, 1, 2, 0, 3])
    header += struct.pack("<4i", -30000000, 500000000, 10000000, 540000000) + bytes(9)
    put("tile_archive", "map.pmtiles", header + root + metadata + b"tile")
    homes = "postcode,building_number_or_name,street,type,valuation_date,bedrooms\nZZ1 1AA,1,Larkspur Lane,D,15/10/2026,3\n"
    put("homes_file", "homes.csv", homes)
    put("homes_file", "tabs.txt", homes.replace(",", "\t").encode("utf-16"))


if len(sys.argv) != 2 or sys.argv[1] == "--help":
    print(__doc__)
    sys.exit(0 if "--help" in sys.argv else 2)
registers(sys.argv[1])
packages()
outcomes()
workbooks()
answers()
queries()
addresses()
options()
files_of_operators()
