/** What a `User-Agent` header says about who sends it; for people, who compare it with what they hold in their hands. */
export interface DescribedUserAgent {
  /** Browser or program, for example `Firefox` or `curl`. */
  readonly program: string | undefined;
  /** For example `Windows` or `Android 14`. */
  readonly system: string | undefined;
  /** For example `iPhone` or `Pixel 8`. */
  readonly model: string | undefined;
}

type Rule = readonly [pattern: RegExp, name: string];

// Most browsers name those they descend from as well, so the order counts.
const PROGRAMS: readonly Rule[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bElectron\//, 'Electron'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrom(?:e|ium)\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];

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

/** Of Android: `; Pixel 8 Build/...)`, `; Pixel 8)`. */
const ANDROID_MODEL = /\bAndroid [\d.]+; ([^;()]{1,40}?)(?: Build\/[^;()]*)?\)/;
/** The name of a program that is not a browser: `curl/8.5.0`. */
const FIRST_PRODUCT = /^([A-Za-z][A-Za-z0-9._+-]{0,39})(?:\/|\s|$)/;

export function describeUserAgent(userAgent: string | undefined): DescribedUserAgent {
  const text = userAgent ?? '';
  const model = firstOf(MODELS, text) ?? text.match(ANDROID_MODEL)?.[1];
  const product = text.startsWith('Mozilla/') ? undefined : text.match(FIRST_PRODUCT)?.[1];
  // A program that gives its own name first is that, whatever engine it is made from.
  return { program: product ?? firstOf(PROGRAMS, text), system: firstOf(SYSTEMS, text), model };
}

function firstOf(rules: readonly Rule[], text: string): string | undefined {
  return rules.find(([pattern]) => pattern.test(text))?.[1];
}
