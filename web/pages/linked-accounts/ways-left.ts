import type { AreaKey } from '../../i18n/translations.ts';
import type { LinkedAccountListData } from './linked-accounts.generated.ts';

type User = Extract<LinkedAccountListData['viewer'], { __typename: 'User' }>;

/** How a person could sign in once one of their links is gone, as far as they should think about it before. */
export type WaysLeft = 'none' | 'passkeys' | 'enough';

export function waysLeftWithout(
  oneLink: Pick<User, 'loginMethods'> & { readonly upstreamOauth2Links: { readonly totalCount: number } },
): WaysLeft {
  const { loginMethods, upstreamOauth2Links } = oneLink;
  const left = loginMethods.filter((method) => method !== 'UPSTREAM' || upstreamOauth2Links.totalCount > 1);
  if (left.length === 0) return 'none';
  return left.every((method) => method === 'PASSKEY') ? 'passkeys' : 'enough';
}

export const WARNINGS: Readonly<Record<Exclude<WaysLeft, 'enough'>, AreaKey>> = {
  none: 'account.linked.last',
  passkeys: 'account.linked.only_passkeys',
};
