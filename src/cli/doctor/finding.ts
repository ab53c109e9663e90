/** Results of `latchkey doctor` checks, and how they are printed. */

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
