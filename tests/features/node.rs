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
    let path = root().join("tests/features/node").join(table);
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
fn the_console_prints_as_node_does() {
    same_as_node("console.txt", 60);
}

#[test]
fn the_language_and_the_web_are_as_in_node() {
    same_as_node("language.txt", 50);
}

#[test]
fn the_modules_are_as_in_node() {
    same_as_node("modules.txt", 50);
}

#[test]
fn errors_have_the_words_and_places_of_v8() {
    same_as_node("errors.txt", 150);
}

/// The tables are what the Node on this machine prints.
#[cfg(feature = "full")]
#[test]
fn the_tables_are_those_of_node() {
    let update = root().join("tests/features/node/update.mjs");
    let ran = std::process::Command::new("node").arg(update).arg("--check").output().expect("node is here");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}

/// A script that uses what `tollhouse types` declares type-checks, and one that uses it wrongly does not.
#[cfg(feature = "full")]
#[test]
fn the_declared_types_are_those_of_an_editor() {
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

/// What the guest carries is what its sources and the lock file give.
#[cfg(feature = "full")]
#[test]
fn the_bundle_is_made_of_its_sources() {
    let ran = std::process::Command::new("cargo")
        .args(["xtask", "bundle", "--check"])
        .current_dir(root())
        .output()
        .expect("cargo is here");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// All of TypeScript that has no counterpart in JavaScript, with and without traces at run time.
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

#[test]
fn an_exit_ends_the_script_at_once() {
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
fn what_is_not_here_says_what_to_do() {
    let home = Home::new();
    for (code, message, hint) in [
        ("import http from 'node:http'", "there is no module 'node:http' here", "`fetch`"),
        ("import { readFil } from 'fs'", "the module 'fs' has no export 'readFil'", "did you mean `readFile`?"),
        ("require('pat')", "Cannot find module 'pat'", "did you mean 'path'?"),
        ("await import('./nope.js')", "Cannot find module './nope.js'", ""),
    ] {
        let ran = home.run(["run", "-e", code]);
        assert_eq!(ran.status, 1, "{code}");
        assert!(ran.stderr.contains(message) && ran.stderr.contains(hint), "{code}: {}", ran.stderr);
    }
}

#[test]
fn a_fetch_needs_the_tool_and_its_grant() {
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
