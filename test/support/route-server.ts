import { connect, type Socket } from 'node:net';
import { createErrorFormats, errorFormatOfPath } from '#app/error-formats.ts';
import { loadTranslations } from '#browser/i18n/load-translations.ts';
import { PAGE_SECURITY_HEADERS } from '#browser/page-headers.ts';
import { Pages } from '#browser/pages.ts';
import { Urls } from '#browser/urls.ts';
import { systemClock } from '#platform/base/clock.ts';
import { KeyRing } from '#platform/base/sealing.ts';
import { ReceivedTraces } from '#platform/base/tracing.ts';
import { Cookies } from '#platform/http/cookies.ts';
import type { Route } from '#platform/http/route.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '#platform/http/server.ts';
import type { ServerLimits } from '#platform/http/serving.ts';
import { LogWriter, type LogWriterOptions } from '#platform/log/log-writer.ts';
import { ERRORS } from '#vocabulary/errors.ts';

const UNLIMITED = { burstMs: 0, perSecondMs: 1 };

export const TEST_LIMITS: ServerLimits = {
  maxConnections: 2000,
  maxConnectionsPerAddress: 2000,
  handshakeTimeoutSeconds: 5,
  headersTimeoutSeconds: 10,
  requestTimeoutSeconds: 30,
  handlerTimeoutSeconds: 15,
  keepAliveTimeoutSeconds: 75,
  maxRequestsPerConnection: 10_000,
  maxConcurrentStreams: 100,
  maxRequestLineBytes: 8192,
  maxHeadersBytes: 16_384,
  maxBody: { formBytes: 65_536, jsonBytes: 65_536, adminBytes: 1_048_576 },
  maxInFlight: 1000,
  work: { perAddress: UNLIMITED, perAccount: UNLIMITED, perClient: UNLIMITED },
};

export const TEST_KEYS = new KeyRing(Buffer.alloc(32, 7));

const RESOURCES = (['discovery', 'human', 'oauth', 'compat', 'assets', 'health'] as const).map((name) => ({ name }));

export interface RouteServerOptions {
  readonly limits?: Partial<ServerLimits>;
  readonly http?: Partial<HttpServerOptions['http']>;
  readonly log?: Partial<LogWriterOptions>;
  readonly publicBase?: string;
  readonly lag?: HttpServerOptions['lag'];
  readonly tracing?: HttpServerOptions['tracing'];
}

/** A running server with a few routes and recorded log lines, without a database. */
export interface RouteServer {
  readonly server: HttpServer;
  readonly port: number;
  readonly origin: string;
  /** Without line ends. */
  readonly lines: string[];
  /** Waits for `count` lines of `http.server.response` and returns them. */
  requestLines(count: number): Promise<string[]>;
  /** Sends bytes and returns everything received until the connection ends. */
  exchange(bytes: string | Buffer): Promise<string>;
  /** Opens a raw connection. */
  connect(): Promise<Socket>;
  close(): Promise<void>;
}

export async function startRouteServer(routes: Route[], options: RouteServerOptions = {}): Promise<RouteServer> {
  const lines: string[] = [];
  const log = new LogWriter({
    sink: { write: (line) => lines.push(line.slice(0, -1)) },
    clock: systemClock,
    level: 'debug',
    targetLevels: {},
    format: 'text',
    padLevel: false,
    hasColor: false,
    ...options.log,
  });
  const urls = new Urls(options.publicBase ?? 'https://auth.example.test/');
  const site = { serviceName: 'Test', indexPath: urls.index(), assetPath: (name: string) => `/assets/${name}` };
  const pages = new Pages({ site, catalog: loadTranslations(), defaultLanguage: 'en' });
  const server = createHttpServer({
    routes,
    http: {
      listeners: [{ name: 'test', resources: RESOURCES, binds: [{ host: '127.0.0.1', port: 0 }], prefix: undefined }],
      trustedProxies: [],
      clientIpHeader: 'x-forwarded-for',
      hsts: true,
      ...options.http,
    },
    limits: { ...TEST_LIMITS, ...options.limits },
    address: urls,
    isAvailable: () => true,
    formatOfPath: (path) => errorFormatOfPath(path, 'chat'),
    pageHeaders: PAGE_SECURITY_HEADERS,
    log,
    cookies: new Cookies({ keys: TEST_KEYS, address: urls, log, prefix: 'latchkey_' }),
    errors: ERRORS,
    errorFormats: createErrorFormats({ issuer: urls.base, pages, urls }),
    lag: options.lag ?? { isLagging: false },
    tracing: options.tracing ?? new ReceivedTraces(true),
  });
  const [bound] = await server.listen();
  const port = bound?.port ?? 0;
  const open = (): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket));
      socket.on('error', reject);
    });
  return {
    server,
    port,
    origin: `http://127.0.0.1:${port}`,
    lines,
    requestLines: async (count) => {
      const found = (): string[] => lines.filter((line) => line.includes(' http.server.response '));
      await until(() => found().length >= count);
      return found();
    },
    exchange: async (bytes) => {
      const socket = await open();
      let received = '';
      socket.setEncoding('latin1');
      socket.on('data', (text: string) => {
        received += text;
      });
      socket.write(bytes);
      await new Promise((resolve) => socket.on('close', resolve));
      return received;
    },
    connect: open,
    close: async () => {
      server.destroyConnections();
      await server.close(0);
    },
  };
}

/** Waits until a later turn of the event loop makes the condition true. */
export async function until(condition: () => boolean, withinMs = 40_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('the condition did not come true in time');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
