// @ts-check
/**
 * A network link from an instance to its database or another server. It can go silent, stall existing connections, or
 * be slow. It never resets a connection: blocked bytes arrive when they are retransmitted after the link is restored.
 * Plain JavaScript, so that tests and tools run it without a build.
 */
import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** @import { Server, Socket } from 'node:net' */

/** @typedef {'requests' | 'answers'} Direction `requests`: from the instance to the database */
/** @typedef {{ readonly opened: Promise<void>, readonly open: () => void }} Gate */
/** @typedef {Record<Direction, Gate | undefined>} Way the gate of each blocked direction */

/**
 * First retransmission delay. Each further retransmission doubles it (RFC 6298). Loss is simulated here because not
 * every kernel is built with support for packet loss.
 */
const RETRANSMISSION_MS = 200;
const SSL_REQUEST = 80877103;

export class NetworkLink {
  /** @type {Server} */
  #server;
  /** @type {Set<Socket>} */
  #sockets = new Set();
  /** @type {Way} */
  #way = { requests: undefined, answers: undefined };
  /** @type {Set<Way>} one per connection */
  #ways = new Set();
  #statementMs = 0;
  #lossPercent = 0;
  /** @type {string | undefined} */
  #lastWords;

  /**
   * @param {{ readonly host: string, readonly port: number }} server `host`: a name, or the folder of its socket
   * @param {{ readonly isDatabase?: boolean }} [options] `isDatabase`: recognize individual statements
   */
  constructor({ host, port }, { isDatabase = true } = {}) {
    this.#server = createServer({ allowHalfOpen: true }, (near) => {
      const far = host.startsWith('/')
        ? connect({ path: join(host, `.s.PGSQL.${port}`), allowHalfOpen: true })
        : connect({ host, port, allowHalfOpen: true });
      /** @type {Way} */
      const way = { requests: undefined, answers: undefined };
      this.#ways.add(way);
      near.once('close', () => this.#ways.delete(way));
      this.#lead(near, far, way, 'requests', isDatabase ? statementsOf() : undivided);
      this.#lead(far, near, way, 'answers', undivided);
    });
  }

  /**
   * @param {number} port
   * @param {string} [address] on loopback
   * @returns {Promise<void>}
   */
  listen(port, address = '127.0.0.1') {
    return new Promise((resolve) => this.#server.listen(port, address, resolve));
  }

  /**
   * Blocks all traffic, including the end of a connection.
   * @param {readonly Direction[]} directions
   */
  cut(directions = ['requests', 'answers']) {
    for (const direction of directions) this.#way[direction] ??= gate();
  }

  /** Restores all blocked traffic. */
  mend() {
    for (const cut of Object.values(this.#way)) cut?.open();
    this.#way = { requests: undefined, answers: undefined };
  }

  /** Blocks the existing connections permanently. New connections work. */
  forgetConnections() {
    for (const way of this.#ways) {
      way.requests ??= gate();
      way.answers ??= gate();
    }
  }

  /**
   * Blocks the responses on a connection permanently once its instance sends this text.
   * @param {string | undefined} text
   */
  silenceAfter(text) {
    this.#lastWords = text;
  }

  /**
   * Delays each statement of a connection by this time, one after the other.
   * @param {number} milliseconds
   */
  slowDown(milliseconds) {
    this.#statementMs = milliseconds;
  }

  /**
   * Simulates packet loss: bytes after a lost packet wait until it is retransmitted.
   * @param {number} percent of the packets in either direction
   */
  lose(percent) {
    this.#lossPercent = percent;
  }

  close() {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  /**
   * @param {Socket} from
   * @param {Socket} to
   * @param {Way} way
   * @param {Direction} direction
   * @param {(bytes: Buffer) => readonly { readonly bytes: Buffer, readonly isStatement: boolean }[]} divide
   */
  #lead(from, to, way, direction, divide) {
    let last = Promise.resolve();
    /**
     * @param {() => void} deliver
     * @param {() => number} lag evaluated when the delivery is next in the queue
     */
    const pass = (deliver, lag = () => 0) => {
      last = last.then(async () => {
        const milliseconds = lag();
        if (milliseconds > 0) await pause(milliseconds);
        const arrivedAt = performance.now();
        while (this.#way[direction] !== undefined) {
          await this.#way[direction].opened;
          await pause(untilSentAgain(performance.now() - arrivedAt));
        }
        await way[direction]?.opened;
        deliver();
      });
    };
    this.#sockets.add(from);
    from.on('data', (chunk) => {
      for (const { bytes, isStatement } of divide(Buffer.from(chunk))) {
        if (isStatement && this.#lastWords !== undefined && bytes.includes(this.#lastWords)) way.answers ??= gate();
        pass(
          () => to.write(bytes),
          () => (isStatement ? this.#statementMs : 0) + this.#lossMs(),
        );
      }
    });
    from.on('end', () => pass(() => to.end()));
    // A `close` event follows.
    from.on('error', () => {});
    from.on('close', () => {
      this.#sockets.delete(from);
      pass(() => to.destroy());
    });
  }

  #lossMs() {
    let milliseconds = 0;
    while (randomInt(100) < this.#lossPercent) milliseconds = milliseconds * 2 + RETRANSMISSION_MS;
    return milliseconds;
  }
}

/** @param {number} elapsedMs since the first transmission */
function untilSentAgain(elapsedMs) {
  let atMs = RETRANSMISSION_MS;
  for (let interval = RETRANSMISSION_MS; atMs < elapsedMs; atMs += interval) interval *= 2;
  return atMs - elapsedMs;
}

/** @returns {Gate} */
function gate() {
  let open = () => {};
  /** @type {Promise<void>} */
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** @param {Buffer} bytes */
function undivided(bytes) {
  return [{ bytes, isStatement: false }];
}

/** Splits an instance's bytes after each Sync and each simple query, where the server starts its response. */
function statementsOf() {
  let rest = Buffer.alloc(0);
  let hasBegun = false;
  /** @param {Buffer} chunk */
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    /** @type {{ readonly bytes: Buffer, readonly isStatement: boolean }[]} */
    const pieces = [];
    let end = 0;
    for (;;) {
      // The first message has no type byte, nor does the message after an SSLRequest.
      const typeBytes = hasBegun ? 1 : 0;
      if (rest.length < end + typeBytes + 4) break;
      const next = end + typeBytes + rest.readUInt32BE(end + typeBytes);
      if (rest.length < next) break;
      const type = hasBegun ? String.fromCharCode(rest.readUInt8(end)) : '';
      if (!hasBegun) hasBegun = rest.readUInt32BE(end + 4) !== SSL_REQUEST;
      end = next;
      if (type === 'S' || type === 'Q' || type === '' || type === 'p' || type === 'X') {
        pieces.push({ bytes: rest.subarray(0, end), isStatement: type === 'S' || type === 'Q' });
        rest = rest.subarray(end);
        end = 0;
      }
    }
    return pieces;
  };
}
