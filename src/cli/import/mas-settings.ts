import { targetOf } from '#app/service/foundation.ts';
import type { Config } from '#config/config.ts';
import { type ConfigSources, loadConfig } from '#config/load.ts';
import type { Finding } from '#domain/import/finding.ts';
import type { MasSettings } from '#domain/import/mas/mas-import.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { type PasswordScheme, pepperOf } from '#platform/password-hash/schemes.ts';
import type { ConnectionTarget } from '#platform/postgres/database-options.ts';

/** Variables that MAS reads. Those of Latchkey belong to its own configuration. */
const MAS_VARIABLE = /^(?:MAS_|PG)/;

/**
 * Reads the configuration of Matrix Authentication Service as `serve` would.
 * @param files as MAS is given them; later ones take precedence
 * @throws ExitError 78 with all problems
 */
export function readMasConfig(
  files: readonly string[],
  { environment, workingDirectory }: Pick<ConfigSources, 'environment' | 'workingDirectory'>,
): Config {
  const variables = MAS_VARIABLE;
  return loadConfig({ files, isMas: true, environment, variables, flags: {}, workingDirectory }).config;
}

/** Returns the connection to the database of MAS. @throws ExitError 1 if the configuration has none */
export function masConnection({ database: { server } }: Config): ConnectionTarget {
  if (server.kind === 'postgres') return targetOf(server);
  throw new ExitError(
    ExitCode.failure,
    'the configuration of MAS has no database section: pass all of its files, or --mas-database-uri',
  );
}

/** Returns the settings of MAS that its database depends on. @throws ExitError 78 without an encryption key */
export function masSettingsOf({ secrets, passwords }: Config): MasSettings {
  if (secrets.encryption === undefined) throw new ExitError(ExitCode.config, 'secrets.encryption: is required');
  return { encryptionKey: Buffer.from(secrets.encryption.reveal(), 'hex'), schemes: passwords.schemes };
}

/** Returns settings of MAS that this server must have as well, because what it imports depends on them. */
export function findingsOfMasConfig(theirs: Config, own: Config): readonly Finding[] {
  return [
    ...theirs.passwords.schemes.flatMap((scheme) => findingOfScheme(scheme, own) ?? []),
    ...(theirs.http.issuer === own.http.issuer
      ? []
      : ([
          {
            severity: 'warning',
            code: 'issuer_differs',
            message: `the issuer is ${own.http.issuer} here, but ${theirs.http.issuer} in MAS: applications that compare it refuse ID tokens. Set http.issuer`,
          },
        ] as const)),
    ...(theirs.homeserver.homeserver === own.homeserver.homeserver
      ? []
      : ([
          {
            severity: 'error',
            code: 'server_name_differs',
            message: `homeserver.homeserver is ${own.homeserver.homeserver} here, but ${theirs.homeserver.homeserver} in MAS. Set it to the same name`,
          },
        ] as const)),
  ];
}

/** A missing version is found with the passwords that have it. */
function findingOfScheme(theirs: PasswordScheme, { passwords }: Config): Finding | undefined {
  const own = passwords.schemes.find(({ version }) => version === theirs.version);
  if (own === undefined) return undefined;
  const wrong = [
    ...(own.algorithm === theirs.algorithm ? [] : ['algorithm']),
    ...(pepperOf(own).equals(pepperOf(theirs)) ? [] : ['secret']),
    ...(own.unicodeNormalization === theirs.unicodeNormalization ? [] : ['unicode_normalization']),
  ];
  if (wrong.length === 0) return undefined;
  return {
    severity: 'error',
    code: 'password_scheme_differs',
    message: `the entry of passwords.schemes with version ${theirs.version} differs from that of MAS in ${wrong.join(', ')}: its passwords would be refused`,
  };
}
