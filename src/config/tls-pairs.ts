/** Checks the certificates and keys of listeners, and lists their files. */
import type { Problem } from '#platform/config/problems.ts';
import { type MappingNode, type Node, nodeAt, type Path, pathText } from '#platform/config/tree.ts';
import { checkTlsPair } from '#platform/http/tls-pair.ts';
import { keyContent } from './sections/secrets.ts';

const LISTENERS: Path = ['http', 'listeners'];
const FILES = ['certificate_file', 'key_file', 'password_file'] as const;

/**
 * Returns why certificate and key pairs cannot be used.
 * @param root tree with the content of the files
 */
export function tlsProblems(root: MappingNode): Problem[] {
  return tlsPaths(root).flatMap((path) => {
    const certificate = textAt(root, [...path, 'certificate']);
    const key = textAt(root, [...path, 'key']);
    // The schema check reports missing values and values that are not text.
    if (certificate === undefined || key === undefined) return [];
    const content = keyContent(key);
    const found = checkTlsPair({
      certificate,
      key: Buffer.from(content.key.reveal(), content.encoding),
      password: textAt(root, [...path, 'password']),
    });
    if (found === undefined) return [];
    const place = [...path, found.part];
    return [{ key: pathText(place), message: found.message, at: (nodeAt(root, place) ?? root).at }];
  });
}

/**
 * Returns the certificate and key files of listeners.
 * @param root tree with absolute paths
 */
export function tlsFiles(root: MappingNode): readonly string[] {
  return tlsPaths(root).flatMap((path) => FILES.flatMap((name) => textAt(root, [...path, name]) ?? []));
}

/** Returns the paths of listener certificates in the tree. */
export function tlsPaths(root: MappingNode): readonly Path[] {
  const listeners = nodeAt(root, LISTENERS);
  if (listeners?.kind !== 'list') return [];
  return listeners.items.flatMap((listener, index) =>
    nodeAt(listener, ['tls'])?.kind === 'mapping' ? [[...LISTENERS, index, 'tls']] : [],
  );
}

function textAt(root: Node, path: Path): string | undefined {
  const node = nodeAt(root, path);
  return node?.kind === 'scalar' && typeof node.value === 'string' && node.value !== '' ? node.value : undefined;
}
