//! Secrets: where their values come from, where they go, and that nobody reads them on the way back. Each thing that is
//! granted has a twin that is not.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::{Value, json};
use tollhouse::capability::Policy;
use tollhouse::session::{Host, HostOptions, SessionOptions};
use tollhouse::tool::{Network, Resolver, Secrets};
use tollhouse_tests::server::{Answer, Server};
use tollhouse_tests::{Home, Ran, components};

/// A server that sends the head of a request back, as it is.
fn echo(head: &str) -> Answer {
    ("200 OK", vec!["content-type: text/plain".to_owned()], head.as_bytes().to_vec())
}

/// The value of this header in the head of a request.
fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let value = |line: &'a str| line.strip_prefix(name)?.strip_prefix(": ");
    head.lines().find_map(value).unwrap_or_default()
}

/// A policy that grants every method of `http`, and to the tool this server and what `secrets` says.
fn policy(server: &Server, secrets: &str) -> String {
    format!(
        "[tools]\nhttp = \"tollhouse:http\"\n[[grant]]\nmethod = \"http/*\"\n\
         [tool.http]\nhttp = [\"http://127.0.0.1:{}\"]\nsecrets = [{secrets}]\n",
        server.port()
    )
}

/// Fetches with these headers and this form of the body, and returns the answer, or the error's message and hint.
fn fetch(home: &Home, server: &Server, headers: &Value, form: &str, sources: &[&str]) -> Value {
    let url = format!("http://127.0.0.1:{}/v1", server.port());
    let arguments = json!({ "url": url, "headers": headers, "as": form });
    let script = format!(
        "try {{ return await http.fetch({arguments}) }} catch (error) {{ return `${{error.message}} | ${{error.hint}}` }}"
    );
    let options = ["--policy", "policy.toml", "--audit", "audit.jsonl"];
    let sources = sources.iter().flat_map(|source| ["--secret", source]);
    let options: Vec<&str> = options.into_iter().chain(sources).collect();
    home.js(&script, &options)["value"].clone()
}

fn log(home: &Home) -> String {
    std::fs::read_to_string(home.path().join("audit.jsonl")).expect("it was written")
}

/// Returns the text of an answer that is given as bytes, which are base64 in JSON.
fn bytes(home: &Home, server: &Server, headers: &Value, sources: &[&str]) -> String {
    let url = format!("http://127.0.0.1:{}/v1", server.port());
    let arguments = json!({ "url": url, "headers": headers, "as": "bytes" });
    let script = format!(
        "const answer = await http.fetch({arguments});
         return [...answer.bytes].map((byte) => String.fromCharCode(byte)).join('')"
    );
    let options = ["--policy", "policy.toml"];
    let sources = sources.iter().flat_map(|source| ["--secret", source]);
    let options: Vec<&str> = options.into_iter().chain(sources).collect();
    let ran = home.js(&script, &options);
    ran["value"].as_str().map_or_else(|| ran.to_string(), str::to_owned)
}

#[test]
fn secret_echoed_by_server_is_redacted() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(echo);
    home.file("policy.toml", policy(&server, "\"KEY\", \"KEY1\", \"KEY2\", \"QUOTED\""));
    home.file("key", "s3cr3t-Value-0123456789\n");
    home.file("key1", "s3cr3t-Prefix");
    home.file("key2", "s3cr3t-Prefix-RESTOFSECRET");
    home.file("quoted", "p\"ss/w\\rd+ x");
    let sources = ["KEY=file:key", "KEY1=file:key1", "KEY2=file:key2", "QUOTED=file:quoted"];
    let headers = json!([
        ["authorization", "Bearer {{secret:KEY}}"],
        ["x-long", "{{secret:KEY2}}"],
        ["x-quoted", "<{{secret:QUOTED}}>"],
    ]);
    let told = bytes(&home, &server, &headers, &sources);
    let seen = server.seen().remove(0);
    assert_eq!(header(&seen, "authorization"), "Bearer s3cr3t-Value-0123456789", "it is on the wire");
    assert_eq!(header(&seen, "x-long"), "s3cr3t-Prefix-RESTOFSECRET");
    assert_eq!(header(&told, "authorization"), "Bearer {{secret:KEY}}", "{told}");
    assert_eq!(header(&told, "x-long"), "{{secret:KEY2}}", "{told}");
    assert_eq!(header(&told, "x-quoted"), "<{{secret:QUOTED}}>", "{told}");
    let plain = bytes(&home, &server, &json!([["x-quoted", "p\"ss/w\\rd+ y"]]), &sources);
    assert_eq!(header(&plain, "x-quoted"), "p\"ss/w\\rd+ y", "what is no secret stays: {plain}");
}

#[test]
fn secret_echoed_in_another_encoding_is_redacted() {
    let home = Home::with_tools(&["http"]);
    // In JSON, in JSON in JSON, in URLs and forms, in hexadecimal, in a page of HTML, in base32, in some of these twice, and
    // in a header.
    let server = Server::start(|head| {
        let value = header(head, "authorization");
        let json = Value::from(value).to_string();
        let percent: String = value.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let hex: String = value.bytes().map(|byte| format!("{byte:02X}")).collect();
        let unicode: String = value.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
        let html = value.replace('<', "&lt;").replace('>', "&gt;").replace('"', "&#34;").replace('/', "&#x2F;");
        // `base64.b32encode(b'<p"ss/w\\rd+ x>')` of Python.
        let base32 = "HRYCE43TF53VY4TEFMQHQPQ=".to_owned();
        // Of Python: `base64.b64encode(base64.b64encode(b'<p"ss/w\\rd+ x>'))` and, of UTF-16, hexadecimal digits and base64.
        let twice = "UEhBaWMzTXZkMXh5WkNzZ2VEND0=".to_owned();
        let wide: Vec<u8> = value.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let wide_hex: String = wide.iter().map(|byte| format!("{byte:02x}")).collect();
        let wide_base64 = "PABwACIAcwBzAC8AdwBcAHIAZAArACAAeAA+AA==".to_owned();
        let forms = [
            json.clone(),
            Value::from(json).to_string(),
            percent,
            hex,
            unicode,
            html,
            base32,
            twice,
            wide_hex,
            wide_base64,
            // The honest twin: another value in base64 twice.
            "YjNSb1pYST0=".to_owned(),
        ];
        ("200 OK", vec![format!("x-echo: {value}")], forms.join("\n").into_bytes())
    });
    home.file("policy.toml", policy(&server, "\"KEY\""));
    home.file("key", "p\"ss/w\\rd+ x");
    let headers = json!([["authorization", "<{{secret:KEY}}>"]]);
    let answer = fetch(&home, &server, &headers, "text", &["KEY=file:key"]);
    let lines: Vec<&str> = answer["text"].as_str().unwrap_or_default().lines().collect();
    assert_eq!(
        lines,
        [
            "\"<{{secret:KEY}}>\"",
            "\"\\\"<{{secret:KEY}}>\\\"\"",
            "%3c{{secret:KEY}}%3e",
            "3C{{secret:KEY}}3E",
            "\\u003c{{secret:KEY}}\\u003e",
            "&lt;{{secret:KEY}}&gt;",
            "HR{{secret:KEY}}PQ=",
            "UEh{{secret:KEY}}VEND0=",
            "3c{{secret:KEY}}3e00",
            "PA{{secret:KEY}}+AA==",
            "YjNSb1pYST0=",
        ],
        "{answer}"
    );
    let told = answer.to_string();
    assert!(told.contains("<{{secret:KEY}}>") && !told.contains("rd+"), "{told}");
}

#[test]
fn compressed_response_to_request_with_secret_is_refused() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(|_| ("200 OK", vec!["content-encoding: gzip".to_owned()], vec![0x1f, 0x8b]));
    home.file("policy.toml", policy(&server, "\"KEY\""));
    home.file("key", "s3cr3t-value");
    let with = |value: &str| {
        let headers = json!([["authorization", value], ["accept-encoding", "gzip"]]);
        fetch(&home, &server, &headers, "bytes", &["KEY=file:key"])
    };
    assert!(with("{{secret:KEY}}").as_str().is_some_and(|told| told.contains("failed")), "it is refused");
    assert!(with("plain")["status"] == 200, "another is not");
    let codings: Vec<String> = server.seen().iter().map(|head| header(head, "accept-encoding").to_owned()).collect();
    assert_eq!(codings, ["identity", "gzip"]);
}

#[test]
fn secret_bound_to_a_header_is_refused_elsewhere() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(echo);
    home.file("policy.toml", policy(&server, "{ name = \"KEY\", header = \"Authorization\" }"));
    home.file("key", "s3cr3t-value");
    let with = |name: &str| {
        fetch(&home, &server, &json!([[name, "Bearer {{secret:KEY}}"]]), "text", &["KEY=file:key"]).to_string()
    };
    assert!(with("authorization").contains("Bearer {{secret:KEY}}"));
    for name in ["x-debug", "cookie", "user-agent", "referer"] {
        let told = with(name);
        assert!(told.contains("is granted for the header `authorization`, but used in"), "{name}: {told}");
    }
    assert_eq!(server.seen().len(), 1, "nothing that was refused arrived");
    let checked = home.run(["policy", "check", "--policy", "policy.toml"]);
    assert!(checked.stdout.contains("KEY (in the header `authorization` only)"), "{checked:?}");
    home.file("policy.toml", policy(&server, "{ name = \"KEY\", header = \"a b\" }"));
    let refused = home.run(["policy", "check", "--policy", "policy.toml"]);
    assert!(refused.status == 2 && refused.stderr.contains("not a valid header name"), "{refused:?}");
}

#[test]
fn secret_used_is_logged_without_its_value() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(echo);
    home.file("policy.toml", policy(&server, "\"KEY\", \"OTHER\""));
    home.file("key", "s3cr3t-value");
    home.file("other", "another-value");
    let sources = ["KEY=file:key", "OTHER=file:other"];
    let used = |home: &Home| {
        let used = |line: &str| {
            let event: Value = serde_json::from_str(line).expect("a line is JSON");
            (event["event"] == "secret_used").then(|| json!([event["secret"], event["tool"], event["to"]]))
        };
        log(home).lines().filter_map(used).collect::<Vec<Value>>()
    };
    fetch(&home, &server, &json!([["x-plain", "1"]]), "text", &sources);
    fetch(&home, &server, &json!([["x-key", "{{secret:UNKNOWN}}"]]), "text", &sources);
    assert_eq!(used(&home), Vec::<Value>::new(), "nothing was used");
    fetch(&home, &server, &json!([["x-key", "{{secret:KEY}}{{secret:KEY}}"]]), "text", &sources);
    assert_eq!(used(&home), [json!(["KEY", "http", format!("http://127.0.0.1:{}", server.port())])]);
    // Whoever has a value writes it into an address: granted or refused, the log has it by its name.
    let refused = format!("http://127.0.0.1:{}/bots3cr3t-value/x", server.port() ^ 1);
    for url in [format!("http://127.0.0.1:{}/bots3cr3t-value/x", server.port()), refused] {
        let script =
            format!("return await http.get({{ url: '{url}' }}).catch((error) => `${{error.message}} ${{error.hint}}`)");
        let more = ["--policy", "policy.toml", "--audit", "audit.jsonl"];
        let more: Vec<&str> = more.into_iter().chain(sources.iter().flat_map(|source| ["--secret", source])).collect();
        let ran = home.js(&script, &more);
        assert!(!ran["value"].to_string().contains("s3cr3t"), "{ran}");
    }
    let log = log(&home);
    assert_eq!(log.matches("/bot{{secret:KEY}}/x\",\"refused\"").count(), 2, "{log}");
    assert!(!log.contains("s3cr3t-value") && !log.contains("another-value"), "{log}");
    let whole = home.run(["policy", "audit", "audit.jsonl"]);
    assert!(whole.status == 0 && whole.stdout.contains("unaltered"), "{whole:?}");
    let told = home.run(["session", "log", "--audit", "audit.jsonl", "--event", "secret_used"]);
    assert_eq!(told.stdout.lines().count(), 1, "{told:?}");
    let altered = log.replacen("\"secret\":\"KEY\"", "\"secret\":\"OTHER\"", 1);
    assert_ne!(altered, log);
    home.file("audit.jsonl", altered);
    assert_ne!(home.run(["policy", "audit", "audit.jsonl"]).status, 0, "the chain covers it");
}

/// A component whose `send` makes a request of this server, by GET or TRACE, plain or with the secret `KEY` in a header. Unlike the tool
/// `http` it refuses nothing itself.
fn sender(server: &Server) -> Vec<u8> {
    let wit = format!(
        "package test:sender@0.1.0;
        interface sender {{ send: func(trace: bool, secret: bool) -> bool; }}
        world tool {{
            import wasi:io/poll@0.2.0; import wasi:http/types@0.2.0; import wasi:http/outgoing-handler@0.2.0;
            export sender;
        }}
        {}",
        include_str!("../support/http.wit")
    );
    let authority = format!("127.0.0.1:{}", server.port());
    let types = "(import \"wasi:http/types@0.2.0\"";
    let module = format!(
        r#"(module
        {types} "[constructor]fields" (func $fields (result i32)))
        {types} "[method]fields.append" (func $append (param i32 i32 i32 i32 i32 i32)))
        {types} "[constructor]outgoing-request" (func $request (param i32) (result i32)))
        {types} "[method]outgoing-request.set-method" (func $set-method (param i32 i32 i32 i32) (result i32)))
        {types} "[method]outgoing-request.set-path-with-query" (func $set-path (param i32 i32 i32 i32) (result i32)))
        {types} "[method]outgoing-request.set-scheme" (func $set-scheme (param i32 i32 i32 i32 i32) (result i32)))
        {types} "[method]outgoing-request.set-authority" (func $set-authority (param i32 i32 i32 i32) (result i32)))
        {types} "[method]future-incoming-response.subscribe" (func $subscribe (param i32) (result i32)))
        (import "wasi:http/outgoing-handler@0.2.0" "handle" (func $handle (param i32 i32 i32 i32)))
        (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
        {memory}
        (data (i32.const 1024) "{authority}")
        (data (i32.const 1100) "x-key")
        (data (i32.const 1200) "plain")
        (data (i32.const 1300) "{{{{secret:KEY}}}}")
        (data (i32.const 1400) "/")
        (func (export "test:sender/sender@0.1.0#send") (param $trace i32) (param $secret i32) (result i32)
            (local $headers i32) (local $made i32)
            (local.set $headers (call $fields))
            (call $append (local.get $headers) (i32.const 1100) (i32.const 5)
                (select (i32.const 1300) (i32.const 1200) (local.get $secret))
                (select (i32.const 14) (i32.const 5) (local.get $secret)) (i32.const 0))
            (local.set $made (call $request (local.get $headers)))
            ;; `trace` is the eighth method, `get` the first.
            (drop (call $set-method (local.get $made)
                (select (i32.const 7) (i32.const 0) (local.get $trace)) (i32.const 0) (i32.const 0)))
            (drop (call $set-path (local.get $made) (i32.const 1) (i32.const 1400) (i32.const 1)))
            (drop (call $set-scheme (local.get $made) (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0)))
            (drop (call $set-authority (local.get $made) (i32.const 1) (i32.const 1024) (i32.const {length})))
            (call $handle (local.get $made) (i32.const 0) (i32.const 0) (i32.const 16))
            (if (i32.load8_u (i32.const 16)) (then (return (i32.const 0))))
            (call $block (call $subscribe (i32.load (i32.const 24))))
            (i32.const 1)))"#,
        memory = components::MEMORY,
        length = authority.len(),
    );
    components::encode(&wit, "tool", &module)
}

/// The server would send back what it got, with the secret in it.
#[test]
fn trace_request_with_secret_is_not_sent() {
    let home = Home::new();
    let server = Server::start(echo);
    let package = home.path().join("sender");
    std::fs::create_dir(&package).expect("it is made");
    std::fs::write(package.join("sender.wasm"), sender(&server)).expect("it is written");
    let manifest = format!(
        "name = \"test:sender\"\nversion = \"0.1.0\"\ndescription = \"Sends.\"\ncomponent = \"sender.wasm\"\n\
         [permissions]\nhttp = [\"http://127.0.0.1:{}\"]\nsecrets = [\"KEY\"]\n",
        server.port()
    );
    std::fs::write(package.join("tool.toml"), manifest).expect("it is written");
    home.publish(&package);
    let granted = format!(
        "[tools]\nsender = \"test:sender\"\n[[grant]]\nmethod = \"sender/*\"\n\
         [tool.sender]\nhttp = [\"http://127.0.0.1:{}\"]\nsecrets = [\"KEY\"]\n",
        server.port()
    );
    home.file("policy.toml", granted);
    home.file("key", "s3cr3t-value");
    let options = ["--policy", "policy.toml", "--secret", "KEY=file:key", "--audit", "audit.jsonl"];
    let sends = |trace: bool, secret: bool| {
        home.js(&format!("return await sender.send({{ trace: {trace}, secret: {secret} }})"), &options);
        server.seen().iter().map(|head| (head[..5].to_owned(), header(head, "x-key").to_owned())).collect::<Vec<_>>()
    };
    let seen = |expected: &[(&str, &str)]| {
        expected.iter().map(|(method, value)| ((*method).to_owned(), (*value).to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(sends(true, true), seen(&[]));
    assert_eq!(sends(true, false), seen(&[("TRACE", "plain")]));
    assert_eq!(sends(false, true), seen(&[("TRACE", "plain"), ("GET /", "s3cr3t-value")]));
    let log = log(&home);
    assert_eq!(log.matches("would reveal its secrets").count(), 1, "{log}");
    assert!(!log.contains("s3cr3t-value"), "{log}");
}

/// Returns the value that a server is sent for a secret from this source, with these variables in the environment.
fn sent(home: &Home, server: &Server, sources: &[&str], variables: &[(&str, &str)]) -> String {
    let before = server.seen().len();
    let script = format!(
        "await http.get({{ url: 'http://127.0.0.1:{}/', headers: [['x-key', '{{{{secret:KEY}}}}']] }})",
        server.port()
    );
    let sources = sources.iter().flat_map(|source| ["--secret", source]);
    let mut command = home.command(["run", "--policy", "policy.toml", "-e", &script].into_iter().chain(sources));
    let ran = Ran::of(&command.envs(variables.iter().copied()).output().expect("it runs"));
    assert_eq!(ran.status, 0, "{ran:?}");
    header(&server.seen()[before], "x-key").to_owned()
}

#[test]
fn secret_source_command_or_file_gives_the_value() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(echo);
    home.file("policy.toml", policy(&server, "\"KEY\""));
    let from = |source: &str| sent(&home, &server, &[source], &[]);
    assert_eq!(from("KEY=cmd:/bin/echo from-a-program"), "from-a-program", "one line break is cut off");
    assert_eq!(from("KEY=cmd:/bin/echo 'two  words' \"$HOME\""), "two  words $HOME", "there is no shell");
    assert_eq!(from("KEY=cmd:/bin/sh -c 'echo complaint >&2; printf value-1'"), "value-1");
    let fails = |source: &str, told: &str| {
        let ran = home.run(["run", "--policy", "policy.toml", "-e", "console.log('ran')", "--secret", source]);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        let stderr: String = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(stderr.contains(told), "{source}: {}", ran.stderr);
        stderr
    };
    let told = fails(
        "KEY=cmd:/bin/sh -c 'echo half-a-value; echo no such item >&2; echo more >&2; exit 3'",
        "`/bin/sh` failed (exit status: 3): no such item",
    );
    assert!(!told.contains("half-a-value") && !told.contains("more"), "{told}");
    fails("KEY=cmd:/bin/false", "`/bin/false` failed (exit status: 1)");
    fails("KEY=cmd:/nowhere/program", "cannot run `/nowhere/program`");
    fails("KEY=cmd:", "does not name a program");
    fails("KEY=cmd:echo 'a", "has no end");
    fails("KEY=cmd:/bin/true", "is empty");
    fails("KEY=cmd:/bin/echo -e 'a\\nb'", "line break");
    fails("KEY=cmd:/bin/sh -c 'printf \"\\\\377secret\"'", "it is not UTF-8 text");
    fails("KEY=cmd:/bin/cat /dev/zero", "it has more than 1048576 bytes");
    fails("KEY=file:/dev/zero", "it is a device, not a regular file");
}

#[cfg(target_os = "linux")]
#[test]
fn secret_source_variable_is_removed_from_the_environment() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(echo);
    home.file("policy.toml", policy(&server, "\"KEY\", \"TOKEN\""));
    let variables = [("HELD", "s3cr3t-value"), ("OTHER", "0ther-value")];
    let value = |source: &str| sent(&home, &server, &[source, "TOKEN=env:HELD"], &variables);
    assert_eq!(value("KEY=env:HELD"), "s3cr3t-value", "two secrets may come from one variable");
    // What the program is started with, and what the kernel says that this process was started with.
    assert_eq!(value("KEY=cmd:/bin/sh -c 'echo ${HELD-gone} $OTHER'"), "gone 0ther-value");
    let looks =
        "KEY=cmd:/bin/sh -c 'grep -q s3cr3t-value /proc/$PPID/environ 2>/dev/null && echo there || echo absent'";
    assert_eq!(value(looks), "absent");
    // A core dump would have them too, and no program that is started may make one.
    assert_eq!(value("KEY=cmd:/bin/sh -c 'echo core $(ulimit -H -c) $(ulimit -S -c)'"), "core 0 0");
}

#[cfg(target_os = "linux")]
#[test]
fn secret_source_variable_that_is_not_text_is_refused_unprinted() {
    use std::os::unix::ffi::OsStrExt as _;

    let home = Home::with_tools(&["http"]);
    let server = Server::start(echo);
    home.file("policy.toml", policy(&server, "\"KEY\""));
    let mut command = home.command(["run", "--policy", "policy.toml", "-e", "1", "--secret", "KEY=env:HELD"]);
    command.env("HELD", std::ffi::OsStr::from_bytes(b"s3cr3t-\xff-value"));
    let ran = Ran::of(&command.output().expect("it runs"));
    assert!(ran.status == 2 && ran.stderr.contains("it is not UTF-8 text"), "{ran:?}");
    assert!(!ran.stderr.contains("s3cr3t"), "{ran:?}");
}

/// Resolver that always gives one address.
struct At(IpAddr);

#[async_trait::async_trait]
impl Resolver for At {
    async fn resolve(&self, _: &str) -> std::io::Result<Vec<IpAddr>> {
        Ok(vec![self.0])
    }
}

#[test]
fn localhost_name_resolving_elsewhere_gets_no_secret() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(echo);
    let table = format!(
        "[tools]\nhttp = \"tollhouse:http\"\n[[grant]]\nmethod = \"http/*\"\n[tool.http]\n\
         http = [\"http://localhost:{0}\", \"http://127.0.0.1:{0}\", \"http://192.0.2.7:{0}\"]\n\
         secrets = [{{ name = \"KEY\", http = [\"http://localhost:{0}\"] }}]\n",
        server.port()
    );
    let get = |address: &str, value: &str| {
        let registry = Some(home.path().join("tollhouse/registry"));
        let network = Network::default().with_resolver(Arc::new(At(address.parse().expect("an address"))));
        let host = Host::new(&HostOptions { registry, network, ..HostOptions::default() }).expect("it starts");
        let (policy, secrets) = (Policy::parse(&table), Secrets::default().with("KEY", "s3cr3t-value"));
        let (policy, secrets) = (policy.expect("a policy"), secrets.expect("a secret"));
        let session = host.session(SessionOptions { policy, secrets, ..SessionOptions::default() }).expect("it opens");
        let url = format!("http://localhost:{}/", server.port());
        let arguments = json!({ "url": url, "headers": [["x-key", value]], "timeoutMs": 200 });
        let called = session.call("http/fetch", &arguments.to_string());
        called.map(|payload| payload.value.to_string()).map_err(|failure| format!("{failure} | {:?}", failure.hint))
    };
    let told = get("192.0.2.7", "{{secret:KEY}}").expect_err("it would be read on the way");
    assert!(told.contains("a secret would go to 192.0.2.7 without TLS"), "{told}");
    // Without a secret it is tried; nobody answers at that address.
    let told = get("192.0.2.7", "plain").expect_err("nobody answers");
    assert!(!told.contains("without TLS"), "{told}");
    assert!(get("127.0.0.1", "{{secret:KEY}}").expect("it stays here").contains("x-key: {{secret:KEY}}"));
    assert_eq!(header(&server.seen()[0], "x-key"), "s3cr3t-value");
}

/// Runs a script to its question, which calls `http/fetch` with the value of a secret that it has from elsewhere.
fn asked(home: &Home, server: &Server, approve: &str) {
    let granted = "[[grant]]\nmethod = \"http/*\"\n";
    let kept = "[journal]\nkeep = \"all\"\n";
    home.file("policy.toml", policy(server, "\"KEY\"").replace(granted, &format!("{granted}{approve}\n")) + kept);
    home.file("key", "s3cr3t-value-0123\n");
    let url = format!("http://127.0.0.1:{}/v1", server.port());
    home.file(
        "ask.js",
        format!(
            "const got = await http.fetch({{url: '{url}', headers: [['x-a', 's3cr3t-value-0123']]}});
             await fs.writeFile('/workspace/out', 'x');
             return got.status"
        ),
    );
    let told = format!("cmd:/bin/sh -c 'cat > {0}.new; mv {0}.new {0}'", home.path().join("told.json").display());
    let start = ["run", "ask.js", "--policy", "policy.toml", "--session", "s", "--secret", "KEY=file:key"];
    let mut command = home.command(start.iter().copied().chain(["--notify", &told, "--notify-arguments"]));
    let ran = Ran::of(&command.env("PATH", "/usr/bin:/bin").output().expect("it runs"));
    assert_eq!(ran.status, 5, "{ran:?}");
}

/// Waits for what a program was told of the suspended run.
fn told(home: &Home) -> String {
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    loop {
        match std::fs::read_to_string(home.path().join("told.json")) {
            Ok(text) => return text,
            Err(error) => assert!(std::time::Instant::now() < until, "{error}"),
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn call_that_waits_is_shown_and_told_without_values_of_secrets() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(echo);
    asked(&home, &server, "approve = true");
    let shown = home.run(["session", "pending", "s"]).stdout;
    let listed = home.run(["session", "pending", "s", "--json"]).stdout;
    let log = home.run(["session", "log", "s", "--json"]).stdout;
    for text in [&shown, &listed, &told(&home), &log] {
        assert!(text.contains("{{secret:KEY}}") && !text.contains("s3cr3t-value"), "{text}");
    }
    // The tool gets what the script wrote.
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    let resumed = home.run(["session", "resume", "s", "--secret", "KEY=file:key"]);
    assert_eq!((resumed.status, resumed.stdout.as_str()), (0, "200\n"), "{resumed:?}");
    assert_eq!(header(&server.seen()[0], "x-a"), "s3cr3t-value-0123");
    for command in [&["session", "replay", "s", "--json"][..], &["session", "why", "s", "/workspace/out", "--json"]] {
        let told = home.run(command).stdout;
        assert!(told.contains("{{secret:KEY}}") && !told.contains("s3cr3t-value"), "{command:?}: {told}");
    }
}

/// What is shown in place of a secret's value is compared when the run is resumed: whoever hands a run over may have written that
/// a secret stands where something else does.
#[test]
fn approval_of_a_call_that_was_shown_otherwise_does_not_count() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(echo);
    asked(&home, &server, "approve = true");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    home.file("key", "another-value-0123\n");
    let resumed = home.run(["session", "resume", "s", "--secret", "KEY=file:key"]);
    assert_eq!(resumed.status, 5, "it asks again: {resumed:?}");
    assert!(server.seen().is_empty(), "{:?}", server.seen());
    // Now it is no secret, and is shown.
    let shown = home.run(["session", "pending", "s"]).stdout;
    assert!(shown.contains("s3cr3t-value-0123") && shown.contains("does not count"), "{shown}");
    assert_eq!(home.run(["session", "approve", "s"]).status, 0);
    assert_eq!(home.run(["session", "resume", "s", "--secret", "KEY=file:key"]).stdout, "200\n");
}

#[test]
fn call_with_a_secret_is_made_with_the_arguments_that_a_human_gave_instead() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(echo);
    asked(&home, &server, "approve = true");
    let instead = format!(r#"{{"url": "http://127.0.0.1:{}/v1", "headers": [["x-a", "plain"]]}}"#, server.port());
    let edited = home.run(["session", "edit", "s", &instead]);
    assert_eq!(edited.status, 0, "{edited:?}");
    let resumed = home.run(["session", "resume", "s", "--secret", "KEY=file:key"]);
    assert_eq!((resumed.status, resumed.stdout.as_str()), (0, "200\n"), "{resumed:?}");
    assert_eq!(header(&server.seen()[0], "x-a"), "plain");
}

#[test]
fn call_whose_approval_is_signed_is_shown_as_it_is_to_whoever_signs() {
    let home = Home::with_tools(&["http"]);
    let server = Server::start(echo);
    asked(&home, &server, "approve = true\napproved_by = [\"cfo\"]");
    let shown = home.run(["session", "pending", "s"]).stdout;
    assert!(shown.contains("s3cr3t-value-0123"), "a signature covers it: {shown}");
    assert!(!told(&home).contains("s3cr3t-value"));
}
