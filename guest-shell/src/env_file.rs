//! Files of environment variables, as `node --env-file` reads them: a line `NAME=value` for each variable.

/// Parses the variables of a file, in their order. Lines that assign nothing are skipped.
pub(crate) fn parse(text: &str) -> Vec<(String, String)> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut variables = Vec::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let line = rest.split('\n').next().unwrap_or_default();
        let Some((name, _)) = line.split_once('=').filter(|(name, _)| is_name(name)) else {
            rest = after_line(rest, line.len());
            continue;
        };
        let (value, left) = take_value(&rest[name.len() + 1..]);
        variables.push((plain_name(name).to_owned(), value));
        rest = left;
    }
    variables
}

/// Removes blanks and the word `export` around a name.
fn plain_name(name: &str) -> &str {
    let name = name.trim();
    name.strip_prefix("export ").map_or(name, str::trim)
}

fn is_name(name: &str) -> bool {
    let name = plain_name(name);
    !name.is_empty() && !name.contains(|character: char| character.is_whitespace() || character == '#')
}

/// Returns what follows a line of this length.
fn after_line(text: &str, length: usize) -> &str {
    text.get(length + 1..).unwrap_or_default()
}

/// Takes a value from the start of a text, and returns it with what follows its line. A quoted value may contain lines
/// and `#`; behind any other value, `#` begins a comment. Between double quotes, `\n` is a line break.
fn take_value(text: &str) -> (String, &str) {
    let start = text.trim_start_matches([' ', '\t']);
    for quote in ['"', '\'', '`'] {
        let Some((quoted, left)) = start.strip_prefix(quote).and_then(|inner| inner.split_once(quote)) else {
            continue;
        };
        let value = if quote == '"' { quoted.replace("\\n", "\n") } else { quoted.to_owned() };
        return (value, after_line(left, left.split('\n').next().unwrap_or_default().len()));
    }
    let line = start.split('\n').next().unwrap_or_default();
    let value = line.split('#').next().unwrap_or_default().trim();
    (value.to_owned(), after_line(start, line.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn env_file_with_quotes_and_comments_gives_the_variables_of_node() {
        let text = "# comment\nA=1\r\nB=\"two words\" # c\nC='single #x'\nexport D=4\n  E = un quoted # c\nF=\"multi\nline\"\n\
                    G=\nI=\"a\\nb\"\nJ='a\\nb'\nK=`back\"tick'`\nL=a=b\nno assignment\n=x\nN=#x\nO=last";
        let found = parse(text);
        let found: Vec<(&str, &str)> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let expected = [
            ("A", "1"),
            ("B", "two words"),
            ("C", "single #x"),
            ("D", "4"),
            ("E", "un quoted"),
            ("F", "multi\nline"),
            ("G", ""),
            ("I", "a\nb"),
            ("J", "a\\nb"),
            ("K", "back\"tick'"),
            ("L", "a=b"),
            ("N", ""),
            ("O", "last"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn env_file_with_an_unterminated_quote_keeps_the_quote() {
        assert_eq!(parse("A=\"x\nB=2"), [("A".to_owned(), "\"x".to_owned()), ("B".to_owned(), "2".to_owned())]);
        assert_eq!(parse(""), []);
    }
}
