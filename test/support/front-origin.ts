/**
 * The origin that chat clients know (chat-compat 18.1), as a reverse proxy provides it. Sign-in, refresh and sign-out
 * go to the service, everything else to the homeserver.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';

export interface FrontRequest {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly authorization: string | undefined;
  /** Status of the response. */
  readonly status: number;
}

export interface FrontOrigin {
  /** Without a trailing slash. */
  readonly address: string;
  /** Answered requests, in order. */
  readonly requests: FrontRequest[];
  stop(): Promise<void>;
}

export interface FrontOptions {
  readonly port: number;
  readonly protocolName: string;
  /** Base URL of the service. */
  readonly service: string;
  readonly homeserver: string;
}

export async function startFrontOrigin(options: FrontOptions): Promise<FrontOrigin> {
  const requests: FrontRequest[] = [];
  const ofService = new RegExp(`^/_${options.protocolName}/client/([^/]+)/(login|logout|refresh)(?=[/?]|$)`);
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? '/';
    const target = ofService.test(path) ? options.service : options.homeserver;
    const { method = '' } = incoming;
    const { authorization } = incoming.headers;
    passOn(incoming, response, new URL(path, target), (status) =>
      requests.push({ method, path, authorization, status }),
    );
  });
  await new Promise<void>((resolve) => server.listen(options.port, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${options.port}`,
    requests,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function passOn(
  incoming: IncomingMessage,
  response: ServerResponse,
  target: URL,
  responded: (status: number) => void,
): void {
  const { method, headers } = incoming;
  const outgoing = request(target, { method, headers }, (result) => {
    const { statusCode = 502 } = result;
    responded(statusCode);
    response.writeHead(statusCode, result.headers);
    result.pipe(response);
  });
  outgoing.once('error', () => {
    responded(502);
    response.writeHead(502).end();
  });
  incoming.pipe(outgoing);
}
