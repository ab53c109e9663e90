/**
 * The service, a homeserver, and one origin in front of both, as chat clients see them (chat-compat 18.1). The
 * homeserver is the stand-in or a real Synapse. The same sequences run with either.
 */
import { z } from 'zod';
import { lockUserCommand, unlockUserCommand } from '#cli/lock-user.ts';
import { manageDeps } from '#cli/manage-deps.test-support.ts';
import { Browser } from '#test/support/browser.ts';
import type { ChatApp, ChatAppMake } from '#test/support/chat-apps/chat-app.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { sql } from '#test/support/fixtures.ts';
import { freePort } from '#test/support/free-port.js';
import { startFrontOrigin } from '#test/support/front-origin.ts';
import type { RealSynapse } from '#test/support/real-synapse.ts';
import { startService } from '#test/support/service.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import { startStandInHomeserver } from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import { bundleWorker } from '#test/support/worker-entry.ts';

export const PASSWORD = 'correct horse battery staple';
export const PROVIDER = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
const STRENGTH_WORKER = new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url);
/** Lifetime of access tokens that can be refreshed. */
export const TOKEN_SECONDS = 60;
/** Longer than a job waits for another one. */
const BUSY_SECONDS = 3;
const HIGH_LIMIT = { burst: 100_000, per_second: 1000 };
const SERVER_NAME = 'localhost:8448';

export interface HomeserverSetupOptions {
  readonly protocolName: string;
  readonly make: ChatAppMake;
  readonly secret: string;
  /** Fixed ports of the service and the front origin, free ports by default. */
  readonly ports?: { readonly service: number; readonly front: number };
  /** Replaces the stand-in. */
  readonly synapse?: RealSynapse;
}

/** State of a user at the homeserver. */
export interface Standing {
  readonly isLocked: boolean;
  readonly isDeactivated: boolean;
  readonly isErased: boolean;
}

export type HomeserverSetup = Awaited<ReturnType<typeof startHomeserverSetup>>;

export async function startHomeserverSetup({
  protocolName,
  make,
  secret,
  synapse,
  ...options
}: HomeserverSetupOptions) {
  const ports = options.ports ?? { service: await freePort(), front: await freePort() };
  const standIn = synapse === undefined ? await startStandInHomeserver(secret, SERVER_NAME) : undefined;
  const { serverName, endpoint } = standIn ?? synapse ?? { serverName: '', endpoint: '' };
  // Libraries compare times with the real clock.
  const clock = new FakeClock(Date.now());
  const settings = {
    protocol_name: protocolName,
    homeserver: { kind: 'synapse', homeserver: serverName, endpoint, secret },
    account: {
      login_with_email_allowed: true,
      password_registration_enabled: true,
      password_registration_email_required: false,
    },
    upstream_oauth2: {
      providers: [
        { id: PROVIDER, issuer: 'https://idp.example/', client_id: 'chat', token_endpoint_auth_method: 'none' },
      ],
    },
    experimental: { compat_token_ttl: TOKEN_SECONDS },
    rate_limiting: { login: { per_ip: HIGH_LIMIT, per_account: HIGH_LIMIT, per_known_browser: HIGH_LIMIT } },
  };
  const service = await startService(
    { ...settings, http: listeningAt(ports.service) },
    {
      clock,
      strengthWorker: await bundleWorker(STRENGTH_WORKER),
      // Logged while the homeserver is unavailable.
      expectedErrors: [' 503 Service Unavailable '],
    },
  );
  if (standIn !== undefined) {
    Object.assign(standIn.state, { protocolName, service: service.publicBase, clock });
  }
  const front = await startFrontOrigin({
    port: ports.front,
    protocolName,
    service: service.address,
    homeserver: endpoint,
  });
  const { core } = service;
  const manage = manageDeps(service, { out: '', err: '' });
  const plain = new ChatClient(front, `/_${protocolName}/client/v3`);
  let administrator: string | undefined;

  /** Runs the due jobs, including those that wait for another job for the same user. */
  const settle = async () => {
    for (let count = 0; count < 3; count += 1) {
      await notifyHomeserver(core);
      clock.advanceSeconds(BUSY_SECONDS);
    }
  };

  const register = async (username: string) => await service.registerUser(username, PASSWORD);

  return {
    protocolName,
    serverName,
    service,
    clock,
    front,
    /** Undefined with a real Synapse. */
    standIn,
    synapse,
    plain,
    app: (): ChatApp => make(front.address, protocolName),
    settle,
    /** Creates an account that the homeserver does not know. @returns its ID */
    register,
    /** Creates an account that the homeserver knows. */
    person: async (username: string): Promise<string> => {
      const id = await register(username);
      await settle();
      return id;
    },
    userId: (username: string) => `@${username}:${serverName}`,
    addEmail: async (username: string, address: string): Promise<void> => {
      await sql(
        service.database,
        `insert into user_emails (id, user_id, email, email_key, created_at)
         select gen_random_uuid(), id, $2::text, $2::text, created_at from users where username = $1::text`,
        [username, address],
      );
    },
    /** Returns the device IDs of the active sessions. */
    sessions: async (username: string): Promise<string[]> => {
      const rows = await sql<{ device_id: string }>(
        service.database,
        `select s.device_id from compat_sessions s join users u on u.id = s.user_id
          where u.username = $1::text and s.finished_at is null order by s.device_id`,
        [username],
      );
      return rows.map((row) => row.device_id);
    },
    /** Returns the device IDs at the homeserver, in order. */
    devices: async (username: string): Promise<string[]> => {
      if (standIn !== undefined) return [...(standIn.user(username)?.devices.keys() ?? [])].sort();
      const { devices }: { devices: readonly { readonly device_id: string }[] } = await administer(
        username,
        '/devices',
      );
      return devices.map((device) => device.device_id).sort();
    },
    /** Returns the display name as other users' clients see it. */
    displayName: async (username: string): Promise<string | undefined> => {
      const of = encodeURIComponent(`@${username}:${serverName}`);
      const response = await fetch(`${front.address}/_${protocolName}/client/v3/profile/${of}/displayname`);
      if (response.status !== 200) throw new Error(`${username}: ${response.status} ${await response.text()}`);
      return z.object({ displayname: z.string().optional() }).parse(await response.json()).displayname;
    },
    /** Returns the state of a user at the homeserver. */
    standing: async (username: string): Promise<Standing> => {
      if (standIn === undefined) {
        const { locked, deactivated, erased } = await administer(username);
        return { isLocked: locked, isDeactivated: deactivated, isErased: erased };
      }
      const user = standIn.user(username);
      if (user === undefined) throw new Error(`${username} is unknown there`);
      return { isLocked: user.isLocked, isDeactivated: user.isDeactivated, isErased: user.isErased };
    },
    /** Returns a token that administers a homeserver. */
    administratorToken,
    /** Introspects a token like the homeserver. */
    introspect: async (token: string): Promise<Readonly<Record<string, unknown>>> => {
      const response = await fetch(`${service.address}/oauth2/introspect`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}` },
        body: new URLSearchParams({ token, token_type_hint: 'access_token' }),
      });
      return await response.json();
    },
    browser: () => new Browser({ listener: service.address, publicBase: service.publicBase }),
    /** Signs a user in with their password. @returns the browser */
    signInBrowser: async (username: string): Promise<Browser> => {
      const browser = new Browser({ listener: service.address, publicBase: service.publicBase });
      await browser.open('login');
      const { status } = await browser.submit({ username, password: PASSWORD });
      if (status !== 303) throw new Error(`${username} was not signed in: ${status}`);
      return browser;
    },
    lock: async (username: string, { deactivate = false, erase = false } = {}): Promise<void> =>
      await lockUserCommand(manage, { user: username, deactivate, erase, json: false }),
    unlock: async (username: string, { reactivate = false } = {}): Promise<void> =>
      await unlockUserCommand(manage, { user: username, reactivate, json: false }),
    /** Starts another instance on the same database, with a separate front origin. */
    alsoWith: async (more: Readonly<Record<string, unknown>>) => {
      const other = await startService({ ...settings, ...more }, { clock, like: service });
      const before = await startFrontOrigin({
        port: await freePort(),
        protocolName,
        service: other.address,
        homeserver: endpoint,
      });
      return {
        address: before.address,
        app: (): ChatApp => make(before.address, protocolName),
        stop: async () => {
          await before.stop();
          await other.stop();
        },
      };
    },
    /** Stops the homeserver while `work` runs. Failed calls are retried immediately afterwards. */
    outage: async (work: () => Promise<void>): Promise<void> => {
      await (standIn === undefined ? synapse?.stop() : standIn.setFault({ kind: 'refuse' }));
      try {
        await work();
      } finally {
        await (standIn === undefined ? synapse?.start() : standIn.setFault(undefined));
        // Resets the circuit breaker and makes job retries due.
        clock.advanceSeconds(3600);
      }
    },
    stop: async (): Promise<void> => {
      await front.stop();
      await service.stop();
      await standIn?.stop();
    },
  };

  /** Queries a real Synapse with an administrator token. */
  async function administer(username: string, below = '') {
    const path = `_synapse/admin/v2/users/${encodeURIComponent(`@${username}:${serverName}`)}${below}`;
    const headers = { authorization: `Bearer ${await administratorToken()}` };
    const response = await fetch(new URL(path, endpoint), { headers });
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return await response.json();
  }

  async function administratorToken(): Promise<string> {
    administrator ??= await signInAdministrator();
    return administrator;
  }

  async function signInAdministrator(): Promise<string> {
    await register('operator');
    await settle();
    const { accessToken } = await plain.login('operator', PASSWORD, { device_id: 'CONSOLE' });
    await sql(service.database, `update compat_sessions set is_homeserver_admin = true where device_id = 'CONSOLE'`);
    return accessToken;
  }
}

function listeningAt(port: number) {
  return {
    public_base: `http://127.0.0.1:${port}`,
    listeners: [
      {
        name: 'web',
        resources: ['discovery', 'human', 'oauth', 'compat', 'graphql', 'assets', 'health'],
        binds: [{ address: `127.0.0.1:${port}` }],
      },
    ],
  };
}
