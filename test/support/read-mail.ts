/** An email as its recipient reads it. */
export interface ReadMail {
  readonly subject: string;
  /** Decoded, with `\n`. */
  readonly text: string;
  readonly html: string;
  /** Decoded headers by lowercase name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Parses a message with text and HTML parts, as the service composes it. */
export function readMail(source: string): ReadMail {
  const { headers, body } = split(source);
  const boundary = /boundary="([^"]+)"/.exec(headers['content-type'] ?? '')?.[1] ?? '';
  // The line break before a boundary is part of the boundary.
  const parts = `\n${body}`.split(`\n--${boundary}`).slice(1, -1).map(split);
  const part = (type: string) => {
    const found = parts.find((one) => one.headers['content-type']?.startsWith(type));
    return found === undefined ? '' : decode(found.body, found.headers['content-transfer-encoding']);
  };
  return { headers, subject: headers['subject'] ?? '', text: part('text/plain'), html: part('text/html') };
}

function split(text: string): { readonly headers: Record<string, string>; readonly body: string } {
  const [head = '', ...rest] = text.replaceAll('\r\n', '\n').replace(/^\n/, '').split('\n\n');
  const lines = head.replaceAll(/\n[ \t]+/g, ' ').split('\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())];
  });
  return { headers: Object.fromEntries(headers), body: rest.join('\n\n') };
}

function decode(body: string, encoding: string | undefined): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString().replaceAll('\r\n', '\n');
  return encoding === 'quoted-printable' ? fromQuotedPrintable(body.replaceAll('=\n', '')) : body;
}

function decodeWords(text: string): string {
  return text
    .replaceAll(/\?= =\?/g, '?==?')
    .replaceAll(/=\?UTF-8\?([QB])\?([^?]*)\?=/g, (_, kind, word: string) =>
      kind === 'B' ? Buffer.from(word, 'base64').toString() : fromQuotedPrintable(word.replaceAll('_', ' ')),
    );
}

function fromQuotedPrintable(text: string): string {
  return Buffer.from(
    text.replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();
}
