import type * as Argon2 from '@node-rs/argon2';

/** Calls to `@node-rs/argon2`, for test files that replace the package with `countedArgon2` through `vi.mock`. */
export const hashes = {
  /** Parameters of each started hash: `$argon2id$v=19$m=…,t=…,p=…`. */
  started: [] as string[],
  running: 0,
  /** Maximum number of concurrent hashes. */
  most: 0,
};

/** Wraps the package and counts its calls. */
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
