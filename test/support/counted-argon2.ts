import type * as Argon2 from '@node-rs/argon2';

/** What is computed by `@node-rs/argon2`, for a test file that puts `countedArgon2` in its place by `vi.mock`. */
export const hashes = {
  /** Started so far, each with its costs: `$argon2id$v=19$m=…,t=…,p=…`. */
  started: [] as string[],
  running: 0,
  /** How many ran at the same moment. */
  most: 0,
};

/** The package itself, counted. */
export function countedArgon2(argon2: typeof Argon2): typeof Argon2 {
  return {
    ...argon2,
    verify: (stored, password, options) =>
      counted(String(stored).split('$', 4).join('$'), () => argon2.verify(stored, password, options)),
    hash: (password, options) => counted('hash', () => argon2.hash(password, options)),
  };
}

async function counted<T>(costs: string, work: () => Promise<T>): Promise<T> {
  hashes.started.push(costs);
  hashes.running += 1;
  hashes.most = Math.max(hashes.most, hashes.running);
  try {
    return await work();
  } finally {
    hashes.running -= 1;
  }
}
