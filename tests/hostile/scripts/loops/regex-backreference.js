// A regular expression that backtracks over back references.
// status: limited
// error: limit

/^(a*)(a*)(a*)(a*)(a*)\1\2\3\4\5b$/.test('a'.repeat(200));
