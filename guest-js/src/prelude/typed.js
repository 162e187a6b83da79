// Inputs that a person types, one after another: what one declares at its top level, the next one finds as a global.
//
// Each is run in a realm of its own, so what it declared is carried over, behind what is kept of `state`. A variable is
//
//   ["x", "v", value]                 a copy of its value, written as those of `state` are
//   ["f", "t", text]                  a function or class of the top level: it sees globals only, so its text says it all
//   ["fs", "r", "node:fs", "name"]    what `require` gave: all of it if there is no name
//   ["a", "i", "./a.js", "name"]      what `import` gave
//
// `_` is the last value that was shown, unless the inputs declare it themselves.

const globalEval = globalThis.eval;

// What is to be kept, by name; in the order in which it was declared.
let variables = new Map();
// Whether the script is such an input, and what it may find in the global object that no input declared.
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

// Takes over what earlier inputs left. To a script that nobody typed it is of no concern, but it leaves it in its turn.
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

// The script is an input. `declared` is what it declares: rows as above; those of values lack them.
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

// The value of the input, as it is shown.
const showTyped = (value) => {
  native.stdout(inspect(value, { colors: typed.colors }) + '\n');
  if (value === undefined || typed.ownLast) return;
  const own = mapGet(variables, '_');
  if (own !== undefined && own[1] !== 'v') return;
  defineShown(globalThis, '_', value);
};

// Reads a variable; undefined for one that is not there (yet). It is in an object, so that it can be `undefined` itself.
// What this input declares may be no property of the global object.
const readVariable = (name, fresh) => {
  try {
    if (fresh) return { __proto__: null, value: globalEval(name) };
    return hasOwn(globalThis, name) ? { __proto__: null, value: globalThis[name] } : undefined;
  } catch {
    return undefined;
  }
};

// All names that the inputs declared so far, and how.
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

// Whether a variable can be had again as it was declared.
const isStill = (how, value) => {
  if (how[1] === 't') return typeof value === 'function' && functionToString(value) === how[2];
  if (how[1] === 'r') return value === valueAgain(how);
  // An import cannot be assigned to; the global that stands for it later can.
  return how[1] === 'i' && (how.fresh === true || value === how.value);
};

// A copy of a value, or why there is none. Copies share what the values share; of a failed one nothing is shared.
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

// What is kept of all variables: rows, with copies of values.
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
    // What was only shown was never promised.
    if (name !== '_') push(lost, '`' + name + '` (' + why + ')');
    return undefined;
  });
  if (lost.length > 0) complain('not kept for the next input: ' + join(lost, ', '));
  return rows;
};
