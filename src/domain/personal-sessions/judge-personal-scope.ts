import { findUser } from '#domain/accounts/find-user.ts';
import type { AdminRights, PersonalScopeHolder } from '#domain/records/admin-rights.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { parseScope, type ScopeKind, type ScopeRules } from '#protocol/oauth/scopes.ts';
import type { PersonalOwner } from './issue-personal-token.ts';

/** Other kinds have no meaning here: personal tokens are not refreshed, and GraphQL does not accept them. */
const KINDS: ReadonlySet<ScopeKind | undefined> = new Set([
  'openid',
  'claims',
  'chat-api',
  'chat-device',
  'homeserver-admin',
  'admin',
  'resource',
]);

interface JudgeDeps {
  readonly database: Queryable;
  readonly adminRights: AdminRights;
  readonly scopeRules: ScopeRules;
}

/**
 * Validates the scope of a personal token. An admin scope requires that both the account and the owner may have it,
 * because the token would otherwise be rejected on every use.
 * @throws LatchkeyError `invalid_scope`, `scope_not_allowed`
 */
export async function judgePersonalScope(
  { database, adminRights, scopeRules }: JudgeDeps,
  text: string,
  actor: PersonalScopeHolder['actor'],
  owner: PersonalOwner,
): Promise<readonly string[]> {
  const scope = parseScope(text);
  if (scope === undefined) {
    throw new LatchkeyError('invalid_scope', { description: 'scope is malformed or empty' });
  }
  const problem = scopeRules.setProblem(scope, false);
  if (problem !== undefined) throw new LatchkeyError('invalid_scope', { description: problem });
  const unfit = scope.find((name) => !KINDS.has(scopeRules.classify(name)));
  if (unfit !== undefined) throw notAllowed(`a personal token cannot have the scope ${unfit}`);
  const adminScope = scope.find((name) => scopeRules.isAdmin(name));
  if (adminScope === undefined) return scope;
  const owning = owner.kind === 'client' ? owner.id : await ownerOf(database, owner);
  if (
    owning === undefined ||
    !adminRights.remainingPersonalScope(scope, { actor, owner: owning }).includes(adminScope)
  ) {
    throw notAllowed(
      `${adminScope} requires that both the account and the owner of the token may have administrator rights`,
    );
  }
  return scope;
}

async function ownerOf(database: Queryable, { id }: Extract<PersonalOwner, { readonly kind: 'user' }>) {
  const user = await findUser(database, id);
  return user && { username: user.username, can_request_admin: user.canRequestAdmin };
}

function notAllowed(description: string): LatchkeyError {
  return new LatchkeyError('scope_not_allowed', { description });
}
