/**
 * Each protection that prevents an attack, and the test that detects its removal. `mutations.js` removes each one from
 * a copy of the tree and expects the test to fail. `docs/assurance/mutation-tests.md` lists them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACCESS_BY_GROUP } from './access-by-group.ts';
import { ACCOUNT_ACTIONS } from './account-actions.ts';
import { ACCOUNT_ACTIVITY } from './account-activity.ts';
import { ACTIVITY_REPORT } from './activity-report.ts';
import { ADMIN_API } from './admin-api.ts';
import { ADMIN_AREA } from './admin-area.ts';
import { AUTHORIZATION_REQUESTS } from './authorization-requests.ts';
import { BROWSER } from './browser.ts';
import { CHAT_COMPAT } from './chat-compat.ts';
import { CHAT_DEVICES } from './chat-devices.ts';
import { CHAT_SSO } from './chat-sso.ts';
import { CLIENT_AUTHENTICATION } from './client-authentication.ts';
import { CLIENT_DOCUMENTS } from './client-documents.ts';
import { CLIENT_REGISTRATION } from './client-registration.ts';
import { CODES } from './codes.ts';
import { DATA_EXPORT } from './data-export.ts';
import { DATABASE } from './database.ts';
import { DEVICE_GRANT } from './device-grant.ts';
import { DEVICES } from './devices.ts';
import { DPOP } from './dpop.ts';
import { EXTRA_CLAIMS } from './extra-claims.ts';
import { FAPI2 } from './fapi2.ts';
import { GRAPHQL } from './graphql.ts';
import { GUESSING } from './guessing.ts';
import { HTTP2, OPENING } from './http2.ts';
import { IMPORTS } from './imports.ts';
import { KEYS } from './keys.ts';
import { LOCKS } from './locks.ts';
import { MAILS } from './mails.ts';
import { ONE_TIME_CODES } from './one-time-codes.ts';
import { OUTBOUND_HTTP } from './outbound-http.ts';
import { PASSKEYS } from './passkeys.ts';
import { PASSWORDS } from './passwords.ts';
import type { Protection } from './protection.ts';
import { QUEUE } from './queue.ts';
import { RECOVERY } from './recovery.ts';
import { REGISTRATION } from './registration.ts';
import { RELOAD } from './reload.ts';
import { REQUESTS } from './requests.ts';
import { SEALED } from './sealed-values.ts';
import { SECOND_FACTORS } from './second-factors.ts';
import { SENTRY } from './sentry.ts';
import { TOKEN_EXCHANGE } from './token-exchange.ts';
import { TOKENS } from './tokens.ts';
import { UPSTREAM } from './upstream.ts';

export const PROTECTIONS: readonly Protection[] = [
  ...ADMIN_API,
  ...ADMIN_AREA,
  ...AUTHORIZATION_REQUESTS,
  ...CODES,
  ...CLIENT_AUTHENTICATION,
  ...CLIENT_REGISTRATION,
  ...CLIENT_DOCUMENTS,
  ...TOKENS,
  ...CHAT_COMPAT,
  ...DPOP,
  ...DEVICE_GRANT,
  ...CHAT_SSO,
  ...DEVICES,
  ...CHAT_DEVICES,
  ...BROWSER,
  ...GUESSING,
  ...SECOND_FACTORS,
  ...REGISTRATION,
  ...PASSKEYS,
  ...PASSWORDS,
  ...RECOVERY,
  ...UPSTREAM,
  ...MAILS,
  ...SENTRY,
  ...QUEUE,
  ...RELOAD,
  ...DATABASE,
  ...IMPORTS,
  ...LOCKS,
  ...OUTBOUND_HTTP,
  ...REQUESTS,
  ...HTTP2,
  ...OPENING,
  ...FAPI2,
  ...GRAPHQL,
  ...ACCOUNT_ACTIVITY,
  ...ACCESS_BY_GROUP,
  ...ACCOUNT_ACTIONS,
  ...DATA_EXPORT,
  ...KEYS,
  ...ACTIVITY_REPORT,
  ...TOKEN_EXCHANGE,
  ...SEALED,
  ...ONE_TIME_CODES,
  ...EXTRA_CLAIMS,
];

/** Returns the label as the specification writes it. */
export function labelOf(attack: Protection['attack']): string {
  return typeof attack === 'number' ? `S-${String(attack).padStart(2, '0')}` : attack;
}

/** Returns the text of each source file below a root, by path. Excludes tests. */
export function readSource(root: string): ReadonlyMap<string, string> {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !/\.test(-support)?\.tsx?$/.test(name))
    .map((name) => join('src', name));
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}

/** Finds a text in the source. Returns its location, or the problem with it. */
export function placeOf(
  source: ReadonlyMap<string, string>,
  text: string,
): { readonly file: string; readonly problem?: string } {
  const places = [...source].flatMap(([file, content]) => new Array<string>(content.split(text).length - 1).fill(file));
  const [file = ''] = places;
  if (places.length === 1) return { file };
  const found = places.length === 0 ? 'nowhere' : `${places.length} times`;
  return { file, problem: `found ${found} in the source: ${JSON.stringify(text)}` };
}
