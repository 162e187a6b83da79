//! Command-line options of dc.

/// Text of the option `-V`.
pub(crate) const VERSION: &str = "\
dc (GNU bc 1.07.1) 1.4.1
Tollhouse's own dc, which behaves as GNU dc 1.4.1 does.
";

/// Output of the option `-h`, and of an invalid option.
pub(crate) const USAGE: &str = "\
Usage: dc [OPTION] [file ...]
  -e, --expression=EXPR    evaluate expression
  -f, --file=FILE          evaluate contents of file
  -h, --help               display this help and exit
  -V, --version            output version information and exit

";

/// Source of commands on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A text on the command line.
    Expression(String),
    /// A file; `-` is standard input.
    File(String),
}

/// Action that the command line requests.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Sources to evaluate in order.
    Run(Vec<Part>),
    /// A text is printed.
    Print(&'static str),
    /// The command line is invalid; an error message.
    Wrong(String),
}

/// Long options and their short forms.
const LONG: [(&str, char); 4] = [("expression", 'e'), ("file", 'f'), ("help", 'h'), ("version", 'V')];

/// Reads the words of the command line.
pub(crate) fn read(words: &[String]) -> Request {
    match read_words(words) {
        Ok(parts) => Request::Run(parts),
        Err(other) => other,
    }
}

fn wrong(why: &str) -> Request {
    Request::Wrong(format!("dc: {why}\n{USAGE}"))
}

fn read_words(words: &[String]) -> Result<Vec<Part>, Request> {
    let (mut parts, mut files) = (Vec::new(), Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (mut letters, mut value) = (String::new(), None);
        if word == "--" {
            files.extend(words.by_ref().cloned().map(Part::File));
            break;
        } else if let Some(option) = word.strip_prefix("--") {
            let (name, given) = option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
            let letter = LONG.iter().find(|(long, _)| !name.is_empty() && long.starts_with(name));
            let (_, letter) = letter.ok_or_else(|| wrong(&format!("unrecognized option '--{name}'")))?;
            letters.push(*letter);
            value = given.map(str::to_owned);
        } else if word.len() > 1 && word.starts_with('-') {
            letters.push_str(&word[1..]);
        } else {
            files.push(Part::File(word.clone()));
        }
        // Each option either ends dc or takes the rest of the word as its value.
        if let Some(letter) = letters.chars().next() {
            match letter {
                'h' => return Err(Request::Print(USAGE)),
                'V' => return Err(Request::Print(VERSION)),
                'e' | 'f' => {
                    let rest = &letters[1..];
                    let given = value.take().or_else(|| (!rest.is_empty()).then(|| rest.to_owned()));
                    let given = given.or_else(|| words.next().cloned());
                    let given = given.ok_or_else(|| wrong(&format!("option requires an argument -- '{letter}'")))?;
                    parts.push(if letter == 'e' { Part::Expression(given) } else { Part::File(given) });
                }
                _ => return Err(wrong(&format!("invalid option -- '{letter}'"))),
            }
        }
    }
    parts.extend(files);
    if parts.is_empty() {
        parts.push(Part::File("-".to_owned()));
    }
    Ok(parts)
}
