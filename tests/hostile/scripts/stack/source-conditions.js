// Conditions in conditions.
// status: limited
// error: limit

(0, eval)('1 ? '.repeat(500_000) + '1' + ': 0'.repeat(500_000));
