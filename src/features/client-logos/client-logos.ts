/**
 * Logos of clients. They are fetched from the URL that the client registered, and cached in memory as long as the host
 * permits, between 5 minutes and an hour. Each process has its own cache. A missing logo does not delay a page.
 */
import { createHash } from 'node:crypto';
import type { Client } from '#domain/clients/client.ts';
import { logoType } from '#domain/clients/logo-type.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';

const MAX_KEPT_BYTES = 8 * 1024 * 1024;
/** Limit for concurrent fetches. The owner of a slow host must not be able to block this service with many of them. */
const MAX_WAITING = 16;
const ACCEPT = 'image/png, image/jpeg, image/gif, image/webp, image/svg+xml';

export interface Logo {
  /** One of five types, derived from the content and not from what the host claims. */
  readonly contentType: string;
  readonly content: Buffer;
  /** Strong validator, including quotes. */
  readonly etag: string;
}

interface Kept {
  readonly logo: Logo;
  readonly staleAt: number;
}

export class ClientLogos {
  readonly #outbound: Pick<OutboundHttp, 'get'>;
  readonly #clock: Clock;
  /** By URL, in order of fetching. The first entry is the oldest. */
  readonly #kept = new Map<string, Kept>();
  #keptBytes = 0;
  #waiting = 0;

  constructor(outbound: Pick<OutboundHttp, 'get'>, clock: Clock) {
    this.#outbound = outbound;
    this.#clock = clock;
  }

  /** Returns undefined if the logo is not available now. A stale logo is better than none. */
  async find(uri: string, { kind }: Pick<Client, 'kind'>): Promise<Logo | undefined> {
    const kept = this.#kept.get(uri);
    if (kept !== undefined && this.#clock.now() < kept.staleAt) return kept.logo;
    if (this.#waiting >= MAX_WAITING) return kept?.logo;
    this.#waiting += 1;
    try {
      const fetched = await this.#outbound.get(uri, { accept: ACCEPT, isConfigured: kind === 'static' });
      const contentType = fetched.ok ? logoType(fetched.body, fetched.mediaType) : undefined;
      if (!fetched.ok || contentType === undefined) return kept?.logo;
      const { body: content, freshForSeconds } = fetched;
      const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
      const logo = { contentType, content, etag };
      this.#keep(uri, { logo, staleAt: this.#clock.now() + freshForSeconds * 1000 });
      return logo;
    } finally {
      this.#waiting -= 1;
    }
  }

  #keep(uri: string, entry: Kept): void {
    this.#forget(uri);
    this.#kept.set(uri, entry);
    this.#keptBytes += entry.logo.content.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#keptBytes <= MAX_KEPT_BYTES) break;
      this.#forget(oldest);
    }
  }

  #forget(uri: string): void {
    this.#keptBytes -= this.#kept.get(uri)?.logo.content.length ?? 0;
    this.#kept.delete(uri);
  }
}
