import { accountArea } from './account-area.ts';
import { accounts } from './accounts.ts';
import { browserOrigin } from './browser-origin.ts';
import { oauthLogin } from './oauth-login.ts';
import { passwordLogin } from './password-login.ts';
import type { Sequence } from './sequence.ts';
import { sessionEnds } from './session-ends.ts';
import { ssoLogin } from './sso-login.ts';
import { tokens } from './tokens.ts';

/** Every chat client walks these, whatever the name of the protocol. */
export const ANY_PROTOCOL: readonly Sequence[] = [
  ...passwordLogin,
  ...tokens,
  ...sessionEnds,
  ...accounts,
  ...accountArea,
  ...ssoLogin,
  ...browserOrigin,
];

/** All of them, in the order in which they are walked. */
export const SEQUENCES: readonly Sequence[] = [...ANY_PROTOCOL, ...oauthLogin];
