/** What a mail says, of which text and HTML are made, so that neither says more than the other. */

import type { MailName } from '#config/mail-template.ts';

export interface MailText {
  /** Of the templates that may take its place. */
  readonly name: MailName;
  /** Nothing in it that a stranger chose. */
  readonly subject: string;
  readonly heading: string;
  /** Somebody entered the address: its owner need not have an account. */
  readonly isToStranger?: true;
  readonly parts: readonly MailPart[];
}

export type MailPart =
  | { readonly kind: 'text'; readonly text: string }
  /** To be typed in; it stands out, and is never mirrored or broken. */
  | { readonly kind: 'code'; readonly code: string }
  /** The main link: a button, and the address below it. */
  | { readonly kind: 'link'; readonly label: string; readonly href: string }
  /** Values that somebody else chose are made `inert`. */
  | { readonly kind: 'facts'; readonly facts: readonly (readonly [label: string, value: string])[] };

const FIRST_STRONG_ISOLATE = '\u2068';
const POP_DIRECTIONAL_ISOLATE = '\u2069';
const ZERO_WIDTH_SPACE = '\u200b';
const MAX_CHARACTERS = 255;

/** Text that somebody else chose, for a sentence of a mail: its direction does not reach the words around it. */
export function quoted(text: string): string {
  return isolated(inert(text));
}

/** Text that somebody else chose, of which mail programs make no link (security S-76). */
export function inert(text: string): string {
  const clean = text.replace(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu, ' ').trim();
  const short = [...clean].slice(0, MAX_CHARACTERS).join('');
  return short.replace(/[./:@\\]/g, (sign) => sign + ZERO_WIDTH_SPACE);
}

/** A text that may be written in the other direction than those around it. */
export function isolated(text: string): string {
  return `${FIRST_STRONG_ISOLATE}${text}${POP_DIRECTIONAL_ISOLATE}`;
}
