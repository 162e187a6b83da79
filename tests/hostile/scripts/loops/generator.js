// An endless generator.
// status: limited
// error: limit

function* all() { for (let n = 0; ; n++) yield n }
for (const n of all());
