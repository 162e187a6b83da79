//! JSON values: representation, order and comparison.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;
use std::rc::Rc;

use indexmap::IndexMap;

use super::failure::Failure;
use super::number::Number;

/// Members of an object, in the order of insertion.
pub(crate) type Members = IndexMap<Rc<str>, Val, BuildHasherDefault<DefaultHasher>>;

/// Largest nesting depth of values that recursive operations accept, as in jq.
pub(crate) const MAX_DEPTH: usize = 10_000;

/// Elements of an array. Nested values are dropped without recursion.
#[derive(Clone, Default)]
pub(crate) struct Array(pub(crate) Vec<Val>);

/// Members of an object. Nested values are dropped without recursion.
#[derive(Clone, Default)]
pub(crate) struct Object(pub(crate) Members);

/// Value of JSON, as a query sees it. Copies share their contents.
#[derive(Clone, Default)]
pub(crate) enum Val {
    #[default]
    Null,
    Bool(bool),
    Num(Number),
    Str(Rc<String>),
    Arr(Rc<Array>),
    Obj(Rc<Object>),
}

impl Val {
    pub(crate) fn string(text: impl Into<String>) -> Self {
        Self::Str(Rc::new(text.into()))
    }

    pub(crate) fn array(elements: Vec<Self>) -> Self {
        Self::Arr(Rc::new(Array(elements)))
    }

    pub(crate) fn object(members: Members) -> Self {
        Self::Obj(Rc::new(Object(members)))
    }

    /// Returns an object with these names and values.
    pub(crate) fn record<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self::object(members.into_iter().map(|(name, value)| (Rc::from(name), value)).collect())
    }

    /// Returns the result of jq's `type`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Num(_) => "number",
            Self::Str(_) => "string",
            Self::Arr(_) => "array",
            Self::Obj(_) => "object",
        }
    }

    /// Returns true unless it is `false` or `null`.
    pub(crate) fn is_true(&self) -> bool {
        !matches!(self, Self::Null | Self::Bool(false))
    }

    pub(crate) fn as_f64(&self) -> Option<f64> {
        if let Self::Num(number) = self { Some(number.value()) } else { None }
    }

    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::Str(text) = self { Some(text) } else { None }
    }

    /// Returns true if both are identical: equal scalars, or containers that share their contents.
    pub(crate) fn identical(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::Num(left), Self::Num(right)) => left.identical(right),
            (Self::Str(left), Self::Str(right)) => Rc::ptr_eq(left, right),
            (Self::Arr(left), Self::Arr(right)) => Rc::ptr_eq(left, right),
            (Self::Obj(left), Self::Obj(right)) => Rc::ptr_eq(left, right),
            _ => false,
        }
    }

    /// Returns the elements of an array or the values of an object.
    pub(crate) fn children(&self) -> Option<Vec<Self>> {
        match self {
            Self::Arr(array) => Some(array.0.clone()),
            Self::Obj(object) => Some(object.0.values().cloned().collect()),
            _ => None,
        }
    }

    /// Takes the elements out of an array, without a copy if there is no other holder.
    pub(crate) fn into_elements(self) -> Result<Vec<Self>, Self> {
        match self {
            Self::Arr(mut array) => Ok(match Rc::get_mut(&mut array) {
                Some(own) => std::mem::take(&mut own.0),
                None => array.0.clone(),
            }),
            other => Err(other),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Bool(false) => 1,
            Self::Bool(true) => 2,
            Self::Num(_) => 3,
            Self::Str(_) => 4,
            Self::Arr(_) => 5,
            Self::Obj(_) => 6,
        }
    }
}

impl Object {
    /// Returns the members in the order of their names.
    pub(crate) fn sorted(&self) -> Vec<(&Rc<str>, &Val)> {
        let mut members: Vec<_> = self.0.iter().collect();
        members.sort_unstable_by(|left, right| left.0.cmp(right.0));
        members
    }
}

/// Error: two values are nested too deeply for an operation on both.
pub(crate) struct TooDeep;

/// Rules of a comparison of two values.
struct Comparison<'a> {
    numbers: fn(&Number, &Number) -> Ordering,
    /// Result for two values that are nested too deeply.
    deep: &'a dyn Fn() -> Result<Ordering, TooDeep>,
}

/// Comparisons of two values. These are not traits of the standard library, because values that are nested too deeply
/// have no order.
impl Val {
    /// Compares two values in jq's order: null, false, true, numbers, strings, arrays, objects.
    pub(crate) fn compare(&self, other: &Self) -> Result<Ordering, Failure> {
        self.order_at(other, 0, &Comparison { numbers: Number::compare, deep: &|| Err(TooDeep) })
            .map_err(|TooDeep| Failure::new("Comparison too deep"))
    }

    /// Returns true if both are equal. NaN differs from itself, but containers that share their contents are equal.
    pub(crate) fn equals(&self, other: &Self) -> Result<bool, Failure> {
        self.equal_at(other, 0).map_err(|TooDeep| Failure::new("Equality check too deep"))
    }

    fn order_at(&self, other: &Self, depth: usize, how: &Comparison<'_>) -> Result<Ordering, TooDeep> {
        if depth > MAX_DEPTH {
            return (how.deep)();
        }
        Ok(match (self, other) {
            (Self::Num(left), Self::Num(right)) => (how.numbers)(left, right),
            (Self::Str(left), Self::Str(right)) => left.cmp(right),
            (Self::Arr(left), Self::Arr(right)) => order_rows(left.0.iter(), right.0.iter(), depth, how)?,
            // The names count as arrays within the objects.
            (Self::Obj(_), Self::Obj(_)) if depth == MAX_DEPTH => (how.deep)()?,
            (Self::Obj(left), Self::Obj(right)) => {
                let (left, right) = (left.sorted(), right.sorted());
                match left.iter().map(|it| it.0).cmp(right.iter().map(|it| it.0)) {
                    Ordering::Equal => order_rows(left.iter().map(|it| it.1), right.iter().map(|it| it.1), depth, how)?,
                    unequal => unequal,
                }
            }
            _ => self.rank().cmp(&other.rank()),
        })
    }

    fn equal_at(&self, other: &Self, depth: usize) -> Result<bool, TooDeep> {
        match (self, other) {
            (Self::Arr(left), Self::Arr(right)) if Rc::ptr_eq(left, right) => return Ok(true),
            (Self::Obj(left), Self::Obj(right)) if Rc::ptr_eq(left, right) => return Ok(true),
            _ if depth > MAX_DEPTH => return Err(TooDeep),
            _ => {}
        }
        match (self, other) {
            (Self::Num(left), Self::Num(right)) => Ok(left.equals(right)),
            (Self::Str(left), Self::Str(right)) => Ok(left == right),
            (Self::Arr(left), Self::Arr(right)) if left.0.len() == right.0.len() => {
                all_equal(left.0.iter().zip(&right.0), depth)
            }
            (Self::Obj(left), Self::Obj(right)) if left.0.len() == right.0.len() => {
                if !left.0.keys().all(|name| right.0.contains_key(name)) {
                    return Ok(false);
                }
                all_equal(left.0.iter().filter_map(|(name, value)| Some((value, right.0.get(name)?))), depth)
            }
            (Self::Arr(_), Self::Arr(_)) | (Self::Obj(_), Self::Obj(_)) => Ok(false),
            _ => Ok(self.rank() == other.rank()),
        }
    }
}

/// Compares the elements of two containers at this depth, and then their numbers.
fn order_rows<'a>(
    mut left: impl Iterator<Item = &'a Val>,
    mut right: impl Iterator<Item = &'a Val>,
    depth: usize,
    how: &Comparison<'_>,
) -> Result<Ordering, TooDeep> {
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ok(Ordering::Equal),
            (None, Some(_)) => return Ok(Ordering::Less),
            (Some(_), None) => return Ok(Ordering::Greater),
            (Some(left), Some(right)) => left.order_at(right, depth + 1, how)?,
        };
        if order != Ordering::Equal {
            return Ok(order);
        }
    }
}

fn all_equal<'a>(pairs: impl Iterator<Item = (&'a Val, &'a Val)>, depth: usize) -> Result<bool, TooDeep> {
    for (left, right) in pairs {
        if !left.equal_at(right, depth + 1)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Sorts items by their keys. The sort is stable.
pub(crate) fn sort_by_key<I>(items: &mut [I], key: impl Fn(&I) -> &Val) -> Result<(), Failure> {
    let too_deep = Cell::new(false);
    // Values that differ only beyond the depth limit count as equal: without a total order the sort may panic.
    let deep = || {
        too_deep.set(true);
        Ok(Ordering::Equal)
    };
    let how = Comparison { numbers: Number::total_order, deep: &deep };
    items.sort_by(|left, right| key(left).order_at(key(right), 0, &how).unwrap_or(Ordering::Equal));
    if too_deep.get() { Err(Failure::new("Comparison too deep")) } else { Ok(()) }
}

impl From<bool> for Val {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<f64> for Val {
    fn from(value: f64) -> Self {
        Self::Num(Number::from(value))
    }
}

impl From<usize> for Val {
    fn from(value: usize) -> Self {
        Self::from(value as f64)
    }
}

impl From<&str> for Val {
    fn from(text: &str) -> Self {
        Self::string(text)
    }
}

impl FromIterator<Val> for Val {
    fn from_iter<I: IntoIterator<Item = Val>>(elements: I) -> Self {
        Self::array(elements.into_iter().collect())
    }
}

/// Moves the children of a container into `pending` if this is its last holder.
fn dismantle(value: Val, pending: &mut Vec<Val>) {
    match value {
        Val::Arr(mut array) => {
            if let Some(own) = Rc::get_mut(&mut array) {
                pending.append(&mut own.0);
            }
        }
        Val::Obj(mut object) => {
            if let Some(own) = Rc::get_mut(&mut object) {
                pending.extend(std::mem::take(&mut own.0).into_values());
            }
        }
        _ => {}
    }
}

fn is_container(value: &Val) -> bool {
    matches!(value, Val::Arr(_) | Val::Obj(_))
}

fn drop_nested(mut pending: Vec<Val>) {
    while let Some(value) = pending.pop() {
        dismantle(value, &mut pending);
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        if self.0.iter().any(is_container) {
            drop_nested(std::mem::take(&mut self.0));
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if self.0.values().any(is_container) {
            drop_nested(std::mem::take(&mut self.0).into_values().collect());
        }
    }
}
