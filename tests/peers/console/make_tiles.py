"""Makes a file of invented tiles around the demo's home.

make_tiles.py vector|raster|jpeg|webp FILE

Raster tiles are chequered PNG, or one chequered picture as JPEG or WebP. Vector tiles have the
layers of Protomaps, and one that nobody knows. Nothing on them is real.
"""

import base64
import gzip
import math
import struct
import sys
import zlib

from pmtiles.tile import Compression, TileType, zxy_to_tileid
from pmtiles.writer import write

# West, south, east and north of the tiles, degrees.
BOX = (-2.5, 55.4, -1.9, 55.8)
ZOOMS = range(6, 14)
ATTRIBUTION = '<a href="https://tiles.example/copyright">&copy; Invented &amp; Co</a>'
SIDE = 4096
# Four squares in two colours, 64 pixels wide.
PICTURES = {
    "jpeg": (
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZG"
        "NywtQFdBRkxOUlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09P"
        "T09PT09PT09PT09PT09PT09PT09PT09PT0//wAARCABAAEADASIAAhEBAxEB/8QAFgABAQEAAAAAAAAAAAAAAAAA"
        "AAUG/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/EABcBAQEBAQAAAAAAAAAAAAAAAAADAgH/xAAUEQEAAAAAAAAAAAAA"
        "AAAAAAAA/9oADAMBAAIRAxEAPwDegKOAAIwDCwACyA2iAAjAMLAAAAAALIDaIACMAwsAAsgNogAP/9k="
    ),
    "webp": (
        "UklGRmAAAABXRUJQVlA4IFQAAAAwBACdASpAAEAAPrVSpEunJSOhqAqo4BaJZwDOsBbeY4lMc424t0woMIAA/vEC"
        "Vx30d9+1CGmWIY0x1T1fw1Q1y9SALy3/NAeMNnLVm+ZuPzVgAAA="
    ),
}
TYPES = {
    "vector": TileType.MVT,
    "raster": TileType.PNG,
    "jpeg": TileType.JPEG,
    "webp": TileType.WEBP,
}


def column_row(zoom, longitude, latitude):
    """Returns the tile of a point."""
    tiles = 2**zoom
    mercator = math.asinh(math.tan(math.radians(latitude)))
    return int((longitude + 180) / 360 * tiles), int((1 - mercator / math.pi) / 2 * tiles)


def png(first, second):
    """Returns a picture of 256 pixels chequered in two colours."""
    rows = b"".join(
        b"\0" + b"".join(bytes(first if (x // 32 + y // 32) % 2 else second) for x in range(256))
        for y in range(256)
    )

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", 256, 256, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


def varint(number):
    """Returns a number as protobuf writes it."""
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    """Returns a field of a message: a number, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def geometry(points, closed):
    """Returns the commands of a line or a ring."""
    zigzag = [0, 0]
    commands = []
    for at, (x, y) in enumerate(points):
        if at == 0:
            commands.append(1 | 1 << 3)
        if at == 1:
            commands.append(2 | (len(points) - 1) << 3)
        for axis, value in enumerate((x, y)):
            step = value - zigzag[axis]
            commands.append((step << 1) ^ (step >> 31))
            zigzag[axis] = value
    if closed:
        commands.append(7 | 1 << 3)
    return b"".join(varint(command) for command in commands)


def layer(name, features):
    """Returns a layer of features, each a kind, a type (1 point, 2 line, 3 polygon) and points."""
    kinds = sorted({kind for kind, _, _ in features})
    out = field(15, 2) + field(1, name.encode())
    for kind, of, points in features:
        tags = varint(0) + varint(kinds.index(kind))
        out += field(2, field(2, tags) + field(3, of) + field(4, geometry(points, of == 3)))
    out += field(3, b"kind") + b"".join(field(4, field(1, kind.encode())) for kind in kinds)
    return field(3, out + field(5, SIDE))


def square(x, y, side):
    """Returns the corners of a square."""
    return [(x, y), (x + side, y), (x + side, y + side), (x, y + side)]


LAYERS = {
    "earth": [("earth", 3, square(0, 0, SIDE))],
    "landuse": [("park", 3, square(300, 300, 1100)), ("residential", 3, square(2200, 200, 1500))],
    "water": [("lake", 3, square(400, 2400, 900)), ("river", 2, [(0, 2000), (2000, 2300), (4096, 1900)])],
    "buildings": [
        ("building", 3, square(x, y, 160))
        for x in range(100, SIDE, 400)
        for y in range(100, SIDE, 400)
    ],
    "roads": [
        ("major_road", 2, [(0, 1600), (4096, 1600)]),
        ("minor_road", 2, [(1800, 0), (1800, 4096)]),
        ("minor_road", 2, [(3000, 0), (3000, 4096)]),
    ],
    "boundaries": [("county", 2, [(0, 3500), (4096, 3700)])],
    "places": [("locality", 1, [(2000, 2000)])],
    "hedges": [("hedge", 2, [(2200, 3000), (3900, 3000)])],
}


def main():
    """Writes the file."""
    kind, path = sys.argv[1], sys.argv[2]
    vector = kind == "vector"
    drawn = gzip.compress(b"".join(layer(*item) for item in LAYERS.items()), mtime=0)
    with write(path) as writer:
        for zoom in ZOOMS:
            (left, top), (right, bottom) = (
                column_row(zoom, BOX[0], BOX[3]),
                column_row(zoom, BOX[2], BOX[1]),
            )
            picture = png((200, 220 - 5 * zoom, 190), (225, 225, 200 + 4 * zoom))
            if kind in PICTURES:
                picture = base64.b64decode(PICTURES[kind])
            tiles = [
                zxy_to_tileid(zoom, x, y)
                for x in range(left, right + 1)
                for y in range(top, bottom + 1)
            ]
            for tile in sorted(tiles):
                writer.write_tile(tile, drawn if vector else picture)
        west, south, east, north = (round(degrees * 1e7) for degrees in BOX)
        header = {
            "tile_type": TYPES[kind],
            "tile_compression": Compression.GZIP if vector else Compression.NONE,
            "min_lon_e7": west,
            "min_lat_e7": south,
            "max_lon_e7": east,
            "max_lat_e7": north,
            "center_zoom": 10,
            "center_lon_e7": (west + east) // 2,
            "center_lat_e7": (south + north) // 2,
        }
        metadata = {"attribution": ATTRIBUTION}
        if vector:
            metadata["vector_layers"] = [{"id": name, "fields": {}} for name in LAYERS]
        writer.finalize(header, metadata)


if __name__ == "__main__":
    main()
