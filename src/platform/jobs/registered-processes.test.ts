import { expect, test } from 'vitest';
import { listLiveProcesses, RegisteredProcess } from './registered-processes.ts';
import { useJobTable } from './worker.test-support.ts';

const table = useJobTable();
const [ONE, OTHER] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

function registered(name: string, configDigest = ONE, untrusted: readonly string[] = []): RegisteredProcess {
  const { clock, database, log } = table;
  return new RegisteredProcess({
    database,
    clock,
    log,
    name,
    version: '1',
    works: true,
    configDigest,
    rootKeys: () => [],
    untrustedProxies: () => untrusted,
  });
}

const live = async () => (await listLiveProcesses(table.database, table.clock.now())).map(({ name }) => name).sort();
const warnings = () => table.log.lines.filter(({ event }) => event === 'config.differs').map(({ fields }) => fields);

test('a process is listed until it stops or is silent for two minutes, and is then removed by the others (operations 6.1)', async () => {
  const [first, second, third] = [registered('a:1'), registered('b:2'), registered('c:3')];
  for (const one of [first, second, third]) await one.beat();
  expect(await live()).toEqual(['a:1', 'b:2', 'c:3']);
  await third.stop();
  expect(await live()).toEqual(['a:1', 'b:2']);
  table.clock.advanceSeconds(121);
  await first.beat();
  expect(await live()).toEqual(['a:1']);
  table.clock.advanceSeconds(-121);
  expect(await live()).toEqual(['a:1']);
  await first.stop();
});

test('configurations that differ for longer than a rollout cause one warning that names the others (operations 8.1)', async () => {
  const [first, second] = [registered('a:1'), registered('b:2', OTHER)];
  await second.beat();
  await first.beat();
  expect(warnings()).toEqual([]);
  for (let beats = 0; beats < 3; beats += 1) await first.beat();
  expect(warnings()).toEqual([{ processes: 'b:2' }]);
  await second.useDigest(ONE);
  await first.beat();
  await second.useDigest(OTHER);
  for (let beats = 0; beats < 3; beats += 1) await first.beat();
  expect(warnings()).toHaveLength(2);
});

test('a process reports private addresses that send forwarding headers without being trusted', async () => {
  const untrusted: string[] = [];
  const process = registered('proxied:1', ONE, untrusted);
  const known = async () =>
    (await listLiveProcesses(table.database, table.clock.now()))
      .filter(({ name }) => name === 'proxied:1')
      .map((row) => row.untrusted_proxies);
  await process.beat();
  expect(await known()).toEqual([[]]);
  untrusted.push('172.18.0.3');
  await process.beat();
  expect(await known()).toEqual([['172.18.0.3']]);
  await process.stop();
});
