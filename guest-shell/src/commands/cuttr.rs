//! Cut and tr builtins - extract fields and translate characters
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use async_trait::async_trait;

use bashkit::ExecResult;
use bashkit::Result;
use bashkit::builtins::Builtin;
use bashkit::builtins::BuiltinHelper;
use bashkit::builtins::Context;

// Keep tr set expansion bounded before stdin/output controls can apply.
const MAX_TR_EXPANDED_SET_CHARS: usize = 4096;

// The same for a set of many repeats.
const MAX_TR_SET_ITEMS: usize = 1 << 20;

/// The cut builtin - remove sections from each line.
///
/// Usage: cut -d DELIM -f FIELDS [FILE...]
///        cut -b BYTES [FILE...]
///        cut -c CHARS [FILE...]
///
/// Options:
///   -d DELIM            Use DELIM instead of TAB for field delimiter
///   -f FIELDS           Select only these fields (1-indexed)
///   -b BYTES            Select only these bytes (1-indexed, same as -c for ASCII)
///   -c CHARS            Select only these characters (1-indexed)
///   -s                  Only print lines containing delimiter (with -f)
///   --complement        Complement the selection
///   --output-delimiter  Use STRING as output delimiter
pub(crate) struct Cut;

impl BuiltinHelper for Cut {
    const NAME: &'static str = "cut";
}

/// What a list selects. Characters are bytes, as in GNU cut.
#[derive(Clone, Copy, PartialEq)]
enum CutMode {
    Bytes,
    Fields,
}

/// Parsed `cut` command line.
struct CutOptions {
    mode: CutMode,
    /// Ranges that are selected, in order and apart; the last may have no end.
    ranges: Vec<(usize, usize)>,
    delimiter: u8,
    only_delimited: bool,
    terminator: u8,
    output_delimiter: Option<Vec<u8>>,
}

fn parse_cut_args(args: &[String]) -> std::result::Result<(CutOptions, Vec<String>), ExecResult> {
    use bashkit::builtins::arg_parser::OptArg;
    let usage =
        |message: String| ExecResult::err(format!("cut: {message}\nTry 'cut --help' for more information.\n"), 1);
    let (opts, files) = bashkit::builtins::arg_parser::gnu_getopt(
        "cut",
        args,
        "b:c:d:f:nsz",
        &[
            ("bytes", OptArg::Required, 'b'),
            ("characters", OptArg::Required, 'c'),
            ("complement", OptArg::No, 'C'),
            ("delimiter", OptArg::Required, 'd'),
            ("fields", OptArg::Required, 'f'),
            ("only-delimited", OptArg::No, 's'),
            ("output-delimiter", OptArg::Required, 'O'),
            ("zero-terminated", OptArg::No, 'z'),
        ],
        true,
        1,
    )?;
    let (mut list, mut delimiter, mut output_delimiter) = (None, None, None);
    let (mut complement, mut only_delimited, mut terminator) = (false, false, b'\n');
    for o in opts {
        let val = o.value.unwrap_or_default();
        match o.key {
            // An empty delimiter means NUL.
            'd' => match &*bashkit::bytes_of(&val) {
                [] => delimiter = Some(0),
                [one] => delimiter = Some(*one),
                _ => return Err(usage("the delimiter must be a single character".into())),
            },
            'f' | 'b' | 'c' => {
                let mode = if o.key == 'f' { CutMode::Fields } else { CutMode::Bytes };
                if list.replace((mode, val)).is_some() {
                    return Err(usage("only one list may be specified".into()));
                }
            }
            's' => only_delimited = true,
            'z' => terminator = 0,
            'C' => complement = true,
            'O' => output_delimiter = Some(if val.is_empty() { vec![0] } else { bashkit::bytes_of(&val).into_owned() }),
            // `-n` changes nothing in GNU cut either.
            _ => {}
        }
    }
    let Some((mode, spec)) = list else {
        return Err(usage("you must specify a list of bytes, characters, or fields".into()));
    };
    if mode == CutMode::Bytes && delimiter.is_some() {
        return Err(usage("an input delimiter may be specified only when operating on fields".into()));
    }
    if mode == CutMode::Bytes && only_delimited {
        return Err(usage("suppressing non-delimited lines makes sense\n\tonly when operating on fields".into()));
    }
    let mut ranges = parse_ranges(&spec, mode).map_err(usage)?;
    if complement {
        ranges = complement_of(&ranges);
    }
    let options = CutOptions {
        mode,
        ranges,
        delimiter: delimiter.unwrap_or(b'\t'),
        only_delimited,
        terminator,
        output_delimiter,
    };
    Ok((options, files))
}

/// Reads a list such as `1,3-5,7-`; the result is sorted, and ranges that overlap
/// are one.
fn parse_ranges(spec: &str, mode: CutMode) -> std::result::Result<Vec<(usize, usize)>, String> {
    let (from_one, what) = match mode {
        CutMode::Fields => ("fields are numbered from 1", "field"),
        CutMode::Bytes => ("byte/character positions are numbered from 1", "byte/character"),
    };
    let number = |text: &str| -> std::result::Result<usize, String> {
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            let what = if what == "field" { "field value" } else { "byte/character position" };
            return Err(format!("invalid {what} '{text}'"));
        }
        match text.parse() {
            Ok(0) => Err(from_one.to_string()),
            parsed => Ok(parsed.unwrap_or(usize::MAX - 1)),
        }
    };
    let mut ranges = Vec::new();
    for part in spec.split([',', ' ', '\t']) {
        let range = match part.split_once('-') {
            None if part.is_empty() => return Err(from_one.to_string()),
            None => number(part).map(|only| (only, only))?,
            Some(("", "")) => return Err("invalid range with no endpoint: -".to_string()),
            Some(("", end)) => (1, number(end)?),
            Some((start, "")) => (number(start)?, usize::MAX),
            Some((_, end)) if end.contains('-') => {
                return Err(format!("invalid {what} range"));
            }
            Some((start, end)) => (number(start)?, number(end)?),
        };
        if range.1 < range.0 {
            return Err("invalid decreasing range".to_string());
        }
        ranges.push(range);
    }
    ranges.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::with_capacity(ranges.len());
    for (start, end) in ranges {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    Ok(merged)
}

/// All positions that are in none of the ranges.
fn complement_of(ranges: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut gaps = Vec::new();
    let mut next = 1;
    for (start, end) in ranges {
        if *start > next {
            gaps.push((next, start - 1));
        }
        next = end.saturating_add(1);
    }
    if next != usize::MAX {
        gaps.push((next, usize::MAX));
    }
    gaps
}

impl CutOptions {
    /// Appends what a line gives, with its terminator.
    fn cut(&self, line: &[u8], out: &mut Vec<u8>) {
        match self.mode {
            CutMode::Bytes => {
                let mut first = true;
                for (start, end) in &self.ranges {
                    let Some(piece) = line.get(start - 1..line.len().min(*end)) else {
                        break;
                    };
                    if piece.is_empty() {
                        break;
                    }
                    if let Some(delimiter) = self.output_delimiter.as_ref().filter(|_| !first) {
                        out.extend_from_slice(delimiter);
                    }
                    first = false;
                    out.extend_from_slice(piece);
                }
            }
            CutMode::Fields => {
                if !line.contains(&self.delimiter) {
                    if self.only_delimited {
                        return;
                    }
                    out.extend_from_slice(line);
                } else {
                    self.cut_fields(line, out);
                }
            }
        }
        out.push(self.terminator);
    }

    fn cut_fields(&self, line: &[u8], out: &mut Vec<u8>) {
        let delimiter = [self.delimiter];
        let between = self.output_delimiter.as_deref().unwrap_or(&delimiter);
        let mut ranges = self.ranges.iter().peekable();
        let mut first = true;
        for (index, field) in line.split(|byte| *byte == self.delimiter).enumerate() {
            while ranges.next_if(|range| range.1 < index + 1).is_some() {}
            match ranges.peek() {
                None => break,
                Some(range) if range.0 > index + 1 => continue,
                Some(_) => {}
            }
            if !std::mem::take(&mut first) {
                out.extend_from_slice(between);
            }
            out.extend_from_slice(field);
        }
    }
}

#[async_trait]
impl Builtin for Cut {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = Self::check_help(
            ctx.args,
            "Usage: cut OPTION... [FILE]...\nPrint selected parts of lines from each FILE to standard output.\n\n  -d DELIM\t\tuse DELIM instead of TAB for field delimiter\n  -f FIELDS\t\tselect only these fields\n  -b BYTES\t\tselect only these bytes\n  -c CHARS\t\tselect only these characters\n  -s\t\t\tonly print lines containing delimiter\n  -z\t\t\tline delimiter is NUL, not newline\n  --complement\t\tcomplement the selection\n  --output-delimiter=STRING\tuse STRING as output delimiter\n  --help\t\tdisplay this help and exit\n  --version\t\toutput version information and exit\n",
            Some("cut (bashkit) 0.1"),
        ) {
            return Ok(r);
        }
        let (options, files) = match parse_cut_args(ctx.args) {
            Ok(v) => v,
            Err(e) => return Ok(e),
        };
        let operands = crate::commands::operands::read_all(&ctx, "cut", &files).await?;
        let mut output = Vec::new();
        for (_, data) in &operands.contents {
            if data.is_empty() {
                continue;
            }
            let body = data.strip_suffix(&[options.terminator]).unwrap_or(data);
            for line in body.split(|byte| *byte == options.terminator) {
                options.cut(line, &mut output);
            }
        }
        Ok(operands.finish(output))
    }
}

/// The tr builtin - translate or delete characters.
///
/// Usage: tr [-d] [-s] [-c/-C] [-t] SET1 [SET2]
///
/// Options:
///   -d     Delete characters in SET1
///   -s     Squeeze repeated output characters in SET2 (or SET1 if no SET2)
///   -c/-C  Complement SET1 (use all chars NOT in SET1)
///   -t     Truncate SET1 to the length of SET2
///
/// Characters are bytes, as in GNU tr: escapes, ranges, classes (`[:lower:]`),
/// equivalence classes (`[=c=]`) and repeats (`[c*n]`, `[c*]`).
pub(crate) struct Tr;

impl BuiltinHelper for Tr {
    const NAME: &'static str = "tr";
}

#[async_trait]
impl Builtin for Tr {
    async fn execute(&self, ctx: Context<'_>) -> Result<ExecResult> {
        if let Some(r) = Self::check_help(
            ctx.args,
            "Usage: tr [OPTION]... SET1 [SET2]\nTranslate, squeeze, and/or delete characters from standard input.\n\n  -d\t\tdelete characters in SET1\n  -s\t\tsqueeze repeated output characters\n  -c, -C\tcomplement SET1\n  -t\t\tfirst truncate SET1 to length of SET2\n  --help\tdisplay this help and exit\n  --version\toutput version information and exit\n",
            Some("tr (bashkit) 0.1"),
        ) {
            return Ok(r);
        }
        let mut translation = match TrOptions::parse(ctx.args).map(|options| options.translation()) {
            Err(e) => return Ok(e),
            Ok(Err(message)) => return Ok(Self::err(&message, 1)),
            Ok(Ok(translation)) => translation,
        };
        // A pipeline stage translates its input as it arrives, so
        // `yes | tr y n | head -1` ends with SIGPIPE.
        if let Some(out) = ctx.stdout_stream() {
            let mut input = bashkit::builtins::InputChunks::stdin(&ctx)?;
            while let Some(piece) = input.next(|data: &[u8]| data.len()).await? {
                ctx.consume_budget_work(1)?;
                let output = translation.apply(&piece);
                if !output.is_empty() && !out.write(&output).await? {
                    return Ok(ExecResult::with_code(String::new(), 141));
                }
            }
            return Ok(ExecResult::ok(String::new()));
        }
        let stdin = ctx.stdin_to_end().await?;
        Ok(ExecResult::ok_bytes(translation.apply(stdin.as_bytes())))
    }
}

/// Parsed `tr` command line.
struct TrOptions {
    delete: bool,
    squeeze: bool,
    complement: bool,
    truncate: bool,
    sets: Vec<String>,
}

impl TrOptions {
    fn parse(args: &[String]) -> std::result::Result<Self, ExecResult> {
        use bashkit::builtins::arg_parser::OptArg;
        // GNU tr stops option parsing at the first operand ("+cCdst").
        let (opts, sets) = bashkit::builtins::arg_parser::gnu_getopt(
            "tr",
            args,
            "cCdst",
            &[
                ("complement", OptArg::No, 'c'),
                ("delete", OptArg::No, 'd'),
                ("squeeze-repeats", OptArg::No, 's'),
                ("truncate-set1", OptArg::No, 't'),
            ],
            false,
            1,
        )?;
        let given = |keys: &str| opts.iter().any(|opt| keys.contains(opt.key));
        let options =
            TrOptions { delete: given("d"), squeeze: given("s"), complement: given("cC"), truncate: given("t"), sets };
        let (least, most) = match (options.delete, options.squeeze) {
            (true, false) => (1, 1),
            (false, true) => (1, 2),
            _ => (2, 2),
        };
        let usage = |message: String, hint: Option<&str>| {
            let hint = hint.map(|hint| format!("{hint}\n")).unwrap_or_default();
            ExecResult::err(format!("tr: {message}\n{hint}Try 'tr --help' for more information.\n"), 1)
        };
        match options.sets.as_slice() {
            [] => Err(usage("missing operand".into(), None)),
            [only] if least == 2 => {
                let hint = if options.delete {
                    "Two strings must be given when both deleting and squeezing repeats."
                } else {
                    "Two strings must be given when translating."
                };
                Err(usage(format!("missing operand after '{only}'"), Some(hint)))
            }
            sets if sets.len() > most => {
                let hint = "Only one string may be given when deleting without squeezing repeats.";
                let hint = (sets.len() == 2).then_some(hint);
                Err(usage(format!("extra operand '{}'", sets[most]), hint))
            }
            _ => Ok(options),
        }
    }

    /// What is to be done with each byte.
    fn translation(&self) -> std::result::Result<Translation, String> {
        let set1 = parse_set(&self.sets[0])?;
        let set2 = self.sets.get(1).map(|set| parse_set(set)).transpose()?;
        if set1.iter().any(|item| matches!(item, SetItem::Fill(_))) {
            return Err("the [c*] repeat construct may not appear in string1".to_string());
        }
        let mut bytes1: Vec<u8> = set1.iter().flat_map(SetItem::bytes).collect();
        if self.complement {
            bytes1 = (0..=u8::MAX).filter(|byte| !bytes1.contains(byte)).collect();
        }
        let mut translation = Translation {
            map: std::array::from_fn(|byte| u8::try_from(byte).unwrap_or(0)),
            delete: [false; 256],
            squeeze: [false; 256],
            last: None,
        };
        let mut mark = |marks: fn(&mut Translation) -> &mut [bool; 256], bytes: &[u8]| {
            for byte in bytes {
                marks(&mut translation)[usize::from(*byte)] = true;
            }
        };
        let translating = !self.delete && set2.is_some();
        let bytes2 = match &set2 {
            None => Vec::new(),
            Some(set2) if translating => self.second_set(&set1, set2, bytes1.len())?,
            Some(set2) => {
                if set2.iter().any(|item| matches!(item, SetItem::Fill(_))) {
                    return Err("the [c*] construct may appear in string2 only when translating".to_string());
                }
                set2.iter().flat_map(SetItem::bytes).collect()
            }
        };
        if self.delete {
            mark(|translation| &mut translation.delete, &bytes1);
        }
        if self.squeeze {
            let squeezed = if set2.is_some() { &bytes2 } else { &bytes1 };
            mark(|translation| &mut translation.squeeze, squeezed);
        }
        if translating {
            // Of a character that is there twice, the last one counts.
            for (from, to) in bytes1.iter().zip(&bytes2) {
                translation.map[usize::from(*from)] = *to;
            }
        }
        Ok(translation)
    }

    /// The bytes that SET1, which has `length`, is translated to.
    fn second_set(&self, set1: &[SetItem], set2: &[SetItem], length: usize) -> std::result::Result<Vec<u8>, String> {
        let fills = set2.iter().filter(|item| matches!(item, SetItem::Fill(_))).count();
        if fills > 1 {
            return Err("only one [c*] repeat construct may appear in string2".to_string());
        }
        if set2.iter().any(|item| matches!(item, SetItem::Equivalent(_))) {
            return Err("[=c=] expressions may not appear in string2 when translating".to_string());
        }
        let is_case = |item: &SetItem| matches!(item, SetItem::Class("upper" | "lower"));
        if set2.iter().any(|item| matches!(item, SetItem::Class(_)) && !is_case(item)) {
            return Err(
                "when translating, the only character classes that may appear in\nstring2 are 'upper' and 'lower'"
                    .to_string(),
            );
        }
        let fixed: usize = set2.iter().map(|item| item.bytes().len()).sum();
        let mut bytes = Vec::new();
        for item in set2 {
            match item {
                SetItem::Fill(byte) => bytes.resize(bytes.len() + length.saturating_sub(fixed), *byte),
                item => {
                    if is_case(item) && !self.begins_a_case_class(set1, bytes.len()) {
                        return Err("misaligned [:upper:] and/or [:lower:] construct".to_string());
                    }
                    bytes.extend(item.bytes());
                }
            }
        }
        if length > bytes.len() && !self.truncate {
            let Some(last) = bytes.last().copied() else {
                return Err("when not truncating set1, string2 must be non-empty".to_string());
            };
            if matches!(set2.last(), Some(SetItem::Class(_))) {
                return Err("when translating with string1 longer than string2,\nthe latter string must not end with a character class".to_string());
            }
            bytes.resize(length, last);
        }
        let classes = set1.iter().any(|item| matches!(item, SetItem::Class(_)));
        let one = bytes.len() == length && bytes.windows(2).all(|pair| pair[0] == pair[1]);
        if self.complement && classes && !one {
            return Err("when translating with complemented character classes,\nstring2 must map all characters in the domain to one".to_string());
        }
        Ok(bytes)
    }

    /// True if a class of lower or upper case letters begins at this place of SET1.
    fn begins_a_case_class(&self, set1: &[SetItem], at: usize) -> bool {
        let mut place = 0;
        !self.complement
            && set1.iter().any(|item| {
                let here = place == at && matches!(item, SetItem::Class("upper" | "lower"));
                place += item.bytes().len();
                here
            })
    }
}

/// What `tr` does with each byte.
struct Translation {
    map: [u8; 256],
    delete: [bool; 256],
    squeeze: [bool; 256],
    /// The last byte that was written, which a next one may be squeezed into.
    last: Option<u8>,
}

impl Translation {
    fn apply(&mut self, input: &[u8]) -> Vec<u8> {
        let mut output = Vec::with_capacity(input.len());
        for byte in input {
            if self.delete[usize::from(*byte)] {
                continue;
            }
            let mapped = self.map[usize::from(*byte)];
            if self.last == Some(mapped) && self.squeeze[usize::from(mapped)] {
                continue;
            }
            self.last = Some(mapped);
            output.push(mapped);
        }
        output
    }
}

/// Part of a set.
#[derive(Debug, PartialEq)]
enum SetItem {
    /// Bytes in a row, both ends included.
    Range(u8, u8),
    /// `[:NAME:]`.
    Class(&'static str),
    /// `[=c=]`.
    Equivalent(u8),
    /// `[c*n]`.
    Repeat(u8, usize),
    /// `[c*]`: as often as SET1 is longer.
    Fill(u8),
}

const CLASSES: [&str; 12] =
    ["alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"];

fn in_class(name: &str, byte: u8) -> bool {
    match name {
        "alnum" => byte.is_ascii_alphanumeric(),
        "alpha" => byte.is_ascii_alphabetic(),
        "blank" => matches!(byte, b' ' | b'\t'),
        "cntrl" => byte.is_ascii_control(),
        "digit" => byte.is_ascii_digit(),
        "graph" => byte.is_ascii_graphic(),
        "lower" => byte.is_ascii_lowercase(),
        "print" => byte == b' ' || byte.is_ascii_graphic(),
        "punct" => byte.is_ascii_punctuation(),
        "space" => matches!(byte, b'\t'..=b'\r' | b' '),
        "upper" => byte.is_ascii_uppercase(),
        _ => byte.is_ascii_hexdigit(),
    }
}

impl SetItem {
    /// The bytes, in their order; none of a [`SetItem::Fill`], whose length is open.
    fn bytes(&self) -> Vec<u8> {
        match self {
            SetItem::Range(from, to) => (*from..=*to).collect(),
            SetItem::Class(name) => (0..=u8::MAX).filter(|byte| in_class(name, *byte)).collect(),
            SetItem::Equivalent(byte) => vec![*byte],
            SetItem::Repeat(byte, times) => vec![*byte; *times],
            SetItem::Fill(_) => Vec::new(),
        }
    }
}

/// Decodes backslash escapes into `(byte, escaped)`, so that an escaped `-`, `[`
/// or `:` never acts as an operator.
fn unescape(spec: &str) -> Vec<(u8, bool)> {
    let mut out = Vec::with_capacity(spec.len());
    let spec = bashkit::bytes_of(spec);
    let mut rest = &*spec;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' || rest.is_empty() {
            // A trailing backslash stands for itself.
            out.push((*first, *first == b'\\'));
            continue;
        }
        // Up to three octal digits, never exceeding \377.
        let mut value = None;
        let mut digits = 0;
        while let Some(digit) = rest.get(digits).filter(|byte| (b'0'..=b'7').contains(*byte)) {
            let next = value.unwrap_or(0) * 8 + u16::from(digit - b'0');
            if digits == 3 || next > 0o377 {
                break;
            }
            value = Some(next);
            digits += 1;
        }
        let decoded = match value {
            Some(value) => u8::try_from(value).unwrap_or(0),
            None => match rest[0] {
                b'a' => 7,
                b'b' => 8,
                b'f' => 12,
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'v' => 11,
                other => other,
            },
        };
        rest = &rest[digits.max(1)..];
        out.push((decoded, true));
    }
    out
}

/// Reads a set such as `a-z[:digit:]`.
fn parse_set(spec: &str) -> std::result::Result<Vec<SetItem>, String> {
    let tokens = unescape(spec);
    let plain = |at: usize, byte: u8| tokens.get(at) == Some(&(byte, false));
    let mut items = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if plain(at, b'[')
            && let Some((item, next)) = bracketed(&tokens, at)?
        {
            items.push(item);
            at = next;
            continue;
        }
        let from = tokens[at].0;
        match tokens.get(at + 2).filter(|_| plain(at + 1, b'-')) {
            Some((to, _)) if *to < from => {
                let (from, to) = (from.escape_ascii(), to.escape_ascii());
                return Err(format!("range-endpoints of '{from}-{to}' are in reverse collating sequence order"));
            }
            Some((to, _)) => {
                items.push(SetItem::Range(from, *to));
                at += 3;
            }
            None => {
                items.push(SetItem::Range(from, from));
                at += 1;
            }
        }
    }
    let length: usize = items
        .iter()
        .map(|item| match item {
            SetItem::Repeat(_, times) => *times,
            _ => 1,
        })
        .sum();
    if length > MAX_TR_SET_ITEMS {
        return Err("character set expansion too large".to_string());
    }
    Ok(items)
}

/// What begins with the bracket at this place, and where it ends; nothing if the
/// bracket stands for itself.
fn bracketed(tokens: &[(u8, bool)], at: usize) -> std::result::Result<Option<(SetItem, usize)>, String> {
    let plain = |at: usize, byte: u8| tokens.get(at) == Some(&(byte, false));
    let text = |from: usize, to: usize| -> String {
        let bytes: Vec<u8> = tokens[from..to].iter().map(|token| token.0).collect();
        bashkit::text_of(&bytes).into_owned()
    };
    let kind = tokens.get(at + 1).filter(|token| !token.1).map(|token| token.0);
    if let Some(kind @ (b':' | b'=')) = kind
        && let Some(end) = (at + 2..tokens.len()).find(|end| plain(*end, kind) && plain(end + 1, b']'))
    {
        let name = text(at + 2, end);
        if kind == b'=' {
            return match end - at - 2 {
                0 => Err("missing equivalence class character '[==]'".to_string()),
                1 => Ok(Some((SetItem::Equivalent(tokens[at + 2].0), end + 2))),
                _ => Err(format!("{name}: equivalence class operand must be a single character")),
            };
        }
        if name.is_empty() {
            return Err("missing character class name '[::]'".to_string());
        }
        let class = CLASSES.into_iter().find(|class| *class == name);
        let class = class.ok_or_else(|| format!("invalid character class '{name}'"))?;
        return Ok(Some((SetItem::Class(class), end + 2)));
    }
    if at + 1 >= tokens.len() || !plain(at + 2, b'*') {
        return Ok(None);
    }
    let Some(end) = (at + 3..tokens.len()).find(|end| plain(*end, b']')) else {
        return Ok(None);
    };
    let (byte, count) = (tokens[at + 1].0, text(at + 3, end));
    let radix = if count.starts_with('0') { 8 } else { 10 };
    let times = match count.as_str() {
        "" => 0,
        count => usize::from_str_radix(count, radix)
            .ok()
            .filter(|times| *times <= MAX_TR_EXPANDED_SET_CHARS && !count.starts_with('+'))
            .ok_or_else(|| format!("invalid repeat count '{count}' in [c*n] construct"))?,
    };
    let item = if times == 0 { SetItem::Fill(byte) } else { SetItem::Repeat(byte, times) };
    Ok(Some((item, end + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::path::PathBuf;
    use std::sync::Arc;

    use bashkit::fs::InMemoryFs;

    async fn run_cut(args: &[&str], stdin: Option<&str>) -> ExecResult {
        let fs = Arc::new(InMemoryFs::new());
        let mut variables = HashMap::new();
        let env = HashMap::new();
        let mut cwd = PathBuf::from("/");

        let args: Vec<String> = args.iter().map(|s| s.to_string()).collect();
        let ctx = Context {
            args: &args,
            env: &env,
            variables: &mut variables,
            cwd: &mut cwd,
            fs,
            stdin: crate::commands::testing::test_stream_opt(stdin),
            shell: None,
        };

        Cut.execute(ctx).await.unwrap()
    }

    async fn run_tr(args: &[&str], stdin: Option<&str>) -> ExecResult {
        let fs = Arc::new(InMemoryFs::new());
        let mut variables = HashMap::new();
        let env = HashMap::new();
        let mut cwd = PathBuf::from("/");

        let args: Vec<String> = args.iter().map(|s| s.to_string()).collect();
        let ctx = Context {
            args: &args,
            env: &env,
            variables: &mut variables,
            cwd: &mut cwd,
            fs,
            stdin: crate::commands::testing::test_stream_opt(stdin),
            shell: None,
        };

        Tr.execute(ctx).await.unwrap()
    }

    fn expanded(spec: &str) -> Vec<u8> {
        parse_set(spec).unwrap().iter().flat_map(SetItem::bytes).collect()
    }

    #[tokio::test]
    async fn test_cut_single_field() {
        let result = run_cut(&["-d", ",", "-f", "2"], Some("a,b,c\n1,2,3\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "b\n2\n");
    }

    #[tokio::test]
    async fn test_cut_multiple_fields() {
        let result = run_cut(&["-d", ",", "-f", "1,3"], Some("a,b,c\n1,2,3\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a,c\n1,3\n");
    }

    #[tokio::test]
    async fn test_cut_field_range() {
        let result = run_cut(&["-d", ",", "-f", "1-2"], Some("a,b,c,d\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a,b\n");
    }

    #[tokio::test]
    async fn test_tr_lowercase_to_uppercase() {
        let result = run_tr(&["a-z", "A-Z"], Some("hello world")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "HELLO WORLD");
    }

    #[tokio::test]
    async fn test_tr_delete() {
        let result = run_tr(&["-d", "aeiou"], Some("hello world")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "hll wrld");
    }

    #[tokio::test]
    async fn test_tr_single_char() {
        let result = run_tr(&[":", "-"], Some("a:b:c")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a-b-c");
    }

    #[test]
    fn test_expand_char_set() {
        assert_eq!(expanded("abc"), vec![b'a', b'b', b'c']);
        assert_eq!(expanded("a-c"), vec![b'a', b'b', b'c']);
        assert_eq!(expanded("0-2"), vec![b'0', b'1', b'2']);
    }

    #[test]
    fn test_expand_char_class_lower() {
        let lower = expanded("[:lower:]");
        assert_eq!(lower.len(), 26);
        assert_eq!(lower[0], b'a');
        assert_eq!(lower[25], b'z');
    }

    #[test]
    fn test_expand_char_class_upper() {
        let upper = expanded("[:upper:]");
        assert_eq!(upper.len(), 26);
        assert_eq!(upper[0], b'A');
        assert_eq!(upper[25], b'Z');
    }

    #[tokio::test]
    async fn test_tr_char_class_lower_to_upper() {
        let result = run_tr(&["[:lower:]", "[:upper:]"], Some("hello world\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "HELLO WORLD\n");
    }

    #[test]
    fn test_parse_position_spec() {
        let parse = |spec: &str| parse_ranges(spec, CutMode::Fields);
        assert_eq!(parse("1"), Ok(vec![(1, 1)]));
        assert_eq!(parse("3,1"), Ok(vec![(1, 1), (3, 3)]));
        assert_eq!(parse("2-4,3-5"), Ok(vec![(2, 5)]));
        assert_eq!(parse("3-"), Ok(vec![(3, usize::MAX)]));
        assert_eq!(parse("-3"), Ok(vec![(1, 3)]));
        assert_eq!(parse("0"), Err("fields are numbered from 1".to_string()));
        assert_eq!(parse("3-1"), Err("invalid decreasing range".to_string()));
        assert_eq!(complement_of(&[(2, 3), (5, usize::MAX)]), vec![(1, 1), (4, 4)]);
    }

    #[tokio::test]
    async fn test_cut_char_mode() {
        let result = run_cut(&["-c", "1-5"], Some("hello world\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "hello\n");
    }

    #[tokio::test]
    async fn test_cut_complement() {
        let result = run_cut(&["-d", ",", "--complement", "-f", "2"], Some("a,b,c,d\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a,c,d\n");
    }

    #[tokio::test]
    async fn test_cut_only_delimited() {
        let result = run_cut(&["-d", ",", "-f", "1", "-s"], Some("a,b,c\nno delim\nx,y\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "a\nx\n");
    }

    #[tokio::test]
    async fn test_tr_squeeze() {
        let result = run_tr(&["-s", "eol "], Some("heeelllo   wooorld\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "helo world\n");
    }

    #[tokio::test]
    async fn test_tr_complement_delete() {
        let result = run_tr(&["-cd", "0-9\n"], Some("hello123\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "123\n");
    }

    #[tokio::test]
    async fn test_tr_complement_uppercase_c() {
        // -C is POSIX alias for -c (complement)
        let result = run_tr(&["-Cd", "0-9\n"], Some("hello123\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "123\n");
    }

    #[tokio::test]
    async fn test_tr_combined_flags_ds() {
        // -ds: delete SET1 chars, then squeeze SET2 chars
        let result = run_tr(&["-ds", "aeiou", " "], Some("the  quick  fox\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "th qck fx\n");
    }

    #[test]
    fn test_expand_char_class_punct() {
        let punct = expanded("[:punct:]");
        assert!(punct.contains(&b'!'));
        assert!(punct.contains(&b'.'));
        assert!(punct.contains(&b','));
        assert!(punct.contains(&b'@'));
        assert!(punct.contains(&b'#'));
        assert!(!punct.contains(&b'a'));
        assert!(!punct.contains(&b'0'));
        assert!(!punct.contains(&b' '));
    }

    #[test]
    fn test_expand_char_class_xdigit() {
        let xdigit = expanded("[:xdigit:]");
        assert_eq!(xdigit.len(), 22); // 0-9 + A-F + a-f
        assert!(xdigit.contains(&b'0'));
        assert!(xdigit.contains(&b'9'));
        assert!(xdigit.contains(&b'A'));
        assert!(xdigit.contains(&b'F'));
        assert!(xdigit.contains(&b'a'));
        assert!(xdigit.contains(&b'f'));
        assert!(!xdigit.contains(&b'G'));
        assert!(!xdigit.contains(&b'g'));
    }

    #[test]
    fn test_expand_char_class_digit() {
        let digit = expanded("[:digit:]");
        assert_eq!(digit.len(), 10);
        assert_eq!(digit[0], b'0');
        assert_eq!(digit[9], b'9');
    }

    #[test]
    fn test_expand_char_class_alpha() {
        let alpha = expanded("[:alpha:]");
        assert_eq!(alpha.len(), 52);
        assert!(alpha.contains(&b'a'));
        assert!(alpha.contains(&b'z'));
        assert!(alpha.contains(&b'A'));
        assert!(alpha.contains(&b'Z'));
    }

    #[test]
    fn test_expand_char_class_alnum() {
        let alnum = expanded("[:alnum:]");
        assert_eq!(alnum.len(), 62);
        assert!(alnum.contains(&b'a'));
        assert!(alnum.contains(&b'0'));
        assert!(alnum.contains(&b'Z'));
    }

    #[test]
    fn test_expand_char_class_space() {
        let space = expanded("[:space:]");
        assert!(space.contains(&b' '));
        assert!(space.contains(&b'\t'));
        assert!(space.contains(&b'\n'));
        assert!(space.contains(&b'\r'));
    }

    #[test]
    fn test_expand_char_class_blank() {
        let blank = expanded("[:blank:]");
        assert_eq!(blank.len(), 2);
        assert!(blank.contains(&b' '));
        assert!(blank.contains(&b'\t'));
    }

    #[test]
    fn test_expand_char_class_cntrl() {
        let cntrl = expanded("[:cntrl:]");
        assert!(cntrl.contains(&b'\0'));
        assert!(cntrl.contains(&b'\x1f'));
        assert!(cntrl.contains(&b'\x7f'));
        assert!(!cntrl.contains(&b' '));
    }

    #[tokio::test]
    async fn test_tr_delete_punct() {
        let result = run_tr(&["-d", "[:punct:]"], Some("hello, world!\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "hello world\n");
    }

    #[tokio::test]
    async fn test_tr_squeeze_spaces() {
        let result = run_tr(&["-s", "[:space:]"], Some("hello   world\n\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "hello world\n");
    }

    #[tokio::test]
    async fn test_tr_translate_with_squeeze() {
        let result = run_tr(&["-s", "a-z", "A-Z"], Some("aabbcc\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "ABC\n");
    }

    #[tokio::test]
    async fn test_cut_byte_mode() {
        // -b is alias for -c
        let result = run_cut(&["-b", "1-5"], Some("hello world\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "hello\n");
    }

    #[tokio::test]
    async fn test_cut_byte_mode_inline() {
        let result = run_cut(&["-b1,3,5"], Some("hello\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "hlo\n");
    }

    #[tokio::test]
    async fn test_tr_complement_squeeze() {
        // -cs: complement SET1, then squeeze result chars in SET2
        let result = run_tr(&["-cs", "[:alpha:]", "\n"], Some("hello 123 world\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "hello\nworld\n");
    }

    #[tokio::test]
    async fn test_tr_multibyte_utf8() {
        // Bytes, as in GNU tr: each of the two of `ä` becomes an x.
        let result = run_tr(&["ä", "x"], Some("hällo\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "hxxllo\n");
    }

    #[tokio::test]
    async fn test_cut_multibyte_utf8_chars() {
        // Characters are bytes to GNU cut.
        let result = run_cut(&["-c", "1-4"], Some("äöü\n")).await;
        assert_eq!(result.exit_code, 0);
        assert_eq!(result.stdout, "äö\n");
    }

    #[tokio::test]
    async fn test_cut_rejects_unknown_option() {
        let result = run_cut(&["-Q", "-f1"], Some("a\n")).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid option -- 'Q'"));
    }

    #[tokio::test]
    async fn test_tr_rejects_unknown_option() {
        let result = run_tr(&["-Q", "a", "b"], Some("a\n")).await;
        assert_eq!(result.exit_code, 1);
        assert!(result.stderr.contains("invalid option -- 'Q'"));
    }

    #[test]
    fn test_expand_char_set_escapes() {
        assert_eq!(expanded("\\101"), vec![b'A']);
        assert_eq!(expanded("\\1018"), vec![b'A', b'8']);
        assert_eq!(expanded("\\0-\\2"), vec![b'\0', b'\x01', b'\x02']);
        assert_eq!(expanded("a\\-"), vec![b'a', b'-']);
        assert_eq!(expanded("x\\"), vec![b'x', b'\\']);
        assert_eq!(expanded("[=a=]"), vec![b'a']);
        assert!(parse_set("z-a").is_err());
    }

    #[tokio::test]
    async fn test_tr_truncate_and_long_complement() {
        let result = run_tr(&["-t", "abcd", "xy"], Some("abcd\n")).await;
        assert_eq!(result.stdout, "xycd\n");
        let result = run_tr(&["--complement", "-s", "a"], Some("aabbc\n")).await;
        assert_eq!(result.stdout, "aabc\n");
    }

    #[tokio::test]
    async fn test_cut_bundled_and_long_options() {
        let result = run_cut(&["-sf1"], Some("a\tb\nc\n")).await;
        assert_eq!(result.stdout, "a\n");
        let result = run_cut(&["--delimiter=:", "--fields=2", "--complement"], Some("a:b\n")).await;
        assert_eq!(result.stdout, "a\n");
        // Lines without the delimiter print whole; empty lines are kept.
        let result = run_cut(&["-d:", "-f2"], Some("abc\n\nx:y\n")).await;
        assert_eq!(result.stdout, "abc\n\ny\n");
    }
}
