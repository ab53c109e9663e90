/**
 * An installation of Matrix Authentication Service (MAS) as a homeserver and an import see it: its database, its
 * introspection endpoint, and the users and devices that it has provisioned.
 */
import { randomUUID } from 'node:crypto';
import { crossSigningKey } from '#test/support/chat-apps/chat-app.ts';
import type { RealSynapse } from '#test/support/real-synapse.ts';
import type { ScriptedIntrospection } from '#test/support/scripted-introspection.ts';
import type { MasDatabase } from '../mas-import/mas-database.test-support.ts';
import { API, ahead, C1, device, newUuid, ulid } from '../mas-import/vectors.test-support.ts';
import { takeStep } from './conformance.ts';

const MINUTE_MS = 60_000;
/** MAS answers with the stable names as well. */
const STABLE = 'urn:matrix:client:';

/** A chat client with a token. */
export interface MasDevice {
  readonly user: string;
  readonly id: string;
  readonly name: string;
  readonly kind: 'oauth' | 'compat' | 'personal';
  readonly token: string;
  readonly refreshToken?: string;
}

export interface MasInstallation {
  readonly mas: MasDatabase;
  readonly introspection: ScriptedIntrospection;
  readonly synapse: RealSynapse;
  /** Shared with the homeserver. */
  readonly secret: string;
}

/** Stores an account, and provisions its user. */
export async function addMasUser(
  { mas, synapse, secret }: MasInstallation,
  { id, name, hash }: { readonly id: string; readonly name: string; readonly hash: string },
): Promise<void> {
  await mas.add('users', { user_id: id, username: name });
  await mas.add('user_passwords', {
    ...{ user_password_id: newUuid(), user_id: id, hashed_password: hash, version: 1 },
  });
  await provision(synapse, secret, 'provision_user', { localpart: name });
}

/** Stores the session of a chat client with its tokens, creates its device, and accepts its token. */
export async function addMasDevice(
  { mas, introspection, synapse, secret }: MasInstallation,
  userId: string,
  { user, id, name, kind, token, refreshToken }: MasDevice,
): Promise<void> {
  const scope = [API, device(id)];
  const [session, access] = [newUuid(), newUuid()];
  if (kind === 'oauth') {
    const of = { oauth2_session_id: session };
    await mas.add('oauth2_sessions', {
      ...{ ...of, oauth2_client_id: C1, user_id: userId, scope_list: ['openid', ...scope], human_name: name },
    });
    await mas.add('oauth2_access_tokens', {
      ...{ oauth2_access_token_id: access, ...of, access_token: token, expires_at: ahead(5 * MINUTE_MS) },
    });
    const refresh = { oauth2_refresh_token_id: newUuid(), ...of, oauth2_access_token_id: access };
    if (refreshToken !== undefined) await mas.add('oauth2_refresh_tokens', { ...refresh, refresh_token: refreshToken });
  } else if (kind === 'compat') {
    const of = { compat_session_id: session };
    await mas.add('compat_sessions', { ...of, user_id: userId, device_id: id, human_name: name });
    const expiresAt = refreshToken === undefined ? null : ahead(5 * MINUTE_MS);
    await mas.add('compat_access_tokens', {
      ...{ compat_access_token_id: access, ...of, access_token: token, expires_at: expiresAt },
    });
    const refresh = { compat_refresh_token_id: newUuid(), ...of, compat_access_token_id: access };
    if (refreshToken !== undefined) await mas.add('compat_refresh_tokens', { ...refresh, refresh_token: refreshToken });
  } else {
    const of = { personal_session_id: session };
    const owner = { owner_user_id: userId, actor_user_id: userId };
    await mas.add('personal_sessions', { ...of, ...owner, human_name: name, scope_list: scope });
    await mas.query(
      `insert into personal_access_tokens (personal_access_token_id, personal_session_id, access_token_sha256, created_at)
       values ($1, $2, sha256(convert_to($3, 'UTF8')), now())`,
      [access, session, token],
    );
  }
  await provision(synapse, secret, 'upsert_device', { localpart: user, device_id: id, display_name: name });
  const of = kind === 'compat' ? { device_id: id, scope: `${API} ${STABLE}api:*` } : { scope: bothSpellings(id) };
  introspection.answers.set(token, {
    body: { active: true, username: user, sub: ulid(userId), client_id: 'legacy', token_type: 'access_token', ...of },
  });
}

function bothSpellings(deviceId: string): string {
  return [API, device(deviceId), `${STABLE}api:*`, `${STABLE}device:${deviceId}`].join(' ');
}

async function provision(synapse: RealSynapse, secret: string, path: string, body: object): Promise<void> {
  const { status } = await takeStep(synapse.endpoint, secret, { name: path, method: 'POST', path, body, status: 201 });
  if (status !== 201) throw new Error(`${path}: ${status}`);
}

type Members = Readonly<Record<string, unknown>>;

/** Requests of a chat client to the homeserver. */
export class MasChatClient {
  readonly #endpoint: string;
  readonly #token: string;

  constructor(endpoint: string, token: string) {
    this.#endpoint = endpoint;
    this.#token = token;
  }

  async ask(path: string, body?: object, method = body === undefined ? 'GET' : 'POST') {
    const response = await fetch(new URL(`_matrix/client/v3/${path}`, this.#endpoint), {
      method,
      headers: { authorization: `Bearer ${this.#token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const members: Members = await response.json();
    return { status: response.status, body: members };
  }

  /** @throws unless the homeserver accepts the request */
  async get(path: string, body?: object, method?: string): Promise<Members> {
    const response = await this.ask(path, body, method);
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  }

  /** Uploads the keys of a device, and one key for others to start an encrypted session with it. */
  async uploadKeys(userId: string, deviceId: string): Promise<void> {
    await this.get('keys/upload', {
      device_keys: {
        ...{ user_id: userId, device_id: deviceId, algorithms: ['m.olm.v1.curve25519-aes-sha2'], signatures: {} },
        keys: { [`curve25519:${deviceId}`]: `identity of ${deviceId}`, [`ed25519:${deviceId}`]: `key of ${deviceId}` },
      },
      one_time_keys: { 'signed_curve25519:AAAAAA': { key: `one-time key of ${deviceId}`, signatures: {} } },
    });
  }

  /** Uploads the key that signs the user's devices, and starts a backup of the keys of rooms. */
  async uploadUserKeys(userId: string, key: string): Promise<void> {
    await this.get('keys/device_signing/upload', { master_key: crossSigningKey(userId, key) });
    await this.get('room_keys/version', {
      ...{ algorithm: 'm.megolm_backup.v1.curve25519-aes-sha2', auth_data: { public_key: key, signatures: {} } },
    });
  }

  /** @returns what has arrived since then */
  async sync(since?: string): Promise<Members> {
    return await this.get(`sync?timeout=0${since === undefined ? '' : `&since=${encodeURIComponent(since)}`}`);
  }

  /** Sends a message to one device. */
  async sendTo(userId: string, deviceId: string, content: object): Promise<void> {
    const messages = { [userId]: { [deviceId]: content } };
    await this.get(`sendToDevice/m.room_key_request/${randomUUID()}`, { messages }, 'PUT');
  }

  async send(room: string, text: string): Promise<void> {
    const place = `rooms/${encodeURIComponent(room)}/send/m.room.message/${randomUUID()}`;
    await this.get(place, { msgtype: 'm.text', body: text }, 'PUT');
  }
}
