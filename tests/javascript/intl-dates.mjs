// Random dates in random forms and locales, under the Node that runs this and under Tollhouse: each is written as by Node, or
// Tollhouse says that it is not. `node intl-dates.mjs TOLLHOUSE [SEED [COUNT]]` gives those that are neither.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const [tollhouse, seed = '1', count = '400'] = process.argv.slice(2);

let state = Number(seed) | 0;
const random = (below) => {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
};
const oneOf = (list) => list[random(list.length)];

const locales =
  'en-US en-US en-US en-GB en-CA en-AU en-IN de de-AT de-CH fr fr-CA es es-MX it pt pt-PT nl pl ru uk tr ja zh zh-TW ko ar ar-EG hi sv id da nb cs he hu ro vi'.split(' ');
const widths = ['narrow', 'short', 'long'];
const figures = ['numeric', '2-digit'];
const forms = {
  weekday: widths, year: figures, month: [...figures, ...widths], day: figures, hour: figures, minute: figures, second: figures,
  era: widths, dayPeriod: widths, fractionalSecondDigits: [1, 2, 3], hour12: [true, false], hourCycle: ['h11', 'h12', 'h23', 'h24'],
  timeZoneName: ['short', 'long', 'shortOffset', 'longOffset'],
};
// How often a part is there, of a hundred.
const chances = { weekday: 35, year: 55, month: 60, day: 60, hour: 40, minute: 40, second: 25, era: 4, dayPeriod: 4, fractionalSecondDigits: 5, hour12: 12, hourCycle: 8, timeZoneName: 12 };
const zones = ['UTC', 'UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Asia/Tokyo'];
const styles = ['full', 'long', 'medium', 'short'];

const makeCase = () => {
  const options = { timeZone: oneOf(zones) };
  if (random(100) < 15) {
    if (random(3) > 0) options.dateStyle = oneOf(styles);
    if (random(3) > 0 || options.dateStyle === undefined) options.timeStyle = oneOf(styles);
  } else {
    for (const [name, chance] of Object.entries(chances)) if (random(100) < chance) options[name] = oneOf(forms[name]);
  }
  return [oneOf(locales), options, Date.UTC(1950 + random(120), random(12), 1 + random(28), random(24), random(60), random(60), random(1000))];
};

const script = (cases) =>
  `for (const [locale, options, date] of ${JSON.stringify(cases)}) {
  const write = () => { const f = new Intl.DateTimeFormat(locale, options); return [f.format(date), f.formatToParts(date)]; };
  let text; try { text = JSON.stringify(write()); } catch (error) { text = error.name + ': ' + error.message; } console.log(text);
}`;
const work = fs.mkdtempSync(path.join(os.tmpdir(), 'intl-'));
const run = (command, args, cases) => {
  const file = path.join(work, 'main.cjs');
  fs.writeFileSync(file, script(cases));
  const ran = spawnSync(command, [...args, file], { cwd: work, encoding: 'utf8', env: { ...process.env, TZ: 'UTC', LANG: 'en_US.UTF-8' }, maxBuffer: 1 << 28 });
  return { lines: ran.stdout.trimEnd().split('\n'), said: ran.stderr };
};

const cases = Array.from({ length: Number(count) }, makeCase);
const expected = run(process.execPath, [], cases).lines;
const found = run(tollhouse, ['run'], cases).lines;
let [told, silent] = [0, 0];
for (const [at, line] of expected.entries()) {
  if (line === found[at]) continue;
  // A warning is given once a script: what this case alone says.
  const alone = run(tollhouse, ['run'], [cases[at]]);
  if (alone.said.includes('Warning: Intl') || /not available|Intl has/.test(alone.lines[0])) {
    told++;
    continue;
  }
  silent++;
  console.log(`${JSON.stringify(cases[at])}\n  Node       ${line}\n  Tollhouse  ${found[at]}`);
}
fs.rmSync(work, { recursive: true });
console.log(`${cases.length} dates: ${cases.length - told - silent} as Node writes them, ${told} with a warning, ${silent} neither`);
process.exitCode = silent > 0 ? 1 : 0;
