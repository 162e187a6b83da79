// A regular expression with endless backtracking, which is a single operation that counts no fuel.
// status: limited
// error: limit

/^(a+)+$/.test('a'.repeat(40) + 'b');
