import type { MappingShape } from '#platform/config/shape.ts';
import { type MappingNode, nodeAt } from '#platform/config/tree.ts';
import { withMasDefaults } from './defaults.ts';
import { MAS_RULES } from './keys.ts';
import { type MasNote, Translation } from './translation.ts';

export interface TranslatedDocument {
  /** A document of Latchkey. */
  readonly root: MappingNode;
  readonly notes: readonly MasNote[];
}

/** Translates a complete document of MAS, with the defaults of MAS. @param shape of Latchkey's document */
export function translateMas(document: MappingNode, shape: MappingShape): TranslatedDocument {
  const { root, notes } = translateMasKeys(document, shape);
  const completed = withMasDefaults(root);
  return { root: completed.root, notes: [...notes, ...missingKeys(document), ...completed.notes] };
}

/** Translates keys of MAS that come on top of another document, such as its variables. */
export function translateMasKeys(document: MappingNode, shape: MappingShape): TranslatedDocument {
  const translation = new Translation(document, MAS_RULES, shape);
  const root = translation.translated();
  return { root, notes: translation.notes };
}

/** Latchkey would generate secrets in its data directory, so that nothing that MAS encrypted could be read. */
function missingKeys(document: MappingNode): MasNote[] {
  const lacks = (...paths: string[][]) => paths.every((path) => nodeAt(document, path) === undefined);
  const refusal = (key: string): MasNote => ({
    kind: 'refusal',
    key,
    message: 'missing; MAS requires it',
    at: document.at,
  });
  return [
    ...(lacks(['matrix']) ? [refusal('matrix')] : []),
    ...(lacks(['secrets', 'encryption'], ['secrets', 'encryption_file']) ? [refusal('secrets.encryption')] : []),
    ...(lacks(['secrets', 'keys'], ['secrets', 'keys_dir']) ? [refusal('secrets.keys')] : []),
    ...(lacks(['http', 'public_base']) && !lacks(['http']) ? [refusal('http.public_base')] : []),
  ];
}
