/** Finds where each statement is written, and the fragments of other files that it is composed of. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** An exported piece of SQL, or a function that returns one. */
export interface Fragment {
  readonly name: string;
  /** Path from the root of the repository. */
  readonly file: string;
}

export interface StatementSource {
  readonly file: string;
  /** In the order of their first use, with the fragments of fragments. */
  readonly fragments: readonly Fragment[];
}

/** A file with what its names mean. */
interface Parsed {
  readonly file: string;
  readonly node: ts.SourceFile;
  readonly imports: ReadonlyMap<string, Fragment>;
  readonly declarations: ReadonlyMap<string, ts.Node>;
}

/** A call whose first argument may be a label. */
interface LabeledCall {
  /** What to follow for fragments: the call, or the declaration around it if the label is computed. */
  readonly node: ts.Node;
  readonly file: Parsed;
}

/** Where statements that write and their fragments are. */
const FOLDERS = ['src/domain', 'src/platform'];
/** Without the helpers that make statements. */
const HAS_FRAGMENTS = /^src\/(?:domain|platform\/jobs)\//;

/**
 * Parses the source and returns a function that finds the source of a label. It throws unless exactly one call may have
 * the label.
 */
export function statementSources(): (label: string) => StatementSource {
  const files = new Map(FOLDERS.flatMap(sourceFiles).map((file) => [file, parse(file)]));
  const fixed = new Map<string, LabeledCall[]>();
  const computed: { readonly pattern: RegExp; readonly call: LabeledCall }[] = [];
  for (const file of files.values()) {
    for (const outer of file.node.statements) {
      const visit = (node: ts.Node): void => {
        const [label] = ts.isCallExpression(node) ? node.arguments : [];
        if (label !== undefined && ts.isStringLiteralLike(label)) {
          fixed.set(label.text, [...(fixed.get(label.text) ?? []), { node, file }]);
        }
        if (label !== undefined && ts.isTemplateExpression(label)) {
          const parts = [label.head.text, ...label.templateSpans.map(({ literal }) => literal.text)];
          if (parts.every((part) => /^[\w-]*$/.test(part)) && parts.join('') !== '') {
            computed.push({ pattern: RegExp(`^${parts.join('.*')}$`), call: { node: outer, file } });
          }
        }
        ts.forEachChild(node, visit);
      };
      visit(outer);
    }
  }
  return (label) => {
    const calls = fixed.get(label) ?? computed.filter(({ pattern }) => pattern.test(label)).map(({ call }) => call);
    const [call, another] = calls;
    if (call === undefined || another !== undefined)
      throw new Error(`${calls.length} calls may have the label ${label}`);
    return { file: call.file.file, fragments: fragmentsOf(call, files) };
  };
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.test|\.test-support)\.tsx?$/.test(name))
    .map((name) => `${folder}/${name}`);
}

function parse(file: string): Parsed {
  const node = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const imports = new Map<string, Fragment>();
  const declarations = new Map<string, ts.Node>();
  for (const one of node.statements) {
    if (ts.isImportDeclaration(one) && ts.isStringLiteral(one.moduleSpecifier)) {
      const named = one.importClause?.namedBindings;
      if (named === undefined || !ts.isNamedImports(named)) continue;
      const from = resolved(file, one.moduleSpecifier.text);
      for (const { name, propertyName } of named.elements) {
        imports.set(name.text, { name: (propertyName ?? name).text, file: from });
      }
    } else if (ts.isFunctionDeclaration(one) && one.name !== undefined) declarations.set(one.name.text, one);
    else if (ts.isVariableStatement(one)) {
      for (const declared of one.declarationList.declarations) {
        if (ts.isIdentifier(declared.name)) declarations.set(declared.name.text, declared);
      }
    }
  }
  return { file, node, imports, declarations };
}

/** Follows the `imports` of package.json. */
function resolved(importer: string, specifier: string): string {
  return specifier.startsWith('#') ? `src/${specifier.slice(1)}` : join(dirname(importer), specifier);
}

function fragmentsOf(call: LabeledCall, files: ReadonlyMap<string, Parsed>): Fragment[] {
  const fragments = new Map<ts.Node, Fragment>();
  const seen = new Set<ts.Node>();
  const follow = (node: ts.Node, file: Parsed): void => {
    if (seen.has(node) || ts.isTypeNode(node)) return;
    seen.add(node);
    if (ts.isIdentifier(node)) followName(node.text, file);
    else if (ts.isPropertyAccessExpression(node)) follow(node.expression, file);
    else if (ts.isPropertyAssignment(node)) follow(node.initializer, file);
    else ts.forEachChild(node, (child) => follow(child, file));
  };
  const followName = (name: string, file: Parsed): void => {
    const own = file.declarations.get(name);
    if (own !== undefined) {
      follow(own, file);
      return;
    }
    const imported = file.imports.get(name);
    if (imported === undefined || !HAS_FRAGMENTS.test(imported.file)) return;
    const target = files.get(imported.file);
    const declared = target?.declarations.get(imported.name);
    if (target === undefined || declared === undefined) return;
    if (target !== call.file) fragments.set(declared, imported);
    follow(declared, target);
  };
  follow(call.node, call.file);
  return [...fragments.values()];
}
