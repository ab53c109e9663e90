import { expect, test } from 'vitest';
import { browserName } from './browser-name.ts';

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0', 'Firefox · Linux'],
  [
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36',
    'Chrome · Pixel 8',
  ],
  ['curl/8.5.0', 'curl'],
  ['"><img src=x>', '"><img src=x>'],
])('%s is shown as %s', (header, name) => {
  expect(browserName(header)).toBe(name);
});
