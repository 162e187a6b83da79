// `console`: writes to standard output, and warnings and errors to standard error. Strings at the top level are written
// without quotes.

const formatArgument = (value, options) => {
  if (typeof value === 'string') return value;
  return options === undefined && !isObject(value) ? formatPrimitive(value, standardOptions) : inspect(value, options);
};

// Matches the text of a built-in function, which no function of a script can have.
const builtInText = /^[^{]*\) \{\n {4}\[native code\]\n\}$/;
const isBuiltIn = (value) => regExpTest(builtInText, functionToString(value));

// Returns true if the `toString` of a value belongs to the script, and not to a class of the language.
const hasOwnText = (value) => {
  if (native.isProxy(value)) return false;
  for (let at = value; at !== null; at = getPrototypeOf(at)) {
    if (native.isProxy(at)) return false;
    if (!hasOwn(at, 'toString')) continue;
    const constructor = getOwnPropertyDescriptor(at, 'constructor')?.value;
    return at === value || typeof constructor !== 'function' || !weakHas(engineFunctions, constructor);
  }
  return false;
};

// Conversions of the `%` directives.
const directives = {
  __proto__: null,
  s: (value, options) => {
    if (typeof value === 'bigint') return bigIntToString(value) + 'n';
    if (typeof value === 'number') return formatNumber(value);
    if (typeof value !== 'object' || value === null) return String(value);
    return hasOwnText(value) ? String(value) : inspect(value, { ...options, depth: 0, colors: false, compact: 3 });
  },
  d: (value) =>
    typeof value === 'bigint'
      ? bigIntToString(value) + 'n'
      : typeof value === 'symbol'
        ? 'NaN'
        : formatNumber(Number(value)),
  i: (value) =>
    typeof value === 'bigint'
      ? bigIntToString(value) + 'n'
      : typeof value === 'symbol'
        ? 'NaN'
        : formatNumber(parseInt(value)),
  f: (value) => (typeof value === 'symbol' ? 'NaN' : formatNumber(parseFloat(value))),
  j: (value) => {
    try {
      return stringifyJson(value);
    } catch (error) {
      if (holdsItself(value, [])) return '[Circular]';
      throw error;
    }
  },
  o: (value, options) => inspect(value, { ...options, depth: 4, showHidden: true, showProxy: true }),
  O: (value, options) => inspect(value, options),
  c: () => '',
};
const { parseFloat, parseInt } = globalThis;

// Returns true for a value that contains itself.
const holdsItself = (value, above) => {
  if (!isObject(value) || typeof value === 'function') return false;
  if (contains(above, value)) return true;
  push(above, value);
  const keys = objectKeys(value);
  let found = false;
  for (let i = 0; i < keys.length && !found; i++) found = holdsItself(value[keys[i]], above);
  above.length--;
  return found;
};

// Returns the text of one call: a format string with its values, then the remaining values, separated by blanks.
const formatLine = (values, options) => {
  if (values.length === 0) return '';
  let text = '';
  let used = 0;
  if (typeof values[0] === 'string' && values.length > 1) {
    const form = values[0];
    used = 1;
    let from = 0;
    for (let i = 0; i + 1 < form.length; i++) {
      if (form[i] !== '%') continue;
      const kind = form[i + 1];
      if (kind === '%') {
        text += substring(form, from, i + 1);
      } else if (kind in directives && used < values.length) {
        text += substring(form, from, i) + directives[kind](values[used++], options);
      } else {
        continue;
      }
      from = i + 2;
      i++;
    }
    text += substring(form, from);
  } else {
    text = formatArgument(values[0], options);
    used = 1;
  }
  for (; used < values.length; used++) text += ' ' + formatArgument(values[used], options);
  return text;
};

// Replacements for `write` of `process.stdout` and `process.stderr`, if the script has set them.
const sinks = { __proto__: null, out: undefined, err: undefined };
const toOut = (text) => (sinks.out ?? native.stdout)(text);
const toErr = (text) => (sinks.err ?? native.stderr)(text);

const labelOf = (label) => (label === undefined ? 'default' : String(label));

// Draws a table with a frame. Its columns are those of all rows.
const drawTable = (heads, rows) => {
  const widths = mapList(heads, (head, column) => {
    let widest = textWidth(head);
    for (let i = 0; i < rows.length; i++) widest = max(widest, textWidth(rows[i][column]));
    return widest + 2;
  });
  const line = (left, between, right) =>
    left +
    join(
      mapList(widths, (width) => repeat('─', width)),
      between,
    ) +
    right;
  const row = (cells) =>
    '│' +
    join(
      mapList(cells, (cell, column) => ' ' + cell + repeat(' ', widths[column] - textWidth(cell) - 1)),
      '│',
    ) +
    '│';
  const lines = [line('┌', '┬', '┐'), row(heads), line('├', '┼', '┤')];
  for (let i = 0; i < rows.length; i++) push(lines, row(rows[i]));
  push(lines, line('└', '┴', '┘'));
  return join(lines, '\n');
};

// Returns the table of a Map or Set: its contents, in iteration order.
const entryTable = (give) => {
  const rows = [];
  give((item, key) => push(rows, ['' + rows.length, tableCell(key), tableCell(item)]));
  return drawTable(['(iteration index)', 'Key', 'Values'], rows);
};
const valueTable = (give) => {
  const rows = [];
  give((item) => push(rows, ['' + rows.length, tableCell(item)]));
  return drawTable(['(iteration index)', 'Values'], rows);
};
// Returns the table of the remaining items of an iterator of a Map or Set.
const iteratorTable = ({ left, at, areEntries }) => {
  if (!areEntries) return valueTable((add) => mapList(slice(left, at), (item) => add(item)));
  return entryTable((add) => mapList(slice(left, at), (entry) => add(entry[1], entry[0])));
};
// Formats a value in a table: the contents of a small object, and the name of a larger one.
const tableCell = (value) => {
  const isLarge = typeof value === 'object' && value !== null && !isArray(value) && objectKeys(value).length > 2;
  return inspect(value, { __proto__: null, depth: isLarge ? -1 : 0, maxArrayLength: 3, breakLength: Infinity });
};

const tableOf = (data, only) => {
  const kind = native.className(data);
  if (kind === 'Map') return entryTable((add) => mapForEach(data, add));
  if (kind === 'Set') return valueTable((add) => setForEach(data, add));
  if (kind in iteratorSteps) return iteratorTable(restOfIterator(data, iteratorSteps[kind]));
  const indices = [];
  const items = [];
  const addRow = (item, index) => {
    push(indices, String(index));
    push(items, item);
  };
  const keys = objectKeys(data);
  for (let i = 0; i < keys.length; i++) addRow(data[keys[i]], keys[i]);
  const columns = isArray(only) ? mapList(only, String) : [];
  let hasValues = false;
  for (let i = 0; i < items.length; i++) {
    if (!isObject(items[i])) hasValues = hasValues || !isArray(only);
    else if (!isArray(only)) {
      const keys = objectKeys(items[i]);
      for (let k = 0; k < keys.length; k++) if (!contains(columns, keys[k])) push(columns, keys[k]);
    }
  }
  const rows = mapList(items, (item, i) => {
    const cells = [indices[i]];
    const isRow = isObject(item);
    for (let c = 0; c < columns.length; c++) {
      push(cells, isRow && hasOwn(item, columns[c]) ? tableCell(item[columns[c]]) : '');
    }
    if (hasValues) push(cells, isRow ? '' : tableCell(item));
    return cells;
  });
  const heads = ['(index)'];
  for (let c = 0; c < columns.length; c++) push(heads, columns[c]);
  if (hasValues) push(heads, 'Values');
  return drawTable(heads, rows);
};

// Returns the functions of a console with these outputs. `step` is the indentation of a group, and `inspectOptions` are
// the options for showing values.
const makeConsole = (toOut, toErr, { step, inspectOptions }) => {
  const state = { __proto__: null, indent: '', counts: { __proto__: null }, timers: { __proto__: null } };
  const writeLine = (write, text) => {
    const { indent } = state;
    write((indent === '' ? text : indent + join(split(text, '\n'), '\n' + indent)) + '\n');
  };
  const printer = (name, write) =>
    ({
      [name](...values) {
        writeLine(write, formatLine(values, inspectOptions));
      },
    })[name];
  // As in Node, a warning of the process, which comes after what runs now.
  const warn = (text) => processEvents.warn(text);
  const elapsed = (label, method) => {
    const since = state.timers[label];
    if (since === undefined) {
      warn("No such label '" + label + "' for console." + method + '()');
      return undefined;
    }
    const millis = native.now() - since;
    return millis < 1000 ? round(millis * 1000) / 1000 + 'ms' : round(millis) / 1000 + 's';
  };

  const log = printer('log', toOut);
  const functions = {
    log,
    info: printer('info', toOut),
    debug: printer('debug', toOut),
    error: printer('error', toErr),
    warn: printer('warn', toErr),
    trace(...values) {
      const text = formatLine(values);
      const frames = cleanStack(captureStack(functions.trace));
      writeLine(toErr, 'Trace' + (text === '' ? '' : ': ' + text) + indentFrames(frames));
    },
    dir(value, options) {
      writeLine(toOut, inspect(value, { customInspect: false, ...inspectOptions, ...options }));
    },
    dirxml: log,
    table(data, columns) {
      if (columns !== undefined && !isArray(columns)) {
        throw nodeError(new TypeError('The "properties" argument must be an instance of Array.' + received(columns)), 'ERR_INVALID_ARG_TYPE');
      }
      if (isObject(data)) writeLine(toOut, tableOf(data, columns));
      else log(data);
    },
    group(...values) {
      if (values.length > 0) apply(log, undefined, values);
      state.indent += step;
    },
    groupEnd() {
      state.indent = substring(state.indent, step.length);
    },
    assert(condition, ...values) {
      if (condition) return;
      // As in Node, the first value becomes text.
      values[0] = values.length === 0 ? 'Assertion failed' : 'Assertion failed: ' + values[0];
      writeLine(toErr, formatLine(values));
    },
    count(label) {
      const name = labelOf(label);
      const times = (state.counts[name] ?? 0) + 1;
      state.counts[name] = times;
      writeLine(toOut, name + ': ' + times);
    },
    // As in Node, does nothing where standard output is not a terminal.
    clear() {},
    countReset(label) {
      const name = labelOf(label);
      if (state.counts[name] === undefined) warn("Count for '" + name + "' does not exist");
      delete state.counts[name];
    },
    time(label) {
      const name = labelOf(label);
      if (state.timers[name] !== undefined) warn("Label '" + name + "' already exists for console.time()");
      else state.timers[name] = native.now();
    },
    timeLog(label, ...values) {
      const name = labelOf(label);
      const time = elapsed(name, 'timeLog');
      if (time !== undefined)
        writeLine(toOut, name + ': ' + time + (values.length > 0 ? ' ' + formatLine(values) : ''));
    },
    timeEnd(label) {
      const name = labelOf(label);
      const time = elapsed(name, 'timeEnd');
      delete state.timers[name];
      if (time !== undefined) writeLine(toOut, name + ': ' + time);
    },
  };
  functions.groupCollapsed = functions.group;
  return functions;
};

const consoleFunctions = makeConsole(toOut, toErr, { __proto__: null, step: '  ' });
const consoleObject = {};
for (const name in consoleFunctions) consoleObject[name] = consoleFunctions[name];
define(consoleObject, symbolToStringTag, 'console');
defineGlobal('console', consoleObject);
