//! The official clients and the conformance suite of MCP, against `tollhouse mcp`.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::build::Profile;
use crate::python::environment_of;
use crate::run::{command, output, run, say, target};

/// The suite, as npm has it.
const CONFORMANCE: &str = "@modelcontextprotocol/conformance@0.1.16";

/// Scenarios for any server. The others call tools, read resources or get prompts of an example server by name
/// (`test_simple_text`, `test://watched-resource`, `test_simple_prompt`, `json_schema_2020_12_tool`, `test_reconnection`), or
/// need completions or sampling, which are not offered.
const SCENARIOS: [&str; 8] = [
    "server-initialize",
    "logging-set-level",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
];

/// Tests the server with the official Python SDK, one of two revisions ago, and the conformance suite.
pub(crate) fn test_full(profile: Profile) -> Result<()> {
    let home = target().join("mcp/home");
    let binary = target().join(profile.directory()).join("tollhouse");
    publish(&binary, &home)?;
    for (environment, requirements, script) in [
        ("mcp/sdk", "tests/mcp/requirements.txt", "tests/mcp/sdk.py"),
        ("mcp/sdk-old", "tests/mcp/requirements-old.txt", "tests/mcp/sdk_old.py"),
    ] {
        say(&format!("testing the MCP server with what {requirements} names"));
        let python = environment_of(environment, requirements)?;
        let registry = home.join("tollhouse/registry");
        run(command(python).arg(script).env("TOLLHOUSE_BIN", &binary).env("TOLLHOUSE_TEST_REGISTRY", registry))?;
    }
    say("testing the MCP server with the conformance suite");
    conformance(&binary, &home)
}

/// Publishes the tool that the clients call.
fn publish(binary: &Path, home: &Path) -> Result<()> {
    if home.exists() {
        fs::remove_dir_all(home)?;
    }
    fs::create_dir_all(home)?;
    run(command(binary).args(["publish", "tools/stats"]).env("XDG_DATA_HOME", home))
}

/// Runs the scenarios against the server over HTTP.
fn conformance(binary: &Path, home: &Path) -> Result<()> {
    let suite = suite()?;
    let mut server = command(binary);
    server.args(["mcp", "--http", "127.0.0.1:0"]).env("XDG_DATA_HOME", home).stderr(Stdio::piped());
    let mut server = server.spawn().context("cannot start the server")?;
    let mut line = String::new();
    let stderr = server.stderr.take().context("the server has no standard error")?;
    BufReader::new(stderr).read_line(&mut line)?;
    let url = line.trim().trim_start_matches("listening on ").to_owned();
    let results = target().join("mcp/results");
    let ran = SCENARIOS.iter().try_for_each(|scenario| {
        let mut node = command("node");
        node.arg(&suite).args(["server", "--url", &url, "--scenario", scenario, "--output-dir"]).arg(&results);
        run(&mut node)
    });
    server.kill()?;
    server.wait()?;
    ran
}

/// Installs the suite, and returns its program.
fn suite() -> Result<PathBuf> {
    let place = target().join("mcp/conformance");
    fs::create_dir_all(&place)?;
    run(command("npm").args(["install", "--silent", "--no-save", CONFORMANCE, "--prefix"]).arg(&place))?;
    let program = place.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let version = output(command("node").arg("--version"))?;
    let major: u32 = version.trim().trim_start_matches('v').split('.').next().unwrap_or_default().parse()?;
    if major >= 22 {
        return Ok(program);
    }
    // It imports `globSync`, which is for its assessment of SDKs, and which an earlier Node.js does not have.
    let text = fs::read_to_string(&program)?;
    let without = text.replacen("globSync as o,", "", 1);
    if without == text {
        bail!("`{}` has another form: use Node.js 22 or later", program.display());
    }
    let patched = program.with_file_name("index-node20.js");
    fs::write(&patched, without)?;
    Ok(patched)
}
