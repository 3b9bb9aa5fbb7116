#!/usr/bin/env node
// Starts the binary of the package for this platform, with the same arguments, streams and exit status.
"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;

function binary() {
  try {
    return require.resolve(`climax-mcp-${platform}/climax`);
  } catch {
    console.error(
      `climax-mcp: the package climax-mcp-${platform} is missing.\n` +
        "Expected it beside climax-mcp. Either npm left out optional packages (install without --omit=optional),\n" +
        "or there is no binary for this system: see the page Platforms of climax."
    );
    process.exit(1);
  }
}

const file = binary();
const words = process.argv.slice(2);
if (process.execve) {
  // Node 22.15 and later: no second process is left.
  process.execve(file, [file, ...words], process.env);
}
const child = spawn(file, words, { stdio: "inherit" });
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`climax-mcp: ${file} does not start: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
