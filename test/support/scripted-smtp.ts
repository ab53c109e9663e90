/** An SMTP server on loopback that misbehaves as scripted at any step of a message, like broken servers do. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** Steps of a message. `content` is what follows the reply to `DATA`. */
export const STEPS = ['greeting', 'EHLO', 'MAIL FROM', 'RCPT TO', 'DATA', 'content'] as const;
export type Step = (typeof STEPS)[number];

export type Reaction =
  /** Replies with this code. */
  | number
  /** Never replies. */
  | 'silent'
  /** Replies one byte at a time and never finishes. */
  | 'drip'
  /** Closes the connection. For `content`, after the first bytes. */
  | 'close'
  /** Replies like a working server when this resolves. */
  | Promise<void>;

export interface ScriptedSmtp {
  readonly port: number;
  /** Current reactions. Steps without one behave like a working server. */
  reactions: Partial<Record<Step, Reaction>>;
  /** Steps reached so far, across all connections. */
  readonly steps: readonly Step[];
  /** Headers and body of each accepted message. */
  readonly mails: readonly string[];
  /** Returns the number of open connections. */
  connections(): number;
  stop(): Promise<void>;
}

const SOUND: Readonly<Record<Step, number>> = {
  ...{ greeting: 220, EHLO: 250, 'MAIL FROM': 250, 'RCPT TO': 250, DATA: 354, content: 250 },
};
const END_OF_CONTENT = '\r\n.\r\n';
const DRIP_MS = 20;

export async function startScriptedSmtp(): Promise<ScriptedSmtp> {
  const sockets = new Set<Socket>();
  const steps: Step[] = [];
  const mails: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.setEncoding('utf8').on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    // The client may close the connection at any time.
    converse(socket, peer, steps, mails).catch(() => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the peer is bound to no port');
  const peer: ScriptedSmtp = {
    port: bound.port,
    reactions: {},
    steps,
    mails,
    connections: () => sockets.size,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return peer;
}

async function converse(socket: Socket, peer: ScriptedSmtp, steps: Step[], mails: string[]): Promise<void> {
  if (!(await react(socket, peer, 'greeting', steps))) return;
  let text = '';
  let isContent = false;
  // Keeps the connection open after the server stops replying.
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (isContent && peer.reactions.content === 'close') socket.destroy();
    if (isContent) {
      if (!text.endsWith(END_OF_CONTENT)) continue;
      const mail = text.slice(0, -END_OF_CONTENT.length);
      if (!(await react(socket, peer, 'content', steps, () => mails.push(mail)))) return;
      isContent = false;
    } else {
      const command = text.toUpperCase().replace(/^HELO/, 'EHLO');
      const step = STEPS.find((name) => command.startsWith(name));
      if (!text.endsWith('\r\n')) continue;
      if (step === undefined) socket.write(`${text.startsWith('QUIT') ? 221 : 250} fine\r\n`);
      else if (!(await react(socket, peer, step, steps))) return;
      isContent = step === 'DATA' && (peer.reactions.DATA ?? SOUND.DATA) === SOUND.DATA;
    }
    text = '';
  }
}

/** @returns whether the conversation continues */
async function react(
  socket: Socket,
  { reactions }: ScriptedSmtp,
  step: Step,
  steps: Step[],
  accepted = () => {},
): Promise<boolean> {
  steps.push(step);
  const reaction = reactions[step] ?? SOUND[step];
  if (reaction instanceof Promise) await reaction;
  const code = reaction instanceof Promise ? SOUND[step] : reaction;
  if (code === 'close') socket.destroy();
  if (code === 'silent' || code === 'close') return false;
  if (code === 'drip') {
    while (socket.writable) {
      socket.write('2');
      await pause(DRIP_MS);
    }
    return false;
  }
  if (code === SOUND[step]) accepted();
  socket.write(`${code} as told\r\n`);
  return true;
}
