// Symbols, which are never freed.
// status: limited
// error: limit

for (let n = 0; ; n++) Symbol.for('symbol number ' + n + 'x'.repeat(1000));
