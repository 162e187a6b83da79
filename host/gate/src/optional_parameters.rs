//! Optional parameters that a grant's clauses read, for reviewing a policy: no clause can judge what a tool does when
//! such a parameter is omitted.

use serde_json::Value;

use tollhouse_methods::types::{Field, Function, Members, Shape, Type};
use tollhouse_policy::capability::{Approve, Clause, Grant, Param, ParamPath, Step, Truth};

/// A parameter that a clause of a grant reads and a call may omit.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Optional {
    /// Path of the parameter: the clause's own path, up to the part that may be omitted.
    pub param: String,
    /// Key of the grant that reads it: `where` or `approve`.
    pub read_by: &'static str,
    /// Result of the clause if it is omitted: `fails` or `holds` (`where`), `asks` or `does not ask` (`approve`).
    pub without: &'static str,
    /// Value that the tool uses instead, if its schema declares one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Documentation by the tool's author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub docs: Option<String>,
}

/// Lists the optional parameters of a function that the clauses of a grant read.
pub(super) fn read_by(grant: &Grant, function: &Function) -> Vec<Optional> {
    let mut found = Vec::new();
    for param in grant.clauses.iter().flat_map(Clause::params) {
        let holds = param.tests.iter().all(|test| test.holds(None, false));
        walk(param, function, ("where", if holds { "holds" } else { "fails" }), &mut found);
    }
    if let Approve::When(clause) = &grant.approve {
        for param in clause.params() {
            let asks = param.judge_missing() != Truth::Fails;
            walk(param, function, ("approve", if asks { "asks" } else { "does not ask" }), &mut found);
        }
    }
    found
}

/// Follows the path of a clause through the types, as far as its parts have names.
fn walk(
    param: &Param,
    function: &Function,
    (read_by, without): (&'static str, &'static str),
    found: &mut Vec<Optional>,
) {
    let (mut steps, mut members, mut element): (Vec<Step>, _, _) = (Vec::new(), Some(&function.params), None::<&Type>);
    for step in param.path.steps() {
        steps.push(step.clone());
        let ty = match (members.take(), element.take(), step) {
            (Some(members), _, Step::Name(name) | Step::Field { name, .. }) => {
                let Some(field) = members.find(name) else { return };
                if field.is_optional() {
                    let docs =
                        field.docs.clone().or_else(|| docs_of(&function.params, field, function.docs.as_deref()));
                    let param = ParamPath::from_steps(steps.clone()).to_string();
                    let optional = Optional { param, read_by, without, default: field.default.clone(), docs };
                    if !found.contains(&optional) {
                        found.push(optional);
                    }
                }
                &field.ty
            }
            (_, Some(ty), _) => ty,
            _ => return,
        };
        match &inner(ty).shape {
            Shape::Record(fields) => members = Some(fields),
            Shape::List(ty) | Shape::FixedList(ty, _) => element = Some(ty),
            _ => return,
        }
    }
}

fn inner(ty: &Type) -> &Type {
    match &ty.shape {
        Shape::Option(inner) => inner,
        _ => ty,
    }
}

/// Returns the line of a function's documentation about a parameter: WIT has no other place for it.
fn docs_of(params: &Members<Field>, field: &Field, docs: Option<&str>) -> Option<String> {
    let is_parameter = params.iter().any(|param| std::ptr::eq(param, field));
    let item = format!("- `{}`", field.name);
    let line = docs?.lines().find_map(|line| line.trim_start().strip_prefix(&item))?;
    is_parameter.then(|| line.trim_start_matches([':', ' ']).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use tollhouse_methods::HostMethod;
    use tollhouse_policy::capability::Policy;

    fn found(schema: Value, grant: &str) -> Vec<Optional> {
        let tool =
            HostMethod::new("pay", "Pays.\n\n- `note` (optional): a line for the customer.", schema).expect("a tool");
        let policy = Policy::parse(&format!("[[grant]]\nmethod = 'pay'\n{grant}")).expect("a policy");
        read_by(&policy.grants[0], tool.function())
    }

    #[test]
    fn optional_parameters_and_their_defaults_are_named() {
        let schema = json!({
            "type": "object",
            "properties": {
                "amount": { "type": "integer", "default": 1_000_000, "description": "in cents" },
                "to": { "type": "string" },
                "note": { "type": "string" },
                "items": { "type": "array", "items": {
                    "type": "object", "properties": { "price": { "type": "number" }, "count": { "type": "integer" } },
                    "required": ["price"],
                } },
            },
            "required": ["to", "items"],
        });
        let asked = found(schema.clone(), "approve = { param = 'amount', gt = 5000 }");
        let told = Optional {
            param: "amount".to_owned(),
            read_by: "approve",
            without: "asks",
            default: Some(json!(1_000_000)),
            docs: Some("in cents".to_owned()),
        };
        assert_eq!(asked, [told]);
        let several = found(
            schema.clone(),
            "where = [{ param = 'to', ne = 'x' }, { param = 'note', not_exists = true }]\n\
             approve = { any = [{ param = 'items/*/count', gt = 5 }, { param = 'items/*/price', gt = 5 }, \
             { param = 'note', exists = true }] }",
        );
        let told: Vec<(&str, &str, &str)> =
            several.iter().map(|one| (one.param.as_str(), one.read_by, one.without)).collect();
        assert_eq!(
            told,
            [("note", "where", "holds"), ("items/*/count", "approve", "asks"), ("note", "approve", "does not ask"),]
        );
        assert_eq!(several[0].docs.as_deref(), Some("(optional): a line for the customer."));
        assert_eq!(found(schema, "approve = { param = 'to', eq = 'x' }"), []);
    }
}
