import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { ConnectionTarget } from '#platform/postgres/database-options.ts';
import { completeServers, connectionDefaults, readPostgresUri } from './sections/postgres-uri.ts';

/**
 * Returns the connection for a database URI passed to a command. Omitted parts follow libpq.
 * @param readFile reads the certificates and keys that the URI names
 * @throws ExitError 2 if it is not a PostgreSQL URI
 */
export function uriConnection(
  uri: string,
  option: string,
  environment: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => string,
): ConnectionTarget {
  const read = readPostgresUri(uri);
  if (!read.ok) {
    throw new ExitError(
      ExitCode.usage,
      `${option}: expected a URI of the form postgres://user@host/database: ${read.problem}`,
    );
  }
  const { parts } = read;
  const content = (path: string | undefined) => (path === undefined ? undefined : readFile(path));
  const { ssl_ca: ca, ssl_certificate: certificate, ssl_key: key } = parts.files;
  const [caText, certificateText, keyText] = [content(ca), content(certificate), content(key)];
  const defaults = connectionDefaults(environment);
  const [first, ...otherServers] = completeServers(parts.servers, defaults.servers);
  const user = parts.user ?? defaults.user;
  const password = parts.password ?? defaults.password;
  return {
    ...first,
    otherServers,
    user,
    database: parts.database ?? defaults.database ?? user,
    ...(password !== undefined && { password }),
    ...defaults.session,
    ...parts.session,
    ssl: {
      ...parts.tls,
      mode: parts.sslMode ?? defaults.sslMode,
      ...(caText !== undefined && { ca: caText }),
      ...(certificateText !== undefined && { certificate: certificateText }),
      ...(keyText !== undefined && { key: keyText }),
    },
  };
}
