import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemReason } from '#platform/base/system-errors.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const NAME = /(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*/y;
const SINGLE_QUOTED = /'([^']*)'/y;
const DOUBLE_QUOTED = /"((?:[^"\\]|\\.)*)"/sy;
const UNQUOTED = /(?:(?![ \t]+#)[^\r\n])*/y;
const REST_OF_LINE = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y;
const BLANK_LINE = /[ \t]*(?:#[^\n]*)?\r?\n|[ \t]*(?:#[^\n]*)?$/y;
const LINE = /[^\n]*\n?/y;

/** Merges `.env` into the process environment, which takes precedence. Unreadable lines become warnings. */
export function withDotEnv(
  environment: Environment,
  workingDirectory: string,
): { readonly environment: Environment; readonly warnings: readonly string[] } {
  let text: string;
  try {
    text = readFileSync(join(workingDirectory, '.env'), 'utf8');
  } catch (error) {
    const reason = systemReason(error);
    return { environment, warnings: reason === 'no such file' ? [] : [`.env is ignored: ${reason}`] };
  }
  const { variables, badLines } = parseDotEnv(text);
  const set = Object.entries(environment).filter(([, value]) => value !== undefined);
  return {
    environment: { ...variables, ...Object.fromEntries(set) },
    warnings: badLines.map((line) => `.env:${line} is ignored: expected NAME=value`),
  };
}

/** Parses `NAME=value` lines with comments, `export` and quotes. Quoted values may span lines, like PEM keys. */
export function parseDotEnv(text: string): {
  readonly variables: Readonly<Record<string, string>>;
  readonly badLines: readonly number[];
} {
  const variables: Record<string, string> = {};
  const badLines: number[] = [];
  let position = text.startsWith('\ufeff') ? 1 : 0;
  while (position < text.length) {
    const blank = matchAt(BLANK_LINE, text, position);
    const assignment = blank === undefined ? assignmentAt(text, position) : undefined;
    if (assignment !== undefined) variables[assignment.name] = assignment.value;
    else if (blank === undefined) badLines.push(text.slice(0, position).split('\n').length);
    position = assignment?.end ?? position + ((blank ?? matchAt(LINE, text, position))?.[0].length ?? 1);
  }
  return { variables, badLines };
}

function assignmentAt(text: string, start: number): { name: string; value: string; end: number } | undefined {
  const indent = /[ \t]*/y;
  const nameStart = start + (matchAt(indent, text, start)?.[0].length ?? 0);
  const name = matchAt(NAME, text, nameStart);
  if (name?.[1] === undefined) return undefined;
  const valueStart = nameStart + name[0].length;
  const single = matchAt(SINGLE_QUOTED, text, valueStart);
  const double = matchAt(DOUBLE_QUOTED, text, valueStart);
  const quote = text.charAt(valueStart);
  const bare = quote === '"' || quote === "'" ? undefined : matchAt(UNQUOTED, text, valueStart);
  const value = single ?? double ?? bare;
  const rest = value === undefined ? undefined : matchAt(REST_OF_LINE, text, valueStart + value[0].length);
  if (value === undefined || rest === undefined) return undefined;
  return {
    name: name[1],
    value: single?.[1] ?? (double === undefined ? value[0].trim() : unescaped(double[1] ?? '')),
    end: valueStart + value[0].length + rest[0].length,
  };
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, (_, character: string) => {
    if (character === 'n') return '\n';
    if (character === 'r') return '\r';
    return character === 't' ? '\t' : character;
  });
}

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | undefined {
  pattern.lastIndex = position;
  return pattern.exec(text) ?? undefined;
}
