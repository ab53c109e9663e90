import { ExitCode, ExitError } from '#platform/base/errors.ts';
import type { Origin } from './tree.ts';

/** A configuration error: what is wrong, where it is and what is accepted. Never contains a secret value. */
export interface Problem {
  /** For example `http.listeners[0].name`. Undefined if the problem concerns the whole file or its syntax. */
  readonly key: string | undefined;
  readonly message: string;
  readonly at: Origin | undefined;
}

/** Combines all problems in one report (operations 1.2): those in files in text order, then the others. */
export function configurationError(problems: readonly Problem[]): ExitError {
  const lines = new Set([...problems].sort(byPlace).map(problemLine));
  const count = lines.size === 1 ? '1 problem' : `${lines.size} problems`;
  return new ExitError(ExitCode.config, [`configuration is not valid (${count})`, ...lines].join('\n'));
}

function problemLine({ key, message, at }: Problem): string {
  return `  ${key === undefined ? '' : `${key}: `}${message}${at === undefined ? '' : ` (${placeText(at)})`}`;
}

/** `config.yaml:14:15` */
export function placeText({ source, line, column }: Origin): string {
  return line === undefined ? source : `${source}:${line}:${column ?? 1}`;
}

function byPlace(left: Problem, right: Problem): number {
  return (
    (left.at?.rank ?? -1) - (right.at?.rank ?? -1) ||
    compareTexts(left.at?.source, right.at?.source) ||
    (left.at?.line ?? 0) - (right.at?.line ?? 0) ||
    (left.at?.column ?? 0) - (right.at?.column ?? 0)
  );
}

function compareTexts(left = '', right = ''): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
