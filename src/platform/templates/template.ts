/**
 * Templates in the configuration: a subset of Jinja2 over JSON, compiled once. Documented in
 * docs/reference/claim-templates.md. Decision 0019 explains why this is not a library.
 *
 * A template can read only its variables and ends with a result or an error, since its work, iterations and output are
 * limited. The result is plain text without escaping.
 */
import { evaluate } from './evaluate.ts';
import { DEFAULT_MAX_OUTPUT_BYTES } from './meter.ts';
import { parse } from './parser.ts';

export { TemplateError, TemplateSyntaxError } from './problems.ts';

export interface Template {
  readonly source: string;
  /** Names of the variables that the template reads. */
  readonly reads: ReadonlySet<string>;
  /** Throws TemplateError. Variables are JSON; other values in them count as undefined. */
  render(variables: Readonly<Record<string, unknown>>): string;
}

export interface CompileOptions {
  /** Names that the template will receive. Other names are errors. */
  readonly variables?: readonly string[];
  /** Monotonic clock in milliseconds. */
  readonly now?: () => number;
  /** Maximum size of a result. Defaults to 4 KiB. */
  readonly maxOutputBytes?: number;
}

/** @throws TemplateSyntaxError */
export function compileTemplate(source: string, options: CompileOptions = {}): Template {
  const { variables, now = () => performance.now(), maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options;
  const { statements, reads } = parse(source, variables);
  return { source, reads, render: (given) => evaluate(source, statements, given, { maxOutputBytes, now }) };
}
