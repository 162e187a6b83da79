// The official TypeScript SDK as a client of `tollhouse mcp`: lists, calls, streams, cancels, approves, reads, subscribes.
//
// Run by `cargo xtask test --full` with the binary in `TOLLHOUSE_BIN`, the registry in `TOLLHOUSE_TEST_REGISTRY`, and the
// directory of the SDK's package as the argument.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const require = createRequire(join(resolve(process.argv[2]), "package.json"));
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const types = require("@modelcontextprotocol/sdk/types.js");

const POLICY = `
[tools]
stats = "tollhouse:stats"
[[grant]]
method = "stats/describe"
approve = { param = "values/*", gt = 100 }
`;

const home = mkdtempSync(join(tmpdir(), "tollhouse-sdk-"));

async function connected(...options) {
    const policy = join(home, "policy.toml");
    writeFileSync(policy, POLICY);
    const client = new Client({ name: "sdk", version: "1" }, { capabilities: { elicitation: {} } });
    const args = ["mcp", "--registry", process.env.TOLLHOUSE_TEST_REGISTRY, "--policy", policy, ...options];
    const env = { XDG_DATA_HOME: home };
    return [client, new StdioClientTransport({ command: process.env.TOLLHOUSE_BIN, args, env })];
}

async function scripts() {
    const [client, transport] = await connected();
    const [logged, questions, updated] = [[], [], []];
    client.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.data));
    client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri));
    client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => {
        questions.push(params.message);
        return { action: "accept", content: { allow: true } };
    });
    await client.connect(transport);
    const run = (script, options) =>
        client.callTool({ name: "run_javascript", arguments: { script } }, undefined, options);
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    assert(names.includes("run_javascript") && names.includes("run_bash"), names.join());

    const ran = await run("console.log('out'); return {a: 1}");
    assert.deepEqual(ran.structuredContent.value, { a: 1 });
    assert(logged.includes("out"), JSON.stringify(logged));
    const progress = [];
    const slow = "await new Promise(done => setTimeout(done, 2500)); return 1";
    await run(slow, { onprogress: (step) => progress.push(step) });
    assert(progress.length > 0, "no progress");

    const stop = new AbortController();
    setTimeout(() => stop.abort(), 1000);
    await assert.rejects(run("for (;;) {}", { signal: stop.signal }));
    assert.equal((await run("return 'usable'")).structuredContent.value, "usable");

    const approved = await run("return (await stats.describe({values: [200]})).mean");
    assert.equal(approved.structuredContent.value, 200, JSON.stringify(approved));
    assert(questions.length === 1 && questions[0].includes("stats/describe"), questions.join());

    await client.callTool({ name: "run_bash", arguments: { script: "echo hi > f" } });
    const { uri } = (await client.listResources()).resources.find(({ uri }) => uri.endsWith("/workspace/f"));
    assert.equal((await client.readResource({ uri })).contents[0].text, "hi\n");
    await client.subscribeResource({ uri });
    await client.callTool({ name: "write_file", arguments: { path: "f", content: "new" } });
    for (let waited = 0; updated.length === 0; waited += 50) {
        assert(waited < 20_000, "no update");
        await new Promise((done) => setTimeout(done, 50));
    }
    await client.close();
}

async function gateway() {
    const [client, transport] = await connected("--proxy");
    const questions = [];
    client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => {
        questions.push(params.message);
        return { action: "decline" };
    });
    await client.connect(transport);
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    assert(names.includes("stats_describe") && !names.includes("run_javascript"), names.join());
    const describe = (values) => client.callTool({ name: "stats_describe", arguments: { values } });
    assert.equal((await describe([1, 3])).structuredContent.mean, 2);
    assert.equal((await describe([200])).isError, true);
    assert.equal(questions.length, 1, questions.join());
    await client.close();
}

try {
    await scripts();
    await gateway();
    console.error("the TypeScript SDK: all that it does works");
} finally {
    rmSync(home, { recursive: true });
}
