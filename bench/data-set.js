/**
 * The initial rows of every run: users with a password and a browser session, and client and chat sessions with a live
 * token pair each.
 */
import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { hash as argon2 } from '@node-rs/argon2';

export const PASSWORD = 'bench: correct horse battery staple';
const BATCH = 5_000;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** With `openid`, each refresh signs an ID token. */
const OPENID = ['openid'];
const WITHOUT_OPENID = ['profile'];
const DAY_MS = 86_400_000;

/**
 * Fills a migrated database.
 * @param size `{ users, sessions, chatSessions }`; sessions are spread evenly over the users, and every second client
 * session is without `openid`
 * @param clientUuid client of the sessions
 * @returns what a load driver needs to know of each user and session
 */
export async function fillDatabase(client, size, clientUuid) {
  const now = Date.now();
  const passwordHash = await argon2(PASSWORD, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  const users = Array.from({ length: size.users }, (_, index) => ({
    uuid: newUuid(now),
    name: `bench-${index}`,
    browserSessionUuid: newUuid(now),
  }));
  for (const batch of batches(users)) await insertUsers(client, batch, passwordHash, now);
  const half = Math.ceil(size.sessions / 2);
  const withOpenid = await addSessions(client, { users, count: half, scope: OPENID, clientUuid, now });
  const others = { users, count: size.sessions - half, scope: WITHOUT_OPENID, clientUuid, now };
  const withoutOpenid = await addSessions(client, others);
  const chatSessions = Array.from({ length: size.chatSessions }, (_, index) => {
    const refreshRandom = randomText(30);
    return {
      user: users[index % users.length],
      uuid: newUuid(now),
      deviceId: randomText(10),
      accessTokenUuid: newUuid(now),
      refreshTokenUuid: newUuid(now),
      accessToken: tokenText('mct', randomText(30)),
      refreshToken: tokenText('mcr', refreshRandom),
      family: refreshRandom.slice(0, 12),
    };
  });
  for (const batch of batches(chatSessions)) await insertChatSessions(client, batch, now);
  await client.query('vacuum analyze');
  await client.query('checkpoint');
  return {
    users: users.map(({ name }) => name),
    browserSessions: users.map(({ uuid, browserSessionUuid }) => ({ uuid: browserSessionUuid, sub: ulidOf(uuid) })),
    sessions: withOpenid,
    sessionsWithoutOpenid: withoutOpenid,
    chatSessions: chatSessions.map(asInput),
  };
}

/**
 * Adds client sessions with a live token pair each.
 * @param task `users` with `uuid`, over which the sessions are spread evenly, `count`, `scope`, `clientUuid` and `now`
 * @returns what a load driver needs to know of each session
 */
export async function addSessions(client, { users, count, scope, clientUuid, now }) {
  const sessions = Array.from({ length: count }, (_, index) => {
    const refreshRandom = randomText(30);
    return {
      user: users[index % users.length],
      scope,
      uuid: newUuid(now),
      accessTokenUuid: newUuid(now),
      refreshTokenUuid: newUuid(now),
      accessToken: tokenText('mat', randomText(30)),
      refreshToken: tokenText('mar', refreshRandom),
      family: refreshRandom.slice(0, 12),
    };
  });
  for (const batch of batches(sessions)) await insertSessions(client, batch, clientUuid, now);
  return sessions.map(asInput);
}

function asInput({ user, accessToken, refreshToken, accessTokenUuid }) {
  return { sub: ulidOf(user.uuid), accessToken, refreshToken, accessTokenUuid };
}

async function insertUsers(client, users, passwordHash, now) {
  await client.query(
    `with made as (
       insert into users (id, username, username_key, display_name, created_at)
       select id, name, name, 'Person ' || name, $3 from unnest($1::uuid[], $2::text[]) as u (id, name)
       returning id
     )
     insert into user_passwords (user_id, id, hash, scheme_version, created_at)
     select id, gen_random_uuid(), $4, 1, $3 from made`,
    [users.map((user) => user.uuid), users.map((user) => user.name), new Date(now), passwordHash],
  );
  await client.query(
    `insert into user_sessions (id, user_id, key_hash, authenticated_at, acr, created_at)
     select id, user_id, key_hash, $4, 'urn:latchkey:acr:1', $4
       from unnest($1::uuid[], $2::uuid[], $3::bytea[]) as s (id, user_id, key_hash)`,
    [
      users.map((user) => user.browserSessionUuid),
      users.map((user) => user.uuid),
      users.map(() => randomBytes(32)),
      new Date(now),
    ],
  );
}

/** Inserts sessions of one scope. The tokens are marked as used, because the first use costs one extra statement. */
async function insertSessions(client, sessions, clientUuid, now) {
  const [{ scope }] = sessions;
  const column = (read) => sessions.map(read);
  await client.query('begin');
  await client.query(
    `insert into oauth2_sessions (id, user_id, client_id, scope, refresh_family, auth_time, acr, created_at)
     select id, user_id, $4, $5, family, $6, 'urn:latchkey:acr:1', $6
       from unnest($1::uuid[], $2::uuid[], $3::bytea[]) as s (id, user_id, family)`,
    [
      column((session) => session.uuid),
      column((session) => session.user.uuid),
      column((session) => sha256(session.family)),
      clientUuid,
      scope,
      new Date(now),
    ],
  );
  await client.query(
    `insert into oauth2_access_tokens (id, session_id, token_hash, scope, created_at, expires_at, first_used_at)
     select id, session_id, hash, $4, $5, $6, $5
       from unnest($1::uuid[], $2::uuid[], $3::bytea[]) as t (id, session_id, hash)`,
    [
      column((session) => session.accessTokenUuid),
      column((session) => session.uuid),
      column((session) => sha256(session.accessToken)),
      scope,
      new Date(now),
      new Date(now + DAY_MS),
    ],
  );
  await client.query(
    `insert into oauth2_refresh_tokens (id, session_id, token_hash, access_token_id, created_at)
     select id, session_id, hash, access_token_id, $5
       from unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::uuid[]) as t (id, session_id, hash, access_token_id)`,
    [
      column((session) => session.refreshTokenUuid),
      column((session) => session.uuid),
      column((session) => sha256(session.refreshToken)),
      column((session) => session.accessTokenUuid),
      new Date(now),
    ],
  );
  await client.query('commit');
}

/** Inserts sessions of clients that support refresh, have signed in with a password, and have used their token. */
async function insertChatSessions(client, sessions, now) {
  const column = (read) => sessions.map(read);
  await client.query('begin');
  await client.query(
    `insert into compat_sessions (id, user_id, device_id, refresh_family, created_at, last_active_at)
     select id, user_id, device_id, family, $5, $5
       from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[]) as s (id, user_id, device_id, family)`,
    [
      column((session) => session.uuid),
      column((session) => session.user.uuid),
      column((session) => session.deviceId),
      column((session) => sha256(session.family)),
      new Date(now),
    ],
  );
  await client.query(
    `insert into compat_access_tokens (id, session_id, token_hash, created_at, expires_at, first_used_at)
     select id, session_id, hash, $4, $5, $4
       from unnest($1::uuid[], $2::uuid[], $3::bytea[]) as t (id, session_id, hash)`,
    [
      column((session) => session.accessTokenUuid),
      column((session) => session.uuid),
      column((session) => sha256(session.accessToken)),
      new Date(now),
      new Date(now + DAY_MS),
    ],
  );
  await client.query(
    `insert into compat_refresh_tokens (id, session_id, token_hash, access_token_id, created_at)
     select id, session_id, hash, access_token_id, $5
       from unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::uuid[]) as t (id, session_id, hash, access_token_id)`,
    [
      column((session) => session.refreshTokenUuid),
      column((session) => session.uuid),
      column((session) => sha256(session.refreshToken)),
      column((session) => session.accessTokenUuid),
      new Date(now),
    ],
  );
  await client.query('commit');
}

/** Formats a token: prefix, 30 characters, and a checksum in base 62. */
function tokenText(prefix, random) {
  let rest = crc32(`${prefix}_${random}`);
  let checksum = '';
  for (; rest > 0; rest = Math.floor(rest / 62)) checksum += DIGITS.charAt(rest % 62);
  return `${prefix}_${random}_${checksum.padStart(6, '0')}`;
}

function randomText(length) {
  return [...randomBytes(length)].map((byte) => DIGITS.charAt(byte % 62)).join('');
}

/** IDs sort by time, like those of the service. */
function newUuid(now) {
  const hex = now.toString(16).padStart(12, '0') + randomBytes(10).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Returns the external form of a `uuid` column (ULID). */
function ulidOf(uuid) {
  let rest = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let text = '';
  for (let digit = 0; digit < 26; digit += 1) {
    text = CROCKFORD.charAt(Number(rest % 32n)) + text;
    rest /= 32n;
  }
  return text;
}

/** Returns the `uuid` of a ULID. */
export function uuidOf(ulid) {
  let value = 0n;
  for (const digit of ulid) value = value * 32n + BigInt(CROCKFORD.indexOf(digit));
  const hex = value.toString(16).padStart(32, '0');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

export function sha256(text) {
  return createHash('sha256').update(text).digest();
}

function* batches(rows) {
  for (let start = 0; start < rows.length; start += BATCH) yield rows.slice(start, start + BATCH);
}
