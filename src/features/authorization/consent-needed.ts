import type { PendingRequest } from '#domain/authorizations/authorization-grant.ts';
import type { Client } from '#domain/clients/client.ts';
import type { ScopeRules } from '#protocol/oauth/scopes.ts';
import { scopesOfClaims } from '#protocol/oidc/claims-parameter.ts';

export interface ConsentFacts {
  readonly request: Pick<PendingRequest, 'claims' | 'prompts' | 'scope' | 'target'>;
  readonly client: Pick<Client, 'authMethod' | 'isFirstParty' | 'isStatic'>;
  /** What the person has allowed this client before. */
  readonly remembered: readonly string[];
  /** The request was made in this browser. */
  readonly isBound: boolean;
  /** `oauth.remember_consent`. */
  readonly mayRemember: boolean;
}

/** Whether the person has to be asked for consent (oauth 7.6); each line is a reason of its own. */
export function isConsentNeeded(facts: ConsentFacts, rules: ScopeRules): boolean {
  const { request, client, remembered, isBound } = facts;
  const { prompts } = request;
  const scope = consentScopes(request);
  if (prompts.includes('consent') || prompts.includes('select_account')) return true;
  if (!isBound) return true;
  if (client.authMethod === 'none' && !isProvenAddress(facts, rules)) return true;
  if (scope.some((asked) => rules.isAdmin(asked))) return true;
  if (scope.includes('offline_access') && !remembered.includes('offline_access')) return true;
  if (client.isFirstParty) return false;
  // A device is new each time, and with the client API comes everything that the account can do there.
  if (scope.some((asked) => rules.isChat(asked))) return true;
  return !facts.mayRemember || !rules.isCovered(scope, remembered);
}

/** What a person is asked to agree to: a claim that is asked for by itself counts as the scope that it belongs to. */
export function consentScopes({ claims, scope }: Pick<PendingRequest, 'claims' | 'scope'>): readonly string[] {
  return [...new Set([...scope, ...scopesOfClaims(claims)])];
}

/**
 * A native application cannot prove itself, whatever was allowed before (RFC 8252 8.6): another program may listen at
 * its address. Loopback and plain http are good enough for what the operator vouches for: a first-party client, or a
 * configured one that learns only who signs in. For those, a remembered answer to the same request counts.
 */
function isProvenAddress({ request, client, remembered }: ConsentFacts, rules: ScopeRules): boolean {
  const { redirectUri } = request.target;
  const scope = consentScopes(request);
  if (redirectUri.startsWith('https://')) return true;
  if (!redirectUri.startsWith('http://')) return false;
  const isVouchedFor = client.isFirstParty || (client.isStatic && scope.every((asked) => rules.isIdentity(asked)));
  return isVouchedFor && rules.isCovered(scope, remembered);
}
