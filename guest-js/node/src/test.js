// `node:test`: tests, suites and hooks, run one after the other once the script has declared them.
import assert from './assert.js';
import process from './process.js';
import { MockTracker } from './test-mock.js';
import { noteLine, planLine, resultText, startLine } from './test-tap.js';
import { codedError, invalidType } from './util.js';

const { setTimeout: startTimer, clearTimeout: stopTimer, setImmediate: later } = globalThis;
const { now } = performance;
const clock = () => now.call(performance);

// Text of the report that is not yet written. As in Node, what tests print themselves comes first.
let report = '';
const write = (text) => {
  if (report === '') later(flush);
  report += text;
};
const flush = () => {
  if (report !== '') process.stdout.write(report);
  report = '';
};

const counts = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 };
const HOOKS = ['before', 'after', 'beforeEach', 'afterEach'];

const failureOf = (type, cause) => ({ type, cause, message: cause instanceof Error ? cause.message : typeof cause === 'string' ? cause : host.inspect(cause) });

// Calls a function of a test, which may take a callback or return a promise.
const call = (work, self, argument) =>
  work.length < 2
    ? Reflect.apply(work, self, [argument])
    : new Promise((resolve, reject) => {
        const result = Reflect.apply(work, self, [argument, (error) => (error ? reject(error) : resolve())]);
        if (typeof result?.then === 'function') reject(new Error('passed a callback but also returned a Promise'));
      });

// What Node says of a test that is marked as the only one; the others are run nevertheless.
const ONLY_NOTE = "'only' and 'runOnly' require the --test-only command-line option.";

class TestContext {
  #test;
  #mock;
  constructor(test) {
    this.#test = test;
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
    this.#mock ??= this.#test.mock = new MockTracker();
    return this.#mock;
  }
  get assert() {
    const test = this.#test;
    return Object.fromEntries(
      Object.entries(assert)
        .filter(([, value]) => typeof value === 'function' && !/^[A-Z]/.test(value.name))
        .map(([name, check]) => [name, (...values) => (test.asserted++, check(...values))]),
    );
  }
  plan(count) {
    if (typeof count !== 'number') throw invalidType('count', 'number', count);
    this.#test.planned = count;
  }
  diagnostic(message) {
    this.#test.notes.push(String(message));
  }
  skip(message) {
    this.#test.skipped = message ?? true;
  }
  todo(message) {
    this.#test.isTodo = message ?? true;
  }
  runOnly() {}
  test(...given) {
    const { location } = placeOf(this.test);
    this.#test.asserted++;
    return this.#test.add(new Test({ ...argumentsOf(given), location, parent: this.#test }));
  }
}
for (const hook of HOOKS) {
  TestContext.prototype[hook] = { [hook](work, options) { addHook(contextTest(this), hook, work, options); } }[hook];
}
const tests = new WeakMap();
const contextTest = (context) => tests.get(context);

class Test {
  children = [];
  notes = [];
  hooks = Object.fromEntries(HOOKS.map((hook) => [hook, []]));
  asserted = 0;
  #queue = Promise.resolve();
  #began;
  constructor({ name, work, options, location, parent, isSuite = false }) {
    const { skip, todo, timeout = Infinity, signal } = options;
    this.work = work ?? (() => {});
    this.name = name || work?.name || '<anonymous>';
    this.skipped = skip === undefined || skip === false ? undefined : skip;
    this.isTodo = todo === undefined || todo === false ? undefined : todo;
    Object.assign(this, { timeout, location, parent, isSuite });
    this.nesting = parent === undefined ? -1 : parent.nesting + 1;
    this.abort = new AbortController();
    this.signal = signal === undefined ? this.abort.signal : AbortSignal.any([signal, this.abort.signal]);
    if (this.skipped !== undefined) this.work = () => {};
    if (options.only) this.notes.push(ONLY_NOTE);
  }
  get fullName() {
    return this.parent?.parent === undefined ? this.name : `${this.parent.fullName} > ${this.name}`;
  }
  // Runs a new child after those before it.
  add(child) {
    this.children.push(child);
    child.number = this.children.length;
    if (this.isFinished) {
      child.failure = { type: 'parentAlreadyFinished', message: 'test could not be started because its parent finished' };
    }
    const run = this.#queue.then(() => child.run());
    this.#queue = run;
    return run;
  }
  // Waits until all children have run, also those that are added meanwhile.
  async finishChildren() {
    for (let queue; queue !== this.#queue; ) {
      queue = this.#queue;
      await queue;
    }
  }
  async runHooks(hook, argument, holder = this) {
    for (const { work, timeout } of holder.hooks[hook]) await this.#inTime(timeout, () => call(work, argument, argument));
  }
  // Calls the hooks for each test: those of the outermost suite first, or last after the test.
  async #runEach(hook, context) {
    const holders = [];
    for (let at = this.parent; at !== undefined; at = at.parent) holders.push(at);
    if (hook === 'beforeEach') holders.reverse();
    for (const holder of holders) await this.runHooks(hook, context, holder);
  }
  // Waits for a function, at most for the time that it may take.
  async #inTime(timeout, work) {
    let timer;
    const over = new Promise((_, reject) => {
      const stop = (type, message) => reject(Object.assign(new Error(message), { failure: { type, message } }));
      if (timeout !== Infinity) timer = startTimer(() => stop('testTimeoutFailure', `test timed out after ${timeout}ms`), timeout).unref();
      this.signal.addEventListener('abort', () => stop('testAborted', 'This operation was aborted'), { once: true });
    });
    try {
      await Promise.race([over, work()]);
    } finally {
      stopTimer(timer);
    }
  }
  fail(type, error) {
    this.failure ??= error?.failure ?? failureOf(type, error);
  }
  async #attempt(type, work) {
    try {
      await work();
    } catch (error) {
      this.fail(type, error);
    }
  }
  cancelChildren(message = 'test did not finish before its parent and was cancelled') {
    for (const child of this.children) {
      if (child.isFinished) continue;
      child.failure ??= { type: 'cancelledByParent', message };
      child.cancelChildren(message);
      child.abort.abort();
    }
  }
  async #runTest() {
    const context = new TestContext(this);
    tests.set(context, this);
    let isReady = false;
    await this.#attempt('hookFailed', async () => {
      if (this.skipped === undefined) await this.#runEach('beforeEach', context);
      isReady = true;
    });
    if (isReady) await this.#attempt('testCodeFailure', () => this.#inTime(this.timeout, () => call(this.work, context, context)));
    this.cancelChildren();
    await this.finishChildren();
    if (this.planned !== undefined && this.planned !== this.asserted) {
      this.fail('testCodeFailure', codedError(Error, 'ERR_TEST_FAILURE', `plan expected ${this.planned} assertions but received ${this.asserted}`));
    }
    await this.#attempt('hookFailed', () => this.runHooks('after', context));
    if (this.skipped === undefined) await this.#attempt('hookFailed', () => this.#runEach('afterEach', context));
    this.mock?.reset();
  }
  async #runSuite() {
    const context = { name: this.name, fullName: this.fullName, signal: this.signal };
    await this.#attempt('testCodeFailure', () => this.declared);
    await this.#attempt('hookFailed', () => this.runHooks('before', context));
    if (this.failure !== undefined) this.cancelChildren();
    this.open();
    await this.finishChildren();
    await this.#attempt('hookFailed', () => this.runHooks('after', context));
  }
  // Suites declare their children at once, and run them later.
  declare() {
    this.#queue = new Promise((resolve) => (this.open = resolve));
    const context = { name: this.name, fullName: this.fullName, signal: this.signal };
    const outer = current;
    current = this;
    try {
      this.declared = Promise.resolve(Reflect.apply(this.work, context, [context]));
      this.declared.catch(() => {});
    } catch (error) {
      this.fail('testCodeFailure', error);
    } finally {
      current = outer;
    }
  }
  async run() {
    this.#began = clock();
    write(startLine(this));
    if (this.failure === undefined || this.isSuite) await (this.isSuite ? this.#runSuite() : this.#runTest());
    const bad = this.children.filter((child) => child.failure !== undefined && child.isTodo === undefined).length;
    if (bad > 0) this.failure ??= { type: 'subtestsFailed', message: `${bad} subtest${bad > 1 ? 's' : ''} failed` };
    if (this.children.length > 0) write(planLine(this.nesting + 1, this.children.length));
    this.isFinished = true;
    this.duration = Math.round((clock() - this.#began) * 1e6) / 1e6;
    write(resultText(this));
    for (const note of this.notes) write(noteLine(this.nesting, note));
    this.#count();
  }
  #count() {
    if (this.isSuite) {
      counts.suites++;
    } else {
      counts.tests++;
      const isCancelled = ['cancelledByParent', 'testTimeoutFailure', 'testAborted', 'parentAlreadyFinished'].includes(this.failure?.type);
      const kind = this.skipped !== undefined ? 'skipped' : this.isTodo !== undefined ? 'todo' : isCancelled ? 'cancelled' : this.failure ? 'fail' : 'pass';
      counts[kind]++;
    }
    if (this.failure !== undefined && this.isTodo === undefined) process.exitCode = 1;
  }
}

// The tests of the script are the children of a test that is never shown.
let root;
let current;
const rootTest = () => {
  if (root !== undefined) return root;
  root = new Test({ name: '<root>', options: {}, isSuite: true });
  const begun = clock();
  let isBegun = false;
  root.begin = () => {
    if (isBegun) return;
    isBegun = true;
    write('TAP version 13\n');
  };
  process.once('beforeExit', () => finishRoot(begun));
  return root;
};
const finishRoot = async (begun) => {
  // Nothing can settle what is still waited for.
  root.cancelChildren('Promise resolution is still pending but the event loop has already resolved');
  await root.finishChildren();
  try {
    await root.runHooks('after', {});
  } catch (error) {
    process.exitCode = 1;
    root.notes.push(`Error: ${error?.message ?? error}`);
  }
  root.begin();
  write(planLine(0, root.children.length));
  for (const note of root.notes) write(noteLine(0, note));
  for (const [name, count] of Object.entries(counts)) write(noteLine(0, `${name} ${count}`));
  write(noteLine(0, `duration_ms ${clock() - begun}`));
  flush();
};

// Returns the place of the script that called a function of this module, as `{location}`.
const placeOf = (below) => {
  const frame = /\(?([^\s()]+:\d+:\d+)\)?$/.exec(host.cleanStack(host.captureStack(below)).split('\n')[0] ?? '');
  const place = frame?.[1] ?? '';
  return { location: place.startsWith('/') || place === '' ? place : host.mainPath() + place.slice(place.search(/:\d+:\d+$/)) };
};
const argumentsOf = (given) => {
  const name = given.find((value) => typeof value === 'string');
  const work = given.find((value) => typeof value === 'function');
  const options = given.find((value) => typeof value === 'object' && value !== null) ?? {};
  const { timeout } = options;
  if (timeout !== undefined && timeout !== Infinity && typeof timeout !== 'number') throw invalidType('options.timeout', 'number', timeout);
  return { name, work, options };
};

let isStarted = false;
const start = (given, isSuite, below, extra) => {
  const { location } = placeOf(below);
  const parent = current ?? rootTest();
  const { name, work, options } = argumentsOf(given);
  const test = new Test({ name, work, options: { ...options, ...extra }, location, parent, isSuite });
  rootTest().begin();
  if (isSuite) test.declare();
  if (parent === root && !isStarted) {
    isStarted = true;
    parent.add({ run: () => root.runHooks('before', {}).catch((error) => root.fail('hookFailed', error)) });
    parent.children.length = 0;
  }
  return parent.add(test);
};
const starter = (name, isSuite) => {
  const plain = { [name](...given) { return start(given, isSuite, plain); } }[name];
  for (const word of ['skip', 'todo', 'only']) {
    plain[word] = { [word](...given) { return start(given, isSuite, plain[word], { [word]: true }); } }[word];
  }
  return plain;
};

const addHook = (test, hook, work, options) => {
  if (typeof work !== 'function') throw invalidType('fn', 'function', work);
  test.hooks[hook].push({ work, timeout: options?.timeout ?? Infinity });
};
const hookOf = (hook) => ({ [hook](work, options) { addHook(current ?? rootTest(), hook, work, options); } })[hook];

const test = starter('test', false);
const suite = starter('suite', true);
const mock = new MockTracker();
Object.assign(test, {
  test,
  it: test,
  suite,
  describe: suite,
  ...Object.fromEntries(HOOKS.map((hook) => [hook, hookOf(hook)])),
  mock,
  run() {
    throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', 'run of node:test is not here: import the test files, or run each with `node FILE`');
  },
});
export default test;
