import { setTimeout as pause } from 'node:timers/promises';

const POLL_MS = 500;
/** Twice `limits.max_db_waiters`: requests and background work have separate pools. */
const MAX_WAITING = 400;
/** Half of `MAX_WAITING`, the requests sent before the rate is known or completed within two seconds, and the users. */
const MAX_ACTIVE = 600;
const MAX_GROWTH_MB = 100;
/** Half of a collector's timeout. */
const MAX_SCRAPE_MS = 5_000;

/** Gauges of the instances; the worst value counts. */
export class Gauges {
  #bases;
  #first;
  #most = { waiting: 0, active: 0, megabytes: 0 };

  constructor(bases) {
    this.#bases = bases;
  }

  async watch(seconds) {
    const endsAt = performance.now() + seconds * 1_000;
    do {
      const now = await this.read();
      this.#first ??= now;
      for (const name of Object.keys(now)) this.#most[name] = Math.max(this.#most[name], now[name]);
      await pause(POLL_MS);
    } while (performance.now() < endsAt);
  }

  async read() {
    const pages = await Promise.all(
      this.#bases.map(async (base) =>
        (await fetch(`${base}metrics`, { signal: AbortSignal.timeout(MAX_SCRAPE_MS) })).text(),
      ),
    );
    const worst = (name) => Math.max(...pages.map((page) => sumOf(page, name)));
    return {
      waiting: worst('db_pool_waiting'),
      active: worst('http_server_active_requests'),
      megabytes: Math.round(worst('process_resident_memory_bytes') / 1e6),
    };
  }

  require() {
    const { waiting, active, megabytes } = this.#most;
    if (waiting > MAX_WAITING) throw new Error(`${waiting} waited for a connection`);
    if (active > MAX_ACTIVE) throw new Error(`${active} requests at once`);
    if (megabytes > this.#first.megabytes + MAX_GROWTH_MB) throw new Error(`${megabytes} MB`);
  }

  toString() {
    const { waiting, active, megabytes } = this.#most;
    return `at most ${active} requests at once, ${waiting} waited, ${this.#first.megabytes} to ${megabytes} MB`;
  }
}

function sumOf(page, name) {
  const values = page.match(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm')) ?? [];
  return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}
