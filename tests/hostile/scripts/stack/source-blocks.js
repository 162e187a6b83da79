// Source text of nested blocks.
// status: failed
// error: exception
// name: RangeError

(0, eval)('{'.repeat(100_000) + '}'.repeat(100_000));
