/**
 * Which upstream sign-ins were started in this browser. A cookie lists them. A provider's response is accepted only in
 * the browser that requested it (RFC 6749 10.12).
 */
import { epochSeconds } from '#platform/base/clock.ts';
import { parseId } from '#platform/base/ids.ts';
import type { Cookie, JsonValue } from '#platform/http/cookies.ts';
import { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type PostAuthAction, parsePostAuthAction, postAuthActionFields } from '#protocol/post-auth-action.ts';
import type { UpstreamAuthorizationId, UpstreamLinkId } from '#vocabulary/ids.ts';

export const UPSTREAM_COOKIE: Cookie = { name: 'upstream' };

const MAX_ENTRIES = 8;
/** Size as JSON. Sealed and named, it stays below 4,096 bytes. Browsers ignore larger cookies (RFC 6265bis 5.6). */
const MAX_BYTES = 2900;
/** Covers ten minutes at the provider, and half an hour until the last button. */
const LIFETIME_SECONDS = 45 * 60;

export interface UpstreamEntry {
  readonly id: UpstreamAuthorizationId;
  readonly providerId: string;
  readonly state: string;
  /** The link that the response led to. Undefined before the response. */
  readonly linkId: UpstreamLinkId | undefined;
  readonly action: PostAuthAction | undefined;
  /** Seconds since the epoch. */
  readonly at: number;
}

type Jar = Pick<RequestContext, 'cookies'>;

/** Returns the entries that have not expired, newest first. */
export function upstreamEntries(context: Jar, protocolName: string, now: number): UpstreamEntry[] {
  const value = context.cookies.open(UPSTREAM_COOKIE);
  if (!Array.isArray(value)) return [];
  return value
    .flatMap((entry: unknown) => parseEntry(entry, protocolName) ?? [])
    .filter(({ at }) => epochSeconds(now) - at < LIFETIME_SECONDS);
}

/**
 * Adds an entry, or replaces the one of the same authorization. Keeps the eight most recent, or fewer if long
 * continuations do not fit.
 */
export function rememberEntry(context: Jar, protocolName: string, now: number, entry: UpstreamEntry): void {
  const others = upstreamEntries(context, protocolName, now).filter(({ id }) => id !== entry.id);
  const entries = [entry, ...others].slice(0, MAX_ENTRIES).map(written);
  while (entries.length > 1 && Buffer.byteLength(JSON.stringify(entries)) > MAX_BYTES) entries.pop();
  context.cookies.set(UPSTREAM_COOKIE, entries);
}

/** Removes the entry of a completed sign-in. */
export function forgetEntry(
  context: Jar,
  protocolName: string,
  now: number,
  used: { readonly id: UpstreamAuthorizationId },
): void {
  const entries = upstreamEntries(context, protocolName, now);
  const others = entries.filter(({ id }) => id !== used.id);
  if (others.length === entries.length) return;
  if (others.length === 0) context.cookies.clear(UPSTREAM_COOKIE);
  else context.cookies.set(UPSTREAM_COOKIE, others.map(written));
}

function written({ id, providerId, state, linkId, action, at }: UpstreamEntry): JsonValue {
  return {
    id,
    provider: providerId,
    state,
    link: linkId,
    action: Object.fromEntries(postAuthActionFields(action)),
    at,
  };
}

function parseEntry(entry: unknown, protocolName: string): UpstreamEntry | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const fields: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(entry));
  const { provider: providerId, state, link, at, action } = fields;
  const id = parseId<'upstream-authorization'>(text(fields['id']));
  if (id === undefined || typeof providerId !== 'string' || typeof state !== 'string' || typeof at !== 'number') {
    return undefined;
  }
  const linkId = parseId<'upstream-link'>(text(link));
  return { id, providerId, state, linkId, action: parseAction(action, protocolName), at };
}

function parseAction(value: unknown, protocolName: string): PostAuthAction | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = Object.entries(value).map(([name, field]) => [name, text(field)] as const);
  return parsePostAuthAction(FormParameters.of(Object.fromEntries(fields)), protocolName);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
