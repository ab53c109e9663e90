import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const TESTS = '[.]test[.]tsx?$|[.]test-support[.]tsx?$';

/** The folders of `src/` and who imports whom, as dependency-cruiser draws it. */
export function importGraphPage(root: string): string {
  const rooms = drawn(root, '^src', '^src/[^/]+');
  const doorsAndThings = drawn(root, '^src/(features|domain)', '^src/[^/]+/[^/]+');
  return `# The house as built: who imports whom

Generated from the source by dependency-cruiser; do not edit by hand. An arrow leads from the importing folder to the
imported one; imports of types count, tests do not. What may be imported is in [the house](architecture.md).

## Rooms

\`\`\`mermaid
${rooms}
\`\`\`

## Doors (\`features/\`) and things (\`domain/\`)

\`\`\`mermaid
${doorsAndThings}
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

/** Edges in an order of their own, so that the page changes only when the graph does. */
function sortedEdges(graph: string): string {
  const lines = graph.split('\n');
  const isEdge = (line: string): boolean => line.includes('-->');
  return [...lines.filter((line) => !isEdge(line)), ...lines.filter(isEdge).toSorted()].join('\n');
}
