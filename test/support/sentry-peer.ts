import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedReport {
  readonly type: string;
  readonly transaction: string;
  readonly level?: string;
  readonly release: string;
  readonly environment: string;
  readonly start_timestamp?: number;
  readonly timestamp: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly contexts: { readonly trace: { readonly trace_id: string; readonly op?: string; readonly status?: string } };
  readonly exception?: {
    readonly values: readonly {
      readonly type: string;
      readonly value: string;
      readonly mechanism: { readonly handled: boolean };
      readonly stacktrace: { readonly frames: readonly { readonly filename: string; readonly in_app: boolean }[] };
    }[];
  };
  readonly breadcrumbs?: { readonly values: readonly { readonly message: string }[] };
}

/** Sentry's envelope endpoint on loopback, with the received envelopes. */
export interface SentryPeer {
  readonly dsn: string;
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[];
  /** The response to further requests. */
  answer: { readonly status: number; readonly headers?: Readonly<Record<string, string>> };
  reports(): ReceivedReport[];
  close(): Promise<void>;
}

export async function startSentryPeer(): Promise<SentryPeer> {
  const requests: SentryPeer['requests'] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      requests.push({ path: request.url ?? '', headers: request.headers, body });
      response.writeHead(peer.answer.status, peer.answer.headers).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const peer: SentryPeer = {
    dsn: `http://the-public-key@127.0.0.1:${port}/below/42`,
    requests,
    answer: { status: 200 },
    reports: () => requests.map(({ body }) => reportOf(body)),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return peer;
}

function reportOf(envelope: string): ReceivedReport {
  const [head = '', item = '', body = '', rest] = envelope.split('\n');
  const { event_id: id }: { event_id: string } = JSON.parse(head);
  const report: ReceivedReport & { event_id: string } = JSON.parse(body);
  if (report.event_id !== id || rest !== '') throw new Error('not an envelope');
  return { ...report, ...JSON.parse(item) };
}
