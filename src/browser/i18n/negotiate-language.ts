/** Sources for the user's language. The first source with a match decides (browser-flows 12.3). */
export interface LanguageSources {
  /** `ui_locales` of the pending authorization grant: tags separated by spaces. */
  readonly uiLocales?: string | undefined;
  /** `ui_locales` in the page's query. */
  readonly query?: string | undefined;
  /** The `lang` cookie. */
  readonly cookie?: string | undefined;
  /** The `Accept-Language` header. */
  readonly acceptLanguage?: string | undefined;
  readonly defaultLanguage: string;
}

// A longer header or list was not written by a browser or a user.
const MAX_HEADER_CHARACTERS = 1024;
const MAX_TAGS = 32;
const TAG = /^[a-z]{1,8}(?:-[a-z0-9]{1,8}){0,7}$/i;
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;

/** Returns the best `available` language for a user, or the default language if none matches. */
export function negotiateLanguage(sources: LanguageSources, available: readonly string[]): string {
  return (
    matchLanguages(sources.uiLocales, available) ??
    matchLanguages(sources.query, available) ??
    ownLanguage(sources, available) ??
    matchLanguages(sources.defaultLanguage, available) ??
    'en'
  );
}

/** Returns the best `available` language that the user's browser lists, or undefined if it lists none of them. */
export function ownLanguage(
  { cookie, acceptLanguage }: Pick<LanguageSources, 'cookie' | 'acceptLanguage'>,
  available: readonly string[],
): string | undefined {
  return matchLanguages(cookie, available) ?? firstMatch(acceptedTags(acceptLanguage), available);
}

/** Returns the available language for the first matching tag (separated by spaces, best first). */
export function matchLanguages(tags: string | undefined, available: readonly string[]): string | undefined {
  if (tags === undefined || tags.length > MAX_HEADER_CHARACTERS) return undefined;
  return firstMatch(tags.split(' ', MAX_TAGS), available);
}

function firstMatch(tags: readonly string[], available: readonly string[]): string | undefined {
  for (const tag of tags) {
    const found = TAG.test(tag) ? lookUp(tag.toLowerCase(), available) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** RFC 4647 3.4 lookup, with CLDR parents for tags where dropping the last subtag gives the wrong language. */
function lookUp(tag: string, available: readonly string[]): string | undefined {
  const tried = new Set<string>();
  // `zh` and `zh-hans` stand in for each other.
  for (let range: string | undefined = tag; range !== undefined && !tried.has(range); range = parentOf(range)) {
    const wanted = range;
    const found = available.find((language) => language.toLowerCase() === wanted);
    if (found !== undefined) return found;
    tried.add(wanted);
  }
  return undefined;
}

const PARENTS = new Map<string, string | undefined>([
  ['zh', 'zh-hans'],
  ['zh-cn', 'zh-hans'],
  ['zh-sg', 'zh-hans'],
  ['zh-tw', 'zh-hant'],
  ['zh-hk', 'zh-hant'],
  ['zh-mo', 'zh-hant'],
  // Users of one script may not be able to read the other.
  ['zh-hant', undefined],
  ['sr-latn', undefined],
  ['no', 'nb'],
  ['nn', 'nb'],
  // Until 1989 the code of Hebrew, which old versions of Android and Java still send.
  ['iw', 'he'],
  ['pt-ao', 'pt-pt'],
  ['pt-cv', 'pt-pt'],
  ['pt-gw', 'pt-pt'],
  ['pt-mo', 'pt-pt'],
  ['pt-mz', 'pt-pt'],
  ['pt-st', 'pt-pt'],
  ['pt-tl', 'pt-pt'],
]);
const LATIN_AMERICA = /^es-(?:ar|bo|br|bz|cl|co|cr|cu|do|ec|gt|hn|mx|ni|pa|pe|pr|py|sv|us|uy|ve)$/;

function parentOf(tag: string): string | undefined {
  if (PARENTS.has(tag)) return PARENTS.get(tag);
  if (LATIN_AMERICA.test(tag)) return 'es-419';
  const cut = tag.lastIndexOf('-');
  if (cut === -1) return undefined;
  const parent = tag.slice(0, cut);
  // A single character introduces an extension and has no meaning alone.
  return parent.at(-2) === '-' ? parent.slice(0, -2) : parent;
}

/**
 * Returns the tags of an `Accept-Language` header by weight, up to `*` (RFC 9110 12.5.4). A malformed header has none.
 */
function acceptedTags(header: string | undefined): readonly string[] {
  if (header === undefined || header.length > MAX_HEADER_CHARACTERS) return [];
  const ranges: { tag: string; weight: number }[] = [];
  for (const element of header.split(',', MAX_TAGS)) {
    const trimmed = element.trim();
    if (trimmed === '') continue;
    const semicolon = trimmed.indexOf(';');
    const tag = (semicolon === -1 ? trimmed : trimmed.slice(0, semicolon)).trim();
    const weight = semicolon === -1 ? '1' : WEIGHT.exec(trimmed.slice(semicolon + 1).trim())?.[1];
    if (weight === undefined || !(tag === '*' || TAG.test(tag))) return [];
    if (Number(weight) > 0) ranges.push({ tag, weight: Number(weight) });
  }
  ranges.sort((one, other) => other.weight - one.weight);
  const end = ranges.findIndex((range) => range.tag === '*');
  return ranges.slice(0, end === -1 ? ranges.length : end).map((range) => range.tag);
}
