#!/usr/bin/env node
// Runs the binary of the package for this platform, which npm installs as an optional dependency.
"use strict";

const { spawn } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const supported = Object.keys(require("../package.json").optionalDependencies);

/** Returns the path of the binary, or says why there is none and what to do. */
function binary() {
  const name = `@tollhouse/${platform}`;
  if (!supported.includes(name)) {
    fail(`there is no binary for ${platform}, only for ${supported.map((s) => s.slice("@tollhouse/".length)).join(", ")}`,
      "build it with Rust: https://github.com/tollhouse/tollhouse/blob/main/docs/installing.md");
  }
  try {
    return require.resolve(`${name}/bin/tollhouse`);
  } catch {
    fail(`the package ${name} is not installed`,
      "install it again with optional dependencies: `npm install tollhouse`, without `--omit=optional` and `--no-optional`, " +
      "and without a node_modules or package-lock.json of another platform");
  }
}

function fail(problem, advice) {
  process.stderr.write(`tollhouse: ${problem}\nhint: ${advice}\n`);
  process.exit(1);
}

const program = binary();
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// The terminal sends Ctrl-C to both, and the binary decides what it means; other signals reach this process alone.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => fail(`cannot run ${program}: ${error.message}`,
  "is it executable, and its file system not mounted with `noexec`? Install the package again"));
child.on("exit", (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
