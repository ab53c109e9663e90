/** Outgoing emails: their contents, the transport interface and the outcome of a delivery attempt. */

export interface Mailbox {
  /** Any text. It is encoded as the header requires. */
  readonly name?: string | undefined;
  readonly address: string;
}

export interface Mail {
  readonly from: Mailbox;
  readonly replyTo: Mailbox | undefined;
  readonly to: Mailbox;
  /**
   * Identifies this email and stays the same on every attempt. Together with the sender's domain it is the
   * `Message-ID`, which lets receivers detect duplicates. Letters, digits and hyphens.
   */
  readonly id: string;
  readonly date: Date;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** An email as passed to a transport. */
export interface Message {
  /** The same on every attempt. Letters, digits and hyphens. */
  readonly id: string;
  /** Sender and recipient are addresses without names. */
  readonly sender: string;
  readonly recipient: string;
  /** Header and body (RFC 5322). */
  readonly content: Buffer;
}

export type MailOutcome =
  | { readonly kind: 'sent' }
  /** A retry may succeed. The reason never names a recipient, and quotes the server only about the settings. */
  | { readonly kind: 'retry'; readonly reason: string }
  /** This email will never be accepted. */
  | { readonly kind: 'refused'; readonly reason: string };

/** Delivers emails, or passes them to a server or program that does. */
export interface MailTransport {
  /** Line endings of the content. `linux` for programs that read it from a pipe. */
  readonly newline: 'win' | 'linux';
  /** @param signal ends the attempt with the outcome `retry` */
  send(message: Message, signal: AbortSignal): Promise<MailOutcome>;
  /** Checks whether an email would be accepted now, without sending one. Returns the reason if not. */
  test(signal: AbortSignal): Promise<string | undefined>;
}
