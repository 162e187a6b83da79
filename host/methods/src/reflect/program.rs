//! Programs: components that export `wasi:cli/run` and nothing else that can be called. Each is one method, named like
//! its alias: the arguments and streams that `run` takes from the operating system become its parameters and its
//! result.

use wit_parser::Resolve;

use super::ExportedInterface;
use crate::types::{Export, Field, Function, FunctionKind, Package, Shape, Type};

/// Export of a program, in any version 0.2.
const RUN: &str = "wasi:cli/run@0.2.";

/// Parameter with a program's arguments, the only required one.
pub const ARGUMENTS: &str = "arguments";
/// Parameter with the standard input.
pub const STDIN: &str = "stdin";
/// Parameter with the working directory.
pub const DIRECTORY: &str = "directory";

/// Returns the interface that makes a component with `count` functions a program.
pub(super) fn run_of<'i>(
    resolve: &Resolve,
    instances: &'i [ExportedInterface],
    count: usize,
) -> Option<&'i ExportedInterface> {
    let run = instances.iter().find(|instance| instance.export.starts_with(RUN))?;
    let only = count == 1 && resolve.interfaces[run.id].functions.contains_key("run");
    only.then_some(run)
}

/// Creates the model of a program.
pub(super) fn package(run: &ExportedInterface, imports: Vec<String>) -> Package {
    let export = Export { instance: Some(run.export.clone()), function: "run".to_owned() };
    let function = Function {
        path: Vec::new(),
        docs: Some(
            "Runs the program to its end. In the shell it is a command of this name, with streams; here its input is a \
             text, and so is its output."
                .to_owned(),
        ),
        params: [
            field(ARGUMENTS, Shape::List(Box::new(Shape::String.into())), "Command-line arguments, without the program's name."),
            field(STDIN, optional(Shape::String), "Standard input; empty if omitted."),
            field(DIRECTORY, optional(Shape::String), "Working directory; `/workspace` if omitted."),
        ]
        .into_iter()
        .collect(),
        result: Some(Type::from(Shape::Record(
            [
                field("exit-code", Shape::U8, "Exit status; 0 means success."),
                field("stdout", Shape::String, "Standard output; bytes that are not UTF-8 are replaced."),
                field("stderr", Shape::String, "Standard error."),
            ]
            .into_iter()
            .collect(),
        ))),
        kind: FunctionKind::Program,
        export,
        schemas: None,
    };
    Package { imports, functions: vec![function], ..Package::default() }
}

fn field(name: &str, shape: Shape, docs: &str) -> Field {
    Field { docs: Some(docs.to_owned()), ..Field::new(name, shape) }
}

fn optional(shape: Shape) -> Shape {
    Shape::Option(Box::new(shape.into()))
}
