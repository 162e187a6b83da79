// A thousand modules, each of which imports the next one.
// status: completed
// value: 1
// limits: fuel = 50000000

for (let n = 0; n < 1000; n++) fs.writeFileSync(`m${n}.mjs`, n < 999 ? `export { last } from './m${n + 1}.mjs'` : 'export const last = 1');
return (await import('./m0.mjs')).last;
