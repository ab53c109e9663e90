/**
 * A homeserver for tests (chat-compat 18.2). It is as strict as Synapse in the calls that Latchkey makes, can simulate
 * faults, and records its requests.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { systemClock } from '#platform/base/clock.ts';
import { freePort } from '../free-port.js';
import { handleAdmin } from './admin-api.ts';
import { ClientApi } from './client-api.ts';
import { handleMas } from './mas-api.ts';
import {
  addUser,
  ChatError,
  type StandInRequest,
  type StandInResponse,
  type StandInState,
  type StandInUser,
} from './state.ts';

/** A simulated fault. */
export type Fault =
  /** Refuses connections. */
  | { readonly kind: 'refuse' }
  /** Accepts requests and never responds. */
  | { readonly kind: 'hang' }
  /** Responds when this resolves. */
  | { readonly kind: 'wait'; readonly until: Promise<void> }
  /** Closes the connection instead of responding. */
  | { readonly kind: 'close'; readonly isOnce?: boolean }
  /** Performs the operation but sends a different response. */
  | {
      readonly kind: 'answer';
      /** Suffix of the affected paths. Defaults to all paths. */
      readonly path?: string;
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    };

export interface StandInHomeserver {
  readonly serverName: string;
  /** With a trailing slash. */
  readonly endpoint: string;
  readonly state: StandInState;
  /** All received requests in order, including those that hit a fault. */
  readonly requests: StandInRequest[];
  /** Returns the number of connections opened so far. */
  readonly connections: () => number;
  user(localpart: string): StandInUser | undefined;
  addUser(localpart: string): StandInUser;
  /** Simulates a fault. Undefined restores normal operation. */
  setFault(fault: Fault | undefined): Promise<void>;
  stop(): Promise<void>;
}

export async function startStandInHomeserver(secret: string, serverName = 'example.org'): Promise<StandInHomeserver> {
  const port = await freePort();
  const requests: StandInRequest[] = [];
  const state: StandInState = {
    serverName,
    secret,
    protocolName: 'chat',
    service: undefined,
    clock: systemClock,
    users: new Map(),
    exclusive: undefined,
    hiddenDevice: undefined,
  };
  const clientApi = new ClientApi(state);
  let fault: Fault | undefined;
  let connections = 0;
  let server = await listen();

  async function listen(): Promise<Server> {
    const created = createServer((incoming, response) => void responseFor(incoming, response));
    created.on('connection', () => {
      connections += 1;
    });
    await new Promise<void>((resolve) => created.listen(port, '127.0.0.1', resolve));
    return created;
  }

  async function close(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  async function responseFor(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming);
    requests.push(request);
    if (fault?.kind === 'hang') return;
    if (fault?.kind === 'wait') await fault.until;
    if (fault?.kind === 'close') {
      if (fault.isOnce === true) fault = undefined;
      incoming.socket.destroy();
      return;
    }
    const { status, body } = await carryOut(state, clientApi, request);
    if (fault?.kind === 'answer' && request.path.endsWith(fault.path ?? '')) {
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers });
      response.end(fault.body ?? '{}');
      return;
    }
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(body === undefined ? '' : JSON.stringify(body));
  }

  return {
    serverName,
    endpoint: `http://127.0.0.1:${port}/`,
    state,
    requests,
    connections: () => connections,
    user: (localpart) => state.users.get(localpart),
    addUser: (localpart) => addUser(state, localpart),
    setFault: async (next) => {
      const wasRefusing = fault?.kind === 'refuse';
      fault = next;
      if (next?.kind === 'refuse' && !wasRefusing) await close();
      if (next?.kind !== 'refuse' && wasRefusing) server = await listen();
    },
    stop: async () => {
      if (fault?.kind !== 'refuse') await close();
    },
  };
}

async function readRequest(incoming: IncomingMessage): Promise<StandInRequest> {
  let text = '';
  for await (const chunk of incoming) text += String(chunk);
  const url = new URL(incoming.url ?? '/', 'http://stand-in.invalid');
  return {
    method: incoming.method ?? '',
    path: decodeURIComponent(url.pathname),
    query: url.searchParams,
    authorization: incoming.headers.authorization,
    userAgent: incoming.headers['user-agent'],
    body: parsed(text),
  };
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function carryOut(state: StandInState, clientApi: ClientApi, request: StandInRequest): Promise<StandInResponse> {
  try {
    const response = handleMas(state, request) ?? handleAdmin(state, request) ?? (await clientApi.answer(request));
    if (response !== undefined) return response;
    throw new ChatError(404, 'M_UNRECOGNIZED', 'Unrecognized request');
  } catch (error) {
    if (!(error instanceof ChatError)) throw error;
    return { status: error.status, body: { errcode: error.errcode, error: error.message, ...error.members } };
  }
}
