/** The parsed form of a template. `at` is an offset in its source. */
import type { Operation } from './operation.ts';
import type { Value } from './values.ts';

const COMPARISONS = ['==', '!=', '<', '<=', '>', '>=', 'in', 'not in'] as const;
const ARITHMETIC = ['+', '-', '*', '/'] as const;
export const TESTS = ['defined', 'undefined', 'none'] as const;

export const LITERALS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
]);
/** Words that cannot be used as names. */
export const RESERVED: ReadonlySet<string> = new Set([
  ...[...LITERALS.keys(), 'and', 'or', 'not', 'in', 'is', 'if', 'else', 'elif', 'for', 'set'],
]);

export type BinaryOperator = (typeof COMPARISONS)[number] | (typeof ARITHMETIC)[number];

/** Operator precedence, lowest first. */
export const NOT_LEVEL = 3;
export const COMPARISON_LEVEL = 4;
export const LEVELS: ReadonlyMap<string, number> = new Map([
  ['or', 1],
  ['and', 2],
  ...COMPARISONS.map((operator) => [operator, COMPARISON_LEVEL] as const),
  ['+', 5],
  ['-', 5],
  ['~', 6],
  ['*', 7],
  ['/', 7],
]);

export function binaryOperator(operator: string): BinaryOperator {
  const found = [...COMPARISONS, ...ARITHMETIC].find((known) => known === operator);
  if (found === undefined) throw new Error(`not a binary operator: ${operator}`);
  return found;
}

interface At {
  readonly at: number;
}

export type Expression =
  | (At & { readonly kind: 'literal'; readonly value: Value })
  | (At & { readonly kind: 'list'; readonly elements: readonly Expression[] })
  | (At & { readonly kind: 'mapping'; readonly members: readonly (readonly [key: Expression, value: Expression])[] })
  | (At & { readonly kind: 'variable'; readonly name: string })
  | (At & { readonly kind: 'item'; readonly target: Expression; readonly key: Expression })
  | (At & {
      /** A filter or a string method. */
      readonly kind: 'call';
      readonly target: Expression;
      readonly name: string;
      readonly operation: Operation;
      readonly values: readonly (Expression | undefined)[];
    })
  | (At & {
      readonly kind: 'test';
      readonly target: Expression;
      readonly test: (typeof TESTS)[number];
      readonly isNegated: boolean;
    })
  | (At & { readonly kind: 'not'; readonly operand: Expression })
  | (At & { readonly kind: 'negative'; readonly operand: Expression })
  | (At & { readonly kind: 'and' | 'or' | 'concatenation'; readonly left: Expression; readonly right: Expression })
  | (At & {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    })
  | (At & {
      readonly kind: 'choice';
      readonly condition: Expression;
      readonly yes: Expression;
      readonly no: Expression | undefined;
    });

export type Statement =
  | (At & { readonly kind: 'text'; readonly text: string })
  | (At & { readonly kind: 'output'; readonly value: Expression })
  | (At & {
      readonly kind: 'if';
      readonly branches: readonly { readonly condition: Expression; readonly body: readonly Statement[] }[];
      readonly otherwise: readonly Statement[];
    })
  | (At & {
      readonly kind: 'for';
      readonly name: string;
      readonly list: Expression;
      readonly body: readonly Statement[];
    })
  | (At & { readonly kind: 'set'; readonly name: string; readonly value: Expression });
