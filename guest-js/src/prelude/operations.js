// Continuations of operations, except for the calls in `src/calls.rs`. The other half of the table is in
// `src/operations.rs`.

// Continuations by number: `{resolve, reject}`. `reject` takes the host's record of a failure.
const outstanding = { __proto__: null };

const settle = (id, ok, value) => {
  firstTurn = false;
  const entry = outstanding[id];
  if (entry === undefined) return;
  delete outstanding[id];
  if (ok) entry.resolve(value);
  else entry.reject(value);
};

// Cancels an operation. Returns false if it is over already.
const cancelOperation = (id) => {
  if (!(id in outstanding)) return false;
  delete outstanding[id];
  native.cancel(id);
  return true;
};

// Returns a promise of the result of an operation, which `begin` starts, given the stack. `below` is the function that
// the script called: stacks of errors begin at its caller. An abort of `signal` cancels the operation.
const perform = (begin, below, method, signal) => {
  const stack = captureStack(below);
  return new Promise((resolve, reject) => {
    if (signal !== undefined && isAborted(signal)) {
      reject(abortReason(signal));
      return;
    }
    const id = begin(stack);
    let forget;
    const entry = {
      __proto__: null,
      resolve(value) {
        forget?.();
        resolve(value);
      },
      reject(record) {
        forget?.();
        reject(failureError(record, stack, method));
      },
    };
    outstanding[id] = entry;
    if (signal !== undefined) {
      forget = whenAborted(signal, (reason) => {
        if (cancelOperation(id)) reject(reason);
      });
    }
  });
};
