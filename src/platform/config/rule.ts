import type { z } from 'zod';

/** Reports a broken rule at a key of the mapping, or at the mapping itself. */
export type ReportProblem = (path: readonly (string | number)[], message: string) => void;

/**
 * A rule over several keys of one mapping. It runs also when other keys are wrong, so that one report names all
 * problems, and is left out when one of its own keys is.
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
    { when: (payload) => isMapping(payload.value) },
  );
}

/** Elements of a list with their positions. */
export type Elements<Value> = readonly (readonly [index: number, value: Value])[];

/** A rule over the elements of a list; it sees those that are right in themselves. */
export function listRule<Element extends z.ZodType>(
  schema: z.ZodArray<Element>,
  check: (elements: Elements<z.output<Element>>, problem: ReportProblem) => void,
): z.ZodArray<Element> {
  return schema.superRefine(
    (elements, context) => check(rightElements(elements, context.issues, []), reporter(context)),
    { when: (payload) => Array.isArray(payload.value) },
  );
}

/** A rule over some keys of the mappings in a list; it sees those mappings whose keys of these names are right. */
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
      // Another rule that is broken says nothing of the values.
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

function isMapping(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
