// Functions that refer to each other.
// status: limited
// error: limit

let f = () => 0;
for (;;) { const g = f; const weight = new Array(50).fill(0); f = () => [g, weight] }
