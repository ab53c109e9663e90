/**
 * Parameters of a query string or a form body (`application/x-www-form-urlencoded`, UTF-8). An empty value counts as
 * absent (RFC 6749 3.1). Repeated names are recorded, since most parameters must not be repeated.
 */
export class FormParameters {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  private constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.#values = values;
  }

  /**
   * Decodes a query string or form. Returns undefined if it contains invalid percent-encoding, invalid UTF-8, a NUL
   * character, or more than `maxFields` fields.
   */
  static parse(text: string, maxFields = 100): FormParameters | undefined {
    const values = new Map<string, string[]>();
    if (text === '') return new FormParameters(values);
    const pairs = text.split('&', maxFields + 1);
    if (pairs.length > maxFields) return undefined;
    for (const pair of pairs) {
      if (pair === '') continue;
      const equals = pair.indexOf('=');
      const name = decode(equals === -1 ? pair : pair.slice(0, equals));
      const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
      if (name === undefined || value === undefined) return undefined;
      const known = values.get(name);
      if (known === undefined) values.set(name, [value]);
      else known.push(value);
    }
    return new FormParameters(values);
  }

  static of(fields: Readonly<Record<string, string | readonly string[]>>): FormParameters {
    const values = Object.entries(fields).map(
      ([name, value]) => [name, typeof value === 'string' ? [value] : value] as const,
    );
    return new FormParameters(new Map(values));
  }

  /** Returns the first value, or undefined if it is absent or empty. */
  get(name: string): string | undefined {
    const value = this.#values.get(name)?.[0];
    return value === '' ? undefined : value;
  }

  /** Returns all non-empty values in order. */
  all(name: string): readonly string[] {
    return (this.#values.get(name) ?? []).filter((value) => value !== '');
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** Returns whether the name is present without a value, which `get` and `all` treat as absent. */
  isBlank(name: string): boolean {
    return this.#values.get(name)?.includes('') ?? false;
  }

  isRepeated(name: string): boolean {
    return (this.#values.get(name)?.length ?? 0) > 1;
  }

  /** Returns the first repeated name that is not in `allowed`. */
  firstRepeated(allowed: ReadonlySet<string> = new Set()): string | undefined {
    for (const [name, values] of this.#values) if (values.length > 1 && !allowed.has(name)) return name;
    return undefined;
  }

  names(): Iterable<string> {
    return this.#values.keys();
  }
}

const PLAIN = /^[A-Za-z0-9\-._~*!'()/:@,;$?]*$/;

function decode(text: string): string | undefined {
  if (PLAIN.test(text)) return text;
  try {
    const decoded = decodeURIComponent(text.replaceAll('+', ' '));
    return decoded.includes('\0') ? undefined : decoded;
  } catch {
    return undefined;
  }
}
