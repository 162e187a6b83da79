// Endless names of properties.
// status: limited
// error: limit

const all = {};
for (let n = 0; ; n++) all['a name that is long enough to weigh something '.repeat(10) + n] = n;
