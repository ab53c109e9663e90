/** Measures how fast the account area shows its main content (account-graphql 8.8, performance 2). */
import assert from 'node:assert/strict';
import { heading, signIn } from './account-steps.js';
import { say } from './checks.js';

const PAGES = [
  { path: 'account/', title: 'Profile', maxRequests: 8 },
  // Code shared with other pages is in separate files.
  { path: 'account/sessions', title: 'Where you are signed in', maxRequests: 12 },
];
const CPU_SLOWDOWN = 4;
/** "Fast 3G": latency in milliseconds, throughput in bytes per second. */
const FAST_3G = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 };
const VISITS = {
  'first visit from this machine': { isFirst: true, network: undefined, maxMs: 1_000 },
  'second visit by fast 3G': { isFirst: false, network: FAST_3G, maxMs: 2_500 },
};
/** The fastest visit counts, because the machine may be busy. */
const TRIES = 5;
const MAX_QUESTIONS = 2;

/** Measures each page in each kind of visit, with CPU throttling. */
export async function checkPaint(checks, { browser, base, username }) {
  for (const { path, title, maxRequests } of PAGES) {
    for (const [name, visit] of Object.entries(VISITS)) {
      await checks.that(`/${path} shows its content in ${visit.maxMs} ms at the ${name}`, async () => {
        const measured = [];
        for (let tries = 0; tries < TRIES; tries += 1) {
          measured.push(await measure({ browser, base, username, path, title, ...visit }));
        }
        const fastest = measured.reduce((best, one) => (one.paintMs < best.paintMs ? one : best));
        const { paintMs, contentMs, bytes, requests, questions } = fastest;
        say(
          `/${path}, ${name}: largest paint ${paintMs} ms, content ${contentMs} ms after ${requests.length} requests, ` +
            `${questions} of them to the API; ${bytes} bytes in all`,
        );
        assert.ok(paintMs <= visit.maxMs, `${paintMs} ms`);
        assert.ok(requests.length <= maxRequests, `before the content: ${requests.join(' ')}`);
        assert.ok(questions <= MAX_QUESTIONS, `${questions} questions to the API before the content`);
      });
    }
  }
}

/** In a separate browser with an empty cache. */
async function measure({ browser, base, username, path, title, isFirst, network }) {
  const context = await browser.newContext({ locale: 'en' });
  try {
    const page = await context.newPage();
    await page.goto(`${base}login`);
    await signIn(page, username);
    await page.waitForURL((url) => !url.pathname.endsWith('/login'));
    if (!isFirst) {
      await page.goto(`${base}${path}`);
      await heading(page, title);
      await page.waitForLoadState('networkidle');
    }
    await page.goto('about:blank');
    await page.addInitScript(rememberContent);
    const devtools = await context.newCDPSession(page);
    await devtools.send('Network.enable');
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
    if (network !== undefined) await devtools.send('Network.emulateNetworkConditions', network);
    let startedAt;
    devtools.on('Network.requestWillBeSent', ({ timestamp }) => {
      startedAt ??= timestamp;
    });
    const answered = [];
    devtools.on('Network.responseReceived', ({ response: { url }, timestamp }) => {
      // Inline icons of the stylesheet are not requests.
      if (!url.startsWith('data:')) answered.push({ url, atMs: (timestamp - startedAt) * 1000 });
    });
    let bytes = 0;
    devtools.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await page.goto(`${base}${path}`);
    await heading(page, title);
    await page.waitForLoadState('networkidle');
    const paintMs = Math.round(await page.evaluate(largestPaint));
    const shown = await page.waitForFunction(() => globalThis.contentShownAt);
    const contentMs = Math.round(await shown.jsonValue());
    const before = answered.filter(({ atMs }) => atMs < contentMs);
    const questions = before.filter(({ url }) => url.endsWith('/graphql'));
    const requests = before.map(({ url }) => new URL(url).pathname);
    return { paintMs, contentMs, bytes, requests, questions: questions.length };
  } finally {
    await context.close();
  }
}

/**
 * Runs in the page before its scripts: records when the main content appears, in milliseconds after the start of the
 * navigation.
 */
function rememberContent() {
  addEventListener('account-content-shown', () => {
    globalThis.contentShownAt ??= performance.now();
  });
}

/** Runs in the page: returns the time of the last candidate, in milliseconds after the start of the navigation. */
function largestPaint() {
  return new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime)).observe({
      type: 'largest-contentful-paint',
      buffered: true,
    });
  });
}
