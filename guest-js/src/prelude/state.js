// `state`: values that a script leaves for the next one of its session, if the host asks for them.
//
// Values that `structuredClone` can copy are kept, and a copy is written: it has no getters, and only classes of
// `cloners`. The text is a table of objects, which preserves cycles and shared objects: `[format, root, [[class, part,
// …], …], variables]`, all JSON; the last, of which `typed.js` knows, only if there are any. A value is
//
//   a string, boolean, null or finite number   itself
//   ["u"]                                      undefined
//   ["n", "NaN"]                               a number that JSON lacks
//   ["b", "123"]                               a bigint
//   ["r", 7]                                   the object in row 7
//
// The text is assembled here, because `JSON.stringify` would call a `toJSON` of the script.

const STATE_FORMAT = 1;

const readProperties = (parts, from, object, read) => {
  for (let i = from; i + 1 < parts.length; i += 2) defineShown(object, parts[i], read(parts[i + 1]));
};
const writeProperties = (value, write) => {
  const parts = [];
  const keys = objectKeys(value);
  for (let i = 0; i < keys.length; i++) {
    push(parts, write(keys[i]));
    push(parts, write(value[keys[i]]));
  }
  return parts;
};

const sourceOf = getter(RegExp.prototype, 'source');
const flagsOf = getter(RegExp.prototype, 'flags');
const writeBytes = (bytes, write) => write(native.encodeBase64(bytes));
const readBuffer = (text) => typedArrayBuffer(native.decodeBase64(text));
const boxed = (unbox) => ({
  write: (value, write) => [write(unbox(value))],
  make: (parts, read) => Object(read(parts[1])),
});

// Functions for each class: how its parts are written, how the object is created without the objects in it, and how
// those are added once all exist. Part 0 of a row is the class.
const stateClasses = {
  __proto__: null,
  Object: {
    write: writeProperties,
    make: () => ({}),
    fill: (object, parts, read) => readProperties(parts, 1, object, read),
  },
  // Array that has only elements.
  List: {
    write: (value, write) => mapList(value, (item) => write(item)),
    make: () => [],
    fill(array, parts, read) {
      for (let i = 1; i < parts.length; i++) push(array, read(parts[i]));
    },
  },
  // Any other array: its length, and properties.
  Array: {
    write(value, write) {
      const parts = [write(value.length)];
      const properties = writeProperties(value, write);
      for (let i = 0; i < properties.length; i++) push(parts, properties[i]);
      return parts;
    },
    make(parts) {
      const array = [];
      array.length = parts[1];
      return array;
    },
    fill: (array, parts, read) => readProperties(parts, 2, array, read),
  },
  Map: {
    write(value, write) {
      const parts = [];
      mapForEach(value, (item, key) => {
        push(parts, write(key));
        push(parts, write(item));
      });
      return parts;
    },
    make: () => new Map(),
    fill(map, parts, read) {
      for (let i = 1; i + 1 < parts.length; i += 2) mapSet(map, read(parts[i]), read(parts[i + 1]));
    },
  },
  Set: {
    write(value, write) {
      const parts = [];
      setForEach(value, (item) => push(parts, write(item)));
      return parts;
    },
    make: () => new Set(),
    fill(set, parts, read) {
      for (let i = 1; i < parts.length; i++) setAdd(set, read(parts[i]));
    },
  },
  Date: {
    write: (value, write) => [write(dateValue(value))],
    make: (parts, read) => new Date(read(parts[1])),
  },
  RegExp: {
    write: (value, write) => [write(sourceOf(value)), write(flagsOf(value))],
    make: (parts) => new RegExp(parts[1], parts[2]),
  },
  ArrayBuffer: {
    write: (value, write) => [writeBytes(new Uint8Array(value), write)],
    make: (parts) => readBuffer(parts[1]),
  },
  TypedArray: {
    write: (value, write) => [write(typedArrayTag(value)), writeBytes(asBytes(value), write)],
    make: (parts) => new typedArrayClasses[parts[1]](readBuffer(parts[2])),
  },
  DataView: {
    write: (value, write) => [writeBytes(asBytes(value), write)],
    make: (parts) => new DataView(readBuffer(parts[1])),
  },
  Error: {
    write(value, write) {
      const parts = [write(value.name), write(value.message), write(value.stack)];
      if (hasOwn(value, 'cause')) push(parts, write(value.cause));
      return parts;
    },
    make(parts) {
      const error = new (errorClasses[parts[1]] ?? Error)(parts[2]);
      define(error, 'stack', parts[3]);
      return error;
    },
    fill(error, parts, read) {
      if (parts.length > 4) define(error, 'cause', read(parts[4]));
    },
  },
  Number: boxed(objectToNumber),
  String: boxed(objectToString),
  Boolean: boxed(objectToBoolean),
};

const isDense = (array) => {
  const keys = objectKeys(array);
  if (keys.length !== array.length) return false;
  for (let i = 0; i < keys.length; i++) if (keys[i] !== String(i)) return false;
  return true;
};

const stateClassOf = (value) => {
  if (isArray(value)) return isDense(value) ? 'List' : 'Array';
  return typedArrayTag(value) === undefined ? native.className(value) : 'TypedArray';
};

const writeNumber = (value) => {
  if (objectIs(value, -0)) return '["n","-0"]';
  const text = numberToString(value);
  return isFiniteNumber(value) ? text : '["n","' + text + '"]';
};

const writeState = (root, variables) => {
  const objects = [];
  const rows = new Map();
  const rowOf = (object) => {
    if (!mapHas(rows, object)) {
      mapSet(rows, object, objects.length);
      push(objects, object);
    }
    return mapGet(rows, object);
  };
  const write = (value) => {
    if (typeof value === 'string') return stringifyJson(value);
    if (typeof value === 'number') return writeNumber(value);
    if (typeof value === 'bigint') return '["b","' + bigIntToString(value) + '"]';
    if (value === undefined) return '["u"]';
    return isObject(value) ? '["r",' + numberToString(rowOf(value)) + ']' : String(value);
  };
  const first = write(root);
  const last = mapList(variables, (row) => {
    const parts = mapList(row, (part, at) => (at === 2 && row[1] === 'v' ? write(part) : stringifyJson(part)));
    return '[' + join(parts, ',') + ']';
  });
  const table = [];
  // The list grows during the loop.
  for (let i = 0; i < objects.length; i++) {
    const name = stateClassOf(objects[i]);
    const parts = stateClasses[name].write(objects[i], write);
    push(table, '["' + name + '"' + (parts.length === 0 ? '' : ',') + join(parts, ',') + ']');
  }
  const behind = last.length === 0 ? '' : ',[' + join(last, ',') + ']';
  return '[' + STATE_FORMAT + ',' + first + ',[' + join(table, ',') + ']' + behind + ']';
};

const readState = (text) => {
  const written = parseJson(text);
  if (written[0] !== STATE_FORMAT) throw new TypeError('it is of another version');
  const table = written[2];
  const objects = [];
  const read = (value) => {
    if (!isArray(value)) return value;
    if (value[0] === 'r') return objects[value[1]];
    if (value[0] === 'n') return Number(value[1]);
    return value[0] === 'b' ? BigInt(value[1]) : undefined;
  };
  for (let i = 0; i < table.length; i++) push(objects, stateClasses[table[i][0]].make(table[i], read));
  for (let i = 0; i < table.length; i++) stateClasses[table[i][0]].fill?.(objects[i], table[i], read);
  const rows = mapList(written[3] ?? [], (row) => (row[1] === 'v' ? [row[0], 'v', read(row[2])] : row));
  return { __proto__: null, root: read(written[1]), rows };
};

// Restores a state. An empty text is an empty state.
const findState = (text) => {
  const { root, rows } = text === '' ? { root: {}, rows: [] } : readState(text);
  defineGlobal('state', root);
  findVariables(rows);
};
const keepState = () => {
  const seen = new Map();
  const state = cloneValue(globalThis.state, seen);
  const rows = keepVariables(seen);
  const nothing = state === undefined || (isRecord(state) && objectKeys(state).length === 0);
  return nothing && rows.length === 0 ? '' : writeState(state, rows);
};
