//! Unused permissions: rejects manifests that request permissions which no import of the component can use.

use wit_parser::WorldKey;

use crate::{component::Component, permission::Permissions};

/// Keys under `[permissions]` that need an import, each with prefixes of which an imported name must have one.
const NEEDS: [(&str, &[&str]); 3] =
    [("http", &["wasi:http/"]), ("files", &["wasi:filesystem/"]), ("keyvalue", &["wasi:keyvalue/"])];

/// Returns the keys under `[permissions]` that no import can use, each with what it would need.
pub(crate) fn needless(asked: &Permissions, component: &Component) -> Vec<(&'static str, String)> {
    let imports = imports(component);
    let imported = |beginnings: &[&str]| {
        imports.iter().any(|import| beginnings.iter().any(|beginning| import.starts_with(beginning)))
    };
    let asks = |key: &str| match key {
        "http" => !asked.http.is_empty(),
        "files" => !asked.files.is_empty(),
        _ => !asked.keyvalue.is_empty(),
    };
    let mut needless: Vec<(&'static str, String)> = NEEDS
        .into_iter()
        .filter(|(key, beginnings)| asks(key) && !imported(beginnings))
        .map(|(key, beginnings)| (key, format!("`{}…`", beginnings.join("…` or `"))))
        .collect();
    // A secret is used in a request's headers, or read from an environment variable.
    let hidden = asked.secrets.iter().any(|secret| !secret.expose) && !imported(&["wasi:http/"]);
    let seen = asked.secrets.iter().any(|secret| secret.expose) && !imported(&["wasi:cli/environment"]);
    if hidden || seen {
        let import = if hidden { "`wasi:http/…`" } else { "`wasi:cli/environment`" };
        needless.push(("secrets", import.to_owned()));
    }
    let calls_none = |import: &String| ["wasi:", "tollhouse:tool/"].iter().any(|given| import.starts_with(given));
    if !asked.tools.is_empty() && imports.iter().all(calls_none) {
        needless.push(("tools", "an interface of another tool, or `tollhouse:program/tools`".to_owned()));
    }
    needless
}

/// Returns the keys of permissions that imports need and the manifest does not request, so that calls are denied. Imports
/// that every compiler adds are left out.
pub(crate) fn unasked(asked: &Permissions, component: &Component) -> Vec<&'static str> {
    let imports = imports(component);
    let imported = |beginning: &str| imports.iter().any(|import| import.starts_with(beginning));
    let asks =
        [("http", "wasi:http/", asked.http.is_empty()), ("keyvalue", "wasi:keyvalue/", asked.keyvalue.is_empty())];
    asks.into_iter().filter(|(_, beginning, nothing)| *nothing && imported(beginning)).map(|(key, ..)| key).collect()
}

/// Lists the names of a component's imports.
pub(crate) fn imports(component: &Component) -> Vec<String> {
    let world = &component.resolve.worlds[component.world];
    let names = world.imports.iter().filter_map(|(key, item)| match (key, item) {
        // A type that functions of the world itself use.
        (_, wit_parser::WorldItem::Type { .. }) => None,
        (WorldKey::Name(name), _) => Some(name.clone()),
        (key, _) => Some(component.resolve.name_world_key(key)),
    });
    names.collect()
}
