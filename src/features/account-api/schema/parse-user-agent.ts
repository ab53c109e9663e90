import { describeBrowser } from '#browser/user-agent.ts';

/** What a `User-Agent` header says about a device, for the list of sessions (account-graphql 8.6). */
export interface ParsedUserAgent {
  readonly raw: string;
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly os: string | undefined;
  readonly osVersion: string | undefined;
  readonly model: string | undefined;
  readonly deviceType: 'PC' | 'MOBILE' | 'TABLET' | 'UNKNOWN';
}

type Device = Pick<ParsedUserAgent, 'os' | 'osVersion' | 'model' | 'deviceType'>;

const UNKNOWN: Device = { os: undefined, osVersion: undefined, model: undefined, deviceType: 'UNKNOWN' };

export function parseUserAgent(raw: string): ParsedUserAgent {
  const program = raw.startsWith('Mozilla/') ? { ...describeBrowser(raw), ...deviceOfBrowser(raw) } : application(raw);
  return { raw, name: undefined, version: undefined, ...UNKNOWN, ...program };
}

function deviceOfBrowser(raw: string): Device {
  const apple = /\((iPhone|iPod|iPad)[^)]*?OS (\d+(?:_\d+)*)/.exec(raw);
  if (apple !== null) {
    const [, model = '', version = ''] = apple;
    const isTablet = model === 'iPad';
    const os = isTablet ? 'iPadOS' : 'iOS';
    return { os, osVersion: dotted(version), model, deviceType: isTablet ? 'TABLET' : 'MOBILE' };
  }
  const android = /\bAndroid (\d[\d.]*)(?:; ([^;()]{1,60}?))?(?: Build\/[^;()]*)?[;)]/.exec(raw);
  if (android !== null) return androidDevice(android[1], android[2], /\bMobile\b/.test(raw));
  const windows = /\bWindows NT (\d+\.\d+)/.exec(raw);
  if (windows !== null) return pc('Windows', windows[1] === '10.0' ? undefined : windows[1]);
  const mac = /\bMac OS X (\d+(?:[._]\d+)*)/.exec(raw);
  if (mac !== null) return pc('macOS', mac[1] === '10_15_7' ? undefined : dotted(mac[1] ?? ''));
  const chromeOs = /\bCrOS \S+ (\d[\d.]*)/.exec(raw);
  if (chromeOs !== null) return pc('Chrome OS', chromeOs[1]?.startsWith('14541.') ? undefined : chromeOs[1]);
  return /\bLinux\b|\bX11\b/.test(raw) ? pc('Linux', undefined) : UNKNOWN;
}

/** With user agent reduction, Android 10 and model K stand for any version and model. */
function androidDevice(version: string | undefined, model: string | undefined, isMobile: boolean): Device {
  const deviceType = isMobile ? 'MOBILE' : 'TABLET';
  if (version === '10' && model === 'K') return { ...UNKNOWN, os: 'Android', deviceType };
  const isModel = model !== undefined && model !== 'Mobile' && model !== 'Tablet' && !model.startsWith('rv:');
  return { os: 'Android', osVersion: version, model: isModel ? model : undefined, deviceType };
}

function pc(os: string, osVersion: string | undefined): Device {
  return { os, osVersion, model: undefined, deviceType: 'PC' };
}

/** `Name/version (model; OS version; …)`, as chat clients send it. */
const APPLICATION = /^([^/()]{1,60})\/(\S{1,60})(?: \(([^()]{1,200})\))?/;
const SYSTEM = /^(Android|iOS|iPadOS|macOS|Mac OS X|Windows|Linux)(?: (\d[\w.]*))?$/;

function application(raw: string): Partial<ParsedUserAgent> {
  const [, name, version, details = ''] = APPLICATION.exec(raw) ?? [];
  if (name === undefined || details === '') return {};
  const parts = details.split(';').map((part) => part.trim());
  // In `Linux; U; Android 11; model` the model comes last. Otherwise it comes first.
  const isLinuxFirst = parts[0] === 'Linux' && parts.length > 2;
  const systemAt = parts.findIndex((part, index) => SYSTEM.test(part) && !(isLinuxFirst && index === 0));
  const [, os, osVersion] = SYSTEM.exec(parts[systemAt] ?? '') ?? [];
  if (os === undefined) return {};
  const written = isLinuxFirst ? parts[systemAt + 1] : parts[0];
  const model = systemAt === 0 ? undefined : written?.replace(/ Build\/.*$/, '');
  return { name, version, os, osVersion, model, deviceType: typeOfSystem(os, model) };
}

function typeOfSystem(os: string, model: string | undefined): ParsedUserAgent['deviceType'] {
  if (model?.includes('iPad') === true) return 'TABLET';
  if (os === 'Android' || os === 'iOS') return 'MOBILE';
  return os === 'iPadOS' ? 'TABLET' : 'PC';
}

function dotted(version: string): string {
  return version.replaceAll('_', '.');
}
