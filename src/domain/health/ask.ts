import { isObject } from '#platform/base/objects.ts';
import type { Secret } from '#platform/base/secret.ts';
import { exchange, type FailureReason, OutboundFailure } from '#platform/outbound-http/exchange.ts';
import type { OutboundHttp } from '#platform/outbound-http/outbound-http.ts';

const CONNECT_MS = 5_000;
const TOTAL_MS = 10_000;
/** An administrator is waiting. */
const SERVICE_TOTAL_MS = 3_000;

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

/** From outside of the service. @param version of this program */
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

/**
 * From the running service, with its limits on requests to other servers.
 * @param deadline when all requests have ended, on the `performance.now` clock
 */
export function askFromService(outbound: Pick<OutboundHttp, 'call'>, deadline: number): Ask {
  return async (url, bearer) => {
    const called = await outbound.call(url.href, {
      server: 'health_check',
      method: 'GET',
      headers: {
        accept: 'application/json',
        ...(bearer !== undefined && { authorization: `Bearer ${bearer.reveal()}` }),
      },
      totalMs: Math.max(1, Math.min(SERVICE_TOTAL_MS, Math.ceil(deadline - performance.now()))),
    });
    if (!called.ok) return { ok: false, reason: reasonText(called.reason, SERVICE_TOTAL_MS) };
    // This machine may have sent the response itself, so its clock proves nothing.
    return { ok: true, status: called.status, sentAt: undefined, members: membersOf(called.body) };
  };
}

function reasonOf({ reason, cause }: OutboundFailure): string {
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return reasonText(reason, TOTAL_MS) + code;
}

function reasonText(reason: FailureReason, totalMs: number): string {
  switch (reason) {
    case 'timeout':
      return `no response within ${totalMs / 1000} seconds`;
    case 'redirect':
      return 'a redirect';
    case 'too-large':
      return 'a response that is too large';
    case 'encoding':
      return 'a response that cannot be decoded';
    default:
      return 'no connection';
  }
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
