// Last file of the prelude: sets what differs between runs, and returns the functions for the runtime.

// Environment variables that every process has. The shell sets the same ones.
const WORKSPACE = '/workspace';
const defineDirectories = (directory) => {
  defineShown(environment, 'HOME', directory);
  defineShown(environment, 'PWD', directory);
};
defineShown(environment, 'HOME', WORKSPACE);
defineShown(environment, 'USER', 'agent');
defineShown(environment, 'PATH', '/usr/local/bin:/usr/bin:/bin');
defineShown(environment, 'PWD', WORKSPACE);

const begin = (values, variables, directory, name, fromFile) => {
  startDirectory = directory;
  scriptName = name;
  isFromFile = fromFile;
  scriptStart = native.now();
  args = values;
  defineGlobal('args', values);
  if (directory !== WORKSPACE) defineDirectories(directory);
  for (let i = 0; i < variables.length; i++) defineShown(environment, variables[i][0], variables[i][1]);
  defineTools();
};

// The generator of the engine has the same state in all instances of the image, so it is replaced.
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
  onHandled,
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
  mainArguments,
};
