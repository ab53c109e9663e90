/**
 * SHA-256 (FIPS 180-4). Browsers offer it only on https and on localhost; a trial at home may run on plain http in the
 * local network.
 */
export async function sha256(text: string): Promise<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  // Undefined outside of secure contexts, which the type does not say.
  const subtle: SubtleCrypto | undefined = crypto.subtle;
  return subtle === undefined ? digest(bytes) : new Uint8Array(await subtle.digest('SHA-256', bytes));
}

const BLOCK = 64;
const ROUNDS = 64;

/** The first 32 bits of the fractional parts of the cube or square roots of the first primes. */
function constants(count: number, root: number): number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate += 1) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) if (candidate % divisor === 0) isPrime = false;
    if (isPrime) found.push((candidate ** (1 / root) % 1) * 2 ** 32);
  }
  return found.map((value) => value | 0);
}

/** @public for its test */
export function digest(bytes: Uint8Array): Uint8Array {
  const k = constants(ROUNDS, 3);
  const state = constants(8, 2);
  const padded = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK));
  for (const [index, byte] of bytes.entries()) padded.setUint8(index, byte);
  padded.setUint8(bytes.length, 0x80);
  padded.setUint32(padded.byteLength - 4, bytes.length * 8);
  const w = new Int32Array(ROUNDS);
  const at = (list: ArrayLike<number>, index: number) => list[index] ?? 0;
  const turned = (value: number, by: number) => (value >>> by) | (value << (32 - by));
  for (let start = 0; start < padded.byteLength; start += BLOCK) {
    for (let i = 0; i < ROUNDS; i += 1) {
      if (i < 16) w[i] = padded.getInt32(start + i * 4);
      else {
        const [early, late] = [at(w, i - 15), at(w, i - 2)];
        const first = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3);
        const second = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10);
        w[i] = at(w, i - 16) + first + at(w, i - 7) + second;
      }
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (let i = 0; i < ROUNDS; i += 1) {
      const choice = (e & f) ^ (~e & g);
      const one = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + choice + at(k, i) + at(w, i)) | 0;
      const majority = (a & b) ^ (a & c) ^ (b & c);
      const two = ((turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + majority) | 0;
      [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
    }
    for (const [index, value] of [a, b, c, d, e, f, g, h].entries()) state[index] = (at(state, index) + value) | 0;
  }
  const result = new DataView(new ArrayBuffer(32));
  for (const [index, value] of state.entries()) result.setInt32(index * 4, value);
  return new Uint8Array(result.buffer);
}
