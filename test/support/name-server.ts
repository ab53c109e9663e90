import { createSocket, type Socket } from 'node:dgram';

/** RFC 1035 4.1.1, RCODE. */
const FAILURES = { nxdomain: 3, servfail: 2 };
const TYPE_A = 1;

/** An address, `silent` for no response, or `servfail` for a failed lookup. */
export type NameResponse = string | keyof typeof FAILURES | 'silent';

/**
 * A DNS server on port 53 of a loopback address. Each name resolves to one address, does not exist, or gets no
 * response.
 */
export class NameServer {
  /** The answer for every name that has none of its own. */
  answer: NameResponse = 'nxdomain';
  readonly answers = new Map<string, NameResponse>();
  readonly #socket: Socket = createSocket('udp4');

  constructor() {
    this.#socket.on('message', (question, { address, port }) => {
      const response = this.answers.get(nameOf(question)) ?? this.answer;
      if (response !== 'silent') this.#socket.send(responseTo(question, response), port, address);
    });
  }

  listen(address: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.once('error', reject);
      this.#socket.bind(53, address, resolve);
    });
  }

  close(): void {
    this.#socket.close();
  }
}

/** Reads the labels of the name (RFC 1035 4.1.2). */
function nameOf(question: Buffer): string {
  const labels: string[] = [];
  for (let start = 12; question.readUInt8(start) !== 0; start += question.readUInt8(start) + 1)
    labels.push(question.toString('latin1', start + 1, start + 1 + question.readUInt8(start)));
  return labels.join('.').toLowerCase();
}

/** Builds a response (RFC 1035 4.1): the question, and for an address one record with a TTL of one hour. */
function responseTo(question: Buffer, response: string): Buffer {
  let end = 12;
  while (question.readUInt8(end) !== 0) end += question.readUInt8(end) + 1;
  const requested = question.readUInt16BE(end + 1);
  const failure = response === 'nxdomain' || response === 'servfail' ? FAILURES[response] : undefined;
  const hasRecord = failure === undefined && requested === TYPE_A;
  const head = Buffer.from(question.subarray(0, end + 5));
  head.writeUInt16BE(0x8180 | (failure ?? 0), 2);
  head.writeUInt16BE(hasRecord ? 1 : 0, 6);
  head.fill(0, 8, 12);
  if (!hasRecord) return head;
  const record = Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0x0e, 0x10, 0, 4, ...response.split('.').map(Number)]);
  return Buffer.concat([head, record]);
}
