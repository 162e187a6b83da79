//! Mistakes of users, damaged data and full disks: commands say what is wrong and what was lost, and lose nothing else.

use std::fs;

use serde_json::Value;
use tollhouse_tests::disk::Disk;
use tollhouse_tests::{Home, Ran, damage};

fn done(home: &Home, arguments: &[&str]) -> Ran {
    let ran = home.run(arguments);
    assert_eq!(ran.status, 0, "{arguments:?}: {ran:?}");
    ran
}

fn refused(home: &Home, arguments: &[&str], status: i32, part: &str) -> Ran {
    let ran = home.run(arguments);
    assert!(ran.status == status && ran.stderr.contains(part), "{arguments:?}: {ran:?}");
    ran
}

#[test]
fn session_created_twice_at_once_has_the_files_of_one_that_succeeds() {
    let home = Home::new();
    home.file("a", "A");
    home.file("b", "B");
    for round in 0..3 {
        let name = format!("s{round}");
        let start = |file: &str| {
            let mount = format!("{}:/workspace/who", home.path().join(file).display());
            let mut command = home.command(["session", "new", &name, "--mount", &mount]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().expect("it starts")
        };
        let both = [start("a"), start("b")].map(|child| Ran::of(&child.wait_with_output().expect("it ends")));
        let won: Vec<&str> =
            [("A", &both[0]), ("B", &both[1])].iter().filter(|(_, ran)| ran.status == 0).map(|(who, _)| *who).collect();
        assert_eq!(won.len(), 1, "{both:?}");
        assert_eq!(done(&home, &["session", "cat", &name, "/workspace/who"]).stdout, won[0]);
    }
}

#[test]
fn absent_store_or_registry_is_an_error_and_is_not_created() {
    let home = Home::new();
    for arguments in [
        &["--store", "typo", "store", "verify"][..],
        &["--store", "typo", "store", "repair"],
        &["--store", "typo", "session", "ls"],
        &["--store", "typo", "session", "gc"],
        &["--store", "typo", "session", "show", "s"],
        &["store", "verify"],
    ] {
        refused(&home, arguments, 2, "there is no store at");
    }
    for arguments in [&["--registry", "typo", "registry", "verify"][..], &["--registry", "typo", "registry", "ls"]] {
        refused(&home, arguments, 2, "there is no registry at `typo`");
    }
    assert_eq!(done(&home, &["session", "ls", "--json"]).stdout.trim(), "[]", "nobody named a store");
    refused(&home, &["session", "show", "s"], 1, "there is no session `s`");
    assert!(!home.path().join("typo").exists() && !home.path().join("tollhouse/store").exists());
}

#[test]
fn doctor_finds_damage_in_store_and_registry() {
    let home = Home::with_tools(&["stats"]);
    home.js("await fs.writeFile('x', 'y'.repeat(100000))", &["--session", "s"]);
    let sound = done(&home, &["doctor"]).stdout;
    assert!(sound.contains("store: 1 session, sound") && sound.contains("registry: 1 package, sound"), "{sound}");
    damage(&home.blobs()[0]);
    let ran = home.run(["doctor"]);
    assert!(ran.status == 1 && ran.stdout.contains("FAIL store") && ran.stdout.contains("store verify"), "{ran:?}");
    let components = home.path().join("tollhouse/registry/blobs/sha256");
    let largest = fs::read_dir(components).expect("it is there").map(|entry| entry.expect("it is read").path());
    damage(&largest.max_by_key(|path| path.metadata().map_or(0, |file| file.len())).expect("there is one"));
    let ran = home.run(["doctor"]);
    assert!(ran.stdout.contains("FAIL registry") && ran.stdout.contains("ok   shell guest"), "{ran:?}");
}

#[test]
fn repair_names_what_was_lost_and_gc_goes_on_without_it_if_told() {
    let home = Home::new();
    home.js("await fs.writeFile('z', 'kept')", &["--session", "whole"]);
    let of_others = home.blobs();
    home.js("await fs.writeFile('x', 'y'.repeat(100000))", &["--session", "broken"]);
    home.blobs().iter().filter(|blob| !of_others.contains(blob)).for_each(|blob| damage(blob));
    let repaired = refused(&home, &["store", "repair"], 1, "lost");
    assert!(repaired.stderr.contains("broken@") && repaired.stderr.contains("lost: /"), "{repaired:?}");
    let stopped = refused(&home, &["session", "gc"], 1, "--skip-damaged");
    assert!(stopped.stderr.contains("`broken`"), "{stopped:?}");
    let swept = home.run(["session", "gc", "--skip-damaged", "--json"]);
    let report: Value = serde_json::from_str(&swept.stdout).expect("JSON");
    assert!(swept.status == 1 && report["damaged"][0]["session"] == "broken", "{swept:?}");
    done(&home, &["session", "rm", "broken"]);
    done(&home, &["session", "gc"]);
    assert_eq!(done(&home, &["session", "cat", "whole", "/workspace/z"]).stdout, "kept");
}

#[test]
fn store_with_a_damaged_format_file_is_repaired() {
    let home = Home::new();
    done(&home, &["session", "new", "s"]);
    fs::write(home.path().join("tollhouse/store/records/format"), [0xff; 100]).expect("it can be written");
    refused(&home, &["session", "ls"], 1, "tollhouse store repair");
    done(&home, &["store", "repair"]);
    assert!(done(&home, &["session", "ls"]).stdout.contains('s'));
    done(&home, &["store", "verify"]);
}

#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn young_store_on_a_full_disk_is_emptied_and_a_dry_run_takes_no_reserve() {
    let disk = Disk::new(96 << 20);
    let home = Home::new();
    let store = disk.path().join("store");
    let at = |arguments: &[&str]| home.run([&["--store", store.to_str().expect("UTF-8")], arguments].concat());
    let fill = |name: &str| {
        let mut file = fs::File::create(disk.path().join(name)).expect("it is made");
        while std::io::Write::write_all(&mut file, &[7; 4096]).is_ok() {}
    };
    assert_eq!(at(&["session", "new", "s"]).status, 0);
    fill("ballast");
    at(&["session", "gc", "--dry-run"]);
    assert!(store.join("reserve").exists(), "a report takes no reserve");
    let removed = at(&["session", "rm", "s"]);
    assert_eq!(removed.status, 0, "{removed:?}");
    // Others take what is left, and the store can still be opened.
    fill("more");
    let swept = at(&["session", "gc"]);
    assert_eq!(swept.status, 0, "{swept:?}");
}

#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn full_disk_of_packs_is_emptied_of_what_nobody_needs() {
    let disk = Disk::new(96 << 20);
    let home = Home::new();
    let store = disk.path().join("store");
    let at = |arguments: &[&str]| {
        let done = home.run([&["--store", store.to_str().expect("UTF-8")], arguments].concat());
        assert_eq!(done.status, 0, "{done:?}");
        done.stdout
    };
    let write =
        "for (let i = 0; i < 4000; i++) require('fs').writeFileSync(`f${i}`, require('crypto').randomBytes(1024))";
    let halve = "for (let i = 0; i < 4000; i += 2) require('fs').unlinkSync(`f${i}`)";
    at(&["run", "--session", "all", "-e", write]);
    at(&["session", "fork", "all", "halved"]);
    at(&["run", "--session", "halved", "-e", halve]);
    // With the files of its parent, and nothing else of it.
    at(&["session", "new", "half", "--from", "halved"]);
    let packs = || {
        let packs = fs::read_dir(store.join("blobs/packs")).expect("there are packs");
        packs.map(|pack| pack.and_then(|pack| pack.metadata()).expect("it is there").len()).sum::<u64>()
    };
    let before = packs();
    let mut ballast = fs::File::create(disk.path().join("ballast")).expect("it is made");
    while std::io::Write::write_all(&mut ballast, &[7; 4096]).is_ok() {}
    at(&["session", "rm", "all", "halved"]);
    at(&["session", "gc"]);
    let after = packs();
    assert!(before > 4 << 20 && after < before / 2 + (128 << 10), "{before} {after}");
    assert_eq!(at(&["run", "--session", "half", "-e", "return require('fs').readdirSync('.').length"]), "2000\n");
    at(&["store", "verify"]);
}

#[test]
fn rm_with_an_unknown_name_removes_nothing() {
    let home = Home::new();
    done(&home, &["session", "new", "a"]);
    done(&home, &["session", "new", "b"]);
    refused(&home, &["session", "rm", "a", "nosuch", "b"], 1, "`nosuch`");
    let listed: Value = serde_json::from_str(&done(&home, &["session", "ls", "--json"]).stdout).expect("JSON");
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
}

#[test]
fn recording_is_kept_if_the_next_script_never_starts() {
    let home = Home::with_tools(&["stats"]);
    let call = "return (await stats.describe({values: [1]})).mean";
    done(&home, &["run", "--record", "r.json", "--allow", "stats/*", "-e", call]);
    let before = fs::read(home.path().join("r.json")).expect("it was written");
    refused(&home, &["run", "--record", "r.json", "--force", "-e", "return 1 +"], 1, "keeps what it had");
    assert_eq!(fs::read(home.path().join("r.json")).expect("it is there"), before);
    // A shorter one replaces all of it.
    done(&home, &["run", "--record", "r.json", "--force", "-e", "return 1"]);
    assert_eq!(done(&home, &["run", "--replay", "r.json", "-e", "return 1"]).stdout, "1\n");
}

#[test]
#[ignore = "mounts a file system: takes root and loop devices"]
fn recording_on_a_full_disk_keeps_what_it_had() {
    let disk = Disk::new(32 << 20);
    let home = Home::with_tools(&["stats"]);
    let file = disk.path().join("r.json");
    let record = |code: &str| {
        let file = file.to_str().expect("UTF-8");
        home.run(["run", "--record", file, "--force", "--allow", "stats/*", "-e", code])
    };
    assert_eq!(record("return (await stats.describe({values: [1]})).mean").status, 0);
    let before = fs::read(&file).expect("it was written");
    let mut ballast = fs::File::create(disk.path().join("ballast")).expect("it is made");
    while std::io::Write::write_all(&mut ballast, &[7; 4096]).is_ok() {}
    let full = record("for (let n = 0; n < 100; n++) await stats.describe({values: Array(100).fill(n)})");
    assert!(full.status == 1 && full.stderr.contains("keeps what it had"), "{full:?}");
    assert!(!full.stderr.contains("cannot start"), "{full:?}");
    assert_eq!(fs::read(&file).expect("it is there"), before);
}

#[test]
fn keygen_writes_both_halves_or_nothing() {
    let home = Home::new();
    home.file("k.pub", "somebody's");
    refused(&home, &["policy", "keygen", "k"], 1, "never overwritten");
    refused(&home, &["registry", "keygen", "--out", "k"], 1, "never overwritten");
    assert!(!home.path().join("k").exists());
    let left = fs::read_dir(home.path()).expect("it is there").filter(|entry| {
        entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(".tollhouse-key"))
    });
    assert_eq!(left.count(), 0, "no temporary file stays");
}

#[test]
fn key_is_trusted_by_its_file_and_a_private_one_is_refused() {
    let home = Home::new();
    done(&home, &["policy", "keygen", "k"]);
    done(&home, &["registry", "trust", "add", "us", "k.pub"]);
    assert!(done(&home, &["registry", "trust", "ls"]).stdout.starts_with("us"));
    refused(&home, &["registry", "trust", "add", "them", "k"], 2, "give `k.pub`");
    home.file("p.toml", "[[grant]]\nmethod = 'stats/*'\n");
    refused(&home, &["policy", "seal", "p.toml", "--key", "k.pub"], 2, "cannot read the key `k.pub`");
    refused(&home, &["policy", "audit", "p.toml"], 2, "`p.toml` is not an audit log");
}

#[test]
fn keyed_log_is_not_continued_without_its_key_behind_the_wall() {
    let home = Home::new();
    done(&home, &["policy", "keygen", "--audit", "au.key"]);
    done(&home, &["run", "--audit", "k.log", "--audit-key", "au.key", "-e", "1"]);
    refused(&home, &["run", "--audit", "k.log", "-e", "1"], 2, "give the key: `--audit-key FILE`");
}

#[test]
fn policy_check_names_a_grant_that_asks_behind_one_that_does_not() {
    let home = Home::with_tools(&["stats"]);
    home.file("p.toml", "[[grant]]\nname = 'small'\nmethod = 'stats/*'\n[[grant]]\nname = 'large'\nmethod = 'stats/histogram'\napprove = true\n");
    let checked = done(&home, &["policy", "check", "--policy", "p.toml"]);
    assert!(
        checked.stderr.contains("grant `large` asks") && checked.stderr.contains("`small` before it"),
        "{checked:?}"
    );
    home.file("q.toml", "[[grant]]\nmethod = 'stats/histogram'\napprove = true\n[[grant]]\nmethod = 'stats/*'\n");
    assert!(!done(&home, &["policy", "check", "--policy", "q.toml"]).stderr.contains("asks"));
}

#[test]
fn hints_of_calls_name_commands_and_those_of_scripts_functions() {
    let home = Home::with_tools(&["stats"]);
    let called =
        refused(&home, &["call", "stats/describe", "{}", "--allow", "**"], 2, "`tollhouse tools stats/describe`");
    assert!(!called.stderr.contains("getToolInfo"), "{called:?}");
    refused(&home, &["call", "nosuch"], 2, "`tollhouse tools` lists");
    refused(&home, &["run", "--allow", "**", "-e", "await stats.describe({})"], 1, "getToolInfo('stats.describe')");
}

#[test]
fn options_and_selections_without_effect_are_said() {
    let home = Home::with_tools(&["stats"]);
    done(&home, &["session", "new", "s"]);
    refused(&home, &["session", "export", "s", "-", "--json"], 2, "standard output is the exported file");
    refused(&home, &["tools", "--json", "nosuch"], 2, "no mounted tool is named `nosuch`");
    refused(&home, &["registry", "search", "stats", "--limit", "0"], 2, "--limit");
    refused(&home, &["session", "why", "s", "/nosuch"], 1, "there was never a file");
    assert!(done(&home, &["session", "log", "s", "--run", "99"]).stderr.contains("no event matches"));
    home.file("not-an-export", "text");
    refused(&home, &["session", "put", "s", "not-an-export", "x"], 2, "`/workspace/x`?");
    refused(&home, &["session", "import", "not-an-export"], 1, "`tollhouse session export` wrote");
}
