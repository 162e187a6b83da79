//! Memory of the host's process while a script does its worst with values that are small as text and large as data.

use std::process::Stdio;
use std::time::Duration;

use tollhouse_tests::{Home, Ran};

/// Memory limit of the runs here.
const LIMIT: u64 = 64 << 20;

/// Bytes that a process may have beyond the limit: the guest itself, texts that cross its border, code, and lists that
/// grow by doubling.
const CONSTANT: u64 = 448 << 20;

/// Runs a script and returns what it came to, with the largest resident set of the process, in bytes.
fn measured(home: &Home, arguments: &[&str]) -> (Ran, u64) {
    let memory = LIMIT.to_string();
    let fixed = ["run", "--limit", &format!("memory={memory}B"), "--timeout", "120s"];
    let mut command = home.command(fixed.iter().copied().chain(arguments.iter().copied()));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary is built");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    // The largest size only grows, so that the last look before the end is nearly the peak.
    while child.try_wait().expect("it is a child").is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        peak = kib.map_or(peak, |kib| kib << 10);
        std::thread::sleep(Duration::from_millis(2));
    }
    (Ran::of(&child.wait_with_output().expect("it ended")), peak)
}

/// Checks that a script ends with this output, within the limit and the constant.
fn stays_within(home: &Home, arguments: &[&str], expected: &str) {
    let (ran, peak) = measured(home, arguments);
    assert!(ran.stdout.contains(expected) || ran.stderr.contains(expected), "{ran:?}");
    assert!(peak > 0 && peak < LIMIT + CONSTANT, "{} MiB: {arguments:?}", peak >> 20);
}

const ROWS: &str = "const row = Array(1000).fill(0), rows = Array(1000).fill(row), text = (n) => Array(n).fill(rows);";

#[test]
fn arguments_that_nobody_granted_take_bounded_memory() {
    let home = Home::with_tools(&["stats"]);
    let script = format!("{ROWS} return await stats.describe({{ values: text(14) }}).catch((error) => error.message)");
    stays_within(&home, &["-e", &script], "bytes of memory that are left for them");
}

#[test]
fn arguments_of_calls_at_once_share_the_memory() {
    let home = Home::with_tools(&["stats"]);
    let script = format!(
        "{ROWS} const flat = rows.slice(0, 300).flat();
        const all = await Promise.allSettled([1, 2, 3, 4, 5, 6].map(() => stats.describe({{ values: flat }})));
        return all.filter((one) => one.status === 'rejected').map((one) => one.reason.message)[0]"
    );
    stays_within(&home, &["--allow", "stats/*", "-e", &script], "bytes of memory that are left for them");
}

#[test]
fn arguments_from_the_shell_take_bounded_memory() {
    let home = Home::with_tools(&["stats"]);
    let script = "z=0,0,0,0,0,0,0,0,0,0; for i in 1 2 3 4 5 6; do z=$z,$z,$z,$z,$z,$z,$z; done
        tool stats describe --json \"{\\\"values\\\":[$z]}\" | head -c 300";
    let (ran, peak) = measured(&home, &["--lang", "sh", "-e", script]);
    assert!(peak > 0 && peak < LIMIT + CONSTANT, "{} MiB: {ran:?}", peak >> 20);
}

#[test]
fn value_that_a_script_returns_takes_bounded_memory() {
    let script = format!("{ROWS} return text(14)");
    stays_within(&Home::new(), &["-e", &script], "returned a value of more than");
}

#[test]
fn arguments_within_the_memory_are_passed() {
    let home = Home::with_tools(&["stats"]);
    let script = format!("{ROWS} return (await stats.describe({{ values: rows.slice(0, 400).flat() }})).count");
    stays_within(&home, &["--allow", "stats/*", "-e", &script], "400000");
}
