/** How values of filters and members of bodies are read; each says in words what it takes. */
import { z } from 'zod';
import { parseId, toUuid } from '#platform/base/ids.ts';

interface FilterText {
  readonly description: string;
  readonly example: string | undefined;
}

/** Not in the schemas themselves: Zod leaves examples out of what it describes of values that are transformed. */
const filterTexts = z.registry<FilterText>();

/**
 * A filter of a list, with what the description of the API says about it.
 * @param example a value, where the description of the values is not enough
 */
export function filter<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  example?: string,
): z.ZodOptional<Schema> {
  const made = schema.optional();
  filterTexts.add(made, { description, example });
  return made;
}

/** What `filter` was told; undefined: it did not make this one. */
export function filterTextOf(schema: z.ZodType): FilterText | undefined {
  return filterTexts.get(schema);
}

export const EXAMPLE_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
export const EXAMPLE_TIME = '2026-01-31T12:00:00Z';

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
    .datetime({ offset: true, message: `a time as in RFC 3339, such as ${EXAMPLE_TIME}` })
    .transform((text) => new Date(text));
}

/** Scopes, each a parameter of its own. */
export function scopes() {
  return z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/, 'it is no scope'));
}

export function text(maximum: number) {
  return z.string().min(1, 'it is empty').max(maximum, `at most ${maximum} characters`);
}
