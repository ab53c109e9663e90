import type { z } from 'zod';
import type { Problem } from '#platform/config/problems.ts';
import { type MappingShape, mayHoldSecret, type Shape, shapeAt } from '#platform/config/shape.ts';
import { type MappingNode, type Node, nodeAt, originOf, type Path, pathText, plain } from '#platform/config/tree.ts';
import { unknownKeyMessage } from '#platform/config/unknown-key.ts';
import { configSchema, type ParsedConfig } from './config.ts';

const MAX_VALUE_SHOWN = 100;

export interface CheckedTree {
  /** Present if there are no problems. */
  readonly parsed: ParsedConfig | undefined;
  readonly problems: readonly Problem[];
}

/** Checks a merged tree against the schema. Every problem carries the location of its value. */
export function checkTree(root: MappingNode, shape: MappingShape): CheckedTree {
  const result = configSchema.safeParse(plain(root));
  if (result.success) return { parsed: result.data, problems: [] };
  const problems = result.error.issues.flatMap((issue) => problemsOf(issue, [], root, shape));
  return { parsed: undefined, problems };
}

function problemsOf(issue: z.core.$ZodIssue, above: Path, root: MappingNode, shape: MappingShape): Problem[] {
  const path = [...above, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))];
  const node = nodeAt(root, path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((name) => ({
      key: pathText([...path, name]),
      message: unknownKeyMessage(shape, path, name),
      at: keyOrigin(node, name) ?? originOf(root, path),
    }));
  }
  const ofMapping = node?.kind === 'mapping' && issue.code === 'invalid_union' ? issuesOfMapping(issue) : [];
  if (ofMapping.length > 0) return ofMapping.flatMap((inner) => problemsOf(inner, path, root, shape));
  return [
    {
      key: path.length === 0 ? undefined : pathText(path),
      message: valueMessage(issue, node, shapeAt(shape, path)),
      at: originOf(root, path),
    },
  ];
}

/** Returns the issues of the union's mapping alternative when the value is a mapping. */
function issuesOfMapping(issue: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] {
  return (
    issue.errors.find((issues) => issues.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys')) ??
    []
  );
}

function keyOrigin(node: Node | undefined, name: string) {
  return node?.kind === 'mapping' ? node.entries.get(name)?.at : undefined;
}

/** Appends the value found to an "expected ..." message. The message of a rule is complete already. */
function valueMessage(issue: z.core.$ZodIssue, node: Node | undefined, shape: Shape | undefined): string {
  const { message } = issue;
  if (!message.startsWith('expected')) return message;
  if (node === undefined) return `missing; ${message}`;
  const found = shape === undefined || mayHoldSecret(shape) ? '[secret]' : shown(node);
  return `${message}, got ${found}${quotesAdvice(issue, node)}`;
}

/** Advises quotes when YAML parsed an unquoted value as something other than a string. */
function quotesAdvice(issue: z.core.$ZodIssue, node: Node): string {
  if (issue.code !== 'invalid_type' || issue.expected !== 'string' || node.kind !== 'scalar') return '';
  if (typeof node.value !== 'number' && typeof node.value !== 'boolean') return '';
  return `; without quotes YAML reads ${typeof node.value === 'number' ? 'a number' : 'true or false'}: put the value in quotes`;
}

function shown(node: Node): string {
  if (node.kind !== 'scalar') return `a ${node.kind}`;
  const text = JSON.stringify(node.value);
  return text.length > MAX_VALUE_SHOWN ? `${text.slice(0, MAX_VALUE_SHOWN)}…` : text;
}
