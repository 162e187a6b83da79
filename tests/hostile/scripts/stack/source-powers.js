// Source text of repeated powers, which nest to the right.
// status: limited
// error: limit

(0, eval)('1' + ' ** 1'.repeat(100_000));
