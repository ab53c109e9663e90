/**
 * The service configuration. `configSchema` describes the file; `completeConfig` produces the value that modules
 * receive. Property names are the keys of the file in camel case, with the unit in the name. Paths are absolute. The
 * schema validates, holds the defaults, gives the environment parser the type of each key, and is printed as JSON
 * Schema and as the manual page. It contains only keys that have an effect.
 *
 * Every module may import the types. Only the command line and the composition import the values.
 */
import { join, resolve } from 'node:path';
import type { z } from 'zod';
import type { Environment } from '#platform/config/dot-env.ts';
import { rule } from '#platform/config/rule.ts';
import { hint, type MappingShape, shapeOf } from '#platform/config/shape.ts';
import { bool, duration, type Immutable, mapping, path, text, webUrl } from '#platform/config/values.ts';
import type { Theme } from '#vocabulary/theme.ts';
import { defaultHashConcurrency } from './hash-concurrency.ts';
import { MISTAKEN_KEYS } from './mistaken-keys.ts';
import type { OtherVariables } from './other-variables.ts';
import { accountConfig, accountSection } from './sections/account.ts';
import { adminAreaConfig, adminAreaSection } from './sections/admin-area.ts';
import { brandingConfig, brandingSection, i18nSection, indexSection, type Pictures } from './sections/branding.ts';
import { captchaConfig, captchaSection } from './sections/captcha.ts';
import { clientsSection, redirectUrisOfService, staticClientConfig } from './sections/clients.ts';
import { compatConfig, compatSection } from './sections/compat.ts';
import { databaseConfig, databaseSection } from './sections/database.ts';
import { emailConfig, emailSection } from './sections/email.ts';
import { graphqlConfig, graphqlSection } from './sections/graphql.ts';
import { homeserverConfig, homeserverSection } from './sections/homeserver.ts';
import { httpConfig, httpSection, resourceName } from './sections/http.ts';
import { jobsConfig, jobsSection } from './sections/jobs.ts';
import { limitsConfig, limitsSection } from './sections/limits.ts';
import { loggingConfig, loggingSection } from './sections/logging.ts';
import { oauthConfig, oauthSection } from './sections/oauth.ts';
import { outboundConfig, outboundSection } from './sections/outbound.ts';
import { passwordsConfig, passwordsSection } from './sections/passwords.ts';
import { policyConfig, policySection } from './sections/policy.ts';
import { rateLimitingConfig, rateLimitingSection } from './sections/rate-limiting.ts';
import { inactiveSessionSection, retentionConfig, retentionSection, unusedSessions } from './sections/retention.ts';
import { type KeyFile, secretsConfig, secretsSection } from './sections/secrets.ts';
import { sessionLimitConfig, sessionLimitSection } from './sections/session-limit.ts';
import { telemetryConfig, telemetrySection } from './sections/telemetry.ts';
import { upstreamOAuth2Config, upstreamOAuth2Section } from './sections/upstream-oauth2.ts';
import type { Templates } from './template-files.ts';

const sections = mapping({
  data_dir: hint(path(), { defaultText: '`$LATCHKEY_DATA_DIR`, else `$STATE_DIRECTORY`, else `./data`' })
    .optional()
    .describe('Directory for generated secrets and the embedded database.'),
  protocol_name: hint(
    text({ pattern: /^[a-z][a-z0-9]{0,31}$/, expected: 'expected a lowercase word of at most 32 letters and digits' }),
    { defaultText: '`chat`; `matrix` if the section `homeserver` is named `matrix`' },
  )
    .optional()
    .describe('Name of the chat protocol in paths (`_chat`), scopes (`urn:chat:`) and actions (`org.chat.`).'),
  http: httpSection.prefault({}).describe('URLs, listeners and proxies.'),
  database: databaseSection.prefault({}).describe('Database connection.'),
  secrets: secretsSection.prefault({}).describe('Encryption and signing keys.'),
  clients: clientsSection.prefault([]).describe('Configured clients.'),
  homeserver: hint(homeserverSection, { aliases: ['matrix'] })
    .prefault({ kind: 'none' })
    .describe('Homeserver that uses the accounts.'),
  compat: compatSection.prefault({}).describe('Chat clients that do not use OpenID Connect.'),
  passwords: passwordsSection.prefault({}).describe('Password authentication.'),
  account: accountSection.prefault({}).describe('Account features available to users.'),
  admin_area: adminAreaSection.prefault({}).describe('Admin area at `/admin/`.'),
  email: emailSection.prefault({}).describe('Outgoing email.'),
  graphql: graphqlSection.prefault({}).describe('Account API at `/graphql`.'),
  upstream_oauth2: upstreamOAuth2Section
    .prefault({})
    .describe('Sign-in providers: OpenID Connect or OAuth 2.0 providers that users may sign in with.'),
  captcha: captchaSection.prefault({}).describe('CAPTCHA.'),
  rate_limiting: rateLimitingSection
    .prefault({})
    .describe('Rate limits, as token buckets: `burst` attempts, refilled at `per_second`.'),
  oauth: oauthSection.prefault({}).describe('Lifetimes and features of the OAuth 2.0 provider.'),
  policy: policySection.prefault({}).describe('Policy for users, clients and requests.'),
  branding: brandingSection.prefault({}).describe('Appearance of pages.'),
  templates: mapping({
    path: path()
      .optional()
      .describe(
        'Directory of templates that override bundled ones of the same name: `page.html` is the layout of ' +
          'every page, `emails/NAME.subject`, `.txt` and `.html` are the parts of emails.',
      ),
    translations_path: path()
      .optional()
      .describe(
        'Directory with one file `TAG.json` per language. Its texts override bundled ones by key, or add a ' +
          'language.',
      ),
    assets_manifest: path()
      .optional()
      .describe(
        'JSON file that maps asset names to files, in the format of Vite or as a plain object. Replaces ' +
          '`manifest.json` in the asset directory (`assets.path`, else the bundled one).',
      ),
  })
    .prefault({})
    .describe('Page layout, email templates and translations.'),
  assets: mapping({
    path: path()
      .optional()
      .describe(
        'Directory of a custom build of the assets, replacing the bundled one. It must contain ' +
          '`manifest.json`, unless `templates.assets_manifest` names another file.',
      ),
    source_maps: bool().prefault(false).describe('Serves source maps of the account area.'),
  })
    .prefault({})
    .describe('Files below `/assets/`.'),
  index: indexSection.prefault({}).describe('Index page.'),
  i18n: i18nSection.prefault({}).describe('Languages.'),
  telemetry: telemetrySection.prefault({}).describe('Metrics, error reports and traces.'),
  logging: loggingSection.prefault({}).describe('Log.'),
  retention: retentionSection
    .prefault({})
    .describe('How long expired and ended records are kept before they are deleted.'),
  jobs: jobsSection.prefault({}).describe('Background jobs.'),
  limits: limitsSection.prefault({}).describe('Limits of connections, requests and processor time.'),
  outbound: outboundSection.prefault({}).describe('Requests to URLs provided by clients.'),
  experimental: mapping({
    access_token_ttl: duration('60s', '86400s').prefault('5m').describe('Lifetime of access tokens.'),
    compat_token_ttl: duration('60s', '86400s')
      .prefault('5m')
      .describe('Lifetime of access tokens of chat clients that support refresh; other tokens do not expire.'),
    session_limit: sessionLimitSection.prefault({}).describe('Limits the number of client sessions per user.'),
    inactive_session_expiration: inactiveSessionSection.prefault({}).describe('Ends inactive sessions.'),
    plan_management_iframe_uri: webUrl()
      .optional()
      .describe(
        'URL of a billing page, where users see and change their plan. The account area shows it in a ' +
          'frame on its own tab.',
      ),
  })
    .prefault({})
    .describe('Settings that may change between versions.'),
});

const withAdminAreaRule = rule(sections, ['account', 'admin_area'], ({ account, admin_area }, problem) => {
  if (!admin_area.require_second_factor || account.second_factor !== 'off') return;
  problem(['admin_area', 'require_second_factor'], 'requires account.second_factor "optional" or "required"');
});

const withOwnUrisRule = rule(withAdminAreaRule, ['clients', 'http'], ({ clients, http }, problem) => {
  const base = http.public_base;
  if (base === undefined) return;
  for (const [index, { redirect_uris }] of clients.entries()) {
    for (const { path, message } of redirectUrisOfService(redirect_uris, base))
      problem(['clients', index, ...path], message);
  }
});

const checked = rule(withOwnUrisRule, ['http', 'telemetry'], ({ http, telemetry }, problem) => {
  if (telemetry.metrics.exporter === 'prometheus') return;
  for (const [listener, { resources }] of (http.listeners ?? []).entries()) {
    const index = resources.findIndex((resource) => resourceName(resource) === 'prometheus');
    if (index === -1) continue;
    const at = ['http', 'listeners', listener, 'resources', index];
    problem(at, '"prometheus" requires telemetry.metrics.exporter "prometheus"');
  }
});

export const configSchema = hint(checked, { mistaken: MISTAKEN_KEYS });

export type ParsedConfig = z.output<typeof configSchema>;

let shapeRead: MappingShape | undefined;

/** Returns the shape of the whole file, computed once from the schema. */
export function configShape(): MappingShape {
  if (shapeRead !== undefined) return shapeRead;
  const shape = shapeOf(configSchema);
  if (shape.kind !== 'mapping') throw new TypeError('the configuration is a mapping');
  shapeRead = shape;
  return shape;
}

/** Inputs of the defaults besides the checked tree. */
export interface Surroundings {
  readonly environment: Environment;
  readonly variables: OtherVariables;
  readonly workingDirectory: string;
  readonly directoryKeys: readonly KeyFile[];
  readonly pictures: Pictures;
  readonly theme: Theme | undefined;
  readonly templates: Templates;
  readonly isTrial: boolean;
  /** The section `homeserver` is spelled `matrix` in the file. */
  readonly isMatrix: boolean;
}

export type Config = Immutable<ReturnType<typeof completeConfig>>;

/** Fills in the defaults that depend on other settings or on the machine. */
export function completeConfig(parsed: ParsedConfig, inputs: Surroundings) {
  const { variables, workingDirectory } = inputs;
  const protocolName = parsed.protocol_name ?? (inputs.isMatrix ? 'matrix' : 'chat');
  const http = httpConfig(parsed.http, {
    bind: { host: variables.host, port: variables.port },
    protocolName,
    listenVariables: variables.listen,
  });
  const dataDir = parsed.data_dir ?? resolve(workingDirectory, variables.dataDir ?? join('.', 'data'));
  const passwords = passwordsConfig(parsed.passwords);
  const branding = brandingConfig(parsed.branding, http.publicBase, inputs);
  const { isTrial } = inputs;
  const email = emailConfig(parsed.email, {
    ...{ serviceName: branding.serviceName, publicBase: http.publicBase },
    ...{ dataDir, isTrial },
  });
  const accountDefaults = { isTrial, sendsMails: email.transport.kind !== 'blackhole' };
  return {
    dataDir,
    /** Used in path segments (`_chat`), scopes (`urn:chat:`) and actions (`org.chat.`). */
    protocolName,
    http,
    database: databaseConfig(parsed.database, inputs.environment),
    secrets: secretsConfig(parsed.secrets, inputs.directoryKeys),
    clients: parsed.clients.map(staticClientConfig),
    homeserver: homeserverConfig(parsed.homeserver),
    compat: compatConfig(parsed.compat, parsed.passwords.enabled),
    passwords,
    account: accountConfig(parsed.account, accountDefaults),
    adminArea: adminAreaConfig(parsed.admin_area),
    email,
    graphql: graphqlConfig(parsed.graphql),
    upstreamOauth2: upstreamOAuth2Config(parsed.upstream_oauth2),
    captcha: captchaConfig(parsed.captcha),
    rateLimiting: rateLimitingConfig(parsed.rate_limiting),
    oauth: oauthConfig(parsed.oauth),
    policy: policyConfig(parsed.policy),
    branding,
    /** Replace the bundled templates. */
    templates: inputs.templates,
    assets: {
      path: parsed.assets.path,
      manifest: parsed.templates.assets_manifest,
      hasSourceMaps: parsed.assets.source_maps,
    },
    index: { redirect: parsed.index.redirect },
    i18n: { defaultLanguage: parsed.i18n.default_language },
    telemetry: telemetryConfig(parsed.telemetry, inputs.environment),
    logging: loggingConfig(parsed.logging, variables.log.targetLevels, variables.isPlain),
    retention: retentionConfig(parsed.retention, {
      activitySeconds: parsed.account.activity_retention,
      authorizationGrantTtlSeconds: parsed.oauth.authorization_grant_ttl,
      recoverySessionTtlSeconds: parsed.account.recovery_session_ttl,
      registrationTtlSeconds: parsed.account.registration_ttl,
      unusedClientsSeconds: parsed.oauth.dynamic_registration.unused_client_ttl,
      sessionMaxLifetimeSeconds: parsed.oauth.session_max_lifetime ?? undefined,
      ...unusedSessions(parsed.experimental.inactive_session_expiration),
    }),
    jobs: jobsConfig(parsed.jobs),
    limits: limitsConfig(parsed.limits, defaultHashConcurrency(http.workers, passwords)),
    outbound: outboundConfig(parsed.outbound),
    experimental: {
      accessTokenTtlSeconds: parsed.experimental.access_token_ttl,
      compatTokenTtlSeconds: parsed.experimental.compat_token_ttl,
      sessionLimit: sessionLimitConfig(parsed.experimental.session_limit),
      planManagementIframeUri: parsed.experimental.plan_management_iframe_uri,
    },
  };
}
