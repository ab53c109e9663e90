import { takePasskeyOffer } from '#domain/passkeys/offer.ts';
import type { User } from '#domain/records/user.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { PageDeps } from './browser.ts';
import { PASSKEY_CAPABLE } from './components/passkey-capable.tsx';

/** Whether sign-in forms ask the browser about its device. */
export function isPasskeyOfferOn({ config, signIn }: Pick<PageDeps, 'config' | 'signIn'>): boolean {
  return config.account.passkeyOffer && signIn.relyingParty !== undefined;
}

/**
 * Returns where a user continues after signing in with a password: at the offer to add a passkey if it is due, else at
 * the target. Takes one statement if the device can create passkeys, else none.
 */
export async function afterPassword(
  deps: Pick<PageDeps, 'clock' | 'config' | 'database' | 'log' | 'signIn' | 'urls'>,
  form: FormParameters,
  user: User,
  action: PostAuthAction | undefined,
): Promise<string> {
  const { urls } = deps;
  const target = urls.afterAuthentication(action);
  if (form.get(PASSKEY_CAPABLE) !== 'on' || !isPasskeyOfferOn(deps) || !isInterruptible(action)) return target;
  if (!(await takePasskeyOffer(deps.database, user.id, deps.clock.now()))) return target;
  deps.log.info('passkey.offered', 'passkey offered after sign-in with a password', { user: user.id });
  return urls.passkeyOffer(action);
}

/** A device, a chat client and a link to a provider wait only a few minutes for the user. */
function isInterruptible(action: PostAuthAction | undefined): boolean {
  return action === undefined || action.kind === 'continue_authorization_grant' || action.kind === 'manage_account';
}
