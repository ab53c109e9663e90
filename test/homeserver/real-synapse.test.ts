/**
 * A real Synapse on SQLite (chat-compat 18.4). `.ci/run` installs one. Elsewhere, `LATCHKEY_TEST_SYNAPSE` names a
 * Python with `matrix-synapse`. Without it, these tests are skipped and reported as such.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manageDeps } from '#cli/manage-deps.test-support.ts';
import { syncDevicesCommand } from '#cli/notify-homeserver.ts';
import { registerUserCommand } from '#cli/register-user.ts';
import type { Config } from '#config/config.ts';
import type { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import { askOverHttp } from '#domain/health/ask.ts';
import { checkHomeserver } from '#domain/health/homeserver-checks.ts';
import { Secret } from '#platform/base/secret.ts';
import { MatrixJsSdkApp } from '#test/support/chat-apps/matrix-js-sdk.ts';
import { ChatClient } from '#test/support/chat-client.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { freePort } from '#test/support/free-port.js';
import { type PageService, startPages } from '#test/support/page-service.ts';
import { type RealSynapse, startRealSynapse } from '#test/support/real-synapse.ts';
import { beginRegistration, openEstimator, registerCompletely } from '#test/support/registering.ts';
import { until } from '#test/support/route-server.ts';
import { type ScriptedIntrospection, startScriptedIntrospection } from '#test/support/scripted-introspection.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { notifyHomeserver } from '#test/support/stand-in-homeserver/run-jobs.ts';
import {
  CLIENT_CONFORMANCE,
  CLIENT_OF_CONFORMANCE,
  CROSS_SIGNING,
  replaceCrossSigningKey,
  takeClientStep,
} from './client-conformance.ts';
import { CONFORMANCE, EXCLUSIVE_NAMES, takeStep } from './conformance.ts';
import { type HomeserverSetup, PASSWORD, startHomeserverSetup } from './homeserver-setup.ts';
import { expectRefusal } from './sequences/sequence.ts';
import { SEQUENCES } from './sequences/sequences.ts';

const PYTHON = process.env['LATCHKEY_TEST_SYNAPSE'] ?? '';
const NIO = fileURLToPath(new URL('nio-client.py', import.meta.url));
const SECRET = 'shared-secret-of-the-test';

describe.skipIf(PYTHON === '')('a real Synapse', () => {
  let synapse: RealSynapse;

  let ports: { readonly service: number; readonly front: number };

  beforeAll(async () => {
    ports = { service: await freePort(), front: await freePort() };
    synapse = await startRealSynapse({
      python: PYTHON,
      secret: SECRET,
      service: `http://127.0.0.1:${ports.service}/`,
      publicBase: `http://127.0.0.1:${ports.front}/`,
      exclusiveNames: EXCLUSIVE_NAMES,
    });
  }, 120_000);

  afterAll(async () => await synapse?.remove());

  /** The stand-in homeserver must conform to the same steps: `stand-in.test.ts`. */
  describe('answers like the stand-in homeserver', () => {
    let tokens: ScriptedIntrospection;

    beforeAll(async () => {
      tokens = await startScriptedIntrospection(ports.service);
    });

    afterAll(async () => await tokens?.stop());

    test.each(CONFORMANCE.map((step) => [step.name, step] as const))('the service: %s', async (_, step) => {
      const response = await takeStep(synapse.endpoint, SECRET, step);
      expect(response.status).toBe(step.status);
      if (step.errcode !== undefined) expect(response.errcode).toBe(step.errcode);
      expect(response.members).toMatchObject(step.members ?? {});
    });

    test('the service: provisions the user of the steps below', async () => {
      const { localpart, device_id } = CLIENT_OF_CONFORMANCE;
      const provision = { name: '', method: 'POST', path: 'provision_user', body: { localpart }, status: 201 } as const;
      expect(await takeStep(synapse.endpoint, SECRET, provision)).toMatchObject({ status: 201 });
      const upsert = { ...provision, path: 'upsert_device', body: { localpart, device_id } };
      expect(await takeStep(synapse.endpoint, SECRET, upsert)).toMatchObject({ status: 201 });
    });

    test.each(CLIENT_CONFORMANCE.map((step) => [step.name, step] as const))('clients: %s', async (_, step) => {
      const response = await takeClientStep(synapse.endpoint, tokens, step);
      expect(response.status).toBe(step.status);
      if (step.errcode !== undefined) expect(response.errcode).toBe(step.errcode);
      expect(response.members).toMatchObject(step.members ?? {});
    });

    test('clients: a new cross-signing key must be allowed by the service', async () => {
      expect(await replaceCrossSigningKey(synapse, SECRET, tokens)).toEqual(CROSS_SIGNING);
    });
  });

  describe('with the service and a chat client', () => {
    let world: HomeserverSetup;

    beforeAll(async () => {
      const make = (address: string) => new MatrixJsSdkApp(address);
      world = await startHomeserverSetup({ protocolName: 'matrix', make, secret: SECRET, ports, synapse });
    });

    afterAll(async () => await world?.stop());

    /** The same sequences run against the stand-in homeserver: `matrix-js-sdk.test.ts`. */
    test.each(SEQUENCES.map((sequence) => [sequence.id, sequence.claim, sequence] as const))(
      '%s: %s',
      async (_id, _claim, sequence) => await sequence.run(world),
    );

    test('devices from before the account stay, until the operator allows their deletion', async () => {
      const localpart = 'before';
      const post = { name: '', method: 'POST', body: { localpart }, status: 201 } as const;
      await takeStep(synapse.endpoint, SECRET, { ...post, path: 'provision_user' });
      const device = { localpart, device_id: 'OLD' };
      expect(await takeStep(synapse.endpoint, SECRET, { ...post, path: 'upsert_device', body: device })).toMatchObject({
        status: 201,
      });
      const manage = manageDeps(world.service, { out: '', err: '' });
      const registering = {
        ...{ username: localpart, upstreamProviderMapping: [], emails: [], yes: true, json: false },
        ...{ ignorePasswordComplexity: true, password: PASSWORD },
      };
      await expect(registerUserCommand(manage, { ...registering, skipHomeserverCheck: false })).rejects.toThrow(
        'import first',
      );
      await registerUserCommand(manage, { ...registering, skipHomeserverCheck: true });
      await world.settle();
      const { accessToken } = await world.plain.login(localpart, PASSWORD, { device_id: 'NEW' });
      expect(await world.devices(localpart)).toEqual(['NEW', 'OLD']);
      await world.plain.post('/logout', undefined, { authorization: `Bearer ${accessToken}` });
      await world.settle();
      expect(await world.devices(localpart)).toEqual(['OLD']);
      await syncDevicesCommand(manage, { user: localpart, deletesUnknown: true, json: false });
      await world.settle();
      expect(await world.devices(localpart)).toEqual([]);
    });

    test('a matrix-nio client signs in, reads its identity, and signs out', async () => {
      await world.person('nio');
      const userId = world.userId('nio');
      const { stdout } = await promisify(execFile)(PYTHON, [NIO, world.front.address, userId, PASSWORD, 'Terminal']);
      const { flows, login, who, devices, token } = JSON.parse(stdout);
      const [, deviceId] = login;
      expect(flows).toContain('m.login.password');
      expect(who).toEqual(login);
      expect([login[0], devices]).toEqual([userId, [[deviceId, 'Terminal']]]);
      await world.settle();
      const app = world.app();
      app.use({ userId, deviceId, accessToken: token, refreshToken: undefined });
      await expectRefusal(app.whoAmI(), 401, 'M_UNKNOWN_TOKEN');
      expect(await world.devices('nio')).toEqual([]);
    });

    test('administrators are determined by the token alone', async () => {
      await world.person('plain-person');
      const app = world.app();
      await app.logIn({ identifier: { type: 'm.id.user', user: 'plain-person' }, password: PASSWORD });
      const tokens = [await world.administratorToken(), app.credentials.accessToken];
      const statuses = tokens.map(async (token) => {
        const headers = { authorization: `Bearer ${token}` };
        return (await fetch(new URL('_synapse/admin/v2/users?guests=false', synapse.endpoint), { headers })).status;
      });
      expect(await Promise.all(statuses)).toEqual([200, 403]);
    });

    test('latchkey doctor confirms that both work together, and reports what is wrong otherwise', async () => {
      const diagnose = async (changes: Partial<Config['homeserver']> = {}, clientApi = world.front.address) =>
        await problemsFound(world.service.core.config, changes, clientApi);
      expect(await diagnose()).toEqual([]);
      expect(await diagnose({ secret: new Secret('another-secret-than-there') })).toEqual(['homeserver.secret fail']);
      expect(await diagnose({}, synapse.endpoint)).toEqual(['compat.login warn']);
      const found = await diagnose({ endpoint: world.service.publicBase });
      expect(found).toEqual(['homeserver.versions fail', 'homeserver.whoami skip', 'homeserver.secret skip']);
    });

    test('after a kill during sign-ins and sign-outs, devices and sessions agree again', async () => {
      await world.person('survivor');
      expect(await world.devices('survivor')).toEqual([]);
      const held = new Map<string, string>();
      const signedIn: string[] = [];
      let refused = 0;
      let isUnderLoad = true;
      const use = async (device: string, keeps: boolean): Promise<void> => {
        while (isUnderLoad) {
          const { status, body } = await world.plain.tryLogin('survivor', PASSWORD, { device_id: device });
          if (status === 503) refused += 1;
          if (status !== 200) continue;
          signedIn.push(device);
          const token = String(body['access_token']);
          held.set(device, token);
          if (keeps) continue;
          held.delete(device);
          await world.plain.post('/logout', undefined, { authorization: `Bearer ${token}` });
        }
      };
      const load = [use('KEPT-A', true), use('KEPT-B', true), use('LEFT-A', false), use('LEFT-B', false)];
      await until(() => signedIn.length >= 12 && new Set(signedIn).size === 4);
      await synapse.kill();
      refused = 0;
      await until(() => refused > 0);
      isUnderLoad = false;
      await Promise.all(load);
      await synapse.start();
      // Resets the circuit breaker, expires leases and makes retries due.
      world.clock.advanceSeconds(3600);
      await world.settle();
      expect(await world.devices('survivor')).toEqual(await world.sessions('survivor'));
      expect([...held.keys()].toSorted()).toEqual(['KEPT-A', 'KEPT-B']);
      for (const [device, token] of held) {
        expect((await world.introspect(token))['active'], `the token on ${device} that was answered`).toBe(true);
      }
    }, 120_000);

    test('an application service registers its own users, but cannot sign in users', async () => {
      const register = async (username: string, fields: object) => {
        const response = await fetch(`${world.front.address}/_matrix/client/v3/register`, {
          method: 'POST',
          headers: { authorization: `Bearer ${synapse.applicationServiceToken}` },
          body: JSON.stringify({ type: 'm.login.application_service', username, ...fields }),
        });
        const members: Record<string, unknown> = await response.json();
        return [response.status, members['errcode'] ?? members['user_id']];
      };
      expect(await register('bridge-carla', { inhibit_login: true })).toEqual([200, world.userId('bridge-carla')]);
      expect(await register('bridge-emil', {})).toEqual([400, 'M_APPSERVICE_LOGIN_UNSUPPORTED']);
      const login = { type: 'm.login.application_service', identifier: { type: 'm.id.user', user: 'bridge-carla' } };
      const { status, body } = await world.plain.post('/login', login);
      expect([status, body['errcode']]).toEqual([400, 'M_APPSERVICE_LOGIN_UNSUPPORTED']);
    });
  });

  describe('with the service', () => {
    let testDatabase: TestDatabase;
    let estimator: StrengthEstimator;
    let service: PageService;

    beforeAll(async () => {
      testDatabase = await createTestDatabase();
      estimator = await openEstimator();
      const { serverName: homeserver, endpoint } = synapse;
      service = await startPages(testDatabase.database, {
        registration: { estimator },
        homeserver: { kind: 'synapse', homeserver, endpoint, secret: new Secret(SECRET) },
      });
    });

    afterAll(async () => {
      await service?.stop();
      await estimator?.close();
      await testDatabase?.drop();
    });

    const known = (localpart: string) => service.core.homeserver.queryUser(localpart, { kind: 'page' });

    test('latchkey doctor reports that the homeserver cannot reach the service', async () => {
      const found = await problemsFound({ ...service.core.config, protocolName: 'matrix' }, {}, synapse.endpoint);
      expect(found).toContain('homeserver.whoami fail');
    });

    test('newly registered users exist there, with the name that they chose', async () => {
      const browser = service.browser();
      await beginRegistration(browser, { username: 'registered' });
      await browser.follow();
      await browser.submit({ display_name: 'Dana Öz' });
      await browser.follow();
      expect(await known('registered')).toMatchObject({ ok: false, reason: 'unknown-user' });
      await notifyHomeserver(service.core);
      expect(await known('registered')).toEqual({ ok: true, value: { displayName: 'Dana Öz', isDeactivated: false } });
    });

    test.each([
      ['plain', 'is another user there'],
      ['bridge-bot', 'is reserved by an application service'],
    ])('%s cannot be registered: it %s', async (username) => {
      const response = await beginRegistration(service.browser(), { username });
      expect(response).toMatchObject({ status: 200, errorCodes: ['exists'] });
    });

    describe('stores the devices of sessions, and no others', () => {
      const PASSWORD = 'correct horse battery staple';
      let own: TestService;
      let chat: ChatClient;

      beforeAll(async () => {
        const { serverName: homeserver, endpoint } = synapse;
        const expectedErrors = ['503 Service Unavailable'];
        own = await startService(
          { homeserver: { kind: 'synapse', homeserver, endpoint, secret: SECRET } },
          { expectedErrors },
        );
        chat = new ChatClient(own);
      });
      afterAll(async () => await own?.stop());

      /** Whether the device existed. The request creates it if not. */
      async function hadDevice(localpart: string, id: string): Promise<boolean> {
        const step = { name: 'ask', method: 'POST', path: 'upsert_device', status: 200 } as const;
        const { status } = await takeStep(synapse.endpoint, SECRET, { ...step, body: { localpart, device_id: id } });
        expect([200, 201]).toContain(status);
        return status === 200;
      }

      test('I-02, I-09, I-23: from the login of a user unknown to it until the sign-out', async () => {
        await own.registerUser('deviceowner', PASSWORD);
        const fields = { device_id: 'PHONE', initial_device_display_name: 'x'.repeat(200) };
        const { accessToken } = await chat.login('deviceowner', PASSWORD, fields);
        expect(await hadDevice('deviceowner', 'PHONE')).toBe(true);
        expect(await hadDevice('deviceowner', 'SURPLUS')).toBe(false);
        await chat.login('deviceowner', PASSWORD, { device_id: 'of two words/é' });
        await chat.post('/logout', undefined, { authorization: `Bearer ${accessToken}` });
        await notifyHomeserver(own.core);
        expect(await hadDevice('deviceowner', 'of two words/é')).toBe(true);
        expect(await hadDevice('deviceowner', 'PHONE')).toBe(false);
        expect(await hadDevice('deviceowner', 'SURPLUS')).toBe(false);
      });

      test('I-22: while it is stopped, sign-ins fail but sign-outs succeed', async () => {
        await own.registerUser('stranded', PASSWORD);
        const { accessToken } = await chat.login('stranded', PASSWORD, { device_id: 'PHONE' });
        await synapse.stop();
        const refused = await chat.tryLogin('stranded', PASSWORD, { device_id: 'LAPTOP' });
        expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
        expect((await chat.post('/logout', undefined, { authorization: `Bearer ${accessToken}` })).status).toBe(200);
        await synapse.start();
        await notifyHomeserver(own.core);
        expect(await hadDevice('stranded', 'PHONE')).toBe(false);
        expect((await chat.tryLogin('stranded', PASSWORD)).status).toBe(200);
      }, 120_000);
    });

    test('while it is stopped, new registrations fail, and completed ones are provisioned afterwards', async () => {
      await registerCompletely(service.browser(), 'waiting');
      await synapse.stop();
      await notifyHomeserver(service.core);
      const response = await beginRegistration(service.browser(), { username: 'early' });
      expect(response).toMatchObject({ status: 200, errorCodes: ['homeserver_unavailable'] });
      await synapse.start();
      service.clock.advanceSeconds(60);
      await notifyHomeserver(service.core);
      expect(await known('waiting')).toMatchObject({ ok: true, value: { displayName: 'waiting' } });
    }, 120_000);
  });
});

/** Returns the problems that `latchkey doctor` finds. @param clientApi base URL in the well-known document */
async function problemsFound(config: Config, changes: Partial<Config['homeserver']>, clientApi: string) {
  const ask = askOverHttp('1.2.3');
  const findings = await checkHomeserver({
    config: { ...config, homeserver: { ...config.homeserver, ...changes } },
    ask: async (url, bearer) => {
      if (!url.pathname.startsWith('/.well-known/')) return await ask(url, bearer);
      const members = new Map(Object.entries({ 'm.homeserver': { base_url: clientApi } }));
      return { ok: true, sentAt: undefined, status: 200, members };
    },
  });
  return findings.flatMap(({ name, status }) => (status === 'ok' ? [] : [`${name} ${status}`]));
}
