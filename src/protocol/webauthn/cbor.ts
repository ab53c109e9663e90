/**
 * The subset of CBOR that authenticators use: integers, byte and text strings, arrays, maps and simple values, all of
 * definite length. The cost is limited by the actual number of bytes, whatever lengths they claim.
 * @see RFC 8949, CTAP 2.1 section 8 (canonical encoding)
 */
export type CborValue = number | boolean | null | string | Buffer | readonly CborValue[] | CborMap;
export type CborMap = ReadonlyMap<string | number, CborValue>;

/** Nesting limit for authenticators (CTAP 2.1 section 8). */
const MAX_DEPTH = 4;

class Malformed extends Error {}

/**
 * Decodes the first item. The caller handles what follows.
 * @returns undefined if it is malformed, nested too deeply, has a duplicate key, or is of an unsupported type
 */
export function decodeCbor(bytes: Buffer): { readonly value: CborValue; readonly size: number } | undefined {
  const reader = new Reader(bytes);
  try {
    return { value: reader.item(0), size: reader.position };
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

class Reader {
  readonly #bytes: Buffer;
  position = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  item(depth: number): CborValue {
    if (depth > MAX_DEPTH) throw new Malformed();
    const initial = this.#take(1).readUInt8();
    const [major, info] = [initial >> 5, initial & 31];
    if (major === 7) return simple(info);
    const argument = this.#argument(info);
    switch (major) {
      case 0:
        return argument;
      case 1:
        return -1 - argument;
      case 2:
        return this.#take(argument);
      case 3:
        return this.#take(argument).toString();
      case 4:
        return this.#array(argument, depth + 1);
      case 5:
        return this.#map(argument, depth + 1);
      default:
        throw new Malformed();
    }
  }

  #array(length: number, depth: number): CborValue[] {
    this.#require(length);
    return Array.from({ length }, () => this.item(depth));
  }

  #map(length: number, depth: number): CborMap {
    this.#require(2 * length);
    const map = new Map<string | number, CborValue>();
    for (let index = 0; index < length; index += 1) {
      const key = this.item(depth);
      if ((typeof key !== 'string' && typeof key !== 'number') || map.has(key)) throw new Malformed();
      map.set(key, this.item(depth));
    }
    return map;
  }

  #argument(info: number): number {
    if (info < 24) return info;
    switch (info) {
      case 24:
        return this.#take(1).readUInt8();
      case 25:
        return this.#take(2).readUInt16BE();
      case 26:
        return this.#take(4).readUInt32BE();
      default:
        // Indefinite length, or larger than anything supported here.
        throw new Malformed();
    }
  }

  #take(count: number): Buffer {
    this.#require(count);
    this.position += count;
    return this.#bytes.subarray(this.position - count, this.position);
  }

  /** Each item takes at least one byte, so short input cannot claim a long list. */
  #require(count: number): void {
    if (count > this.#bytes.length - this.position) throw new Malformed();
  }
}

function simple(info: number): boolean | null {
  switch (info) {
    case 20:
      return false;
    case 21:
      return true;
    case 22:
      return null;
    default:
      throw new Malformed();
  }
}
