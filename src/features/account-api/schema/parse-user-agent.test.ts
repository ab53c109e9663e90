import { expect, test } from 'vitest';
import { parseUserAgent } from './parse-user-agent.ts';

type Row = readonly [
  raw: string,
  name: string | undefined,
  version: string | undefined,
  os: string | undefined,
  osVersion: string | undefined,
  model: string | undefined,
  deviceType: string,
];

const NONE = undefined;
const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';

/** Each form of account-graphql 8.6. */
const ROWS: readonly Row[] = [
  // Browsers, with the frozen values that represent any version.
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/131.0.0.0 Safari/537.36`,
    'Chrome',
    '131.0.0.0',
    'Windows',
    NONE,
    NONE,
    'PC',
  ],
  [
    `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/131.0.0.0 Safari/537.36`,
    'Chrome',
    '131.0.0.0',
    'Linux',
    NONE,
    NONE,
    'PC',
  ],
  [
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/131.0.0.0 Safari/537.36`,
    'Chrome',
    '131.0.0.0',
    'Chrome OS',
    NONE,
    NONE,
    'PC',
  ],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/131.0.0.0 Mobile Safari/537.36`,
    'Chrome',
    '131.0.0.0',
    'Android',
    NONE,
    NONE,
    'MOBILE',
  ],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Chrome/131.0.0.0 Safari/537.36`,
    'Chrome',
    '131.0.0.0',
    'macOS',
    NONE,
    NONE,
    'PC',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:133.0) Gecko/20100101 Firefox/133.0',
    'Firefox',
    '133.0',
    'macOS',
    '10.15',
    NONE,
    'PC',
  ],
  [
    'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0',
    'Firefox',
    '133.0',
    'Linux',
    NONE,
    NONE,
    'PC',
  ],
  [
    'Mozilla/5.0 (Windows NT 6.1; Win64; x64; rv:115.0) Gecko/20100101 Firefox/115.0',
    'Firefox',
    '115.0',
    'Windows',
    '6.1',
    NONE,
    'PC',
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.2903.51`,
    'Edge',
    '131.0.2903.51',
    'Windows',
    NONE,
    NONE,
    'PC',
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/131.0.0.0 Safari/537.36 OPR/116.0.0.0`,
    'Opera',
    '116.0.0.0',
    'Windows',
    NONE,
    NONE,
    'PC',
  ],
  // On Linux, with and without the token of another browser.
  ...(
    [
      ['Chromium/131.0.0.0 Chrome/131.0.0.0 Safari/537.36', 'Chromium', '131.0.0.0'],
      ['Chromium Safari/537.36', 'Chromium', NONE],
      ['Chrome Safari/537.36', 'Chrome', NONE],
      ['HeadlessChrome/131.0.0.0 Safari/537.36', 'Headless Chrome', '131.0.0.0'],
      ['Chrome/131.0.0.0 Safari/537.36 Edg/131.0.2903.51', 'Edge', '131.0.2903.51'],
      ['Chrome/131.0.0.0 Safari/537.36 OPR/116.0.0.0 (Edition std-1)', 'Opera', '116.0.0.0'],
      ['Chrome/131.0.0.0 Safari/537.36 Brave/131', 'Brave', '131'],
      ['Version/18.0 Safari/605.1.15 Epiphany/605.1.15', 'GNOME Web', '605.1.15'],
      ['Version/18.0 Safari/605.1.15', NONE, NONE],
    ] as const
  ).map(
    ([products, name, version]): Row => [
      `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} ${products}`,
      name,
      version,
      'Linux',
      NONE,
      NONE,
      'PC',
    ],
  ),
  // Phones and tablets.
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
    'Safari',
    '18.1',
    'iOS',
    '18.1',
    'iPhone',
    'MOBILE',
  ],
  [
    'Mozilla/5.0 (iPod touch; CPU iPhone OS 12_0 like Mac OS X) AppleWebKit/604.3.5 (KHTML, like Gecko) Version/12.0 Mobile/15A5341f Safari/604.1',
    'Safari',
    '12.0',
    'iOS',
    '12.0',
    'iPod',
    'MOBILE',
  ],
  [
    'Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1',
    'Chrome',
    '131.0.6778.73',
    'iPadOS',
    '17.5',
    'iPad',
    'TABLET',
  ],
  [
    `Mozilla/5.0 (Linux; Android 13; SM-X700) ${WEBKIT} Chrome/131.0.0.0 Safari/537.36`,
    'Chrome',
    '131.0.0.0',
    'Android',
    '13',
    'SM-X700',
    'TABLET',
  ],
  [
    'Mozilla/5.0 (Android 14; Mobile; rv:133.0) Gecko/133.0 Firefox/133.0',
    'Firefox',
    '133.0',
    'Android',
    '14',
    NONE,
    'MOBILE',
  ],
  // Electron applications are recognized by their own name.
  [
    `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Element/1.11.86 Chrome/128.0.6613.162 Electron/32.2.5 Safari/537.36`,
    'Element',
    '1.11.86',
    'Linux',
    NONE,
    NONE,
    'PC',
  ],
  // User agents that chat clients send.
  [
    'Harbour/1.6.20 (Google Pixel 8; Android 14; Build/UQ1A.240105.004; Flavour Play)',
    'Harbour',
    '1.6.20',
    'Android',
    '14',
    'Google Pixel 8',
    'MOBILE',
  ],
  ['Harbour/1.5.9 (iPhone XS Max; iOS 15.5; Scale/3.00)', 'Harbour', '1.5.9', 'iOS', '15.5', 'iPhone XS Max', 'MOBILE'],
  ['Harbour/1.5.9 (iPad Pro 12.9; iOS 17.1; Scale/2.00)', 'Harbour', '1.5.9', 'iOS', '17.1', 'iPad Pro 12.9', 'TABLET'],
  [
    'Harbour/1.4 (Linux; U; Android 11; SM-G991B Build/RP1A.200720.012; Flavour)',
    'Harbour',
    '1.4',
    'Android',
    '11',
    'SM-G991B',
    'MOBILE',
  ],
  // Anything else is unknown.
  ['curl/8.5.0', NONE, NONE, NONE, NONE, NONE, 'UNKNOWN'],
  ['', NONE, NONE, NONE, NONE, NONE, 'UNKNOWN'],
  ['\u202e<svg onload=alert(1)>', NONE, NONE, NONE, NONE, NONE, 'UNKNOWN'],
  ['Mozilla/5.0', NONE, NONE, NONE, NONE, NONE, 'UNKNOWN'],
];

test.each(ROWS)('%s', (raw, name, version, os, osVersion, model, deviceType) => {
  expect(parseUserAgent(raw)).toEqual({ raw, name, version, os, osVersion, model, deviceType });
});
