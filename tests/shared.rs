//! Releases in a real registry of containers: Debian's `docker-registry`, which `cargo xtask test --full` installs.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tollhouse_tests::{Home, Ran, components};

/// `ada:secret`, as htpasswd and as Docker's config write it.
const PASSWORDS: &str = "ada:$2b$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a\n";
const ADA: &str = "YWRhOnNlY3JldA==";

/// The registry, on a port of its own, until this is dropped.
struct Server {
    process: Child,
    host: String,
}

impl Server {
    fn start(directory: &Path, private: bool) -> Self {
        let port = TcpListener::bind(("127.0.0.1", 0)).and_then(|it| it.local_addr()).expect("a port is free").port();
        let (root, passwords) = (directory.join("registry-data"), directory.join("htpasswd"));
        std::fs::write(&passwords, PASSWORDS).expect("the home can be written");
        let mut config = json!({
            "version": 0.1,
            "log": { "level": "error", "accesslog": { "disabled": true } },
            "storage": { "filesystem": { "rootdirectory": root } },
            "http": { "addr": format!("127.0.0.1:{port}") },
        });
        if private {
            config["auth"] = json!({ "htpasswd": { "realm": "test", "path": passwords } });
        }
        let path = directory.join("registry.yml");
        // JSON is YAML.
        std::fs::write(&path, config.to_string()).expect("the home can be written");
        let mut command = Command::new("docker-registry");
        let command = command.arg("serve").arg(path).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().expect("docker-registry is installed: run `cargo xtask test --full`");
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "the registry does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { process, host: format!("localhost:{port}") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended of itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The type of a list of images.
const LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";

/// Puts something there by hand.
fn put(host: &str, path: &str, private: bool, media_type: &str, body: &str) {
    let mut stream = TcpStream::connect(host).expect("it listens");
    let authorization = if private { format!("authorization: Basic {ADA}\r\n") } else { String::new() };
    let length = body.len();
    let head = format!("PUT {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{authorization}");
    write!(stream, "{head}content-type: {media_type}\r\ncontent-length: {length}\r\n\r\n{body}").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
}

fn run(home: &Home, docker: Option<&Path>, words: &[&str]) -> Ran {
    let mut command = home.command(words);
    command.envs(docker.map(|directory| ("DOCKER_CONFIG", directory)));
    Ran::of(&command.output().expect("the binary is built"))
}

fn json_of(ran: &Ran) -> Value {
    assert_eq!(ran.status, 0, "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("no JSON: {ran:?}"))
}

#[test]
fn release_on_a_real_container_registry_is_pushed_pulled_and_run() {
    for private in [false, true] {
        let (home, other) = (Home::with_tools(&["stats"]), Home::new());
        let server = Server::start(home.path(), private);
        let config = json!({ "auths": { server.host.clone(): { "auth": ADA } } });
        home.file("config.json", config.to_string());
        let docker = private.then(|| home.path());
        let key = run(&home, None, &["registry", "keygen", "--out", "our.key"]).stdout.trim().to_owned();
        run(&home, None, &["registry", "sign", "tollhouse:stats@0.1.0", "--key", "our.key"]);
        let repository = format!("{}/acme/stats", server.host);
        let push = ["registry", "push", "tollhouse:stats", &repository, "--json"];
        if private {
            let refused = run(&home, None, &push);
            assert!(refused.status == 1 && refused.stderr.contains("docker login"), "{refused:?}");
        }
        let pushed = json_of(&run(&home, docker, &push));
        assert_eq!(json_of(&run(&home, docker, &push))["already"], true);
        let digest = pushed["digest"].as_str().expect("a digest");
        let reference = format!("{repository}:0.1.0@{digest}");
        let pulled = json_of(&run(&other, docker, &["registry", "pull", &reference, "--json"]));
        assert_eq!(pulled["signed"], json!([key]), "{pulled}");
        // Another release does not take its tag.
        home.file("echo.wasm", components::echo("", "u32"));
        assert_eq!(run(&home, None, &["publish", "echo.wasm"]).status, 0);
        let tagged = format!("{repository}:0.1.0");
        let refused = run(&home, docker, &["registry", "push", "test:echo", &tagged]);
        assert!(refused.status == 1 && refused.stderr.contains("exists with other content"), "{refused:?}");
        json_of(&run(&home, docker, &["registry", "push", "test:echo", &tagged, "--force", "--json"]));
        let moved = run(&Home::new(), docker, &["registry", "pull", &reference]);
        assert!(moved.status == 1 && moved.stderr.contains("has moved"), "{moved:?}");
        // Nor does it take one of an image, or of a list of images.
        let image = json!({ "schemaVersion": 2, "mediaType": LIST, "manifests": [] }).to_string();
        put(&server.host, "/v2/acme/stats/manifests/image", private, LIST, &image);
        let refused = run(&home, docker, &["registry", "push", "test:echo", &format!("{repository}:image")]);
        assert!(refused.status == 1 && refused.stderr.contains("exists with other content"), "{refused:?}");
        let refused = run(&other, docker, &["registry", "pull", &format!("{repository}:image")]);
        assert!(refused.status == 1 && refused.stderr.contains(LIST), "{refused:?}");
        drop(server);
        let again = json_of(&run(&other, docker, &["registry", "pull", &reference, "--json"]));
        assert_eq!(again["already"], true, "{again}");
        let ran = other.js("return (await stats.describe({values: [1, 2, 3]})).mean", &["--allow", "**"]);
        assert_eq!(ran["value"], 2, "{ran}");
    }
}
