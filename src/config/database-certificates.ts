import { resolve } from 'node:path';
import type { Environment } from '#platform/config/dot-env.ts';
import { type MappingNode, merge, type Node, nodeAt, nodeOf, type Origin } from '#platform/config/tree.ts';
import { namesServer } from './sections/database.ts';
import { parsePostgresUri } from './sections/postgres-uri.ts';

/**
 * Adds the certificate files that the database URI names (`sslrootcert` and so on), and those of libpq's variables.
 * Settings take precedence, then the URI.
 */
export function withCertificateFiles(
  tree: MappingNode,
  { environment, workingDirectory }: { readonly environment: Environment; readonly workingDirectory: string },
  readFiles: (root: MappingNode) => MappingNode,
): MappingNode {
  let result = tree;
  const add = (files: Readonly<Record<string, string>>, at: Origin): void => {
    const missing = Object.entries(files).filter(
      ([name]) =>
        nodeAt(result, ['database', name]) === undefined && nodeAt(result, ['database', `${name}_file`]) === undefined,
    );
    if (missing.length === 0) return;
    const named = nodeOf({ database: Object.fromEntries(missing.map(([name, path]) => [`${name}_file`, path])) }, at);
    const merged = named.kind === 'mapping' ? merge(readFiles(named), result) : result;
    if (merged.kind === 'mapping') result = merged;
  };
  for (const key of ['uri', 'migration_uri']) {
    const uri = nodeAt(tree, ['database', key]);
    const files = uri?.kind === 'scalar' ? parsePostgresUri(String(uri.value))?.files : undefined;
    if (uri !== undefined && files !== undefined) add({ ...files }, uri.at);
  }
  if (!namesServer((key) => textOf(nodeAt(tree, ['database', key])))) return result;
  for (const [name, variable] of Object.entries(CERTIFICATE_VARIABLES)) {
    const path = environment[variable];
    if (path === undefined || path === '' || path === 'system') continue;
    add({ [name]: resolve(workingDirectory, path) }, { rank: 0, directory: workingDirectory, source: variable });
  }
  return result;
}

const CERTIFICATE_VARIABLES = { ssl_ca: 'PGSSLROOTCERT', ssl_certificate: 'PGSSLCERT', ssl_key: 'PGSSLKEY' } as const;

function textOf(node: Node | undefined): string | undefined {
  return node?.kind === 'scalar' ? String(node.value) : node?.kind;
}
