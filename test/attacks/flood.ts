import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const CONNECTIONS = 8;
/** Below the maximum of pipelined requests per connection. */
const PIPELINED = 8;

/**
 * Sends requests as fast as they are answered, over a few persistent connections.
 * @returns the number of responses by status
 */
export async function flood(address: string, requests: Iterable<Buffer>): Promise<Map<number, number>> {
  const queue = requests[Symbol.iterator]();
  const counts = new Map<number, number>();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let batch = take(queue); batch.length > 0; ) {
        const statuses = await converse(address, queue, batch);
        for (const status of statuses.received) counts.set(status, (counts.get(status) ?? 0) + 1);
        // Requests that the server had not answered when it closed the connection.
        batch = statuses.unanswered;
      }
    }),
  );
  return counts;
}

function take(queue: Iterator<Buffer>): Buffer[] {
  const batch: Buffer[] = [];
  while (batch.length < PIPELINED) {
    const next = queue.next();
    if (next.done === true) break;
    batch.push(next.value);
  }
  return batch;
}

interface Conversation {
  readonly received: readonly number[];
  readonly unanswered: Buffer[];
}

/** Sends batches until none are left or the server closes the connection. */
async function converse(address: string, queue: Iterator<Buffer>, first: Buffer[]): Promise<Conversation> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const received: number[] = [];
  try {
    for (let batch = first; batch.length > 0; batch = take(queue)) {
      socket.write(Buffer.concat(batch));
      const statuses = await readStatuses(socket, batch.length);
      received.push(...statuses);
      if (statuses.length < batch.length) return { received, unanswered: batch.slice(statuses.length) };
    }
    return { received, unanswered: [] };
  } finally {
    socket.destroy();
  }
}

const HEAD_END = Buffer.from('\r\n\r\n');

/** Reads the statuses of the next responses, fewer if the connection ends early. */
function readStatuses(socket: Socket, count: number): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const statuses: number[] = [];
    let rest: Buffer = Buffer.alloc(0);
    const finish = (): void => {
      socket.off('data', receive);
      socket.off('close', finish);
      socket.off('error', finish);
      resolve(statuses);
    };
    const receive = (chunk: Buffer): void => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      for (;;) {
        const end = rest.indexOf(HEAD_END);
        if (end === -1) break;
        const head = rest.toString('latin1', 0, end);
        const status = Number(head.slice(9, 12));
        const hasBody = status !== 204 && status !== 304;
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
        const size = end + HEAD_END.length + (hasBody ? length : 0);
        if (rest.length < size) break;
        statuses.push(status);
        rest = rest.subarray(size);
      }
      if (statuses.length > count) reject(new Error('more answers than requests'));
      else if (statuses.length === count) finish();
    };
    socket.on('data', receive);
    socket.once('close', finish);
    socket.once('error', finish);
  });
}
