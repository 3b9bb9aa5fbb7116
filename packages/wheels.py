"""A wheel for each platform, whose only content is the binary."""

import base64
import hashlib

import release

# `uvx NAME` starts the program that is called as the package is.
ALIAS = b'#!/bin/sh\nexec "$(dirname "$(realpath "$0")")/climax" "$@"\n'


def build(made):
    """Writes climax_mcp_server-VERSION-py3-none-PLATFORM.whl for each platform."""
    name = release.PYPI.replace("-", "_")
    for platform, binary in made.binaries.items():
        info = f"{name}-{made.version}.dist-info"
        scripts = f"{name}-{made.version}.data/scripts"
        files = [(f"{scripts}/climax", binary.read_bytes(), True), (f"{scripts}/{release.PYPI}", ALIAS, True),
                 (f"{info}/METADATA", metadata(made), False), (f"{info}/WHEEL", tags(platform), False)]
        files += [(f"{info}/licenses/{file}", text, False) for file, text in release.licenses().items()]
        record = "".join(f"{path},sha256={digest(content)},{len(content)}\n" for path, content, _ in files)
        files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), False))
        release.zip_file(made.out / f"{name}-{made.version}-py3-none-{platform.wheel}.whl", files)


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def tags(platform):
    lines = "".join(f"Tag: py3-none-{tag}\n" for tag in platform.wheel.split("."))
    return f"Wheel-Version: 1.0\nGenerator: climax\nRoot-Is-Purelib: false\n{lines}".encode()


def metadata(made):
    readme = (release.ROOT / "README.md").read_text()
    # The MCP registry looks for this line in the description.
    return f"""Metadata-Version: 2.4
Name: {release.PYPI}
Version: {made.version}
Summary: {made.description}
License-Expression: {made.license}
License-File: LICENSE-APACHE
License-File: LICENSE-MIT
Project-URL: Homepage, {made.homepage}
Project-URL: Repository, {made.repository}
Requires-Python: >=3.8
Description-Content-Type: text/markdown

<!-- mcp-name: {made.mcp_name} -->

{readme}""".encode()
