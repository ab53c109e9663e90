/** The content of an email, from which both text and HTML are generated, so that neither says more than the other. */

import type { MailName } from '#config/mail-template.ts';

export interface MailText {
  /** Name of the templates that may replace it. */
  readonly name: MailName;
  /** Contains nothing that someone else chose. */
  readonly subject: string;
  readonly heading: string;
  /** Someone entered the address. Its owner need not have an account. */
  readonly isUnknownRecipient?: true;
  readonly parts: readonly MailPart[];
}

export type MailPart =
  | { readonly kind: 'text'; readonly text: string }
  /** A code to type in. It stands out, and is never mirrored or broken. */
  | { readonly kind: 'code'; readonly code: string }
  /** The main link: a button, and the URL below it. */
  | { readonly kind: 'link'; readonly label: string; readonly href: string }
  /** Values that someone else chose are passed through `inert`. */
  | { readonly kind: 'facts'; readonly facts: readonly (readonly [label: string, value: string])[] };

const FIRST_STRONG_ISOLATE = '\u2068';
const POP_DIRECTIONAL_ISOLATE = '\u2069';
const ZERO_WIDTH_SPACE = '\u200b';
const MAX_CHARACTERS = 255;

/** Isolates a text that someone else chose, so that its direction does not affect the surrounding sentence. */
export function quoted(text: string): string {
  return isolated(inert(text));
}

/** Changes a text that someone else chose, so that email programs do not turn it into a link (security S-76). */
export function inert(text: string): string {
  const clean = text.replace(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu, ' ').trim();
  const short = [...clean].slice(0, MAX_CHARACTERS).join('');
  return short.replace(/[./:@\\]/g, (sign) => sign + ZERO_WIDTH_SPACE);
}

/** Isolates a text whose direction may differ from the surrounding text. */
export function isolated(text: string): string {
  return `${FIRST_STRONG_ISOLATE}${text}${POP_DIRECTIONAL_ISOLATE}`;
}
