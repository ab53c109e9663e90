/**
 * Resolves the host names that the operator configured: database, mail server, homeserver, sign-in providers,
 * collectors. It uses the operating system's resolver, so that the hosts file, search domains and other settings of
 * `nsswitch.conf` apply. Querying name servers directly, as for untrusted names, would bypass them.
 *
 * A lookup occupies a thread of the process until the operating system gives up. If a name server does not respond,
 * this takes ten seconds and more, whatever the caller's timeout is. Libuv limits lookups to half of its threads, so
 * password hashes and file access continue. But a few unresolvable names would occupy all of that half and block
 * lookups that would succeed. Therefore each name has at most one lookup in progress, and only one of the names without
 * an answer is looked up at a time.
 *
 * Results are not cached, so the next connection notices a changed address.
 */
import { type LookupAddress, type LookupAllOptions, lookup as lookUpBySystem } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * After this time, further lookups of the same name fail immediately. If the first of two name servers is down, the
 * operating system asks the second after five seconds, so those lookups still succeed.
 */
const PATIENCE_MS = 6_000;
/** A name without an answer is retried after this time, even while another such name is being looked up. */
const MAX_REST_MS = 30_000;

type Found = (error: NodeJS.ErrnoException | null, addresses?: LookupAddress[]) => void;

/** Like `dns.lookup` with `all`. */
export type SystemLookup = (hostname: string, options: LookupAllOptions, found: Found) => void;

interface InProgress {
  readonly startedAt: number;
  readonly waiting: Found[];
}

export class HostNames {
  readonly #ask: SystemLookup;
  readonly #now: () => number;
  readonly #inProgress = new Map<string, InProgress>();
  /** Names whose last lookup was slow and failed, with the time at which it ended. */
  readonly #unanswered = new Map<string, number>();

  constructor(ask: SystemLookup, now: () => number) {
    this.#ask = ask;
    this.#now = now;
  }

  readonly lookup: LookupFunction = (hostname, options, callback) => {
    const found: Found = (error, addresses = []) => {
      const [first] = addresses;
      if (error !== null || first === undefined) callback(error ?? noRecords(hostname), '');
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    };
    const requested = { ...options, all: true } as const;
    const key = `${hostname} ${JSON.stringify(requested)}`;
    const now = this.#now();
    const inProgress = this.#inProgress.get(key);
    if (inProgress === undefined ? this.#rests(key, now) : isLate(inProgress, now)) {
      process.nextTick(found, noRecords(hostname));
      return;
    }
    if (inProgress !== undefined) {
      inProgress.waiting.push(found);
      return;
    }
    const started: InProgress = { startedAt: now, waiting: [found] };
    this.#inProgress.set(key, started);
    this.#ask(hostname, requested, (error, addresses) => {
      this.#inProgress.delete(key);
      const ended = this.#now();
      if (error !== null && isLate(started, ended)) this.#unanswered.set(key, ended);
      else this.#unanswered.delete(key);
      for (const tell of started.waiting) tell(error, addresses);
    });
  };

  /** Returns whether the name recently had no answer and another such name is being looked up. */
  #rests(key: string, now: number): boolean {
    const endedAt = this.#unanswered.get(key);
    if (endedAt === undefined || now - endedAt > MAX_REST_MS) return false;
    return [...this.#inProgress].some(([other, inProgress]) => this.#unanswered.has(other) || isLate(inProgress, now));
  }
}

function isLate({ startedAt }: InProgress, now: number): boolean {
  return now - startedAt > PATIENCE_MS;
}

/** The error that the operating system returns if no name server responds. */
function noRecords(hostname: string): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`no DNS server responded for ${hostname}`);
  return Object.assign(error, { code: 'EAI_AGAIN', syscall: 'getaddrinfo', hostname });
}

/** Lookup function for every connection of this process to a host name. */
export const lookUpHost: LookupFunction = new HostNames(lookUpBySystem, () => performance.now()).lookup;
