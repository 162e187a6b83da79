// A limit is not an exception, so that neither `catch` nor `finally` stops it.
// status: limited
// error: limit
// stdout: ""

for (;;) try { while (true) {} } catch { console.log('caught') } finally { console.log('finally') }
