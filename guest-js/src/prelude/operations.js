// What is to happen when an operation completes, but for calls in `src/calls.rs`: the other half of `src/operations.rs`.

// By number: `{resolve, reject}`. `reject` takes the host's record of a failure.
const outstanding = { __proto__: null };

const settle = (id, ok, value) => {
  firstTurn = false;
  const entry = outstanding[id];
  if (entry === undefined) return;
  delete outstanding[id];
  if (ok) entry.resolve(value);
  else entry.reject(value);
};

// Gives an operation up. False if it is over already.
const cancelOperation = (id) => {
  if (!(id in outstanding)) return false;
  delete outstanding[id];
  native.cancel(id);
  return true;
};

// A promise of what the operation that `begin` begins, given the stack, will bring. `below` is the function that the script called:
// the stack of an error begins where it did so. An abort of `signal` gives the operation up.
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
