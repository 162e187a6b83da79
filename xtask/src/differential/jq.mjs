// jq's command line over the package `jq-wasm`, which is jq compiled to WebAssembly: `jq [OPTION]... FILTER < INPUT`.
// The package trims the output, so the line feed at its end is put back. Files cannot be named.
import { readFileSync } from 'node:fs';
import { loadJq } from './jq-wasm/dist/index.mjs';

const words = process.argv.slice(2);
const filter = words.pop();
const jq = await loadJq();
const { stdout, stderr, exitCode } = jq.raw(readFileSync(0, 'utf8'), filter, words);
const joined = words.some((word) => /^-[a-zA-Z]*j|^--join-output$/.test(word));
process.stdout.write(stdout === '' || joined ? stdout : `${stdout}\n`);
process.stderr.write(stderr === '' ? '' : `${stderr}\n`);
process.exitCode = exitCode;
