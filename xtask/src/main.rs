//! Development tasks of Tollhouse: `cargo xtask COMMAND` sets up a machine, builds, tests, fuzzes, measures and makes
//! releases.

mod advisories;
mod bench;
mod build;
mod bundle;
mod conditional_tests;
mod conformance;
mod crash;
mod demo;
mod differential;
mod docs;
mod fuzz;
mod guests;
mod mcp;
mod package;
mod patched;
mod programs;
mod python;
mod release;
mod rivals;
mod run;
mod seed;
mod setup;
mod test;

use anyhow::{Result, bail};

const USAGE: &str = "\
cargo xtask COMMAND

  demo               sets up what is missing, builds what the demo needs, publishes its tools, runs it
  test [--full [PART]...]
                     builds everything and runs the tests; --full adds foreign toolchains and long runs; with parts of
                     these (sizes, docs, packages, release, foreign, seed, mcp, python) only they are run, after a build
  build [--release]  builds guests, tools and host; the binary is target/{debug,release}/tollhouse
  guests [--check]   builds the guests from their sources and stores them in host/guests, for everyone who has no clang;
                     --check compares what is built with what is stored
  package            packages the crates that are published, checks that they are whole and not too large, and builds the
                     command line from them alone
  release [--version X] [--out DIR] [--profile NAME] [--snapshot] [--check]
                     makes all that is published of the version that this commit is tagged with, and tries it: archive with a
                     static binary, packages for Debian, npm and Python, container image, installers, bill of materials,
                     checksums; in target/dist; --snapshot needs no tag; --check only says what is inconsistent
  patch              makes the patched copy of bashkit that the shell guest uses; every build does
  wheel              builds the Python package as a wheel, in target/wheels, and tries it in an environment without Rust
  seed               runs the published tests of amla-sandbox, from PyPI, against the Python package's drop-in; after a build
  programs [NAME]... makes uutils coreutils, ripgrep, jaq, sqlite3, python3 and git programs of the shell, and publishes them
  bundle [--check]   makes guest-js/node/bundle.js anew from its sources and npm; --check only compares
  bench [calls] [fairness] [files] [mcp] [memory] [programs] [python] [registry] [sessions] [shell]
                     measures what is promised, all of it or these parts, beside Node.js, bashkit and just-bash
  soak [--minutes N] [--sessions M]
                     runs good, bad and hostile scripts in many sessions at once; 1 minute, 32 sessions unless told
  conformance DIR [--rivals]
                     scores the shell by the cases in a directory; with bashkit natively and just-bash beside it
  differential SUBJECT... [--count N] [--seed N] [--jobs N] [--shrink N] [--keep DIR] [--case N] [--ours PROGRAM]
                     generates scripts, runs them by the real programs and by tollhouse, and groups what differs by cause;
                     2000 scripts, seed 7 by default; --case shows one script and both results
  fuzz [TARGET | --all] [--seconds N | --minutes N | --hours N] [--seeded]
                     fuzzes what reads hostile text and bytes and what hostile guests say, one target or all, a minute
                     each; --hours is the time of all together; exit status 1 on a finding, whose input it names;
                     --seeded puts a bug in front of each, and sees whether it finds it
  crash [--cycles N]
                     kills processes that use a store, and cuts the power under it, 200 times unless told
  check              what CI checks besides the tests: format, lints, licences, advisories, documentation
  docs               builds the documentation as a site that can be searched, in target/docs/site; with a reference of commands,
                     keys of policies and the Python package, made from the code
  advisories [--require] [--from DIR]
                     checks all dependencies by the RustSec advisory database; --require fails where that cannot be
                     fetched, --from takes a clone of it
";

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [] | ["help", ..] | [.., "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        ["demo"] => demo::demo(),
        ["test"] => test::test(false),
        ["test", "--full"] => test::test(true),
        ["test", "--full", parts @ ..] => test::full(parts),
        ["build"] => build::all(build::Profile::Debug),
        ["build", "--release"] => build::all(build::Profile::Release),
        ["seed"] => seed::test(build::Profile::Debug),
        ["guests"] => guests::renew(false),
        ["guests", "--check"] => guests::renew(true),
        ["release", arguments @ ..] => release::release(arguments),
        ["package"] => package::test(),
        ["wheel"] => python::wheel(),
        ["patch"] => patched::bashkit(),
        ["programs", names @ ..] => programs::programs(names),
        ["bundle"] => bundle::bundle(false),
        ["bundle", "--check"] => bundle::bundle(true),
        ["bench", parts @ ..] => bench::bench(parts),
        ["soak", options @ ..] => bench::soak(options),
        ["conformance", directory] => conformance::conformance(directory.as_ref(), false),
        ["conformance", directory, "--rivals"] => conformance::conformance(directory.as_ref(), true),
        ["differential", arguments @ ..] => differential::differential(arguments),
        // Internal: `differential` starts this command in its sandbox.
        ["differential-worker"] => differential::work(),
        ["fuzz", arguments @ ..] => fuzz::fuzz(arguments),
        ["crash", arguments @ ..] => crash::crash(arguments),
        ["check"] => test::check(),
        ["docs"] => docs::docs(),
        ["advisories", arguments @ ..] => advisories::advisories(arguments),
        _ => bail!("`{}` is no command\n\n{USAGE}", arguments.join(" ")),
    }
}
