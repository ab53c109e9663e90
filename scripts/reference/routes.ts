/**
 * Finds the error codes and parameters of each route. It follows the source from the handler through all functions that
 * it references, directly or indirectly. Operations behind an interface are not followed.
 */
import { join } from 'node:path';
import ts from 'typescript';
import type { ErrorCode } from '#platform/base/errors.ts';
import { chatNames } from '#protocol/chat/names.ts';
import { ERROR_CODES } from '#vocabulary/errors.ts';

export interface RouteFacts {
  readonly method: string;
  readonly path: string;
  readonly errorFormat: string;
  readonly cors: string | undefined;
  /** Registered error codes. */
  readonly codes: readonly ErrorCode[];
  /** Names of query and form parameters. */
  readonly parameters: readonly string[];
}

export interface RoutesOfSource {
  readonly routes: readonly RouteFacts[];
  /** Error codes that the platform returns for any path. */
  readonly platformCodes: readonly ErrorCode[];
}

const READERS = new Set(['get', 'all', 'has', 'isRepeated']);
const PLATFORM = /\/src\/platform\/(?:http|postgres)\//;

/** Returns the routes of all features, as written in `mount`. Routes with a computed path are left out. */
export function readRoutes(program: ts.Program, root: string): RoutesOfSource {
  const checker = program.getTypeChecker();
  const routes: RouteFacts[] = [];
  const graph = new SourceGraph(checker, root);
  const platform: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isObjectLiteralExpression(node)) routes.push(...routeOf(node, checker, graph));
    ts.forEachChild(node, visit);
  };
  for (const file of program.getSourceFiles()) {
    if (file.fileName.startsWith(join(root, 'src/features/')) && /\/routes\.tsx?$/.test(file.fileName)) visit(file);
    if (PLATFORM.test(file.fileName)) platform.push(file);
  }
  return { routes, platformCodes: graph.reach(platform).codes };
}

function routeOf(node: ts.ObjectLiteralExpression, checker: ts.TypeChecker, graph: SourceGraph): RouteFacts[] {
  const handle = node.properties.find((property) => property.name?.getText() === 'handle');
  const fact = (name: string): string | undefined => textOf(member(node, name, checker), checker);
  const [method, path, errorFormat] = [fact('method'), fact('path'), fact('errorFormat')];
  if (handle === undefined || method === undefined || path === undefined || errorFormat === undefined) return [];
  return [{ method, path, errorFormat, cors: fact('cors'), ...graph.reach([handle]) }];
}

/** Returns a member of an object literal, also from spread objects. */
function member(node: ts.ObjectLiteralExpression, name: string, checker: ts.TypeChecker): ts.Expression | undefined {
  for (const property of node.properties.toReversed()) {
    if (ts.isPropertyAssignment(property) && property.name.getText() === name) return property.initializer;
    if (!ts.isSpreadAssignment(property)) continue;
    const spread = objectOf(property.expression, checker);
    const value = spread === undefined ? undefined : member(spread, name, checker);
    if (value !== undefined) return value;
  }
  return undefined;
}

function objectOf(expression: ts.Expression, checker: ts.TypeChecker): ts.ObjectLiteralExpression | undefined {
  const value = ts.isIdentifier(expression) ? constantOf(expression, checker) : expression;
  if (value === undefined) return undefined;
  const plain = ts.isAsExpression(value) ? value.expression : value;
  return ts.isObjectLiteralExpression(plain) ? plain : undefined;
}

function constantOf(name: ts.Identifier, checker: ts.TypeChecker): ts.Expression | undefined {
  const declaration = checker.getSymbolAtLocation(name)?.valueDeclaration;
  return declaration !== undefined && ts.isVariableDeclaration(declaration) ? declaration.initializer : undefined;
}

/** Returns a text that is known statically. */
function textOf(expression: ts.Expression | undefined, checker: ts.TypeChecker): string | undefined {
  if (expression === undefined) return undefined;
  if (ts.isStringLiteralLike(expression)) return expression.text;
  if (ts.isIdentifier(expression)) return textOf(constantOf(expression, checker), checker);
  if (ts.isPropertyAccessExpression(expression)) {
    // Depends on the configuration; the manual shows the default.
    if (expression.name.text === 'pathPrefix') return chatNames('chat').pathPrefix;
    const owner = objectOf(expression.expression, checker);
    return owner === undefined ? undefined : textOf(member(owner, expression.name.text, checker), checker);
  }
  if (!ts.isTemplateExpression(expression)) return undefined;
  return expression.templateSpans.reduce<string | undefined>((text, span) => {
    const part = textOf(span.expression, checker);
    return text === undefined || part === undefined ? undefined : text + part + span.literal.text;
  }, expression.head.text);
}

/** What a function, constant or file contains itself, and what it references. */
interface OwnFacts {
  readonly codes: Set<ErrorCode>;
  readonly parameters: Set<string>;
  readonly declarations: Set<ts.Node>;
}

class SourceGraph {
  readonly #checker: ts.TypeChecker;
  readonly #source: string;
  readonly #known = new Map<ts.Node, OwnFacts>();

  constructor(checker: ts.TypeChecker, root: string) {
    this.#checker = checker;
    this.#source = join(root, 'src/');
  }

  /** Collects everything reachable from the given nodes. */
  reach(starts: readonly ts.Node[]): Pick<RouteFacts, 'codes' | 'parameters'> {
    const codes = new Set<ErrorCode>();
    const parameters = new Set<string>();
    const nodes = new Set(starts);
    // The set grows during the iteration.
    for (const node of nodes) {
      const own = this.#own(node);
      for (const name of own.codes) codes.add(name);
      for (const name of own.parameters) parameters.add(name);
      for (const declaration of own.declarations) nodes.add(declaration);
    }
    return { codes: [...codes].toSorted(), parameters: [...parameters].toSorted() };
  }

  #own(start: ts.Node): OwnFacts {
    const known = this.#known.get(start);
    if (known !== undefined) return known;
    const own: OwnFacts = { codes: new Set(), parameters: new Set(), declarations: new Set() };
    this.#known.set(start, own);
    const visit = (node: ts.Node): void => {
      if (ts.isTypeNode(node)) return;
      if (ts.isStringLiteral(node)) this.#addCode(node, own);
      if (ts.isCallExpression(node)) this.#addParameter(node, own);
      if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) this.#addDeclarations(node, own);
      ts.forEachChild(node, visit);
    };
    visit(start);
    return own;
  }

  /** Adds a string literal where an error code is expected. */
  #addCode(node: ts.StringLiteral, { codes }: OwnFacts): void {
    const name = codeOf(node.text);
    const expected = name === undefined ? undefined : this.#checker.getContextualType(node);
    if (name === undefined || expected?.isUnion() !== true) return;
    if (expected.types.every((one) => one.isStringLiteral() && codeOf(one.value) !== undefined)) codes.add(name);
  }

  #addParameter({ expression, arguments: given }: ts.CallExpression, { parameters }: OwnFacts): void {
    const [first, second] = given;
    const isRequired = ts.isIdentifier(expression) && expression.text === 'required';
    const name = isRequired ? second : first;
    const isReading =
      isRequired ||
      (ts.isPropertyAccessExpression(expression) &&
        READERS.has(expression.name.text) &&
        this.#checker.getTypeAtLocation(expression.expression).symbol?.name === 'FormParameters');
    if (isReading && name !== undefined && ts.isStringLiteral(name)) parameters.add(name.text);
  }

  #addDeclarations(name: ts.Identifier | ts.PrivateIdentifier, { declarations }: OwnFacts): void {
    const symbol = this.#checker.getSymbolAtLocation(name);
    if (symbol === undefined) return;
    const target = symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
    for (const one of target.declarations ?? []) {
      if (!one.getSourceFile().fileName.startsWith(this.#source)) continue;
      if (ts.isFunctionLike(one) || ts.isVariableDeclaration(one) || ts.isPropertyAssignment(one))
        declarations.add(one);
    }
  }
}

function codeOf(text: string): ErrorCode | undefined {
  return ERROR_CODES.find((name) => name === text);
}
