/** Client metadata as sent by a client: members of a JSON object by name and type (RFC 7591 2). */
import { LatchkeyError } from '#platform/base/errors.ts';

/** A value by language tag, with the untagged one under `""`. */
export type Localized = Readonly<Record<string, string>>;

const MAX_VARIANTS = 50;
const MAX_NAME_CHARACTERS = 255;
const MAX_SECONDS = 2_147_483_647;
/** Control characters, line separators and bidirectional formatting characters. */
const UNSHOWABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
/** Approximates BCP 47. */
const LANGUAGE_TAG = /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,7}$/;

/** `null` means that a member is absent (RFC 7592 2.2). */
export class MetadataMembers {
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(body: object) {
    // Uses a map instead of properties, because a name may be `__proto__`.
    this.#values = new Map(Object.entries(body).filter(([, value]) => value !== null));
  }

  get(name: string): unknown {
    return this.#values.get(name);
  }

  text(name: string): string | undefined {
    const value = this.#values.get(name);
    if (value !== undefined && typeof value !== 'string') throw invalidMetadata(name, 'must be a string');
    return value;
  }

  /** Reads a text that users may see. */
  shown(name: string): string | undefined {
    const text = this.text(name);
    if (text !== undefined) requireShowable(name, text);
    return text;
  }

  flag(name: string): boolean | undefined {
    const value = this.#values.get(name);
    if (value !== undefined && typeof value !== 'boolean') throw invalidMetadata(name, 'must be true or false');
    return value;
  }

  seconds(name: string): number | undefined {
    const value = this.#values.get(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > MAX_SECONDS) {
      throw invalidMetadata(name, 'must be a whole number of seconds');
    }
    return value;
  }

  strings(name: string): readonly string[] | undefined {
    const value = this.#values.get(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw invalidMetadata(name, 'must be a list of strings');
    return value.map((element: unknown) => {
      if (typeof element !== 'string') throw invalidMetadata(name, 'must be a list of strings');
      return element;
    });
  }

  choice<const Values extends readonly string[]>(name: string, values: Values): Values[number] | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const known = values.find((value) => value === text);
    if (known === undefined) throw invalidMetadata(name, `must be one of ${values.join(', ')}`);
    return known;
  }

  /** Reads a localized text that users may see. */
  shownLocalized(name: string): Localized | undefined {
    const variants = this.localized(name);
    for (const text of Object.values(variants ?? {})) requireShowable(name, text);
    return variants;
  }

  /** Reads a text with its variants `name#language-tag` (RFC 7591 2.2). */
  localized(name: string): Localized | undefined {
    const variants = new Map<string, string>();
    const seen = new Set<string>();
    for (const member of this.#values.keys()) {
      if (member !== name && !member.startsWith(`${name}#`)) continue;
      const tag = member.slice(name.length + 1);
      if (member !== name && !LANGUAGE_TAG.test(tag))
        throw invalidMetadata(name, 'has a variant without a valid language tag');
      if (seen.has(tag.toLowerCase())) throw invalidMetadata(name, 'has two variants for the same language');
      seen.add(tag.toLowerCase());
      variants.set(tag, this.text(member) ?? '');
    }
    if (variants.size === 0) return undefined;
    if (!variants.has('')) throw invalidMetadata(name, 'is also required without a language tag');
    if (variants.size > MAX_VARIANTS + 1) throw invalidMetadata(name, `must have at most ${MAX_VARIANTS} variants`);
    return Object.fromEntries(variants);
  }
}

/** Returns whether users see this text as it is. */
export function isShowable(text: string, maximumCharacters: number): boolean {
  return hasLength(text, maximumCharacters) && !UNSHOWABLE.test(text);
}

function hasLength(text: string, maximumCharacters: number): boolean {
  const { length } = [...text];
  return length > 0 && length <= maximumCharacters;
}

function requireShowable(name: string, text: string): void {
  if (!hasLength(text, MAX_NAME_CHARACTERS)) {
    throw invalidMetadata(name, `must have 1 to ${MAX_NAME_CHARACTERS} characters`);
  }
  if (UNSHOWABLE.test(text)) throw invalidMetadata(name, 'must not contain control characters');
}

/** @param details for the log */
export function invalidMetadata(
  name: string,
  problem: string,
  details: Readonly<Record<string, string>> = {},
): LatchkeyError {
  return new LatchkeyError('invalid_client_metadata', { description: `${name} ${problem}`, details });
}
