import { setTimeout as pause } from 'node:timers/promises';
import { say } from '../../browser/checks.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../cluster/load.js';
import { databaseSettings, Instances, requireNone, requireRight, startDatabase } from '../instances.js';
import { withMetrics } from '../load/settings.js';
import { buildSetClock, MachineClock } from '../machine-clock.js';

const HOUR = 3_600;
const DAYS = 400 * 24 * HOUR;
/** Longer than the lifetime of access tokens and the retention of events. */
const isLong = (seconds) => seconds >= DAYS;
const RECOVERY_MS = { short: 15_000, long: 5_000 };
/** How long a clock stays wrong. */
const STAY_MS = { short: 300, long: 20_000 };
/** Maximum ratio to the rate before: time-based work runs once more, but not endlessly. */
const MAX_TIMES = 3;
const MAX_MORE = { statements: 200, lines: 50 };
/** Includes changes of the first instance's clock alone. */
const TIMES_BACK = { short: [5, 3], long: [6, 3] };
/** The size of a leap second, which must have no effect. */
const LEAP_MS = 1_000;
/** Maximum disorder of lines that are written together. */
const DISORDER_MS = 1_000;
const LINE = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z) +\S+ +(\S+)/;
const ZONES = ['America/St_Johns', 'Pacific/Apia'];
const AUTHORIZATION = `Basic ${Buffer.from(`${CLIENT_ID}:${CLIENT_SECRET}`).toString('base64')}`;

export const fault = {
  id: 'F-14',
  title: 'clocks that are set, of one instance and of all machines',
  async run({ checks, folder, isShort }) {
    const form = isShort ? 'short' : 'long';
    const library = buildSetClock(folder);
    const clocks = ['database', 'first', 'second'].map((name) => new MachineClock(library, `${folder}/clock-${name}`));
    const database = await startDatabase(folder, {}, clocks[0].environment);
    const instances = new Instances(folder);
    let load;
    try {
      for (const [index, TZ] of ZONES.entries()) {
        const environment = { ...clocks[index + 1].environment, TZ };
        await instances.add(databaseSettings(database), { change: withInfo, environment });
      }
      load = await instances.load();
      load.start();
      await load.untilAtWork();
      const set = { checks, clocks, instances, load, form };
      for (const seconds of isShort ? [-HOUR, DAYS] : [HOUR, -HOUR, DAYS]) await setOne(set, seconds);
      await leap(set);
      for (const seconds of [HOUR, -HOUR, DAYS]) await setAll(set, seconds);
      await load.stop();
      await checks.that('F-14: answers were right or 503, and everything acknowledged is so', async () => {
        say(`told that it is over: ${JSON.stringify(load.over)}; refused: ${JSON.stringify(load.unavailable)}`);
        await requireRight(instances, load);
      });
      await checks.that('F-14: the log is in UTC, and in order but for the clocks that were set back', () => {
        for (const [index, { log }] of instances.all.entries()) requireOrder(log, TIMES_BACK[form][index]);
      });
    } finally {
      for (const clock of clocks) clock.set(0);
      await load?.stop();
      await instances.stop();
      await database.remove();
    }
  },
};

/** Sets the clock of one of two machines, and resets it. */
async function setOne({ checks, clocks, instances, load, form }, seconds) {
  const what = `the clock of one instance ${spoken(seconds)}`;
  const [instance] = instances.all;
  const token = await issueToken(instances.all[1]);
  const meter = await Meter.of(instances);
  clocks[1].set(seconds);
  await checks.that(`F-14: ${what}: it answers 503, and the other one serves`, async () => {
    await requireRefusals(instance, token, STAY_MS[form]);
    // Like a load balancer with health checks.
    instances.leave(instance);
    await load.untilSignedIn(RECOVERY_MS[form]);
    const refused = load.counts.unavailable;
    await pause(STAY_MS[form]);
    await load.untilSignedIn(RECOVERY_MS[form]);
    await requireRefusals(instance, token, 0);
    if (load.counts.unavailable > refused) throw new Error('the other one refused requests');
  });
  clocks[1].set(0);
  await checks.that(
    `F-14: ${what}, and set right: all is as before within ${RECOVERY_MS[form] / 1_000} s`,
    async () => {
      const startedAt = performance.now();
      while (!(await fetch(`${instance.base}health`)).ok) {
        if (performance.now() - startedAt > RECOVERY_MS[form]) throw new Error('it is not ready');
        await pause(20);
      }
      const readyMs = Math.round(performance.now() - startedAt);
      instances.join(instance);
      await requireActive(instance, token);
      const healedMs = Math.round(await load.untilUndisturbed(RECOVERY_MS[form]));
      say(`${what}: ready after ${readyMs} ms, the last refusal after ${healedMs} ms; ${await meter.rates()}`);
    },
  );
  await checks.that(`F-14: ${what}: timers do not storm`, () => meter.require());
}

/** One extra second must have no visible effect. */
async function leap({ checks, clocks, instances, load }) {
  await checks.that('F-14: a leap second: nothing happens', async () => {
    const refused = load.counts.unavailable;
    for (const seconds of [1, 0]) {
      for (const clock of clocks.slice(1)) {
        clock.set(seconds);
        await pause(LEAP_MS / 2);
      }
    }
    if (load.counts.unavailable > refused) throw new Error('requests were refused');
    for (const instance of instances.all) {
      if (!(await fetch(`${instance.base}health`)).ok) throw new Error('an instance is not ready');
    }
  });
}

/** Sets the clocks of all machines and of the database, and resets them. */
async function setAll({ checks, clocks, instances, load, form }, seconds) {
  const what = `all clocks ${spoken(seconds)}`;
  for (const [name, ahead] of [
    [what, seconds],
    [`${what}, and set right`, 0],
  ]) {
    const meter = await Meter.of(instances);
    await checks.that(`F-14: ${name}: all is well within ${RECOVERY_MS[form] / 1_000} s`, async () => {
      load.beforeClocksAreSet({ isLong: isLong(ahead) });
      for (const clock of clocks) clock.set(ahead);
      const [signedInMs, healedMs] = await Promise.all([
        load.untilSignedIn(RECOVERY_MS[form]),
        load.untilUndisturbed(RECOVERY_MS[form]),
      ]);
      await pause(STAY_MS[form]);
      say(
        `${name}: the last refusal after ${Math.round(healedMs)} ms, a sign-in after ${Math.round(signedInMs)} ms; ` +
          `${await meter.rates()}`,
      );
    });
    await checks.that(`F-14: ${name}: timers do not storm`, () => meter.require());
  }
}

function spoken(seconds) {
  const [size, direction] = [Math.abs(seconds), seconds > 0 ? 'ahead' : 'back'];
  return size === HOUR ? `an hour ${direction}` : `400 days ${direction}`;
}

async function post({ base }, path, fields) {
  const headers = { authorization: AUTHORIZATION };
  const response = await fetch(base + path, { method: 'POST', headers, body: new URLSearchParams(fields) });
  return { status: response.status, retryAfter: response.headers.get('retry-after'), text: await response.text() };
}

async function issueToken(instance) {
  const { text } = await post(instance, 'oauth2/token', { grant_type: 'client_credentials' });
  return JSON.parse(text).access_token;
}

/** Requires that everything time-based is rejected during this time. */
async function requireRefusals(instance, token, forMs) {
  const startedAt = performance.now();
  do {
    const answers = await Promise.all([
      post(instance, 'oauth2/introspect', { token }),
      post(instance, 'oauth2/token', { grant_type: 'client_credentials' }),
      post(instance, 'oauth2/revoke', { token }),
    ]);
    const wrong = answers.filter(({ status, retryAfter }) => status !== 503 || retryAfter === null);
    requireNone(wrong.map(({ status, text }) => `it answered ${status} ${text}`));
    const health = await fetch(`${instance.base}health`);
    if (health.status !== 503 || (await health.text()) !== 'clock') throw new Error(`health says ${health.status}`);
    await pause(20);
  } while (performance.now() - startedAt < forMs);
}

async function requireActive(instance, token) {
  const { text } = await post(instance, 'oauth2/introspect', { token });
  if (JSON.parse(text).active !== true) throw new Error(`a token is no longer good: ${text}`);
}

/** Statements per second, and log lines per second other than request lines, since a point in time. */
class Meter {
  /** Rates before any clock change. */
  static #usual;
  #instances;
  #startedAt = performance.now();
  #before;
  #rates;

  static async of(instances) {
    Meter.#usual ??= await (await new Meter(instances).start()).after(1_000);
    return await new Meter(instances).start();
  }

  constructor(instances) {
    this.#instances = instances;
  }

  async start() {
    this.#before = await this.#count();
    return this;
  }

  async after(milliseconds) {
    await pause(milliseconds);
    await this.rates();
    return this.#rates;
  }

  /** @returns a text with the rates until now */
  async rates() {
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const now = await this.#count();
    this.#rates = {
      statements: Math.round((now.statements - this.#before.statements) / seconds),
      lines: Math.round((now.lines - this.#before.lines) / seconds),
    };
    const spoken = ({ statements, lines }) => `${statements} statements and ${lines} lines`;
    return `${spoken(this.#rates)} of a second${Meter.#usual === undefined ? '' : ` (${spoken(Meter.#usual)} before)`}`;
  }

  require() {
    for (const [what, rate] of Object.entries(this.#rates ?? {})) {
      if (rate > MAX_TIMES * Meter.#usual[what] + MAX_MORE[what]) throw new Error(`${rate} ${what} of a second`);
    }
  }

  async #count() {
    const pages = await Promise.all(
      this.#instances.all.map(async ({ base }) => (await fetch(`${base}metrics`)).text()),
    );
    const counts = pages.flatMap((page) => page.match(/^db_query_duration_seconds_count.* (\S+)$/gm) ?? []);
    const lines = this.#instances.all.flatMap(({ log }) => log.split('\n'));
    return {
      statements: counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0),
      lines: lines.filter((line) => LINE.exec(line)?.[2].startsWith('http.') === false).length,
    };
  }
}

/**
 * A line may have an earlier time than its predecessor only once for each time a clock was set back.
 * @param timesBack number of such changes
 */
function requireOrder(log, timesBack) {
  const lines = log.trimEnd().split('\n');
  requireNone(lines.filter((line) => !LINE.test(line)).map((line) => `not a line in UTC: ${line}`));
  const times = lines.map((line) => Date.parse(LINE.exec(line)[1]));
  const back = times.filter((time, index) => index > 0 && time < times[index - 1] - DISORDER_MS).length;
  if (back !== timesBack) throw new Error(`${back} times back, of ${lines.length} lines`);
}

function withInfo(settings) {
  const changed = withMetrics(settings);
  return { ...changed, logging: { ...changed.logging, level: 'info' } };
}
