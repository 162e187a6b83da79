// A limit is no exception: neither `catch` nor `finally` holds it up.
// status: limited
// error: limit
// stdout: ""

for (;;) try { while (true) {} } catch { console.log('caught') } finally { console.log('finally') }
