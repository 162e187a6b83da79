// `tty`: no stream of a script is a terminal.
import { codedError } from './util.js';

const none = (name) =>
  ({
    [name]: class {
      constructor() {
        throw codedError(Error, 'ERR_TTY_INIT_FAILED', `${name} is not available in Tollhouse: a script has no terminal; use \`process.stdin\` and \`process.stdout\``);
      }
    },
  })[name];

export default { isatty: () => false, ReadStream: none('ReadStream'), WriteStream: none('WriteStream') };
