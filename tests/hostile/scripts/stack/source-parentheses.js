// Source text of nested parentheses.
// status: limited
// error: limit

(0, eval)('('.repeat(100_000) + '1' + ')'.repeat(100_000));
