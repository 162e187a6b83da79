//! Analysis of a script: the names that it mentions and does not define.

use bashkit::ScriptAnalysis;
use bashkit::analysis::analyze_with_limits;

use crate::bindings::Mention;
use crate::bindings::types::MentionedArguments;
use crate::limits;

/// Largest nesting of commands in an analysed script.
const MAX_DEPTH: usize = 100;

/// Largest number of words that are reported for one command.
const MAX_WORDS: usize = 100;

/// Characters that may expand a word that is not quoted, and that a quoted one may have too.
const EXPANDING: [char; 5] = ['*', '?', '[', '{', '~'];

/// Commands that change the meaning of names at run time.
const RENAMING: [&str; 2] = ["alias", "enable"];

/// Returns the commands of a script that are not its functions. There are none for a script that does not parse, or
/// that creates commands from text.
pub(crate) fn mentions(source: &str) -> Vec<Mention> {
    let Ok(found) = analyze_with_limits(source, MAX_DEPTH, limits::PARSER_STEPS) else { return Vec::new() };
    let is_renaming = |name: &str| RENAMING.contains(&name);
    if found.has_interpreter_reentry || found.command_names().into_iter().any(is_renaming) || sets_path(&found) {
        return Vec::new();
    }
    let foreign = found.commands.iter().filter_map(|command| {
        let name = command.name.as_ref().filter(|name| !name.contains('/') && !found.functions.contains(name))?;
        let is_plain = |word: &&String| !word.starts_with('-') && !word.contains(EXPANDING);
        let words = command.args.iter().map_while(Option::as_ref).take_while(is_plain);
        let path: Vec<String> = std::iter::once(name).chain(words).take(MAX_WORDS).cloned().collect();
        let arguments = words_behind(&command.args, path.len() - 1);
        Some(Mention { path, line: 0, column: 0, arguments })
    });
    foreign.collect()
}

/// Returns the words of a command from this one on, if they are what the command gets.
fn words_behind(words: &[Option<String>], start: usize) -> MentionedArguments {
    let is_literal = |word: &&Option<String>| word.as_ref().is_some_and(|word| !word.contains(EXPANDING));
    if words.len() > MAX_WORDS || words.iter().filter(is_literal).count() < words.len() {
        return MentionedArguments::Unknown;
    }
    MentionedArguments::Words(words[start..].iter().flatten().cloned().collect())
}

/// Returns true if the script may change where commands are found.
fn sets_path(found: &ScriptAnalysis) -> bool {
    found.commands.iter().any(|command| {
        let names = command.assignments.iter().chain(command.args.iter().flatten());
        names.into_iter().any(|name| name == "PATH" || name.starts_with("PATH="))
    })
}

#[cfg(test)]
mod tests {
    use super::{MentionedArguments, mentions};

    #[test]
    fn words_of_a_command_are_told_if_none_may_expand() {
        let words = |source: &str| match mentions(source).remove(0).arguments {
            MentionedArguments::Words(words) => Some(words.join(" ")),
            _ => None,
        };
        assert_eq!(words("pay 1 --to 'a b' x").as_deref(), Some("--to a b x"));
        assert_eq!(words("pay 1 2").as_deref(), Some(""));
        assert_eq!(words("pay --json '{}'"), None, "a quoted brace looks like one that expands");
        for source in ["pay --to $1", "pay --to *", "pay --to a{1,2}", "pay $x --to 1", "pay --to ~", "pay \"$@\""] {
            assert_eq!(words(source), None, "{source}");
        }
    }

    fn names(source: &str) -> Vec<String> {
        mentions(source).into_iter().map(|one| one.path.join(" ")).collect()
    }

    #[test]
    fn commands_are_told_with_their_plain_words() {
        assert_eq!(names("stats describe --values '[1]' | jq .mean"), ["stats describe", "jq .mean"]);
        assert_eq!(names("f() { grep a b; }; f x; echo $(sort \"$1\")"), ["grep a b", "sort", "echo"]);
        assert_eq!(names("if test -e a; then ./b; fi; $c d"), ["test"]);
    }

    #[test]
    fn scripts_that_make_commands_mention_nothing() {
        for source in ["eval foo", ". file; foo", "alias foo=ls\nfoo", "PATH=/x foo", "export PATH=/x; foo", "if"] {
            assert_eq!(names(source), Vec::<String>::new(), "{source}");
        }
    }
}
