/** Metrics of the OAuth endpoints. Used only when metrics are enabled. */
import { ERRORS, LatchkeyError } from '#platform/base/errors.ts';
import { OAUTH_RESULTS } from '#platform/base/metric-labels.ts';
import { parseChatClientToken } from '#protocol/oauth/chat-client-token.ts';
import { parseToken } from '#protocol/oauth/token-format.ts';

export type OAuthResult = (typeof OAUTH_RESULTS)[number];

/** Counts the outcome of the response, and passes it on unchanged. */
export async function countResult<T>(answer: Promise<T>, count: (result: OAuthResult) => void): Promise<T> {
  try {
    const answered = await answer;
    count('success');
    return answered;
  } catch (error) {
    const code = error instanceof LatchkeyError ? ERRORS[error.code].oauth : undefined;
    count(OAUTH_RESULTS.find((result) => result === code) ?? 'error');
    throw error;
  }
}

/** Returns the kind of a received token, judging by its format. */
export function tokenKindLabel(token: string | undefined): 'access_token' | 'refresh_token' | 'unknown' {
  if (token === undefined) return 'unknown';
  const kind = parseChatClientToken(token)?.kind ?? parseToken(token)?.prefix;
  if (kind === 'access-token' || kind === 'mat' || kind === 'mpt') return 'access_token';
  return kind === 'refresh-token' || kind === 'mar' ? 'refresh_token' : 'unknown';
}
