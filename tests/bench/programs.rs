//! Start of programs: each run has a fresh instance. Programs that `cargo xtask programs` built are measured if they
//! exist.

use std::time::Duration;

use tollhouse::guest::Language;
use tollhouse::session::Host;
use tollhouse_tests::{Home, built};

use crate::calls::{host, run, session};
use crate::table::{figure, median, row};

/// Measures runs of programs.
pub(crate) fn measure() {
    let home = Home::new();
    home.publish_program("wasm32-wasip1");
    let host = self::host(home.path());
    row("program from JavaScript, fresh instance", javascript(&host), "0.3 ms", None, None);
    row("program from the shell, fresh instance", shell(&host, "prog args", 100), "0.3 ms", None, None);
    for (package, name, line, count) in [
        ("uutils-0.12.0", "uutils", "uutils true", 50),
        ("python3-3.14.0", "python3", "python3 -c 'print(1)'", 20),
        ("python3-3.14.0", "python3", "python3 -c 'import json, re, dataclasses'", 20),
    ] {
        let place = built().join("../programs").join(package);
        if !place.exists() {
            figure(&format!("{name}: make it with `cargo xtask programs {name}`"), "", "");
            continue;
        }
        let home = Home::new();
        home.publish(&place);
        let aim = if name == "python3" { "40 ms" } else { "" };
        row(line, shell(&self::host(home.path()), line, count), aim, None, None);
    }
}

/// Returns the time of a run, from the difference between a script that makes many and one that makes none.
fn javascript(host: &Host) -> Duration {
    const RUNS: u32 = 200;
    let script = |runs: u32| format!("for (let i = 0; i < {runs}; i++) await prog({{arguments: ['args']}})");
    let session = session(host);
    run(&session, Language::JavaScript, &script(1));
    let many = median(7, || run(&session, Language::JavaScript, &script(RUNS)));
    let none = median(7, || run(&session, Language::JavaScript, &script(0)));
    many.saturating_sub(none) / RUNS
}

fn shell(host: &Host, line: &str, runs: u32) -> Duration {
    let script = |runs: u32| format!("for ((i = 0; i < {runs}; i++)); do {line}; done > /dev/null");
    let session = session(host);
    run(&session, Language::Shell, &script(1));
    let many = median(7, || run(&session, Language::Shell, &script(runs)));
    let none = median(7, || run(&session, Language::Shell, &script(0)));
    many.saturating_sub(none) / runs
}
