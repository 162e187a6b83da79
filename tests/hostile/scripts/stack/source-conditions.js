// Source text of nested conditions.
// status: failed
// error: exception
// name: RangeError

(0, eval)('1 ? '.repeat(200_000) + '1' + ': 0'.repeat(200_000));
