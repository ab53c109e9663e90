/** Lists all generated files of the repository. `scripts/generate-reference.js` runs this. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lexicographicSortSchema, printSchema } from 'graphql';
import type { Program } from 'typescript';
import { plotOf } from '../../bench/plot.js';
import { readWholeRuns } from '../../bench/stored.js';
import { configJsonSchemaText } from '../../src/config/reference/json-schema.ts';
import { configManualText } from '../../src/config/reference/manual.ts';
import { buildAccountSchema } from '../../src/features/account-api/schema/schema.ts';
import { NOT_BUILT, shrunkList } from '../../test/account-api/names.ts';
import { acceptanceChecksPage } from './acceptance-checks.ts';
import { accountApiPage } from './account-api.ts';
import { adminApiPage } from './admin-api.ts';
import { adminResponseTypes } from './admin-documents.ts';
import { architecturePicture } from './architecture-picture.ts';
import { assurancePage } from './assurance.ts';
import { attackTestsPage, faultsPage, mutationTestsPage } from './attack-tests.ts';
import { commandsPage } from './commands.ts';
import { errorCodesPage } from './error-codes.ts';
import { graphqlDocuments } from './graphql-documents.ts';
import { importGraphPage } from './import-graph.ts';
import { logEventTable } from './log-events.ts';
import { fillPart } from './markdown.ts';
import { masConfigurationPage } from './mas-configuration.ts';
import { metricsPage } from './metrics.ts';
import { performanceFigures } from './performance.ts';
import { programPages, programTable } from './programs.ts';
import { requestLineExpression, requestLineTable } from './request-line.ts';
import { fillRequestsPage } from './requests.ts';
import { type LogCall, readSourceFacts } from './source-facts.ts';
import { filledTrustPage } from './trust.ts';

/**
 * Returns texts by path below the root.
 * @param root directory of `package.json`; @param program of the product, without tests
 */
export async function referencePages(root: string, program: Program): Promise<Readonly<Record<string, string>>> {
  const { logCalls, formCodes, routes } = readSourceFacts(program, root);
  const logPage = readFileSync(join(root, 'docs/reference/log.md'), 'utf8');
  const requestsPage = readFileSync(join(root, 'docs/reference/requests.md'), 'utf8');
  const performancePage = readFileSync(join(root, 'docs/performance.md'), 'utf8');
  const programsPage = readFileSync(join(root, 'docs/guides/programs.md'), 'utf8');
  const runs = readWholeRuns(root);
  const accountSchema = buildAccountSchema();
  const schemaText = `${printSchema(lexicographicSortSchema(accountSchema))}\n`;
  return {
    'bench/results/plot.svg': plotOf(runs),
    'docs/architecture.svg': architecturePicture(root),
    'docs/assurance/README.md': assurancePage(root),
    'docs/assurance/acceptance-checks.md': acceptanceChecksPage(),
    'docs/assurance/attack-tests.md': attackTestsPage(root),
    'docs/assurance/faults.md': faultsPage(root),
    'docs/assurance/mutation-tests.md': mutationTestsPage(),
    'docs/guides/programs.md': fillPart(programsPage, 'programs', programTable()),
    ...programPages(),
    'docs/import-graph.md': await importGraphPage(root),
    'docs/performance.md': fillPart(performancePage, 'figures', performanceFigures(runs)),
    'docs/reference/account-api.md': accountApiPage(accountSchema),
    'docs/reference/admin-api.md': adminApiPage(),
    'docs/reference/commands.md': commandsPage(),
    'docs/reference/configuration.md': configManualText(),
    'docs/reference/error-codes.md': errorCodesPage(formCodes),
    'docs/reference/log.md': filledLogPage(logPage, logCalls),
    'docs/reference/mas-configuration.md': masConfigurationPage(),
    'docs/reference/metrics.md': metricsPage(),
    'docs/reference/requests.md': fillRequestsPage(requestsPage, routes),
    'docs/trust.md': filledTrustPage(root, readFileSync(join(root, 'docs/trust.md'), 'utf8'), runs),
    'share/account-api.graphql': schemaText,
    'share/config.schema.json': configJsonSchemaText(),
    [NOT_BUILT]: shrunkList(root, accountSchema),
    ...graphqlDocuments(root, schemaText),
    'web/admin/api/responses.generated.ts': adminResponseTypes(),
  };
}

function filledLogPage(page: string, logCalls: readonly LogCall[]): string {
  const parts = {
    'request line': requestLineTable(),
    'request line expression': requestLineExpression(),
    events: logEventTable(logCalls),
  };
  return Object.entries(parts).reduce((filled, [name, text]) => fillPart(filled, name, text), page);
}
