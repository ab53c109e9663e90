/** Map keyed by text that evicts the least recently used entries beyond a total length. */
export class RecentTexts<Value> {
  readonly #maxCharacters: number;
  /** Ordered by last use. The most recently used entry is last. */
  readonly #values = new Map<string, { readonly value: Value; readonly characters: number }>();
  #characters = 0;

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  find(text: string): Value | undefined {
    const found = this.#values.get(text);
    if (found === undefined) return undefined;
    this.#values.delete(text);
    this.#values.set(text, found);
    return found.value;
  }

  /** @param further characters that the value takes in addition to the text */
  keep(text: string, value: Value, further = 0): void {
    if (this.#values.has(text)) return;
    const characters = text.length + further;
    this.#values.set(text, { value, characters });
    this.#characters += characters;
    for (const [oldest, entry] of this.#values) {
      if (this.#characters <= this.#maxCharacters) return;
      this.#values.delete(oldest);
      this.#characters -= entry.characters;
    }
  }
}
