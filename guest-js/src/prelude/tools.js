// Tools as JavaScript objects: one global for each alias, made when it is first used.

// Names that the language itself, or code that inspects objects, looks up in any object.
const askedOfAny = {
  __proto__: null,
  then: 1,
  catch: 1,
  toJSON: 1,
  constructor: 1,
  inspect: 1,
  toString: 1,
  toLocaleString: 1,
  valueOf: 1,
  prototype: 1,
  hasOwnProperty: 1,
  isPrototypeOf: 1,
  propertyIsEnumerable: 1,
  name: 1,
  length: 1,
  caller: 1,
  callee: 1,
  arguments: 1,
  $$typeof: 1,
  nodeType: 1,
  asymmetricMatch: 1,
  stack: 1,
  message: 1,
};

// Returns the names of a method's parameters: the required ones, or all if none is required.
const parameterNames = (method) => {
  try {
    const parameters = native.describe(method)?.parameters;
    if (isArray(parameters?.required) && parameters.required.length > 0) return parameters.required;
    return parameters?.properties == null ? [] : objectKeys(parameters.properties);
  } catch {
    return [];
  }
};

const identifier = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

// Returns an example of a call: `stats.describe({values: …})`.
const exampleCall = (path, method) => {
  const names = parameterNames(method);
  const shown = mapList(
    slice(names, 0, 4),
    (name) => (regExpTest(identifier, name) ? name : stringifyJson(name)) + ': …',
  );
  if (names.length > 4) push(shown, '…');
  return shown.length === 0 ? path + '({})' : path + '({' + join(shown, ', ') + '})';
};

const shapeError = (path, method, got, tool) => {
  const message = path + ' takes one object, for example ' + exampleCall(path, method) + '; got ' + got;
  return usageError(TypeError, message, tool, 'argument');
};

// Describes an error in the arguments of a call; undefined if they are valid.
const wrongShape = (values) => {
  if (values.length === 0) return undefined;
  if (values.length > 2) return values.length + ' arguments';
  if (!isRecord(values[0])) {
    return native.className(values[0]) === 'Promise' ? 'a Promise (is an `await` missing?)' : kindOf(values[0]);
  }
  return values.length === 2 && values[1] !== undefined ? wrongOptions(values[1]) : undefined;
};

// Describes an error in the second object, which has options of the call.
const wrongOptions = (options) => {
  if (!isRecord(options)) return '2 arguments';
  const keys = objectKeys(options);
  for (let i = 0; i < keys.length; i++) {
    if (keys[i] !== 'signal') return 'a second one with `' + keys[i] + '`, whose only option is `signal`';
  }
  return undefined;
};

const makeTool = (path, method) => {
  const name = path;
  const tool = {
    [name](...values) {
      if (values.length === 1) {
        const promise = native.promiseOfCall(method, values[0], captureStack(tool));
        if (promise !== undefined) return promise;
      }
      const wrong = wrongShape(values);
      if (wrong !== undefined) return rejected(shapeError(path, method, wrong, tool));
      let signal;
      try {
        signal = signalOf(values[1], tool);
      } catch (error) {
        return rejected(error);
      }
      const given = values.length === 0 ? {} : values[0];
      return perform((stack) => native.call(method, given, stack), tool, method, signal);
    },
  }[name];
  define(tool, 'length', 1);
  return tool;
};

const rejected = (error) => new Promise((_, reject) => reject(error));

// Returns the prototype of a namespace. Reading a missing name is an error that suggests the nearest tool.
const strictPrototype = (prefix, names) =>
  new Proxy(objectPrototype, {
    __proto__: null,
    get(target, name, receiver) {
      if (typeof name === 'symbol' || name in askedOfAny || name === '__proto__') {
        return apply(Reflect.get, undefined, [target, name, receiver]);
      }
      const near = native.nearest(name, names);
      const hint =
        near == null
          ? 'it has ' +
            join(
              mapList(names, (known) => prefix + '.' + known),
              ', ',
            )
          : undefined;
      const asks = near == null ? '' : '; did you mean ' + prefix + '.' + near + '?';
      throw usageError(TypeError, prefix + '.' + name + ': no such tool' + asks, trapOf, 'argument', hint);
    },
    getPrototypeOf: () => null,
  });
// Function that is never on the stack, so that no frames are removed from it.
const trapOf = () => {};

// Returns an open namespace, whose members are not known beforehand: every name is a method, and the host decides about
// the call.
const openNamespace = (path, method) =>
  new Proxy(makeTool(path, method), {
    __proto__: null,
    get(target, name, receiver) {
      if (typeof name === 'symbol' || name in askedOfAny || name === '__proto__') {
        return apply(Reflect.get, undefined, [target, name, receiver]);
      }
      return openNamespace(path + '.' + name, method + '/' + name);
    },
    set: () => false,
    defineProperty: () => false,
    deleteProperty: () => false,
    setPrototypeOf: () => false,
  });

// Builds the value of one alias from its tools: a function, or a namespace of functions and namespaces.
const buildAlias = (alias) => {
  const list = native.toolsOf(alias);
  const root = { __proto__: null, names: [], children: { __proto__: null } };
  for (let i = 0; i < list.length; i += 3) {
    const segments = split(list[i], '.');
    let node = root;
    for (let s = 1; s < segments.length; s++) {
      const segment = segments[s];
      if (!(segment in node.children)) {
        node.children[segment] = { __proto__: null, names: [], children: { __proto__: null } };
        push(node.names, segment);
      }
      node = node.children[segment];
    }
    node.path = list[i];
    node.method = list[i + 1];
    node.open = list[i + 2] === 'open';
  }
  return buildNode(alias, root);
};

const buildNode = (prefix, node) => {
  if (node.open) return openNamespace(node.path, node.method);
  const value =
    node.path === undefined ? createObject(strictPrototype(prefix, node.names)) : makeTool(node.path, node.method);
  for (let i = 0; i < node.names.length; i++) {
    const name = node.names[i];
    defineProperty(value, name, {
      __proto__: null,
      value: buildNode(prefix + '.' + name, node.children[name]),
      enumerable: true,
      writable: false,
      configurable: false,
    });
  }
  return freeze(value);
};

// Returns a tool by its path, such as `payments.charges.create`.
const toolAt = (path) => {
  const segments = split(path, '.');
  let value = aliasValue(segments[0]);
  for (let i = 1; i < segments.length; i++) value = value[segments[i]];
  return value;
};

const builtAliases = { __proto__: null };
const aliasValue = (alias) => (builtAliases[alias] ??= buildAlias(alias));

// Defines a global that is created at first use, and that a script may replace.
const defineLazy = (name, make) => {
  defineGetter(
    globalThis,
    name,
    () => {
      const value = make(name);
      defineGlobal(name, value);
      return value;
    },
    (value) => defineGlobal(name, value),
  );
};

// Returns the value of a tool's global, which becomes an ordinary property.
const resolveGlobal = (name) => {
  const path = native.takeGlobal(name);
  const value = path === name ? aliasValue(path) : toolAt(path);
  defineGlobal(name, value);
  return value;
};
const replaceGlobal = (name, value) => {
  native.takeGlobal(name);
  defineGlobal(name, value);
};

// Prototype of the global object, where names are looked up that the global object lacks. It has an accessor for each
// tool's global, which makes the global a property.
const toolScope = native.toolScope(objectPrototype, (name) => [
  () => resolveGlobal(name),
  (value) => replaceGlobal(name, value),
]);

// Makes the tools' globals properties of the global object, once a script has a reference to that: it may list or
// delete them.
const revealTools = () => {
  setPrototypeOf(globalThis, objectPrototype);
  defineGlobal('globalThis', globalThis);
  defineGlobal('global', globalThis);
  const names = native.globalNames();
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    if (hasOwn(globalThis, name)) native.takeGlobal(name);
    else
      defineGetter(
        globalThis,
        name,
        () => resolveGlobal(name),
        (value) => replaceGlobal(name, value),
      );
  }
};
const revealed = () => {
  revealTools();
  return globalThis;
};

const defineTools = () => {
  if (!native.hasTools()) return;
  setPrototypeOf(globalThis, toolScope);
  defineGetter(globalThis, 'globalThis', revealed, (value) => defineGlobal('globalThis', value));
  defineGetter(globalThis, 'global', revealed, (value) => defineGlobal('global', value));
};

const catalogFunctions = {
  listTools: () => native.allTools(),
  budgets: () => native.budgets(),
  getToolInfo(name) {
    const asked = typeof name === 'function' ? name.name : name;
    if (typeof asked !== 'string') {
      const message =
        "getToolInfo takes the name of a tool, for example getToolInfo('stats.describe'); got " + kindOf(name);
      throw usageError(TypeError, message, catalogFunctions.getToolInfo);
    }
    const found = native.methodOf(asked);
    const about = found.length === 0 ? null : (native.describe(found[1]) ?? null);
    // Name in amla-sandbox.
    if (about !== null) defineProperty(about, 'id', { __proto__: null, value: 'mcp:' + found[0], enumerable: true });
    return about;
  },
};

for (const name in catalogFunctions) defineGlobal(name, catalogFunctions[name]);

// As in amla-sandbox: the names of the tools.
defineLazy('__tools__', () => {
  const tools = native.allTools();
  const names = [];
  for (let i = 0; i < tools.length; i++) names[i] = tools[i].name;
  return names;
});
