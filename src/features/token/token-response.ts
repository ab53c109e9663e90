import { type HttpResponse, json } from '#platform/http/response.ts';

export interface TokenResponse {
  readonly accessToken: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly now: number;
  readonly scope: readonly string[];
  readonly refreshToken?: string | undefined;
  readonly idToken?: string | undefined;
}

/** @see RFC 6749 5.1 */
export function tokenResponse(answer: TokenResponse): HttpResponse {
  return json(
    200,
    {
      access_token: answer.accessToken,
      token_type: 'Bearer',
      expires_in: Math.max(0, Math.floor((answer.expiresAt - answer.now) / 1000)),
      ...(answer.refreshToken === undefined ? {} : { refresh_token: answer.refreshToken }),
      ...(answer.scope.length === 0 ? {} : { scope: answer.scope.join(' ') }),
      ...(answer.idToken === undefined ? {} : { id_token: answer.idToken }),
    },
    { pragma: 'no-cache' },
  );
}
