import { z } from 'zod';

/** What the loader and the manual need to know of a key beyond what zod holds. */
export interface Hints {
  /** Name of the value's type in the manual. */
  readonly type?: string;
  /** Never printed. */
  readonly secret?: true;
  /** A file with the value may hold DER bytes in place of text. */
  readonly binary?: true;
  /** White space around the value is dropped when it comes from a file, not only the last line end. */
  readonly trimmed?: true;
  /** The key holds the path of the file with the value of the key named here. */
  readonly fileOf?: string;
  /** A relative path is resolved against the directory of the file that names it; words that are no paths. */
  readonly path?: { readonly except: readonly string[] };
  /** Other spellings of the key. */
  readonly aliases?: readonly string[];
  /** What to use in place of the key. */
  readonly deprecated?: string;
  /** A default that depends on other settings or on the machine, or that reads better than its number. */
  readonly defaultText?: string;
}

export const hints = z.registry<Hints>();

/** Adds hints to a schema, keeping those that it has. */
export function hint<Schema extends z.ZodType>(schema: Schema, more: Hints): Schema {
  hints.add(schema, { ...hints.get(schema), ...more });
  return schema;
}
