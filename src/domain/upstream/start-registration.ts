import type { RateLimitingConfig } from '#config/sections/rate-limiting.ts';
import {
  type CodeMailDeps,
  codeMailBuckets,
} from '#domain/accounts/email-authentications/begin-email-authentication.ts';
import type { EmailProblem } from '#domain/accounts/email-authentications/email-policy.ts';
import { checkRegistrationPolicy } from '#domain/accounts/registrations/check-registration-policy.ts';
import { checkHomeserverName } from '#domain/accounts/registrations/homeserver-name.ts';
import { insertUpstreamRegistration } from '#domain/accounts/registrations/insert-upstream-registration.ts';
import { findNameProblems, type NameProblem } from '#domain/accounts/registrations/registration-policy.ts';
import type { RegistrationTokenDeps } from '#domain/accounts/registrations/registration-token.ts';
import { addressBucket, chargeAddress, takeTokens } from '#domain/limits/rate-limits.ts';
import type { ModuleRules } from '#domain/policy/module/module-rules.ts';
import type { ModuleViolation } from '#domain/policy/module/module-violations.ts';
import { type BanDeps, findBan } from '#domain/policy/requester-policy.ts';
import type { Clock } from '#platform/base/clock.ts';
import { newId } from '#platform/base/ids.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { RegistrationId } from '#vocabulary/ids.ts';
import type { CompletedAuthorization } from './find-completed.ts';
import type { IdentifyDeps, UnlinkedUser } from './identify-unlinked-user.ts';
import type { InvitedUser } from './invited-user.ts';

export interface UpstreamRegistrationDeps extends CodeMailDeps, IdentifyDeps, RegistrationTokenDeps {
  readonly clock: Clock;
  readonly limits: Pick<
    RateLimitingConfig,
    'emailAuthentication' | 'registration' | 'registrationCheck' | 'registrationToken'
  >;
  readonly policy: BanDeps['policy'];
  readonly moduleRules: ModuleRules;
  /** Terms that the user must accept. */
  readonly tosUri: string | undefined;
}

/** The form of a user who signed in at a provider and has no account here. */
export interface UpstreamSubmission extends InvitedUser {
  readonly completed: CompletedAuthorization;
  /** As entered; ignored if the provider determines it. */
  readonly username: string;
  /** Whether the user accepts the display name suggested by the provider. */
  readonly takesDisplayName: boolean;
  /** Whether the user accepts the suggested email address. */
  readonly takesEmail: boolean;
  readonly acceptsTerms: boolean;
  readonly action: PostAuthAction | undefined;
  /** Language of the page. */
  readonly locale: string;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

export type UpstreamSubmissionProblem =
  | { readonly field: 'username'; readonly problem: 'required' | NameProblem }
  | { readonly field: 'email'; readonly problem: EmailProblem }
  | { readonly field: 'accept_terms'; readonly problem: 'required' }
  /** From the operator's policy module, which names the field itself. */
  | { readonly field: 'policy'; readonly problem: ModuleViolation };

export type UpstreamStartOutcome =
  | { readonly ok: true; readonly id: RegistrationId }
  | { readonly ok: false; readonly reason: 'requester-banned' | 'homeserver-unavailable' }
  | { readonly ok: false; readonly reason: 'rejected'; readonly problems: readonly UpstreamSubmissionProblem[] }
  | { readonly ok: false; readonly reason: 'rate-limited'; readonly retryAfterSeconds: number };

/**
 * Starts a registration with a sign-in through a provider, in the order of browser-flows 5.3. The sign-in is not
 * consumed until the account exists, so that the user can still link it to an existing account.
 */
export async function startUpstreamRegistration(
  deps: UpstreamRegistrationDeps,
  submission: UpstreamSubmission,
): Promise<UpstreamStartOutcome> {
  const { limits, log, tosUri } = deps;
  const { newcomer, address, userAgent } = submission;
  const hasFixedUsername = newcomer.username?.isFixed === true;
  const username = hasFixedUsername ? newcomer.username.value : submission.username;
  // Every form counts, because it reveals whether a name is taken (security S-82).
  const checked = await chargeAddress(deps, { name: 'registration-check', limiter: limits.registrationCheck, address });
  if (!checked.ok) return { ...checked, reason: 'rate-limited' };
  const setting = findBan(deps, 'register', address, userAgent);
  if (setting !== undefined) {
    log.info('auth.refused', 'registration refused: banned requester', { code: 'requester_banned', setting });
    return { ok: false, reason: 'requester-banned' };
  }
  const email = newcomer.email?.isFixed === false && !submission.takesEmail ? undefined : newcomer.email;
  const problems: UpstreamSubmissionProblem[] = [];
  for (const problem of await nameProblems(deps, newcomer, username)) problems.push({ field: 'username', problem });
  for (const problem of email?.value.problems ?? []) problems.push({ field: 'email', problem });
  if (tosUri !== undefined && !submission.acceptsTerms) problems.push({ field: 'accept_terms', problem: 'required' });
  if (username !== '') {
    const facts = {
      username,
      email: email?.value.email.address,
      method: 'upstream-oauth2',
      address,
      userAgent,
    } as const;
    for (const problem of await checkRegistrationPolicy(deps, facts)) problems.push({ field: 'policy', problem });
  }
  if (problems.length > 0) return { ok: false, reason: 'rejected', problems };
  const requested = await checkHomeserverName(deps, username);
  if (requested === 'exists')
    return { ok: false, reason: 'rejected', problems: [{ field: 'username', problem: requested }] };
  if (requested !== 'available') return { ok: false, reason: requested };

  const now = deps.clock.now();
  const authentication = email && { id: newId<'email-authentication'>(now), ...email.value, isFixed: email.isFixed };
  const counted = await takeTokens(deps.database, deps.clock, [
    addressBucket(log, { name: 'registration', limiter: limits.registration, address }),
    ...(authentication === undefined || authentication.isProven
      ? []
      : codeMailBuckets(deps, { authentication: authentication.id, emailKey: authentication.email.key, address })),
  ]);
  if (!counted.ok) return { ...counted, reason: 'rate-limited' };
  const { displayName } = newcomer;
  const id = await insertUpstreamRegistration(deps.database, {
    authorizationId: submission.completed.id,
    username,
    hasFixedUsername,
    displayName: displayName?.isFixed === false && !submission.takesDisplayName ? undefined : displayName?.value,
    email: authentication,
    // An invalid token is requested in its own step.
    tokenId: submission.invitation?.tokenId,
    action: submission.action,
    termsUri: tosUri,
    locale: submission.locale,
    address,
    userAgent,
    now,
  });
  return { ok: true, id };
}

/** The availability of a name from the provider was checked when the user was identified. */
async function nameProblems(
  deps: UpstreamRegistrationDeps,
  newcomer: UnlinkedUser,
  username: string,
): Promise<readonly ('required' | NameProblem)[]> {
  if (newcomer.username?.isFixed === true) return [];
  return username === '' ? ['required'] : await findNameProblems(deps.database, username, deps.namePolicy);
}
