import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { prefersJson } from '#platform/http/accept.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json, plainText } from '#platform/http/response.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';

export interface HealthDeps extends Pick<Core, 'instance' | 'lag' | 'version'> {
  readonly database: Pick<OpenDatabase, 'ping'>;
}

/** What may keep an instance from being ready, in this order; the first that fails is what the probe says. */
const READINESS: readonly (readonly [name: string, check: (deps: HealthDeps) => boolean | Promise<boolean>])[] = [
  ['draining', ({ instance }) => !instance.isDraining],
  ['starting', ({ instance }) => instance.isStarted],
  ['migrations', ({ instance }) => instance.isSchemaUsable],
  ['clock', ({ instance }) => instance.isClockRight()],
  ['overloaded', ({ instance }) => !instance.isOverloaded()],
  ['database', async ({ database }) => await answersQuery(database)],
];

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

async function checkReady(probe: string, deps: HealthDeps): Promise<Results> {
  if (probe !== 'ready') {
    throw new LatchkeyError('invalid_request', { description: 'probe must be ready or live' });
  }
  const results: [name: string, isOk: boolean][] = [];
  for (const [name, check] of READINESS) {
    const isOk = await check(deps);
    results.push([name, isOk]);
    // The checks after it would only take time: an instance that drains is asked nothing more.
    if (!isOk) break;
  }
  return results;
}

/** The database logs by itself that it was lost. */
async function answersQuery(database: HealthDeps['database']): Promise<boolean> {
  try {
    await database.ping();
    return true;
  } catch {
    return false;
  }
}
