/** What the name of a file in a directory of signing keys says (`secrets.keys_dir`, and `keys/` of the data directory). */

/** Hidden files, copies of editors, unfinished ones and public keys are left alone. */
export function isKeyFileName(name: string): boolean {
  return !name.startsWith('.') && !/(?:~|\.tmp|\.pub)$/.test(name);
}

const STAGED_NAME = /^(.*)\.(next|old)(\.[^./]*)?$/;

/** Whether the key is published and signs nothing: the next one, or one that was replaced. */
export function isPublishedOnly(name: string): boolean {
  return STAGED_NAME.test(name);
}

export interface KeyFileName {
  /** Without stage and extension: `rsa-2048` of `rsa-2048.next.pem`. */
  readonly stem: string;
  readonly stage: 'active' | 'next' | 'old';
  /** With its dot; empty for none. */
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
