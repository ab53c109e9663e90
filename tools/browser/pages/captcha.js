import assert from 'node:assert/strict';
import { send } from './steps.js';

/** What the script of each service adds to a page: frames and files from the service's hosts, each once. */
export const SERVICES = {
  cloudflare_turnstile: { origin: 'https://challenges.cloudflare.com', loads: [] },
  recaptcha_v2: { origin: 'https://www.recaptcha.net', loads: [['script', 'https://www.gstatic.com/recaptcha/x.js']] },
  hcaptcha: {
    origin: 'https://newassets.hcaptcha.com',
    loads: [
      ['script', 'https://newassets.hcaptcha.com/x.js'],
      ['link', 'https://newassets.hcaptcha.com/x.css'],
      ['fetch', 'https://api.hcaptcha.com/checksiteconfig'],
    ],
  },
};

/** Pages with a CAPTCHA. The browser mocks the CAPTCHA service, so nothing leaves the machine. */
export const captchaPages = [
  {
    name: 'login-captcha',
    allowed: ' https://challenges.cloudflare.com',
    reach: async (page, { captchaBases }) => {
      const service = 'cloudflare_turnstile';
      await failToSignIn(page, service, captchaBases[service]);
      await solve(page, service, `${captchaBases[service]}login`);
    },
  },
  {
    name: 'register-captcha',
    allowed: ' https://challenges.cloudflare.com',
    reach: async (page, { captchaBases }) => {
      const service = 'cloudflare_turnstile';
      await solve(page, service, `${captchaBases[service]}register`);
    },
  },
];

/** Checks that the Content-Security-Policy allows what each service needs, and that the CAPTCHA is shown. */
export async function checkCaptchas(browser, { captchaBases }) {
  for (const service of Object.keys(SERVICES)) {
    const base = captchaBases[service];
    for (const form of ['register', 'recover', 'login']) {
      const page = await browser.newPage();
      try {
        const browserErrors = [];
        page.on('console', (message) => browserErrors.push(message.text()));
        page.on('pageerror', (error) => browserErrors.push(error.message));
        if (form === 'login') await failToSignIn(page, service, base);
        await solve(page, service, base + form);
        assert.deepEqual([service, form, browserErrors], [service, form, []]);
      } finally {
        await page.close();
      }
    }
  }
}

/** Opens a page and waits for its CAPTCHA and everything that it loads. */
async function solve(page, service, address) {
  await answerFor(page, service);
  await page.goto(address);
  await page.locator(`.captcha-widget[data-loaded="${SERVICES[service].loads.length}"] iframe`).waitFor();
  assert.ok(await page.locator('[data-captcha-missing]').isHidden());
}

/** Enters wrong passwords until the sign-in form has a CAPTCHA. */
async function failToSignIn(page, service, base) {
  await answerFor(page, service);
  const puzzle = page.locator('.captcha-widget');
  await page.goto(`${base}login`);
  for (let tries = 0; tries < 4 && (await puzzle.count()) === 0; tries += 1) {
    await send(page, { username: `nobody${tries}`, password: 'not the password' });
  }
  assert.equal(await puzzle.count(), 1);
}

/** Mocks the servers of the service. */
async function answerFor(page, service) {
  const { origin, loads } = SERVICES[service];
  const isOfService = ({ protocol }) => protocol === 'https:';
  await page.route(isOfService, (route) => route.fulfill(answerTo(route.request(), origin, loads)));
}

const CORS = { 'access-control-allow-origin': '*' };

function answerTo(request, origin, loads) {
  if (request.url().includes('/api.js')) {
    return { contentType: 'text/javascript', body: `(${runWidget})(${JSON.stringify({ origin, loads })})` };
  }
  const kind = request.resourceType();
  if (kind === 'document') return { contentType: 'text/html', body: '<!doctype html><p>I am a person</p>' };
  if (kind === 'script') return { contentType: 'text/javascript', body: '' };
  if (kind === 'stylesheet') return { contentType: 'text/css', body: '' };
  return { contentType: 'application/json', headers: CORS, body: '{}' };
}

/** Runs in the page, in place of the service's script. */
function runWidget({ origin, loads }) {
  const widget = globalThis.document.querySelector('.captcha-widget');
  const isCompact = widget.dataset.size === 'compact';
  const add = (parent, name, properties) => {
    const element = Object.assign(globalThis.document.createElement(name), properties);
    parent.append(element);
    return element;
  };
  widget.dataset.loaded = '0';
  const count = () => {
    widget.dataset.loaded = String(Number(widget.dataset.loaded) + 1);
  };
  const [width, height] = isCompact ? [150, 140] : [300, 65];
  add(widget, 'iframe', { src: `${origin}/widget`, title: 'Puzzle', width, height });
  for (const [kind, address] of loads) {
    if (kind === 'script') add(globalThis.document.head, 'script', { src: address, onload: count });
    if (kind === 'link') add(globalThis.document.head, 'link', { rel: 'stylesheet', href: address, onload: count });
    if (kind === 'fetch') globalThis.fetch(address).then(count);
  }
}
