import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { packageRoot } from '#platform/base/package-root.ts';

const SOURCE = join(packageRoot, 'src');

/** Returns the property names that a file reads: `x.name` and `{ name } = x`. Writes do not count. */
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

/** Returns the property names of the configuration value, each with the file of its section. */
function settings(): { name: string; section: string }[] {
  const sections = readdirSync(join(SOURCE, 'config/sections')).map((name) => `sections/${name}`);
  return ['config.ts', ...sections.filter((name) => !name.endsWith('.test.ts'))].flatMap((section) => {
    const file = join(SOURCE, 'config', section);
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
    return namesReturned(source).map((name) => ({ name, section }));
  });
}

/** Snake-case keys of the file are camel-case properties of the value. */
function namesReturned(node: ts.Node, isReturned = false): string[] {
  if (ts.isCallExpression(node) && ['hint', 'mapping'].includes(node.expression.getText())) return [];
  const isProperty = ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node);
  const own = isReturned && isProperty && ts.isIdentifier(node.name) ? [node.name.text] : [];
  const below: string[] = [];
  ts.forEachChild(node, (child) => {
    below.push(...namesReturned(child, isReturned || ts.isReturnStatement(child)));
  });
  return [...own, ...below].filter((name) => !name.includes('_'));
}

test('every setting is used somewhere: an accepted setting without effect would mislead the operator', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.test)(?<!\.test-support)\.tsx?$/.test(file) && !file.startsWith('config/'))
    .map((file) => join(SOURCE, file));
  const read = new Set(files.flatMap(namesRead));
  expect(settings().length).toBeGreaterThan(100);
  const unread = settings().filter(({ name }) => !read.has(name));
  expect(unread.map(({ name, section }) => `${section}: ${name}`)).toEqual([]);
});
