import type { AssetFiles, AssetName } from './asset-files.ts';
import type { TranslationCatalog } from './i18n/translations.ts';

/**
 * The texts of the account area for the browser, in the operator's words and languages: made as the build makes those of
 * the bundled languages, with the keys that are there.
 */
export function areaCatalogs(
  catalog: TranslationCatalog,
  assets: AssetFiles,
): { readonly name: AssetName; readonly content: Buffer }[] {
  const bundled = assets.find('account-en.json');
  if (bundled === undefined) return [];
  const english: unknown = JSON.parse(bundled.content.toString());
  const keys = typeof english === 'object' && english !== null ? Object.keys(english) : [];
  return catalog.languages.map((language) => {
    const content = Buffer.from(JSON.stringify(catalog.messagesOf(language, keys)));
    return { name: `account-${language}.json`, content };
  });
}
