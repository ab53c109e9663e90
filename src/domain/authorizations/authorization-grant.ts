import type { AuthorizationGrantId, BrowserSessionId, ClientId, UserId } from '#platform/base/ids.ts';
import type { Prompt } from '#protocol/oauth/authorization-parameters.ts';
import type { ResponseTarget } from '#protocol/oauth/authorization-response.ts';
import type { WantedAcr } from '#protocol/oauth/voluntary-parameters.ts';
import type { RequestedClaims } from '#protocol/oidc/claims-parameter.ts';

/**
 * One authorization request, from `/authorize` to the exchange of its code: table `oauth2_authorization_grants`,
 * states below. The exchange itself belongs to the token endpoint (`domain/tokens`).
 */
export interface AuthorizationGrant extends PendingRequest {
  readonly id: AuthorizationGrantId;
  readonly clientId: ClientId;
  /** Milliseconds since the epoch, like all times here. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The person was led to the registration page that `prompt=create` asks for. */
  readonly isRegistrationOffered: boolean;
  /** What the person chose on the consent page, waiting to be carried out (form_post). */
  readonly decision: Decision | undefined;
  /** The browser session that decided, or that the code was made for. */
  readonly browserSessionId: BrowserSessionId | undefined;
  readonly fulfilledAt: number | undefined;
  readonly isExchanged: boolean;
  readonly isCancelled: boolean;
}

/** What the steps between the request and its answer go by. */
export interface PendingRequest {
  readonly target: ResponseTarget;
  readonly scope: readonly string[];
  readonly prompts: readonly Prompt[];
  /** Seconds. */
  readonly maxAge: number | undefined;
  readonly loginHint: string | undefined;
  readonly acr: WantedAcr;
  /** Claims that are asked for one by one, beyond those of the scope. */
  readonly claims: RequestedClaims;
  /** The one account that may answer; undefined: whoever signs in. */
  readonly expectedUserId: UserId | undefined;
  /** Of the installed languages the one that the client asked for, once fulfilled the one that the person read. */
  readonly locale: string | undefined;
}

export type Decision = 'consent' | 'cancel';

/**
 * pending -> fulfilled (a code was made) -> exchanged; pending or fulfilled -> cancelled; pending -> expired by time.
 * How long a fulfilled grant's code lives is checked at its exchange.
 */
export type GrantState = 'pending' | 'expired' | 'fulfilled' | 'exchanged' | 'cancelled';

/** @param now milliseconds since the epoch */
export function grantState(grant: AuthorizationGrant, now: number): GrantState {
  if (grant.isCancelled) return 'cancelled';
  if (grant.isExchanged) return 'exchanged';
  if (grant.fulfilledAt !== undefined) return 'fulfilled';
  return grant.expiresAt > now ? 'pending' : 'expired';
}
