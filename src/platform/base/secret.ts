import { createHash, hash, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

const MARK = '[secret]';

/** A value that must not reach a log, a dump or an error text by accident: it prints as `[secret]`. */
export class Secret {
  readonly #value: string;
  #digest: Buffer | undefined;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself; call it only where the value is used. */
  reveal(): string {
    return this.#value;
  }

  get isEmpty(): boolean {
    return this.#value === '';
  }

  /** Compares with a text without telling by its duration where they differ. */
  matches(text: string): boolean {
    this.#digest ??= sha256(this.#value);
    return timingSafeEqual(sha256(text), this.#digest);
  }

  toString(): string {
    return MARK;
  }

  toJSON(): string {
    return MARK;
  }

  [inspect.custom](): string {
    return MARK;
  }
}

/** SHA-256 of a text; one-shot where the runtime has it, which is three times as fast. */
export function sha256(text: string): Buffer {
  return typeof hash === 'function' ? hash('sha256', text, 'buffer') : createHash('sha256').update(text).digest();
}

/** Compares two texts without telling by its duration where they differ. */
export function equalSecrets(left: string, right: string): boolean {
  return timingSafeEqual(sha256(left), sha256(right));
}

/** Compares two digests of equal length in constant time; false when the lengths differ. */
export function equalDigests(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
