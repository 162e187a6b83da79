//! `chown` and `chgrp`. All files belong to the user who runs the script, and only a superuser may give files away: a
//! change to another owner or group is refused as Linux refuses it to other users.

use bashkit::builtins::system::{SANDBOX_GID, SANDBOX_UID};
use bashkit::{Builtin, BuiltinContext, ExecResult, Result, async_trait};

use super::call::{Call, Done};
use super::place::join;
use super::quote::quote;
use super::words::{NONE, Spec, Words};
use crate::commands::getopt::Takes;
use crate::commands::identity::UserDatabase;

/// Long options of `chown`. The first one is not an option of `chgrp`.
const LONG_OPTIONS: &[(&str, char, Takes)] = &[
    ("from", NONE, Takes::Required),
    ("changes", 'c', Takes::Nothing),
    ("dereference", NONE, Takes::Nothing),
    ("no-dereference", 'h', Takes::Nothing),
    ("no-preserve-root", NONE, Takes::Nothing),
    ("preserve-root", NONE, Takes::Nothing),
    ("quiet", NONE, Takes::Nothing),
    ("recursive", 'R', Takes::Nothing),
    ("reference", NONE, Takes::Required),
    ("silent", 'f', Takes::Nothing),
    ("verbose", 'v', Takes::Nothing),
];

const CHOWN: Spec =
    Spec { usage: "[OPTION]... [OWNER][:[GROUP]] FILE...", short: "HLPRcfhv", long: LONG_OPTIONS, modes: false };

const CHGRP: Spec = Spec { usage: "[OPTION]... GROUP FILE...", long: LONG_OPTIONS.split_at(1).1, ..CHOWN };

/// Command `chown` or `chgrp`, with the users who exist.
pub(super) struct OwnershipCommand {
    pub(super) name: &'static str,
    pub(super) users: UserDatabase,
}

#[async_trait]
impl Builtin for OwnershipCommand {
    async fn execute(&self, context: BuiltinContext<'_>) -> Result<ExecResult> {
        let mut call = Call::new(self.name, &context);
        run(&mut call, &self.users).await?;
        Ok(call.finish())
    }
}

/// Identifier of a user or group, with the name that messages show.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Principal {
    id: u32,
    name: String,
}

/// Owner and group that files are to have. What is absent stays as it is.
#[derive(Default)]
struct Ownership {
    owner: Option<Principal>,
    group: Option<Principal>,
}

/// Mistake in the operand of owner and group, in the words of the message.
type SpecificationMistake = &'static str;

impl Ownership {
    /// Parses `OWNER`, `OWNER:GROUP`, `OWNER:` and `:GROUP`.
    fn parse(users: &UserDatabase, text: &str) -> std::result::Result<Self, SpecificationMistake> {
        let (owner, group) = match text.split_once(':') {
            Some((owner, group)) => (owner, Some(group)),
            None => (text, None),
        };
        let mut parsed = Self::default();
        if !owner.is_empty() {
            let named = users.find(owner).filter(|_| !owner.starts_with('+'));
            parsed.owner = match (named, number(owner)) {
                (Some(user), _) => {
                    parsed.group = (group == Some("")).then(|| Principal { id: user.gid, name: user.name.to_owned() });
                    Some(Principal { id: user.uid, name: user.name.to_owned() })
                }
                (None, _) if group == Some("") => return Err("invalid spec"),
                (None, Some(id)) => Some(Principal { id, name: id.to_string() }),
                (None, None) => return Err("invalid user"),
            };
        }
        if let Some(group) = group.filter(|group| !group.is_empty()) {
            parsed.group = Some(group_named(users, group).ok_or("invalid group")?);
        }
        Ok(parsed)
    }

    /// Returns owner and group in the form of messages.
    fn text(&self) -> String {
        let name = |of: &Option<Principal>| of.as_ref().map(|principal| principal.name.clone());
        match (name(&self.owner), name(&self.group)) {
            (Some(owner), Some(group)) => format!("{owner}:{group}"),
            (owner, group) => owner.or(group).unwrap_or_default(),
        }
    }
}

/// Returns the group with this name or number.
fn group_named(users: &UserDatabase, text: &str) -> Option<Principal> {
    let named = users.find(text).filter(|_| !text.starts_with('+'));
    let named = named.map(|user| Principal { id: user.gid, name: user.name.to_owned() });
    named.or_else(|| number(text).map(|id| Principal { id, name: id.to_string() }))
}

/// Returns a numeric identifier. The largest number is none: it stands for no change in the system's calls.
fn number(text: &str) -> Option<u32> {
    text.strip_prefix('+').unwrap_or(text).parse().ok().filter(|id| *id != u32::MAX)
}

/// Parsed command line of `chown` or `chgrp`.
struct Request {
    wanted: Ownership,
    /// Owner and group that a file must have to be changed.
    from: Ownership,
    /// Name of the user whose files they are.
    user: String,
    is_chown: bool,
    links_themselves: bool,
    recursive: bool,
    quiet: bool,
    verbose: bool,
}

async fn run(call: &mut Call<'_>, users: &UserDatabase) -> Done {
    let is_chown = call.name == "chown";
    let Some(words) = call.options(if is_chown { &CHOWN } else { &CHGRP }) else { return Ok(()) };
    let Some((request, files)) = request(call, users, &words, is_chown).await else { return Ok(()) };
    for file in files {
        let mut open = vec![(file.clone(), true)];
        while let Some((name, named)) = open.pop() {
            call.work();
            if request.change(call, &name, named).await && request.recursive {
                let entries = call.fs.read_dir(&call.path(&name)).await?;
                let mut names: Vec<_> = entries.iter().map(|entry| join(&name, &entry.name)).collect();
                names.sort_unstable_by(|one, other| other.cmp(one));
                open.extend(names.into_iter().map(|name| (name, false)));
            }
        }
    }
    Ok(())
}

/// Returns what is asked for, and the files. Returns `None` after reporting an invalid command line.
async fn request<'w>(
    call: &mut Call<'_>,
    users: &UserDatabase,
    words: &'w Words,
    is_chown: bool,
) -> Option<(Request, &'w [String])> {
    let recursive = words.has("recursive");
    let links_themselves = words.last(&["dereference", "no-dereference"]) == Some("no-dereference");
    if recursive && words.has("dereference") && !matches!(words.last(&["H", "L", "P"]), Some("H" | "L")) {
        call.fail("-R --dereference requires either -H or -L");
        return None;
    }
    let from = match words.value("from").map(|text| (text, Ownership::parse(users, text))) {
        Some((text, Err(mistake))) => {
            call.fail(format!("{mistake}: {}", quote(text)));
            return None;
        }
        Some((_, Ok(from))) => from,
        None => Ownership::default(),
    };
    let (wanted, files) = wanted(call, users, words, is_chown).await?;
    let request = Request {
        wanted,
        from,
        user: users.current().name.to_owned(),
        is_chown,
        links_themselves,
        recursive,
        quiet: words.has("silent") || words.has("quiet"),
        verbose: words.last(&["verbose", "changes"]) == Some("verbose"),
    };
    Some((request, files))
}

/// Returns owner and group of the first operand or of the reference, and the files.
async fn wanted<'w>(
    call: &mut Call<'_>,
    users: &UserDatabase,
    words: &'w Words,
    is_chown: bool,
) -> Option<(Ownership, &'w [String])> {
    if let Some(reference) = words.value("reference") {
        if words.operands.is_empty() {
            call.usage("missing operand");
            return None;
        }
        if let Err(error) = call.stat(reference).await {
            call.cannot("failed to get attributes of", reference, &error);
            return None;
        }
        let user = users.current();
        let principal = |id| Some(Principal { id, name: user.name.to_owned() });
        let owner = if is_chown { principal(user.uid) } else { None };
        return Some((Ownership { owner, group: principal(user.gid) }, &words.operands));
    }
    let (first, files) = match words.operands.split_first() {
        None => {
            call.usage("missing operand");
            return None;
        }
        Some((first, [])) => {
            let first = call.locale_quote(first);
            call.usage(&format!("missing operand after {first}"));
            return None;
        }
        Some(split) => split,
    };
    let parsed = match is_chown {
        true => Ownership::parse(users, first),
        false if first.is_empty() => Ok(Ownership::default()),
        false => {
            group_named(users, first).map(|group| Ownership { owner: None, group: Some(group) }).ok_or("invalid group")
        }
    };
    match parsed {
        Ok(ownership) => Some((ownership, files)),
        Err(mistake) => {
            let first = call.locale_quote(first);
            call.fail(format!("{mistake}: {first}"));
            None
        }
    }
}

impl Request {
    /// Changes the ownership of one file; returns true for a directory that can be entered.
    async fn change(&self, call: &mut Call<'_>, name: &str, named: bool) -> bool {
        let own = match call.lstat(name).await {
            Ok(own) => own,
            Err(error) => {
                match self.quiet {
                    true => call.status = 1,
                    false => call.cannot("cannot access", name, &error),
                }
                self.report_failure(call, name, false);
                return false;
            }
        };
        let is_link = own.file_type.is_symlink();
        if is_link && !self.links_themselves {
            if self.recursive && !named {
                if self.verbose {
                    call.print(&format!("neither symbolic link {} nor referent has been changed\n", quote(name)));
                }
                return false;
            }
            if let Err(error) = call.stat(name).await {
                match self.quiet {
                    true => call.status = 1,
                    false => call.cannot("cannot dereference", name, &error),
                }
                self.report_failure(call, name, false);
                return false;
            }
        }
        self.apply(call, name);
        own.file_type.is_dir()
    }

    /// Refuses to give a file away, and reports a file that stays as it is.
    fn apply(&self, call: &mut Call<'_>, name: &str) {
        let is = |principal: &Option<Principal>, id| principal.as_ref().is_none_or(|principal| principal.id == id);
        let applies = is(&self.from.owner, SANDBOX_UID) && is(&self.from.group, SANDBOX_GID);
        let stays = is(&self.wanted.owner, SANDBOX_UID) && is(&self.wanted.group, SANDBOX_GID);
        if applies && !stays {
            let what = if self.wanted.owner.is_some() { "ownership" } else { "group" };
            match self.quiet {
                true => call.status = 1,
                // Message of Linux for those who are not the superuser.
                false => call.fail(format!("changing {what} of {}: Operation not permitted", quote(name))),
            }
            self.report_failure(call, name, true);
        } else if self.verbose {
            let wanted = self.text();
            let end = if wanted.is_empty() { String::new() } else { format!(" as {wanted}") };
            call.print(&format!("{} of {} retained{end}\n", self.subject(), quote(name)));
        }
    }

    fn report_failure(&self, call: &mut Call<'_>, name: &str, found: bool) {
        if !self.verbose {
            return;
        }
        let old = || Some(Principal { id: SANDBOX_UID, name: self.user.clone() });
        let before = Ownership {
            owner: if self.is_chown && (self.wanted.owner.is_some() || self.wanted.group.is_some()) {
                old()
            } else {
                None
            },
            group: self.wanted.group.as_ref().and_then(|_| old()),
        };
        let from = if found { format!(" from {}", before.text()) } else { String::new() };
        let wanted = self.text();
        let to = if wanted.is_empty() { String::new() } else { format!("{from} to {wanted}") };
        call.print(&format!("failed to change {} of {}{to}\n", self.subject(), quote(name)));
    }

    /// Returns the word of the reports for what is changed.
    fn subject(&self) -> &'static str {
        let only_group = self.wanted.owner.is_none() && self.wanted.group.is_some();
        if only_group && !self.is_chown { "group" } else { "ownership" }
    }

    /// Returns owner and group in the form of reports. `chown` writes a colon before a group without an owner.
    fn text(&self) -> String {
        let colon = self.is_chown && self.wanted.owner.is_none() && self.wanted.group.is_some();
        format!("{}{}", if colon { ":" } else { "" }, self.wanted.text())
    }
}
