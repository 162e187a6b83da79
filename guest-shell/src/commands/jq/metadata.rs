//! Metadata of modules, for `modulemeta`: what a module says about itself, what it imports, and what it defines.

use std::collections::HashMap;
use std::rc::Rc;

use super::ast::{Ast, Import, Piece, Unit};
use super::modules::Search;
use super::number::Number;
use super::parser::parse;
use super::utf8::text_of;
use super::value::{Members, Val};
use super::writer::compact;

/// Metadata of modules by their names, as JSON texts, or the reasons why they cannot be read.
pub(crate) type ModuleMetadata = HashMap<String, Result<String, String>>;

/// Reads the metadata of a module, as a JSON text: values of jq cannot be held across an `await`.
pub(crate) async fn read(search: &Search<'_>, name: &str) -> Result<String, String> {
    let (path, bytes) = search.find_module(name).await.map_err(|message| message.trim_end().to_owned())?;
    let unit = parse(&text_of(&bytes), &path)?;
    let described = describe(&unit).ok_or("Module metadata must be constant")?;
    Ok(compact(&described))
}

fn describe(unit: &Unit) -> Option<Val> {
    let mut members = unit.meta.as_ref().map_or(Some(Members::default()), members_of)?;
    let dependencies = unit.imports.iter().map(dependency).collect::<Option<Vec<Val>>>()?;
    let defined = unit.definitions.iter().map(|it| Val::string(format!("{}/{}", it.name, it.parameters.len())));
    members.insert(Rc::from("deps"), Val::array(dependencies));
    members.insert(Rc::from("defs"), defined.collect());
    Some(Val::object(members))
}

fn dependency(import: &Import) -> Option<Val> {
    let mut members = import.meta.as_ref().map_or(Some(Members::default()), members_of)?;
    if let Some(name) = &import.name {
        members.insert(Rc::from("as"), Val::from(name.as_str()));
    }
    members.insert(Rc::from("is_data"), Val::Bool(import.data));
    members.insert(Rc::from("relpath"), Val::from(import.path.as_str()));
    Some(Val::object(members))
}

fn members_of(meta: &Ast) -> Option<Members> {
    let Ast::Object(members) = meta else { return None };
    let member = |(key, value): &(Ast, Ast)| match constant(key)? {
        Val::Str(key) => Some((Rc::from(key.as_str()), constant(value)?)),
        _ => None,
    };
    members.iter().map(member).collect()
}

/// Returns the value of a query without any computation, or `None` for other queries.
fn constant(ast: &Ast) -> Option<Val> {
    Some(match ast {
        Ast::Number(text) => Val::Num(Number::parse(text)?),
        Ast::Text(None, pieces) => {
            let texts = pieces.iter().map(|piece| match piece {
                Piece::Text(text) => Some(text.as_str()),
                Piece::Query(_) => None,
            });
            Val::string(texts.collect::<Option<String>>()?)
        }
        Ast::Array(None) => Val::array(Vec::new()),
        Ast::Array(Some(elements)) => Val::array(elements_of(elements)?),
        Ast::Object(_) => Val::object(members_of(ast)?),
        Ast::Placed(_, inner) => constant(inner)?,
        Ast::Call(name, arguments) if arguments.is_empty() => match name.as_str() {
            "null" => Val::Null,
            "true" => Val::Bool(true),
            "false" => Val::Bool(false),
            _ => return None,
        },
        _ => return None,
    })
}

fn elements_of(ast: &Ast) -> Option<Vec<Val>> {
    let Ast::Comma(left, right) = ast else { return Some(vec![constant(ast)?]) };
    let mut elements = elements_of(left)?;
    elements.extend(elements_of(right)?);
    Some(elements)
}
