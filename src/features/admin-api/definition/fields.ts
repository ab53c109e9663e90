/** Parsers of filter values and body members. Each one describes the values that it accepts. */
import { z } from 'zod';
import { parseId, toUuid } from '#platform/base/ids.ts';
import { parseCidr } from '#platform/base/ip-address.ts';

interface FilterText {
  readonly description: string;
  readonly example: string | undefined;
}

/** A separate registry, because Zod omits examples when it describes schemas with a transform. */
const filterTexts = z.registry<FilterText>();

/**
 * Defines a filter of a list, with its text for the API description.
 * @param example an example value, if the description of the values is not enough
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

/** The same for a parameter that must be given. */
export function requiredParameter<Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  example: string,
): Schema {
  filterTexts.add(schema, { description, example });
  return schema;
}

/** Returns the text of a filter or parameter, or undefined if it has none. */
export function filterTextOf(schema: z.ZodType): FilterText | undefined {
  return filterTexts.get(schema);
}

export const EXAMPLE_ID = '01HZX7T3Q8V3M5N6P7R8S9T0AB';
export const EXAMPLE_TIME = '2026-01-31T12:00:00Z';

const ULID_PATTERN = '^[0-7][0-9A-HJKMNP-TV-Z]{25}$';

/** Parses an identifier to its `uuid`. */
export function ulid() {
  return z
    .string()
    .transform((text, context) => {
      const id = parseId(text);
      if (id !== undefined) return toUuid(id);
      context.addIssue({ code: 'custom', message: 'not a ULID' });
      return z.NEVER;
    })
    .meta({ pattern: ULID_PATTERN });
}

export function clientKind() {
  return z.enum(['static', 'managed', 'dynamic', 'builtin'], 'must be static, managed, dynamic or builtin');
}

/** Parses `true` or `false` in a query. */
export function flag() {
  return z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');
}

/** Parses an RFC 3339 time. */
export function instant() {
  return z.iso
    .datetime({ offset: true, message: `a time (RFC 3339), such as ${EXAMPLE_TIME}` })
    .transform((text) => new Date(text));
}

/** Accepts an IP address or a network. */
export function network() {
  return z.string().refine((text) => parseCidr(text) !== undefined, 'an IP address or network, such as 192.0.2.0/24');
}

/** Parses scopes, each a separate parameter. */
export function scopes() {
  return z.array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/, 'not a valid scope'));
}

export function text(maximum: number) {
  return z.string().min(1, 'must not be empty').max(maximum, `must have at most ${maximum} characters`);
}
