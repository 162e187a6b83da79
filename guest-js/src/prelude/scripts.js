// Nested scripts, which `shell` and `child_process` (`node/src`) run.

// Runs `{language, source, name, arguments, environment, directory}`. Returns the promise of its exit status, functions
// for its streams, and `stop`. An abort of `signal` stops it, too.
const runScript = (script, signal, below) => {
  const streams = native.newStreams();
  const stopping = newSignal();
  if (signal !== undefined) {
    if (isAborted(signal)) abortSignal(stopping, abortReason(signal));
    else whenAborted(signal, (reason) => abortSignal(stopping, reason));
  }
  const exited = perform(() => native.runScript(script, streams), below, undefined, stopping);
  return {
    __proto__: null,
    exited,
    // Resolves when the script has consumed the bytes and asks for more, and rejects when it has ended.
    write: (bytes, end) => perform(() => native.write(streams[0], bytes, end), below),
    // Returns the next bytes of standard output (1) or standard error (2); empty at the end.
    read: (which) => perform(() => native.read(streams[which], readSize), below),
    // Stops reading an output. A script that continues to write there ends, as with a broken pipe.
    close: (which) => perform(() => native.write(streams[which], new Uint8Array(0), true), below),
    stop: (reason) => abortSignal(stopping, reason),
  };
};

// Runs a nested script to its end within this step. `runToEnd` in `src/natives/scripts.rs` describes argument and
// result.
const runToEnd = (script, below) => {
  const ended = native.runToEnd(script);
  if (ended.failure !== undefined) throw failureError(ended.failure, captureStack(below));
  return ended;
};
