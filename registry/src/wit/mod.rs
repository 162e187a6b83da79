//! WIT text: read from a publisher's files, printed from a component, compared with a component. The text is stored
//! because doc comments do not survive in a compiled component. Must not look at a registry.

pub(crate) mod compat;
mod directory;
mod search_words;
mod shape;

use std::{collections::HashSet, path::Path};

use wit_component::WitPrinter;
use wit_parser::{PackageId, Resolve};

pub(crate) use self::directory::MAX_FILES as MAX_WIT_FILES;
pub(crate) use self::shape::Shape;
use crate::{
    component::{Component, ComponentError},
    package::PackageError,
};

/// Largest WIT text in bytes. All of WASI is a twentieth of it.
pub const MAX_WIT: usize = 4 << 20;

/// Error in a WIT text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WitError {
    /// The text is larger than [`MAX_WIT`].
    #[error("the WIT text has {size} bytes: at most {MAX_WIT} are allowed")]
    TooLarge {
        /// Size of the text in bytes.
        size: usize,
    },
    /// The text does not parse, or needs a package that it does not contain.
    #[error("the WIT text cannot be read: {problem}")]
    Syntax {
        /// Description of the error, with the place.
        problem: String,
    },
    /// The types refer to each other so often that writing them out would be too long.
    #[error("the WIT text is too complex to be compared with the component")]
    TooComplex,
    /// No world in the text has the component's exports.
    #[error("the WIT text does not describe the component: {}", differences.join("; "))]
    Mismatch {
        /// Differences from the most similar world: a sentence each, a few at most.
        differences: Vec<String>,
    },
}

impl WitError {
    /// Returns a hint on how to fix the problem.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::TooLarge { .. } | Self::TooComplex => return None,
            Self::Syntax { .. } => {
                "put its dependencies into `wit/deps/`, or publish the component file alone, without doc comments"
            }
            Self::Mismatch { .. } => "build the component again from this WIT, or omit the WIT text",
        })
    }
}

/// Self-contained WIT text, parsed.
pub(crate) struct WitText {
    resolve: Resolve,
    main: PackageId,
}

impl WitText {
    /// Parses one text: a package, with its dependencies nested in it.
    pub(crate) fn parse(text: &str) -> Result<Self, WitError> {
        if text.len() > MAX_WIT {
            return Err(WitError::TooLarge { size: text.len() });
        }
        let mut resolve = Resolve::default();
        match resolve.push_source("package.wit", text) {
            Ok(main) => Ok(Self { resolve, main }),
            Err(error) => Err(WitError::Syntax { problem: resolve.render_error(&error) }),
        }
    }

    /// Reads a directory `wit/` with its `deps/`, from which no link leads out of the directory `inside`.
    pub(crate) fn read_directory(inside: &Path, path: &Path) -> Result<Self, PackageError> {
        directory::resolve(inside, path).map(|(resolve, main)| Self { resolve, main })
    }

    /// Returns the main package.
    pub(crate) fn package(&self) -> &wit_parser::PackageName {
        &self.resolve.packages[self.main].name
    }

    /// Prints one self-contained text, with doc comments.
    pub(crate) fn print(&self) -> Result<String, WitError> {
        print(&self.resolve, self.main).map_err(|problem| WitError::Syntax { problem })
    }

    /// Returns the exports of the only world. Returns `None` if there are several worlds, or the exports are too large.
    pub(crate) fn exports(&self) -> Option<Shape> {
        let worlds = &self.resolve.packages[self.main].worlds;
        let only = worlds.values().next().filter(|_| worlds.len() == 1)?;
        shape::exports(&self.resolve, *only)
    }

    /// Checks that one of the worlds has the component's exports.
    pub(crate) fn check(&self, component: &Component) -> Result<(), WitError> {
        let built = shape::exports(&component.resolve, component.world).ok_or(WitError::TooComplex)?;
        let worlds = self.resolve.packages[self.main].worlds.values();
        let shapes: Option<Vec<_>> = worlds.map(|world| shape::exports(&self.resolve, *world)).collect();
        let shapes = shapes.ok_or(WitError::TooComplex)?;
        let differences = shapes.iter().map(|shape| shape::differences(shape, &built));
        match differences.min_by_key(Vec::len) {
            None if built.is_empty() => Ok(()),
            None => Err(WitError::Mismatch { differences: vec!["it has no world".into()] }),
            Some(mut differences) => {
                if differences.is_empty() {
                    return Ok(());
                }
                const SHOWN: usize = 5;
                if let Some(more @ 1..) = differences.len().checked_sub(SHOWN) {
                    differences.truncate(SHOWN);
                    differences.push(format!("and {more} more"));
                }
                Err(WitError::Mismatch { differences })
            }
        }
    }
}

/// Returns the exports of a component.
///
/// # Errors
/// If they are too large to be compared.
pub(crate) fn exports(component: &Component) -> Result<Shape, WitError> {
    shape::exports(&component.resolve, component.world).ok_or(WitError::TooComplex)
}

/// Prints the WIT of a component as far as the component contains it: without doc comments. Its package is called
/// `root:component`, its world `root`.
pub(crate) fn print_component(component: &Component) -> Result<String, ComponentError> {
    let problem = match component.resolve.worlds[component.world].package {
        Some(main) => match print(&component.resolve, main) {
            Ok(text) => return Ok(text),
            Err(problem) => problem,
        },
        None => "its world has no package".into(),
    };
    Err(ComponentError::NoWit { problem })
}

/// Prints a package, with its dependencies nested in it, sorted by name.
fn print(resolve: &Resolve, main: PackageId) -> Result<String, String> {
    let mut used = HashSet::from([main]);
    let mut open = vec![main];
    while let Some(package) = open.pop() {
        open.extend(resolve.package_direct_deps(package).filter(|dependency| used.insert(*dependency)));
    }
    used.remove(&main);
    let mut nested: Vec<PackageId> = used.into_iter().collect();
    nested.sort_by(|a, b| resolve.packages[*a].name.cmp(&resolve.packages[*b].name));
    let mut printer = WitPrinter::default();
    printer.print(resolve, main, &nested).map_err(|error| format!("{error:#}"))?;
    Ok(printer.output.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CHARGES, component, component_of};

    const RICH: &str = r#"
        package acme:rich@0.3.0;
        /// Shared.
        interface types {
            /// A thing.
            record thing { id: u64, tags: list<string>, next: option<u32> }
            variant shape { point, circle(f64), poly(list<tuple<f64, f64>>) }
            enum color { red, green }
            flags mode { read, write }
            type alias = list<u8>;
        }
        interface store {
            use types.{thing, shape as form};
            resource blob {
                constructor(init: list<u8>);
                read: func(n: u32) -> list<u8>;
                merge: static func(a: borrow<blob>, b: blob) -> blob;
            }
            put: func(thing: thing) -> result<form, string>;
        }
        world w {
            use types.{color};
            import other: func(c: color);
            /// Direct.
            export direct: func(c: color, raw: types-alias) -> tuple<u8, char>;
            export store;
            export inline: interface { use types.{mode}; go: func(m: mode) -> result; }
            type types-alias = list<u8>;
        }
    "#;

    fn read(bytes: &[u8]) -> Component {
        Component::read(bytes).expect("a component")
    }

    #[test]
    fn wit_text_that_built_a_component_fits_it() {
        for text in [CHARGES, RICH] {
            WitText::parse(text).expect("WIT").check(&read(&component(text))).expect("fits");
        }
    }

    #[test]
    fn wit_printed_from_a_component_stands_alone_and_fits() {
        for text in [CHARGES, RICH] {
            let component = read(&component(text));
            let printed = print_component(&component).expect("printed");
            WitText::parse(&printed).expect("stands alone").check(&component).expect("fits");
            let again = WitText::parse(text).expect("WIT").print().expect("printed");
            WitText::parse(&again).expect("stands alone").check(&component).expect("fits");
        }
        assert!(WitText::parse(RICH).expect("WIT").print().expect("printed").contains("/// A thing."));
    }

    #[test]
    fn wit_text_that_differs_from_component_is_refused_by_name() {
        let component = read(&component(RICH));
        for (from, to, named) in [
            ("id: u64", "id: u32", "acme:rich/types@0.3.0#thing"),
            ("tags: list<string>", "labels: list<string>", "thing"),
            ("circle(f64)", "circle(f32)", "shape"),
            ("poly(list<tuple<f64, f64>>)", "poly", "shape"),
            ("enum color { red, green }", "enum color { green, red }", "color"),
            ("flags mode { read, write }", "flags mode { read }", "mode"),
            ("read: func(n: u32)", "read: func(n: u64)", "blob.read"),
            ("merge: static func(a: borrow<blob>, b: blob)", "merge: static func(a: blob, b: blob)", "blob.merge"),
            ("-> result<form, string>", "-> result<form>", "put"),
            ("put: func(thing: thing)", "put: func(it: thing)", "put"),
            ("put:", "set:", "put"),
            ("export direct:", "export indirect:", "direct"),
            ("@0.3.0", "@0.3.1", "acme:rich/store@0.3.1"),
        ] {
            assert!(RICH.contains(from), "{from}");
            let error = WitText::parse(&RICH.replace(from, to)).expect("WIT").check(&component).expect_err(from);
            assert!(error.to_string().contains(named), "{from}: {error}");
        }
    }

    #[test]
    fn wit_text_fits_despite_other_docs_order_and_imports() {
        let component = read(&component(RICH));
        let text = RICH.replace("/// A thing.", "/// Another thing,\n/// in two lines.");
        let text = text.replace("import other: func(c: color);", "import wasi-like: func();");
        let text = text.replace("interface types {", "interface unused { f: func(); }\ninterface types {");
        WitText::parse(&text).expect("WIT").check(&component).expect("fits");
    }

    #[test]
    fn wit_text_fits_if_any_of_its_worlds_does() {
        let text = "package a:b; world one { export f: func(); } world two { export g: func(); }";
        let two = read(&component_of(text, "two"));
        WitText::parse(text).expect("WIT").check(&two).expect("fits");
        let none = WitText::parse("package a:b; interface i {}").expect("WIT").check(&two).expect_err("no world");
        assert!(none.to_string().contains("it has no world"));
    }

    #[test]
    fn wit_text_that_cannot_be_parsed_has_a_location() {
        let error = |text: &str| WitText::parse(text).map(|_| ()).expect_err("no WIT").to_string();
        assert!(
            error("package a:b;\ninterface {").contains("package.wit:2:11"),
            "{}",
            error("package a:b;\ninterface {")
        );
        assert!(error("package a:b;\nworld w { import c:d/e; }").contains("c:d"));
        assert!(error("").len() > 20);
        assert!(error(&" ".repeat(MAX_WIT + 1)).contains("at most"));
        let deep = format!("package a:b; interface i {{ type t = {}u8{}; }}", "list<".repeat(9_000), ">".repeat(9_000));
        assert!(error(&deep).contains("deep"), "{}", error(&deep));
    }

    #[test]
    fn wit_text_with_exponential_types_is_too_complex() {
        let mut text = String::from("package a:b;\ninterface i {\n type t0 = u8;\n");
        for at in 1..90 {
            text += &format!(" type t{at} = tuple<t{0}, t{0}>;\n", at - 1);
        }
        text += " f: func(x: t89);\n}\nworld w { export i; }\n";
        let small = Component::read(&component(CHARGES)).expect("a component");
        assert_eq!(WitText::parse(&text).expect("WIT").check(&small), Err(WitError::TooComplex));
    }

    #[test]
    fn hostile_chains_do_not_exhaust_the_stack() {
        let mut text = String::from("package a:b;\ninterface i {\n type t0 = u8;\n");
        for at in 1..60_000 {
            text += &format!(" type t{at} = list<t{}>;\n", at - 1);
        }
        text += " f: func(x: t59999);\n}\nworld w { export i; }\n";
        let small = Component::read(&component(CHARGES)).expect("a component");
        let _ = WitText::parse(&text).map(|wit| wit.check(&small));
    }
}
