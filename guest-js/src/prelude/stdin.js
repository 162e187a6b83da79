// `stdin`: the standard input of the script, read on demand.

// Largest number of bytes that one read requests.
const readSize = 65_536;
let stdinDone = false;
// Bytes that were read synchronously and not consumed yet.
let stdinAhead = new Uint8Array(0);

// Returns the next bytes; empty at the end, and from then on.
const readSome = async (below) => {
  if (typedArrayLength(stdinAhead) > 0) return takeAhead(readSize);
  if (stdinDone) return new Uint8Array(0);
  const bytes = await perform(() => native.read(0, readSize), below);
  if (typedArrayLength(bytes) === 0) stdinDone = true;
  return bytes;
};

const joinBytes = (parts, length) => {
  const all = new Uint8Array(length);
  let at = 0;
  for (let i = 0; i < parts.length; i++) {
    typedArraySet(all, parts[i], at);
    at += typedArrayLength(parts[i]);
  }
  return all;
};

const readAll = async (below) => {
  const parts = [];
  let length = 0;
  for (;;) {
    const bytes = await readSome(below);
    if (typedArrayLength(bytes) === 0) return joinBytes(parts, length);
    push(parts, bytes);
    length += typedArrayLength(bytes);
  }
};

const takeAhead = (limit) => {
  const taken = subarray(stdinAhead, 0, limit);
  stdinAhead = subarray(stdinAhead, limit);
  return taken;
};

// Returns the next bytes for a synchronous function, which cannot be suspended: the host waits within this step.
const readNow = (limit) => {
  if (typedArrayLength(stdinAhead) === 0 && !stdinDone) {
    const read = native.readNow(readSize);
    if (read.failure !== undefined) {
      const error = failureError(read.failure, captureStack(readNow));
      define(error, 'code', read.failure.kind === 'deadlock' ? 'EAGAIN' : 'EIO');
      throw error;
    }
    stdinAhead = read.bytes;
    stdinDone = typedArrayLength(stdinAhead) === 0;
  }
  return takeAhead(limit);
};

// Reads the rest of the input synchronously. After an error the bytes that were read so far are kept.
const readAllNow = () => {
  const parts = [];
  let length = 0;
  try {
    for (;;) {
      const bytes = readNow(readSize);
      if (typedArrayLength(bytes) === 0) return joinBytes(parts, length);
      push(parts, bytes);
      length += typedArrayLength(bytes);
    }
  } catch (error) {
    stdinAhead = joinBytes(parts, length);
    throw error;
  }
};

// Yields the lines of the input without line ends. Bytes that are not UTF-8 become U+FFFD.
async function* readLines() {
  let rest = new Uint8Array(0);
  for (;;) {
    const bytes = await readSome(readLines);
    if (typedArrayLength(bytes) === 0) break;
    let from = 0;
    for (let i = 0; i < typedArrayLength(bytes); i++) {
      if (bytes[i] !== 10) continue;
      const part = subarray(bytes, from, i);
      const line = joinBytes([rest, part], typedArrayLength(rest) + typedArrayLength(part));
      rest = new Uint8Array(0);
      from = i + 1;
      yield lineText(line);
    }
    const part = subarray(bytes, from);
    rest = joinBytes([rest, part], typedArrayLength(rest) + typedArrayLength(part));
  }
  if (typedArrayLength(rest) > 0) yield lineText(rest);
}

const lineText = (line) => {
  const text = native.decodeUtf8Lossy(line);
  return endsWith(text, '\r') ? substring(text, 0, text.length - 1) : text;
};

const stdinFunctions = {
  async bytes() {
    return readAll(stdinFunctions.bytes);
  },
  async text() {
    return native.decodeUtf8Lossy(await readAll(stdinFunctions.text));
  },
  async json() {
    return parseJson(native.decodeUtf8Lossy(await readAll(stdinFunctions.json)));
  },
  lines: () => readLines(),
};

const stdin = {};
for (const name in stdinFunctions) stdin[name] = stdinFunctions[name];
define(stdin, symbolAsyncIterator, () => readLines());
defineGlobal('stdin', stdin);
