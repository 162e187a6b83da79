// Nested lists that are freed at once.
// status: completed
// value: "freed"
// limits: memory = "64MiB"

let value = [];
for (let n = 0; n < 450_000; n++) value = [value];
value = null;
return 'freed';
