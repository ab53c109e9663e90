import { type ClientId, fromUuid } from '#platform/base/ids.ts';
import type { ScopeRules } from '#protocol/oauth/scopes.ts';

export interface AdminRightsOptions {
  readonly scopeRules: Pick<ScopeRules, 'isAdmin' | 'classify' | 'isCovered'>;
  /** User names that may ask for admin scopes, as well as those whose account has the right. */
  readonly users: Pick<ReadonlySet<string>, 'has'>;
  /** Clients that may administer this service themselves. */
  readonly clients: Pick<ReadonlySet<ClientId>, 'has'>;
}

/** Whose scope it is, as the database has it now. */
export interface ScopeHolder {
  readonly client_id: string;
  /** Scopes that the client is registered for, separated by spaces; null: no restriction. */
  readonly client_scope: string | null;
  /** Null: the client itself. */
  readonly username: string | null;
  readonly can_request_admin: boolean | null;
}

/** Whose scope that of a personal token is, as the database has it now. */
export interface PersonalScopeHolder {
  /** The account that it acts as. */
  readonly actor: { readonly username: string; readonly can_request_admin: boolean };
  /** A person, or the id of an application. */
  readonly owner: PersonalScopeHolder['actor'] | ClientId;
}

/**
 * Who may administer. Admin scopes are judged by this whenever a token is used or renewed, not only when they are
 * granted: an account that loses the right loses the scope with it, on every instance.
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
   * What is left of a granted scope: admin scopes only while their holder may have them. A client's own scope for
   * GraphQL takes the same right.
   */
  remainingScope(scope: readonly string[], holder: ScopeHolder): readonly string[] {
    const { scopeRules } = this.#options;
    const isJudged = (name: string) =>
      scopeRules.isAdmin(name) || (holder.username === null && scopeRules.classify(name) === 'account');
    return scope.some(isJudged) ? scope.filter((name) => !isJudged(name) || this.#mayHold(name, holder)) : scope;
  }

  /**
   * The same for a personal token: the account that it acts as and its owner have to have the right, so that nobody
   * keeps by a token what they have lost, and nobody administers in the name of somebody who may not.
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
