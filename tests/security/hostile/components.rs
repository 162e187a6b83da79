//! The components: published, mounted and called, each beside a well-behaved session, and after it another tool of the
//! same session.

use std::time::{Duration, Instant};

use tollhouse::capability::Policy;
use tollhouse::guest::Language;
use tollhouse::session::{Host, SessionOptions};
use tollhouse_registry::{PublishRequest, Registry};
use tollhouse_tests::{Home, components};

use super::case::Case;
use super::generated;
use super::neighbour::{self, Neighbour};
use super::scripts::{compare, host, next, panicked};

/// Words that the head of a component may have besides those of a script's head.
const WORDS: [&str; 9] = ["wit", "publish", "tools", "script", "status", "error", "message contains", "value", "calls"];

/// Script that calls a component, unless the component's head says otherwise.
const SCRIPT: &str = "return await evil.run({})";

/// Time by which a case may exceed its limit: the component is compiled without optimisation, on a machine that others
/// use too.
const LATE: Duration = Duration::from_secs(20);

/// A component and what must come of it.
pub(super) struct Attack {
    pub(super) case: Case,
    pub(super) bytes: Vec<u8>,
}

impl Attack {
    /// Encodes a text: that of a component, or of a core module with the world that the module says it implements.
    fn of(case: Case) -> Self {
        let wit: String = case.each("wit").collect::<Vec<_>>().join("\n");
        let bytes = if wit.is_empty() {
            wat::parse_str(&case.text).unwrap_or_else(|error| panic!("{}: {error}", case.name))
        } else {
            components::encode(&wit, "tool", &case.text)
        };
        Self { case, bytes }
    }

    fn is_refused(&self) -> bool {
        self.case.get("publish") == Some("refused")
    }

    /// The package that it is published as: named after its file.
    fn package(&self) -> String {
        let stem = self.case.path.file_stem().expect("a file").to_string_lossy();
        format!("evil:{stem}")
    }

    /// Publishes the component, and returns the registry's objection, if there is one.
    fn publish(&self, registry: &Registry) -> Option<String> {
        let mut request = PublishRequest::new(self.bytes.clone());
        request.name = Some(self.package().parse().expect("a name"));
        request.version = Some("0.1.0".parse().expect("a version"));
        if self.case.get("tools").is_some() {
            request.manifest = Some(format!(
                "name = \"{}\"\nversion = \"0.1.0\"\n[permissions]\ntools = [\"evil/*\"]\n",
                self.package()
            ));
        }
        registry.publish(request).err().map(|error| told(&error))
    }

    /// Mounts it and calls it; says what was not as it must be.
    fn call(&self, host: &Host) -> Vec<String> {
        let tools = self.case.get("tools").map(|tools| format!("[tool.evil]\ntools = [\"{tools}\"]\n"));
        let policy = Policy::parse(&format!(
            "[tools]\nprobe = \"test:probe\"\nevil = \"{}\"\n[[grant]]\nmethod = \"**\"\n{}\n[limits]\n\
             memory = \"64MiB\"\nresult = \"1MiB\"\nwall = \"1s\"\n",
            self.package(),
            tools.unwrap_or_default(),
        ));
        let policy = policy.unwrap_or_else(|error| panic!("{}: {error}", self.case.name));
        let session = match host.session(SessionOptions { policy, ..SessionOptions::default() }) {
            Ok(session) => session,
            Err(error) => return vec![format!("it cannot be mounted: {}", told(&error))],
        };
        let result = neighbour::run(&session, Language::JavaScript, self.case.get("script").unwrap_or(SCRIPT));
        let mut wrong = compare(&self.case, &result);
        wrong.extend(next(&session));
        wrong
    }
}

/// An error with its causes, in one line.
fn told(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn attacks() -> Vec<Attack> {
    let written = Case::all("components", "wat", &WORDS).into_iter().map(Attack::of);
    written.chain(generated::attacks(&WORDS)).collect()
}

#[test]
fn hostile_components_are_numerous() {
    assert!(attacks().len() >= 40);
}

#[test]
fn hostile_bytes_that_are_no_component_are_refused() {
    let home = Home::new();
    let registry = Registry::open(home.path().join("tollhouse/registry")).expect("it is made");
    let mut wrong = Vec::new();
    for attack in attacks().into_iter().filter(Attack::is_refused) {
        let begun = Instant::now();
        let name = &attack.case.name;
        match attack.publish(&registry) {
            None => wrong.push(format!("{name}: it was published")),
            Some(message) => wrong.extend(
                attack
                    .case
                    .each("message contains")
                    .filter(|part| !message.contains(part))
                    .map(|part| format!("{name}: no `{part}` in `{message}`")),
            ),
        }
        if begun.elapsed() > LATE {
            wrong.push(format!("{name}: it took {:?}", begun.elapsed()));
        }
    }
    assert!(registry.list().expect("it can be read").is_empty(), "nothing was published");
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// A part of the components that can be published: every so many, from one on.
fn run(from: usize, step: usize) {
    let home = Home::with_fixture();
    let registry = Registry::open(home.path().join("tollhouse/registry")).expect("it is there");
    let chosen: Vec<Attack> =
        attacks().into_iter().filter(|attack| !attack.is_refused()).skip(from).step_by(step).collect();
    let mut wrong = Vec::new();
    for attack in &chosen {
        wrong.extend(attack.publish(&registry).map(|error| format!("{}: it is refused: {error}", attack.case.name)));
    }
    let host = host(&home);
    panicked();
    let neighbour = Neighbour::moves_in(&host);
    for attack in chosen {
        let begun = Instant::now();
        let mut faults = attack.call(&host);
        faults.extend(panicked());
        if begun.elapsed() > LATE {
            faults.push(format!("it took {:?}", begun.elapsed()));
        }
        wrong.extend(faults.into_iter().map(|fault| format!("{}: {fault}", attack.case.name)));
    }
    neighbour.leaves();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn hostile_components_are_contained_part_one() {
    run(0, 3);
}

#[test]
fn hostile_components_are_contained_part_two() {
    run(1, 3);
}

#[test]
fn hostile_components_are_contained_part_three() {
    run(2, 3);
}
