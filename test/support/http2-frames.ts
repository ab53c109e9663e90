import type { Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { until } from './route-server.ts';

const TYPE = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;
const END_STREAM = 1;
const END_HEADERS = 4;
const ACK = 1;
const CANCEL = 8;

/** An HTTP/2 peer that sends individual frames (RFC 9113 4.1), including ones that no client would send. */
export class FrameClient {
  isClosed = false;
  pongs = 0;
  readonly #socket: Socket;
  readonly #outcomes = new Map<number, string>();
  #goawayCode: number | undefined;
  #received = Buffer.alloc(0);

  static async connect(port: number, ca: string, servername: string): Promise<FrameClient> {
    return new FrameClient(await FrameClient.socket(port, ca, servername, ['h2']));
  }

  static async socket(port: number, ca: string, servername: string, protocols: string[]): Promise<TLSSocket> {
    return await new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, ca, servername, ALPNProtocols: protocols };
      const socket = connect(options, () => resolve(socket));
      socket.on('error', reject);
    });
  }

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', () => {});
    socket.on('close', () => {
      this.isClosed = true;
    });
    socket.on('data', (bytes: Buffer) => this.#receive(bytes));
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    this.settings();
  }

  /** Sends a request without compression: each field is literal, never indexed (RFC 7541 6.2.3). */
  request(
    stream: number,
    fields: readonly (readonly [string, string])[],
    { isEnd = true, hasBody = false } = {},
  ): void {
    const block = Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0x10), literal(name), literal(value)]));
    this.#send(TYPE.headers, (isEnd ? END_HEADERS : 0) | (hasBody ? 0 : END_STREAM), stream, block);
  }

  continuation(stream: number): void {
    this.#send(TYPE.continuation, 0, stream, Buffer.concat([Buffer.of(0x10), literal('x-a'), literal('b')]));
  }

  reset(stream: number): void {
    this.#send(TYPE.reset, 0, stream, uint32(CANCEL));
  }

  ping(): void {
    this.#send(TYPE.ping, 0, 0, Buffer.alloc(8));
  }

  settings(...pairs: readonly (readonly [number, number])[]): void {
    const payload = pairs.map(([id, value]) => Buffer.concat([Buffer.of(0, id), uint32(value)]));
    this.#send(TYPE.settings, 0, 0, Buffer.concat(payload));
  }

  /** Returns the outcome of a request: the response status, or `reset`. */
  async outcomeOf(stream: number): Promise<string> {
    await until(() => this.#outcomes.has(stream) || this.isClosed);
    return this.#outcomes.get(stream) ?? 'reset';
  }

  /** Returns the error code of the server's GOAWAY frame, once the server has ended the connection. */
  async goawayCode(): Promise<number | undefined> {
    await until(() => this.isClosed);
    return this.#goawayCode;
  }

  /** Opens the flow-control windows for responses of any size, then stops reading. */
  takeNothing(): void {
    this.settings([4, 2 ** 31 - 1]);
    this.#send(TYPE.windowUpdate, 0, 0, uint32(2 ** 30));
    this.#socket.pause();
  }

  /** Sends everything written in the callback as one packet. */
  together(send: () => void): void {
    this.#socket.cork();
    send();
    this.#socket.uncork();
  }

  close(): void {
    this.#socket.destroy();
  }

  #send(type: number, flags: number, stream: number, payload: Buffer): void {
    const head = Buffer.alloc(9);
    head.writeUIntBE(payload.length, 0, 3);
    head.writeUInt8(type, 3);
    head.writeUInt8(flags, 4);
    head.writeUInt32BE(stream, 5);
    this.#socket.write(Buffer.concat([head, payload]));
  }

  #receive(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    for (;;) {
      if (this.#received.length < 9) return;
      const length = this.#received.readUIntBE(0, 3);
      if (this.#received.length < 9 + length) return;
      const [type, flags] = [this.#received.readUInt8(3), this.#received.readUInt8(4)];
      const stream = this.#received.readUInt32BE(5);
      this.#frame(type, flags, stream, this.#received.subarray(9, 9 + length));
      this.#received = this.#received.subarray(9 + length);
    }
  }

  #frame(type: number, flags: number, stream: number, payload: Buffer): void {
    if (type === TYPE.settings && (flags & ACK) === 0) this.#send(TYPE.settings, ACK, 0, Buffer.alloc(0));
    else if (type === TYPE.ping) this.pongs += 1;
    else if (type === TYPE.goaway) this.#goawayCode = payload.readUInt32BE(4);
    else if (type === TYPE.reset && !this.#outcomes.has(stream)) this.#outcomes.set(stream, 'reset');
    else if (type === TYPE.headers && !this.#outcomes.has(stream)) this.#outcomes.set(stream, statusOf(payload));
  }
}

/**
 * The status is the first field: an index into the static table, or a literal with an indexed name (RFC 7541 appendix
 * A).
 */
function statusOf(block: Buffer): string {
  const first = block.readUInt8(0);
  const indexed = ['200', '204', '206', '304', '400', '404', '500'][(first & 0x7f) - 8];
  if (first >= 0x80 && indexed !== undefined) return indexed;
  const [, length = 0] = block;
  const text = block.subarray(2, 2 + (length & 0x7f));
  return (length & 0x80) === 0 ? text.toString('latin1') : digitsOf(text);
}

/** Decodes Huffman-coded digits: 0 to 2 have five bits, the others six (RFC 7541 appendix B). */
function digitsOf(bytes: Buffer): string {
  let bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  let digits = '';
  while (digits.length < 3 && bits.length >= 5) {
    const short = Number.parseInt(bits.slice(0, 5), 2);
    digits += short <= 2 ? short : Number.parseInt(bits.slice(0, 6), 2) - 0x19 + 3;
    bits = bits.slice(short <= 2 ? 5 : 6);
  }
  return digits;
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.length >= 0x7f) throw new Error('longer than this client can say');
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
