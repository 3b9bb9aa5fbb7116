"""An archive for each platform, as cargo-binstall and Homebrew fetch them, and the formula for Homebrew."""

import hashlib

import release

COMPLETIONS = {"bash": "completions/climax.bash", "fish": "completions/climax.fish", "zsh": "completions/_climax"}


def build(made):
    """Writes climax-VERSION-TARGET.tar.gz for each platform, and climax.rb."""
    sums = {}
    for platform, binary in made.binaries.items():
        folder = f"climax-{made.version}-{platform.target}"
        files = [(f"{folder}/climax", binary.read_bytes(), True),
                 (f"{folder}/README.md", (release.ROOT / "README.md").read_bytes(), False)]
        files += [(f"{folder}/{name}", text, False) for name, text in release.licenses().items()]
        files += [(f"{folder}/{COMPLETIONS[shell]}", text, False) for shell, text in made.completions().items()]
        path = made.out / f"{folder}.tar.gz"
        release.tar_gz(path, files)
        sums[platform] = hashlib.sha256(path.read_bytes()).hexdigest()
    (made.out / "climax.rb").write_text(formula(made, sums))


def formula(made, sums):
    """The formula, with a block for each system and processor that has an archive."""
    blocks = []
    for system, npm_os in (("macos", "darwin"), ("linux", "linux")):
        inner = []
        for platform, digest in sums.items():
            if platform.npm_os == npm_os:
                cpu = {"x64": "intel", "arm64": "arm"}[platform.npm_cpu]
                url = made.download(f"climax-{made.version}-{platform.target}.tar.gz")
                inner.append(f'    on_{cpu} do\n      url "{url}"\n      sha256 "{digest}"\n    end\n')
        if inner:
            blocks.append(f"  on_{system} do\n{''.join(inner)}  end\n")
    return f'''class Climax < Formula
  desc "Command-line programs as tools for AI agents, over MCP"
  homepage "{made.homepage}"
  version "{made.version}"
  license any_of: ["MIT", "Apache-2.0"]

{"".join(blocks)}
  def install
    bin.install "climax"
    bash_completion.install "completions/climax.bash" => "climax"
    fish_completion.install "completions/climax.fish"
    zsh_completion.install "completions/_climax"
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/climax version")
  end
end
'''
