/** Inputs in the order in which they were put back. An input in use is never given out twice. */
export class Pool {
  #items;
  #first = 0;

  constructor(items) {
    this.#items = items;
  }

  take() {
    if (this.#first === this.#items.length) throw new Error('more requests at once than inputs');
    const item = this.#items[this.#first];
    this.#first += 1;
    if (this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }

  putBack(item) {
    this.#items.push(item);
  }
}
