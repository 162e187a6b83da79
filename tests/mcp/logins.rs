//! Logins at servers at a URL, by OAuth: the browser is this test, and the authorization server is the fixture's.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use tollhouse_tests::{Home, Ran};

use super::remote_servers::{ALLOWED, Remote, lock};

/// Answer of a server to a browser.
fn get(address: &str) -> String {
    let rest = address.strip_prefix("http://").unwrap_or_else(|| panic!("{address}"));
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut stream = TcpStream::connect(host).expect("it listens");
    write!(stream, "GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it is text");
    answer
}

/// Command that waits for a browser, and the address that the user opens.
struct WaitingLogin {
    child: Child,
    address: String,
}

impl WaitingLogin {
    fn start(home: &Home) -> Self {
        Self::start_with(home, &[])
    }

    fn start_with(home: &Home, more: &[&str]) -> Self {
        Self::start_at(home, &[&["hub", "--policy", "policy.toml"], more].concat())
    }

    fn start_at(home: &Home, words: &[&str]) -> Self {
        let mut command = home.command(["mcp", "login"].iter().chain(words));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary is built");
        let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let (mut said, mut line) = (String::new(), String::new());
        while !line.starts_with("http") {
            said.push_str(&line);
            line.clear();
            assert_ne!(stderr.read_line(&mut line).expect("it is text"), 0, "{said}");
        }
        assert!(said.contains("and you log in at `127.0.0.1:"), "{said}");
        child.stderr = Some(stderr.into_inner());
        Self { child, address: line.trim().to_owned() }
    }

    /// Returns where the authorization server sends the browser.
    fn redirect(&self) -> String {
        let answer = get(&self.address);
        let location = answer.lines().find_map(|line| line.strip_prefix("Location: "));
        location.unwrap_or_else(|| panic!("{answer}")).trim().to_owned()
    }

    fn end(self) -> Ran {
        Ran::of(&self.child.wait_with_output().expect("it ends"))
    }
}

/// Home with a policy of the fixture, in a mode of its authorization server whose tokens live so long.
fn home(mode: &str, life: &str) -> (Home, Remote) {
    let home = Home::new();
    let remote = Remote::start_with(mode, &home.path().join("stolen"), &[life]);
    home.file("policy.toml", remote.policy(""));
    (home, remote)
}

/// Logs in, and pins the tools.
fn logged_in(life: &str) -> (Home, Remote) {
    let (home, remote) = home("oauth", life);
    let waiting = WaitingLogin::start(&home);
    let shown = get(&waiting.redirect());
    assert!(shown.contains("You are logged in"), "{shown}");
    let ran = waiting.end();
    assert_eq!(ran.status, 0, "{ran:?}");
    let ran = lock(&home);
    assert_eq!(ran.status, 0, "{ran:?}");
    (home, remote)
}

/// Returns the contents of all files below a directory.
fn contents(directory: &Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(directory).expect("it is a directory").flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => all.push_str(&contents(&entry.path())),
            Ok(kind) if kind.is_file() => {
                all.push_str(&String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap_or_default()));
            }
            _ => {}
        }
    }
    all
}

fn js(home: &Home, code: &str) -> Value {
    home.js(code, &ALLOWED)
}

#[test]
fn login_is_stored_encrypted_and_used_without_being_shown() {
    let (home, _remote) = logged_in("3600");
    assert!(!contents(home.path()).contains("hunter2"), "no token lies in a file as it is");
    let listed = home.run(["mcp", "ls", "--policy", "policy.toml"]);
    assert!(listed.stdout.contains("has your login"), "{listed:?}");
    let ran = js(&home, "return [await hub.echo({text: 'hi'}), (await hub.headers({text: ''})).authorization]");
    assert_eq!(ran["value"], json!(["hi", "Bearer {{secret:login}}"]), "{ran}");
    assert!(!contents(home.path()).contains("hunter2"));
}

#[test]
fn access_token_that_has_ended_is_renewed_and_the_refresh_token_rotated() {
    let (home, _remote) = logged_in("3600");
    // Each refresh token is accepted once: the second run has that which the first one got.
    for _ in 0..2 {
        let ran = js(&home, "await hub.expire({text: ''}); return await hub.echo({text: 'on'})");
        assert_eq!(ran["value"], "on", "{ran}");
    }
    // Tokens that end at once are renewed before each request, also by processes at the same time.
    let (home, _remote) = logged_in("1");
    let runs: Vec<Value> = std::thread::scope(|scope| {
        let code = "for (let i = 0; i < 5; i++) await hub.echo({text: 'x'}); return 'done'";
        let runs: Vec<_> = (0..3).map(|_| scope.spawn(|| js(&home, code))).collect();
        runs.into_iter().map(|run| run.join().expect("it runs")).collect()
    });
    assert!(runs.iter().all(|ran| ran["value"] == "done"), "{runs:#?}");
}

#[test]
fn login_that_was_revoked_is_an_error_that_says_what_to_type() {
    let (home, _remote) = logged_in("3600");
    let ran = js(&home, "await hub.revoke({text: ''}); return await hub.echo({text: 'on'})");
    let told = ran["error"]["message"].as_str().unwrap_or_default();
    assert!(told.contains("it was revoked") && told.contains("`tollhouse mcp login NAME --policy FILE`"), "{ran}");
    let refused = home.run(["run", "-e", "return 1"].iter().chain(&ALLOWED));
    assert!(refused.status != 0 && refused.stderr.contains("tollhouse mcp login"), "{refused:?}");
}

#[test]
fn login_of_one_address_is_not_used_at_another_or_after_logout() {
    let (home, remote) = logged_in("3600");
    home.file("policy.toml", remote.policy("").replace("/mcp\"", "/mcp/other\""));
    let refused = lock(&home);
    assert!(refused.status != 0 && refused.stderr.contains("or a login"), "{refused:?}");
    home.file("policy.toml", remote.policy(""));
    assert_eq!(js(&home, "return await hub.echo({text: 'hi'})")["value"], "hi");
    let out = home.run(["mcp", "logout", "hub", "--policy", "policy.toml"]);
    assert_eq!(out.status, 0, "{out:?}");
    let refused = lock(&home);
    assert!(refused.status != 0 && refused.stderr.contains("or a login"), "{refused:?}");
    assert_eq!(home.run(["mcp", "logout", "hub", "--policy", "policy.toml"]).status, 2);
}

#[test]
fn login_at_an_address_needs_no_policy_and_is_the_one_of_a_policy_with_that_address() {
    let (home, remote) = home("oauth", "3600");
    let url = remote.url();
    let waiting = WaitingLogin::start_at(&home, &["--url", &url]);
    let shown = get(&waiting.redirect());
    assert!(shown.contains("You are logged in"), "{shown}");
    let ran = waiting.end();
    assert!(ran.status == 0 && ran.stdout == format!("logged in at {url}\n"), "{ran:?}");
    let ran = lock(&home);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(js(&home, "return await hub.echo({text: 'hi'})")["value"], "hi");
    let out = home.run(["mcp", "logout", "--url", &url]);
    assert_eq!(out.status, 0, "{out:?}");
    assert_eq!(home.run(["mcp", "logout", "--url", &url]).status, 2);
    for words in
        [&["--url", &url, "hub"][..], &["--url", &url, "--policy", "policy.toml"], &["hub"], &["--url", "hub"], &[]]
    {
        let ran = home.run(["mcp", "login"].iter().chain(words));
        assert_eq!(ran.status, 2, "{words:?}: {ran:?}");
    }
}

#[test]
fn answer_that_is_not_of_the_authorization_server_logs_nobody_in() {
    let (home, _remote) = home("oauth-foreign", "3600");
    let waiting = WaitingLogin::start(&home);
    let redirect = waiting.redirect();
    // Whoever does not know the state is not heard.
    let (callback, _) = redirect.split_once('?').expect("a query");
    assert!(get(&format!("{callback}?code=code-5&state=guessed")).starts_with("HTTP/1.1 404"));
    get(&redirect);
    let ran = waiting.end();
    assert!(ran.status != 0 && ran.stderr.contains("another authorization server"), "{ran:?}");
    let listed = home.run(["mcp", "ls", "--policy", "policy.toml"]);
    assert!(!listed.stdout.contains("has your login"), "{listed:?}");
    // A server that asks for no login gives none.
    let open = Remote::start("normal", &home.path().join("stolen"));
    home.file("policy.toml", open.policy(""));
    let ran = home.run(["mcp", "login", "hub", "--policy", "policy.toml"]);
    assert!(ran.status == 2 && ran.stderr.contains("asks for no login"), "{ran:?}");
}

/// A hostile authorization server that names the authorization endpoint of an honest one gets no code of it.
#[test]
fn login_at_one_host_with_tokens_of_another_is_refused_unless_the_user_names_the_host() {
    let (home, _remote) = home("oauth-mixed", "3600");
    let ran = home.run(["mcp", "login", "hub", "--policy", "policy.toml"]);
    assert!(ran.status != 0 && ran.stderr.contains("tokens come from `localhost:"), "{ran:?}");
    assert!(
        !ran.stderr.contains("open this address") && ran.stderr.contains("--authorization-host 127.0.0.1:"),
        "{ran:?}"
    );
    let other = home.run(["mcp", "login", "hub", "--policy", "policy.toml", "--authorization-host", "x.example"]);
    assert!(other.status != 0 && other.stderr.contains("not the host that you named"), "{other:?}");
    // The twin: the user knows that both are of one server.
    let waiting = WaitingLogin::start_with(&home, &["--authorization-host", "127.0.0.1"]);
    let shown = get(&waiting.redirect());
    assert!(shown.contains("You are logged in"), "{shown}");
    assert_eq!(waiting.end().status, 0);
}
