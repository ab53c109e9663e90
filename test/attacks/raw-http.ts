import { connect } from 'node:net';

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  /** Values by lower-case name. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** One character for each byte. */
  readonly body: string;
}

export interface RawRequest {
  /** GET unless given. */
  readonly method?: string;
  /** Path and query as they go out. */
  readonly target: string;
  /** One character for each byte; `host`, `connection` and the length of the body are added unless they are here. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Buffer;
}

const ANSWER_TIMEOUT_MS = 30_000;
/** After so long without a byte the server is taken to wait for more of ours. */
const QUIET_MS = 30;

/** The bytes of a request, without any check of what they say. */
export function requestBytes(request: RawRequest): Buffer {
  const { method = 'GET', target, headers = [], body } = request;
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  const payload = typeof body === 'string' ? Buffer.from(body) : (body ?? Buffer.alloc(0));
  const all = [...headers];
  if (!given.has('host')) all.push(['Host', 'auth.example.test']);
  if (!given.has('connection')) all.push(['Connection', 'close']);
  if (body !== undefined && !given.has('content-length') && !given.has('transfer-encoding')) {
    all.push(['Content-Length', String(payload.length)]);
  }
  const head = [`${method} ${target} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`)].join('\r\n');
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), payload]);
}

/** Sends one request on a connection of its own. Throws unless exactly one answer comes back. */
export async function sendRequest(address: string, request: RawRequest): Promise<RawAnswer> {
  const text = await converse(address, requestBytes(request), { isWhole: true });
  const answers = parseAnswers(text, { isHead: request.method === 'HEAD' });
  const [answer] = answers;
  if (answer === undefined || answers.length > 1) {
    throw new Error(`${answers.length} answers to ${request.method ?? 'GET'} ${request.target.slice(0, 200)}`);
  }
  return answer;
}

/** Sends bytes, whatever they are, and returns all answers; half-closes the connection when nothing more comes. */
export async function sendBytes(address: string, bytes: Buffer | string): Promise<RawAnswer[]> {
  const payload = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
  return parseAnswers(await converse(address, payload, { isWhole: false }), { isHead: false });
}

/** @returns everything that came back until the server closed, one character for each byte */
function converse(address: string, bytes: Buffer, options: { readonly isWhole: boolean }): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(address);
    const socket = connect(Number(port), hostname);
    let received = '';
    let quiet: NodeJS.Timeout | undefined;
    const listen = (): void => {
      clearTimeout(quiet);
      if (!options.isWhole) quiet = setTimeout(() => socket.end(), QUIET_MS);
    };
    socket.setEncoding('latin1');
    socket.setTimeout(ANSWER_TIMEOUT_MS, () => {
      socket.destroy();
      reject(new Error(`the connection was left open; so far: ${JSON.stringify(received.slice(0, 200))}`));
    });
    socket.on('connect', () => {
      socket.write(bytes);
      listen();
    });
    socket.on('data', (text: string) => {
      received += text;
      listen();
    });
    // A reset after a refusal: what came before it counts.
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(quiet);
      resolve(received);
    });
  });
}

const HEAD = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/;

/** Splits what came back into answers. Throws for anything between them. */
function parseAnswers(text: string, options: { readonly isHead: boolean }): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  while (rest !== '') {
    const [head, code = '', lines = ''] = HEAD.exec(rest) ?? [];
    if (head === undefined) throw new Error(`no answer: ${JSON.stringify(rest.slice(0, 200))}`);
    const status = Number(code);
    const headers = parseHeaders(lines);
    const hasBody = !options.isHead && status >= 200 && status !== 204 && status !== 304;
    const length = hasBody ? Number(headers.get('content-length')?.[0] ?? Number.NaN) : 0;
    const body = rest.slice(head.length, head.length + length);
    if (body.length !== length) throw new Error(`an answer was cut off: ${body.length} of ${length} bytes`);
    rest = rest.slice(head.length + length);
    // Interim answers announce the one that counts.
    if (status >= 200) answers.push({ status, headers, body });
  }
  return answers;
}

function parseHeaders(lines: string): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (const line of lines.split('\r\n').filter((text) => text !== '')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    headers.set(name, [...(headers.get(name) ?? []), line.slice(colon + 1).trim()]);
  }
  return headers;
}

/** The first line of a header; undefined when it is absent. */
export function headerOf(answer: RawAnswer, name: string): string | undefined {
  return answer.headers.get(name)?.[0];
}

/** The members of a JSON answer. */
export function jsonOf(answer: RawAnswer): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(Buffer.from(answer.body, 'latin1').toString());
  if (typeof value !== 'object' || value === null) throw new Error(`no JSON object: ${answer.body}`);
  return { ...value };
}

/** A member of a JSON answer that has to be a text. */
export function textMember(answer: RawAnswer, name: string): string {
  const value = jsonOf(answer)[name];
  if (typeof value !== 'string') throw new Error(`${name} is not a string in ${answer.status} ${answer.body}`);
  return value;
}
