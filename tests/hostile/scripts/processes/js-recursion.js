// A script that runs itself: at most eight deep, and the outer ones go on.
// status: completed
// value: true

await fs.writeFile('deeper.js', `const n = Number(process.argv[2]); const r = await shell('node deeper.js ' + (n + 1)); console.log(n, r.exitCode)`);
const { stdout } = await shell('node deeper.js 1');
return stdout.trim().split('\n').length < 9;
