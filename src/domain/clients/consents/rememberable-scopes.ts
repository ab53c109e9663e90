import type { ScopeRules } from '#protocol/oauth/scopes.ts';

/**
 * What of a consent is worth remembering, in canonical spelling: scopes that are asked for afresh each time are left
 * out, or every sign-in with a device of its own would add one for ever.
 */
export function rememberableScopes(scopes: readonly string[], rules: ScopeRules): readonly string[] {
  return scopes.filter((scope) => !rules.isChat(scope) && !rules.isAdmin(scope)).map((scope) => rules.canonical(scope));
}
