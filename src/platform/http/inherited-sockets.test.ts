import { describe, expect, test } from 'vitest';
import { InheritedSockets } from './inherited-sockets.ts';

const PID = String(process.pid);
const take = (inherited: number | string, variables: ConstructorParameters<typeof InheritedSockets>[0]) =>
  new InheritedSockets(variables).take({ inherited, kind: 'tcp' });

describe('sockets passed by the service manager (operations 1.7.2, sd_listen_fds(3))', () => {
  test('are found by position or by name, from descriptor 3 on', () => {
    expect(take(0, { pid: PID, count: '1' })).toBe(3);
    expect(take(1, { count: '2' })).toBe(4);
    expect(take('web', { pid: PID, count: '2', names: 'local:web' })).toBe(4);
  });

  test.each([
    ['none were passed', 0, {}, 'the service manager passed no sockets'],
    ['they are for another process', 0, { pid: '1', count: '1' }, 'the sockets are for process 1 (LISTEN_PID)'],
    ['there are fewer', 2, { pid: PID, count: '2' }, 'only 2 passed (LISTEN_FDS)'],
    ['none has that name', 'web', { pid: PID, count: '1', names: 'local' }, 'the passed names are local'],
    ['there are more names than sockets', 'web', { pid: PID, count: '1', names: 'local:web' }, 'only 1 passed'],
  ])('are rejected with exit code 71 when %s', (_when, inherited, variables, reason) => {
    expect(() => take(inherited, variables)).toThrow(
      expect.objectContaining({ exitCode: 71, message: expect.stringContaining(reason) }),
    );
  });

  test('are used once each, by whatever name', () => {
    const sockets = new InheritedSockets({ count: '1', names: 'web' });
    sockets.take({ inherited: 0, kind: 'tcp' });
    expect(() => sockets.take({ inherited: 'web', kind: 'tcp' })).toThrow(
      expect.objectContaining({ exitCode: 78, message: 'inherited socket "web" is used by two binds' }),
    );
  });
});
