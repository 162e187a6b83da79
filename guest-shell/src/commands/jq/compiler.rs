//! Compiles syntax trees to terms: resolves names, numbers functions, and assigns levels to variables.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

use super::ast::{Assignment, Ast, Definition, Operator, Pattern, Piece as AstPiece};
use super::formats::Format;
use super::library::{Library, Primitive, primitive};
use super::modules::{Loaded, Source};
use super::number::Number;
use super::parser::located;
use super::reader::Reader;
use super::term::{Function, Patterns, Piece, Step, T, Term};
use super::value::{Members, Val};

type Compiled<R> = Result<R, String>;

/// Numbers of the functions that can be called, by name and number of parameters.
pub(crate) type Names = HashMap<(String, usize), usize>;

/// Binding that is visible in a query.
enum Scope {
    Variable(String),
    Parameter(String),
    Function(String, usize, usize),
    Label(String),
}

/// Compiled program.
pub(crate) struct Program {
    pub(crate) functions: Vec<Rc<Function>>,
    pub(crate) main: T,
}

/// Function that a query belongs to; `None` for the program's own query.
type Owner = Option<usize>;

/// Compiler of one program, or of the library.
#[derive(Default)]
struct Compiler<'a> {
    functions: Vec<Rc<Function>>,
    /// The library; `None` while it is compiled itself.
    library: Option<&'a Library>,
    /// Functions of the compiled unit, which hide those of the library.
    names: Names,
    /// Variables with values that are known before the program runs.
    globals: HashMap<String, Val>,
    scope: Vec<Scope>,
    /// Text that is compiled; `None` for the library.
    source: Option<&'a Source>,
    /// Part of the text that is compiled.
    place: Range<usize>,
    owner: Owner,
    /// Calls between functions of the program, as pairs of caller and callee.
    calls: HashSet<(Owner, usize)>,
    /// Messages about undefined names, each with the function that uses the name. As in jq, a function that is
    /// never called may use such names.
    mistakes: Vec<(Owner, String)>,
}

/// Compiles a program with the given variables, or returns the messages about its mistakes.
pub(crate) fn compile(
    library: &Library,
    source: &Source,
    globals: HashMap<String, Val>,
) -> Result<Program, Vec<String>> {
    let functions = library.functions.clone();
    let mut compiler = Compiler { functions, library: Some(library), globals, ..Compiler::default() };
    let main = compiler.program(source).map_err(|message| vec![message])?;
    let mistakes = compiler.mistakes_of_what_is_called();
    if mistakes.is_empty() { Ok(Program { functions: compiler.functions, main }) } else { Err(mistakes) }
}

/// Compiles the library's own definitions.
pub(crate) fn compile_library(definitions: &[Definition]) -> Compiled<Library> {
    let mut compiler = Compiler::default();
    for definition in definitions {
        compiler.define_global(definition)?;
    }
    match compiler.mistakes.pop() {
        Some((_, message)) => Err(message),
        None => Ok(Library { functions: compiler.functions, names: compiler.names }),
    }
}

fn constant(text: &str) -> T {
    Rc::new(Term::Const(Val::from(text)))
}

impl<'a> Compiler<'a> {
    /// Compiles a program: its imports, definitions and query.
    fn program(&mut self, source: &'a Source) -> Compiled<T> {
        self.source(source)?;
        self.source = Some(source);
        match &source.unit.body {
            Some(body) => self.query(body),
            None => Err("Top-level program not given (try \".\")".to_owned()),
        }
    }

    /// Returns the messages about the program's query and the functions that it calls, directly or not.
    fn mistakes_of_what_is_called(&self) -> Vec<String> {
        let (mut reached, mut open) = (HashSet::from([None]), vec![None]);
        while let Some(owner) = open.pop() {
            let called = self.calls.iter().filter(|(caller, _)| *caller == owner).map(|(_, called)| Some(*called));
            let new: Vec<Owner> = called.filter(|called| reached.insert(*called)).collect();
            open.extend(new);
        }
        let mistakes = self.mistakes.iter().filter(|(owner, _)| reached.contains(owner));
        mistakes.map(|(_, message)| message.clone()).collect()
    }

    /// Returns a message with the part of the text that it is about.
    fn located(&self, message: &str) -> String {
        match self.source {
            Some(source) => located(message, &source.name, &source.text, self.place.clone()),
            None => message.to_owned(),
        }
    }

    /// Reports a name that is not defined. The compilation continues, so that all of them are reported.
    fn undefined(&mut self, name: &str) -> T {
        let message = self.located(&format!("{name} is not defined"));
        self.mistakes.push((self.owner, message));
        Rc::new(Term::Empty)
    }

    /// Compiles the imports and definitions of a unit, and adds their names.
    fn source(&mut self, source: &'a Source) -> Compiled<()> {
        for (import, loaded) in source.unit.imports.iter().zip(&source.loaded) {
            match loaded {
                Loaded::Data(text) => {
                    let values: Result<Vec<Val>, String> = read_all(text);
                    let name = import.name.clone().unwrap_or_default();
                    let values = Val::array(values?);
                    self.globals.insert(format!("{name}::{name}"), values.clone());
                    self.globals.insert(name, values);
                }
                Loaded::Module(module) => self.module(module, import.name.as_deref())?,
            }
        }
        self.source = Some(source);
        for definition in &source.unit.definitions {
            self.define_global(definition)?;
        }
        Ok(())
    }

    /// Compiles a module by itself, and adds its functions under their new names.
    fn module(&mut self, module: &'a Source, name: Option<&str>) -> Compiled<()> {
        let outer = std::mem::take(&mut self.names);
        self.source(module)?;
        let inner = std::mem::replace(&mut self.names, outer);
        // A module exports its definitions and includes, but not what it imports under a name.
        let own = inner.iter().filter(|((known, _), _)| !known.contains("::"));
        for ((function, arity), id) in own {
            let known = name.map_or(function.clone(), |name| format!("{name}::{function}"));
            self.names.insert((known, *arity), *id);
        }
        Ok(())
    }

    fn new_function(&mut self) -> (usize, Rc<Function>) {
        let function = Rc::new(Function::default());
        self.functions.push(Rc::clone(&function));
        (self.functions.len() - 1, function)
    }

    fn define_global(&mut self, definition: &Definition) -> Compiled<()> {
        let (id, function) = self.new_function();
        self.names.insert((definition.name.clone(), definition.parameters.len()), id);
        let outer = (std::mem::take(&mut self.scope), self.owner.replace(id));
        let body = self.body(definition);
        (self.scope, self.owner) = outer;
        // Set once, because the function is new.
        let _ = function.body.set(body?);
        Ok(())
    }

    /// Compiles the body of a function with its parameters.
    fn body(&mut self, definition: &Definition) -> Compiled<T> {
        let depth = self.scope.len();
        for parameter in &definition.parameters {
            let name = parameter.trim_start_matches('$').to_owned();
            self.scope.push(Scope::Parameter(name));
        }
        let mut body = definition.body.clone();
        for parameter in definition.parameters.iter().rev() {
            if let Some(name) = parameter.strip_prefix('$') {
                let pattern = vec![Pattern::Variable(name.to_owned())];
                body = Ast::Bind(Box::new(Ast::Call(name.to_owned(), Vec::new())), pattern, Box::new(body));
            }
        }
        let compiled = self.query(&body);
        self.scope.truncate(depth);
        compiled
    }

    fn query(&mut self, ast: &Ast) -> Compiled<T> {
        let term = match ast {
            Ast::Identity => Term::Identity,
            Ast::Recurse => return self.call("recurse", &[]),
            Ast::Number(text) => Term::Const(Val::Num(Number::parse(text).ok_or("Invalid numeric literal")?)),
            Ast::Text(format, pieces) => return self.text(format.as_deref(), pieces),
            Ast::Format(name) => Term::Format(Format::named(name)),
            Ast::Array(None) => Term::Const(Val::array(Vec::new())),
            Ast::Array(Some(body)) => self.array(body)?,
            Ast::Object(members) => return self.object(members),
            Ast::Index(value, index) => Term::Index(self.query(value)?, self.query(index)?),
            Ast::Slice(value, from, upto) => {
                let bound =
                    |it: &mut Self, bound: &Option<Box<Ast>>| bound.as_ref().map(|ast| it.query(ast)).transpose();
                Term::Slice(self.query(value)?, bound(self, from)?, bound(self, upto)?)
            }
            Ast::Iterate(value) => Term::Iterate(self.query(value)?),
            Ast::Negate(value) => Term::Negate(self.query(value)?),
            Ast::Pipe(left, right) => Term::Pipe(self.query(left)?, self.query(right)?),
            Ast::Comma(left, right) => Term::Comma(self.query(left)?, self.query(right)?),
            Ast::Binary(operator, left, right) => Term::Binary(*operator, self.query(left)?, self.query(right)?),
            Ast::And(left, right) => Term::And(self.query(left)?, self.query(right)?),
            Ast::Or(left, right) => Term::Or(self.query(left)?, self.query(right)?),
            Ast::Alternative(left, right) => Term::Alternative(self.query(left)?, self.query(right)?),
            Ast::Assign(assignment, paths, value) => return self.assign(*assignment, paths, value),
            Ast::If(condition, then, other) => {
                let other = other.as_ref().map(|it| self.query(it)).transpose()?;
                Term::If(self.query(condition)?, self.query(then)?, other)
            }
            Ast::Try(body, catch) => {
                let catch = catch.as_ref().map(|it| self.query(it)).transpose()?;
                Term::Try(self.query(body)?, catch)
            }
            Ast::Attempt(access) => Term::Attempt(self.query(access)?),
            Ast::Reduce(source, patterns, start, update) => self.reduce(source, patterns, start, update)?,
            Ast::Foreach(source, patterns, start, update, extract) => {
                self.foreach(source, patterns, start, update, extract.as_deref())?
            }
            Ast::Bind(source, patterns, body) => {
                let source = self.query(source)?;
                let (patterns, body) = self.patterns(patterns, |it| it.query(body))?;
                Term::Bind(source, patterns, body)
            }
            Ast::Define(definition, body) => return self.define(definition, body),
            Ast::Call(name, arguments) => return self.call(name, arguments),
            Ast::Variable(name) => return self.variable(name),
            Ast::Location(line) => {
                let members = [("file", Val::from("<top-level>")), ("line", Val::from(*line))];
                Term::Const(Val::record(members))
            }
            Ast::Label(name, body) => self.label(name, body)?,
            Ast::Break(name) => return Ok(self.break_out(name)),
            Ast::Placed(place, query) => return self.placed(place, query),
        };
        Ok(Rc::new(term))
    }

    /// Compiles the construction of an array. An array of constants is a constant, as in jq.
    fn array(&mut self, body: &Ast) -> Compiled<Term> {
        let body = self.query(body)?;
        let mut known = Vec::new();
        Ok(if constants(&body, &mut known) { Term::Const(Val::array(known)) } else { Term::Array(Some(body)) })
    }

    /// Compiles a query together with its place in the text, which messages show.
    fn placed(&mut self, place: &Range<usize>, query: &Ast) -> Compiled<T> {
        let outer = std::mem::replace(&mut self.place, place.clone());
        let term = self.query(query);
        self.place = outer;
        term
    }

    fn break_out(&mut self, name: &str) -> T {
        let level = self.scope.iter().rposition(|it| matches!(it, Scope::Label(label) if label == name));
        match level {
            Some(level) => Rc::new(Term::Break(level)),
            None => self.undefined(&format!("$*label-{name}")),
        }
    }

    fn label(&mut self, name: &str, body: &Ast) -> Compiled<Term> {
        self.scope.push(Scope::Label(name.to_owned()));
        let body = self.query(body);
        self.scope.pop();
        Ok(Term::Label(body?))
    }

    fn reduce(&mut self, source: &Ast, patterns: &[Pattern], start: &Ast, update: &Ast) -> Compiled<Term> {
        let (source, start) = (self.query(source)?, self.query(start)?);
        let (patterns, update) = self.patterns(patterns, |it| it.query(update))?;
        Ok(Term::Reduce(source, patterns, start, update))
    }

    fn foreach(
        &mut self,
        source: &Ast,
        patterns: &[Pattern],
        start: &Ast,
        update: &Ast,
        extract: Option<&Ast>,
    ) -> Compiled<Term> {
        let (source, start) = (self.query(source)?, self.query(start)?);
        let (patterns, (update, extract)) = self.patterns(patterns, |it| {
            let extract = extract.map(|extract| it.query(extract)).transpose()?;
            Ok((it.query(update)?, extract))
        })?;
        Ok(Term::Foreach(source, patterns, start, update, extract))
    }

    fn text(&mut self, format: Option<&str>, pieces: &[AstPiece]) -> Compiled<T> {
        match pieces {
            [] => return Ok(constant("")),
            [AstPiece::Text(text)] => return Ok(constant(text)),
            _ => {}
        }
        let mut compiled = Vec::new();
        for piece in pieces {
            compiled.push(match piece {
                AstPiece::Text(text) => Piece::Text(Rc::new(text.clone())),
                AstPiece::Query(query) => Piece::Query(self.query(query)?),
            });
        }
        Ok(Rc::new(Term::Text(format.map_or(Format::TEXT, Format::named), compiled)))
    }

    fn object(&mut self, members: &[(Ast, Ast)]) -> Compiled<T> {
        let mut compiled = Vec::new();
        for (key, value) in members {
            let key = self.key(key)?;
            compiled.push((key, self.query(value)?));
        }
        // An object of constants is a constant, as in jq.
        let known = compiled.iter().map(|(key, value)| match (&**key, &**value) {
            (Term::Const(Val::Str(key)), Term::Const(value)) => Some((Rc::from(key.as_str()), value.clone())),
            _ => None,
        });
        let known: Option<Members> = known.collect();
        Ok(Rc::new(match known {
            Some(members) => Term::Const(Val::object(members)),
            None => Term::Object(compiled),
        }))
    }

    /// Compiles the key of an object, and refuses a constant that is not a string.
    fn key(&mut self, ast: &Ast) -> Compiled<T> {
        let key = self.query(ast)?;
        match &*key {
            Term::Const(Val::Str(_)) => Ok(key),
            Term::Const(value) => {
                let message = format!("Cannot use {} ({}) as object key", value.kind(), super::writer::compact(value));
                if let Ast::Placed(place, _) = ast {
                    self.place = place.clone();
                }
                Err(self.located(&message))
            }
            _ => Ok(key),
        }
    }

    /// Compiles an assignment to paths. The value of a computing assignment is evaluated first, and the assignment is
    /// made for each of its results.
    fn assign(&mut self, assignment: Assignment, paths: &Ast, value: &Ast) -> Compiled<T> {
        match assignment {
            Assignment::Set => self.call("_assign", &[paths.clone(), value.clone()]),
            Assignment::Update => Ok(Rc::new(Term::Modify(self.query(paths)?, self.query(value)?))),
            Assignment::Default => {
                self.computed(paths, value, |variable| Rc::new(Term::Alternative(Rc::new(Term::Identity), variable)))
            }
            Assignment::Compute(operator) => self.computed(paths, value, |variable| binary(operator, variable)),
        }
    }

    fn computed(&mut self, paths: &Ast, value: &Ast, update: impl FnOnce(T) -> T) -> Compiled<T> {
        let value = self.query(value)?;
        let level = self.scope.len();
        self.scope.push(Scope::Variable(String::new()));
        let paths = self.query(paths);
        self.scope.pop();
        let body = Rc::new(Term::Modify(paths?, update(Rc::new(Term::Variable(level)))));
        let patterns = Patterns { alternatives: vec![vec![Step::Bind(0, 0)]], variables: 1 };
        Ok(Rc::new(Term::Bind(value, Rc::new(patterns), body)))
    }

    /// Compiles patterns, and then `inner` with their variables.
    fn patterns<R>(
        &mut self,
        patterns: &[Pattern],
        inner: impl FnOnce(&mut Self) -> Compiled<R>,
    ) -> Compiled<(Rc<Patterns>, R)> {
        let mut names = Vec::new();
        for pattern in patterns {
            variables(pattern, &mut names);
        }
        let mut alternatives = Vec::new();
        for pattern in patterns {
            let (mut steps, mut slots) = (Vec::new(), 1);
            self.pattern(pattern, 0, &mut slots, &names, &mut steps)?;
            alternatives.push(steps);
        }
        let depth = self.scope.len();
        self.scope.extend(names.iter().cloned().map(Scope::Variable));
        let compiled = inner(self);
        self.scope.truncate(depth);
        Ok((Rc::new(Patterns { alternatives, variables: names.len() }), compiled?))
    }

    fn pattern(
        &mut self,
        pattern: &Pattern,
        slot: usize,
        slots: &mut usize,
        names: &[String],
        steps: &mut Vec<Step>,
    ) -> Compiled<()> {
        let number = |name: &String| names.iter().position(|it| it == name).unwrap_or_default();
        match pattern {
            Pattern::Variable(name) => steps.push(Step::Bind(slot, number(name))),
            Pattern::Array(elements) => {
                for (at, element) in elements.iter().enumerate() {
                    steps.push(Step::Index(slot, Val::from(at)));
                    let inner = *slots;
                    *slots += 1;
                    self.pattern(element, inner, slots, names, steps)?;
                }
            }
            Pattern::Object(members) => {
                for member in members {
                    let key = self.key(member.key.as_ref().unwrap_or(&Ast::Identity))?;
                    let inner = *slots;
                    *slots += 1;
                    steps.push(match &*key {
                        Term::Const(key) => Step::Index(slot, key.clone()),
                        _ => Step::Query(slot, key),
                    });
                    if let Some(variable) = &member.variable {
                        steps.push(Step::Bind(inner, number(variable)));
                    }
                    if let Some(value) = &member.value {
                        self.pattern(value, inner, slots, names, steps)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn define(&mut self, definition: &Definition, body: &Ast) -> Compiled<T> {
        // A function that uses no outer bindings needs none at run time.
        if self.scope.is_empty() {
            let key = (definition.name.clone(), definition.parameters.len());
            let hidden = self.names.get(&key).copied();
            self.define_global(definition)?;
            let body = self.query(body);
            match hidden {
                Some(id) => drop(self.names.insert(key, id)),
                None => drop(self.names.remove(&key)),
            }
            return body;
        }
        let (id, function) = self.new_function();
        self.scope.push(Scope::Function(definition.name.clone(), definition.parameters.len(), id));
        let outer = self.owner.replace(id);
        let function_body = self.body(definition);
        self.owner = outer;
        let body = self.query(body);
        self.scope.pop();
        let _ = function.body.set(function_body?);
        Ok(Rc::new(Term::Define(body?)))
    }

    fn variable(&mut self, name: &str) -> Compiled<T> {
        let level = self.scope.iter().rposition(|it| matches!(it, Scope::Variable(variable) if variable == name));
        if let Some(level) = level {
            return Ok(Rc::new(Term::Variable(level)));
        }
        match self.globals.get(name) {
            Some(value) => Ok(Rc::new(Term::Const(value.clone()))),
            None => Ok(self.undefined(&format!("${name}"))),
        }
    }

    fn call(&mut self, name: &str, arguments: &[Ast]) -> Compiled<T> {
        let arity = arguments.len();
        let constant = match name {
            "null" => Some(Val::Null),
            "true" => Some(Val::Bool(true)),
            "false" => Some(Val::Bool(false)),
            _ => None,
        };
        if let Some(constant) = constant.filter(|_| arity == 0) {
            return Ok(Rc::new(Term::Const(constant)));
        }
        let local = self.scope.iter().rposition(|it| match it {
            Scope::Parameter(parameter) => arity == 0 && parameter == name,
            Scope::Function(function, parameters, _) => function == name && *parameters == arity,
            Scope::Variable(_) | Scope::Label(_) => false,
        });
        if let Some(level) = local
            && matches!(self.scope[level], Scope::Parameter(_))
        {
            return Ok(Rc::new(Term::CallParameter(level)));
        }
        let arguments = arguments.iter().map(|it| self.query(it)).collect::<Compiled<Vec<T>>>()?;
        if let Some(level) = local
            && let Scope::Function(_, _, id) = self.scope[level]
        {
            self.calls.insert((self.owner, id));
            return Ok(Rc::new(Term::CallLocal(level, id, arguments)));
        }
        let key = (name.to_owned(), arity);
        let id = self.names.get(&key).or_else(|| self.library.and_then(|library| library.names.get(&key)));
        if let Some(id) = id {
            self.calls.insert((self.owner, *id));
            return Ok(Rc::new(Term::CallGlobal(*id, arguments)));
        }
        match self.primitive(name, arguments) {
            Some(term) => Ok(term),
            None => Ok(self.undefined(&format!("{name}/{arity}"))),
        }
    }

    /// Compiles a call of a built-in function.
    fn primitive(&mut self, name: &str, arguments: Vec<T>) -> Option<T> {
        if name == "env" && arguments.is_empty() {
            return self.globals.get("ENV").map(|value| Rc::new(Term::Const(value.clone())));
        }
        if name == "builtins" && arguments.is_empty() {
            return Some(Rc::new(Term::Const(super::library::builtins())));
        }
        let primitive = primitive(name, arguments.len())?;
        let mut arguments = arguments;
        Some(Rc::new(match primitive {
            Primitive::Native(native) => Term::Native(native, arguments),
            Primitive::Empty => Term::Empty,
            Primitive::Path => Term::Path(arguments.pop()?),
            Primitive::GetPath => Term::GetPath(arguments.pop()?),
            Primitive::Error => Term::Error(arguments.pop().unwrap_or(Rc::new(Term::Identity))),
            Primitive::Modify => {
                let update = arguments.pop()?;
                Term::Modify(arguments.pop()?, update)
            }
            Primitive::Range => {
                let (by, upto) = (arguments.pop()?, arguments.pop()?);
                Term::Range(arguments.pop()?, upto, by)
            }
        }))
    }
}

/// Collects the constants of a query that is a list of constants; returns false for any other query.
fn constants(term: &T, known: &mut Vec<Val>) -> bool {
    match &**term {
        Term::Const(value) => {
            known.push(value.clone());
            true
        }
        Term::Comma(left, right) => constants(left, known) && constants(right, known),
        _ => false,
    }
}

fn binary(operator: Operator, right: T) -> T {
    Rc::new(Term::Binary(operator, Rc::new(Term::Identity), right))
}

fn variables(pattern: &Pattern, names: &mut Vec<String>) {
    let mut add = |name: &String| {
        if !names.contains(name) {
            names.push(name.clone());
        }
    };
    match pattern {
        Pattern::Variable(name) => add(name),
        Pattern::Array(elements) => elements.iter().for_each(|it| variables(it, names)),
        Pattern::Object(members) => {
            for member in members {
                if let Some(name) = &member.variable
                    && !names.contains(name)
                {
                    names.push(name.clone());
                }
                if let Some(value) = &member.value {
                    variables(value, names);
                }
            }
        }
    }
}

/// Parses all values of a text.
pub(crate) fn read_all(text: &[u8]) -> Result<Vec<Val>, String> {
    let mut reader = Reader::new(text);
    std::iter::from_fn(|| reader.read()).collect()
}
