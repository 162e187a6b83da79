// Texts of large length, created by `padEnd`.
// status: limited
// error: limit

const all = [];
for (;;) all.push('x'.padEnd(1e7, String(all.length)));
