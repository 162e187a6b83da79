//! Binds grants to the types of a method: converts paths to their canonical spelling and texts that mean numbers to
//! numbers, and rejects tests that no value can pass. Done once for each method and grant, so that judging a call needs
//! no lookups.

use std::borrow::Cow;

use tollhouse_methods::canonical::bounds;
use tollhouse_methods::nearest;
use tollhouse_methods::reflect::STDIN;
use tollhouse_methods::types::{Case, Field, Function, Members, Named, Shape, Type};
use tollhouse_policy::capability::{Approve, Clause, Grant, Number, Param, ParamPath, Scalar, Span, Step, Test};

/// A grant bound to one method.
#[derive(Debug)]
pub(super) struct BoundGrant {
    /// Clauses as they were written, for messages about the one that fails.
    pub(super) clauses: Box<[Clause]>,
    /// The same clauses, with those on one parameter combined, so that it is looked up once.
    joined: Box<[Clause]>,
    pub(super) approve: Approve,
}

impl BoundGrant {
    /// Returns true if the arguments satisfy all clauses.
    pub(super) fn holds(&self, arguments: &serde_json::Value) -> bool {
        self.joined.iter().all(|clause| clause.holds(arguments))
    }
}

/// The argument that a budget sums up in one method.
#[derive(Debug)]
pub(super) struct BoundSpend {
    pub(super) path: ParamPath,
    pub(super) wide: bool,
}

/// The reason why a grant cannot be bound to a method, and so never allows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BindError {
    pub(super) message: String,
    pub(super) hint: Option<String>,
    pub(super) span: Span,
}

type Result<T> = std::result::Result<T, BindError>;

fn error(message: impl Into<String>, span: &Span) -> BindError {
    BindError { message: message.into(), hint: None, span: span.clone() }
}

/// Binds the clauses of a grant to a function.
pub(super) fn bind(grant: &Grant, function: &Function) -> Result<BoundGrant> {
    let clauses =
        grant.clauses.iter().map(|clause| bind_clause(clause, function)).collect::<Result<Box<[Clause]>>>()?;
    let approve = match &grant.approve {
        Approve::When(clause) => Approve::When(bind_clause(clause, function)?),
        other => other.clone(),
    };
    Ok(BoundGrant { joined: join(&clauses), clauses, approve })
}

/// Combines the clauses on each parameter. Their order does not matter, since all of them must hold.
fn join(clauses: &[Clause]) -> Box<[Clause]> {
    let mut joined: Vec<Clause> = Vec::with_capacity(clauses.len());
    for clause in clauses {
        let Clause::Param(param) = clause else {
            joined.push(clause.clone());
            continue;
        };
        let same = joined.iter_mut().find_map(|other| match other {
            Clause::Param(other) if other.path == param.path && other.wide == param.wide => Some(other),
            _ => None,
        });
        match same {
            Some(other) => other.tests.extend(param.tests.iter().cloned()),
            None => joined.push(clause.clone()),
        }
    }
    joined.into()
}

/// Binds the summed argument of a grant's budget to a function.
pub(super) fn bind_spend(grant: &Grant, function: &Function) -> Result<Option<BoundSpend>> {
    let Some(spend) = &grant.spend else { return Ok(None) };
    let (path, types) = resolve(&spend.param, function, &spend.span)?;
    if path.steps().contains(&Step::Each) {
        return Err(error(format!("`spend` cannot sum up `{}`: it is a list", spend.param), &spend.span));
    }
    if !types.iter().any(|ty| is_number(ty)) {
        return Err(error(format!("`spend` cannot sum up `{}`: it is {}", spend.param, describe(&types)), &spend.span));
    }
    Ok(Some(BoundSpend { path, wide: any_wide(&types) }))
}

fn bind_clause(clause: &Clause, function: &Function) -> Result<Clause> {
    let all = |clauses: &[Clause]| clauses.iter().map(|clause| bind_clause(clause, function)).collect::<Result<_>>();
    Ok(match clause {
        Clause::All(clauses) => Clause::All(all(clauses)?),
        Clause::Any(clauses) => Clause::Any(all(clauses)?),
        Clause::Param(param) => Clause::Param(bind_param(param, function)?),
    })
}

fn bind_param(param: &Param, function: &Function) -> Result<Param> {
    let (path, types) = resolve(&param.path, function, &param.span)?;
    let bind = |test: &Test| {
        bind_test_to(test, &types).map_err(|message| error(format!("`{}` {message}", param.path), &param.span))
    };
    let tests = param.tests.iter().map(bind).collect::<Result<_>>()?;
    Ok(Param { path, tests, wide: any_wide(&types), span: param.span.clone() })
}

/// Binds a test to a value that has one of these types. The test must fit at least one of them, and mean the same in
/// all that it fits; a value of another type fails it.
fn bind_test_to(test: &Test, types: &[Leaf<'_>]) -> std::result::Result<Test, String> {
    let mut bound: Option<Test> = None;
    let mut problem = None;
    for ty in types {
        match (bind_test(test, ty), &bound) {
            (Ok(own), Some(other)) if own != *other => {
                return Err(format!("is {}: `{}` has a different meaning in each", describe(types), test.operator()));
            }
            (Ok(own), _) => bound = Some(own),
            (Err(message), _) => problem = problem.or(Some(message)),
        }
    }
    bound.ok_or_else(|| problem.unwrap_or_else(|| "is never present".to_owned()))
}

/// Returns true if a decimal string can represent a number: one of the types is a 64-bit integer, and no other is
/// written as a string.
fn any_wide(types: &[Leaf<'_>]) -> bool {
    let element = |ty: &Leaf<'_>| match &ty.shape {
        Shape::List(inner) | Shape::FixedList(inner, _) => present(inner).shape.clone(),
        shape => shape.clone(),
    };
    let mut wide = false;
    for shape in types.iter().map(element) {
        wide |= is_wide(&shape);
        if is_text(&shape) || matches!(shape, Shape::Bytes | Shape::Own(_) | Shape::Borrow(_)) {
            return false;
        }
    }
    wide
}

fn describe(types: &[Leaf<'_>]) -> String {
    types.iter().map(|ty| ty.describe()).collect::<Vec<_>>().join(" or ")
}

/// Returns the type of a value when it is present.
fn present(mut ty: &Type) -> &Type {
    // A nested option is a tagged value, so only the outermost option is skipped.
    if let Shape::Option(inner) = &ty.shape
        && !inner.is_nullable()
    {
        ty = inner;
    }
    ty
}

/// A type that a path leads to. It is owned for the tag of a variant, which has no type of its own.
type Leaf<'f> = Cow<'f, Type>;

/// Follows a path through the types, and converts its segments to their canonical spelling. The path leads to one type,
/// or to several if it leads into the payload of a variant: the tag decides which.
fn resolve<'f>(path: &ParamPath, function: &'f Function, span: &Span) -> Result<(ParamPath, Vec<Leaf<'f>>)> {
    if function.is_program() && matches!(path.steps().first(), Some(Step::Name(name)) if name == STDIN) {
        let message = format!("`{path}`: the standard input of a program cannot be checked, since it may be a stream");
        return Err(error(message, span));
    }
    let mut steps: Vec<Step> = Vec::with_capacity(path.steps().len());
    let mut types: Vec<Leaf<'f>> = Vec::new();
    for step in path.steps() {
        let walked = ParamPath::from_steps(steps.clone()).to_string();
        let entered = if steps.is_empty() { parameter(function, step) } else { enter_any(&types, step, &walked) };
        let (step, next) = entered.map_err(|(message, hint)| BindError {
            message: format!("`{path}`: {message}"),
            hint,
            span: span.clone(),
        })?;
        steps.push(step);
        types = next;
    }
    Ok((ParamPath::from_steps(steps), types))
}

type Entered<'f> = std::result::Result<(Step, Vec<Leaf<'f>>), (String, Option<String>)>;

/// Takes one step from a value of one of these types. Types without such a part are dropped: for them the part is
/// missing.
fn enter_any<'f>(types: &[Leaf<'f>], step: &Step, walked: &str) -> Entered<'f> {
    let mut found: Option<(Step, Vec<Leaf<'f>>)> = None;
    let mut problem: Option<(String, Option<String>)> = None;
    for ty in types {
        let entered = match ty {
            Cow::Borrowed(ty) => enter(ty, step, walked),
            Cow::Owned(Type { shape: Shape::Json, .. }) => Ok((step.clone(), vec![ty.clone()])),
            Cow::Owned(ty) => Err(no_part(ty, step, walked)),
        };
        match (entered, &mut found) {
            (Ok((step, _)), Some((other, _))) if step != *other => {
                return Err((format!("`{walked}` has several parts of that name"), None));
            }
            (Ok((_, more)), Some((_, leaves))) => leaves.extend(more),
            (Ok(first), None) => found = Some(first),
            // An error with a hint is more specific: the type has parts, but none of that name.
            (Err(error), _) if problem.is_none() || error.1.is_some() => problem = Some(error),
            (Err(_), _) => {}
        }
    }
    found.ok_or_else(|| problem.unwrap_or_else(|| (format!("`{walked}` is never present"), None)))
}

fn enter<'f>(ty: &'f Type, step: &Step, walked: &str) -> Entered<'f> {
    let one = |ty: &'f Type| vec![Cow::Borrowed(present(ty))];
    let payloads = |types: &mut dyn Iterator<Item = &'f Type>| types.map(|ty| Cow::Borrowed(present(ty))).collect();
    let outside = |count: usize| Err((format!("`{walked}` has elements 0 to {}", count.saturating_sub(1)), None));
    match (&ty.shape, step) {
        (Shape::Record(members), _) => member(members, step, walked),
        (Shape::List(inner) | Shape::FixedList(inner, _), Step::Each) => Ok((Step::Each, one(inner))),
        (Shape::FixedList(inner, count), Step::Name(name)) => match ParamPath::index(name) {
            Some(index) if index < *count as usize => Ok((Step::Index(index), one(inner))),
            _ => outside(*count as usize),
        },
        (Shape::Tuple(types), Step::Name(name)) => {
            match ParamPath::index(name).and_then(|index| Some((index, types.get(index)?))) {
                Some((index, ty)) => Ok((Step::Index(index), one(ty))),
                None => outside(types.len()),
            }
        }
        (Shape::Map(_, value), Step::Name(_)) => Ok((step.clone(), one(value))),
        (Shape::Json, _) => Ok((step.clone(), vec![Cow::Borrowed(ty)])),
        (Shape::Variant(cases), Step::Name(name)) if name == "tag" => {
            Ok((step.clone(), vec![Cow::Owned(Shape::Enum(cases.clone()).into())]))
        }
        (Shape::Result { .. } | Shape::Option(_), Step::Name(name)) if name == "tag" => {
            Ok((step.clone(), vec![Cow::Owned(Shape::String.into())]))
        }
        (Shape::Variant(cases), Step::Name(name)) if name == "val" => {
            Ok((step.clone(), payloads(&mut cases.iter().filter_map(|case| case.ty.as_ref()))))
        }
        (Shape::Result { ok, err }, Step::Name(name)) if name == "val" => {
            Ok((step.clone(), payloads(&mut [ok, err].into_iter().filter_map(Option::as_deref))))
        }
        (Shape::Option(inner), Step::Name(name)) if name == "val" => Ok((step.clone(), one(inner))),
        (Shape::List(inner), Step::Name(name)) => match ParamPath::index(name) {
            Some(index) => Ok((Step::Index(index), one(inner))),
            None => Err((
                format!("`{walked}` is a list"),
                Some(format!("write `{walked}/*` for every element, or `{walked}/0`")),
            )),
        },
        _ => Err(no_part(ty, step, walked)),
    }
}

fn no_part(ty: &Type, step: &Step, walked: &str) -> (String, Option<String>) {
    let part = ParamPath::from_steps(vec![step.clone()]);
    (format!("`{walked}` is {} and has no part `{part}`", ty.describe()), None)
}

/// Takes the first step, to a parameter, which has a position among the arguments.
fn parameter<'f>(function: &'f Function, step: &Step) -> Entered<'f> {
    let params = &function.params;
    let (step, types) = match (member(params, step, ""), step) {
        // An undeclared parameter.
        (Err(_), Step::Name(name)) if function.is_open() && params.find(name).is_none() => {
            (step.clone(), vec![Cow::Owned(Shape::Json.into())])
        }
        (found, _) => found?,
    };
    match &step {
        Step::Name(name) => match params.position(name) {
            Some(at) => Ok((Step::Field { name: name.clone(), at }, types)),
            None => Ok((step, types)),
        },
        _ => Ok((step, types)),
    }
}

fn member<'f>(members: &'f Members<Field>, step: &Step, walked: &str) -> Entered<'f> {
    let Step::Name(name) = step else {
        return Err((format!("`{}` is not a list", if walked.is_empty() { "the arguments" } else { walked }), None));
    };
    match members.find(name) {
        Some(field) => Ok((Step::Name(field.camel.clone()), vec![Cow::Borrowed(present(&field.ty))])),
        None => {
            let known: Vec<&str> = members.iter().map(Named::camel).collect();
            let hint = match nearest(name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => "it takes no parameters".to_owned(),
                None => format!("there are {}", known.iter().take(12).copied().collect::<Vec<_>>().join(", ")),
            };
            Err((format!("there is no parameter `{name}`"), Some(hint)))
        }
    }
}

fn is_number(ty: &Type) -> bool {
    matches!(ty.shape, Shape::F32 | Shape::F64 | Shape::Json) || bounds(&ty.shape).is_some()
}

fn is_wide(shape: &Shape) -> bool {
    matches!(shape, Shape::S64 | Shape::U64)
}

/// Binds a test to a type; the error describes the problem, to be preceded by the path.
fn bind_test(test: &Test, ty: &Type) -> std::result::Result<Test, String> {
    let scalar = |scalar: &Scalar| bind_scalar(scalar, ty);
    let scalars = |scalars: &[Scalar]| scalars.iter().map(scalar).collect::<std::result::Result<Vec<_>, _>>();
    let text = || {
        is_text(&ty.shape)
            .then_some(())
            .ok_or_else(|| format!("is {}: `{}` compares texts", ty.describe(), test.operator()))
    };
    Ok(match test {
        Test::Lt(_) | Test::Le(_) | Test::Gt(_) | Test::Ge(_) => {
            if !is_number(ty) {
                return Err(format!("is {}: `{}` compares numbers", ty.describe(), test.operator()));
            }
            if let Some((least, most)) = bounds(&ty.shape) {
                let edge = if matches!(test, Test::Lt(_) | Test::Le(_)) { least } else { most };
                if !test.holds(Some(&Number::Integer(edge).to_json()), true) {
                    return Err(format!("is {}: it can never {test}", ty.describe()));
                }
            }
            test.clone()
        }
        Test::Eq(value) => Test::Eq(scalar(value)?),
        Test::Ne(value) => Test::Ne(scalar(value)?),
        Test::In(values) => Test::In(scalars(values)?),
        Test::NotIn(values) => Test::NotIn(scalars(values)?),
        Test::StartsWith(_) | Test::EndsWith(_) | Test::Within(_) => text().map(|()| test.clone())?,
        Test::Contains(value) => match &ty.shape {
            Shape::List(inner) | Shape::FixedList(inner, _) => Test::Contains(bind_scalar(value, present(inner))?),
            Shape::Flags(cases) => Test::Contains(case(value, cases, ty)?),
            _ => text().map(|()| test.clone())?,
        },
        Test::Exists | Test::NotExists => test.clone(),
    })
}

fn is_text(shape: &Shape) -> bool {
    matches!(shape, Shape::String | Shape::Char | Shape::Enum(_) | Shape::Json)
}

/// Binds a value of a comparison to a type.
fn bind_scalar(scalar: &Scalar, ty: &Type) -> std::result::Result<Scalar, String> {
    let mismatch = || Err(format!("is {}: it can never be {scalar}", ty.describe()));
    match (&ty.shape, scalar) {
        (Shape::Enum(cases), _) => case(scalar, cases, ty),
        (Shape::Bool, Scalar::Bool(_)) | (Shape::Json, _) => Ok(scalar.clone()),
        (Shape::String | Shape::Char | Shape::Bytes, Scalar::String(_)) => Ok(scalar.clone()),
        (_, Scalar::String(text)) if is_wide(&ty.shape) => match Number::from_decimal(text) {
            Some(number) => bind_scalar(&Scalar::Number(number), ty),
            None => mismatch(),
        },
        (_, Scalar::Number(number)) if is_number(ty) => match (bounds(&ty.shape), *number) {
            (None, _) => Ok(scalar.clone()),
            (Some((least, most)), Number::Integer(integer)) if (least..=most).contains(&integer) => Ok(scalar.clone()),
            _ => mismatch(),
        },
        _ => mismatch(),
    }
}

/// Returns the canonical spelling of a case.
fn case(scalar: &Scalar, cases: &Members<Case>, ty: &Type) -> std::result::Result<Scalar, String> {
    let found = match scalar {
        Scalar::String(name) => cases.find(name),
        _ => None,
    };
    found
        .map(|case| Scalar::String(case.name.clone()))
        .ok_or_else(|| format!("is {}, and never {scalar}", ty.describe()))
}
