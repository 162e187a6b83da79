// Node's modules, and the globals that come with them. They are evaluated once, when the host is built, so that unused
// ones cost a script nothing.

import { allAbsent } from './absent.js';
import assert from './assert.js';
import Atomics from './atomics.js';
import { AsyncLocalStorage, AsyncResource } from './async_hooks.js';
import buffer, { Buffer } from './buffer.js';
import childProcess from './child_process.js';
import console from './console.js';
import crypto, { CryptoKey } from './crypto.js';
import diagnosticsChannel from './diagnostics_channel.js';
import EventEmitter from './events.js';
import fs, { promises as fsPromises } from './fs.js';
import { createHistogram } from './histogram.js';
import { http, https } from './http.js';
import './intl.js';
import './json.js';
import module from './module.js';
import net from './net.js';
import os from './os.js';
import path from './path.js';
import * as perfHooks from './perf_hooks.js';
import process, { addStreams } from './process.js';
import punycode from './punycode.js';
import querystring from './querystring.js';
import readline, { promises as readlinePromises } from './readline.js';
import { $, shell } from './shell.js';
import stream from './stream.js';
import consumers from './stream-consumers.js';
import './stream-web.js';
import stringDecoder from './string_decoder.js';
import test from './test.js';
import timers, { promises as timersPromises } from './timers.js';
import tty from './tty.js';
import url from './url.js';
import util, { invalidType } from './util.js';
import v8 from './v8.js';
import vm from './vm.js';
import * as web from './web.js';
import * as webStreams from './webstreams.js';
import workerThreads, { BroadcastChannel, MessageChannel, MessageEvent, MessagePort } from './worker_threads.js';
import zlib, { CompressionStream, DecompressionStream } from './zlib.js';

addStreams(stream);

const define = (name, value) =>
  Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
define('global', globalThis);
define('process', process);
define('Buffer', Buffer);
define('CryptoKey', CryptoKey);
define('Crypto', crypto.webcrypto.constructor);
define('SubtleCrypto', crypto.subtle.constructor);
define('Atomics', Atomics);
define('shell', shell);
define('$', $);
const ports = { BroadcastChannel, MessageChannel, MessageEvent, MessagePort };
for (const [name, value] of Object.entries({ ...webStreams, ...web, ...ports, CompressionStream, DecompressionStream })) define(name, value);

const { makePerformance, monitorEventLoopDelay, constants: performanceConstants, ...performanceClasses } = perfHooks;
const performance = makePerformance();
for (const [name, value] of Object.entries({ performance, ...performanceClasses })) define(name, value);
const modules = Object.assign(Object.create(null), {
  assert,
  'assert/strict': assert.strict,
  async_hooks: {
    AsyncLocalStorage,
    AsyncResource,
    executionAsyncId: () => 1,
    triggerAsyncId: () => 0,
    ...allAbsent('async_hooks', ['createHook', 'executionAsyncResource'], 'operations have no identities. Use AsyncLocalStorage, or AsyncResource'),
  },
  buffer,
  child_process: childProcess,
  console,
  constants: { ...os.constants.errno, ...os.constants.priority, ...os.constants.signals, ...fs.constants },
  crypto,
  diagnostics_channel: diagnosticsChannel,
  events: EventEmitter,
  fs,
  'fs/promises': fsPromises,
  http,
  https,
  module,
  net,
  os,
  path,
  'path/posix': path,
  'path/win32': path.win32,
  perf_hooks: { performance, ...performanceClasses, createHistogram, monitorEventLoopDelay, constants: performanceConstants },
  process,
  punycode,
  querystring,
  readline,
  'readline/promises': readlinePromises,
  stream,
  'stream/consumers': consumers,
  'stream/promises': stream.promises,
  'stream/web': { ...webStreams, CompressionStream, DecompressionStream },
  string_decoder: stringDecoder,
  test,
  timers,
  sys: util,
  'timers/promises': timersPromises,
  tty,
  url,
  util,
  'util/types': util.types,
  v8,
  vm,
  worker_threads: workerThreads,
  zlib,
});

// Globals that a script finds when it lists them, in Node's order.
const LISTED = [
  'global', 'clearImmediate', 'setImmediate', 'clearInterval', 'clearTimeout', 'setInterval', 'setTimeout', 'queueMicrotask', 'structuredClone', 'atob',
  'btoa', 'performance', 'fetch', 'crypto',
];
for (const name of LISTED) {
  const property = Object.getOwnPropertyDescriptor(globalThis, name);
  delete globalThis[name];
  Object.defineProperty(globalThis, name, { ...property, enumerable: true });
}

// Restores the names of functions and classes that the bundler renamed because they are not unique (`Buffer3`), since
// scripts can see them.
const nameFunctions = (holder) => {
  for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(holder))) {
    if (typeof value !== 'function' || value.name === key || !/^[A-Za-z]\w*$/.test(key)) continue;
    if (value.name === '' || new RegExp(`^_?${key}\\d*$`).test(value.name)) Object.defineProperty(value, 'name', { value: key, configurable: true });
  }
};
[globalThis, Buffer, Buffer.prototype, ...Object.values(modules)].forEach(nameFunctions);
Object.defineProperty(Buffer, 'TYPED_ARRAY_SUPPORT', { enumerable: false });

process.getBuiltinModule = (name) => {
  if (typeof name !== 'string') throw invalidType('id', 'string', name);
  return modules[name.replace(/^node:/, '')];
};

export default modules;
