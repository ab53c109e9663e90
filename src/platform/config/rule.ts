import type { z } from 'zod';
import { isObject } from '#platform/base/objects.ts';

/** Reports a broken rule at a key of the mapping, or at the whole mapping. */
export type ReportProblem = (path: readonly (string | number)[], message: string) => void;

/**
 * Adds a rule over several keys of one mapping. It runs even if other keys are invalid, so that one report contains all
 * problems. It is skipped if one of its own keys is invalid.
 */
export function rule<Schema extends z.ZodObject, Key extends keyof z.output<Schema> & string>(
  schema: Schema,
  keys: readonly Key[],
  check: (values: Pick<z.output<Schema>, Key>, problem: ReportProblem) => void,
): Schema {
  return schema.superRefine(
    (value, context) => {
      if (context.issues.some((issue) => concerns(issue.path, keys))) return;
      check(value, reporter(context));
    },
    { when: (payload) => isObject(payload.value) },
  );
}

/** List elements with their positions. */
export type Elements<Value> = readonly (readonly [index: number, value: Value])[];

/** Adds a rule over the elements of a list. It receives only the valid elements. */
export function listRule<Element extends z.ZodType>(
  schema: z.ZodArray<Element>,
  check: (elements: Elements<z.output<Element>>, problem: ReportProblem) => void,
): z.ZodArray<Element> {
  return schema.superRefine(
    (elements, context) => check(rightElements(elements, context.issues, []), reporter(context)),
    { when: (payload) => Array.isArray(payload.value) },
  );
}

/**
 * Adds a rule over some keys of the mappings in a list. It receives only mappings whose values for these keys are
 * valid.
 */
export function listKeysRule<Element extends z.ZodObject, Key extends keyof z.output<Element> & string>(
  schema: z.ZodArray<Element>,
  keys: readonly Key[],
  check: (elements: Elements<Pick<z.output<Element>, Key>>, problem: ReportProblem) => void,
): z.ZodArray<Element> {
  return schema.superRefine(
    (elements, context) => check(rightElements(elements, context.issues, keys), reporter(context)),
    { when: (payload) => Array.isArray(payload.value) },
  );
}

type Issues = readonly { readonly code?: string | undefined; readonly path?: readonly PropertyKey[] | undefined }[];

function rightElements<Value>(elements: readonly Value[], issues: Issues, keys: readonly string[]): Elements<Value> {
  const wrong = new Set(
    issues
      // Violations of other rules do not make the values invalid.
      .filter(({ code, path = [] }) => (path.length === 1 ? code !== 'custom' : concerns(path.slice(1), keys)))
      .map(({ path = [] }) => path[0]),
  );
  return [...elements.entries()].filter(([index]) => !wrong.has(index));
}

function reporter(context: z.core.$RefinementCtx): ReportProblem {
  return (path, message) => context.addIssue({ code: 'custom', path: [...path], message });
}

function concerns(path: readonly PropertyKey[] | undefined, keys: readonly string[]): boolean {
  const [first] = path ?? [];
  return keys.some((key) => key === first);
}
