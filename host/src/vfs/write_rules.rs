//! Which parts of the tree a guest may write to. A property of the session, not of its files: it is no part of what
//! an entry is, and it does not travel with one that is renamed.

use super::node::Name;

/// Where writing begins to be allowed, or ends. What is under none of these is read-only.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    /// Sorted by path, so that equal rules are written the same.
    rules: Vec<Rule>,
}

#[derive(Debug, Clone)]
struct Rule {
    names: Vec<Name>,
    writable: bool,
}

impl Places {
    /// Makes what is at and below a path writable, or read-only, except below paths with a longer rule.
    pub(super) fn set(&mut self, names: &[Name], writable: bool) {
        match self.rules.binary_search_by(|rule| rule.names.as_slice().cmp(names)) {
            Ok(at) => self.rules[at].writable = writable,
            Err(at) => self.rules.insert(at, Rule { names: names.to_vec(), writable }),
        }
    }

    /// The rules, sorted by path.
    pub(super) fn rules(&self) -> impl Iterator<Item = (&[Name], bool)> {
        self.rules.iter().map(|rule| (rule.names.as_slice(), rule.writable))
    }

    /// Whether a guest may change the entry at a path (and, if it is a directory, what is in it).
    pub(super) fn writable(&self, names: &[Name]) -> bool {
        let above = self.rules.iter().filter(|rule| names.starts_with(&rule.names));
        above.max_by_key(|rule| rule.names.len()).is_some_and(|rule| rule.writable)
    }

    /// Returns true if a rule of its own makes a path read-only.
    pub(super) fn is_read_only_at(&self, names: &[Name]) -> bool {
        self.rules.iter().any(|rule| rule.names == names && !rule.writable)
    }

    /// Whether a rule begins at or below a path, so that the entry there must stay where it is.
    pub(super) fn pinned(&self, names: &[Name]) -> bool {
        self.rules.iter().any(|rule| rule.names.starts_with(names))
    }
}

impl FromIterator<(Vec<Name>, bool)> for Places {
    fn from_iter<T: IntoIterator<Item = (Vec<Name>, bool)>>(rules: T) -> Places {
        let mut places = Places::default();
        rules.into_iter().for_each(|(names, writable)| places.set(&names, writable));
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str) -> Vec<Name> {
        path.split('/').filter(|name| !name.is_empty()).map(Name::from).collect()
    }

    #[test]
    fn the_longest_rule_decides() {
        let mut places = Places::default();
        places.set(&names("/w"), true);
        places.set(&names("/w/data"), false);
        places.set(&names("/w/data/out"), true);
        let writable = |path: &str| places.writable(&names(path));
        assert!(!writable("/") && !writable("/etc") && !writable("/wider"));
        assert!(writable("/w") && writable("/w/a/b"));
        assert!(!writable("/w/data") && !writable("/w/data/a"));
        assert!(writable("/w/data/out/a"));
    }

    #[test]
    fn a_place_and_what_is_above_it_is_pinned() {
        let mut places = Places::default();
        places.set(&names("/w/data"), false);
        assert!(places.pinned(&names("/")) && places.pinned(&names("/w")) && places.pinned(&names("/w/data")));
        assert!(!places.pinned(&names("/w/data/a")) && !places.pinned(&names("/w/dat")));
    }

    #[test]
    fn setting_a_place_again_replaces_its_rule() {
        let mut places = Places::default();
        places.set(&names("/w"), true);
        places.set(&names("/w"), false);
        assert!(!places.writable(&names("/w")));
    }
}
