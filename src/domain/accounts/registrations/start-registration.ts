import type { RateLimitingConfig } from '#config/sections/rate-limiting.ts';
import type { Captcha, CaptchaRefusal, CaptchaResponse } from '#domain/captcha/captcha.ts';
import type { SecretKeys } from '#domain/keys/secret-keys.ts';
import { addressBucket, chargeAddress, refundTokens, takeTokens } from '#domain/limits/rate-limits.ts';
import type { ModuleRules } from '#domain/policy/module/module-rules.ts';
import type { ModuleViolation } from '#domain/policy/module/module-violations.ts';
import { type BanDeps, findBan } from '#domain/policy/requester-policy.ts';
import type { Clock } from '#platform/base/clock.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import { addressKey } from '#platform/base/ip-address.ts';
import type { HashCaller } from '#platform/password-hash/hash-queue.ts';
import type { PasswordHasher, StoredHash } from '#platform/password-hash/password-hasher.ts';
import type { Database } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import { type PostAuthAction, postAuthActionFields } from '#protocol/post-auth-action.ts';
import type { RegistrationId } from '#vocabulary/ids.ts';
import type { EmailAddress } from '../email-address.ts';
import {
  type BeginParameters,
  beginAuthenticationCtes,
  beginParameters,
  type CodeMailDeps,
  codeMailBuckets,
  PROVEN_AUTHENTICATION_CTE,
  UNLESS_PROVEN,
} from '../email-authentications/begin-email-authentication.ts';
import type { EmailAuthenticationId } from '../email-authentications/email-authentication.ts';
import {
  checkEmailPolicy,
  type EmailPolicy,
  type EmailProblem,
  type JudgedEmail,
} from '../email-authentications/email-policy.ts';
import { type Overloaded, overloadedOutcome } from '../passwords/check-password.ts';
import { findPasswordProblem, type PasswordProblem, type PasswordRules } from '../passwords/password-rules.ts';
import { checkRegistrationPolicy } from './check-registration-policy.ts';
import { checkHomeserverName, type NameCheckDeps } from './homeserver-name.ts';
import { findInvitation, type Invitation, type PresentedInvitation } from './invitation.ts';
import { findNameProblems, type NamePolicy, type NameProblem } from './registration-policy.ts';

/** Includes the email authentication and its mail, if it has one. */
const insertRegistration = statement<
  never,
  BeginParameters & {
    readonly id: string;
    readonly username: string;
    readonly passwordHash: string;
    readonly schemeVersion: number;
    readonly postAuthAction: string | null;
    readonly termsUri: string | null;
    readonly ip: string | null;
    readonly userAgent: string | null;
    readonly isEmailProven: boolean;
    readonly hasFixedEmail: boolean;
    readonly tokenId: string | null;
  }
>(
  'insert-registration',
  `with ${beginAuthenticationCtes(UNLESS_PROVEN)}, ${PROVEN_AUTHENTICATION_CTE}
  insert into user_registrations (id, username, password_hash, password_scheme_version, post_auth_action, terms_uri,
    locale, ip, user_agent, email_authentication_id, has_fixed_email, registration_token_id, created_at)
  values (:id::uuid, :username::text, :passwordHash::text, :schemeVersion::integer, :postAuthAction::jsonb,
    :termsUri::text, :locale::text, :ip::inet, :userAgent::text, :authenticationId::uuid, :hasFixedEmail::boolean,
    :tokenId::uuid, :now::timestamptz)`,
);

export interface RegistrationDeps extends CodeMailDeps, NameCheckDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly hasher: PasswordHasher;
  readonly limits: Pick<
    RateLimitingConfig,
    'registration' | 'registrationCheck' | 'registrationToken' | 'emailAuthentication'
  >;
  readonly secretKeys: Pick<SecretKeys, 'registrationTokens'>;
  /** Whether codes can be sent by email. */
  readonly sendsMail: boolean;
  /** Whether an email address is required. A later step proves it. */
  readonly isEmailRequired: boolean;
  readonly emailPolicy: EmailPolicy;
  readonly namePolicy: NamePolicy;
  readonly policy: BanDeps['policy'];
  readonly moduleRules: ModuleRules;
  readonly captcha: Pick<Captcha, 'check'>;
  readonly passwordRules: PasswordRules;
  readonly serviceName: string;
  /** Terms that the user must accept. */
  readonly tosUri: string | undefined;
}

/** The first registration form, as typed. */
export interface Submission {
  readonly username: string;
  /** Ignored if not required, or if the invitation determines it. */
  readonly email: string;
  readonly password: string;
  /** Sent by pages of earlier versions, which asked for the password twice. */
  readonly passwordConfirm: string | undefined;
  readonly acceptsTerms: boolean;
  /** From the URL of the form; undefined: none. An invalid token is ignored here; its step asks for one. */
  readonly invitation: PresentedInvitation | undefined;
  readonly captcha: CaptchaResponse;
  readonly action: PostAuthAction | undefined;
  /** Language of the page. */
  readonly locale: string;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** One problem of a submission. */
export type SubmissionProblem =
  | { readonly field: 'username'; readonly problem: 'required' | NameProblem }
  | { readonly field: 'email'; readonly problem: 'required' | EmailProblem }
  | { readonly field: 'password'; readonly problem: 'required' | 'password_mismatch' | PasswordProblem }
  | { readonly field: 'accept_terms'; readonly problem: 'required' }
  /** From the operator's policy module, which names the field itself. */
  | { readonly field: 'policy'; readonly problem: ModuleViolation };

export type StartOutcome =
  | { readonly ok: true; readonly id: RegistrationId }
  | { readonly ok: false; readonly reason: 'requester-banned' | 'homeserver-unavailable' }
  | { readonly ok: false; readonly reason: 'rejected'; readonly problems: readonly SubmissionProblem[] }
  | CaptchaRefusal
  | Overloaded;

/**
 * Starts a registration with username and password, in the order of browser-flows 5.3: cheap checks come first, and all
 * problems are collected before the form is rejected.
 */
export async function startRegistration(deps: RegistrationDeps, submission: Submission): Promise<StartOutcome> {
  const { registration, registrationCheck } = deps.limits;
  const { address } = submission;
  // Every form counts, because each reveals whether a name is taken (security S-82).
  const checked = await chargeAddress(deps, { name: 'registration-check', limiter: registrationCheck, address });
  if (!checked.ok) return { ...checked, reason: 'rate-limited' };
  const setting = findBan(deps, 'register', address, submission.userAgent);
  if (setting !== undefined) {
    deps.log.info('auth.refused', 'registration refused: banned requester', { code: 'requester_banned', setting });
    return { ok: false, reason: 'requester-banned' };
  }
  const presented = submission.invitation;
  const invitation = presented === undefined ? undefined : await findInvitation(deps, presented, address);
  const invited = invitation?.email;
  const filled = invited === undefined ? submission : { ...submission, email: invited.email.address };
  const hasEmail = deps.isEmailRequired || invited !== undefined;
  const judged = hasEmail ? await checkEmailPolicy(filled.email, deps.emailPolicy) : undefined;
  let problems: SubmissionProblem[];
  try {
    problems = await findProblems(deps, filled, judged);
  } catch (error) {
    return overloadedOutcome(error, deps.log);
  }
  if (problems.length > 0) return { ok: false, reason: 'rejected', problems };
  // A CAPTCHA can be verified only once, so everything else must be valid first.
  const solved = await deps.captcha.check('register', submission.captcha, address);
  if (!solved.ok) return solved;
  const requested = await checkHomeserverName(deps, submission.username);
  if (requested === 'exists')
    return { ok: false, reason: 'rejected', problems: [{ field: 'username', problem: requested }] };
  if (requested !== 'available') return { ok: false, reason: requested };

  const isVerified = invited?.isProven === true;
  const email =
    judged?.ok === true ? { id: newId<'email-authentication'>(deps.clock.now()), email: judged.email } : undefined;
  const charged = await takeTokens(deps.database, deps.clock, [
    addressBucket(deps.log, { name: 'registration', limiter: registration, address }),
    ...(email === undefined || isVerified
      ? []
      : codeMailBuckets(deps, { authentication: email.id, emailKey: email.email.key, address })),
  ]);
  if (!charged.ok) return { ...charged, reason: 'rate-limited' };
  let stored: StoredHash | undefined;
  try {
    stored = await deps.hasher.hash(submission.password, callerOf(submission));
  } catch (error) {
    return overloadedOutcome(error, deps.log);
  } finally {
    // Nothing was stored, so the attempt does not count.
    if (stored === undefined) await refundTokens(deps.database, charged.charges);
  }
  if (stored === undefined) {
    return { ok: false, reason: 'rejected', problems: [{ field: 'password', problem: 'password_too_long' }] };
  }
  return { ok: true, id: await store(deps, submission, { stored, email, invitation }) };
}

async function findProblems(
  deps: RegistrationDeps,
  submission: Submission,
  judged: JudgedEmail | undefined,
): Promise<SubmissionProblem[]> {
  const { username, password, passwordConfirm } = submission;
  const problems: SubmissionProblem[] = [];
  const names =
    username === '' ? ['required' as const] : await findNameProblems(deps.database, username, deps.namePolicy);
  for (const problem of names) problems.push({ field: 'username', problem });
  const isEmailMissing = submission.email.trim() === '';
  for (const problem of judged?.ok === false ? judged.problems : []) {
    problems.push({ field: 'email', problem: isEmailMissing ? 'required' : problem });
  }
  const emails = judged?.ok === true ? [judged.email.address] : [];
  const passwordProblem = password === '' ? 'required' : await weaknessOf(deps, submission, emails);
  if (passwordProblem !== undefined) problems.push({ field: 'password', problem: passwordProblem });
  if (passwordConfirm !== undefined && passwordConfirm !== password) {
    problems.push({ field: 'password', problem: 'password_mismatch' });
  }
  if (deps.tosUri !== undefined && !submission.acceptsTerms) {
    problems.push({ field: 'accept_terms', problem: 'required' });
  }
  if (username === '') return problems;
  const found = await checkRegistrationPolicy(deps, {
    ...{ username, method: 'password', address: submission.address, userAgent: submission.userAgent },
    email: judged?.ok === true ? judged.email.address : undefined,
  });
  return [...problems, ...found.map((problem) => ({ field: 'policy' as const, problem }))];
}

async function weaknessOf(
  { passwordRules, serviceName }: RegistrationDeps,
  submission: Submission,
  emails: readonly string[],
): Promise<PasswordProblem | undefined> {
  const owner = { username: submission.username, emails, serviceName };
  return await findPasswordProblem(passwordRules, submission.password, owner, callerOf(submission));
}

function callerOf({ address, signal }: Submission): HashCaller {
  return { address: addressKey(address), signal };
}

async function store(
  deps: RegistrationDeps,
  submission: Submission,
  {
    stored,
    email,
    invitation,
  }: {
    readonly stored: StoredHash;
    readonly email: { readonly id: EmailAuthenticationId; readonly email: EmailAddress } | undefined;
    readonly invitation: Invitation | undefined;
  },
): Promise<RegistrationId> {
  const now = deps.clock.now();
  const id = newId<'registration'>(now);
  const action = postAuthActionFields(submission.action);
  await deps.database.execute(insertRegistration, {
    ...beginParameters(email, { locale: submission.locale, now }),
    id: toUuid(id),
    username: submission.username,
    passwordHash: stored.hash,
    schemeVersion: stored.schemeVersion,
    postAuthAction: action.length === 0 ? null : JSON.stringify(Object.fromEntries(action)),
    termsUri: deps.tosUri ?? null,
    ip: submission.address ?? null,
    userAgent: submission.userAgent ?? null,
    isEmailProven: invitation?.email?.isProven === true,
    hasFixedEmail: invitation?.email !== undefined,
    tokenId: invitation?.tokenId ?? null,
  });
  return id;
}
