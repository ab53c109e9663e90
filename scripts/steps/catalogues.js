import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Key prefixes of texts in the account area; `web/i18n/translations.ts` has the same list. */
export const AREA_PREFIXES = ['account.', 'field.', 'footer.', 'page.', 'scope.', 'strength.', 'verify_email.'];

/** The same for the admin area and `web/admin/i18n/translations.ts`. */
export const ADMIN_PREFIXES = ['admin.', 'field.', 'page.'];

const PREFIXES = { account: AREA_PREFIXES, admin: ADMIN_PREFIXES };

/**
 * Returns the texts of the account area and of the admin area, one file for each language and area. Missing translations are filled in with English,
 * so that a browser needs one file.
 * @param folder with the message files
 * @returns plain name, published name and text of each file
 */
export function catalogues(folder) {
  const english = JSON.parse(readFileSync(join(folder, 'en.json'), 'utf8'));
  const languages = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => {
      const messages = { ...english, ...JSON.parse(readFileSync(join(folder, name), 'utf8')) };
      return { language: name.slice(0, -'.json'.length), messages };
    });
  return Object.entries(PREFIXES).flatMap(([area, prefixes]) => {
    const keys = Object.keys(english).filter((key) => prefixes.some((prefix) => key.startsWith(prefix)));
    return languages.map(({ language, messages }) => {
      const text = JSON.stringify(Object.fromEntries(keys.map((key) => [key, messages[key]])));
      const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
      return [`${area}-${language}.json`, `${area}-${language}-${hash}.json`, text];
    });
  });
}
