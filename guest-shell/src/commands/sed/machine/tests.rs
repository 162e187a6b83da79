//! Tests of the budget (TM-DOS-018): what it refuses, and what fits.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use super::super::script::parse;
use super::*;
use bashkit::limits::ExecutionLimits;
use std::sync::atomic::AtomicBool;

/// Runs a script on lines.
fn run(script: &str, lines: &[&str], limits: ExecutionLimits, is_cancelled: bool) -> Result<String, bashkit::Error> {
    let Ok(program) = parse(script, Default::default()).0 else {
        panic!("{script} is a script");
    };
    let settings = Settings {
        names: &[],
        read_files: &HashMap::new(),
        quiet: true,
        line_length: 0,
        separator: '\n',
        posix: false,
        budget: Some(ExecutionBudget::new(&limits, Arc::new(AtomicBool::new(is_cancelled)))),
    };
    let mut machine = Machine::new(&program, settings)?;
    let lines = lines.iter().map(|line| InputLine { text: line.to_string(), had_newline: true, file: 0 }).collect();
    let run = std::pin::pin!(machine.run_stream(lines));
    futures_util::FutureExt::now_or_never(run).expect("there is nothing to wait for")
}

/// Runs a script on lines with so many bytes of memory; returns true if it was not refused.
fn fits(script: &str, lines: &[&str], bytes: u64) -> bool {
    run(script, lines, ExecutionLimits::new().max_live_intermediate_bytes(bytes), false).is_ok()
}

#[test]
fn cancelled_budget_refuses_the_machine() {
    for script in ["p", ""] {
        assert!(run(script, &["x"], ExecutionLimits::new(), true).is_err(), "{script}");
        assert!(run(script, &["x"], ExecutionLimits::new(), false).is_ok(), "{script}");
    }
}

#[test]
fn growth_beyond_memory_is_refused() {
    assert!(!fits(":a;N;100~100{h;G};ba", &["x"; 1500], 1 << 18));
    assert!(!fits("s/x/xxxxxxxxxx/g", &["xxxxxxxxxxxxxxxx"], 64));
    assert!(!fits("h;H;H;H;H;H;H;H;H;H;H", &["xxxxxxxxxxxxxxxx"], 64));
}

#[test]
fn scripts_that_do_not_grow_fit() {
    for script in ["h;x", "D", "y/abc/xyz/"] {
        assert!(fits(script, &["x"; 2], 64), "{script}");
    }
}

#[test]
fn work_and_input_beyond_the_budget_are_refused() {
    assert!(run(&"p;".repeat(20), &["x"], ExecutionLimits::new().max_work_units(10), false).is_err());
    assert!(run("p", &["x"; 10], ExecutionLimits::new().max_aggregate_input_bytes(5), false).is_err());
}

#[test]
fn loop_without_an_end_is_refused_by_the_budget() {
    let limits = || ExecutionLimits::new().max_work_units(50_000);
    for script in [":a;s/^/x/;ta", ":a;ba", "G;D", "s/x/\\n&/;P;D"] {
        assert!(run(script, &["x"], limits(), false).is_err(), "{script}");
    }
    assert!(
        run(":a;s/x/y/;ta;p", &[&"x".repeat(3_000)], limits(), false).is_ok_and(|out| out == "y".repeat(3_000) + "\n")
    );
}
