import { join } from 'node:path';
import { z } from 'zod';
import { Secret } from '#platform/base/secret.ts';
import { type ReportProblem, rule } from '#platform/config/rule.ts';
import { hint } from '#platform/config/shape.ts';
import {
  bool,
  choice,
  duration,
  integer,
  list,
  mapping,
  path,
  secret,
  secretFile,
  text,
} from '#platform/config/values.ts';
import type { Mailbox } from '#platform/mail/mail.ts';
import { parseMailbox } from '#platform/mail/mailbox.ts';
import type { TransportChoice } from '#platform/mail/open-transport.ts';

const TRANSPORTS = ['blackhole', 'smtp', 'sendmail', 'file'] as const;
type Kind = (typeof TRANSPORTS)[number];

const PORTS = { plain: 25, starttls: 587, tls: 465 } as const;

/**
 * Defaults of keys that only some transports use. They are accepted for the others because `config dump --defaults`
 * prints them.
 */
export const EMAIL_DEFAULTS = { timeout: 30, max_connections: 2 } as const;
const DEFAULTS: ReadonlyMap<string, unknown> = new Map(Object.entries(EMAIL_DEFAULTS));

const SMTP: readonly Kind[] = ['smtp'];
const SENDMAIL: readonly Kind[] = ['sendmail'];
const BOTH: readonly Kind[] = ['smtp', 'sendmail'];

/** Keys that only some transports use. */
const USED_BY = [
  ['hostname', SMTP],
  ['port', SMTP],
  ['mode', SMTP],
  ['username', SMTP],
  ['password', SMTP],
  ['command', SENDMAIL],
  ['ehlo_name', SMTP],
  ['timeout', BOTH],
  ['max_connections', BOTH],
  ['max_per_minute', BOTH],
] as const;

const SINGLE_LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const HOST_NAME = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|[0-9A-Fa-f:]{2,45})$/;

/** RFC 5321 4.1.1.1. */
const EHLO_NAME =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[(?:\d{1,3}(?:\.\d{1,3}){3}|IPv6:[0-9A-Fa-f:.]+)\])$/;

function mailbox() {
  const error = 'expected an email address, or a name and an address as in "Name <name@example.org>"';
  const schema = z.string({ error }).transform((value, context): Mailbox => {
    const parsed = parseMailbox(value);
    if (parsed !== undefined) return parsed;
    context.addIssue(error);
    return z.NEVER;
  });
  return hint(schema, { type: 'mailbox' });
}

export const emailSection = rule(
  mapping({
    transport: hint(choice(TRANSPORTS), { defaultText: '`blackhole`; `file` in trial mode' })
      .optional()
      .describe(
        '`smtp`: an SMTP server. `sendmail`: a program that takes the arguments of sendmail. `file`: files ' +
          'in `outbox` in the data directory, kept for a week. `blackhole`: emails are discarded.',
      ),
    from: hint(mailbox(), { defaultText: 'the service name, `noreply@` and the host of `http.public_base`' })
      .optional()
      .describe('Sender of all emails.'),
    reply_to: mailbox().optional().describe('Reply-To address. Default: the sender.'),
    hostname: text({ maximum: 253, pattern: HOST_NAME, expected: 'expected a host name or an IP address' })
      .optional()
      .describe('SMTP server. Required for `smtp`.'),
    port: hint(integer(1, 65_535), { defaultText: '25, 587 or 465, depending on `mode`' })
      .optional()
      .describe('Port of the SMTP server. `smtp` only.'),
    mode: choice(['plain', 'starttls', 'tls'])
      .optional()
      .describe(
        'Encryption of the connection: none, STARTTLS (the server must offer it), or implicit TLS. Required ' +
          'for `smtp`.',
      ),
    username: text({ maximum: 255 })
      .optional()
      .describe('Username for the SMTP server; requires `password`. `smtp` only.'),
    password: hint(secret(), { trimmed: true })
      .optional()
      .describe('Password for the SMTP server; requires `username`. `smtp` only.'),
    password_file: secretFile('password'),
    ehlo_name: hint(
      text({ maximum: 253, pattern: EHLO_NAME, expected: 'expected a host name, or an IP address in brackets' }),
      { defaultText: 'the host of `http.public_base`' },
    )
      .optional()
      .describe('Hostname sent to the SMTP server (EHLO). `smtp` only.'),
    command: hint(path(['sendmail']), { defaultText: '`sendmail`' })
      .optional()
      .describe('Program that delivers emails, run as `command -i -f FROM -- TO`. `sendmail` only.'),
    timeout: hint(duration('1s', '10m'), { defaultText: `${EMAIL_DEFAULTS.timeout} s` })
      .optional()
      .describe('Timeout for sending an email. `smtp` and `sendmail`.'),
    max_connections: hint(integer(1, 50), { defaultText: String(EMAIL_DEFAULTS.max_connections) })
      .optional()
      .describe('Number of emails that a process sends concurrently. `smtp` and `sendmail`.'),
    max_per_minute: integer(1, 100_000)
      .optional()
      .describe('Number of emails per minute, across all processes; further emails are queued. `smtp` and `sendmail`.'),
    code_ttl: duration('1m', '60m').prefault('5m').describe('Lifetime of the code that verifies an email address.'),
    allow_single_label_domains: list(
      text({ maximum: 63, pattern: SINGLE_LABEL, expected: 'expected a host name without dots, in lowercase letters' }),
    )
      .prefault([])
      .describe('Domains without a dot that email addresses may have, for example `localhost`.'),
    security_notices: bool()
      .prefault(true)
      .describe(
        'Notifies users by email of changes to their account, for example a changed password or a sign-in from a ' +
          'new browser.',
      ),
    notify_unknown_recovery: bool()
      .prefault(false)
      .describe('Informs the recipient by email if a password reset is requested for an address without an account.'),
  }),
  [
    'transport',
    'hostname',
    'port',
    'mode',
    'username',
    'password',
    'command',
    'ehlo_name',
    'timeout',
    'max_connections',
    'max_per_minute',
  ],
  (values, problem) => {
    const { transport = 'blackhole', username, password } = values;
    for (const [key, kinds] of USED_BY) {
      const isDefault = DEFAULTS.get(key) === values[key];
      if (values[key] !== undefined && !isDefault && !kinds.includes(transport))
        problem([key], `has no effect with the transport "${transport}"`);
    }
    if (transport === 'smtp') requireForSmtp(values, problem);
    if (transport === 'smtp' && (username === undefined) !== (password === undefined))
      // Reported for the section rather than a key: if the password file is unreadable, only that is reported.
      problem([], 'give both "username" and "password", or neither');
  },
);

function requireForSmtp(
  { hostname, mode }: { hostname?: string | undefined; mode?: string | undefined },
  problem: ReportProblem,
): void {
  if (hostname === undefined) problem(['hostname'], 'missing; the transport "smtp" needs it');
  if (mode === undefined) problem(['mode'], 'missing; the transport "smtp" needs one of "plain", "starttls", "tls"');
}

export interface EmailInputs {
  readonly serviceName: string;
  readonly publicBase: string;
  readonly dataDir: string;
  /** Trial mode: mail is stored where the operator can read it (operations 2.1). */
  readonly isTrial: boolean;
}

export function emailConfig(parsed: z.output<typeof emailSection>, inputs: EmailInputs) {
  const { serviceName, publicBase, dataDir, isTrial } = inputs;
  const from = parsed.from ?? { name: serviceName, address: `noreply@${mailDomain(publicBase)}` };
  const transport = transportOf(parsed, { dataDir, publicBase, isTrial, sender: from.address });
  return {
    transport,
    from,
    replyTo: parsed.reply_to,
    maxConnections: parsed.max_connections ?? EMAIL_DEFAULTS.max_connections,
    maxPerMinute: parsed.max_per_minute,
    codeTtlSeconds: parsed.code_ttl,
    allowSingleLabelDomains: parsed.allow_single_label_domains,
    notifyUnknownRecovery: parsed.notify_unknown_recovery,
    /** No effect without a transport. */
    securityNotices: parsed.security_notices && transport.kind !== 'blackhole',
  };
}

interface TransportInputs extends Pick<EmailInputs, 'dataDir' | 'isTrial' | 'publicBase'> {
  readonly sender: string;
}

function transportOf(
  parsed: z.output<typeof emailSection>,
  { dataDir, isTrial, publicBase, sender }: TransportInputs,
): TransportChoice {
  const { hostname, mode, port, username, password, command } = parsed;
  const transport = parsed.transport ?? (isTrial ? 'file' : 'blackhole');
  const timeoutSeconds = parsed.timeout ?? EMAIL_DEFAULTS.timeout;
  switch (transport) {
    case 'smtp':
      // The rule above guarantees both.
      if (hostname === undefined || mode === undefined) return { kind: 'blackhole' };
      return {
        kind: transport,
        hostname,
        mode,
        port: port ?? PORTS[mode],
        credentials:
          username === undefined || password === undefined ? undefined : { username, password: new Secret(password) },
        timeoutSeconds,
        ehloName: parsed.ehlo_name ?? greetingName(publicBase),
        sender,
      };
    case 'sendmail':
      return { kind: transport, command: command ?? 'sendmail', timeoutSeconds };
    case 'file':
      return { kind: transport, directory: join(dataDir, 'outbox') };
    case 'blackhole':
      return { kind: transport };
  }
}

/** RFC 5321 4.1.3: an address literal is in brackets, and IPv6 has a prefix. */
function greetingName(publicBase: string): string {
  const { hostname } = new URL(publicBase);
  if (hostname.startsWith('[')) return hostname.replace('[', '[IPv6:');
  return /^[\d.]+$/.test(hostname) ? `[${hostname}]` : hostname;
}

/** An IP address is not a mail domain. */
function mailDomain(publicBase: string): string {
  const { hostname } = new URL(publicBase);
  return /^[\d.]+$|^\[/.test(hostname) ? 'localhost' : hostname;
}
