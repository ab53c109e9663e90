import { LatchkeyError } from '#platform/base/errors.ts';

/** The members of a JSON object. Members that are null are omitted, because they count as absent (chat-compat 3.3). */
export type Members = ReadonlyMap<string, unknown>;

/** Throws `malformed_request` if the value is not an object. */
export function membersOf(value: unknown, name = 'the body'): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong(`${name} must be an object`);
  const entries: [string, unknown][] = Object.entries(value);
  return new Map(entries.filter(([, member]) => member !== null));
}

/** Throws `malformed_request` unless the member is absent or a string. */
export function optionalText(members: Members, name: string): string | undefined {
  const value = members.get(name);
  if (value === undefined || typeof value === 'string') return value;
  throw wrong(`${name} must be a string`);
}

export function requiredText(members: Members, name: string): string {
  const value = optionalText(members, name);
  if (value === undefined) throw wrong(`${name} is missing`);
  return value;
}

export function optionalFlag(members: Members, name: string): boolean {
  const value = members.get(name);
  if (value === undefined) return false;
  if (typeof value === 'boolean') return value;
  throw wrong(`${name} must be true or false`);
}

function wrong(description: string): LatchkeyError {
  return new LatchkeyError('malformed_request', { description });
}
