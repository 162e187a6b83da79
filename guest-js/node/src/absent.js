// Functions and classes of Node that are not here: each throws an error that says what to use instead.
import { codedError } from './util.js';

export const absent = (module, name, hint) =>
  ({
    // A function, since some are called with `new`.
    [name]: function () {
      throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `${module}.${name} is not here: ${hint}`);
    },
  })[name];

/** Returns an object of functions that are not here, by their names. */
export const allAbsent = (module, names, hint) => Object.fromEntries(names.map((name) => [name, absent(module, name, hint)]));
