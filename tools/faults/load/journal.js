import { Unanswered } from './requests.js';

const AT_ONCE = 8;

/**
 * Records what users and clients were told, before the next request is sent. A fact can be checked against the service
 * and is true or false: a token works, a user can sign in with a password, a browser is signed in. A change without a
 * response leaves its facts open: either all of them are as before, or all as after it.
 */
export class Journal {
  /** `{ fact, isTrue }` by key of the fact. */
  #known = new Map();
  /** `{ what, before, after }`; both are lists of `[fact, isTrue]`. */
  #open = [];
  /** Keys of expired facts. */
  #over = new Set();

  /** @param facts `{ key, ask }` each */
  know(isTrue, ...facts) {
    for (const fact of facts) if (!this.#over.has(fact.key)) this.#known.set(fact.key, { fact, isTrue });
  }

  /** The facts can no longer be predicted. */
  forget(...facts) {
    for (const { key } of facts) this.#known.delete(key);
  }

  /** Facts of changes without a response. */
  get openFacts() {
    return this.#open.flatMap(({ after }) => after.map(([fact]) => fact));
  }

  /** Ignores the facts from now on, even if a change of them is in progress. */
  drop(...facts) {
    this.forget(...facts);
    for (const { key } of facts) this.#over.add(key);
  }

  /** Returns the entry of a fact, a new object after each change. */
  entry({ key }) {
    return this.#known.get(key);
  }

  /**
   * @param kind first part of the key
   * @returns the `fact` of all entries of a kind
   */
  facts(kind, isTrue) {
    return [...this.#known.values()]
      .filter(({ fact, isTrue: value }) => fact.key.startsWith(`${kind} `) && value === isTrue)
      .map(({ fact }) => fact);
  }

  /**
   * Sends a request that changes facts.
   * @param after `[fact, isTrue]` of each once it is acknowledged
   */
  async change(what, after, send) {
    const before = after.flatMap(([fact]) => {
      const entry = this.entry(fact);
      return entry === undefined ? [] : [[fact, entry.isTrue]];
    });
    this.forget(...after.map(([fact]) => fact));
    try {
      const answer = await send();
      for (const [fact, isTrue] of after) this.know(isTrue, fact);
      return answer;
    } catch (error) {
      if (error instanceof Unanswered && !error.wasSent) for (const [fact, isTrue] of before) this.know(isTrue, fact);
      else this.#open.push({ what, before, after });
      throw error;
    }
  }

  /**
   * Checks every fact against the service.
   * @returns the number of facts compared, and the violations
   */
  async compare(requests) {
    const faults = [];
    let compared = 0;
    const ask = async (fact) => {
      compared += 1;
      return await fact.ask(requests);
    };
    await forEach([...this.#known.values()], async ({ fact, isTrue }) => {
      if ((await ask(fact)) !== isTrue) {
        const [kind, name] = fact.key.split(' ');
        faults.push(isTrue ? `lost: ${kind} ${name}` : `it works again: ${kind} ${name}`);
      }
    });
    await forEach(this.#open.splice(0), async ({ what, before, after }) => {
      const found = new Map();
      for (const [fact] of after) if (!this.#over.has(fact.key)) found.set(fact, await ask(fact));
      const holds = (facts) => facts.every(([fact, isTrue]) => !found.has(fact) || found.get(fact) === isTrue);
      if (!holds(before) && !holds(after)) {
        faults.push(`half done: ${what}: ${[...found].map(([{ key }, is]) => `${key.slice(0, 24)}=${is}`).join(', ')}`);
      }
      for (const [fact, isTrue] of found) this.know(isTrue, fact);
    });
    return { compared, faults };
  }
}

async function forEach(items, work) {
  const waiting = items.values();
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (const item of waiting) await work(item);
  });
  await Promise.all(workers);
}
