// The limit on memory is not an exception, so that it cannot be caught.
// status: limited
// error: limit
// stdout: ""

const all = [];
for (;;) try { all.push('x'.repeat(1e6) + all.length) } catch { console.log('caught') } finally { console.log.bind(console) }
