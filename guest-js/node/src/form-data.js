// Bodies of the type `multipart/form-data`: how forms are written and read.
const { native } = host;

const encode = (text) => native.encodeUtf8(text);
const CRLF = '\r\n';

export const newBoundary = () => `----formdata-tollhouse-${[...native.randomBytes(8)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;

/** Returns the parts of a form as bytes. */
export const writeForm = async (form, boundary) => {
  const escape = (text) => text.replace(/\r?\n|\r/g, '%0D%0A').replace(/"/g, '%22');
  const parts = [];
  for (const [name, value] of form) {
    const file = value instanceof Blob ? `; filename="${escape(value.name)}"\r\nContent-Type: ${value.type || 'application/octet-stream'}` : '';
    parts.push(encode(`--${boundary}\r\nContent-Disposition: form-data; name="${escape(name)}"${file}\r\n\r\n`));
    parts.push(value instanceof Blob ? await value.bytes() : encode(value.replace(/\r?\n|\r/g, CRLF)));
    parts.push(encode(CRLF));
  }
  parts.push(encode(`--${boundary}--\r\n`));
  return parts;
};

const failed = () => new TypeError('Failed to parse body as FormData.');

/** Adds the parts of a body to a form. A body that is no form is an error. */
export const readForm = (bytes, type, form) => {
  const boundary = /;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type);
  if (boundary === null) throw failed();
  // Characters are bytes, so that places in the text are places in the body.
  const text = Array.from({ length: Math.ceil(bytes.length / 8192) }, (_, at) => String.fromCharCode(...bytes.subarray(at * 8192, at * 8192 + 8192))).join('');
  const mark = `--${boundary[1] ?? boundary[2]}`;
  let at = text.indexOf(mark);
  if (at < 0) throw failed();
  for (;;) {
    at += mark.length;
    if (text.startsWith('--', at)) return form;
    const head = text.indexOf(CRLF, at);
    const body = text.indexOf(CRLF + CRLF, at);
    const end = text.indexOf(CRLF + mark, body);
    if (head !== at || body < 0 || end < 0) throw failed();
    addPart(form, native.decodeUtf8Lossy(bytes.slice(head + 2, body)), bytes.slice(body + 4, end));
    at = end + 2;
  }
};
const addPart = (form, head, content) => {
  const field = (name) => new RegExp(`^${name}:\\s*(.*)$`, 'im').exec(head)?.[1].trim();
  const disposition = field('content-disposition') ?? '';
  const unescape = (value) => value?.replaceAll('%22', '"').replaceAll('%0D', '\r').replaceAll('%0A', '\n');
  const name = unescape(/;\s*name="([^"]*)"/i.exec(disposition)?.[1]);
  if (!/^form-data\b/i.test(disposition) || name === undefined) throw failed();
  const file = unescape(/;\s*filename="([^"]*)"/i.exec(disposition)?.[1]);
  if (file === undefined) form.append(name, native.decodeUtf8Lossy(content));
  else form.append(name, new File([content], file, { type: field('content-type') ?? 'text/plain' }));
};
