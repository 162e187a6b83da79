// `console.Console`: a console that writes to streams of the script.
import { codedError, invalidType, isWhole, outOfRange } from './util.js';

export class Console {
  constructor(first, ...rest) {
    const given = typeof first?.write === 'function' ? { stdout: first, stderr: rest[0] } : first;
    const { stdout, stderr = stdout, groupIndentation = 2, inspectOptions } = given ?? {};
    for (const [name, stream] of Object.entries({ stdout, stderr })) {
      if (typeof stream?.write !== 'function') throw codedError(TypeError, 'ERR_CONSOLE_WRITABLE_STREAM', `Console expects a writable stream instance for ${name}`);
    }
    if (typeof groupIndentation !== 'number') throw invalidType('groupIndentation', 'number', groupIndentation);
    if (!isWhole(groupIndentation)) throw outOfRange('groupIndentation', 'an integer', groupIndentation);
    if (groupIndentation < 0 || groupIndentation > 1000) throw outOfRange('groupIndentation', '>= 0 && <= 1000', groupIndentation);
    const options = { step: ' '.repeat(groupIndentation), inspectOptions };
    Object.assign(this, host.makeConsole((text) => void stdout.write(text), (text) => void stderr.write(text), options));
  }
  // As in Node, a console that writes to the process's own streams is an instance, too.
  static [Symbol.hasInstance](value) {
    return value === globalThis.console || Function.prototype[Symbol.hasInstance].call(this, value);
  }
}
globalThis.console.Console = Console;
// Marks for profilers, of which there is none here.
for (const name of ['profile', 'profileEnd', 'timeStamp']) globalThis.console[name] = { [name]() {} }[name];
export default globalThis.console;
