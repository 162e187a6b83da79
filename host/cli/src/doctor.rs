//! `tollhouse doctor`.

use clap::Args;
use serde_json::{Value, json};
use tollhouse::guest::{Language, Script};
use tollhouse::session::{Host, HostError, HostOptions, RunOptions, SessionOptions, Status};

use super::confine::{self, ConfinePhase, Confinement, FilterStatus, ThreadScope};
use super::locations::Locations;
use super::registry::{self, trust};
use super::{CliError, Result, format, session, show};
use crate::Exit;

/// Show the locations of data, verify what is stored there, and test that scripts run on this machine
///
/// Exit status 1 if a check fails. A large store takes as long as `tollhouse store verify`.
#[derive(Args)]
pub(crate) struct DoctorCommand {
    /// Print one JSON object: version, ok, checks (an array of {name, ok, seen})
    #[arg(long)]
    json: bool,
    /// Print the access that a confined process keeps instead: files, system calls by phase, their arguments
    #[arg(long, conflicts_with = "json")]
    wall: bool,
}

/// Check of the installation: its name, whether it passed, and the finding.
struct HealthCheck(&'static str, bool, String);

impl DoctorCommand {
    /// Prints the checks; the exit status is 1 if one failed.
    pub(crate) fn execute(self, locations: &Locations) -> Result {
        if self.wall {
            let left = confine::describe().map_err(|error| CliError::because("cannot describe the wall", &error))?;
            show::line(left.trim_end());
            return Ok(Exit::SUCCESS);
        }
        let checks = checks(locations);
        let well = checks.iter().all(|check| check.1);
        if self.json {
            let listed: Vec<Value> = checks
                .iter()
                .map(|HealthCheck(name, ok, seen)| json!({ "name": name, "ok": ok, "seen": seen }))
                .collect();
            let report = json!({ "version": env!("CARGO_PKG_VERSION"), "ok": well, "checks": listed });
            show::json_pretty(&report);
        } else {
            show::line(format_args!("tollhouse {}", env!("CARGO_PKG_VERSION")));
            for HealthCheck(name, ok, seen) in &checks {
                show::line(format_args!("{} {name:<16} {seen}", if *ok { "ok  " } else { "FAIL" }));
            }
        }
        Ok(if well { Exit::SUCCESS } else { Exit::FAILURE })
    }
}

fn checks(locations: &Locations) -> Vec<HealthCheck> {
    let mut checks =
        vec![cache(locations), history(locations), store(locations), registry(locations), trusted_keys(locations)];
    checks.extend([wall(), refusals()]);
    // An unusable registry is reported above, and says nothing of the guests.
    let host = match locations.host_with(None) {
        Ok(host) => host,
        Err(error) => {
            checks.push(HealthCheck("engine", false, error.in_one_line()));
            return checks;
        }
    };
    checks.push(script("javascript guest", &host, Language::JavaScript, "return [1, 2, 3].map(n => n * 2).join(' ')"));
    checks.push(script(
        "shell guest",
        &host,
        Language::Shell,
        "for n in 1 2 3; do printf '%s ' $((n * 2)); done | sed 's/ $//'",
    ));
    checks
}

/// Shows where the `repl` keeps its history.
fn history(locations: &Locations) -> HealthCheck {
    let path = locations.state.as_ref().map(|path| path.display().to_string());
    HealthCheck("history", true, path.unwrap_or_else(|| "none: no home directory".to_owned()))
}

/// Opens the store, and verifies what is in it.
fn store(locations: &Locations) -> HealthCheck {
    let path = locations.store.display();
    if !locations.has_store() {
        return HealthCheck("store", true, format!("{path}: there is none yet"));
    }
    let sessions = match locations.existing_sessions() {
        Ok(sessions) => sessions,
        Err(error) => return HealthCheck("store", false, error.in_one_line()),
    };
    match super::store::check(&sessions) {
        Ok(found) if found.problems.is_empty() => {
            HealthCheck("store", true, format!("{path}: {}, sound", format::count(found.sessions, "session")))
        }
        Ok(found) => {
            let problems = format::count(found.problems.len() as u64, "problem");
            HealthCheck("store", false, format!("{path}: {problems}; `tollhouse store verify` lists them"))
        }
        Err(error) => HealthCheck("store", false, session::failed(&format!("{path}"), &error).in_one_line()),
    }
}

/// Reads the keys that this user trusts.
fn trusted_keys(locations: &Locations) -> HealthCheck {
    let path = locations.trusted.display();
    match trust::all(locations) {
        Ok(keys) => HealthCheck("trusted keys", true, format!("{path}: {}", format::count(keys.len() as u64, "key"))),
        Err(error) => HealthCheck("trusted keys", false, error.in_one_line()),
    }
}

/// Checks the cache of compiled code. Without one, only speed is lost.
fn cache(locations: &Locations) -> HealthCheck {
    let Some(path) = &locations.cache else { return HealthCheck("cache", true, "none: no home directory".to_owned()) };
    match Host::new(&HostOptions { cache: Some(path.clone()), ..HostOptions::default() }) {
        Err(HostError::Cache(error)) => HealthCheck("cache", false, CliError::because("unusable", &error).to_string()),
        _ => HealthCheck("cache", true, path.display().to_string()),
    }
}

/// Features that Landlock has gained since its first version, with the version.
const LEARNT: [(u8, &str); 5] = [
    (4, "TCP (Linux 6.7)"),
    (5, "devices (6.10)"),
    (6, "signals and abstract sockets (6.12)"),
    (8, "restricting threads that already run (7.0)"),
    (9, "UNIX sockets by path (7.1)"),
];

/// Tries the Landlock restrictions in a thread that then ends. Without them the sandbox is as good.
fn wall() -> HealthCheck {
    let seen = match std::thread::spawn(|| Confinement::default().stand(ThreadScope::Current)).join() {
        Ok(Ok(Some(version))) => {
            let missing: Vec<&str> =
                LEARNT.iter().filter(|(since, _)| *since > version).map(|(_, what)| *what).collect();
            let without = if missing.is_empty() {
                String::new()
            } else {
                format!("; not supported by this kernel: {}", missing.join(", "))
            };
            format!("Landlock file restrictions active{without}")
        }
        Ok(Ok(None)) => "not on this system".to_owned(),
        _ => {
            return HealthCheck(
                "landlock",
                false,
                "this kernel has it and refuses it; `--no-landlock` runs without".into(),
            );
        }
    };
    HealthCheck("landlock", true, seen)
}

/// Tries the seccomp filters, in the same way.
fn refusals() -> HealthCheck {
    let seen = match std::thread::spawn(|| confine::hold(ConfinePhase::RUN, ThreadScope::Current)).join() {
        Ok(Ok(FilterStatus::Active)) => "seccomp filters active",
        Ok(Ok(FilterStatus::Unsupported)) => "not on this system",
        _ => {
            return HealthCheck(
                "seccomp",
                false,
                "this kernel has it and refuses it; `--no-seccomp` runs without".into(),
            );
        }
    };
    HealthCheck("seccomp", true, seen.to_owned())
}

/// Verifies the registry.
fn registry(locations: &Locations) -> HealthCheck {
    let path = locations.registry.display();
    if !locations.has_registry() {
        return HealthCheck("registry", true, format!("{path}: there is none yet"));
    }
    let packages = match registry::open(locations).and_then(|open| open.latest().map_err(|e| registry::unreadable(&e)))
    {
        Ok(packages) => packages.len() as u64,
        Err(error) => return HealthCheck("registry", false, error.in_one_line()),
    };
    let problems = locations.registry().verify(|_, _, _| {}).problems.len() as u64;
    if problems > 0 {
        let problems = format::count(problems, "problem");
        return HealthCheck("registry", false, format!("{path}: {problems}; `tollhouse registry verify` lists them"));
    }
    HealthCheck("registry", true, format!("{path}: {}, sound", format::count(packages, "package")))
}

/// Runs a script that must print or return `2 4 6`, and reports how long it took.
fn script(name: &'static str, host: &Host, language: Language, source: &str) -> HealthCheck {
    let script = Script { source: source.to_owned(), name: "doctor".to_owned(), ..Script::default() };
    let started = host
        .session(SessionOptions::default())
        .and_then(|session| session.start(language, script, RunOptions::default()));
    let result = match started {
        Ok(run) => run.finish(),
        Err(error) => return HealthCheck(name, false, error.to_string()),
    };
    let printed = String::from_utf8_lossy(&result.stdout);
    let answer = result.value.as_ref().and_then(Value::as_str).unwrap_or(&printed);
    let well = result.status == Status::Completed && answer == "2 4 6";
    let seen = match &result.error {
        _ if well => format!("runs; {} us", result.usage.wall_micros),
        Some(error) => error.to_string(),
        None => format!("gave {answer:?}"),
    };
    HealthCheck(name, well, seen)
}
