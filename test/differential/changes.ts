import fc from 'fast-check';

/** One damage to bytes. */
export interface Change {
  readonly kind: 'none' | 'replace' | 'insert' | 'cut';
  /** Fraction of the length. */
  readonly at: number;
  readonly byte: number;
}

export const changes: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('none', 'none', 'replace', 'insert', 'cut'),
  at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  byte: fc.oneof(fc.nat(255), fc.constantFrom(0x00, 0x1b, 0x5f, 0x81, 0x9f, 0xa1, 0xbf, 0xff)),
});

export function changed(bytes: Buffer, { kind, at, byte }: Change): Buffer {
  const index = Math.floor(at * bytes.length);
  const [before, after] = [bytes.subarray(0, index), bytes.subarray(index)];
  if (kind === 'replace') return Buffer.concat([before, Buffer.from([byte]), after.subarray(1)]);
  if (kind === 'insert') return Buffer.concat([before, Buffer.from([byte]), after]);
  return kind === 'cut' ? before : bytes;
}
