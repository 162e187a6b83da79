//! Members of an archive that are listed or extracted.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use bashkit::builtins::ls::glob::fnmatch;

/// Comparison of the names of a call with those of members.
#[derive(Clone, Copy)]
pub(super) struct MemberMatching {
    /// `--wildcards`, `--no-wildcards` or neither.
    pub(super) wildcards: Option<bool>,
    /// `--no-anchored` lets a name match behind any slash.
    pub(super) anchored: bool,
    /// A `*` matches a slash, too.
    pub(super) match_slash: bool,
    pub(super) ignore_case: bool,
}

impl Default for MemberMatching {
    fn default() -> Self {
        Self { wildcards: None, anchored: true, match_slash: true, ignore_case: false }
    }
}

impl MemberMatching {
    /// Applies a long option. Returns false if it is another one.
    pub(super) fn set(&mut self, option: &str) -> bool {
        match option {
            "wildcards" => self.wildcards = Some(true),
            "no-wildcards" => self.wildcards = Some(false),
            "anchored" => self.anchored = true,
            "no-anchored" => self.anchored = false,
            "wildcards-match-slash" => self.match_slash = true,
            "no-wildcards-match-slash" => self.match_slash = false,
            "ignore-case" => self.ignore_case = true,
            "no-ignore-case" => self.ignore_case = false,
            _ => return false,
        }
        true
    }

    fn matches_whole(&self, member: &str, name: &str) -> bool {
        match self.wildcards {
            Some(true) if self.match_slash => fnmatch(member, name, self.ignore_case),
            Some(true) => {
                let (members, names) = (member.split('/'), name.split('/'));
                members.clone().count() == names.clone().count()
                    && members.zip(names).all(|(member, name)| fnmatch(member, name, self.ignore_case))
            }
            _ if self.ignore_case => member.to_lowercase() == name.to_lowercase(),
            _ => member == name,
        }
    }

    /// Returns true if a name stands for a member, or for a directory that it is in.
    fn matches(&self, member: &str, name: &str) -> bool {
        let name = name.trim_end_matches('/');
        let behind_slashes = member.match_indices('/').map(|(at, _)| &member[at + 1..]);
        let starts = std::iter::once(member).chain(behind_slashes.filter(|_| !self.anchored));
        starts.into_iter().any(|start| {
            let folders = start.match_indices('/').map(|(at, _)| &start[..at]);
            std::iter::once(start).chain(folders).any(|part| self.matches_whole(part, name))
        })
    }
}

/// Names of a call, each with a mark if it occurred in the archive.
pub(super) struct MemberFilter<'a> {
    names: &'a [&'a str],
    matching: MemberMatching,
    found: Vec<bool>,
}

impl<'a> MemberFilter<'a> {
    pub(super) fn new(names: &'a [&'a str], matching: MemberMatching) -> Self {
        Self { names, matching, found: vec![false; names.len()] }
    }

    /// Returns true if a name stands for a member. Without any names, all members are selected.
    pub(super) fn selects(&mut self, member: &str) -> bool {
        let member = member.trim_end_matches('/');
        let matches = |name: &&str| self.matching.matches(member, name);
        match self.names.iter().position(matches) {
            Some(index) => self.found[index] = true,
            None => return self.names.is_empty(),
        }
        true
    }

    /// Returns messages about names that did not occur.
    pub(super) fn missing(&self) -> String {
        let names = self.names.iter().zip(&self.found);
        let missing = names.filter(|(_, found)| !**found).map(|(name, _)| *name);
        let mut messages = String::new();
        for name in missing {
            if self.matching.wildcards.is_none() && name.contains(['*', '?', '[']) {
                messages.push_str(
                    "tar: Pattern matching characters used in file names\n\
                     tar: Use --wildcards to enable pattern matching, \
                     or --no-wildcards to suppress this warning\n",
                );
            }
            messages.push_str(&format!("tar: {name}: Not found in archive\n"));
        }
        if !messages.is_empty() {
            messages.push_str("tar: Exiting with failure status due to previous errors\n");
        }
        messages
    }
}
