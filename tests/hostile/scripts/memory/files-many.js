// Endless files. The limit holds, and removing one frees space.
// status: completed
// value: ["EDQUOT", true]

let n = 0;
try { for (;;) await fs.writeFile(`f${n++}`, 'x'.repeat(1 << 20)) } catch (error) { await fs.rm('f0'); await fs.writeFile('again', 'fits'); return [error.code, n <= 17] }
