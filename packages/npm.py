"""The npm packages: a launcher, and one package with the binary for each platform."""

import release

LAUNCHER = (release.ROOT / "packages/launcher.js").read_bytes()


def build(made):
    """Writes climax-mcp-VERSION.tgz and climax-mcp-PLATFORM-VERSION.tgz."""
    for platform, binary in made.binaries.items():
        name = f"{release.NPM}-{platform.name}"
        manifest = shared(made, name) | {
            "description": f"The binary of {release.NPM} for {platform.name}",
            "os": [platform.npm_os], "cpu": [platform.npm_cpu], "files": ["climax"], "preferUnplugged": True}
        pack(made, name, manifest, [("package/climax", binary.read_bytes(), True)])
    manifest = shared(made, release.NPM) | {
        "description": made.description,
        "mcpName": made.mcp_name,
        "keywords": ["mcp", "agent", "cli", "tools"],
        "engines": {"node": ">=18"},
        "bin": {release.NPM: "launcher.js", "climax": "launcher.js"},
        "files": ["launcher.js"],
        "optionalDependencies": {f"{release.NPM}-{platform.name}": made.version for platform in made.binaries}}
    readme = (release.ROOT / "README.md").read_bytes()
    pack(made, release.NPM, manifest, [("package/launcher.js", LAUNCHER, True), ("package/README.md", readme, False)])


def shared(made, name):
    repository = {"type": "git", "url": f"git+{made.repository}.git"}
    return {"name": name, "version": made.version, "license": made.license, "homepage": made.homepage,
            "repository": repository}


def pack(made, name, manifest, files):
    texts = [(f"package/{file}", text, False) for file, text in release.licenses().items()]
    files = [("package/package.json", release.to_json(manifest), False), *files, *texts]
    release.tar_gz(made.out / f"{name}-{made.version}.tgz", files)
