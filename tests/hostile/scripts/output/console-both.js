// Both streams count together.
// status: limited
// error: limit
// message contains: output limit
// stdout bytes: 524288

for (;;) { console.log('x'.repeat(1023)); console.error('y'.repeat(1023)) }
