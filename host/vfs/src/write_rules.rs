//! Rules for the parts of the tree that guests may write to. They belong to the session, not to its files: they are not
//! a property of an entry, and do not move with an entry that is renamed.

use super::node::Name;

/// Write rules by path. A path that is neither at nor below any of these is read-only.
#[derive(Debug, Clone, Default)]
pub(super) struct WriteRules {
    /// Rules sorted by path, so that equal rules are stored in the same way.
    rules: Vec<WriteRule>,
}

#[derive(Debug, Clone)]
struct WriteRule {
    names: Vec<Name>,
    writable: bool,
}

impl WriteRules {
    /// Makes a path and everything below it writable or read-only, except at and below paths with a longer rule.
    pub(super) fn set(&mut self, names: &[Name], writable: bool) {
        match self.rules.binary_search_by(|rule| rule.names.as_slice().cmp(names)) {
            Ok(at) => self.rules[at].writable = writable,
            Err(at) => self.rules.insert(at, WriteRule { names: names.to_vec(), writable }),
        }
    }

    /// The rules, sorted by path.
    pub(super) fn rules(&self) -> impl Iterator<Item = (&[Name], bool)> {
        self.rules.iter().map(|rule| (rule.names.as_slice(), rule.writable))
    }

    /// Returns true if a guest may change the entry at a path (and, if it is a directory, its entries).
    pub(super) fn writable(&self, names: &[Name]) -> bool {
        let above = self.rules.iter().filter(|rule| names.starts_with(&rule.names));
        above.max_by_key(|rule| rule.names.len()).is_some_and(|rule| rule.writable)
    }

    /// Returns true if a path has a read-only rule of its own.
    pub(super) fn is_read_only_at(&self, names: &[Name]) -> bool {
        self.rules.iter().any(|rule| rule.names == names && !rule.writable)
    }

    /// Returns true if a rule is defined at or below a path, so that the entry must not be moved or removed.
    pub(super) fn pinned(&self, names: &[Name]) -> bool {
        self.rules.iter().any(|rule| rule.names.starts_with(names))
    }
}

impl FromIterator<(Vec<Name>, bool)> for WriteRules {
    fn from_iter<T: IntoIterator<Item = (Vec<Name>, bool)>>(rules: T) -> WriteRules {
        let mut write_rules = WriteRules::default();
        rules.into_iter().for_each(|(names, writable)| write_rules.set(&names, writable));
        write_rules
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Vec<Name> {
        path.split('/').filter(|name| !name.is_empty()).map(Name::from).collect()
    }

    #[test]
    fn write_rules_apply_the_longest_match() {
        let mut write_rules = WriteRules::default();
        write_rules.set(&names("/w"), true);
        write_rules.set(&names("/w/data"), false);
        write_rules.set(&names("/w/data/out"), true);
        let writable = |path: &str| write_rules.writable(&names(path));
        assert!(!writable("/") && !writable("/etc") && !writable("/wider"));
        assert!(writable("/w") && writable("/w/a/b"));
        assert!(!writable("/w/data") && !writable("/w/data/a"));
        assert!(writable("/w/data/out/a"));
    }

    #[test]
    fn write_rule_pins_its_place_and_its_parents() {
        let mut write_rules = WriteRules::default();
        write_rules.set(&names("/w/data"), false);
        assert!(
            write_rules.pinned(&names("/"))
                && write_rules.pinned(&names("/w"))
                && write_rules.pinned(&names("/w/data"))
        );
        assert!(!write_rules.pinned(&names("/w/data/a")) && !write_rules.pinned(&names("/w/dat")));
    }

    #[test]
    fn setting_a_place_again_replaces_its_rule() {
        let mut write_rules = WriteRules::default();
        write_rules.set(&names("/w"), true);
        write_rules.set(&names("/w"), false);
        assert!(!write_rules.writable(&names("/w")));
    }
}
