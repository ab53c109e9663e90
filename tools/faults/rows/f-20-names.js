import { setTimeout as pause } from 'node:timers/promises';
import { say } from '../../browser/checks.js';
import { loadTypeScript } from '../../browser/load-typescript.js';
import { databaseSettings, Instances, requireRight, startDatabase } from '../instances.js';
import { Gauges } from '../load/gauges.js';
import { Mailboxes } from '../load/mailboxes.js';
import { withMetrics } from '../load/settings.js';
import { NamedPeers } from '../named-peers.js';

const { NameServer } = await loadTypeScript('test/support/name-server.ts');
const { mayMount, nodeWithFiles } = await loadTypeScript('test/support/own-files.ts');

const NAME_SERVER = '127.0.0.53';
const FAILURES = [
  { name: 'unknown names', answer: 'nxdomain', seconds: { short: 2, long: 60 } },
  { name: 'names that cannot be found out', answer: 'servfail', seconds: { short: 2, long: 60 } },
  { name: 'names without an answer', answer: 'silent', seconds: { short: 5, long: 180 } },
];
/** The address stays the same, so existing connections remain usable. */
const SILENT_SECONDS = { short: 5, long: 180 };
/** Short enough that all database connections reach their maximum lifetime during that time. */
const MAX_LIFETIME = { short: '1s', long: '20s' };
const RECOVERY_MS = 60_000;
/** All users wait for a DNS lookup without a response and then retry. */
const SIGN_IN_MS = 15_000;
/** Queues of mails and of jobs that create mails. */
const SENDING = /^send-/;
/** Number of transactions after which each of two instances has a connection for transactions. */
const LOCKS = 6;
const POLL_MS = 500;
/** Failed mails are retried with increasing delays. */
const MAX_MAIL_MS = 180_000;
/** A connection that falls silent right after its mail was accepted: once per instance and failure. */
const MAX_DOUBLES = 2 * (FAILURES.length + 1);

export const fault = {
  id: 'F-20',
  title: 'names without an answer, unknown, or with other addresses',
  async run({ checks, folder, isShort }) {
    if (!mayMount()) throw new Error('only root can give a process a name server of its own');
    const form = isShort ? 'short' : 'long';
    const names = new NameServer();
    const database = await startDatabase(folder);
    const instances = new Instances(folder);
    instances.mailboxes = await Mailboxes.listen();
    const peers = await NamedPeers.start(database, instances.mailboxes.settings);
    let load;
    try {
      await names.listen(NAME_SERVER);
      names.answer = await peers.move();
      const node = nodeWithFiles(folder, { '/etc/resolv.conf': `nameserver ${NAME_SERVER}\n` });
      const { socket: _, ...section } = databaseSettings(database);
      const settings = { ...peers.database(section), max_lifetime: MAX_LIFETIME[form] };
      const more = { change: (given) => withMetrics(peers.named(given)), reached: databaseSettings(database) };
      for (let count = 0; count < 2; count += 1) await instances.add(settings, { ...more, node });
      load = await instances.load();
      load.start();
      await load.untilAtWork();
      while ((load.flows.lockAndUnlock ?? 0) < LOCKS) await pause(POLL_MS);
      const parts = { checks, names, peers, instances, load, form };
      await keepConnections(parts);
      await move(parts);
      for (const failure of FAILURES) await fail(parts, failure);
      await load.stop();
      await checks.that(
        'F-20: every mail was sent, none twice but what its server took before it was gone',
        async () => {
          await untilSent(instances, node);
          const { taken, doubles } = instances.mailboxes;
          say(`${taken} mails, ${doubles.length} of them more than once`);
          if (doubles.length > MAX_DOUBLES) throw new Error(doubles.join(', '));
        },
      );
      await checks.that('F-20: answers were right or 503, and everything acknowledged is so', () =>
        requireRight(instances, load),
      );
    } finally {
      await load?.stop();
      await instances.stop();
      await peers.stop();
      names.close();
      await database.remove();
    }
  },
};

/** Existing connections do not need the name. */
async function keepConnections({ checks, names, peers, instances, load, form }) {
  const what = 'names without an answer, where all are where they were';
  const before = { ...load.unavailable };
  const known = names.answer;
  names.answer = 'silent';
  await checks.that(`F-20: ${what}: sign-ins and tokens go on, and what waits is bounded`, async () => {
    const gauges = new Gauges(instances.bases);
    await gauges.watch(SILENT_SECONDS[form]);
    const signedInMs = Math.round(await load.untilSignedIn(SIGN_IN_MS));
    const refused = differenceOf(load.unavailable, before);
    say(`${what}: a sign-in took ${signedInMs} ms; ${gauges}; refused: ${JSON.stringify(refused)}`);
    gauges.require();
    // Requests to a homeserver open new connections.
    const wrong = Object.keys(refused).filter((kind) => !kind.includes('_chat') && !kind.includes('register'));
    if (wrong.length > 0) throw new Error(`refused: ${wrong.join(', ')}`);
  });
  names.answer = known;
  await requireHealed({ checks, peers, instances, load, what });
}

/** All servers get a new address, and the old one falls silent. */
async function move({ checks, names, peers, instances, load }) {
  names.answer = await peers.move();
  await requireHealed({ checks, peers, instances, load, what: 'other addresses' });
}

async function fail({ checks, names, peers, instances, load, form }, { name: what, answer, seconds }) {
  names.answer = answer;
  const next = await peers.move();
  const gauges = new Gauges(instances.bases);
  await gauges.watch(seconds[form]);
  await checks.that(`F-20: ${what}: instances live, and what waits is bounded`, async () => {
    for (const base of instances.bases) {
      for (const path of ['health?probe=live', '.well-known/openid-configuration', 'oauth2/keys.json']) {
        const { status } = await fetch(base + path);
        if (status !== 200) throw new Error(`/${path} answered ${status}`);
      }
    }
    say(`${what}: ${gauges}`);
    gauges.require();
  });
  names.answer = next;
  await requireHealed({ checks, peers, instances, load, what });
}

async function requireHealed({ checks, peers, instances, load, what }) {
  await checks.that(`F-20: ${what}: within ${RECOVERY_MS / 1_000} s of their end all is well`, async () => {
    const [signedInMs, undisturbedMs, providerMs, mailMs] = await Promise.all([
      load.untilSignedIn(RECOVERY_MS),
      load.untilUndisturbed(RECOVERY_MS),
      peers.untilSignedIn(instances.bases[0], instances.all[0].base, RECOVERY_MS),
      untilMail(instances.mailboxes),
    ]);
    // Requests that wait for an instance that is not ready get neither a response nor an error.
    for (const { base } of instances.all) await untilReady(base);
    await load.untilUndisturbed(RECOVERY_MS);
    say(
      `${what}: the last refusal ${Math.round(undisturbedMs)} ms after their end, a sign-in ${Math.round(signedInMs)} ms, ` +
        `one at a provider ${Math.round(providerMs)} ms, a mail ${Math.round(mailMs)} ms`,
    );
  });
}

async function untilReady(base) {
  const startedAt = performance.now();
  while (!(await fetch(`${base}health`)).ok) {
    if (performance.now() - startedAt > RECOVERY_MS) throw new Error(`${base} is not ready`);
    await pause(POLL_MS);
  }
}

/** @returns milliseconds until the next mail arrived */
async function untilMail(mailboxes) {
  const [startedAt, before] = [performance.now(), mailboxes.taken];
  while (mailboxes.taken === before) {
    if (performance.now() - startedAt > RECOVERY_MS) throw new Error('no mail came');
    await pause(20);
  }
  return performance.now() - startedAt;
}

async function untilSent({ all: [{ program }] }, node) {
  const startedAt = performance.now();
  const list = async () => {
    const lines = (await program.run(['jobs', 'list', '--json'], '', { node }))
      .split('\n')
      .filter((line) => line !== '');
    return lines.map((line) => JSON.parse(line)).filter(({ queue }) => SENDING.test(queue));
  };
  for (let jobs = await list(); jobs.length > 0; jobs = await list()) {
    if (performance.now() - startedAt > MAX_MAIL_MS) throw new Error(`not sent: ${JSON.stringify(jobs[0])}`);
    await pause(POLL_MS);
  }
}

function differenceOf(counts, before) {
  return Object.fromEntries(
    Object.entries(counts)
      .map(([kind, count]) => [kind, count - (before[kind] ?? 0)])
      .filter(([, count]) => count > 0),
  );
}
