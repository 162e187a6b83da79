// Inputs of an interactive session: the top-level declarations of one are globals of the next.
//
// Each input runs in a realm of its own, so declarations are carried over, after the values of `state`. A variable is
// one of
//
//   ["x", "v", value]                 a copy of its value, in the form of `state`
//   ["f", "t", text]                  a top-level function or class, by its text: it refers to globals only
//   ["fs", "r", "node:fs", "name"]    a result of `require`: the whole module if there is no name
//   ["a", "i", "./a.js", "name"]      a result of `import`
//
// `_` is the last value that was shown, unless the inputs declare it themselves.

const globalEval = globalThis.eval;

// Variables to keep, by name, in the order of their declaration.
let variables = new Map();
// State of the input, or undefined for a script that is not one. It has the names that may be in the global object
// without a declaration.
let typed;

const complain = (text) => native.stderr(text + '\n');
const whyNot = (error) => (isObject(error) ? (readString(error, 'message') ?? inspectSafely(error)) : String(error));

const importAgain = async () => {
  const wanted = [];
  mapForEach(variables, (how, name) => {
    if (how[1] === 'i' && how.value === undefined) push(wanted, how);
  });
  for (let i = 0; i < wanted.length; i++) {
    const how = wanted[i];
    try {
      const found = await importForMain(how[2], how.length > 3 ? [how[3]] : []);
      how.value = how.length > 3 ? found[how[3]] : found;
      defineShown(globalThis, how[0], how.value);
    } catch (error) {
      mapDelete(variables, how[0]);
      complain('`' + how[0] + '` is not imported from ' + quoteString(how[2]) + ' again: ' + whyNot(error));
    }
  }
};

const valueAgain = (how) => {
  if (how[1] === 'v') return how[2];
  if (how[1] === 't') return globalEval('(' + how[2] + '\n)');
  const found = mainRequire(how[2]);
  return how.length > 3 ? found[how[3]] : found;
};

// Restores what earlier inputs left. A script that is not an input ignores it, but leaves it to the next one.
const findVariables = (rows) => {
  for (let i = 0; i < rows.length; i++) mapSet(variables, rows[i][0], rows[i]);
  if (typed === undefined) return;
  for (let i = 0; i < rows.length; i++) {
    const how = rows[i];
    if (how[1] === 'i') continue;
    try {
      how.value = valueAgain(how);
      defineShown(globalThis, how[0], how.value);
    } catch (error) {
      mapDelete(variables, how[0]);
      complain('`' + how[0] + '` is not there any more: ' + whyNot(error));
    }
  }
};

// Begins an input. `declared` has its declarations as the rows above, in which values are missing.
const beginTyped = (colors) => {
  typed = { __proto__: null, colors, declared: [], known: objectKeys(globalThis) };
  define(globalThis, '__tollhouse_import', importForMain);
  define(globalThis, 'import_meta', importMeta);
};
const declareTyped = (declared) => {
  typed.declared = declared;
  for (let i = 0; i < declared.length; i++) if (declared[i][0] === '_') typed.ownLast = true;
};
const hasImports = () => {
  let found = false;
  mapForEach(variables, (how) => {
    if (how[1] === 'i') found = true;
  });
  if (found) define(globalThis, '__tollhouse_again', importAgain);
  return found;
};

// Returns the text that shows the value of the input.
const showTyped = (value) => {
  native.stdout(inspect(value, { colors: typed.colors }) + '\n');
  if (value === undefined || typed.ownLast) return;
  const own = mapGet(variables, '_');
  if (own !== undefined && own[1] !== 'v') return;
  defineShown(globalThis, '_', value);
};

// Reads a variable, wrapped in an object because its value may be `undefined`; undefined if it does not exist (yet). A
// declaration of this input need not be a property of the global object.
const readVariable = (name, fresh) => {
  try {
    if (fresh) return { __proto__: null, value: globalEval(name) };
    return hasOwn(globalThis, name) ? { __proto__: null, value: globalThis[name] } : undefined;
  } catch {
    return undefined;
  }
};

// Returns all names that the inputs have declared so far, and how.
const declaredSoFar = () => {
  const all = variables;
  if (typed === undefined) return all;
  for (let i = 0; i < typed.declared.length; i++) {
    const how = typed.declared[i];
    how.fresh = true;
    mapDelete(all, how[0]);
    mapSet(all, how[0], how);
  }
  const keys = objectKeys(globalThis);
  for (let i = 0; i < keys.length; i++) {
    if (!contains(typed.known, keys[i]) && !mapHas(all, keys[i])) mapSet(all, keys[i], [keys[i], 'v']);
  }
  return all;
};

// Returns true if a variable still has the value that it was declared with.
const isStill = (how, value) => {
  if (how[1] === 't') return typeof value === 'function' && functionToString(value) === how[2];
  if (how[1] === 'r') return value === valueAgain(how);
  // An import cannot be assigned to, but the global that stands for it in later inputs can.
  return how[1] === 'i' && (how.fresh === true || value === how.value);
};

// Copies a value, or returns the reason why that is impossible. Copies share objects as the originals do; a failed copy
// leaves nothing to share.
const copyVariable = (value, seen) => {
  const before = mapSize(seen);
  try {
    return { __proto__: null, copy: cloneValue(value, seen) };
  } catch (error) {
    let at = 0;
    const failed = [];
    mapForEach(seen, (copy, object) => {
      if (at++ >= before) push(failed, object);
    });
    for (let i = 0; i < failed.length; i++) mapDelete(seen, failed[i]);
    return { __proto__: null, why: typeof value === 'function' ? 'a function that sees more than globals' : whyNot(error) };
  }
};

// Returns rows for all variables, with copies of their values.
const keepVariables = (seen) => {
  const rows = [];
  const lost = [];
  mapForEach(declaredSoFar(), (how, name) => {
    if (typed === undefined && how[1] !== 'v') return push(rows, how);
    const read = typed === undefined ? { value: how[2] } : readVariable(name, how.fresh === true);
    if (read === undefined) return undefined;
    if (isStill(how, read.value)) return push(rows, how);
    cloneStrictly = true;
    const { copy, why } = copyVariable(read.value, seen);
    cloneStrictly = false;
    if (why === undefined) return push(rows, [name, 'v', copy]);
    // A value that was only shown need not be kept.
    if (name !== '_') push(lost, '`' + name + '` (' + why + ')');
    return undefined;
  });
  if (lost.length > 0) complain('not kept for the next input: ' + join(lost, ', '));
  return rows;
};
