//! `tollhouse completions` in a real bash, and `tollhouse man`.

use std::process::Command;

use tollhouse_tests::Home;

/// Returns what bash offers for the last of these words.
fn offered(home: &Home, words: &[&str]) -> Vec<String> {
    let ran = home.run(["completions", "bash"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let script = home.file("completions.bash", ran.stdout);
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let code = format!(
        "source {}; COMP_WORDS=({}); COMP_CWORD={}; COMP_TYPE=9; _clap_complete_tollhouse tollhouse '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display(),
        quoted.join(" "),
        words.len() - 1,
        words.last().expect("there are words")
    );
    let program = home.command(["completions"]);
    let directory = std::path::Path::new(program.get_program()).parent().expect("it is in a directory");
    let path = std::env::join_paths([directory.as_os_str(), "/usr/bin".as_ref(), "/bin".as_ref()]).expect("a path");
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &code]).current_dir(home.path());
    bash.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("PATH", path);
    let output = bash.output().expect("bash is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(|line| line.trim().to_owned()).collect()
}

#[test]
fn bash_completes_commands_options_and_names() {
    let home = Home::with_tools(&["stats"]);
    for name in ["trip", "trap", "other"] {
        assert_eq!(home.run(["session", "new", name]).status, 0);
    }
    assert_eq!(offered(&home, &["tollhouse", "sess"]), ["session"]);
    assert_eq!(offered(&home, &["tollhouse", "run", "--sess"]), ["--session"]);
    assert_eq!(offered(&home, &["tollhouse", "run", "--session", "tr"]), ["trap", "trip"]);
    assert_eq!(offered(&home, &["tollhouse", "session", "log", "o"]), ["other"]);
    assert_eq!(offered(&home, &["tollhouse", "call", "stats/des"]), ["stats/describe"]);
    let elsewhere = ["tollhouse", "session", "--store", "elsewhere", "log", "o"];
    assert!(!offered(&home, &elsewhere).contains(&"other".to_owned()));
    assert_eq!(offered(&home, &["tollhouse", "precompile", "tollhouse:s"]), ["tollhouse:stats"]);
}

#[test]
fn completion_without_store_and_registry_offers_no_names() {
    let home = Home::new();
    assert_eq!(offered(&home, &["tollhouse", "session", "log", ""]).iter().filter(|word| *word == "trip").count(), 0);
    assert_eq!(offered(&home, &["tollhouse", "call", "x"]).iter().filter(|word| *word == "x").count(), 0);
    let made: Vec<_> =
        std::fs::read_dir(home.path()).expect("it can be read").flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(made, ["completions.bash"], "nothing else is created");
}

#[test]
fn completions_are_printed_for_known_shells_only() {
    let home = Home::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = home.run(["completions", shell]);
        assert!(ran.status == 0 && ran.stdout.contains("TOLLHOUSE_COMPLETE"), "{shell}: {ran:?}");
    }
    let ran = home.run(["completions", "csh"]);
    assert!(ran.status == 2 && ran.stderr.contains("possible values"), "{ran:?}");
}

#[test]
fn manual_has_a_page_for_each_command() {
    let home = Home::new();
    let ran = home.run(["man", "man/man1"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    for (page, text) in
        [("tollhouse", "tollhouse\\-run"), ("tollhouse-run", "EXTRA"), ("tollhouse-session-fork", "fork")]
    {
        let path = home.path().join(format!("man/man1/{page}.1"));
        let written = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(written.contains(".TH") && written.contains(text), "{page}: {written}");
    }
    home.file("file", "");
    let ran = home.run(["man", "file"]);
    assert!(ran.status == 1 && ran.stderr.contains("cannot write to `file`"), "{ran:?}");
}
