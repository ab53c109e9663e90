import type { Decision, PendingRequest } from '#domain/authorizations/authorization-grant.ts';
import type { Viewer } from '#domain/browser-sessions/viewer.ts';
import type { Client } from '#domain/clients/client.ts';
import type { Subjects } from '#domain/clients/subjects.ts';
import {
  describeViolations,
  findViolations,
  mayAdminister,
  type PolicyRules,
  type RefusingSetting,
  refusingSetting,
  type Violation,
} from '#domain/policy/violations.ts';
import type { OpenSessions } from '#domain/records/session-limit.ts';
import type { ConfiguredRegistrationMethods } from '#domain/upstream/registration-methods.ts';
import { isRecent } from '#platform/base/clock.ts';
import type { AuthorizationErrorCode } from '#protocol/oauth/authorization-response.ts';
import type { ResourceRules } from '#protocol/oauth/resource-rules.ts';
import type { ScopeRules } from '#protocol/oauth/scopes.ts';
import { reachesAcr, TWO_FACTORS_ACR } from '#protocol/oidc/authentication-classes.ts';
import { scopesOfClaims } from '#protocol/oidc/claims-parameter.ts';

export type ActiveViewer = Extract<Viewer, { readonly kind: 'active' }>;
export type DeadViewer = Exclude<Viewer, { readonly kind: 'active' | 'anonymous' }>;

/** Everything that determines the next step of a request. */
export interface StepFacts {
  readonly request: PendingRequest & { readonly createdAt: number };
  readonly client: Client;
  readonly viewer: Viewer;
  /** Scopes that the viewer has already granted to the client. */
  readonly remembered: readonly string[];
  /** Resource servers that the viewer has allowed the client to use. */
  readonly rememberedResources: readonly string[];
  /** The strongest authentication class that the viewer can reach. */
  readonly strongestAcr: string;
  /** The viewer's open sessions. */
  readonly openSessions: OpenSessions;
  /** Whether the client's groups permit the viewer. */
  readonly isAdmitted: boolean;
  /** Violations of the operator's rules, see `judgeGrant`. */
  readonly refusals: readonly Violation[];
  /** The request was made in this browser. */
  readonly isBound: boolean;
  /** The user was already redirected to the registration page. */
  readonly isRegistrationOffered: boolean;
  /** What this browser session decided for this request. */
  readonly decision: Decision | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface StepRules extends PolicyRules {
  readonly scopeRules: ScopeRules;
  readonly resourceRules: ResourceRules;
  readonly subjects: Subjects;
  /** Seconds for which an authentication is recent enough for admin scopes. Undefined means no limit. */
  readonly reauthMaxAgeSeconds: number | undefined;
  /** Rules for the admin area. */
  readonly adminArea: { readonly maxAgeSeconds: number; readonly requiresSecondFactor: boolean };
  readonly rememberConsent: boolean;
  readonly registrationMethods: Pick<ConfiguredRegistrationMethods, 'isAnyOpen'>;
}

export type Step =
  | { readonly kind: 'login' }
  | { readonly kind: 'register' }
  | { readonly kind: 'interstitial'; readonly viewer: DeadViewer }
  | { readonly kind: 'reauth' }
  /** The client expects a different account from the one that is signed in. */
  | { readonly kind: 'other-account'; readonly viewer: ActiveViewer; readonly expected: string }
  | { readonly kind: 'forbidden'; readonly viewer: ActiveViewer; readonly violations: readonly Violation[] }
  | { readonly kind: 'consent'; readonly viewer: ActiveViewer }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'fulfill'; readonly viewer: ActiveViewer; readonly isDecided: boolean }
  /** `prompt=none`, but a page would be needed. */
  | {
      readonly kind: 'refuse';
      readonly error: AuthorizationErrorCode;
      readonly description: string;
      /** The setting that rejects the request, for the log. */
      readonly setting?: RefusingSetting | undefined;
    };

/**
 * Returns what a request still needs before it can be answered: steps 4 to 14 of oauth 7.3, in that order. Neither
 * reads nor writes. Every visit repeats the decision with current rows.
 */
export function nextStep(facts: StepFacts, rules: StepRules): Step {
  const { viewer } = facts;
  if (viewer.kind !== 'active') return stepToSignIn(facts, viewer, rules);
  const signedIn = { ...facts, viewer };
  for (const check of CHECKS) {
    const step = check(signedIn, rules);
    if (step !== undefined) return step;
  }
  return { kind: 'fulfill', viewer, isDecided: facts.decision === 'consent' };
}

interface SignedInFacts extends StepFacts {
  readonly viewer: ActiveViewer;
}

/** Returns the missing step, or undefined to continue with the next check. */
type Check = (facts: SignedInFacts, rules: StepRules) => Step | undefined;

/** Checks for signed-in users. */
const CHECKS: readonly Check[] = [
  cancellation,
  registration,
  expectedAccount,
  authenticationAge,
  authenticationClass,
  policy,
  consent,
];

function stepToSignIn(facts: StepFacts, viewer: Exclude<Viewer, ActiveViewer>, rules: StepRules): Step {
  if (isSilent(facts)) return refuse('login_required', 'no user is signed in');
  if (viewer.kind !== 'anonymous') return { kind: 'interstitial', viewer };
  return { kind: isAccountWanted(facts, rules) ? 'register' : 'login' };
}

function cancellation({ decision }: SignedInFacts): Step | undefined {
  return decision === 'cancel' ? { kind: 'cancel' } : undefined;
}

/** `prompt=create`: sends a signed-in user to the registration page once. */
function registration(facts: SignedInFacts, rules: StepRules): Step | undefined {
  return isAccountWanted(facts, rules) && !facts.isRegistrationOffered ? { kind: 'register' } : undefined;
}

function expectedAccount(facts: SignedInFacts, { subjects }: StepRules): Step | undefined {
  const { request, viewer, client } = facts;
  const [expected, ...others] = request.expectedSubjects;
  const subject = subjects.of(viewer.user.id, client.sector);
  if (expected === undefined || expected === subject || others.includes(subject)) return undefined;
  if (!isSilent(facts)) return { kind: 'other-account', viewer, expected };
  return refuse('login_required', 'a user other than the expected one is signed in');
}

function authenticationAge(facts: SignedInFacts, rules: StepRules): Step | undefined {
  if (!isAuthenticationTooOld(facts, rules)) return undefined;
  return isSilent(facts) ? refuse('login_required', 'the user must reauthenticate') : { kind: 'reauth' };
}

/**
 * Tests whether the user must authenticate again. An authentication after the request always satisfies `prompt=login`
 * and `max_age`, so `max_age=0` asks only once. For admin scopes, see security R-32.
 *
 * Both times come from the process clocks of the instances that served the requests. There is no tolerance for clock
 * differences, because it could accept an authentication before the request. The documentation tells operators to
 * synchronize clocks.
 * @see OpenID Connect Core 1.0 3.1.2.1
 */
function isAuthenticationTooOld({ request, client, viewer, now }: SignedInFacts, rules: StepRules): boolean {
  const { prompts, maxAge, createdAt } = request;
  const { authenticatedAt } = viewer.session;
  const age = now - authenticatedAt;
  const asksForAdmin = request.scope.some((scope) => rules.scopeRules.isAdmin(scope));
  // Do not ask for a password if the admin scope is rejected anyway.
  const maxAgeSeconds = client.kind === 'builtin' ? rules.adminArea.maxAgeSeconds : rules.reauthMaxAgeSeconds;
  const adminMaxAge = asksForAdmin && mayAdminister(viewer.user, rules) ? maxAgeSeconds : undefined;
  if (adminMaxAge !== undefined && !isRecent(authenticatedAt, adminMaxAge * 1000, now)) return true;
  if (authenticatedAt > createdAt) return false;
  return prompts.includes('login') || (maxAge !== undefined && age > maxAge * 1000);
}

/**
 * Returns the step for the requested authentication class. The user is asked once per request for the first class that
 * the user can reach. A silent request continues without a class that is not essential (OpenID Connect Core 1.0
 * 3.1.2.1, 5.5.1.1).
 */
function authenticationClass(facts: SignedInFacts, rules: StepRules): Step | undefined {
  if (facts.client.kind === 'builtin') return factorOfAdministrator(facts, rules);
  const { acr, createdAt } = facts.request;
  const { session } = facts.viewer;
  if (acr.values.length === 0) return undefined;
  const reachable = acr.values.filter((value) => reachesAcr(facts.strongestAcr, value));
  const accepted = acr.isEssential ? acr.values : reachable.slice(0, 1);
  if (!acr.isEssential && accepted.length === 0) return undefined;
  if (accepted.some((value) => reachesAcr(session.acr, value))) return undefined;
  if (isSilent(facts)) {
    return acr.isEssential ? refuse('login_required', 'the user must authenticate with a different method') : undefined;
  }
  const mayReach = acr.isEssential && reachable.length > 0;
  if (mayReach || (reachable.length > 0 && session.authenticatedAt <= createdAt)) return { kind: 'reauth' };
  if (!acr.isEssential) return undefined;
  return refuse(
    'unmet_authentication_requirements',
    'the user did not authenticate with the method requested in claims',
  );
}

/** Why the admin area refuses an account without a second factor. Its script compares the text. */
const SECOND_FACTOR_MISSING = 'the account must set up a second factor';

/**
 * The admin area requires the second factor of accounts that have one, and with `admin_area.require_second_factor` of
 * all. Its requests are silent.
 */
function factorOfAdministrator({ strongestAcr, viewer }: SignedInFacts, rules: StepRules): Step | undefined {
  if (!mayAdminister(viewer.user, rules) || reachesAcr(viewer.session.acr, TWO_FACTORS_ACR)) return undefined;
  if (reachesAcr(strongestAcr, TWO_FACTORS_ACR)) {
    return refuse('login_required', 'the user must authenticate with a second factor');
  }
  return rules.adminArea.requiresSecondFactor ? refuse('login_required', SECOND_FACTOR_MISSING) : undefined;
}

function policy(facts: SignedInFacts, rules: StepRules): Step | undefined {
  const { request, viewer, isAdmitted, refusals, openSessions } = facts;
  const { scope } = request;
  const violations = findViolations({ user: viewer.user, isAdmitted, scope, refusals, openSessions }, rules);
  if (violations.length === 0) return undefined;
  if (!isSilent(facts)) return { kind: 'forbidden', viewer, violations };
  const setting = refusingSetting(violations);
  return { kind: 'refuse', error: 'access_denied', description: describeViolations(violations), setting };
}

function consent(facts: SignedInFacts, rules: StepRules): Step | undefined {
  if (facts.decision === 'consent') return undefined;
  if (isSilent(facts) && !facts.isBound) {
    return refuse('interaction_required', 'the request was continued in a different browser');
  }
  if (!isConsentNeeded({ ...facts, mayRemember: rules.rememberConsent }, rules)) return undefined;
  if (!isSilent(facts)) return { kind: 'consent', viewer: facts.viewer };
  return refuse('consent_required', 'user consent is required');
}

/** `prompt=none`: if a page would be needed, the client gets an error instead. */
function isSilent({ request }: StepFacts): boolean {
  return request.prompts.includes('none');
}

function isAccountWanted({ request }: StepFacts, rules: StepRules): boolean {
  return request.prompts.includes('create') && rules.registrationMethods.isAnyOpen;
}

function refuse(error: AuthorizationErrorCode, description: string): Step {
  return { kind: 'refuse', error, description };
}

/** Tests whether the consent page comes next, or may be shown although it could be skipped. */
export function maySeeConsentPage(step: Step): step is Extract<Step, { readonly kind: 'consent' | 'fulfill' }> {
  return step.kind === 'consent' || step.kind === 'fulfill';
}

export interface ConsentFacts {
  readonly request: Pick<PendingRequest, 'claims' | 'prompts' | 'resources' | 'scope' | 'target'>;
  readonly client: Pick<Client, 'authMethod' | 'isFirstParty' | 'isVouchedFor' | 'kind'>;
  /** Scopes that the user has already granted to this client. */
  readonly remembered: readonly string[];
  readonly rememberedResources: readonly string[];
  /** The request was made in this browser. */
  readonly isBound: boolean;
  /** `oauth.remember_consent`. */
  readonly mayRemember: boolean;
}

/** Tests whether the user must be asked for consent (oauth 7.6). Each line is a separate reason. */
export function isConsentNeeded(
  facts: ConsentFacts,
  { scopeRules: rules, resourceRules }: Pick<StepRules, 'scopeRules' | 'resourceRules'>,
): boolean {
  const { request, client, remembered, isBound } = facts;
  const { prompts } = request;
  const scope = consentScopes(request);
  if (prompts.includes('consent') || prompts.includes('select_account')) return true;
  if (!isBound) return true;
  // Part of this service, and requested by its own page only (`builtin-request.ts`).
  if (client.kind === 'builtin') return false;
  if (client.authMethod === 'none' && !isVerifiedAddress(facts, rules)) return true;
  if (scope.some((requested) => rules.isAdmin(requested))) return true;
  if (scope.includes('offline_access') && !remembered.includes('offline_access')) return true;
  if (client.isFirstParty) return false;
  // Each request creates a new device, and the client API gives access to the whole chat account.
  if (scope.some((requested) => rules.isChat(requested))) return true;
  const resources = resourceRules.shown(request.resources);
  if (!resources.every((resource) => facts.rememberedResources.includes(resource))) return true;
  return !facts.mayRemember || !rules.isCovered(scope, remembered);
}

/**
 * Returns the scopes that the user consents to. A claim requested individually counts as the scope that it belongs to.
 */
export function consentScopes({ claims, scope }: Pick<PendingRequest, 'claims' | 'scope'>): readonly string[] {
  return [...new Set([...scope, ...scopesOfClaims(claims)])];
}

/**
 * Tests whether a public client's redirect URI is proof enough to skip consent. A native app cannot prove its identity
 * (RFC 8252 8.6): another program may listen at its address. Loopback and plain http suffice for two kinds of clients
 * that the operator vouches for: first-party clients, and configured clients that only learn who signs in. For those, a
 * remembered consent to the same request counts.
 */
function isVerifiedAddress(facts: ConsentFacts, rules: ScopeRules): boolean {
  const { request, client, remembered } = facts;
  const { redirectUri } = request.target;
  const scope = consentScopes(request);
  if (redirectUri.startsWith('https://')) return true;
  if (!redirectUri.startsWith('http://')) return false;
  const isIdentityOnly = request.resources.length === 0 && scope.every((requested) => rules.isIdentity(requested));
  const isVouchedFor = client.isFirstParty || (client.isVouchedFor && isIdentityOnly);
  return isVouchedFor && rules.isCovered(scope, remembered);
}
