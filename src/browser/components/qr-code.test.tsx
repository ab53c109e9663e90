import { render } from 'preact-render-to-string';
import decodeQR from 'qr/decode.js';
import { expect, test } from 'vitest';
import { otpauthUrl } from '#protocol/one-time-codes/otpauth-url.ts';
import { QrCode } from './qr-code.tsx';

const PIXELS = 4;

/** Rasterizes the component's SVG and reads it with an independent decoder. */
function read(svg: string): string {
  const size = Number(/viewBox="0 0 (\d+) \d+"/.exec(svg)?.[1]);
  const width = size * PIXELS;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [, x, y, length] of svg.matchAll(/M(\d+) (\d+)h(\d+)v1h-\d+z/g)) {
    const [left, top, right] = [Number(x), Number(y), Number(x) + Number(length)].map((at) => at * PIXELS);
    for (let row = top ?? 0; row < (top ?? 0) + PIXELS; row += 1)
      for (let column = left ?? 0; column < (right ?? 0); column += 1)
        data.fill(0, (row * width + column) * 4, (row * width + column) * 4 + 3);
  }
  return decodeQR({ width, height: width, data });
}

test.each([
  ['Harbour', 'dana'],
  [
    'A service with a name that is as long as the setting allows it to be, and then some: '.padEnd(100, 'x'),
    'd'.repeat(64),
  ],
  ['Größe ابجد 日本', 'dana@example.org'],
])('a phone can read the authenticator app link of %s', (issuer, account) => {
  const url = otpauthUrl({ issuer, account }, Buffer.from('12345678901234567890'));
  const svg = render(<QrCode text={url} label="QR code" />);
  expect(read(svg)).toBe(url);
  expect(svg).toContain('role="img" aria-label="QR code"');
  // The Content Security Policy of the pages forbids both.
  expect(svg).not.toMatch(/style=|<script/);
});
