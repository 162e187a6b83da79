//! Names in messages, quoted for a shell as in GNU's.

/// Quotes a name for a message.
pub(in crate::commands) fn quote(name: &str) -> String {
    let needs_escape = name.chars().any(char::is_control);
    if !needs_escape && name.contains('\'') && !name.contains(['"', '$', '`', '\\', '!']) {
        return format!("\"{name}\"");
    }
    let mut quoted = String::from("'");
    let mut escaping = false;
    for character in name.chars() {
        if character.is_control() != escaping {
            escaping = !escaping;
            quoted.push_str(if escaping { "'$'" } else { "''" });
        }
        match character {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            '\x07' => quoted.push_str("\\a"),
            '\x08' => quoted.push_str("\\b"),
            '\x0b' => quoted.push_str("\\v"),
            '\x0c' => quoted.push_str("\\f"),
            '\'' => quoted.push_str("'\\''"),
            control if escaping => {
                let mut bytes = [0; 4];
                for byte in control.encode_utf8(&mut bytes).bytes() {
                    quoted.push_str(&format!("\\{byte:03o}"));
                }
            }
            other => quoted.push(other),
        }
    }
    quoted.push('\'');
    quoted
}

/// Quotes a name before a colon, only if a shell would interpret it differently without quotes or it has a colon.
pub(in crate::commands) fn quote_if_needed(name: &str) -> String {
    let special = |character: char| character.is_control() || " !\"$&'()*:;<=>?[\\^`|".contains(character);
    match name.is_empty() || name.contains(special) || name.starts_with(['#', '~']) || ["{", "}"].contains(&name) {
        true => quote(name),
        false => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quote_of_names_is_as_in_coreutils() {
        assert_eq!(quote("a b"), "'a b'");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("it's"), "\"it's\"");
        assert_eq!(quote("it's $1"), r"'it'\''s $1'");
        assert_eq!(quote("a\nb"), r"'a'$'\n''b'");
    }
}
