/** Results of the checks of a deployment, and how `latchkey doctor` prints them. */

export type Status = 'ok' | 'warn' | 'fail' | 'skip';

/**
 * In output order; the manual documents when each one fails. Sign-in providers and listeners with TLS have one check
 * each.
 */
export const CHECKS = [
  'config',
  'secrets.files',
  'listener.resources',
  'database',
  'embedded',
  'secrets.encryption',
  'instances',
  'queue',
  'cleanup',
  'passwords.schemes',
  'usernames',
  'access',
  'client_ip',
  'public_base',
  'issuer',
  'listener.self',
  'secrets.keys',
  'email',
  'homeserver',
  'homeserver.wellknown',
  'homeserver.versions',
  'homeserver.whoami',
  'homeserver.secret',
  'compat.login',
] as const;

export type CheckName = (typeof CHECKS)[number] | `upstream.${string}` | `tls.${string}`;

/** Name of a check without the provider or listener. */
export type CheckCode = (typeof CHECKS)[number] | 'upstream' | 'tls';

const GUIDES: Readonly<Record<CheckCode, string>> = {
  config: 'docs/reference/configuration.md',
  'secrets.files': 'docs/guides/keys.md',
  'listener.resources': 'docs/guides/operate.md',
  database: 'docs/guides/postgresql.md',
  embedded: 'docs/guides/postgresql.md',
  'secrets.encryption': 'docs/guides/keys.md',
  instances: 'docs/guides/scale-out.md',
  queue: 'docs/guides/operate.md',
  cleanup: 'docs/guides/operate.md',
  'passwords.schemes': 'docs/guides/accounts.md',
  usernames: 'docs/guides/accounts.md',
  access: 'docs/guides/clients.md',
  client_ip: 'docs/guides/reverse-proxy.md',
  public_base: 'docs/guides/reverse-proxy.md',
  issuer: 'docs/guides/reverse-proxy.md',
  'listener.self': 'docs/guides/operate.md',
  'secrets.keys': 'docs/guides/keys.md',
  email: 'docs/guides/mail.md',
  homeserver: 'docs/guides/homeserver.md',
  'homeserver.wellknown': 'docs/guides/homeserver.md',
  'homeserver.versions': 'docs/guides/homeserver.md',
  'homeserver.whoami': 'docs/guides/homeserver.md',
  'homeserver.secret': 'docs/guides/homeserver.md',
  'compat.login': 'docs/guides/homeserver.md',
  upstream: 'docs/guides/upstream-providers.md',
  tls: 'docs/guides/tls.md',
};

/** Returns the stable code of a check, what it is about if there are several, and its page in the manual. */
export function describeCheck(name: CheckName): {
  readonly code: CheckCode;
  readonly subject: string | undefined;
  readonly guide: string;
} {
  const { code, subject } = partsOf(name);
  return { code, subject, guide: GUIDES[code] };
}

function partsOf(name: CheckName): { readonly code: CheckCode; readonly subject: string | undefined } {
  const known = CHECKS.find((check) => check === name);
  if (known !== undefined) return { code: known, subject: undefined };
  const code = name.startsWith('upstream.') ? 'upstream' : 'tls';
  return { code, subject: name.slice(code.length + 1) };
}

export const CHECK_CODES: readonly CheckCode[] = [...CHECKS, 'upstream', 'tls'];

export interface Finding {
  readonly name: CheckName;
  readonly status: Status;
  /** The result. Contains no secret and no text from another server. */
  readonly message: string;
  /** How to fix it. */
  readonly hint: string | null;
}

export function ok(name: CheckName, message: string): Finding {
  return { name, status: 'ok', message, hint: null };
}

/** A check that works, but not for all users or not for long. */
export function warn(name: CheckName, message: string, hint: string): Finding {
  return { name, status: 'warn', message, hint };
}

export function fail(name: CheckName, message: string, hint: string): Finding {
  return { name, status: 'fail', message, hint };
}

/** @param message why the check does not apply or could not run */
export function skip(name: CheckName, message: string): Finding {
  return { name, status: 'skip', message, hint: null };
}

/** Formats one line per finding with its hint below, and a summary line. */
export function findingsText(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const lines = findings.flatMap(({ name, status, message, hint }) => [
    `${status.padEnd(4)}  ${name.padEnd(width)}  ${message}`,
    ...(hint === null ? [] : [`      ${''.padEnd(width)}  ${hint}`]),
  ]);
  const count = (wanted: Status): number => findings.filter(({ status }) => status === wanted).length;
  return [...lines, `${count('ok')} ok, ${count('warn')} warn, ${count('fail')} fail, ${count('skip')} skip`, ''].join(
    '\n',
  );
}
