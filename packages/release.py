"""What all packages share: the version and texts of Cargo.toml, the platforms, and reproducible archives."""

import dataclasses
import io
import json
import pathlib
import re
import subprocess
import tarfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Names that were free. The owner of the repository takes them at the first release.
NPM = "climax-mcp"
PYPI = "climax-mcp-server"
# The time of every file in an archive: the same files make the same bytes.
EPOCH = 315532800


@dataclasses.dataclass(frozen=True)
class Platform:
    """A system that a binary runs on, by its names in each world."""

    name: str
    target: str
    npm_os: str
    npm_cpu: str
    wheel: str
    debian: str | None = None


PLATFORMS = {platform.name: platform for platform in [
    Platform("linux-x64", "x86_64-unknown-linux-gnu", "linux", "x64",
             "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64", "amd64"),
    Platform("linux-arm64", "aarch64-unknown-linux-musl", "linux", "arm64",
             "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64", "arm64"),
    Platform("darwin-arm64", "aarch64-apple-darwin", "darwin", "arm64", "macosx_11_0_arm64"),
    Platform("darwin-x64", "x86_64-apple-darwin", "darwin", "x64", "macosx_10_12_x86_64"),
]}


@dataclasses.dataclass(frozen=True)
class Release:
    """One version: its texts, its binaries by platform, and where its files go."""

    out: pathlib.Path
    binaries: dict[Platform, pathlib.Path]
    runnable: pathlib.Path
    version: str
    description: str
    license: str
    repository: str
    homepage: str
    image: str

    @property
    def mcp_name(self):
        """The name in the MCP registry, whose namespace is the account on GitHub."""
        found = re.fullmatch(r"https://github\.com/([^/]+)/([^/]+?)(?:\.git)?/?", self.repository)
        if found is None:
            raise SystemExit(f"repository in Cargo.toml must be https://github.com/ACCOUNT/NAME, not {self.repository}")
        return f"io.github.{found[1]}/{found[2]}"

    def download(self, file):
        """The URL that a file of this release has."""
        return f"{self.repository.rstrip('/')}/releases/download/v{self.version}/{file}"

    def completions(self):
        """The completion scripts, by shell."""
        shells = ("bash", "fish", "zsh")
        return {shell: subprocess.run([self.runnable, "completions", shell], check=True, capture_output=True).stdout
                for shell in shells}


def read(out, binaries, runnable):
    """A release of the version in Cargo.toml."""
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    shared = cargo["workspace"]["package"]
    return Release(out, binaries, runnable, shared["version"], cargo["package"]["description"], shared["license"],
                   shared["repository"], shared["homepage"], cargo["workspace"]["metadata"]["release"]["image"])


def licenses():
    """The texts of the licences, by file name."""
    return {name: (ROOT / name).read_bytes() for name in ("LICENSE-APACHE", "LICENSE-MIT")}


def to_json(value):
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def tar_gz(path, files):
    """Writes an archive of (name, bytes, is executable)."""
    with tarfile.open(path, "w:gz", compresslevel=9) as archive:
        for name, content, is_executable in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(content), EPOCH, 0o755 if is_executable else 0o644
            archive.addfile(entry, io.BytesIO(content))
    strip_time(path)


def strip_time(path):
    """Removes the time and the name from the head of a gzip file."""
    content = bytearray(path.read_bytes())
    content[4:8] = bytes(4)
    if content[3] & 8:
        end = content.index(0, 10) + 1
        content[3] &= ~8
        del content[10:end]
    path.write_bytes(content)


def zip_file(path, files):
    """Writes a zip of (name, bytes, is executable)."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, is_executable in files:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            entry.external_attr = (0o100755 if is_executable else 0o100644) << 16
            archive.writestr(entry, content)
