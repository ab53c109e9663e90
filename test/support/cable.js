// @ts-check
/**
 * The way from an instance to its database or another server, which can fall silent, forget its connections, or be slow,
 * as a network is. Nothing is ever reset by it: what is cut off arrives once it is sent again over a way that is whole.
 * Plain JavaScript, so that tests and tools run it without a build.
 */
import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** @import { Server, Socket } from 'node:net' */

/** @typedef {'requests' | 'answers'} Direction `requests`: from the instance to the database */
/** @typedef {{ readonly opened: Promise<void>, readonly open: () => void }} Gate */
/** @typedef {Record<Direction, Gate | undefined>} Way where something is cut, the gate that has to open */

/**
 * What is lost is sent again this much later, and then each time after twice as long (RFC 6298). No kernel is asked to
 * lose packets, for which not every one is built.
 */
const RETRANSMISSION_MS = 200;
const SSL_REQUEST = 80877103;

export class Cable {
  /** @type {Server} */
  #server;
  /** @type {Set<Socket>} */
  #sockets = new Set();
  /** @type {Way} */
  #way = { requests: undefined, answers: undefined };
  /** @type {Set<Way>} of each connection */
  #ways = new Set();
  #statementMs = 0;
  #lossPercent = 0;
  /** @type {string | undefined} */
  #lastWords;

  /**
   * @param {{ readonly host: string, readonly port: number }} server `host`: a name, or the folder of its socket
   * @param {{ readonly isDatabase?: boolean }} [options] statements are told apart on the way to a database
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
   * Nothing passes any more, neither bytes nor the end of a connection.
   * @param {readonly Direction[]} directions
   */
  cut(directions = ['requests', 'answers']) {
    for (const direction of directions) this.#way[direction] ??= gate();
  }

  /** All that was cut passes again. */
  mend() {
    for (const cut of Object.values(this.#way)) cut?.open();
    this.#way = { requests: undefined, answers: undefined };
  }

  /** Nothing passes on the connections of now, for ever; new ones are well. */
  forgetConnections() {
    for (const way of this.#ways) {
      way.requests ??= gate();
      way.answers ??= gate();
    }
  }

  /**
   * A connection whose instance sends this text gets no answer from then on, for ever.
   * @param {string | undefined} text
   */
  silenceAfter(text) {
    this.#lastWords = text;
  }

  /**
   * Each statement of a connection takes this much longer, one after the other.
   * @param {number} milliseconds
   */
  slowDown(milliseconds) {
    this.#statementMs = milliseconds;
  }

  /**
   * As when packets are lost: what follows a lost one waits until it was sent again.
   * @param {number} percent of what is sent in either direction
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
     * @param {() => number} lag asked when its turn has come
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
    // Its end follows.
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

/** @param {number} elapsedMs since it was first sent */
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

/** Divides what an instance sends after each Sync and each simple query: there the server begins to answer. */
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
      // The first message has no type, nor has the one after a question for TLS.
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
