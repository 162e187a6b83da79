//! Recursive parts of a JSON Schema.

use std::collections::HashSet;

use serde_json::Value;

/// Most references that are followed from one part.
const MAX_REFERENCES: usize = 8;

/// Depth to which recursive parts are searched for.
const MAX_NESTING: usize = 200;

/// Returns the recursive parts of a schema, each with a pointer to it.
pub(super) fn recursive_parts(root: &Value) -> Vec<(&Value, &str)> {
    RecursionFinder::find(root)
}

/// Search for the recursive parts of a schema.
struct RecursionFinder<'s> {
    root: &'s Value,
    within: Vec<&'s Value>,
    seen: HashSet<*const Value>,
    /// Recursive parts, each with a pointer to it.
    found: Vec<(&'s Value, &'s str)>,
}

impl<'s> RecursionFinder<'s> {
    fn find(root: &'s Value) -> Vec<(&'s Value, &'s str)> {
        let mut finder = Self { root, within: Vec::new(), seen: HashSet::new(), found: Vec::new() };
        finder.visit(root);
        finder.found
    }

    fn visit(&mut self, schema: &'s Value) {
        let (part, pointer) = resolved(self.root, schema);
        if self.within.iter().any(|outer| std::ptr::eq(*outer, part)) {
            if !self.found.iter().any(|(known, _)| std::ptr::eq(*known, part)) {
                self.found.push((part, pointer));
            }
            return;
        }
        if self.within.len() >= MAX_NESTING || !self.seen.insert(std::ptr::from_ref(part)) {
            return;
        }
        self.within.push(part);
        for word in ["items", "additionalProperties"] {
            part.get(word).into_iter().for_each(|inner| self.visit(inner));
        }
        for word in ["anyOf", "oneOf", "allOf", "prefixItems"] {
            part.get(word).and_then(Value::as_array).into_iter().flatten().for_each(|inner| self.visit(inner));
        }
        let fields = part.get("properties").and_then(Value::as_object);
        fields.into_iter().flatten().for_each(|(_, inner)| self.visit(inner));
        self.within.pop();
    }
}

/// Follows references within a schema, as far as they go: returns the part, and the last pointer to it.
pub(super) fn resolved<'s>(root: &'s Value, mut schema: &'s Value) -> (&'s Value, &'s str) {
    let mut last = "";
    for _ in 0..MAX_REFERENCES {
        let pointer = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
        match pointer.and_then(|pointer| Some((pointer, root.pointer(pointer)?))) {
            Some((pointer, target)) => (last, schema) = (pointer, target),
            None => break,
        }
    }
    (schema, last)
}
