// A regular expression that backtracks in a lookahead.
// status: limited
// error: limit

/(?=(a+)+$)b/.test('a'.repeat(40) + 'b') || /^(?=((a+)+)$)x/.test('a'.repeat(40) + 'c');
