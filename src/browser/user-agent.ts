/** What a `User-Agent` header says about its sender, for users who compare it with the device in front of them. */
export interface DescribedUserAgent {
  /** Browser or program, for example `Firefox` or `curl`. */
  readonly program: string | undefined;
  /** For example `Windows` or `Android 14`. */
  readonly system: string | undefined;
  /** For example `iPhone` or `Pixel 8`. */
  readonly model: string | undefined;
}

/**
 * Tokens of browsers, and their common names. Most headers also name the browsers they descend from, so the order
 * matters.
 */
const BROWSERS: readonly (readonly [token: string, name: string])[] = [
  ['Edg', 'Edge'],
  ['EdgA', 'Edge'],
  ['EdgiOS', 'Edge'],
  ['Edge', 'Edge'],
  ['OPR', 'Opera'],
  ['OPX', 'Opera'],
  ['OPT', 'Opera'],
  ['OPiOS', 'Opera'],
  ['Opera', 'Opera'],
  ['SamsungBrowser', 'Samsung Internet'],
  ['Vivaldi', 'Vivaldi'],
  ['Brave', 'Brave'],
  ['Epiphany', 'GNOME Web'],
  ['FxiOS', 'Firefox'],
  ['Firefox', 'Firefox'],
  ['CriOS', 'Chrome'],
  ['HeadlessChrome', 'Headless Chrome'],
  ['Chromium', 'Chromium'],
  ['Chrome', 'Chrome'],
];
const COMMENT = /\([^()]*\)/g;
const PRODUCT = /(?<![\w.+/-])([A-Za-z][\w.+-]{0,60})(?:\/(\d[\w.+-]{0,40})?)?(?=\s|$)/g;
/** Products that an Electron application inherits from its engine. */
const ENGINE = /^(?:Mozilla|AppleWebKit|Chrome|Electron|Safari)$/;
/** On other systems, Safari refers only to the engine. */
const SAFARI_SYSTEMS = /\b(?:Macintosh|iPhone|iPad|iPod)\b/;

export interface DescribedBrowser {
  readonly name: string;
  readonly version: string | undefined;
}

/** Returns the browser or Electron application of a header that starts with `Mozilla/`, if it is known. */
export function describeBrowser(userAgent: string): DescribedBrowser | undefined {
  const products = new Map(
    [...userAgent.replace(COMMENT, ' ').matchAll(PRODUCT)].map(([, name = '', version]) => [name, version]),
  );
  if (products.has('Electron')) {
    const own = [...products.keys()].find((product) => !ENGINE.test(product)) ?? 'Electron';
    return { name: own, version: products.get(own) };
  }
  const [token, name] = BROWSERS.find(([candidate]) => products.has(candidate)) ?? [];
  if (token !== undefined && name !== undefined) return { name, version: products.get(token) };
  const isSafari = products.has('Safari') && SAFARI_SYSTEMS.test(userAgent);
  return isSafari ? { name: 'Safari', version: products.get('Version') } : undefined;
}

type Rule = readonly [pattern: RegExp, name: string];

const SYSTEMS: readonly Rule[] = [
  [/\bTizen\b/, 'Tizen'],
  [/\bWeb0S\b|\bwebOS\b/, 'webOS'],
  [/\bRoku\b/, 'Roku'],
  [/\bXbox\b/, 'Xbox'],
  [/\bPlayStation\b/, 'PlayStation'],
  [/\bNintendo\b/, 'Nintendo'],
  [/\b(?:AppleTV|tvOS)\b/, 'tvOS'],
  [/\biPad\b/, 'iPadOS'],
  [/\b(?:iPhone|iPod|iOS)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac(?: OS X|intosh)\b|\bmacOS\b|\bdarwin\b/i, 'macOS'],
  [/\b(?:Free|Open|Net)BSD\b/i, 'BSD'],
  [/\bLinux\b|\bX11\b/i, 'Linux'],
];

const MODELS: readonly Rule[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAppleTV\b/, 'Apple TV'],
  [/\bSMART-?TV\b|\bSmartTV\b|\bHbbTV\b/i, 'TV'],
];

/** Android: `; Pixel 8 Build/...)`, `; Pixel 8)`. */
const ANDROID_MODEL = /\bAndroid [\d.]+; ([^;()]{1,40}?)(?: Build\/[^;()]*)?\)/;
/** The name of a program that is not a browser: `curl/8.5.0`. */
const FIRST_PRODUCT = /^([A-Za-z][A-Za-z0-9._+-]{0,39})(?:\/|\s|$)/;

export function describeUserAgent(userAgent: string | undefined): DescribedUserAgent {
  const text = userAgent ?? '';
  const model = firstOf(MODELS, text) ?? text.match(ANDROID_MODEL)?.[1];
  const product = text.startsWith('Mozilla/') ? undefined : text.match(FIRST_PRODUCT)?.[1];
  // A program's own name at the start takes precedence over its engine.
  return { program: product ?? describeBrowser(text)?.name, system: firstOf(SYSTEMS, text), model };
}

function firstOf(rules: readonly Rule[], text: string): string | undefined {
  return rules.find(([pattern]) => pattern.test(text))?.[1];
}
