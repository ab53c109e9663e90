import type { LookupAddress, LookupAllOptions, LookupOptions } from 'node:dns';
import { describe, expect, test } from 'vitest';
import { HostNames } from './host-names.ts';

interface Requested {
  readonly hostname: string;
  readonly options: LookupAllOptions;
  readonly answer: (error: NodeJS.ErrnoException | null, addresses?: LookupAddress[]) => void;
}

const ADDRESS = { address: '192.0.2.1', family: 4 };
const OTHER_ADDRESS = { address: '2001:db8::1', family: 6 };
const NO_RESPONSE = { code: 'EAI_AGAIN', syscall: 'getaddrinfo' };

/** A fake resolver that answers on demand, with a clock that the test advances. */
class System {
  readonly asked: Requested[] = [];
  seconds = 0;
  readonly #names = new HostNames(
    (hostname, options, response) => this.asked.push({ hostname, options, answer: response }),
    () => this.seconds * 1000,
  );

  lookUp(hostname: string, options: LookupOptions = { all: true }): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#names.lookup(hostname, options, (error, address, family) => {
        if (error !== null) reject(error);
        else resolve(family === undefined ? address : [address, family]);
      });
    });
  }

  /** Host names of the pending lookups. */
  get hostnames(): readonly string[] {
    return this.asked.map(({ hostname }) => hostname);
  }

  /** Answers the oldest pending lookup. */
  answer(...response: Parameters<Requested['answer']>): void {
    this.asked.shift()?.answer(...response);
  }

  /** Looks up a name and fails the lookup after ten seconds. */
  async failSlowly(hostname: string): Promise<void> {
    const looking = this.lookUp(hostname);
    this.seconds += 10;
    this.answer(Object.assign(new Error(), NO_RESPONSE));
    await expect(looking).rejects.toMatchObject(NO_RESPONSE);
  }
}

describe('result of a lookup', () => {
  test('returns all addresses, or the first one with its family, as requested', async () => {
    const system = new System();
    const all = system.lookUp('db.example');
    const one = system.lookUp('db.example', { family: 4, hints: 1 });
    expect(system.asked.map(({ options }) => options)).toEqual([{ all: true }, { family: 4, hints: 1, all: true }]);
    system.answer(null, [ADDRESS, OTHER_ADDRESS]);
    system.answer(null, [ADDRESS]);
    expect(await all).toEqual([ADDRESS, OTHER_ADDRESS]);
    expect(await one).toEqual(['192.0.2.1', 4]);
  });

  test('returns the error of the operating system', async () => {
    const system = new System();
    const looking = system.lookUp('no.example');
    system.answer(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }));
    await expect(looking).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  test('returns the new address once the name has changed: nothing is cached', async () => {
    const system = new System();
    for (const address of [ADDRESS, OTHER_ADDRESS]) {
      const looking = system.lookUp('db.example');
      system.answer(null, [address]);
      expect(await looking).toEqual([address]);
    }
  });
});

describe('F-20: names without an answer', () => {
  test('simultaneous requests for a name share one lookup', async () => {
    const system = new System();
    const looking = Array.from({ length: 50 }, () => system.lookUp('db.example'));
    expect(system.hostnames).toEqual(['db.example']);
    system.answer(null, [ADDRESS]);
    expect(new Set((await Promise.all(looking)).flat())).toEqual(new Set([ADDRESS]));
  });

  test('a slow lookup is awaited by the callers that started it and fails immediately for others', async () => {
    const system = new System();
    const first = system.lookUp('db.example');
    system.seconds += 5;
    const second = system.lookUp('db.example');
    system.seconds += 2;
    await expect(system.lookUp('db.example')).rejects.toMatchObject({ ...NO_RESPONSE, hostname: 'db.example' });
    expect(system.hostnames).toEqual(['db.example']);
    system.answer(null, [ADDRESS]);
    expect(await Promise.all([first, second])).toEqual([[ADDRESS], [ADDRESS]]);
  });

  test('are looked up one at a time, and names that resolve do not wait for them', async () => {
    const system = new System();
    await system.failSlowly('mail.example');
    await system.failSlowly('chat.example');
    const again = system.lookUp('mail.example');
    await expect(system.lookUp('chat.example')).rejects.toMatchObject(NO_RESPONSE);
    const other = system.lookUp('db.example');
    expect(system.hostnames).toEqual(['mail.example', 'db.example']);
    system.answer(null, [ADDRESS]);
    system.answer(null, [ADDRESS]);
    expect(await Promise.all([again, other])).toEqual([[ADDRESS], [ADDRESS]]);
    // After an answer, both names are treated like all others.
    const both = [system.lookUp('mail.example'), system.lookUp('chat.example')];
    expect(system.hostnames).toEqual(['mail.example', 'chat.example']);
    system.answer(null, [ADDRESS]);
    system.answer(null, [ADDRESS]);
    await Promise.all(both);
  });

  test('names resolved only by the second of two name servers are looked up like all others', async () => {
    const system = new System();
    for (const _round of [1, 2]) {
      const both = [system.lookUp('mail.example'), system.lookUp('chat.example')];
      expect(system.hostnames).toEqual(['mail.example', 'chat.example']);
      system.seconds += 7;
      system.answer(null, [ADDRESS]);
      system.answer(null, [OTHER_ADDRESS]);
      expect(await Promise.all(both)).toEqual([[ADDRESS], [OTHER_ADDRESS]]);
    }
  });

  test('a name is looked up again after half a minute, even while another one never gets an answer', async () => {
    const system = new System();
    await system.failSlowly('mail.example');
    await system.failSlowly('chat.example');
    const lost = system.lookUp('mail.example');
    system.seconds += 31;
    const looking = system.lookUp('chat.example');
    expect(system.hostnames).toEqual(['mail.example', 'chat.example']);
    system.asked[1]?.answer(null, [ADDRESS]);
    expect(await looking).toEqual([ADDRESS]);
    system.answer(Object.assign(new Error(), NO_RESPONSE));
    await expect(lost).rejects.toMatchObject(NO_RESPONSE);
  });
});
