import type { Socket } from 'node:net';
import { reasonPhrase } from './logging/request-line.ts';

/** Answers on a connection on which no request could be read, and ends it. */
export function answerRaw(socket: Socket, status: number, headers: Readonly<Record<string, string>> = {}): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(
    `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\nConnection: close\r\nContent-Length: 0\r\n` +
      `Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n${lines.join('')}\r\n`,
  );
  socket.destroySoon();
}

/** The head of a request that Node's parser refuses only because it does not know the method. */
export interface UnknownMethodHead {
  readonly target: string;
  readonly httpVersion: string;
  readonly userAgent: string | undefined;
}

const REQUEST_LINE = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,1024} (\S{1,8192}) HTTP\/(1\.[01])\r\n/;
const USER_AGENT = /\r\nuser-agent:[ \t]*([^\r\n]*)/i;

/**
 * Reads such a head from the bytes that the parser stopped at; undefined when they are no request line.
 * @param parsedBytes where in `packet` the parser stopped, within the method
 */
export function readUnknownMethodHead(packet: Buffer, parsedBytes: number): UnknownMethodHead | undefined {
  const start = packet.lastIndexOf('\n', Math.max(0, parsedBytes - 1)) + 1;
  const text = packet.toString('latin1', start);
  const match = REQUEST_LINE.exec(text);
  const [, target, httpVersion] = match ?? [];
  if (target === undefined || httpVersion === undefined) return undefined;
  return { target, httpVersion, userAgent: USER_AGENT.exec(text)?.[1]?.trim() };
}
