//! `curl` and `wget` of the shell against the programs of that name: the same command lines to the same server, and what
//! each writes, leaves and ends with. What the policy does not grant has its own tests.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use serde_json::json;
use tollhouse_tests::Home;
use tollhouse_tests::server::{Answer, Server};

/// Headers of a request that follow from the connection, are the programs' own affair, or, as the idempotency key, those
/// of the tool `http`.
const OF_CONNECTION: [&str; 5] = ["connection", "expect", "host", "accept-encoding", "idempotency-key"];

/// A server that tells what it was asked, sets cookies, redirects, and fails.
fn answer(head: &str, body: &[u8]) -> Answer {
    let mut words = head.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let text = |status, headers: &[&str], body: &str| {
        let headers = headers.iter().map(|header| (*header).to_owned()).collect();
        let body = if method == "HEAD" { Vec::new() } else { body.as_bytes().to_vec() };
        (status, headers, body)
    };
    match path {
        "/missing" => text("404 Not Found", &["Content-Type: text/plain"], "no such thing\n"),
        "/broken" => text("500 Internal Server Error", &[], "broken\n"),
        "/301" => text("301 Moved Permanently", &["Location: /echo?from=301"], "moved\n"),
        "/302" => text("302 Found", &["Location: /echo"], "moved\n"),
        "/303" => text("303 See Other", &["Location: /echo"], "moved\n"),
        "/307" => text("307 Temporary Redirect", &["Location: /echo"], "moved\n"),
        "/circle" => text("302 Found", &["Location: /circle"], ""),
        "/json" => text("200 OK", &["Content-Type: application/json"], "{\"a\":[1,2]}\n"),
        "/cookie" => text("302 Found", &["Set-Cookie: sid=abc; Path=/", "Location: /echo"], ""),
        "/named" => text("200 OK", &["Content-Disposition: attachment; filename=\"given.txt\""], "named\n"),
        "/private" if !head.to_ascii_lowercase().contains("authorization: basic") => {
            text("401 Unauthorized", &["WWW-Authenticate: Basic realm=\"x\""], "who?\n")
        }
        "/bytes" => ("200 OK", Vec::new(), (0..=255).collect()),
        _ => {
            let headers: BTreeMap<String, String> = head
                .lines()
                .skip(1)
                .filter_map(|line| line.split_once(':'))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
                .filter(|(name, _)| !OF_CONNECTION.contains(&name.as_str()))
                .collect();
            let body = String::from_utf8_lossy(body);
            let told = json!({"method": method, "path": path, "query": query, "headers": headers, "body": body});
            text("200 OK", &["Content-Type: application/json"], &format!("{told}\n"))
        }
    }
}

/// Outcome of a script: output, status, and whether it wrote to standard error.
#[derive(Debug, PartialEq, Eq)]
struct Came {
    stdout: String,
    status: i64,
    silent: bool,
}

/// The script by bash and the real programs.
fn real(script: &str) -> Came {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut bash = Command::new("bash");
    bash.args(["-c", script]).current_dir(directory.path()).env_clear();
    bash.env("PATH", "/usr/bin:/bin").env("HOME", directory.path()).env("LC_ALL", "C").stdin(Stdio::null());
    let output = bash.output().expect("there is bash");
    Came {
        stdout: normal(&String::from_utf8_lossy(&output.stdout)),
        status: output.status.code().map_or(-1, i64::from),
        silent: output.stderr.is_empty(),
    }
}

/// The script by the shell guest.
fn ours(home: &Home, script: &str) -> Came {
    let ran = home.sh(script, &["--policy", "policy.toml"]);
    Came {
        stdout: normal(ran["output"]["stdout"].as_str().or(ran["stdout"].as_str()).expect("it has output")),
        status: ran["exit_code"].as_i64().expect("it has a status"),
        silent: ran["stderr"].as_str().is_none_or(str::is_empty),
    }
}

/// Names of headers in lower case, as the tool has them, and boundaries of forms all the same.
fn normal(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let header = line.split_once(": ").filter(|(name, _)| {
            line.ends_with('\r') && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        });
        match header {
            // The host takes out what concerns the connection.
            Some((name, _)) if name.eq_ignore_ascii_case("connection") => {}
            Some((name, value)) => lines.push(format!("{}: {value}", name.to_ascii_lowercase())),
            None => lines.push(line.to_owned()),
        }
    }
    let text = lines.join("\n");
    let Some(at) = text.find("boundary=") else { return text };
    let end = text[at..].find('"').map_or(text.len(), |end| at + end);
    text.replace(&text[at + "boundary=".len()..end], "BOUNDARY")
}

/// Files that each script finds.
const FILES: &str = "printf 'l1\\r\\nl2 é\\n' > f.txt; printf '{\"k\": 1}' > j.json; printf 'X-From: file\\nX-Two: 2\\n' > h.txt; \
                     printf '\\377\\000x' > b.bin\n";

fn policy(port: u16) -> String {
    format!(
        "[tools]\nhttp = \"tollhouse:http\"\n[[grant]]\nmethod = \"http/*\"\n\
         [tool.http]\nhttp = [\"http://127.0.0.1:{port}\"]\n"
    )
}

/// Runs each script both ways, and says where they differ.
fn compare(scripts: &[&str]) {
    let server = Server::start_reading(answer);
    let home = Home::with_tools(&["http"]);
    home.file("policy.toml", policy(server.port()));
    let mut failures = Vec::new();
    for script in scripts {
        let script = format!("{FILES}{script}").replace("$U", &format!("127.0.0.1:{}", server.port()));
        let (expected, got) = (real(&script), ours(&home, &script));
        if expected != got {
            failures.push(format!("{script}\n  expected {expected:?}\n  got      {got:?}"));
        }
    }
    assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), scripts.len(), failures.join("\n"));
}

#[test]
fn curl_options_do_as_those_of_curl() {
    compare(&[
        "curl -s $U/echo",
        "curl -sS http://$U/json | head -c 5",
        "curl -s $U/bytes | od -An -tx1 | md5sum",
        "curl -s -d a=1 -d 'b=2 3' $U/form; curl -s -d @f.txt $U/; curl -s --data-ascii x $U/",
        "curl -s --data-raw @f.txt $U/; curl -s --data-binary @f.txt $U/; cat f.txt | curl -s -d @- $U/",
        "curl -s --data-urlencode 'q=a b&c é' --data-urlencode '=x y' --data-urlencode p@f.txt --data-urlencode 'a b' $U/",
        "curl -sG -d a=1 --data-urlencode 'b=2 3' \"$U/x?q=0\"; curl -s --url-query 'a=b c' $U/x; curl -sI -G -d a=1 $U/x",
        "curl -s -H 'X-A: 1' -H 'Accept: text/x' -H 'X-E;' -H 'X-N:' -H @h.txt $U/",
        "curl -s -X PUT -d x $U/; curl -s -X DELETE $U/x; curl -s -XPATCH $U/; curl -s --request OPTIONS $U/",
        "curl -s -A agent -e http://ref/ -b 'a=b; c=d' $U/; curl -s -A '' -b a=1 -b b=2 $U/ | grep -o '\"cookie\":\"[^\"]*'",
        "curl -s -u me:pass $U/; curl -s http://you:p%40w@$U/; curl -s --oauth2-bearer tok $U/; curl -s -u me:a:b --basic $U/",
        "curl -s --json '{\"a\": 1}' $U/; curl -s --json @j.json -H 'Accept: x' $U/; curl -s --json '[1,' --json '2]' $U/",
        "curl -s -F a=1 -F 'f=@f.txt;type=text/x-y' -F 'g=<j.json' -F 'b=@b.bin' $U/ | tr -d '\\377' | wc -l",
        "curl -s -F a=1 -F 'f=@f.txt' -F 'n=x;type=text/html' -F 'h=@j.json;filename=\"o;k.json\"' --form-string 's=@f;x' $U/",
        "curl -s -T f.txt $U/up; curl -s -T f.txt $U/dir/",
        "curl -si $U/302; curl -sI $U/json; curl -sIL $U/302; curl -siL $U/301",
        "curl -sL $U/302; curl -sL -d x $U/301; curl -sL -d x $U/307; curl -sL -X POST -d x $U/303; curl -sL -T f.txt $U/303",
        "curl -sL --post301 --post302 -d x $U/302; curl -sL --post303 -d x $U/303; curl -sL -e ';auto' $U/302 | grep -c 302",
        "curl -sL --max-redirs 3 $U/circle; echo $?; curl -sSL --max-redirs 0 $U/302; echo $?",
        "curl -sf $U/missing; echo $?; curl -sSf $U/broken -o x; echo $?; ls; curl -s --fail-with-body $U/missing; echo $?",
        "curl -sif $U/missing; echo $?; curl -s $U/missing -o m.txt; cat m.txt",
        "curl -so out.txt $U/json; cat out.txt; curl -sO $U/json; cat json; curl -s $U/json -o /dev/null -w '%{http_code}\\n'",
        "curl -sOJ $U/named; ls; cat given.txt; curl -sO $U/a/b.txt $U/c; ls; curl -sO $U/; echo $?",
        "curl -s --create-dirs -o d/e/x.txt $U/json; cat d/e/x.txt; curl -s --output-dir d -O $U/json; ls d; curl -s -o q/r $U/; echo $?",
        "curl -s -o 'p_#1.txt' \"$U/echo?[1-3]\"; ls p_*; curl -s \"$U/{a,b}\" | grep -o '\"path\":\"[^\"]*'; curl -sg \"$U/{a}\" | wc -l",
        "curl -s $U/json $U/json -o a.txt -o b.txt; cat a.txt b.txt; curl -s --url $U/json --remote-name-all $U/x; ls",
        "curl -s -w '%{http_code} %{content_type} %{size_download} %{url_effective} %{num_redirects} %{method}\\n' $U/json",
        "curl -sL -o /dev/null -w '%{response_code}|%{num_redirects}|%{url_effective}|%{redirect_url}|%{scheme}\\t%%\\n' $U/302",
        "curl -s -o /dev/null -w '%{redirect_url} %{exitcode} %{errormsg} %{urlnum} %{filename_effective}\\n' $U/302 $U/302",
        "curl -s -o x -w '%{json}' $U/json | jq -c '[.http_code, .method, .size_download, .content_type, .exitcode]'",
        "curl -s -o x -w '%{header_json}' $U/json | jq -c 'del(.connection)'; curl -s -o x -w '%header{content-type}%{stderr}e%{stdout}o\\n' $U/json",
        "curl -s -D h $U/json > /dev/null; cat h; curl -s -D - -o /dev/null $U/json; curl -sI -o head $U/json; cat head",
        "curl -s -r 0-4 $U/; curl -s --compressed $U/json; curl -s -4 --http1.1 --tlsv1.2 -N -# --no-progress-meter $U/json",
        "curl -sL -c jar -b none $U/cookie | grep -o 'sid=abc'; cut -f6,7 jar | tail -1; curl -s -b jar $U/ | grep -o 'sid=abc'",
        "curl -s -b a=1 $U/ -c -; curl -sL $U/cookie | grep -c sid",
        "curl -s -m 5 --connect-timeout 2 --retry 2 --retry-delay 1 --max-filesize 1M $U/json",
        "curl -s --foo $U; echo $?; curl -s -o; echo $?; curl; echo $?; curl -s -m x $U; echo $?; curl -I -d x $U; echo $?",
        "curl -s 'http://a b/'; echo $?; curl -s foo://x; echo $?; curl -s ''; echo $?; curl -s 'http://[/'; echo $?; curl -sF x $U; echo $?",
        "curl -s file://$PWD/f.txt | cat -A; curl -s file:///nowhere/x; echo $?; curl -sT nofile $U/; echo $?",
        "curl -s \"$U/a/../b/./c\"; curl -s \"$U/x#part\"; curl -s -g \"$U/%7Ba%7D?x=%20\"",
        "curl -s -o x $U/echo -w '%{size_upload} %{http_version}\\n' -d hello",
        "curl -s $U/missing --fail-early -f $U/json; echo $?; curl -sf $U/missing $U/json; echo $?",
        "echo body | curl -s -d @- $U/1 $U/2; echo 'X-A: 7' | curl -s -H @- $U/1 $U/2; echo x | curl -s -d @- -d @- $U/",
        "curl -s -T f.txt file://$PWD/up; cat up; curl -sT f.txt file://$PWD/no/up; echo $?",
        "curl -s -D /dev/stderr $U/1 $U/2 2>&1 | grep -c HTTP; mkdir d; curl -s -T f.txt file://$PWD/d/; ls d",
        "curl -fsSL $U/json -o - | jq .a[0]; curl -sSfLO $U/json && cat json; curl -s --stderr e -f -S $U/missing; wc -l < e",
    ]);
}

#[test]
fn wget_options_do_as_those_of_wget() {
    compare(&[
        "wget -q $U/json; cat json; wget -q $U/json; ls; wget -q $U/; ls; wget -q $U/a/b?c=d; ls",
        "wget -qO- $U/echo; wget -q -O - $U/json; wget -qO out $U/json $U/json; cat out; wget -O x -q $U/missing; echo $?; ls x",
        "wget -q -P d/e $U/json; ls d/e; wget -q -nc $U/json; wget -q -nc $U/json; echo $?; ls",
        "wget -qO- --header 'X-A: 1' --header='Accept: t' -U agent --referer http://r/ $U/",
        "wget -qO- --post-data 'a=1&b=2' $U/; wget -qO- --post-file f.txt $U/; wget -qO- --method=PUT --body-data=x $U/",
        "wget -qO- --method DELETE $U/x; wget -qO- --method=PATCH --body-file=j.json $U/; wget -qO- --body-data=x $U/; echo $?",
        "wget -qO- $U/302; wget -qO- --post-data x $U/307; wget -qO- --post-data x $U/301; wget -q --max-redirect=1 $U/circle; echo $?",
        "wget -q $U/missing; echo $?; wget -q $U/broken; echo $?; wget -q --content-on-error -O- $U/missing; echo $?; ls",
        "wget -q --spider $U/json; echo $?; wget -q --spider $U/missing; echo $?; ls",
        "wget -q --user=me --password=pw -O- $U/private; wget -q -O- $U/private; echo $?; wget -q -O- --user=a --password=b --auth-no-challenge $U/",
        "wget -q --content-disposition $U/named; ls; wget -q --trust-server-names $U/302; ls; wget -q $U/301; ls",
        "printf '%s\\n' $U/json $U/x > list; wget -q -i list; ls; echo $U/json | wget -qi - -O-",
        "wget -qO- $U/cookie; wget -q -O- --no-cookies $U/cookie; wget -q --save-headers -O- $U/json | head -1",
        "wget -q --foo $U; echo $?; wget; echo $?; wget -q -O; echo $?; wget -q -T 5 -t 2 -nv -O- $U/json; wget -q --no-cache -O- $U/",
        "wget -q foo://x; echo $?; wget -q -O no/such $U/json; echo $?; wget -q -O /dev/null $U/json; echo $?",
        "wget -q -o /no/dir/log $U/json; echo $?; ls; wget -qO all $U/1 $U/2 $U/json; wc -l < all",
        "wget -nv -o log $U/json; grep -c json log; wget -qO- \"$U/a b\"; wget --version | head -1 | cut -c1-8",
    ]);
}

#[test]
fn streams_take_each_answer_once() {
    let server = Server::start_reading(answer);
    let home = Home::with_tools(&["http"]);
    home.file("policy.toml", policy(server.port()));
    let script = format!("wget -qO /dev/stdout http://127.0.0.1:{0}/json http://127.0.0.1:{0}/json", server.port());
    assert_eq!(ours(&home, &script).stdout, "{\"a\":[1,2]}\n{\"a\":[1,2]}\n");
    // A pipe cannot be read again, and yet each address gets what was in it.
    let form = format!("echo body | curl -s -F f=@- http://127.0.0.1:{0}/1 http://127.0.0.1:{0}/2", server.port());
    assert_eq!(ours(&home, &form).stdout.matches("body\\n").count(), 2);
}

#[test]
fn web_command_without_grant_says_how_to_grant_it() {
    let server = Server::start(|_| ("200 OK", Vec::new(), b"x".to_vec()));
    let home = Home::with_tools(&["http"]);
    home.file("policy.toml", policy(server.port()));
    home.file("ungranted.toml", "[tools]\nhttp = \"tollhouse:http\"\n");
    for (policy, said) in
        [("policy.toml", "http = [\"http://127.0.0.1:1\"]"), ("ungranted.toml", "no grant allows `http/fetch`")]
    {
        for (command, status) in [("curl -s", 7), ("wget -q", 4)] {
            let ran = home.sh(&format!("{command} http://127.0.0.1:1/"), &["--policy", policy]);
            let stderr = ran["stderr"].as_str().unwrap_or_default();
            assert!(stderr.contains(said) && stderr.contains("hint: "), "{policy} {command}: {ran}");
            assert_eq!(ran["exit_code"], status, "{policy} {command}: {ran}");
        }
    }
    assert!(server.seen().is_empty());
    let ran = Home::new().sh("curl -s http://127.0.0.1:1/", &[]);
    assert!(
        ran["stderr"].as_str().is_some_and(|stderr| stderr.contains("the tool `http`, which is not mounted")),
        "{ran}"
    );
}

#[test]
fn web_command_redirected_to_another_origin_drops_secrets() {
    let other = Server::start(|_| ("200 OK", Vec::new(), b"arrived".to_vec()));
    let to = format!("Location: http://127.0.0.1:{}/", other.port());
    let first = Server::start(move |_| ("302 Found", vec![to.clone()], Vec::new()));
    let home = Home::with_tools(&["http"]);
    home.file(
        "policy.toml",
        format!(
            "[tools]\nhttp = \"tollhouse:http\"\n[[grant]]\nmethod = \"http/*\"\n[tool.http]\nhttp = \
             [\"http://127.0.0.1:{0}\", \"http://127.0.0.1:{1}\"]\n\
             secrets = [{{ name = \"KEY\", http = [\"http://127.0.0.1:{0}\"] }}]\n",
            first.port(),
            other.port()
        ),
    );
    let at = format!("http://127.0.0.1:{}/", first.port());
    let script = format!(
        "curl -sL -H 'X-Key: {{{{secret:KEY}}}}' -H 'Cookie: a=b' -u me:pw {at}; \
         wget -qO- --header 'X-Key: {{{{secret:KEY}}}}' --header 'Authorization: x' {at}"
    );
    let secret = home.file("key", "s3cr3t");
    let secret = format!("KEY=file:{}", secret.display());
    let ran = home.sh(&script, &["--policy", "policy.toml", "--secret", &secret]);
    assert_eq!(ran["stdout"], "arrivedarrived", "{ran}");
    for head in first.seen() {
        assert!(head.contains("s3cr3t") && head.to_ascii_lowercase().contains("authorization"), "{head}");
    }
    for head in other.seen() {
        let head = head.to_ascii_lowercase();
        assert!(!["x-key", "cookie", "authorization", "s3cr3t"].iter().any(|word| head.contains(word)), "{head}");
    }
    assert_eq!((first.seen().len(), other.seen().len()), (2, 2));
}

#[test]
fn web_command_option_not_supported_is_refused_by_name() {
    let home = Home::new();
    for (command, said) in [
        ("curl -x p:1 http://a/", "curl: option -x: is not supported here"),
        ("curl --next http://a/", "curl: option --next: is not supported here"),
        ("curl -C - http://a/", "curl: option -C: is not supported here"),
        ("wget -c http://a/", "wget: option '-c' is not supported here"),
        ("wget -r http://a/", "wget: option '-r' is not supported here"),
        ("wget --mirror http://a/", "wget: option '--mirror' is not supported here"),
    ] {
        let ran = home.sh(command, &[]);
        assert!(ran["stderr"].as_str().is_some_and(|stderr| stderr.contains(said)), "{command}: {ran}");
        assert_eq!(ran["exit_code"], 2, "{command}: {ran}");
    }
    let ran = home.sh("curl -k -s http://a/", &[]);
    assert!(ran["stderr"].as_str().is_some_and(|stderr| stderr.contains("-k is ignored")), "{ran}");
}
