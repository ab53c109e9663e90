import { recordAuditEvent } from '#domain/audit/audit-event.ts';
import { queueProvisioning } from '#domain/homeserver/provision-user.ts';
import type { ModuleRules } from '#domain/policy/module/module-rules.ts';
import { type BanDeps, findBan } from '#domain/policy/requester-policy.ts';
import type { BrowserSessionStart, SessionCredentials } from '#domain/records/browser-session.ts';
import type { SecondFactorRules } from '#domain/records/due-factor.ts';
import { registrationTokenIsValid } from '#domain/records/liveness/accounts.ts';
import type { User } from '#domain/records/user.ts';
import { beginSetup } from '#domain/second-factors/begin-setup.ts';
import type { Clock } from '#platform/base/clock.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { KeyRing } from '#platform/base/sealing.ts';
import type { StoredHash } from '#platform/password-hash/password-hasher.ts';
import type { Database, Transaction } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type {
  BrowserSessionId,
  PendingLoginId,
  RegistrationId,
  UpstreamAuthorizationId,
  UpstreamProviderId,
  UserId,
} from '#vocabulary/ids.ts';
import { createUser } from '../create-user.ts';
import { checkEmail, type EmailPolicy } from '../email-authentications/email-policy.ts';
import { setPassword } from '../passwords/set-password.ts';
import { addEmail } from '../user-emails.ts';
import { checkRegistrationPolicy } from './check-registration-policy.ts';
import { countFinish } from './count-registrations.ts';
import { checkHomeserverName, type NameCheckDeps } from './homeserver-name.ts';
import { refusableTransaction } from './refusable-transaction.ts';
import {
  findRegistration,
  type Registration,
  type RegistrationMethods,
  type RegistrationRow,
  registrationColumns,
  registrationState,
  toRegistration,
} from './registration.ts';
import { findNameProblems, type NamePolicy } from './registration-policy.ts';
import { consumeRegistrationToken, recordTokenUse, tokenFitsEmail } from './registration-token.ts';

type LockedRegistrationRow = RegistrationRow & {
  readonly password_hash: string | null;
  readonly password_scheme_version: number | null;
  readonly terms_uri: string | null;
  readonly locale: string | null;
  readonly is_token_valid: boolean;
  readonly has_email: boolean;
  /** Also null if the address was replaced while this statement waited for the lock. */
  readonly email: string | null;
  readonly email_key: string | null;
  readonly is_email_proven: boolean | null;
  readonly is_email_taken: boolean;
};

/** Serializes requests that finish the same registration. */
const lockRegistration = statement<
  LockedRegistrationRow,
  { readonly id: string; readonly now: Date; readonly sendsMail: boolean }
>(
  'lock-registration',
  `select ${registrationColumns}, password_hash, password_scheme_version, terms_uri, locale,
    exists (
      select from user_registration_tokens t
      where t.id = registration_token_id and ${registrationTokenIsValid('t', ':now::timestamptz')}
        and ${tokenFitsEmail('t', 'given.email_key')}
    ) as is_token_valid,
    email_authentication_id is not null as has_email, given.email, given.email_key, given.is_email_proven,
    exists (select from user_emails e where e.email_key = given.email_key) as is_email_taken
  from user_registrations left join (
    select a.id as authentication_id, a.email, a.email_key, a.completed_at is not null as is_email_proven
    from user_email_authentications a
  ) given on given.authentication_id = email_authentication_id
  where id = :id::uuid for update of user_registrations`,
);

/** Clears the hash, which now belongs to the account. */
const completeRegistration = statement<never, { readonly now: Date; readonly id: string }>(
  'complete-registration',
  `update user_registrations set completed_at = :now::timestamptz, password_hash = null, password_scheme_version = null
  where id = :id::uuid and completed_at is null`,
);

/** Stores the terms that were accepted when the registration began. */
const insertTerms = statement<never, { readonly userId: string; readonly registrationId: string }>(
  'insert-accepted-terms',
  `insert into user_terms (user_id, terms_uri, accepted_at)
  select :userId::uuid, terms_uri, created_at from user_registrations where id = :registrationId::uuid and terms_uri is not null`,
);

/** An unused upstream sign-in, locked by the transaction. */
export interface UpstreamProof {
  /** Authentication methods that the upstream provider reported (RFC 8176). */
  readonly amr: readonly string[];
  /** Links the upstream identity to the new account and marks the sign-in as used. */
  attach(facts: { readonly userId: UserId; readonly sessionId: BrowserSessionId; readonly now: number }): Promise<void>;
}

/** Implemented by the module of upstream sign-ins, for the transaction that creates the account. */
export interface UpstreamProofs {
  /** @returns undefined if the sign-in was already used, or its identity belongs to an account in the meantime */
  lock(transaction: Transaction, id: UpstreamAuthorizationId): Promise<UpstreamProof | undefined>;
}

export interface FinishDeps extends NameCheckDeps {
  readonly keyRing: KeyRing;
  readonly secondFactors: Pick<SecondFactorRules, 'policy'>;
  readonly database: Database;
  readonly clock: Clock;
  readonly namePolicy: NamePolicy;
  readonly emailPolicy: EmailPolicy;
  readonly policy: BanDeps['policy'];
  readonly moduleRules: ModuleRules;
  readonly protocolName: string;
  /** Time limit for all steps together. */
  readonly ttlSeconds: number;
  readonly registrationMethods: RegistrationMethods;
  readonly upstreamProofs: UpstreamProofs;
  /** Whether codes can be sent by email. */
  readonly sendsMail: boolean;
}

export interface Finish {
  readonly id: RegistrationId;
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
  /** Opens the session of the new account in its transaction. */
  readonly startBrowserSession: (transaction: Transaction, start: BrowserSessionStart) => Promise<SessionCredentials>;
  /**
   * Signs out the user previously signed in with this browser, in the transaction that opens the session of the new
   * account.
   */
  readonly endFormerSession?: ((transaction: Transaction, now: number) => Promise<unknown>) | undefined;
}

type Entered =
  | { readonly kind: 'signed-in'; readonly session: SessionCredentials }
  /** A second factor is required, and the user sets it up before being signed in. */
  | { readonly kind: 'setup'; readonly pending: PendingLoginId };

export type FinishOutcome =
  | {
      readonly ok: true;
      readonly user: User;
      readonly entered: Entered;
      readonly action: PostAuthAction | undefined;
      /** The upstream sign-in that was used. */
      readonly upstream: Registration['upstream'];
    }
  | { readonly ok: false; readonly reason: 'unknown' | 'homeserver-unavailable' }
  | {
      readonly ok: false;
      /**
       * - `closed`: registration was disabled.
       * - `requester-banned`: the requester may not register.
       * - `name-taken`: the name is taken and the user cannot choose a different one.
       * - `outdated`: the registration has no email address, which is now required, or one that is no longer allowed.
       * - `email-in-use`: the address is proven, but another account has it.
       * - `upstream-used`: another request used the upstream sign-in.
       * - `name-lost` and the others: the step that is missing.
       */
      readonly reason:
        | 'completed'
        | 'expired'
        | 'closed'
        | 'requester-banned'
        | 'name-taken'
        | 'outdated'
        | 'email-in-use'
        | 'upstream-used'
        | 'name-lost'
        | 'token'
        | 'verify-email'
        | 'display-name';
      readonly action: PostAuthAction | undefined;
    };

/**
 * Creates the account of a complete registration and signs the user in, unless they must set up a second factor first.
 * Makes the checks of browser-flows 5.10, in that order, and all writes in one transaction that locks the registration.
 */
export async function finishRegistration(deps: FinishDeps, finish: Finish): Promise<FinishOutcome> {
  // The form may have been sent from a different address.
  const bannedBy = findBan(deps, 'register', finish.address, finish.userAgent);
  const requested = bannedBy === undefined ? await askForItsName(deps, finish.id) : undefined;
  if (requested?.availability === 'homeserver-unavailable') {
    const unavailable = { ok: false, reason: requested.availability } as const;
    countFinish(requested.provider, unavailable);
    return unavailable;
  }
  let provider: UpstreamProviderId | undefined;
  const judged = await judgeByModule(deps, finish);
  const outcome = await refusableTransaction<FinishOutcome>(
    deps.database,
    async (transaction, refuse) => {
      const now = deps.clock.now();
      const { sendsMail } = deps;
      const row = await transaction.first(lockRegistration, { id: toUuid(finish.id), now: new Date(now), sendsMail });
      if (row === undefined) return { ok: false, reason: 'unknown' };
      const registration = toRegistration(row, deps.protocolName);
      const { action } = registration;
      provider = registration.upstream?.providerId;
      const state = registrationState(registration, deps.ttlSeconds, now);
      if (state !== 'open') return { ok: false, reason: state, action };
      const { isOpen, isTokenRequired, isEmailRequired } = deps.registrationMethods.of(registration);
      if (!isOpen) return { ok: false, reason: 'closed', action };
      if (bannedBy !== undefined) return { ok: false, reason: 'requester-banned', action };
      const problems = await findNameProblems(transaction, registration.username, deps.namePolicy);
      // If the name changed in the meantime, its step asks the homeserver and then continues here.
      const isLost =
        requested !== undefined && (requested.availability === 'exists' || requested.username !== row.username);
      if (isLost || problems.length > 0) return { ok: false, reason: nameLost(registration), action };
      if (judged !== undefined && judged.username !== row.username)
        return { ok: false, reason: nameLost(registration), action };
      if (judged !== undefined && judged.email !== row.email) return { ok: false, reason: 'verify-email', action };
      if (judged?.isRefused === true) return { ok: false, reason: 'outdated', action };
      if (row.email !== null && !checkEmail(row.email, deps.emailPolicy).ok)
        return { ok: false, reason: 'outdated', action };
      if (isTokenRequired && !row.is_token_valid) return { ok: false, reason: 'token', action };
      if (isEmailRequired && !row.has_email) return { ok: false, reason: 'outdated', action };
      if (row.has_email && row.is_email_proven !== true) return { ok: false, reason: 'verify-email', action };
      if (row.is_email_taken) return { ok: false, reason: 'email-in-use', action };
      const { upstream } = registration;
      const proof = upstream === undefined ? undefined : await deps.upstreamProofs.lock(transaction, upstream.id);
      if (upstream !== undefined && proof === undefined) return { ok: false, reason: 'upstream-used', action };
      if (registration.displayName === undefined) return { ok: false, reason: 'display-name', action };
      // Two registrations may compete for the last use of a token.
      const isInvited = row.is_token_valid && (await consumeRegistrationToken(transaction, row.id, new Date(now)));
      if (isTokenRequired && !isInvited) return { ok: false, reason: 'token', action };
      // Another registration may have taken the name. The rollback then returns the token.
      const created = await createAccount(transaction, deps, { registration, row, proof, isInvited, finish, now });
      return created.ok ? created : refuse(created);
    },
    { isRepeatable: true },
  );
  if (!outcome.ok && outcome.reason === 'requester-banned') {
    const refusal = { code: 'requester_banned', setting: bannedBy };
    deps.log.info('auth.refused', 'registration refused: banned requester', refusal);
  }
  countFinish(provider, outcome);
  return outcome;
}

/** Asks the homeserver about the name, before the transaction. Returns undefined if there is nothing to ask. */
async function askForItsName(deps: FinishDeps, id: RegistrationId) {
  if (!deps.homeserver.isConnected) return undefined;
  const registration = await findRegistration(deps.database, id, deps.protocolName);
  // The transaction reports the reason.
  if (registration === undefined || registrationState(registration, deps.ttlSeconds, deps.clock.now()) !== 'open')
    return undefined;
  const { username, upstream } = registration;
  return { username, provider: upstream?.providerId, availability: await checkHomeserverName(deps, username) };
}

/** Uses only primary keys. */
const findJudged = statement<
  { readonly username: string; readonly email: string | null; readonly is_upstream: boolean },
  { readonly id: string }
>(
  'find-judged-registration',
  `select r.username, a.email, r.upstream_authorization_id is not null as is_upstream
  from user_registrations r left join user_email_authentications a on a.id = r.email_authentication_id
  where r.id = :id::uuid and r.completed_at is null`,
);

/**
 * Asks the operator's policy module about the account. This happens before the transaction because a rule may wait for
 * I/O. The rules may have changed since the registration began. Returns undefined if the module has no such rules.
 */
async function judgeByModule(deps: FinishDeps, { id, address, userAgent }: Finish) {
  const { moduleRules } = deps;
  if (!moduleRules.replaces('register') && !moduleRules.replaces('email')) return undefined;
  const row = await deps.database.first(findJudged, { id: toUuid(id) });
  if (row === undefined) return undefined;
  const { username, email } = row;
  const method = row.is_upstream ? 'upstream-oauth2' : 'password';
  const found = await checkRegistrationPolicy(deps, {
    username,
    email: email ?? undefined,
    method,
    address,
    userAgent,
  });
  const ofEmail = email === null ? [] : await moduleRules.judge('email', { email });
  return { username, email, isRefused: found.length + ofEmail.length > 0 };
}

async function createAccount(
  transaction: Transaction,
  { homeserver, keyRing, secondFactors }: FinishDeps,
  facts: {
    readonly registration: Registration;
    readonly row: LockedRegistrationRow;
    readonly proof: UpstreamProof | undefined;
    /** A registration token was consumed. */
    readonly isInvited: boolean;
    readonly finish: Finish;
    readonly now: number;
  },
): Promise<FinishOutcome> {
  const { registration, row, proof, isInvited, finish, now } = facts;
  const { action, displayName, username, upstream } = registration;
  const { address, userAgent } = finish;
  const locale = row.locale ?? undefined;
  // The name was available there.
  const keepsUnknownDevices = !homeserver.createsUsers;
  const account = { username, displayName, locale, canRequestAdmin: false, keepsUnknownDevices, now };
  const userId = await createUser(transaction, account);
  if (userId === undefined) return { ok: false, reason: nameLost(registration), action };
  if (row.email !== null && row.email_key !== null) {
    const email = { address: row.email, key: row.email_key };
    const isAdded = (await addEmail(transaction, userId, email, now)) !== undefined;
    if (!isAdded) return { ok: false, reason: 'email-in-use', action };
  }
  if (isInvited) await recordTokenUse(transaction, { registrationId: row.id, userId, now });
  if (proof === undefined) await setPassword(transaction, { user: userId, stored: storedHash(row), now });
  const entering = { userId, address, userAgent, now };
  const verifiedBy =
    proof === undefined ? ({ kind: 'password' } as const) : ({ kind: 'upstream', amr: proof.amr } as const);
  const hasToEnroll = proof === undefined && secondFactors.policy === 'required';
  const entered: Entered = hasToEnroll
    ? { kind: 'setup', pending: await beginSetup(transaction, keyRing, { ...entering, action }) }
    : {
        kind: 'signed-in',
        session: await finish.startBrowserSession(transaction, { ...entering, proof: verifiedBy }),
      };
  const sessionId = entered.kind === 'signed-in' ? entered.session.id : undefined;
  if (sessionId !== undefined) await proof?.attach({ userId, sessionId, now });
  await transaction.execute(insertTerms, { userId: toUuid(userId), registrationId: row.id });
  await recordAuditEvent(transaction, {
    kind: 'registered',
    at: now,
    userId,
    sessionId,
    address,
    userAgent,
  });
  await queueProvisioning(transaction, homeserver, { userId, displayName, now });
  await transaction.execute(completeRegistration, { now: new Date(now), id: row.id });
  await finish.endFormerSession?.(transaction, now);
  const user = {
    id: userId,
    username,
    displayName,
    locale,
    canRequestAdmin: false,
    isLocked: false,
    isDeactivated: false,
  };
  return { ok: true, user, entered, action, upstream };
}

function nameLost({ hasFixedUsername }: Registration): 'name-taken' | 'name-lost' {
  return hasFixedUsername ? 'name-taken' : 'name-lost';
}

function storedHash(row: LockedRegistrationRow): StoredHash {
  if (row.password_hash === null || row.password_scheme_version === null) {
    throw new Error('pending registration has no password');
  }
  return { hash: row.password_hash, schemeVersion: row.password_scheme_version };
}
