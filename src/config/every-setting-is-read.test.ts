import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { packageRoot } from '#platform/base/package-root.ts';

const SOURCE = join(packageRoot, 'src');

/** Names of properties that a file reads: `x.name`, and `{ name } = x`. What it only writes does not count. */
function namesRead(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) names.push(node.name.text);
    if (ts.isBindingElement(node)) {
      const name = node.propertyName ?? node.name;
      if (ts.isIdentifier(name)) names.push(name.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}

/** Every property of the interfaces of `config.ts`, with the interface that has it. */
function settings(): { name: string; owner: string }[] {
  const file = join(SOURCE, 'config/config.ts');
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: { name: string; owner: string }[] = [];
  const visit = (node: ts.Node, owner: string): void => {
    const isNamed = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
    const inside = isNamed ? node.name.text : owner;
    if (ts.isPropertySignature(node) && ts.isIdentifier(node.name)) found.push({ name: node.name.text, owner: inside });
    ts.forEachChild(node, (child) => visit(child, inside));
  };
  visit(source, '');
  return found;
}

test('every setting is read somewhere: one that is accepted and does nothing would mislead its operator', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.test)(?<!\.test-support)\.tsx?$/.test(file) && !file.startsWith('config/'))
    .map((file) => join(SOURCE, file));
  const read = new Set(files.flatMap(namesRead));
  expect(settings().length).toBeGreaterThan(100);
  const unread = settings().filter(({ name }) => !read.has(name));
  expect(unread.map(({ name, owner }) => `${owner}.${name}`)).toEqual([]);
});
