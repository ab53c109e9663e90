import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';
import { randomBytes } from './random.ts';

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HASH_BYTES = 32;

/**
 * Encryption keys derived from `secrets.encryption` with HKDF-SHA-256. Each purpose has its own label, so a value
 * sealed for one purpose cannot be opened for another. Previous root keys open values but never seal them. Do not store
 * derived keys: the root keys can change while the service runs.
 */
export class KeyRing {
  #current: Buffer;
  #previous: readonly Buffer[];
  readonly #derived = new Map<string, Buffer>();

  /** @param current 32 bytes; @param previous more 32-byte roots, only for opening */
  constructor(current: Buffer, previous: readonly Buffer[] = []) {
    this.#current = current;
    this.#previous = previous;
  }

  /** Replaces the root keys in place. @returns false if they are unchanged */
  replaceWith(current: Buffer, previous: readonly Buffer[]): boolean {
    const [before, after] = [
      [this.#current, ...this.#previous],
      [current, ...previous],
    ];
    if (before.length === after.length && before.every((root, index) => root.equals(after[index] ?? Buffer.alloc(0))))
      return false;
    this.#current = current;
    this.#previous = previous;
    this.#derived.clear();
    return true;
  }

  /** Returns a key ring with a different current root. */
  with(current: Buffer): KeyRing {
    return new KeyRing(current, [this.#current, ...this.#previous]);
  }

  /** Returns the 32-byte key for a purpose, derived from the current root. */
  derive(label: string): Buffer {
    return this.#deriveFrom(0, this.#current, label);
  }

  /**
   * Returns the keys for a purpose under every root, the current one first, to open values sealed with previous keys.
   */
  deriveAll(label: string): readonly Buffer[] {
    return [this.#current, ...this.#previous].map((root, index) => this.#deriveFrom(index, root, label));
  }

  /**
   * Expands the current root with HKDF-SHA-256, without the extract step (RFC 5869 2.3), as other servers derive keys.
   */
  expand(info: string, length: number): Buffer {
    const blocks: Buffer[] = [];
    let last: Buffer = Buffer.alloc(0);
    for (let count = 1; blocks.length * HASH_BYTES < length; count += 1) {
      last = createHmac('sha256', this.#current).update(last).update(info).update(Buffer.of(count)).digest();
      blocks.push(last);
    }
    return Buffer.concat(blocks).subarray(0, length);
  }

  /**
   * Encrypts with AES-256-GCM and a random nonce. Layout: version byte, nonce, tag, ciphertext.
   * @param associatedData context that the value is bound to, for example `table|column|row id`
   */
  seal(label: string, plaintext: Buffer | string, associatedData = ''): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.derive(label), nonce);
    cipher.setAAD(Buffer.from(associatedData));
    const sealed = Buffer.concat([cipher.update(plaintext), cipher.final()]);
    return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), sealed]);
  }

  /**
   * Returns the plaintext, or undefined if the value was not sealed with our keys for this label and associated data.
   */
  open(label: string, sealed: Buffer, associatedData = ''): Buffer | undefined {
    if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== VERSION) return undefined;
    const roots = [this.#current, ...this.#previous];
    for (const [index, root] of roots.entries()) {
      const opened = openWith(this.#deriveFrom(index, root, label), sealed, associatedData);
      if (opened !== undefined) return opened;
    }
    return undefined;
  }

  /** Reseals a value under the current root. `current`: it already is; `unreadable`: no root opens it. */
  reseal(label: string, sealed: Buffer, associatedData: string): Buffer | 'current' | 'unreadable' {
    if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== VERSION) return 'unreadable';
    if (openWith(this.derive(label), sealed, associatedData) !== undefined) return 'current';
    const opened = this.open(label, sealed, associatedData);
    return opened === undefined ? 'unreadable' : this.seal(label, opened, associatedData);
  }

  #deriveFrom(index: number, root: Buffer, label: string): Buffer {
    const name = `${index}|${label}`;
    const known = this.#derived.get(name);
    if (known !== undefined) return known;
    const key = Buffer.from(hkdfSync('sha256', root, Buffer.alloc(0), `latchkey/${label}`, 32));
    this.#derived.set(name, key);
    return key;
  }
}

function openWith(key: Buffer, sealed: Buffer, associatedData: string): Buffer | undefined {
  const tagStart = 1 + NONCE_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, tagStart), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(associatedData));
  decipher.setAuthTag(sealed.subarray(tagStart, tagStart + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(tagStart + TAG_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}
