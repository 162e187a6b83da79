// Source text of nested templates.
// status: limited
// error: limit

(0, eval)('`${'.repeat(20_000) + '1' + '}`'.repeat(20_000));
