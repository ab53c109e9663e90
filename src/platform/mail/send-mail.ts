import { outside } from '#platform/base/tasks.ts';
import type { Mail, Mailbox, MailOutcome, MailTransport } from './mail.ts';

/** RFC 3834 5: prevents automatic replies. */
const HEADERS = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' } as const;
/** Excludes anything that could be read as a second address, a command-line option or a line break (security S-76). */
const ONE_ADDRESS = /^[^\p{C}\s<>()[\],;:\\"@-][^\p{C}\s<>()[\],;:\\"@]*@[^\p{C}\s<>(),;\\"@]+$/u;

/** Composes an email and passes it to the transport. */
export async function sendMail(transport: MailTransport, mail: Mail, signal: AbortSignal): Promise<MailOutcome> {
  const { from, id, to } = mail;
  if (!ONE_ADDRESS.test(to.address)) return { kind: 'refused', reason: 'the recipient is not a single address' };
  const content = await compose(mail, transport.newline);
  return await transport.send({ id, sender: from.address, recipient: to.address, content }, signal);
}

/** Combines text and HTML as alternatives (RFC 5322, RFC 2046 5.1.4). */
async function compose(mail: Mail, newline: 'win' | 'linux'): Promise<Buffer> {
  const { from, replyTo, to, id, date, subject, text, html } = mail;
  // Loaded with the first email, since most processes send none.
  const { default: MailComposer } = await outside(import('nodemailer/lib/mail-composer'));
  const composer = new MailComposer({
    from: mailbox(from),
    to: mailbox(to),
    ...(replyTo !== undefined && { replyTo: mailbox(replyTo) }),
    // A line break would end the header, so it is removed from names that users chose (security S-76).
    subject: oneLine(subject),
    messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
    date,
    text,
    html,
    headers: HEADERS,
    newline,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await outside(composer.compile().build());
}

function mailbox({ name, address }: Mailbox) {
  return { name: plainPhrase(oneLine(name ?? '')), address };
}

/**
 * Prevents spoofed names. Email clients decode encoded words (RFC 2047) even within quotes. An invisible non-ASCII
 * character makes the composer encode the whole name, so that clients show it unchanged.
 */
function plainPhrase(name: string): string {
  return name.includes('=?') ? `${name}\u200b` : name;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{C}\u2028\u2029]+/gu, ' ').trim();
}
