//! Both guests import their world and nothing else (DESIGN §4, invariant 1), and each run has one that nobody had.

use tollhouse::guest::Language;
use tollhouse::session::SessionOptions;
use tollhouse_tests::{Home, built, run};
use wit_component::DecodedWasm;
use wit_parser::WorldItem;

/// Interfaces that a script guest may import. Adding to this list widens what agents' code can reach.
const WORLD: [&str; 9] = [
    "tollhouse:guest/catalog@0.1.0",
    "tollhouse:guest/clock@0.1.0",
    "tollhouse:guest/files@0.1.0",
    "tollhouse:guest/fuel@0.1.0",
    "tollhouse:guest/input@0.1.0",
    "tollhouse:guest/output@0.1.0",
    "tollhouse:guest/random@0.1.0",
    "tollhouse:guest/scripts@0.1.0",
    "tollhouse:guest/types@0.1.0",
];

#[test]
fn guests_import_their_world_and_nothing_else() {
    for guest in ["js", "shell"] {
        let path = built().parent().expect("it lies in target").join("guests").join(guest).with_extension("wasm");
        let component = std::fs::read(&path).expect("`cargo xtask build` made it");
        let DecodedWasm::Component(resolve, world) = wit_component::decode(&component).expect("a component") else {
            panic!("{guest} is a WIT package");
        };
        for (key, item) in &resolve.worlds[world].imports {
            // A type by itself reaches nothing.
            if !matches!(item, WorldItem::Type { .. }) {
                let import = resolve.name_world_key(key);
                assert!(WORLD.contains(&import.as_str()), "the {guest} guest imports {import}");
            }
        }
    }
}

/// From the second run on a guest was made ahead, and earlier ones wait to be taken down.
#[test]
fn guest_of_each_run_is_fresh() {
    let home = Home::with_fixture();
    let session = home.host().session(SessionOptions::default()).expect("a session");
    let scripts = [
        (
            Language::JavaScript,
            "const found = [globalThis.left, [].left]; globalThis.left = 1; Array.prototype.left = 1; console.log(found)",
            "[ undefined, undefined ]\n",
        ),
        (
            Language::Shell,
            "echo \"<$left>\"; left=1; f() { :; }; shopt -s extglob; alias g=h; type f g; shopt -q extglob && export left",
            "<>\nf is a function\nf () \n{ \n    :\n}\n",
        ),
    ];
    for (language, script, says) in scripts {
        let mut memory = None;
        for number in 0..12 {
            let result = run(&session, language, script);
            assert_eq!(String::from_utf8_lossy(&result.stdout), says, "{language:?}, run {number}");
            let bytes = result.usage.memory_bytes;
            assert_eq!(*memory.get_or_insert(bytes), bytes, "{language:?}, run {number}: what it began with counts");
        }
    }
}
