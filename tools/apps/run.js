/** Real applications sign a user in with the built program, in Chromium. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../../test/support/free-port.js';
import { Checks, say } from '../browser/checks.js';
import { launchChromium } from '../browser/chromium.js';
import { Latchkey } from '../browser/latchkey.js';
import { Application } from './application.js';
import { applications } from './applications.js';
import { examples, slowExamples } from './examples.js';
import { startPublisher } from './mcp/publisher.js';
import { misconfigured } from './misconfigured.js';
import { signInChecks } from './sign-in-checks.js';
import { slowApplications } from './slow-applications.js';
import { PASSWORD, USER } from './user.js';

const LIMIT_MS = 30 * 60_000;
// Contains characters that libraries encode differently, like the symbols of Base64.
const CLIENT_SECRET = 'a+secret/of%41least&16;characters==';

setTimeout(() => {
  say(`not done after ${LIMIT_MS / 60_000} minutes`);
  process.exit(1);
}, LIMIT_MS).unref();

const { values, positionals: words } = parseArgs({ options: { slow: { type: 'boolean' } }, allowPositionals: true });
const slow = [...slowApplications, ...slowExamples];
const quick = [...applications, ...examples, ...misconfigured];
/** Words select the applications whose names contain one of them; `--slow` selects those that take long to build. */
const wanted =
  words.length === 0
    ? values.slow
      ? slow
      : quick
    : [...quick, ...slow].filter(({ name }) => words.some((word) => name.includes(word)));
if (wanted.length === 0) throw new Error(`no application has a name that holds ${words.join(' or ')}`);

const checks = new Checks();
const folder = mkdtempSync(join(tmpdir(), 'latchkey-apps-'));
// As root, the database and Apache run under different accounts, which need access.
chmodSync(folder, 0o711);
const browser = await launchChromium();
const publisher = await startPublisher(folder);
const entries = [];
for (const [index, definition] of wanted.entries()) {
  const settings = {
    CLIENT_ID: `01JD3Q5Z8W2N4K6M7P9R0S1T${20 + index}`,
    CLIENT_SECRET,
    PORT: String(await freePort()),
    FOLDER: join(folder, String(index)),
  };
  entries.push({ definition, settings });
}
const clients = entries.filter(isConfigured).map(({ definition, settings }) => ({
  client_id: settings.CLIENT_ID,
  client_name: definition.name,
  redirect_uris: ['localhost', '127.0.0.1'].map((host) => `http://${host}:${settings.PORT}${definition.callback}`),
  ...(definition.signedOut && {
    post_logout_redirect_uris: [`http://localhost:${settings.PORT}${definition.signedOut}`],
  }),
  ...(definition.isPublic
    ? { client_auth_method: 'none' }
    : { client_auth_method: 'client_secret_basic', client_secret: CLIENT_SECRET }),
  ...definition.client?.(settings),
}));
/** Every definition may extend these settings of Latchkey. */
const collected = (member) => entries.flatMap(({ definition, settings }) => definition[member]?.(settings) ?? []);
const configuration = {
  clients: [...clients, ...collected('furtherClients')],
  oauth: { resources: collected('resources'), client_id_metadata_documents: { enabled: true } },
  outbound: publisher.outbound,
  policy: { data: { client_registration: { preset: 'mcp' } } },
  upstream_oauth2: { providers: collected('providers') },
};
const latchkey = await Latchkey.start(folder, 'latchkey', configuration, 'localhost', publisher.environment);
try {
  const { username, name, email } = USER;
  const account = ['manage', 'register-user', '--yes', '--password-file', '-', '--display-name', name];
  await latchkey.command([...account, '--email', email, username], PASSWORD);
  const issuer = latchkey.base.slice(0, -1);
  for (const entry of entries) if (!isConfigured(entry)) await createFromPreset(entry);
  for (const { definition, settings } of entries) {
    const all = { ...settings, ISSUER: issuer, ...(await definition.settings?.(issuer)) };
    await checks.group(definition.name, (own) => checkApplication(own, definition, all));
  }
} finally {
  await browser.close();
  await latchkey.stop();
  publisher.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = checks.close();

function isConfigured({ definition }) {
  return definition.preset === undefined;
}

/** Creates the client as an administrator does, so that a wrong preset fails the checks of its application. */
async function createFromPreset({ definition: { preset }, settings }) {
  const url = `http://localhost:${settings.PORT}${preset.path ?? ''}`;
  const command = ['manage', 'create-client', '--preset', preset.slug, '--url', url, '--client-id', settings.CLIENT_ID];
  await latchkey.command([...command, '--secret-file', '-'], CLIENT_SECRET);
}

async function checkApplication(checks, definition, settings) {
  const { startFailure } = definition;
  if (startFailure !== undefined) {
    await checks.that(`${definition.name}: ends at its start, and says why`, () =>
      assert.rejects(Application.start(definition, settings), startFailure),
    );
    return;
  }
  let application;
  const isThere = await checks.that(`${definition.name}: starts`, async () => {
    application = await Application.start(definition, settings);
  });
  if (!isThere) return;
  try {
    for (const [claim, check] of (definition.checks ?? signInChecks)(definition)) {
      await checks.that(`${definition.name}: ${claim}`, () =>
        inBrowser(application, (page) => check({ page, application, latchkey, publisher })),
      );
    }
  } finally {
    await application.stop();
  }
}

/** A failure reports the last page, and the ends of both logs. */
async function inBrowser(application, work) {
  const context = await browser.newContext({ locale: 'en' });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  try {
    return await work(page);
  } catch (error) {
    const shown = (await page.innerText('body').catch(() => '')).slice(0, 1_500);
    const logs = [application.said.split('\n'), latchkey.logLines()].map((lines) => lines.slice(-8).join('\n'));
    throw new Error([error.stack, page.url(), shown, ...logs].join('\n'));
  } finally {
    await context.close();
  }
}
