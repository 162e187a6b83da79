// When a script catches the error of the memory limit, its files, calls and output after that have no effect.
// status: limited
// error: limit
// stdout: ""
// calls: 

let tries = 0
for (;;) try { new Array(1e8).fill(0) } catch { fs.writeFileSync('after', 'x'); console.error('after'); probe.length({ text: 'x' }) } finally { console.log('after') }
