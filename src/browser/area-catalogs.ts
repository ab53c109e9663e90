import type { AssetFiles, AssetName } from './asset-files.ts';
import type { TranslationCatalog } from './i18n/translations.ts';

/**
 * Builds the message catalogs of the account area and the admin area with the operator's texts and languages. They have
 * the same keys as the bundled catalogs from the build.
 */
export function areaCatalogs(
  catalog: TranslationCatalog,
  assets: AssetFiles,
): { readonly name: AssetName; readonly content: Buffer }[] {
  return (['account', 'admin'] as const).flatMap((area) => {
    const bundled = assets.find(`${area}-en.json`);
    if (bundled === undefined) return [];
    const english: unknown = JSON.parse(bundled.content().toString());
    const keys = typeof english === 'object' && english !== null ? Object.keys(english) : [];
    return catalog.languages.map((language) => {
      const content = Buffer.from(JSON.stringify(catalog.messagesOf(language, keys)));
      return { name: `${area}-${language}.json` as const, content };
    });
  });
}
