// What a script does once it has caught that there is no more memory is without effect: files, calls, output.
// status: limited
// error: limit
// stdout: ""
// calls: 

let tries = 0
for (;;) try { new Array(1e8).fill(0) } catch { fs.writeFileSync('after', 'x'); console.error('after'); probe.length({ text: 'x' }) } finally { console.log('after') }
