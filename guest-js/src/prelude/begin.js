// The last file: makes what differs from run to run, and hands the runtime its functions.

const begin = (values, variables, directory) => {
  startDirectory = directory;
  scriptStart = native.now();
  defineGlobal('args', values);
  const env = {};
  for (let i = 0; i < variables.length; i++) {
    defineShown(env, variables[i][0], variables[i][1]);
  }
  defineGlobal('env', env);
  defineTools();
};

// Of all images this one's own generator has the same state.
define(globalThis.Math, 'random', native.random);

return { __proto__: null, begin, settle, describe, findState, keepState };
