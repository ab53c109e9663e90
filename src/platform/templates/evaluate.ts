import { MAX_TURNS, Meter } from './meter.ts';
import { Failure, TemplateError } from './problems.ts';
import type { BinaryOperator, Expression, Statement } from './syntax.ts';
import { areEqual, isList, isTrue, kindOf, Mapping, textOf, type Value } from './values.ts';

/** Matches unpaired UTF-16 surrogates. Storing them changes the text, so two different texts could become equal. */
const HALF_CHARACTER = /\p{Surrogate}/u;

export interface EvaluateOptions {
  readonly maxOutputBytes: number;
  /** Monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** @throws TemplateError */
export function evaluate(
  source: string,
  statements: readonly Statement[],
  variables: Readonly<Record<string, unknown>>,
  { maxOutputBytes, now }: EvaluateOptions,
): string {
  const run = new Run(source, maxOutputBytes, now);
  run.all(statements, new Scope(Mapping.ofObject(variables)));
  return run.output;
}

/** Names set by the template, which shadow those of the enclosing scope. */
class Scope {
  readonly #outer: Scope | Mapping;
  readonly #names = new Map<string, Value>();

  constructor(outer: Scope | Mapping) {
    this.#outer = outer;
  }

  get(name: string): Value {
    return this.#names.has(name) ? this.#names.get(name) : this.#outer.get(name);
  }

  set(name: string, value: Value): void {
    this.#names.set(name, value);
  }
}

class Run {
  readonly #source: string;
  readonly #maxBytes: number;
  readonly #meter: Meter;
  #bytes = 0;
  output = '';

  constructor(source: string, maxBytes: number, now: () => number) {
    this.#source = source;
    this.#maxBytes = maxBytes;
    this.#meter = new Meter(now);
  }

  all(statements: readonly Statement[], scope: Scope): void {
    for (const statement of statements) this.#statement(statement, scope);
  }

  #statement(statement: Statement, scope: Scope): void {
    switch (statement.kind) {
      case 'text':
        this.#write(statement.text, statement.at);
        break;
      case 'output':
        this.#write(this.#text(statement.value, scope), statement.at);
        break;
      case 'set':
        scope.set(statement.name, this.#value(statement.value, scope));
        break;
      case 'for':
        this.#for(statement, scope);
        break;
      case 'if': {
        // `if` has no scope of its own: names set in it remain visible.
        const branch = statement.branches.find(({ condition }) => isTrue(this.#value(condition, scope)));
        this.all(branch?.body ?? statement.otherwise, scope);
        break;
      }
    }
  }

  #for({ name, list, body }: Extract<Statement, { kind: 'for' }>, scope: Scope): void {
    const value = this.#value(list, scope);
    const elements = this.#located(list, describe(list), () => {
      if (value instanceof Mapping) return value.keys();
      if (isList(value)) return value;
      throw new Failure(`is ${kindOf(value)}, not a list`);
    });
    if (elements.length > MAX_TURNS)
      throw this.#error(list.at, `${describe(list)} has more than ${MAX_TURNS} elements`);
    for (const element of elements) {
      const inner = new Scope(scope);
      inner.set(name, element);
      this.#located(list, 'the loop', () => this.#meter.spend());
      this.all(body, inner);
    }
  }

  #write(text: string, at: number): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > this.#maxBytes) throw this.#error(at, `the result is longer than ${this.#maxBytes} bytes`);
    if (HALF_CHARACTER.test(text)) throw this.#error(at, 'the result is not well-formed Unicode');
    this.output += text;
  }

  #value(expression: Expression, scope: Scope): Value {
    this.#located(expression, 'the template', () => this.#meter.spend());
    switch (expression.kind) {
      case 'literal':
        return expression.value;
      case 'variable':
        return this.#located(expression, describe(expression), () => scope.get(expression.name));
      case 'list':
        return expression.elements.map((element) => this.#value(element, scope));
      case 'mapping':
        return Mapping.ofMembers(
          new Map(expression.members.map(([key, value]) => [this.#text(key, scope), this.#value(value, scope)])),
        );
      case 'item':
        return this.#item(expression, scope);
      case 'call':
        return this.#call(expression, scope);
      case 'test': {
        const value = this.#value(expression.target, scope);
        const isSo =
          expression.test === 'none' ? value === null : (value === undefined) === (expression.test === 'undefined');
        return isSo !== expression.isNegated;
      }
      case 'not':
        return !isTrue(this.#value(expression.operand, scope));
      case 'negative': {
        const value = this.#value(expression.operand, scope);
        return this.#located(expression, '"-"', () => -numberOf(value));
      }
      case 'and': {
        const left = this.#value(expression.left, scope);
        return isTrue(left) ? this.#value(expression.right, scope) : left;
      }
      case 'or': {
        const left = this.#value(expression.left, scope);
        return isTrue(left) ? left : this.#value(expression.right, scope);
      }
      case 'concatenation': {
        const texts = [this.#text(expression.left, scope), this.#text(expression.right, scope)] as const;
        return this.#located(expression, '"~"', () => joined(...texts, this.#meter));
      }
      case 'binary': {
        const left = this.#value(expression.left, scope);
        const right = this.#value(expression.right, scope);
        return this.#located(expression, `"${expression.operator}"`, () =>
          binary(expression.operator, left, right, this.#meter),
        );
      }
      case 'choice': {
        if (isTrue(this.#value(expression.condition, scope))) return this.#value(expression.yes, scope);
        return expression.no === undefined ? '' : this.#value(expression.no, scope);
      }
    }
  }

  #item({ target, key }: Extract<Expression, { kind: 'item' }>, scope: Scope): Value {
    const from = this.#value(target, scope);
    const wanted = this.#value(key, scope);
    return this.#located(target, describe(target), () => {
      if (from === undefined || from === null) throw new Failure(`is ${kindOf(from)}, which has no members`);
      if (from instanceof Mapping) {
        return typeof wanted === 'string' || typeof wanted === 'number' ? from.get(wanted) : undefined;
      }
      if (typeof wanted !== 'number' || !Number.isInteger(wanted)) return undefined;
      if (isList(from)) return from.at(wanted);
      if (typeof from !== 'string') return undefined;
      this.#meter.spend(Math.ceil(from.length / 8));
      return [...from].at(wanted);
    });
  }

  #call({ target, name, operation, values, at }: Extract<Expression, { kind: 'call' }>, scope: Scope): Value {
    const takesUndefined = operation.takesUndefined === true;
    const on = this.#value(target, scope);
    if (on === undefined && !takesUndefined) throw this.#error(target.at, `${describe(target)} is undefined`);
    const given = values.map((expression) => {
      if (expression === undefined) return undefined;
      const value = this.#value(expression, scope);
      if (value === undefined && !takesUndefined)
        throw this.#error(expression.at, `${describe(expression)} is undefined`);
      return value;
    });
    return this.#located({ at }, `"${name}"`, () => operation.apply(this.#meter, on, given));
  }

  #text(expression: Expression, scope: Scope): string {
    const value = this.#value(expression, scope);
    return this.#located(expression, describe(expression), () => textOf(value, this.#meter));
  }

  /** Adds the position to failures that do not know it. */
  #located<Result>({ at }: { readonly at: number }, subject: string, run: () => Result): Result {
    try {
      return run();
    } catch (error) {
      if (error instanceof Failure) throw this.#error(at, `${subject} ${error.message}`);
      throw error;
    }
  }

  #error(at: number, problem: string): TemplateError {
    return new TemplateError(this.#source, at, problem);
  }
}

function binary(operator: BinaryOperator, left: Value, right: Value, meter: Meter): Value {
  switch (operator) {
    case '==':
      return areEqual(left, right, meter);
    case '!=':
      return !areEqual(left, right, meter);
    case 'in':
      return contains(right, left, meter);
    case 'not in':
      return !contains(right, left, meter);
    case '<':
      return compare(left, right, meter) < 0;
    case '<=':
      return compare(left, right, meter) <= 0;
    case '>':
      return compare(left, right, meter) > 0;
    case '>=':
      return compare(left, right, meter) >= 0;
    case '+':
      if (typeof left === 'string' && typeof right === 'string') return joined(left, right, meter);
      if (isList(left) && isList(right)) {
        meter.spend(left.length + right.length);
        return [...left, ...right];
      }
      return finite(numberOf(left) + numberOf(right));
    case '-':
      return finite(numberOf(left) - numberOf(right));
    case '*':
      return finite(numberOf(left) * numberOf(right));
    case '/':
      return finite(numberOf(left) / numberOf(right));
  }
}

function joined(left: string, right: string, meter: Meter): string {
  meter.spendText(left.length + right.length);
  return left + right;
}

function contains(whole: Value, wanted: Value, meter: Meter): boolean {
  if (isList(whole)) return whole.some((element) => areEqual(element, wanted, meter));
  if (whole instanceof Mapping) {
    meter.spend(whole.keys().length);
    return whole.keys().some((key) => key === wanted);
  }
  if (typeof whole !== 'string') throw new Failure(`expects a list, a mapping or a string, not ${kindOf(whole)}`);
  const text = textOf(wanted, meter);
  meter.spendSearch(whole, text);
  return whole.includes(text);
}

/** Compares numbers, or texts by code units. The result is negative, zero or positive. */
function compare(left: Value, right: Value, meter: Meter): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left !== 'string' || typeof right !== 'string') {
    throw new Failure(`compares two numbers or two strings, not ${kindOf(left)} and ${kindOf(right)}`);
  }
  meter.spendText(Math.min(left.length, right.length));
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function numberOf(value: Value): number {
  if (typeof value === 'number') return value;
  throw new Failure(`expects numbers, not ${kindOf(value)}`);
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new Failure('has no finite result');
}

/** Returns the expression as written in the template, never its value. */
function describe(expression: Expression): string {
  const path = pathOf(expression);
  return path === undefined ? 'the value' : `"${path}"`;
}

function pathOf(expression: Expression): string | undefined {
  if (expression.kind === 'variable') return expression.name;
  if (expression.kind === 'call') return expression.name;
  if (expression.kind !== 'item' || expression.key.kind !== 'literal') return undefined;
  const target = pathOf(expression.target);
  return target === undefined ? undefined : `${target}.${String(expression.key.value)}`;
}
