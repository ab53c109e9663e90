import type { Problem } from '#platform/config/problems.ts';
import type { MappingShape } from '#platform/config/shape.ts';
import { type MappingNode, type Node, nodeAt, type Path, pathText } from '#platform/config/tree.ts';
import { MAS_RULES } from './keys.ts';
import { isOwnKey } from './translation.ts';
import { textAt, textOf } from './values.ts';

/** How the configuration files are read. */
export type Dialect = 'latchkey' | 'mas';

/** Sections that only Latchkey has, and that every converted document has. */
const OWN_SECTIONS = ['protocol_name', 'homeserver'];

/**
 * Decides what the files together are.
 * @param shape of Latchkey's document; @param isDeclared the operator said that they are files of MAS, by `MAS_CONFIG` or by the program `mas-cli`
 */
export function dialectOf(roots: readonly MappingNode[], shape: MappingShape, isDeclared: boolean): Dialect {
  const has = (...path: string[]) => roots.some((root) => nodeAt(root, path) !== undefined);
  if (OWN_SECTIONS.some((section) => has(section))) return 'latchkey';
  if (isDeclared) return 'mas';
  // MAS requires both sections; Latchkey's own documents need neither.
  if (!has('matrix') || !(has('secrets', 'encryption') || has('secrets', 'encryption_file'))) return 'latchkey';
  return roots.some((root) => ownSignIn(root, shape) !== undefined) ? 'latchkey' : 'mas';
}

/**
 * Explains why a document with keys that only MAS has was read as one of Latchkey. Its other problems follow from
 * that.
 */
export function mixtureProblems(roots: readonly MappingNode[], shape: MappingShape): Problem[] {
  const isTheirs = (key: string, path: Path) => MAS_RULES.has(key) && path[0] !== 'matrix' && !isOwnKey(path, shape);
  const theirs = roots.flatMap((root) => keyIn(root, isTheirs, '', []) ?? []);
  const [foreign] = theirs;
  if (foreign === undefined) return [];
  const own = roots.flatMap((root) => ownSignIn(root, shape) ?? OWN_SECTIONS.filter((name) => root.entries.has(name)));
  if (own[0] === undefined) return [];
  const message = `a key of Matrix Authentication Service beside "${own[0]}", a setting of Latchkey. If the file is a configuration of Matrix Authentication Service, name it in MAS_CONFIG`;
  return [{ key: foreign.key, message, at: foreign.at }];
}

/** Returns a key or value that Latchkey has and MAS does not. */
function ownSignIn(root: MappingNode, shape: MappingShape): string | undefined {
  return keyIn(root, (key, path) => !MAS_RULES.has(key) && isOwnKey(path, shape), '', [])?.key ?? ownValueIn(root);
}

type FoundKey = Pick<Problem, 'at'> & { readonly key: string };

/** Returns the first key of the tree for which the test is true. */
function keyIn(
  node: Node,
  test: (key: string, path: Path) => boolean,
  above: string,
  path: Path,
): FoundKey | undefined {
  if (node.kind === 'list') {
    for (const [index, item] of node.items.entries()) {
      const found = keyIn(item, test, `${above}[]`, [...path, index]);
      if (found !== undefined) return found;
    }
  }
  if (node.kind !== 'mapping') return undefined;
  for (const [name, { at, value }] of node.entries) {
    const place = [...path, name];
    const key = above === '' ? name : `${above}.${name}`;
    if (test(key, place)) return { key: pathText(place), at };
    const found = MAS_RULES.has(key) ? keyIn(value, test, key, place) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function ownValueIn(root: MappingNode): string | undefined {
  if (textAt(root, ['matrix', 'kind']) === 'none') return 'matrix.kind';
  if (textAt(root, ['email', 'transport']) === 'file') return 'email.transport';
  if (textAt(root, ['database', 'uri'])?.startsWith('embedded:') === true) return 'database.uri';
  if (itemsAt(root, ['http', 'trusted_proxies']).some((item) => textOf(item) === 'private')) {
    return 'http.trusted_proxies';
  }
  const resources = itemsAt(root, ['http', 'listeners']).flatMap((listener) => itemsAt(listener, ['resources']));
  return resources.some((resource) => (textOf(resource) ?? textAt(resource, ['name'])) === 'adminarea')
    ? 'http.listeners'
    : undefined;
}

function itemsAt(root: Node, path: Path): readonly Node[] {
  const node = nodeAt(root, path);
  return node?.kind === 'list' ? node.items : [];
}
