// `console`: to standard output, what warns to standard error. Strings at the top level are written as they are.

const formatArgument = (value, options) => {
  if (typeof value === 'string') return value;
  return options === undefined && !isObject(value) ? formatPrimitive(value, standardOptions) : inspect(value, options);
};

// Returns true for a function that no script wrote: its text is none that a script could write.
const builtInText = /^[^{]*\) \{\n {4}\[native code\]\n\}$/;
const isBuiltIn = (value) => regExpTest(builtInText, functionToString(value));

// Whether what turns a value into text is the language's own.
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

// What one `%` directive makes of its value.
const directives = {
  __proto__: null,
  s: (value) => {
    if (typeof value === 'bigint') return bigIntToString(value) + 'n';
    if (typeof value === 'number') return formatNumber(value);
    if (typeof value !== 'object' || value === null) return String(value);
    return hasOwnText(value) ? String(value) : inspect(value, { depth: 0 });
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
  o: (value) => inspect(value, { depth: 4, showHidden: true, showProxy: true }),
  O: (value) => inspect(value),
  c: () => '',
};
const { parseFloat, parseInt } = globalThis;

// Returns true for a value that is found again within itself.
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

// The text of one call: a format string with its values, then the rest with blanks between.
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
        text += substring(form, from, i) + directives[kind](values[used++]);
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

// Where it is written: what stands in for `write` of `process.stdout` and `process.stderr`, if the script put something there.
const sinks = { __proto__: null, out: undefined, err: undefined };
const toOut = (text) => (sinks.out ?? native.stdout)(text);
const toErr = (text) => (sinks.err ?? native.stderr)(text);

const labelOf = (label) => (label === undefined ? 'default' : String(label));

// A table with a frame, its columns those of all rows.
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

// As a Map or Set is shown: what it holds, in the order in which it gives it.
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
// What an iterator of a Map or a Set has left.
const iteratorTable = ({ left, at, areEntries }) => {
  if (!areEntries) return valueTable((add) => mapList(slice(left, at), (item) => add(item)));
  return entryTable((add) => mapList(slice(left, at), (entry) => add(entry[1], entry[0])));
};
// A value in a table: the contents of a small object, the name of a larger one.
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
    if (!isObject(items[i]) || typeof items[i] === 'function') hasValues = hasValues || !isArray(only);
    else if (!isArray(only)) {
      const keys = objectKeys(items[i]);
      for (let k = 0; k < keys.length; k++) if (!contains(columns, keys[k])) push(columns, keys[k]);
    }
  }
  const rows = mapList(items, (item, i) => {
    const cells = [indices[i]];
    const isRow = isObject(item) && typeof item !== 'function';
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

// The functions of a console that writes to these.
// `step` is what a group adds in front of its lines, `inspectOptions` is how values are shown.
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
  const warn = (text) => toErr('(node:1) Warning: ' + text + '\n');
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
      const text = formatLine(values);
      writeLine(toErr, text === '' ? 'Assertion failed' : 'Assertion failed: ' + text);
    },
    count(label) {
      const name = labelOf(label);
      const times = (state.counts[name] ?? 0) + 1;
      state.counts[name] = times;
      writeLine(toOut, name + ': ' + times);
    },
    // Node does nothing either where standard output is no terminal.
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
