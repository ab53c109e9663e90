import type { Socket } from 'node:net';
import { reasonPhrase } from '#platform/log/request-line.ts';

/** Answers on a connection on which no request could be read, and ends it. */
export function answerRaw(socket: Socket, status: number): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.write(
    `HTTP/1.1 ${status} ${reasonPhrase(status)}\r\nConnection: close\r\nContent-Length: 0\r\n` +
      'Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\r\n',
  );
  socket.destroySoon();
}
