//! What attackers write, and what must come of it: the corpus in `tests/hostile`, whose README says how a case is
//! written. A test for each group, so that a failure names the file.

use std::collections::BTreeSet;

use tollhouse_tests::root;

mod case;
mod components;
mod generated;
mod neighbour;
mod scripts;
mod terminal;

/// A test for each group of scripts.
macro_rules! groups {
    ($($test:ident: $directory:literal $extension:literal;)*) => {
        $(#[test]
        fn $test() {
            scripts::run($directory, $extension);
        })*

        /// The groups that tests run.
        const GROUPS: &[(&str, &str)] = &[$(($directory, $extension)),*];
    };
}

groups! {
    loops_in_javascript: "loops" "js";
    loops_in_typescript: "loops" "ts";
    loops_in_bash: "loops" "sh";
    memory_in_javascript: "memory" "js";
    memory_in_bash: "memory" "sh";
    output_in_javascript: "output" "js";
    output_in_bash: "output" "sh";
    stacks_in_javascript: "stack" "js";
    stacks_in_bash: "stack" "sh";
    processes_in_javascript: "processes" "js";
    processes_in_bash: "processes" "sh";
    paths_in_javascript: "paths" "js";
    paths_in_bash: "paths" "sh";
    prototypes: "prototypes" "js";
    words: "prototypes" "sh";
    forgeries_in_javascript: "forgery" "js";
    forgeries_in_bash: "forgery" "sh";
}

#[test]
fn hostile_scripts_all_have_a_test() {
    let tested: BTreeSet<(String, String)> =
        GROUPS.iter().map(|(directory, extension)| ((*directory).to_owned(), (*extension).to_owned())).collect();
    let (mut found, mut scripts) = (BTreeSet::new(), 0);
    for directory in std::fs::read_dir(root().join("tests/hostile/scripts")).expect("the corpus is there") {
        let directory = directory.expect("it can be read");
        for file in std::fs::read_dir(directory.path()).expect("a directory for each group") {
            let path = file.expect("it can be read").path();
            let extension = path.extension().expect("the language is in the name").to_string_lossy().into_owned();
            found.insert((directory.file_name().to_string_lossy().into_owned(), extension));
            scripts += 1;
        }
    }
    assert_eq!(found, tested);
    assert!(scripts >= 150, "{scripts} scripts");
}
