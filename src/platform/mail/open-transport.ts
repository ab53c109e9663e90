import type { Clock } from '#platform/base/clock.ts';
import type { Secret } from '#platform/base/secret.ts';
import { FileTransport } from './file-transport.ts';
import type { MailTransport } from './mail.ts';
import { SendmailTransport } from './sendmail-transport.ts';
import { SmtpTransport } from './smtp-transport.ts';

/** How emails are delivered, as configured. */
export type TransportChoice =
  /** Emails are not delivered. */
  | { readonly kind: 'blackhole' }
  | {
      readonly kind: 'smtp';
      readonly hostname: string;
      readonly port: number;
      readonly mode: 'plain' | 'starttls' | 'tls';
      readonly credentials: { readonly username: string; readonly password: Secret } | undefined;
      readonly timeoutSeconds: number;
      readonly ehloName: string;
      readonly sender: string;
    }
  | { readonly kind: 'sendmail'; readonly command: string; readonly timeoutSeconds: number }
  | { readonly kind: 'file'; readonly directory: string };

/** @returns undefined if emails are not delivered */
export function openTransport(choice: TransportChoice, clock: Clock): MailTransport | undefined {
  switch (choice.kind) {
    case 'blackhole':
      return undefined;
    case 'smtp':
      return new SmtpTransport(choice);
    case 'sendmail':
      return new SendmailTransport(choice);
    case 'file':
      return new FileTransport({ directory: choice.directory, clock });
  }
}
