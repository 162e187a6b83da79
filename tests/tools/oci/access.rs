//! How registries of containers are reached: who is told the credentials, and what is trusted.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};
use tollhouse_tests::oci::{OciRegistry, RegistryResponse};
use tollhouse_tests::server::{AUTHORITY, Server};
use tollhouse_tests::{Home, Ran, components};

use super::{MANIFEST, REPOSITORY, foreign, listed};

/// Docker's config with a name and a password for a host.
fn docker(home: &Home, config: &Value) -> BTreeMap<&'static str, String> {
    let directory = home.path().join("docker");
    std::fs::create_dir_all(&directory).expect("the home can be written");
    std::fs::write(directory.join("config.json"), config.to_string()).expect("the home can be written");
    BTreeMap::from([("DOCKER_CONFIG", directory.display().to_string())])
}

fn pull_with(home: &Home, environment: &BTreeMap<&'static str, String>, oci: &OciRegistry) -> Ran {
    let reference = format!("{}/{REPOSITORY}:1.0.0", oci.host());
    let output = home.command(["registry", "pull", &reference]).envs(environment).output();
    Ran::of(&output.expect("the binary is built"))
}

/// Credentials `ada:secret`, in base64.
const ADA: &str = "YWRhOnNlY3JldA==";

/// A registry that wants `ada:secret`, as it is or for a token; its blobs lie elsewhere.
fn private(bearer: bool, elsewhere: Option<String>) -> OciRegistry {
    let oci = OciRegistry::start(move |asked| {
        let host = asked.header("host").unwrap_or_default();
        let basic = asked.header("authorization") == Some(format!("Basic {ADA}").as_str());
        let allowed = if bearer { asked.header("authorization") == Some("Bearer t0ken") } else { basic };
        if asked.path.starts_with("/token") {
            let scope = "scope=repository%3Aacme%2Fstats%3Apull&service=s%20t";
            let good = basic && asked.path.ends_with(scope);
            return Some(if good {
                RegistryResponse::new("200 OK", "", "{\"token\":\"t0ken\"}")
            } else {
                RegistryResponse::new("401 Unauthorized", "", "")
            });
        }
        if !allowed {
            let bearer_challenge = format!(
                "www-authenticate: Bearer realm=\"http://{host}/token\",service=\"s t\",scope=\"repository:*:*\""
            );
            let challenge = if bearer { &bearer_challenge } else { "www-authenticate: Basic realm=\"x\"" };
            return Some(RegistryResponse::new("401 Unauthorized", challenge, ""));
        }
        let elsewhere = elsewhere.as_ref().filter(|_| asked.path.contains("/blobs/"))?;
        let location = format!("location: http://{elsewhere}{}", asked.path);
        Some(RegistryResponse::new("307 Temporary Redirect", &location, ""))
    });
    foreign(&oci, &components::echo("", "u32"), "1.0.0");
    oci
}

#[test]
fn credentials_are_sent_to_their_registry_only() {
    for bearer in [false, true] {
        let elsewhere = OciRegistry::default();
        foreign(&elsewhere, &components::echo("", "u32"), "1.0.0");
        let oci = private(bearer, Some(elsewhere.host()));
        let home = Home::new();
        let none = pull_with(&home, &BTreeMap::new(), &oci);
        assert!(none.status == 1 && none.stderr.contains("docker login"), "{none:?}");
        let wrong = docker(&home, &json!({ "auths": { oci.host(): { "auth": "YWRhOndyb25n" } } }));
        let wrong = pull_with(&home, &wrong, &oci);
        assert!(wrong.status == 1 && wrong.stderr.contains("rejects the credentials"), "{wrong:?}");
        assert!(!wrong.stderr.contains("wrong") || !wrong.stderr.contains("YWRh"), "{wrong:?}");
        let right =
            docker(&home, &json!({ "auths": { oci.host(): { "auth": ADA }, "other.example": { "auth": "eDp5" } } }));
        let right = pull_with(&home, &right, &oci);
        assert_eq!(right.status, 0, "{right:?}");
        assert!(!elsewhere.seen().is_empty(), "the blobs lie there");
        assert!(elsewhere.seen().iter().all(|asked| asked.header("authorization").is_none()), "{:?}", elsewhere.seen());
    }
}

/// A registry of this machine is asked without TLS; it sends nobody to another machine so.
#[test]
fn registry_of_this_machine_sends_to_no_other_without_tls() {
    for elsewhere in ["192.0.2.1:1", "169.254.169.254"] {
        let oci = OciRegistry::start(move |asked| {
            let location = format!("location: http://{elsewhere}{}", asked.path);
            asked.path.contains("/blobs/").then(|| RegistryResponse::new("307 Temporary Redirect", &location, ""))
        });
        foreign(&oci, &components::echo("", "u32"), "1.0.0");
        let ran = pull_with(&Home::new(), &BTreeMap::new(), &oci);
        assert!(ran.status == 1 && ran.stderr.contains("which is not followed"), "{ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn credentials_come_from_a_helper() {
    use std::os::unix::fs::PermissionsExt as _;
    let (oci, home) = (private(false, None), Home::new());
    let helper = |text: &str| {
        let path = home.file("docker-credential-test", text);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    };
    let mut environment = docker(&home, &json!({ "auths": {}, "credsStore": "test" }));
    environment.insert("PATH", format!("{}:/usr/bin:/bin", home.path().display()));
    helper(
        "#!/bin/sh\nread -r host\n[ \"$host\" = \"${host#localhost:}\" ] && exit 1\necho '{\"Username\":\"ada\",\"Secret\":\"secret\"}'\n",
    );
    let ran = pull_with(&home, &environment, &oci);
    assert_eq!(ran.status, 0, "{ran:?}");
    let other = Home::new();
    helper("#!/bin/sh\nread -r host\necho 'credentials not found in native keychain'\nexit 1\n");
    let ran = pull_with(&other, &environment, &oci);
    assert!(ran.status == 1 && ran.stderr.contains("none are configured"), "{ran:?}");
    helper("#!/bin/sh\nread -r host\necho 'half of secret'\nexit 1\n");
    let ran = pull_with(&other, &environment, &oci);
    assert!(ran.status == 1 && ran.stderr.contains("`docker-credential-test` fails"), "{ran:?}");
    assert!(!ran.stderr.contains("half of"), "{ran:?}");
}

/// A proxy that connects whoever asks to one port of this machine.
fn proxy(to: u16) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = TcpStream::connect(("127.0.0.1", to)).expect("it listens");
            let mut client = BufReader::new(client);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && client.read_line(&mut head).is_ok_and(|count| count > 0) {}
            assert!(head.starts_with("CONNECT api.test:443 "), "{head}");
            let client = client.into_inner();
            let pairs = [(client.try_clone(), server.try_clone()), (Ok(server), Ok(client))];
            let [(Ok(from), Ok(mut out)), (Ok(back), Ok(mut home))] = pairs else { return };
            home.write_all(b"HTTP/1.1 200 OK\r\n\r\n").expect("it waits");
            // Either may hang up first.
            std::thread::spawn(move || drop(std::io::copy(&mut &from, &mut out)));
            std::thread::spawn(move || drop(std::io::copy(&mut &back, &mut home)));
        }
    });
    port
}

#[test]
fn registry_on_another_machine_is_reached_by_tls_only() {
    let kept = OciRegistry::default();
    foreign(&kept, &components::echo("", "u32"), "1.0.0");
    let server = Server::start_tls(move |head| {
        let path = head.split(' ').nth(1).and_then(|path| path.strip_prefix("/v2/")).unwrap_or_default();
        match kept.get(path) {
            Some(bytes) => ("200 OK", vec![format!("content-type: {MANIFEST}")], bytes),
            None => ("404 Not Found", Vec::new(), Vec::new()),
        }
    });
    let home = Home::new();
    let authority = home.file("authority.pem", AUTHORITY).display().to_string();
    let proxy = format!("http://127.0.0.1:{}", proxy(server.port()));
    let pull = |environment: &[(&str, &str)]| {
        let mut command = home.command(["registry", "pull", "api.test/acme/stats:1.0.0"]);
        Ran::of(&command.env("HTTPS_PROXY", &proxy).envs(environment.iter().copied()).output().expect("it runs"))
    };
    let stranger = pull(&[]);
    assert!(stranger.status == 1 && stranger.stderr.contains("certificate"), "{stranger:?}");
    assert_eq!((listed(&home), server.seen().len()), (json!([]), 0), "nothing was asked");
    let ran = pull(&[("SSL_CERT_FILE", &authority)]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(listed(&home)[0]["name"], "test:echo");
}
