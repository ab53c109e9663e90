import { LatchkeyError } from '#platform/base/errors.ts';
import { prefersJson } from '#platform/http/accept.ts';
import type { EventLoopLag } from '#platform/http/event-loop-lag.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json, plainText } from '#platform/http/response.ts';

/** What may keep an instance from being ready; the first that fails is what the probe says. */
const CHECK_NAMES = ['draining', 'starting', 'migrations', 'clock', 'overloaded', 'database'] as const;
export type CheckName = (typeof CHECK_NAMES)[number];

/** False, or a rejection, when that condition keeps the instance from being ready. */
export type Check = () => boolean | Promise<boolean>;

export interface HealthDeps {
  readonly version: string;
  readonly lag: Pick<EventLoopLag, 'isStalled'>;
  readonly checks: Readonly<Partial<Record<CheckName, Check>>>;
}

const RETRY_HEADERS = { 'retry-after': '5' };

/**
 * `ok`, or 503 with the name of what is wrong (operations 7.1). Neither the homeserver nor mail nor upstream providers
 * are asked: an instance is no less ready while those are away.
 */
export async function answerHealth(context: RequestContext, deps: HealthDeps): Promise<HttpResponse> {
  const probe = context.query.get('probe') ?? 'ready';
  const results = probe === 'live' ? checkLive(deps) : await checkReady(probe, deps);
  const failing = results.find(([, isOk]) => !isOk)?.[0];
  const status = failing === undefined ? 200 : 503;
  const headers = failing === undefined ? {} : RETRY_HEADERS;
  if (!prefersJson(context.headers.accept)) return plainText(status, failing ?? 'ok', headers);
  const checks = Object.fromEntries(results.map(([name, isOk]) => [name, isOk ? 'ok' : 'fail']));
  const body = { status: failing === undefined ? 'ok' : 'fail', checks, version: deps.version };
  return json(status, body, headers);
}

type Results = readonly (readonly [name: string, isOk: boolean])[];

function checkLive({ lag }: HealthDeps): Results {
  return [['stalled', !lag.isStalled]];
}

async function checkReady(probe: string, { checks }: HealthDeps): Promise<Results> {
  if (probe !== 'ready') {
    throw new LatchkeyError('invalid_request', { description: 'probe must be ready or live' });
  }
  const results: [CheckName, boolean][] = [];
  for (const name of CHECK_NAMES) {
    const check = checks[name];
    if (check === undefined) continue;
    const isOk = await passes(check);
    results.push([name, isOk]);
    // What comes after it would only take time: an instance that drains is asked nothing more.
    if (!isOk) break;
  }
  return results;
}

async function passes(check: Check): Promise<boolean> {
  try {
    return await check();
  } catch {
    // The database logs by itself that it was lost.
    return false;
  }
}
