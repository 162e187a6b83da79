//! Cost of a call that a human has approved with other arguments than the script's.
//!
//! The gate judges these arguments only when the run is resumed, with the tools. Until then the cost follows from the
//! policy alone, where the argument that a budget sums up can be found without the types of its method.

use serde_json::{Map, Value as Json};

use crate::capability::{Amount, Number, Policy, Step};

/// Returns the cost of a call with these arguments: that of the script's, with other amounts. An amount that is not known yet
/// is null. `exceeds` is set where more would be taken than was left when the question was asked.
pub(super) fn edited_cost(policy: &Policy, asked: &Json, arguments: &Json) -> Json {
    let costs = asked.as_array().into_iter().flatten();
    costs.map(|cost| if cost["kind"] == "spend" { edited(policy, cost, arguments) } else { cost.clone() }).collect()
}

fn edited(policy: &Policy, asked: &Json, arguments: &Json) -> Json {
    let spend = policy.grants.iter().find(|grant| asked["grant"] == *grant.name).and_then(|grant| grant.spend.as_ref());
    let amount = spend.and_then(|spend| amount(value_at(spend.param.steps(), arguments)?));
    let left = self::amount(&asked["remaining"]).zip(self::amount(&asked["amount"]));
    let left = left.and_then(|(remaining, amount)| remaining.checked_add(amount));
    let mut cost = asked.clone();
    cost["amount"] = amount.map_or(Json::Null, Amount::to_json);
    cost["remaining"] = amount.zip(left).map_or(Json::Null, |(amount, left)| left.saturating_sub(amount).to_json());
    if amount.zip(left).is_some_and(|(amount, left)| amount > left) {
        cost["exceeds"] = true.into();
    }
    cost
}

fn amount(value: &Json) -> Option<Amount> {
    Number::from_json(value, false).or_else(|| Number::from_json(value, true)).and_then(Amount::new)
}

/// Returns the value of a path, whose names may be in any spelling.
fn value_at<'v>(steps: &[Step], arguments: &'v Json) -> Option<&'v Json> {
    steps.iter().try_fold(arguments, |value, step| match (step, value) {
        (Step::Name(name) | Step::Field { name, .. }, Json::Object(members)) => member(members, name),
        (Step::Name(index), Json::Array(items)) => items.get(index.parse::<usize>().ok()?),
        (Step::Index(at), Json::Array(items)) => items.get(*at),
        _ => None,
    })
}

/// Returns the member of this name, or the only one of another spelling of it.
fn member<'v>(members: &'v Map<String, Json>, name: &str) -> Option<&'v Json> {
    members.get(name).or_else(|| {
        let mut spelled = members.iter().filter(|(key, _)| folded(key) == folded(name));
        let (only, other) = (spelled.next(), spelled.next());
        only.filter(|_| other.is_none()).map(|(_, value)| value)
    })
}

/// Returns a name without what differs between its spellings.
fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cost_of(param: &str, arguments: &Json) -> Json {
        let policy =
            format!("[[grant]]\nname = 'g'\nmethod = 'm'\ncalls = 3\nspend = {{ param = '{param}', limit = 100 }}\n");
        let asked = json!([
            { "grant": "g", "kind": "calls", "amount": 1, "limit": 3, "remaining": 2 },
            { "grant": "g", "kind": "spend", "amount": 30.5, "limit": 100, "remaining": 40 },
        ]);
        let cost = edited_cost(&Policy::parse(&policy).expect("a policy"), &asked, arguments);
        assert_eq!(cost[0], asked[0], "a call is a call");
        cost[1].clone()
    }

    #[test]
    fn edited_cost_is_that_of_the_new_amount() {
        for (param, arguments) in [
            ("amount", json!({ "amount": 10 })),
            ("amount-minor", json!({ "amountMinor": 10 })),
            ("amountMinor", json!({ "amount_minor": 10 })),
            ("bill/total", json!({ "bill": { "total": 10 } })),
            ("bill/0/total", json!({ "bill": [{ "total": 10 }] })),
            ("amount", json!({ "amount": "10" })),
        ] {
            let cost = cost_of(param, &arguments);
            assert_eq!((&cost["amount"], &cost["remaining"]), (&json!(10), &json!(60.5)), "{param}: {cost}");
            assert!(cost.get("exceeds").is_none());
        }
    }

    #[test]
    fn edited_cost_beyond_the_budget_says_so() {
        let cost = cost_of("amount", &json!({ "amount": 71 }));
        assert_eq!((&cost["amount"], &cost["remaining"], &cost["exceeds"]), (&json!(71), &json!(0), &json!(true)));
    }

    #[test]
    fn edited_cost_that_is_not_known_is_null() {
        for arguments in [json!({}), json!({ "amount": null }), json!({ "amount": "much" }), json!([])] {
            let cost = cost_of("amount", &arguments);
            assert_eq!((&cost["amount"], &cost["remaining"]), (&Json::Null, &Json::Null), "{arguments}");
        }
        let ambiguous = cost_of("amount-minor", &json!({ "amount_minor": 1, "amountMinor": 2 }));
        assert_eq!(ambiguous["amount"], Json::Null);
    }
}
