/** Values by texts, of which those that were used last are kept up to a total length. */
export class RecentTexts<Value> {
  readonly #maxCharacters: number;
  /** The one that was used last is at the end. */
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

  /** @param further characters that the value takes beside the text */
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
