import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AnyStatement, registeredStatements } from '#platform/postgres/statement.ts';

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));
const MAKES_STATEMENTS =
  /\b(?:statement|listStatements|ownedList|lookup|joinableWrite|singleWrite|deleteOldest|walkTable|endSessions)(<|\()/;

/** Returns every statement of the service. Loads each module under `src` that defines one. */
export async function loadStatements(): Promise<AnyStatement[]> {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.test|\.test-support)\.tsx?$/.test(file))
    .map((file) => join(SOURCE, file))
    .filter((file) => MAKES_STATEMENTS.test(readFileSync(file, 'utf8')));
  for (const file of files) await import(file);
  return [...registeredStatements()];
}
