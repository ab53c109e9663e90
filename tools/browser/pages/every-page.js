import { branding, templates } from '../brand.js';
import { Latchkey } from '../latchkey.js';
import {
  brandedSettings,
  captchaSettings,
  closedSettings,
  PASSWORD,
  pageSettings,
  strictSettings,
  upstreamSettings,
} from '../settings.js';
import { UpstreamProvider } from '../upstream-provider.js';
import { redirectUris, upstreamServices } from '../upstream-services.js';
import { SERVICES as CAPTCHA_SERVICES } from './captcha.js';
import { checkPages } from './check-pages.js';
import { linkAccounts } from './upstream-sign-in.js';

/**
 * Examines every page.
 * @param part of the names of the pages
 * @param share which of this number of parts
 */
export async function checkEveryPage(checks, { browser, folder, relyingParty, pictures }, which) {
  const latchkey = await Latchkey.start(folder, 'pages', pageSettings(relyingParty.callback));
  const closed = await Latchkey.start(folder, 'closed', closedSettings(relyingParty.callback));
  const strict = await Latchkey.start(folder, 'strict', strictSettings(relyingParty.callback));
  const looks = brandedSettings(relyingParty.callback, branding(folder), templates(folder));
  const branded = await Latchkey.start(folder, 'branded', looks);
  const puzzles = new Map();
  for (const service of Object.keys(CAPTCHA_SERVICES))
    puzzles.set(service, await Latchkey.start(folder, service, captchaSettings(relyingParty.callback, service)));
  const captchaBases = Object.fromEntries([...puzzles].map(([service, { base }]) => [service, base]));
  const upstream = await UpstreamProvider.start();
  // Started last: the services share a database, and those without providers disable the providers.
  const linkedSettings = upstreamSettings(relyingParty.callback, upstreamServices(upstream));
  const linked = await Latchkey.start(folder, 'upstream', linkedSettings);
  try {
    await upstream.register(redirectUris(linked.base));
    await relyingParty.discover(latchkey.base);
    for (const [username, ...options] of [
      ['amira', '--display-name', 'Amira Okafor'],
      ['bo'],
      ['faro'],
      ['hana'],
      ['idris'],
      ['jonas'],
    ]) {
      await latchkey.command(
        ['manage', 'register-user', '--yes', '--password-file', '-', ...options, username],
        PASSWORD,
      );
    }
    await linkAccounts(latchkey);
    const bases = {
      strictBase: strict.base,
      closedBase: closed.base,
      brandedBase: branded.base,
      upstreamBase: linked.base,
    };
    const site = { latchkey, base: latchkey.base, ...bases, captchaBases, relyingParty, upstream };
    await checkPages(checks, browser, site, { ...which, pictures });
  } finally {
    upstream.close();
    for (const started of puzzles.values()) await started.stop();
    await linked.stop();
    await branded.stop();
    await strict.stop();
    await closed.stop();
    await latchkey.stop();
  }
}
