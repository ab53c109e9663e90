import { expect, test } from 'vitest';
import { usableProcessors } from './machine.ts';

const V2 = '0::/system.slice/latchkey.service\n';
const V1 = '12:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n';

test.each<[string, number, Record<string, string>, number]>([
  ['without control groups', 8, {}, 8],
  ['without a limit', 8, { '/proc/self/cgroup': V2, '/sys/fs/cgroup/system.slice/cpu.max': 'max 100000\n' }, 8],
  [
    'of a service with a quota',
    8,
    { '/proc/self/cgroup': V2, '/sys/fs/cgroup/system.slice/latchkey.service/cpu.max': '350000 100000\n' },
    3,
  ],
  [
    'of a slice that is limited more than the service',
    8,
    {
      '/proc/self/cgroup': V2,
      '/sys/fs/cgroup/system.slice/latchkey.service/cpu.max': '600000 100000\n',
      '/sys/fs/cgroup/system.slice/cpu.max': '200000 100000\n',
    },
    2,
  ],
  ['of a container', 64, { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '200000 100000\n' }, 2],
  [
    'of a container with less than one',
    64,
    { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '50000 100000' },
    1,
  ],
  [
    'of a container under version 1',
    16,
    {
      '/proc/self/cgroup': V1,
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '400000\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    },
    4,
  ],
  [
    'under version 1 without a limit',
    16,
    {
      '/proc/self/cgroup': V1,
      '/sys/fs/cgroup/cpu/cpu.cfs_quota_us': '-1\n',
      '/sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n',
    },
    16,
  ],
  [
    'with more quota than processors',
    2,
    { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': '800000 100000' },
    2,
  ],
  ['with unreadable limits', 4, { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/cpu.max': 'garbage' }, 4],
])('processors %s', (_situation, processors, files, expected) => {
  expect(usableProcessors(processors, (path) => files[path])).toBe(expected);
});

test('the limits of this machine are readable', () => {
  expect(usableProcessors()).toBeGreaterThanOrEqual(1);
});
