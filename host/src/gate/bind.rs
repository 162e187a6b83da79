//! Grants against the types of a method: paths in their canonical spelling, texts that mean numbers made numbers, and an
//! error for what can never be. Done once for each method and grant, so that judging a call looks nothing up.

use crate::capability::{Approve, Clause, Grant, Number, Param, ParamPath, Scalar, Span, Step, Test};
use crate::tool::canonical::bounds;
use crate::tool::nearest;
use crate::tool::types::{Function, Members, Named, Shape, Type};

/// A grant as it judges one method.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) clauses: Box<[Clause]>,
    pub(super) approve: Approve,
}

/// What a budget sums up in one method.
#[derive(Debug)]
pub(super) struct BoundSpend {
    pub(super) path: ParamPath,
    pub(super) wide: bool,
}

/// Why a grant cannot judge a method: it never allows it.
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
pub(super) fn bind(grant: &Grant, function: &Function) -> Result<Bound> {
    let clauses = grant.clauses.iter().map(|clause| bind_clause(clause, function)).collect::<Result<_>>()?;
    let approve = match &grant.approve {
        Approve::When(clause) => Approve::When(bind_clause(clause, function)?),
        other => other.clone(),
    };
    Ok(Bound { clauses, approve })
}

/// Binds what a grant's budget sums up to a function.
pub(super) fn bind_spend(grant: &Grant, function: &Function) -> Result<Option<BoundSpend>> {
    let Some(spend) = &grant.spend else { return Ok(None) };
    let (path, leaf) = resolve(&spend.param, function, &spend.span)?;
    if path.steps().contains(&Step::Each) {
        return Err(error(format!("`spend` cannot sum up `{}`: it is a list", spend.param), &spend.span));
    }
    match leaf {
        Some(ty) if !is_number(ty) => {
            Err(error(format!("`spend` cannot sum up `{}`: it is {}", spend.param, ty.describe()), &spend.span))
        }
        leaf => Ok(Some(BoundSpend { path, wide: leaf.is_some_and(is_wide) })),
    }
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
    let (path, leaf) = resolve(&param.path, function, &param.span)?;
    let Some(ty) = leaf else {
        // What lies in a payload whose type depends on its tag is judged as it comes.
        return Ok(Param { path, ..param.clone() });
    };
    let bind =
        |test: &Test| bind_test(test, ty).map_err(|message| error(format!("`{}` {message}", param.path), &param.span));
    let tests = param.tests.iter().map(bind).collect::<Result<_>>()?;
    let inner = match &ty.shape {
        Shape::List(inner) | Shape::FixedList(inner, _) => inner,
        _ => ty,
    };
    Ok(Param { path, tests, wide: is_wide(inner), span: param.span.clone() })
}

/// The type that a value has when it is there.
fn present(mut ty: &Type) -> &Type {
    // An option in an option is a tagged value, so only the outermost is seen through.
    if let Shape::Option(inner) = &ty.shape
        && !inner.is_nullable()
    {
        ty = inner;
    }
    ty
}

/// Follows a path through the types; brings its segments to their canonical spelling.
fn resolve<'f>(path: &ParamPath, function: &'f Function, span: &Span) -> Result<(ParamPath, Option<&'f Type>)> {
    let mut steps = Vec::with_capacity(path.steps().len());
    let mut at = At::Members(&function.params);
    for step in path.steps() {
        let walked = ParamPath::from_steps(steps.clone()).to_string();
        let (step, next) = at.enter(step, &walked).map_err(|(message, hint)| BindError {
            message: format!("`{path}`: {message}"),
            hint,
            span: span.clone(),
        })?;
        steps.push(step);
        at = next;
    }
    let leaf = match at {
        At::Type(ty) => Some(ty),
        At::Members(_) | At::Anything => None,
    };
    Ok((ParamPath::from_steps(steps), leaf))
}

/// A place on the way through types.
enum At<'f> {
    Members(&'f Members<crate::tool::types::Field>),
    Type(&'f Type),
    Anything,
}

type Entered<'f> = std::result::Result<(Step, At<'f>), (String, Option<String>)>;

impl<'f> At<'f> {
    fn enter(&self, step: &Step, walked: &str) -> Entered<'f> {
        let into = |ty: &'f Type| At::Type(present(ty));
        let ty = match self {
            At::Anything => return Ok((step.clone(), At::Anything)),
            At::Members(members) => return member(members, step, walked),
            At::Type(ty) => *ty,
        };
        let fail = |message: String| Err((message, None));
        match (&ty.shape, step) {
            (Shape::Record(members), _) => member(members, step, walked),
            (Shape::List(inner), Step::Each) | (Shape::FixedList(inner, _), Step::Each) => {
                Ok((Step::Each, into(inner)))
            }
            (Shape::List(inner), Step::Name(name)) if ParamPath::index(name).is_some() => {
                Ok((step.clone(), into(inner)))
            }
            (Shape::FixedList(inner, count), Step::Name(name)) => match ParamPath::index(name) {
                Some(index) if index < *count as usize => Ok((step.clone(), into(inner))),
                _ => fail(format!("`{walked}` has elements 0 to {}", count.saturating_sub(1))),
            },
            (Shape::Tuple(types), Step::Name(name)) => {
                match ParamPath::index(name).and_then(|index| types.get(index)) {
                    Some(ty) => Ok((step.clone(), into(ty))),
                    None => fail(format!("`{walked}` has elements 0 to {}", types.len().saturating_sub(1))),
                }
            }
            (Shape::Map(_, value), Step::Name(_)) => Ok((step.clone(), into(value))),
            (Shape::Variant(_) | Shape::Result { .. } | Shape::Option(_), Step::Name(name))
                if name == "tag" || name == "val" =>
            {
                Ok((step.clone(), At::Anything))
            }
            (Shape::List(_), Step::Name(_)) => Err((
                format!("`{walked}` is a list"),
                Some(format!("write `{walked}/*` for every element, or `{walked}/0`")),
            )),
            _ => fail(format!(
                "`{walked}` is {} and has no part `{}`",
                ty.describe(),
                ParamPath::from_steps(vec![step.clone()])
            )),
        }
    }
}

fn member<'f>(members: &'f Members<crate::tool::types::Field>, step: &Step, walked: &str) -> Entered<'f> {
    let Step::Name(name) = step else {
        return Err((format!("`{}` is no list", if walked.is_empty() { "the arguments" } else { walked }), None));
    };
    match members.find(name) {
        Some(field) => Ok((Step::Name(field.camel.clone()), At::Type(present(&field.ty)))),
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
    matches!(ty.shape, Shape::F32 | Shape::F64) || bounds(&ty.shape).is_some()
}

fn is_wide(ty: &Type) -> bool {
    matches!(ty.shape, Shape::S64 | Shape::U64)
}

/// Fits a test to a type; the error says what is wrong with it, after the path.
fn bind_test(test: &Test, ty: &Type) -> std::result::Result<Test, String> {
    let scalar = |scalar: &Scalar| bind_scalar(scalar, ty);
    let scalars = |scalars: &[Scalar]| scalars.iter().map(scalar).collect::<std::result::Result<Vec<_>, _>>();
    let text = || {
        is_text(ty).then_some(()).ok_or_else(|| format!("is {}: `{}` compares texts", ty.describe(), test.operator()))
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
        Test::StartsWith(_) | Test::EndsWith(_) => text().map(|()| test.clone())?,
        Test::Contains(value) => match &ty.shape {
            Shape::List(inner) | Shape::FixedList(inner, _) => Test::Contains(bind_scalar(value, present(inner))?),
            Shape::Flags(cases) => Test::Contains(case(value, cases, ty)?),
            _ => text().map(|()| test.clone())?,
        },
        Test::Exists | Test::NotExists => test.clone(),
    })
}

fn is_text(ty: &Type) -> bool {
    matches!(ty.shape, Shape::String | Shape::Char | Shape::Enum(_))
}

/// Fits a value to compare with to a type.
fn bind_scalar(scalar: &Scalar, ty: &Type) -> std::result::Result<Scalar, String> {
    let mismatch = || Err(format!("is {}: it can never be {scalar}", ty.describe()));
    match (&ty.shape, scalar) {
        (Shape::Enum(cases), _) => case(scalar, cases, ty),
        (Shape::Bool, Scalar::Bool(_)) => Ok(scalar.clone()),
        (Shape::String | Shape::Char | Shape::Bytes, Scalar::String(_)) => Ok(scalar.clone()),
        (_, Scalar::String(text)) if is_wide(ty) => match Number::from_decimal(text) {
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

/// The canonical spelling of a case.
fn case(scalar: &Scalar, cases: &Members<crate::tool::types::Case>, ty: &Type) -> std::result::Result<Scalar, String> {
    let found = match scalar {
        Scalar::String(name) => cases.find(name),
        _ => None,
    };
    found
        .map(|case| Scalar::String(case.name.clone()))
        .ok_or_else(|| format!("is {}, and never {scalar}", ty.describe()))
}
