//! Reads `fixtures/decisions*.toml`. What it does not understand is an error: a misspelt key must not leave a row empty.

use tollhouse_tests::root;
use toml::{Table, Value};

/// Calls in one session, in order.
pub(super) struct Row {
    pub(super) name: String,
    /// The policy, as TOML.
    pub(super) grants: String,
    pub(super) calls: Vec<Call>,
}

/// Call, with its expected outcome.
pub(super) struct Call {
    pub(super) method: String,
    /// JSON text, spelled as the table spells it.
    pub(super) arguments: String,
    pub(super) expected: Expected,
}

/// Expected outcome of a call.
#[derive(Debug)]
pub(super) enum Expected {
    /// The call is made, and this grant is debited.
    Ok { grant: String },
    /// The call is denied: the nearest grant, if one covers the method, and a part of the reason.
    Denied { nearest: Option<String>, why: String },
    /// The arguments of the call do not fit: a part of the reason.
    Refused { why: String },
}

/// The files of the table, in `fixtures`.
const FILES: [&str; 3] = ["decisions.toml", "decisions-values.toml", "decisions-grants.toml"];

/// Reads the rows of the table.
pub(super) fn read() -> Vec<Row> {
    FILES.iter().flat_map(|name| read_file(name)).collect()
}

fn read_file(name: &str) -> Vec<Row> {
    let path = root().join("tests/fixtures").join(name);
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut file: Table = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
    let policies = match file.remove("policies") {
        Some(Value::Table(policies)) => policies,
        None => Table::new(),
        Some(other) => panic!("{name}: `policies` is {other}"),
    };
    let Some(Value::Array(groups)) = file.remove("group") else { panic!("{name} has no `group`") };
    assert!(file.is_empty(), "{name}: unknown keys in {file:?}");
    groups.into_iter().flat_map(|group| rows(Fields::new(group, name), &policies)).collect()
}

fn rows(mut group: Fields, policies: &Table) -> Vec<Row> {
    let about = group.need("about");
    let (method, base) = (group.text("method"), group.text("base"));
    let grants = group.need("grants");
    let grants = policies.get(&grants).and_then(Value::as_str).map_or(grants.clone(), str::to_owned);
    let Some(Value::Array(listed)) = group.table.remove("rows") else { panic!("{about}: no `rows`") };
    group.end();
    let row = |row: Value| {
        let mut fields = Fields::new(row, &about);
        let name = format!("{about}: {}", fields.need("name"));
        let inner = fields.table.remove("calls");
        let calls = match inner {
            Some(Value::Array(calls)) => calls.into_iter().map(|call| Fields::new(call, &name)).collect(),
            Some(other) => panic!("{name}: `calls` is {other}"),
            None => vec![Fields::new(Value::Table(std::mem::take(&mut fields.table)), &name)],
        };
        fields.end();
        let calls = calls.into_iter().map(|fields| call(fields, method.as_deref(), base.as_deref())).collect();
        Row { name, grants: grants.clone(), calls }
    };
    listed.into_iter().map(row).collect()
}

fn call(mut fields: Fields, method: Option<&str>, base: Option<&str>) -> Call {
    let method = fields.text("method").or_else(|| method.map(str::to_owned));
    let method = method.unwrap_or_else(|| panic!("{}: no method", fields.place));
    // Either the whole text, or members beside those that all rows of the group have.
    let arguments = match fields.text("text") {
        Some(text) => text,
        None => {
            let own = fields.need("with");
            let members: Vec<&str> = [base.unwrap_or(""), &own].into_iter().filter(|text| !text.is_empty()).collect();
            format!("{{{}}}", members.join(", "))
        }
    };
    let expected = match (fields.text("ok"), fields.text("denied"), fields.text("refused")) {
        (Some(grant), None, None) => Expected::Ok { grant },
        (None, Some(nearest), None) => {
            Expected::Denied { nearest: Some(nearest).filter(|name| !name.is_empty()), why: fields.need("why") }
        }
        (None, None, Some(why)) => Expected::Refused { why },
        _ => panic!("{}: one of `ok`, `denied` and `refused` belongs here", fields.place),
    };
    fields.end();
    Call { method, arguments, expected }
}

/// A table that is taken apart key by key.
struct Fields {
    table: Table,
    place: String,
}

impl Fields {
    fn new(value: Value, place: &str) -> Self {
        match value {
            Value::Table(table) => Self { table, place: place.to_owned() },
            other => panic!("{place}: {other} is no table"),
        }
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.table.remove(key)? {
            Value::String(text) => Some(text),
            other => panic!("{}: `{key}` is {other}", self.place),
        }
    }

    fn need(&mut self, key: &str) -> String {
        self.text(key).unwrap_or_else(|| panic!("{}: no `{key}` in {:?}", self.place, self.table))
    }

    fn end(self) {
        assert!(self.table.is_empty(), "{}: unknown keys {:?}", self.place, self.table);
    }
}
