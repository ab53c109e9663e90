/** Every file of the repository that is written from the source. `scripts/generate-reference.js` runs this. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { configJsonSchemaText } from '../../src/config/reference/json-schema.ts';
import { configManualText } from '../../src/config/reference/manual.ts';
import { commandsPage } from './commands.ts';
import { errorCodesPage } from './error-codes.ts';
import { importGraphPage } from './import-graph.ts';
import { logEventTable } from './log-events.ts';
import { fillPart } from './markdown.ts';
import { readSourceFacts } from './source-facts.ts';

/**
 * Texts by path below the root.
 * @param root folder of `package.json`
 */
export function referencePages(root: string): Readonly<Record<string, string>> {
  const { logCalls, formCodes } = readSourceFacts(root);
  const logPage = readFileSync(join(root, 'docs/reference/log.md'), 'utf8');
  return {
    'docs/import-graph.md': importGraphPage(root),
    'docs/reference/commands.md': commandsPage(),
    'docs/reference/configuration.md': configManualText(),
    'docs/reference/error-codes.md': errorCodesPage(formCodes),
    'docs/reference/log.md': fillPart(logPage, 'events', logEventTable(logCalls)),
    'share/config.schema.json': configJsonSchemaText(),
  };
}
