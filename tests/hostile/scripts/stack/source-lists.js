// Source text of nested lists.
// status: limited
// error: limit

(0, eval)('['.repeat(100_000) + ']'.repeat(100_000));
