import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PlainHttpApp } from '#test/support/chat-apps/plain-http.ts';
import { type HomeserverSetup, startHomeserverSetup } from './homeserver-setup.ts';
import { ANY_PROTOCOL } from './sequences/sequences.ts';

describe('I-28: a chat client without a library, with another protocol name', () => {
  let world: HomeserverSetup;

  beforeAll(async () => {
    world = await startHomeserverSetup({
      protocolName: 'chat',
      make: (address, protocolName) => new PlainHttpApp(address, protocolName),
      secret: 'shared-secret-of-the-test',
    });
  });

  afterAll(async () => await world.stop());

  test.each(ANY_PROTOCOL.map((sequence) => [sequence.id, sequence.claim, sequence] as const))(
    '%s: %s',
    async (_id, _claim, sequence) => await sequence.run(world),
  );

  test('the names of the other protocol are unknown paths', async () => {
    for (const address of [world.front.address, world.service.address]) {
      const response = await fetch(`${address}/_matrix/client/v3/login`);
      expect(response.status).toBe(404);
    }
  });
});
