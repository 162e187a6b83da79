// Indentation that grows endlessly.
// status: limited
// error: limit

for (;;) { console.group(); console.log('x') }
