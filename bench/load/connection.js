import { connect } from 'node:net';

/**
 * A keep-alive HTTP/1.1 connection that sends a request and waits for its response. It does as little as a closed loop
 * needs, so that the driver costs little compared to the server.
 */
export class Connection {
  #socket;
  #host;
  #received = '';
  #resolve;
  #reject;

  /** @param options `localAddress` to connect from, `host` to request; default: the address of the port */
  static async open(port, options = {}) {
    const connection = new Connection();
    await connection.#open(port, options);
    return connection;
  }

  /** The server announced that it closes the connection. */
  isLast = false;

  #open(port, { localAddress, host = `127.0.0.1:${port}` }) {
    // The host of `public_base`: pages requested from another host redirect the browser there.
    this.#host = `\r\nHost: ${host}`;
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true });
      this.#socket = socket;
      socket.setEncoding('latin1');
      socket.once('connect', resolve);
      socket.once('error', reject);
      socket.on('error', (error) => this.#reject?.(error));
      socket.on('close', () => this.#reject?.(new Error('the connection was closed before the answer')));
      socket.on('data', (text) => {
        this.#received += text;
        this.#deliver();
      });
    });
  }

  /**
   * @param request the whole request except `Host`, in ASCII
   * @returns `{ status, head, body }`
   */
  exchange(request) {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      const lineEnd = request.indexOf('\r\n');
      this.#socket.write(request.slice(0, lineEnd) + this.#host + request.slice(lineEnd), 'latin1');
    });
  }

  close() {
    this.#reject = undefined;
    this.#socket.destroy();
  }

  #deliver() {
    const text = this.#received;
    const headEnd = text.indexOf('\r\n\r\n');
    if (headEnd === -1) return;
    const head = text.slice(0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    let body;
    if (length !== null) {
      const end = headEnd + 4 + Number(length[1]);
      if (text.length < end) return;
      body = text.slice(headEnd + 4, end);
    } else {
      body = chunkedBody(text, headEnd + 4);
      if (body === undefined) return;
    }
    this.#received = '';
    this.isLast = /\r\nconnection: *close/i.test(head);
    const resolve = this.#resolve;
    this.#resolve = undefined;
    this.#reject = undefined;
    resolve({ status: Number(head.slice(9, 12)), head, body });
  }
}

/** Returns undefined while the last chunk is missing. */
function chunkedBody(text, start) {
  if (!text.endsWith('0\r\n\r\n')) return undefined;
  let body = '';
  for (let position = start; ; ) {
    const lineEnd = text.indexOf('\r\n', position);
    const size = Number.parseInt(text.slice(position, lineEnd), 16);
    if (size === 0) return body;
    body += text.slice(lineEnd + 2, lineEnd + 2 + size);
    position = lineEnd + 2 + size + 2;
  }
}
