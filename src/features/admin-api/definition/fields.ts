/** How values of filters and members of bodies are read; each says in words what it takes. */
import { z } from 'zod';
import { parseId, toUuid } from '#platform/base/ids.ts';

const ULID_PATTERN = '^[0-7][0-9A-HJKMNP-TV-Z]{25}$';

/** The `uuid` of an identifier. */
export function ulid() {
  return z
    .string()
    .transform((text, context) => {
      const id = parseId(text);
      if (id !== undefined) return toUuid(id);
      context.addIssue({ code: 'custom', message: 'it is no ULID' });
      return z.NEVER;
    })
    .meta({ pattern: ULID_PATTERN });
}

/** `true` or `false` in a query. */
export function flag() {
  return z.enum(['true', 'false'], 'true or false').transform((text) => text === 'true');
}

/** RFC 3339. */
export function instant() {
  return z.iso
    .datetime({ offset: true, message: 'a time as in RFC 3339, such as 2026-01-31T12:00:00Z' })
    .transform((text) => new Date(text));
}

export function text(maximum: number) {
  return z.string().min(1, 'it is empty').max(maximum, `at most ${maximum} characters`);
}
