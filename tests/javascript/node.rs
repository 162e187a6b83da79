//! JavaScript as Node prints it: tables of snippets with what Node 20 prints for them (`node/*.txt`, written by
//! `node/update.mjs`), TypeScript, modules, and the exit status.

use std::fmt::Write as _;

use tollhouse_tests::{Home, root};

/// A snippet, and what it prints: standard output, then `[exit N]` if it does not end with 0.
struct Snippet {
    name: String,
    code: String,
    output: String,
}

fn snippets(table: &str) -> Vec<Snippet> {
    let path = root().join("tests/javascript/node").join(table);
    let text = std::fs::read_to_string(path).expect("the table is there");
    let blocks = text.strip_prefix("=== ").expect("a table begins with a snippet").split("\n=== ");
    let read = |block: &str| {
        let (name, rest) = block.split_once('\n').expect("a snippet has a name");
        let (code, output) = rest.split_once("\n---\n").or_else(|| rest.split_once("\n---")).expect("what it prints");
        Snippet { name: name.to_owned(), code: code.to_owned(), output: output.trim_end_matches('\n').to_owned() }
    };
    blocks.map(read).collect()
}

/// Runs a table; every snippet must print what it says.
fn same_as_node(table: &str, least: usize) {
    let home = Home::new();
    let snippets = snippets(table);
    assert!(snippets.len() >= least, "{table} lost snippets: {}", snippets.len());
    let mut wrong = String::new();
    for Snippet { name, code, output } in snippets {
        let ran = home.run(["run", "-e", code.as_str()]);
        let mut printed = ran.stdout;
        if ran.status != 0 {
            write!(printed, "[exit {}]", ran.status).expect("a string takes everything");
        }
        if printed.trim_end_matches('\n') != output {
            writeln!(wrong, "== {name}\nNode:\n{output}\nhere:\n{printed}\n{}", ran.stderr).expect("as above");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn console_output_matches_node() {
    same_as_node("console.txt", 60);
}

#[test]
fn language_and_web_apis_match_node() {
    same_as_node("language.txt", 50);
}

#[test]
fn node_modules_match_node() {
    same_as_node("modules.txt", 50);
}

#[test]
fn errors_have_the_words_and_places_of_v8() {
    same_as_node("errors.txt", 150);
}

#[test]
fn ciphers_digests_and_keys_are_those_of_node() {
    same_as_node("crypto.txt", 7);
}

/// The tables are what the Node on this machine prints.
#[cfg(feature = "full")]
#[test]
fn node_tables_match_the_installed_node() {
    let update = root().join("tests/javascript/node/update.mjs");
    let ran = std::process::Command::new("node").arg(update).arg("--check").output().expect("node is here");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}

/// A script that uses what `tollhouse types` declares type-checks, and one that uses it wrongly does not.
#[cfg(feature = "full")]
#[test]
fn declared_types_accept_correct_and_reject_wrong_scripts() {
    let home = Home::with_tools(&["stats", "http"]);
    home.file("types.d.ts", home.run(["types"]).stdout);
    let script = "const text: string = await fs.readFile(args[0]);
        const found = await stats.describe({ values: [1, Number(text)] });
        console.log(found.mean.toFixed(2), env.HOME, listTools().length, await stdin.text()); export {};";
    let checked = |script: &str| {
        let script = home.file("script.ts", script);
        std::process::Command::new("npx")
            .args(["--yes", "--package", "typescript@5.9.3", "tsc", "--noEmit", "--strict", "--target", "es2022"])
            .args(["--module", "esnext", "--types", ""])
            .arg(home.path().join("types.d.ts"))
            .arg(script)
            .current_dir(home.path())
            .output()
            .expect("npx is here")
    };
    let right = checked(script);
    assert!(right.status.success(), "{}", String::from_utf8_lossy(&right.stdout));
    assert!(!checked(&script.replace("Number(text)", "text")).status.success());
}

/// The bundle that the guest carries is what its sources and the lock file give.
#[cfg(feature = "full")]
#[test]
fn javascript_bundle_matches_its_sources() {
    let ran = std::process::Command::new("cargo")
        .args(["xtask", "bundle", "--check"])
        .current_dir(root())
        .output()
        .expect("cargo is here");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// Syntax of TypeScript that has no counterpart in JavaScript, with and without traces at run time.
const TYPESCRIPT: &str = r"import type { Foo } from './types.ts';
import { readFileSync, type PathLike } from 'node:fs';
import { Shape, Circle } from './shapes';
interface Point { x: number; y?: number }
type Id = string | number;
declare const nothing: number;
enum Color { Red, Green = 5, Blue, Name = 'n', Both = Red | Green }
abstract class Animal<T = string> implements Point {
  static count: number = 0;
  private readonly name: T;
  x!: number;
  y?: number = 2;
  [key: string]: any;
  constructor(name: T, protected age = 3, public tag?: string) { this.name = name }
  abstract speak(): void;
  method<K extends keyof this>(this: Animal<T>, k: K, opt?: number): any { return opt }
}
class Dog extends Animal<string> {
  constructor() { super('rex') }
  override speak(): string { return `${this.age}` }
}
function over(a: string): string;
function over(a: any): any { return a }
const arrow = async <T,>(a: T, ...rest: Id[]): Promise<{
  value: T;
}> => ({ value: a });
let maybe: string | undefined = 'm';
const length = maybe!.length satisfies number;
const cast = maybe as any
;[1].forEach((n: number) => console.log(n))
const shape: Shape = new Circle(2);
console.log(Color.Red, Color[5], Color.Blue, Color.Name, Color.Both, new Dog().speak(), over('o'), length);
console.log((await arrow<number>(1)).value, shape.area().toFixed(2), typeof readFileSync, cast);
function fails(): never { throw new RangeError('on line 36') }
export default Color;
fails();
";

const SHAPES: &str = "export interface Shape { area(): number }
export class Circle implements Shape {
  constructor(private r: number) {}
  area(): number { return Math.PI * this.r ** 2 }
}
";

#[test]
fn typescript_runs_and_keeps_its_lines() {
    let home = Home::new();
    let shapes = home.file("shapes.ts", SHAPES);
    let main = home.file("main.ts", TYPESCRIPT);
    let mount = format!("{}:/workspace/shapes.ts", shapes.display());
    let ran = home.run(["run", main.to_str().expect("a plain path"), "--mount", mount.as_str()]);
    assert_eq!(ran.stdout, "1\n0 Both 6 n 5 3 o 1\n1 12.57 function m\n");
    let at = TYPESCRIPT.lines().position(|line| line.contains("never")).expect("it is there") + 1;
    assert!(ran.stderr.contains(&format!("at fails (main.ts:{at}:")), "{}", ran.stderr);
    assert_eq!(ran.status, 1);
}

#[test]
fn typescript_that_cannot_run_says_where_it_is() {
    let home = Home::new();
    for (code, message) in [
        ("const a = 1;\nlet x: number = ;", "script.ts:2:17"),
        ("@dec class A {}", "decorators cannot be run here"),
        ("namespace N { export const a = 1 }", "a namespace cannot be run here"),
    ] {
        let ran = home.run(["run", "--lang", "ts", "-e", code]);
        assert_eq!(ran.status, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("SyntaxError") && ran.stderr.contains(message), "{}", ran.stderr);
    }
    // Without `--lang` it is JavaScript.
    assert_eq!(home.run(["run", "-e", "let x: number = 1"]).status, 1);
    assert_eq!(home.run(["run", "--lang", "ts", "-e", "let x: number = 1; return x"]).stdout, "1\n");
}

/// Parameters that are properties come before fields, as in the output of `tsc`: that is the order in which JSON and
/// `console.log` show them.
#[test]
fn typescript_properties_that_are_parameters_come_before_fields() {
    let code = "class A { x = 1; constructor(public name: string, private readonly age = 3, plain?: number) {} }
        class B extends A { y = 2; constructor(public z: number, protected override name: string) { super(name); } }
        return [new A('n'), new B(5, 'm')].map((it) => JSON.stringify(it)).join(' ')";
    let ran = Home::new().run(["run", "--lang", "ts", "-e", code]);
    assert_eq!(ran.stdout, "{\"name\":\"n\",\"age\":3,\"x\":1} {\"name\":\"m\",\"age\":3,\"x\":1,\"z\":5,\"y\":2}\n");
}

#[test]
fn uncaught_error_shows_its_properties_and_its_cause() {
    let home = Home::new();
    let code = "const e = new Error('boom', { cause: new TypeError('root') });
        e.code = 'E1'; e.field = { a: 1 }; Object.defineProperty(e, 'late', { enumerable: true, get: () => console.log('ran') });
        throw e";
    let shown = "Error: boom
    at script:1:11 {
      code: 'E1',
      field: { a: 1 },
      late: [Getter],
      [cause]: TypeError: root
          at script:1:38
    }\n";
    let ran = home.run(["run", "-e", code]);
    assert!(ran.stderr.ends_with(shown), "{}", ran.stderr);
    assert_eq!(ran.stdout, "", "the getter ran");
    let error = &home.js(code, &[])["error"];
    assert_eq!((&error["message"], &error["location"]["line"]), (&"boom".into(), &1.into()), "{error}");
    for (code, shown) in [
        ("await Promise.any([Promise.reject(new Error('a'))])", "[errors]: [\n        Error: a\n"),
        ("fs.readFileSync('no')", " {\n      errno: -2,\n      code: 'ENOENT',\n      syscall: 'open',"),
        ("const e = new Error('m'); e.self = e; throw e", " {\n      self: [Circular *1]\n    }\n"),
        ("const e = new Error('m'); e.stack = undefined; e.code = 5; throw e", "Error: m\n    { code: 5 }\n"),
    ] {
        let ran = home.run(["run", "-e", code]);
        assert!(ran.stderr.contains(shown), "{code}: {}", ran.stderr);
    }
}

/// The properties of an error that nobody has caught are shown as deep as Node shows them.
#[test]
fn uncaught_error_shows_its_name_and_its_properties() {
    let home = Home::new();
    for (code, shown) in [
        ("class Named extends Error { name = 'Other' } throw new Named('m')", "Other: m\n"),
        ("throw Object.assign(new Error('m'), { detail: { a: [1, { b: { c: 1 } }] } })", "a: [ 1, { b: { c: 1 } } ]"),
        ("const e = new Error('m'); e.message = 'changed'; throw e", "Error: changed\n"),
        ("new URL('x')", "TypeError: Invalid URL\n"),
    ] {
        let ran = home.run(["run", "-e", code]);
        assert!(ran.stderr.contains(shown), "{code}: {}", ran.stderr);
    }
}

/// An import of a name that a file does not export names the module as the import does.
#[test]
fn import_of_a_missing_name_says_which_module_lacks_it() {
    let home = Home::new();
    let files = "fs.mkdirSync('lib'); fs.writeFileSync('lib/a.mjs', 'export const a = 1');
        fs.writeFileSync('lib/b.mjs', 'import { nothere } from \"./a.mjs\"'); fs.writeFileSync('lib/c.mjs', 'export { nope } from \"./a.mjs\"');";
    for (name, message) in [
        ("b", "The requested module './a.mjs' does not provide an export named 'nothere'"),
        ("c", "The requested module './a.mjs' does not provide an export named 'nope'"),
    ] {
        let script =
            format!("{files} try {{ await import('./lib/{name}.mjs') }} catch (e) {{ return [e.name, e.message] }}");
        assert_eq!(home.js(&script, &[])["value"], serde_json::json!(["SyntaxError", message]));
    }
}

#[test]
fn timer_of_too_long_a_delay_warns_as_in_node() {
    let ran = Home::new().run(["run", "-e", "setTimeout(() => console.log('fired'), 2 ** 31)"]);
    let warning = "TimeoutOverflowWarning: 2147483648 does not fit into a 32-bit signed integer.\nTimeout duration was set to 1.\n";
    assert!(ran.stderr.ends_with(warning) && ran.stdout == "fired\n", "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn uncaught_error_of_the_host_shows_its_fields_once() {
    let ran = Home::new().run(["run", "-e", "await fetch('http://a.b')"]);
    assert!(ran.stderr.contains("hint: ") && !ran.stderr.contains("kind:"), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("--allow-net").count(), 1, "{}", ran.stderr);
}

#[test]
fn error_of_a_class_is_located_where_it_was_made() {
    let home = Home::new();
    for (code, line, column) in [
        ("class E extends Error {}\n\nthrow new E('c')", 3, 7),
        ("class E extends Error { constructor(x) { super(x); } }\nclass F extends E {}\n  throw new F('c')", 3, 9),
        ("class E extends TypeError {}\nconst make = () => new E('c');\nthrow make()", 2, 20),
        ("class E extends AggregateError {}\nthrow new E([], 'c')", 2, 7),
        ("throw Error('c')", 1, 7),
    ] {
        let error = &home.js(code, &[])["error"];
        assert_eq!(error["message"], "c", "{code}: {error}");
        let place = (&error["location"]["line"], &error["location"]["column"]);
        assert_eq!(place, (&line.into(), &column.into()), "{code}: {error}");
    }
}

#[test]
fn main_script_with_unbalanced_brackets_says_what_is_wrong_and_where() {
    let home = Home::new();
    for (code, message, line) in [
        ("function f() {\n  x();", "Unexpected end of input", 2),
        ("return 1; if (x) {\n", "Unexpected end of input", 2),
        ("items.map(x => {\n  x;\n", "Unexpected end of input", 3),
        ("const x =\n", "Unexpected end of input", 2),
        ("return 1;\nfoo() }\nbar()", "Unexpected token '}'", 2),
        ("})(function () {", "Unexpected token '}'", 1),
        ("foo(1\n", "missing ) after argument list", 2),
        ("import fs from 'fs';\nif (x) {\n", "Unexpected end of input", 3),
        ("let f = x => {\n return await x }", "await is only valid in async functions", 2),
    ] {
        let error = &home.js(code, &[])["error"];
        assert_eq!((&error["kind"], &error["name"]), (&"syntax".into(), &"SyntaxError".into()), "{code}: {error}");
        assert!(error["message"].as_str().is_some_and(|text| text.starts_with(message)), "{code}: {error}");
        assert_eq!(error["location"]["line"], line, "{code}: {error}");
    }
}

#[test]
fn process_exit_ends_the_script_at_once() {
    let home = Home::new();
    let ran = home.js(
        "await fs.writeFile('a', 'kept'); console.log('out'); try { process.exit(3) } finally { console.log('no') }",
        &[],
    );
    assert_eq!(
        (&ran["status"], &ran["exit_code"], &ran["error"]["kind"]),
        (&"failed".into(), &3.into(), &"exit".into())
    );
    assert_eq!(ran["stdout"], "out\n");
    let ran = home.js("process.exit(0)", &[]);
    assert_eq!((&ran["status"], &ran["exit_code"]), (&"completed".into(), &0.into()));
    let loops = home.js("for (;;) { try { process.exit(7) } catch {} finally { continue } }", &[]);
    assert_eq!(loops["exit_code"], 7);
    // What it wrote before is there.
    let kept = home.js("await fs.writeFile('a', 'kept'); process.exit(2)", &["--session", "s"]);
    assert_eq!(kept["exit_code"], 2);
    assert_eq!(home.js("return await fs.readFile('a')", &["--session", "s"])["value"], "kept");
}

#[test]
fn node_features_not_available_say_what_to_use_instead() {
    let home = Home::new();
    for (code, message, hint) in [
        ("import tls from 'node:tls'", "the module 'node:tls' of Node is not available in Tollhouse", "`fetch`"),
        ("require('node:nope')", "No such built-in module: node:nope", ""),
        (
            "import { readFil } from 'fs'",
            "The requested module 'fs' does not provide an export named 'readFil'",
            "did you mean `readFile`?",
        ),
        ("require('pat')", "Cannot find module 'pat'", "did you mean 'path'?"),
        ("require('axios')", "Cannot find module 'axios'", "use `fetch`"),
        ("await import('./nope.js')", "Cannot find module '/workspace/nope.js'", ""),
    ] {
        let ran = home.run(["run", "-e", code]);
        assert_eq!(ran.status, 1, "{code}");
        assert!(ran.stderr.contains(message) && ran.stderr.contains(hint), "{code}: {}", ran.stderr);
    }
}

#[test]
fn modules_that_are_missing_say_so_however_they_are_imported() {
    let home = Home::new();
    let script = "const told = [];
        for (const name of ['tls', 'dgram', 'dns', 'dns/promises', 'http2', 'cluster', 'inspector', 'repl',
            'node:test/reporters', 'node:sqlite', 'wasi', 'trace_events', 'domain']) {
          const wanted = `the module '${name}' of Node is not available in Tollhouse`;
          const isRight = (e) => e.message === wanted && e.code === 'ERR_UNKNOWN_BUILTIN_MODULE';
          try { require(name); told.push(name) } catch (e) { if (!isRight(e)) told.push(e.message) }
          await import(name).then(() => told.push(name), (e) => isRight(e) || told.push(e.message));
        }
        return told";
    assert_eq!(home.js(script, &[])["value"], serde_json::json!([]));
    for (code, message, hint) in [
        ("import { createServer } from 'http2'", "'http2' of Node is not available", "`fetch`"),
        ("require('net').createServer()", "net.createServer is not here", "`fetch`"),
        ("await import('cluster')", "'cluster' of Node is not available", "Promise.all"),
        ("require('repl')", "'repl' of Node is not available", "readline"),
        ("require('http').createServer(() => {})", "http.createServer is not available in Tollhouse", "`fetch`"),
        ("new (require('worker_threads').Worker)('x.js')", "Worker is not available in Tollhouse", "Promise.all"),
        (
            "require('zlib').brotliCompressSync('x')",
            "compressing with Brotli is not available in Tollhouse",
            "gzipSync",
        ),
        (
            "require('child_process').execSync('sleep 1')",
            "execSync: the command asks for time to pass",
            "await shell.run",
        ),
        ("require('child_process').fork('x.js')", "fork is not here", "spawn"),
        ("require('crypto').sign('sha256', 'text', 'key')", "crypto.sign is not here", "digests"),
        (
            "await require('util').promisify(require('crypto').generateKeyPair)('rsa')",
            "crypto.generateKeyPair is not here",
            "AES",
        ),
        ("require('v8').writeHeapSnapshot()", "v8.writeHeapSnapshot is not here", "QuickJS"),
        ("require('node:test/reporters')", "'node:test/reporters' of Node is not available", "TAP"),
        ("require('perf_hooks').monitorEventLoopDelay()", "monitorEventLoopDelay", "eventLoopUtilization"),
        ("require('async_hooks').createHook({})", "async_hooks.createHook is not here", "AsyncLocalStorage"),
        ("new (require('crypto').X509Certificate)('')", "crypto.X509Certificate is not here", "digests"),
        ("new WebAssembly.Module(new Uint8Array(8))", "WebAssembly is not defined", "a program of the shell"),
        ("new WebSocket('ws://x')", "WebSocket is not defined", "fetch"),
        ("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)", "would wait forever", "waitAsync"),
        ("require('node:test').run()", "run of node:test is not here", "node FILE"),
        (
            "require('crypto').createHash('shake128', { outputLength: 2 ** 25 })",
            "\"options.outputLength\" is out of range",
            "16777216",
        ),
        (
            "require('vm').compileFunction('return a', [], { contextExtensions: [{ a: 1 }] })",
            "no contextExtensions here",
            "parameters",
        ),
    ] {
        let ran = home.run(["run", "-e", code]);
        assert_eq!(ran.status, 1, "{code}");
        assert!(ran.stderr.contains(message) && ran.stderr.contains(hint), "{code}: {}", ran.stderr);
    }
    // Without `node:` these are names of packages.
    let script = "fs.mkdirSync('node_modules/test', { recursive: true });
        fs.writeFileSync('node_modules/test/index.js', 'exports.x = 1'); return require('test').x";
    let package = home.js(script, &[]);
    assert_eq!(package["value"], 1, "{package}");
}

#[test]
fn decompressing_a_bomb_ends_at_the_memory_limit() {
    let home = Home::new();
    let memory = ["--memory", "48MiB"];
    let bomb =
        "const z = require('zlib'), one = z.gzipSync(Buffer.alloc(8e6)), bomb = Buffer.concat(Array(40).fill(one));";
    for code in [
        "try { return z.gunzipSync(bomb).length } catch { return 'caught' }",
        "const parts = [], from = require('stream').Readable.from([bomb]);
         for await (const part of from.pipe(z.createGunzip())) parts.push(part)",
        "const all = []; for (;;) all.push(z.createGzip())",
    ] {
        let ran = home.js(&format!("{bomb} {code}"), &memory);
        assert_eq!(ran["error"]["kind"], "limit", "{code}: {ran}");
        assert!(ran["error"]["message"].as_str().is_some_and(|text| text.contains("48 MiB")), "{ran}");
    }
    // What is let go is free again, though only a search for cycles finds it.
    let ran =
        home.js("const z = require('zlib'); for (let i = 0; i < 1000; i++) z.createGzip(); return 'done'", &memory);
    assert_eq!(ran["value"], "done", "{ran}");
    let ran = home.js(&format!("{bomb} return z.gunzipSync(one, {{ maxOutputLength: 1e6 }})"), &memory);
    assert!(ran["error"]["message"].as_str().is_some_and(|text| text.contains("1000000 bytes")), "{ran}");
}

#[test]
fn locale_without_data_is_reported_once() {
    let home = Home::new();
    let script = "for (let i = 0; i < 3; i++)
        console.log((1234.5).toLocaleString('is-IS'), new Date(0).toLocaleDateString('is-IS'))";
    let ran = home.run(["run", "-e", script]);
    assert_eq!(ran.stdout, "1,234.5 1/1/1970\n".repeat(3));
    assert_eq!(ran.stderr, "Warning: Intl has no data for the locale 'is' here: it is written as 'en-US' is\n");
    let script = "const unit = { style: 'unit', unit: 'liter' };
        console.log((1234.5).toLocaleString('de-DE'), (5).toLocaleString('de', unit))";
    let ran = home.run(["run", "-e", script]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("1.234,5 5 l\n", ""));
    assert_eq!(home.run(["run", "-e", "(1).toLocaleString('en_US')"]).status, 1);
}

/// Returns the answer of a test's server: the first line of the request, unless its path asks for another answer.
fn answer(head: &str) -> (&'static str, Vec<String>, Vec<u8>) {
    let line = head.lines().next().unwrap_or_default().to_owned();
    let cookies = ["set-cookie: a=1", "set-cookie: b=2", "content-type: text/plain"].map(str::to_owned).to_vec();
    match line.split(' ').nth(1) {
        Some("/missing") => ("404 Not Found", cookies, b"nothing".to_vec()),
        Some("/moved") => ("302 Found", vec!["location: /v1".to_owned()], Vec::new()),
        _ => ("200 OK", cookies, line.into_bytes()),
    }
}

#[test]
fn requests_of_http_go_through_the_tool() {
    let home = Home::with_tools(&["http"]);
    let server = tollhouse_tests::server::Server::start(answer);
    let at = format!("http://127.0.0.1:{}", server.port());
    let policy =
        format!("[tools]\nhttp = \"tollhouse:http\"\n[[grant]]\nmethod = \"http/*\"\n[tool.http]\nhttp = [\"{at}\"]\n");
    home.file("policy.toml", policy);
    let script = format!(
        "const http = require('http'), at = '{at}';
        const get = (path, options) => new Promise((resolve, reject) => http.get(at + path, options ?? {{}}, (res) => {{
          let text = '';
          const told = () => resolve([res.statusCode, res.statusMessage, res.headers['set-cookie'], text]);
          res.setEncoding('utf8').on('data', (part) => (text += part)).on('end', told);
        }}).on('error', reject));
        const put = await new Promise((resolve, reject) => {{
          const options = {{ method: 'PUT', headers: {{ 'X-One': 1, 'Content-Length': 4 }} }};
          const req = http.request(at + '/v1', options, (res) => res.resume().on('end', () => resolve(res.complete)));
          req.on('error', reject).write('bo');
          req.end('dy');
        }});
        const moved = await get('/moved');
        const parts = [];
        for await (const part of await new Promise((resolve) => http.get(at + '/v1', resolve))) parts.push(part);
        return [await get('/v1?a=1'), await get('/missing'), moved[0], put, Buffer.concat(parts).toString()]"
    );
    let ran = home.js(&script, &["--policy", "policy.toml"]);
    let cookies = serde_json::json!(["a=1", "b=2"]);
    let wanted = serde_json::json!([
        [200, "OK", cookies, "GET /v1?a=1 HTTP/1.1"],
        [404, "Not Found", cookies, "nothing"],
        302,
        true,
        "GET /v1 HTTP/1.1"
    ]);
    assert_eq!(ran["value"], wanted, "{ran}");
    let seen = server.seen();
    assert!(
        seen[0].contains("PUT /v1") && seen[0].contains("x-one: 1") && seen[0].contains("content-length: 4"),
        "{seen:?}"
    );
    // The denial twin: without a grant nothing is asked, and the request's own event says why.
    let asked = "const https = require('https');
        const e = await new Promise((resolve) => https.get('https://example.com', resolve).on('error', resolve));
        return [e.name, e.kind]";
    let denied = home.js(asked, &[]);
    assert_eq!(denied["value"], serde_json::json!(["CapabilityError", "capability"]), "{denied}");
    assert_eq!(server.seen().len(), 5);
}

/// Reading lines costs each line the same, however many there are: the fuel of ten times as many is ten times as much.
#[test]
fn reading_lines_takes_time_in_proportion() {
    let home = Home::new();
    let fuel = |script: &str, count: u32| {
        home.file("lines.txt", (0..count).map(|line| format!("line {line}\n")).collect::<String>());
        let mount = format!("{}:/workspace/lines.txt", home.path().join("lines.txt").display());
        let ran = home.js(script, &["--mount", &mount]);
        assert_eq!(ran["value"], count, "{ran}");
        ran["usage"]["fuel"].as_f64().expect("it is counted")
    };
    for script in [
        "const input = require('fs').createReadStream('lines.txt');
         let n = 0; for await (const line of require('readline').createInterface({ input })) n++; return n",
        "const parts = require('fs').createReadStream('lines.txt', 'utf8');
         let n = 0; for await (const part of parts) n += part.split('\\n').length - 1; return n",
        "const lines = require('fs').readFileSync('lines.txt', 'utf8').trim().split('\\n');
         let n = 0; for await (const line of require('stream').Readable.from(lines)) n++; return n",
    ] {
        let (few, many) = (fuel(script, 5_000), fuel(script, 50_000));
        assert!(many <= 11.0 * few + 1e6, "{script}: {few} and {many}");
    }
}

#[test]
fn fetch_without_tool_or_grant_is_denied() {
    let ran = Home::new().js("await fetch('https://example.com')", &[]);
    assert_eq!((&ran["status"], &ran["error"]["name"]), (&"denied".into(), &"CapabilityError".into()));
    assert!(ran["error"]["hint"].as_str().is_some_and(|hint| hint.contains("tollhouse:http")), "{ran}");
    let home = Home::with_tools(&["http"]);
    let ran = home.js("await fetch('https://example.com')", &[]);
    assert_eq!((&ran["status"], &ran["error"]["kind"]), (&"denied".into(), &"capability".into()), "{ran}");
    // Granted, but without a host: the tool's own error.
    let ran = home.js(
        "try { await fetch('https://example.com') } catch (e) { return [e.name, e.cause.name] }",
        &["--allow", "http/*"],
    );
    assert_eq!(ran["value"], serde_json::json!(["TypeError", "ToolError"]), "{ran}");
    assert_eq!(ran["calls"][0]["method"], "http/fetch");
}

#[test]
fn scripts_that_replace_what_the_modules_use_harm_themselves_alone() {
    let home = Home::new();
    for code in [
        "Object.prototype.value = 7; Object.prototype.get = () => 5; const p = require('path'); return p.join('a', 'b')",
        "String.prototype.startsWith = () => true; RegExp.prototype.exec = () => null; require('./nope')",
        "Array.prototype.push = () => { throw 1 }; Promise.prototype.then = null; return (await import('path')).join('a', 'b')",
        "require('util').inspect = null; process.stdout.write = null; console.log({a: 1}); return 'a/b'",
        "await fs.writeFile('d.ts', 'export const a = ' + '['.repeat(200000)); await import('./d.ts')",
        "let o = {}; for (let i = 0; i < 1e5; i++) o = {o}; require('util').inspect(o, {depth: Infinity})",
        "await fs.writeFile('big.json', '[' .repeat(100000)); require('./big.json')",
        "Buffer.alloc(2 ** 31)",
    ] {
        let ran = home.js(code, &[]);
        let kind = ran["error"]["kind"].as_str().unwrap_or("none");
        assert!(matches!(kind, "none" | "exception" | "syntax" | "limit"), "{code}: {ran}");
        if kind == "none" {
            assert_eq!(ran["value"], "a/b", "{code}");
        }
    }
}
