// Promises that wait.
// status: limited
// error: limit

const all = [];
for (;;) all.push(new Promise(() => {}).then(() => all.length));
