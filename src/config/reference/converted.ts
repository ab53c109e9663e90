/** Writes a converted configuration. Only commands import this module. */
import { stringify } from 'yaml';
import { placeText } from '#platform/config/problems.ts';
import { plain } from '#platform/config/tree.ts';
import type { LoadedConfig } from '../load.ts';
import type { MasNote } from '../mas/translation.ts';

/**
 * Returns a document of Latchkey with the settings of a configuration of Matrix Authentication Service. Each change is a
 * comment at its beginning. It contains the secrets of that configuration.
 * @param schemaPath path or URL of the JSON Schema for editors
 */
export function convertedConfig({ files, tree, masNotes = [] }: LoadedConfig, schemaPath: string): string {
  const lines = [
    `# yaml-language-server: $schema=${schemaPath}`,
    `# Configuration of Latchkey, converted from Matrix Authentication Service (${files.join(', ')}).`,
    '# Relative paths were replaced by absolute ones. Other changes:',
    ...masNotes.map((note) => `# - ${noteText(note)}`),
    stringify(plain(tree), { lineWidth: 0 }),
  ];
  return lines.join('\n');
}

/** Never contains a secret. */
function noteText({ key, message, at }: MasNote): string {
  const place = at.line === undefined && at.source.startsWith('default') ? '' : ` (${placeText(at)})`;
  return `${key}: ${message}${place}`;
}
