// Functions of the prelude that Node's modules (`node/src`) use. None of them can do more than a script may.

// Exit status that the script has set through `process`.
let exitCode;
// Events of `process`: `{emit, count, warn}`, set by `node/src/process.js`.
let processEvents = { __proto__: null, emit: () => false, count: () => 0, warn: () => {} };

// Returns the exit status in eight bits, as the system keeps it.
const exitStatus = () => ((Number(exitCode ?? 0) % 256) + 256) % 256;

let exiting = false;
const runExitListeners = (code) => {
  if (exiting) return;
  exiting = true;
  processEvents.emit('exit', code);
};

const exitNow = (code) => {
  if (code !== undefined) exitCode = code;
  runExitListeners(exitCode ?? 0);
  native.exit(exitStatus());
};

// Called when nothing is left to do; a listener may begin something.
const beforeExit = () => void processEvents.emit('beforeExit', exitCode ?? 0);

// Returns the error that Node throws for a rejection whose reason is not an error.
const unhandledReason = (reason) => {
  if (native.className(reason) === 'Error') return reason;
  const message =
    'This error originated either by throwing inside of an async function without a catch block, or by rejecting a ' +
    'promise which was not handled with .catch(). The promise rejected with the reason "' +
    (isObject(reason) ? inspectSafely(reason) : String(reason)) +
    '".';
  const error = defineCode(new Error(message), 'ERR_UNHANDLED_REJECTION');
  define(error, 'name', 'UnhandledPromiseRejection');
  return error;
};

// Promises that listeners of `unhandledRejection` were told of.
const toldRejections = new WeakMap();

// Called when a rejected promise gets a handler that it did not have when the script was told of it.
const onHandled = (promise) => {
  if (weakHas(toldRejections, promise) && processEvents.count('rejectionHandled') > 0)
    promiseThen(resolved, () => queueTick(() => processEvents.emit('rejectionHandled', promise), []));
};

// Calls the listeners for a value that nothing has caught. `promise` is the promise that was rejected with it, if there
// is one. Returns the exit status if the script must end, and undefined if it continues.
const onUncaught = (thrown, promise) => {
  const { emit, count } = processEvents;
  if (promise !== undefined && emit('unhandledRejection', thrown, promise)) {
    weakSet(toldRejections, promise, true);
    return undefined;
  }
  const origin = promise === undefined ? 'uncaughtException' : 'unhandledRejection';
  if (count('uncaughtExceptionMonitor') > 0) emit('uncaughtExceptionMonitor', thrown, origin);
  if (count('uncaughtException') > 0) {
    emit('uncaughtException', promise === undefined ? thrown : unhandledReason(thrown), origin);
    return undefined;
  }
  exitCode = 1;
  runExitListeners(1);
  return exitCode === undefined ? 1 : exitStatus();
};

// Called when the script has come to its end by itself.
const finish = () => {
  runExitListeners(exitCode ?? 0);
  return exitStatus();
};

// Returns the method of the tool behind `fetch`: `http/fetch`, or the same under another alias.
const fetchMethod = () => {
  const direct = native.methodOf('http/fetch');
  if (direct.length > 0) return direct[1];
  const tools = native.allTools();
  for (let i = 0; i < tools.length; i++) if (endsWith(tools[i].method, '/fetch')) return tools[i].method;
  return undefined;
};

// Makes a request through the `http` tool, and therefore through the gate. Returns the promise of the tool's response.
const fetchThroughTool = (request, signal, below) => {
  const method = fetchMethod();
  if (method === undefined) {
    const error = usageError(
      CapabilityError,
      'fetch goes through the tool `http`, which is not mounted',
      below,
      'capability',
      "`--allow-net HOST`, or in a policy: mount tollhouse:http, grant `http/fetch`, and allow the host: `[tool.http] http = [\"HOST\"]`",
    );
    return rejected(error);
  }
  // The fragment after `#` is not part of a request.
  const end = indexOf(request.url, '#');
  if (end >= 0) request.url = substring(request.url, 0, end);
  return perform((stack) => native.call(method, request, stack), below, method, signal);
};

const host = {
  __proto__: null,
  native: {
    __proto__: null,
    className: native.className,
    promiseState: native.promiseState,
    isProxy: native.isProxy,
    digest: native.digest,
    shake: native.shake,
    makeContext: native.makeContext,
    evaluateScript: native.evaluateScript,
    checkScript: native.checkScript,
    declaredNames: native.declaredNames,
    idle: native.idle,
    hasTimedOut: native.hasTimedOut,
    hmac: native.hmac,
    hmacRounds: native.hmacRounds,
    scryptMix: native.scryptMix,
    aesBlocks: native.aesBlocks,
    aesStream: native.aesStream,
    aesGcmCounter: native.aesGcmCounter,
    aesGcmTag: native.aesGcmTag,
    openCodec: native.openCodec,
    runCodec: native.runCodec,
    crc32: native.crc32,
    randomBytes: native.randomBytes,
    random: native.random,
    encodeUtf8: native.encodeUtf8,
    decodeUtf8Lossy: native.decodeUtf8Lossy,
    decodeUtf8: native.decodeUtf8,
    encodeBase64: native.encodeBase64,
    decodeBase64: native.decodeBase64,
    domainToAscii: native.domainToAscii,
    domainToUnicode: native.domainToUnicode,
    zoneName: native.zoneName,
    zoneAt: native.zoneAt,
    localeData: native.localeData,
    segmentEnds: native.segmentEnds,
    openCollator: native.openCollator,
    compareTexts: native.compareTexts,
    now: native.now,
    stdout: native.stdout,
    stderr: native.stderr,
    outputBytes: native.outputBytes,
    stat: native.stat,
    readDirectory: native.readDirectory,
    readPart: native.readPart,
    memoryUsed: native.memoryUsed,
    memoryLimit: native.memoryLimit,
    asyncContext: native.asyncContext,
    setAsyncContext: native.setAsyncContext,
    scriptText: native.scriptText,
    callText: native.callText,
  },
  fs: fsSync,
  fileError,
  systemError,
  errnos,
  Stats,
  Dirent,
  toPath,
  asBytes,
  toHex,
  fromHex,
  toLatin1,
  inspect,
  setPublicInspect(given) {
    publicInspect = given;
  },
  formatLine,
  received,
  makeConsole,
  inspectOptions: standardOptions,
  inspectColors: colors,
  inspectStyles: styles,
  redirectConsole(toStderr, write) {
    sinks[toStderr ? 'err' : 'out'] = write;
  },
  captureStack,
  cleanStack,
  indentFrames,
  args: () => args,
  env,
  cwd: () => startDirectory,
  absolutePath: (path) => absolutePath(path, startDirectory),
  chdir(path) {
    const at = absolutePath(toPath(path, 'chdir'), startDirectory);
    const kind = kindAt(at);
    if (kind !== 'directory') throw fileError(kind === undefined ? 'ENOENT' : 'ENOTDIR', 'chdir', startDirectory, String(path));
    startDirectory = at;
  },
  fileMask: () => fileMask,
  setFileMask(mask) {
    fileMask = mask;
  },
  mainPath,
  scriptStart: () => scriptStart,
  exit: exitNow,
  // Ends the script at once; listeners for its end are not called.
  exitBySignal: (number) => native.exit(128 + number),
  exitCode: () => exitCode,
  setExitCode(code) {
    exitCode = code;
  },
  connectEvents(events) {
    processEvents = events;
  },
  describeJsonFaults(describe) {
    describeJsonFault = describe;
  },
  queueTick,
  callLater,
  bindCallbacks(bind) {
    bindCallback = bind;
  },
  uncaught: native.uncaught,
  readStdin: () => readSome(host.readStdin),
  readStdinNow: readNow,
  readAllStdinNow: readAllNow,
  runScript,
  runToEnd,
  fetch: fetchThroughTool,
  objectUrls: new Map(),
  causedBy,
  nodeError,
  signalOf,
  makeRequire: (base) => makeRequire(base),
  compileModule,
  moduleCache: commonCache,
  moduleLoaders: loaders,
  packagePaths,
  pathOfUrl: (url) => decodePath(substring(url, 7)),
  checkSyntax: (text, name) => native.checkSyntax(text, name),
  builtinNames: () => objectKeys(builtins),
  defineClassName: define,
  timers: timerFunctions,
  stateOfSignal: stateOf,
  cloneWith,
  toTransferList,
  makeMovable: (port) => weakSet(movable, port, true),
  makeCopyable: (object, copy) => weakSet(copyable, object, copy),
  listenerCount,
  listenersTo,
};

const install = (modules) => {
  builtins = modules;
};
