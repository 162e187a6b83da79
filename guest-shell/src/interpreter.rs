//! Creation of the interpreter for a script, and its preparation in the image.

use std::cell::RefCell;
use std::collections::hash_map::RandomState;
use std::future::Future as _;
use std::hint::black_box;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bashkit::{Bash, BashBuilder, BuiltinRegistry, ExecOptions, InMemoryFs, ShellState};

use crate::bindings::random;
use crate::bindings::types::{Limits, Script};
use crate::catalog::Methods;
use crate::commands::timeout::Timeout;
use crate::fs::SessionFiles;
use crate::program_command::ProgramCommand;
use crate::script_command::{self, ScriptCommand};
use crate::time_commands::{Sleep, alarm};
use crate::tool_command::{TOOL, ToolCommand};
use crate::{commands, limits, mend, state};

/// Host name of the sandbox, as `hostname` prints it.
const HOST: &str = "tollhouse";
/// User name of the script if its environment does not say, as `whoami` prints it.
const USER: &str = "agent";

/// Script that runs once while the image is created, so that the image includes what bashkit builds on first use:
/// tables, compiled patterns, parsers of arguments, jq's library. The clock reads 0 meanwhile. No random number may be
/// drawn.
const WARM_UP: &str = r#"
f() { local a=$1; echo "${a^^}"; }
for i in 1 2; do x=$(f word | sed 's/O/0/' | grep -E 'w.*d' -i | tr a-z A-Z); done
[[ $x =~ ^W ]] && printf '%s %d\n' "$x" $((i * 2)) > /tmp/a; cat /tmp/a | awk '{ print $1 }' | sort | uniq -c
echo '{"a":[1,2]}' | jq -r '.a | map(. + 1) | add'; ls -l /tmp | head -n 1 | cut -c 1-3; wc -l < /tmp/a
rg -c W /tmp/a; date -d '2 days' +%s; case $x in W*) :;; esac; arr=(1 2 3); while read -r l; do :; done < /tmp/a; rm /tmp/a; test -f /tmp/a || true
"#;

/// Expected output of the script that warms the image.
const WARMED: &str = "      1 W0RD\n5\ntot\n1\n1\n172800\n";

/// Largest number of polls of the script that warms the image.
const POLLS: usize = 1_000;

/// Limits, directory and user of nearly every script, for which the image contains a prepared interpreter. The
/// interpreter does not handle fuel.
const USUAL_LIMITS: Limits = Limits { fuel: u64::MAX, memory: 256 << 20 };
const USUAL_DIRECTORY: &str = "/workspace";

/// Commands of bashkit that need a network. A script has network access only through tools, which our `curl` and `wget`
/// also use.
const NETWORK: &[&str] = &["curl", "http", "wget"];

/// Interpreter, and the parts of its setup that differ by script.
struct Template {
    bash: Bash,
    registry: BuiltinRegistry,
}

thread_local! {
    static TEMPLATE: RefCell<Option<Template>> = const { RefCell::new(None) };
}

/// Prepares the image: creates an interpreter, and runs the warm-up script in another one.
pub(crate) fn prepare() {
    TEMPLATE.set(Some(template(USER, USUAL_DIRECTORY, &USUAL_LIMITS)));
    let builder = Bash::builder().fs(Arc::new(InMemoryFs::new())).cwd("/tmp");
    let mut bash = commands::add_all(builder, &BuiltinRegistry::new(), USER).build();
    let options = ExecOptions::new().streaming(Box::new(|_, _| {}));
    let mut execution = std::pin::pin!(bash.exec_with_options(WARM_UP, options));
    // Nothing in the script waits, but the stages of its pipeline yield.
    let mut context = Context::from_waker(Waker::noop());
    let end = (0..POLLS).find_map(|_| match execution.as_mut().poll(&mut context) {
        Poll::Ready(end) => Some(end),
        Poll::Pending => None,
    });
    // A cold image would also work, only slower, and nobody would notice.
    let warm = matches!(&end, Some(Ok(result)) if result.stdout.text_lossy() == WARMED);
    assert!(warm, "the warm-up ended as {end:?}");
}

/// Returns an interpreter for this script. It continues in the state of an earlier one, if `found` specifies it.
pub(crate) fn make(script: &Script, found: Option<ShellState>) -> Bash {
    let user = script.environment.iter().find(|(name, _)| name == "USER").map_or(USER, |(_, value)| value);
    let usual = user == USER && script.directory == USUAL_DIRECTORY && script.limits.memory == USUAL_LIMITS.memory;
    let made = if usual { TEMPLATE.take() } else { None };
    let Template { mut bash, registry } = made.unwrap_or_else(|| template(user, &script.directory, &script.limits));
    bash.set_env("HOME", &script.directory);
    if let Some(found) = found {
        state::restore(&mut bash, found, &script.directory);
    }
    for (name, value) in &script.environment {
        bash.set_env(name, value);
    }
    add_tools(&registry, script);
    bash
}

/// Initializes state that must not come from the image: random state, the start of `$SECONDS`, and `$_` for a script of
/// this name.
pub(crate) fn wake(bash: &mut Bash, name: &str) {
    let seed = random::bytes(6).into_iter().fold(0_u64, |seed, byte| seed << 8 | u64::from(byte));
    // On this target, the hash keys of the standard library start with the same number in every instance, and each use
    // increments them. bashkit derives names of temporary files from them. Using keys is therefore the only way to vary
    // the names.
    for _ in 0..seed >> 42 {
        black_box(RandomState::new());
    }
    bash.assign("RANDOM", &(seed & u64::from(u32::MAX)).to_string());
    bash.assign("SECONDS", "0");
    bash.assign("_", name);
}

fn template(user: &str, directory: &str, limits: &Limits) -> Template {
    let registry = BuiltinRegistry::new();
    let builder = builder(user, limits).cwd(directory);
    let mut bash = commands::add_all(builder, &registry, user).build();
    for (name, value) in mend::VARIABLES {
        bash.assign(name, value);
    }
    Template { bash, registry }
}

fn builder(user: &str, limits: &Limits) -> BashBuilder {
    Bash::builder()
        .fs(Arc::new(SessionFiles))
        .username(user)
        .hostname(HOST)
        .limits(limits::execution(limits))
        .session_limits(limits::session())
        .memory_limits(limits::variables(limits))
        .builtin_filter(|name| !NETWORK.contains(&name))
        .builtin("sleep", Box::new(Sleep))
        .builtin("timeout", Box::new(Timeout::new(alarm)))
}

/// Registers `tool`, the aliases, the programs, and the other languages. The host omits aliases with the name of a
/// builtin or a reserved word. An alias takes precedence over another command of the same name.
fn add_tools(registry: &BuiltinRegistry, script: &Script) {
    let methods = Arc::new(Methods::new(script.tools.clone()));
    commands::web::register(registry, &methods);
    for name in methods.aliases().into_iter().chain([TOOL]) {
        registry.insert_command(name, ToolCommand::new(Arc::clone(&methods)));
    }
    for name in script_command::NAMES {
        registry.insert_command(name, ScriptCommand);
    }
    for name in methods.programs() {
        registry.insert_command(name, ProgramCommand);
    }
}
