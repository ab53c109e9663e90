import type { AreaKey } from '../../i18n/translations.ts';
import type { LinkedAccountListData } from './linked-accounts.generated.ts';

type User = Extract<LinkedAccountListData['viewer'], { __typename: 'User' }>;

/** Sign-in methods that remain after a link is removed, as far as the user should be warned. */
export type RemainingMethods = 'none' | 'passkeys' | 'enough';

export function remainingMethods(
  oneLink: Pick<User, 'loginMethods'> & { readonly upstreamOauth2Links: { readonly totalCount: number } },
): RemainingMethods {
  const { loginMethods, upstreamOauth2Links } = oneLink;
  const left = loginMethods.filter((method) => method !== 'UPSTREAM' || upstreamOauth2Links.totalCount > 1);
  if (left.length === 0) return 'none';
  return left.every((method) => method === 'PASSKEY') ? 'passkeys' : 'enough';
}

export const WARNINGS: Readonly<Record<Exclude<RemainingMethods, 'enough'>, AreaKey>> = {
  none: 'account.linked.last',
  passkeys: 'account.linked.only_passkeys',
};
