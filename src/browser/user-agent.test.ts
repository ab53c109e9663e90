import { describe, expect, test } from 'vitest';
import { leastOf } from '#test/support/measuring.ts';
import { describeUserAgent } from './user-agent.ts';

describe('description of a user agent', () => {
  test.each([
    ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox', 'Linux', undefined],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0',
      'Edge',
      'Windows',
      undefined,
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
      'Safari',
      'iOS',
      'iPhone',
    ],
    [
      'Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/UQ1A) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
      'Chrome',
      'Android',
      'Pixel 8',
    ],
    [
      'Mozilla/5.0 (SMART-TV; LINUX; Tizen 6.0) AppleWebKit/537.36 (KHTML, like Gecko) 76.0.3809.146/6.0 TV Safari/537.36',
      undefined,
      'Tizen',
      'TV',
    ],
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chromium Safari/537.36',
      'Chromium',
      'Linux',
      undefined,
    ],
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Element/1.11.86 Chrome/128.0.6613.162 Electron/32.2.5 Safari/537.36',
      'Element',
      'Linux',
      undefined,
    ],
    ['curl/8.5.0', 'curl', undefined, undefined],
    ['kubelogin/v1.28.0 (linux/amd64)', 'kubelogin', 'Linux', undefined],
    ['', undefined, undefined, undefined],
    [undefined, undefined, undefined, undefined],
    ['<script>alert(1)</script>', undefined, undefined, undefined],
  ])('%j', (text, program, system, model) => {
    expect(describeUserAgent(text)).toEqual({ program, system, model });
  });

  test('takes linear time for any input', async () => {
    const spent = await leastOf(() => {
      const before = performance.now();
      for (const text of ['Android 1; '.repeat(50), `Android 1; ${' '.repeat(500)}`, 'Mozilla/'.repeat(60)]) {
        describeUserAgent(text);
      }
      return performance.now() - before;
    }, 100);
    expect(spent).toBeLessThanOrEqual(100);
  });
});
