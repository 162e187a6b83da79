//! Line breaks of the output.
//!
//! Derived from bashkit (MIT, `guest-shell/patches/LICENSE-bashkit`), which has it from uutils/coreutils (MIT,
//! Copyright (c) uutils developers, `src/uu/fmt/src/linebreak.rs` at revision 6579cc2).
//!
//! Lines are broken where GNU's costs are least, and output and search are charged to the shared budget.

use super::FmtOutput;
use super::options::FmtOptions;
use super::paragraphs::Paragraph;
use super::words::{Word, words};
use bashkit::Result;

struct BreakArgs<'a> {
    opts: &'a FmtOptions,
    init_len: usize,
    indent: &'a [u8],
    indent_len: usize,
    uniform: bool,
    ostream: &'a mut FmtOutput,
}

impl BreakArgs<'_> {
    fn compute_width(&self, winfo: &Word, posn: usize, fresh: bool) -> usize {
        if fresh {
            0
        } else {
            let post = winfo.after_tab;
            match winfo.before_tab {
                None => post,
                Some(pre) => post + ((pre + posn) / self.opts.tab_width + 1) * self.opts.tab_width - posn,
            }
        }
    }
}

pub(crate) fn break_lines(para: &Paragraph, opts: &FmtOptions, ostream: &mut FmtOutput) -> Result<()> {
    let p_indent = &para.indent;
    let p_indent_len = para.indent_length;

    // words
    let para_words = words(opts, para);
    let mut p_words_words = para_words.iter();

    // the first word will *always* appear on the first line
    // make sure of this here
    let Some(winfo) = p_words_words.next() else {
        return ostream.write_all(b"\n");
    };

    // print the init, if it exists, and get its length
    let p_init_len = winfo.length
        + if opts.crown || opts.tagged {
            // handle "init" portion
            ostream.write_all(para.first_indent)?;
            para.first_indent_length
        } else if !para.is_mail_header {
            // for non-(crown, tagged) that's the same as a normal indent
            ostream.write_all(p_indent)?;
            p_indent_len
        } else {
            // except that mail headers get no indent at all
            0
        };

    // write first word after writing init
    ostream.write_all(winfo.text)?;

    // does this paragraph require uniform spacing?
    let uniform = para.is_mail_header || opts.uniform;

    let mut break_args =
        BreakArgs { opts, init_len: p_init_len, indent: p_indent, indent_len: p_indent_len, uniform, ostream };

    if opts.quick || para.is_mail_header {
        break_simple(p_words_words, &mut break_args)
    } else {
        let words: Vec<&Word> = std::iter::once(winfo).chain(p_words_words).collect();
        break_by_cost(&words, &mut break_args)
    }
}

/// `break_simple` implements a "greedy" breaking algorithm: print words until
/// maxlength would be exceeded, then print a linebreak and indent and continue.
fn break_simple<'a, T: Iterator<Item = &'a Word<'a>>>(mut iter: T, args: &mut BreakArgs<'a>) -> Result<()> {
    iter.try_fold((args.init_len, false), |(l, prev_punct), winfo| accum_words_simple(args, l, prev_punct, winfo))?;
    args.ostream.write_all(b"\n")
}

fn accum_words_simple<'a>(
    args: &mut BreakArgs<'a>,
    l: usize,
    prev_punct: bool,
    winfo: &'a Word<'a>,
) -> Result<(usize, bool)> {
    // compute the length of this word, considering how tabs will expand at this position on the line
    let wlen = winfo.length + args.compute_width(winfo, l, false);

    let slen = compute_slen(args.uniform, winfo.starts_line, winfo.starts_sentence, prev_punct);

    if l + wlen + slen > args.opts.width {
        write_newline(args.indent, args.ostream)?;
        write_with_spaces(&winfo.text[winfo.start..], 0, args.ostream)?;
        Ok((args.indent_len + winfo.length, winfo.ends_punctuated))
    } else {
        write_with_spaces(winfo.text, slen, args.ostream)?;
        Ok((l + wlen + slen, winfo.ends_punctuated))
    }
}

/// Word with the properties that determine its cost: its length, the blanks before it, and its end.
struct Weighed<'a> {
    text: &'a [u8],
    length: usize,
    space: usize,
    /// True if the word begins with an opening bracket or quote.
    opens: bool,
    punctuated: bool,
    /// True if the word ends with a full stop or the like, perhaps within brackets or quotes.
    stops: bool,
    /// True if the word also ends the sentence.
    last: bool,
}

fn square(n: i64) -> i64 {
    n.saturating_mul(n)
}

fn signed(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Returns words with their blanks. These are as wide as in the input; where lines are joined there is one blank, or
/// two after the end of a sentence.
fn weigh<'a>(words: &[&Word<'a>], args: &BreakArgs<'_>) -> Vec<Weighed<'a>> {
    let mut weighed: Vec<Weighed<'a>> = Vec::with_capacity(words.len());
    let mut column = 0;
    for (index, word) in words.iter().enumerate() {
        let text = &word.text[word.start..];
        let joined = args.uniform || word.starts_line;
        let width = args.compute_width(word, column, word.starts_line || index == 0);
        let next = words.get(index + 1);
        let wide = next.is_none_or(|next| next.starts_line || next.wide_blanks);
        let body = text.iter().rposition(|byte| !b")]'\"".contains(byte)).map_or(text, |at| &text[..=at]);
        let stops = next.is_none() || body.ends_with(b".") || body.ends_with(b"?") || body.ends_with(b"!");
        let after_sentence = weighed.last().is_some_and(|before| before.last);
        weighed.push(Weighed {
            text,
            length: word.length,
            space: match joined {
                true => 1 + usize::from(after_sentence),
                false => width,
            },
            opens: text.first().is_some_and(|byte| b"(['`\"".contains(byte)),
            punctuated: text.last().is_some_and(u8::is_ascii_punctuation),
            stops,
            last: stops && wide,
        });
        column = match word.starts_line || index == 0 {
            true => args.indent_len + word.length,
            false => column + width + word.length,
        };
    }
    weighed
}

/// Returns the cost of beginning a line with a word: small after a sentence or a phrase, large after an abbreviation.
fn start_cost(words: &[Weighed<'_>], at: usize) -> i64 {
    let word = &words[at];
    let mut cost = square(70);
    if let Some(before) = at.checked_sub(1).map(|before| &words[before]) {
        if before.stops {
            cost += if before.last { -square(50) } else { square(600) };
        } else if before.punctuated {
            cost -= square(40);
        } else if at > 1 && words[at - 2].last {
            cost += square(200) / (signed(before.length) + 2);
        }
    }
    if word.opens {
        cost -= square(40);
    } else if word.last {
        cost += square(150) / (signed(word.length) + 2);
    }
    cost
}

/// Breaks a paragraph so that the sum of costs is minimal: for lines that miss the goal, for differences in length
/// between neighbouring lines, and for their first words. The last line may be short.
fn break_by_cost(words: &[&Word<'_>], args: &mut BreakArgs<'_>) -> Result<()> {
    let weighed = weigh(words, args);
    let count = weighed.len();
    let (mut best, mut next, mut length) = (vec![0i64; count + 1], vec![count; count + 1], vec![0usize; count + 1]);
    for start in (0..count).rev() {
        args.ostream.consume_work(1)?;
        let indent = if start == 0 { args.init_len - weighed[0].length } else { args.indent_len };
        let mut line = indent + weighed[start].length;
        best[start] = i64::MAX;
        for end in start + 1..=count {
            let mut cost = 0;
            if end < count {
                cost = square(10 * (signed(args.opts.goal) - signed(line)));
                if next[end] < count {
                    cost += square(10 * (signed(line) - signed(length[end]))) / 2;
                }
            }
            let cost = cost.saturating_add(best[end]);
            if cost < best[start] {
                (best[start], next[start], length[start]) = (cost, end, line);
            }
            if end == count {
                break;
            }
            line += weighed[end].space + weighed[end].length;
            if line >= args.opts.width {
                break;
            }
        }
        best[start] = best[start].saturating_add(start_cost(&weighed, start));
    }
    write_lines(&weighed, words, &next, args)
}

/// Writes the lines of a paragraph, whose first word is already written. In a paragraph with tabs, blanks become tabs,
/// too.
fn write_lines(weighed: &[Weighed<'_>], words: &[&Word<'_>], next: &[usize], args: &mut BreakArgs<'_>) -> Result<()> {
    let tabs = words.iter().any(|word| word.before_tab.is_some());
    let (mut column, mut end) = (args.init_len, next[0]);
    for (index, word) in weighed.iter().enumerate().skip(1) {
        if index == end {
            write_newline(args.indent, args.ostream)?;
            (column, end) = (args.indent_len, next[index]);
        } else {
            let target = column + word.space;
            let stop = target / args.opts.tab_width * args.opts.tab_width;
            if tabs && column + 1 < stop {
                while column < stop {
                    args.ostream.write_all(b"\t")?;
                    column = (column / args.opts.tab_width + 1) * args.opts.tab_width;
                }
            }
            while column < target {
                args.ostream.write_all(b" ")?;
                column += 1;
            }
        }
        args.ostream.write_all(word.text)?;
        column += word.length;
    }
    args.ostream.write_all(b"\n")
}

/// Number of spaces to add before a word, based on mode, newline, sentence start.
fn compute_slen(uniform: bool, newline: bool, start: bool, punct: bool) -> usize {
    if uniform || newline { if start || (newline && punct) { 2 } else { 1 } } else { 0 }
}

/// Write a newline and add the indent.
fn write_newline(indent: &[u8], ostream: &mut FmtOutput) -> Result<()> {
    ostream.write_all(b"\n")?;
    ostream.write_all(indent)
}

/// Write the word, along with slen spaces.
fn write_with_spaces(word: &[u8], slen: usize, ostream: &mut FmtOutput) -> Result<()> {
    if slen == 2 {
        ostream.write_all(b"  ")?;
    } else if slen == 1 {
        ostream.write_all(b" ")?;
    }
    ostream.write_all(word)
}
