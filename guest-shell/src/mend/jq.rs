//! `jq`: what jq 1.8 defines and bashkit's does not, or otherwise.
//!
//! bashkit's is made of jaq, whose library has gaps. They are definitions in jq's own language ([`DEFINITIONS`]), put in
//! front of the program; a program that says nothing of what they define is left as it is.

use bashkit::{Builtin, BuiltinContext, ExecResult, ExecutionPlan, Result, async_trait};

use super::original;

pub(super) struct Jq {
    /// The definitions, each after the words by which a program needs it.
    blocks: Vec<(&'static str, &'static str)>,
}

/// Each definition with the words that a program must have one of to need it, by jq's manual. A definition may use those
/// above it: they are then wanted as well, by its words.
const DEFINITIONS: &str = include_str!("jq.defs");

/// Options of jq's that take one word, and two.
const WITH_ONE: [&str; 3] = ["--indent", "-L", "--library-path"];
const WITH_TWO: [&str; 4] = ["--arg", "--argjson", "--slurpfile", "--rawfile"];

/// Where the program is among the words.
enum Program {
    /// This word is its text.
    Word(usize),
    /// This word names its file; the option is the word before.
    File(usize),
}

fn program(args: &[String]) -> Option<Program> {
    let mut positional = None;
    let mut at = 0;
    while at < args.len() {
        let word = args[at].as_str();
        if word == "-f" || word == "--from-file" || (is_cluster(word) && word.ends_with('f')) {
            return (at + 1 < args.len()).then_some(Program::File(at + 1));
        }
        if WITH_ONE.contains(&word) {
            at += 1;
        } else if WITH_TWO.contains(&word) {
            at += 2;
        } else if (!word.starts_with('-') || word == "-") && positional.is_none() {
            positional = Some(Program::Word(at));
        }
        at += 1;
    }
    positional
}

/// Several options of one letter, as one word: `-nrf`.
fn is_cluster(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-') && word[1..].bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Whether a word of these stands in the program by itself, and not as a key (`.date`).
fn mentions(program: &str, names: &str) -> bool {
    names.split(' ').any(|name| {
        program.match_indices(name).any(|(at, _)| {
            let inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            let before = at.checked_sub(1).map(|before| program.as_bytes()[before]);
            let after = program.as_bytes().get(at + name.len()).copied();
            !before.is_some_and(|byte| inside(byte) || byte == b'.') && !after.is_some_and(inside)
        })
    })
}

impl Jq {
    pub(super) fn new() -> Self {
        let blocks = DEFINITIONS.trim().split("\n\n").filter_map(|block| block.split_once('\n'));
        Self { blocks: blocks.map(|(names, text)| (names.trim_start_matches("# "), text)).collect() }
    }

    /// The definitions that a program needs, in one line, so that lines in messages stay as they are but for the first.
    fn definitions(&self, program: &str) -> String {
        let mut wanted = Vec::new();
        let mut all = program.to_owned();
        // From the last up: one that is wanted may want one above it.
        for (names, text) in self.blocks.iter().rev() {
            if mentions(&all, names) {
                all.push_str(text);
                wanted.push(text.split_whitespace().collect::<Vec<_>>().join(" "));
            }
        }
        wanted.reverse();
        wanted.join(" ")
    }
}

#[async_trait]
impl Builtin for Jq {
    async fn execute(&self, _: BuiltinContext<'_>) -> Result<ExecResult> {
        // There is always a plan.
        Ok(ExecResult::default())
    }

    async fn execution_plan(&self, context: &BuiltinContext<'_>) -> Result<Option<ExecutionPlan>> {
        let mut args = context.args.to_vec();
        let place = program(&args);
        let text = match place {
            Some(Program::Word(at)) => Some(args[at].clone()),
            Some(Program::File(at)) => {
                let path = context.cwd.join(&args[at]);
                context.fs.read_file(&path).await.ok().and_then(|bytes| String::from_utf8(bytes).ok())
            }
            None => None,
        };
        if let (Some(place), Some(text)) = (place, text) {
            let definitions = self.definitions(&text);
            if !definitions.is_empty() {
                place.replace(&mut args, format!("{definitions} {text}"));
            }
        }
        // Standard input, by its other name: bashkit takes `-` for a file.
        for word in args.iter_mut().filter(|word| *word == "-") {
            "/dev/stdin".clone_into(word);
        }
        Ok(Some(ExecutionPlan::Batch { commands: vec![original("jq", args)] }))
    }
}

impl Program {
    /// Puts another text in its place. It comes first: after it, every word that is no option is a file.
    fn replace(self, args: &mut Vec<String>, text: String) {
        match self {
            Self::Word(at) => args[at] = text,
            Self::File(at) => {
                args.remove(at);
                let option = args[at - 1].clone();
                match option.strip_suffix('f').filter(|rest| rest.len() > 1 && is_cluster(&option)) {
                    Some(rest) => rest.clone_into(&mut args[at - 1]),
                    None => drop(args.remove(at - 1)),
                }
                args.insert(0, text);
            }
        }
    }
}
