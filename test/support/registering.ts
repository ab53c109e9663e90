import { StrengthEstimator } from '#domain/accounts/passwords/strength-estimator.ts';
import type { Browser, Shown } from './browser.ts';
import type { ReceivedMail } from './mails.ts';
import { bundleWorker } from './worker-entry.ts';

/** Strong enough for every test. */
export const NEW_PASSWORD = 'seven purple lanterns swim';

/** However busy the machine is, an estimate is not given up. */
const PATIENT_MS = 60_000;

/** The real estimate of a password's strength; close it at the end. */
export async function openEstimator(): Promise<StrengthEstimator> {
  const entry = new URL('../../src/domain/accounts/passwords/strength.worker.ts', import.meta.url);
  return new StrengthEstimator(await bundleWorker(entry), PATIENT_MS);
}

/** Sends the first form of a registration, by default as it has to be. */
export async function beginRegistration(
  browser: Browser,
  fields: Readonly<Record<string, string>>,
  query = '',
): Promise<Shown> {
  await browser.get(`/register/password${query}`);
  return await browser.submit({ password: NEW_PASSWORD, password_confirm: NEW_PASSWORD, ...fields });
}

/** Goes through all steps but the last; the address of `finish`. */
export async function registerUpToFinish(browser: Browser, username: string, query = ''): Promise<string> {
  await beginRegistration(browser, { username }, query);
  await browser.follow();
  const { location } = await browser.submit({ action: 'skip' });
  if (location === undefined) throw new Error(`registering ${username} stopped at ${browser.shown.url}`);
  return location;
}

/** Goes through all steps. @returns the answer of `finish` */
export async function registerWholly(browser: Browser, username: string, query = ''): Promise<Shown> {
  return await browser.get(await registerUpToFinish(browser, username, query));
}

/** The code in the last of these mails to an address. */
export function codeSentTo(email: string, mails: readonly ReceivedMail[]): string {
  const mail = mails.findLast(({ to }) => to === email);
  const [code] = /\b\d{6}\b/.exec(mail?.subject ?? '') ?? [];
  if (code === undefined) throw new Error(`no code for ${email} in ${JSON.stringify(mails)}`);
  return code;
}
