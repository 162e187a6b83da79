// Random texts that are dates, or nearly, under the Node that runs this and under Tollhouse: `Date.parse` gives the same.
// `node date-texts.mjs TOLLHOUSE [SEED [COUNT]]` prints those of which it does not, and ends with 1.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const [tollhouse, seed = '1', count = '20000'] = process.argv.slice(2);

let state = Number(seed) | 0;
const random = (below) => {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
};
const oneOf = (list) => list[random(list.length)];
const padded = (number, width = 2) => String(number).padStart(width, '0');

const year = () =>
  oneOf([
    () => padded(1900 + random(200), 4), () => padded(random(10000), 4), () => String(random(100)), () => padded(random(100)),
    () => `+${padded(random(400000), 6)}`, () => `-${padded(random(400000), 6)}`, () => '-000000', () => '12345', () => String(random(300)),
  ])();
const month = () => oneOf(['01', '1', '12', '13', '00', '0', '7', '07', padded(random(14)), 'Jan', 'feb', 'March', 'SEPTEMBER', 'sept', 'juin', 'xyz']);
const day = () => oneOf([padded(random(33)), String(random(33)), '0', '31', '32', '15th', '1st']);
const time = () => {
  const [hour, minute, second] = [padded(random(26)), padded(random(61)), padded(random(61))];
  return oneOf([
    `${hour}:${minute}`, `${hour}:${minute}:${second}`, `${hour}:${minute}:${second}.${random(10000)}`, `${hour}:${minute}:${second},${random(1000)}`,
    `${random(13)}`, `${hour}${minute}`, '24:00', '24:00:00', '24:00:01', '10:00.5', '10::30', '1:2:3:4', `${random(14)}:${minute}:${random(60)}`,
  ]);
};
const zone = () =>
  oneOf([
    '', 'Z', ' Z', 'z', '+02:00', '+0200', '+02', '-5', 'GMT', 'UTC', 'gmt+2', ' GMT+0200', ' GMT-03:30', 'EST', ' PST', 'CEST', '+25:00', '-00:00',
    ' +01:00', ' (CET)', ' GMT+0100 (Central European Standard Time)', '+1:30', '-0730', '+12345', ' MSK', 'am', 'pm',
  ]);
const half = () => oneOf([' AM', ' PM', 'am', 'pm', ' a.m.', ' p.m.', '']);
const between = () => oneOf(['-', '/', '.', ' ', ', ', '', ' - ', '  ', '\t', '_', ' of ']);
const word = () => oneOf(['Mon', 'Monday,', 'Tue, ', 'foo ', 'Q1 ', '(x) ', '', '', '', 'the ', '-', '+', ',', ')', 'a1 ']);
const shuffled = (list) => list.map((item) => [random(1 << 30), item]).sort(([a], [b]) => a - b).map(([, item]) => item);
const instant = () => new Date(random(2 ** 31) * 1000);
const plain = [
  () => `${year()}-${month()}-${day()}`,
  () => `${year()}-${month()}-${day()}T${time()}${zone()}`,
  () => `${year()}-${month()}-${day()} ${time()}${zone()}`,
  () => `${year()}-${month()}${oneOf(['', `T${time()}`])}`,
  () => `${month()}${between()}${day()}${between()}${year()}`,
  () => `${day()}${between()}${month()}${between()}${year()}`,
  () => `${year()}${between()}${month()}${between()}${day()}`,
  () => `${word()}${month()} ${day()} ${year()} ${time()}${half()}${zone()}`,
  () => `${word()} ${day()} ${month()} ${year()} ${time()} ${zone()}`,
  () => `${month()}${between()}${oneOf([year(), day()])}`,
  () => `${time()}${half()} ${month()}/${day()}/${year()}`,
  () => shuffled([word(), month(), day(), year(), time(), zone(), half()]).slice(0, 2 + random(5)).join(between()),
  () => instant().toString(),
  () => instant().toUTCString(),
  () => instant().toLocaleString('en-US'),
  () => instant().toISOString().replace(/\.\d+/, oneOf(['', '.1', '.12', '.123456', '.1234567890123'])),
];
// A sound text with one place changed.
const changed = () => {
  const text = oneOf(plain)();
  const at = random(text.length + 1);
  return text.slice(0, at) + oneOf(['-', ':', '.', ' ', 'T', 'Z', '(', ')', '+', '1', 'x', '']) + text.slice(at + random(2));
};

const texts = Array.from({ length: Number(count) }, () => (random(6) === 0 ? changed() : oneOf(plain)()));
const instants = `(${JSON.stringify(texts)}).map((text) => Date.parse(text))`;
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'dates-'));
fs.writeFileSync(path.join(home, 'dates.js'), `return ${instants}`);
fs.writeFileSync(path.join(home, 'node.cjs'), `console.log(JSON.stringify(${instants}))`);
const env = { PATH: process.env.PATH, TOLLHOUSE_HOME: home, TZ: 'UTC' };
const options = { cwd: home, env, encoding: 'utf8', maxBuffer: 1 << 30 };
const here = spawnSync(tollhouse, ['run', '--json', 'dates.js'], options);
const node = spawnSync(process.execPath, ['node.cjs'], options);
fs.rmSync(home, { recursive: true });
if (here.status !== 0 || node.status !== 0) throw new Error(here.stderr + node.stderr);
const [ours, theirs] = [JSON.parse(here.stdout).value, JSON.parse(node.stdout)];
const wrong = texts.filter((text, at) => ours[at] !== theirs[at]);
for (const text of wrong.slice(0, 40)) console.log(JSON.stringify(text));
console.log(`${texts.length} texts, of which ${theirs.filter((instant) => instant !== null).length} are dates; ${wrong.length} differ`);
process.exit(wrong.length === 0 ? 0 : 1);
