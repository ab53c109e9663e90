import type { Decision, PendingRequest } from '#domain/authorizations/authorization-grant.ts';
import type { Viewer } from '#domain/browser-sessions/viewer.ts';
import type { Client } from '#domain/clients/client.ts';
import type { UserId } from '#platform/base/ids.ts';
import type { AuthorizationErrorCode } from '#protocol/oauth/authorization-response.ts';
import type { ScopeRules } from '#protocol/oauth/scopes.ts';
import { reachesAcr } from '#protocol/oidc/authentication-classes.ts';
import { isConsentNeeded } from './consent-needed.ts';
import { isAuthenticationTooOld } from './freshness.ts';

export type ActiveViewer = Extract<Viewer, { readonly kind: 'active' }>;
export type DeadViewer = Exclude<Viewer, { readonly kind: 'active' | 'anonymous' }>;

/** Everything that the way of a request depends on, as read in one go. */
export interface StepFacts {
  readonly request: PendingRequest & { readonly createdAt: number };
  readonly client: Client;
  readonly viewer: Viewer;
  /** What the viewer has allowed the client before. */
  readonly remembered: readonly string[];
  /** The request was made in this browser. */
  readonly isBound: boolean;
  /** The person was led to the registration page before. */
  readonly isRegistrationOffered: boolean;
  /** What this very browser session has chosen for this request. */
  readonly decision: Decision | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface StepRules {
  readonly scopeRules: ScopeRules;
  /** User names that may ask for admin scopes beside those who have the right in their account. */
  readonly adminUsers: ReadonlySet<string>;
  /** Seconds that an authentication stays recent enough for admin scopes; undefined: for ever. */
  readonly reauthMaxAgeSeconds: number | undefined;
  readonly rememberConsent: boolean;
  /** People may make accounts for themselves. */
  readonly isRegistrationOpen: boolean;
}

export type Step =
  | { readonly kind: 'login' }
  | { readonly kind: 'register' }
  | { readonly kind: 'interstitial'; readonly viewer: DeadViewer }
  | { readonly kind: 'reauth' }
  /** Another person is signed in than the one whom the client expects. */
  | { readonly kind: 'other-account'; readonly viewer: ActiveViewer; readonly expected: UserId }
  | { readonly kind: 'forbidden'; readonly viewer: ActiveViewer; readonly scopes: readonly string[] }
  | { readonly kind: 'consent'; readonly viewer: ActiveViewer }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'fulfill'; readonly viewer: ActiveViewer; readonly isDecided: boolean }
  /** `prompt=none`, and a page would be needed. */
  | { readonly kind: 'refuse'; readonly error: AuthorizationErrorCode; readonly description: string };

/**
 * What is still missing before a request can be answered: steps 4 to 14 of oauth 7.3, in that order. Reads nothing
 * and writes nothing, so each call may run it anew on fresh rows.
 */
export function nextStep(facts: StepFacts, rules: StepRules): Step {
  const { request, viewer, now } = facts;
  const isSilent = request.prompts.includes('none');
  const wantsAccount = request.prompts.includes('create') && rules.isRegistrationOpen;
  if (viewer.kind === 'anonymous') {
    if (isSilent) return refuseSignedOut();
    return { kind: wantsAccount ? 'register' : 'login' };
  }
  if (viewer.kind !== 'active') return isSilent ? refuseSignedOut() : { kind: 'interstitial', viewer };
  if (facts.decision === 'cancel') return { kind: 'cancel' };
  if (wantsAccount && !facts.isRegistrationOffered) return { kind: 'register' };

  const { expectedUserId } = request;
  if (expectedUserId !== undefined && expectedUserId !== viewer.user.id) {
    if (!isSilent) return { kind: 'other-account', viewer, expected: expectedUserId };
    return { kind: 'refuse', error: 'login_required', description: 'another user is signed in than the one expected' };
  }

  const adminScopes = request.scope.filter((scope) => rules.scopeRules.isAdmin(scope));
  const mayAdminister = viewer.user.canRequestAdmin || rules.adminUsers.has(viewer.user.username);
  const isForbidden = adminScopes.length > 0 && !mayAdminister;
  // Nobody is asked for a password only to be told that it was in vain.
  const adminMaxAge = adminScopes.length > 0 && mayAdminister ? rules.reauthMaxAgeSeconds : undefined;
  if (isAuthenticationTooOld(viewer.session, { ...request, adminMaxAge }, now)) {
    if (!isSilent) return { kind: 'reauth' };
    return { kind: 'refuse', error: 'login_required', description: 'the user has to authenticate again' };
  }
  const acrStep = stepToAcr(request, viewer);
  if (acrStep !== undefined) return acrStep;
  if (isForbidden) {
    if (!isSilent) return { kind: 'forbidden', viewer, scopes: adminScopes };
    return { kind: 'refuse', error: 'access_denied', description: 'the user may not grant an admin scope' };
  }
  if (facts.decision === 'consent') return { kind: 'fulfill', viewer, isDecided: true };
  if (isSilent && !facts.isBound) {
    const description = 'the request continued in another browser than it began in';
    return { kind: 'refuse', error: 'interaction_required', description };
  }
  if (isConsentNeeded({ ...facts, mayRemember: rules.rememberConsent }, rules.scopeRules)) {
    if (!isSilent) return { kind: 'consent', viewer };
    return { kind: 'refuse', error: 'consent_required', description: 'the user has to be asked for consent' };
  }
  return { kind: 'fulfill', viewer, isDecided: false };
}

/**
 * What the wanted authentication class asks for, once for each request. A silent request goes on without a class that
 * is not essential (OpenID Connect Core 1.0 3.1.2.1, 5.5.1.1).
 */
function stepToAcr({ acr, prompts, createdAt }: StepFacts['request'], { session }: ActiveViewer): Step | undefined {
  const [preferred] = acr.values;
  if (preferred === undefined) return undefined;
  const accepted = acr.isEssential ? acr.values : [preferred];
  if (accepted.some((value) => reachesAcr(session.acr, value))) return undefined;
  if (prompts.includes('none')) {
    if (!acr.isEssential) return undefined;
    return { kind: 'refuse', error: 'login_required', description: 'the user has to authenticate in another way' };
  }
  if (session.authenticatedAt <= createdAt) return { kind: 'reauth' };
  if (!acr.isEssential) return undefined;
  const description = 'the user did not authenticate in the way that claims asks for';
  return { kind: 'refuse', error: 'unmet_authentication_requirements', description };
}

/** Whether the page that asks is what comes next, or could be shown just as well. */
export function maySeeConsentPage(step: Step): step is Extract<Step, { readonly kind: 'consent' | 'fulfill' }> {
  return step.kind === 'consent' || step.kind === 'fulfill';
}

function refuseSignedOut(): Step {
  return { kind: 'refuse', error: 'login_required', description: 'no user is signed in' };
}
