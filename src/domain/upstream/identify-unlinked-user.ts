import { foldUsername, isIdentifier, usernameKey } from '#domain/accounts/account-names.ts';
import { isNamed } from '#domain/accounts/find-user.ts';
import { checkHomeserverName, type NameCheckDeps } from '#domain/accounts/registrations/homeserver-name.ts';
import {
  findNameProblems,
  type NamePolicy,
  type NameProblem,
  nearestName,
  suggestName,
} from '#domain/accounts/registrations/registration-policy.ts';
import { toUser, type User, type UserRow, userColumns } from '#domain/records/user.ts';
import { toUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { statement } from '#platform/postgres/statement.ts';
import type { CompletedAuthorization } from './find-completed.ts';
import { type ImportDeps, type Imported, type ImportedEmail, importClaims } from './import-claims.ts';
import { type EnabledMethods, hasCredential } from './login-methods.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

export interface IdentifyDeps extends ImportDeps, NameCheckDeps {
  readonly database: Queryable;
  readonly namePolicy: NamePolicy;
  readonly signIn: { readonly methods: EnabledMethods };
}

/** Data for a new account of the user. */
export interface UnlinkedUser {
  readonly kind: 'new';
  /** A username that is available now. */
  readonly username: Imported<string> | undefined;
  readonly displayName: Imported<string> | undefined;
  readonly email: Imported<ImportedEmail> | undefined;
}

export type Identity =
  | UnlinkedUser
  /** The account with the user's name, which the operator's settings allow to link. It may be locked. */
  | {
      readonly kind: 'existing';
      readonly user: User;
      /** The account has a password or passkey, so the user must sign in with it first. */
      readonly needsSignIn: boolean;
    }
  | {
      readonly kind: 'refused';
      readonly code:
        | 'upstream_claim_missing'
        | 'upstream_user_exists'
        | 'upstream_user_has_link'
        | 'upstream_username_rejected';
      /** Shown to the operator. */
      readonly description: string;
    };

/** Identifies a user without an account by the imported claims (browser-flows 8.6). Writes nothing. */
export async function identifyUnlinkedUser(
  deps: IdentifyDeps,
  provider: UpstreamProvider,
  completed: CompletedAuthorization,
): Promise<Identity> {
  const imported = importClaims(deps, provider, completed.answer);
  if (!imported.ok) {
    const description = `the claims of the provider contain no valid ${imported.missing}, which is required`;
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
  // Many providers keep the case that users registered with.
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

/** If the homeserver does not respond, the registration asks it once more when it starts. */
async function problemsOf(deps: IdentifyDeps, username: string): Promise<readonly NameProblem[]> {
  const problems = await findNameProblems(deps.database, username, deps.namePolicy);
  if (problems.length > 0) return problems;
  return (await checkHomeserverName(deps, username)) === 'exists' ? ['exists'] : [];
}

interface Match {
  readonly user: User;
  /** The account is linked to another subject of the same provider. */
  readonly hasLink: boolean;
  /** The account has a usable password or passkey. */
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
    const description = 'an account with the username from the provider already exists';
    return { kind: 'refused', code: 'upstream_user_exists', description };
  }
  if (onConflict === 'set' && hasLink) {
    const description = 'the account with this username is linked to a different user of the provider';
    return { kind: 'refused', code: 'upstream_user_has_link', description };
  }
  return { kind: 'existing', user, needsSignIn: hasCredential && !trustsProvider };
}

function rejected(problems: readonly NameProblem[]): Identity {
  const description = `the username from the provider is not allowed: ${problems.join(', ')}`;
  return { kind: 'refused', code: 'upstream_username_rejected', description };
}

/** Longer than any username. Names with null characters cannot be stored at all. */
const MAX_NAME_CHARACTERS = 255;

async function findMatch(
  { database, signIn }: IdentifyDeps,
  provider: UpstreamProvider,
  username: string,
): Promise<Match | undefined> {
  if (username.length > MAX_NAME_CHARACTERS || username.includes('\0') || isIdentifier(username)) return undefined;
  const row = await database.first(findMatchingUser, {
    ...signIn.methods,
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
