/** What a check of `latchkey doctor` came to, and how that is printed. */

export type Status = 'ok' | 'warn' | 'fail' | 'skip';

/** In the order of the output; the manual says when each of them fails. Sign-in providers and listeners with TLS have one each. */
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
  /** What was seen. Holds no secret, and nothing that another server wrote. */
  readonly message: string;
  /** What to do about it. */
  readonly hint: string | null;
}

export function ok(name: CheckName, message: string): Finding {
  return { name, status: 'ok', message, hint: null };
}

/** It works, but not for everybody, or not for long. */
export function warn(name: CheckName, message: string, hint: string): Finding {
  return { name, status: 'warn', message, hint };
}

export function fail(name: CheckName, message: string, hint: string): Finding {
  return { name, status: 'fail', message, hint };
}

/** @param message why it does not apply, or could not be looked at */
export function skip(name: CheckName, message: string): Finding {
  return { name, status: 'skip', message, hint: null };
}

/** One line each, what to do below it, and a last line that counts. */
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
