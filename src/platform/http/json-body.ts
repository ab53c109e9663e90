import { isUtf8 } from 'node:buffer';
import { LatchkeyError } from '#platform/base/errors.ts';

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i;
const MAX_DEPTH = 32;
const MAX_MEMBERS = 256;
/** What PostgreSQL stores in no text, and what has no UTF-8. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what is refused
const UNSTORABLE = /[\u0000\p{Surrogate}]/u;

/** In what a route differs from the others. */
export interface JsonRules {
  /** In place of `limits.max_body.json`. */
  readonly maxBytes?: number;
  /** Of one object, in place of 256. */
  readonly maxMembers?: number;
  /** Of two members with one name the last counts, as its callers expect; otherwise such a body is refused. */
  readonly allowsRepeatedMembers?: boolean;
  /** Runs once the body has arrived: whoever has used up a limit is refused before the work of parsing. */
  readonly beforeParsing?: () => Promise<void>;
}

/** Also of documents that are JSON (RFC 6839 3.1); what it says of the encoding is left to the body itself. */
const CHAT_JSON_TYPE = /^application\/(?:[\w!#$&^.+-]{1,64}\+)?json\s*(?:;|$)/i;

/** Whether a `Content-Type` is that of JSON in UTF-8. */
export function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && JSON_TYPE.test(contentType.trim());
}

/** The same as chat clients send it: without a type as well. */
export function isChatJsonType(contentType: string | undefined): boolean {
  return contentType === undefined || CHAT_JSON_TYPE.test(contentType.trim());
}

/**
 * The value of a JSON body. Objects in it may have own members such as `__proto__`: read them by `Object.entries`.
 * Throws `not_json`, or `malformed_request` for JSON that is refused.
 * @see security 3.10, RFC 8259
 */
export function parseJson(
  body: Buffer,
  { allowsRepeatedMembers = false, maxMembers = MAX_MEMBERS }: JsonRules = {},
): unknown {
  if (!isUtf8(body)) throw notJson('the body is not UTF-8');
  const text = body.toString();
  const value = parsed(text);
  // RFC 8259 4: programs differ in which of two members with one name counts, so that a check could see another one.
  const members = countMembers(value, 1, maxMembers);
  if (!allowsRepeatedMembers && members !== countColons(text)) throw malformed('a member is repeated');
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson('the body is not JSON');
  }
}

/** Members of all objects in a value, which is found to be within the bounds. */
function countMembers(value: unknown, depth: number, maxMembers: number): number {
  if (typeof value === 'string' && UNSTORABLE.test(value)) throw malformed('a text holds what is not a character');
  if (value === null || typeof value !== 'object') return 0;
  if (depth > MAX_DEPTH) throw malformed(`the body is more than ${MAX_DEPTH} levels deep`);
  if (Array.isArray(value)) return sum(value.map((element: unknown) => countMembers(element, depth + 1, maxMembers)));
  const members: [string, unknown][] = Object.entries(value);
  if (members.length > maxMembers) throw malformed(`an object has more than ${maxMembers} members`);
  return sum(
    members.map(
      ([name, member]) => 1 + countMembers(name, depth, maxMembers) + countMembers(member, depth + 1, maxMembers),
    ),
  );
}

/** Colons outside of strings: one for each member as it was written. */
function countColons(text: string): number {
  return text.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function malformed(description: string): LatchkeyError {
  return new LatchkeyError('malformed_request', { description });
}

function notJson(description: string): LatchkeyError {
  return new LatchkeyError('not_json', { description });
}
