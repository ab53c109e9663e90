import { foldUsername, isIdentifier, usernameKey } from '#domain/accounts/account-names.ts';
import { isNamed } from '#domain/accounts/find-user.ts';
import { askHomeserver, type NameQuestionDeps } from '#domain/accounts/registrations/homeserver-name.ts';
import {
  findNameProblems,
  type NamePolicy,
  type NameProblem,
  nearestName,
  suggestName,
} from '#domain/accounts/registrations/registration-policy.ts';
import { toUser, type User, type UserRow, userColumns } from '#domain/accounts/user.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { CompletedAuthorization } from './find-completed.ts';
import { type ImportDeps, type Imported, type ImportedEmail, importClaims } from './import-claims.ts';
import { type EnabledMethods, hasCredential } from './login-methods.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

export interface IdentifyDeps extends ImportDeps, NameQuestionDeps {
  readonly database: Queryable;
  readonly namePolicy: NamePolicy;
  readonly enabledMethods: EnabledMethods;
}

/** What an account of the person would be made of. */
export interface Newcomer {
  readonly kind: 'new';
  /** One that can be had now. */
  readonly username: Imported<string> | undefined;
  readonly displayName: Imported<string> | undefined;
  readonly email: Imported<ImportedEmail> | undefined;
}

export type Identity =
  | Newcomer
  /** The account that has their name; the operator wants it to be theirs. It may be locked. */
  | {
      readonly kind: 'existing';
      readonly user: User;
      /** It has a password or passkey, with which the person has to sign in first. */
      readonly needsSignIn: boolean;
    }
  | {
      readonly kind: 'refused';
      readonly code:
        | 'upstream_claim_missing'
        | 'upstream_user_exists'
        | 'upstream_user_has_link'
        | 'upstream_username_rejected';
      /** For the operator. */
      readonly description: string;
    };

/** Who somebody without an account here is, by the claims that are imported (browser-flows 8.6). Writes nothing. */
export async function identifyNewcomer(
  deps: IdentifyDeps,
  provider: UpstreamProvider,
  completed: CompletedAuthorization,
): Promise<Identity> {
  const imported = importClaims(deps, provider, completed.answer);
  if (!imported.ok) {
    const description = `the claims of the provider give no usable ${imported.missing}, which is required`;
    return { kind: 'refused', code: 'upstream_claim_missing', description };
  }
  const { localpart, displayName } = imported.claims;
  const givenEmail = await judgeImportedEmail(deps, imported.claims.email);
  const isRefusedEmail = givenEmail?.isFixed === false && givenEmail.value.problems.length > 0;
  const rest = { displayName, email: isRefusedEmail ? undefined : givenEmail };
  if (localpart === undefined) return { kind: 'new', username: undefined, ...rest };
  if (!localpart.isFixed) {
    const value = nearestName(localpart.value, deps.namePolicy);
    const isFree = value !== undefined && (await problemsOf(deps, value)).length === 0;
    return { kind: 'new', username: isFree ? { ...localpart, value } : undefined, ...rest };
  }
  const match = await findMatch(deps, provider, localpart.value.trim());
  if (match !== undefined) return judgeMatch(deps, provider, match);
  // Many providers keep the case that people registered with.
  const value = suggestName(localpart.value, deps.namePolicy) ?? localpart.value;
  const problems = await problemsOf(deps, value);
  if (problems.length > 0) return rejected(problems);
  return { kind: 'new', username: { ...localpart, value }, ...rest };
}

async function judgeImportedEmail(
  { emailPolicy }: IdentifyDeps,
  imported: Imported<ImportedEmail> | undefined,
): Promise<Imported<ImportedEmail> | undefined> {
  if (imported === undefined || imported.value.problems.length > 0) return imported;
  const { value } = imported;
  const problems = await emailPolicy.moduleRules.judge('email', { email: value.email.address });
  return { ...imported, value: { ...value, problems } };
}

/** A homeserver that does not answer is asked again when the registration begins. */
async function problemsOf(deps: IdentifyDeps, username: string): Promise<readonly NameProblem[]> {
  const problems = await findNameProblems(deps.database, username, deps.namePolicy);
  if (problems.length > 0) return problems;
  return (await askHomeserver(deps, username)) === 'exists' ? ['exists'] : [];
}

interface Match {
  readonly user: User;
  /** To another subject of the same provider. */
  readonly hasLink: boolean;
  /** A password or passkey that the account can be signed in to with. */
  readonly hasCredential: boolean;
}

function judgeMatch(
  { namePolicy }: IdentifyDeps,
  provider: UpstreamProvider,
  { user, hasLink, hasCredential }: Match,
): Identity {
  const { onConflict, trustsProvider } = provider.claimsImports.localpart;
  const isAdmin = user.canRequestAdmin || namePolicy.reservedUsernames.has(foldUsername(user.username));
  if (onConflict === 'fail' || user.isDeactivated || isAdmin) {
    const description = 'an account here has the username that the provider gives';
    return { kind: 'refused', code: 'upstream_user_exists', description };
  }
  if (onConflict === 'set' && hasLink) {
    const description = 'the account with that username is linked to somebody else at the provider';
    return { kind: 'refused', code: 'upstream_user_has_link', description };
  }
  return { kind: 'existing', user, needsSignIn: hasCredential && !trustsProvider };
}

function rejected(problems: readonly NameProblem[]): Identity {
  const description = `the username that the provider gives cannot be had: ${problems.join(', ')}`;
  return { kind: 'refused', code: 'upstream_username_rejected', description };
}

/** Longer than any username, and what no text of the database can hold. */
const MAX_NAME_CHARACTERS = 255;

async function findMatch(
  { database, enabledMethods }: IdentifyDeps,
  provider: UpstreamProvider,
  username: string,
): Promise<Match | undefined> {
  if (username.length > MAX_NAME_CHARACTERS || username.includes('\0') || isIdentifier(username)) return undefined;
  const row = await database.first(findMatchingUser, {
    ...enabledMethods,
    username,
    usernameKey: usernameKey(username),
    providerId: toUuid(provider.id),
  });
  if (row === undefined) return undefined;
  return { user: toUser(row), hasLink: row.has_link, hasCredential: row.has_credential };
}

const findMatchingUser = statement<
  UserRow & { readonly has_link: boolean; readonly has_credential: boolean },
  EnabledMethods & { readonly username: string; readonly usernameKey: string; readonly providerId: string }
>(
  'find-user-of-upstream-name',
  `select ${userColumns('u')},
     exists (select from upstream_links l where l.user_id = u.id and l.provider_id = :providerId::uuid) as has_link,
     ${hasCredential('u.id')} as has_credential
     from users u where ${isNamed('u', ':username', ':usernameKey')}
    order by u.username = :username::text desc limit 1`,
);
