//! MCP servers at a URL: what they are sent, and what becomes of those that misbehave.
//!
//! The server is a fixture in Python's standard library, on loopback, which does as its tools say.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse_tests::server::{AUTHORITY, Server};
use tollhouse_tests::{Home, Ran, root};

/// Fixture that runs, until this is dropped.
pub(super) struct Remote {
    child: Child,
    port: u16,
}

impl Remote {
    /// Starts the fixture in a mode. `trace` is where it notes whoever follows its redirects.
    pub(super) fn start(mode: &str, trace: &Path) -> Self {
        Self::start_with(mode, trace, &[])
    }

    /// Starts the fixture with further arguments.
    pub(super) fn start_with(mode: &str, trace: &Path, more: &[&str]) -> Self {
        let script = root().join("tests/mcp-server/remote.py");
        let mut command = Command::new("python3");
        command.args(["-I".as_ref(), script.as_os_str(), mode.as_ref(), trace.as_os_str()]).args(more);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("there is Python");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut line).expect("it prints its port");
        Self { port: line.trim().parse().expect("a port"), child }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    pub(super) fn policy(&self, keys: &str) -> String {
        let url = self.url();
        format!("[tools]\n[mcp.hub]\nurl = \"{url}\"\n{keys}\n[[grant]]\nmethod = \"hub/**\"\n")
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) const ALLOWED: [&str; 4] = ["--policy", "policy.toml", "--allow-exec", "hub"];

pub(super) fn lock(home: &Home) -> Ran {
    home.run(["mcp", "lock"].iter().chain(&ALLOWED))
}

/// Starts the fixture in its normal mode, and pins its tools.
fn pinned(keys: &str) -> (Home, Remote) {
    let home = Home::new();
    let remote = Remote::start("normal", &home.path().join("stolen"));
    home.file("policy.toml", remote.policy(keys));
    let ran = lock(&home);
    assert_eq!(ran.status, 0, "{ran:?}");
    (home, remote)
}

#[test]
fn mcp_server_at_url_is_called_as_a_program_is() {
    let (home, remote) = pinned("");
    let ran = home.js("return [await hub.echo({text: 'hi'}), await hub.stream({text: 'there'})]", &ALLOWED);
    assert_eq!(ran["value"], json!(["hi", "there"]), "{ran}");
    let ran = home.js("await hub.echo({text: 1})", &ALLOWED);
    assert_eq!(ran["error"]["kind"], "argument", "{ran}");
    let listed = home.run(["mcp", "ls", "--policy", "policy.toml"]);
    assert!(listed.stdout.contains(&format!("http://127.0.0.1:{}/mcp", remote.port)), "{listed:?}");
    let tested = home.run(["mcp", "test", "hub", "--policy", "policy.toml"]);
    assert_eq!(tested.status, 0, "{tested:?}");
}

#[test]
fn connection_with_mcp_server_at_url_is_reused_and_replaced_once_closed() {
    let (home, _remote) = pinned("");
    let code = "const places = new Set(); \
        for (let i = 0; i < 20; i++) places.add(await hub.place({text: ''})); \
        try { await hub.drop({text: ''}) } catch {} \
        const again = await hub.place({text: ''}); \
        await Promise.all([hub.place({text: ''}), hub.place({text: ''}), hub.stream({text: 'x'})]); \
        return [places.size, places.has(again)]";
    let ran = home.js(code, &ALLOWED);
    assert_eq!(ran["value"], json!([1, false]), "{ran}");
}

#[test]
fn mcp_server_whose_certificate_nobody_trusts_is_sent_nothing() {
    let home = Home::new();
    let server = Server::start_tls(|_| ("200 OK", Vec::new(), Vec::new()));
    home.file("hub", "hunter2");
    let authority = home.file("authority.pem", AUTHORITY);
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("https://{host}:{}/mcp", server.port());
        home.file(
            "policy.toml",
            format!(
                "[tools]\n[mcp.hub]\nurl = \"{url}\"\nheaders = {{ Authorization = \"Bearer secret:HUB\" }}\n\
                 [[grant]]\nmethod = \"hub/**\"\n"
            ),
        );
        let secret = format!("HUB=file:{}", home.path().join("hub").display());
        let words = ["mcp", "lock"].iter().chain(&ALLOWED).copied().chain(["--secret", secret.as_str()]);
        // Also not if its authority is trusted: the certificate is for another name.
        for trusted in [None, Some(&authority)] {
            let mut command = home.command(words.clone());
            command.envs(trusted.map(|path| ("SSL_CERT_FILE", path)));
            let ran = Ran::of(&command.output().expect("the binary is built"));
            assert!(ran.status != 0 && ran.stderr.contains("cannot be secured"), "{trusted:?} {ran:?}");
        }
    }
    assert_eq!(server.seen(), Vec::<String>::new(), "no request, and no secret");
}

#[test]
fn mcp_server_at_url_is_not_connected_with_unless_the_operator_names_it() {
    let (home, remote) = pinned("");
    // Whoever would connect gets no answer: the port is closed.
    drop(remote);
    let policy = ["--policy", "policy.toml"];
    for command in [&["tools"][..], &["types"], &["policy", "check"], &["run", "-e", "return 1"]] {
        let ran = home.run(command.iter().chain(&policy));
        assert_eq!(ran.status, 0, "{command:?} {ran:?}");
    }
    let ran = home.js("await hub.echo({text: 'x'})", &policy);
    let told = ran["error"].to_string();
    assert!(told.contains("--allow-exec hub"), "{ran}");
    let refused = home.run(["run", "-e", "return 1"].iter().chain(&ALLOWED));
    assert_ne!(refused.status, 0, "{refused:?}");
    assert!(refused.stderr.contains("no connection can be made"), "{refused:?}");
}

#[test]
fn header_of_mcp_server_has_the_value_of_its_secret_which_results_do_not_show() {
    let home = Home::new();
    let remote = Remote::start("closed", &home.path().join("stolen"));
    home.file("policy.toml", remote.policy("headers = { Authorization = \"Bearer secret:HUB\", X-Team = \"blue\" }"));
    let missing = lock(&home);
    assert!(missing.status == 2 && missing.stderr.contains("--secret HUB="), "{missing:?}");
    home.file("wrong", "hunter3");
    home.file("right", "hunter2");
    let with = |file: &str| ["--secret".to_owned(), format!("HUB=file:{}", home.path().join(file).display())];
    let all = |start: &[&str], file: &str| -> Vec<String> {
        start.iter().chain(&ALLOWED).map(|word| (*word).to_owned()).chain(with(file)).collect()
    };
    let wrong = home.run(all(&["mcp", "lock"], "wrong"));
    assert!(wrong.status != 0 && wrong.stderr.contains("HTTP 401"), "{wrong:?}");
    let right = home.run(all(&["mcp", "lock"], "right"));
    assert_eq!(right.status, 0, "{right:?}");
    let called = home.run(all(&["call", "hub/headers", "{\"text\": \"\"}"], "right"));
    assert_eq!(called.status, 0, "{called:?}");
    assert!(called.stdout.to_lowercase().contains("\"x-team\": \"blue\""), "{called:?}");
    assert!(!called.stdout.contains("hunter2") && called.stdout.contains("Bearer"), "{called:?}");
}

#[test]
fn redirect_of_mcp_server_is_not_followed() {
    let (home, _remote) = pinned("headers = { X-Team = \"blue\" }");
    let ran = home.js("await hub.redirect({text: ''})", &ALLOWED);
    assert!(ran["error"]["message"].as_str().expect("an error").contains("redirects (HTTP 307)"), "{ran}");
    let trace = home.path().join("stolen");
    let other = Remote::start("redirect", &trace);
    home.file("policy.toml", other.policy(""));
    let refused = lock(&home);
    assert!(refused.status != 0 && refused.stderr.contains("redirects (HTTP 307)"), "{refused:?}");
    assert!(!trace.exists(), "nobody came there");
}

#[test]
fn mcp_server_at_url_that_misbehaves_fails_its_calls_and_the_run_goes_on() {
    let (home, _remote) = pinned("timeout = \"2s\"");
    let begun = Instant::now();
    for (call, told) in [
        ("hub.flood({text: ''})", "nobody asked for"),
        ("hub.long({text: 'event'})", "closed before its final response"),
        ("hub.long({text: 'comments'})", "closed before its final response"),
        ("hub.huge({text: ''})", "more than 64 bits"),
        ("hub.huge({text: 'event'})", "closed before its final response"),
        ("hub.lie({text: ''})", "ended the connection"),
        ("hub.mute({text: ''})", "not answered within 2000 ms"),
        ("hub.drop({text: ''})", "ended the connection"),
        ("hub.gone({text: ''})", "has ended the session"),
    ] {
        let code = format!("try {{ await {call} }} catch (error) {{ return error.name + error.message }}");
        let ran = home.js(&code, &ALLOWED);
        let value: &Value = &ran["value"];
        assert!(value.as_str().is_some_and(|value| value.contains("Error")), "{call}: {ran}");
        assert!(value.as_str().is_some_and(|value| value.contains(told)), "{call}: {ran}");
    }
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
}

#[test]
fn mcp_server_at_url_with_other_definitions_is_refused() {
    let (home, remote) = pinned("");
    drop(remote);
    let changed = Remote::start("changed", &home.path().join("stolen"));
    home.file("policy.toml", changed.policy(""));
    let ran = home.run(["run", "-e", "return 1"].iter().chain(&ALLOWED));
    assert!(ran.status == 2 && ran.stderr.contains("differ from the pinned ones"), "{ran:?}");
    assert!(ran.stderr.contains("Changed."), "{ran:?}");
    let html = Remote::start("html", &home.path().join("stolen"));
    home.file("policy.toml", html.policy(""));
    let ran = lock(&home);
    assert!(ran.status != 0 && ran.stderr.contains("does not speak the Model Context Protocol"), "{ran:?}");
}

#[test]
fn mcp_add_writes_a_server_at_a_url() {
    let home = Home::new();
    let add = ["mcp", "add", "hub", "--policy", "p.toml", "--url", "https://mcp.example.com/mcp"];
    let added = home.run(add.iter().chain(&["--header", "Authorization=Bearer secret:HUB"]));
    assert_eq!(added.status, 0, "{added:?}");
    assert!(added.stderr.contains("--secret HUB="), "{added:?}");
    let text = std::fs::read_to_string(home.path().join("p.toml")).expect("it was written");
    assert!(text.contains("url = \"https://mcp.example.com/mcp\""), "{text}");
    assert!(text.contains("Authorization = \"Bearer secret:HUB\""), "{text}");
    let other = home.file(
        "mcp.json",
        "{\"mcpServers\": {\"Git Hub\": {\"url\": \"https://hub.example.com/\", \"headers\": {\"Authorization\": \"Bearer x\"}}}}",
    );
    let added = home.run(["mcp", "add", "--policy", "q.toml", "--from", &other.display().to_string()]);
    assert_eq!(added.status, 0, "{added:?}");
    let text = std::fs::read_to_string(home.path().join("q.toml")).expect("it was written");
    assert!(text.contains("secret:GIT_HUB_AUTHORIZATION") && !text.contains("Bearer x"), "{text}");
    let open = home.run(["mcp", "add", "hub", "--policy", "r.toml", "--url", "http://mcp.example.com/"]);
    assert!(open.status == 2 && open.stderr.contains("must begin with `https://`"), "{open:?}");
}
