/** Metrics of the chat client routes. Used only when metrics are enabled. */
import { type ErrorCode, LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { tokenOrigin } from '#protocol/oauth/chat-client-token.ts';
import { parseBearer } from '#protocol/oauth/presented-credentials.ts';
import type { TokenSource } from '#protocol/oauth/token-format.ts';
import { ERRORS } from '#vocabulary/errors.ts';
import type { CHAT_RESULTS } from '#vocabulary/metric-labels.ts';

type ChatResult = (typeof CHAT_RESULTS)[number];

const RESULTS: Partial<Record<ErrorCode, ChatResult>> = {
  account_deactivated: 'locked',
  account_locked: 'locked',
  login_refused: 'refused',
  missing_token: 'refused',
  rate_limited: 'rate_limited',
  too_many_sessions: 'too_many_sessions',
  unknown_token: 'refused',
};

/** Counts the outcome of the response, and passes it on unchanged. */
export async function countResult<T>(response: Promise<T>, count: (result: ChatResult) => void): Promise<T> {
  try {
    const responded = await response;
    count('success');
    return responded;
  } catch (error) {
    count(error instanceof LatchkeyError ? resultOf(error.code) : 'error');
    throw error;
  }
}

function resultOf(code: ErrorCode): ChatResult {
  return RESULTS[code] ?? (ERRORS[code].kind === 'refusal' ? 'invalid' : 'error');
}

type SessionLabel = 'compat' | 'oauth2' | 'unknown';

/** Personal tokens do not work at the chat routes. */
const SESSION_LABELS: Readonly<Record<TokenSource, SessionLabel>> = {
  oauth: 'oauth2',
  'chat-client': 'compat',
  personal: 'unknown',
};

/** Returns the kind of session that the request's access token belongs to, judging by its format. */
export function sessionLabel({ headers }: RequestContext): SessionLabel {
  const credentials = parseBearer(headers.authorization);
  if (credentials.kind !== 'token') return 'unknown';
  const origin = tokenOrigin(credentials.token);
  return origin?.kind === 'access-token' ? SESSION_LABELS[origin.source] : 'unknown';
}
