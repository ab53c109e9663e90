import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '#test/support/free-port.js';
import { type ScriptedIntrospection, startScriptedIntrospection } from '#test/support/scripted-introspection.ts';
import {
  type StandInHomeserver,
  startStandInHomeserver,
} from '#test/support/stand-in-homeserver/stand-in-homeserver.ts';
import { CLIENT_CONFORMANCE, CLIENT_OF_CONFORMANCE, takeClientStep } from './client-conformance.ts';
import { CONFORMANCE, EXCLUSIVE_NAMES, takeStep } from './conformance.ts';

const SECRET = 'shared-secret-of-the-test';
let homeserver: StandInHomeserver;
let service: ScriptedIntrospection;

beforeAll(async () => {
  const port = await freePort();
  service = await startScriptedIntrospection(port);
  homeserver = await startStandInHomeserver(SECRET);
  homeserver.state.exclusive = new RegExp(`^${EXCLUSIVE_NAMES}$`);
  homeserver.state.protocolName = 'matrix';
  homeserver.state.service = `http://127.0.0.1:${port}/`;
});

afterAll(async () => {
  await homeserver.stop();
  await service.stop();
});

/** Synapse must conform to the same steps: `real-synapse.test.ts`. */
describe('the stand-in homeserver answers like Synapse', () => {
  test.each(CONFORMANCE.map((step) => [step.name, step] as const))('the service: %s', async (_, step) => {
    const response = await takeStep(homeserver.endpoint, SECRET, step);
    expect(response.status).toBe(step.status);
    if (step.errcode !== undefined) expect(response.errcode).toBe(step.errcode);
    expect(response.members).toMatchObject(step.members ?? {});
  });

  test.each(CLIENT_CONFORMANCE.map((step) => [step.name, step] as const))('clients: %s', async (_, step) => {
    const { localpart, device_id } = CLIENT_OF_CONFORMANCE;
    homeserver.addUser(localpart).devices.set(device_id, undefined);
    const response = await takeClientStep(homeserver.endpoint, service, step);
    expect(response.status).toBe(step.status);
    if (step.errcode !== undefined) expect(response.errcode).toBe(step.errcode);
    expect(response.members).toMatchObject(step.members ?? {});
  });

  test('it keeps the dehydrated device, which has no session', async () => {
    const user = homeserver.addUser('dehydrated');
    user.devices.set('DRY', undefined);
    user.dehydratedDevice = 'DRY';
    const sync = { name: 'sync', method: 'POST', path: 'sync_devices', status: 200 } as const;
    await takeStep(homeserver.endpoint, SECRET, { ...sync, body: { localpart: 'dehydrated', devices: ['A'] } });
    expect([...user.devices.keys()]).toEqual(['DRY', 'A']);
  });

  test('it refuses an invalid device id', async () => {
    homeserver.addUser('hidden');
    homeserver.state.hiddenDevice = 'HIDDEN';
    const upsert = { name: 'upsert', method: 'POST', path: 'upsert_device', status: 400 } as const;
    const body = { localpart: 'hidden', device_id: 'HIDDEN' };
    const response = await takeStep(homeserver.endpoint, SECRET, { ...upsert, body });
    expect(response).toMatchObject({ status: 400, errcode: 'M_FORBIDDEN' });
  });
});
