/**
 * The whole configuration file. This one definition validates, holds the defaults, tells the environment parser the
 * type of each key, and is printed as JSON Schema and as the manual page. It has the keys of what works, no others.
 */
import type { z } from 'zod';
import { hint } from '#platform/config/schema/hints.ts';
import { duration, mapping, path, text } from '#platform/config/schema/values.ts';
import { accountSection } from './sections/account.ts';
import { brandingSection, i18nSection, indexSection } from './sections/branding.ts';
import { clientsSection } from './sections/clients.ts';
import { databaseSection } from './sections/database.ts';
import { homeserverSection } from './sections/homeserver.ts';
import { httpSection } from './sections/http.ts';
import { limitsSection } from './sections/limits.ts';
import { loggingSection } from './sections/logging.ts';
import { oauthSection } from './sections/oauth.ts';
import { passwordsSection } from './sections/passwords.ts';
import { policySection } from './sections/policy.ts';
import { rateLimitingSection } from './sections/rate-limiting.ts';
import { retentionSection } from './sections/retention.ts';
import { secretsSection } from './sections/secrets.ts';

export const configSchema = mapping({
  data_dir: hint(path(), { defaultText: '`$LATCHKEY_DATA_DIR`, else `$STATE_DIRECTORY`, else `./data`' })
    .optional()
    .describe('Directory of generated secrets and of the embedded database.'),
  protocol_name: hint(
    text({ pattern: /^[a-z][a-z0-9]{0,31}$/, expected: 'expected a lower-case word of at most 32 letters and digits' }),
    { defaultText: '`chat`; `matrix` when the section `homeserver` is spelled `matrix`' },
  )
    .optional()
    .describe('Name of the protocol in paths (`_chat`), scopes (`urn:chat:`) and actions (`org.chat.`).'),
  http: httpSection.prefault({}).describe('Addresses, listeners and proxies.'),
  database: databaseSection.prefault({}).describe('Where the state is kept.'),
  secrets: secretsSection.prefault({}).describe('Keys that encrypt and sign.'),
  clients: clientsSection.prefault([]).describe('Applications defined by the operator.'),
  homeserver: hint(homeserverSection, { aliases: ['matrix'] })
    .prefault({ kind: 'none' })
    .describe('The chat server that the accounts are for.'),
  passwords: passwordsSection.prefault({}).describe('Signing in with a password.'),
  account: accountSection.prefault({}).describe('What people may do with their accounts.'),
  rate_limiting: rateLimitingSection.prefault({}).describe('Token buckets: `burst` at once, then `per_second`.'),
  oauth: oauthSection.prefault({}).describe('Lifetimes and choices of the OAuth 2.0 provider.'),
  policy: policySection.prefault({}).describe('Who may do what.'),
  branding: brandingSection.prefault({}).describe('How the pages look and whom they name.'),
  templates: mapping({
    path: path()
      .optional()
      .describe('Directory of templates that replace bundled ones by name: `page.html` stands around every page.'),
  })
    .prefault({})
    .describe('Markup around the pages.'),
  index: indexSection.prefault({}).describe('The page at the public base.'),
  i18n: i18nSection.prefault({}).describe('Languages.'),
  logging: loggingSection.prefault({}).describe('The log.'),
  retention: retentionSection.prefault({}).describe('How long what is over is kept before it is deleted.'),
  limits: limitsSection.prefault({}).describe('Bounds on connections, requests and work.'),
  experimental: mapping({
    access_token_ttl: duration('60s', '86400s').prefault('5m').describe('Lifetime of access tokens.'),
  })
    .prefault({})
    .describe('May change between versions.'),
});

export type ParsedConfig = z.output<typeof configSchema>;
