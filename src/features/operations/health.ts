import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { prefersJson } from '#platform/http/accept.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json, plainText } from '#platform/http/response.ts';
import type { OpenDatabase } from '#platform/postgres/database.ts';

export interface HealthDeps extends Pick<Core, 'instance'> {
  readonly process: Pick<Core['process'], 'lag' | 'version'>;
  readonly database: Pick<OpenDatabase, 'ping'>;
}

/** Readiness checks, in order. The probe reports the first one that fails. */
const READINESS: readonly (readonly [name: string, check: (deps: HealthDeps) => boolean | Promise<boolean>])[] = [
  ['draining', ({ instance }) => !instance.isDraining],
  ['starting', ({ instance }) => instance.isStarted],
  ['migrations', ({ instance }) => instance.isSchemaUsable],
  ['clock', ({ instance }) => instance.isClockRight()],
  ['overloaded', ({ instance }) => !instance.isOverloaded()],
  ['database', async ({ database }) => await respondsToQuery(database)],
];

const RETRY_HEADERS = { 'retry-after': '5' };

/**
 * Returns `ok`, or 503 with the name of the failed check (operations 7.1). Homeserver, mail server and upstream
 * providers are not checked: an instance is ready even if they are down.
 */
export async function handleHealth(context: RequestContext, deps: HealthDeps): Promise<HttpResponse> {
  const probe = context.query.get('probe') ?? 'ready';
  const results = probe === 'live' ? checkLive(deps) : await checkReady(probe, deps);
  const failing = results.find(([, isOk]) => !isOk)?.[0];
  const status = failing === undefined ? 200 : 503;
  const headers = failing === undefined ? {} : RETRY_HEADERS;
  if (!prefersJson(context.headers.accept)) return plainText(status, failing ?? 'ok', headers);
  const checks = Object.fromEntries(results.map(([name, isOk]) => [name, isOk ? 'ok' : 'fail']));
  const body = { status: failing === undefined ? 'ok' : 'fail', checks, version: deps.process.version };
  return json(status, body, headers);
}

type Results = readonly (readonly [name: string, isOk: boolean])[];

function checkLive({ process }: HealthDeps): Results {
  return [['stalled', !process.lag.isStalled]];
}

async function checkReady(probe: string, deps: HealthDeps): Promise<Results> {
  if (probe !== 'ready') {
    throw new LatchkeyError('invalid_request', { description: 'probe must be ready or live' });
  }
  const results: [name: string, isOk: boolean][] = [];
  for (const [name, check] of READINESS) {
    const isOk = await check(deps);
    results.push([name, isOk]);
    // Skips the remaining checks, which would only take time. A draining instance needs no more checks.
    if (!isOk) break;
  }
  return results;
}

/** The database module logs a lost connection itself. */
async function respondsToQuery(database: HealthDeps['database']): Promise<boolean> {
  try {
    await database.ping();
    return true;
  } catch {
    return false;
  }
}
