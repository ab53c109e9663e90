/** Meaning of file names in a directory of signing keys (`secrets.keys_dir`, and `keys/` in the data directory). */

/** Returns false for hidden files, editor backups, unfinished files and public keys. */
export function isKeyFileName(name: string): boolean {
  return !name.startsWith('.') && !/(?:~|\.tmp|\.pub)$/.test(name);
}

const STAGED_NAME = /^(.*)\.(next|old)(\.[^./]*)?$/;

/** Returns true if the key is published but does not sign: the next key or a replaced one. */
export function isPublishedOnly(name: string): boolean {
  return STAGED_NAME.test(name);
}

export interface KeyFileName {
  /** Without stage and extension: `rsa-2048` of `rsa-2048.next.pem`. */
  readonly stem: string;
  readonly stage: 'active' | 'next' | 'old';
  /** Includes the dot; empty if there is none. */
  readonly extension: string;
}

export function parseKeyFileName(name: string): KeyFileName {
  const [, stem, stage, extension = ''] = STAGED_NAME.exec(name) ?? [];
  if (stem !== undefined) return { stem, stage: stage === 'next' ? 'next' : 'old', extension };
  const dot = name.lastIndexOf('.');
  return dot <= 0
    ? { stem: name, stage: 'active', extension: '' }
    : { stem: name.slice(0, dot), stage: 'active', extension: name.slice(dot) };
}
