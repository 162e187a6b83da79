// Report of `node:test`: TAP, as Node writes it where standard output is no terminal.
import { inspect } from './util.js';

// Kinds of failures that are reported as the error of the script's own code.
const UNWRAPPED = ['testCodeFailure', 'hookFailed', 'uncaughtException', 'unhandledRejection'];

const escaped = (text) => {
  const controls = { '\b': '\\b', '\f': '\\f', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\v': '\\v' };
  return text.replace(/[\b\f\t\n\r\v]/g, (control) => controls[control]).replaceAll('\\', '\\\\').replaceAll('#', '\\#');
};

const yaml = (indent, name, value, seen) => {
  if (value === null || value === undefined) return `${indent}  ${name}: ~\n`;
  if (typeof value !== 'object') {
    const lines = typeof value === 'string' ? value.split(/\n|\r\n/) : [];
    if (lines.length < 2) return `${indent}  ${name}: ${inspect(value, { colors: false, breakLength: Infinity })}\n`;
    return `${indent}  ${name}: |-\n${lines.map((line) => `${indent}    ${line}\n`).join('')}`;
  }
  if (seen.has(value)) return `${indent}  ${name}: <Circular>\n`;
  seen.add(value);
  return `${indent}  ${name}:\n${Object.entries(value).map(([key, inner]) => yaml(`${indent}  `, key, inner, seen)).join('')}`;
};

const isAssertion = (error) => typeof error === 'object' && error !== null && 'expected' in error && 'actual' in error;

const failureText = (indent, { type, message, cause }) => {
  const seen = new Set();
  const own = UNWRAPPED.includes(type) && typeof cause === 'object' && cause !== null ? cause : {};
  let text = yaml(indent, 'failureType', type, seen);
  text += yaml(indent, 'error', own.message ?? message, seen);
  text += yaml(indent, 'code', own.code ?? 'ERR_TEST_FAILURE', seen);
  if (own.name && own.name !== 'Error') text += yaml(indent, 'name', own.name, seen);
  if (isAssertion(own)) {
    text += yaml(indent, 'expected', own.expected, seen) + yaml(indent, 'actual', own.actual, seen);
    if (own.operator) text += yaml(indent, 'operator', own.operator, seen);
  }
  const frames = typeof own.stack === 'string' ? own.stack.split('\n').filter((line) => /^\s+at\s/.test(line)) : [];
  if (frames.length > 0) text += `${indent}  stack: |-\n${frames.map((line) => `${indent}    ${line.replace(/^\s+at\s/, '')}\n`).join('')}`;
  return text;
};

const indentOf = (test) => '    '.repeat(test.nesting);

export const startLine = (test) => `${indentOf(test)}# Subtest: ${escaped(test.name)}\n`;
export const planLine = (nesting, count) => `${'    '.repeat(nesting)}1..${count}\n`;
export const noteLine = (nesting, note) => `${'    '.repeat(nesting)}# ${escaped(note)}\n`;
const directive = (word, reason) => (reason === undefined || reason === false ? '' : ` # ${word}${typeof reason === 'string' && reason !== '' ? ` ${escaped(reason)}` : ''}`);
export const resultText = (test) => {
  const indent = indentOf(test);
  const marks = directive('SKIP', test.skipped) || directive('TODO', test.isTodo);
  let text = `${indent}${test.failure === undefined ? 'ok' : 'not ok'} ${test.number} - ${escaped(test.name)}${marks}\n`;
  text += `${indent}  ---\n${yaml(indent, 'duration_ms', test.duration, new Set())}`;
  if (test.isSuite) text += yaml(indent, 'type', 'suite', new Set());
  if (test.failure !== undefined) text += yaml(indent, 'location', test.location, new Set()) + failureText(indent, test.failure);
  return `${text}${indent}  ...\n`;
};
