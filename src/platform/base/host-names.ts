/**
 * Addresses of the hosts that the operator has named: database, mail server, homeserver, sign-in providers, collectors. The
 * operating system looks them up, so that the hosts file, search domains and everything else of `nsswitch.conf` has its
 * say; asking the name servers ourselves, as for the names of strangers, would pass over all of these.
 *
 * A look-up holds a thread of the process until the operating system gives up, which takes ten seconds and more when a
 * name server says nothing, whatever time its caller has. Libuv lets look-ups have half of the threads at most, so that
 * password hashes and files go on; but a few names without an answer would hold all of that half, and those that have one
 * would wait in vain. Therefore a name is looked up once at a time, and of names that got no answer only one.
 *
 * Nothing is kept: a name that has another address is found there by the next connection.
 */
import { type LookupAddress, type LookupAllOptions, lookup as lookUpBySystem } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * A look-up that takes longer is in vain. Where the first of two name servers is gone, each one is answered after the five
 * seconds after which the operating system asks the second.
 */
const PATIENCE_MS = 6_000;
/** After that time a name is asked for again although others without an answer are. */
const MAX_REST_MS = 30_000;

type Found = (error: NodeJS.ErrnoException | null, addresses?: LookupAddress[]) => void;

/** As `dns.lookup` with `all`. */
export type SystemLookup = (hostname: string, options: LookupAllOptions, found: Found) => void;

interface UnderWay {
  readonly startedAt: number;
  readonly waiting: Found[];
}

export class HostNames {
  readonly #ask: SystemLookup;
  readonly #now: () => number;
  readonly #underWay = new Map<string, UnderWay>();
  /** Names whose last look-up took too long and failed, and when it ended. */
  readonly #unanswered = new Map<string, number>();

  constructor(ask: SystemLookup, now: () => number) {
    this.#ask = ask;
    this.#now = now;
  }

  readonly lookup: LookupFunction = (hostname, options, callback) => {
    const found: Found = (error, addresses = []) => {
      const [first] = addresses;
      if (error !== null || first === undefined) callback(error ?? noAnswer(hostname), '');
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    };
    const asked = { ...options, all: true } as const;
    const key = `${hostname} ${JSON.stringify(asked)}`;
    const now = this.#now();
    const underWay = this.#underWay.get(key);
    if (underWay === undefined ? this.#rests(key, now) : isLate(underWay, now)) {
      process.nextTick(found, noAnswer(hostname));
      return;
    }
    if (underWay !== undefined) {
      underWay.waiting.push(found);
      return;
    }
    const started: UnderWay = { startedAt: now, waiting: [found] };
    this.#underWay.set(key, started);
    this.#ask(hostname, asked, (error, addresses) => {
      this.#underWay.delete(key);
      const ended = this.#now();
      if (error !== null && isLate(started, ended)) this.#unanswered.set(key, ended);
      else this.#unanswered.delete(key);
      for (const tell of started.waiting) tell(error, addresses);
    });
  };

  /** Whether it got no answer lately, and another name without an answer is being looked up. */
  #rests(key: string, now: number): boolean {
    const endedAt = this.#unanswered.get(key);
    if (endedAt === undefined || now - endedAt > MAX_REST_MS) return false;
    return [...this.#underWay].some(([other, underWay]) => this.#unanswered.has(other) || isLate(underWay, now));
  }
}

function isLate({ startedAt }: UnderWay, now: number): boolean {
  return now - startedAt > PATIENCE_MS;
}

/** What the operating system says when no name server answers. */
function noAnswer(hostname: string): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`no name server answers for ${hostname}`);
  return Object.assign(error, { code: 'EAI_AGAIN', syscall: 'getaddrinfo', hostname });
}

/** For every connection that this process opens by a name. */
export const lookUpHost: LookupFunction = new HostNames(lookUpBySystem, () => performance.now()).lookup;
