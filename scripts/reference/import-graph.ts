import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const TESTS = '[.]test[.]tsx?$|[.]test-support[.]tsx?$';

/** The folders of `src/` and who imports whom, as dependency-cruiser draws it. */
export function importGraphPage(root: string): string {
  const folders = drawn(root, '^src', '^src/[^/]+');
  const modules = drawn(root, '^src/(features|domain)', '^src/[^/]+/[^/]+');
  return `# Import graph

Generated from the source by dependency-cruiser; do not edit by hand. An arrow leads from the importing folder to the
imported one; imports of types count, tests do not. The ranks that limit imports are in
[Architecture](architecture.md#who-may-import-whom).

## Folders of \`src\`

\`\`\`mermaid
${folders}
\`\`\`

## Features and modules of the domain

\`\`\`mermaid
${modules}
\`\`\`
`;
}

function drawn(root: string, included: string, collapsed: string): string {
  const program = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = ['src', '--include-only', included, '--exclude', TESTS, '--collapse', collapsed];
  const run = spawnSync(process.execPath, [program, ...args, '--output-type', 'mermaid'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (run.status !== 0 || !run.stdout.includes('-->')) throw new Error(`no import graph: ${run.stderr}`);
  return sortedEdges(run.stdout.trim());
}

/** Sorts the edges, so that the page changes only when the graph does. */
function sortedEdges(graph: string): string {
  const lines = graph.split('\n');
  const isEdge = (line: string): boolean => line.includes('-->');
  return [...lines.filter((line) => !isEdge(line)), ...lines.filter(isEdge).toSorted()].join('\n');
}
