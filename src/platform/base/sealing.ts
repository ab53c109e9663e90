import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { randomBytes } from './random.ts';

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Keys derived from `secrets.encryption` by HKDF-SHA-256 with one label per purpose, so that a value sealed for one
 * purpose opens for no other. Previous root keys open but never seal. Roots may be replaced while the service runs, so
 * nobody keeps a derived key.
 */
export class KeyRing {
  #current: Buffer;
  #previous: readonly Buffer[];
  readonly #derived = new Map<string, Buffer>();

  /** @param current 32 bytes; @param previous further 32-byte roots, for opening only */
  constructor(current: Buffer, previous: readonly Buffer[] = []) {
    this.#current = current;
    this.#previous = previous;
  }

  /** Takes over other roots, in place. @returns false when they are the same */
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

  /** A ring with another root that seals. */
  with(current: Buffer): KeyRing {
    return new KeyRing(current, [this.#current, ...this.#previous]);
  }

  /** The 32-byte key for a purpose, under the current root. */
  derive(label: string): Buffer {
    return this.#deriveFrom(0, this.#current, label);
  }

  /** The keys for a purpose under every root, the current one first: for what former keys produced. */
  deriveAll(label: string): readonly Buffer[] {
    return [this.#current, ...this.#previous].map((root, index) => this.#deriveFrom(index, root, label));
  }

  /**
   * AES-256-GCM with a random nonce. Layout: version byte, nonce, tag, ciphertext.
   * @param associatedData what the value is bound to, for example `table|column|row id`
   */
  seal(label: string, plaintext: Buffer | string, associatedData = ''): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.derive(label), nonce);
    cipher.setAAD(Buffer.from(associatedData));
    const sealed = Buffer.concat([cipher.update(plaintext), cipher.final()]);
    return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), sealed]);
  }

  /** The plaintext, or undefined when the value was not sealed by us for this label and data. */
  open(label: string, sealed: Buffer, associatedData = ''): Buffer | undefined {
    if (sealed.length < 1 + NONCE_BYTES + TAG_BYTES || sealed[0] !== VERSION) return undefined;
    const roots = [this.#current, ...this.#previous];
    for (const [index, root] of roots.entries()) {
      const opened = openWith(this.#deriveFrom(index, root, label), sealed, associatedData);
      if (opened !== undefined) return opened;
    }
    return undefined;
  }

  /**
   * The same value sealed under the current root. `current`: it is already; `unreadable`: none of the roots opens it.
   */
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
