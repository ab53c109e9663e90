import type { Operation } from './operation.ts';
import { FILTERS, METHODS } from './operations.ts';
import { TemplateSyntaxError } from './problems.ts';
import {
  binaryOperator,
  COMPARISON_LEVEL,
  type Expression,
  LEVELS,
  LITERALS,
  NOT_LEVEL,
  RESERVED,
  type Statement,
  TESTS,
} from './syntax.ts';
import { type Token, type TokenKind, tokenize } from './tokens.ts';

const MAX_SOURCE_CHARACTERS = 8192;
/** Maximum number of nodes in a template, which limits the nesting depth of its evaluation. */
const MAX_PARTS = 500;
const MAX_DEPTH = 30;

/** @param variables the known names; others are rejected unless the template sets them. Undefined accepts any name. */
export function parse(
  source: string,
  variables: readonly string[] | undefined,
): { readonly statements: readonly Statement[]; readonly reads: ReadonlySet<string> } {
  if (source.length > MAX_SOURCE_CHARACTERS) {
    throw new TemplateSyntaxError(source, 0, `longer than ${MAX_SOURCE_CHARACTERS} characters`);
  }
  const parser = new Parser(source, variables);
  return { statements: parser.parse(), reads: parser.reads };
}

class Parser {
  readonly #source: string;
  readonly #tokens: readonly Token[];
  readonly #known: Set<string> | undefined;
  /** Variable names, including those that the template sets. */
  readonly reads = new Set<string>();
  #index = 0;
  #parts = 0;
  #depth = 0;

  constructor(source: string, variables: readonly string[] | undefined) {
    this.#source = source;
    this.#tokens = tokenize(source);
    this.#known = variables === undefined ? undefined : new Set(variables);
  }

  parse(): readonly Statement[] {
    const { statements, end } = this.#statements([]);
    if (end !== undefined) throw this.#problem(end, `"${end.value}" without a matching start`);
    return statements;
  }

  /** Parses up to the end, or up to a block that starts with one of these names, including the name. */
  #statements(ends: readonly string[]): { readonly statements: readonly Statement[]; readonly end: Token | undefined } {
    const statements: Statement[] = [];
    for (;;) {
      const token = this.#take();
      switch (token.kind) {
        case 'end':
          return { statements, end: undefined };
        case 'text':
          statements.push({ kind: 'text', text: token.value, at: token.at });
          break;
        case 'output-start': {
          const value = this.#expression();
          statements.push({ kind: 'output', value, at: value.at });
          this.#expectKind('output-end', '}}');
          break;
        }
        default: {
          const name = this.#expectKind('name', 'a statement');
          if (ends.includes(name.value)) return { statements, end: name };
          statements.push(this.#statement(name));
        }
      }
    }
  }

  #statement(name: Token): Statement {
    this.#countPart(name);
    switch (name.value) {
      case 'if':
        return this.#nested(name, () => this.#if(name));
      case 'for':
        return this.#nested(name, () => this.#for(name));
      case 'set': {
        const target = this.#target();
        this.#expect('=');
        const value = this.#expression();
        this.#expectKind('block-end', '%}');
        this.#known?.add(target);
        return { kind: 'set', name: target, value, at: name.at };
      }
      case 'elif':
      case 'else':
      case 'endif':
      case 'endfor':
        throw this.#problem(name, `"${name.value}" without a matching start`);
      default:
        throw this.#problem(name, `unknown statement "${name.value}"; expected if, for or set`);
    }
  }

  #if(start: Token): Statement {
    const branches: { condition: Expression; body: readonly Statement[] }[] = [];
    for (;;) {
      const condition = this.#expression();
      this.#expectKind('block-end', '%}');
      const { statements: body, end } = this.#statements(['elif', 'else', 'endif']);
      branches.push({ condition, body });
      if (end === undefined) throw this.#problem(start, '"if" without "endif"');
      if (end.value === 'elif') continue;
      this.#expectKind('block-end', '%}');
      if (end.value === 'endif') return { kind: 'if', branches, otherwise: [], at: start.at };
      return { kind: 'if', branches, otherwise: this.#bodyUntil('endif', start), at: start.at };
    }
  }

  #for(start: Token): Statement {
    const name = this.#target();
    this.#expect('in');
    const list = this.#expression();
    this.#expectKind('block-end', '%}');
    this.#known?.add(name);
    return { kind: 'for', name, list, body: this.#bodyUntil('endfor', start), at: start.at };
  }

  #bodyUntil(name: string, start: Token): readonly Statement[] {
    const { statements, end } = this.#statements([name]);
    if (end === undefined) throw this.#problem(start, `"${start.value}" without "${name}"`);
    this.#expectKind('block-end', '%}');
    return statements;
  }

  #target(): string {
    const name = this.#expectKind('name', 'a name');
    if (RESERVED.has(name.value)) throw this.#problem(name, `"${name.value}" is reserved and cannot be used as a name`);
    return name.value;
  }

  #expression(): Expression {
    return this.#nested(this.#peek(), () => {
      const yes = this.#binary(1);
      if (!this.#skip('if')) return yes;
      const condition = this.#binary(1);
      return { kind: 'choice', condition, yes, no: this.#skip('else') ? this.#expression() : undefined, at: yes.at };
    });
  }

  #binary(lowest: number): Expression {
    let left = this.#operand(lowest);
    let former = 0;
    for (;;) {
      const token = this.#peek();
      const operator = this.#operator();
      const level = operator === undefined ? undefined : LEVELS.get(operator);
      if (operator === undefined || level === undefined || level < lowest) return left;
      if (level === COMPARISON_LEVEL && former === level) throw this.#problem(token, 'comparisons cannot be chained');
      former = level;
      this.#countPart(token);
      this.#index += operator === 'not in' ? 2 : 1;
      const right = this.#binary(level + 1);
      if (operator === 'and' || operator === 'or') left = { kind: operator, left, right, at: token.at };
      else if (operator === '~') left = { kind: 'concatenation', left, right, at: token.at };
      else left = { kind: 'binary', operator: binaryOperator(operator), left, right, at: token.at };
    }
  }

  /** Returns the next binary operator. */
  #operator(): string | undefined {
    const token = this.#peek();
    if (token.kind !== 'operator' && token.kind !== 'name') return undefined;
    if (token.value !== 'not') return token.value;
    return this.#tokens[this.#index + 1]?.value === 'in' ? 'not in' : undefined;
  }

  #operand(lowest: number): Expression {
    const token = this.#peek();
    if (lowest <= NOT_LEVEL && this.#skip('not')) {
      return this.#nested(token, () => ({ kind: 'not', operand: this.#binary(NOT_LEVEL), at: token.at }));
    }
    return this.#withFilters(this.#unary());
  }

  #unary(): Expression {
    const token = this.#peek();
    if (!this.#skip('-')) return this.#withItems(this.#primary());
    return this.#nested(token, () => ({ kind: 'negative', operand: this.#unary(), at: token.at }));
  }

  #primary(): Expression {
    const token = this.#take();
    const { at } = token;
    this.#countPart(token);
    if (token.kind === 'string') return { kind: 'literal', value: token.value, at };
    if (token.kind === 'number') return { kind: 'literal', value: this.#number(token), at };
    if (token.kind === 'name') {
      const literal = LITERALS.get(token.value);
      if (literal !== undefined) return { kind: 'literal', value: literal, at };
      return this.#variable(token);
    }
    if (token.kind === 'operator' && token.value === '(') {
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (token.kind === 'operator' && token.value === '[') {
      return { kind: 'list', elements: this.#sequence(']', () => this.#expression()), at };
    }
    if (token.kind === 'operator' && token.value === '{') {
      const members = this.#sequence('}', (): readonly [Expression, Expression] => {
        const key = this.#expression();
        this.#expect(':');
        return [key, this.#expression()];
      });
      return { kind: 'mapping', members, at };
    }
    throw this.#unexpected(token, 'a value');
  }

  #variable(token: Token): Expression {
    const { value: name, at } = token;
    if (RESERVED.has(name)) throw this.#unexpected(token, 'a value');
    if (this.#known?.has(name) === false) {
      throw this.#problem(token, `unknown variable "${name}"; available: ${[...this.#known].join(', ')}`);
    }
    this.reads.add(name);
    return { kind: 'variable', name, at };
  }

  #number(token: Token): number {
    const value = Number(token.value);
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw this.#problem(token, 'the number is too large');
    return value;
  }

  /** Parses `.name`, `[key]` and `.method(…)`. */
  #withItems(first: Expression): Expression {
    let target = first;
    for (;;) {
      const token = this.#peek();
      if (this.#skip('.')) {
        const name = this.#expectKind('name', 'a name');
        target = this.#is('(')
          ? this.#call(target, name, METHODS, 'method')
          : { kind: 'item', target, key: { kind: 'literal', value: name.value, at: name.at }, at: target.at };
      } else if (this.#skip('[')) {
        target = { kind: 'item', target, key: this.#expression(), at: target.at };
        this.#expect(']');
      } else if (this.#is('(')) {
        throw this.#problem(token, 'functions are not supported; write filters after "|"');
      } else {
        return target;
      }
      this.#countPart(token);
    }
  }

  /** Parses `| filter(…)` and `is test`. */
  #withFilters(first: Expression): Expression {
    let target = first;
    for (;;) {
      const token = this.#peek();
      if (this.#skip('|')) target = this.#call(target, this.#expectKind('name', 'a filter'), FILTERS, 'filter');
      else if (this.#skip('is')) target = this.#test(target);
      else return target;
      this.#countPart(token);
    }
  }

  #test(target: Expression): Expression {
    const isNegated = this.#skip('not');
    const name = this.#expectKind('name', 'a test');
    const test = TESTS.find((known) => known === name.value.toLowerCase());
    if (test === undefined) throw this.#problem(name, `unknown test "${name.value}"; available: ${TESTS.join(', ')}`);
    return { kind: 'test', target, test, isNegated, at: target.at };
  }

  #call(
    target: Expression,
    { value: name, at }: Token,
    operations: ReadonlyMap<string, Operation>,
    kind: string,
  ): Expression {
    const operation = operations.get(name);
    if (operation === undefined) {
      const known = [...operations.keys()].join(', ');
      throw new TemplateSyntaxError(this.#source, at, `unknown ${kind} "${name}"; available: ${known}`);
    }
    const { parameters, required } = operation;
    const values: (Expression | undefined)[] = parameters.map(() => undefined);
    const fail = (problem: string) => new TemplateSyntaxError(this.#source, at, `${kind} "${name}": ${problem}`);
    const given = this.#skip('(') ? this.#sequence(')', () => this.#argument()) : [];
    for (const [position, { parameter, value }] of given.entries()) {
      if (parameter === undefined && given[position - 1]?.parameter !== undefined) {
        throw fail('positional arguments must come before named ones');
      }
      const index = parameter === undefined ? position : parameters.indexOf(parameter);
      if (index === -1) throw fail(`has no parameter "${parameter}"`);
      if (index >= parameters.length) throw fail(`takes at most ${parameters.length} arguments`);
      if (values[index] !== undefined) throw fail(`has two values for "${parameters[index]}"`);
      values[index] = value;
    }
    const missing = parameters.find((_, index) => index < required && values[index] === undefined);
    if (missing !== undefined) throw fail(`requires "${missing}"`);
    return { kind: 'call', target, name, operation, values, at };
  }

  #argument(): { readonly parameter: string | undefined; readonly value: Expression } {
    const isNamed = this.#peek().kind === 'name' && this.#tokens[this.#index + 1]?.value === '=';
    if (!isNamed) return { parameter: undefined, value: this.#expression() };
    const parameter = this.#take().value;
    this.#expect('=');
    return { parameter, value: this.#expression() };
  }

  /** Parses a comma-separated sequence, which may have a trailing comma. */
  #sequence<Element>(end: string, read: () => Element): readonly Element[] {
    const elements: Element[] = [];
    while (!this.#skip(end)) {
      if (elements.length > 0) {
        this.#expect(',');
        if (this.#skip(end)) break;
      }
      elements.push(read());
    }
    return elements;
  }

  #nested<Part>(token: Token, read: () => Part): Part {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw this.#problem(token, `nested deeper than ${MAX_DEPTH} levels`);
    const part = read();
    this.#depth -= 1;
    return part;
  }

  #countPart(token: Token): void {
    this.#parts += 1;
    if (this.#parts > MAX_PARTS) throw this.#problem(token, `more than ${MAX_PARTS} parts`);
  }

  #peek(): Token {
    return this.#tokens[this.#index] ?? { kind: 'end', value: '', at: this.#source.length };
  }

  #take(): Token {
    const token = this.#peek();
    this.#index += 1;
    return token;
  }

  /** Matches an operator or a keyword. */
  #is(value: string): boolean {
    const token = this.#peek();
    return (token.kind === 'operator' || token.kind === 'name') && token.value === value;
  }

  #skip(value: string): boolean {
    if (!this.#is(value)) return false;
    this.#index += 1;
    return true;
  }

  #expect(value: string): void {
    if (!this.#skip(value)) throw this.#unexpected(this.#peek(), `"${value}"`);
  }

  #expectKind(kind: TokenKind, what: string): Token {
    const token = this.#take();
    if (token.kind !== kind) throw this.#unexpected(token, what.length === 2 ? `"${what}"` : what);
    return token;
  }

  #unexpected(token: Token, expected: string): TemplateSyntaxError {
    const found = token.kind === 'string' ? 'a string' : token.kind === 'end' ? 'the end' : `"${token.value}"`;
    return this.#problem(token, `expected ${expected}, found ${found}`);
  }

  #problem({ at }: Token, problem: string): TemplateSyntaxError {
    return new TemplateSyntaxError(this.#source, at, problem);
  }
}
