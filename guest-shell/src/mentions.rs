//! What a script mentions by names that it does not define itself.

use bashkit::ScriptAnalysis;
use bashkit::analysis::analyze_with_limits;

use crate::bindings::Mention;
use crate::limits;

/// Greatest depth at which commands may nest in a script that is looked at.
const MAX_DEPTH: usize = 100;

/// The most words that are told of one command.
const MAX_WORDS: usize = 100;

/// Commands that give names a meaning which no reader of the text can know.
const RENAMING: [&str; 2] = ["alias", "enable"];

/// The commands of a script that are no functions of it; nothing of one that does not parse, or that makes commands of text.
pub(crate) fn mentions(source: &str) -> Vec<Mention> {
    let Ok(found) = analyze_with_limits(source, MAX_DEPTH, limits::PARSER_STEPS) else { return Vec::new() };
    let is_renaming = |name: &str| RENAMING.contains(&name);
    if found.has_interpreter_reentry || found.command_names().into_iter().any(is_renaming) || sets_path(&found) {
        return Vec::new();
    }
    let foreign = found.commands.iter().filter_map(|command| {
        let name = command.name.as_ref().filter(|name| !name.contains('/') && !found.functions.contains(name))?;
        let words = command.args.iter().map_while(Option::as_ref).take_while(|word| !word.starts_with('-'));
        let path = std::iter::once(name).chain(words).take(MAX_WORDS).cloned().collect();
        Some(Mention { path, line: 0, column: 0, arguments: None })
    });
    foreign.collect()
}

/// Returns true if files of other directories become commands.
fn sets_path(found: &ScriptAnalysis) -> bool {
    found.commands.iter().any(|command| {
        let names = command.assignments.iter().chain(command.args.iter().flatten());
        names.into_iter().any(|name| name == "PATH" || name.starts_with("PATH="))
    })
}

#[cfg(test)]
mod tests {
    use super::mentions;

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
