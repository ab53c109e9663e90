/**
 * Templates of configurations: a subset of Jinja2 over JSON, compiled once. Documented in
 * docs/reference/claim-templates.md; why it is our own: docs/decisions/0019.
 *
 * A template reads its variables and nothing else, and has a result or an error: its work, its turns and its output are
 * bounded. The result is plain text, of which nothing is escaped.
 */
import { evaluate } from './evaluate.ts';
import { DEFAULT_MAX_OUTPUT_BYTES } from './meter.ts';
import { parse } from './parser.ts';

export { TemplateError, TemplateSyntaxError } from './problems.ts';

export interface Template {
  readonly source: string;
  /** Names of the variables that it reads. */
  readonly reads: ReadonlySet<string>;
  /** Throws TemplateError. Variables are JSON: what else they hold counts as not there. */
  render(variables: Readonly<Record<string, unknown>>): string;
}

export interface CompileOptions {
  /** Names that the template will get; others are then an error. */
  readonly variables?: readonly string[];
  /** Milliseconds of a clock that only goes forward. */
  readonly now?: () => number;
  /** Of a result, in place of 4 KiB. */
  readonly maxOutputBytes?: number;
}

/** Throws TemplateSyntaxError. */
export function compileTemplate(source: string, options: CompileOptions = {}): Template {
  const { variables, now = () => performance.now(), maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES } = options;
  const { statements, reads } = parse(source, variables);
  return { source, reads, render: (given) => evaluate(source, statements, given, { maxOutputBytes, now }) };
}
