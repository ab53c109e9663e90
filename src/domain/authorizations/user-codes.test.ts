import { expect, test } from 'vitest';
import { KeyRing } from '#platform/base/sealing.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { FakeClock } from '#test/support/fake-clock.ts';
import { RecordingLog } from '#test/support/recording-log.ts';
import { sharedByTests } from '#test/support/shared-by-tests.ts';
import { UserCodes } from './user-codes.ts';

const testDatabase = await sharedByTests(createTestDatabase());

test('once all callers together guess too fast, each attempt waits a second, and few wait at once (S-114)', async () => {
  const clock = new FakeClock();
  const log = new RecordingLog({ clock });
  const waits: number[] = [];
  const release: (() => void)[] = [];
  let isHeld = false;
  const codes = new UserCodes({
    database: testDatabase.database,
    clock,
    log,
    keyRing: new KeyRing(Buffer.alloc(32, 1)),
    limits: { perIp: { burst: 1, perSecond: 0.001 }, global: { burst: 5, perSecond: 0.1 } },
    pause: async (milliseconds) => {
      waits.push(milliseconds);
      if (isHeld) await new Promise<void>((resolve) => release.push(resolve));
    },
  });
  const guess = async (address: string) => await codes.enter('BBBB-BBBB', address);
  for (let count = 0; count < 5; count += 1) {
    expect(await guess(`192.0.2.${count}`)).toEqual({ ok: false, reason: 'invalid-code' });
  }
  expect(waits).toEqual([]);
  expect(await guess('192.0.2.6')).toEqual({ ok: false, reason: 'invalid-code' });
  expect(waits, 'from the sixth on').toEqual([1000]);
  expect(log.lines.filter(({ event }) => event === 'device.user_code')).toHaveLength(1);

  isHeld = true;
  const held = Array.from({ length: 64 }, (_, index) => guess(`192.0.3.${index}`));
  while (release.length < 64) await new Promise((resolve) => setImmediate(resolve));
  expect(await guess('192.0.4.1')).toEqual({ ok: false, reason: 'rate-limited', retryAfterSeconds: 1 });
  isHeld = false;
  for (const go of release) go();
  await Promise.all(held);
  expect(await guess('192.0.4.1'), 'not counted before').toEqual({ ok: false, reason: 'invalid-code' });

  clock.advanceSeconds(3600);
  waits.length = 0;
  await guess('192.0.5.1');
  expect(waits, 'after a while').toEqual([]);
});
