import type { Mailbox } from './mail.ts';

const ADDRESS = /^[^\s<>()[\],;:\\"@-][^\s<>()[\],;:\\"@]*@(?:[A-Za-z0-9-]+\.)*[A-Za-z0-9-]+$/;
/** `"Name" <address>`, `Name <address>`. */
const NAMED = /^(?:"((?:[^"\\]|\\.)*)"|([^"<>@,;:\\()[\]]*))\s*<([^<>]*)>$/;
const CONTROL = /\p{C}/u;

/** Parses a mailbox (RFC 5322 3.4) as commonly written. Returns undefined if the text is not one. */
export function parseMailbox(text: string): Mailbox | undefined {
  const trimmed = text.trim();
  if (CONTROL.test(trimmed)) return undefined;
  const [, quoted, plain, bracketed] = NAMED.exec(trimmed) ?? [];
  const address = bracketed ?? trimmed;
  if (!ADDRESS.test(address) || address.length > 254) return undefined;
  const name = quoted === undefined ? plain?.trim() : quoted.replaceAll(/\\(.)/g, '$1').trim();
  return name === undefined || name === '' ? { address } : { name, address };
}
