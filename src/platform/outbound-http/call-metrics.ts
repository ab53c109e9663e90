import { metrics } from '#platform/base/metrics.ts';

/** Who is called, as the metrics name them: a part of the service, never a host that a stranger has chosen. */
export type CalledServer =
  | 'breach_check'
  | 'captcha'
  /** Applications: their keys, logos and sign-out addresses. */
  | 'clients'
  | 'homeserver'
  | 'otlp'
  | 'sentry'
  | `upstream:${string}`;

interface ActiveCalls {
  readonly server: CalledServer;
  readonly method: string;
  count: number;
}

/** Kept at 0 when they are over, so that the gauge does not vanish. */
const active = new Map<string, ActiveCalls>();

/** The calls of this process that are under way. */
export function listActiveCalls(): Iterable<Readonly<ActiveCalls>> {
  return active.values();
}

/** Makes a call, and counts it while metrics are wanted. */
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
    const answer = await call();
    status = `${Math.floor(answer.status / 100)}xx`;
    return answer;
  } finally {
    calls.count -= 1;
    const seconds = (performance.now() - startedAt) / 1000;
    metrics?.observe('http_client_request_duration_seconds', { server, method, status }, seconds);
  }
}
