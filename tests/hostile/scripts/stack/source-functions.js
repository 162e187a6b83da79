// Source text of nested functions.
// status: limited
// error: limit

(0, eval)('(() => '.repeat(20_000) + '1' + ')'.repeat(20_000));
