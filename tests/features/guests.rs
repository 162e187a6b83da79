//! Both guests import their world and nothing else (DESIGN §4, invariant 1).

use tollhouse_tests::built;
use wit_component::DecodedWasm;
use wit_parser::WorldItem;

/// All that a script guest may import. Adding to this list widens what agents' code can reach.
const WORLD: [&str; 7] = [
    "tollhouse:guest/catalog@0.1.0",
    "tollhouse:guest/clock@0.1.0",
    "tollhouse:guest/files@0.1.0",
    "tollhouse:guest/fuel@0.1.0",
    "tollhouse:guest/output@0.1.0",
    "tollhouse:guest/random@0.1.0",
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
