import type { FormParameters } from '#platform/http/form-parameters.ts';
import { chatNames } from '#protocol/chat/names.ts';
import { type PostAuthAction, parseAccountAction } from '#protocol/post-auth-action.ts';

/** A page of the account area that somebody asked for. */
export interface WantedPage {
  /** Below `/account/`, percent-decoded once. */
  readonly path: string;
  readonly query: FormParameters;
  readonly protocolName: string;
}

/** Longer ones are as good as absent: the sign-in page reads no more. */
const MAX_HINT_CHARACTERS = 256;

/**
 * What the sign-in page goes on with, for somebody who is not signed in (account-graphql 8.2). It is read from the
 * request and written anew, so that nothing but known actions gets through.
 */
export function signInAction({ path, query, protocolName }: WantedPage): PostAuthAction {
  const [page, ...rest] = path.split('/');
  switch (page) {
    case '':
      // The first of repeated values counts here, as it does in the page itself.
      return manage(query.get('action'), query.get('device_id'), protocolName);
    case 'password':
      return rest[0] === 'change' ? { kind: 'change_password' } : { kind: 'manage_account' };
    case 'sessions':
      return manage('sessions_list', undefined, protocolName);
    case 'devices':
      return manage('session_view', rest.join('/'), protocolName);
    case 'reset-cross-signing':
      return manage(crossSigningAction(protocolName), undefined, protocolName);
    default:
      return { kind: 'manage_account' };
  }
}

/** The name that a client wants the person to sign in with. */
export function loginHint({ query, protocolName }: WantedPage): string | undefined {
  const hint = query.get(`${chatNames(protocolName).actionPrefix}msc4198.login_hint`);
  return hint === undefined || hint.length > MAX_HINT_CHARACTERS ? undefined : hint;
}

/** Whether the page tells the window that opened it when the reset is done, and so must not lose it. */
export function isCrossSigningReset({ path, query, protocolName }: WantedPage): boolean {
  if (path === '') return query.get('action') === crossSigningAction(protocolName);
  return path.split('/')[0] === 'reset-cross-signing';
}

function crossSigningAction(protocolName: string): string {
  return `${chatNames(protocolName).actionPrefix}cross_signing_reset`;
}

function manage(action: string | undefined, deviceId: string | undefined, protocolName: string): PostAuthAction {
  const values = new Map([
    ['action', action],
    ['device_id', deviceId],
  ]);
  const fields = { get: (name: string) => values.get(name), isRepeated: () => false };
  const account = parseAccountAction(fields, protocolName);
  return account === undefined ? { kind: 'manage_account' } : { kind: 'manage_account', account };
}
