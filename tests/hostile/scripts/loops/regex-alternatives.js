// A regular expression that backtracks over overlapping alternatives.
// status: limited
// error: limit
// limits: wall = "400ms"

/^(a|a|aa)*$/.test('a'.repeat(60) + 'b');
