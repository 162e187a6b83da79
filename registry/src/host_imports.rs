//! Imports that a Tollhouse host provides, compared with those of a component.

use semver::Version;

use crate::component::Component;
use crate::unused_permissions::imports;

/// Packages whose interfaces the host provides to every tool, with the prefix of their versions.
const GIVEN: [(&str, &str); 10] = [
    ("wasi:cli", "0.2."),
    ("wasi:clocks", "0.2."),
    ("wasi:filesystem", "0.2."),
    ("wasi:http", "0.2."),
    ("wasi:io", "0.2."),
    ("wasi:keyvalue", "0.2.0-draft2"),
    ("wasi:random", "0.2."),
    ("wasi:sockets", "0.2."),
    ("tollhouse:program", "0.1."),
    ("tollhouse:tool", "0.1."),
];

/// Returns imports that nobody can ever satisfy: they are not interfaces of a package, so no other tool exports them.
pub(crate) fn impossible(component: &Component) -> Vec<String> {
    imports(component).into_iter().filter(|import| package(import).is_none()).collect()
}

/// Returns imports of WASI that no Tollhouse host provides: calling them traps.
pub(crate) fn trapping(component: &Component) -> Vec<String> {
    imports(component).into_iter().filter(|import| is_wasi(import) && !is_given(import)).collect()
}

/// Returns the imports from packages of other tools: package and interface.
pub(crate) fn of_tools(component: &Component) -> Vec<(String, String)> {
    let others = imports(component).into_iter().filter(|import| !is_given(import) && !is_wasi(import));
    others.filter_map(|import| Some((package(&import)?.to_owned(), import))).collect()
}

fn is_wasi(import: &str) -> bool {
    import.starts_with("wasi:")
}

fn is_given(import: &str) -> bool {
    let version = import.split_once('@').map_or("", |(_, version)| version);
    package(import)
        .is_some_and(|package| GIVEN.iter().any(|(name, begins)| *name == package && version.starts_with(begins)))
        && Version::parse(version).is_ok()
}

/// Returns the package of an import: `acme:stock` of `acme:stock/stock@0.1.0`.
fn package(import: &str) -> Option<&str> {
    let (package, _) = import.split_once('/')?;
    package.contains(':').then_some(package)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::component;

    fn of(imports: &str) -> Component {
        let wit = format!("package a:b@0.1.0; interface t {{ f: func(); }} world w {{ {imports} export t; }} {OTHERS}");
        Component::read(&component(&wit)).expect("a component")
    }

    const OTHERS: &str = "
        package wasi:io@0.2.3 { interface poll { f: func(); } }
        package wasi:io@0.3.0 { interface poll { f: func(); } }
        package tollhouse:tool@0.1.0 { interface context { f: func(); } }
        package wasi:nn@0.2.0 { interface tensor { f: func(); } }
        package acme:stock@1.0.0 { interface stock { f: func(); } }";

    #[test]
    fn host_imports_not_provided_are_reported() {
        for (import, missing) in [
            ("import wasi:io/poll@0.2.3;", (None, None)),
            ("import acme:stock/stock@1.0.0;", (None, None)),
            ("import wasi:io/poll@0.3.0;", (None, Some("wasi:io/poll@0.3.0"))),
            ("import tollhouse:tool/context@0.1.0;", (None, None)),
            ("import wasi:nn/tensor@0.2.0;", (None, Some("wasi:nn/tensor@0.2.0"))),
            ("import log: func(text: string);", (Some("log"), None)),
            ("import log: interface { f: func(); }", (Some("log"), None)),
        ] {
            let component = of(import);
            let found = (impossible(&component), trapping(&component));
            let list = |name: Option<&str>| name.map(str::to_owned).into_iter().collect::<Vec<_>>();
            assert_eq!(found, (list(missing.0), list(missing.1)), "{import}");
        }
        let tools = of_tools(&of(
            "import acme:stock/stock@1.0.0; import tollhouse:tool/context@0.1.0; import wasi:io/poll@0.2.3;",
        ));
        assert_eq!(tools, [("acme:stock".to_owned(), "acme:stock/stock@1.0.0".to_owned())]);
    }
}
