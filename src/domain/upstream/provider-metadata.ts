/**
 * Metadata that providers publish. The first instance that needs it fetches it and shares it in the provider's row. A
 * copy in memory is used for five minutes. While a provider is unreachable, its last metadata is used for a day.
 */
import type { Clock } from '#platform/base/clock.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Log } from '#platform/base/log.ts';
import { outside } from '#platform/base/tasks.ts';
import { parseJson } from '#platform/http/json-body.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import { type ProviderMetadata, readProviderMetadata, usedMembers } from '#protocol/oidc/provider-metadata.ts';
import { discoveryError, type ProviderErrorCode } from './provider-errors.ts';
import type { ProviderStates } from './provider-states.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

export interface MetadataDeps {
  readonly activity: { readonly providers: Pick<ProviderStates, 'failed'> };
  readonly database: Queryable;
  readonly outbound: Pick<OutboundHttp, 'call'>;
  readonly clock: Clock;
  readonly log: Log;
}

const IN_MEMORY_MS = 5 * 60_000;
/** Slightly longer than the interval of the job that refreshes it. */
const FRESH_MS = 20 * 60_000;
const MAX_AGE_MS = 86_400_000;
/** Time between two requests to a failing provider. */
const RETRY_MS = 10_000;

interface Known {
  /** Undefined if unavailable. */
  readonly metadata: ProviderMetadata | undefined;
  readonly until: number;
}

export class UpstreamMetadata {
  readonly #deps: MetadataDeps;
  readonly #known = new Map<string, Known>();
  readonly #pending = new Map<string, Promise<ProviderMetadata | undefined>>();

  constructor(deps: MetadataDeps) {
    this.#deps = deps;
  }

  /**
   * Returns a provider's metadata. May make a request to the provider, so never call this in a transaction.
   * @param restartPath where the user can choose another sign-in method
   * @throws LatchkeyError `upstream_unavailable`
   */
  async get(provider: UpstreamProvider, { restartPath }: { readonly restartPath?: string } = {}) {
    const metadata = await this.find(provider);
    if (metadata !== undefined) return metadata;
    throw new LatchkeyError('upstream_unavailable', {
      details: { provider: provider.id },
      ...(restartPath !== undefined && { restartPath }),
    });
  }

  /** Does the same, but returns undefined if the metadata is unavailable. */
  async find(provider: UpstreamProvider): Promise<ProviderMetadata | undefined> {
    return configuredMetadata(provider) ?? (await this.#cached(provider));
  }

  async #cached(provider: UpstreamProvider): Promise<ProviderMetadata | undefined> {
    const known = this.#known.get(provider.id);
    if (known !== undefined && this.#deps.clock.now() < known.until) return known.metadata;
    const pending = this.#pending.get(provider.id);
    // The promise belongs to a different task: continue in a new stretch of this one.
    if (pending !== undefined) return await outside(pending);
    const reading = this.#read(provider);
    this.#pending.set(provider.id, reading);
    return await reading.finally(() => this.#pending.delete(provider.id));
  }

  async #read(provider: UpstreamProvider): Promise<ProviderMetadata | undefined> {
    const { database, clock } = this.#deps;
    const row = await database.first(findMetadata, { id: toUuid(provider.id) });
    const stored = row?.metadata == null ? undefined : read(provider, row.metadata);
    const age = clock.now() - (row?.fetched_at ?? Number.NEGATIVE_INFINITY);
    if (stored?.ok === true && age < FRESH_MS) return this.#keep(provider, stored.metadata, IN_MEMORY_MS);
    const fetched = await fetchMetadata(this.#deps, provider);
    if (fetched.ok) return this.#keep(provider, fetched.metadata, IN_MEMORY_MS);
    return this.#keep(provider, stored?.ok === true && age < MAX_AGE_MS ? stored.metadata : undefined, RETRY_MS);
  }

  #keep(provider: UpstreamProvider, metadata: ProviderMetadata | undefined, forMs: number) {
    this.#known.set(provider.id, { metadata, until: this.#deps.clock.now() + forMs });
    return metadata;
  }
}

export type FetchedMetadata =
  | { readonly ok: true; readonly metadata: ProviderMetadata }
  /** `busy`: not requested, because of a limit of this service. */
  | { readonly ok: false; readonly code: ProviderErrorCode | 'busy' };

/** Fetches and shares a provider's metadata. Logs and remembers why it is unusable. */
export async function fetchMetadata(
  { activity, database, outbound, clock, log }: MetadataDeps,
  provider: UpstreamProvider,
): Promise<FetchedMetadata> {
  const response = await outbound.call(discoveryAddress(provider), {
    server: `upstream:${provider.id}`,
    method: 'GET',
    headers: { accept: 'application/json' },
  });
  const fail = (problem: string, code: ProviderErrorCode | undefined): FetchedMetadata => {
    log.warn('upstream.failed', 'metadata of a sign-in provider unavailable or invalid', {
      provider: provider.id,
      problem,
    });
    if (code === undefined) return { ok: false, code: 'busy' };
    activity.providers.failed(provider.id, code, clock.now());
    return { ok: false, code };
  };
  if (!response.ok) return fail(`no response: ${response.reason}`, discoveryError(response));
  if (response.status !== 200) return fail(`status ${response.status}`, 'discovery_wrong_status');
  const document = jsonOf(response.body);
  const outcome = read(provider, document);
  if (!outcome.ok) {
    return fail(outcome.problem, outcome.isOtherIssuer === true ? 'discovery_wrong_issuer' : 'discovery_invalid');
  }
  await database.execute(storeMetadata, {
    id: toUuid(provider.id),
    metadata: JSON.stringify(typeof document === 'object' && document !== null ? usedMembers(document) : {}),
    now: new Date(clock.now()),
  });
  return outcome;
}

/** Returns the configured metadata; undefined if discovery is used. */
export function configuredMetadata(provider: UpstreamProvider): ProviderMetadata | undefined {
  const { authorizationEndpoint, tokenEndpoint, userinfoEndpoint, jwksUri, issuer, discoveryMode } = provider;
  if (discoveryMode !== 'disabled' || authorizationEndpoint === undefined || tokenEndpoint === undefined) {
    return undefined;
  }
  const endpoints = { authorizationEndpoint, tokenEndpoint, userinfoEndpoint, jwksUri };
  return { issuer, ...endpoints, hasPkce: false, namesIssuer: false };
}

function read(provider: UpstreamProvider, document: unknown) {
  return readProviderMetadata(document, provider, { isStrict: provider.discoveryMode === 'oidc' });
}

/** OpenID Connect Discovery 1.0 4. */
export function discoveryAddress({ issuer = '' }: UpstreamProvider): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

function jsonOf(body: Buffer): unknown {
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}

const findMetadata = statement<{ metadata: unknown; fetched_at: number | null }, { readonly id: string }>(
  'upstream-metadata',
  `select metadata, ${ms('metadata_fetched_at')} as fetched_at from upstream_providers where id = :id::uuid`,
);

const storeMetadata = statement<never, { readonly id: string; readonly metadata: string; readonly now: Date }>(
  'store-upstream-metadata',
  `update upstream_providers set metadata = :metadata::jsonb, metadata_fetched_at = :now::timestamptz
    where id = :id::uuid`,
);
