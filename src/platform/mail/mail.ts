/** Mails on their way out: what one is made of, who takes it, and what became of handing it over. */

export interface Mailbox {
  /** Any text: it is encoded as the header needs it. */
  readonly name?: string | undefined;
  readonly address: string;
}

export interface Mail {
  readonly from: Mailbox;
  readonly replyTo: Mailbox | undefined;
  readonly to: Mailbox;
  /**
   * Of this mail, the same at each try: with the sender's domain it is the `Message-ID`, by which a receiver can tell
   * that it has the mail already. Letters, digits and hyphens.
   */
  readonly id: string;
  readonly date: Date;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A mail as it is handed over. */
export interface Message {
  /** The same at each try. Letters, digits and hyphens. */
  readonly id: string;
  /** Both are addresses, without a name. */
  readonly sender: string;
  readonly recipient: string;
  /** Head and body (RFC 5322). */
  readonly content: Buffer;
}

export type MailOutcome =
  | { readonly kind: 'sent' }
  /** A later try may succeed. The reason names no recipient; it quotes the other side about the settings only. */
  | { readonly kind: 'retry'; readonly reason: string }
  /** This mail will never be taken. */
  | { readonly kind: 'refused'; readonly reason: string };

/** Hands mails to the transport that delivers them. */
export interface MailTransport {
  /** How lines of the content end; `linux` for programs that read it from a pipe. */
  readonly newline: 'win' | 'linux';
  /** @param signal ends the attempt, with outcome `retry` */
  send(message: Message, signal: AbortSignal): Promise<MailOutcome>;
  /** Undefined when a mail would be taken now, else why not. Sends none. */
  test(signal: AbortSignal): Promise<string | undefined>;
}
