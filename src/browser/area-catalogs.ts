import type { AssetFiles, AssetName } from './asset-files.ts';
import type { TranslationCatalog } from './i18n/translations.ts';

/**
 * Builds message catalogs of the account area and the admin area: with the operator's texts, for the operator's
 * languages, and for languages that are not in the build. They have the same keys as the English catalogs of the build.
 * @param changed languages with texts of the operator
 */
export function areaCatalogs(
  catalog: TranslationCatalog,
  assets: AssetFiles,
  changed: readonly string[],
): { readonly name: AssetName; readonly content: Buffer }[] {
  return (['account', 'admin'] as const).flatMap((area) => {
    const bundled = assets.find(`${area}-en.json`);
    if (bundled === undefined) return [];
    const english: unknown = JSON.parse(bundled.content().toString());
    const keys = typeof english === 'object' && english !== null ? Object.keys(english) : [];
    return catalog.languages.flatMap((language) => {
      const name = `${area}-${language}.json` as const;
      if (!changed.includes(language) && assets.find(name) !== undefined) return [];
      return [{ name, content: Buffer.from(JSON.stringify(catalog.messagesOf(language, keys))) }];
    });
  });
}
