import type { FormParameters } from '#platform/http/form-parameters.ts';
import { chatNames } from '#protocol/chat/names.ts';
import { type PostAuthAction, parseAccountAction } from '#protocol/post-auth-action.ts';

/** A requested page of the account area. */
export interface WantedPage {
  /** Path below `/account/`, percent-decoded once. */
  readonly path: string;
  readonly query: FormParameters;
  readonly protocolName: string;
}

/** The sign-in page ignores longer hints, so they count as absent. */
const MAX_HINT_CHARACTERS = 256;

/**
 * Returns where the sign-in page continues for a user who is not signed in (account-graphql 8.2). The action is rebuilt
 * from the request, so that only known actions get through.
 */
export function signInAction({ path, query, protocolName }: WantedPage): PostAuthAction {
  const [page, ...rest] = path.split('/');
  switch (page) {
    case '':
      // The first of repeated values counts, as in the page's script.
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

/** The username that the client suggests for sign-in. */
export function loginHint({ query, protocolName }: WantedPage): string | undefined {
  const hint = query.get(`${chatNames(protocolName).actionPrefix}msc4198.login_hint`);
  return hint === undefined || hint.length > MAX_HINT_CHARACTERS ? undefined : hint;
}

/** Tests whether the page reports the completed reset to its opener, and must therefore keep it. */
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
