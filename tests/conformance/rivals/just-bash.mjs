// Runs the lines of a batch with just-bash from npm, and prints results that compare with ours:
//   npm install --prefix DIR just-bash@3.4.2 && NODE_PATH=DIR/node_modules node just-bash.mjs < jobs.jsonl
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

// `import` does not look at NODE_PATH.
const { Bash } = createRequire(import.meta.url)("just-bash");
const DIRECTORY = "/workspace";

const contents = (file) => (typeof file === "string" ? file : Buffer.from(file.base64, "base64"));

async function run(job) {
  const files = { [`${DIRECTORY}/.keep`]: "" };
  for (const [path, file] of Object.entries(job.files ?? {})) files[`${DIRECTORY}/${path}`] = contents(file);
  const bash = new Bash({ files, cwd: DIRECTORY, env: { HOME: DIRECTORY, ...job.env } });
  await bash.exec("rm .keep; mkdir -p /tmp");
  for (const [path, mode] of Object.entries(job.modes ?? {})) await bash.exec(`chmod ${mode} '${path}'`);
  return bash.exec(job.script, { stdin: job.stdin });
}

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  const late = new Promise((resolve) => setTimeout(resolve, 20_000, { stdout: "", exitCode: -1 }).unref());
  const result = await Promise.race([run(job), late]).catch((error) => ({ stdout: "", exitCode: -1, error: `${error}` }));
  console.log(JSON.stringify({ id: job.id, stdout: result.stdout, exit_code: result.exitCode, error: result.error }));
}
process.exit(0);
