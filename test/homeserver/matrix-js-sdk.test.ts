import { afterAll, beforeAll, describe, test } from 'vitest';
import { MatrixJsSdkApp } from '#test/support/chat-apps/matrix-js-sdk.ts';
import { type HomeserverSetup, startHomeserverSetup } from './homeserver-setup.ts';
import { SEQUENCES } from './sequences/sequences.ts';

describe('a chat client with matrix-js-sdk', () => {
  let world: HomeserverSetup;

  beforeAll(async () => {
    world = await startHomeserverSetup({
      protocolName: 'matrix',
      make: (address) => new MatrixJsSdkApp(address),
      secret: 'shared-secret-of-the-test',
    });
  });

  afterAll(async () => await world.stop());

  test.each(SEQUENCES.map((sequence) => [sequence.id, sequence.claim, sequence] as const))(
    '%s: %s',
    async (_id, _claim, sequence) => await sequence.run(world),
  );
});
