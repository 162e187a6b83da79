// Indentation that grows for ever.
// status: limited
// error: limit

for (;;) { console.group(); console.log('x') }
