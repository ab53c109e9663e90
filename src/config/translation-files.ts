/** Operator translations: one file per language, which overrides bundled texts or adds a language. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { distance } from 'fastest-levenshtein';
import { isObject } from '#platform/base/objects.ts';
import { packageRoot } from '#platform/base/package-root.ts';
import { systemReason } from '#platform/base/system-errors.ts';
import type { Problem } from '#platform/config/problems.ts';
import { type MappingNode, nodeAt, pathText } from '#platform/config/tree.ts';
import { BUNDLED_LANGUAGES } from '#vocabulary/languages.ts';
import { messageProblem } from './message-rules.ts';
import type { OwnTranslations } from './own-translations.ts';
import { ofFile, placeOf, readTemplateText, type TemplateFileProblem } from './template-files.ts';

export const TRANSLATIONS_KEY = ['templates', 'translations_path'];
const DEFAULT_LANGUAGE_KEY = ['i18n', 'default_language'];
const EXTENSION = '.json';
const MAX_BYTES = 1024 * 1024;

/** Reads the files `TAG.json`. Invalid texts are left out. */
export function readTranslations(root: MappingNode): {
  readonly translations: OwnTranslations;
  readonly problems: readonly TemplateFileProblem[];
} {
  const node = nodeAt(root, TRANSLATIONS_KEY);
  const problems: TemplateFileProblem[] = [];
  const translations: Record<string, Readonly<Record<string, string>>> = {};
  if (node?.kind !== 'scalar' || typeof node.value !== 'string' || node.value === '') return { translations, problems };
  let names: readonly string[] = [];
  try {
    names = readdirSync(node.value).toSorted();
  } catch (error) {
    problems.push(ofFile(node.value, `cannot read the directory ${node.value}: ${systemReason(error)}`));
  }
  const english = bundledEnglish();
  for (const name of names) {
    if (!name.endsWith(EXTENSION)) continue;
    const file = join(node.value, name);
    const language = name.slice(0, -EXTENSION.length);
    const wrong = languageProblem(language);
    if (wrong === undefined) translations[language] = readLanguage(file, language, english, problems);
    else problems.push(ofFile(file, `${file} ${wrong}`));
  }
  return { translations, problems };
}

/** Checks that the default language is available. */
export function defaultLanguageProblems(root: MappingNode, own: OwnTranslations): Problem[] {
  const node = nodeAt(root, DEFAULT_LANGUAGE_KEY);
  const languages = [...new Set([...BUNDLED_LANGUAGES, ...Object.keys(own)])];
  if (node?.kind !== 'scalar' || typeof node.value !== 'string' || languages.includes(node.value)) return [];
  const list = languages.map((language) => `"${language}"`).join(', ');
  const message = `expected one of ${list}, got ${JSON.stringify(node.value)}`;
  return [{ key: pathText(DEFAULT_LANGUAGE_KEY), message, at: node.at }];
}

function bundledEnglish(): ReadonlyMap<string, string> {
  const messages: unknown = JSON.parse(readFileSync(join(packageRoot, 'locales/en.json'), 'utf8'));
  return new Map(
    Object.entries(isObject(messages) ? messages : {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  );
}

function languageProblem(tag: string): string | undefined {
  let canonical: string | undefined;
  try {
    [canonical] = Intl.getCanonicalLocales(tag);
  } catch {
    return 'is not named after a language; expected a name like pt-BR.json';
  }
  return canonical === tag ? undefined : `must be named ${canonical}${EXTENSION}`;
}

function readLanguage(
  file: string,
  language: string,
  english: ReadonlyMap<string, string>,
  problems: TemplateFileProblem[],
): Readonly<Record<string, string>> {
  const content = readTemplateText(file, problems, MAX_BYTES);
  if (content === undefined) return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(content);
  } catch (error) {
    problems.push({ ...ofFile(file, ''), ...placeOfSyntaxError(content, error) });
    return {};
  }
  if (!isObject(parsed)) {
    problems.push(ofFile(file, `the file ${file} is not a JSON object that maps keys to texts`));
    return {};
  }
  const texts: Record<string, string> = {};
  for (const [key, text] of Object.entries(parsed)) {
    const wrong = textProblem(language, key, text, english);
    if (wrong === undefined) texts[key] = String(text);
    else problems.push({ file, ...placeOfKey(content, key), text: `${key}: ${wrong}` });
  }
  return texts;
}

function textProblem(
  language: string,
  key: string,
  text: unknown,
  english: ReadonlyMap<string, string>,
): string | undefined {
  const bundled = english.get(key);
  if (bundled === undefined) return `unknown key${nearest(key, english)}`;
  if (typeof text !== 'string' || text.trim() === '') return 'expected a string';
  return messageProblem(language, text, bundled);
}

function nearest(key: string, english: ReadonlyMap<string, string>): string {
  const ranked = [...english.keys()].map((name) => ({ name, edits: distance(key, name) }));
  const best = ranked.reduce((left, right) => (right.edits < left.edits ? right : left));
  return best.edits <= Math.max(2, key.length / 4) ? `; did you mean "${best.name}"?` : '';
}

function placeOfKey(content: string, key: string): { readonly line: number; readonly column: number } {
  return placeOf(content, Math.max(0, content.indexOf(JSON.stringify(key))));
}

/** Returns the location and a short message; the parser's message quotes the file. */
function placeOfSyntaxError(content: string, error: unknown) {
  const message = error instanceof Error ? error.message : '';
  const offset = /at position (\d+)/.exec(message)?.[1];
  return { ...placeOf(content, offset === undefined ? content.length : Number(offset)), text: 'not valid JSON' };
}
