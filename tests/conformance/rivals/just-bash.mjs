// Runs the lines of a batch with just-bash from npm, and prints results that compare with ours:
//   npm install --prefix DIR just-bash@3.4.2 && NODE_PATH=DIR/node_modules node just-bash.mjs < jobs.jsonl
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

// `import` does not look at NODE_PATH.
const { Bash } = createRequire(import.meta.url)("just-bash");
const DIRECTORY = "/workspace";

const contents = (file) => (typeof file === "string" ? file : Buffer.from(file.base64, "base64"));

async function make(job) {
  const files = { [`${DIRECTORY}/.keep`]: "" };
  for (const [path, file] of Object.entries(job.files ?? {})) files[`${DIRECTORY}/${path}`] = contents(file);
  const bash = new Bash({ files, cwd: DIRECTORY, env: { HOME: DIRECTORY, ...job.env } });
  await bash.exec("rm .keep; mkdir -p /tmp");
  for (const [path, mode] of Object.entries(job.modes ?? {})) await bash.exec(`chmod ${mode} '${path}'`);
  return bash;
}

// `rounds`: so many times, and how long the median took; each in a shell of its own, or `warm` all in one.
async function run(job) {
  const times = [];
  let bash = await make(job);
  let result;
  for (let round = 0; round < (job.rounds ?? 1); round++) {
    const begun = performance.now();
    // Only the shell is counted, not what is put into it.
    if (!job.warm && round > 0) bash = await make(job);
    result = await bash.exec(job.script, { stdin: job.stdin });
    times.push((performance.now() - begun) * 1000);
  }
  times.sort((a, b) => a - b);
  return { ...result, micros: times[times.length >> 1] };
}

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  const late = new Promise((resolve) => setTimeout(resolve, job.rounds ? 600_000 : 20_000, { stdout: "", exitCode: -1 }).unref());
  const result = await Promise.race([run(job), late]).catch((error) => ({ stdout: "", exitCode: -1, error: `${error}` }));
  console.log(JSON.stringify({ id: job.id, stdout: result.stdout, exit_code: result.exitCode, error: result.error, micros: result.micros }));
}
process.exit(0);
