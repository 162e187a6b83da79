// The limit on memory is no exception either.
// status: limited
// error: limit
// stdout: ""

const all = [];
for (;;) try { all.push('x'.repeat(1e6) + all.length) } catch { console.log('caught') } finally { console.log.bind(console) }
