/**
 * The email address of a registration. The user must prove it with a code before the registration becomes an account.
 */
import { takeTokens } from '#domain/limits/rate-limits.ts';
import type { Clock } from '#platform/base/clock.ts';
import { newId, toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { ms, statement } from '#platform/postgres/statement.ts';
import type { RegistrationId } from '#vocabulary/ids.ts';
import type { EmailAddress } from '../email-address.ts';
import {
  type BeginParameters,
  beginAuthenticationCtes,
  beginParameters,
  type CodeMailDeps,
  codeMailBuckets,
} from '../email-authentications/begin-email-authentication.ts';
import {
  type EmailAuthentication,
  type EmailAuthenticationId,
  type EmailAuthenticationRow,
  toEmailAuthentication,
} from '../email-authentications/email-authentication.ts';

const findByRegistration = statement<EmailAuthenticationRow, { readonly id: string }>(
  'find-email-of-registration',
  `select a.id, a.email, a.email_key, ${ms('a.created_at')} as created_at, a.tries,
    a.completed_at is not null as is_completed
  from user_registrations r join user_email_authentications a on a.id = r.email_authentication_id
  where r.id = :id::uuid`,
);

/** Returns undefined for a registration without an address. */
export async function findRegistrationEmail(
  { database, clock }: { readonly database: Queryable; readonly clock: Clock },
  id: RegistrationId,
): Promise<EmailAuthentication | undefined> {
  const row = await database.first(findByRegistration, { id: toUuid(id) });
  return row === undefined ? undefined : toEmailAuthentication(row, clock.now());
}

/**
 * Keeps an address that is already proven. An address fixed by the provider cannot be replaced, only proven with a
 * fresh code.
 */
const replaceEmail = statement<never, BeginParameters & { readonly registrationId: string }>(
  'replace-registration-email',
  `with replaced as (
    update user_registrations r set email_authentication_id = :authenticationId::uuid
    where r.id = :registrationId::uuid and r.completed_at is null
      and (not r.has_fixed_email or exists (
        select from user_email_authentications former
        where former.id = r.email_authentication_id and former.email_key = :emailKey::text
      ))
      and not exists (
        select from user_email_authentications former
        where former.id = r.email_authentication_id and former.completed_at is not null
      )
    returning r.id
  ), ${beginAuthenticationCtes('replaced')}
  select`,
);

/**
 * Replaces the email address of an open registration and mails a code to it. Also works for the same address, when its
 * attempts are used up.
 */
export async function replaceRegistrationEmail(
  deps: CodeMailDeps & { readonly database: Queryable; readonly clock: Clock },
  registration: RegistrationId,
  request: {
    readonly email: EmailAddress;
    /** Language of the page. */
    readonly locale: string;
    readonly address: string | undefined;
  },
): Promise<{ readonly ok: true } | { readonly ok: false; readonly retryAfterSeconds: number }> {
  const { database, clock } = deps;
  const { email, locale, address } = request;
  const now = clock.now();
  const id: EmailAuthenticationId = newId(now);
  const buckets = codeMailBuckets(deps, { authentication: id, emailKey: email.key, address });
  const taken = await takeTokens(database, clock, buckets);
  if (!taken.ok) return taken;
  await database.execute(replaceEmail, {
    ...beginParameters({ id, email }, { locale, now }),
    registrationId: toUuid(registration),
  });
  return { ok: true };
}
