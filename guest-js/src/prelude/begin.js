// The last file: makes what differs from run to run, and hands the runtime its functions.

const begin = (values, variables, directory, name, fromFile) => {
  startDirectory = directory;
  scriptName = name;
  isFromFile = fromFile;
  scriptStart = native.now();
  args = values;
  defineGlobal('args', values);
  // What every process has, and the commands that this one begins: the shell has the same.
  const usual = [['HOME', directory], ['USER', 'agent'], ['PATH', '/usr/local/bin:/usr/bin:/bin'], ['PWD', directory]];
  for (let i = 0; i < usual.length; i++) defineShown(environment, usual[i][0], usual[i][1]);
  for (let i = 0; i < variables.length; i++) defineShown(environment, variables[i][0], variables[i][1]);
  defineTools();
};

// Of all images this one's own generator has the same state.
define(globalThis.Math, 'random', native.random);

return {
  __proto__: null,
  begin,
  settle,
  failureError,
  describe,
  runTicks,
  beginImmediates,
  onUncaught,
  beforeExit,
  findState,
  keepState,
  finish,
  beginTyped,
  declareTyped,
  hasImports,
  showTyped,
  host,
  install,
  resolve: resolveModule,
  load: loadModule,
  mainScope,
  mainThis,
};
