//! Commands `id` and `groups`, as those of GNU coreutils 9.1. The users of the sandbox are the one who runs the script,
//! and `root`; the group of each has its name.

use crate::commands::option_parser::gnu_getopt;
use bashkit::builtins::arg_parser::OptArg;
use bashkit::builtins::system::{SANDBOX_GID, SANDBOX_UID};
use bashkit::builtins::{Builtin, Context, check_help_version};
use bashkit::{ExecResult, PlacedMessages, Result, async_trait};

const ID_HELP: &str = "\
Usage: id [OPTION]... [USER]...
Print user and group information for each specified USER,
or (when USER omitted) for the current process.

  -a             ignore, for compatibility with other versions
  -Z, --context  print only the security context of the process
  -g, --group    print only the effective group ID
  -G, --groups   print all group IDs
  -n, --name     print a name instead of a number, for -ugG
  -r, --real     print the real ID instead of the effective ID, with -ugG
  -u, --user     print only the effective user ID
  -z, --zero     delimit entries with NUL characters, not whitespace;
                   not permitted in default format
      --help     display this help and exit
      --version  output version information and exit
";

const GROUPS_HELP: &str = "\
Usage: groups [OPTION]... [USERNAME]...
Print group memberships for each USERNAME or, if no USERNAME is specified, for
the current process (which may differ if the groups database has changed).
      --help     display this help and exit
      --version  output version information and exit
";

/// Names of the users who exist.
#[derive(Clone)]
pub(super) struct UserDatabase {
    user: String,
}

/// User with a group of the same name.
pub(super) struct User<'a> {
    pub(super) name: &'a str,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl UserDatabase {
    /// Returns the users of a sandbox whose scripts run as `user`.
    pub(super) fn new(user: &str) -> Self {
        Self { user: user.to_owned() }
    }

    /// Returns the user who runs the script.
    pub(super) fn current(&self) -> User<'_> {
        User { name: &self.user, uid: SANDBOX_UID, gid: SANDBOX_GID }
    }

    /// Returns a user by name, or by number.
    pub(super) fn find(&self, text: &str) -> Option<User<'_>> {
        let root = User { name: "root", uid: 0, gid: 0 };
        let users = || [self.current(), User { ..root }].into_iter();
        let by_name = users().find(|user| user.name == text);
        let number = || text.strip_prefix('+').unwrap_or(text).parse::<u32>().ok();
        by_name.or_else(|| number().and_then(|number| users().find(|user| user.uid == number)))
    }
}

/// Command `id` of the shell.
pub(super) struct Id(pub(super) UserDatabase);

/// Property of a user that `id` prints.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Selection {
    Everything,
    User,
    Group,
    Groups,
}

/// Options of `id`.
struct IdOptions {
    selection: Selection,
    names: bool,
    zero: bool,
}

impl IdOptions {
    fn parse(words: &[String]) -> std::result::Result<(Self, Vec<String>), ExecResult> {
        let long = [
            ("context", OptArg::No, 'Z'),
            ("group", OptArg::No, 'g'),
            ("groups", OptArg::No, 'G'),
            ("name", OptArg::No, 'n'),
            ("real", OptArg::No, 'r'),
            ("user", OptArg::No, 'u'),
            ("zero", OptArg::No, 'z'),
        ];
        let (given, users) = gnu_getopt("id", words, "agGnruzZ", &long, true, 1)?;
        let has = |key: char| given.iter().any(|option| option.key == key);
        let refuse = |message: &str| Err(ExecResult::err(format!("id: {message}\n"), 1));
        if has('Z') {
            return refuse("--context (-Z) works only on an SELinux-enabled kernel");
        }
        let selections = [('u', Selection::User), ('g', Selection::Group), ('G', Selection::Groups)];
        let mut chosen = selections.into_iter().filter(|(key, _)| has(*key)).map(|(_, selection)| selection);
        let selection = chosen.next().unwrap_or(Selection::Everything);
        if chosen.next().is_some() {
            return refuse("cannot print \"only\" of more than one choice");
        }
        if selection == Selection::Everything && (has('n') || has('r')) {
            return refuse("cannot print only names or real IDs in default format");
        }
        if selection == Selection::Everything && has('z') {
            return refuse("option --zero not permitted in default format");
        }
        Ok((Self { selection, names: has('n'), zero: has('z') }, users))
    }

    /// Returns what is printed of a user, one of several if `has_others`.
    fn show(&self, user: &User<'_>, has_others: bool) -> String {
        let User { name, uid, gid } = user;
        let end = match self.zero {
            // The lists of groups of several users end with a second one.
            true if self.selection == Selection::Groups && has_others => "\0\0",
            true => "\0",
            false => "\n",
        };
        match self.selection {
            Selection::Everything => format!("uid={uid}({name}) gid={gid}({name}) groups={gid}({name}){end}"),
            _ if self.names => format!("{name}{end}"),
            Selection::User => format!("{uid}{end}"),
            Selection::Group | Selection::Groups => format!("{gid}{end}"),
        }
    }
}

#[async_trait]
impl Builtin for Id {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, ID_HELP, Some("id (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let (options, names) = match IdOptions::parse(ctx.args) {
            Ok(parsed) => parsed,
            Err(refusal) => return Ok(refusal),
        };
        if names.is_empty() {
            return Ok(ExecResult::ok(options.show(&self.0.current(), false)));
        }
        let print = |user: &User<'_>| options.show(user, names.len() > 1);
        Ok(print_each("id", &self.0, &names, print))
    }
}

/// Command `groups` of the shell.
pub(super) struct Groups(pub(super) UserDatabase);

#[async_trait]
impl Builtin for Groups {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(result) = check_help_version(ctx.args, GROUPS_HELP, Some("groups (GNU coreutils) 9.1")) {
            return Ok(result);
        }
        let names = match gnu_getopt("groups", ctx.args, "", &[], true, 1) {
            Ok((_, names)) => names,
            Err(refusal) => return Ok(refusal),
        };
        if names.is_empty() {
            return Ok(ExecResult::ok(format!("{}\n", self.0.current().name)));
        }
        Ok(print_each("groups", &self.0, &names, |user| format!("{0} : {0}\n", user.name)))
    }
}

/// Prints something of each user, with messages about names that nobody has.
fn print_each(
    command: &str,
    users: &UserDatabase,
    names: &[String],
    print: impl Fn(&User<'_>) -> String,
) -> ExecResult {
    let (mut output, mut errors) = (String::new(), PlacedMessages::new());
    for name in names {
        match users.find(name) {
            Some(user) => output += &print(&user),
            None => errors.push(&format!("{command}: '{name}': no such user\n"), output.len()),
        }
    }
    let status = i32::from(!errors.is_empty());
    ExecResult { stderr: errors.beside_text(&output), ..ExecResult::with_code(output, status) }
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::run;

    #[tokio::test]
    async fn id_of_users_prints_each_and_reports_those_who_do_not_exist() {
        for (script, output, status) in [
            ("id", "uid=1000(sandbox) gid=1000(sandbox) groups=1000(sandbox)\n", 0),
            ("id -un; id -gn; id -u -r; id -G; id -nG root", "sandbox\nsandbox\n1000\n1000\nroot\n", 0),
            ("id nouser 2>&1", "id: 'nouser': no such user\n", 1),
            (
                "id root nouser sandbox 2>&1",
                "uid=0(root) gid=0(root) groups=0(root)\nid: 'nouser': no such user\nuid=1000(sandbox) gid=1000(sandbox) groups=1000(sandbox)\n",
                1,
            ),
            ("id -u 0 +1000", "0\n1000\n", 0),
            ("id -z 2>&1", "id: option --zero not permitted in default format\n", 1),
            ("id -ug 2>&1", "id: cannot print \"only\" of more than one choice\n", 1),
            ("id -n 2>&1", "id: cannot print only names or real IDs in default format\n", 1),
            ("id -Gz root sandbox | od -An -c", "   0  \\0  \\0   1   0   0   0  \\0  \\0\n", 0),
            ("groups; groups root nouser 2>&1", "sandbox\nroot : root\ngroups: 'nouser': no such user\n", 1),
        ] {
            let result = run(script).await;
            assert_eq!((&*result.stdout, result.exit_code), (output, status), "{script}\n{}", &*result.stderr);
        }
    }
}
