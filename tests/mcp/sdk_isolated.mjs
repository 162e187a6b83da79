// The official TypeScript SDK as clients of `tollhouse mcp --http --isolate process`, each with a process of its own.
//
// Run by `cargo xtask test --full` with the binary in `TOLLHOUSE_BIN`, the registry in `TOLLHOUSE_TEST_REGISTRY`, and
// the directory of the SDK's package as the argument.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const require = createRequire(join(resolve(process.argv[2]), "package.json"));
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const types = require("@modelcontextprotocol/sdk/types.js");

const binary = process.env.TOLLHOUSE_BIN;
const home = mkdtempSync(join(tmpdir(), "tollhouse-sdk-"));
const at = (name) => join(home, name);

function token(name) {
    writeFileSync(at("grants.toml"), `[[grant]]\nname = "${name}"\nmethod = "stats/describe"\ncalls = 3\n`);
    return execFileSync(binary, ["policy", "seal", at("grants.toml"), "--key", at("k")], { encoding: "utf8" }).trim();
}

async function served() {
    execFileSync(binary, ["policy", "keygen", at("k")], { stdio: "ignore" });
    const registry = ["--registry", process.env.TOLLHOUSE_TEST_REGISTRY];
    const args = ["mcp", ...registry, "--http", "127.0.0.1:0", "--issuer", at("k.pub"), "--isolate", "process"];
    const server = spawn(binary, args, {
        env: { XDG_DATA_HOME: home, XDG_CACHE_HOME: home },
        stdio: ["ignore", "ignore", "pipe"],
    });
    for await (const line of createInterface({ input: server.stderr })) {
        if (line.startsWith("listening on ")) return [server, line.slice("listening on ".length)];
    }
    throw new Error("the server has ended");
}

async function connected(address, bearer) {
    const client = new Client({ name: "sdk", version: "1" });
    const requestInit = { headers: { Authorization: `Bearer ${bearer}` } };
    const heard = { logged: [], updated: [] };
    client.setNotificationHandler(types.LoggingMessageNotificationSchema, ({ params }) => {
        heard.logged.push(params.data);
    });
    client.setNotificationHandler(types.ResourceUpdatedNotificationSchema, ({ params }) => {
        heard.updated.push(params.uri);
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(address), { requestInit }));
    const run = (script, options) =>
        client.callTool({ name: "run_javascript", arguments: { script } }, undefined, options);
    return { client, run, ...heard };
}

async function check({ client, run, logged, updated }) {
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    assert(names.includes("run_javascript") && names.includes("run_bash"), names.join());
    const ran = await run("console.log('out'); return (await stats.describe({values: [1, 3]})).mean");
    assert.equal(ran.structuredContent.value, 2, JSON.stringify(ran));
    assert(logged.includes("out"), JSON.stringify(logged));

    const progress = [];
    const slow = "await new Promise(done => setTimeout(done, 2500)); return 1";
    await run(slow, { onprogress: (step) => progress.push(step) });
    assert(progress.length > 0, "no progress");

    const stop = new AbortController();
    setTimeout(() => stop.abort(), 1000);
    await assert.rejects(run("for (;;) {}", { signal: stop.signal }));
    assert.equal((await run("return 'usable'")).structuredContent.value, "usable");

    await client.callTool({ name: "run_bash", arguments: { script: "echo hi > f" } });
    const { uri } = (await client.listResources()).resources.find(({ uri }) => uri.endsWith("/workspace/f"));
    assert.equal((await client.readResource({ uri })).contents[0].text, "hi\n");
    await client.subscribeResource({ uri });
    await client.callTool({ name: "write_file", arguments: { path: "f", content: "new" } });
    for (let waited = 0; updated.length === 0; waited += 50) {
        assert(waited < 20_000, "no update");
        await new Promise((done) => setTimeout(done, 50));
    }
}

let server;
try {
    let address;
    [server, address] = await served();
    const [one, two] = [await connected(address, token("one")), await connected(address, token("two"))];
    await check(one);
    const read = await two.run("return await fs.readFile('f', 'utf8').catch(error => error.code)");
    assert.equal(read.structuredContent.value, "ENOENT");
    await check(two);
    await one.client.transport.terminateSession();
    await one.client.close();
    await two.client.close();
    console.error("the TypeScript SDK, a process for each client: all that it does works");
} finally {
    server?.kill();
    rmSync(home, { recursive: true, force: true });
}
