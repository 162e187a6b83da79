// Values as people read them, in the form that Node's `util.inspect` made familiar. It runs no code of the value: no
// getters, no proxy handlers. (Reading the name of a class is the exception.)

const lineWidth = 80;
const maxEntries = 100;
const maxStringLength = 10_000;

const escapes = {
  __proto__: null,
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
  '\v': '\\v',
  '\\': '\\\\',
};

// A string in quotes: single ones, unless it holds them and no others.
const quoteString = (text) => {
  const quote = !includes(text, "'") ? "'" : !includes(text, '"') ? '"' : !includes(text, '`') ? '`' : "'";
  let quoted = '';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = charCodeAt(text, i);
    if (unit >= 0x20 && unit !== 0x5c && unit !== 0x7f && text[i] !== quote) continue;
    const escape =
      escapes[text[i]] ?? (text[i] === quote ? '\\' + quote : '\\x' + padStart(numberToString(unit, 16), 2, '0'));
    quoted += substring(text, from, i) + escape;
    from = i + 1;
  }
  return quote + quoted + substring(text, from) + quote;
};

const formatNumber = (number) => (objectIs(number, -0) ? '-0' : '' + number);

const plainKey = /^[a-zA-Z_$][a-zA-Z_$0-9]*$/;
const formatKey = (key) => {
  if (typeof key === 'symbol') return '[' + symbolToString(key) + ']';
  return regExpTest(plainKey, key) ? key : quoteString(key);
};

const formatPrimitive = (value, context) => {
  switch (typeof value) {
    case 'string': {
      const left = value.length - maxStringLength;
      const shown = left > 0 && context.depthNow > 0 ? substring(value, 0, maxStringLength) : value;
      return quoteString(shown) + (shown === value ? '' : '... ' + left + ' more characters');
    }
    case 'number':
      return formatNumber(value);
    case 'bigint':
      return bigIntToString(value) + 'n';
    case 'symbol':
      return symbolToString(value);
    default:
      return '' + value;
  }
};

// The name of the class of an object, null if it has no prototype.
const constructorName = (object) => {
  for (let at = object; at !== null; at = getPrototypeOf(at)) {
    if (native.isProxy(at)) return 'Object';
    const property = getOwnPropertyDescriptor(at, 'constructor');
    if (property !== undefined && typeof property.value === 'function') {
      const name = getOwnPropertyDescriptor(property.value, 'name');
      if (typeof name?.value === 'string' && name.value !== '') return name.value;
    }
  }
  return null;
};

const tagOf = (object, name) => {
  const property =
    getOwnPropertyDescriptor(object, symbolToStringTag) ??
    (getPrototypeOf(object) === null || native.isProxy(getPrototypeOf(object))
      ? undefined
      : getOwnPropertyDescriptor(getPrototypeOf(object), symbolToStringTag));
  return typeof property?.value === 'string' && property.value !== '' && property.value !== name
    ? ' [' + property.value + ']'
    : '';
};

// `Map(2) `, or nothing where the kind of brackets says it all.
const prefixOf = (object, standard, size) => {
  const name = constructorName(object);
  const shown = name === null ? '[' + standard + ': null prototype]' : name;
  const count = size === undefined ? '' : '(' + size + ')';
  return '' + shown + count + tagOf(object, shown) + ' ';
};

const formatFunction = (value) => {
  const own = getOwnPropertyDescriptor(value, 'name');
  const name = typeof own?.value === 'string' ? own.value : '';
  const source = native.isProxy(value) ? '' : functionToString(value);
  if (startsWith(source, 'class')) {
    const parent = getPrototypeOf(value);
    const of = typeof parent === 'function' && parent.name ? ' extends ' + parent.name : '';
    return '[class ' + (name === '' ? '(anonymous)' : name) + of + ']';
  }
  const kind = native.className(value);
  const word =
    kind === 'AsyncFunction' || kind === 'GeneratorFunction' || kind === 'AsyncGeneratorFunction' ? kind : 'Function';
  return name === '' ? '[' + word + ' (anonymous)]' : '[' + word + ': ' + name + ']';
};

const formatError = (error, context) => {
  const frames = framesOf(error);
  const header = headerOf(error);
  return frames === '' ? '[' + header + ']' : header + reindent(indentFrames(frames), context.indentation);
};

const reindent = (text, by) => (by === 0 ? text : join(split(text, '\n'), '\n' + repeat(' ', by)));

// The own properties worth showing, beyond elements: enumerable ones.
const shownKeys = (object, isList) => {
  const all = ownKeys(object);
  const keys = [];
  for (let i = 0; i < all.length; i++) {
    const key = all[i];
    if (isList && typeof key === 'string' && isIndex(key)) continue;
    if (isEnumerable(object, key)) push(keys, key);
  }
  return keys;
};

const isIndex = (key) => {
  const first = charCodeAt(key, 0);
  return first >= 48 && first <= 57 && key === '' + (key >>> 0);
};

const formatProperty = (object, key, context, depth, isElement) => {
  const property = getOwnPropertyDescriptor(object, key);
  let text;
  if (property === undefined) text = 'undefined';
  else if (property.get !== undefined) text = property.set === undefined ? '[Getter]' : '[Getter/Setter]';
  else if (property.set !== undefined) text = '[Setter]';
  else {
    context.indentation += 2;
    text = formatValue(property.value, context, depth);
    context.indentation -= 2;
  }
  return isElement ? text : formatKey(key) + ': ' + text;
};

const more = (left) => '... ' + left + ' more item' + (left === 1 ? '' : 's');

// The elements of a list, runs of holes counted.
const formatElements = (list, length, context, depth) => {
  const entries = [];
  let index = 0;
  for (; index < length && entries.length < maxEntries; index++) {
    if (hasOwn(list, index)) {
      push(entries, formatProperty(list, '' + index, context, depth, true));
      continue;
    }
    const from = index;
    while (index + 1 < length && !hasOwn(list, index + 1)) index++;
    const holes = index + 1 - from;
    push(entries, '<' + holes + ' empty item' + (holes === 1 ? '' : 's') + '>');
  }
  if (index < length) push(entries, more(length - index));
  return entries;
};

const formatInner = (value, context, depth) => {
  context.indentation += 2;
  const text = formatValue(value, context, depth);
  context.indentation -= 2;
  return text;
};

// What stands between the brackets before the properties, for each class that holds something. Each gives
// `{entries, open, close, base, isList}`; `open` has its prefix, `base` stands before it.
const formatters = {
  __proto__: null,
  Array(value, context, depth) {
    const name = constructorName(value);
    const open = name === 'Array' ? '[' : prefixOf(value, 'Array', value.length) + '[';
    return { entries: formatElements(value, value.length, context, depth), open, close: ']', isList: true };
  },
  TypedArray(value, context, depth) {
    const length = typedArrayLength(value);
    const open = prefixOf(value, typedArrayTag(value), length) + '[';
    const entries = [];
    for (let i = 0; i < length && i < maxEntries; i++) push(entries, formatPrimitive(value[i], context));
    if (length > maxEntries) push(entries, more(length - maxEntries));
    return { entries, open, close: ']', isList: true };
  },
  Map(value, context, depth) {
    const entries = [];
    let left = 0;
    mapForEach(value, (item, key) => {
      if (entries.length === maxEntries) left++;
      else push(entries, formatInner(key, context, depth) + ' => ' + formatInner(item, context, depth));
    });
    if (left > 0) push(entries, more(left));
    return { entries, open: prefixOf(value, 'Map', mapSize(value)) + '{', close: '}' };
  },
  Set(value, context, depth) {
    const entries = [];
    let left = 0;
    setForEach(value, (item) => {
      if (entries.length === maxEntries) left++;
      else push(entries, formatInner(item, context, depth));
    });
    if (left > 0) push(entries, more(left));
    return { entries, open: prefixOf(value, 'Set', setSize(value)) + '{', close: '}' };
  },
  Promise(value, context, depth) {
    const { state, value: result } = native.promiseState(value);
    const inner = state === 'pending' ? '<pending>' : formatInner(result, context, depth);
    return {
      entries: [state === 'rejected' ? '<rejected> ' + inner : inner],
      open: prefixOf(value, 'Promise') + '{',
      close: '}',
    };
  },
  ArrayBuffer(value) {
    const bytes = new Uint8Array(value);
    const hex = [];
    for (let i = 0; i < bytes.length && i < 50; i++) push(hex, padStart(numberToString(bytes[i], 16), 2, '0'));
    const rest = bytes.length > 50 ? ' ... ' + (bytes.length - 50) + ' more bytes' : '';
    const entries = ['[Uint8Contents]: <' + join(hex, ' ') + rest + '>', 'byteLength: ' + bytes.length];
    return { entries, open: prefixOf(value, 'ArrayBuffer') + '{', close: '}' };
  },
  Date: (value) => ({ base: isNan(dateValue(value)) ? 'Invalid Date' : dateToIso(value) }),
  RegExp: (value) => ({ base: regExpToString(value) }),
  Error: (value, context) => ({ base: formatError(value, context) }),
  Number: (value) => ({ base: '[Number: ' + formatNumber(Number(value)) + ']' }),
  String: (value) => ({ base: '[String: ' + quoteString(String(value)) + ']', isList: true }),
  Boolean: (value) => ({ base: '[Boolean: ' + objectToBoolean(value) + ']' }),
  Symbol: (value) => ({ base: '[Symbol: ' + symbolToString(value) + ']' }),
  WeakMap: () => ({ entries: ['<items unknown>'], open: 'WeakMap {', close: '}' }),
  WeakSet: () => ({ entries: ['<items unknown>'], open: 'WeakSet {', close: '}' }),
};

const formatterFor = (value) => {
  if (isArray(value)) return formatters.Array;
  if (typedArrayTag(value) !== undefined) return formatters.TypedArray;
  const name = native.className(value);
  if (name === 'DOMException') return formatters.Error;
  return name !== 'Array' && name !== 'TypedArray' ? formatters[name] : undefined;
};

const formatObject = (value, context, depth) => {
  const isFunction = typeof value === 'function';
  const parts = isFunction ? { base: formatFunction(value) } : (formatterFor(value)?.(value, context, depth) ?? {});
  const { entries = [], base = '', isList = false } = parts;
  const name = constructorName(value);
  const tag = base !== '' ? '' : tagOf(value, name);
  const open =
    parts.open ?? (base !== '' || (name === 'Object' && tag === '') ? '{' : prefixOf(value, 'Object') + '{');
  const close = parts.close ?? '}';
  const keys = shownKeys(value, isList);
  for (let i = 0; i < keys.length; i++) {
    if (base !== '' && !isFunction && keys[i] === 'stack') continue;
    push(entries, formatProperty(value, keys[i], context, depth, false));
  }
  if (native.className(value) === 'Error') addCauses(value, entries, context, depth);
  if (entries.length === 0) return base !== '' ? base : open + close;
  const output =
    isList && base === '' && keys.length === 0 && entries.length > 6 ? intoColumns(entries, value, context) : entries;
  return intoLines(output, open, close, base, context, depth, output !== entries);
};

// What an error was caused by, and what it gathers: properties that are not enumerable.
const addCauses = (error, entries, context, depth) => {
  if (hasOwn(error, 'cause') && !isEnumerable(error, 'cause')) {
    push(entries, '[cause]: ' + formatProperty(error, 'cause', context, depth, true));
  }
  if (hasOwn(error, 'errors') && !isEnumerable(error, 'errors')) {
    push(entries, '[errors]: ' + formatProperty(error, 'errors', context, depth, true));
  }
};

// Brackets around entries: on one line if they are few, short and not deep, else one a line.
const intoLines = (output, open, close, base, context, depth, inColumns) => {
  const start = base === '' ? open : base + ' ' + open;
  if (!inColumns && context.deepest - depth < 3) {
    let length = output.length + start.length + context.indentation + 10;
    let oneLine = true;
    for (let i = 0; i < output.length; i++) {
      length += output[i].length;
      if (includes(output[i], '\n')) oneLine = false;
    }
    if (oneLine && length + output.length <= lineWidth) return start + ' ' + join(output, ', ') + ' ' + close;
  }
  const line = '\n' + repeat(' ', context.indentation);
  return '' + start + line + '  ' + join(output, ',' + line + '  ') + line + close;
};

// Many short elements in columns, as wide as suits them.
const intoColumns = (entries, list, context) => {
  const hasRest = startsWith(entries[entries.length - 1], '... ') && entries.length > maxEntries;
  const count = hasRest ? entries.length - 1 : entries.length;
  let total = 0;
  let widest = 0;
  for (let i = 0; i < count; i++) {
    total += entries[i].length + 2;
    widest = max(widest, entries[i].length);
  }
  const width = widest + 2;
  if (width * 3 + context.indentation >= lineWidth || !(total / width > 5 || widest <= 6)) return entries;
  const bias = sqrt(width - total / entries.length);
  const biased = max(width - 3 - bias, 1);
  const columns = min(
    round(sqrt(2.5 * biased * count) / biased),
    floor((lineWidth - context.indentation) / width),
    12,
    15,
  );
  if (columns <= 1) return entries;
  const widths = [];
  for (let column = 0; column < columns; column++) {
    let here = 0;
    for (let i = column; i < count; i += columns) here = max(here, entries[i].length);
    push(widths, here + 2);
  }
  const first = list[0];
  const pad = typeof first === 'number' || typeof first === 'bigint' ? padStart : padEnd;
  const rows = [];
  for (let from = 0; from < count; from += columns) {
    const to = min(from + columns, count);
    let row = '';
    for (let i = from; i < to - 1; i++) row += pad(entries[i] + ', ', widths[i - from], ' ');
    row += pad === padStart ? pad(entries[to - 1], widths[to - 1 - from] - 2, ' ') : entries[to - 1];
    push(rows, row);
  }
  if (hasRest) push(rows, entries[count]);
  return rows;
};

// One value, at a depth below the one that was asked for.
const formatValue = (value, context, depth) => {
  if (!isObject(value)) return formatPrimitive(value, context);
  if (native.isProxy(value)) return typeof value === 'function' ? '[Function (proxy)]' : '[Proxy]';
  for (let i = 0; i < context.open.length; i++) {
    if (context.open[i] !== value) continue;
    if (!mapHas(context.circular, value)) mapSet(context.circular, value, mapSize(context.circular) + 1);
    return '[Circular *' + mapGet(context.circular, value) + ']';
  }
  if (depth > context.depth && typeof value !== 'function' && !isPlainText(value)) {
    if (isArray(value)) return '[Array]';
    return '[' + trim(prefixOf(value, 'Object')) + ']';
  }
  context.deepest = depth;
  context.depthNow++;
  push(context.open, value);
  const text = formatObject(value, context, depth + 1);
  context.open.length--;
  context.depthNow--;
  return mapHas(context.circular, value) ? '<ref *' + mapGet(context.circular, value) + '> ' + text : text;
};

// Whether a value is shown as text, however deep it is.
const isPlainText = (value) => contains(['Date', 'RegExp', 'Error', 'DOMException'], native.className(value));

const inspect = (value, depth = 2) =>
  formatValue(
    value,
    { __proto__: null, depth, deepest: 0, depthNow: 0, indentation: 0, open: [], circular: new Map() },
    0,
  );
