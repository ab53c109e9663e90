/** Creates inputs that work for one request each, before each measurement. */
import { createHash, randomBytes, randomUUID, sign } from 'node:crypto';
import { sha256, uuidOf } from './data-set.js';
import { ASSERTION_CLIENT_ID, ASSERTION_KEYS, AUTHORIZATION, CLIENT_ID, REDIRECT_URI } from './latchkey.js';

const CODE_VERIFIER = 'the-verifier-of-all-codes-of-the-benchmark-1';
const CODE_CHALLENGE = createHash('sha256').update(CODE_VERIFIER).digest('base64url');
const HOUR_MS = 3_600_000;
const ASSERTION_SECONDS = 300;

/** By workload: `make({ client, data, port }, count)`. */
export const SINGLE_USE = {
  'code-exchange': makeCodes,
  'device-poll': makeDeviceCodes,
  'client-assertion': makeAssertions,
};

/** Creates authorization codes as the consent page does, with PKCE. */
async function makeCodes({ client, data }, count) {
  const codes = Array.from({ length: count }, (_, index) => ({
    code: randomCode(),
    user: data.browserSessions[index % data.browserSessions.length],
  }));
  const now = new Date();
  await client.query(
    `insert into oauth2_authorization_grants (
       id, client_id, redirect_uri, redirect_uri_sent, scope, response_mode, code_challenge, created_at, expires_at,
       user_session_id, auth_time, acr, code_hash, fulfilled_at
     )
     select gen_random_uuid(), $3, $4, true, '{openid}', 'query', $5, $6, $7, user_session_id, $6, 'urn:latchkey:acr:1',
            code_hash, $6
       from unnest($1::bytea[], $2::uuid[]) as c (code_hash, user_session_id)`,
    [
      codes.map(({ code }) => sha256(code)),
      codes.map(({ user }) => user.uuid),
      uuidOf(CLIENT_ID),
      REDIRECT_URI,
      CODE_CHALLENGE,
      now,
      new Date(now.getTime() + HOUR_MS),
    ],
  );
  return codes.map(({ code, user }) => ({
    code,
    sub: user.sub,
    redirectUri: encodeURIComponent(REDIRECT_URI),
    codeVerifier: CODE_VERIFIER,
    authorization: AUTHORIZATION,
  }));
}

/** Creates device codes that no user has confirmed. A second poll within the interval would return `slow_down`. */
async function makeDeviceCodes({ client }, count) {
  const codes = Array.from({ length: count }, randomCode);
  const now = new Date();
  await client.query(
    `insert into oauth2_device_code_grants (
       id, client_id, scope, device_code_hash, user_code_hmac, user_code_sealed, requester_ip, interval_seconds,
       created_at, expires_at
     )
     select gen_random_uuid(), $3, '{openid}', device_code_hash, user_code_hmac, user_code_hmac, '127.0.0.1', 5, $4, $5
       from unnest($1::bytea[], $2::bytea[]) as c (device_code_hash, user_code_hmac)`,
    [codes.map(sha256), codes.map(() => randomBytes(32)), uuidOf(CLIENT_ID), now, new Date(now.getTime() + HOUR_MS)],
  );
  return codes.map((deviceCode) => ({ deviceCode, authorization: AUTHORIZATION }));
}

/** RFC 7523, signed with ES256. */
function makeAssertions({ port }, count) {
  const now = Math.floor(Date.now() / 1000);
  const header = base64UrlJson({ alg: 'ES256', typ: 'JWT' });
  const common = {
    iss: ASSERTION_CLIENT_ID,
    sub: ASSERTION_CLIENT_ID,
    aud: `http://127.0.0.1:${port}/oauth2/token`,
    iat: now,
    exp: now + ASSERTION_SECONDS,
  };
  const key = { key: ASSERTION_KEYS.privateKey, dsaEncoding: 'ieee-p1363' };
  return Array.from({ length: count }, () => {
    const signed = `${header}.${base64UrlJson({ ...common, jti: randomUUID() })}`;
    return { assertion: `${signed}.${sign('sha256', signed, key).toString('base64url')}` };
  });
}

function base64UrlJson(value) {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function randomCode() {
  return randomBytes(32).toString('base64url');
}
