"""An MCP bundle for each platform, which desktop clients install by a click."""

import release


def build(made):
    """Writes climax-VERSION-PLATFORM.mcpb for each platform."""
    for platform, binary in made.binaries.items():
        files = [("manifest.json", release.to_json(manifest(made, platform)), False),
                 ("server/climax", binary.read_bytes(), True)]
        files += [(name, text, False) for name, text in release.licenses().items()]
        release.zip_file(made.out / file_name(made, platform), files)


def file_name(made, platform):
    return f"climax-{made.version}-{platform.name}.mcpb"


def manifest(made, platform):
    return {
        "manifest_version": "0.3",
        "name": "climax",
        "display_name": "climax",
        "version": made.version,
        "description": made.description,
        "author": {"name": "The authors of climax", "url": made.homepage},
        "repository": {"type": "git", "url": made.repository},
        "homepage": made.homepage,
        "license": made.license,
        "keywords": ["cli", "tools"],
        "server": {"type": "binary", "entry_point": "server/climax",
                   "mcp_config": {"command": "${__dirname}/server/climax", "args": []}},
        "tools": [{"name": "climax_search", "description": "Find a tool"},
                  {"name": "climax_call", "description": "Run a tool"}],
        "compatibility": {"platforms": [platform.npm_os]},
    }
