// Runs the programs of `programs/*.txt` under the Node that runs this, and writes down what they print and their exit status.
// `--check` only compares. A program begins with `=== name`; `(module)` behind the name says that it is an ES module.
// Then come its text, what it reads behind `--- stdin` if it reads anything, and behind `--- output` what it prints. Of
// one with `(differs: reason)` the output is Tollhouse's.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const check = process.argv.includes('--check');
const directory = path.join(import.meta.dirname, 'programs');

export const parse = (text) =>
  text
    .split(/^=== /m)
    .slice(1)
    .map((block) => {
      const [, head, rest] = /^(.*)\n([^]*)$/.exec(block);
      const [before, output = ''] = rest.split(/^--- output\n/m);
      const [code, stdin] = before.split(/^--- stdin\n/m);
      return { head, code, stdin, output };
    });

const write = ({ head, code, stdin, output }) =>
  `=== ${head}\n${code}${stdin === undefined ? '' : `--- stdin\n${stdin}`}--- output\n${output}`;

export const underNode = ({ head, code, stdin = '' }) => {
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'program-'));
  const file = /\(.*module.*\)/.test(head) ? 'main.mjs' : 'main.cjs';
  fs.writeFileSync(path.join(work, file), code);
  const env = { PATH: process.env.PATH, HOME: work, USER: 'agent', TZ: 'UTC', LANG: 'en_US.UTF-8' };
  const ran = spawnSync(process.execPath, [file], { cwd: work, env, encoding: 'utf8', input: stdin });
  fs.rmSync(work, { recursive: true });
  const printed = ran.stdout === '' || ran.stdout.endsWith('\n') ? ran.stdout : `${ran.stdout}\n`;
  return printed + (ran.status === 0 ? '' : `[exit ${ran.status}]\n`);
};

if (process.argv[1] === import.meta.filename) {
  let [count, changed] = [0, 0];
  for (const name of fs.readdirSync(directory)) {
    const table = path.join(directory, name);
    const programs = parse(fs.readFileSync(table, 'utf8'));
    for (const program of programs) {
      count++;
      const output = program.head.includes('(differs') ? program.output : underNode(program);
      if (output === program.output) continue;
      changed++;
      if (check) console.log(`${name}: ${program.head}\n${output}`);
      program.output = output;
    }
    if (!check) fs.writeFileSync(table, programs.map(write).join(''));
  }
  console.log(`${count} programs, ${changed} ${check ? 'differ' : 'changed'}`);
  process.exitCode = check && changed > 0 ? 1 : 0;
}
