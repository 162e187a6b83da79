//! `tollhouse repl` as a person has it: at a terminal.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rexpect::session::{PtySession, spawn_command};
use tollhouse_tests::Home;

/// Time that a test waits for its expected output, in milliseconds. The machine may be busy.
const PATIENCE: u64 = 60_000;

/// A repl at a terminal of its own.
struct Typed(PtySession);

impl Typed {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let mut command = home.command(["repl"].iter().chain(arguments));
        command.stdin(Stdio::inherit()).env("TERM", "xterm").env("XDG_STATE_HOME", home.path().join("state"));
        let mut typed =
            Self(spawn_command(command, Some(PATIENCE)).expect("the binary is built: run `cargo xtask test`"));
        typed.sees("Ctrl-D ends");
        typed
    }

    /// Waits for a text.
    fn sees(&mut self, text: &str) {
        self.0.exp_string(text).unwrap_or_else(|error| panic!("no `{text}`: {error}"));
    }

    /// Waits for a text; what came before it.
    fn reads_to(&mut self, text: &str) -> String {
        self.0.exp_string(text).unwrap_or_else(|error| panic!("no `{text}`: {error}"))
    }

    /// Waits for the prompt, so that what is typed next is typed to it.
    fn prompted(&mut self, prompt: &str) {
        // Behind its prompt the editor puts the cursor where the input begins.
        self.sees(prompt);
    }

    fn types(&mut self, text: &str) {
        self.0.send(text).and_then(|_| self.0.flush()).expect("it reads");
    }

    fn enters(&mut self, text: &str) {
        self.types(&format!("{text}\r"));
    }

    /// Enters an input at the prompt, and sees the answer. What is typed before the prompt is there may be lost.
    fn gets(&mut self, input: &str, answer: &str) {
        self.sees("js> ");
        self.enters(input);
        self.sees(answer);
    }

    fn presses(&mut self, control: char) {
        self.0.send_control(control).expect("it reads");
    }

    /// Ends it at its prompt, as a person does; gives its status.
    fn leaves(mut self, prompt: &str) -> i32 {
        self.sees(prompt);
        self.presses('d');
        self.ends()
    }

    /// Waits for its end; gives its status.
    fn ends(mut self) -> i32 {
        self.0.exp_eof().expect("it ends");
        // Of a type that `rexpect` does not name: `Exited(Pid(7), 0)`.
        let ended = format!("{:?}", self.0.process().wait().expect("it ended"));
        let status = ended.strip_prefix("Exited(").and_then(|rest| rest.strip_suffix(')')?.rsplit_once(", "));
        status.and_then(|(_, status)| status.parse().ok()).unwrap_or_else(|| panic!("{ended}"))
    }
}

fn history(home: &Home) -> PathBuf {
    home.path().join("state/tollhouse/repl-history")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

#[test]
fn repl_at_a_terminal_completes_edits_and_switches_languages() {
    let home = Home::with_tools(&["stats"]);
    let mut repl = Typed::start(&home, &["--allow", "stats/*"]);
    repl.prompted("js> ");
    repl.enters("6 * 7");
    repl.sees("42");
    repl.prompted("js> ");
    // A tool by two tabs.
    repl.types("(await stat\ts.des\t");
    repl.enters("({values: [100, 300]})).mean");
    repl.sees("200");
    repl.prompted("js> ");
    // A file by a tab.
    repl.enters("fs.writeFileSync('some-notes.txt', 'text of ' + 'notes')");
    repl.sees("undefined");
    repl.prompted("js> ");
    repl.types("fs.readFileSync('some-n\t");
    repl.enters("', 'utf8')");
    repl.sees("'text of notes'");
    repl.prompted("js> ");
    repl.types(".la\t");
    repl.enters("shell");
    repl.prompted("sh /workspace> ");
    repl.enters("mkdir sub; cd sub");
    repl.prompted("sh /workspace/sub> ");
    repl.types("cat ../some\t");
    repl.enters("| tr a-z A-Z");
    repl.sees("TEXT OF NOTES");
    // What ends in the middle of a line leaves the prompt its own.
    repl.prompted("sh /workspace/sub> ");
    repl.enters("exit 4");
    repl.sees("[status 4]");
    assert_eq!(repl.leaves("sh /workspace/sub> "), 4);
}

#[test]
fn repl_at_a_terminal_continues_incomplete_input() {
    let home = Home::new();
    let mut repl = Typed::start(&home, &[]);
    repl.prompted("js> ");
    repl.enters("[1, 2].map((x) => {");
    repl.enters("  return x * 100");
    repl.enters("})");
    repl.sees("[ 100, 200 ]");
    repl.prompted("js> ");
    // All of it is one entry of the history.
    repl.types("\x1b[A");
    repl.enters("[1]");
    repl.sees("200");
    repl.enters(".exit");
    assert_eq!(repl.ends(), 0);
}

#[test]
fn control_c_stops_the_script_and_clears_the_line_and_ends_nothing() {
    let home = Home::new();
    let mut repl = Typed::start(&home, &[]);
    repl.prompted("js> ");
    repl.enters("let a = 5");
    repl.sees("undefined");
    for (script, after) in [
        ("a = 6; console.log('go' + 'es'); while (true);", "a + 100"),
        ("console.log('go' + 'es'); await new Promise((r) => setTimeout(r, 1e6))", "a + 200"),
    ] {
        repl.prompted("js> ");
        repl.enters(script);
        repl.sees("goes");
        repl.presses('c');
        repl.sees("cancelled");
        repl.prompted("js> ");
        repl.enters(after);
        // What was stopped left nothing.
        repl.sees(if after.ends_with("100") { "105" } else { "205" });
    }
    repl.prompted("js> ");
    repl.types("nonsense(");
    repl.presses('c');
    repl.prompted("js> ");
    repl.enters(".lang sh");
    repl.prompted("sh /workspace> ");
    repl.enters("echo go''es; while true; do :; done");
    repl.sees("goes");
    repl.presses('c');
    repl.sees("cancelled");
    repl.prompted("sh /workspace> ");
    repl.enters("echo al''ive");
    repl.sees("alive");
    assert_eq!(repl.leaves("sh /workspace> "), 0);
}

#[test]
fn history_is_private_shared_and_can_be_off() {
    let home = Home::new();
    let (mut one, mut two) = (Typed::start(&home, &[]), Typed::start(&home, &[]));
    one.gets("'first' + 1", "'first1'");
    two.gets("'second' + 2", "'second2'");
    one.gets(" 'blank' + 3", "'blank3'");
    one.gets(".history off", "no longer kept");
    one.gets("'secret' + 4", "'secret4'");
    one.gets(".history on", "inputs are kept in");
    one.gets("'third' + 5", "'third5'");
    for repl in [one, two] {
        assert_eq!(repl.leaves("js> "), 0);
    }
    let path = history(&home);
    assert_eq!((mode(&path), mode(path.parent().expect("a directory"))), (0o600, 0o700));
    let text = fs::read_to_string(&path).expect("it is text");
    let kept: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(kept, ["'first' + 1", "'second' + 2", ".history off", "'third' + 5"]);
    let mut next = Typed::start(&home, &[]);
    next.prompted("js> ");
    next.types("\x1b[A");
    next.enters(" + 6");
    next.sees("'third56'");
    assert_eq!(next.leaves("js> "), 0);
    // Neither read nor written.
    let mut none = Typed::start(&home, &["--no-history"]);
    none.gets("'un' + 'written'", "'unwritten'");
    none.gets(".history", "as long as the repl");
    assert_eq!(none.leaves("js> "), 0);
    assert!(!fs::read_to_string(&path).expect("it is text").contains("written"));
}

#[test]
fn history_does_not_grow_for_ever() {
    let home = Home::new();
    let path = history(&home);
    fs::create_dir_all(path.parent().expect("a directory")).expect("the home can be written");
    let many: String = (0..1_500).map(|i| format!("'old{i}'\n")).collect();
    fs::write(&path, format!("#V2\n{many}")).expect("the home can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
    let mut repl = Typed::start(&home, &[]);
    repl.gets("'new' + 1", "'new1'");
    assert_eq!(repl.leaves("js> "), 0);
    let text = fs::read_to_string(&path).expect("it is text");
    assert_eq!((text.lines().count(), mode(&path)), (1_001, 0o600));
    assert!(text.ends_with("'old1499'\n'new' + 1\n"));
    // One that is none is left alone, and said.
    fs::write(&path, b"\xff\xfe\n").expect("the home can be written");
    let mut command = home.command(["repl"]);
    command.stdin(Stdio::inherit()).env("TERM", "xterm").env("XDG_STATE_HOME", home.path().join("state"));
    let mut repl = Typed(spawn_command(command, Some(PATIENCE)).expect("it starts"));
    repl.sees("there is no history in");
    repl.gets("'still' + 1", "'still1'");
    assert_eq!(repl.leaves("js> "), 0);
    assert_eq!(fs::read(&path).expect("it is there"), b"\xff\xfe\n");
}

const POLICY: &str = "[tools]\nstats = 'tollhouse:stats'\n[[grant]]\nmethod = 'stats/*'\napprove = true\n";

#[test]
fn repl_at_a_terminal_asks_for_consent() {
    let home = Home::with_tools(&["stats"]);
    let policy = home.file("policy.toml", POLICY);
    let mut repl = Typed::start(&home, &["--policy", policy.to_str().expect("it is text")]);
    for (allows, said) in [(true, "200"), (false, "a human refused the call")] {
        repl.gets("(await stats.describe({values: [100, 300]})).mean", "Type `");
        let word = repl.reads_to("` and Enter");
        repl.sees("anything else to refuse: ");
        repl.enters(if allows { &word } else { "n" });
        repl.sees(said);
    }
    assert_eq!(repl.leaves("js> "), 3);
}

#[test]
fn waiting_for_a_session_can_be_given_up() {
    let home = Home::new();
    let mut repl = Typed::start(&home, &["--session", "s"]);
    repl.gets("'re' + 'ady'", "'ready'");
    let mut busy = home.command(["run", "--session", "s", "-e", "console.log('in'); await sleep(50000)"]);
    let mut busy = busy.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut said = [0; 3];
    std::io::Read::read_exact(busy.stdout.as_mut().expect("it is piped"), &mut said).expect("it runs");
    repl.gets("1", "waiting for another run of the session `s`");
    repl.presses('c');
    repl.sees("gave up");
    busy.kill().expect("it runs");
    busy.wait().expect("it ends");
    repl.gets("'go' + 'es'", "'goes'");
    assert_eq!(repl.leaves("js> "), 0);
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let home = Home::new();
    let mut command = home.command(["repl"]);
    command
        .stdin(Stdio::inherit())
        .env("TERM", "xterm")
        .env_remove("NO_COLOR")
        .env("XDG_STATE_HOME", home.path().join("state"));
    let mut repl = Typed(spawn_command(command, Some(PATIENCE)).expect("it starts"));
    repl.gets("40 + 2", "\u{1b}[33m42\u{1b}[39m");
    repl.gets("throw new Error('x' + 1)", "\u{1b}[31mError: x1");
    assert_eq!(repl.leaves("js> "), 1);
}
