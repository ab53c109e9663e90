import { createRequire } from 'node:module';
import { join } from 'node:path';
import { cruise, format, type ICruiseResult } from 'dependency-cruiser';

const TESTS = '[.]test[.]tsx?$|[.]test-support[.]tsx?$';

/** Returns a page with the import graph of the folders in `src/`, as rendered by dependency-cruiser. */
export async function importGraphPage(root: string): Promise<string> {
  const { options } = createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs'));
  const cruiseOptions = { ...options, baseDir: root, includeOnly: '^src', exclude: TESTS };
  const { output } = await cruise(['src'], cruiseOptions, options.enhancedResolveOptions);
  if (typeof output === 'string') throw new Error(`no import graph: ${output}`);
  const folders = await drawn(output, '^src', '^src/[^/]+');
  const modules = await drawn(output, '^src/(features|domain)', '^src/[^/]+/[^/]+');
  return `# Import graph

Generated from the source by dependency-cruiser; do not edit by hand. An arrow leads from the importing folder to the
imported one; imports of types count, tests do not. The ranks that limit imports are in
[Architecture](architecture.md#import-rules).

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

async function drawn(result: ICruiseResult, included: string, collapsed: string): Promise<string> {
  const { output } = await format(result, { includeOnly: included, collapse: collapsed, outputType: 'mermaid' });
  if (typeof output !== 'string' || !output.includes('-->')) throw new Error('no import graph');
  return sortedEdges(output.trim());
}

/** Sorts the edges, so that the page changes only if the graph does. */
function sortedEdges(graph: string): string {
  const lines = graph.split('\n');
  const isEdge = (line: string): boolean => line.includes('-->');
  return [...lines.filter((line) => !isEdge(line)), ...lines.filter(isEdge).toSorted()].join('\n');
}
