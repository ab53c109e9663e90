import { accountArea } from './account-area.ts';
import { accounts } from './accounts.ts';
import { browserOrigin } from './browser-origin.ts';
import { oauthLogin } from './oauth-login.ts';
import { passwordLogin } from './password-login.ts';
import type { Sequence } from './sequence.ts';
import { sessionEnds } from './session-ends.ts';
import { ssoLogin } from './sso-login.ts';
import { tokens } from './tokens.ts';

/** Sequences for every chat client, whatever the protocol name. */
export const ANY_PROTOCOL: readonly Sequence[] = [
  ...passwordLogin,
  ...tokens,
  ...sessionEnds,
  ...accounts,
  ...accountArea,
  ...ssoLogin,
  ...browserOrigin,
];

/** All sequences, in the order in which they run. */
export const SEQUENCES: readonly Sequence[] = [...ANY_PROTOCOL, ...oauthLogin];
