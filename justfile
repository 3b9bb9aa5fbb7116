# What CI runs.
ci:
    bash .ci/run

# The tests, up to 19 minutes from nothing on two cores.
test:
    cargo test --workspace

# Accept new snapshots and golden files; git diff shows what changed.
accept:
    INSTA_UPDATE=always UPDATE_GOLDEN=1 cargo test --workspace

# Build the book into target/book/html.
book:
    scripts/book --install

# Start-up, memory and build time against the number of tools.
bench:
    cargo bench --bench scale

# What a call costs beyond its program, and what thousands of them leave behind.
bench-calls:
    cargo bench --bench calls
    cargo bench --bench soak

# Real clients and the conformance suites.
interop:
    cargo build
    tests/interop/run target/debug/climax

# What a call costs over HTTP, straight and behind nginx, and whether replicas can be restarted under load.
bench-http:
    cargo bench --bench http
    cargo bench --bench http -- replicas

# Check the flags of all configs against the programs that are installed.
flags:
    cargo build --release
    scripts/check-flags target/release/climax

# Beside climax-mcp from PyPI and a bare SDK server; draws benches/peers/peers.svg.
bench-peers:
    benches/peers/run
