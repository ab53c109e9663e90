/** Reads JSON (RFC 8259) that somebody typed: with the place of the first error, and the place of each member. */

export type JsonText =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** Offsets of the values, by JSON pointer (RFC 6901). */
      readonly places: ReadonlyMap<string, number>;
    }
  | { readonly ok: false; readonly offset: number; readonly error: JsonError };

export type JsonError =
  | { readonly kind: 'end' | 'escape' | 'control' | 'deep' }
  | { readonly kind: 'unexpected'; readonly found: string }
  /** The last one would silently replace the others. */
  | { readonly kind: 'duplicate'; readonly name: string };

/** As the admin API accepts. */
const MAX_DEPTH = 30;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

export function readJson(text: string): JsonText {
  const reader = new Reader(text);
  try {
    return { ok: true, value: reader.document(), places: reader.places };
  } catch (error) {
    if (error instanceof Found) return { ok: false, offset: error.offset, error: error.error };
    throw error;
  }
}

/** Returns the line and column of an offset, from 1. */
export function placeIn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

class Found extends Error {
  readonly offset: number;
  readonly error: JsonError;

  constructor(offset: number, error: JsonError) {
    super(error.kind);
    this.offset = offset;
    this.error = error;
  }
}

class Reader {
  readonly places = new Map<string, number>();
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): unknown {
    const value = this.#value('', 0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected();
    return value;
  }

  #value(pointer: string, depth: number): unknown {
    this.#skipSpace();
    this.places.set(pointer, this.#at);
    if (depth > MAX_DEPTH) throw new Found(this.#at, { kind: 'deep' });
    const first = this.#text[this.#at];
    if (first === '{') return this.#object(pointer, depth);
    if (first === '[') return this.#array(pointer, depth);
    if (first === '"') return this.#string();
    for (const [word, value] of WORDS) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    return Number(this.#match(NUMBER));
  }

  #object(pointer: string, depth: number): unknown {
    const members = new Map<string, unknown>();
    this.#at += 1;
    this.#skipSpace();
    if (this.#take('}')) return {};
    do {
      this.#skipSpace();
      const at = this.#at;
      if (this.#text[at] !== '"') throw this.#unexpected();
      const name = this.#string();
      if (members.has(name)) throw new Found(at, { kind: 'duplicate', name });
      this.#skipSpace();
      if (!this.#take(':')) throw this.#unexpected();
      members.set(name, this.#value(`${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1));
      this.#skipSpace();
    } while (this.#take(','));
    if (!this.#take('}')) throw this.#unexpected();
    return Object.fromEntries(members);
  }

  #array(pointer: string, depth: number): unknown {
    const items: unknown[] = [];
    this.#at += 1;
    this.#skipSpace();
    if (this.#take(']')) return items;
    do {
      items.push(this.#value(`${pointer}/${items.length}`, depth + 1));
      this.#skipSpace();
    } while (this.#take(','));
    if (!this.#take(']')) throw this.#unexpected();
    return items;
  }

  #string(): string {
    const start = this.#at;
    this.#at += 1;
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined) throw new Found(this.#at, { kind: 'end' });
      if (character < ' ') throw new Found(this.#at, { kind: 'control' });
      if (character === '"') break;
      if (character === '\\') {
        ESCAPE.lastIndex = this.#at;
        const sequence = ESCAPE.exec(this.#text)?.[0];
        if (sequence === undefined) throw new Found(this.#at, { kind: 'escape' });
        this.#at += sequence.length;
      } else this.#at += 1;
    }
    this.#at += 1;
    return String(JSON.parse(this.#text.slice(start, this.#at)));
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw this.#unexpected();
    this.#at += found.length;
    return found;
  }

  #take(character: string): boolean {
    const isThere = this.#text[this.#at] === character;
    if (isThere) this.#at += 1;
    return isThere;
  }

  #skipSpace(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #unexpected(): Found {
    const code = this.#text.codePointAt(this.#at);
    return new Found(
      this.#at,
      code === undefined ? { kind: 'end' } : { kind: 'unexpected', found: String.fromCodePoint(code) },
    );
  }
}

/** Formats data with its members in one order: the database does not keep the order in which they were sent. */
export function formatted(data: unknown): string {
  return JSON.stringify(sorted(data), null, 2);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const names = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(names.map(([name, member]) => [name, sorted(member)]));
}
