import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OwnTranslations } from '#config/own-translations.ts';
import { isObject } from '#platform/base/objects.ts';
import { packageRoot } from '#platform/base/package-root.ts';
import { BUNDLED_LANGUAGES } from '#vocabulary/languages.ts';
import { createCatalog, type TranslationCatalog } from './translations.ts';

type Texts = Readonly<Record<string, string>>;

/** Descriptors by language. */
const files = new Map<string, number>();
const read = new Map<string, Texts>();

/**
 * Returns the bundled languages, with the operator's texts and languages. Opens all files, because an update that
 * replaces them must not give this process texts of another version.
 */
export function loadTranslations(own: OwnTranslations = {}): TranslationCatalog {
  for (const tag of BUNDLED_LANGUAGES) {
    if (!files.has(tag)) files.set(tag, openSync(join(packageRoot, 'locales', `${tag}.json`), 'r'));
  }
  const tags = new Set([...BUNDLED_LANGUAGES, ...Object.keys(own)]);
  return createCatalog([...tags], (tag) => ({ ...bundledTexts(tag), ...own[tag] }));
}

/**
 * Returns the texts of a bundled language by key, or none if there is no such language. A file is read at first use:
 * most processes serve few languages, and each takes several hundred kilobytes.
 */
function bundledTexts(tag: string): Texts {
  const known = read.get(tag);
  if (known !== undefined) return known;
  const file = files.get(tag);
  if (file === undefined) return {};
  const texts = textsOf(JSON.parse(readFileSync(file, 'utf8')));
  closeSync(file);
  read.set(tag, texts);
  return texts;
}

function textsOf(document: unknown): Texts {
  const texts: Record<string, string> = {};
  for (const [key, text] of Object.entries(isObject(document) ? document : {})) {
    if (typeof text === 'string') texts[key] = text;
  }
  return texts;
}
