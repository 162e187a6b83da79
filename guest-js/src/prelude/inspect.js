// Text of values in the form of Node's `util.inspect`: the structure of a value, and its layout in lines.
// `inspect-values.js` has the formatters of each class.

const lineWidth = 80;

// Default options of `util.inspect`, which `console` uses. A script may change them through
// `util.inspect.defaultOptions`.
const standardOptions = {
  showHidden: false,
  depth: 2,
  colors: false,
  customInspect: true,
  showProxy: false,
  maxArrayLength: 100,
  maxStringLength: 10_000,
  breakLength: lineWidth,
  compact: 3,
  sorted: false,
  getters: false,
  numericSeparator: false,
};
const optionNames = objectKeys(standardOptions);
// The same options, out of a script's reach, and without calling functions of the script.
const safeOptions = freeze({ __proto__: null, ...standardOptions, customInspect: false });
Object.seal(standardOptions);

// Codes that begin and end a colour. A script may change these, and the styles.
const colors = {
  __proto__: null,
  reset: [0, 0],
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  blink: [5, 25],
  inverse: [7, 27],
  hidden: [8, 28],
  strikethrough: [9, 29],
  doubleunderline: [21, 24],
  black: [30, 39],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
  white: [37, 39],
  bgBlack: [40, 49],
  bgRed: [41, 49],
  bgGreen: [42, 49],
  bgYellow: [43, 49],
  bgBlue: [44, 49],
  bgMagenta: [45, 49],
  bgCyan: [46, 49],
  bgWhite: [47, 49],
  framed: [51, 54],
  overlined: [53, 55],
  gray: [90, 39],
  redBright: [91, 39],
  greenBright: [92, 39],
  yellowBright: [93, 39],
  blueBright: [94, 39],
  magentaBright: [95, 39],
  cyanBright: [96, 39],
  whiteBright: [97, 39],
  bgGray: [100, 49],
  bgRedBright: [101, 49],
  bgGreenBright: [102, 49],
  bgYellowBright: [103, 49],
  bgBlueBright: [104, 49],
  bgMagentaBright: [105, 49],
  bgCyanBright: [106, 49],
  bgWhiteBright: [107, 49],
};
// Aliases of some colours.
const otherNames = {
  __proto__: null,
  gray: ['grey', 'blackBright'],
  bgGray: ['bgGrey', 'bgBlackBright'],
  dim: ['faint'],
  strikethrough: ['crossedout', 'strikeThrough', 'crossedOut'],
  hidden: ['conceal'],
  inverse: ['swapcolors', 'swapColors'],
  doubleunderline: ['doubleUnderline'],
};
for (const color in otherNames) {
  const names = otherNames[color];
  for (let i = 0; i < names.length; i++) {
    defineGetter(colors, names[i], () => colors[color], (value) => {
      colors[color] = value;
    });
  }
}

const styles = {
  __proto__: null,
  special: 'cyan',
  number: 'yellow',
  bigint: 'yellow',
  boolean: 'yellow',
  undefined: 'grey',
  null: 'bold',
  string: 'green',
  symbol: 'green',
  date: 'magenta',
  regexp: 'red',
  module: 'underline',
};
const stylize = (context, text, style) => {
  if (!context.colors) return text;
  const codes = colors[styles[style]];
  return codes === undefined ? text : '\x1b[' + codes[0] + 'm' + text + '\x1b[' + codes[1] + 'm';
};

const colorCodes = /\x1b\[[0-9;]*m/g;
const replaceAll = uncurry(RegExp.prototype[Symbol.replace]);
const withoutColors = (text) => (includes(text, '\x1b') ? replaceAll(colorCodes, text, '') : text);

// Matches characters that take no column of a terminal: marks on others, and those that only control. A soft hyphen takes one.
const narrowCharacter = /(?!\u00ad)[\p{Cc}\p{Cf}\p{Me}\p{Mn}]/u;
// Matches characters that take two columns of a terminal.
const wideCharacter =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
const plainAscii = /^[\x20-\x7e]*$/;
const textWidth = (given) => {
  const text = withoutColors(given);
  if (regExpTest(plainAscii, text)) return text.length;
  let width = 0;
  for (let i = 0; i < text.length; i++) {
    const point = codePointAt(text, i);
    if (point > 0xffff) i++;
    const character = apply(String.fromCodePoint, undefined, [point]);
    if (regExpTest(narrowCharacter, character)) continue;
    width += regExpTest(wideCharacter, character) ? 2 : 1;
  }
  return width;
};
const codePointAt = uncurry(String.prototype.codePointAt);

const escapes = {
  __proto__: null,
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
  '\\': '\\\\',
};
const upperCase = uncurry(String.prototype.toUpperCase);
const hexOf = (unit, digits) => upperCase(padStart(numberToString(unit, 16), digits, '0'));
const isSurrogate = (unit) => unit >= 0xd800 && unit <= 0xdfff;

// Quotes a string: with single quotes, unless it contains those and no other quotes.
const quoteString = (text) => {
  const quote = !includes(text, "'") ? "'" : !includes(text, '"') ? '"' : !includes(text, '`') ? '`' : "'";
  let quoted = '';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = charCodeAt(text, i);
    if (unit >= 0x20 && unit !== 0x5c && (unit < 0x7f || unit > 0x9f) && text[i] !== quote && !isSurrogate(unit)) continue;
    if (isSurrogate(unit) && unit < 0xdc00 && i + 1 < text.length && charCodeAt(text, i + 1) >= 0xdc00 && isSurrogate(charCodeAt(text, i + 1))) {
      i++;
      continue;
    }
    const escape =
      escapes[text[i]] ??
      (text[i] === quote ? '\\' + quote : isSurrogate(unit) ? '\\u' + numberToString(unit, 16) : '\\x' + hexOf(unit, 2));
    quoted += substring(text, from, i) + escape;
    from = i + 1;
  }
  return quote + quoted + substring(text, from) + quote;
};

// Inserts `_` between groups of three digits of an integer.
const separateInteger = (digits) => {
  const start = digits[0] === '-' ? 1 : 0;
  let separated = '';
  let i = digits.length;
  for (; i >= start + 4; i -= 3) separated = '_' + substring(digits, i - 3, i) + separated;
  return substring(digits, 0, i) + separated;
};

// Inserts `_` between groups of three digits after a decimal point.
const separateFraction = (digits) => {
  let separated = '';
  let i = 0;
  for (; i < digits.length - 3; i += 3) separated += substring(digits, i, i + 3) + '_';
  return separated + substring(digits, i);
};

const formatNumber = (number, context = standardOptions) => {
  if (!context.numericSeparator) return objectIs(number, -0) ? '-0' : '' + number;
  const integer = trunc(number);
  const digits = '' + integer;
  if (isNan(number) || (integer === number && (!isFiniteNumber(number) || includes(digits, 'e')))) return digits;
  if (integer === number) return separateInteger(digits);
  const shown = integer === 0 && number < 0 ? '-0' : digits;
  return separateInteger(shown) + '.' + separateFraction(substring('' + number, shown.length + 1));
};

const formatBigInt = (value, context) => {
  const digits = bigIntToString(value);
  return (context.numericSeparator ? separateInteger(digits) : digits) + 'n';
};

const plainKey = /^[a-zA-Z_][a-zA-Z_0-9]*$/;
const formatKey = (key, context, hidden) => {
  if (typeof key === 'symbol') return '[' + stylize(context, symbolToString(key), 'symbol') + ']';
  if (key === '__proto__') return "['__proto__']";
  if (hidden) return '[' + key + ']';
  return regExpTest(plainKey, key) ? key : stylize(context, quoteString(key), 'string');
};

const formatString = (value, context) => {
  const left = value.length - context.maxStringLength;
  const shown = left > 0 ? substring(value, 0, max(context.maxStringLength, 0)) : value;
  const rest = left > 0 ? '... ' + left + ' more character' + (left === 1 ? '' : 's') : '';
  const room = context.breakLength - context.indentation - 4;
  if (context.compact === true || shown.length <= 16 || shown.length <= room || !includes(shown, '\n')) {
    return stylize(context, quoteString(shown), 'string') + rest;
  }
  const lines = split(shown, '\n');
  const parts = [];
  for (let i = 0; i < lines.length; i++) {
    const line = i + 1 < lines.length ? lines[i] + '\n' : lines[i];
    if (line !== '') push(parts, stylize(context, quoteString(line), 'string'));
  }
  return join(parts, ' +\n' + repeat(' ', context.indentation + 2)) + rest;
};

const formatPrimitive = (value, context) => {
  switch (typeof value) {
    case 'string':
      return formatString(value, context);
    case 'number':
      return stylize(context, formatNumber(value, context), 'number');
    case 'bigint':
      return stylize(context, formatBigInt(value, context), 'bigint');
    case 'symbol':
      return stylize(context, symbolToString(value), 'symbol');
    case 'boolean':
      return stylize(context, '' + value, 'boolean');
    case 'undefined':
      return stylize(context, 'undefined', 'undefined');
    default:
      return stylize(context, '' + value, 'null');
  }
};

// Returns true if the prototype of a constructor is on the prototype chain of an object.
const isInstance = (object, constructor) => {
  const prototype = getOwnPropertyDescriptor(constructor, 'prototype')?.value;
  for (let at = getPrototypeOf(object); at !== null; at = getPrototypeOf(at)) {
    if (at === prototype) return true;
    if (native.isProxy(at)) return false;
  }
  return false;
};

// Returns the name of the class of an object, or null if it has no prototype.
const constructorName = (object) => {
  for (let at = object; at !== null; at = getPrototypeOf(at)) {
    if (native.isProxy(at)) return 'Object';
    const property = getOwnPropertyDescriptor(at, 'constructor');
    if (property === undefined || typeof property.value !== 'function') continue;
    const name = getOwnPropertyDescriptor(property.value, 'name');
    if (typeof name?.value === 'string' && name.value !== '' && isInstance(object, property.value)) return name.value;
  }
  const parent = getPrototypeOf(object);
  if (parent === null || native.className(object) !== 'Object' || native.className(parent) !== 'Object') return null;
  // Node names what an object without a constructor inherits from.
  const inherited = constructorName(parent) ?? '[Object: null prototype]' + (ownKeys(parent).length === 0 ? ' {}' : '');
  return 'Object <' + inherited + '>';
};

const tagOf = (object) => {
  if (getOwnPropertyDescriptor(object, symbolToStringTag)?.enumerable) return '';
  try {
    const tag = object[symbolToStringTag];
    return typeof tag === 'string' ? tag : '';
  } catch {
    return '';
  }
};

// Returns a prefix such as `Map(2) `, or nothing where the brackets alone tell the class.
const prefixOf = (object, standard, size) => {
  const name = constructorName(object);
  const tag = tagOf(object);
  const count = size === undefined ? '' : '(' + size + ')';
  if (name === null) {
    const shown = '[' + standard + count + ': null prototype] ';
    return tag !== '' && tag !== standard ? shown + '[' + tag + '] ' : shown;
  }
  return tag !== '' && tag !== name ? name + count + ' [' + tag + '] ' : name + count + ' ';
};

const reindent = (text, by) => (by === 0 ? text : join(split(text, '\n'), '\n' + repeat(' ', by)));

const isIndex = (key) => {
  const first = charCodeAt(key, 0);
  return first >= 48 && first <= 57 && key === '' + (key >>> 0);
};

// Returns the own properties to show, besides elements.
const shownKeys = (object, isList, context) => {
  const all = ownKeys(object);
  const keys = [];
  for (let i = 0; i < all.length; i++) {
    const key = all[i];
    if (isList && typeof key === 'string' && isIndex(key)) continue;
    if (context.showHidden || isEnumerable(object, key)) push(keys, key);
  }
  return keys;
};

const formatGetter = (object, property, context, depth) => {
  const label = property.set === undefined ? 'Getter' : 'Getter/Setter';
  const { getters } = context;
  if (!(getters === true || (getters === 'get' && property.set === undefined) || (getters === 'set' && property.set !== undefined))) {
    return stylize(context, '[' + label + ']', 'special');
  }
  try {
    const value = apply(property.get, object, []);
    context.indentation += 2;
    const text = isObject(value)
      ? stylize(context, '[' + label + ']', 'special') + ' ' + formatValue(value, context, depth)
      : stylize(context, '[' + label + ':', 'special') + ' ' + formatPrimitive(value, context) + stylize(context, ']', 'special');
    context.indentation -= 2;
    return text;
  } catch (error) {
    return '[' + label + ': <Inspection threw (' + (isObject(error) ? readString(error, 'message') : error) + ')>]';
  }
};

const formatProperty = (object, key, context, depth, isElement) => {
  const property = getOwnPropertyDescriptor(object, key);
  let text;
  if (property === undefined) text = stylize(context, 'undefined', 'undefined');
  else if (property.get !== undefined) text = formatGetter(object, property, context, depth);
  else if (property.set !== undefined) text = stylize(context, '[Setter]', 'special');
  else text = formatInner(property.value, context, depth);
  return isElement ? text : formatKey(key, context, property?.enumerable === false) + ': ' + text;
};

const formatInner = (value, context, depth) => {
  context.indentation += 2;
  const text = formatValue(value, context, depth);
  context.indentation -= 2;
  return text;
};

const more = (left) => '... ' + left + ' more item' + (left === 1 ? '' : 's');

// Returns true if the entries fit on one line.
const isBelowBreakLength = (output, start, base, context) => {
  let length = output.length + start;
  if (length + output.length > context.breakLength) return false;
  for (let i = 0; i < output.length; i++) {
    length += withoutColors(output[i]).length;
    if (length > context.breakLength) return false;
  }
  return !includes(base, '\n');
};

// Puts brackets around entries: on one line if they are few, short and not deep, and otherwise on a line each.
const intoLines = (output, open, close, base, context, depth, inColumns) => {
  const { compact } = context;
  const indentation = repeat(' ', context.indentation + 2);
  if (compact === true) {
    const start = base === '' ? open : open + ' ' + base;
    if (isBelowBreakLength(output, 0, base, context)) return start + ' ' + join(output, ', ') + ' ' + close;
    const first = base === '' && open.length === 1 ? ' ' : '\n' + indentation;
    return start + first + join(output, ',\n' + indentation) + ' ' + close;
  }
  const start = base === '' ? open : base + ' ' + open;
  if (typeof compact === 'number' && compact >= 1 && !inColumns && context.deepest - depth < compact) {
    const taken = output.length + context.indentation + open.length + base.length + 10;
    const joined = isBelowBreakLength(output, taken, base, context) ? join(output, ', ') : '\n';
    if (!includes(joined, '\n')) return start + ' ' + joined + ' ' + close;
  }
  return start + '\n' + indentation + join(output, ',\n' + indentation) + '\n' + substring(indentation, 2) + close;
};

// Arranges many short elements in columns.
const intoColumns = (entries, list, context) => {
  const hasRest = entries.length > context.maxArrayLength;
  const count = hasRest ? entries.length - 1 : entries.length;
  const lengths = mapList(entries, textWidth);
  let total = 0;
  let widest = 0;
  for (let i = 0; i < count; i++) {
    total += lengths[i] + 2;
    widest = max(widest, lengths[i]);
  }
  const width = widest + 2;
  if (width * 3 + context.indentation >= context.breakLength || !(total / width > 5 || widest <= 6)) return entries;
  const bias = sqrt(width - total / entries.length);
  const biased = max(width - 3 - bias, 1);
  const columns = min(
    round(sqrt(2.5 * biased * count) / biased),
    floor((context.breakLength - context.indentation) / width),
    context.compact * 4,
    15,
  );
  if (columns <= 1) return entries;
  const widths = [];
  for (let column = 0; column < columns; column++) {
    let here = 0;
    for (let i = column; i < count; i += columns) here = max(here, lengths[i]);
    push(widths, here + 2);
  }
  let toRight = true;
  for (let i = 0; toRight && i < entries.length; i++) {
    if (typeof list[i] !== 'number' && typeof list[i] !== 'bigint') toRight = false;
  }
  const rows = [];
  for (let from = 0; from < count; from += columns) {
    const to = min(from + columns, count);
    let row = '';
    for (let i = from; i < to; i++) {
      const isLast = i === to - 1;
      const text = isLast ? entries[i] : entries[i] + ', ';
      const space = repeat(' ', max(widths[i - from] - (isLast ? 2 : 0) - lengths[i] - (isLast ? 0 : 2), 0));
      row += toRight ? space + text : isLast ? text : text + space;
    }
    push(rows, row);
  }
  if (hasRest) push(rows, entries[count]);
  return rows;
};

// Symbol of the method by which a value describes itself.
const customInspect = Symbol.for('nodejs.util.inspect.custom');

// The function `util.inspect`, as scripts see it.
let publicInspect;

const formatCustom = (value, context, depth) => {
  const custom = value[customInspect];
  if (typeof custom !== 'function' || custom === publicInspect) return undefined;
  const constructor = value.constructor;
  if (isObject(constructor) && constructor.prototype === value) return undefined;
  const options = {};
  for (let i = 0; i < optionNames.length; i++) options[optionNames[i]] = context[optionNames[i]];
  const left = context.depth === Infinity ? Infinity : context.depth - depth;
  options.depth = left;
  options.stylize = (text, style) => (style in styles ? stylize(context, '' + text, style) : '' + text);
  const given = apply(custom, value, [left, options, publicInspect]);
  if (given === value) return undefined;
  const text = isObject(given) ? formatValue(given, context, depth) : '' + given;
  return reindent(text, context.indentation);
};

// Formats one value at a depth.
const formatValue = (given, context, depth) => {
  if (!isObject(given)) return formatPrimitive(given, context);
  let value = given;
  while (native.isProxy(value)) {
    if (context.showProxy) return formatProxy(value, context, depth);
    value = native.proxyTarget(value);
    if (value === null) return stylize(context, '<Revoked Proxy>', 'special');
  }
  if (context.customInspect) {
    const custom = formatCustom(value, context, depth);
    if (custom !== undefined) return custom;
  }
  for (let i = 0; i < context.open.length; i++) {
    if (context.open[i] !== value) continue;
    context.circular ??= new Map();
    if (!mapHas(context.circular, value)) mapSet(context.circular, value, mapSize(context.circular) + 1);
    return stylize(context, '[Circular *' + mapGet(context.circular, value) + ']', 'special');
  }
  return formatObject(value, context, depth);
};

const formatProxy = (value, context, depth) => {
  if (depth > context.depth) return stylize(context, 'Proxy [Array]', 'special');
  context.deepest = depth;
  context.indentation += 2;
  const target = native.proxyTarget(value);
  const parts = [
    formatValue(target, context, depth + 1),
    formatValue(native.proxyHandler(value), context, depth + 1),
  ];
  context.indentation -= 2;
  return intoLines(parts, 'Proxy [', ']', '', context, depth, false);
};

// Returns the name for a value without a prototype.
const standardNameOf = (value) => {
  if (isArray(value)) return 'Array';
  const name = native.className(value);
  return name === 'Map' || name === 'Set' ? name : 'Object';
};

const formatObject = (value, context, depth) => {
  const isFunction = typeof value === 'function';
  const parts = isFunction ? { base: formatFunction(value), style: 'special' } : (formatterFor(value)?.(value, context) ?? {});
  const { base = '', isList = false, close = '}', style, items } = parts;
  const name = constructorName(value);
  const tag = tagOf(value);
  const plainOpen = name === 'Object' && (tag === '' || tag === 'Object') ? '{' : prefixOf(value, 'Object') + '{';
  const open = parts.open ?? (base !== '' ? '{' : plainOpen);
  const keys = parts.keys?.(shownKeys(value, isList, context)) ?? shownKeys(value, isList, context);
  if (keys.length === 0 && (items === undefined || parts.size === 0)) {
    if (base === '') return open + close;
    return style !== undefined ? stylize(context, base, style) : base;
  }
  if (depth > context.depth) {
    const kind = isArray(value) && name !== null ? name : trim(prefixOf(value, standardNameOf(value)));
    return stylize(context, name === null ? kind : '[' + kind + ']', 'special');
  }
  context.deepest = depth;
  push(context.open, value);
  const entries = items?.(context, depth + 1) ?? [];
  for (let i = 0; i < keys.length; i++) push(entries, formatProperty(value, keys[i], context, depth + 1, false));
  context.open.length--;
  if (context.sorted && !isList) {
    sort(entries, typeof context.sorted === 'function' ? context.sorted : (a, b) => (a < b ? -1 : a > b ? 1 : 0));
  }
  const output =
    isList && typeof context.compact === 'number' && context.compact >= 1 && entries.length > 6
      ? intoColumns(entries, value, context)
      : entries;
  const reference = context.circular !== undefined && mapHas(context.circular, value)
    ? stylize(context, '<ref *' + mapGet(context.circular, value) + '>', 'special') + ' '
    : '';
  const isCompact = context.compact === true;
  const head = isCompact ? reference + open : open;
  const start = isCompact ? base : base === '' ? trim(reference) : reference + base;
  return intoLines(output, head, close, start, context, depth, output !== entries);
};

// Returns the context of one call: the options, and state that is collected on the way.
const makeContext = (options) => {
  const context = { __proto__: null, ...standardOptions, deepest: 0, indentation: 0, open: [], circular: undefined };
  if (isObject(options)) {
    for (let i = 0; i < optionNames.length; i++) {
      const key = optionNames[i];
      if (options[key] !== undefined) context[key] = options[key];
    }
  }
  if (context.depth === null) context.depth = Infinity;
  if (context.maxArrayLength === null) context.maxArrayLength = Infinity;
  if (context.maxStringLength === null) context.maxStringLength = Infinity;
  return context;
};

// Formats a value. `options` are those of `util.inspect`, or only a depth.
const inspect = (value, options) =>
  formatValue(value, makeContext(typeof options === 'number' ? { depth: options } : options), 0);
// Formats a value without running code that belongs to it.
const inspectSafely = (value) => inspect(value, safeOptions);

// Returns a quoted string, cut after 25 characters.
const shortened = (text) => {
  const shown = text.length > 28 ? substring(text, 0, 25) + '...' : text;
  return includes(shown, "'") ? stringifyJson(shown) : "'" + shown + "'";
};

// Returns the end of Node's error messages about an invalid argument, which describes the given value.
const received = (value) => {
  if (value === undefined || value === null) return ' Received ' + value;
  if (typeof value === 'function') return ' Received function ' + value.name;
  if (typeof value === 'object') {
    const name = value.constructor?.name;
    return name ? ' Received an instance of ' + name : ' Received ' + inspect(value, { depth: -1 });
  }
  return ' Received type ' + typeof value + ' (' + (typeof value === 'string' ? shortened(value) : inspect(value, { colors: false })) + ')';
};
