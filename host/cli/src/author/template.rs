//! Templates of `tollhouse new`: files of `host/cli/templates`, with the package's name in each language's spelling.

use tollhouse_registry::{Language, PackageName};
use wit_parser::Resolve;

/// Languages of packages.
pub(super) const LANGUAGES: [Language; 5] =
    [Language::Rust, Language::RustCargoComponent, Language::Js, Language::Python, Language::C];

/// Path in the new directory, and text.
type File = (String, String);

macro_rules! files {
    ($($path:literal: $file:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../templates/", $file)))),*]
    };
}

/// Files of all languages. `NAME.wit` is named after the package.
const COMMON: &[(&str, &str)] =
    files!["tool.toml": "all/tool.toml", "README.md": "all/README.md", "wit/NAME.wit": "all/orders.wit"];

const RUST: &[(&str, &str)] = files![
    ".gitignore": "rust/gitignore",
    "Cargo.toml": "rust/Cargo.toml.in",
    "src/component.rs": "rust/src/component.rs",
    "src/lib.rs": "rust/src/lib.rs",
    "src/orders.rs": "rust/src/orders.rs",
];

const CARGO_COMPONENT: &[(&str, &str)] = files![
    ".gitignore": "rust-cargo-component/gitignore",
    "Cargo.toml": "rust-cargo-component/Cargo.toml.in",
    "src/lib.rs": "rust-cargo-component/src/lib.rs",
    "src/orders.rs": "rust/src/orders.rs",
];

const JS: &[(&str, &str)] = files![
    ".gitignore": "js/gitignore",
    "package.json": "js/package.json",
    "src/orders.js": "js/src/orders.js",
];

const PYTHON: &[(&str, &str)] = files![
    ".gitignore": "python/gitignore",
    "requirements.txt": "python/requirements.txt",
    "src/app.py": "python/src/app.py",
];

const C: &[(&str, &str)] = files![".gitignore": "c/gitignore", "src/orders.c": "c/src/orders.c"];

/// Names that the Rust compiler or cargo would reject for a crate: keywords (as wit-bindgen knows them), crates that
/// every program has, and the template's dependencies.
#[rustfmt::skip]
const NO_CRATES: &[&str] = &[
    "abstract", "alloc", "as", "async", "await", "become", "box", "break", "const", "continue", "core", "crate", "do",
    "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "proc-macro", "pub", "ref", "return", "self", "static", "std",
    "struct", "super", "test", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "wit-bindgen", "wit-bindgen-rt", "yield",
];

/// Returns the files of a new package.
pub(super) fn files(language: Language, name: &PackageName) -> Vec<File> {
    let own = match language {
        Language::RustCargoComponent => CARGO_COMPONENT,
        Language::Js => JS,
        Language::Python => PYTHON,
        Language::C => C,
        _ => RUST,
    };
    let words = words(language, name);
    let filled = |(path, text): &(&str, &str)| {
        let text = words.iter().fold((*text).to_owned(), |text, (key, word)| text.replace(key, word));
        (path.replace("NAME", name.package()), text)
    };
    COMMON.iter().chain(own).map(filled).collect()
}

/// Returns the placeholders with their values.
fn words(language: Language, name: &PackageName) -> [(&'static str, String); 10] {
    let (namespace, package) = (name.namespace(), name.package());
    let (source, toolchain) = match language {
        Language::RustCargoComponent => ("src/orders.rs", "`cargo component build --release`"),
        Language::Js => ("src/orders.js", "`npm install` when it is due, then `npm run build`"),
        Language::Python => ("src/app.py", "componentize-py, which it installs into `.venv` when it is due"),
        Language::C => ("src/orders.c", "clang, with the bindings that it makes of `wit/`"),
        _ => ("src/orders.rs", "`cargo build --release --target wasm32-wasip2`"),
    };
    [
        ("{{name}}", name.to_string()),
        ("{{package}}", package.to_owned()),
        ("{{wit}}", format!("{}:{}", wit_identifier(namespace), wit_identifier(package))),
        ("{{crate}}", crate_name(package)),
        ("{{rust}}", format!("{}::{}", rust_identifier(namespace), rust_identifier(package))),
        ("{{c}}", format!("{}_{}", snake(namespace), snake(package))),
        ("{{C}}", format!("{}_{}", snake(namespace), snake(package)).to_uppercase()),
        ("{{lang}}", language.name().to_owned()),
        ("{{source}}", source.to_owned()),
        ("{{toolchain}}", toolchain.to_owned()),
    ]
}

fn snake(kebab: &str) -> String {
    kebab.replace('-', "_")
}

/// Escapes a name for WIT: a keyword takes a `%`.
fn wit_identifier(name: &str) -> String {
    let is_plain = Resolve::default().push_source("name.wit", &format!("package {name}:{name};")).is_ok();
    if is_plain { name.to_owned() } else { format!("%{name}") }
}

fn crate_name(package: &str) -> String {
    if NO_CRATES.contains(&package) { format!("{package}-tool") } else { package.to_owned() }
}

/// Escapes a module's name as wit-bindgen does: a keyword takes a `_`.
fn rust_identifier(name: &str) -> String {
    // These are not keywords.
    let is_crate = ["alloc", "core", "gen", "std", "test"].contains(&name) || name.contains('-');
    if NO_CRATES.contains(&name) && !is_crate { format!("{name}_") } else { snake(name) }
}

#[cfg(test)]
mod tests {
    use tollhouse_registry::Manifest;

    use super::*;

    fn made(language: Language, name: &str) -> Vec<File> {
        files(language, &name.parse().expect("a name"))
    }

    #[test]
    fn template_of_each_language_is_a_complete_package() {
        for language in LANGUAGES {
            let files = made(language, "acme:price-list");
            let text = |path: &str| files.iter().find(|(at, _)| at == path).map(|(_, text)| text.as_str());
            let manifest = Manifest::parse(text("tool.toml").expect("a manifest")).expect("it is one");
            assert_eq!(manifest.name.as_str(), "acme:price-list");
            assert_eq!(manifest.build.and_then(|build| build.lang), Some(language));
            assert_eq!(manifest.examples.len(), 3);
            Resolve::default().push_source("w", text("wit/price-list.wit").expect("WIT")).expect("it is WIT");
            assert!(text(".gitignore").is_some() && text("README.md").is_some());
            assert!(files.iter().any(|(path, _)| path.starts_with("src/")), "{}", language.name());
            for (path, text) in &files {
                assert!(!text.contains("{{"), "{path}");
            }
        }
    }

    #[test]
    fn keywords_are_written_as_each_language_has_them() {
        let files = made(Language::Rust, "use:match");
        let text = |path: &str| files.iter().find(|(at, _)| at == path).expect("it is there").1.clone();
        assert!(text("Cargo.toml").contains("name = \"match-tool\""));
        assert!(text("src/component.rs").contains("bindings::exports::use_::match_::orders"));
        Resolve::default().push_source("w", &text("wit/match.wit")).expect("it is WIT");
        assert!(text("wit/match.wit").contains("package %use:match@0.1.0;"));
        assert_eq!(rust_identifier("core"), "core");
        assert_eq!((rust_identifier("a-b"), crate_name("core")), ("a_b".into(), "core-tool".into()));
    }
}
