//! `tollhouse repl`, as scripts use it: inputs by a pipe. What a person does at a terminal is in `terminal`.

use std::io::Write as _;
use std::process::Stdio;

use tollhouse::guest::Language;
use tollhouse::session::{Host, HostOptions};
use tollhouse_tests::{Home, Ran};

mod terminal;

/// Gives inputs to a repl, and what they come to.
fn repl(home: &Home, arguments: &[&str], inputs: &str) -> Ran {
    let mut command = home.command(["repl"].iter().chain(arguments));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary is built: run `cargo xtask test`");
    // Few enough to fit the pipe.
    child.stdin.take().expect("it is piped").write_all(inputs.as_bytes()).expect("it reads");
    Ran::of(&child.wait_with_output().expect("it ends"))
}

/// Returns the output of inputs, none of which may fail.
fn prints(arguments: &[&str], inputs: &str) -> String {
    let ran = repl(&Home::new(), arguments, inputs);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{ran:?}");
    ran.stdout
}

#[test]
fn values_are_shown_as_node_shows_them() {
    let inputs = "1 + 1\n'it'\n({a: [1, {b: new Map([[1, 2]])}]})\n{ x: 1, y: 2 }\nundefined\nawait Promise.resolve(5)\nreturn 7\n\
                  if (true) { 'last' }\nnew Error('no').message\nconsole.log('said')\n// nothing\nPromise.resolve(1)\n";
    let shown = "2\n'it'\n{ a: [ 1, { b: [Map] } ] }\n{ x: 1, y: 2 }\nundefined\n5\n7\n'last'\n'no'\nsaid\nundefined\n\
                 undefined\nPromise { 1 }\n";
    assert_eq!(prints(&[], inputs), shown);
}

#[test]
fn repl_declarations_are_kept_for_the_next_input() {
    let inputs = "const a = 20, {b, c: [d]} = {b: 1, c: [2]}\na + b + d\nlet twice = (x) => x * 2\nfunction add(x) { return twice(x) + a }\n\
                  class Point { constructor(x) { this.x = x } get double() { return twice(this.x) } }\nadd(1)\nnew Point(4).double\n\
                  var v = [a]; w = v\nv.push(3); w\nconst a = 'again'\na\n_ + '!'\nstate.n = 1\nstate.n + 1\n";
    let shown = "undefined\n23\nundefined\nundefined\nundefined\n22\n8\n[ 20 ]\n[ 20, 3 ]\nundefined\n'again'\n'again!'\n1\n2\n";
    assert_eq!(prints(&[], inputs), shown);
}

#[test]
fn repl_imports_are_kept_for_the_next_input() {
    let inputs = "const {join} = require('path')\nimport {basename} from 'node:path'\nimport * as util from 'util'\n\
                  const os = await import('os')\nfs.writeFileSync('m.mjs', 'export default (x) => x + 1')\nimport more from './m.mjs'\n\
                  [join('a', 'b'), basename('/x/y'), util.inspect(1), typeof os.EOL, more(1)]\n\
                  more(2)\n";
    let shown = prints(&[], inputs);
    assert!(shown.ends_with("[ 'a/b', 'y', '1', 'string', 2 ]\n3\n"), "{shown}");
}

#[test]
fn repl_bindings_that_cannot_be_kept_are_reported() {
    let inputs = "const counter = (() => { let n = 0; return () => ++n })()\ncounter()\n\
                  class P {}\nconst p = new P()\np\nconst o = {f() {}}; const q = {o}\n";
    let ran = repl(&Home::new(), &[], inputs);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(
        ran.stderr.contains("not kept for the next input: `counter` (a function that sees more than globals)"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("ReferenceError: counter is not defined"), "{ran:?}");
    assert!(ran.stderr.contains("`p` (#<P> could not be cloned.)"), "{ran:?}");
    // Of what cannot be kept, no half is kept either.
    assert!(ran.stderr.contains("`o` (f() {} could not be cloned.), `q` ("), "{ran:?}");
}

#[test]
fn repl_input_that_is_incomplete_continues_on_the_next_line() {
    let inputs = "function f(a,\n  b) {\n  return a + b\n}\nf(1, 2)\n{\n  x: 1,\n  y: `a\n  b`\n}\n[1,\n2].map(\n(x) => x\n)\n/* a\ncomment */ 5\n";
    assert_eq!(prints(&[], inputs), "undefined\n3\n{ x: 1, y: 'a\\n  b' }\n[ 1, 2 ]\n5\n");
    let inputs = "for i in 1 2\ndo\n  echo $i\ndone\ncat <<END\nif\nEND\necho 'a\nb' |\n  tr a-z A-Z\nf()\n{ echo \"$1\"; }\nf \\\n  x\n";
    assert_eq!(prints(&["--lang", "sh"], inputs), "1\n2\nif\nA\nB\nx\n");
    // What is open at the end is wrong.
    let ran = repl(&Home::new(), &[], "1\nf(\n");
    assert_eq!((ran.status, ran.stdout.as_str()), (1, "1\n"));
    assert!(ran.stderr.contains("SyntaxError"), "{ran:?}");
}

#[test]
fn repl_input_in_typescript_has_its_types_removed() {
    let inputs = "interface P { x: number }\nconst p: P = { x: 1 } as P\nconst f = (p: P): number => p.x + 1\nfunction g<T>(x: T): T { return x }\n\
                  enum Color { Red, Blue }\n[f(p), g<string>('s'), Color.Blue]\n";
    let shown = prints(&["--lang", "ts"], inputs);
    assert!(shown.ends_with("[ 2, 's', 1 ]\n"), "{shown}");
}

#[test]
fn repl_input_in_bash_keeps_the_state_of_the_shell() {
    let inputs = "mkdir -p d; cd d\nx=1; f() { echo \"$x in $PWD\"; }\nf\nfalse\nexit 7\nx=2 f\n.lang\n";
    let ran = repl(&Home::new(), &["--lang", "shell"], inputs);
    assert_eq!(ran.stdout, "1 in /workspace/d\n2 in /workspace/d\nsh\n", "{ran:?}");
    assert_eq!(ran.stderr, "[status 1]\n[status 7]\n");
    assert_eq!(ran.status, 0);
}

#[test]
fn repl_languages_share_files_and_keep_own_state() {
    let inputs = "const a = 1\nfs.writeFileSync('n.txt', 'one')\n.lang shell\ncat n.txt; echo; cd /tmp\n.lang js\na\n.lang sh\npwd\n.lang perl\n";
    let ran = repl(&Home::new(), &[], inputs);
    assert_eq!(ran.stdout, "undefined\nundefined\none\n1\n/tmp\n", "{ran:?}");
    assert!(ran.stderr.contains("there is no language `perl`"), "{ran:?}");
    assert_eq!(ran.status, 2);
}

#[test]
fn errors_end_no_repl_and_the_last_input_says_the_status() {
    let inputs = "throw new TypeError('mine')\nnope\nlet 1\n.nope\n.hepl\n.cat\n.cat none\n.tools a b\nprocess.exit(3)\nwhile (true);\n'alive'\n";
    let home = Home::new();
    let ran = repl(&home, &["--fuel", "100000"], inputs);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "'alive'\n"), "{ran:?}");
    for said in [
        "TypeError: mine",
        "at repl:1",
        "ReferenceError: nope is not defined",
        "SyntaxError",
        "there is no `.nope`",
        "did you mean `.help`?",
        "`.cat` takes a PATH",
        "cannot read `/workspace/none`",
        "`.tools` takes [METHOD], got 2 words",
        "[status 3]",
        "fuel",
    ] {
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
    assert_eq!(repl(&home, &[], "1\nprocess.exit(3)").status, 3);
    assert_eq!(repl(&home, &[], "x").status, 1);
    assert_eq!(repl(&home, &[], "x\n.exit\n1").status, 1);
    assert_eq!(repl(&home, &[], "x\n.exit 9\n1").status, 9);
    assert_eq!(repl(&home, &["--fuel", "100000"], "while (true);").status, 4);
}

#[test]
fn repl_input_that_fails_keeps_changes_and_one_stopped_does_not() {
    let inputs = "let a = 1\na = 2; throw 1\na\na = 3; while (true);\na\nawait new Promise(() => {})\na\n";
    let ran = repl(&Home::new(), &["--fuel", "100000"], inputs);
    assert_eq!(ran.stdout, "undefined\n2\n2\n2\n", "{ran:?}");
}

#[test]
fn repl_input_with_pending_timers_is_waited_for() {
    let inputs = "setTimeout(() => console.log('later'), 10); 'now'\nconst p = new Promise((r) => setTimeout(r, 5, 'done')); p.then(console.log); 1\n";
    assert!(prints(&[], inputs.split_once('\n').expect("two").0).ends_with("'now'\nlater\n"));
    let ran = repl(&Home::new(), &[], inputs);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "'now'\nlater\n1\ndone\n"), "{ran:?}");
    assert!(ran.stderr.contains("`p` (#<Promise>"), "{ran:?}");
}

const POLICY: &str =
    "[tools]\nstats = 'tollhouse:stats'\n[[grant]]\nname = 'two'\nmethod = 'stats/describe'\ncalls = 2\n";

#[test]
fn repl_commands_show_tools_budgets_snapshots_and_roll_back() {
    let home = Home::with_tools(&["stats"]);
    let policy = home.file("policy.toml", POLICY);
    let inputs = "const mean = async (...values) => (await stats.describe({values})).mean\n.budgets\nawait mean(1, 2, 3)\n.budgets\n\
                  fs.writeFileSync('a', 'one')\n.snapshot good\nfs.writeFileSync('a', 'two'); let b = 1\n.rollback\n.cat a\n\ntypeof b\n\
                  fs.writeFileSync('a', 'three')\n.rollback good\nfs.readFileSync('a', 'utf8')\n.files\n.tools stats\n.rollback 99\n.rollback none\n";
    let ran = repl(&home, &["--policy", policy.to_str().expect("it is text")], inputs);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[1].ends_with("two: 2 of 2 calls left"), "{ran:?}");
    assert_eq!(lines[2], "2");
    assert!(lines[3].ends_with("two: 1 of 2 calls left"), "{ran:?}");
    assert!(lines[5].starts_with("repl@3  ") && lines[5].ends_with("[good]"), "{ran:?}");
    assert_eq!(
        lines[7..12],
        [
            "repl@5 has the files and variables of repl@3",
            "one'undefined'",
            "undefined",
            "repl@8 has the files and variables of repl@good",
            "'one'"
        ]
    );
    assert!(lines[12].ends_with("3 B  a"), "{ran:?}");
    assert!(ran.stdout.contains("stats describe"), "{ran:?}");
    assert!(ran.stderr.contains("has no run 99") && ran.stderr.contains("has no label `none`"), "{ran:?}");
    assert_eq!(ran.status, 1);
}

#[test]
fn repl_session_continues_in_next_repl_and_in_run() {
    let home = Home::new();
    assert_eq!(repl(&home, &["--session", "s"], "let a = {n: 1}; state.a = a\n").stdout, "{ n: 1 }\n");
    let ran = home.js("state.a.n++; return typeof a", &["--session", "s", "--keep-state"]);
    assert_eq!(ran["value"], "undefined", "{ran}");
    // They are still one object.
    assert_eq!(repl(&home, &["--session", "s"], "a.n\na === state.a\n").stdout, "2\ntrue\n");
    let shown = home.run(["session", "show", "s"]);
    assert_eq!(shown.stdout.matches("completed").count(), 4, "{shown:?}");
    assert_eq!(repl(&home, &["--session", "s", "--no-keep-state"], "typeof a\n").stdout, "'undefined'\n");
    let other = repl(&home, &["--session", "s", "--allow", "x/*"], "1\n");
    assert_eq!(other.status, 2);
    assert!(other.stderr.contains("was created with different grants"), "{other:?}");
}

#[test]
fn repl_of_a_session_in_use_waits() {
    let home = Home::new();
    assert_eq!(repl(&home, &["--session", "s"], "1\n").status, 0);
    let script = "console.log('in'); await sleep(1500); await fs.writeFile('left', 'by it')";
    let mut busy = home.command(["run", "--session", "s", "-e", script]);
    let mut busy = busy.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut said = [0; 3];
    std::io::Read::read_exact(busy.stdout.as_mut().expect("it is piped"), &mut said).expect("it runs");
    // The file is there once the other run has ended.
    let ran = repl(&home, &["--session", "s"], "await fs.readFile('left', 'utf8')\n3\n");
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "'by it'\n3\n"), "{ran:?}");
    assert_eq!(ran.stderr, "waiting for another run of the session `s` to end; Ctrl-C gives up\n");
    assert!(busy.wait().expect("it ends").success());
}

#[test]
fn repl_with_hostile_inputs_survives() {
    let home = Home::new();
    let mut deep = "[".repeat(100_000);
    deep.push('\n');
    // Too deep for the parser: it is run, which says so.
    let ran = repl(&home, &[], &format!("({}\n'alive'\n", &deep[..50_000].trim_end()));
    assert!(ran.status != 0 || ran.stdout.contains("alive"), "{ran:?}");
    let mut command = home.command(["repl"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let _ = stdin.write_all(&vec![b'('; 2 << 20]);
    drop(stdin);
    let ran = Ran::of(&child.wait_with_output().expect("it ends"));
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("an input has at most 1024 KiB"), "{ran:?}");
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("it is piped").write_all(b"1\n'\xff'\n2\n").expect("it reads");
    let ran = Ran::of(&child.wait_with_output().expect("it ends"));
    assert_eq!((ran.status, ran.stdout.as_str()), (2, "1\n"), "{ran:?}");
    assert!(ran.stderr.contains("not UTF-8"), "{ran:?}");
}

#[test]
fn parsers_tell_incomplete_inputs_from_complete_ones() {
    let host = Host::new(&HostOptions::default()).expect("the host starts");
    let open = |language, source: &str, name: &str| host.is_open(language, source, name).expect("the guest is there");
    for source in [
        "f(",
        "[1,",
        "{",
        "{ a: 1,",
        "{ a: 1, b:",
        "`a",
        "`a${",
        "/*",
        "1 +",
        "a =",
        "if (x)",
        "function f() {",
        "class A {",
        "x => {",
        "(x) =>",
        "a ? b",
        "a ? b :",
        "async () => {\n  await x",
        "const a = {",
        "import {a}",
        "f(`${[1,",
        "do {",
        "switch (x) {\ncase 1:",
        "try { x() } catch {",
        "for (let i = 0; i < 3; i++)",
        "'a\\",
        "x = 1; a.",
    ] {
        assert!(open(Language::JavaScript, source, "repl"), "{source}");
    }
    for source in [
        "",
        "1",
        "f()",
        "{ a: 1, b: 2 }",
        "{ a: }",
        "'a",
        "\"a",
        "let 1",
        ")",
        "f(]",
        "}",
        "// {",
        "'{'",
        "/[/",
        "return 1",
        "await f()",
        "import a from 'b'",
        "{ let a = 1; a }",
        "with (a) b",
        "x = {}",
        "function f() {}",
        "const x",
        "const x; /*",
        "a b =>",
        "x = ) {",
        "if (x) else",
        "try { x() }",
    ] {
        assert!(!open(Language::JavaScript, source, "repl"), "{source}");
    }
    for (source, goes_on) in [
        ("const a: {", true),
        ("interface A {", true),
        ("f<T>(", true),
        ("const a: number = 1", false),
        ("type A =", true),
    ] {
        assert_eq!(open(Language::JavaScript, source, "repl.ts"), goes_on, "{source}");
    }
    for source in [
        "if true",
        "if true; then",
        "for i in 1 2; do echo $i",
        "while true; do",
        "case x in",
        "case x in a) echo;;",
        "f() {",
        "f()",
        "{ echo",
        "( echo",
        "echo 'a",
        "echo \"a",
        "echo $(ls",
        "echo `ls",
        "echo a |",
        "true &&",
        "echo a \\",
        "cat <<EOF",
        "cat <<EOF\nline",
        "cat <<-'E'\n$x\n",
        "a=(1 2",
        "[[ -n x &&",
        "echo ${a",
    ] {
        assert!(open(Language::Shell, source, "bash"), "{source}");
    }
    for source in [
        "",
        "echo hi",
        "echo # don't",
        "if true; then echo; fi",
        "cat <<EOF\nline\nEOF",
        "cat <<EOF\nline\nEOF\n",
        "echo \\\\",
        "fi",
        "echo )",
        "a=(1 2)",
        "f() { :; }",
        "sleep 1 &",
        "cat <<< 'x'",
    ] {
        assert!(!open(Language::Shell, source, "bash"), "{source}");
    }
}
