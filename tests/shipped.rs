//! Programs as their projects released them, in the shell: uutils coreutils, ripgrep, jaq, SQLite, CPython and git, which `cargo
//! xtask test --full` builds first.

use serde_json::Value;
use tollhouse_tests::{Home, binary, built, root};

/// Policy of the tests.
const POLICY: &str = "[[grant]]\nmethod = \"**\"\n";

/// A home where these programs are, and see the session's files. The version is part of the name.
fn home_with(programs: &[&str], policy: &str) -> Home {
    let home = Home::with_tools(&["stats"]);
    let mut text = format!("{policy}\n[tools]\nstats = \"tollhouse:stats\"\n");
    for program in programs {
        home.publish(&built().join("../programs").join(program));
        let name = program.split('-').next().expect("it has a name");
        text += &format!("{name} = \"tollhouse:{name}\"\n");
    }
    for program in programs {
        let name = program.split('-').next().expect("it has a name");
        text += &format!("[tool.{name}]\nfiles = [\"/workspace\", \"/tmp\"]\n");
        if name == "python3" && !policy.contains("no tools") {
            text += "tools = [\"stats/*\"]\n";
        }
    }
    home.file("policy.toml", text);
    home
}

const UUTILS: &str = "uutils-0.12.0";
const RG: &str = "rg-15.2.0";
const JAQ: &str = "jaq-3.1.2";
const SQLITE: &str = "sqlite3-3.49.1";
const PYTHON: &str = "python3-3.14.0";
const GIT: &str = "git-2.47.3";

fn sh(home: &Home, script: &str) -> Value {
    // The first run compiles, which takes none of the script's time, and memory is what an interpreter takes.
    home.sh(script, &["--policy", "policy.toml"])
}

fn out(ran: &Value) -> &str {
    ran["stdout"].as_str().unwrap_or_default()
}

#[test]
fn coreutils_program_runs_as_commands() {
    let home = home_with(&[UUTILS], POLICY);
    let ran = sh(
        &home,
        "printf 'b\na\n' | uutils sort; yes | uutils head -n 1; uutils seq 100000 | uutils tail -n 1
        echo three > f; uutils cp f g; cat g; uutils wc -c < g; uutils cat nosuch; echo $?; uutils nonsense; echo $?
        uutils test -f g && uutils sha1sum g; mkdir d; cd d; uutils cat ../g; uutils false || echo $?",
    );
    let expected = "a\nb\ny\n100000\nthree\n6\n1\n1\n\
        1e7720a3460b8a84ac4ba27880d64526a3872f1c  g\nthree\n1\n";
    assert_eq!(out(&ran), expected, "{ran}");
}

#[test]
fn ripgrep_searches_files_and_streams() {
    let home = home_with(&[RG], POLICY);
    let ran = sh(
        &home,
        "mkdir -p d/e; printf 'one\ntwo x\n' > d/a; echo 'x three' > d/e/b
        rg x d; rg nothing d; echo $?; rg '(' d 2>/dev/null; echo $?
        printf 'b\nax\n' | rg x; printf 'b\nax\n' | rg x -; rg two; cd d; rg -c x .. --sort path; yes x | rg x | head -1",
    );
    assert_eq!(out(&ran), "d/a:two x\nd/e/b:x three\n1\n2\nax\nax\nd/a:two x\n../d/a:1\n../d/e/b:1\nx\n", "{ran}");
}

#[test]
fn jaq_program_runs_as_a_command() {
    let home = home_with(&[JAQ], POLICY);
    let ran = sh(
        &home,
        "echo '{\"a\": [1, 2]}' > f; jaq -c .a f; jaq '.a | add' < f; echo '[3]' | jaq '.[0]'
        jaq -e .b f; echo $?; jaq '.a |' f 2>/dev/null; echo $?; jaq -n '[range(3)] | length'",
    );
    assert_eq!(out(&ran), "[1,2]\n3\n3\nnull\n1\n3\n3\n", "{ran}");
}

#[test]
fn sqlite_keeps_databases_in_files_of_the_session() {
    let home = Home::new();
    home.publish(&built().join("../programs").join(SQLITE));
    let ran = home.sh(
        r#"sqlite3 a.db 'create table t(a, b); insert into t values (1, "x,y"), (2, null)'; sqlite3 -csv -header a.db 'select * from t'
        mkdir d; cd d; sqlite3 ../a.db 'select count(*) from t'; sqlite3 ../b.db 'create table u(x)'; ls; ls ..
        printf 'n,m\n1,2\n' > f.csv; sqlite3 ../b.db '.import --csv f.csv v' '.tables' 'select m from v'; cd /tmp
        sqlite3 /workspace/a.db <<< 'begin; delete from t; select changes(); rollback; select count(*) from t;'
        sqlite3 -readonly /workspace/a.db 'delete from t' 2>/dev/null; echo $?; sqlite3 /nowhere.db 'create table t(a)' 2>/dev/null; echo $?
        sqlite3 /workspace/a.db .dump | sqlite3 c.db; sqlite3 c.db 'select a from t'; echo 'selec' | sqlite3 2>&1; echo $?"#,
        &["--allow", "sqlite3/run"],
    );
    let expected = "a,b\n1,\"x,y\"\n2,\n2\na.db\nb.db\nd\nu  v\n2\n2\n2\n8\n1\n1\n2\n\
        Parse error near line 1: near \"selec\": syntax error\n  selec\n  ^--- error here\n1\n";
    assert_eq!(out(&ran), expected, "{ran}");
}

#[test]
fn shipped_programs_run_in_one_pipeline() {
    let home = home_with(&[UUTILS, RG, JAQ], POLICY);
    let ran = sh(
        &home,
        "for n in 3 1 2; do echo \"{\\\"n\\\": $n}\"; done | jaq .n | uutils sort -n | rg -v 2 | tr '\n' ' '",
    );
    assert_eq!(out(&ran), "1 3 ", "{ran}");
}

#[test]
fn python_runs_what_its_command_line_names() {
    let home = home_with(&[PYTHON], POLICY);
    let ran = sh(
        &home,
        r#"python3 -c 'print(1)'; python3 -c 'import sys; sys.exit(3)'; echo $?
        mkdir d; cd d; echo 'def hi(): return "hi"' > string.py
        printf 'import string, sys, os, json\nprint(string.hi(), sys.argv, os.getcwd(), __file__)\nopen("out", "w").write("made\\n")' > script.py
        python3 script.py a 'b c'; cat out; cd ..; python3 d/script.py; ls d
        echo 'print("stdin", 1 + 1)' | python3; echo 'print("dash")' | python3 - x
        printf 'a\nb\n' | python3 -c 'import sys; [print(line.strip().upper()) for line in sys.stdin]'
        GIVEN=yes python3 -c 'import os; print(os.environ["GIVEN"])'; python3 nosuch.py 2>/dev/null; echo $?
        python3 -m json.tool --compact <<< '{"a": 1}'; python3 -V; python3 --nonsense 2>/dev/null; echo $?
        python3 -c 'while True: print("y")' 2>/dev/null | head -1"#,
    );
    let expected = "1\n3\nhi ['script.py', 'a', 'b c'] /workspace/d script.py\nmade\n\
        hi ['d/script.py'] /workspace d/script.py\nout\nscript.py\nstring.py\n\
        stdin 2\ndash\nA\nB\nyes\n2\n{\"a\":1}\nPython 3.14.0\n2\ny\n";
    assert_eq!(out(&ran), expected, "{ran}");
}

#[test]
fn python_loses_nothing_of_what_it_writes_at_once() {
    let home = home_with(&[PYTHON], POLICY);
    let ran = sh(
        &home,
        "python3 -c 'print(\"x\" * 300_000)' | wc -c
        python3 -u -c 'import sys; sys.stderr.write(\"x\" * 200_000)' 2>&1 | wc -c",
    );
    assert_eq!(out(&ran), "300001\n200000\n", "{ran}");
}

#[test]
fn python_granted_as_a_command_works_on_the_session_s_files() {
    let home = Home::new();
    home.publish(&built().join("../programs").join(PYTHON));
    let ran = home.sh(
        r##"mkdir d; cd d; echo 'def hi(): return "hi"' > own.py
        printf '#!/usr/bin/env python3\nimport own, sys, os\nprint(own.hi(), sys.argv, os.getcwd())\n' > s.py
        echo 'open("out", "w").write("made\n")' >> s.py
        python3 s.py a 'b c'; cat out; chmod +x s.py; ./s.py x; cd /tmp; python3 /workspace/d/s.py; cat out
        sorted='import csv, json, sys; print(json.dumps(sorted(csv.reader(sys.stdin))))'
        printf 'b,1\na,2\n' | python3 -c "$sorted" | jq -c '.[0]'
        python3 -c 'import sys; sys.exit(7)'; echo $?
        python3 <<'END'
import datetime, json, re, sqlite3
database = sqlite3.connect("/workspace/t.db")
database.execute("create table t(a)")
database.execute("insert into t values (7)")
database.commit()
print(re.sub(r"\d", "#", "a1"), datetime.date(2024, 2, 29) + datetime.timedelta(days=366))
END
        python3 -c 'import sqlite3; print(sqlite3.connect("/workspace/t.db").execute("select a from t").fetchall())'
        for wrong in 'open("/zzz", "w")' 'open("/etc/passwd")' 'open("/root/x", "w")'; do
            python3 -c "$wrong" 2>/dev/null; echo $?
        done; ls"##,
        &["--allow", "python3/run"],
    );
    let expected = "hi ['s.py', 'a', 'b c'] /workspace/d\nmade\nhi ['./s.py', 'x'] /workspace/d\n\
        hi ['/workspace/d/s.py'] /tmp\nmade\n[\"a\",\"2\"]\n7\na# 2025-03-01\n[(7,)]\n1\n1\n1\nout\n";
    assert_eq!(out(&ran), expected, "{ran}");
    let ran = home.run(["run", "--allow", "python3", "--lang", "sh", "-e", "echo 1 > s.py; python3 s.py"]);
    assert!(ran.stderr.contains("note: `python3` sees no files"), "{ran:?}");
}

#[test]
fn python_says_what_to_do_without_processes_and_sockets() {
    let home = Home::new();
    home.publish(&built().join("../programs").join(PYTHON));
    for (code, told) in [
        ("import subprocess; subprocess.run(['ls'])", "no process can be started here"),
        ("import os; os.system('ls')", "no process can be started here"),
        ("import os; os.popen('ls')", "no process can be started here"),
        ("import multiprocessing as m; m.Process(target=print).start()", "no process can be started here"),
        ("import multiprocessing as m; m.Pool(2)", "no process can be started here"),
        ("import socket; socket.socket()", "there is no network here"),
        ("import socket; socket.create_connection(('example.com', 80))", "there is no network here"),
        ("import urllib.request as u; u.urlopen('http://example.com')", "there is no network here"),
    ] {
        let ran = home.sh(&format!("python3 -c \"{code}\""), &["--allow", "python3/run"]);
        let stderr = ran["stderr"].as_str().unwrap_or_default();
        assert!(
            ran["exit_code"] == 1 && stderr.trim_end().lines().last().is_some_and(|line| line.contains(told)),
            "{ran}"
        );
    }
}

#[test]
fn python_tells_of_its_errors() {
    let home = home_with(&[PYTHON], POLICY);
    let ran = sh(
        &home,
        "printf 'def f():\n    1 / 0\nf()\n' > s.py; python3 s.py; echo $?; python3 -c 'x ='; echo $?
        python3 -c 'raise SystemExit(\"bye\")'; python3 -c 'import nosuch'",
    );
    assert_eq!(out(&ran), "1\n1\n", "{ran}");
    let told = ran["stderr"].as_str().unwrap_or_default();
    for part in [
        "Traceback (most recent call last):\n  File \"s.py\", line 3, in <module>\n    f()\n",
        "ZeroDivisionError: division by zero\n",
        "SyntaxError: invalid syntax\n",
        "bye\n",
        "ModuleNotFoundError: No module named 'nosuch'\n",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains("command.py"), "nothing of what runs it: {told}");
}

#[test]
fn python_has_its_library() {
    let home = home_with(&[PYTHON], POLICY);
    let ran = sh(
        &home,
        r#"cat > s.py <<'END'
import asyncio, csv, datetime, decimal, hashlib, logging, pathlib, re, sqlite3, statistics, tempfile, unittest, zlib
print(hashlib.sha256(b"x").hexdigest()[:8], decimal.Decimal("0.1") + 1, re.sub("a", "b", "aa"))
print(sqlite3.connect(":memory:").execute("select 1 + 1").fetchall(), len(zlib.compress(b"a" * 1000)) < 100)
pathlib.Path("t.csv").write_text("a,b\n1,2\n")
print(list(csv.reader(open("t.csv"))), statistics.mean([1, 2, 6]))
async def late(n):
    await asyncio.sleep(n / 100)
    return n
async def main():
    print(await asyncio.gather(late(3), late(1)))
    try:
        await asyncio.wait_for(late(500), 0.02)
    except TimeoutError:
        print("late")
asyncio.run(main())
with tempfile.TemporaryFile() as file:
    print(file.write(b"abc"))
END
        python3 s.py; python3 -c 'import asyncio; asyncio.run(asyncio.Event().wait())' 2>&1 | tail -1"#,
    );
    let expected = "2d711642 1.1 bb\n[(2,)] True\n[['a', 'b'], ['1', '2']] 3\n[3, 1]\nlate\n3\n\
        RuntimeError: the event loop waits for nothing that can happen: here are no sockets and no threads\n";
    assert_eq!(out(&ran), expected, "{ran}");
}

#[test]
fn python_random_is_replayed_equal_and_differs_between_runs() {
    let home = home_with(&[PYTHON], POLICY);
    let ran = sh(&home, "for i in 1 2; do python3 -c 'import random; print(random.random())'; done | sort -u | wc -l");
    assert_eq!(out(&ran).trim(), "2", "{ran}");
}

#[test]
fn python_calls_tools_through_the_gate() {
    let script = r#"cat > s.py <<'END'
import tollhouse_tools as t
print(t.stats.describe(values=[1, 2, 6])["mean"], t.call("stats/describe", {"values": [4]})["max"])
print(dir(t.stats), t.stats.linear_fit.__name__)
try:
    t.stats.describe(values=[])
except t.ToolError as error:
    print(error.kind, error.payload["kind"])
for call in (lambda: t.stats.describe(value=[]), lambda: t.nosuch.tool(), lambda: t.python3(arguments=[])):
    try:
        call()
    except t.Error as error:
        print(type(error).__name__)
END
        python3 s.py; echo $?; python3 -c 'import tollhouse_tools as t; help(t.stats.describe)' | head -4 | tail -1"#;
    let home = home_with(&[PYTHON], POLICY);
    let ran = sh(&home, script);
    let expected = "3 4\n['correlation', 'describe', 'histogram', 'linear_fit', 'quantiles'] stats/linear-fit\n\
        tool empty\nArgumentError\nArgumentError\nCapabilityError\n0\n    Summarises numbers: count, mean, sample \
        standard deviation, min, max, median.\n";
    assert_eq!(out(&ran), expected, "{ran}");
    let methods: Vec<&str> =
        ran["calls"].as_array().expect("calls").iter().filter_map(|call| call["method"].as_str()).collect();
    assert_eq!(methods[..3], ["python3", "stats/describe", "stats/describe"], "{ran}");
}

#[test]
fn python_calls_no_tool_that_its_policy_does_not_name() {
    let home = home_with(&[PYTHON], &format!("# no tools\n{POLICY}"));
    let script = "python3 -c 'import tollhouse_tools as t
print(dir(t).count(\"stats\"))
try:
    t.stats.describe(values=[1])
except t.CapabilityError as error:
    print(error.kind, \"[tool.ALIAS]\" in error.hint)'";
    let ran = sh(&home, script);
    assert_eq!(out(&ran), "0\ncapability True\n", "{ran}");
}

/// Settings that make the objects of two runs the same, and nothing of the machine's configuration count.
const GIT_SETTINGS: &str = "export HOME=$PWD/home LC_ALL=C TZ=UTC GIT_CONFIG_NOSYSTEM=1 TERM=dumb
    unset EDITOR VISUAL GIT_EDITOR
    export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@x GIT_AUTHOR_DATE='1700000000 +0000'
    export GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@x GIT_COMMITTER_DATE='1700000000 +0000'
    mkdir home repo; cd repo; git init -q -b main; git config core.fileMode false\n";

#[test]
fn git_program_commits_diffs_stashes_and_checks() {
    let home = home_with(&[GIT], POLICY);
    let script = "printf '1\n2\n3\n' > f; git add f; git commit -qm one; git rev-parse HEAD
        echo 4 >> f; git status -s; git diff --shortstat; git stash -q; tail -1 f; git stash pop -q; git commit -qam two
        git checkout -q -b b HEAD~1; echo 0 > g; git add .; git commit -qm three; git merge -q --no-edit main
        git log --graph --format=%s; mkdir d; cd d; git rev-parse --show-prefix --show-toplevel; cd ..
        git nonsense 2> /dev/null; echo $?; git gc -q; git fsck 2> /dev/null; git show HEAD:f | tail -1";
    let ran = sh(&home, &format!("{GIT_SETTINGS}{script}"));
    let expected = "721772795b8e971aae3703f4bbe36ebe8c9cdc01\n M f\n 1 file changed, 1 insertion(+)\n3\n\
        *   Merge branch 'main' into b\n|\\  \n| * two\n* | three\n|/  \n* one\nd/\n/workspace/repo\n1\n\
        dangling commit 8fce19586fb88fb84f1a0ab3f33046da5508b458\n4\n";
    assert_eq!(out(&ran), expected, "{ran}");
}

/// Commands, a line each, of which the real git says and leaves the same.
const GIT_SCRIPTS: [&str; 5] = [
    include_str!("git/basics.sh"),
    include_str!("git/branches.sh"),
    include_str!("git/stash.sh"),
    include_str!("git/patches.sh"),
    include_str!("git/repositories.sh"),
];

/// A script that runs each line, and says what it wrote, first to its standard output; what differs by place is replaced.
fn transcript(lines: &str) -> String {
    let mut script = GIT_SETTINGS.to_owned();
    for line in lines.lines().filter(|line| !line.is_empty()) {
        script += &format!("{{ {line}\n}} > ../out 2> ../err < /dev/null; s=$?\n");
        script += "echo \"= $s\"; cat ../out ../err | sed \"s,${HOME%/home},TOP,g\"\n";
    }
    script + "git rev-parse --all; git status -s; cat .git/HEAD; git stash list; git ls-files -s\n"
}

#[test]
fn git_says_and_leaves_what_the_real_one_does() {
    let home = home_with(&[GIT], POLICY);
    for lines in GIT_SCRIPTS {
        let script = transcript(lines);
        let directory = tempfile::tempdir().expect("a temporary directory");
        let mut bash = std::process::Command::new("bash");
        bash.args(["-c", &script]).current_dir(directory.path()).env_clear().stdin(std::process::Stdio::null());
        let real =
            bash.env("PATH", std::env::var_os("PATH").unwrap_or_default()).output().expect("bash and git are there");
        let real = String::from_utf8_lossy(&real.stdout);
        let ran = sh(&home, &script);
        let differs = real.lines().zip(out(&ran).lines()).position(|(one, other)| one != other);
        assert!(real == out(&ran), "from line {differs:?} on\nreal:\n{real}\nours:\n{}", out(&ran));
    }
}

#[test]
fn git_starts_no_other_program_and_says_so() {
    let home = home_with(&[GIT], POLICY);
    let ran = sh(
        &home,
        &format!(
            "{GIT_SETTINGS}mkdir -p .git/hooks; echo 'exit 1' > .git/hooks/pre-commit
            git commit -q --allow-empty -m hooked 2> said; head -1 said; git config advice.ignoredHook false; git commit --allow-empty 2>&1 | tail -1
            EDITOR=vi git commit --allow-empty 2> said; head -1 said; git clone -q . ../c 2> said; head -1 said; ls ..; ls .git | grep lock"
        ),
    );
    let expected = "hint: The '.git/hooks/pre-commit' hook was ignored because it's not set as executable.\n\
        Please supply the message using either -m or -F option.\n\
        hint: git cannot start other programs here\nhint: git cannot start other programs here\nhome\nrepo\n";
    assert_eq!(out(&ran), expected, "{ran}");
}

#[test]
fn git_reaches_only_the_files_that_are_granted() {
    let home = home_with(&[GIT], POLICY);
    let ran = sh(
        &home,
        "git init -q /nowhere; echo $?; git -C /tmp init -q x; ls /tmp; git -C / status 2>/dev/null; echo $?",
    );
    assert_eq!(out(&ran), "128\nx\n128\n", "{ran}");
}

#[test]
fn program_guide_commands_run_with_shipped_programs() {
    let guide = std::fs::read_to_string(root().join("docs/programs.md")).expect("the guide is there");
    let home = Home::with_tools(&["stats"]);
    for program in [UUTILS, RG, JAQ, SQLITE, PYTHON, GIT] {
        home.publish(&built().join("../programs").join(program));
    }
    let policy = guide.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("it shows a policy");
    home.file("programs.toml", policy);
    let mut said = Vec::new();
    for line in guide.lines().filter_map(|line| line.strip_prefix("$ tollhouse ")) {
        let mut bash = std::process::Command::new("bash");
        bash.args(["-euc", &format!("{} {line}", binary().display())])
            .current_dir(home.path())
            .envs(home.environment());
        let output = bash.stdin(std::process::Stdio::null()).output().expect("bash runs");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}\nended with {}:\n{told}", output.status);
        said.push(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let described = "{'count': 3, 'mean': 3, 'stdDev': 2.6457513110645907, 'min': 1, 'max': 6, 'median': 2}\n";
    assert_eq!(said, ["a\n", "[1,2]\n", "y\n1\n", "42\n", "[{\"x\":7}]\n", "/workspace\n", described, "HI\n\n"]);
}
