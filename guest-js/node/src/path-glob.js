// `path.matchesGlob`: patterns of files, as Node's `minimatch` understands them.

const escape = (text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

// Returns the end of a bracketed part that begins at `from`, or -1 if it has none.
const closingOf = (text, from, open, close) => {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === open) depth++;
    else if (text[at] === close && --depth === 0) return at;
  }
  return -1;
};

// Splits at separators that stand in no brackets.
const splitOutside = (text, separator) => {
  const parts = [''];
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === separator && depth === 0) {
      parts.push('');
      continue;
    }
    if (letter === '{' || letter === '(') depth++;
    else if (letter === '}' || letter === ')') depth--;
    parts[parts.length - 1] += letter;
  }
  return parts;
};

// Returns what `{1..3}` or `{a..e}` stands for.
const rangeOf = (body) => {
  const parts = /^(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?$/.exec(body) ?? /^([a-zA-Z])\.\.([a-zA-Z])(?:\.\.(-?\d+))?$/.exec(body);
  if (parts === null) return undefined;
  const isNumber = /\d/.test(parts[1]);
  const [from, to] = isNumber ? [Number(parts[1]), Number(parts[2])] : [parts[1].charCodeAt(0), parts[2].charCodeAt(0)];
  const step = Math.max(Math.abs(Number(parts[3] ?? 1)), 1);
  const count = Math.floor(Math.abs(to - from) / step) + 1;
  if (count > 10_000) return undefined;
  const width = isNumber && [parts[1], parts[2]].some((part) => /^-?0\d/.test(part)) ? Math.max(parts[1].length, parts[2].length) : 0;
  return Array.from({ length: count }, (_, at) => from + Math.sign(to - from) * step * at).map((value) => {
    if (!isNumber) return String.fromCharCode(value);
    return value < 0 ? `-${String(-value).padStart(width - 1, '0')}` : String(value).padStart(width, '0');
  });
};

const expandBraces = (pattern) => {
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] !== '{' || pattern[at - 1] === '$') continue;
    const end = closingOf(pattern, at, '{', '}');
    if (end < 0) return [pattern];
    const body = pattern.slice(at + 1, end);
    const given = splitOutside(body, ',');
    const parts = given.length > 1 ? given.flatMap(expandBraces) : rangeOf(body);
    if (parts === undefined) continue;
    const rests = expandBraces(pattern.slice(end + 1));
    return parts.flatMap((part) => rests.map((rest) => pattern.slice(0, at) + part + rest));
  }
  return [pattern];
};

const CLASSES = {
  alnum: '\\p{L}\\p{Nl}\\p{Nd}', alpha: '\\p{L}\\p{Nl}', ascii: '\\x00-\\x7f', blank: '\\p{Zs}\\t', cntrl: '\\p{Cc}', digit: '\\p{Nd}',
  lower: '\\p{Ll}', print: '\\P{C}', punct: '\\p{P}', space: '\\p{Z}\\t\\r\\n\\v\\f', upper: '\\p{Lu}', word: '\\p{L}\\p{Nl}\\p{Nd}\\p{Pc}', xdigit: 'A-Fa-f0-9',
};
// Returns the expression of `[…]` at a place of a pattern, and its end; undefined if it is not closed.
const bracketAt = (pattern, from) => {
  let at = from + 1;
  const isNegated = pattern[at] === '!' || pattern[at] === '^';
  if (isNegated) at++;
  let body = '';
  for (let isFirst = true; at < pattern.length; isFirst = false) {
    const named = /^\[:(\w+):\]/.exec(pattern.slice(at));
    if (pattern[at] === ']' && !isFirst) return { text: body === '' ? '(?!)' : `[${isNegated ? '^' : ''}${body}]`, end: at };
    if (named !== null && Object.hasOwn(CLASSES, named[1])) {
      body += CLASSES[named[1]];
      at += named[0].length;
      continue;
    }
    const isRange = pattern[at] === '-' && !isFirst && pattern[at + 1] !== ']';
    body += isRange ? '-' : pattern[at].replace(/[\\\]^[-]/, '\\$&');
    at++;
  }
  return undefined;
};

// Returns the expression of a part of a path. `isFirst` is true at its beginning, where a dot must be written.
const expressionOf = (pattern, isFirst = true) => {
  let text = '';
  let mayBeDot = !isFirst;
  for (let at = 0; at < pattern.length; at++) {
    const letter = pattern[at];
    const guard = mayBeDot ? '' : '(?!\\.)';
    mayBeDot = true;
    if ('!?+*@'.includes(letter) && pattern[at + 1] === '(') {
      const end = closingOf(pattern, at + 1, '(', ')');
      if (end >= 0) {
        const choices = splitOutside(pattern.slice(at + 2, end), '|').map((part) => expressionOf(part, false)).join('|');
        const rest = expressionOf(pattern.slice(end + 1), false);
        if (letter === '!') return `${text}${guard}(?!(?:${choices})${rest}$)[^/]*?${rest}`;
        return `${text}${guard}(?:${choices})${letter === '@' ? '' : letter}${rest}`;
      }
    }
    const bracket = letter === '[' ? bracketAt(pattern, at) : undefined;
    if (bracket !== undefined) {
      text += guard + bracket.text;
      at = bracket.end;
    } else if (letter === '*') {
      while (pattern[at + 1] === '*' && pattern[at + 2] !== '(') at++;
      text += `${guard}[^/]*?`;
    } else if (letter === '?') text += `${guard}[^/]`;
    else text += escape(letter);
  }
  return text;
};

const matchesParts = (parts, patterns) => {
  // A slash may end a path.
  if (patterns.length === 0) return parts.length === 0 || (parts.length === 1 && parts[0] === '');
  const [first, ...rest] = patterns;
  if (first !== '**') return parts.length > 0 && first.test(parts[0]) && matchesParts(parts.slice(1), rest);
  // At the end it stands for at least one part.
  for (let taken = rest.length === 0 ? 1 : 0; taken <= parts.length; taken++) {
    if (taken > 0 && parts[taken - 1].startsWith('.')) return false;
    if (matchesParts(parts.slice(taken), rest)) return true;
  }
  return false;
};

export const matchesGlob = (path, pattern) => {
  const parts = path.split(/\/+/);
  // As in Node, a backslash is a slash.
  return expandBraces(pattern.replaceAll('\\', '/')).some((one) => {
    const pieces = one.split(/\/+/).filter((piece, at, all) => piece !== '**' || all[at - 1] !== '**');
    const compiled = pieces.map((piece) => (piece === '**' ? piece : new RegExp(`^${piece === '*' ? '(?!\\.)[^/]+' : expressionOf(piece)}$`, 'su')));
    return matchesParts(parts, compiled);
  });
};
