import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code: number };
}

export interface ReceivedPoint {
  readonly attributes: Readonly<Record<string, string>>;
  readonly asDouble?: number;
  readonly count?: string;
  readonly sum?: number;
  readonly explicitBounds?: readonly number[];
  readonly bucketCounts?: readonly string[];
}

export interface ReceivedMetric {
  readonly kind: 'gauge' | 'histogram' | 'sum';
  readonly unit: string;
  readonly isMonotonic: boolean | undefined;
  readonly points: readonly ReceivedPoint[];
}

interface Points {
  readonly isMonotonic?: boolean;
  readonly dataPoints: readonly (Omit<ReceivedPoint, 'attributes'> & { readonly attributes: Attributes })[];
}

interface MetricsDocument {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeMetrics: readonly {
      readonly metrics: readonly {
        readonly name: string;
        readonly unit: string;
        readonly sum?: Points;
        readonly gauge?: Points;
        readonly histogram?: Points;
      }[];
    }[];
  }[];
}

interface Document {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'attributes'> & { readonly attributes: Attributes })[];
    }[];
  }[];
}

type Attributes = readonly { readonly key: string; readonly value: Readonly<Record<string, string>> }[];

/** An OpenTelemetry collector on loopback (HTTP with JSON). */
export interface Collector {
  readonly endpoint: string;
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }[];
  /** Status of the next responses. Undefined sends no response. */
  status: number | undefined;
  spans(): ReceivedSpan[];
  /** Resource attributes of the last document. */
  resource(): Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const requests: Collector['requests'] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    requests.push({ path: request.url ?? '', headers: request.headers, body });
    if (collector.status === undefined) return;
    response.writeHead(collector.status, { 'content-type': 'application/json' }).end('{"partialSuccess":{}}');
  };
  const server = createServer((request, response) => void receive(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const collector: Collector = {
    endpoint: `http://127.0.0.1:${port}`,
    requests,
    status: 200,
    spans: () => requests.flatMap(({ body }) => spansOf(body)),
    resource: () => {
      const { resourceSpans = [], resourceMetrics = [] }: Partial<Document & MetricsDocument> = JSON.parse(
        requests.at(-1)?.body ?? '',
      );
      return plain([...resourceSpans, ...resourceMetrics][0]?.resource.attributes ?? []);
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return collector;
}

/** Returns the spans in a document. */
export function spansOf(document: string): ReceivedSpan[] {
  return parsed(document).resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, attributes: plain(span.attributes) }))),
  );
}

/** Returns the metrics in a document by name. */
export function metricsOf(document: string): Map<string, ReceivedMetric> {
  const { resourceMetrics }: MetricsDocument = JSON.parse(document);
  const all = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
  return new Map(
    all.map(({ name, unit, sum, gauge, histogram }) => {
      const kind = sum !== undefined ? 'sum' : gauge !== undefined ? 'gauge' : 'histogram';
      const { dataPoints = [], isMonotonic = undefined } = sum ?? gauge ?? histogram ?? {};
      const points = dataPoints.map((point) => ({ ...point, attributes: plain(point.attributes) }));
      return [name, { kind, unit, isMonotonic, points }];
    }),
  );
}

function parsed(document: string): Document {
  return JSON.parse(document);
}

function plain(attributes: Attributes): Record<string, string> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] ?? '']));
}
