//! What the command line prints, word for word. `INSTA_UPDATE=always` writes the snapshots anew; the diff is the review.

use tollhouse_tests::{Home, Ran};

/// Returns the output of a run, without what differs from machine to machine.
fn shown(home: &Home, ran: &Ran) -> String {
    let text = format!("status {}\n--- stdout\n{}--- stderr\n{}", ran.status, ran.stdout, ran.stderr);
    text.replace(&home.path().display().to_string(), "HOME")
}

/// The words of each command line, each with a name for its snapshot.
fn snapshots(home: &Home, commands: &[(&str, &[&str])]) {
    for (name, words) in commands {
        let ran = home.run(*words);
        insta::assert_snapshot!(name.replace(' ', "-"), shown(home, &ran), &words.join(" "));
    }
}

#[test]
fn help_texts_match_their_snapshots() {
    snapshots(
        &Home::new(),
        &[
            ("help", &["--help"]),
            ("help run", &["run", "--help"]),
            ("help repl", &["repl", "--help"]),
            ("help batch", &["batch", "--help"]),
            ("help new", &["new", "--help"]),
            ("help build", &["build", "--help"]),
            ("help test", &["test", "--help"]),
            ("help dev", &["dev", "--help"]),
            ("help publish", &["publish", "--help"]),
            ("help call", &["call", "--help"]),
            ("help registry", &["registry", "--help"]),
            ("help lock", &["lock", "--help"]),
            ("help registry deprecate", &["registry", "deprecate", "--help"]),
            ("help registry trust", &["registry", "trust", "--help"]),
            ("help registry push", &["registry", "push", "--help"]),
            ("help registry pull", &["registry", "pull", "--help"]),
            ("help registry import", &["registry", "import", "--help"]),
        ],
    );
}

/// The second wall leaves a process no more than this file's snapshot says: more is a decision.
#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn syscall_wall_matches_its_snapshot() {
    snapshots(&Home::new(), &[("wall", &["doctor", "--wall"])]);
}

#[test]
fn error_texts_match_their_snapshots() {
    let home = Home::with_tools(&["stats"]);
    home.file("unknown.toml", "[[grant]]\nmethod = 'stats/*'\ncals = 3\n");
    home.file("twice.toml", "[[grant]]\nname = 'a'\nmethod = 'x'\n[[grant]]\nname = 'a'\nmethod = 'y'\n");
    home.file("core.wasm", b"\0asm\x01\0\0\0");
    snapshots(
        &home,
        &[
            ("no command", &["rnu"]),
            ("unknown key in a policy", &["run", "-e", "1", "--policy", "unknown.toml"]),
            ("two grants of one name", &["run", "-e", "1", "--policy", "twice.toml"]),
            ("no policy", &["run", "-e", "1", "--policy", "nothere.toml"]),
            ("no script", &["run", "nothere.js"]),
            ("no such package", &["run", "-e", "1", "--tool", "pay=acme:payments@^1"]),
            ("syntax error", &["run", "-e", "let x = ;"]),
            ("exception", &["run", "-e", "const f = () => { throw new TypeError('no good') };\nf()"]),
            ("positional argument", &["run", "-e", "await stats.describe('x')", "--allow", "**"]),
            ("wrong type", &["run", "-e", "await stats.describe({values: [1, '2']})", "--allow", "**"]),
            ("misspelt tool", &["run", "-e", "await stats.descrbe({values: [1]})", "--allow", "**"]),
            ("not granted", &["run", "-e", "await stats.describe({values: [1]})"]),
            ("not granted in the shell", &["run", "--lang", "sh", "-e", "stats describe --values '[1]'"]),
            ("out of time", &["run", "-e", "while (true) {}", "--timeout", "200ms"]),
            ("a core module", &["publish", "core.wasm", "--name", "a:b", "--version", "1.0.0"]),
            ("bad arguments of a call", &["call", "stats/describe", "{\"values\": 1}", "--allow", "**"]),
        ],
    );
}

#[test]
fn listings_match_their_snapshots() {
    let home = Home::with_tools(&["stats"]);
    snapshots(
        &home,
        &[
            ("tools", &["tools", "--allow", "stats/describe"]),
            ("tools of an empty registry", &["tools", "--registry", "nothing"]),
            ("types", &["types", "--allow", "stats/describe"]),
            ("types for Python", &["types", "--lang", "python"]),
            ("help of a tool", &["run", "--lang", "sh", "-e", "stats describe --help"]),
            ("call", &["call", "stats/describe", "{\"values\": [1, 2, 3]}", "--allow", "**"]),
        ],
    );
}
