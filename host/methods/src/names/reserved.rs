//! Reserved names in script languages, each list with its source, in the order of bytes.

/// Lists of names in JavaScript, each with its description.
pub(super) const JAVASCRIPT: &[(&[&str], &str)] = &[
    (JAVASCRIPT_WORDS, "a reserved word of JavaScript"),
    (JAVASCRIPT_GLOBALS, "a global of JavaScript"),
    (JAVASCRIPT_INHERITED, "a name that JavaScript looks up on every object"),
    (SCRIPT_GLOBALS, "a name that Tollhouse defines for scripts"),
];

/// Lists of names in the shell, each with its description.
pub(super) const SHELL: &[(&[&str], &str)] = &[
    (SHELL_WORDS, "a reserved word of the shell"),
    (SHELL_BUILTINS, "a builtin of the shell"),
    (SCRIPT_COMMANDS, "a command that Tollhouse defines for scripts"),
];

/// ECMA-262 (2025) §12.7.2: reserved words, those reserved in strict mode and modules, and the literals; `arguments`,
/// `eval`, `async`, `of`, `get`, `set` and `undefined` beside them, because binding them misleads.
#[rustfmt::skip]
const JAVASCRIPT_WORDS: &[&str] = &[
    "arguments", "async", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default",
    "delete", "do", "else", "enum", "eval", "export", "extends", "false", "finally", "for", "function", "get", "if",
    "implements", "import", "in", "instanceof", "interface", "let", "new", "null", "of", "package", "private",
    "protected", "public", "return", "set", "static", "super", "switch", "this", "throw", "true", "try", "typeof",
    "undefined", "var", "void", "while", "with", "yield",
];

/// ECMA-262 (2025) §19 and Annex B: properties of the global object; with those of QuickJS's own and the ones that every
/// host of JavaScript has (WHATWG: console, timers, text codecs, URL, fetch, events, streams; Node: modules).
#[rustfmt::skip]
const JAVASCRIPT_GLOBALS: &[&str] = &[
    "AbortController", "AbortSignal", "AggregateError", "Array", "ArrayBuffer", "AsyncDisposableStack", "Atomics",
    "BigInt", "BigInt64Array", "BigUint64Array", "Blob", "Boolean", "BroadcastChannel", "Buffer",
    "ByteLengthQueuingStrategy", "CompressionStream", "CountQueuingStrategy", "Crypto", "CryptoKey", "CustomEvent", "DOMException", "DataView", "Date",
    "DecompressionStream", "DisposableStack", "Error", "EvalError", "Event", "EventTarget", "File",
    "FinalizationRegistry", "Float16Array", "Float32Array", "Float64Array", "FormData", "Function", "Headers",
    "Infinity", "Int16Array", "Int32Array", "Int8Array", "InternalError", "Intl", "Iterator", "JSON", "Map", "Math",
    "MessageChannel", "MessageEvent", "MessagePort", "NaN", "Number", "Object", "Performance", "PerformanceEntry",
    "PerformanceMark", "PerformanceMeasure", "PerformanceObserver", "PerformanceObserverEntryList",
    "PerformanceResourceTiming", "Promise", "Proxy", "RangeError", "ReadableByteStreamController",
    "ReadableStream", "ReadableStreamBYOBReader", "ReadableStreamBYOBRequest", "ReadableStreamDefaultController",
    "ReadableStreamDefaultReader", "ReferenceError", "Reflect", "RegExp", "Request", "Response", "Set",
    "SharedArrayBuffer", "String", "SubtleCrypto", "SuppressedError", "Symbol", "SyntaxError", "TextDecoder", "TextDecoderStream", "TextEncoder",
    "TextEncoderStream",
    "TransformStream", "TransformStreamDefaultController", "TypeError", "URIError", "URL", "URLSearchParams",
    "Uint16Array", "Uint32Array", "Uint8Array", "Uint8ClampedArray", "WeakMap", "WeakRef", "WeakSet", "WebAssembly",
    "WritableStream", "WritableStreamDefaultController", "WritableStreamDefaultWriter", "__dirname", "__filename",
    "atob", "btoa", "clearImmediate", "clearInterval", "clearTimeout", "console", "crypto", "decodeURI",
    "decodeURIComponent", "encodeURI", "encodeURIComponent", "escape", "exports", "fetch", "global", "globalThis",
    "isFinite", "isNaN", "module", "navigator", "parseFloat", "parseInt", "performance", "process", "queueMicrotask",
    "require", "self", "setImmediate", "setInterval", "setTimeout", "structuredClone", "unescape", "window",
];

/// ECMA-262 (2025) §20.1.3 and Annex B: what the global object inherits; `then` and `toJSON`, which `await` and
/// `JSON.stringify` call on an object that has them.
#[rustfmt::skip]
const JAVASCRIPT_INHERITED: &[&str] = &[
    "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__", "constructor",
    "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "then", "toJSON", "toLocaleString", "toString",
    "valueOf",
];

/// Globals that guest-js defines for scripts (DESIGN §5 and §6, issue 2 item 4).
#[rustfmt::skip]
const SCRIPT_GLOBALS: &[&str] = &[
    "ApprovalError", "ArgumentError", "CancelledError", "CapabilityError", "HostError", "LimitError", "PolicyError",
    "ToolError", "__tollhouse_again", "__tollhouse_import", "__tools__", "args", "budgets", "env", "fs",
    "getToolInfo", "import_meta", "listTools", "shell", "sleep", "state", "stdin",
];

/// bash 5.2 reference manual, §3.2.1 "Reserved Words".
#[rustfmt::skip]
const SHELL_WORDS: &[&str] = &[
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select", "then",
    "time", "until", "while",
];

/// bash 5.2 reference manual, §4.1 and §4.2 (builtins with a name of letters), and the POSIX commands whose absence or
/// change would break most scripts: POSIX.1-2024 "Utilities", the ones that a script reaches for by habit.
#[rustfmt::skip]
const SHELL_BUILTINS: &[&str] = &[
    "alias", "awk", "basename", "bash", "bg", "bind", "break", "builtin", "caller", "cat", "cd", "chmod", "command",
    "compgen", "complete", "compopt", "continue", "cp", "cut", "date", "declare", "dirname", "dirs", "disown",
    "echo", "enable", "env", "eval", "exec", "exit", "export", "expr", "false", "fc", "fg", "find", "getopts",
    "grep", "hash", "head", "help", "history", "jobs", "jq", "kill", "let", "ln", "local", "logout", "ls",
    "mapfile", "mkdir", "mv", "popd", "printf", "pushd", "pwd", "read", "readarray", "readonly", "return", "rm",
    "rmdir", "sed", "set", "sh", "shift", "shopt", "sleep", "sort", "source", "suspend", "tail", "tee", "test",
    "timeout", "times", "touch", "tr", "trap", "true", "type", "typeset", "ulimit", "umask", "unalias", "uniq",
    "unset", "wait", "wc", "xargs",
];

/// Commands that guest-shell defines for scripts.
const SCRIPT_COMMANDS: &[&str] = &["js", "node", "tool"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_for_binary_search() {
        for (list, what) in JAVASCRIPT.iter().chain(SHELL) {
            assert!(list.is_sorted_by(|one, next| one < next), "{what}");
        }
    }
}
