// Runs every snippet of the tables beside this file under the Node that runs this, and writes down what it prints.
// `--check` only compares. A snippet with `(differs)` in its name shows a known difference: its output is Tollhouse's.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const here = import.meta.dirname;
const check = process.argv.includes('--check');
let count = 0;
let changed = 0;

const run = (code) => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'snippet-'));
  const isModule = /^import |[;{] *import |\bawait\b|^export /m.test(code.replace(/async[^]*?\{[^]*?\}/g, ''));
  const common = /\brequire[.(]|\bmodule\./.test(code) && !/^(import|export) /.test(code);
  const file = isModule && !common ? 'main.mjs' : 'main.cjs';
  fs.writeFileSync(path.join(directory, file), code);
  const env = { PATH: process.env.PATH, TZ: 'UTC', LANG: 'en_US.UTF-8' };
  const ran = spawnSync(process.execPath, [file], { cwd: directory, env, encoding: 'utf8', input: '' });
  fs.rmSync(directory, { recursive: true });
  return ran.stdout + (ran.status === 0 ? '' : `[exit ${ran.status}]\n`);
};

for (const name of fs.readdirSync(here).filter((entry) => entry.endsWith('.txt'))) {
  const table = path.join(here, name);
  const blocks = fs.readFileSync(table, 'utf8').split(/^=== /m).slice(1);
  let text = '';
  for (const block of blocks) {
    const [head, ...rest] = block.split('\n');
    const [code, known = ''] = rest.join('\n').split(/^---\n/m);
    count++;
    const output = head.includes('(differs)') ? known : run(code.trimEnd() + '\n');
    if (output !== known) {
      changed++;
      if (check) console.log(`${name}: ${head}\n${output}`);
    }
    text += `=== ${head}\n${code.trimEnd()}\n---\n${output}`;
  }
  if (!check) fs.writeFileSync(table, text);
}
console.log(`${count} snippets, ${changed} ${check ? 'differ' : 'changed'}`);
process.exitCode = check && changed > 0 ? 1 : 0;
