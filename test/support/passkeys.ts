import type { Core } from '#domain/core.ts';
import { newId, parseId, toUuid } from '#platform/base/ids.ts';
import { parseAttestation } from '#protocol/webauthn/ceremony.ts';
import { exportCredentialKey } from '#protocol/webauthn/credential-key.ts';
import type { AdminClient } from './admin-client.ts';
import type { Browser } from './browser.ts';
import { sql } from './fixtures.ts';
import { type KeyKind, type Options, PasskeyAuthenticator } from './passkey-authenticator.ts';

/** Adds a passkey to an account directly, without the account pages. */
export async function givePasskey(
  { clock, config, database }: Pick<Core, 'clock' | 'config' | 'database'>,
  owner: string,
  kind: KeyKind = 'P-256',
  signCount = 0,
): Promise<PasskeyAuthenticator> {
  const user = parseId<'user'>(owner);
  if (user === undefined) throw new Error(`${owner} is not an account`);
  const made = new PasskeyAuthenticator(config.http.publicBase, kind);
  made.signCount = signCount;
  const handle = Buffer.from(toUuid(user).replaceAll('-', ''), 'hex').toString('base64url');
  const attestation = parseAttestation(made.create({ challenge: 'AAAA', user: { id: handle } }));
  if (attestation === undefined) throw new Error('the authenticator made no passkey');
  const now = clock.now();
  await sql(
    database,
    `insert into user_passkeys (id, user_id, credential_id, public_key, sign_count, transports, backed_up, backup_eligible, name, created_at)
     values ($1::uuid, $2::uuid, $3::bytea, $4::bytea, $5::bigint, '{internal}', false, true, 'Phone', $6::timestamptz)`,
    [
      toUuid(newId(now)),
      toUuid(user),
      made.credentialId,
      exportCredentialKey(attestation.key),
      signCount,
      new Date(now),
    ],
  );
  return made;
}

/** Returns the IDs of an account's passkeys, from the admin API. */
export async function passkeyIds(admin: AdminClient, user: string): Promise<readonly string[]> {
  const passkeys = (await admin.get(`users/${user}/details`)).body.data?.attributes['passkeys'];
  return (Array.isArray(passkeys) ? passkeys : []).map(({ id }) => String(id));
}

export interface PasskeyRequest extends Options {
  readonly allowCredentials: readonly unknown[];
}

/** Returns the request options that the current page's script receives, and the CSRF token that it sends. */
export async function passkeyOptions(browser: Browser): Promise<{ csrf: string; asked: PasskeyRequest }> {
  const { body } = browser.page;
  const [, path = ''] = /data-passkey-options="([^"]*)"/.exec(body) ?? [];
  const [, csrf = ''] = /name="csrf" value="([^"]*)"/.exec(body) ?? [];
  const headers = { 'content-type': undefined, 'x-csrf-token': csrf, accept: 'application/json' };
  const response = await browser.postRaw(path.replaceAll('&amp;', '&'), '', headers);
  if (response.status !== 200) throw new Error(`no options: ${response.status} ${response.body}`);
  return { csrf, asked: JSON.parse(response.body).publicKey };
}
