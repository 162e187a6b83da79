//! Tests of MCP with software of others: official clients and the conformance suite against `tollhouse mcp`, and
//! published servers as mounted tools.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::build::Profile;
use crate::python::environment_of;
use crate::run::{command, output, run, say, target};

/// npm package of the conformance suite.
const CONFORMANCE: &str = "@modelcontextprotocol/conformance@0.1.16";

/// npm packages of the official SDK, and of servers by other authors.
const PACKAGES: [&str; 4] = [
    "@modelcontextprotocol/sdk@1.32.2",
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
];

/// Treatment of each scenario of the conformance suite: the test, or the reason why it does not apply.
const SCENARIOS: &str = "tests/mcp/conformance.txt";

/// Tests the server with the official SDKs (the Python SDK also in a release that is two protocol revisions older),
/// tests published servers as mounted tools, and runs the conformance suite.
pub(crate) fn test_full(profile: Profile) -> Result<()> {
    let home = target().join("mcp/home");
    let binary = target().join(profile.directory()).join("tollhouse");
    publish(&binary, &home)?;
    for (environment, requirements, script) in [
        ("mcp/sdk", "tests/mcp/requirements.txt", "tests/mcp/sdk.py"),
        ("mcp/sdk", "tests/mcp/requirements.txt", "tests/mcp/sdk_isolated.py"),
        ("mcp/sdk-old", "tests/mcp/requirements-old.txt", "tests/mcp/sdk_old.py"),
    ] {
        say(&format!("testing the MCP server with what {requirements} names"));
        let python = environment_of(environment, requirements)?;
        let registry = home.join("tollhouse/registry");
        run(command(python).arg(script).env("TOLLHOUSE_BIN", &binary).env("TOLLHOUSE_TEST_REGISTRY", registry))?;
    }
    let packages = target().join("mcp/packages");
    install(&PACKAGES, &packages)?;
    say("testing the MCP server with the official TypeScript SDK");
    let registry = home.join("tollhouse/registry");
    for script in ["tests/mcp/sdk.mjs", "tests/mcp/sdk_isolated.mjs"] {
        let mut node = command("node");
        node.arg(script).arg(&packages).env("TOLLHOUSE_BIN", &binary);
        run(node.env("TOLLHOUSE_TEST_REGISTRY", &registry))?;
    }
    say("mounting MCP servers of npm");
    let mut python = command("python3");
    python.arg("tests/mcp/real_servers.py").arg(&packages).env("TOLLHOUSE_BIN", &binary);
    run(python.env("XDG_DATA_HOME", &home))?;
    servers_of_pypi(&binary, &home)?;
    say("testing the MCP server with the conformance suite");
    conformance(&binary, &home)
}

/// Returns a Python that has the official SDK; none if it cannot be installed here.
pub(crate) fn official_client() -> Option<PathBuf> {
    let found = environment_of("mcp/sdk", "tests/mcp/requirements.txt");
    found
        .inspect_err(|error| say(&format!("the official SDK cannot be installed: its column stays empty ({error:#})")))
        .ok()
}

/// Mounts servers of PyPI, each in an environment of its own: they want different versions of the SDK.
fn servers_of_pypi(binary: &Path, home: &Path) -> Result<()> {
    say("mounting MCP servers of PyPI");
    let mut python = command("python3");
    python.arg("tests/mcp/real_servers_pypi.py");
    for (name, requirements) in
        [("git", "tests/mcp/requirements-git.txt"), ("sqlite", "tests/mcp/requirements-sqlite.txt")]
    {
        python.arg(environment_of(&format!("mcp/server-{name}"), requirements)?);
    }
    run(python.env("TOLLHOUSE_BIN", binary).env("XDG_DATA_HOME", home))
}

/// Publishes the tool that the clients call.
fn publish(binary: &Path, home: &Path) -> Result<()> {
    if home.exists() {
        fs::remove_dir_all(home)?;
    }
    fs::create_dir_all(home)?;
    run(command(binary).args(["publish", "tools/stats"]).env("XDG_DATA_HOME", home))
}

/// Runs each scenario that applies, and checks that the suite has no other ones.
fn conformance(binary: &Path, home: &Path) -> Result<()> {
    let suite = suite()?;
    let listed = fs::read_to_string(SCENARIOS)?;
    let scenarios: Vec<(&str, &str)> = listed
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_whitespace().next().zip(line.split_whitespace().nth(1)))
        .collect();
    let offered = output(command("node").arg(&suite).arg("list"))?;
    for name in offered.lines().filter_map(|line| line.trim().strip_prefix("- ")?.split_whitespace().next()) {
        if !scenarios.iter().any(|(_, known)| *known == name) {
            bail!("the suite has the scenario `{name}`, of which `{SCENARIOS}` says nothing");
        }
    }
    let of =
        |subject: &'static str| scenarios.iter().filter(move |(found, _)| *found == subject).map(|(_, name)| *name);
    with_server(binary, home, &[], |url| of("server").try_for_each(|name| scenario(&suite, url, name)))?;
    let gateway = gateway(binary, home)?;
    let gateway: Vec<&str> = gateway.iter().map(String::as_str).collect();
    with_server(binary, home, &gateway, |url| of("gateway").try_for_each(|name| scenario(&suite, url, name)))?;
    of("client").try_for_each(|name| {
        let client = "python3 tests/mcp/conformance_client.py";
        let mut node = command("node");
        node.arg(&suite).args(["client", "--command", client, "--scenario", name, "--output-dir"]).arg(results());
        run(node.env("TOLLHOUSE_BIN", binary).env("XDG_DATA_HOME", home))
    })
}

/// Runs one scenario against the server at the URL.
fn scenario(suite: &Path, url: &str, name: &str) -> Result<()> {
    let mut node = command("node");
    run(node.arg(suite).args(["server", "--url", url, "--scenario", name, "--output-dir"]).arg(results()))
}

/// Returns the directory for the reports of the suite.
fn results() -> PathBuf {
    target().join("mcp/results")
}

/// Pins the fixture server, whose tools the suite calls by name. Returns the options with which `tollhouse mcp` serves
/// those tools.
fn gateway(binary: &Path, home: &Path) -> Result<Vec<String>> {
    let (policy, fixture) = (home.join("gateway.toml"), fs::canonicalize("tests/mcp-server/conformance.py")?);
    let code = "import os, sys; print(os.path.realpath(sys.executable)); print(sys.base_prefix)";
    let python = output(command("python3").args(["-c", code]))?;
    let [program, library] = python.lines().collect::<Vec<_>>()[..] else { bail!("Python says not where it is") };
    let text = format!(
        "[tools]\n[mcp.suite]\ncommand = [{program:?}, \"-I\", {fixture:?}]\nread = [{library:?}, {fixture:?}]\n\
         [[grant]]\nmethod = \"suite/**\"\n"
    );
    fs::write(&policy, text)?;
    let options = ["--policy".to_owned(), policy.display().to_string(), "--allow-exec".to_owned(), "suite".to_owned()];
    run(command(binary).args(["mcp", "lock"]).args(&options).env("XDG_DATA_HOME", home))?;
    // The suite's own client answers the questions that the tools ask.
    Ok(options.into_iter().chain(["--proxy", "--ask-clients"].map(str::to_owned)).collect())
}

/// Starts a server over HTTP, calls `work` with its URL, and stops the server.
fn with_server(binary: &Path, home: &Path, options: &[&str], work: impl FnOnce(&str) -> Result<()>) -> Result<()> {
    let mut server = command(binary);
    server.args(["mcp", "--http", "127.0.0.1:0"]).args(options).env("XDG_DATA_HOME", home).stderr(Stdio::piped());
    let mut server = server.spawn().context("cannot start the server")?;
    let mut line = String::new();
    let stderr = server.stderr.take().context("the server has no standard error")?;
    BufReader::new(stderr).read_line(&mut line)?;
    let worked = work(line.trim().trim_start_matches("listening on "));
    server.kill()?;
    server.wait()?;
    worked
}

/// Installs packages of npm in a directory.
fn install(packages: &[&str], place: &Path) -> Result<()> {
    fs::create_dir_all(place)?;
    run(command("npm").args(["install", "--silent", "--no-save"]).args(packages).arg("--prefix").arg(place))
}

/// Installs the suite, and returns its program.
fn suite() -> Result<PathBuf> {
    let place = target().join("mcp/conformance");
    install(&[CONFORMANCE], &place)?;
    let program = place.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let version = output(command("node").arg("--version"))?;
    let major: u32 = version.trim().trim_start_matches('v').split('.').next().unwrap_or_default().parse()?;
    if major >= 22 {
        return Ok(program);
    }
    // The suite imports `globSync` for its assessment of SDKs, which older versions of Node.js do not have.
    let text = fs::read_to_string(&program)?;
    let without = text.replacen("globSync as o,", "", 1);
    if without == text {
        bail!("`{}` has another form: use Node.js 22 or later", program.display());
    }
    let patched = program.with_file_name("index-node20.js");
    fs::write(&patched, without)?;
    Ok(patched)
}
