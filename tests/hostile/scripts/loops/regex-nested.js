// Backtracking without end: one operation, within which nothing counts.
// status: limited
// error: limit

/^(a+)+$/.test('a'.repeat(40) + 'b');
