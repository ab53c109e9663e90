import { describe, expect, test } from 'vitest';
import { randomBytes } from './random.ts';
import { KeyRing } from './sealing.ts';

const root = randomBytes(32);
const ring = new KeyRing(root);

describe('sealed values', () => {
  test('open for the purpose and the row that they were sealed for', () => {
    const sealed = ring.seal('column', 'value', 'table|column|1');
    expect(ring.open('column', sealed, 'table|column|1')?.toString()).toBe('value');
  });

  test('a ciphertext moved to another row, purpose or key does not open (R-06)', () => {
    const sealed = ring.seal('column', 'value', 'table|column|1');
    expect(ring.open('column', sealed, 'table|column|2')).toBeUndefined();
    expect(ring.open('cookie/session', sealed, 'table|column|1')).toBeUndefined();
    expect(new KeyRing(randomBytes(32)).open('column', sealed, 'table|column|1')).toBeUndefined();
  });

  test('any flipped bit or truncation is rejected', () => {
    const sealed = ring.seal('column', 'value');
    for (let index = 0; index < sealed.length; index += 1) {
      const flipped = Buffer.from(sealed);
      flipped.writeUInt8(flipped.readUInt8(index) ^ 1, index);
      expect(ring.open('column', flipped)).toBeUndefined();
      expect(ring.open('column', sealed.subarray(0, index))).toBeUndefined();
    }
  });

  test('a value sealed under a previous root still opens, new values use the current root', () => {
    const next = new KeyRing(randomBytes(32), [root]);
    expect(next.open('column', ring.seal('column', 'value'))?.toString()).toBe('value');
    expect(ring.open('column', next.seal('column', 'value'))).toBeUndefined();
  });

  test('two seals of one value differ', () => {
    expect(ring.seal('column', 'value').equals(ring.seal('column', 'value'))).toBe(false);
  });
});
