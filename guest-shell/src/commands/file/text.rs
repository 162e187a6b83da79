//! Recognition of texts by `file`: encoding, line ends, and language.
//!
//! The answers are those of file 5.44. Only the patterns of scripts, sources and common documents are included, the
//! strongest first, and not the thousands of the original.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`).

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::commands::file::content::ContentType;

/// Number of bytes that `file` examines to find the encoding and to describe the lines.
const ENCODING_SAMPLE: usize = 64 * 1024;

/// Number of characters above which a line counts as very long.
const LONG_LINE: usize = 300;

/// Number of bytes at the start in which most patterns are searched.
const SEARCHED: usize = 8192;

const PLAIN: &str = "text/plain";
const SHELL: &str = "text/x-shellscript";

/// NEL, the line end of some mainframes.
const NEXT_LINE: char = '\u{85}';

/// Text whose encoding was recognized.
pub(super) struct Text {
    pub(super) charset: &'static str,
    /// Encoding in the words of the description, without "text".
    encoding: &'static str,
    chars: String,
}

/// Returns true if a byte of ASCII, or NEL, occurs in texts.
fn is_text_byte(byte: u8) -> bool {
    matches!(byte, 7..=13 | 0x1b | 0x20..=0x7e | 0x85)
}

impl Text {
    /// Recognizes a text, or returns `None` for binary content.
    pub(super) fn recognize(content: &[u8]) -> Option<Self> {
        let sample = &content[..content.len().min(ENCODING_SAMPLE)];
        let text = |charset, encoding, chars| Some(Self { charset, encoding, chars });
        if sample.iter().all(|byte| is_text_byte(*byte)) {
            return text("us-ascii", "ASCII", single_bytes(sample));
        }
        if let Some(behind) = sample.strip_prefix(b"\xef\xbb\xbf")
            && let Some(chars) = utf8(behind, true)
        {
            return text("utf-8", "Unicode text, UTF-8 (with BOM)", chars);
        }
        if let Some(chars) = utf8(sample, false) {
            return text("utf-8", "Unicode text, UTF-8", chars);
        }
        if let Some(chars) = utf16(sample, b"\xff\xfe", u16::from_le_bytes) {
            return text("utf-16le", "Unicode text, UTF-16, little-endian", chars);
        }
        if let Some(chars) = utf16(sample, b"\xfe\xff", u16::from_be_bytes) {
            return text("utf-16be", "Unicode text, UTF-16, big-endian", chars);
        }
        if sample.iter().all(|byte| is_text_byte(*byte) || *byte >= 0xa0) {
            return text("iso-8859-1", "ISO-8859", single_bytes(sample));
        }
        if sample.iter().all(|byte| is_text_byte(*byte) || *byte >= 0x80) {
            return text("unknown-8bit", "Non-ISO extended-ASCII", single_bytes(sample));
        }
        None
    }

    /// Returns the type of the text.
    pub(super) fn describe(&self) -> ContentType {
        let found = script_of_known_interpreter(&self.chars)
            .or_else(|| xml(&self.chars))
            .or_else(|| language(&self.chars))
            .or_else(|| script_of_other_interpreter(&self.chars));
        let (form, mime) = match &found {
            Some(found) => (&found.form, found.mime),
            None => (&Form::Unknown, PLAIN),
        };
        let encoding = self.encoding;
        let lines = line_details(&self.chars);
        let description = match form {
            Form::Whole(whole) => whole.to_string(),
            Form::Executable(kind) => format!("{kind}, {encoding} text executable{lines}"),
            Form::Source(kind) => format!("{kind}, {encoding} text{lines}"),
            Form::Unknown => format!("{encoding} text{lines}"),
        };
        ContentType { description, mime, charset: self.charset }
    }
}

fn single_bytes(sample: &[u8]) -> String {
    sample.iter().map(|byte| char::from(*byte)).collect()
}

/// Decodes UTF-8. An incomplete character at the end is ignored.
fn utf8(sample: &[u8], marked: bool) -> Option<String> {
    let text = match std::str::from_utf8(sample) {
        Ok(text) => text,
        Err(error) if error.error_len().is_some() => return None,
        Err(error) => std::str::from_utf8(&sample[..error.valid_up_to()]).ok()?,
    };
    let control = |byte: u8| byte < 0x80 && !is_text_byte(byte);
    let known = (marked || !text.is_ascii()) && !text.bytes().any(control);
    known.then(|| text.to_string())
}

fn utf16(sample: &[u8], mark: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let units = sample.strip_prefix(mark)?.chunks_exact(2);
    let units: Vec<u16> = units.map(|pair| unit([pair[0], pair[1]])).collect();
    let control = |unit: &u16| match u8::try_from(*unit) {
        Ok(byte) => byte < 0x80 && !is_text_byte(byte),
        Err(_) => *unit == 0xfffe,
    };
    (!units.iter().any(control)).then(|| String::from_utf16_lossy(&units))
}

/// Statistics of the lines: their ends, their lengths, and special characters.
#[derive(Default)]
struct Lines {
    crlf: usize,
    cr: usize,
    lf: usize,
    nel: usize,
    longest: usize,
    escapes: bool,
    overstrikes: bool,
}

impl Lines {
    fn count(chars: &str) -> Self {
        let mut lines = Self::default();
        let mut length = 0;
        let mut after_cr = false;
        for c in chars.chars() {
            if after_cr {
                if c == '\n' {
                    lines.crlf += 1;
                } else {
                    lines.cr += 1;
                    length = 0;
                }
            }
            let ends = (c == '\n') | (c == NEXT_LINE);
            lines.lf += usize::from(c == '\n' && !after_cr);
            lines.nel += usize::from(c == NEXT_LINE);
            // A CR does not count as a character of its line.
            length = if ends { 0 } else { length + usize::from(c != '\r') };
            lines.longest = lines.longest.max(length);
            lines.escapes |= c == '\x1b';
            lines.overstrikes |= c == '\x08';
            after_cr = c == '\r';
        }
        lines.cr += usize::from(after_cr);
        lines
    }
}

/// Returns the part of a description about the lines.
fn line_details(chars: &str) -> String {
    let lines = Lines::count(chars);
    let mut details = String::new();
    if lines.longest > LONG_LINE {
        details.push_str(&format!(", with very long lines ({})", lines.longest));
    }
    let ends = [(lines.crlf, "CRLF"), (lines.cr, "CR"), (lines.lf, "LF"), (lines.nel, "NEL")];
    let ends: Vec<&str> = ends.iter().filter(|end| end.0 > 0).map(|end| end.1).collect();
    match ends.as_slice() {
        [] => details.push_str(", with no line terminators"),
        ["LF"] => {}
        ends => details.push_str(&format!(", with {} line terminators", ends.join(", "))),
    }
    if lines.escapes {
        details.push_str(", with escape sequences");
    }
    if lines.overstrikes {
        details.push_str(", with overstriking");
    }
    details
}

/// Form of a description.
enum Form {
    /// Description to which nothing is added.
    Whole(Cow<'static, str>),
    /// "..., ASCII text executable".
    Executable(Cow<'static, str>),
    /// Description of a source, "..., ASCII text".
    Source(Cow<'static, str>),
    /// Description of a plain text, "ASCII text" alone.
    Unknown,
}

struct Found {
    form: Form,
    mime: &'static str,
}

/// Interpreter that `file` knows.
struct Interpreter {
    name: &'static str,
    /// Directories in which the interpreter is recognized: `b` /bin, `u` /usr/bin, `l` /usr/local/bin, `e` after
    /// /usr/bin/env.
    places: &'static str,
    /// True if the name may be longer, as in `python3`.
    prefix: bool,
    kind: &'static str,
    mime: &'static str,
}

const fn interpreter(
    name: &'static str,
    places: &'static str,
    prefix: bool,
    kind: &'static str,
    mime: &'static str,
) -> Interpreter {
    Interpreter { name, places, prefix, kind, mime }
}

const PERL: &str = "Perl script text executable";
const NODE: &str = "Node.js script executable";

const INTERPRETERS: &[Interpreter] = &[
    interpreter("sh", "b", false, "POSIX shell script", SHELL),
    interpreter("bash", "bule", false, "Bourne-Again shell script", SHELL),
    interpreter("csh", "b", false, "C shell script", SHELL),
    interpreter("ksh", "b", false, "Korn shell script", SHELL),
    interpreter("tcsh", "bul", false, "Tenex C shell script", SHELL),
    interpreter("zsh", "bule", false, "Paul Falstad's zsh script", SHELL),
    interpreter("ash", "bul", false, "Neil Brown's ash script", SHELL),
    interpreter("fish", "ule", false, "fish shell script", SHELL),
    interpreter("rc", "b", false, "Plan 9 rc shell script", PLAIN),
    interpreter("awk", "bu", false, "awk script", "text/x-awk"),
    interpreter("nawk", "bul", false, "new awk script", "text/x-nawk"),
    interpreter("gawk", "u", true, "GNU awk script", "text/x-gawk"),
    interpreter("gawk", "bl", false, "GNU awk script", "text/x-gawk"),
    interpreter("perl", "bul", false, PERL, "text/x-perl"),
    interpreter("perl", "e", true, PERL, "text/x-perl"),
    interpreter("node", "bue", true, NODE, "application/javascript"),
    interpreter("python", "ule", true, "Python script", "text/x-script.python"),
    interpreter("ruby", "ule", true, "Ruby script", "text/x-ruby"),
    interpreter("php", "ul", true, "PHP script", "text/x-php"),
    interpreter("lua", "ule", true, "Lua script", "text/x-lua"),
    interpreter("tclsh", "u", false, "Tcl/Tk script", "text/x-tcl"),
    interpreter("tclsh", "ule", true, "Tcl script", "text/x-tcl"),
    interpreter("wish", "ule", true, "Tcl/Tk script", "text/x-tcl"),
];

/// Returns the command after `#!` and blanks.
fn shebang(text: &str) -> Option<&str> {
    Some(text.strip_prefix("#!")?.trim_start_matches([' ', '\t']))
}

/// Returns the command after `/usr/bin/env` in a `#!` line, if it has one.
fn env_command(command: &str) -> Option<&str> {
    let behind = command.strip_prefix("/usr/bin/env")?;
    behind.starts_with([' ', '\t', '\n']).then(|| behind.trim_start_matches([' ', '\t']))
}

fn known_interpreter(command: &str) -> Option<&'static Interpreter> {
    let places = [("/bin/", 'b'), ("/usr/bin/", 'u'), ("/usr/local/bin/", 'l')];
    let (name, place) = match env_command(command) {
        Some(name) => (name, 'e'),
        None => places.iter().find_map(|(folder, place)| Some((command.strip_prefix(folder)?, *place)))?,
    };
    INTERPRETERS.iter().find(|known| {
        // A name at the very end of the file is not recognized.
        let ends = |behind: &str| match known.prefix {
            true => !behind.is_empty(),
            false => behind.starts_with([' ', '\t', '\n', '\r']),
        };
        known.places.contains(place) && name.strip_prefix(known.name).is_some_and(ends)
    })
}

fn script_of_known_interpreter(text: &str) -> Option<Found> {
    let known = known_interpreter(shebang(text)?)?;
    let kind = Cow::Borrowed(known.kind);
    let form = match known.kind {
        PERL => Form::Whole(kind),
        NODE => Form::Source(kind),
        _ => Form::Executable(kind),
    };
    Some(Found { form, mime: known.mime })
}

/// Returns the first line of a command, with octal escapes for bytes beyond ASCII.
fn first_line(command: &str) -> String {
    let line = command.split('\n').next().unwrap_or_default().trim_end();
    let escape = |byte: u8| match byte.is_ascii() {
        true => char::from(byte).to_string(),
        false => format!("\\{byte:03o}"),
    };
    line.bytes().map(escape).collect()
}

/// Recognizes a script of another interpreter, whose name is reported as it is.
fn script_of_other_interpreter(text: &str) -> Option<Found> {
    let command = shebang(text)?;
    let form = match env_command(command) {
        Some(command) if command.starts_with('\n') => Form::Source(Cow::Borrowed("a")),
        Some(command) => Form::Executable(format!("a {} script", first_line(command)).into()),
        None => Form::Executable(format!("a {} script", first_line(command)).into()),
    };
    Some(Found { form, mime: PLAIN })
}

/// Describes a file that starts like a script but is not text.
pub(super) fn binary_script(content: &[u8]) -> Option<(String, &'static str)> {
    let start = &content[..content.len().min(SEARCHED)];
    let start = String::from_utf8_lossy(start);
    let command = shebang(&start)?;
    let form = "script executable (binary data)";
    let from_env = env_command(command);
    match known_interpreter(command) {
        Some(shell) if matches!(shell.name, "sh" | "bash" | "ksh") && from_env.is_none() => {
            Some((format!("{} executable (binary data)", shell.kind), SHELL))
        }
        _ => match from_env {
            Some(command) => Some((format!("a {} {form}", first_line(command)), PLAIN)),
            None => Some((format!("a {} {form}", first_line(command)), crate::commands::file::content::OCTETS)),
        },
    }
}

/// Recognizes an XML document; an SVG image has a type of its own.
fn xml(text: &str) -> Option<Found> {
    static SVG: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"\A<\?xml version=['"\s]*[0-9.]+(?s:.)*?<svg"#).ok());
    let svg = SVG.as_ref().is_some_and(|svg| svg.is_match(text));
    if svg || text.starts_with("<svg") {
        let image = Cow::Borrowed("SVG Scalable Vector Graphics image");
        return Some(Found { form: Form::Whole(image), mime: "image/svg+xml" });
    }
    let quotes = ["<?xml version=\"", "<?xml version='"];
    let version = quotes.iter().find_map(|start| text.strip_prefix(start))?;
    let version: String = version.chars().take(3).collect();
    let kind = format!("XML {version} document").into();
    Some(Found { form: Form::Source(kind), mime: "text/xml" })
}

/// Pattern of a language or a document format.
struct Rule {
    pattern: &'static str,
    form: fn(Cow<'static, str>) -> Form,
    kind: &'static str,
    mime: &'static str,
}

const fn whole(pattern: &'static str, kind: &'static str, mime: &'static str) -> Rule {
    Rule { pattern, form: Form::Whole, kind, mime }
}

const fn source(pattern: &'static str, kind: &'static str, mime: &'static str) -> Rule {
    Rule { pattern, form: Form::Source, kind, mime }
}

const fn python(pattern: &'static str) -> Rule {
    let (kind, mime) = ("Python script", "text/x-script.python");
    Rule { pattern, form: Form::Executable, kind, mime }
}

const fn html(pattern: &'static str) -> Rule {
    source(pattern, "HTML document", "text/html")
}

const fn javascript(pattern: &'static str) -> Rule {
    source(pattern, "JavaScript source", "application/javascript")
}

const fn c(pattern: &'static str) -> Rule {
    source(pattern, "C source", "text/x-c")
}

const fn cplusplus(pattern: &'static str) -> Rule {
    source(pattern, "C++ source", "text/x-c++")
}

const fn ruby(pattern: &'static str) -> Rule {
    source(pattern, "Ruby script", "text/x-ruby")
}

const fn mail(pattern: &'static str, kind: &'static str) -> Rule {
    source(pattern, kind, "message/rfc822")
}

const fn diff(pattern: &'static str, kind: &'static str) -> Rule {
    source(pattern, kind, "text/x-diff")
}

const fn makefile(pattern: &'static str, kind: &'static str) -> Rule {
    source(pattern, kind, "text/x-makefile")
}

/// Patterns, the strongest first. `^` and `$` match at each line.
const RULES: &[Rule] = &[
    whole(r"\A-----BEGIN OPENSSH PRIVATE KEY-----", "OpenSSH private key", PLAIN),
    whole(r"\A-----BEGIN CERTIFICATE-----", "PEM certificate", PLAIN),
    whole(r"\A-----BEGIN CERTIFICATE REQ", "PEM certificate request", PLAIN),
    whole(r"\A-----BEGIN RSA PRIVATE", "PEM RSA private key", PLAIN),
    whole(r"\A-----BEGIN DSA PRIVATE", "PEM DSA private key", PLAIN),
    whole(r"\A-----BEGIN EC PRIVATE", "PEM EC private key", PLAIN),
    whole(r"\A-----BEGIN PGP PUBLIC KEY BLOCK-", "PGP public key block", "application/pgp-keys"),
    whole(r"\Aecdsa-sha2-nistp(256|384|521)", "OpenSSH ECDSA public key", PLAIN),
    whole(r"\ABEGIN:VCALENDAR", "vCalendar calendar file", "text/calendar"),
    html(r"(?i)\A<!doctype\s+html"),
    mail(r"\ARelay-Version:", "old news"),
    mail(r"(?i)\A(delivered-to|return-path):", "SMTP mail"),
    source(r"\AMIME-Version:", "MIME entity", PLAIN),
    whole(r"(?i)\ABEGIN:VCARD", "vCard visiting card", "text/vcard"),
    whole(r"\Assh-ed25519", "OpenSSH ED25519 public key", PLAIN),
    diff(r"--- .*\n\+\+\+ .*\n@@", "unified diff output"),
    mail(r"\AReceived:", "RFC 822 mail"),
    javascript(r"\((async )?function[( ]"),
    whole(r"\Assh-rsa ", "OpenSSH RSA public key", PLAIN),
    whole(r"\Assh-dss ", "OpenSSH DSA public key", PLAIN),
    source(r"\AArticle ", "saved news", "message/news"),
    html(r"(?i)\A<html>"),
    javascript(r"^export (function|class|default|const|var|let|async) "),
    javascript(r"^(import|export).* from "),
    mail(r"\A(From|Date):", "news or mail"),
    source(r"\A(Path|Xref):", "news", "message/news"),
    javascript(r#"^(import|export) ["']\./"#),
    javascript(r#"module(\.|\[["'])exports.*="#),
    source(r"^package[ \t]+[0-9A-Za-z_:]+ *;(?s:.)*(^1 *;|^(use|sub|my) .*[(;{=])", PERL_MODULE, PLAIN),
    javascript(r"^(const|var|let).*=.*require\("),
    javascript(r#""use strict"|'use strict'"#),
    html(r"(?i)\A<!--(?s:.)*?(<!doctype\s+html|<html>)"),
    cplusplus(r"^using\s+(namespace )?std(::)?[[:alpha:]]*\s*;"),
    cplusplus(r"^namespace\s+[_[:alpha:]]{1,30}\s*\{"),
    cplusplus(r"^\s*template\s*<.*>\s*$"),
    cplusplus(r"^\s*virtual\s+.*[};]\s*$"),
    cplusplus(r"^\s*(public|private|protected):"),
    source(r"(?i)\A<\?php", "PHP script", "text/x-php"),
    javascript("typeof.*[!=]=="),
    ruby(r"^\s*require\s'[A-Za-z_/.]+'(?s:.)*(def [a-z]| do$)(?s:.)*^\s*end(\s+[;#].*)?$"),
    source(r#"^#import\s+["<]"#, "Objective-C source", "text/x-objective-c"),
    whole(r"\A%!PS-Adobe-(?s:.)", "PostScript document", "application/postscript"),
    whole(r"\A%!", "PostScript document text", "application/postscript"),
    whole(r"\A\{\\rtf", "Rich Text Format data", "text/rtf"),
    ruby(r"^\s*(class|module)\s[A-Z](?s:.)*((modul|includ)e [A-Z]|def [a-z])(?s:.)*^\s*end(\s+[;#].*)?$"),
    source(r"\\documentclass", "LaTeX 2e document", "text/x-tex"),
    Rule { mime: PLAIN, ..python(r#"\A""""#) },
    python(r"def __init__(?s:.){0,64}self"),
    python(r"^from[ \t]+([A-Za-z0-9_]|\.)+[ \t]+import.*$"),
    python(r#"if __name__(?s:.){0,64}('__main__'|"__main__")"#),
    source(r"\\(section|chapter|begin|setlength|documentstyle)", "LaTeX document", "text/x-tex"),
    python(r"^class [_[:alpha:]]+(\(.*\))?( )*:([ \t]+pass)?$"),
    python(r"try:(?s:.)*?(^\s*except.*:$|finally:)"),
    cplusplus(r"^\s*class\s+[[:alnum:]:_]+\s*\{(.*\n*)*\}(;)?$"),
    c(r"^#include"),
    html(r"(?i)<(head|title|html|script|style|table)[> ]"),
    html(r"(?i)<a\s+href="),
    html(r"(?i)<!doctype\s+html"),
    python(r"^\s{0,50}def {1,50}[_a-zA-Z]{1,100}(?s:.)*?\(([[:alpha:]*_, ]){0,255}\):$"),
    source(r"(?i)\A<\?xml", "XML document", "text/xml"),
    source(r"\A<\?[\n\r]", "PHP script", "text/x-php"),
    diff(r"\Adiff ", "diff output"),
    makefile(r"^(CFLAGS|VPATH|LDFLAGS|all:|\.PRECIOUS)", "makefile script"),
    ruby(r"^\s*(class|module)\s[A-Z](?s:.)*?^\s*end(\s+[;#if].*)?$"),
    ruby(r"^\s*def [a-z](?s:.)*?^\s*end(\s+[;#].*)?$"),
    source(r#"eval ["']exec (/bin/|/usr/bin/|/usr/local/bin/)?perl"#, "Perl script", "text/x-perl"),
    source(r"\A1\r?\n\d\d:\d\d:\d\d,\d\d\d --> ", "SubRip", "application/x-subrip"),
    makefile(r"^\.(BEGIN|endif|include)", "BSD makefile script"),
    source(r"(?i)\A@( ?echo\s+off|rem|set\s)", "DOS batch file", "text/x-msdos-batch"),
    c(r"^\s*char( \*|\*)(.+)(=.*)?;\s*$"),
    c(r"^struct\s+"),
    source(r"main\((?s:.){0,64}String", "Java source", "text/x-java"),
    source(r"(\A|\n)=(pod\n|head1 |head2 |encoding )", "Perl POD document", PLAIN),
    source(r#"\A('?\.?\\"|'\.\\")"#, "troff or preprocessor input", "text/troff"),
    source(r"^\.[A-Za-z][A-Za-z0-9]([ \t]|$)", "troff or preprocessor input", "text/troff"),
    source(r"\((setq|defvar|defparam|defun|autoload) ", "Lisp/Scheme program", "text/x-lisp"),
    diff(r"\A\*\*\* (?s:.)*?\n--- ", "context diff output"),
    diff(r"\A(Only in |Common subdirectories: )", "diff output"),
    source(r"(?i)<!(doctype|subdoc)", "exported SGML document", PLAIN),
    c(r"^\s*(double|float)( \*|\*)(.+)(=.*)?;\s*$"),
    source(r"^[ \t\f\r\n]{0,100}BEGIN[ \t\f\r\n]{0,100}[{]", "awk or perl script", PLAIN),
    ruby(r"^\s*require\s'[A-Za-z_/.]+'"),
    ruby(r"^\s*include ([A-Z]+[a-z]*(::))+"),
    python(r"^import [_[:alpha:]]+ as [[:alpha:]]\s*$"),
    source(r"^import.*;$", "Java source", "text/x-java"),
    c(r"^#\s*pragma"),
    c(r"^#\s*(if|ifn)def(?s:.)*?^#\s*(endif$|define)"),
    c(r"^(\s*extern|union)\s+"),
    source(r"\A#EXTM3U", "M3U playlist", PLAIN),
    diff(r"\AIndex:", "RCS/CVS diff output"),
    source(r"(?i)<!--", "exported SGML document", PLAIN),
    c(r"main\((?s:.)*?\)\s*\{"),
    makefile(r"^SUBDIRS\s+=", "automake makefile script"),
    source(r"^package[ \t]+req", "Tcl script", PLAIN),
    // Each line is a comment or starts with a blank, and there is at least one comment.
    source(r"\A([Cc \t].*\n|\n)*[Cc][ \t].*\n([Cc \t].*\n|\n)*\z", "FORTRAN program", "text/x-fortran"),
];

const PERL_MODULE: &str = "Perl5 module source";

fn language(text: &str) -> Option<Found> {
    static PATTERNS: LazyLock<Vec<Option<Regex>>> = LazyLock::new(|| {
        let compile = |rule: &Rule| Regex::new(&format!("(?m){}", rule.pattern)).ok();
        RULES.iter().map(compile).collect()
    });
    let mut end = text.len().min(SEARCHED);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let start = &text[..end];
    let matches = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|p| p.is_match(start));
    let rule = &RULES[PATTERNS.iter().position(matches)?];
    let kind = details(rule.kind, start);
    Some(Found { form: (rule.form)(kind), mime: rule.mime })
}

/// Returns a description with the version that some documents state at their start.
fn details(kind: &'static str, start: &str) -> Cow<'static, str> {
    let version = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    if let Some(behind) = start.strip_prefix("%!PS-Adobe-") {
        let level: String = behind.chars().take_while(|c| !c.is_whitespace()).collect();
        return format!("{kind} text conforming DSC level {level}").into();
    }
    match start.strip_prefix("{\\rtf").map(version) {
        Some(version) if !version.is_empty() => format!("{kind}, version {version}").into(),
        _ => kind.into(),
    }
}
