import { isUtf8 } from 'node:buffer';
import { LatchkeyError } from '#platform/base/errors.ts';

const JSON_TYPE = /^application\/json\s*(?:;\s*charset\s*=\s*(?:utf-8|"utf-8")\s*)?$/i;
const MERGE_PATCH_TYPE = /^application\/merge-patch\+json\s*(?:;|$)/i;
const MAX_DEPTH = 32;
const MAX_MEMBERS = 256;
/** Characters that PostgreSQL cannot store or UTF-8 cannot encode. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what is refused
const UNSTORABLE = /[\u0000\p{Surrogate}]/u;

/** Deviations of a route from the defaults. */
export interface JsonRules {
  /** Overrides `limits.max_body.json`. */
  readonly maxBytes?: number;
  /** Maximum number of members per object. Defaults to 256. */
  readonly maxMembers?: number;
  /**
   * If a member is repeated, the last one counts, because callers of the route expect that. Other routes reject the
   * body.
   */
  readonly allowsRepeatedMembers?: boolean;
  /** The body is a merge patch, and may have its own media type (RFC 7396 4). */
  readonly isMergePatch?: boolean;
  /**
   * Runs when the body has arrived, so that callers who have reached a limit are refused before the work of parsing.
   */
  readonly beforeParsing?: () => Promise<void>;
}

/** Also matches types with a `+json` suffix (RFC 6839 3.1). Ignores the charset: the body itself is checked. */
const CHAT_JSON_TYPE = /^application\/(?:[\w!#$&^.+-]{1,64}\+)?json\s*(?:;|$)/i;

/** Returns whether a `Content-Type` is JSON in UTF-8. */
export function isJsonType(contentType: string | undefined): boolean {
  return contentType !== undefined && JSON_TYPE.test(contentType.trim());
}

/** Does the same for chat clients, which may omit the type. */
export function isChatJsonType(contentType: string | undefined): boolean {
  return contentType === undefined || CHAT_JSON_TYPE.test(contentType.trim());
}

/** Parameters are ignored, because RFC 7396 4 defines none. */
export function isMergePatchType(contentType: string | undefined): boolean {
  return contentType !== undefined && MERGE_PATCH_TYPE.test(contentType.trim());
}

/**
 * Parses a JSON body. Objects may have own members such as `__proto__`, so read them with `Object.entries`. Throws
 * `not_json`, or `malformed_request` for JSON that violates a rule.
 * @see security 3.10, RFC 8259
 */
export function parseJson(
  body: Buffer,
  { allowsRepeatedMembers = false, maxMembers = MAX_MEMBERS }: JsonRules = {},
): unknown {
  if (!isUtf8(body)) throw notJson('the request body is not UTF-8');
  const text = body.toString();
  const value = parsed(text);
  // RFC 8259 4: which of two members with the same name counts depends on the parser. Another program could see another
  // one.
  const members = countMembers(value, 1, maxMembers);
  if (!allowsRepeatedMembers && members !== countColons(text)) throw malformed('a member name is repeated');
  return value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson('the request body is not valid JSON');
  }
}

/** Counts the members of all objects in a value and enforces the limits. */
function countMembers(value: unknown, depth: number, maxMembers: number): number {
  if (typeof value === 'string' && UNSTORABLE.test(value)) throw malformed('a string contains an invalid character');
  if (value === null || typeof value !== 'object') return 0;
  if (depth > MAX_DEPTH) throw malformed(`the request body is nested more than ${MAX_DEPTH} levels deep`);
  if (Array.isArray(value)) return sum(value.map((element: unknown) => countMembers(element, depth + 1, maxMembers)));
  const members: [string, unknown][] = Object.entries(value);
  if (members.length > maxMembers) throw malformed(`an object has more than ${maxMembers} members`);
  return sum(
    members.map(
      ([name, member]) => 1 + countMembers(name, depth, maxMembers) + countMembers(member, depth + 1, maxMembers),
    ),
  );
}

/** Counts the colons outside of strings: one for each member in the text. */
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
