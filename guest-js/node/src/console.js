// `console.Console`: a console that writes to streams of the script's own.
export class Console {
  constructor(first, ...rest) {
    const given = typeof first?.write === 'function' ? { stdout: first, stderr: rest[0] } : first;
    const { stdout, stderr = stdout } = given ?? {};
    for (const [name, stream] of Object.entries({ stdout, stderr })) {
      if (typeof stream?.write !== 'function') throw Object.assign(new TypeError(`Console expects a writable stream instance for ${name}`), { code: 'ERR_CONSOLE_WRITABLE_STREAM' });
    }
    Object.assign(this, host.makeConsole((text) => void stdout.write(text), (text) => void stderr.write(text)));
  }
  // As in Node, what writes to the process's own streams is a console of this class too.
  static [Symbol.hasInstance](value) {
    return value === globalThis.console || Function.prototype[Symbol.hasInstance].call(this, value);
  }
}
globalThis.console.Console = Console;
export default globalThis.console;
