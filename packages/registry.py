"""server.json: the entry of the MCP registry, which names the other packages."""

import hashlib

import bundles
import release

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
MAX_DESCRIPTION = 100


def build(made):
    """Writes server.json. The bundles must be there: the entry holds their digests."""
    assert len(made.description) <= MAX_DESCRIPTION, "the registry takes at most 100 characters"
    transport = {"type": "stdio"}
    packages = [
        {"registryType": "npm", "identifier": release.NPM, "version": made.version, "runtimeHint": "npx",
         "transport": transport},
        {"registryType": "pypi", "identifier": release.PYPI, "version": made.version, "runtimeHint": "uvx",
         "transport": transport},
        {"registryType": "oci", "identifier": f"{made.image}:{made.version}", "runtimeHint": "docker",
         "transport": transport},
    ]
    for platform in made.binaries:
        file = bundles.file_name(made, platform)
        digest = hashlib.sha256((made.out / file).read_bytes()).hexdigest()
        packages.append({"registryType": "mcpb", "identifier": made.download(file), "fileSha256": digest,
                         "transport": transport})
    entry = {"$schema": SCHEMA, "name": made.mcp_name, "title": "climax", "description": made.description,
             "version": made.version, "websiteUrl": made.homepage,
             "repository": {"url": made.repository, "source": "github"}, "packages": packages}
    (made.out / "server.json").write_bytes(release.to_json(entry))
