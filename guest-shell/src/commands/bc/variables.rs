//! Variables of the machine: simple ones, arrays and settings.

use std::sync::Arc;

use super::super::decimal::Decimal;
use super::super::effort::Refusal;
use super::machine::{Array, Machine, Trouble, Value};
use super::parser::Dialect;
use super::program::{NameId, Place};

/// Largest array index.
const LAST_INDEX: i64 = 16_777_215;
/// Largest base of input.
const LARGEST_IBASE: i64 = 36;
/// Largest base of input in POSIX mode.
const STANDARD_IBASE: i64 = 16;
/// Largest base of output, and largest scale.
const LARGEST: i64 = 2_147_483_647;

impl Machine {
    /// Pops the index of an array element.
    pub(super) fn index(&mut self, array: NameId, keep: bool) -> Result<u32, Trouble> {
        let value = self.pop();
        let index = value.to_i64().filter(|index| (0..=LAST_INDEX).contains(index));
        let index = index.filter(|index| *index != 0 || value.is_zero()).and_then(|index| u32::try_from(index).ok());
        let Some(index) = index else {
            let name = self.declared.names.name(array);
            return Err(Trouble::Error(format!("Array {name} subscript out of bounds.")));
        };
        if keep {
            self.stack.push(value);
        }
        Ok(index)
    }

    pub(super) fn load(&mut self, place: Place, keep: bool) -> Result<Value, Trouble> {
        let zero = || Arc::new(Decimal::zero());
        Ok(match place {
            Place::Simple(name) => self.simple[name].clone().unwrap_or_else(zero),
            Place::Element(name) => {
                let index = self.index(name, keep)?;
                let array = self.arrays[name].map(|id| &self.storage[id]);
                array.and_then(|array| array.get(&index)).cloned().unwrap_or_else(zero)
            }
            Place::Ibase => Arc::new(Decimal::from(u64::from(self.ibase))),
            Place::Obase => Arc::new(Decimal::from(u64::from(self.obase))),
            Place::Scale => Arc::new(Decimal::from(u64::try_from(self.scale).unwrap_or(u64::MAX))),
            Place::Last => Arc::clone(&self.last),
            Place::History => Arc::clone(&self.history),
        })
    }

    /// Stores the topmost number, which stays on the stack. The index of an element below it is removed.
    pub(super) fn store(&mut self, place: Place) -> Result<(), Trouble> {
        let value = self.pop();
        match place {
            Place::Simple(name) => self.simple[name] = Some(Arc::clone(&value)),
            Place::Element(name) => {
                let index = self.index(name, false)?;
                let id = self.array(name);
                self.storage[id].insert(index, Arc::clone(&value));
            }
            Place::Ibase => {
                let standard = self.options.dialect == Dialect::Standard;
                let most = if standard { STANDARD_IBASE } else { LARGEST_IBASE };
                self.ibase = self.bounded(&value, "ibase", 2, most);
                if i64::from(self.ibase) > STANDARD_IBASE && self.options.dialect == Dialect::Warn {
                    self.warn("ibase larger than 16 is non-standard");
                }
            }
            Place::Obase => self.obase = self.bounded(&value, "obase", 2, LARGEST),
            Place::Scale => {
                let scale = self.bounded(&value, "scale", 0, LARGEST);
                self.scale = usize::try_from(scale).unwrap_or_default();
            }
            Place::Last => self.last = Arc::clone(&value),
            Place::History => self.history = Arc::new(Decimal::from(value.to_i64().unwrap_or(-1).max(-1))),
        }
        self.stack.push(value);
        Ok(())
    }

    /// Returns the integer part of a value, clamped to the bounds of a setting with a warning.
    pub(super) fn bounded(&mut self, value: &Decimal, name: &str, least: i64, most: i64) -> u32 {
        // As in GNU's, a value with a fraction that is too small counts as too large.
        let whole = value.to_i64().filter(|whole| *whole != 0 || value.is_zero());
        let number = whole.unwrap_or(if value.is_negative() { i64::MIN } else { i64::MAX });
        let is_below = value.is_negative() && !value.is_zero();
        if number < least || is_below {
            match name {
                "scale" => self.warn("negative scale, set to 0"),
                _ => self.warn(&format!("{name} too small, set to {least}")),
            }
        } else if number > most {
            self.warn(&format!("{name} too large, set to {most}"));
        }
        u32::try_from(number.clamp(least, most)).unwrap_or_default()
    }

    /// Returns the array that a name refers to, which is created if necessary.
    pub(super) fn array(&mut self, name: NameId) -> usize {
        if let Some(id) = self.arrays[name] {
            return id;
        }
        let id = self.new_array(Array::new());
        self.arrays[name] = Some(id);
        id
    }

    pub(super) fn new_array(&mut self, elements: Array) -> usize {
        match self.unused.pop() {
            Some(id) => {
                self.storage[id] = elements;
                id
            }
            None => {
                self.storage.push(elements);
                self.storage.len() - 1
            }
        }
    }

    /// Increments or decrements a variable; settings stop at their bounds.
    pub(super) fn increment(&mut self, place: Place, up: bool, old: bool) -> Result<(), Trouble> {
        let before = self.load(place, true)?;
        let one = Decimal::from(1_u64);
        let after = match up {
            true => before.add(&one, &mut self.effort)?,
            false => before.subtract(&one, &mut self.effort)?,
        };
        self.push(after);
        self.store(place)?;
        if old {
            self.pop();
            self.stack.push(before);
        } else {
            // The setting may have stopped at its bound.
            self.pop();
            let value = match place {
                Place::Element(_) | Place::Simple(_) => None,
                other => Some(self.load(other, false)?),
            };
            let value = match value {
                Some(value) => value,
                None => self.stepped(&before, up)?,
            };
            self.stack.push(value);
        }
        Ok(())
    }

    pub(super) fn stepped(&mut self, before: &Decimal, up: bool) -> Result<Value, Refusal> {
        let one = Decimal::from(1_u64);
        let after = if up { before.add(&one, &mut self.effort) } else { before.subtract(&one, &mut self.effort) };
        after.map(Arc::new)
    }
}
