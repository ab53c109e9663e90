import { afterEach, expect, test } from 'vitest';
import { StopSignals } from './shutdown.ts';

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;
const before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));
afterEach(() => {
  for (const signal of SIGNALS)
    for (const listener of process.listeners(signal))
      if (before.get(signal)?.includes(listener) !== true) process.off(signal, listener);
});

test('F-25: a SIGHUP during the start takes effect once after it, however many were sent', () => {
  const signals = new StopSignals('background');
  process.emit('SIGHUP');
  process.emit('SIGHUP');
  let count = 0;
  signals.onHangUp(() => {
    count += 1;
  });
  expect(count).toBe(1);
  process.emit('SIGHUP');
  expect(count).toBe(2);
});
