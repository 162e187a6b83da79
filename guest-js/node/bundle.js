var tollhouseNode = (() => {
  var __create = Object.create;
  var __defProp = Object.defineProperty;
  var __getOwnPropDesc = Object.getOwnPropertyDescriptor;
  var __getOwnPropNames = Object.getOwnPropertyNames;
  var __getProtoOf = Object.getPrototypeOf, __hasOwnProp = Object.prototype.hasOwnProperty;
  var __esm = (fn, res, err) => function() {
    if (err) throw err[0];
    try {
      return fn && (res = (0, fn[__getOwnPropNames(fn)[0]])(fn = 0)), res;
    } catch (e2) {
      throw err = [e2], e2;
    }
  };
  var __commonJS = (cb, mod) => function() {
    try {
      return mod || (0, cb[__getOwnPropNames(cb)[0]])((mod = { exports: {} }).exports, mod), mod.exports;
    } catch (e2) {
      throw mod = 0, e2;
    }
  };
  var __export = (target2, all3) => {
    for (var name2 in all3)
      __defProp(target2, name2, { get: all3[name2], enumerable: !0 });
  }, __copyProps = (to2, from, except, desc) => {
    if (from && typeof from == "object" || typeof from == "function")
      for (let key of __getOwnPropNames(from))
        !__hasOwnProp.call(to2, key) && key !== except && __defProp(to2, key, { get: () => from[key], enumerable: !(desc = __getOwnPropDesc(from, key)) || desc.enumerable });
    return to2;
  };
  var __toESM = (mod, isNodeMode, target2) => (target2 = mod != null ? __create(__getProtoOf(mod)) : {}, __copyProps(
    // If the importer is in node compatibility mode or this is not an ESM
    // file that has been converted to a CommonJS file using a Babel-
    // compatible transform (i.e. "__esModule" has not been set), then set
    // "default" to the CommonJS "module.exports" for node compatibility.
    isNodeMode || !mod || !mod.__esModule ? __defProp(target2, "default", { value: mod, enumerable: !0 }) : target2,
    mod
  )), __toCommonJS = (mod) => __copyProps(__defProp({}, "__esModule", { value: !0 }), mod);

  // src/env-files.js
  var parseVariables, init_env_files = __esm({
    "src/env-files.js"() {
      parseVariables = (text3) => {
        let variables = /* @__PURE__ */ new Map(), trim = (part) => part.replace(/^ +| +$/g, ""), rest = trim(text3.replaceAll("\r", "")), dropLine = (from) => {
          let end = rest.indexOf(`
`, from);
          rest = end < 0 ? "" : rest.slice(end);
        };
        for (; rest !== ""; ) {
          if (rest[0] === `
` || rest[0] === "#") {
            let end = rest.indexOf(`
`);
            if (end >= 0) {
              rest = rest.slice(end + 1);
              continue;
            }
          }
          let equal = rest.indexOf("=");
          if (equal < 0) break;
          let name2 = trim(rest.slice(0, equal)).replace(/^export /, "");
          if (rest = rest.slice(equal + 1), trim(name2) === "") break;
          if (rest === "" || rest[0] === `
`) {
            variables.set(name2, ""), rest = rest.slice(1);
            continue;
          }
          rest = trim(rest);
          let quote2 = /^["'`]/.exec(rest)?.[0], closing = quote2 === void 0 ? -1 : rest.indexOf(quote2, 1);
          if (closing > 0) {
            let value = rest.slice(1, closing);
            variables.set(name2, quote2 === '"' ? value.replaceAll("\\n", `
`) : value), dropLine(closing);
            continue;
          }
          let line = rest.split(`
`, 1)[0];
          if (quote2 === void 0) variables.set(name2, trim(line.split("#", 1)[0]));
          else if (rest.includes(`
`)) variables.set(name2, line);
          else continue;
          dropLine(0);
        }
        return Object.fromEntries([...variables].sort(([a2], [b2]) => a2 < b2 ? -1 : 1));
      };
    }
  });

  // src/mime.js
  var NO_TOKEN, NO_QUOTED_STRING, lower, withoutEnd, invalidSyntax, checkToken, readQuoted, MIMEParams, read, define2, MIMEType, init_mime = __esm({
    "src/mime.js"() {
      init_util();
      NO_TOKEN = /[^!#$%&'*+\-.^_`|~A-Za-z0-9]/, NO_QUOTED_STRING = /[^\t\u0020-~\u0080-\u00ff]/, lower = (text3) => text3.replace(/[A-Z]/g, (letter) => letter.toLowerCase()), withoutEnd = (text3) => text3.replace(/[\r\n\t ]+$/, ""), invalidSyntax = (what, text3, at2) => codedError(TypeError, "ERR_INVALID_MIME_SYNTAX", `The MIME syntax for a ${what} in "${text3}" is invalid${at2 === -1 ? "" : ` at ${at2}`}`), checkToken = (what, token, text3 = token) => {
        let at2 = token.search(NO_TOKEN);
        if (token === "" || at2 !== -1) throw invalidSyntax(what, text3, at2);
        return token;
      }, readQuoted = (text3) => {
        let [read5, loneSlash, quote2] = /^(?:([\\]$)|[\\][\s\S]|[^"])*(?:(")|$)/u.exec(text3);
        return [(loneSlash || quote2 ? read5.slice(0, -1) : read5).replace(/\\([\s\S])/g, "$1") + (loneSlash ? "\\" : ""), read5.length];
      }, MIMEParams = class _MIMEParams {
        #data = /* @__PURE__ */ new Map();
        // Reads parameters; those that are not valid, or not the first of their name, are left out.
        static read(text3) {
          let params = new _MIMEParams(), all3 = withoutEnd(text3);
          for (let at2 = 0; at2 < all3.length; at2++) {
            at2 += /^[\r\n\t ]*/.exec(all3.slice(at2))[0].length;
            let name2 = lower(/^[^;=]*/.exec(all3.slice(at2))[0]);
            if (at2 += name2.length, all3[at2] !== "=") continue;
            at2++;
            let value;
            if (all3[at2] === '"') {
              let [quoted, length] = readQuoted(all3.slice(at2 + 1));
              value = quoted, at2 += length + 1, at2 += /^[^;]*/.exec(all3.slice(at2))[0].length;
            } else {
              let [raw] = /^[^;]*/.exec(all3.slice(at2));
              if (at2 += raw.length, value = withoutEnd(raw), value === "") continue;
            }
            name2 !== "" && !NO_TOKEN.test(name2) && !NO_QUOTED_STRING.test(value) && !params.#data.has(name2) && params.#data.set(name2, value);
          }
          return params;
        }
        delete(name2) {
          this.#data.delete(name2);
        }
        get(name2) {
          return this.#data.get(name2) ?? null;
        }
        has(name2) {
          return this.#data.has(name2);
        }
        set(name2, value) {
          let [key, text3] = [`${name2}`, `${value}`];
          checkToken("parameter name", key);
          let at2 = text3.search(NO_QUOTED_STRING);
          if (at2 !== -1) throw invalidSyntax("parameter value", text3, at2);
          this.#data.set(key, text3);
        }
        *entries() {
          yield* this.#data.entries();
        }
        *keys() {
          yield* this.#data.keys();
        }
        *values() {
          yield* this.#data.values();
        }
        toString() {
          let written2 = (value) => value !== "" && !NO_TOKEN.test(value) ? value : `"${value.replace(/["\\]/g, "\\$&")}"`;
          return [...this.#data].map(([name2, value]) => `${name2}=${written2(value)}`).join(";");
        }
      }, { read } = MIMEParams;
      delete MIMEParams.read;
      define2 = (holder, name2, value) => Object.defineProperty(holder, name2, { value, writable: !0, configurable: !0 });
      define2(MIMEParams.prototype, Symbol.iterator, MIMEParams.prototype.entries);
      define2(MIMEParams.prototype, "toJSON", MIMEParams.prototype.toString);
      MIMEType = class {
        #type;
        #subtype;
        #params;
        constructor(given) {
          let text3 = `${given}`, [, type, slash, rawSubtype, rest] = /^[\r\n\t ]*([^/]*)(\/?)([^;]*);?([^]*)$/.exec(text3);
          if (slash === "") throw invalidSyntax("type", text3, type.search(NO_TOKEN));
          this.#type = lower(checkToken("type", type, text3)), this.#subtype = lower(checkToken("subtype", withoutEnd(rawSubtype), text3)), this.#params = read(rest);
        }
        get type() {
          return this.#type;
        }
        set type(value) {
          this.#type = lower(checkToken("type", `${value}`));
        }
        get subtype() {
          return this.#subtype;
        }
        set subtype(value) {
          this.#subtype = lower(checkToken("subtype", `${value}`));
        }
        get essence() {
          return `${this.#type}/${this.#subtype}`;
        }
        get params() {
          return this.#params;
        }
        toString() {
          let params = this.#params.toString();
          return this.essence + (params === "" ? "" : `;${params}`);
        }
      };
      define2(MIMEType.prototype, "toJSON", MIMEType.prototype.toString);
    }
  });

  // src/util.js
  var util_exports = {};
  __export(util_exports, {
    TextDecoder: () => TextDecoder2,
    TextEncoder: () => TextEncoder2,
    _extend: () => _extend,
    abortError: () => abortError,
    aborted: () => aborted,
    callbackify: () => callbackify,
    codedError: () => codedError,
    debug: () => debug,
    debuglog: () => debuglog,
    default: () => util_default,
    deprecate: () => deprecate,
    emitWarning: () => emitWarning,
    format: () => format,
    formatWithOptions: () => formatWithOptions,
    getSystemErrorMap: () => getSystemErrorMap,
    getSystemErrorName: () => getSystemErrorName,
    illegalConstructor: () => illegalConstructor,
    inherits: () => inherits,
    inspect: () => inspect,
    invalidType: () => invalidType,
    invalidValue: () => invalidValue,
    isArray: () => isArray,
    isBoolean: () => isBoolean,
    isBuffer: () => isBuffer,
    isDate: () => isDate,
    isDeepStrictEqual: () => isDeepStrictEqual,
    isError: () => isError,
    isFunction: () => isFunction,
    isNull: () => isNull,
    isNullOrUndefined: () => isNullOrUndefined,
    isNumber: () => isNumber,
    isObject: () => isObject,
    isPrimitive: () => isPrimitive,
    isRegExp: () => isRegExp,
    isString: () => isString,
    isSymbol: () => isSymbol,
    isUndefined: () => isUndefined,
    isWhole: () => isWhole,
    outOfRange: () => outOfRange,
    parseArgs: () => parseArgs,
    parseEnv: () => parseEnv,
    promisify: () => promisify,
    provide: () => provide,
    setDeepEqual: () => setDeepEqual,
    stripVTControlCharacters: () => stripVTControlCharacters,
    styleText: () => styleText,
    toUSVString: () => toUSVString,
    types: () => types
  });
  var native, inspectValue, formatLine, nodeError, received, isWhole, inspect, format, formatWithOptions, promisify, modules, provide, emitWarning, callbackify, inherits, deprecations, deprecate, debuglog, debug, stripVTControlCharacters, toUSVString, codesOf, isStream, styleText, aborted, getSystemErrorName, getSystemErrorMap, _extend, isBuffer, codedError, AbortError, illegalConstructor, abortError, checkText, invalidType, invalidValue, grouped, outOfRange, classIs, tagOf, functionKind, types, isArray, isRegExp, isDate, isError, isObject, isString, isNumber, isFunction, isUndefined, isNull, isNullOrUndefined, isBoolean, isSymbol, isPrimitive, TextEncoder2, TextDecoder2, parseEnv, unexpectedWord, checkArguments, parseArgs, isDeepStrictEqual, deepEqual, setDeepEqual, util_default, init_util = __esm({
    "src/util.js"() {
      init_env_files();
      init_mime();
      ({ native, inspect: inspectValue, formatLine, nodeError, received } = host), { isInteger: isWhole } = Number, inspect = (value, options, ...legacy2) => typeof options == "boolean" ? inspectValue(value, { showHidden: options, depth: legacy2[0], ...legacy2[1] === void 0 ? {} : { colors: legacy2[1] } }) : inspectValue(value, options);
      host.setPublicInspect(inspect);
      inspect.custom = /* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom");
      Object.defineProperty(inspect, "defaultOptions", {
        get: () => host.inspectOptions,
        set(options) {
          if (options === null || typeof options != "object") throw invalidType("options", "object", options);
          Object.assign(host.inspectOptions, options);
        }
      });
      inspect.colors = host.inspectColors;
      inspect.styles = host.inspectStyles;
      format = (...values2) => formatLine(values2), formatWithOptions = (options, ...values2) => formatLine(values2, options), promisify = (original) => {
        if (typeof original != "function")
          throw invalidType("original", "function", original);
        if (original[promisify.custom]) return original[promisify.custom];
        let promised3 = function(...values2) {
          return new Promise((resolve3, reject) => {
            original.call(this, ...values2, (error, ...results2) => error ? reject(error) : resolve3(results2[0]));
          });
        };
        return Object.setPrototypeOf(promised3, Object.getPrototypeOf(original)), Object.defineProperties(promised3, Object.getOwnPropertyDescriptors(original));
      };
      promisify.custom = /* @__PURE__ */ Symbol.for("nodejs.util.promisify.custom");
      globalThis.setTimeout[promisify.custom] = (delay, value) => new Promise((resolve3) => setTimeout(resolve3, delay, value));
      globalThis.setImmediate[promisify.custom] = (value) => new Promise((resolve3) => setImmediate(resolve3, value));
      for (let timer of [globalThis.setTimeout, globalThis.setImmediate])
        Object.defineProperty(timer, promisify.custom, { enumerable: !1 });
      modules = {}, provide = (provided) => Object.assign(modules, provided), emitWarning = (warning) => modules.process.emitWarning(warning), callbackify = (original) => {
        if (typeof original != "function") throw invalidType("original", "function", original);
        return function(...values2) {
          let callback = values2.pop();
          if (typeof callback != "function") throw invalidType("last argument", "function", callback);
          let later2 = (...results2) => modules.process.nextTick(() => callback(...results2)), falsy = (reason) => Object.assign(codedError(Error, "ERR_FALSY_VALUE_REJECTION", "Promise was rejected with falsy value"), { reason });
          original.apply(this, values2).then((result) => later2(null, result), (error) => later2(error || falsy(error)));
        };
      }, inherits = (constructor, parent) => {
        if (constructor == null) throw invalidType("ctor", "function", constructor);
        if (parent == null) throw invalidType("superCtor", "function", parent);
        if (parent.prototype === void 0) throw invalidType("superCtor.prototype", "object", void 0);
        Object.defineProperty(constructor, "super_", { value: parent, writable: !0, configurable: !0 }), Object.setPrototypeOf(constructor.prototype, parent.prototype);
      }, deprecations = /* @__PURE__ */ new Set(), deprecate = (work2, message, code) => {
        if (typeof work2 != "function") throw invalidType("fn", "function", work2);
        let told = !1, warned2 = function(...values2) {
          return !told && !deprecations.has(code) && modules.process.emitWarning(message, "DeprecationWarning", code), told = !0, code !== void 0 && deprecations.add(code), new.target ? Reflect.construct(work2, values2, new.target) : Reflect.apply(work2, this, values2);
        };
        return Object.setPrototypeOf(warned2, work2), work2.prototype && (warned2.prototype = work2.prototype), Object.defineProperty(warned2, "name", { value: "deprecated", configurable: !0 }), Object.defineProperty(warned2, "length", { value: work2.length, configurable: !0 });
      }, debuglog = () => Object.assign(() => {
      }, { enabled: !1 }), debug = debuglog, stripVTControlCharacters = (text3) => checkText("str", text3).replace(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\u001b\u009b]\[?[0-?]*[ -/]*[@-~]/g, ""), toUSVString = (text3) => String(text3).toWellFormed(), codesOf = (format4) => {
        let codes2 = inspect.colors[format4];
        if (codes2 != null) return codes2.map((code) => `\x1B[${code}m`);
        throw invalidValue("format", format4, `must be one of: ${Object.keys(inspect.colors).map((known3) => `'${known3}'`).join(", ")}`);
      }, isStream = (value) => typeof value?.getReader == "function" || typeof value?.getWriter == "function" || typeof value?.on == "function" && (typeof value.write == "function" || typeof value.pipe == "function"), styleText = (format4, text3, { validateStream = !0, stream: stream2 = modules.process.stdout } = {}) => {
        if (checkText("text", text3), typeof validateStream != "boolean") throw invalidType("options.validateStream", "boolean", validateStream);
        if (validateStream && !isStream(stream2)) throw invalidType("stream", "an instance of ReadableStream, WritableStream, or Stream", stream2);
        if (Array.isArray(format4)) return format4.map(codesOf).reduceRight((inner, [open4, close3]) => open4 + inner + close3, text3);
        let [open3, close2] = codesOf(format4);
        return validateStream ? text3 : open3 + text3 + close2;
      }, aborted = async (signal, resource) => {
        if (!(signal instanceof AbortSignal)) throw invalidType("signal", "an instance of AbortSignal", signal);
        if (resource === null || typeof resource != "object") throw invalidType("resource", "object", resource);
        signal.aborted || await new Promise((resolve3) => signal.addEventListener("abort", () => resolve3(), { once: !0 }));
      }, getSystemErrorName = (number) => {
        if (typeof number != "number") throw invalidType("err", "number", number);
        if (number >= 0 || !Number.isSafeInteger(number)) throw outOfRange("err", "a negative integer", number);
        return Object.entries(host.errnos).find(([, known3]) => known3 === number || known3 === -number)?.[0] ?? `Unknown system error ${number}`;
      }, getSystemErrorMap = () => new Map(Object.entries(host.errnos).map(([name2, number]) => [-Math.abs(number), [name2, host.systemError(name2, "").message.replace(/^\w+: |, *$/g, "")]])), _extend = (target2, source) => source !== null && typeof source == "object" ? Object.assign(target2, source) : target2, isBuffer = (value) => value instanceof modules.Buffer, codedError = (Class, code, message) => nodeError(new Class(message), code), AbortError = class extends Error {
        constructor(signal) {
          super("The operation was aborted", { cause: signal.reason }), this.code = "ABORT_ERR";
        }
      };
      Object.defineProperty(AbortError.prototype, "name", { value: "AbortError", writable: !0, configurable: !0 });
      illegalConstructor = () => codedError(TypeError, "ERR_ILLEGAL_CONSTRUCTOR", "Illegal constructor"), abortError = (signal) => new AbortError(signal), checkText = (name2, value) => {
        if (typeof value != "string") throw invalidType(name2, "string", value);
        return value;
      }, invalidType = (name2, expected, value) => codedError(
        TypeError,
        "ERR_INVALID_ARG_TYPE",
        `The "${name2}" ${name2.includes(".") ? "property" : "argument"} must be ${/^[a-z]/.test(expected) && !/^(an?|of|one) /.test(expected) ? `of type ${expected}` : expected}.${received(value)}`
      ), invalidValue = (name2, value, reason = "is invalid") => codedError(TypeError, "ERR_INVALID_ARG_VALUE", `The ${name2.includes(".") ? "property" : "argument"} '${name2}' ${reason}. Received ${inspect(value)}`), grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, "_"), outOfRange = (name2, range, value) => {
        let long = typeof value == "bigint" && (value > 2n ** 32n || value < -(2n ** 32n)) || isWhole(value) && Math.abs(value) > 4294967296, shown4 = typeof value == "bigint" ? `${long ? grouped(String(value)) : value}n` : long ? grouped(String(value)) : inspect(value);
        return codedError(RangeError, "ERR_OUT_OF_RANGE", `The value of "${name2}" is out of range. It must be ${range}. Received ${shown4}`);
      }, classIs = (...names3) => (value) => names3.includes(native.className(value)), tagOf = (value) => ArrayBuffer.isView(value) && native.className(value) !== "DataView" ? value[Symbol.toStringTag] : void 0, functionKind = (...names3) => (value) => typeof value == "function" && names3.includes(native.className(value)), types = {
        isAnyArrayBuffer: classIs("ArrayBuffer", "SharedArrayBuffer"),
        isArrayBuffer: classIs("ArrayBuffer"),
        isArrayBufferView: ArrayBuffer.isView,
        isArgumentsObject: classIs("Arguments"),
        isAsyncFunction: functionKind("AsyncFunction", "AsyncGeneratorFunction"),
        isBigInt64Array: (value) => tagOf(value) === "BigInt64Array",
        isBigUint64Array: (value) => tagOf(value) === "BigUint64Array",
        isBigIntObject: classIs("BigInt"),
        isBooleanObject: classIs("Boolean"),
        isBoxedPrimitive: classIs("BigInt", "Boolean", "Number", "String", "Symbol"),
        isCryptoKey: (value) => typeof CryptoKey == "function" && value instanceof CryptoKey,
        isDataView: classIs("DataView"),
        isDate: classIs("Date"),
        isExternal: () => !1,
        isFloat32Array: (value) => tagOf(value) === "Float32Array",
        isFloat64Array: (value) => tagOf(value) === "Float64Array",
        isGeneratorFunction: functionKind("GeneratorFunction", "AsyncGeneratorFunction"),
        isGeneratorObject: classIs("Generator", "AsyncGenerator"),
        isInt8Array: (value) => tagOf(value) === "Int8Array",
        isInt16Array: (value) => tagOf(value) === "Int16Array",
        isInt32Array: (value) => tagOf(value) === "Int32Array",
        isKeyObject: () => !1,
        isMap: classIs("Map"),
        isMapIterator: classIs("Map Iterator"),
        isModuleNamespaceObject: classIs("Module"),
        isNativeError: classIs("Error"),
        isNumberObject: classIs("Number"),
        isPromise: classIs("Promise"),
        isProxy: native.isProxy,
        isRegExp: classIs("RegExp"),
        isSet: classIs("Set"),
        isSetIterator: classIs("Set Iterator"),
        isSharedArrayBuffer: classIs("SharedArrayBuffer"),
        isStringObject: classIs("String"),
        isSymbolObject: classIs("Symbol"),
        isTypedArray: (value) => tagOf(value) !== void 0,
        isUint8Array: (value) => tagOf(value) === "Uint8Array",
        isUint8ClampedArray: (value) => tagOf(value) === "Uint8ClampedArray",
        isUint16Array: (value) => tagOf(value) === "Uint16Array",
        isUint32Array: (value) => tagOf(value) === "Uint32Array",
        isWeakMap: classIs("WeakMap"),
        isWeakSet: classIs("WeakSet")
      }, isArray = Array.isArray, isRegExp = types.isRegExp, isDate = types.isDate, isError = types.isNativeError, isObject = (value) => value !== null && typeof value == "object", isString = (value) => typeof value == "string", isNumber = (value) => typeof value == "number", isFunction = (value) => typeof value == "function", isUndefined = (value) => value === void 0, isNull = (value) => value === null, isNullOrUndefined = (value) => value == null, isBoolean = (value) => typeof value == "boolean", isSymbol = (value) => typeof value == "symbol", isPrimitive = (value) => value === null || typeof value != "object" && typeof value != "function", TextEncoder2 = globalThis.TextEncoder, TextDecoder2 = globalThis.TextDecoder, parseEnv = (content) => (checkText("content", content), parseVariables(content)), unexpectedWord = (word2) => codedError(TypeError, "ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL", `Unexpected argument '${word2}'. This command does not take positional arguments`), checkArguments = (args, options) => {
        if (!Array.isArray(args)) throw invalidType("args", "an instance of Array", args);
        for (let [name2, { type, short, default: standard, multiple }] of Object.entries(options)) {
          if (type !== "string" && type !== "boolean") throw invalidType(`options.${name2}.type`, "('string|boolean')", type);
          if (short !== void 0) {
            if (typeof short != "string") throw invalidType(`options.${name2}.short`, "string", short);
            if (short.length !== 1) throw invalidValue(`options.${name2}.short`, short, "must be a single character");
          }
          if (standard !== void 0) {
            if (multiple && !Array.isArray(standard)) throw invalidType(`options.${name2}.default`, "an instance of Array", standard);
            if (!multiple && typeof standard !== type) throw invalidType(`options.${name2}.default`, type, standard);
          }
        }
      }, parseArgs = (config = {}) => {
        let { options = {}, args = host.args(), strict: strict2 = !0, allowPositionals = !strict2 } = config;
        checkArguments(args, options);
        let values2 = /* @__PURE__ */ Object.create(null), positionals = [], tokens = [], words = [...args], store = (name2, value) => {
          Object.hasOwn(options, name2) && options[name2].multiple ? (values2[name2] ??= []).push(value) : values2[name2] = value;
        }, byShort = (letter) => Object.keys(options).find((name2) => options[name2].short === letter), index = -1, isApart = !0;
        for (let i2 = 0; i2 < words.length; i2++) {
          let word2 = words[i2];
          if (isApart && index++, isApart = !0, word2 === "--") {
            if (tokens.push({ kind: "option-terminator", index }), words.slice(i2 + 1).forEach((value, at2) => tokens.push({ kind: "positional", index: index + 1 + at2, value })), strict2 && !allowPositionals && i2 + 1 < words.length) throw unexpectedWord(words[i2 + 1]);
            positionals.push(...words.slice(i2 + 1));
            break;
          }
          let long = /^--([^=]+)(?:=(.*))?$/s.exec(word2), short = long === null ? /^-([^-])(.*)$/s.exec(word2) : null;
          if (long === null && short === null) {
            if (strict2 && !allowPositionals) throw unexpectedWord(word2);
            positionals.push(word2), tokens.push({ kind: "positional", index, value: word2 });
            continue;
          }
          let name2 = long === null ? byShort(short[1]) ?? short[1] : long[1], given = long === null ? void 0 : long[2], negated = long !== null && config.allowNegative && name2.startsWith("no-") && Object.hasOwn(options, name2.slice(3));
          negated && (name2 = name2.slice(3));
          let option = Object.hasOwn(options, name2) ? options[name2] : void 0;
          if (strict2 && option === void 0) {
            let unknown = long === null ? word2.slice(0, 2) : `--${name2}`, advice = `. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- "${unknown}"`;
            throw codedError(TypeError, "ERR_PARSE_ARGS_UNKNOWN_OPTION", `Unknown option '${unknown}'${allowPositionals ? advice : ""}`);
          }
          if (option?.type !== "string") {
            let rawName = short === null ? word2.replace(/=.*/s, "") : `-${short[1]}`;
            if (tokens.push({ kind: "option", name: name2, rawName, index, value: given, inlineValue: given === void 0 ? void 0 : !0 }), short !== null && short[2] !== "" && (words.splice(i2 + 1, 0, `-${short[2]}`), isApart = !1), strict2 && given !== void 0)
              throw codedError(TypeError, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE", `Option '${option.short ? `-${option.short}, ` : ""}--${name2}' does not take an argument`);
            store(name2, given ?? !negated);
            continue;
          }
          short !== null && short[2] !== "" && (given = short[2]);
          let token = { kind: "option", name: name2, rawName: short === null ? `--${name2}` : `-${short[1]}`, index, value: given, inlineValue: given !== void 0 };
          if (given === void 0) {
            if (given = words[++i2], strict2 && given?.length > 1 && given.startsWith("-")) {
              let example = short === null ? `'--${name2}=-XYZ'` : `'--${name2}=-XYZ' or '${token.rawName}-XYZ'`, advice = `Did you forget to specify the option argument for '${token.rawName}'?
To specify an option argument starting with a dash use ${example}.`;
              throw codedError(TypeError, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE", `Option '${token.rawName}' argument is ambiguous.
${advice}`);
            }
            token.value = given, given === void 0 && (token.inlineValue = void 0), index++;
          }
          if (tokens.push(token), given === void 0 && !strict2 && (given = !0), given === void 0)
            throw codedError(TypeError, "ERR_PARSE_ARGS_INVALID_OPTION_VALUE", `Option '${option.short ? `-${option.short}, ` : ""}--${name2} <value>' argument missing`);
          store(name2, given);
        }
        for (let [name2, option] of Object.entries(options)) !(name2 in values2) && option.default !== void 0 && (values2[name2] = option.default);
        return config.tokens ? { values: values2, positionals, tokens } : { values: values2, positionals };
      }, isDeepStrictEqual = (a2, b2) => deepEqual(a2, b2), deepEqual = () => !1, setDeepEqual = (compare2) => deepEqual = compare2, util_default = {
        inspect,
        format,
        formatWithOptions,
        promisify,
        callbackify,
        inherits,
        deprecate,
        debuglog,
        debug,
        stripVTControlCharacters,
        toUSVString,
        styleText,
        aborted,
        getSystemErrorName,
        getSystemErrorMap,
        _extend,
        parseEnv,
        isBuffer,
        types,
        isArray,
        isRegExp,
        isDate,
        isError,
        isObject,
        isString,
        isNumber,
        isFunction,
        isUndefined,
        isNull,
        isNullOrUndefined,
        isBoolean,
        isSymbol,
        isPrimitive,
        TextEncoder: TextEncoder2,
        TextDecoder: TextDecoder2,
        parseArgs,
        isDeepStrictEqual,
        MIMEType,
        MIMEParams,
        // A controller and a signal cannot leave this thread, so that each can be "transferred".
        transferableAbortController: () => new AbortController(),
        transferableAbortSignal: (signal) => signal
      };
    }
  });

  // src/absent.js
  var absent, allAbsent, init_absent = __esm({
    "src/absent.js"() {
      init_util();
      absent = (module, name2, hint) => ({
        // A function, since some are called with `new`.
        [name2]: function() {
          throw codedError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", `${module}.${name2} is not here: ${hint}`);
        }
      })[name2], allAbsent = (module, names3, hint) => Object.fromEntries(names3.map((name2) => [name2, absent(module, name2, hint)]));
    }
  });

  // src/is.cjs
  var require_is = __commonJS({
    "src/is.cjs"(exports, module) {
      module.exports = () => Object.is;
    }
  });

  // node_modules/assert/build/internal/util/comparisons.js
  var require_comparisons = __commonJS({
    "node_modules/assert/build/internal/util/comparisons.js"(exports, module) {
      "use strict";
      function _slicedToArray(arr, i2) {
        return _arrayWithHoles(arr) || _iterableToArrayLimit(arr, i2) || _unsupportedIterableToArray(arr, i2) || _nonIterableRest();
      }
      function _nonIterableRest() {
        throw new TypeError(`Invalid attempt to destructure non-iterable instance.
In order to be iterable, non-array objects must have a [Symbol.iterator]() method.`);
      }
      function _unsupportedIterableToArray(o2, minLen) {
        if (o2) {
          if (typeof o2 == "string") return _arrayLikeToArray(o2, minLen);
          var n2 = Object.prototype.toString.call(o2).slice(8, -1);
          if (n2 === "Object" && o2.constructor && (n2 = o2.constructor.name), n2 === "Map" || n2 === "Set") return Array.from(o2);
          if (n2 === "Arguments" || /^(?:Ui|I)nt(?:8|16|32)(?:Clamped)?Array$/.test(n2)) return _arrayLikeToArray(o2, minLen);
        }
      }
      function _arrayLikeToArray(arr, len) {
        (len == null || len > arr.length) && (len = arr.length);
        for (var i2 = 0, arr2 = new Array(len); i2 < len; i2++) arr2[i2] = arr[i2];
        return arr2;
      }
      function _iterableToArrayLimit(r2, l2) {
        var t2 = r2 == null ? null : typeof Symbol < "u" && r2[Symbol.iterator] || r2["@@iterator"];
        if (t2 != null) {
          var e2, n2, i2, u2, a2 = [], f2 = !0, o2 = !1;
          try {
            if (i2 = (t2 = t2.call(r2)).next, l2 === 0) {
              if (Object(t2) !== t2) return;
              f2 = !1;
            } else for (; !(f2 = (e2 = i2.call(t2)).done) && (a2.push(e2.value), a2.length !== l2); f2 = !0) ;
          } catch (r3) {
            o2 = !0, n2 = r3;
          } finally {
            try {
              if (!f2 && t2.return != null && (u2 = t2.return(), Object(u2) !== u2)) return;
            } finally {
              if (o2) throw n2;
            }
          }
          return a2;
        }
      }
      function _arrayWithHoles(arr) {
        if (Array.isArray(arr)) return arr;
      }
      function _typeof(o2) {
        "@babel/helpers - typeof";
        return _typeof = typeof Symbol == "function" && typeof Symbol.iterator == "symbol" ? function(o3) {
          return typeof o3;
        } : function(o3) {
          return o3 && typeof Symbol == "function" && o3.constructor === Symbol && o3 !== Symbol.prototype ? "symbol" : typeof o3;
        }, _typeof(o2);
      }
      var regexFlagsSupported = /a/g.flags !== void 0, arrayFromSet = function(set) {
        var array = [];
        return set.forEach(function(value) {
          return array.push(value);
        }), array;
      }, arrayFromMap = function(map) {
        var array = [];
        return map.forEach(function(value, key) {
          return array.push([key, value]);
        }), array;
      }, objectIs = Object.is ? Object.is : require_is(), objectGetOwnPropertySymbols = Object.getOwnPropertySymbols ? Object.getOwnPropertySymbols : function() {
        return [];
      }, numberIsNaN = Number.isNaN ? Number.isNaN : require_is();
      function uncurryThis(f2) {
        return f2.call.bind(f2);
      }
      var hasOwnProperty = uncurryThis(Object.prototype.hasOwnProperty), propertyIsEnumerable = uncurryThis(Object.prototype.propertyIsEnumerable), objectToString = uncurryThis(Object.prototype.toString), _require$types = (init_util(), __toCommonJS(util_exports)).types, isAnyArrayBuffer = _require$types.isAnyArrayBuffer, isArrayBufferView = _require$types.isArrayBufferView, isDate3 = _require$types.isDate, isMap = _require$types.isMap, isRegExp2 = _require$types.isRegExp, isSet = _require$types.isSet, isNativeError = _require$types.isNativeError, isBoxedPrimitive = _require$types.isBoxedPrimitive, isNumberObject = _require$types.isNumberObject, isStringObject = _require$types.isStringObject, isBooleanObject = _require$types.isBooleanObject, isBigIntObject = _require$types.isBigIntObject, isSymbolObject = _require$types.isSymbolObject, isFloat32Array = _require$types.isFloat32Array, isFloat64Array = _require$types.isFloat64Array;
      function isNonIndex(key) {
        if (key.length === 0 || key.length > 10) return !0;
        for (var i2 = 0; i2 < key.length; i2++) {
          var code = key.charCodeAt(i2);
          if (code < 48 || code > 57) return !0;
        }
        return key.length === 10 && key >= Math.pow(2, 32);
      }
      function getOwnNonIndexProperties(value) {
        return Object.keys(value).filter(isNonIndex).concat(objectGetOwnPropertySymbols(value).filter(Object.prototype.propertyIsEnumerable.bind(value)));
      }
      function compare2(a2, b2) {
        if (a2 === b2)
          return 0;
        for (var x2 = a2.length, y2 = b2.length, i2 = 0, len = Math.min(x2, y2); i2 < len; ++i2)
          if (a2[i2] !== b2[i2]) {
            x2 = a2[i2], y2 = b2[i2];
            break;
          }
        return x2 < y2 ? -1 : y2 < x2 ? 1 : 0;
      }
      var ONLY_ENUMERABLE = void 0, kStrict = !0, kLoose = !1, kNoIterator = 0, kIsArray = 1, kIsSet = 2, kIsMap = 3;
      function areSimilarRegExps(a2, b2) {
        return regexFlagsSupported ? a2.source === b2.source && a2.flags === b2.flags : RegExp.prototype.toString.call(a2) === RegExp.prototype.toString.call(b2);
      }
      function areSimilarFloatArrays(a2, b2) {
        if (a2.byteLength !== b2.byteLength)
          return !1;
        for (var offset = 0; offset < a2.byteLength; offset++)
          if (a2[offset] !== b2[offset])
            return !1;
        return !0;
      }
      function areSimilarTypedArrays(a2, b2) {
        return a2.byteLength !== b2.byteLength ? !1 : compare2(new Uint8Array(a2.buffer, a2.byteOffset, a2.byteLength), new Uint8Array(b2.buffer, b2.byteOffset, b2.byteLength)) === 0;
      }
      function areEqualArrayBuffers(buf1, buf2) {
        return buf1.byteLength === buf2.byteLength && compare2(new Uint8Array(buf1), new Uint8Array(buf2)) === 0;
      }
      function isEqualBoxedPrimitive(val1, val2) {
        return isNumberObject(val1) ? isNumberObject(val2) && objectIs(Number.prototype.valueOf.call(val1), Number.prototype.valueOf.call(val2)) : isStringObject(val1) ? isStringObject(val2) && String.prototype.valueOf.call(val1) === String.prototype.valueOf.call(val2) : isBooleanObject(val1) ? isBooleanObject(val2) && Boolean.prototype.valueOf.call(val1) === Boolean.prototype.valueOf.call(val2) : isBigIntObject(val1) ? isBigIntObject(val2) && BigInt.prototype.valueOf.call(val1) === BigInt.prototype.valueOf.call(val2) : isSymbolObject(val2) && Symbol.prototype.valueOf.call(val1) === Symbol.prototype.valueOf.call(val2);
      }
      function innerDeepEqual(val1, val2, strict2, memos) {
        if (val1 === val2)
          return val1 !== 0 ? !0 : strict2 ? objectIs(val1, val2) : !0;
        if (strict2) {
          if (_typeof(val1) !== "object")
            return typeof val1 == "number" && numberIsNaN(val1) && numberIsNaN(val2);
          if (_typeof(val2) !== "object" || val1 === null || val2 === null || Object.getPrototypeOf(val1) !== Object.getPrototypeOf(val2))
            return !1;
        } else {
          if (val1 === null || _typeof(val1) !== "object")
            return val2 === null || _typeof(val2) !== "object" ? val1 == val2 || val1 !== val1 && val2 !== val2 : !1;
          if (val2 === null || _typeof(val2) !== "object")
            return !1;
        }
        var val1Tag = objectToString(val1), val2Tag = objectToString(val2);
        if (val1Tag !== val2Tag)
          return !1;
        if (Array.isArray(val1)) {
          if (val1.length !== val2.length)
            return !1;
          var keys1 = getOwnNonIndexProperties(val1, ONLY_ENUMERABLE), keys2 = getOwnNonIndexProperties(val2, ONLY_ENUMERABLE);
          return keys1.length !== keys2.length ? !1 : keyCheck(val1, val2, strict2, memos, kIsArray, keys1);
        }
        if (val1Tag === "[object Object]" && (!isMap(val1) && isMap(val2) || !isSet(val1) && isSet(val2)))
          return !1;
        if (isDate3(val1)) {
          if (!isDate3(val2) || Date.prototype.getTime.call(val1) !== Date.prototype.getTime.call(val2))
            return !1;
        } else if (isRegExp2(val1)) {
          if (!isRegExp2(val2) || !areSimilarRegExps(val1, val2))
            return !1;
        } else if (isNativeError(val1) || val1 instanceof Error) {
          if (val1.message !== val2.message || val1.name !== val2.name)
            return !1;
        } else if (isArrayBufferView(val1)) {
          if (!strict2 && (isFloat32Array(val1) || isFloat64Array(val1))) {
            if (!areSimilarFloatArrays(val1, val2))
              return !1;
          } else if (!areSimilarTypedArrays(val1, val2))
            return !1;
          var _keys = getOwnNonIndexProperties(val1, ONLY_ENUMERABLE), _keys2 = getOwnNonIndexProperties(val2, ONLY_ENUMERABLE);
          return _keys.length !== _keys2.length ? !1 : keyCheck(val1, val2, strict2, memos, kNoIterator, _keys);
        } else {
          if (isSet(val1))
            return !isSet(val2) || val1.size !== val2.size ? !1 : keyCheck(val1, val2, strict2, memos, kIsSet);
          if (isMap(val1))
            return !isMap(val2) || val1.size !== val2.size ? !1 : keyCheck(val1, val2, strict2, memos, kIsMap);
          if (isAnyArrayBuffer(val1)) {
            if (!areEqualArrayBuffers(val1, val2))
              return !1;
          } else if (isBoxedPrimitive(val1) && !isEqualBoxedPrimitive(val1, val2))
            return !1;
        }
        return keyCheck(val1, val2, strict2, memos, kNoIterator);
      }
      function getEnumerables(val, keys) {
        return keys.filter(function(k2) {
          return propertyIsEnumerable(val, k2);
        });
      }
      function keyCheck(val1, val2, strict2, memos, iterationType, aKeys) {
        if (arguments.length === 5) {
          aKeys = Object.keys(val1);
          var bKeys = Object.keys(val2);
          if (aKeys.length !== bKeys.length)
            return !1;
        }
        for (var i2 = 0; i2 < aKeys.length; i2++)
          if (!hasOwnProperty(val2, aKeys[i2]))
            return !1;
        if (strict2 && arguments.length === 5) {
          var symbolKeysA = objectGetOwnPropertySymbols(val1);
          if (symbolKeysA.length !== 0) {
            var count = 0;
            for (i2 = 0; i2 < symbolKeysA.length; i2++) {
              var key = symbolKeysA[i2];
              if (propertyIsEnumerable(val1, key)) {
                if (!propertyIsEnumerable(val2, key))
                  return !1;
                aKeys.push(key), count++;
              } else if (propertyIsEnumerable(val2, key))
                return !1;
            }
            var symbolKeysB = objectGetOwnPropertySymbols(val2);
            if (symbolKeysA.length !== symbolKeysB.length && getEnumerables(val2, symbolKeysB).length !== count)
              return !1;
          } else {
            var _symbolKeysB = objectGetOwnPropertySymbols(val2);
            if (_symbolKeysB.length !== 0 && getEnumerables(val2, _symbolKeysB).length !== 0)
              return !1;
          }
        }
        if (aKeys.length === 0 && (iterationType === kNoIterator || iterationType === kIsArray && val1.length === 0 || val1.size === 0))
          return !0;
        if (memos === void 0)
          memos = {
            val1: /* @__PURE__ */ new Map(),
            val2: /* @__PURE__ */ new Map(),
            position: 0
          };
        else {
          var val2MemoA = memos.val1.get(val1);
          if (val2MemoA !== void 0) {
            var val2MemoB = memos.val2.get(val2);
            if (val2MemoB !== void 0)
              return val2MemoA === val2MemoB;
          }
          memos.position++;
        }
        memos.val1.set(val1, memos.position), memos.val2.set(val2, memos.position);
        var areEq = objEquiv(val1, val2, strict2, aKeys, memos, iterationType);
        return memos.val1.delete(val1), memos.val2.delete(val2), areEq;
      }
      function setHasEqualElement(set, val1, strict2, memo) {
        for (var setValues = arrayFromSet(set), i2 = 0; i2 < setValues.length; i2++) {
          var val2 = setValues[i2];
          if (innerDeepEqual(val1, val2, strict2, memo))
            return set.delete(val2), !0;
        }
        return !1;
      }
      function findLooseMatchingPrimitives(prim) {
        switch (_typeof(prim)) {
          case "undefined":
            return null;
          case "object":
            return;
          case "symbol":
            return !1;
          case "string":
            prim = +prim;
          // Loose equal entries exist only if the string is possible to convert to
          // a regular number and not NaN.
          // Fall through
          case "number":
            if (numberIsNaN(prim))
              return !1;
        }
        return !0;
      }
      function setMightHaveLoosePrim(a2, b2, prim) {
        var altValue = findLooseMatchingPrimitives(prim);
        return altValue ?? (b2.has(altValue) && !a2.has(altValue));
      }
      function mapMightHaveLoosePrim(a2, b2, prim, item, memo) {
        var altValue = findLooseMatchingPrimitives(prim);
        if (altValue != null)
          return altValue;
        var curB = b2.get(altValue);
        return curB === void 0 && !b2.has(altValue) || !innerDeepEqual(item, curB, !1, memo) ? !1 : !a2.has(altValue) && innerDeepEqual(item, curB, !1, memo);
      }
      function setEquiv(a2, b2, strict2, memo) {
        for (var set = null, aValues = arrayFromSet(a2), i2 = 0; i2 < aValues.length; i2++) {
          var val = aValues[i2];
          if (_typeof(val) === "object" && val !== null)
            set === null && (set = /* @__PURE__ */ new Set()), set.add(val);
          else if (!b2.has(val)) {
            if (strict2 || !setMightHaveLoosePrim(a2, b2, val))
              return !1;
            set === null && (set = /* @__PURE__ */ new Set()), set.add(val);
          }
        }
        if (set !== null) {
          for (var bValues = arrayFromSet(b2), _i = 0; _i < bValues.length; _i++) {
            var _val = bValues[_i];
            if (_typeof(_val) === "object" && _val !== null) {
              if (!setHasEqualElement(set, _val, strict2, memo)) return !1;
            } else if (!strict2 && !a2.has(_val) && !setHasEqualElement(set, _val, strict2, memo))
              return !1;
          }
          return set.size === 0;
        }
        return !0;
      }
      function mapHasEqualEntry(set, map, key1, item1, strict2, memo) {
        for (var setValues = arrayFromSet(set), i2 = 0; i2 < setValues.length; i2++) {
          var key2 = setValues[i2];
          if (innerDeepEqual(key1, key2, strict2, memo) && innerDeepEqual(item1, map.get(key2), strict2, memo))
            return set.delete(key2), !0;
        }
        return !1;
      }
      function mapEquiv(a2, b2, strict2, memo) {
        for (var set = null, aEntries = arrayFromMap(a2), i2 = 0; i2 < aEntries.length; i2++) {
          var _aEntries$i = _slicedToArray(aEntries[i2], 2), key = _aEntries$i[0], item1 = _aEntries$i[1];
          if (_typeof(key) === "object" && key !== null)
            set === null && (set = /* @__PURE__ */ new Set()), set.add(key);
          else {
            var item2 = b2.get(key);
            if (item2 === void 0 && !b2.has(key) || !innerDeepEqual(item1, item2, strict2, memo)) {
              if (strict2 || !mapMightHaveLoosePrim(a2, b2, key, item1, memo)) return !1;
              set === null && (set = /* @__PURE__ */ new Set()), set.add(key);
            }
          }
        }
        if (set !== null) {
          for (var bEntries = arrayFromMap(b2), _i2 = 0; _i2 < bEntries.length; _i2++) {
            var _bEntries$_i = _slicedToArray(bEntries[_i2], 2), _key = _bEntries$_i[0], item = _bEntries$_i[1];
            if (_typeof(_key) === "object" && _key !== null) {
              if (!mapHasEqualEntry(set, a2, _key, item, strict2, memo)) return !1;
            } else if (!strict2 && (!a2.has(_key) || !innerDeepEqual(a2.get(_key), item, !1, memo)) && !mapHasEqualEntry(set, a2, _key, item, !1, memo))
              return !1;
          }
          return set.size === 0;
        }
        return !0;
      }
      function objEquiv(a2, b2, strict2, keys, memos, iterationType) {
        var i2 = 0;
        if (iterationType === kIsSet) {
          if (!setEquiv(a2, b2, strict2, memos))
            return !1;
        } else if (iterationType === kIsMap) {
          if (!mapEquiv(a2, b2, strict2, memos))
            return !1;
        } else if (iterationType === kIsArray)
          for (; i2 < a2.length; i2++)
            if (hasOwnProperty(a2, i2)) {
              if (!hasOwnProperty(b2, i2) || !innerDeepEqual(a2[i2], b2[i2], strict2, memos))
                return !1;
            } else {
              if (hasOwnProperty(b2, i2))
                return !1;
              for (var keysA = Object.keys(a2); i2 < keysA.length; i2++) {
                var key = keysA[i2];
                if (!hasOwnProperty(b2, key) || !innerDeepEqual(a2[key], b2[key], strict2, memos))
                  return !1;
              }
              return keysA.length === Object.keys(b2).length;
            }
        for (i2 = 0; i2 < keys.length; i2++) {
          var _key2 = keys[i2];
          if (!innerDeepEqual(a2[_key2], b2[_key2], strict2, memos))
            return !1;
        }
        return !0;
      }
      function isDeepEqual2(val1, val2) {
        return innerDeepEqual(val1, val2, kLoose);
      }
      function isDeepStrictEqual3(val1, val2) {
        return innerDeepEqual(val1, val2, kStrict);
      }
      module.exports = {
        isDeepEqual: isDeepEqual2,
        isDeepStrictEqual: isDeepStrictEqual3
      };
    }
  });

  // node_modules/base64-js/index.js
  var require_base64_js = __commonJS({
    "node_modules/base64-js/index.js"(exports) {
      "use strict";
      exports.byteLength = byteLength2;
      exports.toByteArray = toByteArray;
      exports.fromByteArray = fromByteArray;
      var lookup = [], revLookup = [], Arr = typeof Uint8Array < "u" ? Uint8Array : Array, code = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
      for (i2 = 0, len = code.length; i2 < len; ++i2)
        lookup[i2] = code[i2], revLookup[code.charCodeAt(i2)] = i2;
      var i2, len;
      revLookup[45] = 62;
      revLookup[95] = 63;
      function getLens(b64) {
        var len2 = b64.length;
        if (len2 % 4 > 0)
          throw new Error("Invalid string. Length must be a multiple of 4");
        var validLen = b64.indexOf("=");
        validLen === -1 && (validLen = len2);
        var placeHoldersLen = validLen === len2 ? 0 : 4 - validLen % 4;
        return [validLen, placeHoldersLen];
      }
      function byteLength2(b64) {
        var lens = getLens(b64), validLen = lens[0], placeHoldersLen = lens[1];
        return (validLen + placeHoldersLen) * 3 / 4 - placeHoldersLen;
      }
      function _byteLength(b64, validLen, placeHoldersLen) {
        return (validLen + placeHoldersLen) * 3 / 4 - placeHoldersLen;
      }
      function toByteArray(b64) {
        var tmp, lens = getLens(b64), validLen = lens[0], placeHoldersLen = lens[1], arr = new Arr(_byteLength(b64, validLen, placeHoldersLen)), curByte = 0, len2 = placeHoldersLen > 0 ? validLen - 4 : validLen, i3;
        for (i3 = 0; i3 < len2; i3 += 4)
          tmp = revLookup[b64.charCodeAt(i3)] << 18 | revLookup[b64.charCodeAt(i3 + 1)] << 12 | revLookup[b64.charCodeAt(i3 + 2)] << 6 | revLookup[b64.charCodeAt(i3 + 3)], arr[curByte++] = tmp >> 16 & 255, arr[curByte++] = tmp >> 8 & 255, arr[curByte++] = tmp & 255;
        return placeHoldersLen === 2 && (tmp = revLookup[b64.charCodeAt(i3)] << 2 | revLookup[b64.charCodeAt(i3 + 1)] >> 4, arr[curByte++] = tmp & 255), placeHoldersLen === 1 && (tmp = revLookup[b64.charCodeAt(i3)] << 10 | revLookup[b64.charCodeAt(i3 + 1)] << 4 | revLookup[b64.charCodeAt(i3 + 2)] >> 2, arr[curByte++] = tmp >> 8 & 255, arr[curByte++] = tmp & 255), arr;
      }
      function tripletToBase64(num) {
        return lookup[num >> 18 & 63] + lookup[num >> 12 & 63] + lookup[num >> 6 & 63] + lookup[num & 63];
      }
      function encodeChunk(uint8, start3, end) {
        for (var tmp, output = [], i3 = start3; i3 < end; i3 += 3)
          tmp = (uint8[i3] << 16 & 16711680) + (uint8[i3 + 1] << 8 & 65280) + (uint8[i3 + 2] & 255), output.push(tripletToBase64(tmp));
        return output.join("");
      }
      function fromByteArray(uint8) {
        for (var tmp, len2 = uint8.length, extraBytes = len2 % 3, parts = [], maxChunkLength = 16383, i3 = 0, len22 = len2 - extraBytes; i3 < len22; i3 += maxChunkLength)
          parts.push(encodeChunk(uint8, i3, i3 + maxChunkLength > len22 ? len22 : i3 + maxChunkLength));
        return extraBytes === 1 ? (tmp = uint8[len2 - 1], parts.push(
          lookup[tmp >> 2] + lookup[tmp << 4 & 63] + "=="
        )) : extraBytes === 2 && (tmp = (uint8[len2 - 2] << 8) + uint8[len2 - 1], parts.push(
          lookup[tmp >> 10] + lookup[tmp >> 4 & 63] + lookup[tmp << 2 & 63] + "="
        )), parts.join("");
      }
    }
  });

  // node_modules/ieee754/index.js
  var require_ieee754 = __commonJS({
    "node_modules/ieee754/index.js"(exports) {
      exports.read = function(buffer2, offset, isLE, mLen, nBytes) {
        var e2, m2, eLen = nBytes * 8 - mLen - 1, eMax = (1 << eLen) - 1, eBias = eMax >> 1, nBits = -7, i2 = isLE ? nBytes - 1 : 0, d2 = isLE ? -1 : 1, s2 = buffer2[offset + i2];
        for (i2 += d2, e2 = s2 & (1 << -nBits) - 1, s2 >>= -nBits, nBits += eLen; nBits > 0; e2 = e2 * 256 + buffer2[offset + i2], i2 += d2, nBits -= 8)
          ;
        for (m2 = e2 & (1 << -nBits) - 1, e2 >>= -nBits, nBits += mLen; nBits > 0; m2 = m2 * 256 + buffer2[offset + i2], i2 += d2, nBits -= 8)
          ;
        if (e2 === 0)
          e2 = 1 - eBias;
        else {
          if (e2 === eMax)
            return m2 ? NaN : (s2 ? -1 : 1) * (1 / 0);
          m2 = m2 + Math.pow(2, mLen), e2 = e2 - eBias;
        }
        return (s2 ? -1 : 1) * m2 * Math.pow(2, e2 - mLen);
      };
      exports.write = function(buffer2, value, offset, isLE, mLen, nBytes) {
        var e2, m2, c2, eLen = nBytes * 8 - mLen - 1, eMax = (1 << eLen) - 1, eBias = eMax >> 1, rt2 = mLen === 23 ? Math.pow(2, -24) - Math.pow(2, -77) : 0, i2 = isLE ? 0 : nBytes - 1, d2 = isLE ? 1 : -1, s2 = value < 0 || value === 0 && 1 / value < 0 ? 1 : 0;
        for (value = Math.abs(value), isNaN(value) || value === 1 / 0 ? (m2 = isNaN(value) ? 1 : 0, e2 = eMax) : (e2 = Math.floor(Math.log(value) / Math.LN2), value * (c2 = Math.pow(2, -e2)) < 1 && (e2--, c2 *= 2), e2 + eBias >= 1 ? value += rt2 / c2 : value += rt2 * Math.pow(2, 1 - eBias), value * c2 >= 2 && (e2++, c2 /= 2), e2 + eBias >= eMax ? (m2 = 0, e2 = eMax) : e2 + eBias >= 1 ? (m2 = (value * c2 - 1) * Math.pow(2, mLen), e2 = e2 + eBias) : (m2 = value * Math.pow(2, eBias - 1) * Math.pow(2, mLen), e2 = 0)); mLen >= 8; buffer2[offset + i2] = m2 & 255, i2 += d2, m2 /= 256, mLen -= 8)
          ;
        for (e2 = e2 << mLen | m2, eLen += mLen; eLen > 0; buffer2[offset + i2] = e2 & 255, i2 += d2, e2 /= 256, eLen -= 8)
          ;
        buffer2[offset + i2 - d2] |= s2 * 128;
      };
    }
  });

  // node_modules/buffer/index.js
  var require_buffer = __commonJS({
    "node_modules/buffer/index.js"(exports) {
      "use strict";
      var base64 = require_base64_js(), ieee754 = require_ieee754(), customInspectSymbol = typeof Symbol == "function" && typeof Symbol.for == "function" ? /* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom") : null;
      exports.Buffer = Buffer3;
      exports.SlowBuffer = SlowBuffer2;
      exports.INSPECT_MAX_BYTES = 50;
      var K_MAX_LENGTH = 2147483647;
      exports.kMaxLength = K_MAX_LENGTH;
      Buffer3.TYPED_ARRAY_SUPPORT = typedArraySupport();
      !Buffer3.TYPED_ARRAY_SUPPORT && typeof console < "u" && typeof console.error == "function" && console.error(
        "This browser lacks typed array (Uint8Array) support which is required by `buffer` v5.x. Use `buffer` v4.x if you require old browser support."
      );
      function typedArraySupport() {
        try {
          let arr = new Uint8Array(1), proto = { foo: function() {
            return 42;
          } };
          return Object.setPrototypeOf(proto, Uint8Array.prototype), Object.setPrototypeOf(arr, proto), arr.foo() === 42;
        } catch {
          return !1;
        }
      }
      Object.defineProperty(Buffer3.prototype, "parent", {
        enumerable: !0,
        get: function() {
          if (Buffer3.isBuffer(this))
            return this.buffer;
        }
      });
      Object.defineProperty(Buffer3.prototype, "offset", {
        enumerable: !0,
        get: function() {
          if (Buffer3.isBuffer(this))
            return this.byteOffset;
        }
      });
      function createBuffer(length) {
        if (length > K_MAX_LENGTH)
          throw new RangeError('The value "' + length + '" is invalid for option "size"');
        let buf = new Uint8Array(length);
        return Object.setPrototypeOf(buf, Buffer3.prototype), buf;
      }
      function Buffer3(arg, encodingOrOffset, length) {
        if (typeof arg == "number") {
          if (typeof encodingOrOffset == "string")
            throw new TypeError(
              'The "string" argument must be of type string. Received type number'
            );
          return allocUnsafe(arg);
        }
        return from(arg, encodingOrOffset, length);
      }
      Buffer3.poolSize = 8192;
      function from(value, encodingOrOffset, length) {
        if (typeof value == "string")
          return fromString(value, encodingOrOffset);
        if (ArrayBuffer.isView(value))
          return fromArrayView(value);
        if (value == null)
          throw new TypeError(
            "The first argument must be one of type string, Buffer, ArrayBuffer, Array, or Array-like Object. Received type " + typeof value
          );
        if (isInstance(value, ArrayBuffer) || value && isInstance(value.buffer, ArrayBuffer) || typeof SharedArrayBuffer < "u" && (isInstance(value, SharedArrayBuffer) || value && isInstance(value.buffer, SharedArrayBuffer)))
          return fromArrayBuffer(value, encodingOrOffset, length);
        if (typeof value == "number")
          throw new TypeError(
            'The "value" argument must not be of type number. Received type number'
          );
        let valueOf = value.valueOf && value.valueOf();
        if (valueOf != null && valueOf !== value)
          return Buffer3.from(valueOf, encodingOrOffset, length);
        let b2 = fromObject(value);
        if (b2) return b2;
        if (typeof Symbol < "u" && Symbol.toPrimitive != null && typeof value[Symbol.toPrimitive] == "function")
          return Buffer3.from(value[Symbol.toPrimitive]("string"), encodingOrOffset, length);
        throw new TypeError(
          "The first argument must be one of type string, Buffer, ArrayBuffer, Array, or Array-like Object. Received type " + typeof value
        );
      }
      Buffer3.from = function(value, encodingOrOffset, length) {
        return from(value, encodingOrOffset, length);
      };
      Object.setPrototypeOf(Buffer3.prototype, Uint8Array.prototype);
      Object.setPrototypeOf(Buffer3, Uint8Array);
      function assertSize(size) {
        if (typeof size != "number")
          throw new TypeError('"size" argument must be of type number');
        if (size < 0)
          throw new RangeError('The value "' + size + '" is invalid for option "size"');
      }
      function alloc(size, fill2, encoding) {
        return assertSize(size), size <= 0 ? createBuffer(size) : fill2 !== void 0 ? typeof encoding == "string" ? createBuffer(size).fill(fill2, encoding) : createBuffer(size).fill(fill2) : createBuffer(size);
      }
      Buffer3.alloc = function(size, fill2, encoding) {
        return alloc(size, fill2, encoding);
      };
      function allocUnsafe(size) {
        return assertSize(size), createBuffer(size < 0 ? 0 : checked4(size) | 0);
      }
      Buffer3.allocUnsafe = function(size) {
        return allocUnsafe(size);
      };
      Buffer3.allocUnsafeSlow = function(size) {
        return allocUnsafe(size);
      };
      function fromString(string, encoding) {
        if ((typeof encoding != "string" || encoding === "") && (encoding = "utf8"), !Buffer3.isEncoding(encoding))
          throw new TypeError("Unknown encoding: " + encoding);
        let length = byteLength2(string, encoding) | 0, buf = createBuffer(length), actual = buf.write(string, encoding);
        return actual !== length && (buf = buf.slice(0, actual)), buf;
      }
      function fromArrayLike(array) {
        let length = array.length < 0 ? 0 : checked4(array.length) | 0, buf = createBuffer(length);
        for (let i2 = 0; i2 < length; i2 += 1)
          buf[i2] = array[i2] & 255;
        return buf;
      }
      function fromArrayView(arrayView) {
        if (isInstance(arrayView, Uint8Array)) {
          let copy2 = new Uint8Array(arrayView);
          return fromArrayBuffer(copy2.buffer, copy2.byteOffset, copy2.byteLength);
        }
        return fromArrayLike(arrayView);
      }
      function fromArrayBuffer(array, byteOffset, length) {
        if (byteOffset < 0 || array.byteLength < byteOffset)
          throw new RangeError('"offset" is outside of buffer bounds');
        if (array.byteLength < byteOffset + (length || 0))
          throw new RangeError('"length" is outside of buffer bounds');
        let buf;
        return byteOffset === void 0 && length === void 0 ? buf = new Uint8Array(array) : length === void 0 ? buf = new Uint8Array(array, byteOffset) : buf = new Uint8Array(array, byteOffset, length), Object.setPrototypeOf(buf, Buffer3.prototype), buf;
      }
      function fromObject(obj) {
        if (Buffer3.isBuffer(obj)) {
          let len = checked4(obj.length) | 0, buf = createBuffer(len);
          return buf.length === 0 || obj.copy(buf, 0, 0, len), buf;
        }
        if (obj.length !== void 0)
          return typeof obj.length != "number" || numberIsNaN(obj.length) ? createBuffer(0) : fromArrayLike(obj);
        if (obj.type === "Buffer" && Array.isArray(obj.data))
          return fromArrayLike(obj.data);
      }
      function checked4(length) {
        if (length >= K_MAX_LENGTH)
          throw new RangeError("Attempt to allocate Buffer larger than maximum size: 0x" + K_MAX_LENGTH.toString(16) + " bytes");
        return length | 0;
      }
      function SlowBuffer2(length) {
        return +length != length && (length = 0), Buffer3.alloc(+length);
      }
      Buffer3.isBuffer = function(b2) {
        return b2 != null && b2._isBuffer === !0 && b2 !== Buffer3.prototype;
      };
      Buffer3.compare = function(a2, b2) {
        if (isInstance(a2, Uint8Array) && (a2 = Buffer3.from(a2, a2.offset, a2.byteLength)), isInstance(b2, Uint8Array) && (b2 = Buffer3.from(b2, b2.offset, b2.byteLength)), !Buffer3.isBuffer(a2) || !Buffer3.isBuffer(b2))
          throw new TypeError(
            'The "buf1", "buf2" arguments must be one of type Buffer or Uint8Array'
          );
        if (a2 === b2) return 0;
        let x2 = a2.length, y2 = b2.length;
        for (let i2 = 0, len = Math.min(x2, y2); i2 < len; ++i2)
          if (a2[i2] !== b2[i2]) {
            x2 = a2[i2], y2 = b2[i2];
            break;
          }
        return x2 < y2 ? -1 : y2 < x2 ? 1 : 0;
      };
      Buffer3.isEncoding = function(encoding) {
        switch (String(encoding).toLowerCase()) {
          case "hex":
          case "utf8":
          case "utf-8":
          case "ascii":
          case "latin1":
          case "binary":
          case "base64":
          case "ucs2":
          case "ucs-2":
          case "utf16le":
          case "utf-16le":
            return !0;
          default:
            return !1;
        }
      };
      Buffer3.concat = function(list, length) {
        if (!Array.isArray(list))
          throw new TypeError('"list" argument must be an Array of Buffers');
        if (list.length === 0)
          return Buffer3.alloc(0);
        let i2;
        if (length === void 0)
          for (length = 0, i2 = 0; i2 < list.length; ++i2)
            length += list[i2].length;
        let buffer2 = Buffer3.allocUnsafe(length), pos = 0;
        for (i2 = 0; i2 < list.length; ++i2) {
          let buf = list[i2];
          if (isInstance(buf, Uint8Array))
            pos + buf.length > buffer2.length ? (Buffer3.isBuffer(buf) || (buf = Buffer3.from(buf)), buf.copy(buffer2, pos)) : Uint8Array.prototype.set.call(
              buffer2,
              buf,
              pos
            );
          else if (Buffer3.isBuffer(buf))
            buf.copy(buffer2, pos);
          else
            throw new TypeError('"list" argument must be an Array of Buffers');
          pos += buf.length;
        }
        return buffer2;
      };
      function byteLength2(string, encoding) {
        if (Buffer3.isBuffer(string))
          return string.length;
        if (ArrayBuffer.isView(string) || isInstance(string, ArrayBuffer))
          return string.byteLength;
        if (typeof string != "string")
          throw new TypeError(
            'The "string" argument must be one of type string, Buffer, or ArrayBuffer. Received type ' + typeof string
          );
        let len = string.length, mustMatch = arguments.length > 2 && arguments[2] === !0;
        if (!mustMatch && len === 0) return 0;
        let loweredCase = !1;
        for (; ; )
          switch (encoding) {
            case "ascii":
            case "latin1":
            case "binary":
              return len;
            case "utf8":
            case "utf-8":
              return utf8ToBytes(string).length;
            case "ucs2":
            case "ucs-2":
            case "utf16le":
            case "utf-16le":
              return len * 2;
            case "hex":
              return len >>> 1;
            case "base64":
              return base64ToBytes(string).length;
            default:
              if (loweredCase)
                return mustMatch ? -1 : utf8ToBytes(string).length;
              encoding = ("" + encoding).toLowerCase(), loweredCase = !0;
          }
      }
      Buffer3.byteLength = byteLength2;
      function slowToString(encoding, start3, end) {
        let loweredCase = !1;
        if ((start3 === void 0 || start3 < 0) && (start3 = 0), start3 > this.length || ((end === void 0 || end > this.length) && (end = this.length), end <= 0) || (end >>>= 0, start3 >>>= 0, end <= start3))
          return "";
        for (encoding || (encoding = "utf8"); ; )
          switch (encoding) {
            case "hex":
              return hexSlice(this, start3, end);
            case "utf8":
            case "utf-8":
              return utf8Slice(this, start3, end);
            case "ascii":
              return asciiSlice(this, start3, end);
            case "latin1":
            case "binary":
              return latin1Slice(this, start3, end);
            case "base64":
              return base64Slice(this, start3, end);
            case "ucs2":
            case "ucs-2":
            case "utf16le":
            case "utf-16le":
              return utf16leSlice(this, start3, end);
            default:
              if (loweredCase) throw new TypeError("Unknown encoding: " + encoding);
              encoding = (encoding + "").toLowerCase(), loweredCase = !0;
          }
      }
      Buffer3.prototype._isBuffer = !0;
      function swap(b2, n2, m2) {
        let i2 = b2[n2];
        b2[n2] = b2[m2], b2[m2] = i2;
      }
      Buffer3.prototype.swap16 = function() {
        let len = this.length;
        if (len % 2 !== 0)
          throw new RangeError("Buffer size must be a multiple of 16-bits");
        for (let i2 = 0; i2 < len; i2 += 2)
          swap(this, i2, i2 + 1);
        return this;
      };
      Buffer3.prototype.swap32 = function() {
        let len = this.length;
        if (len % 4 !== 0)
          throw new RangeError("Buffer size must be a multiple of 32-bits");
        for (let i2 = 0; i2 < len; i2 += 4)
          swap(this, i2, i2 + 3), swap(this, i2 + 1, i2 + 2);
        return this;
      };
      Buffer3.prototype.swap64 = function() {
        let len = this.length;
        if (len % 8 !== 0)
          throw new RangeError("Buffer size must be a multiple of 64-bits");
        for (let i2 = 0; i2 < len; i2 += 8)
          swap(this, i2, i2 + 7), swap(this, i2 + 1, i2 + 6), swap(this, i2 + 2, i2 + 5), swap(this, i2 + 3, i2 + 4);
        return this;
      };
      Buffer3.prototype.toString = function() {
        let length = this.length;
        return length === 0 ? "" : arguments.length === 0 ? utf8Slice(this, 0, length) : slowToString.apply(this, arguments);
      };
      Buffer3.prototype.toLocaleString = Buffer3.prototype.toString;
      Buffer3.prototype.equals = function(b2) {
        if (!Buffer3.isBuffer(b2)) throw new TypeError("Argument must be a Buffer");
        return this === b2 ? !0 : Buffer3.compare(this, b2) === 0;
      };
      Buffer3.prototype.inspect = function() {
        let str = "", max = exports.INSPECT_MAX_BYTES;
        return str = this.toString("hex", 0, max).replace(/(.{2})/g, "$1 ").trim(), this.length > max && (str += " ... "), "<Buffer " + str + ">";
      };
      customInspectSymbol && (Buffer3.prototype[customInspectSymbol] = Buffer3.prototype.inspect);
      Buffer3.prototype.compare = function(target2, start3, end, thisStart, thisEnd) {
        if (isInstance(target2, Uint8Array) && (target2 = Buffer3.from(target2, target2.offset, target2.byteLength)), !Buffer3.isBuffer(target2))
          throw new TypeError(
            'The "target" argument must be one of type Buffer or Uint8Array. Received type ' + typeof target2
          );
        if (start3 === void 0 && (start3 = 0), end === void 0 && (end = target2 ? target2.length : 0), thisStart === void 0 && (thisStart = 0), thisEnd === void 0 && (thisEnd = this.length), start3 < 0 || end > target2.length || thisStart < 0 || thisEnd > this.length)
          throw new RangeError("out of range index");
        if (thisStart >= thisEnd && start3 >= end)
          return 0;
        if (thisStart >= thisEnd)
          return -1;
        if (start3 >= end)
          return 1;
        if (start3 >>>= 0, end >>>= 0, thisStart >>>= 0, thisEnd >>>= 0, this === target2) return 0;
        let x2 = thisEnd - thisStart, y2 = end - start3, len = Math.min(x2, y2), thisCopy = this.slice(thisStart, thisEnd), targetCopy = target2.slice(start3, end);
        for (let i2 = 0; i2 < len; ++i2)
          if (thisCopy[i2] !== targetCopy[i2]) {
            x2 = thisCopy[i2], y2 = targetCopy[i2];
            break;
          }
        return x2 < y2 ? -1 : y2 < x2 ? 1 : 0;
      };
      function bidirectionalIndexOf(buffer2, val, byteOffset, encoding, dir) {
        if (buffer2.length === 0) return -1;
        if (typeof byteOffset == "string" ? (encoding = byteOffset, byteOffset = 0) : byteOffset > 2147483647 ? byteOffset = 2147483647 : byteOffset < -2147483648 && (byteOffset = -2147483648), byteOffset = +byteOffset, numberIsNaN(byteOffset) && (byteOffset = dir ? 0 : buffer2.length - 1), byteOffset < 0 && (byteOffset = buffer2.length + byteOffset), byteOffset >= buffer2.length) {
          if (dir) return -1;
          byteOffset = buffer2.length - 1;
        } else if (byteOffset < 0)
          if (dir) byteOffset = 0;
          else return -1;
        if (typeof val == "string" && (val = Buffer3.from(val, encoding)), Buffer3.isBuffer(val))
          return val.length === 0 ? -1 : arrayIndexOf(buffer2, val, byteOffset, encoding, dir);
        if (typeof val == "number")
          return val = val & 255, typeof Uint8Array.prototype.indexOf == "function" ? dir ? Uint8Array.prototype.indexOf.call(buffer2, val, byteOffset) : Uint8Array.prototype.lastIndexOf.call(buffer2, val, byteOffset) : arrayIndexOf(buffer2, [val], byteOffset, encoding, dir);
        throw new TypeError("val must be string, number or Buffer");
      }
      function arrayIndexOf(arr, val, byteOffset, encoding, dir) {
        let indexSize = 1, arrLength = arr.length, valLength = val.length;
        if (encoding !== void 0 && (encoding = String(encoding).toLowerCase(), encoding === "ucs2" || encoding === "ucs-2" || encoding === "utf16le" || encoding === "utf-16le")) {
          if (arr.length < 2 || val.length < 2)
            return -1;
          indexSize = 2, arrLength /= 2, valLength /= 2, byteOffset /= 2;
        }
        function read5(buf, i3) {
          return indexSize === 1 ? buf[i3] : buf.readUInt16BE(i3 * indexSize);
        }
        let i2;
        if (dir) {
          let foundIndex = -1;
          for (i2 = byteOffset; i2 < arrLength; i2++)
            if (read5(arr, i2) === read5(val, foundIndex === -1 ? 0 : i2 - foundIndex)) {
              if (foundIndex === -1 && (foundIndex = i2), i2 - foundIndex + 1 === valLength) return foundIndex * indexSize;
            } else
              foundIndex !== -1 && (i2 -= i2 - foundIndex), foundIndex = -1;
        } else
          for (byteOffset + valLength > arrLength && (byteOffset = arrLength - valLength), i2 = byteOffset; i2 >= 0; i2--) {
            let found = !0;
            for (let j2 = 0; j2 < valLength; j2++)
              if (read5(arr, i2 + j2) !== read5(val, j2)) {
                found = !1;
                break;
              }
            if (found) return i2;
          }
        return -1;
      }
      Buffer3.prototype.includes = function(val, byteOffset, encoding) {
        return this.indexOf(val, byteOffset, encoding) !== -1;
      };
      Buffer3.prototype.indexOf = function(val, byteOffset, encoding) {
        return bidirectionalIndexOf(this, val, byteOffset, encoding, !0);
      };
      Buffer3.prototype.lastIndexOf = function(val, byteOffset, encoding) {
        return bidirectionalIndexOf(this, val, byteOffset, encoding, !1);
      };
      function hexWrite(buf, string, offset, length) {
        offset = Number(offset) || 0;
        let remaining = buf.length - offset;
        length ? (length = Number(length), length > remaining && (length = remaining)) : length = remaining;
        let strLen = string.length;
        length > strLen / 2 && (length = strLen / 2);
        let i2;
        for (i2 = 0; i2 < length; ++i2) {
          let parsed2 = parseInt(string.substr(i2 * 2, 2), 16);
          if (numberIsNaN(parsed2)) return i2;
          buf[offset + i2] = parsed2;
        }
        return i2;
      }
      function utf8Write(buf, string, offset, length) {
        return blitBuffer(utf8ToBytes(string, buf.length - offset), buf, offset, length);
      }
      function asciiWrite(buf, string, offset, length) {
        return blitBuffer(asciiToBytes(string), buf, offset, length);
      }
      function base64Write(buf, string, offset, length) {
        return blitBuffer(base64ToBytes(string), buf, offset, length);
      }
      function ucs2Write(buf, string, offset, length) {
        return blitBuffer(utf16leToBytes(string, buf.length - offset), buf, offset, length);
      }
      Buffer3.prototype.write = function(string, offset, length, encoding) {
        if (offset === void 0)
          encoding = "utf8", length = this.length, offset = 0;
        else if (length === void 0 && typeof offset == "string")
          encoding = offset, length = this.length, offset = 0;
        else if (isFinite(offset))
          offset = offset >>> 0, isFinite(length) ? (length = length >>> 0, encoding === void 0 && (encoding = "utf8")) : (encoding = length, length = void 0);
        else
          throw new Error(
            "Buffer.write(string, encoding, offset[, length]) is no longer supported"
          );
        let remaining = this.length - offset;
        if ((length === void 0 || length > remaining) && (length = remaining), string.length > 0 && (length < 0 || offset < 0) || offset > this.length)
          throw new RangeError("Attempt to write outside buffer bounds");
        encoding || (encoding = "utf8");
        let loweredCase = !1;
        for (; ; )
          switch (encoding) {
            case "hex":
              return hexWrite(this, string, offset, length);
            case "utf8":
            case "utf-8":
              return utf8Write(this, string, offset, length);
            case "ascii":
            case "latin1":
            case "binary":
              return asciiWrite(this, string, offset, length);
            case "base64":
              return base64Write(this, string, offset, length);
            case "ucs2":
            case "ucs-2":
            case "utf16le":
            case "utf-16le":
              return ucs2Write(this, string, offset, length);
            default:
              if (loweredCase) throw new TypeError("Unknown encoding: " + encoding);
              encoding = ("" + encoding).toLowerCase(), loweredCase = !0;
          }
      };
      Buffer3.prototype.toJSON = function() {
        return {
          type: "Buffer",
          data: Array.prototype.slice.call(this._arr || this, 0)
        };
      };
      function base64Slice(buf, start3, end) {
        return start3 === 0 && end === buf.length ? base64.fromByteArray(buf) : base64.fromByteArray(buf.slice(start3, end));
      }
      function utf8Slice(buf, start3, end) {
        end = Math.min(buf.length, end);
        let res = [], i2 = start3;
        for (; i2 < end; ) {
          let firstByte = buf[i2], codePoint = null, bytesPerSequence = firstByte > 239 ? 4 : firstByte > 223 ? 3 : firstByte > 191 ? 2 : 1;
          if (i2 + bytesPerSequence <= end) {
            let secondByte, thirdByte, fourthByte, tempCodePoint;
            switch (bytesPerSequence) {
              case 1:
                firstByte < 128 && (codePoint = firstByte);
                break;
              case 2:
                secondByte = buf[i2 + 1], (secondByte & 192) === 128 && (tempCodePoint = (firstByte & 31) << 6 | secondByte & 63, tempCodePoint > 127 && (codePoint = tempCodePoint));
                break;
              case 3:
                secondByte = buf[i2 + 1], thirdByte = buf[i2 + 2], (secondByte & 192) === 128 && (thirdByte & 192) === 128 && (tempCodePoint = (firstByte & 15) << 12 | (secondByte & 63) << 6 | thirdByte & 63, tempCodePoint > 2047 && (tempCodePoint < 55296 || tempCodePoint > 57343) && (codePoint = tempCodePoint));
                break;
              case 4:
                secondByte = buf[i2 + 1], thirdByte = buf[i2 + 2], fourthByte = buf[i2 + 3], (secondByte & 192) === 128 && (thirdByte & 192) === 128 && (fourthByte & 192) === 128 && (tempCodePoint = (firstByte & 15) << 18 | (secondByte & 63) << 12 | (thirdByte & 63) << 6 | fourthByte & 63, tempCodePoint > 65535 && tempCodePoint < 1114112 && (codePoint = tempCodePoint));
            }
          }
          codePoint === null ? (codePoint = 65533, bytesPerSequence = 1) : codePoint > 65535 && (codePoint -= 65536, res.push(codePoint >>> 10 & 1023 | 55296), codePoint = 56320 | codePoint & 1023), res.push(codePoint), i2 += bytesPerSequence;
        }
        return decodeCodePointsArray(res);
      }
      var MAX_ARGUMENTS_LENGTH = 4096;
      function decodeCodePointsArray(codePoints) {
        let len = codePoints.length;
        if (len <= MAX_ARGUMENTS_LENGTH)
          return String.fromCharCode.apply(String, codePoints);
        let res = "", i2 = 0;
        for (; i2 < len; )
          res += String.fromCharCode.apply(
            String,
            codePoints.slice(i2, i2 += MAX_ARGUMENTS_LENGTH)
          );
        return res;
      }
      function asciiSlice(buf, start3, end) {
        let ret = "";
        end = Math.min(buf.length, end);
        for (let i2 = start3; i2 < end; ++i2)
          ret += String.fromCharCode(buf[i2] & 127);
        return ret;
      }
      function latin1Slice(buf, start3, end) {
        let ret = "";
        end = Math.min(buf.length, end);
        for (let i2 = start3; i2 < end; ++i2)
          ret += String.fromCharCode(buf[i2]);
        return ret;
      }
      function hexSlice(buf, start3, end) {
        let len = buf.length;
        (!start3 || start3 < 0) && (start3 = 0), (!end || end < 0 || end > len) && (end = len);
        let out = "";
        for (let i2 = start3; i2 < end; ++i2)
          out += hexSliceLookupTable[buf[i2]];
        return out;
      }
      function utf16leSlice(buf, start3, end) {
        let bytes = buf.slice(start3, end), res = "";
        for (let i2 = 0; i2 < bytes.length - 1; i2 += 2)
          res += String.fromCharCode(bytes[i2] + bytes[i2 + 1] * 256);
        return res;
      }
      Buffer3.prototype.slice = function(start3, end) {
        let len = this.length;
        start3 = ~~start3, end = end === void 0 ? len : ~~end, start3 < 0 ? (start3 += len, start3 < 0 && (start3 = 0)) : start3 > len && (start3 = len), end < 0 ? (end += len, end < 0 && (end = 0)) : end > len && (end = len), end < start3 && (end = start3);
        let newBuf = this.subarray(start3, end);
        return Object.setPrototypeOf(newBuf, Buffer3.prototype), newBuf;
      };
      function checkOffset2(offset, ext, length) {
        if (offset % 1 !== 0 || offset < 0) throw new RangeError("offset is not uint");
        if (offset + ext > length) throw new RangeError("Trying to access beyond buffer length");
      }
      Buffer3.prototype.readUintLE = Buffer3.prototype.readUIntLE = function(offset, byteLength3, noAssert) {
        offset = offset >>> 0, byteLength3 = byteLength3 >>> 0, noAssert || checkOffset2(offset, byteLength3, this.length);
        let val = this[offset], mul = 1, i2 = 0;
        for (; ++i2 < byteLength3 && (mul *= 256); )
          val += this[offset + i2] * mul;
        return val;
      };
      Buffer3.prototype.readUintBE = Buffer3.prototype.readUIntBE = function(offset, byteLength3, noAssert) {
        offset = offset >>> 0, byteLength3 = byteLength3 >>> 0, noAssert || checkOffset2(offset, byteLength3, this.length);
        let val = this[offset + --byteLength3], mul = 1;
        for (; byteLength3 > 0 && (mul *= 256); )
          val += this[offset + --byteLength3] * mul;
        return val;
      };
      Buffer3.prototype.readUint8 = Buffer3.prototype.readUInt8 = function(offset, noAssert) {
        return offset = offset >>> 0, noAssert || checkOffset2(offset, 1, this.length), this[offset];
      };
      Buffer3.prototype.readUint16LE = Buffer3.prototype.readUInt16LE = function(offset, noAssert) {
        return offset = offset >>> 0, noAssert || checkOffset2(offset, 2, this.length), this[offset] | this[offset + 1] << 8;
      };
      Buffer3.prototype.readUint16BE = Buffer3.prototype.readUInt16BE = function(offset, noAssert) {
        return offset = offset >>> 0, noAssert || checkOffset2(offset, 2, this.length), this[offset] << 8 | this[offset + 1];
      };
      Buffer3.prototype.readUint32LE = Buffer3.prototype.readUInt32LE = function(offset, noAssert) {
        return offset = offset >>> 0, noAssert || checkOffset2(offset, 4, this.length), (this[offset] | this[offset + 1] << 8 | this[offset + 2] << 16) + this[offset + 3] * 16777216;
      };
      Buffer3.prototype.readUint32BE = Buffer3.prototype.readUInt32BE = function(offset, noAssert) {
        return offset = offset >>> 0, noAssert || checkOffset2(offset, 4, this.length), this[offset] * 16777216 + (this[offset + 1] << 16 | this[offset + 2] << 8 | this[offset + 3]);
      };
      Buffer3.prototype.readBigUInt64LE = defineBigIntMethod(function(offset) {
        offset = offset >>> 0, validateNumber(offset, "offset");
        let first = this[offset], last2 = this[offset + 7];
        (first === void 0 || last2 === void 0) && boundsError(offset, this.length - 8);
        let lo2 = first + this[++offset] * 2 ** 8 + this[++offset] * 2 ** 16 + this[++offset] * 2 ** 24, hi = this[++offset] + this[++offset] * 2 ** 8 + this[++offset] * 2 ** 16 + last2 * 2 ** 24;
        return BigInt(lo2) + (BigInt(hi) << BigInt(32));
      });
      Buffer3.prototype.readBigUInt64BE = defineBigIntMethod(function(offset) {
        offset = offset >>> 0, validateNumber(offset, "offset");
        let first = this[offset], last2 = this[offset + 7];
        (first === void 0 || last2 === void 0) && boundsError(offset, this.length - 8);
        let hi = first * 2 ** 24 + this[++offset] * 2 ** 16 + this[++offset] * 2 ** 8 + this[++offset], lo2 = this[++offset] * 2 ** 24 + this[++offset] * 2 ** 16 + this[++offset] * 2 ** 8 + last2;
        return (BigInt(hi) << BigInt(32)) + BigInt(lo2);
      });
      Buffer3.prototype.readIntLE = function(offset, byteLength3, noAssert) {
        offset = offset >>> 0, byteLength3 = byteLength3 >>> 0, noAssert || checkOffset2(offset, byteLength3, this.length);
        let val = this[offset], mul = 1, i2 = 0;
        for (; ++i2 < byteLength3 && (mul *= 256); )
          val += this[offset + i2] * mul;
        return mul *= 128, val >= mul && (val -= Math.pow(2, 8 * byteLength3)), val;
      };
      Buffer3.prototype.readIntBE = function(offset, byteLength3, noAssert) {
        offset = offset >>> 0, byteLength3 = byteLength3 >>> 0, noAssert || checkOffset2(offset, byteLength3, this.length);
        let i2 = byteLength3, mul = 1, val = this[offset + --i2];
        for (; i2 > 0 && (mul *= 256); )
          val += this[offset + --i2] * mul;
        return mul *= 128, val >= mul && (val -= Math.pow(2, 8 * byteLength3)), val;
      };
      Buffer3.prototype.readInt8 = function(offset, noAssert) {
        return offset = offset >>> 0, noAssert || checkOffset2(offset, 1, this.length), this[offset] & 128 ? (255 - this[offset] + 1) * -1 : this[offset];
      };
      Buffer3.prototype.readInt16LE = function(offset, noAssert) {
        offset = offset >>> 0, noAssert || checkOffset2(offset, 2, this.length);
        let val = this[offset] | this[offset + 1] << 8;
        return val & 32768 ? val | 4294901760 : val;
      };
      Buffer3.prototype.readInt16BE = function(offset, noAssert) {
        offset = offset >>> 0, noAssert || checkOffset2(offset, 2, this.length);
        let val = this[offset + 1] | this[offset] << 8;
        return val & 32768 ? val | 4294901760 : val;
      };
      Buffer3.prototype.readInt32LE = function(offset, noAssert) {
        return offset = offset >>> 0, noAssert || checkOffset2(offset, 4, this.length), this[offset] | this[offset + 1] << 8 | this[offset + 2] << 16 | this[offset + 3] << 24;
      };
      Buffer3.prototype.readInt32BE = function(offset, noAssert) {
        return offset = offset >>> 0, noAssert || checkOffset2(offset, 4, this.length), this[offset] << 24 | this[offset + 1] << 16 | this[offset + 2] << 8 | this[offset + 3];
      };
      Buffer3.prototype.readBigInt64LE = defineBigIntMethod(function(offset) {
        offset = offset >>> 0, validateNumber(offset, "offset");
        let first = this[offset], last2 = this[offset + 7];
        (first === void 0 || last2 === void 0) && boundsError(offset, this.length - 8);
        let val = this[offset + 4] + this[offset + 5] * 2 ** 8 + this[offset + 6] * 2 ** 16 + (last2 << 24);
        return (BigInt(val) << BigInt(32)) + BigInt(first + this[++offset] * 2 ** 8 + this[++offset] * 2 ** 16 + this[++offset] * 2 ** 24);
      });
      Buffer3.prototype.readBigInt64BE = defineBigIntMethod(function(offset) {
        offset = offset >>> 0, validateNumber(offset, "offset");
        let first = this[offset], last2 = this[offset + 7];
        (first === void 0 || last2 === void 0) && boundsError(offset, this.length - 8);
        let val = (first << 24) + // Overflow
        this[++offset] * 2 ** 16 + this[++offset] * 2 ** 8 + this[++offset];
        return (BigInt(val) << BigInt(32)) + BigInt(this[++offset] * 2 ** 24 + this[++offset] * 2 ** 16 + this[++offset] * 2 ** 8 + last2);
      });
      Buffer3.prototype.readFloatLE = function(offset, noAssert) {
        return offset = offset >>> 0, noAssert || checkOffset2(offset, 4, this.length), ieee754.read(this, offset, !0, 23, 4);
      };
      Buffer3.prototype.readFloatBE = function(offset, noAssert) {
        return offset = offset >>> 0, noAssert || checkOffset2(offset, 4, this.length), ieee754.read(this, offset, !1, 23, 4);
      };
      Buffer3.prototype.readDoubleLE = function(offset, noAssert) {
        return offset = offset >>> 0, noAssert || checkOffset2(offset, 8, this.length), ieee754.read(this, offset, !0, 52, 8);
      };
      Buffer3.prototype.readDoubleBE = function(offset, noAssert) {
        return offset = offset >>> 0, noAssert || checkOffset2(offset, 8, this.length), ieee754.read(this, offset, !1, 52, 8);
      };
      function checkInt(buf, value, offset, ext, max, min) {
        if (!Buffer3.isBuffer(buf)) throw new TypeError('"buffer" argument must be a Buffer instance');
        if (value > max || value < min) throw new RangeError('"value" argument is out of bounds');
        if (offset + ext > buf.length) throw new RangeError("Index out of range");
      }
      Buffer3.prototype.writeUintLE = Buffer3.prototype.writeUIntLE = function(value, offset, byteLength3, noAssert) {
        if (value = +value, offset = offset >>> 0, byteLength3 = byteLength3 >>> 0, !noAssert) {
          let maxBytes = Math.pow(2, 8 * byteLength3) - 1;
          checkInt(this, value, offset, byteLength3, maxBytes, 0);
        }
        let mul = 1, i2 = 0;
        for (this[offset] = value & 255; ++i2 < byteLength3 && (mul *= 256); )
          this[offset + i2] = value / mul & 255;
        return offset + byteLength3;
      };
      Buffer3.prototype.writeUintBE = Buffer3.prototype.writeUIntBE = function(value, offset, byteLength3, noAssert) {
        if (value = +value, offset = offset >>> 0, byteLength3 = byteLength3 >>> 0, !noAssert) {
          let maxBytes = Math.pow(2, 8 * byteLength3) - 1;
          checkInt(this, value, offset, byteLength3, maxBytes, 0);
        }
        let i2 = byteLength3 - 1, mul = 1;
        for (this[offset + i2] = value & 255; --i2 >= 0 && (mul *= 256); )
          this[offset + i2] = value / mul & 255;
        return offset + byteLength3;
      };
      Buffer3.prototype.writeUint8 = Buffer3.prototype.writeUInt8 = function(value, offset, noAssert) {
        return value = +value, offset = offset >>> 0, noAssert || checkInt(this, value, offset, 1, 255, 0), this[offset] = value & 255, offset + 1;
      };
      Buffer3.prototype.writeUint16LE = Buffer3.prototype.writeUInt16LE = function(value, offset, noAssert) {
        return value = +value, offset = offset >>> 0, noAssert || checkInt(this, value, offset, 2, 65535, 0), this[offset] = value & 255, this[offset + 1] = value >>> 8, offset + 2;
      };
      Buffer3.prototype.writeUint16BE = Buffer3.prototype.writeUInt16BE = function(value, offset, noAssert) {
        return value = +value, offset = offset >>> 0, noAssert || checkInt(this, value, offset, 2, 65535, 0), this[offset] = value >>> 8, this[offset + 1] = value & 255, offset + 2;
      };
      Buffer3.prototype.writeUint32LE = Buffer3.prototype.writeUInt32LE = function(value, offset, noAssert) {
        return value = +value, offset = offset >>> 0, noAssert || checkInt(this, value, offset, 4, 4294967295, 0), this[offset + 3] = value >>> 24, this[offset + 2] = value >>> 16, this[offset + 1] = value >>> 8, this[offset] = value & 255, offset + 4;
      };
      Buffer3.prototype.writeUint32BE = Buffer3.prototype.writeUInt32BE = function(value, offset, noAssert) {
        return value = +value, offset = offset >>> 0, noAssert || checkInt(this, value, offset, 4, 4294967295, 0), this[offset] = value >>> 24, this[offset + 1] = value >>> 16, this[offset + 2] = value >>> 8, this[offset + 3] = value & 255, offset + 4;
      };
      function wrtBigUInt64LE(buf, value, offset, min, max) {
        checkIntBI(value, min, max, buf, offset, 7);
        let lo2 = Number(value & BigInt(4294967295));
        buf[offset++] = lo2, lo2 = lo2 >> 8, buf[offset++] = lo2, lo2 = lo2 >> 8, buf[offset++] = lo2, lo2 = lo2 >> 8, buf[offset++] = lo2;
        let hi = Number(value >> BigInt(32) & BigInt(4294967295));
        return buf[offset++] = hi, hi = hi >> 8, buf[offset++] = hi, hi = hi >> 8, buf[offset++] = hi, hi = hi >> 8, buf[offset++] = hi, offset;
      }
      function wrtBigUInt64BE(buf, value, offset, min, max) {
        checkIntBI(value, min, max, buf, offset, 7);
        let lo2 = Number(value & BigInt(4294967295));
        buf[offset + 7] = lo2, lo2 = lo2 >> 8, buf[offset + 6] = lo2, lo2 = lo2 >> 8, buf[offset + 5] = lo2, lo2 = lo2 >> 8, buf[offset + 4] = lo2;
        let hi = Number(value >> BigInt(32) & BigInt(4294967295));
        return buf[offset + 3] = hi, hi = hi >> 8, buf[offset + 2] = hi, hi = hi >> 8, buf[offset + 1] = hi, hi = hi >> 8, buf[offset] = hi, offset + 8;
      }
      Buffer3.prototype.writeBigUInt64LE = defineBigIntMethod(function(value, offset = 0) {
        return wrtBigUInt64LE(this, value, offset, BigInt(0), BigInt("0xffffffffffffffff"));
      });
      Buffer3.prototype.writeBigUInt64BE = defineBigIntMethod(function(value, offset = 0) {
        return wrtBigUInt64BE(this, value, offset, BigInt(0), BigInt("0xffffffffffffffff"));
      });
      Buffer3.prototype.writeIntLE = function(value, offset, byteLength3, noAssert) {
        if (value = +value, offset = offset >>> 0, !noAssert) {
          let limit2 = Math.pow(2, 8 * byteLength3 - 1);
          checkInt(this, value, offset, byteLength3, limit2 - 1, -limit2);
        }
        let i2 = 0, mul = 1, sub = 0;
        for (this[offset] = value & 255; ++i2 < byteLength3 && (mul *= 256); )
          value < 0 && sub === 0 && this[offset + i2 - 1] !== 0 && (sub = 1), this[offset + i2] = (value / mul >> 0) - sub & 255;
        return offset + byteLength3;
      };
      Buffer3.prototype.writeIntBE = function(value, offset, byteLength3, noAssert) {
        if (value = +value, offset = offset >>> 0, !noAssert) {
          let limit2 = Math.pow(2, 8 * byteLength3 - 1);
          checkInt(this, value, offset, byteLength3, limit2 - 1, -limit2);
        }
        let i2 = byteLength3 - 1, mul = 1, sub = 0;
        for (this[offset + i2] = value & 255; --i2 >= 0 && (mul *= 256); )
          value < 0 && sub === 0 && this[offset + i2 + 1] !== 0 && (sub = 1), this[offset + i2] = (value / mul >> 0) - sub & 255;
        return offset + byteLength3;
      };
      Buffer3.prototype.writeInt8 = function(value, offset, noAssert) {
        return value = +value, offset = offset >>> 0, noAssert || checkInt(this, value, offset, 1, 127, -128), value < 0 && (value = 255 + value + 1), this[offset] = value & 255, offset + 1;
      };
      Buffer3.prototype.writeInt16LE = function(value, offset, noAssert) {
        return value = +value, offset = offset >>> 0, noAssert || checkInt(this, value, offset, 2, 32767, -32768), this[offset] = value & 255, this[offset + 1] = value >>> 8, offset + 2;
      };
      Buffer3.prototype.writeInt16BE = function(value, offset, noAssert) {
        return value = +value, offset = offset >>> 0, noAssert || checkInt(this, value, offset, 2, 32767, -32768), this[offset] = value >>> 8, this[offset + 1] = value & 255, offset + 2;
      };
      Buffer3.prototype.writeInt32LE = function(value, offset, noAssert) {
        return value = +value, offset = offset >>> 0, noAssert || checkInt(this, value, offset, 4, 2147483647, -2147483648), this[offset] = value & 255, this[offset + 1] = value >>> 8, this[offset + 2] = value >>> 16, this[offset + 3] = value >>> 24, offset + 4;
      };
      Buffer3.prototype.writeInt32BE = function(value, offset, noAssert) {
        return value = +value, offset = offset >>> 0, noAssert || checkInt(this, value, offset, 4, 2147483647, -2147483648), value < 0 && (value = 4294967295 + value + 1), this[offset] = value >>> 24, this[offset + 1] = value >>> 16, this[offset + 2] = value >>> 8, this[offset + 3] = value & 255, offset + 4;
      };
      Buffer3.prototype.writeBigInt64LE = defineBigIntMethod(function(value, offset = 0) {
        return wrtBigUInt64LE(this, value, offset, -BigInt("0x8000000000000000"), BigInt("0x7fffffffffffffff"));
      });
      Buffer3.prototype.writeBigInt64BE = defineBigIntMethod(function(value, offset = 0) {
        return wrtBigUInt64BE(this, value, offset, -BigInt("0x8000000000000000"), BigInt("0x7fffffffffffffff"));
      });
      function checkIEEE754(buf, value, offset, ext, max, min) {
        if (offset + ext > buf.length) throw new RangeError("Index out of range");
        if (offset < 0) throw new RangeError("Index out of range");
      }
      function writeFloat(buf, value, offset, littleEndian, noAssert) {
        return value = +value, offset = offset >>> 0, noAssert || checkIEEE754(buf, value, offset, 4, 34028234663852886e22, -34028234663852886e22), ieee754.write(buf, value, offset, littleEndian, 23, 4), offset + 4;
      }
      Buffer3.prototype.writeFloatLE = function(value, offset, noAssert) {
        return writeFloat(this, value, offset, !0, noAssert);
      };
      Buffer3.prototype.writeFloatBE = function(value, offset, noAssert) {
        return writeFloat(this, value, offset, !1, noAssert);
      };
      function writeDouble(buf, value, offset, littleEndian, noAssert) {
        return value = +value, offset = offset >>> 0, noAssert || checkIEEE754(buf, value, offset, 8, 17976931348623157e292, -17976931348623157e292), ieee754.write(buf, value, offset, littleEndian, 52, 8), offset + 8;
      }
      Buffer3.prototype.writeDoubleLE = function(value, offset, noAssert) {
        return writeDouble(this, value, offset, !0, noAssert);
      };
      Buffer3.prototype.writeDoubleBE = function(value, offset, noAssert) {
        return writeDouble(this, value, offset, !1, noAssert);
      };
      Buffer3.prototype.copy = function(target2, targetStart, start3, end) {
        if (!Buffer3.isBuffer(target2)) throw new TypeError("argument should be a Buffer");
        if (start3 || (start3 = 0), !end && end !== 0 && (end = this.length), targetStart >= target2.length && (targetStart = target2.length), targetStart || (targetStart = 0), end > 0 && end < start3 && (end = start3), end === start3 || target2.length === 0 || this.length === 0) return 0;
        if (targetStart < 0)
          throw new RangeError("targetStart out of bounds");
        if (start3 < 0 || start3 >= this.length) throw new RangeError("Index out of range");
        if (end < 0) throw new RangeError("sourceEnd out of bounds");
        end > this.length && (end = this.length), target2.length - targetStart < end - start3 && (end = target2.length - targetStart + start3);
        let len = end - start3;
        return this === target2 && typeof Uint8Array.prototype.copyWithin == "function" ? this.copyWithin(targetStart, start3, end) : Uint8Array.prototype.set.call(
          target2,
          this.subarray(start3, end),
          targetStart
        ), len;
      };
      Buffer3.prototype.fill = function(val, start3, end, encoding) {
        if (typeof val == "string") {
          if (typeof start3 == "string" ? (encoding = start3, start3 = 0, end = this.length) : typeof end == "string" && (encoding = end, end = this.length), encoding !== void 0 && typeof encoding != "string")
            throw new TypeError("encoding must be a string");
          if (typeof encoding == "string" && !Buffer3.isEncoding(encoding))
            throw new TypeError("Unknown encoding: " + encoding);
          if (val.length === 1) {
            let code = val.charCodeAt(0);
            (encoding === "utf8" && code < 128 || encoding === "latin1") && (val = code);
          }
        } else typeof val == "number" ? val = val & 255 : typeof val == "boolean" && (val = Number(val));
        if (start3 < 0 || this.length < start3 || this.length < end)
          throw new RangeError("Out of range index");
        if (end <= start3)
          return this;
        start3 = start3 >>> 0, end = end === void 0 ? this.length : end >>> 0, val || (val = 0);
        let i2;
        if (typeof val == "number")
          for (i2 = start3; i2 < end; ++i2)
            this[i2] = val;
        else {
          let bytes = Buffer3.isBuffer(val) ? val : Buffer3.from(val, encoding), len = bytes.length;
          if (len === 0)
            throw new TypeError('The value "' + val + '" is invalid for argument "value"');
          for (i2 = 0; i2 < end - start3; ++i2)
            this[i2 + start3] = bytes[i2 % len];
        }
        return this;
      };
      var errors2 = {};
      function E2(sym, getMessage, Base) {
        errors2[sym] = class extends Base {
          constructor() {
            super(), Object.defineProperty(this, "message", {
              value: getMessage.apply(this, arguments),
              writable: !0,
              configurable: !0
            }), this.name = `${this.name} [${sym}]`, this.stack, delete this.name;
          }
          get code() {
            return sym;
          }
          set code(value) {
            Object.defineProperty(this, "code", {
              configurable: !0,
              enumerable: !0,
              value,
              writable: !0
            });
          }
          toString() {
            return `${this.name} [${sym}]: ${this.message}`;
          }
        };
      }
      E2(
        "ERR_BUFFER_OUT_OF_BOUNDS",
        function(name2) {
          return name2 ? `${name2} is outside of buffer bounds` : "Attempt to access memory outside buffer bounds";
        },
        RangeError
      );
      E2(
        "ERR_INVALID_ARG_TYPE",
        function(name2, actual) {
          return `The "${name2}" argument must be of type number. Received type ${typeof actual}`;
        },
        TypeError
      );
      E2(
        "ERR_OUT_OF_RANGE",
        function(str, range, input) {
          let msg = `The value of "${str}" is out of range.`, received2 = input;
          return Number.isInteger(input) && Math.abs(input) > 2 ** 32 ? received2 = addNumericalSeparator(String(input)) : typeof input == "bigint" && (received2 = String(input), (input > BigInt(2) ** BigInt(32) || input < -(BigInt(2) ** BigInt(32))) && (received2 = addNumericalSeparator(received2)), received2 += "n"), msg += ` It must be ${range}. Received ${received2}`, msg;
        },
        RangeError
      );
      function addNumericalSeparator(val) {
        let res = "", i2 = val.length, start3 = val[0] === "-" ? 1 : 0;
        for (; i2 >= start3 + 4; i2 -= 3)
          res = `_${val.slice(i2 - 3, i2)}${res}`;
        return `${val.slice(0, i2)}${res}`;
      }
      function checkBounds2(buf, offset, byteLength3) {
        validateNumber(offset, "offset"), (buf[offset] === void 0 || buf[offset + byteLength3] === void 0) && boundsError(offset, buf.length - (byteLength3 + 1));
      }
      function checkIntBI(value, min, max, buf, offset, byteLength3) {
        if (value > max || value < min) {
          let n2 = typeof min == "bigint" ? "n" : "", range;
          throw byteLength3 > 3 ? min === 0 || min === BigInt(0) ? range = `>= 0${n2} and < 2${n2} ** ${(byteLength3 + 1) * 8}${n2}` : range = `>= -(2${n2} ** ${(byteLength3 + 1) * 8 - 1}${n2}) and < 2 ** ${(byteLength3 + 1) * 8 - 1}${n2}` : range = `>= ${min}${n2} and <= ${max}${n2}`, new errors2.ERR_OUT_OF_RANGE("value", range, value);
        }
        checkBounds2(buf, offset, byteLength3);
      }
      function validateNumber(value, name2) {
        if (typeof value != "number")
          throw new errors2.ERR_INVALID_ARG_TYPE(name2, "number", value);
      }
      function boundsError(value, length, type) {
        throw Math.floor(value) !== value ? (validateNumber(value, type), new errors2.ERR_OUT_OF_RANGE(type || "offset", "an integer", value)) : length < 0 ? new errors2.ERR_BUFFER_OUT_OF_BOUNDS() : new errors2.ERR_OUT_OF_RANGE(
          type || "offset",
          `>= ${type ? 1 : 0} and <= ${length}`,
          value
        );
      }
      var INVALID_BASE64_RE = /[^+/0-9A-Za-z-_]/g;
      function base64clean(str) {
        if (str = str.split("=")[0], str = str.trim().replace(INVALID_BASE64_RE, ""), str.length < 2) return "";
        for (; str.length % 4 !== 0; )
          str = str + "=";
        return str;
      }
      function utf8ToBytes(string, units2) {
        units2 = units2 || 1 / 0;
        let codePoint, length = string.length, leadSurrogate = null, bytes = [];
        for (let i2 = 0; i2 < length; ++i2) {
          if (codePoint = string.charCodeAt(i2), codePoint > 55295 && codePoint < 57344) {
            if (!leadSurrogate) {
              if (codePoint > 56319) {
                (units2 -= 3) > -1 && bytes.push(239, 191, 189);
                continue;
              } else if (i2 + 1 === length) {
                (units2 -= 3) > -1 && bytes.push(239, 191, 189);
                continue;
              }
              leadSurrogate = codePoint;
              continue;
            }
            if (codePoint < 56320) {
              (units2 -= 3) > -1 && bytes.push(239, 191, 189), leadSurrogate = codePoint;
              continue;
            }
            codePoint = (leadSurrogate - 55296 << 10 | codePoint - 56320) + 65536;
          } else leadSurrogate && (units2 -= 3) > -1 && bytes.push(239, 191, 189);
          if (leadSurrogate = null, codePoint < 128) {
            if ((units2 -= 1) < 0) break;
            bytes.push(codePoint);
          } else if (codePoint < 2048) {
            if ((units2 -= 2) < 0) break;
            bytes.push(
              codePoint >> 6 | 192,
              codePoint & 63 | 128
            );
          } else if (codePoint < 65536) {
            if ((units2 -= 3) < 0) break;
            bytes.push(
              codePoint >> 12 | 224,
              codePoint >> 6 & 63 | 128,
              codePoint & 63 | 128
            );
          } else if (codePoint < 1114112) {
            if ((units2 -= 4) < 0) break;
            bytes.push(
              codePoint >> 18 | 240,
              codePoint >> 12 & 63 | 128,
              codePoint >> 6 & 63 | 128,
              codePoint & 63 | 128
            );
          } else
            throw new Error("Invalid code point");
        }
        return bytes;
      }
      function asciiToBytes(str) {
        let byteArray = [];
        for (let i2 = 0; i2 < str.length; ++i2)
          byteArray.push(str.charCodeAt(i2) & 255);
        return byteArray;
      }
      function utf16leToBytes(str, units2) {
        let c2, hi, lo2, byteArray = [];
        for (let i2 = 0; i2 < str.length && !((units2 -= 2) < 0); ++i2)
          c2 = str.charCodeAt(i2), hi = c2 >> 8, lo2 = c2 % 256, byteArray.push(lo2), byteArray.push(hi);
        return byteArray;
      }
      function base64ToBytes(str) {
        return base64.toByteArray(base64clean(str));
      }
      function blitBuffer(src, dst, offset, length) {
        let i2;
        for (i2 = 0; i2 < length && !(i2 + offset >= dst.length || i2 >= src.length); ++i2)
          dst[i2 + offset] = src[i2];
        return i2;
      }
      function isInstance(obj, type) {
        return obj instanceof type || obj != null && obj.constructor != null && obj.constructor.name != null && obj.constructor.name === type.name;
      }
      function numberIsNaN(obj) {
        return obj !== obj;
      }
      var hexSliceLookupTable = (function() {
        let alphabet = "0123456789abcdef", table = new Array(256);
        for (let i2 = 0; i2 < 16; ++i2) {
          let i16 = i2 * 16;
          for (let j2 = 0; j2 < 16; ++j2)
            table[i16 + j2] = alphabet[i2] + alphabet[j2];
        }
        return table;
      })();
      function defineBigIntMethod(fn) {
        return typeof BigInt > "u" ? BufferBigIntNotDefined : fn;
      }
      function BufferBigIntNotDefined() {
        throw new Error("BigInt not supported");
      }
    }
  });

  // src/buffer.js
  var buffer_exports = {};
  __export(buffer_exports, {
    Buffer: () => Buffer2,
    INSPECT_MAX_BYTES: () => INSPECT_MAX_BYTES,
    SlowBuffer: () => SlowBuffer,
    constants: () => constants,
    default: () => buffer_default,
    isAscii: () => isAscii,
    isUtf8: () => isUtf8,
    kMaxLength: () => kMaxLength,
    transcode: () => transcode
  });
  var library, Buffer2, SlowBuffer, kMaxLength, native2, toHex, toLatin1, fromBytes, plain, HEX_PAIRS, fromText, checkSource, checkBounds, isEncoding, toText, byteLength, write, isNothing, inspectBuffer, checkInteger, checkOffset, checkValue, shapeOf, bytesWanted, compare, concat, compareTo, copy, equals, fill, methods, constants, isUtf8, isAscii, INSPECT_MAX_BYTES, lastOf, transcode, buffer_default, init_buffer = __esm({
    "src/buffer.js"() {
      library = __toESM(require_buffer(), 1);
      init_util();
      ({ Buffer: Buffer2, SlowBuffer, kMaxLength } = library), { native: native2, toHex, toLatin1 } = host, fromBytes = (bytes) => Buffer2.from(bytes.buffer, bytes.byteOffset, bytes.length), plain = (buffer2, start3 = 0, end = buffer2.length) => new Uint8Array(buffer2.buffer, buffer2.byteOffset + start3, Math.max(0, end - start3)), HEX_PAIRS = /^(?:[0-9a-f]{2})*/i, fromText = Buffer2.from, checkSource = (value) => {
        if (typeof value == "object" && value !== null) {
          if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value.length !== void 0 || value.type === "Buffer" || /^(Shared)?ArrayBuffer$/.test(native2.className(value))) return value;
          let plainValue = value.valueOf?.();
          if (plainValue != null && plainValue !== value && ["string", "object"].includes(typeof plainValue)) return value;
          let primitive = typeof value[Symbol.toPrimitive] == "function" ? value[Symbol.toPrimitive]("string") : void 0;
          if (typeof primitive == "string") return primitive;
        }
        let expected = "The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object.", { message } = invalidType("x", "string", value);
        throw codedError(TypeError, "ERR_INVALID_ARG_TYPE", expected + message.slice(message.indexOf(" Received")));
      }, checkBounds = (size, offset, length) => {
        let from = Number(offset) || 0, refuse = (name2) => codedError(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", `"${name2}" is outside of buffer bounds`);
        if (from > size) throw refuse("offset");
        if (length !== void 0 && (Number(length) || 0) > size - from) throw refuse("length");
      };
      Buffer2.from = {
        from(value, encoding, length) {
          if (typeof value != "string") {
            let source = checkSource(value);
            return /^(Shared)?ArrayBuffer$/.test(native2.className(source)) && checkBounds(source.byteLength, encoding, length), typeof source == "string" ? Buffer2.from(source, encoding) : fromText(source, encoding, length);
          }
          switch (String(encoding ?? "utf8").toLowerCase()) {
            case "utf8":
            case "utf-8":
              return fromBytes(native2.encodeUtf8(value));
            case "base64":
            case "base64url": {
              let [data] = value.split("=", 1), text3 = data.replace(/-/g, "+").replace(/_/g, "/").replace(/[^A-Za-z0-9+/]/g, "");
              return fromText(text3, "base64");
            }
            case "hex":
              return fromText(HEX_PAIRS.exec(value)[0], "hex");
            default:
              if (!isEncoding(encoding)) throw codedError(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
              return fromText(value, encoding);
          }
        }
      }.from;
      isEncoding = Buffer2.isEncoding;
      Buffer2.isEncoding = (encoding) => String(encoding).toLowerCase() === "base64url" || isEncoding(encoding);
      toText = Buffer2.prototype.toString;
      Buffer2.prototype.toString = function(encoding, start3, end) {
        let from = Math.min(Math.max(Math.trunc(start3) || 0, 0), this.length), to2 = end === void 0 ? this.length : Math.min(Math.max(Math.trunc(end) || 0, from), this.length);
        switch (String(encoding ?? "utf8").toLowerCase()) {
          case "utf8":
          case "utf-8":
            return native2.decodeUtf8Lossy(plain(this, from, to2));
          case "base64":
            return native2.encodeBase64(plain(this, from, to2));
          case "base64url":
            return native2.encodeBase64(plain(this, from, to2)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
          case "hex":
            return toHex(plain(this, from, to2));
          case "latin1":
          case "binary":
            return toLatin1(plain(this, from, to2));
          default:
            if (!isEncoding(encoding)) throw codedError(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
            return toText.call(this, encoding, from, to2);
        }
      };
      Buffer2.prototype.toLocaleString = Buffer2.prototype.toString;
      byteLength = Buffer2.byteLength;
      Buffer2.byteLength = (value, encoding) => {
        if (typeof value != "string" && !ArrayBuffer.isView(value) && !/ArrayBuffer$/.test(native2.className(value))) throw invalidType("string", "string or an instance of Buffer or ArrayBuffer", value);
        return typeof value == "string" && /^utf-?8$/i.test(encoding ?? "utf8") ? native2.encodeUtf8(value).length : typeof value == "string" && /^base64(url)?$/i.test(encoding) ? value.replace(/={1,2}$/, "").length * 3 >>> 2 : byteLength(value, encoding);
      };
      write = Buffer2.prototype.write;
      Buffer2.prototype.write = function(text3, offset, length, encoding) {
        if (typeof text3 != "string") throw codedError(TypeError, "ERR_INVALID_ARG_TYPE", "argument must be a string");
        if (typeof offset == "string" && length === void 0) return this.write(text3, 0, this.length, offset);
        if (offset !== void 0 && typeof offset != "number") throw invalidType("offset", "number", offset);
        if (typeof offset == "number" && !(offset >= 0 && offset <= this.length)) throw outOfRange("offset", `>= 0 && <= ${this.length}`, offset);
        if (typeof length == "string") return this.write(text3, offset, this.length - offset, length);
        if (/^hex$/i.test(encoding)) {
          let [pairs2] = HEX_PAIRS.exec(text3);
          return pairs2 === "" ? 0 : write.call(this, pairs2, offset ?? 0, length ?? this.length - (offset ?? 0), encoding);
        }
        if (encoding === "base64url") {
          let bytes = Buffer2.from(text3, encoding);
          return bytes.copy(this, offset ?? 0, 0, Math.min(bytes.length, length ?? this.length));
        }
        return write.call(this, text3, offset ?? 0, length ?? this.length - (offset ?? 0), encoding);
      };
      isNothing = (value) => value === "" || value instanceof Uint8Array && value.length === 0;
      for (let name2 of ["indexOf", "lastIndexOf"]) {
        let find2 = Buffer2.prototype[name2];
        Buffer2.prototype[name2] = {
          [name2](value, offset, encoding) {
            if (typeof value != "string" && typeof value != "number" && !(value instanceof Uint8Array))
              throw invalidType("value", "one of type number or string or an instance of Buffer or Uint8Array", value);
            if (!isNothing(value)) return find2.call(this, value, offset, encoding);
            let from = Math.trunc(offset ?? NaN);
            return Number.isNaN(from) ? name2 === "indexOf" ? 0 : this.length : from < 0 ? Math.max(this.length + from, 0) : Math.min(from, this.length);
          }
        }[name2];
      }
      Buffer2.prototype.includes = function(value, offset, encoding) {
        return this.indexOf(value, offset, encoding) !== -1;
      };
      inspectBuffer = function(depth, options) {
        let shown4 = [...plain(this, 0, Math.min(this.length, 50))].map((byte) => byte.toString(16).padStart(2, "0")), left = this.length - 50, rest = left > 0 ? ` ... ${left} more byte${left === 1 ? "" : "s"}` : "", own = Object.entries(this).filter(([key]) => !/^\d+$/.test(key)), extra = own.length > 0 && options ? `, ${host.inspect(Object.fromEntries(own), { ...options, breakLength: 1 / 0, compact: !0 }).slice(2, -2)}` : "";
        return `<Buffer ${shown4.join(" ")}${rest}${extra}>`;
      };
      Object.defineProperty(Buffer2.prototype, /* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom"), {
        value: inspectBuffer,
        writable: !0,
        configurable: !0
      });
      Object.defineProperty(Buffer2.prototype, "constructor", { value: Buffer2, writable: !0, configurable: !0 });
      Buffer2.prototype.toJSON = function() {
        return { type: "Buffer", data: [...plain(this)] };
      };
      for (let name2 of Object.keys(Buffer2.prototype))
        /U[Ii]nt/.test(name2) && (Buffer2.prototype[name2.replace("UInt", "Uint")] ??= Buffer2.prototype[name2]);
      Object.defineProperty(Buffer2.prototype, Symbol.toStringTag, Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag));
      for (let name2 of ["alloc", "allocUnsafe", "allocUnsafeSlow"]) {
        let work2 = Buffer2[name2];
        Buffer2[name2] = {
          [name2](size, ...values2) {
            if (typeof size != "number") throw invalidType("size", "number", size);
            if (!(size >= 0 && size <= kMaxLength)) {
              let range = `>= 0 && <= ${kMaxLength}`;
              throw codedError(RangeError, "ERR_OUT_OF_RANGE", `The value of "size" is out of range. It must be ${range}. Received ${size}`);
            }
            return work2(size, ...values2);
          }
        }[name2];
      }
      checkInteger = (name2, value) => {
        if (typeof value != "number") throw invalidType(name2, "number", value);
        if (!isWhole(value)) throw outOfRange(name2, "an integer", value);
      }, checkOffset = (buffer2, offset, size) => {
        checkInteger("offset", offset);
        let most = buffer2.length - size;
        if (most < 0) throw codedError(RangeError, "ERR_BUFFER_OUT_OF_BOUNDS", "Attempt to access memory outside buffer bounds");
        if (offset < 0 || offset > most) throw outOfRange("offset", `>= 0 and <= ${most}`, offset);
      }, checkValue = (value, bits, isSigned, isBig) => {
        let [least2, most] = isSigned ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1];
        if (isBig) {
          if (typeof value != "bigint") throw new TypeError("Cannot mix BigInt and other types, use explicit conversions");
          if (isSigned ? BigInt.asIntN(bits, value) === value : BigInt.asUintN(bits, value) === value) return;
          throw outOfRange("value", isSigned ? `>= -(2n ** ${bits - 1}n) and < 2n ** ${bits - 1}n` : `>= 0n and < 2n ** ${bits}n`, value);
        }
        if (value >= least2 && value <= most || Number.isNaN(Number(value))) return;
        let range = bits <= 32 ? `>= ${least2} and <= ${most}` : isSigned ? `>= -(2 ** ${bits - 1}) and < 2 ** ${bits - 1}` : `>= 0 and < 2 ** ${bits}`;
        throw outOfRange("value", range, value);
      }, shapeOf = (name2) => {
        let [, kind, bits] = /^(?:read|write)(Big)?U?[Ii]nt(\d*)/.exec(name2) ?? [], isInteger = /[Ii]nt/.test(name2);
        return { size: isInteger ? bits === "" ? void 0 : bits / 8 : /Double/.test(name2) ? 8 : 4, isBig: kind === "Big", isInteger, isSigned: !/U[Ii]nt/.test(name2) };
      };
      for (let name2 of Object.getOwnPropertyNames(Buffer2.prototype)) {
        if (!/^(read|write)[A-Z]/.test(name2)) continue;
        let work2 = Buffer2.prototype[name2], { size, isBig, isInteger, isSigned } = shapeOf(name2), isPlain = size !== void 0 && !isBig, [least2, most] = isInteger ? isSigned ? [-(2 ** (size * 8 - 1)), 2 ** (size * 8 - 1) - 1] : [0, 2 ** (size * 8) - 1] : [-1 / 0, 1 / 0], isWithin = (buffer2, offset) => (offset | 0) === offset && offset >= 0 && offset + size <= buffer2.length, check4 = (buffer2, value, offset, given, isWrite) => {
          let bytes = size ?? given;
          if (size === void 0 && (checkInteger("byteLength", bytes), bytes < 1 || bytes > 6))
            throw outOfRange("byteLength", ">= 1 and <= 6", bytes);
          isWrite && isInteger && checkValue(value, bytes * 8, isSigned, isBig), checkOffset(buffer2, offset, bytes);
        }, checked4 = name2.startsWith("read") ? {
          [name2](offset = size === void 0 ? void 0 : 0, byteLength2) {
            return isPlain && isWithin(this, offset) || check4(this, void 0, offset, byteLength2, !1), work2.call(this, offset, size === void 0 ? byteLength2 : !0);
          }
        }[name2] : {
          [name2](value, offset = size === void 0 ? void 0 : 0, byteLength2) {
            let number = isBig ? value : +value;
            return isPlain && number >= least2 && number <= most && isWithin(this, offset) || check4(this, number, offset, byteLength2, !0), size === void 0 ? work2.call(this, number, offset, byteLength2, !0) : work2.call(this, number, offset, !0);
          }
        }[name2];
        Object.defineProperty(Buffer2.prototype, name2, { value: checked4 });
      }
      bytesWanted = (name2, value) => {
        if (!(value instanceof Uint8Array)) throw invalidType(name2, "an instance of Buffer or Uint8Array", value);
        return value;
      }, { compare, concat } = Buffer2, { compare: compareTo, copy, equals, fill } = Buffer2.prototype;
      Buffer2.compare = (a2, b2) => compare(bytesWanted("buf1", a2), bytesWanted("buf2", b2));
      Buffer2.concat = function(list, length) {
        if (!Array.isArray(list)) throw invalidType("list", "an instance of Array", list);
        return list.forEach((part, at2) => bytesWanted(`list[${at2}]`, part)), concat(list, length);
      };
      methods = {
        compare(target2, ...rest) {
          return compareTo.call(this, bytesWanted("target", target2), ...rest);
        },
        copy(target2, targetStart, sourceStart, sourceEnd) {
          bytesWanted("target", target2);
          for (let [name2, place, most] of [["targetStart", targetStart, 1 / 0], ["sourceStart", sourceStart, this.length], ["sourceEnd", sourceEnd, 1 / 0]]) {
            if (place === void 0) continue;
            let whole = Math.trunc(place) || 0;
            if (whole < 0 || whole > most) throw outOfRange(name2, most === 1 / 0 ? ">= 0" : `>= 0 && <= ${most}`, place);
          }
          return copy.call(this, target2, targetStart, sourceStart, sourceEnd);
        },
        equals(other) {
          return equals.call(this, bytesWanted("otherBuffer", other));
        },
        fill(value, offset, end, encoding) {
          for (let [name2, place, most] of [["offset", offset, kMaxLength], ["end", end, this.length]])
            if (typeof place == "number" && (checkInteger(name2, place), place < 0 || place > most))
              throw outOfRange(name2, `>= 0 && <= ${most}`, place);
          if (typeof offset == "number" && offset >= (typeof end == "number" ? end : this.length)) return this;
          let used = [offset, end, encoding].find((given) => typeof given == "string");
          if (typeof value == "string" && used !== void 0) {
            if (!Buffer2.isEncoding(used)) throw codedError(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${used}`);
            if (value !== "" && Buffer2.from(value, used).length === 0) throw invalidValue("value", value);
          }
          if (value instanceof Uint8Array && value.length === 0) throw invalidValue("value", value);
          return fill.call(this, value, offset, end, encoding);
        }
      };
      for (let name2 of ["swap16", "swap32", "swap64"]) {
        let swap = Buffer2.prototype[name2], bits = name2.slice(4);
        methods[name2] = function() {
          if (this.length % (bits / 8) !== 0) throw codedError(RangeError, "ERR_INVALID_BUFFER_SIZE", `Buffer size must be a multiple of ${bits}-bits`);
          return swap.call(this);
        };
      }
      for (let [name2, method] of Object.entries(methods)) Buffer2.prototype[name2] = Object.defineProperty(method, "name", { value: name2 });
      for (let encoding of ["ascii", "base64", "base64url", "hex", "latin1", "ucs2", "utf8"])
        for (let [kind, method] of [["Slice", (self2, start3, end) => self2.toString(encoding, start3, end)], ["Write", (self2, text3, offset = 0, length = self2.length - offset) => self2.write(text3, offset, length, encoding)]]) {
          let name2 = encoding + kind, value = { [name2](...values2) {
            return method(this, ...values2);
          } }[name2];
          Object.defineProperty(Buffer2.prototype, name2, { value, writable: !0, configurable: !0, enumerable: !0 });
        }
      Buffer2.copyBytesFrom = (view, offset = 0, length = view?.length - offset) => {
        if (!ArrayBuffer.isView(view) || native2.className(view) === "DataView") throw invalidType("view", "an instance of TypedArray", view);
        for (let [name2, place] of [["offset", offset], ["length", length]])
          if (checkInteger(name2, place), place < 0 && name2 === "offset") throw outOfRange(name2, ">= 0", place);
        let part = view.subarray(offset, offset + Math.max(length, 0));
        return Buffer2.from(new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
      };
      provide({ Buffer: Buffer2 });
      constants = { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: 536870888 }, isUtf8 = (bytes) => native2.decodeUtf8(plain(Buffer2.from(bytes))) != null, isAscii = (bytes) => [...plain(Buffer2.from(bytes))].every((byte) => byte < 128), INSPECT_MAX_BYTES = 50, lastOf = { ascii: 127, latin1: 255, binary: 255 }, transcode = (source, from, to2) => {
        let text3 = Buffer2.from(source).toString(from), last2 = lastOf[String(to2).toLowerCase()];
        return Buffer2.from(last2 === void 0 ? text3 : Array.from(text3, (point) => point.codePointAt(0) > last2 ? "?" : point).join(""), to2);
      }, buffer_default = {
        Buffer: Buffer2,
        SlowBuffer,
        kMaxLength,
        kStringMaxLength: constants.MAX_STRING_LENGTH,
        resolveObjectURL: (url) => host.objectUrls.get(`${url}`),
        constants,
        INSPECT_MAX_BYTES,
        isUtf8,
        isAscii,
        transcode,
        atob: globalThis.atob,
        btoa: globalThis.btoa,
        get Blob() {
          return globalThis.Blob;
        },
        get File() {
          return globalThis.File;
        }
      };
    }
  });

  // node_modules/events/events.js
  var require_events = __commonJS({
    "node_modules/events/events.js"(exports, module) {
      "use strict";
      var R2 = typeof Reflect == "object" ? Reflect : null, ReflectApply = R2 && typeof R2.apply == "function" ? R2.apply : function(target2, receiver2, args) {
        return Function.prototype.apply.call(target2, receiver2, args);
      }, ReflectOwnKeys;
      R2 && typeof R2.ownKeys == "function" ? ReflectOwnKeys = R2.ownKeys : Object.getOwnPropertySymbols ? ReflectOwnKeys = function(target2) {
        return Object.getOwnPropertyNames(target2).concat(Object.getOwnPropertySymbols(target2));
      } : ReflectOwnKeys = function(target2) {
        return Object.getOwnPropertyNames(target2);
      };
      function ProcessEmitWarning(warning) {
        EventEmitter2.warnOfListeners(warning);
      }
      var NumberIsNaN = Number.isNaN || function(value) {
        return value !== value;
      };
      function EventEmitter2(options) {
        EventEmitter2.init.call(this, options);
      }
      module.exports = EventEmitter2;
      module.exports.once = once;
      EventEmitter2.EventEmitter = EventEmitter2;
      EventEmitter2.prototype._events = void 0;
      EventEmitter2.prototype._eventsCount = 0;
      EventEmitter2.prototype._maxListeners = void 0;
      var defaultMaxListeners = 10;
      function checkListener(listener) {
        if (typeof listener != "function")
          throw new TypeError('The "listener" argument must be of type Function. Received type ' + typeof listener);
      }
      Object.defineProperty(EventEmitter2, "defaultMaxListeners", {
        enumerable: !0,
        get: function() {
          return defaultMaxListeners;
        },
        set: function(arg) {
          if (typeof arg != "number" || arg < 0 || NumberIsNaN(arg))
            throw new RangeError('The value of "defaultMaxListeners" is out of range. It must be a non-negative number. Received ' + arg + ".");
          defaultMaxListeners = arg;
        }
      });
      EventEmitter2.init = function() {
        (this._events === void 0 || this._events === Object.getPrototypeOf(this)._events) && (this._events = /* @__PURE__ */ Object.create(null), this._eventsCount = 0), this._maxListeners = this._maxListeners || void 0;
      };
      EventEmitter2.prototype.setMaxListeners = function(n2) {
        if (typeof n2 != "number" || n2 < 0 || NumberIsNaN(n2))
          throw new RangeError('The value of "n" is out of range. It must be a non-negative number. Received ' + n2 + ".");
        return this._maxListeners = n2, this;
      };
      function _getMaxListeners(that) {
        return that._maxListeners === void 0 ? EventEmitter2.defaultMaxListeners : that._maxListeners;
      }
      EventEmitter2.prototype.getMaxListeners = function() {
        return _getMaxListeners(this);
      };
      EventEmitter2.prototype.emit = function(type) {
        for (var args = [], i2 = 1; i2 < arguments.length; i2++) args.push(arguments[i2]);
        var doError = type === "error", events = this._events;
        if (events !== void 0)
          doError = doError && events.error === void 0;
        else if (!doError)
          return !1;
        if (doError) {
          var er2;
          if (args.length > 0 && (er2 = args[0]), er2 instanceof Error)
            throw er2;
          var err = new Error("Unhandled error." + (er2 ? " (" + er2.message + ")" : ""));
          throw err.context = er2, err;
        }
        var handler = events[type];
        if (handler === void 0)
          return !1;
        if (typeof handler == "function")
          ReflectApply(handler, this, args);
        else
          for (var len = handler.length, listeners = arrayClone(handler, len), i2 = 0; i2 < len; ++i2)
            ReflectApply(listeners[i2], this, args);
        return !0;
      };
      function _addListener(target2, type, listener, prepend) {
        var m2, events, existing;
        if (checkListener(listener), events = target2._events, events === void 0 ? (events = target2._events = /* @__PURE__ */ Object.create(null), target2._eventsCount = 0) : (events.newListener !== void 0 && (target2.emit(
          "newListener",
          type,
          listener.listener ? listener.listener : listener
        ), events = target2._events), existing = events[type]), existing === void 0)
          existing = events[type] = listener, ++target2._eventsCount;
        else if (typeof existing == "function" ? existing = events[type] = prepend ? [listener, existing] : [existing, listener] : prepend ? existing.unshift(listener) : existing.push(listener), m2 = _getMaxListeners(target2), m2 > 0 && existing.length > m2 && !existing.warned) {
          existing.warned = !0;
          var w2 = new Error("Possible EventEmitter memory leak detected. " + existing.length + " " + String(type) + " listeners added. Use emitter.setMaxListeners() to increase limit");
          w2.name = "MaxListenersExceededWarning", w2.emitter = target2, w2.type = type, w2.count = existing.length, ProcessEmitWarning(w2);
        }
        return target2;
      }
      EventEmitter2.prototype.addListener = function(type, listener) {
        return _addListener(this, type, listener, !1);
      };
      EventEmitter2.prototype.on = EventEmitter2.prototype.addListener;
      EventEmitter2.prototype.prependListener = function(type, listener) {
        return _addListener(this, type, listener, !0);
      };
      function onceWrapper() {
        if (!this.fired)
          return this.target.removeListener(this.type, this.wrapFn), this.fired = !0, arguments.length === 0 ? this.listener.call(this.target) : this.listener.apply(this.target, arguments);
      }
      function _onceWrap(target2, type, listener) {
        var state = { fired: !1, wrapFn: void 0, target: target2, type, listener }, wrapped = onceWrapper.bind(state);
        return wrapped.listener = listener, state.wrapFn = wrapped, wrapped;
      }
      EventEmitter2.prototype.once = function(type, listener) {
        return checkListener(listener), this.on(type, _onceWrap(this, type, listener)), this;
      };
      EventEmitter2.prototype.prependOnceListener = function(type, listener) {
        return checkListener(listener), this.prependListener(type, _onceWrap(this, type, listener)), this;
      };
      EventEmitter2.prototype.removeListener = function(type, listener) {
        var list, events, position, i2, originalListener;
        if (checkListener(listener), events = this._events, events === void 0)
          return this;
        if (list = events[type], list === void 0)
          return this;
        if (list === listener || list.listener === listener)
          --this._eventsCount === 0 ? this._events = /* @__PURE__ */ Object.create(null) : (delete events[type], events.removeListener && this.emit("removeListener", type, list.listener || listener));
        else if (typeof list != "function") {
          for (position = -1, i2 = list.length - 1; i2 >= 0; i2--)
            if (list[i2] === listener || list[i2].listener === listener) {
              originalListener = list[i2].listener, position = i2;
              break;
            }
          if (position < 0)
            return this;
          position === 0 ? list.shift() : spliceOne(list, position), list.length === 1 && (events[type] = list[0]), events.removeListener !== void 0 && this.emit("removeListener", type, originalListener || listener);
        }
        return this;
      };
      EventEmitter2.prototype.off = EventEmitter2.prototype.removeListener;
      EventEmitter2.prototype.removeAllListeners = function(type) {
        var listeners, events, i2;
        if (events = this._events, events === void 0)
          return this;
        if (events.removeListener === void 0)
          return arguments.length === 0 ? (this._events = /* @__PURE__ */ Object.create(null), this._eventsCount = 0) : events[type] !== void 0 && (--this._eventsCount === 0 ? this._events = /* @__PURE__ */ Object.create(null) : delete events[type]), this;
        if (arguments.length === 0) {
          var keys = Reflect.ownKeys(events), key;
          for (i2 = 0; i2 < keys.length; ++i2)
            key = keys[i2], key !== "removeListener" && this.removeAllListeners(key);
          return this.removeAllListeners("removeListener"), this._events = /* @__PURE__ */ Object.create(null), this._eventsCount = 0, this;
        }
        if (listeners = events[type], typeof listeners == "function")
          this.removeListener(type, listeners);
        else if (listeners !== void 0)
          for (i2 = listeners.length - 1; i2 >= 0; i2--)
            this.removeListener(type, listeners[i2]);
        return this;
      };
      function _listeners(target2, type, unwrap) {
        var events = target2._events;
        if (events === void 0)
          return [];
        var evlistener = events[type];
        return evlistener === void 0 ? [] : typeof evlistener == "function" ? unwrap ? [evlistener.listener || evlistener] : [evlistener] : unwrap ? unwrapListeners(evlistener) : arrayClone(evlistener, evlistener.length);
      }
      EventEmitter2.prototype.listeners = function(type) {
        return _listeners(this, type, !0);
      };
      EventEmitter2.prototype.rawListeners = function(type) {
        return _listeners(this, type, !1);
      };
      EventEmitter2.listenerCount = function(emitter, type) {
        return typeof emitter.listenerCount == "function" ? emitter.listenerCount(type) : listenerCount.call(emitter, type);
      };
      EventEmitter2.prototype.listenerCount = listenerCount;
      function listenerCount(type) {
        var events = this._events;
        if (events !== void 0) {
          var evlistener = events[type];
          if (typeof evlistener == "function")
            return 1;
          if (evlistener !== void 0)
            return evlistener.length;
        }
        return 0;
      }
      EventEmitter2.prototype.eventNames = function() {
        return this._eventsCount > 0 ? ReflectOwnKeys(this._events) : [];
      };
      function arrayClone(arr, n2) {
        for (var copy2 = new Array(n2), i2 = 0; i2 < n2; ++i2)
          copy2[i2] = arr[i2];
        return copy2;
      }
      function spliceOne(list, index) {
        for (; index + 1 < list.length; index++)
          list[index] = list[index + 1];
        list.pop();
      }
      function unwrapListeners(arr) {
        for (var ret = new Array(arr.length), i2 = 0; i2 < ret.length; ++i2)
          ret[i2] = arr[i2].listener || arr[i2];
        return ret;
      }
      function once(emitter, name2) {
        return new Promise(function(resolve3, reject) {
          function errorListener(err) {
            emitter.removeListener(name2, resolver), reject(err);
          }
          function resolver() {
            typeof emitter.removeListener == "function" && emitter.removeListener("error", errorListener), resolve3([].slice.call(arguments));
          }
          eventTargetAgnosticAddListener(emitter, name2, resolver, { once: !0 }), name2 !== "error" && addErrorHandlerIfEventEmitter(emitter, errorListener, { once: !0 });
        });
      }
      function addErrorHandlerIfEventEmitter(emitter, handler, flags) {
        typeof emitter.on == "function" && eventTargetAgnosticAddListener(emitter, "error", handler, flags);
      }
      function eventTargetAgnosticAddListener(emitter, name2, listener, flags) {
        if (typeof emitter.on == "function")
          flags.once ? emitter.once(name2, listener) : emitter.on(name2, listener);
        else if (typeof emitter.addEventListener == "function")
          emitter.addEventListener(name2, function wrapListener(arg) {
            flags.once && emitter.removeEventListener(name2, wrapListener), listener(arg);
          });
        else
          throw new TypeError('The "emitter" argument must be of type EventEmitter. Received type ' + typeof emitter);
      }
    }
  });

  // src/events.js
  var events_exports = {};
  __export(events_exports, {
    EventEmitter: () => import_events.default,
    default: () => events_default,
    marks: () => marks
  });
  var import_events, marks, init, capture, rejected, emitAndCapture, emit, setMaxListeners, events_default, init_events = __esm({
    "src/events.js"() {
      init_absent();
      import_events = __toESM(require_events(), 1);
      init_util();
      marks = [/* @__PURE__ */ Symbol("shapeMode"), /* @__PURE__ */ Symbol("kCapture")], { init } = import_events.default, [, capture] = marks;
      import_events.default.captureRejections = !1;
      import_events.default.init = function(options) {
        init.call(this);
        for (let mark of marks) this[mark] = !1;
        this[capture] = !!(options?.captureRejections ?? import_events.default.captureRejections);
      };
      for (let name2 of ["addListener", "once", "prependListener", "prependOnceListener", "removeListener"]) {
        let method = import_events.default.prototype[name2];
        import_events.default.prototype[name2] = {
          [name2](event, listener) {
            if (typeof listener != "function") throw invalidType("listener", "function", listener);
            return method.call(this, event, listener);
          }
        }[name2];
      }
      import_events.default.prototype.on = import_events.default.prototype.addListener;
      import_events.default.prototype.off = import_events.default.prototype.removeListener;
      rejected = (emitter, error, event, values2) => {
        let own = emitter[import_events.default.captureRejectionSymbol];
        if (typeof own == "function") {
          own.call(emitter, error, event, ...values2);
          return;
        }
        let before = emitter[capture];
        emitter[capture] = !1;
        try {
          emitter.emit("error", error);
        } finally {
          emitter[capture] = before;
        }
      }, emitAndCapture = (emitter, event, values2) => {
        let listeners = emitter.rawListeners(event);
        for (let listener of listeners) {
          let result = listener.apply(emitter, values2);
          typeof result?.then == "function" && result.then(void 0, (error) => host.queueTick(rejected, [emitter, error, event, values2]));
        }
        return listeners.length > 0;
      }, { emit } = import_events.default.prototype;
      import_events.default.prototype.emit = {
        emit(event, ...values2) {
          if (event !== "error") return this[capture] ? emitAndCapture(this, event, values2) : emit.call(this, event, ...values2);
          if (this.listenerCount(import_events.default.errorMonitor) > 0 && emit.call(this, import_events.default.errorMonitor, ...values2), this.listenerCount("error") > 0 || values2[0] instanceof Error) return emit.call(this, event, ...values2);
          let shown4 = ` (${host.inspect(values2[0])})`, error = codedError(Error, "ERR_UNHANDLED_ERROR", `Unhandled error.${shown4}`);
          throw Object.assign(error, { context: values2[0] });
        }
      }.emit;
      ({ setMaxListeners } = import_events.default.prototype);
      import_events.default.prototype.setMaxListeners = {
        setMaxListeners(count) {
          if (typeof count != "number") throw invalidType("setMaxListeners", "number", count);
          if (!(count >= 0)) throw outOfRange("setMaxListeners", ">= 0", count);
          return setMaxListeners.call(this, count);
        }
      }.setMaxListeners;
      Object.defineProperty(import_events.default, "warnOfListeners", {
        value({ name: name2, emitter, type, count }) {
          let message = `Possible EventEmitter memory leak detected. ${count} ${String(type)} listeners added to ${host.inspect(emitter, { depth: -1 })}. MaxListeners is ${emitter.getMaxListeners()}. Use emitter.setMaxListeners() to increase limit`, warning = Object.assign(new Error(message), { emitter, type, count });
          Object.defineProperty(warning, "name", { value: name2, writable: !0, configurable: !0 }), emitWarning(warning);
        }
      });
      import_events.default.EventEmitter = import_events.default;
      import_events.default.errorMonitor = /* @__PURE__ */ Symbol("events.errorMonitor");
      import_events.default.captureRejectionSymbol = /* @__PURE__ */ Symbol.for("nodejs.rejection");
      import_events.default.getEventListeners = (emitter, name2) => {
        if (typeof emitter?.listeners == "function") return emitter.listeners(name2);
        if (emitter instanceof EventTarget) return host.listenersTo(emitter, String(name2));
        throw invalidType("emitter", "an instance of EventEmitter or EventTarget", emitter);
      };
      import_events.default.getMaxListeners = (emitter) => emitter.getMaxListeners?.() ?? import_events.default.defaultMaxListeners;
      import_events.default.addAbortListener = (signal, listener) => {
        if (!(signal instanceof AbortSignal)) throw invalidType("signal", "an instance of AbortSignal", signal);
        if (typeof listener != "function") throw invalidType("listener", "function", listener);
        return signal.aborted ? queueMicrotask(() => listener()) : signal.addEventListener("abort", listener, { once: !0 }), { [Symbol.dispose ?? /* @__PURE__ */ Symbol.for("nodejs.dispose")]: () => signal.removeEventListener("abort", listener) };
      };
      import_events.default.listenerCount = (emitter, name2) => emitter.listenerCount(name2);
      import_events.default.setMaxListeners = (count, ...emitters) => {
        emitters.length === 0 && (import_events.default.defaultMaxListeners = count);
        for (let emitter of emitters) emitter.setMaxListeners?.(count);
      };
      import_events.default.once = async (emitter, name2, options) => {
        let signal = options?.signal;
        if (signal?.aborted) throw abortError(signal);
        let isTarget = typeof emitter.addEventListener == "function" && typeof emitter.on != "function", failsToo = !isTarget && name2 !== "error";
        return new Promise((resolve3, reject) => {
          let finish = (settle, value) => {
            isTarget ? emitter.removeEventListener(name2, happened) : emitter.removeListener(name2, happened), failsToo && emitter.removeListener("error", fail4), signal?.removeEventListener("abort", abort), settle(value);
          }, happened = (...values2) => finish(resolve3, values2), fail4 = (error) => finish(reject, error), abort = () => finish(reject, abortError(signal));
          isTarget ? emitter.addEventListener(name2, happened, { once: !0 }) : emitter.once(name2, happened), failsToo && emitter.once("error", fail4), signal?.addEventListener("abort", abort, { once: !0 });
        });
      };
      import_events.default.on = (emitter, name2, options) => {
        if (options?.signal?.aborted) throw abortError(options.signal);
        let ready = [], waiting3 = [], failure3, done = !1, settle = (result) => waiting3.length > 0 ? waiting3.shift().resolve(result) : ready.push(result), listener = (...values2) => settle({ value: values2, done: !1 }), fail4 = (error) => {
          waiting3.length > 0 ? waiting3.shift().reject(error) : failure3 = error;
        }, closing = options?.close ?? [], end = () => {
          done = !0;
          for (let at2 of closing) emitter.off(at2, end);
          for (emitter.off("error", fail4), emitter.off(name2, listener); waiting3.length > 0; ) waiting3.shift().resolve({ value: void 0, done: !0 });
          return Promise.resolve({ value: void 0, done: !0 });
        };
        emitter.on(name2, listener), name2 !== "error" && emitter.on("error", fail4);
        for (let at2 of closing) emitter.on(at2, end);
        return options?.signal?.addEventListener("abort", () => fail4(abortError(options.signal)), { once: !0 }), {
          next() {
            if (ready.length > 0) return Promise.resolve(ready.shift());
            if (failure3 !== void 0) {
              let error = failure3;
              return failure3 = void 0, end().then(() => Promise.reject(error));
            }
            return done ? Promise.resolve({ value: void 0, done: !0 }) : new Promise((resolve3, reject) => waiting3.push({ resolve: resolve3, reject }));
          },
          return: end,
          throw(error) {
            return fail4(error), Promise.resolve({ value: void 0, done: !0 });
          },
          [Symbol.asyncIterator]() {
            return this;
          }
        };
      };
      import_events.default.usingDomains = !1;
      import_events.default.EventEmitterAsyncResource = absent("events", "EventEmitterAsyncResource", "use an EventEmitter, and AsyncResource.bind() for its listeners");
      events_default = import_events.default;
    }
  });

  // node_modules/readable-stream/lib/ours/primordials.js
  var require_primordials = __commonJS({
    "node_modules/readable-stream/lib/ours/primordials.js"(exports, module) {
      "use strict";
      var AggregateError = class extends Error {
        constructor(errors2) {
          if (!Array.isArray(errors2))
            throw new TypeError(`Expected input to be an Array, got ${typeof errors2}`);
          let message = "";
          for (let i2 = 0; i2 < errors2.length; i2++)
            message += `    ${errors2[i2].stack}
`;
          super(message), this.name = "AggregateError", this.errors = errors2;
        }
      };
      module.exports = {
        AggregateError,
        ArrayIsArray(self2) {
          return Array.isArray(self2);
        },
        ArrayPrototypeIncludes(self2, el) {
          return self2.includes(el);
        },
        ArrayPrototypeIndexOf(self2, el) {
          return self2.indexOf(el);
        },
        ArrayPrototypeJoin(self2, sep) {
          return self2.join(sep);
        },
        ArrayPrototypeMap(self2, fn) {
          return self2.map(fn);
        },
        ArrayPrototypePop(self2, el) {
          return self2.pop(el);
        },
        ArrayPrototypePush(self2, el) {
          return self2.push(el);
        },
        ArrayPrototypeSlice(self2, start3, end) {
          return self2.slice(start3, end);
        },
        Error,
        FunctionPrototypeCall(fn, thisArgs, ...args) {
          return fn.call(thisArgs, ...args);
        },
        FunctionPrototypeSymbolHasInstance(self2, instance) {
          return Function.prototype[Symbol.hasInstance].call(self2, instance);
        },
        MathFloor: Math.floor,
        Number,
        NumberIsInteger: Number.isInteger,
        NumberIsNaN: Number.isNaN,
        NumberMAX_SAFE_INTEGER: Number.MAX_SAFE_INTEGER,
        NumberMIN_SAFE_INTEGER: Number.MIN_SAFE_INTEGER,
        NumberParseInt: Number.parseInt,
        ObjectDefineProperties(self2, props) {
          return Object.defineProperties(self2, props);
        },
        ObjectDefineProperty(self2, name2, prop) {
          return Object.defineProperty(self2, name2, prop);
        },
        ObjectGetOwnPropertyDescriptor(self2, name2) {
          return Object.getOwnPropertyDescriptor(self2, name2);
        },
        ObjectKeys(obj) {
          return Object.keys(obj);
        },
        ObjectSetPrototypeOf(target2, proto) {
          return Object.setPrototypeOf(target2, proto);
        },
        Promise,
        PromisePrototypeCatch(self2, fn) {
          return self2.catch(fn);
        },
        PromisePrototypeThen(self2, thenFn, catchFn) {
          return self2.then(thenFn, catchFn);
        },
        PromiseReject(err) {
          return Promise.reject(err);
        },
        PromiseResolve(val) {
          return Promise.resolve(val);
        },
        ReflectApply: Reflect.apply,
        RegExpPrototypeTest(self2, value) {
          return self2.test(value);
        },
        SafeSet: Set,
        String,
        StringPrototypeSlice(self2, start3, end) {
          return self2.slice(start3, end);
        },
        StringPrototypeToLowerCase(self2) {
          return self2.toLowerCase();
        },
        StringPrototypeToUpperCase(self2) {
          return self2.toUpperCase();
        },
        StringPrototypeTrim(self2) {
          return self2.trim();
        },
        Symbol,
        SymbolFor: Symbol.for,
        SymbolAsyncIterator: Symbol.asyncIterator,
        SymbolHasInstance: Symbol.hasInstance,
        SymbolIterator: Symbol.iterator,
        SymbolDispose: Symbol.dispose || /* @__PURE__ */ Symbol("Symbol.dispose"),
        SymbolAsyncDispose: Symbol.asyncDispose || /* @__PURE__ */ Symbol("Symbol.asyncDispose"),
        TypedArrayPrototypeSet(self2, buf, len) {
          return self2.set(buf, len);
        },
        Boolean,
        Uint8Array
      };
    }
  });

  // node_modules/readable-stream/lib/ours/util/inspect.js
  var require_inspect = __commonJS({
    "node_modules/readable-stream/lib/ours/util/inspect.js"(exports, module) {
      "use strict";
      module.exports = {
        format(format4, ...args) {
          return format4.replace(/%([sdifj])/g, function(...[_unused, type]) {
            let replacement = args.shift();
            return type === "f" ? replacement.toFixed(6) : type === "j" ? JSON.stringify(replacement) : type === "s" && typeof replacement == "object" ? `${replacement.constructor !== Object ? replacement.constructor.name : ""} {}`.trim() : replacement.toString();
          });
        },
        inspect(value) {
          switch (typeof value) {
            case "string":
              if (value.includes("'"))
                if (value.includes('"')) {
                  if (!value.includes("`") && !value.includes("${"))
                    return `\`${value}\``;
                } else return `"${value}"`;
              return `'${value}'`;
            case "number":
              return isNaN(value) ? "NaN" : Object.is(value, -0) ? String(value) : value;
            case "bigint":
              return `${String(value)}n`;
            case "boolean":
            case "undefined":
              return String(value);
            case "object":
              return "{}";
          }
        }
      };
    }
  });

  // node_modules/readable-stream/lib/ours/errors.js
  var require_errors = __commonJS({
    "node_modules/readable-stream/lib/ours/errors.js"(exports, module) {
      "use strict";
      var { format: format4, inspect: inspect3 } = require_inspect(), { AggregateError: CustomAggregateError } = require_primordials(), AggregateError = globalThis.AggregateError || CustomAggregateError, kIsNodeError = /* @__PURE__ */ Symbol("kIsNodeError"), kTypes = [
        "string",
        "function",
        "number",
        "object",
        // Accept 'Function' and 'Object' as alternative to the lower cased version.
        "Function",
        "Object",
        "boolean",
        "bigint",
        "symbol"
      ], classRegExp = /^([A-Z][a-z0-9]*)+$/, nodeInternalPrefix = "__node_internal_", codes2 = {};
      function assert2(value, message) {
        if (!value)
          throw new codes2.ERR_INTERNAL_ASSERTION(message);
      }
      function addNumericalSeparator(val) {
        let res = "", i2 = val.length, start3 = val[0] === "-" ? 1 : 0;
        for (; i2 >= start3 + 4; i2 -= 3)
          res = `_${val.slice(i2 - 3, i2)}${res}`;
        return `${val.slice(0, i2)}${res}`;
      }
      function getMessage(key, msg, args) {
        if (typeof msg == "function")
          return assert2(
            msg.length <= args.length,
            // Default options do not count.
            `Code: ${key}; The provided arguments length (${args.length}) does not match the required ones (${msg.length}).`
          ), msg(...args);
        let expectedLength = (msg.match(/%[dfijoOs]/g) || []).length;
        return assert2(
          expectedLength === args.length,
          `Code: ${key}; The provided arguments length (${args.length}) does not match the required ones (${expectedLength}).`
        ), args.length === 0 ? msg : format4(msg, ...args);
      }
      function E2(code, message, Base) {
        Base || (Base = Error);
        class NodeError extends Base {
          constructor(...args) {
            super(getMessage(code, message, args)), host.nodeError(this, code);
          }
          toString() {
            return `${this.name} [${code}]: ${this.message}`;
          }
        }
        Object.defineProperties(NodeError.prototype, {
          name: {
            value: Base.name,
            writable: !0,
            enumerable: !1,
            configurable: !0
          },
          toString: {
            value() {
              return `${this.name} [${code}]: ${this.message}`;
            },
            writable: !0,
            enumerable: !1,
            configurable: !0
          }
        }), Object.defineProperty(NodeError, "name", { value: Base.name }), NodeError.prototype[kIsNodeError] = !0, codes2[code] = NodeError;
      }
      function hideStackFrames(fn) {
        let hidden2 = nodeInternalPrefix + fn.name;
        return Object.defineProperty(fn, "name", {
          value: hidden2
        }), fn;
      }
      function aggregateTwoErrors(innerError, outerError) {
        if (innerError && outerError && innerError !== outerError) {
          if (Array.isArray(outerError.errors))
            return outerError.errors.push(innerError), outerError;
          let err = new AggregateError([outerError, innerError], outerError.message);
          return err.code = outerError.code, err;
        }
        return innerError || outerError;
      }
      var AbortError2 = class extends Error {
        constructor(message = "The operation was aborted", options = void 0) {
          if (options !== void 0 && typeof options != "object")
            throw new codes2.ERR_INVALID_ARG_TYPE("options", "Object", options);
          super(message, options), this.code = "ABORT_ERR", this.name = "AbortError";
        }
      };
      E2("ERR_ASSERTION", "%s", Error);
      E2(
        "ERR_INVALID_ARG_TYPE",
        (name2, expected, actual) => {
          assert2(typeof name2 == "string", "'name' must be a string"), Array.isArray(expected) || (expected = [expected]);
          let msg = "The ";
          name2.endsWith(" argument") ? msg += `${name2} ` : msg += `"${name2}" ${name2.includes(".") ? "property" : "argument"} `, msg += "must be ";
          let types3 = [], instances = [], other = [];
          for (let value of expected)
            assert2(typeof value == "string", "All expected entries have to be of type string"), kTypes.includes(value) ? types3.push(value.toLowerCase()) : classRegExp.test(value) ? instances.push(value) : (assert2(value !== "object", 'The value "object" should be written as "Object"'), other.push(value));
          if (instances.length > 0) {
            let pos = types3.indexOf("object");
            pos !== -1 && (types3.splice(types3, pos, 1), instances.push("Object"));
          }
          if (types3.length > 0) {
            switch (types3.length) {
              case 1:
                msg += `of type ${types3[0]}`;
                break;
              case 2:
                msg += `one of type ${types3[0]} or ${types3[1]}`;
                break;
              default: {
                let last2 = types3.pop();
                msg += `one of type ${types3.join(", ")}, or ${last2}`;
              }
            }
            (instances.length > 0 || other.length > 0) && (msg += " or ");
          }
          if (instances.length > 0) {
            switch (instances.length) {
              case 1:
                msg += `an instance of ${instances[0]}`;
                break;
              case 2:
                msg += `an instance of ${instances[0]} or ${instances[1]}`;
                break;
              default: {
                let last2 = instances.pop();
                msg += `an instance of ${instances.join(", ")}, or ${last2}`;
              }
            }
            other.length > 0 && (msg += " or ");
          }
          switch (other.length) {
            case 0:
              break;
            case 1:
              other[0].toLowerCase() !== other[0] && (msg += "an "), msg += `${other[0]}`;
              break;
            case 2:
              msg += `one of ${other[0]} or ${other[1]}`;
              break;
            default: {
              let last2 = other.pop();
              msg += `one of ${other.join(", ")}, or ${last2}`;
            }
          }
          if (actual == null)
            msg += `. Received ${actual}`;
          else if (typeof actual == "function" && actual.name)
            msg += `. Received function ${actual.name}`;
          else if (typeof actual == "object") {
            var _actual$constructor;
            if ((_actual$constructor = actual.constructor) !== null && _actual$constructor !== void 0 && _actual$constructor.name)
              msg += `. Received an instance of ${actual.constructor.name}`;
            else {
              let inspected = inspect3(actual, {
                depth: -1
              });
              msg += `. Received ${inspected}`;
            }
          } else {
            let inspected = inspect3(actual, {
              colors: !1
            });
            inspected.length > 25 && (inspected = `${inspected.slice(0, 25)}...`), msg += `. Received type ${typeof actual} (${inspected})`;
          }
          return msg;
        },
        TypeError
      );
      E2(
        "ERR_INVALID_ARG_VALUE",
        (name2, value, reason = "is invalid") => {
          let inspected = inspect3(value);
          return inspected.length > 128 && (inspected = inspected.slice(0, 128) + "..."), `The ${name2.includes(".") ? "property" : "argument"} '${name2}' ${reason}. Received ${inspected}`;
        },
        TypeError
      );
      E2(
        "ERR_INVALID_RETURN_VALUE",
        (input, name2, value) => {
          var _value$constructor;
          let type = value != null && (_value$constructor = value.constructor) !== null && _value$constructor !== void 0 && _value$constructor.name ? `instance of ${value.constructor.name}` : `type ${typeof value}`;
          return `Expected ${input} to be returned from the "${name2}" function but got ${type}.`;
        },
        TypeError
      );
      E2(
        "ERR_MISSING_ARGS",
        (...args) => {
          assert2(args.length > 0, "At least one arg needs to be specified");
          let msg, len = args.length;
          switch (args = (Array.isArray(args) ? args : [args]).map((a2) => `"${a2}"`).join(" or "), len) {
            case 1:
              msg += `The ${args[0]} argument`;
              break;
            case 2:
              msg += `The ${args[0]} and ${args[1]} arguments`;
              break;
            default:
              {
                let last2 = args.pop();
                msg += `The ${args.join(", ")}, and ${last2} arguments`;
              }
              break;
          }
          return `${msg} must be specified`;
        },
        TypeError
      );
      E2(
        "ERR_OUT_OF_RANGE",
        (str, range, input) => {
          assert2(range, 'Missing "range" argument');
          let received2;
          if (Number.isInteger(input) && Math.abs(input) > 2 ** 32)
            received2 = addNumericalSeparator(String(input));
          else if (typeof input == "bigint") {
            received2 = String(input);
            let limit2 = BigInt(2) ** BigInt(32);
            (input > limit2 || input < -limit2) && (received2 = addNumericalSeparator(received2)), received2 += "n";
          } else
            received2 = inspect3(input);
          return `The value of "${str}" is out of range. It must be ${range}. Received ${received2}`;
        },
        RangeError
      );
      E2("ERR_MULTIPLE_CALLBACK", "Callback called multiple times", Error);
      E2("ERR_METHOD_NOT_IMPLEMENTED", "The %s method is not implemented", Error);
      E2("ERR_STREAM_ALREADY_FINISHED", "Cannot call %s after a stream was finished", Error);
      E2("ERR_STREAM_CANNOT_PIPE", "Cannot pipe, not readable", Error);
      E2("ERR_STREAM_DESTROYED", "Cannot call %s after a stream was destroyed", Error);
      E2("ERR_STREAM_NULL_VALUES", "May not write null values to stream", TypeError);
      E2("ERR_STREAM_PREMATURE_CLOSE", "Premature close", Error);
      E2("ERR_STREAM_PUSH_AFTER_EOF", "stream.push() after EOF", Error);
      E2("ERR_STREAM_UNSHIFT_AFTER_END_EVENT", "stream.unshift() after end event", Error);
      E2("ERR_STREAM_WRITE_AFTER_END", "write after end", Error);
      E2("ERR_UNKNOWN_ENCODING", "Unknown encoding: %s", TypeError);
      module.exports = {
        AbortError: AbortError2,
        aggregateTwoErrors: hideStackFrames(aggregateTwoErrors),
        hideStackFrames,
        codes: codes2
      };
    }
  });

  // src/globals.js
  var globals_exports = {};
  __export(globals_exports, {
    AbortController: () => AbortController2,
    AbortSignal: () => AbortSignal2,
    default: () => globals_default
  });
  var AbortController2, AbortSignal2, globals_default, init_globals = __esm({
    "src/globals.js"() {
      AbortController2 = globalThis.AbortController, AbortSignal2 = globalThis.AbortSignal, globals_default = { AbortController: AbortController2, AbortSignal: AbortSignal2 };
    }
  });

  // node_modules/readable-stream/lib/ours/util.js
  var require_util = __commonJS({
    "node_modules/readable-stream/lib/ours/util.js"(exports, module) {
      "use strict";
      var bufferModule = (init_buffer(), __toCommonJS(buffer_exports)), { format: format4, inspect: inspect3 } = require_inspect(), {
        codes: { ERR_INVALID_ARG_TYPE }
      } = require_errors(), { kResistStopPropagation, AggregateError, SymbolDispose } = require_primordials(), AbortSignal3 = globalThis.AbortSignal || (init_globals(), __toCommonJS(globals_exports)).AbortSignal, AbortController3 = globalThis.AbortController || (init_globals(), __toCommonJS(globals_exports)).AbortController, AsyncFunction = Object.getPrototypeOf(async function() {
      }).constructor, Blob3 = globalThis.Blob || bufferModule.Blob, isBlob = typeof Blob3 < "u" ? function(b2) {
        return b2 instanceof Blob3;
      } : function(b2) {
        return !1;
      }, validateAbortSignal = (signal, name2) => {
        if (signal !== void 0 && (signal === null || typeof signal != "object" || !("aborted" in signal)))
          throw new ERR_INVALID_ARG_TYPE(name2, "AbortSignal", signal);
      }, validateFunction = (value, name2) => {
        if (typeof value != "function")
          throw new ERR_INVALID_ARG_TYPE(name2, "Function", value);
      };
      module.exports = {
        AggregateError,
        kEmptyObject: Object.freeze({}),
        once(callback) {
          let called = !1;
          return function(...args) {
            called || (called = !0, callback.apply(this, args));
          };
        },
        createDeferredPromise: function() {
          let resolve3, reject;
          return {
            promise: new Promise((res, rej) => {
              resolve3 = res, reject = rej;
            }),
            resolve: resolve3,
            reject
          };
        },
        promisify(fn) {
          return new Promise((resolve3, reject) => {
            fn((err, ...args) => err ? reject(err) : resolve3(...args));
          });
        },
        debuglog() {
          return function() {
          };
        },
        format: format4,
        inspect: inspect3,
        types: {
          isAsyncFunction(fn) {
            return fn instanceof AsyncFunction;
          },
          isArrayBufferView(arr) {
            return ArrayBuffer.isView(arr);
          }
        },
        isBlob,
        deprecate(fn, message) {
          return fn;
        },
        addAbortListener: (init_events(), __toCommonJS(events_exports)).addAbortListener || function(signal, listener) {
          if (signal === void 0)
            throw new ERR_INVALID_ARG_TYPE("signal", "AbortSignal", signal);
          validateAbortSignal(signal, "signal"), validateFunction(listener, "listener");
          let removeEventListener;
          return signal.aborted ? queueMicrotask(() => listener()) : (signal.addEventListener("abort", listener, {
            __proto__: null,
            once: !0,
            [kResistStopPropagation]: !0
          }), removeEventListener = () => {
            signal.removeEventListener("abort", listener);
          }), {
            __proto__: null,
            [SymbolDispose]() {
              var _removeEventListener;
              (_removeEventListener = removeEventListener) === null || _removeEventListener === void 0 || _removeEventListener();
            }
          };
        },
        AbortSignalAny: AbortSignal3.any || function(signals) {
          if (signals.length === 1)
            return signals[0];
          let ac = new AbortController3(), abort = () => ac.abort();
          return signals.forEach((signal) => {
            validateAbortSignal(signal, "signals"), signal.addEventListener("abort", abort, {
              once: !0
            });
          }), ac.signal.addEventListener(
            "abort",
            () => {
              signals.forEach((signal) => signal.removeEventListener("abort", abort));
            },
            {
              once: !0
            }
          ), ac.signal;
        }
      };
      module.exports.promisify.custom = /* @__PURE__ */ Symbol.for("nodejs.util.promisify.custom");
    }
  });

  // node_modules/readable-stream/lib/internal/validators.js
  var require_validators = __commonJS({
    "node_modules/readable-stream/lib/internal/validators.js"(exports, module) {
      "use strict";
      var {
        ArrayIsArray,
        ArrayPrototypeIncludes,
        ArrayPrototypeJoin,
        ArrayPrototypeMap,
        NumberIsInteger,
        NumberIsNaN,
        NumberMAX_SAFE_INTEGER,
        NumberMIN_SAFE_INTEGER,
        NumberParseInt,
        ObjectPrototypeHasOwnProperty,
        RegExpPrototypeExec,
        String: String2,
        StringPrototypeToUpperCase,
        StringPrototypeTrim
      } = require_primordials(), {
        hideStackFrames,
        codes: { ERR_SOCKET_BAD_PORT, ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE, ERR_UNKNOWN_SIGNAL }
      } = require_errors(), { normalizeEncoding } = require_util(), { isAsyncFunction, isArrayBufferView } = require_util().types, signals = {};
      function isInt32(value) {
        return value === (value | 0);
      }
      function isUint32(value) {
        return value === value >>> 0;
      }
      var octalReg = /^[0-7]+$/, modeDesc = "must be a 32-bit unsigned integer or an octal string";
      function parseFileMode(value, name2, def) {
        if (typeof value > "u" && (value = def), typeof value == "string") {
          if (RegExpPrototypeExec(octalReg, value) === null)
            throw new ERR_INVALID_ARG_VALUE(name2, value, modeDesc);
          value = NumberParseInt(value, 8);
        }
        return validateUint32(value, name2), value;
      }
      var validateInteger = hideStackFrames((value, name2, min = NumberMIN_SAFE_INTEGER, max = NumberMAX_SAFE_INTEGER) => {
        if (typeof value != "number") throw new ERR_INVALID_ARG_TYPE(name2, "number", value);
        if (!NumberIsInteger(value)) throw new ERR_OUT_OF_RANGE(name2, "an integer", value);
        if (value < min || value > max) throw new ERR_OUT_OF_RANGE(name2, `>= ${min} && <= ${max}`, value);
      }), validateInt32 = hideStackFrames((value, name2, min = -2147483648, max = 2147483647) => {
        if (typeof value != "number")
          throw new ERR_INVALID_ARG_TYPE(name2, "number", value);
        if (!NumberIsInteger(value))
          throw new ERR_OUT_OF_RANGE(name2, "an integer", value);
        if (value < min || value > max)
          throw new ERR_OUT_OF_RANGE(name2, `>= ${min} && <= ${max}`, value);
      }), validateUint32 = hideStackFrames((value, name2, positive = !1) => {
        if (typeof value != "number")
          throw new ERR_INVALID_ARG_TYPE(name2, "number", value);
        if (!NumberIsInteger(value))
          throw new ERR_OUT_OF_RANGE(name2, "an integer", value);
        let min = positive ? 1 : 0, max = 4294967295;
        if (value < min || value > max)
          throw new ERR_OUT_OF_RANGE(name2, `>= ${min} && <= ${max}`, value);
      });
      function validateString(value, name2) {
        if (typeof value != "string") throw new ERR_INVALID_ARG_TYPE(name2, "string", value);
      }
      function validateNumber(value, name2, min = void 0, max) {
        if (typeof value != "number") throw new ERR_INVALID_ARG_TYPE(name2, "number", value);
        if (min != null && value < min || max != null && value > max || (min != null || max != null) && NumberIsNaN(value))
          throw new ERR_OUT_OF_RANGE(
            name2,
            `${min != null ? `>= ${min}` : ""}${min != null && max != null ? " && " : ""}${max != null ? `<= ${max}` : ""}`,
            value
          );
      }
      var validateOneOf = hideStackFrames((value, name2, oneOf) => {
        if (!ArrayPrototypeIncludes(oneOf, value)) {
          let reason = "must be one of: " + ArrayPrototypeJoin(
            ArrayPrototypeMap(oneOf, (v2) => typeof v2 == "string" ? `'${v2}'` : String2(v2)),
            ", "
          );
          throw new ERR_INVALID_ARG_VALUE(name2, value, reason);
        }
      });
      function validateBoolean(value, name2) {
        if (typeof value != "boolean") throw new ERR_INVALID_ARG_TYPE(name2, "boolean", value);
      }
      function getOwnPropertyValueOrDefault(options, key, defaultValue) {
        return options == null || !ObjectPrototypeHasOwnProperty(options, key) ? defaultValue : options[key];
      }
      var validateObject = hideStackFrames((value, name2, options = null) => {
        let allowArray = getOwnPropertyValueOrDefault(options, "allowArray", !1), allowFunction = getOwnPropertyValueOrDefault(options, "allowFunction", !1);
        if (!getOwnPropertyValueOrDefault(options, "nullable", !1) && value === null || !allowArray && ArrayIsArray(value) || typeof value != "object" && (!allowFunction || typeof value != "function"))
          throw new ERR_INVALID_ARG_TYPE(name2, "Object", value);
      }), validateDictionary = hideStackFrames((value, name2) => {
        if (value != null && typeof value != "object" && typeof value != "function")
          throw new ERR_INVALID_ARG_TYPE(name2, "a dictionary", value);
      }), validateArray = hideStackFrames((value, name2, minLength = 0) => {
        if (!ArrayIsArray(value))
          throw new ERR_INVALID_ARG_TYPE(name2, "Array", value);
        if (value.length < minLength) {
          let reason = `must be longer than ${minLength}`;
          throw new ERR_INVALID_ARG_VALUE(name2, value, reason);
        }
      });
      function validateStringArray(value, name2) {
        validateArray(value, name2);
        for (let i2 = 0; i2 < value.length; i2++)
          validateString(value[i2], `${name2}[${i2}]`);
      }
      function validateBooleanArray(value, name2) {
        validateArray(value, name2);
        for (let i2 = 0; i2 < value.length; i2++)
          validateBoolean(value[i2], `${name2}[${i2}]`);
      }
      function validateAbortSignalArray(value, name2) {
        validateArray(value, name2);
        for (let i2 = 0; i2 < value.length; i2++) {
          let signal = value[i2], indexedName = `${name2}[${i2}]`;
          if (signal == null)
            throw new ERR_INVALID_ARG_TYPE(indexedName, "AbortSignal", signal);
          validateAbortSignal(signal, indexedName);
        }
      }
      function validateSignalName(signal, name2 = "signal") {
        if (validateString(signal, name2), signals[signal] === void 0)
          throw signals[StringPrototypeToUpperCase(signal)] !== void 0 ? new ERR_UNKNOWN_SIGNAL(signal + " (signals must use all capital letters)") : new ERR_UNKNOWN_SIGNAL(signal);
      }
      var validateBuffer = hideStackFrames((buffer2, name2 = "buffer") => {
        if (!isArrayBufferView(buffer2))
          throw new ERR_INVALID_ARG_TYPE(name2, ["Buffer", "TypedArray", "DataView"], buffer2);
      });
      function validateEncoding(data, encoding) {
        let normalizedEncoding = normalizeEncoding(encoding), length = data.length;
        if (normalizedEncoding === "hex" && length % 2 !== 0)
          throw new ERR_INVALID_ARG_VALUE("encoding", encoding, `is invalid for data of length ${length}`);
      }
      function validatePort(port, name2 = "Port", allowZero = !0) {
        if (typeof port != "number" && typeof port != "string" || typeof port == "string" && StringPrototypeTrim(port).length === 0 || +port !== +port >>> 0 || port > 65535 || port === 0 && !allowZero)
          throw new ERR_SOCKET_BAD_PORT(name2, port, allowZero);
        return port | 0;
      }
      var validateAbortSignal = hideStackFrames((signal, name2) => {
        if (signal !== void 0 && (signal === null || typeof signal != "object" || !("aborted" in signal)))
          throw new ERR_INVALID_ARG_TYPE(name2, "AbortSignal", signal);
      }), validateFunction = hideStackFrames((value, name2) => {
        if (typeof value != "function") throw new ERR_INVALID_ARG_TYPE(name2, "Function", value);
      }), validatePlainFunction = hideStackFrames((value, name2) => {
        if (typeof value != "function" || isAsyncFunction(value)) throw new ERR_INVALID_ARG_TYPE(name2, "Function", value);
      }), validateUndefined = hideStackFrames((value, name2) => {
        if (value !== void 0) throw new ERR_INVALID_ARG_TYPE(name2, "undefined", value);
      });
      function validateUnion(value, name2, union) {
        if (!ArrayPrototypeIncludes(union, value))
          throw new ERR_INVALID_ARG_TYPE(name2, `('${ArrayPrototypeJoin(union, "|")}')`, value);
      }
      var linkValueRegExp = /^(?:<[^>]*>)(?:\s*;\s*[^;"\s]+(?:=(")?[^;"\s]*\1)?)*$/;
      function validateLinkHeaderFormat(value, name2) {
        if (typeof value > "u" || !RegExpPrototypeExec(linkValueRegExp, value))
          throw new ERR_INVALID_ARG_VALUE(
            name2,
            value,
            'must be an array or string of format "</styles.css>; rel=preload; as=style"'
          );
      }
      function validateLinkHeaderValue(hints) {
        if (typeof hints == "string")
          return validateLinkHeaderFormat(hints, "hints"), hints;
        if (ArrayIsArray(hints)) {
          let hintsLength = hints.length, result = "";
          if (hintsLength === 0)
            return result;
          for (let i2 = 0; i2 < hintsLength; i2++) {
            let link = hints[i2];
            validateLinkHeaderFormat(link, "hints"), result += link, i2 !== hintsLength - 1 && (result += ", ");
          }
          return result;
        }
        throw new ERR_INVALID_ARG_VALUE(
          "hints",
          hints,
          'must be an array or string of format "</styles.css>; rel=preload; as=style"'
        );
      }
      module.exports = {
        isInt32,
        isUint32,
        parseFileMode,
        validateArray,
        validateStringArray,
        validateBooleanArray,
        validateAbortSignalArray,
        validateBoolean,
        validateBuffer,
        validateDictionary,
        validateEncoding,
        validateFunction,
        validateInt32,
        validateInteger,
        validateNumber,
        validateObject,
        validateOneOf,
        validatePlainFunction,
        validatePort,
        validateSignalName,
        validateString,
        validateUint32,
        validateUndefined,
        validateUnion,
        validateAbortSignal,
        validateLinkHeaderValue
      };
    }
  });

  // src/signals.js
  var SIGNALS, init_signals = __esm({
    "src/signals.js"() {
      SIGNALS = "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS".split(" ").map((name2) => `SIG${name2}`);
    }
  });

  // src/process.js
  var process_exports = {};
  __export(process_exports, {
    addStreams: () => addStreams,
    default: () => process_default,
    env: () => env,
    nextTick: () => nextTick
  });
  var native4, Process, process2, hidden, lazily, mainArguments, checkExitCode, harmless, noProcess, nanos, captureUncaught, addStreams, process_default, nextTick, env, init_process = __esm({
    "src/process.js"() {
      init_absent();
      init_events();
      init_buffer();
      init_signals();
      init_util();
      ({ native: native4 } = host), Process = class extends events_default {
      }, process2 = new Process();
      provide({ process: process2 });
      Object.defineProperty(Process.prototype, "constructor", { value: Process, enumerable: !1 });
      Object.defineProperty(Process, "name", { value: "process" });
      hidden = (name2, value) => Object.defineProperty(process2, name2, { value, writable: !0, enumerable: !1, configurable: !0 });
      for (let name2 of ["_events", "_eventsCount", "_maxListeners", ...marks]) hidden(name2, process2[name2]);
      Object.defineProperty(process2, Symbol.toStringTag, { value: "process", configurable: !0 });
      lazily = (name2, make4) => {
        let value;
        Object.defineProperty(process2, name2, {
          get: () => value ??= make4(),
          set: (given) => value = given,
          enumerable: !0,
          configurable: !0
        });
      }, mainArguments = (given) => {
        let path2 = host.mainPath();
        return path2.endsWith("/[eval]") ? given : path2.endsWith("/[stdin]") ? given.length === 0 ? [] : ["-", ...given] : [path2, ...given];
      };
      lazily("argv", () => ["/usr/local/bin/node", ...mainArguments(host.args())]);
      process2.env = host.env;
      process2.title = "node";
      process2.pid = 1;
      process2.ppid = 0;
      process2.platform = "linux";
      process2.arch = "wasm32";
      process2.version = "v20.0.0";
      process2.versions = { node: "20.0.0", quickjs: "ng" };
      process2.release = { name: "node" };
      process2.execPath = "/usr/local/bin/node";
      process2.execArgv = [];
      process2.argv0 = "node";
      process2.config = { target_defaults: {}, variables: {} };
      process2.features = {};
      checkExitCode = (code) => {
        let number = typeof code == "string" && code !== "" ? Number(code) : code;
        if (code == null || isWhole(number)) return code;
        throw typeof number == "number" && !Number.isNaN(number) ? outOfRange("code", "an integer", number) : invalidType("code", "number", code);
      };
      Object.defineProperty(process2, "exitCode", {
        get: () => host.exitCode(),
        set: (code) => host.setExitCode(checkExitCode(code)),
        enumerable: !0,
        configurable: !0
      });
      harmless = ["SIGCHLD", "SIGCONT", "SIGURG", "SIGWINCH"];
      process2.cwd = () => host.cwd();
      process2.chdir = (path2) => {
        if (typeof path2 != "string") throw invalidType("directory", "string", path2);
        host.chdir(path2);
      };
      process2.exit = (...codes2) => {
        codes2.length > 0 && ([process2.exitCode] = codes2), host.exit();
      };
      process2.abort = () => host.exitBySignal(SIGNALS.indexOf("SIGABRT") + 1);
      noProcess = (code, number) => Object.assign(codedError(Error, code, `kill ${code}`), { errno: number, syscall: "kill" });
      process2.kill = (pid, signal = "SIGTERM") => {
        if (pid != (pid | 0)) throw invalidType("pid", "number", pid);
        let name2 = isWhole(signal) ? SIGNALS[signal - 1] : String(signal || "SIGTERM");
        if (!isWhole(signal) && !SIGNALS.includes(name2)) throw codedError(TypeError, "ERR_UNKNOWN_SIGNAL", `Unknown signal: ${signal}`);
        if ((pid | 0) !== process2.pid) throw noProcess("ESRCH", -3);
        if (signal === 0) return !0;
        if (name2 === void 0) throw noProcess("EINVAL", -22);
        let number = SIGNALS.indexOf(name2) + 1;
        return process2.listenerCount(name2) > 0 && name2 !== "SIGKILL" ? setImmediate(() => process2.emit(name2, name2, number)) : harmless.includes(name2) || host.exitBySignal(number), !0;
      };
      process2.nextTick = (callback, ...values2) => {
        if (typeof callback != "function") throw invalidType("callback", "function", callback);
        host.queueTick(callback, values2);
      };
      process2.uptime = () => (native4.now() - host.scriptStart()) / 1e3;
      nanos = () => BigInt(Math.round((native4.now() - host.scriptStart()) * 1e6));
      process2.hrtime = (since) => {
        if (since !== void 0 && !Array.isArray(since)) throw invalidType("time", "an instance of Array", since);
        let now3 = nanos() - (since === void 0 ? 0n : BigInt(since[0]) * 1000000000n + BigInt(since[1]));
        return [Number(now3 / 1000000000n), Number(now3 % 1000000000n)];
      };
      process2.hrtime.bigint = nanos;
      process2.memoryUsage = () => {
        let used = native4.memoryUsed();
        return { rss: used, heapTotal: used, heapUsed: used, external: 0, arrayBuffers: 0 };
      };
      process2.memoryUsage.rss = () => native4.memoryUsed();
      process2.cpuUsage = (before) => {
        let used = { user: Math.round((native4.now() - host.scriptStart()) * 1e3), system: 0 };
        if (!before) return used;
        if (typeof before != "object") throw invalidType("prevValue", "object", before);
        for (let part of ["user", "system"]) {
          if (typeof before[part] != "number") throw invalidType(`prevValue.${part}`, "number", before[part]);
          if (!(before[part] >= 0 && before[part] <= Number.MAX_SAFE_INTEGER))
            throw codedError(RangeError, "ERR_INVALID_ARG_VALUE", `The property 'prevValue.${part}' is invalid. Received ${before[part]}`);
        }
        return { user: used.user - before.user, system: used.system - before.system };
      };
      process2.resourceUsage = () => ({ maxRSS: Math.round(native4.memoryUsed() / 1024) });
      process2.umask = (mask) => {
        if (typeof mask == "string" && !/^[0-7]+$/.test(mask)) throw invalidValue("mask", mask, "must be a 32-bit unsigned integer or an octal string");
        if (mask !== void 0 && typeof mask != "string") {
          if (typeof mask != "number") throw invalidType("mask", "number", mask);
          if (!isWhole(mask)) throw outOfRange("mask", "an integer", mask);
          if (mask < 0 || mask >= 2 ** 32) throw outOfRange("mask", ">= 0 && <= 4294967295", mask);
        }
        let before = host.fileMask();
        return mask !== void 0 && host.setFileMask((typeof mask == "string" ? Number.parseInt(mask, 8) : mask) & 511), before;
      };
      process2.getuid = process2.geteuid = process2.getgid = process2.getegid = () => 1e3;
      process2.getgroups = () => [1e3];
      for (let name2 of ["setuid", "seteuid", "setgid", "setegid", "setgroups", "initgroups"])
        process2[name2] = () => {
          throw Object.assign(codedError(Error, "EPERM", `EPERM: operation not permitted, ${name2}`), { syscall: name2 });
        };
      process2.emitWarning = (warning, type, code) => {
        let options = type !== null && typeof type == "object" ? type : { type, code }, told = warning;
        if (typeof warning == "string")
          told = new Error(warning), Object.defineProperty(told, "name", { value: String(options.type ?? "Warning"), writable: !0, enumerable: !1, configurable: !0 }), options.code !== void 0 && (told.code = options.code), options.detail !== void 0 && (told.detail = options.detail);
        else if (!(warning instanceof Error))
          throw invalidType("warning", "string or an instance of Error", warning);
        process2.nextTick(() => {
          let kind = told.code === void 0 ? "" : `[${told.code}] `;
          native4.stderr(`(node:1) ${kind}${told.name}: ${told.message}
${told.detail === void 0 ? "" : `${told.detail}
`}`), process2.emit("warning", told);
        });
      };
      process2.loadEnvFile = (path2 = ".env") => {
        let text3 = Buffer2.from(host.fs.readBytes(path2).buffer).toString();
        for (let [name2, value] of Object.entries(parseEnv(text3))) Object.hasOwn(process2.env, name2) || (process2.env[name2] = value);
      };
      process2.sourceMapsEnabled = !1;
      process2.setSourceMapsEnabled = (isEnabled) => {
        if (typeof isEnabled != "boolean") throw invalidType("val", "boolean", isEnabled);
        if (isEnabled) throw codedError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "source maps are not applied here: stacks name the lines of the source already");
      };
      process2.availableMemory = () => Math.max(native4.memoryLimit() - native4.memoryUsed(), 0);
      captureUncaught = null;
      process2.setUncaughtExceptionCaptureCallback = (callback) => {
        if (callback === null)
          captureUncaught !== null && process2.removeListener("uncaughtException", captureUncaught);
        else {
          if (typeof callback != "function") throw invalidType("fn", "function or null", callback);
          if (captureUncaught !== null) throw codedError(Error, "ERR_UNCAUGHT_EXCEPTION_CAPTURE_ALREADY_SET", "`process.setupUncaughtExceptionCapture()` was called while a capture callback was already active");
          process2.prependListener("uncaughtException", callback);
        }
        captureUncaught = callback;
      };
      process2.hasUncaughtExceptionCaptureCallback = () => captureUncaught !== null;
      process2.allowedNodeEnvironmentFlags = /* @__PURE__ */ new Set();
      process2.getActiveResourcesInfo = () => [];
      process2.constrainedMemory = () => native4.memoryLimit();
      process2.domain = null;
      process2.debugPort = 9229;
      process2.openStdin = () => process2.stdin.resume();
      process2.dlopen = absent("process", "dlopen", "a script cannot load native code. Use a module of JavaScript, or a program of the shell");
      process2.binding = () => {
        throw new Error("there are no bindings here");
      };
      host.connectEvents({
        // Without a listener no code of the script runs, whatever it has done to the prototypes.
        emit: (name2, first, second) => process2.listenerCount(name2) > 0 && process2.emit(name2, first, second),
        count: (name2) => process2.listenerCount(name2),
        warn: (message, name2) => process2.emitWarning(message, name2)
      });
      addStreams = ({ Readable: Readable3, Writable: Writable3 }) => {
        let output = (fd, write4, toStderr) => {
          let stream2 = new Writable3({
            decodeStrings: !1,
            emitClose: !1,
            write(chunk, encoding, callback) {
              callback();
            }
          }), send = stream2.end;
          stream2.write = {
            write(chunk, encoding, callback) {
              if (typeof chunk == "string")
                typeof encoding == "string" && !/^utf-?8$/i.test(encoding) ? native4.outputBytes(new Uint8Array(Buffer2.from(chunk, encoding)), toStderr) : write4(chunk);
              else if (ArrayBuffer.isView(chunk))
                native4.outputBytes(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength), toStderr);
              else throw chunk === null ? codedError(TypeError, "ERR_STREAM_NULL_VALUES", "May not write null values to stream") : invalidType("chunk", "string or an instance of Buffer, TypedArray, or DataView", chunk);
              let done = typeof encoding == "function" ? encoding : callback;
              return typeof done == "function" && process2.nextTick(() => done()), !0;
            }
          }.write;
          let own = stream2.write, current2 = own;
          return Object.defineProperty(stream2, "write", {
            get: () => current2,
            set(given) {
              current2 = given, host.redirectConsole(toStderr, given === own ? void 0 : (text3) => {
                stream2.write(text3);
              });
            },
            enumerable: !0,
            configurable: !0
          }), stream2.end = function(chunk, encoding, callback) {
            return chunk != null && typeof chunk != "function" && stream2.write(chunk, encoding), send.call(this, typeof chunk == "function" ? chunk : typeof encoding == "function" ? encoding : callback);
          }, stream2._destroy = function(error, callback) {
            callback(error), process2.nextTick(() => {
              this._undestroy(), this.emit("close");
            });
          }, Object.assign(stream2, { fd, getColorDepth: () => 1, hasColors: () => !1, _type: "pipe" });
        };
        lazily("stdout", () => output(1, native4.stdout, !1)), lazily("stderr", () => output(2, native4.stderr, !0)), lazily("stdin", () => {
          let stream2 = new Readable3({
            read() {
              host.readStdin().then(
                (bytes) => this.push(bytes.length === 0 ? null : Buffer2.from(bytes)),
                (error) => this.destroy(error)
              );
            }
          });
          return Object.assign(stream2, { fd: 0, setRawMode: () => stream2 });
        });
      }, process_default = process2, nextTick = process2.nextTick, env = process2.env;
    }
  });

  // node_modules/readable-stream/lib/internal/shims/process.js
  var require_process = __commonJS({
    "node_modules/readable-stream/lib/internal/shims/process.js"(exports, module) {
      "use strict";
      var process3 = ((base, esmKey, keys, isValid) => {
        if (esmKey in base && base[esmKey] === !0) {
          let candidate;
          for (let key of keys)
            if (key in base && (candidate = base[key], isValid(candidate)))
              return candidate;
        }
        return base;
      })((init_process(), __toCommonJS(process_exports)), "__esModule", ["default", "process"], (candidate) => "nextTick" in candidate);
      module.exports = process3;
    }
  });

  // node_modules/readable-stream/lib/internal/streams/utils.js
  var require_utils = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/utils.js"(exports, module) {
      "use strict";
      var { SymbolAsyncIterator, SymbolIterator, SymbolFor } = require_primordials(), kIsDestroyed = SymbolFor("nodejs.stream.destroyed"), kIsErrored = SymbolFor("nodejs.stream.errored"), kIsReadable = SymbolFor("nodejs.stream.readable"), kIsWritable = SymbolFor("nodejs.stream.writable"), kIsDisturbed = SymbolFor("nodejs.stream.disturbed"), kIsClosedPromise = SymbolFor("nodejs.webstream.isClosedPromise"), kControllerErrorFunction = SymbolFor("nodejs.webstream.controllerErrorFunction");
      function isReadableNodeStream(obj, strict2 = !1) {
        var _obj$_readableState;
        return !!(obj && typeof obj.pipe == "function" && typeof obj.on == "function" && (!strict2 || typeof obj.pause == "function" && typeof obj.resume == "function") && (!obj._writableState || ((_obj$_readableState = obj._readableState) === null || _obj$_readableState === void 0 ? void 0 : _obj$_readableState.readable) !== !1) && // Duplex
        (!obj._writableState || obj._readableState));
      }
      function isWritableNodeStream(obj) {
        var _obj$_writableState;
        return !!(obj && typeof obj.write == "function" && typeof obj.on == "function" && (!obj._readableState || ((_obj$_writableState = obj._writableState) === null || _obj$_writableState === void 0 ? void 0 : _obj$_writableState.writable) !== !1));
      }
      function isDuplexNodeStream(obj) {
        return !!(obj && typeof obj.pipe == "function" && obj._readableState && typeof obj.on == "function" && typeof obj.write == "function");
      }
      function isNodeStream(obj) {
        return obj && (obj._readableState || obj._writableState || typeof obj.write == "function" && typeof obj.on == "function" || typeof obj.pipe == "function" && typeof obj.on == "function");
      }
      function isReadableStream(obj) {
        return !!(obj && !isNodeStream(obj) && typeof obj.pipeThrough == "function" && typeof obj.getReader == "function" && typeof obj.cancel == "function");
      }
      function isWritableStream(obj) {
        return !!(obj && !isNodeStream(obj) && typeof obj.getWriter == "function" && typeof obj.abort == "function");
      }
      function isTransformStream(obj) {
        return !!(obj && !isNodeStream(obj) && typeof obj.readable == "object" && typeof obj.writable == "object");
      }
      function isWebStream(obj) {
        return isReadableStream(obj) || isWritableStream(obj) || isTransformStream(obj);
      }
      function isIterable(obj, isAsync) {
        return obj == null ? !1 : isAsync === !0 ? typeof obj[SymbolAsyncIterator] == "function" : isAsync === !1 ? typeof obj[SymbolIterator] == "function" : typeof obj[SymbolAsyncIterator] == "function" || typeof obj[SymbolIterator] == "function";
      }
      function isDestroyed(stream2) {
        if (!isNodeStream(stream2)) return null;
        let wState = stream2._writableState, rState = stream2._readableState, state = wState || rState;
        return !!(stream2.destroyed || stream2[kIsDestroyed] || state != null && state.destroyed);
      }
      function isWritableEnded(stream2) {
        if (!isWritableNodeStream(stream2)) return null;
        if (stream2.writableEnded === !0) return !0;
        let wState = stream2._writableState;
        return wState != null && wState.errored ? !1 : typeof wState?.ended != "boolean" ? null : wState.ended;
      }
      function isWritableFinished(stream2, strict2) {
        if (!isWritableNodeStream(stream2)) return null;
        if (stream2.writableFinished === !0) return !0;
        let wState = stream2._writableState;
        return wState != null && wState.errored ? !1 : typeof wState?.finished != "boolean" ? null : !!(wState.finished || strict2 === !1 && wState.ended === !0 && wState.length === 0);
      }
      function isReadableEnded(stream2) {
        if (!isReadableNodeStream(stream2)) return null;
        if (stream2.readableEnded === !0) return !0;
        let rState = stream2._readableState;
        return !rState || rState.errored ? !1 : typeof rState?.ended != "boolean" ? null : rState.ended;
      }
      function isReadableFinished(stream2, strict2) {
        if (!isReadableNodeStream(stream2)) return null;
        let rState = stream2._readableState;
        return rState != null && rState.errored ? !1 : typeof rState?.endEmitted != "boolean" ? null : !!(rState.endEmitted || strict2 === !1 && rState.ended === !0 && rState.length === 0);
      }
      function isReadable(stream2) {
        return stream2 && stream2[kIsReadable] != null ? stream2[kIsReadable] : typeof stream2?.readable != "boolean" ? null : isDestroyed(stream2) ? !1 : isReadableNodeStream(stream2) && stream2.readable && !isReadableFinished(stream2);
      }
      function isWritable(stream2) {
        return stream2 && stream2[kIsWritable] != null ? stream2[kIsWritable] : typeof stream2?.writable != "boolean" ? null : isDestroyed(stream2) ? !1 : isWritableNodeStream(stream2) && stream2.writable && !isWritableEnded(stream2);
      }
      function isFinished(stream2, opts) {
        return isNodeStream(stream2) ? isDestroyed(stream2) ? !0 : !(opts?.readable !== !1 && isReadable(stream2) || opts?.writable !== !1 && isWritable(stream2)) : null;
      }
      function isWritableErrored(stream2) {
        var _stream$_writableStat, _stream$_writableStat2;
        return isNodeStream(stream2) ? stream2.writableErrored ? stream2.writableErrored : (_stream$_writableStat = (_stream$_writableStat2 = stream2._writableState) === null || _stream$_writableStat2 === void 0 ? void 0 : _stream$_writableStat2.errored) !== null && _stream$_writableStat !== void 0 ? _stream$_writableStat : null : null;
      }
      function isReadableErrored(stream2) {
        var _stream$_readableStat, _stream$_readableStat2;
        return isNodeStream(stream2) ? stream2.readableErrored ? stream2.readableErrored : (_stream$_readableStat = (_stream$_readableStat2 = stream2._readableState) === null || _stream$_readableStat2 === void 0 ? void 0 : _stream$_readableStat2.errored) !== null && _stream$_readableStat !== void 0 ? _stream$_readableStat : null : null;
      }
      function isClosed(stream2) {
        if (!isNodeStream(stream2))
          return null;
        if (typeof stream2.closed == "boolean")
          return stream2.closed;
        let wState = stream2._writableState, rState = stream2._readableState;
        return typeof wState?.closed == "boolean" || typeof rState?.closed == "boolean" ? wState?.closed || rState?.closed : typeof stream2._closed == "boolean" && isOutgoingMessage(stream2) ? stream2._closed : null;
      }
      function isOutgoingMessage(stream2) {
        return typeof stream2._closed == "boolean" && typeof stream2._defaultKeepAlive == "boolean" && typeof stream2._removedConnection == "boolean" && typeof stream2._removedContLen == "boolean";
      }
      function isServerResponse(stream2) {
        return typeof stream2._sent100 == "boolean" && isOutgoingMessage(stream2);
      }
      function isServerRequest(stream2) {
        var _stream$req;
        return typeof stream2._consuming == "boolean" && typeof stream2._dumped == "boolean" && ((_stream$req = stream2.req) === null || _stream$req === void 0 ? void 0 : _stream$req.upgradeOrConnect) === void 0;
      }
      function willEmitClose(stream2) {
        if (!isNodeStream(stream2)) return null;
        let wState = stream2._writableState, rState = stream2._readableState, state = wState || rState;
        return !state && isServerResponse(stream2) || !!(state && state.autoDestroy && state.emitClose && state.closed === !1);
      }
      function isDisturbed(stream2) {
        var _stream$kIsDisturbed;
        return !!(stream2 && ((_stream$kIsDisturbed = stream2[kIsDisturbed]) !== null && _stream$kIsDisturbed !== void 0 ? _stream$kIsDisturbed : stream2.readableDidRead || stream2.readableAborted));
      }
      function isErrored(stream2) {
        var _ref, _ref2, _ref3, _ref4, _ref5, _stream$kIsErrored, _stream$_readableStat3, _stream$_writableStat3, _stream$_readableStat4, _stream$_writableStat4;
        return !!(stream2 && ((_ref = (_ref2 = (_ref3 = (_ref4 = (_ref5 = (_stream$kIsErrored = stream2[kIsErrored]) !== null && _stream$kIsErrored !== void 0 ? _stream$kIsErrored : stream2.readableErrored) !== null && _ref5 !== void 0 ? _ref5 : stream2.writableErrored) !== null && _ref4 !== void 0 ? _ref4 : (_stream$_readableStat3 = stream2._readableState) === null || _stream$_readableStat3 === void 0 ? void 0 : _stream$_readableStat3.errorEmitted) !== null && _ref3 !== void 0 ? _ref3 : (_stream$_writableStat3 = stream2._writableState) === null || _stream$_writableStat3 === void 0 ? void 0 : _stream$_writableStat3.errorEmitted) !== null && _ref2 !== void 0 ? _ref2 : (_stream$_readableStat4 = stream2._readableState) === null || _stream$_readableStat4 === void 0 ? void 0 : _stream$_readableStat4.errored) !== null && _ref !== void 0 ? _ref : !((_stream$_writableStat4 = stream2._writableState) === null || _stream$_writableStat4 === void 0) && _stream$_writableStat4.errored));
      }
      module.exports = {
        isDestroyed,
        kIsDestroyed,
        isDisturbed,
        kIsDisturbed,
        isErrored,
        kIsErrored,
        isReadable,
        kIsReadable,
        kIsClosedPromise,
        kControllerErrorFunction,
        kIsWritable,
        isClosed,
        isDuplexNodeStream,
        isFinished,
        isIterable,
        isReadableNodeStream,
        isReadableStream,
        isReadableEnded,
        isReadableFinished,
        isReadableErrored,
        isNodeStream,
        isWebStream,
        isWritable,
        isWritableNodeStream,
        isWritableStream,
        isWritableEnded,
        isWritableFinished,
        isWritableErrored,
        isServerRequest,
        isServerResponse,
        willEmitClose,
        isTransformStream
      };
    }
  });

  // node_modules/readable-stream/lib/internal/streams/end-of-stream.js
  var require_end_of_stream = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/end-of-stream.js"(exports, module) {
      "use strict";
      var process3 = require_process(), { AbortError: AbortError2, codes: codes2 } = require_errors(), { ERR_INVALID_ARG_TYPE, ERR_STREAM_PREMATURE_CLOSE } = codes2, { kEmptyObject, once } = require_util(), { validateAbortSignal, validateFunction, validateObject, validateBoolean } = require_validators(), { Promise: Promise2, PromisePrototypeThen, SymbolDispose } = require_primordials(), {
        isClosed,
        isReadable,
        isReadableNodeStream,
        isReadableStream,
        isReadableFinished,
        isReadableErrored,
        isWritable,
        isWritableNodeStream,
        isWritableStream,
        isWritableFinished,
        isWritableErrored,
        isNodeStream,
        willEmitClose: _willEmitClose,
        kIsClosedPromise
      } = require_utils(), addAbortListener;
      function isRequest(stream2) {
        return stream2.setHeader && typeof stream2.abort == "function";
      }
      var nop = () => {
      };
      function eos(stream2, options, callback) {
        var _options$readable, _options$writable;
        if (arguments.length === 2 ? (callback = options, options = kEmptyObject) : options == null ? options = kEmptyObject : validateObject(options, "options"), validateFunction(callback, "callback"), validateAbortSignal(options.signal, "options.signal"), callback = once(callback), isReadableStream(stream2) || isWritableStream(stream2))
          return eosWeb(stream2, options, callback);
        if (!isNodeStream(stream2))
          throw new ERR_INVALID_ARG_TYPE("stream", ["ReadableStream", "WritableStream", "Stream"], stream2);
        let readable2 = (_options$readable = options.readable) !== null && _options$readable !== void 0 ? _options$readable : isReadableNodeStream(stream2), writable2 = (_options$writable = options.writable) !== null && _options$writable !== void 0 ? _options$writable : isWritableNodeStream(stream2), wState = stream2._writableState, rState = stream2._readableState, onlegacyfinish = () => {
          stream2.writable || onfinish();
        }, willEmitClose = _willEmitClose(stream2) && isReadableNodeStream(stream2) === readable2 && isWritableNodeStream(stream2) === writable2, writableFinished = isWritableFinished(stream2, !1), onfinish = () => {
          writableFinished = !0, stream2.destroyed && (willEmitClose = !1), !(willEmitClose && (!stream2.readable || readable2)) && (!readable2 || readableFinished) && callback.call(stream2);
        }, readableFinished = isReadableFinished(stream2, !1), onend = () => {
          readableFinished = !0, stream2.destroyed && (willEmitClose = !1), !(willEmitClose && (!stream2.writable || writable2)) && (!writable2 || writableFinished) && callback.call(stream2);
        }, onerror = (err) => {
          callback.call(stream2, err);
        }, closed = isClosed(stream2), onclose = () => {
          closed = !0;
          let errored = isWritableErrored(stream2) || isReadableErrored(stream2);
          if (errored && typeof errored != "boolean")
            return callback.call(stream2, errored);
          if (readable2 && !readableFinished && isReadableNodeStream(stream2, !0) && !isReadableFinished(stream2, !1))
            return callback.call(stream2, new ERR_STREAM_PREMATURE_CLOSE());
          if (writable2 && !writableFinished && !isWritableFinished(stream2, !1))
            return callback.call(stream2, new ERR_STREAM_PREMATURE_CLOSE());
          callback.call(stream2);
        }, onclosed = () => {
          closed = !0;
          let errored = isWritableErrored(stream2) || isReadableErrored(stream2);
          if (errored && typeof errored != "boolean")
            return callback.call(stream2, errored);
          callback.call(stream2);
        }, onrequest = () => {
          stream2.req.on("finish", onfinish);
        };
        isRequest(stream2) ? (stream2.on("complete", onfinish), willEmitClose || stream2.on("abort", onclose), stream2.req ? onrequest() : stream2.on("request", onrequest)) : writable2 && !wState && (stream2.on("end", onlegacyfinish), stream2.on("close", onlegacyfinish)), !willEmitClose && typeof stream2.aborted == "boolean" && stream2.on("aborted", onclose), stream2.on("end", onend), stream2.on("finish", onfinish), options.error !== !1 && stream2.on("error", onerror), stream2.on("close", onclose), closed ? process3.nextTick(onclose) : wState != null && wState.errorEmitted || rState != null && rState.errorEmitted ? willEmitClose || process3.nextTick(onclosed) : (!readable2 && (!willEmitClose || isReadable(stream2)) && (writableFinished || isWritable(stream2) === !1) || !writable2 && (!willEmitClose || isWritable(stream2)) && (readableFinished || isReadable(stream2) === !1) || rState && stream2.req && stream2.aborted) && process3.nextTick(onclosed);
        let cleanup = () => {
          callback = nop, stream2.removeListener("aborted", onclose), stream2.removeListener("complete", onfinish), stream2.removeListener("abort", onclose), stream2.removeListener("request", onrequest), stream2.req && stream2.req.removeListener("finish", onfinish), stream2.removeListener("end", onlegacyfinish), stream2.removeListener("close", onlegacyfinish), stream2.removeListener("finish", onfinish), stream2.removeListener("end", onend), stream2.removeListener("error", onerror), stream2.removeListener("close", onclose);
        };
        if (options.signal && !closed) {
          let abort = () => {
            let endCallback = callback;
            cleanup(), endCallback.call(
              stream2,
              new AbortError2(void 0, {
                cause: options.signal.reason
              })
            );
          };
          if (options.signal.aborted)
            process3.nextTick(abort);
          else {
            addAbortListener = addAbortListener || require_util().addAbortListener;
            let disposable = addAbortListener(options.signal, abort), originalCallback = callback;
            callback = once((...args) => {
              disposable[SymbolDispose](), originalCallback.apply(stream2, args);
            });
          }
        }
        return cleanup;
      }
      function eosWeb(stream2, options, callback) {
        let isAborted = !1, abort = nop;
        if (options.signal)
          if (abort = () => {
            isAborted = !0, callback.call(
              stream2,
              new AbortError2(void 0, {
                cause: options.signal.reason
              })
            );
          }, options.signal.aborted)
            process3.nextTick(abort);
          else {
            addAbortListener = addAbortListener || require_util().addAbortListener;
            let disposable = addAbortListener(options.signal, abort), originalCallback = callback;
            callback = once((...args) => {
              disposable[SymbolDispose](), originalCallback.apply(stream2, args);
            });
          }
        let resolverFn = (...args) => {
          isAborted || process3.nextTick(() => callback.apply(stream2, args));
        };
        return PromisePrototypeThen(stream2[kIsClosedPromise].promise, resolverFn, resolverFn), nop;
      }
      function finished2(stream2, opts) {
        var _opts;
        let autoCleanup = !1;
        return opts === null && (opts = kEmptyObject), (_opts = opts) !== null && _opts !== void 0 && _opts.cleanup && (validateBoolean(opts.cleanup, "cleanup"), autoCleanup = opts.cleanup), new Promise2((resolve3, reject) => {
          let cleanup = eos(stream2, opts, (err) => {
            autoCleanup && cleanup(), err ? reject(err) : resolve3();
          });
        });
      }
      module.exports = eos;
      module.exports.finished = finished2;
    }
  });

  // node_modules/readable-stream/lib/internal/streams/destroy.js
  var require_destroy = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/destroy.js"(exports, module) {
      "use strict";
      var process3 = require_process(), {
        aggregateTwoErrors,
        codes: { ERR_MULTIPLE_CALLBACK },
        AbortError: AbortError2
      } = require_errors(), { Symbol: Symbol2 } = require_primordials(), { kIsDestroyed, isDestroyed, isFinished, isServerRequest } = require_utils(), kDestroy = Symbol2("kDestroy"), kConstruct = Symbol2("kConstruct");
      function checkError(err, w2, r2) {
        err && (err.stack, w2 && !w2.errored && (w2.errored = err), r2 && !r2.errored && (r2.errored = err));
      }
      function destroy(err, cb) {
        let r2 = this._readableState, w2 = this._writableState, s2 = w2 || r2;
        return w2 != null && w2.destroyed || r2 != null && r2.destroyed ? (typeof cb == "function" && cb(), this) : (checkError(err, w2, r2), w2 && (w2.destroyed = !0), r2 && (r2.destroyed = !0), s2.constructed ? _destroy(this, err, cb) : this.once(kDestroy, function(er2) {
          _destroy(this, aggregateTwoErrors(er2, err), cb);
        }), this);
      }
      function _destroy(self2, err, cb) {
        let called = !1;
        function onDestroy(err2) {
          if (called)
            return;
          called = !0;
          let r2 = self2._readableState, w2 = self2._writableState;
          checkError(err2, w2, r2), w2 && (w2.closed = !0), r2 && (r2.closed = !0), typeof cb == "function" && cb(err2), err2 ? process3.nextTick(emitErrorCloseNT, self2, err2) : process3.nextTick(emitCloseNT, self2);
        }
        try {
          self2._destroy(err || null, onDestroy);
        } catch (err2) {
          onDestroy(err2);
        }
      }
      function emitErrorCloseNT(self2, err) {
        emitErrorNT(self2, err), emitCloseNT(self2);
      }
      function emitCloseNT(self2) {
        let r2 = self2._readableState, w2 = self2._writableState;
        w2 && (w2.closeEmitted = !0), r2 && (r2.closeEmitted = !0), (w2 != null && w2.emitClose || r2 != null && r2.emitClose) && self2.emit("close");
      }
      function emitErrorNT(self2, err) {
        let r2 = self2._readableState, w2 = self2._writableState;
        w2 != null && w2.errorEmitted || r2 != null && r2.errorEmitted || (w2 && (w2.errorEmitted = !0), r2 && (r2.errorEmitted = !0), self2.emit("error", err));
      }
      function undestroy() {
        let r2 = this._readableState, w2 = this._writableState;
        r2 && (r2.constructed = !0, r2.closed = !1, r2.closeEmitted = !1, r2.destroyed = !1, r2.errored = null, r2.errorEmitted = !1, r2.reading = !1, r2.ended = r2.readable === !1, r2.endEmitted = r2.readable === !1), w2 && (w2.constructed = !0, w2.destroyed = !1, w2.closed = !1, w2.closeEmitted = !1, w2.errored = null, w2.errorEmitted = !1, w2.finalCalled = !1, w2.prefinished = !1, w2.ended = w2.writable === !1, w2.ending = w2.writable === !1, w2.finished = w2.writable === !1);
      }
      function errorOrDestroy(stream2, err, sync3) {
        let r2 = stream2._readableState, w2 = stream2._writableState;
        if (w2 != null && w2.destroyed || r2 != null && r2.destroyed)
          return this;
        r2 != null && r2.autoDestroy || w2 != null && w2.autoDestroy ? stream2.destroy(err) : err && (err.stack, w2 && !w2.errored && (w2.errored = err), r2 && !r2.errored && (r2.errored = err), sync3 ? process3.nextTick(emitErrorNT, stream2, err) : emitErrorNT(stream2, err));
      }
      function construct(stream2, cb) {
        if (typeof stream2._construct != "function")
          return;
        let r2 = stream2._readableState, w2 = stream2._writableState;
        r2 && (r2.constructed = !1), w2 && (w2.constructed = !1), stream2.once(kConstruct, cb), !(stream2.listenerCount(kConstruct) > 1) && process3.nextTick(constructNT, stream2);
      }
      function constructNT(stream2) {
        let called = !1;
        function onConstruct(err) {
          if (called) {
            errorOrDestroy(stream2, err ?? new ERR_MULTIPLE_CALLBACK());
            return;
          }
          called = !0;
          let r2 = stream2._readableState, w2 = stream2._writableState, s2 = w2 || r2;
          r2 && (r2.constructed = !0), w2 && (w2.constructed = !0), s2.destroyed ? stream2.emit(kDestroy, err) : err ? errorOrDestroy(stream2, err, !0) : emitConstructNT(stream2);
        }
        try {
          stream2._construct((err) => {
            process3.nextTick(onConstruct, err);
          });
        } catch (err) {
          process3.nextTick(onConstruct, err);
        }
      }
      function emitConstructNT(stream2) {
        stream2.emit(kConstruct);
      }
      function isRequest(stream2) {
        return stream2?.setHeader && typeof stream2.abort == "function";
      }
      function emitCloseLegacy(stream2) {
        stream2.emit("close");
      }
      function emitErrorCloseLegacy(stream2, err) {
        stream2.emit("error", err), process3.nextTick(emitCloseLegacy, stream2);
      }
      function destroyer(stream2, err) {
        !stream2 || isDestroyed(stream2) || (!err && !isFinished(stream2) && (err = new AbortError2()), isServerRequest(stream2) ? (stream2.socket = null, stream2.destroy(err)) : isRequest(stream2) ? stream2.abort() : isRequest(stream2.req) ? stream2.req.abort() : typeof stream2.destroy == "function" ? stream2.destroy(err) : typeof stream2.close == "function" ? stream2.close() : err ? process3.nextTick(emitErrorCloseLegacy, stream2, err) : process3.nextTick(emitCloseLegacy, stream2), stream2.destroyed || (stream2[kIsDestroyed] = !0));
      }
      module.exports = {
        construct,
        destroyer,
        destroy,
        undestroy,
        errorOrDestroy
      };
    }
  });

  // node_modules/readable-stream/lib/internal/streams/legacy.js
  var require_legacy = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/legacy.js"(exports, module) {
      "use strict";
      var { ArrayIsArray, ObjectSetPrototypeOf } = require_primordials(), { EventEmitter: EE } = (init_events(), __toCommonJS(events_exports));
      function Stream(opts) {
        EE.call(this, opts);
      }
      ObjectSetPrototypeOf(Stream.prototype, EE.prototype);
      ObjectSetPrototypeOf(Stream, EE);
      Stream.prototype.pipe = function(dest, options) {
        let source = this;
        function ondata(chunk) {
          dest.writable && dest.write(chunk) === !1 && source.pause && source.pause();
        }
        source.on("data", ondata);
        function ondrain() {
          source.readable && source.resume && source.resume();
        }
        dest.on("drain", ondrain), !dest._isStdio && (!options || options.end !== !1) && (source.on("end", onend), source.on("close", onclose));
        let didOnEnd = !1;
        function onend() {
          didOnEnd || (didOnEnd = !0, dest.end());
        }
        function onclose() {
          didOnEnd || (didOnEnd = !0, typeof dest.destroy == "function" && dest.destroy());
        }
        function onerror(er2) {
          var _this$listenerCount;
          cleanup(), ((_this$listenerCount = this.listenerCount) === null || _this$listenerCount === void 0 ? void 0 : _this$listenerCount.call(this, "error")) === 0 && this.emit("error", er2);
        }
        prependListener(source, "error", onerror), prependListener(dest, "error", onerror);
        function cleanup() {
          source.removeListener("data", ondata), dest.removeListener("drain", ondrain), source.removeListener("end", onend), source.removeListener("close", onclose), source.removeListener("error", onerror), dest.removeListener("error", onerror), source.removeListener("end", cleanup), source.removeListener("close", cleanup), dest.removeListener("close", cleanup);
        }
        return source.on("end", cleanup), source.on("close", cleanup), dest.on("close", cleanup), dest.emit("pipe", source), dest;
      };
      function prependListener(emitter, event, fn) {
        if (typeof emitter.prependListener == "function") return emitter.prependListener(event, fn);
        !emitter._events || !emitter._events[event] ? emitter.on(event, fn) : ArrayIsArray(emitter._events[event]) ? emitter._events[event].unshift(fn) : emitter._events[event] = [fn, emitter._events[event]];
      }
      module.exports = {
        Stream,
        prependListener
      };
    }
  });

  // node_modules/readable-stream/lib/internal/streams/add-abort-signal.js
  var require_add_abort_signal = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/add-abort-signal.js"(exports, module) {
      "use strict";
      var { SymbolDispose } = require_primordials(), { AbortError: AbortError2, codes: codes2 } = require_errors(), { isNodeStream, isWebStream, kControllerErrorFunction } = require_utils(), eos = require_end_of_stream(), { ERR_INVALID_ARG_TYPE } = codes2, addAbortListener, validateAbortSignal = (signal, name2) => {
        if (typeof signal != "object" || !("aborted" in signal))
          throw new ERR_INVALID_ARG_TYPE(name2, "AbortSignal", signal);
      };
      module.exports.addAbortSignal = function(signal, stream2) {
        if (validateAbortSignal(signal, "signal"), !isNodeStream(stream2) && !isWebStream(stream2))
          throw new ERR_INVALID_ARG_TYPE("stream", ["ReadableStream", "WritableStream", "Stream"], stream2);
        return module.exports.addAbortSignalNoValidate(signal, stream2);
      };
      module.exports.addAbortSignalNoValidate = function(signal, stream2) {
        if (typeof signal != "object" || !("aborted" in signal))
          return stream2;
        let onAbort = isNodeStream(stream2) ? () => {
          stream2.destroy(
            new AbortError2(void 0, {
              cause: signal.reason
            })
          );
        } : () => {
          stream2[kControllerErrorFunction](
            new AbortError2(void 0, {
              cause: signal.reason
            })
          );
        };
        if (signal.aborted)
          onAbort();
        else {
          addAbortListener = addAbortListener || require_util().addAbortListener;
          let disposable = addAbortListener(signal, onAbort);
          eos(stream2, disposable[SymbolDispose]);
        }
        return stream2;
      };
    }
  });

  // node_modules/readable-stream/lib/internal/streams/buffer_list.js
  var require_buffer_list = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/buffer_list.js"(exports, module) {
      "use strict";
      var { StringPrototypeSlice, SymbolIterator, TypedArrayPrototypeSet, Uint8Array: Uint8Array2 } = require_primordials(), { Buffer: Buffer3 } = (init_buffer(), __toCommonJS(buffer_exports)), { inspect: inspect3 } = require_util();
      module.exports = class {
        constructor() {
          this.head = null, this.tail = null, this.length = 0;
        }
        push(v2) {
          let entry = {
            data: v2,
            next: null
          };
          this.length > 0 ? this.tail.next = entry : this.head = entry, this.tail = entry, ++this.length;
        }
        unshift(v2) {
          let entry = {
            data: v2,
            next: this.head
          };
          this.length === 0 && (this.tail = entry), this.head = entry, ++this.length;
        }
        shift() {
          if (this.length === 0) return;
          let ret = this.head.data;
          return this.length === 1 ? this.head = this.tail = null : this.head = this.head.next, --this.length, ret;
        }
        clear() {
          this.head = this.tail = null, this.length = 0;
        }
        join(s2) {
          if (this.length === 0) return "";
          let p2 = this.head, ret = "" + p2.data;
          for (; (p2 = p2.next) !== null; ) ret += s2 + p2.data;
          return ret;
        }
        concat(n2) {
          if (this.length === 0) return Buffer3.alloc(0);
          let ret = Buffer3.allocUnsafe(n2 >>> 0), p2 = this.head, i2 = 0;
          for (; p2; )
            TypedArrayPrototypeSet(ret, p2.data, i2), i2 += p2.data.length, p2 = p2.next;
          return ret;
        }
        // Consumes a specified amount of bytes or characters from the buffered data.
        consume(n2, hasStrings) {
          let data = this.head.data;
          if (n2 < data.length) {
            let slice = data.slice(0, n2);
            return this.head.data = data.slice(n2), slice;
          }
          return n2 === data.length ? this.shift() : hasStrings ? this._getString(n2) : this._getBuffer(n2);
        }
        first() {
          return this.head.data;
        }
        *[SymbolIterator]() {
          for (let p2 = this.head; p2; p2 = p2.next)
            yield p2.data;
        }
        // Consumes a specified amount of characters from the buffered data.
        _getString(n2) {
          let ret = "", p2 = this.head, c2 = 0;
          do {
            let str = p2.data;
            if (n2 > str.length)
              ret += str, n2 -= str.length;
            else {
              n2 === str.length ? (ret += str, ++c2, p2.next ? this.head = p2.next : this.head = this.tail = null) : (ret += StringPrototypeSlice(str, 0, n2), this.head = p2, p2.data = StringPrototypeSlice(str, n2));
              break;
            }
            ++c2;
          } while ((p2 = p2.next) !== null);
          return this.length -= c2, ret;
        }
        // Consumes a specified amount of bytes from the buffered data.
        _getBuffer(n2) {
          let ret = Buffer3.allocUnsafe(n2), retLen = n2, p2 = this.head, c2 = 0;
          do {
            let buf = p2.data;
            if (n2 > buf.length)
              TypedArrayPrototypeSet(ret, buf, retLen - n2), n2 -= buf.length;
            else {
              n2 === buf.length ? (TypedArrayPrototypeSet(ret, buf, retLen - n2), ++c2, p2.next ? this.head = p2.next : this.head = this.tail = null) : (TypedArrayPrototypeSet(ret, new Uint8Array2(buf.buffer, buf.byteOffset, n2), retLen - n2), this.head = p2, p2.data = buf.slice(n2));
              break;
            }
            ++c2;
          } while ((p2 = p2.next) !== null);
          return this.length -= c2, ret;
        }
        // Make sure the linked list only shows the minimal necessary information.
        [/* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom")](_2, options) {
          return inspect3(this, {
            ...options,
            // Only inspect one level.
            depth: 0,
            // It should not recurse.
            customInspect: !1
          });
        }
      };
    }
  });

  // node_modules/readable-stream/lib/internal/streams/state.js
  var require_state = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/state.js"(exports, module) {
      "use strict";
      var { MathFloor, NumberIsInteger } = require_primordials(), { validateInteger } = require_validators(), { ERR_INVALID_ARG_VALUE } = require_errors().codes, defaultHighWaterMarkBytes = 16 * 1024, defaultHighWaterMarkObjectMode = 16;
      function highWaterMarkFrom(options, isDuplex, duplexKey) {
        return options.highWaterMark != null ? options.highWaterMark : isDuplex ? options[duplexKey] : null;
      }
      function getDefaultHighWaterMark(objectMode) {
        return objectMode ? defaultHighWaterMarkObjectMode : defaultHighWaterMarkBytes;
      }
      function setDefaultHighWaterMark(objectMode, value) {
        validateInteger(value, "value", 0), objectMode ? defaultHighWaterMarkObjectMode = value : defaultHighWaterMarkBytes = value;
      }
      function getHighWaterMark(state, options, duplexKey, isDuplex) {
        let hwm = highWaterMarkFrom(options, isDuplex, duplexKey);
        if (hwm != null) {
          if (!NumberIsInteger(hwm) || hwm < 0) {
            let name2 = isDuplex ? `options.${duplexKey}` : "options.highWaterMark";
            throw new ERR_INVALID_ARG_VALUE(name2, hwm);
          }
          return MathFloor(hwm);
        }
        return getDefaultHighWaterMark(state.objectMode);
      }
      module.exports = {
        getHighWaterMark,
        getDefaultHighWaterMark,
        setDefaultHighWaterMark
      };
    }
  });

  // node_modules/string_decoder/lib/string_decoder.js
  var require_string_decoder = __commonJS({
    "node_modules/string_decoder/lib/string_decoder.js"(exports) {
      "use strict";
      var Buffer3 = (init_buffer(), __toCommonJS(buffer_exports)).Buffer, isEncoding2 = Buffer3.isEncoding || function(encoding) {
        switch (encoding = "" + encoding, encoding && encoding.toLowerCase()) {
          case "hex":
          case "utf8":
          case "utf-8":
          case "ascii":
          case "binary":
          case "base64":
          case "ucs2":
          case "ucs-2":
          case "utf16le":
          case "utf-16le":
          case "raw":
            return !0;
          default:
            return !1;
        }
      };
      function _normalizeEncoding(enc) {
        if (!enc) return "utf8";
        for (var retried; ; )
          switch (enc) {
            case "utf8":
            case "utf-8":
              return "utf8";
            case "ucs2":
            case "ucs-2":
            case "utf16le":
            case "utf-16le":
              return "utf16le";
            case "latin1":
            case "binary":
              return "latin1";
            case "base64":
            case "ascii":
            case "hex":
              return enc;
            default:
              if (retried) return;
              enc = ("" + enc).toLowerCase(), retried = !0;
          }
      }
      function normalizeEncoding(enc) {
        var nenc = _normalizeEncoding(enc);
        if (typeof nenc != "string" && (Buffer3.isEncoding === isEncoding2 || !isEncoding2(enc))) throw host.nodeError(new TypeError("Unknown encoding: " + enc), "ERR_UNKNOWN_ENCODING");
        return nenc || enc;
      }
      exports.StringDecoder = StringDecoder2;
      function StringDecoder2(encoding) {
        this.encoding = normalizeEncoding(encoding);
        var nb;
        switch (this.encoding) {
          case "utf16le":
            this.text = utf16Text, this.end = utf16End, nb = 4;
            break;
          case "utf8":
            this.fillLast = utf8FillLast, nb = 4;
            break;
          case "base64":
            this.text = base64Text, this.end = base64End, nb = 3;
            break;
          default:
            this.write = simpleWrite, this.end = simpleEnd;
            return;
        }
        this.lastNeed = 0, this.lastTotal = 0, this.lastChar = Buffer3.allocUnsafe(nb);
      }
      StringDecoder2.prototype.write = function(buf) {
        if (buf.length === 0) return "";
        var r2, i2;
        if (this.lastNeed) {
          if (r2 = this.fillLast(buf), r2 === void 0) return "";
          i2 = this.lastNeed, this.lastNeed = 0;
        } else
          i2 = 0;
        return i2 < buf.length ? r2 ? r2 + this.text(buf, i2) : this.text(buf, i2) : r2 || "";
      };
      StringDecoder2.prototype.end = utf8End;
      StringDecoder2.prototype.text = utf8Text;
      StringDecoder2.prototype.fillLast = function(buf) {
        if (this.lastNeed <= buf.length)
          return buf.copy(this.lastChar, this.lastTotal - this.lastNeed, 0, this.lastNeed), this.lastChar.toString(this.encoding, 0, this.lastTotal);
        buf.copy(this.lastChar, this.lastTotal - this.lastNeed, 0, buf.length), this.lastNeed -= buf.length;
      };
      function utf8CheckByte(byte) {
        return byte <= 127 ? 0 : byte >> 5 === 6 ? 2 : byte >> 4 === 14 ? 3 : byte >> 3 === 30 ? 4 : byte >> 6 === 2 ? -1 : -2;
      }
      function utf8CheckIncomplete(self2, buf, i2) {
        var j2 = buf.length - 1;
        if (j2 < i2) return 0;
        var nb = utf8CheckByte(buf[j2]);
        return nb >= 0 ? (nb > 0 && (self2.lastNeed = nb - 1), nb) : --j2 < i2 || nb === -2 ? 0 : (nb = utf8CheckByte(buf[j2]), nb >= 0 ? (nb > 0 && (self2.lastNeed = nb - 2), nb) : --j2 < i2 || nb === -2 ? 0 : (nb = utf8CheckByte(buf[j2]), nb >= 0 ? (nb > 0 && (nb === 2 ? nb = 0 : self2.lastNeed = nb - 3), nb) : 0));
      }
      function utf8CheckExtraBytes(self2, buf, p2) {
        if ((buf[0] & 192) !== 128)
          return self2.lastNeed = 0, "\uFFFD";
        if (self2.lastNeed > 1 && buf.length > 1) {
          if ((buf[1] & 192) !== 128)
            return self2.lastNeed = 1, "\uFFFD";
          if (self2.lastNeed > 2 && buf.length > 2 && (buf[2] & 192) !== 128)
            return self2.lastNeed = 2, "\uFFFD";
        }
      }
      function utf8FillLast(buf) {
        var p2 = this.lastTotal - this.lastNeed, r2 = utf8CheckExtraBytes(this, buf, p2);
        if (r2 !== void 0) return r2;
        if (this.lastNeed <= buf.length)
          return buf.copy(this.lastChar, p2, 0, this.lastNeed), this.lastChar.toString(this.encoding, 0, this.lastTotal);
        buf.copy(this.lastChar, p2, 0, buf.length), this.lastNeed -= buf.length;
      }
      function utf8Text(buf, i2) {
        var total = utf8CheckIncomplete(this, buf, i2);
        if (!this.lastNeed) return buf.toString("utf8", i2);
        this.lastTotal = total;
        var end = buf.length - (total - this.lastNeed);
        return buf.copy(this.lastChar, 0, end), buf.toString("utf8", i2, end);
      }
      function utf8End(buf) {
        var r2 = buf && buf.length ? this.write(buf) : "";
        return this.lastNeed ? r2 + "\uFFFD" : r2;
      }
      function utf16Text(buf, i2) {
        if ((buf.length - i2) % 2 === 0) {
          var r2 = buf.toString("utf16le", i2);
          if (r2) {
            var c2 = r2.charCodeAt(r2.length - 1);
            if (c2 >= 55296 && c2 <= 56319)
              return this.lastNeed = 2, this.lastTotal = 4, this.lastChar[0] = buf[buf.length - 2], this.lastChar[1] = buf[buf.length - 1], r2.slice(0, -1);
          }
          return r2;
        }
        return this.lastNeed = 1, this.lastTotal = 2, this.lastChar[0] = buf[buf.length - 1], buf.toString("utf16le", i2, buf.length - 1);
      }
      function utf16End(buf) {
        var r2 = buf && buf.length ? this.write(buf) : "";
        if (this.lastNeed) {
          var end = this.lastTotal - this.lastNeed;
          return r2 + this.lastChar.toString("utf16le", 0, end);
        }
        return r2;
      }
      function base64Text(buf, i2) {
        var n2 = (buf.length - i2) % 3;
        return n2 === 0 ? buf.toString("base64", i2) : (this.lastNeed = 3 - n2, this.lastTotal = 3, n2 === 1 ? this.lastChar[0] = buf[buf.length - 1] : (this.lastChar[0] = buf[buf.length - 2], this.lastChar[1] = buf[buf.length - 1]), buf.toString("base64", i2, buf.length - n2));
      }
      function base64End(buf) {
        var r2 = buf && buf.length ? this.write(buf) : "";
        return this.lastNeed ? r2 + this.lastChar.toString("base64", 0, 3 - this.lastNeed) : r2;
      }
      function simpleWrite(buf) {
        return buf.toString(this.encoding);
      }
      function simpleEnd(buf) {
        return buf && buf.length ? this.write(buf) : "";
      }
    }
  });

  // node_modules/readable-stream/lib/internal/streams/from.js
  var require_from = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/from.js"(exports, module) {
      "use strict";
      var process3 = require_process(), { PromisePrototypeThen, SymbolAsyncIterator, SymbolIterator } = require_primordials(), { Buffer: Buffer3 } = (init_buffer(), __toCommonJS(buffer_exports)), { ERR_INVALID_ARG_TYPE, ERR_STREAM_NULL_VALUES } = require_errors().codes;
      function from(Readable3, iterable, opts) {
        let iterator;
        if (typeof iterable == "string" || iterable instanceof Buffer3)
          return new Readable3({
            objectMode: !0,
            ...opts,
            read() {
              this.push(iterable), this.push(null);
            }
          });
        let isAsync;
        if (iterable && iterable[SymbolAsyncIterator])
          isAsync = !0, iterator = iterable[SymbolAsyncIterator]();
        else if (iterable && iterable[SymbolIterator])
          isAsync = !1, iterator = iterable[SymbolIterator]();
        else
          throw new ERR_INVALID_ARG_TYPE("iterable", ["Iterable"], iterable);
        let readable2 = new Readable3({
          objectMode: !0,
          highWaterMark: 1,
          // TODO(ronag): What options should be allowed?
          ...opts
        }), reading = !1;
        readable2._read = function() {
          reading || (reading = !0, next());
        }, readable2._destroy = function(error, cb) {
          PromisePrototypeThen(
            close2(error),
            () => process3.nextTick(cb, error),
            // nextTick is here in case cb throws
            (e2) => process3.nextTick(cb, e2 || error)
          );
        };
        async function close2(error) {
          let hadError = error != null, hasThrow = typeof iterator.throw == "function";
          if (hadError && hasThrow) {
            let { value, done } = await iterator.throw(error);
            if (await value, done)
              return;
          }
          if (typeof iterator.return == "function") {
            let { value } = await iterator.return();
            await value;
          }
        }
        async function next() {
          for (; ; ) {
            try {
              let { value, done } = isAsync ? await iterator.next() : iterator.next();
              if (done)
                readable2.push(null);
              else {
                let res = value && typeof value.then == "function" ? await value : value;
                if (res === null)
                  throw reading = !1, new ERR_STREAM_NULL_VALUES();
                if (readable2.push(res))
                  continue;
                reading = !1;
              }
            } catch (err) {
              readable2.destroy(err);
            }
            break;
          }
        }
        return readable2;
      }
      module.exports = from;
    }
  });

  // node_modules/readable-stream/lib/internal/streams/readable.js
  var require_readable = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/readable.js"(exports, module) {
      "use strict";
      var process3 = require_process(), {
        ArrayPrototypeIndexOf,
        NumberIsInteger,
        NumberIsNaN,
        NumberParseInt,
        ObjectDefineProperties,
        ObjectKeys,
        ObjectSetPrototypeOf,
        Promise: Promise2,
        SafeSet,
        SymbolAsyncDispose,
        SymbolAsyncIterator,
        Symbol: Symbol2
      } = require_primordials();
      module.exports = Readable3;
      Readable3.ReadableState = ReadableState;
      var { EventEmitter: EE } = (init_events(), __toCommonJS(events_exports)), { Stream, prependListener } = require_legacy(), { Buffer: Buffer3 } = (init_buffer(), __toCommonJS(buffer_exports)), { addAbortSignal } = require_add_abort_signal(), eos = require_end_of_stream(), debug2 = require_util().debuglog("stream", (fn) => {
        debug2 = fn;
      }), BufferList = require_buffer_list(), destroyImpl = require_destroy(), { getHighWaterMark, getDefaultHighWaterMark } = require_state(), {
        aggregateTwoErrors,
        codes: {
          ERR_INVALID_ARG_TYPE,
          ERR_METHOD_NOT_IMPLEMENTED,
          ERR_OUT_OF_RANGE,
          ERR_STREAM_PUSH_AFTER_EOF,
          ERR_STREAM_UNSHIFT_AFTER_END_EVENT
        },
        AbortError: AbortError2
      } = require_errors(), { validateObject } = require_validators(), kPaused = Symbol2("kPaused"), { StringDecoder: StringDecoder2 } = require_string_decoder(), from = require_from();
      ObjectSetPrototypeOf(Readable3.prototype, Stream.prototype);
      ObjectSetPrototypeOf(Readable3, Stream);
      var nop = () => {
      }, { errorOrDestroy } = destroyImpl, kObjectMode = 1, kEnded = 2, kEndEmitted = 4, kReading = 8, kConstructed = 16, kSync = 32, kNeedReadable = 64, kEmittedReadable = 128, kReadableListening = 256, kResumeScheduled = 512, kErrorEmitted = 1024, kEmitClose = 2048, kAutoDestroy = 4096, kDestroyed = 8192, kClosed = 16384, kCloseEmitted = 32768, kMultiAwaitDrain = 65536, kReadingMore = 1 << 17, kDataEmitted = 1 << 18;
      function makeBitMapDescriptor(bit) {
        return {
          enumerable: !1,
          get() {
            return (this.state & bit) !== 0;
          },
          set(value) {
            value ? this.state |= bit : this.state &= ~bit;
          }
        };
      }
      ObjectDefineProperties(ReadableState.prototype, {
        objectMode: makeBitMapDescriptor(kObjectMode),
        ended: makeBitMapDescriptor(kEnded),
        endEmitted: makeBitMapDescriptor(kEndEmitted),
        reading: makeBitMapDescriptor(kReading),
        // Stream is still being constructed and cannot be
        // destroyed until construction finished or failed.
        // Async construction is opt in, therefore we start as
        // constructed.
        constructed: makeBitMapDescriptor(kConstructed),
        // A flag to be able to tell if the event 'readable'/'data' is emitted
        // immediately, or on a later tick.  We set this to true at first, because
        // any actions that shouldn't happen until "later" should generally also
        // not happen before the first read call.
        sync: makeBitMapDescriptor(kSync),
        // Whenever we return null, then we set a flag to say
        // that we're awaiting a 'readable' event emission.
        needReadable: makeBitMapDescriptor(kNeedReadable),
        emittedReadable: makeBitMapDescriptor(kEmittedReadable),
        readableListening: makeBitMapDescriptor(kReadableListening),
        resumeScheduled: makeBitMapDescriptor(kResumeScheduled),
        // True if the error was already emitted and should not be thrown again.
        errorEmitted: makeBitMapDescriptor(kErrorEmitted),
        emitClose: makeBitMapDescriptor(kEmitClose),
        autoDestroy: makeBitMapDescriptor(kAutoDestroy),
        // Has it been destroyed.
        destroyed: makeBitMapDescriptor(kDestroyed),
        // Indicates whether the stream has finished destroying.
        closed: makeBitMapDescriptor(kClosed),
        // True if close has been emitted or would have been emitted
        // depending on emitClose.
        closeEmitted: makeBitMapDescriptor(kCloseEmitted),
        multiAwaitDrain: makeBitMapDescriptor(kMultiAwaitDrain),
        // If true, a maybeReadMore has been scheduled.
        readingMore: makeBitMapDescriptor(kReadingMore),
        dataEmitted: makeBitMapDescriptor(kDataEmitted)
      });
      function ReadableState(options, stream2, isDuplex) {
        typeof isDuplex != "boolean" && (isDuplex = stream2 instanceof require_duplex()), this.state = kEmitClose | kAutoDestroy | kConstructed | kSync, options && options.objectMode && (this.state |= kObjectMode), isDuplex && options && options.readableObjectMode && (this.state |= kObjectMode), this.highWaterMark = options ? getHighWaterMark(this, options, "readableHighWaterMark", isDuplex) : getDefaultHighWaterMark(!1), this.buffer = new BufferList(), this.length = 0, this.pipes = [], this.flowing = null, this[kPaused] = null, options && options.emitClose === !1 && (this.state &= ~kEmitClose), options && options.autoDestroy === !1 && (this.state &= ~kAutoDestroy), this.errored = null, this.defaultEncoding = options && options.defaultEncoding || "utf8", this.awaitDrainWriters = null, this.decoder = null, this.encoding = null, options && options.encoding && (this.decoder = new StringDecoder2(options.encoding), this.encoding = options.encoding);
      }
      function Readable3(options) {
        if (!(this instanceof Readable3)) return new Readable3(options);
        let isDuplex = this instanceof require_duplex();
        this._readableState = new ReadableState(options, this, isDuplex), options && (typeof options.read == "function" && (this._read = options.read), typeof options.destroy == "function" && (this._destroy = options.destroy), typeof options.construct == "function" && (this._construct = options.construct), options.signal && !isDuplex && addAbortSignal(options.signal, this)), Stream.call(this, options), destroyImpl.construct(this, () => {
          this._readableState.needReadable && maybeReadMore(this, this._readableState);
        });
      }
      Readable3.prototype.destroy = destroyImpl.destroy;
      Readable3.prototype._undestroy = destroyImpl.undestroy;
      Readable3.prototype._destroy = function(err, cb) {
        cb(err);
      };
      Readable3.prototype[EE.captureRejectionSymbol] = function(err) {
        this.destroy(err);
      };
      Readable3.prototype[SymbolAsyncDispose] = function() {
        let error;
        return this.destroyed || (error = this.readableEnded ? null : new AbortError2(), this.destroy(error)), new Promise2((resolve3, reject) => eos(this, (err) => err && err !== error ? reject(err) : resolve3(null)));
      };
      Readable3.prototype.push = function(chunk, encoding) {
        return readableAddChunk(this, chunk, encoding, !1);
      };
      Readable3.prototype.unshift = function(chunk, encoding) {
        return readableAddChunk(this, chunk, encoding, !0);
      };
      function readableAddChunk(stream2, chunk, encoding, addToFront) {
        debug2("readableAddChunk", chunk);
        let state = stream2._readableState, err;
        if ((state.state & kObjectMode) === 0 && (typeof chunk == "string" ? (encoding = encoding || state.defaultEncoding, state.encoding !== encoding && (addToFront && state.encoding ? chunk = Buffer3.from(chunk, encoding).toString(state.encoding) : (chunk = Buffer3.from(chunk, encoding), encoding = ""))) : chunk instanceof Buffer3 ? encoding = "" : Stream._isUint8Array(chunk) ? (chunk = Stream._uint8ArrayToBuffer(chunk), encoding = "") : chunk != null && (err = new ERR_INVALID_ARG_TYPE("chunk", ["string", "Buffer", "TypedArray", "DataView"], chunk))), err)
          errorOrDestroy(stream2, err);
        else if (chunk === null)
          state.state &= ~kReading, onEofChunk(stream2, state);
        else if ((state.state & kObjectMode) !== 0 || chunk && chunk.length > 0)
          if (addToFront)
            if ((state.state & kEndEmitted) !== 0) errorOrDestroy(stream2, new ERR_STREAM_UNSHIFT_AFTER_END_EVENT());
            else {
              if (state.destroyed || state.errored) return !1;
              addChunk(stream2, state, chunk, !0);
            }
          else if (state.ended)
            errorOrDestroy(stream2, new ERR_STREAM_PUSH_AFTER_EOF());
          else {
            if (state.destroyed || state.errored)
              return !1;
            state.state &= ~kReading, state.decoder && !encoding ? (chunk = state.decoder.write(chunk), state.objectMode || chunk.length !== 0 ? addChunk(stream2, state, chunk, !1) : maybeReadMore(stream2, state)) : addChunk(stream2, state, chunk, !1);
          }
        else addToFront || (state.state &= ~kReading, maybeReadMore(stream2, state));
        return !state.ended && (state.length < state.highWaterMark || state.length === 0);
      }
      function addChunk(stream2, state, chunk, addToFront) {
        state.flowing && state.length === 0 && !state.sync && stream2.listenerCount("data") > 0 ? ((state.state & kMultiAwaitDrain) !== 0 ? state.awaitDrainWriters.clear() : state.awaitDrainWriters = null, state.dataEmitted = !0, stream2.emit("data", chunk)) : (state.length += state.objectMode ? 1 : chunk.length, addToFront ? state.buffer.unshift(chunk) : state.buffer.push(chunk), (state.state & kNeedReadable) !== 0 && emitReadable(stream2)), maybeReadMore(stream2, state);
      }
      Readable3.prototype.isPaused = function() {
        let state = this._readableState;
        return state[kPaused] === !0 || state.flowing === !1;
      };
      Readable3.prototype.setEncoding = function(enc) {
        let decoder2 = new StringDecoder2(enc);
        this._readableState.decoder = decoder2, this._readableState.encoding = this._readableState.decoder.encoding;
        let buffer2 = this._readableState.buffer, content = "";
        for (let data of buffer2)
          content += decoder2.write(data);
        return buffer2.clear(), content !== "" && buffer2.push(content), this._readableState.length = content.length, this;
      };
      var MAX_HWM = 1073741824;
      function computeNewHighWaterMark(n2) {
        if (n2 > MAX_HWM)
          throw new ERR_OUT_OF_RANGE("size", "<= 1GiB", n2);
        return n2--, n2 |= n2 >>> 1, n2 |= n2 >>> 2, n2 |= n2 >>> 4, n2 |= n2 >>> 8, n2 |= n2 >>> 16, n2++, n2;
      }
      function howMuchToRead(n2, state) {
        return n2 <= 0 || state.length === 0 && state.ended ? 0 : (state.state & kObjectMode) !== 0 ? 1 : NumberIsNaN(n2) ? state.flowing && state.length ? state.buffer.first().length : state.length : n2 <= state.length ? n2 : state.ended ? state.length : 0;
      }
      Readable3.prototype.read = function(n2) {
        debug2("read", n2), n2 === void 0 ? n2 = NaN : NumberIsInteger(n2) || (n2 = NumberParseInt(n2, 10));
        let state = this._readableState, nOrig = n2;
        if (n2 > state.highWaterMark && (state.highWaterMark = computeNewHighWaterMark(n2)), n2 !== 0 && (state.state &= ~kEmittedReadable), n2 === 0 && state.needReadable && ((state.highWaterMark !== 0 ? state.length >= state.highWaterMark : state.length > 0) || state.ended))
          return debug2("read: emitReadable", state.length, state.ended), state.length === 0 && state.ended ? endReadable(this) : emitReadable(this), null;
        if (n2 = howMuchToRead(n2, state), n2 === 0 && state.ended)
          return state.length === 0 && endReadable(this), null;
        let doRead = (state.state & kNeedReadable) !== 0;
        if (debug2("need readable", doRead), (state.length === 0 || state.length - n2 < state.highWaterMark) && (doRead = !0, debug2("length less than watermark", doRead)), state.ended || state.reading || state.destroyed || state.errored || !state.constructed)
          doRead = !1, debug2("reading, ended or constructing", doRead);
        else if (doRead) {
          debug2("do read"), state.state |= kReading | kSync, state.length === 0 && (state.state |= kNeedReadable);
          try {
            this._read(state.highWaterMark);
          } catch (err) {
            errorOrDestroy(this, err);
          }
          state.state &= ~kSync, state.reading || (n2 = howMuchToRead(nOrig, state));
        }
        let ret;
        return n2 > 0 ? ret = fromList(n2, state) : ret = null, ret === null ? (state.needReadable = state.length <= state.highWaterMark, n2 = 0) : (state.length -= n2, state.multiAwaitDrain ? state.awaitDrainWriters.clear() : state.awaitDrainWriters = null), state.length === 0 && (state.ended || (state.needReadable = !0), nOrig !== n2 && state.ended && endReadable(this)), ret !== null && !state.errorEmitted && !state.closeEmitted && (state.dataEmitted = !0, this.emit("data", ret)), ret;
      };
      function onEofChunk(stream2, state) {
        if (debug2("onEofChunk"), !state.ended) {
          if (state.decoder) {
            let chunk = state.decoder.end();
            chunk && chunk.length && (state.buffer.push(chunk), state.length += state.objectMode ? 1 : chunk.length);
          }
          state.ended = !0, state.sync ? emitReadable(stream2) : (state.needReadable = !1, state.emittedReadable = !0, emitReadable_(stream2));
        }
      }
      function emitReadable(stream2) {
        let state = stream2._readableState;
        debug2("emitReadable", state.needReadable, state.emittedReadable), state.needReadable = !1, state.emittedReadable || (debug2("emitReadable", state.flowing), state.emittedReadable = !0, process3.nextTick(emitReadable_, stream2));
      }
      function emitReadable_(stream2) {
        let state = stream2._readableState;
        debug2("emitReadable_", state.destroyed, state.length, state.ended), !state.destroyed && !state.errored && (state.length || state.ended) && (stream2.emit("readable"), state.emittedReadable = !1), state.needReadable = !state.flowing && !state.ended && state.length <= state.highWaterMark, flow(stream2);
      }
      function maybeReadMore(stream2, state) {
        !state.readingMore && state.constructed && (state.readingMore = !0, process3.nextTick(maybeReadMore_, stream2, state));
      }
      function maybeReadMore_(stream2, state) {
        for (; !state.reading && !state.ended && (state.length < state.highWaterMark || state.flowing && state.length === 0); ) {
          let len = state.length;
          if (debug2("maybeReadMore read 0"), stream2.read(0), len === state.length)
            break;
        }
        state.readingMore = !1;
      }
      Readable3.prototype._read = function(n2) {
        throw new ERR_METHOD_NOT_IMPLEMENTED("_read()");
      };
      Readable3.prototype.pipe = function(dest, pipeOpts) {
        let src = this, state = this._readableState;
        state.pipes.length === 1 && (state.multiAwaitDrain || (state.multiAwaitDrain = !0, state.awaitDrainWriters = new SafeSet(state.awaitDrainWriters ? [state.awaitDrainWriters] : []))), state.pipes.push(dest), debug2("pipe count=%d opts=%j", state.pipes.length, pipeOpts);
        let endFn = (!pipeOpts || pipeOpts.end !== !1) && dest !== process3.stdout && dest !== process3.stderr ? onend : unpipe;
        state.endEmitted ? process3.nextTick(endFn) : src.once("end", endFn), dest.on("unpipe", onunpipe);
        function onunpipe(readable2, unpipeInfo) {
          debug2("onunpipe"), readable2 === src && unpipeInfo && unpipeInfo.hasUnpiped === !1 && (unpipeInfo.hasUnpiped = !0, cleanup());
        }
        function onend() {
          debug2("onend"), dest.end();
        }
        let ondrain, cleanedUp = !1;
        function cleanup() {
          debug2("cleanup"), dest.removeListener("close", onclose), dest.removeListener("finish", onfinish), ondrain && dest.removeListener("drain", ondrain), dest.removeListener("error", onerror), dest.removeListener("unpipe", onunpipe), src.removeListener("end", onend), src.removeListener("end", unpipe), src.removeListener("data", ondata), cleanedUp = !0, ondrain && state.awaitDrainWriters && (!dest._writableState || dest._writableState.needDrain) && ondrain();
        }
        function pause() {
          cleanedUp || (state.pipes.length === 1 && state.pipes[0] === dest ? (debug2("false write response, pause", 0), state.awaitDrainWriters = dest, state.multiAwaitDrain = !1) : state.pipes.length > 1 && state.pipes.includes(dest) && (debug2("false write response, pause", state.awaitDrainWriters.size), state.awaitDrainWriters.add(dest)), src.pause()), ondrain || (ondrain = pipeOnDrain(src, dest), dest.on("drain", ondrain));
        }
        src.on("data", ondata);
        function ondata(chunk) {
          debug2("ondata");
          let ret = dest.write(chunk);
          debug2("dest.write", ret), ret === !1 && pause();
        }
        function onerror(er2) {
          if (debug2("onerror", er2), unpipe(), dest.removeListener("error", onerror), dest.listenerCount("error") === 0) {
            let s2 = dest._writableState || dest._readableState;
            s2 && !s2.errorEmitted ? errorOrDestroy(dest, er2) : dest.emit("error", er2);
          }
        }
        prependListener(dest, "error", onerror);
        function onclose() {
          dest.removeListener("finish", onfinish), unpipe();
        }
        dest.once("close", onclose);
        function onfinish() {
          debug2("onfinish"), dest.removeListener("close", onclose), unpipe();
        }
        dest.once("finish", onfinish);
        function unpipe() {
          debug2("unpipe"), src.unpipe(dest);
        }
        return dest.emit("pipe", src), dest.writableNeedDrain === !0 ? pause() : state.flowing || (debug2("pipe resume"), src.resume()), dest;
      };
      function pipeOnDrain(src, dest) {
        return function() {
          let state = src._readableState;
          state.awaitDrainWriters === dest ? (debug2("pipeOnDrain", 1), state.awaitDrainWriters = null) : state.multiAwaitDrain && (debug2("pipeOnDrain", state.awaitDrainWriters.size), state.awaitDrainWriters.delete(dest)), (!state.awaitDrainWriters || state.awaitDrainWriters.size === 0) && src.listenerCount("data") && src.resume();
        };
      }
      Readable3.prototype.unpipe = function(dest) {
        let state = this._readableState, unpipeInfo = {
          hasUnpiped: !1
        };
        if (state.pipes.length === 0) return this;
        if (!dest) {
          let dests = state.pipes;
          state.pipes = [], this.pause();
          for (let i2 = 0; i2 < dests.length; i2++)
            dests[i2].emit("unpipe", this, {
              hasUnpiped: !1
            });
          return this;
        }
        let index = ArrayPrototypeIndexOf(state.pipes, dest);
        return index === -1 ? this : (state.pipes.splice(index, 1), state.pipes.length === 0 && this.pause(), dest.emit("unpipe", this, unpipeInfo), this);
      };
      Readable3.prototype.on = function(ev, fn) {
        let res = Stream.prototype.on.call(this, ev, fn), state = this._readableState;
        return ev === "data" ? (state.readableListening = this.listenerCount("readable") > 0, state.flowing !== !1 && this.resume()) : ev === "readable" && !state.endEmitted && !state.readableListening && (state.readableListening = state.needReadable = !0, state.flowing = !1, state.emittedReadable = !1, debug2("on readable", state.length, state.reading), state.length ? emitReadable(this) : state.reading || process3.nextTick(nReadingNextTick, this)), res;
      };
      Readable3.prototype.addListener = Readable3.prototype.on;
      Readable3.prototype.removeListener = function(ev, fn) {
        let res = Stream.prototype.removeListener.call(this, ev, fn);
        return ev === "readable" && process3.nextTick(updateReadableListening, this), res;
      };
      Readable3.prototype.off = Readable3.prototype.removeListener;
      Readable3.prototype.removeAllListeners = function(ev) {
        let res = Stream.prototype.removeAllListeners.apply(this, arguments);
        return (ev === "readable" || ev === void 0) && process3.nextTick(updateReadableListening, this), res;
      };
      function updateReadableListening(self2) {
        let state = self2._readableState;
        state.readableListening = self2.listenerCount("readable") > 0, state.resumeScheduled && state[kPaused] === !1 ? state.flowing = !0 : self2.listenerCount("data") > 0 ? self2.resume() : state.readableListening || (state.flowing = null);
      }
      function nReadingNextTick(self2) {
        debug2("readable nexttick read 0"), self2.read(0);
      }
      Readable3.prototype.resume = function() {
        let state = this._readableState;
        return state.flowing || (debug2("resume"), state.flowing = !state.readableListening, resume(this, state)), state[kPaused] = !1, this;
      };
      function resume(stream2, state) {
        state.resumeScheduled || (state.resumeScheduled = !0, process3.nextTick(resume_, stream2, state));
      }
      function resume_(stream2, state) {
        debug2("resume", state.reading), state.reading || stream2.read(0), state.resumeScheduled = !1, stream2.emit("resume"), flow(stream2), state.flowing && !state.reading && stream2.read(0);
      }
      Readable3.prototype.pause = function() {
        return debug2("call pause flowing=%j", this._readableState.flowing), this._readableState.flowing !== !1 && (debug2("pause"), this._readableState.flowing = !1, this.emit("pause")), this._readableState[kPaused] = !0, this;
      };
      function flow(stream2) {
        let state = stream2._readableState;
        for (debug2("flow", state.flowing); state.flowing && stream2.read() !== null; ) ;
      }
      Readable3.prototype.wrap = function(stream2) {
        let paused = !1;
        stream2.on("data", (chunk) => {
          !this.push(chunk) && stream2.pause && (paused = !0, stream2.pause());
        }), stream2.on("end", () => {
          this.push(null);
        }), stream2.on("error", (err) => {
          errorOrDestroy(this, err);
        }), stream2.on("close", () => {
          this.destroy();
        }), stream2.on("destroy", () => {
          this.destroy();
        }), this._read = () => {
          paused && stream2.resume && (paused = !1, stream2.resume());
        };
        let streamKeys = ObjectKeys(stream2);
        for (let j2 = 1; j2 < streamKeys.length; j2++) {
          let i2 = streamKeys[j2];
          this[i2] === void 0 && typeof stream2[i2] == "function" && (this[i2] = stream2[i2].bind(stream2));
        }
        return this;
      };
      Readable3.prototype[SymbolAsyncIterator] = function() {
        return streamToAsyncIterator(this);
      };
      Readable3.prototype.iterator = function(options) {
        return options !== void 0 && validateObject(options, "options"), streamToAsyncIterator(this, options);
      };
      function streamToAsyncIterator(stream2, options) {
        typeof stream2.read != "function" && (stream2 = Readable3.wrap(stream2, {
          objectMode: !0
        }));
        let iter = createAsyncIterator(stream2, options);
        return iter.stream = stream2, iter;
      }
      async function* createAsyncIterator(stream2, options) {
        let callback = nop;
        function next(resolve3) {
          this === stream2 ? (callback(), callback = nop) : callback = resolve3;
        }
        stream2.on("readable", next);
        let error, cleanup = eos(
          stream2,
          {
            writable: !1
          },
          (err) => {
            error = err ? aggregateTwoErrors(error, err) : null, callback(), callback = nop;
          }
        );
        try {
          for (; ; ) {
            let chunk = stream2.destroyed ? null : stream2.read();
            if (chunk !== null)
              yield chunk;
            else {
              if (error)
                throw error;
              if (error === null)
                return;
              await new Promise2(next);
            }
          }
        } catch (err) {
          throw error = aggregateTwoErrors(error, err), error;
        } finally {
          (error || options?.destroyOnReturn !== !1) && (error === void 0 || stream2._readableState.autoDestroy) ? destroyImpl.destroyer(stream2, null) : (stream2.off("readable", next), cleanup());
        }
      }
      ObjectDefineProperties(Readable3.prototype, {
        readable: {
          __proto__: null,
          get() {
            let r2 = this._readableState;
            return !!r2 && r2.readable !== !1 && !r2.destroyed && !r2.errorEmitted && !r2.endEmitted;
          },
          set(val) {
            this._readableState && (this._readableState.readable = !!val);
          }
        },
        readableDidRead: {
          __proto__: null,
          enumerable: !1,
          get: function() {
            return this._readableState.dataEmitted;
          }
        },
        readableAborted: {
          __proto__: null,
          enumerable: !1,
          get: function() {
            return !!(this._readableState.readable !== !1 && (this._readableState.destroyed || this._readableState.errored) && !this._readableState.endEmitted);
          }
        },
        readableHighWaterMark: {
          __proto__: null,
          enumerable: !1,
          get: function() {
            return this._readableState.highWaterMark;
          }
        },
        readableBuffer: {
          __proto__: null,
          enumerable: !1,
          get: function() {
            return this._readableState && this._readableState.buffer;
          }
        },
        readableFlowing: {
          __proto__: null,
          enumerable: !1,
          get: function() {
            return this._readableState.flowing;
          },
          set: function(state) {
            this._readableState && (this._readableState.flowing = state);
          }
        },
        readableLength: {
          __proto__: null,
          enumerable: !1,
          get() {
            return this._readableState.length;
          }
        },
        readableObjectMode: {
          __proto__: null,
          enumerable: !1,
          get() {
            return this._readableState ? this._readableState.objectMode : !1;
          }
        },
        readableEncoding: {
          __proto__: null,
          enumerable: !1,
          get() {
            return this._readableState ? this._readableState.encoding : null;
          }
        },
        errored: {
          __proto__: null,
          enumerable: !1,
          get() {
            return this._readableState ? this._readableState.errored : null;
          }
        },
        closed: {
          __proto__: null,
          get() {
            return this._readableState ? this._readableState.closed : !1;
          }
        },
        destroyed: {
          __proto__: null,
          enumerable: !1,
          get() {
            return this._readableState ? this._readableState.destroyed : !1;
          },
          set(value) {
            this._readableState && (this._readableState.destroyed = value);
          }
        },
        readableEnded: {
          __proto__: null,
          enumerable: !1,
          get() {
            return this._readableState ? this._readableState.endEmitted : !1;
          }
        }
      });
      ObjectDefineProperties(ReadableState.prototype, {
        // Legacy getter for `pipesCount`.
        pipesCount: {
          __proto__: null,
          get() {
            return this.pipes.length;
          }
        },
        // Legacy property for `paused`.
        paused: {
          __proto__: null,
          get() {
            return this[kPaused] !== !1;
          },
          set(value) {
            this[kPaused] = !!value;
          }
        }
      });
      Readable3._fromList = fromList;
      function fromList(n2, state) {
        if (state.length === 0) return null;
        let ret;
        return state.objectMode ? ret = state.buffer.shift() : !n2 || n2 >= state.length ? (state.decoder ? ret = state.buffer.join("") : state.buffer.length === 1 ? ret = state.buffer.first() : ret = state.buffer.concat(state.length), state.buffer.clear()) : ret = state.buffer.consume(n2, state.decoder), ret;
      }
      function endReadable(stream2) {
        let state = stream2._readableState;
        debug2("endReadable", state.endEmitted), state.endEmitted || (state.ended = !0, process3.nextTick(endReadableNT, state, stream2));
      }
      function endReadableNT(state, stream2) {
        if (debug2("endReadableNT", state.endEmitted, state.length), !state.errored && !state.closeEmitted && !state.endEmitted && state.length === 0) {
          if (state.endEmitted = !0, stream2.emit("end"), stream2.writable && stream2.allowHalfOpen === !1)
            process3.nextTick(endWritableNT, stream2);
          else if (state.autoDestroy) {
            let wState = stream2._writableState;
            (!wState || wState.autoDestroy && // We don't expect the writable to ever 'finish'
            // if writable is explicitly set to false.
            (wState.finished || wState.writable === !1)) && stream2.destroy();
          }
        }
      }
      function endWritableNT(stream2) {
        stream2.writable && !stream2.writableEnded && !stream2.destroyed && stream2.end();
      }
      Readable3.from = function(iterable, opts) {
        return from(Readable3, iterable, opts);
      };
      var webStreamsAdapters;
      function lazyWebStreams() {
        return webStreamsAdapters === void 0 && (webStreamsAdapters = {}), webStreamsAdapters;
      }
      Readable3.fromWeb = function(readableStream, options) {
        return lazyWebStreams().newStreamReadableFromReadableStream(readableStream, options);
      };
      Readable3.toWeb = function(streamReadable, options) {
        return lazyWebStreams().newReadableStreamFromStreamReadable(streamReadable, options);
      };
      Readable3.wrap = function(src, options) {
        var _ref, _src$readableObjectMo;
        return new Readable3({
          objectMode: (_ref = (_src$readableObjectMo = src.readableObjectMode) !== null && _src$readableObjectMo !== void 0 ? _src$readableObjectMo : src.objectMode) !== null && _ref !== void 0 ? _ref : !0,
          ...options,
          destroy(err, callback) {
            destroyImpl.destroyer(src, err), callback(err);
          }
        }).wrap(src);
      };
    }
  });

  // node_modules/readable-stream/lib/internal/streams/writable.js
  var require_writable = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/writable.js"(exports, module) {
      "use strict";
      var process3 = require_process(), {
        ArrayPrototypeSlice,
        Error: Error2,
        FunctionPrototypeSymbolHasInstance,
        ObjectDefineProperty,
        ObjectDefineProperties,
        ObjectSetPrototypeOf,
        StringPrototypeToLowerCase,
        Symbol: Symbol2,
        SymbolHasInstance
      } = require_primordials();
      module.exports = Writable3;
      Writable3.WritableState = WritableState;
      var { EventEmitter: EE } = (init_events(), __toCommonJS(events_exports)), Stream = require_legacy().Stream, { Buffer: Buffer3 } = (init_buffer(), __toCommonJS(buffer_exports)), destroyImpl = require_destroy(), { addAbortSignal } = require_add_abort_signal(), { getHighWaterMark, getDefaultHighWaterMark } = require_state(), {
        ERR_INVALID_ARG_TYPE,
        ERR_METHOD_NOT_IMPLEMENTED,
        ERR_MULTIPLE_CALLBACK,
        ERR_STREAM_CANNOT_PIPE,
        ERR_STREAM_DESTROYED,
        ERR_STREAM_ALREADY_FINISHED,
        ERR_STREAM_NULL_VALUES,
        ERR_STREAM_WRITE_AFTER_END,
        ERR_UNKNOWN_ENCODING
      } = require_errors().codes, { errorOrDestroy } = destroyImpl;
      ObjectSetPrototypeOf(Writable3.prototype, Stream.prototype);
      ObjectSetPrototypeOf(Writable3, Stream);
      function nop() {
      }
      var kOnFinished = Symbol2("kOnFinished");
      function WritableState(options, stream2, isDuplex) {
        typeof isDuplex != "boolean" && (isDuplex = stream2 instanceof require_duplex()), this.objectMode = !!(options && options.objectMode), isDuplex && (this.objectMode = this.objectMode || !!(options && options.writableObjectMode)), this.highWaterMark = options ? getHighWaterMark(this, options, "writableHighWaterMark", isDuplex) : getDefaultHighWaterMark(!1), this.finalCalled = !1, this.needDrain = !1, this.ending = !1, this.ended = !1, this.finished = !1, this.destroyed = !1;
        let noDecode = !!(options && options.decodeStrings === !1);
        this.decodeStrings = !noDecode, this.defaultEncoding = options && options.defaultEncoding || "utf8", this.length = 0, this.writing = !1, this.corked = 0, this.sync = !0, this.bufferProcessing = !1, this.onwrite = onwrite.bind(void 0, stream2), this.writecb = null, this.writelen = 0, this.afterWriteTickInfo = null, resetBuffer(this), this.pendingcb = 0, this.constructed = !0, this.prefinished = !1, this.errorEmitted = !1, this.emitClose = !options || options.emitClose !== !1, this.autoDestroy = !options || options.autoDestroy !== !1, this.errored = null, this.closed = !1, this.closeEmitted = !1, this[kOnFinished] = [];
      }
      function resetBuffer(state) {
        state.buffered = [], state.bufferedIndex = 0, state.allBuffers = !0, state.allNoop = !0;
      }
      WritableState.prototype.getBuffer = function() {
        return ArrayPrototypeSlice(this.buffered, this.bufferedIndex);
      };
      ObjectDefineProperty(WritableState.prototype, "bufferedRequestCount", {
        __proto__: null,
        get() {
          return this.buffered.length - this.bufferedIndex;
        }
      });
      function Writable3(options) {
        let isDuplex = this instanceof require_duplex();
        if (!isDuplex && !FunctionPrototypeSymbolHasInstance(Writable3, this)) return new Writable3(options);
        this._writableState = new WritableState(options, this, isDuplex), options && (typeof options.write == "function" && (this._write = options.write), typeof options.writev == "function" && (this._writev = options.writev), typeof options.destroy == "function" && (this._destroy = options.destroy), typeof options.final == "function" && (this._final = options.final), typeof options.construct == "function" && (this._construct = options.construct), options.signal && addAbortSignal(options.signal, this)), Stream.call(this, options), destroyImpl.construct(this, () => {
          let state = this._writableState;
          state.writing || clearBuffer(this, state), finishMaybe(this, state);
        });
      }
      ObjectDefineProperty(Writable3, SymbolHasInstance, {
        __proto__: null,
        value: function(object) {
          return FunctionPrototypeSymbolHasInstance(this, object) ? !0 : this !== Writable3 ? !1 : object && object._writableState instanceof WritableState;
        }
      });
      Writable3.prototype.pipe = function() {
        errorOrDestroy(this, new ERR_STREAM_CANNOT_PIPE());
      };
      function _write(stream2, chunk, encoding, cb) {
        let state = stream2._writableState;
        if (typeof encoding == "function")
          cb = encoding, encoding = state.defaultEncoding;
        else {
          if (!encoding) encoding = state.objectMode ? void 0 : state.defaultEncoding;
          else if (encoding !== "buffer" && !Buffer3.isEncoding(encoding)) throw new ERR_UNKNOWN_ENCODING(encoding);
          typeof cb != "function" && (cb = nop);
        }
        if (chunk === null)
          throw new ERR_STREAM_NULL_VALUES();
        if (!state.objectMode)
          if (typeof chunk == "string")
            state.decodeStrings !== !1 && (chunk = Buffer3.from(chunk, encoding), encoding = "buffer");
          else if (chunk instanceof Buffer3)
            encoding = "buffer";
          else if (Stream._isUint8Array(chunk))
            chunk = Stream._uint8ArrayToBuffer(chunk), encoding = "buffer";
          else
            throw new ERR_INVALID_ARG_TYPE("chunk", ["string", "Buffer", "TypedArray", "DataView"], chunk);
        let err;
        return state.ending ? err = new ERR_STREAM_WRITE_AFTER_END() : state.destroyed && (err = new ERR_STREAM_DESTROYED("write")), err ? (process3.nextTick(cb, err), errorOrDestroy(stream2, err, !0), err) : (state.pendingcb++, writeOrBuffer(stream2, state, chunk, encoding, cb));
      }
      Writable3.prototype.write = function(chunk, encoding, cb) {
        return _write(this, chunk, encoding, cb) === !0;
      };
      Writable3.prototype.cork = function() {
        this._writableState.corked++;
      };
      Writable3.prototype.uncork = function() {
        let state = this._writableState;
        state.corked && (state.corked--, state.writing || clearBuffer(this, state));
      };
      Writable3.prototype.setDefaultEncoding = function(encoding) {
        if (typeof encoding == "string" && (encoding = StringPrototypeToLowerCase(encoding)), !Buffer3.isEncoding(encoding)) throw new ERR_UNKNOWN_ENCODING(encoding);
        return this._writableState.defaultEncoding = encoding, this;
      };
      function writeOrBuffer(stream2, state, chunk, encoding, callback) {
        let len = state.objectMode ? 1 : chunk.length;
        state.length += len;
        let ret = state.length < state.highWaterMark;
        return ret || (state.needDrain = !0), state.writing || state.corked || state.errored || !state.constructed ? (state.buffered.push({
          chunk,
          encoding,
          callback
        }), state.allBuffers && encoding !== "buffer" && (state.allBuffers = !1), state.allNoop && callback !== nop && (state.allNoop = !1)) : (state.writelen = len, state.writecb = callback, state.writing = !0, state.sync = !0, stream2._write(chunk, encoding, state.onwrite), state.sync = !1), ret && !state.errored && !state.destroyed;
      }
      function doWrite(stream2, state, writev2, len, chunk, encoding, cb) {
        state.writelen = len, state.writecb = cb, state.writing = !0, state.sync = !0, state.destroyed ? state.onwrite(new ERR_STREAM_DESTROYED("write")) : writev2 ? stream2._writev(chunk, state.onwrite) : stream2._write(chunk, encoding, state.onwrite), state.sync = !1;
      }
      function onwriteError(stream2, state, er2, cb) {
        --state.pendingcb, cb(er2), errorBuffer(state), errorOrDestroy(stream2, er2);
      }
      function onwrite(stream2, er2) {
        let state = stream2._writableState, sync3 = state.sync, cb = state.writecb;
        if (typeof cb != "function") {
          errorOrDestroy(stream2, new ERR_MULTIPLE_CALLBACK());
          return;
        }
        state.writing = !1, state.writecb = null, state.length -= state.writelen, state.writelen = 0, er2 ? (er2.stack, state.errored || (state.errored = er2), stream2._readableState && !stream2._readableState.errored && (stream2._readableState.errored = er2), sync3 ? process3.nextTick(onwriteError, stream2, state, er2, cb) : onwriteError(stream2, state, er2, cb)) : (state.buffered.length > state.bufferedIndex && clearBuffer(stream2, state), sync3 ? state.afterWriteTickInfo !== null && state.afterWriteTickInfo.cb === cb ? state.afterWriteTickInfo.count++ : (state.afterWriteTickInfo = {
          count: 1,
          cb,
          stream: stream2,
          state
        }, process3.nextTick(afterWriteTick, state.afterWriteTickInfo)) : afterWrite(stream2, state, 1, cb));
      }
      function afterWriteTick({ stream: stream2, state, count, cb }) {
        return state.afterWriteTickInfo = null, afterWrite(stream2, state, count, cb);
      }
      function afterWrite(stream2, state, count, cb) {
        for (!state.ending && !stream2.destroyed && state.length === 0 && state.needDrain && (state.needDrain = !1, stream2.emit("drain")); count-- > 0; )
          state.pendingcb--, cb();
        state.destroyed && errorBuffer(state), finishMaybe(stream2, state);
      }
      function errorBuffer(state) {
        if (state.writing)
          return;
        for (let n2 = state.bufferedIndex; n2 < state.buffered.length; ++n2) {
          var _state$errored;
          let { chunk, callback } = state.buffered[n2], len = state.objectMode ? 1 : chunk.length;
          state.length -= len, callback(
            (_state$errored = state.errored) !== null && _state$errored !== void 0 ? _state$errored : new ERR_STREAM_DESTROYED("write")
          );
        }
        let onfinishCallbacks = state[kOnFinished].splice(0);
        for (let i2 = 0; i2 < onfinishCallbacks.length; i2++) {
          var _state$errored2;
          onfinishCallbacks[i2](
            (_state$errored2 = state.errored) !== null && _state$errored2 !== void 0 ? _state$errored2 : new ERR_STREAM_DESTROYED("end")
          );
        }
        resetBuffer(state);
      }
      function clearBuffer(stream2, state) {
        if (state.corked || state.bufferProcessing || state.destroyed || !state.constructed)
          return;
        let { buffered, bufferedIndex, objectMode } = state, bufferedLength = buffered.length - bufferedIndex;
        if (!bufferedLength)
          return;
        let i2 = bufferedIndex;
        if (state.bufferProcessing = !0, bufferedLength > 1 && stream2._writev) {
          state.pendingcb -= bufferedLength - 1;
          let callback = state.allNoop ? nop : (err) => {
            for (let n2 = i2; n2 < buffered.length; ++n2)
              buffered[n2].callback(err);
          }, chunks = state.allNoop && i2 === 0 ? buffered : ArrayPrototypeSlice(buffered, i2);
          chunks.allBuffers = state.allBuffers, doWrite(stream2, state, !0, state.length, chunks, "", callback), resetBuffer(state);
        } else {
          do {
            let { chunk, encoding, callback } = buffered[i2];
            buffered[i2++] = null;
            let len = objectMode ? 1 : chunk.length;
            doWrite(stream2, state, !1, len, chunk, encoding, callback);
          } while (i2 < buffered.length && !state.writing);
          i2 === buffered.length ? resetBuffer(state) : i2 > 256 ? (buffered.splice(0, i2), state.bufferedIndex = 0) : state.bufferedIndex = i2;
        }
        state.bufferProcessing = !1;
      }
      Writable3.prototype._write = function(chunk, encoding, cb) {
        if (this._writev)
          this._writev(
            [
              {
                chunk,
                encoding
              }
            ],
            cb
          );
        else
          throw new ERR_METHOD_NOT_IMPLEMENTED("_write()");
      };
      Writable3.prototype._writev = null;
      Writable3.prototype.end = function(chunk, encoding, cb) {
        let state = this._writableState;
        typeof chunk == "function" ? (cb = chunk, chunk = null, encoding = null) : typeof encoding == "function" && (cb = encoding, encoding = null);
        let err;
        if (chunk != null) {
          let ret = _write(this, chunk, encoding);
          ret instanceof Error2 && (err = ret);
        }
        return state.corked && (state.corked = 1, this.uncork()), err || (!state.errored && !state.ending ? (state.ending = !0, finishMaybe(this, state, !0), state.ended = !0) : state.finished ? err = new ERR_STREAM_ALREADY_FINISHED("end") : state.destroyed && (err = new ERR_STREAM_DESTROYED("end"))), typeof cb == "function" && (err || state.finished ? process3.nextTick(cb, err) : state[kOnFinished].push(cb)), this;
      };
      function needFinish(state) {
        return state.ending && !state.destroyed && state.constructed && state.length === 0 && !state.errored && state.buffered.length === 0 && !state.finished && !state.writing && !state.errorEmitted && !state.closeEmitted;
      }
      function callFinal(stream2, state) {
        let called = !1;
        function onFinish(err) {
          if (called) {
            errorOrDestroy(stream2, err ?? ERR_MULTIPLE_CALLBACK());
            return;
          }
          if (called = !0, state.pendingcb--, err) {
            let onfinishCallbacks = state[kOnFinished].splice(0);
            for (let i2 = 0; i2 < onfinishCallbacks.length; i2++)
              onfinishCallbacks[i2](err);
            errorOrDestroy(stream2, err, state.sync);
          } else needFinish(state) && (state.prefinished = !0, stream2.emit("prefinish"), state.pendingcb++, process3.nextTick(finish, stream2, state));
        }
        state.sync = !0, state.pendingcb++;
        try {
          stream2._final(onFinish);
        } catch (err) {
          onFinish(err);
        }
        state.sync = !1;
      }
      function prefinish(stream2, state) {
        !state.prefinished && !state.finalCalled && (typeof stream2._final == "function" && !state.destroyed ? (state.finalCalled = !0, callFinal(stream2, state)) : (state.prefinished = !0, stream2.emit("prefinish")));
      }
      function finishMaybe(stream2, state, sync3) {
        needFinish(state) && (prefinish(stream2, state), state.pendingcb === 0 && (sync3 ? (state.pendingcb++, process3.nextTick(
          (stream3, state2) => {
            needFinish(state2) ? finish(stream3, state2) : state2.pendingcb--;
          },
          stream2,
          state
        )) : needFinish(state) && (state.pendingcb++, finish(stream2, state))));
      }
      function finish(stream2, state) {
        state.pendingcb--, state.finished = !0;
        let onfinishCallbacks = state[kOnFinished].splice(0);
        for (let i2 = 0; i2 < onfinishCallbacks.length; i2++)
          onfinishCallbacks[i2]();
        if (stream2.emit("finish"), state.autoDestroy) {
          let rState = stream2._readableState;
          (!rState || rState.autoDestroy && // We don't expect the readable to ever 'end'
          // if readable is explicitly set to false.
          (rState.endEmitted || rState.readable === !1)) && stream2.destroy();
        }
      }
      ObjectDefineProperties(Writable3.prototype, {
        closed: {
          __proto__: null,
          get() {
            return this._writableState ? this._writableState.closed : !1;
          }
        },
        destroyed: {
          __proto__: null,
          get() {
            return this._writableState ? this._writableState.destroyed : !1;
          },
          set(value) {
            this._writableState && (this._writableState.destroyed = value);
          }
        },
        writable: {
          __proto__: null,
          get() {
            let w2 = this._writableState;
            return !!w2 && w2.writable !== !1 && !w2.destroyed && !w2.errored && !w2.ending && !w2.ended;
          },
          set(val) {
            this._writableState && (this._writableState.writable = !!val);
          }
        },
        writableFinished: {
          __proto__: null,
          get() {
            return this._writableState ? this._writableState.finished : !1;
          }
        },
        writableObjectMode: {
          __proto__: null,
          get() {
            return this._writableState ? this._writableState.objectMode : !1;
          }
        },
        writableBuffer: {
          __proto__: null,
          get() {
            return this._writableState && this._writableState.getBuffer();
          }
        },
        writableEnded: {
          __proto__: null,
          get() {
            return this._writableState ? this._writableState.ending : !1;
          }
        },
        writableNeedDrain: {
          __proto__: null,
          get() {
            let wState = this._writableState;
            return wState ? !wState.destroyed && !wState.ending && wState.needDrain : !1;
          }
        },
        writableHighWaterMark: {
          __proto__: null,
          get() {
            return this._writableState && this._writableState.highWaterMark;
          }
        },
        writableCorked: {
          __proto__: null,
          get() {
            return this._writableState ? this._writableState.corked : 0;
          }
        },
        writableLength: {
          __proto__: null,
          get() {
            return this._writableState && this._writableState.length;
          }
        },
        errored: {
          __proto__: null,
          enumerable: !1,
          get() {
            return this._writableState ? this._writableState.errored : null;
          }
        },
        writableAborted: {
          __proto__: null,
          enumerable: !1,
          get: function() {
            return !!(this._writableState.writable !== !1 && (this._writableState.destroyed || this._writableState.errored) && !this._writableState.finished);
          }
        }
      });
      var destroy = destroyImpl.destroy;
      Writable3.prototype.destroy = function(err, cb) {
        let state = this._writableState;
        return !state.destroyed && (state.bufferedIndex < state.buffered.length || state[kOnFinished].length) && process3.nextTick(errorBuffer, state), destroy.call(this, err, cb), this;
      };
      Writable3.prototype._undestroy = destroyImpl.undestroy;
      Writable3.prototype._destroy = function(err, cb) {
        cb(err);
      };
      Writable3.prototype[EE.captureRejectionSymbol] = function(err) {
        this.destroy(err);
      };
      var webStreamsAdapters;
      function lazyWebStreams() {
        return webStreamsAdapters === void 0 && (webStreamsAdapters = {}), webStreamsAdapters;
      }
      Writable3.fromWeb = function(writableStream, options) {
        return lazyWebStreams().newStreamWritableFromWritableStream(writableStream, options);
      };
      Writable3.toWeb = function(streamWritable) {
        return lazyWebStreams().newWritableStreamFromStreamWritable(streamWritable);
      };
    }
  });

  // node_modules/readable-stream/lib/internal/streams/duplexify.js
  var require_duplexify = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/duplexify.js"(exports, module) {
      var process3 = require_process(), bufferModule = (init_buffer(), __toCommonJS(buffer_exports)), {
        isReadable,
        isWritable,
        isIterable,
        isNodeStream,
        isReadableNodeStream,
        isWritableNodeStream,
        isDuplexNodeStream,
        isReadableStream,
        isWritableStream
      } = require_utils(), eos = require_end_of_stream(), {
        AbortError: AbortError2,
        codes: { ERR_INVALID_ARG_TYPE, ERR_INVALID_RETURN_VALUE }
      } = require_errors(), { destroyer } = require_destroy(), Duplex2 = require_duplex(), Readable3 = require_readable(), Writable3 = require_writable(), { createDeferredPromise } = require_util(), from = require_from(), Blob3 = globalThis.Blob || bufferModule.Blob, isBlob = typeof Blob3 < "u" ? function(b2) {
        return b2 instanceof Blob3;
      } : function(b2) {
        return !1;
      }, AbortController3 = globalThis.AbortController || (init_globals(), __toCommonJS(globals_exports)).AbortController, { FunctionPrototypeCall } = require_primordials(), Duplexify = class extends Duplex2 {
        constructor(options) {
          super(options), options?.readable === !1 && (this._readableState.readable = !1, this._readableState.ended = !0, this._readableState.endEmitted = !0), options?.writable === !1 && (this._writableState.writable = !1, this._writableState.ending = !0, this._writableState.ended = !0, this._writableState.finished = !0);
        }
      };
      module.exports = function duplexify(body, name2) {
        if (isDuplexNodeStream(body))
          return body;
        if (isReadableNodeStream(body))
          return _duplexify({
            readable: body
          });
        if (isWritableNodeStream(body))
          return _duplexify({
            writable: body
          });
        if (isNodeStream(body))
          return _duplexify({
            writable: !1,
            readable: !1
          });
        if (isReadableStream(body))
          return _duplexify({
            readable: Readable3.fromWeb(body)
          });
        if (isWritableStream(body))
          return _duplexify({
            writable: Writable3.fromWeb(body)
          });
        if (typeof body == "function") {
          let { value, write: write4, final, destroy } = fromAsyncGen(body);
          if (isIterable(value))
            return from(Duplexify, value, {
              // TODO (ronag): highWaterMark?
              objectMode: !0,
              write: write4,
              final,
              destroy
            });
          let then2 = value?.then;
          if (typeof then2 == "function") {
            let d2, promise = FunctionPrototypeCall(
              then2,
              value,
              (val) => {
                if (val != null)
                  throw new ERR_INVALID_RETURN_VALUE("nully", "body", val);
              },
              (err) => {
                destroyer(d2, err);
              }
            );
            return d2 = new Duplexify({
              // TODO (ronag): highWaterMark?
              objectMode: !0,
              readable: !1,
              write: write4,
              final(cb) {
                final(async () => {
                  try {
                    await promise, process3.nextTick(cb, null);
                  } catch (err) {
                    process3.nextTick(cb, err);
                  }
                });
              },
              destroy
            });
          }
          throw new ERR_INVALID_RETURN_VALUE("Iterable, AsyncIterable or AsyncFunction", name2, value);
        }
        if (isBlob(body))
          return duplexify(body.arrayBuffer());
        if (isIterable(body))
          return from(Duplexify, body, {
            // TODO (ronag): highWaterMark?
            objectMode: !0,
            writable: !1
          });
        if (isReadableStream(body?.readable) && isWritableStream(body?.writable))
          return Duplexify.fromWeb(body);
        if (typeof body?.writable == "object" || typeof body?.readable == "object") {
          let readable2 = body != null && body.readable ? isReadableNodeStream(body?.readable) ? body?.readable : duplexify(body.readable) : void 0, writable2 = body != null && body.writable ? isWritableNodeStream(body?.writable) ? body?.writable : duplexify(body.writable) : void 0;
          return _duplexify({
            readable: readable2,
            writable: writable2
          });
        }
        let then = body?.then;
        if (typeof then == "function") {
          let d2;
          return FunctionPrototypeCall(
            then,
            body,
            (val) => {
              val != null && d2.push(val), d2.push(null);
            },
            (err) => {
              destroyer(d2, err);
            }
          ), d2 = new Duplexify({
            objectMode: !0,
            writable: !1,
            read() {
            }
          });
        }
        throw new ERR_INVALID_ARG_TYPE(
          name2,
          [
            "Blob",
            "ReadableStream",
            "WritableStream",
            "Stream",
            "Iterable",
            "AsyncIterable",
            "Function",
            "{ readable, writable } pair",
            "Promise"
          ],
          body
        );
      };
      function fromAsyncGen(fn) {
        let { promise, resolve: resolve3 } = createDeferredPromise(), ac = new AbortController3(), signal = ac.signal;
        return {
          value: fn(
            (async function* () {
              for (; ; ) {
                let _promise = promise;
                promise = null;
                let { chunk, done, cb } = await _promise;
                if (process3.nextTick(cb), done) return;
                if (signal.aborted)
                  throw new AbortError2(void 0, {
                    cause: signal.reason
                  });
                ({ promise, resolve: resolve3 } = createDeferredPromise()), yield chunk;
              }
            })(),
            {
              signal
            }
          ),
          write(chunk, encoding, cb) {
            let _resolve = resolve3;
            resolve3 = null, _resolve({
              chunk,
              done: !1,
              cb
            });
          },
          final(cb) {
            let _resolve = resolve3;
            resolve3 = null, _resolve({
              done: !0,
              cb
            });
          },
          destroy(err, cb) {
            ac.abort(), cb(err);
          }
        };
      }
      function _duplexify(pair) {
        let r2 = pair.readable && typeof pair.readable.read != "function" ? Readable3.wrap(pair.readable) : pair.readable, w2 = pair.writable, readable2 = !!isReadable(r2), writable2 = !!isWritable(w2), ondrain, onfinish, onreadable, onclose, d2;
        function onfinished(err) {
          let cb = onclose;
          onclose = null, cb ? cb(err) : err && d2.destroy(err);
        }
        return d2 = new Duplexify({
          // TODO (ronag): highWaterMark?
          readableObjectMode: !!(r2 != null && r2.readableObjectMode),
          writableObjectMode: !!(w2 != null && w2.writableObjectMode),
          readable: readable2,
          writable: writable2
        }), writable2 && (eos(w2, (err) => {
          writable2 = !1, err && destroyer(r2, err), onfinished(err);
        }), d2._write = function(chunk, encoding, callback) {
          w2.write(chunk, encoding) ? callback() : ondrain = callback;
        }, d2._final = function(callback) {
          w2.end(), onfinish = callback;
        }, w2.on("drain", function() {
          if (ondrain) {
            let cb = ondrain;
            ondrain = null, cb();
          }
        }), w2.on("finish", function() {
          if (onfinish) {
            let cb = onfinish;
            onfinish = null, cb();
          }
        })), readable2 && (eos(r2, (err) => {
          readable2 = !1, err && destroyer(r2, err), onfinished(err);
        }), r2.on("readable", function() {
          if (onreadable) {
            let cb = onreadable;
            onreadable = null, cb();
          }
        }), r2.on("end", function() {
          d2.push(null);
        }), d2._read = function() {
          for (; ; ) {
            let buf = r2.read();
            if (buf === null) {
              onreadable = d2._read;
              return;
            }
            if (!d2.push(buf))
              return;
          }
        }), d2._destroy = function(err, callback) {
          !err && onclose !== null && (err = new AbortError2()), onreadable = null, ondrain = null, onfinish = null, onclose === null ? callback(err) : (onclose = callback, destroyer(w2, err), destroyer(r2, err));
        }, d2;
      }
    }
  });

  // node_modules/readable-stream/lib/internal/streams/duplex.js
  var require_duplex = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/duplex.js"(exports, module) {
      "use strict";
      var {
        ObjectDefineProperties,
        ObjectGetOwnPropertyDescriptor,
        ObjectKeys,
        ObjectSetPrototypeOf
      } = require_primordials();
      module.exports = Duplex2;
      var Readable3 = require_readable(), Writable3 = require_writable();
      ObjectSetPrototypeOf(Duplex2.prototype, Readable3.prototype);
      ObjectSetPrototypeOf(Duplex2, Readable3);
      {
        let keys = ObjectKeys(Writable3.prototype);
        for (let i2 = 0; i2 < keys.length; i2++) {
          let method = keys[i2];
          Duplex2.prototype[method] || (Duplex2.prototype[method] = Writable3.prototype[method]);
        }
      }
      function Duplex2(options) {
        if (!(this instanceof Duplex2)) return new Duplex2(options);
        Readable3.call(this, options), Writable3.call(this, options), options ? (this.allowHalfOpen = options.allowHalfOpen !== !1, options.readable === !1 && (this._readableState.readable = !1, this._readableState.ended = !0, this._readableState.endEmitted = !0), options.writable === !1 && (this._writableState.writable = !1, this._writableState.ending = !0, this._writableState.ended = !0, this._writableState.finished = !0)) : this.allowHalfOpen = !0;
      }
      ObjectDefineProperties(Duplex2.prototype, {
        writable: {
          __proto__: null,
          ...ObjectGetOwnPropertyDescriptor(Writable3.prototype, "writable")
        },
        writableHighWaterMark: {
          __proto__: null,
          ...ObjectGetOwnPropertyDescriptor(Writable3.prototype, "writableHighWaterMark")
        },
        writableObjectMode: {
          __proto__: null,
          ...ObjectGetOwnPropertyDescriptor(Writable3.prototype, "writableObjectMode")
        },
        writableBuffer: {
          __proto__: null,
          ...ObjectGetOwnPropertyDescriptor(Writable3.prototype, "writableBuffer")
        },
        writableLength: {
          __proto__: null,
          ...ObjectGetOwnPropertyDescriptor(Writable3.prototype, "writableLength")
        },
        writableFinished: {
          __proto__: null,
          ...ObjectGetOwnPropertyDescriptor(Writable3.prototype, "writableFinished")
        },
        writableCorked: {
          __proto__: null,
          ...ObjectGetOwnPropertyDescriptor(Writable3.prototype, "writableCorked")
        },
        writableEnded: {
          __proto__: null,
          ...ObjectGetOwnPropertyDescriptor(Writable3.prototype, "writableEnded")
        },
        writableNeedDrain: {
          __proto__: null,
          ...ObjectGetOwnPropertyDescriptor(Writable3.prototype, "writableNeedDrain")
        },
        destroyed: {
          __proto__: null,
          get() {
            return this._readableState === void 0 || this._writableState === void 0 ? !1 : this._readableState.destroyed && this._writableState.destroyed;
          },
          set(value) {
            this._readableState && this._writableState && (this._readableState.destroyed = value, this._writableState.destroyed = value);
          }
        }
      });
      var webStreamsAdapters;
      function lazyWebStreams() {
        return webStreamsAdapters === void 0 && (webStreamsAdapters = {}), webStreamsAdapters;
      }
      Duplex2.fromWeb = function(pair, options) {
        return lazyWebStreams().newStreamDuplexFromReadableWritablePair(pair, options);
      };
      Duplex2.toWeb = function(duplex) {
        return lazyWebStreams().newReadableWritablePairFromDuplex(duplex);
      };
      var duplexify;
      Duplex2.from = function(body) {
        return duplexify || (duplexify = require_duplexify()), duplexify(body, "body");
      };
    }
  });

  // node_modules/readable-stream/lib/internal/streams/transform.js
  var require_transform = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/transform.js"(exports, module) {
      "use strict";
      var { ObjectSetPrototypeOf, Symbol: Symbol2 } = require_primordials();
      module.exports = Transform;
      var { ERR_METHOD_NOT_IMPLEMENTED } = require_errors().codes, Duplex2 = require_duplex(), { getHighWaterMark } = require_state();
      ObjectSetPrototypeOf(Transform.prototype, Duplex2.prototype);
      ObjectSetPrototypeOf(Transform, Duplex2);
      var kCallback = Symbol2("kCallback");
      function Transform(options) {
        if (!(this instanceof Transform)) return new Transform(options);
        let readableHighWaterMark = options ? getHighWaterMark(this, options, "readableHighWaterMark", !0) : null;
        readableHighWaterMark === 0 && (options = {
          ...options,
          highWaterMark: null,
          readableHighWaterMark,
          // TODO (ronag): 0 is not optimal since we have
          // a "bug" where we check needDrain before calling _write and not after.
          // Refs: https://github.com/nodejs/node/pull/32887
          // Refs: https://github.com/nodejs/node/pull/35941
          writableHighWaterMark: options.writableHighWaterMark || 0
        }), Duplex2.call(this, options), this._readableState.sync = !1, this[kCallback] = null, options && (typeof options.transform == "function" && (this._transform = options.transform), typeof options.flush == "function" && (this._flush = options.flush)), this.on("prefinish", prefinish);
      }
      function final(cb) {
        typeof this._flush == "function" && !this.destroyed ? this._flush((er2, data) => {
          if (er2) {
            cb ? cb(er2) : this.destroy(er2);
            return;
          }
          data != null && this.push(data), this.push(null), cb && cb();
        }) : (this.push(null), cb && cb());
      }
      function prefinish() {
        this._final !== final && final.call(this);
      }
      Transform.prototype._final = final;
      Transform.prototype._transform = function(chunk, encoding, callback) {
        throw new ERR_METHOD_NOT_IMPLEMENTED("_transform()");
      };
      Transform.prototype._write = function(chunk, encoding, callback) {
        let rState = this._readableState, wState = this._writableState, length = rState.length;
        this._transform(chunk, encoding, (err, val) => {
          if (err) {
            callback(err);
            return;
          }
          val != null && this.push(val), wState.ended || // Backwards compat.
          length === rState.length || // Backwards compat.
          rState.length < rState.highWaterMark ? callback() : this[kCallback] = callback;
        });
      };
      Transform.prototype._read = function() {
        if (this[kCallback]) {
          let callback = this[kCallback];
          this[kCallback] = null, callback();
        }
      };
    }
  });

  // node_modules/readable-stream/lib/internal/streams/passthrough.js
  var require_passthrough = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/passthrough.js"(exports, module) {
      "use strict";
      var { ObjectSetPrototypeOf } = require_primordials();
      module.exports = PassThrough;
      var Transform = require_transform();
      ObjectSetPrototypeOf(PassThrough.prototype, Transform.prototype);
      ObjectSetPrototypeOf(PassThrough, Transform);
      function PassThrough(options) {
        if (!(this instanceof PassThrough)) return new PassThrough(options);
        Transform.call(this, options);
      }
      PassThrough.prototype._transform = function(chunk, encoding, cb) {
        cb(null, chunk);
      };
    }
  });

  // node_modules/readable-stream/lib/internal/streams/pipeline.js
  var require_pipeline = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/pipeline.js"(exports, module) {
      var process3 = require_process(), { ArrayIsArray, Promise: Promise2, SymbolAsyncIterator, SymbolDispose } = require_primordials(), eos = require_end_of_stream(), { once } = require_util(), destroyImpl = require_destroy(), Duplex2 = require_duplex(), {
        aggregateTwoErrors,
        codes: {
          ERR_INVALID_ARG_TYPE,
          ERR_INVALID_RETURN_VALUE,
          ERR_MISSING_ARGS,
          ERR_STREAM_DESTROYED,
          ERR_STREAM_PREMATURE_CLOSE
        },
        AbortError: AbortError2
      } = require_errors(), { validateFunction, validateAbortSignal } = require_validators(), {
        isIterable,
        isReadable,
        isReadableNodeStream,
        isNodeStream,
        isTransformStream,
        isWebStream,
        isReadableStream,
        isReadableFinished
      } = require_utils(), AbortController3 = globalThis.AbortController || (init_globals(), __toCommonJS(globals_exports)).AbortController, PassThrough, Readable3, addAbortListener;
      function destroyer(stream2, reading, writing) {
        let finished2 = !1;
        stream2.on("close", () => {
          finished2 = !0;
        });
        let cleanup = eos(
          stream2,
          {
            readable: reading,
            writable: writing
          },
          (err) => {
            finished2 = !err;
          }
        );
        return {
          destroy: (err) => {
            finished2 || (finished2 = !0, destroyImpl.destroyer(stream2, err || new ERR_STREAM_DESTROYED("pipe")));
          },
          cleanup
        };
      }
      function popCallback(streams) {
        return validateFunction(streams[streams.length - 1], "streams[stream.length - 1]"), streams.pop();
      }
      function makeAsyncIterable(val) {
        if (isIterable(val))
          return val;
        if (isReadableNodeStream(val))
          return fromReadable(val);
        throw new ERR_INVALID_ARG_TYPE("val", ["Readable", "Iterable", "AsyncIterable"], val);
      }
      async function* fromReadable(val) {
        Readable3 || (Readable3 = require_readable()), yield* Readable3.prototype[SymbolAsyncIterator].call(val);
      }
      async function pumpToNode(iterable, writable2, finish, { end }) {
        let error, onresolve = null, resume = (err) => {
          if (err && (error = err), onresolve) {
            let callback = onresolve;
            onresolve = null, callback();
          }
        }, wait = () => new Promise2((resolve3, reject) => {
          error ? reject(error) : onresolve = () => {
            error ? reject(error) : resolve3();
          };
        });
        writable2.on("drain", resume);
        let cleanup = eos(
          writable2,
          {
            readable: !1
          },
          resume
        );
        try {
          writable2.writableNeedDrain && await wait();
          for await (let chunk of iterable)
            writable2.write(chunk) || await wait();
          end && (writable2.end(), await wait()), finish();
        } catch (err) {
          finish(error !== err ? aggregateTwoErrors(error, err) : err);
        } finally {
          cleanup(), writable2.off("drain", resume);
        }
      }
      async function pumpToWeb(readable2, writable2, finish, { end }) {
        isTransformStream(writable2) && (writable2 = writable2.writable);
        let writer = writable2.getWriter();
        try {
          for await (let chunk of readable2)
            await writer.ready, writer.write(chunk).catch(() => {
            });
          await writer.ready, end && await writer.close(), finish();
        } catch (err) {
          try {
            await writer.abort(err), finish(err);
          } catch (err2) {
            finish(err2);
          }
        }
      }
      function pipeline(...streams) {
        return pipelineImpl(streams, once(popCallback(streams)));
      }
      function pipelineImpl(streams, callback, opts) {
        if (streams.length === 1 && ArrayIsArray(streams[0]) && (streams = streams[0]), streams.length < 2)
          throw new ERR_MISSING_ARGS("streams");
        let ac = new AbortController3(), signal = ac.signal, outerSignal = opts?.signal, lastStreamCleanup = [];
        validateAbortSignal(outerSignal, "options.signal");
        function abort() {
          finishImpl(new AbortError2());
        }
        addAbortListener = addAbortListener || require_util().addAbortListener;
        let disposable;
        outerSignal && (disposable = addAbortListener(outerSignal, abort));
        let error, value, destroys = [], finishCount = 0;
        function finish(err) {
          finishImpl(err, --finishCount === 0);
        }
        function finishImpl(err, final) {
          var _disposable;
          if (err && (!error || error.code === "ERR_STREAM_PREMATURE_CLOSE") && (error = err), !(!error && !final)) {
            for (; destroys.length; )
              destroys.shift()(error);
            (_disposable = disposable) === null || _disposable === void 0 || _disposable[SymbolDispose](), ac.abort(), final && (error || lastStreamCleanup.forEach((fn) => fn()), process3.nextTick(callback, error, value));
          }
        }
        let ret;
        for (let i2 = 0; i2 < streams.length; i2++) {
          let stream2 = streams[i2], reading = i2 < streams.length - 1, writing = i2 > 0, end = reading || opts?.end !== !1, isLastStream = i2 === streams.length - 1;
          if (isNodeStream(stream2)) {
            let onError2 = function(err) {
              err && err.name !== "AbortError" && err.code !== "ERR_STREAM_PREMATURE_CLOSE" && finish(err);
            };
            var onError = onError2;
            if (end) {
              let { destroy, cleanup } = destroyer(stream2, reading, writing);
              destroys.push(destroy), isReadable(stream2) && isLastStream && lastStreamCleanup.push(cleanup);
            }
            stream2.on("error", onError2), isReadable(stream2) && isLastStream && lastStreamCleanup.push(() => {
              stream2.removeListener("error", onError2);
            });
          }
          if (i2 === 0)
            if (typeof stream2 == "function") {
              if (ret = stream2({
                signal
              }), !isIterable(ret))
                throw new ERR_INVALID_RETURN_VALUE("Iterable, AsyncIterable or Stream", "source", ret);
            } else isIterable(stream2) || isReadableNodeStream(stream2) || isTransformStream(stream2) ? ret = stream2 : ret = Duplex2.from(stream2);
          else if (typeof stream2 == "function") {
            if (isTransformStream(ret)) {
              var _ret;
              ret = makeAsyncIterable((_ret = ret) === null || _ret === void 0 ? void 0 : _ret.readable);
            } else
              ret = makeAsyncIterable(ret);
            if (ret = stream2(ret, {
              signal
            }), reading) {
              if (!isIterable(ret, !0))
                throw new ERR_INVALID_RETURN_VALUE("AsyncIterable", `transform[${i2 - 1}]`, ret);
            } else {
              var _ret2;
              PassThrough || (PassThrough = require_passthrough());
              let pt2 = new PassThrough({
                objectMode: !0
              }), then = (_ret2 = ret) === null || _ret2 === void 0 ? void 0 : _ret2.then;
              if (typeof then == "function")
                finishCount++, then.call(
                  ret,
                  (val) => {
                    value = val, val != null && pt2.write(val), end && pt2.end(), process3.nextTick(finish);
                  },
                  (err) => {
                    pt2.destroy(err), process3.nextTick(finish, err);
                  }
                );
              else if (isIterable(ret, !0))
                finishCount++, pumpToNode(ret, pt2, finish, {
                  end
                });
              else if (isReadableStream(ret) || isTransformStream(ret)) {
                let toRead = ret.readable || ret;
                finishCount++, pumpToNode(toRead, pt2, finish, {
                  end
                });
              } else
                throw new ERR_INVALID_RETURN_VALUE("AsyncIterable or Promise", "destination", ret);
              ret = pt2;
              let { destroy, cleanup } = destroyer(ret, !1, !0);
              destroys.push(destroy), isLastStream && lastStreamCleanup.push(cleanup);
            }
          } else if (isNodeStream(stream2)) {
            if (isReadableNodeStream(ret)) {
              finishCount += 2;
              let cleanup = pipe(ret, stream2, finish, {
                end
              });
              isReadable(stream2) && isLastStream && lastStreamCleanup.push(cleanup);
            } else if (isTransformStream(ret) || isReadableStream(ret)) {
              let toRead = ret.readable || ret;
              finishCount++, pumpToNode(toRead, stream2, finish, {
                end
              });
            } else if (isIterable(ret))
              finishCount++, pumpToNode(ret, stream2, finish, {
                end
              });
            else
              throw new ERR_INVALID_ARG_TYPE(
                "val",
                ["Readable", "Iterable", "AsyncIterable", "ReadableStream", "TransformStream"],
                ret
              );
            ret = stream2;
          } else if (isWebStream(stream2)) {
            if (isReadableNodeStream(ret))
              finishCount++, pumpToWeb(makeAsyncIterable(ret), stream2, finish, {
                end
              });
            else if (isReadableStream(ret) || isIterable(ret))
              finishCount++, pumpToWeb(ret, stream2, finish, {
                end
              });
            else if (isTransformStream(ret))
              finishCount++, pumpToWeb(ret.readable, stream2, finish, {
                end
              });
            else
              throw new ERR_INVALID_ARG_TYPE(
                "val",
                ["Readable", "Iterable", "AsyncIterable", "ReadableStream", "TransformStream"],
                ret
              );
            ret = stream2;
          } else
            ret = Duplex2.from(stream2);
        }
        return (signal != null && signal.aborted || outerSignal != null && outerSignal.aborted) && process3.nextTick(abort), ret;
      }
      function pipe(src, dst, finish, { end }) {
        let ended = !1;
        if (dst.on("close", () => {
          ended || finish(new ERR_STREAM_PREMATURE_CLOSE());
        }), src.pipe(dst, {
          end: !1
        }), end) {
          let endFn2 = function() {
            ended = !0, dst.end();
          };
          var endFn = endFn2;
          isReadableFinished(src) ? process3.nextTick(endFn2) : src.once("end", endFn2);
        } else
          finish();
        return eos(
          src,
          {
            readable: !0,
            writable: !1
          },
          (err) => {
            let rState = src._readableState;
            err && err.code === "ERR_STREAM_PREMATURE_CLOSE" && rState && rState.ended && !rState.errored && !rState.errorEmitted ? src.once("end", finish).once("error", finish) : finish(err);
          }
        ), eos(
          dst,
          {
            readable: !1,
            writable: !0
          },
          finish
        );
      }
      module.exports = {
        pipelineImpl,
        pipeline
      };
    }
  });

  // node_modules/readable-stream/lib/internal/streams/compose.js
  var require_compose = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/compose.js"(exports, module) {
      "use strict";
      var { pipeline } = require_pipeline(), Duplex2 = require_duplex(), { destroyer } = require_destroy(), {
        isNodeStream,
        isReadable,
        isWritable,
        isWebStream,
        isTransformStream,
        isWritableStream,
        isReadableStream
      } = require_utils(), {
        AbortError: AbortError2,
        codes: { ERR_INVALID_ARG_VALUE, ERR_MISSING_ARGS }
      } = require_errors(), eos = require_end_of_stream();
      module.exports = function(...streams) {
        if (streams.length === 0)
          throw new ERR_MISSING_ARGS("streams");
        if (streams.length === 1)
          return Duplex2.from(streams[0]);
        let orgStreams = [...streams];
        if (typeof streams[0] == "function" && (streams[0] = Duplex2.from(streams[0])), typeof streams[streams.length - 1] == "function") {
          let idx = streams.length - 1;
          streams[idx] = Duplex2.from(streams[idx]);
        }
        for (let n2 = 0; n2 < streams.length; ++n2)
          if (!(!isNodeStream(streams[n2]) && !isWebStream(streams[n2]))) {
            if (n2 < streams.length - 1 && !(isReadable(streams[n2]) || isReadableStream(streams[n2]) || isTransformStream(streams[n2])))
              throw new ERR_INVALID_ARG_VALUE(`streams[${n2}]`, orgStreams[n2], "must be readable");
            if (n2 > 0 && !(isWritable(streams[n2]) || isWritableStream(streams[n2]) || isTransformStream(streams[n2])))
              throw new ERR_INVALID_ARG_VALUE(`streams[${n2}]`, orgStreams[n2], "must be writable");
          }
        let ondrain, onfinish, onreadable, onclose, d2;
        function onfinished(err) {
          let cb = onclose;
          onclose = null, cb ? cb(err) : err ? d2.destroy(err) : !readable2 && !writable2 && d2.destroy();
        }
        let head = streams[0], tail = pipeline(streams, onfinished), writable2 = !!(isWritable(head) || isWritableStream(head) || isTransformStream(head)), readable2 = !!(isReadable(tail) || isReadableStream(tail) || isTransformStream(tail));
        if (d2 = new Duplex2({
          // TODO (ronag): highWaterMark?
          writableObjectMode: !!(head != null && head.writableObjectMode),
          readableObjectMode: !!(tail != null && tail.readableObjectMode),
          writable: writable2,
          readable: readable2
        }), writable2) {
          if (isNodeStream(head))
            d2._write = function(chunk, encoding, callback) {
              head.write(chunk, encoding) ? callback() : ondrain = callback;
            }, d2._final = function(callback) {
              head.end(), onfinish = callback;
            }, head.on("drain", function() {
              if (ondrain) {
                let cb = ondrain;
                ondrain = null, cb();
              }
            });
          else if (isWebStream(head)) {
            let writer = (isTransformStream(head) ? head.writable : head).getWriter();
            d2._write = async function(chunk, encoding, callback) {
              try {
                await writer.ready, writer.write(chunk).catch(() => {
                }), callback();
              } catch (err) {
                callback(err);
              }
            }, d2._final = async function(callback) {
              try {
                await writer.ready, writer.close().catch(() => {
                }), onfinish = callback;
              } catch (err) {
                callback(err);
              }
            };
          }
          let toRead = isTransformStream(tail) ? tail.readable : tail;
          eos(toRead, () => {
            if (onfinish) {
              let cb = onfinish;
              onfinish = null, cb();
            }
          });
        }
        if (readable2) {
          if (isNodeStream(tail))
            tail.on("readable", function() {
              if (onreadable) {
                let cb = onreadable;
                onreadable = null, cb();
              }
            }), tail.on("end", function() {
              d2.push(null);
            }), d2._read = function() {
              for (; ; ) {
                let buf = tail.read();
                if (buf === null) {
                  onreadable = d2._read;
                  return;
                }
                if (!d2.push(buf))
                  return;
              }
            };
          else if (isWebStream(tail)) {
            let reader = (isTransformStream(tail) ? tail.readable : tail).getReader();
            d2._read = async function() {
              for (; ; )
                try {
                  let { value, done } = await reader.read();
                  if (!d2.push(value))
                    return;
                  if (done) {
                    d2.push(null);
                    return;
                  }
                } catch {
                  return;
                }
            };
          }
        }
        return d2._destroy = function(err, callback) {
          !err && onclose !== null && (err = new AbortError2()), onreadable = null, ondrain = null, onfinish = null, onclose === null ? callback(err) : (onclose = callback, isNodeStream(tail) && destroyer(tail, err));
        }, d2;
      };
    }
  });

  // node_modules/readable-stream/lib/internal/streams/operators.js
  var require_operators = __commonJS({
    "node_modules/readable-stream/lib/internal/streams/operators.js"(exports, module) {
      "use strict";
      var AbortController3 = globalThis.AbortController || (init_globals(), __toCommonJS(globals_exports)).AbortController, {
        codes: { ERR_INVALID_ARG_VALUE, ERR_INVALID_ARG_TYPE, ERR_MISSING_ARGS, ERR_OUT_OF_RANGE },
        AbortError: AbortError2
      } = require_errors(), { validateAbortSignal, validateInteger, validateObject } = require_validators(), kWeakHandler = require_primordials().Symbol("kWeak"), kResistStopPropagation = require_primordials().Symbol("kResistStopPropagation"), { finished: finished2 } = require_end_of_stream(), staticCompose = require_compose(), { addAbortSignalNoValidate } = require_add_abort_signal(), { isWritable, isNodeStream } = require_utils(), { deprecate: deprecate2 } = require_util(), {
        ArrayPrototypePush,
        Boolean: Boolean2,
        MathFloor,
        Number: Number2,
        NumberIsNaN,
        Promise: Promise2,
        PromiseReject,
        PromiseResolve,
        PromisePrototypeThen,
        Symbol: Symbol2
      } = require_primordials(), kEmpty = Symbol2("kEmpty"), kEof = Symbol2("kEof");
      function compose(stream2, options) {
        if (options != null && validateObject(options, "options"), options?.signal != null && validateAbortSignal(options.signal, "options.signal"), isNodeStream(stream2) && !isWritable(stream2))
          throw new ERR_INVALID_ARG_VALUE("stream", stream2, "must be writable");
        let composedStream = staticCompose(this, stream2);
        return options != null && options.signal && addAbortSignalNoValidate(options.signal, composedStream), composedStream;
      }
      function map(fn, options) {
        if (typeof fn != "function")
          throw new ERR_INVALID_ARG_TYPE("fn", ["Function", "AsyncFunction"], fn);
        options != null && validateObject(options, "options"), options?.signal != null && validateAbortSignal(options.signal, "options.signal");
        let concurrency = 1;
        options?.concurrency != null && (concurrency = MathFloor(options.concurrency));
        let highWaterMark = concurrency - 1;
        return options?.highWaterMark != null && (highWaterMark = MathFloor(options.highWaterMark)), validateInteger(concurrency, "options.concurrency", 1), validateInteger(highWaterMark, "options.highWaterMark", 0), highWaterMark += concurrency, async function* () {
          let signal = require_util().AbortSignalAny(
            [options?.signal].filter(Boolean2)
          ), stream2 = this, queue = [], signalOpt = {
            signal
          }, next, resume, done = !1, cnt = 0;
          function onCatch() {
            done = !0, afterItemProcessed();
          }
          function afterItemProcessed() {
            cnt -= 1, maybeResume();
          }
          function maybeResume() {
            resume && !done && cnt < concurrency && queue.length < highWaterMark && (resume(), resume = null);
          }
          async function pump() {
            try {
              for await (let val of stream2) {
                if (done)
                  return;
                if (signal.aborted)
                  throw new AbortError2();
                try {
                  if (val = fn(val, signalOpt), val === kEmpty)
                    continue;
                  val = PromiseResolve(val);
                } catch (err) {
                  val = PromiseReject(err);
                }
                cnt += 1, PromisePrototypeThen(val, afterItemProcessed, onCatch), queue.push(val), next && (next(), next = null), !done && (queue.length >= highWaterMark || cnt >= concurrency) && await new Promise2((resolve3) => {
                  resume = resolve3;
                });
              }
              queue.push(kEof);
            } catch (err) {
              let val = PromiseReject(err);
              PromisePrototypeThen(val, afterItemProcessed, onCatch), queue.push(val);
            } finally {
              done = !0, next && (next(), next = null);
            }
          }
          pump();
          try {
            for (; ; ) {
              for (; queue.length > 0; ) {
                let val = await queue[0];
                if (val === kEof)
                  return;
                if (signal.aborted)
                  throw new AbortError2();
                val !== kEmpty && (yield val), queue.shift(), maybeResume();
              }
              await new Promise2((resolve3) => {
                next = resolve3;
              });
            }
          } finally {
            done = !0, resume && (resume(), resume = null);
          }
        }.call(this);
      }
      function asIndexedPairs(options = void 0) {
        return options != null && validateObject(options, "options"), options?.signal != null && validateAbortSignal(options.signal, "options.signal"), async function* () {
          let index = 0;
          for await (let val of this) {
            var _options$signal;
            if (options != null && (_options$signal = options.signal) !== null && _options$signal !== void 0 && _options$signal.aborted)
              throw new AbortError2({
                cause: options.signal.reason
              });
            yield [index++, val];
          }
        }.call(this);
      }
      async function some(fn, options = void 0) {
        for await (let unused of filter.call(this, fn, options))
          return !0;
        return !1;
      }
      async function every(fn, options = void 0) {
        if (typeof fn != "function")
          throw new ERR_INVALID_ARG_TYPE("fn", ["Function", "AsyncFunction"], fn);
        return !await some.call(
          this,
          async (...args) => !await fn(...args),
          options
        );
      }
      async function find2(fn, options) {
        for await (let result of filter.call(this, fn, options))
          return result;
      }
      async function forEach(fn, options) {
        if (typeof fn != "function")
          throw new ERR_INVALID_ARG_TYPE("fn", ["Function", "AsyncFunction"], fn);
        async function forEachFn(value, options2) {
          return await fn(value, options2), kEmpty;
        }
        for await (let unused of map.call(this, forEachFn, options)) ;
      }
      function filter(fn, options) {
        if (typeof fn != "function")
          throw new ERR_INVALID_ARG_TYPE("fn", ["Function", "AsyncFunction"], fn);
        async function filterFn(value, options2) {
          return await fn(value, options2) ? value : kEmpty;
        }
        return map.call(this, filterFn, options);
      }
      var ReduceAwareErrMissingArgs = class extends ERR_MISSING_ARGS {
        constructor() {
          super("reduce"), this.message = "Reduce of an empty stream requires an initial value";
        }
      };
      async function reduce(reducer, initialValue, options) {
        var _options$signal2;
        if (typeof reducer != "function")
          throw new ERR_INVALID_ARG_TYPE("reducer", ["Function", "AsyncFunction"], reducer);
        options != null && validateObject(options, "options"), options?.signal != null && validateAbortSignal(options.signal, "options.signal");
        let hasInitialValue = arguments.length > 1;
        if (options != null && (_options$signal2 = options.signal) !== null && _options$signal2 !== void 0 && _options$signal2.aborted) {
          let err = new AbortError2(void 0, {
            cause: options.signal.reason
          });
          throw this.once("error", () => {
          }), await finished2(this.destroy(err)), err;
        }
        let ac = new AbortController3(), signal = ac.signal;
        if (options != null && options.signal) {
          let opts = {
            once: !0,
            [kWeakHandler]: this,
            [kResistStopPropagation]: !0
          };
          options.signal.addEventListener("abort", () => ac.abort(), opts);
        }
        let gotAnyItemFromStream = !1;
        try {
          for await (let value of this) {
            var _options$signal3;
            if (gotAnyItemFromStream = !0, options != null && (_options$signal3 = options.signal) !== null && _options$signal3 !== void 0 && _options$signal3.aborted)
              throw new AbortError2();
            hasInitialValue ? initialValue = await reducer(initialValue, value, {
              signal
            }) : (initialValue = value, hasInitialValue = !0);
          }
          if (!gotAnyItemFromStream && !hasInitialValue)
            throw new ReduceAwareErrMissingArgs();
        } finally {
          ac.abort();
        }
        return initialValue;
      }
      async function toArray(options) {
        options != null && validateObject(options, "options"), options?.signal != null && validateAbortSignal(options.signal, "options.signal");
        let result = [];
        for await (let val of this) {
          var _options$signal4;
          if (options != null && (_options$signal4 = options.signal) !== null && _options$signal4 !== void 0 && _options$signal4.aborted)
            throw new AbortError2(void 0, {
              cause: options.signal.reason
            });
          ArrayPrototypePush(result, val);
        }
        return result;
      }
      function flatMap(fn, options) {
        let values2 = map.call(this, fn, options);
        return async function* () {
          for await (let val of values2)
            yield* val;
        }.call(this);
      }
      function toIntegerOrInfinity(number) {
        if (number = Number2(number), NumberIsNaN(number))
          return 0;
        if (number < 0)
          throw new ERR_OUT_OF_RANGE("number", ">= 0", number);
        return number;
      }
      function drop(number, options = void 0) {
        return options != null && validateObject(options, "options"), options?.signal != null && validateAbortSignal(options.signal, "options.signal"), number = toIntegerOrInfinity(number), async function* () {
          var _options$signal5;
          if (options != null && (_options$signal5 = options.signal) !== null && _options$signal5 !== void 0 && _options$signal5.aborted)
            throw new AbortError2();
          for await (let val of this) {
            var _options$signal6;
            if (options != null && (_options$signal6 = options.signal) !== null && _options$signal6 !== void 0 && _options$signal6.aborted)
              throw new AbortError2();
            number-- <= 0 && (yield val);
          }
        }.call(this);
      }
      function take2(number, options = void 0) {
        return options != null && validateObject(options, "options"), options?.signal != null && validateAbortSignal(options.signal, "options.signal"), number = toIntegerOrInfinity(number), async function* () {
          var _options$signal7;
          if (options != null && (_options$signal7 = options.signal) !== null && _options$signal7 !== void 0 && _options$signal7.aborted)
            throw new AbortError2();
          for await (let val of this) {
            var _options$signal8;
            if (options != null && (_options$signal8 = options.signal) !== null && _options$signal8 !== void 0 && _options$signal8.aborted)
              throw new AbortError2();
            if (number-- > 0 && (yield val), number <= 0)
              return;
          }
        }.call(this);
      }
      module.exports.streamReturningOperators = {
        asIndexedPairs: deprecate2(asIndexedPairs, "readable.asIndexedPairs will be removed in a future version."),
        drop,
        filter,
        flatMap,
        map,
        take: take2,
        compose
      };
      module.exports.promiseReturningOperators = {
        every,
        forEach,
        reduce,
        toArray,
        some,
        find: find2
      };
    }
  });

  // node_modules/readable-stream/lib/stream/promises.js
  var require_promises = __commonJS({
    "node_modules/readable-stream/lib/stream/promises.js"(exports, module) {
      "use strict";
      var { ArrayPrototypePop, Promise: Promise2 } = require_primordials(), { isIterable, isNodeStream, isWebStream } = require_utils(), { pipelineImpl: pl } = require_pipeline(), { finished: finished2 } = require_end_of_stream();
      require_stream();
      function pipeline(...streams) {
        return new Promise2((resolve3, reject) => {
          let signal, end, lastArg = streams[streams.length - 1];
          if (lastArg && typeof lastArg == "object" && !isNodeStream(lastArg) && !isIterable(lastArg) && !isWebStream(lastArg)) {
            let options = ArrayPrototypePop(streams);
            signal = options.signal, end = options.end;
          }
          pl(
            streams,
            (err, value) => {
              err ? reject(err) : resolve3(value);
            },
            {
              signal,
              end
            }
          );
        });
      }
      module.exports = {
        finished: finished2,
        pipeline
      };
    }
  });

  // node_modules/readable-stream/lib/stream.js
  var require_stream = __commonJS({
    "node_modules/readable-stream/lib/stream.js"(exports, module) {
      "use strict";
      var { Buffer: Buffer3 } = (init_buffer(), __toCommonJS(buffer_exports)), { ObjectDefineProperty, ObjectKeys, ReflectApply } = require_primordials(), {
        promisify: { custom: customPromisify }
      } = require_util(), { streamReturningOperators, promiseReturningOperators } = require_operators(), {
        codes: { ERR_ILLEGAL_CONSTRUCTOR }
      } = require_errors(), compose = require_compose(), { setDefaultHighWaterMark, getDefaultHighWaterMark } = require_state(), { pipeline } = require_pipeline(), { destroyer } = require_destroy(), eos = require_end_of_stream(), promises4 = require_promises(), utils = require_utils(), Stream = module.exports = require_legacy().Stream;
      Stream.isDestroyed = utils.isDestroyed;
      Stream.isDisturbed = utils.isDisturbed;
      Stream.isErrored = utils.isErrored;
      Stream.isReadable = utils.isReadable;
      Stream.isWritable = utils.isWritable;
      Stream.Readable = require_readable();
      for (let key of ObjectKeys(streamReturningOperators)) {
        let fn = function(...args) {
          if (new.target)
            throw ERR_ILLEGAL_CONSTRUCTOR();
          return Stream.Readable.from(ReflectApply(op, this, args));
        }, op = streamReturningOperators[key];
        ObjectDefineProperty(fn, "name", {
          __proto__: null,
          value: op.name
        }), ObjectDefineProperty(fn, "length", {
          __proto__: null,
          value: op.length
        }), ObjectDefineProperty(Stream.Readable.prototype, key, {
          __proto__: null,
          value: fn,
          enumerable: !1,
          configurable: !0,
          writable: !0
        });
      }
      for (let key of ObjectKeys(promiseReturningOperators)) {
        let fn = function(...args) {
          if (new.target)
            throw ERR_ILLEGAL_CONSTRUCTOR();
          return ReflectApply(op, this, args);
        }, op = promiseReturningOperators[key];
        ObjectDefineProperty(fn, "name", {
          __proto__: null,
          value: op.name
        }), ObjectDefineProperty(fn, "length", {
          __proto__: null,
          value: op.length
        }), ObjectDefineProperty(Stream.Readable.prototype, key, {
          __proto__: null,
          value: fn,
          enumerable: !1,
          configurable: !0,
          writable: !0
        });
      }
      Stream.Writable = require_writable();
      Stream.Duplex = require_duplex();
      Stream.Transform = require_transform();
      Stream.PassThrough = require_passthrough();
      Stream.pipeline = pipeline;
      var { addAbortSignal } = require_add_abort_signal();
      Stream.addAbortSignal = addAbortSignal;
      Stream.finished = eos;
      Stream.destroy = destroyer;
      Stream.compose = compose;
      Stream.setDefaultHighWaterMark = setDefaultHighWaterMark;
      Stream.getDefaultHighWaterMark = getDefaultHighWaterMark;
      ObjectDefineProperty(Stream, "promises", {
        __proto__: null,
        configurable: !0,
        enumerable: !0,
        get() {
          return promises4;
        }
      });
      ObjectDefineProperty(pipeline, customPromisify, {
        __proto__: null,
        enumerable: !0,
        get() {
          return promises4.pipeline;
        }
      });
      ObjectDefineProperty(eos, customPromisify, {
        __proto__: null,
        enumerable: !0,
        get() {
          return promises4.finished;
        }
      });
      Stream.Stream = Stream;
      Stream._isUint8Array = function(value) {
        return value instanceof Uint8Array;
      };
      Stream._uint8ArrayToBuffer = function(chunk) {
        return Buffer3.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      };
    }
  });

  // node_modules/readable-stream/lib/ours/browser.js
  var require_browser = __commonJS({
    "node_modules/readable-stream/lib/ours/browser.js"(exports, module) {
      "use strict";
      var CustomStream = require_stream(), promises4 = require_promises(), originalDestroy = CustomStream.Readable.destroy;
      module.exports = CustomStream.Readable;
      module.exports._uint8ArrayToBuffer = CustomStream._uint8ArrayToBuffer;
      module.exports._isUint8Array = CustomStream._isUint8Array;
      module.exports.isDisturbed = CustomStream.isDisturbed;
      module.exports.isErrored = CustomStream.isErrored;
      module.exports.isReadable = CustomStream.isReadable;
      module.exports.Readable = CustomStream.Readable;
      module.exports.Writable = CustomStream.Writable;
      module.exports.Duplex = CustomStream.Duplex;
      module.exports.Transform = CustomStream.Transform;
      module.exports.PassThrough = CustomStream.PassThrough;
      module.exports.addAbortSignal = CustomStream.addAbortSignal;
      module.exports.finished = CustomStream.finished;
      module.exports.destroy = CustomStream.destroy;
      module.exports.destroy = originalDestroy;
      module.exports.pipeline = CustomStream.pipeline;
      module.exports.compose = CustomStream.compose;
      Object.defineProperty(CustomStream, "promises", {
        configurable: !0,
        enumerable: !0,
        get() {
          return promises4;
        }
      });
      module.exports.Stream = CustomStream.Stream;
      module.exports.default = module.exports;
    }
  });

  // node_modules/punycode/punycode.js
  var require_punycode = __commonJS({
    "node_modules/punycode/punycode.js"(exports, module) {
      (function(root2) {
        var freeExports = typeof exports == "object" && exports && !exports.nodeType && exports, freeModule = typeof module == "object" && module && !module.nodeType && module, freeGlobal = typeof global == "object" && global;
        (freeGlobal.global === freeGlobal || freeGlobal.window === freeGlobal || freeGlobal.self === freeGlobal) && (root2 = freeGlobal);
        var punycode2, maxInt = 2147483647, base = 36, tMin = 1, tMax = 26, skew = 38, damp = 700, initialBias = 72, initialN = 128, delimiter = "-", regexPunycode = /^xn--/, regexNonASCII = /[^\x20-\x7E]/, regexSeparators = /[\x2E\u3002\uFF0E\uFF61]/g, errors2 = {
          overflow: "Overflow: input needs wider integers to process",
          "not-basic": "Illegal input >= 0x80 (not a basic code point)",
          "invalid-input": "Invalid input"
        }, baseMinusTMin = base - tMin, floor = Math.floor, stringFromCharCode = String.fromCharCode, key;
        function error(type) {
          throw new RangeError(errors2[type]);
        }
        function map(array, fn) {
          for (var length = array.length, result = []; length--; )
            result[length] = fn(array[length]);
          return result;
        }
        function mapDomain(string, fn) {
          var parts = string.split("@"), result = "";
          parts.length > 1 && (result = parts[0] + "@", string = parts[1]), string = string.replace(regexSeparators, ".");
          var labels = string.split("."), encoded = map(labels, fn).join(".");
          return result + encoded;
        }
        function ucs2decode(string) {
          for (var output = [], counter = 0, length = string.length, value, extra; counter < length; )
            value = string.charCodeAt(counter++), value >= 55296 && value <= 56319 && counter < length ? (extra = string.charCodeAt(counter++), (extra & 64512) == 56320 ? output.push(((value & 1023) << 10) + (extra & 1023) + 65536) : (output.push(value), counter--)) : output.push(value);
          return output;
        }
        function ucs2encode(array) {
          return map(array, function(value) {
            var output = "";
            return value > 65535 && (value -= 65536, output += stringFromCharCode(value >>> 10 & 1023 | 55296), value = 56320 | value & 1023), output += stringFromCharCode(value), output;
          }).join("");
        }
        function basicToDigit(codePoint) {
          return codePoint - 48 < 10 ? codePoint - 22 : codePoint - 65 < 26 ? codePoint - 65 : codePoint - 97 < 26 ? codePoint - 97 : base;
        }
        function digitToBasic(digit, flag) {
          return digit + 22 + 75 * (digit < 26) - ((flag != 0) << 5);
        }
        function adapt(delta, numPoints, firstTime) {
          var k2 = 0;
          for (delta = firstTime ? floor(delta / damp) : delta >> 1, delta += floor(delta / numPoints); delta > baseMinusTMin * tMax >> 1; k2 += base)
            delta = floor(delta / baseMinusTMin);
          return floor(k2 + (baseMinusTMin + 1) * delta / (delta + skew));
        }
        function decode2(input) {
          var output = [], inputLength = input.length, out, i2 = 0, n2 = initialN, bias = initialBias, basic, j2, index, oldi, w2, k2, digit, t2, baseMinusT;
          for (basic = input.lastIndexOf(delimiter), basic < 0 && (basic = 0), j2 = 0; j2 < basic; ++j2)
            input.charCodeAt(j2) >= 128 && error("not-basic"), output.push(input.charCodeAt(j2));
          for (index = basic > 0 ? basic + 1 : 0; index < inputLength; ) {
            for (oldi = i2, w2 = 1, k2 = base; index >= inputLength && error("invalid-input"), digit = basicToDigit(input.charCodeAt(index++)), digit >= base && error("invalid-input"), digit > floor((maxInt - i2) / w2) && error("overflow"), i2 += digit * w2, t2 = k2 <= bias ? tMin : k2 >= bias + tMax ? tMax : k2 - bias, !(digit < t2); k2 += base)
              baseMinusT = base - t2, w2 > floor(maxInt / baseMinusT) && error("overflow"), w2 *= baseMinusT;
            out = output.length + 1, bias = adapt(i2 - oldi, out, oldi == 0), floor(i2 / out) > maxInt - n2 && error("overflow"), n2 += floor(i2 / out), i2 %= out, output.splice(i2++, 0, n2);
          }
          return ucs2encode(output);
        }
        function encode3(input) {
          var n2, delta, handledCPCount, basicLength, bias, j2, m2, q2, k2, t2, currentValue, output = [], inputLength, handledCPCountPlusOne, baseMinusT, qMinusT;
          for (input = ucs2decode(input), inputLength = input.length, n2 = initialN, delta = 0, bias = initialBias, j2 = 0; j2 < inputLength; ++j2)
            currentValue = input[j2], currentValue < 128 && output.push(stringFromCharCode(currentValue));
          for (handledCPCount = basicLength = output.length, basicLength && output.push(delimiter); handledCPCount < inputLength; ) {
            for (m2 = maxInt, j2 = 0; j2 < inputLength; ++j2)
              currentValue = input[j2], currentValue >= n2 && currentValue < m2 && (m2 = currentValue);
            for (handledCPCountPlusOne = handledCPCount + 1, m2 - n2 > floor((maxInt - delta) / handledCPCountPlusOne) && error("overflow"), delta += (m2 - n2) * handledCPCountPlusOne, n2 = m2, j2 = 0; j2 < inputLength; ++j2)
              if (currentValue = input[j2], currentValue < n2 && ++delta > maxInt && error("overflow"), currentValue == n2) {
                for (q2 = delta, k2 = base; t2 = k2 <= bias ? tMin : k2 >= bias + tMax ? tMax : k2 - bias, !(q2 < t2); k2 += base)
                  qMinusT = q2 - t2, baseMinusT = base - t2, output.push(
                    stringFromCharCode(digitToBasic(t2 + qMinusT % baseMinusT, 0))
                  ), q2 = floor(qMinusT / baseMinusT);
                output.push(stringFromCharCode(digitToBasic(q2, 0))), bias = adapt(delta, handledCPCountPlusOne, handledCPCount == basicLength), delta = 0, ++handledCPCount;
              }
            ++delta, ++n2;
          }
          return output.join("");
        }
        function toUnicode(input) {
          return mapDomain(input, function(string) {
            return regexPunycode.test(string) ? decode2(string.slice(4).toLowerCase()) : string;
          });
        }
        function toASCII(input) {
          return mapDomain(input, function(string) {
            return regexNonASCII.test(string) ? "xn--" + encode3(string) : string;
          });
        }
        if (punycode2 = {
          /**
           * A string representing the current Punycode.js version number.
           * @memberOf punycode
           * @type String
           */
          version: "1.4.1",
          /**
           * An object of methods to convert from JavaScript's internal character
           * representation (UCS-2) to Unicode code points, and back.
           * @see <https://mathiasbynens.be/notes/javascript-encoding>
           * @memberOf punycode
           * @type Object
           */
          ucs2: {
            decode: ucs2decode,
            encode: ucs2encode
          },
          decode: decode2,
          encode: encode3,
          toASCII,
          toUnicode
        }, typeof define == "function" && typeof define.amd == "object" && define.amd)
          define("punycode", function() {
            return punycode2;
          });
        else if (freeExports && freeModule)
          if (module.exports == freeExports)
            freeModule.exports = punycode2;
          else
            for (key in punycode2)
              punycode2.hasOwnProperty(key) && (freeExports[key] = punycode2[key]);
        else
          root2.punycode = punycode2;
      })(exports);
    }
  });

  // src/querystring.js
  var MAX_KEYS, digitOf, unescapeBuffer, unescape, escape2, textOf, stringify, parse, querystring, querystring_default, init_querystring = __esm({
    "src/querystring.js"() {
      init_buffer();
      init_util();
      MAX_KEYS = 1e3, digitOf = (code) => {
        if (code >= 48 && code <= 57) return code - 48;
        let letter = code | 32;
        return letter >= 97 && letter <= 102 ? letter - 87 : NaN;
      }, unescapeBuffer = (text3, decodesSpaces) => {
        let bytes = Buffer2.alloc(text3.length), length = 0;
        for (let at2 = 0; at2 < text3.length; at2++) {
          let code = text3.charCodeAt(at2), byte = code === 37 ? digitOf(text3.charCodeAt(at2 + 1)) * 16 + digitOf(text3.charCodeAt(at2 + 2)) : NaN;
          byte >= 0 ? (bytes[length++] = byte, at2 += 2) : bytes[length++] = code === 43 && decodesSpaces ? 32 : code;
        }
        return bytes.subarray(0, length);
      }, unescape = (text3, decodesSpaces) => {
        try {
          return decodeURIComponent(text3);
        } catch {
          return querystring.unescapeBuffer(String(text3), decodesSpaces).toString();
        }
      }, escape2 = (value) => {
        try {
          return encodeURIComponent(typeof value == "object" ? String(value) : `${value}`);
        } catch (error) {
          throw error instanceof URIError ? codedError(URIError, "ERR_INVALID_URI", "URI malformed") : error;
        }
      }, textOf = (value) => typeof value == "string" ? value : typeof value == "bigint" || typeof value == "boolean" || typeof value == "number" && Number.isFinite(value) ? `${value}` : "", stringify = (object, separator, equals2, options) => {
        if (object === null || typeof object != "object") return "";
        let encode3 = typeof options?.encodeURIComponent == "function" ? options.encodeURIComponent : querystring.escape, pair = (key, value) => encode3(textOf(key)) + (equals2 || "=") + encode3(textOf(value));
        return Object.keys(object).flatMap((key) => (Array.isArray(object[key]) ? object[key] : [object[key]]).map((value) => pair(key, value))).join(separator || "&");
      }, parse = (text3, separator, equals2, options) => {
        let parsed2 = /* @__PURE__ */ Object.create(null);
        if (typeof text3 != "string") return parsed2;
        let own = typeof options?.decodeURIComponent == "function" ? options.decodeURIComponent : querystring.unescape, space = own === unescape ? " " : "%20", decode2 = (part) => {
          if (part === "") return part;
          let encoded = part.replaceAll("+", space);
          try {
            return own(encoded);
          } catch {
            return querystring.unescape(encoded, !0);
          }
        }, most = typeof options?.maxKeys == "number" ? options.maxKeys : MAX_KEYS, pairs2 = text3.split(separator ? String(separator) : "&").filter((pair) => pair !== ""), sign = equals2 ? String(equals2) : "=";
        for (let pair of most > 0 ? pairs2.slice(0, most) : pairs2) {
          let at2 = pair.indexOf(sign), key = decode2(at2 < 0 ? pair : pair.slice(0, at2)), value = at2 < 0 ? "" : decode2(pair.slice(at2 + sign.length));
          key in parsed2 ? Array.isArray(parsed2[key]) ? parsed2[key].push(value) : parsed2[key] = [parsed2[key], value] : parsed2[key] = value;
        }
        return parsed2;
      }, querystring = { unescapeBuffer, unescape, escape: escape2, stringify, encode: stringify, parse, decode: parse }, querystring_default = querystring;
    }
  });

  // src/qs.js
  var qs_exports = {};
  __export(qs_exports, {
    parse: () => parse2,
    stringify: () => stringify2
  });
  var parse2, stringify2, init_qs = __esm({
    "src/qs.js"() {
      init_querystring();
      parse2 = (text3) => querystring_default.parse(text3), stringify2 = (query) => querystring_default.stringify(query);
    }
  });

  // node_modules/url/url.js
  var require_url = __commonJS({
    "node_modules/url/url.js"(exports) {
      "use strict";
      var punycode2 = require_punycode();
      function Url() {
        this.protocol = null, this.slashes = null, this.auth = null, this.host = null, this.port = null, this.hostname = null, this.hash = null, this.search = null, this.query = null, this.pathname = null, this.path = null, this.href = null;
      }
      var protocolPattern = /^([a-z0-9.+-]+:)/i, portPattern = /:[0-9]*$/, simplePathPattern = /^(\/\/?(?!\/)[^?\s]*)(\?[^\s]*)?$/, delims = [
        "<",
        ">",
        '"',
        "`",
        " ",
        "\r",
        `
`,
        "	"
      ], unwise = [
        "{",
        "}",
        "|",
        "\\",
        "^",
        "`"
      ].concat(delims), autoEscape = ["'"].concat(unwise), nonHostChars = [
        "%",
        "/",
        "?",
        ";",
        "#"
      ].concat(autoEscape), hostEndingChars = [
        "/",
        "?",
        "#"
      ], hostnameMaxLen = 255, hostnamePartPattern = /^[+a-z0-9A-Z_-]{0,63}$/, hostnamePartStart = /^([+a-z0-9A-Z_-]{0,63})(.*)$/, unsafeProtocol = {
        javascript: !0,
        "javascript:": !0
      }, hostlessProtocol = {
        javascript: !0,
        "javascript:": !0
      }, slashedProtocol = {
        http: !0,
        https: !0,
        ftp: !0,
        gopher: !0,
        file: !0,
        "http:": !0,
        "https:": !0,
        "ftp:": !0,
        "gopher:": !0,
        "file:": !0
      }, querystring2 = (init_qs(), __toCommonJS(qs_exports));
      function urlParse(url, parseQueryString, slashesDenoteHost) {
        if (url && typeof url == "object" && url instanceof Url)
          return url;
        var u2 = new Url();
        return u2.parse(url, parseQueryString, slashesDenoteHost), u2;
      }
      Url.prototype.parse = function(url, parseQueryString, slashesDenoteHost) {
        if (typeof url != "string")
          throw new TypeError("Parameter 'url' must be a string, not " + typeof url);
        var queryIndex = url.indexOf("?"), splitter = queryIndex !== -1 && queryIndex < url.indexOf("#") ? "?" : "#", uSplit = url.split(splitter), slashRegex = /\\/g;
        uSplit[0] = uSplit[0].replace(slashRegex, "/"), url = uSplit.join(splitter);
        var rest = url;
        if (rest = rest.trim(), !slashesDenoteHost && url.split("#").length === 1) {
          var simplePath = simplePathPattern.exec(rest);
          if (simplePath)
            return this.path = rest, this.href = rest, this.pathname = simplePath[1], simplePath[2] ? (this.search = simplePath[2], parseQueryString ? this.query = querystring2.parse(this.search.substr(1)) : this.query = this.search.substr(1)) : parseQueryString && (this.search = null, this.query = /* @__PURE__ */ Object.create(null)), this;
        }
        var proto = protocolPattern.exec(rest);
        if (proto) {
          proto = proto[0];
          var lowerProto = proto.toLowerCase();
          this.protocol = lowerProto, rest = rest.substr(proto.length);
        }
        if (slashesDenoteHost || proto || rest.match(/^\/\/[^@/]+@[^@/]+/)) {
          var slashes = rest.substr(0, 2) === "//";
          slashes && !(proto && hostlessProtocol[proto]) && (rest = rest.substr(2), this.slashes = !0);
        }
        if (!hostlessProtocol[proto] && (slashes || proto && !slashedProtocol[proto])) {
          for (var hostEnd = -1, i2 = 0; i2 < hostEndingChars.length; i2++) {
            var hec = rest.indexOf(hostEndingChars[i2]);
            hec !== -1 && (hostEnd === -1 || hec < hostEnd) && (hostEnd = hec);
          }
          var auth, atSign;
          hostEnd === -1 ? atSign = rest.lastIndexOf("@") : atSign = rest.lastIndexOf("@", hostEnd), atSign !== -1 && (auth = rest.slice(0, atSign), rest = rest.slice(atSign + 1), this.auth = decodeURIComponent(auth)), hostEnd = -1;
          for (var i2 = 0; i2 < nonHostChars.length; i2++) {
            var hec = rest.indexOf(nonHostChars[i2]);
            hec !== -1 && (hostEnd === -1 || hec < hostEnd) && (hostEnd = hec);
          }
          hostEnd === -1 && (hostEnd = rest.length), this.host = rest.slice(0, hostEnd), rest = rest.slice(hostEnd), this.parseHost(), this.hostname = this.hostname || "";
          var ipv6Hostname = this.hostname[0] === "[" && this.hostname[this.hostname.length - 1] === "]";
          if (!ipv6Hostname)
            for (var hostparts = this.hostname.split(/\./), i2 = 0, l2 = hostparts.length; i2 < l2; i2++) {
              var part = hostparts[i2];
              if (part && !part.match(hostnamePartPattern)) {
                for (var newpart = "", j2 = 0, k2 = part.length; j2 < k2; j2++)
                  part.charCodeAt(j2) > 127 ? newpart += "x" : newpart += part[j2];
                if (!newpart.match(hostnamePartPattern)) {
                  var validParts = hostparts.slice(0, i2), notHost = hostparts.slice(i2 + 1), bit = part.match(hostnamePartStart);
                  bit && (validParts.push(bit[1]), notHost.unshift(bit[2])), notHost.length && (rest = "/" + notHost.join(".") + rest), this.hostname = validParts.join(".");
                  break;
                }
              }
            }
          this.hostname.length > hostnameMaxLen ? this.hostname = "" : this.hostname = this.hostname.toLowerCase(), ipv6Hostname || (this.hostname = punycode2.toASCII(this.hostname));
          var p2 = this.port ? ":" + this.port : "", h2 = this.hostname || "";
          this.host = h2 + p2, this.href += this.host, ipv6Hostname && (this.hostname = this.hostname.substr(1, this.hostname.length - 2), rest[0] !== "/" && (rest = "/" + rest));
        }
        if (!unsafeProtocol[lowerProto])
          for (var i2 = 0, l2 = autoEscape.length; i2 < l2; i2++) {
            var ae2 = autoEscape[i2];
            if (rest.indexOf(ae2) !== -1) {
              var esc = encodeURIComponent(ae2);
              esc === ae2 && (esc = escape(ae2)), rest = rest.split(ae2).join(esc);
            }
          }
        var hash = rest.indexOf("#");
        hash !== -1 && (this.hash = rest.substr(hash), rest = rest.slice(0, hash));
        var qm = rest.indexOf("?");
        if (qm !== -1 ? (this.search = rest.substr(qm), this.query = rest.substr(qm + 1), parseQueryString && (this.query = querystring2.parse(this.query)), rest = rest.slice(0, qm)) : parseQueryString && (this.search = null, this.query = /* @__PURE__ */ Object.create(null)), rest && (this.pathname = rest), slashedProtocol[lowerProto] && this.hostname && !this.pathname && (this.pathname = "/"), this.pathname || this.search) {
          var p2 = this.pathname || "", s2 = this.search || "";
          this.path = p2 + s2;
        }
        return this.href = this.format(), this;
      };
      function urlFormat(obj) {
        return typeof obj == "string" && (obj = urlParse(obj)), obj instanceof Url ? obj.format() : Url.prototype.format.call(obj);
      }
      Url.prototype.format = function() {
        var auth = this.auth || "";
        auth && (auth = encodeURIComponent(auth), auth = auth.replace(/%3A/i, ":"), auth += "@");
        var protocol = this.protocol || "", pathname = this.pathname || "", hash = this.hash || "", host2 = !1, query = "";
        this.host ? host2 = auth + this.host : this.hostname && (host2 = auth + (this.hostname.indexOf(":") === -1 ? this.hostname : "[" + this.hostname + "]"), this.port && (host2 += ":" + this.port)), this.query && typeof this.query == "object" && Object.keys(this.query).length && (query = querystring2.stringify(this.query, {
          arrayFormat: "repeat",
          addQueryPrefix: !1
        }));
        var search = this.search || query && "?" + query || "";
        return protocol && protocol.substr(-1) !== ":" && (protocol += ":"), this.slashes || (!protocol || slashedProtocol[protocol]) && host2 !== !1 ? (host2 = "//" + (host2 || ""), pathname && pathname.charAt(0) !== "/" && (pathname = "/" + pathname)) : host2 || (host2 = ""), hash && hash.charAt(0) !== "#" && (hash = "#" + hash), search && search.charAt(0) !== "?" && (search = "?" + search), pathname = pathname.replace(/[?#]/g, function(match) {
          return encodeURIComponent(match);
        }), search = search.replace("#", "%23"), protocol + host2 + pathname + search + hash;
      };
      function urlResolve(source, relative2) {
        return urlParse(source, !1, !0).resolve(relative2);
      }
      Url.prototype.resolve = function(relative2) {
        return this.resolveObject(urlParse(relative2, !1, !0)).format();
      };
      function urlResolveObject(source, relative2) {
        return source ? urlParse(source, !1, !0).resolveObject(relative2) : relative2;
      }
      Url.prototype.resolveObject = function(relative2) {
        if (typeof relative2 == "string") {
          var rel = new Url();
          rel.parse(relative2, !1, !0), relative2 = rel;
        }
        for (var result = new Url(), tkeys = Object.keys(this), tk = 0; tk < tkeys.length; tk++) {
          var tkey = tkeys[tk];
          result[tkey] = this[tkey];
        }
        if (result.hash = relative2.hash, relative2.href === "")
          return result.href = result.format(), result;
        if (relative2.slashes && !relative2.protocol) {
          for (var rkeys = Object.keys(relative2), rk = 0; rk < rkeys.length; rk++) {
            var rkey = rkeys[rk];
            rkey !== "protocol" && (result[rkey] = relative2[rkey]);
          }
          return slashedProtocol[result.protocol] && result.hostname && !result.pathname && (result.pathname = "/", result.path = result.pathname), result.href = result.format(), result;
        }
        if (relative2.protocol && relative2.protocol !== result.protocol) {
          if (!slashedProtocol[relative2.protocol]) {
            for (var keys = Object.keys(relative2), v2 = 0; v2 < keys.length; v2++) {
              var k2 = keys[v2];
              result[k2] = relative2[k2];
            }
            return result.href = result.format(), result;
          }
          if (result.protocol = relative2.protocol, !relative2.host && !hostlessProtocol[relative2.protocol]) {
            for (var relPath = (relative2.pathname || "").split("/"); relPath.length && !(relative2.host = relPath.shift()); )
              ;
            relative2.host || (relative2.host = ""), relative2.hostname || (relative2.hostname = ""), relPath[0] !== "" && relPath.unshift(""), relPath.length < 2 && relPath.unshift(""), result.pathname = relPath.join("/");
          } else
            result.pathname = relative2.pathname;
          if (result.search = relative2.search, result.query = relative2.query, result.host = relative2.host || "", result.auth = relative2.auth, result.hostname = relative2.hostname || relative2.host, result.port = relative2.port, result.pathname || result.search) {
            var p2 = result.pathname || "", s2 = result.search || "";
            result.path = p2 + s2;
          }
          return result.slashes = result.slashes || relative2.slashes, result.href = result.format(), result;
        }
        var isSourceAbs = result.pathname && result.pathname.charAt(0) === "/", isRelAbs = relative2.host || relative2.pathname && relative2.pathname.charAt(0) === "/", mustEndAbs = isRelAbs || isSourceAbs || result.host && relative2.pathname, removeAllDots = mustEndAbs, srcPath = result.pathname && result.pathname.split("/") || [], relPath = relative2.pathname && relative2.pathname.split("/") || [], psychotic = result.protocol && !slashedProtocol[result.protocol];
        if (psychotic && (result.hostname = "", result.port = null, result.host && (srcPath[0] === "" ? srcPath[0] = result.host : srcPath.unshift(result.host)), result.host = "", relative2.protocol && (relative2.hostname = null, relative2.port = null, relative2.host && (relPath[0] === "" ? relPath[0] = relative2.host : relPath.unshift(relative2.host)), relative2.host = null), mustEndAbs = mustEndAbs && (relPath[0] === "" || srcPath[0] === "")), isRelAbs)
          result.host = relative2.host || relative2.host === "" ? relative2.host : result.host, result.hostname = relative2.hostname || relative2.hostname === "" ? relative2.hostname : result.hostname, result.search = relative2.search, result.query = relative2.query, srcPath = relPath;
        else if (relPath.length)
          srcPath || (srcPath = []), srcPath.pop(), srcPath = srcPath.concat(relPath), result.search = relative2.search, result.query = relative2.query;
        else if (relative2.search != null) {
          if (psychotic) {
            result.host = srcPath.shift(), result.hostname = result.host;
            var authInHost = result.host && result.host.indexOf("@") > 0 ? result.host.split("@") : !1;
            authInHost && (result.auth = authInHost.shift(), result.hostname = authInHost.shift(), result.host = result.hostname);
          }
          return result.search = relative2.search, result.query = relative2.query, (result.pathname !== null || result.search !== null) && (result.path = (result.pathname ? result.pathname : "") + (result.search ? result.search : "")), result.href = result.format(), result;
        }
        if (!srcPath.length)
          return result.pathname = null, result.search ? result.path = "/" + result.search : result.path = null, result.href = result.format(), result;
        for (var last2 = srcPath.slice(-1)[0], hasTrailingSlash = (result.host || relative2.host || srcPath.length > 1) && (last2 === "." || last2 === "..") || last2 === "", up = 0, i2 = srcPath.length; i2 >= 0; i2--)
          last2 = srcPath[i2], last2 === "." ? srcPath.splice(i2, 1) : last2 === ".." ? (srcPath.splice(i2, 1), up++) : up && (srcPath.splice(i2, 1), up--);
        if (!mustEndAbs && !removeAllDots)
          for (; up--; up)
            srcPath.unshift("..");
        mustEndAbs && srcPath[0] !== "" && (!srcPath[0] || srcPath[0].charAt(0) !== "/") && srcPath.unshift(""), hasTrailingSlash && srcPath.join("/").substr(-1) !== "/" && srcPath.push("");
        var isAbsolute2 = srcPath[0] === "" || srcPath[0] && srcPath[0].charAt(0) === "/";
        if (psychotic) {
          result.hostname = isAbsolute2 ? "" : srcPath.length ? srcPath.shift() : "", result.host = result.hostname;
          var authInHost = result.host && result.host.indexOf("@") > 0 ? result.host.split("@") : !1;
          authInHost && (result.auth = authInHost.shift(), result.hostname = authInHost.shift(), result.host = result.hostname);
        }
        return mustEndAbs = mustEndAbs || result.host && srcPath.length, mustEndAbs && !isAbsolute2 && srcPath.unshift(""), srcPath.length > 0 ? result.pathname = srcPath.join("/") : (result.pathname = null, result.path = null), (result.pathname !== null || result.search !== null) && (result.path = (result.pathname ? result.pathname : "") + (result.search ? result.search : "")), result.auth = relative2.auth || result.auth, result.slashes = result.slashes || relative2.slashes, result.href = result.format(), result;
      };
      Url.prototype.parseHost = function() {
        var host2 = this.host, port = portPattern.exec(host2);
        port && (port = port[0], port !== ":" && (this.port = port.substr(1)), host2 = host2.substr(0, host2.length - port.length)), host2 && (this.hostname = host2);
      };
      exports.parse = urlParse;
      exports.resolve = urlResolve;
      exports.resolveObject = urlResolveObject;
      exports.format = urlFormat;
      exports.Url = Url;
    }
  });

  // node_modules/path-browserify/index.js
  var require_path_browserify = __commonJS({
    "node_modules/path-browserify/index.js"(exports, module) {
      "use strict";
      function assertPath(path2) {
        if (typeof path2 != "string")
          throw new TypeError("Path must be a string. Received " + JSON.stringify(path2));
      }
      function normalizeStringPosix(path2, allowAboveRoot) {
        for (var res = "", lastSegmentLength = 0, lastSlash = -1, dots = 0, code, i2 = 0; i2 <= path2.length; ++i2) {
          if (i2 < path2.length)
            code = path2.charCodeAt(i2);
          else {
            if (code === 47)
              break;
            code = 47;
          }
          if (code === 47) {
            if (!(lastSlash === i2 - 1 || dots === 1))
              if (lastSlash !== i2 - 1 && dots === 2) {
                if (res.length < 2 || lastSegmentLength !== 2 || res.charCodeAt(res.length - 1) !== 46 || res.charCodeAt(res.length - 2) !== 46) {
                  if (res.length > 2) {
                    var lastSlashIndex = res.lastIndexOf("/");
                    if (lastSlashIndex !== res.length - 1) {
                      lastSlashIndex === -1 ? (res = "", lastSegmentLength = 0) : (res = res.slice(0, lastSlashIndex), lastSegmentLength = res.length - 1 - res.lastIndexOf("/")), lastSlash = i2, dots = 0;
                      continue;
                    }
                  } else if (res.length === 2 || res.length === 1) {
                    res = "", lastSegmentLength = 0, lastSlash = i2, dots = 0;
                    continue;
                  }
                }
                allowAboveRoot && (res.length > 0 ? res += "/.." : res = "..", lastSegmentLength = 2);
              } else
                res.length > 0 ? res += "/" + path2.slice(lastSlash + 1, i2) : res = path2.slice(lastSlash + 1, i2), lastSegmentLength = i2 - lastSlash - 1;
            lastSlash = i2, dots = 0;
          } else code === 46 && dots !== -1 ? ++dots : dots = -1;
        }
        return res;
      }
      function _format(sep, pathObject) {
        var dir = pathObject.dir || pathObject.root, base = pathObject.base || (pathObject.name || "") + (pathObject.ext || "");
        return dir ? dir === pathObject.root ? dir + base : dir + sep + base : base;
      }
      var posix = {
        // path.resolve([from ...], to)
        resolve: function() {
          for (var resolvedPath = "", resolvedAbsolute = !1, cwd, i2 = arguments.length - 1; i2 >= -1 && !resolvedAbsolute; i2--) {
            var path2;
            i2 >= 0 ? path2 = arguments[i2] : (cwd === void 0 && (cwd = process.cwd()), path2 = cwd), assertPath(path2), path2.length !== 0 && (resolvedPath = path2 + "/" + resolvedPath, resolvedAbsolute = path2.charCodeAt(0) === 47);
          }
          return resolvedPath = normalizeStringPosix(resolvedPath, !resolvedAbsolute), resolvedAbsolute ? resolvedPath.length > 0 ? "/" + resolvedPath : "/" : resolvedPath.length > 0 ? resolvedPath : ".";
        },
        normalize: function(path2) {
          if (assertPath(path2), path2.length === 0) return ".";
          var isAbsolute2 = path2.charCodeAt(0) === 47, trailingSeparator = path2.charCodeAt(path2.length - 1) === 47;
          return path2 = normalizeStringPosix(path2, !isAbsolute2), path2.length === 0 && !isAbsolute2 && (path2 = "."), path2.length > 0 && trailingSeparator && (path2 += "/"), isAbsolute2 ? "/" + path2 : path2;
        },
        isAbsolute: function(path2) {
          return assertPath(path2), path2.length > 0 && path2.charCodeAt(0) === 47;
        },
        join: function() {
          if (arguments.length === 0)
            return ".";
          for (var joined2, i2 = 0; i2 < arguments.length; ++i2) {
            var arg = arguments[i2];
            assertPath(arg), arg.length > 0 && (joined2 === void 0 ? joined2 = arg : joined2 += "/" + arg);
          }
          return joined2 === void 0 ? "." : posix.normalize(joined2);
        },
        relative: function(from, to2) {
          if (assertPath(from), assertPath(to2), from === to2 || (from = posix.resolve(from), to2 = posix.resolve(to2), from === to2)) return "";
          for (var fromStart = 1; fromStart < from.length && from.charCodeAt(fromStart) === 47; ++fromStart)
            ;
          for (var fromEnd = from.length, fromLen = fromEnd - fromStart, toStart = 1; toStart < to2.length && to2.charCodeAt(toStart) === 47; ++toStart)
            ;
          for (var toEnd = to2.length, toLen = toEnd - toStart, length = fromLen < toLen ? fromLen : toLen, lastCommonSep = -1, i2 = 0; i2 <= length; ++i2) {
            if (i2 === length) {
              if (toLen > length) {
                if (to2.charCodeAt(toStart + i2) === 47)
                  return to2.slice(toStart + i2 + 1);
                if (i2 === 0)
                  return to2.slice(toStart + i2);
              } else fromLen > length && (from.charCodeAt(fromStart + i2) === 47 ? lastCommonSep = i2 : i2 === 0 && (lastCommonSep = 0));
              break;
            }
            var fromCode = from.charCodeAt(fromStart + i2), toCode = to2.charCodeAt(toStart + i2);
            if (fromCode !== toCode)
              break;
            fromCode === 47 && (lastCommonSep = i2);
          }
          var out = "";
          for (i2 = fromStart + lastCommonSep + 1; i2 <= fromEnd; ++i2)
            (i2 === fromEnd || from.charCodeAt(i2) === 47) && (out.length === 0 ? out += ".." : out += "/..");
          return out.length > 0 ? out + to2.slice(toStart + lastCommonSep) : (toStart += lastCommonSep, to2.charCodeAt(toStart) === 47 && ++toStart, to2.slice(toStart));
        },
        _makeLong: function(path2) {
          return path2;
        },
        dirname: function(path2) {
          if (assertPath(path2), path2.length === 0) return ".";
          for (var code = path2.charCodeAt(0), hasRoot = code === 47, end = -1, matchedSlash = !0, i2 = path2.length - 1; i2 >= 1; --i2)
            if (code = path2.charCodeAt(i2), code === 47) {
              if (!matchedSlash) {
                end = i2;
                break;
              }
            } else
              matchedSlash = !1;
          return end === -1 ? hasRoot ? "/" : "." : hasRoot && end === 1 ? "//" : path2.slice(0, end);
        },
        basename: function(path2, ext) {
          if (ext !== void 0 && typeof ext != "string") throw new TypeError('"ext" argument must be a string');
          assertPath(path2);
          var start3 = 0, end = -1, matchedSlash = !0, i2;
          if (ext !== void 0 && ext.length > 0 && ext.length <= path2.length) {
            if (ext.length === path2.length && ext === path2) return "";
            var extIdx = ext.length - 1, firstNonSlashEnd = -1;
            for (i2 = path2.length - 1; i2 >= 0; --i2) {
              var code = path2.charCodeAt(i2);
              if (code === 47) {
                if (!matchedSlash) {
                  start3 = i2 + 1;
                  break;
                }
              } else
                firstNonSlashEnd === -1 && (matchedSlash = !1, firstNonSlashEnd = i2 + 1), extIdx >= 0 && (code === ext.charCodeAt(extIdx) ? --extIdx === -1 && (end = i2) : (extIdx = -1, end = firstNonSlashEnd));
            }
            return start3 === end ? end = firstNonSlashEnd : end === -1 && (end = path2.length), path2.slice(start3, end);
          } else {
            for (i2 = path2.length - 1; i2 >= 0; --i2)
              if (path2.charCodeAt(i2) === 47) {
                if (!matchedSlash) {
                  start3 = i2 + 1;
                  break;
                }
              } else end === -1 && (matchedSlash = !1, end = i2 + 1);
            return end === -1 ? "" : path2.slice(start3, end);
          }
        },
        extname: function(path2) {
          assertPath(path2);
          for (var startDot = -1, startPart = 0, end = -1, matchedSlash = !0, preDotState = 0, i2 = path2.length - 1; i2 >= 0; --i2) {
            var code = path2.charCodeAt(i2);
            if (code === 47) {
              if (!matchedSlash) {
                startPart = i2 + 1;
                break;
              }
              continue;
            }
            end === -1 && (matchedSlash = !1, end = i2 + 1), code === 46 ? startDot === -1 ? startDot = i2 : preDotState !== 1 && (preDotState = 1) : startDot !== -1 && (preDotState = -1);
          }
          return startDot === -1 || end === -1 || // We saw a non-dot character immediately before the dot
          preDotState === 0 || // The (right-most) trimmed path component is exactly '..'
          preDotState === 1 && startDot === end - 1 && startDot === startPart + 1 ? "" : path2.slice(startDot, end);
        },
        format: function(pathObject) {
          if (pathObject === null || typeof pathObject != "object")
            throw new TypeError('The "pathObject" argument must be of type Object. Received type ' + typeof pathObject);
          return _format("/", pathObject);
        },
        parse: function(path2) {
          assertPath(path2);
          var ret = { root: "", dir: "", base: "", ext: "", name: "" };
          if (path2.length === 0) return ret;
          var code = path2.charCodeAt(0), isAbsolute2 = code === 47, start3;
          isAbsolute2 ? (ret.root = "/", start3 = 1) : start3 = 0;
          for (var startDot = -1, startPart = 0, end = -1, matchedSlash = !0, i2 = path2.length - 1, preDotState = 0; i2 >= start3; --i2) {
            if (code = path2.charCodeAt(i2), code === 47) {
              if (!matchedSlash) {
                startPart = i2 + 1;
                break;
              }
              continue;
            }
            end === -1 && (matchedSlash = !1, end = i2 + 1), code === 46 ? startDot === -1 ? startDot = i2 : preDotState !== 1 && (preDotState = 1) : startDot !== -1 && (preDotState = -1);
          }
          return startDot === -1 || end === -1 || // We saw a non-dot character immediately before the dot
          preDotState === 0 || // The (right-most) trimmed path component is exactly '..'
          preDotState === 1 && startDot === end - 1 && startDot === startPart + 1 ? end !== -1 && (startPart === 0 && isAbsolute2 ? ret.base = ret.name = path2.slice(1, end) : ret.base = ret.name = path2.slice(startPart, end)) : (startPart === 0 && isAbsolute2 ? (ret.name = path2.slice(1, startDot), ret.base = path2.slice(1, end)) : (ret.name = path2.slice(startPart, startDot), ret.base = path2.slice(startPart, end)), ret.ext = path2.slice(startDot, end)), startPart > 0 ? ret.dir = path2.slice(0, startPart - 1) : isAbsolute2 && (ret.dir = "/"), ret;
        },
        sep: "/",
        delimiter: ":",
        win32: null,
        posix: null
      };
      posix.posix = posix;
      module.exports = posix;
    }
  });

  // src/index.js
  var index_exports = {};
  __export(index_exports, {
    default: () => index_default
  });
  init_absent();

  // src/assert.js
  init_absent();
  var import_comparisons = __toESM(require_comparisons(), 1);

  // src/assert-message.js
  init_util();
  var headings = {
    deepStrictEqual: "Expected values to be strictly deep-equal:",
    strictEqual: "Expected values to be strictly equal:",
    strictEqualObject: 'Expected "actual" to be reference-equal to "expected":',
    deepEqual: "Expected values to be loosely deep-equal:",
    notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
    notStrictEqual: 'Expected "actual" to be strictly unequal to:',
    notStrictEqualObject: 'Expected "actual" not to be reference-equal to "expected":',
    notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
    notIdentical: "Values have same structure but are not reference-equal:"
  }, SHORT = 12, MOST_LINES = 50, shown = (value) => inspect(value, { compact: !1, customInspect: !1, depth: 1e3, maxArrayLength: 1 / 0, sorted: !0, getters: !0 }), cut = (text3, most) => text3.length > most ? `${text3.slice(0, most - 3)}...` : text3, cutLines = (lines) => lines.length > MOST_LINES ? [...lines.slice(0, 46), "..."] : lines, areBoth = (kind, a2, b2) => kind(a2) && kind(b2), isCallable = (value) => typeof value == "function", commonEnd = (actual, expected, start3) => {
    let [count, end, other] = [start3, "", ""];
    for (; actual.length > 0 && expected.length > 0 && actual.at(-1) === expected.at(-1); )
      count++ < 3 ? end = `
  ${actual.at(-1)}${end}` : other = actual.at(-1), actual.pop(), expected.pop();
    let isSkipped = count >= 5 && actual.length + expected.length > 0;
    return isSkipped && (end = `
...${end}`), { end: other === "" ? end : `
  ${other}${end}`, isSkipped };
  }, Comparing = class {
    text = "";
    isSkipped = !1;
    isCut = !1;
    #expected = "";
    #same = 0;
    #printed = 0;
    constructor(actual, expected) {
      let most = Math.max(actual.length, expected.length);
      for (let at2 = 0; at2 < most; at2++)
        if (at2 >= actual.length || at2 >= expected.length ? this.#oneSided(actual, expected, at2) : this.#both(actual, expected, at2), this.#printed > MOST_LINES && at2 < most - 2) {
          this.isCut = !0;
          break;
        }
      this.text += this.#expected, this.isCut && (this.text = this.text.slice(0, this.text.length - this.#expected.length) + `
...${this.#expected}
...`);
    }
    #show(line) {
      this.text += line, this.#printed++;
    }
    // Shows the equal lines before one that differs: all if there are at most four, and otherwise both ends.
    #equalsBefore(lines, at2) {
      this.#same > 4 && (this.#same === 5 ? this.#show(`
  ${lines[at2 - 3]}`) : (this.text += `
...`, this.isSkipped = !0)), this.#same > 3 && this.#show(`
  ${lines[at2 - 2]}`), this.#same > 2 && this.#show(`
  ${lines[at2 - 1]}`), this.#same = 0;
    }
    #oneSided(actual, expected, at2) {
      let isActual = actual.length > expected.length, lines = isActual ? actual : expected;
      this.#equalsBefore(lines, at2), isActual ? this.text += `
+ ${lines[at2]}` : this.#expected += `
- ${lines[at2]}`, this.#printed++;
    }
    #both(actual, expected, at2) {
      let line = expected[at2], isSame = actual[at2] === line || actual[at2] === `${line},` || `${actual[at2]},` === line, own = `${actual[at2]},` === line ? line : actual[at2];
      if (isSame) {
        this.text += this.#expected, this.#expected = "", ++this.#same <= 2 && this.#show(`
  ${own}`);
        return;
      }
      this.#equalsBefore(actual, at2), this.text += `
+ ${own}`, this.#expected += `
- ${line}`, this.#printed += 2;
    }
  }, difference = (actual, expected, given, message) => {
    let isReference = given === "strictEqual" && (areBoth(isObject, actual, expected) || areBoth(isCallable, actual, expected)), heading = message || headings[isReference ? "strictEqualObject" : given], lines = [shown(actual).split(`
`), shown(expected).split(`
`)], [start3, indicator] = [0, ""];
    if (lines[0].length === 1 && lines[1].length === 1 && lines[0][0] !== lines[1][0]) {
      let [[a2], [b2]] = lines, length = a2.length + b2.length, areSimple = !isObject(actual) && !isObject(expected) && (actual !== 0 || expected !== 0);
      if (length <= SHORT && areSimple) return `${heading}

${a2} !== ${b2}
`;
      if (length > SHORT && !isReference && length < 80) {
        for (; a2[start3] === b2[start3]; ) start3++;
        start3 > 2 && (indicator = `
  ${" ".repeat(start3)}^`, start3 = 0);
      }
    }
    let all3 = [...lines[0]], { end, isSkipped } = commonEnd(lines[0], lines[1], start3);
    if (lines[0].length + lines[1].length === 0) return `${headings.notIdentical}

${cutLines(all3).join(`
`)}
`;
    let compared = new Comparing(...lines), skipped = isSkipped || compared.isSkipped || compared.isCut ? " ... Lines skipped" : "", text3 = `${heading}
+ actual - expected${skipped}
${compared.text}`;
    return compared.isCut ? text3 : text3 + end + indicator;
  }, unequal = (actual, operator) => {
    let isReference = operator === "notStrictEqual" && (isObject(actual) || isCallable(actual)), heading = headings[isReference ? "notStrictEqualObject" : operator], lines = cutLines(shown(actual).split(`
`));
    return lines.length > 1 ? `${heading}

${lines.join(`
`)}
` : `${heading}${lines[0].length > 5 ? `

` : " "}${lines[0]}`;
  }, loose = (actual, expected, operator) => {
    let [a2, b2] = [shown(actual), shown(expected)];
    if (operator === "notDeepEqual" && a2 === b2) return cut(`${headings.notDeepEqual}

${a2}`, 1024);
    let [first, second] = [cut(a2, 512), cut(b2, 512)];
    return operator === "deepEqual" ? `${headings.deepEqual}

${first}

should loosely deep-equal

${second}` : operator === "notDeepEqual" ? `Expected values not to be loosely deep-equal:

${first}

should not loosely deep-equal

${second}` : `${first} ${operator} ${second}`;
  }, withoutStack = (error) => {
    let copy2 = Object.setPrototypeOf(new Error(error.message), Object.getPrototypeOf(error));
    return Object.assign(copy2, error), copy2.stack = "", copy2;
  }, messageOf = ({ actual, expected, operator, message }) => {
    let isStrict = operator === "deepStrictEqual" || operator === "strictEqual";
    return message != null ? isStrict ? difference(actual, expected, operator, String(message)) : String(message) : isStrict ? difference(actual, expected, operator) : operator === "notDeepStrictEqual" || operator === "notStrictEqual" ? unequal(actual, operator) : loose(actual, expected, operator);
  }, abridged = (value) => {
    if (typeof value != "string") return value;
    let lines = value.split(`
`, 11);
    return lines.length > 10 ? `${lines.slice(0, 10).join(`
`)}
...` : value.length > 512 ? `${value.slice(512)}...` : value;
  }, AssertionError = class _AssertionError extends Error {
    constructor(options) {
      if (!isObject(options)) throw invalidType("options", "object", options);
      let { actual, expected } = options;
      options.message == null && actual instanceof Error && expected instanceof Error && ([actual, expected] = [withoutStack(actual), withoutStack(expected)]), super(messageOf({ ...options, actual, expected })), this.generatedMessage = !options.message, Object.defineProperty(this, "name", { value: "AssertionError [ERR_ASSERTION]", enumerable: !1, writable: !0, configurable: !0 }), this.code = "ERR_ASSERTION", Object.assign(this, { actual, expected, operator: options.operator }), Error.captureStackTrace(this, options.stackStartFn ?? options.stackStartFunction ?? _AssertionError), this.stack, this.name = "AssertionError";
    }
    toString() {
      return `${this.name} [${this.code}]: ${this.message}`;
    }
    [inspect.custom](depth, options) {
      let { actual, expected } = this;
      Object.assign(this, { actual: abridged(actual), expected: abridged(expected) });
      let text3 = inspect(this, { ...options, customInspect: !1, depth: 0 });
      return Object.assign(this, { actual, expected }), text3;
    }
  };

  // src/fs.js
  init_absent();
  init_buffer();

  // src/descriptors.js
  var descriptors_exports = {};
  __export(descriptors_exports, {
    O_APPEND: () => O_APPEND,
    O_CREAT: () => O_CREAT,
    O_EXCL: () => O_EXCL,
    O_RDONLY: () => O_RDONLY,
    O_RDWR: () => O_RDWR,
    O_TRUNC: () => O_TRUNC,
    O_WRONLY: () => O_WRONLY,
    close: () => close,
    isDescriptor: () => isDescriptor,
    isOpen: () => isOpen,
    open: () => open,
    pathOf: () => pathOf,
    read: () => read2,
    readRest: () => readRest,
    readv: () => readv,
    sync: () => sync,
    toFlags: () => toFlags,
    toMode: () => toMode,
    truncate: () => truncate,
    write: () => write2,
    writeBytes: () => writeBytes,
    writev: () => writev
  });
  init_buffer();
  init_util();
  var { fs: files, native: native3, toPath } = host, O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_CREAT = 64, O_EXCL = 128, O_TRUNC = 512, O_APPEND = 1024, ACCESS_MODE = 3, REPLACE = O_CREAT | O_TRUNC, EXTEND = O_CREAT | O_APPEND, flagWords = /* @__PURE__ */ new Map(), name = (bits, ...words) => words.forEach((word2) => flagWords.set(word2, bits));
  name(O_RDONLY, "r", "rs", "sr");
  name(O_RDWR, "r+", "rs+", "sr+");
  name(O_WRONLY | REPLACE, "w");
  name(O_WRONLY | REPLACE | O_EXCL, "wx", "xw");
  name(O_RDWR | REPLACE, "w+");
  name(O_RDWR | REPLACE | O_EXCL, "wx+", "xw+");
  name(O_WRONLY | EXTEND, "a", "as", "sa");
  name(O_WRONLY | EXTEND | O_EXCL, "ax", "xa");
  name(O_RDWR | EXTEND, "a+", "as+", "sa+");
  name(O_RDWR | EXTEND | O_EXCL, "ax+", "xa+");
  var LARGEST = Number.MAX_SAFE_INTEGER, checkInteger2 = (value, name2, least2 = -LARGEST, most = LARGEST) => {
    if (typeof value != "number") throw invalidType(name2, "number", value);
    if (!isWhole(value)) throw outOfRange(name2, "an integer", value);
    if (value < least2 || value > most) throw outOfRange(name2, `>= ${least2} && <= ${most}`, value);
  }, toFlags = (flags) => {
    if (flags == null) return O_RDONLY;
    if (typeof flags == "number")
      return checkInteger2(flags, "flags", -2147483648, 2147483647), flags;
    let bits = flagWords.get(flags);
    if (bits === void 0) throw invalidValue("flags", flags);
    return bits;
  }, isDescriptor = (value) => typeof value == "number" && isWhole(value) && value >= -2147483648 && value <= 2147483647, descriptors = /* @__PURE__ */ new Map(), isOpen = (fd) => descriptors.has(fd), checkDescriptor = (fd) => (checkInteger2(fd, "fd", 0, 2147483647), fd), opened = (fd, syscall) => {
    let file = descriptors.get(fd);
    if (file === void 0) throw host.systemError("EBADF", syscall);
    return file;
  }, stateOf = (file, syscall) => {
    let state = statOrNone(file.path);
    if (state === void 0 || state.id !== file.id)
      throw codedError(Error, "ESTALE", `ESTALE: '${file.path}' was removed or renamed while it was open, ${syscall}: close it first`);
    return state;
  }, statOrNone = (path2) => {
    try {
      return native3.stat(path2, !0);
    } catch (code) {
      if (code === "ENOENT") return;
      throw code;
    }
  }, prepare = (path2, bits, mode) => {
    let writable2 = (bits & ACCESS_MODE) !== O_RDONLY, found = statOrNone(path2);
    if (found === void 0) {
      if (!(bits & O_CREAT)) throw "ENOENT";
      return files.writeFile(path2, "", { flag: bits & O_EXCL ? "wx" : "a" }), mode !== void 0 && files.chmod(path2, mode & 4095 & ~host.fileMask()), native3.stat(path2, !0);
    }
    if (bits & O_CREAT && bits & O_EXCL) throw "EEXIST";
    if (found.kind === "directory" && (writable2 || bits & (O_CREAT | O_TRUNC))) throw "EISDIR";
    return bits & O_TRUNC ? files.truncate(path2, 0) : writable2 && files.appendFile(path2, ""), found;
  }, open = (path2, flags = "r", mode = void 0) => {
    let at2 = toPath(path2, "open"), bits = toFlags(flags), found;
    try {
      found = prepare(at2, bits, toMode(mode));
    } catch (error) {
      let code = typeof error == "string" ? error : error.code;
      throw code in host.errnos ? host.fileError(code, "open", path2 instanceof URL ? at2 : String(path2)) : error;
    }
    let fd = 3;
    for (; descriptors.has(fd); ) fd++;
    let access = bits & ACCESS_MODE;
    return descriptors.set(fd, {
      path: at2,
      id: found.id,
      directory: found.kind === "directory",
      position: 0,
      readable: access !== O_WRONLY,
      writable: access !== O_RDONLY,
      append: (bits & O_APPEND) !== 0
    }), fd;
  }, toMode = (mode) => {
    if (mode != null) {
      if (typeof mode == "string") {
        if (!/^[0-7]+$/.test(mode)) throw invalidValue("mode", mode, "must be a 32-bit unsigned integer or an octal string");
        return Number.parseInt(mode, 8);
      }
      return checkInteger2(mode, "mode", 0, 4294967295), mode;
    }
  }, close = (fd) => {
    opened(checkDescriptor(fd), "close"), descriptors.delete(fd);
  }, pathOf = (fd, syscall) => {
    let file = opened(checkDescriptor(fd), syscall);
    return stateOf(file, syscall), file.path;
  }, sync = (fd, syscall) => {
    opened(checkDescriptor(fd), syscall);
  }, readAt = (file, from, length) => {
    if (file.directory) throw host.systemError("EISDIR", "read");
    return stateOf(file, "read"), native3.readPart(file.path, from, length);
  }, readRest = (fd, syscall) => {
    let file = opened(syscall === "fstat" ? checkDescriptor(fd) : fd, syscall);
    if (!file.readable) throw host.systemError("EBADF", "read");
    let bytes = readAt(file, file.position, LARGEST);
    return file.position += bytes.length, bytes;
  }, checkView = (buffer2) => {
    if (!ArrayBuffer.isView(buffer2)) throw invalidType("buffer", "an instance of Buffer, TypedArray, or DataView", buffer2);
  }, bytesOf = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength), toPosition = (position, length) => {
    if (position == null) return -1;
    if (typeof position == "number") checkInteger2(position, "position", -1);
    else {
      if (typeof position != "bigint") throw invalidType("position", "bigint or integer", position);
      if (position < -1n || position > 2n ** 63n - 1n - BigInt(length)) throw outOfRange("position", `>= -1 && <= ${2n ** 63n - 1n - BigInt(length)}`, position);
    }
    return Number(position);
  }, readInput = (into, at2) => {
    if (at2 >= 0) throw host.systemError("ESPIPE", "read");
    let bytes = host.readStdinNow(into.length);
    return into.set(bytes), bytes.length;
  }, read2 = (fd, buffer2, ...rest) => {
    checkDescriptor(fd), checkView(buffer2);
    let [offset, length, position] = rest;
    if (rest.length <= 1 || offset !== null && typeof offset == "object") {
      if (offset !== void 0 && typeof offset != "object") throw invalidType("options", "object", offset);
      ({ offset = 0, length = buffer2.byteLength - offset, position = null } = offset ?? {});
    }
    if (offset === void 0 ? offset = 0 : checkInteger2(offset, "offset", 0), length |= 0, length === 0) return 0;
    if (buffer2.byteLength === 0) throw invalidValue("buffer", buffer2, "is empty and cannot be written");
    if (length < 0) throw outOfRange("length", ">= 0", length);
    if (length > buffer2.byteLength - offset) throw outOfRange("length", `<= ${buffer2.byteLength - offset}`, length);
    let at2 = toPosition(position, length);
    if (fd === 0) return readInput(bytesOf(buffer2).subarray(offset, offset + length), at2);
    let file = opened(fd, "read");
    if (!file.readable) throw host.systemError("EBADF", "read");
    let bytes = readAt(file, at2 < 0 ? file.position : at2, length);
    return bytesOf(buffer2).set(bytes, offset), at2 < 0 && (file.position += bytes.length), bytes.length;
  }, writeAt = (path2, from, bytes, size) => {
    if (from < size) {
      let old = native3.readPart(path2, 0, LARGEST), all3 = new Uint8Array(Math.max(old.length, from + bytes.length));
      all3.set(old), all3.set(bytes, from), files.writeFile(path2, all3);
      return;
    }
    from > size && files.truncate(path2, from), files.appendFile(path2, bytes);
  }, writeBytes = (fd, bytes, position = null) => {
    if (fd === 1 || fd === 2)
      return native3.outputBytes(bytes, fd === 2), bytes.length;
    let file = opened(fd, "write");
    if (!file.writable) throw host.systemError("EBADF", "write");
    let { size } = stateOf(file, "write"), fixed = (typeof position == "number" || typeof position == "bigint") && position >= 0, from = file.append ? size : fixed ? Number(position) : file.position;
    return bytes.length > 0 && writeAt(file.path, from, bytes, size), fixed || (file.position = from + bytes.length), bytes.length;
  }, write2 = (fd, data, ...rest) => {
    if (checkDescriptor(fd), ArrayBuffer.isView(data)) {
      let [offset, length, position2] = rest;
      if (typeof offset == "object" && ({ offset = 0, length = data.byteLength - offset, position: position2 = null } = offset ?? {}), offset == null ? offset = 0 : checkInteger2(offset, "offset", 0), typeof length != "number" && (length = data.byteLength - offset), offset > data.byteLength) throw outOfRange("offset", `<= ${data.byteLength}`, offset);
      if (length > data.byteLength - offset) throw outOfRange("length", `<= ${data.byteLength - offset}`, length);
      return checkInteger2(length, "length", 0, 2147483647), writeBytes(fd, bytesOf(data).subarray(offset, offset + length), position2);
    }
    if (typeof data != "string") throw invalidType("buffer", "string or an instance of Buffer, TypedArray, or DataView", data);
    let [position, encoding] = rest;
    return writeBytes(fd, bytesOf(Buffer2.from(data, encoding ?? "utf8")), position);
  }, readv = (fd, buffers, position = null) => {
    checkViews(fd, buffers);
    let total = 0;
    for (let buffer2 of buffers) {
      let count = read2(fd, buffer2, 0, buffer2.byteLength, typeof position == "number" ? position + total : null);
      if (total += count, count < buffer2.byteLength) break;
    }
    return total;
  }, writev = (fd, buffers, position = null) => (checkViews(fd, buffers), writeBytes(fd, bytesOf(Buffer2.concat(buffers.map(bytesOf))), position)), checkViews = (fd, buffers) => {
    if (checkDescriptor(fd), !Array.isArray(buffers) || !buffers.every(ArrayBuffer.isView)) throw invalidType("buffers", "an ArrayBufferView[]", buffers);
  }, truncate = (fd, length = 0) => {
    checkDescriptor(fd), checkInteger2(length, "len");
    let file = opened(fd, "ftruncate");
    if (!file.writable) throw host.systemError("EINVAL", "ftruncate");
    stateOf(file, "ftruncate"), files.truncate(file.path, Math.max(0, length));
  };

  // src/fs-constants.js
  var constants2 = {
    O_RDONLY,
    O_WRONLY,
    O_RDWR,
    S_IFMT: 61440,
    S_IFREG: 32768,
    S_IFDIR: 16384,
    S_IFCHR: 8192,
    S_IFBLK: 24576,
    S_IFIFO: 4096,
    S_IFLNK: 40960,
    S_IFSOCK: 49152,
    O_CREAT,
    O_EXCL,
    O_TRUNC,
    O_APPEND,
    S_IRWXU: 448,
    S_IRUSR: 256,
    S_IWUSR: 128,
    S_IXUSR: 64,
    S_IRWXG: 56,
    S_IRGRP: 32,
    S_IWGRP: 16,
    S_IXGRP: 8,
    S_IRWXO: 7,
    S_IROTH: 4,
    S_IWOTH: 2,
    S_IXOTH: 1,
    F_OK: 0,
    R_OK: 4,
    W_OK: 2,
    X_OK: 1,
    COPYFILE_EXCL: 1
  };

  // src/fs-directories.js
  init_util();
  var { toPath: toPath2 } = host, entriesOf = (path2, options) => {
    encodingOf(options);
    let { bufferSize = 1, recursive } = typeof options == "object" && options !== null ? options : {};
    if (!(isWhole(bufferSize) && bufferSize >= 1 && bufferSize < 2 ** 32))
      throw outOfRange("options.bufferSize", ">= 1 && <= 4294967295", bufferSize);
    try {
      return sync2.readdir(path2, { withFileTypes: !0, recursive });
    } catch (error) {
      throw error?.syscall === "scandir" ? host.fileError(error.code, "opendir", toPath2(path2, "opendir")) : error;
    }
  }, Dir = class {
    #left;
    #isClosed = !1;
    constructor(path2, options) {
      if (path2 === void 0) throw codedError(TypeError, "ERR_MISSING_ARGS", 'The "handle" argument must be specified');
      this.#left = entriesOf(path2, options), this.path = path2;
    }
    #open() {
      if (this.#isClosed) throw codedError(Error, "ERR_DIR_CLOSED", "Directory handle was closed");
    }
    readSync() {
      return this.#open(), this.#left.shift() ?? null;
    }
    closeSync() {
      this.#open(), this.#isClosed = !0;
    }
    // Without a callback, returns a promise.
    read(callback) {
      if (callback === void 0) return promised(() => this.readSync());
      if (this.#open(), typeof callback != "function") throw invalidType("callback", "function", callback);
      let entry = this.readSync();
      host.callLater(() => callback(null, entry));
    }
    close(callback) {
      if (callback === void 0) return promised(() => this.closeSync());
      if (typeof callback != "function") throw invalidType("callback", "function", callback);
      withCallback("close", () => this.closeSync())(callback);
    }
    async *entries() {
      try {
        for (let entry = this.readSync(); entry !== null; entry = this.readSync()) yield entry;
      } finally {
        this.closeSync();
      }
    }
  };
  Object.defineProperty(Dir.prototype, Symbol.asyncIterator, { value: Dir.prototype.entries, writable: !0, configurable: !0 });

  // src/fs-handles.js
  init_buffer();
  init_events();
  init_util();
  var closedFile = (syscall) => Object.assign(codedError(Error, "EBADF", "file closed"), { syscall }), isChunks = (data) => isObject(data) && !ArrayBuffer.isView(data) && (Symbol.asyncIterator in data || Symbol.iterator in data), FileHandle = class extends events_default {
    #fd;
    constructor(fd) {
      super(), this.#fd = fd;
    }
    get fd() {
      return this.#fd;
    }
    // Returns the descriptor, for a system call.
    #open(syscall) {
      if (this.#fd < 0) throw closedFile(syscall);
      return this.#fd;
    }
    async readFile(options) {
      return sync2.readFile(this.#open("readFile"), options);
    }
    async writeFile(data, options) {
      let fd = this.#open("writeFile");
      if (!isChunks(data)) return sync2.writeFile(fd, data, options);
      for await (let chunk of data) sync2.writeFile(this.#open("writeFile"), chunk, options);
    }
    async appendFile(data, options) {
      sync2.appendFile(this.#open("appendFile"), data, options);
    }
    async stat(options) {
      return sync2.fstat(this.#open("fstat"), options);
    }
    async chmod(mode) {
      sync2.fchmod(this.#open("fchmod"), mode);
    }
    async chown() {
      sync2.fchown(this.#open("fchown"));
    }
    async utimes(atime, mtime) {
      sync2.futimes(this.#open("futimes"), atime, mtime);
    }
    async truncate(length) {
      sync2.ftruncate(this.#open("ftruncate"), length);
    }
    async sync() {
      sync2.fsync(this.#open("fsync"));
    }
    async datasync() {
      sync2.fdatasync(this.#open("fdatasync"));
    }
    async read(first, ...rest) {
      let fd = this.#open("read");
      if (ArrayBuffer.isView(first)) return { __proto__: null, bytesRead: sync2.read(fd, first, ...rest), buffer: first };
      let buffer2 = first?.buffer ?? Buffer2.alloc(16384);
      return { __proto__: null, bytesRead: sync2.read(fd, buffer2, first ?? void 0), buffer: buffer2 };
    }
    async readv(buffers, position) {
      return { __proto__: null, bytesRead: sync2.readv(this.#open("readv"), buffers, position), buffers };
    }
    async write(buffer2, ...rest) {
      return { __proto__: null, bytesWritten: sync2.write(this.#open("write"), buffer2, ...rest), buffer: buffer2 };
    }
    async writev(buffers, position) {
      return { __proto__: null, bytesWritten: sync2.writev(this.#open("writev"), buffers, position), buffers };
    }
    async close() {
      if (this.#fd < 0) return;
      let fd = this.#fd;
      this.#fd = -1, sync2.close(fd), this.emit("close");
    }
    async *readLines(options) {
      for (let line of linesOf(String(await this.readFile({ encoding: "utf8", ...options })))) yield line;
    }
    createReadStream(options) {
      return fs_default.createReadStream(null, { ...options, fd: this });
    }
    createWriteStream(options) {
      return fs_default.createWriteStream(null, { ...options, fd: this });
    }
  }, linesOf = (text3) => {
    let lines = text3.split(/\r?\n/);
    return lines.at(-1) === "" && lines.pop(), lines;
  };

  // src/fs-streams.js
  init_buffer();

  // src/stream.js
  init_absent();
  var import_ours = __toESM(require_browser(), 1);
  import_ours.default.duplexPair = absent("stream", "duplexPair", "use two PassThrough streams, and Duplex.from({ readable, writable })");
  var stream_default = import_ours.default;

  // src/fs-streams.js
  init_util();
  var checkPlace = (name2, value) => {
    if (value !== void 0) {
      if (typeof value != "number") throw invalidType(name2, "number", value);
      if (value !== 1 / 0 && !isWhole(value)) throw outOfRange(name2, "an integer", value);
      if (value < 0) throw outOfRange(name2, ">= 0 && <= 9007199254740991", value);
    }
  }, openAndClose = (path2, { flags, mode, fd }) => {
    let handle = fd instanceof FileHandle ? fd : void 0, descriptor = handle === void 0 ? fd : handle.fd;
    return {
      descriptor: () => descriptor,
      construct(callback) {
        if (descriptor != null) {
          callback();
          return;
        }
        host.callLater(() => {
          try {
            descriptor = sync2.open(path2, flags, mode);
          } catch (error) {
            callback(error);
            return;
          }
          this.fd = descriptor, callback(), this.emit("open", descriptor), this.emit("ready");
        });
      },
      destroy(error, callback) {
        let open3 = descriptor;
        if (descriptor = null, this.fd = null, open3 == null) {
          callback(error);
          return;
        }
        let done = (failed4) => callback(error ?? failed4 ?? null);
        handle !== void 0 ? handle.close().then(() => done(), done) : isOpen(open3) ? fs_default.close(open3, done) : callback(error);
      }
    };
  }, createReadStream = (path2, options = {}) => {
    let given = typeof options == "object" && options !== null ? options : {}, { start: start3, end = 1 / 0, highWaterMark = 65536, emitClose, autoClose = !0, signal } = given;
    if (checkPlace("start", start3), checkPlace("end", end), start3 !== void 0 && start3 > end) throw outOfRange("start", `<= "end" (here: ${end})`, start3);
    let { construct, destroy, descriptor } = openAndClose(path2 === null ? null : checkedPath("path", path2), { flags: "r", ...given }), left = end - (start3 ?? 0) + 1, at2 = start3, readable2 = new stream_default.Readable({
      highWaterMark,
      encoding: encodingOf(options) ?? void 0,
      emitClose,
      autoDestroy: autoClose,
      signal,
      construct,
      destroy,
      // Delivers a chunk later, as a disk would: otherwise everything that is requested at once would be one chunk.
      read(size) {
        host.callLater(() => {
          if (!readable2.destroyed)
            try {
              let buffer2 = Buffer2.alloc(Math.min(size, left)), count = buffer2.length === 0 ? 0 : sync2.read(descriptor(), buffer2, 0, buffer2.length, at2 ?? null);
              at2 !== void 0 && (at2 += count), left -= count, readable2.bytesRead += count, this.push(count === 0 ? null : buffer2.subarray(0, count));
            } catch (error) {
              this.destroy(error);
            }
        });
      }
    });
    return readable2.close = (callback) => closeStream(readable2, callback), shownStream(Object.setPrototypeOf(readable2, ReadStream.prototype), { path: path2 ?? void 0, fd: descriptor() ?? null, bytesRead: 0 });
  }, shownStream = (opened2, fields) => Object.defineProperty(Object.assign(opened2, fields), "pending", { get: () => opened2.fd === null, configurable: !0 }), closeStream = (opened2, callback) => {
    callback !== void 0 && stream_default.finished(opened2, () => callback()), opened2.destroy();
  }, createWriteStream = (path2, options = {}) => {
    let given = typeof options == "object" && options !== null ? options : {}, { start: start3, highWaterMark = 16384, emitClose, autoClose = !0, signal } = given;
    checkPlace("start", start3);
    let { construct, destroy, descriptor } = openAndClose(path2 === null ? null : checkedPath("path", path2), { flags: "w", ...given }), at2 = start3, put = (bytes, callback) => {
      try {
        let count = writeBytes(descriptor(), bytes, at2 ?? null);
        at2 !== void 0 && (at2 += count), writable2.bytesWritten += count;
      } catch (error) {
        callback(error);
        return;
      }
      callback();
    }, writable2 = new stream_default.Writable({
      highWaterMark,
      defaultEncoding: encodingOf(options) ?? "utf8",
      emitClose,
      autoDestroy: autoClose,
      signal,
      construct,
      destroy,
      write: (chunk, encoding, callback) => put(chunk, callback),
      writev: (chunks, callback) => put(Buffer2.concat(chunks.map(({ chunk }) => chunk)), callback)
    });
    return writable2.close = (callback) => {
      callback !== void 0 && stream_default.finished(writable2, () => callback()), writable2.end();
    }, shownStream(Object.setPrototypeOf(writable2, WriteStream.prototype), { path: path2 ?? void 0, fd: descriptor() ?? null, bytesWritten: 0 });
  };
  function ReadStream(path2, options) {
    return createReadStream(path2, options);
  }
  function WriteStream(path2, options) {
    return createWriteStream(path2, options);
  }
  for (let [Class, Base] of [[ReadStream, stream_default.Readable], [WriteStream, stream_default.Writable]])
    Object.setPrototypeOf(Class, Base), Object.setPrototypeOf(Class.prototype, Base.prototype);

  // src/stats.js
  var kinds = { file: 32768, directory: 16384, link: 40960, pipe: 4096 }, OWNER = 1e3, BLOCK = 4096, UNIT = 512, times = ["atime", "mtime", "ctime", "birthtime"], typeBits = (stats) => Number(stats.mode) & 61440, Stats = class {
    constructor({ kind, size, mode, modified, id }, big = !1) {
      let asNumber = (number) => big ? BigInt(Math.floor(number)) : number, numbers2 = {
        dev: 1,
        mode: kinds[kind] | mode,
        nlink: 1,
        uid: OWNER,
        gid: OWNER,
        rdev: 0,
        blksize: BLOCK,
        ino: id,
        size,
        blocks: Math.ceil(size / BLOCK) * (BLOCK / UNIT)
      };
      for (let [name2, number] of Object.entries(numbers2)) this[name2] = asNumber(number);
      for (let time of times) this[`${time}Ms`] = asNumber(modified);
      if (big) for (let time of times) this[`${time}Ns`] = BigInt(Math.round(modified * 1e6));
      for (let time of times) this[time] = new Date(modified);
    }
    isFile() {
      return typeBits(this) === kinds.file;
    }
    isDirectory() {
      return typeBits(this) === kinds.directory;
    }
    isSymbolicLink() {
      return typeBits(this) === kinds.link;
    }
    isFIFO() {
      return typeBits(this) === kinds.pipe;
    }
    isSocket() {
      return !1;
    }
    isBlockDevice() {
      return !1;
    }
    isCharacterDevice() {
      return !1;
    }
  }, statsOf = (record, options) => new Stats(record, options?.bigint === !0), pipeStats = (options) => statsOf({ kind: "pipe", size: 0, mode: 384, modified: 0, id: 0 }, options);
  for (let name2 of ["isFIFO", "isSocket", "isBlockDevice", "isCharacterDevice"])
    Object.defineProperty(host.Dirent.prototype, name2, { value: () => !1, configurable: !0, writable: !0 });

  // src/fs.js
  init_util();

  // src/url.js
  var import_url = __toESM(require_url(), 1);

  // src/path.js
  var import_path_browserify = __toESM(require_path_browserify(), 1);

  // src/path-glob.js
  var escape3 = (text3) => text3.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), closingOf = (text3, from, open3, close2) => {
    let depth = 0;
    for (let at2 = from; at2 < text3.length; at2++)
      if (text3[at2] === open3) depth++;
      else if (text3[at2] === close2 && --depth === 0) return at2;
    return -1;
  }, splitOutside = (text3, separator) => {
    let parts = [""], depth = 0;
    for (let at2 = 0; at2 < text3.length; at2++) {
      let letter = text3[at2];
      if (letter === separator && depth === 0) {
        parts.push("");
        continue;
      }
      letter === "{" || letter === "(" ? depth++ : (letter === "}" || letter === ")") && depth--, parts[parts.length - 1] += letter;
    }
    return parts;
  }, rangeOf = (body) => {
    let parts = /^(-?\d+)\.\.(-?\d+)(?:\.\.(-?\d+))?$/.exec(body) ?? /^([a-zA-Z])\.\.([a-zA-Z])(?:\.\.(-?\d+))?$/.exec(body);
    if (parts === null) return;
    let isNumber2 = /\d/.test(parts[1]), [from, to2] = isNumber2 ? [Number(parts[1]), Number(parts[2])] : [parts[1].charCodeAt(0), parts[2].charCodeAt(0)], step = Math.max(Math.abs(Number(parts[3] ?? 1)), 1), count = Math.floor(Math.abs(to2 - from) / step) + 1;
    if (count > 1e4) return;
    let width = isNumber2 && [parts[1], parts[2]].some((part) => /^-?0\d/.test(part)) ? Math.max(parts[1].length, parts[2].length) : 0;
    return Array.from({ length: count }, (_2, at2) => from + Math.sign(to2 - from) * step * at2).map((value) => isNumber2 ? value < 0 ? `-${String(-value).padStart(width - 1, "0")}` : String(value).padStart(width, "0") : String.fromCharCode(value));
  }, expandBraces = (pattern) => {
    for (let at2 = 0; at2 < pattern.length; at2++) {
      if (pattern[at2] !== "{" || pattern[at2 - 1] === "$") continue;
      let end = closingOf(pattern, at2, "{", "}");
      if (end < 0) return [pattern];
      let body = pattern.slice(at2 + 1, end), given = splitOutside(body, ","), parts = given.length > 1 ? given.flatMap(expandBraces) : rangeOf(body);
      if (parts === void 0) continue;
      let rests = expandBraces(pattern.slice(end + 1));
      return parts.flatMap((part) => rests.map((rest) => pattern.slice(0, at2) + part + rest));
    }
    return [pattern];
  }, CLASSES = {
    alnum: "\\p{L}\\p{Nl}\\p{Nd}",
    alpha: "\\p{L}\\p{Nl}",
    ascii: "\\x00-\\x7f",
    blank: "\\p{Zs}\\t",
    cntrl: "\\p{Cc}",
    digit: "\\p{Nd}",
    lower: "\\p{Ll}",
    print: "\\P{C}",
    punct: "\\p{P}",
    space: "\\p{Z}\\t\\r\\n\\v\\f",
    upper: "\\p{Lu}",
    word: "\\p{L}\\p{Nl}\\p{Nd}\\p{Pc}",
    xdigit: "A-Fa-f0-9"
  }, bracketAt = (pattern, from) => {
    let at2 = from + 1, isNegated = pattern[at2] === "!" || pattern[at2] === "^";
    isNegated && at2++;
    let body = "";
    for (let isFirst = !0; at2 < pattern.length; isFirst = !1) {
      let named3 = /^\[:(\w+):\]/.exec(pattern.slice(at2));
      if (pattern[at2] === "]" && !isFirst) return { text: body === "" ? "(?!)" : `[${isNegated ? "^" : ""}${body}]`, end: at2 };
      if (named3 !== null && Object.hasOwn(CLASSES, named3[1])) {
        body += CLASSES[named3[1]], at2 += named3[0].length;
        continue;
      }
      let isRange = pattern[at2] === "-" && !isFirst && pattern[at2 + 1] !== "]";
      body += isRange ? "-" : pattern[at2].replace(/[\\\]^[-]/, "\\$&"), at2++;
    }
  }, expressionOf = (pattern, isFirst = !0) => {
    let text3 = "", mayBeDot = !isFirst;
    for (let at2 = 0; at2 < pattern.length; at2++) {
      let letter = pattern[at2], guard = mayBeDot ? "" : "(?!\\.)";
      if (mayBeDot = !0, "!?+*@".includes(letter) && pattern[at2 + 1] === "(") {
        let end = closingOf(pattern, at2 + 1, "(", ")");
        if (end >= 0) {
          let choices = splitOutside(pattern.slice(at2 + 2, end), "|").map((part) => expressionOf(part, !1)).join("|"), rest = expressionOf(pattern.slice(end + 1), !1);
          return letter === "!" ? `${text3}${guard}(?!(?:${choices})${rest}$)[^/]*?${rest}` : `${text3}${guard}(?:${choices})${letter === "@" ? "" : letter}${rest}`;
        }
      }
      let bracket = letter === "[" ? bracketAt(pattern, at2) : void 0;
      if (bracket !== void 0)
        text3 += guard + bracket.text, at2 = bracket.end;
      else if (letter === "*") {
        for (; pattern[at2 + 1] === "*" && pattern[at2 + 2] !== "("; ) at2++;
        text3 += `${guard}[^/]*?`;
      } else letter === "?" ? text3 += `${guard}[^/]` : text3 += escape3(letter);
    }
    return text3;
  }, matchesParts = (parts, patterns) => {
    if (patterns.length === 0) return parts.length === 0 || parts.length === 1 && parts[0] === "";
    let [first, ...rest] = patterns;
    if (first !== "**") return parts.length > 0 && first.test(parts[0]) && matchesParts(parts.slice(1), rest);
    for (let taken = rest.length === 0 ? 1 : 0; taken <= parts.length; taken++) {
      if (taken > 0 && parts[taken - 1].startsWith(".")) return !1;
      if (matchesParts(parts.slice(taken), rest)) return !0;
    }
    return !1;
  }, matchesGlob = (path2, pattern) => {
    let parts = path2.split(/\/+/);
    return expandBraces(pattern.replaceAll("\\", "/")).some((one) => {
      let compiled = one.split(/\/+/).filter((piece, at2, all3) => piece !== "**" || all3[at2 - 1] !== "**").map((piece) => piece === "**" ? piece : new RegExp(`^${piece === "*" ? "(?!\\.)[^/]+" : expressionOf(piece)}$`, "su"));
      return matchesParts(parts, compiled);
    });
  };

  // src/path-win32.js
  init_util();
  var isSeparator = (character) => character === "\\" || character === "/", hasDrive = (path2) => /^[a-z]:/i.test(path2), NETWORK_ROOT = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)/, check = (name2, value) => {
    if (typeof value != "string") throw invalidType(name2, "string", value);
  }, splitRoot = (path2) => {
    let network = NETWORK_ROOT.exec(path2);
    if (network !== null)
      return { device: `\\\\${network[1]}\\${network[2]}`, isAbsolute: !0, rest: path2.slice(network[0].length) };
    if (isSeparator(path2[0])) return { device: "", isAbsolute: !0, rest: path2.slice(1) };
    if (!hasDrive(path2)) return { device: "", isAbsolute: !1, rest: path2 };
    let isAbsolute2 = isSeparator(path2[2]);
    return { device: path2.slice(0, 2), isAbsolute: isAbsolute2, rest: path2.slice(isAbsolute2 ? 3 : 2) };
  }, rootLength = (path2) => {
    let network = NETWORK_ROOT.exec(path2);
    return network !== null ? Math.min(network[0].length + 1, path2.length) : isSeparator(path2[0]) ? 1 : hasDrive(path2) ? isSeparator(path2[2]) ? 3 : 2 : 0;
  }, resolveSegments = (path2, isAbsolute2) => {
    let kept = [];
    for (let segment of path2.split(/[\\/]+/))
      segment === "" || segment === "." || (segment !== ".." ? kept.push(segment) : kept.length > 0 && kept.at(-1) !== ".." ? kept.pop() : isAbsolute2 || kept.push(".."));
    return kept.join("\\");
  }, normalize = (path2) => {
    if (check("path", path2), path2 === "") return ".";
    if (path2 === ":") return path2;
    let { device, isAbsolute: isAbsolute2, rest } = splitRoot(path2), tail = resolveSegments(rest, isAbsolute2);
    return tail === "" && !isAbsolute2 && (tail = "."), tail !== "" && isSeparator(path2.at(-1)) && rest !== "" && (tail += "\\"), device === "" && !isAbsolute2 && (hasDrive(tail) || /:([\\/]|$)/.test(path2)) && (tail = `.\\${tail}`), device + (isAbsolute2 ? "\\" : "") + tail;
  }, isAbsolute = (path2) => (check("path", path2), isSeparator(path2[0]) || hasDrive(path2) && isSeparator(path2[2])), join = (...parts) => {
    for (let part of parts) check("path", part);
    let given = parts.filter((part) => part !== "");
    if (given.length === 0) return ".";
    let joined2 = given.join("\\"), isNetwork = /^[\\/]{2}[^\\/]/.test(given[0]);
    return normalize(isNetwork ? joined2 : joined2.replace(/^[\\/]{2,}/, "\\"));
  }, directoryOf = (device) => {
    let directory = (device !== "" ? host.env[`=${device}`] : void 0) ?? host.cwd();
    return device !== "" && directory.slice(0, 2).toLowerCase() !== device.toLowerCase() && directory[2] === "\\" ? `${device}\\` : directory;
  }, resolve = (...parts) => {
    let [device, tail, isRooted] = ["", "", !1], add2 = (path2) => {
      if (path2 === "") return;
      let root2 = splitRoot(path2);
      if (root2.device !== "") {
        if (device === "") device = root2.device;
        else if (device.toLowerCase() !== root2.device.toLowerCase()) return;
      }
      isRooted || (tail = `${root2.rest}\\${tail}`, isRooted = root2.isAbsolute);
    };
    for (let at2 = parts.length - 1; at2 >= 0 && !(isRooted && device !== ""); at2--)
      check(`paths[${at2}]`, parts[at2]), add2(parts[at2]);
    isRooted && device !== "" || add2(directoryOf(device));
    let resolved = resolveSegments(tail, isRooted);
    return device + (isRooted ? "\\" : "") + resolved || ".";
  }, relative = (from, to2) => {
    check("from", from), check("to", to2);
    let [start3, end] = [resolve(from), resolve(to2)];
    if (start3.toLowerCase() === end.toLowerCase()) return "";
    let segmentsOf = (path2) => path2.split("\\").filter((segment) => segment !== ""), [there, here] = [segmentsOf(end), segmentsOf(start3)], common = 0;
    for (; common < Math.min(here.length, there.length) && here[common].toLowerCase() === there[common].toLowerCase(); ) common++;
    return common === 0 && here.length > 0 && there.length > 0 ? end : [...here.slice(common).fill(".."), ...there.slice(common)].join("\\");
  }, toNamespacedPath = (path2) => {
    if (typeof path2 != "string" || path2 === "") return path2;
    let resolved = resolve(path2);
    return /^\\\\[^?.]/.test(resolved) ? `\\\\?\\UNC\\${resolved.slice(2)}` : /^[a-z]:\\/i.test(resolved) ? `\\\\?\\${resolved}` : resolved.length <= 2 ? path2 : resolved;
  }, lastSegment = (path2, start3) => {
    let end = path2.length;
    for (; end > start3 && isSeparator(path2[end - 1]); ) end--;
    let begin3 = end;
    for (; begin3 > start3 && !isSeparator(path2[begin3 - 1]); ) begin3--;
    return { begin: begin3, end };
  }, dirname = (path2) => {
    check("path", path2);
    let root2 = rootLength(path2), { begin: begin3 } = lastSegment(path2, root2);
    return begin3 > root2 ? path2.slice(0, begin3 - 1) : root2 === 0 ? "." : path2.slice(0, root2);
  }, baseOf = (path2) => {
    let { begin: begin3, end } = lastSegment(path2, hasDrive(path2) ? 2 : 0);
    return path2.slice(begin3, end);
  }, basename = (path2, suffix) => {
    suffix !== void 0 && check("suffix", suffix), check("path", path2);
    let base = baseOf(path2);
    return suffix === void 0 || suffix === "" || suffix === path2 ? suffix === path2 ? "" : base : base.endsWith(suffix) && base !== suffix ? base.slice(0, -suffix.length) : base;
  }, extensionOf = (base) => {
    let dot = base.lastIndexOf(".");
    return dot <= 0 || base === ".." ? "" : base.slice(dot);
  }, extname = (path2) => (check("path", path2), extensionOf(baseOf(path2))), parse3 = (path2) => {
    check("path", path2);
    let length = rootLength(path2), root2 = path2.slice(0, length), { begin: begin3, end } = lastSegment(path2, length), base = path2.slice(begin3, end), ext = extensionOf(base), dir = begin3 > length ? path2.slice(0, begin3 - 1) : root2;
    return { root: root2, dir, base, ext, name: base.slice(0, base.length - ext.length) };
  }, format2 = (parts) => {
    if (parts === null || typeof parts != "object") throw invalidType("pathObject", "object", parts);
    let directory = parts.dir || parts.root, extension = parts.ext && !parts.ext.startsWith(".") ? `.${parts.ext}` : parts.ext, base = parts.base || `${parts.name || ""}${extension || ""}`;
    return directory ? directory === parts.root ? `${directory}${base}` : `${directory}\\${base}` : base;
  }, path_win32_default = {
    resolve,
    normalize,
    isAbsolute,
    join,
    relative,
    toNamespacedPath,
    dirname,
    basename,
    extname,
    format: format2,
    parse: parse3,
    sep: "\\",
    delimiter: ";",
    _makeLong: toNamespacedPath
  };

  // src/path.js
  init_util();
  var check2 = (name2, value) => {
    if (typeof value != "string") throw invalidType(name2, "string", value);
  }, replace = (functions) => {
    for (let [name2, { value }] of Object.entries(Object.getOwnPropertyDescriptors(functions)))
      import_path_browserify.default[name2] = Object.defineProperty(value, "length", { value: import_path_browserify.default[name2].length, configurable: !0 });
  }, checked = (name2, ...wanted) => {
    let work2 = import_path_browserify.default[name2], checks = (...given) => (wanted.forEach((argument, at2) => check2(argument, given[at2])), work2(...given));
    replace({ [name2]: Object.defineProperty(checks, "name", { value: name2, configurable: !0 }) });
  };
  for (let name2 of ["normalize", "isAbsolute", "dirname", "extname", "parse"]) checked(name2, "path");
  checked("relative", "from", "to");
  var { basename: basename2, join: join2, resolve: resolve2 } = import_path_browserify.default;
  replace({
    basename(name2, suffix) {
      return suffix !== void 0 && check2("suffix", suffix), check2("path", name2), basename2(name2, suffix);
    },
    join(...parts) {
      for (let part of parts) check2("path", part);
      return join2(...parts);
    },
    resolve(...parts) {
      for (let at2 = parts.length - 1; at2 >= 0; at2--)
        if (check2(`paths[${at2}]`, parts[at2]), parts[at2].startsWith("/")) return resolve2(...parts.slice(at2));
      return resolve2(...parts);
    },
    format(parts) {
      if (parts === null || typeof parts != "object") throw invalidType("pathObject", "object", parts);
      let directory = parts.dir || parts.root, extension = parts.ext && !parts.ext.startsWith(".") ? `.${parts.ext}` : parts.ext, base = parts.base || `${parts.name || ""}${extension || ""}`;
      return directory ? directory === parts.root ? `${directory}${base}` : `${directory}/${base}` : base;
    }
  });
  var toldOfGlob = !1;
  import_path_browserify.default.matchesGlob = (name2, pattern) => (check2("path", name2), check2("pattern", pattern), toldOfGlob || emitWarning(Object.assign(new Error("glob is an experimental feature and might change at any time"), { name: "ExperimentalWarning" })), toldOfGlob = !0, matchesGlob(name2, pattern));
  import_path_browserify.default.posix = import_path_browserify.default;
  import_path_browserify.default.toNamespacedPath = (name2) => name2;
  import_path_browserify.default.win32 = path_win32_default;
  Object.assign(path_win32_default, { win32: path_win32_default, posix: import_path_browserify.default });
  var path_default = import_path_browserify.default;

  // src/url.js
  init_util();
  var { URL: URL2, URLSearchParams: URLSearchParams2 } = globalThis, fileURLToPath = (given) => {
    if (typeof given != "string" && !(given instanceof URL2)) throw invalidType("path", "string or an instance of URL", given);
    let url = new URL2(given);
    if (url.protocol !== "file:") throw codedError(TypeError, "ERR_INVALID_URL_SCHEME", "The URL must be of scheme file");
    if (url.hostname !== "") throw codedError(TypeError, "ERR_INVALID_FILE_URL_HOST", 'File URL host must be "localhost" or empty on linux');
    if (/%2f/i.test(url.pathname)) throw codedError(TypeError, "ERR_INVALID_FILE_URL_PATH", "File URL path must not include encoded / characters");
    return decodeURIComponent(url.pathname);
  }, pathToFileURL = (file) => {
    if (typeof file != "string") throw invalidType("path", "string", file);
    let at2 = path_default.resolve(host.cwd(), file) + (file.length > 1 && file.endsWith("/") ? "/" : "");
    return new URL2(`file://${encodeURI(at2).replace(/[?#]/g, encodeURIComponent)}`);
  }, format3 = (given, options) => {
    if (!(given instanceof URL2)) return import_url.default.format(given);
    let url = new URL2(given.href);
    return options?.fragment === !1 && (url.hash = ""), options?.search === !1 && (url.search = ""), options?.auth === !1 && (url.username = url.password = ""), !options?.unicode || url.hostname === "" ? url.href : url.href.replace(url.hostname, host.native.domainToUnicode(url.hostname));
  }, urlToHttpOptions = (url) => ({
    __proto__: null,
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    hash: url.hash,
    search: url.search,
    pathname: url.pathname,
    path: url.pathname + url.search,
    href: url.href,
    ...url.port === "" ? {} : { port: Number(url.port) },
    ...url.username === "" && url.password === "" ? {} : { auth: `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` }
  }), url_default = {
    Url: import_url.default.Url,
    parse(text3, ...rest) {
      if (text3 instanceof import_url.default.Url) return text3;
      if (typeof text3 != "string") throw invalidType("url", "string", text3);
      return import_url.default.parse(text3, ...rest);
    },
    resolve: import_url.default.resolve,
    resolveObject: import_url.default.resolveObject,
    format: format3,
    URL: URL2,
    URLSearchParams: URLSearchParams2,
    domainToASCII: host.native.domainToAscii,
    domainToUnicode: host.native.domainToUnicode,
    fileURLToPath,
    pathToFileURL,
    urlToHttpOptions
  };

  // src/fs.js
  var { fs: files2, native: native5, toPath: toPath3 } = host, { O_RDONLY: O_RDONLY2 } = descriptors_exports, encodingOf = (options) => {
    let encoding = typeof options == "string" ? options : options?.encoding;
    if (encoding == null || encoding === "buffer") return null;
    if (!Buffer2.isEncoding(encoding)) throw codedError(TypeError, "ERR_INVALID_ARG_VALUE", `The argument 'encoding' is invalid encoding. Received '${encoding}'`);
    return encoding;
  }, contents = (data, options) => {
    if (typeof data == "string") {
      let encoding = encodingOf(options);
      return encoding === null || /^utf-?8$/i.test(encoding) ? data : new Uint8Array(Buffer2.from(data, encoding));
    }
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    throw invalidType("data", "string or an instance of Buffer, TypedArray, or DataView", data);
  }, flagOf = (options, standard) => (typeof options == "object" ? options?.flag : void 0) ?? standard, checkOptions = (options) => {
    if (options != null && !["string", "object", "function"].includes(typeof options)) throw invalidType("options", "one of type string or object", options);
  }, withOpened = (path2, flags, mode, work2) => {
    let fd = open(path2, flags, mode);
    try {
      return work2(fd);
    } finally {
      close(fd);
    }
  }, target = (path2) => path2 instanceof FileHandle ? path2.fd : path2, stdinPaths = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"], readWhole = (path2, options, encoding) => {
    if (path2 === 0 || stdinPaths.includes(path2)) return host.readAllStdinNow();
    if (isDescriptor(path2)) return readRest(path2, encoding === null ? "fstat" : "read");
    let bits = toFlags(flagOf(options, "r"));
    return bits === O_RDONLY2 ? files2.readBytes(path2) : withOpened(path2, bits, void 0, (fd) => readRest(fd));
  }, writeWhole = (path2, data, options, standard) => {
    checkOptions(options);
    let given = contents(data, options), bytes = () => typeof given == "string" ? native5.encodeUtf8(given) : given;
    if (isDescriptor(path2)) {
      writeBytes(path2, bytes());
      return;
    }
    let flags = flagOf(options, standard), mode = toMode(options?.mode);
    mode === void 0 && (flags === "w" || flags === "wx") ? files2.writeFile(path2, given, { flag: flags }) : mode === void 0 && flags === "a" ? files2.appendFile(path2, given) : withOpened(path2, flags, mode, (fd) => writeBytes(fd, bytes()));
  }, checkApart = (source, target2) => {
    let [inner, outer] = [target2, source].map((given) => host.absolutePath(toPath3(given, "cp")));
    if (!`${inner}/`.startsWith(outer === "/" ? "/" : `${outer}/`)) return;
    let told = inner === outer ? "src and dest cannot be the same" : `cannot copy ${source} to a subdirectory of self ${target2}`, error = codedError(Error, "ERR_FS_CP_EINVAL", `Invalid src or dest: cp returned EINVAL (${told}) ${target2}`);
    throw Object.assign(error, { name: "SystemError", errno: 22, syscall: "cp", path: target2 });
  }, sync2 = {
    readFile(path2, options) {
      checkOptions(options);
      let encoding = encodingOf(options), bytes = Buffer2.from(readWhole(target(path2), options, encoding).buffer);
      return encoding === null ? bytes : bytes.toString(encoding);
    },
    writeFile: (path2, data, options) => writeWhole(target(path2), data, options, "w"),
    appendFile: (path2, data, options) => writeWhole(target(path2), data, options, "a"),
    exists: (path2) => {
      try {
        return files2.exists(path2);
      } catch {
        return !1;
      }
    },
    stat(path2, options) {
      return statOf(path2, options, "stat", !0);
    },
    lstat(path2, options) {
      return statOf(path2, options, "lstat", !1);
    },
    fstat(fd, options) {
      return fd === 0 || fd === 1 || fd === 2 ? pipeStats(options) : statsOf(native5.stat(pathOf(fd, "fstat"), !0), options);
    },
    readdir(path2, options) {
      return files2.readdir(path2, options);
    },
    mkdir(path2, options) {
      let { recursive = !1 } = typeof options == "object" && options !== null ? options : {};
      if (typeof recursive != "boolean") throw invalidType("options.recursive", "boolean", recursive);
      let first;
      if (recursive)
        for (let at2 = toPath3(path2, "mkdir"); at2.length > 1 && !sync2.exists(at2); at2 = at2.slice(0, at2.lastIndexOf("/")) || "/") first = at2;
      files2.mkdir(path2, { recursive, mode: toMode(typeof options == "object" ? options?.mode : options) });
      let base = `${host.cwd()}/`;
      return first?.startsWith(base) && !String(path2).startsWith("/") ? first.slice(base.length) : first;
    },
    mkdtemp(prefix) {
      let letters = Buffer2.from(native5.randomBytes(6)).toString("hex").slice(0, 6);
      try {
        files2.mkdir(prefix + letters, { mode: 448 });
      } catch (error) {
        throw typeof error?.code == "string" ? host.fileError(error.code, "mkdtemp", `${prefix}XXXXXX`) : error;
      }
      return prefix + letters;
    },
    rm(path2, options) {
      if (!options?.recursive && sync2.stat(path2, { throwIfNoEntry: !1 })?.isDirectory() && !files2.lstat(path2).isSymbolicLink()) {
        let message = `Path is a directory: rm returned EISDIR (is a directory) ${path2}`;
        throw Object.assign(codedError(Error, "ERR_FS_EISDIR", message), { name: "SystemError", errno: 21, syscall: "rm", path: path2 });
      }
      files2.rm(path2, options);
    },
    opendir: (path2, options) => new Dir(path2, options),
    rmdir: (path2, options) => options?.recursive ? files2.rm(path2, { recursive: !0 }) : files2.rmdir(path2),
    unlink: (path2) => files2.unlink(path2),
    rename: (from, to2) => files2.rename(from, to2),
    copyFile(from, to2, mode) {
      if (mode & constants2.COPYFILE_EXCL && sync2.exists(to2)) throw host.fileError("EEXIST", "copyfile", String(from), String(to2));
      files2.copyFile(from, to2);
    },
    cp(from, to2, options = {}) {
      let kind = files2.lstat(from);
      if (kind.isDirectory()) {
        if (checkApart(from, to2), !options.recursive) {
          let error = codedError(Error, "ERR_FS_EISDIR", `Path is a directory: cp returned EISDIR (${from} is a directory (not copied)) ${from}`);
          throw Object.assign(error, { name: "SystemError", errno: 22, syscall: "cp", path: from });
        }
        files2.mkdir(to2, { recursive: !0 });
        for (let name2 of files2.readdir(from)) sync2.cp(`${from}/${name2}`, `${to2}/${name2}`, options);
      } else if (options.filter === void 0 || options.filter(from, to2)) {
        if (sync2.exists(to2) && options.force === !1) {
          if (options.errorOnExist) throw codedError(Error, "ERR_FS_CP_EEXIST", `Target already exists: ${to2}`);
          return;
        }
        files2.mkdir(toPath3(to2, "cp").replace(/\/[^/]*$/, "") || "/", { recursive: !0 }), kind.isSymbolicLink() ? files2.symlink(files2.readlink(from), to2) : files2.copyFile(from, to2);
      }
    },
    // Permission bits do not restrict reading and writing here.
    access(path2, mode = constants2.F_OK) {
      let stats = statOf(path2, void 0, "access", !0);
      if (mode & constants2.X_OK && stats.isFile() && !(stats.mode & 73)) throw host.fileError("EACCES", "access", toPath3(path2, "access"));
    },
    symlink: (target2, path2) => files2.symlink(target2, path2),
    // As on a file system without hard links, a file has one name.
    link(from, to2) {
      throw host.fileError("EPERM", "link", toPath3(from, "existingPath"), toPath3(to2, "newPath"));
    },
    readlink: (path2) => files2.readlink(path2),
    realpath(path2) {
      try {
        return files2.realpath(path2);
      } catch (error) {
        throw error?.code === "ENOENT" ? host.fileError("ENOENT", "lstat", host.absolutePath(toPath3(path2, "realpath"))) : error;
      }
    },
    // As of a file system without a limit of its own.
    statfs(path2, options) {
      statOf(path2, void 0, "statfs", !0);
      let numbers2 = { type: 16914836, bsize: 4096, blocks: 2 ** 20, bfree: 2 ** 20, bavail: 2 ** 20, files: 2 ** 20, ffree: 2 ** 20 }, fields = Object.entries(numbers2).map(([name2, number]) => [name2, options?.bigint ? BigInt(number) : number]);
      return Object.assign(new StatFs(), Object.fromEntries(fields));
    },
    chmod: (path2, mode) => files2.chmod(path2, mode),
    chown() {
    },
    lchown() {
    },
    truncate(path2, length) {
      isDescriptor(path2) ? truncate(path2, length) : withOpened(path2, "r+", void 0, (fd) => truncate(fd, length));
    },
    utimes: (path2, atime, mtime) => files2.utimes(path2, atime, mtime),
    open,
    close,
    ftruncate: truncate,
    fchmod: (fd, mode) => files2.chmod(pathOf(fd, "fchmod"), mode),
    fchown: (fd) => {
      pathOf(fd, "fchown");
    },
    futimes: (fd, atime, mtime) => files2.utimes(pathOf(fd, "futime"), atime, mtime),
    fsync: (fd) => sync(fd, "fsync"),
    fdatasync: (fd) => sync(fd, "fdatasync"),
    read: read2,
    readv,
    write: write2,
    writev
  }, StatFs = class {
  }, promised = async (work2) => work2(), statOf = (path2, options, syscall, follow) => {
    let at2 = toPath3(path2, syscall);
    try {
      return statsOf(native5.stat(at2, follow), options);
    } catch (code) {
      if (options?.throwIfNoEntry === !1 && code === "ENOENT") return;
      throw typeof code == "string" ? host.fileError(code, syscall, at2) : code;
    }
  }, takesDescriptor = /* @__PURE__ */ new Set(["readFile", "writeFile", "appendFile", "truncate"]), takesNoPath = (name2) => ["mkdtemp", "exists", "close", "read", "readv", "write", "writev"].includes(name2) || /^f/.test(name2), isPath = (path2) => typeof path2 == "string" || ArrayBuffer.isView(path2) || path2 instanceof URL, checkedPath = (argument, path2) => {
    if (!isPath(path2)) throw invalidType(argument, "string or an instance of Buffer or URL", path2);
    let text3 = path2 instanceof URL ? url_default.fileURLToPath(path2) : path2;
    if (typeof text3 == "string" && text3.includes("\0")) throw invalidValue(argument, text3, "must be a string, Uint8Array, or URL without null bytes");
    return text3;
  }, firstArgument = { __proto__: null, rename: "oldPath", copyFile: "src", cp: "src", symlink: "target", link: "existingPath" };
  for (let [name2, work2] of Object.entries(sync2))
    takesNoPath(name2) || (sync2[name2] = (path2, ...rest) => {
      let isOpen2 = takesDescriptor.has(name2) && (isDescriptor(path2) || path2 instanceof FileHandle);
      return work2(isOpen2 ? path2 : checkedPath(firstArgument[name2] ?? "path", path2), ...rest);
    });
  var { F_OK, R_OK, W_OK, X_OK } = constants2, fs = { constants: constants2, F_OK, R_OK, W_OK, X_OK, Stats, Dirent: host.Dirent, Dir }, twoArguments = /* @__PURE__ */ new Set(["rename", "copyFile", "cp", "symlink", "link", "writeFile", "appendFile", "chmod", "utimes"]), withoutFrames = (error) => (error instanceof Error && typeof error.errno == "number" && Object.defineProperty(error, "stack", { value: `${error.name}: ${error.message}`, writable: !0, configurable: !0 }), error), withCallback = (name2, work2) => ({
    [name2](...values2) {
      let callback = values2.length > (twoArguments.has(name2) ? 2 : 1) || typeof values2.at(-1) == "function" ? values2.pop() : void 0;
      if (typeof callback != "function") throw invalidType("cb", "function", callback);
      let error = null, result;
      try {
        result = work2(...values2);
      } catch (thrown) {
        error = withoutFrames(thrown);
      }
      host.callLater(() => error === null ? result === void 0 ? callback(null) : callback(null, result) : callback(error));
    }
  })[name2], promises = { constants: constants2 };
  for (let [name2, work2] of Object.entries(sync2))
    fs[`${name2}Sync`] = Object.defineProperty((...values2) => work2(...values2), "name", { value: `${name2}Sync` }), name2 !== "exists" && (fs[name2] = withCallback(name2, work2)), /^(exists|f[a-z]+|close|readv?|writev?|open)$/.test(name2) || (promises[name2] = Object.defineProperty(async (...values2) => work2(...values2), "name", { value: name2 }));
  fs.exists = (path2, callback) => {
    let found = sync2.exists(path2);
    host.callLater(() => callback(found));
  };
  fs.realpathSync.native = fs.realpathSync;
  fs.read = (fd, ...rest) => {
    let callback = rest.pop(), [first] = rest, given = ArrayBuffer.isView(first) ? rest : [first?.buffer ?? Buffer2.alloc(16384), ...first == null ? [] : [first]];
    withCallback("read", () => sync2.read(fd, ...given))((error, count) => callback(error, count, given[0]));
  };
  for (let name2 of ["write", "readv", "writev"])
    fs[name2] = (fd, data, ...rest) => {
      let callback = rest.pop();
      withCallback(name2, () => sync2[name2](fd, data, ...rest))((error, count) => callback(error, count, data));
    };
  fs.watch = fs.watchFile = promises.watch = () => {
    throw codedError(Error, "ENOSYS", "files are not watched here: only this script changes them");
  };
  promises.open = async (path2, flags, mode) => new FileHandle(sync2.open(path2, flags, mode));
  promises.writeFile = {
    async writeFile(path2, data, options) {
      if (!isChunks(data) || path2 instanceof FileHandle)
        return path2 instanceof FileHandle ? path2.writeFile(data, options) : sync2.writeFile(path2, data, options);
      let handle = await promises.open(path2, options?.flag ?? "w", options?.mode);
      try {
        await handle.writeFile(data, options);
      } finally {
        await handle.close();
      }
    }
  }.writeFile;
  var { readFile } = promises;
  promises.readFile = {
    async readFile(path2, options) {
      if (path2 instanceof FileHandle || checkedPath("path", path2), options?.signal?.aborted) throw abortError(options.signal);
      return readFile(path2, options);
    }
  }.readFile;
  fs.promises = promises;
  Object.assign(fs, { createReadStream, createWriteStream, ReadStream, WriteStream, FileReadStream: ReadStream, FileWriteStream: WriteStream });
  fs.openAsBlob = async (path2, options) => new Blob([sync2.readFile(path2)], options);
  var NO_LINK_TIMES = "links have no times of their own. Use utimes, which sets the time of the file";
  Object.assign(fs, allAbsent("fs", ["lutimes", "lutimesSync"], NO_LINK_TIMES));
  promises.lutimes = async () => fs.lutimes();
  fs.unwatchFile = () => {
  };
  var fs_default = fs;

  // src/assert.js
  init_util();
  setDeepEqual(import_comparisons.isDeepStrictEqual);
  var { types: types2 } = util_default, none = /* @__PURE__ */ Symbol("none"), failed = (details) => {
    throw details.message instanceof Error ? details.message : new AssertionError(details);
  }, missing = (...names3) => codedError(TypeError, "ERR_MISSING_ARGS", `The ${names3.map((name2) => `"${name2}"`).join(" and ")} argument${names3.length > 1 ? "s" : ""} must be specified`), callText = (stack) => {
    let [, name2, line, column] = /\n\s+at (?:.*\()?([^()\n]+):(\d+):(\d+)\)?(?:\n|$)/.exec(stack) ?? [];
    if (name2 === void 0) return;
    let source = host.native.scriptText(name2);
    try {
      source ??= fs_default.readFileSync(name2, "utf8");
    } catch {
      return;
    }
    return host.native.callText(name2, source, Number(line), Number(column)) ?? void 0;
  }, holds = (caller, values2) => {
    let [value, message] = values2;
    if (value) return;
    if (message instanceof Error) throw message;
    let details = { actual: value, expected: !0, operator: "==", message, stackStartFn: caller };
    if (values2.length > 0 && message != null) throw Object.assign(new AssertionError(details), { generatedMessage: !1 });
    if (details.message = "No value argument passed to `assert.ok()`", values2.length > 0) {
      let holder = {};
      Error.captureStackTrace(holder, caller);
      let call2 = callText(holder.stack);
      details.message = call2 === void 0 ? "false == true" : `The expression evaluated to a falsy value:

  ${call2}
`;
    }
    throw Object.assign(new AssertionError(details), { generatedMessage: !0 });
  }, ok = (...values2) => holds(ok, values2), assert = (...values2) => holds(assert, values2), comparisons = {
    equal: ["==", (a2, b2) => a2 == b2 || Number.isNaN(a2) && Number.isNaN(b2)],
    notEqual: ["!=", (a2, b2) => a2 != b2 && !(Number.isNaN(a2) && Number.isNaN(b2))],
    deepEqual: ["deepEqual", import_comparisons.isDeepEqual],
    notDeepEqual: ["notDeepEqual", (a2, b2) => !(0, import_comparisons.isDeepEqual)(a2, b2)],
    deepStrictEqual: ["deepStrictEqual", import_comparisons.isDeepStrictEqual],
    notDeepStrictEqual: ["notDeepStrictEqual", (a2, b2) => !(0, import_comparisons.isDeepStrictEqual)(a2, b2)],
    strictEqual: ["strictEqual", Object.is],
    notStrictEqual: ["notStrictEqual", (a2, b2) => !Object.is(a2, b2)]
  };
  for (let [name2, [operator, compare2]] of Object.entries(comparisons))
    assert[name2] = {
      [name2](actual, expected, message) {
        if (arguments.length < 2) throw missing("actual", "expected");
        compare2(actual, expected) || failed({ actual, expected, message, operator, stackStartFn: assert[name2] });
      }
    }[name2];
  var fail = function fail2(actual, expected, message, operator) {
    let isMessage = arguments.length === 1 && actual != null;
    if (arguments.length <= 1 && ([actual, message] = [void 0, isMessage ? actual : "Failed"]), message instanceof Error) throw message;
    let standard = arguments.length === 2 ? "!=" : "fail", error = new AssertionError({ actual, expected, message, operator: operator ?? standard, stackStartFn: fail2 });
    throw arguments.length <= 1 && !isMessage && (error.generatedMessage = !0), error;
  }, Comparison = class {
    constructor(from, keys, other) {
      for (let key of keys) {
        if (!(key in from)) continue;
        let matches2 = typeof other?.[key] == "string" && types2.isRegExp(from[key]) && from[key].test(other[key]);
        this[key] = matches2 ? other[key] : from[key];
      }
    }
  }, checkProperties = (actual, expected, message, caller) => {
    let operator = caller.name;
    if (!isObject(actual))
      throw Object.assign(new AssertionError({ actual, expected, message, operator: "deepStrictEqual", stackStartFn: caller }), { operator });
    let keys = Object.keys(expected);
    if (expected instanceof Error) keys.push("name", "message");
    else if (keys.length === 0) throw invalidValue("error", expected, "may not be an empty object");
    for (let key of keys) {
      if (typeof actual[key] == "string" && types2.isRegExp(expected[key]) && expected[key].test(actual[key]) || key in actual && (0, import_comparisons.isDeepStrictEqual)(actual[key], expected[key])) continue;
      message && failed({ actual, expected, message, operator, stackStartFn: caller });
      let shown4 = { actual: new Comparison(actual, keys), expected: new Comparison(expected, keys, actual) };
      throw Object.assign(new AssertionError({ ...shown4, operator: "deepStrictEqual", stackStartFn: caller }), { actual, expected, operator });
    }
  }, isErrorClass = (value) => typeof value == "function" && (value === Error || Error.isPrototypeOf(value)), otherClass = (actual, expected) => {
    let head = `The error is expected to be an instance of "${expected.name}". Received `;
    if (!types2.isNativeError(actual)) return `${head}"${inspect(actual, { depth: -1 })}"`;
    let name2 = actual.constructor?.name || actual.name, told = expected.name === name2 ? "an error with identical name but a different prototype." : `"${name2}"`;
    return `${head}${told}${actual.message ? `

Error message:

${actual.message}` : ""}`;
  }, mismatch = (actual, expected) => {
    if (types2.isRegExp(expected)) {
      let text3 = String(actual);
      return expected.exec(text3) === null ? `The input did not match the regular expression ${inspect(expected)}. Input:

${inspect(text3)}
` : void 0;
    }
    if (expected.prototype !== void 0 && actual instanceof expected) return;
    if (isErrorClass(expected)) return otherClass(actual, expected);
    let result = Reflect.apply(expected, {}, [actual]);
    if (result === !0) return;
    let caught = types2.isNativeError(actual) ? `

Caught error:

${actual}` : "";
    return `The ${expected.name ? `"${expected.name}" ` : ""}validation function is expected to return "true". Received ${inspect(result)}${caught}`;
  }, expectsError = (caller, actual, ...given) => {
    let [error, message] = given, expectedKinds = "of type function or an instance of Error, RegExp, or Object";
    if (typeof error == "string") {
      if (given.length === 2) throw invalidType("error", expectedKinds, error);
      if ((isObject(actual) ? actual.message : actual) === error) {
        let what = isObject(actual) ? `error message "${actual.message}"` : `error "${actual}"`;
        throw codedError(TypeError, "ERR_AMBIGUOUS_ARGUMENT", `The "error/message" argument is ambiguous. The ${what} is identical to the message.`);
      }
      [error, message] = [void 0, error];
    } else if (error != null && typeof error != "object" && typeof error != "function") throw invalidType("error", expectedKinds, error);
    if (actual === none) {
      let kind = caller === assert.rejects ? "rejection" : "exception", what = `${error?.name ? ` (${error.name})` : ""}${message ? `: ${message}` : "."}`;
      failed({ actual: void 0, expected: error, operator: caller.name, message: `Missing expected ${kind}${what}`, stackStartFn: caller });
    }
    if (!error) return;
    if (typeof error != "function" && !types2.isRegExp(error)) return checkProperties(actual, error, message, caller);
    let reason = mismatch(actual, error);
    if (reason === void 0) return;
    if (message instanceof Error) throw message;
    let failure3 = new AssertionError({ actual, expected: error, message: message || reason, operator: caller.name, stackStartFn: caller });
    throw Object.assign(failure3, { generatedMessage: !message });
  }, isExpected = (actual, expected) => {
    if (types2.isRegExp(expected)) return expected.test(String(actual));
    if (typeof expected != "function") throw invalidType("expected", "of type function or an instance of RegExp", expected);
    return expected.prototype !== void 0 && actual instanceof expected ? !0 : !isErrorClass(expected) && Reflect.apply(expected, {}, [actual]) === !0;
  }, expectsNoError = (caller, actual, error, message) => {
    if (actual === none) return;
    if (typeof error == "string" && ([error, message] = [void 0, error]), error && !isExpected(actual, error)) throw actual;
    let text3 = `Got unwanted ${caller === assert.doesNotReject ? "rejection" : "exception"}${message ? `: ${message}` : "."}
Actual message: "${actual?.message}"`;
    failed({ actual, expected: error, operator: caller.name, message: text3, stackStartFn: caller });
  }, thrownBy = (work2) => {
    if (typeof work2 != "function") throw invalidType("fn", "function", work2);
    try {
      work2();
    } catch (error) {
      return error;
    }
    return none;
  }, isPromise = (value) => types2.isPromise(value) || isObject(value) && typeof value.then == "function" && typeof value.catch == "function", rejectionOf = async (given) => {
    let promise = typeof given == "function" ? given() : given;
    if (!isPromise(promise)) {
      if (typeof given != "function") throw invalidType("promiseFn", "of type function or an instance of Promise", given);
      let told = isObject(promise) ? `an instance of ${promise.constructor?.name}` : promise == null ? `${promise}` : `type ${typeof promise} (${inspect(promise)})`;
      throw codedError(TypeError, "ERR_INVALID_RETURN_VALUE", `Expected instance of Promise to be returned from the "promiseFn" function but got ${told}.`);
    }
    try {
      await promise;
    } catch (error) {
      return error;
    }
    return none;
  }, matches = (text3, pattern, message, caller) => {
    if (!types2.isRegExp(pattern)) throw invalidType("regexp", "an instance of RegExp", pattern);
    let isMatch = caller === assert.match;
    if (typeof text3 == "string" && pattern.exec(text3) !== null === isMatch) return;
    if (message instanceof Error) throw message;
    let reason = typeof text3 == "string" ? `${isMatch ? "The input did not match the regular expression" : "The input was expected to not match the regular expression"} ${inspect(pattern)}. Input:

${inspect(text3)}
` : `The "string" argument must be of type string. Received type ${typeof text3} (${inspect(text3)})`, failure3 = new AssertionError({ actual: text3, expected: pattern, message: message || reason, operator: caller.name, stackStartFn: caller });
    throw Object.assign(failure3, { generatedMessage: !message });
  }, ifError = (given) => {
    if (given == null) return;
    let told = isObject(given) && typeof given.message == "string" ? given.message || given.constructor?.name || "" : inspect(given);
    throw new AssertionError({ actual: given, expected: null, operator: "ifError", message: `ifError got unwanted exception: ${told}`, stackStartFn: ifError });
  };
  Object.assign(assert, {
    AssertionError,
    ok,
    fail,
    ifError,
    throws: function throws(work2, ...given) {
      expectsError(throws, thrownBy(work2), ...given);
    },
    doesNotThrow: function doesNotThrow(work2, ...given) {
      expectsNoError(doesNotThrow, thrownBy(work2), ...given);
    },
    rejects: async function rejects(promise, ...given) {
      expectsError(rejects, await rejectionOf(promise), ...given);
    },
    doesNotReject: async function doesNotReject(promise, ...given) {
      expectsNoError(doesNotReject, await rejectionOf(promise), ...given);
    },
    match: (text3, pattern, message) => matches(text3, pattern, message, assert.match),
    doesNotMatch: (text3, pattern, message) => matches(text3, pattern, message, assert.doesNotMatch)
  });
  var strict = (...values2) => holds(strict, values2);
  assert.strict = Object.assign(strict, assert, {
    equal: assert.strictEqual,
    deepEqual: assert.deepStrictEqual,
    notEqual: assert.notStrictEqual,
    notDeepEqual: assert.notDeepStrictEqual
  });
  strict.strict = strict;
  assert.CallTracker = absent("assert", "CallTracker", "use `mock.fn()` of `node:test`");
  assert.strict.CallTracker = assert.CallTracker;
  var assert_default = assert;

  // src/atomics.js
  init_util();
  var { native: native6 } = host, { clearTimeout: stop, setTimeout: start } = globalThis, INTEGERS = ["Int8Array", "Uint8Array", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array", "BigInt64Array", "BigUint64Array"], tagOf2 = Reflect.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get, nameOf = (value) => Object.prototype.toString.call(value), checkArray = (array, names3, what) => {
    let name2 = Reflect.apply(tagOf2, array, []);
    if (!names3.includes(name2)) throw new TypeError(`${nameOf(array)} is not an ${what} typed array.`);
    return name2;
  }, indexOf = (array, index) => {
    let at2 = Math.trunc(Number(index)) || 0;
    if (at2 < 0 || at2 >= array.length) throw new RangeError("Invalid atomic access index");
    return at2;
  }, valueFor = (array, value) => {
    if (checkArray(array, INTEGERS, "integer").startsWith("Big")) {
      if (typeof value == "number") throw new TypeError(`Cannot convert ${value} to a BigInt`);
      return BigInt.asIntN(64, BigInt(value));
    }
    return Math.trunc(Number(value)) || 0;
  }, operation = (name2, change) => ({
    [name2](array, index, value) {
      checkArray(array, INTEGERS, "integer");
      let at2 = indexOf(array, index), given = valueFor(array, value), before = array[at2];
      return array[at2] = change(before, given), before;
    }
  })[name2], waiting = [], checkWait = (array, index) => {
    if (checkArray(array, ["Int32Array", "BigInt64Array"], "int32 or BigInt64"), !(array.buffer instanceof SharedArrayBuffer)) throw new TypeError(`${nameOf(array)} is not a shared typed array.`);
    return indexOf(array, index);
  }, timeOf = (timeout) => {
    let millis = timeout === void 0 ? NaN : Number(timeout);
    return Number.isNaN(millis) ? 1 / 0 : Math.max(millis, 0);
  }, Atomics = {
    add: operation("add", (before, value) => before + value),
    and: operation("and", (before, value) => before & value),
    compareExchange(array, index, expected, value) {
      checkArray(array, INTEGERS, "integer");
      let at2 = indexOf(array, index), [wanted, next] = new array.constructor([valueFor(array, expected), valueFor(array, value)]), before = array[at2];
      return before === wanted && (array[at2] = next), before;
    },
    exchange: operation("exchange", (_2, value) => value),
    isLockFree: (size) => [1, 2, 4, 8].includes(Math.trunc(Number(size))),
    load(array, index) {
      return checkArray(array, INTEGERS, "integer"), array[indexOf(array, index)];
    },
    notify(array, index, count = 1 / 0) {
      checkArray(array, ["Int32Array", "BigInt64Array"], "int32 or BigInt64");
      let at2 = indexOf(array, index), woken = 0;
      for (; woken < Number(count); ) {
        let found = waiting.findIndex((one) => one.buffer === array.buffer && one.place === array.byteOffset + at2 * array.BYTES_PER_ELEMENT);
        if (found < 0) break;
        let [{ wake }] = waiting.splice(found, 1);
        wake(), woken++;
      }
      return woken;
    },
    or: operation("or", (before, value) => before | value),
    store(array, index, value) {
      checkArray(array, INTEGERS, "integer");
      let at2 = indexOf(array, index), given = valueFor(array, value);
      return array[at2] = given, given;
    },
    sub: operation("sub", (before, value) => before - value),
    wait(array, index, value, timeout) {
      let at2 = checkWait(array, index);
      if (array[at2] !== valueFor(array, value)) return "not-equal";
      let millis = timeOf(timeout);
      if (millis === 1 / 0)
        throw codedError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "Atomics.wait would wait forever: a script is one thread, and nobody can notify it. Await a promise, or use Atomics.waitAsync");
      for (let end = native6.now() + millis; native6.now() < end; ) ;
      return "timed-out";
    },
    waitAsync(array, index, value, timeout) {
      let at2 = checkWait(array, index);
      if (array[at2] !== valueFor(array, value)) return { async: !1, value: "not-equal" };
      let millis = timeOf(timeout);
      return millis === 0 ? { async: !1, value: "timed-out" } : { async: !0, value: new Promise((resolve3) => {
        let one = { buffer: array.buffer, place: array.byteOffset + at2 * array.BYTES_PER_ELEMENT }, timer = millis === 1 / 0 ? void 0 : start(() => (waiting.splice(waiting.indexOf(one), 1), resolve3("timed-out")), millis).unref();
        one.wake = () => (stop(timer), resolve3("ok")), waiting.push(one);
      }) };
    },
    xor: operation("xor", (before, value) => before ^ value)
  }, shared = Object.create(Object.prototype, { [Symbol.toStringTag]: { value: "Atomics", configurable: !0 } });
  for (let [name2, value] of Object.entries(Atomics)) Object.defineProperty(shared, name2, { value, writable: !0, configurable: !0 });
  var atomics_default = shared;

  // src/async_hooks.js
  init_util();
  var { asyncContext, setAsyncContext } = host.native, within = (stores, callback, self2, values2) => {
    let before = asyncContext();
    setAsyncContext(stores);
    try {
      return Reflect.apply(callback, self2, values2);
    } finally {
      setAsyncContext(before);
    }
  }, isUsed = !1, AsyncLocalStorage = class _AsyncLocalStorage {
    #isEnabled = !0;
    constructor() {
      isUsed || host.bindCallbacks(_AsyncLocalStorage.bind), isUsed = !0;
    }
    // Returns a function that runs with the stores of the place where it was bound, even if there were none.
    static bind(callback) {
      if (typeof callback != "function") throw invalidType("fn", "function", callback);
      let stores = asyncContext();
      return Object.defineProperty(function(...values2) {
        return within(stores, callback, this, values2);
      }, "length", { value: callback.length, configurable: !0 });
    }
    static snapshot() {
      return _AsyncLocalStorage.bind((callback, ...values2) => callback(...values2));
    }
    getStore() {
      return this.#isEnabled ? asyncContext()?.get(this) : void 0;
    }
    // Returns the current stores with another one for this storage.
    #with(store) {
      return this.#isEnabled = !0, new Map(asyncContext()).set(this, store);
    }
    run(store, callback, ...values2) {
      return within(this.#with(store), callback, void 0, values2);
    }
    enterWith(store) {
      setAsyncContext(this.#with(store));
    }
    exit(callback, ...values2) {
      return this.run(void 0, callback, ...values2);
    }
    disable() {
      this.#isEnabled = !1;
    }
  }, AsyncResource = class {
    #run;
    constructor(type) {
      this.#run = AsyncLocalStorage.snapshot(), Object.defineProperty(this, "type", { value: type });
    }
    static bind(callback) {
      return AsyncLocalStorage.bind(callback);
    }
    bind(callback) {
      if (typeof callback != "function") throw invalidType("fn", "function", callback);
      let resource = this;
      return Object.defineProperty(function(...values2) {
        return resource.runInAsyncScope(callback, this, ...values2);
      }, "length", { value: callback.length, configurable: !0 });
    }
    runInAsyncScope(callback, self2, ...values2) {
      return this.#run(() => callback.apply(self2, values2));
    }
    emitDestroy() {
      return this;
    }
    asyncId() {
      return 1;
    }
    triggerAsyncId() {
      return 0;
    }
  };

  // src/index.js
  init_buffer();

  // src/child_process.js
  init_events();
  init_buffer();

  // src/child_process_sync.js
  init_buffer();

  // src/shell.js
  init_util();
  var CHUNK = 64 * 1024, fail3 = (message) => codedError(TypeError, "ERR_INVALID_ARG_TYPE", message), toBytes = (input) => {
    if (input == null) return new Uint8Array(0);
    if (typeof input == "string") return host.native.encodeUtf8(input);
    if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
    if (input instanceof ArrayBuffer) return new Uint8Array(input);
    throw fail3("the option `input` is a string or bytes");
  }, feed = async (running, bytes) => {
    try {
      bytes.length > 0 && await running.write(new Uint8Array(0), !1);
      for (let at2 = 0; at2 < bytes.length; at2 += CHUNK) await running.write(bytes.slice(at2, at2 + CHUNK), !1);
      await running.write(new Uint8Array(0), !0);
    } catch {
    }
  }, drain = async (running, which, show) => {
    let parts = [], length = 0;
    for (; ; ) {
      let bytes = await running.read(which);
      if (show(bytes), bytes.length === 0) break;
      parts.push(bytes), length += bytes.length;
    }
    let all3 = new Uint8Array(length), at2 = 0;
    for (let part of parts)
      all3.set(part, at2), at2 += part.length;
    return all3;
  }, pairs = (variables) => Object.entries(variables).flatMap(([name2, value]) => value === void 0 || name2 === "PWD" ? [] : [name2, String(value)]), scriptOf = (source, { args = [], cwd, env: env2 }) => {
    let directory = cwd === void 0 ? host.cwd() : host.toPath(cwd, "cwd");
    return {
      language: "shell",
      source,
      name: "shell",
      arguments: args.map(String),
      environment: pairs(env2 ?? host.env),
      directory: directory.startsWith("/") ? directory : `${host.cwd()}/${directory}`
    };
  }, begin = (source, options = {}, below) => host.runScript(scriptOf(source, options), options.signal, below), nobody = () => {
  }, collect = async (running, input, show = [nobody, nobody]) => {
    let [exitCode, stdout, stderr] = await Promise.all([
      running.exited,
      drain(running, 1, show[0]),
      drain(running, 2, show[1]),
      input === null ? void 0 : feed(running, toBytes(input))
    ]);
    return { stdout, stderr, exitCode };
  }, read3 = (options, below) => {
    if (options === void 0) return { env: host.env };
    if (options === null || typeof options != "object") throw fail3("the options of `shell` are an object");
    let env2 = options.env === void 0 ? host.env : { ...host.env, ...options.env };
    return { ...options, env: env2, signal: host.signalOf(options, below) };
  }, text = (bytes) => host.native.decodeUtf8Lossy(bytes), execute = async (command, options, below) => {
    if (typeof command != "string") throw fail3(`shell takes the text of a bash script, got ${host.inspect(command)}`);
    let { input, ...rest } = read3(options, below), { stdout, stderr, exitCode } = await collect(begin(command, rest, below), input);
    return { stdout: text(stdout), stderr: text(stderr), exitCode };
  }, ShellError = class extends Error {
    constructor(command, { stdout, stderr, exitCode }) {
      let said = stderr.trim();
      super(`exit status ${exitCode}: ${command}${said === "" ? "" : `
${said}`}`), Object.assign(this, { exitCode, stdout, stderr });
    }
  };
  Object.defineProperty(ShellError.prototype, "name", { value: "ShellError", writable: !0, configurable: !0 });
  var orThrow = (command, result) => {
    if (result.exitCode !== 0) throw new ShellError(command, result);
    return result;
  }, shell = (command, options) => execute(command, options, shell);
  shell.run = async (command, options) => orThrow(command, await execute(command, options, shell.run)).stdout;
  var quote = (value) => {
    let word2 = String(value);
    return /^[\w@%+=:,./-]+$/.test(word2) ? word2 : `'${word2.replaceAll("'", "'\\''")}'`;
  };
  shell.quote = quote;
  var word = (value) => {
    if (Array.isArray(value)) return value.map(word).join(" ");
    if (value !== null && typeof value == "object" && typeof value.raw == "string") return value.raw;
    if (typeof value == "symbol" || value === void 0 || value === null || typeof value == "function")
      throw fail3(`\`$\` takes words, got ${host.inspect(value)}`);
    return quote(value);
  }, ShellCommand = class {
    #command;
    #options;
    #throws = !0;
    #promise;
    constructor(command, options) {
      this.#command = command, this.#options = options, queueMicrotask(() => this.#begin());
    }
    #begin() {
      return this.#promise ??= execute(this.#command, this.#options, this.#begin).then(
        (result) => this.#throws ? orThrow(this.#command, result) : result
      );
    }
    #with(options) {
      if (this.#promise !== void 0) throw new Error("the command has begun already");
      return this.#options = { ...this.#options, ...options }, this;
    }
    then(...handlers) {
      return this.#begin().then(...handlers);
    }
    catch(handler) {
      return this.#begin().catch(handler);
    }
    finally(handler) {
      return this.#begin().finally(handler);
    }
    nothrow() {
      return this.#throws = !1, this;
    }
    cwd(directory) {
      return this.#with({ cwd: directory });
    }
    env(variables) {
      return this.#with({ env: variables });
    }
    input(data) {
      return this.#with({ input: data });
    }
    async text() {
      return (await this.#begin()).stdout;
    }
    async lines() {
      let lines = (await this.text()).split(`
`);
      return lines.at(-1) === "" && lines.pop(), lines;
    }
    async json() {
      return JSON.parse(await this.text());
    }
  }, $ = (strings, ...values2) => {
    if (!Array.isArray(strings?.raw)) throw fail3("`$` is a template tag: $`ls ${directory}`");
    let command = strings[0];
    for (let i2 = 0; i2 < values2.length; i2++) command += word(values2[i2]) + strings[i2 + 1];
    return new ShellCommand(command, {});
  };

  // src/commands.js
  init_process();
  init_signals();
  init_util();
  var MAX_BUFFER = 1024 * 1024, MISSING = 127, NODE = `${process_default.execPath}() { node "$@"; }; `, nameOf2 = (file) => file === process_default.execPath ? "node" : file, asks = (file) => `command -v -- ${quote(nameOf2(file))}`, commandLine = (file, args, options) => {
    let name2 = nameOf2(file);
    return options.shell ? `${NODE}${[name2, ...args].join(" ")}` : `${asks(file)} >/dev/null 2>&1 || exit ${MISSING}; ${[name2, ...args].map(quote).join(" ")}`;
  }, isObject2 = (value) => value !== null && typeof value == "object" && !Array.isArray(value), checkZeros = (value, name2) => {
    if (typeof value == "string" && value.includes("\0")) throw invalidValue(name2, value, "must be a string without null bytes");
  }, checkText2 = (value, name2) => {
    if (typeof value != "string") throw invalidType(name2, "string", value);
    checkZeros(value, name2);
  }, toSignal = (given) => {
    if (given == null) return "SIGTERM";
    if (typeof given != "string" && typeof given != "number") throw invalidType("options.killSignal", "one of type string or number", given);
    let name2 = typeof given == "number" ? SIGNALS[given - 1] : given.toUpperCase();
    if (!SIGNALS.includes(name2)) throw codedError(TypeError, "ERR_UNKNOWN_SIGNAL", `Unknown signal: ${given}`);
    return name2;
  }, checkOptions2 = ({ cwd, shell: shell2, argv0, timeout, maxBuffer, killSignal }) => {
    if (cwd != null && typeof cwd != "string" && !(cwd instanceof URL) && !ArrayBuffer.isView(cwd))
      throw invalidType("options.cwd", "string or an instance of Buffer or URL", cwd);
    if (checkZeros(cwd, "options.cwd"), shell2 != null && typeof shell2 != "boolean" && typeof shell2 != "string")
      throw invalidType("options.shell", "one of type boolean or string", shell2);
    if (checkZeros(shell2, "options.shell"), argv0 != null && checkText2(argv0, "options.argv0"), timeout != null && !(isWhole(timeout) && timeout >= 0)) throw outOfRange("timeout", "an unsigned integer", timeout);
    if (maxBuffer != null && !(typeof maxBuffer == "number" && maxBuffer >= 0))
      throw outOfRange("options.maxBuffer", "a positive number", maxBuffer);
    toSignal(killSignal);
  }, checkIdentity = (file, { argv0, uid, gid, env: env2 }) => {
    for (let [name2, value] of Object.entries(env2 ?? {}))
      checkZeros(name2, `options.env['${name2}']`), checkZeros(value, `options.env['${name2}']`);
    if (typeof argv0 == "string" && argv0 !== file) throw codedError(Error, "ERR_FEATURE_UNAVAILABLE", "the option `argv0` is not here: a command has its own name");
    if ((uid ?? process_default.getuid()) !== process_default.getuid() || (gid ?? process_default.getgid()) !== process_default.getgid())
      throw Object.assign(codedError(Error, "EPERM", `spawn ${file} EPERM`), { errno: -1, syscall: `spawn ${file}` });
  }, normalize2 = (file, given, options) => {
    if (checkText2(file, "file"), file.length === 0) throw invalidValue("file", file, "cannot be empty");
    let args = [];
    if (Array.isArray(given)) args = [...given];
    else if (given != null) {
      if (typeof given != "object") throw invalidType("args", "object", given);
      options = given;
    }
    if (args.forEach((word2, at2) => checkZeros(word2, `args[${at2}]`)), options === void 0) options = {};
    else if (!isObject2(options)) throw invalidType("options", "object", options);
    options = { __proto__: null, ...options }, checkOptions2(options), checkIdentity(file, options);
    let source = commandLine(file, args, options);
    return options.shell ? { file: typeof options.shell == "string" ? options.shell : "/bin/sh", args: ["-c", [file, ...args].join(" ")], source, options } : { file, args: args.map(String), source, options };
  }, isShell = (shell2) => typeof shell2 != "string" || /(^|\/)(ba|da)?sh$/.test(shell2), hindrance = (directory, { shell: shell2 }) => {
    try {
      if (host.native.stat(directory, !0).kind !== "directory") return "ENOTDIR";
    } catch (code) {
      if (typeof code == "string") return code === "ENOTDIR" ? code : "ENOENT";
      throw code;
    }
    return isShell(shell2) ? void 0 : "ENOENT";
  }, whyAbsent = (file, directory) => {
    if (!file.includes("/")) return "ENOENT";
    try {
      return host.native.stat(path_default.resolve(directory, file), !0), "EACCES";
    } catch (code) {
      if (typeof code == "string") return "ENOENT";
      throw code;
    }
  }, lastProcess = process_default.pid, nextProcess = () => ++lastProcess, errnos = { ENOENT: -2, EBADF: -9, EACCES: -13, ENOTDIR: -20, ENOBUFS: -105, ETIMEDOUT: -110 }, systemFailure = (code, call2, file, spawnargs) => Object.assign(new Error(`${call2} ${file} ${code}`), { errno: errnos[code], code, syscall: `${call2} ${file}`, path: file, spawnargs });

  // src/child_process_sync.js
  init_process();
  init_util();
  var instead = {
    execSync: "`exec`, or `await shell.run(command)`",
    execFileSync: "`execFile`, or `await shell.run(command)`",
    spawnSync: "`spawn`, or `await shell(command)`"
  }, toStream = (given, at2) => {
    if (given == null) return at2 < 3 ? "pipe" : "ignore";
    if (given === "pipe" || given === "overlapped" || typeof given == "number" && given < 0) return "pipe";
    if (given === "ignore") return given;
    if (given === "inherit") return at2;
    if (given === "ipc") throw codedError(Error, "ERR_IPC_SYNC_FORK", "IPC cannot be used with synchronous forks");
    if (typeof given == "number") return given;
    if (typeof given.fd == "number") return given.fd;
    throw invalidValue("stdio", given);
  }, toStreams = (stdio) => {
    let given = typeof stdio == "string" ? Array(3).fill(stdio) : stdio;
    if (!Array.isArray(given) || typeof stdio == "string" && !["pipe", "overlapped", "ignore", "inherit"].includes(stdio))
      throw invalidValue("stdio", stdio);
    let streams = Array.from({ length: Math.max(given.length, 3) }, (_2, at2) => toStream(given[at2], at2));
    if (streams.some((stream2, at2) => at2 > 2 && stream2 !== "ignore"))
      throw codedError(Error, "ERR_FEATURE_UNAVAILABLE", "a command has three streams here: write to files for more");
    return streams;
  }, toInput = (input, encoding) => {
    if (typeof input == "string") return Buffer2.from(input, encoding);
    if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
    throw invalidType("options.stdio[0]", "string or an instance of Buffer, TypedArray, or DataView", input);
  }, inputOf = (stream2, options) => {
    let input = options.input && toInput(options.input, options.encoding);
    if (stream2 === "pipe" && input) return input;
    if (stream2 !== 0)
      return typeof stream2 == "number" ? fs_default.readFileSync(stream2) : new Uint8Array(0);
  }, destinationOf = (stream2, most) => stream2 === "pipe" ? most : stream2 === "ignore" ? "dropped" : stream2 === 1 || stream2 === 2 ? stream2 === 1 ? "stdout" : "stderr" : 1 / 0, isFile = (stream2) => typeof stream2 == "number" && stream2 > 2, unstarted = (error) => ({ error, status: null, signal: null, output: null, pid: 0, stdout: null, stderr: null }), run = (name2, { file, args, source, options }, below) => {
    let killSignal = toSignal(options.killSignal), streams = toStreams(options.stdio || "pipe"), failed4 = (code) => systemFailure(code, "spawnSync", file, args), isWrong = (stream2, at2) => typeof stream2 == "number" && (stream2 > 2 ? !isOpen(stream2) : at2 > 0 && stream2 === 0);
    if (streams.some(isWrong)) return unstarted(failed4("EBADF"));
    let input = inputOf(streams[0], options), script = scriptOf(source, { cwd: options.cwd ?? void 0, env: options.env || host.env }), cause = hindrance(script.directory, options);
    if (cause !== void 0) return unstarted(failed4(cause));
    isFile(streams[1]) && streams[1] === streams[2] && (script.source = `exec 2>&1; ${source}`);
    let most = options.maxBuffer ?? MAX_BUFFER, [stdout, stderr] = [1, 2].map((at2) => destinationOf(streams[at2], most)), wanted = { ...script, input: input && new Uint8Array(input), stdout, stderr, timeout: options.timeout || void 0 }, ended = host.runToEnd(wanted, below);
    if (ended.status === MISSING && !options.shell && !isThere(script, file, below)) return unstarted(failed4(whyAbsent(file, script.directory)));
    let written2 = [void 0, ended.stdout, ended.stderr];
    return streams.forEach((stream2, at2) => isFile(stream2) && at2 > 0 && written2[at2].length > 0 && fs_default.writeFileSync(stream2, written2[at2])), resultOf(name2, { ended, streams, written: written2, options, killSignal, failed: failed4 });
  }, isThere = (script, file, below) => {
    let source = `${asks(file)} >/dev/null 2>&1`;
    return host.runToEnd({ ...script, source, input: new Uint8Array(0), stdout: "dropped", stderr: "dropped" }, below).status === 0;
  }, resultOf = (name2, { ended, streams, written: written2, options, killSignal, failed: failed4 }) => {
    let { encoding } = options, isText = encoding && encoding !== "buffer", output = streams.map((stream2, at2) => {
      if (at2 === 0 || stream2 !== "pipe") return null;
      let buffer2 = Buffer2.from(written2[at2]);
      if (!isText) return buffer2;
      if (buffer2.length === 0) return "";
      if (!Buffer2.isEncoding(encoding)) throw codedError(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
      return buffer2.toString(encoding);
    }), killed = ended.how !== "exited", result = { ...{ status: killed ? null : ended.status, signal: killed ? killSignal : null, output, pid: nextProcess() }, stdout: output[1], stderr: output[2] };
    if (ended.how === "asked") {
      let message = `${name2}: the command asks for ${ended.what}, and a script cannot wait for that without \`await\`: use ${instead[name2]}`;
      throw Object.assign(codedError(Error, "ERR_FEATURE_UNAVAILABLE", message), result);
    }
    return ended.how === "timed out" ? { error: failed4("ETIMEDOUT"), ...result } : ended.how === "overflowed" ? { error: failed4("ENOBUFS"), ...result } : result;
  }, orThrow2 = (result, options, command) => {
    if (!options.stdio && result.stderr && process_default.stderr.write(result.stderr), result.error) throw Object.assign(result.error, result);
    if (result.status !== 0) {
      let said = result.stderr && result.stderr.length > 0 ? `
${result.stderr}` : "";
      throw Object.assign(new Error(`Command failed: ${command}${said}`), result);
    }
    return result.stdout;
  }, spawnSync = (file, args, options) => run("spawnSync", normalize2(file, args, options), spawnSync), execSync = (command, options) => {
    checkText2(command, "command");
    let given = { __proto__: null, ...options }, call2 = normalize2(command, [], { ...given, shell: typeof given.shell == "string" ? given.shell : !0 });
    return orThrow2(run("execSync", call2, execSync), given, command);
  }, execFileSync = (file, args, options) => {
    !Array.isArray(args) && args !== null && typeof args == "object" && ([args, options] = [[], args]);
    let call2 = normalize2(file, args ?? [], options ?? {}), words = [call2.options.argv0 || file, ...args ?? []];
    return orThrow2(run("execFileSync", call2, execFileSync), call2.options, words.join(" "));
  };

  // src/child_process.js
  init_process();
  init_util();
  var { Readable, Writable } = stream_default, empty = new Uint8Array(0), CHUNK2 = 64 * 1024, ChildProcess = class extends events_default {
    pid = void 0;
    exitCode = null;
    signalCode = null;
    killed = !1;
    connected = !1;
    #running;
    #signal;
    // Promises that precede the end of the child: its start, and the reading of its streams.
    #before;
    constructor(running, { file: spawnfile, args, options }, whyMissing2, before = () => []) {
      super();
      let spawnargs = [spawnfile, ...args];
      this.#running = running, this.#before = before, Object.assign(this, { spawnfile, spawnargs });
      let why = async (code) => code === MISSING ? whyMissing2() : void 0, fail4 = (cause) => this.#fail(systemFailure(cause, "spawn", spawnfile, spawnargs.slice(1)));
      running.exited.then(
        (code) => why(code).then((cause) => cause === void 0 ? this.#end(code, null) : fail4(cause)),
        (error) => {
          this.killed ? this.#end(null, this.#signal) : options.signal?.aborted ? (this.killed = !0, this.emit("error", abortError(options.signal)), this.#end(null, toSignal(options.killSignal))) : (this.emit("error", error), this.#end(error.name === "LimitError" ? 137 : 1, null));
        }
      );
    }
    // Reports a child that did not start: an error takes the place of its end.
    #fail(error) {
      this.exitCode = error.errno, this.pid = void 0, process_default.nextTick(() => this.emit("error", error)), process_default.nextTick(() => this.#close(error.errno, null));
    }
    #end(code, signal) {
      Object.assign(this, { exitCode: code, signalCode: signal });
      let exit = () => {
        this.emit("exit", code, signal), this.#close(code, signal);
      };
      Promise.all(this.#before()).then(() => setImmediate(exit));
    }
    #close(code, signal) {
      let waits = [this.stdout, this.stderr].filter((stream2) => stream2 && !stream2.readableEnded && !stream2.destroyed), left = waits.length, close2 = () => this.emit("close", code, signal);
      left === 0 && queueMicrotask(close2);
      for (let stream2 of waits) stream2.once("close", () => --left === 0 && close2()).resume();
    }
    kill(signal = "SIGTERM") {
      return this.exitCode !== null || this.signalCode !== null ? !1 : (this.killed = !0, this.#signal = typeof signal == "string" ? signal : "SIGTERM", this.#running.stop(new Error("killed")), !0);
    }
    ref() {
    }
    unref() {
    }
  }, readable = (running, which, progress) => new Readable({
    read() {
      let reading = progress.begun === void 0 ? running.read(which) : progress.begun.then(() => running.read(which));
      progress[which] = reading.then(
        (bytes) => this.push(bytes.length === 0 ? null : Buffer2.from(bytes)),
        () => this.push(null)
      );
    },
    destroy(error, callback) {
      this.readableEnded || running.close(which).catch(() => {
      }), callback(error);
    }
  }), writable = (running) => {
    let total = 0;
    return new Writable({
      write(chunk, encoding, callback) {
        let bytes = typeof chunk == "string" ? Buffer2.from(chunk, encoding) : chunk, give = async () => {
          await running.write(empty, !1);
          for (let at2 = 0; at2 < bytes.length; at2 += CHUNK2) await running.write(new Uint8Array(bytes.subarray(at2, at2 + CHUNK2)), !1);
        };
        total += bytes.length, give().then(() => callback(), () => callback(total > CHUNK2 ? codedError(Error, "EPIPE", "write EPIPE") : null));
      },
      final(callback) {
        running.write(empty, !0).then(() => callback(), () => callback());
      }
    });
  }, whyMissing = ({ file, options, cause }) => async () => cause !== void 0 || options.shell ? cause : await isThere2(file, options) ? void 0 : whyAbsent(file, scriptOf("", settings(options)).directory), isThere2 = async (file, options) => (await collect(begin(asks(file), settings(options), isThere2))).exitCode === 0, tellBegun = async (child, { file, options }) => {
    !options.shell && !await isThere2(file, options) || await new Promise((resolve3) => {
      process_default.nextTick(() => {
        resolve3(), child.emit("spawn");
      });
    });
  }, started = (call2, below) => {
    let { source, options } = call2, wanted = settings(options);
    return call2.cause = hindrance(scriptOf(source, wanted).directory, options), call2.cause === void 0 ? begin(source, wanted, below) : begin(`exit ${MISSING}`, { ...wanted, cwd: void 0 }, below);
  }, killLater = (child, { timeout, killSignal }) => {
    timeout > 0 && setTimeout(() => child.kill(toSignal(killSignal)), timeout).unref();
  }, settings = (options) => ({ cwd: options.cwd, env: options.env, signal: host.signalOf(options) }), spawn = (name2, given, wants) => {
    let call2 = normalize2(name2, given, wants), { options } = call2;
    if (typeof options.stdio == "string" && !["pipe", "ignore", "inherit", "overlapped"].includes(options.stdio))
      throw codedError(TypeError, "ERR_INVALID_ARG_VALUE", `The argument 'stdio' is invalid. Received ${host.inspect(options.stdio)}`);
    let running = started(call2, spawn), progress = {}, child = new ChildProcess(running, call2, whyMissing(call2), () => Object.values(progress));
    child.pid = nextProcess();
    let wanted = typeof options.stdio == "string" ? Array(3).fill(options.stdio) : options.stdio ?? [], forward = async (which, write4) => {
      for (; ; ) {
        let bytes = await running.read(which).catch(() => empty);
        if (bytes.length === 0) return;
        write4(bytes);
      }
    };
    child.stdin = (wanted[0] ?? "pipe") === "pipe" ? writable(running) : null, child.stdin === null && running.write(empty, !0).catch(() => {
    });
    for (let [which, name3] of [[1, "stdout"], [2, "stderr"]]) {
      let how = wanted[which] ?? "pipe";
      child[name3] = how === "pipe" ? readable(running, which, progress) : null, how === "inherit" ? forward(which, (bytes) => host.native.outputBytes(bytes, which === 2)) : how !== "pipe" && forward(which, () => {
      });
    }
    return child.stdio = [child.stdin, child.stdout, child.stderr], killLater(child, options), process_default.nextTick(() => {
      call2.cause === void 0 && child.listenerCount("spawn") > 0 && (progress.begun = tellBegun(child, call2).catch(() => {
      }));
    }), child;
  }, failure = (child, command, code, output) => {
    let error = new Error(`Command failed: ${command}
${output.stderr}`);
    return Object.assign(error, { code, killed: child.killed, signal: child.signalCode, cmd: command });
  }, shownStream2 = (encoding) => {
    let stream2 = new Readable({ read() {
    } });
    return encoding !== null && encoding !== "buffer" && stream2.setEncoding(encoding), stream2.resume(), [stream2, (bytes) => stream2.push(bytes.length === 0 ? null : Buffer2.from(bytes))];
  }, offerInput = (child, running) => {
    let stdin, open3 = () => stdin ??= writable(running);
    Object.defineProperty(child, "stdin", { get: open3, set: (given) => stdin = given, enumerable: !0, configurable: !0 }), process_default.nextTick(() => {
      stdin === void 0 && open3().end();
    });
  }, gather = (call2, shown4, callback) => {
    let { file, args, options } = call2, running = started(call2, gather), child = new ChildProcess(running, call2, async () => {
    }), aborted2;
    child.on("error", (error) => aborted2 ??= error), child.pid = nextProcess(), killLater(child, options);
    let encoding = options.encoding === void 0 ? "utf8" : options.encoding, [[stdout, showOut], [stderr, showErr]] = [shownStream2(encoding), shownStream2(encoding)];
    options.input === void 0 ? offerInput(child, running) : child.stdin = null, Object.assign(child, { stdout, stderr }), Object.defineProperty(child, "stdio", { get: () => [child.stdin, child.stdout, child.stderr], enumerable: !0, configurable: !0 });
    let decode2 = (bytes) => {
      let buffer2 = Buffer2.from(bytes);
      return encoding === "buffer" || encoding === null ? buffer2 : buffer2.toString(encoding);
    }, most = options.maxBuffer ?? MAX_BUFFER, finish = ({ stdout: stdout2, stderr: stderr2, exitCode }) => {
      let output = { stdout: decode2(stdout2), stderr: decode2(stderr2) };
      for (let [name2, bytes] of [["stdout", stdout2], ["stderr", stderr2]])
        if (bytes.length > most) {
          let error2 = codedError(RangeError, "ERR_CHILD_PROCESS_STDIO_MAXBUFFER", `${name2} maxBuffer length exceeded`);
          return callback?.(error2, output.stdout, output.stderr);
        }
      if (exitCode === 0) return callback?.(null, output.stdout, output.stderr);
      if (exitCode === MISSING)
        return whyMissing(call2)().then((cause) => {
          let error2 = cause === void 0 ? failure(child, shown4, exitCode, output) : Object.assign(systemFailure(cause, "spawn", file, args), { cmd: shown4 });
          callback?.(error2, output.stdout, output.stderr);
        });
      let error = failure(child, shown4, exitCode, output);
      callback?.(error, output.stdout, output.stderr);
    };
    return collect(running, options.input ?? null, [showOut, showErr]).then(finish, (error) => {
      let output = { stdout: decode2(empty), stderr: decode2(empty) };
      for (let show of [showOut, showErr]) show(empty);
      let told = aborted2 ?? (child.killed ? failure(child, shown4, null, output) : error);
      callback?.(told, output.stdout, output.stderr);
    }), child;
  }, checkCallback = (callback) => {
    if (callback != null && typeof callback != "function") throw invalidType("callback", "function", callback);
  }, exec = (command, options, callback) => {
    checkText2(command, "command"), typeof options == "function" && ([options, callback] = [{}, options]), checkCallback(callback);
    let shell2 = typeof options?.shell == "string" ? options.shell : !0;
    return gather(normalize2(command, [], { ...options, shell: shell2 }), command, callback);
  }, execFile = (file, args, options, callback) => {
    typeof args == "function" ? [args, options, callback] = [[], {}, args] : args !== null && typeof args == "object" && !Array.isArray(args) && ([args, options, callback] = [[], args, options]), typeof options == "function" && ([options, callback] = [{}, options]), checkCallback(callback);
    let call2 = normalize2(file, args ?? [], options ?? {});
    return gather(call2, call2.options.shell ? call2.args[1] : [file, ...args ?? []].join(" "), callback);
  }, promised2 = (run2) => function(...values2) {
    let child, promise = new Promise((resolve3, reject) => {
      child = run2(
        ...values2,
        (error, stdout, stderr) => error ? reject(Object.assign(error, { stdout, stderr })) : resolve3({ stdout, stderr })
      );
    });
    return Object.assign(promise, { child });
  };
  Object.defineProperty(exec, util_default.promisify.custom, { value: promised2(exec) });
  Object.defineProperty(execFile, util_default.promisify.custom, { value: promised2(execFile) });
  var fork = () => {
    throw codedError(Error, "ERR_FEATURE_UNAVAILABLE", 'fork is not here: use `spawn("node", [file])`');
  }, child_process_default = { ChildProcess, exec, execFile, execFileSync, execSync, fork, spawn, spawnSync };

  // src/console.js
  init_util();
  var Console = class {
    constructor(first, ...rest) {
      let given = typeof first?.write == "function" ? { stdout: first, stderr: rest[0] } : first, { stdout, stderr = stdout, groupIndentation = 2, inspectOptions } = given ?? {};
      for (let [name2, stream2] of Object.entries({ stdout, stderr }))
        if (typeof stream2?.write != "function") throw codedError(TypeError, "ERR_CONSOLE_WRITABLE_STREAM", `Console expects a writable stream instance for ${name2}`);
      if (typeof groupIndentation != "number") throw invalidType("groupIndentation", "number", groupIndentation);
      if (!isWhole(groupIndentation)) throw outOfRange("groupIndentation", "an integer", groupIndentation);
      if (groupIndentation < 0 || groupIndentation > 1e3) throw outOfRange("groupIndentation", ">= 0 && <= 1000", groupIndentation);
      let options = { step: " ".repeat(groupIndentation), inspectOptions };
      Object.assign(this, host.makeConsole((text3) => {
        stdout.write(text3);
      }, (text3) => {
        stderr.write(text3);
      }, options));
    }
    // As in Node, a console that writes to the process's own streams is an instance, too.
    static [Symbol.hasInstance](value) {
      return value === globalThis.console || Function.prototype[Symbol.hasInstance].call(this, value);
    }
  };
  globalThis.console.Console = Console;
  for (let name2 of ["profile", "profileEnd", "timeStamp"]) globalThis.console[name2] = { [name2]() {
  } }[name2];
  var console_default = globalThis.console;

  // src/crypto.js
  init_absent();
  init_buffer();

  // src/cipher.js
  init_buffer();

  // src/crypto-bytes.js
  init_buffer();
  init_util();
  var { asBytes } = host, KINDS = "string or an instance of Buffer, TypedArray, or DataView", KINDS_WITH_BUFFERS = "string or an instance of ArrayBuffer, Buffer, TypedArray, or DataView", KINDS_OF_KEYS = `${KINDS_WITH_BUFFERS.replace(", or DataView", ", DataView")}, KeyObject, or CryptoKey`, bytesOf2 = (data, encoding, name2 = "data", kinds3 = KINDS) => {
    if (typeof data == "string") return new Uint8Array(Buffer2.from(data, encoding));
    let bytes = typeof data == "object" && data !== null ? asBytes(data) : void 0;
    if (bytes === void 0) throw invalidType(name2, kinds3, data);
    return bytes;
  }, secrets = /* @__PURE__ */ new WeakMap(), making = !1, make = (Class, secret, fields) => {
    making = !0;
    try {
      let key = new Class(fields);
      return secrets.set(key, secret), key;
    } finally {
      making = !1;
    }
  }, CryptoKey2 = class {
    constructor(fields) {
      if (!making) throw new TypeError("Illegal constructor");
      Object.assign(this, fields);
    }
  };
  Object.defineProperty(CryptoKey2.prototype, /* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom"), {
    value(depth, options) {
      if (depth < 0) return this;
      let { type, extractable, algorithm, usages } = this;
      return `CryptoKey ${host.inspect({ type, extractable, algorithm, usages }, { ...options, depth: options.depth == null ? null : options.depth - 1 })}`;
    },
    writable: !0,
    configurable: !0
  });
  Object.defineProperty(CryptoKey2.prototype, Symbol.toStringTag, { value: "CryptoKey", configurable: !0 });
  var KeyObject = class _KeyObject {
    constructor() {
      if (!making) throw new TypeError("Illegal constructor");
    }
    get type() {
      return "secret";
    }
    equals(other) {
      if (!(other instanceof _KeyObject)) throw invalidType("otherKeyObject", "an instance of KeyObject", other);
      return Buffer2.compare(secretOf(this), secretOf(other)) === 0;
    }
    static from(key) {
      if (!(key instanceof CryptoKey2)) throw invalidType("key", "an instance of CryptoKey", key);
      return make(SecretKeyObject, secretOf(key));
    }
  };
  Object.defineProperty(KeyObject.prototype, Symbol.toStringTag, { value: "KeyObject", configurable: !0 });
  var SecretKeyObject = class extends KeyObject {
    get symmetricKeySize() {
      return secretOf(this).length;
    }
    export(options) {
      return options?.format === "jwk" ? { kty: "oct", k: Buffer2.from(secretOf(this)).toString("base64url") } : Buffer2.from(secretOf(this));
    }
  }, secretOf = (key) => secrets.get(key), isKey = (value) => typeof value == "object" && value !== null && secrets.has(value), makeWebKey = (secret, fields) => make(CryptoKey2, secret, fields), createSecretKey = (key, encoding) => make(SecretKeyObject, bytesOf2(key, encoding, "key", KINDS_WITH_BUFFERS).slice()), generateKeySync = (type, options, random) => {
    if (type !== "aes" && type !== "hmac") throw codedError(TypeError, "ERR_INVALID_ARG_VALUE", `The argument 'type' must be a supported key type. Received '${type}'`);
    let { length } = options ?? {};
    if (type === "aes" && ![128, 192, 256].includes(length))
      throw codedError(TypeError, "ERR_INVALID_ARG_VALUE", `The property 'options.length' must be one of: 128, 192, 256. Received ${length}`);
    return make(SecretKeyObject, random(Math.floor(length / 8)));
  }, keyBytes = (key) => isKey(key) ? secretOf(key) : bytesOf2(key, "utf8", "key", KINDS_OF_KEYS).slice();

  // src/string_decoder.js
  var import_string_decoder = __toESM(require_string_decoder(), 1);
  init_buffer();
  init_util();
  var checked2 = (encoding) => {
    if (encoding == null || Buffer2.isEncoding(encoding)) return encoding;
    throw codedError(TypeError, "ERR_UNKNOWN_ENCODING", `Unknown encoding: ${encoding}`);
  }, StringDecoder = class extends import_string_decoder.StringDecoder {
    constructor(encoding) {
      super(checked2(encoding));
    }
    write(bytes) {
      if (typeof bytes != "string" && !ArrayBuffer.isView(bytes)) throw invalidType("buf", "an instance of Buffer, TypedArray, or DataView", bytes);
      return super.write(typeof bytes == "string" || Buffer2.isBuffer(bytes) ? bytes : Buffer2.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    }
    end(bytes) {
      let text3 = super.end(bytes);
      return this.lastNeed !== void 0 && (this.lastNeed = this.lastTotal = 0), text3;
    }
  }, string_decoder_default = { StringDecoder };

  // src/cipher.js
  init_util();
  var { native: native7 } = host, BLOCK2 = 16, TAG = 16, numbers = {
    "aes-128-ecb": 418,
    "aes-128-cbc": 419,
    "aes-192-ecb": 422,
    "aes-192-cbc": 423,
    "aes-256-ecb": 426,
    "aes-256-cbc": 427,
    "aes-128-gcm": 895,
    "aes-192-gcm": 898,
    "aes-256-gcm": 901,
    "aes-128-ctr": 904,
    "aes-192-ctr": 905,
    "aes-256-ctr": 906
  }, vectorLengths = { ecb: 0, cbc: 16, ctr: 16, gcm: 12 }, ciphers = Object.keys(numbers).sort(), aliases = { aes128: "aes-128-cbc", aes192: "aes-192-cbc", aes256: "aes-256-cbc" };
  for (let bits of [128, 192, 256]) aliases[`id-aes${bits}-gcm`] = `aes-${bits}-gcm`;
  var elsewhere = /^(?:(?:id-)?aes|aria|bf|camellia|cast5?|chacha20|des|rc[245]|seed|sm4)\b/, find = (name2) => {
    let plain2 = String(name2).toLowerCase(), known3 = Object.hasOwn(aliases, plain2) ? aliases[plain2] : plain2;
    if (!Object.hasOwn(numbers, known3)) return;
    let [, bits, mode] = known3.split("-");
    return { name: known3, mode, keyLength: Number(bits) / 8 };
  }, findOrThrow = (name2) => {
    if (typeof name2 != "string") throw invalidType("cipher", "string", name2);
    let found = find(name2);
    if (found !== void 0) return found;
    throw elsewhere.test(name2.toLowerCase()) ? codedError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", `the cipher '${name2}' is not here: there is AES in the modes ecb, cbc, ctr and gcm`) : codedError(Error, "ERR_CRYPTO_UNKNOWN_CIPHER", "Unknown cipher");
  }, getCiphers = () => [...ciphers], getCipherInfo = (given, options) => {
    let name2 = typeof given == "number" ? ciphers.find((cipher) => numbers[cipher] === given) : given, found = name2 === void 0 ? void 0 : find(name2);
    if (found === void 0) return;
    let { mode, keyLength } = found, ivLength = options?.ivLength ?? vectorLengths[mode];
    if ((options?.keyLength ?? keyLength) !== keyLength || !isVector(mode, ivLength)) return;
    let info = { mode, name: mode === "gcm" ? `id-aes${keyLength * 8}-gcm` : found.name, nid: numbers[found.name] };
    return info.blockSize = mode === "ecb" || mode === "cbc" ? BLOCK2 : 1, mode !== "ecb" && (info.ivLength = ivLength), { ...info, keyLength };
  }, isVector = (mode, length) => mode === "gcm" ? length > 0 : length === vectorLengths[mode], provider = (code, reason, number) => Object.assign(new Error(`error:${number}:Provider routines::${reason}`), { library: "Provider routines", reason, code }), wrongLength = () => provider("ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH", "wrong final block length", "1C80006B"), badDecrypt = () => provider("ERR_OSSL_BAD_DECRYPT", "bad decrypt", "1C800064"), wrongState = (operation2) => codedError(Error, "ERR_CRYPTO_INVALID_STATE", operation2 === void 0 ? "Invalid state" : `Invalid state for operation ${operation2}`), checkTagLength = (length) => {
    if (length === 4 || length === 8 || length >= 12 && length <= TAG) return length;
    throw codedError(TypeError, "ERR_CRYPTO_INVALID_AUTH_TAG", `Invalid authentication tag length: ${length}`);
  }, concat2 = (...parts) => new Uint8Array(Buffer2.concat(parts)), Blocks = class {
    #mode;
    #encrypt;
    #key;
    #vector;
    #rest = new Uint8Array(0);
    pads = !0;
    constructor({ mode }, encrypt2, key, vector) {
      this.#mode = mode, this.#encrypt = encrypt2, this.#key = key, this.#vector = vector;
    }
    #run(bytes) {
      if (bytes.length === 0) return bytes;
      let out = native7.aesBlocks(this.#mode, this.#encrypt, this.#key, this.#vector, bytes);
      return this.#mode === "cbc" && (this.#vector = (this.#encrypt ? out : bytes).slice(-BLOCK2)), out;
    }
    update(bytes) {
      let all3 = concat2(this.#rest, bytes), whole = all3.length - all3.length % BLOCK2;
      return !this.#encrypt && this.pads && whole === all3.length && whole > 0 && (whole -= BLOCK2), this.#rest = all3.slice(whole), this.#run(all3.slice(0, whole));
    }
    final() {
      let rest = this.#rest;
      if (!this.pads) {
        if (rest.length !== 0) throw wrongLength();
        return rest;
      }
      if (this.#encrypt) return this.#run(concat2(rest, new Uint8Array(BLOCK2 - rest.length).fill(BLOCK2 - rest.length)));
      if (rest.length !== BLOCK2) throw wrongLength();
      let out = this.#run(rest), padding = out[BLOCK2 - 1];
      if (padding < 1 || padding > BLOCK2 || out.slice(BLOCK2 - padding).some((byte) => byte !== padding)) throw badDecrypt();
      return out.slice(0, BLOCK2 - padding);
    }
  }, Counters = class {
    #key;
    #counter;
    #offset = 0;
    constructor(key, counter) {
      this.#key = key, this.#counter = counter;
    }
    update(bytes) {
      let out = native7.aesStream(!1, this.#key, this.#counter, this.#offset, bytes);
      return this.#offset += bytes.length, out;
    }
    final() {
      return new Uint8Array(0);
    }
  }, Authenticated = class {
    #encrypt;
    #key;
    #counter;
    #length = 0;
    #encrypted = [];
    associated = [];
    tag;
    tagLength;
    constructor(encrypt2, key, vector, tagLength) {
      this.#encrypt = encrypt2, this.#key = key, this.#counter = native7.aesGcmCounter(key, vector), this.tagLength = tagLength;
    }
    update(bytes) {
      let out = native7.aesStream(!0, this.#key, this.#counter, BLOCK2 + this.#length, bytes);
      return this.#length += bytes.length, this.#encrypted.push((this.#encrypt ? out : bytes).slice()), out;
    }
    final() {
      let tag = native7.aesGcmTag(this.#key, this.#counter, concat2(...this.associated), concat2(...this.#encrypted));
      if (this.#encrypt)
        this.tag = tag.slice(0, this.tagLength ?? TAG);
      else if (this.tag === void 0 || this.tag.reduce((difference2, byte, at2) => difference2 | byte ^ tag[at2], 0) !== 0)
        throw new Error("Unsupported state or unable to authenticate data");
      return new Uint8Array(0);
    }
  }, begin2 = (spec, encrypt2, key, vector, tagLength) => spec.mode === "gcm" ? new Authenticated(encrypt2, key, vector, tagLength) : spec.mode === "ctr" ? new Counters(key, vector) : new Blocks(spec, encrypt2, key, vector), Cipher = class extends stream_default.Transform {
    #cipher;
    #state = "new";
    #decoder;
    #encoding;
    constructor(encrypt2, name2, key, vector, options) {
      super(options);
      let spec = findOrThrow(name2), secret = keyBytes(key), start3 = vector === null ? new Uint8Array(0) : bytesOf2(vector, "utf8", "iv", KINDS_WITH_BUFFERS).slice();
      if (!isVector(spec.mode, start3.length)) throw codedError(TypeError, "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector");
      if (secret.length !== spec.keyLength) throw codedError(RangeError, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
      let tagLength = spec.mode === "gcm" && options?.authTagLength !== void 0 ? checkTagLength(options.authTagLength) : void 0;
      this.#cipher = begin2(spec, encrypt2, secret, start3, tagLength);
    }
    #shown(bytes, encoding, last2) {
      let buffer2 = Buffer2.from(bytes.buffer, bytes.byteOffset, bytes.length);
      if (encoding == null || encoding === "buffer") return buffer2;
      if (this.#decoder ??= new string_decoder_default.StringDecoder(encoding), this.#encoding ??= encoding, encoding !== this.#encoding) throw codedError(Error, "ERR_INTERNAL_ASSERTION", "Cannot change encoding");
      return last2 ? this.#decoder.end(buffer2) : this.#decoder.write(buffer2);
    }
    update(data, inputEncoding, outputEncoding) {
      let bytes = bytesOf2(data, inputEncoding ?? void 0);
      if (this.#state === "ended") throw new Error("Trying to add data in unsupported state");
      return this.#state = "running", this.#shown(this.#cipher.update(bytes), outputEncoding, !1);
    }
    final(outputEncoding) {
      if (this.#state === "ended") throw wrongState();
      return this.#state = "ended", this.#shown(this.#cipher.final(), outputEncoding, !0);
    }
    setAutoPadding(pads = !0) {
      if (this.#state === "ended") throw wrongState("setAutoPadding");
      return this.#cipher.pads = !!pads, this;
    }
    setAAD(data, options) {
      if (!(this.#cipher instanceof Authenticated) || this.#state !== "new") throw wrongState("setAAD");
      return this.#cipher.associated.push(bytesOf2(data, options?.encoding, "aadbuf", KINDS_WITH_BUFFERS).slice()), this;
    }
    _transform(chunk, encoding, callback) {
      this.push(this.update(chunk)), callback();
    }
    _flush(callback) {
      try {
        this.push(this.final());
      } catch (error) {
        callback(error);
        return;
      }
      callback();
    }
    static tagOf(cipher) {
      return cipher.#state === "ended" && cipher.#cipher instanceof Authenticated ? cipher.#cipher.tag : void 0;
    }
    static giveTag(cipher, tag) {
      let authenticated = cipher.#cipher;
      if (!(authenticated instanceof Authenticated) || cipher.#state === "ended" || authenticated.tag !== void 0) return !1;
      if (authenticated.tagLength !== void 0 && authenticated.tagLength !== tag.length)
        throw codedError(TypeError, "ERR_CRYPTO_INVALID_AUTH_TAG", `Invalid authentication tag length: ${tag.length}`);
      return checkTagLength(tag.length), authenticated.tag = tag, !0;
    }
  }, Cipheriv = class extends Cipher {
    constructor(name2, key, vector, options) {
      super(!0, name2, key, vector, options);
    }
    getAuthTag() {
      let tag = Cipher.tagOf(this);
      if (tag === void 0) throw wrongState("getAuthTag");
      return Buffer2.from(tag);
    }
  }, Decipheriv = class extends Cipher {
    constructor(name2, key, vector, options) {
      super(!1, name2, key, vector, options);
    }
    setAuthTag(tag, encoding) {
      if (!Cipher.giveTag(this, bytesOf2(tag, encoding, "buffer", KINDS_WITH_BUFFERS).slice())) throw wrongState("setAuthTag");
      return this;
    }
  }, createCipheriv = (name2, key, vector, options) => new Cipheriv(name2, key, vector, options), createDecipheriv = (name2, key, vector, options) => new Decipheriv(name2, key, vector, options);

  // src/crypto-constants.js
  var constants3 = {
    __proto__: null,
    OPENSSL_VERSION_NUMBER: 805306672,
    SSL_OP_ALL: 2147485776,
    SSL_OP_ALLOW_NO_DHE_KEX: 1024,
    SSL_OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION: 262144,
    SSL_OP_CIPHER_SERVER_PREFERENCE: 4194304,
    SSL_OP_CISCO_ANYCONNECT: 32768,
    SSL_OP_COOKIE_EXCHANGE: 8192,
    SSL_OP_CRYPTOPRO_TLSEXT_BUG: 2147483648,
    SSL_OP_DONT_INSERT_EMPTY_FRAGMENTS: 2048,
    SSL_OP_LEGACY_SERVER_CONNECT: 4,
    SSL_OP_NO_COMPRESSION: 131072,
    SSL_OP_NO_ENCRYPT_THEN_MAC: 524288,
    SSL_OP_NO_QUERY_MTU: 4096,
    SSL_OP_NO_RENEGOTIATION: 1073741824,
    SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION: 65536,
    SSL_OP_NO_SSLv2: 0,
    SSL_OP_NO_SSLv3: 33554432,
    SSL_OP_NO_TICKET: 16384,
    SSL_OP_NO_TLSv1: 67108864,
    SSL_OP_NO_TLSv1_1: 268435456,
    SSL_OP_NO_TLSv1_2: 134217728,
    SSL_OP_NO_TLSv1_3: 536870912,
    SSL_OP_PRIORITIZE_CHACHA: 2097152,
    SSL_OP_TLS_ROLLBACK_BUG: 8388608,
    ENGINE_METHOD_RSA: 1,
    ENGINE_METHOD_DSA: 2,
    ENGINE_METHOD_DH: 4,
    ENGINE_METHOD_RAND: 8,
    ENGINE_METHOD_EC: 2048,
    ENGINE_METHOD_CIPHERS: 64,
    ENGINE_METHOD_DIGESTS: 128,
    ENGINE_METHOD_PKEY_METHS: 512,
    ENGINE_METHOD_PKEY_ASN1_METHS: 1024,
    ENGINE_METHOD_ALL: 65535,
    ENGINE_METHOD_NONE: 0,
    DH_CHECK_P_NOT_SAFE_PRIME: 2,
    DH_CHECK_P_NOT_PRIME: 1,
    DH_UNABLE_TO_CHECK_GENERATOR: 4,
    DH_NOT_SUITABLE_GENERATOR: 8,
    RSA_PKCS1_PADDING: 1,
    RSA_NO_PADDING: 3,
    RSA_PKCS1_OAEP_PADDING: 4,
    RSA_X931_PADDING: 5,
    RSA_PKCS1_PSS_PADDING: 6,
    RSA_PSS_SALTLEN_DIGEST: -1,
    RSA_PSS_SALTLEN_MAX_SIGN: -2,
    RSA_PSS_SALTLEN_AUTO: -2,
    TLS1_VERSION: 769,
    TLS1_1_VERSION: 770,
    TLS1_2_VERSION: 771,
    TLS1_3_VERSION: 772,
    POINT_CONVERSION_COMPRESSED: 2,
    POINT_CONVERSION_UNCOMPRESSED: 4,
    POINT_CONVERSION_HYBRID: 6
  };

  // src/digests.js
  init_buffer();
  init_util();
  var { native: native8 } = host, hashes = [
    "blake2b512",
    "blake2s256",
    "md5",
    "ripemd160",
    "sha1",
    "sha224",
    "sha256",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "sha384",
    "sha512",
    "sha512-224",
    "sha512-256"
  ], shakes = { __proto__: null, shake128: 16, shake256: 32 }, allHashes = [...hashes, ...Object.keys(shakes)], aliases2 = { ripemd: "ripemd160", rmd160: "ripemd160" }, plainName = (name2) => {
    let plain2 = String(name2).toLowerCase().replace(/^rsa-/, "").replace(/^sha-/, "sha").replace("/", "-");
    return Object.hasOwn(aliases2, plain2) ? aliases2[plain2] : plain2;
  }, shown2 = (bytes, encoding) => {
    let buffer2 = Buffer2.from(bytes.buffer, bytes.byteOffset, bytes.length);
    return Buffer2.isEncoding(encoding) ? buffer2.toString(encoding) : buffer2;
  };
  function LazyTransform() {
  }
  Object.setPrototypeOf(LazyTransform, stream_default.Transform);
  LazyTransform.prototype = Object.create(stream_default.Transform.prototype);
  for (let name2 of ["_readableState", "_writableState"]) {
    let become = (self2) => {
      for (let state of ["_readableState", "_writableState"]) Object.defineProperty(self2, state, { value: void 0, writable: !0, enumerable: !0, configurable: !0 });
      stream_default.Transform.call(self2);
    };
    Object.defineProperty(LazyTransform.prototype, name2, {
      get() {
        return become(this), this[name2];
      },
      set(value) {
        Object.defineProperty(this, name2, { value, writable: !0, enumerable: !0, configurable: !0 });
      },
      configurable: !0
    });
  }
  var Hash = class _Hash extends LazyTransform {
    #parts = [];
    #finish;
    #done = !1;
    constructor(finish) {
      super(), this.#finish = finish;
    }
    update(data, encoding) {
      if (this.#done) throw codedError(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
      return this.#parts.push(bytesOf2(data, encoding).slice()), this;
    }
    digest(encoding) {
      if (this.#done) throw codedError(Error, "ERR_CRYPTO_HASH_FINALIZED", "Digest already called");
      return this.#done = !0, shown2(this.#finish(new Uint8Array(Buffer2.concat(this.#parts))), encoding);
    }
    copy() {
      let copy2 = new _Hash(this.#finish);
      return copy2.#parts = [...this.#parts], copy2;
    }
    _transform(chunk, encoding, callback) {
      this.update(chunk), callback();
    }
    // A digest that was fed as a stream is both readable and available from `digest()`.
    _flush(callback) {
      this.push(shown2(this.#finish(new Uint8Array(Buffer2.concat(this.#parts))))), callback();
    }
  }, Hmac = class extends Hash {
    #finished = !1;
    // As in Node, a second digest is empty, and no error.
    digest(encoding) {
      return this.#finished ? shown2(new Uint8Array(0), encoding) : (this.#finished = !0, super.digest(encoding));
    }
  }, LONGEST_SHAKE = 2 ** 24, checkedLength = (options) => {
    let length = options?.outputLength;
    if (length !== void 0) {
      if (typeof length != "number") throw invalidType("options.outputLength", "number", length);
      if (!isWhole(length)) throw outOfRange("options.outputLength", "an integer", length);
      if (length < 0 || length > 2 ** 32 - 1) throw outOfRange("options.outputLength", ">= 0 && <= 4294967295", length);
      return length;
    }
  }, createHash = (name2, options) => {
    let algorithm = plainName(name2);
    if (typeof name2 != "string") throw invalidType("algorithm", "string", name2);
    let length = checkedLength(options);
    if (algorithm in shakes) {
      if (length > LONGEST_SHAKE) throw outOfRange("options.outputLength", `>= 0 && <= ${LONGEST_SHAKE}`, length);
      return new Hash((bytes) => native8.shake(algorithm, bytes, length ?? shakes[algorithm]));
    }
    if (!hashes.includes(algorithm)) throw new Error("Digest method not supported");
    if (length !== void 0 && length !== native8.digest(algorithm, new Uint8Array(0)).length)
      throw codedError(Error, "ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH", "error:030000B2:digital envelope routines::not XOF or invalid length");
    return new Hash((bytes) => native8.digest(algorithm, bytes));
  }, createHmac = (name2, key) => {
    if (typeof name2 != "string") throw invalidType("hmac", "string", name2);
    let algorithm = plainName(name2);
    if (!hashes.includes(algorithm)) throw codedError(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${name2}`);
    let secret = keyBytes(key);
    return new Hmac((bytes) => native8.hmac(algorithm, secret, bytes));
  }, ROUNDS = 1e3, pbkdf2Sync = (password, salt, iterations, length, digest) => {
    if (typeof digest != "string") throw invalidType("digest", "string", digest);
    let algorithm = plainName(digest);
    if (!hashes.includes(algorithm)) throw codedError(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${digest}`);
    for (let [name2, number, least2] of [["iterations", iterations, 1], ["keylen", length, 0]]) {
      if (typeof number != "number") throw invalidType(name2, "number", number);
      if (!isWhole(number)) throw outOfRange(name2, "an integer", number);
      if (number < least2 || number > 2 ** 31 - 1) throw outOfRange(name2, `>= ${least2} && <= 2147483647`, number);
    }
    let key = bytesOf2(password, "utf8", "password"), blocks = [];
    for (let index = 1, done = 0; done < length; index++) {
      let counter = Buffer2.alloc(4);
      counter.writeUInt32BE(index);
      let mac = native8.hmac(algorithm, key, new Uint8Array(Buffer2.concat([bytesOf2(salt), counter]))), block = mac.slice();
      for (let left = iterations - 1; left > 0; left -= ROUNDS) {
        let codes2 = native8.hmacRounds(algorithm, key, mac, Math.min(left, ROUNDS));
        mac = codes2.slice(0, block.length);
        for (let at2 = 0; at2 < block.length; at2++) block[at2] ^= codes2[block.length + at2];
      }
      blocks.push(block), done += block.length;
    }
    return Buffer2.concat(blocks).subarray(0, length);
  }, scryptNames = { N: "cost", r: "blockSize", p: "parallelization" }, scryptParameters = (options) => {
    let wanted = { N: 16384, r: 8, p: 1, maxmem: 33554432 }, take2 = (name2, value, most) => {
      if (typeof value != "number") throw invalidType(name2, "number", value);
      if (!isWhole(value)) throw outOfRange(name2, "an integer", value);
      if (value < 0 || value > most) throw outOfRange(name2, `>= 0 && <= ${most}`, value);
      return value;
    };
    for (let [name2, other] of Object.entries(scryptNames)) {
      if (options?.[name2] !== void 0 && options[other] !== void 0)
        throw codedError(Error, "ERR_CRYPTO_SCRYPT_INVALID_PARAMETER", "Invalid scrypt parameter");
      for (let given of [name2, other])
        options?.[given] !== void 0 && (wanted[name2] = take2(given, options[given], 2 ** 32 - 1) || wanted[name2]);
    }
    options?.maxmem !== void 0 && (wanted.maxmem = take2("maxmem", options.maxmem, Number.MAX_SAFE_INTEGER) || wanted.maxmem);
    let refuse = (why) => codedError(RangeError, "ERR_CRYPTO_INVALID_SCRYPT_PARAMS", `Invalid scrypt params${why}`), { N: N2, r: r2, p: p2, maxmem } = wanted;
    if (N2 < 2 || !isWhole(Math.log2(N2)) || Math.log2(N2) >= 16 * r2) throw refuse("");
    if (128 * r2 * (p2 + N2 + 2) > maxmem) throw refuse(": error:030000AC:digital envelope routines::memory limit exceeded");
    return wanted;
  }, checkScrypt = (password, salt, length, options) => {
    let parameters = scryptParameters(options), [key, grains] = [bytesOf2(password, "utf8", "password", KINDS_WITH_BUFFERS), bytesOf2(salt, "utf8", "salt", KINDS_WITH_BUFFERS)];
    if (typeof length != "number") throw invalidType("keylen", "number", length);
    if (!isWhole(length)) throw outOfRange("keylen", "an integer", length);
    if (length < 0 || length > 2 ** 31 - 1) throw outOfRange("keylen", ">= 0 && <= 2147483647", length);
    return { key, grains, ...parameters };
  }, scryptSync = (password, salt, length, options) => {
    let { key, grains, N: N2, r: r2, p: p2 } = checkScrypt(password, salt, length, options);
    if (length === 0) return Buffer2.alloc(0);
    let mixed = pbkdf2Sync(key, grains, 1, 128 * r2 * p2, "sha256"), scratch = new Uint8Array(128 * r2 * N2);
    for (let at2 = 0; at2 < mixed.length; at2 += 128 * r2) {
      let block = new Uint8Array(mixed.subarray(at2, at2 + 128 * r2));
      native8.scryptMix(block, scratch, N2), mixed.set(block, at2);
    }
    return pbkdf2Sync(key, mixed, 1, length, "sha256");
  }, scrypt = (password, salt, length, options, callback) => {
    if (typeof options == "function" && ([options, callback] = [void 0, options]), checkScrypt(password, salt, length, options), typeof callback != "function") throw invalidType("callback", "function", callback);
    let key = scryptSync(password, salt, length, options);
    setTimeout(() => callback(null, key), 0);
  }, HKDF_KINDS = "string or an instance of ArrayBuffer, TypedArray, DataView, or Buffer", hkdfSync = (digest, key, salt, info, length) => {
    if (typeof digest != "string") throw invalidType("digest", "string", digest);
    let secret = bytesOf2(key, "utf8", "ikm", HKDF_KINDS.replace("ArrayBuffer", "SecretKeyObject, ArrayBuffer")), [grains, context2] = [bytesOf2(salt, "utf8", "salt", HKDF_KINDS), bytesOf2(info, "utf8", "info", HKDF_KINDS)];
    if (typeof length != "number") throw invalidType("length", "number", length);
    if (!isWhole(length)) throw outOfRange("length", "an integer", length);
    if (length < 0 || length > 2 ** 32) throw outOfRange("length", ">= 0 && <= 4294967296", length);
    if (context2.length > 1024) throw outOfRange("info", "must not contain more than 1024 bytes", context2.length);
    let algorithm = plainName(digest);
    if (!hashes.includes(algorithm)) throw codedError(TypeError, "ERR_CRYPTO_INVALID_DIGEST", `Invalid digest: ${digest}`);
    let start3 = native8.hmac(algorithm, grains, secret);
    if (length > 255 * start3.length) throw codedError(RangeError, "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length");
    let blocks = [], block = new Uint8Array(0);
    for (let done = 0; done < length; done += block.length)
      block = native8.hmac(algorithm, start3, new Uint8Array(Buffer2.concat([block, context2, Uint8Array.of(blocks.length + 1)]))), blocks.push(block);
    return new Uint8Array(Buffer2.concat(blocks)).buffer.slice(0, length);
  }, hkdf = (digest, key, salt, info, length, callback) => {
    if (typeof callback != "function") throw invalidType("callback", "function", callback);
    let derived = hkdfSync(digest, key, salt, info, length);
    setTimeout(() => callback(null, derived), 0);
  };

  // src/crypto.js
  init_util();

  // src/webcrypto.js
  init_buffer();
  init_util();
  var { native: native9, asBytes: asBytes2 } = host, { crypto: web } = globalThis, unsupported = (message = "Unrecognized algorithm name") => new DOMException(message, "NotSupportedError"), failed2 = () => new DOMException("The operation failed for an operation-specific reason", "OperationError"), nameOf3 = (algorithm) => typeof algorithm == "string" ? algorithm : algorithm?.name, known = ["HMAC", "AES-CBC", "AES-CTR", "AES-GCM", "PBKDF2", "HKDF"], algorithmOf = (algorithm) => {
    let name2 = String(nameOf3(algorithm)).toUpperCase();
    if (!known.includes(name2)) throw unsupported(`${nameOf3(algorithm)} is not here: there are digests, ${known.join(", ")}`);
    return name2;
  }, webHash = (algorithm) => {
    let name2 = plainName(nameOf3(algorithm));
    if (!["sha1", "sha256", "sha384", "sha512"].includes(name2)) throw unsupported();
    return name2;
  }, webBytes = (data) => {
    let bytes = typeof data == "object" && data !== null ? asBytes2(data) : void 0;
    if (bytes === void 0) throw new TypeError("the data is bytes: an ArrayBuffer or a view of one");
    return bytes;
  }, bufferOf = (bytes) => new Uint8Array(bytes).buffer, usagesOf = (name2) => name2 === "HMAC" ? ["sign", "verify"] : name2.startsWith("AES-") ? ["encrypt", "decrypt", "wrapKey", "unwrapKey"] : ["deriveKey", "deriveBits"], makeKey = (secret, algorithm, extractable, usages) => {
    let name2 = algorithmOf(algorithm);
    if ([...usages].find((usage) => !usagesOf(name2).includes(usage)) !== void 0) throw new DOMException(`Unsupported key usage for ${/^[AH]MAC|^AES/.test(name2) ? `an ${name2}` : `a ${name2}`} key`, "SyntaxError");
    if (usages.length === 0) throw new DOMException("Usages cannot be empty when importing a secret key.", "SyntaxError");
    let fields = { name: name2 };
    if (name2 === "HMAC" && Object.assign(fields, { hash: { name: webHash(algorithm.hash).replace("sha", "SHA-") } }), name2.startsWith("AES-") && ![16, 24, 32].includes(secret.length)) throw new DOMException("Invalid key length", "DataError");
    return (name2 === "HMAC" || name2.startsWith("AES-")) && (fields.length = secret.length * 8), makeWebKey(secret, { type: "secret", extractable, algorithm: fields, usages: [...usages] });
  }, usable = (key, algorithm, usage) => {
    if (!isKey(key) || !(key instanceof CryptoKey2)) throw new TypeError("the key is a CryptoKey");
    if (!key.usages.includes(usage) || key.algorithm.name !== algorithmOf(algorithm)) throw new DOMException(key.usages.includes(usage) ? "Key algorithm mismatch" : `Unable to use this key to ${usage}`, "InvalidAccessError");
    return secretOf(key);
  }, hashOf = (key) => plainName(key.algorithm.hash.name), checkCounter = ({ length }, counter, data) => {
    if (length !== 128 && length !== 64) throw unsupported("counters have 64 or 128 bits here");
    let first = Buffer2.from(counter).readBigUInt64BE(8), blocks = BigInt(Math.ceil(webBytes(data).length / 16));
    if (length === 64 && first + blocks > 2n ** 64n) throw unsupported("a counter of 64 bits cannot begin again here: use 128");
  }, cipherFor = (create, algorithm, key, data, usage) => {
    let secret = usable(key, algorithm, usage), mode = key.algorithm.name.slice(4).toLowerCase(), vector = webBytes(mode === "ctr" ? algorithm.counter : algorithm.iv);
    if (mode !== "gcm") {
      if (vector.length !== 16) throw new DOMException(`algorithm.${mode === "ctr" ? "counter" : "iv"} must contain exactly 16 bytes`, "OperationError");
      return mode === "ctr" && checkCounter(algorithm, vector, data), { cipher: create(`aes-${secret.length * 8}-${mode}`, secret, vector), tag: 0 };
    }
    let bits = algorithm.tagLength ?? 128;
    if (![32, 64, 96, 104, 112, 120, 128].includes(bits)) throw new DOMException(`${bits} is not a valid AES-GCM tag length`, "OperationError");
    let cipher = create(`aes-${secret.length * 8}-gcm`, secret, vector, { authTagLength: bits / 8 });
    return algorithm.additionalData !== void 0 && cipher.setAAD(webBytes(algorithm.additionalData)), { cipher, tag: bits / 8 };
  }, encrypt = (algorithm, key, data, usage) => {
    let { cipher, tag } = cipherFor(createCipheriv, algorithm, key, data, usage), parts = [cipher.update(webBytes(data)), cipher.final()];
    return tag > 0 && parts.push(cipher.getAuthTag()), bufferOf(Buffer2.concat(parts));
  }, decrypt = (algorithm, key, data, usage) => {
    let { cipher, tag } = cipherFor(createDecipheriv, algorithm, key, data, usage), bytes = webBytes(data);
    if (bytes.length < tag) throw new DOMException("The provided data is too small.", "OperationError");
    tag > 0 && cipher.setAuthTag(bytes.subarray(bytes.length - tag));
    try {
      return bufferOf(Buffer2.concat([cipher.update(bytes.subarray(0, bytes.length - tag)), cipher.final()]));
    } catch {
      throw failed2();
    }
  }, derive = (algorithm, key, bits, usage) => {
    let secret = usable(key, algorithm, usage);
    if (typeof bits != "number" || bits % 8 !== 0) throw new DOMException("length must be a multiple of 8", "OperationError");
    let hash = webHash(algorithm.hash), salt = webBytes(algorithm.salt);
    if (key.algorithm.name === "HKDF") return hkdfSync(hash, secret, salt, webBytes(algorithm.info), bits / 8);
    if (algorithm.iterations === 0) throw new DOMException("iterations cannot be zero", "OperationError");
    return bufferOf(pbkdf2Sync(secret, salt, algorithm.iterations, bits / 8, hash));
  }, lengthOf = (algorithm) => {
    let name2 = algorithmOf(algorithm);
    if (name2 === "HMAC") return algorithm.length ?? (["sha384", "sha512"].includes(webHash(algorithm.hash)) ? 1024 : 512);
    if (!name2.startsWith("AES-")) throw unsupported();
    if (![128, 192, 256].includes(algorithm.length)) throw new DOMException("Invalid key length", "OperationError");
    return algorithm.length;
  }, toJwk = (key) => {
    let { name: name2, length } = key.algorithm, alg = name2 === "HMAC" ? `HS${hashOf(key).slice(3)}` : `A${length}${name2.slice(4)}`;
    return { key_ops: key.usages, ext: key.extractable, kty: "oct", k: Buffer2.from(secretOf(key)).toString("base64url"), alg };
  }, exported = (format4, key) => {
    if (!key.extractable) throw new DOMException("key is not extractable", "InvalidAccessException");
    if (format4 === "raw") return bufferOf(secretOf(key));
    if (format4 === "jwk") return toJwk(key);
    throw unsupported(`a secret key is exported as raw or jwk, not ${format4}`);
  }, imported = (format4, data, algorithm, extractable, usages) => {
    if (format4 !== "jwk" && format4 !== "raw") throw unsupported(`a secret key is imported as raw or jwk, not ${format4}`);
    let secret = format4 === "jwk" ? new Uint8Array(Buffer2.from(data.k, "base64url")) : webBytes(data).slice();
    return makeKey(secret, algorithm, extractable, usages);
  }, subtle = {
    digest: (algorithm, data) => bufferOf(native9.digest(webHash(algorithm), webBytes(data))),
    importKey: imported,
    exportKey: exported,
    generateKey: (algorithm, extractable, usages) => makeKey(native9.randomBytes(lengthOf(algorithm) / 8), algorithm, extractable, usages),
    sign(algorithm, key, data) {
      let secret = usable(key, algorithm, "sign");
      return bufferOf(native9.hmac(hashOf(key), secret, webBytes(data)));
    },
    verify(algorithm, key, signature, data) {
      let secret = usable(key, algorithm, "verify"), right = native9.hmac(hashOf(key), secret, webBytes(data)), given = webBytes(signature);
      return given.length === right.length && right.reduce((difference2, byte, at2) => difference2 | byte ^ given[at2], 0) === 0;
    },
    encrypt: (algorithm, key, data) => encrypt(algorithm, key, data, "encrypt"),
    decrypt: (algorithm, key, data) => decrypt(algorithm, key, data, "decrypt"),
    deriveBits: (algorithm, key, bits) => derive(algorithm, key, bits, "deriveBits"),
    deriveKey: (algorithm, key, type, extractable, usages) => makeKey(new Uint8Array(derive(algorithm, key, lengthOf(type), "deriveKey")), type, extractable, usages),
    wrapKey(format4, key, wrapping, algorithm) {
      let shown4 = exported(format4, key);
      return encrypt(algorithm, wrapping, format4 === "jwk" ? Buffer2.from(JSON.stringify(shown4)) : shown4, "wrapKey");
    },
    unwrapKey(format4, data, unwrapping, algorithm, type, extractable, usages) {
      let shown4 = decrypt(algorithm, unwrapping, data, "unwrapKey");
      return imported(format4, format4 === "jwk" ? JSON.parse(Buffer2.from(shown4).toString()) : shown4, type, extractable, usages);
    }
  }, least = { digest: 2, importKey: 4, exportKey: 2, generateKey: 3, sign: 3, verify: 4, encrypt: 3, decrypt: 3, deriveBits: 2, deriveKey: 5, wrapKey: 4, unwrapKey: 6 };
  for (let [name2, work2] of Object.entries(subtle)) {
    let asked = async (...given) => {
      if (given.length < least[name2])
        throw codedError(TypeError, "ERR_MISSING_ARGS", `Failed to execute '${name2}' on 'SubtleCrypto': ${least[name2]} arguments required, but only ${given.length} present.`);
      return work2(...given);
    };
    subtle[name2] = { [name2]: asked }[name2];
  }
  var classOf = (object, name2, more = {}) => {
    let made3 = { [name2]: class {
      constructor() {
        throw illegalConstructor();
      }
    } }[name2];
    for (let [key, value] of Object.entries(object)) Object.defineProperty(made3.prototype, key, { value, writable: !0, configurable: !0 });
    return Object.defineProperties(made3.prototype, { ...more, [Symbol.toStringTag]: { value: name2, configurable: !0 } }), made3;
  }, subtleObject = Object.create(classOf(subtle, "SubtleCrypto").prototype), { getRandomValues, randomUUID } = web, Crypto = classOf({ getRandomValues, randomUUID }, "Crypto", { subtle: { get: () => subtleObject, configurable: !0 } });
  for (let name2 of Object.keys(web)) delete web[name2];
  Object.setPrototypeOf(web, Crypto.prototype);
  var webcrypto_default = web;

  // src/crypto.js
  var { native: native10, asBytes: asBytes3 } = host, randomBytes = (size, callback) => {
    if (typeof size != "number") throw invalidType("size", "number", size);
    if (!isWhole(size) || size < 0 || size > 2 ** 31 - 1)
      throw codedError(RangeError, "ERR_OUT_OF_RANGE", `The value of "size" is out of range. It must be >= 0 && <= 2147483647. Received ${size}`);
    let bytes = Buffer2.from(native10.randomBytes(size).buffer);
    if (callback === void 0) return bytes;
    setTimeout(() => callback(null, bytes), 0);
  }, randomInt = (low, high, callback) => {
    (high === void 0 || typeof high == "function") && ([low, high, callback] = [0, low, high]);
    for (let [name2, bound] of [["min", low], ["max", high]]) if (!Number.isSafeInteger(bound)) throw invalidType(name2, "a safe integer", bound);
    if (low >= high)
      throw codedError(RangeError, "ERR_OUT_OF_RANGE", `The value of "max" is out of range. It must be greater than the value of "min" (${low}). Received ${high}`);
    if (high - low > 2 ** 48 - 1) throw outOfRange("max - min", "<= 281474976710655", high - low);
    let range = BigInt(high) - BigInt(low), value = Number(BigInt(`0x${randomBytes(16).toString("hex")}`) % range) + low;
    return callback === void 0 ? value : setTimeout(() => callback(void 0, value), 0);
  }, randomFillSync = (buffer2, offset = 0, size = buffer2?.byteLength - offset) => {
    if (!ArrayBuffer.isView(buffer2) && !(buffer2 instanceof ArrayBuffer)) throw invalidType("buf", "an instance of ArrayBuffer or ArrayBufferView", buffer2);
    return asBytes3(buffer2).set(native10.randomBytes(size), offset), buffer2;
  }, timingSafeEqual = (a2, b2) => {
    let [x2, y2] = [["buf1", a2], ["buf2", b2]].map(([name2, value]) => {
      if (!ArrayBuffer.isView(value) && !(value instanceof ArrayBuffer)) throw codedError(TypeError, "ERR_INVALID_ARG_TYPE", `The "${name2}" argument must be an instance of ArrayBuffer, Buffer, TypedArray, or DataView.`);
      return bytesOf2(value);
    });
    if (x2.length !== y2.length) throw codedError(RangeError, "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH", "Input buffers must have the same byte length");
    let difference2 = 0;
    for (let i2 = 0; i2 < x2.length; i2++) difference2 |= x2[i2] ^ y2[i2];
    return difference2 === 0;
  }, randomFill = (buffer2, offset, size, callback) => {
    if (typeof offset == "function" ? [offset, callback] = [void 0, offset] : typeof size == "function" && ([size, callback] = [void 0, size]), typeof callback != "function") throw invalidType("callback", "function", callback);
    randomFillSync(buffer2, offset, size), setTimeout(() => callback(null, buffer2), 0);
  }, ABSENT = [
    "Certificate",
    "DiffieHellman",
    "DiffieHellmanGroup",
    "ECDH",
    "Sign",
    "Verify",
    "X509Certificate",
    "createDiffieHellmanGroup",
    "getCurves",
    "getDiffieHellman",
    "setEngine",
    "setFips",
    "checkPrime",
    "checkPrimeSync",
    "createDiffieHellman",
    "createECDH",
    "createPrivateKey",
    "createPublicKey",
    "createSign",
    "createVerify",
    "diffieHellman",
    "generateKeyPair",
    "generateKeyPairSync",
    "generatePrime",
    "generatePrimeSync",
    "privateDecrypt",
    "privateEncrypt",
    "publicDecrypt",
    "publicEncrypt",
    "sign",
    "verify"
  ], crypto_default = {
    createHash,
    constants: constants3,
    createHmac,
    hash: (name2, data, encoding = "hex") => createHash(name2).update(data).digest(encoding),
    getHashes: () => [...allHashes],
    getCiphers,
    getCipherInfo,
    randomBytes,
    randomInt,
    randomUUID(options) {
      if (options !== void 0 && (options === null || typeof options != "object")) throw invalidType("options", "object", options);
      let unused = options?.disableEntropyCache;
      if (unused !== void 0 && typeof unused != "boolean") throw invalidType("options.disableEntropyCache", "boolean", unused);
      return webcrypto_default.randomUUID();
    },
    randomFill,
    randomFillSync,
    getRandomValues: (target2) => webcrypto_default.getRandomValues(target2),
    timingSafeEqual,
    pbkdf2Sync,
    pbkdf2: (...values2) => {
      let callback = values2.pop(), key = pbkdf2Sync(...values2);
      setTimeout(() => callback(null, key), 0);
    },
    createCipheriv,
    createDecipheriv,
    createSecretKey,
    generateKeySync: (type, options) => generateKeySync(type, options, (size) => native10.randomBytes(size)),
    generateKey: (type, options, callback) => {
      if (typeof callback != "function") throw invalidType("callback", "function", callback);
      let key = generateKeySync(type, options, (size) => native10.randomBytes(size));
      setTimeout(() => callback(null, key), 0);
    },
    ...allAbsent("crypto", ABSENT, "there are digests, HMAC, AES, pbkdf2, scrypt, hkdf and random numbers"),
    ...allAbsent("crypto", ["Cipher", "Decipher", "createCipher", "createDecipher"], "its key is weak. Use createCipheriv and createDecipheriv with a key of scrypt"),
    getFips: () => 0,
    secureHeapUsed: () => ({ total: 0, used: 0, utilization: 0, min: 0 }),
    prng: randomBytes,
    pseudoRandomBytes: randomBytes,
    rng: randomBytes,
    scrypt,
    scryptSync,
    hkdf,
    hkdfSync,
    Cipheriv,
    Decipheriv,
    Hash,
    Hmac,
    KeyObject,
    webcrypto: webcrypto_default,
    subtle: webcrypto_default.subtle
  };

  // src/diagnostics_channel.js
  init_process();
  init_util();
  var channels = /* @__PURE__ */ new Map(), withStores = (stores, message, work2) => {
    let [first, ...rest] = stores;
    if (first === void 0) return work2();
    let [storage, transform] = first, store = message;
    try {
      transform !== void 0 && (store = transform(message));
    } catch (error) {
      return process_default.nextTick(() => {
        throw error;
      }), withStores(rest, message, work2);
    }
    return storage.run(store, () => withStores(rest, message, work2));
  }, checkFunction = (name2, value) => {
    if (typeof value != "function") throw invalidType(name2, "function", value);
  }, Channel = class {
    constructor(name2) {
      this._subscribers = void 0, this._stores = void 0, this.name = name2;
    }
    get hasSubscribers() {
      return this._subscribers !== void 0;
    }
    #activate() {
      this._subscribers ??= [], this._stores ??= /* @__PURE__ */ new Map();
    }
    #rest() {
      this._subscribers.length > 0 || this._stores.size > 0 || (this._subscribers = void 0, this._stores = void 0);
    }
    subscribe(subscription) {
      checkFunction("subscription", subscription), this.#activate(), this._subscribers = [...this._subscribers, subscription];
    }
    unsubscribe(subscription) {
      let at2 = this._subscribers?.indexOf(subscription) ?? -1;
      return at2 < 0 ? !1 : (this._subscribers = this._subscribers.toSpliced(at2, 1), this.#rest(), !0);
    }
    bindStore(storage, transform) {
      this.#activate(), this._stores.set(storage, transform);
    }
    unbindStore(storage) {
      let isBound = this._stores?.delete(storage) ?? !1;
      return isBound && this.#rest(), isBound;
    }
    publish(message) {
      for (let subscriber of this._subscribers ?? [])
        try {
          subscriber(message, this.name);
        } catch (error) {
          process_default.nextTick(() => {
            throw error;
          });
        }
    }
    runStores(message, work2, self2, ...values2) {
      return withStores([...this._stores ?? []], message, () => (this.publish(message), Reflect.apply(work2, self2, values2)));
    }
  }, channel = (name2) => {
    if (typeof name2 != "string" && typeof name2 != "symbol") throw invalidType("channel", "one of type string or symbol", name2);
    return channels.has(name2) || channels.set(name2, new Channel(name2)), channels.get(name2);
  }, subscribe = (name2, subscription) => channel(name2).subscribe(subscription), unsubscribe = (name2, subscription) => channel(name2).unsubscribe(subscription), hasSubscribers = (name2) => channels.get(name2)?.hasSubscribers ?? !1, EVENTS = ["start", "end", "asyncStart", "asyncEnd", "error"], channelOf = (channels3, event) => {
    if (typeof channels3 == "string") return channel(`tracing:${channels3}:${event}`);
    let given = channels3?.[event];
    if (!(given instanceof Channel)) throw invalidType(`nameOrChannels.${event}`, "an instance of Channel", given);
    return given;
  }, TracingChannel = class {
    constructor(channels3) {
      for (let event of EVENTS) Object.defineProperty(this, event, { value: channelOf(channels3, event), configurable: !0 });
    }
    get hasSubscribers() {
      return EVENTS.some((event) => this[event].hasSubscribers);
    }
    subscribe(handlers) {
      for (let event of EVENTS) handlers[event] && this[event].subscribe(handlers[event]);
    }
    unsubscribe(handlers) {
      return EVENTS.filter((event) => handlers[event] && !this[event].unsubscribe(handlers[event])).length === 0;
    }
    traceSync(work2, context2 = {}, self2, ...values2) {
      return this.start.runStores(context2, () => {
        try {
          return context2.result = Reflect.apply(work2, self2, values2), context2.result;
        } catch (error) {
          throw context2.error = error, this.error.publish(context2), error;
        } finally {
          this.end.publish(context2);
        }
      });
    }
    tracePromise(work2, context2 = {}, self2, ...values2) {
      let settle = (publishes, field) => (value) => {
        if (context2[field] = value, publishes && this.error.publish(context2), this.asyncStart.publish(context2), this.asyncEnd.publish(context2), publishes) throw value;
        return value;
      };
      return this.start.runStores(context2, () => {
        try {
          let promise = Reflect.apply(work2, self2, values2);
          return Promise.resolve(promise).then(settle(!1, "result"), settle(!0, "error"));
        } catch (error) {
          throw context2.error = error, this.error.publish(context2), error;
        } finally {
          this.end.publish(context2);
        }
      });
    }
    traceCallback(work2, position = -1, context2 = {}, self2 = void 0, ...values2) {
      let callback = values2.at(position);
      checkFunction("callback", callback);
      let { asyncStart, asyncEnd, error: errors2 } = this, wrapped = function(error, result) {
        return error ? (context2.error = error, errors2.publish(context2)) : context2.result = result, asyncStart.runStores(context2, () => {
          try {
            return Reflect.apply(callback, this, arguments);
          } finally {
            asyncEnd.publish(context2);
          }
        });
      };
      return values2.splice(position, 1, wrapped), this.start.runStores(context2, () => {
        try {
          return Reflect.apply(work2, self2, values2);
        } catch (error) {
          throw context2.error = error, this.error.publish(context2), error;
        } finally {
          this.end.publish(context2);
        }
      });
    }
  }, tracingChannel = (channels3) => {
    if (typeof channels3 != "string" && (typeof channels3 != "object" || channels3 === null))
      throw codedError(TypeError, "ERR_INVALID_ARG_TYPE", `The "nameOrChannels" argument must be of type string or an instance of TracingChannel or Object.${host.received(channels3)}`);
    return new TracingChannel(channels3);
  }, diagnostics_channel_default = { channel, hasSubscribers, subscribe, tracingChannel, unsubscribe, Channel };

  // src/index.js
  init_events();

  // src/histogram.js
  init_util();
  var NO_MINIMUM = 2n ** 63n - 1n, isMaking = !1, Histogram = class {
    // Counts by the smallest of the values that are not distinguished from each other, in ascending order once sorted.
    #counts = /* @__PURE__ */ new Map();
    #isSorted = !0;
    #count = 0;
    #exceeds = 0;
    #least = 1 / 0;
    #most = 0;
    #lowest;
    #highest;
    // Binary digits of a value that are kept after the first.
    #digits;
    constructor(lowest, highest, figures2) {
      if (!isMaking) throw illegalConstructor();
      this.#lowest = 2 ** Math.floor(Math.log2(lowest)), this.#highest = highest, this.#digits = Math.ceil(Math.log2(2 * 10 ** figures2)) - 1;
    }
    // Returns the number of values that are not distinguished from this one.
    #width(value) {
      let width = this.#lowest;
      for (; value >= width * 2 ** (this.#digits + 1); ) width *= 2;
      return width;
    }
    #floor(value) {
      let width = this.#width(value);
      return Math.floor(value / width) * width;
    }
    #ceiling(value) {
      return this.#floor(value) + this.#width(value) - 1;
    }
    #middle(value) {
      return value + Math.floor(this.#width(value) / 2);
    }
    get #sorted() {
      return this.#isSorted || (this.#counts = new Map([...this.#counts].sort(([a2], [b2]) => a2 - b2))), this.#isSorted = !0, this.#counts;
    }
    static add(histogram, value, count) {
      if (value > histogram.#highest) {
        histogram.#exceeds += count;
        return;
      }
      let floor = histogram.#floor(value);
      histogram.#isSorted = !1, histogram.#counts.set(floor, (histogram.#counts.get(floor) ?? 0) + count), histogram.#count += count, histogram.#least = Math.min(histogram.#least, value), histogram.#most = Math.max(histogram.#most, value);
    }
    static addAll(histogram, other) {
      for (let [value, count] of other.#counts) add(histogram, value, count);
      histogram.#exceeds += other.#exceeds;
    }
    get count() {
      return this.#count;
    }
    get countBigInt() {
      return BigInt(this.#count);
    }
    get min() {
      return Number(this.minBigInt);
    }
    get minBigInt() {
      return this.#count === 0 ? NO_MINIMUM : BigInt(this.#floor(this.#least));
    }
    get max() {
      return this.#count === 0 ? 0 : this.#ceiling(this.#most);
    }
    get maxBigInt() {
      return BigInt(this.max);
    }
    get mean() {
      let sum = 0;
      for (let [value, count] of this.#sorted) sum += this.#middle(value) * count;
      return sum / this.#count;
    }
    get exceeds() {
      return this.#exceeds;
    }
    get exceedsBigInt() {
      return BigInt(this.#exceeds);
    }
    get stddev() {
      let { mean } = this, sum = 0;
      for (let [value, count] of this.#sorted) sum += (this.#middle(value) - mean) ** 2 * count;
      return Math.sqrt(sum / this.#count);
    }
    percentile(percentile) {
      if (typeof percentile != "number") throw invalidType("percentile", "number", percentile);
      if (!(percentile > 0 && percentile <= 100)) throw outOfRange("percentile", "> 0 && <= 100", percentile);
      let left = Math.max(Math.floor(percentile / 100 * this.#count + 0.5), 1);
      for (let [value, count] of this.#sorted)
        if (left -= count, left <= 0) return this.#ceiling(value);
      return 0;
    }
    percentileBigInt(percentile) {
      return BigInt(this.percentile(percentile));
    }
    // Values at 0, 50, 75, 87.5 … per cent, as far as they differ, and at 100.
    get percentiles() {
      let found = /* @__PURE__ */ new Map(), wanted = 0, passed = 0, last2 = 0;
      for (let [value, count] of this.#sorted)
        for (passed += count, last2 = value; wanted <= 100 * passed / this.#count && (found.set(wanted, value), wanted += 100 / 2 ** (Math.floor(Math.log2(100 / (100 - wanted))) + 1), passed !== this.#count); )
          ;
      return found.set(100, last2);
    }
    get percentilesBigInt() {
      return new Map([...this.percentiles].map(([percentile, value]) => [percentile, BigInt(value)]));
    }
    reset() {
      this.#counts = /* @__PURE__ */ new Map(), [this.#count, this.#exceeds, this.#least, this.#most] = [0, 0, 1 / 0, 0];
    }
    toJSON() {
      let { count, min, max, mean, exceeds, stddev, percentiles } = this;
      return { count, min, max, mean, exceeds, stddev, percentiles: Object.fromEntries(percentiles) };
    }
    [inspect.custom](depth, options) {
      if (depth < 0) return this;
      let { min, max, mean, exceeds, stddev, count, percentiles } = this, inner = { ...options, depth: options.depth == null ? null : options.depth - 1 };
      return `Histogram ${inspect({ min, max, mean, exceeds, stddev, count, percentiles }, inner)}`;
    }
  }, { add, addAll } = Histogram;
  delete Histogram.add;
  delete Histogram.addAll;
  var RecordableHistogram = class _RecordableHistogram extends Histogram {
    #last;
    record(value) {
      if (typeof value == "bigint") {
        if (value < 1n) throw outOfRange("value", "> 0", value);
        return add(this, Number(value), 1);
      }
      if (typeof value != "number") throw invalidType("val", "number", value);
      if (!isWhole(value)) throw outOfRange("val", "an integer", value);
      if (value < 1 || value > Number.MAX_SAFE_INTEGER) throw outOfRange("val", `>= 1 && <= ${Number.MAX_SAFE_INTEGER}`, value);
      add(this, value, 1);
    }
    // Records the nanoseconds since the last call.
    recordDelta() {
      let now3 = Math.round(performance.now() * 1e6);
      this.#last !== void 0 && now3 > this.#last && add(this, now3 - this.#last, 1), this.#last = now3;
    }
    add(other) {
      if (!(other instanceof _RecordableHistogram)) throw invalidType("other", "an instance of RecordableHistogram", other);
      addAll(this, other);
    }
  }, limit = (value, name2) => {
    if (typeof value == "bigint") return Number(value);
    if (typeof value != "number") throw invalidType(name2, "an integer", value);
    if (!isWhole(value)) throw outOfRange(name2, "an integer", value);
    return value;
  }, createHistogram = (options = {}) => {
    if (options === null || typeof options != "object") throw invalidType("options", "object", options);
    let { lowest = 1, highest = Number.MAX_SAFE_INTEGER, figures: figures2 = 3 } = options, [least2, most, kept] = [limit(lowest, "options.lowest"), limit(highest, "options.highest"), limit(figures2, "options.figures")];
    if (least2 < 1) throw outOfRange("options.lowest", `>= 1 && <= ${Number.MAX_SAFE_INTEGER}`, lowest);
    if (most < 2 * least2) throw outOfRange("options.highest", `>= ${2 * least2} && <= ${Number.MAX_SAFE_INTEGER}`, highest);
    if (kept < 1 || kept > 5) throw outOfRange("options.figures", ">= 1 && <= 5", figures2);
    isMaking = !0;
    try {
      return new RecordableHistogram(least2, most, kept);
    } finally {
      isMaking = !1;
    }
  };

  // src/http.js
  init_buffer();
  init_events();

  // src/http-status.js
  var STATUS_CODES = {
    100: "Continue",
    101: "Switching Protocols",
    102: "Processing",
    103: "Early Hints",
    200: "OK",
    201: "Created",
    202: "Accepted",
    203: "Non-Authoritative Information",
    204: "No Content",
    205: "Reset Content",
    206: "Partial Content",
    207: "Multi-Status",
    208: "Already Reported",
    226: "IM Used",
    300: "Multiple Choices",
    301: "Moved Permanently",
    302: "Found",
    303: "See Other",
    304: "Not Modified",
    305: "Use Proxy",
    307: "Temporary Redirect",
    308: "Permanent Redirect",
    400: "Bad Request",
    401: "Unauthorized",
    402: "Payment Required",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    407: "Proxy Authentication Required",
    408: "Request Timeout",
    409: "Conflict",
    410: "Gone",
    411: "Length Required",
    412: "Precondition Failed",
    413: "Payload Too Large",
    414: "URI Too Long",
    415: "Unsupported Media Type",
    416: "Range Not Satisfiable",
    417: "Expectation Failed",
    418: "I'm a Teapot",
    421: "Misdirected Request",
    422: "Unprocessable Entity",
    423: "Locked",
    424: "Failed Dependency",
    425: "Too Early",
    426: "Upgrade Required",
    428: "Precondition Required",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    451: "Unavailable For Legal Reasons",
    500: "Internal Server Error",
    501: "Not Implemented",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    505: "HTTP Version Not Supported",
    506: "Variant Also Negotiates",
    507: "Insufficient Storage",
    508: "Loop Detected",
    509: "Bandwidth Limit Exceeded",
    510: "Not Extended",
    511: "Network Authentication Required"
  };

  // src/http.js
  init_process();
  init_util();
  var METHODS = [
    "ACL",
    "BIND",
    "CHECKOUT",
    "CONNECT",
    "COPY",
    "DELETE",
    "GET",
    "HEAD",
    "LINK",
    "LOCK",
    "M-SEARCH",
    "MERGE",
    "MKACTIVITY",
    "MKCALENDAR",
    "MKCOL",
    "MOVE",
    "NOTIFY",
    "OPTIONS",
    "PATCH",
    "POST",
    "PROPFIND",
    "PROPPATCH",
    "PURGE",
    "PUT",
    "QUERY",
    "REBIND",
    "REPORT",
    "SEARCH",
    "SOURCE",
    "SUBSCRIBE",
    "TRACE",
    "UNBIND",
    "UNLINK",
    "UNLOCK",
    "UNSUBSCRIBE"
  ], single = [
    "age",
    "authorization",
    "content-length",
    "content-type",
    "etag",
    "expires",
    "from",
    "host",
    "if-modified-since",
    "if-unmodified-since",
    "last-modified",
    "location",
    "max-forwards",
    "proxy-authorization",
    "referer",
    "retry-after",
    "server",
    "user-agent"
  ], codesOfKinds = { connection: "ECONNREFUSED", dns: "ENOTFOUND", timeout: "ETIMEDOUT" }, validateHeaderName = (name2) => {
    if (typeof name2 != "string" || !/^[\w!#$%&'*+.^`|~-]+$/.test(name2))
      throw codedError(TypeError, "ERR_INVALID_HTTP_TOKEN", `Header name must be a valid HTTP token ["${name2}"]`);
  }, validateHeaderValue = (name2, value) => {
    if (value === void 0) throw codedError(TypeError, "ERR_HTTP_INVALID_HEADER_VALUE", `Invalid value "${value}" for header "${name2}"`);
    if (/[^\t\x20-\x7e\x80-\xff]/.test(String(value))) throw codedError(TypeError, "ERR_INVALID_CHAR", `Invalid character in header content ["${name2}"]`);
  }, Socket = class extends events_default {
    #request;
    constructor(request, encrypted) {
      super(), this.#request = request, this.encrypted = encrypted;
    }
    setTimeout(delay, callback) {
      return callback && this.once("timeout", callback), this.#request.setTimeout(delay, () => this.emit("timeout")), this;
    }
    setNoDelay() {
      return this;
    }
    setKeepAlive() {
      return this;
    }
    ref() {
      return this;
    }
    unref() {
      return this;
    }
    destroy(error) {
      return this.#request.destroy(error), this;
    }
  }, IncomingMessage = class extends stream_default.Readable {
    constructor(record, request) {
      super(), Object.assign(this, {
        statusCode: record.status,
        statusMessage: STATUS_CODES[record.status] ?? "",
        httpVersion: "1.1",
        httpVersionMajor: 1,
        httpVersionMinor: 1,
        complete: !1,
        aborted: !1,
        url: "",
        method: null,
        headers: {},
        headersDistinct: /* @__PURE__ */ Object.create(null),
        rawHeaders: record.headers.flat(),
        trailers: {},
        rawTrailers: [],
        req: request,
        socket: request.socket
      });
      for (let [name2, value] of record.headers) this.#addHeader(name2.toLowerCase(), value);
      let bytes = record.bytes ?? host.native.encodeUtf8(record.text ?? "");
      bytes.length > 0 && this.push(Buffer2.from(bytes)), this.push(null), this.once("end", () => this.complete = !0);
    }
    #addHeader(name2, value) {
      (this.headersDistinct[name2] ??= []).push(value), name2 === "set-cookie" ? (this.headers[name2] ??= []).push(value) : Object.hasOwn(this.headers, name2) ? single.includes(name2) || (this.headers[name2] += `${name2 === "cookie" ? "; " : ", "}${value}`) : this.headers[name2] = value;
    }
    _read() {
    }
    setTimeout(delay, callback) {
      return callback && this.once("timeout", callback), this;
    }
    get connection() {
      return this.socket;
    }
  }, optionsOf = (url) => ({
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[|\]$/g, ""),
    path: url.pathname + url.search,
    ...url.port === "" ? {} : { port: Number(url.port) },
    ...url.username === "" && url.password === "" ? {} : { auth: `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}` }
  }), pairsOf = (headers) => Array.isArray(headers) ? headers.every(Array.isArray) ? headers : headers.flatMap((name2, at2) => at2 % 2 === 0 ? [[name2, headers[at2 + 1]]] : []) : Object.entries(headers ?? {}), isImplied = (name2, value, url, length) => ["connection", "keep-alive", "transfer-encoding"].includes(name2) || name2 === "host" && value === url.host || name2 === "content-length" && Number(value) === length, ClientRequest = class _ClientRequest extends stream_default.Writable {
    #headers = /* @__PURE__ */ new Map();
    #parts = [];
    #stopping = new AbortController();
    #url;
    #timer;
    constructor(given, options, callback, standard = "http:") {
      super({ decodeStrings: !1, autoDestroy: !1 });
      let known3 = typeof given == "string" ? optionsOf(new URL(given)) : given instanceof URL ? optionsOf(given) : {};
      typeof options == "function" && ([options, callback] = [void 0, options]);
      let all3 = { ...known3, ...typeof given == "string" || given instanceof URL ? {} : given, ...options }, protocol = all3.protocol ?? standard;
      if (protocol !== standard) throw codedError(TypeError, "ERR_INVALID_PROTOCOL", `Protocol "${protocol}" not supported. Expected "${standard}"`);
      let path2 = String(all3.path || "/");
      if (/[^\x21-\xff]/.test(path2)) throw codedError(TypeError, "ERR_UNESCAPED_CHARACTERS", "Request path contains unescaped characters");
      if (all3.method !== void 0 && typeof all3.method != "string") throw invalidType("options.method", "string", all3.method);
      if (all3.method !== void 0 && !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(all3.method))
        throw codedError(TypeError, "ERR_INVALID_HTTP_TOKEN", `Method must be a valid HTTP token ["${all3.method}"]`);
      for (let key of ["hostname", "host"])
        if (all3[key] !== void 0 && all3[key] !== null && typeof all3[key] != "string")
          throw invalidType(`options.${key}`, "string or one of undefined or null", all3[key]);
      let name2 = all3.hostname || all3.host || "localhost", port = all3.port ?? all3.defaultPort;
      this.#url = new URL(`${protocol}//${name2.includes(":") ? `[${name2}]` : name2}${port == null ? "" : `:${port}`}${/^[/?]/.test(path2) ? "" : "/"}${path2}`), this.method = (all3.method ?? "GET").toUpperCase(), Object.assign(this, { path: path2, protocol, host: name2, aborted: !1, headersSent: !1, reusedSocket: !1, maxHeadersCount: null, res: null }), this.agent = all3.agent === void 0 ? (protocol === "https:" ? https : http).globalAgent : all3.agent;
      for (let [key, value] of pairsOf(all3.headers)) this.setHeader(key, value);
      this.hasHeader("host") || this.setHeader("Host", this.#url.host), all3.auth && !this.hasHeader("authorization") && this.setHeader("Authorization", `Basic ${Buffer2.from(all3.auth).toString("base64")}`), all3.signal !== void 0 && this.#abortWith(all3.signal), callback && this.once("response", callback), this.socket = new Socket(this, protocol === "https:"), all3.timeout !== void 0 && this.setTimeout(all3.timeout), process_default.nextTick(() => this.destroyed || this.emit("socket", this.socket));
    }
    #abortWith(signal) {
      let abort = () => this.destroy(Object.assign(codedError(Error, "ABORT_ERR", "The operation was aborted"), { name: "AbortError", cause: signal.reason }));
      signal.aborted ? process_default.nextTick(abort) : signal.addEventListener("abort", abort, { once: !0 });
    }
    get connection() {
      return this.socket;
    }
    end(chunk, encoding, callback) {
      return typeof chunk == "function" ? [chunk, callback] = [void 0, chunk] : typeof encoding == "function" && ([encoding, callback] = [void 0, encoding]), callback && this.once("finish", callback), super.end(chunk, encoding);
    }
    get finished() {
      return this.writableEnded;
    }
    setHeader(name2, value) {
      if (this.headersSent) throw codedError(Error, "ERR_HTTP_HEADERS_SENT", "Cannot set headers after they are sent to the client");
      return validateHeaderName(name2), validateHeaderValue(name2, value), this.#headers.set(name2.toLowerCase(), [name2, value]), this;
    }
    getHeader(name2) {
      return this.#headers.get(name2.toLowerCase())?.[1];
    }
    getHeaders() {
      return Object.assign(/* @__PURE__ */ Object.create(null), Object.fromEntries([...this.#headers].map(([key, [, value]]) => [key, value])));
    }
    getHeaderNames() {
      return [...this.#headers.keys()];
    }
    getRawHeaderNames() {
      return [...this.#headers.values()].map(([name2]) => name2);
    }
    hasHeader(name2) {
      return this.#headers.has(name2.toLowerCase());
    }
    removeHeader(name2) {
      this.#headers.delete(name2.toLowerCase());
    }
    flushHeaders() {
    }
    setNoDelay() {
    }
    setSocketKeepAlive() {
    }
    setTimeout(delay, callback) {
      return callback && this.once("timeout", callback), clearTimeout(this.#timer), delay > 0 && (this.#timer = setTimeout(() => this.emit("timeout"), delay).unref()), this;
    }
    abort() {
      this.aborted || (this.aborted = !0, process_default.nextTick(() => this.emit("abort")), this.destroy());
    }
    _write(chunk, encoding, callback) {
      this.#parts.push(typeof chunk == "string" ? Buffer2.from(chunk, encoding) : chunk), callback();
    }
    _final(callback) {
      callback(), this.#send();
    }
    _destroy(error, callback) {
      clearTimeout(this.#timer), this.res === null && (this.#stopping.abort(), error ??= codedError(Error, "ECONNRESET", "socket hang up")), callback(error);
    }
    #send() {
      this.headersSent = !0;
      let bytes = new Uint8Array(Buffer2.concat(this.#parts)), headers = [...this.#headers].flatMap(
        ([key, [, value]]) => (Array.isArray(value) ? value : [value]).map((one) => [key, String(one)]).filter(([name2, one]) => !isImplied(name2, one, this.#url, bytes.length))
      ), asked = { url: this.#url.href, method: this.method, redirect: "manual", as: "bytes", headers };
      bytes.length > 0 && (asked.bytes = bytes), host.fetch(asked, this.#stopping.signal, _ClientRequest).then(
        (record) => this.destroyed || this.#answered(record),
        (error) => this.destroyed || this.destroy(this.#failed(error))
      );
    }
    #failed(error) {
      let code = codesOfKinds[error?.payload?.kind];
      return error?.kind !== "tool" || code === void 0 ? error : host.causedBy(Object.assign(codedError(Error, code, error.message), { hostname: this.#url.hostname }), error);
    }
    #answered(record) {
      clearTimeout(this.#timer);
      let response = new IncomingMessage(record, this);
      this.res = response, response.once("close", () => this.destroy()), this.emit("response", response) || response.resume();
    }
  }, Agent = class extends events_default {
    constructor(options = {}) {
      super(), Object.assign(this, {
        options: { ...options, path: null },
        requests: {},
        sockets: {},
        freeSockets: {},
        keepAlive: options.keepAlive ?? !1,
        maxSockets: options.maxSockets ?? 1 / 0,
        maxFreeSockets: options.maxFreeSockets ?? 256
      });
    }
    destroy() {
    }
  }, noServer = (name2, path2) => ({
    [name2]: function() {
      throw codedError(
        Error,
        "ERR_FEATURE_UNAVAILABLE",
        `${path2}.${name2} is not available in Tollhouse: nobody can connect to a script. Call the handler itself, or use \`fetch\` to reach a server`
      );
    }
  })[name2], moduleOf = (name2, protocol) => {
    let request = (url, options, callback) => new ClientRequest(url, options, callback, protocol);
    return {
      METHODS,
      STATUS_CODES,
      Agent,
      ClientRequest,
      IncomingMessage,
      Server: noServer("Server", name2),
      ServerResponse: noServer("ServerResponse", name2),
      createServer: noServer("createServer", name2),
      validateHeaderName,
      validateHeaderValue,
      request,
      get(url, options, callback) {
        let made3 = request(url, options, callback);
        return made3.end(), made3;
      },
      maxHeaderSize: 16384,
      globalAgent: new Agent({ keepAlive: !0 })
    };
  }, http = moduleOf("http", "http:"), all = moduleOf("https", "https:"), https = Object.fromEntries(["Agent", "globalAgent", "Server", "createServer", "get", "request"].map((name2) => [name2, all[name2]]));

  // src/intl-data.js
  var groups = { en: "en-US en-GB en-CA en-AU en-IN en-NZ en-IE en-ZA en-SG en-HK en-PH en-AE en-IL", de: "de de-AT de-CH de-LI de-LU de-BE de-IT", fr: "fr fr-CA fr-BE fr-CH fr-LU", es: "es es-MX es-AR es-CO es-CL es-PE es-US es-419", it: "it it-CH", pt: "pt pt-PT pt-AO", nl: "nl nl-BE", pl: "pl", ru: "ru ru-UA ru-KZ", uk: "uk", tr: "tr", ja: "ja", zh: "zh zh-TW zh-HK zh-SG", ko: "ko", ar: "ar ar-EG ar-SA ar-MA ar-AE", hi: "hi", sv: "sv sv-FI", id: "id", da: "da", nb: "nb", cs: "cs", he: "he", hu: "hu", ro: "ro", vi: "vi" }, sameLocales = { "zh-CN": "zh", "zh-Hans": "zh", "zh-Hans-CN": "zh", "zh-Hant": "zh-TW", "zh-Hant-TW": "zh-TW", "zh-Hant-HK": "zh-HK", "zh-Hans-SG": "zh-SG", no: "nb", "de-DE": "de", "fr-FR": "fr", "es-ES": "es", "it-IT": "it", "pt-BR": "pt", "nl-NL": "nl", "pl-PL": "pl", "ru-RU": "ru", "uk-UA": "uk", "tr-TR": "tr", "ja-JP": "ja", "ko-KR": "ko", "hi-IN": "hi", "sv-SE": "sv", "id-ID": "id", "da-DK": "da", "cs-CZ": "cs", "he-IL": "he", "hu-HU": "hu", "ro-RO": "ro", "vi-VN": "vi" }, currencyDigits = { AFN: 0, ALL: 0, BHD: 3, BIF: 0, CLP: 0, COP: 0, DJF: 0, GNF: 0, HUF: 0, IDR: 0, IQD: 0, IRR: 0, ISK: 0, JOD: 3, JPY: 0, KMF: 0, KPW: 0, KRW: 0, KWD: 3, LAK: 0, LBP: 0, LYD: 3, MGA: 0, MMK: 0, OMR: 3, PKR: 0, PYG: 0, RWF: 0, SLL: 0, SOS: 0, SYP: 0, TND: 3, UGX: 0, VND: 0, VUV: 0, XAF: 0, XOF: 0, XPF: 0, YER: 0, ADP: 0, BYR: 0, CLF: 4, ESP: 0, ITL: 0, LUF: 0, MGF: 0, MRO: 0, STD: 0, TMM: 0, TRL: 0, UYI: 0, UYW: 4, ZMK: 0, ZWD: 0 }, englishNumbers = { separators: ".,", money: ".,", least: 1, second: 3, ledger: 3, minus: "-", plus: "+", nan: "NaN", infinity: "\u221E", exponent: "E", exponentMinus: "-", decimal: ["#", "-#"], percent: ["#%", "-#%"], shapes: [["\xA4#", "-\xA4#", "(\xA4#)", "\xA4#"], ["\xA4\xA0#", "-\xA4\xA0#", "(\xA4\xA0#)", "\xA4\xA0#"]], native: "latn", symbols: { AFN: "AFN \u060B", AMD: "AMD \u058F", AOA: "AOA Kz", ARS: "ARS $", AUD: "A$ $", AZN: "AZN \u20BC", BAM: "BAM KM", BBD: "BBD $", BDT: "BDT \u09F3", BMD: "BMD $", BND: "BND $", BOB: "BOB Bs", BRL: "R$", BSD: "BSD $", BWP: "BWP P", BZD: "BZD $", CAD: "CA$ $", CLP: "CLP $", CNY: "CN\xA5 \xA5", COP: "COP $", CRC: "CRC \u20A1", CUC: "CUC $", CUP: "CUP $", CZK: "CZK K\u010D", DKK: "DKK kr", DOP: "DOP $", EGP: "EGP E\xA3", EUR: "\u20AC", FJD: "FJD $", FKP: "FKP \xA3", GBP: "\xA3", GEL: "GEL \u20BE", GHS: "GHS GH\u20B5", GIP: "GIP \xA3", GNF: "GNF FG", GTQ: "GTQ Q", GYD: "GYD $", HKD: "HK$ $", HNL: "HNL L", HRK: "HRK kn", HUF: "HUF Ft", IDR: "IDR Rp", ILS: "\u20AA", INR: "\u20B9", ISK: "ISK kr", JMD: "JMD $", JPY: "\xA5", KGS: "KGS \u20C0", KHR: "KHR \u17DB", KMF: "KMF CF", KPW: "KPW \u20A9", KRW: "\u20A9", KYD: "KYD $", KZT: "KZT \u20B8", LAK: "LAK \u20AD", LBP: "LBP L\xA3", LKR: "LKR Rs", LRD: "LRD $", MGA: "MGA Ar", MMK: "MMK K", MNT: "MNT \u20AE", MUR: "MUR Rs", MXN: "MX$ $", MYR: "MYR RM", NAD: "NAD $", NGN: "NGN \u20A6", NIO: "NIO C$", NOK: "NOK kr", NPR: "NPR Rs", NZD: "NZ$ $", PHP: "\u20B1", PKR: "PKR Rs", PLN: "PLN z\u0142", PYG: "PYG \u20B2", RON: "RON lei", RUB: "RUB \u20BD", RWF: "RWF RF", SBD: "SBD $", SEK: "SEK kr", SGD: "SGD $", SHP: "SHP \xA3", SRD: "SRD $", SSP: "SSP \xA3", STN: "STN Db", SYP: "SYP \xA3", THB: "THB \u0E3F", TOP: "TOP T$", TRY: "TRY \u20BA", TTD: "TTD $", TWD: "NT$ $", UAH: "UAH \u20B4", USD: "$", UYU: "UYU $", VND: "\u20AB", XAF: "FCFA", XCD: "EC$ $", XCG: "Cg.", XOF: "F\u202FCFA", XPF: "CFPF", ZAR: "ZAR R", ZMW: "ZMW ZK" } };

  // src/intl-derive.js
  var derivedFrom = (options) => {
    if (options.day === "2-digit") return { ...options, day: "numeric" };
    if (options.year === "2-digit") return { ...options, year: "numeric" };
    if (options.month === "2-digit") return { ...options, month: "numeric" };
    if (options.weekday === "short") return { ...options, weekday: "long" };
  }, rewrite = (pattern, options, base) => options.day !== base.day ? pattern.replace("{d}", "{D}") : options.year !== base.year ? pattern.replace("{y}", "{Y}") : options.month !== base.month ? pattern.replace("{1}", "{2}") : pattern.replace("{W}", "{w}").replace("{V}", "{v}"), rate = (patterns, around) => {
    if (around === void 0) return;
    let join4 = (pattern) => `${around[0]}${pattern}${around[1]}`.replaceAll("}{", "");
    return typeof patterns == "string" ? join4(patterns) : Object.fromEntries(Object.entries(patterns).map(([category, pattern]) => [category, join4(pattern)]));
  };

  // src/intl-locales.js
  var warned = /* @__PURE__ */ new Set(), warn = (text3) => {
    warned.has(text3) || (warned.add(text3), host.native.stderr(`Warning: ${text3}
`));
  }, optionOf = (options, name2, values2, standard, owner) => {
    let given = options[name2];
    if (given === void 0) return standard;
    let text3 = String(given);
    if (values2 !== void 0 && !values2.includes(text3)) {
      let where = /\.|^locale$/.test(owner) ? owner : `Intl.${owner}`;
      throw new RangeError(`Value ${text3} out of range for ${where} options property ${name2}`);
    }
    return text3;
  }, texts = /* @__PURE__ */ new Map(), textOf2 = (name2) => (texts.has(name2) || texts.set(name2, JSON.parse(host.native.localeData(name2))), texts.get(name2)), values = () => textOf2("values"), isRecord = (value) => typeof value == "object" && value !== null && !Array.isArray(value), merged = (from, other) => {
    if (!isRecord(from) || !isRecord(other)) return other;
    let all3 = { ...from };
    for (let [key, value] of Object.entries(other))
      value === null ? delete all3[key] : all3[key] = key in from ? merged(from[key], value) : value;
    return all3;
  }, languageOf = (locale) => locale.split("-")[0], read4 = /* @__PURE__ */ new Map(), dataOf = (locale, part) => {
    let key = `${locale}:${part}`;
    if (!read4.has(key)) {
      let language = languageOf(locale), record = textOf2(`${language}:${part}`), first = groups[language].split(" ")[0];
      read4.set(key, locale === first ? record[first] : merged(record[first], record[locale]));
    }
    return read4.get(key);
  }, englishZones = (locale) => {
    let all3 = textOf2("en:zones");
    return all3[locale] === void 0 && locale.startsWith("en-") && warn(`Intl has no names of time zones for the locale '${locale}' here: they are those of en-GB`), all3[locale] ?? all3[locale.startsWith("en-") ? "en-GB" : "en-US"];
  }, zoneNamed = (name2) => name2 === "UTC" || name2 == null ? name2 : textOf2("en:aliases")[name2] ?? name2, made = /* @__PURE__ */ new Map(), onceFor = (kind, locale, make4) => {
    let key = `${kind}:${locale}`;
    return made.has(key) || made.set(key, make4()), made.get(key);
  }, aliases3 = { iw: "he", in: "id", ji: "yi", jw: "jv", mo: "ro", sh: "sr-Latn", tl: "fil" }, tagPattern = /^(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{5,8})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?(?:-(?:[a-z\d]{5,8}|\d[a-z\d]{3}))*(?:-[a-wyz\d](?:-[a-z\d]{2,8})+)*(?:-x(?:-[a-z\d]{1,8})+)?$/i, canonical = (tag) => {
    let plain2 = String(tag);
    if (!tagPattern.test(plain2)) throw new RangeError("Incorrect locale information provided");
    let [, base, extension = ""] = /^(.*?)((?:-[a-z\d](?:-.*)?)?)$/i.exec(plain2.replace(/-([a-z\d])-/i, "-$1-"));
    return base.split("-").map((part, at2) => at2 === 0 ? aliases3[part.toLowerCase()] ?? part.toLowerCase() : part.length === 4 && !/^\d/.test(part) ? part[0].toUpperCase() + part.slice(1).toLowerCase() : part.length <= 3 ? part.toUpperCase() : part.toLowerCase()).join("-") + sorted(extension.toLowerCase());
  }, sorted = (extension) => {
    let [, open3, own = ""] = /^(.*?)(-x-.*)?$/.exec(extension);
    return open3.split(/(?=-[a-z\d]-)/).filter(Boolean).sort((a2, b2) => a2[1] < b2[1] ? -1 : 1).map(sortedKeys).join("") + own;
  }, sortedKeys = (extension) => extension.replace(/^-u((?:-[a-z\d]{2,8})+)/, (all3, rest) => {
    let [head, ...keys] = rest.split(/(?=-[a-z\d]{2}(?:-|$))/), isKey2 = /^-[a-z\d]{2}(-|$)/.test(head), list = (isKey2 ? [head, ...keys] : keys).map((key) => key.replace(/-true$/, "")).sort((a2, b2) => a2.slice(0, 3) < b2.slice(0, 3) ? -1 : 1);
    return `-u${isKey2 ? "" : head}${list.join("")}`;
  }), listed = (list) => {
    let length = Math.min(Math.max(Math.trunc(Number(list.length)) || 0, 0), Number.MAX_SAFE_INTEGER), elements = [];
    for (let at2 = 0; at2 < length; at2++) at2 in list && elements.push(list[at2]);
    return elements;
  }, requested = (locales) => {
    if (locales === null) throw new TypeError("Cannot convert undefined or null to object");
    let isOne = typeof locales == "string" || typeof locales == "object" && locales?.[Symbol.toStringTag] === "Intl.Locale", tags = (locales === void 0 ? [] : isOne ? [locales] : listed(Object(locales))).map((tag) => {
      if (typeof tag != "string" && (typeof tag != "object" || tag === null)) throw new TypeError("Language ID should be string or object.");
      return canonical(tag);
    });
    return [...new Set(tags)];
  }, split = (tag) => {
    let at2 = tag.search(/-[a-z\d]-/), keywords = {}, extension = /-u-((?:[a-z\d]{2,8}-?)+)/.exec(tag)?.[1] ?? "", key;
    for (let part of extension.split("-").filter(Boolean))
      part.length === 2 ? keywords[key = part] = "" : key !== void 0 && (keywords[key] += (keywords[key] === "" ? "" : "-") + part);
    return { base: at2 < 0 ? tag : tag.slice(0, at2), keywords };
  }, splitTag = split, known2 = (tag) => Object.hasOwn(sameLocales, tag) ? sameLocales[tag] : tag === "en" ? "en-US" : groups[languageOf(tag)]?.split(" ").includes(tag) ? tag : void 0, isElsewhere = (tag) => ` ${values().elsewhere} `.includes(` ${tag} `), lookUp = (base) => {
    for (let tag = base; ; tag = tag.slice(0, tag.lastIndexOf("-"))) {
      let data = known2(tag);
      if (data !== void 0) return { tag, data };
      if (isElsewhere(tag)) return { missing: tag };
      if (!tag.includes("-")) return;
    }
  }, isKnown = (tag) => lookUp(split(tag).base)?.data !== void 0, localeOf = (locales) => {
    if (locales === void 0) return { locale: "en-US", data: "en-US", keywords: {} };
    let missing3;
    for (let tag of requested(locales)) {
      let { base, keywords } = split(tag), found = lookUp(base);
      if (found?.data === void 0) {
        missing3 ??= found?.missing;
        continue;
      }
      return missing3 !== void 0 && warnOf(missing3, found.tag), { locale: found.tag, data: found.data, keywords };
    }
    if (missing3 === void 0) return { locale: "en-US", data: "en-US", keywords: {} };
    let data = known2(languageOf(missing3)) ?? "en-US";
    return warnOf(missing3, data), { locale: data, data, keywords: {} };
  }, warnOf = (missing3, data) => warn(`Intl has no data for the locale '${missing3}' here: it is written as '${data}' is`), numberingSystemOf = (given, keywords, standard) => {
    let known3 = (name2) => name2 !== void 0 && Object.hasOwn(values().digits, name2);
    if (given !== void 0) {
      if (!/^[a-z\d]{3,8}(-[a-z\d]{3,8})*$/i.test(given)) throw new RangeError(`Invalid numberingSystem : ${given}`);
      let name2 = given.toLowerCase();
      if (known3(name2)) return { system: name2, isNamed: keywords.nu === name2 };
      if (name2 === "native" || name2 === "traditio" || name2 === "finance") return { system: standard, isNamed: !1 };
    }
    return known3(keywords.nu) ? { system: keywords.nu, isNamed: !0 } : { system: standard, isNamed: !1 };
  }, digitTables = /* @__PURE__ */ new Map(), digitsIn = (text3, system) => {
    if (system === "latn") return text3;
    if (!digitTables.has(system)) {
      let zero = values().digits[system], all3 = [...zero];
      digitTables.set(system, all3.length === 10 ? all3 : Array.from({ length: 10 }, (_2, digit) => String.fromCodePoint(zero.codePointAt(0) + digit)));
    }
    return text3.replace(/\d/g, (digit) => digitTables.get(system)[digit]);
  }, forms = { weekday: [void 0, "long", "short"], year: [void 0, "numeric", "2-digit"], month: [void 0, "numeric", "2-digit", "short", "long"], day: [void 0, "numeric", "2-digit"] }, datePattern = (dates, { weekday, year, month, day }) => {
    let options = { weekday, year, month, day }, at2 = Object.entries(forms).reduce((index, [name2, list]) => index * list.length + Math.max(list.indexOf(options[name2]), 0), 0), mark = dates.dates[at2] ?? " ";
    if (mark !== " ") return dates.patterns[mark.charCodeAt(0) - 48];
    let base = derivedFrom(options);
    return rewrite(datePattern(dates, base), options, base);
  };

  // src/intl-ranges.js
  var between = [{ type: "literal", value: "\u2009\u2013\u2009", source: "shared" }], literal = (value) => [{ type: "literal", value, source: "shared" }], units = [
    (at2) => at2.getUTCFullYear(),
    (at2) => at2.getUTCMonth(),
    (at2) => at2.getUTCDate(),
    (at2) => at2.getUTCHours() >= 12,
    (at2) => at2.getUTCHours(),
    (at2) => at2.getUTCMinutes(),
    (at2) => at2.getUTCSeconds(),
    (at2) => at2.getUTCMilliseconds()
  ], [YEAR, MONTH, DAY] = [0, 1, 2], dateKeys = ["weekday", "year", "month", "day"], timeKeys = ["hour", "minute", "second", "fractionalSecondDigits", "timeZoneName"], finestOf = (o2) => {
    let time = [[7, "fractionalSecondDigits"], [6, "second"], [5, "minute"], [4, "hour"]].find(([, key]) => o2[key] !== void 0);
    return time !== void 0 ? time[0] : o2.day !== void 0 || o2.weekday !== void 0 ? DAY : o2.month !== void 0 ? MONTH : YEAR;
  }, pick = (o2, keys) => Object.fromEntries(keys.filter((key) => o2[key] !== void 0).map((key) => [key, o2[key]])), completed = (o2, unit) => {
    let date = pick(o2, dateKeys), hasTime = timeKeys.some((key) => o2[key] !== void 0), isBare = Object.keys(date).length === 0;
    return hasTime && !isBare && (date.day ??= "numeric"), (isBare || date.day !== void 0 && unit === YEAR) && (date.year ??= "numeric"), (isBare || date.day !== void 0 && unit <= MONTH) && (date.month ??= "numeric"), isBare && (date.day = "numeric"), date;
  }, rangeOf2 = (o2, [a2, b2], write4) => {
    let unit = units.findIndex((of) => of(a2) !== of(b2));
    if (unit === -1 || unit > finestOf(o2)) return;
    let both = (first2, second) => [...write4(first2, 0), ...between, ...write4(second, 1)], time = pick(o2, timeKeys);
    if (unit > DAY) return timeRange(o2, pick(o2, dateKeys), time, a2.getUTCHours() >= 12 == b2.getUTCHours() >= 12, both, write4);
    let date = completed(o2, unit);
    if (Object.keys(time).length > 0) return both({ ...date, ...time }, { ...date, ...time });
    let { year, ...first } = date;
    if (date.month === void 0 || date.month === "numeric" || date.month === "2-digit") {
      let plain2 = Object.fromEntries(Object.entries(date).map(([key, style]) => [key, key !== "year" && style === "2-digit" ? "numeric" : style]));
      return both(plain2, plain2);
    }
    if (unit === YEAR) return both(date, date);
    if (unit === MONTH || date.weekday !== void 0) return withShared(both(first, date), year);
    let start3 = write4(first, 0), day = start3.findIndex(({ type }) => type === "day");
    return [...start3.map((part, index) => index < day ? { ...part, source: "shared" } : part), ...between, ...write4({ day: date.day }, 1), ...year === void 0 ? [] : [...literal(", "), ...write4({ year }, "shared")]];
  }, withShared = (parts, year) => year === void 0 ? parts : parts.map((part, index) => index >= parts.length - 2 ? { ...part, source: "shared" } : part), timeRange = (o2, date, time, isSameHalf, both, write4) => {
    let before = Object.keys(date).length === 0 ? [] : [...write4(date, "shared"), ...literal(", ")];
    if (o2.second !== void 0 || o2.fractionalSecondDigits !== void 0) return [...before, ...both(time, time)];
    let { timeZoneName, ...hours } = time, range = both(hours, hours);
    if (isSameHalf && range.some(({ type }) => type === "dayPeriod")) {
      let first = range.findIndex(({ type }) => type === "dayPeriod");
      range = range.filter((_2, index) => index !== first && index !== first - 1), range = range.map((part, index) => index >= range.length - 2 ? { ...part, source: "shared" } : part);
    }
    let zone = timeZoneName === void 0 ? [] : write4({ ...hours, timeZoneName }, "shared").slice(-2);
    return [...before, ...range, ...zone];
  };

  // src/intl-dates.js
  var { native: native11 } = host, months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"], days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"], dateKeys2 = ["weekday", "era", "year", "month", "day"], timeKeys2 = ["dayPeriod", "hour", "minute", "second", "fractionalSecondDigits"], styles = {
    full: { weekday: "long", year: "numeric", month: "long", day: "numeric" },
    long: { year: "numeric", month: "long", day: "numeric" },
    medium: { year: "numeric", month: "short", day: "numeric" },
    short: { year: "2-digit", month: "numeric", day: "numeric" }
  }, timeStyles = {
    full: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "long" },
    long: { hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "short" },
    medium: { hour: "numeric", minute: "2-digit", second: "2-digit" },
    short: { hour: "numeric", minute: "2-digit" }
  }, numeric = ["year", "month", "day", "hour", "minute", "second", "fractionalSecond"], two = (number) => String(number).padStart(2, "0"), offsetOf = (zone) => {
    let match = /^([+-])([01]\d|2[0-3]):?([0-5]\d)?$/.exec(zone);
    return match === null ? void 0 : (match[1] === "-" ? -1 : 1) * (Number(match[2]) * 60 + Number(match[3] ?? 0));
  }, eras = { short: ["AD", "BC"], long: ["Anno Domini", "Before Christ"], narrow: ["A", "B"] }, partOfDay = (o2, at2) => {
    let hour = at2.getUTCHours();
    return hour === 12 && (o2.minute === void 0 || at2.getUTCMinutes() === 0) && (o2.second === void 0 || at2.getUTCSeconds() === 0) ? o2.dayPeriod === "narrow" ? "n" : "noon" : hour < 12 ? "in the morning" : hour < 18 ? "in the afternoon" : hour < 21 ? "in the evening" : "at night";
  }, usualDates = ["", "year", "month", "weekday", "year,month", "month,day", "weekday,month,day", "year,month,day", "weekday,year,month,day"], usualTimes = ["", "hour", "hour,minute", "hour,minute,second"], isUsual = (o2) => {
    if (o2.fractionalSecondDigits !== void 0 || o2.month === "narrow" || o2.weekday === "narrow" || o2.hourCycle === "h11" || o2.hourCycle === "h24") return !1;
    let given = (keys) => keys.filter((key) => o2[key] !== void 0 && key !== "era" && key !== "dayPeriod").join(), [date, time] = [given(dateKeys2), given(timeKeys2)];
    return date !== "" && time !== "" && !/day/.test(date) ? !1 : usualDates.includes(date) && usualTimes.includes(time) && (date !== "month" || time === "");
  }, lengths = ["narrow", "short", "long"], figures = ["2-digit", "numeric"], allowed = {
    localeMatcher: ["lookup", "best fit"],
    formatMatcher: ["basic", "best fit"],
    weekday: lengths,
    era: lengths,
    year: figures,
    month: [...figures, ...lengths],
    day: figures,
    dayPeriod: lengths,
    hour: figures,
    minute: figures,
    second: figures,
    hourCycle: ["h11", "h12", "h23", "h24"],
    timeZoneName: ["short", "long", "shortOffset", "longOffset", "shortGeneric", "longGeneric"],
    dateStyle: ["full", "long", "medium", "short"],
    timeStyle: ["full", "long", "medium", "short"]
  }, readOptions = (options, owner) => {
    if (options === null) throw new TypeError("Cannot convert undefined or null to object");
    let given = options === void 0 ? { __proto__: null } : Object(options), o2 = { __proto__: null };
    for (let [name2, values2] of Object.entries(allowed)) o2[name2] = optionOf(given, name2, values2, void 0, owner);
    for (let name2 of ["timeZone", "numberingSystem", "calendar"]) o2[name2] = optionOf(given, name2, void 0, void 0, owner);
    if (o2.calendar !== void 0 && !/^[a-z\d]{3,8}(-[a-z\d]{3,8})*$/i.test(o2.calendar)) throw new RangeError(`Invalid calendar : ${o2.calendar}`);
    if (given.hour12 !== void 0 && (o2.hour12 = !!given.hour12), given.fractionalSecondDigits !== void 0) {
      let digits = Math.floor(Number(given.fractionalSecondDigits));
      if (!(digits >= 1 && digits <= 3)) throw new RangeError("fractionalSecondDigits value is out of range.");
      o2.fractionalSecondDigits = digits;
    }
    return o2;
  }, yearOf = (at2) => {
    let year = at2.getUTCFullYear();
    return year > 0 ? year : 1 - year;
  }, DateTimeFormat = class _DateTimeFormat {
    #o;
    // Data of a locale other than en-US.
    #l;
    #bound;
    constructor(locales, options, required = "any", defaults = "date", owner = "DateTimeFormat") {
      let o2 = readOptions(options, owner), zone = o2.timeZone === void 0 ? "UTC" : String(o2.timeZone), name2 = offsetOf(zone) === void 0 ? /^(utc|gmt|etc\/utc)$/i.test(zone) ? "UTC" : zoneNamed(native11.zoneName(zone)) : zone;
      if (name2 == null) throw new RangeError(`Invalid time zone specified: ${zone}`);
      if (o2.dateStyle !== void 0 || o2.timeStyle !== void 0) {
        if (required === "date" && o2.timeStyle !== void 0) throw new TypeError("Invalid option : timeStyle");
        if (required === "time" && o2.dateStyle !== void 0) throw new TypeError("Invalid option : dateStyle");
        if ([...dateKeys2, ...timeKeys2].some((key) => o2[key] !== void 0)) throw new TypeError(`Can't set option ${[...dateKeys2, ...timeKeys2].find((key) => o2[key] !== void 0)} when ${o2.dateStyle ? "dateStyle" : "timeStyle"} is used`);
        for (let [given, known3] of [[o2.dateStyle, styles], [o2.timeStyle, timeStyles]])
          Object.assign(o2, known3[given]);
      } else {
        let has = (keys) => keys.some((key) => o2[key] !== void 0), needs = !(required !== "time" && has(dateKeys2.filter((key) => key !== "era"))) && !(required !== "date" && has(timeKeys2));
        needs && defaults !== "time" && Object.assign(o2, { year: "numeric", month: "numeric", day: "numeric" }), needs && defaults !== "date" && Object.assign(o2, { hour: "numeric", minute: "numeric", second: "numeric" });
      }
      let { locale, data, keywords } = localeOf(locales), basic = data === "en-US" && isUsual(o2) ? void 0 : dataOf(data, "basic"), dates = basic?.dates;
      this.#l = dates;
      let digits = optionOf(o2, "numberingSystem", void 0, void 0, "DateTimeFormat"), standard = basic?.numbers.native ?? "latn", { system, isNamed } = digits === void 0 && keywords.nu === void 0 ? { system: standard, isNamed: !1 } : numberingSystemOf(digits, keywords, standard), cycleNamed = o2.hourCycle === void 0 && o2.hour12 === void 0 && /^h(11|12|23|24)$/.test(keywords.hc ?? "");
      cycleNamed && (o2.hourCycle = keywords.hc);
      let calendar = o2.calendar ?? keywords.ca;
      calendar !== void 0 && !/^(gregory|iso8601)$/.test(calendar) && warn(`Intl has no calendar '${calendar}' here: dates are those of the Gregorian one`);
      let hours24 = o2.hour12 === void 0 ? (o2.hourCycle ?? dates?.hours ?? "h12").startsWith("h2") : !o2.hour12;
      basic !== void 0 && (o2.era !== void 0 || o2.dayPeriod !== void 0) && warn("Intl leaves out eras and parts of the day here"), (o2.hour !== void 0 && o2.minute === void 0 && o2.second !== void 0 || o2.fractionalSecondDigits !== void 0 && o2.second === void 0) && warn("Intl writes seconds without minutes, and their parts without seconds, otherwise here");
      let isDayAlone = o2.weekday !== void 0 && (o2.year ?? o2.month ?? o2.day) === void 0 && timeKeys2.some((key) => o2[key] !== void 0);
      data !== "en-US" && (isDayAlone || o2.weekday === "narrow" && (o2.month ?? o2.day) !== void 0) && warn("Intl writes days of the week beside a time, and short ones beside a month, in some locales otherwise here"), ((o2.day === void 0 ? o2.weekday !== void 0 && (o2.month ?? o2.year) !== void 0 : o2.year !== void 0 && o2.month === void 0) || o2.hour === void 0 && (o2.minute ?? o2.second) !== void 0 && dateKeys2.some((key) => o2[key] !== void 0)) && warn("Intl writes dates without a month or a day, and with minutes without hours, in some locales otherwise here"), o2.timeZoneName !== void 0 && (name2 !== "UTC" || o2.timeZoneName.endsWith("Offset")) && !data.startsWith("en-") && warn(`Intl has no names of time zones for the locale '${locale}' here: they are English`), this.#o = { __proto__: null, ...o2, locale: isNamed || cycleNamed || keywords.ca === "gregory" ? `${locale}-u${keywords.ca === "gregory" ? "-ca-gregory" : ""}${cycleNamed ? `-hc-${keywords.hc}` : ""}${isNamed ? `-nu-${system}` : ""}` : locale, system, zone: name2, hours24, from0: o2.hourCycle === "h23" || o2.hour12 === void 0 && hours24 };
    }
    // Returns the fields of an instant in the zone.
    #fields(millis) {
      let { zone } = this.#o, fixed = offsetOf(zone), offset = fixed === void 0 ? 0 : fixed * 60, abbreviation = "UTC";
      if (fixed === void 0 && zone !== "UTC") {
        let found = native11.zoneAt(zone, millis);
        found != null && ([offset, abbreviation] = found);
      }
      return { at: new Date(millis + offset * 1e3), offset, abbreviation };
    }
    #zoneName({ offset, at: at2 }) {
      let { timeZoneName, zone, locale } = this.#o;
      if (zone === "UTC" && (timeZoneName === "short" || timeZoneName === "long")) return timeZoneName === "long" ? this.#l?.zone ?? "Coordinated Universal Time" : "UTC";
      let hasNames = at2.getTime() - offset * 1e3 >= 0;
      if (zone !== "UTC" && hasNames && offsetOf(zone) === void 0 && !timeZoneName.endsWith("Offset")) {
        let { names: names3, table } = englishZones(locale.replace(/-u-.*/, "").replace(/^en$/, "en-US")), found = names3[table[zone]?.[offset / 60]];
        if (found !== void 0) return found.split("|")[["short", "long", "shortGeneric", "longGeneric"].indexOf(timeZoneName)];
        warn(`Intl has no name of the time zone '${zone}' at that time here: its distance from UTC stands for it`);
      }
      let minutes = Math.abs(offset) / 60, [hour, minute] = [Math.floor(minutes / 60), Math.round(minutes % 60)], full = timeZoneName.startsWith("long");
      return `GMT${offset < 0 ? "-" : "+"}${full ? two(hour) : hour}${minute > 0 || full ? `:${two(minute)}` : ""}`;
    }
    #date(at2) {
      let o2 = this.#o, wide = o2.month === void 0 && o2.day === void 0 && o2.year === void 0 ? 8 : o2.month === "long" || o2.month === "short" || o2.month === "narrow", full = yearOf(at2), year = o2.year === void 0 ? void 0 : o2.year === "2-digit" ? two(full % 100) : String(full), pad = (style, number) => style === "2-digit" ? two(number) : String(number), day = o2.day === void 0 ? void 0 : pad(o2.day, at2.getUTCDate()), monthName = months[at2.getUTCMonth()], month = o2.month === void 0 ? void 0 : o2.month === "long" ? monthName : o2.month === "short" ? monthName.slice(0, 3) : o2.month === "narrow" ? monthName[0] : pad(o2.month, at2.getUTCMonth() + 1), dayName = days[at2.getUTCDay()], weekday = o2.weekday === void 0 ? void 0 : o2.weekday === "long" ? dayName : o2.weekday === "short" ? dayName.slice(0, 3) : dayName[0], parts = [], add2 = (type, value, before) => {
        value !== void 0 && (parts.length > 0 && parts.push(["literal", before]), parts.push([type, value]));
      };
      if (wide)
        add2("weekday", weekday, ""), add2("month", month, ", "), add2("day", day, " "), add2("year", year, day === void 0 ? " " : ", ");
      else {
        add2("weekday", weekday, "");
        let values2 = { day, month, year };
        for (let type of ["month", "day", "year"]) add2(type, values2[type], parts.at(-1)?.[0] === "weekday" ? month === void 0 && year === void 0 ? " " : ", " : "/");
        if (weekday !== void 0 && month === void 0 && year === void 0 && day !== void 0) return [["day", day], ["literal", " "], ["weekday", weekday]];
      }
      return o2.era !== void 0 && add2("era", eras[o2.era][at2.getUTCFullYear() > 0 ? 0 : 1], " "), parts;
    }
    #time(at2) {
      let o2 = this.#o;
      if (timeKeys2.every((key) => o2[key] === void 0)) return [];
      let parts = [], hour = at2.getUTCHours();
      if (o2.hour !== void 0) {
        let shown4 = o2.hours24 ? hour === 0 && !o2.from0 ? 24 : hour : hour % 12 || 12;
        parts.push(["hour", o2.hour === "2-digit" || o2.hours24 ? two(shown4) : String(shown4)]);
      }
      let minute = o2.minute === void 0 ? void 0 : parts.length > 0 || o2.second !== void 0 || o2.minute === "2-digit" && o2.hour !== void 0 ? two(at2.getUTCMinutes()) : String(at2.getUTCMinutes());
      return minute !== void 0 && parts.push(...parts.length > 0 ? [["literal", ":"]] : [], ["minute", minute]), o2.second !== void 0 && parts.push(...parts.length > 0 ? [["literal", ":"]] : [], ["second", parts.length > 0 ? two(at2.getUTCSeconds()) : String(at2.getUTCSeconds())]), o2.fractionalSecondDigits !== void 0 && parts.push(...parts.length > 0 ? [["literal", "."]] : [], ["fractionalSecond", String(at2.getUTCMilliseconds()).padStart(3, "0").slice(0, o2.fractionalSecondDigits)]), o2.dayPeriod !== void 0 ? (o2.hour === void 0 || !o2.hours24) && parts.push(...parts.length > 0 ? [["literal", " "]] : [], ["dayPeriod", partOfDay(o2, at2)]) : o2.hour !== void 0 && !o2.hours24 && parts.push(["literal", "\u202F"], ["dayPeriod", hour < 12 ? "AM" : "PM"]), parts;
    }
    // Returns the patterns of a date and a time in another locale, and the text that joins them.
    #patterns() {
      let [o2, l2] = [this.#o, this.#l], pattern = (mark) => l2.patterns[mark.charCodeAt(0) - 48], names3 = Object.keys(styles), narrow = (text3) => (o2.month === "narrow" ? text3.replace(/\{[MLml]\}/, "{N}") : text3).replace(/\{[WVwv]\}/, o2.weekday === "narrow" ? "{n}" : "$&"), short = (style) => style === "narrow" ? "short" : style, date = "";
      o2.dateStyle !== void 0 ? date = pattern(l2.styles[names3.indexOf(o2.dateStyle)]) : dateKeys2.some((key) => key !== "era" && o2[key] !== void 0) && (date = narrow(datePattern(l2, { ...o2, weekday: short(o2.weekday), month: short(o2.month) })));
      let time = this.#timePattern(pattern), [between2, behind, before, isTimeFirst] = l2.glues[o2.dateStyle !== void 0 ? names3.indexOf(o2.dateStyle) : this.#width];
      return date !== "" && time !== "" ? before + (isTimeFirst ? time + between2 + date : date + between2 + time) + behind : date + time;
    }
    // Returns the index of the text that joins a date with these parts to the time.
    get #width() {
      let o2 = this.#o;
      return (o2.month ?? o2.day ?? o2.year) === void 0 ? 8 : o2.month === "long" ? o2.weekday === void 0 ? 5 : 4 : o2.month === "short" ? 6 : 7;
    }
    #timePattern(pattern) {
      let [o2, l2] = [this.#o, this.#l], cycle = o2.hour12 === void 0 ? o2.hourCycle : void 0, from = cycle !== void 0 ? cycle.startsWith("h2") ? 28 : 14 : o2.hour12 === void 0 ? 0 : o2.hour12 ? 14 : 28, padded = o2.minute === "2-digit" && (o2.second ?? "2-digit") === "2-digit" ? 1 : 0, time = "";
      if (o2.timeStyle !== void 0) time = pattern(l2.times[from + 10 + Object.keys(timeStyles).indexOf(o2.timeStyle)]);
      else if (o2.hour !== void 0) {
        let first = o2.timeZoneName === void 0 ? from : 43 + from / 14 * 10;
        time = pattern(l2.times[first + (o2.hour === "2-digit" ? 5 : 0) + (o2.second !== void 0 ? 3 + padded : o2.minute !== void 0 ? 1 + padded : 0)]);
      } else o2.minute !== void 0 && o2.second !== void 0 ? time = pattern(l2.times[42]) : o2.minute !== void 0 ? time = "{I}" : o2.second !== void 0 && (time = "{S}");
      if (cycle !== void 0) {
        let letters = { h11: "jJ", h12: "hH", h23: "kK", h24: "qQ" }[cycle];
        time = time.replace(/\{[hjkq]\}/, `{${letters[0]}}`).replace(/\{[HJKQ]\}/, `{${letters[1]}}`);
      }
      return o2.fractionalSecondDigits !== void 0 && (time = time.replace(/\{[sS]\}/, `$&${l2.fraction}{f}`) || "{f}"), time;
    }
    #localized({ at: at2, ...zone }) {
      let [o2, l2] = [this.#o, this.#l], pattern = this.#patterns();
      o2.timeZoneName !== void 0 && !pattern.includes("{z}") && (pattern += /\{[sSiIhHjJkKqQ]\}/.test(pattern) ? " {z}" : `${l2.glues[o2.month === "long" ? this.#width : 7][0]}{z}`);
      let hour = at2.getUTCHours(), name2 = (letter, index) => (l2.names[letter] ?? l2.names[{ L: "M", l: "m", V: "W", v: "w" }[letter]]).split("|")[index], hasSmallMonths = o2.day !== void 0 && /^(pl|uk)\b/.test(o2.locale), number = (type, value, padded) => [type, padded ? two(value) : String(value)], write4 = (letter) => {
        switch (letter) {
          case "d":
          case "D":
            return number("day", at2.getUTCDate(), letter === "D");
          case "1":
          case "2":
            return number("month", at2.getUTCMonth() + 1, letter === "2");
          case "y":
            return number("year", yearOf(at2));
          case "Y":
            return number("year", yearOf(at2) % 100, !0);
          case "h":
          case "H":
            return number("hour", hour % 12 || 12, letter === "H");
          case "j":
          case "J":
            return number("hour", hour % 12, letter === "J");
          case "k":
          case "K":
            return number("hour", hour, letter === "K");
          case "q":
          case "Q":
            return number("hour", hour || 24, letter === "Q");
          case "i":
          case "I":
            return number("minute", at2.getUTCMinutes(), letter === "i");
          case "s":
          case "S":
            return number("second", at2.getUTCSeconds(), letter === "s");
          case "f":
            return number("fractionalSecond", String(at2.getUTCMilliseconds()).padStart(3, "0").slice(0, o2.fractionalSecondDigits));
          case "a":
          case "b":
            return ["dayPeriod", l2.periods[letter === "b" ? 1 : 0].findLast(([from]) => hour >= from)[1]];
          case "z":
            return ["timeZoneName", this.#zoneName({ ...zone, at: at2 })];
          default:
            return "MLmlN".includes(letter) ? ["month", letter === "N" && hasSmallMonths ? name2(letter, at2.getUTCMonth()).toLowerCase() : name2(letter, at2.getUTCMonth())] : ["weekday", name2(letter, at2.getUTCDay())];
        }
      };
      return [...pattern.matchAll(/\{(\w)\}|[^{]+/g)].map(([text3, letter]) => letter === void 0 ? ["literal", text3] : write4(letter));
    }
    #parts(given) {
      let millis = given === void 0 ? Date.now() : Number(given);
      if (!Number.isFinite(millis) || Math.abs(millis) > 864e13) throw new RangeError("Invalid time value");
      let fields = this.#fields(millis), { system } = this.#o, parts = this.#l === void 0 ? this.#english(fields) : this.#localized(fields);
      return system === "latn" ? parts : parts.map(([type, text3]) => [type, numeric.includes(type) ? digitsIn(text3, system) : text3]);
    }
    #english(fields) {
      let [date, time] = [this.#date(fields.at), this.#time(fields.at)], { dateStyle, timeStyle } = this.#o, isWeekday = date.length === 1 && date[0][0] === "weekday", between2 = (timeStyle !== void 0 ? dateStyle === "full" || dateStyle === "long" : this.#o.month === "long") ? " at " : isWeekday && this.#o.timeZoneName === void 0 ? " " : ", ", parts = [...date, ...date.length > 0 && time.length > 0 ? [["literal", between2]] : [], ...time];
      if (this.#o.timeZoneName !== void 0) {
        let apart = this.#o.month === "long" ? " at " : ", ";
        parts.push(["literal", time.length > 0 ? " " : apart], ["timeZoneName", this.#zoneName(fields)]);
      }
      return parts;
    }
    get format() {
      return this.#bound ??= (date) => this.#parts(date).map(([, text3]) => text3).join("").replaceAll("\u202F", " ");
    }
    formatToParts(date) {
      return this.#parts(date).map(([type, value]) => ({ type, value }));
    }
    formatRange(from, to2) {
      return this.formatRangeToParts(from, to2).map(({ value }) => value).join("");
    }
    formatRangeToParts(from, to2) {
      if (from === void 0 || to2 === void 0) throw new TypeError("Invalid time value");
      if (this.#l === void 0) return this.#englishRange([from, to2]);
      let [a2, b2] = [from, to2].map((date) => this.formatToParts(date)), texts2 = [a2, b2].map((parts) => parts.map(({ value }) => value).join(""));
      if (texts2[0] === texts2[1]) return a2.map((part) => ({ ...part, source: "shared" }));
      warn("Intl writes ranges of dates as their two ends here");
      let side = (parts, source) => parts.map((part) => ({ ...part, source }));
      return [...side(a2, "startRange"), { type: "literal", value: "\u2009\u2013\u2009", source: "shared" }, ...side(b2, "endRange")];
    }
    #englishRange(ends) {
      let o2 = this.#o, parts = ends.map((end) => this.formatToParts(end)), write4 = (fields, end) => {
        let format4 = new _DateTimeFormat(o2.locale, { ...fields, timeZone: o2.zone, hourCycle: o2.hourCycle, hour12: o2.hour12 }), source = ["startRange", "endRange"][end] ?? "shared";
        return format4.formatToParts(ends[end === "shared" ? 0 : end]).map((part) => ({ ...part, source }));
      };
      return rangeOf2(o2, ends.map((end) => this.#fields(Number(end)).at), write4) ?? parts[0].map((part) => ({ ...part, value: part.value.replace("\u202F", " "), source: "shared" }));
    }
    resolvedOptions() {
      let o2 = { ...this.#o }, shown4 = o2.dateStyle === void 0 && o2.timeStyle === void 0 ? [...dateKeys2, ...timeKeys2, "timeZoneName"] : ["dateStyle", "timeStyle"];
      o2.minute !== void 0 && (o2.hour ?? o2.second) !== void 0 && (o2.minute = "2-digit"), o2.minute !== void 0 && o2.second !== void 0 && (o2.second = "2-digit");
      let named3 = o2.hour12 === void 0 ? o2.hourCycle : void 0, cycle = o2.hour === void 0 ? {} : { hourCycle: named3 ?? (o2.hours24 ? "h23" : "h12"), hour12: !o2.hours24 }, given = shown4.filter((name2) => o2[name2] !== void 0).map((name2) => [name2, o2[name2]]);
      return { locale: o2.locale, calendar: "gregory", numberingSystem: o2.system, timeZone: o2.zone, ...cycle, ...Object.fromEntries(given) };
    }
  };
  Object.defineProperty(DateTimeFormat, "name", { value: "DateTimeFormat", configurable: !0 });

  // src/intl-digits.js
  var decimalOf = (value) => {
    if (typeof value == "bigint") return parsed(String(value));
    if (typeof value == "string") return parsedText(value);
    let number = Number(value);
    return Number.isNaN(number) ? { negative: !1, special: "nan" } : Number.isFinite(number) ? Object.is(number, -0) ? { negative: !0, digits: "", point: 0 } : parsed(String(number)) : { negative: number < 0, special: "infinity" };
  }, parsedText = (value) => {
    let text3 = value.trim();
    if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text3)) {
      let number = Number(text3);
      return number === 0 || !Number.isFinite(number) ? decimalOf(number) : parsed(text3);
    }
    return /^[+-]?Infinity$/.test(text3) ? { negative: text3[0] === "-", special: "infinity" } : decimalOf(Number(value));
  }, parsed = (text3) => {
    let [, sign, whole, part = "", exponent = "0"] = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text3), all3 = whole + part, digits = all3.replace(/^0+/, ""), point = whole.length - (all3.length - digits.length) + Number(exponent);
    return normal(sign === "-", digits, point);
  }, normal = (negative, digits, point) => {
    let kept = digits.replace(/0+$/, "");
    return { negative, digits: kept, point: kept === "" ? 0 : point };
  }, isZero = (number) => number.digits === "", magnitude = (number) => number.digits === "" ? 0 : number.point - 1, shifted = (number, power) => number.digits === "" || number.special ? number : { ...number, point: number.point + power }, goesUp = (mode, negative, half, isOdd) => {
    switch (mode) {
      case "ceil":
        return !negative;
      case "floor":
        return negative;
      case "expand":
        return !0;
      case "trunc":
        return !1;
      case "halfCeil":
        return half > 0 || half === 0 && !negative;
      case "halfFloor":
        return half > 0 || half === 0 && negative;
      case "halfTrunc":
        return half > 0;
      case "halfEven":
        return half > 0 || half === 0 && isOdd;
      default:
        return half >= 0;
    }
  }, rounded = (number, places, mode = "halfExpand", increment = 1) => {
    let { negative, digits, point } = number, behind = digits.length - point;
    if (digits === "" || increment === 1 && behind <= places) return number;
    let whole = BigInt(digits) * 10n ** BigInt(Math.max(places - behind, 0)), unit = BigInt(increment) * 10n ** BigInt(Math.max(behind - places, 0)), [count, rest] = [whole / unit, whole % unit], half = rest * 2n === unit ? 0 : rest * 2n > unit ? 1 : -1;
    rest !== 0n && goesUp(mode, negative, half, count % 2n === 1n) && (count += 1n);
    let text3 = String(count * BigInt(increment));
    return count === 0n ? normal(negative, "", 0) : normal(negative, text3, text3.length - places);
  }, written = ({ digits, point }, least2) => {
    let whole = point > 0 ? digits.slice(0, point).padEnd(point, "0") : "0", part = point > 0 ? digits.slice(point) : digits === "" ? "" : "0".repeat(-point) + digits;
    return [whole, part.padEnd(least2, "0")];
  }, names = ["minimumIntegerDigits", "minimumFractionDigits", "maximumFractionDigits", "minimumSignificantDigits", "maximumSignificantDigits"], within2 = (value, name2, low, high, standard) => {
    if (value === void 0) return standard;
    let number = Number(value);
    if (!(number >= low && number <= high)) throw new RangeError(`${name2} value is out of range.`);
    return Math.floor(number);
  }, increments = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1e3, 2e3, 2500, 5e3], modes = ["ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfExpand", "halfTrunc", "halfEven"], digitOptions = (options, least2, most, isCompact, owner) => {
    let [whole, leastFraction, mostFraction, leastSignificant, mostSignificant] = names.map((name2) => options[name2]), found = { whole: within2(whole, names[0], 1, 21, 1) };
    if (found.increment = within2(options.roundingIncrement, "roundingIncrement", 1, 5e3, 1), !increments.includes(found.increment)) throw new RangeError("roundingIncrement value is out of range.");
    found.mode = optionOf(options, "roundingMode", modes, "halfExpand", owner);
    let priority = optionOf(options, "roundingPriority", ["auto", "morePrecision", "lessPrecision"], "auto", owner);
    found.trailing = optionOf(options, "trailingZeroDisplay", ["auto", "stripIfInteger"], "auto", owner), found.increment !== 1 && (most = least2);
    let bySignificance = leastSignificant !== void 0 || mostSignificant !== void 0, byFraction = leastFraction !== void 0 || mostFraction !== void 0, needsSignificance = priority !== "auto" || bySignificance, needsFraction = priority !== "auto" || !(bySignificance || !byFraction && isCompact);
    if (needsSignificance)
      if (bySignificance) {
        let low = within2(leastSignificant, names[3], 1, 21, 1);
        found.significant = [low, within2(mostSignificant, names[4], low, 21, 21)];
      } else found.significant = [1, 21];
    if (needsFraction)
      if (byFraction) {
        let [low, high] = [within2(leastFraction, names[1], 0, 100), within2(mostFraction, names[2], 0, 100)];
        if (low === void 0) low = Math.min(least2, high);
        else if (high === void 0) high = Math.max(most, low);
        else if (low > high) throw new RangeError("maximumFractionDigits value is out of range.");
        found.fraction = [low, high];
      } else found.fraction = [least2, most];
    if (!needsSignificance && !needsFraction ? Object.assign(found, { fraction: [0, 0], significant: [1, 2], type: "morePrecision" }) : found.type = priority !== "auto" ? priority : bySignificance ? "significant" : "fraction", found.increment !== 1) {
      if (found.type !== "fraction") throw new TypeError("RoundingType is not fractionDigits");
      if (found.fraction[0] !== found.fraction[1]) throw new RangeError("maximumFractionDigits not equal to minimumFractionDigits");
    }
    return found.priority = /Precision$/.test(found.type) && found.trailing === "auto" ? found.type : "auto", found;
  }, bySignificantDigits = (number, [, most], mode) => rounded(number, most - 1 - magnitude(number), mode), roundedBy = (number, o2) => {
    let bySignificance = o2.significant === void 0 ? void 0 : bySignificantDigits(number, o2.significant, o2.mode), byFraction = o2.fraction === void 0 ? void 0 : rounded(number, o2.fraction[1], o2.mode, o2.increment), isSignificant = o2.type === "significant";
    if (o2.type === "morePrecision" || o2.type === "lessPrecision") {
      let [first, second] = [magnitude(number) - o2.significant[1] + 1, -o2.fraction[1]];
      isSignificant = o2.type === "morePrecision" ? first <= second : first > second;
    }
    let value = isSignificant ? bySignificance : byFraction, least2 = isSignificant ? Math.max(0, o2.significant[0] - 1 - magnitude(value)) : o2.fraction[0], isWhole2 = value.digits.length <= value.point || value.digits === "", [whole, part] = written(value, o2.trailing === "stripIfInteger" && isWhole2 ? 0 : least2);
    return { value, whole: whole.padStart(o2.whole, "0"), part };
  }, resolvedDigits = (o2) => ({
    minimumIntegerDigits: o2.whole,
    ...o2.significant === void 0 ? {} : { minimumSignificantDigits: o2.significant[0], maximumSignificantDigits: o2.significant[1] },
    ...o2.fraction === void 0 ? {} : { minimumFractionDigits: o2.fraction[0], maximumFractionDigits: o2.fraction[1] }
  }), resolvedRounding = (o2) => ({ roundingMode: o2.mode, roundingIncrement: o2.increment, trailingZeroDisplay: o2.trailing, roundingPriority: o2.priority });

  // src/intl-plurals.js
  var operands = (whole, part, power = 0) => ({
    n: Number(part === "" ? whole : `${whole}.${part}`),
    // The rules depend on the last digits only.
    i: Number(whole.length > 15 ? `1${whole.slice(-12)}` : whole),
    v: part.length,
    f: Number(part || 0),
    t: Number(part.replace(/0+$/, "") || 0),
    e: power
  }), isIn = (number, low, high) => Number.isInteger(number) && number >= low && number <= high, never = () => "other", single2 = ({ n: n2 }) => n2 === 1 ? "one" : "other", exact = ({ i: i2, v: v2 }) => i2 === 1 && v2 === 0 ? "one" : "other", isMillions = ({ i: i2, v: v2, e: e2 }) => e2 === 0 && i2 !== 0 && i2 % 1e6 === 0 && v2 === 0 || !isIn(e2, 0, 5), romance = (isOne) => (o2) => isOne(o2) ? "one" : isMillions(o2) ? "many" : "other", slavic = ({ i: i2, v: v2 }) => v2 !== 0 ? "other" : i2 % 10 === 1 && i2 % 100 !== 11 ? "one" : isIn(i2 % 10, 2, 4) && !isIn(i2 % 100, 12, 14) ? "few" : "many", polish = (o2) => {
    let { i: i2, v: v2 } = o2;
    return i2 === 1 && v2 === 0 ? "one" : v2 !== 0 ? "other" : isIn(i2 % 10, 2, 4) && !isIn(i2 % 100, 12, 14) ? "few" : "many";
  }, arabic = ({ n: n2 }) => n2 <= 2 && Number.isInteger(n2) ? ["zero", "one", "two"][n2] : isIn(n2 % 100, 3, 10) ? "few" : isIn(n2 % 100, 11, 99) ? "many" : "other", all2 = ["few", "many", "one", "two", "zero", "other"], cardinals = {
    en: ["one other", exact],
    de: ["one other", exact],
    nl: ["one other", exact],
    sv: ["one other", exact],
    nb: ["one other", single2],
    tr: ["one other", single2],
    hu: ["one other", single2],
    da: ["one other", ({ n: n2, i: i2, t: t2 }) => n2 === 1 || t2 !== 0 && i2 <= 1 ? "one" : "other"],
    fr: ["one many other", romance(({ i: i2 }) => i2 <= 1)],
    pt: ["one many other", romance(({ i: i2 }) => i2 <= 1)],
    "pt-PT": ["one many other", romance(({ i: i2, v: v2 }) => i2 === 1 && v2 === 0)],
    es: ["one many other", romance(({ n: n2 }) => n2 === 1)],
    it: ["one many other", romance(({ i: i2, v: v2 }) => i2 === 1 && v2 === 0)],
    hi: ["one other", ({ n: n2, i: i2 }) => i2 === 0 || n2 === 1 ? "one" : "other"],
    ru: ["one few many other", slavic],
    uk: ["one few many other", slavic],
    pl: ["one few many other", polish],
    cs: ["one few many other", ({ i: i2, v: v2 }) => v2 !== 0 ? "many" : i2 === 1 ? "one" : isIn(i2, 2, 4) ? "few" : "other"],
    ro: ["one few other", ({ n: n2, i: i2, v: v2 }) => i2 === 1 && v2 === 0 ? "one" : v2 !== 0 || n2 === 0 || n2 !== 1 && isIn(n2 % 100, 1, 19) ? "few" : "other"],
    he: ["one two other", ({ i: i2, v: v2 }) => i2 === 1 && v2 === 0 || i2 === 0 && v2 !== 0 ? "one" : i2 === 2 && v2 === 0 ? "two" : "other"],
    ar: ["zero one two few many other", arabic]
  };
  for (let language of ["ja", "zh", "ko", "id", "vi"]) cardinals[language] = ["other", never];
  var ordinals = {
    en: ["one two few other", ({ n: n2 }) => n2 % 10 === 1 && n2 % 100 !== 11 ? "one" : n2 % 10 === 2 && n2 % 100 !== 12 ? "two" : n2 % 10 === 3 && n2 % 100 !== 13 ? "few" : "other"],
    fr: ["one other", single2],
    vi: ["one other", single2],
    ro: ["one other", single2],
    it: ["many other", ({ n: n2 }) => [8, 11, 80, 800].includes(n2) ? "many" : "other"],
    hu: ["one other", ({ n: n2 }) => n2 === 1 || n2 === 5 ? "one" : "other"],
    sv: ["one other", ({ n: n2 }) => [1, 2].includes(n2 % 10) && ![11, 12].includes(n2 % 100) ? "one" : "other"],
    uk: ["few other", ({ n: n2 }) => n2 % 10 === 3 && n2 % 100 !== 13 ? "few" : "other"],
    hi: ["one two few many other", ({ n: n2 }) => n2 === 1 ? "one" : n2 === 2 || n2 === 3 ? "two" : n2 === 4 ? "few" : n2 === 6 ? "many" : "other"]
  }, none2 = ["other", never], ruleOf = (data, type) => {
    let language = data.split("-")[0];
    return type === "ordinal" ? ordinals[language] ?? none2 : cardinals[data] ?? cardinals[language];
  }, cardinalRule = (data) => ruleOf(data, "cardinal")[1], PluralRules = class {
    #o;
    #rule;
    constructor(locales, given) {
      let options = given === void 0 ? { __proto__: null } : Object(given), { locale, data } = localeOf(locales), type = optionOf(options, "type", ["cardinal", "ordinal"], "cardinal", "PluralRules");
      this.#o = { locale: locale === "pt-PT" ? locale : locale.split("-")[0], data, type, digits: digitOptions(options, 0, 3, !1, "PluralRules") }, this.#rule = ruleOf(data, type);
    }
    #category(given) {
      let number = decimalOf(Number(given));
      if (number.special !== void 0) return "other";
      let { whole, part } = roundedBy(number, this.#o.digits);
      return this.#rule[1](operands(whole, part));
    }
    select(number) {
      return this.#category(number);
    }
    selectRange(from, to2) {
      if (from === void 0 || to2 === void 0) throw new TypeError("Invalid argument");
      if (Number.isNaN(Number(from)) || Number.isNaN(Number(to2))) throw new RangeError("Invalid argument");
      let [first, last2] = [this.#category(from), this.#category(to2)];
      return Number(from) === Number(to2) ? last2 : dataOf(this.#o.data, "words").plurals[`${first} ${last2}`] ?? last2;
    }
    resolvedOptions() {
      let { locale, type, digits } = this.#o, pluralCategories = all2.filter((category) => this.#rule[0].split(" ").includes(category));
      return { locale, type, ...resolvedDigits(digits), pluralCategories };
    }
  };

  // src/intl-numbers.js
  var isMark = (symbol, isBehind2) => (isBehind2 ? /^[\p{S}\p{Z}]/u : /[\p{S}\p{Z}]$/u).test(symbol), isBehind = (shape) => shape.indexOf("\xA4") > shape.indexOf("#"), numbersOf = (data, system) => onceFor(`numbers ${system}`, data, () => {
    let plain2 = data === "en-US" ? englishNumbers : dataOf(data, "basic").numbers;
    return system === "latn" ? plain2 : { ...plain2, ...dataOf(data, "basic").numbers.systems[system] };
  }), hasUnit = (unit) => ` ${values().units} `.includes(` ${unit} `), isOld = (currency) => ` ${values().oldCurrencies} `.includes(` ${currency} `), codeUnits = /^[a-z]+(-[a-z]+)*$/, checkUnit = (unit) => {
    if (unit === void 0) return;
    let text3 = String(unit), parts = text3.split("-per-");
    if (!(codeUnits.test(text3) && parts.length <= 2 && parts.every(hasUnit))) throw new RangeError(`Invalid unit argument for Intl.NumberFormat() '${text3}'`);
    return text3;
  }, groupingOf = (given, isCompact) => {
    let standard = isCompact ? "min2" : "auto";
    if (given === void 0) return standard;
    if (given === !0 || given === !1) return given ? "always" : !1;
    let text3 = String(given);
    if (given === null || given === 0 || given === "" || Number.isNaN(given)) return !1;
    if (text3 === "true" || text3 === "false") return standard;
    if (!["min2", "auto", "always"].includes(text3)) throw new RangeError(`Value ${text3} out of range for Intl.NumberFormat options property useGrouping`);
    return text3;
  }, minusOf = (text3) => [...text3.matchAll(/[-\u2212]|[^-\u2212]+/gu)].map(([piece]) => [/[-\u2212]/.test(piece) ? "exponentMinusSign" : "literal", piece]), symbolParts = (symbol) => symbol.endsWith("\u200F") ? [["currency", symbol.slice(0, -1)], ["literal", "\u200F"]] : [["currency", symbol]], merged2 = (parts) => parts.reduce((all3, [type, text3]) => (type === "literal" && all3.at(-1)?.[0] === "literal" ? all3.push(["literal", all3.pop()[1] + text3]) : all3.push([type, text3]), all3), []), ofCategory = (patterns, category) => typeof patterns == "string" ? patterns : patterns[category] ?? patterns.other, rangeParts = (pattern, ends, symbol, sources) => {
    let isEach = pattern.split("\xA4").length - 1 === ends.length, seen = { "#": 0, "\xA4": 0 };
    return [...pattern.matchAll(/[#¤]|[%٪]+|[^#¤%٪]+/gu)].flatMap(([piece]) => {
      if (piece === "#") {
        let at2 = seen["#"]++;
        return ends[at2].map(([type, value]) => ({ type, value, source: sources[at2] }));
      }
      return piece === "\xA4" ? [{ type: "currency", value: symbol, source: isEach ? sources[seen["\xA4"]++] : "shared" }] : /[%٪]/.test(piece) ? [{ type: "percentSign", value: piece, source: "shared" }] : [{ type: ends.length === 1 && /[~≈≃約约]/u.test(piece) ? "approximatelySign" : "literal", value: piece, source: "shared" }];
    });
  }, NumberFormat = class {
    #o;
    #l;
    #bound;
    constructor(locales, given, owner = "NumberFormat") {
      let options = given === void 0 ? { __proto__: null } : Object(given);
      if (given === null) throw new TypeError("Cannot convert undefined or null to object");
      let { locale, data, keywords } = localeOf(locales), option = (name2, list, standard2) => optionOf(options, name2, list, standard2, owner), asked = option("numberingSystem"), standard = data === "en-US" ? "latn" : dataOf(data, "basic").numbers.native, { system, isNamed } = asked === void 0 && keywords.nu === void 0 ? { system: standard, isNamed: !1 } : numberingSystemOf(asked, keywords, standard), style = option("style", ["decimal", "percent", "currency", "unit"], "decimal"), currency = option("currency");
      if (currency !== void 0 && !/^[a-z]{3}$/i.test(currency)) throw new RangeError(`Invalid currency code : ${currency}`);
      if (style === "currency" && currency === void 0) throw new TypeError("Currency code is required with currency style.");
      let currencyDisplay = option("currencyDisplay", ["code", "symbol", "narrowSymbol", "name"], "symbol"), currencySign = option("currencySign", ["standard", "accounting"], "standard"), unit = checkUnit(option("unit"));
      if (style === "unit" && unit === void 0) throw new TypeError("Invalid unit argument for Intl.NumberFormat() ''");
      let unitDisplay = option("unitDisplay", ["short", "narrow", "long"], "short"), notation = option("notation", ["standard", "scientific", "engineering", "compact"], "standard"), code = currency?.toUpperCase(), isMoney = style === "currency", places = isMoney ? currencyDigits[code] ?? 2 : 0, digits = digitOptions(options, places, isMoney ? places : style === "percent" ? 0 : 3, notation === "compact", owner), compactDisplay = option("compactDisplay", ["short", "long"], "short"), useGrouping = groupingOf(options.useGrouping, notation === "compact"), signDisplay = option("signDisplay", ["auto", "never", "always", "exceptZero", "negative"], "auto");
      this.#l = numbersOf(data, system), this.#o = {
        locale: isNamed ? `${locale}-u-nu-${system}` : locale,
        data,
        system,
        style,
        currency: isMoney ? code : void 0,
        currencyDisplay,
        // Without signs, the accounting format is the standard one.
        currencySign: signDisplay === "never" ? "standard" : currencySign,
        unit,
        unitDisplay,
        notation,
        compactDisplay,
        useGrouping,
        signDisplay,
        digits
      };
    }
    get #words() {
      return dataOf(this.#o.data, "words");
    }
    // Returns the power of ten by which a compact number of this size is divided, and the patterns for the result.
    #scale(power) {
      let o2 = this.#o;
      return power < 3 ? [0, "#"] : this.#words[o2.style === "currency" && o2.currencyDisplay !== "name" ? "money" : o2.compactDisplay][Math.min(power, 20)];
    }
    // Returns the rounded number: its digits, the power of ten by which it is divided, and the patterns of a compact
    // number.
    #scaled(number) {
      let { notation, digits } = this.#o, powerOf = (value) => {
        let size2 = magnitude(value);
        return notation === "compact" ? this.#scale(size2)[0] : notation === "engineering" ? Math.floor(size2 / 3) * 3 : notation === "scientific" ? size2 : 0;
      }, power = powerOf(number), found = roundedBy(shifted(number, -power), digits);
      if (power === 0 && notation === "standard") return { ...found, power };
      let size = magnitude(found.value) + power;
      return !isZero(found.value) && size !== magnitude(number) && (power = powerOf({ digits: "1", point: size + 1 }), found = roundedBy(shifted(number, -power), digits)), { ...found, power, patterns: notation === "compact" && !isZero(number) ? this.#scale(magnitude(found.value) + power)[1] : "#" };
    }
    #grouped(whole) {
      let o2 = this.#o, isMoney = o2.style === "currency", separator = (isMoney ? this.#l.money : this.#l.separators).slice(1), least2 = o2.useGrouping === "min2" ? 2 : o2.useGrouping === "always" ? 1 : this.#l.least;
      if (o2.useGrouping === !1 || separator === "" || whole.length < 3 + least2) return [["integer", whole]];
      let groups2 = [whole.slice(-3)], size = isMoney && o2.currencySign === "accounting" && o2.currencyDisplay !== "name" ? this.#l.ledger : this.#l.second;
      for (let at2 = whole.length - 3; at2 > 0; at2 -= size) groups2.unshift(whole.slice(Math.max(at2 - size, 0), at2));
      return groups2.flatMap((group, at2) => at2 > 0 ? [["group", separator], ["integer", group]] : [["integer", group]]);
    }
    // Returns the parts of the number without sign, currency and unit, and its plural category.
    #number(number) {
      let o2 = this.#o;
      if (number.special !== void 0) return { parts: [[number.special, number.special === "nan" ? this.#l.nan : this.#l.infinity]], category: "other", isZero: !1 };
      let { value, whole, part, power, patterns } = this.#scaled(number), parts = this.#grouped(whole);
      part !== "" && parts.push(["decimal", (o2.style === "currency" ? this.#l.money : this.#l.separators)[0]], ["fraction", part]), (o2.notation === "scientific" || o2.notation === "engineering") && parts.push(["exponentSeparator", this.#l.exponent], ...power < 0 ? minusOf(this.#l.exponentMinus) : [], ["exponentInteger", String(Math.abs(power))]);
      let category = this.#category(whole, part, power);
      if (o2.notation !== "compact") return { parts, category, isZero: isZero(value) };
      let own = cardinalRule(o2.data)(operands(whole, part)), ofWord = own === "one" ? own : cardinalRule(o2.data)(operands(whole, part, power));
      return { parts: this.#compacted(parts, patterns, ofWord, whole === "1" && part === ""), category, isZero: isZero(value) };
    }
    // Returns the plural category of a number that is divided by a power of ten.
    #category(whole, part, power) {
      if (power <= 0) return cardinalRule(this.#o.data)(operands(whole, part));
      let { digits, point } = shifted(decimalOf(part === "" ? whole : `${whole}.${part}`), power), all3 = point > 0 ? [digits.slice(0, point).padEnd(point, "0"), digits.slice(point)] : ["0", "0".repeat(-point) + digits];
      return cardinalRule(this.#o.data)(operands(all3[0], all3[1], this.#o.notation === "compact" ? power : 0));
    }
    #compacted(parts, patterns, category, isOne) {
      let pattern = isOne && patterns["=1"] !== void 0 ? patterns["=1"] : ofCategory(patterns, category);
      return this.#filled(pattern, parts, "compact");
    }
    // Returns a pattern with the number and the currency inserted.
    #filled(pattern, parts, type) {
      let symbol = pattern.includes("\xA4") ? this.#symbol() : "", isApart = symbol !== "" && !isMark(symbol, !1);
      return [...pattern.matchAll(/[#¤]|\{([^}]*)\}|[^#¤{]+/gu)].flatMap(([piece, word2], at2, all3) => piece === "#" ? parts : piece === "\xA4" ? [...symbolParts(symbol), ...isApart && all3[at2 + 1]?.[0] === "#" ? [["literal", "\xA0"]] : []] : [[word2 === void 0 ? "literal" : type, word2 ?? piece]]);
    }
    #parts(given) {
      let o2 = this.#o, number = decimalOf(given), size = { ...number, negative: !1 }, { parts, category, isZero: isNothing2 } = this.#number(o2.style === "percent" ? shifted(o2.digits.mode === "halfExpand" ? size : number, 2) : o2.digits.mode === "halfExpand" ? size : number), hidden2 = o2.signDisplay === "never" || (o2.signDisplay === "exceptZero" || o2.signDisplay === "negative") && isNothing2, minus = number.negative && !hidden2, always = o2.signDisplay === "always" || o2.signDisplay === "exceptZero" && !isNothing2 && number.special !== "nan", shown4 = merged2(this.#withWords(this.#around(parts, minus, !minus && always), category));
      return o2.system === "latn" ? shown4 : shown4.map(([type, text3]) => [type, type === "integer" || type === "fraction" || type === "exponentInteger" ? digitsIn(text3, o2.system) : text3]);
    }
    #symbol() {
      let { currency, currencyDisplay } = this.#o, [standard = currency, narrow = standard] = (this.#l.symbols[currency] ?? "").split(" ").filter(Boolean);
      return currencyDisplay === "symbol" ? standard : currencyDisplay === "narrowSymbol" ? narrow : currency;
    }
    // Returns the number with its sign, and with the percent sign or the currency.
    #around(parts, minus, plus) {
      let [o2, l2] = [this.#o, this.#l], isMoney = o2.style === "currency" && o2.currencyDisplay !== "name" && !parts.some(([type]) => type === "currency"), shapes = o2.style === "percent" && o2.notation !== "compact" ? l2.percent : l2.decimal, symbol;
      isMoney && (symbol = this.#symbol(), shapes = l2.shapes[isMark(symbol, isBehind(l2.shapes[1][0])) || !/^\d/.test(parts[0][1]) ? 0 : 1]);
      let isLedger = isMoney && o2.currencySign === "accounting";
      return [...shapes[isLedger && minus ? 2 : minus || plus ? 1 : isLedger ? 3 : 0].matchAll(/[#¤%٪-]|[^#¤%٪-]+/gu)].flatMap(([piece]) => piece === "#" ? parts : piece === "\xA4" ? symbolParts(symbol) : piece === "-" ? [plus ? ["plusSign", l2.plus] : ["minusSign", l2.minus]] : [[/^[%٪]/.test(piece) ? "percentSign" : "literal", piece]]);
    }
    // Returns the number with the words of a unit or a currency.
    #withWords(parts, category) {
      let o2 = this.#o, isShare = o2.style === "percent" && o2.notation === "compact";
      if (o2.style === "unit" || isShare) return this.#filled(isShare ? this.#words.share : ofCategory(this.#unit(), category), parts, "unit");
      if (o2.style !== "currency" || o2.currencyDisplay !== "name") return parts;
      let { names: names3, shape } = this.#words.amounts;
      names3[o2.currency] === void 0 && isOld(o2.currency) && warn(`Intl has no name of the currency '${o2.currency}' here`);
      let name2 = ofCategory(names3[o2.currency] ?? o2.currency, category);
      return [...ofCategory(shape, category).matchAll(/[#¤]|[^#¤]+/gu)].flatMap(([piece]) => piece === "#" ? parts : [[piece === "\xA4" ? "currency" : "literal", piece === "\xA4" ? name2 : piece]]);
    }
    #unit() {
      let { unit, unitDisplay } = this.#o, [first, second] = unit.split("-per-"), simple = this.#words.units[unitDisplay][first];
      if (second === void 0) return simple;
      let { around, exceptions } = this.#words.rates[unitDisplay], found = exceptions[unit] ?? rate(simple, around[second]);
      if (found === void 0) throw new Error(`Intl has no words for the unit '${unit}' here`);
      return found;
    }
    get format() {
      return this.#bound ??= (number) => this.#parts(number).map(([, text3]) => text3).join("");
    }
    formatToParts(number) {
      return this.#parts(number).map(([type, value]) => ({ type, value }));
    }
    formatRange(from, to2) {
      return this.#range(from, to2).map(({ value }) => value).join("");
    }
    formatRangeToParts(from, to2) {
      return this.#range(from, to2);
    }
    // Returns the parts of a range, each with its source.
    #range(from, to2) {
      for (let [name2, value] of [["start", from], ["end", to2]]) if (value === void 0) throw new TypeError(`Invalid ${name2} : undefined`);
      let [a2, b2] = [decimalOf(from), decimalOf(to2)];
      for (let [name2, { special: special2 }] of [["start", a2], ["end", b2]]) if (special2 === "nan") throw new RangeError(`Invalid ${name2} : NaN`);
      let o2 = this.#o;
      if (!(o2.notation === "standard" && o2.style !== "unit" && !(o2.style === "currency" && o2.currencyDisplay === "name") && !a2.negative && !b2.negative) || o2.signDisplay !== "auto" || o2.currencySign === "accounting" || a2.special || b2.special) return this.#ends(from, to2);
      let isDigit = ["integer", "fraction"], ends = [a2, b2].map(
        (number) => this.#number(o2.style === "percent" ? shifted(number, 2) : number).parts.map(([type, text3]) => [type, isDigit.includes(type) ? digitsIn(text3, o2.system) : text3])
      ), texts2 = ends.map((parts) => parts.map(([, text3]) => text3).join("")), symbol = o2.style === "currency" ? this.#symbol() : "", { ranges } = this.#words, money = isMark(symbol, isBehind(ranges.word[0])) ? [...symbol].length === 1 ? ranges.mark : ranges.long : ranges.word, [between2, about] = o2.style === "currency" ? money : ranges[o2.style];
      return texts2[0] === texts2[1] ? rangeParts(about, [ends[0]], symbol, ["shared"]) : rangeParts(between2, ends, symbol, ["startRange", "endRange"]);
    }
    // Returns the parts of a range as its two ends, although Node writes a part that the ends share only once.
    #ends(from, to2) {
      warn("Intl writes ranges of numbers with words or negative numbers here as their two ends");
      let side = (value, source) => this.formatToParts(value).map((part) => ({ ...part, source }));
      return [...side(from, "startRange"), { type: "literal", value: " \u2013 ", source: "shared" }, ...side(to2, "endRange")];
    }
    resolvedOptions() {
      let o2 = this.#o;
      return {
        locale: o2.locale,
        numberingSystem: o2.system,
        style: o2.style,
        ...o2.style === "currency" ? { currency: o2.currency, currencyDisplay: o2.currencyDisplay, currencySign: o2.currencySign } : {},
        ...o2.style === "unit" ? { unit: o2.unit, unitDisplay: o2.unitDisplay } : {},
        ...resolvedDigits(o2.digits),
        useGrouping: o2.useGrouping,
        notation: o2.notation,
        ...o2.notation === "compact" ? { compactDisplay: o2.compactDisplay } : {},
        signDisplay: o2.signDisplay,
        ...resolvedRounding(o2.digits)
      };
    }
  };

  // src/intl-text.js
  var { native: native12 } = host, ordered = ["ja", "zh", "ko"], strengths = { base: 0, accent: 1, case: 2, variant: 3 }, Collator = class {
    #o;
    #native;
    #bound;
    constructor(locales, given, owner = "Collator") {
      let options = given === void 0 ? { __proto__: null } : Object(given), { locale, data, keywords } = localeOf(locales), option = (name2, list, standard) => optionOf(options, name2, list, standard, owner), usage = option("usage", ["sort", "search"], "sort"), numeric2 = options.numeric === void 0 ? keywords.kn !== void 0 && keywords.kn !== "false" : !!options.numeric, caseFirst = option("caseFirst", ["upper", "lower", "false"], ["upper", "lower", "false"].includes(keywords.kf) ? keywords.kf : "false"), sensitivity = option("sensitivity", Object.keys(strengths), "variant"), ignorePunctuation = !!options.ignorePunctuation;
      ordered.includes(data.split("-")[0]) && warn(`Intl has no order of letters for the locale '${locale}' here: it is that of most languages`), (keywords.co !== void 0 || options.collation !== void 0) && warn(`Intl has no collation '${options.collation ?? keywords.co}' here: the order is the standard one`);
      let used = [options.numeric === void 0 && keywords.kn !== void 0 ? `-kn${keywords.kn === "false" ? "-false" : ""}` : "", options.caseFirst === void 0 && keywords.kf === caseFirst ? `-kf-${caseFirst}` : ""].reverse().join("");
      this.#o = { locale: used === "" ? locale : `${locale}-u${used}`, usage, sensitivity, ignorePunctuation, collation: "default", numeric: numeric2, caseFirst }, this.#native = openTable(data.split("-")[0], strengths[sensitivity], numeric2, caseFirst, ignorePunctuation);
    }
    get compare() {
      return this.#bound ??= (a2, b2) => this.#compare(String(a2), String(b2));
    }
    // The engine treats all halves of surrogate pairs as the same letter.
    #compare(a2, b2) {
      let order = native12.compareTexts(this.#native, a2, b2);
      return order !== 0 || a2 === b2 || a2.isWellFormed() && b2.isWellFormed() ? order : a2 < b2 ? -1 : 1;
    }
    resolvedOptions() {
      return { ...this.#o };
    }
  }, tables = /* @__PURE__ */ new Map(), openTable = (...wanted) => {
    let key = wanted.join();
    return tables.has(key) || tables.set(key, native12.openCollator(...wanted)), tables.get(key);
  }, granularities = ["grapheme", "word", "sentence"], withoutSpaces = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u, mixedKorean = /\p{Script=Hangul}(?!\p{Script=Hangul})[\p{L}\p{N}_]|(?!\p{Script=Hangul})[\p{L}\p{N}_]\p{Script=Hangul}/u, isWord = /[\p{L}\p{N}]|__/u, Segments = class {
    #text;
    #granularity;
    #ends;
    constructor(text3, granularity) {
      this.#text = text3, this.#granularity = granularity, granularity === "word" && (withoutSpaces.test(text3) || mixedKorean.test(text3)) && warn("Intl.Segmenter has no dictionary of the words of languages that are written without spaces here"), this.#ends = native12.segmentEnds(text3, granularities.indexOf(granularity));
    }
    #entry(at2) {
      let index = at2 === 0 ? 0 : this.#ends[at2 - 1], segment = this.#text.slice(index, this.#ends[at2]), entry = { segment, index, input: this.#text };
      return this.#granularity === "word" ? { ...entry, isWordLike: isWord.test(segment) } : entry;
    }
    containing(given = 0) {
      let place = Math.trunc(Number(given)) || 0;
      if (place < 0 || place >= this.#text.length) return;
      let [low, high] = [0, this.#ends.length - 1];
      for (; low < high; ) {
        let middle = low + high >> 1;
        this.#ends[middle] > place ? high = middle : low = middle + 1;
      }
      return this.#entry(low);
    }
    *[Symbol.iterator]() {
      for (let at2 = 0; at2 < this.#ends.length; at2++) yield this.#entry(at2);
    }
  }, Segmenter = class {
    #o;
    constructor(locales, given) {
      let options = given === void 0 ? { __proto__: null } : given;
      if (typeof options != "object" || options === null) throw new TypeError("Cannot convert undefined or null to object");
      let { locale } = localeOf(locales);
      this.#o = { locale, granularity: optionOf(options, "granularity", granularities, "grapheme", "Segmenter") };
    }
    segment(input) {
      return new Segments(String(input), this.#o.granularity);
    }
    resolvedOptions() {
      return { ...this.#o };
    }
  };

  // src/intl-words.js
  var displays = ["long", "short", "narrow"], objectOf = (given) => {
    if (given === void 0) return {};
    if (typeof given != "object" || given === null) throw new TypeError("Incorrect ListFormat information provided");
    return given;
  }, spanish = (between2, next) => between2 === " y " && /^(i|hi(?![ae]))/i.test(next) ? " e " : between2 === " o " && /^(o|ho|8|11($| ))/i.test(next) ? " u " : between2, ListFormat = class {
    #o;
    constructor(locales, given) {
      let { locale, data } = localeOf(locales), options = objectOf(given), type = optionOf(options, "type", ["conjunction", "disjunction", "unit"], "conjunction", "ListFormat");
      this.#o = { locale, type, style: optionOf(options, "style", displays, "long", "ListFormat"), data };
    }
    formatToParts(list) {
      let items = list === void 0 ? [] : [...list];
      for (let item of items) if (typeof item != "string") throw new TypeError(`Iterable yielded ${String(item)} which is not a string`);
      let { type, style, data } = this.#o, [pair, start3, middle, end] = dataOf(data, "words").lists[type][style];
      return items.flatMap((value, at2) => {
        let element = { type: "element", value };
        if (at2 === 0) return [element];
        let isLast = at2 === items.length - 1, between2 = items.length === 2 ? pair : isLast ? end : at2 === 1 ? start3 : middle, literal2 = isLast && data.startsWith("es") ? spanish(between2, value) : between2;
        return literal2 === "" ? [element] : [{ type: "literal", value: literal2 }, element];
      });
    }
    format(list) {
      return this.formatToParts(list).map((part) => part.value).join("");
    }
    resolvedOptions() {
      let { locale, type, style } = this.#o;
      return { locale, type, style };
    }
  }, times2 = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"], RelativeTimeFormat = class {
    #o;
    #numbers;
    #plurals;
    constructor(locales, given) {
      let options = given === void 0 ? { __proto__: null } : Object(given), { locale, data, keywords } = localeOf(locales), asked = optionOf(options, "numberingSystem", void 0, void 0, "RelativeTimeFormat"), native20 = dataOf(data, "basic").numbers.native, { system, isNamed } = numberingSystemOf(asked, keywords, native20), style = optionOf(options, "style", displays, "long", "RelativeTimeFormat"), numeric2 = optionOf(options, "numeric", ["always", "auto"], "always", "RelativeTimeFormat");
      this.#o = { locale: isNamed ? `${locale}-u-nu-${system}` : locale, style, numeric: numeric2, data, system }, this.#numbers = new NumberFormat(data, { numberingSystem: system }), this.#plurals = new PluralRules(data);
    }
    #parts(given, unit, method) {
      let number = Number(given), name2 = String(unit).replace(/s$/, "");
      if (!times2.includes(name2)) throw new RangeError(`Invalid unit argument for Intl.RelativeTimeFormat.prototype.${method}() '${unit}'`);
      if (!Number.isFinite(number)) throw new RangeError(`Value need to be finite number for Intl.RelativeTimeFormat.prototype.${method}()`);
      let { style, numeric: numeric2, data } = this.#o, [past, future, words] = dataOf(data, "words").times[style][name2], key = Object.is(number, -0) && words["-0"] !== void 0 ? "-0" : String(number);
      if (numeric2 === "auto" && Object.hasOwn(words, key)) return [{ type: "literal", value: words[key] }];
      let patterns = number < 0 || Object.is(number, -0) ? past : future, pattern = typeof patterns == "string" ? patterns : patterns[this.#plurals.select(Math.abs(number))] ?? patterns.other, digits = this.#numbers.formatToParts(Math.abs(number)).map((part) => ({ ...part, unit: name2 }));
      return [...pattern.matchAll(/#|[^#]+/gu)].flatMap(([piece]) => piece === "#" ? digits : [{ type: "literal", value: piece }]);
    }
    format(value, unit) {
      return this.#parts(value, unit, "format").map((part) => part.value).join("");
    }
    formatToParts(value, unit) {
      return this.#parts(value, unit, "formatToParts");
    }
    resolvedOptions() {
      let { locale, style, numeric: numeric2, system } = this.#o;
      return { locale, style, numeric: numeric2, numberingSystem: system };
    }
  }, invalidCode = () => new RangeError("invalid_argument"), codeForms = {
    region: [/^([a-z]{2}|\d{3})$/i, (code) => code],
    script: [/^[a-z]{4}$/i, (code) => code],
    currency: [/^[a-z]{3}$/i, (code) => code.toUpperCase()],
    calendar: [/^[a-z\d]{3,8}(-[a-z\d]{3,8})*$/i, (code) => code.toLowerCase()],
    dateTimeField: [/^(era|year|quarter|month|weekOfYear|weekday|day|dayPeriod|hour|minute|second|timeZoneName)$/, (code) => code]
  }, typesOfNames = ["language", ...Object.keys(codeForms)], isOldCurrency = (code) => ` ${values().oldCurrencies} `.includes(` ${code} `), calendarAliases = { gregorian: "gregory", "ethiopic-amete-alem": "ethioaa", islamicc: "islamic-civil" }, DisplayNames = class {
    #o;
    constructor(locales, given) {
      let { locale, data } = localeOf(locales);
      if (typeof given != "object" || given === null) throw new TypeError("invalid_argument");
      let option = (name2, list, standard) => optionOf(given, name2, list, standard, "DisplayNames"), style = option("style", ["narrow", "short", "long"], "long"), type = option("type", typesOfNames);
      if (type === void 0) throw new TypeError("invalid_argument");
      let fallback = option("fallback", ["code", "none"], "code");
      this.#o = { locale, data, style, type, fallback, languageDisplay: option("languageDisplay", ["dialect", "standard"], "dialect") };
    }
    get #names() {
      return dataOf(this.#o.data, "names");
    }
    // Returns a name in the requested style, from the tables of all styles.
    #styled([long, short, narrow], code) {
      let { style } = this.#o;
      return (style === "narrow" ? narrow[code] : void 0) ?? (style === "long" ? void 0 : short[code]) ?? long[code];
    }
    #language(code) {
      if (!/^(?!x-)[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(-([a-z\d]{5,8}|\d[a-z\d]{3}))*$/i.test(code) && !/^[a-z]{5,8}$/i.test(code)) throw invalidCode();
      let [tag] = requested([code]), [language, ...rest] = tag.split("-"), names3 = this.#names;
      if (rest.some((part) => part.length > 4 || /^\d...$/.test(part))) throw new Error(`Intl has no names of variants of languages here: '${tag}'`);
      let script = rest.find((part) => part.length === 4), region = rest.find((part) => part.length < 4), isDialect = this.#o.languageDisplay === "dialect", starts = [[language, script, region], [language, script], ...script === void 0 ? [] : [[language, region]]], own = isDialect ? starts.map((parts) => parts.filter(Boolean)).find((parts) => parts.length > 1 && this.#styled(names3.dialect, parts.join("-")) !== void 0) : void 0, name2 = own === void 0 ? this.#styled(names3.language, language) : this.#styled(names3.dialect, own.join("-")), left = [script, region].filter((part) => part !== void 0 && !own?.includes(part));
      if (left.length === 0) return name2;
      if (this.#o.fallback === "none" && (name2 === void 0 || left.some((part) => this.#known(part === script ? "script" : "region", part) === void 0))) return;
      let words = left.map((part) => (part === script ? names3.inside[part] ?? this.#known("script", part) : this.#styled(names3.region, part)) ?? part);
      return names3.composed[words.length - 1].replace("{0}", name2 ?? language).replace("{1}", words[0]).replace("{2}", words[1]);
    }
    #known(type, code) {
      let table = this.#names[type];
      return Array.isArray(table) ? this.#styled(table, code) : table[code];
    }
    of(given) {
      let { type, fallback } = this.#o, code = String(given);
      if (type === "language")
        return this.#language(code) ?? (fallback === "none" ? void 0 : requested([code])[0]);
      let [form, write4] = codeForms[type];
      if (!form.test(code)) throw invalidCode();
      let written2 = write4(code), name2 = this.#known(type, calendarAliases[written2] ?? written2);
      if (name2 === void 0 && type === "currency" && isOldCurrency(written2)) throw new Error(`Intl has no name of the currency '${written2}' here`);
      return name2 ?? (fallback === "none" ? void 0 : written2);
    }
    resolvedOptions() {
      let { locale, style, type, fallback, languageDisplay } = this.#o;
      return { locale, style, type, fallback, ...type === "language" ? { languageDisplay } : {} };
    }
  }, isType = /^[a-z\d]{3,8}(-[a-z\d]{3,8})*$/i, keywordsOfLocale = {
    calendar: ["ca", isType],
    collation: ["co", isType],
    hourCycle: ["hc", ["h11", "h12", "h23", "h24"]],
    caseFirst: ["kf", ["upper", "lower", "false"]],
    numeric: ["kn"],
    numberingSystem: ["nu", isType]
  }, wrongTag = () => new RangeError("Incorrect locale information provided"), extensionsOf = (tag, base) => {
    let [, open3, own = ""] = /^(.*?)(-x-.*)?$/.exec(tag.slice(base.length)), list = open3.split(/(?=-[a-z\d]-)/).filter(Boolean), attributes = /^-u((?:-[a-z\d]{3,8})*)/.exec(list.find((part) => part.startsWith("-u")) ?? "")?.[1] ?? "";
    return { others: list.filter((part) => !part.startsWith("-u")), attributes, own };
  }, Locale = class {
    #base;
    #keywords;
    #extensions;
    constructor(tag, given) {
      if (typeof tag != "string" && (typeof tag != "object" || tag === null)) throw new TypeError("First argument to Intl.Locale constructor can't be empty or missing");
      if (given === null) throw new TypeError("Intl.Locale called on null or undefined");
      let options = given === void 0 ? { __proto__: null } : Object(given), [whole] = requested([String(tag)]), { base, keywords } = splitTag(whole), [language, ...rest] = base.split("-"), take2 = (name2, pattern, old2) => {
        let text3 = optionOf(options, name2, void 0, old2, "locale");
        if (text3 !== void 0 && !pattern.test(text3)) throw wrongTag();
        return text3;
      }, old = { script: rest.find((part) => /^[A-Z][a-z]{3}$/.test(part)), region: rest.find((part) => /^([A-Z]{2}|\d{3})$/.test(part)) };
      language = take2("language", /^([a-z]{2,3}|[a-z]{5,8})$/i, language);
      let script = take2("script", /^[a-z]{4}$/i, old.script), region = take2("region", /^([a-z]{2}|\d{3})$/i, old.region);
      rest = rest.filter((part) => part !== old.script && part !== old.region), [this.#base] = requested([[language, script, region, ...rest].filter(Boolean).join("-")]), this.#extensions = extensionsOf(whole, base), this.#keywords = { ...keywords, ...this.#chosen(options) };
    }
    #chosen(options) {
      let chosen = {};
      for (let [name2, [key, values2]] of Object.entries(keywordsOfLocale))
        if (options[name2] !== void 0) {
          if (name2 === "numeric" ? chosen[key] = options.numeric ? "" : "false" : chosen[key] = optionOf(options, name2, Array.isArray(values2) ? values2 : void 0, void 0, "locale"), values2 === isType && !isType.test(chosen[key])) throw wrongTag();
          chosen[key] = chosen[key].toLowerCase();
        }
      return chosen;
    }
    get baseName() {
      return this.#base;
    }
    get language() {
      return this.#base.split("-")[0];
    }
    get script() {
      return this.#base.split("-").find((part) => /^[A-Z][a-z]{3}$/.test(part));
    }
    get region() {
      return this.#base.split("-").slice(1).find((part) => /^([A-Z]{2}|\d{3})$/.test(part));
    }
    get calendar() {
      return this.#keywords.ca;
    }
    get collation() {
      return this.#keywords.co;
    }
    get hourCycle() {
      return this.#keywords.hc;
    }
    get caseFirst() {
      return this.#keywords.kf;
    }
    get numeric() {
      return this.#keywords.kn !== void 0 && this.#keywords.kn !== "false";
    }
    get numberingSystem() {
      return this.#keywords.nu;
    }
    maximize() {
      return this.#likely("maximize");
    }
    minimize() {
      return this.#likely("minimize");
    }
    #likely(method) {
      throw Object.assign(new Error(`Intl.Locale.prototype.${method} is not available in Tollhouse: it has no table of likely scripts and regions`), { code: "ERR_FEATURE_UNAVAILABLE" });
    }
    toString() {
      let { others, attributes, own } = this.#extensions, keywords = Object.entries(this.#keywords).sort(([a2], [b2]) => a2 < b2 ? -1 : 1).map(([key, value]) => `-${key}${value === "" ? "" : `-${value}`}`), named3 = attributes + keywords.join("");
      return this.#base + [...others, ...named3 === "" ? [] : [`-u${named3}`]].sort().join("") + own;
    }
  }, supportedValues = (key) => {
    let lists = { currency: "currencies", unit: "units", timeZone: "zones" };
    if (Object.hasOwn(lists, key)) return values()[lists[key]].split(" ");
    if (key === "numberingSystem") return Object.keys(values().digits);
    if (key === "calendar") return ["gregory"];
    if (key === "collation") return [];
    throw new RangeError(`Invalid key : ${key}`);
  };

  // src/intl.js
  var Intl = {}, classes = { Collator, DateTimeFormat, DisplayNames, ListFormat, Locale, NumberFormat, PluralRules, RelativeTimeFormat, Segmenter }, hide = (target2, name2, value) => Object.defineProperty(target2, name2, { value, writable: !0, enumerable: !1, configurable: !0 }), callables = ["Collator", "DateTimeFormat", "NumberFormat"];
  for (let [name2, Class] of Object.entries(classes)) {
    let callable = new Proxy(Class, {
      apply(target2, self2, values2) {
        if (!callables.includes(name2)) throw new TypeError(`Constructor Intl.${name2} requires 'new'`);
        return new target2(...values2.slice(0, 2));
      },
      // Further arguments are internal, and a script must not pass them.
      construct: (target2, values2, made3) => Reflect.construct(target2, values2.slice(0, 2), made3)
    });
    hide(Intl, name2, callable), hide(Class.prototype, "constructor", callable), Object.defineProperty(Class.prototype, Symbol.toStringTag, { value: `Intl.${name2}`, configurable: !0 }), hide(Class, "supportedLocalesOf", (locales) => requested(locales).filter(isKnown));
  }
  hide(Intl, "getCanonicalLocales", (locales) => requested(locales));
  hide(Intl, "supportedValuesOf", (key) => supportedValues(String(key)));
  Object.defineProperty(Intl, Symbol.toStringTag, { value: "Intl", configurable: !0 });
  hide(globalThis, "Intl", Intl);
  var isTurkish = (locales) => locales !== void 0 && /^(tr|az)\b/.test(requested(locales)[0] ?? ""), { valueOf: numberOf } = Number.prototype, { valueOf: bigintOf } = BigInt.prototype, { getTime } = Date.prototype, listing = [], writeList = (list, length, locales, options) => {
    for (let i2 = 0; i2 < listing.length; i2++) if (listing[i2] === list) return "";
    listing[listing.length] = list;
    try {
      let text3 = "";
      for (let i2 = 0; i2 < length; i2++) {
        let item = list[i2];
        i2 > 0 && (text3 += ","), item != null && (text3 += String(item.toLocaleString(locales, options)));
      }
      return text3;
    } finally {
      listing.length--;
    }
  }, lengthOf2 = (list) => Math.min(Math.max(Math.trunc(Number(list.length)) || 0, 0), Number.MAX_SAFE_INTEGER), listed2 = (self2, locales, options) => {
    let list = Object(self2);
    return writeList(list, lengthOf2(list), locales, options);
  }, receiver = (valueOf, self2, name2) => {
    try {
      return valueOf.call(self2);
    } catch {
      throw new TypeError(`${name2}.prototype.toLocaleString requires that 'this' be a ${name2}`);
    }
  }, methods2 = {
    Number: { toLocaleString: (self2, locales, options) => new NumberFormat(locales, options, "Number.prototype.toLocaleString").format(receiver(numberOf, self2, "Number")) },
    BigInt: { toLocaleString: (self2, locales, options) => new NumberFormat(locales, options, "BigInt.prototype.toLocaleString").format(receiver(bigintOf, self2, "BigInt")) },
    Array: { toLocaleString: listed2 },
    Date: {
      toLocaleString: (self2, locales, options) => new DateTimeFormat(locales, options, "any", "all", "Date.prototype.toLocaleString").format(self2),
      toLocaleDateString: (self2, locales, options) => new DateTimeFormat(locales, options, "date", "date", "Date.prototype.toLocaleDateString").format(self2),
      toLocaleTimeString: (self2, locales, options) => new DateTimeFormat(locales, options, "time", "time", "Date.prototype.toLocaleTimeString").format(self2)
    },
    String: {
      toLocaleUpperCase: (self2, locales) => (isTurkish(locales) ? String(self2).replace(/i/g, "\u0130") : String(self2)).toUpperCase(),
      toLocaleLowerCase: (self2, locales) => (isTurkish(locales) ? String(self2).replace(/I\u0307|İ/g, "i").replace(/I/g, "\u0131") : String(self2)).toLowerCase(),
      localeCompare: (self2, other, locales, options) => localeCompare(String(self2), String(other), locales, options)
    }
  }, isDate2 = (value) => {
    try {
      return getTime.call(value), !0;
    } catch {
      return !1;
    }
  }, shown3 = (value) => typeof value != "object" || value === null ? String(value) : Array.isArray(value) ? "[object Array]" : `#<${value.constructor?.name ?? "Object"}>`, last = { locale: void 0, compare: void 0 }, localeCompare = (self2, other, locale, options) => {
    let isPlain = options === void 0 && (locale === void 0 || typeof locale == "string");
    if (isPlain && last.compare !== void 0 && last.locale === locale) return last.compare(self2, other);
    let { compare: compare2 } = new Collator(locale, options, "String.prototype.localeCompare");
    return isPlain && Object.assign(last, { locale, compare: compare2 }), compare2(self2, other);
  }, invalid = (self2) => self2 instanceof Date && Number.isNaN(self2.getTime());
  for (let [name2, list] of Object.entries(methods2))
    for (let [method, work2] of Object.entries(list)) {
      let made3 = {
        [method]() {
          "use strict";
          if (name2 === "Date" && !isDate2(this)) throw new TypeError(`Method Date.prototype.${method} called on incompatible receiver ${shown3(this)}`);
          if (this == null && name2 === "Array") throw new TypeError("Cannot convert undefined or null to object");
          if (this == null && name2 === "String") throw new TypeError(`${name2}.prototype.${method} called on null or undefined`);
          return invalid(this) ? "Invalid Date" : work2(this, ...arguments);
        }
      }[method];
      hide(globalThis[name2].prototype, method, made3);
    }
  var typedArrays = Object.getPrototypeOf(Int8Array.prototype), { get: typedLength } = Object.getOwnPropertyDescriptor(typedArrays, "length");
  hide(typedArrays, "toLocaleString", {
    toLocaleString(locales, options) {
      "use strict";
      if (!ArrayBuffer.isView(this) || this instanceof DataView)
        throw new TypeError(`Method %TypedArray%.prototype.toLocaleString called on incompatible receiver ${shown3(this)}`);
      return writeList(this, typedLength.call(this), locales, options);
    }
  }.toLocaleString);
  var { toString: toString2, toTimeString } = Date.prototype, named = (text3) => text3 === "Invalid Date" ? text3 : `${text3} (Coordinated Universal Time)`;
  hide(Date.prototype, "toString", { toString() {
    return named(toString2.call(this));
  } }.toString);
  hide(Date.prototype, "toTimeString", {
    toTimeString() {
      let text3 = named(toTimeString.call(this));
      return text3.slice(Math.max(text3.search(/\d\d:\d\d:\d\d/), 0));
    }
  }.toTimeString);
  hide(Date.prototype, Symbol.toPrimitive, Date.prototype[Symbol.toPrimitive]);

  // src/json.js
  var { parse: parse4, stringify: stringify3 } = JSON, { isProxy, className } = host.native, { isArray: isArray2 } = Array, { getOwnPropertyDescriptor, getPrototypeOf, keys: objectKeys } = Object, context = 10, literals = { t: "true", f: "false", n: "null" }, special = ["[object Object]", "NaN", "Infinity", "undefined"], Scanner = class {
    #text;
    #at = 0;
    constructor(text3) {
      this.#text = text3;
    }
    // `what` is `undefined` where V8 only names the character.
    #fail(what, at2 = this.#at) {
      let text3 = this.#text;
      if (what !== void 0) throw `${what} in JSON at position ${at2}`;
      if (at2 >= text3.length) throw "Unexpected end of JSON input";
      if (special.includes(text3)) throw `"${text3}" is not valid JSON`;
      let character = text3[at2];
      if (/[-\d]/.test(character)) throw `Unexpected number in JSON at position ${at2}`;
      if (character === '"') throw `Unexpected string in JSON at position ${at2}`;
      let isLong = text3.length >= 2 * context + 1, [cutsStart, cutsEnd] = [isLong && at2 >= context, isLong && at2 < text3.length - context], shown4 = text3.slice(cutsStart ? at2 - context : 0, cutsEnd ? at2 + context : text3.length);
      throw `Unexpected token '${character}', ${cutsStart ? "..." : ""}"${shown4}"${cutsEnd ? "..." : ""} is not valid JSON`;
    }
    // Returns the next character that is not white space.
    #peek() {
      for (; /[ \t\n\r]/.test(this.#text[this.#at] ?? "x"); ) this.#at++;
      return this.#text[this.#at];
    }
    whole() {
      if (this.#value(), this.#peek() !== void 0) throw `Unexpected non-whitespace character after JSON at position ${this.#at}`;
    }
    #value() {
      let character = this.#peek();
      if (character === "{") return this.#object();
      if (character === "[") return this.#array();
      if (character === '"') return this.#string();
      if (character !== void 0 && /[-\d]/.test(character)) return this.#number();
      let literal2 = literals[character];
      literal2 === void 0 && this.#fail();
      for (let letter of literal2)
        this.#text[this.#at] !== letter && this.#fail(), this.#at++;
    }
    #object() {
      if (this.#at++, this.#peek() === "}") return void this.#at++;
      this.#peek() !== '"' && this.#fail("Expected property name or '}'");
      let isFirst = !0;
      for (; ; ) {
        if (this.#string(), this.#peek() !== ":" && this.#fail(isFirst ? "Expected ':' after property name" : void 0), isFirst = !1, this.#at++, this.#value(), this.#peek() === "}") return void this.#at++;
        this.#peek() !== "," && this.#fail("Expected ',' or '}' after property value"), this.#at++, this.#peek() !== '"' && this.#fail("Expected double-quoted property name");
      }
    }
    #array() {
      if (this.#at++, this.#peek() === "]") return void this.#at++;
      for (; ; ) {
        if (this.#value(), this.#peek() === "]") return void this.#at++;
        this.#peek() !== "," && this.#fail("Expected ',' or ']' after array element"), this.#at++;
      }
    }
    #string() {
      for (this.#at++; ; ) {
        let character = this.#text[this.#at];
        if (character === void 0 && this.#fail("Unterminated string"), character < " " && this.#fail("Bad control character in string literal"), this.#at++, character === '"') return;
        character === "\\" && this.#escape();
      }
    }
    #escape() {
      let character = this.#text[this.#at];
      if (character === void 0 && this.#fail(), character !== "u")
        return '"\\/bfnrt'.includes(character) || this.#fail("Bad escaped character"), void this.#at++;
      for (let count = 0; count < 4; count++)
        this.#at++, /[\da-f]/i.test(this.#text[this.#at] ?? "") || this.#fail("Bad Unicode escape");
      this.#at++;
    }
    #digits() {
      let start3 = this.#at;
      for (; /\d/.test(this.#text[this.#at] ?? ""); ) this.#at++;
      return this.#at - start3;
    }
    #number() {
      this.#text[this.#at] === "-" && !/\d/.test(this.#text[++this.#at] ?? "") && this.#fail("No number after minus sign");
      let isZero2 = this.#text[this.#at] === "0";
      isZero2 ? this.#at++ : this.#digits(), isZero2 && /\d/.test(this.#text[this.#at] ?? "") && this.#fail("Unexpected number"), this.#text[this.#at] === "." && (this.#at++, this.#digits() === 0 && this.#fail("Unterminated fractional number")), /e/i.test(this.#text[this.#at] ?? "") && (this.#at++, /[-+]/.test(this.#text[this.#at] ?? "") && this.#at++, this.#digits() === 0 && this.#fail("Exponent part is missing a number"));
    }
  }, faultOf = (text3) => {
    try {
      new Scanner(text3).whole();
    } catch (fault) {
      return typeof fault == "string" ? fault : void 0;
    }
  };
  host.describeJsonFaults(faultOf);
  var made2 = {
    parse(text3, reviver) {
      let source = typeof text3 == "string" ? text3 : `${text3}`;
      try {
        return parse4(source, reviver);
      } catch (error) {
        let fault = error instanceof SyntaxError ? faultOf(source) : void 0;
        throw fault === void 0 ? error : new SyntaxError(fault);
      }
    }
  }.parse;
  Object.defineProperty(JSON, "parse", { value: made2, writable: !0, enumerable: !1, configurable: !0 });
  var inherited = (value, name2) => {
    for (let at2 = value; at2 !== null && !isProxy(at2); at2 = getPrototypeOf(at2)) {
      let property = getOwnPropertyDescriptor(at2, name2);
      if (property !== void 0) return property.value;
    }
  }, isOpaque = (value) => typeof value != "object" || value === null || isProxy(value) || typeof inherited(value, "toJSON") == "function", namesOf = (replacer) => {
    if (!isArray2(replacer)) return;
    let names3 = /* @__PURE__ */ new Set();
    for (let i2 = 0; i2 < replacer.length; i2++) {
      let kind = className(replacer[i2]);
      (typeof replacer[i2] == "string" || typeof replacer[i2] == "number" || kind === "String" || kind === "Number") && names3.add(String(replacer[i2]));
    }
    return [...names3];
  }, stepFrom = (key, value, names3) => {
    let keys = isArray2(value) ? void 0 : names3 ?? objectKeys(value);
    return { key, value, keys, count: keys === void 0 ? value.length : keys.length, next: 0 };
  }, circleIn = (start3, replacer) => {
    let names3 = namesOf(replacer), way = [], places = /* @__PURE__ */ new Map(), done = /* @__PURE__ */ new Set(), enter = (key, value) => {
      places.set(value, way.length), way[way.length] = stepFrom(key, value, names3);
    };
    for (isOpaque(start3) || enter("", start3); way.length > 0; ) {
      let step = way[way.length - 1];
      if (step.next === step.count) {
        done.add(step.value), places.delete(step.value), way.length--;
        continue;
      }
      let key = step.keys === void 0 ? step.next : step.keys[step.next];
      step.next++;
      let property = getOwnPropertyDescriptor(step.value, key)?.value;
      if (!(isOpaque(property) || done.has(property))) {
        if (places.has(property)) return { way: way.slice(places.get(property)), last: key };
        enter(key, property);
      }
    }
  }, named2 = (key) => typeof key == "number" ? `index ${key}` : key === "" ? "<anonymous>" : `property '${key}'`, classOf2 = ({ value }) => {
    let constructor = inherited(value, "constructor"), name2 = typeof constructor == "function" && !isProxy(constructor) ? getOwnPropertyDescriptor(constructor, "name")?.value : void 0;
    return `object with constructor '${typeof name2 == "string" && name2 !== "" ? name2 : "Object"}'`;
  }, circleMessage = ({ way, last: last2 }) => {
    let [start3, ...rest] = way, line = (step) => `
    |     ${named2(step.key)} -> ${classOf2(step)}`, shown4 = rest.length > 3 ? `${rest.slice(0, 2).map(line).join("")}
    |     ...${line(rest.at(-1))}` : rest.map(line).join("");
    return `Converting circular structure to JSON
    --> starting at ${classOf2(start3)}${shown4}
    --- ${named2(last2)} closes the circle`;
  }, madeText = {
    stringify(value, replacer, space) {
      try {
        return stringify3(value, replacer, space);
      } catch (error) {
        if (error?.constructor !== TypeError || error.message !== CIRCULAR || typeof replacer == "function") throw error;
        let found = circleIn(value, replacer);
        throw found === void 0 ? error : new TypeError(circleMessage(found));
      }
    }
  }.stringify, CIRCULAR = (() => {
    let value = {};
    value.value = value;
    try {
      return stringify3(value);
    } catch (error) {
      return error.message;
    }
  })();
  Object.defineProperty(JSON, "stringify", { value: madeText, writable: !0, enumerable: !1, configurable: !0 });

  // src/module.js
  init_absent();
  init_util();
  var WRAPPER = ["(function (exports, require, module, __filename, __dirname) { ", `
});`], directoryOf2 = (path2) => path2.replace(/\/[^/]*$/, "") || "/", plainBuiltins = () => host.builtinNames().filter((name2) => name2 !== "test");
  function Module(id = "", parent = void 0) {
    Object.assign(this, { id, path: directoryOf2(id), exports: {} }), Object.defineProperty(this, "parent", { value: parent, writable: !0, configurable: !0 }), Object.assign(this, { filename: null, loaded: !1, children: [] });
  }
  var pathOf2 = (module) => module?.filename ?? host.mainPath();
  Object.assign(Module.prototype, {
    // Runs a text as the body of this module.
    _compile(content, filename) {
      if (typeof content != "string") throw invalidType("content", "string", content);
      return host.compileModule(this, content, filename);
    },
    load(filename) {
      this.filename = filename, this.exports = host.makeRequire(filename)(filename), this.loaded = !0;
    },
    require(name2) {
      return host.makeRequire(pathOf2(this))(name2);
    }
  });
  Object.assign(Module, {
    Module,
    createRequire(from) {
      let text3 = String(from);
      return host.makeRequire(text3.startsWith("file://") ? host.pathOfUrl(text3) : text3);
    },
    isBuiltin: (name2) => name2 === "node:test" || plainBuiltins().includes(String(name2).replace(/^node:/, "")),
    wrap: (script) => WRAPPER[0] + script + WRAPPER[1],
    wrapper: WRAPPER,
    globalPaths: [],
    // A built-in module's properties are read when they are used.
    syncBuiltinESMExports() {
    },
    // There are no source maps, so that no file has one.
    findSourceMap() {
    },
    _cache: host.moduleCache,
    _extensions: host.moduleLoaders,
    _load: (name2, parent) => host.makeRequire(pathOf2(parent))(name2),
    _resolveFilename: (name2, parent) => host.makeRequire(pathOf2(parent)).resolve(name2),
    _nodeModulePaths: (directory) => host.packagePaths(directory),
    ...allAbsent("module", ["SourceMap", "register", "runMain"], "modules are found and loaded by Tollhouse. Use `import` and `require`, or `require.extensions`")
  });
  Object.defineProperty(Module, "builtinModules", { get: plainBuiltins, enumerable: !0 });
  Object.defineProperty(Module, /* @__PURE__ */ Symbol.for("tollhouse.checkSyntax"), { value: host.checkSyntax });
  var module_default = Module;

  // src/net.js
  init_absent();
  var isIPv4 = (text3) => /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(`${text3}`), isIPv6 = (text3) => /^[\da-f:.]+(?:%[\w.-]+)?$/i.test(`${text3}`) && URL.canParse(`http://[${`${text3}`.replace(/%.*/, "")}]/`), net = { isIP: (text3) => isIPv4(text3) ? 4 : isIPv6(text3) ? 6 : 0, isIPv4, isIPv6 }, SOCKETS = ["connect", "createConnection", "createServer", "BlockList", "Server", "Socket", "SocketAddress", "Stream"];
  Object.assign(net, allAbsent("net", SOCKETS, "a script has no sockets. Use `fetch`, or `http` and `https`, which go through the tool `http`"));
  var net_default = net;

  // src/os.js
  init_signals();
  var errno = {}, errors = "E2BIG 7 EACCES 13 EADDRINUSE 98 EADDRNOTAVAIL 99 EAFNOSUPPORT 97 EAGAIN 11 EALREADY 114 EBADF 9 EBADMSG 74 EBUSY 16 ECANCELED 125 ECHILD 10 ECONNABORTED 103 ECONNREFUSED 111 ECONNRESET 104 EDEADLK 35 EDESTADDRREQ 89 EDOM 33 EDQUOT 122 EEXIST 17 EFAULT 14 EFBIG 27 EHOSTUNREACH 113 EIDRM 43 EILSEQ 84 EINPROGRESS 115 EINTR 4 EINVAL 22 EIO 5 EISCONN 106 EISDIR 21 ELOOP 40 EMFILE 24 EMLINK 31 EMSGSIZE 90 EMULTIHOP 72 ENAMETOOLONG 36 ENETDOWN 100 ENETRESET 102 ENETUNREACH 101 ENFILE 23 ENOBUFS 105 ENODATA 61 ENODEV 19 ENOENT 2 ENOEXEC 8 ENOLCK 37 ENOLINK 67 ENOMEM 12 ENOMSG 42 ENOPROTOOPT 92 ENOSPC 28 ENOSR 63 ENOSTR 60 ENOSYS 38 ENOTCONN 107 ENOTDIR 20 ENOTEMPTY 39 ENOTSOCK 88 ENOTSUP 95 ENOTTY 25 ENXIO 6 EOPNOTSUPP 95 EOVERFLOW 75 EPERM 1 EPIPE 32 EPROTO 71 EPROTONOSUPPORT 93 EPROTOTYPE 91 ERANGE 34 EROFS 30 ESPIPE 29 ESRCH 3 ESTALE 116 ETIME 62 ETIMEDOUT 110 ETXTBSY 26 EWOULDBLOCK 11 EXDEV 18".split(" ");
  for (let i2 = 0; i2 < errors.length; i2 += 2) errno[errors[i2]] = Number(errors[i2 + 1]);
  var names2 = SIGNALS.flatMap((name2) => ({ SIGABRT: [name2, "SIGIOT"], SIGIO: [name2, "SIGPOLL"], SIGSTKFLT: ["SIGCHLD", name2], SIGCHLD: [] })[name2] ?? [name2]), numberOf2 = (name2) => SIGNALS.indexOf({ SIGIOT: "SIGABRT", SIGPOLL: "SIGIO" }[name2] ?? name2) + 1, constants4 = {
    errno,
    signals: Object.fromEntries(names2.map((name2) => [name2, numberOf2(name2)])),
    priority: {
      PRIORITY_LOW: 19,
      PRIORITY_BELOW_NORMAL: 10,
      PRIORITY_NORMAL: 0,
      PRIORITY_ABOVE_NORMAL: -7,
      PRIORITY_HIGH: -14,
      PRIORITY_HIGHEST: -20
    }
  }, os_default = {
    EOL: `
`,
    devNull: "/dev/null",
    arch: () => "wasm32",
    availableParallelism: () => 1,
    cpus: () => [{ model: "wasm", speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } }],
    endianness: () => "LE",
    // Returns the memory that the run may still use.
    freemem: () => Math.max(host.native.memoryLimit() - host.native.memoryUsed(), 0),
    getPriority: () => 0,
    homedir: () => host.env.HOME ?? "/workspace",
    hostname: () => "tollhouse",
    loadavg: () => [0, 0, 0],
    machine: () => "wasm32",
    networkInterfaces: () => ({}),
    platform: () => "linux",
    setPriority: () => {
    },
    release: () => "0.0.0",
    tmpdir: () => "/tmp",
    totalmem: () => host.native.memoryLimit(),
    type: () => "Linux",
    uptime: () => (host.native.now() - host.scriptStart()) / 1e3,
    userInfo: () => ({ uid: 1e3, gid: 1e3, username: "agent", homedir: host.env.HOME ?? "/workspace", shell: null }),
    version: () => "Tollhouse",
    constants: constants4
  };

  // src/perf_hooks.js
  var perf_hooks_exports = {};
  __export(perf_hooks_exports, {
    Performance: () => Performance,
    PerformanceEntry: () => PerformanceEntry,
    PerformanceMark: () => PerformanceMark,
    PerformanceMeasure: () => PerformanceMeasure,
    PerformanceObserver: () => PerformanceObserver,
    PerformanceObserverEntryList: () => PerformanceObserverEntryList,
    PerformanceResourceTiming: () => PerformanceResourceTiming,
    constants: () => constants5,
    makePerformance: () => makePerformance,
    monitorEventLoopDelay: () => monitorEventLoopDelay
  });
  init_util();
  var { native: native13 } = host, isMaking2 = !1, make2 = (work2) => {
    isMaking2 = !0;
    try {
      return work2();
    } finally {
      isMaking2 = !1;
    }
  }, checkMaking = () => {
    if (!isMaking2) throw illegalConstructor();
  }, PerformanceEntry = class {
    constructor(entryType, name2, startTime, duration, detail) {
      checkMaking(), Object.assign(this, { name: name2, entryType, startTime, duration, detail });
    }
    toJSON() {
      return { ...this };
    }
    [inspect.custom](depth, options) {
      if (depth < 0) return this;
      let inner = { ...options, depth: options.depth == null ? null : options.depth - 1 };
      return `${this.constructor.name} ${inspect(this.toJSON(), inner)}`;
    }
  }, PerformanceMark = class extends PerformanceEntry {
    constructor(name2, options) {
      if (name2 === void 0) throw missingName();
      if (options != null && typeof options != "object") throw invalidType("options", "object", options);
      let { startTime = now(), detail = null } = options ?? {};
      if (typeof startTime != "number") throw invalidType("startTime", "number", startTime);
      if (startTime < 0) throw codedError(TypeError, "ERR_PERFORMANCE_INVALID_TIMESTAMP", `${startTime} is not a valid timestamp`);
      make2(() => super("mark", `${name2}`, startTime, 0, detail === null ? null : structuredClone(detail)));
    }
  }, PerformanceMeasure = class extends PerformanceEntry {
  }, PerformanceResourceTiming = class extends PerformanceEntry {
  }, missingName = () => codedError(TypeError, "ERR_MISSING_ARGS", 'The "name" argument must be specified'), entries = [], ordered2 = (wanted) => entries.filter(wanted).sort((a2, b2) => a2.startTime - b2.startTime), SUPPORTED = ["function", "mark", "measure"], observers = /* @__PURE__ */ new Set(), PerformanceObserverEntryList = class {
    #entries;
    constructor(found) {
      checkMaking(), this.#entries = found.sort((a2, b2) => a2.startTime - b2.startTime);
    }
    getEntries() {
      return [...this.#entries];
    }
    getEntriesByType(type) {
      return this.#entries.filter(({ entryType }) => entryType === type);
    }
    getEntriesByName(name2, type) {
      return this.#entries.filter((entry) => entry.name === name2 && (type === void 0 || entry.entryType === type));
    }
  }, PerformanceObserver = class {
    static supportedEntryTypes = Object.freeze([...SUPPORTED]);
    #callback;
    #types = /* @__PURE__ */ new Set();
    #found = [];
    #isQueued = !1;
    constructor(callback) {
      if (typeof callback != "function") throw invalidType("callback", "function", callback);
      this.#callback = callback;
    }
    observe(options = {}) {
      if (options === null || typeof options != "object") throw invalidType("options", "object", options);
      let { entryTypes, type, buffered } = options;
      if (entryTypes === void 0 && type === void 0)
        throw codedError(TypeError, "ERR_MISSING_ARGS", 'The "options.entryTypes" and "options.type" arguments must be specified');
      let wanted = entryTypes ?? [type], other = wanted.find((name2) => !SUPPORTED.includes(name2));
      if (other !== void 0)
        throw codedError(Error, "ERR_FEATURE_UNAVAILABLE", `PerformanceObserver sees only ${SUPPORTED.join(", ")} in Tollhouse, not ${other}`);
      entryTypes !== void 0 && this.#types.clear();
      for (let name2 of wanted) this.#types.add(name2);
      if (observers.add(this), type !== void 0 && buffered) for (let entry of entries) entry.entryType === type && this.notice(entry);
    }
    disconnect() {
      observers.delete(this), this.#types.clear(), this.#found = [];
    }
    takeRecords() {
      return this.#found.splice(0);
    }
    // Keeps an entry for the callback, which gets all of a turn at once.
    notice(entry) {
      this.#types.has(entry.entryType) && (this.#found.push(entry), !this.#isQueued && (this.#isQueued = !0, setImmediate(() => {
        this.#isQueued = !1, this.#found.length > 0 && this.#callback(make2(() => new PerformanceObserverEntryList(this.takeRecords())), this);
      })));
    }
  }, notice = (entry) => {
    for (let observer of observers) observer.notice(entry);
  }, keep = (entry) => (entries.push(entry), notice(entry), entry), clear = (type, name2) => {
    for (let at2 = entries.length - 1; at2 >= 0; at2--)
      entries[at2].entryType === type && (name2 === void 0 || entries[at2].name === `${name2}`) && entries.splice(at2, 1);
  }, timeOf2 = (mark, standard) => {
    if (mark === void 0) return standard;
    if (typeof mark == "number") return mark;
    let found = entries.findLast(({ entryType, name: name2 }) => entryType === "mark" && name2 === mark);
    if (found !== void 0) return found.startTime;
    throw new DOMException(`The "${mark}" performance mark has not been set`, "SyntaxError");
  }, times3 = () => {
    let idle = native13.idle();
    return { idle, active: Math.max(performance.now() - idle, 0) };
  }, { now } = globalThis.performance, Performance = class extends EventTarget {
    constructor() {
      checkMaking(), super();
    }
    get timeOrigin() {
      return host.scriptStart();
    }
    now() {
      return now();
    }
    mark(name2, options) {
      return keep(new PerformanceMark(name2, options));
    }
    measure(name2, from, to2) {
      if (name2 === void 0) throw missingName();
      let { start: start3, end, duration, detail = null } = from !== null && typeof from == "object" ? from : { start: from, end: to2 }, last2 = end === void 0 && duration !== void 0 ? timeOf2(start3, 0) + duration : timeOf2(end, now()), first = start3 === void 0 && duration !== void 0 ? last2 - duration : timeOf2(start3, 0), kept = detail === null ? null : structuredClone(detail);
      return keep(make2(() => new PerformanceMeasure("measure", `${name2}`, first, last2 - first, kept)));
    }
    clearMarks(name2) {
      clear("mark", name2);
    }
    clearMeasures(name2) {
      clear("measure", name2);
    }
    getEntries() {
      return ordered2(() => !0);
    }
    getEntriesByType(type) {
      return ordered2(({ entryType }) => entryType === type);
    }
    getEntriesByName(name2, type) {
      return ordered2((entry) => entry.name === name2 && (type === void 0 || entry.entryType === type));
    }
    // A request is a call of a tool, which has no timing of resources.
    clearResourceTimings() {
    }
    setResourceTimingBufferSize() {
    }
    eventLoopUtilization(later2, earlier) {
      let current2 = earlier === void 0 ? times3() : later2, since = earlier ?? later2 ?? { idle: 0, active: 0 }, [idle, active] = [current2.idle - since.idle, current2.active - since.active];
      return { idle, active, utilization: idle + active > 0 ? active / (idle + active) : 0 };
    }
    get nodeTiming() {
      let start3 = { nodeStart: 0, v8Start: 0, environment: 0, bootstrapComplete: 0, loopStart: 0, loopExit: -1 };
      return { name: "node", entryType: "node", startTime: 0, duration: now(), ...start3, idleTime: native13.idle() };
    }
    // Returns a function that calls another one and tells observers how long that took.
    timerify(work2, options = {}) {
      if (typeof work2 != "function") throw invalidType("fn", "function", work2);
      if (options === null || typeof options != "object") throw invalidType("options", "object", options);
      let { histogram } = options;
      if (histogram !== void 0 && typeof histogram?.record != "function") throw invalidType("options.histogram", "an instance of RecordableHistogram", histogram);
      let tell = (start3, values2) => {
        let duration = now() - start3;
        histogram?.record(Math.max(Math.ceil(duration * 1e6), 1)), notice(make2(() => new PerformanceEntry("function", work2.name, start3, duration, values2)));
      };
      function timerified(...values2) {
        let start3 = now(), result = new.target ? Reflect.construct(work2, values2, work2) : Reflect.apply(work2, this, values2);
        return typeof result?.finally == "function" ? result.finally(() => tell(start3, values2)) : (tell(start3, values2), result);
      }
      return Object.defineProperties(timerified, {
        length: { value: work2.length, configurable: !0 },
        name: { value: `timerified ${work2.name}`, configurable: !0 }
      });
    }
    toJSON() {
      return { nodeTiming: this.nodeTiming, timeOrigin: this.timeOrigin, eventLoopUtilization: this.eventLoopUtilization() };
    }
  };
  Object.defineProperty(Performance.prototype, Symbol.toStringTag, { value: "Performance", configurable: !0 });
  var makePerformance = () => make2(() => new Performance()), monitorEventLoopDelay = () => {
    throw codedError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "the delay of the event loop is not measured here: use performance.eventLoopUtilization(), or createHistogram() and performance.now()");
  }, constants5 = Object.freeze({
    NODE_PERFORMANCE_GC_MAJOR: 4,
    NODE_PERFORMANCE_GC_MINOR: 1,
    NODE_PERFORMANCE_GC_INCREMENTAL: 8,
    NODE_PERFORMANCE_GC_WEAKCB: 16,
    NODE_PERFORMANCE_GC_FLAGS_NO: 0,
    NODE_PERFORMANCE_GC_FLAGS_CONSTRUCT_RETAINED: 2,
    NODE_PERFORMANCE_GC_FLAGS_FORCED: 4,
    NODE_PERFORMANCE_GC_FLAGS_SYNCHRONOUS_PHANTOM_PROCESSING: 8,
    NODE_PERFORMANCE_GC_FLAGS_ALL_AVAILABLE_GARBAGE: 16,
    NODE_PERFORMANCE_GC_FLAGS_ALL_EXTERNAL_MEMORY: 32,
    NODE_PERFORMANCE_GC_FLAGS_SCHEDULE_IDLE: 64
  });

  // src/index.js
  init_process();

  // src/punycode.js
  var import_punycode = __toESM(require_punycode(), 1), punycode_default = { ...import_punycode.default, version: "2.1.0" };

  // src/index.js
  init_querystring();

  // src/readline.js
  init_absent();
  init_events();
  init_process();
  init_util();
  var decoder = () => new TextDecoder(), AHEAD = 1024, Queue = class {
    #items = [];
    #at = 0;
    get length() {
      return this.#items.length - this.#at;
    }
    push(item) {
      this.#items.push(item);
    }
    shift() {
      let item = this.#items[this.#at];
      return this.#items[this.#at++] = void 0, this.#at === this.#items.length && (this.#items = [], this.#at = 0), item;
    }
  }, linesOf2 = (text3) => text3.includes("\r") ? text3.split(/\r?\n/) : text3.split(`
`), Interface = class extends events_default {
    #lines = new Queue();
    #readers = new Queue();
    // Function that resumes reading once waiting lines are consumed.
    #goOn;
    #ended = !1;
    closed = !1;
    line = "";
    cursor = 0;
    terminal = !1;
    #isPaused = !1;
    #output;
    #prompt = "> ";
    #started = !1;
    constructor({ input, output, prompt } = {}) {
      super(), this.input = input, this.#output = output, prompt !== void 0 && (this.#prompt = prompt);
      for (let name2 of ["_events", "_eventsCount", "_maxListeners", ...marks]) Object.defineProperty(this, name2, { enumerable: !1 });
      this.on("newListener", (name2) => {
        name2 === "line" && (this.#start(), this.#lines.length > 0 && queueMicrotask(() => this.#tell()));
      });
    }
    #start() {
      this.#started || (this.#started = !0, queueMicrotask(() => this.#read()));
    }
    async #read() {
      try {
        let text3 = decoder(), rest = "";
        for await (let chunk of this.input) {
          if (this.closed) break;
          rest += typeof chunk == "string" ? chunk : text3.decode(chunk, { stream: !0 });
          let lines = linesOf2(rest);
          rest = lines.pop();
          for (let line of lines) this.#give(line);
          if (this.closed) break;
          this.#lines.length > AHEAD && await new Promise((resolve3) => this.#goOn = resolve3);
        }
        rest !== "" && !this.closed && this.#give(rest), this.#ended = !0, this.close();
      } catch (error) {
        this.emit("error", error);
      }
    }
    #give(line) {
      this.closed ? this.emit("line", line) : this.#readers.length > 0 ? this.#readers.shift()(line) : this.listenerCount("line") > 0 ? this.emit("line", line) : this.#lines.push(line);
    }
    // Emits lines that arrived before there was a listener.
    #tell() {
      for (; this.#lines.length > 0 && this.listenerCount("line") > 0; ) this.emit("line", this.#taken());
    }
    #next() {
      return this.#start(), this.#lines.length > 0 ? Promise.resolve(this.#taken()) : this.closed || this.#ended ? Promise.resolve(void 0) : new Promise((resolve3) => this.#readers.push(resolve3));
    }
    #taken() {
      let line = this.#lines.shift();
      return this.#lines.length === 0 && this.#resumeReading(), line;
    }
    #resumeReading() {
      this.#goOn?.(), this.#goOn = void 0;
    }
    question(query, options, callback = options) {
      if (this.closed) {
        let error = codedError(Error, "ERR_USE_AFTER_CLOSE", "readline was closed");
        if (typeof callback != "function") return Promise.reject(error);
        throw error;
      }
      if (this.#output?.write?.(query), typeof callback != "function") return this.#next().then((line) => line ?? "");
      let answer = (line) => line !== void 0 && callback(line);
      this.#lines.length > 0 || this.closed || this.#ended ? this.#next().then(answer) : this.#readers.push(answer), this.#start();
    }
    setPrompt(prompt) {
      this.#prompt = prompt;
    }
    prompt() {
      this.#isPaused && this.resume(), this.#output?.write?.(this.#prompt), this.#start();
    }
    close() {
      if (!this.closed) {
        for (this.pause(), this.closed = !0, this.#resumeReading(); this.#readers.length > 0; ) this.#readers.shift()(void 0);
        this.emit("close");
      }
    }
    // As in Node, lines that have been read already are still delivered.
    pause() {
      return this.#isPaused || (this.#isPaused = !0, this.emit("pause")), this;
    }
    resume() {
      return this.#start(), this.#isPaused && (this.#isPaused = !1, this.emit("resume")), this;
    }
    getPrompt() {
      return this.#prompt;
    }
    write() {
    }
    [Symbol.asyncIterator]() {
      let result = (line) => line === void 0 ? { value: void 0, done: !0 } : { value: line, done: !1 };
      return {
        // A line that is available needs no second promise, which is the usual case.
        next: () => this.#lines.length > 0 ? Promise.resolve(result(this.#taken())) : this.#next().then(result),
        return: () => (this.close(), Promise.resolve(result(void 0))),
        [Symbol.asyncIterator]() {
          return this;
        }
      };
    }
  };
  Object.defineProperty(Interface.prototype.question, promisify.custom, {
    value: function(query, options) {
      return new Promise((resolve3) => this.question(query, options ?? {}, resolve3));
    }
  });
  var createInterface = (input, output) => new Interface(typeof input?.on == "function" || input?.[Symbol.asyncIterator] ? { input, output } : input), promises2 = { createInterface, Interface }, sequence = (stream2, text3, callback) => stream2 == null || text3 === "" ? (typeof callback == "function" && process_default.nextTick(callback, null), !0) : stream2.write(text3, callback), clearLine = (stream2, direction, callback) => sequence(stream2, direction < 0 ? "\x1B[1K" : direction > 0 ? "\x1B[0K" : "\x1B[2K", callback), clearScreenDown = (stream2, callback) => sequence(stream2, "\x1B[0J", callback), cursorTo = (stream2, x2, y2, callback) => {
    if (typeof y2 == "function" && ([y2, callback] = [void 0, y2]), Number.isNaN(x2) || Number.isNaN(y2)) throw invalidValue(Number.isNaN(x2) ? "x" : "y", NaN);
    if (typeof x2 != "number") {
      if (typeof y2 != "number") return sequence(stream2, "", callback);
      throw codedError(TypeError, "ERR_INVALID_CURSOR_POS", "Cannot set cursor row without setting its column");
    }
    return sequence(stream2, typeof y2 == "number" ? `\x1B[${y2 + 1};${x2 + 1}H` : `\x1B[${x2 + 1}G`, callback);
  }, moved = (distance, back, forth) => distance < 0 ? `\x1B[${-distance}${back}` : distance > 0 ? `\x1B[${distance}${forth}` : "", moveCursor = (stream2, dx, dy, callback) => sequence(stream2, moved(dx, "D", "C") + moved(dy, "A", "B"), callback), emitKeypressEvents = () => {
    throw codedError(Error, "ERR_FEATURE_UNAVAILABLE", "there are no keys here: standard input is no terminal; read lines with `createInterface`");
  };
  promises2.Readline = absent("readline/promises", "Readline", "use `cursorTo`, `moveCursor` and `clearLine` of readline");
  var readline_default = { createInterface, Interface, promises: promises2, clearLine, clearScreenDown, cursorTo, moveCursor, emitKeypressEvents };

  // src/stream-consumers.js
  init_buffer();

  // src/web.js
  var web_exports = {};
  __export(web_exports, {
    Blob: () => Blob2,
    File: () => File2,
    FormData: () => FormData,
    Headers: () => Headers,
    Request: () => Request,
    Response: () => Response,
    fetch: () => fetch
  });

  // src/form-data.js
  var { native: native14 } = host, encode = (text3) => native14.encodeUtf8(text3), CRLF = `\r
`, newBoundary = () => `----formdata-tollhouse-${[...native14.randomBytes(8)].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`, writeForm = async (form, boundary) => {
    let escape4 = (text3) => text3.replace(/\r?\n|\r/g, "%0D%0A").replace(/"/g, "%22"), parts = [];
    for (let [name2, value] of form) {
      let file = value instanceof Blob ? `; filename="${escape4(value.name)}"\r
Content-Type: ${value.type || "application/octet-stream"}` : "";
      parts.push(encode(`--${boundary}\r
Content-Disposition: form-data; name="${escape4(name2)}"${file}\r
\r
`)), parts.push(value instanceof Blob ? await value.bytes() : encode(value.replace(/\r?\n|\r/g, CRLF))), parts.push(encode(CRLF));
    }
    return parts.push(encode(`--${boundary}--\r
`)), parts;
  }, failed3 = () => new TypeError("Failed to parse body as FormData."), readForm = (bytes, type, form) => {
    let boundary = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type);
    if (boundary === null) throw failed3();
    let text3 = Array.from({ length: Math.ceil(bytes.length / 8192) }, (_2, at3) => String.fromCharCode(...bytes.subarray(at3 * 8192, at3 * 8192 + 8192))).join(""), mark = `--${boundary[1] ?? boundary[2]}`, at2 = text3.indexOf(mark);
    if (at2 < 0) throw failed3();
    for (; ; ) {
      if (at2 += mark.length, text3.startsWith("--", at2)) return form;
      let head = text3.indexOf(CRLF, at2), body = text3.indexOf(CRLF + CRLF, at2), end = text3.indexOf(CRLF + mark, body);
      if (head !== at2 || body < 0 || end < 0) throw failed3();
      addPart(form, native14.decodeUtf8Lossy(bytes.slice(head + 2, body)), bytes.slice(body + 4, end)), at2 = end + 2;
    }
  }, addPart = (form, head, content) => {
    let field = (name3) => new RegExp(`^${name3}:\\s*(.*)$`, "im").exec(head)?.[1].trim(), disposition = field("content-disposition") ?? "", unescape2 = (value) => value?.replaceAll("%22", '"').replaceAll("%0D", "\r").replaceAll("%0A", `
`), name2 = unescape2(/;\s*name="([^"]*)"/i.exec(disposition)?.[1]);
    if (!/^form-data\b/i.test(disposition) || name2 === void 0) throw failed3();
    let file = unescape2(/;\s*filename="([^"]*)"/i.exec(disposition)?.[1]);
    file === void 0 ? form.append(name2, native14.decodeUtf8Lossy(content)) : form.append(name2, new File([content], file, { type: field("content-type") ?? "text/plain" }));
  };

  // src/web.js
  init_util();

  // src/webstreams.js
  var webstreams_exports = {};
  __export(webstreams_exports, {
    ByteLengthQueuingStrategy: () => ByteLengthQueuingStrategy,
    CountQueuingStrategy: () => CountQueuingStrategy,
    ReadableByteStreamController: () => ReadableByteStreamController,
    ReadableStream: () => ReadableStream,
    ReadableStreamBYOBReader: () => ReadableStreamBYOBReader,
    ReadableStreamBYOBRequest: () => ReadableStreamBYOBRequest,
    ReadableStreamDefaultController: () => ReadableStreamDefaultController,
    ReadableStreamDefaultReader: () => ReadableStreamDefaultReader,
    TextDecoderStream: () => TextDecoderStream,
    TextEncoderStream: () => TextEncoderStream,
    TransformStream: () => TransformStream,
    TransformStreamDefaultController: () => TransformStreamDefaultController,
    WritableStream: () => WritableStream,
    WritableStreamDefaultController: () => WritableStreamDefaultController,
    WritableStreamDefaultWriter: () => WritableStreamDefaultWriter
  });

  // node_modules/web-streams-polyfill/dist/ponyfill.mjs
  function e() {
  }
  function t(e2) {
    return typeof e2 == "object" && e2 !== null || typeof e2 == "function";
  }
  var r = e;
  function o(e2, t2) {
    try {
      Object.defineProperty(e2, "name", { value: t2, configurable: !0 });
    } catch {
    }
  }
  var n = Promise, i = Promise.resolve.bind(n), a = Promise.prototype.then, s = Promise.reject.bind(n), l = i;
  function u(e2) {
    return new n(e2);
  }
  function c(e2) {
    return u((t2) => t2(e2));
  }
  function d(e2) {
    return s(e2);
  }
  function f(e2, t2, r2) {
    return a.call(e2, t2, r2);
  }
  function h(e2, t2, o2) {
    f(f(e2, t2, o2), void 0, r);
  }
  function b(e2, t2) {
    h(e2, t2);
  }
  function _(e2, t2) {
    h(e2, void 0, t2);
  }
  function m(e2, t2, r2) {
    return f(e2, t2, r2);
  }
  function p(e2) {
    f(e2, void 0, r);
  }
  var y = (e2) => {
    if (typeof queueMicrotask == "function") y = queueMicrotask;
    else {
      let e3 = c(void 0);
      y = (t2) => f(e3, t2);
    }
    return y(e2);
  };
  function S(e2, t2, r2) {
    if (typeof e2 != "function") throw new TypeError("Argument is not a function");
    return Function.prototype.apply.call(e2, t2, r2);
  }
  function g(e2, t2, r2) {
    try {
      return c(S(e2, t2, r2));
    } catch (e3) {
      return d(e3);
    }
  }
  var v = class {
    constructor() {
      this._cursor = 0, this._size = 0, this._front = { _elements: [], _next: void 0 }, this._back = this._front, this._cursor = 0, this._size = 0;
    }
    get length() {
      return this._size;
    }
    push(e2) {
      let t2 = this._back, r2 = t2;
      t2._elements.length === 16383 && (r2 = { _elements: [], _next: void 0 }), t2._elements.push(e2), r2 !== t2 && (this._back = r2, t2._next = r2), ++this._size;
    }
    shift() {
      let e2 = this._front, t2 = e2, r2 = this._cursor, o2 = r2 + 1, n2 = e2._elements, i2 = n2[r2];
      return o2 === 16384 && (t2 = e2._next, o2 = 0), --this._size, this._cursor = o2, e2 !== t2 && (this._front = t2), n2[r2] = void 0, i2;
    }
    forEach(e2) {
      let t2 = this._cursor, r2 = this._front, o2 = r2._elements;
      for (; !(t2 === o2.length && r2._next === void 0 || t2 === o2.length && (r2 = r2._next, o2 = r2._elements, t2 = 0, o2.length === 0)); ) e2(o2[t2]), ++t2;
    }
    peek() {
      let e2 = this._front, t2 = this._cursor;
      return e2._elements[t2];
    }
  }, w = /* @__PURE__ */ Symbol("[[AbortSteps]]"), R = /* @__PURE__ */ Symbol("[[ErrorSteps]]"), T = /* @__PURE__ */ Symbol("[[CancelSteps]]"), P = /* @__PURE__ */ Symbol("[[PullSteps]]"), C = /* @__PURE__ */ Symbol("[[CanPullSyncSteps]]"), q = /* @__PURE__ */ Symbol("[[ReleaseSteps]]");
  function E(e2, t2) {
    e2._ownerReadableStream = t2, t2._reader = e2, t2._state === "readable" ? j(e2) : t2._state === "closed" ? (function(e3) {
      j(e3), z(e3);
    })(e2) : k(e2, t2._storedError);
  }
  function W(e2, t2) {
    return Mr(e2._ownerReadableStream, t2);
  }
  function O(e2) {
    let t2 = e2._ownerReadableStream;
    t2._state === "readable" ? A(e2, new TypeError("Reader was released and can no longer be used to monitor the stream's closedness")) : (function(e3, t3) {
      k(e3, t3);
    })(e2, new TypeError("Reader was released and can no longer be used to monitor the stream's closedness")), t2._readableStreamController[q](), t2._reader = void 0, e2._ownerReadableStream = void 0;
  }
  function B(e2) {
    return new TypeError("Cannot " + e2 + " a stream using a released reader");
  }
  function j(e2) {
    e2._closedPromise = u((t2, r2) => {
      e2._closedPromise_resolve = t2, e2._closedPromise_reject = r2;
    });
  }
  function k(e2, t2) {
    j(e2), A(e2, t2);
  }
  function A(e2, t2) {
    e2._closedPromise_reject !== void 0 && (p(e2._closedPromise), e2._closedPromise_reject(t2), e2._closedPromise_resolve = void 0, e2._closedPromise_reject = void 0);
  }
  function z(e2) {
    e2._closedPromise_resolve !== void 0 && (e2._closedPromise_resolve(void 0), e2._closedPromise_resolve = void 0, e2._closedPromise_reject = void 0);
  }
  var D = Number.isFinite || function(e2) {
    return typeof e2 == "number" && isFinite(e2);
  }, F = Math.trunc || function(e2) {
    return e2 < 0 ? Math.ceil(e2) : Math.floor(e2);
  };
  function L(e2, t2) {
    if (e2 !== void 0 && typeof (r2 = e2) != "object" && typeof r2 != "function") throw new TypeError(`${t2} is not an object.`);
    var r2;
  }
  function I(e2, t2) {
    if (typeof e2 != "function") throw new TypeError(`${t2} is not a function.`);
  }
  function $2(e2, t2) {
    if (!/* @__PURE__ */ (function(e3) {
      return typeof e3 == "object" && e3 !== null || typeof e3 == "function";
    })(e2)) throw new TypeError(`${t2} is not an object.`);
  }
  function M(e2, t2, r2) {
    if (e2 === void 0) throw new TypeError(`Parameter ${t2} is required in '${r2}'.`);
  }
  function Y(e2, t2, r2) {
    if (e2 === void 0) throw new TypeError(`${t2} is required in '${r2}'.`);
  }
  function x(e2) {
    return Number(e2);
  }
  function Q(e2) {
    return e2 === 0 ? 0 : e2;
  }
  function N(e2, t2) {
    let r2 = Number.MAX_SAFE_INTEGER, o2 = Number(e2);
    if (o2 = Q(o2), !D(o2)) throw new TypeError(`${t2} is not a finite number`);
    if (o2 = (function(e3) {
      return Q(F(e3));
    })(o2), o2 < 0 || o2 > r2) throw new TypeError(`${t2} is outside the accepted range of 0 to ${r2}, inclusive`);
    return D(o2) && o2 !== 0 ? o2 : 0;
  }
  function H(e2, t2) {
    if (!Ir(e2)) throw new TypeError(`${t2} is not a ReadableStream.`);
  }
  function V(e2) {
    return new ReadableStreamDefaultReader(e2);
  }
  function U(e2, t2) {
    e2._reader._readRequests.push(t2);
  }
  function G(e2, t2, r2) {
    let o2 = e2._reader._readRequests.shift();
    r2 ? o2._closeSteps() : o2._chunkSteps(t2);
  }
  function X(e2) {
    return e2._reader._readRequests.length;
  }
  function J(e2) {
    let t2 = e2._reader;
    return t2 !== void 0 && !!ee(t2);
  }
  var ReadableStreamDefaultReader = class {
    constructor(e2) {
      if (M(e2, 1, "ReadableStreamDefaultReader"), H(e2, "First parameter"), $r(e2)) throw new TypeError("This stream has already been locked for exclusive reading by another reader");
      E(this, e2), this._readRequests = new v();
    }
    get closed() {
      return ee(this) ? this._closedPromise : d(ne("closed"));
    }
    cancel(e2 = void 0) {
      return ee(this) ? this._ownerReadableStream === void 0 ? d(B("cancel")) : W(this, e2) : d(ne("cancel"));
    }
    read() {
      if (!ee(this)) return d(ne("read"));
      if (this._ownerReadableStream === void 0) return d(B("read from"));
      let e2 = re(this) ? new Z() : new K();
      return te(this, e2), e2._promise;
    }
    releaseLock() {
      if (!ee(this)) throw ne("releaseLock");
      this._ownerReadableStream !== void 0 && (function(e2) {
        O(e2);
        let t2 = new TypeError("Reader was released");
        oe(e2, t2);
      })(this);
    }
  };
  Object.defineProperties(ReadableStreamDefaultReader.prototype, { cancel: { enumerable: !0 }, read: { enumerable: !0 }, releaseLock: { enumerable: !0 }, closed: { enumerable: !0 } }), o(ReadableStreamDefaultReader.prototype.cancel, "cancel"), o(ReadableStreamDefaultReader.prototype.read, "read"), o(ReadableStreamDefaultReader.prototype.releaseLock, "releaseLock"), typeof Symbol.toStringTag == "symbol" && Object.defineProperty(ReadableStreamDefaultReader.prototype, Symbol.toStringTag, { value: "ReadableStreamDefaultReader", configurable: !0 });
  var K = class {
    constructor() {
      this._promise = u((e2, t2) => {
        this._resolvePromise = e2, this._rejectPromise = t2;
      });
    }
    _chunkSteps(e2) {
      this._resolvePromise({ value: e2, done: !1 });
    }
    _closeSteps() {
      this._resolvePromise({ value: void 0, done: !0 });
    }
    _errorSteps(e2) {
      this._rejectPromise(e2);
    }
  }, Z = class {
    constructor() {
      this._promise = void 0;
    }
    _chunkSteps(e2) {
      this._promise = l({ value: e2, done: !1 });
    }
    _closeSteps() {
      this._promise = l({ value: void 0, done: !0 });
    }
    _errorSteps(e2) {
      this._promise = d(e2);
    }
  };
  function ee(e2) {
    return !!t(e2) && !!Object.prototype.hasOwnProperty.call(e2, "_readRequests") && e2 instanceof ReadableStreamDefaultReader;
  }
  function te(e2, t2) {
    let r2 = e2._ownerReadableStream;
    r2._disturbed = !0, r2._state === "closed" ? t2._closeSteps() : r2._state === "errored" ? t2._errorSteps(r2._storedError) : r2._readableStreamController[P](t2);
  }
  function re(e2) {
    let t2 = e2._ownerReadableStream;
    return t2._state === "closed" || t2._state === "errored" || t2._readableStreamController[C]();
  }
  function oe(e2, t2) {
    let r2 = e2._readRequests;
    e2._readRequests = new v(), r2.forEach((e3) => {
      e3._errorSteps(t2);
    });
  }
  function ne(e2) {
    return new TypeError(`ReadableStreamDefaultReader.prototype.${e2} can only be used on a ReadableStreamDefaultReader`);
  }
  var ie, ae, se;
  function le(e2) {
    return e2.slice();
  }
  function ue(e2, t2, r2, o2, n2) {
    new Uint8Array(e2).set(new Uint8Array(r2, o2, n2), t2);
  }
  var ce = (e2) => (ce = typeof e2.transfer == "function" ? (e3) => e3.transfer() : typeof structuredClone == "function" ? (e3) => structuredClone(e3, { transfer: [e3] }) : (e3) => e3, ce(e2)), de = (e2) => (de = typeof e2.detached == "boolean" ? (e3) => e3.detached : (e3) => e3.byteLength === 0, de(e2));
  function fe(e2, t2, r2) {
    if (e2.slice) return e2.slice(t2, r2);
    let o2 = r2 - t2, n2 = new ArrayBuffer(o2);
    return ue(n2, 0, e2, t2, o2), n2;
  }
  function he(e2, t2) {
    let r2 = e2[t2];
    if (r2 != null) {
      if (typeof r2 != "function") throw new TypeError(`${String(t2)} is not a function`);
      return r2;
    }
  }
  function be(e2) {
    try {
      let t2 = e2.done, r2 = e2.value;
      return f(l(r2), (e3) => ({ done: t2, value: e3 }));
    } catch (e3) {
      return d(e3);
    }
  }
  var _e = (se = (ie = Symbol.asyncIterator) !== null && ie !== void 0 ? ie : (ae = Symbol.for) === null || ae === void 0 ? void 0 : ae.call(Symbol, "Symbol.asyncIterator")) !== null && se !== void 0 ? se : "@@asyncIterator";
  function me(e2, r2 = "sync", o2) {
    if (o2 === void 0) if (r2 === "async") {
      if ((o2 = he(e2, _e)) === void 0)
        return (function(e3) {
          let r3 = { next() {
            let t2;
            try {
              t2 = pe(e3);
            } catch (e4) {
              return d(e4);
            }
            return be(t2);
          }, return(r4) {
            let o3;
            try {
              let t2 = he(e3.iterator, "return");
              if (t2 === void 0) return c({ done: !0, value: r4 });
              o3 = S(t2, e3.iterator, [r4]);
            } catch (e4) {
              return d(e4);
            }
            return t(o3) ? be(o3) : d(new TypeError("The iterator.return() method must return an object"));
          } };
          return { iterator: r3, nextMethod: r3.next, done: !1 };
        })(me(e2, "sync", he(e2, Symbol.iterator)));
    } else o2 = he(e2, Symbol.iterator);
    if (o2 === void 0) throw new TypeError("The object is not iterable");
    let n2 = S(o2, e2, []);
    if (!t(n2)) throw new TypeError("The iterator method must return an object");
    return { iterator: n2, nextMethod: n2.next, done: !1 };
  }
  function pe(e2) {
    let r2 = S(e2.nextMethod, e2.iterator, []);
    if (!t(r2)) throw new TypeError("The iterator.next() method must return an object");
    return r2;
  }
  var ye = class {
    constructor(e2, t2) {
      this._ongoingPromise = void 0, this._isFinished = !1, this._reader = e2, this._preventCancel = t2;
    }
    next() {
      let e2 = () => this._nextSteps();
      return this._ongoingPromise = this._ongoingPromise ? m(this._ongoingPromise, e2, e2) : e2(), this._ongoingPromise;
    }
    return(e2) {
      let t2 = () => this._returnSteps(e2);
      return this._ongoingPromise = this._ongoingPromise ? m(this._ongoingPromise, t2, t2) : t2(), this._ongoingPromise;
    }
    _nextSteps() {
      if (this._isFinished) return Promise.resolve({ value: void 0, done: !0 });
      let e2 = this._reader, t2 = new Se(this);
      return te(e2, t2), t2._promise;
    }
    _returnSteps(e2) {
      if (this._isFinished) return Promise.resolve({ value: e2, done: !0 });
      this._isFinished = !0;
      let t2 = this._reader;
      if (!this._preventCancel) {
        let r2 = W(t2, e2);
        return O(t2), m(r2, () => ({ value: e2, done: !0 }));
      }
      return O(t2), c({ value: e2, done: !0 });
    }
  }, Se = class {
    constructor(e2) {
      this._iterator = e2, this._promise = u((e3, t2) => {
        this._resolvePromise = e3, this._rejectPromise = t2;
      });
    }
    _chunkSteps(e2) {
      this._iterator._ongoingPromise = void 0, y(() => this._resolvePromise({ value: e2, done: !1 }));
    }
    _closeSteps() {
      let e2 = this._iterator;
      e2._ongoingPromise = void 0, e2._isFinished = !0, O(e2._reader), this._resolvePromise({ value: void 0, done: !0 });
    }
    _errorSteps(e2) {
      let t2 = this._iterator;
      t2._ongoingPromise = void 0, t2._isFinished = !0, O(t2._reader), this._rejectPromise(e2);
    }
  }, ge = { next() {
    return ve(this) ? this._asyncIteratorImpl.next() : d(we("next"));
  }, return(e2) {
    return ve(this) ? this._asyncIteratorImpl.return(e2) : d(we("return"));
  }, [_e]() {
    return this;
  } };
  function ve(e2) {
    if (!t(e2) || !Object.prototype.hasOwnProperty.call(e2, "_asyncIteratorImpl")) return !1;
    try {
      return e2._asyncIteratorImpl instanceof ye;
    } catch {
      return !1;
    }
  }
  function we(e2) {
    return new TypeError(`ReadableStreamAsyncIterator.${e2} can only be used on a ReadableSteamAsyncIterator`);
  }
  Object.defineProperty(ge, _e, { enumerable: !1 });
  var Re = Number.isNaN || function(e2) {
    return e2 != e2;
  };
  function Te(e2) {
    let t2 = fe(e2.buffer, e2.byteOffset, e2.byteOffset + e2.byteLength);
    return new Uint8Array(t2);
  }
  function Pe(e2) {
    let t2 = e2._queue.shift();
    return e2._queueTotalSize -= t2.size, e2._queueTotalSize < 0 && (e2._queueTotalSize = 0), t2.value;
  }
  function Ce(e2, t2, r2) {
    if (typeof (o2 = r2) != "number" || Re(o2) || o2 < 0 || r2 === 1 / 0) throw new RangeError("Size must be a finite, non-NaN, non-negative number.");
    var o2;
    e2._queue.push({ value: t2, size: r2 }), e2._queueTotalSize += r2;
  }
  function qe(e2) {
    e2._queue = new v(), e2._queueTotalSize = 0;
  }
  function Ee(e2) {
    return e2 === DataView;
  }
  function We(e2) {
    return Ee(e2) ? 1 : e2.BYTES_PER_ELEMENT;
  }
  var ReadableStreamBYOBRequest = class {
    constructor() {
      throw new TypeError("Illegal constructor");
    }
    get view() {
      if (!Be(this)) throw ot("view");
      return this._view;
    }
    respond(e2) {
      if (!Be(this)) throw ot("respond");
      if (M(e2, 1, "respond"), e2 = N(e2, "First parameter"), this._associatedReadableByteStreamController === void 0) throw new TypeError("This BYOB request has been invalidated");
      if (de(this._view.buffer)) throw new TypeError("The BYOB request's buffer has been detached and so cannot be used as a response");
      et(this._associatedReadableByteStreamController, e2);
    }
    respondWithNewView(e2) {
      if (!Be(this)) throw ot("respondWithNewView");
      if (M(e2, 1, "respondWithNewView"), !ArrayBuffer.isView(e2)) throw new TypeError("You can only respond with array buffer views");
      if (this._associatedReadableByteStreamController === void 0) throw new TypeError("This BYOB request has been invalidated");
      if (de(e2.buffer)) throw new TypeError("The given view's buffer has been detached and so cannot be used as a response");
      tt(this._associatedReadableByteStreamController, e2);
    }
  };
  Object.defineProperties(ReadableStreamBYOBRequest.prototype, { respond: { enumerable: !0 }, respondWithNewView: { enumerable: !0 }, view: { enumerable: !0 } }), o(ReadableStreamBYOBRequest.prototype.respond, "respond"), o(ReadableStreamBYOBRequest.prototype.respondWithNewView, "respondWithNewView"), typeof Symbol.toStringTag == "symbol" && Object.defineProperty(ReadableStreamBYOBRequest.prototype, Symbol.toStringTag, { value: "ReadableStreamBYOBRequest", configurable: !0 });
  var ReadableByteStreamController = class {
    constructor() {
      throw new TypeError("Illegal constructor");
    }
    get byobRequest() {
      if (!Oe(this)) throw nt("byobRequest");
      return Ke(this);
    }
    get desiredSize() {
      if (!Oe(this)) throw nt("desiredSize");
      return Ze(this);
    }
    close() {
      if (!Oe(this)) throw nt("close");
      if (this._closeRequested) throw new TypeError("The stream has already been closed; do not close it again!");
      let e2 = this._controlledReadableByteStream._state;
      if (e2 !== "readable") throw new TypeError(`The stream (in ${e2} state) is not in the readable state and cannot be closed`);
      Ue(this);
    }
    enqueue(e2) {
      if (!Oe(this)) throw nt("enqueue");
      if (M(e2, 1, "enqueue"), !ArrayBuffer.isView(e2)) throw new TypeError("chunk must be an array buffer view");
      if (e2.byteLength === 0) throw new TypeError("chunk must have non-zero byteLength");
      if (e2.buffer.byteLength === 0) throw new TypeError("chunk's buffer must have non-zero byteLength");
      if (this._closeRequested) throw new TypeError("stream is closed or draining");
      let t2 = this._controlledReadableByteStream._state;
      if (t2 !== "readable") throw new TypeError(`The stream (in ${t2} state) is not in the readable state and cannot be enqueued to`);
      Ge(this, e2);
    }
    error(e2 = void 0) {
      if (!Oe(this)) throw nt("error");
      Xe(this, e2);
    }
    [T](e2) {
      ke(this), qe(this);
      let t2 = this._cancelAlgorithm(e2);
      return Ve(this), t2;
    }
    [P](e2) {
      let t2 = this._controlledReadableByteStream;
      if (this._queueTotalSize > 0) return void Je(this, e2);
      let r2 = this._autoAllocateChunkSize;
      if (r2 !== void 0) {
        let t3;
        try {
          t3 = new ArrayBuffer(r2);
        } catch (t4) {
          return void e2._errorSteps(t4);
        }
        let o2 = { buffer: t3, bufferByteLength: r2, byteOffset: 0, byteLength: r2, bytesFilled: 0, minimumFill: 1, elementSize: 1, viewConstructor: Uint8Array, readerType: "default" };
        this._pendingPullIntos.push(o2);
      }
      U(t2, e2), je(this);
    }
    [C]() {
      return this._queueTotalSize > 0;
    }
    [q]() {
      if (this._pendingPullIntos.length > 0) {
        let e2 = this._pendingPullIntos.peek();
        e2.readerType = "none", this._pendingPullIntos = new v(), this._pendingPullIntos.push(e2);
      }
    }
  };
  function Oe(e2) {
    return !!t(e2) && !!Object.prototype.hasOwnProperty.call(e2, "_controlledReadableByteStream") && e2 instanceof ReadableByteStreamController;
  }
  function Be(e2) {
    return !!t(e2) && !!Object.prototype.hasOwnProperty.call(e2, "_associatedReadableByteStreamController") && e2 instanceof ReadableStreamBYOBRequest;
  }
  function je(e2) {
    if ((function(e3) {
      let t3 = e3._controlledReadableByteStream;
      return t3._state !== "readable" || e3._closeRequested || !e3._started ? !1 : !!(J(t3) && X(t3) > 0 || ut(t3) && lt(t3) > 0 || Ze(e3) > 0);
    })(e2)) {
      if (e2._pulling) return void (e2._pullAgain = !0);
      e2._pulling = !0, h(e2._pullAlgorithm(), () => (e2._pulling = !1, e2._pullAgain && (e2._pullAgain = !1, je(e2)), null), (t3) => (Xe(e2, t3), null));
    }
  }
  function ke(e2) {
    xe(e2), e2._pendingPullIntos = new v();
  }
  function Ae(e2, t2) {
    let r2 = !1;
    e2._state === "closed" && (r2 = !0);
    let o2 = De(t2);
    t2.readerType === "default" ? G(e2, o2, r2) : (function(e3, t3, r3) {
      let o3 = e3._reader, n2 = o3._readIntoRequests.shift();
      r3 ? n2._closeSteps(t3) : n2._chunkSteps(t3);
    })(e2, o2, r2);
  }
  function ze(e2, t2) {
    for (let r2 = 0; r2 < t2.length; ++r2) Ae(e2, t2[r2]);
  }
  function De(e2) {
    let t2 = e2.bytesFilled, r2 = e2.elementSize;
    return new e2.viewConstructor(e2.buffer, e2.byteOffset, t2 / r2);
  }
  function Fe(e2, t2, r2, o2) {
    e2._queue.push({ buffer: t2, byteOffset: r2, byteLength: o2 }), e2._queueTotalSize += o2;
  }
  function Le(e2, t2, r2, o2) {
    let n2;
    try {
      n2 = fe(t2, r2, r2 + o2);
    } catch (t3) {
      throw Xe(e2, t3), t3;
    }
    Fe(e2, n2, 0, o2);
  }
  function Ie(e2, t2) {
    t2.bytesFilled > 0 && Le(e2, t2.buffer, t2.byteOffset, t2.bytesFilled), He(e2);
  }
  function $e(e2, t2) {
    let r2 = Math.min(e2._queueTotalSize, t2.byteLength - t2.bytesFilled), o2 = t2.bytesFilled + r2, n2 = r2, i2 = !1, a2 = o2 - o2 % t2.elementSize;
    a2 >= t2.minimumFill && (n2 = a2 - t2.bytesFilled, i2 = !0);
    let s2 = e2._queue;
    for (; n2 > 0; ) {
      let r3 = s2.peek(), o3 = Math.min(n2, r3.byteLength), i3 = t2.byteOffset + t2.bytesFilled;
      ue(t2.buffer, i3, r3.buffer, r3.byteOffset, o3), r3.byteLength === o3 ? s2.shift() : (r3.byteOffset += o3, r3.byteLength -= o3), e2._queueTotalSize -= o3, Me(e2, o3, t2), n2 -= o3;
    }
    return i2;
  }
  function Me(e2, t2, r2) {
    r2.bytesFilled += t2;
  }
  function Ye(e2) {
    e2._queueTotalSize === 0 && e2._closeRequested ? (Ve(e2), Yr(e2._controlledReadableByteStream)) : je(e2);
  }
  function xe(e2) {
    e2._byobRequest !== null && (e2._byobRequest._associatedReadableByteStreamController = void 0, e2._byobRequest._view = null, e2._byobRequest = null);
  }
  function Qe(e2) {
    let t2 = [];
    for (; e2._pendingPullIntos.length > 0 && e2._queueTotalSize !== 0; ) {
      let r2 = e2._pendingPullIntos.peek();
      $e(e2, r2) && (He(e2), t2.push(r2));
    }
    return t2;
  }
  function Ne(e2, t2) {
    let r2 = e2._pendingPullIntos.peek();
    xe(e2), e2._controlledReadableByteStream._state === "closed" ? (function(e3, t3) {
      t3.readerType === "none" && He(e3);
      let r3 = e3._controlledReadableByteStream;
      if (ut(r3)) {
        let t4 = [];
        for (; t4.length < lt(r3); ) t4.push(He(e3));
        ze(r3, t4);
      }
    })(e2, r2) : (function(e3, t3, r3) {
      if (Me(0, t3, r3), r3.readerType === "none") {
        Ie(e3, r3);
        let t4 = Qe(e3);
        return void ze(e3._controlledReadableByteStream, t4);
      }
      if (r3.bytesFilled < r3.minimumFill) return;
      He(e3);
      let o2 = r3.bytesFilled % r3.elementSize;
      if (o2 > 0) {
        let t4 = r3.byteOffset + r3.bytesFilled;
        Le(e3, r3.buffer, t4 - o2, o2);
      }
      r3.bytesFilled -= o2;
      let n2 = Qe(e3);
      Ae(e3._controlledReadableByteStream, r3), ze(e3._controlledReadableByteStream, n2);
    })(e2, t2, r2), je(e2);
  }
  function He(e2) {
    return e2._pendingPullIntos.shift();
  }
  function Ve(e2) {
    e2._pullAlgorithm = void 0, e2._cancelAlgorithm = void 0;
  }
  function Ue(e2) {
    let t2 = e2._controlledReadableByteStream;
    if (!e2._closeRequested && t2._state === "readable") if (e2._queueTotalSize > 0) e2._closeRequested = !0;
    else {
      if (e2._pendingPullIntos.length > 0) {
        let t3 = e2._pendingPullIntos.peek();
        if (t3.bytesFilled % t3.elementSize !== 0) {
          let t4 = new TypeError("Insufficient bytes to fill elements in the given buffer");
          throw Xe(e2, t4), t4;
        }
      }
      Ve(e2), Yr(t2);
    }
  }
  function Ge(e2, t2) {
    let r2 = e2._controlledReadableByteStream;
    if (e2._closeRequested || r2._state !== "readable") return;
    let { buffer: o2, byteOffset: n2, byteLength: i2 } = t2;
    if (de(o2)) throw new TypeError("chunk's buffer is detached and so cannot be enqueued");
    let a2 = ce(o2);
    if (e2._pendingPullIntos.length > 0) {
      let t3 = e2._pendingPullIntos.peek();
      if (de(t3.buffer)) throw new TypeError("The BYOB request's buffer has been detached and so cannot be filled with an enqueued chunk");
      xe(e2), t3.buffer = ce(t3.buffer), t3.readerType === "none" && Ie(e2, t3);
    }
    J(r2) ? ((function(e3) {
      let t3 = e3._controlledReadableByteStream._reader;
      for (; t3._readRequests.length > 0; ) {
        if (e3._queueTotalSize === 0) return;
        Je(e3, t3._readRequests.shift());
      }
    })(e2), X(r2) === 0 ? Fe(e2, a2, n2, i2) : (e2._pendingPullIntos.length > 0 && He(e2), G(r2, new Uint8Array(a2, n2, i2), !1))) : ut(r2) ? (Fe(e2, a2, n2, i2), ze(r2, Qe(e2))) : Fe(e2, a2, n2, i2), je(e2);
  }
  function Xe(e2, t2) {
    let r2 = e2._controlledReadableByteStream;
    r2._state === "readable" && (ke(e2), qe(e2), Ve(e2), xr(r2, t2));
  }
  function Je(e2, t2) {
    let r2 = e2._queue.shift();
    e2._queueTotalSize -= r2.byteLength, Ye(e2);
    let o2 = new Uint8Array(r2.buffer, r2.byteOffset, r2.byteLength);
    t2._chunkSteps(o2);
  }
  function Ke(e2) {
    if (e2._byobRequest === null && e2._pendingPullIntos.length > 0) {
      let t2 = e2._pendingPullIntos.peek(), r2 = new Uint8Array(t2.buffer, t2.byteOffset + t2.bytesFilled, t2.byteLength - t2.bytesFilled), o2 = Object.create(ReadableStreamBYOBRequest.prototype);
      (function(e3, t3, r3) {
        e3._associatedReadableByteStreamController = t3, e3._view = r3;
      })(o2, e2, r2), e2._byobRequest = o2;
    }
    return e2._byobRequest;
  }
  function Ze(e2) {
    let t2 = e2._controlledReadableByteStream._state;
    return t2 === "errored" ? null : t2 === "closed" ? 0 : e2._strategyHWM - e2._queueTotalSize;
  }
  function et(e2, t2) {
    let r2 = e2._pendingPullIntos.peek();
    if (e2._controlledReadableByteStream._state === "closed") {
      if (t2 !== 0) throw new TypeError("bytesWritten must be 0 when calling respond() on a closed stream");
    } else {
      if (t2 === 0) throw new TypeError("bytesWritten must be greater than 0 when calling respond() on a readable stream");
      if (r2.bytesFilled + t2 > r2.byteLength) throw new RangeError("bytesWritten out of range");
    }
    r2.buffer = ce(r2.buffer), Ne(e2, t2);
  }
  function tt(e2, t2) {
    let r2 = e2._pendingPullIntos.peek();
    if (e2._controlledReadableByteStream._state === "closed") {
      if (t2.byteLength !== 0) throw new TypeError("The view's length must be 0 when calling respondWithNewView() on a closed stream");
    } else if (t2.byteLength === 0) throw new TypeError("The view's length must be greater than 0 when calling respondWithNewView() on a readable stream");
    if (r2.byteOffset + r2.bytesFilled !== t2.byteOffset) throw new RangeError("The region specified by view does not match byobRequest");
    if (r2.bufferByteLength !== t2.buffer.byteLength) throw new RangeError("The buffer of view has different capacity than byobRequest");
    if (r2.bytesFilled + t2.byteLength > r2.byteLength) throw new RangeError("The region specified by view is larger than byobRequest");
    let o2 = t2.byteLength;
    r2.buffer = ce(t2.buffer), Ne(e2, o2);
  }
  function rt(e2, t2, r2, o2, n2, i2, a2) {
    t2._controlledReadableByteStream = e2, t2._pullAgain = !1, t2._pulling = !1, t2._byobRequest = null, t2._queue = t2._queueTotalSize = void 0, qe(t2), t2._closeRequested = !1, t2._started = !1, t2._strategyHWM = i2, t2._pullAlgorithm = o2, t2._cancelAlgorithm = n2, t2._autoAllocateChunkSize = a2, t2._pendingPullIntos = new v(), e2._readableStreamController = t2, h(c(r2()), () => (t2._started = !0, je(t2), null), (e3) => (Xe(t2, e3), null));
  }
  function ot(e2) {
    return new TypeError(`ReadableStreamBYOBRequest.prototype.${e2} can only be used on a ReadableStreamBYOBRequest`);
  }
  function nt(e2) {
    return new TypeError(`ReadableByteStreamController.prototype.${e2} can only be used on a ReadableByteStreamController`);
  }
  function it(e2, t2) {
    if ((e2 = `${e2}`) != "byob") throw new TypeError(`${t2} '${e2}' is not a valid enumeration value for ReadableStreamReaderMode`);
    return e2;
  }
  function at(e2) {
    return new ReadableStreamBYOBReader(e2);
  }
  function st(e2, t2) {
    e2._reader._readIntoRequests.push(t2);
  }
  function lt(e2) {
    return e2._reader._readIntoRequests.length;
  }
  function ut(e2) {
    let t2 = e2._reader;
    return t2 !== void 0 && !!ft(t2);
  }
  Object.defineProperties(ReadableByteStreamController.prototype, { close: { enumerable: !0 }, enqueue: { enumerable: !0 }, error: { enumerable: !0 }, byobRequest: { enumerable: !0 }, desiredSize: { enumerable: !0 } }), o(ReadableByteStreamController.prototype.close, "close"), o(ReadableByteStreamController.prototype.enqueue, "enqueue"), o(ReadableByteStreamController.prototype.error, "error"), typeof Symbol.toStringTag == "symbol" && Object.defineProperty(ReadableByteStreamController.prototype, Symbol.toStringTag, { value: "ReadableByteStreamController", configurable: !0 });
  var ReadableStreamBYOBReader = class {
    constructor(e2) {
      if (M(e2, 1, "ReadableStreamBYOBReader"), H(e2, "First parameter"), $r(e2)) throw new TypeError("This stream has already been locked for exclusive reading by another reader");
      if (!Oe(e2._readableStreamController)) throw new TypeError("Cannot construct a ReadableStreamBYOBReader for a stream not constructed with a byte source");
      E(this, e2), this._readIntoRequests = new v();
    }
    get closed() {
      return ft(this) ? this._closedPromise : d(_t("closed"));
    }
    cancel(e2 = void 0) {
      return ft(this) ? this._ownerReadableStream === void 0 ? d(B("cancel")) : W(this, e2) : d(_t("cancel"));
    }
    read(e2, t2 = {}) {
      if (!ft(this)) return d(_t("read"));
      if (!ArrayBuffer.isView(e2)) return d(new TypeError("view must be an array buffer view"));
      if (e2.byteLength === 0) return d(new TypeError("view must have non-zero byteLength"));
      if (e2.buffer.byteLength === 0) return d(new TypeError("view's buffer must have non-zero byteLength"));
      if (de(e2.buffer)) return d(new TypeError("view's buffer has been detached"));
      let r2;
      try {
        r2 = (function(e3, t3) {
          var r3;
          return L(e3, t3), { min: N((r3 = e3?.min) !== null && r3 !== void 0 ? r3 : 1, `${t3} has member 'min' that`) };
        })(t2, "options");
      } catch (e3) {
        return d(e3);
      }
      let o2 = r2.min;
      if (o2 === 0) return d(new TypeError("options.min must be greater than 0"));
      if ((function(e3) {
        return Ee(e3.constructor);
      })(e2)) {
        if (o2 > e2.byteLength) return d(new RangeError("options.min must be less than or equal to view's byteLength"));
      } else if (o2 > e2.length) return d(new RangeError("options.min must be less than or equal to view's length"));
      if (this._ownerReadableStream === void 0) return d(B("read from"));
      let n2 = (function(e3, t3, r3) {
        let o3 = e3._ownerReadableStream;
        return o3._state === "errored" || (function(e4, t4, r4) {
          let o4 = e4._controlledReadableByteStream, n3 = We(t4.constructor), { byteLength: i2 } = t4, a2 = r4 * n3;
          return !(e4._pendingPullIntos.length > 0) && (o4._state === "closed" || e4._queueTotalSize >= a2);
        })(o3._readableStreamController, t3, r3);
      })(this, e2, o2) ? new dt() : new ct();
      return ht(this, e2, o2, n2), n2._promise;
    }
    releaseLock() {
      if (!ft(this)) throw _t("releaseLock");
      this._ownerReadableStream !== void 0 && (function(e2) {
        O(e2);
        let t2 = new TypeError("Reader was released");
        bt(e2, t2);
      })(this);
    }
  };
  Object.defineProperties(ReadableStreamBYOBReader.prototype, { cancel: { enumerable: !0 }, read: { enumerable: !0 }, releaseLock: { enumerable: !0 }, closed: { enumerable: !0 } }), o(ReadableStreamBYOBReader.prototype.cancel, "cancel"), o(ReadableStreamBYOBReader.prototype.read, "read"), o(ReadableStreamBYOBReader.prototype.releaseLock, "releaseLock"), typeof Symbol.toStringTag == "symbol" && Object.defineProperty(ReadableStreamBYOBReader.prototype, Symbol.toStringTag, { value: "ReadableStreamBYOBReader", configurable: !0 });
  var ct = class {
    constructor() {
      this._promise = u((e2, t2) => {
        this._resolvePromise = e2, this._rejectPromise = t2;
      });
    }
    _chunkSteps(e2) {
      this._resolvePromise({ value: e2, done: !1 });
    }
    _closeSteps(e2) {
      this._resolvePromise({ value: e2, done: !0 });
    }
    _errorSteps(e2) {
      this._rejectPromise(e2);
    }
  }, dt = class {
    constructor() {
      this._promise = void 0;
    }
    _chunkSteps(e2) {
      this._promise = l({ value: e2, done: !1 });
    }
    _closeSteps(e2) {
      this._promise = l({ value: e2, done: !0 });
    }
    _errorSteps(e2) {
      this._promise = d(e2);
    }
  };
  function ft(e2) {
    return !!t(e2) && !!Object.prototype.hasOwnProperty.call(e2, "_readIntoRequests") && e2 instanceof ReadableStreamBYOBReader;
  }
  function ht(e2, t2, r2, o2) {
    let n2 = e2._ownerReadableStream;
    n2._disturbed = !0, n2._state === "errored" ? o2._errorSteps(n2._storedError) : (function(e3, t3, r3, o3) {
      let n3 = e3._controlledReadableByteStream, i2 = t3.constructor, a2 = We(i2), { byteOffset: s2, byteLength: l2 } = t3, u2 = r3 * a2, c2;
      try {
        c2 = ce(t3.buffer);
      } catch (e4) {
        return void o3._errorSteps(e4);
      }
      let d2 = { buffer: c2, bufferByteLength: c2.byteLength, byteOffset: s2, byteLength: l2, bytesFilled: 0, minimumFill: u2, elementSize: a2, viewConstructor: i2, readerType: "byob" };
      if (e3._pendingPullIntos.length > 0) return e3._pendingPullIntos.push(d2), void st(n3, o3);
      if (n3._state === "closed") {
        let e4 = new i2(d2.buffer, d2.byteOffset, 0);
        return void o3._closeSteps(e4);
      }
      if (e3._queueTotalSize > 0) {
        if ($e(e3, d2)) {
          let t4 = De(d2);
          return Ye(e3), void o3._chunkSteps(t4);
        }
        if (e3._closeRequested) {
          let t4 = new TypeError("Insufficient bytes to fill elements in the given buffer");
          return Xe(e3, t4), void o3._errorSteps(t4);
        }
      }
      e3._pendingPullIntos.push(d2), st(n3, o3), je(e3);
    })(n2._readableStreamController, t2, r2, o2);
  }
  function bt(e2, t2) {
    let r2 = e2._readIntoRequests;
    e2._readIntoRequests = new v(), r2.forEach((e3) => {
      e3._errorSteps(t2);
    });
  }
  function _t(e2) {
    return new TypeError(`ReadableStreamBYOBReader.prototype.${e2} can only be used on a ReadableStreamBYOBReader`);
  }
  function mt(e2, t2) {
    let { highWaterMark: r2 } = e2;
    if (r2 === void 0) return t2;
    if (Re(r2) || r2 < 0) throw new RangeError("Invalid highWaterMark");
    return r2;
  }
  function pt(e2) {
    let { size: t2 } = e2;
    return t2 || (() => 1);
  }
  function yt(e2, t2) {
    L(e2, t2);
    let r2 = e2?.highWaterMark, o2 = e2?.size;
    return { highWaterMark: r2 === void 0 ? void 0 : x(r2), size: o2 === void 0 ? void 0 : St(o2, `${t2} has member 'size' that`) };
  }
  function St(e2, t2) {
    return I(e2, t2), (t3) => x(e2(t3));
  }
  function gt(e2, t2, r2) {
    return I(e2, r2), (r3) => g(e2, t2, [r3]);
  }
  function vt(e2, t2, r2) {
    return I(e2, r2), () => g(e2, t2, []);
  }
  function wt(e2, t2, r2) {
    return I(e2, r2), (r3) => S(e2, t2, [r3]);
  }
  function Rt(e2, t2, r2) {
    return I(e2, r2), (r3, o2) => g(e2, t2, [r3, o2]);
  }
  function Tt(e2, t2) {
    if (!qt(e2)) throw new TypeError(`${t2} is not a WritableStream.`);
  }
  var WritableStream = class {
    constructor(e2 = {}, t2 = {}) {
      e2 === void 0 ? e2 = null : $2(e2, "First parameter");
      let r2 = yt(t2, "Second parameter"), o2 = (function(e3, t3) {
        L(e3, t3);
        let r3 = e3?.abort, o3 = e3?.close, n3 = e3?.start, i2 = e3?.type, a2 = e3?.write;
        return { abort: r3 === void 0 ? void 0 : gt(r3, e3, `${t3} has member 'abort' that`), close: o3 === void 0 ? void 0 : vt(o3, e3, `${t3} has member 'close' that`), start: n3 === void 0 ? void 0 : wt(n3, e3, `${t3} has member 'start' that`), write: a2 === void 0 ? void 0 : Rt(a2, e3, `${t3} has member 'write' that`), type: i2 };
      })(e2, "First parameter");
      if (Ct(this), o2.type !== void 0) throw new RangeError("Invalid type is specified");
      let n2 = pt(r2);
      (function(e3, t3, r3, o3) {
        let n3 = Object.create(WritableStreamDefaultController.prototype), i2, a2, s2, l2;
        i2 = t3.start !== void 0 ? () => t3.start(n3) : () => {
        }, a2 = t3.write !== void 0 ? (e4) => t3.write(e4, n3) : () => c(void 0), s2 = t3.close !== void 0 ? () => t3.close() : () => c(void 0), l2 = t3.abort !== void 0 ? (e4) => t3.abort(e4) : () => c(void 0), Nt(e3, n3, i2, a2, s2, l2, r3, o3);
      })(this, o2, mt(r2, 1), n2);
    }
    get locked() {
      if (!qt(this)) throw Kt("locked");
      return Et(this);
    }
    abort(e2 = void 0) {
      return qt(this) ? Et(this) ? d(new TypeError("Cannot abort a stream that already has a writer")) : Wt(this, e2) : d(Kt("abort"));
    }
    close() {
      return qt(this) ? Et(this) ? d(new TypeError("Cannot close a stream that already has a writer")) : At(this) ? d(new TypeError("Cannot close an already-closing stream")) : Ot(this) : d(Kt("close"));
    }
    getWriter() {
      if (!qt(this)) throw Kt("getWriter");
      return Pt(this);
    }
  };
  function Pt(e2) {
    return new WritableStreamDefaultWriter(e2);
  }
  function Ct(e2) {
    e2._state = "writable", e2._storedError = void 0, e2._writer = void 0, e2._writableStreamController = void 0, e2._writeRequests = new v(), e2._inFlightWriteRequest = void 0, e2._closeRequest = void 0, e2._inFlightCloseRequest = void 0, e2._pendingAbortRequest = void 0, e2._backpressure = !1;
  }
  function qt(e2) {
    return !!t(e2) && !!Object.prototype.hasOwnProperty.call(e2, "_writableStreamController") && e2 instanceof WritableStream;
  }
  function Et(e2) {
    return e2._writer !== void 0;
  }
  function Wt(e2, t2) {
    var r2;
    if (e2._state === "closed" || e2._state === "errored") return c(void 0);
    e2._writableStreamController._abortReason = t2, (r2 = e2._writableStreamController._abortController) === null || r2 === void 0 || r2.abort(t2);
    let o2 = e2._state;
    if (o2 === "closed" || o2 === "errored") return c(void 0);
    if (e2._pendingAbortRequest !== void 0) return e2._pendingAbortRequest._promise;
    let n2 = !1;
    o2 === "erroring" && (n2 = !0, t2 = void 0);
    let i2 = u((r3, o3) => {
      e2._pendingAbortRequest = { _promise: void 0, _resolve: r3, _reject: o3, _reason: t2, _wasAlreadyErroring: n2 };
    });
    return e2._pendingAbortRequest._promise = i2, n2 || jt(e2, t2), i2;
  }
  function Ot(e2) {
    let t2 = e2._state;
    if (t2 === "closed" || t2 === "errored") return d(new TypeError(`The stream (in ${t2} state) is not in the writable state and cannot be closed`));
    let r2 = u((t3, r3) => {
      let o3 = { _resolve: t3, _reject: r3 };
      e2._closeRequest = o3;
    }), o2 = e2._writer;
    var n2;
    return o2 !== void 0 && e2._backpressure && t2 === "writable" && cr(o2), Ce(n2 = e2._writableStreamController, xt, 0), Ut(n2), r2;
  }
  function Bt(e2, t2) {
    e2._state !== "writable" ? kt(e2) : jt(e2, t2);
  }
  function jt(e2, t2) {
    let r2 = e2._writableStreamController;
    e2._state = "erroring", e2._storedError = t2;
    let o2 = e2._writer;
    o2 !== void 0 && $t(o2, t2), !(function(e3) {
      return !(e3._inFlightWriteRequest === void 0 && e3._inFlightCloseRequest === void 0);
    })(e2) && r2._started && kt(e2);
  }
  function kt(e2) {
    e2._state = "errored", e2._writableStreamController[R]();
    let t2 = e2._storedError;
    if (e2._writeRequests.forEach((e3) => {
      e3._reject(t2);
    }), e2._writeRequests = new v(), e2._pendingAbortRequest === void 0) return void zt(e2);
    let r2 = e2._pendingAbortRequest;
    if (e2._pendingAbortRequest = void 0, r2._wasAlreadyErroring) return r2._reject(t2), void zt(e2);
    h(e2._writableStreamController[w](r2._reason), () => (r2._resolve(), zt(e2), null), (t3) => (r2._reject(t3), zt(e2), null));
  }
  function At(e2) {
    return e2._closeRequest !== void 0 || e2._inFlightCloseRequest !== void 0;
  }
  function zt(e2) {
    e2._closeRequest !== void 0 && (e2._closeRequest._reject(e2._storedError), e2._closeRequest = void 0);
    let t2 = e2._writer;
    t2 !== void 0 && nr(t2, e2._storedError);
  }
  function Dt(e2, t2) {
    let r2 = e2._writer;
    r2 !== void 0 && t2 !== e2._backpressure && (t2 ? (function(e3) {
      ar(e3);
    })(r2) : cr(r2)), e2._backpressure = t2;
  }
  Object.defineProperties(WritableStream.prototype, { abort: { enumerable: !0 }, close: { enumerable: !0 }, getWriter: { enumerable: !0 }, locked: { enumerable: !0 } }), o(WritableStream.prototype.abort, "abort"), o(WritableStream.prototype.close, "close"), o(WritableStream.prototype.getWriter, "getWriter"), typeof Symbol.toStringTag == "symbol" && Object.defineProperty(WritableStream.prototype, Symbol.toStringTag, { value: "WritableStream", configurable: !0 });
  var WritableStreamDefaultWriter = class {
    constructor(e2) {
      if (M(e2, 1, "WritableStreamDefaultWriter"), Tt(e2, "First parameter"), Et(e2)) throw new TypeError("This stream has already been locked for exclusive writing by another writer");
      this._ownerWritableStream = e2, e2._writer = this;
      let t2 = e2._state;
      if (t2 === "writable") !At(e2) && e2._backpressure ? ar(this) : lr(this), rr(this);
      else if (t2 === "erroring") sr(this, e2._storedError), rr(this);
      else if (t2 === "closed") lr(this), rr(r2 = this), ir(r2);
      else {
        let t3 = e2._storedError;
        sr(this, t3), or(this, t3);
      }
      var r2;
    }
    get closed() {
      return Ft(this) ? this._closedPromise : d(er("closed"));
    }
    get desiredSize() {
      if (!Ft(this)) throw er("desiredSize");
      if (this._ownerWritableStream === void 0) throw tr("desiredSize");
      return (function(e2) {
        let t2 = e2._ownerWritableStream, r2 = t2._state;
        return r2 === "errored" || r2 === "erroring" ? null : r2 === "closed" ? 0 : Vt(t2._writableStreamController);
      })(this);
    }
    get ready() {
      return Ft(this) ? this._readyPromise : d(er("ready"));
    }
    abort(e2 = void 0) {
      return Ft(this) ? this._ownerWritableStream === void 0 ? d(tr("abort")) : (function(e3, t2) {
        return Wt(e3._ownerWritableStream, t2);
      })(this, e2) : d(er("abort"));
    }
    close() {
      if (!Ft(this)) return d(er("close"));
      let e2 = this._ownerWritableStream;
      return e2 === void 0 ? d(tr("close")) : At(e2) ? d(new TypeError("Cannot close an already-closing stream")) : Lt(this);
    }
    releaseLock() {
      if (!Ft(this)) throw er("releaseLock");
      this._ownerWritableStream !== void 0 && Mt(this);
    }
    write(e2 = void 0) {
      return Ft(this) ? this._ownerWritableStream === void 0 ? d(tr("write to")) : Yt(this, e2) : d(er("write"));
    }
  };
  function Ft(e2) {
    return !!t(e2) && !!Object.prototype.hasOwnProperty.call(e2, "_ownerWritableStream") && e2 instanceof WritableStreamDefaultWriter;
  }
  function Lt(e2) {
    return Ot(e2._ownerWritableStream);
  }
  function It(e2, t2) {
    e2._closedPromiseState === "pending" ? nr(e2, t2) : (function(e3, t3) {
      or(e3, t3);
    })(e2, t2);
  }
  function $t(e2, t2) {
    e2._readyPromiseState === "pending" ? ur(e2, t2) : (function(e3, t3) {
      sr(e3, t3);
    })(e2, t2);
  }
  function Mt(e2) {
    let t2 = e2._ownerWritableStream, r2 = new TypeError("Writer was released and can no longer be used to monitor the stream's closedness");
    $t(e2, r2), It(e2, r2), t2._writer = void 0, e2._ownerWritableStream = void 0;
  }
  function Yt(e2, t2) {
    let r2 = e2._ownerWritableStream, o2 = r2._writableStreamController, n2 = (function(e3, t3) {
      if (e3._strategySizeAlgorithm === void 0) return 1;
      try {
        return e3._strategySizeAlgorithm(t3);
      } catch (t4) {
        return Gt(e3, t4), 1;
      }
    })(o2, t2);
    if (r2 !== e2._ownerWritableStream) return d(tr("write to"));
    let i2 = r2._state;
    if (i2 === "errored") return d(r2._storedError);
    if (At(r2) || i2 === "closed") return d(new TypeError("The stream is closing or closed and cannot be written to"));
    if (i2 === "erroring") return d(r2._storedError);
    let a2 = (function(e3) {
      return u((t3, r3) => {
        let o3 = { _resolve: t3, _reject: r3 };
        e3._writeRequests.push(o3);
      });
    })(r2);
    return (function(e3, t3, r3) {
      try {
        Ce(e3, t3, r3);
      } catch (t4) {
        return void Gt(e3, t4);
      }
      let o3 = e3._controlledWritableStream;
      !At(o3) && o3._state === "writable" && Dt(o3, Xt(e3)), Ut(e3);
    })(o2, t2, n2), a2;
  }
  Object.defineProperties(WritableStreamDefaultWriter.prototype, { abort: { enumerable: !0 }, close: { enumerable: !0 }, releaseLock: { enumerable: !0 }, write: { enumerable: !0 }, closed: { enumerable: !0 }, desiredSize: { enumerable: !0 }, ready: { enumerable: !0 } }), o(WritableStreamDefaultWriter.prototype.abort, "abort"), o(WritableStreamDefaultWriter.prototype.close, "close"), o(WritableStreamDefaultWriter.prototype.releaseLock, "releaseLock"), o(WritableStreamDefaultWriter.prototype.write, "write"), typeof Symbol.toStringTag == "symbol" && Object.defineProperty(WritableStreamDefaultWriter.prototype, Symbol.toStringTag, { value: "WritableStreamDefaultWriter", configurable: !0 });
  var xt = {}, WritableStreamDefaultController = class {
    constructor() {
      throw new TypeError("Illegal constructor");
    }
    get abortReason() {
      if (!Qt(this)) throw Zt("abortReason");
      return this._abortReason;
    }
    get signal() {
      if (!Qt(this)) throw Zt("signal");
      if (this._abortController === void 0) throw new TypeError("WritableStreamDefaultController.prototype.signal is not supported");
      return this._abortController.signal;
    }
    error(e2 = void 0) {
      if (!Qt(this)) throw Zt("error");
      this._controlledWritableStream._state === "writable" && Jt(this, e2);
    }
    [w](e2) {
      let t2 = this._abortAlgorithm(e2);
      return Ht(this), t2;
    }
    [R]() {
      qe(this);
    }
  };
  function Qt(e2) {
    return !!t(e2) && !!Object.prototype.hasOwnProperty.call(e2, "_controlledWritableStream") && e2 instanceof WritableStreamDefaultController;
  }
  function Nt(e2, t2, r2, o2, n2, i2, a2, s2) {
    t2._controlledWritableStream = e2, e2._writableStreamController = t2, t2._queue = void 0, t2._queueTotalSize = void 0, qe(t2), t2._abortReason = void 0, t2._abortController = (function() {
      if (typeof AbortController == "function") return new AbortController();
    })(), t2._started = !1, t2._strategySizeAlgorithm = s2, t2._strategyHWM = a2, t2._writeAlgorithm = o2, t2._closeAlgorithm = n2, t2._abortAlgorithm = i2;
    let l2 = Xt(t2);
    Dt(e2, l2), h(c(r2()), () => (t2._started = !0, Ut(t2), null), (r3) => (t2._started = !0, Bt(e2, r3), null));
  }
  function Ht(e2) {
    e2._writeAlgorithm = void 0, e2._closeAlgorithm = void 0, e2._abortAlgorithm = void 0, e2._strategySizeAlgorithm = void 0;
  }
  function Vt(e2) {
    return e2._strategyHWM - e2._queueTotalSize;
  }
  function Ut(e2) {
    let t2 = e2._controlledWritableStream;
    if (!e2._started || t2._inFlightWriteRequest !== void 0) return;
    if (t2._state === "erroring") return void kt(t2);
    if (e2._queue.length === 0) return;
    let r2 = e2._queue.peek().value;
    r2 === xt ? (function(e3) {
      let t3 = e3._controlledWritableStream;
      (function(e4) {
        e4._inFlightCloseRequest = e4._closeRequest, e4._closeRequest = void 0;
      })(t3), Pe(e3);
      let r3 = e3._closeAlgorithm();
      Ht(e3), h(r3, () => ((function(e4) {
        e4._inFlightCloseRequest._resolve(void 0), e4._inFlightCloseRequest = void 0, e4._state === "erroring" && (e4._storedError = void 0, e4._pendingAbortRequest !== void 0 && (e4._pendingAbortRequest._resolve(), e4._pendingAbortRequest = void 0)), e4._state = "closed";
        let t4 = e4._writer;
        t4 !== void 0 && ir(t4);
      })(t3), null), (e4) => ((function(e5, t4) {
        e5._inFlightCloseRequest._reject(t4), e5._inFlightCloseRequest = void 0, e5._pendingAbortRequest !== void 0 && (e5._pendingAbortRequest._reject(t4), e5._pendingAbortRequest = void 0), Bt(e5, t4);
      })(t3, e4), null));
    })(e2) : (function(e3, t3) {
      let r3 = e3._controlledWritableStream;
      (function(e4) {
        e4._inFlightWriteRequest = e4._writeRequests.shift();
      })(r3);
      let o2 = e3._writeAlgorithm(t3);
      h(o2, () => {
        (function(e4) {
          e4._inFlightWriteRequest._resolve(void 0), e4._inFlightWriteRequest = void 0;
        })(r3);
        let t4 = r3._state;
        if (Pe(e3), !At(r3) && t4 === "writable") {
          let t5 = Xt(e3);
          Dt(r3, t5);
        }
        return Ut(e3), null;
      }, (t4) => (r3._state === "writable" && Ht(e3), (function(e4, t5) {
        e4._inFlightWriteRequest._reject(t5), e4._inFlightWriteRequest = void 0, Bt(e4, t5);
      })(r3, t4), null));
    })(e2, r2);
  }
  function Gt(e2, t2) {
    e2._controlledWritableStream._state === "writable" && Jt(e2, t2);
  }
  function Xt(e2) {
    return Vt(e2) <= 0;
  }
  function Jt(e2, t2) {
    let r2 = e2._controlledWritableStream;
    Ht(e2), jt(r2, t2);
  }
  function Kt(e2) {
    return new TypeError(`WritableStream.prototype.${e2} can only be used on a WritableStream`);
  }
  function Zt(e2) {
    return new TypeError(`WritableStreamDefaultController.prototype.${e2} can only be used on a WritableStreamDefaultController`);
  }
  function er(e2) {
    return new TypeError(`WritableStreamDefaultWriter.prototype.${e2} can only be used on a WritableStreamDefaultWriter`);
  }
  function tr(e2) {
    return new TypeError("Cannot " + e2 + " a stream using a released writer");
  }
  function rr(e2) {
    e2._closedPromise = u((t2, r2) => {
      e2._closedPromise_resolve = t2, e2._closedPromise_reject = r2, e2._closedPromiseState = "pending";
    });
  }
  function or(e2, t2) {
    rr(e2), nr(e2, t2);
  }
  function nr(e2, t2) {
    e2._closedPromise_reject !== void 0 && (p(e2._closedPromise), e2._closedPromise_reject(t2), e2._closedPromise_resolve = void 0, e2._closedPromise_reject = void 0, e2._closedPromiseState = "rejected");
  }
  function ir(e2) {
    e2._closedPromise_resolve !== void 0 && (e2._closedPromise_resolve(void 0), e2._closedPromise_resolve = void 0, e2._closedPromise_reject = void 0, e2._closedPromiseState = "resolved");
  }
  function ar(e2) {
    e2._readyPromise = u((t2, r2) => {
      e2._readyPromise_resolve = t2, e2._readyPromise_reject = r2;
    }), e2._readyPromiseState = "pending";
  }
  function sr(e2, t2) {
    ar(e2), ur(e2, t2);
  }
  function lr(e2) {
    ar(e2), cr(e2);
  }
  function ur(e2, t2) {
    e2._readyPromise_reject !== void 0 && (p(e2._readyPromise), e2._readyPromise_reject(t2), e2._readyPromise_resolve = void 0, e2._readyPromise_reject = void 0, e2._readyPromiseState = "rejected");
  }
  function cr(e2) {
    e2._readyPromise_resolve !== void 0 && (e2._readyPromise_resolve(void 0), e2._readyPromise_resolve = void 0, e2._readyPromise_reject = void 0, e2._readyPromiseState = "fulfilled");
  }
  Object.defineProperties(WritableStreamDefaultController.prototype, { abortReason: { enumerable: !0 }, signal: { enumerable: !0 }, error: { enumerable: !0 } }), typeof Symbol.toStringTag == "symbol" && Object.defineProperty(WritableStreamDefaultController.prototype, Symbol.toStringTag, { value: "WritableStreamDefaultController", configurable: !0 });
  var dr = typeof globalThis < "u" ? globalThis : typeof self < "u" ? self : typeof global < "u" ? global : void 0, fr = (function() {
    let e2 = dr?.DOMException;
    return (function(e3) {
      if (typeof e3 != "function" && typeof e3 != "object" || e3.name !== "DOMException") return !1;
      try {
        return new e3(), !0;
      } catch {
        return !1;
      }
    })(e2) ? e2 : void 0;
  })() || (function() {
    let e2 = function(e3, t2) {
      this.message = e3 || "", this.name = t2 || "Error", Error.captureStackTrace && Error.captureStackTrace(this, this.constructor);
    };
    return o(e2, "DOMException"), e2.prototype = Object.create(Error.prototype), Object.defineProperty(e2.prototype, "constructor", { value: e2, writable: !0, configurable: !0 }), e2;
  })();
  function hr(e2, t2, r2, o2, n2, i2) {
    let a2 = V(e2), s2 = Pt(t2);
    e2._disturbed = !0;
    let l2 = new br(s2), _2 = new mr(l2);
    return u((m2, y2) => {
      let S2;
      if (i2 !== void 0) {
        if (S2 = () => {
          let r3 = i2.reason !== void 0 ? i2.reason : new fr("Aborted", "AbortError"), a3 = [];
          o2 || a3.push(() => t2._state === "writable" ? Wt(t2, r3) : c(void 0)), n2 || a3.push(() => e2._state === "readable" ? Mr(e2, r3) : c(void 0)), T2(() => Promise.all(a3.map((e3) => e3())), !0, r3);
        }, i2.aborted) return void S2();
        i2.addEventListener("abort", S2);
      }
      function g2() {
        for (; !l2._shuttingDown && !t2._backpressure && t2._state === "writable" && !At(t2) && e2._state === "readable" && re(a2); ) te(a2, _2);
        if (l2._shuttingDown) return c(!0);
        if (t2._backpressure) return f(s2._readyPromise, g2);
        let r3 = new _r(l2);
        return te(a2, r3), r3._promise;
      }
      var v2, w2, R2;
      if (pr(e2, a2._closedPromise, (e3) => (o2 ? P2(!0, e3) : T2(() => Wt(t2, e3), !0, e3), null)), pr(t2, s2._closedPromise, (t3) => (n2 ? P2(!0, t3) : T2(() => Mr(e2, t3), !0, t3), null)), v2 = e2, w2 = a2._closedPromise, R2 = () => (r2 ? P2() : T2(() => (function(e3) {
        let t3 = e3._ownerWritableStream, r3 = t3._state;
        return At(t3) || r3 === "closed" ? c(void 0) : r3 === "errored" ? d(t3._storedError) : Lt(e3);
      })(s2)), null), v2._state === "closed" ? R2() : b(w2, R2), At(t2) || t2._state === "closed") {
        let t3 = new TypeError("the destination writable stream closed before all data could be piped to it");
        n2 ? P2(!0, t3) : T2(() => Mr(e2, t3), !0, t3);
      }
      function T2(e3, r3, o3) {
        function n3() {
          return h(e3(), () => C2(r3, o3), (e4) => C2(!0, e4)), null;
        }
        l2._shuttingDown || (l2._shuttingDown = !0, t2._state !== "writable" || At(t2) ? n3() : b(l2._waitForWritesToFinish(), n3));
      }
      function P2(e3, r3) {
        l2._shuttingDown || (l2._shuttingDown = !0, t2._state !== "writable" || At(t2) ? C2(e3, r3) : b(l2._waitForWritesToFinish(), () => C2(e3, r3)));
      }
      function C2(e3, t3) {
        return Mt(s2), O(a2), i2 !== void 0 && i2.removeEventListener("abort", S2), e3 ? y2(t3) : m2(void 0), null;
      }
      p(u((e3, t3) => {
        (function r3(o3) {
          o3 ? e3() : f(g2(), r3, t3);
        })(!1);
      }));
    });
  }
  var br = class {
    constructor(e2) {
      this._writer = e2, this._shuttingDown = !1, this._currentWrite = c(void 0);
    }
    _waitForWritesToFinish() {
      let e2 = this._currentWrite;
      return f(this._currentWrite, () => e2 !== this._currentWrite ? this._waitForWritesToFinish() : void 0);
    }
  }, _r = class {
    constructor(e2) {
      this._state = e2, this._promise = u((e3, t2) => {
        this._resolvePromise = e3, this._rejectPromise = t2;
      });
    }
    _chunkSteps(t2) {
      this._state._currentWrite = f(Yt(this._state._writer, t2), void 0, e), this._resolvePromise(!1);
    }
    _closeSteps() {
      this._resolvePromise(!0);
    }
    _errorSteps(e2) {
      this._rejectPromise(e2);
    }
  }, mr = class {
    constructor(e2) {
      this._state = e2;
    }
    _chunkSteps(t2) {
      this._state._currentWrite = f(Yt(this._state._writer, t2), void 0, e);
    }
    _closeSteps() {
    }
    _errorSteps(e2) {
    }
  };
  function pr(e2, t2, r2) {
    e2._state === "errored" ? r2(e2._storedError) : _(t2, r2);
  }
  var ReadableStreamDefaultController = class {
    constructor() {
      throw new TypeError("Illegal constructor");
    }
    get desiredSize() {
      if (!yr(this)) throw Er("desiredSize");
      return Pr(this);
    }
    close() {
      if (!yr(this)) throw Er("close");
      if (!Cr(this)) throw new TypeError("The stream is not in a state that permits close");
      wr(this);
    }
    enqueue(e2 = void 0) {
      if (!yr(this)) throw Er("enqueue");
      if (!Cr(this)) throw new TypeError("The stream is not in a state that permits enqueue");
      return Rr(this, e2);
    }
    error(e2 = void 0) {
      if (!yr(this)) throw Er("error");
      Tr(this, e2);
    }
    [T](e2) {
      qe(this);
      let t2 = this._cancelAlgorithm(e2);
      return vr(this), t2;
    }
    [P](e2) {
      let t2 = this._controlledReadableStream;
      if (this._queue.length > 0) {
        let r2 = Pe(this);
        this._closeRequested && this._queue.length === 0 ? (vr(this), Yr(t2)) : Sr(this), e2._chunkSteps(r2);
      } else U(t2, e2), Sr(this);
    }
    [C]() {
      return this._queue.length > 0;
    }
    [q]() {
    }
  };
  function yr(e2) {
    return !!t(e2) && !!Object.prototype.hasOwnProperty.call(e2, "_controlledReadableStream") && e2 instanceof ReadableStreamDefaultController;
  }
  function Sr(e2) {
    if (gr(e2)) {
      if (e2._pulling) return void (e2._pullAgain = !0);
      e2._pulling = !0, h(e2._pullAlgorithm(), () => (e2._pulling = !1, e2._pullAgain && (e2._pullAgain = !1, Sr(e2)), null), (t2) => (Tr(e2, t2), null));
    }
  }
  function gr(e2) {
    let t2 = e2._controlledReadableStream;
    return !Cr(e2) || !e2._started ? !1 : $r(t2) && X(t2) > 0 ? !0 : Pr(e2) > 0;
  }
  function vr(e2) {
    e2._pullAlgorithm = void 0, e2._cancelAlgorithm = void 0, e2._strategySizeAlgorithm = void 0;
  }
  function wr(e2) {
    if (!Cr(e2)) return;
    let t2 = e2._controlledReadableStream;
    e2._closeRequested = !0, e2._queue.length === 0 && (vr(e2), Yr(t2));
  }
  function Rr(e2, t2) {
    if (!Cr(e2)) return;
    let r2 = e2._controlledReadableStream;
    if ($r(r2) && X(r2) > 0) G(r2, t2, !1);
    else {
      let r3;
      try {
        r3 = e2._strategySizeAlgorithm(t2);
      } catch (t3) {
        throw Tr(e2, t3), t3;
      }
      try {
        Ce(e2, t2, r3);
      } catch (t3) {
        throw Tr(e2, t3), t3;
      }
    }
    Sr(e2);
  }
  function Tr(e2, t2) {
    let r2 = e2._controlledReadableStream;
    r2._state === "readable" && (qe(e2), vr(e2), xr(r2, t2));
  }
  function Pr(e2) {
    let t2 = e2._controlledReadableStream._state;
    return t2 === "errored" ? null : t2 === "closed" ? 0 : e2._strategyHWM - e2._queueTotalSize;
  }
  function Cr(e2) {
    let t2 = e2._controlledReadableStream._state;
    return !e2._closeRequested && t2 === "readable";
  }
  function qr(e2, t2, r2, o2, n2, i2, a2) {
    t2._controlledReadableStream = e2, t2._queue = void 0, t2._queueTotalSize = void 0, qe(t2), t2._started = !1, t2._closeRequested = !1, t2._pullAgain = !1, t2._pulling = !1, t2._strategySizeAlgorithm = a2, t2._strategyHWM = i2, t2._pullAlgorithm = o2, t2._cancelAlgorithm = n2, e2._readableStreamController = t2, h(c(r2()), () => (t2._started = !0, Sr(t2), null), (e3) => (Tr(t2, e3), null));
  }
  function Er(e2) {
    return new TypeError(`ReadableStreamDefaultController.prototype.${e2} can only be used on a ReadableStreamDefaultController`);
  }
  function Wr(e2, t2) {
    return Oe(e2._readableStreamController) ? (function(e3) {
      let t3, r2, o2, n2, i2, a2 = V(e3), s2 = !1, l2 = !1, d2 = !1, f2 = !1, h2 = !1, b2 = u((e4) => {
        i2 = e4;
      });
      function m2(e4) {
        _(e4._closedPromise, (t4) => (e4 !== a2 || (Xe(o2._readableStreamController, t4), Xe(n2._readableStreamController, t4), f2 && h2 || i2(void 0)), null));
      }
      function p2() {
        ft(a2) && (O(a2), a2 = V(e3), m2(a2)), te(a2, { _chunkSteps: (t4) => {
          y(() => {
            l2 = !1, d2 = !1;
            let r3 = t4, a3 = t4;
            if (!f2 && !h2) try {
              a3 = Te(t4);
            } catch (t5) {
              return Xe(o2._readableStreamController, t5), Xe(n2._readableStreamController, t5), void i2(Mr(e3, t5));
            }
            f2 || Ge(o2._readableStreamController, r3), h2 || Ge(n2._readableStreamController, a3), s2 = !1, l2 ? g2() : d2 && v2();
          });
        }, _closeSteps: () => {
          s2 = !1, f2 || Ue(o2._readableStreamController), h2 || Ue(n2._readableStreamController), o2._readableStreamController._pendingPullIntos.length > 0 && et(o2._readableStreamController, 0), n2._readableStreamController._pendingPullIntos.length > 0 && et(n2._readableStreamController, 0), f2 && h2 || i2(void 0);
        }, _errorSteps: () => {
          s2 = !1;
        } });
      }
      function S2(t4, r3) {
        ee(a2) && (O(a2), a2 = at(e3), m2(a2));
        let u2 = r3 ? n2 : o2, c2 = r3 ? o2 : n2;
        ht(a2, t4, 1, { _chunkSteps: (t5) => {
          y(() => {
            l2 = !1, d2 = !1;
            let o3 = r3 ? h2 : f2;
            if (r3 ? f2 : h2) o3 || tt(u2._readableStreamController, t5);
            else {
              let r4;
              try {
                r4 = Te(t5);
              } catch (t6) {
                return Xe(u2._readableStreamController, t6), Xe(c2._readableStreamController, t6), void i2(Mr(e3, t6));
              }
              o3 || tt(u2._readableStreamController, t5), Ge(c2._readableStreamController, r4);
            }
            s2 = !1, l2 ? g2() : d2 && v2();
          });
        }, _closeSteps: (e4) => {
          s2 = !1;
          let t5 = r3 ? h2 : f2, o3 = r3 ? f2 : h2;
          t5 || Ue(u2._readableStreamController), o3 || Ue(c2._readableStreamController), e4 !== void 0 && (t5 || tt(u2._readableStreamController, e4), !o3 && c2._readableStreamController._pendingPullIntos.length > 0 && et(c2._readableStreamController, 0)), t5 && o3 || i2(void 0);
        }, _errorSteps: () => {
          s2 = !1;
        } });
      }
      function g2() {
        if (s2) return l2 = !0, c(void 0);
        s2 = !0;
        let e4 = Ke(o2._readableStreamController);
        return e4 === null ? p2() : S2(e4._view, !1), c(void 0);
      }
      function v2() {
        if (s2) return d2 = !0, c(void 0);
        s2 = !0;
        let e4 = Ke(n2._readableStreamController);
        return e4 === null ? p2() : S2(e4._view, !0), c(void 0);
      }
      function w2(o3) {
        if (f2 = !0, t3 = o3, h2) {
          let o4 = le([t3, r2]), n3 = Mr(e3, o4);
          i2(n3);
        }
        return b2;
      }
      function R2(o3) {
        if (h2 = !0, r2 = o3, f2) {
          let o4 = le([t3, r2]), n3 = Mr(e3, o4);
          i2(n3);
        }
        return b2;
      }
      function T2() {
      }
      return o2 = Fr(T2, g2, w2), n2 = Fr(T2, v2, R2), m2(a2), [o2, n2];
    })(e2) : (function(e3) {
      let t3 = V(e3), r2, o2, n2, i2, a2, s2 = !1, l2 = !1, d2 = !1, f2 = !1, h2 = u((e4) => {
        a2 = e4;
      });
      function b2() {
        return s2 ? (l2 = !0, c(void 0)) : (s2 = !0, te(t3, { _chunkSteps: (e4) => {
          y(() => {
            l2 = !1;
            let t4 = e4, r3 = e4;
            d2 || Rr(n2._readableStreamController, t4), f2 || Rr(i2._readableStreamController, r3), s2 = !1, l2 && b2();
          });
        }, _closeSteps: () => {
          s2 = !1, d2 || wr(n2._readableStreamController), f2 || wr(i2._readableStreamController), d2 && f2 || a2(void 0);
        }, _errorSteps: () => {
          s2 = !1;
        } }), c(void 0));
      }
      function m2(t4) {
        if (d2 = !0, r2 = t4, f2) {
          let t5 = le([r2, o2]), n3 = Mr(e3, t5);
          a2(n3);
        }
        return h2;
      }
      function p2(t4) {
        if (f2 = !0, o2 = t4, d2) {
          let t5 = le([r2, o2]), n3 = Mr(e3, t5);
          a2(n3);
        }
        return h2;
      }
      function S2() {
      }
      return n2 = Dr(S2, b2, m2), i2 = Dr(S2, b2, p2), _(t3._closedPromise, (e4) => (Tr(n2._readableStreamController, e4), Tr(i2._readableStreamController, e4), d2 && f2 || a2(void 0), null)), [n2, i2];
    })(e2);
  }
  function Or(r2) {
    return t(o2 = r2) && o2.getReader !== void 0 ? (function(r3) {
      let o3;
      function n2() {
        let e2;
        try {
          e2 = r3.read();
        } catch (e3) {
          return d(e3);
        }
        return m(e2, (e3) => {
          if (!t(e3)) throw new TypeError("The promise returned by the reader.read() method must fulfill with an object");
          if (e3.done) wr(o3._readableStreamController);
          else {
            let t2 = e3.value;
            Rr(o3._readableStreamController, t2);
          }
        });
      }
      function i2(e2) {
        try {
          return c(r3.cancel(e2));
        } catch (e3) {
          return d(e3);
        }
      }
      return o3 = Dr(e, n2, i2, 0), o3;
    })(r2.getReader()) : (function(r3) {
      let o3, n2 = me(r3, "async");
      function i2() {
        let e2;
        try {
          e2 = pe(n2);
        } catch (e3) {
          return d(e3);
        }
        return m(c(e2), (e3) => {
          if (!t(e3)) throw new TypeError("The promise returned by the iterator.next() method must fulfill with an object");
          if (e3.done) wr(o3._readableStreamController);
          else {
            let t2 = e3.value;
            Rr(o3._readableStreamController, t2);
          }
        });
      }
      function a2(e2) {
        let r4 = n2.iterator, o4;
        try {
          o4 = he(r4, "return");
        } catch (e3) {
          return d(e3);
        }
        return o4 === void 0 ? c(void 0) : m(g(o4, r4, [e2]), (e3) => {
          if (!t(e3)) throw new TypeError("The promise returned by the iterator.return() method must fulfill with an object");
        });
      }
      return o3 = Dr(e, i2, a2, 0), o3;
    })(r2);
    var o2;
  }
  function Br(e2, t2, r2) {
    return I(e2, r2), (r3) => g(e2, t2, [r3]);
  }
  function jr(e2, t2, r2) {
    return I(e2, r2), (r3) => g(e2, t2, [r3]);
  }
  function kr(e2, t2, r2) {
    return I(e2, r2), (r3) => S(e2, t2, [r3]);
  }
  function Ar(e2, t2) {
    if ((e2 = `${e2}`) != "bytes") throw new TypeError(`${t2} '${e2}' is not a valid enumeration value for ReadableStreamType`);
    return e2;
  }
  function zr(e2, t2) {
    L(e2, t2);
    let r2 = e2?.preventAbort, o2 = e2?.preventCancel, n2 = e2?.preventClose, i2 = e2?.signal;
    return i2 !== void 0 && (function(e3, t3) {
      if (!(function(e4) {
        if (typeof e4 != "object" || e4 === null) return !1;
        try {
          return typeof e4.aborted == "boolean";
        } catch {
          return !1;
        }
      })(e3)) throw new TypeError(`${t3} is not an AbortSignal.`);
    })(i2, `${t2} has member 'signal' that`), { preventAbort: !!r2, preventCancel: !!o2, preventClose: !!n2, signal: i2 };
  }
  Object.defineProperties(ReadableStreamDefaultController.prototype, { close: { enumerable: !0 }, enqueue: { enumerable: !0 }, error: { enumerable: !0 }, desiredSize: { enumerable: !0 } }), o(ReadableStreamDefaultController.prototype.close, "close"), o(ReadableStreamDefaultController.prototype.enqueue, "enqueue"), o(ReadableStreamDefaultController.prototype.error, "error"), typeof Symbol.toStringTag == "symbol" && Object.defineProperty(ReadableStreamDefaultController.prototype, Symbol.toStringTag, { value: "ReadableStreamDefaultController", configurable: !0 });
  var ReadableStream = class {
    constructor(e2 = {}, t2 = {}) {
      e2 === void 0 ? e2 = null : $2(e2, "First parameter");
      let r2 = yt(t2, "Second parameter"), o2 = (function(e3, t3) {
        L(e3, t3);
        let r3 = e3, o3 = r3?.autoAllocateChunkSize, n2 = r3?.cancel, i2 = r3?.pull, a2 = r3?.start, s2 = r3?.type;
        return { autoAllocateChunkSize: o3 === void 0 ? void 0 : N(o3, `${t3} has member 'autoAllocateChunkSize' that`), cancel: n2 === void 0 ? void 0 : Br(n2, r3, `${t3} has member 'cancel' that`), pull: i2 === void 0 ? void 0 : jr(i2, r3, `${t3} has member 'pull' that`), start: a2 === void 0 ? void 0 : kr(a2, r3, `${t3} has member 'start' that`), type: s2 === void 0 ? void 0 : Ar(s2, `${t3} has member 'type' that`) };
      })(e2, "First parameter");
      if (Lr(this), o2.type === "bytes") {
        if (r2.size !== void 0) throw new RangeError("The strategy for a byte stream cannot have a size function");
        (function(e3, t3, r3) {
          let o3 = Object.create(ReadableByteStreamController.prototype), n2, i2, a2;
          n2 = t3.start !== void 0 ? () => t3.start(o3) : () => {
          }, i2 = t3.pull !== void 0 ? () => t3.pull(o3) : () => c(void 0), a2 = t3.cancel !== void 0 ? (e4) => t3.cancel(e4) : () => c(void 0);
          let s2 = t3.autoAllocateChunkSize;
          if (s2 === 0) throw new TypeError("autoAllocateChunkSize must be greater than 0");
          rt(e3, o3, n2, i2, a2, r3, s2);
        })(this, o2, mt(r2, 0));
      } else {
        let e3 = pt(r2);
        (function(e4, t3, r3, o3) {
          let n2 = Object.create(ReadableStreamDefaultController.prototype), i2, a2, s2;
          i2 = t3.start !== void 0 ? () => t3.start(n2) : () => {
          }, a2 = t3.pull !== void 0 ? () => t3.pull(n2) : () => c(void 0), s2 = t3.cancel !== void 0 ? (e5) => t3.cancel(e5) : () => c(void 0), qr(e4, n2, i2, a2, s2, r3, o3);
        })(this, o2, mt(r2, 1), e3);
      }
    }
    get locked() {
      if (!Ir(this)) throw Qr("locked");
      return $r(this);
    }
    cancel(e2 = void 0) {
      return Ir(this) ? $r(this) ? d(new TypeError("Cannot cancel a stream that already has a reader")) : Mr(this, e2) : d(Qr("cancel"));
    }
    getReader(e2 = void 0) {
      if (!Ir(this)) throw Qr("getReader");
      return (function(e3, t2) {
        L(e3, t2);
        let r2 = e3?.mode;
        return { mode: r2 === void 0 ? void 0 : it(r2, `${t2} has member 'mode' that`) };
      })(e2, "First parameter").mode === void 0 ? V(this) : at(this);
    }
    pipeThrough(e2, t2 = {}) {
      if (!Ir(this)) throw Qr("pipeThrough");
      M(e2, 1, "pipeThrough");
      let r2 = (function(e3, t3) {
        L(e3, t3);
        let r3 = e3?.readable;
        Y(r3, "readable", "ReadableWritablePair"), H(r3, `${t3} has member 'readable' that`);
        let o3 = e3?.writable;
        return Y(o3, "writable", "ReadableWritablePair"), Tt(o3, `${t3} has member 'writable' that`), { readable: r3, writable: o3 };
      })(e2, "First parameter"), o2 = zr(t2, "Second parameter");
      if ($r(this)) throw new TypeError("ReadableStream.prototype.pipeThrough cannot be used on a locked ReadableStream");
      if (Et(r2.writable)) throw new TypeError("ReadableStream.prototype.pipeThrough cannot be used on a locked WritableStream");
      return p(hr(this, r2.writable, o2.preventClose, o2.preventAbort, o2.preventCancel, o2.signal)), r2.readable;
    }
    pipeTo(e2, t2 = {}) {
      if (!Ir(this)) return d(Qr("pipeTo"));
      if (e2 === void 0) return d("Parameter 1 is required in 'pipeTo'.");
      if (!qt(e2)) return d(new TypeError("ReadableStream.prototype.pipeTo's first argument must be a WritableStream"));
      let r2;
      try {
        r2 = zr(t2, "Second parameter");
      } catch (e3) {
        return d(e3);
      }
      return $r(this) ? d(new TypeError("ReadableStream.prototype.pipeTo cannot be used on a locked ReadableStream")) : Et(e2) ? d(new TypeError("ReadableStream.prototype.pipeTo cannot be used on a locked WritableStream")) : hr(this, e2, r2.preventClose, r2.preventAbort, r2.preventCancel, r2.signal);
    }
    tee() {
      if (!Ir(this)) throw Qr("tee");
      return le(Wr(this));
    }
    values(e2 = void 0) {
      if (!Ir(this)) throw Qr("values");
      return (function(e3, t2) {
        let r2 = V(e3), o2 = new ye(r2, t2), n2 = Object.create(ge);
        return n2._asyncIteratorImpl = o2, n2;
      })(this, (function(e3, t2) {
        return L(e3, t2), { preventCancel: !!e3?.preventCancel };
      })(e2, "First parameter").preventCancel);
    }
    [_e](e2) {
      return this.values(e2);
    }
    static from(e2) {
      return Or(e2);
    }
  };
  function Dr(e2, t2, r2, o2 = 1, n2 = () => 1) {
    let i2 = Object.create(ReadableStream.prototype);
    return Lr(i2), qr(i2, Object.create(ReadableStreamDefaultController.prototype), e2, t2, r2, o2, n2), i2;
  }
  function Fr(e2, t2, r2) {
    let o2 = Object.create(ReadableStream.prototype);
    return Lr(o2), rt(o2, Object.create(ReadableByteStreamController.prototype), e2, t2, r2, 0, void 0), o2;
  }
  function Lr(e2) {
    e2._state = "readable", e2._reader = void 0, e2._storedError = void 0, e2._disturbed = !1;
  }
  function Ir(e2) {
    return !!t(e2) && !!Object.prototype.hasOwnProperty.call(e2, "_readableStreamController") && e2 instanceof ReadableStream;
  }
  function $r(e2) {
    return e2._reader !== void 0;
  }
  function Mr(t2, r2) {
    if (t2._disturbed = !0, t2._state === "closed") return c(void 0);
    if (t2._state === "errored") return d(t2._storedError);
    Yr(t2);
    let o2 = t2._reader;
    if (o2 !== void 0 && ft(o2)) {
      let e2 = o2._readIntoRequests;
      o2._readIntoRequests = new v(), e2.forEach((e3) => {
        e3._closeSteps(void 0);
      });
    }
    return m(t2._readableStreamController[T](r2), e);
  }
  function Yr(e2) {
    e2._state = "closed";
    let t2 = e2._reader;
    if (t2 !== void 0 && (z(t2), ee(t2))) {
      let e3 = t2._readRequests;
      t2._readRequests = new v(), e3.forEach((e4) => {
        e4._closeSteps();
      });
    }
  }
  function xr(e2, t2) {
    e2._state = "errored", e2._storedError = t2;
    let r2 = e2._reader;
    r2 !== void 0 && (A(r2, t2), ee(r2) ? oe(r2, t2) : bt(r2, t2));
  }
  function Qr(e2) {
    return new TypeError(`ReadableStream.prototype.${e2} can only be used on a ReadableStream`);
  }
  function Nr(e2, t2) {
    L(e2, t2);
    let r2 = e2?.highWaterMark;
    return Y(r2, "highWaterMark", "QueuingStrategyInit"), { highWaterMark: x(r2) };
  }
  Object.defineProperties(ReadableStream, { from: { enumerable: !0 } }), Object.defineProperties(ReadableStream.prototype, { cancel: { enumerable: !0 }, getReader: { enumerable: !0 }, pipeThrough: { enumerable: !0 }, pipeTo: { enumerable: !0 }, tee: { enumerable: !0 }, values: { enumerable: !0 }, locked: { enumerable: !0 } }), o(ReadableStream.from, "from"), o(ReadableStream.prototype.cancel, "cancel"), o(ReadableStream.prototype.getReader, "getReader"), o(ReadableStream.prototype.pipeThrough, "pipeThrough"), o(ReadableStream.prototype.pipeTo, "pipeTo"), o(ReadableStream.prototype.tee, "tee"), o(ReadableStream.prototype.values, "values"), typeof Symbol.toStringTag == "symbol" && Object.defineProperty(ReadableStream.prototype, Symbol.toStringTag, { value: "ReadableStream", configurable: !0 }), Object.defineProperty(ReadableStream.prototype, _e, { value: ReadableStream.prototype.values, writable: !0, configurable: !0 });
  var Hr = (e2) => e2.byteLength;
  o(Hr, "size");
  var ByteLengthQueuingStrategy = class {
    constructor(e2) {
      M(e2, 1, "ByteLengthQueuingStrategy"), e2 = Nr(e2, "First parameter"), this._byteLengthQueuingStrategyHighWaterMark = e2.highWaterMark;
    }
    get highWaterMark() {
      if (!Ur(this)) throw Vr("highWaterMark");
      return this._byteLengthQueuingStrategyHighWaterMark;
    }
    get size() {
      if (!Ur(this)) throw Vr("size");
      return Hr;
    }
  };
  function Vr(e2) {
    return new TypeError(`ByteLengthQueuingStrategy.prototype.${e2} can only be used on a ByteLengthQueuingStrategy`);
  }
  function Ur(e2) {
    return !!t(e2) && !!Object.prototype.hasOwnProperty.call(e2, "_byteLengthQueuingStrategyHighWaterMark") && e2 instanceof ByteLengthQueuingStrategy;
  }
  Object.defineProperties(ByteLengthQueuingStrategy.prototype, { highWaterMark: { enumerable: !0 }, size: { enumerable: !0 } }), typeof Symbol.toStringTag == "symbol" && Object.defineProperty(ByteLengthQueuingStrategy.prototype, Symbol.toStringTag, { value: "ByteLengthQueuingStrategy", configurable: !0 });
  var Gr = () => 1;
  o(Gr, "size");
  var CountQueuingStrategy = class {
    constructor(e2) {
      M(e2, 1, "CountQueuingStrategy"), e2 = Nr(e2, "First parameter"), this._countQueuingStrategyHighWaterMark = e2.highWaterMark;
    }
    get highWaterMark() {
      if (!Jr(this)) throw Xr("highWaterMark");
      return this._countQueuingStrategyHighWaterMark;
    }
    get size() {
      if (!Jr(this)) throw Xr("size");
      return Gr;
    }
  };
  function Xr(e2) {
    return new TypeError(`CountQueuingStrategy.prototype.${e2} can only be used on a CountQueuingStrategy`);
  }
  function Jr(e2) {
    return !!t(e2) && !!Object.prototype.hasOwnProperty.call(e2, "_countQueuingStrategyHighWaterMark") && e2 instanceof CountQueuingStrategy;
  }
  function Kr(e2, t2, r2) {
    return I(e2, r2), (r3) => g(e2, t2, [r3]);
  }
  function Zr(e2, t2, r2) {
    return I(e2, r2), (r3) => S(e2, t2, [r3]);
  }
  function eo(e2, t2, r2) {
    return I(e2, r2), (r3, o2) => g(e2, t2, [r3, o2]);
  }
  function to(e2, t2, r2) {
    return I(e2, r2), (r3) => g(e2, t2, [r3]);
  }
  Object.defineProperties(CountQueuingStrategy.prototype, { highWaterMark: { enumerable: !0 }, size: { enumerable: !0 } }), typeof Symbol.toStringTag == "symbol" && Object.defineProperty(CountQueuingStrategy.prototype, Symbol.toStringTag, { value: "CountQueuingStrategy", configurable: !0 });
  var TransformStream = class {
    constructor(e2 = {}, t2 = {}, r2 = {}) {
      e2 === void 0 && (e2 = null);
      let o2 = yt(t2, "Second parameter"), n2 = yt(r2, "Third parameter"), i2 = (function(e3, t3) {
        L(e3, t3);
        let r3 = e3?.cancel, o3 = e3?.flush, n3 = e3?.readableType, i3 = e3?.start, a3 = e3?.transform, s3 = e3?.writableType;
        return { cancel: r3 === void 0 ? void 0 : to(r3, e3, `${t3} has member 'cancel' that`), flush: o3 === void 0 ? void 0 : Kr(o3, e3, `${t3} has member 'flush' that`), readableType: n3, start: i3 === void 0 ? void 0 : Zr(i3, e3, `${t3} has member 'start' that`), transform: a3 === void 0 ? void 0 : eo(a3, e3, `${t3} has member 'transform' that`), writableType: s3 };
      })(e2, "First parameter");
      if (i2.readableType !== void 0) throw new RangeError("Invalid readableType specified");
      if (i2.writableType !== void 0) throw new RangeError("Invalid writableType specified");
      let a2 = mt(n2, 0), s2 = pt(n2), l2 = mt(o2, 1), f2 = pt(o2), b2;
      (function(e3, t3, r3, o3, n3, i3) {
        function a3() {
          return t3;
        }
        function s3(t4) {
          return (function(e4, t5) {
            let r4 = e4._transformStreamController;
            return e4._backpressure ? m(e4._backpressureChangePromise, () => {
              let o4 = e4._writable;
              if (o4._state === "erroring") throw o4._storedError;
              return co(r4, t5);
            }) : co(r4, t5);
          })(e3, t4);
        }
        function l3(t4) {
          return (function(e4, t5) {
            let r4 = e4._transformStreamController;
            if (r4._finishPromise !== void 0) return r4._finishPromise;
            let o4 = e4._readable;
            r4._finishPromise = u((e5, t6) => {
              r4._finishPromise_resolve = e5, r4._finishPromise_reject = t6;
            });
            let n4 = r4._cancelAlgorithm(t5);
            return lo(r4), h(n4, () => (o4._state === "errored" ? bo(r4, o4._storedError) : (Tr(o4._readableStreamController, t5), ho(r4)), null), (e5) => (Tr(o4._readableStreamController, e5), bo(r4, e5), null)), r4._finishPromise;
          })(e3, t4);
        }
        function c2() {
          return (function(e4) {
            let t4 = e4._transformStreamController;
            if (t4._finishPromise !== void 0) return t4._finishPromise;
            let r4 = e4._readable;
            t4._finishPromise = u((e5, r5) => {
              t4._finishPromise_resolve = e5, t4._finishPromise_reject = r5;
            });
            let o4 = t4._flushAlgorithm();
            return lo(t4), h(o4, () => (r4._state === "errored" ? bo(t4, r4._storedError) : (wr(r4._readableStreamController), ho(t4)), null), (e5) => (Tr(r4._readableStreamController, e5), bo(t4, e5), null)), t4._finishPromise;
          })(e3);
        }
        function d2() {
          return (function(e4) {
            return ao(e4, !1), e4._backpressureChangePromise;
          })(e3);
        }
        function f3(t4) {
          return (function(e4, t5) {
            let r4 = e4._transformStreamController;
            if (r4._finishPromise !== void 0) return r4._finishPromise;
            let o4 = e4._writable;
            r4._finishPromise = u((e5, t6) => {
              r4._finishPromise_resolve = e5, r4._finishPromise_reject = t6;
            });
            let n4 = r4._cancelAlgorithm(t5);
            return lo(r4), h(n4, () => (o4._state === "errored" ? bo(r4, o4._storedError) : (Gt(o4._writableStreamController, t5), io(e4), ho(r4)), null), (t6) => (Gt(o4._writableStreamController, t6), io(e4), bo(r4, t6), null)), r4._finishPromise;
          })(e3, t4);
        }
        e3._writable = (function(e4, t4, r4, o4, n4 = 1, i4 = () => 1) {
          let a4 = Object.create(WritableStream.prototype);
          return Ct(a4), Nt(a4, Object.create(WritableStreamDefaultController.prototype), e4, t4, r4, o4, n4, i4), a4;
        })(a3, s3, c2, l3, r3, o3), e3._readable = Dr(a3, d2, f3, n3, i3), e3._backpressure = void 0, e3._backpressureChangePromise = void 0, e3._backpressureChangePromise_resolve = void 0, ao(e3, !0), e3._transformStreamController = void 0;
      })(this, u((e3) => {
        b2 = e3;
      }), l2, f2, a2, s2), (function(e3, t3) {
        let r3 = Object.create(TransformStreamDefaultController.prototype), o3, n3, i3;
        o3 = t3.transform !== void 0 ? (e4) => t3.transform(e4, r3) : (e4) => {
          try {
            return uo(r3, e4), c(void 0);
          } catch (e5) {
            return d(e5);
          }
        }, n3 = t3.flush !== void 0 ? () => t3.flush(r3) : () => c(void 0), i3 = t3.cancel !== void 0 ? (e4) => t3.cancel(e4) : () => c(void 0), (function(e4, t4, r4, o4, n4) {
          t4._controlledTransformStream = e4, e4._transformStreamController = t4, t4._transformAlgorithm = r4, t4._flushAlgorithm = o4, t4._cancelAlgorithm = n4, t4._finishPromise = void 0, t4._finishPromise_resolve = void 0, t4._finishPromise_reject = void 0;
        })(e3, r3, o3, n3, i3);
      })(this, i2), i2.start !== void 0 ? b2(i2.start(this._transformStreamController)) : b2(void 0);
    }
    get readable() {
      if (!ro(this)) throw _o("readable");
      return this._readable;
    }
    get writable() {
      if (!ro(this)) throw _o("writable");
      return this._writable;
    }
  };
  function ro(e2) {
    return !!t(e2) && !!Object.prototype.hasOwnProperty.call(e2, "_transformStreamController") && e2 instanceof TransformStream;
  }
  function oo(e2, t2) {
    Tr(e2._readable._readableStreamController, t2), no(e2, t2);
  }
  function no(e2, t2) {
    lo(e2._transformStreamController), Gt(e2._writable._writableStreamController, t2), io(e2);
  }
  function io(e2) {
    e2._backpressure && ao(e2, !1);
  }
  function ao(e2, t2) {
    e2._backpressureChangePromise !== void 0 && e2._backpressureChangePromise_resolve(), e2._backpressureChangePromise = u((t3) => {
      e2._backpressureChangePromise_resolve = t3;
    }), e2._backpressure = t2;
  }
  Object.defineProperties(TransformStream.prototype, { readable: { enumerable: !0 }, writable: { enumerable: !0 } }), typeof Symbol.toStringTag == "symbol" && Object.defineProperty(TransformStream.prototype, Symbol.toStringTag, { value: "TransformStream", configurable: !0 });
  var TransformStreamDefaultController = class {
    constructor() {
      throw new TypeError("Illegal constructor");
    }
    get desiredSize() {
      if (!so(this)) throw fo("desiredSize");
      return Pr(this._controlledTransformStream._readable._readableStreamController);
    }
    enqueue(e2 = void 0) {
      if (!so(this)) throw fo("enqueue");
      uo(this, e2);
    }
    error(e2 = void 0) {
      if (!so(this)) throw fo("error");
      var t2;
      t2 = e2, oo(this._controlledTransformStream, t2);
    }
    terminate() {
      if (!so(this)) throw fo("terminate");
      (function(e2) {
        let t2 = e2._controlledTransformStream;
        wr(t2._readable._readableStreamController);
        let r2 = new TypeError("TransformStream terminated");
        no(t2, r2);
      })(this);
    }
  };
  function so(e2) {
    return !!t(e2) && !!Object.prototype.hasOwnProperty.call(e2, "_controlledTransformStream") && e2 instanceof TransformStreamDefaultController;
  }
  function lo(e2) {
    e2._transformAlgorithm = void 0, e2._flushAlgorithm = void 0, e2._cancelAlgorithm = void 0;
  }
  function uo(e2, t2) {
    let r2 = e2._controlledTransformStream, o2 = r2._readable._readableStreamController;
    if (!Cr(o2)) throw new TypeError("Readable side is not in a state that permits enqueue");
    try {
      Rr(o2, t2);
    } catch (e3) {
      throw no(r2, e3), r2._readable._storedError;
    }
    (function(e3) {
      return !gr(e3);
    })(o2) !== r2._backpressure && ao(r2, !0);
  }
  function co(e2, t2) {
    return m(e2._transformAlgorithm(t2), void 0, (t3) => {
      throw oo(e2._controlledTransformStream, t3), t3;
    });
  }
  function fo(e2) {
    return new TypeError(`TransformStreamDefaultController.prototype.${e2} can only be used on a TransformStreamDefaultController`);
  }
  function ho(e2) {
    e2._finishPromise_resolve !== void 0 && (e2._finishPromise_resolve(), e2._finishPromise_resolve = void 0, e2._finishPromise_reject = void 0);
  }
  function bo(e2, t2) {
    e2._finishPromise_reject !== void 0 && (p(e2._finishPromise), e2._finishPromise_reject(t2), e2._finishPromise_resolve = void 0, e2._finishPromise_reject = void 0);
  }
  function _o(e2) {
    return new TypeError(`TransformStream.prototype.${e2} can only be used on a TransformStream`);
  }
  Object.defineProperties(TransformStreamDefaultController.prototype, { enqueue: { enumerable: !0 }, error: { enumerable: !0 }, terminate: { enumerable: !0 }, desiredSize: { enumerable: !0 } }), o(TransformStreamDefaultController.prototype.enqueue, "enqueue"), o(TransformStreamDefaultController.prototype.error, "error"), o(TransformStreamDefaultController.prototype.terminate, "terminate"), typeof Symbol.toStringTag == "symbol" && Object.defineProperty(TransformStreamDefaultController.prototype, Symbol.toStringTag, { value: "TransformStreamDefaultController", configurable: !0 });

  // src/webstreams.js
  init_util();
  var custom = /* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom"), shownAs = (Class, fields) => {
    Object.defineProperty(Class.prototype, custom, {
      value(depth, options) {
        return `${Class.name} ${host.inspect(fields(this), options)}`;
      },
      writable: !0,
      configurable: !0
    });
  };
  shownAs(ReadableStream, (stream2) => ({ locked: stream2.locked, state: stream2._state, supportsBYOB: !1 }));
  shownAs(WritableStream, (stream2) => ({ locked: stream2.locked, state: stream2._state }));
  shownAs(TransformStream, (stream2) => ({ readable: stream2.readable, writable: stream2.writable, backpressure: stream2._backpressure }));
  for (let Strategy of [ByteLengthQueuingStrategy, CountQueuingStrategy]) shownAs(Strategy, ({ highWaterMark }) => ({ highWaterMark }));
  var { getReader } = ReadableStream.prototype;
  ReadableStream.prototype.getReader = {
    getReader(options) {
      if (this.locked) throw codedError(TypeError, "ERR_INVALID_STATE", "Invalid state: ReadableStream is locked");
      return getReader.call(this, options);
    }
  }.getReader;
  var TextEncoderStream = class extends TransformStream {
    constructor() {
      let encoder = new TextEncoder(), half = "";
      super({
        transform(chunk, controller) {
          let text3 = half + String(chunk);
          half = /[\ud800-\udbff]$/.test(text3) ? text3.at(-1) : "";
          let bytes = encoder.encode(half === "" ? text3 : text3.slice(0, -1));
          bytes.length > 0 && controller.enqueue(bytes);
        },
        flush(controller) {
          half !== "" && controller.enqueue(encoder.encode(half));
        }
      });
    }
    get encoding() {
      return "utf-8";
    }
  }, TextDecoderStream = class extends TransformStream {
    #decoder;
    constructor(label, options) {
      let decoder2 = new TextDecoder(label, options);
      super({
        transform(chunk, controller) {
          let text3 = decoder2.decode(chunk, { stream: !0 });
          text3 !== "" && controller.enqueue(text3);
        },
        flush(controller) {
          let text3 = decoder2.decode();
          text3 !== "" && controller.enqueue(text3);
        }
      }), this.#decoder = decoder2;
    }
    get encoding() {
      return this.#decoder.encoding;
    }
    get fatal() {
      return this.#decoder.fatal;
    }
    get ignoreBOM() {
      return this.#decoder.ignoreBOM;
    }
  }, sides = ({ readable: readable2, writable: writable2 }) => ({ readable: readable2, writable: writable2 });
  shownAs(TextEncoderStream, (stream2) => ({ encoding: stream2.encoding, ...sides(stream2) }));
  shownAs(TextDecoderStream, (stream2) => ({ encoding: stream2.encoding, fatal: stream2.fatal, ignoreBOM: stream2.ignoreBOM, ...sides(stream2) }));

  // src/web.js
  var { native: native15, asBytes: asBytes4, fetch: fetchThroughTool, makeCopyable, signalOf, inspect: inspect2 } = host, custom2 = /* @__PURE__ */ Symbol.for("nodejs.util.inspect.custom"), joined = (parts) => {
    let all3 = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0)), at2 = 0;
    for (let part of parts)
      all3.set(part, at2), at2 += part.length;
    return all3;
  }, encode2 = (text3) => native15.encodeUtf8(text3), decode = (bytes) => {
    let text3 = native15.decodeUtf8Lossy(bytes);
    return text3[0] === "\uFEFF" ? text3.slice(1) : text3;
  }, streamOf = (bytes, pieces = [bytes]) => new ReadableStream({
    start(controller) {
      for (let piece of pieces) piece.length > 0 && controller.enqueue(piece);
      controller.close();
    }
  }), Blob2 = class _Blob {
    #bytes;
    // Lengths of the parts, which its stream gives one by one.
    #pieces;
    #type;
    constructor(parts = [], options = {}) {
      if (options !== null && typeof options != "object" && typeof options != "function") throw codedError(TypeError, "ERR_INVALID_ARG_TYPE", `The "options" argument must be a dictionary.${host.received(options)}`);
      if (parts === null || typeof parts != "object" || typeof parts[Symbol.iterator] != "function")
        throw invalidType("sources", "a sequence", parts);
      let pieces = [];
      for (let part of parts)
        part instanceof _Blob ? pieces.push(part.#bytes) : typeof part == "object" && part !== null && asBytes4(part) !== void 0 ? pieces.push(asBytes4(part).slice()) : pieces.push(encode2(String(part)));
      this.#bytes = joined(pieces), this.#pieces = pieces.map((piece) => piece.length), this.#type = /[^\u0020-\u007e]/.test(options?.type ?? "") ? "" : String(options?.type ?? "").toLowerCase(), makeCopyable(this, () => new _Blob([this], { type: this.#type }));
    }
    get size() {
      return this.#bytes.length;
    }
    get type() {
      return this.#type;
    }
    async arrayBuffer() {
      return this.#bytes.slice().buffer;
    }
    async bytes() {
      return this.#bytes.slice();
    }
    async text() {
      return native15.decodeUtf8Lossy(this.#bytes);
    }
    stream() {
      let at2 = 0;
      return streamOf(void 0, this.#pieces.map((length) => this.#bytes.slice(at2, at2 += length)));
    }
    slice(start3 = 0, end = this.size, type = "") {
      let from = start3 < 0 ? Math.max(this.size + start3, 0) : Math.min(start3, this.size), to2 = end < 0 ? Math.max(this.size + end, 0) : Math.min(end, this.size);
      return new _Blob([this.#bytes.subarray(from, Math.max(from, to2))], { type });
    }
    [custom2](depth, options) {
      return `Blob ${inspect2({ size: this.size, type: this.type }, options)}`;
    }
  };
  Object.defineProperty(Blob2.prototype, Symbol.toStringTag, { value: "Blob", configurable: !0 });
  var File2 = class _File extends Blob2 {
    #name;
    #modified;
    constructor(parts, name2, options = {}) {
      if (arguments.length < 2) throw codedError(TypeError, "ERR_MISSING_ARGS", 'The "fileBits" and "fileName" arguments must be specified');
      super(parts, options), this.#name = String(name2), this.#modified = options.lastModified ?? Date.now(), makeCopyable(this, () => new _File([this], this.#name, { type: this.type, lastModified: this.#modified }));
    }
    get name() {
      return this.#name;
    }
    get lastModified() {
      return this.#modified;
    }
    [custom2](depth, options) {
      return `File ${inspect2({ size: this.size, type: this.type, name: this.#name, lastModified: this.#modified }, options)}`;
    }
  };
  Object.defineProperty(File2.prototype, Symbol.toStringTag, { value: "File", configurable: !0 });
  var FormData = class {
    #entries = [];
    constructor(form) {
      if (form !== void 0) throw new TypeError("FormData constructor: Argument 1 could not be converted to: undefined.");
    }
    #value(value, name2) {
      return value instanceof Blob2 ? value instanceof File2 && name2 === void 0 ? value : new File2([value], name2 ?? value.name ?? "blob", { type: value.type }) : String(value);
    }
    append(key, value, name2) {
      if (arguments.length < 2) throw new TypeError(`FormData.append: 2 arguments required, but only ${arguments.length} found.`);
      this.#entries.push([String(key), this.#value(value, name2)]);
    }
    set(key, value, name2) {
      if (arguments.length < 2) throw new TypeError(`FormData.set: 2 arguments required, but only ${arguments.length} found.`);
      let at2 = this.#entries.findIndex(([known3]) => known3 === String(key));
      if (at2 < 0) return this.append(key, value, name2);
      this.#entries = this.#entries.filter(([known3], index) => index === at2 || known3 !== String(key)), this.#entries[at2][1] = this.#value(value, name2);
    }
    delete(key) {
      this.#entries = this.#entries.filter(([known3]) => known3 !== String(key));
    }
    get(key) {
      return this.#entries.find(([known3]) => known3 === String(key))?.[1] ?? null;
    }
    getAll(key) {
      return this.#entries.filter(([known3]) => known3 === String(key)).map(([, value]) => value);
    }
    has(key) {
      return this.#entries.some(([known3]) => known3 === String(key));
    }
    forEach(callback, self2) {
      for (let [key, value] of this.#entries) callback.call(self2, value, key, this);
    }
    *entries() {
      for (let [key, value] of this.#entries) yield [key, value];
    }
    *keys() {
      for (let [key] of this.#entries) yield key;
    }
    *values() {
      for (let [, value] of this.#entries) yield value;
    }
    [custom2](depth, options) {
      let shown4 = {};
      for (let [key, value] of this.#entries) shown4[key] = Object.hasOwn(shown4, key) ? Array.isArray(shown4[key]) ? [...shown4[key], value] : [shown4[key], value] : value;
      return `FormData ${inspect2(shown4, options)}`;
    }
  };
  FormData.prototype[Symbol.iterator] = FormData.prototype.entries;
  Object.defineProperty(FormData.prototype, Symbol.iterator, { enumerable: !1 });
  var toByteString = (value) => {
    let text3 = String(value), at2 = text3.search(/[^\u0000-\u00ff]/);
    if (at2 < 0) return text3;
    throw new TypeError(
      `Cannot convert argument to a ByteString because the character at index ${at2} has a value of ${text3.charCodeAt(at2)} which is greater than 255.`
    );
  }, checkName = (name2, method = "get") => {
    let text3 = toByteString(name2);
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(text3)) throw new TypeError(`Headers.${method}: "${text3}" is an invalid header name.`);
    return text3.toLowerCase();
  }, checkValue2 = (value, method) => {
    let text3 = toByteString(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
    if (/[\0\r\n]/.test(text3)) throw new TypeError(`Headers.${method}: "${text3}" is an invalid header value.`);
    return text3;
  }, checkCount = ({ length }, count, method) => {
    if (length < count) throw new TypeError(`${method}: ${count} argument${count === 1 ? "" : "s"} required, but${length > 0 ? " only" : ""} ${length} found.`);
  }, Headers = class {
    #list = [];
    constructor(init2) {
      if (init2 === void 0) return;
      if (typeof init2 != "object" || init2 === null)
        throw new TypeError("Headers constructor: Argument 1 could not be converted to one of: sequence<sequence<ByteString>>, record<ByteString, ByteString>.");
      let pairs2 = typeof init2[Symbol.iterator] == "function" ? init2 : Object.entries(init2), at2 = 0;
      for (let given of pairs2) {
        if (typeof given != "object" || typeof given?.[Symbol.iterator] != "function")
          throw new TypeError(`Headers contructor: init[${at2}] (${typeof given == "string" ? `"${given}"` : inspect2(given)}) is not iterable.`);
        let pair = [...given];
        if (pair.length !== 2) throw new TypeError(`Headers constructor: expected name/value pair to be length 2, found ${pair.length}.`);
        this.append(...pair), at2++;
      }
    }
    append(name2, value) {
      checkCount(arguments, 2, "Headers.append"), this.#list.push([checkName(name2, "append"), checkValue2(value, "append"), String(name2)]);
    }
    delete(name2) {
      checkCount(arguments, 1, "Headers.delete");
      let key = checkName(name2, "delete");
      this.#list = this.#list.filter(([known3]) => known3 !== key);
    }
    get(name2) {
      checkCount(arguments, 1, "Headers.get");
      let key = checkName(name2), values2 = this.#list.filter(([known3]) => known3 === key).map(([, value]) => value);
      return values2.length === 0 ? null : values2.join(", ");
    }
    has(name2) {
      checkCount(arguments, 1, "Headers.has");
      let key = checkName(name2, "has");
      return this.#list.some(([known3]) => known3 === key);
    }
    set(name2, value) {
      checkCount(arguments, 2, "Headers.set");
      let key = checkName(name2, "set"), at2 = this.#list.findIndex(([known3]) => known3 === key), entry = [key, checkValue2(value, "set"), String(name2)];
      this.#list = this.#list.filter(([known3], index) => index === at2 || known3 !== key), at2 < 0 ? this.#list.push(entry) : this.#list[at2] = entry;
    }
    getSetCookie() {
      return this.#list.filter(([known3]) => known3 === "set-cookie").map(([, value]) => value);
    }
    *entries() {
      let names3 = [...new Set(this.#list.map(([name2]) => name2))].sort();
      for (let name2 of names3)
        if (name2 === "set-cookie") for (let cookie of this.getSetCookie()) yield [name2, cookie];
        else yield [name2, this.get(name2)];
    }
    *keys() {
      for (let [name2] of this.entries()) yield name2;
    }
    *values() {
      for (let [, value] of this.entries()) yield value;
    }
    forEach(callback, self2) {
      for (let [name2, value] of this.entries()) callback.call(self2, value, name2, this);
    }
    [custom2](depth, options) {
      let first = (key) => this.#list.find(([known3]) => known3 === key)[2], names3 = [...new Set(this.#list.map(([key]) => key))];
      return `Headers ${inspect2(Object.fromEntries(names3.map((key) => [first(key), this.get(key)])), options)}`;
    }
  };
  Object.defineProperty(Headers.prototype, Symbol.iterator, { value: Headers.prototype.entries, writable: !0, configurable: !0 });
  Object.defineProperty(Headers.prototype, Symbol.toStringTag, { value: "Headers", configurable: !0 });
  var readBody = (body) => {
    if (body == null) return { read: void 0 };
    if (typeof body == "string") return { type: "text/plain;charset=UTF-8", read: async () => encode2(body) };
    if (body instanceof URLSearchParams)
      return { type: "application/x-www-form-urlencoded;charset=UTF-8", read: async () => encode2(body.toString()) };
    if (body instanceof Blob2) return { type: body.type || void 0, read: () => body.bytes() };
    if (body instanceof FormData) {
      let boundary = newBoundary(), made3 = writeForm(body, boundary).then(joined);
      return { type: `multipart/form-data; boundary=${boundary}`, read: () => made3 };
    }
    if (body instanceof ReadableStream) return { stream: body, read: () => readStream(body) };
    let bytes = typeof body == "object" ? asBytes4(body) : void 0;
    if (bytes !== void 0) {
      let copy2 = bytes.slice();
      return { read: async () => copy2 };
    }
    return { type: "text/plain;charset=UTF-8", read: async () => encode2(String(body)) };
  }, readStream = async (stream2) => {
    let parts = [], reader = stream2.getReader();
    for (; ; ) {
      let { value, done } = await reader.read();
      if (done) return joined(parts);
      parts.push(typeof value == "string" ? encode2(value) : asBytes4(value));
    }
  }, Body = class {
    #body;
    #used = !1;
    #stream;
    constructor(body) {
      this.#body = body;
    }
    static of(body) {
      return body.#body;
    }
    get body() {
      return this.#body.read === void 0 ? null : (this.#stream ??= this.#body.stream ?? new ReadableStream({
        pull: async (controller) => {
          this.#used = !0;
          let bytes = await this.#body.read();
          bytes.length > 0 && controller.enqueue(bytes), controller.close();
        }
      }, { highWaterMark: 0 }), this.#stream);
    }
    get bodyUsed() {
      return this.#used;
    }
    async #take() {
      if (this.#used || this.#stream?.locked) throw new TypeError("Body is unusable: Body has already been read");
      return this.#body.read === void 0 ? new Uint8Array(0) : (this.#used = !0, this.#body.read());
    }
    async text() {
      return decode(await this.#take());
    }
    async json() {
      return JSON.parse(decode(await this.#take()));
    }
    async arrayBuffer() {
      return (await this.#take()).slice().buffer;
    }
    async bytes() {
      return (await this.#take()).slice();
    }
    async blob() {
      return new Blob2([await this.#take()], { type: this.headers.get("content-type") ?? "" });
    }
    async formData() {
      let type = this.headers.get("content-type") ?? "", form = new FormData();
      if (/^multipart\/form-data\b/i.test(type)) return readForm(await this.#take(), type, form);
      if (!/^application\/x-www-form-urlencoded\b/i.test(type))
        throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".');
      for (let [name2, value] of new URLSearchParams(decode(await this.#take()))) form.append(name2, value);
      return form;
    }
    copyBody() {
      if (this.#used || this.#stream?.locked) throw new TypeError("Response.clone: Body has already been consumed.");
      if (this.#body.stream !== void 0) {
        let [first, second] = this.#body.stream.tee();
        return this.#body = readBody(first), this.#stream = void 0, readBody(second);
      }
      return this.#body;
    }
  }, { of: bodyOf } = Body, { copyBody } = Body.prototype;
  delete Body.of;
  delete Body.prototype.copyBody;
  var parsedUrl = (input) => {
    try {
      return new URL(input).href;
    } catch (cause) {
      throw new TypeError(`Failed to parse URL from ${input}`, { cause });
    }
  }, Response = class _Response extends Body {
    #fields;
    constructor(body = null, init2 = {}) {
      let status = init2.status === void 0 ? 200 : Number(init2.status);
      if (!Number.isInteger(status) || status < 200 || status > 599)
        throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
      let content = readBody(body);
      if (body != null && [204, 205, 304].includes(status)) throw new TypeError(`Response constructor: Invalid response status code ${status}`);
      super(content), this.#fields = { status, statusText: init2.statusText ?? "", headers: new Headers(init2.headers), url: "", redirected: !1, type: "default" }, content.type !== void 0 && !this.headers.has("content-type") && this.headers.set("content-type", content.type);
    }
    static make(record, bytes) {
      let response = new _Response([204, 205, 304].includes(record.status) ? null : bytes);
      return response.#fields = {
        status: record.status,
        statusText: STATUS_CODES[record.status] ?? "",
        headers: new Headers(record.headers),
        url: record.url,
        redirected: record.redirected,
        type: "basic"
      }, response;
    }
    get status() {
      return this.#fields.status;
    }
    get ok() {
      return this.#fields.status >= 200 && this.#fields.status <= 299;
    }
    get statusText() {
      return this.#fields.statusText;
    }
    get headers() {
      return this.#fields?.headers;
    }
    get url() {
      return this.#fields.url;
    }
    get redirected() {
      return this.#fields.redirected;
    }
    get type() {
      return this.#fields.type;
    }
    clone() {
      let body = copyBody.call(this), made3 = new _Response(body.read === void 0 ? null : new ReadableStream({
        pull: async (controller) => {
          let bytes = await body.read();
          bytes.length > 0 && controller.enqueue(bytes), controller.close();
        }
      }, { highWaterMark: 0 }));
      return made3.#fields = { ...this.#fields, headers: new Headers(this.headers) }, made3;
    }
    static json(data, init2 = {}) {
      let text3 = JSON.stringify(data);
      if (text3 === void 0) throw new TypeError("Value is not JSON serializable");
      let response = new _Response(text3, init2);
      return new Headers(init2.headers).has("content-type") || response.headers.set("content-type", "application/json"), response;
    }
    static error() {
      let response = new _Response();
      return response.#fields = { ...response.#fields, status: 0, type: "error" }, response;
    }
    static redirect(url, status = 302) {
      if (![301, 302, 303, 307, 308].includes(Number(status))) throw new RangeError(`Invalid status code ${status}`);
      let response = new _Response(null, { headers: { location: parsedUrl(url) } });
      return response.#fields.status = status, response;
    }
    [custom2](depth, options) {
      let { status, statusText, headers, type, ok: ok2, redirected, url } = this;
      return `Response ${inspect2({ status, statusText, headers, body: this.body, bodyUsed: this.bodyUsed, ok: ok2, redirected, type, url }, options)}`;
    }
  }, { make: makeResponse } = Response;
  delete Response.make;
  var withoutCredentials = (url, input) => {
    let { username, password } = new URL(url);
    if (username === "" && password === "") return url;
    throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${input}`);
  }, REQUEST_FIELDS = { redirect: "follow", cache: "default", mode: "cors", credentials: "same-origin", referrer: "about:client", referrerPolicy: "", integrity: "", keepalive: !1, duplex: "half" }, Request = class _Request extends Body {
    #fields;
    static fieldOf(request, name2) {
      return request.#fields[name2];
    }
    constructor(input, init2 = {}) {
      let from = input instanceof _Request ? input : void 0, url = from === void 0 ? withoutCredentials(parsedUrl(String(input)), input) : from.url, method = String(init2.method ?? from?.method ?? "GET");
      if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(method)) throw new TypeError(`'${method}' is not a valid HTTP method.`);
      if (/^(connect|trace|track)$/i.test(method)) throw new TypeError(`'${method}' HTTP method is unsupported.`);
      let plain2 = /^(get|head|post|put|delete|options|patch)$/i.test(method) ? method.toUpperCase() : method;
      if (init2.body != null && (plain2 === "GET" || plain2 === "HEAD"))
        throw new TypeError("Request with GET/HEAD method cannot have body.");
      let content = init2.body !== void 0 ? readBody(init2.body) : from === void 0 ? readBody(null) : copyBody.call(from);
      super(content);
      let headers = new Headers(init2.headers ?? from?.headers), signal = signalOf(init2) ?? from?.signal ?? new AbortController().signal;
      this.#fields = { url, method: plain2, headers, signal };
      for (let [name2, standard] of Object.entries(REQUEST_FIELDS)) this.#fields[name2] = init2[name2] ?? from?.[name2] ?? standard;
      content.type !== void 0 && !headers.has("content-type") && headers.set("content-type", content.type);
    }
    get url() {
      return this.#fields.url;
    }
    get method() {
      return this.#fields.method;
    }
    get headers() {
      return this.#fields.headers;
    }
    get signal() {
      return this.#fields.signal;
    }
    clone() {
      return new _Request(this);
    }
  }, { fieldOf } = Request;
  delete Request.fieldOf;
  for (let name2 of Object.keys(REQUEST_FIELDS))
    Object.defineProperty(Request.prototype, name2, { get() {
      return fieldOf(this, name2);
    }, configurable: !0 });
  var { objectUrls } = host;
  URL.createObjectURL = (blob) => {
    if (!(blob instanceof Blob2)) throw invalidType("obj", "an instance of Blob", blob);
    let url = `blob:nodedata:${crypto.randomUUID()}`;
    return objectUrls.set(url, blob), url;
  };
  URL.revokeObjectURL = (url) => {
    objectUrls.delete(`${url}`);
  };
  var blobUrl = async (url) => {
    let blob = objectUrls.get(url);
    if (blob === void 0) throw new TypeError("fetch failed", { cause: new Error("invalid blob url") });
    let headers = [["content-length", `${blob.size}`], ["content-type", blob.type]];
    return makeResponse({ status: 200, headers, url, redirected: !1 }, await blob.bytes());
  }, dataUrl = (url) => {
    let match = /^data:([^,]*?)(;\s*base64)?,(.*)$/s.exec(url);
    if (match === null) throw new TypeError("fetch failed");
    let data = decodeURIComponent(match[3]), bytes = match[2] ? native15.decodeBase64(data.replace(/\s/g, "")) : encode2(data);
    return makeResponse({ status: 200, headers: [["content-type", match[1] || "text/plain;charset=US-ASCII"]], url, redirected: !1 }, bytes);
  }, fetch = {
    async fetch(input, init2) {
      let request = new Request(input, init2), { url, method, headers, signal, redirect } = request;
      if (signal.throwIfAborted(), url.startsWith("data:")) return dataUrl(url);
      if (url.startsWith("blob:")) return blobUrl(url);
      if (!/^https?:/.test(url)) throw new TypeError("fetch failed", { cause: new Error(url.startsWith("file:") ? "not implemented... yet..." : "unknown scheme") });
      let body = bodyOf(request), asked = { url, method, redirect, as: "bytes" };
      body.read !== void 0 && (asked.bytes = await body.read());
      let list = [...headers.entries()];
      list.length > 0 && (asked.headers = list);
      let record;
      try {
        record = await fetchThroughTool(asked, signal, fetch);
      } catch (error) {
        throw error?.kind !== "tool" ? error : host.causedBy(new TypeError(`fetch failed: ${error.message}`), error);
      }
      return makeResponse(record, record.bytes ?? encode2(record.text ?? ""));
    }
  }.fetch;

  // src/stream-consumers.js
  var buffer = async (stream2) => {
    let parts = [];
    for await (let part of stream2) parts.push(typeof part == "string" ? Buffer2.from(part) : part);
    return Buffer2.concat(parts);
  }, text2 = async (stream2) => {
    let decoder2 = new TextDecoder(), all3 = "";
    for await (let part of stream2) all3 += typeof part == "string" ? part : decoder2.decode(part, { stream: !0 });
    return all3 + decoder2.decode();
  }, stream_consumers_default = {
    arrayBuffer: async (stream2) => new Uint8Array(await buffer(stream2)).buffer,
    blob: async (stream2) => new Blob2([await buffer(stream2)]),
    buffer,
    json: async (stream2) => JSON.parse(await text2(stream2)),
    text: text2
  };

  // src/stream-web.js
  init_util();
  var { Duplex, Readable: Readable2, Writable: Writable2, finished } = stream_default, nothing = () => {
  }, check3 = (value, Class, name2) => {
    if (!(value instanceof Class)) throw invalidType(name2, `an instance of ${Class.name}`, value);
  }, readingFrom = (reader, self2) => {
    let isClosed = !1;
    return reader.closed.then(
      () => isClosed = !0,
      (error) => {
        isClosed = !0, self2().destroy(error);
      }
    ), {
      read() {
        reader.read().then(({ done, value }) => self2().push(done ? null : value), (error) => self2().destroy(error));
      },
      release: (error) => isClosed ? Promise.resolve() : reader.cancel(error)
    };
  }, writingTo = (writer, self2) => {
    let isClosed = !1;
    return writer.closed.then(
      () => isClosed = !0,
      (error) => {
        isClosed = !0, self2().destroy(error);
      }
    ), {
      write(chunk, encoding, callback) {
        writer.ready.then(() => writer.write(chunk)).then(() => callback(), callback);
      },
      final(callback) {
        (isClosed ? Promise.resolve() : writer.close()).then(() => callback(), callback);
      },
      release: (error) => isClosed ? Promise.resolve() : error == null ? writer.close() : writer.abort(error)
    };
  }, destroying = (...sides2) => (error, callback) => {
    Promise.allSettled(sides2.map((side) => side.release(error))).then(() => callback(error));
  };
  Readable2.fromWeb = {
    fromWeb(source, options = {}) {
      check3(source, ReadableStream, "readableStream");
      let side = readingFrom(source.getReader(), () => made3), made3 = new Readable2({ ...options, read: side.read, destroy: destroying(side) });
      return made3;
    }
  }.fromWeb;
  Writable2.fromWeb = {
    fromWeb(target2, options = {}) {
      check3(target2, WritableStream, "writableStream");
      let side = writingTo(target2.getWriter(), () => made3), made3 = new Writable2({ decodeStrings: !0, ...options, write: side.write, final: side.final, destroy: destroying(side) });
      return made3;
    }
  }.fromWeb;
  Duplex.fromWeb = {
    fromWeb(pair, options = {}) {
      if (pair === null || typeof pair != "object") throw invalidType("pair", "object", pair);
      check3(pair.readable, ReadableStream, "pair.readable"), check3(pair.writable, WritableStream, "pair.writable");
      let [from, to2] = [readingFrom(pair.readable.getReader(), () => made3), writingTo(pair.writable.getWriter(), () => made3)], made3 = new Duplex({ ...options, read: from.read, write: to2.write, final: to2.final, destroy: destroying(from, to2) });
      return made3;
    }
  }.fromWeb;
  Readable2.toWeb = {
    toWeb(source, options = {}) {
      if (typeof source?.on != "function" || typeof source.read != "function") throw invalidType("streamReadable", "an stream.Readable", source);
      let { readableObjectMode, readableHighWaterMark: highWaterMark } = source, strategy = options.strategy ?? (readableObjectMode ? new CountQueuingStrategy({ highWaterMark }) : { highWaterMark });
      return source.pause(), new ReadableStream(
        {
          start(controller) {
            let stop3 = finished(source, { writable: !1 }, (error) => {
              stop3(), source.on("error", nothing), error ? controller.error(error) : controller.close();
            });
            source.on("data", (chunk) => {
              controller.enqueue(ArrayBuffer.isView(chunk) && !readableObjectMode ? new Uint8Array(chunk) : chunk), controller.desiredSize <= 0 && source.pause();
            }), source.pause();
          },
          pull: () => {
            source.resume();
          },
          cancel: (reason) => {
            source.destroy(reason);
          }
        },
        strategy
      );
    }
  }.toWeb;
  Writable2.toWeb = {
    toWeb(target2) {
      if (typeof target2?.write != "function" || typeof target2.on != "function") throw invalidType("streamWritable", "an stream.Writable", target2);
      let { writableObjectMode, writableHighWaterMark: highWaterMark } = target2, closing;
      return new WritableStream(
        {
          start(controller) {
            let stop3 = finished(target2, { readable: !1 }, (error) => {
              stop3(), target2.on("error", nothing), closing === void 0 ? controller.error(error ?? new Error("The stream was closed")) : error ? closing.reject(error) : closing.resolve();
            });
          },
          write(chunk) {
            if (!target2.write(chunk))
              return new Promise((resolve3) => target2.once("drain", resolve3));
          },
          close() {
            return new Promise((resolve3, reject) => {
              closing = { resolve: resolve3, reject }, target2.end();
            });
          },
          abort: (reason) => {
            target2.destroy(reason);
          }
        },
        writableObjectMode ? new CountQueuingStrategy({ highWaterMark }) : { highWaterMark, size: (chunk) => chunk?.byteLength ?? chunk?.length ?? 1 }
      );
    }
  }.toWeb;
  Duplex.toWeb = {
    toWeb(duplex) {
      return { readable: Readable2.toWeb(duplex), writable: Writable2.toWeb(duplex) };
    }
  }.toWeb;

  // src/test.js
  init_process();

  // src/timers.js
  init_util();
  var { setTimeout: setTimeout2, setInterval: setInterval2, setImmediate: setImmediate2, clearTimeout: clearTimeout2, clearInterval: clearInterval2, clearImmediate } = globalThis, waiting2 = (start3, clear2) => (delay, value, options) => new Promise((resolve3, reject) => {
    if (delay != null && typeof delay != "number") throw invalidType("delay", "number", delay);
    let signal = options?.signal;
    if (signal !== void 0 && !(isObject(signal) && "aborted" in signal)) throw invalidType("options.signal", "an instance of AbortSignal", signal);
    if (options?.ref !== void 0 && typeof options.ref != "boolean") throw invalidType("options.ref", "boolean", options.ref);
    let aborted2 = () => abortError(signal);
    if (signal?.aborted) return reject(aborted2());
    let timer = start3(() => resolve3(value), delay);
    options?.ref === !1 && timer.unref(), signal?.addEventListener("abort", () => (clear2(timer), reject(aborted2())), { once: !0 });
  }), promises3 = {
    setTimeout: waiting2(setTimeout2, clearTimeout2),
    setImmediate: (value, options) => waiting2((resolve3) => setImmediate2(resolve3), clearImmediate)(0, value, options),
    async *setInterval(delay, value, options) {
      for (; ; )
        await promises3.setTimeout(delay, void 0, options), yield value;
    },
    scheduler: {
      wait: (delay, options) => promises3.setTimeout(delay, void 0, options),
      yield: () => promises3.setImmediate()
    }
  }, timers_default = { setTimeout: setTimeout2, setInterval: setInterval2, setImmediate: setImmediate2, clearTimeout: clearTimeout2, clearInterval: clearInterval2, clearImmediate, promises: promises3 };

  // src/test-timers.js
  init_process();
  init_util();
  var APIS = ["setTimeout", "setInterval", "setImmediate", "Date", "scheduler.wait"], LONGEST = 2 ** 31 - 1, AT_ONCE = -1, MockTimeout = class {
    constructor(timer) {
      Object.assign(this, timer);
    }
    hasRef() {
      return !0;
    }
    ref() {
      return this;
    }
    unref() {
      return this;
    }
    refresh() {
      return this;
    }
  }, checkTime = (time) => {
    if (time < 0) throw invalidValue("time", "positive integer", time);
  }, checkSignal = (options) => {
    let signal = options?.signal;
    if (signal !== void 0 && !(isObject(signal) && "aborted" in signal)) throw invalidType("options.signal", "an instance of AbortSignal", signal);
    return signal;
  }, dateWith = (RealDate, now3) => {
    function MockDate(...values2) {
      if (!new.target) return new RealDate(now3()).toString();
      let made3 = values2.length === 0 ? new RealDate(now3()) : new RealDate(...values2);
      return new.target === MockDate ? made3 : Object.setPrototypeOf(made3, new.target.prototype);
    }
    let { prototype, ...properties } = Object.getOwnPropertyDescriptors(RealDate);
    return Object.defineProperties(MockDate, properties), MockDate.prototype = prototype.value, MockDate.now = now3, MockDate.toString = () => Function.prototype.toString.call(RealDate), Object.defineProperty(MockDate, "isMock", { value: !0, enumerable: !0 }), MockDate;
  }, isToldOf = !1, MockTimers = class {
    #apis = [];
    #isEnabled = !1;
    #now = 0;
    #last = 0;
    // Timers that wait, in the order in which they are due.
    #queue = [];
    // Properties that were replaced, with what they were.
    #replaced = [];
    constructor() {
      isToldOf || (isToldOf = !0, process_default.emitWarning("The MockTimers API is an experimental feature and might change at any time", "ExperimentalWarning"));
    }
    #insert(timer) {
      let at2 = this.#queue.findIndex((other) => other.runAt > timer.runAt || other.runAt === timer.runAt && other.id > timer.id);
      this.#queue.splice(at2 < 0 ? this.#queue.length : at2, 0, timer);
    }
    #start(isInterval, callback, delay = 0, ...args) {
      let wait = delay > LONGEST ? 1 : delay, timer = new MockTimeout({ id: ++this.#last, callback, runAt: this.#now + wait, interval: isInterval ? wait : void 0, args });
      return this.#insert(timer), timer;
    }
    #stop = (timer) => {
      let at2 = this.#queue.indexOf(timer);
      at2 >= 0 && this.#queue.splice(at2, 1);
    };
    #waitFor(delay, value, options) {
      return new Promise((resolve3, reject) => {
        let signal = checkSignal(options);
        if (signal?.aborted) return reject(abortError(signal));
        let timer = this.#start(!1, () => resolve3(value), delay);
        signal?.addEventListener("abort", () => (this.#stop(timer), reject(abortError(signal))), { once: !0 });
      });
    }
    async *#repeat(delay, value, options) {
      let signal = checkSignal(options), due = 0, wake = () => {
      }, timer = this.#start(!0, () => (due++, wake()), delay);
      signal?.addEventListener("abort", () => wake(), { once: !0 });
      try {
        for (; ; ) {
          if (signal?.aborted) throw abortError(signal);
          due === 0 ? await new Promise((resolve3) => wake = resolve3) : yield (due--, value);
        }
      } finally {
        this.#stop(timer);
      }
    }
    #replace(holder, name2, value) {
      this.#replaced.push([holder, name2, Object.getOwnPropertyDescriptor(holder, name2)]), holder[name2] = value;
    }
    // Replaces a pair of functions that start and clear timers, and the function that returns a promise.
    #replacePair(name2, start3, wait) {
      let clear2 = name2.replace("set", "clear");
      for (let holder of [globalThis, timers_default])
        this.#replace(holder, name2, start3), this.#replace(holder, clear2, this.#stop);
      this.#replace(promises3, name2, wait);
    }
    #fake(api) {
      let wait = (delay, value, options) => this.#waitFor(delay, value, options);
      switch (api) {
        case "setTimeout":
          return this.#replacePair(api, (callback, ...rest) => this.#start(!1, callback, ...rest), wait);
        case "setInterval":
          return this.#replacePair(api, (callback, ...rest) => this.#start(!0, callback, ...rest), (delay, value, options) => this.#repeat(delay, value, options));
        case "setImmediate":
          return this.#replacePair(api, (callback, ...values2) => this.#start(!1, callback, AT_ONCE, ...values2), (value, options) => wait(AT_ONCE, value, options));
        case "Date":
          if (globalThis.Date.isMock) throw codedError(Error, "ERR_INVALID_STATE", "Invalid state: Date is already being mocked!");
          return this.#replace(globalThis, "Date", dateWith(globalThis.Date, () => this.#now));
        default:
          return this.#replace(promises3.scheduler, "wait", (delay, options) => wait(delay, void 0, options));
      }
    }
    #assertEnabled() {
      if (!this.#isEnabled) throw codedError(Error, "ERR_INVALID_STATE", "Invalid state: You should enable MockTimers first by calling the .enable function");
    }
    enable(options = {}) {
      if (this.#isEnabled) throw codedError(Error, "ERR_INVALID_STATE", "Invalid state: MockTimers is already enabled!");
      if (Number.isNaN(options.now)) throw invalidValue("now", options.now, `epoch must be a positive integer received ${options.now}`);
      let apis = options.apis || APIS;
      if (!Array.isArray(apis)) throw invalidType("options.apis", "an instance of Array", apis);
      apis.forEach((api, at2) => {
        if (typeof api != "string") throw invalidType(`options.apis[${at2}]`, "string", api);
      });
      for (let api of apis) if (!APIS.includes(api)) throw invalidValue("options.apis", api, `option ${api} is not supported`);
      let now3 = options.now instanceof Date ? options.now.getTime() : options.now || 0;
      if (typeof now3 != "number") throw invalidType("initialTime", "number", now3);
      checkTime(now3), this.#apis = apis, this.#now = now3;
      for (let api of this.#apis) this.#fake(api);
      this.#isEnabled = !0;
    }
    tick(time = 1) {
      this.#assertEnabled(), checkTime(time), this.#now += time;
      for (let timer; (timer = this.#queue[0]) !== void 0 && timer.runAt <= this.#now; )
        Reflect.apply(timer.callback, void 0, timer.args), this.#queue[0] === timer && this.#queue.shift(), timer.interval !== void 0 && (timer.runAt += timer.interval, this.#insert(timer));
    }
    runAll() {
      this.#assertEnabled(), this.#queue.length > 0 && this.tick(Math.max(this.#queue.at(-1).runAt - this.#now, 0));
    }
    setTime(time = 0) {
      if (typeof time != "number") throw invalidType("time", "number", time);
      checkTime(time), this.#assertEnabled(), this.#now = time;
    }
    reset() {
      if (this.#isEnabled) {
        for (let [holder, name2, property] of this.#replaced.reverse()) Object.defineProperty(holder, name2, property);
        [this.#replaced, this.#queue, this.#apis] = [[], [], []], this.#now = 0, this.#isEnabled = !1;
      }
    }
  };

  // src/test-mock.js
  init_util();
  var MockFunctionContext = class {
    #calls = [];
    #original;
    #implementation;
    #once = /* @__PURE__ */ new Map();
    #left;
    #restore;
    constructor(original, implementation, times4, restore) {
      this.#original = original, this.#implementation = implementation, this.#left = times4, this.#restore = restore;
    }
    get calls() {
      return [...this.#calls];
    }
    callCount() {
      return this.#calls.length;
    }
    mockImplementation(implementation) {
      if (typeof implementation != "function") throw invalidType("implementation", "function", implementation);
      this.#implementation = implementation, this.#left = 1 / 0;
    }
    mockImplementationOnce(implementation, onCall = this.#calls.length) {
      if (typeof implementation != "function") throw invalidType("implementation", "function", implementation);
      this.#once.set(onCall, implementation);
    }
    resetCalls() {
      this.#calls = [];
    }
    restore() {
      this.#implementation = this.#original, this.#once.clear(), this.#restore?.();
    }
    // Returns the function that the next call runs.
    #next() {
      let at2 = this.#calls.length, once = this.#once.get(at2);
      return this.#once.delete(at2), once !== void 0 ? once : this.#left <= 0 ? this.#original : (this.#left--, this.#implementation);
    }
    static call(context2, self2, values2, target2, made3) {
      let call2 = { arguments: values2, error: void 0, result: void 0, stack: new Error(), target: target2, this: self2 }, work2 = context2.#next();
      try {
        return call2.result = target2 === void 0 ? Reflect.apply(work2, self2, values2) : Reflect.construct(work2, values2, made3), target2 !== void 0 && (call2.this = call2.result), call2.result;
      } catch (error) {
        throw call2.error = error, error;
      } finally {
        context2.#calls.push(call2);
      }
    }
  }, callMock = MockFunctionContext.call;
  delete MockFunctionContext.call;
  var timesOf = (options) => {
    let { times: times4 = 1 / 0 } = options ?? {};
    if (times4 !== 1 / 0 && !(Number.isInteger(times4) && times4 >= 1)) throw invalidValue("options.times", times4);
    return times4;
  }, MockTracker = class {
    #contexts = [];
    #timers;
    #make(original, implementation, options, restore) {
      let context2 = new MockFunctionContext(original, implementation, timesOf(options), restore);
      return this.#contexts.push(context2), new Proxy(original, {
        apply: (_2, self2, values2) => callMock(context2, self2, values2, void 0),
        construct: (target2, values2, made3) => callMock(context2, void 0, values2, target2, made3),
        get: (target2, name2, receiver2) => name2 === "mock" ? context2 : Reflect.get(target2, name2, receiver2)
      });
    }
    fn(original = () => {
    }, implementation = original, options = {}) {
      if (typeof original == "object" && original !== null) return this.#make(() => {
      }, () => {
      }, original);
      if (typeof original != "function") throw invalidType("original", "function", original);
      return typeof implementation == "object" && implementation !== null ? this.#make(original, original, implementation) : this.#make(original, implementation, options);
    }
    #replace(object, name2, kind, implementation, options) {
      let holder = object;
      for (; holder !== null && !Object.hasOwn(holder, name2); ) holder = Object.getPrototypeOf(holder);
      let property = holder === null ? void 0 : Object.getOwnPropertyDescriptor(holder, name2), original = property?.[kind];
      if (typeof original != "function") throw invalidValue("methodName", original, "must be a method");
      let isOwn = holder === object, restore = () => isOwn ? Object.defineProperty(object, name2, property) : delete object[name2], made3 = this.#make(original, implementation ?? original, options, restore);
      return Object.defineProperty(object, name2, { ...property, configurable: !0, [kind]: made3 }), made3;
    }
    method(object, name2, implementation, options) {
      if (object === null || typeof object != "object" && typeof object != "function") throw invalidType("object", "object", object);
      if (typeof implementation == "object" && implementation !== null) return this.method(object, name2, void 0, implementation);
      let kind = options?.getter ? "get" : options?.setter ? "set" : "value";
      return this.#replace(object, name2, kind, implementation, options);
    }
    getter(object, name2, implementation, options) {
      return this.method(object, name2, implementation, { ...options, getter: !0 });
    }
    setter(object, name2, implementation, options) {
      return this.method(object, name2, implementation, { ...options, setter: !0 });
    }
    restoreAll() {
      for (let context2 of this.#contexts) context2.restore();
    }
    reset() {
      this.restoreAll(), this.#timers?.reset(), this.#contexts = [];
    }
    get timers() {
      return this.#timers ??= new MockTimers(), this.#timers;
    }
  };

  // src/test-tap.js
  init_util();
  var UNWRAPPED = ["testCodeFailure", "hookFailed", "uncaughtException", "unhandledRejection"], escaped = (text3) => {
    let controls = { "\b": "\\b", "\f": "\\f", "	": "\\t", "\n": "\\n", "\r": "\\r", "\v": "\\v" };
    return text3.replace(/[\b\f\t\n\r\v]/g, (control) => controls[control]).replaceAll("\\", "\\\\").replaceAll("#", "\\#");
  }, yaml = (indent, name2, value, seen) => {
    if (value == null) return `${indent}  ${name2}: ~
`;
    if (typeof value != "object") {
      let lines = typeof value == "string" ? value.split(/\n|\r\n/) : [];
      return lines.length < 2 ? `${indent}  ${name2}: ${inspect(value, { colors: !1, breakLength: 1 / 0 })}
` : `${indent}  ${name2}: |-
${lines.map((line) => `${indent}    ${line}
`).join("")}`;
    }
    return seen.has(value) ? `${indent}  ${name2}: <Circular>
` : (seen.add(value), `${indent}  ${name2}:
${Object.entries(value).map(([key, inner]) => yaml(`${indent}  `, key, inner, seen)).join("")}`);
  }, isAssertion = (error) => typeof error == "object" && error !== null && "expected" in error && "actual" in error, failureText = (indent, { type, message, cause }) => {
    let seen = /* @__PURE__ */ new Set(), own = UNWRAPPED.includes(type) && typeof cause == "object" && cause !== null ? cause : {}, text3 = yaml(indent, "failureType", type, seen);
    text3 += yaml(indent, "error", own.message ?? message, seen), text3 += yaml(indent, "code", own.code ?? "ERR_TEST_FAILURE", seen), own.name && own.name !== "Error" && (text3 += yaml(indent, "name", own.name, seen)), isAssertion(own) && (text3 += yaml(indent, "expected", own.expected, seen) + yaml(indent, "actual", own.actual, seen), own.operator && (text3 += yaml(indent, "operator", own.operator, seen)));
    let frames = typeof own.stack == "string" ? own.stack.split(`
`).filter((line) => /^\s+at\s/.test(line)) : [];
    return frames.length > 0 && (text3 += `${indent}  stack: |-
${frames.map((line) => `${indent}    ${line.replace(/^\s+at\s/, "")}
`).join("")}`), text3;
  }, indentOf = (test2) => "    ".repeat(test2.nesting), startLine = (test2) => `${indentOf(test2)}# Subtest: ${escaped(test2.name)}
`, planLine = (nesting, count) => `${"    ".repeat(nesting)}1..${count}
`, noteLine = (nesting, note) => `${"    ".repeat(nesting)}# ${escaped(note)}
`, directive = (word2, reason) => reason === void 0 || reason === !1 ? "" : ` # ${word2}${typeof reason == "string" && reason !== "" ? ` ${escaped(reason)}` : ""}`, resultText = (test2) => {
    let indent = indentOf(test2), marks2 = directive("SKIP", test2.skipped) || directive("TODO", test2.isTodo), text3 = `${indent}${test2.failure === void 0 ? "ok" : "not ok"} ${test2.number} - ${escaped(test2.name)}${marks2}
`;
    return text3 += `${indent}  ---
${yaml(indent, "duration_ms", test2.duration, /* @__PURE__ */ new Set())}`, test2.isSuite && (text3 += yaml(indent, "type", "suite", /* @__PURE__ */ new Set())), test2.failure !== void 0 && (text3 += yaml(indent, "location", test2.location, /* @__PURE__ */ new Set()) + failureText(indent, test2.failure)), `${text3}${indent}  ...
`;
  };

  // src/test.js
  init_util();
  var { setTimeout: startTimer, clearTimeout: stopTimer, setImmediate: later } = globalThis, { now: now2 } = performance, clock = () => now2.call(performance), report = "", write3 = (text3) => {
    report === "" && later(flush), report += text3;
  }, flush = () => {
    report !== "" && process_default.stdout.write(report), report = "";
  }, counts = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 }, HOOKS = ["before", "after", "beforeEach", "afterEach"], failureOf = (type, cause) => ({ type, cause, message: cause instanceof Error ? cause.message : typeof cause == "string" ? cause : host.inspect(cause) }), call = (work2, self2, argument) => work2.length < 2 ? Reflect.apply(work2, self2, [argument]) : new Promise((resolve3, reject) => {
    typeof Reflect.apply(work2, self2, [argument, (error) => error ? reject(error) : resolve3()])?.then == "function" && reject(new Error("passed a callback but also returned a Promise"));
  }), ONLY_NOTE = "'only' and 'runOnly' require the --test-only command-line option.", TestContext = class {
    #test;
    #mock;
    constructor(test2) {
      this.#test = test2;
    }
    get name() {
      return this.#test.name;
    }
    get fullName() {
      return this.#test.fullName;
    }
    get signal() {
      return this.#test.signal;
    }
    get mock() {
      return this.#mock ??= this.#test.mock = new MockTracker(), this.#mock;
    }
    get assert() {
      let test2 = this.#test;
      return Object.fromEntries(
        Object.entries(assert_default).filter(([, value]) => typeof value == "function" && !/^[A-Z]/.test(value.name)).map(([name2, check4]) => [name2, (...values2) => (test2.asserted++, check4(...values2))])
      );
    }
    plan(count) {
      if (typeof count != "number") throw invalidType("count", "number", count);
      this.#test.planned = count;
    }
    diagnostic(message) {
      this.#test.notes.push(String(message));
    }
    skip(message) {
      this.#test.skipped = message ?? !0;
    }
    todo(message) {
      this.#test.isTodo = message ?? !0;
    }
    runOnly() {
    }
    test(...given) {
      let { location } = placeOf(this.test);
      return this.#test.asserted++, this.#test.add(new Test({ ...argumentsOf(given), location, parent: this.#test }));
    }
  };
  for (let hook of HOOKS)
    TestContext.prototype[hook] = { [hook](work2, options) {
      addHook(contextTest(this), hook, work2, options);
    } }[hook];
  var tests = /* @__PURE__ */ new WeakMap(), contextTest = (context2) => tests.get(context2), Test = class {
    children = [];
    notes = [];
    hooks = Object.fromEntries(HOOKS.map((hook) => [hook, []]));
    asserted = 0;
    #queue = Promise.resolve();
    #began;
    constructor({ name: name2, work: work2, options, location, parent, isSuite = !1 }) {
      let { skip, todo, timeout = 1 / 0, signal } = options;
      this.work = work2 ?? (() => {
      }), this.name = name2 || work2?.name || "<anonymous>", this.skipped = skip === void 0 || skip === !1 ? void 0 : skip, this.isTodo = todo === void 0 || todo === !1 ? void 0 : todo, Object.assign(this, { timeout, location, parent, isSuite }), this.nesting = parent === void 0 ? -1 : parent.nesting + 1, this.abort = new AbortController(), this.signal = signal === void 0 ? this.abort.signal : AbortSignal.any([signal, this.abort.signal]), this.skipped !== void 0 && (this.work = () => {
      }), options.only && this.notes.push(ONLY_NOTE);
    }
    get fullName() {
      return this.parent?.parent === void 0 ? this.name : `${this.parent.fullName} > ${this.name}`;
    }
    // Runs a new child after those before it.
    add(child) {
      this.children.push(child), child.number = this.children.length, this.isFinished && (child.failure = { type: "parentAlreadyFinished", message: "test could not be started because its parent finished" });
      let run2 = this.#queue.then(() => child.run());
      return this.#queue = run2, run2;
    }
    // Waits until all children have run, also those that are added meanwhile.
    async finishChildren() {
      for (let queue; queue !== this.#queue; )
        queue = this.#queue, await queue;
    }
    async runHooks(hook, argument, holder = this) {
      for (let { work: work2, timeout } of holder.hooks[hook]) await this.#inTime(timeout, () => call(work2, argument, argument));
    }
    // Calls the hooks for each test: those of the outermost suite first, or last after the test.
    async #runEach(hook, context2) {
      let holders = [];
      for (let at2 = this.parent; at2 !== void 0; at2 = at2.parent) holders.push(at2);
      hook === "beforeEach" && holders.reverse();
      for (let holder of holders) await this.runHooks(hook, context2, holder);
    }
    // Waits for a function, at most for the time that it may take.
    async #inTime(timeout, work2) {
      let timer, over = new Promise((_2, reject) => {
        let stop3 = (type, message) => reject(Object.assign(new Error(message), { failure: { type, message } }));
        timeout !== 1 / 0 && (timer = startTimer(() => stop3("testTimeoutFailure", `test timed out after ${timeout}ms`), timeout).unref()), this.signal.addEventListener("abort", () => stop3("testAborted", "This operation was aborted"), { once: !0 });
      });
      try {
        await Promise.race([over, work2()]);
      } finally {
        stopTimer(timer);
      }
    }
    fail(type, error) {
      this.failure ??= error?.failure ?? failureOf(type, error);
    }
    async #attempt(type, work2) {
      try {
        await work2();
      } catch (error) {
        this.fail(type, error);
      }
    }
    cancelChildren(message = "test did not finish before its parent and was cancelled") {
      for (let child of this.children)
        child.isFinished || (child.failure ??= { type: "cancelledByParent", message }, child.cancelChildren(message), child.abort.abort());
    }
    async #runTest() {
      let context2 = new TestContext(this);
      tests.set(context2, this);
      let isReady = !1;
      await this.#attempt("hookFailed", async () => {
        this.skipped === void 0 && await this.#runEach("beforeEach", context2), isReady = !0;
      }), isReady && await this.#attempt("testCodeFailure", () => this.#inTime(this.timeout, () => call(this.work, context2, context2))), this.cancelChildren(), await this.finishChildren(), this.planned !== void 0 && this.planned !== this.asserted && this.fail("testCodeFailure", codedError(Error, "ERR_TEST_FAILURE", `plan expected ${this.planned} assertions but received ${this.asserted}`)), await this.#attempt("hookFailed", () => this.runHooks("after", context2)), this.skipped === void 0 && await this.#attempt("hookFailed", () => this.#runEach("afterEach", context2)), this.mock?.reset();
    }
    async #runSuite() {
      let context2 = { name: this.name, fullName: this.fullName, signal: this.signal };
      await this.#attempt("testCodeFailure", () => this.declared), await this.#attempt("hookFailed", () => this.runHooks("before", context2)), this.failure !== void 0 && this.cancelChildren(), this.open(), await this.finishChildren(), await this.#attempt("hookFailed", () => this.runHooks("after", context2));
    }
    // Suites declare their children at once, and run them later.
    declare() {
      this.#queue = new Promise((resolve3) => this.open = resolve3);
      let context2 = { name: this.name, fullName: this.fullName, signal: this.signal }, outer = current;
      current = this;
      try {
        this.declared = Promise.resolve(Reflect.apply(this.work, context2, [context2])), this.declared.catch(() => {
        });
      } catch (error) {
        this.fail("testCodeFailure", error);
      } finally {
        current = outer;
      }
    }
    async run() {
      this.#began = clock(), write3(startLine(this)), (this.failure === void 0 || this.isSuite) && await (this.isSuite ? this.#runSuite() : this.#runTest());
      let bad = this.children.filter((child) => child.failure !== void 0 && child.isTodo === void 0).length;
      bad > 0 && (this.failure ??= { type: "subtestsFailed", message: `${bad} subtest${bad > 1 ? "s" : ""} failed` }), this.children.length > 0 && write3(planLine(this.nesting + 1, this.children.length)), this.isFinished = !0, this.duration = Math.round((clock() - this.#began) * 1e6) / 1e6, write3(resultText(this));
      for (let note of this.notes) write3(noteLine(this.nesting, note));
      this.#count();
    }
    #count() {
      if (this.isSuite)
        counts.suites++;
      else {
        counts.tests++;
        let isCancelled = ["cancelledByParent", "testTimeoutFailure", "testAborted", "parentAlreadyFinished"].includes(this.failure?.type), kind = this.skipped !== void 0 ? "skipped" : this.isTodo !== void 0 ? "todo" : isCancelled ? "cancelled" : this.failure ? "fail" : "pass";
        counts[kind]++;
      }
      this.failure !== void 0 && this.isTodo === void 0 && (process_default.exitCode = 1);
    }
  }, root, current, rootTest = () => {
    if (root !== void 0) return root;
    root = new Test({ name: "<root>", options: {}, isSuite: !0 });
    let begun = clock(), isBegun = !1;
    return root.begin = () => {
      isBegun || (isBegun = !0, write3(`TAP version 13
`));
    }, process_default.once("beforeExit", () => finishRoot(begun)), root;
  }, finishRoot = async (begun) => {
    root.cancelChildren("Promise resolution is still pending but the event loop has already resolved"), await root.finishChildren();
    try {
      await root.runHooks("after", {});
    } catch (error) {
      process_default.exitCode = 1, root.notes.push(`Error: ${error?.message ?? error}`);
    }
    root.begin(), write3(planLine(0, root.children.length));
    for (let note of root.notes) write3(noteLine(0, note));
    for (let [name2, count] of Object.entries(counts)) write3(noteLine(0, `${name2} ${count}`));
    write3(noteLine(0, `duration_ms ${clock() - begun}`)), flush();
  }, placeOf = (below) => {
    let place = /\(?([^\s()]+:\d+:\d+)\)?$/.exec(host.cleanStack(host.captureStack(below)).split(`
`)[0] ?? "")?.[1] ?? "";
    return { location: place.startsWith("/") || place === "" ? place : host.mainPath() + place.slice(place.search(/:\d+:\d+$/)) };
  }, argumentsOf = (given) => {
    let name2 = given.find((value) => typeof value == "string"), work2 = given.find((value) => typeof value == "function"), options = given.find((value) => typeof value == "object" && value !== null) ?? {}, { timeout } = options;
    if (timeout !== void 0 && timeout !== 1 / 0 && typeof timeout != "number") throw invalidType("options.timeout", "number", timeout);
    return { name: name2, work: work2, options };
  }, isStarted = !1, start2 = (given, isSuite, below, extra) => {
    let { location } = placeOf(below), parent = current ?? rootTest(), { name: name2, work: work2, options } = argumentsOf(given), test2 = new Test({ name: name2, work: work2, options: { ...options, ...extra }, location, parent, isSuite });
    return rootTest().begin(), isSuite && test2.declare(), parent === root && !isStarted && (isStarted = !0, parent.add({ run: () => root.runHooks("before", {}).catch((error) => root.fail("hookFailed", error)) }), parent.children.length = 0), parent.add(test2);
  }, starter = (name2, isSuite) => {
    let plain2 = { [name2](...given) {
      return start2(given, isSuite, plain2);
    } }[name2];
    for (let word2 of ["skip", "todo", "only"])
      plain2[word2] = { [word2](...given) {
        return start2(given, isSuite, plain2[word2], { [word2]: !0 });
      } }[word2];
    return plain2;
  }, addHook = (test2, hook, work2, options) => {
    if (typeof work2 != "function") throw invalidType("fn", "function", work2);
    test2.hooks[hook].push({ work: work2, timeout: options?.timeout ?? 1 / 0 });
  }, hookOf = (hook) => ({ [hook](work2, options) {
    addHook(current ?? rootTest(), hook, work2, options);
  } })[hook], test = starter("test", !1), suite = starter("suite", !0), mock = new MockTracker();
  Object.assign(test, {
    test,
    it: test,
    suite,
    describe: suite,
    ...Object.fromEntries(HOOKS.map((hook) => [hook, hookOf(hook)])),
    mock,
    run() {
      throw codedError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "run of node:test is not here: import the test files, or run each with `node FILE`");
    }
  });
  var test_default = test;

  // src/tty.js
  init_util();
  var none3 = (name2) => ({
    [name2]: class {
      constructor() {
        throw codedError(Error, "ERR_TTY_INIT_FAILED", `${name2} is not available in Tollhouse: a script has no terminal; use \`process.stdin\` and \`process.stdout\``);
      }
    }
  })[name2], tty_default = { isatty: () => !1, ReadStream: none3("ReadStream"), WriteStream: none3("WriteStream") };

  // src/index.js
  init_util();

  // src/v8.js
  init_absent();
  init_util();

  // src/v8-format.js
  init_buffer();
  var { native: native16 } = host, VERSION = 15, VIEWS = [
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
    DataView,
    Buffer2,
    BigInt64Array,
    BigUint64Array
  ], FLAGS = "gimyusdv", FLAG_BITS = { g: 1, i: 2, m: 4, y: 8, u: 16, s: 32, d: 128, v: 256 }, ERRORS = { EvalError: "E", RangeError: "R", ReferenceError: "F", SyntaxError: "S", TypeError: "T", URIError: "U" }, INT = 2 ** 31, isIndex = (key) => /^(0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1, isInt = (value) => Number.isInteger(value) && value >= -INT && value < INT && !Object.is(value, -0), Writer = class {
    #bytes = Buffer2.alloc(64);
    #length = 0;
    #ids = /* @__PURE__ */ new Map();
    constructor() {
      this.#byte(255), this.#byte(VERSION);
    }
    #room(more) {
      this.#length + more <= this.#bytes.length || (this.#bytes = Buffer2.concat([this.#bytes], Math.max(this.#bytes.length * 2, this.#length + more)));
    }
    #byte(byte) {
      this.#room(1), this.#bytes[this.#length++] = byte;
    }
    #tag(letter) {
      this.#byte(letter.charCodeAt(0));
    }
    #varint(number) {
      let left = number;
      for (; left >= 128; left = Math.floor(left / 128)) this.#byte(left % 128 | 128);
      this.#byte(left);
    }
    #double(number) {
      this.#room(8), this.#bytes.writeDoubleLE(number, this.#length), this.#length += 8;
    }
    #raw(bytes) {
      this.#room(bytes.length), this.#bytes.set(bytes, this.#length), this.#length += bytes.length;
    }
    #string(text3) {
      if (!/[^\0-\xff]/.test(text3)) {
        this.#tag('"'), this.#varint(text3.length), this.#raw(Buffer2.from(text3, "latin1"));
        return;
      }
      let bytes = Buffer2.from(text3, "utf16le"), size = bytes.length < 128 ? 1 : bytes.length < 128 ** 2 ? 2 : bytes.length < 128 ** 3 ? 3 : 4;
      (this.#length + 1 + size) % 2 === 1 && this.#byte(0), this.#tag("c"), this.#varint(bytes.length), this.#raw(bytes);
    }
    #bigInt(value) {
      let isNegative = value < 0n, digits = (isNegative ? -value : value).toString(16), length = value === 0n ? 0 : Math.ceil(digits.length / 16) * 8;
      digits = digits.padStart(length * 2, "0"), this.#varint(length * 2 + (isNegative ? 1 : 0)), length > 0 && this.#raw(Buffer2.from(digits, "hex").reverse());
    }
    #number(value) {
      isInt(value) ? (this.#tag("I"), this.#varint(value >= 0 ? value * 2 : -value * 2 - 1)) : (this.#tag("N"), this.#double(value));
    }
    write(value) {
      switch (typeof value) {
        case "undefined":
          return this.#tag("_");
        case "boolean":
          return this.#tag(value ? "T" : "F");
        case "number":
          return this.#number(value);
        case "bigint":
          return this.#tag("Z"), this.#bigInt(value);
        case "string":
          return this.#string(value);
        case "object":
          return value === null ? this.#tag("0") : this.#object(value);
        default:
          throw uncloneable(value);
      }
    }
    #object(object) {
      let known3 = this.#ids.get(object);
      if (known3 !== void 0) {
        this.#tag("^"), this.#varint(known3);
        return;
      }
      this.#ids.set(object, this.#ids.size), ArrayBuffer.isView(object) ? this.#view(object) : Array.isArray(object) && !native16.isProxy(object) ? this.#array(object) : (this.#writers[native16.isProxy(object) ? "Proxy" : native16.className(object)] ?? uncloneableObject)(object);
    }
    #view(view) {
      let number = Buffer2.isBuffer(view) ? 10 : VIEWS.findIndex((Class) => view instanceof Class);
      this.#tag("\\"), this.#varint(number), this.#varint(view.byteLength), this.#raw(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
    }
    // Writes properties, and returns how many there are.
    #properties(object, keys) {
      let count = 0;
      for (let key of keys)
        Object.hasOwn(object, key) && (isIndex(key) ? this.#number(Number(key)) : this.#string(key), this.write(object[key]), count++);
      return count;
    }
    #array(list) {
      let { length } = list, keys = Object.keys(list), isDense = keys.length >= length && (length === 0 || keys[length - 1] === String(length - 1));
      if (this.#tag(isDense ? "A" : "a"), this.#varint(length), isDense)
        for (let at2 = 0; at2 < length; at2++)
          at2 in list ? this.write(list[at2]) : this.#tag("-");
      let count = this.#properties(list, isDense ? keys.slice(length) : keys);
      this.#tag(isDense ? "$" : "@"), this.#varint(count), this.#varint(length);
    }
    #error(error) {
      this.#tag("r");
      let letter = ERRORS[error.name];
      letter !== void 0 && this.#tag(letter);
      let message = Object.getOwnPropertyDescriptor(error, "message")?.value;
      message !== void 0 && (this.#tag("m"), this.#string(String(message))), Object.hasOwn(error, "cause") && (this.#tag("c"), this.write(error.cause)), typeof error.stack == "string" && (this.#tag("s"), this.#string(error.stack)), this.#tag(".");
    }
    #writers = {
      __proto__: null,
      Object: (object) => {
        this.#tag("o");
        let count = this.#properties(object, Object.keys(object));
        this.#tag("{"), this.#varint(count);
      },
      Error: (error) => this.#error(error),
      Date: (date) => {
        this.#tag("D"), this.#double(date.getTime());
      },
      RegExp: (expression) => {
        this.#tag("R"), this.#string(expression.source), this.#varint([...expression.flags].reduce((bits, flag) => bits | FLAG_BITS[flag], 0));
      },
      Map: (map) => {
        this.#tag(";");
        let entries2 = [...map];
        for (let [key, value] of entries2)
          this.write(key), this.write(value);
        this.#tag(":"), this.#varint(entries2.length * 2);
      },
      Set: (set) => {
        this.#tag("'");
        let values2 = [...set];
        for (let value of values2) this.write(value);
        this.#tag(","), this.#varint(values2.length);
      },
      Boolean: (object) => this.#tag(object.valueOf() ? "y" : "x"),
      Number: (object) => {
        this.#tag("n"), this.#double(object.valueOf());
      },
      BigInt: (object) => {
        this.#tag("z"), this.#bigInt(object.valueOf());
      },
      String: (object) => {
        this.#tag("s"), this.#string(object.valueOf());
      },
      ArrayBuffer: (buffer2) => {
        this.#tag("B"), this.#varint(buffer2.byteLength), this.#raw(new Uint8Array(buffer2));
      }
    };
    finish() {
      return Buffer2.from(this.#bytes.subarray(0, this.#length));
    }
  }, uncloneable = (value) => new Error(`${String(value)} could not be cloned.`), uncloneableObject = (object) => {
    throw new Error(`#<${object.constructor?.name ?? "Object"}> could not be cloned.`);
  }, broken = () => new Error("Unable to deserialize cloned data."), Reader = class {
    #bytes;
    #at = 0;
    #objects = [];
    #version;
    constructor(bytes) {
      if (this.#bytes = Buffer2.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), this.#bytes[0] !== 255) throw new Error("Unable to deserialize cloned data due to invalid or unsupported version.");
      if (this.#at = 1, this.#version = this.#varint(), this.#version > VERSION) throw new Error("Unable to deserialize cloned data due to invalid or unsupported version.");
    }
    #byte() {
      if (this.#at >= this.#bytes.length) throw broken();
      return this.#bytes[this.#at++];
    }
    #tag() {
      let byte;
      do
        byte = this.#byte();
      while (byte === 0);
      return String.fromCharCode(byte);
    }
    #peek() {
      for (; this.#bytes[this.#at] === 0; ) this.#at++;
      return String.fromCharCode(this.#bytes[this.#at]);
    }
    #varint() {
      let number = 0;
      for (let factor = 1; ; factor *= 128) {
        let byte = this.#byte();
        if (number += (byte & 127) * factor, byte < 128) return number;
      }
    }
    #take(length) {
      if (length > this.#bytes.length - this.#at) throw broken();
      return this.#at += length, this.#bytes.subarray(this.#at - length, this.#at);
    }
    #double() {
      return this.#take(8).readDoubleLE(0);
    }
    #bigInt() {
      let bits = this.#varint(), bytes = Buffer2.from(this.#take(Math.floor(bits / 2))).reverse(), value = bytes.length === 0 ? 0n : BigInt(`0x${bytes.toString("hex")}`);
      return bits % 2 === 1 ? -value : value;
    }
    #string(tag = this.#tag()) {
      if (tag === '"') return this.#take(this.#varint()).toString("latin1");
      if (tag === "c") return this.#take(this.#varint()).toString("utf16le");
      if (tag === "S") return this.#take(this.#varint()).toString("utf8");
      throw broken();
    }
    #keep(object) {
      return this.#objects.push(object), object;
    }
    #readers = {
      __proto__: null,
      _: () => {
      },
      0: () => null,
      T: () => !0,
      F: () => !1,
      I: () => {
        let bits = this.#varint();
        return bits % 2 === 1 ? -(bits + 1) / 2 : bits / 2;
      },
      U: () => this.#varint(),
      N: () => this.#double(),
      Z: () => this.#bigInt(),
      '"': () => this.#string('"'),
      c: () => this.#string("c"),
      S: () => this.#string("S"),
      "^": () => {
        let id = this.#varint();
        if (id >= this.#objects.length) throw broken();
        return this.#objects[id];
      },
      o: () => this.#properties(this.#keep({}), "{", 1),
      A: () => this.#dense(),
      a: () => {
        let length = this.#varint();
        if (length >= 2 ** 32) throw broken();
        let list = this.#keep([]);
        return list.length = length, this.#properties(list, "@", 2);
      },
      D: () => this.#keep(new Date(this.#double())),
      y: () => this.#keep(Object(!0)),
      x: () => this.#keep(Object(!1)),
      n: () => this.#keep(Object(this.#double())),
      z: () => this.#keep(Object(this.#bigInt())),
      s: () => this.#keep(Object(this.#string())),
      R: () => {
        let source = this.#string(), bits = this.#varint();
        return this.#keep(new RegExp(source, [...FLAGS].filter((flag) => bits & FLAG_BITS[flag]).join("")));
      },
      ";": () => {
        let map = this.#keep(/* @__PURE__ */ new Map());
        for (; this.#peek() !== ":"; ) map.set(this.read(), this.read());
        return this.#end(map, 1);
      },
      "'": () => {
        let set = this.#keep(/* @__PURE__ */ new Set());
        for (; this.#peek() !== ","; ) set.add(this.read());
        return this.#end(set, 1);
      },
      B: () => {
        let bytes = this.#take(this.#varint());
        return this.#keep(new Uint8Array(bytes).buffer);
      },
      "\\": () => this.#view(),
      r: () => this.#error()
    };
    // Reads the tag at the end of an object, and the counts that follow it.
    #end(object, counts2) {
      this.#tag();
      for (let left = counts2; left > 0; left--) this.#varint();
      return object;
    }
    #properties(object, last2, counts2) {
      for (; this.#peek() !== last2; ) {
        let key = this.read();
        if (typeof key != "string" && typeof key != "number") throw broken();
        Object.defineProperty(object, key, { value: this.read(), writable: !0, enumerable: !0, configurable: !0 });
      }
      return this.#end(object, counts2);
    }
    #dense() {
      let length = this.#varint();
      if (length > this.#bytes.length - this.#at) throw broken();
      let list = this.#keep([]);
      list.length = length;
      for (let at2 = 0; at2 < length; at2++)
        this.#peek() === "-" ? this.#tag() : list[at2] = this.read();
      return this.#properties(list, "$", 2);
    }
    #view() {
      let id = this.#objects.push(void 0) - 1, Class = VIEWS[this.#varint()], bytes = this.#take(this.#varint());
      if (Class === void 0 || bytes.length % (Class.BYTES_PER_ELEMENT ?? 1) !== 0) throw broken();
      let { buffer: buffer2 } = new Uint8Array(bytes);
      return this.#objects[id] = Class === Buffer2 ? Buffer2.from(buffer2) : new Class(buffer2), this.#objects[id];
    }
    #error() {
      let id = this.#objects.push(void 0) - 1, [Class, message, stack] = [Error, void 0, void 0], options = {};
      for (let tag = this.#tag(); tag !== "."; tag = this.#tag()) {
        let name2 = Object.keys(ERRORS).find((known3) => ERRORS[known3] === tag);
        if (name2 !== void 0) Class = globalThis[name2];
        else if (tag === "m") message = this.#string();
        else if (tag === "c") options.cause = this.read();
        else if (tag === "s") stack = this.#string();
        else throw broken();
      }
      let error = new Class(message, options);
      return Object.defineProperty(error, "stack", { value: stack, writable: !0, configurable: !0 }), this.#objects[id] = error, error;
    }
    read() {
      let reader = this.#readers[this.#tag()];
      if (reader === void 0) throw broken();
      return reader();
    }
  };

  // src/v8.js
  var { native: native17 } = host, serialize = (value) => {
    let writer = new Writer();
    return writer.write(value), writer.finish();
  }, deserialize = (buffer2) => {
    if (!ArrayBuffer.isView(buffer2)) throw codedError(TypeError, "ERR_INVALID_ARG_TYPE", "buffer must be a TypedArray or a DataView");
    return new Reader(buffer2).read();
  }, getHeapStatistics = () => {
    let [used, limit2] = [native17.memoryUsed(), native17.memoryLimit()];
    return {
      total_heap_size: used,
      total_heap_size_executable: 0,
      total_physical_size: used,
      total_available_size: Math.max(limit2 - used, 0),
      used_heap_size: used,
      heap_size_limit: limit2,
      malloced_memory: 0,
      peak_malloced_memory: 0,
      does_zap_garbage: 0,
      number_of_native_contexts: 1,
      number_of_detached_contexts: 0,
      total_global_handles_size: 0,
      used_global_handles_size: 0,
      external_memory: 0
    };
  }, getHeapSpaceStatistics = () => {
    let [used, limit2] = [native17.memoryUsed(), native17.memoryLimit()];
    return [{ space_name: "new_space", space_size: used, space_used_size: used, space_available_size: Math.max(limit2 - used, 0), physical_space_size: used }];
  }, getHeapCodeStatistics = () => ({ code_and_metadata_size: 0, bytecode_and_metadata_size: 0, external_script_source_size: 0, cpu_profiler_metadata_size: 0 }), cachedDataVersionTag = () => 1, setFlagsFromString = (flags) => {
    if (typeof flags != "string") throw invalidType("flags", "string", flags);
  }, ABSENT2 = ["DefaultDeserializer", "DefaultSerializer", "Deserializer", "GCProfiler", "Serializer", "getHeapSnapshot", "queryObjects", "setHeapSnapshotNearHeapLimit", "stopCoverage", "takeCoverage", "writeHeapSnapshot"], v8_default = {
    cachedDataVersionTag,
    getHeapStatistics,
    getHeapSpaceStatistics,
    getHeapCodeStatistics,
    setFlagsFromString,
    deserialize,
    serialize,
    ...allAbsent("v8", ABSENT2, "the engine is QuickJS. Use `serialize` and `deserialize`, and `getHeapStatistics`")
  };

  // src/vm.js
  init_util();
  var { native: native18 } = host, { ownKeys, getOwnPropertyDescriptor: getOwnPropertyDescriptor2, defineProperty, deleteProperty } = Reflect, isObject3 = (value) => typeof value == "object" && value !== null || typeof value == "function", FOREIGN = ["DOMException", "atob", "btoa", "performance", "queueMicrotask", "navigator", "gc", "InternalError", "Iterator"], SHARED = {
    Array: ["toLocaleString"],
    BigInt: ["toLocaleString"],
    Date: ["toLocaleDateString", "toLocaleString", "toLocaleTimeString", "toString", "toTimeString"],
    Error: ["stack"],
    Number: ["toLocaleString"],
    String: ["localeCompare", "toLocaleLowerCase", "toLocaleUpperCase"]
  }, copyProperty = (from, to2, name2) => {
    let property = getOwnPropertyDescriptor2(from, name2);
    property !== void 0 && defineProperty(to2, name2, property);
  }, { console: mainConsole, Intl: Intl2, Math: mainMath, Error: MainError, WeakRef: MainWeakRef } = globalThis, mainPrototypes = Object.fromEntries(Object.keys(SHARED).map((name2) => [name2, globalThis[name2].prototype])), furnish = (global2) => {
    for (let name2 of FOREIGN) deleteProperty(global2, name2);
    for (let [name2, methods3] of Object.entries(SHARED))
      for (let method of methods3) copyProperty(mainPrototypes[name2], global2[name2].prototype, method);
    copyProperty(mainMath, global2.Math, "random"), copyProperty(mainMath, global2.Math, "hypot"), copyProperty(MainError, global2.Error, "captureStackTrace");
    let silent = Object.fromEntries(Object.keys(mainConsole).map((name2) => [name2, () => {
    }]));
    for (let [name2, value] of [["Intl", Intl2], ["WeakRef", MainWeakRef], ["console", silent]])
      defineProperty(global2, name2, { value, writable: !0, enumerable: !1, configurable: !0 });
  }, contexts = /* @__PURE__ */ new WeakMap(), Context = class {
    #sandbox;
    #global;
    #evaluate;
    #SyntaxError;
    // What the global object had at first.
    #first = /* @__PURE__ */ new Map();
    // Names that scripts have declared with `var` and `function`, which are properties of the sandbox now.
    #variables = /* @__PURE__ */ new Set();
    constructor(sandbox) {
      let lookUp2 = (name2) => name2 in sandbox ? [() => sandbox[name2], (value) => sandbox[name2] = value] : void 0, [global2, scope, evaluate] = native18.makeContext(lookUp2);
      furnish(global2), Object.setPrototypeOf(global2, scope);
      for (let name2 of ownKeys(global2)) this.#first.set(name2, getOwnPropertyDescriptor2(global2, name2).value);
      [this.#sandbox, this.#global, this.#evaluate] = [sandbox, global2, evaluate], this.#SyntaxError = this.#first.get("SyntaxError");
    }
    // Properties of the sandbox hide builtins.
    #uncover() {
      for (let name2 of ownKeys(this.#sandbox)) deleteProperty(this.#global, name2);
    }
    #moveDeclared() {
      for (let name2 of ownKeys(this.#global)) {
        let property = getOwnPropertyDescriptor2(this.#global, name2);
        !property.configurable || this.#first.has(name2) && Object.is(property.value, this.#first.get(name2)) || deleteProperty(this.#global, name2) && defineProperty(this.#sandbox, name2, property);
      }
    }
    // As in Node, a name of a variable cannot be that of a lexical declaration later.
    #declare(text3) {
      let [variables, lexical] = native18.declaredNames(text3), taken = lexical.find((name2) => this.#variables.has(name2));
      if (taken !== void 0) throw new this.#SyntaxError(`Identifier '${taken}' has already been declared`);
      for (let name2 of variables) this.#variables.add(name2);
    }
    run(text3, file, line, timeout) {
      this.#declare(text3), this.#uncover();
      try {
        return this.#evaluate(text3, file, line, timeout);
      } finally {
        this.#moveDeclared();
      }
    }
  }, isContext = (object) => {
    if (!isObject3(object)) throw invalidType("object", "object", object);
    return contexts.has(object);
  }, createContext = (sandbox = {}) => {
    let own = sandbox === constants6.DONT_CONTEXTIFY ? {} : sandbox;
    return isContext(own) || contexts.set(own, new Context(own)), own;
  }, contextOf = (sandbox) => {
    if (!isContext(sandbox)) throw invalidType("contextifiedObject", "an vm.Context", sandbox);
    return contexts.get(sandbox);
  }, optionsOf2 = (options) => {
    let given = typeof options == "string" ? { filename: options } : options ?? {};
    if (typeof given != "object") throw invalidType("options", "object", given);
    let { filename = "evalmachine.<anonymous>", lineOffset = 0 } = given;
    if (typeof filename != "string") throw invalidType("options.filename", "string", filename);
    if (typeof lineOffset != "number") throw invalidType("options.lineOffset", "number", lineOffset);
    return { file: filename, line: lineOffset + 1 };
  }, timeoutOf = (options) => {
    let timeout = typeof options == "object" ? options?.timeout : void 0;
    if (timeout === void 0) return 0;
    if (typeof timeout != "number") throw invalidType("options.timeout", "number", timeout);
    if (!Number.isInteger(timeout)) throw outOfRange("options.timeout", "an integer", timeout);
    if (timeout < 1 || timeout > 2 ** 32 - 1) throw outOfRange("options.timeout", ">= 1 && <= 4294967295", timeout);
    return timeout;
  }, withTimeout = (timeout, run2) => {
    try {
      return run2();
    } catch (error) {
      throw timeout > 0 && native18.hasTimedOut() ? codedError(Error, "ERR_SCRIPT_EXECUTION_TIMEOUT", `Script execution timed out after ${timeout}ms`) : error;
    }
  }, Script = class {
    #text;
    #place;
    constructor(code, options) {
      this.#text = `${code}`, this.#place = optionsOf2(options), native18.checkScript(this.#text, this.#place.file, this.#place.line), this.sourceMapURL = void 0;
    }
    runInThisContext(options) {
      let timeout = timeoutOf(options), { file, line } = this.#place;
      return withTimeout(timeout, () => native18.evaluateScript(this.#text, file, line, timeout));
    }
    runInContext(sandbox, options) {
      let context2 = contextOf(sandbox), timeout = timeoutOf(options), { file, line } = this.#place;
      return withTimeout(timeout, () => context2.run(this.#text, file, line, timeout));
    }
    runInNewContext(sandbox, options) {
      return this.runInContext(createContext(sandbox), options);
    }
  }, createScript = (code, options) => new Script(code, options), runInThisContext = (code, options) => new Script(code, options).runInThisContext(options), runInContext = (code, sandbox, options) => (contextOf(sandbox), new Script(code, options).runInContext(sandbox, options)), runInNewContext = (code, sandbox, options) => {
    let given = typeof options == "string" ? { filename: options } : options;
    return new Script(code, given).runInContext(createContext(sandbox), given);
  }, compileFunction = (code, parameters = [], options = {}) => {
    if (typeof code != "string") throw invalidType("code", "string", code);
    if (!Array.isArray(parameters)) throw invalidType("params", "an instance of Array", parameters);
    if (parameters.forEach((name2, at2) => {
      if (typeof name2 != "string") throw invalidType(`params[${at2}]`, "string", name2);
    }), options.contextExtensions?.length > 0) throw codedError(Error, "ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", "vm.compileFunction has no contextExtensions here: pass the values as parameters");
    let { file, line } = optionsOf2({ filename: "", ...options }), text3 = `(function (${parameters.join(",")}) {${code}
})`;
    return options.parsingContext === void 0 ? native18.evaluateScript(text3, file, line, 0) : contextOf(options.parsingContext).run(text3, file, line, 0);
  }, measureMemory = () => Promise.reject(codedError(Error, "ERR_CONTEXT_NOT_INITIALIZED", "vm.measureMemory is not here: use process.memoryUsage()")), constants6 = Object.freeze({
    __proto__: null,
    USE_MAIN_CONTEXT_DEFAULT_LOADER: /* @__PURE__ */ Symbol("vm_dynamic_import_main_context_default"),
    DONT_CONTEXTIFY: /* @__PURE__ */ Symbol("vm_context_no_contextify")
  }), vm_default = {
    Script,
    createContext,
    createScript,
    runInContext,
    runInNewContext,
    runInThisContext,
    isContext,
    compileFunction,
    measureMemory,
    constants: constants6
  };

  // src/worker_threads.js
  init_absent();
  init_util();
  var environment = /* @__PURE__ */ new Map(), { EventTarget: EventTarget2, Event } = globalThis, Worker = class {
    constructor() {
      throw codedError(
        Error,
        "ERR_FEATURE_UNAVAILABLE",
        'Worker is not available in Tollhouse: a script is one thread. Use `await Promise.all(\u2026)` for calls that wait, and `spawn("node", [file])` of `child_process` for a script of its own'
      );
    }
  }, MessageEvent = class extends Event {
    #data;
    #ports;
    constructor(type, { data = null, ports: ports2 = [] } = {}) {
      super(type), this.#data = data, this.#ports = ports2;
    }
    get data() {
      return this.#data;
    }
    get ports() {
      return this.#ports;
    }
  }, isMaking3 = !1, make3 = (Class) => {
    isMaking3 = !0;
    try {
      return new Class();
    } finally {
      isMaking3 = !1;
    }
  }, missing2 = (name2) => codedError(TypeError, "ERR_MISSING_ARGS", `Not enough arguments to ${name2}.postMessage`), holdOpen = () => setInterval(() => {
  }, 2 ** 31 - 1), Receiver = class extends EventTarget2 {
    #queue = [];
    // Wrappers of the listeners that `on` and `once` were given, by event and listener.
    #wrapped = /* @__PURE__ */ new Map();
    #handler = null;
    #isStarted = !1;
    #isClosed = !1;
    #held;
    // Delivers each message in a task of its own, as a trusted event.
    static deliver(receiver2, data) {
      receiver2.#isClosed || (receiver2.#queue.push(data), receiver2.#isStarted && setImmediate(() => receiver2.#next()));
    }
    static take(receiver2) {
      return receiver2.#queue.length === 0 ? void 0 : { message: receiver2.#queue.shift() };
    }
    #next() {
      this.#isClosed || !this.#isStarted || this.#queue.length === 0 || this.dispatchEvent(new MessageEvent("message", { data: this.#queue.shift() }));
    }
    start() {
      if (!(this.#isStarted || this.#isClosed)) {
        this.#isStarted = !0;
        for (let _2 of this.#queue) setImmediate(() => this.#next());
      }
    }
    static stop(receiver2) {
      receiver2.#isStarted = !1;
    }
    ref() {
      this.#isClosed || (this.#held ??= holdOpen());
    }
    unref() {
      clearInterval(this.#held), this.#held = void 0;
    }
    close() {
      return this.#isClosed ? !1 : (this.#isClosed = !0, this.unref(), setImmediate(() => this.dispatchEvent(new Event("close"))), !0);
    }
    get onmessage() {
      return this.#handler;
    }
    set onmessage(handler) {
      this.#handler = typeof handler == "function" ? handler : null;
    }
    #listen(name2, listener, once) {
      this.#wrapped.has(name2) || this.#wrapped.set(name2, /* @__PURE__ */ new Map());
      let wrapped = this.#wrapped.get(name2);
      if (wrapped.has(listener)) return this;
      let call2 = (event) => {
        once && wrapped.delete(listener), listener.call(this, name2 === "message" ? event.data : event);
      };
      return wrapped.set(listener, call2), this.addEventListener(name2, call2, { once }), this;
    }
    on(name2, listener) {
      return this.#listen(name2, listener, !1);
    }
    once(name2, listener) {
      return this.#listen(name2, listener, !0);
    }
    off(name2, listener) {
      let wrapped = this.#wrapped.get(name2);
      return this.removeEventListener(name2, wrapped?.get(listener) ?? listener), wrapped?.delete(listener), this;
    }
    addListener(name2, listener) {
      return this.on(name2, listener);
    }
    removeListener(name2, listener) {
      return this.off(name2, listener);
    }
  }, { deliver, take, stop: stop2 } = Receiver;
  for (let name2 of ["deliver", "take", "stop"]) delete Receiver[name2];
  var transferOf = (options) => typeof options == "object" && typeof options?.[Symbol.iterator] != "function" ? host.toTransferList(options?.transfer, "options.transfer") : host.toTransferList(options, "transferList"), MessagePort = class extends Receiver {
    #other;
    #isListened = !1;
    constructor() {
      if (!isMaking3) throw codedError(TypeError, "ERR_CONSTRUCT_CALL_INVALID", "Constructor cannot be called");
      super(), host.makeMovable(this);
    }
    static join(a2, b2) {
      [a2.#other, b2.#other] = [b2, a2];
    }
    #follow() {
      let isListened = super.onmessage !== null || host.listenerCount(this, "message") > 0;
      isListened !== this.#isListened && (this.#isListened = isListened, isListened ? (this.ref(), this.start()) : (this.unref(), stop2(this)));
    }
    get onmessage() {
      return super.onmessage;
    }
    set onmessage(handler) {
      super.onmessage = handler, this.#follow();
    }
    addEventListener(type, listener, options) {
      super.addEventListener(type, listener, options), this.#follow(), options?.signal !== void 0 && options.signal.addEventListener("abort", () => queueMicrotask(() => this.#follow()));
    }
    removeEventListener(type, listener) {
      super.removeEventListener(type, listener), this.#follow();
    }
    // A listener that is called once has been removed by then.
    dispatchEvent(event) {
      try {
        return super.dispatchEvent(event);
      } finally {
        this.#follow();
      }
    }
    postMessage(...given) {
      if (given.length === 0) throw missing2("MessagePort");
      let [message, options] = given, copy2 = host.cloneWith(message, transferOf(options), this);
      this.#other !== void 0 && deliver(this.#other, copy2);
    }
    close() {
      let other = this.#other;
      this.#other = void 0, super.close() && setImmediate(() => other?.close());
    }
  }, { join: join3 } = MessagePort;
  delete MessagePort.join;
  var MessageChannel = class {
    constructor() {
      this.port1 = make3(MessagePort), this.port2 = make3(MessagePort), join3(this.port1, this.port2);
    }
  }, channels2 = /* @__PURE__ */ new Map(), BroadcastChannel = class extends Receiver {
    #name;
    constructor(...given) {
      if (given.length === 0) throw codedError(TypeError, "ERR_MISSING_ARGS", 'The "name" argument must be specified');
      super(), this.#name = String(given[0]), channels2.set(this.#name, [...channels2.get(this.#name) ?? [], this]), this.start(), this.ref();
    }
    get name() {
      return this.#name;
    }
    postMessage(...given) {
      if (given.length === 0) throw missing2("BroadcastChannel");
      if (!channels2.get(this.#name).includes(this)) throw new DOMException("BroadcastChannel is closed.", "InvalidStateError");
      for (let other of channels2.get(this.#name)) other !== this && deliver(other, host.cloneWith(given[0], []));
    }
    close() {
      channels2.set(this.#name, channels2.get(this.#name).filter((other) => other !== this)), super.close();
    }
  }, worker_threads_default = {
    isMainThread: !0,
    isInternalThread: !1,
    parentPort: null,
    workerData: null,
    threadId: 0,
    resourceLimits: {},
    SHARE_ENV: /* @__PURE__ */ Symbol.for("nodejs.worker_threads.SHARE_ENV"),
    Worker,
    MessageChannel,
    MessagePort,
    BroadcastChannel,
    receiveMessageOnPort: take,
    markAsUntransferable() {
    },
    ...allAbsent("worker_threads", ["moveMessagePortToContext", "postMessageToThread"], "a script is one thread and one context of messages: use MessageChannel"),
    getEnvironmentData: (key) => environment.get(key),
    setEnvironmentData: (key, value) => {
      value === void 0 ? environment.delete(key) : environment.set(key, value);
    }
  };

  // src/zlib.js
  init_buffer();
  init_util();
  init_process();
  var { native: native19, asBytes: asBytes5 } = host, flushes = { Z_NO_FLUSH: 0, Z_PARTIAL_FLUSH: 1, Z_SYNC_FLUSH: 2, Z_FULL_FLUSH: 3, Z_FINISH: 4, Z_BLOCK: 5 }, results = {
    Z_OK: 0,
    Z_STREAM_END: 1,
    Z_NEED_DICT: 2,
    Z_ERRNO: -1,
    Z_STREAM_ERROR: -2,
    Z_DATA_ERROR: -3,
    Z_MEM_ERROR: -4,
    Z_BUF_ERROR: -5,
    Z_VERSION_ERROR: -6
  }, constants7 = Object.freeze(Object.assign(/* @__PURE__ */ Object.create(null), flushes, results, {
    Z_NO_COMPRESSION: 0,
    Z_BEST_SPEED: 1,
    Z_BEST_COMPRESSION: 9,
    Z_DEFAULT_COMPRESSION: -1,
    Z_FILTERED: 1,
    Z_HUFFMAN_ONLY: 2,
    Z_RLE: 3,
    Z_FIXED: 4,
    Z_DEFAULT_STRATEGY: 0,
    ZLIB_VERNUM: 4880,
    DEFLATE: 1,
    INFLATE: 2,
    GZIP: 3,
    GUNZIP: 4,
    DEFLATERAW: 5,
    INFLATERAW: 6,
    UNZIP: 7,
    BROTLI_DECODE: 8,
    BROTLI_ENCODE: 9,
    Z_MIN_WINDOWBITS: 8,
    Z_MAX_WINDOWBITS: 15,
    Z_DEFAULT_WINDOWBITS: 15,
    Z_MIN_CHUNK: 64,
    Z_MAX_CHUNK: 1 / 0,
    Z_DEFAULT_CHUNK: 16384,
    Z_MIN_MEMLEVEL: 1,
    Z_MAX_MEMLEVEL: 9,
    Z_DEFAULT_MEMLEVEL: 8,
    Z_MIN_LEVEL: -1,
    Z_MAX_LEVEL: 9,
    Z_DEFAULT_LEVEL: -1,
    BROTLI_OPERATION_PROCESS: 0,
    BROTLI_OPERATION_FLUSH: 1,
    BROTLI_OPERATION_FINISH: 2,
    BROTLI_OPERATION_EMIT_METADATA: 3,
    BROTLI_PARAM_MODE: 0,
    BROTLI_MODE_GENERIC: 0,
    BROTLI_MODE_TEXT: 1,
    BROTLI_MODE_FONT: 2,
    BROTLI_DEFAULT_MODE: 0,
    BROTLI_PARAM_QUALITY: 1,
    BROTLI_MIN_QUALITY: 0,
    BROTLI_MAX_QUALITY: 11,
    BROTLI_DEFAULT_QUALITY: 11,
    BROTLI_PARAM_LGWIN: 2,
    BROTLI_MIN_WINDOW_BITS: 10,
    BROTLI_MAX_WINDOW_BITS: 24,
    BROTLI_LARGE_MAX_WINDOW_BITS: 30,
    BROTLI_DEFAULT_WINDOW: 22,
    BROTLI_PARAM_LGBLOCK: 3,
    BROTLI_MIN_INPUT_BLOCK_BITS: 16,
    BROTLI_MAX_INPUT_BLOCK_BITS: 24,
    BROTLI_PARAM_DISABLE_LITERAL_CONTEXT_MODELING: 4,
    BROTLI_PARAM_SIZE_HINT: 5,
    BROTLI_PARAM_LARGE_WINDOW: 6,
    BROTLI_PARAM_NPOSTFIX: 7,
    BROTLI_PARAM_NDIRECT: 8,
    BROTLI_DECODER_PARAM_DISABLE_RING_BUFFER_REALLOCATION: 0,
    BROTLI_DECODER_PARAM_LARGE_WINDOW: 1
  })), codes = Object.freeze(Object.fromEntries(Object.entries(results).flatMap(([name2, number]) => [[name2, number], [number, name2]]))), { Z_FINISH, Z_FULL_FLUSH, Z_BUF_ERROR, Z_STREAM_END, Z_NEED_DICT } = constants7, CHUNK3 = 64 * 1024, MAX_LENGTH = 2 ** 32, bytesOf3 = (data, name2) => {
    if (typeof data == "string") return native19.encodeUtf8(data);
    let bytes = typeof data == "object" && data !== null ? asBytes5(data) : void 0;
    if (bytes === void 0) throw invalidType(name2, "string or an instance of Buffer, TypedArray, DataView, or ArrayBuffer", data);
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }, numberOption = (options, name2, low, high, standard) => {
    let value = options[name2];
    if (value === void 0 || Number.isNaN(value)) return standard;
    if (typeof value != "number") throw invalidType(`options.${name2}`, "number", value);
    if (!Number.isFinite(value)) throw outOfRange(`options.${name2}`, "a finite number", value);
    if (value < low || value > high) throw outOfRange(`options.${name2}`, `>= ${low} and <= ${high}`, value);
    return value;
  }, checked3 = (name2, given) => {
    let options = given ?? {}, inflates = /^(Inflate|Gunzip|Unzip)/.test(name2), window = inflates && options.windowBits === 0 ? 15 : numberOption(options, "windowBits", inflates ? 8 : name2 === "Gzip" ? 9 : 8, 15, 15);
    numberOption(options, "chunkSize", 64, 1 / 0, 16384);
    let dictionary = options.dictionary === void 0 ? void 0 : asBytes5(options.dictionary);
    if (options.dictionary !== void 0 && dictionary === void 0)
      throw invalidType("options.dictionary", "an instance of Buffer, TypedArray, DataView, or ArrayBuffer", options.dictionary);
    return {
      name: name2,
      brotli: name2.startsWith("Brotli"),
      level: numberOption(options, "level", -1, 9, -1),
      window,
      memory: numberOption(options, "memLevel", 1, 9, 8),
      strategy: numberOption(options, "strategy", 0, 4, 0),
      flush: numberOption(options, "flush", 0, 5, 0),
      // Brotli has another number for the operation that finishes.
      finishFlush: name2.startsWith("Brotli") && (options.finishFlush ?? 2) === 2 ? Z_FINISH : numberOption(options, "finishFlush", 0, 5, Z_FINISH),
      most: numberOption(options, "maxOutputLength", 1, MAX_LENGTH, MAX_LENGTH),
      dictionary: dictionary === void 0 ? new Uint8Array(0) : new Uint8Array(dictionary)
    };
  }, open2 = ({ name: name2, level, window, memory, strategy, dictionary }) => {
    if (name2 === "BrotliCompress")
      throw codedError(Error, "ERR_FEATURE_UNAVAILABLE", "compressing with Brotli is not available in Tollhouse, decompressing is: use `gzipSync` or `deflateSync`");
    return native19.openCodec(name2, level, window, memory, strategy, dictionary);
  }, brotliFaults = [
    "EXUBERANT_NIBBLE",
    "RESERVED",
    "EXUBERANT_META_NIBBLE",
    "SIMPLE_HUFFMAN_ALPHABET",
    "SIMPLE_HUFFMAN_SAME",
    "CL_SPACE",
    "HUFFMAN_SPACE",
    "CONTEXT_MAP_REPEAT",
    "BLOCK_LENGTH_1",
    "BLOCK_LENGTH_2",
    "TRANSFORM",
    "DICTIONARY",
    "WINDOW_BITS",
    "PADDING_1",
    "PADDING_2",
    "DISTANCE"
  ].map((name2) => `FORMAT_${name2}`), failure2 = (settings2, status, message) => {
    if (settings2.brotli) {
      let code = brotliFaults[-status - 1] ?? "UNREACHABLE";
      return Object.assign(new Error("Decompression failed"), { errno: status, code: `ERR__ERROR_${code}` });
    }
    return Object.assign(new Error(message ?? "Zlib error"), { errno: status, code: codes[status] });
  }, work = (codec, settings2, bytes, flush2, take2) => {
    for (let at2 = 0; ; ) {
      let [made3, taken, status, message] = native19.runCodec(codec, bytes, at2, flush2);
      if (at2 += taken, made3.length > 0 && take2(made3), status === Z_STREAM_END) return !0;
      if (status === Z_NEED_DICT || status < 0 && (settings2.brotli || status !== Z_BUF_ERROR)) throw failure2(settings2, status, message);
      if (made3.length !== CHUNK3) {
        if (flush2 === Z_FINISH) throw failure2({}, Z_BUF_ERROR, "unexpected end of file");
        return !1;
      }
    }
  }, gathered = (parts, length) => {
    let all3 = Buffer2.alloc(length), at2 = 0;
    for (let part of parts)
      all3.set(part, at2), at2 += part.length;
    return all3;
  }, convert = (settings2, bytes) => {
    let parts = [], length = 0;
    return work(open2(settings2), settings2, bytes, settings2.finishFlush, (part) => {
      if (length += part.length, length > settings2.most)
        throw codedError(RangeError, "ERR_BUFFER_TOO_LARGE", `Cannot create a Buffer larger than ${settings2.most} bytes`);
      parts.push(part);
    }), gathered(parts, length);
  }, ZlibBase = class extends stream_default.Transform {
    #state;
    constructor(name2, options) {
      let settings2 = checked3(name2, options), codec = open2(settings2);
      super({ autoDestroy: !0, ...options }), this.bytesWritten = 0, this.#state = { settings: settings2, codec, over: !1 };
    }
    #run(bytes, flush2, callback) {
      let state = this.#state;
      if (state.over) return callback();
      try {
        state.over = work(state.codec, state.settings, bytes, flush2, (part) => this.push(Buffer2.from(part.buffer)));
      } catch (error) {
        return state.over = !0, state.codec = void 0, callback(error);
      }
      return state.over && (state.codec = void 0), callback();
    }
    _destroy(error, callback) {
      this.#state !== void 0 && Object.assign(this.#state, { over: !0, codec: void 0 }), callback(error);
    }
    _transform(chunk, encoding, callback) {
      let bytes = bytesOf3(chunk, "chunk");
      this.bytesWritten += bytes.length, this.#run(bytes, this.#state.settings.flush, callback);
    }
    _flush(callback) {
      this.#run(new Uint8Array(0), this.#state.settings.finishFlush, callback);
    }
    flush(kind, callback) {
      (typeof kind == "function" || kind === void 0) && ([kind, callback] = [Z_FULL_FLUSH, kind]);
      let flushing = () => this.#run(new Uint8Array(0), kind, (error) => error ? this.destroy(error) : callback?.());
      this.writableLength > 0 ? this.once("drain", flushing) : process_default.nextTick(flushing);
    }
    reset() {
      let state = this.#state;
      this.#state = { ...state, codec: open2(state.settings), over: !1 };
    }
    params(level, strategy, callback) {
      let state = this.#state;
      if (state.settings.level === level && state.settings.strategy === strategy) return process_default.nextTick(callback);
      throw codedError(Error, "ERR_FEATURE_UNAVAILABLE", "a stream keeps its level and strategy here: make another one");
    }
    close(callback) {
      typeof callback == "function" && stream_default.finished(this, () => callback()), this.destroy();
    }
    get _closed() {
      return this.destroyed;
    }
  }, kinds2 = ["Deflate", "Inflate", "Gzip", "Gunzip", "DeflateRaw", "InflateRaw", "Unzip", "BrotliCompress", "BrotliDecompress"], zlib = {
    crc32(data, value = 0) {
      let bytes = bytesOf3(data, "data");
      if (typeof value != "number") throw invalidType("value", "number", value);
      if (!isWhole(value)) throw outOfRange("value", "an integer", value);
      if (value < 0 || value > 4294967295) throw outOfRange("value", ">= 0 && <= 4294967295", value);
      return native19.crc32(bytes, value);
    }
  };
  for (let kind of kinds2) {
    let Class = { [kind]: class extends ZlibBase {
      constructor(options) {
        super(kind, options);
      }
    } }[kind];
    zlib[kind] = new Proxy(Class, { apply: (target2, self2, values2) => new target2(...values2) }), Object.defineProperty(Class.prototype, "constructor", { value: zlib[kind], writable: !0, configurable: !0 });
    let name2 = kind[0].toLowerCase() + kind.slice(1);
    zlib[`${name2}Sync`] = { [`${name2}Sync`]: (buffer2, options) => convert(checked3(kind, options), bytesOf3(buffer2, "buffer")) }[`${name2}Sync`], zlib[name2] = {
      [name2](buffer2, options, callback) {
        if (typeof options == "function" && ([options, callback] = [void 0, options]), typeof callback != "function") throw invalidType("callback", "function", callback);
        let settings2 = checked3(kind, options), bytes = bytesOf3(buffer2, "buffer").slice();
        setImmediate(() => {
          let result;
          try {
            result = convert(settings2, bytes);
          } catch (error) {
            return callback(error);
          }
          return callback(null, result);
        });
      }
    }[name2], zlib[`create${kind}`] = { [`create${kind}`]: (options) => new Class(options) }[`create${kind}`];
  }
  Object.defineProperty(zlib, "constants", { value: constants7, enumerable: !0 });
  Object.defineProperty(zlib, "codes", { value: codes, enumerable: !0 });
  for (let [name2, value] of Object.entries(constants7)) name2 !== "BROTLI_DECODE" && name2 !== "BROTLI_ENCODE" && Object.defineProperty(zlib, name2, { value });
  var formats = { gzip: ["Gzip", "Gunzip"], deflate: ["Deflate", "Inflate"], "deflate-raw": ["DeflateRaw", "InflateRaw"] }, transformOf = (format4, at2) => {
    if (!Object.hasOwn(formats, format4))
      throw codedError(TypeError, "ERR_INVALID_ARG_VALUE", `The argument 'format' must be one of: 'deflate', 'deflate-raw', 'gzip'. Received ${host.inspect(format4)}`);
    let settings2 = checked3(formats[format4][at2], {}), codec = open2(settings2), over = !1, run2 = (bytes, flush2, controller) => {
      if (over) {
        if (bytes.length > 0 && at2 === 1) throw new TypeError("the compressed data ended before");
        return;
      }
      over = work(codec, settings2, bytes, flush2, (part) => controller.enqueue(part));
    };
    return new TransformStream({
      transform(chunk, controller) {
        let bytes = asBytes5(chunk);
        if (bytes === void 0 || typeof chunk == "string") throw invalidType("chunk", "an instance of Buffer, TypedArray, DataView, or ArrayBuffer", chunk);
        run2(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, controller);
      },
      flush: (controller) => run2(new Uint8Array(0), Z_FINISH, controller)
    });
  }, webStream = (name2, at2) => {
    let Class = {
      [name2]: class {
        #stream;
        constructor(format4) {
          this.#stream = transformOf(format4, at2);
        }
        get readable() {
          return this.#stream.readable;
        }
        get writable() {
          return this.#stream.writable;
        }
      }
    }[name2];
    return Object.defineProperty(Class.prototype, Symbol.toStringTag, { value: name2, configurable: !0 }), Class;
  }, CompressionStream = webStream("CompressionStream", 0), DecompressionStream = webStream("DecompressionStream", 1), zlib_default = zlib;

  // src/index.js
  addStreams(stream_default);
  var define3 = (name2, value) => Object.defineProperty(globalThis, name2, { value, writable: !0, enumerable: !1, configurable: !0 });
  define3("global", globalThis);
  define3("process", process_default);
  define3("Buffer", Buffer2);
  define3("CryptoKey", CryptoKey2);
  define3("Crypto", crypto_default.webcrypto.constructor);
  define3("SubtleCrypto", crypto_default.subtle.constructor);
  define3("Atomics", atomics_default);
  define3("shell", shell);
  define3("$", $);
  var ports = { BroadcastChannel, MessageChannel, MessageEvent, MessagePort };
  for (let [name2, value] of Object.entries({ ...webstreams_exports, ...web_exports, ...ports, CompressionStream, DecompressionStream })) define3(name2, value);
  var { makePerformance: makePerformance2, monitorEventLoopDelay: monitorEventLoopDelay2, constants: performanceConstants, ...performanceClasses } = perf_hooks_exports, performance2 = makePerformance2();
  for (let [name2, value] of Object.entries({ performance: performance2, ...performanceClasses })) define3(name2, value);
  var modules2 = Object.assign(/* @__PURE__ */ Object.create(null), {
    assert: assert_default,
    "assert/strict": assert_default.strict,
    async_hooks: {
      AsyncLocalStorage,
      AsyncResource,
      executionAsyncId: () => 1,
      triggerAsyncId: () => 0,
      ...allAbsent("async_hooks", ["createHook", "executionAsyncResource"], "operations have no identities. Use AsyncLocalStorage, or AsyncResource")
    },
    buffer: buffer_default,
    child_process: child_process_default,
    console: console_default,
    constants: { ...os_default.constants.errno, ...os_default.constants.priority, ...os_default.constants.signals, ...fs_default.constants },
    crypto: crypto_default,
    diagnostics_channel: diagnostics_channel_default,
    events: events_default,
    fs: fs_default,
    "fs/promises": promises,
    http,
    https,
    module: module_default,
    net: net_default,
    os: os_default,
    path: path_default,
    "path/posix": path_default,
    "path/win32": path_default.win32,
    perf_hooks: { performance: performance2, ...performanceClasses, createHistogram, monitorEventLoopDelay: monitorEventLoopDelay2, constants: performanceConstants },
    process: process_default,
    punycode: punycode_default,
    querystring: querystring_default,
    readline: readline_default,
    "readline/promises": promises2,
    stream: stream_default,
    "stream/consumers": stream_consumers_default,
    "stream/promises": stream_default.promises,
    "stream/web": { ...webstreams_exports, CompressionStream, DecompressionStream },
    string_decoder: string_decoder_default,
    test: test_default,
    timers: timers_default,
    sys: util_default,
    "timers/promises": promises3,
    tty: tty_default,
    url: url_default,
    util: util_default,
    "util/types": util_default.types,
    v8: v8_default,
    vm: vm_default,
    worker_threads: worker_threads_default,
    zlib: zlib_default
  }), LISTED = [
    "global",
    "clearImmediate",
    "setImmediate",
    "clearInterval",
    "clearTimeout",
    "setInterval",
    "setTimeout",
    "queueMicrotask",
    "structuredClone",
    "atob",
    "btoa",
    "performance",
    "fetch",
    "crypto"
  ];
  for (let name2 of LISTED) {
    let property = Object.getOwnPropertyDescriptor(globalThis, name2);
    delete globalThis[name2], Object.defineProperty(globalThis, name2, { ...property, enumerable: !0 });
  }
  var nameFunctions = (holder) => {
    for (let [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(holder)))
      typeof value != "function" || value.name === key || !/^[A-Za-z]\w*$/.test(key) || (value.name === "" || new RegExp(`^_?${key}\\d*$`).test(value.name)) && Object.defineProperty(value, "name", { value: key, configurable: !0 });
  };
  [globalThis, Buffer2, Buffer2.prototype, ...Object.values(modules2)].forEach(nameFunctions);
  Object.defineProperty(Buffer2, "TYPED_ARRAY_SUPPORT", { enumerable: !1 });
  process_default.getBuiltinModule = (name2) => {
    if (typeof name2 != "string") throw invalidType("id", "string", name2);
    return modules2[name2.replace(/^node:/, "")];
  };
  var index_default = modules2;
  return __toCommonJS(index_exports);
})();
