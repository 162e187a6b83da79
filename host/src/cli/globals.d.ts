/** The script's arguments. */
declare const args: string[];
/** The script's environment. */
declare const env: Record<string, string>;
/** What is mounted. */
declare function listTools(): { name: string; method: string; granted: boolean }[];
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
