/** Extracts facts for the manual from the source: log events, form codes, and route responses. */
import { join } from 'node:path';
import ts from 'typescript';
import { type RoutesOfSource, readRoutes } from './routes.ts';

/** A call of the logger. */
export interface LogCall {
  readonly event: string;
  readonly level: string;
  /** The message; `…` replaces its variable parts. */
  readonly message: string;
  /** Field names in alphabetical order. */
  readonly fields: readonly string[];
}

export interface SourceFacts {
  readonly logCalls: readonly LogCall[];
  /** Every value of `FormProblem.code`. */
  readonly formCodes: ReadonlySet<string>;
  readonly routes: RoutesOfSource;
}

const LOG_MODULES = ['src/platform/base/log.ts', 'src/platform/log/log-writer.ts'];

/**
 * @param program of the product, without tests; @param root directory of `package.json`
 * @throws Error for an event or code that is not one of a fixed set of words
 */
export function readSourceFacts(program: ts.Program, root: string): SourceFacts {
  const checker = program.getTypeChecker();
  const logCalls: LogCall[] = [];
  const formCodes = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) logCalls.push(...logCallsOf(node, checker));
    if (ts.isObjectLiteralExpression(node)) for (const code of formCodesOf(node, checker)) formCodes.add(code);
    ts.forEachChild(node, visit);
  };
  for (const file of program.getSourceFiles()) {
    if (!file.fileName.startsWith(join(root, 'src/'))) continue;
    visit(file);
  }
  return { logCalls, formCodes, routes: readRoutes(program, root) };
}

function logCallsOf({ expression, arguments: given }: ts.CallExpression, checker: ts.TypeChecker): LogCall[] {
  if (!ts.isPropertyAccessExpression(expression) || !isLogMethod(expression, checker)) return [];
  const [event, message, fields] = given;
  if (event === undefined || message === undefined) throw new Error(`${placeOf(expression)}: no event or message`);
  return wordsOf(event, checker).map((name) => ({
    event: name,
    level: expression.name.text.toUpperCase(),
    message: messageText(message),
    fields: fields === undefined ? [] : fieldNames(checker.getTypeAtLocation(fields), checker),
  }));
}

function isLogMethod({ name }: ts.PropertyAccessExpression, checker: ts.TypeChecker): boolean {
  if (!['error', 'warn', 'info', 'debug', 'trace'].includes(name.text)) return false;
  const declarations = checker.getSymbolAtLocation(name)?.declarations ?? [];
  return declarations.some((one) => LOG_MODULES.some((path) => one.getSourceFile().fileName.endsWith(path)));
}

/** Returns the possible string values of an expression, from its type. */
function wordsOf(expression: ts.Expression, checker: ts.TypeChecker): string[] {
  const type = checker.getTypeAtLocation(expression);
  return (type.isUnion() ? type.types : [type]).map((one) => {
    if (!one.isStringLiteral()) throw new Error(`${placeOf(expression)}: not a fixed word`);
    return one.value;
  });
}

function messageText(message: ts.Expression): string {
  if (ts.isStringLiteralLike(message)) return message.text;
  if (ts.isConditionalExpression(message)) {
    return `${messageText(message.whenTrue)}, or: ${messageText(message.whenFalse)}`;
  }
  if (ts.isTemplateExpression(message)) {
    return message.head.text + message.templateSpans.map((span) => `…${span.literal.text}`).join('');
  }
  return '…';
}

function fieldNames(type: ts.Type, checker: ts.TypeChecker): string[] {
  const names = (type.isUnion() ? type.types : [type]).flatMap((one) => checker.getPropertiesOfType(one));
  return [...new Set(names.map((property) => property.name))].toSorted();
}

function formCodesOf(node: ts.ObjectLiteralExpression, checker: ts.TypeChecker): string[] {
  // Check the names first, because resolving the contextual type is much slower.
  const codes = node.properties.filter((property) => property.name?.getText() === 'code');
  if (codes.length === 0 || checker.getContextualType(node)?.symbol?.name !== 'FormProblem') return [];
  return codes.flatMap((property) => {
    if (ts.isPropertyAssignment(property)) return wordsOf(property.initializer, checker);
    if (ts.isShorthandPropertyAssignment(property)) return wordsOf(property.name, checker);
    throw new Error(`${placeOf(node)}: not a fixed word`);
  });
}

function placeOf(node: ts.Node): string {
  const file = node.getSourceFile();
  return `${file.fileName}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`;
}
