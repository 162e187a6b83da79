// A buffer that doubles.
// status: limited
// error: limit
// message contains: memory

let buffer = Buffer.from('x');
for (;;) buffer = Buffer.concat([buffer, buffer]);
