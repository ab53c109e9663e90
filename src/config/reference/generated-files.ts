import { configJsonSchemaText } from './json-schema.ts';
import { configManualText } from './manual.ts';

/** Files of the repository that are written from the schema, by path; `scripts/generate-reference.js` writes them. */
export function generatedFiles(): Readonly<Record<string, string>> {
  return {
    'docs/reference/configuration.md': configManualText(),
    'share/config.schema.json': configJsonSchemaText(),
  };
}
