import { fromUuid } from '#platform/base/ids.ts';
import type { ScopeRules } from '#protocol/oauth/scopes.ts';
import type { ClientId } from '#vocabulary/ids.ts';

export interface AdminRightsOptions {
  readonly scopeRules: Pick<ScopeRules, 'isAdmin' | 'classify' | 'isCovered'>;
  /** Usernames that may request admin scopes, in addition to accounts with that right. */
  readonly users: Pick<ReadonlySet<string>, 'has'>;
  /** Clients that may administer this service on their own behalf. */
  readonly clients: Pick<ReadonlySet<ClientId>, 'has'>;
}

/** The holder of a scope, as currently stored. */
export interface ScopeHolder {
  readonly client_id: string;
  /** Registered scopes of the client, separated by spaces; null: unrestricted. */
  readonly client_scope: string | null;
  /** Null: the client acts on its own behalf. */
  readonly username: string | null;
  readonly can_request_admin: boolean | null;
}

/** The holder of a personal token's scope, as currently stored. */
export interface PersonalScopeHolder {
  /** The account that the token acts as. */
  readonly actor: { readonly username: string; readonly can_request_admin: boolean };
  /** A user, or the ID of an application. */
  readonly owner: PersonalScopeHolder['actor'] | ClientId;
}

/**
 * Decides who may administer. Admin scopes are checked whenever a token is used or renewed, not only when they are
 * granted. An account that loses the right therefore loses the scope on every instance.
 */
export class AdminRights {
  readonly #options: AdminRightsOptions;

  constructor(options: AdminRightsOptions) {
    this.#options = options;
  }

  mayUserAdminister(user: { readonly username: string; readonly can_request_admin: boolean }): boolean {
    return user.can_request_admin || this.#options.users.has(user.username);
  }

  mayClientAdminister(client: ClientId): boolean {
    return this.#options.clients.has(client);
  }

  /**
   * Returns the remaining part of a granted scope: admin scopes only while the holder may have them. The same right is
   * required for the GraphQL scope of a client that acts on its own behalf.
   */
  remainingScope(scope: readonly string[], holder: ScopeHolder): readonly string[] {
    const { scopeRules } = this.#options;
    const isJudged = (name: string) =>
      scopeRules.isAdmin(name) || (holder.username === null && scopeRules.classify(name) === 'account');
    return scope.some(isJudged) ? scope.filter((name) => !isJudged(name) || this.#mayHold(name, holder)) : scope;
  }

  /**
   * Like `remainingScope`, for a personal token. Both its owner and the account that it acts as must have the right.
   * Otherwise an owner could keep lost rights in a token, or administer as a user without the right.
   */
  remainingPersonalScope(scope: readonly string[], { actor, owner }: PersonalScopeHolder): readonly string[] {
    const { scopeRules } = this.#options;
    const mayAdminister =
      this.mayUserAdminister(actor) &&
      (typeof owner === 'string' ? this.mayClientAdminister(owner) : this.mayUserAdminister(owner));
    return mayAdminister ? scope : scope.filter((name) => !scopeRules.isAdmin(name));
  }

  #mayHold(adminScope: string, holder: ScopeHolder): boolean {
    const { scopeRules } = this.#options;
    const { client_id, client_scope, username, can_request_admin } = holder;
    if (client_scope !== null && !scopeRules.isCovered([adminScope], client_scope.split(' '))) return false;
    if (username !== null) return this.mayUserAdminister({ username, can_request_admin: can_request_admin ?? false });
    const kind = scopeRules.classify(adminScope);
    return (kind === 'admin' || kind === 'account') && this.mayClientAdminister(fromUuid(client_id));
  }
}
