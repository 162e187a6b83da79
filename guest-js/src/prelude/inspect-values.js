// Formatters for instances of the language's own classes.
//
// Each formatter returns `{base, open, close, isList, style, keys, size, items}`: `base` is the text before the
// brackets, `open` includes its prefix, `keys` selects properties, and `items` makes the `size` entries that are not
// properties.

// Returns true if a function is a class. Its text tells, except for the guest's own classes, which are compiled without
// text, and are recognized by not being part of the engine.
const isClass = (value, source) => {
  // As in Node, a call before the body (`class A extends Mixin(B) {`) hides that it is a class.
  if (startsWith(source, 'class')) return !includes(substring(source, 0, indexOf(source, '{')), '(');
  if (!isBuiltIn(value) || weakHas(engineFunctions, value)) return false;
  return getOwnPropertyDescriptor(value, 'prototype')?.writable === false;
};

const formatFunction = (value) => {
  const own = getOwnPropertyDescriptor(value, 'name');
  const name = typeof own?.value === 'string' ? own.value : '';
  const source = functionToString(value);
  const constructor = constructorName(value);
  const tag = tagOf(value);
  if (isClass(value, source)) {
    const parent = getPrototypeOf(value);
    let text = '[class ' + (name === '' ? '(anonymous)' : name);
    if (constructor !== 'Function' && constructor !== null) text += ' [' + constructor + ']';
    if (tag !== '' && tag !== constructor) text += ' [' + tag + ']';
    if (constructor === null) text += ' extends [null prototype]';
    else if (typeof parent === 'function' && parent.name) text += ' extends ' + parent.name;
    return text + ']';
  }
  const kind = native.className(value);
  const word =
    kind === 'AsyncFunction' || kind === 'GeneratorFunction' || kind === 'AsyncGeneratorFunction' ? kind : 'Function';
  let text = '[' + word + (constructor === null ? ' (null prototype)' : '');
  text += name === '' ? ' (anonymous)]' : ': ' + name + ']';
  if (constructor !== word && constructor !== null && constructor !== 'Function') text += ' ' + constructor;
  return tag !== '' && tag !== constructor && tag !== word ? text + ' [' + tag + ']' : text;
};

// Returns the first line of an error's stack, with the name of the class if it is missing.
const shownHeader = (error) => {
  const name = readString(error, 'name') ?? 'Error';
  const own = hasOwn(error, 'stack') ? readString(error, 'stack') : undefined;
  const header = own ? split(own, '\n    at ')[0] : headerOf(error);
  const constructor = constructorName(error);
  if (startsWith(header, name) && endsWith(name, 'Error') && constructor !== null && constructor !== name) {
    return includes(constructor, name)
      ? constructor + substring(header, name.length)
      : constructor + ' [' + name + ']' + substring(header, name.length);
  }
  return header;
};

// Returns the place and length of the first run of more than three lines that are in both lists.
const sharedRun = (lines, others) => {
  for (let i = 0; i < lines.length - 3; i++) {
    for (let at = 0; at < others.length - 3; at++) {
      if (lines[i] !== others[at]) continue;
      let count = 1;
      while (i + count < lines.length && at + count < others.length && lines[i + count] === others[at + count]) count++;
      if (count > 3) return { __proto__: null, at: i, count };
      break;
    }
  }
  return undefined;
};

// Shortens what the stack of an error has in common with that of its cause, as Node does.
const withoutSharedFrames = (error, frames, context) => {
  const cause = getOwnPropertyDescriptor(error, 'cause')?.value;
  if (!isObject(cause) || native.className(cause) !== 'Error') return frames;
  const lines = split(frames, '\n');
  const run = sharedRun(lines, split(framesOf(cause), '\n'));
  if (run === undefined) return frames;
  const left = run.count - 2;
  splice(lines, run.at + 1, left, stylize(context, '... ' + left + ' lines matching cause stack trace ...', 'undefined'));
  return join(lines, '\n');
};

// Returns the stack of an error, or its header in brackets if it has none.
const formatError = (error, context) => {
  const shown = shownHeader(error);
  const frames = withoutSharedFrames(error, framesOf(error), context);
  return frames === '' ? '[' + shown + ']' : reindent(shown + indentFrames(frames), context.indentation);
};

const errorKeys = (error, shown) => (keys) => {
  const kept = [];
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (key === 'stack') continue;
    if ((key === 'name' || key === 'message') && includes(shown, readString(error, key) ?? '\0')) continue;
    push(kept, key);
  }
  if (hasOwn(error, 'cause') && !contains(kept, 'cause')) push(kept, 'cause');
  if (hasOwn(error, 'errors') && isArray(error.errors) && !contains(kept, 'errors')) push(kept, 'errors');
  return kept;
};

// Returns what `inspect` shows of an error after its stack, except for some keys: `{ … }`, or undefined for nothing.
const propertiesBehind = (error, hidden) => {
  // Node shows uncaught errors to this depth.
  const context = makeContext({ __proto__: null, ...safeOptions, depth: 5 });
  const { base, keys } = formatters.Error(error, context);
  const shown = keys(shownKeys(error, false, context));
  const entries = [];
  push(context.open, error);
  for (let i = 0; i < shown.length; i++) {
    if (!contains(hidden, shown[i])) push(entries, formatProperty(error, shown[i], context, 1, false));
  }
  if (entries.length === 0) return undefined;
  return substring(intoLines(entries, '{', '}', base, context, 0, false), base.length + 1);
};

// Returns the index of the first element behind a hole, or the length. An array that is nearly empty may be very long: beyond some
// holes the elements are found by their keys, which the engine returns in the order of the indices.
const nextElement = (list, hole, length) => {
  for (let index = hole + 1; index < length; index++) {
    if (hasOwn(list, index)) return index;
    if (index - hole < 1000) continue;
    const keys = ownKeys(list);
    for (let i = 0; i < keys.length && typeof keys[i] === 'string' && isIndex(keys[i]); i++) if (+keys[i] > index) return +keys[i];
    break;
  }
  return length;
};

// Returns the elements of a list, with counts of consecutive holes.
const formatElements = (list, length, context, depth) => {
  const entries = [];
  let index = 0;
  for (; index < length && entries.length < context.maxArrayLength; index++) {
    if (hasOwn(list, index)) {
      push(entries, formatProperty(list, '' + index, context, depth, true));
      continue;
    }
    const from = index;
    index = nextElement(list, index, length) - 1;
    const holes = index + 1 - from;
    push(entries, stylize(context, '<' + holes + ' empty item' + (holes === 1 ? '' : 's') + '>', 'undefined'));
  }
  if (index < length) push(entries, more(length - index));
  return entries;
};

const withoutIndices = (keys) => {
  const kept = [];
  for (let i = 0; i < keys.length; i++) if (typeof keys[i] !== 'string' || !isIndex(keys[i])) push(kept, keys[i]);
  return kept;
};

const formatBoxed = (type, valueOf, isText) => (value, context) => {
  const inner = valueOf(value);
  const name = constructorName(value);
  const label = name === type ? type : name === null ? type + ' (null prototype)' : type + ' (' + name + ')';
  const plain = { __proto__: null, ...context, colors: false };
  return {
    base: '[' + label + ': ' + formatPrimitive(inner, plain) + ']',
    style: typeof inner,
    keys: isText ? (keys) => withoutIndices(keys) : undefined,
  };
};

const hexOfBytes = (bytes, context) => {
  const hex = [];
  const most = context.maxArrayLength;
  for (let i = 0; i < bytes.length && i < most; i++) push(hex, padStart(numberToString(bytes[i], 16), 2, '0'));
  const left = bytes.length - most;
  return join(hex, ' ') + (left > 0 ? ' ... ' + left + ' more byte' + (left === 1 ? '' : 's') : '');
};

// Remaining items of the iterators that were shown: `{left, at, areEntries}`.
const shownIterators = new WeakMap();

// Takes the remaining items of an iterator of a Map or a Set, and puts them back: the iterator's own `next` will return
// them.
//
// The engine can only find out the items by consuming them, and does not say whether they are entries. An entry is an
// array of two elements that only the iterator's result refers to, so a weak reference to it ends with that result.
const takeIterator = (iterator, step) => {
  const left = [];
  const takeFirst = () => {
    const { done, value } = step(iterator);
    if (done) return undefined;
    const isPair = isArray(value) && value.length === 2;
    push(left, isPair ? [value[0], value[1]] : value);
    return isPair ? new EngineWeakRef(value) : undefined;
  };
  const reference = takeFirst();
  const held = reference === undefined ? undefined : readWeakRef(reference);
  if (held !== undefined) left[0] = held;
  for (let result = step(iterator); !result.done; result = step(iterator)) push(left, result.value);
  const shown = { __proto__: null, left, at: 0, areEntries: reference !== undefined && held === undefined };
  weakSet(shownIterators, iterator, shown);
  const next = () =>
    shown.at < left.length ? { value: left[shown.at++], done: false } : { value: undefined, done: true };
  defineProperty(iterator, 'next', { __proto__: null, value: next, writable: true, configurable: true });
  return shown;
};

const restOfIterator = (iterator, step) => weakGet(shownIterators, iterator) ?? takeIterator(iterator, step);
const iteratorSteps = {
  __proto__: null,
  'Map Iterator': uncurry(getPrototypeOf(new Map().keys()).next),
  'Set Iterator': uncurry(getPrototypeOf(new Set().keys()).next),
};

const formatIterator = (name, step) => (value) => {
  const { left, at, areEntries } = restOfIterator(value, step);
  const items = (context, depth) => {
    const entries = [];
    for (let i = at; i < left.length && i - at < context.maxArrayLength; i++) push(entries, formatInner(left[i], context, areEntries ? depth - 1 : depth));
    if (left.length - at > entries.length) push(entries, more(left.length - at - entries.length));
    return entries;
  };
  // Node.js shows an empty iterator with the space that its entries would have.
  return { open: '[' + name + (areEntries ? ' Entries' : ' Iterator') + '] {', size: left.length - at + 1, items };
};

const formatters = {
  __proto__: null,
  Array(value) {
    const name = constructorName(value);
    const open = name === 'Array' ? '[' : prefixOf(value, 'Array', value.length) + '[';
    const items = (context, depth) => formatElements(value, value.length, context, depth);
    return { open, close: ']', isList: true, size: value.length, items };
  },
  TypedArray(value) {
    const length = typedArrayLength(value);
    const items = (context) => {
      const entries = [];
      for (let i = 0; i < length && i < context.maxArrayLength; i++) push(entries, formatPrimitive(value[i], context));
      if (length > entries.length) push(entries, more(length - entries.length));
      return entries;
    };
    return { open: prefixOf(value, typedArrayTag(value), length) + '[', close: ']', isList: true, size: length, items };
  },
  Map(value) {
    const items = (context, depth) => {
      const entries = [];
      let left = 0;
      mapForEach(value, (item, key) => {
        if (entries.length >= context.maxArrayLength) left++;
        else push(entries, formatInner(key, context, depth) + ' => ' + formatInner(item, context, depth));
      });
      if (left > 0) push(entries, more(left));
      return entries;
    };
    return { open: prefixOf(value, 'Map', mapSize(value)) + '{', size: mapSize(value), items };
  },
  Set(value) {
    const items = (context, depth) => {
      const entries = [];
      let left = 0;
      setForEach(value, (item) => {
        if (entries.length >= context.maxArrayLength) left++;
        else push(entries, formatInner(item, context, depth));
      });
      if (left > 0) push(entries, more(left));
      return entries;
    };
    return { open: prefixOf(value, 'Set', setSize(value)) + '{', size: setSize(value), items };
  },
  Promise(value) {
    const items = (context, depth) => {
      const { state, value: result } = native.promiseState(value);
      if (state === 'pending') return [stylize(context, '<pending>', 'special')];
      const inner = formatInner(result, context, depth);
      return [state === 'rejected' ? stylize(context, '<rejected>', 'special') + ' ' + inner : inner];
    };
    return { open: prefixOf(value, 'Promise') + '{', size: 1, items };
  },
  ArrayBuffer(value) {
    const items = (context) => {
      if (native.className(value) === 'ArrayBuffer' && isDetached(value)) return ['(detached)', 'byteLength: ' + stylize(context, '0', 'number')];
      const bytes = new Uint8Array(value);
      return [
        stylize(context, '[Uint8Contents]', 'special') + ': <' + hexOfBytes(bytes, context) + '>',
        'byteLength: ' + stylize(context, '' + bytes.length, 'number'),
      ];
    };
    return { open: prefixOf(value, 'ArrayBuffer') + '{', size: 1, items };
  },
  SharedArrayBuffer(value) {
    const items = (context) => formatters.ArrayBuffer(value).items(context);
    return { open: prefixOf(value, 'SharedArrayBuffer') + '{', size: 1, items };
  },
  DataView(value) {
    const items = (context, depth) => [
      'byteLength: ' + formatPrimitive(viewByteLength(value), context),
      'byteOffset: ' + formatPrimitive(viewOffset(value), context),
      'buffer: ' + formatInner(viewBuffer(value), context, depth),
    ];
    return { open: prefixOf(value, 'DataView') + '{', size: 3, items };
  },
  Date(value) {
    const name = constructorName(value);
    const text = isNan(dateValue(value)) ? 'Invalid Date' : dateToIso(value);
    return { base: name === 'Date' ? text : prefixOf(value, 'Date') + text, style: 'date' };
  },
  RegExp(value) {
    const name = constructorName(value);
    const text = regExpToString(value);
    return { base: name === 'RegExp' ? text : prefixOf(value, 'RegExp') + text, style: 'regexp' };
  },
  Error(value, context) {
    const base = formatError(value, context);
    return { base, keys: errorKeys(value, base) };
  },
  Number: formatBoxed('Number', uncurry(Number.prototype.valueOf), false),
  String: formatBoxed('String', uncurry(String.prototype.valueOf), true),
  Boolean: formatBoxed('Boolean', uncurry(Boolean.prototype.valueOf), false),
  BigInt: formatBoxed('BigInt', uncurry(BigInt.prototype.valueOf), false),
  Symbol: formatBoxed('Symbol', uncurry(Symbol.prototype.valueOf), false),
  Arguments: () => ({ open: '[Arguments] {' }),
  'Map Iterator': formatIterator('Map', iteratorSteps['Map Iterator']),
  'Set Iterator': formatIterator('Set', iteratorSteps['Set Iterator']),
  WeakMap: (value) => ({
    open: prefixOf(value, 'WeakMap') + '{',
    size: 1,
    items: (context) => [stylize(context, '<items unknown>', 'special')],
  }),
  WeakSet: (value) => ({
    open: prefixOf(value, 'WeakSet') + '{',
    size: 1,
    items: (context) => [stylize(context, '<items unknown>', 'special')],
  }),
};

const isInherited = uncurry(Object.prototype.isPrototypeOf);
const errorPrototype = Error.prototype;
const moduleFormatter = () => ({ open: '[Module: null prototype] {' });

const formatterFor = (value) => {
  if (isArray(value)) return formatters.Array;
  if (typedArrayTag(value) !== undefined) return formatters.TypedArray;
  const name = native.className(value);
  if (name === 'DOMException') return formatters.Error;
  if (getPrototypeOf(value) === null && tagOf(value) === 'Module') return moduleFormatter;
  // Errors of old code: `function Failure() {}` with a prototype that inherits from `Error.prototype`.
  if (name === 'Object' && isInherited(errorPrototype, value)) return formatters.Error;
  const formatter = name !== 'Array' && name !== 'TypedArray' ? formatters[name] : undefined;
  // As in Node, what has only the constructor of plain objects is shown as one: `Number.prototype`.
  const isPlain = formatter !== undefined && name !== 'Arguments' && !includes(name, 'Iterator') && constructorName(value) === 'Object';
  return isPlain && !(typeof value[symbolIterator] === 'function' && (name === 'Map' || name === 'Set')) ? undefined : formatter;
};
