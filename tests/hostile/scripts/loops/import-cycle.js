// Two modules that import each other, and one that imports itself. Each is loaded once.
// status: completed
// value: "a"

await fs.writeFile('a.mjs', "import { b } from './b.mjs'; import './a.mjs'; export const a = () => b; export const name = 'a'");
await fs.writeFile('b.mjs', "import { name } from './a.mjs'; export const b = () => name");
const { a } = await import('./a.mjs');
return a()();
