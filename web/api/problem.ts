import type { CombinedError } from '@urql/core';

/** Why a request failed, as far as it matters to the user (account-graphql 8.4). */
export type Problem =
  | { readonly kind: 'network' }
  | { readonly kind: 'rate-limited'; readonly retryAfterSeconds: number | undefined }
  | { readonly kind: 'reauthentication'; readonly url: string }
  | { readonly kind: 'refused'; readonly code: string; readonly requestId: string | undefined };

/** Server codes (account-graphql 1.4 and 1.5) for a missing sign-in. */
const SIGNED_OUT = new Set(['UNAUTHENTICATED', 'INVALID_TOKEN']);

export function isSignedOut(error: CombinedError): boolean {
  return error.graphQLErrors.some(({ extensions }) => SIGNED_OUT.has(String(extensions['code'])));
}

export function problemOf(error: CombinedError): Problem {
  for (const { extensions } of error.graphQLErrors) {
    if (extensions['code'] === 'RATE_LIMITED') {
      return { kind: 'rate-limited', retryAfterSeconds: seconds(extensions['retryAfter']) ?? retryAfter(error) };
    }
    const url = extensions['reauthUrl'];
    if (extensions['code'] === 'REAUTH_REQUIRED' && typeof url === 'string') return { kind: 'reauthentication', url };
  }
  const status = statusOf(error);
  if (status === 429) return { kind: 'rate-limited', retryAfterSeconds: retryAfter(error) };
  const [first] = error.graphQLErrors;
  if (first === undefined || status >= 500) return { kind: 'network' };
  const requestId = first.extensions['requestId'];
  return {
    kind: 'refused',
    code: String(first.extensions['code'] ?? 'INTERNAL'),
    requestId: typeof requestId === 'string' ? requestId : undefined,
  };
}

function responseOf(error: CombinedError): Response | undefined {
  return error.response instanceof Response ? error.response : undefined;
}

function statusOf(error: CombinedError): number {
  return responseOf(error)?.status ?? 0;
}

function retryAfter(error: CombinedError): number | undefined {
  return seconds(responseOf(error)?.headers.get('retry-after'));
}

function seconds(value: unknown): number | undefined {
  const number = typeof value === 'string' ? Number.parseInt(value, 10) : value;
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? Math.ceil(number) : undefined;
}
