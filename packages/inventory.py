"""What the binary is made of: a CycloneDX list of its crates, and the texts of their licences."""

import json
import pathlib
import subprocess
import tomllib
import uuid

import release

TEXTS = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")


def build(made):
    """Writes climax-VERSION.cdx.json and THIRD-PARTY-LICENSES."""
    crates, edges, root = linked(sorted(platform.target for platform in made.binaries))
    (made.out / f"climax-{made.version}.cdx.json").write_bytes(release.to_json(bill(made, crates, edges, root)))
    (made.out / "THIRD-PARTY-LICENSES").write_text(texts(crates.values()))


def linked(targets):
    """The crates that are linked into the binary, their dependencies on one another, and the binary's own crate."""
    words = ["cargo", "metadata", "--locked", "--format-version", "1"]
    words += [word for target in targets for word in ("--filter-platform", target)]
    metadata = json.loads(subprocess.run(words, check=True, capture_output=True, cwd=release.ROOT).stdout)
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    root = metadata["resolve"]["root"]
    edges, open_crates = {}, [root]
    while open_crates:
        crate = open_crates.pop()
        if crate in edges:
            continue
        edges[crate] = [dep["pkg"] for dep in nodes[crate]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]
        open_crates += edges[crate]
    crates = {package["id"]: package for package in metadata["packages"] if package["id"] in edges}
    return crates, edges, root


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def bill(made, crates, edges, root):
    lock = tomllib.loads((release.ROOT / "Cargo.lock").read_text())
    sums = {(package["name"], package["version"]): package.get("checksum") for package in lock["package"]}

    def component(package, kind):
        digest = sums.get((package["name"], package["version"]))
        return {"type": kind, "bom-ref": purl(package), "name": package["name"], "version": package["version"],
                "purl": purl(package)} | \
            ({"licenses": [{"expression": package["license"].replace("/", " OR ")}]} if package["license"] else {}) | \
            ({"hashes": [{"alg": "SHA-256", "content": digest}]} if digest else {})

    others = sorted((package for package in crates.values() if package["id"] != root), key=purl)
    refs = [{"ref": purl(crates[crate]), "dependsOn": sorted({purl(crates[other]) for other in edges[crate]})}
            for crate in sorted(edges, key=lambda crate: purl(crates[crate]))]
    serial = uuid.uuid5(uuid.NAMESPACE_URL, made.download("climax.cdx.json"))
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": f"urn:uuid:{serial}", "version": 1,
            "metadata": {"component": component(crates[root], "application")},
            "components": [component(package, "library") for package in others], "dependencies": refs}


def texts(packages):
    """The licence texts of other people's crates, one crate after the other."""
    parts = []
    for package in sorted(packages, key=purl):
        if package["source"] is None:
            continue
        folder = pathlib.Path(package["manifest_path"]).parent
        files = sorted(file for file in folder.iterdir() if file.is_file() and file.name.upper().startswith(TEXTS))
        found = [file.read_text(errors="replace").strip() for file in files]
        head = f"{package['name']} {package['version']}: {package['license']}"
        parts.append("\n\n".join([head, *found]))
    return ("\n\n" + "-" * 80 + "\n\n").join(parts) + "\n"
