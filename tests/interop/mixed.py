"""Prints a line, and writes a picture and a document where its two arguments say."""

import struct
import sys
import zlib
from pathlib import Path


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


picture, document = map(Path, sys.argv[1:])
header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
white_point = zlib.compress(b"\0\xff")
picture.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", white_point) + chunk(b"IEND", b""))
document.write_text('{"test": "data", "value": 123}')
print("Multiple content types test:")
