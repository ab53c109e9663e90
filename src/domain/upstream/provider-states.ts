import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { UpstreamProviderId } from '#vocabulary/ids.ts';
import type { ProviderErrorCode } from './provider-errors.ts';

interface News {
  /** Milliseconds since the epoch. */
  succeededAt: number | undefined;
  error: { readonly code: ProviderErrorCode; readonly at: number } | undefined;
}

/**
 * Collects in memory when sign-ins through providers succeeded and failed, so that a sign-in waits for no statement.
 * `ActivityBuffer` writes it once a minute. A crash loses at most that.
 */
export class ProviderStates {
  /** As many as are configured, at most. */
  readonly #news = new Map<UpstreamProviderId, News>();

  /** @param at milliseconds since the epoch */
  succeeded(provider: UpstreamProviderId, at: number): void {
    this.#of(provider).succeededAt = at;
  }

  /** @param at milliseconds since the epoch */
  failed(provider: UpstreamProviderId, code: ProviderErrorCode, at: number): void {
    this.#of(provider).error = { code, at };
  }

  /** Writes what is new. If the statement fails, throws and keeps it. */
  async flush(queryable: Queryable): Promise<void> {
    if (this.#news.size === 0) return;
    const news = [...this.#news];
    this.#news.clear();
    try {
      await queryable.execute(recordStates, {
        ids: news.map(([id]) => toUuid(id)),
        successTimes: news.map(([, { succeededAt }]) => dateOrNull(succeededAt)),
        errors: news.map(([, { error }]) => error?.code ?? null),
        errorTimes: news.map(([, { error }]) => dateOrNull(error?.at)),
      });
    } catch (failure) {
      for (const [id, { succeededAt, error }] of news) {
        const newer = this.#of(id);
        newer.succeededAt ??= succeededAt;
        newer.error ??= error;
      }
      throw failure;
    }
  }

  #of(provider: UpstreamProviderId): News {
    const known = this.#news.get(provider);
    if (known !== undefined) return known;
    const news: News = { succeededAt: undefined, error: undefined };
    this.#news.set(provider, news);
    return news;
  }
}

function dateOrNull(at: number | undefined): Date | null {
  return at === undefined ? null : new Date(at);
}

// Rows are locked in ID order, so that several instances cannot deadlock. An older time never replaces a newer one.
const recordStates = statement<
  never,
  {
    readonly ids: readonly string[];
    readonly successTimes: readonly (Date | null)[];
    readonly errors: readonly (string | null)[];
    readonly errorTimes: readonly (Date | null)[];
  }
>(
  'record-upstream-provider-states',
  `with news as (
     select n.id, n.succeeded_at, n.error, n.failed_at
       from unnest(:ids::uuid[], :successTimes::timestamptz[], :errors::text[], :errorTimes::timestamptz[])
         as n (id, succeeded_at, error, failed_at)
   ), locked as (
     select p.id from upstream_providers p where p.id = any(:ids::uuid[]) order by p.id for no key update
   )
   update upstream_providers p
      set last_success_at = greatest(p.last_success_at, n.succeeded_at),
          last_error = case when p.last_error_at is null or n.failed_at > p.last_error_at
                            then coalesce(n.error, p.last_error) else p.last_error end,
          last_error_at = greatest(p.last_error_at, n.failed_at)
     from locked join news n on n.id = locked.id
    where p.id = locked.id`,
);
