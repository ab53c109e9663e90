import { assetPaths } from '#browser/asset-files.ts';
import { loadTranslations } from '#browser/i18n/load-translations.ts';
import { createCatalog, type Messages, type TranslationCatalog } from '#browser/i18n/translations.ts';
import type { Sample } from '#browser/sample.ts';

export const catalog = loadTranslations();

/** Returns a catalog of these messages by language, without the bundled languages. */
export function catalogOf(files: Readonly<Record<string, Messages>> & { readonly en: Messages }): TranslationCatalog {
  return createCatalog(Object.keys(files), (language) => files[language] ?? {});
}

const site = { serviceName: 'example.org', indexPath: '/', ...assetPaths('/', {}) };

/** @param text used wherever external text may appear, and for the random values */
export function renderSample({ render }: Sample, { language = 'en', text = 'Harbour Chat', now = 0 } = {}): string {
  return render({ site, translations: catalog.in(language), languages: catalog.languages, token: text, text, now });
}

/** Returns the sample with this name. */
export function sampleNamed(samples: readonly Sample[], name: string): Sample {
  const found = samples.find((sample) => sample.name === name);
  if (found === undefined) throw new Error(`no sample ${name}`);
  return found;
}
