/** The script's arguments. */
declare const args: string[];
/** The script's environment. */
declare const env: Record<string, string>;
/** What is mounted. */
declare function listTools(): { name: string; method: string; granted: boolean }[];
/** The names of what is mounted. */
declare const __tools__: string[];
/** Describes a tool, or gives null if there is none of that name. */
declare function getToolInfo(name: string | Function): any;
/** What is left of the session's budgets. */
declare function budgets(): { grant: string; kind: "calls" | "spend"; limit: number; used: number; remaining: number }[];
/** Waits so many milliseconds. */
declare function sleep(milliseconds: number, options?: { signal?: AbortSignal }): Promise<void>;
/** The script's standard input. */
declare const stdin: AsyncIterable<string> & {
  text(): Promise<string>;
  bytes(): Promise<Uint8Array>;
  json(): Promise<any>;
  lines(): AsyncIterable<string>;
};
/** Runs bash on the same files, with the same tools, grants and budgets: what it wrote, whatever its status. */
declare const shell: {
  (command: string, options?: ShellOptions): Promise<ShellResult>;
  /** Its standard output; a status other than 0 is a `ShellError`. */
  run(command: string, options?: ShellOptions): Promise<string>;
  /** A text as one word of bash. */
  quote(text: string): string;
};
interface ShellOptions {
  cwd?: string;
  env?: Record<string, string | undefined>;
  args?: string[];
  input?: string | Uint8Array;
  signal?: AbortSignal;
}
interface ShellResult {
  stdout: string;
  stderr: string;
  exitCode: number;
}
/** Runs bash: each value is one word, a list several. A status other than 0 is a `ShellError`, unless `nothrow` is called. */
declare function $(strings: TemplateStringsArray, ...values: unknown[]): ShellCommand;
interface ShellCommand extends PromiseLike<ShellResult> {
  text(): Promise<string>;
  lines(): Promise<string[]>;
  json(): Promise<any>;
  nothrow(): ShellCommand;
  cwd(directory: string): ShellCommand;
  env(variables: Record<string, string | undefined>): ShellCommand;
  input(data: string | Uint8Array): ShellCommand;
}
/** The session's files. Text unless bytes are asked for; each function is also there as `…Sync`. */
declare const fs: {
  readFile(path: string, options: { encoding: null } | null): Promise<Uint8Array>;
  readFile(path: string, options?: string | { encoding?: string }): Promise<string>;
  readBytes(path: string): Promise<Uint8Array>;
  readText(path: string): Promise<string>;
  readJson(path: string): Promise<any>;
  writeFile(path: string, data: string | ArrayBufferView | ArrayBuffer, options?: any): Promise<void>;
  appendFile(path: string, data: string | ArrayBufferView | ArrayBuffer, options?: any): Promise<void>;
  readdir(path: string, options?: { recursive?: boolean }): Promise<string[]>;
  stat(path: string): Promise<{ size: number; mode: number; mtime: Date; mtimeMs: number; isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }>;
  mkdir(path: string, options?: { recursive?: boolean }): Promise<void>;
  rm(path: string, options?: { recursive?: boolean; force?: boolean }): Promise<void>;
  unlink(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  copyFile(from: string, to: string): Promise<void>;
  exists(path: string): Promise<boolean>;
  [name: string]: (...values: any[]) => any;
};
