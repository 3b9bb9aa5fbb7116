"""A package for Debian and its kin, for each Linux platform."""

import pathlib
import subprocess
import tempfile

import release

COMPLETIONS = {"bash": "usr/share/bash-completion/completions/climax",
               "fish": "usr/share/fish/vendor_completions.d/climax.fish",
               "zsh": "usr/share/zsh/vendor-completions/_climax"}


def build(made):
    """Writes climax_VERSION_ARCHITECTURE.deb. The binary is static, so the package depends on nothing."""
    for platform, binary in made.binaries.items():
        if platform.debian is None:
            continue
        with tempfile.TemporaryDirectory() as directory:
            tree = pathlib.Path(directory) / "tree"
            put(tree, "usr/bin/climax", binary.read_bytes(), 0o755)
            for shell, text in made.completions().items():
                put(tree, COMPLETIONS[shell], text)
            put(tree, "usr/share/doc/climax/copyright", b"\n".join(release.licenses().values()))
            put(tree, "DEBIAN/control", control(made, platform, tree))
            file = made.out / f"climax_{made.version}_{platform.debian}.deb"
            words = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", tree, file]
            environment = {"SOURCE_DATE_EPOCH": str(release.EPOCH), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
            subprocess.run(words, check=True, env=environment, stdout=subprocess.DEVNULL)


def put(tree, name, content, mode=0o644):
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)


def control(made, platform, tree):
    size = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file()) // 1024
    return f"""Package: climax
Version: {made.version}
Architecture: {platform.debian}
Maintainer: The authors of climax <maintainers@climax.example>
Installed-Size: {size}
Section: utils
Priority: optional
Homepage: {made.homepage}
Recommends: git, jq, curl
Description: {made.description}
 climax serves the subcommands of programs as tools with typed arguments.
 Policies say which tools are served, with what values, and in which sandbox.
""".encode()
