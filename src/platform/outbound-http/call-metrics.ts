import { metrics } from '#platform/base/metrics.ts';

/** The called server as a metric label: a part of the service, never a host that a third party chose. */
export type CalledServer =
  | 'breach_check'
  | 'captcha'
  /** OAuth clients: their keys, logos and logout URLs. */
  | 'clients'
  /** What administrators see about the deployment. */
  | 'health_check'
  | 'homeserver'
  | 'otlp'
  | 'sentry'
  | `upstream:${string}`;

interface ActiveCalls {
  readonly server: CalledServer;
  readonly method: string;
  count: number;
}

/** Entries stay at 0 when their calls end, so that the gauge does not disappear. */
const active = new Map<string, ActiveCalls>();

/** Lists the calls of this process that are in progress. */
export function listActiveCalls(): Iterable<Readonly<ActiveCalls>> {
  return active.values();
}

/** Makes a call, and counts it if metrics are enabled. */
export async function countCall<A extends { readonly status: number }>(
  server: CalledServer | undefined,
  method: string,
  call: () => Promise<A>,
): Promise<A> {
  if (metrics === undefined || server === undefined) return await call();
  const key = `${method} ${server}`;
  const calls = active.get(key) ?? { server, method, count: 0 };
  active.set(key, calls);
  calls.count += 1;
  const startedAt = performance.now();
  let status = 'failed';
  try {
    const response = await call();
    status = `${Math.floor(response.status / 100)}xx`;
    return response;
  } finally {
    calls.count -= 1;
    const seconds = (performance.now() - startedAt) / 1000;
    metrics?.observe('http_client_request_duration_seconds', { server, method, status }, seconds);
  }
}
