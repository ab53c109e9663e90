import { median } from '../../../bench/statistics.js';
import { say } from '../../browser/checks.js';
import { behindLink } from '../behind-link.js';
import { requireNone, requireRight } from '../instances.js';
import { Gauges } from '../load/gauges.js';
import { Homeserver } from '../load/homeserver.js';
import { withMetrics } from '../load/settings.js';

/** Introspections per second. */
const RATE = 100;
/** A homeserver has one address, and the default limit is meant for browsers. */
const MAX_CONNECTIONS = 2_000;
const STEPS = [
  { name: 'each statement 50 ms slower', begin: (cable) => cable.slowDown(50), end: (cable) => cable.slowDown(0) },
  { name: 'each statement 500 ms slower', begin: (cable) => cable.slowDown(500), end: (cable) => cable.slowDown(0) },
  {
    name: 'each statement 5,000 ms slower',
    begin: (cable) => cable.slowDown(5_000),
    end: (cable) => cable.slowDown(0),
    isBeyond: true,
  },
  { name: '5 % of the packets lost', begin: (cable) => cable.lose(5), end: (cable) => cable.lose(0) },
];
const SECONDS = { short: 3, long: 180 };
/** All clients retry at the end of the fault, so introspections continue for this long. */
const BEYOND_SECONDS = { short: 2, long: 10 };
const RECOVERY_MS = 10_000;
const SIGN_INS = 5;
/** Margin for a busy machine. */
const MARGIN_MS = 500;
/**
 * `limits.handler_timeout`, the slowest statement of a write that had started by then, and a margin for a busy machine.
 */
const MAX_REQUEST_MS = 22_000;

export const fault = {
  id: 'F-09',
  title: 'a slow database, and a network to it that loses packets',
  async run({ checks, folder, isShort }) {
    const form = isShort ? 'short' : 'long';
    await behindLink(
      folder,
      async ({ cable, instances, load }) => {
        for (const step of STEPS) {
          await disturb({ checks, cable, instances, load, step, form });
        }
        await load.stop();
        await checks.that('F-09: answers were right or 503, and everything acknowledged is so', async () => {
          say(`${instances.mailboxes.taken} mails, ${instances.mailboxes.doubles.length} of them more than once`);
          await requireRight(instances, load);
        });
      },
      patient,
    );
  },
};

async function disturb({ checks, cable, instances, load, step, form }) {
  const { name, begin, end, isBeyond } = step;
  const before = { signInMs: await signInMs(load), unavailable: load.counts.unavailable };
  const gauges = new Gauges(instances.bases);
  const homeserver = await Homeserver.at(instances.bases[0]);
  const seconds = SECONDS[form];
  const introspected = homeserver.introspect(RATE, seconds + BEYOND_SECONDS[form]);
  begin(cable);
  await gauges.watch(seconds);
  end(cable);
  let healed;
  await checks.that(`F-09: ${name}: ${RECOVERY_MS / 1_000} s after its end all is well`, async () => {
    const [signedInMs, undisturbedMs] = await Promise.all([
      load.untilSignedIn(RECOVERY_MS),
      load.untilUndisturbed(RECOVERY_MS),
    ]);
    healed = { signedInMs, undisturbedMs };
  });
  await introspected;
  const { answered, refused } = homeserver;
  const slowestMs = Math.max(load.slowestMs, homeserver.slowestMs);
  say(
    `${name}: introspections: ${answered.length} answered, half of them within ${Math.round(median(answered))} ms, ` +
      `${refused} refused; people: ${load.counts.unavailable - before.unavailable} refused; ${gauges}; the slowest ` +
      `request ${Math.round(slowestMs)} ms (${load.slowest}); after its end: the last refusal ${Math.round(healed?.undisturbedMs)} ms, a ` +
      `sign-in ${Math.round(healed?.signedInMs)} ms`,
  );
  await checks.that(`F-09: ${name}: what waits is bounded, and so is its time`, () => {
    requireNone(homeserver.faults);
    gauges.require();
    if (slowestMs > MAX_REQUEST_MS) throw new Error(`a request took ${Math.round(slowestMs)} ms`);
  });
  if (isBeyond) {
    await checks.that(`F-09: ${name}: what is too much is refused`, () => {
      // Counts those sent while the database was too slow.
      if (refused < (RATE * seconds) / 2) throw new Error(`${refused} refused, ${answered.length} answered`);
    });
  }
  await checks.that(`F-09: ${name}: afterwards it is as fast as before`, async () => {
    const afterMs = await signInMs(load);
    say(`a sign-in took ${Math.round(before.signInMs)} ms before and ${Math.round(afterMs)} ms after`);
    if (afterMs > 2 * before.signInMs + MARGIN_MS) throw new Error(`${afterMs} ms after ${before.signInMs} ms`);
  });
}

async function signInMs(load) {
  const took = [];
  while (took.length < SIGN_INS) {
    took.push(await load.untilSignedIn(RECOVERY_MS));
  }
  return median(took);
}

function patient(settings) {
  const changed = withMetrics(settings);
  return { ...changed, limits: { ...changed.limits, max_connections_per_address: MAX_CONNECTIONS } };
}
