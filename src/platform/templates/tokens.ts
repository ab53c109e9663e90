import { TemplateSyntaxError } from './problems.ts';

export type TokenKind =
  | 'text'
  | 'output-start'
  | 'output-end'
  | 'block-start'
  | 'block-end'
  | 'name'
  | 'number'
  | 'string'
  | 'operator'
  | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** The text itself, the name, the operator or the value of a string. */
  readonly value: string;
  readonly at: number;
}

const OPENINGS = /\{[{%#]-?/g;
const SPACE = /\s+/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /[0-9]+(?:\.[0-9]+)?(?![A-Za-z0-9_])/y;
const STRING = /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'/y;
const OPERATOR = /==|!=|<=|>=|[<>~+\-*/()[\]{},.:|=]/y;
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|([\s\S]))/g;
const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['\\', '\\'],
  ['/', '/'],
  ['"', '"'],
  ["'", "'"],
]);

/** Splits a template into tokens. Removes comments, and whitespace next to a `-`. */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let isTrimmed = false;
  // As in Jinja, a line feed at the end of the file is not part of the template.
  const end = source.endsWith('\n') ? source.length - 1 : source.length;
  for (;;) {
    OPENINGS.lastIndex = at;
    const opening = OPENINGS.exec(source);
    const text = source.slice(at, opening?.index ?? Math.max(at, end));
    const left = isTrimmed ? text.trimStart() : text;
    const value = opening?.[0].endsWith('-') === true ? left.trimEnd() : left;
    if (value !== '') tokens.push({ kind: 'text', value, at });
    if (opening === null) return [...tokens, { kind: 'end', value: '', at: source.length }];
    const start = opening.index;
    const inside = OPENINGS.lastIndex;
    const tag = opening[0].startsWith('{#')
      ? commentEnd(source, start, inside)
      : readTag(source, start, inside, tokens);
    at = tag.end;
    isTrimmed = tag.trimsNext;
  }
}

interface TagEnd {
  readonly end: number;
  readonly trimsNext: boolean;
}

function commentEnd(source: string, start: number, inside: number): TagEnd {
  const close = source.indexOf('#}', inside);
  if (close === -1) throw new TemplateSyntaxError(source, start, 'the comment is not closed');
  return { end: close + 2, trimsNext: close > inside && source[close - 1] === '-' };
}

function readTag(source: string, start: number, inside: number, tokens: Token[]): TagEnd {
  const isOutput = source[start + 1] === '{';
  const close = isOutput ? '}}' : '%}';
  tokens.push({ kind: isOutput ? 'output-start' : 'block-start', value: '', at: start });
  let at = inside;
  // Tracks braces of mappings, because "}}" inside of one does not close the tag.
  let open = 0;
  for (;;) {
    at += match(SPACE, source, at)?.length ?? 0;
    if (at >= source.length) throw new TemplateSyntaxError(source, start, `expected "${close}" before the end`);
    const dash = source[at] === '-' ? 1 : 0;
    if (open === 0 && source.startsWith(close, at + dash)) {
      tokens.push({ kind: isOutput ? 'output-end' : 'block-end', value: close, at });
      return { end: at + dash + close.length, trimsNext: dash === 1 };
    }
    const token = readToken(source, at);
    if (token.value === '{') open += 1;
    if (token.value === '}' && open > 0) open -= 1;
    tokens.push({
      kind: token.kind,
      value: token.kind === 'string' ? stringValue(source, token, at) : token.value,
      at,
    });
    at += token.value.length;
  }
}

function readToken(source: string, at: number): { readonly kind: TokenKind; readonly value: string } {
  const name = match(NAME, source, at);
  if (name !== undefined) return { kind: 'name', value: name };
  const number = match(NUMBER, source, at);
  if (number !== undefined) return { kind: 'number', value: number };
  const string = match(STRING, source, at);
  if (string !== undefined) return { kind: 'string', value: string };
  const operator = match(OPERATOR, source, at);
  if (operator !== undefined) return { kind: 'operator', value: operator };
  const [character = ''] = source.slice(at, at + 2);
  const problem = /["']/.test(character) ? 'the string is not closed' : `unexpected character "${character}"`;
  throw new TemplateSyntaxError(source, at, problem);
}

function match(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source)?.[0];
}

function stringValue(source: string, { value }: { readonly value: string }, at: number): string {
  return value
    .slice(1, -1)
    .replace(ESCAPE, (written: string, code: string | undefined, character: string | undefined) => {
      const meant = code === undefined ? ESCAPED.get(character ?? '') : String.fromCharCode(Number.parseInt(code, 16));
      if (meant === undefined) throw new TemplateSyntaxError(source, at, `unknown escape "${written}" in a string`);
      return meant;
    });
}
