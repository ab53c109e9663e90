import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

const HEAD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,1024}) (\S{1,8192}) HTTP\/1\.([01])\r\n((?:[^\r\n]*\r\n)*?)\r\n/;
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*(.*?)[ \t]*$/;
/** What an answer to such a request can depend on; of the others only the number counts. */
const JOINED_FIELDS = new Set(['accept', 'accept-language', 'forwarded', 'x-forwarded-for']);
const SINGLE_FIELDS = new Set(['user-agent', 'traceparent']);

/**
 * Reads the request that Node's parser refused only because it does not know the method, so that it can be answered
 * as any other; undefined when its bytes are no whole head.
 * @param parsedBytes where in `packet` the parser stopped, within the method
 */
export function readUnknownMethod(socket: Socket, packet: Buffer, parsedBytes: number): IncomingMessage | undefined {
  const start = packet.lastIndexOf('\n', Math.max(0, parsedBytes - 1)) + 1;
  const [, method, target, minor, lines = ''] = HEAD.exec(packet.toString('latin1', start)) ?? [];
  if (method === undefined || target === undefined || minor === undefined) return undefined;
  const request = new IncomingMessage(socket);
  for (const line of lines.split('\r\n').slice(0, -1)) {
    const [, name = '', value = ''] = FIELD.exec(line) ?? [];
    if (name === '') return undefined;
    request.rawHeaders.push(name, value);
    const key = name.toLowerCase();
    const known = request.headers[key];
    if (known === undefined && (SINGLE_FIELDS.has(key) || JOINED_FIELDS.has(key))) request.headers[key] = value;
    else if (typeof known === 'string' && JOINED_FIELDS.has(key)) request.headers[key] = `${known}, ${value}`;
  }
  request.method = method;
  request.url = target;
  request.httpVersion = `1.${minor}`;
  request.complete = true;
  return request;
}
