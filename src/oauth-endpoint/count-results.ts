/** Metrics of the OAuth endpoints. Used only when metrics are enabled. */
import { LatchkeyError } from '#platform/base/errors.ts';
import { tokenOrigin } from '#protocol/oauth/chat-client-token.ts';
import type { TokenKind, TokenSource } from '#protocol/oauth/token-format.ts';
import { ERRORS } from '#vocabulary/errors.ts';
import { OAUTH_RESULTS } from '#vocabulary/metric-labels.ts';

export type OAuthResult = (typeof OAUTH_RESULTS)[number];

/** Counts the outcome of the response, and passes it on unchanged. */
export async function countResult<T>(response: Promise<T>, count: (result: OAuthResult) => void): Promise<T> {
  try {
    const responded = await response;
    count('success');
    return responded;
  } catch (error) {
    const code = error instanceof LatchkeyError ? ERRORS[error.code].oauth : undefined;
    count(OAUTH_RESULTS.find((result) => result === code) ?? 'error');
    throw error;
  }
}

const KIND_LABELS = {
  'access-token': 'access_token',
  'refresh-token': 'refresh_token',
} as const satisfies Readonly<Record<TokenKind, string>>;

const SOURCE_LABELS = {
  'chat-client': 'compat',
  oauth: 'oauth2',
  personal: 'personal',
} as const satisfies Readonly<Record<TokenSource, string>>;

/** Returns the kind of a received token with the kind of its session, such as `oauth2_access_token`. */
export function exactTokenKindLabel(token: string | undefined): string {
  const origin = token === undefined ? undefined : tokenOrigin(token);
  return origin === undefined ? 'unknown' : `${SOURCE_LABELS[origin.source]}_${KIND_LABELS[origin.kind]}`;
}

/** Returns the kind of a received token, judging by its format. */
export function tokenKindLabel(token: string | undefined): (typeof KIND_LABELS)[TokenKind] | 'unknown' {
  const kind = token === undefined ? undefined : tokenOrigin(token)?.kind;
  return kind === undefined ? 'unknown' : KIND_LABELS[kind];
}
