import { join, resolve } from 'node:path';
import type { Environment } from '#platform/config/sources/dot-env.ts';
import type { Config } from './config.ts';
import type { ParsedConfig } from './schema.ts';
import { accountConfig } from './sections/account.ts';
import { brandingConfig, type Pictures } from './sections/branding.ts';
import { staticClientConfig } from './sections/clients.ts';
import { databaseConfig } from './sections/database.ts';
import { homeserverConfig } from './sections/homeserver.ts';
import { httpConfig } from './sections/http.ts';
import { limitsConfig } from './sections/limits.ts';
import { loggingConfig } from './sections/logging.ts';
import { oauthConfig } from './sections/oauth.ts';
import { passwordsConfig } from './sections/passwords.ts';
import { policyConfig } from './sections/policy.ts';
import { rateLimitingConfig } from './sections/rate-limiting.ts';
import { retentionConfig } from './sections/retention.ts';
import { type KeyFile, secretsConfig } from './sections/secrets.ts';
import type { OtherVariables } from './sources/other-variables.ts';
import type { Templates } from './sources/template-files.ts';

/** What defaults depend on beside the checked tree. */
export interface Surroundings {
  readonly environment: Environment;
  readonly variables: OtherVariables;
  readonly workingDirectory: string;
  readonly directoryKeys: readonly KeyFile[];
  readonly pictures: Pictures;
  readonly templates: Templates;
  readonly isTrial: boolean;
  /** The file spells the section `homeserver` as `matrix`. */
  readonly isMatrix: boolean;
}

/** Fills in the defaults that depend on other settings or on the machine. */
export function completeConfig(parsed: ParsedConfig, surroundings: Surroundings): Config {
  const { variables, workingDirectory } = surroundings;
  // In trial mode nobody but this machine gets in (operations 2.1).
  const host = variables.host ?? (surroundings.isTrial ? 'localhost' : undefined);
  const http = httpConfig(parsed.http, { host, port: variables.port });
  return {
    dataDir: parsed.data_dir ?? resolve(workingDirectory, variables.dataDir ?? join('.', 'data')),
    protocolName: parsed.protocol_name ?? (surroundings.isMatrix ? 'matrix' : 'chat'),
    http,
    database: databaseConfig(parsed.database, surroundings.environment),
    secrets: secretsConfig(parsed.secrets, surroundings.directoryKeys),
    clients: parsed.clients.map(staticClientConfig),
    homeserver: homeserverConfig(parsed.homeserver),
    passwords: passwordsConfig(parsed.passwords),
    account: accountConfig(parsed.account, surroundings.isTrial),
    rateLimiting: rateLimitingConfig(parsed.rate_limiting),
    oauth: oauthConfig(parsed.oauth),
    policy: policyConfig(parsed.policy),
    branding: brandingConfig(parsed.branding, http.publicBase, surroundings.pictures),
    templates: surroundings.templates,
    index: { redirect: parsed.index.redirect },
    i18n: { defaultLanguage: parsed.i18n.default_language },
    logging: loggingConfig(parsed.logging, variables.log.targetLevels),
    retention: retentionConfig(
      parsed.retention,
      parsed.account.activity_retention,
      parsed.oauth.authorization_grant_ttl,
    ),
    limits: limitsConfig(parsed.limits),
    experimental: { accessTokenTtlSeconds: parsed.experimental.access_token_ttl },
  };
}
