// Scripts that the script runs: what `shell` and `child_process` (`node/src`) stand on.

// Runs `{language, source, name, arguments, environment, directory}`. Gives the promise of its exit status, ways to its
// streams, and `stop`. An abort of `signal` stops it too.
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
    // Resolves when the script has taken the bytes and asks for more; rejects when it is gone.
    write: (bytes, end) => perform(() => native.write(streams[0], bytes, end), below),
    // The next bytes of its output (1) or errors (2); empty at the end.
    read: (which) => perform(() => native.read(streams[which], readSize), below),
    // Reads no more of it: a script that goes on writing there ends, as one does whose pipe is broken.
    close: (which) => perform(() => native.write(streams[which], new Uint8Array(0), true), below),
    stop: (reason) => abortSignal(stopping, reason),
  };
};

// Runs such a script to its end, within this step. What it is to be given and gives is `runToEnd` in `src/natives/scripts.rs`.
const runToEnd = (script, below) => {
  const ended = native.runToEnd(script);
  if (ended.failure !== undefined) throw failureError(ended.failure, captureStack(below));
  return ended;
};
