import { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import type { Browser, Page } from './browser.ts';
import type { ReceivedMail } from './mails.ts';
import { bundleWorker } from './worker-entry.ts';

/** Strong enough for every test. */
export const NEW_PASSWORD = 'seven purple lanterns swim';

/** Generous, so that no estimate times out on a busy machine. */
const PATIENT_MS = 60_000;

/** Starts the real password strength estimator. Close it at the end. */
export async function openEstimator(): Promise<StrengthEstimator> {
  const entry = new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url);
  return new StrengthEstimator(await bundleWorker(entry), PATIENT_MS);
}

/** Submits the first registration form, with valid values by default. */
export async function beginRegistration(
  browser: Browser,
  fields: Readonly<Record<string, string>>,
  query = '',
): Promise<Page> {
  await browser.get(`/register/password${query}`);
  return await browser.submit({ password: NEW_PASSWORD, ...fields });
}

/** Completes all steps but the last. @returns the URL of `finish` */
export async function registerUpToFinish(browser: Browser, username: string, query = ''): Promise<string> {
  await beginRegistration(browser, { username }, query);
  await browser.follow();
  const { location } = await browser.submit({ action: 'skip' });
  if (location === undefined) throw new Error(`registering ${username} stopped at ${browser.page.url}`);
  return location;
}

/** Completes all steps. @returns the response of `finish` */
export async function registerCompletely(browser: Browser, username: string, query = ''): Promise<Page> {
  return await browser.get(await registerUpToFinish(browser, username, query));
}

/** Returns the code in the last email to an address. */
export function codeSentTo(email: string, mails: readonly ReceivedMail[]): string {
  const mail = mails.findLast(({ to }) => to === email);
  const [code] = /\b\d{6}\b/.exec(mail?.subject ?? '') ?? [];
  if (code === undefined) throw new Error(`no code for ${email} in ${JSON.stringify(mails)}`);
  return code;
}
