import { isObject } from '#platform/base/objects.ts';
import type { Secret } from '#platform/base/secret.ts';
import { exchange, OutboundFailure } from '#platform/outbound-http/exchange.ts';

const CONNECT_MS = 5_000;
const TOTAL_MS = 10_000;

/** A response, or the reason for its absence, worded for operators. Contains no text of the remote side. */
export type Requested =
  | {
      readonly ok: true;
      readonly status: number;
      /** Time of the response by the remote clock. */
      readonly sentAt: number | undefined;
      /** Members of the JSON object in the body, if it is one. */
      readonly members: ReadonlyMap<string, unknown> | undefined;
    }
  | { readonly ok: false; readonly reason: string };

/** Sends a GET request without following redirects. */
export type Ask = (url: URL, bearer?: Secret) => Promise<Requested>;

/** @param version of this program */
export function askOverHttp(version: string): Ask {
  return async (url, bearer) => {
    try {
      const { status, headers, body } = await exchange(url, {
        method: 'GET',
        headers: {
          accept: 'application/json',
          'user-agent': `latchkey-doctor/${version}`,
          ...(bearer !== undefined && { authorization: `Bearer ${bearer.reveal()}` }),
        },
        needsBody: true,
        signal: AbortSignal.timeout(TOTAL_MS),
        lookup: undefined,
        trustedCertificates: undefined,
        connectMs: CONNECT_MS,
      });
      const sentAt = Date.parse(headers.date ?? '');
      return { ok: true, status, sentAt: Number.isNaN(sentAt) ? undefined : sentAt, members: membersOf(body) };
    } catch (error) {
      if (!(error instanceof OutboundFailure)) throw error;
      return { ok: false, reason: reasonOf(error) };
    }
  };
}

const REASONS: Readonly<Partial<Record<OutboundFailure['reason'], string>>> = {
  timeout: `no response within ${TOTAL_MS / 1000} seconds`,
  redirect: 'a redirect',
  'too-large': 'a response that is too large',
  encoding: 'a response that cannot be decoded',
};

function reasonOf({ reason, cause }: OutboundFailure): string {
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return REASONS[reason] ?? `no connection${code}`;
}

function membersOf(body: Buffer): ReadonlyMap<string, unknown> | undefined {
  try {
    return asMembers(JSON.parse(body.toString('utf8')));
  } catch {
    return undefined;
  }
}

/** A map, because a name may be `__proto__`. */
export function asMembers(value: unknown): ReadonlyMap<string, unknown> | undefined {
  return isObject(value) ? new Map(Object.entries(value)) : undefined;
}
