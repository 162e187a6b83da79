//! What a terminal would obey, through the real binary: errors, names, logs, questions and descriptions show it escaped.

use tollhouse_tests::screen::TerminalScreen;
use tollhouse_tests::{Home, Ran, components};

/// Clears the screen, in two spellings; turns the order of letters round; a zero; a carriage return.
const EVIL: &str = "\\x1b[2J\\x9b2J\\u202e\\0\\r";

/// Returns the first character of a text that no terminal should be sent.
fn obeyed(text: &str) -> Option<char> {
    text.chars().find(|&c| (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{202a}'..='\u{202e}'))
}

fn harmless(what: &str, text: &str) {
    assert_eq!(obeyed(text), None, "{what}: {text:?}");
    assert!(text.contains("\\u{1b}") || text.contains("\\u001b"), "{what} does not show it: {text:?}");
}

#[test]
fn errors_are_shown_escaped() {
    let home = Home::with_fixture();
    for code in [
        format!("throw new Error('{EVIL}')"),
        format!("throw Object.assign(new Error('x'), {{ name: '{EVIL}' }})"),
        format!("const f = {{ ['{EVIL}']() {{ throw new Error('x') }} }}; f['{EVIL}']()"),
        format!("throw '{EVIL}'"),
        format!("Promise.reject(new TypeError('{EVIL}')); await null"),
        format!("await probe.panic({{ message: '{EVIL}' }})"),
        format!("await probe.length({{ '{EVIL}': 1 }})"),
        format!("await fs.readFile('{EVIL}'.replace('\\0', ''))"),
    ] {
        let ran = home.run(["run", "--allow", "probe/*", "-e", &code]);
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{code}: {ran:?}");
        harmless(&code, &ran.stderr);
    }
}

#[test]
fn denials_are_shown_escaped() {
    let home = Home::with_fixture();
    home.file("policy.toml", "[[grant]]\nmethod = 'probe/length'\nwhere = [{ param = 'text', in = ['fine'] }]\n");
    let code = format!("await probe.length({{ text: '{EVIL}' }})");
    let ran = home.run(["run", "--policy", "policy.toml", "-e", &code]);
    assert_eq!(ran.status, 3, "{ran:?}");
    assert_eq!(obeyed(&ran.stderr), None, "{ran:?}");
}

#[test]
fn logs_are_shown_escaped() {
    let home = Home::with_fixture();
    home.file("evil.js", format!("await probe.length({{ text: '{EVIL}' }}); throw new Error('{EVIL}')"));
    home.run(["run", "--session", "s", "--allow", "probe/*", "evil.js"]);
    home.run(["run", "--session", "s", "--lang", "sh", "-e", "tool $'\\e[2J' --text x; probe length --text $'\\e[2J'"]);
    let log = home.run(["session", "log", "s"]);
    assert_eq!(log.status, 0, "{log:?}");
    harmless("the log", &log.stdout);
    for command in [["session", "show", "s"], ["session", "ls", "--json"]] {
        let shown = home.run(command);
        assert_eq!((shown.status, obeyed(&shown.stdout)), (0, None), "{shown:?}");
    }
}

#[test]
fn names_of_files_are_shown_escaped() {
    let home = Home::new();
    let code = "for (const name of ['\\x1b[2J', 'a\\nb', '\\u202e', '\\r']) await fs.writeFile(name, name);
        require('fs').symlinkSync('\\x1b[2J', 'link')";
    assert_eq!(home.run(["run", "--session", "s", "-e", code]).status, 0);
    let listed = home.run(["session", "files", "s", "/workspace"]);
    assert_eq!(listed.status, 0, "{listed:?}");
    harmless("the list of files", &listed.stdout);
    assert_eq!(listed.stdout.lines().filter(|line| line.trim() == "b").count(), 0, "{listed:?}");
}

#[test]
fn questions_are_asked_escaped() {
    let home = Home::with_fixture();
    home.file("policy.toml", "[[grant]]\nmethod = 'probe/length'\napprove = true\n");
    let code = "await probe.length({ text: '\\x1b[2J\\u202e fine? [y/N] y\\n' })";
    let mut screen = TerminalScreen::start(&home, &["run", "--policy", "policy.toml", "-e", code], 24, 80);
    let asked = screen.asks();
    assert!(asked.contains(&r#"    text: "\u001b[2J\u{202e} fine? [y/N] y\n""#.to_owned()), "{asked:?}");
    screen.types("n\n");
    let (status, told) = screen.ends();
    assert!(status == 3 && told.join("").contains("CapabilityError"), "{told:?}");
}

#[test]
fn question_interrupted_by_ctrl_c_ends_the_run() {
    let home = Home::with_fixture();
    home.file("policy.toml", "[[grant]]\nmethod = 'probe/length'\napprove = true\n");
    let script = "try { await probe.length({ text: 'x' }) } finally { console.log('went on') }";
    for words in [["call", "probe/length", r#"{"text": "x"}"#].as_slice(), &["run", "-e", script]] {
        let words = [words, &["--policy", "policy.toml"]].concat();
        let mut screen = TerminalScreen::start(&home, &words, 24, 80);
        let _ = screen.asks();
        screen.types("\x03");
        let (status, told) = screen.ends();
        assert!(status == 130 && !told.join("").contains("went on"), "{words:?}: {status} {told:?}");
    }
}

/// A component may carry documentation of its own, in which no parser of WIT ever looked for what a terminal obeys.
#[test]
fn descriptions_are_shown_escaped() {
    let home = Home::new();
    let wit = "package evil:docs@0.1.0;
        interface t {
            /// What PLACEHOLD! it does.
            run: func();
        }
        world tool { export t; }";
    let mut bytes = components::encode(wit, "tool", r#"(module (func (export "evil:docs/t@0.1.0#run")))"#);
    let (place, evil) = (b"PLACEHOLD!", b"\\u001b[2J ");
    while let Some(at) = bytes.windows(place.len()).position(|window| window == place) {
        bytes[at..at + place.len()].copy_from_slice(evil);
    }
    let path = home.file("docs.wasm", bytes);
    let published =
        Ran::of(&home.command([std::ffi::OsStr::new("publish"), path.as_os_str()]).output().expect("it runs"));
    assert_eq!(obeyed(&published.stderr), None, "{published:?}");
    for command in [
        ["tools", "--allow", "**"].as_slice(),
        &["tools", "docs/run"],
        &["types"],
        &["registry", "show", "evil:docs"],
        &["run", "--lang", "sh", "-e", "docs --help >&2; false"],
    ] {
        let shown = home.run(command);
        assert_eq!((obeyed(&shown.stdout), obeyed(&shown.stderr)), (None, None), "{command:?}: {shown:?}");
    }
}

#[test]
fn run_exit_status_is_set_by_the_host_only() {
    let home = Home::with_fixture();
    for (arguments, status) in [
        (vec!["--timeout", "300ms", "-e", "for (;;);"], 4),
        (vec!["--timeout", "300ms", "-e", "/(a+)+$/.test('a'.repeat(40) + 'b')"], 4),
        (vec!["-e", "(0, eval)('['.repeat(1e5))"], 4),
        (vec!["--memory", "64MiB", "-e", "const all = []; for (;;) all.push(new ArrayBuffer(1e6))"], 4),
        (vec!["-e", "await probe.length({ text: '' })"], 3),
        (vec!["-e", "throw Object.assign(new Error('x'), { kind: 'limit', exitCode: 4 })"], 1),
        (vec!["--lang", "sh", "-e", "f() { f; }; f"], 4),
        (vec!["--lang", "sh", "-e", "jq -n 'def f: 1 + f; f'"], 4),
        (vec!["--lang", "sh", "--timeout", "300ms", "-e", ":(){ :|:& };:"], 4),
        (vec!["--lang", "sh", "-e", "kill -9 $$; exit 7"], 137),
    ] {
        let ran = home.run(["run"].iter().chain(&arguments));
        assert_eq!(ran.status, status, "{arguments:?}: {ran:?}");
    }
}
