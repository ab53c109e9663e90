import { hash, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

const MARK = '[secret]';

/** A value that must not leak into logs, dumps or error messages: it prints as `[secret]`. */
export class Secret {
  readonly #value: string;
  #digest: Buffer | undefined;

  constructor(value: string) {
    this.#value = value;
  }

  /** Returns the value. Call it only where the value is used. */
  reveal(): string {
    return this.#value;
  }

  get isEmpty(): boolean {
    return this.#value === '';
  }

  /** Compares with a text in constant time. */
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

/** SHA-256 of a text. The one-shot function is three times as fast as a `Hash` object. */
export function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** Compares two texts in constant time. */
export function equalSecrets(left: string, right: string): boolean {
  return timingSafeEqual(sha256(left), sha256(right));
}

/** Compares two digests in constant time. Returns false if their lengths differ. */
export function equalDigests(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
