//! Registers, each of which is a stack; every level of it has a value and an array.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::decimal::Decimal;

/// Number or string.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Number of any precision.
    Number(Arc<Decimal>),
    /// String of any bytes.
    Text(Arc<[u8]>),
}

impl From<Decimal> for Value {
    fn from(number: Decimal) -> Self {
        Self::Number(Arc::new(number))
    }
}

/// Level of a register's stack.
#[derive(Default)]
struct Level {
    value: Option<Value>,
    array: BTreeMap<u32, Value>,
}

/// Set of all registers, by the byte that names each.
pub(super) struct Registers {
    stacks: Vec<Vec<Level>>,
}

impl Registers {
    /// Returns empty registers.
    pub(super) fn new() -> Self {
        Self { stacks: (0..=u8::MAX).map(|_| Vec::new()).collect() }
    }

    fn stack(&mut self, name: u8) -> &mut Vec<Level> {
        &mut self.stacks[usize::from(name)]
    }

    fn top(&mut self, name: u8) -> &mut Level {
        let stack = self.stack(name);
        if stack.is_empty() {
            stack.push(Level::default());
        }
        let last = stack.len() - 1;
        &mut stack[last]
    }

    /// Sets the value of the topmost level.
    pub(super) fn set(&mut self, name: u8, value: Value) {
        self.top(name).value = Some(value);
    }

    /// Returns the value of the topmost level.
    pub(super) fn get(&self, name: u8) -> Option<Value> {
        self.stacks[usize::from(name)].last()?.value.clone()
    }

    /// Returns true if a register has no levels.
    pub(super) fn is_unused(&self, name: u8) -> bool {
        self.stacks[usize::from(name)].is_empty()
    }

    /// Pushes a level onto a register.
    pub(super) fn push(&mut self, name: u8, value: Value) {
        self.stack(name).push(Level { value: Some(value), array: BTreeMap::new() });
    }

    /// Pops a level and returns its value.
    pub(super) fn pop(&mut self, name: u8) -> Option<Value> {
        self.stack(name).pop()?.value
    }

    /// Sets an element of the topmost level's array.
    pub(super) fn set_element(&mut self, name: u8, index: u32, value: Value) {
        self.top(name).array.insert(index, value);
    }

    /// Returns an element of the topmost level's array.
    pub(super) fn element(&self, name: u8, index: u32) -> Option<Value> {
        self.stacks[usize::from(name)].last()?.array.get(&index).cloned()
    }
}
