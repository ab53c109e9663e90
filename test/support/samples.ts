import { assetPaths } from '#browser/asset-files.ts';
import { loadTranslations } from '#browser/i18n/translations.ts';
import type { Sample } from '#browser/sample.ts';

export const catalog = loadTranslations();
const site = { serviceName: 'example.org', indexPath: '/', ...assetPaths('/', {}) };

/** @param text in all places where somebody else's may come; the random values as well */
export function renderSample({ render }: Sample, { language = 'en', text = 'Harbour Chat', now = 0 } = {}): string {
  return render({ site, translations: catalog.in(language), languages: catalog.languages, token: text, text, now });
}

/** The sample of this name. */
export function sampleNamed(samples: readonly Sample[], name: string): Sample {
  const found = samples.find((sample) => sample.name === name);
  if (found === undefined) throw new Error(`no sample ${name}`);
  return found;
}
