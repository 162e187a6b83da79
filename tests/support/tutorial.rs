//! Follows the tutorial of `docs/publishing.md` literally.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use crate::{Home, binary, root};

/// Heading after the end of the tutorial.
pub const END: &str = "\n## A package directory\n";

/// Runs the commands of the tutorial in one shell, in an empty home, with the programs of this machine: first those
/// under the heading of a language, and then those for all languages.
pub fn follow(home: &Home, language: &str, environment: &[(&str, OsString)]) {
    let text = std::fs::read_to_string(root().join("docs/publishing.md")).expect("the guide is there");
    let tutorial = text.split_once(END).expect("the tutorial has an end").0;
    let own = tutorial.split_once(&format!("\n### {language}\n")).expect("the tutorial has this language").1;
    let own = own.split("\n### ").next().expect("there is always a first");
    let shared = tutorial.split_once("\n### Then\n").expect("the tutorial goes on").1;
    let blocks = own.split("```sh\n").skip(1).chain(shared.split("```sh\n").skip(1));
    let script: String = blocks.filter_map(|block| block.split("```").next()).collect();
    let programs = home.path().join("bin");
    std::fs::create_dir_all(&programs).expect("the home can be written");
    std::os::unix::fs::symlink(binary(), programs.join("tollhouse")).expect("a link");
    let path = std::env::var("PATH").expect("there is a PATH");
    let mut bash = Command::new("bash");
    bash.args(["-euxo", "pipefail", "-c", &script]).current_dir(home.path()).stdin(Stdio::null());
    bash.env_remove("CARGO_TARGET_DIR").envs(home.environment()).envs(environment.iter().cloned());
    let output = bash.env("PATH", format!("{}:{path}", programs.display())).output().expect("bash runs");
    let (said, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{script}\nended with {}:\n{said}\n{told}", output.status);
    assert!(said.contains("\"total\": 900"), "{script}\nsaid:\n{said}\n{told}");
}
