import { connect } from 'node:net';

/** A response as received from the wire. */
export interface RawResponse {
  readonly status: number;
  /** Values by lowercase name. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** One character per byte. */
  readonly body: string;
}

export interface RawRequest {
  /** GET by default. */
  readonly method?: string;
  /** Path and query as sent. */
  readonly target: string;
  /** One character per byte. `host`, `connection` and the content length are added unless present. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string | Buffer;
}

const RESPONSE_TIMEOUT_MS = 30_000;
/** After this long without a byte, the server is assumed to wait for more data. */
const QUIET_MS = 30;

/** Serializes a request without validation. */
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

/** Sends one request on a new connection. Throws unless it receives exactly one response. */
export async function sendRequest(address: string, request: RawRequest): Promise<RawResponse> {
  const text = await converse(address, requestBytes(request), { isWhole: true });
  const responses = parseResponses(text, { isHead: request.method === 'HEAD' });
  const [response] = responses;
  if (response === undefined || responses.length > 1) {
    throw new Error(`${responses.length} answers to ${request.method ?? 'GET'} ${request.target.slice(0, 200)}`);
  }
  return response;
}

/** Sends arbitrary bytes and returns all responses. Half-closes the connection when nothing more arrives. */
export async function sendBytes(address: string, bytes: Buffer | string): Promise<RawResponse[]> {
  const payload = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes;
  return parseResponses(await converse(address, payload, { isWhole: false }), { isHead: false });
}

/** @returns everything received until the server closed the connection, one character per byte */
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
    socket.setTimeout(RESPONSE_TIMEOUT_MS, () => {
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
    // The server may reset the connection after a rejection. What arrived earlier counts.
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(quiet);
      resolve(received);
    });
  });
}

const HEAD = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/;

/** Splits the received text into responses. Throws on anything between them. */
function parseResponses(text: string, options: { readonly isHead: boolean }): RawResponse[] {
  const responses: RawResponse[] = [];
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
    // Skips interim responses.
    if (status >= 200) responses.push({ status, headers, body });
  }
  return responses;
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

/** Returns the first value of a header, or undefined. */
export function headerOf(response: RawResponse, name: string): string | undefined {
  return response.headers.get(name)?.[0];
}

/** Returns the members of a JSON response. */
export function jsonOf(response: RawResponse): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(Buffer.from(response.body, 'latin1').toString());
  if (typeof value !== 'object' || value === null) throw new Error(`no JSON object: ${response.body}`);
  return { ...value };
}

/** Returns a string member of a JSON response. */
export function textMember(response: RawResponse, name: string): string {
  const value = jsonOf(response)[name];
  if (typeof value !== 'string') throw new Error(`${name} is not a string in ${response.status} ${response.body}`);
  return value;
}
